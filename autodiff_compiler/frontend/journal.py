"""What is known when the body of a ``try`` was left by an exception: the state at each place where that may happen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..ir.core import TRY, Builder, Op, Region, Value
from ..records import mutable_record
from .avals import MISSING, Conflict, Interrupted, same, values_in
from .handlers import Val
from .state import State

MESSAGE = "may or may not have been changed by the body of the `try` before the exception was raised"
AFTER_TRY = Interrupted.remedy


def may_raise(op: Op, floating: bool = False) -> bool:
    """The operation, or one in its regions, may raise; with `floating`, floating point errors count."""
    if op.tag == "derived" or op.droppable:
        return False
    if op.prim is TRY and catches_all(op):
        return False
    if op.regions:
        return any(may_raise(inner, floating) for region in op.regions for inner in region.ops)
    if op.prim.effects or op.checks or (floating and computes_floats(op)):
        return True
    assert op.parent is not None
    return op.prim.total is None or not op.prim.total(Builder(op.parent), op.args, op.kwargs)


def catches_all(op: Op) -> bool:
    """No exception passes by this ``try``."""
    return BaseException in op.args[0]


def computes_floats(op: Op) -> bool:
    """NumPy may raise a FloatingPointError, if it is told to."""
    if op.tag == "derived" or op.prim.alias != "fresh" or not (op.prim.elementwise or not op.prim.unique):
        return False
    return any(r.type.may_be_float and r.type.kind in ("any", "array", "generic", "scalar") for r in op.results)


@dataclass(frozen=True, slots=True)
class Unwound:
    """Why something is not known: an exception ended a statement; lowered exactly, the state is known at each raise."""

    node: Any


@mutable_record
class Journal:
    """The state at each operation of a body that may raise, and the cells that may have been changed in part there."""

    start: State
    node: Any  # the user's statement that the body is of
    floating: bool  # floating point errors are caught
    points: list[tuple[Op, State]] = field(default_factory=list)
    half: set[int] = field(default_factory=set)
    listed: dict[int, Any] = field(default_factory=dict)  # the cells of lists that became columns, and what they held

    def forget(self, op: Op) -> None:
        self.points[:] = [point for point in self.points if point[0] is not op]

    def interrupted(self, region: Region | None, initial: dict[int, Any]) -> tuple[State, int]:
        """What is known when one of the operations has raised, and how many operations at the start of the region
        have to be done before it for that: those cannot raise. `initial`: what cells held that are not in a state."""
        # A loop's body is lowered again and again: what was lowered in vain is in no region.
        points = [state for op, state in self.points if region is None or lies_in(op.parent, region)]
        if not points:
            return self.start.fork(), 0
        first, *others = points
        out = first.fork()
        reach = Reach(region, self.floating)
        origin = Unwound(self.node) if self.node is not None else None
        for env in {env for state in (first, *others) for env in state.envs}:
            before, *after = [state.envs.get(env, {}) for state in (first, *others)]
            names = out.envs.setdefault(env, {})
            for name in dict.fromkeys([*before, *[n for now in after for n in now]]):
                av = before.get(name, MISSING)
                if not all(_same(now.get(name, MISSING), av) for now in after) or not reach.has(av):
                    names[name] = Conflict(MESSAGE, origin, AFTER_TRY)
        for cell in {cell for state in (first, *others) for cell in state.heap}:
            held = [state.heap.get(cell, initial.get(cell, MISSING)) for state in (first, *others)]
            known = [content for content in held if content is not MISSING]
            if cell in self.half or any(content is not known[0] for content in known) or not reach.has(known[0]):
                out.heap[cell] = Interrupted(None, MESSAGE, origin)
            else:
                out.heap[cell] = known[0]
        return out, reach.needed


def _same(a: Val, b: Val) -> bool:
    return a is b or (a is not MISSING and b is not MISSING and same(a, b))


class Reach:
    """Which values are there behind a region that was left early: those from outside, and of what it does before
    anything in it may raise."""

    def __init__(self, region: Region | None, floating: bool):
        self.region = region
        self.needed = 0  # how many of the first operations
        self.first: dict[Op, int] = {}
        for k, op in enumerate(region.ops if region is not None else ()):
            if may_raise(op, floating):
                break
            self.first[op] = k

    def has(self, av: Val) -> bool:
        values = list(values_in(av))
        at = [self.first.get(v.op, -1) if v.op is not None else -1 for v in values]
        if any(k < 0 and self.within(v) for v, k in zip(values, at)):
            return False
        self.needed = max([self.needed, *[k + 1 for k in at]])
        return True

    def within(self, v: Value) -> bool:
        return self.region is not None and lies_in(v.op.parent if v.op is not None else v.region, self.region)


def lies_in(inner: Region | None, outer: Region) -> bool:
    """A region is another one, or somewhere in it."""
    while inner is not None and inner is not outer:
        inner = inner.op.parent if inner.op is not None else None
    return inner is outer
