"""Losses, as functions for each row of a batch and as classes that reduce them to a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import tensorflow as tf
from . import backend
from .masks import mask_of
from .names import find, public, snake_case, unique

_REDUCTIONS = ("sum", "sum_over_batch_size", "mean", "mean_with_sample_weight", "none", None)


def _pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Both as tensors of the predictions' dtype, and of one rank."""
    y_pred = tf.convert_to_tensor(y_pred)
    if not y_pred.dtype.is_floating:
        y_pred = tf.cast(y_pred, backend.floatx())
    y_true = tf.cast(y_true, y_pred.dtype)
    return same_rank(y_true, y_pred)


def same_rank(x: Any, y: Any) -> tuple[Any, Any]:
    """Both with as many axes: a last one of length 1 is put to the other, if that has one axis, or taken away."""
    if len(x.shape) == len(y.shape) + 1 and x.shape[-1] == 1:
        return (x, tf.expand_dims(y, -1)) if len(y.shape) == 1 else (tf.squeeze(x, axis=-1), y)
    if len(y.shape) == len(x.shape) + 1 and y.shape[-1] == 1:
        return (tf.expand_dims(x, -1), y) if len(x.shape) == 1 else (x, tf.squeeze(y, axis=-1))
    return x, y


def _row_mean(x: Any) -> Any:
    return tf.reduce_mean(x, axis=-1)


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``(y_true - y_pred) ** 2`` over the last axis.

    >>> mean_squared_error([[1.0, 2.0]], [[1.0, 5.0]]).numpy()
    array([4.5], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    return _row_mean(tf.square(y_true - y_pred))


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``abs(y_true - y_pred)`` over the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _row_mean(tf.abs(y_true - y_pred))


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """100 times the mean of the errors as parts of `y_true`, which counts as 1e-7 at least."""
    y_true, y_pred = _pair(y_true, y_pred)
    return 100.0 * _row_mean(tf.abs((y_true - y_pred) / tf.maximum(tf.abs(y_true), backend.epsilon())))


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """The mean squared error of ``log(1 + y)``, where no `y` counts as less than 1e-7."""
    y_true, y_pred = _pair(y_true, y_pred)
    first, second = (
        tf.math.log(tf.maximum(y_pred, backend.epsilon()) + 1.0),
        tf.math.log(tf.maximum(y_true, backend.epsilon()) + 1.0),
    )
    return _row_mean(tf.square(first - second))


def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Half the squared error where it is at most `delta`, beyond that a straight line; the mean over the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    error = y_pred - y_true
    size = tf.abs(error)
    return _row_mean(tf.where(size <= delta, 0.5 * tf.square(error), delta * size - 0.5 * delta * delta))


def log_cosh(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``log(cosh(y_pred - y_true))`` over the last axis, without overflow."""
    y_true, y_pred = _pair(y_true, y_pred)
    error = y_pred - y_true
    return _row_mean(error + tf.math.softplus(-2.0 * error) - 0.6931471805599453)


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
        p = tf.clip_by_value(y_pred, backend.epsilon(), 1.0 - backend.epsilon())
        out = -(y_true * tf.math.log(p) + (1.0 - y_true) * tf.math.log(1.0 - p))
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
    p = y_pred / tf.reduce_sum(y_pred, axis=axis, keepdims=True)
    return -tf.reduce_sum(
        y_true * tf.math.log(tf.clip_by_value(p, backend.epsilon(), 1.0 - backend.epsilon())), axis=axis
    )


def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, ignore_class: int | None = None, axis: int = -1
) -> Any:  # fmt: skip
    """The cross entropy of the classes that the integers `y_true` number, and distributions along the last axis.

    Shapes: `y_pred` ``(..., classes)``, `y_true` and the result ``(...)``. Rows of the class `ignore_class` give 0.
    Raises ValueError for another axis than the last.

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
    if ignore_class is not None:
        kept = tf.not_equal(y_true, tf.constant(ignore_class, tf.int64))
        y_true = tf.where(kept, y_true, tf.zeros_like(y_true))
    if not from_logits:
        y_pred = tf.math.log(tf.clip_by_value(y_pred, backend.epsilon(), 1.0 - backend.epsilon()))
    out = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y_true, logits=y_pred)
    return out if ignore_class is None else tf.where(kept, out, tf.zeros_like(out))


def binary_focal_crossentropy(
    y_true: Any, y_pred: Any, apply_class_balancing: bool = False, alpha: float = 0.25, gamma: float = 2.0,
    from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1,
) -> Any:  # fmt: skip
    """`binary_crossentropy` of which each entry is multiplied by ``(1 - p)**gamma``, p the probability of what is true.

    apply_class_balancing: and by `alpha` where `y_true` is 1, by ``1 - alpha`` where it is 0.
    """
    y_true, y_pred = _pair(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    p = tf.sigmoid(y_pred) if from_logits else y_pred
    cut = tf.clip_by_value(p, backend.epsilon(), 1.0 - backend.epsilon())
    entropy = -(y_true * tf.math.log(cut) + (1.0 - y_true) * tf.math.log(1.0 - cut))
    right = y_true * p + (1.0 - y_true) * (1.0 - p)
    out = tf.pow(1.0 - right, gamma) * entropy
    if apply_class_balancing:
        out = (y_true * alpha + (1.0 - y_true) * (1.0 - alpha)) * out
    return tf.reduce_mean(out, axis=axis)


def categorical_focal_crossentropy(
    y_true: Any, y_pred: Any, alpha: Any = 0.25, gamma: float = 2.0, from_logits: bool = False,
    label_smoothing: float = 0.0, axis: int = -1,
) -> Any:  # fmt: skip
    """`categorical_crossentropy` of which each entry is multiplied by ``alpha * (1 - p)**gamma``."""
    y_true, y_pred = _pair(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / float(y_true.shape[axis])
    p = tf.nn.softmax(y_pred, axis=axis) if from_logits else y_pred
    p = tf.clip_by_value(p / tf.reduce_sum(p, axis=axis, keepdims=True), backend.epsilon(), 1.0 - backend.epsilon())
    return tf.reduce_sum(alpha * tf.pow(1.0 - p, gamma) * (-y_true * tf.math.log(p)), axis=axis)


def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """The sum of ``y_true * log(y_true / y_pred)`` over the last axis, both cut to ``[1e-7, 1]``."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_true, y_pred = tf.clip_by_value(y_true, backend.epsilon(), 1.0), tf.clip_by_value(y_pred, backend.epsilon(), 1.0)
    return tf.reduce_sum(y_true * tf.math.log(y_true / y_pred), axis=-1)


def poisson(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``y_pred - y_true * log(y_pred + 1e-7)`` over the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _row_mean(y_pred - y_true * tf.math.log(y_pred + backend.epsilon()))


def _signs(y_true: Any) -> Any:
    """Labels 0 and 1 as -1 and 1; others as they are."""
    values = y_true.numpy()
    return 2.0 * y_true - 1.0 if ((values == 0) | (values == 1)).all() else y_true


def hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``max(1 - y_true * y_pred, 0)`` over the last axis; labels 0 count as -1."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _row_mean(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0))


def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``max(1 - y_true * y_pred, 0) ** 2`` over the last axis; labels 0 count as -1."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _row_mean(tf.square(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0)))


def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """How far the largest prediction of a wrong class comes to that of the right one: at least 1 below it gives 0."""
    y_true, y_pred = _pair(y_true, y_pred)
    right = tf.reduce_sum(y_true * y_pred, axis=-1)
    wrong = tf.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return tf.maximum(wrong - right + 1.0, 0.0)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Minus the cosine of the angle between the two along an axis."""
    return -cosine(y_true, y_pred, axis)


def cosine(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between the two along an axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    return tf.reduce_sum(tf.nn.l2_normalize(y_true, axis=axis) * tf.nn.l2_normalize(y_pred, axis=axis), axis=axis)


class Loss:
    """Base class: a subclass gives, in `call`, the loss of each row, which calling the object reduces.

    reduction: "sum_over_batch_size" (the mean), "sum", "mean_with_sample_weight" (the sum by that of the weights), or
    "none". Raises ValueError for another one. sample_weight: factors of the rows. Where the mask that goes with the
    predictions is false, rows do not count.
    """

    ignore_class: int | None = None  # rows of this class do not count in the mean

    def __init__(self, name: str | None = None, reduction: str | None = "sum_over_batch_size", dtype: Any = None):
        if reduction not in _REDUCTIONS:
            raise ValueError(
                f"Invalid value for argument `reduction`. Expected one of {set(_REDUCTIONS)}. Received: "
                f"reduction={reduction}"
            )
        self.name = unique(snake_case(type(self).__name__)) if name is None else name
        self.reduction = reduction
        self.dtype = tf.as_dtype(dtype or backend.floatx())

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each row."""
        raise NotImplementedError(f"{type(self).__name__} does not say what the loss of a row is")

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        mask = mask_of(y_pred)
        values = self.call(tf.cast(y_true, self.dtype), tf.cast(y_pred, self.dtype))
        if mask is not None:
            sample_weight = self._masked(mask, sample_weight, values.dtype)
        if sample_weight is not None:
            sample_weight = tf.cast(sample_weight, values.dtype)
            values, sample_weight = same_rank(values, sample_weight)
            values = values * sample_weight
        if self.ignore_class is not None and self.reduction not in ("none", "sum", None):
            counted = float((np.asarray(y_true) != self.ignore_class).sum())
            return tf.reduce_sum(values) / counted if counted else tf.reduce_sum(values)
        if self.reduction in (None, "none") or len(values.shape) == 0:
            return values
        if self.reduction == "sum":
            return tf.reduce_sum(values)
        if self.reduction == "mean_with_sample_weight" and sample_weight is not None:
            return tf.math.divide_no_nan(tf.reduce_sum(values), tf.reduce_sum(sample_weight))
        return tf.reduce_mean(values) if 0 not in tuple(values.shape) else tf.reduce_sum(values)

    def _masked(self, mask: Any, sample_weight: Any, dtype: Any) -> Any:
        """The weights with zeros where the mask is false; for a mean over all, with what makes it one of the rest."""
        counts = tf.cast(mask, dtype)
        if self.reduction in ("sum_over_batch_size", "mean"):
            total = float(np.prod(counts.shape, dtype=int))
            counts = counts * tf.math.divide_no_nan(tf.constant(total, dtype), tf.reduce_sum(counts))
        if sample_weight is None:
            return counts
        counts, sample_weight = same_rank(counts, tf.cast(sample_weight, dtype))
        return sample_weight * counts


class _Of(Loss):
    """The loss of a function with fixed arguments."""

    _function: Callable[..., Any]
    _arguments: dict[str, Any]

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return type(self)._function(y_true, y_pred, **self._arguments)


def _loss(class_name: str, function: Callable[..., Any], name: str | None = None, **defaults: Any) -> type[Loss]:
    """The class of a function; `defaults` are the function's arguments that the class takes before its own."""

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) > len(order):
            raise TypeError(f"{class_name} takes {', '.join(order)}")
        given = {**defaults, **own, **dict(zip(order, args)), **kwargs}
        if unknown := set(given) - set(order):
            raise TypeError(f"{class_name} takes {', '.join(order)}, not {', '.join(sorted(unknown))}")
        Loss.__init__(self, given["name"], given["reduction"], given["dtype"])
        self._arguments = {k: given[k] for k in defaults}
        self.ignore_class = self._arguments.get("ignore_class")

    own = {"reduction": "sum_over_batch_size", "name": name or function.__name__, "dtype": None}
    order = [*defaults, *own]
    summary = (function.__doc__ or "").split("\n\n")[0]
    members = {"__init__": init, "_function": staticmethod(function), "__doc__": summary, "__module__": __name__}
    return type(class_name, (_Of,), members)


MeanSquaredError = _loss("MeanSquaredError", mean_squared_error)
MeanAbsoluteError = _loss("MeanAbsoluteError", mean_absolute_error)
MeanAbsolutePercentageError = _loss("MeanAbsolutePercentageError", mean_absolute_percentage_error)
MeanSquaredLogarithmicError = _loss("MeanSquaredLogarithmicError", mean_squared_logarithmic_error)
Huber = _loss("Huber", huber, "huber_loss", delta=1.0)
LogCosh = _loss("LogCosh", log_cosh)
BinaryCrossentropy = _loss(
    "BinaryCrossentropy", binary_crossentropy, from_logits=False, label_smoothing=0.0, axis=-1
)  # fmt: skip
CategoricalCrossentropy = _loss(
    "CategoricalCrossentropy", categorical_crossentropy, from_logits=False, label_smoothing=0.0, axis=-1
)
BinaryFocalCrossentropy = _loss(
    "BinaryFocalCrossentropy", binary_focal_crossentropy, apply_class_balancing=False, alpha=0.25, gamma=2.0,
    from_logits=False, label_smoothing=0.0, axis=-1,
)  # fmt: skip
CategoricalFocalCrossentropy = _loss(
    "CategoricalFocalCrossentropy", categorical_focal_crossentropy, alpha=0.25, gamma=2.0, from_logits=False,
    label_smoothing=0.0, axis=-1,
)  # fmt: skip
SparseCategoricalCrossentropy = _loss(
    "SparseCategoricalCrossentropy", sparse_categorical_crossentropy, from_logits=False, ignore_class=None, axis=-1
)
KLDivergence = _loss("KLDivergence", kl_divergence)
Poisson = _loss("Poisson", poisson)
Hinge = _loss("Hinge", hinge)
SquaredHinge = _loss("SquaredHinge", squared_hinge)
CategoricalHinge = _loss("CategoricalHinge", categorical_hinge)
CosineSimilarity = _loss("CosineSimilarity", cosine_similarity, axis=-1)

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence = kl_divergence
logcosh = log_cosh

_FUNCTIONS: dict[str, Any] = {
    f.__name__: f
    for f in (
        mean_squared_error, mean_absolute_error, mean_absolute_percentage_error, mean_squared_logarithmic_error, huber,
        log_cosh, binary_crossentropy, categorical_crossentropy, sparse_categorical_crossentropy, kl_divergence,
        binary_focal_crossentropy, categorical_focal_crossentropy,
        poisson, hinge, squared_hinge, categorical_hinge, cosine_similarity,
    )
} | {"mse": mse, "mae": mae, "mape": mape, "msle": msle, "kld": kld, "logcosh": logcosh,
     "kullback_leibler_divergence": kl_divergence}  # fmt: skip
_CLASSES: dict[str, Any] = {
    c.__name__: c
    for c in (
        MeanSquaredError, MeanAbsoluteError, MeanAbsolutePercentageError, MeanSquaredLogarithmicError, Huber, LogCosh,
        BinaryCrossentropy, CategoricalCrossentropy, SparseCategoricalCrossentropy, BinaryFocalCrossentropy,
        CategoricalFocalCrossentropy, KLDivergence, Poisson, Hinge,
        SquaredHinge, CategoricalHinge, CosineSimilarity,
    )
}  # fmt: skip


def get(identifier: Any) -> Any:
    """The loss of this name, a function or a class' object, or the object itself.

    Raises ValueError for a name that there is not.
    """
    return None if identifier is None else find(_FUNCTIONS | _CLASSES, identifier, "loss")


__getattr__, __dir__ = public(
    "tf.keras.losses", [*_FUNCTIONS, *_CLASSES, "Loss", "get", "MSE", "MAE", "MAPE", "MSLE", "KLD"]
)
