"""Metrics: numbers that are collected over many batches. They are not differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import tensorflow as tf
from . import losses
from .counts import (
    AUC,
    F1Score,
    FalseNegatives,
    FalsePositives,
    FBetaScore,
    MeanIoU,
    Precision,
    Recall,
    TrueNegatives,
    TruePositives,
)
from .masks import mask_of
from .metrics_base import Metric
from .names import find, public, snake_case


class Sum(Metric):
    """The sum of all values, times `sample_weight`."""

    def __init__(self, name: str | None = "sum", dtype: Any = None):
        super().__init__(dtype, name)
        self.total = self.add_variable((), "zeros", name="total")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        x, _ = _rows(values, sample_weight, self._dtype, np.sum)
        self.total.assign_add(x.sum(dtype=x.dtype))

    def result(self) -> Any:
        return tf.constant(self.total.numpy())


class _Average(Metric):
    """The mean of what a subclass collects; 0 if that is nothing."""

    def __init__(self, name: str | None, dtype: Any = None):
        super().__init__(dtype, name)
        self.total = self.add_variable((), "zeros", name="total")
        self.count = self.add_variable((), "zeros", name="count")

    def _collect(self, values: Any, sample_weight: Any) -> None:
        x, weight = _rows(values, sample_weight, self._dtype, np.mean)
        self.total.assign_add(x.sum(dtype=x.dtype))
        count = len(x) if x.ndim else 1
        self.count.assign_add(x.dtype.type(count) if weight is None else weight.sum(dtype=x.dtype))

    def result(self) -> Any:
        total, count = self.total.numpy(), self.count.numpy()
        return tf.constant(total / count if count else np.zeros_like(total))


class Mean(_Average):
    """The mean of all values, weighted by `sample_weight`; 0 if there are none.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> mean = tf.keras.metrics.Mean(name="loss")
    >>> mean.update_state([1.0, 2.0])
    >>> float(mean(6.0))
    3.0
    """

    def __init__(self, name: str | None = "mean", dtype: Any = None):
        super().__init__(name, dtype)

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        self._collect(values, sample_weight)


def _rows(values: Any, sample_weight: Any, dtype: Any, reduce: Callable[..., Any]) -> tuple[Any, Any]:
    """One value for each row, and its weight if there are weights; the axes after the first are reduced. Values are
    multiplied by their weights, of which there may be one for each row or one for each entry."""
    x = tf.cast(values, dtype)
    if sample_weight is None:
        x = np.asarray(x)
        return (reduce(x, axis=tuple(range(1, x.ndim))) if x.ndim > 1 else x), None
    x, weight = losses.same_rank(x, tf.cast(sample_weight, dtype))
    x, weight = np.asarray(x), np.asarray(weight)
    given = weight.ndim
    if x.ndim > given:
        x = reduce(x, axis=tuple(range(given, x.ndim)))
    weight = np.broadcast_to(weight, x.shape)
    x = x * weight
    if given > 1:
        weight = reduce(weight, axis=tuple(range(1, given)))
    return (reduce(x, axis=tuple(range(1, x.ndim))) if x.ndim > 1 else x), weight


class MeanMetricWrapper(_Average):
    """The mean of a function ``fn(y_true, y_pred, **kwargs)`` over all rows, or those that the mask of the predictions
    lets count."""

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(name or fn.__name__, dtype)
        self._fn, self._arguments = fn, kwargs

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        values = self._fn(tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred), **self._arguments)
        mask = mask_of(y_pred)
        if mask is not None:
            counts = tf.cast(mask, self._dtype)
            if sample_weight is not None:
                counts, sample_weight = losses.same_rank(counts, tf.cast(sample_weight, self._dtype))
                counts = counts * sample_weight
            sample_weight = counts
        self._collect(values, sample_weight)


class RootMeanSquaredError(_Average):
    """The square root of the mean squared error."""

    _direction = "down"

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None):
        super().__init__(name, dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        x, y = losses.same_rank(tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype))
        self._collect(tf.square(x - y), sample_weight)

    def result(self) -> Any:
        return tf.sqrt(super().result())


def _equal(x: Any, y: Any) -> Any:
    return tf.cast(tf.equal(x, y), tf.float32)


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the two are equal."""
    y_pred = tf.convert_to_tensor(y_pred)
    return _equal(*losses.same_rank(tf.cast(y_true, y_pred.dtype), y_pred))


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """1 where `y_pred` is above the threshold just where `y_true` is 1, else 0."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true, y_pred = losses.same_rank(tf.cast(y_true, y_pred.dtype), y_pred)
    return _equal(y_true, tf.cast(y_pred > threshold, y_true.dtype))


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the two have their largest element at the same place of the last axis."""
    return _equal(tf.argmax(y_true, axis=-1), tf.argmax(y_pred, axis=-1))


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where `y_true` is the number of the largest element along the last axis of `y_pred`."""
    y_pred, y_true = tf.convert_to_tensor(y_pred), tf.convert_to_tensor(y_true)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = tf.squeeze(y_true, axis=-1)
    return _equal(tf.cast(y_true, tf.int64), tf.argmax(y_pred, axis=-1))


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where the largest entry of `y_true` stands at one of the places of the `k` largest of `y_pred`."""
    return sparse_top_k_categorical_accuracy(tf.argmax(y_true, axis=-1), y_pred, k)


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where `y_true` is one of the numbers of the `k` largest entries along the last axis of `y_pred`."""
    y_pred, y_true = tf.convert_to_tensor(y_pred), tf.convert_to_tensor(y_true)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = tf.squeeze(y_true, axis=-1)
    shape = y_true.shape
    rows = tf.reshape(y_pred, [-1, y_pred.shape[-1]])
    found = tf.math.in_top_k(tf.cast(tf.reshape(y_true, [-1]), tf.int32), rows, k)
    return tf.reshape(tf.cast(found, tf.float32), shape)


def _metric(
    class_name: str, function: Callable[..., Any], name: str | None = None, *, better: str = "down", **defaults: Any
) -> type[Metric]:  # fmt: skip
    """The class of a function; it takes a name, a dtype, and the function's arguments `defaults`. better: its
    direction."""

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = {**own, **dict(zip(order, args)), **kwargs}
        if unknown := set(given) - set(order):
            raise TypeError(f"{class_name} takes {', '.join(order)}, not {', '.join(sorted(unknown))}")
        MeanMetricWrapper.__init__(self, function, given["name"], given["dtype"], **{k: given[k] for k in defaults})

    own = {"name": name or function.__name__, "dtype": None, **defaults}
    # The threshold of BinaryAccuracy and the like stands after name and dtype, as in Keras.
    order = list(own)
    members = {"__init__": init, "__doc__": (function.__doc__ or "").split("\n\n")[0], "__module__": __name__}
    return type(class_name, (MeanMetricWrapper,), {**members, "_direction": better})


Accuracy = _metric("Accuracy", accuracy, better="up")
BinaryAccuracy = _metric("BinaryAccuracy", binary_accuracy, threshold=0.5, better="up")
CategoricalAccuracy = _metric("CategoricalAccuracy", categorical_accuracy, better="up")
SparseCategoricalAccuracy = _metric("SparseCategoricalAccuracy", sparse_categorical_accuracy, better="up")
MeanSquaredError = _metric("MeanSquaredError", losses.mean_squared_error)
MeanAbsoluteError = _metric("MeanAbsoluteError", losses.mean_absolute_error)
MeanAbsolutePercentageError = _metric("MeanAbsolutePercentageError", losses.mean_absolute_percentage_error)
MeanSquaredLogarithmicError = _metric("MeanSquaredLogarithmicError", losses.mean_squared_logarithmic_error)
BinaryCrossentropy = _metric(
    "BinaryCrossentropy", losses.binary_crossentropy, from_logits=False, label_smoothing=0.0
)  # fmt: skip
CategoricalCrossentropy = _metric(
    "CategoricalCrossentropy", losses.categorical_crossentropy, from_logits=False, label_smoothing=0.0, axis=-1
)
SparseCategoricalCrossentropy = _metric(
    "SparseCategoricalCrossentropy", losses.sparse_categorical_crossentropy, from_logits=False, axis=-1
)
KLDivergence = _metric("KLDivergence", losses.kl_divergence)
CosineSimilarity = _metric("CosineSimilarity", losses.cosine, "cosine_similarity", axis=-1, better="up")

TopKCategoricalAccuracy = _metric("TopKCategoricalAccuracy", top_k_categorical_accuracy, better="up", k=5)
SparseTopKCategoricalAccuracy = _metric(
    "SparseTopKCategoricalAccuracy", sparse_top_k_categorical_accuracy, better="up", k=5
)
Hinge = _metric("Hinge", losses.hinge)
SquaredHinge = _metric("SquaredHinge", losses.squared_hinge)
CategoricalHinge = _metric("CategoricalHinge", losses.categorical_hinge)
LogCoshError = _metric("LogCoshError", losses.log_cosh, "logcosh")
Poisson = _metric("Poisson", losses.poisson)

_CLASSES: dict[str, Any] = {
    c.__name__: c
    for c in (
        Sum, Mean, RootMeanSquaredError, Accuracy, BinaryAccuracy, CategoricalAccuracy, SparseCategoricalAccuracy,
        MeanSquaredError, MeanAbsoluteError, MeanAbsolutePercentageError, MeanSquaredLogarithmicError,
        BinaryCrossentropy, CategoricalCrossentropy, SparseCategoricalCrossentropy, KLDivergence, CosineSimilarity,
        TopKCategoricalAccuracy, SparseTopKCategoricalAccuracy, Hinge, SquaredHinge, CategoricalHinge, LogCoshError,
        Poisson, AUC, Precision, Recall, TruePositives, FalsePositives, TrueNegatives, FalseNegatives, FBetaScore,
        F1Score, MeanIoU,
    )
}  # fmt: skip
_NAMES = {snake_case(name): c for name, c in _CLASSES.items()} | {
    "mse": MeanSquaredError, "mae": MeanAbsoluteError, "mape": MeanAbsolutePercentageError,
}  # fmt: skip


def get(identifier: Any) -> Any:
    """The metric of this name, or the object itself. Raises ValueError for a name that there is not."""
    return None if identifier is None else find(_CLASSES | _NAMES, identifier, "metric")


__getattr__, __dir__ = public(
    "tf.keras.metrics",
    [*_CLASSES, "Metric", "MeanMetricWrapper", "get", "accuracy", "binary_accuracy", "categorical_accuracy",
     "sparse_categorical_accuracy"],
)  # fmt: skip
