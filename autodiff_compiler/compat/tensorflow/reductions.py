"""Reductions that are made of others, and sums of segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .dtypes import as_dtype
from .indexing import scatter_nd
from .made import reduce_sum, reduce_variance, sqrt, square
from .operands import axes, integer, operand, run
from .tensors import tensor


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of `reduce_variance`."""
    return sqrt(reduce_variance(input_tensor, axis, keepdims))


def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of the sum of squares."""
    return sqrt(reduce_sum(square(operand(input_tensor)), axis, keepdims))


def count_nonzero(
    input: Any, axis: Any = None, keepdims: bool | None = None, dtype: Any = dtypes.int64, name: str | None = None
) -> Any:
    """How many numbers are not zero."""
    v = operand(input)._value
    found = np.count_nonzero(v, axis=axes(axis), keepdims=bool(keepdims))
    return tensor(np.asarray(found, as_dtype(dtype).np_dtype)[()])


# --- segments ---------------------------------------------------------------------------------------------------------


def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sums of the rows with each id."""
    x, ids = operand(data), np.asarray(operand(segment_ids)._value)
    n = integer(num_segments)
    flat = run(np.reshape, x, (ids.size, *x._value.shape[ids.ndim :]))
    keep = np.nonzero(ids.ravel() >= 0)[0]
    if keep.size != ids.size:
        flat = run(np.take, flat, keep, axis=0)
    indices = ids.ravel()[keep].reshape(-1, 1)
    return scatter_nd(indices, flat, (n, *x._value.shape[ids.ndim :]))


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The sums of the rows with each id; the ids are sorted."""
    return unsorted_segment_sum(data, segment_ids, _segments(segment_ids))


def _segments(segment_ids: Any) -> int:
    ids = np.asarray(operand(segment_ids)._value)
    return int(ids[-1]) + 1 if ids.size else 0
