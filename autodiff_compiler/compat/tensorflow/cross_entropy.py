"""Cross entropies of labels and logits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import kernels
from ..operations import losses
from .errors import invalid
from .operands import array, checked, computed, floating, given, integer, operand, run
from .shaping import cast


def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Any:
    """The cross entropy of probabilities `labels` and ``sigmoid(logits)``, for each element."""
    x = operand(logits)
    z = given(labels, x)
    if z._value.shape != x._value.shape:
        raise ValueError(
            f"`logits` and `labels` must have the same shape, received ({x._value.shape} vs {z._value.shape})."
        )
    return run(kernels.sigmoid_cross_entropy, z, x)


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: Any = -1, name: str | None = None) -> Any:
    """The cross entropy of distributions `labels` and ``softmax(logits)`` along an axis."""
    x = operand(logits)
    z = cast(given(labels, x), x.dtype)
    return checked("SoftmaxCrossEntropyWithLogits", computed, losses.softmax_cross_entropy, x, z, integer(axis))


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Any:
    """The cross entropy of classes, numbered by integers `labels`, and ``softmax(logits)`` along the last axis."""
    op = "SparseSoftmaxCrossEntropyWithLogits"
    x, classes = floating(logits, op, "f"), array(labels).astype(np.int64)
    if classes.shape != x._value.shape[:-1]:
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={classes.shape} and logits.shape={x._value.shape}"
        )
    n = x._value.shape[-1]
    bad = classes[(classes < 0) | (classes >= n)]
    if bad.size:
        raise invalid(op, f"Received a label value of {bad[0]} which is outside the valid range of [0, {n}).")
    return computed(lambda a: losses.picked(kernels.log_softmax(a, -1), classes, -1), x)
