"""Functions of `scipy.signal` in terms of convolutions and of filters along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal.windows
from scipy import fft, ndimage, signal

from ....kernels.scipy.signal import (
    analytic_weights,
    filtered,
    resample_weights,
    savgol_edges,
    second_order_sections,
    trend_basis,
)
from ...definitions import defines, refuse
from . import signal_systems as signal_systems
from . import signal_waves as signal_waves
from .signal_spectra import is_complex

# --- convolutions -----------------------------------------------------------------------------------------------------


def same_rank(in1: Any, in2: Any) -> None:
    if np.ndim(in1) != np.ndim(in2):
        raise ValueError("in1 and in2 should have the same dimensionality")
    if np.ndim(in1) == 0:
        refuse("a convolution of two numbers", "multiply them")


@defines(signal.convolve)
def convolve(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    in1, in2 = np.asarray(in1), np.asarray(in2)
    same_rank(in1, in2)
    options = {} if method == "auto" else {"method": method}
    return signal.convolve(in1, in2, **options) if mode == "full" else signal.convolve(in1, in2, mode, **options)


def _by_fft(fn: Any) -> Any:
    def convolved(in1: Any, in2: Any, mode: Any = "full", axes: Any = None) -> Any:
        if axes is not None:
            refuse("a convolution of scipy.signal with axes=", "use np.fft along the axes")
        in1, in2 = np.asarray(in1), np.asarray(in2)
        same_rank(in1, in2)
        return fn(in1, in2) if mode == "full" else fn(in1, in2, mode)

    return convolved


defines(signal.fftconvolve)(_by_fft(signal.fftconvolve))
defines(signal.oaconvolve)(_by_fft(signal.oaconvolve))


@defines(signal.correlate)
def correlate(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    in2 = np.asarray(in2)
    turned = np.flip(in2)
    return signal.convolve(in1, np.conj(turned) if is_complex(turned) else turned, mode, method)


def in_zeros(name: Any, in1: Any, boundary: Any, fillvalue: Any) -> None:
    if np.ndim(in1) != 2:
        raise ValueError(f"{name} inputs must both be 2-D arrays")
    if boundary != "fill" or fillvalue != 0:
        refuse(f"scipy.signal.{name} with boundary or fillvalue", "use scipy.ndimage.convolve")


@defines(signal.convolve2d)
def convolve2d(in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    in_zeros("convolve2d", in1, boundary, fillvalue)
    return signal.convolve(in1, in2, mode, "direct")


@defines(signal.correlate2d)
def correlate2d(in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    in_zeros("correlate2d", in1, boundary, fillvalue)
    if mode == "same":
        refuse("scipy.signal.correlate2d with mode='same'", "use scipy.signal.correlate")  # it has another centre
    return signal.correlate(in1, in2, mode, "direct")


@defines(signal.medfilt)
def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    size = 3 if kernel_size is None else kernel_size
    for n in size if isinstance(size, (tuple, list)) else (size,):
        if n % 2 != 1:
            raise ValueError("Each element of kernel_size should be odd.")
    return ndimage.median_filter(volume, size, None, None, "constant")


# --- filters ----------------------------------------------------------------------------------------------------------


def coefficients(c: Any) -> Any:
    c = np.atleast_1d(c)
    if np.ndim(c) != 1:
        raise ValueError("object of too small depth for desired array")
    return c


def axis_of(axis: Any, ndim: Any) -> Any:
    if axis < -ndim or axis >= ndim:
        raise ValueError("selected axis is out of range")
    return axis


@defines(signal.lfilter)
def lfilter(b: Any, a: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    b, a, x = coefficients(b), coefficients(a), np.asarray(x)
    if zi is None:
        return signal.lfilter(b, a, x) if axis == -1 else signal.lfilter(b, a, x, axis)
    b, a = b / a[0], a / a[0]
    zi = np.asarray(zi)
    y = filtered(b, a, x, zi, axis)
    return y, final_state(b, a, x, y, zi, axis)


def final_state(b: Any, a: Any, x: Any, y: Any, zi: Any, axis: Any) -> Any:
    """What the filter still holds behind the last element."""
    return state_of(b, x, zi, axis) - state_of(a, y, zi, axis) + unused(zi, x, axis)


def state_of(c: Any, x: Any, zi: Any, axis: Any) -> Any:
    """What a filter of finite length gives for the zeros behind a signal."""
    x = np.moveaxis(x, axis, -1)
    length = np.moveaxis(zi, axis, -1).shape[-1]
    extended = np.concatenate((x, np.zeros(x.shape[:-1] + (length,), x.dtype)), axis=-1)
    found = signal.lfilter(c, np.ones(1, x.dtype), extended)[..., x.shape[-1] :]
    return np.moveaxis(found, -1, axis)


def unused(zi: Any, x: Any, axis: Any) -> Any:
    """The part of the initial state that a short signal leaves."""
    zi, x = np.moveaxis(zi, axis, -1), np.moveaxis(x, axis, -1)
    rest = zi[..., x.shape[-1] :]
    filled = np.concatenate((rest, np.zeros(zi.shape, zi.dtype)), axis=-1)
    return np.moveaxis(filled[..., : zi.shape[-1]], -1, axis)


@defines(signal.lfilter_zi)
def lfilter_zi(b: Any, a: Any) -> Any:
    b, a = coefficients(b), coefficients(a)
    b, a = b / a[0], a / a[0]
    n = max(b.shape[0], a.shape[0])
    b = np.concatenate((b, np.zeros(n - b.shape[0], b.dtype)))
    a = np.concatenate((a, np.zeros(n - a.shape[0], a.dtype)))
    first = (np.arange(n - 1) == 0).astype(a.dtype)
    matrix = np.eye(n - 1, dtype=a.dtype) - np.eye(n - 1, k=1, dtype=a.dtype) + a[1:][:, None] * first
    return np.linalg.solve(matrix, b[1:] - a[1:] * b[0])


def extended(x: Any, edge: Any, padtype: Any) -> Any:
    """The signal along the last axis with a border."""
    if x.shape[-1] <= edge:
        raise ValueError("The length of the input vector x must be greater than padlen.")
    if padtype == "constant":
        ones = np.ones(edge, x.dtype)
        return np.concatenate((x[..., :1] * ones, x, x[..., -1:] * ones), axis=-1)
    before = np.flip(x[..., 1 : edge + 1], -1)
    behind = np.flip(x[..., x.shape[-1] - edge - 1 : x.shape[-1] - 1], -1)
    if padtype == "odd":
        before, behind = 2 * x[..., :1] - before, 2 * x[..., -1:] - behind
    return np.concatenate((before, x, behind), axis=-1)


def check_padtype(padtype: Any) -> None:
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(f"Unknown value '{padtype}' given to padtype: 'even', 'odd', 'constant' or None is known.")


@defines(signal.filtfilt)
def filtfilt(
    b: Any, a: Any, x: Any, axis: Any = -1, padtype: Any = "odd", padlen: Any = None, method: Any = "pad",
    irlen: Any = None,
) -> Any:  # fmt: skip
    if method != "pad":
        refuse("scipy.signal.filtfilt with method='gust'", "use method='pad'")
    check_padtype(padtype)
    b, a, x = coefficients(b), coefficients(a), np.moveaxis(np.asarray(x), axis, -1)
    n = x.shape[-1]
    edge = 0 if padtype is None else 3 * max(a.shape[0], b.shape[0]) if padlen is None else padlen
    if padtype is not None:
        x = extended(x, edge, padtype)
    zi = lfilter_zi(b, a)
    b, a = b / a[0], a / a[0]
    y = np.flip(filtered(b, a, x, zi * x[..., :1]), -1)
    y = np.flip(filtered(b, a, y, zi * y[..., :1]), -1)
    return np.moveaxis(y[..., edge : edge + n], -1, axis)


def sections(sos: Any) -> Any:
    sos = np.asarray(sos)
    if np.ndim(sos) != 2:
        raise ValueError("sos array must be 2D")
    if sos.shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    if np.any(sos[:, 3] != 1):
        raise ValueError("sos[:, 3] should be all ones")
    return sos


@defines(signal.sosfilt)
def sosfilt(sos: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    sos = sections(sos)
    x = np.asarray(x).astype(np.result_type(sos, np.asarray(x)))
    if zi is None:
        for k in range(sos.shape[0]):
            x = signal.lfilter(sos[k, :3], sos[k, 3:], x, axis)
        return x
    zi = np.asarray(zi)
    final = np.zeros(zi.shape)
    for k in range(sos.shape[0]):
        x, final[k] = signal.lfilter(sos[k, :3], sos[k, 3:], x, axis, zi[k])
    return x, final


@defines(signal.sosfilt_zi)
def sosfilt_zi(sos: Any) -> Any:
    sos = np.asarray(sos)
    if np.ndim(sos) != 2 or sos.shape[1] != 6:
        raise ValueError("sos must be shape (n_sections, 6)")
    sos = sos if np.issubdtype(sos.dtype, np.inexact) else sos.astype(np.float64)
    out = np.zeros((sos.shape[0], 2), sos.dtype)
    scale = np.ones((), sos.dtype)[()]
    for k in range(sos.shape[0]):
        b, a = sos[k, :3], sos[k, 3:]
        out[k] = scale * lfilter_zi(b, a)
        scale = scale * (np.sum(b) / np.sum(a))
    return out


@defines(signal.sosfiltfilt)
def sosfiltfilt(sos: Any, x: Any, axis: Any = -1, padtype: Any = "odd", padlen: Any = None) -> Any:
    check_padtype(padtype)
    sos = sections(sos)
    x = np.moveaxis(np.asarray(x).astype(np.result_type(sos, np.asarray(x))), axis, -1)
    n = x.shape[-1]
    taps = 2 * sos.shape[0] + 1 - min(np.sum(sos[:, 2] == 0), np.sum(sos[:, 5] == 0))
    edge = 0 if padtype is None else 3 * taps if padlen is None else padlen
    if padtype is not None:
        x = extended(x, edge, padtype)
    zi = sosfilt_zi(sos)
    y = np.flip(from_state(sos, x, zi), -1)
    y = np.flip(from_state(sos, y, zi), -1)
    return np.moveaxis(y[..., edge : edge + n], -1, axis)


def from_state(sos: Any, x: Any, zi: Any) -> Any:
    """The sections one after the other, in the state that the first element would have led to."""
    first = x[..., :1]
    for k in range(sos.shape[0]):
        x = filtered(sos[k, :3] / sos[k, 3], sos[k, 3:] / sos[k, 3], x, zi[k] * first)
    return x


# --- smoothing, trends, frequencies -----------------------------------------------------------------------------------


@defines(signal.savgol_filter)
def savgol_filter(
    x: Any, window_length: Any, polyorder: Any, deriv: Any = 0, delta: Any = 1.0, axis: Any = -1, mode: Any = "interp",
    cval: Any = 0.0,
) -> Any:  # fmt: skip
    if mode not in ("mirror", "constant", "nearest", "interp", "wrap"):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    x = np.asarray(x)
    if x.dtype != np.float64 and x.dtype != np.float32:
        x = x.astype(np.float64)
    taps = signal.savgol_coeffs(window_length, polyorder, deriv, delta)
    if mode != "interp":
        return ndimage.convolve1d(x, taps, axis, None, mode, cval)
    x = np.moveaxis(x, axis, -1)
    if window_length > x.shape[-1]:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    half = window_length // 2
    ends = savgol_edges(window_length, polyorder, deriv, delta).astype(x.dtype)
    y = ndimage.convolve1d(x, taps, -1, None, "constant")
    first = x[..., :window_length] @ ends[:half].T
    last = x[..., x.shape[-1] - window_length :] @ ends[window_length - half :].T
    y = np.concatenate((first, y[..., half : y.shape[-1] - half], last), axis=-1)
    return np.moveaxis(y, -1, axis)


@defines(signal.detrend)
def detrend(
    data: Any, axis: Any = -1, type: Any = "linear", bp: Any = 0, overwrite_data: Any = False
) -> Any:  # fmt: skip
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    x = np.asarray(data)
    if type in ("constant", "c"):
        return x - np.mean(x, axis, keepdims=True)
    if bp != 0:
        refuse("scipy.signal.detrend with bp=", "call it for each part")
    x = np.moveaxis(x if np.issubdtype(x.dtype, np.inexact) else x.astype(np.float64), axis, -1)
    basis = trend_basis(x.shape[-1]).astype(x.dtype)
    return np.moveaxis(x - (x @ basis) @ basis.T, -1, axis)


@defines(signal.hilbert)
def hilbert(x: Any, N: Any = None, axis: Any = -1) -> Any:
    x = np.asarray(x)
    if is_complex(x):
        raise ValueError("x must be real.")
    n = x.shape[axis] if N is None else N
    if n <= 0:
        raise ValueError("N must be positive.")
    spectrum = np.moveaxis(fft.fft(x, n, axis), axis, -1)
    weights = analytic_weights(n).astype(x.dtype if np.issubdtype(x.dtype, np.floating) else np.float64)
    return fft.ifft(np.moveaxis(spectrum * weights, -1, axis), None, axis)


@defines(signal.resample)
def resample(x: Any, num: Any, t: Any = None, axis: Any = 0, window: Any = None, domain: Any = "time") -> Any:
    if window is not None or t is not None or domain != "time":
        refuse("scipy.signal.resample with t, window or domain", "leave them out")
    x = np.moveaxis(np.asarray(x), axis, -1)
    if is_complex(x):
        refuse("scipy.signal.resample of complex numbers", "resample the real and the imaginary part")
    weights = resample_weights(x.shape[-1], num)
    kind = x.dtype if np.issubdtype(x.dtype, np.floating) else np.float64
    spectrum = fft.rfft(x)[..., : weights.shape[0]] * weights.astype(kind)
    return np.moveaxis(fft.irfft(spectrum, num), -1, axis)


# --- designs, windows -------------------------------------------------------------------------------------------------


def is_sections(design: Any, output: Any) -> Any:
    if output not in ("ba", "sos"):
        refuse(f"scipy.signal.{design} with output={output!r}", "use output='ba' or 'sos'")
    return output == "sos"


def options_of(btype: Any, analog: Any, fs: Any) -> Any:
    options: Any = {}
    if btype != "low":
        options["btype"] = btype
    if analog:
        options["analog"] = True
    if fs is not None:
        options["fs"] = fs
    return options


def in_sections(design: Any, given: Any, options: Any) -> Any:
    everything = [*given, *[(name, options[name]) for name in options]]
    return second_order_sections(design, [name for name, _ in everything], [value for _, value in everything])


@defines(signal.butter)
def butter(
    N: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", fs: Any = None,
) -> Any:  # fmt: skip
    options = options_of(btype, analog, fs)
    if is_sections("butter", output):
        return in_sections("butter", [("N", N), ("Wn", Wn)], options)
    b, a = signal.butter(N, Wn, **options)
    return b, a


@defines(signal.cheby1)
def cheby1(
    N: Any, rp: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", fs: Any = None,
) -> Any:  # fmt: skip
    options = options_of(btype, analog, fs)
    if is_sections("cheby1", output):
        return in_sections("cheby1", [("N", N), ("rp", rp), ("Wn", Wn)], options)
    b, a = signal.cheby1(N, rp, Wn, **options)
    return b, a


@defines(signal.cheby2)
def cheby2(
    N: Any, rs: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", fs: Any = None,
) -> Any:  # fmt: skip
    options = options_of(btype, analog, fs)
    if is_sections("cheby2", output):
        return in_sections("cheby2", [("N", N), ("rs", rs), ("Wn", Wn)], options)
    b, a = signal.cheby2(N, rs, Wn, **options)
    return b, a


@defines(signal.ellip)
def ellip(
    N: Any, rp: Any, rs: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", fs: Any = None,
) -> Any:  # fmt: skip
    options = options_of(btype, analog, fs)
    if is_sections("ellip", output):
        return in_sections("ellip", [("N", N), ("rp", rp), ("rs", rs), ("Wn", Wn)], options)
    b, a = signal.ellip(N, rp, rs, Wn, **options)
    return b, a


@defines(signal.windows.gaussian)
def gaussian(M: Any, std: Any, sym: Any = True, **options: Any) -> Any:
    if M < 1:
        return np.zeros(0)
    n = M if sym else M + 1
    x = np.arange(n) - (n - 1.0) / 2.0
    found = np.exp(-(x**2) / (2 * std * std))
    return found if sym else found[:-1]


__all__ = ["scipy"]
