"""Convolutions and their transposes, as neural networks use them: filters are not flipped.

The form ``sum(g * conv(x, filters))`` is linear in each of `g`, `x` and `filters`. The three functions are its
derivatives by these. Shapes: `x` ``(batch, *sizes, channels)``, `filters`
``(*kernel, channels // groups, outputs)``, `g` ``(batch, *out, outputs)``. Windows are copied into matrices that fit
into a cache, for some images at a time, or for some rows of one image.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .dispatch import dispatched
from .special import floating
from .windows import Windows, windows

_CACHE = 1 << 20  # bytes of a matrix of windows


@dispatched
def conv(x: Any, filters: Any, strides: Any, padding: Any, dilations: Any, groups: int) -> Any:
    """The products of `filters` with the windows of `x`, of shape ``(batch, *out, outputs)``."""
    x, filters = floating(x), floating(filters)
    at = _windows(x, filters, strides, padding, dilations, groups)
    if not groups:  # there are no channels
        return np.empty((len(x), *at.out, 0), np.result_type(x, filters))
    matrices = _matrices(filters, groups)
    view = at.view(at.pad(x))
    out = np.empty((len(x), *at.out, filters.shape[-1]), np.result_type(x, filters))
    for part in _chunks(len(x), *view.shape[1:], x.itemsize):
        found = _columns(view[part], at, groups) @ matrices
        out[part] = _joined(found).reshape(out[part].shape)
    return out


@dispatched
def conv_input(
    g: Any, filters: Any, sizes: Any, strides: Any, padding: Any, dilations: Any, groups: int
) -> Any:  # fmt: skip
    """The derivative by `x`, whose spatial axes have the lengths `sizes`: the transposed convolution of `g`."""
    g, filters = floating(g), floating(filters)
    kernel, outputs = filters.shape[:-2], filters.shape[-1]
    channels = filters.shape[-2] * groups
    at = windows(sizes, kernel, strides, padding, dilations)
    if not groups:
        return np.empty((len(g), *at.sizes, 0), np.result_type(g, filters))
    if g.shape[1:] != (*at.out, outputs) or outputs % groups:
        raise ValueError(f"the convolution of axes {at.sizes} gives {(*at.out, outputs)}, not {g.shape[1:]}")
    out = np.zeros((len(g), *at.padded, channels), np.result_type(g, filters))
    parts = filters.reshape(math.prod(kernel), channels // groups, groups, outputs // groups)
    turned = parts.transpose(0, 2, 3, 1)  # a matrix for each place in a window and each group
    for part in _chunks(len(g), *at.out, *at.kernel, channels, g.itemsize):
        images, rows = part
        found = _grouped(g[part], groups) @ turned
        for number, offset in enumerate(at.offsets()):
            place = out[images][at.taken(offset)][:, rows]
            place += _joined(found[number]).reshape(place.shape)
    return out[at.inside()]


@dispatched
def conv_filters(
    x: Any, g: Any, kernel: Any, strides: Any, padding: Any, dilations: Any, groups: int
) -> Any:  # fmt: skip
    """The derivative by `filters`, whose spatial axes have the lengths `kernel`."""
    x, g = floating(x), floating(g)
    at = windows(x.shape[1:-1], kernel, strides, padding, dilations)
    channels, outputs = x.shape[-1], g.shape[-1]
    if g.shape[:-1] != (len(x), *at.out) or channels % groups or outputs % groups:
        raise ValueError(f"the convolution of {x.shape} gives {(len(x), *at.out)}, not {g.shape[:-1]}")
    view = at.view(at.pad(x))
    size = math.prod(at.kernel) * (channels // groups)
    out = np.zeros((groups, size, outputs // groups), np.result_type(x, g))
    for part in _chunks(len(x), *view.shape[1:], x.itemsize):
        out += np.swapaxes(_columns(view[part], at, groups), 1, 2) @ _grouped(g[part], groups)
    return np.moveaxis(out, 0, 1).reshape(*at.kernel, channels // groups, outputs)


def _windows(x: Any, filters: Any, strides: Any, padding: Any, dilations: Any, groups: int) -> Windows:
    if x.ndim < 3 or filters.ndim != x.ndim:
        raise ValueError(f"a convolution needs an array and filters of as many axes, not {x.shape} and {filters.shape}")
    if x.shape[-1] != filters.shape[-2] * groups or (groups and filters.shape[-1] % groups):
        grouped = f" in {groups} groups" if groups > 1 else ""
        raise ValueError(
            f"filters of shape {filters.shape}{grouped} do not fit the channels of an array of shape {x.shape}"
        )
    return windows(x.shape[1:-1], filters.shape[:-2], strides, padding, dilations)


def _chunks(count: int, rows: int, *sizes: int) -> Iterator[tuple[slice, slice]]:
    """Parts of a batch that fit into a cache, as slices of images and of rows.

    count: images. rows: rows of an image. sizes: their product is the number of bytes of a row.
    """
    row = max(1, math.prod(sizes))
    images = _CACHE // max(1, rows * row)
    if images:
        yield from ((slice(k, k + images), slice(None)) for k in range(0, count, images))
        return
    step = max(1, _CACHE // row)
    yield from ((slice(k, k + 1), slice(r, r + step)) for k in range(count) for r in range(0, rows, step))


def _columns(view: Any, at: Windows, groups: int) -> Any:
    """Windows as the rows of a matrix ``(groups, windows, kernel * channels // groups)``."""
    count, each = math.prod(view.shape[: len(at.out) + 1]), math.prod(at.kernel)
    channels = view.shape[-1]
    if groups == 1:
        return view.reshape(1, count, each * channels)
    parts = view.reshape(count, each, groups, channels // groups)
    return np.moveaxis(parts, 2, 0).reshape(groups, count, each * channels // groups)


def _matrices(filters: Any, groups: int) -> Any:
    """Filters as matrices ``(groups, kernel * channels // groups, outputs // groups)``."""
    outputs = filters.shape[-1]
    return np.moveaxis(filters.reshape(math.prod(filters.shape[:-1]), groups, outputs // groups), 1, 0)


def _grouped(g: Any, groups: int) -> Any:
    """Cotangents as matrices ``(groups, windows, outputs // groups)``."""
    outputs = g.shape[-1]
    return np.moveaxis(g.reshape(math.prod(g.shape[:-1]), groups, outputs // groups), 1, 0)


def _joined(found: Any) -> Any:
    """``(groups, windows, n)`` as ``(windows, groups, n)``, so that the channels of all groups are adjacent."""
    return found[0] if len(found) == 1 else np.moveaxis(found, 0, 1)
