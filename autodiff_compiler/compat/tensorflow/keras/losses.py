"""Losses, as functions for each row of a batch and as classes that reduce them to a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ... import tensorflow as tf
from ...module_tables import public
from ...operations import losses
from ..operands import computed
from .names import snake_case, unique

EPSILON = 1e-7  # how near to 0 and 1 a probability may come
_REDUCTIONS = ("sum", "sum_over_batch_size", "mean", "mean_with_sample_weight", "none", None)


def _pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Both as tensors of the predictions' dtype, and of one rank."""
    y_pred = tf.convert_to_tensor(y_pred)
    if not y_pred.dtype.is_floating:
        y_pred = tf.cast(y_pred, tf.float32)
    return _same_rank(tf.cast(y_true, y_pred.dtype), y_pred)


def _same_rank(x: Any, y: Any) -> tuple[Any, Any]:
    """Both with as many axes: a last one of length 1 is put to the other, if that has one axis, or taken away."""
    if len(x.shape) == len(y.shape) + 1 and x.shape[-1] == 1:
        return (x, tf.expand_dims(y, -1)) if len(y.shape) == 1 else (tf.squeeze(x, axis=-1), y)
    if len(y.shape) == len(x.shape) + 1 and y.shape[-1] == 1:
        return (tf.expand_dims(x, -1), y) if len(x.shape) == 1 else (x, tf.squeeze(y, axis=-1))
    return x, y


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``(y_true - y_pred) ** 2`` over the last axis.

    >>> mean_squared_error([[1.0, 2.0]], [[1.0, 5.0]]).numpy()
    array([4.5], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    return tf.reduce_mean(computed(losses.squared, y_pred, y_true), axis=-1)


def binary_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Any:  # fmt: skip
    """The cross entropy of two probabilities, as a mean over the last axis.

    from_logits: `y_pred` are logits, of which the sigmoid is the probability; otherwise they are cut to
    ``[1e-7, 1 - 1e-7]``. label_smoothing: moves `y_true` towards one half.
    """
    y_true, y_pred = _pair(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    if from_logits:
        out = tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)
    else:
        out = computed(lambda p, t: losses.binary_cross_entropy(losses.cut(p, EPSILON), t), y_pred, y_true)
    return tf.reduce_mean(out, axis=axis)


def categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Any:  # fmt: skip
    """The cross entropy of two distributions along an axis.

    from_logits: the softmax of `y_pred` is the distribution; otherwise they are scaled to have the sum 1, and cut to
    ``[1e-7, 1 - 1e-7]``. label_smoothing: moves `y_true` towards the uniform distribution.
    """
    y_true, y_pred = _pair(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / float(y_true.shape[axis])
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits(labels=y_true, logits=y_pred, axis=axis)
    return computed(lambda p, t: losses.cross_entropy_of_probabilities(p, t, axis, EPSILON, True), y_pred, y_true)


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """The cross entropy of the classes that the integers `y_true` number, and distributions along the last axis.

    Shapes: `y_pred` ``(..., classes)``, `y_true` and the result ``(...)``. Raises ValueError for another axis than the
    last.

    >>> sparse_categorical_crossentropy([1], [[0.5, 0.5]]).numpy().round(4)
    array([0.6931], dtype=float32)
    """
    y_pred = tf.convert_to_tensor(y_pred)
    if axis not in (-1, len(y_pred.shape) - 1):
        raise ValueError(f"Only axis=-1 is currently supported. Received: axis={axis}")
    y_true = tf.cast(y_true, tf.int64)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = tf.squeeze(y_true, axis=-1)
    if tuple(y_true.shape) != tuple(y_pred.shape)[:-1]:
        raise ValueError(
            "Arguments `target` and `output` must have the same shape up until the last dimension: "
            f"target.shape={y_true.shape}, output.shape={y_pred.shape}"
        )
    if not from_logits:
        y_pred = computed(lambda p: np.log(losses.cut(p, EPSILON)), y_pred)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y_true, logits=y_pred)


class Loss:
    """Base class: a subclass gives, in `call`, the loss of each row, which calling the object reduces.

    reduction: "sum_over_batch_size" (the mean), "sum", "mean_with_sample_weight" (the sum by that of the weights), or
    "none". Raises ValueError for another one. sample_weight: factors of the rows.
    """

    def __init__(self, name: str | None = None, reduction: str | None = "sum_over_batch_size", dtype: Any = None):
        if reduction not in _REDUCTIONS:
            raise ValueError(
                f"Invalid value for argument `reduction`. Expected one of {set(_REDUCTIONS)}. Received: "
                f"reduction={reduction}"
            )
        self.name = unique(snake_case(type(self).__name__)) if name is None else name
        self.reduction = reduction
        self.dtype = tf.as_dtype(dtype or "float32")

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each row."""
        raise NotImplementedError(f"{type(self).__name__} does not say what the loss of a row is")

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        values = self.call(tf.cast(y_true, self.dtype), tf.cast(y_pred, self.dtype))
        if sample_weight is not None:
            values, sample_weight = _same_rank(values, tf.cast(sample_weight, values.dtype))
            values = values * sample_weight
        if self.reduction in (None, "none") or len(values.shape) == 0:
            return values
        if self.reduction == "sum" or 0 in tuple(values.shape):
            return tf.reduce_sum(values)
        if self.reduction == "mean_with_sample_weight" and sample_weight is not None:
            return tf.math.divide_no_nan(tf.reduce_sum(values), tf.reduce_sum(sample_weight))
        return tf.reduce_mean(values)


class _Of(Loss):
    """The loss of a function with fixed arguments."""

    _function: Callable[..., Any]
    _defaults: Mapping[str, Any] = {}

    def __init__(self, *args: Any, **kwargs: Any):
        own = {"reduction": "sum_over_batch_size", "name": type(self)._function.__name__, "dtype": None}
        order = [*self._defaults, *own]
        given = {**self._defaults, **own, **dict(zip(order, args)), **kwargs}
        unknown = [*map(repr, args[len(order) :]), *sorted(set(given) - set(order))]
        if unknown:
            raise TypeError(f"{type(self).__name__} takes {', '.join(order)}, not {', '.join(unknown)}")
        super().__init__(given["name"], given["reduction"], given["dtype"])
        self._arguments = {k: given[k] for k in self._defaults}

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return type(self)._function(y_true, y_pred, **self._arguments)


def _class(name: str, function: Callable[..., Any], **defaults: Any) -> type[_Of]:
    """The class of the loss of a function, whose settings have these defaults."""
    members = {"_function": staticmethod(function), "_defaults": defaults, "__module__": __name__}
    return type(name, (_Of,), {**members, "__doc__": f"`{function.__name__}`, reduced."})


_PROBABILITIES = {"from_logits": False, "label_smoothing": 0.0, "axis": -1}
MeanSquaredError = _class("MeanSquaredError", mean_squared_error)
BinaryCrossentropy = _class("BinaryCrossentropy", binary_crossentropy, **_PROBABILITIES)
CategoricalCrossentropy = _class("CategoricalCrossentropy", categorical_crossentropy, **_PROBABILITIES)
SparseCategoricalCrossentropy = _class(
    "SparseCategoricalCrossentropy", sparse_categorical_crossentropy, from_logits=False, axis=-1
)

mse = MSE = mean_squared_error
_TABLE: dict[str, Any] = {
    f.__name__: f
    for f in (
        mean_squared_error, binary_crossentropy, categorical_crossentropy, sparse_categorical_crossentropy,
        MeanSquaredError, BinaryCrossentropy, CategoricalCrossentropy, SparseCategoricalCrossentropy,
    )
} | {"mse": mse}  # fmt: skip


__getattr__, __dir__ = public("tf.keras.losses", [*_TABLE, "Loss", "MSE"])
