"""Distributions of vectors and matrices: Student's t, Wishart's and its inverse, and the multinomial distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special, stats

from ....kernels.scipy.installed import found
from ....runtime import constant
from ...definitions import defines, refuse
from .stats_multivariate import _floats, _normal, _number

INF = float("inf")
LOG_2 = math.log(2.0)
LOG_PI = math.log(math.pi)


# --- Student's t ------------------------------------------------------------------------------------------------------


def _t_logpdf(x: Any, loc: Any, factor: Any, df: Any) -> Any:
    x = _floats(x)
    dim = loc.shape[0]
    if np.ndim(x) == 0 or x.shape[-1] != dim:
        raise NotImplementedError("points of multivariate_t whose last axis is not that of the location")
    dev = x - loc
    white = np.linalg.solve(factor, dev.reshape(-1, dim).T)
    distances = np.sum(np.square(white), axis=0)
    half = 0.5 * (df + dim)
    scale = special.gammaln(half) - special.gammaln(0.5 * df) - 0.5 * dim * (np.log(df) + LOG_PI)
    scale = scale - np.sum(np.log(np.diagonal(factor)))
    return _number((scale - half * np.log1p(distances / df)).reshape(dev.shape[:-1]))


@defines(type(stats.multivariate_t).logpdf)
def t_logpdf(self: Any, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
    loc, factor = _normal(loc, shape, False)
    return _t_logpdf(x, loc, factor, df)


@defines(type(stats.multivariate_t).pdf)
def t_pdf(self: Any, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1, allow_singular: Any = False) -> Any:
    loc, factor = _normal(loc, shape, allow_singular)
    return np.exp(_t_logpdf(x, loc, factor, df))


class FrozenT:
    """A multivariate t distribution with its parameters."""

    def __init__(self, loc: Any, factor: Any, df: Any) -> None:
        self.loc = loc
        self.factor = factor
        self.df = df

    def logpdf(self, x: Any) -> Any:
        return _t_logpdf(x, self.loc, self.factor, self.df)

    def pdf(self, x: Any) -> Any:
        return np.exp(_t_logpdf(x, self.loc, self.factor, self.df))


@defines(type(stats.multivariate_t).__call__)
def freeze_t(
    self: Any, loc: Any = None, shape: Any = 1, df: Any = 1, allow_singular: Any = False, seed: Any = None
) -> Any:
    loc, factor = _normal(loc, shape, allow_singular)
    return FrozenT(loc, factor, df)


# --- Wishart's --------------------------------------------------------------------------------------------------------


def _factors(name: Any, x: Any, df: Any, scale: Any) -> Any:
    """The Cholesky factors of the point and of the scale."""
    x, scale = _floats(x), _floats(scale)
    if np.ndim(x) != 2 or np.ndim(scale) != 2:
        refuse(f"scipy.stats.{name} of other than one matrix", "call it for one matrix after the other")
    if scale.shape[0] != scale.shape[1] or x.shape != scale.shape:
        raise ValueError("Array 'scale' must be square, and the quantiles must have its shape.")
    return x, np.linalg.cholesky(x), np.linalg.cholesky(scale)


def _half_log_det(factor: Any) -> Any:
    return np.sum(np.log(np.diagonal(factor)))


def _log_gamma(a: Any, dim: Any) -> Any:
    """What `special.multigammaln` is, for a number of dimensions that only the run knows."""
    return 0.25 * dim * (dim - 1) * LOG_PI + np.sum(special.gammaln(a - 0.5 * np.arange(dim)))


def _wishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    x, of_x, of_scale = _factors("wishart", x, df, scale)
    dim = x.shape[0]
    if df <= dim - 1:
        raise ValueError("Degrees of freedom must be greater than the dimension of scale matrix minus 1.")
    ratio = np.trace(np.linalg.solve(of_scale.T, np.linalg.solve(of_scale, x)))
    total = (df - dim - 1) * _half_log_det(of_x) - 0.5 * ratio
    return total - 0.5 * df * dim * LOG_2 - df * _half_log_det(of_scale) - _log_gamma(0.5 * df, dim)


@defines(type(stats.wishart).logpdf)
def wishart_logpdf(self: Any, x: Any, df: Any, scale: Any) -> Any:
    return _wishart_logpdf(x, df, scale)


@defines(type(stats.wishart).pdf)
def wishart_pdf(self: Any, x: Any, df: Any, scale: Any) -> Any:
    return np.exp(_wishart_logpdf(x, df, scale))


def _invwishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    x, of_x, of_scale = _factors("invwishart", x, df, scale)
    dim = x.shape[0]
    if df <= dim - 1:
        raise ValueError("Degrees of freedom must be greater than the dimension of scale matrix minus 1.")
    ratio = np.sum(np.square(np.linalg.solve(of_x, of_scale)))
    total = df * _half_log_det(of_scale) - 0.5 * ratio - 0.5 * df * dim * LOG_2
    return total - (df + dim + 1) * _half_log_det(of_x) - _log_gamma(0.5 * df, dim)


@defines(type(stats.invwishart).logpdf)
def invwishart_logpdf(self: Any, x: Any, df: Any, scale: Any) -> Any:
    return _invwishart_logpdf(x, df, scale)


@defines(type(stats.invwishart).pdf)
def invwishart_pdf(self: Any, x: Any, df: Any, scale: Any) -> Any:
    return np.exp(_invwishart_logpdf(x, df, scale))


# --- counts -----------------------------------------------------------------------------------------------------------


# Before SciPy 1.18, the last of the probabilities is what is left of one. Since then, all count, and a sum that is not
# one gives nan.
TAKES_WHAT_IS_LEFT = bool(np.isfinite(found(stats.multinomial.logpmf, [1, 1], 2, [0.5, 0.6])))


def _multinomial_logpmf(x: Any, n: Any, p: Any) -> Any:
    x, n, p = _floats(constant(np.asarray(x))), constant(n), np.asarray(p)
    if np.ndim(p) != 1 or np.ndim(n) != 0:
        refuse("scipy.stats.multinomial of several sets of parameters", "call it in a loop")
    error = 10 * np.finfo(np.float32 if p.dtype in (np.float16, np.float32) else np.float64).eps
    p = _floats(p)
    if TAKES_WHAT_IS_LEFT:
        p = np.concatenate((p[:-1], np.reshape(1.0 - np.sum(p[:-1]), (1,))))
    elif np.abs(1.0 - np.sum(p)) > error:
        return np.full(x.shape[:-1], np.nan)[()]
    if np.any(p < 0) or np.any(p > 1) or n < 0:
        raise ValueError("The probabilities must not be negative, and their sum must be one.")
    there = np.logical_and(np.all(x >= 0, axis=-1), np.sum(x, axis=-1) == n)
    terms = special.xlogy(x, p) - special.gammaln(x + 1)
    return np.where(there, special.gammaln(n + 1.0) + np.sum(terms, axis=-1), -INF)


@defines(type(stats.multinomial).logpmf)
def multinomial_logpmf(self: Any, x: Any, n: Any, p: Any) -> Any:
    return _multinomial_logpmf(x, n, p)


@defines(type(stats.multinomial).pmf)
def multinomial_pmf(self: Any, x: Any, n: Any, p: Any) -> Any:
    return np.exp(_multinomial_logpmf(x, n, p))
