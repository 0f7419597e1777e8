"""`scipy.signal`: spectra of segments."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import fft, signal

from ....kernels.scipy.signal import one_sided_weights
from ...definitions import defines, refuse


def is_complex(x: Any) -> Any:
    return np.issubdtype(x.dtype, np.complexfloating)


HANN = inspect.signature(signal.welch).parameters["window"].default


def spectra(
    x: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any, return_onesided: Any,
    scaling: Any, axis: Any,
) -> Any:  # fmt: skip
    """The frequencies, the transforms of the segments, and the weights of their products."""
    x = np.asarray(x)
    if nfft is not None or not return_onesided or is_complex(x):
        refuse("a spectrum with nfft or return_onesided, or of complex numbers", "leave them out")
    if not isinstance(window, (str, tuple)):
        refuse("a spectrum with an array for a window", "give the name of the window")
    x = np.moveaxis(x if np.issubdtype(x.dtype, np.floating) else x.astype(np.float64), axis, -1)
    n = x.shape[-1]
    length = min(256 if nperseg is None else nperseg, n)
    overlap = length // 2 if noverlap is None else noverlap
    if overlap >= length:
        raise ValueError("noverlap must be less than nperseg.")
    step = length - overlap
    parts = x[..., step * np.arange((n - overlap) // step)[:, None] + np.arange(length)]
    if detrend == "linear":
        parts = signal.detrend(parts)
    elif detrend == "constant":
        parts = parts - np.mean(parts, axis=-1, keepdims=True)
    elif detrend is not False:
        refuse("a spectrum with another detrend than 'constant', 'linear' and False", "use one of these")
    taps = signal.get_window(window, length)
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"Unknown scaling: {scaling!r}")
    scale = 1.0 / (fs * np.sum(taps * taps)) if scaling == "density" else 1.0 / np.sum(taps) ** 2
    weights = (scale * one_sided_weights(length)).astype(x.dtype)
    return fft.rfftfreq(length, 1 / fs), fft.rfft(parts * taps.astype(x.dtype)), weights


@defines(signal.welch)
def welch(
    x: Any, fs: Any = 1.0, window: Any = HANN, nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    detrend: Any = "constant", return_onesided: Any = True, scaling: Any = "density", axis: Any = -1,
    average: Any = "mean",
) -> Any:  # fmt: skip
    if average != "mean":
        refuse("a spectrum with average", "leave it out")
    frequencies, found, weights = spectra(
        x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis
    )
    power = (np.real(found) ** 2 + np.imag(found) ** 2) * weights
    return frequencies, np.moveaxis(np.mean(power, axis=-2), -1, axis)


@defines(signal.periodogram)
def periodogram(
    x: Any, fs: Any = 1.0, window: Any = "boxcar", nfft: Any = None, detrend: Any = "constant",
    return_onesided: Any = True, scaling: Any = "density", axis: Any = -1,
) -> Any:  # fmt: skip
    length = np.asarray(x).shape[axis]
    name = "boxcar" if window is None else window
    return welch(x, fs, name, length, 0, nfft, detrend, return_onesided, scaling, axis)


@defines(signal.csd)
def csd(
    x: Any, y: Any, fs: Any = 1.0, window: Any = HANN, nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    detrend: Any = "constant", return_onesided: Any = True, scaling: Any = "density", axis: Any = -1,
    average: Any = "mean",
) -> Any:  # fmt: skip
    if average != "mean":
        refuse("a spectrum with average", "leave it out")
    if np.ndim(x) != np.ndim(y):
        refuse("scipy.signal.csd of samples of two shapes", "give them one shape")
    if np.asarray(x).shape != np.asarray(y).shape:
        raise NotImplementedError("the derivative of scipy.signal.csd of samples of two shapes")
    frequencies, of_x, weights = spectra(
        x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis
    )
    _, of_y, _ = spectra(y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis)
    return frequencies, np.moveaxis(np.mean(np.conj(of_x) * of_y * weights, axis=-2), -1, axis)


@defines(signal.coherence)
def coherence(
    x: Any, y: Any, fs: Any = 1.0, window: Any = HANN, nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    detrend: Any = "constant", axis: Any = -1,
) -> Any:  # fmt: skip
    frequencies, both = csd(x, y, fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis)
    _, of_x = signal.welch(x, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)
    _, of_y = signal.welch(y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)
    return frequencies, np.abs(both) ** 2 / of_x / of_y


TUKEY = inspect.signature(signal.spectrogram).parameters["window"].default


@defines(signal.spectrogram)
def spectrogram(
    x: Any, fs: Any = 1.0, window: Any = TUKEY, nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    detrend: Any = "constant", return_onesided: Any = True, scaling: Any = "density", axis: Any = -1,
    mode: Any = "psd",
) -> Any:  # fmt: skip
    if mode != "psd" or axis != -1:
        refuse("scipy.signal.spectrogram with mode or axis", "use mode='psd', and move the axis to the end")
    n = np.asarray(x).shape[-1]
    length = min(256 if nperseg is None else nperseg, n)
    overlap = length // 8 if noverlap is None else noverlap
    frequencies, found, weights = spectra(x, fs, window, length, overlap, nfft, detrend, return_onesided, scaling, axis)
    times = np.arange(length / 2, n - length / 2 + 1, length - overlap) / fs
    power = (np.real(found) ** 2 + np.imag(found) ** 2) * weights
    return frequencies, times, np.swapaxes(power, -1, -2)
