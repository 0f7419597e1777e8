"""Functions of distributions in standard form. SciPy computes them by other formulas in other ranges, or in C."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats


def _each(function: Any, *args: Any) -> Any:
    """A function of numbers, of each element."""
    dtype = np.asarray(sum([1.0 * np.asarray(a)[()] for a in args])).dtype
    return np.vectorize(function, otypes="d")(*args).astype(dtype)[()]


def beta_pdf(x: Any, a: Any, b: Any) -> Any:
    """The density of the beta distribution."""
    return stats.beta._pdf(x, a, b)


def beta_entropy(a: Any, b: Any) -> Any:
    """The entropy of the beta distribution."""
    return _each(stats.beta._entropy, a, b)


def gamma_entropy(a: Any) -> Any:
    """The entropy of the gamma distribution."""
    return _each(stats.gamma._entropy, a)


def invgamma_entropy(a: Any) -> Any:
    """The entropy of the inverse gamma distribution."""
    return _each(stats.invgamma._entropy, a)


def t_entropy(df: Any) -> Any:
    """The entropy of the t distribution."""
    return _each(stats.t._entropy, df)


def log_gauss_mass(a: Any, b: Any) -> Any:
    """The logarithm of the probability that a standard normal variable is between a and b."""
    with np.errstate(all="ignore"):
        right = np.greater(a, 0)
        low, high = np.where(right, np.negative(b), a), np.where(right, np.negative(a), b)
        log_low, log_high = special.log_ndtr(low), special.log_ndtr(high)
        tail = log_high + np.log1p(-np.exp(log_low - log_high))
        return np.where(high <= 0, tail, np.log1p(-special.ndtr(low) - special.ndtr(-high)))[()]


def binom_pmf(k: Any, n: Any, p: Any) -> Any:
    """The probabilities of the binomial distribution."""
    outside = np.logical_or(np.less(k, 0), np.greater(k, n))
    return np.where(outside, 0.0, stats.binom._pmf(np.where(outside, 0, k), np.where(outside, 1, n), p))[()]


def binom_cdf(k: Any, n: Any, p: Any) -> Any:
    """The binomial distribution function at an integer."""
    return np.where(np.isnan(k), np.nan, stats.binom._cdf(k, n, p))[()]


def binom_sf(k: Any, n: Any, p: Any) -> Any:
    """The probability of more than `k` successes."""
    return np.where(np.isnan(k), np.nan, stats.binom._sf(k, n, p))[()]


def nbinom_pmf(k: Any, n: Any, p: Any) -> Any:
    """The probabilities of the negative binomial distribution."""
    return np.where(np.less(k, 0), 0.0, stats.nbinom._pmf(np.maximum(k, 0), n, p))[()]
