"""Activations and losses, of the kernels that `ad.nn` is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import kernels
from . import dtypes
from .clipping import clip_by_norm
from .elementwise import abs_, cast, exp, log1p, rsqrt, sigmoid, square
from .errors import dims, invalid
from .indexing import gather
from .operands import FLOATS, elementwise, given, integer, integers, operand, pair, run
from .operands import axes as axes_of
from .operators import Arithmetic, not_allowed
from .random import generator
from .reductions import reduce_mean, reduce_sum
from .tensors import convert_to_tensor

_relu = elementwise(kernels.relu, "Relu")
_softplus = elementwise(kernels.softplus, "Softplus")


def relu(features: Any, name: str | None = None) -> Any:
    """``max(features, 0)``; the derivative at 0 is 0."""
    return _relu(features if isinstance(features, Arithmetic) else convert_to_tensor(features))


def relu6(features: Any, name: str | None = None) -> Any:
    """``min(max(features, 0), 6)``."""
    x = operand(features)
    return run(np.where, np.asarray(x._value >= 6), x._value.dtype.type(6), _relu(x))


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Any:
    """`features` where they are positive, else ``alpha * features``."""
    x = operand(features)
    return run(np.where, np.asarray(x._value > 0), x, x * alpha)


def _floating(x: Any, op: str) -> Any:
    x = operand(x)
    if x._value.dtype.kind != "f":
        raise not_allowed(op, x._value.dtype, FLOATS)
    return x


def elu(features: Any, name: str | None = None, alpha: Any = 1.0) -> Any:
    """`features` where they are positive, else ``alpha * (exp(features) - 1)``."""
    x = _floating(features, "Elu")
    return run(kernels.elu, x, x._value.dtype.type(alpha))


def selu(features: Any, name: str | None = None) -> Any:
    """`elu`, scaled so that mean 0 and variance 1 persist."""
    return 1.0507009873554805 * elu(features, alpha=1.6732632423543772)


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Any:
    """``features * P(X <= features)`` for a standard normal X, or its approximation by tanh."""
    x = _floating(features, "Gelu")
    if approximate:
        # As `ad.nn` has it: the tanh as a sigmoid, and beyond a square of 1,000 it is 0 or 1.
        cube = 1.0 + 0.044715 * run(np.minimum, x * x, x._value.dtype.type(1000.0))
        return x * sigmoid(1.5957691216057308 * x * cube)
    return x * run(kernels.ndtr, x)


def silu(features: Any, beta: Any = 1.0) -> Any:
    """``features * sigmoid(beta * features)``."""
    x = _floating(features, "Sigmoid")
    return x * sigmoid(x if isinstance(beta, float) and beta == 1.0 else x * beta)


def softplus(features: Any, name: str | None = None) -> Any:
    """``log(1 + exp(features))``, without overflow."""
    return _softplus(operand(features))


def softsign(features: Any, name: str | None = None) -> Any:
    """``features / (1 + abs(features))``."""
    x = _floating(features, "Softsign")
    return run(kernels.softsign, x)


def log_sigmoid(x: Any, name: str | None = None) -> Any:
    """``log(sigmoid(x))``, without overflow."""
    return -_softplus(-operand(x))


def _along(logits: Any, axis: Any, op: str) -> tuple[Any, int]:
    x = _floating(logits, op)
    at = -1 if axis is None else integer(axis)
    if x._value.ndim == 0:
        raise invalid(op, f"logits must have >= 1 dimension, got {dims(())}")
    if not -x._value.ndim <= at < x._value.ndim:
        raise invalid(op, f"`axis` = {at} not in range [{-x._value.ndim}, {x._value.ndim})")
    return x, at


def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """``exp(logits) / sum(exp(logits))`` along an axis, by default the last."""
    return run(kernels.softmax, *_along(logits, axis, "Softmax"))


def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """The logarithm of `softmax`."""
    return run(kernels.log_softmax, *_along(logits, axis, "LogSoftmax"))


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
    z, x = _labelled(labels, logits)
    weight = 1.0 + (pos_weight - 1.0) * z
    return (1.0 - z) * x + weight * (log1p(exp(-abs_(x))) + _relu(-x))


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: Any = -1, name: str | None = None) -> Any:
    """The cross entropy of distributions `labels` and ``softmax(logits)`` along an axis."""
    z, x = _labelled(labels, logits)
    if z._value.dtype != x._value.dtype:
        z = cast(z, dtypes.of(x._value.dtype))
    x, at = _along(x, axis, "SoftmaxCrossEntropyWithLogits")
    try:
        return -reduce_sum(z * run(kernels.log_softmax, x, at), at)
    except ValueError:
        raise invalid(
            "SoftmaxCrossEntropyWithLogits", "logits and labels must be broadcastable: "
            f"logits_size={dims(x._value.shape)} labels_size={dims(z._value.shape)}"
        ) from None  # fmt: skip


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Any:
    """The cross entropy of classes, numbered by integers `labels`, and ``softmax(logits)`` along the last axis."""
    x = _floating(logits, "SparseSoftmaxCrossEntropyWithLogits")
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
    rows = run(kernels.log_softmax, x, -1)
    picked = run(np.take_along_axis, rows, np.asarray(ids[..., None], np.int64), axis=-1)
    return -run(np.squeeze, picked, axis=-1)


# --- normalization ----------------------------------------------------------------------------------------------------


def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> tuple[Any, Any]:
    """The mean and the variance along axes."""
    x = _floating(x, "moments")
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
    x = _floating(x, "dropout")
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
