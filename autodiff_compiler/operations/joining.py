"""Functions that join, take apart, repeat and pad arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import runtime
from ..ir.core import Builder, Op, Value, type_of
from ..ir.ops_common import as_array, at_least, common_dtype, dtype_of, must_equal, one_axis, same_shape
from ..ir.opset import PRIMS, mark
from ..ir.types import ANY, DimLike, Ty, array, element, generic
from ..pristine import np
from . import lib
from .batch_rules import batch, no_rule, stack_axes
from .lib import call
from .picking import picked
from .record import constant_in, jvp, op, vjp
from .shaping import ravel_type

if TYPE_CHECKING:
    from .batching import Batcher

# --- joining ----------------------------------------------------------------------------------------------------------


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


def _sum_length(b: Builder, lengths: list[DimLike]) -> DimLike:
    lengths = [b.dims.find(d) for d in lengths]
    if all(isinstance(d, int) for d in lengths):
        return sum(d for d in lengths if isinstance(d, int))
    if len([d for d in lengths if d != 0]) == 1:
        return next(d for d in lengths if d != 0)
    return b.dims.named(("sum", *lengths))


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


def _concatenate_type(b: Builder, arrays: Any, /, axis: Any = 0, *, dtype: Any = None) -> Ty:
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


op("np.concatenate", "arrays: arrays, axis, out, dtype, casting", type=_concatenate_type, total="known")
if hasattr(np, "concat"):
    PRIMS[np.concat] = PRIMS[np.concatenate]


@vjp(np.concatenate, "arrays", linear=True)
def _concatenate(g: Any, out: Any, arrays: Any, axis: Any = 0, *, dtype: Any = None) -> Any:
    if type(arrays) is Value and arrays.type.kind == "list" and isinstance(axis, int):
        return call(runtime.split_like, g, arrays, axis)
    if not isinstance(arrays, (list, tuple)):
        raise lib.unsupported("np.concatenate has a derivative rule for lists and tuples of arrays")
    if axis is None:
        flat = [call(np.ravel, a) for a in arrays]
        return tuple([lib.reshape_as(part, a) for part, a in zip(_split(g, flat, 0), arrays)])
    return _split(g, arrays, lib.axes(axis, arrays[0])[0])


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


def _stack_type(b: Builder, arrays: Any, axis: Any = 0, *, dtype: Any = None) -> Ty:
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


op("np.stack", "arrays: arrays, axis, out, dtype, casting", type=_stack_type, total="known")


@vjp(np.stack, "arrays", linear=True)
def _stack(g: Any, out: Any, arrays: Any, axis: Any = 0, *, dtype: Any = None) -> Any:
    place = lib.axes(axis, out)[0]
    if type(arrays) is Value and arrays.type.kind == "list":
        return call(runtime.unstack, np.moveaxis(g, place, 0))
    return tuple([lib.part(g, lib.vector_index(place, k)) for k in range(len(arrays))])


def _joined_type(b: Builder, items: Any, lengths: Any, dtype: Any) -> Ty:
    e = _elements(b, items)
    return array(None if e is None else e.array_dtype, None if e is None else (b.dims.fresh(), *(e.dims or ())))


op(runtime.joined_examples, "items: arrays, lengths, dtype", type=_joined_type)


@vjp(runtime.joined_examples, "items", linear=True)
def _joined_examples(g: Any, out: Any, items: Any, lengths: Any, dtype: Any) -> Any:
    return call(runtime.unstack, g)


@batch(np.concatenate, np.stack, runtime.joined_examples)
def _concatenate_batch(self: Batcher, op: Op) -> Any:
    items = self.new(op.args[0])
    if op.prim.fn is runtime.joined_examples:
        return self.stack(PRIMS[np.stack], self.spread(items), axis=1)
    args = self.bound(op)
    axis = args.get("axis", 0)
    if args.keys() - {"arrays", "axis"} or (type(axis) is not int and axis is not None):
        raise no_rule(op)
    if type(items) is Value and items.type.kind == "list":
        if axis is None:
            raise no_rule(op)
        return self.stack(op.prim, items, axis=axis + 1 if axis >= 0 else axis)
    if not isinstance(items, (tuple, list)):
        raise no_rule(op)
    wide = [self.spread(x) for x in items]
    if axis is None:
        wide, axis = [self.flat(x) for x in wide], 0
    return self.stack(op.prim, wide, axis=axis + 1 if axis >= 0 else axis)


def _stacks(name: str, params: str, fitted: Callable[[Ty], Ty], axis: int | None) -> None:
    """The record of a function that joins arrays after it gave them more axes.

    fitted: the type of an array with these axes
    axis:   along which they are joined; None: the second, or the first of vectors
    """

    def infer(b: Builder, tup: Any, *, dtype: Any = None) -> Ty:
        types = _operands(b, tup)
        if types is None:
            return ANY
        wide = [fitted(t) for t in types]
        along = int(wide[0].ndim != 1) if axis is None else axis
        return _joined(b, wide, along, dtype_of(dtype, common_dtype(types)))

    op(name, params, type=infer, total="known")


_stacks("np.vstack", "tup: arrays, dtype, casting", lambda t: at_least(t, 2), 0)


@vjp(np.vstack, "tup", linear=True)
def _vstack(g: Any, out: Any, tup: Any, *, dtype: Any = None) -> Any:
    if all(lib.ndim(a) < 2 for a in tup):
        return tuple([lib.part(g, (k,) if lib.ndim(a) else (k, 0)) for k, a in enumerate(tup)])
    if any(lib.ndim(a) < 2 for a in tup):
        # A row of shape (1, n) for a vector: the transform sums the axis of length 1 away.
        tup = [a if lib.ndim(a) >= 2 else call(np.atleast_2d, a) for a in tup]
    return _split(g, tup, 0)


_stacks("np.hstack", "tup: arrays, dtype, casting", lambda t: at_least(t, 1), None)


@vjp(np.hstack, "tup", linear=True)
def _hstack(g: Any, out: Any, tup: Any, *, dtype: Any = None) -> Any:
    if all(lib.ndim(a) == 0 for a in tup):
        return tuple([lib.part(g, (k,)) for k in range(len(tup))])
    wide = [call(np.atleast_1d, a) if lib.ndim(a) == 0 else a for a in tup]
    parts = _split(g, wide, 0 if lib.ndim(wide[0]) == 1 else 1)
    return tuple([lib.part(p, (0,)) if lib.ndim(a) == 0 else p for p, a in zip(parts, tup)])


def _column(t: Ty) -> Ty:
    return array(t.dtype, (t.dims[0], 1)) if t.dims is not None and len(t.dims) == 1 else at_least(t, 2)


_stacks("np.column_stack", "tup: arrays", _column, 1)


@vjp(np.column_stack, "tup", linear=True)
def _column_stack(g: Any, out: Any, tup: Any) -> Any:
    if all(lib.ndim(a) == 1 for a in tup):
        return tuple([lib.part(g, (slice(None), k)) for k in range(len(tup))])
    wide = [lib.reshape(a, (-1, 1)) if lib.ndim(a) == 1 else a for a in tup]
    return tuple([lib.part(p, (slice(None), 0)) if lib.ndim(a) == 1 else p for p, a in zip(_split(g, wide, 1), tup)])


op(
    "np.append",
    "arr: array, values: array, axis",
    type=lambda b, arr, values, axis=None: _concatenate_type(b, (arr, values), axis=axis),
)


@vjp(np.append, "arr", linear="arr, values")
def _append_array(g: Any, out: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    return _concatenate(g, out, (arr, values), axis)[0]


@vjp(np.append, "values")
def _append_values(g: Any, out: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    return _concatenate(g, out, (arr, values), axis)[1]


op("np.meshgrid", "*xi: arrays, indexing", alias="maybe")

# --- taking apart -----------------------------------------------------------------------------------------------------


op("np.split", "ary, indices_or_sections, axis", alias="view")


def _unstack_type(b: Builder, a: Any) -> Ty:
    t = type_of(a)
    if t.kind != "array" or not t.dims:
        return Ty("list", elem=ANY)
    return Ty("list", elem=generic(t.dtype) if len(t.dims) == 1 else Ty("array", t.dtype, t.dims[1:]))


def _print_unstack(printer: Any, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
    atom = 12  # the highest level of precedence, as codegen counts them
    return f"list({printer.show(args[0])})", atom


# The items along the first axis as a list.
UNSTACK = op(runtime.unstack, "a", name="list", type=_unstack_type, alias="maybe", template=_print_unstack)


@vjp(UNSTACK, "a", linear=True)
def _unstack(g: Any, out: Any, a: Any) -> Any:
    return lib.reshape_as(call(np.array, g), a)


@batch(UNSTACK)
def _unstack_batch(self: Batcher, op: Op) -> Any:
    return self.stack(op.prim, self.stack(PRIMS[np.swapaxes], self.new(op.args[0]), 0, 1))


op(runtime.split_like, "g: array, arrays: arrays, axis", type=lambda b, g, arrays, axis: type_of(arrays))


@vjp(runtime.split_like, "g", linear=True)
def _split_like(g: Any, out: Any, g_: Any, arrays: Any, axis: Any) -> Any:
    return call(np.concatenate, g, axis)


@batch(runtime.split_like)
def _split_like_batch(self: Batcher, op: Op) -> Any:
    g, arrays, axis = self.new(op.args)
    return self.stack(op.prim, self.spread(g), self.spread(arrays), stack_axes(axis, 0, op))


constant_in(runtime.split_like, "arrays")

# --- repeating and padding --------------------------------------------------------------------------------------------


def _repeat_type(b: Builder, a: Any, repeats: Any, axis: Any = None) -> Ty:
    t = as_array(b, a)
    if t.kind != "array":
        return ANY
    dims = t.dims if axis is not None else ravel_type(b, a).dims
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


op("np.repeat", "a: array, repeats, axis", type=_repeat_type)


@vjp(np.repeat, "a", linear=True)
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


def _tile_type(b: Builder, A: Any, reps: Any) -> Ty:
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


op("np.tile", "A: array, reps", type=_tile_type)


@vjp(np.tile, "A", linear=True)
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


def _pad_type(b: Builder, array_: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Ty:
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


op("np.pad", "array: array, pad_width, mode", type=_pad_type)


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
        if type_of(pad_width).kind != "array":
            raise lib.unsupported("the derivative of np.pad needs numbers or an array of them for `pad_width`")
        pairs = call(np.broadcast_to, pad_width, (rank, 2))
        widths = tuple([(lib.part(pairs, (k, 0)), lib.part(pairs, (k, 1))) for k in range(rank)])
    items = []
    for axis, (before, after) in enumerate(widths):
        if isinstance(before, int) and isinstance(after, int):
            items.append(slice(before or None, -after if after else None))
        else:
            items.append(slice(before, before + lib.length(array, axis)))
    return lib.at_shape(lib.part(g, tuple(items)), array)


@jvp(np.pad, "array")
def _pad_jvp(d: Any, out: Any, array: Any, pad_width: Any, mode: Any = "constant", **keywords: Any) -> Any:
    if mode == "constant":
        return call(np.pad, d, pad_width)
    if mode in ("edge", "wrap") or (mode in ("reflect", "symmetric") and keywords.get("reflect_type") != "odd"):
        return call(np.pad, d, pad_width, mode, **keywords)
    return NotImplemented


# The padding that repeats elements of the array.
_REPEATING = {"edge": (), "reflect": ("reflect_type",), "symmetric": ("reflect_type",), "wrap": ()}

# --- traits ---------------------------------------------------------------------------------------------------------

mark("joins", np.stack, np.concatenate)
mark("moves", np.repeat)
mark("real", np.stack, np.concatenate, np.repeat)
mark("steady", np.repeat)
