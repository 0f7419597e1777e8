"""NumPy's functions that copy and convert arrays."""

from __future__ import annotations

import numpy as np

from ...duck import name_of
from ...ir.core import Value, type_of
from ...ir.opset import PRIMS
from ...ir.types import ANY, same_dtype
from ..avals import Obj, Ref, Seq, is_constant, is_static_int
from ..handlers import Ctx, Val, apply, lowers
from ..layout import Layout, axes_are_long, deciding, layout_of, turned


@lowers(np.copy, border=True)
def _copy(ctx: Ctx, a: Val, order: Val = "K", **options: Val) -> Val:
    if not options and type(a) is Ref and ctx.read(a, ctx.node).type.kind == "array":
        return ctx.copy_of(a, ctx.node, order)
    return ctx.call_prim(PRIMS[np.copy], [a, *([order] if order != "K" else [])], options, ctx.node)


# They put new axes where ndmin= puts them, also of arrays whose number of axes is not known.
_AT_LEAST = {1: np.atleast_1d, 2: np.atleast_2d}


@lowers(np.array, border=True)
def _array(ctx: Ctx, source: Val, /, dtype: Val = None, **options: Val) -> Val:
    node = ctx.node
    _refuse_duck(ctx, source)
    source = ctx.held_items(source, node)
    found = ctx.dtype_of(dtype, node)
    if getattr(found, "names", None) is not None and type(source) is not Ref:
        ctx.fail("records made of tuples", node, "make them with np.zeros(n, dtype), and store each field")
    copy, order = options.get("copy", True), options.pop("order", "K")
    if order not in ("K", None):
        made = _array(ctx, source, dtype, **options)
        if copy is True and type(made) is Ref:
            return ctx.copy_of(made, node, order)
        return _put_in_order(ctx, made, made is not source, order)
    if copy is None and set(options) == {"copy"}:
        return _asarray(ctx, source, dtype)
    if copy is False and set(options) == {"copy"}:
        return _uncopied(ctx, source, found, dtype)
    plain = set(options) <= {"copy"} and copy is True
    if plain and type(source) is Ref and ctx.read(source, node).type.kind == "array":
        return ctx.copy_of(source, node, "K") if found is None else ctx.cast_copy(source, found, node)
    if is_static_int(options.get("ndmin")):
        least = options.pop("ndmin")
        made = _array(ctx, source, dtype, **options)
        rank = type_of(ctx.operand(made, node)).ndim
        if rank is None and least in _AT_LEAST:
            return ctx.call(Obj(_AT_LEAST[least]), [made], {}, node)
        if rank is None:
            ctx.fail("np.array with ndmin= of what has no known number of axes", node, "index it with None", cause=made)
        new = Seq((*[None] * (least - rank), Ellipsis))
        return made if rank >= least else ctx.subscript(made, new, node)
    if copy is True:
        options.pop("copy", None)
    made = _stacked(ctx, source)
    if plain and made is not source:
        return made if found is None else ctx.cast_copy(made, found, node)
    value = ctx.call_prim(PRIMS[np.array], [made, *([dtype] if dtype is not None else [])], options, node)
    if plain and type(value) is Ref:
        ctx.state.links.pop(value.cell, None)
        ctx.cells.numpy.add(value.cell)
    return value


def _refuse_duck(ctx: Ctx, a: Val) -> None:
    """The program makes an array of NumPy's of one of another library. A definition of ours only wants an array."""
    cls = ctx.read(a, ctx.node).type.duck if type(a) is Ref and ctx.frame.site is None else None
    if cls is not None:
        what = f"np.{ctx.callee.__name__} computes a {name_of(cls)}, or copies it from where it is"
        ctx.fail(what, ctx.node, "leave it as it is, or convert it before the function is called")


def _uncopied(ctx: Ctx, source: Val, found: Val, dtype: Val) -> Val:
    """``np.array(source, copy=False)``: the array itself, or ValueError."""
    t = ctx.read(source, ctx.node).type if type(source) is Ref else type_of(source) if type(source) is Value else ANY
    is_array = t.kind == "array"
    if is_array and (found is None or same_dtype(found, t.dtype)):
        return source
    if is_constant(source) or ctx.is_container(source) or t.is_scalar:
        ctx.raises(ValueError, "Unable to avoid copy while creating an array as requested.", ctx.node)
    if is_array and t.dtype is not None and isinstance(found, np.dtype):
        ctx.raises(ValueError, "Unable to avoid copy while creating an array as requested.", ctx.node)
    return ctx.call_prim(PRIMS[np.array], [source, *([dtype] if dtype is not None else [])], {"copy": False}, ctx.node)


def _stacked(ctx: Ctx, source: Val) -> Val:
    """The array that NumPy makes of a list of run-time length, of arrays, lists or tuples of numbers; all else as it
    is."""
    av = ctx.of_arrays(source, ctx.node)
    item = ctx.type_of_items(av, ctx.node)
    if item is None or item.kind != "array" or item.dims is None:
        return av
    # np.array of no arrays at all would have one axis: np.stack raises there.
    return ctx.call_prim(PRIMS[np.stack], [av], {}, ctx.node)


@lowers(np.fromiter, border=True)
def _fromiter(ctx: Ctx, iter: Val, dtype: Val, count: Val = -1, *, like: Val = None) -> Val:
    if count not in (None, -1) or dtype is None or like is not None:
        ctx.fail("np.fromiter with count=", ctx.node, "make a list of as many items, and an array of that")
    return apply(ctx, np.array, ctx.as_list(iter, ctx.node), dtype)


@lowers(np.asarray, np.asanyarray, border=True)
def _asarray(ctx: Ctx, a: Val, dtype: Val = None, order: Val = None, *, copy: Val = None, **options: Val) -> Val:
    node = ctx.node
    _refuse_duck(ctx, a)
    if copy is not None:
        return _array(ctx, a, dtype, order="K" if order is None else order, copy=copy, **options)
    if order is not None:
        made = _asarray(ctx, a, dtype, **options)
        return made if order == "K" else _put_in_order(ctx, made, made is not a, order)
    if ctx.is_container(a) and not options:
        return _array(ctx, a, dtype)
    found = ctx.dtype_of(dtype, node)
    if not options and type(a) is Ref:
        t = ctx.read(a, node).type
        if t.kind == "array" and (found is None or same_dtype(found, t.dtype)):
            return a
        if t.kind == "array" and isinstance(found, np.dtype) and t.dtype is not None:
            return ctx.cast_copy(a, found, node)
    fn = np.asarray if np.asarray in PRIMS else np.array
    return ctx.call_prim(PRIMS[fn], [a, *([dtype] if dtype is not None else [])], options, node)


@lowers(np.ascontiguousarray, np.asfortranarray, border=True)
def _in_order(ctx: Ctx, a: Val, dtype: Val = None, **options: Val) -> Val:
    if options or type_of(ctx.operand(a, ctx.node)).ndim in (0, None):
        return ctx.call_prim(PRIMS[ctx.callee], [a, *([dtype] if dtype is not None else [])], options, ctx.node)
    return _asarray(ctx, a, dtype, "C" if ctx.callee is np.ascontiguousarray else "F")


def _put_in_order(ctx: Ctx, av: Val, copied: bool, order: Val) -> Val:
    """The array itself if it is in this order, else a copy; a copy already if `copied`."""
    node = ctx.node
    if type(av) is not Ref or ctx.read(av, node).type.kind != "array":
        ctx.fail(f"an array with order={order!r} of what is not known to be one", node, "leave order= out")
    if copied:
        return ctx.copy_of(av, node, order)
    found = ctx.memory_order(order, av, node)
    flat = ctx.read(av, node).type.ndim == 1
    layout = layout_of(ctx, av if found == "C" or flat else turned(av))
    other = layout_of(ctx, turned(av) if found == "C" else av)
    if found == "K" or layout == frozenset():
        return av
    if other == frozenset() and axes_are_long(ctx, av):
        return ctx.copy_of(av, node, found)
    fn = np.asfortranarray if found == "F" else np.ascontiguousarray
    value = ctx.emit(node, PRIMS[fn], ctx.operand(av, node))
    inputs = deciding(ctx, av)
    made = ctx.linked(value, [av], cause=Layout(inputs) if inputs is not None else None)
    if inputs is not None and type(made) is Ref:
        ctx.cells.undecided[made.cell] = inputs
    return made
