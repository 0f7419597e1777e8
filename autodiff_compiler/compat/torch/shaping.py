"""Shapes: views, joins, splits, repetition."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.array import to
from ..graph.direct import several
from ..operations.shaping import counts
from .arithmetic import result_type
from .axes import check_dim
from .core import make, renamed, run, view
from .tensor import method


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
    wanted = full_shape(self, counts(shape))
    if not np.may_share_memory(np.reshape(self._value, wanted), self._value) and self._value.size:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return _as_view("View", self, wanted)


def reshape(input: Any, *shape: Any) -> Any:
    """The tensor with another shape: a view where the memory's layout allows it."""
    wanted = full_shape(input, counts(shape))
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


def permute(input: Any, *dims: Any) -> Any:
    """The tensor with its axes in another order."""
    order = tuple([check_dim(input, d) for d in counts(dims)])
    if sorted(order) != list(range(input._value.ndim)):
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {input._value.ndim} is not equal to len(dims) = {len(order)}"
        )
    return view("Permute", lambda a: np.transpose(a, order), input, key=order)


def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """The tensor with two axes exchanged."""
    a0, a1 = check_dim(input, dim0), check_dim(input, dim1)
    swapped: Any = (lambda a: np.swapaxes(a, a0, a1)) if input._value.ndim else (lambda a: np.reshape(a, ()))
    return view("Transpose", swapped, input, key=(a0, a1) if input._value.ndim else None)


def t(input: Any) -> Any:
    """The transpose of a matrix."""
    if input._value.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input._value.ndim}D")
    return view("T", np.transpose, input, key=())


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
    given = counts(shape)
    known = (1,) * (len(given) - input._value.ndim) + input._value.shape
    wanted = tuple([n if g == -1 else g for g, n in zip(given, known)])
    if len(given) < input._value.ndim or any(n not in (1, w) for n, w in zip(known, wanted)):
        raise RuntimeError(
            f"The expanded size of the tensor ({list(wanted)}) must match the existing size "
            f"({list(input._value.shape)}) at the non-singleton dimensions"
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
        "Diagonal", lambda a: np.diagonal(a, offset, dim1, dim2), input,
        lambda a: _writable_diagonal(a, offset, dim1, dim2),
    )  # fmt: skip


def _writable_diagonal(a: Any, offset: int, dim1: int, dim2: int) -> Any:
    moved = np.moveaxis(a, (dim1, dim2), (-2, -1))
    moved = moved[..., :, offset:] if offset >= 0 else moved[..., -offset:, :]
    n = min(moved.shape[-2:])
    strides = (*moved.strides[:-2], moved.strides[-2] + moved.strides[-1])
    return np.lib.stride_tricks.as_strided(moved, (*moved.shape[:-2], n), strides)


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


def flip(input: Any, *dims: Any) -> Any:
    """The elements in the opposite order along axes."""
    axes = tuple([check_dim(input, d) for d in counts(dims)])
    return run("Flip", lambda a: np.flip(a, axes), input) if input._value.ndim else input.clone()


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


def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """Parts along an axis, as views: of one length, or of the lengths given."""
    axis = check_dim(tensor, dim)
    n = tensor._value.shape[axis]
    if isinstance(split_size_or_sections, (list, tuple)):
        name, lengths = "SplitWithSizes", [int(k) for k in split_size_or_sections]
        if sum(lengths) != n:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension "
                f"{axis}), but got split_sizes={lengths}"
            )
    else:
        size = int(split_size_or_sections)
        name, lengths = "Split", [min(size, n - k) for k in range(0, n, size)] or [0]
    ends = np.cumsum([0, *lengths]).tolist()
    return tuple([renamed(narrow(tensor, axis, a, b - a), name) for a, b in itertools.pairwise(ends)])


def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """At most so many parts of equal length along an axis, as views."""
    n = input._value.shape[check_dim(input, dim)]
    return split(input, max(-(-n // chunks), 1), dim)


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
    order = list(range(len(tensors)))
    if indexing == "xy":
        order[:2] = order[:2][::-1]
    shape = [tensors[k]._value.size for k in order]
    places = [[-1 if order[j] == k else 1 for j in range(len(order))] for k in range(len(order))]
    return tuple([expand(reshape(x, *place), *shape) for x, place in zip(tensors, places)])


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
        reshape, flatten, permute, transpose, t, movedim, unsqueeze, squeeze, diagonal, clone, flip,
        split, chunk, narrow, select, unbind, broadcast_to,
    )
}  # fmt: skip
FUNCTIONS.update(swapaxes=transpose, swapdims=transpose, moveaxis=movedim, ravel=lambda input: reshape(input, -1))
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
FUNCTIONS.update(
    cat=cat, concat=cat, concatenate=cat, stack=stack, hstack=hstack, vstack=vstack, meshgrid=meshgrid, detach=detach,
    atleast_1d=atleast_1d, atleast_2d=atleast_2d, broadcast_tensors=broadcast_tensors,
)  # fmt: skip
for _name, _f in (
    ("view", view_), ("expand", expand), ("contiguous", contiguous),
    ("view_as", lambda self, other: view_(self, *other._value.shape)),
    ("reshape_as", lambda self, other: reshape(self, *other._value.shape)),
    ("expand_as", lambda self, other: expand(self, *other._value.shape)),
):  # fmt: skip
    method(_name, _f)
for _f in (t, unsqueeze, squeeze, transpose):
    method(f"{_f.__name__}_", _in_place_shape(_f))
method("T", property(lambda self: view("Permute", lambda a: np.transpose(a), self)))  # type: ignore[arg-type]
method("mT", property(lambda self: transpose(self, -2, -1)))  # type: ignore[arg-type]
