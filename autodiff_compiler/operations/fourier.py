"""Fourier transforms and convolutions."""

from __future__ import annotations

from typing import Any

from .. import runtime
from ..ir import opset
from ..ir.core import Builder, Value, type_of
from ..ir.ops_common import Dtype, as_array, mixed_dtype, one_axis
from ..ir.opset import dim_of
from ..ir.types import ANY, DimLike, Ty, array, same_dtype
from ..pristine import np
from . import lib
from .batch_rules import along, batch
from .lib import call, choose
from .record import op, vjp

# --- transforms -------------------------------------------------------------------------------------------------------


def transformed(b: Builder, a: Any, n: Any, axis: Any, dtype: Any, length: Any) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None:
        return ANY
    place = one_axis(axis, len(t.dims))
    if place is None:
        return ANY
    old = b.dims.find(t.dims[place])
    new: DimLike = length(n if n is not None else old)
    return array(dtype(t.dtype), (*t.dims[:place], new, *t.dims[place + 1 :]))


def _complex(dtype: Dtype) -> Dtype:
    if dtype is None or dtype.kind not in "biufc":
        return None
    if dtype.kind in "biu":
        return np.dtype(np.complex128)
    return None if dtype == np.float16 else np.result_type(dtype, np.complex64)


def fft_type(b: Builder, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Ty:
    return transformed(b, a, n, axis, _complex, lambda m: b.dims.fresh() if isinstance(m, Value) else m)


op("np.fft.fft", "a: array, n, axis, norm, out", type=fft_type)


def fft_pullback(fn: Any) -> Any:
    """The pullback of a transform of complex numbers."""

    def rule(g: Any, out: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        place = lib.axes(axis, a)[0]
        return fitted(call(fn, g, axis=place, norm=norm), a, n, place)  # the matrix is symmetric

    return rule


def fitted(bar: Any, a: Any, n: Any, axis: int) -> Any:
    """The cotangent of `a`, of which the first `n` along an axis were transformed, or all with zeros behind."""
    if not lib.may_be_complex(a) and lib.may_be_complex(bar):
        bar = np.real(bar)
    if n is None:
        return lib.at_shape(bar, a)
    length = lib.length(a, axis)
    return call(runtime.embed, bar, axis, 0, length)


vjp(np.fft.fft, "a", linear=True)(fft_pullback(np.fft.fft))
op("np.fft.ifft", "a: array, n, axis, norm, out", type=fft_type)
vjp(np.fft.ifft, "a", linear=True)(fft_pullback(np.fft.ifft))


def rfft_type(b: Builder, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Ty:
    def length(n: Any) -> DimLike:
        return (
            n // 2 + 1 if isinstance(n, int) else b.dims.fresh() if isinstance(n, Value) else b.dims.named(("rfft", n))
        )

    return transformed(b, a, n, axis, _complex, length)


op("np.fft.rfft", "a: array, n, axis, norm, out", type=rfft_type)


def rfft_pullback(irfft: Any) -> Any:
    """The pullback of a transform of real numbers, by the transform back to real numbers."""

    def rule(g: Any, out: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        place = lib.axes(axis, a)[0]
        length = lib.length(a, place) if n is None else n
        # All frequencies but the first, and the last of an even number, would count twice.
        inner = lib.vector_index(place, slice(1, (length + 1) // 2))
        half = np.conjugate(g)
        half = lib.emit(opset.SET, half, (("index", inner),), lib.part(half, inner) * 0.5)
        return fitted(call(irfft, half, length, axis=place, norm=opposite_of(norm)), a, n, place)

    return rule


def opposite_of(norm: Any) -> Any:
    """The factor of the transform back is that of a transform."""
    return "ortho" if norm == "ortho" else "backward" if norm == "forward" else "forward"


vjp(np.fft.rfft, "a", linear=True)(rfft_pullback(np.fft.irfft))


def irfft_type(b: Builder, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Ty:
    def dtype(d: Dtype) -> Dtype:
        d = _complex(d)
        return None if d is None else np.empty(0, d).real.dtype

    def length(m: Any) -> DimLike:
        if n is not None:
            return n if isinstance(n, int) else b.dims.fresh()
        return 2 * (m - 1) if isinstance(m, int) else b.dims.named(("irfft", m))

    return transformed(b, a, n, axis, dtype, length)


op("np.fft.irfft", "a: array, n, axis, norm, out", type=irfft_type)


def irfft_pullback(rfft: Any) -> Any:
    """The pullback of a transform back to real numbers, by the transform of those."""

    def rule(g: Any, out: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        place = lib.axes(axis, a)[0]
        bar = np.conjugate(call(rfft, g, axis=place, norm=opposite_of(norm)))
        # All frequencies but the first, and the last of an even number, stand for two.
        inner = lib.vector_index(place, slice(1, (lib.length(out, place) + 1) // 2))
        bar = lib.emit(opset.ADDAT, bar, (("index", inner),), lib.part(bar, inner))
        if n is None:
            bar = lib.at_shape(bar, a)
        return fitted(bar, a, n, place)

    return rule


vjp(np.fft.irfft, "a", linear=True)(irfft_pullback(np.fft.rfft))


batch(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft)(along(axis=-1))

# --- convolutions -----------------------------------------------------------------------------------------------------


def _convolve_type(b: Builder, a: Any, v: Any, mode: Any = "full") -> Ty:
    p, q = as_array(b, a), as_array(b, v)
    if p.kind != "array" or q.kind != "array":
        return ANY
    return array(mixed_dtype([p, q]), (b.dims.fresh(),))


op("np.convolve", "a: array, v: array, mode", type=_convolve_type)


@vjp(np.convolve, "a", linear=True)
def _convolve_a(g: Any, out: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    return _pulled(g, a, v, start_of(lib.length(a, 0), lib.length(v, 0), mode, False))


def start_of(n: Any, m: Any, mode: Any, mirrored: bool) -> Any:
    """Where the result begins within the full convolution of `n` and `m` elements."""
    if isinstance(mode, Value) or mode not in ("full", "same", "valid"):
        raise lib.unsupported("a convolution has a derivative rule for mode='full', 'same' or 'valid'")
    if mode == "full":
        return 0
    small = choose(np.less(n, m) if not isinstance(n, Value) and not isinstance(m, Value) else n < m, n, m)
    if mode == "valid":
        return small - 1
    if mirrored:  # where the second is longer, np.correlate gives the mirror image
        return choose(n < m, small // 2, (small - 1) // 2)
    return (small - 1) // 2


def _pulled(g: Any, operand: Any, other: Any, start: Any) -> Any:
    return lib.at_shape(call(runtime.overlap, g, other, start, lib.length(operand, 0)), operand)


@vjp(np.convolve, "v", linear=True)
def _convolve_v(g: Any, out: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    return _pulled(g, v, a, start_of(lib.length(a, 0), lib.length(v, 0), mode, False))


def _correlate_type(b: Builder, a: Any, v: Any, mode: Any = "valid") -> Ty:
    return _convolve_type(b, a, v, mode)


op("np.correlate", "a: array, v: array, mode", type=_correlate_type)


@vjp(np.correlate, "a", linear=True)
def _correlate_a(g: Any, out: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    return _pulled(g, a, np.flip(lib.conj(v)), start_of(lib.length(a, 0), lib.length(v, 0), mode, True))


@vjp(np.correlate, "v", linear=True)
def _correlate_v(g: Any, out: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    return lib.conj(np.flip(_pulled(g, v, a, start_of(lib.length(a, 0), lib.length(v, 0), mode, True))))


def _embed_type(b: Builder, x: Any, axis: Any, start: Any, length: Any) -> Ty:
    t = type_of(x)
    if t.kind != "array" or t.dims is None:
        return ANY
    return Ty("array", t.dtype, (*t.dims[:axis], dim_of(b, length), *t.dims[axis + 1 :]))


op(runtime.embed, "x: array, axis, start, length", type=_embed_type)


@vjp(runtime.embed, "x", linear=True)
def _embed(g: Any, out: Any, x: Any, axis: Any, start: Any, length: Any) -> Any:
    kept = lib.part(g, lib.vector_index(axis, slice(start, start + lib.length(x, axis))))
    return lib.at_shape(call(runtime.embed, kept, axis, 0, lib.length(x, axis)), x)


batch(runtime.embed)(along(axis=0))


def _overlap_type(b: Builder, g: Any, other: Any, start: Any, length: Any) -> Ty:
    p, q = type_of(g), type_of(other)
    return Ty("array", p.dtype if same_dtype(p.dtype, q.dtype) else None, (dim_of(b, length),))


op(runtime.overlap, "g: array, other, start, length", type=_overlap_type)


@vjp(runtime.overlap, "g", linear=True)
def _overlap_g(g: Any, out: Any, g_: Any, other: Any, start: Any, length: Any) -> Any:
    full = call(np.convolve, g, other)
    return lib.at_shape(lib.part(full, (slice(start, start + lib.length(g_, 0)),)), g_)


@vjp(runtime.overlap, "other", linear=True)
def _overlap_other(g: Any, out: Any, g_: Any, other: Any, start: Any, length: Any) -> Any:
    return lib.at_shape(call(runtime.overlap, g_, g, start, lib.length(other, 0)), other)
