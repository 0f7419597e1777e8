"""Operations that pick elements and put them back: gather, scatter, where, masks, sorting."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ... import runtime
from ...ir import opset
from ...tape.apply import apply, getitem
from ..operations.sorting import order
from . import dtypes
from .dtypes import as_dtype
from .errors import dims, invalid
from .operands import given, integer, integers, operand, run, same_dtypes
from .operators import Arithmetic, masked
from .tensors import tensor
from .values import mismatch

TopK = collections.namedtuple("TopKV2", "values indices")  # type: ignore[name-match]


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`x` where the condition is true, `y` elsewhere, all broadcast; without them, the subscripts of what is true."""
    c = operand(condition)._value
    if x is None and y is None:
        return tensor(np.argwhere(c).astype(np.int64))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if c.dtype.kind != "b":
        raise mismatch("SelectV2", np.dtype(bool), dtypes.of(c.dtype).label, 0)
    if isinstance(x, Arithmetic) and isinstance(y, Arithmetic) and x._value.dtype != y._value.dtype:
        raise mismatch("SelectV2", x._value.dtype, dtypes.of(y._value.dtype).label, 2)
    x, y = same_dtypes([x, y], "SelectV2")
    try:
        return run(np.where, np.asarray(c), x, y)
    except ValueError:
        raise invalid(
            "SelectV2", f"condition {dims(c.shape)}, then {dims(x._value.shape)}, and else {dims(y._value.shape)} "
            "must be broadcastable"
        ) from None  # fmt: skip


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Any:
    """The elements where the mask is true; the mask's axes become one."""
    x = operand(tensor)
    return masked(x, np.asarray(operand(mask)._value), 0 if axis is None else integer(axis))


# --- gather -----------------------------------------------------------------------------------------------------------


def gather(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: Any = 0,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The parts of `params` along an axis, by default the first that is no batch axis, with these indices.

    Raises InvalidArgumentError for an index that is out of range, negative ones included.
    """
    x = operand(params)
    ids = np.array(operand(indices)._value)
    if ids.dtype.kind not in "iu":
        raise invalid("GatherV2", f"Value for attr 'Tindices' of {dtypes.of(ids.dtype).label} is not in the list of "
                      "allowed values: int16, int32, int64")  # fmt: skip
    batch = integer(batch_dims)
    batch = batch + ids.ndim if batch < 0 else batch
    at = batch if axis is None else integer(axis)
    at = at + x._value.ndim if at < 0 else at
    if x._value.ndim == 0:
        raise invalid("GatherV2", "params must be at least 1 dimensional")
    _check(ids, x._value.shape[at])
    if not batch:
        out = run(np.take, x, ids, axis=at)
        if at == 0 and out._slot >= 0 and hasattr(x, "_serial"):
            _note_gather(x, out, ids)
        return out
    # Subscripts for all axes up to `at`: of the batch, of those between, and the indices themselves.
    lead = x._value.shape[:at]
    frame = (*lead, *ids.shape[batch:])
    index: list[Any] = []
    for k, n in enumerate(lead):
        index.append(np.broadcast_to(np.arange(n).reshape([-1 if j == k else 1 for j in range(len(frame))]), frame))
    spread = ids.reshape((*ids.shape[:batch], *(1,) * (at - batch), *ids.shape[batch:]))
    index.append(np.broadcast_to(spread, frame))
    return getitem(x, tuple([k.copy() for k in index]))


def _check(ids: Any, n: int) -> None:
    bad = np.argwhere((ids < 0) | (ids >= n))
    if bad.size or (ids.ndim == 0 and not 0 <= ids < n):
        at = tuple(bad[0])
        name = f"indices[{','.join(map(str, at))}]" if at else "indices"
        raise invalid("GatherV2", f"{name} = {ids[at]} is not in [0, {n})")


def gather_nd(
    params: Any, indices: Any, batch_dims: Any = 0, name: str | None = None, bad_indices_policy: str = ""
) -> Any:
    """The parts of `params` with these subscripts: the last axis of `indices` holds one subscript."""
    x = operand(params)
    ids = np.array(operand(indices)._value)
    index = _subscripts(x._value.shape, ids, integer(batch_dims), "GatherNd", "param")
    return getitem(x, index)


def _subscripts(shape: Any, ids: Any, batch: int, op: str, what: str) -> tuple[Any, ...]:
    """The index arrays for subscripts in the last axis."""
    depth = ids.shape[-1]
    inner = shape[batch : batch + depth]
    if batch + depth > len(shape):
        raise invalid(op, f"index innermost dimension length must be <= params rank; saw: {depth} vs. {len(shape)}")
    bad = np.argwhere(np.any((ids < 0) | (ids >= np.array(inner, np.int64)), axis=-1))
    if bad.size or (ids.ndim == 1 and any(not 0 <= k < n for k, n in zip(ids, inner))):
        at = tuple(bad[0]) if bad.size else ()
        where_ = f"indices[{','.join(map(str, at))}]" if at else "indices"
        raise invalid(op, f"{where_} = {dims(ids[at])} does not index into {what} shape {dims(shape)}")
    frame = ids.shape[:-1]
    lead = [
        np.broadcast_to(np.arange(shape[k]).reshape([-1 if j == k else 1 for j in range(len(frame))]), frame).copy()
        for k in range(batch)
    ]
    found = (*lead, *[ids[..., k].copy() for k in range(depth)])
    if not frame:
        return tuple([int(k) for k in found])
    return found


# --- scatter ----------------------------------------------------------------------------------------------------------


def _put(prim: Any, compute: Any, x: Any, index: tuple[Any, ...], updates: Any) -> Any:
    return apply(prim, lambda *a: compute(*a)[()], (x, (("index", index),), updates), {})


def _scatter(x: Any, indices: Any, updates: Any, prim: Any, compute: Any, op: str) -> Any:
    ids = np.array(operand(indices)._value)
    u = updates if isinstance(updates, Arithmetic) else given(updates, x)
    if u._value.dtype != x._value.dtype:
        raise mismatch(op, x._value.dtype, dtypes.of(u._value.dtype).label, 2)
    index = _subscripts(x._value.shape, ids, 0, op, "")
    expected = (*ids.shape[:-1], *x._value.shape[ids.shape[-1] :])
    if u._value.shape != expected:
        raise invalid(
            op, f"Dimensions [0,{len(ids.shape) - 1}) of indices[shape={dims(ids.shape)}] must match dimensions "
            f"[0,{len(ids.shape) - 1}) of updates[shape={dims(u._value.shape)}]"
        )  # fmt: skip
    return _put(prim, compute, x, index, u)


def _note_gather(variable: Any, result: Any, ids: Any) -> None:
    """Remember, while the recording lives, that `result` is rows of the variable."""
    known = variable._gathers
    if known is None or known[0] is not result._token:
        known = variable._gathers = (result._token, [])
    known[1].append((result._slot, ids))


def scatter_nd(indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None) -> Any:
    """Zeros of this shape, to which the updates are added at the subscripts; repeated ones add up."""
    u = operand(updates)
    zeros = tensor(np.zeros(integers(shape), u._value.dtype))
    return _scatter(zeros, indices, u, opset.ADDAT, runtime.addat, "ScatterNd")


def tensor_scatter_nd_add(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """The tensor with the updates added at the subscripts; repeated ones add up."""
    return _scatter(operand(tensor), indices, updates, opset.ADDAT, runtime.addat, "TensorScatterAdd")


def tensor_scatter_nd_sub(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """The tensor with the updates subtracted at the subscripts; repeated ones add up."""
    x = operand(tensor)
    u: Any = updates if isinstance(updates, Arithmetic) else given(updates, x)
    return _scatter(x, indices, -u, opset.ADDAT, runtime.addat, "TensorScatterSub")


def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """The tensor with the updates stored at the subscripts; the last of repeated ones stays."""
    return _scatter(operand(tensor), indices, updates, opset.SET, runtime.set, "TensorScatterUpdate")


# --- order ------------------------------------------------------------------------------------------------------------


def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """The elements in order along an axis."""
    return run(np.take_along_axis, operand(values), _order(values, integer(axis), direction), axis=integer(axis))


def argsort(
    values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Any:
    """The indices that put the elements in order along an axis, int32."""
    return tensor(_order(values, integer(axis), direction).astype(np.int32))


def _order(values: Any, axis: int, direction: str) -> Any:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"Argument `direction` should be one of 'ASCENDING' or 'DESCENDING'. Received: {direction}")
    return order(np.asarray(operand(values)._value), axis, direction == "DESCENDING")


def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """The `k` largest along the last axis, largest first, and their indices."""
    x = operand(input)
    count = integer(k)
    if x._value.ndim < 1 or x._value.shape[-1] < count:
        raise invalid("TopKV2", f"input must have at least k columns. Had {dims(x._value.shape)[1:-1]}, needed {count}")
    places = _order(x, -1, "DESCENDING")[..., :count].copy()
    return TopK(run(np.take_along_axis, x, places, axis=-1), tensor(places.astype(as_dtype(index_type).np_dtype)))
