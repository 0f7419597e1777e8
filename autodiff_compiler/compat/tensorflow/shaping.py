"""Operations that rearrange elements: reshape, transpose, concatenate, split, pad."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ...tape.operators import unary
from ...tape.tensor import Operand
from . import dtypes
from .dtypes import as_dtype
from .errors import dims, invalid
from .operands import integer, integers, operand, run, same_dtypes
from .operators import subscript
from .shapes import as_shape
from .tensors import tensor


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The shape as a tensor, int32 by default."""
    kind = dtypes.int32 if out_type is None else as_dtype(out_type)
    return tensor(np.array(operand(input)._value.shape, kind.np_dtype))


def size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The number of elements as a tensor, int32 by default."""
    kind = dtypes.int32 if out_type is None else as_dtype(out_type)
    return tensor(kind.np_dtype.type(operand(input)._value.size))


def rank(input: Any, name: str | None = None) -> Any:
    """The number of axes as a tensor, int32."""
    return tensor(np.int32(operand(input)._value.ndim))


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """`x`, if its shape is compatible with this one. Raises InvalidArgumentError if not."""
    x = operand(x)
    wanted = as_shape(shape)
    if not wanted.is_compatible_with(x._value.shape):
        raise invalid(
            "EnsureShape", f"Shape of tensor {dims(x._value.shape)} is not compatible with expected shape "
            f"{_known(wanted)}."
        )  # fmt: skip
    return run(np.positive, x) if x._value.dtype.kind not in "bS" else x


def _known(wanted: Any) -> str:
    return dims(["?" if n is None else n for n in wanted])


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in another shape; one length may be -1."""
    x = operand(tensor)
    wanted = integers(shape) if not isinstance(shape, int) else (shape,)
    try:
        return _reshape_to(wanted)(x)
    except ValueError:
        count = x._value.size
        if -1 in wanted:
            product = int(np.prod([n for n in wanted if n >= 0]))
            raise invalid(
                "Reshape", f"Input to reshape is a tensor with {count} values, but the requested shape requires a "
                f"multiple of {product}"
            ) from None  # fmt: skip
        raise invalid(
            "Reshape", f"Input to reshape is a tensor with {count} values, but the requested shape has "
            f"{int(np.prod(wanted))}"
        ) from None  # fmt: skip


@functools.lru_cache(4096)
def _reshape_to(shape: tuple[int, ...]) -> Any:
    return unary(PRIMS[np.reshape], lambda v: v.reshape(shape)[()], arguments=(shape,))


@functools.lru_cache(4096)
def _transpose_by(order: tuple[int, ...]) -> Any:
    return unary(PRIMS[np.transpose], lambda v: v.transpose(order), arguments=(order,))


_transpose = unary(PRIMS[np.transpose], lambda v: v.transpose())


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Any:
    """The axes in another order, by default the reverse one."""
    x = operand(a)
    if conjugate and x._value.dtype.kind == "c":
        x = run(np.conjugate, x)
    if perm is None:
        return _transpose(x)
    order = integers(perm)
    if len(order) != x._value.ndim:
        raise invalid(
            "Transpose", f"transpose expects a vector of size {x._value.ndim}. But input(1) is a vector of size "
            f"{len(order)}"
        )  # fmt: skip
    return _transpose_by(order)(x)


def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Tensors joined along an axis."""
    if isinstance(values, Operand) or not isinstance(values, (list, tuple)):
        values = [values]
    parts = same_dtypes(values, "ConcatV2")
    at = integer(axis)
    if len(parts) == 1:
        return run(np.positive, parts[0]) if parts[0]._value.dtype.kind not in "bS" else parts[0]
    first = parts[0]._value.shape
    if not first:
        raise invalid("ConcatV2", f"ConcatOp : Expected concatenating dimensions in the range [0, 0), but got {at}")
    if not -len(first) <= at < len(first):
        raise invalid(
            "ConcatV2", f"ConcatOp : Expected concatenating dimensions in the range [{-len(first)}, {len(first)}), but "
            f"got {at}"
        )  # fmt: skip
    for k, x in enumerate(parts[1:], 1):
        s = x._value.shape
        if len(s) != len(first):
            raise invalid(
                "ConcatV2", f"ConcatOp : Ranks of all input tensors should match: shape[0] = {dims(first)} vs. "
                f"shape[{k}] = {dims(s)}"
            )  # fmt: skip
        if any(a != b for j, (a, b) in enumerate(zip(first, s)) if j != at % len(first)):
            raise invalid(
                "ConcatV2", f"ConcatOp : Dimension {at % len(first)} in both shapes must be equal: shape[0] = "
                f"{dims(first)} vs. shape[{k}] = {dims(s)}"
            )  # fmt: skip
    return run(np.concatenate, parts, axis=at)


def stack(values: Any, axis: Any = 0, name: str = "stack") -> Any:
    """Tensors of one shape, side by side along a new axis."""
    if isinstance(values, Operand):
        values = unstack(values)
    plain = not any(isinstance(x, Operand) for x in values)
    parts = [operand(x) for x in _rows(values)] if plain else same_dtypes(values, "Pack")
    for k, x in enumerate(parts):
        if x._value.shape != parts[0]._value.shape:
            raise invalid(
                "Pack", f"Shapes of all inputs must match: values[0].shape = {dims(parts[0]._value.shape)} != "
                f"values[{k}].shape = {dims(x._value.shape)}"
            )  # fmt: skip
    return run(np.stack, parts, axis=integer(axis))


def _rows(values: Any) -> Any:
    """Python values in the dtype that they have together."""
    try:
        return operand(list(values))
    except ValueError:
        return values


def unstack(value: Any, num: Any = None, axis: Any = 0, name: str = "unstack") -> list[Any]:
    """The parts along an axis, without it."""
    x = operand(value)
    at = integer(axis) % max(x._value.ndim, 1)
    if not x._value.ndim:
        raise ValueError(f"Argument `axis` = {axis} not in range [0, 0)")
    return [subscript(x, (slice(None),) * at + (k,)) for k in range(x._value.shape[at])]


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str = "split") -> list[Any]:
    """Parts along an axis: equally many elements each, or as many as a list says, in which one may be -1."""
    x = operand(value)
    at = integer(axis) % x._value.ndim
    length = x._value.shape[at]
    given = num_or_size_splits._value if isinstance(num_or_size_splits, Operand) else num_or_size_splits
    if np.ndim(given) == 0:
        count = integer(given)
        if count <= 0 or length % count:
            raise invalid(
                "Split", f"Number of ways to split should evenly divide the split dimension, but got split_dim {at} "
                f"(size = {length}) and num_split {count}"
            )  # fmt: skip
        sizes = [length // count] * count
    else:
        sizes = list(integers(given))
        if -1 in sizes:
            sizes[sizes.index(-1)] = length - sum(n for n in sizes if n >= 0)
        if sum(sizes) != length:
            raise invalid(
                "SplitV", "Determined shape must either match input shape along split_dim exactly if fully specified, "
                f"or be less than the size of the input along split_dim if not fully specified.  Got: {sum(sizes)}"
            )  # fmt: skip
    ends = np.cumsum([0, *sizes]).tolist()
    return [subscript(x, (slice(None),) * at + (slice(a, b),)) for a, b in itertools.pairwise(ends)]


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None) -> Any:
    """Elements before and after each axis: constant, or the mirror image without ('REFLECT') or with ('SYMMETRIC') the
    edge."""
    x = operand(tensor)
    widths = tuple([tuple([int(n) for n in row]) for row in np.asarray(operand(paddings)._value)])
    kind = str(mode).upper()
    if kind == "CONSTANT":
        out = run(np.pad, x, widths)
        value = operand(constant_values, x.dtype)
        if value._value.ndim == 0 and value._value == 0:
            return out
        inside = np.pad(np.ones(x._value.shape, bool), widths)
        return run(np.where, inside, out, value)
    if kind not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f'Received `mode` = "{mode}"'
        )
    for at, width in enumerate(widths):
        order = np.pad(np.arange(x._value.shape[at]), width, kind.lower())  # type: ignore[call-overload]
        x = run(np.take, x, order, axis=at)
    return x


def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """A block of this size from `begin` on; -1 takes all that remains."""
    x = operand(input_)
    first, count = integers(begin), integers(size)
    items = []
    for k, (b, n) in enumerate(zip(first, count)):
        length = x._value.shape[k]
        end = length if n == -1 else b + n
        if not 0 <= b <= length or not b <= end <= length:
            raise invalid("Slice", f"Expected size[{k}] in [0, {length - b}], but got {n}")
        items.append(slice(b, end))
    return subscript(x, tuple(items))
