"""Layers of several inputs, which they take as a list."""

from __future__ import annotations

import functools
from typing import Any

from .... import tensorflow as tf
from ..layer import Layer


class _Merge(Layer):
    supports_masking = True

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Where any of the inputs counts; no mask if one of them has none."""
        if not isinstance(previous_mask, list) or any(m is None for m in previous_mask):
            return None
        return functools.reduce(tf.logical_or, previous_mask)

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

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Where any of the entries counts; those of an input without a mask all do."""
        if not isinstance(previous_mask, list):
            return None
        masks = []
        for x, m in zip(inputs, previous_mask):
            everywhere = tf.fill(tf.shape(x), True)
            if m is not None:
                while len(m.shape) < len(x.shape):
                    m = tf.expand_dims(m, -1)
                everywhere = tf.logical_and(everywhere, m)
            masks.append(everywhere)
        return tf.reduce_any(tf.concat(masks, axis=self.axis), axis=-1)


class Dot(_Merge):
    """Products of the rows of two inputs, summed over an axis of each: `axes` is one number, or one for each input.

    normalize: rows are divided by their lengths first, which gives cosines.
    """

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.axes, self.normalize = axes, normalize

    def _merged(self, inputs: list[Any]) -> Any:
        if len(inputs) != 2:
            raise ValueError(f"A `Dot` layer should be called on exactly 2 inputs. Received: inputs={inputs}")
        x, y = inputs
        first, second = self.axes if isinstance(self.axes, (list, tuple)) else (self.axes, self.axes)
        first, second = first % len(x.shape), second % len(y.shape)
        if self.normalize:
            x, y = tf.nn.l2_normalize(x, axis=first), tf.nn.l2_normalize(y, axis=second)
        xs, ys = "abcdefgh"[: len(x.shape)], "a" + "ijklmnop"[: len(y.shape) - 1]
        ys = ys[:second] + xs[first] + ys[second + 1 :]
        out = tf.einsum(f"{xs},{ys}->{(xs + ys[1:]).replace(xs[first], '')}", x, y)
        return tf.expand_dims(out, -1) if len(out.shape) == 1 else out

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return None


def add(inputs: Any, **kwargs: Any) -> Any:
    """``Add()(inputs)``."""
    return Add(**kwargs)(inputs)


def subtract(inputs: Any, **kwargs: Any) -> Any:
    """``Subtract()(inputs)``."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs: Any, **kwargs: Any) -> Any:
    """``Multiply()(inputs)``."""
    return Multiply(**kwargs)(inputs)


def average(inputs: Any, **kwargs: Any) -> Any:
    """``Average()(inputs)``."""
    return Average(**kwargs)(inputs)


def maximum(inputs: Any, **kwargs: Any) -> Any:
    """``Maximum()(inputs)``."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs: Any, **kwargs: Any) -> Any:
    """``Minimum()(inputs)``."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """``Concatenate(axis)(inputs)``."""
    return Concatenate(axis, **kwargs)(inputs)


def dot(inputs: Any, axes: Any = -1, **kwargs: Any) -> Any:
    """``Dot(axes)(inputs)``."""
    return Dot(axes, **kwargs)(inputs)
