"""Iterators and what works on them: map, filter, zip, generator expressions, itertools, functools.reduce, sorted."""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ir.core import Value
from ..ir.opset import DIM, INDEX_TABLE, PRIMS
from .avals import (
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
    is_constant,
    is_number,
    is_static_int,
)
from .containers import Containers
from .plan import prefer_known

Handler = Callable[[list[Any], dict[str, Any], Any], Any]

ENDLESS = ("count", "cycle", "repeat")
UNROLLED_ROWS = 64  # more rows of product() and the like are looked up at run time


class Iterators(Containers):
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
            finite = tuple([x for x in av.its if not _endless(x)])
            if av.its and not finite:
                self.fail("a loop over iterators that do not end", node)
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
            if not _endless(source):
                n = self.iter_length(source, node)
                stop = n if stop is None else self.call(Obj(min, None), [stop, n], {}, node)
            if stop is None:
                self.fail("a loop over an iterator that does not end", node)
            n = self.binary(operator.sub, self.binary(operator.add, stop, step - 1, node), start, node)
            return self.call(Obj(max, None), [self.binary(operator.floordiv, n, step, node), 0], {}, node)
        if av.kind == "repeat" and len(av.its) == 2:
            return self.call(Obj(max, None), [av.its[1], 0], {}, node)
        self.fail(f"a loop over itertools.{av.kind}() does not end", node, "zip it with what ends")

    def item_of(self, av: Any, i: Any, node: Any) -> Any:
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
                f"the number of items of {describe(av)} has to be known when the program is compiled", node, cause=av
            )
        return items

    def shortest(self, av: ZipOf, node: Any) -> list[Any] | None:
        """The items of a zip, one of whose parts has a known length, and the others are found not to be shorter."""
        lengths = [None if _endless(x) else self.iter_length(x, node) for x in av.its]
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

    # --- numbers --------------------------------------------------------------------------------------------------

    def b_fsum(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "fsum")
        it = self.iterable(args[0], node)
        if type(it) is not Ref:
            it = self.call(Obj(np.array, None), [self.as_list(it, node), Obj(float)], {}, node)
        return self.call_prim(PRIMS[math.fsum], [it], {}, node)

    def b_prod(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        start = kwargs.pop("start", 1)
        self.only(args, 1, 1, kwargs, node, "prod")
        multiply = lambda a, x: self.binary(operator.mul, a, x, node)
        return self.carried("prod", start, self.iterable(args[0], node), multiply, node)

    def b_sumprod(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "sumprod")
        return self.b_sum([IndexedOf("map", (Obj(operator.mul, None), *args))], {}, node)

    def b_dist(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "dist")
        points = [self.iterable(a, node) for a in args]
        lists = [self.iterated(p, node) for p in points]
        known = [len(x) for x in lists if x is not None]
        if not known:
            arrays = [p if type(p) is Ref else self.call(Obj(np.array, None), [p], {}, node) for p in points]
            return self.call(
                Obj(np.linalg.norm, None), [self.binary(operator.sub, arrays[0], arrays[1], node)], {}, node
            )
        rows = [self.unpacked(p, known[0], node) for p in points]
        apart = [self.binary(operator.sub, a, b, node) for a, b in zip(*rows)]
        return self.call(Obj(math.hypot, None), apart, {}, node)

    def b_mean(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "mean")
        items = self.as_list(args[0], node)
        return self.binary(operator.truediv, self.b_sum([items], {}, node), self.length(items, node), node)

    # --- orders ---------------------------------------------------------------------------------------------------

    def b_sorted(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        options = {"key": None, "reverse": False, **kwargs}
        if len(args) != 1 or len(options) > 2:
            self.fail("sorted() is called with arguments that are not supported", node, "", ArgumentError)
        return self.ordered(args[0], options["key"], options["reverse"], node)

    def keys_for(self, it: Any, key: Any, node: Any) -> Any:
        return it if key is None else self.as_list(IndexedOf("map", (key, it)), node)

    def ordered(self, av: Any, key: Any, reverse: Any, node: Any) -> Any:
        """A new list of the items, sorted by their keys; items with equal keys stay in order."""
        it = self.iterable(av, node)
        items = self.iterated(it, node)
        if not isinstance(reverse, (bool, int)):
            self.fail("sorted() with reverse= known at run time only", node, "use an `if`")
        if items is not None:
            it = Seq(tuple(items))
            if len(items) < 2:
                return self.new_list(items)
        keys = self.keys_for(it, key, node)
        known = [self.static_sort_key(k) for k in self.iterated(keys, node) or ()]
        if items is not None and known and all(k is not NotImplemented for k in known):
            try:
                order = sorted(range(len(items)), key=lambda k: known[k], reverse=bool(reverse))
            except TypeError as error:
                self.fail(str(error), node, "", ArgumentError)
            return self.new_list([items[k] for k in order])
        places = self.order_of(keys, node)
        if reverse:
            last = self.binary(operator.sub, self.iter_length(it, node), 1, node)
            mirrored = self.order_of(self.as_list(ReversedOf(keys), node), node)
            mirrored = self.call(Obj(np.flip, None), [mirrored], {}, node)
            places = self.binary(operator.sub, last, mirrored, node)
        if items is None:
            source = it if type(it) in (ListRef, Ref) else self.as_list(it, node)
            return self.gathered(source, places, node)
        return self.new_list([self.subscript(it, self.subscript(places, k, node), node) for k in range(len(items))])

    def static_sort_key(self, av: Any) -> Any:
        """A key as the Python value that it is, or NotImplemented if it is known at run time only."""
        if is_constant(av):
            return av
        if type(av) is Seq:
            parts = [self.static_sort_key(x) for x in av.items]
            return NotImplemented if any(p is NotImplemented for p in parts) else tuple(parts)
        return NotImplemented

    def key_array(self, keys: Any, node: Any) -> Any:
        """The keys as an array with one axis."""
        if type(keys) is not Ref:
            for k in self.iterated(keys, node) or ():
                if not (is_number(k) or type(k) in (Value, Ref)):
                    self.fail(
                        f"an order by {describe(k)} that is known at run time only", node, "sort by a number: key=..."
                    )
            if type(keys) not in (Seq, ListRef):
                keys = self.as_list(keys, node)
            keys = self.call(Obj(np.array, None), [keys], {}, node)
        if type(keys) is not Ref or self.read(keys, node).type.ndim != 1:
            self.fail("an order of what is not known to be numbers", node, "use np.sort or np.argsort")
        return keys

    def order_of(self, keys: Any, node: Any) -> Any:
        return self.call(Obj(np.argsort, None), [self.key_array(keys, node)], {"kind": "stable"}, node)

    def extreme(self, fn: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        name = fn.__name__
        if set(kwargs) - {"key", "default"} or not args:
            self.fail(f"{name}() is called with arguments that are not supported", node, "", ArgumentError)
        key = kwargs.get("key")
        if len(args) == 1:
            it = self.iterable(args[0], node)
            if type(it) is Ref and key is None and "default" not in kwargs and self.read(it, node).type.ndim == 1:
                return self.call(Obj(getattr(np, name), None), [it], {}, node)
            items = self.iterated(it, node)
            if items is None:
                return self.extreme_item(fn, it, key, kwargs, node)
            if not items:
                if "default" in kwargs:
                    return kwargs["default"]
                self.raises(ValueError, f"{name}() arg is an empty sequence", node)
            args = items
        elif "default" in kwargs:
            self.fail(f"{name}() with a default and several arguments", node, "", ArgumentError)
        known = [self.static_sort_key(k if key is None else self.call(key, [k], {}, node)) for k in args]
        if all(k is not NotImplemented for k in known):
            try:
                return args[known.index(fn(known))] if len(args) > 1 else args[0]
            except TypeError as error:
                self.raises(TypeError, str(error), node)
        if len(args) == 1:
            return args[0]
        if key is not None:
            return self.extreme_item(fn, Seq(tuple(args)), key, {}, node)
        for a in args:
            if type(a) is Value and a.type.kind == "any":
                prefer_known(self, a, unroll=True)
            if type(a) is Ref and self.read(a, node).type.ndim != 0:
                self.fail(
                    f"{name}() of arrays, whose truth is ambiguous", node, f"use np.{name}imum", ArgumentError, cause=a
                )
        return self.call_prim(PRIMS[fn], args, {}, node)

    def extreme_item(self, fn: Any, it: Any, key: Any, kwargs: dict[str, Any], node: Any) -> Any:
        """The first item with the largest or smallest key."""
        if type(it) not in (Seq, ListRef, Ref):
            it = self.as_list(it, node)
        keys = self.keys_for(it, key, node)

        def pick() -> Any:
            array = self.key_array(keys, node)
            place = self.call(Obj(np.argmax if fn is max else np.argmin, None), [array], {}, node)
            return self.subscript(it, place, node)

        n = self.iter_length(it, node)
        if is_static_int(n):
            return pick()
        some = self.truth(self.compare_with(operator.gt, n, 0, node), node)
        if "default" in kwargs:
            return self.branch(some, pick, lambda: kwargs["default"], node)
        self.raise_unless(some, ValueError, f"{fn.__name__}() arg is an empty sequence", node)
        return pick()

    def b_min(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.extreme(min, args, kwargs, node)

    def b_max(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.extreme(max, args, kwargs, node)

    # --- itertools ------------------------------------------------------------------------------------------------

    def itertools_call(self, obj: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        name = obj.__name__
        handler = getattr(self, "i_" + name, None)
        if handler is None:
            self.fail(f"itertools.{name}() is not supported", node, "write the loop")
        return handler(args, kwargs, node)

    def rows(self, name: str, its: list[Any], r: int, node: Any) -> Any:
        """What product, combinations and permutations of some lists give."""
        its = [self.iterable(x, node) for x in its]
        lists = [self.iterated(x, node) for x in its]
        if all(x is not None for x in lists):
            extra = () if name == "product" else (r,)
            rows = list(itertools.islice(getattr(itertools, name)(*lists, *extra), UNROLLED_ROWS + 1))
            kinds = {type(x) in (Value, Ref) or is_number(x) for items in lists for x in items or ()}
            if len(rows) <= UNROLLED_ROWS or kinds != {True}:
                rows = rows if len(rows) <= UNROLLED_ROWS else list(getattr(itertools, name)(*lists, *extra))
                return self.one_shot(Seq(tuple([Seq(tuple(row)) for row in rows])))
        its = [x if type(x) in (RangeOf, Ref, ListRef, Seq) else self.as_list(x, node) for x in its]
        lengths = [self.operand(self.iter_length(x, node), node) for x in its]
        table = self.fresh(self.emit(node, INDEX_TABLE, name, r, *lengths))
        return self.one_shot(IndexedOf("table", (table, *(its if name == "product" else its * r))))

    def i_product(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        repeat = kwargs.get("repeat", 1)
        if not is_static_int(repeat) or set(kwargs) - {"repeat"}:
            self.fail("itertools.product() with repeat= known at run time only", node)
        args = [a if type(a) is not Instance else self.as_list(a, node) for a in args] * repeat
        return self.rows("product", args, len(args), node)

    def chosen(self, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        r: Any = kwargs.get("r", args[1] if len(args) > 1 else None)
        if r is None and name == "permutations":
            r = self.length(args[0], node)
        if not is_static_int(r):
            self.fail(f"itertools.{name}() of a number of items known at run time only", node, "give the number")
        return self.rows(name, args[:1], r, node)

    def i_combinations(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.chosen("combinations", args, kwargs, node)

    def i_permutations(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.chosen("permutations", args, kwargs, node)

    def i_combinations_with_replacement(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.chosen("combinations_with_replacement", args, kwargs, node)

    def i_chain(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(DeferredOf("chain", tuple(args)))

    def i_from_iterable(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(DeferredOf("chained", tuple(args)))

    def computed_chain(self, *its: Any, node: Any) -> Any:
        return self.concatenated(list(its), node)

    def computed_chained(self, its: Any, node: Any) -> Any:
        out = self.new_list([])
        self.each(self.iterable(its, node), lambda item: self.extend(out, item, node), node)
        return out

    def i_accumulate(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        fn = kwargs.get("func", args[1] if len(args) > 1 else None)
        return self.one_shot(DeferredOf("accumulate", (args[0], fn, kwargs.get("initial"))))

    def computed_accumulate(self, it: Any, fn: Any, initial: Any, node: Any) -> Any:
        it = self.iterable(it, node, self.partly)
        if initial is None:
            if self.iterated(it, node) == []:
                return Seq(())
            it, initial = self.split_first(it, node, "accumulate() of an empty iterable")
        out = self.new_list([initial])
        step = self.added(node) if fn is None else lambda a, x: self.call(fn, [a, x], {}, node)

        def one(total: Any, item: Any) -> Any:
            new = step(total, item)
            self.list_append(out, new, node)
            return new

        self.carried("accumulate", initial, it, one, node)
        return out

    def i_pairwise(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(IndexedOf("pairwise", (self.iterable(args[0], node),)))

    def i_starmap(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(IndexedOf("starmap", tuple(args)))

    def i_repeat(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        times = [kwargs["times"]] if "times" in kwargs else args[1:]
        return self.one_shot(IndexedOf("repeat", (args[0], *times)))

    def i_count(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        start, step = (kwargs.get(n, args[k] if len(args) > k else k) for k, n in enumerate(("start", "step")))
        return self.one_shot(IndexedOf("count", (start, step)))

    def i_cycle(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(IndexedOf("cycle", (self.as_list(args[0], node),)))

    def i_islice(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        start, stop, step = (0, args[1], 1) if len(args) == 2 else [*args[1:], None][:3]
        start, step = start or 0, step or 1
        if not (is_static_int(start) and is_static_int(step)):
            self.fail("itertools.islice() with a start or step known at run time only", node, "use an array")
        return self.one_shot(DeferredOf("islice", (args[0], start, stop, step)))

    def computed_islice(self, it: Any, start: int, stop: Any, step: int, node: Any) -> Any:
        if type(it) is not Instance or it.cls is not OneShot:
            it = self.one_shot(it)
        source, place = (self.use(x, "the iterator", node) for x in self.checked(it.cell, node, "iterator").items)
        source = self.opened(source, node)
        start = self.binary(operator.add, place, start, node)
        end = None if stop is None else self.binary(operator.add, place, stop, node)
        self.mutate(it.cell, Entries(("source", "place"), (Seq(()), 0) if end is None else (source, end)), node)
        known = all(x is None or is_static_int(x) for x in (start, end))
        if _endless(source) and known and end is not None and end - start <= UNROLLED_ROWS:
            return Seq(tuple([self.item_of(source, k, node) for k in range(start, end, step)]))
        items = None if _endless(source) else self.iterated(source, node)
        if items is None or not known:
            return IndexedOf("islice", (source, start, end, step))
        if end is not None:
            self.mutate(it.cell, Entries(("source", "place"), (source, min(end, len(items)))), node)
        return Seq(tuple(items[start:end:step]))

    def i_zip_longest(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        lists = [self.static_items(self.iterable(a, node), node) for a in args]
        rows = itertools.zip_longest(*lists, fillvalue=kwargs.get("fillvalue"))
        return self.one_shot(Seq(tuple([Seq(row) for row in rows])))

    def i_filterfalse(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(DeferredOf("filter", (args[0], args[1], False)))

    def i_compress(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        pairs = ZipOf((self.iterable(args[0], node), self.iterable(args[1], node)))
        out = self.new_list([])

        def one(pair: Any) -> None:
            item, flag = pair.items
            self.branch(self.truth(flag, node), lambda: self.list_append(out, item, node), lambda: None, node)

        self.each(pairs, one, node)
        return self.one_shot(out)

    def while_true(self, args: list[Any], take: bool, node: Any) -> Any:
        """takewhile and dropwhile, by conditions that are known at compile time."""
        items = self.static_items(self.iterable(args[1], node, True), node)
        for k, item in enumerate(items):
            flag = self.truth(self.call(args[0], [item], {}, node), node)
            if not isinstance(flag, bool):
                self.fail(
                    f"itertools.{'take' if take else 'drop'}while() by a condition that is known at run time only",
                    node,
                    "write a loop with `break`",
                )
            if not flag:
                return self.one_shot(Seq(tuple(items[:k] if take else items[k:])))
        return self.one_shot(Seq(tuple(items if take else [])))

    def i_takewhile(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.while_true(args, True, node)

    def i_dropwhile(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.while_true(args, False, node)

    # --- generator expressions ------------------------------------------------------------------------------------

    def ev_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        frame: Any = self.frame
        first = self.ev(node.generators[0].iter)
        env = frame.env
        while frame is not None:
            frame.captured = True
            frame = frame.parent
        return self.one_shot(DeferredOf("generator", (first,), node, env))

    def only(self, args: list[Any], low: int, high: int, kwargs: dict[str, Any], node: Any, name: str) -> None:
        if not low <= len(args) <= high or kwargs:
            self.fail(f"{name}() is called with arguments that are not supported", node, "", ArgumentError)


def _endless(av: Any) -> bool:
    if type(av) is EnumerateOf:
        return _endless(av.it)
    if type(av) is ZipOf:
        return bool(av.its) and all(map(_endless, av.its))
    return type(av) is IndexedOf and (
        (av.kind in ENDLESS and not (av.kind == "repeat" and len(av.its) == 2))
        or (av.kind in ("map", "starmap") and all(map(_endless, av.its[1:])))
    )


def is_itertools(obj: Any) -> bool:
    return getattr(obj, "__module__", "") == "itertools" or getattr(obj, "__self__", None) is itertools.chain


__all__ = ["Handler", "Iterators", "is_itertools"]
