"""The variables of layers and optimizers."""

from __future__ import annotations

from typing import Any

from ... import tensorflow as tf


class Variable(tf.Variable):  # type: ignore[misc]
    """A `tf.Variable` that belongs to a layer or an optimizer.

    `path` is its name without ``:0``: ``dense/kernel``. `trainable` may be set. It decides which lists of a layer's
    variables the variable is in. Whether tapes watch it was decided when it was made.
    """

    def __init__(self, initial_value: Any, trainable: bool = True, name: str | None = None, dtype: Any = None):
        super().__init__(initial_value, trainable=trainable, name=name, dtype=dtype)
        self._listed = trainable

    @property
    def path(self) -> str:
        return str(self.name).removesuffix(":0")

    @property
    def trainable(self) -> bool:
        return self._listed

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._listed = bool(value)
