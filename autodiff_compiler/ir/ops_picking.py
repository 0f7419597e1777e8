"""Functions of NumPy that pick or count elements, and ufunc methods, as primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import Builder, type_of
from .infer import broadcast_dims
from .ops_common import as_array, common_dtype, enter, is_number, one_axis, reduced, scalar_or_array, shape_dims
from .types import ANY, Ty, array


def _resize(b: Builder, a: Any, new_shape: Any) -> Ty:
    t = as_array(b, a)
    return array(t.dtype, shape_dims(b, new_shape)) if t.kind == "array" else ANY


def _some(b: Builder, arr: Any, axis: Any) -> Ty:
    """`arr` with another length along an axis; a vector if there is none."""
    t = as_array(b, arr)
    if t.kind != "array":
        return ANY
    if axis is None:
        return array(t.dtype, (b.dims.fresh(),))
    place = None if t.dims is None else one_axis(axis, len(t.dims))
    if t.dims is None or place is None:
        return array(t.dtype, None)
    return array(t.dtype, (*t.dims[:place], b.dims.fresh(), *t.dims[place + 1 :]))


def _windows(
    b: Builder, x: Any, window_shape: Any, axis: Any = None, *, subok: Any = False, writeable: Any = False
) -> Ty:
    t = as_array(b, x)
    if t.kind != "array" or t.dims is None:
        return ANY
    sizes = shape_dims(b, window_shape)
    if sizes is None:
        return ANY
    return array(t.dtype, (*[b.dims.fresh() for _ in t.dims], *sizes))


def _choose(b: Builder, a: Any, choices: Any) -> Ty:
    if not isinstance(choices, (list, tuple)):
        return ANY
    types = [as_array(b, c) for c in choices]
    place = as_array(b, a)
    if place.kind != "array" or not types or any(t.kind != "array" for t in types):
        return ANY
    dims = broadcast_dims(b, [place.dims, *[t.dims for t in types]])
    return scalar_or_array(True, common_dtype(types), dims)


def _bincount(b: Builder, x: Any, weights: Any = None, minlength: Any = 0) -> Ty:
    return array(np.dtype(np.int64 if weights is None else np.float64), (b.dims.fresh(),))


def _indices(b: Builder, x: Any, *rest: Any, **kwargs: Any) -> Ty:
    t = type_of(x)
    return scalar_or_array(True, np.dtype(np.intp), t.dims) if t.kind in ("array", "py", "generic", "scalar") else ANY


def _histogram(b: Builder, a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    if weights is not None:
        return ANY, ANY
    counts = array(np.dtype(np.int64 if density is None else np.float64), (b.dims.fresh(),))
    edges = as_array(b, bins)
    return counts, array(edges.dtype if edges.dims else None, (b.dims.fresh(),))


def _same_float(b: Builder, x: Any) -> Ty:
    t = type_of(x)
    if not t.is_float or t.kind != "array" or t.dtype not in (np.float32, np.float64):
        return ANY
    return Ty("any" if not t.dims else "array", t.dtype, t.dims)


def _folded(b: Builder, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Ty:
    t = as_array(b, array)
    if t.kind != "array" or not is_number(t.dtype) or t.dtype is None or t.dtype.kind != "f":
        return ANY
    return scalar_or_array(True, t.dtype, reduced(t.dims, axis, keepdims))


def _accumulated(b: Builder, array: Any, axis: Any = 0) -> Ty:
    t = as_array(b, array)
    return t if t.kind == "array" and t.dims else ANY


def _reduceat(b: Builder, array_: Any, indices: Any, axis: Any = 0) -> Ty:
    t, i = as_array(b, array_), as_array(b, indices)
    place = None if t.dims is None else one_axis(axis, len(t.dims))
    if t.kind != "array" or t.dims is None or place is None or i.dims is None or t.dtype is None:
        return ANY
    if t.dtype.kind not in "fc":
        return ANY
    return array(t.dtype, (*t.dims[:place], *i.dims, *t.dims[place + 1 :]))


def _unwrap(b: Builder, p: Any, discont: Any = None, axis: Any = -1) -> Ty:
    t = as_array(b, p)
    return t if t.kind == "array" and t.is_float else ANY


enter("np.resize", "a, new_shape", _resize)
enter("np.delete", "arr, obj, axis", lambda b, arr, obj, axis=None: _some(b, arr, axis))
enter("np.insert", "arr, obj, values, axis", lambda b, arr, obj, values, axis=None: _some(b, arr, axis))
enter("np.extract", "condition, arr", lambda b, condition, arr: _some(b, arr, None))
enter("np.compress", "condition, a, axis, out", lambda b, condition, a, axis=None: _some(b, a, axis))
enter("np.choose", "a, choices, out, mode", _choose)
enter("np.bincount", "x, weights, minlength", _bincount)
enter("np.digitize", "x, bins, right", _indices)
enter(
    "np.argpartition",
    "a, kth, axis, kind, order",
    lambda b, a, kth, axis=-1: _indices(b, a) if axis is not None else ANY,
)
enter("np.lexsort", "keys, axis")
enter("np.histogram", "a, bins, range, density, weights", _histogram, nout=2)
enter("np.lib.stride_tricks.sliding_window_view", "x, window_shape, axis, subok, writeable", _windows, alias="view")
enter("np.i0", "x", _same_float)
enter("np.unwrap", "p, discont, axis, period", _unwrap)

_REDUCE = "array, axis, dtype, out, keepdims, initial, where"
for _name in ("logaddexp", "logaddexp2", "hypot"):
    enter(f"np.{_name}.reduce", _REDUCE, _folded)
for _name in ("maximum", "minimum"):
    enter(f"np.{_name}.accumulate", "array, axis, dtype, out", _accumulated)
enter("np.add.reduceat", "array, indices, axis, dtype, out", _reduceat)
