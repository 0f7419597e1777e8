"""Shapes: views, joins, splits, repetition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.array import to
from ..graph.direct import several
from ..operations.shaping import counts
from .core import check_dim, make, numpy_names, renamed, result_type, run, view
from .indexing import getitem
from .tensor import method


def full_shape(t: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with -1 replaced. Raises RuntimeError if it does not have as many elements."""
    size = t._value.size
    known = math.prod([n for n in shape if n != -1])
    found = tuple([size // known if n == -1 and known else n for n in shape])
    if min(found, default=0) < 0 or shape.count(-1) > 1 or math.prod(found) != size:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size}")
    return found


def _as_view(name: str, t: Any, shape: tuple[int, ...]) -> Any:
    return view(name, lambda a: a.reshape(shape) if a.__class__ is np.ndarray else np.reshape(a, shape), t, key=shape)


def view_(self: Any, *shape: Any) -> Any:
    """The tensor with another shape and the same memory. Raises RuntimeError if the memory's layout does not allow
    it."""
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
    shape = input._value.shape or (1,)
    first, last = check_dim(input, start_dim), check_dim(input, end_dim)
    return reshape(input, *shape[:first], int(np.prod(shape[first : last + 1])), *shape[last + 1 :])


def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """The tensors expanded to one shape."""
    shape = np.broadcast_shapes(*[x._value.shape for x in tensors])
    return tuple([x.expand(shape) for x in tensors])


# --- copies -----------------------------------------------------------------------------------------------------------


def clone(input: Any, *, memory_format: Any = None) -> Any:
    """A copy with memory of its own; gradients flow through it."""
    return make(input._value.copy()) if input._var is None else run("Clone", np.positive, input)


def contiguous(self: Any) -> Any:
    """The tensor itself if its memory is in order, else a copy."""
    return self if self._value.flags.c_contiguous else run("Clone", lambda a: np.copy(a, order="C"), self)


def detach(input: Any) -> Any:
    """A tensor that shares the memory, and requires no gradient."""
    return input.detach()


# --- joins and splits -------------------------------------------------------------------------------------------------


def _joined(name: str, f: Callable[..., Any], tensors: Any, *rest: Any) -> Any:
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError(f"{name.lower()}(): expected a non-empty list of Tensors")
    wanted = result_type(*tensors).numpy

    def joined(*a: Any) -> Any:
        return f([to(x, wanted) for x in a], *rest)

    return several((name, len(tensors), *rest), name, joined, lambda *a: [f(a, *rest)], *tensors)


@numpy_names
def cat(tensors: Any, dim: int = 0) -> Any:
    """The tensors one after the other along an axis."""
    tensors = [x for x in tensors if x._value.shape != (0,)] or list(tensors)
    axis = check_dim(tensors[0], dim) if tensors else 0
    return _joined("Cat", np.concatenate, tensors, axis)


@numpy_names
def stack(tensors: Any, dim: int = 0) -> Any:
    """The tensors side by side along a new axis."""
    return _joined("Stack", np.stack, tensors, dim)


def hstack(tensors: Any) -> Any:
    """The tensors side by side: along the second axis, or the only one."""
    return cat(tensors, 0 if tensors[0]._value.ndim <= 1 else 1)


def vstack(tensors: Any) -> Any:
    """The tensors as rows below each other."""
    return cat([x if x._value.ndim > 1 else reshape(x, 1, -1) for x in tensors], 0)


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
    return tuple([renamed(tensor.narrow(axis, a, b - a), name) for a, b in itertools.pairwise(ends)])


@numpy_names
def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """At most so many parts of equal length along an axis, as views."""
    n = input._value.shape[check_dim(input, dim)]
    return split(input, max(-(-n // chunks), 1), dim)


@numpy_names
def select(input: Any, dim: int, index: int) -> Any:
    """The part at one index along an axis, as a view."""
    return getitem(input, (*(slice(None),) * check_dim(input, dim), index))


@numpy_names
def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """The parts along an axis, as views."""
    return tuple([renamed(select(input, dim, k), "Unbind") for k in range(input._value.shape[check_dim(input, dim)])])


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Any, ...]:
    """Grids of coordinates."""
    given = tensors[0] if isinstance(tensors[0], (tuple, list)) else tensors
    made: tuple[Any, ...] = run("Expand", lambda *a: np.meshgrid(*a, indexing=indexing), *given)  # type: ignore[call-overload]
    return made


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (reshape, flatten, clone, split, chunk, select, unbind)
}
FUNCTIONS.update(ravel=lambda input: reshape(input, -1))
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
FUNCTIONS.update(
    cat=cat, concat=cat, concatenate=cat, stack=stack, hstack=hstack, vstack=vstack, meshgrid=meshgrid, detach=detach,
    broadcast_tensors=broadcast_tensors,
)  # fmt: skip
_METHODS: dict[str, Any] = {
    "view": view_, "contiguous": contiguous, "view_as": lambda self, other: view_(self, *other._value.shape),
    "reshape_as": lambda self, other: reshape(self, *other._value.shape),
    "expand_as": lambda self, other: self.expand(other._value.shape),
    "T": property(lambda self: view("Permute", np.transpose, self)),
    "mT": property(lambda self: self.transpose(-2, -1)),
}  # fmt: skip
for _name, _f in _METHODS.items():
    method(_name, _f)
