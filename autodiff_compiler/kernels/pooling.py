"""Maxima and sums of windows. Shapes: `x` ``(batch, *sizes, channels)``, results ``(batch, *out, channels)``."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .dispatch import dispatched
from .special import floating
from .windows import Windows, windows


@dispatched
def pool_places(x: Any, kernel: Any, strides: Any, padding: Any) -> Any:
    """The index into the flat `x` of each window's maximum. Of equal elements it is the first; nan is the largest."""
    x = floating(x)
    at = _windows(x, kernel, strides, padding)
    if any(max(b, a) >= k for k, b, a in zip(at.kernel, at.before, at.after)):
        raise ValueError("a window would lie in the padding altogether: use less padding or larger windows")
    padded = at.pad(x, -np.inf)
    first, *others = at.offsets()
    best = padded[at.taken(first)].copy()
    number = np.zeros(best.shape, np.min_scalar_type(len(others)))
    with_nan = bool(np.isnan(np.max(x, initial=-np.inf)))
    for k, offset in enumerate(others, start=1):
        found = padded[at.taken(offset)]
        better = found > best
        if with_nan:
            better |= np.isnan(found) & ~np.isnan(best)
        np.maximum(best, found, out=best)
        np.copyto(number, k, where=better, casting="unsafe")
    return _flat(x.shape, at, number)


def _flat(shape: tuple[int, ...], at: Windows, number: Any) -> Any:
    """The index into the flat array of one element of each window. `number`: the element's place in its window."""
    table, row = _elements(at)
    index = np.take(table * shape[-1], number + row)
    index += np.arange(shape[-1])
    index += (np.arange(shape[0]) * math.prod(shape[1:])).reshape(-1, *[1] * (len(at.sizes) + 1))
    return index


@functools.lru_cache(8)
def _elements(at: Windows) -> tuple[Any, Any]:
    """A table of places in an image, by window and element, and for each window where its row of the table begins."""
    rank = len(at.sizes)
    table: Any = np.zeros([1] * (2 * rank), np.intp)
    for axis, size in enumerate(at.sizes):
        places = np.arange(at.out[axis])[:, None] * at.strides[axis] - at.before[axis] + np.arange(at.kernel[axis])
        # The maximum lies in the padding only if it is -inf. Then each element of the window is -inf.
        places = np.clip(places, 0, size - 1)
        along = [1] * (2 * rank)
        along[axis], along[rank + axis] = places.shape
        table = table * size + places.reshape(along)
    row = (np.arange(math.prod(at.out)) * math.prod(at.kernel)).reshape(*at.out, 1)
    return table.reshape(-1), row


@dispatched
def pool_sum(x: Any, kernel: Any, strides: Any, padding: Any) -> Any:
    """The sum of each window."""
    x = floating(x)
    at = _windows(x, kernel, strides, padding)
    out = at.pad(x)
    for axis, (k, s, n) in enumerate(zip(at.kernel, at.strides, at.out), start=1):
        out = sum(out[_along(axis, offset, s, n)] for offset in range(1, k)) + out[_along(axis, 0, s, n)]
    return out.copy() if np.may_share_memory(out, x) else out


@dispatched
def pool_spread(g: Any, sizes: Any, kernel: Any, strides: Any, padding: Any) -> Any:
    """The transpose of `pool_sum`: each element of `g` is added to all elements of its window."""
    g = floating(g)
    at = windows(sizes, kernel, strides, padding, 1)
    if g.shape[1:-1] != at.out:
        raise ValueError(f"pooling axes {at.sizes} gives {at.out}, not {g.shape[1:-1]}")
    for axis, (k, s, n, length) in enumerate(zip(at.kernel, at.strides, at.out, at.padded), start=1):
        out = np.zeros((*g.shape[:axis], length, *g.shape[axis + 1 :]), g.dtype)
        for offset in range(k):
            out[_along(axis, offset, s, n)] += g
        g = out
    return g[at.inside()]


@dispatched
def pool_count(x: Any, kernel: Any, strides: Any, padding: Any) -> Any:
    """The number of elements of `x` in each window, of shape ``(1, *out, 1)``, in the dtype of `x`."""
    x = floating(x)
    at = _windows(x, kernel, strides, padding)
    out: Any = np.ones((1, *[1] * (x.ndim - 1)), x.dtype)
    for axis, (k, s, n, b, size) in enumerate(zip(at.kernel, at.strides, at.out, at.before, at.sizes), start=1):
        first = np.arange(n) * s - b
        inside = np.minimum(first + k, size) - np.maximum(first, 0)
        out = out * inside.astype(x.dtype).reshape(-1, *[1] * (x.ndim - 1 - axis))
    return out


def _windows(x: Any, kernel: Any, strides: Any, padding: Any) -> Windows:
    if x.ndim < 3:
        raise ValueError(f"pooling needs an array with axes (batch, *spatial, channels), not one of shape {x.shape}")
    return windows(x.shape[1:-1], kernel, strides, padding, 1)


def _along(axis: int, offset: int, stride: int, count: int) -> tuple[slice, ...]:
    """An index for `count` elements of the axis, from `offset` in steps of `stride`."""
    return (*[slice(None)] * axis, slice(offset, offset + stride * (count - 1) + 1 if count else offset, stride))
