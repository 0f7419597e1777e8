"""The error function and the normal distribution, which NumPy lacks. Small results have all their digits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .dispatch import dispatched
from .special import floating


@dispatched
def erf(x: Any) -> Any:
    """The error function, for real `x`, elementwise.

    Near 0 a rational function of ``x**2``, beyond that one of `x`. Both are right to the last digits of float64.
    Reference: Cody, Rational Chebyshev approximations for the error function (1969).
    """
    x = floating(x)
    if x.dtype == np.float16:  # its range is too small for intermediate results
        return erf(x.astype(np.float32)).astype(np.float16)
    size = np.minimum(np.abs(x), 6.0)  # beyond, it is 1
    square = size * size
    far = 1.0 - np.exp(-square) * _polynomial(_ERF_C, size) / _polynomial(_ERF_D, size)
    return np.copysign(np.where(size < _NEAR, _near(size, square), far), x)[()]


def _near(size: Any, square: Any) -> Any:
    return size * _polynomial(_ERF_A, square) / _polynomial(_ERF_B, square)


@dispatched
def erfc(x: Any) -> Any:
    """``1 - erf(x)``, for real `x`, elementwise, with all its digits where it is small."""
    x = floating(x)
    wide = x.astype(np.float64)
    return np.where(np.isnan(x), x, _complement(wide, np.abs(wide), 1.0)).astype(x.dtype)[()]


@dispatched
def ndtr(x: Any) -> Any:
    """The standard normal distribution function, for real `x`, elementwise: ``erfc(-x / sqrt(2)) / 2``."""
    x = floating(x)
    wide = x.astype(np.float64)
    out = 0.5 * _complement(-wide, math.sqrt(0.5) * np.abs(wide), 0.5)
    return np.where(np.isnan(x), x, out).astype(x.dtype)[()]


def _complement(x: Any, size: Any, rate: float) -> Any:
    """erfc, of `size` where `x` is not negative, else of ``-size``; ``exp(-size**2)`` is ``gaussian(x, rate)``."""
    near = np.minimum(size, _NEAR)
    size = np.minimum(np.maximum(size, _NEAR), 40.0)  # beyond, it is 0
    scaled = _polynomial(_ERF_C, size) / _polynomial(_ERF_D, size)
    if size.max(initial=0.0) > 4:
        inverse = 1.0 / (size * size)
        series = inverse * _polynomial(_ERFC_P, inverse) / _polynomial(_ERFC_Q, inverse)
        scaled = np.where(size < 4.0, scaled, (1.0 / math.sqrt(math.pi) - series) / size)
    tail = np.where(size > _NEAR, gaussian(x, rate) * scaled, 1.0 - _near(near, near * near))
    return np.where(x < 0, 2.0 - tail, tail)


@dispatched
def gaussian(x: Any, rate: float) -> Any:
    """``exp(-rate * x**2)``, for real `x`, elementwise. `rate` is 1 or 1/2.

    The square is not rounded, since the exponential would enlarge the error.
    """
    if type(x) is float:
        size = min(abs(x), 60.0)
        high = math.floor(size * 16) / 16 if size == size else size
        return math.exp(-rate * high * high) * math.exp(-rate * (size - high) * (size + high))
    x = floating(x)
    size = np.minimum(np.abs(x.astype(np.float64)), 60.0)
    high = np.floor(size * 16) / 16
    return (np.exp(-rate * high * high) * np.exp(-rate * (size - high) * (size + high))).astype(x.dtype)[()]


@dispatched
def erfinv(x: Any) -> Any:
    """The inverse of `erf`, for real `x`, elementwise: infinite at -1 and 1, nan beyond.

    Halley's method from Winitzki's guess. Where erf is near 1, the method uses erfc.
    """
    x = floating(x)
    size = np.abs(x.astype(np.float64))
    inside = np.minimum(size, 1 - 2.0**-54)
    w = np.log1p(-inside * inside)
    half = 2 / (math.pi * 0.147) + w / 2
    y = np.sqrt(np.sqrt(half * half - w / 0.147) - half)
    y = np.where(inside < 1e-4, inside * (math.sqrt(math.pi) / 2), y)
    for _ in range(3):
        miss = np.where(inside < 0.5, erf(y) - inside, (1 - inside) - erfc(y))
        step = miss / (2 / math.sqrt(math.pi) * gaussian(y, 1.0))
        y = y - step / (1 + step * y)
    out = np.where(size < 1, y, np.where(size == 1, np.inf, np.nan))
    return np.copysign(out, x).astype(x.dtype)[()]


_NEAR = 0.46875


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    """The value of a polynomial at `x`. The coefficient of the highest power comes first."""
    out = coefficients[0] * x
    for c in coefficients[1:-1]:
        out += c
        out *= x
    out += coefficients[-1]
    return out


_ERF_A = (
    1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2, 3.20937758913846947e3,
)  # fmt: skip
_ERF_B = (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3)
_ERF_C = (
    2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1, 2.98635138197400131e2,
    8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3,
)  # fmt: skip
_ERF_D = (
    1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
    3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3,
)  # fmt: skip


_ERFC_P = (
    1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
    1.60837851487422766e-2, 6.58749161529837803e-4,
)  # fmt: skip
_ERFC_Q = (
    1.0, 2.56852019228982242, 1.87295284992346047, 5.27905102951428412e-1, 6.05183413124413191e-2,
    2.33520497626869185e-3,
)  # fmt: skip
