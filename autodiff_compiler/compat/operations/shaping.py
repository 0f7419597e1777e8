"""Operations that rearrange elements into memory of their own."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import numpy as np

from ..graph.array import to, value_of
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
row("arrays", np.tile, "Repeat", "The tensor laid side by side.", "", "tile .repeat (input, *repeats)")
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
row("arrays", lambda a, axes: np.flip(a, axes) if value_of(a).ndim else np.positive(a), "Flip",
    "The elements in the opposite order along axes.", "", "flip (input, *dims)")  # fmt: skip


def _parts(a: Any, given: Any, axis: int, *_: Any) -> Any:
    """Equally many elements each, or as many as a list says, in which one may be -1."""
    shape = value_of(a).shape
    if not shape:
        raise ValueError("a number has no axis to split")
    axis %= len(shape)
    length = shape[axis]
    if isinstance(given, int):
        if given <= 0 or length % given:
            raise ValueError(
                f"Number of ways to split should evenly divide the split dimension, but got split_dim {axis} (size = "
                f"{length}) and num_split {given}"
            )
        ends = range(0, length + 1, length // given) if length else [0] * (given + 1)
    else:
        rest = length - sum([n for n in given if n >= 0])
        ends = list(itertools.accumulate([rest if n == -1 else n for n in given], initial=0))
        if ends[-1] != length:
            raise ValueError(f"Determined shape must match input shape along split_dim {length}. Got: {ends[-1]}")
    before = (slice(None),) * axis
    return [a[(*before, slice(start, end))] for start, end in itertools.pairwise(ends)]


def _rows(a: Any, count: Any, axis: int) -> Any:
    if not value_of(a).ndim:
        raise ValueError(f"Argument `axis` = {axis} not in range [0, 0)")
    axis %= value_of(a).ndim
    return [a[(*(slice(None),) * axis, k)] for k in range(value_of(a).shape[axis])]


def _padded(a: Any, widths: Any, mode: str, constant: Any) -> Any:
    """Elements before and after each axis."""
    v = value_of(a)
    if mode.upper() == "CONSTANT":
        if hasattr(constant, "shape") or constant != 0:
            return np.where(np.pad(np.ones(v.shape, bool), widths), np.pad(a, widths), to(constant, v.dtype))
        return np.pad(a, widths)
    if mode.upper() not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f'`mode` is one of "CONSTANT", "REFLECT", or "SYMMETRIC", not "{mode}"')
    for axis, width in enumerate(widths):
        a = np.take(a, np.pad(np.arange(v.shape[axis]), width, mode.lower()), axis=axis)  # type: ignore[call-overload]
    return a


def _block(a: Any, begin: Any, sizes: Any) -> Any:
    items = []
    for k, (length, start, n) in enumerate(zip(value_of(a).shape, begin, sizes)):
        end = length if n == -1 else start + n
        if not 0 <= start <= end <= length:
            raise ValueError(f"Expected size[{k}] in [0, {length - start}], but got {n}")
        items.append(slice(start, end))
    return a[tuple(items)]


def _sum(parts: Any) -> Any:
    shapes = [value_of(a).shape for a in parts]
    if len(set(shapes)) != 1:
        raise ValueError(f"Inputs must have one shape, not {shapes}")
    return functools.reduce(operator.add, parts[1:], np.positive(parts[0]))


def _of_shape(a: Any, lengths: Any) -> Any:
    shape = value_of(a).shape
    if len(shape) != len(lengths) or any(wanted not in (n, None) for n, wanted in zip(shape, lengths)):
        raise ValueError(f"Shape of tensor {list(shape)} is not compatible with expected shape {list(lengths)}.")
    return np.positive(a)


row("arrays", np.concatenate, "ConcatV2", "Tensors joined along an axis.", "concat (values, axis, name='concat')",
    operands=-1)  # fmt: skip
row("arrays", np.stack, "Pack", "Tensors of one shape, side by side along a new axis.",
    "stack (values, axis=0, name='stack')", operands=-1)  # fmt: skip
row("arrays", _sum, "AddN", "The sum of tensors of one shape and dtype.", "add_n math.add_n (inputs, name=None)",
    operands=-1)  # fmt: skip
row("arrays", _of_shape, "EnsureShape", "`x`, if it has this shape, in which None stands for any length.",
    "ensure_shape (x, shape, name=None)")  # fmt: skip
row("arrays", lambda a, dtype: np.array(value_of(a).shape, dtype), "Shape", "The shape as a tensor.",
    "shape (input, out_type='int32', name=None)")  # fmt: skip
row("arrays", lambda a, dtype: dtype.type(value_of(a).size), "Size", "The number of elements as a tensor.",
    "size (input, out_type='int32', name=None)")  # fmt: skip
row("arrays", lambda a: np.int32(value_of(a).ndim), "Rank", "The number of axes as a tensor.",
    "rank (input, name=None)")  # fmt: skip
row("arrays", _parts, "Split", "Parts along an axis: equally many elements each, or as many as a list says, in which "
    "one may be -1.", "split (value, num_or_size_splits, axis=0, num=None, name='split')")  # fmt: skip
row("arrays", _rows, "Unpack", "The parts along an axis, without it.",
    "unstack (value, num=None, axis=0, name='unstack')")  # fmt: skip
row("arrays", _padded, "Pad", "Elements before and after each axis: constant, or the mirror image without ('REFLECT') "
    "or with ('SYMMETRIC') the edge.",
    "pad (tensor, paddings, mode='CONSTANT', constant_values=0, name=None)")  # fmt: skip
row("arrays", _block, "Slice", "A block of this size from `begin` on; -1 takes all that remains.",
    "slice (input_, begin, size, name=None)")  # fmt: skip

# --- views, which PyTorch has -----------------------------------------------------------------------------------------


def _swapped(a: Any, first: Any, second: Any) -> Any:
    return np.reshape(a, ()) if first is None else np.swapaxes(a, first, second)


def _turned(a: Any) -> Any:
    n = value_of(a).ndim
    if n > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {n}D")
    return np.transpose(a)


def _without(a: Any, axes: Any) -> Any:
    """Without those of the axes, by default all, that have the length 1."""
    shape = value_of(a).shape
    chosen = range(len(shape)) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    return np.reshape(a, tuple([n for k, n in enumerate(shape) if n != 1 or k not in chosen]))


def _expanded(a: Any, given: Any) -> Any:
    shape = value_of(a).shape
    known = (1,) * (len(given) - len(shape)) + shape
    wanted = tuple([n if g == -1 else g for g, n in zip(given, known)])
    if len(given) < len(shape) or any(n not in (1, w) for n, w in zip(known, wanted)):
        raise RuntimeError(
            f"The expanded size of the tensor ({list(wanted)}) must match the existing size ({list(shape)}) at the "
            "non-singleton dimensions"
        )
    return np.broadcast_to(a, wanted)


row("view", lambda a, axes: np.transpose(a, axes), "Permute", "The tensor with its axes in another order.", "",
    "permute (input, *dims)")  # fmt: skip
row("view", _swapped, "Transpose", "The tensor with two axes exchanged.", "",
    "transpose swapaxes swapdims (input, dim0, dim1)")  # fmt: skip
row("view", _turned, "T", "The transpose of a matrix.", "", "t")
row("view", np.moveaxis, "Permute", "The tensor with axes moved to other places.", "",
    "movedim moveaxis (input, source, destination)")  # fmt: skip
row("view", np.expand_dims, "Unsqueeze", "The tensor with an axis of length one inserted.", "",
    "unsqueeze (input, dim)")  # fmt: skip
row("view", _without, "Squeeze", "The tensor without its axes of length one, or without those given if they have "
    "length one.", "", "squeeze (input, dim=None)")  # fmt: skip
row("view", _expanded, "Expand", "The tensor repeated along axes of length one, without copying.", "",
    ".expand (input, *size)")  # fmt: skip
row("view", _expanded, "Expand", "The tensor expanded to a shape.", "", "broadcast_to (input, size)")
row("view", lambda a: np.reshape(a, value_of(a).shape or (1,)), "View", "The tensor with at least one axis.", "",
    "torch.atleast_1d")  # fmt: skip
row("view", lambda a: a if value_of(a).ndim > 1 else np.reshape(a, (1, -1)), "View",
    "The tensor with at least two axes.", "", "torch.atleast_2d")  # fmt: skip
row("view", np.diagonal, "Diagonal", "The diagonal, as a view; it is the last axis.", "",
    "diagonal (input, offset=0, dim1=0, dim2=1)")  # fmt: skip
row("view", lambda a, axis, start, length: a[(*(slice(None),) * axis, slice(start, start + length))], "Slice",
    "A range along an axis, as a view.", "", "narrow (input, dim, start, length)")  # fmt: skip
