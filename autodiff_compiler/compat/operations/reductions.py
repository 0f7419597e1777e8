"""Operations along axes: sums, means, extremes, truth, places, running sums, spread."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import kernels
from ..graph.array import to, value_of
from .row import row


def evenly(f: Any) -> Any:
    """The extreme element; equal ones share the gradient evenly."""

    def reduce(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        v = value_of(a)
        best = f(v, axis=axis, keepdims=True)
        if a is v:
            return best if keepdims else f(v, axis=axis)
        hit = (v == best) | (np.isnan(v) & np.isnan(best))
        share = hit / np.sum(hit, axis=axis, keepdims=True)
        # Weights of the equal elements; what is infinite must not meet a weight of zero.
        return np.sum(np.where(hit, a, v.dtype.type(0)) * share.astype(v.dtype), axis=axis, keepdims=keepdims)

    return reduce


def variance(a: Any, axis: Any = None, keepdims: bool = False, correction: Any = 0) -> Any:
    """The sum of the squared distances from the mean, by the number of elements less `correction`."""
    v = value_of(a)
    count = v.size if axis is None else int(np.prod([v.shape[k] for k in np.atleast_1d(axis)]))
    centred = a - np.mean(a, axis=axis, keepdims=True)
    degrees = count - correction
    total = np.sum(np.abs(centred) ** 2 if v.dtype.kind == "c" else centred * centred, axis=axis, keepdims=keepdims)
    return total / degrees if degrees > 0 else total * np.nan


def _moments(a: Any, axes: Any, shift: Any, keepdims: bool) -> Any:
    mean = np.mean(a, axis=axes, keepdims=True)
    spread = np.mean(np.square(a - mean), axis=axes, keepdims=keepdims)
    return (mean if keepdims else np.mean(a, axis=axes)), spread


def _normalized(a: Any, mean: Any, variance: Any, offset: Any, scale: Any, epsilon: float) -> Any:
    factor = kernels.rsqrt(variance + epsilon)
    factor = factor if scale is None else factor * scale
    return a * factor + (-mean * factor if offset is None else offset - mean * factor)


def _biased(a: Any, bias: Any, second: bool) -> Any:
    shape = value_of(a).shape
    channels = shape[1 if second else -1]
    if value_of(bias).shape != (channels,):
        raise ValueError(f"Must provide {channels} biases for the channels of {list(shape)}")
    return a + (np.reshape(bias, (channels, *(1,) * (len(shape) - 2))) if second else bias)


def running(f: Any) -> Any:
    """A running sum or product, also of a number; `exclusive` leaves each element out of its own, `reverse` starts at
    the other end."""

    def run(a: Any, axis: int, dtype: Any = None, exclusive: bool = False, reverse: bool = False) -> Any:
        a = a if dtype is None else to(a, dtype)
        v = value_of(a)
        if not v.ndim:  # NumPy gives one axis to what has none
            return np.reshape(run(np.reshape(a, (1,)), 0, None, exclusive), ())
        if reverse:
            a = np.flip(a, axis)
        out = f(value_of(a), axis=axis, dtype=v.dtype) if v.dtype.kind in "iu" else f(a, axis=axis)
        if exclusive:
            lead = (slice(None),) * (axis % v.ndim)
            start = np.full(v[(*lead, slice(0, 1))].shape, f is np.cumprod, v.dtype)
            out = np.concatenate([start, out[(*lead, slice(0, -1))]], axis=axis)
        return np.flip(out, axis) if reverse else out

    return run


def _spread(a: Any, axis: Any, unbiased: bool, keepdims: bool, correction: Any) -> Any:
    """The variance with PyTorch's arguments: ``var(x, False)`` is ``var(x, unbiased=False)``."""
    if isinstance(axis, bool):
        axis, unbiased = None, axis
    return variance(a, axis, keepdims, int(unbiased) if correction is None else correction)


def _deviation(*given: Any) -> Any:
    squares = _spread(*given)
    zero = np.asarray(value_of(squares) == 0)
    # Equal elements have the deviation 0, and no slope there.
    return np.where(zero, 0 * squares, np.sqrt(np.where(zero, np.ones_like(value_of(squares)), squares)))


def p_norm(a: Any, p: Any, axes: Any, keepdims: bool, dtype: Any = None) -> Any:
    """``sum(abs(a) ** p) ** (1 / p)``, whose gradient is zero where it is zero."""
    p = 2 if p in ("fro", None) else p
    if not isinstance(p, (int, float)):
        raise RuntimeError(f"norm: the order {p!r} is not there. Instead: torch.linalg.norm")
    a = a if dtype is None else to(a, dtype.numpy)
    v = value_of(a)
    if p in (np.inf, -np.inf):
        return evenly(np.max if p > 0 else np.min)(np.abs(a), axis=axes, keepdims=keepdims)
    if p == 1:
        return np.sum(np.abs(a), axis=axes, keepdims=keepdims)
    size = np.sum(np.abs(v) ** p, axis=axes, keepdims=keepdims)
    if a is v:
        return (np.sqrt(size) if p == 2 else size ** (1 / p)).astype(np.abs(v).dtype)
    if p == 2:
        total = np.sum(np.abs(a) ** 2 if v.dtype.kind == "c" else a * a, axis=axes, keepdims=keepdims)
    else:
        safe = np.where(v == 0, np.zeros_like(v), a)
        total = np.sum(np.abs(safe) ** p, axis=axes, keepdims=keepdims)
    zero = size == 0
    inside = np.where(zero, np.ones_like(size), total)
    return np.where(zero, 0 * total, np.sqrt(inside) if p == 2 else inside ** (1 / p))


def _matrix_norm(a: Any, p: Any, axes: Any, keepdims: bool) -> Any:
    count = len(axes) if isinstance(axes, tuple) else value_of(a).ndim if axes is None else 1
    if p not in (None, "fro") and count == 2:
        raise NotImplementedError(f"torch.linalg.norm: the matrix norm {p!r} is not there. Instead: svdvals, abs, sum")
    return p_norm(a, p, axes, keepdims)


row("reduction", np.sum, "Sum", "The sum of all elements, or along axes.", "reduce_sum math.reduce_sum", "sum")
row("reduction", np.mean, "Mean", "The mean of all elements, or along axes.", "reduce_mean math.reduce_mean", "mean")
row("reduction", np.prod, "Prod", "The product of all elements, or along axes.", "reduce_prod math.reduce_prod", "prod")
row("reduction", np.max, "Max", "The largest of all elements, or along axes.", "reduce_max math.reduce_max")
row("reduction", np.min, "Min", "The smallest of all elements, or along axes.", "reduce_min math.reduce_min")
row("truth", np.any, "Any", "Whether one of all elements, or along axes, is true.", "reduce_any math.reduce_any", "any")
row("truth", np.all, "All", "Whether all elements, or all along axes, are true.", "reduce_all math.reduce_all", "all")
row("arrays", evenly(np.max), "Amax", "The largest along axes; ties share the gradient.", "",
    "amax (input, dim=(), keepdim=False)")  # fmt: skip
row("arrays", evenly(np.min), "Amin", "The smallest along axes; ties share the gradient.", "",
    "amin (input, dim=(), keepdim=False)")  # fmt: skip
row("arrays", kernels.logsumexp, "Logsumexp", "``log(sum(exp(x)))`` along axes, without overflow.",
    "reduce_logsumexp math.reduce_logsumexp (input_tensor, axis=None, keepdims=False, name=None)",
    "logsumexp special.logsumexp (input, dim, keepdim=False)", integers="refuse")  # fmt: skip
row("arrays", variance, "Var", "The mean of the squared distances from the mean.",
    "math.reduce_variance (input_tensor, axis=None, keepdims=False, name=None)", integers="refuse")  # fmt: skip
row("arrays", _spread, "Var", "The variance of all elements, or along axes, over n - 1 (``unbiased=False``: over n).",
    "", "var (input, dim=None, unbiased=True, keepdim=False, *, correction=None)")  # fmt: skip
row("arrays", _deviation, "Std", "The square root of `var`.", "",
    "std (input, dim=None, unbiased=True, keepdim=False, *, correction=None)")  # fmt: skip
row("arrays", p_norm, "LinalgVectorNorm", "The p-norm of all elements, or along axes; the Euclidean one by default.",
    "", "norm (input, p='fro', dim=None, keepdim=False, dtype=None)", numpy_names=False)  # fmt: skip
row("arrays", p_norm, "LinalgVectorNorm", "The p-norm of all elements, or of vectors along axes.", "",
    "linalg.vector_norm (x, ord=2, dim=None, keepdim=False)")  # fmt: skip
row("arrays", _matrix_norm, "LinalgVectorNorm", "The p-norm of all elements or of vectors along an axis; of a matrix "
    "the Frobenius norm.", "", "linalg.norm (A, ord=None, dim=None, keepdim=False)")  # fmt: skip
row("arrays", _moments, "moments", "The mean and the variance along axes.",
    "nn.moments (x, axes, shift=None, keepdims=False, name=None)", integers="refuse")  # fmt: skip
row("arrays", lambda a: np.sum(np.square(a)) / 2, "L2Loss", "Half the sum of squares.", "nn.l2_loss (t, name=None)")
row("arrays", _normalized, "FusedBatchNorm", "``(x - mean) / sqrt(variance + epsilon) * scale + offset``; the last two "
    "may be None.", "nn.batch_normalization (x, mean, variance, offset, scale, variance_epsilon, name=None)",
    operands=5)  # fmt: skip
row("arrays", _biased, "BiasAdd", "``value + bias``, along the last axis or, with \"NCHW\", the second.",
    "nn.bias_add (value, bias, data_format=None, name=None)", operands=2)  # fmt: skip
row("index", np.argmax, "ArgMax", "The place of the first largest element.", "argmax math.argmax", "argmax")
row("index", np.argmin, "ArgMin", "The place of the first smallest element.", "argmin math.argmin", "argmin")
row("running", running(np.cumsum), "Cumsum", "The sums of the elements up to each, along an axis.",
    "cumsum math.cumsum", "cumsum")  # fmt: skip
row("running", running(np.cumprod), "Cumprod", "The products of the elements up to each, along an axis.",
    "math.cumprod", "cumprod")  # fmt: skip
