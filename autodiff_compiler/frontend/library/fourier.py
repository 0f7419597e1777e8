"""Fourier transforms along several axes, and the Hermitian ones, in terms of those along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..definitions import defines


def _axes(a: Any, s: Any, axes: Any) -> Any:
    """The axes to transform and the length along each, None for as it is."""
    if axes is None:
        axes = tuple(range(np.ndim(a))) if s is None else tuple(range(-len(s), 0))
    lengths = [None] * len(axes) if s is None else [None if n == -1 else n for n in s]
    if len(axes) != len(lengths):
        raise ValueError("Shape and axes have different lengths.")
    return list(zip(axes, lengths))


@defines(np.fft.fftn)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    a = np.asarray(a)
    for axis, n in _axes(a, s, axes)[::-1]:
        a = np.fft.fft(a, n, axis, norm)
    return a


@defines(np.fft.ifftn)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    a = np.asarray(a)
    for axis, n in _axes(a, s, axes)[::-1]:
        a = np.fft.ifft(a, n, axis, norm)
    return a


@defines(np.fft.rfftn)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    pairs = _axes(a, s, axes)
    axis, n = pairs[-1]
    a = np.fft.rfft(a, n, axis, norm)
    for axis, n in pairs[:-1][::-1]:
        a = np.fft.fft(a, n, axis, norm)
    return a


@defines(np.fft.irfftn)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    pairs = _axes(a, s, axes)
    for axis, n in pairs[:-1]:
        a = np.fft.ifft(a, n, axis, norm)
    axis, n = pairs[-1]
    return np.fft.irfft(a, n, axis, norm)


@defines(np.fft.fft2)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return fftn(a, s, axes, norm)


@defines(np.fft.ifft2)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return ifftn(a, s, axes, norm)


@defines(np.fft.rfft2)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return rfftn(a, s, axes, norm)


@defines(np.fft.irfft2)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return irfftn(a, s, axes, norm)


def _opposite(norm: Any) -> Any:
    return "ortho" if norm == "ortho" else "backward" if norm == "forward" else "forward"


@defines(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    return np.fft.irfft(np.conj(a), n, axis, _opposite(norm))


@defines(np.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    return np.conj(np.fft.rfft(a, n, axis, _opposite(norm)))


def _shifted(x: Any, axes: Any) -> Any:
    if isinstance(axes, int):
        return (axes,)
    if np.ndim(x) == 0 and not axes:
        raise ValueError("not enough values to unpack (expected 2, got 0)")  # from np.roll over no axes
    if axes is not None:
        return axes
    return list(range(np.ndim(x)))


@defines(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Any:
    x = np.asarray(x)
    for axis in _shifted(x, axes):
        x = np.roll(x, x.shape[axis] // 2, axis)
    return x


@defines(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Any:
    x = np.asarray(x)
    for axis in _shifted(x, axes):
        x = np.roll(x, -(x.shape[axis] // 2), axis)
    return x
