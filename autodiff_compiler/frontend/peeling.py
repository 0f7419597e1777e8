"""The first trips of a loop, lowered apart from the others where the plan says so.

They may find None, or an array of fewer axes, where the others find what a trip before has left. So what the loop
carries has one kind and one number of axes in all other trips.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable
from typing import Any

from ..ir.opset import ADD
from .avals import ListRef, RangeOf, Ref, ReversedOf, StreamOf, is_iterator
from .causes import parents_of
from .exits import BREAK, NORMAL
from .handlers import Val
from .loops import loop_while
from .plan import PEEL_TWO, original
from .pseudo import choice, computed, iterated_name, run
from .remains import PARTLY
from .scopes import loop_facts
from .splitting import inside
from .streams import Streams


class Peeling(Streams):
    def peeled(self, stmt: Any) -> list[Any] | None:
        """The first trips of a loop, and behind them the loop of the others. None: it is not lowered so."""
        count = 2 if self.plan.has(PEEL_TWO, stmt) else 1
        if isinstance(stmt, ast.While):
            return [_apart(self, stmt, [(stmt.test, lambda: None)] * count, lambda: loop_while(self, stmt))]
        av = self.use(self.source_of_loop(stmt), "the iterable", stmt)
        if not self.peels_off(av, stmt):
            self.state.envs[self.frame.env][iterated_name(stmt)] = av
            return None
        if is_iterator(av):
            av = self.check_zip(self.opened(av, PARTLY, stmt.iter), stmt)
        av = self.looped(av, stmt)
        (start, stop, step), item = self.iteration(av, stmt)
        if not isinstance(step, int) or step == 0:
            self.plan.refuse(stmt)
        began = len(self.resized)
        is_one = operator.lt if step > 0 else operator.gt
        head = lambda i: self.assign(stmt.target, item(i), stmt.target)
        trips: list[tuple[ast.expr, Callable[[], Any]]] = []
        for _ in range(count):
            there = functools.partial(self.compare_with, is_one, start, stop, stmt)
            trips.append((computed(there, stmt), functools.partial(head, start)))
            start = self.number(ADD, start, step, stmt)

        def others() -> Any:
            code = self.run_loop(stmt, (start, stop, step), head, stmt.body, stmt.orelse, by_index=type(av) is RangeOf)
            self.require_length(av, began, stmt)
            return code

        return [_apart(self, stmt, trips, others)]

    def peels_off(self, av: Val, stmt: ast.For) -> bool:
        """A loop over what has its items by number. An iterator that the program could ask again is none of these."""
        if is_iterator(av):
            known = self.unrolls(av, stmt.iter) and self.steps_known(av, stmt.iter)
            return isinstance(stmt.iter, ast.Call) and not known and self.by_number(av, stmt.iter)
        return type(av) in (RangeOf, Ref, ListRef, StreamOf, ReversedOf) and self.unrollable(av, stmt) is None


def _apart(ctx: Peeling, stmt: Any, trips: list[tuple[ast.expr, Any]], others: Callable[[], Any]) -> ast.If:
    """The first of these trips, each with the test whether there is one, before the next; then ``others()``."""
    (test, head), *later = trips
    rest = others if not later else lambda: ctx.lower_block([_apart(ctx, stmt, later, others)], False)

    def trip() -> Any:
        if _leaves_a_trip(stmt):
            heads = [head]
            return ctx.unroll(stmt, lambda: heads.pop() if heads else None, stmt.body, rest)
        with ctx.copy("unroll", stmt, "the loop"):
            head()
            code = ctx.lower_block([*stmt.body, run(rest, stmt)], False)
        return ctx.map_code(code, {BREAK: NORMAL}, stmt)

    made = choice(test, [run(trip, stmt)], stmt.orelse, stmt)
    made._original = (_place_of_first(ctx, original(stmt), len(later)),)  # type: ignore[attr-defined]
    made._apart = loop_facts(stmt, ctx.frame.node).needed  # type: ignore[attr-defined]
    return made


def _leaves_a_trip(stmt: Any) -> bool:
    """Whether a ``continue`` ends a trip, or the ``else`` has a ``break`` or ``continue`` of the loop around: its exits
    are not those of the body."""
    loops = (ast.For, ast.While)
    return any(isinstance(n, ast.Continue) for n in inside(stmt.body, loops)) or any(
        isinstance(n, (ast.Break, ast.Continue)) for n in inside(stmt.orelse, loops)
    )


def _place_of_first(ctx: Peeling, stmt: Any, left: int) -> ast.If:
    """What a plan calls the choice between a first trip and none: one node for each trip that is lowered apart."""
    known: dict[int, ast.If] = stmt.__dict__.setdefault("_firsts", {})
    found = known.get(left)
    if found is None:
        found = known[left] = choice(ast.Constant(True), [], [], stmt)
        del found._original  # type: ignore[attr-defined]
    parents = parents_of(ctx.frame.node)
    if stmt in parents:
        parents[found] = parents[stmt]
    return found
