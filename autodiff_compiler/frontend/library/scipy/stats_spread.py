"""Statistics of samples: means of other kinds, directions, robust spread, and tests of several samples."""

from __future__ import annotations

import collections
import math
from typing import Any

import numpy as np
from scipy import special, stats

from ....runtime import constant
from ...definitions import defines, known, refuse
from .stats_samples import EPS_32, EPS_64, NAN, _plain, _samples, zscore

TWO_PI = 2 * math.pi
# The name stands for 3/4 of a normal distribution, as in SciPy.
NORMAL = 0.6744897501960817
FOneway = collections.namedtuple("FOneway", "statistic pvalue")
PowerDivergence = collections.namedtuple("PowerDivergence", "statistic pvalue")


@defines(stats.pmean)
def pmean(
    a: Any, p: Any, *, axis: Any = 0, dtype: Any = None, weights: Any = None, nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:  # fmt: skip
    _plain("pmean", nan_policy)
    if dtype is not None:
        refuse("scipy.stats.pmean with dtype=", "convert the samples before")
    if p == 0:
        return stats.gmean(a, axis=axis, weights=weights, keepdims=keepdims)
    if np.isinf(p):
        raise NotImplementedError("Power mean only implemented for finite `p`")
    a, axis = _samples(a, axis)
    powers = np.where(a < 0, NAN, a) ** float(p)
    if weights is None:
        return np.mean(powers, axis=axis, keepdims=keepdims) ** (1 / p)
    return np.average(powers, axis=axis, weights=np.asarray(weights), keepdims=keepdims) ** (1 / p)


@defines(stats.gstd)
def gstd(a: Any, axis: Any = 0, ddof: Any = 1, *, keepdims: Any = False, nan_policy: Any = "propagate") -> Any:
    _plain("gstd", nan_policy)
    a, axis = _samples(a, axis)
    return np.exp(np.std(np.log(a), axis=axis, ddof=ddof, keepdims=keepdims))


@defines(stats.gzscore)
def gzscore(a: Any, *, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    return zscore(np.log(np.asarray(a)), axis, ddof, nan_policy)


@defines(stats.kstat)
def kstat(data: Any, n: Any = 2, *, axis: Any = None, nan_policy: Any = "propagate", keepdims: Any = False) -> Any:
    _plain("kstat", nan_policy)
    if not known(n) or n not in (1, 2, 3, 4):
        raise ValueError("k-statistics only supported for 1<=n<=4")
    if keepdims:
        refuse("scipy.stats.kstat with keepdims=True", "use np.expand_dims")
    data, axis = _samples(data, axis)
    m = data.shape[axis] * 1.0
    s = [np.sum(data**k, axis=axis) for k in range(1, n + 1)]
    if n == 1:
        return s[0] / m
    if n == 2:
        return (m * s[1] - s[0] ** 2) / (m * (m - 1))
    if n == 3:
        return (2 * s[0] ** 3 - 3 * m * s[0] * s[1] + m * m * s[2]) / (m * (m - 1) * (m - 2))
    top = -6 * s[0] ** 4 + 12 * m * s[0] ** 2 * s[1] - 3 * m * (m - 1) * s[1] ** 2
    top = top - 4 * m * (m + 1) * s[0] * s[2] + m * m * (m + 1) * s[3]
    return top / (m * (m - 1) * (m - 2) * (m - 3))


@defines(stats.median_abs_deviation)
def median_abs_deviation(
    x: Any, axis: Any = 0, center: Any = np.median, scale: Any = 1.0, nan_policy: Any = "propagate", *,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    _plain("median_abs_deviation", nan_policy)
    if center is not np.median:
        refuse("scipy.stats.median_abs_deviation with center", "take the median of np.abs(x - center)")
    if isinstance(scale, str):
        if scale.lower() != "normal":
            raise ValueError(f"{scale} is not a valid scale value.")
        scale = NORMAL
    x, axis = _samples(x, axis)
    apart = np.abs(x - np.median(x, axis=axis, keepdims=True))
    return np.median(apart, axis=axis, keepdims=keepdims) / scale


# --- directions -------------------------------------------------------------------------------------------------------


def _resultant(name: Any, samples: Any, period: Any, axis: Any, nan_policy: Any, keepdims: Any) -> Any:
    """The means of the sines and cosines."""
    _plain(name, nan_policy)
    samples, axis = _samples(samples, axis)
    scaled = samples * (TWO_PI / period)
    return np.mean(np.sin(scaled), axis=axis, keepdims=keepdims), np.mean(np.cos(scaled), axis=axis, keepdims=keepdims)


@defines(stats.circmean)
def circmean(
    samples: Any, high: Any = TWO_PI, low: Any = 0, axis: Any = None, nan_policy: Any = "propagate", *,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    period = high - low
    s, c = _resultant("circmean", samples, period, axis, nan_policy, keepdims)
    return (np.arctan2(s, c) * (period / TWO_PI) - low) % period + low


@defines(stats.circvar)
def circvar(
    samples: Any, high: Any = TWO_PI, low: Any = 0, axis: Any = None, nan_policy: Any = "propagate", *,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    s, c = _resultant("circvar", samples, high - low, axis, nan_policy, keepdims)
    return 1.0 - np.minimum(np.hypot(s, c), 1.0)


@defines(stats.circstd)
def circstd(
    samples: Any, high: Any = TWO_PI, low: Any = 0, axis: Any = None, nan_policy: Any = "propagate", *,
    normalize: Any = False, keepdims: Any = False,
) -> Any:  # fmt: skip
    s, c = _resultant("circstd", samples, high - low, axis, nan_policy, keepdims)
    out = np.sqrt(-2 * np.log(np.minimum(np.hypot(s, c), 1.0)))
    return out if normalize else out * ((high - low) / TWO_PI)


# --- several samples --------------------------------------------------------------------------------------------------


@defines(stats.energy_distance)
def energy_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any:
    if u_weights is not None or v_weights is not None:
        refuse("scipy.stats.energy_distance with weights", "leave them out")
    u, v = np.asarray(u_values) * 1.0, np.asarray(v_values) * 1.0
    every = np.sort(np.concatenate((u, v)))
    between = every[:-1]
    below_u = np.searchsorted(np.sort(constant(u)), constant(between), side="right") / u.size
    below_v = np.searchsorted(np.sort(constant(v)), constant(between), side="right") / v.size
    return np.sqrt(2 * np.sum(np.square(below_u - below_v) * np.diff(every)))


@defines(stats.f_oneway)
def f_oneway(
    *samples: Any, axis: Any = 0, equal_var: Any = True, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any:
    _plain("f_oneway", nan_policy)
    if not equal_var or keepdims:
        refuse("scipy.stats.f_oneway with these arguments", "leave them out")
    groups = [np.asarray(a) * 1.0 for a in samples]
    every = np.concatenate(groups, axis=axis)
    n, k = every.shape[axis], len(groups)
    middle = np.mean(every, axis=axis, keepdims=True)
    between, within = 0.0, 0.0
    for a in groups:
        mean = np.mean(a, axis=axis, keepdims=True)
        between = between + a.shape[axis] * np.sum(np.square(mean - middle), axis=axis)
        within = within + np.sum(np.square(a - mean), axis=axis)
    statistic = between / (k - 1) / (within / (n - k))
    return FOneway(statistic, special.fdtrc(k - 1, n - k, statistic))


@defines(stats.chisquare)
def chisquare(f_obs: Any, f_exp: Any = None, ddof: Any = 0, axis: Any = 0, *, sum_check: Any = True) -> Any:
    observed, axis = _samples(f_obs, axis)
    if f_exp is None:
        expected = np.mean(observed, axis=axis, keepdims=True)
    else:
        expected = np.asarray(f_exp) * 1.0
        apart = np.abs(np.sum(observed, axis=axis) - np.sum(expected, axis=axis))
        rounding = math.sqrt(EPS_32 if observed.dtype == np.float32 else EPS_64)
        if sum_check and np.any(apart > rounding * np.abs(np.sum(expected, axis=axis))):
            raise ValueError("For each axis slice, the sum of the observed frequencies must agree with the expected.")
    statistic = np.sum(np.square(observed - expected) / expected, axis=axis)
    return PowerDivergence(statistic, special.chdtrc(observed.shape[axis] - 1 - ddof, statistic))
