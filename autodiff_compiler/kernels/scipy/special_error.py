"""Derivatives of the error functions and of the gamma function where the formula at hand loses its digits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from ..dispatch import dispatched
from .special_quadrature import dtype_of

_ROOT_PI = math.sqrt(math.pi)
_FAR = 7.0  # beyond, the asymptotic series of 40 terms is exact


@dispatched
def faddeeva(n: int, z: Any) -> Any:
    """The derivative of order `n` of ``special.wofz``, elementwise, for complex `z`.

    Near the origin by the recurrence ``w[n + 1] = -2 * (z * w[n] + n * w[n - 1])``. Far from it, where the terms of the
    recurrence cancel, by the asymptotic series; below the real axis ``2 * exp(-z ** 2)`` is added.
    Reference: DLMF, 7.10 and 7.12.
    """
    z = np.asarray(z)
    _, dtype = special.wofz.resolve_dtypes((z.dtype, None))
    z = z.astype(np.complex128)
    with np.errstate(all="ignore"):
        near = _by_recurrence(n, z, special.wofz(z), 2j / _ROOT_PI)
        far = np.abs(z) > _FAR
        if far.any():
            away = np.where(far, z, 2 * _FAR)
            found = _asymptotic(n, away)
            below = z.imag < 0
            if below.any():
                found = found + np.where(below, _by_recurrence(n, away, 2 * np.exp(-away * away), 0.0), 0)
            near = np.where(far, found, near)
    return near.astype(dtype)[()]


def _by_recurrence(n: int, z: Any, w: Any, slope: complex) -> Any:
    """The derivative of a solution of ``w' = slope - 2 * z * w``."""
    before, now = w, slope - 2 * z * w
    if n == 0:
        return before
    for k in range(1, n):
        before, now = now, -2 * (z * now + k * before)
    return now


def _asymptotic(n: int, z: Any) -> Any:
    total = np.zeros_like(z)
    inverse = 1 / (z * z)
    for m in range(40, -1, -1):
        # (2m - 1)!! / 2**m, differentiated n times as a power of z; the ratio of two such coefficients
        ratio = (m + 0.5) * (2 * m + 1 + n) * (2 * m + 2 + n) / ((2 * m + 1) * (2 * m + 2))
        total = 1 + ratio * inverse * total
    first = (-1) ** n * math.factorial(n)
    return 1j / _ROOT_PI * first * total / z ** (n + 1)


@dispatched
def dawsn_derivative(n: int, x: Any) -> Any:
    """The derivative of order `n` of ``special.dawsn``, for real `x`, elementwise."""
    x = _floating(x)
    return (0.5 * _ROOT_PI * faddeeva(n, x.astype(np.float64)).imag).astype(x.dtype)[()]


@dispatched
def erfcx_derivative(n: int, x: Any) -> Any:
    """The derivative of order `n` of ``special.erfcx``, for real `x`, elementwise: erfcx(x) is wofz(i * x)."""
    x = _floating(x)
    return ((1j**n * faddeeva(n, 1j * x.astype(np.float64))).real).astype(x.dtype)[()]


@dispatched
def digamma_step(x: Any, h: Any) -> Any:
    """``special.digamma(x + h) - special.digamma(x)``, elementwise, also where `h` is small beside `x`.

    Both are moved up to where the asymptotic series holds, and the series are subtracted term by term.
    Reference: DLMF, 5.5.2 and 5.11.2.
    """
    dtype = dtype_of(x, h)
    x, h = np.broadcast_arrays(x, h)
    x, h = x.astype(np.float64), h.astype(np.float64)
    with np.errstate(all="ignore"):
        plain = special.digamma(x + h) - special.digamma(x)
        good = (x > 0) & (x + h > 0)
        low, by = np.where(good, x, 1.0), np.where(good, h, 0.0)
        total = np.zeros_like(low)
        for _ in range(15):
            small = np.minimum(low, low + by) < 15
            total = total + np.where(small, by / (low * (low + by)), 0)
            low = np.where(small, low + 1, low)
        high = low + by
        total = total + np.log1p(by / low) + by / (2 * low * high)
        u, v = 1 / (low * low), 1 / (high * high)
        gap = by / low / high * (1 / low + 1 / high)  # u - v
        series, powers = np.zeros_like(low), np.zeros_like(low)
        for k, b in enumerate(_BERNOULLI, 1):
            powers = powers * u + v ** (k - 1)  # (u**k - v**k) / (u - v)
            series = series + b / (2 * k) * powers
        out = np.where(good, total + gap * series, plain)
    return out.astype(dtype)[()]


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def _floating(x: Any) -> Any:
    return np.asarray(x, dtype_of(x))
