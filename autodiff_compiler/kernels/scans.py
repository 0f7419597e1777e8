"""Scans, and shifted or embedded copies of arrays. Derivative rules need them, and NumPy lacks them."""

from __future__ import annotations

from typing import Any

import numpy as np


def linear_scan(g: Any, x: Any, axis: int) -> Any:
    """``s[i] = g[i] + x[i] * s[i - 1]`` along an axis, with ``s[-1] = 0``.

    Shapes: `g` and `x` are equal; so is the result. Reference: Blelloch, Prefix sums and their applications (1990).
    """
    g, x = np.asarray(g), np.asarray(x)
    out = np.empty(g.shape, np.result_type(g, x))
    moved, gs, xs = np.moveaxis(out, axis, 0), np.moveaxis(g, axis, 0), np.moveaxis(x, axis, 0)
    for i in range(len(moved)):
        moved[i] = gs[i] if i == 0 else gs[i] + xs[i] * moved[i - 1]
    return out


def flip_scan(g: Any, x: Any, axis: int) -> Any:
    """``s[i] = g[i] + x[i + 1] * s[i + 1]`` along an axis: the transpose of `linear_scan` in `g`."""
    g, x = np.asarray(g), np.asarray(x)
    out = np.empty(g.shape, np.result_type(g, x))
    moved, gs, xs = np.moveaxis(out, axis, 0), np.moveaxis(g, axis, 0), np.moveaxis(x, axis, 0)
    last = len(moved) - 1
    for i in range(last, -1, -1):
        moved[i] = gs[i] if i == last else gs[i] + xs[i + 1] * moved[i + 1]
    return out


def shift(x: Any, axis: int, fill: float, step: int = 1) -> Any:
    """`x` moved by one place along an axis, forwards (``step=1``) or backwards (``-1``). The free end is `fill`."""
    x = np.asarray(x)
    out = np.empty_like(x)
    to, source = np.moveaxis(out, axis, 0), np.moveaxis(x, axis, 0)
    if step == 1:
        to[1:], to[:1] = source[:-1], fill
    else:
        to[:-1], to[-1:] = source[1:], fill
    return out


def embed(x: Any, axis: int, start: int, length: int) -> Any:
    """Zeros of this length along an axis, with `x` from `start` on. The rest of `x` is cut off."""
    x = np.atleast_1d(x)
    shape = list(x.shape)
    shape[axis] = length
    out = np.zeros(shape, x.dtype)
    n = max(min(x.shape[axis], length - start), 0)
    np.moveaxis(out, axis, 0)[start : start + n] = np.moveaxis(x, axis, 0)[:n]
    return out


def overlap(g: Any, other: Any, start: int, length: int) -> Any:
    """The cotangent of one operand of ``np.convolve``.

    start: the place of `g` in the full convolution. length: that of the operand.
    """
    g, other = np.asarray(g), np.asarray(other)
    full = embed(g, 0, start, length + len(other) - 1)
    return np.convolve(full, other[::-1], "valid")


def split_like(g: Any, arrays: Any, axis: int) -> list[Any]:
    """Split the cotangent `g` of a concatenation into those of the arrays."""
    ends = np.cumsum([np.shape(a)[axis] for a in arrays])
    return [np.array(part) for part in np.split(g, ends[:-1], axis)] if len(arrays) else []
