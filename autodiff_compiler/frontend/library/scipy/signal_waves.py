"""`scipy.signal`: peaks, waveforms, and what is made of filters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from ....kernels.scipy import signal as kernels
from ....kernels.scipy.installed import keeps_float32
from ...definitions import defines, refuse
from .signal_spectra import is_complex

# --- peaks ------------------------------------------------------------------------------------------------------------


class Properties:
    """What `find_peaks` says of the peaks."""

    def __init__(self, heights: Any) -> None:
        self.heights = heights

    def __getitem__(self, name: Any) -> Any:
        if name != "peak_heights" or self.heights is None:
            refuse(f"what find_peaks says of the {name}", "compute it from the samples and the places of the peaks")
        return self.heights


@defines(signal.find_peaks)
def find_peaks(
    x: Any, height: Any = None, threshold: Any = None, distance: Any = None, prominence: Any = None,
    width: Any = None, wlen: Any = None, rel_height: Any = 0.5, plateau_size: Any = None,
) -> Any:  # fmt: skip
    x = np.asarray(x)
    found = kernels.peaks(x, height, threshold, distance, prominence, width, wlen, rel_height, plateau_size)
    return found, Properties(None if height is None else x[found])


@defines(signal.argrelmax)
def argrelmax(data: Any, axis: Any = 0, order: Any = 1, mode: Any = "clip") -> Any:
    if np.ndim(data) != 1:
        refuse("scipy.signal.argrelmax of an array of several axes", "call it for one row after the other")
    return (kernels.extrema(np.asarray(data), order, mode),)


@defines(signal.argrelmin)
def argrelmin(data: Any, axis: Any = 0, order: Any = 1, mode: Any = "clip") -> Any:
    if np.ndim(data) != 1:
        refuse("scipy.signal.argrelmin of an array of several axes", "call it for one row after the other")
    return (kernels.extrema(-np.asarray(data), order, mode),)


# --- waveforms --------------------------------------------------------------------------------------------------------


# From SciPy 1.18 on, the waves keep the dtype of their arguments.
KEEPS_DTYPE = keeps_float32(signal.square, np.ones(2, np.float32))


def wave(y: Any, t: Any, part: Any) -> Any:
    """The wave, where `part` is a part of its period. Before SciPy 1.18 it has dtype float64."""
    y = np.where(np.logical_and(part >= 0, part <= 1), y, np.nan)
    return y.astype((np.asarray(t) * 1.0 + part * 0.0).dtype if KEEPS_DTYPE else np.float64)


@defines(signal.sawtooth)
def sawtooth(t: Any, width: Any = 1) -> Any:
    phase = np.mod(np.asarray(t) * 1.0, 2 * np.pi)
    rising = phase < width * 2 * np.pi
    up = phase / (np.pi * np.where(rising, width, 1.0)) - 1
    down = (np.pi * (width + 1) - phase) / (np.pi * (1 - np.where(rising, 0.0, width)))
    return wave(np.where(rising, up, down), t, width)


@defines(signal.square)
def square(t: Any, duty: Any = 0.5) -> Any:
    high = np.mod(np.asarray(t) * 1.0, 2 * np.pi) < duty * 2 * np.pi
    return wave(np.where(high, 1.0, -1.0), t, duty)


@defines(signal.chirp)
def chirp(
    t: Any, f0: Any, t1: Any, f1: Any, method: Any = "linear", phi: Any = 0, vertex_zero: Any = True, *,
    complex: Any = False,
) -> Any:  # fmt: skip
    t = np.asarray(t)
    turns = 2 * np.pi
    if method in ("linear", "lin", "li"):
        phase = turns * (f0 * t + 0.5 * ((f1 - f0) / t1) * t * t)
    elif method in ("quadratic", "quad", "q"):
        beta = (f1 - f0) / t1**2
        if vertex_zero:
            phase = turns * (f0 * t + beta * t**3 / 3)
        else:
            phase = turns * (f1 * t + beta * ((t1 - t) ** 3 - t1**3) / 3)
    elif method in ("logarithmic", "log", "lo"):
        if f0 * f1 <= 0.0:
            raise ValueError("For a logarithmic chirp, f0 and f1 must be nonzero and have the same sign.")
        if f0 == f1:
            raise NotImplementedError("the derivative of a logarithmic chirp of one frequency")
        beta = t1 / np.log(f1 / f0)
        phase = turns * beta * f0 * (np.power(f1 / f0, t / t1) - 1.0)
    else:
        refuse(f"scipy.signal.chirp with method={method!r}", "use 'linear', 'quadratic' or 'logarithmic'")
    phase = phase + np.deg2rad(phi)
    return np.exp(1j * phase) if complex else np.cos(phase)


# --- filters ----------------------------------------------------------------------------------------------------------


@defines(signal.decimate)
def decimate(
    x: Any, q: Any, n: Any = None, ftype: Any = "iir", axis: Any = -1, zero_phase: Any = True
) -> Any:  # fmt: skip
    if ftype != "iir":
        refuse("scipy.signal.decimate with another filter than 'iir'", "filter with lfilter, and take each q-th sample")
    x = np.asarray(x)
    if is_complex(x):
        refuse("scipy.signal.decimate of complex samples", "decimate the real and the imaginary part")
    sos = signal.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos").astype(x.dtype)
    y = signal.sosfiltfilt(sos, x, axis=axis) if zero_phase else signal.sosfilt(sos, x, axis=axis)
    return np.moveaxis(np.moveaxis(y, axis, -1)[..., ::q], -1, axis)


@defines(signal.deconvolve)
def deconvolve(signal_: Any, divisor: Any) -> Any:
    num, den = np.atleast_1d(signal_), np.atleast_1d(divisor)
    if np.ndim(num) != 1 or np.ndim(den) != 1:
        raise ValueError("Parameters signal and divisor must be 1d arrays!")
    if den.shape[0] > num.shape[0]:
        raise NotImplementedError("the derivative of scipy.signal.deconvolve with a divisor that is longer")
    impulse = np.zeros(num.shape[0] - den.shape[0] + 1)
    impulse[0] = 1
    quotient = signal.lfilter(num, den, impulse)
    return quotient, num - np.convolve(den, quotient)


@defines(signal.freqz)
def freqz(
    b: Any, a: Any = 1, worN: Any = 512, whole: Any = False, plot: Any = None, fs: Any = 2 * np.pi,
    include_nyquist: Any = False,
) -> Any:  # fmt: skip
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    if np.ndim(b) != 1 or np.ndim(a) != 1 or plot is not None:
        refuse("scipy.signal.freqz with plot, or with coefficients of several axes", "use vectors, and plot the result")
    if isinstance(worN, int) or worN is None:
        last = 2 * np.pi if whole else np.pi
        w = np.linspace(0, last, 512 if worN is None else worN, endpoint=include_nyquist and not whole)
    else:
        w = 2 * np.pi * np.atleast_1d(worN) / fs
    turn = np.exp(-1j * w)[:, None]
    above = np.sum(b * turn ** np.arange(b.shape[0]), axis=1)
    below = np.sum(a * turn ** np.arange(a.shape[0]), axis=1)
    return w * (fs / (2 * np.pi)), above / below
