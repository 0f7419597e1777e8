"""The methods of dictionaries, and of those with an order or a default."""

from __future__ import annotations

import collections
import operator
import sys
from typing import Any

from ...tree import class_lookup
from ..avals import MISSING, DictRef, Entries, Instance, Obj, Seq, ViewOf, is_collection, is_constant, key_av
from ..handlers import Ctx, Val, lowers


def _both(name: str) -> tuple[Any, Any]:
    """The method of a dictionary, and that of an ordered one."""
    return class_lookup(dict, name), class_lookup(collections.OrderedDict, name)


def _entries(ctx: Ctx, av: DictRef) -> dict[Any, Val]:
    content = ctx.checked(av.cell, ctx.node, "dictionary")
    return content.table  # type: ignore[no-any-return]


def _replace(ctx: Ctx, av: DictRef, entries: dict[Any, Val]) -> None:
    ctx.mutate(av.cell, Entries.of(entries), ctx.node)


@lowers(*_both("keys"), *_both("values"), *_both("items"))
def _view(ctx: Ctx, self: DictRef, /) -> ViewOf:
    ctx.checked(self.cell, ctx.node, "dictionary")
    return ViewOf(self, ctx.callee.__name__)


@lowers(*_both("copy"))
def _copy(ctx: Ctx, self: DictRef, /) -> DictRef:
    made = ctx.new_dict(_entries(ctx, self))
    if self.cell in ctx.cells.ordered:
        ctx.cells.ordered.add(made.cell)
    return made


@lowers(dict.get)
def _get(ctx: Ctx, self: Val, key: Val, default: Val = None, /) -> Val:
    if type(self) is Obj:  # `sys.modules`
        return ctx.module_entry(sys.modules.get, key, ctx.node) if ctx.contains(key, self, ctx.node) else default
    entries, known = _entries(ctx, self), ctx.static_key(key, ctx.node)
    return ctx.use(entries[known], f"the entry {known!r}", ctx.node) if known in entries else default


@lowers(*_both("setdefault"))
def _setdefault(ctx: Ctx, self: DictRef, key: Val, default: Val = None) -> Val:
    entries, known = _entries(ctx, self), ctx.static_key(key, ctx.node)
    if known in entries:
        return ctx.use(entries[known], f"the entry {known!r}", ctx.node)
    _replace(ctx, self, {**entries, known: default})
    return default


@lowers(*_both("pop"))
def _pop(ctx: Ctx, self: DictRef, key: Val, default: Val = MISSING) -> Val:
    entries, known = _entries(ctx, self), ctx.static_key(key, ctx.node)
    if known not in entries:
        if default is MISSING:
            ctx.raises(KeyError, known, ctx.node, f"the dictionary has no key {known!r}")
        return default
    found = ctx.use(entries.pop(known), f"the entry {known!r}", ctx.node)
    _replace(ctx, self, entries)
    return found


lowers(dict.popitem)(lambda ctx, self, /: _popped(ctx, self, True))
lowers(collections.OrderedDict.popitem)(lambda ctx, self, last=True: _popped(ctx, self, last))


def _popped(ctx: Ctx, av: DictRef, last: Val) -> Seq:
    entries = _entries(ctx, av)
    if not entries:
        ctx.raises(KeyError, "popitem(): dictionary is empty", ctx.node)
    key = next(reversed(entries)) if _is_last(ctx, last) else next(iter(entries))
    value = entries.pop(key)
    _replace(ctx, av, entries)
    return Seq((key_av(key), ctx.use(value, f"the entry {key!r}", ctx.node)))


def _is_last(ctx: Ctx, last: Val) -> bool:
    if not is_constant(last):
        ctx.fail("last= that is known at run time only", ctx.node, "write True or False")
    return bool(last)


@lowers(collections.OrderedDict.move_to_end)
def _move_to_end(ctx: Ctx, self: DictRef, key: Val, last: Val = True) -> None:
    entries, known = _entries(ctx, self), ctx.static_key(key, ctx.node)
    if known not in entries:
        ctx.raises(KeyError, known, ctx.node, f"the dictionary has no key {known!r}")
    moved = {known: entries.pop(known)}
    _replace(ctx, self, {**entries, **moved} if _is_last(ctx, last) else {**moved, **entries})


@lowers(*_both("clear"))
def _clear(ctx: Ctx, self: DictRef, /) -> None:
    ctx.checked(self.cell, ctx.node, "dictionary")
    _replace(ctx, self, {})


@lowers(*_both("update"))
def _update(ctx: Ctx, self: DictRef, more: Val = MISSING, /, **kwargs: Val) -> None:
    entries = _entries(ctx, self)
    if more is not MISSING:
        entries.update(ctx.not_reading({self.cell}, more, lambda: ctx.entries_of(more, ctx.node), ctx.node))
    _replace(ctx, self, {**entries, **kwargs})


@lowers(class_lookup(dict, "fromkeys"), class_lookup(collections.OrderedDict, "fromkeys"))
def _fromkeys(ctx: Ctx, iterable: Val, value: Val = None) -> Val:
    keys = ctx.static_items(ctx.iterable(iterable, ctx.node), ctx.node)
    return ctx.new_dict({ctx.static_key(k, ctx.node): value for k in keys})


# --- with a default -----------------------------------------------------------------------------------------------


@lowers(collections.defaultdict)
def _defaultdict(ctx: Ctx, default: Val = None, entries: Val = MISSING, /, **kwargs: Val) -> Instance:
    known = {} if entries is MISSING else ctx.entries_of(entries, ctx.node)
    made = ctx.new_dict({**known, **kwargs})
    return ctx.new_collection(collections.defaultdict, entries=made, default=default)


@lowers(collections.defaultdict.copy, collections.Counter.copy)
def _copy_with_default(ctx: Ctx, self: Instance, /) -> Instance:
    inner, default = ctx.checked(self.cell, ctx.node).items
    new = ctx.new_dict(ctx.entries_of(inner, ctx.node))
    return ctx.new_collection(self.cls, entries=new, default=default)


@lowers(collections.defaultdict.__missing__, collections.Counter.__missing__)
def _missing(ctx: Ctx, self: Instance, key: Val, /) -> Val:
    return ctx.default_item(self, key, ctx.node)


# --- counters -----------------------------------------------------------------------------------------------------


@lowers(collections.Counter)
def _counter(ctx: Ctx, iterable: Val = None, /, **kwds: Val) -> Instance:
    counts = _counted(ctx, {}, iterable, kwds)
    return ctx.new_collection(collections.Counter, entries=ctx.new_dict(counts), default=None)


@lowers(collections.Counter.update)
def _count_more(ctx: Ctx, self: Instance, iterable: Val = None, /, **kwds: Val) -> None:
    inner = ctx.inner(self, ctx.node)
    entries = ctx.entries_of(inner, ctx.node)
    counted = lambda: _counted(ctx, entries, iterable, kwds)
    _replace(ctx, inner, ctx.not_reading({self.cell, inner.cell}, iterable, counted, ctx.node))


def _counted(ctx: Ctx, entries: dict[Any, Val], av: Val, kwds: dict[str, Val]) -> dict[Any, Val]:
    """The entries of a Counter with what is in an iterable counted as well."""

    def add(key: Any, n: Val) -> None:
        entries[key] = ctx.binary(operator.add, n, entries.get(key, 0), ctx.node)

    if type(av) is DictRef or (is_collection(av) and av.cls is collections.Counter):
        for key, n in ctx.entries_of(av, ctx.node).items():
            add(key, n)
    elif av is not None:
        for item in ctx.static_items(ctx.iterable(av, ctx.node), ctx.node):
            add(ctx.static_key(item, ctx.node), 1)
    for name, n in kwds.items():
        add(name, n)
    return entries


@lowers(collections.Counter.total)
def _total(ctx: Ctx, self: Instance, /) -> Val:
    entries = ctx.entries_of(self, ctx.node)
    return ctx.call(Obj(sum), [Seq(tuple(entries.values()))], {}, ctx.node)


@lowers(collections.Counter.elements, collections.Counter.most_common)
def _by_count(ctx: Ctx, self: Instance, /, *args: Val) -> Val:
    entries, name = ctx.entries_of(self, ctx.node), ctx.callee.__name__
    if not all(is_constant(v) for v in (*entries.values(), *args)):
        ctx.fail(f"Counter.{name}() is not supported here", ctx.node, "use a dictionary")
    counter = collections.Counter(entries)
    if name == "elements":
        return Seq(tuple([key_av(k) for k in counter.elements()]))
    return ctx.new_list([Seq((key_av(k), v)) for k, v in counter.most_common(*args)])
