"""NumPy's functions and methods that write into an array, in terms of stores and reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from ...errors import ArgumentError
from ...ir.core import Value, type_of
from ...ir.opset import ADDAT
from ..avals import Obj, Ref, Seq
from ..handlers import Ctx, Val, apply, lowers

# --- functions ----------------------------------------------------------------------------------------------------


@lowers(np.copyto, border=True)
def _copyto(ctx: Ctx, dst: Val, src: Val, casting: Val = "same_kind", where: Val = True) -> None:
    dst = ctx.target(dst, "np.copyto", ctx.node)
    if casting not in (None, "same_kind"):
        ctx.fail("np.copyto with casting=", ctx.node, "cast with .astype before")
    if where is not None and where is not True:
        src = apply(ctx, np.where, where, src, dst)
    ctx.store_whole(dst, src, ctx.node)


@lowers(np.put, border=True)
def _put(ctx: Ctx, a: Val, ind: Val, v: Val, mode: Val = "raise") -> None:
    if mode != "raise":
        ctx.fail("np.put with mode=", ctx.node, "store with a subscript, a[i] = v")
    base = ctx.target(a, "np.put", ctx.node)
    places = apply(ctx, np.ravel, apply(ctx, np.asarray, ind))
    value = ctx.cycled(v, ctx.array_attribute(places, "size", ctx.node), ctx.node)
    if value is None and not ctx.is_empty(base, ctx.node):
        return
    _store_flat(ctx, base, ctx.operand(places, ctx.node), ctx.operand(value, ctx.node))


def _store_flat(ctx: Ctx, base: Ref, places: Any, value: Val) -> None:
    whole = ctx.read(base, ctx.node)
    path = base.path if whole.type.ndim == 1 else (*base.path, ("reshape", (-1,)))
    ctx.store(Ref(base.cell, path), ("index", (places,)), value, ctx.node)


@lowers(np.place, border=True)
def _place(ctx: Ctx, arr: Val, mask: Val, vals: Val) -> None:
    base = ctx.target(arr, "np.place", ctx.node)
    flags = apply(ctx, np.ravel, apply(ctx, np.asarray, mask, Obj(bool)))
    if ctx.shares(ctx.operand(vals, ctx.node), base):
        ctx.refuse_overlap("np.place", ctx.node)
    value = ctx.cycled(vals, apply(ctx, np.count_nonzero, flags), ctx.node)
    if value is None:
        ctx.raises(ValueError, "Cannot insert from an empty array!", ctx.node)
    _store_flat(ctx, base, ctx.operand(flags, ctx.node), ctx.operand(value, ctx.node))


@lowers(np.putmask, border=True)
def _putmask(ctx: Ctx, a: Val, mask: Val, values: Val) -> None:
    node = ctx.node
    base = ctx.target(a, "np.putmask", node)
    mask = apply(ctx, np.asarray, mask, Obj(bool))
    size = ctx.array_attribute(base, "size", node)
    message = "putmask: mask and data must be the same size"
    ctx.require_equal(ctx.array_attribute(mask, "size", node), size, message, node)
    mask = apply(ctx, np.reshape, mask, ctx.shape(base, node))
    if not ctx.is_scalar(values):
        values = ctx.cycled(values, size, node)
        if values is None:
            return
        values = apply(ctx, np.reshape, values, ctx.shape(base, node))
    ctx.store_whole(base, apply(ctx, np.where, mask, values, base), node)


@lowers(np.fill_diagonal, border=True)
def _fill_diagonal(ctx: Ctx, a: Val, val: Val, wrap: Val = False) -> None:
    node = ctx.node
    base = ctx.target(a, "np.fill_diagonal", node)
    whole = ctx.read(base, node)
    if wrap not in (None, False) or whole.type.ndim != 2:
        ctx.fail("np.fill_diagonal with wrap=, or of other than two axes", node, "index the diagonal")
    count = apply(ctx, min, *[ctx.axis_length(whole, k, node) for k in (0, 1)])
    value = ctx.cycled(val, count, node)
    places = ctx.operand(apply(ctx, np.arange, count), node)
    ctx.store(base, ("index", (places, places)), ctx.operand(value, node), node)


@lowers(np.put_along_axis, border=True)
def _put_along_axis(ctx: Ctx, arr: Val, indices: Val, values: Val, axis: Val) -> None:
    node = ctx.node
    base = ctx.target(arr, "np.put_along_axis", node)
    value = ctx.operand(values, node)
    ndim, given = ctx.read(base, node).type.ndim, type_of(ctx.operand(indices, node)).ndim
    if axis is None and given is not None and given != 1:
        ctx.raises(ValueError, "when axis=None, `indices` must have a single dimension.", node)
    if isinstance(axis, int) and ndim is not None and not -ndim <= axis < ndim:
        ctx.raises(AxisError, f"axis {axis} is out of bounds for array of dimension {ndim}", node)
    if axis is not None and None not in (ndim, given) and ndim != given:
        ctx.raises(ValueError, "`indices` and `arr` must have the same number of dimensions", node)
    if axis is None or ndim == 1:
        _store_flat(ctx, base, ctx.operand(indices, node), value)
        return
    if not isinstance(axis, int) or ndim is None or not -ndim <= axis < ndim:
        ctx.fail("np.put_along_axis along an axis that is not known", node, "give the axis", cause=axis)
    items: list[Any] = []
    for k in range(ndim):
        if k == axis % ndim:
            items.append(ctx.operand(indices, node))
            continue
        places = apply(ctx, np.arange, ctx.axis_length(ctx.read(base, node), k, node))
        shape = Seq(tuple([-1 if j == k else 1 for j in range(ndim)]))
        items.append(ctx.operand(apply(ctx, np.reshape, places, shape), node))
    ctx.store(base, ("index", tuple(items)), value, node)


@lowers(np.ufunc.at)
def _at(ctx: Ctx, of: Obj, a: Val, indices: Val, /, *values: Val) -> None:
    """Without buffering: a repeated index counts each time."""
    ufunc, node = of.obj, ctx.node
    name = f"np.{ufunc.__name__}.at"
    if len(values) != ufunc.nin - 1:
        ctx.fail(f"{name} takes {ufunc.nin + 1} arguments", node, "", ArgumentError)
    base = ctx.target(a, name, node)
    items = ctx.index_items(indices, node)
    if ufunc in (np.add, np.subtract):
        value = values[0] if ufunc is np.add else apply(ctx, np.negative, values[0])
        ctx.store(base, ("index", items), ctx.operand(value, node), node, ADDAT)
        return
    if not any(isinstance(i, (list, tuple)) or _may_repeat(i) for i in items):
        part = ctx.subscript(base, indices, node)
        result = apply(ctx, ufunc, part, *values)
        ctx.store(base, ("index", items), ctx.operand(result, node), node)
        return
    places = apply(ctx, np.asarray, indices) if len(items) == 1 else None
    whole = None if places is None else ctx.read(places, node)
    if places is None or whole is None or whole.type.ndim != 1 or ctx.read(base, node).type.ndim != 1:
        ctx.fail(f"{name} of other than one axis", node, "write a loop")
    count = ctx.axis_length(whole, 0, node)
    if values and not ctx.is_scalar(values[0]):
        values = (apply(ctx, np.broadcast_to, values[0], Seq((count,))),)

    def one(i: Val) -> None:
        place = ctx.subscript(places, i, node)
        given = [v if ctx.is_scalar(v) else ctx.subscript(v, i, node) for v in values]
        new = apply(ctx, ufunc, ctx.subscript(base, place, node), *given)
        ctx.store(base, ("index", ctx.index_items(place, node)), ctx.operand(new, node), node)

    ctx.counted(count, one, node)


def _may_repeat(item: Val) -> bool:
    """An index that may name an element twice: an array of integers, or of what is not known."""
    if type(item) is not Value or item.type.is_scalar:
        return False
    return item.type.dtype is None or item.type.dtype.kind != "b"


# --- methods ------------------------------------------------------------------------------------------------------


@lowers(np.ndarray.fill)
def _fill(ctx: Ctx, a: Val, value: Val) -> None:
    base = ctx.target(a, ".fill()", ctx.node)
    if type_of(ctx.operand(value, ctx.node)).ndim not in (0, None):
        ctx.raises(ValueError, "setting an array element with a sequence", ctx.node)
    step = None if base.path else ("index", (Ellipsis,))
    ctx.store(base, step, ctx.operand(value, ctx.node), ctx.node)


@lowers(np.ndarray.put)
def _put_method(ctx: Ctx, a: Val, /, indices: Val, values: Val, mode: Val = "raise") -> None:
    _put(ctx, a, indices, values, mode)


@lowers(np.ndarray.sort)
def _sort(ctx: Ctx, a: Val, /, axis: Val = -1, kind: Val = None, order: Val = None, **stable: Val) -> None:
    if axis is None:
        ctx.raises(TypeError, "'NoneType' object cannot be interpreted as an integer", ctx.node)
    given = {"axis": axis, "kind": kind, "order": order, **stable}
    result = apply(ctx, np.sort, a, **{k: v for k, v in given.items() if v is not None})
    ctx.store_whole(ctx.target(a, ".sort()", ctx.node), result, ctx.node)


@lowers(np.ndarray.partition)
def _partition(ctx: Ctx, a: Val, /, kth: Val, axis: Val = -1, kind: Val = None, order: Val = None) -> None:
    if kind is not None or order is not None:
        ctx.fail("ndarray.partition with kind= or order=", ctx.node, "store with a subscript, a[...] = v")
    base = ctx.target(a, ".partition()", ctx.node)
    along = -1 if axis is None else axis
    places = apply(ctx, np.argpartition, base, kth, axis=along)
    ctx.store_whole(base, apply(ctx, np.take_along_axis, base, places, along), ctx.node)


@lowers(np.ndarray.resize)
def _resize(ctx: Ctx, a: Val, /, *args: Val, **kwargs: Val) -> None:
    ctx.fail("the method .resize() changes how much memory an array has", ctx.node, "use np.resize")
