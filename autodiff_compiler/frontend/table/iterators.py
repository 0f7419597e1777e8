"""The functions of `itertools`."""

from __future__ import annotations

import itertools
import operator
from typing import Any

from ...ir.core import Value
from ...ir.opset import INDEX_TABLE
from ...tree import class_lookup
from ..avals import (
    MISSING,
    Bound,
    IndexedOf,
    Instance,
    ListRef,
    Obj,
    RangeOf,
    Ref,
    Seq,
    StreamOf,
    is_number,
    is_static_int,
)
from ..handlers import Ctx, Val, lowers

UNROLLED_ROWS = 64  # more rows of product() and the like are looked up at run time


def _rows(ctx: Ctx, fn: Any, iterables: list[Val], r: int) -> Instance:
    """What product, combinations and permutations of some lists give."""
    node, is_product = ctx.node, fn is itertools.product
    its = [ctx.iterable(x, node) for x in iterables]
    lists = [ctx.iterated(x, node) for x in its]
    if all(x is not None for x in lists):
        extra = () if is_product else (r,)
        rows = list(itertools.islice(fn(*lists, *extra), UNROLLED_ROWS + 1))
        kinds = {type(x) in (Value, Ref) or is_number(x) for items in lists for x in items or ()}
        if len(rows) <= UNROLLED_ROWS or kinds != {True}:
            rows = rows if len(rows) <= UNROLLED_ROWS else list(fn(*lists, *extra))
            return ctx.one_shot(Seq(tuple([Seq(tuple(row)) for row in rows])))
    its = [x if type(x) in (RangeOf, Ref, ListRef, Seq) else ctx.as_list(x, node) for x in its]
    lengths = [ctx.operand(ctx.iter_length(x, node), node) for x in its]
    table = ctx.fresh(ctx.emit(node, INDEX_TABLE, fn.__name__, r, *lengths))
    return ctx.one_shot(IndexedOf("table", (table, *(its if is_product else its * r))))


@lowers(itertools.product)
def _product(ctx: Ctx, /, *iterables: Val, repeat: Val = 1) -> Instance:
    if not is_static_int(repeat):
        ctx.fail("itertools.product() with repeat= known at run time only", ctx.node, "write nested loops")
    its = [ctx.as_list(a, ctx.node) if type(a) is Instance else a for a in iterables] * repeat
    return _rows(ctx, itertools.product, its, len(its))


@lowers(itertools.permutations, itertools.combinations, itertools.combinations_with_replacement)
def _chosen(ctx: Ctx, iterable: Val, r: Val = None) -> Instance:
    fn = ctx.callee
    if r is None and fn is itertools.permutations:
        r = ctx.length(iterable, ctx.node)
    if not is_static_int(r):
        message = f"itertools.{fn.__name__}() of a number of items known at run time only"
        ctx.fail(message, ctx.node, "give the number")
    return _rows(ctx, fn, [iterable], r)


@lowers(itertools.chain)
def _chain(ctx: Ctx, /, *iterables: Val) -> Instance:
    return ctx.one_shot(StreamOf("chain", (ctx.one_shot(Seq(iterables)), None)))


@lowers(class_lookup(itertools.chain, "from_iterable"))
def _from_iterable(ctx: Ctx, iterable: Val, /) -> Instance:
    return ctx.one_shot(StreamOf("chain", (ctx.iter_of(iterable, ctx.node), None)))


@lowers(itertools.accumulate)
def _accumulate(ctx: Ctx, iterable: Val, func: Val = None, *, initial: Val = None) -> Instance:
    begin = Seq(() if initial is None else (initial,))
    return ctx.one_shot(StreamOf("accumulate", (ctx.iter_of(iterable, ctx.node), func, Seq(()), begin)))


@lowers(itertools.pairwise)
def _pairwise(ctx: Ctx, iterable: Val, /) -> Instance:
    return ctx.one_shot(StreamOf("pairwise", (ctx.iter_of(iterable, ctx.node), Seq(()))))


@lowers(itertools.starmap)
def _starmap(ctx: Ctx, function: Val, iterable: Val, /) -> Instance:
    return ctx.one_shot(StreamOf("starmap", (function, ctx.iter_of(iterable, ctx.node))))


@lowers(itertools.repeat)
def _repeat(ctx: Ctx, object: Val, times: Val = MISSING) -> Instance:
    return ctx.one_shot(IndexedOf("repeat", (object,) if times is MISSING else (object, times)))


@lowers(itertools.count)
def _count(ctx: Ctx, start: Val = 0, step: Val = 1) -> Instance:
    return ctx.one_shot(IndexedOf("count", (start, step)))


@lowers(itertools.cycle)
def _cycle(ctx: Ctx, iterable: Val, /) -> Instance:
    it = ctx.iter_of(iterable, ctx.node)
    if ctx.is_inert(it, ctx.node):  # its items now are those that it will give
        return ctx.one_shot(IndexedOf("cycle", (ctx.as_list(it, ctx.node),)))
    return ctx.one_shot(StreamOf("cycle", (it, Seq(()), None)))


@lowers(itertools.islice)
def _islice(ctx: Ctx, iterable: Val, stop: Val, /, *bounds: Val) -> Instance:
    start: Val = 0
    step: Val = 1
    if bounds:
        start, stop, step = [stop, *bounds, None][:3]
    start, step = 0 if start is None else start, 1 if step is None else step
    start, stop, step = [
        ctx.call(Obj(operator.index, None), [x], {}, ctx.node) if type(x) is Obj else x for x in (start, stop, step)
    ]
    if not (is_static_int(start) and is_static_int(step)):
        ctx.fail("itertools.islice() with a start or step known at run time only", ctx.node, "use an array")
    return ctx.one_shot(StreamOf("islice", (ctx.iter_of(iterable, ctx.node), 0, start, stop, step)))


@lowers(itertools.zip_longest)
def _zip_longest(ctx: Ctx, /, *iterables: Val, fillvalue: Val = None) -> Instance:
    its = Seq(tuple([ctx.iter_of(a, ctx.node) for a in iterables]))
    return ctx.one_shot(StreamOf("longest", (its, fillvalue)))


@lowers(itertools.filterfalse)
def _filterfalse(ctx: Ctx, function: Val, iterable: Val, /) -> Instance:
    return ctx.one_shot(StreamOf("filter", (ctx.iter_of(iterable, ctx.node), function, False)))


@lowers(itertools.compress)
def _compress(ctx: Ctx, data: Val, selectors: Val) -> Instance:
    rows = ctx.one_shot(StreamOf("zip", (ctx.iter_of(data, ctx.node), ctx.iter_of(selectors, ctx.node))))
    chosen = ctx.one_shot(StreamOf("filter", (rows, _item(1), True)))
    return ctx.mapped(_item(0), chosen, node=ctx.node)


def _item(k: int) -> Bound:
    """``operator.itemgetter(k)``."""
    return Bound("@itemgetter", Seq((k,)))


@lowers(itertools.takewhile, itertools.dropwhile)
def _while_true(ctx: Ctx, predicate: Val, iterable: Val, /) -> Instance:
    return ctx.one_shot(StreamOf(ctx.callee.__name__, (ctx.iter_of(iterable, ctx.node), predicate, False)))


@lowers(itertools.tee)
def _tee(ctx: Ctx, iterable: Val, n: Val = 2, /) -> Seq:
    if not is_static_int(n):
        ctx.fail("itertools.tee() of a number known at run time only", ctx.node, "give the number")
    it = ctx.iter_of(iterable, ctx.node)
    waiting = Seq(tuple([ctx.new_list([]) for _ in range(n)]))
    return Seq(tuple([ctx.one_shot(StreamOf("tee", (it, w, waiting))) for w in waiting.items]))


@lowers(itertools.groupby)
def _groupby(ctx: Ctx, iterable: Val, key: Val = None) -> Instance:
    return ctx.one_shot(StreamOf("groupby", (ctx.iter_of(iterable, ctx.node), key, ctx.new_list([]))))


@lowers(*[getattr(itertools, name) for name in ("batched",) if hasattr(itertools, name)])
def _refused(ctx: Ctx, /, *args: Val, **kwargs: Val) -> Val:
    ctx.fail(f"itertools.{ctx.callee.__name__}() is not supported", ctx.node, "write the loop")
