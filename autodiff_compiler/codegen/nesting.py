"""Nesting: which expressions are printed inside of the expressions that use them.

Takes the operations of a function. Gives those that are nested, each with its user. An expression is nested if it is
used once, and nothing that runs between changes what it reads.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, y):
...     y[0] = np.sin(x[0]) * np.cos(x[1])
...     return y[0] * x[2]
>>> show_source(f, np.ones(3), np.ones(3))
def f_grad(x, y):
    x_0 = x[0]
    sin_x_0 = np.sin(x_0)
    x_1 = x[1]
    cos_x_1 = np.cos(x_1)
    y2 = y.copy()
    y2[0] = sin_x_0 * cos_x_1
    x_bar = np.zeros_like(x)
    # adjoint of line 3: return y[0] * x[2]
    x_bar[2] = y2[0]
    y_bar = np.zeros_like(y)
    y_bar[0] = x[2]
    # adjoint of line 2: y[0] = np.sin(x[0]) * np.cos(x[1])
    y_bar_0 = y_bar[0]
    x_bar[1] -= y_bar_0 * sin_x_0 * np.sin(x_1)
    x_bar[0] += y_bar_0 * cos_x_1 * np.cos(x_0)
    return x_bar
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container
from typing import Any

import numpy as np

from ..ir import opset
from ..ir.core import (
    CALL,
    DERIVED,
    FUNC,
    IF,
    LOOP,
    TRY,
    Builder,
    Op,
    Region,
    Value,
    leaves,
    structural_key,
    type_of,
)
from ..ir.opset import ADDAT, GET, POP, PUSH, SET, STACK_NEW, STORES
from ..ir.rewrite import content_operands, enclosing
from ..ir.telling import Telling
from ..ir.types import same_dtype
from ..operations.choices import PRODUCT, QUOTIENT, RATIO

MAX_DEPTH = 5


class Nesting:
    """Decides for each operation whether its expression stands where its value is used."""

    def __init__(self, body: Region, analysis: Any, split: int | None):
        self.body = body
        self.analysis = analysis
        self.split = split
        self.inlined: dict[Op, Op | Region] = {}
        self.weight: dict[Op, int] = {}
        self.reads: dict[Op, frozenset[Any]] = {}
        self.users: dict[Value, list[Op | Region]] = {}
        self.hazards: dict[Op, Any] = {}
        self.raising = {op for op in body.walk() if _may_raise(op)}
        self._count(body)
        self.use_count = {v: len(users) for v, users in self.users.items()}
        # A function that calls itself stores only into what it has made, but it may print.
        self.effects = any(
            op.prim.effects and op.prim not in (PUSH, POP)
            for func in body.ops if func.prim is FUNC for op in func.regions[0].walk()
        )  # fmt: skip
        self._choose_inlined(body)

    def _count(self, region: Region) -> None:
        for op in region.ops:
            for v in op.operands():
                self.users.setdefault(v, []).append(op)
            for inner in op.regions:
                self._count(inner)
        for v in leaves(region.exit):
            self.users.setdefault(v, []).append(region)

    def _choose_inlined(self, region: Region) -> None:
        place = {op: k for k, op in enumerate(region.ops)}
        hazards: dict[Any, list[int]] = {}  # by root, or True: where it must not be read any more, in order
        for k, op in enumerate(region.ops):
            found = self._hazard(op)
            for root in (True,) if found is True else found or ():
                hazards.setdefault(root, []).append(k)
        places = sorted({k for at in hazards.values() for k in at})
        derived = [k for k, op in enumerate(region.ops) if _is_derived(op)]
        for k, op in enumerate(region.ops):
            for inner in op.regions:
                self._choose_inlined(inner)
            if not self._may_nest(op):
                continue
            v = op.results[0]
            (user,) = self.users[v]
            if self.split is not None and op.tag != DERIVED and self._in_pullback(v, user):
                continue  # computed once, in the forward sweep
            if isinstance(user, Region):
                if user is not self.body and (user.op is None or user.op.prim is not FUNC):
                    continue
                last = len(region.ops)
            else:
                if user.parent is not region or not self._accepts(user, v):
                    continue
                last = place[user]
            within = [x.op for x in op.operands() if x.op in self.inlined]
            if not self.raising.isdisjoint((op, *within)):
                self.raising.add(op)
                if (isinstance(user, Region) or not _is_derived(user)) and _is_between(derived, k, last):
                    continue  # the function's own exception comes first
            weight = (op.prim is not opset.NEG) + sum([self.weight[x] for x in within])
            if op.prim.fn is np.array and type(op.args[0]) is list:
                weight += len(op.args[0]) - 2
            if isinstance(user, Op) and user.args and v is user.args[-1] and is_augmented(user, self.inlined):
                weight -= 1 + self.weight.get(op.args[0].op, 0)  # printed as ``a[i] -= ...``
            if weight > MAX_DEPTH:
                continue
            if isinstance(user, Op) and user in self.weight and self.weight[user] + weight > MAX_DEPTH:
                continue
            if _is_between(places, k, last):
                roots = hazards.keys() & {True, *self._reads(op)}
                if any(_is_between(hazards[root], k, last) for root in roots):
                    continue
            self.inlined[op] = user
            self.weight[op] = weight
            if isinstance(user, Op):
                self.weight[user] = self.weight.get(user, 0) + weight
        self._keep_order(region, place)

    def _keep_order(self, region: Region, place: dict[Op, int]) -> None:
        """What may raise an exception stays in front of a statement that may raise another one.

        Which of two comes first does not matter where both are about lengths and places, and nobody catches them.
        """
        caught = any(r.op is not None and r.op.prim is TRY for r in enclosing(region))
        raising = [
            op for op in region.ops
            if op in self.raising and not _is_derived(op) and (caught or _is_numerical(op))
        ]  # fmt: skip
        settled = False
        while not settled:
            settled = True
            statements = [place[op] for op in raising if op not in self.inlined]
            for op in raising:
                at: Op | Region = op
                while isinstance(at, Op) and at in self.inlined:
                    at = self.inlined[at]
                if at is not op and _is_between(statements, place[op], place.get(at, len(region.ops))):  # type: ignore[arg-type]
                    del self.inlined[op]
                    settled = False

    def _reads(self, op: Op) -> frozenset[Any]:
        """The buffers that the expression reads."""
        found = self.reads.get(op)
        if found is None:
            found = frozenset().union(
                *[self.analysis.of(x) | self.analysis.inside_of(x) for x in content_operands(op)],
                *[self._reads(x.op) for x in op.operands() if x.op in self.inlined],
            )
            self.reads[op] = found
        return found

    def _in_pullback(self, v: Value, user: Op | Region) -> bool:
        """A use by the backward sweep that becomes a function of its own."""
        if isinstance(user, Op):
            while user.parent is not self.body:
                user = user.parent.op  # type: ignore[union-attr, assignment]
            return bool(user.tag == DERIVED)
        return user is self.body and any(v is x for x in leaves(self.body.exit[self.split :]))

    def _may_nest(self, op: Op) -> bool:
        if len(op.results) != 1 or self.use_count.get(op.results[0], 0) != 1:
            return False
        if op.regions or op.prim.effects or op.prim.nout != 1:
            return False
        if op.prim in STORES or op.prim in (CALL, STACK_NEW, opset.LIST_NEW):
            return False
        v = op.results[0]
        derived = _is_derived(op)
        # What the user named stays a statement, unless it is small: then nesting it lets go of its memory.
        return derived or not v.hint or type(v.hint) is Telling or not any(x.op in self.inlined for x in op.operands())

    def _accepts(self, user: Op, v: Value) -> bool:
        """The operation can be printed with an expression in the place of this operand."""
        if user.prim is LOOP:
            return user.range is not None and any(v is x for x in leaves(user.range))
        if user.prim in (opset.DIVIDED, opset.RAISED, opset.NUMPYS):
            return False  # they print operands twice
        if user.prim in (opset.LIST_SPLICE, opset.LIST_ADDSLICE):
            return v is user.args[-1]  # the bounds are printed twice
        if user.prim in STORES:
            return v is not user.args[0]
        if user.prim is GET and v is user.args[0]:
            return v.op is not None and v.op.prim is not ADDAT
        if user.results and user.results[0].type.is_scalar:  # these print operands twice
            return user.prim not in (QUOTIENT, RATIO) and (user.prim is not PRODUCT or v is not user.args[0])
        return True

    def _hazard(self, op: Op) -> Any:
        """What an operation forbids to be read after it that was to be read before: roots, or True for everything."""
        if op.prim in STORES:
            return self.analysis.of(op.args[0]) or None
        if op.prim in (PUSH, POP):
            return None
        if op.prim.effects:
            return True
        if op.prim is FUNC:
            return None
        if op.prim is CALL:
            return self.effects or None
        if op.regions and op not in self.hazards:
            self.hazards[op] = self._hazard_within(op)
        return self.hazards.get(op)

    def _hazard_within(self, op: Op) -> Any:
        found: frozenset[Any] = frozenset()
        for region in op.regions:
            for inner in region.ops:
                h = self._hazard(inner)
                if h is True:
                    return True
                found |= h or frozenset()
        if op.prim is LOOP:
            for k, init in enumerate(op.inits):
                if op.regions[0].params[k + 1] in self.analysis.mutated:
                    found |= self.analysis.of(init)
        return found or None


def is_augmented(store: Op, inlined: Container[Op]) -> bool:
    """The store puts a sum, difference, product or quotient of what is in the place, and of another value, there."""
    if store.prim is not SET:
        return False
    base, path, v = store.args
    inner = v.op if type(v) is Value else None
    if inner is None or inner.prim.name not in ("+", "-", "*", "/") or len(inner.args) != 2:
        return False
    if base.type.kind != "array" or not same_dtype(inner.result.type.dtype, base.type.dtype):
        return False
    read = inner.args[0]
    axes, more = type_of(read).ndim, inner.result.type.ndim
    if axes is not None and more is not None and axes < more:
        return False  # a store drops axes of length one in front, an addition in place does not
    if read is base:
        return opset.is_whole(path) and opset.is_plain_path(path)
    return (
        opset.is_plain_path(path) and type(read) is Value and read.op is not None and read.op in inlined
        and read.op.prim is GET and read.op.args[0] is base and structural_key(read.op.args[1]) == structural_key(path)
    )  # fmt: skip


def _is_derived(op: Op) -> bool:
    """No user wrote the operation."""
    return op.tag == DERIVED or op.droppable


def _may_raise(op: Op) -> bool:
    """The user's operation may raise an exception."""
    if _is_derived(op) or op.parent is None:
        return False
    return op.prim.total is None or not op.prim.total(Builder(op.parent), op.args, op.kwargs)


def _is_numerical(op: Op) -> bool:
    """What raises for the values of Python's numbers."""
    return op.prim.name.startswith("math.") or op.prim.name in ("/", "//", "%", "**")


def _is_between(places: list[int], first: int, last: int) -> bool:
    """One of these places, which are in order, lies between the two."""
    k = bisect_right(places, first)
    return k < len(places) and places[k] < last


def where_completed(user: Op | Region, v: Value) -> bool:
    """The user runs only if the ``try`` that makes `v` was completed."""
    if v.op is None or v.op.prim is not TRY:
        return False
    owners = [(r, r.op) for r in enclosing(user if isinstance(user, Region) else user.parent) if r.op is not None]
    return any(op.prim is IF and op.condition is v.op.completed and op.regions[0] is r for r, op in owners)
