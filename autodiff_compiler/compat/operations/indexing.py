"""Elements picked and placed by index, in PyTorch's ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.array import add_at, put, to, value_of
from .row import row


def _places(a: Any, axis: Any, index: Any) -> Any:
    """Subscripts for all axes: the indices along one, their own places along the others."""
    v, index = value_of(a), value_of(index)
    if not v.ndim:
        return ()
    if index.ndim != v.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    n = v.shape[axis]
    bad = (index < 0) | (index >= n)
    if bad.any():
        raise RuntimeError(f"index {int(index[bad].flat[0])} is out of bounds for dimension {axis} with size {n}")
    where = list(np.indices(index.shape, sparse=True))
    where[axis] = index.copy()
    return tuple(where)


def _slices(a: Any, axis: Any, index: Any) -> Any:
    return (*(slice(None),) * (axis or 0), value_of(index).copy())


def _source(a: Any, index: Any, source: Any) -> Any:
    """The part of the source that the indices ask for; or a number, for each of them."""
    shape = value_of(index).shape
    if isinstance(source, (int, float, complex)):
        return np.full(shape, source, value_of(a).dtype)
    return source[tuple([slice(0, n) for n in shape])]


def _gather(a: Any, axis: Any, index: Any, sparse_grad: bool) -> Any:
    return a[_places(a, axis, index)] if value_of(a).ndim else np.positive(a)


def _scatter(a: Any, axis: Any, index: Any, source: Any, value: Any = None, reduce: str | None = None) -> Any:
    if reduce not in (None, "add"):
        raise NotImplementedError(f"torch.scatter: reduce={reduce!r} is not there. Instead: reduce='add'")
    place = put if reduce is None else add_at
    return place(a, _places(a, axis, index), _source(a, index, value if source is None else source))


def _masked(a: Any, mask: Any, value: Any) -> Any:
    mask, dtype = value_of(mask), value_of(a).dtype
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_fill only supports boolean masks")
    return np.where(mask, to(value, dtype) if hasattr(value, "dtype") else dtype.type(value), a)


def _selected(a: Any, mask: Any) -> Any:
    mask = value_of(mask)
    shape = np.broadcast_shapes(value_of(a).shape, mask.shape)
    return np.broadcast_to(a, shape)[np.broadcast_to(mask, shape).copy()]


def _nonzero(a: Any, as_tuple: bool) -> Any:
    found = np.nonzero(np.atleast_1d(value_of(a)))
    return found if as_tuple else np.stack(found, 1)[:, : value_of(a).ndim]


row("arrays", _gather, "Gather", "The elements at indices along an axis.", "",
    "gather (input, dim, index, *, sparse_grad=False)")  # fmt: skip
row("arrays", _scatter, "Scatter", "The tensor with `src`, or one number, written to indices along an axis.", "",
    "scatter .scatter_ (input, dim, index, src=None, *, value=None, reduce=None)")  # fmt: skip
row("arrays", lambda a, axis, index, b: _scatter(a, axis, index, b, reduce="add"), "ScatterAdd", "The tensor with "
    "`src` added at indices along an axis.", "", "scatter_add .scatter_add_ (input, dim, index, src)")  # fmt: skip
row("arrays", lambda a, axis, index: a[_slices(a, axis, index)], "IndexSelect", "The slices at indices along an axis.",
    "", "index_select (input, dim, index)")  # fmt: skip
row("arrays", lambda a, axis, index, b, alpha: add_at(a, _slices(a, axis, index), b if alpha == 1 else b * alpha),
    "IndexAdd", "The tensor with the slices of `source` added at indices along an axis.", "",
    "index_add .index_add_ (input, dim, index, source, *, alpha=1)")  # fmt: skip
row("arrays", lambda a, index: np.reshape(a, (-1,))[value_of(index).copy()], "Take",
    "The elements at indices into the elements in order.", "", "take (input, index)")  # fmt: skip
row("arrays", _masked, "MaskedFill", "The tensor with `value` where the mask is True.", "",
    "masked_fill masked_fill_ (input, mask, value)")  # fmt: skip
row("arrays", _selected, "MaskedSelect", "The elements where the mask is True, in order.", "",
    "masked_select (input, mask)")  # fmt: skip
row("arrays", _nonzero, "Nonzero", "The indices of what is nonzero: one row for each, or a tensor for each axis.", "",
    "nonzero (input, *, as_tuple=False)")  # fmt: skip
