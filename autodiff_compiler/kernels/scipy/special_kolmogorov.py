"""The derivatives of the distribution functions of Kolmogorov and of Smirnov."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ..dispatch import dispatched
from .special_quadrature import in_blocks


@dispatched
def kolmogorov_slope(n: int, x: Any) -> Any:
    """The derivative of order `n` of ``special.kolmogorov``, elementwise.

    For larger `x` of the series ``2 * sum((-1) ** (k - 1) * exp(-2 * k**2 * x**2))``, for smaller of the one that
    the transformation of theta functions makes of it, in ``exp(-(pi * (2k - 1))**2 / (8 * x**2)) / x``.
    """

    def slope(x: Any) -> Any:
        inside = x > 0.04  # left of there the function is 1 to all digits, and more
        high, low = np.where(x > 0.8, x, 1.0), np.where(inside & (x <= 0.8), x, 0.5)
        above = sum(2.0 * (-1) ** (k - 1) * _gaussian_slope(n, 2.0 * k * k, high) for k in range(1, 9))
        below = sum(_theta_slope(n, (np.pi * (2 * k - 1)) ** 2 / 8, low) for k in range(1, 6))
        return np.where(x > 0.8, above, np.where(inside, -np.sqrt(2 * np.pi) * below, np.where(np.isnan(x), x, 0.0)))

    return in_blocks(slope, 1, x)


def _gaussian_slope(n: int, rate: float, x: Any) -> Any:
    """The derivative of order `n` of ``exp(-rate * x**2)``, by Hermite's polynomials."""
    before, now = np.zeros_like(x), np.ones_like(x)
    for k in range(n):
        before, now = now, -2 * rate * (x * now + k * before)
    return now * np.exp(-rate * x * x)


def _theta_slope(n: int, rate: float, x: Any) -> Any:
    """The derivative of order `n` of ``exp(-rate / x**2) / x``: a polynomial in ``1 / x`` times it."""
    powers = {1: 1.0}  # the coefficients by the power of 1 / x
    for _ in range(n):
        changed: dict[int, float] = {}
        for j, c in powers.items():
            changed[j + 1] = changed.get(j + 1, 0.0) - j * c
            changed[j + 3] = changed.get(j + 3, 0.0) + 2 * rate * c
        powers = changed
    return sum(c * x**-j for j, c in powers.items()) * np.exp(-rate / (x * x))


@dispatched
def smirnov_slope(n: Any, x: Any) -> Any:
    """The derivative of ``special.smirnov(n, x)`` by `x`, elementwise, for ``0 < x < 1``.

    Term by term, of the sum of ``x * comb(n, j) * (x + j / n) ** (j - 1) * (1 - x - j / n) ** (n - j)``.
    """

    def slope(n: Any, x: Any) -> Any:
        out = np.zeros_like(x)
        for place in np.ndindex(x.shape):
            out[place] = _smirnov(n[place], x[place])
        return out

    return in_blocks(slope, 1, n, x)


def _smirnov(n: float, x: float) -> float:
    if not (n >= 1 and n == np.floor(n)) or np.isnan(x):
        return float("nan")
    if not 0 < x < 1:
        return 0.0
    j = np.arange(np.floor(n * (1 - x)) + 1)
    up = x + j / n
    down = np.maximum(1 - up, 0.0)
    log = special.gammaln(n + 1) - special.gammaln(j + 1) - special.gammaln(n - j + 1)
    term = np.exp(log + special.xlogy(j - 1, up) + special.xlogy(n - j, down))
    lower = np.where(n - j > 0, (n - j) * np.exp(log + special.xlogy(j - 1, up) + special.xlogy(n - j - 1, down)), 0.0)
    return float(np.sum(term * (1 + x * (j - 1) / up) - x * lower))
