"""The next item of an iterator, which is computed when it is asked for and not before.

The heap holds the `source` of an iterator and the `place` of its next item there. The parts of a source that are
iterators in Python (what a zip or a map goes through) are iterators here, with places of their own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import ArgumentError
from ..ir.core import Value
from .avals import IndexedOf, Instance, Items, ListRef, Seq, StreamOf, describe, is_iterator, is_static_int
from .remains import AT_END, Remains, in_step

DYNAMIC_TRIES = 24  # items that a filter drops, one after the other, by conditions known at run time
Then = Callable[[Any], Any]


class Stops:
    """What is done where there is no next item: StopIteration is raised."""

    def __init__(self, interp: Pulls, node: Any) -> None:
        self.interp, self.node = interp, node

    def __call__(self) -> NoReturn:
        self.interp.raises(StopIteration, None, self.node)


class Pulls(Remains):
    tries = 0  # nested branches of a filter that looks for its next item

    # --- the next item --------------------------------------------------------------------------------------------

    def pull(self, it: Any, then: Then, done: Callable[[], Any], node: Any) -> Any:
        """The value of ``then(item)`` for the next item of an iterator, or of ``done()`` where there is none."""
        if not is_iterator(it):
            method = self.type_attribute(it, "__next__") if type(it) is Instance else None
            if method is None:
                self.fail(f"{describe(it)} is not an iterator", node, "use iter()", ArgumentError)
            return then(self.call(method, [it], {}, node))
        source, place = self.left_in(it, node)
        if type(source) is StreamOf:
            parts = in_step(source)
            if parts is None:
                handler: Any = getattr(self, "pull_" + source.kind)
                return handler(it, source, then, done, node)
            made = lambda row: then(self.combined(source, row, node))
            return self.pull_all(parts, [], made, done, node) if parts else done()
        if type(source) is IndexedOf and source.kind == "entries":
            self.check_entries(source, node)

        def take() -> Any:
            item = self.item_of(source, place, node)
            self.advance(it, source, self.binary(operator.add, place, 1, node), node)
            return then(item)

        if self.endless(source):
            return take()
        left = self.truth(self.compare_with(operator.lt, place, self.left_length(source, node), node), node)

        def ended() -> Any:
            if type(source) is ListRef:
                self.advance(it, source, AT_END, node)  # it stays there, even if the list grows
            return done()

        if type(done) is Stops and isinstance(left, Value):
            self.raise_unless(left, StopIteration, "", node)
            return take()
        return self.branch(left, take, ended, node)

    def left_length(self, source: Any, node: Any) -> Any:
        n = self.count(source, node)
        return n if is_static_int(n) else self.iter_length(source, node)

    def pull_all(self, its: Any, row: list[Any], then: Any, done: Any, node: Any) -> Any:
        """An item of each iterator, in turn, up to the first that has none."""
        if len(row) == len(its):
            return then(row)
        return self.pull(its[len(row)], lambda x: self.pull_all(its, [*row, x], then, done, node), done, node)

    def next_of(self, it: Any, node: Any) -> list[Any]:
        """The next item in a list, or an empty list, where it is known at compile time whether there is one."""
        box: list[Any] = []

        def got(item: Any) -> bool:
            box.append(item)
            return True

        more = self.pull(it, got, lambda: False, node)
        if not isinstance(more, bool):
            self.fail(
                "whether this iterator has one more item is known at run time only",
                node,
                "write a loop with an `if`, or make a list of it first: list(...)",
            )
        return box[-1:] if more else []

    def retrying(self, attempt: Callable[[Callable[[], Any]], Any], node: Any) -> Any:
        """What `attempt(again)` gives; it calls `again` to be run once more."""
        region, token = self.builder.region, object()

        def again() -> Any:
            if self.builder.region is region:
                return token
            if self.tries >= DYNAMIC_TRIES:
                self.fail(
                    "the next item of an iterator that many conditions known at run time decide",
                    node,
                    "write a loop with an `if`, or make a list of it first: list(...)",
                )
            self.tries += 1
            try:
                return self.retrying(attempt, node)
            finally:
                self.tries -= 1

        while True:
            out = attempt(again)
            if out is not token:
                return out

    def pull_filter(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        inner, fn, want = source.its

        def attempt(again: Callable[[], Any]) -> Any:
            def got(item: Any) -> Any:
                flag = self.truth(item if fn is None else self.call(fn, [item], {}, node), node)
                kept = lambda: then(item)
                return self.branch(flag, *((kept, again) if want else (again, kept)), node)

            return self.pull(inner, got, done, node)

        return self.retrying(attempt, node)

    def pull_generator(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        generators, scope, caller = source.node.generators, self.frames[source.env], self.frame

        def attempt(again: Callable[[], Any]) -> Any:
            its = self.left_in(it, node)[0].its
            gen = generators[len(its) - 1]

            def passed() -> Any:
                if len(its) < len(generators):
                    inner = self.iter_of(self.ev(generators[len(its)].iter), node)
                    self.restate(it, source, (*its, inner), node)
                    return self.within(caller, again)
                item = self.ev(source.node.elt)
                return self.within(caller, lambda: then(item))

            def tested(k: int) -> Any:
                if k == len(gen.ifs):
                    return passed()
                flag = self.condition(gen.ifs[k])
                return self.branch(flag, lambda: tested(k + 1), lambda: self.within(caller, again), node)

            def got(item: Any) -> Any:
                def body() -> Any:
                    self.assign(gen.target, item, gen.target)
                    return tested(0)

                return self.within(scope, body)

            def ended() -> Any:
                if len(its) == 1:
                    return done()
                self.restate(it, source, its[:-1], node)
                return again()

            return self.pull(its[-1], got, ended, node)

        return self.retrying(attempt, node)

    def pull_chain(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        """`its`: what gives the iterables, and the iterator of the one that is being gone through, or None."""

        def attempt(again: Callable[[], Any]) -> Any:
            outer, current = self.left_in(it, node)[0].its

            def entered(part: Any) -> Any:
                self.restate(it, source, (outer, self.iter_of(part, node)), node)
                return again()

            def ended() -> Any:
                self.restate(it, source, (outer, None), node)
                return again()

            if current is None:
                return self.pull(outer, entered, done, node)
            return self.pull(current, then, ended, node)

        return self.retrying(attempt, node)

    def pull_accumulate(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        """`its`: the iterator, the function, what was given last in a tuple, and the initial value in a tuple."""
        inner, fn, total, initial = source.its
        if initial.items:
            self.restate(it, source, (inner, fn, initial, Seq(())), node)
            return then(initial.items[0])

        def got(item: Any) -> Any:
            new = item if not total.items else self.stepped(fn, node)(total.items[0], item)
            self.restate(it, source, (inner, fn, Seq((new,)), initial), node)
            return then(new)

        return self.pull(inner, got, done, node)

    def stepped(self, fn: Any, node: Any) -> Callable[[Any, Any], Any]:
        if fn is None:
            return lambda a, x: self.binary(operator.add, a, x, node)
        return lambda a, x: self.call(fn, [a, x], {}, node)

    def pull_islice(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        """`its`: the iterator, how many items were taken from it, the number of the next, the end, and the step."""
        inner, count, after, stop, step = source.its
        if not (is_static_int(count) and is_static_int(after) and (stop is None or is_static_int(stop))):
            self.fail("itertools.islice() by numbers known at run time only, item by item", node, "loop over it")
        if count < after:

            def skipped(_: Any) -> Any:
                self.restate(it, source, (inner, count + 1, after, stop, step), node)
                return self.pull(it, then, done, node)

            return self.pull(inner, skipped, done, node)
        if stop is not None and count >= stop:
            return done()

        def got(item: Any) -> Any:
            following = after + step if stop is None else min(after + step, stop)
            self.restate(it, source, (inner, count + 1, following, stop, step), node)
            return then(item)

        return self.pull(inner, got, done, node)

    def pull_takewhile(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        inner, fn, ended = source.its
        if ended is not False:
            if ended is True:
                return done()
            self.fail("itertools.takewhile() that may have ended", node, "write a loop with `break`")

        def stop() -> Any:
            self.restate(it, source, (inner, fn, True), node)
            return done()

        def got(item: Any) -> Any:
            flag = self.truth(self.call(fn, [item], {}, node), node)
            return self.branch(flag, lambda: then(item), stop, node)

        return self.pull(inner, got, done, node)

    def pull_dropwhile(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        def attempt(again: Callable[[], Any]) -> Any:
            inner, fn, begun = self.left_in(it, node)[0].its

            def begin(item: Any) -> Any:
                self.restate(it, source, (inner, fn, True), node)
                return then(item)

            def got(item: Any) -> Any:
                flag = self.truth(self.call(fn, [item], {}, node), node)
                return self.branch(flag, again, lambda: begin(item), node)

            if isinstance(begun, Value):
                self.fail("itertools.dropwhile() that may have begun", node, "write a loop with an `if`")
            return self.pull(inner, then if begun else got, done, node)

        return self.retrying(attempt, node)

    def pull_pairwise(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        inner, before = source.its

        def first(item: Any) -> Any:
            self.restate(it, source, (inner, Seq((item,))), node)
            return self.pull(it, then, done, node)

        def got(item: Any) -> Any:
            self.restate(it, source, (inner, Seq((item,))), node)
            return then(Seq((before.items[0], item)))

        return self.pull(inner, got if before.items else first, done, node)

    def pull_cycle(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        """`its`: the iterator, the items seen, and the number of the next of them, once it has ended."""
        inner, seen, place = source.its

        def got(item: Any) -> Any:
            self.restate(it, source, (inner, Seq((*seen.items, item)), None), node)
            return then(item)

        def over() -> Any:
            if not seen.items:
                return done()
            self.restate(it, source, (inner, seen, 1 % len(seen.items)), node)
            return then(seen.items[0])

        if place is None:
            return self.pull(inner, got, over, node)
        self.restate(it, source, (inner, seen, (place + 1) % len(seen.items)), node)
        return then(seen.items[place])

    def pull_longest(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        """`its`: a tuple of the iterators, None for those at their end; and the filling."""
        its, fill = source.its
        left = list(its.items)
        row: list[Any] = []
        for k, inner in enumerate(left):
            item = [] if inner is None else self.next_of(inner, node)
            if not item:
                left[k] = None
            row.append(item[0] if item else fill)
        self.restate(it, source, (Seq(tuple(left)), fill), node)
        if all(x is None for x in left):
            return done()
        return then(Seq(tuple(row)))

    def pull_strict(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        row: list[Any] = []
        for k, inner in enumerate(source.its):
            item = self.next_of(inner, node)
            if not item and k:
                plural = " 1" if k == 1 else f"s 1-{k}"
                self.raises(ValueError, f"zip() argument {k + 1} is shorter than argument{plural}", node)
            if not item:
                for n, other in enumerate(source.its[1:], 1):
                    if self.next_of(other, node):
                        plural = " 1" if n == 1 else f"s 1-{n}"
                        self.raises(ValueError, f"zip() argument {n + 1} is longer than argument{plural}", node)
                return done()
            row += item
        return then(Seq(tuple(row))) if row else done()

    def pull_tee(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        """`its`: the iterator, the items that this one has not given yet, and all its siblings, which wait for those
        that it takes."""
        inner, waiting, siblings = source.its
        items = self.known_items(waiting, node) or []
        if items:
            self.list_pop(waiting, 0, node)
            return then(items[0])

        def got(item: Any) -> Any:
            for other in siblings.items:
                if other.cell != waiting.cell:
                    self.list_append(other, item, node)
            return then(item)

        return self.pull(inner, got, done, node)

    def pull_groupby(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        """`its`: the iterator, the key function, and a list: the item and key at hand, and which group is open."""
        inner, fn, hand = source.its
        state = self.known_items(hand, node) or []
        if not state:
            state = self.next_grouped(inner, fn, hand, None, 0, node)
        while len(state) == 4 and state[3] and self.same_key(state[1], state[2], node):  # go on to the next key
            state = self.next_grouped(inner, fn, hand, state[2], state[3], node)
        if len(state) != 4:
            return done()
        item, key, _, number = state
        self.state.heap[hand.cell] = Items((item, key, key, number + 1))
        group = self.one_shot(StreamOf("group", (inner, fn, hand, key, number + 1)))
        return then(Seq((key, group)))

    def next_grouped(self, inner: Any, fn: Any, hand: ListRef, current: Any, number: int, node: Any) -> list[Any]:
        """What is at hand after the next item was taken: it, its key, the key of the group, and the group's number."""
        item = self.next_of(inner, node)
        state = [number]
        if item:
            key = item[0] if fn is None else self.call(fn, item, {}, node)
            state = [item[0], key, current, number]
        self.mutate(hand.cell, Items(tuple(state)), node)
        return state

    def same_key(self, a: Any, b: Any, node: Any) -> bool:
        equal = self.truth(self.compare_with(operator.eq, a, b, node), node)
        if not isinstance(equal, bool):
            self.fail("itertools.groupby() by keys known at run time only", node, "write a loop with an `if`")
        return equal

    def pull_group(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        inner, fn, hand, key, number = source.its
        state = self.known_items(hand, node) or []
        if len(state) != 4 or state[3] != number or not self.same_key(state[1], key, node):
            return done()
        self.next_grouped(inner, fn, hand, key, number, node)
        return then(state[0])

    def pull_called(self, it: Instance, source: StreamOf, then: Then, done: Any, node: Any) -> Any:
        fn, sentinel = source.its
        item = self.call(fn, [], {}, node)
        equal = self.truth(self.compare_with(operator.eq, item, sentinel, node), node)

        def over() -> Any:
            self.advance(it, Seq(()), 0, node)
            return done()

        return self.branch(equal, over, lambda: then(item), node)


__all__ = ["Pulls", "Stops"]
