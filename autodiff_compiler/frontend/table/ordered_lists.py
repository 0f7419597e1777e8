"""The functions of `bisect` and `heapq`."""

from __future__ import annotations

import bisect
import heapq
from typing import Any

from ..avals import Obj
from ..handlers import Ctx, Val, lowers
from ..library import ordered_lists as library


def _inlined(ctx: Ctx, definition: Any, *args: Val) -> Val:
    return ctx.inline_function(Obj(definition), list(args), {}, ctx.node)


@lowers(bisect.bisect_right, bisect.bisect_left)
def _bisect(ctx: Ctx, a: Val, x: Val, lo: Val = 0, hi: Val = None, *, key: Val = None) -> Val:
    after = ctx.callee is bisect.bisect_right
    return _inlined(ctx, library.place_after if after else library.place_before, a, x, lo, hi, key)


@lowers(bisect.insort_right, bisect.insort_left)
def _insort(ctx: Ctx, a: Val, x: Val, lo: Val = 0, hi: Val = None, *, key: Val = None) -> None:
    sought = x if key is None else ctx.call(key, [x], {}, ctx.node)
    after = ctx.callee is bisect.insort_right
    place = _inlined(ctx, library.place_after if after else library.place_before, a, sought, lo, hi, key)
    ctx.call_method(a, "insert", [place, x], {}, ctx.node)


@lowers(heapq.heappush)
def _heappush(ctx: Ctx, heap: Val, item: Val, /) -> None:
    _inlined(ctx, library.heappush, heap, item)


@lowers(heapq.heappop)
def _heappop(ctx: Ctx, heap: Val, /) -> Val:
    return _inlined(ctx, library.heappop, heap)


@lowers(heapq.heapreplace, heapq.heappushpop)
def _replaced(ctx: Ctx, heap: Val, item: Val, /) -> Val:
    definition = library.heapreplace if ctx.callee is heapq.heapreplace else library.heappushpop
    return _inlined(ctx, definition, heap, item)


@lowers(heapq.heapify)
def _heapify(ctx: Ctx, heap: Val, /) -> None:
    _inlined(ctx, library.heapify, heap)


@lowers(heapq.nsmallest, heapq.nlargest)
def _smallest(ctx: Ctx, n: Val, iterable: Val, key: Val = None) -> Val:
    return _inlined(ctx, library.smallest, n, iterable, key, ctx.callee is heapq.nlargest)
