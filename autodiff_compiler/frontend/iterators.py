"""What is asked of an iterable: its items, how many there are, the item at a place, whether one passes a test."""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable
from typing import Any

from ..ir.core import Value
from ..ir.opset import DIM, PRIMS
from .avals import (
    Columns,
    DeferredOf,
    DictRef,
    Entries,
    IndexedOf,
    Instance,
    Items,
    ListRef,
    Maybe,
    Obj,
    RangeOf,
    Ref,
    Seq,
    ViewOf,
    ZipOf,
    describe,
    is_collection,
    is_static_int,
    parts_of,
)
from .folds import proved
from .handlers import Ctx, Node, Val, lowers
from .remains import ENDLESS, endless, is_iterator
from .sets import is_set
from .streams import Streams


class Iterators(Streams):
    # --- what is asked of an iterable -----------------------------------------------------------------------------

    def iterated(self, av: Val, node: Node) -> list[Val] | None:
        if type(av) is DeferredOf and av.kind == "generator":
            if type(av.its[0]) in (RangeOf, Ref):
                return None
            items = self.iterated(av.its[0], node)
            return None if items is None else [_made_of(self, av, x) for x in items]
        if type(av) is not IndexedOf:
            return super().iterated(av, node)
        if av.kind in ("map", "starmap"):
            rows = self.iterated(ZipOf(av.its[1:]) if av.kind == "map" else av.its[1], node)
            if rows is None or all(type(x) in (RangeOf, Ref) for x in av.its[1:]):
                return None
            return [self.applied(av, row, node) for row in rows]
        if av.kind == "pairwise":
            items = self.iterated(av.its[0], node)
            return None if items is None else [Seq(pair) for pair in itertools.pairwise(items)]
        if av.kind == "from" and is_static_int(av.its[1]) and type(av.its[0]) not in (RangeOf, Ref):
            items = None if endless(av.its[0]) else self.iterated(av.its[0], node)
            return None if items is None else items[av.its[1] :]
        if av.kind == "repeat" and len(av.its) == 2 and is_static_int(av.its[1]):
            return [av.its[0]] * max(av.its[1], 0)
        return None

    def applied(self, av: IndexedOf, row: Any, node: Node) -> Any:
        """An item of map() or starmap()."""
        return self.call(av.its[0], self.unpacked(row, None, node), {}, node)

    def iter_length(self, av: Val, node: Node) -> Val:
        if is_collection(av):
            return self.iter_length(self.inner(av, node), node)
        if isinstance(av, str) or type(av) is ViewOf:
            return self.length(av, node)
        if type(av) is ZipOf:
            finite = tuple([x for x in av.its if not endless(x)])
            if av.its and not finite:
                self.fail("a loop over iterators that do not end", node, "add one that ends, such as range(n)")
            return super().iter_length(ZipOf(finite), node)
        if type(av) is DeferredOf:
            return self.iter_length(av.its[0], node)
        if type(av) is not IndexedOf:
            return super().iter_length(av, node)
        if av.kind == "map":
            return self.iter_length(ZipOf(av.its[1:]), node)
        if av.kind == "starmap":
            return self.iter_length(av.its[1], node)
        if av.kind == "pairwise":
            n = self.binary(operator.sub, self.iter_length(av.its[0], node), 1, node)
            return self.call(Obj(max, None), [n, 0], {}, node)
        if av.kind == "table":
            return self.emit(node, DIM, self.operand(av.its[0], node), 0)
        if av.kind == "from":
            n = self.binary(operator.sub, self.iter_length(av.its[0], node), av.its[1], node)
            return self.call(Obj(max, None), [n, 0], {}, node)
        if av.kind == "islice":
            source, start, stop, step = av.its
            if not endless(source):
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
        if is_set(av):
            return self.item_of(self.in_order(av, node), i, node)
        if is_collection(av) and not is_iterator(av):
            return self.item_of(self.inner(av, node), i, node)
        if type(av) is ViewOf or type(av) is DictRef:
            return self.subscript(Seq(tuple(self.known_items(av, node) or ())), i, node)
        if type(av) is DeferredOf:
            return _made_of(self, av, self.item_of(av.its[0], i, node))
        if type(av) is not IndexedOf:
            return super().item_of(av, i, node)
        its = av.its
        if av.kind == "map":
            return self.call(its[0], [self.item_of(x, i, node) for x in its[1:]], {}, node)
        if av.kind == "starmap":
            return self.applied(av, self.item_of(its[1], i, node), node)
        if av.kind == "pairwise":
            after = self.binary(operator.add, i, 1, node)
            return Seq((self.item_of(its[0], i, node), self.item_of(its[0], after, node)))
        if av.kind == "table":
            table, *sources = its
            places = [self.subscript(table, Seq((i, j)), node) for j in range(len(sources))]
            return Seq(tuple([self.item_of(x, k, node) for x, k in zip(sources, places)]))
        if av.kind == "from":
            return self.item_of(its[0], self.binary(operator.add, i, its[1], node), node)
        if av.kind == "islice":
            place = self.binary(operator.add, self.binary(operator.mul, i, its[3], node), its[1], node)
            return self.item_of(its[0], place, node)
        if av.kind == "count":
            return self.binary(operator.add, its[0], self.binary(operator.mul, i, its[1], node), node)
        if av.kind == "cycle":
            return self.item_of(its[0], self.binary(operator.mod, i, self.iter_length(its[0], node), node), node)
        return its[0]

    def static_items(self, av: Val, node: Node) -> list[Val]:
        """The items of something iterable of known length."""
        av = self.iterable(av, node)
        items = self.iterated(av, node)
        if items is None and type(av) is ZipOf:
            items = _shortest(self, av, node)
        if items is None:
            self.fail(
                f"the number of items of {describe(av)} has to be known when the program is compiled",
                node,
                "unpack by subscripts, x[0], or use a tuple of known length",
                cause=av,
            )
        return items

    def as_list(self, av: Val, node: Node) -> Val:
        """``list(av)``."""
        if type(av) is ListRef and type(self.checked(av.cell, node, "list")) is Columns:
            out = self.new_list([])
            self.state.heap[out.cell] = self.checked(av.cell, node, "list")
            self.state.link_view(out.cell, av.cell)
            self.cells.origins[out.cell] = self.cells.origins.get(av.cell, frozenset())
            return out
        av = self.iterable(av, node)
        items = self.iterated(av, node)
        if items is not None:
            return self.new_list(items)
        if type(av) is ListRef:
            return self.as_list(av, node)
        out = self.new_list([])
        range_, item_at = self.iteration(av, node)
        self.run_loop(node, range_, lambda i: self.list_append(out, item_at(i), node), None, [], [], None)
        return out

    # --- map, filter, zip, reduce ---------------------------------------------------------------------------------

    def mapped(self, fn: Any, *its: Val, node: Node) -> Instance:
        """``map(fn, *its)``."""
        return self.one_shot(IndexedOf("map", (fn, *[self.iter_of(x, node) for x in its])))

    def found(self, av: Val, test: Callable[[Any], Any], every: bool, node: Node) -> Val:
        """Whether the test holds for all the items, or for any; no more of them are computed than it takes to know."""
        it = self.iter_of(av, node)
        if self.unrolls(it, node) and self.steps_known(it, node):
            return _found_next(self, it, test, every, node)
        if _harmless(self, it, test, node):
            both = PRIMS[operator.and_ if every else operator.or_]

            def step(known: Any, item: Val) -> Any:
                flag = self.truth(test(item), node)
                for a, b in ((known, flag), (flag, known)):
                    if isinstance(a, bool):
                        return b if a is every else a
                return self.emit(node, both, known, flag)

            return self.carried("all" if every else "any", every, it, step, node)

        def opposite(item: Val) -> Any:
            flag = self.truth(test(item), node)
            return self.negated(flag, node) if every else flag

        known = lambda item=None: proved("equal parts", not every)
        return self.first_found(it, known, opposite, lambda: proved("equal parts", every), node)


def _made_of(ctx: Iterators, av: DeferredOf, item: Val) -> Any:
    """What a generator expression makes of an item."""

    def compute() -> Any:
        target = av.node.generators[0].target
        ctx.assign(target, item, target)
        return ctx.ev(av.node.elt)

    return ctx.within(ctx.frames[av.env], compute)


def _shortest(ctx: Iterators, av: ZipOf, node: Node) -> list[Any] | None:
    """The items of a zip, one of whose parts has a known length, and the others are found not to be shorter."""
    lengths = [None if endless(x) else ctx.iter_length(x, node) for x in av.its]
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


def _harmless(ctx: Iterators, it: Val, test: Callable[[Any], Any], node: Node) -> bool:
    """Nobody can tell whether all items of an iterator that ends were computed, and tested."""
    if _names_it(ctx, it):
        return False

    def compute() -> Any:
        out = ctx.new_list([])
        ctx.push(it, lambda item: ctx.list_append(out, ctx.truth(test(item), node), node), node)
        return None

    return ctx.probed(compute)[1]


def _names_it(ctx: Iterators, it: Val) -> bool:
    """An iterator that what follows can get at."""
    if not is_iterator(it):
        return False
    cells = {c for c in ctx.cells_in([it]) if ctx.is_iterator_cell(c)}
    todo = [av for names in ctx.state.envs.values() for av in names.values()]
    seen: set[int] = set()
    while todo:
        av = todo.pop()
        cell = getattr(av, "cell", None)
        if cell in cells:
            return True
        if cell is None:
            todo += [av.av] if type(av) is Maybe else parts_of(av)
        elif cell not in seen:
            seen.add(cell)
            content = ctx.state.heap.get(cell)
            if isinstance(content, (Items, Entries)):
                todo += content.items
    return False


@lowers(ast.GeneratorExp)
def _generator_exp(ctx: Ctx, node: ast.GeneratorExp) -> Val:
    return ctx.generator(node, ctx.ev_iter(node.generators[0].iter), node.generators[0].iter)


__all__ = ["ENDLESS", "Iterators", "endless"]
