"""What the derivatives of the filters of `scipy.ndimage` need and SciPy has no function for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

# How NumPy calls what SciPy does at the border.
_PADDING = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip


def each(x: Any, n: int) -> list[Any]:
    """A setting for each of `n` axes, where one may stand for all."""
    return list(x) if isinstance(x, (tuple, list, np.ndarray)) else [x] * n


def _border(size: int, origin: int) -> tuple[int, int]:
    """How many elements a filter of this size looks at before and behind each element."""
    before = size // 2 + origin
    return before, size - 1 - before


def _padded(x: Any, shape: Any, mode: str, cval: Any, origin: Any) -> Any:
    """`x` with the border that a filter of this shape sees."""
    for axis, (size, shift) in enumerate(zip(shape, each(origin, x.ndim))):
        widths = [(0, 0)] * x.ndim
        widths[axis] = _border(size, shift)
        options = {"constant_values": cval} if _PADDING[mode] == "constant" else {}
        if max(widths[axis]) > 0:
            x = np.pad(x, widths, _PADDING[mode], **options)  # type: ignore[call-overload]
    return x


def _folded(x: Any, axis: int, n: int, before: int, mode: str) -> Any:
    """The transpose of the border along one axis: what was made of an element is added to it."""
    x = np.moveaxis(x, axis, 0)
    out = x[before : before + n].copy()
    if _PADDING[mode] != "constant":
        behind = len(x) - n - before
        places = np.pad(np.arange(n), (before, behind), _PADDING[mode])  # type: ignore[call-overload]
        border = np.r_[:before, before + n : len(x)]
        np.add.at(out, places[border], x[border])
    return np.moveaxis(out, 0, axis)


def correlate_back(g: Any, weights: Any, mode: str, origin: Any) -> Any:
    """The transpose of ``scipy.ndimage.correlate`` in its input."""
    g, weights = np.asarray(g), np.asarray(weights)
    if g.size == 0:
        return np.zeros_like(g)
    shape = tuple([n + k - 1 for n, k in zip(g.shape, weights.shape)])
    out = np.zeros(shape, np.float64)
    for place in np.ndindex(*weights.shape):
        out[tuple([slice(k, k + n) for k, n in zip(place, g.shape)])] += weights[place] * g
    for axis, shift in enumerate(each(origin, g.ndim)):
        out = _folded(out, axis, g.shape[axis], _border(weights.shape[axis], shift)[0], mode)
    return out.astype(g.dtype)


def correlate_weights(g: Any, x: Any, shape: Any, mode: str, cval: float, origin: Any) -> Any:
    """The transpose of ``scipy.ndimage.correlate`` in its weights, which have this shape."""
    g, x = np.asarray(g), np.asarray(x)
    if g.size == 0:
        return np.zeros(shape, g.dtype)
    x = _padded(x, shape, mode, cval, origin)
    out = np.zeros(shape, g.dtype)
    for place in np.ndindex(*shape):
        out[place] = np.sum(g * x[tuple([slice(k, k + n) for k, n in zip(place, g.shape)])])
    return out


def along_axis(weights: Any, axis: int, ndim: int) -> Any:
    """A vector as an array of so many axes."""
    shape = [1] * ndim
    shape[axis] = -1
    return np.reshape(weights, shape)


def direction(angle: float) -> Any:
    """Cosine and sine of an angle in degrees, exact for right angles."""
    return np.array([special.cosdg(angle), special.sindg(angle)])


def rotated_lengths(turn: Any, rows: int, columns: int) -> tuple[int, int]:
    """The lengths of the image that holds all of a turned one."""
    c, s = turn
    bounds = np.array([[c, s], [-s, c]]) @ [[0, 0, rows, rows], [0, columns, 0, columns]]
    height, width = (np.ptp(bounds, axis=1) + 0.5).astype(int)
    return int(height), int(width)


def rank_places(x: Any, footprint: Any, rank: int, mode: str, cval: float, origin: Any) -> Any:
    """For each element, which one the filter takes: the element of this rank among its neighbours. -1: the fill value.

    Of equal elements, the first one counts.
    """
    x, footprint = np.asarray(x), np.asarray(footprint, bool)
    if x.size == 0:
        return np.zeros(x.shape, np.int64)
    numbers = np.arange(x.size).reshape(x.shape)
    padded = _padded(x, footprint.shape, mode, cval, origin)
    places = _padded(numbers, footprint.shape, mode, -1, origin)
    windows = [
        tuple([slice(k, k + n) for k, n in zip(place, x.shape)])
        for place in np.ndindex(*footprint.shape)
        if footprint[place]
    ]
    values = np.stack([padded[window] for window in windows])
    chosen = np.argsort(values, axis=0, kind="stable")[rank]
    return np.take_along_axis(np.stack([places[window] for window in windows]), chosen[None], axis=0)[0]
