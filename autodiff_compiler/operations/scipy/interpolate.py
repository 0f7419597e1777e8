"""`scipy.interpolate`: piecewise polynomials and splines, which are linear in their coefficients and in `y`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.core import Builder
from ...ir.ops_common import as_array
from ...ir.types import ANY, Ty, array
from ...kernels.scipy import interpolate as kernels
from ...kernels.scipy import sparse as sums
from .. import lib
from ..lib import call, ndim, part
from ..record import op, vjp
from . import sparse as sparse

FLOAT = np.dtype(np.float64)


def _values(b: Builder, coefficients: Any, points: Any, leading: int) -> Ty:
    """Numbers at points, from coefficients with `leading` axes of their own."""
    c, p = as_array(b, coefficients), as_array(b, points)
    if c.kind != "array" or p.kind != "array" or c.dims is None or p.dims is None or c.dtype is None:
        return ANY
    dtype = np.dtype(np.complex128) if c.dtype.kind == "c" else FLOAT
    return array(dtype, (*p.dims, *c.dims[leading:]))


def _over(weights: Any, points: Any, extra: int) -> Any:
    """The sum over so many axes behind those of the points."""
    n = ndim(points)
    return call(np.sum, weights, axis=tuple(range(n, n + extra))) if extra else weights


def _inside(extrapolate: Any) -> Any:
    return True if extrapolate is True else "zero"


# --- piecewise polynomials --------------------------------------------------------------------------------------------

op(kernels.intervals, "x, points", type=lambda b, *args: array(np.dtype(np.int64), (b.dims.fresh(),)), nondiff=True)
op(
    kernels.piecewise, "c: array, x: array, points: array, nu, extrapolate",
    type=lambda b, c, x, points, nu, extrapolate: _values(b, c, points, 2), total="known",
)  # fmt: skip


def _transposed_type(b: Builder, g: Any, x: Any, points: Any, order: Any, nu: Any, extrapolate: Any) -> Ty:
    t, p = as_array(b, g), as_array(b, points)
    if t.kind != "array" or p.kind != "array" or t.dims is None or p.dims is None or t.dtype is None:
        return ANY
    return array(t.dtype, (order if isinstance(order, int) else b.dims.fresh(), b.dims.fresh(), *t.dims[len(p.dims) :]))


op(kernels.piecewise_transposed, "g: array, x: array, points: array, order, nu, extrapolate", type=_transposed_type)


def _at_breaks(moved: Any, x: Any, points: Any) -> Any:
    """The cotangent of the breakpoints: a point's polynomial moves with the one on its left."""
    which = call(kernels.intervals, x, points)
    return -call(sums.summed, call(np.ravel, moved), which, lib.length(x, 0))


@vjp(kernels.piecewise, "c", linear=True)
def _piecewise_c(g: Any, out: Any, c: Any, x: Any, points: Any, nu: Any, extrapolate: Any) -> Any:
    return call(kernels.piecewise_transposed, g, x, points, lib.length(c, 0), nu, _inside(extrapolate))


def _moved(g: Any, c: Any, x: Any, points: Any, nu: Any, extrapolate: Any) -> Any:
    return _over(g * call(kernels.piecewise, c, x, points, nu + 1, _inside(extrapolate)), points, ndim(c) - 2)


@vjp(kernels.piecewise, "points")
def _piecewise_points(g: Any, out: Any, c: Any, x: Any, points: Any, nu: Any, extrapolate: Any) -> Any:
    return _moved(g, c, x, points, nu, extrapolate)


@vjp(kernels.piecewise, "x")
def _piecewise_x(g: Any, out: Any, c: Any, x: Any, points: Any, nu: Any, extrapolate: Any) -> Any:
    return _at_breaks(_moved(g, c, x, points, nu, extrapolate), x, points)


@vjp(kernels.piecewise_transposed, "g", linear=True)
def _transposed_g(h: Any, out: Any, g: Any, x: Any, points: Any, order: Any, nu: Any, extrapolate: Any) -> Any:
    return call(kernels.piecewise, h, x, points, nu, _inside(extrapolate))


@vjp(kernels.piecewise_transposed, "points")
def _transposed_points(h: Any, out: Any, g: Any, x: Any, points: Any, order: Any, nu: Any, extrapolate: Any) -> Any:
    return _moved(g, h, x, points, nu, extrapolate)


@vjp(kernels.piecewise_transposed, "x")
def _transposed_x(h: Any, out: Any, g: Any, x: Any, points: Any, order: Any, nu: Any, extrapolate: Any) -> Any:
    return _at_breaks(_moved(g, h, x, points, nu, extrapolate), x, points)


# --- B-splines --------------------------------------------------------------------------------------------------------

op(
    kernels.bspline, "t: array, c: array, k, points: array, extrapolate",
    type=lambda b, t, c, k, points, extrapolate: _values(b, c, points, 1), total="known",
)  # fmt: skip


def _bspline_transposed_type(b: Builder, t: Any, g: Any, k: Any, points: Any, extrapolate: Any) -> Ty:
    known, p = as_array(b, g), as_array(b, points)
    if known.kind != "array" or p.kind != "array" or known.dims is None or p.dims is None:
        return ANY
    return array(known.dtype, (b.dims.fresh(), *known.dims[len(p.dims) :]))


op(kernels.bspline_transposed, "t: array, g: array, k, points: array, extrapolate", type=_bspline_transposed_type)
op(kernels.steps, "t, k", type=lambda b, *args: array(FLOAT, (b.dims.fresh(),)), nondiff=True)


def _slope(t: Any, c: Any, k: int, points: Any, extrapolate: Any) -> Any:
    """The derivative of a B-spline at points; None if it is zero everywhere."""
    if k == 0:
        return None
    differences = part(c, (slice(1, None),)) - part(c, (slice(None, -1),))
    weights = part(call(kernels.steps, t, k), (slice(None), *(None,) * (ndim(c) - 1)))
    return call(kernels.bspline, part(t, (slice(1, -1),)), weights * differences, k - 1, points, _inside(extrapolate))


@vjp(kernels.bspline, "c", linear=True)
def _bspline_c(g: Any, out: Any, t: Any, c: Any, k: Any, points: Any, extrapolate: Any) -> Any:
    return call(kernels.bspline_transposed, t, g, k, points, _inside(extrapolate))


@vjp(kernels.bspline, "points")
def _bspline_points(g: Any, out: Any, t: Any, c: Any, k: Any, points: Any, extrapolate: Any) -> Any:
    slope = _slope(t, c, k, points, extrapolate)
    return None if slope is None else _over(g * slope, points, ndim(c) - 1)


@vjp(kernels.bspline_transposed, "g", linear=True)
def _bspline_transposed_g(h: Any, out: Any, t: Any, g: Any, k: Any, points: Any, extrapolate: Any) -> Any:
    return call(kernels.bspline, t, h, k, points, _inside(extrapolate))


@vjp(kernels.bspline_transposed, "points")
def _bspline_transposed_points(h: Any, out: Any, t: Any, g: Any, k: Any, points: Any, extrapolate: Any) -> Any:
    slope = _slope(t, h, k, points, extrapolate)
    return None if slope is None else _over(g * slope, points, ndim(h) - 1)


# --- splines through points -------------------------------------------------------------------------------------------


def _coefficients_type(b: Builder, x: Any, y: Any, t: Any, k: Any) -> Ty:
    known = as_array(b, y)
    if known.kind != "array" or known.dims is None or known.dtype is None or known.dtype.kind == "c":
        return ANY
    return array(FLOAT, known.dims)


# The points `x` have no rule: the knots follow from them.
op(kernels.knots, "x: array, k", type=lambda b, *args: array(FLOAT, (b.dims.fresh(),)))
op(kernels.coefficients, "x: array, y: array, t: array, k", type=_coefficients_type)
op(kernels.coefficients_transposed, "x: array, g: array, t: array, k", type=_coefficients_type)


@vjp(kernels.coefficients, "y", linear=True)
def _coefficients_y(g: Any, out: Any, x: Any, y: Any, t: Any, k: Any) -> Any:
    return call(kernels.coefficients_transposed, x, g, t, k)


@vjp(kernels.coefficients_transposed, "g", linear=True)
def _coefficients_g(h: Any, out: Any, x: Any, g: Any, t: Any, k: Any) -> Any:
    return call(kernels.coefficients, x, h, t, k)


# --- scattered points -------------------------------------------------------------------------------------------------


def _corners_type(b: Builder, points: Any, targets: Any) -> Ty:
    p, t = as_array(b, points), as_array(b, targets)
    if p.dims is None or t.dims is None or len(p.dims) != 2 or not t.dims:
        return ANY
    width = p.dims[1]
    return array(np.dtype(np.int64), (*t.dims[:-1], width + 1 if isinstance(width, int) else b.dims.fresh()))


def _nearest_type(b: Builder, points: Any, targets: Any) -> Ty:
    t = as_array(b, targets)
    return ANY if t.dims is None or len(t.dims) < 2 else array(np.dtype(np.int64), t.dims[:-1])


op(kernels.simplices, "points: array, targets: array", type=_corners_type, nondiff=True)
op(kernels.nearest, "points: array, targets: array", type=_nearest_type, nondiff=True)
