"""The methods of lists, tuples, ranges and slices."""

from __future__ import annotations

import operator
from typing import Any

from ..avals import Items, ListRef, Obj, RangeOf, Seq, SliceOf, is_constant, is_static_int
from ..handlers import Ctx, Val, lowers
from ..library.ordered_lists import count_of, place_of
from ..ranges import known

# --- lists --------------------------------------------------------------------------------------------------------


lowers(list.append)(lambda ctx, self, item, /: ctx.list_append(self, item, ctx.node))
lowers(list.extend)(lambda ctx, self, iterable, /: ctx.extend(self, iterable, ctx.node))
lowers(list.pop)(lambda ctx, self, index=-1, /: ctx.list_pop(self, index, ctx.node))
lowers(list.copy)(lambda ctx, self, /: ctx.as_list(self, ctx.node))


@lowers(list.clear)
def _clear(ctx: Ctx, self: ListRef, /) -> None:
    ctx.checked(self.cell, ctx.node, "list")
    ctx.mutate(self.cell, Items(()), ctx.node)


@lowers(list.insert)
def _insert(ctx: Ctx, self: ListRef, index: Val, item: Val, /) -> None:
    content = ctx.checked(self.cell, ctx.node, "list")
    if type(content) is Items and (is_static_int(index) or not content.items):
        items = list(content.items)
        items.insert(index if items else 0, item)
        ctx.mutate(self.cell, Items(tuple(items)), ctx.node)
    else:
        ctx.insert_item(self, ctx.operand(index, ctx.node), item, ctx.node)


@lowers(list.reverse)
def _reverse(ctx: Ctx, self: ListRef, /) -> None:
    content = ctx.checked(self.cell, ctx.node, "list")
    if type(content) is Items:
        ctx.mutate(self.cell, Items(content.items[::-1]), ctx.node)
    else:
        ctx.reverse_items(self, ctx.node)


@lowers(list.sort)
def _sort(ctx: Ctx, self: ListRef, /, *, key: Val = None, reverse: Val = False) -> None:
    ctx.checked(self.cell, ctx.node, "list")
    ctx.replace_list(self, ctx.ordered(self, key, reverse, ctx.node), ctx.node, rearranged=True)


# --- what is in a list or tuple -----------------------------------------------------------------------------------


def _items_of(ctx: Ctx, av: Val) -> list[Val] | None:
    """The items of a list or tuple; None if their number is known at run time only."""
    if type(av) is Seq:
        return list(av.items)
    content = ctx.checked(av.cell, ctx.node, "list")
    return list(content.items) if type(content) is Items else None


def _known_equality(ctx: Ctx, items: list[Val], value: Val) -> bool:
    """Which of the items is the first that equals the value is known when the program is compiled."""

    def found() -> Any:
        for item in items:
            equal = ctx.same_item(item, value, ctx.node)
            if not isinstance(equal, bool):
                return None
            if equal:
                break
        return True

    return ctx.probed(found)[0] is True


@lowers(list.count, tuple.count)
def _count(ctx: Ctx, self: Val, value: Val, /) -> Val:
    total: Val = 0
    items = _items_of(ctx, self)
    if items is None:
        return ctx.inline_function(Obj(count_of), [self, value], {}, ctx.node)
    for item in items:
        equal = ctx.same_item(item, value, ctx.node)
        total = ctx.binary(operator.add, total, int(equal) if isinstance(equal, bool) else equal, ctx.node)
    return total


@lowers(list.index, tuple.index)
def _index(ctx: Ctx, self: Val, value: Val, start: Val = 0, stop: Val = None, /) -> Val:
    items = _items_of(ctx, self)
    whole = is_static_int(start) and start == 0 and stop is None
    if whole and (items is None or not _known_equality(ctx, items, value)):
        name = "tuple" if type(self) is Seq else "list"
        return ctx.inline_function(Obj(place_of), [self, value, f"{name}.index(x): x not in {name}"], {}, ctx.node)
    if items is None:
        ctx.fail(".index() with bounds, of a list whose length is known at run time only", ctx.node, "use a loop")
    if not (is_static_int(start) and (stop is None or is_static_int(stop))):
        message = ".index() with bounds that are known at run time only"
        ctx.fail(message, ctx.node, "use bounds that are known, or a loop")
    first, last, _ = slice(start, stop).indices(len(items))
    return _place(ctx, items, value, "index", range(first, last))


@lowers(list.remove)
def _remove(ctx: Ctx, self: ListRef, value: Val, /) -> None:
    items = _items_of(ctx, self)
    if items is None or not _known_equality(ctx, items, value):
        message = "list.remove(x): x not in list"
        ctx.delete_item(self, ctx.inline_function(Obj(place_of), [self, value, message], {}, ctx.node), ctx.node)
        return
    del items[_place(ctx, items, value, "remove", range(len(items)))]
    ctx.mutate(self.cell, Items(tuple(items)), ctx.node)


def _place(ctx: Ctx, items: list[Val], value: Val, name: str, places: range) -> int:
    for k in places:
        equal = ctx.same_item(items[k], value, ctx.node)
        if not isinstance(equal, bool):
            message = f".{name}() of values known at run time only"
            ctx.fail(message, ctx.node, "compare with `if`, or use np.argmax or np.where")
        if equal:
            return k
    ctx.raises(ValueError, f"list.{name}(x): x not in list", ctx.node)


# --- ranges and slices --------------------------------------------------------------------------------------------


@lowers(range.index, range.count)
def _in_range(ctx: Ctx, self: RangeOf, value: Val, /) -> Val:
    real, name = known(self), ctx.callee.__name__
    if real is None or not is_constant(value):
        message = f"range.{name}() of what is known at run time only"
        ctx.fail(message, ctx.node, "compute it from start, stop and step")
    return ctx.folded(getattr(real, name), [value], {}, ctx.node)


@lowers(slice.indices)
def _indices(ctx: Ctx, self: SliceOf, length: Val, /) -> Seq:
    places = ctx.slice_range(length, self, ctx.node)
    return Seq((places.start, places.stop, places.step))
