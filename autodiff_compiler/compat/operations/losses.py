"""Losses of each element or each row, on arrays. The systems take their means and sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import kernels
from ..graph.array import to, value_of
from .elementwise import clipped
from .row import row


def squared(prediction: Any, target: Any) -> Any:
    """``(prediction - target) ** 2``."""
    d = prediction - target
    return d * d


def absolute(prediction: Any, target: Any) -> Any:
    """``abs(prediction - target)``."""
    return np.abs(prediction - target)


def huber(prediction: Any, target: Any, delta: float, scale: float = 1.0, closed: bool = True) -> Any:
    """Half the square of differences up to `delta` (below it, if not `closed`), linear above; all times `scale`."""
    d = prediction - target
    size = np.abs(d)
    near = value_of(size) <= delta if closed else value_of(size) < delta
    return np.where(near, 0.5 * scale * d * d, scale * delta * (size - 0.5 * delta))


def binary_cross_entropy(probability: Any, target: Any) -> Any:
    """The cross entropy of two probabilities, whose logarithms are at least -100."""

    def log(a: Any) -> Any:
        v = value_of(a)
        low = v <= math.exp(-100)
        return np.where(low, 0 * a - 100, np.log(np.where(low, np.ones_like(v), a)))

    return -(target * log(probability) + (1 - target) * log(1 - probability))


def cross_entropy_of_probabilities(probabilities: Any, target: Any, axis: Any, smallest: float, scaled: bool) -> Any:
    """The cross entropy of two distributions along an axis. Probabilities are cut to ``[smallest, 1 - smallest]``,
    after they were scaled to have the sum 1 if `scaled`."""
    p = probabilities / np.sum(probabilities, axis=axis, keepdims=True) if scaled else probabilities
    p = cut(p, smallest)
    return -np.sum(target * np.log(p), axis=axis)


def cut(p: Any, smallest: float) -> Any:
    """Probabilities in ``[smallest, 1 - smallest]``."""
    kind = value_of(p).dtype.type
    return clipped(p, kind(smallest), kind(1.0 - smallest))


def sigmoid_cross_entropy(logits: Any, target: Any, positive_weight: Any = None) -> Any:
    """The cross entropy of ``sigmoid(logits)``, without overflow; what is positive counts `positive_weight` times."""
    target = to(target, value_of(logits).dtype)
    if positive_weight is None:
        return kernels.sigmoid_cross_entropy(target, logits)
    return (1 - target) * logits + (1 + (positive_weight - 1) * target) * kernels.softplus(-logits)


def softmax_cross_entropy(logits: Any, target: Any, axis: int) -> Any:
    """The cross entropy of the distributions `target` and ``softmax(logits)`` along an axis."""
    return -np.sum(target * kernels.log_softmax(logits, axis), axis=axis)


def picked(log_probabilities: Any, classes: Any, axis: int) -> Any:
    """Minus the element of each row at the place of its class."""
    return -np.squeeze(np.take_along_axis(log_probabilities, np.expand_dims(classes, axis), axis), axis=axis)


row("arrays", lambda target, a, weight: sigmoid_cross_entropy(a, target, weight), "Mul",
    "`sigmoid_cross_entropy_with_logits` with a weight for what is positive.",
    "nn.weighted_cross_entropy_with_logits (labels, logits, pos_weight, name=None)", operands=3)  # fmt: skip
