"""Metrics that count right and wrong predictions of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tensorflow as tf
from . import backend, losses
from .metrics_base import Metric
from .variables import Variable

_KINDS = ("true_positives", "false_positives", "true_negatives", "false_negatives")


class _Counts(Metric):
    """Counts of the kinds `_kinds` for each threshold: a prediction above it is positive. `y_true` is 0 or 1.

    thresholds: 0.5, one number, or several. top_k: only the largest predictions of a row count as positive. class_id:
    only this entry of rows counts.
    """

    _kinds: tuple[str, ...] = _KINDS
    true_positives: Variable
    false_positives: Variable
    true_negatives: Variable
    false_negatives: Variable

    def __init__(
        self, thresholds: Any = None, top_k: int | None = None, class_id: int | None = None, name: str | None = None,
        dtype: Any = None,
    ):  # fmt: skip
        super().__init__(dtype, name)
        given = thresholds if isinstance(thresholds, (list, tuple, np.ndarray)) else [thresholds]
        default = 0.5 if top_k is None else -1e10
        self.thresholds = [default if t is None else float(t) for t in given]
        if thresholds is not None and any(not 0 <= t <= 1 for t in self.thresholds):
            raise ValueError(
                f"Threshold values must be in [0, 1]. Received: {[t for t in self.thresholds if not 0 <= t <= 1]}"
            )
        self.top_k, self.class_id = top_k, class_id
        for kind in self._kinds:
            setattr(self, kind, self.add_variable((len(self.thresholds),), "zeros", name=kind))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        true, predicted = losses.same_rank(tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype))
        true, predicted = np.asarray(true), np.asarray(predicted)
        weight = np.ones_like(predicted)
        if sample_weight is not None:
            given = np.asarray(tf.cast(sample_weight, self._dtype))
            weight = weight * given.reshape(given.shape + (1,) * (predicted.ndim - given.ndim))
        if self.top_k is not None:
            least = np.sort(predicted, axis=-1)[..., -self.top_k, None]
            predicted = np.where(predicted >= least, predicted, np.float32(-1e10))
        if self.class_id is not None:
            true, predicted = true[..., self.class_id, None], predicted[..., self.class_id, None]
            weight = weight[..., :1]
        thresholds = np.asarray(self.thresholds, predicted.dtype)[:, None]
        above, right, weight = predicted.ravel() > thresholds, true.ravel().astype(bool), weight.ravel()
        masks = {
            "true_positives": above & right, "false_positives": above & ~right,
            "true_negatives": ~above & ~right, "false_negatives": ~above & right,
        }  # fmt: skip
        for kind in self._kinds:
            getattr(self, kind).assign_add((masks[kind] * weight).sum(1, dtype=predicted.dtype))

    def _ratio(self, part: Any, rest: Any) -> Any:
        out = tf.math.divide_no_nan(tf.convert_to_tensor(part), tf.convert_to_tensor(part) + rest)
        return out[0] if len(self.thresholds) == 1 else out


class Precision(_Counts):
    """The part of positive predictions that are right.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> float(tf.keras.metrics.Precision()([0, 1, 1], [0.2, 0.9, 0.3]))
    1.0
    """

    _kinds = ("true_positives", "false_positives")
    _direction = "up"

    def result(self) -> Any:
        return self._ratio(self.true_positives, self.false_positives)


class Recall(_Counts):
    """The part of positives that are predicted."""

    _kinds = ("true_positives", "false_negatives")
    _direction = "up"

    def result(self) -> Any:
        return self._ratio(self.true_positives, self.false_negatives)


class _OneCount(_Counts):
    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None):
        super().__init__(thresholds, name=name, dtype=dtype)

    def result(self) -> Any:
        found = tf.convert_to_tensor(getattr(self, self._kinds[0]))
        return found[0] if len(self.thresholds) == 1 else found


class TruePositives(_OneCount):
    """How many positives are predicted."""

    _kinds = ("true_positives",)
    _direction = "up"


class FalsePositives(_OneCount):
    """How many negatives are predicted to be positive."""

    _kinds = ("false_positives",)
    _direction = "down"


class TrueNegatives(_OneCount):
    """How many negatives are predicted."""

    _kinds = ("true_negatives",)
    _direction = "up"


class FalseNegatives(_OneCount):
    """How many positives are predicted to be negative."""

    _kinds = ("false_negatives",)
    _direction = "down"


class AUC(_Counts):
    """The area under the curve of recall over the rate of false positives ("ROC"), or of precision over recall ("PR"),
    from the counts at `num_thresholds` thresholds, evenly from 0 to 1, or at 0, 1 and `thresholds`.

    summation_method: "interpolation", "minoring" or "majoring". Raises ValueError for `multi_label`.

    Reference: Davis and Goadrich, The relationship between precision-recall and ROC curves (2006).
    """

    _direction = "up"

    def __init__(
        self, num_thresholds: int = 200, curve: str = "ROC", summation_method: str = "interpolation",
        name: str | None = None, dtype: Any = None, thresholds: Any = None, multi_label: bool = False,
        num_labels: int | None = None, label_weights: Any = None, from_logits: bool = False,
    ):  # fmt: skip
        if multi_label or num_labels or label_weights is not None:
            raise ValueError("AUC of several labels is not there: make one metric for each label")
        if curve not in ("ROC", "PR"):
            raise ValueError(f"Invalid `curve` argument value \"{curve}\". Expected one of: ['ROC', 'PR']")
        if summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(f'Invalid `summation_method` argument value "{summation_method}".')
        if thresholds is None and num_thresholds <= 1:
            raise ValueError(
                f"Argument `num_thresholds` must be an integer > 1. Received: num_thresholds={num_thresholds}"
            )
        inner = [(k + 1) / (num_thresholds - 1) for k in range(num_thresholds - 2)]
        inner = inner if thresholds is None else sorted(thresholds)
        super().__init__([0.0, *inner, 1.0], name=name, dtype=dtype)
        self.thresholds = [-backend.epsilon(), *inner, 1.0 + backend.epsilon()]
        self.num_thresholds = len(self.thresholds)
        self.curve, self.summation_method, self._from_logits = curve, summation_method, from_logits

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        super().update_state(y_true, tf.sigmoid(y_pred) if self._from_logits else y_pred, sample_weight)

    def result(self) -> Any:
        tp, fp, tn, fn = (np.asarray(getattr(self, kind).numpy()) for kind in _KINDS)
        if self.curve == "PR" and self.summation_method == "interpolation":
            area = _interpolated(tp, fp, fn)
        else:
            recall = _divided(tp, tp + fn)
            x, y = (_divided(fp, fp + tn), recall) if self.curve == "ROC" else (recall, _divided(tp, tp + fp))
            if self.summation_method == "interpolation":
                heights = (y[:-1] + y[1:]) / 2.0
            else:
                heights = (np.minimum if self.summation_method == "minoring" else np.maximum)(y[:-1], y[1:])
            area = ((x[:-1] - x[1:]) * heights).sum(dtype=x.dtype)
        return tf.constant(area, self._dtype)


def _divided(x: Any, y: Any) -> Any:
    """``x / y``, and 0 where `y` is 0."""
    return np.where(y == 0, 0, x / np.where(y == 0, 1, y)).astype(x.dtype)


def _interpolated(tp: Any, fp: Any, fn: Any) -> Any:
    """The area under the curve of precision over recall, between whose points the counts lie on straight lines."""
    positive = tp + fp
    d_tp, slope = tp[:-1] - tp[1:], _divided(tp[:-1] - tp[1:], np.maximum(positive[:-1] - positive[1:], 0))
    intercept = tp[1:] - slope * positive[1:]
    both = (positive[:-1] > 0) & (positive[1:] > 0)
    ratio = np.where(both, _divided(positive[:-1], np.maximum(positive[1:], 0)), 1).astype(tp.dtype)
    return _divided(slope * (d_tp + intercept * np.log(ratio)), np.maximum(tp[1:] + fn[1:], 0)).sum(dtype=tp.dtype)


class FBetaScore(Metric):
    """The harmonic mean of precision and recall, which counts `beta` times as much: of each class, of all together
    ("micro"), or a mean over the classes ("macro", or "weighted" by how many there are).

    `y_true` and `y_pred` are ``(batch, classes)``; the largest prediction of a row is positive, or those above
    `threshold`.
    """

    _direction = "up"

    def __init__(
        self, average: str | None = None, beta: float = 1.0, threshold: float | None = None,
        name: str | None = "fbeta_score", dtype: Any = None,
    ):  # fmt: skip
        super().__init__(dtype, name)
        if average not in (None, "micro", "macro", "weighted"):
            raise ValueError(
                "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', 'weighted'}. Received: "
                f"average={average}"
            )
        if beta <= 0.0:
            raise ValueError(f"Invalid `beta` argument value. It should be > 0. Received: beta={beta}")
        if threshold is not None and not 0.0 < threshold <= 1.0:
            raise ValueError(
                "Invalid `threshold` argument value. It should verify 0 < threshold <= 1. Received: "
                f"threshold={threshold}"
            )
        self.average, self.beta, self.threshold = average, beta, threshold
        self._sums: list[Any] = []

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        true, predicted = (np.asarray(tf.cast(y, self._dtype)) for y in (y_true, y_pred))
        if true.ndim != 2 or predicted.ndim != 2:
            raise ValueError(
                "FBetaScore expects 2D inputs with shape (batch_size, output_dim). Received input shapes: "
                f"y_pred.shape={predicted.shape} and y_true.shape={true.shape}."
            )
        axis = None if self.average == "micro" else 0
        if not self._sums:
            shape = () if axis is None else (predicted.shape[1],)
            names = ("true_positives", "false_positives", "false_negatives", "intermediate_weights")
            self._sums = [self.add_variable(shape, "zeros", name=name) for name in names]
        if self.threshold is None:
            above = (predicted >= predicted.max(-1, keepdims=True)) & (np.abs(predicted) > 1e-9)
        else:
            above = predicted > self.threshold
        positive = above.astype(true.dtype)
        weight = 1.0 if sample_weight is None else np.asarray(tf.cast(sample_weight, self._dtype))[:, None]
        for kept, value in zip(self._sums, (positive * true, positive * (1 - true), (1 - positive) * true, true)):
            kept.assign_add((value * weight).sum(axis, dtype=true.dtype))

    def result(self) -> Any:
        tp, fp, fn, count = (tf.convert_to_tensor(v) for v in self._sums)
        precision, recall = tp / (tp + fp + backend.epsilon()), tp / (tp + fn + backend.epsilon())
        score = precision * recall / (self.beta**2 * precision + recall + backend.epsilon()) * (1 + self.beta**2)
        if self.average == "weighted":
            return tf.reduce_sum(score * (count / (tf.reduce_sum(count) + backend.epsilon())))
        return score if self.average is None else tf.reduce_mean(score)


class F1Score(FBetaScore):
    """`FBetaScore` with `beta` 1."""

    def __init__(
        self, average: str | None = None, threshold: float | None = None, name: str | None = "f1_score",
        dtype: Any = None,
    ):  # fmt: skip
        super().__init__(average, 1.0, threshold, name, dtype)


class MeanIoU(Metric):
    """The mean over the classes that there are of how far predicted and true places overlap: the number of those that
    are both, by that of those that are either. `y_true` and `y_pred` hold classes."""

    _direction = "up"

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = None):
        super().__init__(dtype, name)
        self.num_classes = num_classes
        self.total_cm = self.add_variable((num_classes, num_classes), "zeros", name="total_confusion_matrix")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        true, predicted = (np.asarray(y).astype(int).ravel() for y in (y_true, y_pred))
        weight = None if sample_weight is None else np.broadcast_to(np.asarray(sample_weight).ravel(), true.shape)
        if len(true) and max(true.max(), predicted.max()) >= self.num_classes:
            raise ValueError(f"there are classes beyond num_classes={self.num_classes}")
        found = np.bincount(true * self.num_classes + predicted, weight, self.num_classes**2)
        self.total_cm.assign_add(found.reshape(self.num_classes, -1).astype(self.dtype))

    def result(self) -> Any:
        matrix = np.asarray(self.total_cm.numpy())
        both = np.diag(matrix)
        either = matrix.sum(0) + matrix.sum(1) - both
        there = either > 0
        return tf.constant(_divided(both, either)[there].mean() if there.any() else 0.0, self._dtype)
