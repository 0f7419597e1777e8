"""`scipy.ndimage`: filters and interpolation. What is made of them is in the definitions.

A filter is linear in its input but for the fill value, and linear in its weights. Each transpose is a kernel, whose
pullbacks are the filter and the other transposes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from ...ir.core import Builder, Value
from ...ir.ops_common import as_array
from ...ir.opset import dim_of
from ...ir.types import ANY, Ty, array, py_int
from ...kernels.scipy import ndimage as kernels
from ...kernels.scipy import ndimage_splines as splines
from .. import lib
from ..lib import call, ndim, part
from ..record import jvp, op, vjp

# --- filters ----------------------------------------------------------------------------------------------------------


def _same_type(b: Builder, input: Any, *rest: Any, **options: Any) -> Ty:
    t = as_array(b, input)
    if t.kind != "array" or t.dims is None:
        return ANY
    return array(t.dtype if t.dtype in (np.float32, np.float64) else None, t.dims)


def _filter_type(b: Builder, input: Any, weights: Any, *rest: Any, **options: Any) -> Ty:
    t, w = _same_type(b, input), as_array(b, weights)
    real = w.dtype is not None and w.dtype.kind in "biuf"
    return t if real or t.dims is None else array(None, t.dims)


op("scipy.ndimage.correlate", "input: array, weights: array, output, mode, cval, origin", type=_filter_type)
op("scipy.ndimage.correlate1d", "input: array, weights: array, axis, output, mode, cval, origin", type=_filter_type)
op(kernels.correlate_back, "g: array, weights: array, mode, origin", type=_filter_type)


def _of_shape(b: Builder, g: Any, x: Any, shape: Any, *rest: Any) -> Ty:
    t = _same_type(b, g)
    if not isinstance(shape, (tuple, list)):
        return ANY
    return array(t.dtype, tuple([dim_of(b, n) for n in shape]))


op(kernels.correlate_weights, "g: array, x: array, shape, mode, cval, origin", type=_of_shape)


def _lengths(x: Any) -> tuple[Any, ...]:
    return tuple([lib.length(x, k) for k in range(ndim(x))])


def _settings(mode: Any, origin: Any) -> dict[str, Any]:
    given = {"mode": mode} if mode != "reflect" else {}
    return {**given, "origin": origin} if isinstance(origin, (Value, tuple)) or origin else given


@vjp(ndimage.correlate, "input")
def _correlate(
    g: Any, out: Any, input: Any, weights: Any, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    lib.need_real("scipy.ndimage.correlate", input, weights)
    return call(kernels.correlate_back, g, weights, mode, origin)


@jvp(ndimage.correlate, "input")
def _correlate_jvp(
    d: Any, out: Any, input: Any, weights: Any, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    return call(ndimage.correlate, d, weights, **_settings(mode, origin))


@vjp(ndimage.correlate, "weights", linear=True)
def _correlate_w(
    g: Any, out: Any, input: Any, weights: Any, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    lib.need_real("scipy.ndimage.correlate", input, weights)
    return call(kernels.correlate_weights, g, input, _lengths(weights), mode, cval, origin)


@vjp(kernels.correlate_back, "g", linear=True)
def _back_g(g: Any, out: Any, g_: Any, weights: Any, mode: Any, origin: Any) -> Any:
    return call(ndimage.correlate, g, weights, **_settings(mode, origin))


@vjp(kernels.correlate_back, "weights", linear=True)
def _back_w(g: Any, out: Any, g_: Any, weights: Any, mode: Any, origin: Any) -> Any:
    return call(kernels.correlate_weights, g_, g, _lengths(weights), mode, 0.0, origin)


@vjp(kernels.correlate_weights, "g", linear=True)
def _weights_g(g: Any, out: Any, g_: Any, x: Any, shape: Any, mode: Any, cval: Any, origin: Any) -> Any:
    return call(ndimage.correlate, x, g, **_settings(mode, origin), cval=cval)


@vjp(kernels.correlate_weights, "x")
def _weights_x(g: Any, out: Any, g_: Any, x: Any, shape: Any, mode: Any, cval: Any, origin: Any) -> Any:
    return call(kernels.correlate_back, g_, g, mode, origin)


@jvp(kernels.correlate_weights, "x")
def _weights_jvp(d: Any, out: Any, g_: Any, x: Any, shape: Any, mode: Any, cval: Any, origin: Any) -> Any:
    return call(kernels.correlate_weights, g_, d, shape, mode, 0.0, origin)


# Along one axis: the same with axes of length one.


def _origins(origin: Any, axis: int, n: int) -> Any:
    return origin if n == 1 or (not isinstance(origin, Value) and origin == 0) else tuple(
        [origin if k == axis else 0 for k in range(n)]
    )  # fmt: skip


def _as_nd(weights: Any, axis: int, n: int) -> Any:
    return part(weights, tuple([slice(None) if k == axis else None for k in range(n)])) if n > 1 else weights


@vjp(ndimage.correlate1d, "input")
def _along(
    g: Any, out: Any, input: Any, weights: Any, axis: Any = -1, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    lib.need_real("scipy.ndimage.correlate1d", input, weights)
    (place,), n = lib.axes(axis, input), ndim(input)
    return call(kernels.correlate_back, g, _as_nd(weights, place, n), mode, _origins(origin, place, n))


@jvp(ndimage.correlate1d, "input")
def _along_jvp(
    d: Any, out: Any, input: Any, weights: Any, axis: Any = -1, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    return call(ndimage.correlate1d, d, weights, axis, **_settings(mode, origin))


@vjp(ndimage.correlate1d, "weights", linear=True)
def _along_w(
    g: Any, out: Any, input: Any, weights: Any, axis: Any = -1, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    lib.need_real("scipy.ndimage.correlate1d", input, weights)
    (place,), n = lib.axes(axis, input), ndim(input)
    shape = tuple([lib.length(weights, 0) if k == place else 1 for k in range(n)])
    bar = call(kernels.correlate_weights, g, input, shape, mode, cval, _origins(origin, place, n))
    return part(bar, tuple([slice(None) if k == place else 0 for k in range(n)])) if n > 1 else bar


op("scipy.ndimage.uniform_filter1d", "input: array, size, axis, output, mode, cval, origin", type=_same_type)


@vjp(ndimage.uniform_filter1d, "input")
def _uniform(
    g: Any, out: Any, input: Any, size: Any, axis: Any = -1, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    lib.need_real("scipy.ndimage.uniform_filter1d", input)
    (place,), n = lib.axes(axis, input), ndim(input)
    shape = tuple([size if k == place else 1 for k in range(n)])
    return call(kernels.correlate_back, g, call(np.full, shape, 1 / size), mode, _origins(origin, place, n))


@jvp(ndimage.uniform_filter1d, "input")
def _uniform_jvp(
    d: Any, out: Any, input: Any, size: Any, axis: Any = -1, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    return call(ndimage.uniform_filter1d, d, size, axis, **_settings(mode, origin))


def _places_type(b: Builder, x: Any, *rest: Any) -> Ty:
    t = as_array(b, x)
    return array(np.int64, t.dims) if t.kind == "array" else ANY


op(kernels.rank_places, "x: array, footprint, rank, mode, cval, origin", type=_places_type, nondiff=True)

# --- splines ----------------------------------------------------------------------------------------------------------


def _double_type(b: Builder, input: Any, order: Any = 3, axis: Any = -1, **options: Any) -> Ty:
    t = as_array(b, input)
    real = t.dtype is not None and t.dtype.kind in "biuf"
    return array(np.float64 if real else None, t.dims) if t.kind == "array" else ANY


op("scipy.ndimage.spline_filter1d", "input: array, order: known, axis, output, mode", type=_double_type)
op(splines.spline_filter1d_back, "g: array, order, axis, mode", type=_same_type)


@vjp(ndimage.spline_filter1d, "input", linear=True)
def _prefilter(g: Any, out: Any, input: Any, order: Any = 3, axis: Any = -1, mode: Any = "mirror") -> Any:
    return call(splines.spline_filter1d_back, g, order, axis, mode)


@vjp(splines.spline_filter1d_back, "g", linear=True)
def _prefilter_back(g: Any, out: Any, g_: Any, order: Any, axis: Any, mode: Any) -> Any:
    return call(ndimage.spline_filter1d, g, order, axis, mode=mode)


def _mapped_type(b: Builder, input: Any, coordinates: Any, *rest: Any, **options: Any) -> Ty:
    t, x = _same_type(b, input), as_array(b, coordinates)
    if x.kind != "array" or x.dims is None:
        return ANY
    return array(t.dtype if t.kind == "array" else None, x.dims[1:])


op(
    "scipy.ndimage.map_coordinates", "input: array, coordinates: array, output, order: known, mode, cval, prefilter",
    type=_mapped_type,
)  # fmt: skip
op(splines.spline_values, "coefficients: array, coordinates: array, order, mode, cval, slopes", type=_mapped_type)


def _spline_back_type(b: Builder, g: Any, coordinates: Any, shape: Any, *rest: Any) -> Ty:
    return _of_shape(b, g, coordinates, shape)


op(splines.spline_back, "g: array, coordinates: array, shape, order, mode, slopes", type=_spline_back_type)


def _slopes(coefficients: Any, coordinates: Any, order: Any, mode: Any, cval: Any, slopes: Any, g: Any) -> Any:
    """The cotangent of the coordinates."""
    found = []
    for k in range(len(slopes)):
        steeper = tuple([s + (k == j) for j, s in enumerate(slopes)])
        found.append(g * call(splines.spline_values, coefficients, coordinates, order, mode, cval, steeper))
    return lib.at_shape(call(np.stack, found), coordinates)


def _zeros(coefficients: Any) -> tuple[int, ...]:
    return (0,) * ndim(coefficients)


@vjp(ndimage.map_coordinates, "input")
def _mapped(
    g: Any, out: Any, input: Any, coordinates: Any, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:  # fmt: skip
    return call(splines.spline_back, g, coordinates, _lengths(input), order, mode, _zeros(input))


@vjp(ndimage.map_coordinates, "coordinates")
def _mapped_x(
    g: Any, out: Any, input: Any, coordinates: Any, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:  # fmt: skip
    return _slopes(input, coordinates, order, mode, cval, _zeros(input), g)


@vjp(splines.spline_values, "coefficients")
def _values(g: Any, out: Any, c: Any, coordinates: Any, order: Any, mode: Any, cval: Any, slopes: Any) -> Any:
    return call(splines.spline_back, g, coordinates, _lengths(c), order, mode, slopes)


@vjp(splines.spline_values, "coordinates")
def _values_x(g: Any, out: Any, c: Any, coordinates: Any, order: Any, mode: Any, cval: Any, slopes: Any) -> Any:
    return _slopes(c, coordinates, order, mode, cval, slopes, g)


@vjp(splines.spline_back, "g", linear=True)
def _spline_back_g(g: Any, out: Any, g_: Any, coordinates: Any, shape: Any, order: Any, mode: Any, slopes: Any) -> Any:
    return call(splines.spline_values, g, coordinates, order, mode, 0.0, slopes)


@vjp(splines.spline_back, "coordinates")
def _spline_back_x(g: Any, out: Any, g_: Any, coordinates: Any, shape: Any, order: Any, mode: Any, slopes: Any) -> Any:
    return _slopes(g, coordinates, order, mode, 0.0, slopes, g_)


op(kernels.direction, "angle", type=lambda b, angle: array(np.float64, (2,)))
op(kernels.rotated_lengths, "turn: array, rows, columns", type=lambda b, *args: (py_int(), py_int()), nout=2,
   nondiff=True)  # fmt: skip


@vjp(kernels.direction, "angle")
def _direction(g: Any, out: Any, angle: Any) -> Any:
    return (part(g, (1,)) * part(out, (0,)) - part(g, (0,)) * part(out, (1,))) * (np.pi / 180)


# --- labels -----------------------------------------------------------------------------------------------------------


def _label_type(b: Builder, input: Any, *rest: Any, **options: Any) -> Any:
    t = as_array(b, input)
    return array(np.int32 if not rest and not options else None, t.dims) if t.kind == "array" else ANY, py_int()


op("scipy.ndimage.label", "input: array, structure, output", type=_label_type, nout=2, nondiff=True)
