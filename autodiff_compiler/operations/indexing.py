"""Functions that read, sort and search elements, and the compiler's own reads and stores of parts."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import runtime
from ..ir import opset
from ..ir.core import Builder, Op, Value, current, leaves, type_of
from ..ir.infer import broadcast_dims
from ..ir.ops_common import as_array, one_axis, scalar_or_array
from ..ir.opset import ACCUM, ADD, ADDAT, GET, PRIMS, SET, mark
from ..ir.types import ANY, Ty, array, py_int
from ..records import record
from . import lib
from .batch_rules import batch, no_rule
from .lib import call, emit, part
from .record import jvp, op, passes_on, vjp
from .shaping import ravel_type

if TYPE_CHECKING:
    from .batching import Batcher

# --- parts ------------------------------------------------------------------------------------------------------------


@vjp(opset.GET, "a", linear=True)
def _get(g: Any, out: Any, a: Any, path: Path) -> Any:
    return emit(opset.ADDAT, lib.zeros_for(g, a), path, g)


@jvp(opset.GET, "a")
def _get_tangent(d: Any, out: Any, a: Any, path: Path) -> Any:
    # The tangent of a number of NumPy's may be one of Python's, which takes no subscripts.
    if type_of(a).is_scalar and type_of(d).is_scalar:
        d = call(np.asarray, d)
    return lib.at_shape(emit(opset.GET, d, path), out)


Path = tuple[Any, ...]


@vjp(opset.GET_STORED, "a", linear=True)
def _get_stored(g: Any, out: Any, a: Any, path: Path) -> Any:
    return emit(opset.SET, lib.zeros_for(g, a), path, g)


@record
class _Moved:
    """Where the axes of index arrays lie in a part of each example, if not in front as in the part of the stack."""

    count: int = 0
    place: int = 0

    def of_examples(self, self_: Batcher, out: Any) -> Any:
        """A part of the stack, with its axes as in a part of an example."""
        if not (self.count and self.place):
            return out
        front, inside = self._axes()
        return self_.stack(PRIMS[np.moveaxis], out, front, inside)

    def of_stack(self, self_: Batcher, v: Any) -> Any:
        """What is stored into it."""
        if not (self.count and self.place):
            return v
        front, inside = self._axes()
        return self_.stack(PRIMS[np.moveaxis], v, inside, front)

    def _axes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        axes = range(1, 1 + self.count)
        return tuple(axes), tuple([k + self.place for k in axes])


@batch(GET, opset.GET_STORED)
def _get_batch(self: Batcher, op: Op) -> Any:
    a = self.new(op.args[0])
    if not self.is_stack(a):
        rows = _rows_batch(self, op, a)
        if rows is not None:
            return rows
        a = self.spread(a)
    path, moved = _path(self, op, op.args[1])
    return moved.of_examples(self, self.stack(op.prim, a, path))


def _rows_batch(self: Batcher, op: Op, a: Any) -> Any:
    """``a[i]`` and the like for stacks of indices of the first axes of one array."""
    path = op.args[1]
    if len(path) != 1 or path[0][0] != "index" or op.prim is not GET:
        return None
    items = [i for i in path[0][1] if i is not Ellipsis]
    if not items or not all(type(i) is Value and _is_index(i) for i in items):
        return None
    rank = max(i.type.ndim or 0 for i in items)
    return self.stack(GET, a, (("index", tuple([self.aligned(self.env[i], rank) for i in items])),))


def _is_index(i: Any) -> bool:
    """An integer, or an array of integers."""
    t = type_of(i)
    return t.dtype is not None and t.dtype.kind in "iu" and t.dims is not None and (t.is_scalar or t.kind == "array")


def _path(self: Batcher, op: Op, path: Any) -> tuple[Any, _Moved]:
    """The path to the same part of each element of a stack, and where the axes of index arrays lie then."""
    out: list[Any] = []
    moved = _Moved()
    t = op.args[0].type
    for old, step in zip(path, self.new(path)):
        if t.dims is None:
            raise no_rule(op)
        rank = len(t.dims)
        before = t
        t, _ = opset.infer_step(self.b, t, old)
        if step[0] == "transpose":
            axes = tuple(range(rank))[::-1] if step[1] is None else step[1]
            out.append(("transpose", (0, *[k % rank + 1 for k in axes])))
        elif step[0] == "reshape":
            if self.has_stack(step[1]) or not isinstance(step[1], (tuple, list)):
                raise no_rule(op)
            out.append(("reshape", (self.size(), *_sizes(self, op, before, t, step[1]))))
        else:
            items, moved = _items(self, op, old[1], before)
            out.append(("index", items))
    return tuple(out), moved


def _sizes(self: Batcher, op: Op, before: Ty, after: Ty, shape: Any) -> list[Any]:
    """The shape, with a length in place of -1 where the lengths are known: NumPy cannot tell without elements."""
    out = list(shape)
    for k, n in enumerate(out):
        if type(n) is int and n == -1:
            known = self.known_length(after.dims[k], op) if after.dims else None
            if known is None and len(out) == 1:
                lengths = [self.known_length(d, op) for d in before.dims or ()]
                known = None if None in [n if n is None else 0 for n in lengths] else self.product(lengths)
            out[k] = -1 if known is None else known
    return out


def _items(self: Batcher, op: Op, items: tuple[Any, ...], t: Ty) -> tuple[tuple[Any, ...], _Moved]:
    """The subscripts of the same part of each element of a stack of values of type `t`."""
    new = list(self.new(items))
    numbers: list[int] = []  # the places of integers and of arrays
    ranks = []
    for k, item in enumerate(items):
        if item is None or item is Ellipsis or isinstance(item, slice):
            if self.has_stack(new[k]):
                raise no_rule(op)  # parts of different lengths
            continue
        if isinstance(item, (list, tuple)):
            if all(not isinstance(x, (list, tuple)) and type_of(x).is_scalar and _is_index(x) for x in item):
                ranks.append(1)
                if self.has_stack(new[k]):
                    new[k] = self.stack(PRIMS[np.stack], [self.spread(x) for x in new[k]], axis=1)
            else:
                ranks.append(np.ndim(item) if not leaves(item) else -1)
        elif _is_index(item):
            ranks.append(type_of(item).ndim or 0)
        elif type_of(item).kind == "array" and type_of(item).dtype == np.dtype(bool) and not self.is_stack(new[k]):
            ranks.append(1)
        else:
            raise no_rule(op)
        numbers.append(k)
    stacked = any(self.has_stack(new[k]) for k in numbers)
    arrays = any(r != 0 for r in ranks)
    apart = bool(numbers) and numbers[-1] - numbers[0] >= len(numbers)
    # NumPy puts the axes of arrays that are not next to each other first, where the stack's axis has to be.
    if not stacked and not (arrays and apart):
        return (slice(None), *new), _Moved()
    if -1 in ranks or t.dims is None:
        raise no_rule(op)
    used = sum(_consumed(i) for i in items)
    wide: list[Any] = []
    place = None
    basic = 0
    for k, item in enumerate(new):
        if item is Ellipsis:
            wide += [slice(None)] * (len(t.dims) - used)
            basic += len(t.dims) - used
        else:
            if k in numbers and place is None:
                place = basic
            basic += k not in numbers
            wide.append(self.aligned(item, max(ranks)))
    every = self.emit(PRIMS[np.arange], self.size())
    if max(ranks):
        every = self.emit(GET, every, (("index", (slice(None), *[None] * max(ranks))),))
    return (every, *wide), _Moved(max(ranks), 0 if apart else place or 0)


def _consumed(item: Any) -> int:
    """How many axes a subscript takes."""
    if item is None or item is Ellipsis:
        return 0
    t = type_of(item) if type(item) is Value or isinstance(item, np.ndarray) else None
    return t.ndim or 0 if t is not None and t.dtype is not None and t.dtype.kind == "b" else 1


@vjp(opset.SET, "a", linear="a, v")
def _set_a(g: Any, out: Any, a: Any, path: Path, v: Any) -> Any:
    return emit(opset.SET, g, path, 0.0)


@vjp(opset.SET, "v")
def _set_v(g: Any, out: Any, a: Any, path: Path, v: Any) -> Any:
    return emit(opset.GET if opset.is_plain_path(path) else opset.GET_STORED, g, path)


@vjp(opset.ADDAT, "v")
def _addat_v(g: Any, out: Any, a: Any, path: Path, v: Any) -> Any:
    return emit(opset.GET, g, path)


passes_on(opset.ADDAT, "a", linear="a, v")


@batch(SET, ADDAT)
def _store_batch(self: Batcher, op: Op) -> Any:
    a, _, v = self.new(op.args)
    t = op.args[0].type
    for step in op.args[1]:
        t, _ = opset.infer_step(self.b, t, step)
    if t.dims is None:
        raise no_rule(op)
    path, moved = _path(self, op, op.args[1])
    if moved.count and moved.place and type_of(v).dims != ():
        v = self.spread(v)
    if self.is_stack(v):
        extra = self.rank(v) - len(t.dims)  # axes of length 1 in front, which a store drops
        v = self.index(v, slice(None), *[0] * extra, Ellipsis) if extra > 0 else self.aligned(v, len(t.dims))
        v = moved.of_stack(self, v)
    return self.stack(op.prim, self.spread(a), path, v)


passes_on(opset.ACCUM, "a", linear="a, v")
passes_on(opset.ACCUM, "v")


@batch(ACCUM)
def _accum_batch(self: Batcher, op: Op) -> Any:
    a, v = self.new(op.args)
    if type_of(a).kind == "list":
        return self.stack(ACCUM, self.spread(a), self.spread(v))
    rank = self.rank(a)
    if self.rank(v) > rank:
        raise no_rule(op)
    v = self.aligned(v, rank)
    if self.is_stack(a):
        return self.stack(ACCUM, a, v)
    kept, dtype = op.result.type.dtype, type_of(v).dtype
    if kept is None or dtype is None or np.result_type(kept, dtype) != kept:
        return self.stack(ACCUM, self.spread(a), v)
    return self.stack(ADD, a, v)


# --- reading elements -------------------------------------------------------------------------------------------------


def _take_type(b: Builder, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Ty:
    t, i = as_array(b, a), as_array(b, indices)
    if t.kind != "array" or i.kind != "array" or out is not None:
        return ANY
    if axis is None:
        return scalar_or_array(True, t.dtype, i.dims)
    place = None if t.dims is None else one_axis(axis, len(t.dims))
    if t.dims is None or place is None or i.dims is None:
        return Ty("any", t.dtype, None)
    return scalar_or_array(True, t.dtype, (*t.dims[:place], *i.dims, *t.dims[place + 1 :]))


op("np.take", "a: array, indices: array, axis, out, mode", type=_take_type)


@vjp(np.take, "a", linear=True)
def _take(g: Any, out: Any, a: Any, indices: Any, axis: Any = None, *, mode: Any = "raise") -> Any:
    if lib.is_scalar(a):
        return call(np.sum, g)
    if mode in ("clip", "wrap"):
        n = lib.count(a) if axis is None else lib.length(a, lib.axes(axis, a)[0])
        indices = call(np.clip, indices, 0, n - 1) if mode == "clip" else np.remainder(indices, n)
    elif mode != "raise":
        raise lib.unsupported("np.take has a derivative rule for mode='raise', 'clip' or 'wrap'")
    if axis is None:
        path: Path = (("index", (indices,)),)
        if lib.ndim(a) != 1:
            path = (("reshape", (-1,)), *path)
        return emit(opset.ADDAT, lib.zeros_for(g, a), path, g)
    return lib.scatter(g, a, lib.vector_index(lib.axes(axis, a)[0], indices))


def _take_along_type(b: Builder, arr: Any, indices: Any, axis: Any = -1) -> Ty:
    t, i = as_array(b, arr), as_array(b, indices)
    if t.kind != "array" or i.kind != "array" or axis is None or t.dims is None or i.dims is None:
        return ANY
    place = one_axis(axis, len(t.dims))
    if place is None or len(t.dims) != len(i.dims):
        return ANY
    rest = broadcast_dims(b, [t.dims[:place] + t.dims[place + 1 :], i.dims[:place] + i.dims[place + 1 :]]) or ()
    return array(t.dtype, (*rest[:place], i.dims[place], *rest[place:]))


op("np.take_along_axis", "arr: strict, indices: strict, axis", type=_take_along_type)


@vjp(np.take_along_axis, "arr", linear=True)
def _take_along_axis(g: Any, out: Any, arr: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        return lib.reshape_as(lib.scatter(g, call(np.ravel, arr), (indices,)), arr)
    place = lib.axes(axis, arr)[0]
    return lib.scatter(g, arr, _grid(arr, indices, place))


def _grid(arr: Any, indices: Any, axis: int) -> tuple[Any, ...]:
    """The subscript with which ``arr[...]`` does ``take_along_axis``: NumPy's own, which broadcasts lengths of 1."""
    rank = lib.ndim(indices)
    items = []
    for k in range(rank):
        if k == axis:
            items.append(indices)
        else:
            places = call(np.arange, lib.length(arr, k))
            items.append(lib.reshape(places, (1,) * k + (-1,) + (1,) * (rank - k - 1)))
    return tuple(items)


op("np.nonzero", "a: array", nondiff=True)
op("np.flatnonzero", "a: array", type=lambda b, a: array(np.intp, (b.dims.fresh(),)), nondiff=True)


def _distinct_type(b: Builder, a: Any, equal_nan: Any) -> Any:
    t, found = as_array(b, a), array(np.intp, (b.dims.fresh(),))
    flat = t.kind == "array" and t.dims is not None and len(t.dims) == 1
    return found, array(np.intp, t.dims) if flat else ANY, found


op(runtime.distinct, "a: array, equal_nan", type=_distinct_type, nout=3, nondiff=True)

# --- sorting and searching --------------------------------------------------------------------------------------------


def _sort_type(b: Builder, a: Any, axis: Any = -1, kind: Any = None) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None or (axis is not None and one_axis(axis, len(t.dims)) is None):
        return ANY
    return ravel_type(b, a) if axis is None else t


op("np.sort", "a: array, axis, kind", type=_sort_type, total="known")


@vjp(np.sort, "a")
def _sort(g: Any, out: Any, a: Any, axis: Any = -1, kind: Any = None) -> Any:
    if axis is None:
        flat = call(np.ravel, a)
        return lib.reshape_as(lib.store(lib.zeros_for(g, flat), (np.argsort(flat, kind=kind),), g), a)
    place = lib.axes(axis, a)[0]
    order = np.argsort(a, axis=place, kind=kind)
    if lib.ndim(a) == 1:
        return lib.store(lib.zeros_for(g, a), (order,), g)
    return np.take_along_axis(g, np.argsort(order, axis=place), axis=place)


@jvp(np.sort, "a")
def _sort_jvp(d: Any, out: Any, a: Any, axis: Any = -1, kind: Any = None) -> Any:
    if axis is None:
        a, d, axis = call(np.ravel, a), call(np.ravel, d), 0
    place = lib.axes(axis, a)[0]
    order = np.argsort(a, axis=place, kind=kind)
    return part(d, (order,)) if lib.ndim(a) == 1 else np.take_along_axis(d, order, axis=place)


def _argsort_type(b: Builder, a: Any, axis: Any = -1, kind: Any = None) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None or (axis is not None and one_axis(axis, len(t.dims)) is None):
        return ANY
    return array(np.intp, ravel_type(b, a).dims if axis is None else t.dims)


op("np.argsort", "a: array, axis, kind", type=_argsort_type, total="known", nondiff=True)


def _searchsorted_type(b: Builder, a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Ty:
    t = type_of(v)
    if t.kind not in ("array", "py", "generic", "scalar"):
        return ANY
    return scalar_or_array(True, np.dtype(np.intp), t.dims)


op("np.searchsorted", "a: array, v: array, side, sorter", type=_searchsorted_type, nondiff=True)


def _places_type(b: Builder, keys: Any) -> Ty:
    t = type_of(keys)
    return array(np.dtype(np.intp), t.dims) if t.kind == "array" else ANY


op(runtime.sorted_places, "keys", type=_places_type, nondiff=True)
for _fn in (runtime.place_of_max, runtime.place_of_min):
    op(_fn, "keys", type=lambda b, keys: py_int(), nondiff=True)


def _interp_type(b: Builder, x: Any, xp: Any, fp: Any) -> Ty:
    t, f = type_of(x), as_array(b, fp)
    if t.kind not in ("array", "py", "generic", "scalar"):
        return ANY
    dtype = None if f.dtype is None else np.dtype(np.complex128 if f.dtype.kind == "c" else np.float64)
    return scalar_or_array(True, dtype, t.dims)


op("np.interp", "x: array, xp: array, fp: array", type=_interp_type)


@vjp(np.interp, "x", symmetric=True)
def _interp_x(g: Any, out: Any, x: Any, xp: Any, fp: Any) -> Any:
    lib.need_real("np.interp", fp)
    left, inside = _interval(x, xp)
    lower, upper = _ends(xp, left)
    below, above = _ends(fp, left)
    return lib.masked(_sorted(g, xp) * ((above - below) / lib.nonzero(upper - lower)), inside)


def _sorted(g: Any, xp: Any) -> Any:
    """`g`, or nan where the points do not increase: there the value means nothing."""
    if not lib.symbolic(xp):  # a list, perhaps
        points = np.asarray(xp)
        return g if np.all(points[:-1] <= points[1:]) else g * np.nan
    last = lib.length(xp, 0) - 1
    rises = np.less_equal(part(xp, (slice(None, last),)), part(xp, (slice(1, None),)))
    return lib.choose(call(np.all, rises), g, np.nan)


def _ends(points: Any, left: Any) -> tuple[Any, Any]:
    """What stands at both ends of the intervals."""
    return lib.floats(call(np.take, points, left)), lib.floats(call(np.take, points, left + 1))


def _interval(x: Any, xp: Any) -> tuple[Any, Any]:
    """The number of the interval of `xp` in which each point lies, and whether it lies in one."""
    last = lib.length(xp, 0) - 1
    left = call(np.clip, call(np.searchsorted, xp, x, side="right") - 1, 0, last - 1)
    first, end = call(np.take, xp, 0), call(np.take, xp, -1)  # a list, perhaps
    inside = np.greater_equal(x, first) & np.less_equal(x, end)
    return left, inside


@vjp(np.interp, "xp")
def _interp_xp(g: Any, out: Any, x: Any, xp: Any, fp: Any) -> Any:
    lib.need_real("np.interp", fp)
    left, inside = _interval(x, xp)
    lower, upper = _ends(xp, left)
    below, above = _ends(fp, left)
    width = lib.nonzero(upper - lower)
    t = (x - lower) / width
    share = -(_sorted(g, xp) * ((above - below) / width) * inside)
    bar = lib.scatter(share * (1 - t), xp, (left,))
    return lib.emit(opset.ADDAT, bar, (("index", (left + 1,)),), share * t)


@vjp(np.interp, "fp")
def _interp_fp(g: Any, out: Any, x: Any, xp: Any, fp: Any) -> Any:
    left, _ = _interval(x, xp)
    lower, upper = _ends(xp, left)
    t = call(np.clip, (x - lower) / lib.nonzero(upper - lower), 0.0, 1.0)
    t = lib.choose(np.greater_equal(x, upper), 1.0, t)  # the last interval may have no width
    g = _sorted(g, xp)
    bar = lib.scatter(g * (1 - t), fp, (left,))
    return lib.emit(opset.ADDAT, bar, (("index", (left + 1,)),), g * t)


@jvp(np.interp, "fp")
def _interp_jvp(d: Any, out: Any, x: Any, xp: Any, fp: Any) -> Any:
    if not all(lib.dtype(v) == np.float64 for v in (x, xp, fp, d)):
        return NotImplemented
    return call(np.interp, x, xp, d)


# --- traits ---------------------------------------------------------------------------------------------------------

mark("moves", np.take)
mark("real", np.take)
mark("steady", np.take, opset.GET)
mark("chooses", opset.SET, opset.ADDAT)
mark("sum", opset.ACCUM)


def put_back(a: Any, path: Any, g: Any) -> Any:
    """The cotangent of `a` for that of its part at `path`, which holds all its elements in another order or shape, as
    ``a.T`` and ``a[:, None]`` do; None for other parts."""
    t = type_of(a)
    if not path or type(g) is not Value or g.type.kind != "array" or t.kind != "array" or t.dims is None:
        return None
    if any((step[0] == "index" and not opset.adds_axes_only((step,))) or (step[0] == "reshape" and k)
           for k, step in enumerate(path)):  # fmt: skip
        return None
    b, view = current(), t
    for step in path:
        view, _ = opset.infer_step(b, view, step)
    if view.dims is None or g.type.dims is None or len(view.dims) != len(g.type.dims):
        return None
    if not all(map(b.dims.same, view.dims, g.type.dims)):
        return None
    for step in reversed(path):
        if step[0] == "reshape":
            g = lib.reshape_as(g, a)
        elif step[0] == "index":
            g = part(g, tuple([0 if item is None else item for item in step[1]]))
        else:
            order = step[1] if step[1] is not None else tuple(reversed(range(lib.ndim(g))))
            g = _transposed(g, tuple(np.argsort(order).tolist()))
    return g


def _transposed(g: Any, order: tuple[int, ...]) -> Any:
    """A cotangent with its axes in this order. That of a product which begins or ends with a transpose is another
    product."""
    op = g.op
    if order == (1, 0) and op is not None and op.prim is PRIMS[operator.matmul]:
        x, y = op.args
        if type(x) is Value and type(y) is Value and x.type.ndim == y.type.ndim == 2:
            if _is_transpose(x) or _is_transpose(y):
                return lib.transpose(y, order) @ lib.transpose(x, order)
    return lib.transpose(g, order)


def _is_transpose(x: Value) -> bool:
    return x.op is not None and x.op.prim is GET and x.op.args[1] == (("transpose", None),)
