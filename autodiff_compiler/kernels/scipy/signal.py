"""What the derivatives of `scipy.signal` need and SciPy has no function for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal


def convolved_start(n: int, m: int, mode: str, swapped: bool) -> int:
    """Where the result begins within the full convolution of `n` and `m` elements along an axis."""
    if mode == "full":
        return 0
    if mode == "valid":
        return (n if swapped else m) - 1
    return (m - 1) // 2


def convolve_back(g: Any, other: Any, shape: Any, mode: str, first: bool) -> Any:
    """The transpose of ``scipy.signal.convolve`` in the operand of this shape, the `first` or the second one."""
    g, other = np.asarray(g), np.asarray(other)
    a, b = (shape, other.shape) if first else (other.shape, shape)
    swapped = any(n < m for n, m in zip(a, b))
    full = np.zeros([n + m - 1 for n, m in zip(a, b)], g.dtype)
    starts = [convolved_start(n, m, mode, swapped) for n, m in zip(a, b)]
    full[tuple([slice(start, start + k) for start, k in zip(starts, g.shape)])] = g
    return signal.convolve(full, np.flip(other), "valid")


def filtered(b: Any, a: Any, x: Any, zi: Any, axis: int = -1) -> Any:
    """What `scipy.signal.lfilter` gives for a signal, started in the state `zi`."""
    return signal.lfilter(b, a, x, axis, zi=zi)[0]


def lag_products(u: Any, x: Any, count: int, axis: int) -> Any:
    """For each lag ``k < count`` the sum of ``u[n] * x[n - k]`` along the axis and over all others."""
    u, x = np.moveaxis(np.asarray(u), axis, -1), np.moveaxis(np.asarray(x), axis, -1)
    n = x.shape[-1]
    return np.array([np.sum(u[..., k:] * x[..., : max(n - k, 0)]) for k in range(count)])


def analytic_weights(n: int) -> Any:
    """The factors of the frequencies that make a signal of `n` elements analytic."""
    out = np.zeros(n)
    out[0] = 1
    out[1 : (n + 1) // 2] = 2
    if n % 2 == 0:
        out[n // 2] = 1
    return out


def resample_weights(n: int, num: int) -> Any:
    """The factors of the frequencies that are kept where `n` elements become `num`."""
    m = min(n, num)
    out = np.full(m // 2 + 1, num / n)
    if m % 2 == 0 and n != num:
        out[-1] *= 2 if num < n else 0.5
    return out


def one_sided_weights(n: int) -> Any:
    """How many frequencies of `n` each of the first half stands for."""
    out = np.full(n // 2 + 1, 2.0)
    out[0] = 1
    if n % 2 == 0:
        out[-1] = 1
    return out


def trend_basis(n: int) -> Any:
    """An orthonormal basis of the lines through `n` points, as columns."""
    return np.linalg.qr(np.stack([np.arange(1, n + 1) / n, np.ones(n)], axis=1))[0]


def savgol_edges(window_length: int, polyorder: int, deriv: int, delta: float) -> Any:
    """The matrix of a Savitzky-Golay filter on as many elements as its window has."""
    return signal.savgol_filter(np.eye(window_length), window_length, polyorder, deriv, delta, 0)


def second_order_sections(design: str, names: Any, values: Any) -> Any:
    """The filter of this design in sections of second order."""
    return getattr(signal, design)(output="sos", **dict(zip(names, values)))


def peaks(
    x: Any, height: Any, threshold: Any, distance: Any, prominence: Any, width: Any, wlen: Any, rel_height: Any,
    plateau_size: Any,
) -> Any:  # fmt: skip
    """The places of the peaks."""
    return signal.find_peaks(x, height, threshold, distance, prominence, width, wlen, rel_height, plateau_size)[0]


def extrema(x: Any, order: int, mode: str) -> Any:
    """The places of the relative maxima of a vector."""
    return signal.argrelmax(x, 0, order, mode)[0]
