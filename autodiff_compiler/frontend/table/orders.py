"""Orders: `sorted`, `min` and `max`."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

from ...errors import ArgumentError
from ...ir.core import Value
from ...ir.opset import PRIMS
from ...kernels import place_of_max, place_of_min
from ..avals import MISSING, Obj, Ref, Seq, is_iterator, is_static_int
from ..causes import prefer_known
from ..handlers import Ctx, Val, lowers


@lowers(sorted)
def _sorted(ctx: Ctx, iterable: Val, /, *, key: Val = None, reverse: Val = False) -> Val:
    if ctx.is_observed(iterable) and key is None:
        return ctx.call_unknown(sorted, [iterable], {"reverse": reverse}, ctx.node)
    return ctx.ordered(iterable, key, reverse, ctx.node)


@lowers(min, max)
def _extreme(ctx: Ctx, arg: Val, /, *args: Val, key: Val = None, default: Val = MISSING) -> Val:
    fn, node = ctx.callee, ctx.node
    name = fn.__name__
    if args and default is not MISSING:
        ctx.fail(f"{name}() with a default and several arguments", node, "", ArgumentError)
    found: list[Val] = [arg, *args]
    if args:
        keys = _with_keys(ctx, Seq(tuple(found)), key)[1]
    else:
        it, keys = _with_keys(ctx, ctx.unordered(arg, key, node), key)
        items = ctx.iterated(it, node)
        if items is None:
            return _extreme_item(ctx, fn, it, keys, default)
        if not items:
            if default is not MISSING:
                return default
            ctx.raises(ValueError, f"{name}() arg is an empty sequence", node)
        found = items
    known = [ctx.static_sort_key(k) for k in ctx.iterated(keys, node) or ()]
    if all(k is not NotImplemented for k in known):
        return found[known.index(ctx.folded(fn, [known], {}, node))] if len(found) > 1 else found[0]
    if len(found) == 1:
        return found[0]
    if key is not None:
        return _extreme_item(ctx, fn, Seq(tuple(found)), keys, MISSING)
    for a in found:
        if type(a) is Value and a.type.kind == "any":
            prefer_known(ctx, a, unroll=True)
        if type(a) is Ref and ctx.read(a, node).type.ndim is None:
            return _chosen(ctx, fn, found)
        if type(a) is Ref and ctx.read(a, node).type.ndim != 0:
            message = f"{name}() of arrays, whose truth is ambiguous"
            ctx.fail(message, node, f"use np.{name}imum", ArgumentError, cause=a)
    # The same number a second time changes nothing.
    twice = [any(a is b for b in found[:k]) and type(a) is Value and a.type.is_scalar for k, a in enumerate(found)]
    found = [a for a, again in zip(found, twice) if not again]
    return ctx.call_prim(PRIMS[fn], found, {}, node) if len(found) > 1 else found[0]


def _chosen(ctx: Ctx, fn: Any, found: list[Val]) -> Val:
    """Each is compared with the best so far: an array of several elements raises when the program runs."""
    best, node = found[0], ctx.node
    for a in found[1:]:
        better = ctx.truth(ctx.compare_with(operator.lt if fn is min else operator.gt, a, best, node), node)
        best = ctx.branch(better, partial(_itself, a), partial(_itself, best), node)
    return best


def _itself(av: Val) -> Val:
    return av


def _with_keys(ctx: Ctx, av: Val, key: Val) -> tuple[Val, Val]:
    """All items of an iterable, and their keys; `key` is called when there is the item."""
    node = ctx.node
    if key is None or not is_iterator(av):
        it = ctx.listed_items(av, node)
        return it, ctx.keys_for(it, key, node)
    items, keys = ctx.new_list([]), ctx.new_list([])

    def one(item: Val) -> None:
        ctx.list_append(items, item, node)
        ctx.list_append(keys, ctx.call(key, [item], {}, node), node)

    ctx.push(av, one, node)
    return items, keys


def _extreme_item(ctx: Ctx, fn: Any, it: Val, keys: Val, default: Val) -> Val:
    """The first item with the largest or smallest key."""
    node = ctx.node

    def pick() -> Val:
        array = ctx.key_array(keys, node)
        place = ctx.call(Obj(place_of_max if fn is max else place_of_min, None), [array], {}, node)
        return ctx.subscript(it, place, node)

    n = ctx.iter_length(it, node)
    if is_static_int(n):
        return pick()
    some = ctx.truth(ctx.compare_with(operator.gt, n, 0, node), node)
    if default is not MISSING:
        return ctx.branch(some, pick, lambda: default, node)
    ctx.raise_unless(some, ValueError, f"{fn.__name__}() arg is an empty sequence", node)
    return pick()
