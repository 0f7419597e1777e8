"""Lowering of loops: what they carry, and with which types, is found by repeating the lowering of the body until it
is stable."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

from ..ir.core import Value
from ..ir.opset import ADD, EQ, GET, RAISE, SUB
from ..ir.types import ANY
from ..late import late
from ..live import items_in
from ..records import replaced
from .avals import (
    MISSING,
    CheckpointedOf,
    DictRef,
    IndexedOf,
    Instance,
    ItemOf,
    ListRef,
    Obj,
    OneShot,
    RangeOf,
    Ref,
    Reference,
    ReversedOf,
    Seq,
    StreamOf,
    ViewOf,
    describe,
    is_collection,
    is_iterator,
    is_reference,
    parts_of,
)
from .core import Unreachable
from .exits import BREAK, CONTINUE, DEAD, DONE, NORMAL, RAISED, RETURN
from .handlers import Ctx, Node, Val, lowers
from .library.iterables import one_by_one
from .loop_head import Again, Guess
from .loop_pass import LoopPass
from .plan import NOTHING_ASSUMED, UNROLL
from .pseudo import iterated_name
from .scopes import loop_facts, nodes_of
from .splitting import Later
from .state import State
from .statements import Statements

actions_for = late(__package__, "causes", "actions_for")

MANY = 200  # items of a list of numbers or arrays from which on it is better to loop
FEW = 8  # the same, where a trip may be the last, so that each is nested into the one before
BODIES = ("body", "rest")  # streams that are generators: one that has not begun, and one that waits at a `yield`
EXIT_LIMIT = 24  # trips of an unrolled `while` that may be its last: each is nested into the one before


class Loops(Statements):
    # --- statements -----------------------------------------------------------------------------------------------

    def source_of_loop(self, stmt: ast.For) -> Any:
        found = self.state.envs[self.frame.env].pop(iterated_name(stmt), MISSING)
        return self.told(stmt, self.ev_iter(stmt.iter)) if found is MISSING else found

    def told(self, loop: Any, av: Any) -> Any:
        """What a loop goes through, without what that says of the loop: which is kept until the loop is made."""
        self.said.pop(loop, None)
        if type(av) is CheckpointedOf:
            self.said[loop] = av.said
            return av.it
        return av

    def items_observed(self, av: Any, node: Any) -> Any:
        """The list, or the iterator, of the items of an object of which only the run tells what it is."""
        if not self.is_observed(av) or self.known_objects.get(av) is list:
            return av
        if self.known_objects.get(av) == "iterator":
            return self.call(Obj(one_by_one, None), [av], {}, node)
        made = self.call(Obj(items_in, None), [av], {}, node)
        self.known_objects[made] = list
        return made

    def body_in(self, it: Any) -> StreamOf | None:
        """What an iterator that is a generator holds; None for anything else."""
        source = self.source_of(it) if is_iterator(it) else None
        return source if type(source) is StreamOf and source.kind in BODIES else None

    def raise_on(self, code: Any, node: Node) -> None:
        """Raise where the code says so: it ends here as an exit of blocks."""
        if RAISED not in self.possible(code):
            return
        if isinstance(code, int):
            self.emit(node, RAISE, self.raised())
            raise Unreachable
        raising = self.emit(node, EQ, code, RAISED)
        regions = (self.builder.new_region(), self.builder.new_region())
        with self.builder.inside(regions[0]):
            self.emit(node, RAISE, self.raised())
        self.builder.if_(raising, regions[0], regions[1], [], [])

    def loop_over(self, stmt: ast.For, av: Val, head: Callable[[Any], None], body: list[Any]) -> Any:
        if not self.plan.has(UNROLL, stmt):
            av = self.looped(av, stmt)
        items = self.trips(stmt, av)
        if items is not None:
            return self.unrolled(stmt, self.trips_over(stmt, items, av, head), body)
        range_, item = self.iteration(av, stmt)
        began = len(self.resized)
        by_index = type(av) is RangeOf and body is stmt.body
        code = self.run_loop(stmt, range_, lambda i: head(item(i)), body, stmt.orelse, by_index=by_index)
        self.require_length(av, began, stmt)
        return code

    def require_length(self, av: Val, since: int, node: Node) -> None:
        """Refuse where a list inside an iterable has been given another length by the loop that goes through it."""
        if any(c in self.resized[since:] for c in self.cells_in([av])):
            self.fail("a list that changes its length while a loop runs over it", node, "loop over a copy: list(...)")

    def contents(self, av: Val) -> list[Any]:
        """What the containers inside an iterable hold now."""
        return [self.held(cell) for cell in containers_in(self, av)]

    def trips(self, stmt: ast.For, av: Val) -> list[Any] | None:
        """The items of a loop that is unrolled, or None."""
        items = self.unrollable(av, stmt)
        return _all_items(self, av, stmt) if items is None and self.plan.has(UNROLL, stmt) else items

    def unrollable(self, av: Val, node: Node) -> list[Val] | None:
        """The items to unroll a loop over, or None if it is to stay a loop."""
        if type(av) is RangeOf or type(av) is Ref:
            return None
        items = self.iterated(av, node)
        plain = items is not None and len(items) > self.most(node) and _of_one_kind(self, items)
        return None if plain else items

    def looped(self, av: Val, node: Node) -> Val:
        """An iterable in which long sequences of numbers or arrays are lists of run-time length, made once."""
        kind = type(av)
        if kind is ReversedOf:
            return replaced(av, it=self.looped(av.it, node))
        if kind is StreamOf and av.is_plain:
            return replaced(av, its=tuple([self.looped(x, node) for x in av.its]))
        if kind is RangeOf or kind is Ref or (kind is ListRef and type(self.held(av.cell)) is ItemOf):
            return av
        items = self.iterated(av, node)
        if items is None or len(items) <= self.most(node) or not _of_one_kind(self, items):
            return av
        made = av if kind is ListRef else self.new_list(items)
        self.made_columns(made, node)
        return made

    def most(self, node: Node) -> int:
        """The number of numbers or arrays up to which a loop over them is unrolled by itself."""
        if node in self.said:
            return 0
        ends = isinstance(node, ast.For) and any(isinstance(n, (ast.Break, ast.Return)) for n in nodes_of(node))
        return FEW if ends else MANY

    def unroll(
        self, stmt: Any, begin: Callable[[], Any], body: list[Any], end: Callable[[], Any], left: int = EXIT_LIMIT
    ) -> Any:
        """One copy of the body for each trip; `break` and `continue` by their codes. ``begin()`` gives what begins the
        next trip, or None if there is no other copy. Then ``end()`` lowers what follows, and gives its exit code."""
        while (head := begin()) is not None:
            with self.copy("unroll", stmt, "the loop"):
                head()
                code = self.lower_block(body, True)
            if isinstance(code, int):
                if code == BREAK:
                    return NORMAL
                if code in (RETURN, RAISED, DEAD):
                    return code
                continue
            if not left and self.plan.has(UNROLL, stmt):
                self.plan.refuse(stmt)
            rest = functools.partial(self.unroll, stmt, begin, body, end, max(left - 1, 0))
            return self.after_trip(code, rest, stmt)
        return end()

    def unrolled(self, stmt: Any, begin: Callable[[], Any], body: list[Any]) -> Any:
        """All trips of a loop as copies of its body, and what its `else` holds."""
        return self.unroll(stmt, begin, body, lambda: self.lower_block(stmt.orelse, False) if stmt.orelse else NORMAL)

    def trips_over(self, stmt: ast.For, items: list[Any], av: Val, head: Callable[[Any], None]) -> Callable[[], Any]:
        """What begins the trips of an unrolled loop over these items of `av`."""
        n, held = -1, self.contents(av)

        def begin() -> Any:
            nonlocal n, items, held
            n += 1
            items, held = _still(self, av, items, n, held, stmt), self.contents(av)
            if n >= len(items):
                return None
            item = items[n]
            return lambda: head(item.now() if type(item) is Later else item)

        return begin

    def after_trip(self, code: Value, rest: Callable[[], Any], stmt: Any) -> Any:
        """Go on with the next copies where the last one ended with 0 or `continue`."""
        possible = self.codes[code]
        goes_on = possible & {NORMAL, CONTINUE}
        if not goes_on:
            return self.map_code(code, {BREAK: NORMAL}, stmt)
        cond: Any = None
        for value in sorted(goes_on):
            test = self.emit(stmt, EQ, code, value)
            cond = test if cond is None else self.branch(cond, _constant(True), _constant(test), stmt)
        return self.either(cond, rest, lambda: self.narrowed(code, possible - goes_on, {BREAK: NORMAL}, stmt), stmt)

    def narrowed(self, code: Value, left: frozenset[int], mapping: dict[int, int], stmt: Any) -> Any:
        """The code, known to be one of `left`, with some codes replaced."""
        mapped = {mapping.get(c, c) for c in left}
        if len(mapped) == 1:
            return mapped.pop()
        return self.map_code(code, mapping, stmt)

    def map_code(self, code: Any, mapping: dict[int, int], stmt: Any) -> Any:
        """Replace exit codes."""
        if isinstance(code, int):
            return mapping.get(code, code)
        possible = self.codes[code]
        mapped = frozenset({mapping.get(c, c) for c in possible})
        if len(mapped) == 1:
            return next(iter(mapped))
        for old, new in mapping.items():
            if old in possible and old != new:
                test = self.emit(stmt, EQ, code, old)
                code = self.branch(test, _constant(new), _constant(code), stmt)
        self.codes[code] = mapped
        return code

    # --- iteration ------------------------------------------------------------------------------------------------

    def iteration(self, av: Val, node: Node) -> tuple[tuple[Any, Any, Any], Callable[[Any], Any]]:
        """A range, and the item for each index in it."""
        kind = type(av)
        if kind is RangeOf:
            return (av.start, av.stop, av.step), lambda i: i
        if kind is ReversedOf and type(av.it) is RangeOf:
            r = av.it
            if isinstance(r.step, int) and r.step in (1, -1):
                last = self.number(SUB, r.stop, r.step, node)
                stop = self.number(SUB, r.start, r.step, node)
                return (last, stop, -r.step), lambda i: i
            self.fail("reversed() of a range with this step", node, "write the reversed range")
        length = self.iter_length(av, node)
        numbered = av.its[1] if kind is StreamOf and av.kind == "enumerate" else None
        if type(numbered) is RangeOf and numbered.step == 1 and numbered.start == 0:
            return (0, numbered.stop, 1), lambda i: self.item_of(av, i, node)
        if kind is ReversedOf:
            return (self.number(SUB, length, 1, node), -1, -1), lambda i: self.item_of(av.it, i, node)
        return (0, length, 1), lambda i: self.there(self.item_of(av, i, node), kind is Ref)

    def there(self, item: Val, surely: bool) -> Val:
        """An item that is read by its number; `surely`: there is one, so that to read it cannot raise."""
        if surely and type(item) is Value and item.op is not None and item.op.prim is GET:
            item.op.droppable = True
        return item

    def after_loop(self, stmt: Any, code: Any) -> Any:
        """The exit code of a ``for`` that was left with this one."""
        return _after_loop(self, stmt, code, None, stmt.orelse)

    def number(self, prim: Any, a: Val, b: Val, node: Node) -> Val:
        if isinstance(a, int) and isinstance(b, int):
            return prim.fn(a, b)
        if isinstance(b, int) and b == 0:
            return a
        if isinstance(a, int) and a == 0 and prim is ADD:
            return b
        return self.emit(node, prim, a, b)

    # --- the loop proper ------------------------------------------------------------------------------------------

    def counted(self, times: Any, body: Any, node: Node) -> None:
        """Lower a loop of our own making: ``body(i)`` for i in range(times)."""
        self.run_loop(node, (0, times, 1), body)

    def run_loop(
        self,
        stmt: Any,
        range_: Any,
        head: Callable[[Any], Any] | None,
        body: Any = (),
        orelse: Any = (),
        test: Any = None,
        by_index: bool = False,
    ) -> Any:
        """Lower a loop and what its `else` holds; the exit code of the whole statement.

        ``head(i)`` begins iteration `i` of a range; a ``while`` has a `test` instead. by_index: its variable is `i`.
        """
        guess, said = Guess(), self.said.pop(stmt, {})
        if range_ is None and "segments" in said:
            self.fail("checkpointed, over what only ends when it runs, has no segments", stmt, "give snapshots=")
        env = self.frame.env
        facts = loop_facts(stmt, self.frame.node)
        for name in sorted(facts.assigned):
            if name in self.frame.scope.locals and name in self.state.envs[env]:
                guess.names[env, name] = None
        if not self.plan.has(NOTHING_ASSUMED, stmt):
            guess.assumed |= {(env, name) for name in facts.plainly}
        memo_key = (stmt, self.frame.call)
        _recall(self, guess, self.loop_memo.get(memo_key))
        entry = self.state
        first = memo_key not in self.loop_memo and guess.rebinds(entry)
        for cell, content in self.inputs.initial.items():
            entry.heap.setdefault(cell, content)
        for attempts in range(60):
            attempt = LoopPass(self, guess, entry, facts.needed, stmt)
            attempt.by_index, attempt.said = by_index, said
            unsure = first and attempts == 0
            if unsure:
                self.assuming.append(stmt)
            try:
                code = attempt.run(stmt, range_, head, test, body)
                break
            except Again:
                self.state = entry
                continue
            finally:
                if unsure:
                    self.assuming.pop()
        else:
            remedy = "give what the loop carries one kind and one number of axes before it"
            self.fail("what this loop carries from trip to trip does not settle", stmt, remedy)
        self.loop_memo[memo_key] = _remember(guess, entry)
        return _after_loop(self, stmt, code, test, orelse)


def containers_in(ctx: Loops, av: Val) -> list[int]:
    """The cells of the containers inside an iterable."""
    if is_reference(av):
        return [av.cell]
    return [cell for part in parts_of(av) if type(av) is not Seq for cell in containers_in(ctx, part)]


def _still(ctx: Loops, av: Val, items: list[Any], k: int, held: list[Any], stmt: Any) -> list[Any]:
    """The items that a loop goes through, looked up again if its body has changed a list or dictionary."""
    if all(x is y for x, y in zip(held, ctx.contents(av))):
        return items
    if type(av) in (IndexedOf, ReversedOf) or (type(av) is StreamOf and not av.is_plain):
        ctx.fail("a list that changes while a loop runs over what is computed of it", stmt, "loop over a copy")
    now = ctx.iterated(av, stmt)
    sized = type(av) is ViewOf or type(av) is DictRef
    if now is None or (sized and len(now) != len(items)):
        ctx.fail("a container that changes its length while a loop runs over it", stmt, "loop over a copy: list(...)")
    return now


def _all_items(ctx: Loops, av: Val, node: Node) -> list[Val]:
    """The items of an iterable whose number becomes known."""
    range_, item = ctx.iteration(av, node)
    if not all(isinstance(x, int) for x in range_):
        ctx.plan.require(actions_for(ctx, range_), ctx.plan.avoided(UNROLL, node))
        ctx.plan.refuse(node)
    if len(range(*range_)) > ctx.budget.operations:
        ctx.plan.refuse(node)
    return [Later(item, i) for i in range(*range_)]


def _of_one_kind(ctx: Loops, items: list[Any]) -> bool:
    """Numbers and arrays, which a list of run-time length may hold."""
    return all(type(x) in (Value, Ref) or isinstance(x, (int, float, complex)) for x in items)


def _after_loop(ctx: Loops, stmt: Any, code: Any, test: Any, orelse: Any) -> Any:
    """The exit code of the statement, its `else` part lowered where it runs."""
    finished = DONE if test is not None else NORMAL
    possible = ctx.possible(code)
    if not orelse:
        return ctx.map_code(code, {DONE: NORMAL, BREAK: NORMAL}, stmt)
    if finished not in possible:
        return ctx.map_code(code, {BREAK: NORMAL}, stmt)
    if possible == {finished}:
        return ctx.lower_block(orelse, False)
    cond = ctx.emit(stmt, EQ, code, finished)
    left = lambda: ctx.narrowed(code, possible - {finished}, {BREAK: NORMAL}, stmt)
    return ctx.either(cond, lambda: ctx.lower_block(orelse, False), left, stmt)


def _remember(guess: Guess, entry: State) -> Any:
    """What of a guess holds when the loop is lowered again, and where its cells are found then."""
    scopes = list(entry.envs)
    found: dict[int, tuple[int, str]] = {}
    for env, names in entry.envs.items():
        for name, av in names.items():
            if isinstance(av, Reference):
                found.setdefault(av.cell, (env, name))
    types = {key: t for key, t in guess.types.items() if t.is_scalar or t == ANY}
    groups = [set(group) for group in (guess.kept, guess.rebound, guess.dynamic)]
    return scopes, found, list(guess.names), list(guess.cells), types, groups


def _recall(ctx: Loops, guess: Guess, memo: Any) -> None:
    """Begin with what was remembered, in the scopes and cells of this lowering."""
    if memo is None:
        return
    scopes, found, names, cells, types, groups = memo
    envs = dict(zip(scopes, ctx.state.envs))
    bound = {cell: ctx.state.envs.get(envs.get(env, -1), {}).get(name) for cell, (env, name) in found.items()}
    now = {cell: av.cell for cell, av in bound.items() if isinstance(av, Reference)}

    def here(slot: Any) -> Any:
        head = slot[:1] if slot[0] in ("r", "h") else ()
        kind, at, *rest = slot[len(head) :]
        at = (envs if kind == "n" else now).get(at)
        return None if at is None else (*head, kind, at, *rest)

    for env, name in names:
        if name in ctx.state.envs.get(envs.get(env, -1), {}):
            guess.names[envs[env], name] = None
    guess.cells.update(dict.fromkeys([now[cell] for cell in cells if cell in now]))
    guess.types.update({at: t for slot, t in types.items() if (at := here(slot)) is not None})
    for group, mine in zip(groups, (guess.kept, guess.rebound, guess.dynamic)):
        mine |= {at for slot in group if (at := here(slot)) is not None}


@lowers(ast.For)
def _for(ctx: Ctx, stmt: ast.For) -> Any:
    av = ctx.source_of_loop(stmt)
    head = lambda item: ctx.assign(stmt.target, item, stmt.target)
    av = ctx.items_observed(ctx.underlying(ctx.use(av, "the iterable", stmt), stmt, "__iter__"), stmt.iter)
    code = _over(ctx, stmt, av, head)
    if ctx.said.pop(stmt, None) and type(av) is not RangeOf:
        ctx.fail(
            f"checkpointed of {describe(av)}, of which the loop does not find the items by their numbers",
            stmt,
            "loop over a range, an array, or a list of items of one type; or use ad.checkpoint on a function",
        )
    return code


def _over(ctx: Ctx, stmt: ast.For, av: Val, head: Callable[[Any], None]) -> Any:
    if type(av) in (Instance, Obj) and (not is_collection(av) or av.cls is OneShot):
        av = ctx.iterator(av, stmt)
        if type(av) in (Instance, Obj):
            partly = any(isinstance(n, (ast.Break, ast.Return)) for n in ast.walk(stmt))
            return ctx.loop_over_iterator(stmt, av, head, stmt.body, partly)
    return ctx.loop_over(stmt, av, head, stmt.body)


@lowers(ast.While)
def _while(ctx: Ctx, stmt: ast.While) -> Any:
    def begin() -> Any:
        cond = ctx.condition(stmt.test)
        if isinstance(cond, Value):
            ctx.plan.require(actions_for(ctx, cond), ctx.plan.avoided(UNROLL, stmt))
            ctx.plan.refuse(stmt)
        return (lambda: None) if cond else None

    if ctx.plan.has(UNROLL, stmt):
        return ctx.unrolled(stmt, begin, stmt.body)
    return loop_while(ctx, stmt)


def loop_while(ctx: Loops, stmt: ast.While) -> Any:
    return ctx.run_loop(stmt, None, None, stmt.body, stmt.orelse, stmt.test)


def _constant(value: Val) -> Callable[[], Any]:
    return lambda: value
