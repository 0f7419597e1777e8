"""Subscripts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.array import put, to
from ..graph.core import overlaps
from .core import Base, assign, make, run, subscripts, view
from .tensor import method


def _items(index: Any) -> tuple[tuple[Any, ...], bool]:
    """The subscripts as NumPy takes them, and whether they give a view. Raises errors with PyTorch's words."""
    items, plain = subscripts(index, _checked)
    if any(isinstance(item, slice) and item.step is not None and item.step <= 0 for item in items):
        raise ValueError("step must be greater than zero")
    return items, plain


def _checked(value: Any) -> Any:
    if value.dtype.kind not in "iub":
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return value


def getitem(self: Any, index: Any) -> Any:
    """``self[index]``: a view for numbers and slices, a copy for lists, masks and tensors."""
    items, plain = _items(index)
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
    items, plain = _items(index)
    dtype = self._value.dtype
    if not isinstance(value, Base):
        number = np.asarray(value)
        value = make(number.astype(dtype) if number.dtype.kind in "biufc" else number)
    shape = self._value[items].shape
    v = value
    while v._value.ndim > len(shape) and v._value.shape[0] == 1:
        v = v.squeeze(0)
    if plain and (overlaps(self._value) or not self._value.ndim):
        getitem(self, index).copy_(v)  # the whole overlaps itself, this part may not; or it is one number
        return
    assign(self, lambda before: run("CopySlices", lambda a, b: put(a, items, to(b, dtype)), before, v))


method("__getitem__", getitem)
method("__setitem__", setitem)
