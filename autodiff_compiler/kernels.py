"""Array functions that derivative rules need and NumPy lacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def linear_scan(g: Any, x: Any, axis: int) -> Any:
    """``s[i] = g[i] + x[i] * s[i - 1]`` along an axis, with ``s[-1] = 0``.

    Shapes: `g` and `x` are equal; so is the result. Reference: Blelloch, Prefix sums and their applications (1990).
    """
    g, x = np.asarray(g), np.asarray(x)
    out = np.empty(g.shape, np.result_type(g, x))
    moved, gs, xs = np.moveaxis(out, axis, 0), np.moveaxis(g, axis, 0), np.moveaxis(x, axis, 0)
    for i in range(len(moved)):
        moved[i] = gs[i] if i == 0 else gs[i] + xs[i] * moved[i - 1]
    return out


def flip_scan(g: Any, x: Any, axis: int) -> Any:
    """``s[i] = g[i] + x[i + 1] * s[i + 1]`` along an axis: the transpose of `linear_scan` in `g`."""
    g, x = np.asarray(g), np.asarray(x)
    out = np.empty(g.shape, np.result_type(g, x))
    moved, gs, xs = np.moveaxis(out, axis, 0), np.moveaxis(g, axis, 0), np.moveaxis(x, axis, 0)
    last = len(moved) - 1
    for i in range(last, -1, -1):
        moved[i] = gs[i] if i == last else gs[i] + xs[i + 1] * moved[i + 1]
    return out


def shift(x: Any, axis: int, fill: float, step: int = 1) -> Any:
    """`x` moved by one place along an axis, forwards (``step=1``) or backwards (``-1``); `fill` at the free end."""
    x = np.asarray(x)
    out = np.empty_like(x)
    to, source = np.moveaxis(out, axis, 0), np.moveaxis(x, axis, 0)
    if step == 1:
        to[1:], to[:1] = source[:-1], fill
    else:
        to[:-1], to[-1:] = source[1:], fill
    return out


def embed(x: Any, axis: int, start: int, length: int) -> Any:
    """Zeros of this length along an axis, with `x` from `start` on; what does not fit in is cut off."""
    x = np.atleast_1d(x)
    shape = list(x.shape)
    shape[axis] = length
    out = np.zeros(shape, x.dtype)
    n = max(min(x.shape[axis], length - start), 0)
    np.moveaxis(out, axis, 0)[start : start + n] = np.moveaxis(x, axis, 0)[:n]
    return out


def overlap(g: Any, other: Any, start: int, length: int) -> Any:
    """The cotangent of an operand of a convolution: `g` lies at `start` in the full one, `length` is the operand's."""
    g, other = np.asarray(g), np.asarray(other)
    full = embed(g, 0, start, length + len(other) - 1)
    return np.convolve(full, other[::-1], "valid")


def split_like(g: Any, arrays: Any, axis: int) -> list[Any]:
    """The parts of `g` that lie where each of the arrays does in their concatenation along an axis."""
    ends = np.cumsum([np.shape(a)[axis] for a in arrays])
    return [np.array(part) for part in np.split(g, ends[:-1], axis)] if len(arrays) else []


def if_square(g: Any, rows: int, columns: int) -> Any:
    """`g`, if the matrix that it belongs to is square."""
    if rows != columns:
        raise NotImplementedError(
            "np.linalg.svd with full_matrices=True has no derivative for a matrix that is not square: some of its "
            "vectors are not determined. Instead: call it with full_matrices=False"
        )
    return g


# --- special functions ------------------------------------------------------------------------------------------------


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
