"""NumPy's reductions and scans as primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import Builder
from .ops_common import (
    as_array,
    axes_of,
    dtype_of,
    enter,
    is_number,
    one_axis,
    reduced,
    scalar_or_array,
)  # fmt: skip
from .types import ANY, Ty, array, generic

Dtype = np.dtype[Any] | None


def _sum_dtype(dtype: Dtype) -> Dtype:
    """Sums and products of small integers are computed in the platform's integer."""
    if dtype is None or not is_number(dtype):
        return None
    if dtype.kind in "bi" and dtype.itemsize < 8:
        return np.dtype(np.int64)
    if dtype.kind == "u" and dtype.itemsize < 8:
        return np.dtype(np.uint64)
    return dtype


def _mean_dtype(dtype: Dtype) -> Dtype:
    if dtype is None or not is_number(dtype):
        return None
    return np.dtype(np.float64) if dtype.kind in "biu" else dtype


def _real_dtype(dtype: Dtype) -> Dtype:
    if dtype is not None and dtype.kind == "c":
        return np.empty(0, dtype).real.dtype
    return dtype


def _reduction(b: Builder, a: Any, axis: Any, keepdims: Any, result: Any) -> Ty:
    t = as_array(b, a)
    if t.kind != "array":
        return ANY
    dims = reduced(t.dims, axis, keepdims)
    if t.dims is None and axis is None and keepdims is False:
        return generic(result(t.dtype))
    return scalar_or_array(True, result(t.dtype), dims)


def _sum(b: Builder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Ty:
    if out is not None:
        return ANY
    return _reduction(b, a, axis, keepdims, lambda d: dtype_of(dtype, _sum_dtype(d)))


def _add_reduce(b: Builder, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Ty:
    return _sum(b, array, axis, dtype, out, keepdims)


def _mean(b: Builder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Ty:
    if out is not None:
        return ANY
    return _reduction(b, a, axis, keepdims, lambda d: dtype_of(dtype, _mean_dtype(d)))


def _var(
    b: Builder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False
) -> Ty:
    if out is not None:
        return ANY
    return _reduction(b, a, axis, keepdims, lambda d: _real_dtype(dtype_of(dtype, _mean_dtype(d))))


def _max(b: Builder, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Ty:
    if out is not None:
        return ANY
    return _reduction(b, a, axis, keepdims, lambda d: d)


def _max_reduce(b: Builder, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Ty:
    return ANY if dtype is not None else _max(b, array, axis, out, keepdims)


def _all(b: Builder, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Ty:
    if out is not None:
        return ANY
    return _reduction(b, a, axis, keepdims, lambda d: np.dtype(bool) if is_number(d) else None)


def _arg(b: Builder, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Ty:
    if out is not None or isinstance(axis, tuple):
        return ANY
    return _reduction(b, a, axis, keepdims, lambda d: np.dtype(np.intp))


def _count_nonzero(b: Builder, a: Any, axis: Any = None, *, keepdims: Any = False) -> Ty:
    t = as_array(b, a)
    if axis is None and keepdims is False:
        # A Python int or an np.intp, by the version of NumPy.
        return Ty("scalar", np.dtype(np.int64), ()) if t.kind == "array" else ANY
    return _reduction(b, a, axis, keepdims, lambda d: np.dtype(np.intp))


def _cumsum(b: Builder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Ty:
    t = as_array(b, a)
    if out is not None or t.kind != "array":
        return ANY
    kind = dtype_of(dtype, _sum_dtype(t.dtype))
    if axis is None:
        size = (
            (b.dims.find(t.dims[0]),)
            if t.dims is not None and len(t.dims) == 1
            else (1,)
            if t.dims == ()
            else (b.dims.fresh(),)
        )
        return array(kind, size)
    if t.dims is None or one_axis(axis, len(t.dims)) is None:
        return Ty("any", kind, None)
    return array(kind, t.dims)


def _norm(b: Builder, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Ty:
    return _reduction(b, x, axis, keepdims, lambda d: _real_dtype(_mean_dtype(d)) if d != np.float16 else None)


def _total(b: Builder, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False, ddof: Any = 0) -> bool:
    t = as_array(b, a)
    return (
        t.kind == "array" and is_number(t.dtype) and t.dims is not None and axes_of(axis, len(t.dims)) is not None
        and dtype is None and isinstance(keepdims, bool) and isinstance(ddof, int)
    )  # fmt: skip


def _total_reduce(b: Builder, array: Any, axis: Any = 0) -> bool:
    return _total(b, array, axis)


_AXIS = "a, axis, dtype, out, keepdims, initial, where"
SUM = enter("np.sum", _AXIS, _sum, total=_total)
PROD = enter("np.prod", _AXIS, _sum, total=_total)
MEAN = enter("np.mean", "a, axis, dtype, out, keepdims, where", _mean, total=_total)
VAR = enter("np.var", "a, axis, dtype, out, ddof, keepdims, where, mean, correction", _var, total=_total)
STD = enter("np.std", "a, axis, dtype, out, ddof, keepdims, where, mean, correction", _var, total=_total)
_EXTREME = "a, axis, out, keepdims, initial, where"
MAX = enter("np.max", _EXTREME, _max)
MIN = enter("np.min", _EXTREME, _max)
if np.amax is not np.max:
    enter("np.amax", _EXTREME, _max)
    enter("np.amin", _EXTREME, _max)
_REDUCE = "array, axis, dtype, out, keepdims, initial, where"
ADD_REDUCE = enter("np.add.reduce", _REDUCE, _add_reduce, total=_total_reduce)
MULTIPLY_REDUCE = enter("np.multiply.reduce", _REDUCE, _add_reduce, total=_total_reduce)
MAXIMUM_REDUCE = enter("np.maximum.reduce", _REDUCE, _max_reduce)
MINIMUM_REDUCE = enter("np.minimum.reduce", _REDUCE, _max_reduce)
enter("np.ptp", "a, axis, out, keepdims", _max)
enter("np.any", "a, axis, out, keepdims, where", _all, total=_total)
enter("np.all", "a, axis, out, keepdims, where", _all, total=_total)
enter("np.argmax", "a, axis, out, keepdims", _arg)
enter("np.argmin", "a, axis, out, keepdims", _arg)
enter("np.count_nonzero", "a, axis, keepdims", _count_nonzero, total=lambda b, a: as_array(b, a).kind == "array")
enter("np.nansum", _AXIS, _sum)
enter("np.nanmean", "a, axis, dtype, out, keepdims, where", _mean)
CUMSUM = enter("np.cumsum", "a, axis, dtype, out", _cumsum, total="known")
CUMPROD = enter("np.cumprod", "a, axis, dtype, out", _cumsum, total="known")
NORM = enter("np.linalg.norm", "x, ord, axis, keepdims", _norm)
