"""Functions of `scipy.fftpack`, which computes with the transforms of `scipy.fft` and packs some results otherwise.

Reference: the packing of real transforms and the derivative of periodic sequences are those of SciPy's documentation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft, fftpack

from ...definitions import defines, refuse


def _along_one(fn: Any) -> Any:
    def transform(x: Any, n: Any = None, axis: Any = -1, overwrite_x: Any = False) -> Any:
        return fn(x, n, axis)

    return transform


def _along_axes(fn: Any, axes: Any) -> Any:
    def transform(x: Any, shape: Any = None, axes: Any = axes, overwrite_x: Any = False) -> Any:
        return fn(x, shape, axes)

    return transform


def _real(fn: Any, unscaled: Any) -> Any:
    def transform(
        x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False
    ) -> Any:  # fmt: skip
        return fn(x, type, n, axis, unscaled if norm is None else norm)

    return transform


def _real_along_axes(fn: Any, unscaled: Any) -> Any:
    def transform(
        x: Any, type: Any = 2, shape: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False
    ) -> Any:  # fmt: skip
        return fn(x, type, shape, axes, unscaled if norm is None else norm)

    return transform


for _name in ("fft", "ifft"):
    defines(getattr(fftpack, _name))(_along_one(getattr(fft, _name)))
    defines(getattr(fftpack, f"{_name}n"))(_along_axes(getattr(fft, f"{_name}n"), None))
    defines(getattr(fftpack, f"{_name}2"))(_along_axes(getattr(fft, f"{_name}2"), (-2, -1)))
# Without `norm`, the inverse transforms of real numbers are not scaled either.
for _name, _unscaled in (("dct", "backward"), ("dst", "backward"), ("idct", "forward"), ("idst", "forward")):
    defines(getattr(fftpack, _name))(_real(getattr(fft, _name), _unscaled))
    defines(getattr(fftpack, f"{_name}n"))(_real_along_axes(getattr(fft, f"{_name}n"), _unscaled))


@defines(fftpack.diff)
def diff(x: Any, order: Any = 1, period: Any = None, _cache: Any = None) -> Any:
    x = np.asarray(x)
    if np.issubdtype(x.dtype, np.complexfloating) or x.ndim != 1:
        refuse("scipy.fftpack.diff of what is no real array of one axis", "take it of each row, real or imaginary")
    if order == 0:
        return x
    n = x.shape[0]
    wave = np.arange(n // 2 + 1) * (1.0 if period is None else 2 * np.pi / period)
    factor = np.zeros(n // 2 + 1, complex)
    factor[1:] = (1j * wave[1:]) ** order  # the constant has no derivative, and its integral is left out
    if n % 2 == 0:
        factor[-1] = 0.0  # SciPy leaves out the highest frequency for each order
    return fft.irfft(factor * fft.rfft(x), n)
