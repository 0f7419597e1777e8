"""NumPy's functions that give an array another shape, or tell its shape."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ...errors import ArgumentError, is_interruption
from ...ir.core import Value, type_of
from ...ir.opset import PRIMS, opaque
from ...ir.types import same_dtype
from ...kernels import as_complexes, as_reals
from ..avals import FlagsOf, ListRef, Obj, Ref, Seq, is_static_int
from ..causes import actions_for
from ..folds import proved
from ..handlers import Ctx, Val, apply, lowers
from ..layout import Layout, deciding, is_fortran, layout_of, surely_copied
from ..library.grids import strided
from ..plan import LAYOUT
from ..settled import settled
from ..state import FOLDED, PROTECTED


def _step_view(ctx: Ctx, av: Ref, step: tuple[Any, ...]) -> Ref:
    view = Ref(av.cell, (*av.path, step))
    ctx.read(view, ctx.node)
    return view


# --- reshape and ravel --------------------------------------------------------------------------------------------


@lowers(np.reshape, border=True)
def _reshape(
    ctx: Ctx, a: Val, /, shape: Val = None, order: Val = "C", *, newshape: Val = None, copy: Val = None
) -> Val:
    shape = newshape if shape is None else shape
    if shape is None:
        ctx.fail("reshape() needs a shape", ctx.node, "", ArgumentError)
    if copy is not None:
        ctx.fail("reshape with copy=", ctx.node, "leave it out")
    return reshaped_in(ctx, a, shape, order)


def reshaped_in(ctx: Ctx, av: Val, shape: Val, order: Val) -> Val:
    """A reshaped array. In Fortran order it is what the transposed array is in C order."""
    node = ctx.node
    if order == "C" or ctx.in_c_order("A" if order is None else order, av, "reshape", node):
        return reshaped(ctx, av, shape)
    known = shape.items if type(shape) is Seq else ctx.operand(shape, node)
    if isinstance(known, (list, tuple)):
        shape = Seq(tuple(reversed(known)))
    elif type(known) is Value and known.type.kind == "shape":
        ctx.fail("reshape with order='F' to a shape that is not written out", node, "transpose before and after")
    return transposed(ctx, reshaped(ctx, transposed(ctx, av, None), shape), None)


def reshaped(ctx: Ctx, av: Val, shape: Val) -> Val:
    node = ctx.node
    target = _as_shape(ctx, shape)
    if type(av) is Ref:
        t = ctx.read(av, node).type
        if t.kind == "array" and (t.ndim == 1 or t.ndim == 0 or _is_contiguous(ctx, av)):
            return _step_view(ctx, av, ("reshape", target))
    x = ctx.operand(av, node)
    flat = not isinstance(target, tuple) or len(target) == 1
    value = ctx.emit(node, PRIMS[np.reshape], x, target)
    return _maybe_view(ctx, value, av, flat and _copies(ctx, av, False), flat)


def _as_shape(ctx: Ctx, shape: Val) -> Val:
    """The lengths of a new shape. How many there are has to be known: a loop that appends them is unrolled."""
    target = ctx.operand(shape, ctx.node)
    if type(target) is Value and (
        target.type.kind == "list" or (target.type.kind == "array" and target.type.ndim == 1)
    ):
        what = "a shape with a number of axes that is known at run time only"
        target = [ctx.operand(n, ctx.node) for n in ctx.static_items(shape, ctx.node, what, "use a tuple of lengths")]
    if isinstance(target, (tuple, list)):
        return tuple(target)
    return target if type(target) is Value and target.type.kind == "shape" else (target,)


def _is_contiguous(ctx: Ctx, av: Ref) -> bool:
    """Proven to be laid out in C order, and to be treated as such."""
    if any(kind is LAYOUT for kind, _ in ctx.plan.actions):
        return layout_of(ctx, av) == frozenset()
    # As long as nothing depends on it, a reshape is an operation, whose adjoint is simpler than that of a view.
    return av.cell in ctx.cells.contiguous and all(
        step[0] == "reshape"
        or (step[0] == "index" and all(is_static_int(i) or (type(i) is Value and i.type.is_scalar) for i in step[1]))
        for step in av.path
    )


def _copies(ctx: Ctx, av: Val, flat: bool) -> bool:
    return type(av) is Ref and surely_copied(ctx, av, flat)


def _maybe_view(ctx: Ctx, value: Val, av: Val, copied: bool, flat: bool) -> Val:
    """A reshaped array: a copy, or a view if the memory of `av` is laid out in C order."""
    if copied:
        return ctx.fresh(value, contiguous=True)
    layout = deciding(ctx, av)
    made = ctx.linked(value, [av], cause=Layout(layout) if layout is not None else None)
    if type(made) is Ref and type(av) is Ref and made.cell in ctx.cells.origins:
        # Of what is folded NumPy makes a copy, but for some with several axes. What it protects may not be folded.
        ctx.cells.origins[made.cell] -= {FOLDED} if flat else set()
    return made


@lowers(np.ravel, border=True)
def ravel(ctx: Ctx, a: Val, order: Val = "C") -> Val:
    node = ctx.node
    if order != "C" and not ctx.in_c_order(order, a, "ravel", node):
        a = transposed(ctx, a, None)
    if type(a) is Ref:
        t = ctx.read(a, node).type
        if t.kind == "array" and _is_contiguous(ctx, a):
            return _step_view(ctx, a, ("reshape", (-1,)))
    value = ctx.emit(node, PRIMS[np.ravel], ctx.operand(a, node))
    return _maybe_view(ctx, value, a, _copies(ctx, a, True), True)


# --- axes ---------------------------------------------------------------------------------------------------------


def transposed(ctx: Ctx, av: Val, axes: Val) -> Val:
    return _permuted(ctx, np.transpose, av, axes)


@lowers(np.transpose, np.swapaxes, np.moveaxis, border=True)
def _permute(ctx: Ctx, a: Val, /, *args: Val, **kwargs: Val) -> Val:
    return _permuted(ctx, ctx.callee, a, *args, **kwargs)


def _permuted(ctx: Ctx, fn: Any, av: Val, *args: Val, **kwargs: Val) -> Val:
    """A view with its axes in another order: the one in which NumPy puts axes whose lengths are their numbers."""
    node = ctx.node
    given = [settled(ctx.operand(x, node)) for x in args]
    named = {k: settled(ctx.operand(x, node)) for k, x in kwargs.items()}
    known = all(_is_static(x) for x in (*given, *named.values()))
    ndim = ctx.read(av, node).type.ndim if type(av) is Ref else None
    if not known and fn is np.transpose:
        message = "the axes of a transposition have to be known when the program is compiled"
        ctx.fail(message, node, "write the axes as literals", cause=[*args, *kwargs.values()])
    if not known and fn is np.moveaxis:
        ctx.plan.require(actions_for(ctx, [*args, *kwargs.values()]), None)
    if ndim is None or not known:
        return ctx.call_prim(PRIMS[fn], [av, *[x for x in args if x is not None]], kwargs, node)
    try:
        order = fn(np.empty(tuple(range(ndim))), *given, **named).shape
    except (TypeError, ValueError) as error:
        if is_interruption(error):
            raise
        ctx.raises(type(error), str(error), node)
    return ctx.transpose(av, None if order == tuple(reversed(range(ndim))) else order, node)


def _is_static(x: Any) -> bool:
    return x is None or is_static_int(x) or (isinstance(x, (tuple, list)) and all(map(is_static_int, x)))


def _plain(ctx: Ctx, fn: Any, *args: Val, **kwargs: Val) -> Val:
    """The function as a primitive."""
    return ctx.call_prim(PRIMS[fn], list(args), kwargs, ctx.node)


def _normal_axes(ctx: Ctx, axes: Any, ndim: int) -> tuple[int, ...]:
    for a in axes:
        if not -ndim <= a < ndim:
            message = f"axis {a} is out of bounds for array of dimension {ndim}"
            ctx.raises(np.exceptions.AxisError, message, ctx.node)
    return tuple([a % ndim for a in axes])


@lowers(np.expand_dims, border=True)
def _expand_dims(ctx: Ctx, a: Val, axis: Val) -> Val:
    ndim = type_of(ctx.operand(a, ctx.node)).ndim
    if type(a) is not Ref or ndim is None or not is_static_int(axis):
        return _plain(ctx, np.expand_dims, a, axis)
    (place,) = _normal_axes(ctx, (axis,), ndim + 1)
    last = [] if place == ndim else [Ellipsis]
    return _step_view(ctx, a, ("index", (*[slice(None)] * place, None, *last)))


@lowers(np.squeeze, border=True)
def _squeeze(ctx: Ctx, a: Val, axis: Val = None) -> Val:
    dims = type_of(ctx.operand(a, ctx.node)).dims
    axes = axis.items if type(axis) is Seq else (axis,)
    known = dims is not None and [ctx.builder.dims.find(d) for d in dims]
    gone: list[int] | None = None
    if type(a) is Ref and known and all(axis is None or is_static_int(k) for k in axes):
        if axis is not None:
            gone = list(_normal_axes(ctx, axes, len(known)))
            if len(set(gone)) < len(gone):
                ctx.raises(ValueError, "duplicate value in 'axis'", ctx.node)
        elif all(d == 1 or ctx.builder.dims.not_one(d) for d in known):
            gone = [k for k, d in enumerate(known) if d == 1]
    if not known or gone is None or any(known[k] != 1 for k in gone):
        return _plain(ctx, np.squeeze, a, **({} if axis is None else {"axis": axis}))
    items = [0 if k in gone else slice(None) for k in range(len(known))]
    whole = [] if len(gone) < len(known) else [Ellipsis]  # else it would be a number, not a view
    return _step_view(ctx, a, ("index", (*items, *whole)))


@lowers(np.atleast_1d, np.atleast_2d, border=True)
def _atleast(ctx: Ctx, *arys: Val) -> Val:
    if len(arys) == 1 and type(arys[0]) is Ref:
        t = ctx.read(arys[0], ctx.node).type
        if t.kind == "array" and t.ndim is not None:
            lacking = (1 if ctx.callee is np.atleast_1d else 2) - t.ndim
            if lacking <= 0:
                return arys[0]
            rest: list[Any] = [slice(None)] * t.ndim or [Ellipsis]
            return _step_view(ctx, arys[0], ("index", (*[None] * lacking, *rest)))
    if len(arys) > 1:
        made = [_atleast(ctx, x) for x in arys]
        return Seq(tuple(made)) if _AS_TUPLE else ctx.new_list(made)
    return _plain(ctx, ctx.callee, *arys)


_AS_TUPLE = isinstance(np.atleast_1d(1, 2), tuple)  # from NumPy 2.0 on; before, a list


# --- the memory, read in another way ----------------------------------------------------------------------------------


@lowers(np.ndarray.view)
def _view(ctx: Ctx, a: Val, /, dtype: Val = None, *made_of: Val, **options: Val) -> Val:
    """Complex numbers as pairs of real ones, or pairs as complex numbers; with no other dtype the array itself."""
    node = ctx.node
    if made_of or options or (type(dtype) is Obj and isinstance(dtype.obj, type) and issubclass(dtype.obj, np.ndarray)):
        ctx.fail("a view of an array as one of a class", node, "call x.view(dtype)")
    t = type_of(ctx.operand(a, node))
    found = ctx.dtype_of(dtype, node)
    if found is None or (isinstance(found, np.dtype) and same_dtype(found, t.dtype)):
        return Ref(a.cell, a.path) if type(a) is Ref else a
    if type(a) is not Ref or t.kind != "array" or t.dtype is None or not isinstance(found, np.dtype):
        ctx.fail("a view as another dtype of what is not known to be an array of a known dtype", node, _VIEW_REMEDY)
    if t.dims == ():
        message = "Changing the dtype of a 0d array is only supported if the itemsize is unchanged"
        ctx.raises(ValueError, message, node)
    kernel = {"cf": as_reals, "fc": as_complexes}.get(t.dtype.kind + found.kind)
    halved = {t.dtype.itemsize * 2 == found.itemsize: as_complexes, t.dtype.itemsize == found.itemsize * 2: as_reals}
    if kernel is None or halved.get(True) is not kernel or not found.isnative or not t.dtype.isnative:
        ctx.fail(f"a view of an array of dtype {t.dtype} as {found}", node, _VIEW_REMEDY)
    if is_fortran(ctx, a) and t.ndim != 1:
        ctx.fail("a view as another dtype of an array in Fortran order", node, "pass a copy of it, x.copy()")
    plain = layout_of(ctx, a) == frozenset()
    value = ctx.emit(node, PRIMS[kernel], ctx.operand(a, node), *([] if plain else [True]))
    made = ctx.linked(value, [a])
    if type(made) is Ref and (plain or t.ndim == 1):
        ctx.cells.contiguous.add(made.cell)
    return made


_VIEW_REMEDY = "take .real and .imag, or make complex numbers of them, or call .astype(dtype)"

# --- views of which several elements may be one in memory ---------------------------------------------------------


def mark_folded(ctx: Ctx, av: Val) -> Val:
    """An array of which several elements may be one in memory; it is not protected."""
    if type(av) is Ref:
        ctx.cells.read_only.discard(av.cell)
        ctx.cells.origins[av.cell] = ctx.cells.origins.get(av.cell, frozenset()) - {PROTECTED} | {FOLDED}
    return av


@lowers(np.lib.stride_tricks.sliding_window_view, border=True)
def _sliding_window_view(
    ctx: Ctx, x: Val, window_shape: Val, axis: Val = None, *, subok: Val = False, writeable: Val = False
) -> Val:
    given = {name: v for name, v in (("subok", subok), ("writeable", writeable)) if v is not False}
    if axis is not None:
        given["axis"] = axis
    made = _plain(ctx, ctx.callee, x, window_shape, **given)
    return made if writeable is False else mark_folded(ctx, made)


@lowers(np.lib.stride_tricks.as_strided, border=True)
def _as_strided(
    ctx: Ctx, x: Val, shape: Val = None, strides: Val = None, subok: Val = False, writeable: Val = True
) -> Val:
    node = ctx.node
    dtype = type_of(ctx.read(x, node)).dtype if type(x) is Ref else None
    if dtype is None or not isinstance(writeable, bool):
        given = {"shape": shape, "strides": strides, "subok": subok, "writeable": writeable}
        return mark_folded(ctx, ctx.call_unknown(ctx.callee, [x], given, node))
    if not ctx.flag(FlagsOf(x), "c_contiguous", node):
        ctx.fail("as_strided of an array whose elements do not lie one behind the other", node, "pass a copy of it")
    asked = [ctx.array_attribute(x, "shape", node) if shape is None else shape]
    asked.append(ctx.attribute(x, "strides", node) if strides is None else strides)
    axes = [av if type(av) in (Seq, ListRef) else Seq((av,)) for av in asked]
    copied = ctx.call(Obj(strided, None), [x, *axes, dtype.itemsize], {}, node)
    made = ctx.linked(ctx.operand(copied, node), [x])
    if writeable or type(made) is not Ref:
        return mark_folded(ctx, made)
    ctx.cells.read_only.add(made.cell)
    ctx.cells.mark(made.cell, PROTECTED)
    return made


# --- what is asked ------------------------------------------------------------------------------------------------


def _arrayed(ctx: Ctx, av: Val) -> Val:
    return apply(ctx, np.array, av) if type(av) in (ListRef, Seq) else av


@lowers(np.shape, border=True)
def _shape(ctx: Ctx, a: Val) -> Val:
    return ctx.shape(_arrayed(ctx, a), ctx.node)


@lowers(np.ndim, border=True)
def _ndim(ctx: Ctx, a: Val) -> Val:
    return ctx.array_attribute(_arrayed(ctx, a), "ndim", ctx.node)


@lowers(np.size, border=True)
def _size(ctx: Ctx, a: Val, axis: Val = None) -> Val:
    if type(axis) is Seq:
        ctx.fail("np.size along several axes", ctx.node, "multiply the lengths")
    if axis is not None:
        return ctx.subscript(_shape(ctx, a), axis, ctx.node)
    return ctx.array_attribute(_arrayed(ctx, a), "size", ctx.node)


@lowers(np.isscalar, border=True)
def _isscalar(ctx: Ctx, element: Val) -> Any:
    if (found := ctx.class_of(element, ctx.node)) is not None:
        return proved("class", issubclass(found, (np.generic, numbers.Number)) or found in np.ScalarType)
    x = ctx.operand(element, ctx.node)
    t = type_of(x)
    if t.kind in ("py", "generic", "scalar", "array", "list", "shape"):
        return proved("class", t.is_scalar)
    return ctx.emit(ctx.node, opaque(np.isscalar, "np.isscalar"), x)


@lowers(np.where, border=True)
def _where(ctx: Ctx, condition: Val, /, *choices: Val) -> Val:
    return _plain(ctx, np.where, condition, *choices) if choices else apply(ctx, np.nonzero, condition)


@lowers(np.isfortran)
def _isfortran(ctx: Ctx, a: Val) -> Val:
    return ctx.attribute(ctx.attribute(a, "flags", ctx.node), "fnc", ctx.node)
