"""`Metric`: the base class of numbers that are collected over many batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tensorflow as tf
from ..naming import name_scope
from . import backend, initializers
from .names import snake_case, unique
from .variables import Variable


class Metric:
    """Base class: a subclass collects in `update_state` and says in `result` what came out.

    Calling a metric updates it and gives the result. `reset_state` starts anew.
    """

    _direction: str | None = None  # "up" where more is better, "down" where less is

    def __init__(self, dtype: Any = None, name: str | None = None):
        self.name = unique(snake_case(type(self).__name__)) if name is None else name
        self._dtype = tf.as_dtype(dtype or backend.floatx())
        self._variables: list[Variable] = []

    @property
    def dtype(self) -> str:
        return str(self._dtype.name)

    @property
    def variables(self) -> list[Variable]:
        """What it has collected."""
        return list(self._variables)

    def add_variable(
        self, shape: Any, initializer: Any, dtype: Any = None, aggregation: str = "sum", name: str | None = None
    ) -> Variable:  # fmt: skip
        """A new variable to collect in."""
        value = initializers.get(initializer)(shape, dtype=dtype or self._dtype)
        with name_scope(f"{self.name}/"):
            made = Variable(value, trainable=False, name=name or "variable")
        self._variables.append(made)
        return made

    def add_weight(
        self, shape: Any = (), initializer: Any = "zeros", dtype: Any = None, name: str | None = None
    ) -> Variable:  # fmt: skip
        return self.add_variable(shape, initializer, dtype, name=name)

    def reset_state(self) -> None:
        """Forget what was collected."""
        for v in self._variables:
            v.assign(np.zeros(tuple(v.shape), v.numpy().dtype))

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Collect."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it collects")

    def result(self) -> Any:
        """What was collected, as a tensor."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its result is")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.update_state(*args, **kwargs)
        return self.result()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"
