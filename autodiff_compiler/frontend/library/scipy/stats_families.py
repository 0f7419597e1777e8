"""The standard forms of further distributions: of extremes, of lifetimes, and of transformed normal variables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special, stats

from .stats_forms import distribution
from .stats_methods import where

INF = float("inf")
NAN = float("nan")
EULER = 0.5772156649015329
LOG_2 = math.log(2.0)
SQRT_2 = math.sqrt(2.0)
SQRT_2PI = math.sqrt(2 * math.pi)
LOG_2PI = math.log(2 * math.pi)
LOG_SQRT_2PI = math.log(SQRT_2PI)
LOG_SQRT_2_OVER_PI = 0.5 * math.log(2 / math.pi)
LOG_TWO_OVER_PI = math.log(2 / math.pi)
TWO_OVER_PI = 2.0 / math.pi
SQRT_2_OVER_PI = math.sqrt(2 / math.pi)
HALF_PI = math.pi / 2
PI_SQUARED = math.pi**2
MAXWELL_MEAN = 2 * math.sqrt(2 / math.pi)
MAXWELL_VARIANCE = 3 - 8 / math.pi
MAXWELL_ENTROPY = EULER + 0.5 * math.log(2 * math.pi) - 0.5


def _log1p_over(z: Any, c: Any) -> Any:
    """``log1p(c * z) / c``, and its limit z where c is zero."""
    t = c * z
    small = np.abs(t) < 1e-4
    series = z * (1 - t / 2 + t * t / 3 - t**3 / 4 + t**4 / 5)
    return where(small, series, np.log1p(where(small, 1.0, t)) / where(small, 1.0, c))


def _but_at(end: Any, limit: Any, formula: Any, z: Any, *shapes: Any) -> Any:
    """A formula that is nan at an infinite end, where its limit is known."""
    there = z == end
    return where(there, limit, formula(where(there, 1.0, z), *shapes))


# --- of extremes ------------------------------------------------------------------------------------------------------

distribution(
    stats.genpareto,
    shapes=("c",),
    valid=lambda c: np.isfinite(c),
    low=0.0,
    high=lambda c: where(c < 0, -1.0 / where(c < 0, c, -1.0), INF),
    inside=lambda c: where(c < 0, -0.5 / where(c < 0, c, -1.0), 1.0),
    logpdf=lambda z, c: -(c + 1.0) * _log1p_over(z, c),
    cdf=lambda z, c: -special.inv_boxcox1p(-z, -c),
    sf=lambda z, c: special.inv_boxcox(-z, -c),
    logsf=lambda z, c: -_log1p_over(z, c),
    ppf=lambda q, c: -special.boxcox1p(-q, -c),
    isf=lambda q, c: -special.boxcox(q, -c),
    entropy=lambda c: 1.0 + c,
    mean=lambda c: where(c < 1, 1 / where(c < 1, 1 - c, 1.0), INF),
    var=lambda c: where(c < 0.5, 1 / np.square(1 - c) / where(c < 0.5, 1 - 2 * c, 1.0), NAN),
)


def _genextreme_logpdf(z: Any, c: Any) -> Any:
    y = _log1p_over(-z, c)
    return y - np.exp(y) - np.log1p(-c * z)


distribution(
    stats.genextreme,
    shapes=("c",),
    valid=lambda c: np.isfinite(c),
    low=lambda c: where(c < 0, 1.0 / where(c < 0, c, -1.0), -INF),
    high=lambda c: where(c > 0, 1.0 / where(c > 0, c, 1.0), INF),
    inside=0.0,
    closed=False,
    logpdf=_genextreme_logpdf,
    logcdf=lambda z, c: -np.exp(_log1p_over(-z, c)),
    cdf=lambda z, c: np.exp(-np.exp(_log1p_over(-z, c))),
    sf=lambda z, c: -np.expm1(-np.exp(_log1p_over(-z, c))),
    ppf=lambda q, c: -special.boxcox(-np.log(q), c),
    isf=lambda q, c: -special.boxcox(-np.log1p(-q), c),
    entropy=lambda c: EULER * (1 - c) + 1,
)

distribution(
    stats.gompertz,
    shapes=("c",),
    low=0.0,
    logpdf=lambda z, c: np.log(c) + z - c * np.expm1(z),
    cdf=lambda z, c: -np.expm1(-c * np.expm1(z)),
    sf=lambda z, c: np.exp(-c * np.expm1(z)),
    ppf=lambda q, c: np.log1p(-1.0 / c * np.log1p(-q)),
    isf=lambda q, c: np.log1p(-np.log(q) / c),
)

distribution(
    stats.invweibull,
    shapes=("c",),
    low=0.0,
    closed=False,
    pdf=lambda z, c: c * np.power(z, -c - 1.0) * np.exp(-np.power(z, -c * 1.0)),
    cdf=lambda z, c: np.exp(-np.power(z, -c * 1.0)),
    sf=lambda z, c: -np.expm1(-np.power(z, -c * 1.0)),
    ppf=lambda q, c: np.power(-np.log(q), -1.0 / c),
    isf=lambda q, c: np.power(-np.log1p(-q), -1.0 / c),
    entropy=lambda c: 1 + EULER + EULER / c - np.log(c),
)

distribution(
    stats.weibull_max,
    shapes=("c",),
    high=0.0,
    inside=-1.0,
    logpdf=lambda z, c: np.log(c) + special.xlogy(c - 1, -z) - np.power(-z, c),
    pdf=lambda z, c: c * np.power(-z, c - 1) * np.exp(-np.power(-z, c)),
    cdf=lambda z, c: np.exp(-np.power(-z, c)),
    logcdf=lambda z, c: -np.power(-z, c),
    sf=lambda z, c: -np.expm1(-np.power(-z, c)),
    ppf=lambda q, c: -np.power(-np.log(q), 1.0 / c),
    entropy=lambda c: -EULER / c - np.log(c) + EULER + 1,
)

# --- of lifetimes and incomes -----------------------------------------------------------------------------------------

distribution(
    stats.exponweib,
    shapes=("a", "c"),
    low=0.0,
    closed=False,
    logpdf=lambda z, a, c: (
        np.log(a)
        + np.log(c)
        + special.xlogy(a - 1.0, -np.expm1(-np.power(z, c)))
        - np.power(z, c)
        + special.xlogy(c - 1.0, z)
    ),
    cdf=lambda z, a, c: np.power(-np.expm1(-np.power(z, c)), a),
    sf=lambda z, a, c: -np.expm1(a * np.log1p(-np.exp(-np.power(z, c)))),
    isf=lambda q, a, c: np.power(-np.log(-np.expm1(1.0 / a * np.log1p(-q))), 1.0 / c),
    ppf=lambda q, a, c: np.power(-np.log1p(-np.power(q, 1.0 / a)), 1.0 / c),
)

distribution(
    stats.burr12,
    shapes=("c", "d"),
    low=0.0,
    logpdf=lambda z, c, d: (
        np.log(c) + np.log(d) + special.xlogy(c - 1, z) + special.xlog1py(-d - 1, np.power(z, c * 1.0))
    ),
    cdf=lambda z, c, d: -np.expm1(-d * np.log1p(np.power(z, c * 1.0))),
    sf=lambda z, c, d: np.exp(-d * np.log1p(np.power(z, c * 1.0))),
    logsf=lambda z, c, d: -d * np.log1p(np.power(z, c * 1.0)),
    ppf=lambda q, c, d: np.power(np.expm1(-1 / d * np.log1p(-q)), 1 / c),
    isf=lambda q, c, d: np.power(np.expm1(-1 / d * np.log(q)), 1 / c),
)


def _fisk_logpdf(z: Any, c: Any) -> Any:
    return np.log(c) + special.xlogy(c - 1, z) - 2 * np.log1p(np.power(z, c * 1.0))


distribution(
    stats.fisk,
    shapes=("c",),
    low=0.0,
    logpdf=lambda z, c: _but_at(INF, -INF, _fisk_logpdf, z, c),
    cdf=lambda z, c: 1 / (1 + np.power(z, -c * 1.0)),
    logcdf=lambda z, c: -np.log1p(np.power(z, -c * 1.0)),
    sf=lambda z, c: np.exp(np.log1p(-1 / (1 + np.power(z, -c * 1.0)))),
    logsf=lambda z, c: np.log1p(-1 / (1 + np.power(z, -c * 1.0))),
    ppf=lambda q, c: np.power(1 / q - 1, -1.0 / c),
    isf=lambda q, c: np.power(1 / q - 1, 1.0 / c),
    entropy=lambda c: 2 - np.log(c),
)

distribution(
    stats.lomax,
    shapes=("c",),
    low=0.0,
    logpdf=lambda z, c: np.log(c) - (c + 1) * np.log1p(z),
    cdf=lambda z, c: -np.expm1(-c * np.log1p(z)),
    sf=lambda z, c: np.exp(-c * np.log1p(z)),
    logsf=lambda z, c: -c * np.log1p(z),
    ppf=lambda q, c: np.expm1(-np.log1p(-q) / c),
    isf=lambda q, c: np.power(q, -1.0 / c) - 1,
    entropy=lambda c: 1 + 1.0 / c - np.log(c),
)

distribution(
    stats.powerlaw,
    shapes=("a",),
    low=0.0,
    high=1.0,
    inside=0.5,
    logpdf=lambda z, a: np.log(a) + special.xlogy(a - 1, z),
    cdf=lambda z, a: np.power(z, a * 1.0),
    logcdf=lambda z, a: a * np.log(z),
    sf=lambda z, a: -special.powm1(z, a),
    ppf=lambda q, a: np.power(q, 1.0 / a),
    entropy=lambda a: 1 - 1.0 / a - np.log(a),
    mean=lambda a: a / (a + 1.0),
    var=lambda a: a / (a + 2.0) / np.square(a + 1.0),
)

distribution(
    stats.loguniform,
    shapes=("a", "b"),
    valid=lambda a, b: np.logical_and(a > 0, b > a),
    low=lambda a, b: a,
    high=lambda a, b: b,
    inside=lambda a, b: a,
    logpdf=lambda z, a, b: -np.log(z) - np.log(np.log(b) - np.log(a)),
    cdf=lambda z, a, b: (np.log(z) - np.log(a)) / (np.log(b) - np.log(a)),
    ppf=lambda q, a, b: np.exp(np.log(a) + q * (np.log(b) - np.log(a))),
    entropy=lambda a, b: 0.5 * (np.log(a) + np.log(b)) + np.log(np.log(b) - np.log(a)),
)

distribution(
    stats.truncexpon,
    shapes=("b",),
    low=0.0,
    high=lambda b: b,
    inside=lambda b: b / 2,
    logpdf=lambda z, b: -z - np.log(-np.expm1(-b)),
    pdf=lambda z, b: np.exp(-z) / -np.expm1(-b),
    cdf=lambda z, b: np.expm1(-z) / np.expm1(-b),
    sf=lambda z, b: (np.exp(-b) - np.exp(-z)) / np.expm1(-b),
    ppf=lambda q, b: -np.log1p(q * np.expm1(-b)),
    isf=lambda q, b: -np.log(np.exp(-b) - q * np.expm1(-b)),
)

# --- of the gamma and the beta function -------------------------------------------------------------------------------

distribution(
    stats.maxwell,
    low=0.0,
    logpdf=lambda z: LOG_SQRT_2_OVER_PI + 2 * np.log(z) - 0.5 * z * z,
    pdf=lambda z: SQRT_2_OVER_PI * z * z * np.exp(-z * z / 2.0),
    cdf=lambda z: special.gammainc(1.5, z * z / 2.0),
    sf=lambda z: special.gammaincc(1.5, z * z / 2.0),
    ppf=lambda q: np.sqrt(2 * special.gammaincinv(1.5, q)),
    isf=lambda q: np.sqrt(2 * special.gammainccinv(1.5, q)),
    entropy=lambda: MAXWELL_ENTROPY,
    mean=lambda: MAXWELL_MEAN,
    var=lambda: MAXWELL_VARIANCE,
)

distribution(
    stats.chi,
    shapes=("df",),
    low=0.0,
    logpdf=lambda z, df: (
        LOG_2 - 0.5 * LOG_2 * df - special.gammaln(0.5 * df) + special.xlogy(df - 1.0, z) - 0.5 * z * z
    ),
    cdf=lambda z, df: special.gammainc(0.5 * df, 0.5 * z * z),
    sf=lambda z, df: special.gammaincc(0.5 * df, 0.5 * z * z),
    ppf=lambda q, df: np.sqrt(2 * special.gammaincinv(0.5 * df, q)),
    isf=lambda q, df: np.sqrt(2 * special.gammainccinv(0.5 * df, q)),
    mean=lambda df: SQRT_2 * special.poch(0.5 * df, 0.5),
    var=lambda df: df - np.square(SQRT_2 * special.poch(0.5 * df, 0.5)),
)

distribution(
    stats.nakagami,
    shapes=("nu",),
    low=0.0,
    logpdf=lambda z, nu: (
        LOG_2 + special.xlogy(nu, nu) - special.gammaln(nu) + special.xlogy(2 * nu - 1, z) - nu * z * z
    ),
    cdf=lambda z, nu: special.gammainc(nu, nu * z * z),
    sf=lambda z, nu: special.gammaincc(nu, nu * z * z),
    ppf=lambda q, nu: np.sqrt(1.0 / nu * special.gammaincinv(nu, q)),
    isf=lambda q, nu: np.sqrt(1.0 / nu * special.gammainccinv(nu, q)),
    mean=lambda nu: special.poch(nu, 0.5) / np.sqrt(nu),
    var=lambda nu: 1.0 - np.square(special.poch(nu, 0.5) / np.sqrt(nu)),
)


def _gengamma(lower: Any, upper: Any, c: Any) -> Any:
    return where(c > 0, lower, upper)


distribution(
    stats.gengamma,
    shapes=("a", "c"),
    valid=lambda a, c: np.logical_and(a > 0, c != 0),
    low=0.0,
    closed=False,
    logpdf=lambda z, a, c: np.log(np.abs(c)) + special.xlogy(c * a - 1, z) - np.power(z, c * 1.0) - special.gammaln(a),
    cdf=lambda z, a, c: _gengamma(
        special.gammainc(a, np.power(z, c * 1.0)), special.gammaincc(a, np.power(z, c * 1.0)), c
    ),
    sf=lambda z, a, c: _gengamma(
        special.gammaincc(a, np.power(z, c * 1.0)), special.gammainc(a, np.power(z, c * 1.0)), c
    ),
    ppf=lambda q, a, c: np.power(_gengamma(special.gammaincinv(a, q), special.gammainccinv(a, q), c), 1.0 / c),
    isf=lambda q, a, c: np.power(_gengamma(special.gammainccinv(a, q), special.gammaincinv(a, q), c), 1.0 / c),
)

distribution(
    stats.loggamma,
    shapes=("c",),
    logpdf=lambda z, c: c * z - np.exp(z) - special.gammaln(c),
    cdf=lambda z, c: special.gammainc(c, np.exp(z)),
    sf=lambda z, c: special.gammaincc(c, np.exp(z)),
    ppf=lambda q, c: np.log(special.gammaincinv(c, q)),
    isf=lambda q, c: np.log(special.gammainccinv(c, q)),
    mean=lambda c: special.psi(c),
    var=lambda c: special.polygamma(1, c),
)


def _betaprime(z: Any, a: Any, b: Any, near: Any, far: Any) -> Any:
    """From the end that is nearer, so that the argument is not rounded to one."""
    large = z > 1
    return where(
        large, far(b, a, 1 / (1 + where(large, z, 1.0))), near(a, b, where(large, 1.0, z) / (1 + where(large, 1.0, z)))
    )


def _betaprime_logpdf(z: Any, a: Any, b: Any) -> Any:
    return special.xlogy(a - 1.0, z) - special.xlog1py(a + b, z) - special.betaln(a, b)


distribution(
    stats.betaprime,
    shapes=("a", "b"),
    low=0.0,
    logpdf=lambda z, a, b: _but_at(INF, -INF, _betaprime_logpdf, z, a, b),
    cdf=lambda z, a, b: _betaprime(z, a, b, special.betainc, special.betaincc),
    sf=lambda z, a, b: _betaprime(z, a, b, special.betaincc, special.betainc),
    ppf=lambda q, a, b: special.betaincinv(a, b, q) / special.betainccinv(b, a, q),
)

# --- of the normal distribution ---------------------------------------------------------------------------------------


def _exponnorm_rest(z: Any, k: Any) -> Any:
    return np.exp((1 / k) * (0.5 * (1 / k) - z) + special.log_ndtr(z - 1 / k))


distribution(
    stats.exponnorm,
    shapes=("K",),
    logpdf=lambda z, k: (1 / k) * (0.5 * (1 / k) - z) + special.log_ndtr(z - 1 / k) - np.log(k),
    cdf=lambda z, k: special.ndtr(z) - _but_at(-INF, 0.0, _exponnorm_rest, z, k),
    sf=lambda z, k: special.ndtr(-z) + _but_at(-INF, 0.0, _exponnorm_rest, z, k),
    mean=lambda k: k,
    var=lambda k: 1.0 + k * k,
)

distribution(
    stats.foldnorm,
    shapes=("c",),
    valid=lambda c: c >= 0,
    low=0.0,
    pdf=lambda z, c: (np.exp(-np.square(z + c) / 2.0) + np.exp(-np.square(z - c) / 2.0)) / SQRT_2PI,
    cdf=lambda z, c: 0.5 * (special.erf((z - c) / SQRT_2) + special.erf((z + c) / SQRT_2)),
    sf=lambda z, c: special.ndtr(c - z) + special.ndtr(-z - c),
)

distribution(
    stats.johnsonsu,
    shapes=("a", "b"),
    valid=lambda a, b: np.logical_and(b > 0, a == a),
    pdf=lambda z, a, b: b * 1.0 / np.sqrt(z * z + 1.0) * (np.exp(-np.square(a + b * np.arcsinh(z)) / 2.0) / SQRT_2PI),
    cdf=lambda z, a, b: special.ndtr(a + b * np.arcsinh(z)),
    sf=lambda z, a, b: special.ndtr(-(a + b * np.arcsinh(z))),
    ppf=lambda q, a, b: np.sinh((special.ndtri(q) - a) / b),
    isf=lambda q, a, b: np.sinh((-special.ndtri(q) - a) / b),
    mean=lambda a, b: -np.exp(0.5 / (b * b)) * np.sinh(a / b),
    var=lambda a, b: 0.5 * np.expm1(1 / (b * b)) * (np.exp(1 / (b * b)) * np.cosh(2 * a / b) + 1),
)

distribution(
    stats.johnsonsb,
    shapes=("a", "b"),
    valid=lambda a, b: np.logical_and(b > 0, a == a),
    low=0.0,
    high=1.0,
    inside=0.5,
    closed=False,
    pdf=lambda z, a, b: b * 1.0 / (z * (1 - z)) * (np.exp(-np.square(a + b * special.logit(z)) / 2.0) / SQRT_2PI),
    cdf=lambda z, a, b: special.ndtr(a + b * special.logit(z)),
    sf=lambda z, a, b: special.ndtr(-(a + b * special.logit(z))),
    ppf=lambda q, a, b: special.expit(1.0 / b * (special.ndtri(q) - a)),
    isf=lambda q, a, b: special.expit(1.0 / b * (-special.ndtri(q) - a)),
)


def _invgauss_tail(z: Any, mu: Any, sign: Any) -> Any:
    root = 1 / np.sqrt(z)
    a = special.log_ndtr(sign * (root * (z / mu - 1)))
    b = 2 / mu + special.log_ndtr(-root * (z / mu + 1))
    return a + np.log1p(sign * np.exp(b - a))


def _invgauss_logpdf(z: Any, mu: Any) -> Any:
    return -0.5 * LOG_2PI - 1.5 * np.log(z) - np.square(z / mu - 1) / (2 * z)


def _invgauss_pdf(z: Any, mu: Any) -> Any:
    return 1.0 / np.sqrt(2 * np.pi * z**3) * np.exp(-1.0 / (2 * z) * np.square(z / mu - 1))


distribution(
    stats.invgauss,
    shapes=("mu",),
    low=0.0,
    closed=False,
    logpdf=lambda z, mu: _but_at(INF, -INF, _invgauss_logpdf, z, mu),
    pdf=lambda z, mu: _but_at(INF, 0.0, _invgauss_pdf, z, mu),
    logcdf=lambda z, mu: _but_at(INF, 0.0, _invgauss_tail, z, mu, 1.0),
    logsf=lambda z, mu: _but_at(INF, -INF, _invgauss_tail, z, mu, -1.0),
    cdf=lambda z, mu: np.exp(_but_at(INF, 0.0, _invgauss_tail, z, mu, 1.0)),
    mean=lambda mu: mu,
    var=lambda mu: mu**3,
)


def _rice_pdf(z: Any, b: Any) -> Any:
    # i0e has a kink at zero, and the density has none.
    product = z * b
    none = product == 0
    smooth = np.exp(-(z * z + b * b) / 2.0) * special.i0(where(none, product, 0.0))
    return z * where(none, smooth, np.exp(-np.square(z - b) / 2.0) * special.i0e(where(none, 1.0, product)))


distribution(
    stats.rice,
    shapes=("b",),
    valid=lambda b: b >= 0,
    low=0.0,
    pdf=_rice_pdf,
    cdf=lambda z, b: special.chndtr(np.square(z), 2, np.square(b)),
    ppf=lambda q, b: np.sqrt(special.chndtrix(q, 2, np.square(b))),
)

distribution(
    stats.levy,
    low=0.0,
    closed=False,
    pdf=lambda z: 1 / np.sqrt(2 * np.pi * z) / z * np.exp(-1 / (2 * z)),
    cdf=lambda z: special.erfc(np.sqrt(0.5 / z)),
    sf=lambda z: special.erf(np.sqrt(0.5 / z)),
    ppf=lambda q: 1.0 / np.square(special.ndtri(q / 2)),
    isf=lambda q: 1 / (2 * np.square(special.erfinv(q))),
    mean=lambda: INF,
    var=lambda: INF,
)

distribution(
    stats.moyal,
    pdf=lambda z: np.exp(-0.5 * (z + np.exp(-z))) / SQRT_2PI,
    cdf=lambda z: special.erfc(np.exp(-0.5 * z) / SQRT_2),
    sf=lambda z: special.erf(np.exp(-0.5 * z) / SQRT_2),
    ppf=lambda q: -np.log(2 * np.square(special.erfcinv(q))),
    mean=lambda: LOG_2 + EULER,
    var=lambda: PI_SQUARED / 2,
)

# --- around zero ------------------------------------------------------------------------------------------------------


distribution(
    stats.gennorm,
    shapes=("beta",),
    logpdf=lambda z, beta: np.log(0.5 * beta) - special.gammaln(1.0 / beta) - np.power(np.abs(z), beta * 1.0),
    entropy=lambda beta: 1.0 / beta - np.log(0.5 * beta) + special.gammaln(1.0 / beta),
    mean=lambda beta: 0.0 * beta,
    var=lambda beta: np.exp(special.gammaln(3.0 / beta) - special.gammaln(1.0 / beta)),
)

distribution(
    stats.genlogistic,
    shapes=("c",),
    logpdf=lambda z, c: np.log(c) + c * special.log_expit(z) + special.log_expit(-z),
    cdf=lambda z, c: np.power(1 + np.exp(-z), -c * 1.0),
    logcdf=lambda z, c: -c * np.log1p(np.exp(-z)),
    sf=lambda z, c: -np.expm1(-c * np.log1p(np.exp(-z))),
    ppf=lambda q, c: -np.log(special.powm1(q, -1.0 / c)),
    mean=lambda c: EULER + special.psi(c),
    var=lambda c: PI_SQUARED / 6.0 + special.polygamma(1, c),
)


def _asymmetric_cdf(z: Any, kappa: Any) -> Any:
    inverse = 1 / kappa
    right = z >= 0
    below = np.exp(where(right, 0.0, z) * inverse) * (kappa / (kappa + inverse))
    return where(right, 1 - np.exp(-where(right, z, 0.0) * kappa) * (inverse / (kappa + inverse)), below)


def _asymmetric_sf(z: Any, kappa: Any) -> Any:
    inverse = 1 / kappa
    right = z >= 0
    below = 1 - np.exp(where(right, 0.0, z) * inverse) * (kappa / (kappa + inverse))
    return where(right, np.exp(-where(right, z, 0.0) * kappa) * (inverse / (kappa + inverse)), below)


def _asymmetric_ppf(q: Any, kappa: Any) -> Any:
    inverse = 1 / kappa
    both = kappa + inverse
    return where(q >= kappa / both, -np.log((1 - q) * both * kappa) * inverse, np.log(q * both / kappa) * kappa)


distribution(
    stats.laplace_asymmetric,
    shapes=("kappa",),
    logpdf=lambda z, kappa: z * where(z >= 0, -kappa, 1 / kappa) - np.log(kappa + 1 / kappa),
    cdf=_asymmetric_cdf,
    sf=_asymmetric_sf,
    ppf=_asymmetric_ppf,
    entropy=lambda kappa: 1 + np.log(kappa + 1 / kappa),
    mean=lambda kappa: 1 / kappa - kappa,
    var=lambda kappa: 1 / (kappa * kappa) + kappa * kappa,
)

distribution(
    stats.hypsecant,
    pdf=lambda z: 1.0 / (np.pi * np.cosh(z)),
    cdf=lambda z: TWO_OVER_PI * np.arctan(np.exp(z)),
    sf=lambda z: TWO_OVER_PI * np.arctan(np.exp(-z)),
    ppf=lambda q: where(q == 1, INF, np.log(np.tan(np.pi * where(q == 1, 0.5, q) / 2.0))),
    isf=lambda q: where(q == 1, -INF, -np.log(np.tan(np.pi * where(q == 1, 0.5, q) / 2.0))),
    entropy=lambda: LOG_2PI,
    mean=lambda: 0.0,
    var=lambda: PI_SQUARED / 4,
)

distribution(
    stats.halflogistic,
    low=0.0,
    logpdf=lambda z: LOG_2 - z - 2.0 * np.log1p(np.exp(-z)),
    cdf=lambda z: np.tanh(z / 2.0),
    sf=lambda z: 2 * special.expit(-z),
    ppf=lambda q: 2 * np.arctanh(q),
    isf=lambda q: -special.logit(0.5 * q),
    entropy=lambda: 2 - LOG_2,
)

distribution(
    stats.semicircular,
    low=-1.0,
    high=1.0,
    inside=0.0,
    logpdf=lambda z: LOG_TWO_OVER_PI + 0.5 * np.log1p(-z * z),
    pdf=lambda z: TWO_OVER_PI * np.sqrt(1 - z * z),
    cdf=lambda z: 0.5 + 1.0 / np.pi * (z * np.sqrt(1 - z * z) + np.arcsin(z)),
    mean=lambda: 0.0,
    var=lambda: 0.25,
)

distribution(
    stats.arcsine,
    low=0.0,
    high=1.0,
    inside=0.5,
    pdf=lambda z: 1.0 / np.pi / np.sqrt(z * (1 - z)),
    cdf=lambda z: TWO_OVER_PI * np.arcsin(np.sqrt(z)),
    ppf=lambda q: np.square(np.sin(HALF_PI * q)),
    mean=lambda: 0.5,
    var=lambda: 1.0 / 8,
)


def _triang(z: Any, c: Any, rising: Any, falling: Any) -> Any:
    first = np.logical_or(z < c, c == 1)
    return where(first, rising(z, where(c > 0, c, 1.0)), falling(z, where(c < 1, 1.0 - c, 1.0)))


distribution(
    stats.triang,
    shapes=("c",),
    valid=lambda c: np.logical_and(c >= 0, c <= 1),
    low=0.0,
    high=1.0,
    inside=0.5,
    pdf=lambda z, c: _triang(z, c, lambda z, c: 2 * z / c, lambda z, d: 2 * (1 - z) / d),
    cdf=lambda z, c: _triang(z, c, lambda z, c: z * z / c, lambda z, d: 1 - np.square(1 - z) / d),
    ppf=lambda q, c: where(q < c, np.sqrt(c * q), 1 - np.sqrt((1 - c) * (1 - q))),
    mean=lambda c: (c + 1.0) / 3.0,
    var=lambda c: (1.0 - c + c * c) / 18,
)
