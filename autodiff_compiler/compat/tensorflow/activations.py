"""Activations and losses, of the kernels that `ad.nn` is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import kernels
from ..operations import losses
from . import dtypes
from .clipping import clip_by_norm
from .elementwise import cast
from .errors import dims, invalid
from .indexing import gather
from .made import reduce_mean, reduce_sum, rsqrt, square
from .operands import axes as axes_of
from .operands import computed, floating, given, integer, integers, operand, pair, run
from .operators import Arithmetic
from .random import generator

# --- losses -----------------------------------------------------------------------------------------------------------


def l2_loss(t: Any, name: str | None = None) -> Any:
    """Half the sum of squares."""
    return reduce_sum(square(operand(t))) / 2


def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Any:
    """The cross entropy of probabilities `labels` and ``sigmoid(logits)``, for each element."""
    z, x = _labelled(labels, logits)
    if z._value.shape != x._value.shape:
        raise ValueError(
            f"`logits` and `labels` must have the same shape, received ({x._value.shape} vs {z._value.shape})."
        )
    return run(kernels.sigmoid_cross_entropy, z, x)


def _labelled(labels: Any, logits: Any) -> tuple[Any, Any]:
    x = operand(logits)
    return (labels if isinstance(labels, Arithmetic) else given(labels, x)), x


def weighted_cross_entropy_with_logits(labels: Any, logits: Any, pos_weight: Any, name: str | None = None) -> Any:
    """`sigmoid_cross_entropy_with_logits` with a weight for what is positive."""
    z, x = pair(*_labelled(labels, logits), "Mul")
    weight = pos_weight if isinstance(pos_weight, Arithmetic) else given(pos_weight, x)
    return computed(losses.sigmoid_cross_entropy, x, z, weight)


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: Any = -1, name: str | None = None) -> Any:
    """The cross entropy of distributions `labels` and ``softmax(logits)`` along an axis."""
    z, x = _labelled(labels, logits)
    if z._value.dtype != x._value.dtype:
        z = cast(z, dtypes.of(x._value.dtype))
    try:
        return computed(lambda a, t: losses.softmax_cross_entropy(a, t, integer(axis)), x, z)
    except ValueError:
        raise invalid(
            "SoftmaxCrossEntropyWithLogits", "logits and labels must be broadcastable: "
            f"logits_size={dims(x._value.shape)} labels_size={dims(z._value.shape)}"
        ) from None  # fmt: skip


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Any:
    """The cross entropy of classes, numbered by integers `labels`, and ``softmax(logits)`` along the last axis."""
    x = floating(logits, "SparseSoftmaxCrossEntropyWithLogits", "f")
    ids = np.array(operand(labels)._value)
    if ids.shape != x._value.shape[:-1]:
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={ids.shape} and logits.shape={x._value.shape}"
        )
    n = x._value.shape[-1]
    bad = ids[(ids < 0) | (ids >= n)]
    if bad.size:
        values = " ".join(str(k) for k in ids.ravel())
        raise invalid(
            "SparseSoftmaxCrossEntropyWithLogits", f"Received a label value of {bad.ravel()[0]} which is outside the "
            f"valid range of [0, {n}).  Label values: {values}"
        )  # fmt: skip
    classes = ids.astype(np.int64)
    return computed(lambda a: losses.picked(kernels.log_softmax(a, -1), classes, -1), x)


# --- normalization ----------------------------------------------------------------------------------------------------


def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> tuple[Any, Any]:
    """The mean and the variance along axes."""
    x = floating(x, "moments", "f")
    at = axes_of(axes)
    mean = reduce_mean(x, at, True)
    variance = reduce_mean(square(x - mean), at, keepdims)
    return (mean if keepdims else reduce_mean(x, at)), variance


def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: str | None = None
) -> Any:
    """``(x - mean) / sqrt(variance + epsilon) * scale + offset``; the last two may be None."""
    x = operand(x)
    factor = rsqrt(operand(variance) + variance_epsilon)
    if scale is not None:
        factor = factor * scale
    shift = -operand(mean) * factor if offset is None else operand(offset) - operand(mean) * factor
    return x * factor + shift


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Any:
    """``value + bias``, along the last axis or, with "NCHW", the second."""
    x, b = pair(value, bias, "BiasAdd")
    first = data_format is not None and data_format.startswith("NC")
    channels = x._value.shape[1 if first else -1]
    if b._value.ndim != 1 or b._value.shape[0] != channels:
        raise invalid(
            "BiasAdd", f"Must provide as many biases as the last dimension of the input tensor: {dims(b._value.shape)} "
            f"vs. {dims(x._value.shape)}"
        )  # fmt: skip
    return x + (run(np.reshape, b, (channels, *(1,) * (x._value.ndim - 2))) if first else b)


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    """The rows of `params` with these ids."""
    rows = gather(params, ids)
    if max_norm is None:
        return rows
    return clip_by_norm(rows, max_norm, axes=list(range(np.ndim(operand(ids)._value), rows._value.ndim)))


def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None) -> Any:
    """`x` with a random share `rate` of zeros, and the rest scaled so that its mean stays."""
    x = floating(x, "dropout", "f")
    share = float(operand(rate)._value)
    if not 0 <= share < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    if share == 0:
        return x
    shape = x._value.shape if noise_shape is None else integers(noise_shape)
    keep = generator(seed).random(shape) >= share
    return run(
        np.where, np.broadcast_to(keep, x._value.shape).copy(), x * (1.0 / (1.0 - share)), x._value.dtype.type(0)
    )
