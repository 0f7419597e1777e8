"""The derivatives of the incomplete gamma and beta functions by their parameters.

Both functions are integrals of a density of probability. The derivative by a parameter is the integral of the density
times its score, which is the derivative of its logarithm. The score has one zero, and its mean is zero: so the integral
on the side of the argument that does not contain the zero is a sum of terms of one sign, and is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ..dispatch import dispatched
from .special_error import digamma_step
from .special_quadrature import half_line, in_blocks


@dispatched
def gamma_density(a: Any, x: Any) -> Any:
    """``x ** (a - 1) * exp(-x) / gamma(a)``, elementwise, for ``a > 0`` and ``x >= 0``."""
    return in_blocks(lambda a, x: _gamma_weight(a, x) / x, 1, a, x) if np.all(np.not_equal(x, 0)) else _at_zero(a, x)


def _at_zero(a: Any, x: Any) -> Any:
    def density(a: Any, x: Any) -> Any:
        limit = np.where(a < 1, np.inf, np.where(a == 1, 1.0, 0.0))
        return np.where(x == 0, limit, _gamma_weight(a, np.where(x == 0, 1.0, x)) / np.where(x == 0, 1.0, x))

    return in_blocks(density, 1, a, x)


def _gamma_weight(a: Any, x: Any) -> Any:
    """``x ** a * exp(-x) / gamma(a)``, also for large `a`: by Stirling's formula and the deviance."""
    large = a > 10
    safe = np.where(large, a, 20.0)
    by_stirling = np.sqrt(safe / (2 * np.pi)) * np.exp(-_deviance(safe, x) - stirling(safe))
    return np.where(large, by_stirling, np.exp(special.xlogy(a, x) - x - special.gammaln(a)))


def _deviance(a: Any, x: Any) -> Any:
    """``x - a - a * log(x / a)``, which is small where they are close."""
    r = (x - a) / a
    close = np.abs(r) < 0.1
    u = np.where(close, r, 0.0)
    v = u / (2 + u)  # log1p(u) = 2 * (v + v**3 / 3 + ...), and u = v * (2 + u)
    series = np.zeros_like(u)
    for k in range(12, 0, -1):
        series = (1 / (2 * k + 1) + series) * v * v
    return np.where(close, a * (u * v - 2 * v * series), x - a - special.xlogy(a, x / a))


def stirling(a: Any) -> Any:
    """``gammaln(a) - (a - 1 / 2) * log(a) + a - log(2 * pi) / 2``."""
    w = 1 / (a * a)
    return (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * (1 / 1188 - w * 691 / 360360))))) / a


@dispatched
def gammainc_slope(n: int, a: Any, x: Any) -> Any:
    """The derivative of order `n`, 1 or 2, of ``special.gammainc(a, x)`` by `a`, elementwise, for ``a > 0``."""
    t, weights = half_line()

    def integral(a: Any, x: Any) -> Any:
        inside = (a > 0) & (x > 0) & np.isfinite(x) & np.isfinite(a)
        at_zero = (a > 0) & (x == 0)
        a, x = np.where(inside, a, 1.0), np.where(inside, x, 1.0)
        mean, log = special.digamma(a), np.log(x)
        left = log < mean
        # The variable is x * exp(-s) to the left, x * exp(s) to the right, on the scale on which the density falls.
        sign = np.where(left, -1.0, 1.0)
        width = 1 / (np.abs(a - x) + np.sqrt(a + x))
        s = (sign * width)[:, None] * t
        grown = np.expm1(s)
        log_ratio = a[:, None] * s - x[:, None] * grown
        score = (log - mean)[:, None] + s
        if n == 2:
            score = score * score - special.polygamma(1, a)[:, None]
        found = -sign * ((np.exp(log_ratio) * score) @ weights) * width * _gamma_weight(a, x)
        small = ~left & (x < 1)
        if small.any():
            # The density is flat in s for long, and then falls off at once.
            found = np.where(small, _gammainc_series(n, np.where(small, a, 1.0), np.where(small, x, 1.0)), found)
        return np.where(inside, found, np.where(at_zero, 0.0, np.nan))

    return in_blocks(integral, t.size, a, x)


def _gammainc_series(n: int, a: Any, x: Any) -> Any:
    """The same by the power series, the sum of ``(-x) ** k * x ** a / (k! * gamma(a) * (a + k))``, for ``x <= 1``."""
    size = np.exp(a * np.log(x) - special.gammaln(a + 1))
    slope, bend = np.log(x) - special.digamma(a + 1), special.polygamma(1, a + 1)
    total = size * (slope if n == 1 else slope * slope - bend)
    for k in range(1, 20):
        size = size * -x / k
        ratio = a / (a + k)
        first = slope + k / (a * (a + k))  # the derivative of the logarithm of a term, and minus that of this
        second = bend + k * (2 * a + k) / np.square(a * (a + k))
        total = total + size * ratio * (first if n == 1 else first * first - second)
    return total


@dispatched
def beta_density(a: Any, b: Any, x: Any) -> Any:
    """``x ** (a - 1) * (1 - x) ** (b - 1) / beta(a, b)``, elementwise."""
    return in_blocks(_beta_density, 1, a, b, x)


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    plain = np.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))
    return np.where(np.minimum(a, b) > 10, _beta_weight(a, b, x, 1 - x) / (x * (1 - x)), plain)


def _beta_weight(a: Any, b: Any, x: Any, y: Any) -> Any:
    """``x ** a * y ** b / beta(a, b)`` with ``y = 1 - x``, also for large `a` and `b`: see `_gamma_weight`."""
    large = np.minimum(a, b) > 10
    p, q = np.where(large, a, 20.0), np.where(large, b, 20.0)
    n = p + q
    rest = stirling(p) + stirling(q) - stirling(n)
    by_stirling = np.sqrt(p / n * q / (2 * np.pi)) * np.exp(-_deviance(p, n * x) - _deviance(q, n * y) - rest)
    return np.where(large, by_stirling, np.exp(special.xlogy(a, x) + special.xlogy(b, y) - special.betaln(a, b)))


@dispatched
def betainc_slope(n: int, m: int, a: Any, b: Any, x: Any, y: Any) -> Any:
    """The derivative of ``special.betainc(a, b, x)``, `n` times by `a` and `m` times by `b`, elementwise, for
    ``n + m`` of 1 or 2. `y` is ``1 - x``.

    In ``log(x / y)`` as the variable, the density is smooth and falls off exponentially at both sides.
    """
    t, weights = half_line()

    def integral(a: Any, b: Any, x: Any, y: Any) -> Any:
        inside = (a > 0) & (b > 0) & (x > 0) & (y > 0)
        a, b, x, y = (np.where(inside, v, 0.5) for v in (a, b, x, y))
        mean_x, mean_y = -digamma_step(a, b), -digamma_step(b, a)  # of log(x) and log(1 - x)
        below = np.log(x) < mean_x if n else np.log(y) > mean_y
        if n + m > 1:
            below = a * y > b * x
        sign = np.where(below, -1.0, 1.0)
        width = 1 / (np.abs(a * y - b * x) + np.sqrt((a + b) * x * y) + 0.0)
        width = np.minimum(width, 1 / np.minimum(a, b))
        s = (sign * width)[:, None] * t
        # x becomes x * exp(s) / (y + x * exp(s)); both logarithms without overflow
        moved = np.where(s < 0, np.log1p(x[:, None] * np.expm1(s)), s + np.log1p(y[:, None] * np.expm1(-s)))
        log_x, log_y = s - moved, -moved
        log_ratio = a[:, None] * log_x + b[:, None] * log_y
        score_x = (np.log(x) - mean_x)[:, None] + log_x
        score_y = (np.log(y) - mean_y)[:, None] + log_y
        score = score_x if n == 1 else score_y
        if n + m == 2:
            curve = (special.polygamma(1, a) if n == 2 else 0) + (special.polygamma(1, b) if m == 2 else 0)
            curve = curve - special.polygamma(1, a + b)
            first, second = (score_x if n else score_y), (score_y if m else score_x)
            score = first * second - curve[:, None]
        scale = _beta_weight(a, b, x, y)
        found = -sign * ((np.exp(log_ratio) * score) @ weights) * width * scale
        if n + m == 1:
            # As for gamma: at the far end of the interval, if the density is flat from there to the other.
            p, q, near = (a, b, x) if n else (b, a, y)
            small = (p < 1) & (near < 0.5) & (q * near < 1) & (below != bool(n))
            if small.any():
                series = _betainc_series(*[np.where(small, v, 0.5) for v in (p, q, near)])
                found = np.where(small, series if n else -series, found)
        return np.where(inside, found, 0.0)

    return in_blocks(integral, t.size, a, b, x, y)


def _betainc_series(a: Any, b: Any, x: Any) -> Any:
    """The derivative of betainc by `a` by the power series: the sum of ``c[k] * x ** (a + k) / (beta(a, b) * (a + k))``
    with ``c[k]`` the coefficients of ``(1 - x) ** (b - 1)``."""
    size = np.exp(a * np.log(x) - special.betaln(a, b)) / a
    slope = np.log(x) + digamma_step(a + 1, b - 1)  # the derivative of the logarithm of the first term
    total = size * slope
    for k in range(1, 60):
        size = size * (k - b) / k * x
        total = total + size * (a / (a + k)) * (slope + k / (a * (a + k)))
    return total
