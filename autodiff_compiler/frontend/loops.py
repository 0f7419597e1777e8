"""Lowering of loops: what they carry, and with which types, is found by repeating the lowering of the body until it is stable."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..ir.core import LOOP, UNDEF, Op, Region, Value, leaves, structural_key, type_of
from ..ir.opset import ADD, EQ, GET, LIST_NEW, PRIMS, SUB
from ..ir.types import ANY, PY_BOOL, UNDEF_TY, Ty, join, py_int
from .avals import (
    MISSING,
    Conflict,
    DictRef,
    Entries,
    EnumerateOf,
    Instance,
    Items,
    ListRef,
    Maybe,
    Obj,
    Poison,
    RangeOf,
    Ref,
    ReversedOf,
    Seq,
    ZipOf,
    describe,
    is_composite,
    is_constant,
    parts_of,
    same,
    same_form,
    with_parts,
)
from .core import BREAK, CONTINUE, DEAD, DONE, NORMAL, RETURN
from .source import loop_facts
from .state import State
from .statements import Statements

GT, NE = PRIMS[operator.gt], PRIMS[operator.ne]
UNROLL_LIMIT = 200


class _Again(Exception):
    """The guess of what the loop carries was too narrow."""


@dataclass
class Guess:
    """What is believed of a loop: grows until it holds."""

    names: dict[tuple[int, str], None] = field(default_factory=dict)  # carried names: (frame, name)
    cells: dict[int, None] = field(default_factory=dict)  # cells whose content is carried
    forms: dict[Any, Any] = field(default_factory=dict)  # by slot: the abstract value at the end of the last pass
    types: dict[Any, Ty] = field(default_factory=dict)  # by leaf
    varying: dict[Any, set[int]] = field(default_factory=dict)  # by leaf: the axes whose length changes from trip to trip
    dynamic: set[Any] = field(default_factory=set)  # list slots that change their length
    poisoned: dict[int, Poison] = field(default_factory=dict)
    partition: dict[Any, Any] = field(default_factory=dict)  # by slot of a reference: what distinguishes its buffer at the end
    links: set[tuple[Any, Any]] = field(default_factory=set)  # slots, or cells from before the loop, that may share memory
    assumed: set[tuple[int, str]] = field(default_factory=set)  # names that the body assigns to
    kept: set[Any] = field(default_factory=set)  # slots found never to be rebound
    rebound: set[Any] = field(default_factory=set)  # slots found to be rebound

    def is_rebound(self, slot: Any) -> bool:
        """Whether the name gets another buffer or container in the body."""
        if slot in self.rebound:
            return True
        return slot[0] == "n" and (slot[1], slot[2]) in self.assumed and slot not in self.kept


class Loops(Statements):
    # --- statements -----------------------------------------------------------------------------------------------

    def do_For(self, stmt: ast.For) -> Any:
        av = self.ev(stmt.iter)
        items = self.unrollable(av, stmt)
        if items is not None:
            return self.unroll(stmt, items, 0)
        range_, item = self.iteration(av, stmt)
        return self.run_loop(stmt, range_, lambda i: self.assign(stmt.target, item(i), stmt.target), None, stmt.body, stmt.orelse, stmt.target, type(av) is RangeOf)

    def do_While(self, stmt: ast.While) -> Any:
        return self.run_loop(stmt, None, None, stmt.test, stmt.body, stmt.orelse, None)

    def unrollable(self, av: Any, node: Any) -> list[Any] | None:
        """The items to unroll a loop over, or None if it is to stay a loop."""
        if type(av) is RangeOf or type(av) is Ref:
            return None
        items = self.iterated(av, node)
        if items is not None and len(items) > UNROLL_LIMIT:
            if all(type(x) in (Value, Ref) or isinstance(x, (int, float, complex)) for x in items):
                return None
            self.fail(f"a loop over {len(items)} items of different kinds", node, "use an array")
        return items

    def iterated(self, av: Any, node: Any) -> list[Any] | None:
        """The items of an iterable whose number is known, or None."""
        if type(av) is EnumerateOf:
            inner = self.iterated(av.it, node) if type(av.it) is not Ref else None
            if inner is None or not isinstance(av.start, int):
                return None
            return [Seq((av.start + k, x)) for k, x in enumerate(inner)]
        if type(av) is ZipOf:
            lists = [self.iterated(x, node) if type(x) is not Ref else None for x in av.its]
            known = [x for x in lists if x is not None]
            if not known or any(type(x) is RangeOf for x in av.its) and len(known) == len([x for x in av.its if type(x) is RangeOf]):
                return None
            n = min(len(x) for x in known)
            columns = []
            for x, items in zip(av.its, lists):
                if items is None:
                    length = self.length(x, node)
                    if length is not n and not (isinstance(length, int) and length >= n):
                        return None
                    items = [self.item_of(x, k, node) for k in range(n)]
                columns.append(items)
            return [Seq(tuple(row)) for row in zip(*columns)]
        if type(av) is ReversedOf:
            inner = self.iterated(av.it, node) if type(av.it) is not Ref else None
            return None if inner is None else inner[::-1]
        if type(av) is Ref:
            return None
        return self.known_items(av, node)

    def unroll(self, stmt: ast.For, items: list[Any], k: int) -> Any:
        """One copy of the body per item; `break` and `continue` by their codes."""
        for n in range(k, len(items)):
            self.assign(stmt.target, items[n], stmt.target)
            code = self.lower_block(stmt.body, True)
            if isinstance(code, int):
                if code == BREAK:
                    return NORMAL
                if code in (RETURN, DEAD):
                    return code
                continue
            return self.after_trip(code, lambda n=n: self.unroll(stmt, items, n + 1), stmt)  # type: ignore[misc]
        return self.lower_block(stmt.orelse, False) if stmt.orelse else NORMAL

    def after_trip(self, code: Value, rest: Callable[[], Any], stmt: Any) -> Any:
        """Go on with the next copies where the last one ended with 0 or `continue`."""
        possible = self.codes[code]
        goes_on = possible & {NORMAL, CONTINUE}
        if not goes_on:
            return self.map_code(code, {BREAK: NORMAL}, stmt)
        cond: Any = None
        for value in sorted(goes_on):
            test = self.emit(stmt, EQ, code, value)
            cond = test if cond is None else self.branch(cond, lambda: True, lambda test=test: test, stmt)
        start = self.state
        regions = (self.builder.new_region(), self.builder.new_region())
        with self.path(start.fork(), regions[0]):
            first = rest()
            states = [self.state]
        with self.path(start.fork(), regions[1]):
            left = possible - goes_on
            second: Any = self.narrowed(code, left, {BREAK: NORMAL}, stmt)
            states.append(self.state)
        self.at(stmt)
        for k, c in enumerate((first, second)):
            if c is DEAD:
                states[k] = start.fork()
        return self.join_paths(cond, regions, states, [first, second])

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
                code = self.branch(test, lambda new=new: new, lambda code=code: code, stmt)
        self.codes[code] = mapped
        return code

    # --- iteration ------------------------------------------------------------------------------------------------

    def iteration(self, av: Any, node: Any) -> tuple[tuple[Any, Any, Any], Callable[[Any], Any]]:
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
        if type(av) is EnumerateOf and type(av.it) is RangeOf and av.it.step == 1 and av.it.start == 0:
            return (0, av.it.stop, 1), lambda i: self.item_of(av, i, node)
        if kind is ReversedOf:
            return (self.number(SUB, length, 1, node), -1, -1), lambda i: self.item_of(av.it, i, node)
        return (0, length, 1), lambda i: self.item_of(av, i, node)

    def number(self, prim: Any, a: Any, b: Any, node: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            return prim.fn(a, b)
        if isinstance(b, int) and b == 0:
            return a
        if isinstance(a, int) and a == 0 and prim is ADD:
            return b
        return self.emit(node, prim, a, b)

    def iter_length(self, av: Any, node: Any) -> Any:
        kind = type(av)
        if kind is EnumerateOf or kind is ReversedOf:
            return self.iter_length(av.it, node)
        if kind is ZipOf:
            lengths: list[Any] = []
            for x in av.its:
                n = self.iter_length(x, node)
                if not any(self.same_length(n, m) for m in lengths):
                    lengths.append(n)
            if not lengths:
                return 0
            out = lengths[0]
            if len(lengths) > 1:
                out = self.call(Obj(min, None), lengths, {}, node)
            return out
        if kind in (Ref, ListRef, Seq, RangeOf, DictRef, Instance, Obj) or type(av) is Value:
            return self.length(av, node)
        self.fail(f"a loop over {describe(av)} is not supported", node)

    def same_length(self, n: Any, m: Any) -> bool:
        if isinstance(n, int) or isinstance(m, int):
            return type(n) is type(m) and n == m
        a, b = type_of(n).length, type_of(m).length
        return n is m or (a is not None and b is not None and self.builder.dims.same(a, b))

    def item_of(self, av: Any, i: Any, node: Any) -> Any:
        """The item that an iterable gives at index `i`."""
        kind = type(av)
        if kind is EnumerateOf:
            return Seq((self.number(ADD, i, av.start, node), self.item_of(av.it, i, node)))
        if kind is ZipOf:
            return Seq(tuple([self.item_of(x, i, node) for x in av.its]))
        if kind is ReversedOf:
            n = self.number(SUB, self.iter_length(av.it, node), 1, node)
            return self.item_of(av.it, self.number(SUB, n, i, node), node)
        if kind is RangeOf:
            step = i if isinstance(av.step, int) and av.step == 1 else self.binary(operator.mul, i, av.step, node)
            return step if isinstance(av.start, int) and av.start == 0 else self.binary(operator.add, av.start, step, node)
        return self.subscript(av, i, node)

    # --- the loop proper ------------------------------------------------------------------------------------------

    def counted(self, times: Any, body: Any, node: Any) -> None:
        self.run_loop(node, (0, times, 1), body, None, [], [], None)

    def run_loop(self, stmt: Any, range_: Any, head: Any, test: Any, body: list[Any], orelse: list[Any], target: Any, by_index: bool = False) -> Any:
        """Lower a loop and what its `else` holds; the exit code of the whole statement."""
        guess = Guess()
        env = self.frame.env
        facts = loop_facts(stmt, self.frame.node)
        for name in sorted(facts.assigned):
            if name in self.frame.scope.locals and name in self.state.envs[env]:
                guess.names[env, name] = None
        guess.assumed |= {(env, name) for name in facts.plainly}
        memo_key = (stmt, self.frame.call)
        self.recall(guess, self.loop_memo.get(memo_key))
        entry = self.state
        for cell, content in self.inputs.initial.items():
            entry.heap.setdefault(cell, content)
        for _ in range(60):
            attempt = _Pass(self, guess, entry, facts.needed)
            attempt.by_index = by_index
            try:
                code = attempt.run(stmt, range_, head, test, body)
                break
            except _Again:
                self.state = entry
                continue
        else:
            self.fail("what this loop carries from trip to trip does not settle", stmt)
        self.loop_memo[memo_key] = self.remember(guess, entry)
        return self.after_loop(stmt, code, test, orelse)

    def after_loop(self, stmt: Any, code: Any, test: Any, orelse: list[Any]) -> Any:
        """The exit code of the statement, its `else` part lowered where it runs."""
        finished = DONE if test is not None else NORMAL
        possible = self.possible(code)
        if not orelse:
            return self.map_code(code, {DONE: NORMAL, BREAK: NORMAL}, stmt)
        if finished not in possible:
            return self.map_code(code, {BREAK: NORMAL}, stmt)
        if possible == {finished}:
            return self.lower_block(orelse, False)
        cond = self.emit(stmt, EQ, code, finished)
        start = self.state
        regions = (self.builder.new_region(), self.builder.new_region())
        with self.path(start.fork(), regions[0]):
            first = self.lower_block(orelse, False)
            states = [self.state]
        with self.path(start.fork(), regions[1]):
            second = self.narrowed(code, possible - {finished}, {BREAK: NORMAL}, stmt)
            states.append(self.state)
        if first is DEAD:
            states[0] = start.fork()
        return self.join_paths(cond, regions, states, [first, second])

    def remember(self, guess: Guess, entry: State) -> Any:
        """The guess in terms that mean the same when the loop is lowered again."""
        order = {env: k for k, env in enumerate(entry.envs)}
        by_cell: dict[int, tuple[int, str]] = {}
        for env, names in entry.envs.items():
            for name, av in names.items():
                if type(av) in (Ref, ListRef, DictRef, Instance):
                    by_cell.setdefault(av.cell, (order[env], name))
        cells = [by_cell[c] for c in guess.cells if c in by_cell]

        def portable(key: Any) -> Any:
            head = key[:1] if key[0] in ("r", "h") else ()
            rest = key[len(head) :]
            if rest[0] == "n" and rest[1] in order:
                return (*head, "n", order[rest[1]], *rest[2:])
            if rest[0] == "c" and rest[1] in by_cell:
                return (*head, "c", by_cell[rest[1]], *rest[2:])
            return None

        types = {portable(k): t for k, t in guess.types.items() if t.is_scalar or t == ANY}
        sets = [{portable(k) for k in group} - {None} for group in (guess.kept, guess.rebound, guess.dynamic)]
        types.pop(None, None)
        return [(order[e], n) for e, n in guess.names if e in order], cells, types, sets

    def recall(self, guess: Guess, memo: Any) -> None:
        if memo is None:
            return
        envs = list(self.state.envs)
        names, cells, types, sets = memo
        for k, name in names:
            if k < len(envs) and name in self.state.envs[envs[k]]:
                guess.names[envs[k], name] = None
        found: dict[Any, int] = {}
        for k, name in cells:
            av = self.state.envs[envs[k]].get(name) if k < len(envs) else None
            if type(av) in (Ref, ListRef, DictRef, Instance):
                guess.cells[av.cell] = None
                found[k, name] = av.cell

        def local(key: Any) -> Any:
            head = key[:1] if key[0] in ("r", "h") else ()
            rest = key[len(head) :]
            if rest[0] == "n":
                return (*head, "n", envs[rest[1]], *rest[2:]) if rest[1] < len(envs) else None
            return (*head, "c", found[rest[1]], *rest[2:]) if rest[1] in found else None

        guess.types.update({local(k): t for k, t in types.items()})
        for group, mine in zip(sets, (guess.kept, guess.rebound, guess.dynamic)):
            mine |= {local(k) for k in group}


class _Pass:
    """One attempt to lower a loop under a guess."""

    def __init__(self, interp: Loops, guess: Guess, entry: State, needed: frozenset[str]):
        self.interp = interp
        self.guess = guess
        self.entry = entry
        self.needed = needed
        self.params: list[tuple[Any, Value, Any]] = []  # leaf key, parameter, init
        self.exits: dict[Any, Any] = {}
        self.head_cells: dict[Any, int] = {}
        self.slot_cells: list[tuple[Any, int, int | None]] = []  # slot, head cell, entry cell
        self.again = False
        self.returned: dict[int, Any] = {}  # by frame: the parameters for what is returned
        self.by_index = False  # the loop's variable is the index itself

    def run(self, stmt: Any, range_: Any, head_fn: Any, test: Any, body: list[Any]) -> Any:
        interp = self.interp
        builder = interp.builder
        interp.at(stmt)
        region = builder.new_region()
        self.region = region
        direct = isinstance(getattr(stmt, "target", None), ast.Name) and head_fn is not None and range_ is not None
        index = region.param(py_int(), stmt.target.id if direct and self.by_index else "i")
        start = self.head_state()
        self.head_snapshot = start.fork()
        with builder.inside(region):
            interp.state = start
            before = {env: dict(names) for env, names in start.envs.items()}
            heap_before = dict(start.heap)
            if test is not None:
                code = self.while_body(stmt, test, body)
            else:
                head_fn(index)
                code = interp.lower_block(body, True)
            code = interp.map_code(code, {CONTINUE: NORMAL}, stmt)
            end = interp.state
            if code is DEAD:
                code = NORMAL
                end = self.head_snapshot.fork()
            for cell, content in interp.inputs.initial.items():
                self.entry.heap.setdefault(cell, content)
                heap_before.setdefault(cell, content)
                end.heap.setdefault(cell, content)
            self.compare(before, heap_before, end)
            if self.again:
                raise _Again
            self.collect(end)
        if self.again:
            raise _Again
        return self.finish(stmt, range_, code, index, end)

    def while_body(self, stmt: Any, test: Any, body: list[Any]) -> Any:
        interp = self.interp
        cond = interp.condition(test)
        done = DONE if stmt.orelse else BREAK
        if not isinstance(cond, Value):
            return interp.lower_block(body, True) if cond else done
        start = interp.state
        regions = (interp.builder.new_region(), interp.builder.new_region())
        with interp.path(start.fork(), regions[0]):
            first = interp.lower_block(body, True)
            if isinstance(first, int) and first == CONTINUE:
                first = NORMAL
            states = [interp.state]
        with interp.path(start.fork(), regions[1]):
            states.append(interp.state)
        if first is DEAD:
            states[0] = start.fork()
        interp.at(stmt)
        return interp.join_paths(cond, regions, states, [first, done])

    # --- the state at the top of the body -------------------------------------------------------------------------

    def head_state(self) -> State:
        guess, entry = self.guess, self.entry
        state = entry.fork()
        self.head = state
        for env, name in guess.names:
            if env not in state.envs:
                continue
            slot = ("n", env, name)
            av = entry.envs[env].get(name, MISSING)
            form = guess.forms.get(slot, MISSING)
            if name == "$ret":
                # What is returned is never read in the loop, and every path that returns sets it.
                state.envs[env].pop(name, None)
                self.returned[env] = self.generalize(MISSING, form, slot, "")
                continue
            if av is MISSING or type(av) is Maybe or type(form) is Maybe:
                inner = av.av if type(av) is Maybe else av
                flag = av.flag if type(av) is Maybe else av is not MISSING
                end_inner = form.av if type(form) is Maybe else form
                made = self.generalize(inner, end_inner, slot, name)
                state.envs[env][name] = made if type(made) is Conflict else Maybe(made, self.param((*slot, "bound"), flag, PY_BOOL, ""))
            else:
                state.envs[env][name] = self.generalize(av, form, slot, name)
        for cell in guess.cells:
            if cell in state.heap:
                state.heap[cell] = self.general_content(entry.heap[cell], guess.forms.get(("c", cell), MISSING), ("c", cell), cell)
        for cell, poison in guess.poisoned.items():
            state.heap[cell] = poison
        self.link_heads()
        return state

    def param(self, key: Any, init: Any, t: Ty, hint: str) -> Value:
        guess = self.guess
        known = guess.types.get(key)
        dims = self.interp.builder.dims
        joined = t if known is None else known if t == known or t.kind == "undef" else join(known, t, dims)
        if known is not None and joined.dims is not None and t.dims is not None and known.dims is not None:
            joined = self.with_varying(key, known, t, joined)
        guess.types[key] = joined
        varying = guess.varying.get(key)
        actual = joined
        if varying and joined.dims is not None:
            actual = Ty(joined.kind, joined.dtype, tuple([dims.fresh() if k in varying else d for k, d in enumerate(joined.dims)]))
        value = self.region.param(actual, "" if hint.startswith("$") else hint)
        self.params.append((key, value, init))
        return value

    def with_varying(self, key: Any, a: Ty, b: Ty, joined: Ty) -> Ty:
        """Note the axes on which two types differ; they get a new unknown length on each trip."""
        dims = self.interp.builder.dims
        assert a.dims is not None and b.dims is not None and joined.dims is not None
        varying = self.guess.varying.setdefault(key, set())
        for k, (x, y) in enumerate(zip(a.dims, b.dims)):
            if not dims.same(x, y):
                varying.add(k)
        return Ty(joined.kind, joined.dtype, tuple([a.dims[k] if k in varying else d for k, d in enumerate(joined.dims)]))

    def generalize(self, av: Any, form: Any, slot: Any, hint: str) -> Any:
        """What a carried name is at the top of the body: its leaves are the loop's parameters."""
        if type(av) is Conflict or type(form) is Conflict:
            return av if type(av) is Conflict else form
        if av is MISSING and form is MISSING:
            return Conflict("is not bound before the loop")
        sample = form if av is MISSING else av
        kind = type(sample)
        if kind is Value or is_constant(sample):
            if form is not MISSING and not (type(form) is Value or is_constant(form)):
                if type(form) is Ref and av is not MISSING:
                    return self.head_ref(av, slot, hint)
                return Conflict("is bound to different kinds of things before and in the loop")
            init = UNDEF if av is MISSING else av
            t = type_of(av)
            if av is MISSING:
                t = self.guess.types.get(slot) or (type_of(form) if type_of(form).is_scalar else UNDEF_TY)
            elif type(av) is int:
                t = py_int()
            return self.param(slot, init, t, hint)
        if kind is Ref:
            if form is not MISSING and type(form) is not Ref and not (type(form) is Value or is_constant(form)):
                return Conflict("is bound to different kinds of things before and in the loop")
            return self.head_ref(av, slot, hint)
        if kind in (ListRef, DictRef, Instance):
            if form is not MISSING and av is not MISSING and type(form) is not kind:
                return Conflict("is bound to different kinds of things before and in the loop")
            return self.head_container(av, sample, form, slot, hint)
        if is_composite(sample):
            if form is not MISSING and av is not MISSING and not same_form(av, form):
                return Conflict("is bound to different kinds of things before and in the loop")
            n = len(parts_of(sample))
            mine = [MISSING] * n if av is MISSING else parts_of(av)
            ends = [MISSING] * n if form is MISSING else parts_of(form)
            parts = [self.generalize(x, y, (*slot, k), "") for k, (x, y) in enumerate(zip(mine, ends))]
            bad = next((p for p in parts if type(p) is Conflict), None)
            return bad if bad is not None else with_parts(sample, parts)
        if form is not MISSING and av is not MISSING and not same(av, form):
            return Conflict("is bound to different kinds of things before and in the loop")
        return sample

    def head_ref(self, av: Any, slot: Any, hint: str) -> Any:
        """An array name: a new cell for the buffer that it is bound to at the top of the body."""
        guess, interp = self.guess, self.interp
        if av is not MISSING and type(av) is Ref and not guess.is_rebound(slot):
            return av
        entry_key = (av.cell, structural_key(av.path)) if type(av) is Ref else ("none", slot)
        key = (entry_key, guess.partition.get(slot))
        cell = self.head_cells.get(key)
        if cell is None:
            cell = self.head_cells[key] = interp.cells.new()
            leaf = ("r", *slot)
            if av is MISSING:
                init: Any = UNDEF
                t = guess.types.get(leaf, UNDEF_TY)
            elif type(av) is Ref:
                base = self.entry.heap.get(av.cell)
                if base is None or isinstance(base, Poison):
                    self.head.heap[cell] = base or Poison(None, "is unknown here")
                    return Ref(cell)
                init = interp.builder.emit(GET, base, av.path) if av.path else base
                t = init.type
            else:
                init, t = av, type_of(av)
                guess.types.setdefault(leaf, ANY)
            self.head.heap[cell] = self.param(leaf, init, t, hint)
            if av is MISSING or type(av) is not Ref or av.cell in interp.cells.numpy:
                interp.cells.numpy.add(cell)
            if type(av) is Ref and av.cell in interp.cells.origins:
                interp.cells.origins[cell] = interp.cells.origins[av.cell]
        self.slot_cells.append((slot, cell, av.cell if type(av) is Ref else None))
        return Ref(cell)

    def head_container(self, av: Any, sample: Any, form: Any, slot: Any, hint: str) -> Any:
        interp, guess = self.interp, self.guess
        if av is not MISSING and not guess.is_rebound(slot):
            return av
        key = (av.cell if av is not MISSING else ("none", slot), guess.partition.get(slot))
        cell = self.head_cells.get(key)
        if cell is None:
            cell = self.head_cells[key] = interp.cells.new()
            content = MISSING if av is MISSING else self.entry.heap.get(av.cell, MISSING)
            end = guess.forms.get(("content", slot), MISSING)
            self.head.heap[cell] = self.general_content(content, end, ("h", *slot), cell)
        self.slot_cells.append((slot, cell, av.cell if av is not MISSING else None))
        if type(sample) is Instance:
            return Instance(sample.cls, cell)
        return type(sample)(cell)

    def general_content(self, content: Any, end: Any, slot: Any, cell: int | None) -> Any:
        """What a carried cell holds at the top of the body."""
        for x in (content, end):
            if isinstance(x, Poison):
                return x
        sample = end if content is MISSING else content
        if sample is MISSING:
            return Poison(None, "is unknown here")
        if type(content) is Value and type(end) is not Items or slot in self.guess.dynamic or type(sample) is Value:
            init: Any = UNDEF
            if content is not MISSING:
                init = self.entry_list(content)
                if type(content) is Items and cell is not None:
                    for element in self.interp.cells_in(content.items):
                        for other in (element, *self.entry.links.get(element, ())):
                            self.head.link(cell, other)
                if init is None:
                    return Poison(None, "is a list that grows in a loop, of items other than numbers and arrays")
            t = self.guess.types.get(slot, UNDEF_TY) if init is UNDEF else type_of(init)
            hint = init.hint if type(init) is Value else ""
            return self.param(slot, init, t, hint)
        if type(sample) is Items or type(sample) is Entries:
            n = len(sample.items)
            mine = [MISSING] * n if content is MISSING else list(content.items)
            ends = [MISSING] * n
            if type(end) is type(sample) and len(end.items) == n and (type(end) is Items or end.keys == sample.keys):
                ends = list(end.items)
            elif end is not MISSING:
                if type(end) is Items or type(end) is Value:
                    self.guess.dynamic.add(slot)
                    return self.general_content(content, end, slot, cell)
                return Poison(None, "has different keys before and in the loop")
            parts = [self.generalize(x, y, (*slot, k), "") for k, (x, y) in enumerate(zip(mine, ends))]
            bad = next((p for p in parts if type(p) is Conflict), None)
            if bad is not None:
                return Poison(None, bad.why)
            return Items(tuple(parts)) if type(sample) is Items else Entries(sample.keys, tuple(parts))
        return sample

    def entry_list(self, content: Any) -> Any:
        """The IR list that the loop starts with."""
        if type(content) is Value:
            return content
        interp = self.interp
        items = []
        for item in content.items:
            if type(item) is Value or is_constant(item):
                items.append(item)
            elif type(item) is Ref:
                base = self.entry.heap.get(item.cell)
                if type(base) is not Value:
                    return None
                items.append(interp.builder.emit(GET, base, item.path) if item.path else base)
            else:
                return None
        return interp.builder.emit(LIST_NEW, tuple(items))

    def link_heads(self) -> None:
        """Which of the new cells may share memory at the top of the body: those that do at the start or after a trip."""
        entry, state = self.entry, self.head
        for k, (slot, cell, origin) in enumerate(self.slot_cells):
            if origin is not None:
                state.link(cell, origin)
                for other in entry.links.get(origin, ()):
                    state.link(cell, other)
            for slot2, cell2, origin2 in self.slot_cells[:k]:
                if cell2 == cell:
                    continue
                if origin is not None and origin2 is not None and (origin == origin2 or origin2 in entry.links.get(origin, ())):
                    state.link(cell, cell2)
                if (slot, slot2) in self.guess.links or (slot2, slot) in self.guess.links:
                    state.link(cell, cell2)
        for a, b in self.guess.links:
            if isinstance(a, int) or isinstance(b, int):
                cells_a = [a] if isinstance(a, int) else [c for s, c, _ in self.slot_cells if s == a]
                cells_b = [b] if isinstance(b, int) else [c for s, c, _ in self.slot_cells if s == b]
                for x in cells_a:
                    for y in cells_b:
                        state.link(x, y)

    # --- the state at the end of the body -------------------------------------------------------------------------

    def compare(self, before: Any, heap_before: Any, end: State) -> None:
        """Widen the guess wherever the end of the body does not fit it."""
        guess = self.guess
        ends: dict[Any, list[Any]] = {}
        for env, names in before.items():
            if env not in end.envs:
                continue
            now = end.envs[env]
            for name in [*names, *[n for n in now if n not in names]]:
                x, y = names.get(name, MISSING), now.get(name, MISSING)
                slot = ("n", env, name)
                if name == "$ret" and env in self.returned:
                    x = self.returned[env]
                    if y is MISSING:
                        continue
                if (env, name) not in guess.names:
                    if x is y or (x is not MISSING and y is not MISSING and same(x, y)):
                        continue
                    if x is MISSING and (env != self.interp.frame.env or not (name in self.needed or name == "$ret")):
                        continue
                    guess.names[env, name] = None
                    self.widen(slot, y)
                    self.again = True
                else:
                    self.match(slot, x, y, end)
        for cell, content in heap_before.items():
            now = end.heap.get(cell, MISSING)
            if now is content or now is MISSING:
                continue
            if cell not in self.entry.heap:
                continue
            if isinstance(now, Poison):
                if cell not in guess.poisoned:
                    guess.poisoned[cell] = now
                    self.again = True
                continue
            if cell not in guess.cells:
                guess.cells[cell] = None
                guess.forms[("c", cell)] = now
                self.again = True
            else:
                self.match_content(("c", cell), content, now, end, cell)
        self.compare_links(end)

    def widen(self, slot: Any, form: Any) -> None:
        old = self.guess.forms.get(slot, MISSING)
        if type(old) is Conflict:
            return
        self.guess.forms[slot] = form

    def match(self, slot: Any, head: Any, end: Any, state: State) -> None:
        """Does the end value of a slot fit what the top of the body assumed?"""
        guess = self.guess
        if type(head) is Conflict or head is MISSING:
            if type(head) is Conflict and slot not in guess.forms and end is not MISSING and type(end) is not Conflict:
                guess.forms[slot] = end
                self.again = True
            return
        if type(end) is Conflict:
            guess.forms[slot] = end
            self.again = True
            return
        if type(head) is Maybe or type(end) is Maybe or end is MISSING:
            if type(head) is not Maybe:
                guess.forms[slot] = end if type(end) is Maybe else Maybe(head, False)
                self.again = True
                return
            self.match(slot, head.av, end.av if type(end) is Maybe else end, state) if end is not MISSING else None
            return
        if same(head, end):
            if type(head) in (Ref, ListRef, DictRef, Instance) and any(s == slot and o is not None for s, _, o in self.slot_cells):
                if slot not in guess.rebound and slot not in guess.kept:
                    guess.kept.add(slot)
                    self.again = True
            return
        kind = type(head)
        if kind in (Ref, ListRef, DictRef, Instance) and not guess.is_rebound(slot) and not any(s == slot for s, _, _ in self.slot_cells):
            guess.rebound.add(slot)
            if type(end) is not kind:
                guess.forms[slot] = end
            self.again = True
            return
        if kind is Value:
            if type(end) is Value or is_constant(end):
                self.fits(slot, head, end)
                return
            guess.forms[slot] = end
            self.again = True
            return
        if kind is Ref:
            if type(end) is Ref:
                value = self.end_value(end, state)
                if isinstance(value, Poison) or value is None:
                    guess.forms[slot] = Conflict("is unknown after a store to a possible alias of it")
                    self.again = True
                    return
                leaf = ("r", *slot)
                if any(p[0] == leaf for p in self.params):
                    self.fits(leaf, self.param_of(leaf), value)
                return
            if type(end) is Value or is_constant(end):
                leaf = ("r", *slot)
                if any(p[0] == leaf for p in self.params):
                    self.fits(leaf, self.param_of(leaf), end)
                return
            guess.forms[slot] = end
            self.again = True
            return
        if kind in (ListRef, DictRef, Instance):
            if type(end) is not kind:
                guess.forms[slot] = end
                self.again = True
                return
            now = state.heap.get(end.cell, MISSING)
            content = self.head_snapshot.heap.get(head.cell)
            if ("content", slot) not in guess.forms and content is not now:
                guess.forms["content", slot] = now
            self.match_content(("h", *slot), content, now, state, end.cell, ("content", slot))
            return
        if is_composite(head) and same_form(head, end):
            for k, (x, y) in enumerate(zip(parts_of(head), parts_of(end))):
                self.match((*slot, k), x, y, state)
            return
        guess.forms[slot] = end
        self.again = True

    def param_of(self, key: Any) -> Any:
        return next(v for k, v, _ in self.params if k == key)

    def end_value(self, ref: Ref, state: State) -> Any:
        base = state.heap.get(ref.cell)
        if base is None or isinstance(base, Poison) or not ref.path:
            return base
        return self.interp.builder.emit(GET, base, ref.path)

    def match_content(self, slot: Any, head: Any, now: Any, state: State, cell: int, form: Any = None) -> None:
        guess = self.guess
        form = form or slot
        if isinstance(head, Poison) or head is now:
            return
        if isinstance(now, Poison) or now is MISSING:
            guess.forms[form] = now if now is not MISSING else Poison(None, "is unknown here")
            self.again = True
            return
        if type(head) is Value:
            if type(now) is Value:
                self.fits(slot, head, now)
            elif type(now) is Items:
                value = self.items_value(now, state)
                for element in self.interp.cells_in(now.items):
                    state.link_view(cell, element)
                if value is None:
                    guess.forms[form] = Poison(None, "is a list of different lengths, of items other than numbers and arrays")
                    self.again = True
                else:
                    self.fits(slot, head, value)
            return
        if type(head) is type(now) and len(head.items) == len(now.items) and (type(head) is Items or head.keys == now.keys):
            for k, (x, y) in enumerate(zip(head.items, now.items)):
                self.match((*slot, k), x, y, state)
                self.note_item_form(form, now)
            return
        if type(head) is Items:
            guess.dynamic.add(slot)
            guess.forms[form] = now
            self.again = True
            return
        guess.forms[form] = Poison(None, "gets other keys in a loop")
        self.again = True

    def note_item_form(self, form: Any, now: Any) -> None:
        if self.again:
            self.guess.forms[form] = now

    def items_value(self, content: Items, state: State) -> Any:
        items = []
        for item in content.items:
            if type(item) is Value or is_constant(item):
                items.append(item)
            elif type(item) is Ref:
                value = self.end_value(item, state)
                if value is None or isinstance(value, Poison):
                    return None
                items.append(value)
            else:
                return None
        return self.interp.builder.emit(LIST_NEW, tuple(items))

    def fits(self, key: Any, head: Value, end: Any) -> None:
        """Widen the type of a leaf to cover what it is at the end."""
        guess = self.guess
        dims = self.interp.builder.dims
        old, new = guess.types[key], type_of(end)
        if head is end or new == old:
            return
        varying = guess.varying.setdefault(key, set())
        joined = join(old, new, dims)
        if "object" in (old.kind, new.kind) and old.kind != new.kind:
            joined = ANY
        if joined.dims is not None and old.dims is not None and new.dims is not None:
            fresh = {k for k, (x, y) in enumerate(zip(old.dims, new.dims)) if not dims.same(x, y)}
            if not fresh <= varying:
                varying |= fresh
                self.again = True
            joined = Ty(joined.kind, joined.dtype, old.dims, joined.elem, joined.length)
        if joined != old:
            guess.types[key] = joined
            self.again = True

    def compare_links(self, end: State) -> None:
        """Names that got the same buffer, or linked ones, at the end have to be linked at the top."""
        guess = self.guess
        ends = []
        for slot, cell, origin in self.slot_cells:
            av = self.end_of(slot, end)
            if av is not None:
                ends.append((slot, cell, av))
        for slot, cell, av in ends:
            # Names whose head cell is one must have one buffer at the end as well.
            mark: Any = (av.cell, structural_key(getattr(av, "path", ())))
            peers = [(s, a) for s, c, a in ends if c == cell and s != slot]
            if any((a.cell, structural_key(getattr(a, "path", ()))) != mark for _, a in peers):
                if guess.partition.get(slot) != slot:
                    guess.partition[slot] = slot
                    self.again = True
        for k, (slot, cell, av) in enumerate(ends):
            for slot2, cell2, av2 in ends[:k]:
                if cell != cell2 and (av.cell == av2.cell or av2.cell in end.links.get(av.cell, ())):
                    if (slot, slot2) not in guess.links:
                        guess.links.add((slot, slot2))
                        self.again = True
            for other in [av.cell, *end.links.get(av.cell, ())]:
                # A buffer from before the loop that the name may have at the end.
                if other in self.entry.heap and other != cell:
                    if (slot, other) not in guess.links and other not in self.head_snapshot.links.get(cell, ()):
                        guess.links.add((slot, other))
                        self.again = True
        for cell in self.entry.heap:
            for other in end.links.get(cell, ()):
                if other in self.entry.heap and other not in self.head_snapshot.links.get(cell, ()):
                    if (cell, other) not in guess.links and (other, cell) not in guess.links:
                        guess.links.add((cell, other))
                        self.again = True

    def end_of(self, slot: Any, end: State) -> Any:
        """The reference that a slot holds at the end of the body: a name, or a part of what a name leads to."""
        while slot[0] == "h":
            slot = slot[1:]
        if slot[0] == "n":
            av = end.envs.get(slot[1], {}).get(slot[2])
            if slot[2] == "$ret":
                return None
            rest = slot[3:]
        else:
            content = end.heap.get(slot[1])
            av, rest = _item(content, slot[2]), slot[3:]
        for k in rest:
            if type(av) is Maybe:
                av = av.av
            if type(av) in (ListRef, DictRef, Instance):
                av = _item(end.heap.get(av.cell), k)
            else:
                av = parts_of(av)[k] if is_composite(av) and k < len(parts_of(av)) else None
        if type(av) is Maybe:
            av = av.av
        return av if type(av) in (Ref, ListRef, DictRef, Instance) else None

    # --- the operation --------------------------------------------------------------------------------------------

    def collect(self, end: State) -> None:
        """What each parameter is at the end of the body."""
        for env, name in self.guess.names:
            if env not in self.head_snapshot.envs:
                continue
            self.collect_av(("n", env, name), end.envs[env].get(name, MISSING), end)
        for cell in self.guess.cells:
            self.collect_content(("c", cell), end.heap.get(cell), end)

    def collect_av(self, slot: Any, av: Any, end: State) -> None:
        keys = {k for k, _, _ in self.params}
        if (*slot, "bound") in keys:
            flag = av.flag if type(av) is Maybe else av is not MISSING
            self.exits[*slot, "bound"] = flag
        if type(av) is Maybe:
            av = av.av
        if av is MISSING or type(av) is Conflict:
            return
        if slot in keys:
            if type(av) is Value or is_constant(av):
                self.exits[slot] = av
            return
        leaf = ("r", *slot)
        if leaf in keys:
            value = self.end_value(av, end) if type(av) is Ref else av
            if type(value) is Value or is_constant(value):
                self.exits[leaf] = value
            return
        if type(av) in (ListRef, DictRef, Instance):
            if any(s == slot for s, _, _ in self.slot_cells):
                self.collect_content(("h", *slot), end.heap.get(av.cell), end)
            return
        if is_composite(av):
            for k, part in enumerate(parts_of(av)):
                self.collect_av((*slot, k), part, end)

    def collect_content(self, slot: Any, content: Any, end: State) -> None:
        keys = {k for k, _, _ in self.params}
        if slot in keys:
            if type(content) is Items:
                content = self.items_value(content, end)
            if type(content) is Value:
                self.exits[slot] = content
            return
        if type(content) in (Items, Entries):
            for k, part in enumerate(content.items):
                self.collect_av((*slot, k), part, end)

    def finish(self, stmt: Any, range_: Any, code: Any, index: Value, end: State) -> Any:
        """Append the loop and leave the state after it."""
        interp = self.interp
        builder = interp.builder
        region = self.region
        exits = []
        for key, value, _ in self.params:
            exits.append(self.exits.get(key, value))
        flags = self.drop_flags(exits)
        region.exit = (code, *exits)
        interp.at(stmt)
        op = Op(LOOP, (range_, tuple([init for _, _, init in self.params])), {}, (region,), builder.loc)
        op.results = []
        replace: dict[Value, Value] = {}
        for (key, value, _), _exit in zip(self.params, exits):
            t = self.guess.types[key]
            varying = self.guess.varying.get(key)
            if varying and t.dims is not None:
                t = Ty(t.kind, t.dtype, tuple([builder.dims.fresh() if k in varying else d for k, d in enumerate(t.dims)]), t.elem)
            result = Value(t, value.hint, op)
            op.results.append(result)
            replace[value] = result
        trips, last = Value(py_int(), "trips", op), Value(py_int(), "code", op)
        op.results += [trips, last]
        builder.append(op)
        for value in flags:
            interp.at(stmt)
            flag = builder.emit(GT, trips, 0)
            if not (isinstance(code, int) and code == NORMAL):
                flag = builder.emit(PRIMS[operator.or_], flag, builder.emit(NE, last, NORMAL))
            replace[value] = flag
        interp.state = self.after(end, replace)
        if isinstance(code, int) and code == NORMAL:
            if range_ is None:
                return DEAD  # it never ends
            return NORMAL
        possible = interp.possible(code)
        if range_ is None:
            possible = possible - {NORMAL}
        else:
            possible = possible | {NORMAL}
        if len(possible) == 1:
            return next(iter(possible))
        interp.codes[last] = possible
        return last

    def drop_flags(self, exits: list[Any]) -> list[Value]:
        """The flags of names that every trip binds need not be carried: the number of trips tells."""
        if not any(key[-1] == "bound" and exit is True and init is False for (key, _, init), exit in zip(self.params, exits)):
            return []
        used = set(_values_read(self.region)) | set(leaves(tuple(exits)))
        dropped = []
        for k in reversed(range(len(self.params))):
            key, value, init = self.params[k]
            if key[-1] == "bound" and exits[k] is True and init is False and value not in used:
                dropped.append(value)
                del self.params[k], exits[k]
                self.region.params.remove(value)
        return dropped

    def after(self, end: State, replace: dict[Value, Value]) -> State:
        """The state after the loop: the head's structure with the results in place of the parameters."""
        head = self.head_snapshot
        out = State()
        out.links = dict(head.links)
        for env, names in head.envs.items():
            out.envs[env] = {name: _substitute(av, replace) for name, av in names.items()}
        for env, av in self.returned.items():
            out.envs[env]["$ret"] = _substitute(av, replace)
        for cell, content in head.heap.items():
            out.heap[cell] = _substitute(content, replace)
        return out


def _item(content: Any, k: Any) -> Any:
    """One item of what a container holds, or None."""
    if type(content) in (Items, Entries) and isinstance(k, int) and k < len(content.items):
        return content.items[k]
    return None


def _values_read(region: Region) -> list[Value]:
    out: list[Value] = []
    for op in region.walk():
        out += op.operands()
        for sub in op.regions:
            out += leaves(sub.exit)
    return out


def _substitute(av: Any, replace: dict[Value, Value]) -> Any:
    if type(av) is Value:
        return replace.get(av, av)
    if type(av) is Maybe:
        return Maybe(_substitute(av.av, replace), _substitute(av.flag, replace))
    if is_composite(av):
        parts = parts_of(av)
        new = [_substitute(p, replace) for p in parts]
        return av if all(x is y for x, y in zip(parts, new)) else with_parts(av, new)
    return av


__all__ = ["Loops"]
