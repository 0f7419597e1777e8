"""Sets and deques: how they are made, and their methods."""

from __future__ import annotations

import collections
import functools
import operator

from ..avals import Instance, ListRef, SliceOf, is_static_int, key_av
from ..containers import SET_OPERATORS
from ..folds import proved
from ..handlers import Ctx, Val, lowers
from ..sets import is_set

# --- sets ---------------------------------------------------------------------------------------------------------


@lowers(set, frozenset)
def _set(ctx: Ctx, *iterable: Val) -> Val:
    cls = ctx.callee
    if cls is frozenset and iterable and is_set(iterable[0]) and iterable[0].cls is frozenset:
        return iterable[0]
    return ctx.built_set(cls, *[ctx.operand_of_set(x, ctx.node) for x in iterable], cls=cls)


@lowers(set.issubset, frozenset.issubset, set.issuperset, frozenset.issuperset)
def _compared(ctx: Ctx, self: Instance, other: Val, /) -> bool:
    compare = operator.le if ctx.callee.__name__ == "issubset" else operator.ge
    return proved("members", bool(compare(ctx.set_of(self, ctx.node), ctx.set_of(other, ctx.node))))


@lowers(set.isdisjoint, frozenset.isdisjoint)
def _isdisjoint(ctx: Ctx, self: Instance, other: Val, /) -> bool:
    return proved("members", ctx.set_of(self, ctx.node).isdisjoint(ctx.set_of(other, ctx.node)))


@lowers(set.copy, frozenset.copy)
def _copy(ctx: Ctx, self: Instance, /) -> Instance:
    return self if self.cls is frozenset else ctx.built_set(set.copy, ctx.history(self, ctx.node))


@lowers(*[getattr(cls, name) for cls in (set, frozenset) for name in SET_OPERATORS])
def _combined(ctx: Ctx, self: Instance, /, *others: Val) -> Instance:
    ctx.set_of(self, ctx.node)
    parts = [ctx.operand_of_set(other, ctx.node) for other in others]
    return ctx.built_set(ctx.callee, ctx.history(self, ctx.node), *parts, cls=self.cls)


@lowers(set.update, set.intersection_update, set.difference_update, set.symmetric_difference_update)
def _updated(ctx: Ctx, self: Instance, /, *others: Val) -> None:
    ctx.set_of(self, ctx.node)
    parts = [
        ctx.not_reading({self.cell}, other, functools.partial(ctx.operand_of_set, other, ctx.node), ctx.node)
        for other in others
    ]
    ctx.replace_set(self, ctx.callee, *parts, node=ctx.node)


@lowers(set.clear)
def _clear(ctx: Ctx, self: Instance, /) -> None:
    ctx.set_of(self, ctx.node)
    ctx.replace_set(self, set.clear, node=ctx.node)


@lowers(set.pop)
def _pop(ctx: Ctx, self: Instance, /) -> Val:
    if not ctx.set_of(self, ctx.node):
        ctx.raises(KeyError, "pop from an empty set", ctx.node)
    ctx.in_order(self, ctx.node)  # which is first depends on it
    return key_av(ctx.replace_set(self, set.pop, node=ctx.node))


@lowers(set.add, set.discard, set.remove)
def _changed(ctx: Ctx, self: Instance, item: Val, /) -> None:
    members = ctx.set_of(self, ctx.node)
    key = ctx.static_key(item, ctx.node, "a member of a set")
    if ctx.callee is set.remove and key not in members:
        ctx.raises(KeyError, key, ctx.node, f"the set has no member {key!r}")
    if (key in members) != (ctx.callee is set.add):
        ctx.replace_set(self, ctx.callee, key, node=ctx.node)


# --- deques -------------------------------------------------------------------------------------------------------

_DEQUE = collections.deque


@lowers(_DEQUE)
def _deque(ctx: Ctx, iterable: Val = None, maxlen: Val = None) -> Instance:
    made = ctx.new_collection(_DEQUE, items=ctx.new_list([]), maxlen=maxlen)
    if iterable is not None:
        _grow(ctx, made, iterable)
    return made


@lowers(_DEQUE.append, _DEQUE.appendleft)
def _append(ctx: Ctx, self: Instance, item: Val, /) -> None:
    _put(ctx, self, item, ctx.callee is _DEQUE.appendleft)


@lowers(_DEQUE.extend)
def _grow(ctx: Ctx, self: Instance, iterable: Val, /) -> None:
    inner, most = ctx.checked(self.cell, ctx.node).items
    if most is None:
        ctx.extend(inner, iterable, ctx.node)
        return
    ctx.push(iterable, lambda item: _put(ctx, self, item, False), ctx.node)


@lowers(_DEQUE.extendleft)
def _extendleft(ctx: Ctx, self: Instance, iterable: Val, /) -> None:
    ctx.push(iterable, lambda item: _put(ctx, self, item, True), ctx.node)


def _put(ctx: Ctx, av: Instance, item: Val, left: bool) -> None:
    """Add an item at one end, and drop one at the other if there is no room."""
    inner, most = ctx.checked(av.cell, ctx.node).items
    if left:
        ctx.call_method(inner, "insert", [0, item], {}, ctx.node)
    else:
        ctx.list_append(inner, item, ctx.node)
    if most is None:
        return
    node, last = ctx.node, -1 if left else 0
    n = ctx.length(inner, node)
    if is_static_int(n) and is_static_int(most):
        if n > most:
            ctx.list_pop(inner, last, node)
        return
    full = ctx.truth(ctx.compare_with(operator.gt, n, most, node), node)

    def drop() -> None:
        ctx.list_pop(inner, last, node)

    ctx.branch(full, drop, lambda: None, node)


@lowers(_DEQUE.popleft)
def _popleft(ctx: Ctx, self: Instance, /) -> Val:
    return ctx.list_pop(_items(ctx, self), 0, ctx.node)


def _items(ctx: Ctx, av: Instance) -> ListRef:
    found: ListRef = ctx.checked(av.cell, ctx.node).items[0]
    return found


@lowers(_DEQUE.rotate)
def _rotate(ctx: Ctx, self: Instance, steps: Val = 1, /) -> None:
    inner, node = _items(ctx, self), ctx.node
    n = ctx.length(inner, node)
    if not (is_static_int(steps) and is_static_int(n)):
        message = "deque.rotate() by a number, or of a deque, known at run time only"
        ctx.fail(message, node, "use popleft and append")
    if n:
        cut = -steps % n
        parts = [SliceOf(cut, None, None), SliceOf(None, cut, None)]
        ctx.replace_list(inner, ctx.concatenated([ctx.list_slice(inner, p, node) for p in parts], node), node)


@lowers(_DEQUE.copy)
def _copy_deque(ctx: Ctx, self: Instance, /) -> Instance:
    inner, most = ctx.checked(self.cell, ctx.node).items
    return ctx.new_collection(_DEQUE, items=ctx.as_list(inner, ctx.node), maxlen=most)


@lowers(*[getattr(_DEQUE, name) for name in ("pop", "clear", "reverse", "index", "count", "remove", "insert")])
def _as_of_list(ctx: Ctx, self: Instance, /, *args: Val) -> Val:
    return ctx.call_method(_items(ctx, self), ctx.callee.__name__, list(args), {}, ctx.node)
