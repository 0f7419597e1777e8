"""Iterators and what works on them: map, filter, zip, generator expressions, itertools, functools.reduce, sorted."""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ir.core import Value
from ..ir.opset import DIM, PRIMS
from .avals import (
    Closure,
    Conflict,
    DeferredOf,
    DictRef,
    Entries,
    EnumerateOf,
    IndexedOf,
    Instance,
    ListRef,
    Maybe,
    Obj,
    OneShot,
    RangeOf,
    Ref,
    ReversedOf,
    Seq,
    ViewOf,
    ZipOf,
    describe,
    is_collection,
    is_static_int,
    parts_of,
)
from .collection_calls import Collections
from .sets import is_set

Handler = Callable[[list[Any], dict[str, Any], Any], Any]

ENDLESS = ("count", "cycle", "repeat")
UNROLLED_ROWS = 64  # more rows of product() and the like are looked up at run time


class Iterators(Collections):
    partly = False  # of what is being computed, a part only may be asked for

    # --- iterators ------------------------------------------------------------------------------------------------

    def one_shot(self, source: Any) -> Instance:
        """An iterator over what `source` stands for."""
        return self.new_collection(OneShot, source=source, place=0)

    def iterable(self, av: Any, node: Any, partly: bool = False) -> Any:
        """What a loop over `av` runs over. An iterator is used up by it; `partly`: or some of it is."""
        if type(av) in (Maybe, Conflict):
            av = self.use(av, "the iterable", node)
        if type(av) is Instance and av.cls is OneShot:
            source, place = (self.use(x, "the iterator", node) for x in self.checked(av.cell, node, "iterator").items)
            left: Any = Conflict("is an iterator of which a part has been taken") if partly else Seq(())
            self.mutate(av.cell, Entries(("source", "place"), (left, 0)), node)
            source = self.opened(source, node, partly)
            if is_static_int(place) and place == 0:
                return source
            items = self.iterated(source, node)
            if items is None or not is_static_int(place):
                return IndexedOf("from", (source, place))
            return Seq(tuple(items[place:]))
        if type(av) in (Instance, Obj) and not is_collection(av):
            method = self.type_attribute(av, "__iter__")
            if method is not None:
                return self.iterable(self.call(method, [av], {}, node), node)
        return self.opened(av, node, partly)

    def opened(self, av: Any, node: Any, partly: bool = False) -> Any:
        """An iterable of which the items can be had: iterators inside are used up, deferred ones computed."""
        kind = type(av)
        if kind is ZipOf or kind is IndexedOf:
            its = av.its if kind is ZipOf or av.kind not in ("map", "starmap") else av.its[1:]
            pulled = [x for x in its if type(x) is Instance and x.cls is OneShot]
            if len({x.cell for x in pulled}) < len(pulled) and kind is ZipOf:
                return self.pulled(av, node)
            its = tuple([self.iterable(x, node, partly or len(its) > 1) for x in its])
            if kind is ZipOf:
                return ZipOf(its)
            return IndexedOf(av.kind, its if len(its) == len(av.its) else (av.its[0], *its))
        if kind is EnumerateOf:
            return EnumerateOf(self.iterable(av.it, node, partly), av.start)
        if kind is DeferredOf:
            outer, self.partly = self.partly, partly
            try:
                return self.computed(av, node)
            finally:
                self.partly = outer
        return av

    def pulled(self, av: ZipOf, node: Any) -> Any:
        """``zip(it, it)``: the items are taken from one iterator in turn."""
        first = av.its[0]
        if any(type(x) is not Instance or x.cell != first.cell for x in av.its):
            self.fail("zip() of one iterator twice and of others", node, "make lists of them first")
        items = self.iterated(self.iterable(first, node), node)
        if items is None:
            self.fail("zip() of one iterator twice, of a length known at run time only", node, "use slices")
        n = len(av.its)
        return Seq(tuple([Seq(tuple(items[k : k + n])) for k in range(0, len(items) - n + 1, n)]))

    def is_iterator(self, cell: int) -> bool:
        content = self.held(cell)
        return type(content) is Entries and content.keys == ("source", "place")

    def read_by(self, av: Any) -> tuple[set[int], set[str]]:
        """The cells and the names that an iterator reads whose items a loop computes before it begins."""
        cells: set[int] = set()
        names: set[str] = set()
        if type(av) is Instance and av.cls is OneShot:
            held = self.held(av.cell)
            return self.read_by(held.items[0]) if type(held) is Entries else (cells, names)
        if type(av) is DeferredOf or (type(av) is IndexedOf and av.kind in ("map", "starmap")):
            cells.update(c for c in self.cells_in(av.its) if not self.is_iterator(c))
            nodes = [(f.node, f.env) for f in av.its if type(f) is Closure]
            if type(av) is DeferredOf and av.node is not None:
                nodes.append((av.node, av.env))
            for node, env in nodes:
                inside = list(ast.walk(node))
                read = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
                read -= {n.id for n in inside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
                read -= {n.arg for n in inside if isinstance(n, ast.arg)}
                names |= read
                frame: Any = self.frames.get(env)
                while frame is not None:
                    known = self.state.envs.get(frame.env, {})
                    found = self.cells_in([known[n] for n in read if n in known])
                    cells.update(c for c in found if not self.is_iterator(c))
                    frame = frame.parent
        if type(av) in (DeferredOf, IndexedOf, ZipOf, EnumerateOf):
            for part in parts_of(av):
                more = self.read_by(part)
                cells |= more[0]
                names |= more[1]
        return cells, names

    def computed(self, av: DeferredOf, node: Any) -> Any:
        if av.kind == "generator":
            frame, self.frame = self.frame, self.frames[av.env]
            try:
                return self.comprehended(av.node, av.its[0], node)
            finally:
                self.frame = frame
        handler: Callable[..., Any] = getattr(self, "computed_" + av.kind)
        return handler(*av.its, node=node)

    def b_iter(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "iter")
        av = args[0]
        if type(av) is Instance and av.cls is OneShot:
            return av
        if type(av) in (Instance, Obj) and not is_collection(av):
            method = self.type_attribute(av, "__iter__")
            if method is not None:
                return self.call(method, [av], {}, node)
        return self.one_shot(av)

    def b_next(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 2, kwargs, node, "next")
        av = args[0]
        if type(av) is Instance and av.cls is not OneShot:
            method = self.type_attribute(av, "__next__")
            if method is not None:
                return self.call(method, [av], {}, node)
        if type(av) is not Instance or av.cls is not OneShot:
            self.fail(f"{describe(av)} is not an iterator", node, "use iter()", ArgumentError)
        source, place = (self.use(x, "the iterator", node) for x in self.checked(av.cell, node, "iterator").items)
        source = self.opened(source, node, True)
        if type(source) is ListRef and type(self.checked(av.cell, node).items[0]) is DeferredOf:
            items = self.iterated(source, node)
            source = source if items is None else Seq(tuple(items))

        def take() -> Any:
            item = self.item_of(source, place, node)
            self.mutate(
                av.cell, Entries(("source", "place"), (source, self.binary(operator.add, place, 1, node))), node
            )
            return item

        if type(source) is IndexedOf and source.kind in ENDLESS and len(source.its) < 2 + (source.kind == "count"):
            return take()
        items = self.iterated(source, node) if type(source) is not IndexedOf else None
        length = len(items) if items is not None else self.iter_length(source, node)
        left = self.truth(self.compare_with(operator.lt, place, length, node), node)
        if left is True:
            return take()
        if len(args) > 1:
            return self.branch(left, take, lambda: args[1], node)
        if left is False:
            self.raises(StopIteration, None, node)
        self.raise_unless(left, StopIteration, "", node)
        return take()

    # --- what is asked of an iterable -----------------------------------------------------------------------------

    def iterated(self, av: Any, node: Any) -> list[Any] | None:
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
        if av.kind == "repeat" and len(av.its) == 2 and is_static_int(av.its[1]):
            return [av.its[0]] * max(av.its[1], 0)
        return None

    def applied(self, av: IndexedOf, row: Any, node: Any) -> Any:
        """An item of map() or starmap()."""
        return self.call(av.its[0], self.unpacked(row, None, node), {}, node)

    def iter_length(self, av: Any, node: Any) -> Any:
        if is_collection(av):
            return self.iter_length(self.inner(av, node), node)
        if isinstance(av, str) or type(av) is ViewOf:
            return self.length(av, node)
        if type(av) is ZipOf:
            finite = tuple([x for x in av.its if not endless(x)])
            if av.its and not finite:
                self.fail("a loop over iterators that do not end", node, "add one that ends, such as range(n)")
            return super().iter_length(ZipOf(finite), node)
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

    def item_of(self, av: Any, i: Any, node: Any) -> Any:
        if is_set(av):
            return self.item_of(self.in_order(av, node), i, node)
        if is_collection(av):
            return self.item_of(self.inner(av, node), i, node)
        if type(av) is ViewOf:
            return self.subscript(Seq(tuple(self.view_items(av, node))), i, node)
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

    def static_items(self, av: Any, node: Any) -> list[Any]:
        """The items of something iterable of known length."""
        av = self.iterable(av, node)
        items = self.iterated(av, node)
        if items is None and type(av) is ZipOf:
            items = self.shortest(av, node)
        if items is None:
            self.fail(
                f"the number of items of {describe(av)} has to be known when the program is compiled",
                node,
                "unpack by subscripts, x[0], or use a tuple of known length",
                cause=av,
            )
        return items

    def shortest(self, av: ZipOf, node: Any) -> list[Any] | None:
        """The items of a zip, one of whose parts has a known length, and the others are found not to be shorter."""
        lengths = [None if endless(x) else self.iter_length(x, node) for x in av.its]
        known = [k for k in lengths if isinstance(k, int)]
        if not known:
            return None
        n = min(known)
        for k in lengths:
            if type(k) is Value:
                enough = self.truth(self.compare_with(operator.ge, k, n, node), node)
                self.raise_unless(
                    enough, ValueError, f"zip() of fewer than {n} items, which was compiled for more", node
                )
        return [Seq(tuple([self.item_of(x, k, node) for x in av.its])) for k in range(n)]

    def as_list(self, av: Any, node: Any) -> Any:
        """``list(av)``."""
        av = self.iterable(av, node)
        items = self.iterated(av, node)
        if items is not None:
            return self.new_list(items)
        out = self.new_list([])
        if type(av) is ListRef:
            self.state.heap[out.cell] = self.checked(av.cell, node, "list")
            self.state.link_view(out.cell, av.cell)
            self.cells.origins[out.cell] = self.cells.origins.get(av.cell, frozenset())
            return out
        range_, item_at = self.iteration(av, node)
        self.run_loop(node, range_, lambda i: self.list_append(out, item_at(i), node), None, [], [], None)
        return out

    # --- map, filter, zip, reduce ---------------------------------------------------------------------------------

    def b_enumerate(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        start = kwargs.pop("start", args[1] if len(args) > 1 else 0)
        self.only(args, 1, 2, kwargs, node, "enumerate")
        return self.one_shot(EnumerateOf(args[0], start))

    def b_zip(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        strict = kwargs.pop("strict", False)
        if kwargs or not isinstance(strict, bool):
            self.fail("zip() with these keyword arguments", node, "", ArgumentError)
        if strict and args:
            args = [self.iterable(a, node) for a in args]
            for other in args[1:]:
                a, b = (self.iter_length(x, node) for x in (args[0], other))
                same = self.truth(self.compare_with(operator.eq, a, b, node), node)
                self.raise_unless(same, ValueError, "zip() arguments have different lengths", node)
        return self.one_shot(ZipOf(tuple(args)))

    def b_reversed(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "reversed")
        av = args[0]
        if is_set(av):
            self.raises(TypeError, f"{av.cls.__name__!r} object is not reversible", node)
        if type(av) is DictRef or type(av) is ViewOf:
            items = self.static_items(self.iterable(av, node), node)
            return self.one_shot(Seq(tuple(items[::-1])))
        return self.one_shot(ReversedOf(self.inner(av, node) if is_collection(av) else av))

    def b_map(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if len(args) < 2 or kwargs:
            self.fail("map() needs a function and iterables", node, "", ArgumentError)
        return self.one_shot(IndexedOf("map", tuple(args)))

    def b_filter(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "filter")
        return self.one_shot(DeferredOf("filter", (args[0], args[1], True)))

    def computed_filter(self, fn: Any, it: Any, want: bool, node: Any) -> Any:
        it = self.iterable(it, node, self.partly)
        out = self.new_list([])

        def one(item: Any) -> None:
            kept = self.truth(item if fn is None else self.call(fn, [item], {}, node), node)
            add = lambda: self.list_append(out, item, node)
            self.branch(kept, *((add, lambda: None) if want else (lambda: None, add)), node)

        self.each(it, one, node)
        return out

    def each(self, it: Any, one: Callable[[Any], None], node: Any) -> None:
        """Run `one` for each item of an iterable."""
        items = self.unrollable(it, node)
        if items is not None:
            for item in items:
                one(item)
            return
        range_, item_at = self.iteration(it, node)
        self.run_loop(node, range_, lambda i: one(item_at(i)), None, [], [], None)

    def carried(self, name: str, start: Any, it: Any, step: Callable[[Any, Any], Any], node: Any) -> Any:
        """What `step`, called with what it returned before and each item, returns last."""
        items = self.unrollable(it, node)
        if items is not None:
            for item in items:
                start = step(start, item)
            return start
        env = self.frame.env
        name = f"${name}{getattr(node, 'lineno', 0)}_{getattr(node, 'col_offset', 0)}"
        self.state.envs[env][name] = start
        range_, item_at = self.iteration(it, node)

        def one(i: Any) -> None:
            new = step(self.state.envs[env][name], item_at(i))
            self.state.envs[env][name] = new

        self.run_loop(node, range_, one, None, [], [], None)
        return self.use(self.state.envs[env].pop(name), "the result", node)

    def b_reduce(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 3, kwargs, node, "reduce")
        it = self.iterable(args[1], node)
        if len(args) == 3:
            start = args[2]
        else:
            it, start = self.split_first(it, node, "reduce() of an empty iterable with no initial value")
        return self.carried("reduce", start, it, lambda a, x: self.call(args[0], [a, x], {}, node), node)

    def split_first(self, it: Any, node: Any, message: str) -> tuple[Any, Any]:
        """The first item of an iterable, and the rest."""
        items = self.iterated(it, node)
        if items is not None:
            if not items:
                self.fail(message, node, "", ArgumentError)
            return Seq(tuple(items[1:])), items[0]
        some = self.truth(self.compare_with(operator.gt, self.iter_length(it, node), 0, node), node)
        self.raise_unless(some, TypeError, message, node)
        return IndexedOf("from", (it, 1)), self.item_of(it, 0, node)

    def b_sum(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        start = kwargs.pop("start", args[1] if len(args) > 1 else 0)
        self.only(args, 1, 2, kwargs, node, "sum")
        if isinstance(start, str):
            self.fail("sum() can't sum strings", node, "use ''.join(...)", ArgumentError)
        it = self.iterable(args[0], node)
        items = self.iterated(it, node)
        return self.carried("sum", start, it if items is None else Seq(tuple(items)), self.added(node), node)

    def added(self, node: Any) -> Callable[[Any, Any], Any]:
        return lambda a, x: self.binary(operator.add, a, x, node)

    def b_any(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.quantified(args, False, node)

    def b_all(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.quantified(args, True, node)

    def quantified(self, args: list[Any], every: bool, node: Any) -> Any:
        it = self.iterable(args[0], node)
        if self.iterated(it, node) is None and type(it) is Ref:
            x = self.read(it, node)
            if x.type.kind == "array" and x.type.ndim == 1:
                return self.truth(self.call(Obj(np.all if every else np.any, None), [it], {}, node), node)
        both = PRIMS[operator.and_ if every else operator.or_]

        def step(known: Any, item: Any) -> Any:
            flag = self.truth(item, node)
            for a, b in ((known, flag), (flag, known)):
                if isinstance(a, bool):
                    return b if a is every else a
            return self.emit(node, both, known, flag)

        return self.carried("all" if every else "any", every, it, step, node)

    # --- generator expressions ------------------------------------------------------------------------------------

    def ev_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        frame: Any = self.frame
        first = self.ev_iter(node.generators[0].iter)
        env = frame.env
        while frame is not None:
            frame.captured = True
            frame = frame.parent
        return self.one_shot(DeferredOf("generator", (first,), node, env))

    def only(self, args: list[Any], low: int, high: int, kwargs: dict[str, Any], node: Any, name: str) -> None:
        if not low <= len(args) <= high or kwargs:
            self.fail(
                f"{name}() is called with arguments that are not supported", node, "leave them out", ArgumentError
            )


def endless(av: Any) -> bool:
    if type(av) is EnumerateOf:
        return endless(av.it)
    if type(av) is ZipOf:
        return bool(av.its) and all(map(endless, av.its))
    return type(av) is IndexedOf and (
        (av.kind in ENDLESS and not (av.kind == "repeat" and len(av.its) == 2))
        or (av.kind in ("map", "starmap") and all(map(endless, av.its[1:])))
    )


__all__ = ["ENDLESS", "Handler", "Iterators", "endless"]
