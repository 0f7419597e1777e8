"""Subscripts, and picking and placing elements by index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.array import add_at, put, to
from .arithmetic import in_place_of
from .axes import check_dim
from .core import Base, assign, make, run, view
from .tensor import method


def _items(t: Any, index: Any) -> tuple[tuple[Any, ...], bool]:
    """The subscripts as NumPy takes them, and whether they give a view. Raises IndexError with PyTorch's words."""
    given = index if isinstance(index, tuple) else (index,)
    out: list[Any] = []
    plain = True
    used = 0
    for item in given:
        if isinstance(item, Base):
            value = item._value
            if value.dtype.kind not in "iub":
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            if value.ndim == 0 and value.dtype.kind != "b":
                item = int(value)
            else:
                plain = False
                used += value.ndim if value.dtype.kind == "b" else 1
                out.append(np.array(value))
                continue
        if isinstance(item, (list, np.ndarray, range)):
            item = np.array(
                [x.item() if isinstance(x, Base) else x for x in item] if not isinstance(item, np.ndarray) else item
            )
            if item.size == 0:
                item = item.astype(np.int64)
            plain = False
            used += item.ndim if item.dtype.kind == "b" else 1
        elif isinstance(item, slice):
            if item.step is not None and int(item.step) <= 0:
                raise ValueError("step must be greater than zero")
            item = slice(*[None if x is None else int(x) for x in (item.start, item.stop, item.step)])
            used += 1
        elif isinstance(item, (bool, np.bool_)):
            plain = False
        elif item is not None and item is not Ellipsis:
            item = int(item)
            if used < t._value.ndim and Ellipsis not in [i for i in out if i is Ellipsis]:
                n = t._value.shape[used]
                if not -n <= item < n:
                    raise IndexError(f"index {item} is out of bounds for dimension {used} with size {n}")
            used += 1
        out.append(item)
    if used > t._value.ndim:
        raise IndexError(f"too many indices for tensor of dimension {t._value.ndim}")
    return tuple(out), plain


def getitem(self: Any, index: Any) -> Any:
    """``self[index]``: a view for numbers and slices, a copy for lists, masks and tensors."""
    items, plain = _items(self, index)
    if plain:
        label = "Select" if any(isinstance(i, int) for i in items) else "Slice"
        if len(items) == 1 and items[0] is None:
            label = "Unsqueeze"
        whole = (*items, Ellipsis) if Ellipsis not in items else items
        key = tuple([(i.start, i.stop, i.step) if i.__class__ is slice else i for i in items])
        return view(label, lambda a: a[items], self, lambda a: a[whole], key)
    return run("Index", lambda a: a[items], self)


def setitem(self: Any, index: Any, value: Any) -> None:
    """``self[index] = value``: the elements are written into the memory."""
    items, plain = _items(self, index)
    dtype = self._value.dtype
    if not isinstance(value, Base):
        number = np.asarray(value)
        value = make(number.astype(dtype) if number.dtype.kind in "biufc" else number)
    shape = self._value[items].shape
    v = value
    while v._value.ndim > len(shape) and v._value.shape[0] == 1:
        v = v.squeeze(0)
    if np.broadcast_shapes(shape, v._value.shape) != tuple(shape):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(v._value.shape)} cannot be broadcast to indexing result of "
            f"shape {list(shape)}"
        )
    if plain and any(s == 0 and n > 1 for s, n in zip(self._value.strides, self._value.shape)):
        getitem(self, index).copy_(v)  # the whole overlaps itself, this part may not
        return
    assign(self, lambda before: run("CopySlices", lambda a, b: put(a, items, to(b, dtype)), before, v))


def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """The elements at indices along an axis."""
    axis = check_dim(input, dim)
    where = _grid(input, axis, index._value)
    if where is None:
        return input.clone()
    return run("Gather", lambda a: a[where], input)


def _grid(t: Any, axis: int, index: np.ndarray[Any, Any]) -> Any:
    """Subscripts for all axes: the indices along one, their own places along the others."""
    if t._value.ndim == 0:
        return None
    if index.ndim != t._value.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    n = t._value.shape[axis]
    if index.size and (index.min() < 0 or index.max() >= n):
        bad = int(index[(index < 0) | (index >= n)].flat[0])
        raise RuntimeError(f"index {bad} is out of bounds for dimension {axis} with size {n}")
    where = list(np.indices(index.shape, sparse=True))
    where[axis] = index.copy()
    return tuple(where)


def scatter(input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Any:
    """The tensor with `src` written to indices along an axis."""
    source = value if src is None else src
    if reduce == "add":
        return scatter_add(input, dim, index, source if isinstance(source, Base) else _full(index, source, input))
    if reduce is not None:
        raise NotImplementedError(f"torch.scatter: reduce={reduce!r} is not there. Instead: reduce='add'")
    where = _grid(input, check_dim(input, dim), index._value)
    dtype = input._value.dtype
    if not isinstance(source, Base):
        return run("Scatter", lambda a: put(a, where, dtype.type(source)), input)
    part = tuple([slice(0, n) for n in index._value.shape])
    return run("Scatter", lambda a, b: put(a, where, b[part]), input, source)


def _full(index: Any, number: Any, like: Any) -> Any:
    return make(np.full(index._value.shape, number, like._value.dtype))


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """The tensor with `src` added at indices along an axis."""
    where = _grid(input, check_dim(input, dim), index._value)
    part = tuple([slice(0, n) for n in index._value.shape])
    return run("ScatterAdd", lambda a, b: add_at(a, where, b[part]), input, src)


def _slices(t: Any, dim: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * check_dim(t, dim), np.array(index._value))


def index_select(input: Any, dim: int, index: Any) -> Any:
    """The slices at indices along an axis."""
    items = _slices(input, dim, index)
    return run("IndexSelect", lambda a: a[items], input)


def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """The tensor with the slices of `source` added at indices along an axis."""
    items = _slices(input, dim, index)
    return run("IndexAdd", lambda a, b: add_at(a, items, b if alpha == 1 else b * alpha), input, source)


def take(input: Any, index: Any) -> Any:
    """The elements at indices into the elements in order."""
    where = np.array(index._value)
    return run("Take", lambda a: np.reshape(a, (-1,))[where], input)


def masked_select(input: Any, mask: Any) -> Any:
    """The elements where the mask is True, in order."""
    shape = np.broadcast_shapes(input._value.shape, mask._value.shape)
    where = np.broadcast_to(mask._value, shape).copy()
    return run("MaskedSelect", lambda a: np.broadcast_to(a, shape)[where], input)


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The indices of what is nonzero: one row for each, or a tensor for each axis."""
    found = np.nonzero(input._value)
    return (
        tuple([make(i) for i in found])
        if as_tuple
        else make(np.stack(found, 1) if found else np.zeros((1, 0), np.int64))
    )


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (gather, scatter, scatter_add, index_select, index_add, take, masked_select, nonzero)
}
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
for _name in ("scatter", "scatter_add", "index_add"):
    method(f"{_name}_", in_place_of(f"{_name}_", FUNCTIONS[_name]))
method("__getitem__", getitem)
method("__setitem__", setitem)
