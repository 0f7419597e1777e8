"""``tf.signal``: Fourier transforms along the last axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .namespace import lazy
from .operands import astype, integers, operand, run
from .operators import not_allowed


def _complex(x: Any, op: str) -> Any:
    x = operand(x)
    if x._value.dtype.kind != "c":
        raise not_allowed(op, x._value.dtype, "complex64, complex128")
    return x


def fft(input: Any, name: str | None = None) -> Any:
    """The Fourier transform of complex numbers."""
    x = _complex(input, "FFT")
    return astype(run(np.fft.fft, x), x.dtype)


def ifft(input: Any, name: str | None = None) -> Any:
    """The inverse of `fft`."""
    x = _complex(input, "IFFT")
    return astype(run(np.fft.ifft, x), x.dtype)


def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """The half of the Fourier transform of real numbers that determines the rest."""
    x = operand(input_tensor)
    if x._value.dtype.kind != "f":
        raise not_allowed("RFFT", x._value.dtype, "float, double")
    kind = dtypes.complex128 if x._value.dtype.itemsize == 8 else dtypes.complex64
    return astype(run(np.fft.rfft, x, None if fft_length is None else integers(fft_length)[0]), kind)


def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """The inverse of `rfft`."""
    x = _complex(input_tensor, "IRFFT")
    kind = dtypes.float64 if x._value.dtype.itemsize == 16 else dtypes.float32
    n = 2 * (x._value.shape[-1] - 1) if fft_length is None else integers(fft_length)[0]
    return astype(run(np.fft.irfft, x, n), kind)


__getattr__, __dir__ = lazy(__name__, {})
