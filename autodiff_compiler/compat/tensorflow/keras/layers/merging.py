"""Layers of several inputs, which they take as a list."""

from __future__ import annotations

import functools
from typing import Any

from .... import tensorflow as tf
from ..layer import Layer


class _Merge(Layer):
    def call(self, inputs: Any) -> Any:
        if not isinstance(inputs, (list, tuple)) or len(inputs) < 1:
            raise ValueError(f"A merge layer should be called on a list of at least 1 input. Received: inputs={inputs}")
        return self._merged(list(inputs))

    def _merged(self, inputs: list[Any]) -> Any:
        raise NotImplementedError


class Add(_Merge):
    """The sum of the inputs."""

    def _merged(self, inputs: list[Any]) -> Any:
        return functools.reduce(lambda x, y: x + y, inputs)


class Subtract(_Merge):
    """The first of two inputs less the second."""

    def _merged(self, inputs: list[Any]) -> Any:
        if len(inputs) != 2:
            raise ValueError(f"A `Subtract` layer should be called on exactly 2 inputs. Received: inputs={inputs}")
        return inputs[0] - inputs[1]


class Multiply(_Merge):
    """The product of the inputs, element by element."""

    def _merged(self, inputs: list[Any]) -> Any:
        return functools.reduce(lambda x, y: x * y, inputs)


class Average(_Merge):
    """The mean of the inputs."""

    def _merged(self, inputs: list[Any]) -> Any:
        return functools.reduce(lambda x, y: x + y, inputs) / float(len(inputs))


class Maximum(_Merge):
    """The largest of the inputs, element by element."""

    def _merged(self, inputs: list[Any]) -> Any:
        return functools.reduce(tf.maximum, inputs)


class Minimum(_Merge):
    """The smallest of the inputs, element by element."""

    def _merged(self, inputs: list[Any]) -> Any:
        return functools.reduce(tf.minimum, inputs)


class Concatenate(_Merge):
    """The inputs after each other along an axis, the last by default."""

    def __init__(self, axis: int = -1, **kwargs: Any):
        super().__init__(**kwargs)
        self.axis = axis

    def _merged(self, inputs: list[Any]) -> Any:
        return tf.concat(inputs, axis=self.axis)
