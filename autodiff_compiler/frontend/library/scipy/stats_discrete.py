"""The standard forms of distributions of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from ....kernels.scipy import stats as kernels
from ....runtime import constant
from .stats_forms import distribution
from .stats_methods import both, where


def _is_probability(p: Any) -> Any:
    return np.logical_and(p >= 0, p <= 1)


distribution(
    stats.poisson,
    shapes=("mu",),
    valid=lambda mu: mu >= 0,
    low=0,
    logpmf=lambda k, mu: special.xlogy(k, mu) - special.gammaln(k + 1) - mu,
    cdf=lambda k, mu: special.pdtr(k, mu),
    sf=lambda k, mu: special.pdtrc(k, mu),
    mean=lambda mu: mu,
    var=lambda mu: mu,
)


def _binom_logpmf(k: Any, n: Any, p: Any) -> Any:
    n = constant(n)
    ways = special.gammaln(n + 1) - (special.gammaln(k + 1) + special.gammaln(n - k + 1))
    return ways + special.xlogy(k, p) + special.xlog1py(n - k, -p)


distribution(
    stats.binom,
    shapes=("n", "p"),
    valid=lambda n, p: both(np.logical_and(n >= 0, np.floor(n) == n), _is_probability(p)),
    low=0,
    high=lambda n, p: constant(n),
    inside=0.0,
    logpmf=_binom_logpmf,
    pmf=lambda k, n, p: kernels.binom_pmf(k, n, p),
    cdf=lambda k, n, p: kernels.binom_cdf(k, n, p),
    sf=lambda k, n, p: kernels.binom_sf(k, n, p),
    mean=lambda n, p: n * p,
    var=lambda n, p: n * p - n * np.square(p),
)

distribution(
    stats.bernoulli,
    shapes=("p",),
    valid=_is_probability,
    low=0,
    high=1,
    inside=0.0,
    logpmf=lambda k, p: special.xlogy(k, p) + special.xlog1py(1.0 - k, -p),
    pmf=lambda k, p: where(k == 1, p, where(k == 0, 1.0 - p, k)),
    cdf=lambda k, p: where(k == k, 1.0 - p, k),
    sf=lambda k, p: where(k == k, p, k),
    entropy=lambda p: special.entr(p) + special.entr(1.0 - p),
    mean=lambda p: p,
    var=lambda p: p - np.square(p),
)


def _nbinom_logcdf(k: Any, n: Any, p: Any) -> Any:
    cdf = special.betainc(n, k + 1, p)
    most = cdf > 0.5
    return where(most, np.log1p(-where(most, special.betainc(k + 1, n, 1 - p), 0.0)), np.log(where(most, 1.0, cdf)))


distribution(
    stats.nbinom,
    shapes=("n", "p"),
    valid=lambda n, p: both(n > 0, np.logical_and(p > 0, p <= 1)),
    low=0,
    logpmf=lambda k, n, p: (
        special.gammaln(n + k) - special.gammaln(k + 1) - special.gammaln(n) + n * np.log(p) + special.xlog1py(k, -p)
    ),
    pmf=lambda k, n, p: kernels.nbinom_pmf(k, n, p),
    cdf=lambda k, n, p: special.betainc(n, k + 1, p),
    logcdf=_nbinom_logcdf,
    sf=lambda k, n, p: special.betaincc(n, k + 1, p),
    mean=lambda n, p: n * (1 - p) / p,
    var=lambda n, p: n * (1 - p) / np.square(p),
)

distribution(
    stats.geom,
    shapes=("p",),
    valid=lambda p: np.logical_and(p > 0, p <= 1),
    low=1,
    logpmf=lambda k, p: special.xlog1py(k - 1, -p) + np.log(p),
    pmf=lambda k, p: np.power(1 - p, k - 1) * p,
    cdf=lambda k, p: -np.expm1(np.log1p(-p) * k),
    logsf=lambda k, p: k * np.log1p(-p),
    entropy=lambda p: -np.log(p) - np.log1p(-p) * (1.0 - p) / p,
    mean=lambda p: 1.0 / p,
    var=lambda p: (1.0 - p) / p / p,
)
