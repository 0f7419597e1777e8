"""Correlation, regression and t tests: statistics with probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from ....errors import UnsupportedError
from ....kernels.scipy.installed import keeps_float32, takes
from ....runtime import constant
from ...definitions import defines, place, refuse

NAN = float("nan")
# From SciPy 1.18 on, ranks have the dtype of the samples, and so has a line, which may be vertical.
_SINGLE = np.array([1.0, 2.0, 4.0], np.float32)
RANKS_LIKE_SAMPLES = keeps_float32(stats.rankdata, _SINGLE)
LINES_LIKE_SAMPLES = keeps_float32(lambda: stats.linregress(_SINGLE, _SINGLE).slope)
VERTICAL = takes(stats.linregress, [1.0, 1.0, 1.0], [1.0, 2.0, 4.0])


class Result:
    """A statistic and its probability, which may be unpacked, and more that has a name."""

    def __init__(self, statistic: Any, pvalue: Any):
        self.statistic = statistic
        self.pvalue = pvalue

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Any:
        return iter((self.statistic, self.pvalue))

    def __getitem__(self, k: Any) -> Any:
        return (self.statistic, self.pvalue)[k]


class TResult(Result):
    """The result of a t test."""

    def __init__(self, statistic: Any, pvalue: Any, df: Any):
        self.statistic = statistic
        self.pvalue = pvalue
        self.df = df


class Correlation(Result):
    """The result of `pearsonr` and `spearmanr`."""

    def __init__(self, statistic: Any, pvalue: Any):
        self.statistic = statistic
        self.pvalue = pvalue
        self.correlation = statistic


class Line:
    """The result of `linregress`: the last one is not unpacked."""

    def __init__(self, slope: Any, intercept: Any, rvalue: Any, pvalue: Any, stderr: Any, intercept_stderr: Any):
        self.slope = slope
        self.intercept = intercept
        self.rvalue = rvalue
        self.pvalue = pvalue
        self.stderr = stderr
        self.intercept_stderr = intercept_stderr

    def __len__(self) -> int:
        return 5

    def __iter__(self) -> Any:
        return iter((self.slope, self.intercept, self.rvalue, self.pvalue, self.stderr))

    def __getitem__(self, k: Any) -> Any:
        return (self.slope, self.intercept, self.rvalue, self.pvalue, self.stderr)[k]


class Description(NamedTuple):
    """The result of `describe`."""

    nobs: Any
    minmax: Any
    mean: Any
    variance: Any
    skewness: Any
    kurtosis: Any


def _probability(t: Any, df: Any, alternative: Any) -> Any:
    """How probable a t statistic is that is at least so extreme."""
    if alternative == "less":
        return special.stdtr(df, t)
    if alternative == "greater":
        return special.stdtr(df, -t)
    if alternative != "two-sided":
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    return 2 * special.stdtr(df, -np.abs(t))


def _plain(name: Any, nan_policy: Any) -> Any:
    if nan_policy != "propagate":
        refuse(f"scipy.stats.{name} with nan_policy={nan_policy!r}", "select the elements before")


def _samples(a: Any, axis: Any) -> Any:
    a = np.asarray(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    return a if np.issubdtype(a.dtype, np.inexact) else a * 1.0, axis


def _wide(x: Any) -> Any:
    return x if x.dtype == np.float64 else x.astype(np.float64)


# --- correlation and regression ---------------------------------------------------------------------------------------


def _correlation(x: Any, y: Any) -> Any:
    x, y = x - np.mean(x), y - np.mean(y)
    r = np.dot(x / np.linalg.norm(x), y / np.linalg.norm(y))
    return np.clip(r, -1.0, 1.0)


@defines(stats.pearsonr)
def pearsonr(x: Any, y: Any, *, alternative: Any = "two-sided", method: Any = None, axis: Any = 0) -> Any:
    if method is not None:
        refuse("scipy.stats.pearsonr with method=", "leave it out")
    x, _ = _samples(x, 0)
    y, _ = _samples(y, 0)
    if np.ndim(x) != 1 or np.ndim(y) != 1:
        refuse("scipy.stats.pearsonr of arrays of several axes", "call it on vectors")
    n = x.shape[0]
    if n != y.shape[0]:
        raise ValueError("`x` and `y` must have the same length along `axis`.")
    if n < 3:
        raise UnsupportedError("scipy.stats.pearsonr of less than three numbers", place(), "the correlation is 1 or -1")
    r = _correlation(x, y)
    half = n / 2 - 1
    if alternative == "two-sided":
        p = 2 * special.betaincc(half, half, (np.abs(r) + 1) / 2)
    elif alternative == "less":
        p = special.betainc(half, half, (r + 1) / 2)
    else:
        p = special.betaincc(half, half, (r + 1) / 2)
    return Correlation(r, p)


@defines(stats.rankdata)
def rankdata(a: Any, method: Any = "average", *, axis: Any = None, nan_policy: Any = "propagate") -> Any:
    _plain("rankdata", nan_policy)
    if method not in ("average", "min", "max") or (axis is not None and np.ndim(a) != 1):
        refuse("scipy.stats.rankdata with these arguments", "use np.argsort")
    a = constant(np.asarray(a)).reshape(-1)
    places = np.sort(a)
    low, high = np.searchsorted(places, a, side="left"), np.searchsorted(places, a, side="right")
    ranks: Any = (low + high + 1) / 2 if method == "average" else low + 1 if method == "min" else high * 1
    if RANKS_LIKE_SAMPLES:
        ranks = ranks.astype(a.dtype if np.issubdtype(a.dtype, np.inexact) else np.float64)
    if np.issubdtype(a.dtype, np.inexact):
        if np.any(np.isnan(a)):
            if np.issubdtype(ranks.dtype, np.integer):
                raise NotImplementedError("the ranks of samples with nan, which SciPy gives another dtype")
            ranks = ranks * NAN
    return ranks


@defines(stats.spearmanr)
def spearmanr(
    a: Any, b: Any = None, axis: Any = 0, nan_policy: Any = "propagate", alternative: Any = "two-sided"
) -> Any:
    _plain("spearmanr", nan_policy)
    if b is None or np.ndim(a) != 1 or np.ndim(b) != 1:
        refuse("scipy.stats.spearmanr of arrays of several axes", "call it on vectors")
    r = np.corrcoef(rankdata(a), rankdata(b))[1, 0]
    df = np.shape(a)[0] - 2
    return Correlation(r, _probability(r * np.sqrt(df / ((r + 1.0) * (1.0 - r))), df, alternative))


@defines(stats.linregress)
def linregress(x: Any, y: Any, alternative: Any = "two-sided") -> Any:
    x, _ = _samples(x, 0)
    y, _ = _samples(y, 0)
    if np.ndim(x) != 1 or np.ndim(y) != 1:
        refuse("scipy.stats.linregress of arrays of several axes", "call it on vectors")
    n = x.shape[0]
    if n < 3:
        raise UnsupportedError(
            "scipy.stats.linregress of less than three points", place(), "compute the line through the points"
        )
    if not VERTICAL:
        if np.max(x) == np.min(x):
            raise ValueError("Cannot calculate a linear regression if all x values are identical")
    if LINES_LIKE_SAMPLES:
        common = np.result_type(x.dtype, y.dtype)
        x, y = x.astype(common), y.astype(common)
    x_mean, y_mean = np.mean(x), np.mean(y)
    if not LINES_LIKE_SAMPLES:
        x, y = _wide(x), _wide(y)
    dx, dy = x - np.mean(x), y - np.mean(y)
    xx, xy, yy = np.mean(np.square(dx)), np.mean(dx * dy), np.mean(np.square(dy))
    slope = xy / xx
    df = n - 2
    if xx != 0.0 and yy != 0.0:
        r = np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0)
    else:
        r = xy * (NAN if xy == 0.0 else 0.0)
    t = r * np.sqrt(df / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20)))
    error = np.sqrt((1 - np.square(r)) * yy / xx / df)
    return Line(
        slope,
        y_mean - slope * x_mean,
        r,
        _probability(t, df, alternative),
        error,
        error * np.sqrt(xx + np.square(x_mean)),
    )


# --- t tests ----------------------------------------------------------------------------------------------------------


@defines(stats.ttest_ind)
def ttest_ind(
    a: Any, b: Any, *, axis: Any = 0, equal_var: Any = True, nan_policy: Any = "propagate",
    alternative: Any = "two-sided", trim: Any = 0, method: Any = None, keepdims: Any = False,
) -> Any:  # fmt: skip
    _plain("ttest_ind", nan_policy)
    if trim != 0 or method is not None or keepdims:
        refuse("scipy.stats.ttest_ind with these arguments", "leave out trim=, method= and keepdims=")
    first = axis
    a, axis = _samples(a, first)
    b, axis = _samples(b, first)
    n, m = a.shape[axis], b.shape[axis]
    v, w = np.var(a, axis=axis, ddof=1), np.var(b, axis=axis, ddof=1)
    if equal_var:
        df = n + m - 2.0
        error = np.sqrt(((n - 1) * v + (m - 1) * w) / df * (1.0 / n + 1.0 / m))
    else:
        v, w = v / n, w / m
        df = np.square(v + w) / (np.square(v) / (n - 1) + np.square(w) / (m - 1))
        error = np.sqrt(v + w)
    t = (np.mean(a, axis=axis) - np.mean(b, axis=axis)) / error
    return TResult(t, _probability(t, df, alternative), df)


@defines(stats.ttest_1samp)
def ttest_1samp(
    a: Any, popmean: Any, axis: Any = 0, nan_policy: Any = "propagate", alternative: Any = "two-sided", *,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    _plain("ttest_1samp", nan_policy)
    if keepdims:
        refuse("scipy.stats.ttest_1samp with keepdims=True", "use np.expand_dims")
    a, axis = _samples(a, axis)
    n = a.shape[axis]
    t = (np.mean(a, axis=axis) - popmean) / np.sqrt(np.var(a, axis=axis, ddof=1) / n)
    return TResult(t, _probability(t, n - 1, alternative), n - 1)


@defines(stats.ttest_rel)
def ttest_rel(
    a: Any, b: Any, axis: Any = 0, nan_policy: Any = "propagate", alternative: Any = "two-sided", *,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    return ttest_1samp(np.asarray(a) - np.asarray(b), 0.0, axis, nan_policy, alternative, keepdims=keepdims)


# --- all at once ------------------------------------------------------------------------------------------------------


@defines(stats.describe)
def describe(a: Any, axis: Any = 0, ddof: Any = 1, bias: Any = True, nan_policy: Any = "propagate") -> Any:
    _plain("describe", nan_policy)
    a, axis = _samples(a, axis)
    return Description(
        a.shape[axis],
        (np.min(a, axis=axis), np.max(a, axis=axis)),
        np.mean(a, axis=axis),
        np.var(a, axis=axis, ddof=ddof),
        stats.skew(a, axis, bias=bias),
        stats.kurtosis(a, axis, bias=bias),
    )
