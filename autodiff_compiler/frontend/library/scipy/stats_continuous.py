"""The standard forms of the normal distribution, of what is made of it, and of distributions without shapes."""

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
LOG_2 = math.log(2.0)
LOG_PI = math.log(math.pi)
SQRT_2 = math.sqrt(2.0)
SQRT_2PI = math.sqrt(2 * math.pi)
LOG_SQRT_2PI = math.log(SQRT_2PI)
EULER = 0.5772156649015329
NAN = float("nan")
PI_SQUARED = math.pi * math.pi
HALF_PI = math.pi / 2
SQRT_HALF_PI = math.sqrt(math.pi / 2)
ONE_OVER_PI = 1.0 / math.pi
TWO_OVER_PI = 2.0 / math.pi
LOG_TWO_OVER_PI = math.log(2.0 / math.pi)
SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
LOG_2PI = math.log(2 * math.pi)
LOG_4PI = math.log(4 * math.pi)
LOG_HALFNORM = 0.5 * math.log(2.0 / math.pi)
HALFNORM_ENTROPY = 0.5 * math.log(math.pi / 2.0) + 0.5
HALFNORM_VARIANCE = 1 - 2.0 / math.pi
RAYLEIGH_ENTROPY = EULER / 2.0 + 1 - 0.5 * math.log(2)
RAYLEIGH_VARIANCE = (4 - math.pi) / 2

# --- the normal distribution and its relatives ------------------------------------------------------------------------

NORM_ENTROPY = 0.5 * (math.log(2 * math.pi) + 1)

distribution(
    stats.norm,
    natural=("ppf", "isf"),
    logpdf=lambda z: -z * z / 2.0 - LOG_SQRT_2PI,
    pdf=lambda z: np.exp(-z * z / 2.0) / SQRT_2PI,
    cdf=lambda z: special.ndtr(z),
    logcdf=lambda z: special.log_ndtr(z),
    sf=lambda z: special.ndtr(-z),
    logsf=lambda z: special.log_ndtr(-z),
    ppf=lambda q: special.ndtri(q),
    isf=lambda q: -special.ndtri(q),
    entropy=lambda: NORM_ENTROPY,
    mean=lambda: 0.0,
    var=lambda: 1.0,
)

distribution(
    stats.halfnorm,
    low=0.0,
    logpdf=lambda z: LOG_HALFNORM - z * z / 2.0,
    pdf=lambda z: SQRT_2_OVER_PI * np.exp(-z * z / 2.0),
    cdf=lambda z: special.erf(z / SQRT_2),
    sf=lambda z: 2 * special.ndtr(-z),
    ppf=lambda q: special.ndtri((1 + q) / 2.0),
    isf=lambda q: -special.ndtri(q / 2),
    entropy=lambda: HALFNORM_ENTROPY,
    mean=lambda: SQRT_2_OVER_PI,
    var=lambda: HALFNORM_VARIANCE,
)

distribution(
    stats.lognorm,
    shapes=("s",),
    low=0.0,
    closed=False,
    logpdf=lambda z, s: -np.square(np.log(z)) / (2 * s * s) - np.log(s * z * SQRT_2PI),
    cdf=lambda z, s: special.ndtr(np.log(z) / s),
    logcdf=lambda z, s: special.log_ndtr(np.log(z) / s),
    sf=lambda z, s: special.ndtr(-np.log(z) / s),
    logsf=lambda z, s: special.log_ndtr(-np.log(z) / s),
    ppf=lambda q, s: np.exp(s * special.ndtri(q)),
    isf=lambda q, s: np.exp(-s * special.ndtri(q)),
    entropy=lambda s: NORM_ENTROPY + np.log(s),
    mean=lambda s: np.exp(s * s / 2),
    var=lambda s: np.exp(s * s) * np.expm1(s * s),
)

distribution(
    stats.skewnorm,
    shapes=("a",),
    valid=lambda a: np.isfinite(a),
    logpdf=lambda z, a: LOG_2 + (-z * z / 2.0 - LOG_SQRT_2PI) + special.log_ndtr(a * z),
    pdf=lambda z, a: 2.0 * (np.exp(-z * z / 2.0) / SQRT_2PI) * special.ndtr(a * z),
    cdf=lambda z, a: quantiles.skewnorm_cdf(z, a),
    sf=lambda z, a: quantiles.skewnorm_cdf(-z, -a),
    ppf=lambda q, a: quantiles.skewnorm_ppf(q, a),
    isf=lambda q, a: -quantiles.skewnorm_ppf(q, -a),
    mean=lambda a: SQRT_2_OVER_PI * a / np.sqrt(1 + a * a),
    var=lambda a: 1 - TWO_OVER_PI * a * a / (1 + a * a),
)


def _mass(a: Any, b: Any) -> Any:
    """The logarithm of the probability of the normal distribution between two points."""
    return kernels.log_gauss_mass(a, b)


def _truncnorm_logcdf(z: Any, a: Any, b: Any) -> Any:
    mass = _mass(a, b)
    log_p = _mass(a, z) - mass
    return where(log_p > -0.1, np.log1p(-np.exp(_mass(z, b) - mass)), log_p)


def _truncnorm_logsf(z: Any, a: Any, b: Any) -> Any:
    mass = _mass(a, b)
    log_p = _mass(z, b) - mass
    return where(log_p > -0.1, np.log1p(-np.exp(_mass(a, z) - mass)), log_p)


def _truncnorm_ppf(q: Any, a: Any, b: Any) -> Any:
    # From the end of the support that is nearer to zero, where the probabilities are not rounded to one.
    left = special.ndtri_exp(np.logaddexp(special.log_ndtr(a), np.log(q) + _mass(a, b)))
    right = -special.ndtri_exp(np.logaddexp(special.log_ndtr(-b), np.log1p(-q) + _mass(a, b)))
    return where(a < 0, left, right)


def _truncnorm_ends(a: Any, b: Any) -> Any:
    """The densities at the ends, and the ends, or 0 if there is none."""
    mass = _mass(a, b)
    low, high = where(np.isfinite(a), a, 0.0), where(np.isfinite(b), b, 0.0)
    at_low, at_high = np.exp(-a * a / 2.0 - LOG_SQRT_2PI - mass), np.exp(-b * b / 2.0 - LOG_SQRT_2PI - mass)
    return low, high, at_low, at_high


def _truncnorm_mean(a: Any, b: Any) -> Any:
    _, _, at_low, at_high = _truncnorm_ends(a, b)
    return at_low - at_high


def _truncnorm_var(a: Any, b: Any) -> Any:
    low, high, at_low, at_high = _truncnorm_ends(a, b)
    mean = at_low - at_high
    return 1 + at_low * (low - mean) - at_high * (high - mean)


distribution(
    stats.truncnorm,
    shapes=("a", "b"),
    valid=lambda a, b: a < b,
    low=lambda a, b: a,
    high=lambda a, b: b,
    inside=lambda a, b: where(a > 0, a, where(b < 0, b, 0.0)),
    logpdf=lambda z, a, b: -z * z / 2.0 - LOG_SQRT_2PI - _mass(a, b),
    logcdf=_truncnorm_logcdf,
    logsf=_truncnorm_logsf,
    ppf=_truncnorm_ppf,
    mean=_truncnorm_mean,
    var=_truncnorm_var,
)

# --- without shapes ---------------------------------------------------------------------------------------------------

distribution(
    stats.expon,
    low=0.0,
    logpdf=lambda z: -z,
    pdf=lambda z: np.exp(-z),
    cdf=lambda z: -np.expm1(-z),
    sf=lambda z: np.exp(-z),
    logsf=lambda z: -z,
    ppf=lambda q: -np.log1p(-q),
    isf=lambda q: -np.log(q),
    entropy=lambda: 1.0,
    mean=lambda: 1.0,
    var=lambda: 1.0,
)

distribution(
    stats.uniform,
    low=0.0,
    high=1.0,
    inside=0.5,
    logpdf=lambda z: where(z == z, 0.0, z),
    pdf=lambda z: where(z == z, 1.0, z),
    cdf=lambda z: z,
    ppf=lambda q: q,
    entropy=lambda: 0.0,
    mean=lambda: 0.5,
    var=lambda: 1.0 / 12,
)


def _laplace_cdf(z: Any) -> Any:
    above = z > 0
    return where(above, 1.0 - 0.5 * np.exp(-where(above, z, 0.0)), 0.5 * np.exp(where(above, 0.0, z)))


def _laplace_ppf(q: Any) -> Any:
    return where(q > 0.5, -np.log(2 * (1 - q)), np.log(2 * q))


distribution(
    stats.laplace,
    pdf=lambda z: 0.5 * np.exp(-np.abs(z)),
    cdf=_laplace_cdf,
    sf=lambda z: _laplace_cdf(-z),
    ppf=_laplace_ppf,
    isf=lambda q: -_laplace_ppf(q),
    entropy=lambda: LOG_2 + 1,
    mean=lambda: 0.0,
    var=lambda: 2.0,
)


def _logistic_logpdf(z: Any) -> Any:
    y = -np.abs(z)
    return y - 2.0 * np.log1p(np.exp(y))


distribution(
    stats.logistic,
    natural=("ppf", "isf"),
    logpdf=_logistic_logpdf,
    cdf=lambda z: special.expit(z),
    logcdf=lambda z: special.log_expit(z),
    sf=lambda z: special.expit(-z),
    logsf=lambda z: special.log_expit(-z),
    ppf=lambda q: special.logit(q),
    isf=lambda q: -special.logit(q),
    entropy=lambda: 2.0,
    mean=lambda: 0.0,
    var=lambda: PI_SQUARED / 3.0,
)


def _cauchy_ppf(q: Any) -> Any:
    lower = q < 0.5
    tail = 1.0 / np.tan(np.pi * where(lower, q, 1.0 - q))
    return where(lower, -tail, tail)


distribution(
    stats.cauchy,
    logpdf=lambda z: -LOG_PI - 2.0 * np.log(np.hypot(1.0, z)),
    pdf=lambda z: ONE_OVER_PI / (1.0 + z * z),
    cdf=lambda z: np.arctan2(1.0, -z) / np.pi,
    sf=lambda z: np.arctan2(1.0, z) / np.pi,
    ppf=_cauchy_ppf,
    isf=lambda q: -_cauchy_ppf(q),
    entropy=lambda: LOG_4PI,
    mean=lambda: NAN,
    var=lambda: NAN,
)

distribution(
    stats.halfcauchy,
    low=0.0,
    logpdf=lambda z: LOG_TWO_OVER_PI - np.log1p(z * z),
    pdf=lambda z: TWO_OVER_PI / (1.0 + z * z),
    cdf=lambda z: TWO_OVER_PI * np.arctan(z),
    ppf=lambda q: where(q == 1, INF, np.tan(HALF_PI * q)),
    isf=lambda q: where(q == 1, 0.0, 1.0 / np.tan(np.pi * q / 2)),
    sf=lambda z: TWO_OVER_PI * np.arctan2(1.0, z),
    entropy=lambda: LOG_2PI,
    mean=lambda: INF,
    var=lambda: INF,
)

distribution(
    stats.rayleigh,
    low=0.0,
    closed=False,
    logpdf=lambda z: where(z < INF, np.log(z), 0.0) - 0.5 * z * z,
    cdf=lambda z: -np.expm1(-0.5 * z * z),
    sf=lambda z: np.exp(-0.5 * z * z),
    logsf=lambda z: -0.5 * z * z,
    ppf=lambda q: np.sqrt(-2 * np.log1p(-q)),
    isf=lambda q: np.sqrt(-2 * np.log(q)),
    entropy=lambda: RAYLEIGH_ENTROPY,
    mean=lambda: SQRT_HALF_PI,
    var=lambda: RAYLEIGH_VARIANCE,
)

distribution(
    stats.gumbel_r,
    logpdf=lambda z: -z - np.exp(-z),
    cdf=lambda z: np.exp(-np.exp(-z)),
    logcdf=lambda z: -np.exp(-z),
    sf=lambda z: -np.expm1(-np.exp(-z)),
    ppf=lambda q: -np.log(-np.log(q)),
    isf=lambda q: -np.log(-np.log1p(-q)),
    entropy=lambda: EULER + 1.0,
    mean=lambda: EULER,
    var=lambda: PI_SQUARED / 6.0,
)

distribution(
    stats.gumbel_l,
    logpdf=lambda z: z - np.exp(z),
    cdf=lambda z: -np.expm1(-np.exp(z)),
    sf=lambda z: np.exp(-np.exp(z)),
    logsf=lambda z: -np.exp(z),
    ppf=lambda q: np.log(-np.log1p(-q)),
    isf=lambda q: np.log(-np.log(q)),
    entropy=lambda: EULER + 1.0,
    mean=lambda: -EULER,
    var=lambda: PI_SQUARED / 6.0,
)
