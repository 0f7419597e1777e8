"""The gamma function, its derivatives, and Bessel functions, which NumPy lacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .dispatch import dispatched


@dispatched
def lgamma(x: Any) -> Any:
    """``log(abs(gamma(x)))``, for real `x`, elementwise; infinite at the poles of gamma."""
    x = floating(x)
    return np.asarray(_each_lgamma(x), np.float64).astype(x.dtype)[()]


def _lgamma(x: float) -> float:
    if -math.inf < x <= 0 and x == math.floor(x):
        return math.inf
    if not 0.5 < x < 2.5:
        return math.lgamma(x)
    # Near its zeros at 1 and 2: Abramowitz and Stegun, 6.1.33.
    z = x - 1 if x < 1.5 else x - 2
    total = 0.0
    for c in _ZETAS:
        total = c - z * total
    return z * (1 - _EULER + z * total) - (math.log1p(z) if x < 1.5 else 0.0)


_EULER = 0.5772156649015329
# (zeta(k) - 1) / k from k = 30 down to 2.
_ZETAS = (
    3.1044247747322276e-11, 6.4229645638381e-11, 1.330476437424449e-10, 2.7595228851242334e-10,
    5.731367241678862e-10, 1.1921401405860912e-09, 2.4836745438024785e-09, 5.183475041970047e-09,
    1.0838659214896955e-08, 2.2711094608943164e-08, 4.7698101693639804e-08, 1.0043224823968099e-07,
    2.1207184805554665e-07, 4.492469198764566e-07, 9.55141213040742e-07, 2.039215753801366e-06,
    4.374866789907488e-06, 9.439488275268397e-06, 2.050721277567069e-05, 4.492623673813314e-05,
    9.945751278180853e-05, 0.00022315475845357939, 0.0005096695247430425, 0.001192753911703261,
    0.0028905103307415234, 0.007385551028673986, 0.020580808427784546, 0.0673523010531981, 0.3224670334241132,
)  # fmt: skip
_each_lgamma = np.frompyfunc(_lgamma, 1, 1)


@dispatched
def rsqrt(x: Any) -> Any:
    """``1 / sqrt(x)``, for real `x`, elementwise."""
    return (1 / np.sqrt(floating(x)))[()]


def floating(x: Any) -> Any:
    """`x` in the real floating dtype that NumPy's functions choose. Raises TypeError for complex numbers."""
    x = np.asarray(x)
    if x.dtype.kind == "f":
        return x
    if x.dtype.kind == "c":
        raise TypeError("this function takes real numbers, and its argument is complex")
    return x.astype(np.result_type(x.dtype, np.float16) if x.dtype.kind in "biu" else np.float64)


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
    if n:  # where the result is small, use the series
        half = 0.5 * np.minimum(size[..., 0], 1.0)
        series = np.ones_like(half)
        for k in range(12, 0, -1):
            series = 1.0 + half * half / (k * (n + k)) * series
        found = np.where(size[..., 0] < 1.0, half**n / math.factorial(n) * series, found)
    out = np.where((x < 0) & (n % 2 == 1), -found, found)
    return out.astype(x.dtype if x.dtype.kind == "f" else np.float64)[()]


@dispatched
def sinc_slope(n: int, x: Any) -> Any:
    """The derivative of order `n` of ``np.sinc``, for real `x`, elementwise.

    From ``x * sinc(x) = sin(pi * x) / pi``, that of order `n` times `x`, plus `n` times the one before, is a sine.
    Where ``abs(pi * x)`` is below 3, a series is summed: ``sinc`` is the sum of
    ``(-1)**k * (pi * x)**(2 * k) / (2 * k + 1)!``.
    """
    x = floating(x)
    t = np.pi * x
    near = np.abs(t) < 3
    away = np.where(near, 3.0, t)
    found = np.sin(away) / away
    for k in range(1, n + 1):
        found = (np.sin(away + k * np.pi / 2) - k * found) / away
    inside = np.where(near, t, 0.0)
    first = (n + 1) // 2
    sign = -1.0 if first % 2 else 1.0
    # Factors are collected from the term of the lowest power on: its coefficient is that of order n.
    term = sign / (2 * first + 1) * (inside if n % 2 else np.ones_like(inside))
    series = term
    for k in range(first + 1, first + 24):
        m = 2 * k - n
        term = term * (-(inside * inside) * (2 * k - 1) / ((2 * k + 1) * (m - 1) * m))
        series = series + term
    return (np.pi**n * np.where(near, series, found)).astype(x.dtype)[()]


@dispatched
def polygamma(n: int, x: Any) -> Any:
    """The derivative of order ``n + 1`` of ``log(gamma(x))``, for real `x`, elementwise."""
    if type(x) is float:
        return _polygamma(n, x)
    x = floating(x)
    return np.asarray(np.frompyfunc(lambda v: _polygamma(n, v), 1, 1)(x), np.float64).astype(x.dtype)[()]


def _polygamma(n: int, x: float) -> float:
    """The derivative of order ``n + 1`` of ``log(gamma(x))``, for a number.

    Upward recurrence to where the asymptotic series holds. For negative numbers reflection, with the derivative of
    ``pi cot(pi x)``. Reference: Abramowitz and Stegun, 6.3 and 6.4.
    """
    x = float(x)
    if math.isnan(x) or x == math.inf:
        return math.nan if math.isnan(x) else math.inf if n == 0 else 0.0
    if x <= 0 and x == math.floor(x):
        return math.nan
    if x < 0:
        sign = 1.0 if n % 2 == 0 else -1.0
        past = x - round(x)  # exact; the trigonometric cotangent has period pi
        return sign * _polygamma(n, 1 - x) - math.pi ** (n + 1) * _cotangent_derivative(n, math.pi * past)
    total = 0.0
    factorial = math.factorial(n)
    scale = -1.0 if n % 2 == 0 else 1.0  # (-1)**(n + 1)
    if x > 1e8:  # the further terms are below rounding, and powers of x might overflow
        return math.log(x) - 0.5 / x if n == 0 else scale * math.factorial(n - 1) * x**-n * (1 + 0.5 * n / x)
    if x ** (n + 1) < 1e-300:
        return scale * math.inf if n else -1 / x
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
    """The derivative of order `n` of ``cot``. It is a polynomial in cot, since ``cot' = -(1 + cot**2)``."""
    powers = [0.0, 1.0]  # the coefficients of the polynomial
    for _ in range(n):
        slope = [k * c for k, c in enumerate(powers)][1:]
        powers = [0.0] * (len(slope) + 2)
        for k, c in enumerate(slope):
            powers[k] -= c
            powers[k + 2] -= c
    cot = 1 / math.tan(t)
    return sum(c * cot**k for k, c in enumerate(powers))
