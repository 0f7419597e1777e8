"""Interpolation with splines, as `scipy.ndimage` computes it: values, slopes, and the transposed maps.

A B-spline of order `n` has ``n + 1`` pieces. Its derivative is the difference of two B-splines of one order less.

Reference: Unser, Splines: a perfect fit for signal and image processing (1999).
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy import ndimage


def b_spline(order: int, slope: int, t: Any) -> Any:
    """The derivative of order `slope` of the B-spline, at `t`."""
    if slope > order:
        return np.zeros_like(t)
    if slope:
        return b_spline(order - 1, slope - 1, t + 0.5) - b_spline(order - 1, slope - 1, t - 0.5)
    if order == 0:
        return ((t >= -0.5) & (t < 0.5)).astype(t.dtype)
    total = np.zeros_like(t)
    middle = (order + 1) / 2
    near = -np.abs(t)  # it is even, and fewest terms cancel at the left
    for k in range(order // 2 + 1):
        total += (-1) ** k * math.comb(order + 1, k) * np.maximum(near - k + middle, 0.0) ** order
    return total / math.factorial(order)


def placed(x: Any, n: int, mode: str) -> tuple[Any, Any, Any]:
    """Coordinates within an axis of length `n`, how they move with those given, and which are outside."""
    moves = np.ones_like(x)
    outside = np.zeros(np.shape(x), bool)
    if mode == "constant":
        outside = (x < 0) | (x > n - 1)
        return np.where(outside, 0.0, x), np.where(outside, 0.0, moves), outside
    if mode in ("mirror", "reflect", "grid-mirror"):
        start = 0.0 if mode == "mirror" else -0.5
        span = n - 1 if mode == "mirror" else n
        if n == 1:
            return np.zeros_like(x), np.zeros_like(x), outside
        turned = np.mod(x - start, 2 * span)
        # Where a mirrored axis ends, SciPy leaves what lies within a step, and mirrors the elements beside it.
        back = turned > span if mode != "mirror" else np.where(x < 0, turned > span, turned >= n)
        inside = (x >= start) & (x <= start + span)
        found = np.where(back, 2 * span - turned, turned) + start
        return np.where(inside, x, found), np.where(back & ~inside, -1.0, 1.0), outside
    if mode == "wrap":
        if n == 1:
            return np.zeros_like(x), np.zeros_like(x), outside
        inside = (x >= 0) & (x <= n - 1)
        found = np.mod(x, n - 1)
        found = np.where((x < 0) & (found == 0), n - 1, found)  # so does SciPy
        return np.where(inside, x, found), moves, outside
    if mode == "grid-wrap":
        return np.where((x >= 0) & (x <= n - 1), x, np.mod(x, n)), moves, outside
    return x, moves, outside  # nearest, grid-constant: the elements beside the axis are made up


def neighbour(i: Any, n: int, mode: str) -> tuple[Any, Any]:
    """The elements that the places `i` of an axis stand for, and which of them there are not."""
    missing = np.zeros(np.shape(i), bool)
    if mode == "grid-wrap":
        return np.mod(i, n), missing
    if mode == "grid-constant":
        missing = (i < 0) | (i >= n)
        return np.where(missing, 0, i), missing
    if mode == "nearest":
        return np.clip(i, 0, n - 1), missing
    if n == 1:
        return np.zeros_like(i), missing
    if mode in ("reflect", "grid-mirror"):
        turned = np.mod(i, 2 * n)
        return np.where(turned >= n, 2 * n - 1 - turned, turned), missing
    turned = np.mod(i, 2 * n - 2)
    return np.where(turned >= n, 2 * n - 2 - turned, turned), missing


def _pieces(coordinates: Any, shape: Any, order: int, mode: str, slopes: Any) -> tuple[list[Any], Any]:
    """For each axis the pairs of elements and weights that a value is made of, and where there is none."""
    axes = []
    outside: Any = False
    for x, n, slope in zip(coordinates, shape, slopes):
        x, moves, gone = placed(np.asarray(x, np.float64), n, mode)
        first = np.floor(x - (order - 1) / 2).astype(np.int64)
        outside = outside | gone
        pairs = []
        for k in range(order + 1):
            index, missing = neighbour(first + k, n, mode)
            weight = b_spline(order, slope, x - (first + k)) * moves**slope
            pairs.append((index, weight, missing))
        axes.append(pairs)
    return axes, outside


def spline_values(coefficients: Any, coordinates: Any, order: int, mode: str, cval: float, slopes: Any) -> Any:
    """``scipy.ndimage.map_coordinates(coefficients, coordinates, prefilter=False)``, differentiated along the axes as
    many times as `slopes` says."""
    coefficients, coordinates = np.asarray(coefficients), np.asarray(coordinates)
    axes, outside = _pieces(coordinates, coefficients.shape, order, mode, slopes)
    fill = 0.0 if any(slopes) else cval
    total = np.zeros(np.shape(coordinates)[1:], np.float64)
    for pieces in itertools.product(*axes):
        missing: Any = False
        weight: Any = 1.0
        for _, w, gone in pieces:
            weight, missing = weight * w, missing | gone
        found = coefficients[tuple([index for index, _, _ in pieces])]
        total += weight * np.where(missing, cval, found)
    return np.where(outside, fill, total).astype(coefficients.dtype)


def spline_back(g: Any, coordinates: Any, shape: Any, order: int, mode: str, slopes: Any) -> Any:
    """The transpose of `spline_values` in the coefficients, which have this shape."""
    g, coordinates = np.asarray(g), np.asarray(coordinates)
    axes, outside = _pieces(coordinates, shape, order, mode, slopes)
    out = np.zeros(shape, np.float64)
    kept = np.where(outside, 0.0, g)
    for pieces in itertools.product(*axes):
        weight: Any = kept
        for _, w, gone in pieces:
            weight = weight * np.where(gone, 0.0, w)
        np.add.at(out, tuple([index for index, _, _ in pieces]), weight)
    return out.astype(g.dtype)


def spline_filter1d_back(g: Any, order: int, axis: int, mode: str) -> Any:
    """The transpose of ``scipy.ndimage.spline_filter1d``. Where the border is mirrored at the first and the last
    element, these count half."""
    if order < 2:
        return np.array(g)
    halves = mode not in ("nearest", "reflect", "grid-mirror", "grid-wrap")
    g = np.moveaxis(np.array(g), axis, 0)
    n = len(g)
    if n <= 32:  # SciPy's border is not exact for few elements
        matrix = ndimage.spline_filter1d(np.eye(n), order, 0, mode=mode)
        return np.moveaxis(np.tensordot(matrix.T, g, 1).astype(g.dtype), 0, axis)
    if halves:
        g[:1] *= 2
        g[-1:] *= 2
    out = ndimage.spline_filter1d(g, order, 0, output=g.dtype, mode=mode)
    if halves:
        out[:1] *= 0.5
        out[-1:] *= 0.5
    return np.moveaxis(out, 0, axis)
