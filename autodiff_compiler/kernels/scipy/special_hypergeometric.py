"""The derivatives of the hypergeometric functions by their parameters, for real arguments.

The power series is differentiated term by term. Where its terms cancel, so that fewer than nine digits are left, the
result is nan.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ..dispatch import dispatched
from .special_quadrature import half_line, in_blocks

_TERMS = 5000
_NEAR_ONE = 0.99  # the series of hyp2f1 has some 4000 terms there


@dispatched
def hyp0f1_slope(v: Any, z: Any) -> Any:
    """The derivative of ``special.hyp0f1(v, z)`` by `v`, elementwise."""
    return in_blocks(lambda v, z: _series((), (v,), z, 0, 1.0), 1, v, z)


@dispatched
def hyp1f1_slope(k: int, a: Any, b: Any, z: Any) -> Any:
    """The derivative of ``special.hyp1f1(a, b, z)`` by `a` (`k` is 0) or `b`, elementwise, for ``abs(z) < 600``."""

    def slope(a: Any, b: Any, z: Any) -> Any:
        # Kummer's transformation for z < 0: exp(z) times the function of b - a, b, -z
        left = z < 0
        first, scale = np.where(left, b - a, a), np.where(left, np.exp(z), 1.0)
        by_first = _series((first,), (b,), np.abs(z), 0, scale)
        if k == 0:
            found = np.where(left, -by_first, by_first)
        else:
            found = _series((first,), (b,), np.abs(z), 1, scale) + np.where(left, by_first, 0.0)
        return np.where(np.abs(z) < 600, found, np.nan)

    return in_blocks(slope, 1, a, b, z)


@dispatched
def hyp2f1_slope(k: int, a: Any, b: Any, c: Any, z: Any) -> Any:
    """The derivative of ``special.hyp2f1(a, b, c, z)`` by `a` (`k` is 0), `b` or `c`, elementwise, for
    ``-99 <= z <= 0.99``."""

    def slope(a: Any, b: Any, c: Any, z: Any) -> Any:
        # Pfaff's transformation for z < 0: (1 - z) ** -a times the function of a, c - b, c, z / (z - 1)
        left = z < 0
        point = np.where(left, z / (z - 1), z)
        inside = (point >= 0) & (point <= _NEAR_ONE)
        point = np.where(inside, point, 0.0)
        second, log = np.where(left, c - b, b), np.where(left, np.log1p(-z), 0.0)
        scale = np.exp(-a * log)

        def by(index: int) -> Any:
            return _series((a, second), (c,), point, index, scale)

        if k == 0:
            found = by(0)
            found = np.where(left, found - log * special.hyp2f1(a, b, c, z), found)
        elif k == 1:
            found = np.where(left, -1, 1) * by(1)
        else:
            found = by(2)
            if left.any():
                found = np.where(left, found + by(1), found)
        return np.where(inside, found, np.nan)

    return in_blocks(slope, 1, a, b, c, z)


def _series(above: tuple[Any, ...], below: tuple[Any, ...], z: Any, index: int, first: Any) -> Any:
    """``first`` times the derivative of a hypergeometric series by a parameter: those above, then those below."""
    term, slope = np.ones_like(z) * first, np.zeros_like(z)
    total, largest = np.zeros_like(z), np.zeros_like(z)
    for k in range(_TERMS):
        factor, change = z / (k + 1), z / (k + 1)
        for j, a in enumerate(above):
            factor = factor * (a + k)
            change = change * (1.0 if j == index else a + k)
        for j, b in enumerate(below, len(above)):
            factor = factor / (b + k)
            change = change * (-1 / np.square(b + k) if j == index else 1 / (b + k))
        slope = slope * factor + term * change
        term = term * factor
        total = total + slope
        size = np.abs(slope)
        largest = np.maximum(largest, size)
        falls = np.abs(factor) < 1
        if np.all(
            (size <= 1e-17 * np.abs(total)) & (np.abs(term) <= 1e-17 * np.abs(first)) & falls | ~np.isfinite(size)
        ):
            break
        if k > 20 and np.all((size <= 1e-17 * np.abs(total)) & falls & (k * (1 - np.abs(factor)) > 40)):
            break
    lost = (largest * 1e-16 > 1e-9 * np.abs(total)) | (np.abs(slope) > 1e-10 * np.abs(total))
    return np.where(lost & (largest > 0), np.nan, total)


@dispatched
def hyperu_slope(k: int, a: Any, b: Any, x: Any) -> Any:
    """The derivative of ``special.hyperu(a, b, x)`` by `a` (`k` is 0) or `b`, elementwise, for ``x > 0`` and
    ``-20 < a``, `a` and `b` below 1000. By quadrature for ``a >= 2``, and from there by the recurrence in `a`.

    Reference: DLMF, 13.3.7 and 13.4.4.
    """
    t, weights = half_line(0.012)

    def jet(a: Any, b: Any, x: Any) -> tuple[Any, Any, Any]:
        """The function, and its derivatives by `a` and `b`."""
        # where the integrand is largest, x * t * t + (x - b + 2) * t = a - 1
        half, rest = 0.5 * (b - 2 - x), x * (a - 1)
        size = np.sqrt(half * half + rest)
        width = np.where(half > 0, (half + size) / x, (a - 1) / (size + np.abs(half)))[:, None]
        point = width * t
        log, log1p = np.log(point), np.log1p(point)
        exponent = -x[:, None] * point + (a - 1)[:, None] * log + (b - a - 1)[:, None] * log1p
        body = np.exp(exponent - special.gammaln(a)[:, None]) * weights * width
        by_a = body * (log - log1p - special.digamma(a)[:, None])
        return body.sum(axis=1), by_a.sum(axis=1), (body * log1p).sum(axis=1)

    def slope(a: Any, b: Any, x: Any) -> Any:
        inside = (a > -20) & (x > 0) & (np.abs(a) + np.abs(b) < 1000)
        a, b, x = np.where(inside, a, 2.0), np.where(inside, b, 1.0), np.where(inside, x, 1.0)
        steps = np.maximum(np.ceil(2 - a), 0)
        now, after = jet(a + steps, b, x), jet(a + steps + 1, b, x)
        for left in range(int(steps.max(initial=0)), 0, -1):
            p = a + left  # U(p - 1) = (x + 2p - b) U(p) - p (p + 1 - b) U(p + 1)
            m, q = x + 2 * p - b, p * (p + 1 - b)
            before = (
                m * now[0] - q * after[0],
                m * now[1] - q * after[1] + 2 * now[0] - (2 * p + 1 - b) * after[0],
                m * now[2] - q * after[2] - now[0] + p * after[0],
            )
            down = steps >= left
            after = tuple(np.where(down, u, v) for u, v in zip(now, after))
            now = tuple(np.where(down, u, v) for u, v in zip(before, now))
        return np.where(inside, now[1 + k], np.nan)

    return in_blocks(slope, t.size, a, b, x)
