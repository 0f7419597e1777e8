"""Losses, as functions for each row of a batch and as classes that reduce them to a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import tensorflow as tf
from ...module_tables import public
from ...operations import losses
from ..operands import computed

EPSILON = 1e-7  # how near to 0 and 1 a probability may come
_REDUCTIONS = ("sum", "sum_over_batch_size", "mean", "none", None)


def _pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Both as tensors of the predictions' dtype, and of one rank."""
    y_pred = tf.convert_to_tensor(y_pred)
    if not y_pred.dtype.is_floating:
        y_pred = tf.cast(y_pred, tf.float32)
    return _same_rank(tf.cast(y_true, y_pred.dtype), y_pred)


def _same_rank(x: Any, y: Any) -> tuple[Any, Any]:
    """Both with as many axes: a last one of length 1 is put to the other, if that has one axis, or taken away."""
    if len(x.shape) < len(y.shape):
        return _same_rank(y, x)[::-1]
    if len(x.shape) == len(y.shape) + 1 and x.shape[-1] == 1:
        return (x, tf.expand_dims(y, -1)) if len(y.shape) == 1 else (tf.squeeze(x, axis=-1), y)
    return x, y


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``(y_true - y_pred) ** 2`` over the last axis.

    >>> mean_squared_error([[1.0, 2.0]], [[1.0, 5.0]]).numpy()
    array([4.5], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    return tf.reduce_mean(computed(losses.squared, y_pred, y_true), axis=-1)


def binary_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False) -> Any:
    """The cross entropy of two probabilities, as a mean over the last axis.

    from_logits: `y_pred` are logits, whose sigmoid is the probability. Probabilities are cut to ``[1e-7, 1 - 1e-7]``.
    """
    y_true, y_pred = _pair(y_true, y_pred)
    if from_logits:
        out = tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)
    else:
        out = computed(lambda p, t: losses.binary_cross_entropy(losses.cut(p, EPSILON), t), y_pred, y_true)
    return tf.reduce_mean(out, axis=-1)


def categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False) -> Any:
    """The cross entropy of two distributions along the last axis.

    from_logits: `y_pred` are logits, whose softmax is the distribution. Other predictions are scaled to the sum 1, and
    cut to ``[1e-7, 1 - 1e-7]``.
    """
    y_true, y_pred = _pair(y_true, y_pred)
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits(labels=y_true, logits=y_pred)
    return computed(lambda p, t: losses.cross_entropy_of_probabilities(p, t, -1, EPSILON, True), y_pred, y_true)


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False) -> Any:
    """The cross entropy of the classes that the integers `y_true` number, and distributions along the last axis.

    Shapes: `y_pred` ``(..., classes)``, `y_true` and the result ``(...)``.

    >>> sparse_categorical_crossentropy([1], [[0.5, 0.5]]).numpy().round(4)
    array([0.6931], dtype=float32)
    """
    y_pred, y_true = tf.convert_to_tensor(y_pred), tf.cast(y_true, tf.int64)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = tf.squeeze(y_true, axis=-1)
    if not from_logits:
        y_pred = computed(lambda p: np.log(losses.cut(p, EPSILON)), y_pred)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y_true, logits=y_pred)


class Loss:
    """Base class: a subclass gives, in `call`, the loss of each row, which calling the object reduces.

    reduction: "sum_over_batch_size" (the mean), "sum", or "none". Raises ValueError for another one. sample_weight:
    factors of the rows.
    """

    def __init__(self, name: str | None = None, reduction: str | None = "sum_over_batch_size"):
        if reduction not in _REDUCTIONS:
            raise ValueError(
                f"Invalid value for argument `reduction`. Expected one of {set(_REDUCTIONS)}. Received: "
                f"reduction={reduction}"
            )
        self.name, self.reduction = name or type(self).__name__, reduction

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each row."""
        raise NotImplementedError(f"{type(self).__name__} does not say what the loss of a row is")

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        values = self.call(tf.cast(y_true, tf.float32), tf.cast(y_pred, tf.float32))
        if sample_weight is not None:
            values, sample_weight = _same_rank(values, tf.cast(sample_weight, values.dtype))
            values = values * sample_weight
        if self.reduction in (None, "none"):
            return values
        return tf.reduce_sum(values) if self.reduction == "sum" or 0 in values.shape else tf.reduce_mean(values)


class MeanSquaredError(Loss):
    """`mean_squared_error`, reduced."""

    def __init__(self, reduction: str | None = "sum_over_batch_size", name: str = "mean_squared_error"):
        super().__init__(name, reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return mean_squared_error(y_true, y_pred)


class _CrossEntropy(Loss):
    _function: Callable[..., Any]

    def __init__(
        self, from_logits: bool = False, *, name: str | None = None, reduction: str | None = "sum_over_batch_size"
    ):  # fmt: skip
        super().__init__(name or type(self)._function.__name__, reduction)
        self.from_logits = from_logits

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return type(self)._function(y_true, y_pred, self.from_logits)


class BinaryCrossentropy(_CrossEntropy):
    """`binary_crossentropy`, reduced."""

    _function = staticmethod(binary_crossentropy)


class CategoricalCrossentropy(_CrossEntropy):
    """`categorical_crossentropy`, reduced."""

    _function = staticmethod(categorical_crossentropy)


class SparseCategoricalCrossentropy(_CrossEntropy):
    """`sparse_categorical_crossentropy`, reduced."""

    _function = staticmethod(sparse_categorical_crossentropy)


mse = MSE = mean_squared_error
__all__ = [
    "BinaryCrossentropy", "CategoricalCrossentropy", "Loss", "MSE", "MeanSquaredError", "SparseCategoricalCrossentropy",
    "binary_crossentropy", "categorical_crossentropy", "mean_squared_error", "mse", "sparse_categorical_crossentropy",
]  # fmt: skip
__getattr__, __dir__ = public("tf.keras.losses", __all__)
