"""All that is left in an iterator: loops over it, and what takes its items in one go."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import AutodiffError
from ..ir.core import type_of
from .avals import (
    Conflict,
    DictRef,
    Entries,
    IndexedOf,
    Instance,
    Items,
    ListRef,
    Maybe,
    Obj,
    OneShot,
    Ref,
    ReversedOf,
    Seq,
    StreamOf,
    ViewOf,
    is_collection,
    is_iterator,
    parts_of,
    same,
)
from .core import Unreachable
from .exits import NORMAL
from .generators import Generators
from .handlers import Node, Val
from .loops import BODIES
from .pseudo import choice, computed, run
from .remains import ITERATOR_KEYS, PARTLY, TOGETHER, UNROLL_LIMIT, in_step
from .splitting import Bind, Later
from .state import State


def has_effects(ops: list[Any]) -> bool:
    return any(op.prim.effects or any(has_effects(r.ops) for r in op.regions) for op in ops)


class Streams(Generators):
    # --- all that is left -----------------------------------------------------------------------------------------

    def iterable(self, av: Val, node: Node) -> Any:
        """What can be gone through to the end by the numbers of its items, once; an iterator is used up by it."""
        av = self.use(av, "the iterable", node)
        self.not_checkpointed(av, node)
        if type(av) in (IndexedOf, StreamOf):
            av = self.one_shot(av)
        av = self.items_observed(self.underlying(av, node, "__iter__"), node)
        if type(av) in (Instance, Obj) and not is_collection(av):
            av = self.iter_of(av, node)
        if not is_iterator(av):
            self.check_iterable(av, node)
            return av
        source = self.left_in(av, node)[0]
        if self.is_inert(source, node) or (not self.unrolls(av, node) and self.by_number(av, node)):
            return self.exhausted(av, node)
        ahead: list[Any] = []
        if not self.pushable(av, node):
            av, ahead = self.computed_inside(av, node)
            if self.is_inert(av, node):
                return self.exhausted(av, node)
        out = self.new_list([])
        self.push(av, lambda item: self.list_append(out, item, node), node)
        self.check_ahead(ahead, node)
        items = self.iterated(out, node)
        return out if items is None else Seq(tuple(items))

    def exhausted(self, it: Val, node: Node, left: Any = None) -> Any:
        """The iterable whose items, by their numbers, are those left in an iterator, of which nothing is left then."""
        return self.check_zip(self.opened(it, Seq(()) if left is None else left, node), node)

    def is_stepwise(self, it: Val, node: Node) -> bool:
        """The items of an iterator are computed one by one, and it is known when it ends."""
        return is_iterator(it) and self.unrolls(it, node) and self.steps_known(it, node)

    def pushable(self, it: Val, node: Node) -> bool:
        """`push` goes through it one item at a time."""
        source = self.source_of(it)
        if self.body_in(it) is not None or self.is_stepwise(it, node):
            return True
        return type(source) is StreamOf and (
            source.kind in ("filter", "chain", "accumulate") or (source.kind == "generator" and len(source.its) == 1)
        )

    def push(self, av: Val, one: Callable[[Any], None], node: Node, few: int = 0, at: Any = None) -> None:
        """Run `one` for each item of an iterable, or left in an iterator, as soon as there is the item.

        few: the trips of a loop over a range that are copied out; at: the loop's syntax node.
        """
        at = node if at is None else at
        av = self.told(at, av)
        av = self.items_observed(self.underlying(av, node, "__iter__"), node)
        if not is_iterator(av) and (type(av) in (ListRef, DictRef, ViewOf, Instance, Obj, Maybe)):
            if type(av) is not ListRef or type(self.content(av.cell)) is Items:
                av = self.iter_of(av, node)
        source = self.source_of(av)
        kind = source.kind if is_iterator(av) and type(source) is StreamOf else ""
        if kind == "generator" and len(source.its) == 1:
            caller, comp = self.frame, source.node

            def add() -> None:
                item = self.ev(comp.elt)
                self.within(caller, lambda: one(item))

            scope = self.frames[source.env]
            self.within(scope, lambda: self.comprehend_from(comp.generators, 0, source.its[0], add, comp))
        elif kind in BODIES:
            self.push_body(av, one, node)
        elif kind == "filter":
            fn, want = source.its[1:]

            def tried(item: Val) -> None:
                flag = self.truth(item if fn is None else self.call(fn, [item], {}, node), node)
                ways = (lambda: one(item), lambda: None)
                self.branch(flag, *(ways if want else ways[::-1]), node)

            self.push(source.its[0], tried, node, few, at)
        elif kind == "chain":
            outer, current = source.its
            self.restate(av, source, (outer, None), node)
            if current is not None:
                self.push(current, one, node, few)
            self.push(outer, lambda part: self.push(part, one, node, few), node, few, at)
        elif self.is_stepwise(av, node):
            begin = self.trips_taken(av, one, node)
            while (step := begin()) is not None:
                with self.copy("unroll", node, "the loop"):
                    step()
        elif kind == "accumulate":
            self.push_accumulated(av, source, one, node)
        elif is_iterator(av):
            av, ahead = self.computed_inside(av, node)
            self.each(self.exhausted(av, node), one, node, few, at)
            self.check_ahead(ahead, node)
        else:
            self.each(av, one, node, few, at)

    def push_accumulated(self, it: Instance, source: StreamOf, one: Callable[[Any], None], node: Node) -> None:
        inner, fn, given, initial = source.its
        self.restate(it, source, (inner, fn, Seq(()), Seq(())), node)
        if given.items or initial.items:
            self.accumulate_from((given.items or initial.items)[0], inner, fn, one, node, not given.items)
            return
        some, first, rest, ahead = self.begun(inner, node)
        self.branch(some, lambda: self.accumulate_from(first(), rest, fn, one, node), lambda: None, node)
        self.check_ahead(ahead, node)

    def accumulate_from(
        self, total: Any, rest: Any, fn: Any, one: Callable[[Any], None], node: Node, new: bool = True
    ) -> None:
        if new:
            one(total)

        def step(a: Val, x: Any) -> Any:
            total = self.stepped(fn, node)(a, x)
            one(total)
            return total

        self.carried("accumulate", total, rest, step, node)

    def carried(self, name: str, start: Any, it: Val, step: Callable[[Any, Any], Any], node: Node) -> Any:
        """What `step`, called with what it returned before and each item, returns last."""
        env = self.frame.env
        name = f"${name}{getattr(node, 'lineno', 0)}_{getattr(node, 'col_offset', 0)}"
        while name in self.state.envs[env]:  # of a call inside, such as sum(map(sum, rows))
            name += "_"
        self.state.envs[env][name] = start

        def one(item: Val) -> None:
            new = step(self.state.envs[env][name], item)
            self.state.envs[env][name] = new

        self.push(it, one, node)
        return self.use(self.state.envs[env].pop(name), "the result", node)

    def begun(self, it: Val, node: Node) -> tuple[Any, Callable[[], Any], Any, list[Any]]:
        """Whether an iterable has an item, what gives the first, the rest, and what was computed ahead."""
        it = self.iter_of(it, node)
        if self.is_stepwise(it, node) or not is_iterator(it):
            found = self.next_of(it, node)
            return bool(found), lambda: found[0], it, []
        it, ahead = self.computed_inside(it, node)
        av = self.exhausted(it, node)
        some = self.truth(self.compare_with(operator.gt, self.iter_length(av, node), 0, node), node)
        return some, lambda: self.item_of(av, 0, node), IndexedOf("from", (av, 1)), ahead

    def each(self, it: Val, one: Callable[[Any], None], node: Node, few: int = 0, at: Any = None) -> None:
        """Run `one` for each item of an iterable that is no iterator."""
        at = node if at is None else at
        it = self.looped(it, node)
        items = self.trips(at, it)
        if items is None and few and type(it) is not Ref:
            found = self.iterated(it, node)
            items = found if found is not None and len(found) <= few else None
        if items is not None:
            for item in items:
                with self.copy("unroll", at, "the loop"):
                    one(item.now() if type(item) is Later else item)
            return
        range_, item_at = self.iteration(it, node)
        began = len(self.resized)
        self.run_loop(at, range_, lambda i: one(item_at(i)))
        if type(it) is not ReversedOf:  # that has begun at the end
            self.require_length(it, began, node)

    # --- computing ahead ------------------------------------------------------------------------------------------

    def probed(self, compute: Callable[[], Any]) -> tuple[Any, bool]:
        """What `compute` gives, lowered to be thrown away; and whether it has no effect."""
        start, watch, region = self.state, self.builder.watch, self.builder.new_region()
        self.builder.watch = None
        try:
            with self.path(start.fork(), region):
                begin = self.state.fork()
                try:
                    made = compute()
                except (Unreachable, AutodiffError):
                    return None, False
                made = self.held(made.cell) if type(made) is ListRef else made
                return made, self.unchanged(begin) and not has_effects(region.ops)
        finally:
            self.state, self.builder.watch = start, watch

    def unchanged(self, begin: State) -> bool:
        """Nothing that was there in the state `begin` is another now, but for what is left in iterators."""
        for env, names in begin.envs.items():
            now = self.state.envs.get(env, {})
            if any(not (n in now and same(now[n], av)) for n, av in names.items() if n[0] != "$"):
                return False
        for cell, content in self.state.heap.items():
            before = begin.heap.get(cell, self.inputs.initial.get(cell, content))
            if before is not content and not (type(content) is Entries and content.keys == ITERATOR_KEYS):
                return False
        return True

    def steps_known(self, it: Val, node: Node) -> bool:
        """Whether there is one more item is known at compile time, each time."""
        if not self.filters_inside(it, node):
            return True
        return self.probed(lambda: self.static_count(it, node))[0] is not None

    def filters_inside(self, source: Any, node: Node) -> bool:
        """Whether there is a next item may depend on conditions, which need not be known at compile time."""
        if is_iterator(source):
            return self.filters(self.source_of(source)) or self.filters_inside(self.source_of(source), node)
        return any(self.filters_inside(x, node) for x in parts_of(source) if is_iterator(x)) or any(
            self.filters_inside(x, node) for p in parts_of(source) if type(p) is Seq for x in p.items if is_iterator(x)
        )

    def filters(self, source: Any) -> bool:
        if type(source) is not StreamOf:
            return False
        if source.kind == "generator":
            return any(g.ifs for g in source.node.generators)
        return source.kind in ("filter", "takewhile", "dropwhile", "called", *BODIES)

    def computed_inside(self, it: Val, node: Node) -> tuple[Any, list[Any]]:
        """An iterator over the same items; those of filters inside are computed now, where nobody can tell. And what
        they have read: see `check_ahead`."""
        source = self.left_in(it, node)[0] if is_iterator(it) else None
        if self.by_number(it, node):
            return it, []
        if not (type(source) is StreamOf and source.kind in TOGETHER):
            made, reads = self.ahead(it, node)
            return self.one_shot(made), [(reads, self.state.fork())]
        inside: dict[int, Any] = {}  # zip(it, it) goes through one iterator
        for x in parts_of(source):
            if is_iterator(x) and x.cell not in inside:
                inside[x.cell] = self.computed_inside(x, node)
        parts = [inside[x.cell][0] if is_iterator(x) else x for x in parts_of(source)]
        self.advance(it, PARTLY, 0, node)
        return self.one_shot(source.with_parts(parts)), [x for _, ahead in inside.values() for x in ahead]

    def ahead(self, it: Val, node: Node) -> tuple[Any, set[Any]]:
        """The items left in an iterator, in a list, computed now; and the names and cells that they read."""

        def compute() -> Any:
            out = self.new_list([])
            self.push(it, lambda item: self.list_append(out, item, node), node)
            return out

        if not self.pushable(it, node):
            self.fail(
                "what is left in this iterator is known at run time only",
                node,
                "write a loop with an `if`, or make a list of what it goes through first: list(...)",
            )
        pure = self.probed(compute)[1]
        if not pure:
            self.fail(
                "an iterator whose items have effects, and of which the number is known at run time only",
                node,
                "make a list of it first, list(...), or write the loop itself",
            )
        return self.reading(compute)

    def check_ahead(self, ahead: list[Any], node: Node) -> None:
        """Refuse where a loop has changed what items that were computed before it began had read."""
        for found, then in ahead:
            for env, name in [x for x in found if type(x) is tuple]:
                before, now = then.envs.get(env, {}).get(name), self.state.envs.get(env, {}).get(name)
                if env in self.state.envs and before is not None and not (now is not None and same(before, now)):
                    self.changes_what_is_read(node)
            for cell in [x for x in found if type(x) is int]:
                if cell in then.heap and self.state.heap.get(cell) is not then.heap[cell]:
                    content = then.heap[cell]
                    if not (type(content) is Entries and content.keys == ITERATOR_KEYS):
                        self.changes_what_is_read(node)

    def changes_what_is_read(self, node: Node) -> NoReturn:
        self.fail(
            "a loop changes what the iterator that it runs over still reads", node, "make a list of it: list(...)"
        )

    def check_zip(self, av: Val, node: Node) -> Any:
        """An opened iterable, checked: zip() has taken one item more of what comes before the first part that ends, and
        nobody must be able to tell."""
        opened_part = type(av) is IndexedOf and av.kind in ("from", "islice", "pairwise", "cycle")
        parts = in_step(av) or () if type(av) is StreamOf else av.its[:1] if opened_part else ()
        for k, x in enumerate(parts):
            self.check_zip(x, node)
            if not self.is_inert(x, node) and k < len(parts) - 1:
                lengths = [None if self.endless(y) else self.iter_length(y, node) for y in parts[k:]]
                surely = lengths[0] is not None and all(
                    n is None or self.same_length(lengths[0], n) for n in lengths[1:]
                )
                if not surely and not self.probed(functools.partial(self.item_of, x, 0, node))[1]:
                    self.fail(
                        "zip() or map() of an iterator whose items have effects, and of others that may be shorter",
                        node,
                        "put the shortest one first, or make a list of it: list(...)",
                    )
        return av

    def same_length(self, n: Any, m: Any) -> bool:
        if isinstance(n, int) or isinstance(m, int):
            return type(n) is type(m) and n == m
        a, b = type_of(n).length, type_of(m).length
        return n is m or (a is not None and b is not None and self.builder.dims.same(a, b))

    # --- loops ----

    def stepping(self, stmt: ast.For, it: Val, head: Callable[[Any], None]) -> ast.While:
        """A loop over an object whose class defines ``__next__``, in simpler statements."""
        method = self.type_attribute(it, "__next__")
        step, item = self.step_of(lambda: self.call(method, [it], {}, stmt), "next", stmt)

        def begin() -> int:
            head(item.compute())
            return NORMAL

        stop = ast.ExceptHandler(computed(lambda: Obj(StopIteration, None), stmt), None, [ast.Break()])
        tried: Any = ast.Try([step], [stop], [], [])
        made: Any = ast.While(ast.Constant(True), [tried, run(begin, stmt), *stmt.body], [])
        for node in (stop, stop.body[0], tried, made, made.test):
            ast.copy_location(node, stmt)
        if stmt.orelse:
            self.fail("`else` of a loop over an object that defines __next__", stmt, "use a flag")
        return made  # type: ignore[no-any-return]

    def loop_over_iterator(
        self, stmt: ast.For, it: Val, head: Callable[[Any], None], body: list[Any], partly: bool
    ) -> Any:
        """A `for` over an iterator; `partly`: the loop may leave before the end."""
        if not is_iterator(it):
            return self.lower_block([self.stepping(stmt, it, head)], False)
        if self.body_in(it) is not None:
            return self.after_loop(stmt, self.loop_over_body(stmt, it, head, body))
        unrolls = self.unrolls(it, stmt.iter)
        it, head, body = self.staged(it, head, body, stmt.iter)
        if self.body_in(it) is not None:
            return self.after_loop(stmt, self.loop_over_body(stmt, it, head, body))
        driven = None if stmt.orelse else self.driven(it, stmt.iter)
        if driven is not None:
            return self.loop_in_step(stmt, it, head, body, driven)
        by_number = stmt in self.said and self.by_number(it, stmt.iter)
        if unrolls and not by_number and self.steps_known(it, stmt.iter):
            return self.unrolled(stmt, self.trips_taken(it, head, stmt.iter), body)
        inside = [c for c in self.cells_in([it]) if self.is_iterator_cell(c)]
        it, ahead = self.computed_inside(it, stmt.iter)
        for cell in set(inside).difference(self.cells_in([it])):
            self.advance(Instance(OneShot, cell), PARTLY, 0, stmt.iter)
        ended = [] if partly else self.chain_of(it)
        code = self.loop_over(stmt, self.exhausted(it, stmt.iter, PARTLY), head, body)
        for inner in ended:
            self.advance(inner, Seq(()), 0, stmt.iter)
        self.check_ahead(ahead, stmt)
        return code

    def chain_of(self, it: Val) -> list[Any]:
        """The iterators that are at their end when this one is."""
        if not is_iterator(it):
            return []
        if self.body_in(it) is not None:
            return [it]
        source = self.source_of(it)
        parts = [x for x in parts_of(source) if is_iterator(x) and not self.endless(x)]
        return [it, *(self.chain_of(parts[0]) if len(parts) == 1 else [])]

    def staged(
        self, it: Val, head: Callable[[Any], None], body: list[Any], at: Any
    ) -> tuple[Any, Callable[[Any], None], list[Any]]:
        """The iterator below filters and generator expressions, what begins a trip with its item, and what follows."""
        source = self.source_of(it)
        kind = source.kind if is_iterator(it) and type(source) is StreamOf else ""
        box: list[Any] = []

        def begin(compute: Callable[[], Any]) -> Any:
            def action() -> int:
                head(compute())
                return NORMAL

            return run(action, at)

        if kind == "generator" and len(source.node.generators) == 1:
            gen, scope = source.node.generators[0], self.frames[source.env]
            stmts = [begin(lambda: self.within(scope, lambda: self.ev(source.node.elt))), *body]
            for test in reversed(gen.ifs):
                flag = computed(functools.partial(self.within, scope, functools.partial(self.condition, test)), test)
                stmts = [choice(flag, stmts, [], test)]
            below = lambda item: self.within(scope, lambda: self.assign(gen.target, item, gen.target))
            return self.staged(source.its[0], below, stmts, at)
        if kind == "filter":
            _, fn, want = source.its
            flag = computed(lambda: self.truth(box[-1] if fn is None else self.call(fn, box[-1:], {}, at), at), at)
            kept = [begin(lambda: box[-1]), *body]
            return self.staged(source.its[0], box.append, [choice(flag, *((kept, []) if want else ([], kept)), at)], at)
        return it, head, body

    def flattened_iterator(self, stmt: ast.For, av: Val) -> list[Any]:
        it = self.iterator(av, stmt.iter)
        items: list[Any] | None = None
        if self.unrolls(it, stmt.iter) and self.steps_known(it, stmt.iter):
            # As many as there are; each is computed when its trip begins.
            n = self.probed(lambda: self.static_count(it, stmt.iter))[0]
            items = [Later(lambda _: self.next_of(it, stmt.iter)[0], k) for k in range(n or 0)]
        elif self.by_number(it, stmt.iter):
            opened = self.check_zip(self.opened(it, PARTLY, stmt.iter), stmt)
            items = self.trips(stmt, opened)
        if items is None:
            self.plan.refuse(stmt)
        bound = [s for item in items for s in (Bind(stmt, item, lambda: None), *stmt.body)]
        self.budget.copying += 1  # all that follows, to the end
        return bound + ([run(lambda: self.ended(it, stmt), stmt)] if is_iterator(it) else []) + stmt.orelse

    def static_count(self, it: Val, node: Node) -> int:
        for n in range(UNROLL_LIMIT + 1):
            if not self.next_of(it, node):
                return n
        self.fail("an iterator that does not end, or of very many items", node, "write a `while` loop")

    def ended(self, it: Val, stmt: Any) -> int:
        """Where a flattened loop ends: the iterator is asked once more."""
        if self.source_of(it) is not None and type(self.source_of(it)) is not Conflict and self.next_of(it, stmt):
            self.plan.refuse(stmt)
        return NORMAL

    def trips_taken(self, it: Val, head: Callable[[Any], None], node: Node) -> Callable[[], Any]:
        """What begins the trips of an unrolled loop: each item of an iterator is computed when its trip begins."""
        left = iter(range(UNROLL_LIMIT + 1))

        def begin() -> Any:
            if next(left, None) is None:
                self.fail("a loop over a list that its body makes longer and longer", node, "use a while loop")
            item = self.next_of(it, node)
            return functools.partial(head, item[0]) if item else None

        return begin

    def searches(self, it: Val) -> bool:
        """To find the next item takes a loop."""
        source = self.source_of(it)
        if source is None:
            return False
        if self.body_in(it) is not None:
            return True
        if type(source) is StreamOf and (self.filters(source) or source.kind == "chain"):
            return True
        if type(source) is StreamOf and source.kind == "generator" and len(source.node.generators) > 1:
            return True
        return any(self.searches(x) for x in parts_of(source) if is_iterator(x))


__all__ = ["Streams", "has_effects"]
