"""What goes through iterables: `iter`, `next`, `map`, `zip`, `sum`, `any`, `functools.reduce`."""

from __future__ import annotations

import ast
import functools
import math
import operator
import sys
from collections.abc import Callable

import numpy as np

from ... import runtime
from ...errors import ArgumentError
from ...ir.core import Value, type_of
from ...ir.opset import PRIMS
from ..avals import (
    MISSING,
    DictRef,
    IndexedOf,
    Instance,
    ListRef,
    Obj,
    Ref,
    ReversedOf,
    Seq,
    StreamOf,
    ViewOf,
    describe,
    is_collection,
    is_iterator,
)
from ..handlers import Ctx, Val, lowers
from ..library.iterables import all_of, any_of, first_of, first_or, sum_of
from ..plan import SUMMED, Action
from ..pulls import Stops
from ..sets import is_set

# --- iter and next ------------------------------------------------------------------------------------------------


@lowers(iter)
def _iter(ctx: Ctx, obj: Val, sentinel: Val = MISSING, /) -> Val:
    if sentinel is not MISSING:
        return ctx.one_shot(StreamOf("called", (obj, sentinel)))
    return ctx.iterator(obj, ctx.node)


@lowers(next)
def _next(ctx: Ctx, it: Val, default: Val = MISSING, /) -> Val:
    if ctx.is_observed(it):
        return ctx.call_unknown(next, [it] if default is MISSING else [it, default], {}, ctx.node)
    if not is_iterator(it) and not (type(it) is Instance and ctx.type_attribute(it, "__next__") is not None):
        ctx.fail(f"{describe(it)} is not an iterator", ctx.node, "use iter()", ArgumentError)
    if is_iterator(it) and ctx.count(it, ctx.node) is None and ctx.searches(it):
        first, given = (first_of, [it]) if default is MISSING else (first_or, [it, default])
        return ctx.inline_function(Obj(first, None), given, {}, ctx.node)
    ended: Callable[[], Val] = (lambda: default) if default is not MISSING else Stops(ctx, ctx.node)
    return ctx.pull(it, lambda item: item, ended, ctx.node)


# --- iterators of iterators ---------------------------------------------------------------------------------------


@lowers(enumerate)
def _enumerate(ctx: Ctx, iterable: Val, start: Val = 0) -> Instance:
    start = ctx.call(Obj(operator.index, None), [start], {}, ctx.node) if type(start) is Obj else start
    numbers = ctx.one_shot(IndexedOf("count", (start, 1)))
    return ctx.one_shot(StreamOf("enumerate", (numbers, ctx.iter_of(iterable, ctx.node))))


@lowers(zip)
def _zip(ctx: Ctx, /, *iterables: Val, strict: Val = False) -> Instance:
    if not isinstance(strict, bool):
        ctx.fail("zip() with strict= known at run time only", ctx.node, "write True or False", ArgumentError)
    its = tuple([ctx.iter_of(a, ctx.node) for a in iterables])
    return ctx.one_shot(StreamOf("strict" if strict and its else "zip", its))


@lowers(map)
def _map(ctx: Ctx, function: Val, iterable: Val, /, *iterables: Val) -> Instance:
    return ctx.mapped(function, iterable, *iterables, node=ctx.node)


@lowers(filter)
def _filter(ctx: Ctx, function: Val, iterable: Val, /) -> Instance:
    return ctx.one_shot(StreamOf("filter", (ctx.iter_of(iterable, ctx.node), function, True)))


@lowers(reversed)
def _reversed(ctx: Ctx, sequence: Val, /) -> Val:
    node = ctx.node
    av = ctx.underlying(sequence, node, "__reversed__")
    if type(av) is Seq and av is not sequence:  # a tuple has no method of its own for that
        av = ctx.underlying(sequence, node, "__getitem__", "__len__")
    if is_set(av):
        ctx.raises(TypeError, f"{av.cls.__name__!r} object is not reversible", node)
    if type(av) in (Instance, Obj) and not is_collection(av):
        method = ctx.type_attribute(av, "__reversed__")
        if method is not None:
            return ctx.call(method, [av], {}, node)
    if is_iterator(av):
        ctx.raises(TypeError, f"{describe(av)} is not reversible", node)
    it = ViewOf(av, "keys") if type(av) is DictRef else ctx.inner(av, node) if is_collection(av) else av
    items = ctx.iterated(it, node) if type(it) in (ViewOf, ListRef) else None
    return ctx.one_shot(ReversedOf(it, None if items is None else len(items), len(ctx.resized)))


# --- one value from all items -------------------------------------------------------------------------------------


@lowers(functools.reduce)
def _reduce(ctx: Ctx, function: Val, iterable: Val, initial: Val = MISSING, /) -> Val:
    node = ctx.node
    ahead: list[Val] = []
    if initial is MISSING:
        some, first, iterable, ahead = ctx.begun(iterable, node)
        empty = "reduce() of empty iterable with no initial value"
        if some is False:
            ctx.raises(TypeError, empty, node)
        ctx.raise_unless(some, TypeError, empty, node)
        initial = first()
    made = ctx.carried("reduce", initial, iterable, lambda a, x: ctx.call(function, [a, x], {}, node), node)
    ctx.check_ahead(ahead, node)
    return made


@lowers(sum)
def _sum(ctx: Ctx, iterable: Val, /, start: Val = 0) -> Val:
    node = ctx.node
    if isinstance(start, str):
        ctx.fail("sum() can't sum strings", node, "use ''.join(...)", ArgumentError)
    if ctx.loc_of(node) in ctx.plan.apart:
        return ctx.call(Obj(sum_of, None), [iterable, start], {}, node)
    if not COMPENSATES:
        return ctx.carried("sum", start, iterable, lambda a, x: ctx.binary(operator.add, a, x, node), node)
    if ctx.plan.has(SUMMED, node):
        iterable = ctx.as_list(iterable, node)
        if ctx.iterated(iterable, node) is None and _are_floats(ctx, iterable, start, node):
            array = ctx.call(Obj(np.array, None), [iterable, Obj(float)], {}, node)
            return ctx.call_prim(PRIMS[runtime.sum_floats], [start, array], {}, node)
    region, items = ctx.builder.region, []

    def step(a: Val, x: Val) -> Val:
        if ctx.builder.region is region:
            items.append(x)
        elif _may_be_float(a) and _may_be_float(x):
            ctx.plan.require([Action(SUMMED, node)], None)
        return ctx.binary(operator.add, a, x, node)

    total = ctx.carried("sum", start, iterable, step, node)
    if sum(map(_may_be_float, [start, *items])) < 3 or not all(map(_is_number, [start, *items])):
        return total
    return ctx.call_prim(PRIMS[runtime.sum_numbers], [start, *items], {}, node)


# `sum` of three floats of Python's or more is not that of additions: it compensates what they round off.
COMPENSATES = sys.version_info >= (3, 12)


def _is_number(av: Val) -> bool:
    return type(av) in (int, float, bool) or (type(av) is Value and av.type.is_scalar)


def _may_be_float(av: Val) -> bool:
    """A float of Python's, perhaps."""
    if type(av) is not Value:
        return type(av) is float
    t = av.type
    return t.kind in ("py", "scalar") and (t.is_float or t.dtype is None)


def _are_floats(ctx: Ctx, av: Val, start: Val, node: ast.AST) -> bool:
    """A list of Python's floats."""
    t = type_of(ctx.operand(av, node))
    floats = t.elem is not None and t.elem.kind == "py" and t.elem.is_float
    return floats and (type(start) in (int, float) or (type(start) is Value and start.type.kind == "py"))


@lowers(any, all)
def _quantified(ctx: Ctx, iterable: Val, /) -> Val:
    every, node = ctx.callee is all, ctx.node
    if type(iterable) is Ref:
        x = ctx.read(iterable, node)
        if x.type.kind == "array" and x.type.ndim == 1:
            return ctx.truth(ctx.call(Obj(np.all if every else np.any, None), [iterable], {}, node), node)
    search = Obj(all_of if every else any_of, None)
    return ctx.found(iterable, lambda item: item, every, search, node)


@lowers(math.prod)
def _prod(ctx: Ctx, iterable: Val, /, *, start: Val = 1) -> Val:
    node = ctx.node
    return ctx.carried("prod", start, iterable, lambda a, x: ctx.binary(operator.mul, a, x, node), node)


@lowers(math.fsum)
def _fsum(ctx: Ctx, seq: Val, /) -> Val:
    it = ctx.iterable(seq, ctx.node)
    if type(it) is not Ref:
        it = ctx.call(Obj(np.array, None), [ctx.as_list(it, ctx.node), Obj(float)], {}, ctx.node)
    return ctx.call_prim(PRIMS[math.fsum], [it], {}, ctx.node)


@lowers(*[getattr(math, name) for name in ("sumprod",) if hasattr(math, name)])
def _sumprod(ctx: Ctx, p: Val, q: Val, /) -> Val:
    node = ctx.node
    first, second = ([] if is_iterator(x) else ctx.iterated(ctx.iterable(x, node), node) or [] for x in (p, q))
    numbers = [*first, *second]
    if first and len(first) == len(second) and all(map(_is_number, numbers)) and any(map(_may_be_float, numbers)):
        return ctx.call_prim(PRIMS[runtime.product_of_numbers], numbers, {}, node)
    return _sum(ctx, ctx.mapped(Obj(operator.mul, None), p, q, node=ctx.node))


@lowers(math.dist)
def _dist(ctx: Ctx, p: Val, q: Val, /) -> Val:
    node = ctx.node
    points = [ctx.iterable(a, node) for a in (p, q)]
    lists = [ctx.iterated(x, node) for x in points]
    known = [len(x) for x in lists if x is not None]
    if not known:
        arrays = [x if type(x) is Ref else ctx.call(Obj(np.array, None), [x], {}, node) for x in points]
        return ctx.call(Obj(np.linalg.norm, None), [ctx.binary(operator.sub, arrays[0], arrays[1], node)], {}, node)
    rows = [ctx.unpacked(x, known[0], node) for x in points]
    apart = [ctx.binary(operator.sub, a, b, node) for a, b in zip(*rows)]
    return ctx.call(Obj(math.hypot, None), apart, {}, node)


@lowers("statistics.fmean")
def _fmean(ctx: Ctx, data: Val) -> Val:
    items = ctx.as_list(data, ctx.node)
    return ctx.binary(operator.truediv, _fsum(ctx, items), ctx.length(items, ctx.node), ctx.node)


@lowers("statistics.mean")
def _mean(ctx: Ctx, data: Val) -> Val:
    items = ctx.as_list(data, ctx.node)
    known = ctx.iterated(items, ctx.node)
    if known and all(map(_is_number, known)) and not all(type(x) in (int, bool) for x in known):
        return ctx.call_prim(PRIMS[runtime.mean_of_numbers], known, {}, ctx.node)
    return ctx.binary(operator.truediv, _sum(ctx, items), ctx.length(items, ctx.node), ctx.node)
