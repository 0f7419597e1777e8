"""Derivative rules of Fourier transforms and convolutions: linear maps, pulled back without conjugation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from ..ir import opset
from ..ir.core import Value
from . import lib
from .lib import call, choose
from .record import vjp


def _fitted(bar: Any, a: Any, n: Any, axis: int) -> Any:
    """The cotangent of `a`, of which the first `n` along an axis were transformed, or all with zeros behind."""
    if not lib.may_be_complex(a):
        bar = np.real(bar)
    if n is None:
        return lib.at_shape(bar, a)
    length = lib.length(a, axis)
    return call(runtime.embed, bar, axis, 0, length)


def _transform(fn: Any) -> Any:
    def rule(g: Any, out: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        place = lib.axes(axis, a)[0]
        return _fitted(call(fn, g, axis=place, norm=norm), a, n, place)  # the matrix is symmetric

    return rule


vjp(np.fft.fft, "a")(_transform(np.fft.fft))
vjp(np.fft.ifft, "a")(_transform(np.fft.ifft))


@vjp(np.fft.rfft, "a")
def _rfft(g: Any, out: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    place = lib.axes(axis, a)[0]
    length = lib.length(a, place) if n is None else n
    return _fitted(np.real(call(np.fft.fft, g, length, axis=place, norm=norm)), a, n, place)


@vjp(np.fft.irfft, "a")
def _irfft(g: Any, out: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    place = lib.axes(axis, a)[0]
    opposite = "ortho" if norm == "ortho" else "backward" if norm == "forward" else "forward"
    bar = np.conjugate(call(np.fft.rfft, g, axis=place, norm=opposite))
    # All frequencies but the first, and the last of an even number, stand for two.
    inner = lib.vector_index(place, slice(1, (lib.length(out, place) + 1) // 2))
    bar = lib.emit(opset.ADDAT, bar, (("index", inner),), lib.part(bar, inner))
    if n is None:
        bar = lib.at_shape(bar, a)
    return _fitted(bar, a, n, place)


# --- convolutions -----------------------------------------------------------------------------------------------------


def _start(n: Any, m: Any, mode: Any, mirrored: bool) -> Any:
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


@vjp(np.convolve, "a")
def _convolve_a(g: Any, out: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    return _pulled(g, a, v, _start(lib.length(a, 0), lib.length(v, 0), mode, False))


@vjp(np.convolve, "v")
def _convolve_v(g: Any, out: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    return _pulled(g, v, a, _start(lib.length(a, 0), lib.length(v, 0), mode, False))


@vjp(np.correlate, "a")
def _correlate_a(g: Any, out: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    return _pulled(g, a, np.flip(lib.conj(v)), _start(lib.length(a, 0), lib.length(v, 0), mode, True))


@vjp(np.correlate, "v")
def _correlate_v(g: Any, out: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    return lib.conj(np.flip(_pulled(g, v, a, _start(lib.length(a, 0), lib.length(v, 0), mode, True))))


@vjp(runtime.embed, "x")
def _embed(g: Any, out: Any, x: Any, axis: Any, start: Any, length: Any) -> Any:
    kept = lib.part(g, lib.vector_index(axis, slice(start, start + lib.length(x, axis))))
    return lib.at_shape(call(runtime.embed, kept, axis, 0, lib.length(x, axis)), x)


@vjp(runtime.overlap, "g")
def _overlap_g(g: Any, out: Any, g_: Any, other: Any, start: Any, length: Any) -> Any:
    full = call(np.convolve, g, other)
    return lib.at_shape(lib.part(full, (slice(start, start + lib.length(g_, 0)),)), g_)


@vjp(runtime.overlap, "other")
def _overlap_other(g: Any, out: Any, g_: Any, other: Any, start: Any, length: Any) -> Any:
    return lib.at_shape(call(runtime.overlap, g_, g, start, lib.length(other, 0)), other)
