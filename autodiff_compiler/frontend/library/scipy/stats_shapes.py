"""The standard forms of distributions that have shapes: gamma, beta, t and others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special, stats

from ....kernels.scipy import stats as kernels
from ....kernels.scipy import stats_quantiles as quantiles
from .stats_forms import distribution
from .stats_methods import where

INF = float("inf")
NAN = float("nan")
LOG_2 = math.log(2.0)
LOG_PI = math.log(math.pi)
TWO_PI = 2 * math.pi
LOG_2PI = math.log(2 * math.pi)
LOG_SQRT_2PI = math.log(math.sqrt(2 * math.pi))
EULER = 0.5772156649015329

# --- the gamma distribution and its relatives -------------------------------------------------------------------------

distribution(
    stats.gamma,
    shapes=("a",),
    low=0.0,
    natural=("ppf", "isf"),
    logpdf=lambda z, a: special.xlogy(a - 1.0, z) - z - special.gammaln(a),
    cdf=lambda z, a: special.gammainc(a, z),
    sf=lambda z, a: special.gammaincc(a, z),
    ppf=lambda q, a: special.gammaincinv(a, q),
    isf=lambda q, a: special.gammainccinv(a, q),
    entropy=lambda a: kernels.gamma_entropy(a),
    mean=lambda a: a,
    var=lambda a: a,
)

distribution(
    stats.chi2,
    shapes=("df",),
    low=0.0,
    natural=("ppf", "isf"),
    logpdf=lambda z, df: special.xlogy(df / 2.0 - 1, z) - z / 2.0 - special.gammaln(df / 2.0) - LOG_2 * df / 2.0,
    cdf=lambda z, df: special.gammainc(df / 2.0, z / 2.0),
    sf=lambda z, df: special.gammaincc(df / 2.0, z / 2.0),
    ppf=lambda q, df: 2 * special.gammaincinv(df / 2.0, q),
    isf=lambda q, df: 2 * special.gammainccinv(df / 2.0, q),
    entropy=lambda df: kernels.gamma_entropy(df / 2.0) + LOG_2,
    mean=lambda df: df,
    var=lambda df: 2 * df,
)

distribution(
    stats.invgamma,
    shapes=("a",),
    low=0.0,
    closed=False,
    logpdf=lambda z, a: -(a + 1) * np.log(z) - special.gammaln(a) - 1.0 / z,
    cdf=lambda z, a: special.gammaincc(a, 1.0 / z),
    sf=lambda z, a: special.gammainc(a, 1.0 / z),
    ppf=lambda q, a: 1.0 / special.gammainccinv(a, q),
    isf=lambda q, a: 1.0 / special.gammaincinv(a, q),
    entropy=lambda a: kernels.invgamma_entropy(a),
    mean=lambda a: where(a > 1, 1.0 / where(a > 1, a - 1.0, 1.0), INF),
    var=lambda a: where(a > 2, 1.0 / np.square(a - 1.0) / where(a > 2, a - 2.0, 1.0), INF),
)

distribution(
    stats.weibull_min,
    shapes=("c",),
    low=0.0,
    logpdf=lambda z, c: np.log(c) + special.xlogy(c - 1, z) - np.power(z, c),
    pdf=lambda z, c: c * np.power(z, c - 1) * np.exp(-np.power(z, c)),
    cdf=lambda z, c: -np.expm1(-np.power(z, c)),
    sf=lambda z, c: np.exp(-np.power(z, c)),
    logsf=lambda z, c: -np.power(z, c),
    ppf=lambda q, c: np.power(-np.log1p(-q), 1.0 / c),
    isf=lambda q, c: np.power(-np.log(q), 1.0 / c),
    entropy=lambda c: -EULER / c - np.log(c) + (EULER + 1),
    mean=lambda c: special.gamma(1.0 + 1.0 / c),
    var=lambda c: special.gamma(1.0 + 2.0 / c) - np.square(special.gamma(1.0 + 1.0 / c)),
)

# --- the beta distribution and its relatives --------------------------------------------------------------------------

distribution(
    stats.beta,
    shapes=("a", "b"),
    low=0.0,
    high=1.0,
    inside=0.5,
    natural=("ppf", "isf"),
    logpdf=lambda z, a, b: special.xlog1py(b - 1.0, -z) + special.xlogy(a - 1.0, z) - special.betaln(a, b),
    pdf=lambda z, a, b: kernels.beta_pdf(z, a, b),
    cdf=lambda z, a, b: special.betainc(a, b, z),
    sf=lambda z, a, b: special.betaincc(a, b, z),
    ppf=lambda q, a, b: special.betaincinv(a, b, q),
    isf=lambda q, a, b: special.betainccinv(a, b, q),
    entropy=lambda a, b: kernels.beta_entropy(a, b),
    mean=lambda a, b: a / (a + b),
    var=lambda a, b: a * b / (np.square(a + b) * (a + b + 1)),
)


def _f_logpdf(z: Any, dfn: Any, dfd: Any) -> Any:
    n, m = 1.0 * dfn, 1.0 * dfd
    rest = (n + m) / 2 * np.log(m + n * z) + special.betaln(n / 2, m / 2)
    return m / 2 * np.log(m) + n / 2 * np.log(n) + special.xlogy(n / 2 - 1, z) - rest


def _f_ppf(q: Any, dfn: Any, dfd: Any) -> Any:
    # Both w and 1 - w, so that neither is rounded to one.
    w = special.betaincinv(dfn / 2, dfd / 2, q)
    rest = special.betainccinv(dfd / 2, dfn / 2, q)
    return dfd * w / (dfn * rest)


def _f_var(dfn: Any, dfd: Any) -> Any:
    m = where(dfd > 4, 1.0 * dfd, 5.0)
    return where(dfd > 4, 2 * m * m * (dfn + (m - 2)) / (dfn * np.square(m - 2) * (m - 4)), INF)


distribution(
    stats.f,
    shapes=("dfn", "dfd"),
    low=0.0,
    logpdf=_f_logpdf,
    cdf=lambda z, dfn, dfd: special.betainc(dfn / 2, dfd / 2, 1.0 / (1.0 + dfd / (dfn * z))),
    sf=lambda z, dfn, dfd: special.betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * z)),
    ppf=_f_ppf,
    entropy=lambda dfn, dfd: (
        np.log(dfd)
        - np.log(dfn)
        + special.betaln(0.5 * dfn, 0.5 * dfd)
        + (1 - 0.5 * dfn) * special.psi(0.5 * dfn)
        - (1 + 0.5 * dfd) * special.psi(0.5 * dfd)
        + 0.5 * (dfn + dfd) * special.psi(0.5 * (dfn + dfd))
    ),
    mean=lambda dfn, dfd: where(dfd > 2, dfd / where(dfd > 2, dfd - 2.0, 1.0), INF) + 0.0 * dfn,
    var=_f_var,
)


def _t_logpdf(z: Any, df: Any) -> Any:
    if np.ndim(df) == 0:
        if df == INF:
            return -z * z / 2.0 - LOG_SQRT_2PI
        return _t_finite(z, df)
    normal = df == INF
    return np.where(normal, -z * z / 2.0 - LOG_SQRT_2PI, _t_finite(z, np.where(normal, 1.0, df)))


def _t_finite(z: Any, df: Any) -> Any:
    rest = (df + 1) / 2 * np.log1p(z * z / df)
    return np.log(special.poch(0.5 * df, 0.5)) - 0.5 * (np.log(df) + LOG_PI) - rest


def _t_var(df: Any) -> Any:
    finite = np.logical_and(df > 2, df < INF)
    n = where(finite, 1.0 * df, 3.0)
    return where(finite, n / (n - 2.0), where(df == INF, 1.0, where(df > 1, INF, NAN)))


def _t_ppf(q: Any, df: Any) -> Any:
    # stdtrit says inf at 0, and in some versions nan at 1.
    return where(q == 0, -INF, where(q == 1, INF, special.stdtrit(df, q)))


distribution(
    stats.t,
    shapes=("df",),
    natural=("ppf", "isf"),
    logpdf=_t_logpdf,
    cdf=lambda z, df: special.stdtr(df, z),
    sf=lambda z, df: special.stdtr(df, -z),
    ppf=_t_ppf,
    isf=lambda q, df: -_t_ppf(q, df),
    entropy=lambda df: kernels.t_entropy(df),
    mean=lambda df: where(df > 1, 0.0, INF),
    var=_t_var,
)

# --- others -----------------------------------------------------------------------------------------------------------


def _pareto_var(b: Any) -> Any:
    n = where(b > 2, 1.0 * b, 3.0)
    return where(b > 2, n / (n - 2.0) / np.square(n - 1.0), INF)


distribution(
    stats.pareto,
    shapes=("b",),
    low=1.0,
    inside=2.0,
    pdf=lambda z, b: b * np.power(z, -b - 1.0),
    cdf=lambda z, b: 1 - np.power(z, -b * 1.0),
    sf=lambda z, b: np.power(z, -b * 1.0),
    ppf=lambda q, b: np.power(1 - q, -1.0 / b),
    isf=lambda q, b: np.power(q, -1.0 / b),
    entropy=lambda b: 1 + 1.0 / b - np.log(b),
    mean=lambda b: where(b > 1, b / where(b > 1, b - 1.0, 1.0), INF),
    var=_pareto_var,
)


def _log_i0e(kappa: Any) -> Any:
    """For `kappa` that is not negative. i0e has a kink at zero, of which this is the right side."""
    none = kappa == 0
    return where(
        none, np.log(special.i0(where(none, kappa, 0.0))) - kappa, np.log(special.i0e(where(none, 1.0, kappa)))
    )


distribution(
    stats.vonmises,
    shapes=("kappa",),
    valid=lambda kappa: kappa >= 0,
    logpdf=lambda z, kappa: kappa * special.cosm1(z) - LOG_2PI - _log_i0e(kappa),
    pdf=lambda z, kappa: np.exp(kappa * special.cosm1(z) - _log_i0e(kappa)) / TWO_PI,
    cdf=lambda z, kappa: quantiles.vonmises_cdf(z, kappa),
    ppf=lambda q, kappa: quantiles.vonmises_ppf(q, kappa),
    entropy=lambda kappa: -kappa * special.i1e(kappa) / special.i0e(kappa) + LOG_2PI + _log_i0e(kappa) + kappa,
)
