"""NumPy's functions that shape, join, order and pick from arrays, as primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import Builder, Value, type_of
from .infer import broadcast_dims, promote
from .ops_common import (
    as_array,
    at_least,
    axes_of,
    common_dtype,
    dtype_of,
    enter,
    is_number,
    must_equal,
    one_axis,
    same_shape,
    scalar_or_array,
    shape_dims,
)  # fmt: skip
from .opset import PRIMS, reshape_dims
from .types import ANY, PY_FLOAT, Dim, DimLike, Ty, array, element, generic

# --- shaping ----------------------------------------------------------------------------------------------------------


def _shaped(b: Builder, a: Any, shape: Any) -> Ty:
    """`a` with other axes; a scalar becomes an array."""
    t = as_array(b, a)
    return array(t.dtype, shape) if t.kind == "array" else ANY


def _reshape(b: Builder, a: Any, shape: Any, order: Any = "C") -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or isinstance(shape, np.ndarray):
        return ANY
    dims = reshape_dims(b, t.dims, shape)
    return type_of(a) if _is_number(a) and dims == () else array(t.dtype, dims)


def _flip(b: Builder, m: Any, axis: Any = None) -> Ty:
    t = _same(b, m)
    return generic(t.dtype) if t.kind == "array" and t.dims == () else t


def _is_number(a: Any) -> bool:
    """One of NumPy's numbers: it has methods of arrays, of which some give numbers again."""
    return type_of(a).kind == "generic"


def _ravel(b: Builder, a: Any, order: Any = "C") -> Ty:
    return _reshape(b, a, -1)


def _transpose(b: Builder, a: Any, axes: Any = None) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None:
        return Ty(t.kind, t.dtype, None)
    if _is_number(a):
        return type_of(a)
    if axes is None:
        return array(t.dtype, t.dims[::-1])
    order = axes_of(tuple(axes), len(t.dims))
    return array(t.dtype, None if order is None or len(order) != len(t.dims) else tuple([t.dims[k] for k in order]))


def _swapaxes(b: Builder, a: Any, axis1: Any, axis2: Any) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None:
        return Ty(t.kind, t.dtype, None)
    i, j = one_axis(axis1, len(t.dims)), one_axis(axis2, len(t.dims))
    if i is None or j is None:
        return array(t.dtype, None)
    dims = list(t.dims)
    dims[i], dims[j] = dims[j], dims[i]
    return array(t.dtype, tuple(dims))


def move_order(source: Any, destination: Any, ndim: int) -> tuple[int, ...] | None:
    """The order of axes with which ``transpose`` does ``moveaxis``, or None if it is not known."""
    one = isinstance(source, int)
    src = axes_of((source,) if one else tuple(source), ndim)
    dst = axes_of((destination,) if isinstance(destination, int) else tuple(destination), ndim)
    if src is None or dst is None or len(src) != len(dst):
        return None
    order = [k for k in range(ndim) if k not in src]
    for d, s in sorted(zip(dst, src)):
        order.insert(d, s)
    return tuple(order)


def _moveaxis(b: Builder, a: Any, source: Any, destination: Any) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None:
        return Ty(t.kind, t.dtype, None)
    order = move_order(source, destination, len(t.dims))
    return array(t.dtype, None if order is None else tuple([t.dims[k] for k in order]))


def _squeeze(b: Builder, a: Any, axis: Any = None) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None:
        return Ty(t.kind, t.dtype, None)
    if _is_number(a):
        return type_of(a)
    dims = [b.dims.find(d) for d in t.dims]
    if axis is not None:
        axes = axes_of(axis, len(dims))
        return array(t.dtype, None if axes is None else tuple([d for k, d in enumerate(dims) if k not in axes]))
    if any(d != 1 and not b.dims.not_one(d) for d in dims):
        return array(t.dtype, None)
    return array(t.dtype, tuple([d for d in dims if d != 1]))


def _expand_dims(b: Builder, a: Any, axis: Any) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None:
        return Ty(t.kind, t.dtype, None)
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = len(t.dims) + len(axes)
    places = axes_of(axes, ndim)
    if places is None:
        return array(t.dtype, None)
    rest = iter(t.dims)
    return array(t.dtype, tuple([1 if k in places else next(rest) for k in range(ndim)]))


def _broadcast_to(b: Builder, array: Any, shape: Any) -> Ty:
    return _shaped(b, array, shape_dims(b, shape))


def _same(b: Builder, a: Any, *rest: Any, **kwargs: Any) -> Ty:
    t = as_array(b, a)
    return t if t.kind == "array" else ANY


def _rot90(b: Builder, m: Any, k: Any = 1, axes: Any = (0, 1)) -> Ty:
    t = as_array(b, m)
    if t.kind != "array" or not isinstance(k, int) or not isinstance(axes, tuple) or len(axes) != 2:
        return ANY
    return _swapaxes(b, m, *axes) if k % 2 else t


def _total_transpose(b: Builder, a: Any) -> bool:
    return as_array(b, a).kind == "array"


enter("np.reshape", "a, shape, order", _reshape, alias="maybe")
enter("np.ravel", "a, order", _ravel, alias="maybe", total=_total_transpose)
enter("np.transpose", "a, axes", _transpose, alias="view", total="known")
enter("np.swapaxes", "a, axis1, axis2", _swapaxes, alias="view", total="known")
enter("np.moveaxis", "a, source, destination", _moveaxis, alias="view", total="known")
enter("np.squeeze", "a, axis", _squeeze, alias="view", total=_total_transpose)
enter("np.expand_dims", "a, axis", _expand_dims, alias="view", total="known")
enter("np.broadcast_to", "array, shape", _broadcast_to, alias="view")
enter("np.atleast_1d", "*arys", lambda b, a: at_least(as_array(b, a), 1), alias="maybe", total="known")
enter("np.atleast_2d", "*arys", lambda b, a: at_least(as_array(b, a), 2), alias="maybe", total="known")
enter("np.flip", "m, axis", _flip, alias="view")
enter("np.flipud", "m", _same, alias="view")
enter("np.fliplr", "m", _same, alias="view")
enter("np.roll", "a, shift, axis", _same)
enter("np.rot90", "m, k, axes", _rot90, alias="view")

# --- joining, repeating -----------------------------------------------------------------------------------------------


def _sum_length(b: Builder, lengths: list[DimLike]) -> DimLike:
    lengths = [b.dims.find(d) for d in lengths]
    if all(isinstance(d, int) for d in lengths):
        return sum(d for d in lengths if isinstance(d, int))
    if len([d for d in lengths if d != 0]) == 1:
        return next(d for d in lengths if d != 0)
    return b.dims.named(("sum", *lengths))


def _elements(b: Builder, arrays: Any) -> Ty | None:
    """The type of the elements of a list of run-time length, if they are arrays of known rank."""
    t = type_of(arrays) if type(arrays) is Value else None
    if t is None or t.kind != "list":
        return None
    e = element(t, b.dims)
    return e if (e.kind == "array" or e.is_scalar) and e.dims is not None else None


def _operands(b: Builder, arrays: Any) -> list[Ty] | None:
    if not isinstance(arrays, (list, tuple)) or not arrays:
        return None
    types = [as_array(b, a) for a in arrays]
    return types if all(t.kind == "array" for t in types) else None


def _joined(b: Builder, types: list[Ty], axis: Any, dtype: np.dtype[Any] | None) -> Ty:
    first = types[0].dims
    if first is None or any(t.dims is None or len(t.dims) != len(first) for t in types):
        return array(dtype, None)
    place = one_axis(axis, len(first))
    if place is None:
        return array(dtype, None)
    out: list[DimLike] = []
    for k in range(len(first)):
        lengths = [t.dims[k] for t in types if t.dims is not None]
        if k == place:
            out.append(_sum_length(b, lengths))
        else:
            for d in lengths[1:]:
                must_equal(b, lengths[0], d)
            out.append(b.dims.find(lengths[0]))
    return array(dtype, tuple(out))


def _concatenate(b: Builder, arrays: Any, /, axis: Any = 0, *, dtype: Any = None) -> Ty:
    e = _elements(b, arrays)
    if e is not None and e.dims and isinstance(axis, int) and -len(e.dims) <= axis < len(e.dims):
        lengths = list(e.dims)
        lengths[axis] = b.dims.fresh()
        return array(dtype_of(dtype, e.dtype), tuple(lengths))
    types = _operands(b, arrays)
    if types is None:
        return ANY
    kind = dtype_of(dtype, common_dtype(types))
    return array(kind, (b.dims.fresh(),)) if axis is None else _joined(b, types, axis, kind)


def _stack(b: Builder, arrays: Any, axis: Any = 0, *, dtype: Any = None) -> Ty:
    e = _elements(b, arrays)
    if e is not None and e.dims is not None:
        place = one_axis(axis, len(e.dims) + 1)
        if place is not None:
            return array(dtype_of(dtype, e.dtype), (*e.dims[:place], b.dims.fresh(), *e.dims[place:]))
    types = _operands(b, arrays)
    if types is None:
        return ANY
    kind = dtype_of(dtype, common_dtype(types))
    dims = same_shape(b, [t.dims for t in types])
    if dims is None:
        return array(kind, None)
    place = one_axis(axis, len(dims) + 1)
    return array(kind, None if place is None else (*dims[:place], len(types), *dims[place:]))


def _vstack(b: Builder, tup: Any, *, dtype: Any = None) -> Ty:
    types = _operands(b, tup)
    if types is None:
        return ANY
    return _joined(b, [at_least(t, 2) for t in types], 0, dtype_of(dtype, common_dtype(types)))


def _hstack(b: Builder, tup: Any, *, dtype: Any = None) -> Ty:
    types = _operands(b, tup)
    if types is None:
        return ANY
    types = [at_least(t, 1) for t in types]
    flat = types[0].dims is not None and len(types[0].dims) == 1
    return _joined(b, types, 0 if flat else 1, dtype_of(dtype, common_dtype(types)))


def _column_stack(b: Builder, tup: Any) -> Ty:
    types = _operands(b, tup)
    if types is None:
        return ANY
    columns = [t if t.dims is None or len(t.dims) != 1 else array(t.dtype, (t.dims[0], 1)) for t in types]
    return _joined(b, [at_least(t, 2) for t in columns], 1, common_dtype(types))


def _repeat(b: Builder, a: Any, repeats: Any, axis: Any = None) -> Ty:
    t = as_array(b, a)
    if t.kind != "array":
        return ANY
    dims = t.dims if axis is not None else _ravel(b, a).dims
    place = None if dims is None else one_axis(0 if axis is None else axis, len(dims))
    if dims is None or place is None:
        return array(t.dtype, None)
    old = b.dims.find(dims[place])
    length: DimLike
    if isinstance(repeats, int) and (isinstance(old, int) or repeats == 1):
        length = old if repeats == 1 else int(old) * repeats  # type: ignore[arg-type]
    elif isinstance(repeats, int):
        length = b.dims.named(("repeat", old, repeats))
    else:
        length = b.dims.fresh()
    return array(t.dtype, (*dims[:place], length, *dims[place + 1 :]))


def _tile(b: Builder, A: Any, reps: Any) -> Ty:
    t = as_array(b, A)
    if t.kind != "array":
        return ANY
    counts = reps if isinstance(reps, (tuple, list)) else (reps,)
    if t.dims is None or not all(isinstance(r, int) or type_of(r).is_scalar for r in counts):
        return array(t.dtype, None)
    ndim = max(len(t.dims), len(counts))
    dims = (1,) * (ndim - len(t.dims)) + tuple([b.dims.find(d) for d in t.dims])
    out: list[DimLike] = []
    for d, r in zip(dims, (1,) * (ndim - len(counts)) + tuple(counts)):
        if isinstance(r, int) and (isinstance(d, int) or r == 1):
            out.append(d if r == 1 else int(d) * r)  # type: ignore[arg-type]
        elif isinstance(r, int):
            out.append(b.dims.named(("repeat", d, r)))
        else:
            out.append(b.dims.fresh())
    return array(t.dtype, tuple(out))


def pad_widths(pad_width: Any, ndim: int) -> tuple[tuple[Any, Any], ...] | None:
    """``(before, after)`` per axis, or None if the form of `pad_width` is not known."""
    if isinstance(pad_width, (int, np.integer)) or (isinstance(pad_width, Value) and pad_width.type.is_scalar):
        return ((pad_width, pad_width),) * ndim
    if not isinstance(pad_width, (tuple, list)) or not pad_width:
        return None
    rows = []
    for row in pad_width:
        if isinstance(row, (tuple, list)):
            if len(row) not in (1, 2):
                return None
            rows.append((row[0], row[-1]))
        elif isinstance(row, Value) and not row.type.is_scalar:
            return None
        else:
            rows.append((row, row))
    if not isinstance(pad_width[0], (tuple, list)):
        # (before, after) for every axis
        return ((pad_width[0], pad_width[-1]),) * ndim if len(pad_width) <= 2 else None
    if len(rows) == 1:
        return (rows[0],) * ndim
    return tuple(rows) if len(rows) == ndim else None


def _pad(b: Builder, array_: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Ty:
    t = as_array(b, array_)
    if t.kind != "array" or callable(mode):
        return ANY
    if t.dims is None:
        return array(t.dtype, None)
    widths = pad_widths(pad_width, len(t.dims))
    if widths is None:
        return array(t.dtype, (*[b.dims.fresh() for _ in t.dims],))
    out: list[DimLike] = []
    for d, (before, after) in zip(t.dims, widths):
        d = b.dims.find(d)
        if isinstance(before, int) and isinstance(after, int):
            extra = before + after
            if isinstance(d, int):
                out.append(d + extra)
            else:
                out.append(d if extra == 0 else b.dims.named(("pad", d, extra)))
        else:
            out.append(b.dims.fresh())
    return array(t.dtype, tuple(out))


enter("np.concatenate", "arrays, axis, out, dtype, casting", _concatenate, total="known")
if hasattr(np, "concat"):
    PRIMS[np.concat] = PRIMS[np.concatenate]
enter("np.stack", "arrays, axis, out, dtype, casting", _stack, total="known")
enter("np.vstack", "tup, dtype, casting", _vstack, total="known")
enter("np.hstack", "tup, dtype, casting", _hstack, total="known")
enter("np.column_stack", "tup", _column_stack, total="known")
enter("np.append", "arr, values, axis", lambda b, arr, values, axis=None: _concatenate(b, (arr, values), axis=axis))
enter("np.split", "ary, indices_or_sections, axis", alias="view")
enter("np.repeat", "a, repeats, axis", _repeat)
enter("np.tile", "A, reps", _tile)
enter("np.pad", "array, pad_width, mode", _pad)

# --- picking, ordering, choosing --------------------------------------------------------------------------------------


def _where(b: Builder, condition: Any, x: Any, y: Any) -> Ty:
    types = [t if (t := type_of(a)).kind != "object" else as_array(b, a) for a in (condition, x, y)]
    dims = broadcast_dims(b, [t.dims for t in types])
    found = promote(np.add, types[1:])
    kind = "array" if all(t.kind in ("array", "py", "generic", "scalar") for t in types) else "any"
    return Ty(kind, found[0] if found else None, dims)


def _clip(b: Builder, a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Ty:
    given = [type_of(x) for x in (a, a_min, a_max, min, max) if x is not None]
    if not all(t.kind in ("array", "py", "generic", "scalar") for t in given):
        return ANY
    dims = broadcast_dims(b, [t.dims for t in given])
    first, *rest = given
    for t in rest:
        found = promote(np.maximum, [first, t])
        if not found:
            return scalar_or_array(dims is not None, None, dims)
        first = Ty("py" if first.kind == t.kind == "py" else "array", found[0], ())
    if not rest or any(t.kind == "scalar" for t in given):
        return ANY if not rest else scalar_or_array(dims is not None, None, dims)
    return scalar_or_array(dims is not None, first.dtype, dims)


def _take(b: Builder, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Ty:
    t, i = as_array(b, a), as_array(b, indices)
    if t.kind != "array" or i.kind != "array" or out is not None:
        return ANY
    if axis is None:
        return scalar_or_array(True, t.dtype, i.dims)
    place = None if t.dims is None else one_axis(axis, len(t.dims))
    if t.dims is None or place is None or i.dims is None:
        return Ty("any", t.dtype, None)
    return scalar_or_array(True, t.dtype, (*t.dims[:place], *i.dims, *t.dims[place + 1 :]))


def _take_along(b: Builder, arr: Any, indices: Any, axis: Any = -1) -> Ty:
    t, i = as_array(b, arr), as_array(b, indices)
    if t.kind != "array" or i.kind != "array" or axis is None or t.dims is None or i.dims is None:
        return ANY
    place = one_axis(axis, len(t.dims))
    if place is None or len(t.dims) != len(i.dims):
        return ANY
    rest = broadcast_dims(b, [t.dims[:place] + t.dims[place + 1 :], i.dims[:place] + i.dims[place + 1 :]]) or ()
    return array(t.dtype, (*rest[:place], i.dims[place], *rest[place:]))


def _sort(b: Builder, a: Any, axis: Any = -1, kind: Any = None) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None or (axis is not None and one_axis(axis, len(t.dims)) is None):
        return ANY
    return _ravel(b, a) if axis is None else t


def _argsort(b: Builder, a: Any, axis: Any = -1, kind: Any = None) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None or (axis is not None and one_axis(axis, len(t.dims)) is None):
        return ANY
    return array(np.intp, _ravel(b, a).dims if axis is None else t.dims)


def _searchsorted(b: Builder, a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Ty:
    t = type_of(v)
    if t.kind not in ("array", "py", "generic", "scalar"):
        return ANY
    return scalar_or_array(True, np.dtype(np.intp), t.dims)


def _diff(b: Builder, a: Any, n: Any = 1, axis: Any = -1) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None or not isinstance(n, int):
        return ANY
    place = one_axis(axis, len(t.dims))
    if place is None or n < 0:
        return ANY
    d = b.dims.find(t.dims[place])
    if isinstance(d, int):
        length: DimLike = max(d - n, 0)
    else:
        length = Dim(d.root, d.off + n) if d.off >= 0 else b.dims.named(("diff", d, n))
    return array(t.dtype, (*t.dims[:place], length, *t.dims[place + 1 :]))


def _diagonal_length(b: Builder, rows: DimLike, columns: DimLike, k: Any) -> DimLike:
    rows, columns = b.dims.find(rows), b.dims.find(columns)
    if isinstance(rows, int) and isinstance(columns, int) and isinstance(k, int):
        return max(min(rows + min(k, 0), columns - max(k, 0)), 0)
    if isinstance(k, int) and k == 0 and rows == columns:
        return rows
    return b.dims.fresh()


def _diag(b: Builder, v: Any, k: Any = 0) -> Ty:
    t = as_array(b, v)
    if t.kind != "array" or t.dims is None or len(t.dims) not in (1, 2):
        return ANY
    if len(t.dims) == 2:
        return array(t.dtype, (_diagonal_length(b, t.dims[0], t.dims[1], k),))
    d = b.dims.find(t.dims[0])
    if isinstance(k, int) and (k == 0 or isinstance(d, int)):
        n: DimLike = d if k == 0 else int(d) + abs(k)  # type: ignore[arg-type]
    else:
        n = b.dims.named(("diag", d, abs(k))) if isinstance(k, int) else b.dims.fresh()
    return array(t.dtype, (n, n))


def _diagonal(b: Builder, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Ty:
    t = as_array(b, a)
    axes = None if t.dims is None else axes_of((axis1, axis2), len(t.dims))
    if t.kind != "array" or t.dims is None or axes is None:
        return ANY
    rest = [d for k, d in enumerate(t.dims) if k not in axes]
    return array(t.dtype, (*rest, _diagonal_length(b, t.dims[axes[0]], t.dims[axes[1]], offset)))


def _trace(b: Builder, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Ty:
    t = _diagonal(b, a, offset, axis1, axis2)
    if t.kind != "array" or t.dims is None:
        return ANY
    dtype = t.dtype
    if dtype is not None and dtype.kind in "biu":
        dtype = None
    return scalar_or_array(True, dtype, t.dims[:-1])


def _tri(b: Builder, m: Any, k: Any = 0) -> Ty:
    t = as_array(b, m)
    if t.kind != "array" or not t.dims:
        return ANY
    return array(t.dtype, t.dims if len(t.dims) != 1 else (t.dims[0], t.dims[0]))


def _interp(b: Builder, x: Any, xp: Any, fp: Any) -> Ty:
    t, f = type_of(x), as_array(b, fp)
    if t.kind not in ("array", "py", "generic", "scalar"):
        return ANY
    dtype = None if f.dtype is None else np.dtype(np.complex128 if f.dtype.kind == "c" else np.float64)
    return scalar_or_array(True, dtype, t.dims)


def _real(b: Builder, val: Any) -> Ty:
    t = type_of(val)
    if t.kind == "py" and t.dtype is not None:
        return PY_FLOAT if t.dtype.kind in "fc" else ANY
    if t.kind not in ("array", "generic") or not is_number(t.dtype):
        return ANY
    dtype = t.dtype
    assert dtype is not None
    return Ty(t.kind, np.empty(0, dtype).real.dtype, t.dims)


WHERE = enter("np.where", "condition, x, y", _where, total="known")
CLIP = enter("np.clip", "a, a_min, a_max, out, min, max", _clip, total="known")
enter("np.take", "a, indices, axis, out, mode", _take)
enter("np.take_along_axis", "arr, indices, axis", _take_along)
enter("np.sort", "a, axis, kind", _sort, total="known")
enter("np.argsort", "a, axis, kind", _argsort, total="known")
enter("np.searchsorted", "a, v, side, sorter", _searchsorted)
enter("np.nonzero", "a")
enter("np.flatnonzero", "a", lambda b, a: array(np.intp, (b.dims.fresh(),)))
enter("np.unique", "ar")
enter("np.diff", "a, n, axis", _diff, total="known")
enter("np.diag", "v, k", _diag, alias="maybe", total="known")
enter("np.diagonal", "a, offset, axis1, axis2", _diagonal, alias="view", total="known")
enter("np.trace", "a, offset, axis1, axis2, dtype, out", _trace, total="known")
enter("np.tril", "m, k", _tri, total="known")
enter("np.triu", "m, k", _tri, total="known")
enter("np.interp", "x, xp, fp", _interp)
enter("np.real", "val", _real, alias="maybe", total="known")
enter("np.imag", "val", _real, alias="maybe", total="known")
enter("np.nan_to_num", "x, copy, nan, posinf, neginf", lambda b, x: _same_number(b, x))
enter("np.round", "a, decimals", lambda b, a, decimals=0: _same_number(b, a))
PRIMS[np.around] = PRIMS[np.round]
enter("np.fix", "x", lambda b, x: _same_number(b, x))
enter("np.isclose", "a, b, rtol, atol, equal_nan")
enter("np.allclose", "a, b, rtol, atol, equal_nan", lambda b, x, y, **k: ANY)
enter("np.array_equal", "a1, a2, equal_nan", lambda b, x, y: ANY)
enter("np.iscomplexobj", "x", lambda b, x: ANY)
enter("np.isscalar", "element", lambda b, x: ANY)
enter("np.meshgrid", "*xi, indexing", nout=1, alias="maybe")


def _same_number(b: Builder, x: Any) -> Ty:
    """Element by element, the dtype kept where it is inexact."""
    t = type_of(x)
    if not t.is_float or t.kind not in ("array", "py", "generic", "scalar"):
        return ANY
    return scalar_or_array(True, t.dtype, t.dims)
