"""Functions whose results are elements of their arguments, counts of elements, and ufunc methods."""

from __future__ import annotations

from typing import Any

from .. import runtime
from ..ir import opset
from ..ir.core import Builder, type_of
from ..ir.infer import broadcast_dims
from ..ir.ops_common import as_array, common_dtype, is_number, one_axis, reduced, scalar_or_array, shape_dims
from ..ir.opset import mark
from ..ir.types import ANY, Ty, array
from ..pristine import np
from . import lib, roots
from .lib import call
from .record import jvp, op, vjp

# --- picking ----------------------------------------------------------------------------------------------------------


def _resize_type(b: Builder, a: Any, new_shape: Any) -> Ty:
    t = as_array(b, a)
    return array(t.dtype, shape_dims(b, new_shape)) if t.kind == "array" else ANY


op("np.resize", "a: array, new_shape", type=_resize_type)


# --- polynomials ------------------------------------------------------------------------------------------------------


def _trimmed_type(b: Builder, seq: Any) -> Ty:
    t = as_array(b, seq)
    return array(t.dtype, (b.dims.fresh(),)) if t.kind == "array" else ANY


op(runtime.trimmed, "seq: array", type=_trimmed_type, alias="view")


def _if_none_is_dropped(g: Any, out: Any, seq: Any) -> Any:
    """None is dropped that the program differentiates by: what comes after depends on it, too."""
    what = "numpy.polynomial drops a highest coefficient that is zero, and has no derivative by it there"
    remedy = "begin with coefficients that are not zero, or use functions that drop none, such as polyval"
    return call(runtime.if_square, g, lib.length(out, 0), lib.length(seq, 0), lib.place(), what, remedy)


@vjp(runtime.trimmed, "seq")
def _trimmed(g: Any, out: Any, seq: Any) -> Any:
    return _if_none_is_dropped(g, out, seq)


@jvp(runtime.trimmed, "seq")
def _trimmed_jvp(d: Any, out: Any, seq: Any) -> Any:
    return _if_none_is_dropped(d, out, seq)


# --- elements ---------------------------------------------------------------------------------------------------------


def _picks(fn: Any, argument: str) -> None:
    @vjp(fn, argument, linear=True)
    def rule(g: Any, out: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
        if lib.is_empty(a):
            return None
        return picked(fn, g, a, *args, **kwargs)


def picked(fn: Any, g: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    """The cotangent of `a` for ``fn(a, *args)``, whose elements are elements of `a`."""
    return _returned(g, a, call(fn, _numbers(a), *args, **kwargs))


def _numbers(a: Any, first: Any = 0) -> Any:
    """The elements of `a`, numbered."""
    n = lib.count(a)
    flat = call(np.arange, n) if type(first) is int and first == 0 else call(np.arange, first, first + n)
    return flat if lib.ndim(a) == 1 else lib.reshape_as(flat, a)


def _returned(g: Any, a: Any, source: Any) -> Any:
    """The cotangent of `a`, of which the elements numbered `source` were picked."""
    path: tuple[Any, ...] = (("index", (source,)),)
    if lib.ndim(a) != 1:
        path = (("reshape", (-1,)), *path)
    return lib.emit(opset.ADDAT, lib.zeros_for(g, a), path, g)


_picks(np.resize, "a")


def _some_type(b: Builder, arr: Any, axis: Any) -> Ty:
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


op("np.delete", "arr: array, obj, axis", type=lambda b, arr, obj, axis=None: _some_type(b, arr, axis))
_picks(np.delete, "arr")


def _windows_type(
    b: Builder, x: Any, window_shape: Any, axis: Any = None, *, subok: Any = False, writeable: Any = False
) -> Ty:
    t = as_array(b, x)
    if t.kind != "array" or t.dims is None:
        return ANY
    sizes = shape_dims(b, window_shape)
    if sizes is None:
        return ANY
    return array(t.dtype, (*[b.dims.fresh() for _ in t.dims], *sizes))


op(
    "np.lib.stride_tricks.sliding_window_view",
    "x: array, window_shape, axis, subok, writeable",
    type=_windows_type,
    alias="view",
)
_picks(np.lib.stride_tricks.sliding_window_view, "x")
op("np.extract", "condition: array, arr: array", type=lambda b, condition, arr: _some_type(b, arr, None))


@vjp(np.extract, "arr", linear=True)
def _extract(g: Any, out: Any, condition: Any, arr: Any) -> Any:
    return _returned(g, arr, call(np.extract, condition, _numbers(arr)))


op(
    "np.compress",
    "condition: array, a: array, axis, out",
    type=lambda b, condition, a, axis=None: _some_type(b, a, axis),
)


@vjp(np.compress, "a", linear=True)
def _compress(g: Any, out: Any, condition: Any, a: Any, axis: Any = None) -> Any:
    return _returned(g, a, call(np.compress, condition, _numbers(a), axis))


op(
    "np.insert",
    "arr: array, obj, values: array, axis",
    type=lambda b, arr, obj, values, axis=None: _some_type(b, arr, axis),
)


@vjp(np.insert, "arr", linear="arr, values")
def _insert_arr(g: Any, out: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    # The numbers of inserted elements are those after the last of `arr`, and add up where they are dropped.
    n = lib.count(arr)
    source = call(np.insert, _numbers(arr), obj, call(np.zeros_like, _numbers(values)) + n, axis)
    flat = lib.added(lib.zeros_of(n + 1, g), (source,), g)
    return lib.reshape_as(lib.part(flat, (slice(None, -1),)), arr)


@vjp(np.insert, "values")
def _insert_values(g: Any, out: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    m = lib.count(values)
    source = call(np.insert, call(np.zeros_like, _numbers(arr)) - 1, obj, _numbers(values), axis)
    flat = lib.added(lib.zeros_of(m + 1, g), (source,), g)  # -1 is the last
    return lib.reshape_as(lib.part(flat, (slice(None, -1),)), values)


def _choose_type(b: Builder, a: Any, choices: Any) -> Ty:
    if not isinstance(choices, (list, tuple)):
        return ANY
    types = [as_array(b, c) for c in choices]
    place = as_array(b, a)
    if place.kind != "array" or not types or any(t.kind != "array" for t in types):
        return ANY
    dims = broadcast_dims(b, [place.dims, *[t.dims for t in types]])
    return scalar_or_array(True, common_dtype(types), dims)


op("np.choose", "a: array, choices: arrays, out, mode", type=_choose_type)


@vjp(np.choose, "choices", linear=True)
def _choose(g: Any, out: Any, a: Any, choices: Any, *, mode: Any = "raise") -> Any:
    if mode != "raise" or not isinstance(choices, (list, tuple)):
        raise lib.unsupported("np.choose has a derivative rule for mode='raise' and a list of choices")
    return tuple([lib.masked(g, lib.equal(a, k)) for k in range(len(choices))])


# --- counting ---------------------------------------------------------------------------------------------------------


def _bincount_type(b: Builder, x: Any, weights: Any = None, minlength: Any = 0) -> Ty:
    return array(np.dtype(np.int64 if weights is None else np.float64), (b.dims.fresh(),))


op("np.bincount", "x: array, weights: array, minlength", type=_bincount_type)


@vjp(np.bincount, "weights", linear=True)
def _bincount(g: Any, out: Any, x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    return None if weights is None else lib.part(g, (x,))


def _indices_type(b: Builder, x: Any, *rest: Any, **kwargs: Any) -> Ty:
    t = type_of(x)
    return scalar_or_array(True, np.dtype(np.intp), t.dims) if t.kind in ("array", "py", "generic", "scalar") else ANY


op("np.digitize", "x: array, bins: array, right", type=_indices_type, nondiff=True)
op(
    "np.argpartition",
    "a: array, kth, axis, kind, order",
    type=lambda b, a, kth, axis=-1: _indices_type(b, a) if axis is not None else ANY,
    nondiff=True,
)
op("np.lexsort", "keys, axis", type=lambda b, *args: scalar_or_array(True, np.dtype(np.intp), None), nondiff=True)


def _histogram_type(
    b: Builder, a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    if weights is not None:
        return ANY, ANY
    counts = array(np.dtype(np.int64 if density is None else np.float64), (b.dims.fresh(),))
    edges = as_array(b, bins)
    return counts, array(edges.dtype if edges.dims else None, (b.dims.fresh(),))


op("np.histogram", "a: array, bins: array, range, density, weights: array", type=_histogram_type, nout=2)


@vjp(np.histogram, "a")
def _histogram(g: Any, out: Any, a: Any, bins: Any = 10, range: Any = None, density: Any = None) -> Any:
    if g[1] is not None and lib.is_scalar(bins) and range is None:
        raise lib.unsupported("the edges of np.histogram have no derivative rule", "pass the edges, or range=")
    return None  # counts


# --- ufunc methods ----------------------------------------------------------------------------------------------------


def _folded_type(b: Builder, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Ty:
    t = as_array(b, array)
    if t.kind != "array" or not is_number(t.dtype) or t.dtype is None or t.dtype.kind != "f":
        return ANY
    return scalar_or_array(True, t.dtype, reduced(t.dims, axis, keepdims))


for _name in ("logaddexp", "logaddexp2", "hypot"):
    op(
        f"np.{_name}.reduce",
        "array: array, axis, dtype, out, keepdims, initial: array, where: array",
        type=_folded_type,
    )


@vjp(np.logaddexp.reduce, "array")
def _logaddexp(g: Any, out: Any, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    wide = [lib.expand(v, axis, keepdims, array) for v in (g, out)]
    return wide[0] * np.exp(array - wide[1])


@jvp(np.logaddexp.reduce, "array")
def _logaddexp_jvp(d: Any, out: Any, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    return np.sum(np.exp(array - lib.expand(out, axis, keepdims, array)) * d, axis=axis, keepdims=keepdims)


@vjp(np.logaddexp2.reduce, "array")
def _logaddexp2(g: Any, out: Any, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    wide = [lib.expand(v, axis, keepdims, array) for v in (g, out)]
    return wide[0] * np.exp2(array - wide[1])


@vjp(np.hypot.reduce, "array")
def _hypot(g: Any, out: Any, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    rest = roots.without(g, out)
    g = lib.expand(g if rest is None else lib.spread(rest, g), axis, keepdims, array)
    return g * (roots.over(array, lib.expand(out, axis, keepdims, array)) if rest is None else array)


def _accumulated_type(b: Builder, array: Any, axis: Any = 0) -> Ty:
    t = as_array(b, array)
    return t if t.kind == "array" and t.dims else ANY


for _name in ("maximum", "minimum", "fmax", "fmin"):
    op(f"np.{_name}.accumulate", "array: array, axis, dtype, out", type=_accumulated_type)


def _accumulated(better: Any) -> Any:
    """The cotangent of ``np.maximum.accumulate``: each result is the first element of that value so far."""

    def rule(g: Any, out: Any, array: Any, axis: Any = 0) -> Any:
        place = lib.axes(axis, array)[0]
        n, rank = lib.length(array, place), lib.ndim(array)
        later, earlier = (lib.vector_index(place, s) for s in (slice(1, None), slice(None, -1)))
        is_new = better(lib.part(array, later), lib.part(out, earlier))
        steps = call(np.arange, 1, n)
        if rank > 1:
            steps = lib.reshape(steps, (1,) * place + (-1,) + (1,) * (rank - 1 - place))
        first = lib.part(out, lib.vector_index(place, slice(None, 1)))
        start = call(np.zeros_like, first, dtype=np.dtype(np.int64))
        last = call(np.maximum.accumulate, call(np.concatenate, (start, is_new * steps), axis=place), place)
        if rank == 1:
            return lib.scatter(g, array, (last,))
        indices = []
        for k in range(rank):
            shape = (1,) * k + (-1,) + (1,) * (rank - 1 - k)
            indices.append(last if k == place else lib.reshape(call(np.arange, lib.length(array, k)), shape))
        return lib.scatter(g, array, tuple(indices))

    return rule


vjp(np.maximum.accumulate, "array")(_accumulated(lambda x, best: lib.invert(np.less_equal(x, best))))
vjp(np.minimum.accumulate, "array")(_accumulated(lambda x, best: lib.invert(np.greater_equal(x, best))))
# Of these, a nan is never a better one, and whatever follows it is.
vjp(np.fmax.accumulate, "array")(_accumulated(lambda x, best: np.logical_or(np.greater(x, best), np.isnan(best))))
vjp(np.fmin.accumulate, "array")(_accumulated(lambda x, best: np.logical_or(np.less(x, best), np.isnan(best))))


def _reduceat_type(b: Builder, array_: Any, indices: Any, axis: Any = 0) -> Ty:
    t, i = as_array(b, array_), as_array(b, indices)
    place = None if t.dims is None else one_axis(axis, len(t.dims))
    if t.kind != "array" or t.dims is None or place is None or i.dims is None or t.dtype is None:
        return ANY
    if t.dtype.kind not in "fc":
        return ANY
    return array(t.dtype, (*t.dims[:place], *i.dims, *t.dims[place + 1 :]))


op("np.add.reduceat", "array: array, indices: array, axis, dtype, out", type=_reduceat_type)


@vjp(np.add.reduceat, "array", linear=True)
def _reduceat(g: Any, out: Any, array: Any, indices: Any, axis: Any = 0) -> Any:
    # What is added where a sum begins and taken off where it ends is, summed up, the cotangent of each element.
    place = lib.axes(axis, array)[0]
    n, rank = lib.length(array, place), lib.ndim(array)
    g = np.moveaxis(g, place, 0)
    following = call(np.concatenate, (lib.part(indices, (slice(1, None),)), call(np.full, (1,), n)))
    last = call(np.arange, lib.length(indices, 0)) >= lib.length(indices, 0) - 1
    ends = call(np.where, np.greater(following, indices) | last, following, indices + 1)
    shape = (n + 1, *[lib.length(array, k) for k in range(rank) if k != place])
    steps = lib.added(lib.zeros_of(shape, g), (indices,), g)
    steps = lib.added(steps, (ends,), -g)
    return np.moveaxis(lib.part(np.cumsum(steps, 0), (slice(None, -1),)), 0, place)


# --- traits ---------------------------------------------------------------------------------------------------------

mark("read_only", np.lib.stride_tricks.sliding_window_view)
