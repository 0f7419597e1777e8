"""Fourier transforms and convolutions as primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import Builder, Value
from .ops_common import as_array, enter, mixed_dtype, one_axis
from .types import ANY, DimLike, Ty, array

Dtype = np.dtype[Any] | None


def _complex(dtype: Dtype) -> Dtype:
    if dtype is None or dtype.kind not in "biufc":
        return None
    if dtype.kind in "biu":
        return np.dtype(np.complex128)
    return None if dtype == np.float16 else np.result_type(dtype, np.complex64)


def _transformed(b: Builder, a: Any, n: Any, axis: Any, dtype: Any, length: Any) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None:
        return ANY
    place = one_axis(axis, len(t.dims))
    if place is None:
        return ANY
    old = b.dims.find(t.dims[place])
    new: DimLike = length(n if n is not None else old)
    return array(dtype(t.dtype), (*t.dims[:place], new, *t.dims[place + 1 :]))


def _fft(b: Builder, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Ty:
    return _transformed(b, a, n, axis, _complex, lambda m: b.dims.fresh() if isinstance(m, Value) else m)


def _rfft(b: Builder, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Ty:
    def length(n: Any) -> DimLike:
        return (
            n // 2 + 1 if isinstance(n, int) else b.dims.fresh() if isinstance(n, Value) else b.dims.named(("rfft", n))
        )

    return _transformed(b, a, n, axis, _complex, length)


def _irfft(b: Builder, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Ty:
    def dtype(d: Dtype) -> Dtype:
        d = _complex(d)
        return None if d is None else np.empty(0, d).real.dtype

    def length(m: Any) -> DimLike:
        if n is not None:
            return n if isinstance(n, int) else b.dims.fresh()
        return 2 * (m - 1) if isinstance(m, int) else b.dims.named(("irfft", m))

    return _transformed(b, a, n, axis, dtype, length)


def _convolve(b: Builder, a: Any, v: Any, mode: Any = "full") -> Ty:
    p, q = as_array(b, a), as_array(b, v)
    if p.kind != "array" or q.kind != "array":
        return ANY
    return array(mixed_dtype([p, q]), (b.dims.fresh(),))


def _correlate(b: Builder, a: Any, v: Any, mode: Any = "valid") -> Ty:
    return _convolve(b, a, v, mode)


enter("np.fft.fft", "a, n, axis, norm, out", _fft)
enter("np.fft.ifft", "a, n, axis, norm, out", _fft)
enter("np.fft.rfft", "a, n, axis, norm, out", _rfft)
enter("np.fft.irfft", "a, n, axis, norm, out", _irfft)
enter("np.convolve", "a, v, mode", _convolve)
enter("np.correlate", "a, v, mode", _correlate)
