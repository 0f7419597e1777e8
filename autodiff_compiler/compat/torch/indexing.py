"""Subscripts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.array import put, to
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
    if plain and any(s == 0 and n > 1 for s, n in zip(self._value.strides, self._value.shape)):
        getitem(self, index).copy_(v)  # the whole overlaps itself, this part may not
        return
    assign(self, lambda before: run("CopySlices", lambda a, b: put(a, items, to(b, dtype)), before, v))


method("__getitem__", getitem)
method("__setitem__", setitem)
