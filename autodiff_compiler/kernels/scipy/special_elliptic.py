"""Elliptic integrals and all their derivatives, by quadrature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dispatch import dispatched
from .special_quadrature import half_line, in_blocks


@dispatched
def carlson(powers: tuple[float, ...], x: Any, y: Any, z: Any, p: Any) -> Any:
    """The integral of ``(t + x) ** -a * (t + y) ** -b * (t + z) ** -c * (t + p) ** -d`` over ``t`` from 0 to infinity,
    elementwise, for real arguments that are not negative.

    The relative error is some 1e-13 for arguments within twelve orders of magnitude of each other.
    Reference: DLMF, 19.16.
    """
    t, weights = half_line()
    used = [k for k, a in enumerate(powers) if a]
    degree = sum(powers) - 1

    def integral(*points: Any) -> Any:
        chosen = [points[k] for k in used]
        scale = np.max(chosen, axis=0)
        product = np.ones((len(scale), t.size))
        for k, point in zip(used, chosen):
            product = product * (t + (point / scale)[:, None]) ** -powers[k]
        found = product @ weights * scale**-degree
        lost = sum(np.where(point == 0, powers[k], 0.0) for k, point in zip(used, chosen))
        found = np.where(lost >= 1, np.inf, found)  # not integrable at 0
        return np.where(np.min(chosen, axis=0) < 0, np.nan, found)

    return in_blocks(integral, t.size, x, y, z, p)


@dispatched
def first_by_parameter(n: int, phi: Any, m: Any) -> Any:
    """The derivative of order `n` of ``special.ellipkinc(phi, m)`` by `m`, for real arguments, elementwise."""
    return _incomplete(n, phi, m, (0.5, 0.5, n + 0.5), 0.5 * _rising(n), 2 * n + 1)


@dispatched
def second_by_parameter(n: int, phi: Any, m: Any) -> Any:
    """The derivative of order `n` of ``special.ellipeinc(phi, m)`` by `m`, for real arguments, elementwise."""
    # The first is -1/2 of the integral of sin**2 / sqrt(1 - m sin**2).
    return _incomplete(n, phi, m, (0.5, 1.5, n - 0.5), -0.25 * _rising(n - 1), 2 * n + 1)


def _rising(n: int) -> float:
    """The product of 1/2, 3/2 ... with `n` factors."""
    return math.prod([k + 0.5 for k in range(n)])


def _incomplete(n: int, phi: Any, m: Any, powers: tuple[float, float, float], factor: float, odd: int) -> Any:
    """An odd power of the sine times an integral of Carlson's, for an angle in the first period; for others, the
    complete integrals that lie between are added."""
    t, weights = half_line()

    def integral(phi: Any, m: Any) -> Any:
        turns = np.round(phi / np.pi)
        rest = phi - np.pi * turns
        sine, cosine = np.sin(rest), np.cos(rest)
        found = sine**odd * _legendre(t, weights, powers, cosine * cosine, 1 - m * sine * sine)
        if np.any(turns):
            found = found + 2 * turns * _legendre(t, weights, powers, np.zeros_like(m), 1 - m)
        return factor * found

    return in_blocks(integral, t.size, phi, m)


def _legendre(t: Any, weights: Any, powers: tuple[float, float, float], x: Any, y: Any) -> Any:
    a, b, c = powers
    out = ((t + x[:, None]) ** -a * (t + 1) ** -b * (t + y[:, None]) ** -c) @ weights
    # divergent at the lower end, where (t + y) ** -c is not integrable there, or both are not together
    out = np.where((y == 0) & ((c >= 1) | (x == 0) & (a + c >= 1)), np.inf, out)
    return np.where(y < 0, np.nan, out)
