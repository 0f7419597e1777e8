"""The variables of layers and optimizers."""

from __future__ import annotations

from ... import tensorflow as tf


class Variable(tf.Variable):  # type: ignore[misc]
    """A `tf.Variable` that belongs to a layer or an optimizer. `path` is its name without ``:0``: ``dense/kernel``."""

    @property
    def path(self) -> str:
        return str(self.name).removesuffix(":0")
