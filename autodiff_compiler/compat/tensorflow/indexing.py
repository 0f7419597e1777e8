"""Operations that pick elements: where, masks, gather."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tape.apply import getitem
from ..operations.scattering import grid
from . import dtypes
from .errors import invalid
from .operands import array, checked, integer, operand, run, same_dtypes
from .operators import masked
from .tensors import tensor
from .values import mismatch


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`x` where the condition is true, `y` elsewhere, all broadcast; without them, the subscripts of what is true."""
    c = array(condition)
    if x is None and y is None:
        return tensor(np.argwhere(c).astype(np.int64))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if c.dtype.kind != "b":
        raise mismatch("SelectV2", np.dtype(bool), dtypes.of(c.dtype).label, 0)
    return checked("SelectV2", run, np.where, c, *same_dtypes([x, y], "SelectV2"))


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Any:
    """The elements where the mask is true; the mask's axes become one."""
    return masked(operand(tensor), array(mask), 0 if axis is None else integer(axis))


def gather(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: Any = 0,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The parts of `params` along an axis, by default the first that is no batch axis, with these indices.

    Raises InvalidArgumentError for an index that is out of range, negative ones included.
    """
    x, ids = operand(params), array(indices).copy()
    if ids.dtype.kind not in "iu" or not x._value.ndim:
        raise invalid("GatherV2", "params must be at least 1 dimensional, and indices integers")
    batch = integer(batch_dims)
    batch = batch + ids.ndim if batch < 0 else batch
    at = batch if axis is None else integer(axis)
    at = at + x._value.ndim if at < 0 else at
    n = x._value.shape[at]
    bad = ids[(ids < 0) | (ids >= n)]
    if bad.size:
        raise invalid("GatherV2", f"indices = {bad.flat[0]} is not in [0, {n})")
    if not batch:
        out = run(np.take, x, ids, axis=at)
        if at == 0 and out._slot >= 0 and hasattr(x, "_serial"):
            _note_gather(x, out, ids)
        return out
    # Subscripts for all axes up to `at`: of the batch, of those between, and the indices themselves.
    lead = x._value.shape[:at]
    frame = (*lead, *ids.shape[batch:])
    spread = ids.reshape((*ids.shape[:batch], *(1,) * (at - batch), *ids.shape[batch:]))
    return getitem(x, (*grid(lead, frame), np.broadcast_to(spread, frame).copy()))


def embedding_lookup(params: Any, ids: Any, name: str | None = None) -> Any:
    """The rows of `params` with these ids."""
    return gather(params, ids)


def _note_gather(variable: Any, result: Any, ids: Any) -> None:
    """Remember, while the recording lives, that `result` is rows of the variable."""
    known = variable._gathers
    if known is None or known[0] is not result._token:
        known = variable._gathers = (result._token, [])
    known[1].append((result._slot, ids))
