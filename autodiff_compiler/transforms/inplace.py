"""Restore updates in place: the bridge from functional stores to NumPy's.

Before: every store makes a new version of its array.  After: every store may be done in the buffer of the version that
it takes, because a COPY stands wherever that version's content, or that of something sharing its memory, is read later.

The analysis is that of destructive updates in functional languages, with loops: each value has a set of *roots*, the
buffers that it may share. A loop's carried slot that is stored into is a root of its own, owned by the loop; what
enters it from outside is copied once, before the loop, if it is still needed. A store conflicts with a value that
shares a root, was defined before the store, and has its content read after it. Conflicts are resolved where that is
cheapest: copy the view, copy what is put on a stack or into a list, else copy the array.
"""

from __future__ import annotations

from bisect import insort
from heapq import heappop, heappush
from typing import Any

from ..ir import opset
from ..ir.budget import current
from ..ir.core import CALL, DERIVED, FUNC, IF, LOOP, TRY, Builder, Function, Op, Region, Value, leaves
from ..ir.opset import ACCUM, ADD, COPY, FULL_LIKE, GET, LIST_GET, POP, PUSH, SPREAD, STORES, path_is_view
from ..ir.rewrite import (
    SHAPE_ONLY,
    called,
    content_operands,
    enclosing,
    enclosing_func,
    free_values,
    region_of,
    substitute,
)  # fmt: skip

# Which operand of a store becomes an item of the list, or holds what becomes items.
STORED = {opset.LIST_APPEND: 1, opset.LIST_SET: 2, opset.LIST_ADDAT: 2, opset.LIST_INSERT: 2}
SPLICED = {opset.LIST_SPLICE: 2, opset.LIST_ADDSLICE: 4}
LIST_STORES = {*STORED, opset.LIST_DROP, opset.LIST_CUT}  # of items that are not in another list
CAPTURES = {PUSH, CALL, opset.LIST_NEW, opset.LIST_APPEND, opset.LIST_SET, opset.LIST_INSERT, opset.TUPLE}
FOREVER = float("inf")
MOST_ROUNDS = 200
EXTERNAL = "external"  # memory that is not ours, or not known to be

Root = Any


class InPlace:
    """The rounds of this pass: find the conflicts, insert copies, until there are none.

    `split`: the backward sweep (the operations tagged as derived) becomes a function of its own that may be called
    again; it must then leave the forward sweep's buffers alone.
    """

    def __init__(self, fn: Function, split: bool):
        self.fn, self.split = fn, split
        self.rounds = 0
        self.may_leave_dead_code = True  # a broadcast, say, of which only a copy was needed

    def find_conflicts(self) -> bool:
        self.rounds += 1
        assert self.rounds <= MOST_ROUNDS, "the in-place analysis does not settle"
        self.analysis = Analysis(self.fn, self.split)
        return self.analysis.conflicts()

    def insert_copies(self) -> None:
        self.analysis.insert_copies()

    def after_dead_code(self, changed: bool) -> None:
        """Dead code was looked for, and some of it was dropped if `changed`."""


class Lives:
    """Values with the positions from and to which they live, asked for at increasing positions: so that a chain of
    stores does not look at all of its versions for each of them."""

    def __init__(self, lives: list[tuple[float, float, Value]]):
        self.waiting = sorted(((first, k, last, v) for k, (first, last, v) in enumerate(lives)), reverse=True)
        self.alive: list[tuple[int, float, Value]] = []
        self.gone: set[Value] = set()  # of which a copy will be read instead

    def at(self, position: int) -> list[Value]:
        """What lives at this position, in the order given."""
        while self.waiting and self.waiting[-1][0] <= position:
            _, k, last, v = self.waiting.pop()
            insort(self.alive, (k, last, v))
        self.alive = [
            life for life in self.alive if life[1] >= position and (life[2] not in self.gone or life[1] == FOREVER)
        ]
        return [v for _, _, v in self.alive]


class Analysis:
    def __init__(self, fn: Function, split: bool):
        self.fn = fn
        self.body = fn.body
        self.position: dict[Any, int] = {}
        self.end: dict[Any, int] = {}
        self.clock = 0
        self.ops: list[Op] = []
        self.flow: list[tuple[Op, bool]] = []  # loops where they start (True), all operations where they end
        self.loops: dict[Region, tuple[Op, ...]] = {}
        self._number(fn.body, ())
        self.forward_ops = {op for op in fn.body.ops if op.tag != DERIVED} if split else set()
        self.uses: dict[Value, list[tuple[Op | Region, bool]]] = {}
        self._collect(fn.body)
        self.outer: dict[Op, list[Value]] = {}  # what the functions read from outside of them
        for op in self.ops:
            if op.prim is CALL:
                func = called(op)
                if func not in self.outer:
                    self.outer[func] = [v for v in free_values(func.regions[0]) if _may_share(v)]
                for v in self.outer[func]:
                    self.uses.setdefault(v, []).append((op, True))
        self.mutated = self._mutated_slots()
        self.roots: dict[Value, frozenset[Root]] = {}
        self.inner: dict[Value, frozenset[Root]] = {}
        self.made: dict[Root, Op | None] = {}
        self._compute_roots()
        self.family = self._families()
        self.sharing: dict[Root, list[Value]] = {}
        for v, roots in self.roots.items():
            for root in roots:
                self.sharing.setdefault(root, []).append(v)
        self.captures: dict[Root, list[tuple[Op, Value]]] = {}  # what puts something that shares it elsewhere
        for root, values in self.sharing.items() if any(op.prim in CAPTURES for op in self.ops) else ():
            for v in values:
                for user, _ in self.uses.get(v, ()):
                    if isinstance(user, Op) and user.prim in CAPTURES and self._captures(user, v):
                        self.captures.setdefault(root, []).append((user, v))
        self.lives: dict[Root, Lives] = {}
        self.first: dict[Value, Value] = {}

    # --- order ----------------------------------------------------------------------------------------------------

    def _number(self, region: Region, loops: tuple[Op, ...]) -> None:
        self.loops[region] = loops
        for op in region.ops:
            self.position[op] = self.clock
            self.clock += 1
            self.ops.append(op)
            if op.prim is LOOP:
                self.flow.append((op, True))
            for inner in op.regions:
                self.position[inner] = self.clock
                self.clock += 1
                self._number(inner, (*loops, op) if op.prim in (LOOP, FUNC) else loops)
            self.flow.append((op, False))
            self.end[op] = self.clock
            self.clock += 1
        self.end[region] = self.clock
        self.clock += 1

    def _collect(self, region: Region) -> None:
        for op in region.ops:
            content = set(content_operands(op)) if op.prim in SHAPE_ONLY else None
            for v in dict.fromkeys(op.operands()):
                # How long a list is changes in place as well.
                self.uses.setdefault(v, []).append((op, content is None or v in content or v.type.kind == "list"))
            for inner in op.regions:
                self._collect(inner)
        for v in set(leaves(region.exit)):
            self.uses.setdefault(v, []).append((region, True))

    def defined_at(self, v: Value) -> int:
        if v.op is not None:
            return self.end[v.op] if v.op.regions else self.position[v.op]
        return -1 if v.region is self.body else self.position[v.region]

    # --- slots and roots ------------------------------------------------------------------------------------------

    def _mutated_slots(self) -> set[Value]:
        """The carried parameters of loops whose buffer is stored into by the loop's own trips."""
        mutated: set[Value] = set()
        seen: set[Value] = set()
        before = -1
        while before != len(mutated):
            before = len(mutated)
            for op in self.ops:
                if op.prim in STORES:
                    self._mark(op.args[0], mutated, seen)
                elif op.prim is LOOP:
                    for k, init in enumerate(op.args[1]):
                        if op.regions[0].params[k + 1] in mutated:
                            self._mark(init, mutated, seen)
                            # What is handed over to the slot becomes its buffer: swapped slots are stored into in turn.
                            self._mark(op.regions[0].exit[k + 1], mutated, seen)
        return mutated

    def _mark(self, v: Any, mutated: set[Value], seen: set[Value]) -> None:
        """The slot, if any, whose buffer `v` is. `seen`: the values of which it is known."""
        while type(v) is Value and v not in seen:
            seen.add(v)
            op = v.op
            if op is None:
                owner = v.region.op if v.region is not None else None
                if owner is not None and owner.prim is LOOP:
                    mutated.add(v)
                return
            if op.prim in STORES:
                v = op.args[0]
            elif op.prim is IF:
                k = op.results.index(v)
                for region in op.regions:
                    self._mark(region.exit[k], mutated, seen)
                return
            elif op.prim is TRY:
                k = op.results.index(v) - 2
                if k < 0:
                    return
                v = op.regions[0].exit[k]
            elif op.prim is LOOP:
                k = op.results.index(v)
                if k >= len(op.args[1]):
                    return
                self._mark(op.regions[0].exit[k + 1], mutated, seen)
                # What is stored into after the loop is the loop's own buffer if the loop owns one.
                v = op.args[1][k]
            else:
                return

    def _compute_roots(self) -> None:
        inner = [p for op in self.body.ops if op.prim is FUNC for p in op.regions[0].params]
        for param in [*self.body.params, *inner]:
            self.roots[param] = frozenset([(EXTERNAL, param)]) if _may_share(param) else frozenset()
            self.inner[param] = self.roots[param]
        for op, starts in self.flow:
            if op.results or starts:
                self._flow_through(op, starts)
        # Only into a loop does anything flow backwards. From there on, what takes part is looked at again.
        place = {step: k for k, step in enumerate(self.flow)}
        todo = [k for k, (_, starts) in enumerate(self.flow) if starts]
        waiting = set(todo)
        while todo:
            k = heappop(todo)
            waiting.discard(k)
            for v in self._flow_through(*self.flow[k]):
                for user, _ in self.uses.get(v, ()):
                    reader = user.op if isinstance(user, Region) else user
                    if reader is None or not _takes_part(reader):
                        continue  # what others make is new whatever their operands are
                    for step in ((reader, True), (reader, False)):
                        if step in place and place[step] not in waiting:
                            waiting.add(place[step])
                            heappush(todo, place[step])

    def _flow_through(self, op: Op, starts: bool) -> list[Value]:
        """Find again what the parameters of a loop, or the results of an operation, share; those that changed."""
        if starts:
            return [p for k, p in enumerate(op.regions[0].params[1:]) if self._enter(p, *self._of_param(op, k, p))]
        return [v for k, v in enumerate(op.results) if self._enter(v, *self._of_result(op, k, v))]

    def _enter(self, v: Value, roots: frozenset[Root], inner: frozenset[Root]) -> bool:
        if not _may_share(v):
            roots = inner = frozenset()
        if v.type.kind == "list" and v.type.elem is not None and v.type.elem.is_scalar:
            inner = frozenset()  # numbers share nothing
        old, old_inner = self.roots.get(v), self.inner.get(v)
        roots = roots | (old or frozenset())
        inner = inner | (old_inner or frozenset())
        if roots != old or inner != old_inner:
            self.roots[v], self.inner[v] = roots, inner
            return True
        return False

    def of(self, arg: Any) -> frozenset[Root]:
        if type(arg) is Value:
            return self.roots.get(arg, frozenset())
        return frozenset().union(*(self.of(v) for v in leaves(arg)))

    def inside_of(self, arg: Any) -> frozenset[Root]:
        if type(arg) is Value:
            return self.inner.get(arg, frozenset())
        return frozenset().union(*(self.inside_of(v) for v in leaves(arg)))

    def _of_param(self, op: Op, k: int, param: Value) -> tuple[frozenset[Root], frozenset[Root]]:
        init, out = op.args[1][k], op.regions[0].exit[k + 1]
        inner = self.inside_of(init) | self.inside_of(out)
        if param in self.mutated:
            self.made[("slot", param)] = op
            return frozenset([("slot", param)]), inner
        carried = frozenset(("before", r) if self._made_inside(r, op) else r for r in self.of(out))
        return self.of(init) | carried, inner

    def _made_inside(self, root: Root, loop: Op) -> bool:
        """A new buffer in each trip of the loop."""
        maker = self.made.get(root)
        if maker is None or maker is loop:
            return False
        return any(r is loop.regions[0] for r in enclosing(maker.parent))

    def _of_result(self, op: Op, k: int, v: Value) -> tuple[frozenset[Root], frozenset[Root]]:
        own: Root = ("new", v)
        none: frozenset[Root] = frozenset()
        prim = op.prim
        if prim is CALL:
            # It may be (a part of) an argument, or of what the function reads from outside.
            args = [*op.args[1:], *self.outer[called(op)]]
            shared = self.of(args) | self.inside_of(args) | frozenset([(EXTERNAL, v)])
            return shared, shared
        if prim is IF:
            outs = [r.exit[k] for r in op.regions]
            return self.of(outs), self.inside_of(outs)
        if prim is TRY and k >= 2:
            out = op.regions[0].exit[k - 2]
            return self.of(out), self.inside_of(out)
        if prim is LOOP:
            if k >= len(op.args[1]):
                return none, none
            param = op.regions[0].params[k + 1]
            outs = [op.args[1][k], op.regions[0].exit[k + 1]]
            inner = self.inside_of(outs)
            return (frozenset([("slot", param)]), inner) if param in self.mutated else (self.of(outs), inner)
        if prim in STORES:
            inner = self.inside_of(op.args[0])
            if prim is opset.LIST_ADDAT and v.type.elem is not None and v.type.elem.kind == "list":
                items = ("items", v)  # a sum is a new list
                self.made[items] = op
                inner = inner | frozenset([items])
            elif prim in STORED:
                stored = op.args[STORED[prim]]
                inner = inner | self.of(stored) | self.inside_of(stored)
            elif prim in SPLICED:
                inner = inner | self.inside_of(op.args[SPLICED[prim]])
            return self.of(op.args[0]), inner
        if prim is GET:
            view = path_is_view(Builder(op.parent), op.args[0], op.args[1])  # type: ignore[arg-type]
            if view is False:
                self.made[own] = op
                return frozenset([own]), none
            return self.of(op.args[0]), none
        if prim is LIST_GET:
            return self.inside_of(op.args[0]), self.inside_of(op.args[0])
        if prim is POP:
            return frozenset([(EXTERNAL, op.args[0])]), frozenset([(EXTERNAL, op.args[0])])
        if prim is SPREAD:
            return self.of(op.args[0]) | frozenset([(EXTERNAL, v)]), none
        if prim is opset.LIST_NEW:
            self.made[own] = op
            return frozenset([own]), self.of(op.args) | self.inside_of(op.args)
        if (prim is COPY and v.type.kind == "list") or prim is opset.LIST_SLICE:
            self.made[own] = op
            return frozenset([own]), self.inside_of(op.args[0])
        if prim.alias == "view":
            self.made[own] = op
            base = self.of(op.args[0]) or frozenset([own])
            if prim.name in opset.READ_ONLY:  # nobody may store into it, whoever owns the memory
                base = base | frozenset([(EXTERNAL, v)])
            return base, self.inside_of(op.args[0])
        if prim.alias == "maybe" or prim.effects:
            shared = self.of(op.args) | self.of(op.kwargs) | self.inside_of(op.args) | frozenset([(EXTERNAL, v)])
            return shared, shared
        self.made[own] = op
        if v.type.kind == "list":
            items = ("items", v)
            self.made[items] = op
            return frozenset([own]), frozenset([items])
        return frozenset([own]), none

    def _families(self) -> dict[Root, frozenset[Root]]:
        """Buffers that may become one another from trip to trip: a slot's, what enters it, and what is handed over to
        it."""
        parent: dict[Root, Root] = {}

        def find(r: Root) -> Root:
            while parent.get(r, r) != r:
                r = parent[r]
            return r

        for op in self.ops:
            if op.prim is LOOP:
                body = op.regions[0]
                for k, param in enumerate(body.params[1:]):
                    if param in self.mutated:
                        for root in self.of(op.args[1][k]) | self.of(body.exit[k + 1]):
                            if root[0] == "before":
                                root = root[1]
                            parent[find(root)] = find(("slot", param))
        members: dict[Root, set[Root]] = {}
        for root in list(parent):
            members.setdefault(find(root), {find(root)}).add(root)
        return {root: frozenset(group) for group in members.values() for root in group}

    # --- conflicts ------------------------------------------------------------------------------------------------

    def conflicts(self) -> bool:
        """Plan copies for the conflicts found; False if there are none."""
        self.copies: list[tuple[Any, ...]] = []
        self.copied: set[Any] = set()
        # Buffers that a copy planned in this round replaces, with the stores that it stands before: what may be stored
        # to them later is looked at in the next round.
        self.stale: dict[Root, list[Op]] = {}
        budget = current()
        for op in self.ops:
            if budget is not None:
                budget.tick(op.loc)
            if op.prim in STORES and type(op.args[0]) is Value:
                self._check_store(op, op.args[0], op)
            elif op.prim is LOOP:
                for k, init in enumerate(op.args[1]):
                    if op.regions[0].params[k + 1] in self.mutated:
                        if type(init) is Value:
                            self._check_store(op, init, (op, k))
                        self._check_handover(op, k)
        self._check_returns()
        return bool(self.copies)

    def insert_copies(self) -> None:
        for action, *rest in self.copies:
            getattr(self, action)(*rest)

    def _plan(self, key: Any, action: str, *rest: Any) -> None:
        if key not in self.copied:
            self.copied.add(key)
            self.copies.append((action, *rest))

    def owned(self, root: Root, writer: Op) -> bool:
        if root[0] in (EXTERNAL, "before"):
            return False
        func = enclosing_func(writer.parent)
        if func is not None:
            # Only what the activation has made itself.
            maker = self.made.get(root)
            if maker is None or not any(r is func.regions[0] for r in enclosing(maker.parent)):
                return False
        if self.forward_ops and not self._is_forward(writer):
            maker = self.made.get(root)
            if maker is not None and self._is_forward(maker):
                return False
        return True

    def _is_forward(self, op: Op) -> bool:
        while op.parent is not self.body:
            assert op.parent is not None and op.parent.op is not None
            op = op.parent.op
        return op in self.forward_ops

    def _check_store(self, op: Op, dest: Value, site: Any) -> None:
        if not _may_share(dest) or self._is_stale(dest, op):
            return
        views: list[Op] = []
        captures: list[tuple[Op, Value]] = []
        made_at = self._made_at(dest)
        moved = (
            bool(self.captures)
            and dest.type.kind == "list"
            and all(self._taken_out(dest, root, op, site) for root in self.of(dest))
        )
        for root in self.of(dest):
            if not self.owned(root, op):
                self._copy_dest(op, dest, site)
                return
            if root[0] == "items" and not self._taken_out(dest, root, op, site) and self._still_listed(root, op, site):
                self._copy_dest(op, dest, site)
                return
            if root not in self.lives:
                self.lives[root] = Lives([(*self._life(v), v) for v in self.sharing[root]])
            alive = self.lives[root].at(self.position[op])
            if dest in self.lives[root].gone:
                alive.append(dest)
            for v in alive:
                if self.defined_at(v) < made_at:
                    continue  # it holds the buffer of an earlier trip, if any
                for user, content in self.uses.get(v, ()):
                    if not content or user is op and self._only_as_dest(op, v, site):
                        continue
                    if isinstance(user, Op) and user.prim in CAPTURES and self._captures(user, v):
                        if self._after_capture(user, op, root) and not (moved and self._moves(user, v, root)):
                            captures.append((user, v))
                            continue
                    if not self._reads_after(v, user, op, site):
                        continue
                    if v is not dest and v.op is not None and v.op.prim.alias == "view" and v.type.kind != "list":
                        views.append(v.op)
                    else:
                        self._copy_dest(op, dest, site)
                        return
        for root in self.of(dest):
            for other in self.family.get(root, (root,)) if made_at < 0 and self.captures else ():
                for user, v in self.captures.get(other, ()):
                    if self._after_capture(user, op, root) and not (moved and self._moves(user, v, other)):
                        captures.append((user, v))
        if captures and (_read_from_list(dest) is not None or any(self._is_copied(v) for _, v in captures)):
            # A copy put into the list would come out of it again.
            self._copy_dest(op, dest, site)
            return
        for view in views:
            self._plan(("view", view), "_insert_view_copy", view)
            for root in self.of(view.results[0]):
                if root in self.lives:
                    self.lives[root].gone.add(view.results[0])
        for user, v in captures:
            self._plan(("capture", user, v), "_insert_capture_copy", user, v)

    def _life(self, v: Value) -> tuple[float, float]:
        """From where to where a store to the memory of `v` may matter to a reader of `v`."""
        mine = self.loops[region_of(v)]
        last = -1.0
        for user, content in self.uses.get(v, ()):
            if not content:
                continue
            if isinstance(user, Op) and user.prim in CAPTURES and self._captures(user, v):
                return -1.0, FOREVER
            where = user if isinstance(user, Region) else user.parent
            assert where is not None
            # The loops around the user in which `v` stays the same: their next trips read it again.
            again = next((loop for loop in self.loops[where] if loop not in mine), None)
            end = self.end[user] if isinstance(user, Region) else self.position[user]
            last = max(last, end if again is None else self.end[again])
        return self.defined_at(v), last

    def _still_listed(self, root: Root, op: Op, site: Any) -> bool:
        """A list that may hold the item is read after the store."""
        return any(
            content and self._reads_after(held, user, op, site)
            for held, inner in self.inner.items()
            if root in inner and held.type.kind == "list"
            for user, content in self.uses.get(held, ())
        )

    def _taken_out(self, dest: Value, root: Root, op: Op, site: Any) -> bool:
        """The item leaves its list where it is read, and was in no other."""
        get = _read_from_list(dest)
        if get is None or region_of(get.args[0]) is not get.parent:
            return False
        held, index = get.args
        for user, content in self.uses.get(held, ()):
            if not content or user is get:
                continue
            if isinstance(user, Region) or user.args[0] is not held:
                return False
            if user.prim not in (opset.LIST_DROP, opset.LIST_SET) or user.args[1] is not index:
                return False
        return all(
            isinstance(user, Region)
            or user.prim in (IF, LOOP, LIST_GET, opset.LEN, *LIST_STORES)
            or not content
            or (user.prim is opset.ZEROS and not self._reads_after(other, user, op, site))
            for other, inner in self.inner.items()
            if root in inner and other.type.kind == "list"
            for user, content in self.uses.get(other, ())
        )

    def _moves(self, capture: Op, v: Value, root: Root) -> bool:
        """The list gets the only reference to the buffer: what was just made for it, or was taken out there."""
        if self._puts_back(capture, v):
            return True
        others = [user for user, x in self.captures[root] if user.prim is not PUSH and not self._puts_back(user, x)]
        if capture.prim not in STORED or others != [capture]:
            return False
        makers = [self.made.get(r) for r in self.family.get(root, (root,))]
        return all(maker is not None and maker.parent is capture.parent for maker in makers)

    def _puts_back(self, capture: Op, v: Value) -> bool:
        """What was read at a place of a list goes back there."""
        get = self.first_version(v).op
        same_place = get is not None and get.prim is LIST_GET and capture.prim is opset.LIST_SET
        return same_place and all(x is y for x, y in zip(get.args, capture.args))  # type: ignore[union-attr]

    def _is_copied(self, v: Value) -> bool:
        """A copy that was made for the one place that reads it."""
        return v.op is not None and v.op.prim is COPY and len(self.uses.get(v, ())) == 1

    def _made_at(self, dest: Value) -> int:
        """Where the buffer of `dest` is made, if `dest` is surely the one made last; else -1."""
        dest = self.first_version(dest)
        own = ("new", dest)
        if dest.op is None or self.of(dest) != {own} or self.made.get(own) is not dest.op:
            return -1
        return self.position[dest.op]

    def first_version(self, v: Value) -> Value:
        """What the stores that made `v` started from."""
        versions = []
        while v not in self.first and v.op is not None and v.op.prim in STORES:
            versions.append(v)
            v = v.op.args[0]
        v = self.first.get(v, v)
        self.first.update(dict.fromkeys(versions, v))
        return v

    def _only_as_dest(self, op: Op, v: Value, site: Any) -> bool:
        """The store reads `v` only as what it stores into."""
        if op.prim is LOOP:
            k = site[1]
            return op.args[1][k] is v and sum(1 for x in leaves(op.args) if x is v) == 1 and not self._again(v, op, op)
        # The stored value and the subscripts are read before the store, so they may share memory with it. In the next
        # trip of a loop that does not make `v` anew, its old content is wanted again.
        return not self._again(v, op, op)

    def _captures(self, user: Op, v: Value) -> bool:
        if user.prim in STORED:
            return user.args[STORED[user.prim]] is v
        if user.prim is CALL:
            return any(x is v for x in leaves(user.args))
        return user.prim is not PUSH or user.args[1] is v

    def _after_capture(self, capture: Op, store: Op, root: Root) -> bool:
        """The store may run after the capture on the same buffer."""
        assert capture.parent is not None and store.parent is not None
        inner = self.loops[store.parent]
        for loop in self.loops[capture.parent]:
            if loop in inner and not all(self._made_inside(r, loop) for r in self.family.get(root, (root,))):
                return True
        if capture is store:
            return False
        return self.position[store] > self.position[capture] and not self._exclusive(capture, store)

    def _is_stale(self, v: Value, op: Op) -> bool:
        return any(not self._apart(copied, op) for root in self.of(v) for copied in self.stale.get(root, ()))

    def _apart(self, a: Op, b: Op) -> bool:
        """On different sides of an ``if`` that runs once: neither is run before the other."""
        sides = {r.op: r for r in enclosing(a.parent) if r.op is not None and r.op.prim is IF}
        return any(
            r.op in sides and sides[r.op] is not r and not self.loops[r.op.parent]  # type: ignore[index]
            for r in enclosing(b.parent)
        )

    def _exclusive(self, a: Op | Region, b: Op) -> bool:
        """On different sides of an ``if``."""
        here = a if isinstance(a, Region) else a.parent
        sides = {r.op: r for r in enclosing(here) if r.op is not None and r.op.prim is IF}
        return any(r.op in sides and sides[r.op] is not r for r in enclosing(b.parent))

    def _reads_after(self, v: Value, user: Op | Region, store: Op, site: Any) -> bool:
        """`user` may read the same instance of `v` after the store has run, and `v` has not seen the store."""
        if v in store.results:
            return False
        defined = self.defined_at(v)
        at = self.position[store]
        if store.prim is LOOP:
            if v.op is store or (v.op is None and v.region is store.regions[0]):
                return False
            if defined > at:
                return False
            # The loop stores in each of its trips, so what is read inside of it is read after.
        elif defined >= at:
            return False
        if isinstance(user, Op) and user is store:
            return True
        after = (self.end[user] if isinstance(user, Region) else self.position[user]) > at
        return (after and not self._exclusive(user, store)) or self._again(v, user, store)

    def _again(self, v: Value, user: Op | Region, store: Op) -> bool:
        """A loop in which `v` stays the same runs both."""
        where = user if isinstance(user, Region) else user.parent
        assert where is not None and store.parent is not None
        mine = self.loops[region_of(v)]
        theirs = self.loops[where]
        return any(loop in theirs and loop not in mine for loop in self.loops[store.parent])

    def _copy_dest(self, op: Op, dest: Value, site: Any) -> None:
        for root in self.of(dest):
            self.stale.setdefault(root, []).append(op)
        self._plan(("dest", op, site if isinstance(site, tuple) else None), "_insert_dest_copy", op, dest, site)

    def _check_handover(self, loop: Op, k: int) -> None:
        """What a trip hands to the next in a slot that is stored into must be a buffer of the loop's own, handed over
        once."""
        body = loop.regions[0]
        out = body.exit[k + 1]
        if type(out) is not Value or not _may_share(out) or self._is_stale(out, loop):
            return
        for root in self.of(out):
            maker = self.made.get(root)
            mine = root[0] == "slot" and maker is loop
            if not mine and (not self.owned(root, loop) or not self._made_inside(root, loop)):
                self._plan(("out", loop, k), "_insert_exit_copy", loop, k)
                return
            for j, other in enumerate(body.exit[1:]):
                if j != k and type(other) is Value and (root in self.of(other) or root in self.inside_of(other)):
                    if j < k or body.params[j + 1] not in self.mutated:
                        self._plan(("out", loop, k), "_insert_exit_copy", loop, k)
                        return
            for user, v in self.captures.get(root, ()) if not mine else ():
                if self._is_copied(v):
                    self._plan(("out", loop, k), "_insert_exit_copy", loop, k)
                    return
                self._plan(("capture", user, v), "_insert_capture_copy", user, v)

    def _check_returns(self) -> None:
        taken: set[Root] = set()
        for k, out in enumerate(self.body.exit):
            if type(out) is not Value or not _may_share(out):
                continue
            roots = self.of(out) | self.inside_of(out)
            if not roots.isdisjoint(self.stale):
                continue
            if any(r[0] in (EXTERNAL, "before") or r in taken for r in roots):
                self._plan(("return", k), "_insert_return_copy", k)
            taken |= roots

    # --- copies ---------------------------------------------------------------------------------------------------

    def _copy_of(self, v: Value) -> Op:
        if v.op is not None and v.op.prim is SPREAD:
            op = Op(FULL_LIKE, (v.op.args[1], v.op.args[0]), {}, (), v.op.loc)
        else:
            op = Op(COPY, (v,), {}, (), v.op.loc if v.op is not None else None)
        op.droppable = True
        op.results = [Value(v.type, v.hint, op)]
        for x in op.operands():
            self.uses.setdefault(x, []).append((op, True))
        return op

    def _insert_before(self, at: Op, new: Op) -> None:
        region = at.parent
        assert region is not None
        new.parent, new.tag = region, at.tag
        region.ops.insert(region.ops.index(at), new)

    def _insert_dest_copy(self, op: Op, dest: Value, site: Any) -> None:
        if op.prim is ACCUM and dest.type.kind != "list" and dest.type.dims != ():
            # Adding into a new buffer is an addition. NumPy gives a number for one of arrays without axes.
            op.prim = ADD
            return
        new = self._copy_of(dest)
        new.loc = op.loc
        self._insert_before(op, new)
        if op.prim is LOOP:
            k = site[1]
            op.args = (op.args[0], tuple(new.results[0] if j == k else x for j, x in enumerate(op.args[1])))
        else:
            op.args = (new.results[0], *op.args[1:])

    def _insert_view_copy(self, view: Op) -> None:
        v = view.results[0]
        new = self._copy_of(v)
        region = view.parent
        assert region is not None
        new.parent, new.tag = region, view.tag
        region.ops.insert(region.ops.index(view) + 1, new)
        for user, _ in self.uses[v]:
            if isinstance(user, Region):
                user.exit = substitute(user.exit, {v: new.results[0]})
            elif user is not new:
                user.args = substitute(user.args, {v: new.results[0]})
                user.kwargs = substitute(user.kwargs, {v: new.results[0]})

    def _insert_capture_copy(self, user: Op, v: Value) -> None:
        new = self._copy_of(v)
        self._insert_before(user, new)
        dest = user.args[0]
        user.args = substitute(user.args, {v: new.results[0]})
        if user.prim in STORES or user.prim is PUSH:
            user.args = (dest, *user.args[1:])

    def _insert_exit_copy(self, loop: Op, k: int) -> None:
        body = loop.regions[0]
        new = self._copy_of(body.exit[k + 1])
        new.parent, new.tag = body, loop.tag
        body.ops.append(new)
        body.exit = tuple(new.results[0] if j == k + 1 else x for j, x in enumerate(body.exit))

    def _insert_return_copy(self, k: int) -> None:
        new = self._copy_of(self.body.exit[k])
        new.parent, new.tag = self.body, DERIVED
        self.body.ops.append(new)
        self.body.exit = (*self.body.exit[:k], new.results[0], *self.body.exit[k + 1 :])


def _read_from_list(v: Value) -> Op | None:
    """The read of the item of a list that `v` is, or is part of."""
    op = v.op
    while op is not None and (op.prim in STORES or op.prim is GET or op.prim.alias == "view"):
        op = op.args[0].op if type(op.args[0]) is Value else None
    return op if op is not None and op.prim is LIST_GET else None


def _takes_part(op: Op) -> bool:
    """Whether what the results share depends on what the operands share."""
    return (
        bool(op.regions) or op.prim.alias != "fresh" or op.prim.effects or op.prim in STORES
        or op.prim in (GET, LIST_GET, POP, SPREAD, COPY, opset.LIST_NEW, opset.LIST_SLICE)
    )  # fmt: skip


def _may_share(v: Value) -> bool:
    return v.type.kind not in _NO_MEMORY


_NO_MEMORY = frozenset(["py", "generic", "scalar", "shape", "stack", "undef", "object"])
