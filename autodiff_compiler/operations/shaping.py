"""Derivative rules of functions that make, shape, join and repeat arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from ..ir import opset
from ..ir.core import Value, current, type_of
from ..ir.numpy_ops import UNSTACK
from ..ir.ops_make import ASTYPE
from ..ir.ops_shape import move_order, pad_widths
from . import lib
from .lib import call
from .picking import picked
from .record import constant_in, nondiff, vjp

# --- making arrays ----------------------------------------------------------------------------------------------------

nondiff((np.zeros_like, np.ones_like, np.empty_like, np.zeros, np.ones, np.empty, np.eye, np.identity))


@vjp((np.full, np.full_like), "fill_value")
def _full(g: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
    return g


constant_in(np.full_like, "a")


def _pieces(g: Any, items: Any) -> Any:
    """A cotangent for every leaf of a nested list or tuple from which an array was made."""
    if isinstance(items, (list, tuple)):
        return tuple([_pieces(lib.part(g, (k,)), item) for k, item in enumerate(items)])
    if type_of(items).kind == "list":
        return current().emit(UNSTACK, g)
    return g


@vjp(np.array, "object")
def _array(g: Any, out: Any, object: Any, dtype: Any = None, *, copy: Any = True) -> Any:
    return _pieces(g, object)


@vjp((np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray), "a")
def _asarray(g: Any, out: Any, a: Any, dtype: Any = None) -> Any:
    # ascontiguousarray makes a vector of a number.
    return _pieces(g, a)


@vjp(np.copy, "a")
def _copy(g: Any, out: Any, a: Any, order: Any = None) -> Any:
    return _pieces(g, a)


@vjp(ASTYPE, "x")
def _astype(g: Any, out: Any, x: Any, dtype: Any) -> Any:
    if isinstance(dtype, Value) or np.dtype(dtype).kind in "fc":
        return g
    if np.dtype(dtype).kind not in "biu":
        raise lib.unsupported("a derivative would have to pass through an array of objects or strings",
                          "use an array of floats, or a list")  # fmt: skip
    return None


@vjp(np.nan_to_num, "x")
def _nan_to_num(g: Any, out: Any, x: Any) -> Any:
    return lib.masked(g, np.isfinite(x))


def _fractions(out: Any, num: Any, endpoint: Any) -> Any:
    """How far each of the `num` points lies on the way, along the first axis of `out`."""
    t = call(np.linspace, 0.0, 1.0, num, endpoint=endpoint)
    rank = lib.ndim(out)
    return t if rank == 1 else lib.reshape(t, (-1,) + (1,) * (rank - 1))


@vjp(np.linspace, "start")
def _linspace_start(
    g: Any, out: Any, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, *, dtype: Any = None
) -> Any:
    return g * (1 - _fractions(out, num, endpoint))


@vjp(np.linspace, "stop")
def _linspace_stop(
    g: Any, out: Any, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, *, dtype: Any = None
) -> Any:
    return g * _fractions(out, num, endpoint)


@vjp(np.arange, "start")
def _arange_start(g: Any, out: Any, start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    return None if stop is None else g


@vjp(np.arange, "step")
def _arange_step(g: Any, out: Any, start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    return g * call(np.arange, lib.length(out, 0))


constant_in(np.arange, "stop")

# --- shaping ----------------------------------------------------------------------------------------------------------


@vjp(np.reshape, "a")
def _reshape(g: Any, out: Any, a: Any, shape: Any, order: Any = "C") -> Any:
    if order != "C":
        raise lib.unsupported("np.reshape has a derivative rule for order='C' only", "transpose before and after")
    return lib.reshape_as(g, a)


@vjp(np.ravel, "a")
def _ravel(g: Any, out: Any, a: Any, order: Any = "C") -> Any:
    return _reshape(g, out, a, -1, order)


@vjp((np.squeeze, np.expand_dims), "a")
def _squeeze(g: Any, out: Any, a: Any, axis: Any = None) -> Any:
    return lib.reshape_as(g, a)


@vjp((np.atleast_1d, np.atleast_2d), "*arys")
def _at_least(g: Any, out: Any, *arys: Any) -> Any:
    if len(arys) != 1:
        raise lib.unsupported("np.atleast_1d and np.atleast_2d have a derivative rule for one array")
    return (lib.reshape_as(g, arys[0]),)


@vjp(np.transpose, "a")
def _transpose(g: Any, out: Any, a: Any, axes: Any = None) -> Any:
    if axes is None:
        return lib.transpose(g, tuple(reversed(range(lib.ndim(a)))))
    order = lib.axes(tuple(axes), a)
    return lib.transpose(g, tuple(np.argsort(order).tolist()))


@vjp(np.swapaxes, "a")
def _swapaxes(g: Any, out: Any, a: Any, axis1: Any, axis2: Any) -> Any:
    return np.swapaxes(g, axis1, axis2)


@vjp(np.moveaxis, "a")
def _moveaxis(g: Any, out: Any, a: Any, source: Any, destination: Any) -> Any:
    if move_order(source, destination, lib.ndim(a)) is None:
        raise lib.unsupported("the derivative of np.moveaxis needs constant axes")
    return np.moveaxis(g, destination, source)


@vjp(np.broadcast_to, "array")
def _broadcast_to(g: Any, out: Any, array: Any, shape: Any) -> Any:
    return g


@vjp(np.flip, "m")
def _flip(g: Any, out: Any, m: Any, axis: Any = None) -> Any:
    return np.flip(g, axis)


@vjp(np.flipud, "m")
def _flipud(g: Any, out: Any, m: Any) -> Any:
    return np.flipud(g)


@vjp(np.fliplr, "m")
def _fliplr(g: Any, out: Any, m: Any) -> Any:
    return np.fliplr(g)


@vjp(np.roll, "a")
def _roll(g: Any, out: Any, a: Any, shift: Any, axis: Any = None) -> Any:
    back = tuple([-s for s in shift]) if isinstance(shift, tuple) else -shift
    return np.roll(g, back, axis)


@vjp(np.rot90, "m")
def _rot90(g: Any, out: Any, m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    return np.rot90(g, -k, axes)


# --- joining ----------------------------------------------------------------------------------------------------------


def _split(g: Any, arrays: Any, axis: int) -> tuple[Any, ...]:
    """The parts of `g` along an axis along which arrays were joined."""
    parts = []
    start: Any = None
    for k, a in enumerate(arrays):
        n = lib.length(a, axis)
        stop = None if k == len(arrays) - 1 else n if start is None else start + n
        parts.append(lib.at_shape(lib.part(g, lib.vector_index(axis, slice(start, stop))), a))
        start = stop
    return tuple(parts)


@vjp(np.concatenate, "arrays")
def _concatenate(g: Any, out: Any, arrays: Any, axis: Any = 0, *, dtype: Any = None) -> Any:
    if type(arrays) is Value and arrays.type.kind == "list" and isinstance(axis, int):
        return call(runtime.split_like, g, arrays, axis)
    if not isinstance(arrays, (list, tuple)):
        raise lib.unsupported("np.concatenate has a derivative rule for lists and tuples of arrays")
    if axis is None:
        flat = [call(np.ravel, a) for a in arrays]
        return tuple([lib.reshape_as(part, a) for part, a in zip(_split(g, flat, 0), arrays)])
    return _split(g, arrays, lib.axes(axis, arrays[0])[0])


@vjp(runtime.split_like, "g")
def _split_like(g: Any, out: Any, g_: Any, arrays: Any, axis: Any) -> Any:
    return call(np.concatenate, g, axis)


constant_in(runtime.split_like, "arrays")


@vjp(np.stack, "arrays")
def _stack(g: Any, out: Any, arrays: Any, axis: Any = 0, *, dtype: Any = None) -> Any:
    place = lib.axes(axis, out)[0]
    if type(arrays) is Value and arrays.type.kind == "list":
        return current().emit(UNSTACK, np.moveaxis(g, place, 0))
    return tuple([lib.part(g, lib.vector_index(place, k)) for k in range(len(arrays))])


@vjp(np.vstack, "tup")
def _vstack(g: Any, out: Any, tup: Any, *, dtype: Any = None) -> Any:
    if all(lib.ndim(a) < 2 for a in tup):
        return tuple([lib.part(g, (k,) if lib.ndim(a) else (k, 0)) for k, a in enumerate(tup)])
    if any(lib.ndim(a) < 2 for a in tup):
        tup = [a if lib.ndim(a) >= 2 else call(np.atleast_2d, a) for a in tup]
        parts = _split(g, tup, 0)
        return parts  # a row of shape (1, n) for a vector: the transform sums the axis of length 1 away
    return _split(g, tup, 0)


@vjp(np.hstack, "tup")
def _hstack(g: Any, out: Any, tup: Any, *, dtype: Any = None) -> Any:
    if all(lib.ndim(a) == 0 for a in tup):
        return tuple([lib.part(g, (k,)) for k in range(len(tup))])
    wide = [call(np.atleast_1d, a) if lib.ndim(a) == 0 else a for a in tup]
    parts = _split(g, wide, 0 if lib.ndim(wide[0]) == 1 else 1)
    return tuple([lib.part(p, (0,)) if lib.ndim(a) == 0 else p for p, a in zip(parts, tup)])


@vjp(np.column_stack, "tup")
def _column_stack(g: Any, out: Any, tup: Any) -> Any:
    if all(lib.ndim(a) == 1 for a in tup):
        return tuple([lib.part(g, (slice(None), k)) for k in range(len(tup))])
    wide = [lib.reshape(a, (-1, 1)) if lib.ndim(a) == 1 else a for a in tup]
    return tuple([lib.part(p, (slice(None), 0)) if lib.ndim(a) == 1 else p for p, a in zip(_split(g, wide, 1), tup)])


@vjp(np.append, "arr")
def _append_array(g: Any, out: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    return _concatenate(g, out, (arr, values), axis)[0]


@vjp(np.append, "values")
def _append_values(g: Any, out: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    return _concatenate(g, out, (arr, values), axis)[1]


# --- repeating --------------------------------------------------------------------------------------------------------


@vjp(np.repeat, "a")
def _repeat(g: Any, out: Any, a: Any, repeats: Any, axis: Any = None) -> Any:
    if axis is None:
        flat = call(np.ravel, a)
        return lib.reshape_as(_repeated(g, flat, repeats, 0), a)
    return _repeated(g, a, repeats, lib.axes(axis, a)[0])


def _repeated(g: Any, a: Any, repeats: Any, axis: int) -> Any:
    if lib.is_scalar(repeats):
        lengths = [lib.length(a, k) for k in range(lib.ndim(a))]
        lengths[axis : axis + 1] = [lengths[axis], _count(repeats)]
        return np.sum(lib.reshape(g, tuple(lengths)), axis=axis + 1)
    places = call(np.repeat, call(np.arange, lib.length(a, axis)), repeats)
    return lib.scatter(g, a, lib.vector_index(axis, places))


def _count(n: Any) -> Any:
    """How often an element is repeated: NumPy lets negative numbers pass where there is none."""
    return max(n, 0) if isinstance(n, int) else n


@vjp(np.tile, "A")
def _tile(g: Any, out: Any, A: Any, reps: Any) -> Any:
    counts = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    if not all(lib.is_scalar(r) for r in counts):
        raise lib.unsupported("the derivative of np.tile needs a number or a tuple of numbers for `reps`")
    rank = max(lib.ndim(A), len(counts))
    counts = (1,) * (rank - len(counts)) + counts
    lengths = (1,) * (rank - lib.ndim(A)) + tuple([lib.length(A, k) for k in range(lib.ndim(A))])
    shape: list[Any] = []
    summed: list[int] = []
    for r, n in zip(counts, lengths):
        if not (isinstance(r, int) and r == 1):
            summed.append(len(shape))
            shape.append(_count(r))
        shape.append(n)
    if not summed:
        return g
    total = np.sum(lib.reshape(g, tuple(shape)), axis=tuple(summed))
    return total if rank == lib.ndim(A) else lib.reshape_as(total, A)


# The padding that repeats elements of the array.
_REPEATING = {"edge": (), "reflect": ("reflect_type",), "symmetric": ("reflect_type",), "wrap": ()}


@vjp(np.pad, "array")
def _pad(g: Any, out: Any, array: Any, pad_width: Any, mode: Any = "constant", **keywords: Any) -> Any:
    if mode in _REPEATING and set(keywords) <= set(_REPEATING[mode]) and keywords.get("reflect_type") != "odd":
        return picked(np.pad, g, array, pad_width, mode, **keywords)
    if mode != "constant":
        raise lib.unsupported(
            f"np.pad has no derivative rule for mode={mode!r}" + "".join(f", {k}={v!r}" for k, v in keywords.items()),
            "use mode 'constant', 'edge', 'reflect', 'symmetric' or 'wrap'",
        )
    if lib.symbolic(keywords.get("constant_values", 0)):
        raise lib.unsupported("np.pad has no derivative rule for padding that is computed")
    rank = lib.ndim(array)
    if rank == 0:
        return g
    widths = pad_widths(pad_width, rank)
    if widths is None:
        raise lib.unsupported("the derivative of np.pad needs a number or a tuple of pairs for `pad_width`")
    items = []
    for axis, (before, after) in enumerate(widths):
        if isinstance(before, int) and isinstance(after, int):
            items.append(slice(before or None, -after if after else None))
        else:
            items.append(slice(before, before + lib.length(array, axis)))
    return lib.at_shape(lib.part(g, tuple(items)), array)


# --- differences, diagonals, triangles --------------------------------------------------------------------------------


@vjp(np.diff, "a")
def _diff(g: Any, out: Any, a: Any, n: Any = 1, axis: Any = -1) -> Any:
    if not isinstance(n, int):
        raise lib.unsupported("the derivative of np.diff needs a constant for `n`")
    place = lib.axes(axis, a)[0]
    for order in reversed(range(n)):
        x = a if order == 0 else np.diff(a, n=order, axis=place)
        ahead, behind = (lib.vector_index(place, s) for s in (slice(1, None), slice(None, -1)))
        g = _minus_at(lib.scatter(g, x, ahead), behind, g)
    return g


def _minus_at(bar: Any, items: tuple[Any, ...], g: Any) -> Any:
    path = (("index", items),)
    return lib.emit(opset.ADDAT, bar, path, -g)


def _on_diagonal(g: Any, x: Any, offset: Any, axis1: int, axis2: int) -> Any:
    """Zeros like `x` with `g` on a diagonal; the diagonal is the last axis of `g`."""
    rank = lib.ndim(x)
    n = lib.length(g, lib.ndim(g) - 1) if lib.ndim(g) else 0
    places = call(np.arange, n)
    if isinstance(offset, int):
        rows = places - offset if offset < 0 else places
        columns = places + offset if offset > 0 else places
    else:
        rows, columns = places - lib.choose(offset < 0, offset, 0), places + lib.choose(offset > 0, offset, 0)
    order = tuple([k for k in range(rank) if k not in (axis1, axis2)] + [axis1, axis2])
    path: tuple[Any, ...] = (("index", (rows, columns) if rank == 2 else (Ellipsis, rows, columns)),)
    if order != tuple(range(rank)):
        path = (("transpose", order), *path)
    return lib.emit(opset.SET, lib.zeros_for(g, x), path, g)


@vjp(np.diag, "v")
def _diag(g: Any, out: Any, v: Any, k: Any = 0) -> Any:
    if lib.ndim(v) == 1:
        return lib.at_shape(lib.emit(opset.COPY, np.diagonal(g, k)), v)  # a diagonal is read-only
    return _on_diagonal(g, v, k, 0, 1)


@vjp(np.diagonal, "a")
def _diagonal(g: Any, out: Any, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    return _on_diagonal(g, a, offset, *lib.axes((axis1, axis2), a))


@vjp(np.trace, "a")
def _trace(g: Any, out: Any, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    first, second = lib.axes((axis1, axis2), a)
    if lib.ndim(a) == 2:
        eye = call(np.eye, lib.length(a, 0), lib.length(a, 1), offset if first < second else -offset)
        return g * eye
    eye = call(np.eye, lib.length(a, first), lib.length(a, second), offset)
    rest = [k for k in range(lib.ndim(a)) if k not in (first, second)]
    product = lib.part(g, (Ellipsis, None, None)) * eye
    order = [*rest, first, second]
    return lib.transpose(product, tuple(np.argsort(order).tolist()))


@vjp(np.tril, "m")
def _tril(g: Any, out: Any, m: Any, k: Any = 0) -> Any:
    return np.tril(g, k)


@vjp(np.triu, "m")
def _triu(g: Any, out: Any, m: Any, k: Any = 0) -> Any:
    return np.triu(g, k)
