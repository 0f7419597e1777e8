"""Quadrature rules that the kernels share. All integrands are positive or change their sign once, and are smooth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_BLOCK = 1 << 18  # numbers that an integrand makes at a time


def half_line(step: float = 0.03, reach: float = 4.7) -> tuple[Any, Any]:
    """Points and weights for the integral from 0 to infinity: the rule of Takahasi and Mori, ``t = exp(sinh)``.

    It is meant for integrands on a scale of 1 that fall off at both ends, however slowly, and may have a root at 0.
    """
    u = np.arange(-reach, reach + 0.5 * step, step)
    t = np.exp(0.5 * np.pi * np.sinh(u))
    return t, step * 0.5 * np.pi * np.cosh(u) * t


def panels(low: Any, high: Any, count: int, points: int = 20) -> tuple[Any, Any]:
    """Points and weights of Gauss's rule on equal parts of intervals, in a last axis that is added to their bounds."""
    x, w = np.polynomial.legendre.leggauss(points)
    nodes = np.concatenate([(0.5 * (x + 1) + k) / count for k in range(count)])
    width = (np.asarray(high) - np.asarray(low))[..., None]
    return np.asarray(low)[..., None] + width * nodes, width * np.tile(0.5 * w / count, count)


def in_blocks(fn: Callable[..., Any], size: int, *args: Any) -> Any:
    """``fn(*args)`` on flat float64 arrays of the broadcast shape, a part at a time: `fn` makes `size` numbers of
    each element."""
    arrays = np.broadcast_arrays(*args)
    dtype = dtype_of(*args)
    shape = arrays[0].shape
    flat = [np.ravel(a).astype(np.float64) for a in arrays]
    length = max(_BLOCK // size, 1)
    out = np.empty(flat[0].size)
    with np.errstate(all="ignore"):
        for part in _parts(flat[0].size, length):
            out[part] = fn(*[a[part] for a in flat])
    return out.reshape(shape).astype(dtype)[()]


def dtype_of(*args: Any) -> Any:
    """The dtype of the result of a function of real numbers, as SciPy's ufuncs have it: float32 or float64."""
    if all(isinstance(a, (bool, int, float)) and not isinstance(a, np.generic) for a in args):
        return np.dtype(np.float64)
    found = np.result_type(np.float32, *args)
    if found.kind != "f":
        raise TypeError(f"this function takes real numbers, and its arguments are {found}")
    return found


def _parts(size: int, length: int) -> Iterator[slice]:
    for start in range(0, size, length):
        yield slice(start, start + length)
