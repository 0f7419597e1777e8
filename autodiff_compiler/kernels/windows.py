"""The places of the windows of convolutions and pooling. Strides, padding and dilations are as in TensorFlow.

Arrays have the axes ``(batch, *spatial, channels)``.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows over the spatial axes.

    sizes:     the lengths of the axes
    kernel:    along each axis, the number of elements of a window
    strides:   the distance from one window to the next
    dilations: the distance from one element of a window to the next
    before, after: the number of zeros in front of the array and behind it
    out:       along each axis, the number of windows
    """

    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    out: tuple[int, ...]

    @property
    def padded(self) -> tuple[int, ...]:
        """The lengths of the axes with padding."""
        return tuple(b + n + a for b, n, a in zip(self.before, self.sizes, self.after))

    def inside(self) -> tuple[slice, ...]:
        """The index of the array in the padded one."""
        return (slice(None), *[slice(b, b + n) for b, n in zip(self.before, self.sizes)])

    def pad(self, x: Any, fill: float = 0.0) -> Any:
        """`x` with its padding; `x` itself where there is none."""
        if not any(self.before) and not any(self.after):
            return x
        out = np.full((x.shape[0], *self.padded, x.shape[-1]), fill, x.dtype)
        out[self.inside()] = x
        return out

    def offsets(self) -> Iterator[tuple[int, ...]]:
        """The places of the elements in a window."""
        return itertools.product(*map(range, self.kernel))

    def taken(self, offset: tuple[int, ...]) -> tuple[slice, ...]:
        """The index into the padded array for the element at this place of all windows."""
        parts = zip(offset, self.dilations, self.strides, self.out)
        return (slice(None), *[slice(k * d, k * d + s * (n - 1) + 1 if n else k * d, s) for k, d, s, n in parts])

    def view(self, padded: Any) -> Any:
        """The windows ``(batch, *out, *kernel, channels)`` of a padded array, as a view."""
        padded = np.ascontiguousarray(padded)
        first, *spatial, last = padded.strides
        shape = (padded.shape[0], *self.out, *self.kernel, padded.shape[-1])
        steps = [n * s for n, s in zip(spatial, self.strides)]
        within = [n * d for n, d in zip(spatial, self.dilations)]
        if not math.prod(shape):
            return np.empty(shape, padded.dtype)
        return np.ndarray(shape, padded.dtype, padded, 0, (first, *steps, *within, last))


def windows(sizes: Sequence[int], kernel: Any, strides: Any, padding: Any, dilations: Any) -> Windows:
    """The windows over axes of these lengths. Raises ValueError for arguments that do not fit."""
    return _windows(tuple(sizes), *[_frozen(v) for v in (kernel, strides, padding, dilations)])


def _frozen(value: Any) -> Any:
    return value if isinstance(value, (int, str)) else tuple([_frozen(item) for item in value])


@functools.lru_cache(256)
def _windows(sizes: tuple[int, ...], kernel: Any, strides: Any, padding: Any, dilations: Any) -> Windows:
    rank = len(sizes)
    kernel, strides, dilations = (
        each(name, v, rank) for name, v in (("window", kernel), ("stride", strides), ("dilation", dilations))
    )
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    around = [
        _around(n, span, s, p) for n, span, s, p in zip(sizes, spans, strides, paddings(padding, rank), strict=True)
    ]
    out = tuple([(n + b + a - span) // s + 1 for n, (b, a), span, s in zip(sizes, around, spans, strides)])
    if min(out, default=0) < 0:
        raise ValueError(f"windows of {spans} elements do not fit into axes of {list(sizes)}, padded by {around}")
    before, after = tuple([b for b, _ in around]), tuple([a for _, a in around])
    return Windows(sizes, kernel, strides, dilations, before, after, out)


def each(name: str, value: Any, rank: int) -> tuple[int, ...]:
    """One number for each spatial axis.

    value: an int for all axes, one int for each spatial axis, or one for each axis of the array.
    """
    found = (value,) * rank if isinstance(value, (int, np.integer)) else tuple(value)
    if len(found) == 1:
        found = found * rank
    if len(found) == rank + 2 and found[0] == found[-1] == 1:
        found = found[1:-1]
    if len(found) != rank or not all(isinstance(n, (int, np.integer)) and n > 0 for n in found):
        raise ValueError(f"{name} {value!r} must be a positive int, or one for each of the {rank} spatial axes")
    return tuple([int(n) for n in found])


def paddings(padding: Any, rank: int) -> list[Any]:
    """For each spatial axis "SAME", or the number of elements in front and behind."""
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(f"padding {padding!r} must be 'SAME', 'VALID' or pairs of ints")
        return [padding.upper() if padding.upper() == "SAME" else (0, 0)] * rank
    pairs = [tuple(pair) for pair in padding]
    if len(pairs) == rank + 2 and pairs[0] == pairs[-1] == (0, 0):
        pairs = pairs[1:-1]
    if len(pairs) != rank or not all(len(pair) == 2 and min(pair) >= 0 for pair in pairs):
        raise ValueError(f"padding {padding!r} must be 'SAME', 'VALID' or a pair of ints for each of {rank} axes")
    return pairs


def _around(size: int, span: int, stride: int, padding: Any) -> tuple[int, int]:
    if padding != "SAME":
        return padding  # type: ignore[no-any-return]
    total = max((math.ceil(size / stride) - 1) * stride + span - size, 0)
    return total // 2, total - total // 2
