"""The error function, Bessel functions and the derivatives of log(gamma), which NumPy lacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .dispatch import dispatched


@dispatched
def erf(x: Any) -> Any:
    """The error function, for real `x`, elementwise.

    Its series below 1, beyond that a Chebyshev expansion of ``exp(x**2) * erfc(x)`` in ``1 / (1 + x / 2)``. Reference:
    Abramowitz and Stegun, 7.1.5; Shepherd and Laframboise, Chebyshev approximation of erfcx (1981).
    """
    x = floating(x)
    size = np.minimum(np.abs(x), _ERF_ONE)  # beyond, it is 1 in float64
    square = np.minimum(size, 1.0) ** 2
    near = square * _ERF_SERIES[-1]
    for c in _ERF_SERIES[-2:0:-1]:
        near = (near + c) * square
    near = (near + _ERF_SERIES[0]) * size
    t = (2.0 / (1.0 + 0.5 * np.maximum(size, 1.0)) - (_ERF_FIRST + _ERF_LAST)) / (_ERF_FIRST - _ERF_LAST)
    last, before = t * 0.0, t * 0.0
    for c in _ERF_CHEBYSHEV[:0:-1]:
        last, before = c + 2.0 * t * last - before, last
    far = 1.0 - np.exp(-size * size) * (_ERF_CHEBYSHEV[0] + t * last - before)
    return np.copysign(np.where(size < 1.0, near, far), x)[()]


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


_ERF_SERIES = [(-1) ** k * 2 / (math.sqrt(math.pi) * math.factorial(k) * (2 * k + 1)) for k in range(19)]
_ERF_ONE, _ERF_FIRST, _ERF_LAST = 6.5, 1 / 1.5, 1 / 4.25
_ERF_CHEBYSHEV = (
    0.23620044491493206,
    0.16938077469474405,
    0.020465878481022593,
    0.0015137733662087666,
    2.8583850375151295e-05,
    -5.630015504717706e-06,
    -2.859695557856286e-07,
    3.5307916015650344e-08,
    1.859886929942831e-09,
    -3.313677184633144e-10,
    -6.196282510625829e-12,
    3.490909541255941e-12,
    -1.1731437561083326e-13,
    -3.122050859488293e-14,
    3.5086606580107243e-15,
    1.0878681405627164e-16,
    -5.327365283850138e-17,
    3.3862672198329618e-18,
)


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


def polygamma(n: int, x: float) -> float:
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
        return sign * polygamma(n, 1 - x) - math.pi ** (n + 1) * _cotangent_derivative(n, math.pi * x)
    total = 0.0
    factorial = math.factorial(n)
    scale = -1.0 if n % 2 == 0 else 1.0  # (-1)**(n + 1)
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
