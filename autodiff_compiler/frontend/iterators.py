"""What is asked of an iterable: its items, how many there are, the item at a place, whether one passes a test."""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable
from typing import Any

from ..ir.core import Value
from ..ir.opset import DIM, SUB
from ..ir.sites import GET_NEXT
from .avals import (
    Columns,
    DictRef,
    IndexedOf,
    Instance,
    ListRef,
    Obj,
    RangeOf,
    Ref,
    ReversedOf,
    Seq,
    StreamOf,
    ViewOf,
    describe,
    is_collection,
    is_iterator,
    is_static_int,
)
from .folds import proved
from .handlers import Ctx, Node, Val, lowers
from .loops import containers_in
from .peeling import Peeling
from .remains import in_step
from .sets import is_set


class Iterators(Peeling):
    # --- what is asked of an iterable -----------------------------------------------------------------------------

    def iterated(self, av: Val, node: Node) -> list[Val] | None:
        """The items of an iterable whose number is known, or None."""
        if type(av) is ReversedOf:
            _check_reversed(self, av, node)
            inner = self.iterated(av.it, node)
            return None if inner is None else inner[: av.length][::-1]
        if type(av) is StreamOf:
            rows = _rows(self, av, node)
            return None if rows is None else [self.combined(av, list(row), node) for row in rows]
        if type(av) is not IndexedOf:
            return None if type(av) is Ref else self.known_items(av, node)
        if av.kind == "pairwise":
            items = self.iterated(av.its[0], node)
            return None if items is None else [Seq(pair) for pair in itertools.pairwise(items)]
        if av.kind == "from" and is_static_int(av.its[1]) and type(av.its[0]) not in (RangeOf, Ref):
            items = None if self.endless(av.its[0]) else self.iterated(av.its[0], node)
            return None if items is None else items[av.its[1] :]
        if av.kind == "repeat" and len(av.its) == 2 and is_static_int(av.its[1]):
            return [av.its[0]] * max(av.its[1], 0)
        return None

    def combined(self, av: StreamOf, row: list[Any], node: Node) -> Any:
        """An item of a stream, of what its iterators give."""
        if av.kind == "generator":
            return self.within(self.frames[av.env], lambda: _element(self, av, row[0]))
        if av.is_plain:
            return Seq(tuple(row))
        return self.call(av.its[0], row if av.kind == "map" else self.unpacked(row[0], None, node), {}, node)

    def iter_length(self, av: Val, node: Node) -> Val:
        kind = type(av)
        if is_collection(av):
            return self.iter_length(self.inner(av, node), node)
        if kind is ReversedOf:
            if av.length is not None:
                return av.length
            _check_reversed(self, av, node)
            return self.iter_length(av.it, node)
        if kind is StreamOf:
            return _shortest_length(self, av, node)
        self.check_iterable(av, node)
        if kind in (Ref, ListRef, Seq, RangeOf, DictRef, ViewOf, Instance, Obj, Value) or isinstance(av, str):
            return self.length(av, node)
        if kind is not IndexedOf:
            self.fail(
                f"a loop over {describe(av)} is not supported",
                node,
                "loop over a range, an array, a list or a dictionary",
            )
        if av.kind in ("pairwise", "from"):
            skipped = 1 if av.kind == "pairwise" else av.its[1]
            n = self.binary(operator.sub, self.iter_length(av.its[0], node), skipped, node)
            return self.call(Obj(max, None), [n, 0], {}, node)
        if av.kind == "table":
            return self.emit(node, DIM, self.operand(av.its[0], node), 0)
        if av.kind == "islice":
            source, start, stop, step = av.its
            if not self.endless(source):
                n = self.iter_length(source, node)
                stop = n if stop is None else self.call(Obj(min, None), [stop, n], {}, node)
            if stop is None:
                self.fail(
                    "a loop over an iterator that does not end",
                    node,
                    "use `while True`, or itertools.islice with a known number",
                )
            n = self.binary(operator.sub, self.binary(operator.add, stop, step - 1, node), start, node)
            return self.call(Obj(max, None), [self.binary(operator.floordiv, n, step, node), 0], {}, node)
        if av.kind == "repeat" and len(av.its) == 2:
            return self.call(Obj(max, None), [av.its[1], 0], {}, node)
        self.fail(f"a loop over itertools.{av.kind}() does not end", node, "zip it with what ends")

    def item_of(self, av: Val, i: Any, node: Node) -> Val:
        """The item that an iterable gives at index `i`."""
        kind = type(av)
        if is_set(av):
            return self.item_of(self.in_order(av, node), i, node)
        if is_collection(av) and not is_iterator(av):
            return self.item_of(self.inner(av, node), i, node)
        if kind is ViewOf or kind is DictRef:
            return self.subscript(Seq(tuple(self.known_items(av, node) or ())), i, node)
        if kind is StreamOf:
            return self.combined(av, [self.item_of(x, i, node) for x in in_step(av) or ()], node)
        if kind is ReversedOf:
            n = self.iter_length(av.it, node) if av.length is None else av.length
            at = self.number(SUB, self.number(SUB, n, 1, node), i, node)
            _check_reversed(self, av, node, at if is_static_int(at) else None)
            return self.item_of(av.it, at, node)
        if kind is RangeOf:
            way = _times(self, i, av.step, node)
            return way if _is_zero(av.start) else self.binary(operator.add, av.start, way, node)
        if self.is_observed(av):
            return self.given(self.emit(node, GET_NEXT, av, i), [], True)
        if kind is not IndexedOf:
            return self.subscript(av, i, node)
        its = av.its
        if av.kind == "pairwise":
            after = self.binary(operator.add, i, 1, node)
            return Seq((self.item_of(its[0], i, node), self.item_of(its[0], after, node)))
        if av.kind == "table":
            table, *sources = its
            places = [self.subscript(table, Seq((i, j)), node) for j in range(len(sources))]
            for j, x in enumerate(sources):
                if type(x) is RangeOf:  # whose items are Python's
                    places[j] = self.call(Obj(int, None), [places[j]], {}, node)
            return Seq(tuple([self.item_of(x, k, node) for x, k in zip(sources, places)]))
        if av.kind == "from":
            return self.item_of(its[0], self.binary(operator.add, i, its[1], node), node)
        if av.kind == "islice":
            place = self.binary(operator.add, self.binary(operator.mul, i, its[3], node), its[1], node)
            return self.item_of(its[0], place, node)
        if av.kind == "count":
            way = _times(self, i, its[1], node)
            return way if _is_zero(its[0]) else self.binary(operator.add, way, its[0], node)
        if av.kind == "cycle":
            return self.item_of(its[0], self.binary(operator.mod, i, self.iter_length(its[0], node), node), node)
        return self.item_of(its[0], i, node) if av.kind == "entries" else its[0]

    def static_items(self, av: Val, node: Node, what: str = "", remedy: str = "") -> list[Val]:
        """The items of something iterable of known length. The lengths of arguments become known where that helps.

        what, remedy: the error if it is not known
        """
        av = self.iterable(av, node)
        items = self.iterated(av, node)
        if items is None and type(av) is StreamOf and av.kind == "zip":
            items = _shortest(self, av, node)
        length = self.length(av, node) if type(av) is Ref else None
        if length is not None and is_static_int(length):
            items = [self.item_of(av, k, node) for k in range(length)]
        if items is None:
            self.fail(
                what or f"the number of items of {describe(av)} has to be known when the program is compiled",
                node,
                remedy or "unpack by subscripts, x[0], or use a tuple of known length",
                cause=av if length is None else [av, length],
            )
        return items

    def as_list(self, av: Val, node: Node) -> Val:
        """``list(av)``."""
        if type(av) is ListRef and type(self.checked(av.cell, node, "list")) is Columns:
            out = ListRef(self.new_cell(self.checked(av.cell, node, "list")))
            self.share(out.cell, [av.cell])
            return out
        av = self.iterable(av, node)
        items = self.iterated(av, node)
        if items is not None:
            return self.new_list(items)
        if type(av) is ListRef:
            return self.as_list(av, node)
        out = self.new_list([])
        self.each(av, lambda item: self.list_append(out, item, node), node)
        return out

    # --- map, filter, zip, reduce ---------------------------------------------------------------------------------

    def mapped(self, fn: Any, *its: Val, node: Node) -> Instance:
        """``map(fn, *its)``."""
        return self.one_shot(StreamOf("map", (fn, *[self.iter_of(x, node) for x in its])))

    def found(
        self, av: Val, test: Callable[[Any], Any], every: bool, search: Obj, node: Node, args: tuple[Val, ...] = ()
    ) -> Any:
        """Whether the test holds for all the items, or for any; no more of them are computed than it takes to know.

        search: the definition that asks this of an iterable and of `args`, where it takes a loop.
        """
        it = self.iter_of(av, node)
        if self.unrolls(it, node) and self.steps_known(it, node):
            return _found_next(self, it, test, every, node)
        return self.inline_function(search, [it, *args], {}, node)


def _times(ctx: Iterators, i: Any, step: Any, node: Node) -> Any:
    return i if is_static_int(step) and step == 1 else ctx.binary(operator.mul, i, step, node)


def _is_zero(av: Val) -> bool:
    return is_static_int(av) and av == 0


def _element(ctx: Iterators, av: StreamOf, item: Val) -> Any:
    """What a generator expression makes of an item."""
    target = av.node.generators[0].target
    ctx.assign(target, item, target)
    return ctx.ev(av.node.elt)


def _rows(ctx: Iterators, av: StreamOf, node: Node) -> list[Any] | None:
    """The items of the iterables of a stream, side by side, if their number is known; to go through ranges and arrays
    alone a loop is better."""
    parts = in_step(av) or ()
    lists = [None if type(x) is Ref or ctx.endless(x) else ctx.iterated(x, node) for x in parts]
    ranges = () if av.kind == "enumerate" else (RangeOf,)
    if all(items is None or type(x) in ranges for x, items in zip(parts, lists)):
        return None
    n = min(len(items) for items in lists if items is not None)
    columns = []
    for x, items in zip(parts, lists):
        if items is None:
            length: Any = n if ctx.endless(x) else ctx.iter_length(x, node)
            if not (isinstance(length, int) and length >= n):
                return None
            items = [ctx.item_of(x, k, node) for k in range(n)]
        columns.append(items)
    return list(zip(*columns))


def _shortest_length(ctx: Iterators, av: StreamOf, node: Node) -> Any:
    """The number of items of a stream: of those of its iterables the smallest."""
    parts = in_step(av) or ()
    lengths: list[Any] = []
    for x in parts:
        if not ctx.endless(x):
            n = ctx.iter_length(x, node)
            if not any(ctx.same_length(n, m) for m in lengths):
                lengths.append(n)
    if parts and not lengths:
        if av.kind not in ("zip", "map"):
            return ctx.iter_length(parts[-1], node)  # tells that it does not end
        ctx.fail("a loop over iterators that do not end", node, "add one that ends, such as range(n)")
    return ctx.call(Obj(min, None), lengths, {}, node) if len(lengths) > 1 else lengths[0] if lengths else 0


def _check_reversed(ctx: Iterators, av: ReversedOf, node: Node, index: Val = None) -> None:
    """What is gone through from its end has, as far as that matters, the length that it had when that began."""
    cells = containers_in(ctx, av.it) if type(av.it) in (ListRef, ViewOf) else []
    if not any(c in ctx.resized[av.since :] for c in cells):
        return
    items = ctx.iterated(av.it, node)
    if items is not None and av.length is not None:
        if len(items) == av.length:
            return
        if type(av.it) is ListRef and len(items) > (av.length - 1 if index is None else index):
            return  # what was there is reached by its number
    ctx.fail(
        f"{describe(av.it)} that changes its length while reversed() runs over it",
        node,
        "loop over a copy: reversed(list(...))",
    )


def _shortest(ctx: Iterators, av: StreamOf, node: Node) -> list[Any] | None:
    """The items of a zip, one of whose parts has a known length, and the others are found not to be shorter."""
    lengths = [None if ctx.endless(x) else ctx.iter_length(x, node) for x in av.its]
    known = [k for k in lengths if isinstance(k, int)]
    if not known:
        return None
    n = min(known)
    for k in lengths:
        if type(k) is Value:
            enough = ctx.truth(ctx.compare_with(operator.ge, k, n, node), node)
            ctx.raise_unless(enough, ValueError, f"zip() of fewer than {n} items, which was compiled for more", node)
    return [Seq(tuple([ctx.item_of(x, k, node) for x in av.its])) for k in range(n)]


def _found_next(ctx: Iterators, it: Val, test: Callable[[Any], Any], every: bool, node: Node) -> Val:
    """The items are computed one by one; those that follow the first whose test is not known now in a branch."""
    while True:
        item = ctx.next_of(it, node)
        if not item:
            return every
        flag = ctx.truth(test(item[0]), node)
        if isinstance(flag, bool):
            if flag is not every:
                return flag
            continue
        rest = lambda: _found_next(ctx, it, test, every, node)
        last = ctx.count(it, node) == 0
        if last and ctx.is_inert(it, node):
            return flag
        known = lambda: proved("equal parts", not every)
        return ctx.branch(flag, rest if every else known, known if every else rest, node)


@lowers(ast.GeneratorExp)
def _generator_exp(ctx: Ctx, node: ast.GeneratorExp) -> Val:
    return ctx.generator(node, ctx.ev_iter(node.generators[0].iter), node.generators[0].iter)


__all__ = ["Iterators"]
