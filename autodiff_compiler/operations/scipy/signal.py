"""`scipy.signal`: convolutions and linear filters.

A filter with the coefficients `b` and `a` solves ``A y = B x`` with two triangular matrices that are constant along
their diagonals. The transposed matrices are the same filters backwards in time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal.windows
from scipy import signal

from ... import runtime
from ...ir.core import Builder, Value
from ...ir.ops_common import as_array, common_dtype, is_number
from ...ir.opset import dim_of
from ...ir.types import ANY, Ty, array
from ...kernels.scipy import signal as kernels
from .. import lib
from ..lib import call, ndim
from ..record import op, vjp

# --- convolutions -----------------------------------------------------------------------------------------------------


def _convolve_type(b: Builder, in1: Any, in2: Any, mode: Any = "full", **options: Any) -> Ty:
    p, q = as_array(b, in1), as_array(b, in2)
    if p.kind != "array" or q.kind != "array" or p.dims is None or q.dims is None or len(p.dims) != len(q.dims):
        return ANY
    kind = common_dtype([p, q]) if is_number(p.dtype) and is_number(q.dtype) else None
    kind = kind if kind in (np.float32, np.float64, np.complex64, np.complex128) else None
    return array(kind, p.dims if mode == "same" else tuple([b.dims.fresh() for _ in p.dims]))


for _name in ("convolve", "fftconvolve", "oaconvolve"):
    _more = ", method" if _name == "convolve" else ""
    op(f"scipy.signal.{_name}", f"in1: array, in2: array, mode: known{_more}", type=_convolve_type)


def _lengths(x: Any) -> tuple[Any, ...]:
    return tuple([lib.length(x, k) for k in range(ndim(x))])


@vjp((signal.convolve, signal.fftconvolve, signal.oaconvolve), "in1", linear=True)
def _convolve_1(g: Any, out: Any, in1: Any, in2: Any, mode: Any = "full", **options: Any) -> Any:
    return _real_for(call(kernels.convolve_back, g, in2, _lengths(in1), mode, True), in1)


@vjp((signal.convolve, signal.fftconvolve, signal.oaconvolve), "in2", linear=True)
def _convolve_2(g: Any, out: Any, in1: Any, in2: Any, mode: Any = "full", **options: Any) -> Any:
    return _real_for(call(kernels.convolve_back, g, in1, _lengths(in2), mode, False), in2)


def _real_for(bar: Any, x: Any) -> Any:
    return bar if lib.may_be_complex(x) or not lib.may_be_complex(bar) else np.real(bar)


def _back_type(b: Builder, g: Any, other: Any, shape: Any, *rest: Any) -> Ty:
    p, q = as_array(b, g), as_array(b, other)
    if p.kind != "array" or q.kind != "array" or not isinstance(shape, (tuple, list)):
        return ANY
    kind = common_dtype([p, q]) if is_number(p.dtype) and is_number(q.dtype) else None
    return array(kind, tuple([dim_of(b, n) for n in shape]))


op(kernels.convolve_back, "g: array, other: array, shape, mode, first", type=_back_type)


@vjp(kernels.convolve_back, "g", linear=True)
def _back_g(g: Any, out: Any, g_: Any, other: Any, shape: Any, mode: Any, first: Any) -> Any:
    pair = (g, other) if first else (other, g)
    return lib.at_shape(call(signal.convolve, *pair, mode), g_)


@vjp(kernels.convolve_back, "other", linear=True)
def _back_other(g: Any, out: Any, g_: Any, other: Any, shape: Any, mode: Any, first: Any) -> Any:
    return call(kernels.convolve_back, g_, g, _lengths(other), mode, not first)


# --- filters ----------------------------------------------------------------------------------------------------------


def _filter_type(b: Builder, b_: Any, a: Any, x: Any, zi: Any = None, axis: Any = -1) -> Ty:
    found = [as_array(b, v) for v in ((b_, a, x) if zi is None else (b_, a, x, zi))]
    if any(t.kind != "array" for t in found):
        return ANY
    kind = common_dtype(found) if all(is_number(t.dtype) for t in found) else None
    return array(kind if kind in (np.float32, np.float64, np.complex64, np.complex128) else None, found[2].dims)


op("scipy.signal.lfilter", "b: array, a: array, x: array, axis, zi",
   type=lambda b, b_, a, x, axis=-1: _filter_type(b, b_, a, x))  # fmt: skip
op(kernels.filtered, "b: array, a: array, x: array, zi: array, axis", type=_filter_type)


def _backwards(b: Any, a: Any, g: Any, axis: Any) -> Any:
    """The transposed filter."""
    turned = call(signal.lfilter, b, a, call(np.flip, g, axis), axis)
    return call(np.flip, turned, axis)


@vjp(signal.lfilter, "x", linear=True)
def _lfilter_x(g: Any, out: Any, b: Any, a: Any, x: Any, axis: Any = -1) -> Any:
    return _real_for(_backwards(b, a, g, axis), x)


@vjp(signal.lfilter, "b", linear=True)
def _lfilter_b(g: Any, out: Any, b: Any, a: Any, x: Any, axis: Any = -1) -> Any:
    u = _backwards(1.0, a, g, axis)
    return _real_for(call(kernels.lag_products, u, x, lib.length(b, 0), axis), b)


@vjp(signal.lfilter, "a")
def _lfilter_a(g: Any, out: Any, b: Any, a: Any, x: Any, axis: Any = -1) -> Any:
    u = _backwards(1.0, a, g, axis)
    return _real_for(-call(kernels.lag_products, u, out, lib.length(a, 0), axis), a)


@vjp(kernels.filtered, "x", linear="x, zi")
def _filtered_x(g: Any, out: Any, b: Any, a: Any, x: Any, zi: Any, axis: Any = -1) -> Any:
    return _lfilter_x(g, out, b, a, x, axis)


@vjp(kernels.filtered, "b")
def _filtered_b(g: Any, out: Any, b: Any, a: Any, x: Any, zi: Any, axis: Any = -1) -> Any:
    return _lfilter_b(g, out, b, a, x, axis)


@vjp(kernels.filtered, "a")
def _filtered_a(g: Any, out: Any, b: Any, a: Any, x: Any, zi: Any, axis: Any = -1) -> Any:
    """The first coefficient is one: the definition has divided by it."""
    return _lfilter_a(g, out, b, a, x, axis)


@vjp(kernels.filtered, "zi", linear="x, zi")
def _filtered_zi(g: Any, out: Any, b: Any, a: Any, x: Any, zi: Any, axis: Any = -1) -> Any:
    place = lib.axes(axis, x)[0]
    u = _real_for(_backwards(1.0, a, g, axis), zi)
    return call(runtime.embed, u, place, 0, lib.length(zi, place))


def _products_type(b: Builder, u: Any, x: Any, count: Any, axis: Any) -> Ty:
    p, q = as_array(b, u), as_array(b, x)
    if p.kind != "array" or q.kind != "array":
        return ANY
    kind = common_dtype([p, q]) if is_number(p.dtype) and is_number(q.dtype) else None
    return array(kind, (dim_of(b, count),))


op(kernels.lag_products, "u: array, x: array, count, axis", type=_products_type)


@vjp(kernels.lag_products, "u", linear=True)
def _products_u(g: Any, out: Any, u: Any, x: Any, count: Any, axis: Any) -> Any:
    return _real_for(call(signal.lfilter, g, 1.0, x, axis), u)


@vjp(kernels.lag_products, "x", linear=True)
def _products_x(g: Any, out: Any, u: Any, x: Any, count: Any, axis: Any) -> Any:
    return _real_for(_backwards(g, 1.0, u, axis), x)


# --- what is made of settings -----------------------------------------------------------------------------------------


def _vector(b: Builder, n: Any, *rest: Any) -> Ty:
    return array(np.float64, (dim_of(b, n),)) if isinstance(n, (int, Value)) else ANY


op(kernels.analytic_weights, "n", type=_vector, nondiff=True)
op(kernels.one_sided_weights, "n", type=lambda b, n: array(np.float64, (b.dims.fresh(),)), nondiff=True)
op(kernels.resample_weights, "n, num", type=lambda b, *rest: array(np.float64, (b.dims.fresh(),)), nondiff=True)
op(kernels.trend_basis, "n", type=lambda b, n: array(np.float64, (dim_of(b, n), 2)), nondiff=True)
# These have no rule: where a setting is differentiated, it is an error.
op(kernels.savgol_edges, "window_length, polyorder, deriv, delta",
   type=lambda b, n, *rest: array(np.float64, (dim_of(b, n), dim_of(b, n))))  # fmt: skip
op(
    "scipy.signal.savgol_coeffs",
    "window_length, polyorder, deriv, delta, pos, use",
    type=lambda b, n, *rest, **kw: _vector(b, n),
)
op(
    "scipy.signal.firwin",
    "numtaps, cutoff, width, window, pass_zero, scale, fs",
    type=lambda b, n, *rest, **kw: _vector(b, n),
)


def _coefficients(b: Builder, *args: Any, **options: Any) -> Any:
    return array(np.float64, (b.dims.fresh(),)), array(np.float64, (b.dims.fresh(),))


_DESIGNS = {
    "butter": "N, Wn", "cheby1": "N, rp, Wn", "cheby2": "N, rs, Wn", "ellip": "N, rp, rs, Wn", "bessel": "N, Wn",
    "iirnotch": "w0, Q", "iirpeak": "w0, Q",
}  # fmt: skip
for _name, _params in _DESIGNS.items():
    op(f"scipy.signal.{_name}", f"{_params}, btype, analog, output, norm, fs", type=_coefficients, nout=2)
op(kernels.second_order_sections, "design, names, values",
   type=lambda b, *args: array(np.float64, (b.dims.fresh(), 6)))  # fmt: skip


def _window_type(b: Builder, M: Any, *rest: Any, sym: Any = True, **options: Any) -> Ty:
    return _vector(b, M) if isinstance(M, int) and M > 0 else array(np.float64, (b.dims.fresh(),))


for _name in scipy.signal.windows.__all__:
    if _name not in ("get_window", "gaussian", "dpss"):
        op(f"scipy.signal.windows.{_name}", "M, setting, other, more, sym", type=_window_type)
op("scipy.signal.get_window", "window, Nx, fftbins", type=lambda b, window, Nx, *rest, **kw: _window_type(b, Nx))


# --- places of peaks --------------------------------------------------------------------------------------------------


def _places_type(b: Builder, x: Any, *rest: Any) -> Ty:
    return array(np.dtype(np.int64), (b.dims.fresh(),))


op(kernels.peaks, "x: array, height, threshold, distance, prominence, width, wlen, rel_height, plateau_size",
   type=_places_type, nondiff=True)  # fmt: skip
op(kernels.extrema, "x: array, order, mode", type=_places_type, nondiff=True)
