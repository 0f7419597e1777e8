"""`scipy.interpolate`: interpolation of values in one and more dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from ....kernels.scipy.installed import found
from ...definitions import defines, refuse
from . import scattered as scattered
from .piecewise import method_of, packed, static, turned_back
from .splines import Spline, bspline, through

ORDERS = ("zero", "slinear", "quadratic", "cubic")
NEIGHBOURS = ("nearest", "nearest-up", "previous", "next")
# From SciPy 1.18 on, a line through two points is their weighted mean. It is infinite where one of them is.
_LINE = interpolate.interp1d([0.0, 1.0], [np.inf, 0.0], fill_value="extrapolate")
WEIGHTED = bool(np.isinf(found(_LINE, 0.5)))


def widened(values: Any, extra: Any) -> Any:
    """With so many more axes behind."""
    return values if extra == 0 else np.reshape(values, (*values.shape, *(1,) * extra))


class Interpolator:
    """What `interp1d` is. `y` has the interpolated axis first."""

    def __init__(
        self, x: Any, y: Any, kind: Any, spline: Any, bounds_error: Any, below: Any, above: Any, extrapolate: Any,
        axis: Any,
    ) -> None:  # fmt: skip
        self.x = x
        self.values = y
        self.kind = kind
        self.spline = spline
        self.bounds_error = bounds_error
        self.below = below
        self.above = above
        self.extrapolate = extrapolate
        self.axis = axis

    def __call__(self, x: Any) -> Any:
        points = np.asarray(x)
        if np.issubdtype(points.dtype, np.integer):
            points = points.astype(np.float64)
        made = self.inner(points)
        if not self.extrapolate:
            low, high = points < self.x[0], points > self.x[-1]
            if self.bounds_error:
                if np.any(low):
                    raise ValueError("A value in x_new is below the interpolation range.")
                if np.any(high):
                    raise ValueError("A value in x_new is above the interpolation range.")
            else:
                extra = np.ndim(self.values) - 1
                low, high = widened(low, extra), widened(high, extra)
                made = np.where(low, self.below, np.where(high, self.above, made)).astype(made.dtype)
        return turned_back(np.asarray(made), self.axis, np.ndim(points))

    def inner(self, points: Any) -> Any:
        x, y, n = self.x, self.values, len(self.x)
        if self.kind == "spline":
            return self.spline(points)
        if self.kind == "nearest" or self.kind == "nearest-up":
            halves = x / 2.0
            side: Any = "left" if self.kind == "nearest" else "right"
            return y[np.clip(np.searchsorted(halves[1:] + halves[:-1], points, side=side), 0, n - 1)]
        if self.kind == "previous":
            k = np.searchsorted(np.nextafter(x, -np.inf), points, side="left")
            return y[np.clip(k, 1, n) - 1]
        if self.kind == "next":
            k = np.searchsorted(np.nextafter(x, np.inf), points, side="right")
            return y[np.clip(k, 0, n - 1)]
        if np.ndim(y) == 1 and not self.extrapolate and y.dtype == np.float64 and x.dtype in (np.float64, int):
            return np.interp(points, x, y)
        k = np.clip(np.searchsorted(x, points), 1, n - 1)
        extra = np.ndim(y) - 1
        low, high = x[k - 1], x[k]
        if WEIGHTED:
            right, left = (points - low) / (high - low), (high - points) / (high - low)
            return widened(right, extra) * y[k] + widened(left, extra) * y[k - 1]
        return (y[k] - y[k - 1]) / widened(high - low, extra) * widened(points - low, extra) + y[k - 1]

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of an interpolator", "use its values")


@defines(interpolate.interp1d)
def interp1d(
    x: Any, y: Any, kind: Any = "linear", axis: Any = -1, copy: Any = True, bounds_error: Any = None,
    fill_value: Any = np.nan, assume_sorted: Any = False,
) -> Any:  # fmt: skip
    x, y = np.asarray(x), np.asarray(y)
    if np.ndim(x) != 1:
        raise ValueError("the x array must have exactly one dimension.")
    if np.ndim(y) == 0:
        raise ValueError("the y array must have at least one dimension.")
    axis = axis % np.ndim(y)
    y = np.moveaxis(y, axis, 0)
    if len(x) != y.shape[0]:
        raise ValueError("x and y arrays must be equal in length along interpolation axis.")
    if not assume_sorted:
        order = np.argsort(x, kind="mergesort")
        x, y = x[order], y[order]
    elif copy:
        x, y = x.copy(), y.copy()
    if not np.issubdtype(y.dtype, np.inexact):
        y = y.astype(np.float64)
    spline = None
    if kind in ORDERS or isinstance(kind, int):
        k = kind if isinstance(kind, int) else ORDERS.index(kind)
        t, c = through(x, y, k)
        kind, spline = "spline", Spline(t, c, k, True, 0, False)
    elif kind != "linear" and kind not in NEIGHBOURS:
        raise NotImplementedError("this kind is unsupported: Use fitpack routines for other types.")
    extrapolate = isinstance(fill_value, str) and fill_value == "extrapolate"
    below, above = fill_value, fill_value
    if extrapolate:
        if bounds_error:
            raise ValueError("Cannot extrapolate and raise at the same time.")
        if kind == "previous":
            below, above, extrapolate = np.nan, y[-1], False
        elif kind == "next":
            below, above, extrapolate = y[0], np.nan, False
        bounds_error = False
    elif isinstance(fill_value, tuple) and len(fill_value) == 2:
        below, above = fill_value
    if bounds_error is None:
        bounds_error = True
    return Interpolator(x, y, kind, spline, bounds_error, below, above, extrapolate, axis)


@defines(method_of(interpolate.interp1d, "__call__"))
def call_interpolator(self: Any, x: Any) -> Any:
    if type(self) is not interpolate.interp1d:
        refuse("an interpolator of this class", "use interp1d or a spline")
    kind, spline, below, above = self._kind, None, None, None
    axis = static(self.axis)
    y = np.moveaxis(self.y, axis, 0)
    if kind == "spline":
        made = bspline(self._spline)
        spline = Spline(made.t, np.reshape(made.c, (made.c.shape[0], *y.shape[1:])), made.k, True, 0)
    if not self._extrapolate:
        below, above = self._fill_value_below, self._fill_value_above
        if np.ndim(y) == 1:
            below, above = np.reshape(below, ()), np.reshape(above, ())
    return Interpolator(self.x, y, kind, spline, self.bounds_error, below, above, self._extrapolate, axis)(x)


# --- on grids ---------------------------------------------------------------------------------------------------------


class OnGrid:
    """What `RegularGridInterpolator` is."""

    def __init__(self, grid: Any, values: Any, method: Any, bounds_error: Any, fill_value: Any) -> None:
        self.grid = grid
        self.values = values
        self.method = method
        self.bounds_error = bounds_error
        self.fill_value = fill_value

    def __call__(self, xi: Any, method: Any = None) -> Any:
        method = self.method if method is None else method
        if method not in ("linear", "nearest"):
            refuse("this method of a RegularGridInterpolator", 'use "linear" or "nearest"')
        grid, values = self.grid, self.values
        if isinstance(xi, tuple):
            points = [np.asarray(p) for p in xi]
        else:
            xi = np.asarray(xi)
            if np.ndim(xi) == 1 and len(grid) > 1:
                xi = xi[None, :]
            elif np.ndim(xi) == 1:
                xi = xi[..., None]
            if np.ndim(xi) == 0:
                refuse("one number as the point of an interpolation", "pass an array: [x]")
            points = [xi[..., k] for k in list(range(len(grid)))]
        if len(points) != len(grid):
            raise ValueError("The requested sample points have another dimension than this interpolator")
        outside: Any = False
        for x, p in zip(grid, points):
            outside = outside | (p < x[0]) | (p > x[-1])
        if self.bounds_error:
            if np.any(outside):
                raise ValueError("One of the requested xi is out of bounds")
        lower = [np.clip(np.searchsorted(x, p, side="right") - 1, 0, len(x) - 2) for x, p in zip(grid, points)]
        weights = [(p - x[k]) / (x[k + 1] - x[k]) for x, p, k in zip(grid, points, lower)]
        if method == "nearest":
            made = values[tuple([np.where(w <= 0.5, k, k + 1) for w, k in zip(weights, lower)])]
        else:
            made = self.linear(lower, weights)
        if self.fill_value is not None and not self.bounds_error:
            made = np.where(widened(outside, np.ndim(values) - len(grid)), self.fill_value, made)
        return np.asarray(made)

    def linear(self, lower: Any, weights: Any) -> Any:
        """The sum over the corners of the cell."""
        values = self.values
        corners: Any = [((), None)]
        for k, w in zip(lower, weights):
            grown = []
            for places, weight in corners:
                grown.append(((*places, k), 1 - w if weight is None else weight * (1 - w)))
                grown.append(((*places, k + 1), w if weight is None else weight * w))
            corners = grown
        terms = [values[places] * widened(weight, np.ndim(values) - len(lower)) for places, weight in corners]
        made = terms[0]
        for term in terms[1:]:
            made = made + term
        return made

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of an interpolator", "use its values")


@defines(interpolate.RegularGridInterpolator)
def regular_grid_interpolator(
    points: Any, values: Any, method: Any = "linear", bounds_error: Any = True, fill_value: Any = np.nan, **options: Any
) -> Any:
    if options:
        refuse("a RegularGridInterpolator with these options", "leave them out")
    values = np.asarray(values)
    if not np.issubdtype(values.dtype, np.inexact):
        values = values.astype(np.float64)
    grid = tuple([packed(x) for x in points])
    if len(grid) > np.ndim(values):
        raise ValueError("There are more point arrays than the values have dimensions")
    for x, n in zip(grid, values.shape):
        if np.any(np.diff(x) <= 0.0):
            raise ValueError("The points must be strictly increasing here")
        if len(x) != n:
            raise ValueError("The points and the values have different lengths along an axis")
    return OnGrid(grid, values, method, bounds_error, fill_value)


@defines(method_of(interpolate.RegularGridInterpolator, "__call__"))
def call_on_grid(self: Any, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
    if nu is not None:
        refuse("derivatives of a RegularGridInterpolator", "differentiate its values")
    if hasattr(self, "_values"):
        grid, values = self._grid, self._values
    else:
        grid, values = self.grid, self.values
    return OnGrid(grid, values, self.method, self.bounds_error, self.fill_value)(xi, method)


@defines(interpolate.interpn)
def interpn(
    points: Any, values: Any, xi: Any, method: Any = "linear", bounds_error: Any = True, fill_value: Any = np.nan
) -> Any:
    return regular_grid_interpolator(points, values, method, bounds_error, fill_value)(xi)
