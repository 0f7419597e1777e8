"""The density of Student's distribution, and the derivatives of its distribution function by the degrees of freedom."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from ..dispatch import dispatched
from .special_error import digamma_step
from .special_incomplete import stirling
from .special_quadrature import half_line, in_blocks, panels


@dispatched
def student_density(v: Any, t: Any) -> Any:
    """The derivative of ``special.stdtr(v, t)`` by `t`, elementwise."""
    return in_blocks(lambda v, t: np.exp(_log_factor(v) - 0.5 * (v + 1) * np.log1p(t * t / v)), 1, v, t)


def _log_factor(v: Any) -> Any:
    """The logarithm of the density at 0. For large `v` by Stirling's formula, in which what is large has cancelled."""
    a = 0.5 * v
    large = np.where(a > 10, a, 20.0)
    rest = large * np.log1p(0.5 / large) - 0.5 + stirling(large + 0.5) - stirling(large)
    plain = special.gammaln(a + 0.5) - special.gammaln(a) - 0.5 * np.log(a)
    return np.where(a > 10, rest, plain) - 0.5 * math.log(2 * math.pi)


@dispatched
def stdtr_slope(n: int, v: Any, t: Any) -> Any:
    """The derivative of order `n`, 1 or 2, of ``special.stdtr(v, t)`` by `v`, elementwise.

    The integral of the density times its score from 0 to `t`, or, where the score has changed its sign before `t`,
    minus that beyond. With ``t = sqrt(v) * sinh(y)`` the density is a power of ``cosh(y)``.
    """
    far, weights = half_line()
    size = far.size + 600

    def integral(v: Any, t: Any) -> Any:
        inside = (v > 0) & np.isfinite(v) & np.isfinite(t)
        edge = np.where((v > 0) & np.isinf(t), 0.0, np.nan)
        v, t = np.where(inside, v, 1.0), np.where(inside, t, 1.0)
        end = np.arcsinh(np.abs(t) / np.sqrt(v))
        constants = _constants(n, v)
        weight = np.exp(_log_factor(v)) * np.sqrt(v)

        def integrand(y: Any) -> Any:
            square = np.square(np.sinh(np.minimum(y, 300.0)))
            log = np.log1p(square) + 2 * np.maximum(y - 300.0, 0.0)
            return np.exp(-0.5 * v[:, None] * log) * _score(n, v[:, None], square, log, constants)

        width = 1 / (v * np.tanh(end) + np.sqrt(v))
        beyond = -(integrand(end[:, None] + width[:, None] * far) @ weights) * width
        split = np.minimum(end, 20.0)
        y, w = panels(np.zeros_like(end), split, 20)
        before = np.sum(w * integrand(y), axis=1)
        y, w = panels(split, end, 10)
        before = before + np.sum(w * integrand(y), axis=1)
        if n == 1:
            square = np.square(t) / v
            near = _score(1, v, square, np.log1p(square), constants, flat=True) > 0
        else:
            near = np.abs(t) < 1
        return np.where(inside, np.sign(t) * weight * np.where(near, before, beyond), edge)

    return in_blocks(integral, size, v, t)


def _constants(n: int, v: Any) -> list[Any]:
    """What does not depend on `t` in the score, and in its derivative by `v`."""
    # digamma((v + 1) / 2) - digamma(v / 2) - 1 / v, for large v by its asymptotic series
    plain = digamma_step(0.5 * v, np.full_like(v, 0.5)) - 1 / v
    w = 4 / (v * v)
    series = 0.125 * w * (1 - w * (1 / 8 - w * (1 / 16 - w * 17 / 256)))
    found = [0.5 * np.where(v > 100, series, plain)]
    if n > 1:
        gap = 0.5 * (special.polygamma(1, 0.5 * (v + 1)) - special.polygamma(1, 0.5 * v))
        found.append(0.5 * (gap + 1 / (v * v)))
    return found


def _score(n: int, v: Any, square: Any, log: Any, constants: list[Any], flat: bool = False) -> Any:
    """The derivative of the logarithm of the density by `v`, or (`n` is 2) its square and its derivative added.

    `square` is ``t**2 / v``, and `log` is the logarithm of 1 more.
    """
    part = square / (1 + square)
    small = np.minimum(square, 0.05)
    rest = np.zeros_like(small)  # part - log, where they are almost equal
    for k in range(14, 1, -1):
        rest = (k - 1) / k * (-1.0) ** (k + 1) + small * rest
    rest = np.where(square < 0.05, small * small * rest, part - log)
    first, *second = [c if flat else c[:, None] for c in constants]
    score = first + 0.5 * (part / v + rest)
    if n == 1:
        return score
    bend = second[0] + 0.5 * (part - part / v - (1 + 1 / v) * part * (1 - part)) / v
    return score * score + bend
