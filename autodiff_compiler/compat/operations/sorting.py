"""Orders of elements, and the elements at places along an axis. An axis of None: the tensor has no axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.array import value_of
from .row import row


def order(v: Any, axis: Any, descending: bool = False) -> Any:
    """The places that put elements in order along an axis. Equal ones keep their order, also in descending order.

    >>> order(np.array([2, 3, 2]), 0, descending=True)
    array([1, 0, 2])
    """
    if not v.ndim:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(v, axis=axis, kind="stable")
    return v.shape[axis] - 1 - np.flip(np.argsort(np.flip(v, axis), axis=axis, kind="stable"), axis)


def taken(a: Any, places: Any, axis: Any) -> Any:
    """The elements at places along an axis."""
    return np.take_along_axis(a, places, axis) if value_of(a).ndim else np.positive(a)


def one(a: Any, places: Any, axis: Any, keepdims: bool) -> Any:
    """The elements at one place along an axis, and that place."""
    if not value_of(a).ndim:
        return np.positive(a), np.zeros((), np.int64)
    kept = np.expand_dims(places, axis)
    found = np.take_along_axis(a, kept, axis)
    return (found, kept) if keepdims else (np.squeeze(found, axis=axis), places)


def _sorted(a: Any, axis: Any, descending: bool, stable: bool) -> Any:
    places = order(value_of(a), axis, descending)
    return taken(a, places, axis), places


def largest(a: Any, k: int, axis: Any, largest: bool = True, sorted: bool = True) -> Any:
    """The `k` largest or smallest elements along an axis, in order, and their places."""
    v = value_of(a)
    if v.ndim and k > v.shape[axis]:
        raise RuntimeError("selected index k out of range")
    places = order(v, axis, largest)
    places = np.take(places, range(k), axis=axis) if v.ndim else places
    return taken(a, places, axis), places


def _top(a: Any, k: int, sorted: bool, dtype: Any) -> Any:
    if value_of(a).shape[-1:] < (k,):
        raise ValueError(f"input must have at least k columns. Had {list(value_of(a).shape)}, needed {k}")
    values, places = largest(a, k, -1)
    return values, places.astype(dtype)


def _median(a: Any, axis: Any, keepdims: bool) -> Any:
    """The lower one of two."""
    whole = axis is None
    if whole:
        a, axis = np.reshape(a, (-1,)), 0
    v = value_of(a)
    found = one(a, np.take(order(v, axis), (v.shape[axis] - 1) // 2, axis=axis), axis, keepdims)
    return found[0] if whole else found


def _along(a: Any, places: Any, axis: Any) -> Any:
    places = value_of(places).copy()
    return taken(a, places, axis) if axis is not None else taken(np.reshape(a, (-1,)), places.ravel(), 0)


row("arrays", lambda a, *how: order(value_of(a), *how[:2]), "Argsort", "The places that put the elements in order "
    "along an axis.", "", "argsort (input, dim=-1, descending=False, stable=False)")  # fmt: skip
row("arrays", _sorted, "Sort", "The elements in order along an axis, and where they were.", "",
    "sort (input, dim=-1, descending=False, stable=False)", results={"torch": "sort values indices"})  # fmt: skip
row("arrays", largest, "Topk", "The k largest, or smallest, elements along an axis in order, and their indices.", "",
    "topk (input, k, dim=-1, largest=True, sorted=True)", results={"torch": "topk values indices"})  # fmt: skip
row("arrays", _median, "Median", "The median: the lower one of two. Along an axis: (values, indices).", "",
    "median (input, dim=None, keepdim=False)", results={"torch": "median values indices"})  # fmt: skip
row("arrays", _along, "TakeAlongDim", "The elements at indices along an axis, or of the elements in order.", "",
    "take_along_dim (input, indices, dim=None)")  # fmt: skip
row("arrays", lambda a, axis, down: _sorted(a, axis, down, True)[0], "Sort", "The elements in order along an axis.",
    "sort (values, axis=-1, direction='ASCENDING', name=None)")  # fmt: skip
row("arrays", lambda a, *how: order(value_of(a), *how[:2]).astype(np.int32), "ArgSort", "The indices that put the "
    "elements in order along an axis, int32.",
    "argsort (values, axis=-1, direction='ASCENDING', stable=False, name=None)")  # fmt: skip
row("arrays", _top, "TopKV2", "The `k` largest along the last axis, largest first, and their indices.",
    "math.top_k nn.top_k (input, k=1, sorted=True, index_type='int32', name=None)",
    results={"tensorflow": "TopKV2 values indices"})  # fmt: skip
