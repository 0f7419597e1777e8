"""Operations that rearrange elements into memory of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.array import value_of
from .row import row


def counts(numbers: Any) -> tuple[int, ...]:
    """Numbers that are given one by one, or as one sequence."""
    if len(numbers) == 1 and isinstance(numbers[0], (tuple, list)):
        numbers = numbers[0]
    found: tuple[int, ...] = tuple([int(n) for n in numbers])
    return found


def repeated(a: Any, times: Any, axis: Any = None) -> Any:
    """Each element, or each part along an axis, repeated."""
    (axis,) = axis if isinstance(axis, tuple) else (axis,)
    if axis is None:
        a, axis = np.reshape(a, (-1,)), 0
    times = times._value if hasattr(times, "_value") else times
    return np.take(a, np.repeat(np.arange(value_of(a).shape[axis]), times), axis)


def _rolled(a: Any, shift: Any, axis: Any = None) -> Any:
    if isinstance(shift, tuple):
        for n, k in zip(shift, axis if isinstance(axis, tuple) else (axis,)):
            a = np.roll(a, n, k)
        return a
    return np.roll(a, shift, axis)


def _squeezed(a: Any, axis: Any) -> Any:
    shape = value_of(a).shape
    for k in () if axis is None else np.atleast_1d(axis).tolist():
        if shape[k] != 1:
            raise ValueError(f"Can not squeeze dim[{k}], expected a dimension of 1, got {shape[k]}")
    return np.squeeze(a) if axis is None or axis == () else np.squeeze(a, axis=axis)


row("arrays", lambda a, times: np.tile(a, times), "Tile", "The tensor laid side by side.",
    "tile (input, multiples, name=None)")  # fmt: skip
row("arrays", lambda a, *times: np.tile(a, counts(times)), "Repeat", "The tensor laid side by side.", "",
    "tile .repeat (input, *dims)")  # fmt: skip
row("arrays", repeated, "RepeatInterleave", "Each element, or each part along an axis, repeated.",
    "repeat (input, repeats, axis=None, name=None)", "repeat_interleave (input, repeats, dim=None)")  # fmt: skip
row("arrays", lambda a, axis: np.flip(a, axis=axis), "Flip", "The elements in the opposite order along axes.",
    "reverse (tensor, axis, name=None)")  # fmt: skip
row("arrays", _rolled, "Roll", "The elements moved along axes; those that leave come back at the other end.",
    "roll (input, shift, axis, name=None)", "roll (input, shifts, dims=None)")  # fmt: skip
row("arrays", lambda a, axis: np.expand_dims(a, axis), "ExpandDims", "A new axis of length 1.",
    "expand_dims (input, axis, name=None)")  # fmt: skip
row("arrays", _squeezed, "Squeeze", "Without axes of length 1: all of them, or these.",
    "squeeze (input, axis=None, name=None)")  # fmt: skip
row("arrays", np.broadcast_to, "BroadcastTo", "The tensor repeated up to a shape, as arithmetic would.",
    "broadcast_to (input, shape, name=None)")  # fmt: skip
row("arrays", np.diag, "Diag", "The diagonal of a matrix, or the matrix with a diagonal.", "",
    "diag (input, diagonal=0)")  # fmt: skip
