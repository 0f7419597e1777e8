"""Sharing: which buffers each value may occupy once every store is done in place.

Takes the program order of a function (`order`). Gives, for each value, its *roots*: the buffers that it may share. Two
values may share memory only if they have a root in common. What a value holds inside, as a list does, has roots too.

>>> import numpy as np
>>> from autodiff_compiler.analysis.order import Order
>>> from autodiff_compiler.frontend.lower import lower
>>> def f(x):
...     y = x * 2.0
...     part = y[1:]
...     part[0] = 1.0
...     return np.sum(part * y)
>>> order = Order(lower(f, (np.ones(3),)).function.body)
>>> sharing = Sharing(order)
>>> for op in order.writers[0].parent.ops:
...     if op.results:
...         print(op.prim.name, [(kind, v.hint) for kind, v in sharing.of(op.result)])
* [('new', 'y')]
get [('new', 'y')]
set [('new', 'y')]
get [('new', 'y')]
* [('new', '')]
np.sum []
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from ..ir import opset
from ..ir.core import CALL, FUNC, IF, LOOP, TRY, Builder, Op, Region, Value, leaves, type_of
from ..ir.opset import COPY, GET, LIST_GET, POP, SPREAD, STORES, path_is_view
from ..ir.rewrite import called
from .order import Order, may_share

# Which operand of a store becomes an item of the list, or holds what becomes items.
STORED = {opset.LIST_APPEND: 1, opset.LIST_SET: 2, opset.LIST_ADDAT: 2, opset.LIST_INSERT: 2}
SPLICED = {opset.LIST_SPLICE: 2, opset.LIST_ADDSLICE: 4}

# A root is a kind and a value or another root:
#   ("new", v)       the buffer that the operation that makes v allocates
#   ("slot", p)      the buffer of a loop's carried parameter p, which the iterations store into
#   ("items", v)     the items of the list v
#   ("before", r)    a buffer r that an earlier iteration allocated
#   (EXTERNAL, v)    memory that is not the function's own, or not known to be; None for v: that of a constant array
Root = Any
Roots = frozenset[Root]
EXTERNAL = "external"
NONE: Roots = frozenset()
CONSTANT: Roots = frozenset([(EXTERNAL, None)])

Step = tuple[Op, bool]  # the parameters of a loop (True), or the results of an operation


class Sharing:
    """The least solution of the equations between the roots of values.

    mutated: the carried parameters of loops whose buffer the loop's own iterations store into
    roots:   the buffers that a value may share
    inner:   the buffers that the items of a value may share
    made:    the operation that allocates a root; for a slot, its loop
    sharing: the values that have a root
    holding: the lists that have a root inside
    family:  the roots that may become one another from iteration to iteration
    """

    def __init__(self, order: Order):
        self.order = order
        self.mutated = self._mutated_slots()
        self.roots: dict[Value, Roots] = {}
        self.inner: dict[Value, Roots] = {}
        self.made: dict[Root, Op] = {}
        self.sharing: dict[Root, set[Value]] = {}
        self.holding: dict[Root, set[Value]] = {}
        self._views: dict[Op, bool] = {}
        body = order.body
        params = [p for op in body.ops if op.prim is FUNC for p in op.regions[0].params]
        for param in [*body.params, *params]:
            self.roots[param] = self.inner[param] = frozenset([(EXTERNAL, param)]) if may_share(param) else NONE
        steps: list[Step] = []
        for op in order.ops:
            if op.prim is LOOP:
                steps.append((op, True))
            if op.results:
                steps.append((op, False))
        steps.sort(key=self._when)  # the results of an operation with regions come after what is in them
        self._solve(steps)
        for v in self.roots:
            self._enter_index(v)
        self.family = self._families()

    # --- questions ------------------------------------------------------------------------------------------------

    def of(self, arg: Any) -> Roots:
        """The roots of the values in an argument. A constant array is one for all calls."""
        if type(arg) is Value:
            return self.roots.get(arg, NONE)
        if isinstance(arg, np.ndarray):
            return CONSTANT
        if type(arg) in (tuple, list):
            return NONE.union(*map(self.of, arg))
        return NONE.union(*[self.roots.get(v, NONE) for v in leaves(arg)])

    def inside_of(self, arg: Any) -> Roots:
        """The roots of the items of the values in an argument."""
        if type(arg) is Value:
            return self.inner.get(arg, NONE)
        return NONE.union(*[self.inner.get(v, NONE) for v in leaves(arg)])

    def in_order(self, root: Root) -> list[Value]:
        """The values that have a root, in the order of their definitions."""
        return sorted(self.sharing.get(root, ()), key=self._place)

    def _place(self, v: Value) -> tuple[int, int, int]:
        if v.op is not None:
            return self.order.end[v.op], 0, v.op.results.index(v)
        region = v.region
        assert region is not None
        inside_loop = region.op is not None and region.op.prim is LOOP
        at = self.order.position[region]
        return at if inside_loop else -1, at, region.params.index(v)

    def relatives(self, root: Root) -> Iterable[Root]:
        return self.family.get(root, (root,))

    def made_inside(self, root: Root, loop: Op) -> bool:
        """Each iteration of the loop allocates the buffer anew."""
        maker = self.made.get(root)
        if maker is None or maker is loop:
            return False
        return self.order.contains(loop.regions[0], maker)

    # --- changes --------------------------------------------------------------------------------------------------

    def update(self, steps: Iterable[Step]) -> dict[Value, tuple[Roots, Roots]]:
        """Solve anew for the values of these steps and all that depends on them, after their operands have changed.

        Returns the values whose roots are different, with what they were.
        """
        before = self.mutated
        self.mutated = self._mutated_slots()
        todo = [*steps]
        for param in before ^ self.mutated:
            loop = param.region.op  # type: ignore[union-attr]
            todo += [(loop, True), (loop, False)]  # type: ignore[list-item]
        affected: dict[Step, None] = {}
        while todo:
            step = todo.pop()
            if step not in affected:
                affected[step] = None
                for v in _values(step):
                    todo += self._dependents(v)
        old: dict[Value, tuple[Roots, Roots]] = {}
        for step in affected:
            for v in _values(step):
                old[v] = (self.roots.pop(v, NONE), self.inner.pop(v, NONE))
        self._solve(sorted(affected, key=self._when))
        changed = {}
        for v, (roots, inner) in old.items():
            if self.roots.get(v, NONE) != roots or self.inner.get(v, NONE) != inner:
                changed[v] = roots, inner
                for root in roots:
                    self.sharing[root].discard(v)
                for root in inner if v.type.kind == "list" else ():
                    self.holding[root].discard(v)
                self._enter_index(v)
        self.family = self._families()
        return changed

    def forget(self, ops: Iterable[Op]) -> None:
        """Forget the results of operations that are no longer in the function."""
        for op in ops:
            for v in op.results:
                for root in self.roots.pop(v, NONE):
                    self.sharing[root].discard(v)
                inner = self.inner.pop(v, NONE)
                for root in inner if v.type.kind == "list" else ():
                    self.holding[root].discard(v)

    def _enter_index(self, v: Value) -> None:
        for root in self.roots.get(v, NONE):
            self.sharing.setdefault(root, set()).add(v)
        if v.type.kind == "list":
            for root in self.inner.get(v, NONE):
                self.holding.setdefault(root, set()).add(v)

    # --- the solution ---------------------------------------------------------------------------------------------

    def _when(self, step: Step) -> int:
        op, starts = step
        return self.order.position[op.regions[0]] if starts else self.order.end[op]

    def _solve(self, steps: list[Step]) -> None:
        """Solve the equations of these steps, which come in program order; all others are solved."""
        for op, starts in steps:
            self._flow_through(op, starts)
        # Roots flow backwards into a loop only. From there on, what depends on them is looked at again.
        waiting = {step for step in steps if step[1]}
        todo = [(self._when(step), k, step) for k, step in enumerate(waiting)]
        heapify(todo)
        count = len(todo)
        while todo:
            *_, step = heappop(todo)
            waiting.discard(step)
            for v in self._flow_through(*step):
                for other in self._dependents(v):
                    if other not in waiting:
                        waiting.add(other)
                        count += 1
                        heappush(todo, (self._when(other), count, other))

    def _dependents(self, v: Value) -> Iterator[Step]:
        """The steps whose equations name a value."""
        for user, _ in self.order.uses.get(v, ()):
            reader = user.op if isinstance(user, Region) else user
            if reader is None or not passes_on(reader):
                continue  # what others make is new whatever their operands are
            if reader.prim is LOOP:
                yield reader, True
            if reader.results:
                yield reader, False

    def _flow_through(self, op: Op, starts: bool) -> list[Value]:
        """Solve the equations of one step; the values whose roots grew."""
        if starts:
            return [p for k, p in enumerate(op.regions[0].params[1:]) if self._enter(p, *self._of_param(op, k, p))]
        return [v for k, v in enumerate(op.results) if self._enter(v, *self._of_result(op, k, v))]

    def _enter(self, v: Value, roots: Roots, inner: Roots) -> bool:
        if not may_share(v):
            roots = inner = NONE
        if v.type.kind == "list" and v.type.elem is not None and v.type.elem.is_scalar:
            inner = NONE  # numbers share nothing
        old, old_inner = self.roots.get(v), self.inner.get(v)
        roots = roots | (old or NONE)
        inner = inner | (old_inner or NONE)
        if roots != old or inner != old_inner:
            self.roots[v], self.inner[v] = roots, inner
            return True
        return False

    def _of_param(self, op: Op, k: int, param: Value) -> tuple[Roots, Roots]:
        init, out = op.args[1][k], op.regions[0].exit[k + 1]
        inner = self.inside_of(init) | self.inside_of(out)
        if param in self.mutated:
            self.made[("slot", param)] = op
            return frozenset([("slot", param)]), inner
        carried = frozenset([("before", r) if self.made_inside(r, op) else r for r in self.of(out)])
        return self.of(init) | carried, inner

    def _of_result(self, op: Op, k: int, v: Value) -> tuple[Roots, Roots]:
        own: Root = ("new", v)
        prim = op.prim
        if prim is CALL:
            # It may be (a part of) an argument, or of a value that the function reads from outside.
            args = [*op.args[1:], *self.order.outer[called(op)]]
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
                return NONE, NONE
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
            if self._is_view(op):
                return self.of(op.args[0]), NONE
            self.made[own] = op
            return frozenset([own]), NONE
        if prim is LIST_GET:
            return self.inside_of(op.args[0]), self.inside_of(op.args[0])
        if prim is POP:
            popped = frozenset([(EXTERNAL, op.args[0])])
            return popped, popped
        if prim is SPREAD:
            return self.of(op.args[0]) | frozenset([(EXTERNAL, v)]), NONE
        if prim is opset.LIST_NEW:
            self.made[own] = op
            return frozenset([own]), self.of(op.args) | self.inside_of(op.args)
        if (prim is COPY and v.type.kind == "list") or prim is opset.LIST_SLICE:
            self.made[own] = op
            return frozenset([own]), self.inside_of(op.args[0])
        if prim.alias == "view":
            self.made[own] = op
            base = self.of(op.args[0]) or frozenset([own])
            if "read_only" in prim.traits:  # nobody may store into it, whoever owns the memory
                base = base | frozenset([(EXTERNAL, v)])
            return base, self.inside_of(op.args[0])
        if "of_first" in prim.traits and v.type.kind == "array":
            self.made[own] = op
            return self.of(op.args[0]) | frozenset([own]), NONE
        new = ("of_vectors" in prim.traits and type_of(op.args[0]).ndim == 1) or (
            "of_several" in prim.traits and sum(1 for x in op.args if type(x) is Value) > 1
        )
        if (prim.alias == "maybe" and not new) or prim.effects:
            shared = self.of(op.args) | self.of(op.kwargs) | self.inside_of(op.args) | frozenset([(EXTERNAL, v)])
            return shared, shared
        self.made[own] = op
        if v.type.kind == "list":
            items = ("items", v)
            self.made[items] = op
            return frozenset([own]), frozenset([items])
        return frozenset([own]), NONE

    def _is_view(self, op: Op) -> bool:
        """The part that is read may share memory with the array."""
        known = self._views.get(op)
        if known is None:
            assert op.parent is not None
            known = self._views[op] = path_is_view(Builder(op.parent), op.args[0], op.args[1]) is not False
        return known

    # --- slots and families ---------------------------------------------------------------------------------------

    def _mutated_slots(self) -> set[Value]:
        mutated: set[Value] = set()
        seen: set[Value] = set()
        before = -1
        while before != len(mutated):
            before = len(mutated)
            for op in self.order.writers:
                if op.prim in STORES:
                    _mark(op.args[0], mutated, seen)
                elif op.prim is LOOP:
                    body = op.regions[0]
                    for k, init in enumerate(op.args[1]):
                        if body.params[k + 1] in mutated:
                            _mark(init, mutated, seen)
                            # What is handed over to the slot becomes its buffer: swapped slots are stored into in turn.
                            _mark(body.exit[k + 1], mutated, seen)
        return mutated

    def _families(self) -> dict[Root, frozenset[Root]]:
        """Buffers that may take each other's place from iteration to iteration.

        They are the buffer of a slot, those that enter the loop for it, and those that an iteration yields for it.
        """
        parent: dict[Root, Root] = {}

        def find(r: Root) -> Root:
            while parent.get(r, r) != r:
                r = parent[r]
            return r

        for op in self.order.writers:
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


def _mark(v: Any, mutated: set[Value], seen: set[Value]) -> None:
    """Note the slot whose buffer `v` is, if it is one. `seen`: the values whose slot is known."""
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
                _mark(region.exit[k], mutated, seen)
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
            _mark(op.regions[0].exit[k + 1], mutated, seen)
            # What is stored into after the loop is the loop's own buffer if the loop owns one.
            v = op.args[1][k]
        else:
            return


def _values(step: Step) -> list[Value]:
    op, starts = step
    return op.regions[0].params[1:] if starts else op.results


def passes_on(op: Op) -> bool:
    """The roots of the results depend on the roots of the operands."""
    return (
        bool(op.regions) or op.prim.alias != "fresh" or op.prim.effects or op.prim in STORES
        or op.prim in (GET, LIST_GET, POP, SPREAD, COPY, opset.LIST_NEW, opset.LIST_SLICE)
    )  # fmt: skip


__all__ = ["EXTERNAL", "SPLICED", "STORED", "Root", "Roots", "Sharing", "passes_on"]
