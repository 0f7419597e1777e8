"""Interpolation between scattered points: `griddata`, `LinearNDInterpolator`, `NearestNDInterpolator`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from ....kernels.scipy import interpolate as kernels
from ...definitions import defines, refuse
from .changed import require_same
from .piecewise import packed


def as_points(x: Any) -> Any:
    """Points as rows; coordinates may come as a tuple of arrays."""
    if isinstance(x, tuple):
        parts = [np.asarray(p) for p in x]
        common: Any = 0.0
        for p in parts:
            common = common + np.zeros_like(p)
        return np.stack([p + common for p in parts], axis=-1)
    return np.asarray(x)


def linear(points: Any, values: Any, targets: Any, fill_value: Any) -> Any:
    """Linear in each simplex of the triangulation."""
    corners = kernels.simplices(points, targets)
    outside = corners[..., 0] < 0
    origin = points[corners[..., -1]]
    edges = points[corners[..., :-1]] - origin[..., None, :]
    # Outside there is no simplex; any matrix that can be inverted will do.
    eye = np.eye(points.shape[1])
    edges = np.where(outside[..., None, None], eye, edges)
    weights = np.linalg.solve(np.swapaxes(edges, -1, -2), (targets - origin)[..., None])[..., 0]
    last = 1 - np.sum(weights, axis=-1)
    if np.ndim(values) == 1:
        made = np.sum(weights * values[corners[..., :-1]], axis=-1) + last * values[corners[..., -1]]
        return np.where(outside, fill_value, made)
    made = np.sum(weights[..., None] * values[corners[..., :-1]], axis=-2)
    made = made + last[..., None] * values[corners[..., -1]]
    return np.where(outside[..., None], fill_value, made)


def checked(points: Any, values: Any) -> Any:
    points, values = packed(as_points(points)), np.asarray(values)
    if np.ndim(points) != 2:
        refuse("interpolation between points on a line", "use interp1d")
    if np.ndim(values) > 2:
        refuse("interpolation of values with more than two axes", "reshape them to two")
    if np.issubdtype(values.dtype, np.complexfloating):
        refuse("interpolation of complex values", "interpolate the real and the imaginary part")
    if points.shape[0] != values.shape[0]:
        raise ValueError("different number of values and points")
    return points, values


@defines(interpolate.griddata)
def griddata(
    points: Any, values: Any, xi: Any, method: Any = "linear", fill_value: Any = np.nan, rescale: Any = False
) -> Any:
    if rescale or method not in ("linear", "nearest"):
        refuse("griddata with this method or rescale", 'use "linear" or "nearest"')
    points, values = checked(points, values)
    targets = as_points(xi) * 1.0
    if np.ndim(targets) < 2:
        refuse("griddata at one point", "pass a matrix with one row")
    if method == "nearest":
        return values[kernels.nearest(points, targets)]
    return linear(points, values.astype(np.float64), targets, fill_value)


class Scattered:
    """What `LinearNDInterpolator` is."""

    def __init__(self, points: Any, values: Any, fill_value: Any) -> None:
        self.points = points
        self.places = points.copy()
        self.values = values
        self.fill_value = fill_value

    def __call__(self, *args: Any) -> Any:
        targets = as_points(args if len(args) > 1 else args[0]) * 1.0
        if np.ndim(targets) < 2:
            refuse("a LinearNDInterpolator at one point", "pass a matrix with one row")
        require_same(
            self.points,
            self.places,
            "the points of a LinearNDInterpolator have changed since it was made: make it anew",
        )
        return linear(self.points, self.values, targets, self.fill_value)


@defines(interpolate.LinearNDInterpolator)
def linear_nd_interpolator(points: Any, values: Any, fill_value: Any = np.nan, rescale: Any = False) -> Any:
    if rescale:
        refuse("a LinearNDInterpolator with rescale", "scale the points before")
    points, values = checked(points, values)
    return Scattered(points, packed(values), fill_value)
