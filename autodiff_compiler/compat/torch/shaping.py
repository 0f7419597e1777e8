"""Shapes: views, joins, splits, repetition."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.array import to
from ..graph.direct import several
from .arithmetic import result_type
from .axes import check_dim
from .core import Base, assign, make, renamed, run, view
from .tensor import method


def sizes(args: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as several numbers, or as one tuple."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    return tuple([int(a) for a in args])


def full_shape(t: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with -1 replaced. Raises RuntimeError if it does not have as many elements."""
    size = t._value.size
    known = 1
    for n in shape:
        known *= n if n != -1 else 1
    free = [k for k, n in enumerate(shape) if n == -1]
    bad = len(free) > 1 or (known != size if not free else known == 0 or size % known != 0)
    if bad:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size}")
    return tuple([size // known if n == -1 else n for n in shape])


def _as_view(name: str, t: Any, shape: tuple[int, ...]) -> Any:
    return view(name, lambda a: a.reshape(shape) if a.__class__ is np.ndarray else np.reshape(a, shape), t, key=shape)


def view_(self: Any, *shape: Any) -> Any:
    """The tensor with another shape and the same memory. Raises RuntimeError if the memory's layout does not allow
    it."""
    from .dtypes import dtype as _dtype

    if len(shape) == 1 and isinstance(shape[0], _dtype):
        raise NotImplementedError("Tensor.view(dtype) is not there. Instead: to(dtype)")
    wanted = full_shape(self, sizes(shape))
    if not np.may_share_memory(np.reshape(self._value, wanted), self._value) and self._value.size:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return _as_view("View", self, wanted)


def reshape(input: Any, *shape: Any) -> Any:
    """The tensor with another shape: a view where the memory's layout allows it."""
    wanted = full_shape(input, sizes(shape))
    if np.may_share_memory(np.reshape(input._value, wanted), input._value):
        return _as_view("View", input, wanted)
    return run("UnsafeView", lambda a: np.reshape(a, wanted), input)


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The tensor with a range of axes made one."""
    shape = input._value.shape
    if not shape:
        return reshape(input, 1)
    first, last = check_dim(input, start_dim), check_dim(input, end_dim)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    return reshape(input, *shape[:first], int(np.prod(shape[first : last + 1])), *shape[last + 1 :])


def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """The tensor with one axis made several."""
    axis = check_dim(input, dim)
    shape = list(sizes)
    if -1 in shape:
        rest = -int(np.prod(shape))
        shape[shape.index(-1)] = input._value.shape[axis] // rest
    return reshape(input, *input._value.shape[:axis], *shape, *input._value.shape[axis + 1 :])


def permute(input: Any, *dims: Any) -> Any:
    """The tensor with its axes in another order."""
    order = tuple([check_dim(input, d) for d in sizes(dims)])
    if sorted(order) != list(range(input._value.ndim)):
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {input._value.ndim} is not equal to len(dims) = {len(order)}"
        )
    return view("Permute", lambda a: np.transpose(a, order), input, key=order)


def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """The tensor with two axes exchanged."""
    a0, a1 = check_dim(input, dim0), check_dim(input, dim1)
    if input._value.ndim == 0:
        return view("Transpose", lambda a: np.reshape(a, ()), input)
    return view("Transpose", lambda a: np.swapaxes(a, a0, a1), input, key=(a0, a1))


def t(input: Any) -> Any:
    """The transpose of a matrix."""
    if input._value.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input._value.ndim}D")
    return view("T", lambda a: np.transpose(a), input, key=())


def movedim(input: Any, source: Any, destination: Any) -> Any:
    """The tensor with axes moved to other places."""
    order = np.moveaxis(np.empty([k + 1 for k in range(input._value.ndim)]), source, destination).shape
    return permute(input, *[n - 1 for n in order])


def unsqueeze(input: Any, dim: int) -> Any:
    """The tensor with an axis of length one inserted."""
    n = input._value.ndim + 1
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return view("Unsqueeze", lambda a: np.expand_dims(a, dim), input, key=dim)


def squeeze(input: Any, dim: Any = None) -> Any:
    """The tensor without its axes of length one, or without those given if they have length one."""
    shape = input._value.shape
    if dim is None:
        axes = tuple([k for k, n in enumerate(shape) if n == 1])
    else:
        given = dim if isinstance(dim, (tuple, list)) else (dim,)
        axes = tuple([k for k in {check_dim(input, d) for d in given} if shape and shape[k] == 1])
    wanted = tuple([n for k, n in enumerate(shape) if k not in axes])
    return view("Squeeze", lambda a: np.reshape(a, wanted), input, key=wanted)


def _writable(value: Any, shape: tuple[int, ...]) -> Any:
    found = np.broadcast_to(value, shape)
    return np.lib.stride_tricks.as_strided(value, shape, found.strides)


def expand(input: Any, *shape: Any) -> Any:
    """The tensor repeated along axes of length one, without copying."""
    given = sizes(shape)
    known = (1,) * (len(given) - input._value.ndim) + input._value.shape
    wanted = tuple([n if g == -1 else g for g, n in zip(given, known)])
    if len(given) < input._value.ndim or any(n not in (1, w) for n, w in zip(known, wanted)):
        raise RuntimeError(
            f"The expanded size of the tensor ({list(wanted)}) must match the existing size "
            f"({list(input._value.shape)}) "
            "at the non-singleton dimensions"
        )
    return view("Expand", lambda a: np.broadcast_to(a, wanted), input, lambda a: _writable(a, wanted), wanted)


def broadcast_to(input: Any, size: Any) -> Any:
    """The tensor expanded to a shape."""
    return expand(input, *size)


def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """The tensors expanded to one shape."""
    shape = np.broadcast_shapes(*[x._value.shape for x in tensors])
    return tuple([expand(x, *shape) for x in tensors])


def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonal, as a view; it is the last axis."""

    return view(
        "Diagonal",
        lambda a: np.diagonal(a, offset, dim1, dim2),
        input,
        lambda a: _writable_diagonal(a, offset, dim1, dim2),
    )


def _writable_diagonal(a: Any, offset: int, dim1: int, dim2: int) -> Any:
    moved = np.moveaxis(a, (dim1, dim2), (-2, -1))
    moved = moved[..., :, offset:] if offset >= 0 else moved[..., -offset:, :]
    n = min(moved.shape[-2:])
    strides = (*moved.strides[:-2], moved.strides[-2] + moved.strides[-1])
    return np.lib.stride_tricks.as_strided(moved, (*moved.shape[:-2], n), strides)


def unfold(self: Any, dimension: int, size: int, step: int) -> Any:
    """Windows along an axis; a new last axis holds their elements."""
    axis = check_dim(self, dimension)
    count = (self._value.shape[axis] - size) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(size)
    before = (slice(None),) * axis

    def computed(a: Any) -> Any:
        return np.moveaxis(a[(*before, places)], axis + 1, -1)

    return run("Unfold", computed, self)


# --- copies -----------------------------------------------------------------------------------------------------------


def clone(input: Any, *, memory_format: Any = None) -> Any:
    """A copy with memory of its own; gradients flow through it."""
    if input._var is None:
        return make(input._value.copy())
    return run("Clone", np.positive, input)


def contiguous(self: Any) -> Any:
    """The tensor itself if its memory is in order, else a copy."""
    if self._value.flags.c_contiguous:
        return self
    return make(self._value.copy()) if self._var is None else run("Clone", lambda a: np.copy(a, order="C"), self)


def detach(input: Any) -> Any:
    """A tensor that shares the memory, and requires no gradient."""
    return input.detach()


def repeat(self: Any, *repeats: Any) -> Any:
    """The tensor laid side by side so many times along each axis."""
    times = sizes(repeats)
    return run("Repeat", lambda a: np.tile(a, times), self)


def tile(input: Any, *dims: Any) -> Any:
    """`repeat`, where missing leading numbers are one."""
    times = sizes(dims)
    return run("Repeat", lambda a: np.tile(a, times), input)


def repeat_interleave(input: Any, repeats: Any, dim: int | None = None) -> Any:
    """Each element, or slice along an axis, so many times in a row."""
    source = flatten(input) if dim is None else input
    axis = check_dim(source, 0 if dim is None else dim)
    count = repeats._value if isinstance(repeats, Base) else repeats
    where = np.repeat(np.arange(source._value.shape[axis]), count)
    return run("RepeatInterleave", lambda a: np.take(a, where, axis), source)


def flip(input: Any, *dims: Any) -> Any:
    """The elements in the opposite order along axes."""
    axes = tuple([check_dim(input, d) for d in sizes(dims)])
    if not input._value.ndim:
        return input.clone()
    return run("Flip", lambda a: np.flip(a, axes), input)


def fliplr(input: Any) -> Any:
    """The columns in the opposite order."""
    return flip(input, 1)


def flipud(input: Any) -> Any:
    """The rows in the opposite order."""
    return flip(input, 0)


def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """The elements moved along axes, around the end."""
    axes = None if dims is None else dims
    return run("Roll", lambda a: np.roll(a, shifts, axes), input)


def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """The tensor turned by a quarter in a plane, `k` times."""
    return run("Rot90", lambda a: np.rot90(a, k, tuple(dims)), input)


def tril(input: Any, diagonal: int = 0) -> Any:
    """The part on and below a diagonal."""
    return run("Tril", lambda a: np.tril(a, diagonal), input)


def triu(input: Any, diagonal: int = 0) -> Any:
    """The part on and above a diagonal."""
    return run("Triu", lambda a: np.triu(a, diagonal), input)


def diag(input: Any, diagonal: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix with a diagonal."""
    return run("DiagonalBackward0" if input._value.ndim == 2 else "DiagEmbed", lambda a: np.diag(a, diagonal), input)


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices with the rows on a diagonal."""
    n = input._value.shape[-1] + abs(offset)
    rows = np.arange(input._value.shape[-1]) + max(-offset, 0)
    mask = np.zeros((input._value.shape[-1], n, n), input._value.dtype)
    mask[np.arange(len(rows)), rows, rows + offset] = 1

    def computed(a: Any) -> Any:
        return np.moveaxis(np.tensordot(a, mask, 1), (-2, -1), (dim1, dim2))

    return run("DiagEmbed", computed, input)


# --- joins and splits -------------------------------------------------------------------------------------------------


def _joined(name: str, f: Callable[..., Any], tensors: Any, *rest: Any) -> Any:
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError(f"{name.lower()}(): expected a non-empty list of Tensors")
    wanted = result_type(*tensors).numpy

    def joined(*a: Any) -> Any:
        return f([to(x, wanted) for x in a], *rest)

    return several((name, len(tensors), *rest), name, joined, lambda *a: [f(a, *rest)], *tensors)


def cat(tensors: Any, dim: int = 0, **kwargs: Any) -> Any:
    """The tensors one after the other along an axis."""
    tensors = [x for x in tensors if x._value.shape != (0,)] or list(tensors)
    axis = check_dim(tensors[0], kwargs.get("axis", dim)) if tensors else 0
    for x in tensors[1:]:
        a, b = tensors[0]._value.shape, x._value.shape
        if len(a) != len(b):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(a)} and {len(b)}")
        if any(p != q for k, (p, q) in enumerate(zip(a, b)) if k != axis):
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {axis}. Expected size {a} but got size {b}."
            )
    return _joined("Cat", np.concatenate, tensors, axis)


def stack(tensors: Any, dim: int = 0) -> Any:
    """The tensors side by side along a new axis."""
    tensors = list(tensors)
    for k, x in enumerate(tensors):
        if x._value.shape != tensors[0]._value.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0]._value.shape)} at entry 0 and "
                f"{list(x._value.shape)} at entry {k}"
            )
    return _joined("Stack", np.stack, tensors, dim)


def hstack(tensors: Any) -> Any:
    """The tensors side by side: along the second axis, or the only one."""
    return cat(tensors, 0 if tensors[0]._value.ndim <= 1 else 1)


def vstack(tensors: Any) -> Any:
    """The tensors as rows below each other."""
    return cat([atleast_2d(x) for x in tensors], 0)


def dstack(tensors: Any) -> Any:
    """The tensors along the third axis."""
    return _joined("Cat", np.dstack, tensors)


def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """Parts along an axis, as views: of one length, or of the lengths given."""
    axis = check_dim(tensor, dim)
    n = tensor._value.shape[axis]
    if isinstance(split_size_or_sections, (list, tuple)):
        lengths = [int(k) for k in split_size_or_sections]
        if sum(lengths) != n:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension "
                f"{axis}), "
                f"but got split_sizes={lengths}"
            )
    else:
        size = int(split_size_or_sections)
        lengths = [min(size, n - k) for k in range(0, n, size)] or [0]
    ends = np.cumsum([0, *lengths]).tolist()
    name = "SplitWithSizes" if isinstance(split_size_or_sections, (list, tuple)) else "Split"
    return tuple([renamed(narrow(tensor, axis, a, b - a), name) for a, b in itertools.pairwise(ends)])


def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """At most so many parts of equal length along an axis, as views."""
    n = input._value.shape[check_dim(input, dim)]
    return split(input, max(-(-n // chunks), 1), dim)


def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """Parts between indices along an axis, or so many nearly equal ones, as views."""
    axis = check_dim(input, dim)
    parts = np.array_split(np.arange(input._value.shape[axis]), indices_or_sections)
    return split(input, [len(p) for p in parts], axis)


def narrow(input: Any, dim: int, start: int, length: int) -> Any:
    """A range along an axis, as a view."""
    axis = check_dim(input, dim)
    items = (*(slice(None),) * axis, slice(start, start + length))
    return view("Slice", lambda a: a[items], input)


def select(input: Any, dim: int, index: int) -> Any:
    """The part at one index along an axis, as a view."""
    from .indexing import getitem

    return getitem(input, (*(slice(None),) * check_dim(input, dim), index))


def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """The parts along an axis, as views."""
    return tuple([renamed(select(input, dim, k), "Unbind") for k in range(input._value.shape[check_dim(input, dim)])])


def atleast_1d(input: Any) -> Any:
    """The tensor with at least one axis."""
    return input if input._value.ndim >= 1 else reshape(input, 1)


def atleast_2d(input: Any) -> Any:
    """The tensor with at least two axes."""
    return input if input._value.ndim >= 2 else reshape(input, 1, -1)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Any, ...]:
    """Grids of coordinates."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    tensors = tuple([atleast_1d(x) for x in tensors])
    shape = [x._value.size for x in tensors]
    out = []
    for k, x in enumerate(tensors):
        out.append(expand(reshape(x, *[-1 if k == j else 1 for j in range(len(shape))]), *shape))
    if indexing == "xy" and len(shape) > 1:
        swapped = [shape[1], shape[0], *shape[2:]]
        order = [1, 0, *range(2, len(shape))]
        out = [
            expand(reshape(x, *[-1 if order[k] == j else 1 for j in range(len(shape))]), *swapped)
            for k, x in enumerate(tensors)
        ]
    return tuple(out)


def block_diag(*tensors: Any) -> Any:
    """The matrix with these on its diagonal."""
    blocks = [atleast_2d(x) for x in tensors]
    width = sum(x._value.shape[1] for x in blocks)
    rows, at = [], 0
    for x in blocks:
        h, w = x._value.shape
        parts = [make(np.zeros((h, at), x._value.dtype)), x, make(np.zeros((h, width - at - w), x._value.dtype))]
        rows.append(_joined("Cat", np.concatenate, parts, 1))
        at += w
    return cat(rows, 0)


def cartesian_prod(*tensors: Any) -> Any:
    """All combinations of the elements, as rows."""
    grids = [reshape(g, -1) for g in meshgrid(*tensors, indexing="ij")]
    return stack(grids, 1) if len(grids) > 1 else grids[0]


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All combinations of `r` of the elements, as rows."""
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(pick(range(input._value.size), r)), np.int64).reshape(-1, r)
    return run("IndexSelect", lambda a: a[rows], input)


def _in_place_shape(f: Callable[..., Any]) -> Callable[..., Any]:
    """A method that gives the tensor itself another shape."""

    def write(self: Any, *args: Any) -> Any:
        made = f(self, *args)
        self._value, self._base, self._path = made._value, made._base, made._path
        self._own, self._seen, self._view_name = made._own, made._seen, made._view_name
        return self

    write.__doc__ = f"`{f.__name__}` of the tensor itself."
    return write


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        reshape, flatten, unflatten, permute, transpose, t, movedim, unsqueeze, squeeze, diagonal, clone, detach, tile,
        repeat_interleave, flip, fliplr, flipud, roll, rot90, tril, triu, diag, diag_embed, split, chunk,
        tensor_split, narrow,
        select, unbind, broadcast_to,
    )
}  # fmt: skip
FUNCTIONS.update(swapaxes=transpose, swapdims=transpose, moveaxis=movedim, ravel=lambda input: reshape(input, -1))
for _name, _f in FUNCTIONS.items():
    if _name != "detach":
        method(_name, _f)
FUNCTIONS.update(
    cat=cat, concat=cat, concatenate=cat, stack=stack, hstack=hstack, vstack=vstack, dstack=dstack, meshgrid=meshgrid,
    atleast_1d=atleast_1d, atleast_2d=atleast_2d, block_diag=block_diag, cartesian_prod=cartesian_prod,
    combinations=combinations, broadcast_tensors=broadcast_tensors, row_stack=vstack,
)  # fmt: skip
for _name, _f in (
    ("view", view_), ("expand", expand), ("repeat", repeat), ("contiguous", contiguous), ("unfold", unfold),
    ("view_as", lambda self, other: view_(self, *other._value.shape)),
    ("reshape_as", lambda self, other: reshape(self, *other._value.shape)),
    ("expand_as", lambda self, other: expand(self, *other._value.shape)),
    ("t_", _in_place_shape(t)), ("unsqueeze_", _in_place_shape(unsqueeze)), ("squeeze_", _in_place_shape(squeeze)),
    ("transpose_", _in_place_shape(transpose)),
    ("tril_", lambda self, diagonal=0: assign(self, lambda x: tril(x, diagonal))),
    ("triu_", lambda self, diagonal=0: assign(self, lambda x: triu(x, diagonal))),
):  # fmt: skip
    method(_name, _f)
method("T", property(lambda self: view("Permute", lambda a: np.transpose(a), self)))  # type: ignore[arg-type]
method("mT", property(lambda self: transpose(self, -2, -1)))  # type: ignore[arg-type]
method("H", property(lambda self: transpose(self, -2, -1).conj()))  # type: ignore[arg-type]
