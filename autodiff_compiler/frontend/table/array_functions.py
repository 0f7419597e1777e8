"""NumPy's functions of which an argument is converted first, and the marks that definitions use."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.core import Value, type_of
from ...ir.opset import PRIMS
from ...ir.roles import signature_of
from ...late import load
from ..avals import ListRef, Obj, Ref, Seq, SliceOf, is_constant, is_number
from ..definitions import folded, known, may_be_zero, place, refuse
from ..handlers import Ctx, Val, apply, lowers
from .array_views import mark_folded

# --- what definitions say -----------------------------------------------------------------------------------------


@lowers(refuse)
def _refuse(ctx: Ctx, message: Val, remedy: Val = "") -> Val:
    ctx.fail(str(message), ctx.node, str(remedy))


@lowers(known)
def _known(ctx: Ctx, value: Val) -> bool:
    return is_constant(value)


@lowers(may_be_zero)
def _may_be_zero(ctx: Ctx, length: Val) -> bool:
    known = length if type(length) is int else type_of(length).length if type(length) is Value else None
    return known is None or not ctx.builder.dims.not_zero(known)


@lowers(place)
def _place(ctx: Ctx) -> Obj:
    return Obj(ctx.loc_of(ctx.node), None)


@lowers(folded)
def _folded(ctx: Ctx, array: Val) -> Val:
    return mark_folded(ctx, array)


# --- dtypes -------------------------------------------------------------------------------------------------------


@lowers(np.lib.array_utils.normalize_axis_index)
def _normalized(ctx: Ctx, axis: Val, ndim: Val, /) -> Val:
    if is_constant(axis) and is_constant(ndim):
        return ctx.folded(ctx.callee, [axis, ndim], {}, ctx.node)
    return ctx.call_unknown(ctx.callee, [axis, ndim], {}, ctx.node)


@lowers(np.common_type)
def _common_type(ctx: Ctx, /, *arrays: Val) -> Val:
    dtypes: list[Any] = [ctx.static_dtype(a, ctx.node) if type(a) in (Ref, Value) else None for a in arrays]
    if not all(type(dtype) is Obj for dtype in dtypes):
        what = "np.common_type of an array whose dtype is known at run time only"
        ctx.fail(what, ctx.node, "convert it with astype", cause=list(arrays))
    return Obj(ctx.folded(np.common_type, [np.empty(0, dtype.obj) for dtype in dtypes], {}, ctx.node))


@lowers(np.finfo, np.iinfo, np.dtype, np.issubdtype, np.result_type, np.promote_types, np.can_cast)
def _of_dtypes(ctx: Ctx, /, *args: Val, **kwargs: Val) -> Val:
    values = []
    for a in args:
        if type(a) is Ref or type(a) is Value:
            a = ctx.static_dtype(a, ctx.node)
        if not (type(a) is Obj or is_constant(a)):
            return ctx.call_unknown(ctx.callee, list(args), kwargs, ctx.node)
        values.append(a.obj if type(a) is Obj else a)
    result = ctx.callee(*values)
    return result if is_constant(result) else Obj(result)


# --- numbers for which NumPy makes vectors ------------------------------------------------------------------------

# By function: the parameters for which a number, or an array without axes, is an array of one element. For some it is
# only without an axis.
_OF_VECTORS: dict[Any, frozenset[str]] = {
    np.take: frozenset({"a"}), np.repeat: frozenset({"a"}), np.compress: frozenset({"a"}),
    np.extract: frozenset({"arr"}), np.resize: frozenset({"a"}), np.convolve: frozenset({"a", "v"}),
}  # fmt: skip
_UNLESS_AXIS: dict[Any, frozenset[str]] = {np.delete: frozenset({"arr"}), np.insert: frozenset({"arr"})}


@lowers(np.pad, *_OF_VECTORS, *_UNLESS_AXIS)
def _of_vectors(ctx: Ctx, /, *args: Val, **kwargs: Val) -> Val:
    fn = ctx.callee
    prim = PRIMS[fn]
    names = _OF_VECTORS.get(fn, frozenset())
    at = prim.params.index("axis") if "axis" in prim.params else 0
    axis = kwargs.get("axis", args[at] if len(args) > at else None)
    if fn in _UNLESS_AXIS and axis is None:
        names = _UNLESS_AXIS[fn]
    if fn in (np.take, np.repeat) and len(args) > 1:
        args = (args[0], _places(ctx, args[1]), *args[2:])
    if fn is np.pad and args:
        args = (apply(ctx, np.asarray, args[0]), *args[1:])
    given = [_vector(ctx, a) if name in names else a for name, a in zip((*prim.params, *args), args)]
    keywords = {k: _vector(ctx, v) if k in names else v for k, v in kwargs.items()}
    return ctx.call_prim(prim, given, keywords, ctx.node)


def _places(ctx: Ctx, av: Val) -> Val:
    """Indices: NumPy makes integers of floats and of booleans."""
    av = ctx.as_array(av, ctx.node)
    t = type_of(ctx.operand(av, ctx.node))
    if t.kind == "list" or t.dtype is None or t.dtype.kind not in "fb":
        return av
    if is_number(av):
        return int(av)
    return ctx.cast_copy(av, np.dtype(np.intp), ctx.node) if type(av) is Ref else av


def _vector(ctx: Ctx, av: Val) -> Val:
    if type(av) not in (Ref, Value) and not is_number(av):
        return av
    t = type_of(ctx.operand(av, ctx.node))
    if t.dims != () or t.kind not in ("array", "py", "generic", "scalar"):
        return av
    return apply(ctx, np.reshape, av, Seq((1,)))


# --- stacks of lists of run-time length ---------------------------------------------------------------------------


@lowers(np.vstack, np.hstack, np.column_stack)
def _stack(ctx: Ctx, /, *args: Val, **kwargs: Val) -> Val:
    """Of a list of run-time length it is `np.stack` or `np.concatenate`."""
    fn, node = ctx.callee, ctx.node
    name = fn.__name__
    given, kwargs = ctx.accepted(fn, signature_of(fn), list(args), kwargs, node)
    if len(given) == 1 and not kwargs and type(given[0]) is Ref and ctx.read(given[0], node).type.kind == "array":
        stack_rows = load("autodiff_compiler.frontend.library.arrays").stack_rows
        return ctx.inline_function(Obj(stack_rows), [name, *given], {}, node)
    given = [ctx.as_arrays(a, node) for a in given]
    if name == "column_stack" and len(given) == 1 and type(given[0]) in (Seq, ListRef):
        items = ctx.known_items(given[0], node)
        if items is not None:
            given = [Seq(tuple([_vector(ctx, x) for x in items]))]
    rank = _rank_of_items(ctx, given[0], name) if len(given) == 1 else None
    if rank is None or kwargs:
        return ctx.call_prim(PRIMS[fn], given, kwargs, node)
    if rank == 0 and name == "hstack":
        return apply(ctx, np.array, *given)
    if rank == 0:
        column = ctx.subscript(apply(ctx, np.array, *given), Seq((SliceOf(None, None, None), None)), node)
        return column if name == "vstack" else apply(ctx, np.transpose, column)
    if rank == 1 and name != "hstack":
        return ctx.call_prim(PRIMS[np.stack], given, {"axis": 0 if name == "vstack" else 1}, node)
    axis = 0 if name == "vstack" or rank == 1 else 1
    return ctx.call_prim(PRIMS[np.concatenate], given, {"axis": axis}, node)


def _rank_of_items(ctx: Ctx, av: Val, name: str) -> int | None:
    """The number of axes of the items of a list of run-time length; None if it is no such list."""
    if ctx.run_time_items(av, ctx.node) is None:
        return None
    item = ctx.type_of_items(av, ctx.node)
    if item is None or item.dims is None:
        ctx.fail(
            f"np.{name} of a list of run-time length, whose items are not known to have one number of axes",
            ctx.node,
            "make them arrays with the same number of axes",
        )
    return len(item.dims)


# --- missing numbers --------------------------------------------------------------------------------------------------


@lowers("pandas.isna", "pandas.core.dtypes.missing.isna", "pandas.notna", "pandas.core.dtypes.missing.notna")
def _is_missing(ctx: Ctx, obj: Val) -> Val:
    """Of arrays and numbers, nan is what is missing. What pandas says of other things is observed."""
    t = type_of(ctx.operand(obj, ctx.node)) if type(obj) in (Ref, Value) else None
    if t is None or t.dims is None or t.dtype is None or t.dtype.kind not in "biufc":
        return ctx.call_unknown(ctx.callee, [obj], {}, ctx.node)
    found = apply(ctx, np.isnan, obj)
    if ctx.callee.__name__ == "notna":
        found = apply(ctx, np.logical_not, found)
    return found if t.kind == "array" else apply(ctx, bool, found)
