"""The error function, Bessel functions and the derivatives of log(gamma), which NumPy lacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .dispatch import dispatched


@dispatched
def erf(x: Any) -> Any:
    """The error function, for real `x`, elementwise.

    Rational functions, of ``x**2`` near 0 and of `x` beyond, that are right to the last digits of float64.
    Reference: Cody, Rational Chebyshev approximations for the error function (1969).
    """
    x = floating(x)
    if x.dtype == np.float16:  # too small for the numbers in between
        return erf(x.astype(np.float32)).astype(np.float16)
    size = np.minimum(np.abs(x), 6.0)  # beyond, it is 1
    square = size * size
    near = size * _polynomial(_ERF_A, square) / _polynomial(_ERF_B, square)
    far = 1.0 - np.exp(-square) * _polynomial(_ERF_C, size) / _polynomial(_ERF_D, size)
    return np.copysign(np.where(size < 0.46875, near, far), x)[()]


@dispatched
def erfc(x: Any) -> Any:
    """``1 - erf(x)``, for real `x`, elementwise, with all its digits where it is small."""
    x = floating(x)
    size = np.clip(np.abs(x).astype(np.float64), 1e-3, 30.0)  # beyond, it is 0
    fall = np.exp(-size * size)
    middle = fall * _polynomial(_ERF_C, size) / _polynomial(_ERF_D, size)
    inverse = 1.0 / (size * size)
    series = inverse * _polynomial(_ERFC_P, inverse) / _polynomial(_ERFC_Q, inverse)
    far = fall * (1.0 / math.sqrt(math.pi) - series) / size
    tail = np.where(size < 4.0, middle, far)
    out = np.where(np.abs(x) < 0.46875, 1.0 - erf(x), np.where(x < 0, 2.0 - tail, tail))
    return np.where(np.isnan(x), x, out).astype(x.dtype)[()]


@dispatched
def lgamma(x: Any) -> Any:
    """The logarithm of the size of the gamma function, for real `x`, elementwise; infinite at its poles."""
    x = floating(x)
    return np.asarray(_each_lgamma(x), np.float64).astype(x.dtype)[()]


def _lgamma(x: float) -> float:
    return math.inf if x <= 0 and x == math.floor(x) and x != -math.inf else math.lgamma(x)


_each_lgamma = np.frompyfunc(_lgamma, 1, 1)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    """Its value at `x`, the coefficient of the highest power first."""
    out = coefficients[0] * x
    for c in coefficients[1:-1]:
        out += c
        out *= x
    out += coefficients[-1]
    return out


@dispatched
def rsqrt(x: Any) -> Any:
    """``1 / sqrt(x)``, for real `x`, elementwise."""
    return (1 / np.sqrt(floating(x)))[()]


def floating(x: Any) -> Any:
    """`x` as an array of real floating numbers, as NumPy's functions see it; TypeError for complex ones."""
    x = np.asarray(x)
    if x.dtype.kind == "f":
        return x
    if x.dtype.kind == "c":
        raise TypeError("this function is for real numbers, not for complex ones")
    return x.astype(np.result_type(x.dtype, np.float16) if x.dtype.kind in "biu" else np.float64)


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


def bessel_i(n: int, x: Any) -> Any:
    """The modified Bessel function of the first kind, of integer order, for real `x`.

    The trapezoidal rule for ``exp(x cos t) cos(n t) / pi`` over a period, which converges geometrically.
    Reference: Trefethen and Weideman, The exponentially convergent trapezoidal rule (2014).
    """
    x = np.asarray(x)
    largest = float(np.max(np.abs(x), initial=0.0)) if np.all(np.isfinite(x)) else 1e3
    points = 32 + n + int(4.5 * math.sqrt(min(largest, 1e6)))
    t = np.pi * np.arange(points + 1) / points
    weights = np.cos(n * t) / points
    weights[[0, -1]] *= 0.5
    size = np.abs(x)[..., None].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.exp(size[..., 0]) * np.sum(np.exp(size * (np.cos(t) - 1)) * weights, axis=-1)
    out = np.where((x < 0) & (n % 2 == 1), -found, found)
    return out.astype(x.dtype if x.dtype.kind == "f" else np.float64)[()]


@dispatched
def polygamma(n: int, x: Any) -> Any:
    """The derivative of order ``n + 1`` of ``log(gamma(x))``, for real `x`, elementwise."""
    if type(x) is float:
        return _polygamma(n, x)
    x = floating(x)
    return np.asarray(np.frompyfunc(lambda v: _polygamma(n, v), 1, 1)(x), np.float64).astype(x.dtype)[()]


def _polygamma(n: int, x: float) -> float:
    """The derivative of order ``n + 1`` of ``log(gamma(x))``, for a number.

    Upward recurrence to where the asymptotic series holds; reflection by differentiating ``pi cot(pi x)`` for negative
    numbers. Reference: Abramowitz and Stegun, 6.3 and 6.4.
    """
    x = float(x)
    if math.isnan(x) or x == math.inf:
        return math.nan if math.isnan(x) else math.inf if n == 0 else 0.0
    if x <= 0 and x == math.floor(x):
        return math.nan
    if x < 0:
        sign = 1.0 if n % 2 == 0 else -1.0
        return sign * _polygamma(n, 1 - x) - math.pi ** (n + 1) * _cotangent_derivative(n, math.pi * x)
    total = 0.0
    factorial = math.factorial(n)
    scale = -1.0 if n % 2 == 0 else 1.0  # (-1)**(n + 1)
    if x > 1e15:  # all but the first term is lost, and powers of x might overflow
        return math.log(x) if n == 0 else scale * math.factorial(n - 1) * math.exp(-n * math.log(x))
    while x < 12 + n:
        total += scale * factorial / x ** (n + 1)
        x += 1
    if n == 0:
        total += math.log(x) - 0.5 / x
        return total - sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(_BERNOULLI, 1))
    series = math.factorial(n - 1) / x**n + factorial / (2 * x ** (n + 1))
    for k, b in enumerate(_BERNOULLI, 1):
        series += b * math.factorial(2 * k + n - 1) / math.factorial(2 * k) / x ** (2 * k + n)
    return total + scale * series


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def _cotangent_derivative(n: int, t: float) -> float:
    """The derivative of order `n` of the cotangent: a polynomial in it, as ``cot' = -(1 + cot**2)``."""
    powers = [0.0, 1.0]  # the coefficients of the polynomial
    for _ in range(n):
        slope = [k * c for k, c in enumerate(powers)][1:]
        powers = [0.0] * (len(slope) + 2)
        for k, c in enumerate(slope):
            powers[k] -= c
            powers[k + 2] -= c
    cot = 1 / math.tan(t)
    return sum(c * cot**k for k, c in enumerate(powers))
