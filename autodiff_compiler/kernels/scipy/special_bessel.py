"""The derivatives of Bessel functions by their order, for real order and positive argument.

Each is a kernel ``kernel(n, v, x)``, the derivative of order `n` by `v`. They integrate Schläfli's integrals by Gauss's
rule. Where the integrals cancel, because the function is much smaller than they are, the power series is used.
Reference: DLMF, 10.9 and 10.32.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from ..dispatch import dispatched
from .special_quadrature import in_blocks, panels

_LARGEST = 2000  # of the order and the argument: beyond, the integrals take too many points


@dispatched
def jv_order(n: int, v: Any, x: Any) -> Any:
    """The derivative of order `n` of ``special.jv(v, x)`` by `v`, elementwise, for ``x > 0``; else nan."""
    return _by_order(n, v, x, _j_integral, -1.0)


@dispatched
def yv_order(n: int, v: Any, x: Any) -> Any:
    """The derivative of order `n` of ``special.yv(v, x)`` by `v`, elementwise, for ``x > 0``; else nan."""
    return _by_order(n, v, x, _y_integral, 0.0)


@dispatched
def iv_order(n: int, v: Any, x: Any) -> Any:
    """The derivative of order `n` of ``special.iv(v, x)`` by `v`, elementwise, for ``x > 0``; else nan."""
    return _by_order(n, v, x, _i_integral, 1.0)


@dispatched
def kv_order(n: int, v: Any, x: Any) -> Any:
    """The derivative of order `n` of ``special.kv(v, x)`` by `v`, elementwise, for ``x > 0``; else nan."""
    return _by_order(n, v, x, _k_integral, 0.0)


def _by_order(n: int, v: Any, x: Any, integral: Any, sign: float) -> Any:
    """By the integral, or where the series (if `sign` is that of its terms) is better, by the series."""
    size = np.asarray(np.abs(v) + np.abs(x), np.float64)
    good = (size <= _LARGEST) & np.greater(x, 0)
    least = np.min(np.where(good, x, 1.0), initial=1.0)
    # Enough for the oscillations, and for the length of the infinite integrals, which end where x * exp(t) is large.
    count = 4 + int(np.max(np.where(good, size, 0.0), initial=0.0) / 12) + int(-math.log(least) / 1.5)

    def found(v: Any, x: Any) -> Any:
        inside = (x > 0) & (np.abs(v) + x <= _LARGEST)
        order, point = np.where(inside, v, 1.0), np.where(inside, x, 1.0)
        out = integral(n, order, point, count)
        if sign:
            # The terms of the series of J grow to exp(x**2 / (4 v)) times its sum. Those of I have one sign, and its
            # integral cancels as far as exp(-v**2 / (2 x)) is small.
            small = (point * point < 40 * (order + 1)) & (point < 60)
            better = (order >= 0) & (small if sign < 0 else small | (order * order > 4 * point))
            if better.any():
                out = np.where(
                    better, _series(n, np.where(better, order, 1.0), np.where(better, point, 1.0), sign), out
                )
        return np.where(inside, out, np.nan)

    return in_blocks(found, 20 * count, v, x)


def _turned(n: int, angle: Any) -> tuple[Any, Any]:
    """The cosine and the sine, differentiated `n` times by their angle."""
    c, s = np.cos(angle), np.sin(angle)
    return ((c, s), (-s, c), (-c, -s), (s, -c))[n % 4]


def _reach(v: Any, x: Any, n: int, grows: Any) -> Any:
    """Where ``grows(t) - abs(v) * t`` has passed 40 plus what the integrand is at most, for the upper bound of an
    integral of its exponential: by bisection."""
    low, high = np.zeros_like(x), np.full_like(x, 800.0)
    t = np.linspace(0, 1, 200) * np.log1p(np.abs(v) / x + 1)[:, None]
    least = np.min(grows(t, x[:, None]) - np.abs(v)[:, None] * t, axis=1)
    for _ in range(60):
        middle = 0.5 * (low + high)
        past = grows(middle, x) - np.abs(v) * middle - least > 42 + 4 * n
        # beyond the minimum, which is where the slope x * grows' is abs(v)
        past &= middle > np.log(np.abs(v) / x + 1)
        low, high = np.where(past, low, middle), np.where(past, middle, high)
    return high


def _sinh(t: Any, x: Any) -> Any:
    return x * np.sinh(t)


def _cosh(t: Any, x: Any) -> Any:
    return x * np.cosh(t)


def _binomial_turn(n: int, v: Any, inner: Any, sine: bool) -> Any:
    """The derivative of order `n` of ``trig(v * pi) * f(v)``, where ``inner[k]`` is that of order `k` of `f`."""
    total = 0.0
    for k in range(n + 1):
        c, s = _turned(k, np.pi * np.remainder(v, 2.0))
        total = total + math.comb(n, k) * np.pi**k * (s if sine else c) * inner[n - k]
    return total


def _j_integral(n: int, v: Any, x: Any, count: int) -> Any:
    t, w = panels(np.zeros_like(x), np.full_like(x, np.pi), count)
    order, point = v[:, None], x[:, None]
    c, _ = _turned(n, order * t - point * np.sin(t))
    first = np.sum(w * t**n * c, axis=1) / np.pi
    t, w = panels(np.zeros_like(x), _reach(v, x, n, _sinh), count)
    body = w * np.exp(-point * np.sinh(t) - order * t)
    inner = [np.sum(body * (-t) ** k, axis=1) for k in range(n + 1)]
    return first - _binomial_turn(n, v, inner, True) / np.pi


def _y_integral(n: int, v: Any, x: Any, count: int) -> Any:
    t, w = panels(np.zeros_like(x), np.full_like(x, np.pi), count)
    order, point = v[:, None], x[:, None]
    _, s = _turned(n, order * t - point * np.sin(t))
    first = -np.sum(w * t**n * s, axis=1) / np.pi
    t, w = panels(np.zeros_like(x), _reach(v, x, n, _sinh), count)
    up = np.sum(w * np.exp(-point * np.sinh(t) + order * t) * t**n, axis=1)
    body = w * np.exp(-point * np.sinh(t) - order * t)
    inner = [np.sum(body * (-t) ** k, axis=1) for k in range(n + 1)]
    return first - (up + _binomial_turn(n, v, inner, False)) / np.pi


def _i_integral(n: int, v: Any, x: Any, count: int) -> Any:
    # exp(x cos t) is spent where x * t * t / 2 is 40
    t, w = panels(np.zeros_like(x), np.minimum(np.pi, 10 / np.sqrt(x)), count)
    order, point = v[:, None], x[:, None]
    c, _ = _turned(n, order * t)
    first = np.exp(x) * np.sum(w * np.exp(-2 * point * np.square(np.sin(0.5 * t))) * t**n * c, axis=1) / np.pi
    t, w = panels(np.zeros_like(x), _reach(v, x, n, _cosh), count)
    body = w * np.exp(-point * np.cosh(t) - order * t)
    inner = [np.sum(body * (-t) ** k, axis=1) for k in range(n + 1)]
    return first - _binomial_turn(n, v, inner, True) / np.pi


def _k_integral(n: int, v: Any, x: Any, count: int) -> Any:
    t, w = panels(np.zeros_like(x), _reach(v, x, n, _cosh), count)
    up, down = (np.exp(-x[:, None] * np.cosh(t) + sign * v[:, None] * t) for sign in (1, -1))
    return 0.5 * np.sum(w * t**n * (up + (-1) ** n * down), axis=1)


def _series(n: int, v: Any, x: Any, sign: float) -> Any:
    """The sum of ``sign**k * (x / 2) ** (2k + v) / (k! * gamma(k + v + 1))``, differentiated term by term: a term is
    an exponential of `v`, whose derivatives follow from those of its logarithm."""
    log = np.log(0.5 * x)
    total, k = np.zeros_like(x), 0
    size = np.exp(v * log - special.gammaln(v + 1))
    slopes = [log - special.digamma(v + 1)] + [-special.polygamma(j, v + 1) for j in range(1, n)]
    while k < 2 * _LARGEST:
        derivatives = [np.ones_like(x)]
        for order in range(n):  # the derivative of exp(f) of order m + 1, of f' times exp(f)
            derivatives.append(sum(math.comb(order, j) * slopes[j] * derivatives[order - j] for j in range(order + 1)))
        term = size * derivatives[n]
        total = total + term
        k += 1
        if np.all((np.abs(term) <= 1e-18 * np.abs(total)) & (k * (k + v) > 0.5 * x * x)):
            break
        size = size * sign * (0.25 * x * x) / (k * (k + v))
        slopes = [slope + (-1.0) ** (j + 1) * math.factorial(j) / (k + v) ** (j + 1) for j, slope in enumerate(slopes)]
    return total


@dispatched
def ive_derivative(n: int, v: Any, x: Any) -> Any:
    """The derivative of order `n` of ``special.ive(v, x)`` by `x`, elementwise; at ``x = 0`` the mean of both sides."""
    return in_blocks(lambda v, x: _ive(n, v, x), 1, v, x)


def _ive(n: int, v: Any, x: Any) -> Any:
    size = np.abs(x)
    out = _scaled(n, v, size, special.ive, 1.0)
    # I(v, -x) is (-1)**v I(v, x) for whole `v`, and not real for others
    parity = np.where(np.remainder(v + n, 2) == 0, 1.0, -1.0)
    out = np.where(x < 0, np.where(v == np.floor(v), parity * out, np.nan), out)
    if n == 1:
        out = np.where(x == 0, 0.5 * (special.ive(v - 1, x) + special.ive(v + 1, x)), out)
    return out


@dispatched
def kve_derivative(n: int, v: Any, x: Any) -> Any:
    """The derivative of order `n` of ``special.kve(v, x)`` by `x`, elementwise."""
    return in_blocks(lambda v, x: _scaled(n, v, x, special.kve, -1.0), 1, v, x)


def _scaled(n: int, v: Any, x: Any, ufunc: Any, sign: float) -> Any:
    """The derivative of ``exp(-x) I(v, x)`` or ``exp(x) K(v, x)``: a central difference of order 2n in `v`. For large
    `x` that cancels, and the asymptotic series is differentiated term by term.

    Reference: DLMF, 10.29 and 10.40.
    """
    near = sum((-1) ** k * math.comb(2 * n, k) * ufunc(v + (n - k), x) for k in range(2 * n + 1))
    near = near * (0.5 * sign) ** n
    far = x > 60 + 2 * v * v
    if not far.any():
        return near
    point, order = np.where(far, x, 100.0), np.where(far, v, 0.0)
    term, total = np.ones_like(point), np.zeros_like(point)
    for k in range(30):
        total = total + term * math.prod([k + 0.5 + j for j in range(n)])
        term = term * -sign * (4 * order * order - (2 * k + 1) ** 2) / (8 * (k + 1) * point)
    first = 1 / np.sqrt(2 * np.pi * point) if sign > 0 else np.sqrt(0.5 * np.pi / point)
    return np.where(far, first * (-1 / point) ** n * total, near)
