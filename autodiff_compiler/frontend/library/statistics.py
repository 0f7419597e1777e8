"""Means, quantiles, sums that skip nan, covariances, and derivatives and integrals of samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..definitions import defines, known, may_be_zero, refuse
from .arrays import axes_of

# --- weighted means ---------------------------------------------------------------------------------------------------


@defines(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False) -> Any:
    a = np.asarray(a)
    rank = np.ndim(a)
    axes: Any = None if axis is None else axes_of(axis, rank)
    if weights is None:
        mean = np.mean(a, axis=axis, keepdims=keepdims)
        if is_empty(mean):
            raise ZeroDivisionError("division by zero")
        return (mean, np.full_like(mean, a.size / np.size(mean))) if returned else mean
    w = np.asarray(weights)
    if np.ndim(w) != rank:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if np.ndim(w) != len(axes):
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        for k in list(range(len(axes))):
            if w.shape[k] != a.shape[axes[k]]:
                raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        places = sorted(axes)
        w = np.transpose(w, tuple([axes.index(k) for k in places]))
        w = w[tuple([slice(None) if k in places else None for k in range(rank)])]
    else:
        for k in list(range(rank)):
            if w.shape[k] != a.shape[k]:
                if axis is None:
                    raise TypeError("Axis must be specified when shapes of a and weights differ.")
                raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    total = np.sum(w, axis=axis, keepdims=keepdims)
    if np.any(total == 0.0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    mean = np.sum(a * w, axis=axis, keepdims=keepdims) / total
    return (mean, np.broadcast_to(total, np.shape(mean)).copy()) if returned else mean


# --- order statistics -------------------------------------------------------------------------------------------------


def _last(a: Any, axis: Any) -> Any:
    """The array with the axes to be reduced as its last one."""
    a = np.asarray(a)
    if axis is None:
        return a.reshape(-1)
    if isinstance(axis, tuple):
        rank = np.ndim(a)
        gone = list(axes_of(axis, rank))
        kept = [k for k in range(rank) if k not in gone]
        a = np.transpose(a, tuple(kept + gone))
        return a.reshape(a.shape[: len(kept)] + (_product(a.shape[len(kept) :]),))
    return np.moveaxis(a, axis, -1)


def _product(lengths: Any) -> Any:
    out: Any = 1
    for n in lengths:
        if known(n) and n == 0:
            return 0
        out = out * n
    return out


def _floats(s: Any) -> Any:
    """The numbers of which means are taken: sums of small integers would wrap around, those of booleans saturate."""
    return s if np.issubdtype(s.dtype, np.inexact) else s * 1.0


def _kept(out: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """The result of a reduction with the axes of length 1 that `keepdims` asks for; axes before `a`'s stay."""
    if not keepdims:
        return out
    rank = np.ndim(a)
    axes = tuple(range(rank)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = [k % rank for k in axes]
    items = tuple([None if k in gone else slice(None) for k in range(rank)])
    return np.asarray(out)[(Ellipsis,) + items]


@defines(np.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False) -> Any:
    if axis == () and is_empty(a):
        refuse("np.median of an empty array over no axis", "return the array itself")  # some versions raise
    s = _floats(np.sort(_last(a, axis), axis=-1))
    n = s.shape[-1]
    if may_be_zero(n) and n == 0:
        return _kept(np.mean(s, axis=-1), a, axis, keepdims)
    middle = (s[..., (n - 1) // 2] + s[..., n // 2]) / 2
    # nan is sorted to the end, and is the median if there is one.
    return _kept(np.where(np.isnan(s[..., -1]), s[..., -1], middle)[()], a, axis, keepdims)


# Up to NumPy 2.2, np.quantile takes np.float64 for a number of Python's, which it is by its class. (To call it here
# would import numpy.ma.)
_TAKES_FLOAT64 = tuple(map(int, np.__version__.split(".")[:2])) < (2, 3)


def _as_narrow(q: Any, a: Any, float64_too: Any) -> Any:
    """A number of Python's as probability: NumPy computes with it in the dtype of narrow floating samples."""
    dtype = np.asarray(a).dtype
    if (float64_too or not isinstance(q, np.generic)) and isinstance(q, (int, float)):
        if dtype == np.float32:
            return np.float32(q)
        if dtype == np.float16:
            return np.float16(q)
    return q


@defines(np.quantile)
def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = False,
) -> Any:  # fmt: skip
    q = _as_narrow(q, a, _TAKES_FLOAT64)
    return _quantile(a, q, axis, method, keepdims)


def _quantile(a: Any, q: Any, axis: Any, method: Any, keepdims: Any) -> Any:
    if method != "linear":
        refuse("a quantile with a method other than 'linear'", "use method='linear'")
    if np.ndim(q) > 1:
        refuse("a quantile of several axes of probabilities", "pass them as a vector and reshape the result")
    s = np.sort(_last(a, axis), axis=-1)
    return _kept(_at_fraction(s, q, s.shape[-1] - 1), a, axis, keepdims)


def _at_fraction(s: Any, q: Any, last: Any) -> Any:
    """Sorted samples, interpolated at the fraction q of the way to the one numbered `last`; the axis of q first."""
    if np.ndim(q):
        q = np.asarray(q)
    if not (np.all(q >= 0) and np.all(q <= 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    place = q * last
    lower = np.floor(place)
    t = place - lower
    below = lower.astype(int) if np.ndim(q) else int(lower)
    above = np.minimum(below + 1, last) if np.ndim(q) else min(below + 1, last)
    low, high = np.take(s, below, axis=-1), np.take(s, above, axis=-1)
    worst = s[..., -1]
    if np.ndim(q):
        low, high = np.moveaxis(low, -1, 0), np.moveaxis(high, -1, 0)
        t = t.reshape((-1,) + (1,) * (np.ndim(s) - 1))
    return np.where(np.isnan(worst), worst, low + (high - low) * t)[()]


@defines(np.percentile)
def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = False,
) -> Any:  # fmt: skip
    q = np.asarray(q) if isinstance(q, list) else _as_narrow(q, a, False)
    return _quantile(a, q / 100, axis, method, keepdims)


@defines(np.nanquantile)
def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = False,
) -> Any:  # fmt: skip
    return np.quantile(_not_nan(a, axis, keepdims), q, method=method)


@defines(np.nanpercentile)
def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = False,
) -> Any:  # fmt: skip
    return np.percentile(_not_nan(a, axis, keepdims), q, method=method)


def _not_nan(a: Any, axis: Any, keepdims: Any) -> Any:
    """The numbers of all of the array; without any, the one nan that is their quantile."""
    if axis is not None and np.ndim(a) > 1 or keepdims:
        refuse("a quantile without nan along an axis", "call it for each row in a loop")
    flat = np.asarray(a).ravel()
    numbers = flat[~np.isnan(flat)]
    return flat[:1] if len(numbers) == 0 else numbers


def is_empty(a: Any) -> Any:
    """The array surely has no elements."""
    lengths = [n for n in np.shape(a) if known(n)]
    return 0 in lengths


# --- without nan ------------------------------------------------------------------------------------------------------


def _no_dtype(dtype: Any) -> None:
    if dtype is not None:
        refuse("a sum without nan with dtype=", "convert the result")


def _counted(a: Any, axis: Any, keepdims: Any) -> Any:
    return np.sum(~np.isnan(a), axis=axis, keepdims=keepdims)


def _by_count(total: Any, count: Any) -> Any:
    """The quotient by a number of items, in the dtype of the sum."""
    narrow = np.issubdtype(total.dtype, np.inexact) and total.dtype not in (np.float64, np.complex128)
    return (total / count).astype(total.dtype) if narrow else total / count


@defines(np.nanprod)
def nanprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    _no_dtype(dtype)
    return np.prod(np.where(np.isnan(a), 1.0, a), axis=axis, keepdims=keepdims)


@defines(np.nanmean)
def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    _no_dtype(dtype)
    return _by_count(np.nansum(a, axis=axis, keepdims=keepdims), _counted(a, axis, keepdims))


@defines(np.nanvar)
def nanvar(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    _no_dtype(dtype)
    centred = np.where(np.isnan(a), 0.0, a - nanmean(a, axis, keepdims=True))
    total = np.sum(np.abs(centred) ** 2, axis=axis, keepdims=keepdims)
    freedom = _counted(a, axis, keepdims) - ddof
    return np.where(freedom <= 0, np.nan, _by_count(total, freedom))[()]


@defines(np.nanstd)
def nanstd(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    variance = nanvar(a, axis, dtype, None, ddof, keepdims)
    positive = variance > 0
    return np.where(positive, np.sqrt(np.where(positive, variance, 1.0)), variance)[()]


def _all_nan(a: Any, axis: Any, keepdims: Any, found: Any) -> Any:
    return np.where(np.all(np.isnan(a), axis=axis, keepdims=keepdims), np.nan, found)[()]


@defines(np.nanmax)
def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return _all_nan(a, axis, keepdims, np.max(np.where(np.isnan(a), -np.inf, a), axis=axis, keepdims=keepdims))


@defines(np.nanmin)
def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return _all_nan(a, axis, keepdims, np.min(np.where(np.isnan(a), np.inf, a), axis=axis, keepdims=keepdims))


@defines(np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    _no_dtype(dtype)
    return np.cumsum(np.where(np.isnan(a), 0.0, a), axis=axis)


@defines(np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    _no_dtype(dtype)
    return np.cumprod(np.where(np.isnan(a), 1.0, a), axis=axis)


@defines(np.nanmedian)
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False) -> Any:
    if is_empty(a):
        return nanmean(a, axis, keepdims=keepdims)
    s = _floats(np.sort(_last(a, axis), axis=-1))
    if may_be_zero(s.shape[-1]) and s.shape[-1] == 0:
        return nanmean(a, axis, keepdims=keepdims)
    n = np.sum(~np.isnan(s), axis=-1, keepdims=True)
    low = np.take_along_axis(s, np.maximum(n - 1, 0) // 2, axis=-1)
    high = np.take_along_axis(s, np.maximum(n, 1) // 2 - (n == 0), axis=-1)
    return _kept(((low + high) / 2)[..., 0][()], a, axis, keepdims)


# --- second moments ---------------------------------------------------------------------------------------------------


@defines(np.cov)
def cov(
    m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    if fweights is not None or aweights is not None:
        refuse("np.cov with weights", "write out the weighted sums")
    if np.ndim(m) > 2:
        raise ValueError("m has more than 2 dimensions")
    x = _samples(m, rowvar)
    variables = x.shape[0]
    if known(variables) and variables == 0:
        return np.zeros((0, 0))
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    if y is not None:
        if np.ndim(y) > 2:
            raise ValueError("y has more than 2 dimensions")
        x = np.concatenate((x, _samples(y, rowvar)), axis=0)
    x = x.astype(np.result_type(x, np.float64) if dtype is None else dtype)
    x = x - np.mean(x, axis=1, keepdims=True)
    count = x.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    return np.squeeze(x @ np.conj(x.T) / max(count, 0))


def _samples(m: Any, rowvar: Any) -> Any:
    x = np.atleast_2d(np.asarray(m))
    return x.T if not rowvar and np.ndim(m) == 2 else x


@defines(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    c = np.cov(x, y, rowvar, dtype=dtype)
    if np.ndim(c) == 0:
        return c / c
    deviations = np.sqrt(np.diagonal(c))
    return np.clip(c / deviations[:, None] / deviations[None, :], -1, 1)


# --- samples of functions ---------------------------------------------------------------------------------------------


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    if not isinstance(axis, int):
        raise TypeError("tuple indices must be integers or slices")
    y = np.moveaxis(np.asarray(y), axis, -1)
    if x is None:
        widths = dx
    elif np.ndim(x) == 1:
        widths = np.diff(x)
    else:
        widths = np.diff(np.moveaxis(np.asarray(x), axis, -1), axis=-1)
    return np.sum(widths * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)


for _name in ("trapezoid", "trapz"):
    if _name in np.__dict__:
        defines(getattr(np, _name))(_trapezoid)


@defines(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    f = np.asarray(f)
    rank = np.ndim(f)
    axes = tuple(range(rank)) if axis is None else axes_of(axis, rank)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    spacing = list(varargs)
    if len(spacing) == 0:
        spacing = [1.0] * len(axes)
    elif len(spacing) == 1 and np.ndim(spacing[0]) == 0:
        spacing = [spacing[0]] * len(axes)
    if len(spacing) != len(axes):
        raise TypeError("invalid number of arguments")
    results = [_slope(f, k, h, edge_order) for k, h in zip(axes, spacing)]
    return results[0] if len(axes) == 1 else tuple(results)


def _slope(f: Any, axis: Any, h: Any, edge_order: Any) -> Any:
    y = np.moveaxis(f, axis, -1) * 1.0  # small integers would wrap around
    if np.ndim(h) > 1:
        raise ValueError("distances must be either scalars or 1d")
    h = np.asarray(h) if np.ndim(h) != 0 else h
    if np.ndim(h) == 0 or np.issubdtype(h.dtype, np.integer):
        h = h * 1.0
    if np.ndim(h) == 1 and h.shape[0] != y.shape[-1]:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if y.shape[-1] < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )
    if np.issubdtype(f.dtype, np.bool_):
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    if np.ndim(h) == 0:
        before = after = h
        inner = (y[..., 2:] - y[..., :-2]) / (2.0 * h)
        h0 = h1 = hm = hn = h
    else:
        steps = np.diff(h) * 1.0
        before, after = steps[:-1], steps[1:]
        inner = (
            -(after / (before * (before + after))) * y[..., :-2]
            + ((after - before) / (before * after)) * y[..., 1:-1]
            + (before / (after * (before + after))) * y[..., 2:]
        )
        h0, hn = steps[0], steps[-1]
    if edge_order == 1:
        first = (y[..., 1:2] - y[..., 0:1]) / h0
        last = (y[..., -1:] - y[..., -2:-1]) / hn
    else:
        if np.ndim(h) != 0:
            h1, hm = steps[1], steps[-2]
        first = (
            -(2.0 * h0 + h1) / (h0 * (h0 + h1)) * y[..., 0:1]
            + (h0 + h1) / (h0 * h1) * y[..., 1:2]
            - h0 / (h1 * (h0 + h1)) * y[..., 2:3]
        )
        last = (
            hn / (hm * (hm + hn)) * y[..., -3:-2]
            - (hn + hm) / (hm * hn) * y[..., -2:-1]
            + (2.0 * hn + hm) / (hn * (hm + hn)) * y[..., -1:]
        )
    return np.moveaxis(np.concatenate((first, inner, last), axis=-1), -1, axis)


# --- running sums -----------------------------------------------------------------------------------------------------


def _cumulative_sum(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Any:
    axis = _running(x, axis)
    return _with_first(np.cumsum(x, axis=axis, dtype=dtype), 0.0, axis, include_initial)


def _cumulative_prod(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Any:
    axis = _running(x, axis)
    return _with_first(np.cumprod(x, axis=axis, dtype=dtype), 1.0, axis, include_initial)


def _running(x: Any, axis: Any) -> Any:
    if isinstance(axis, tuple):
        raise ValueError("accumulate does not allow multiple axes")
    if axis is None and np.ndim(x) > 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    return 0 if axis is None else axes_of(axis, max(np.ndim(x), 1))[0]


def _with_first(out: Any, first: Any, axis: Any, include_initial: Any) -> Any:
    if not include_initial:
        return out
    head = np.full(out.shape[:axis] + (1,) + out.shape[axis + 1 :], first, dtype=out.dtype)
    return np.concatenate((head, out), axis=axis)


for _name, _definition in (("cumulative_sum", _cumulative_sum), ("cumulative_prod", _cumulative_prod)):
    if hasattr(np, _name):
        defines(getattr(np, _name))(_definition)
