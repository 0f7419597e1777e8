"""Elements picked and placed by subscripts, which are in the last axis of an array: TensorFlow's way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.array import add_at, put, value_of
from .row import row


def grid(lengths: tuple[int, ...], frame: tuple[int, ...]) -> list[Any]:
    """For each of the first axes of a frame, the place of each element along it."""
    places = np.indices((*lengths, *(1,) * (len(frame) - len(lengths))))
    return [np.broadcast_to(a, frame).copy() for a in places[: len(lengths)]]


def _subscripts(a: Any, ids: Any, batch: int = 0) -> tuple[Any, ...]:
    """The index arrays for subscripts; the first `batch` axes are common to both arrays."""
    shape, depth = value_of(a).shape, ids.shape[-1]
    if batch + depth > len(shape):
        raise ValueError(f"index innermost dimension length must be <= params rank; saw: {depth} vs. {len(shape)}")
    bad = np.any((ids < 0) | (ids >= np.array(shape[batch : batch + depth], np.int64)), axis=-1)
    if np.any(bad):
        raise ValueError(f"indices = {ids[bad][0].tolist()} does not index into shape {list(shape)}")
    frame = ids.shape[:-1]
    if not frame:
        return tuple(ids.tolist())
    return (*grid(frame[:batch], frame), *[ids[..., k].copy() for k in range(depth)])


def _scattered(place: Callable[..., Any]) -> Callable[..., Any]:
    def scattered(a: Any, ids: Any, updates: Any) -> Any:
        where, given = _subscripts(a, ids), value_of(updates).shape
        expected = (*ids.shape[:-1], *value_of(a).shape[ids.shape[-1] :])
        if given != expected:
            raise ValueError(f"updates for these indices have the shape {list(expected)}, not {list(given)}")
        return place(a, where, updates)

    return scattered


_added, _stored = _scattered(add_at), _scattered(put)

row("arrays", lambda a, ids, batch: a[_subscripts(a, ids, batch)], "GatherNd",
    "The parts with these subscripts: the last axis of `indices` holds one subscript.",
    "gather_nd (params, indices, batch_dims=0, name=None)")  # fmt: skip
row("arrays", lambda ids, updates, shape: _added(np.zeros(shape, value_of(updates).dtype), ids, updates), "ScatterNd",
    "Zeros of this shape, to which the updates are added at the subscripts; repeated ones add up.",
    "scatter_nd (indices, updates, shape, name=None)", operands=2)  # fmt: skip
row("arrays", _added, "TensorScatterAdd",
    "The tensor with the updates added at the subscripts; repeated ones add up.",
    "tensor_scatter_nd_add (tensor, indices, updates, name=None)", operands=3)  # fmt: skip
row("arrays", lambda a, ids, updates: _added(a, ids, -updates), "TensorScatterSub",
    "The tensor with the updates subtracted at the subscripts; repeated ones add up.",
    "tensor_scatter_nd_sub (tensor, indices, updates, name=None)", operands=3)  # fmt: skip
row("arrays", _stored, "TensorScatterUpdate",
    "The tensor with the updates stored at the subscripts; the last of repeated ones stays.",
    "tensor_scatter_nd_update (tensor, indices, updates, name=None)", operands=3)  # fmt: skip
