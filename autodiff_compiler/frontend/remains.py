"""Iterators: making one, and what is left in it.

The heap holds the `source` of an iterator and the `place` of its next item there. The parts of a source that are
iterators in Python (what a zip or a map goes through) are iterators here, with places of their own.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..ir.core import Value
from ..tree import class_lookup
from .avals import (
    Conflict,
    DeferredOf,
    DictRef,
    Entries,
    EnumerateOf,
    IndexedOf,
    Instance,
    Items,
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
    is_collection,
    is_static_int,
    key_av,
    same,
)
from .calls import FEW
from .collection_calls import Collections
from .objects import is_object
from .sets import is_set

UNROLL_LIMIT = 200
DYNAMIC_TRIES = 24  # items that a filter drops, one after the other, by conditions known at run time

ENDLESS = ("count", "cycle", "repeat")
ITERATOR_KEYS = ("$source", "$place")
AT_END = 1 << 60  # the place of an iterator that has found the end of its list
PARTLY = Conflict(
    "is an iterator of which a part has been taken", remedy="make a list of it first, list(...), and loop over that"
)
Then = Callable[[Any], Any]


Count = Any  # an int, inf, or None

_ITERABLE = ("__iter__", "__getitem__")


class Remains(Collections):
    # --- making iterators -----------------------------------------------------------------------------------------

    def one_shot(self, source: Any) -> Instance:
        """An iterator over what `source` stands for."""
        return self.new_collection(OneShot, **dict(zip(ITERATOR_KEYS, (source, 0))))

    def iter_of(self, av: Any, node: Any) -> Any:
        """``iter(av)``."""
        if type(av) in (Maybe, Conflict):
            av = self.use(av, "the iterable", node)
        if is_iterator(av):
            return av
        av = self.underlying(av, node, "__iter__")
        if type(av) in (Instance, Obj) and not is_collection(av):
            method = self.type_attribute(av, "__iter__")
            if method is not None:
                made = self.call(method, [av], {}, node)
                if type(made) is Instance and not is_collection(made):
                    if self.type_attribute(made, "__next__") is not None:
                        return made  # it may be the object itself
                return self.iter_of(made, node)
            if type(av) is Instance and self.type_attribute(av, "__next__") is not None:
                return av
            if is_object(av) and all(class_lookup(self.cls_of(av), name) is None for name in _ITERABLE):
                self.raises(TypeError, f"{self.cls_of(av).__name__!r} object is not iterable", node)
        if type(av) is DictRef or type(av) is ViewOf or is_collection(av):
            keys = self.keys_of(av, node)
            if keys is not None:
                return self.one_shot(DeferredOf("entries", (av, keys)))
        return self.one_shot(av)

    def keys_of(self, av: Any, node: Any) -> Seq | None:
        """The keys of a dictionary, or the members of a set, that an iterator goes through; None for a deque."""
        if type(av) is ViewOf:
            av = av.of
        if is_set(av):
            return self.in_order(av, node)
        if is_collection(av):
            av = self.inner(av, node)
        if type(av) is not DictRef:
            return None
        return Seq(tuple([key_av(k) for k in self.checked(av.cell, node, "dictionary").keys]))

    def generator(self, comp: Any, first: Any, node: Any) -> Instance:
        """The iterator of a generator expression, whose targets live in a scope of their own."""
        frame = self.frame
        up: Any = frame
        while up is not None:
            up.captured = True
            up = up.parent
        inner = self.comprehension_frame(comp.generators)
        inner.captured = True
        return self.one_shot(DeferredOf("generator", (self.iter_of(first, node),), comp, inner.env))

    # --- what is left ---------------------------------------------------------------------------------------------

    def left_in(self, it: Instance, node: Any) -> tuple[Any, Any]:
        source, place = self.checked(it.cell, node, "iterator").items
        return self.use(source, "the iterator", node), self.use(place, "the iterator", node)

    def advance(self, it: Instance, source: Any, place: Any, node: Any) -> None:
        self.mutate(it.cell, Entries(ITERATOR_KEYS, (source, place)), node)

    def restate(self, it: Instance, source: DeferredOf, its: tuple[Any, ...], node: Any) -> None:
        self.advance(it, replace(source, its=its), 0, node)

    def source_of(self, it: Any) -> Any:
        """What an iterator goes through, or None if that is not known."""
        if type(it) is not Instance or it.cls is not OneShot:
            return it
        held = self.held(it.cell)
        return held.items[0] if type(held) is Entries else None

    def is_iterator_cell(self, cell: int) -> bool:
        content = self.held(cell)
        return type(content) is Entries and content.keys == ITERATOR_KEYS

    def count(self, av: Any, node: Any) -> Count:
        """No fewer than the items that are left, as far as that is known at compile time: an int, inf, or None."""
        kind = type(av)
        if kind is Instance and av.cls is OneShot:
            held = self.held(av.cell)
            if type(held) is not Entries or not is_static_int(held.items[1]):
                return None
            source, place = held.items
            n = self.count(source, node)
            return max(n - place, 0) if n is not None and not has_parts(source) else n
        if kind is ZipOf or (kind is IndexedOf and av.kind == "map"):
            counts = [self.count(x, node) for x in (av.its if kind is ZipOf else av.its[1:])]
            return None if None in counts else min(counts, default=0)
        if kind is ReversedOf and av.length is not None:
            return av.length
        if kind is EnumerateOf or kind is ReversedOf:
            return self.count(av.it, node)
        if kind is IndexedOf:
            if av.kind == "starmap":
                return self.count(av.its[1], node)
            if av.kind == "repeat" and len(av.its) == 2:
                return max(av.its[1], 0) if is_static_int(av.its[1]) else None
            return math.inf if av.kind in ENDLESS else None
        if kind is DeferredOf:
            return self.deferred_count(av, node)
        if kind is RangeOf:
            bounds = (av.start, av.stop, av.step)
            return len(range(*bounds)) if all(map(is_static_int, bounds)) else None
        if kind is ListRef:
            content = self.content(av.cell)
            return len(content.items) if type(content) is Items else None
        if kind is Ref:
            t = self.read(av, node).type
            n = self.builder.dims.find(t.dims[0]) if t.kind == "array" and t.dims else None
            return n if is_static_int(n) else None
        if is_iterator(av) or (kind is Instance and not is_collection(av)) or kind in (Obj, Value):
            return None
        items = self.known_items(av, node)
        return None if items is None else len(items)

    def deferred_count(self, av: DeferredOf, node: Any) -> Count:
        its = av.its
        if av.kind == "generator":
            inner = all(self.is_short(g.iter, av) for g in av.node.generators[1:])
            return self.count(its[0], node) if inner else None
        if av.kind == "entries":
            return len(its[1].items)
        if av.kind == "called":
            return UNROLL_LIMIT
        if av.kind == "chain":
            counts = [self.count(x, node) for x in its if x is not None]
            return None if None in counts else sum(counts)
        if av.kind == "chained":
            outer = self.source_of(its[0])
            known = self.known_items(outer, node) if type(outer) in (Seq, ListRef) else None
            counts = [None] if known is None else [self.count(x, node) for x in known]
            return None if None in counts else sum(counts)
        if av.kind == "cycle":
            return None if self.count(its[0], node) is None else math.inf
        if av.kind == "longest":
            counts = [self.count(x, node) for x in its[0].items]
            return None if None in counts else max(counts, default=0)
        if av.kind == "strict":
            counts = [self.count(x, node) for x in its]
            return None if None in counts else min(counts, default=0)
        n = self.count(its[0], node)
        if av.kind == "islice":
            static_end = its[3] is None or is_static_int(its[3])
            ends = its[3] if its[3] is not None else math.inf
            return None if n is None or not static_end else min(n, max(ends - its[1], 0))
        if av.kind == "compress":
            m = self.count(its[1], node)
            return None if n is None or m is None else min(n, m)
        if av.kind == "tee":
            return None if n is None else n + len(self.known_items(its[1], node) or ())
        return None if n is None else n + (av.kind == "accumulate")

    def is_short(self, node: ast.expr, av: DeferredOf) -> bool:
        """An inner iterable of a generator expression whose length is surely known at compile time, if the targets of
        the outer ones are."""
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return not any(isinstance(x, ast.Starred) for x in node.elts)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            targets = {n.id for g in av.node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            names = [n.id for a in node.args for n in ast.walk(a) if isinstance(n, ast.Name)]
            calls = any(isinstance(n, (ast.Call, ast.Subscript, ast.Attribute)) for a in node.args for n in ast.walk(a))
            return not calls and set(names) <= targets
        if isinstance(node, ast.Name):
            frame: Any = self.frames[av.env].parent
            while frame is not None:
                found = self.state.envs.get(frame.env, {}).get(node.id)
                if found is not None:
                    return type(found) is Seq or (type(found) is ListRef and type(self.content(found.cell)) is Items)
                frame = frame.parent
        return False

    def leaves_of(self, av: Any) -> list[Any]:
        """What an iterator goes through in the end."""
        kind = type(av)
        if kind is Instance and av.cls is OneShot:
            return self.leaves_of(self.source_of(av))
        parts: tuple[Any, ...] | None = None
        if kind is ZipOf:
            parts = av.its
        elif kind is IndexedOf and av.kind in ("map", "starmap"):
            parts = av.its[1:]
        elif kind is EnumerateOf or kind is ReversedOf:
            parts = (av.it,)
        elif kind is DeferredOf:
            if av.kind == "longest":
                parts = tuple(av.its[0].items)
            elif av.kind in ("chain", "compress", "strict"):
                parts = av.its
            elif av.kind == "entries":
                return [av.its[0]]
            else:
                parts = av.its[:1]
        return [av] if parts is None else [x for p in parts if p is not None for x in self.leaves_of(p)]

    def unrolls(self, it: Any, node: Any) -> bool:
        """The loop over an iterator is copied out, one trip for each item."""
        n = self.count(it, node)
        if n is None or n > UNROLL_LIMIT:
            return False
        leaves = self.leaves_of(it)
        plain = (RangeOf, Ref, Value)
        if any(type(x) not in plain and not (type(x) is IndexedOf and x.kind in ENDLESS) for x in leaves):
            return True
        source = self.source_of(it)
        return type(source) is DeferredOf and n <= FEW and not any(type(x) is Ref for x in leaves)

    # --- items by their number ------------------------------------------------------------------------------------

    def by_number(self, av: Any, node: Any) -> bool:
        """Item number `i` of what is left can be computed from `i` alone."""
        kind = type(av)
        if kind is Instance and av.cls is OneShot:
            return self.by_number(self.source_of(av), node)
        if kind is ZipOf:
            return all(self.by_number(x, node) for x in av.its)
        if kind is EnumerateOf:
            return self.by_number(av.it, node)
        if kind is IndexedOf and av.kind in ("map", "starmap"):
            return all(self.by_number(x, node) for x in av.its[1:])
        if kind is DeferredOf:
            its = av.its
            if av.kind == "generator":
                gens = av.node.generators
                return len(gens) == 1 and not gens[0].ifs and self.by_number(its[0], node)
            if av.kind == "entries":
                return True
            if av.kind == "pairwise":
                return not its[1].items and self.is_inert(its[0], node)
            if av.kind == "cycle":
                return not its[1].items and not is_static_int(its[2]) and self.is_inert(its[0], node)
            if av.kind == "islice":
                from_start = is_static_int(its[2]) and its[2] == its[1] and is_static_int(its[4]) and its[4] == 1
                return (its[1] == 0 and type(its[1]) is int) and (
                    self.is_inert(its[0], node) or (from_start and self.by_number(its[0], node))
                )
            if av.kind == "strict":
                return all(self.is_inert(x, node) for x in its)
            return False
        if kind is type(None) or kind is Conflict:
            return False
        return kind is not Instance or is_collection(av)

    def is_inert(self, av: Any, node: Any) -> bool:
        """To compute an item runs nothing of the user's, so that it may be done at any time, and more than once."""
        kind = type(av)
        if kind is Instance and av.cls is OneShot:
            return self.is_inert(self.source_of(av), node)
        if kind is ZipOf:
            return all(self.is_inert(x, node) for x in av.its)
        if kind is EnumerateOf:
            return self.is_inert(av.it, node)
        if kind is IndexedOf:
            if av.kind in ("map", "starmap"):
                return False
            return av.kind not in ("from", "islice", "pairwise", "cycle") or self.is_inert(av.its[0], node)
        if kind is DeferredOf:
            return (
                av.kind in ("entries", "pairwise", "cycle", "islice", "strict")
                and self.by_number(av, node)
                and all(self.is_inert(x, node) for x in (av.its if av.kind == "strict" else av.its[:1]))
            )
        return self.by_number(av, node)

    def opened(self, av: Any, left: Any, node: Any) -> Any:
        """The iterable whose items, by their numbers, are those left in an iterator; it then holds what `left` says."""
        kind = type(av)
        if kind is Instance and av.cls is OneShot:
            source, place = self.left_in(av, node)
            self.advance(av, left, 0, node)
            if type(source) is EnumerateOf:
                start = self.binary(operator.add, source.start, place, node)
                return EnumerateOf(self.opened(source.it, left, node), start)
            inner = self.opened(source, left, node)
            if (is_static_int(place) and place == 0) or (has_parts(source) and type(source) is not DeferredOf):
                return inner
            if type(inner) is Seq and is_static_int(place):
                return Seq(inner.items[place:])
            return IndexedOf("from", (inner, place))
        if kind is ZipOf or (kind is IndexedOf and av.kind in ("map", "starmap")):
            first = 0 if kind is ZipOf else 1
            its = av.its[first:]
            if len(its) > 1:
                left = PARTLY  # the shortest decides
            parts = [self.opened(x, left, node) for x in its]
            return ZipOf(tuple(parts)) if kind is ZipOf else IndexedOf(av.kind, (av.its[0], *parts))
        if kind is EnumerateOf:
            return EnumerateOf(self.opened(av.it, left, node), av.start)
        if kind is DeferredOf:
            its = av.its
            if av.kind == "entries":
                self.check_entries(av, node)
                return its[0]
            if av.kind == "pairwise":
                return IndexedOf("pairwise", (self.opened(its[0], left, node),))
            if av.kind == "cycle":
                return IndexedOf("cycle", (self.opened(its[0], left, node),))
            if av.kind == "strict":
                parts = [self.opened(x, left, node) for x in its]
                self.check_lengths(parts, node)
                return ZipOf(tuple(parts))
            if av.kind == "islice":
                return self.opened_slice(its, left, node)
            return replace(av, its=tuple([self.opened(x, left, node) for x in its]))
        return av

    def opened_slice(self, its: tuple[Any, ...], left: Any, node: Any) -> Any:
        it, _, start, stop, step = its
        place: Any = 0
        plain = type(it) is Instance and not has_parts(self.source_of(it))
        if plain:
            source, place = self.left_in(it, node)
        inner = self.opened(it, left, node)
        if plain and stop is not None and type(left) is Seq:
            end = self.binary(operator.add, place, stop, node)
            if is_static_int(end) and (n := self.count(source, node)) is not None:
                end = min(end, n)
            self.advance(it, source, end, node)
        elif stop is not None and is_iterator(it):
            self.advance(it, PARTLY, 0, node)
        items = None if endless(inner) else self.iterated(inner, node)
        if items is not None and all(x is None or is_static_int(x) for x in (start, stop)):
            return Seq(tuple(items[start:stop:step]))
        return IndexedOf("islice", (inner, start, stop, step))

    def check_lengths(self, parts: list[Any], node: Any) -> None:
        for other in parts[1:]:
            a, b = (self.iter_length(x, node) for x in (parts[0], other))
            equal = self.truth(self.compare_with(operator.eq, a, b, node), node)
            self.raise_unless(equal, ValueError, "zip() arguments have different lengths", node)

    def check_entries(self, source: DeferredOf, node: Any) -> None:
        """What Python says of a dictionary or set that changes while an iterator goes through it."""
        av, keys = source.its
        now = self.keys_of(av, node)
        assert now is not None
        if len(now.items) != len(keys.items):
            what = "Set" if type(av) is Instance and av.cls in (set, frozenset) else "dictionary"
            self.raises(RuntimeError, f"{what} changed size during iteration", node)
        if not all(same(a, b) for a, b in zip(now.items, keys.items)):
            self.fail("a dictionary that gets other keys while an iterator goes through it", node, "loop over a copy")


def is_iterator(av: Any) -> bool:
    return type(av) is Instance and av.cls is OneShot


def has_parts(source: Any) -> bool:
    """The places are those of the iterators inside."""
    if type(source) is DeferredOf:
        return bool(source.kind != "entries")
    return type(source) in (ZipOf, EnumerateOf) or (type(source) is IndexedOf and source.kind in ("map", "starmap"))


def endless(av: Any) -> bool:
    """An iterable, opened, that does not end."""
    if type(av) is EnumerateOf:
        return endless(av.it)
    if type(av) is ZipOf:
        return bool(av.its) and all(map(endless, av.its))
    if type(av) is DeferredOf:
        return av.kind == "generator" and endless(av.its[0])
    return type(av) is IndexedOf and (
        (av.kind in ENDLESS and not (av.kind == "repeat" and len(av.its) == 2))
        or (av.kind in ("map", "starmap") and all(map(endless, av.its[1:])))
        or (av.kind == "from" and endless(av.its[0]))
    )


__all__ = [
    "AT_END",
    "ENDLESS",
    "ITERATOR_KEYS",
    "PARTLY",
    "UNROLL_LIMIT",
    "Remains",
    "endless",
    "has_parts",
    "is_iterator",
]
