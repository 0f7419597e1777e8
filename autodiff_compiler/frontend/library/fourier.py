"""Fourier transforms along several axes, and the Hermitian ones, in terms of those along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..definitions import defines


def axes_and_lengths(a: Any, s: Any, axes: Any) -> Any:
    """The axes to transform and the length along each, None for as it is."""
    if axes is None:
        axes = tuple(range(np.ndim(a))) if s is None else tuple(range(-len(s), 0))
    lengths = [None] * len(axes) if s is None else [None if n == -1 else n for n in s]
    if len(axes) != len(lengths):
        raise ValueError("Shape and axes have different lengths.")
    return list(zip(axes, lengths))


def _along_axes(first: Any, others: Any, axes: Any, forward: Any) -> Any:
    """A transform along several axes: `first` along the last of them, `others` along the rest.

    From the last axis to the first, or the other way round. The last axis holds the half of what is real.
    """

    def transform(a: Any, s: Any = None, axes: Any = axes, norm: Any = None) -> Any:
        a = np.asarray(a)
        pairs = axes_and_lengths(a, s, axes)
        steps = [*[(others, *pair) for pair in pairs[:-1]], *[(first, *pair) for pair in pairs[-1:]]]
        for fn, axis, n in steps[::-1] if forward else steps:
            a = fn(a, n, axis, norm)
        return a

    return transform


for _name, _first, _others, _forward in (
    ("fft", np.fft.fft, np.fft.fft, True), ("ifft", np.fft.ifft, np.fft.ifft, True),
    ("rfft", np.fft.rfft, np.fft.fft, True), ("irfft", np.fft.irfft, np.fft.ifft, False),
):  # fmt: skip
    defines(getattr(np.fft, f"{_name}n"))(_along_axes(_first, _others, None, _forward))
    defines(getattr(np.fft, f"{_name}2"))(_along_axes(_first, _others, (-2, -1), _forward))


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


def _centred(back: Any) -> Any:
    def shift(x: Any, axes: Any = None) -> Any:
        x = np.asarray(x)
        for axis in _shifted(x, axes):
            x = np.roll(x, -(x.shape[axis] // 2) if back else x.shape[axis] // 2, axis)
        return x

    return shift


defines(np.fft.fftshift)(_centred(False))
defines(np.fft.ifftshift)(_centred(True))


@defines(np.fft.fftfreq)
def fftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Any:
    unit = 1.0 / (n * d)
    return np.concatenate((np.arange(0, (n - 1) // 2 + 1), np.arange(-(n // 2), 0))) * unit


@defines(np.fft.rfftfreq)
def rfftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Any:
    unit = 1.0 / (n * d)
    return np.arange(0, n // 2 + 1) * unit
