"""One attempt to lower a loop under a guess: the body, and the comparison of its end with its top."""

from __future__ import annotations

import ast
import operator
from dataclasses import replace
from typing import Any

from ..ir.core import LOOP, Op, Region, Value, leaves, structural_key, type_of
from ..ir.opset import GET, PRIMS
from ..ir.types import ANY, ANY_LENGTH, Dim, Ty, join, py_int
from .avals import (
    MISSING,
    Columns,
    Conflict,
    DictRef,
    Entries,
    Instance,
    ItemOf,
    Items,
    ListRef,
    Maybe,
    Poison,
    Ref,
    alike,
    is_composite,
    is_constant,
    parts_of,
    same,
    substituted,
)
from .core import BREAK, CONTINUE, DEAD, DONE, NORMAL, RETURN, Unreachable
from .loop_head import Again, LoopHead
from .pseudo import choice, run
from .state import LEFT_WITH, State, columns_unless_returned, unless_returned
from .structures import NoCommonStructure, covers, joined
from .tries import plain

GT, NE = PRIMS[operator.gt], PRIMS[operator.ne]


class LoopPass(LoopHead):
    """Lowers the body once; raises `Again`, with the guess widened, if the guess was too narrow."""

    def run(self, stmt: Any, range_: Any, head_fn: Any, test: Any, body: list[Any]) -> Any:
        interp = self.interp
        builder = interp.builder
        interp.at(stmt)
        region = self.region
        direct = isinstance(getattr(stmt, "target", None), ast.Name) and head_fn is not None and range_ is not None
        index = region.param(py_int(), stmt.target.id if direct and self.by_index else "i")
        interp.cells.loops[region] = self.origin
        self.root_limit = builder.dims.counter[0]  # later lengths may differ from trip to trip
        self.cell_limit = interp.cells.count  # later cells are made anew on each trip
        start = self.head_state()
        self.head_snapshot = start.fork()
        with builder.inside(region):
            interp.state = start
            before = {env: dict(names) for env, names in start.envs.items()}
            heap_before = dict(start.heap)
            try:
                if test is not None:
                    code = self.while_body(stmt, test, body)
                else:
                    head_fn(index)
                    code = interp.lower_block(body, True)
            except Unreachable:
                code = DEAD
            code = interp.map_code(code, {CONTINUE: NORMAL}, stmt)
            dropped = (
                type(code) is Value and RETURN in interp.possible(code) and not (interp.frame.cleanups or interp.exact)
            )
            self.code = code if dropped else None
            end = interp.state
            if code is DEAD:
                code = NORMAL
                end = self.head_snapshot.fork()
            for cell, content in interp.inputs.initial.items():
                self.entry.heap.setdefault(cell, content)
                heap_before.setdefault(cell, content)
                end.heap.setdefault(cell, content)
            self.compare(before, heap_before, end)
            if self.kept:
                self.guess.retract(self.kept)
            if self.again:
                raise Again
            self.collect(end)
        if self.again:
            raise Again
        return self.finish(stmt, range_, code, index, end)

    def while_body(self, stmt: Any, test: Any, body: list[Any]) -> Any:
        interp = self.interp
        done = DONE if stmt.orelse else BREAK
        if interp.exact and not plain(test):
            asked: Any = choice(test, body, [run(lambda: done, stmt, True)], stmt)
            return interp.lower_block([asked], True)
        cond = interp.condition(test)
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
            self.exits[(*slot, "bound")] = flag
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
            if type(content) is Value:
                self.exits[slot] = content
            return
        if type(content) is ItemOf:
            if (*slot, "index") in keys:
                self.exits[(*slot, "index")] = content.index
                return
            resolved = content
            content = self.in_state(end, lambda: self.interp.resolved(resolved))
        if (*slot, "list", 0) in keys:
            columns = self.end_columns(content, self.guess.columns[slot][0], end)
            for k, value in enumerate(columns.leaves if columns is not None else ()):
                self.exits[(*slot, "list", k)] = value
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
                t = Ty(
                    t.kind,
                    t.dtype,
                    tuple([builder.dims.fresh() if k in varying else d for k, d in enumerate(t.dims)]),
                    t.elem,
                )
            result = Value(t, value.hint, op)
            op.results.append(result)
            replace[value] = result
        trips, last = Value(py_int(), "trips", op), Value(py_int(), "code", op)
        op.results += [trips, last]
        builder.append(op)
        interp.cells.made[op] = self.origin
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
        if not any(
            key[-1] == "bound" and exit is True and init is False for (key, _, init), exit in zip(self.params, exits)
        ):
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
        out.causes = dict(head.causes)
        for env, names in head.envs.items():
            out.envs[env] = {name: substituted(av, replace) for name, av in names.items()}
        for (env, name), av in self.returned.items():
            out.envs[env][name] = substituted(av, replace)
        for cell, content in head.heap.items():
            out.heap[cell] = substituted(content, replace)
        return out

    # --- the state at the end of the body -------------------------------------------------------------------------

    def compare(self, before: Any, heap_before: Any, end: State) -> None:
        """Widen the guess wherever the end of the body does not fit it."""
        guess = self.guess
        own = self.interp.own_envs()
        for env, names in before.items():
            if env not in end.envs:
                continue
            now = end.envs[env]
            for name in [*names, *[n for n in now if n not in names]]:
                x, y = names.get(name, MISSING), now.get(name, MISSING)
                slot = ("n", env, name)
                if (env, name) in self.returned:
                    x = self.returned[env, name]
                    if y is MISSING:
                        continue
                if (env, name) not in guess.names:
                    if x is y or (x is not MISSING and y is not MISSING and same(x, y)):
                        continue
                    if x is MISSING and not (name in self.needed and env in own or self.is_left_with(env, name, own)):
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
            if self.interp.frozen:
                self.interp.check_changed_in_loop(cell)
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

    def is_left_with(self, env: int, name: str, own: set[int]) -> bool:
        return name in LEFT_WITH and (env in own or env == 0)

    def widen(self, slot: Any, form: Any) -> None:
        old = self.guess.forms.get(slot, MISSING)
        if type(old) is Conflict:
            return
        self.guess.forms[slot] = form

    def match(self, slot: Any, head: Any, end: Any, state: State) -> None:
        """Does the end value of a slot fit what the top of the body assumed?"""
        guess = self.guess
        self.interp.budget.tick(self.interp.builder.loc)
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
        kind = type(head)
        if same(head, end) and not (is_composite(head) and parts_of(head)):
            mine = [o for s, _, o in self.slot_cells if s == slot]
            if not mine:
                return
            if mine[0] is not None and slot not in guess.rebound and slot not in guess.kept:
                self.kept.add(slot)
                self.again = True
                return
            # It keeps the buffer that it has at the top of the body, but what is in there may change.
        if (
            kind in (Ref, ListRef, DictRef, Instance)
            and not guess.is_rebound(slot)
            and not any(s == slot for s, _, _ in self.slot_cells)
        ):
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
                    guess.forms[slot] = Conflict("is unknown after a store to a possible alias of it", self.origin)
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
            content = self.head_snapshot.heap.get(head.cell)
            now = self.listed(slot, state.heap.get(end.cell, MISSING), content, state)
            if ("content", slot) not in guess.forms and content is not now:
                guess.forms["content", slot] = now
            self.match_content(("h", *slot), content, now, state, end.cell, ("content", slot))
            return
        if is_composite(head) and alike(head, end):
            for k, (x, y) in enumerate(zip(parts_of(head), parts_of(end))):
                self.match((*slot, k), x, y, state)
            return
        guess.forms[slot] = end
        self.again = True

    def param_of(self, key: Any) -> Any:
        return next(v for k, v, _ in self.params if k == key)

    def end_value(self, ref: Ref, state: State) -> Any:
        base = state.heap.get(ref.cell)
        builder = self.interp.builder
        if type(base) is ItemOf:
            read = lambda: self.interp.read(ref) if ref.path else self.interp.content(ref.cell)
            return self.in_state(state, lambda: unless_returned(builder, self.code, read))
        if base is None or isinstance(base, Poison) or not ref.path:
            return base
        return unless_returned(builder, self.code, lambda: builder.emit(GET, base, ref.path))

    def match_content(self, slot: Any, head: Any, now: Any, state: State, cell: int, form: Any = None) -> None:
        guess = self.guess
        form = form or slot
        if isinstance(head, Poison) or head is now:
            return
        if isinstance(now, Poison) or now is MISSING:
            guess.forms[form] = now if now is not MISSING else Poison(None, "is unknown here", self.origin)
            self.again = True
            return
        if ItemOf in (type(head), type(now)):
            self.match_item(slot, head, now, form)
            return
        if type(head) is Columns:
            self.match_list(slot, head, now, state, cell, form)
            return
        if type(head) is Value:
            if type(now) is Value:
                self.fits(slot, head, now)
            return
        if (
            type(head) is type(now)
            and len(head.items) == len(now.items)
            and (type(head) is Items or head.keys == now.keys)
        ):
            for k, (x, y) in enumerate(zip(head.items, now.items)):
                self.match((*slot, k), x, y, state)
                self.note_item_form(form, now)
            return
        if type(head) is Items:
            guess.dynamic.add(slot)
            guess.forms[form] = now
            try:
                distinct = type(now) is Items or now.distinct
                guess.columns[slot] = (self.in_state(state, lambda: self.interp.items_structure(now)), distinct)
                if type(now) is Items and not now.items:
                    del guess.columns[slot]
            except NoCommonStructure as error:
                guess.forms[form] = Poison(None, f"is a list that grows in a loop and {error}", self.origin)
            self.again = True
            return
        guess.forms[form] = Poison(None, "gets other keys in a loop", self.origin)
        self.again = True

    def listed(self, slot: Any, now: Any, head: Any, state: State) -> Any:
        """What a name leads to at the end: if it is an item of a list, as one where that is possible."""
        if type(now) is not ItemOf or type(head) is ItemOf:
            return now
        origin = next((o for s, _, o in self.slot_cells if s == slot), None)
        before = MISSING if origin is None else self.entry.heap.get(origin)
        fits = before is MISSING or (type(before) is ItemOf and (before.cell, before.place) == (now.cell, now.place))
        if fits and now.cell in self.entry.heap and slot not in self.guess.items:
            self.guess.items.add(slot)
            self.guess.forms["content", slot] = now
            self.again = True
        return self.in_state(state, lambda: self.interp.resolved(now))

    def match_item(self, slot: Any, head: Any, now: Any, form: Any) -> None:
        """Does what a cell holds that is an item of a list fit what the top of the body assumed?"""
        guess = self.guess
        if type(head) is type(now) and (head.cell, head.place) == (now.cell, now.place) and covers(head.root, now.root):
            if any(p[0] == (*slot, "index") for p in self.params):
                return
            if structural_key(head.index) == structural_key(now.index):
                return
        first = type(now) is ItemOf and form not in guess.forms
        guess.forms[form] = now if first else Poison(None, "is an item of a list, not always the same", self.origin)
        self.again = True

    def match_list(self, slot: Any, head: Columns, now: Any, state: State, cell: int, form: Any) -> None:
        """Does a list of run-time length fit what the top of the body assumed?"""
        guess = self.guess
        if slot not in guess.columns:
            return  # it shares its cell with another slot, which is looked at
        known, distinct = guess.columns[slot]
        try:
            if type(now) is Items and not now.items:
                end = known
            else:
                end = self.in_state(state, lambda: self.interp.items_structure(now))
            wider = joined(known, end)
        except NoCommonStructure as error:
            guess.forms[form] = Poison(None, f"is a list that grows in a loop and {error}", self.origin)
            self.again = True
            return
        columns = self.end_columns(now, known, state) if wider is known else None
        if columns is None:
            guess.forms[form] = Poison(None, "is a list that grows in a loop, of items that are not known", self.origin)
            self.again = True
            return
        if type(now) is Items:
            for element in self.interp.cells_in(now.items):
                state.link_view(cell, element)
        if distinct and not columns.distinct:
            guess.columns[slot] = (known, False)
            self.again = True
        for k, (x, y) in enumerate(zip(head.leaves, columns.leaves)):
            self.fits((*slot, "list", k), x, y)

    def end_columns(self, content: Any, form: Any, state: State) -> Columns | None:
        """The columns that a list is at the end of the body."""
        if type(content) not in (Items, Columns):
            return None
        columns: Columns | None = self.in_state(
            state, lambda: columns_unless_returned(self.interp, content, form, self.code)
        )
        return columns

    def note_item_form(self, form: Any, now: Any) -> None:
        if self.again:
            self.guess.forms[form] = now

    def fits(self, key: Any, head: Value, end: Any) -> None:
        """Widen the type of a leaf to cover what it is at the end."""
        guess = self.guess
        dims = self.interp.builder.dims
        if key not in guess.types:
            return  # it shares its cell with another slot, which is looked at
        old, new = guess.types[key], type_of(end)
        if head is end or new == old:
            return
        varying = guess.varying.setdefault(key, set())
        joined = join(old, new, dims)
        if "object" in (old.kind, new.kind) and old.kind != new.kind and "undef" not in (old.kind, new.kind):
            joined = ANY
        if joined.dims is not None and old.dims is not None and new.dims is not None:
            fresh = {k for k, (x, y) in enumerate(zip(old.dims, new.dims)) if not dims.same(x, y)}
            if not fresh <= varying:
                varying |= fresh
                self.again = True
            joined = Ty(joined.kind, joined.dtype, old.dims, joined.elem, joined.length, joined.real)
        if joined.kind == "list" and joined.elem is not None and joined.elem.dims is not None:
            joined = Ty("list", elem=self.settled_element(old.elem, new.elem, joined.elem))
        if joined != old:
            guess.types[key] = joined
            self.again = True

    def settled_element(self, old: Ty | None, new: Ty | None, joined: Ty) -> Ty:
        """The type of a list's elements without lengths that hold of one trip only."""
        dims = self.interp.builder.dims
        known = [t.dims for t in (old, new) if t is not None]
        assert joined.dims is not None
        if any(d is None or len(d) != len(joined.dims) for d in known):
            return replace(joined, dims=None)
        shape: list[Any] = []
        for k in range(len(joined.dims)):
            lengths = [d[k] for d in known if d is not None]
            local = any(isinstance(n, Dim) and n.root > self.root_limit for n in lengths)
            shape.append(ANY_LENGTH if local or not all(dims.same(lengths[0], n) for n in lengths) else lengths[0])
        return replace(joined, dims=tuple(shape))

    def compare_links(self, end: State) -> None:
        """Names that got the same buffer, or linked ones, at the end have to be linked at the top."""
        guess = self.guess
        ends = []
        unknown = set()
        for slot, cell, _ in self.slot_cells:
            av = self.end_of(slot, end)
            if av is not None:
                ends.append((slot, cell, av))
            else:
                unknown.add(cell)
                self.link_part_of_item(slot, cell, end)
        for slot, cell, _ in ends:
            # One that shares its cell with one of which the end is not known must not follow that.
            if cell in unknown and guess.partition.get(slot) != slot:
                guess.partition[slot] = slot
                self.again = True
        for slot, cell, av in ends:
            origins = self.interp.cells.origins
            found = origins.get(av.cell, frozenset()) - origins.get(cell, frozenset())
            if found:
                guess.origins[slot] = guess.origins.get(slot, frozenset()) | found
                self.again = True
            if av.cell in self.interp.cells.detached and slot not in guess.detached and type(av) is not Ref:
                guess.detached.add(slot)
                self.again = True
            if type(av) is not Ref:
                made = {c for c in self.interp.cells.family(av.cell) if c <= self.cell_limit}
                missing = made - self.interp.cells.family(cell)
                if missing:
                    guess.families[slot] = guess.families.get(slot, frozenset()) | missing
                    self.again = True
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

    def link_part_of_item(self, slot: Any, cell: int, end: State) -> None:
        """A part of what is an item of a list at the end, and a container of its own at the top: a store into it may be
        one into what the list holds."""
        steps = slot
        while steps[0] == "h":
            steps = steps[1:]
        if steps[0] != "n":
            return
        for n in range(3, len(steps)):
            outer = self.end_of(steps[:n], end)
            item = None if outer is None else end.heap.get(outer.cell)
            if type(item) is not ItemOf:
                continue
            for other in {item.cell, *end.links.get(item.cell, ()), *end.links.get(outer.cell, ())}:
                if other in self.entry.heap and other != cell and (slot, other) not in self.guess.links:
                    self.guess.links.add((slot, other))
                    self.again = True

    def end_of(self, slot: Any, end: State) -> Any:
        """The reference that a slot holds at the end of the body: a name, or a part of what a name leads to."""
        while slot[0] == "h":
            slot = slot[1:]
        if slot[0] == "n":
            av = end.envs.get(slot[1], {}).get(slot[2])
            rest = slot[3:]
        else:
            content = end.heap.get(slot[1])
            av, rest = _item(content, slot[2]), slot[3:]
        for k in rest:
            if type(av) is Maybe:
                av = av.av
            if isinstance(av, (ListRef, DictRef, Instance)):
                av = _item(end.heap.get(av.cell), k)
            else:
                av = parts_of(av)[k] if is_composite(av) and k < len(parts_of(av)) else None
        av = av.av if type(av) is Maybe else av
        return av if type(av) in (Ref, ListRef, DictRef, Instance) else None


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
