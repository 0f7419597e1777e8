"""Functions that give an array another shape or order of axes, and diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from ..ir import opset
from ..ir.core import Builder, Op, Prim, Value, current, type_of
from ..ir.ops_common import as_array, at_least, axes_of, one_axis, scalar_or_array, shape_dims
from ..ir.opset import PRIMS, mark, repeatable, reshape_dims
from ..ir.types import ANY, Dim, DimLike, Ty, array, generic
from . import lib
from .batch_rules import along, batch, no_rule, of_one_operand
from .lib import call
from .record import jvp, op, passes_on, vjp

if TYPE_CHECKING:
    from .batching import Batcher

# --- the kind ---------------------------------------------------------------------------------------------------------

Dims = tuple[DimLike, ...]


def moves(name: str, params: str, dims: Callable[..., Dims | None], *, total: Any = "known", **columns: Any) -> Prim:
    """The record of a function that moves the elements of its first operand about.

    Of one of NumPy's numbers it makes a number, where the result has no axes.

    dims: ``dims(builder, dims, **arguments)``: the lengths of the result from those of the operand; None: not known
    """

    def infer(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
        given = {**dict(zip(record.params, args)), **kwargs}
        a = given.pop(record.params[0], None)
        t = as_array(b, a)
        if t.kind != "array" or t.dims is None or len(args) > len(record.params):
            return Ty(t.kind, t.dtype, None)
        try:
            found = dims(b, t.dims, **given)
        except TypeError:
            return ANY  # an argument that is not looked at here
        return type_of(a) if found == () and _is_number(a) else array(t.dtype, found)

    record = op(name, params, alias=columns.pop("alias", "view"), total=total, **columns)
    record.infer = infer
    _has_moved(record)
    return record


def _has_moved(record: Prim) -> None:
    for trait in ("moves", "real", "steady"):
        mark(trait, record)


def own_transpose(fn: Any, argument: str) -> None:
    """The cotangent moves as the operand does."""

    @vjp(fn, argument, linear=True)
    def rule(g: Any, out: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
        return fn(g, *args, **kwargs)


# --- shapes -----------------------------------------------------------------------------------------------------------


def _is_number(a: Any) -> bool:
    """One of NumPy's numbers: it has methods of arrays, of which some give numbers again."""
    return type_of(a).kind == "generic"


def _reshape_type(b: Builder, a: Any, shape: Any, order: Any = "C") -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or isinstance(shape, np.ndarray):
        return ANY
    dims = reshape_dims(b, t.dims, shape)
    return type_of(a) if _is_number(a) and dims == () else array(t.dtype, dims)


_has_moved(op("np.reshape", "a: array, shape, order", type=_reshape_type, alias="maybe"))


@vjp(np.reshape, "a", linear=True)
def _reshape(g: Any, out: Any, a: Any, shape: Any, order: Any = "C") -> Any:
    if order != "C":
        raise lib.unsupported("np.reshape has a derivative rule for order='C' only", "transpose before and after")
    return lib.reshape_as(g, a)


@batch(np.reshape)
def _reshape_batch(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    if args.keys() - {"a", "shape"} and args.get("order") not in (None, "C"):
        raise no_rule(op)
    old = op.args[1] if len(op.args) > 1 else op.kwargs["shape"]
    shape = self.shape_of_operand(old, args["shape"])
    if shape is None:
        raise no_rule(op)
    return self.stack(PRIMS[np.reshape], args["a"], self.shape_behind(args["a"], shape))


def ravel_type(b: Builder, a: Any, order: Any = "C") -> Ty:
    return _reshape_type(b, a, -1)


def _is_array(b: Builder, a: Any) -> bool:
    return as_array(b, a).kind == "array"


_has_moved(op("np.ravel", "a: array, order", type=ravel_type, alias="maybe", total=_is_array))


@vjp(np.ravel, "a", linear=True)
def _ravel(g: Any, out: Any, a: Any, order: Any = "C") -> Any:
    return _reshape(g, out, a, -1, order)


@batch(np.ravel)
def _ravel_batch(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    if args.get("order", "C") not in ("C", "K", "A"):
        raise no_rule(op)
    return self.flat(args["a"])


def _squeezed(b: Builder, dims: Dims, axis: Any = None) -> Dims | None:
    dims = tuple([b.dims.find(d) for d in dims])
    if axis is not None:
        axes = axes_of(axis, len(dims))
        return None if axes is None else tuple([d for k, d in enumerate(dims) if k not in axes])
    if any(d != 1 and not b.dims.not_one(d) for d in dims):
        return None
    return tuple([d for d in dims if d != 1])


moves("np.squeeze", "a: array, axis", _squeezed, total=_is_array)


def _expanded(b: Builder, dims: Dims, axis: Any) -> Dims | None:
    axes = axis if isinstance(axis, tuple) else (axis,)
    rank = len(dims) + len(axes)
    places = axes_of(axes, rank)
    rest = iter(dims)
    return None if places is None else tuple([1 if k in places else next(rest) for k in range(rank)])


moves("np.expand_dims", "a: array, axis", _expanded)
batch(np.expand_dims)(along(axis=0))


@vjp((np.squeeze, np.expand_dims), "a", linear=True)
def _squeeze(g: Any, out: Any, a: Any, axis: Any = None) -> Any:
    return lib.reshape_as(g, a)


op("np.atleast_1d", "*arys: arrays", type=lambda b, a: at_least(as_array(b, a), 1), alias="maybe", total="known")
op("np.atleast_2d", "*arys: arrays", type=lambda b, a: at_least(as_array(b, a), 2), alias="maybe", total="known")


@vjp((np.atleast_1d, np.atleast_2d), "*arys")
def _at_least(g: Any, out: Any, *arys: Any) -> Any:
    if len(arys) != 1:
        raise lib.unsupported("np.atleast_1d and np.atleast_2d have a derivative rule for one array")
    return (lib.reshape_as(g, arys[0]),)


@jvp((np.atleast_1d, np.atleast_2d), "*arys")
def _at_least_jvp(d: Any, out: Any, *arys: Any) -> Any:
    return lib.reshape_as(d[0], out) if len(arys) == 1 else NotImplemented


def _broadcast_to_type(b: Builder, array_: Any, shape: Any) -> Ty:
    t = as_array(b, array_)
    return array(t.dtype, shape_dims(b, shape)) if t.kind == "array" else ANY


_has_moved(op("np.broadcast_to", "array: array, shape", type=_broadcast_to_type, alias="view"))
passes_on(np.broadcast_to, "array", linear=True)


@batch(np.broadcast_to)
def _broadcast_batch(self: Batcher, op: Op) -> Any:
    x, shape = self.new(op.args)
    old = op.args[1]
    known = None if op.kwargs else self.shape_of_operand(old, shape)
    if known is None:
        raise no_rule(op)
    shape = known
    return self.stack(PRIMS[np.broadcast_to], self.aligned(x, len(shape)), (self.size(), *shape))


# --- order of axes and elements ---------------------------------------------------------------------------------------


def _transposed(b: Builder, dims: Dims, axes: Any = None) -> Dims | None:
    if axes is None:
        return dims[::-1]
    order = axes_of(tuple(axes), len(dims))
    return None if order is None or len(order) != len(dims) else tuple([dims[k] for k in order])


moves("np.transpose", "a: array, axes", _transposed)


@vjp(np.transpose, "a", linear=True)
def _transpose(g: Any, out: Any, a: Any, axes: Any = None) -> Any:
    if axes is None:
        return lib.transpose(g, tuple(reversed(range(lib.ndim(a)))))
    order = lib.axes(tuple(axes), a)
    return lib.transpose(g, tuple(np.argsort(order).tolist()))


@batch(np.transpose)
def _transpose_batch(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x = args["a"]
    axes, rank = args.get("axes"), self.rank(x)
    if axes is None:
        axes = tuple(range(rank))[::-1]
    if not all(type(k) is int for k in axes):
        raise no_rule(op)
    return self.stack(PRIMS[np.transpose], x, (0, *[k % rank + 1 for k in axes]))


def _swapped(b: Builder, dims: Dims, axis1: Any, axis2: Any) -> Dims | None:
    i, j = one_axis(axis1, len(dims)), one_axis(axis2, len(dims))
    if i is None or j is None:
        return None
    lengths = list(dims)
    lengths[i], lengths[j] = lengths[j], lengths[i]
    return tuple(lengths)


moves("np.swapaxes", "a: array, axis1: known, axis2: known", _swapped)
own_transpose(np.swapaxes, "a")
batch(np.swapaxes)(along(axis1=0, axis2=0))


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


def _axes_moved(b: Builder, dims: Dims, source: Any, destination: Any) -> Dims | None:
    order = move_order(source, destination, len(dims))
    return None if order is None else tuple([dims[k] for k in order])


moves("np.moveaxis", "a: array, source: known, destination: known", _axes_moved)
batch(np.moveaxis)(along(source=0, destination=0))


@vjp(np.moveaxis, "a", linear=True)
def _moveaxis(g: Any, out: Any, a: Any, source: Any, destination: Any) -> Any:
    if move_order(source, destination, lib.ndim(a)) is None:
        raise lib.unsupported("the derivative of np.moveaxis needs constant axes")
    return np.moveaxis(g, destination, source)


def _same_type(b: Builder, a: Any, *rest: Any, **kwargs: Any) -> Ty:
    t = as_array(b, a)
    return t if t.kind == "array" else ANY


def _flip_type(b: Builder, m: Any, axis: Any = None) -> Ty:
    t = _same_type(b, m)
    return generic(t.dtype) if t.dims == () else t


_has_moved(op("np.flip", "m: array, axis", type=_flip_type, alias="view"))
own_transpose(np.flip, "m")
batch(np.flip)(along(axis=None))
for _fn in (np.flipud, np.fliplr):
    op(f"np.{_fn.__name__}", "m: array", type=_same_type, alias="view")
    own_transpose(_fn, "m")
_has_moved(op("np.roll", "a: array, shift, axis", type=_same_type))


@vjp(np.roll, "a", linear=True)
def _roll(g: Any, out: Any, a: Any, shift: Any, axis: Any = None) -> Any:
    back = tuple([-s for s in shift]) if isinstance(shift, tuple) else -shift
    return np.roll(g, back, axis)


def _rot90_type(b: Builder, m: Any, k: Any = 1, axes: Any = (0, 1)) -> Ty:
    t = as_array(b, m)
    if t.kind != "array" or not isinstance(k, int) or not isinstance(axes, tuple) or len(axes) != 2:
        return ANY
    return array(t.dtype, None if t.dims is None else _swapped(b, t.dims, *axes)) if k % 2 else t


op("np.rot90", "m: array, k, axes", type=_rot90_type, alias="view")


@vjp(np.rot90, "m", linear=True)
def _rot90(g: Any, out: Any, m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    return np.rot90(g, -k, axes)


# --- diagonals and triangles ------------------------------------------------------------------------------------------


def _diagonal_length(b: Builder, rows: DimLike, columns: DimLike, k: Any) -> DimLike:
    rows, columns = b.dims.find(rows), b.dims.find(columns)
    if isinstance(rows, int) and isinstance(columns, int) and isinstance(k, int):
        return max(min(rows + min(k, 0), columns - max(k, 0)), 0)
    if isinstance(k, int) and k == 0 and _is_square(b, rows, columns):
        return b.dims.find(rows)
    return b.dims.fresh()


def _is_square(b: Builder, rows: DimLike, columns: DimLike) -> bool:
    """As long as the arguments at hand are such that they are, code is for square matrices."""
    rows, columns = b.dims.find(rows), b.dims.find(columns)
    if rows == columns:
        return True
    return isinstance(rows, Dim) and isinstance(columns, Dim) and b.dims.assume(rows, columns, True)


def _diag_type(b: Builder, v: Any, k: Any = 0) -> Ty:
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


_has_moved(op("np.diag", "v: array, k", type=_diag_type, alias="maybe", total="known"))


@vjp(np.diag, "v", linear=True)
def _diag(g: Any, out: Any, v: Any, k: Any = 0) -> Any:
    if lib.ndim(v) == 1:
        return lib.at_shape(lib.emit(opset.COPY, np.diagonal(g, k)), v)  # a diagonal is read-only
    dims = v.type.dims if type(v) is Value else None
    if type(k) is int and k == 0 and dims is not None and len(dims) == 2 and current().dims.same(*dims):
        return call(np.diag, g)
    return _on_diagonal(g, v, k, 0, 1)


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


def _diagonal_type(b: Builder, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Ty:
    t = as_array(b, a)
    axes = None if t.dims is None else axes_of((axis1, axis2), len(t.dims))
    if t.kind != "array" or t.dims is None or axes is None:
        return ANY
    rest = [d for k, d in enumerate(t.dims) if k not in axes]
    return array(t.dtype, (*rest, _diagonal_length(b, t.dims[axes[0]], t.dims[axes[1]], offset)))


_has_moved(op("np.diagonal", "a: array, offset, axis1, axis2", type=_diagonal_type, alias="view", total="known"))
batch(np.diagonal)(along(axis1=0, axis2=1))


@vjp(np.diagonal, "a", linear=True)
def _diagonal(g: Any, out: Any, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    return _on_diagonal(g, a, offset, *lib.axes((axis1, axis2), a))


def _trace_type(b: Builder, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Ty:
    t = _diagonal_type(b, a, offset, axis1, axis2)
    if t.kind != "array" or t.dims is None:
        return ANY
    dtype = t.dtype
    if dtype is not None and dtype.kind in "biu":
        dtype = None
    return scalar_or_array(True, dtype, t.dims[:-1])


op("np.trace", "a: array, offset, axis1, axis2, dtype, out", type=_trace_type, total="known")


@vjp(np.trace, "a", linear=True)
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


def _triangle_dims(b: Builder, dims: Dims, k: Any = 0) -> Dims:
    if not dims:
        raise TypeError("np.tril and np.triu raise")
    return dims if len(dims) != 1 else (dims[0], dims[0])


for _fn in (np.tril, np.triu):
    moves(f"np.{_fn.__name__}", "m: array, k", _triangle_dims, alias="fresh")
    own_transpose(_fn, "m")


@batch(np.tril, np.triu)
def _triangle_batch(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    if self.rank(args["m"]) < 2 or self.has_stack(args.get("k", 0)):
        raise no_rule(op)
    return self.stack(op.prim, *self.new(op.args), **self.new(op.kwargs))


# --- what may be computed again -------------------------------------------------------------------------------------

mark("of_first", np.reshape, np.ravel)
mark("of_vectors", np.diag)
repeatable(0.0, np.transpose, np.broadcast_to, np.reshape, np.expand_dims)

# --- traits ---------------------------------------------------------------------------------------------------------

mark("read_only", np.broadcast_to, np.diagonal)


# --- complex numbers as pairs of real ones ----------------------------------------------------------------------------


def _reals_type(b: Builder, z: Any, view: Any = False) -> Ty:
    t = type_of(z)
    if t.kind != "array" or t.dtype is None or t.dtype.kind != "c" or not t.dims:
        return ANY
    length = b.dims.named(("twice", b.dims.find(t.dims[-1])))
    b.dims.mark_not_one(length)
    return array(np.empty(0, t.dtype).real.dtype, (*t.dims[:-1], length))


def _complexes_type(b: Builder, x: Any, view: Any = False) -> Ty:
    t = type_of(x)
    if t.kind != "array" or t.dtype is None or t.dtype.kind != "f" or not t.dims:
        return ANY
    length = b.dims.named(("half", b.dims.find(t.dims[-1])))
    return array(np.result_type(t.dtype, np.complex64), (*t.dims[:-1], length))


op(kernels.as_reals, "z: array, view", type=_reals_type, alias="maybe")
op(kernels.as_complexes, "x: array, view", type=_complexes_type, alias="maybe")


@vjp(kernels.as_reals, "z", linear=True)
def _as_reals(g: Any, out: Any, z: Any, view: Any = False) -> Any:
    return call(np.conj, call(kernels.as_complexes, g))


@vjp(kernels.as_complexes, "x", linear=True)
def _as_complexes(g: Any, out: Any, x: Any, view: Any = False) -> Any:
    return call(kernels.as_reals, call(np.conj, g))


batch(kernels.as_reals, kernels.as_complexes)(of_one_operand)
