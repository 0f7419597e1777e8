"""The computations of TensorFlow's reductions. They keep the dtype and refuse booleans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...tape.operators import average
from . import dtypes
from .operators import NUMBERS, not_allowed
from .values import mismatch

Compute = Callable[..., Any]


def _refusing(op: str, kinds: str, compute: Compute) -> Compute:
    """A reduction that takes no dtypes of some kinds."""

    def checked(v: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if v.dtype.kind in kinds:
            raise not_allowed(op, v.dtype, NUMBERS)
        return compute(v, axis, keepdims)

    return checked


def _kept(fn: Any) -> Compute:
    """A reduction in the dtype of its operand."""
    reduce = fn.reduce
    return lambda v, axis, keepdims: reduce(v, axis, v.dtype, None, keepdims)


def _mean(v: Any, axis: Any, keepdims: bool) -> Any:
    if v.dtype.kind in "fc":
        return average(v, axis, keepdims)
    total = v.sum(axis, v.dtype, None, keepdims)
    count = max(v.size // max(np.size(total), 1), 1)
    return (np.sign(total) * (np.abs(total) // count)).astype(v.dtype)


def _extreme(fn: Any, bound: float) -> Compute:
    """The largest or smallest number. Of no numbers it is the bound, if they are floating, else NumPy raises."""
    reduce = fn.reduce
    return lambda v, axis, keepdims: reduce(v, axis, v.dtype, None, keepdims, *(bound,) * (v.dtype.kind == "f"))


def _truth(fn: Any, op: str) -> Compute:
    """Of booleans only."""

    def compute(v: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if v.dtype.kind != "b":
            raise mismatch(op, np.dtype(bool), dtypes.of(v.dtype).label, 0)
        return fn(v, axis=axis, keepdims=keepdims)

    return compute


REDUCTIONS: dict[Any, Compute] = {
    np.sum: _refusing("Sum", "b", _kept(np.add)),
    np.prod: _refusing("Prod", "b", _kept(np.multiply)),
    np.mean: _refusing("Mean", "b", _mean), np.max: _refusing("Max", "bc", _extreme(np.maximum, -np.inf)),
    np.min: _refusing("Min", "bc", _extreme(np.minimum, np.inf)),
    np.any: _truth(np.any, "Any"), np.all: _truth(np.all, "All"),
}  # fmt: skip
