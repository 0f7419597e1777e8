"""Statistics of samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special, stats

from ....kernels.scipy.installed import found, keeps_float32
from ....runtime import constant
from ...definitions import defines, known, refuse

INF = float("inf")
NAN = float("nan")
# From SciPy 1.17 on, the range has the dtype of the samples, and samples with nan have no trimmed mean.
IQR_LIKE_SAMPLES = keeps_float32(stats.iqr, np.array([1.0, 2.0, 4.0], np.float32))
NAN_IS_NOT_TRIMMED = bool(np.isnan(found(stats.trim_mean, [1.0, 2.0, NAN], 0.4)))
EPS_32, EPS_64 = float(np.finfo(np.float32).eps), float(np.finfo(np.float64).eps)


def _plain(name: Any, nan_policy: Any) -> Any:
    if nan_policy != "propagate":
        refuse(f"scipy.stats.{name} with nan_policy={nan_policy!r}", "select the elements before")


def _samples(a: Any, axis: Any) -> Any:
    """The samples as floats, and the axis."""
    a = np.asarray(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    return a if np.issubdtype(a.dtype, np.inexact) else a * 1.0, axis


def _central(a: Any, axis: Any) -> Any:
    return a - np.mean(a, axis=axis, keepdims=True)


# --- means and moments ------------------------------------------------------------------------------------------------


@defines(stats.zscore)
def zscore(a: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    _plain("zscore", nan_policy)
    a = np.asarray(a)
    mean, std = np.mean(a, axis=axis, keepdims=True), np.std(a, axis=axis, ddof=ddof, keepdims=True)
    # Of samples that are all the same, the score is nan.
    flat = np.max(a, axis=axis, keepdims=True) == np.min(a, axis=axis, keepdims=True)
    return (a - mean) / np.where(flat, NAN, std)


@defines(stats.gmean)
def gmean(
    a: Any, axis: Any = 0, dtype: Any = None, weights: Any = None, *, nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:  # fmt: skip
    _plain("gmean", nan_policy)
    if dtype is not None:
        refuse("scipy.stats.gmean with dtype=", "convert the samples before")
    a, axis = _samples(a, axis)
    if weights is None:
        return np.exp(np.mean(np.log(a), axis=axis, keepdims=keepdims))
    return np.exp(np.average(np.log(a), axis=axis, weights=np.asarray(weights), keepdims=keepdims))


@defines(stats.hmean)
def hmean(
    a: Any, axis: Any = 0, dtype: Any = None, *, weights: Any = None, nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:  # fmt: skip
    _plain("hmean", nan_policy)
    if dtype is not None:
        refuse("scipy.stats.hmean with dtype=", "convert the samples before")
    a, axis = _samples(a, axis)
    a = np.where(a < 0, NAN, a)
    if weights is None:
        return 1.0 / np.mean(1.0 / a, axis=axis, keepdims=keepdims)
    return 1.0 / np.average(1.0 / a, axis=axis, weights=np.asarray(weights), keepdims=keepdims)


@defines(stats.moment)
def moment(
    a: Any, order: Any = 1, axis: Any = 0, nan_policy: Any = "propagate", *, center: Any = None, keepdims: Any = False
) -> Any:
    _plain("moment", nan_policy)
    if not known(order) or not isinstance(order, int):
        refuse("scipy.stats.moment of an order that is not a known number", "write it as a constant")
    a, axis = _samples(a, axis)
    if order == 1 and center is None:
        return np.mean(np.where(np.isnan(a), a, 0.0 * np.sign(a)), axis=axis, keepdims=keepdims)
    dev = _central(a, axis) if center is None else a - center
    return np.mean(dev**order, axis=axis, keepdims=keepdims)


def _degenerate(m2: Any, mean: Any) -> Any:
    """The samples differ by rounding only, as SciPy sees it."""
    return m2 <= np.square((EPS_32 if m2.dtype == np.float32 else EPS_64) * mean)


@defines(stats.skew)
def skew(a: Any, axis: Any = 0, bias: Any = True, nan_policy: Any = "propagate", *, keepdims: Any = False) -> Any:
    _plain("skew", nan_policy)
    a, axis = _samples(a, axis)
    n = a.shape[axis]
    mean = np.mean(a, axis=axis, keepdims=keepdims)
    dev = _central(a, axis)
    m2 = np.mean(np.square(dev), axis=axis, keepdims=keepdims)
    m3 = np.mean(dev**3, axis=axis, keepdims=keepdims)
    flat = _degenerate(m2, mean)
    out = m3 / np.where(flat, NAN, m2)[()] ** 1.5
    if not bias and n > 2:
        out = ((n - 1.0) * n) ** 0.5 / (n - 2.0) * out
    return out


@defines(stats.kurtosis)
def kurtosis(
    a: Any, axis: Any = 0, fisher: Any = True, bias: Any = True, nan_policy: Any = "propagate", *,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    _plain("kurtosis", nan_policy)
    a, axis = _samples(a, axis)
    n = a.shape[axis]
    mean = np.mean(a, axis=axis, keepdims=keepdims)
    dev = _central(a, axis)
    m2 = np.mean(np.square(dev), axis=axis, keepdims=keepdims)
    m4 = np.mean(dev**4, axis=axis, keepdims=keepdims)
    out = m4 / np.square(np.where(_degenerate(m2, mean), NAN, m2)[()])
    if not bias and n > 3:
        out = 1.0 / (n - 2) / (n - 3) * ((n * n - 1.0) * out - 3 * (n - 1) * (n - 1)) + 3.0
    return out - 3 if fisher else out


@defines(stats.sem)
def sem(a: Any, axis: Any = 0, ddof: Any = 1, nan_policy: Any = "propagate", *, keepdims: Any = False) -> Any:
    _plain("sem", nan_policy)
    a, axis = _samples(a, axis)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / a.shape[axis] ** 0.5


@defines(stats.variation)
def variation(a: Any, axis: Any = 0, nan_policy: Any = "propagate", ddof: Any = 0, *, keepdims: Any = False) -> Any:
    _plain("variation", nan_policy)
    a, axis = _samples(a, axis)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis=axis, keepdims=keepdims)


@defines(stats.iqr)
def iqr(
    x: Any, axis: Any = None, rng: Any = (25, 75), scale: Any = 1.0, nan_policy: Any = "propagate",
    interpolation: Any = "linear", keepdims: Any = False,
) -> Any:  # fmt: skip
    _plain("iqr", nan_policy)
    if isinstance(scale, str) or interpolation != "linear":
        refuse("scipy.stats.iqr with these arguments", "divide the result, and use interpolation='linear'")
    x = np.asarray(x)
    low, high = min(rng[0], rng[1]), max(rng[0], rng[1])
    out = np.percentile(x, high, axis=axis, keepdims=keepdims) - np.percentile(x, low, axis=axis, keepdims=keepdims)
    if not IQR_LIKE_SAMPLES:
        out = out.astype(np.float64) if out.dtype != np.float64 else out
    elif np.issubdtype(x.dtype, np.inexact) and x.dtype != out.dtype:
        out = out.astype(x.dtype)
    return out if known(scale) and scale == 1.0 else out / scale


@defines(stats.trim_mean)
def trim_mean(
    a: Any, proportiontocut: Any, axis: Any = 0, *, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any:
    _plain("trim_mean", nan_policy)
    if keepdims:
        refuse("scipy.stats.trim_mean with keepdims=True", "use np.expand_dims")
    a, axis = _samples(a, axis)
    n = a.shape[axis]
    cut = int(proportiontocut * n)
    if cut >= n - cut:
        raise ValueError("Proportion too big.")
    out = np.mean(np.moveaxis(np.sort(a, axis=axis), axis, 0)[cut : n - cut], axis=0)
    return np.where(np.any(np.isnan(a), axis=axis), NAN, out)[()] if NAN_IS_NOT_TRIMMED else out


@defines(stats.entropy)
def entropy(
    pk: Any, qk: Any = None, base: Any = None, axis: Any = 0, *, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any:
    _plain("entropy", nan_policy)
    if base is not None and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    p, axis = _samples(pk, axis)
    p = p / np.sum(p, axis=axis, keepdims=True)
    if qk is None:
        terms = special.entr(p)
    else:
        q, axis = _samples(qk, axis)
        terms = special.rel_entr(p, q / np.sum(q, axis=axis, keepdims=True))
    out = np.sum(terms, axis=axis, keepdims=keepdims)
    return out if base is None else out / math.log(base)


@defines(stats.boxcox)
def boxcox(x: Any, lmbda: Any = None, alpha: Any = None, optimizer: Any = None) -> Any:
    if lmbda is None:
        refuse("scipy.stats.boxcox without lmbda, which searches for the best one", "pass lmbda=")
    return special.boxcox(np.asarray(x), lmbda)


@defines(stats.wasserstein_distance)
def wasserstein_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any:
    if u_weights is not None or v_weights is not None:
        refuse("scipy.stats.wasserstein_distance with weights", "leave them out")
    u, v = np.asarray(u_values) * 1.0, np.asarray(v_values) * 1.0
    every = np.sort(np.concatenate((u, v)))
    between = every[:-1]
    below_u = np.searchsorted(np.sort(constant(u)), constant(between), side="right") / u.size
    below_v = np.searchsorted(np.sort(constant(v)), constant(between), side="right") / v.size
    return np.sum(np.abs(below_u - below_v) * np.diff(every))
