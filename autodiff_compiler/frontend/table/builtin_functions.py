"""Python's built-in functions, and those of `operator` and `functools`, but for what goes through iterables."""

from __future__ import annotations

import functools
import operator
from typing import Any

from ...errors import ArgumentError
from ...ir.core import Value, type_of
from ...ir.opset import OPERATORS, PRIMS, PRINT, TRUTH, opaque
from ...ir.types import py_int
from ...tree import class_lookup
from ..avals import MISSING, Instance, Obj, Partial, RangeOf, Seq, SliceOf, describe, is_constant, is_static_int
from ..dunders import IN_PLACE, changed
from ..expressions import object_operator
from ..folds import proved
from ..handlers import Ctx, Val, lowers
from ..objects import is_object
from ..texts import text_by

_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


# --- operators ----------------------------------------------------------------------------------------------------


@lowers(*OPERATORS)
def _operator(ctx: Ctx, a: Val, b: Val, /) -> Val:
    """A function of `operator` that is a binary operator."""
    lower = ctx.compare_with if ctx.callee in _COMPARISONS else ctx.binary
    return lower(ctx.callee, a, b, ctx.node)


lowers(*IN_PLACE)(lambda ctx, a, b, /: changed(ctx, IN_PLACE[ctx.callee], a, b, ctx.node))
lowers(operator.getitem)(lambda ctx, a, b, /: ctx.subscript(a, b, ctx.node))
lowers(operator.setitem)(lambda ctx, a, b, c, /: ctx.store_item(a, b, c, ctx.node))
lowers(operator.delitem)(lambda ctx, a, b, /: ctx.delete_item(a, b, ctx.node))
lowers(operator.contains)(lambda ctx, a, b, /: ctx.contains(b, a, ctx.node))
lowers(operator.not_)(lambda ctx, a, /: ctx.negated(ctx.truth(a, ctx.node), ctx.node))
lowers(operator.is_)(lambda ctx, a, b, /: ctx.identical(a, b, ctx.node))
lowers(operator.is_not)(lambda ctx, a, b, /: ctx.negated(ctx.identical(a, b, ctx.node), ctx.node))
lowers(pow)(lambda ctx, base, exp: ctx.binary(operator.pow, base, exp, ctx.node))


@lowers(divmod)
def _divmod(ctx: Ctx, x: Val, y: Val, /) -> Val:
    made = object_operator(ctx, "divmod", x, y, ctx.node) if is_object(x) or is_object(y) else NotImplemented
    if made is not NotImplemented:
        return made
    return Seq((ctx.binary(operator.floordiv, x, y, ctx.node), ctx.binary(operator.mod, x, y, ctx.node)))


# --- containers ---------------------------------------------------------------------------------------------------


@lowers(range)
def _range(ctx: Ctx, start: Val, stop: Val = MISSING, step: Val = 1, /) -> Val:
    start, stop, step = [x if x is MISSING else _integer(ctx, x) for x in (start, stop, step)]
    if stop is MISSING:
        return RangeOf(0, start, 1)
    if step == 0 and is_static_int(step):
        ctx.raises(ValueError, "range() arg 3 must not be zero", ctx.node)
    return RangeOf(start, stop, step)


def _integer(ctx: Ctx, av: Val) -> Val:
    x = ctx.operand(av, ctx.node)
    t = type_of(x)
    if not (t.dtype is not None and t.dtype.kind in "iub") and not (t.kind in ("any", "scalar") and t.dtype is None):
        ctx.fail(f"{describe(av)} cannot be interpreted as an integer", ctx.node, "", ArgumentError)
    if type(x) is Value and t.kind != "py":
        return ctx.emit(ctx.node, _index(), x) if t.kind in ("any", "array") or t.dtype is None else x
    return int(x) if isinstance(x, bool) else x


def _index() -> Any:
    """``operator.index`` as a primitive: an int of what may be one."""
    prim = opaque(operator.index, "operator.index")
    prim.infer = lambda b, a, k: py_int()
    return prim


@lowers(operator.index)
def _as_index(ctx: Ctx, a: Val, /) -> Val:
    if is_constant(a):
        return ctx.folded(operator.index, [a], {}, ctx.node)
    return ctx.call_unknown(operator.index, [a], {}, ctx.node)


@lowers(len)
def _len(ctx: Ctx, obj: Val, /) -> Val:
    return ctx.length(obj, ctx.node)


@lowers(list)
def _list(ctx: Ctx, iterable: Val = MISSING, /) -> Val:
    return ctx.new_list([]) if iterable is MISSING else ctx.as_list(iterable, ctx.node)


@lowers(tuple)
def _tuple(ctx: Ctx, iterable: Val = MISSING, /) -> Val:
    if iterable is MISSING:
        return Seq(())
    if type(iterable) is Value and iterable.type.kind == "shape":
        return iterable
    what = "tuple() of something whose length is known at run time only"
    return Seq(tuple(ctx.static_items(iterable, ctx.node, what, "use a list")))


@lowers(dict)
def _dict(ctx: Ctx, entries: Val = MISSING, /, **kwargs: Val) -> Val:
    return ctx.new_dict({**({} if entries is MISSING else ctx.entries_of(entries, ctx.node)), **kwargs})


@lowers(slice)
def _slice(ctx: Ctx, start: Val, stop: Val = MISSING, step: Val = None, /) -> Val:
    return SliceOf(None, start, None) if stop is MISSING else SliceOf(start, stop, step)


# --- numbers ------------------------------------------------------------------------------------------------------


@lowers(abs, round, complex)
def _number(ctx: Ctx, /, *args: Val, **kwargs: Val) -> Val:
    fn = ctx.callee
    if all(is_constant(a) for a in args) and not kwargs:
        try:
            return fn(*args)
        except (ValueError, TypeError, OverflowError, ZeroDivisionError):
            pass
    if args and (type(args[0]) is Instance or type(args[0]) is Obj):
        method = ctx.type_attribute(args[0], f"__{fn.__name__}__")
        if method is not None:
            return ctx.call(method, list(args), {}, ctx.node)
    return ctx.call_prim(PRIMS[fn], list(args), kwargs, ctx.node)


@lowers(float, int)
def _float_or_int(ctx: Ctx, x: Val = 0, /, *args: Val, **kwargs: Val) -> Val:
    if type(x) is Value and str(x.type) == ctx.callee.__name__:
        return x
    return _number(ctx, x, *args, **kwargs)


@lowers(bool, operator.truth)
def _bool(ctx: Ctx, x: Val = MISSING, /) -> Val:
    flag = proved("constants", False) if x is MISSING else ctx.truth(x, ctx.node)
    if type(flag) is Value and flag.type.kind != "py":
        return ctx.emit(ctx.node, TRUTH, flag)  # NumPy's bool is another object
    return flag


# --- text ---------------------------------------------------------------------------------------------------------


@lowers(print)
def _print(ctx: Ctx, /, *args: Val, **kwargs: Val) -> None:
    shown = [ctx.plain(a, ctx.node) for a in args]
    ctx.emit(ctx.node, PRINT, *shown, **{k: ctx.plain(v, ctx.node) for k, v in kwargs.items()})


@lowers(format)
def _format(ctx: Ctx, value: Val, format_spec: Val = "", /) -> Val:
    node = ctx.node
    if is_constant(value) and isinstance(format_spec, str):
        return format(value, format_spec)
    if is_object(value):
        made = ctx.call_special(value, "__format__", [format_spec], node)
        if made is not NotImplemented:
            if is_constant(made) and not isinstance(made, str):
                ctx.raises(TypeError, f"__format__ must return a str, not {type(made).__name__}", node)
            return made
        if class_lookup(ctx.cls_of(value), "__format__") is object.__format__:
            if isinstance(format_spec, str) and not format_spec:
                return ctx.call(Obj(str, None), [value], {}, node)
            name = ctx.cls_of(value).__name__
            ctx.raises(TypeError, f"unsupported format string passed to {name}.__format__", node)
    shown = ctx.live_operand(value, node) if type(value) is Obj else ctx.plain(value, node)
    return text_by(ctx, format, "format", [shown, ctx.plain(format_spec, node)], {}, node)


@lowers(str, repr)
def _text(ctx: Ctx, /, *args: Val, **kwargs: Val) -> Val:
    fn, node = ctx.callee, ctx.node
    if kwargs:
        ctx.fail(f"{fn.__name__}() with keyword arguments", node, "leave them out", ArgumentError)
    if all(is_constant(a) for a in args):
        return fn(*args)
    if is_object(args[0]) and len(args) == 1:
        for name in ("__str__", "__repr__")[fn is repr :]:
            made = ctx.call_special(args[0], name, [], node)
            if made is not NotImplemented:
                return made
        if type(args[0]) is Instance:
            ctx.fail(f"{fn.__name__}() of {describe(args[0])}", node, "write __repr__")
    if len(args) == 1 and type(args[0]) is Obj and _shown_by_name(args[0].obj):
        module, name = (ctx.attribute(args[0], k, node) for k in ("__module__", "__qualname__"))
        return f"<class '{name}'>" if module == "builtins" else f"<class '{module}.{name}'>"
    return text_by(ctx, fn, fn.__name__, [ctx.plain(a, node) for a in args], {}, node)


def _shown_by_name(obj: Any) -> bool:
    """A class, of which `type` itself gives the text."""
    kind: Any = type(obj)
    if not isinstance(obj, type) or kind.__repr__ is not type.__repr__ or kind.__str__ is not object.__str__:
        return False
    return isinstance(obj.__module__, str)


# --- functions ----------------------------------------------------------------------------------------------------


@lowers(functools.partial)
def _partial(ctx: Ctx, func: Val, /, *args: Val, **kwargs: Val) -> Val:
    return Partial(func, args, tuple(kwargs), tuple(kwargs.values()))


@lowers(open)
def _open(ctx: Ctx, /, *args: Val, **kwargs: Val) -> Val:
    if ctx.plan.watch is None:  # what is in it is observed
        remedy = "read the file before, outside of the function, and pass what is in it"
        ctx.fail("open() is not supported", ctx.node, remedy)
    return ctx.call_unknown(open, list(args), kwargs, ctx.node)
