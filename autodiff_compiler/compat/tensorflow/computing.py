"""What TensorFlow's reductions compute: they keep the dtype, and refuse booleans."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tape.operators import average
from . import dtypes
from .errors import invalid
from .operators import NUMBERS, not_allowed
from .values import mismatch


def _sum(v: Any, axis: Any = None, keepdims: bool = False) -> Any:
    if v.dtype.kind == "b":
        raise not_allowed("Sum", v.dtype, NUMBERS)
    return _add(v, axis=axis, dtype=v.dtype, keepdims=keepdims)


_add: Any = np.add.reduce
_multiply: Any = np.multiply.reduce


def _mean(v: Any, axis: Any = None, keepdims: bool = False) -> Any:
    if v.dtype.kind in "fc":
        return average(v, axis, keepdims)
    if v.dtype.kind == "b":
        raise not_allowed("Mean", v.dtype, NUMBERS)
    total = v.sum(axis, v.dtype, None, keepdims)
    count = max(v.size // max(np.size(total), 1), 1)
    return (np.sign(total) * (np.abs(total) // count)).astype(v.dtype)


def _prod(v: Any, axis: Any = None, keepdims: bool = False) -> Any:
    if v.dtype.kind == "b":
        raise not_allowed("Prod", v.dtype, NUMBERS)
    return _multiply(v, axis=axis, dtype=v.dtype, keepdims=keepdims)


def _extreme(fn: Any, op: str, lowest: bool) -> Any:
    def compute(v: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if v.dtype.kind in "bc":
            raise not_allowed(op, v.dtype, NUMBERS)
        if v.size:
            return fn(v, axis=axis, keepdims=keepdims)
        kind = dtypes.of(v.dtype)
        bound = (-np.inf if lowest else np.inf) if kind.is_floating else (kind.min if lowest else kind.max)
        return fn(v, axis=axis, keepdims=keepdims, initial=bound)

    return compute


def _truth(fn: Any, op: str) -> Any:
    def compute(v: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if v.dtype.kind != "b":
            raise mismatch(op, np.dtype(bool), dtypes.of(v.dtype).label, 0)
        return fn(v, axis=axis, keepdims=keepdims)

    return compute


REDUCTIONS: dict[Any, Any] = {
    np.sum: _sum, np.mean: _mean, np.prod: _prod, np.max: _extreme(np.max, "Max", True),
    np.min: _extreme(np.min, "Min", False), np.any: _truth(np.any, "Any"), np.all: _truth(np.all, "All"),
}  # fmt: skip


def wrong_axis(op: str, axis: Any, ndim: int, error: Exception) -> Exception:
    """The error for an axis that is not there."""
    for k in axis if isinstance(axis, tuple) else (axis,):
        if not -ndim <= k < ndim:
            return invalid(op, f"Invalid reduction dimension ({k} for input with {ndim} dimension(s)")
    return invalid(op, str(error))
