"""The methods of arrays that write nothing."""

from __future__ import annotations

import numpy as np

from ...ir.core import Value, type_of
from ...ir.opset import PRIMS
from ...ir.types import same_dtype
from ..avals import Ref, Seq, is_number
from ..handlers import Ctx, Val, apply, lowers
from .array_views import ravel, reshaped, reshaped_in, transposed

# Those that are the function of the same name with the array first.
_AS_FUNCTION = (
    "sum", "mean", "prod", "max", "min", "std", "var", "cumsum", "cumprod", "argmax", "argmin", "any", "all",
    "round", "repeat", "take", "trace", "diagonal", "squeeze", "nonzero", "argsort", "swapaxes", "dot",
    "searchsorted", "argpartition", "choose",
)  # fmt: skip


@lowers(*[getattr(np.ndarray, name) for name in _AS_FUNCTION])
def _as_function(ctx: Ctx, a: Val, /, *args: Val, **kwargs: Val) -> Val:
    return apply(ctx, getattr(np, ctx.callee.__name__), a, *args, **kwargs)


@lowers(np.ndarray.conj, np.ndarray.conjugate)
def _conj(ctx: Ctx, a: Val) -> Val:
    """The method gives a real array itself."""
    dtype = type_of(ctx.operand(a, ctx.node)).dtype
    if dtype is None:
        return ctx.linked(ctx.emit(ctx.node, PRIMS[np.conj], ctx.operand(a, ctx.node)), [a])
    return a if dtype.kind in "biuf" else apply(ctx, np.conj, a)


@lowers(np.ndarray.clip)
def _clip(ctx: Ctx, a: Val, /, min: Val = None, max: Val = None, out: Val = None, **kwargs: Val) -> Val:
    if out is not None:
        kwargs["out"] = out
    return apply(ctx, np.clip, a, min, max, **kwargs)


@lowers(np.ndarray.compress)
def _compress(ctx: Ctx, a: Val, /, condition: Val, *args: Val, **kwargs: Val) -> Val:
    return apply(ctx, np.compress, condition, a, *args, **kwargs)


# --- copies -------------------------------------------------------------------------------------------------------


@lowers(np.ndarray.copy)
def _copy(ctx: Ctx, a: Val, /, order: Val = "C") -> Val:
    if type(a) is Value:
        return a
    # What may be a number has .copy() too: either way nothing is shared.
    return ctx.copy_of(a, ctx.node, order if ctx.read(a, ctx.node).type.kind == "array" else "K")


@lowers(np.ndarray.astype)
def _astype(
    ctx: Ctx,
    a: Val,
    /,
    dtype: Val,
    order: Val = None,
    casting: Val = None,
    subok: Val = None,
    copy: Val = True,
) -> Val:
    found = ctx.dtype_of(dtype, ctx.node)
    if not (order is None and casting is None and subok is None) or copy not in (True, False):
        ctx.fail("astype with these arguments", ctx.node, "call x.astype(dtype)")
    if copy is False:
        t = type_of(ctx.operand(a, ctx.node))
        if same_dtype(t.dtype, found):
            return a
        if t.dtype is None or isinstance(found, Value):
            return ctx.linked(ctx.operand(ctx.cast_copy(a, found, ctx.node), ctx.node), [a])
    return ctx.cast_copy(a, found, ctx.node)


# --- shapes -------------------------------------------------------------------------------------------------------


@lowers(np.ndarray.reshape)
def _reshape(ctx: Ctx, a: Val, first: Val, /, *shape: Val, order: Val = "C", copy: Val = None) -> Val:
    if copy is not None:
        ctx.fail("reshape with copy=", ctx.node, "leave it out")
    return reshaped_in(ctx, a, Seq((first, *shape)) if shape else first, order)


@lowers(np.ndarray.ravel)
def _ravel(ctx: Ctx, a: Val, /, order: Val = "C") -> Val:
    return ravel(ctx, a, order)


@lowers(np.ndarray.flatten)
def _flatten(ctx: Ctx, a: Val, /, order: Val = "C") -> Val:
    return ctx.copy_of(ravel(ctx, a, order), ctx.node, "C")


@lowers(np.ndarray.transpose)
def _transpose(ctx: Ctx, a: Val, /, *axes: Val) -> Val:
    if not axes or (axes[0] is None and len(axes) == 1):
        return transposed(ctx, a, None)
    return transposed(ctx, a, axes[0] if len(axes) == 1 and not is_number(axes[0]) else Seq(axes))


# --- items --------------------------------------------------------------------------------------------------------


@lowers(np.ndarray.item)
def _item(ctx: Ctx, a: Val, /, *args: Val) -> Val:
    prim = PRIMS.get(np.ndarray.item)
    if prim is not None:
        return ctx.call_prim(prim, [a, *args], {}, ctx.node)
    t = type_of(ctx.operand(a, ctx.node))
    if t.dtype is not None and t.dtype.kind in "fic" and not args:
        fn = {"f": float, "i": int, "c": complex}[t.dtype.kind]
        return apply(ctx, fn, reshaped(ctx, a, Seq(())) if type(a) is Ref and t.ndim != 0 else a)
    if len(args) == 1 and type(args[0]) is Seq:
        args = args[0].items
    if len(args) == 1 and type(a) is Ref and t.ndim is not None and t.ndim > 1:
        return _item(ctx, ctx.subscript(reshaped(ctx, a, Seq((-1,))), args[0], ctx.node))
    if args and type(a) is Ref and len(args) == t.ndim:
        return _item(ctx, ctx.subscript(a, Seq(args), ctx.node))
    if args:
        ctx.fail(".item() of an array by these numbers", ctx.node, "index it")
    what = ".item() or .tolist() of an array of unknown dtype"
    ctx.fail(what, ctx.node, "convert it first, with .astype(float)")


@lowers(np.ndarray.tolist)
def _tolist(ctx: Ctx, a: Val, /) -> Val:
    node = ctx.node
    t = type_of(ctx.operand(a, node))
    if t.is_scalar:
        return _item(ctx, a)
    if t.ndim is None:
        what = ".tolist() of an array whose number of axes is not known"
        ctx.fail(what, node, "reshape it to a tuple of lengths", cause=a)
    out = ctx.new_list([])
    ctx.each(a, lambda item: ctx.list_append(out, _tolist(ctx, item), node), node)
    return out
