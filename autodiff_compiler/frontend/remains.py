"""Iterators: making one, and what is left in it.

The heap holds the `source` of an iterator and the `place` of its next item there. The parts of a source that are
iterators in Python (what a zip or a map goes through) are iterators here, with places of their own.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Iterator
from typing import Any

from ..ir.core import Value
from ..records import replaced
from ..tree import class_lookup
from .avals import (
    CheckpointedOf,
    Conflict,
    DictRef,
    Entries,
    IndexedOf,
    Instance,
    Items,
    ListRef,
    Obj,
    OneShot,
    RangeOf,
    Ref,
    ReversedOf,
    Seq,
    StreamOf,
    ViewOf,
    is_collection,
    is_constant,
    is_iterator,
    is_static_int,
    key_av,
    same,
)
from .collection_calls import Collections
from .comprehensions import FEW
from .objects import is_object
from .ranges import known
from .sets import is_set

UNROLL_LIMIT = 200

ENDLESS = ("count", "cycle", "repeat")
TOGETHER = ("zip", "enumerate", "map", "starmap")  # streams that take an item of each of their iterators
ITERATOR_KEYS = ("$source", "$place")
AT_END = 1 << 60  # the place of an iterator that has found the end of its list
PARTLY = Conflict(
    "is an iterator of which a part has been taken", remedy="make a list of it first, list(...), and loop over that"
)
Count = Any  # an int, inf, or None

_ITERABLE = ("__iter__", "__getitem__")


def _items_of(it: Any) -> Iterator[Any]:
    for item in it:  # noqa: UP028  the value of `yield from` is not known
        yield item


class Remains(Collections):
    # --- making iterators -----------------------------------------------------------------------------------------

    def one_shot(self, source: Any) -> Instance:
        """An iterator over what `source` stands for."""
        return self.new_collection(OneShot, **dict(zip(ITERATOR_KEYS, (source, 0))))

    def iter_of(self, av: Any, node: Any) -> Any:
        """An iterator of what ``iter(av)`` goes through."""
        made = self.iterator(av, node)
        # What defines __next__ is asked for one item after the other, as a generator does that loops over it.
        return made if is_iterator(made) else self.call(Obj(_items_of, None), [made], {}, node)

    def not_checkpointed(self, av: Any, node: Any) -> None:
        """Refuse what only a loop may go through."""
        if type(av) is CheckpointedOf:
            self.fail(
                "checkpointed, and no loop that goes through it itself",
                node,
                "write it around all that the loop goes through: for ... in ad.checkpointed(enumerate(...))",
            )

    def check_iterable(self, av: Any, node: Any) -> None:
        """Raise what Python raises for a number or None where an iterable is asked for."""
        if is_constant(av) or type(av) is Value:
            cls = self.class_of(av, node)
            if cls is not None and not hasattr(cls, "__iter__"):
                self.raises(TypeError, f"{cls.__name__!r} object is not iterable", node)

    def iterator(self, av: Any, node: Any) -> Any:
        """``iter(av)``: an iterator, or the object of a class that defines __next__."""
        av = self.use(av, "the iterable", node)
        self.not_checkpointed(av, node)
        if is_iterator(av):
            return av
        av = self.items_observed(self.underlying(av, node, "__iter__"), node)
        if is_iterator(av):
            return av
        self.check_iterable(av, node)
        if type(av) in (Instance, Obj) and not is_collection(av):
            method = self.type_attribute(av, "__iter__")
            if method is not None:
                made = self.call(method, [av], {}, node)
                if type(made) in (Instance, Obj) and not is_collection(made):
                    if self.type_attribute(made, "__next__") is not None:
                        return made  # it may be the object itself
                return self.iterator(made, node)
            if self.type_attribute(av, "__next__") is not None:
                return av
            if is_object(av) and all(class_lookup(self.cls_of(av), name) is None for name in _ITERABLE):
                cls = self.cls_of(av)
                self.lacks(cls, TypeError, f"{cls.__name__!r} object is not iterable", node)
        if type(av) is DictRef or type(av) is ViewOf or is_collection(av):
            keys = self.keys_of(av, node)
            if keys is not None:
                return self.one_shot(IndexedOf("entries", (av, keys)))
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
        return self.one_shot(StreamOf("generator", (self.iter_of(first, node),), comp, inner.env))

    # --- what is left ---------------------------------------------------------------------------------------------

    def left_in(self, it: Instance, node: Any) -> tuple[Any, Any]:
        source, place = self.checked(it.cell, node, "iterator").items
        if type(source) is Conflict and source is not PARTLY:
            remedy = "make a list of it first, list(...), and loop over that"
            self.fail("where this iterator stands is known at run time only", node, remedy, cause=source)
        return self.use(source, "the iterator", node), self.use(place, "the iterator", node)

    def advance(self, it: Instance, source: Any, place: Any, node: Any) -> None:
        self.mutate(it.cell, Entries(ITERATOR_KEYS, (source, place)), node)

    def restate(self, it: Instance, source: StreamOf, its: tuple[Any, ...], node: Any) -> None:
        self.advance(it, replaced(source, its=its), 0, node)

    def source_of(self, it: Any) -> Any:
        """What an iterator goes through, or None if that is not known."""
        if not is_iterator(it):
            return it
        held = self.held(it.cell)
        return held.items[0] if type(held) is Entries else None

    def is_iterator_cell(self, cell: int) -> bool:
        content = self.held(cell)
        return type(content) is Entries and content.keys == ITERATOR_KEYS

    def endless(self, av: Any) -> bool:
        """An iterable that surely does not end."""
        source = self.source_of(av)
        if type(source) is StreamOf:
            parts = in_step(source)
            return bool(parts) and all(map(self.endless, parts or ()))
        if type(source) is not IndexedOf or (source.kind == "repeat" and len(source.its) == 2):
            return False
        return source.kind in ENDLESS or (source.kind == "from" and self.endless(source.its[0]))

    def count(self, av: Any, node: Any) -> Count:
        """No fewer than the items that are left, as far as that is known at compile time: an int, inf, or None."""
        kind = type(av)
        if is_iterator(av):
            held = self.held(av.cell)
            source, place = held.items if type(held) is Entries else (None, None)
            if type(source) is StreamOf and source.kind in ("body", "rest"):
                return UNROLL_LIMIT
            if not is_static_int(place):
                return None
            n = self.count(source, node)
            return n if n is None or type(source) is StreamOf else max(n - place, 0)
        if kind is StreamOf:
            return self.stream_count(av, node)
        if kind is ReversedOf:
            return self.count(av.it, node) if av.length is None else av.length
        if kind is IndexedOf:
            if av.kind == "entries":
                return len(av.its[1].items)
            if av.kind == "repeat" and len(av.its) == 2:
                return max(av.its[1], 0) if is_static_int(av.its[1]) else None
            return math.inf if av.kind in ENDLESS else None
        if kind is RangeOf:
            real = known(av)
            return None if real is None else len(real)
        if kind is ListRef:
            content = self.content(av.cell)
            return len(content.items) if type(content) is Items else None
        if kind is Ref:
            t = self.read(av, node).type
            n = self.builder.dims.find(t.dims[0]) if t.kind == "array" and t.dims else None
            return n if is_static_int(n) else None
        if (kind is Instance and not is_collection(av)) or kind in (Obj, Value):
            return None
        items = self.known_items(av, node)
        return None if items is None else len(items)

    def stream_count(self, av: StreamOf, node: Any) -> Count:
        kind, its = av.kind, av.its
        if kind == "generator" and not all(self.is_short(g.iter, av) for g in av.node.generators[1:]):
            return None
        if kind in ("called", "body", "rest"):
            return UNROLL_LIMIT
        counts = [self.count(x, node) for x in self.through(av)]
        if None in counts:
            return None
        if kind == "chain":
            return None if self.chained(av) is None else sum(counts)
        if kind == "longest":
            return max(counts, default=0)
        n = min(counts, default=0)
        if kind == "cycle":
            return math.inf
        if kind == "islice":
            static_end = its[3] is None or is_static_int(its[3])
            return min(n, max((math.inf if its[3] is None else its[3]) - its[1], 0)) if static_end else None
        if kind == "tee":
            return n + len(self.known_items(its[1], node) or ())
        return n + (kind == "accumulate")

    def is_short(self, node: ast.expr, av: StreamOf) -> bool:
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
        source = self.source_of(av)
        if type(source) is StreamOf:
            return [x for part in self.through(source) for x in self.leaves_of(part)]
        return self.leaves_of(source.it) if type(source) is ReversedOf else [source]

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
        small = type(source) is StreamOf and source.kind not in TOGETHER and n <= FEW
        return small and not any(type(x) is Ref for x in leaves)

    def through(self, av: StreamOf) -> list[Any]:
        """The iterables that a stream goes through, as far as they are known."""
        if av.kind == "longest":
            return [x for x in av.its[0].items if x is not None]
        if av.kind == "strict":
            return list(av.its)
        known = self.chained(av) if av.kind == "chain" else None
        return known if known is not None else list(in_step(av) or av.its[:1])

    def chained(self, av: StreamOf) -> list[Any] | None:
        """The iterables left in a chain, if they are known."""
        outer, current = av.its
        held = self.held(outer.cell)
        if type(held) is not Entries or type(held.items[0]) not in (Seq, ListRef) or not is_static_int(held.items[1]):
            return None
        known = self.known_items(held.items[0], None)
        begun = [] if current is None else [current]
        return None if known is None else [*begun, *known[held.items[1] :]]

    # --- items by their number ------------------------------------------------------------------------------------

    def by_number(self, av: Any, node: Any) -> bool:
        """Item number `i` of what is left can be computed from `i` alone."""
        source = self.source_of(av)
        if type(source) is not StreamOf:
            plain_object = type(source) is Instance and not is_collection(source)
            return not (source is None or type(source) is Conflict or plain_object)
        kind, its = source.kind, source.its
        if kind == "strict":
            return all(self.is_inert(x, node) for x in its)
        parts = in_step(source)
        if parts is not None:
            return all(self.by_number(x, node) for x in parts)
        if kind == "pairwise":
            return not its[1].items and self.is_inert(its[0], node)
        if kind == "cycle":
            return not its[1].items and not is_static_int(its[2]) and self.is_inert(its[0], node)
        if kind == "islice":
            from_start = is_static_int(its[2]) and its[2] == its[1] and is_static_int(its[4]) and its[4] == 1
            return (its[1] == 0 and type(its[1]) is int) and (
                self.is_inert(its[0], node) or (from_start and self.by_number(its[0], node))
            )
        return False

    def is_inert(self, av: Any, node: Any) -> bool:
        """To compute an item runs nothing of the user's, so that it may be done at any time, and more than once."""
        source = self.source_of(av)
        if type(source) is StreamOf:
            inert = source.kind in ("zip", "enumerate", "strict", "pairwise", "cycle", "islice")
            return inert and self.by_number(source, node) and all(self.is_inert(x, node) for x in self.through(source))
        if type(source) is IndexedOf and source.kind in ("from", "islice", "pairwise", "cycle"):
            return self.is_inert(source.its[0], node)
        return self.by_number(source, node)

    def opened(self, av: Any, left: Any, node: Any) -> Any:
        """The iterable whose items, by their numbers, are those left in an iterator; it then holds what `left` says."""
        if is_iterator(av):
            source, place = self.left_in(av, node)
            self.advance(av, left, 0, node)
            inner = self.opened(source, left, node)
            if type(source) is StreamOf or (is_static_int(place) and place == 0):
                return inner
            if type(inner) is Seq and is_static_int(place):
                return Seq(inner.items[place:])
            if type(inner) is IndexedOf and inner.kind == "count":
                return IndexedOf("count", (self.item_of(inner, place, node), inner.its[1]))
            return IndexedOf("from", (inner, place))
        if type(av) is IndexedOf and av.kind == "entries":
            self.check_entries(av, node)
            return av.its[0]
        if type(av) is not StreamOf:
            return av
        if av.kind == "strict":
            parts = [self.opened(x, left, node) for x in av.its]
            self.check_lengths(parts, node)
            return StreamOf("zip", tuple(parts))
        if av.kind == "islice":
            return self.opened_slice(av.its, left, node)
        its = in_step(av)
        if its is None:  # pairwise or cycle
            return IndexedOf(av.kind, (self.opened(av.its[0], left, node),))
        ending = [x for x in its if not self.endless(x)]
        lefts = [left if ending == [x] else PARTLY for x in its]  # of several the shortest decides
        made = tuple([self.opened(x, now, node) for x, now in zip(its, lefts)])
        return replaced(av, its=(*av.its[: len(av.its) - len(its)], *made))

    def opened_slice(self, its: tuple[Any, ...], left: Any, node: Any) -> Any:
        it, _, start, stop, step = its
        place: Any = 0
        plain = is_iterator(it) and type(self.source_of(it)) is not StreamOf
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
        items = None if self.endless(inner) else self.iterated(inner, node)
        if items is not None and all(x is None or is_static_int(x) for x in (start, stop)):
            return Seq(tuple(items[start:stop:step]))
        return IndexedOf("islice", (inner, start, stop, step))

    def check_lengths(self, parts: list[Any], node: Any) -> None:
        for other in parts[1:]:
            a, b = (self.iter_length(x, node) for x in (parts[0], other))
            equal = self.truth(self.compare_with(operator.eq, a, b, node), node)
            self.raise_unless(equal, ValueError, "zip() arguments have different lengths", node)

    def check_entries(self, source: IndexedOf, node: Any) -> None:
        """What Python says of a dictionary or set that changes while an iterator goes through it."""
        av, keys = source.its
        now = self.keys_of(av, node)
        assert now is not None
        if len(now.items) != len(keys.items):
            what = "Set" if type(av) is Instance and av.cls in (set, frozenset) else "dictionary"
            self.raises(RuntimeError, f"{what} changed size during iteration", node)
        if not all(same(a, b) for a, b in zip(now.items, keys.items)):
            self.fail("a dictionary that gets other keys while an iterator goes through it", node, "loop over a copy")


def in_step(av: StreamOf) -> tuple[Any, ...] | None:
    """The iterators that give one item for each item of the stream; None if theirs are more or fewer."""
    if av.kind in TOGETHER:
        return av.its[1:] if av.kind in ("map", "starmap") else av.its
    simple = av.kind == "generator" and len(av.node.generators) == 1 and not av.node.generators[0].ifs
    return av.its if simple else None
