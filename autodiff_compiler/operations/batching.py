"""What batching rules use. A rule builds an operation again on stacks of its operands.

A rule is ``rule(batcher, op)``. The batcher knows which values are stacks: these have one more axis in front.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import Builder, Function, Op, Prim, Region, Value, leaves, map_leaves, type_of
from ..ir.opset import DIM, GET, PRIMS, SHAPE_OF, ZEROS
from ..ir.types import Dim, Ty

Rule = Callable[["Batcher", Op], Any]


class NotBatchedError(Exception):
    """There is no rule for an operation, or its operands' shapes are not known well enough."""


class Batcher:
    def __init__(self, fn: Function, stacked: set[int], spread: bool = True):
        """spread: each result is a stack, also one that does not depend on a stack."""
        body = Region(_copied(fn.body.dims))
        self.b = Builder(body)
        self.axis = body.dims.fresh()  # the length of the stacks
        self.env: dict[Value, Any] = {}
        self.stacks: set[Value] = set()  # values of the new function that have the axis
        self.shapes: dict[Value, Value] = {}  # of the old function: what a shape is the shape of
        for k, p in enumerate(fn.body.params):
            t = p.type
            if k in stacked:
                t = self.stack_type(t)
            self.env[p] = made = body.param(t, p.hint)
            if k in stacked:
                self.stacks.add(made)
                self.some = made
        for op in fn.body.ops:
            self.add(op)
        exits = []
        for x in fn.body.exit:
            x = self.new(x)
            exits.append(self.spread(x) if spread else x)
        body.exit = tuple(exits)
        self.function = Function(fn.name, body, dict(fn.meta))

    # --- values ---------------------------------------------------------------------------------------------------

    def new(self, arg: Any) -> Any:
        return map_leaves(lambda v: self.env[v], arg)

    def is_stack(self, x: Any) -> bool:
        return type(x) is Value and x in self.stacks

    def has_stack(self, arg: Any) -> bool:
        return any(v in self.stacks for v in leaves(arg))

    def stack_type(self, t: Ty) -> Ty:
        """The type of a stack of values of a type."""
        if t.dims is None or t.kind not in ("array", "generic", "scalar", "py"):
            raise NotBatchedError(f"a value of type {t}")
        return Ty("array", t.dtype, (self.axis, *t.dims))

    def rank(self, x: Any) -> int:
        """How many axes a value has, without the one in front of stacks."""
        t = type_of(x)
        if t.dims is None:
            raise NotBatchedError(f"a value of type {t}")
        return len(t.dims) - self.is_stack(x)

    def emit(self, prim: Prim, *args: Any, **kwargs: Any) -> Any:
        return self.b.emit(prim, *args, **kwargs)

    def stack(self, prim: Prim, *args: Any, **kwargs: Any) -> Any:
        """An operation whose result is a stack."""
        out = self.emit(prim, *args, **kwargs)
        self.stacks.add(out)
        return out

    def index(self, x: Any, *items: Any) -> Any:
        return self.stack(GET, x, (("index", items),))

    def aligned(self, x: Any, rank: int) -> Any:
        """A stack with axes of length 1 after the first one, so that it broadcasts as its elements would to `rank`
        axes; anything else as it is."""
        if not self.is_stack(x):
            return x
        missing = rank - self.rank(x)
        return x if missing <= 0 else self.index(x, slice(None), *[None] * missing, Ellipsis)

    def length(self, x: Any, axis: int) -> Any:
        """The length of an axis of a value, not counting the first axis of stacks."""
        axis += self.is_stack(x)
        known = type_of(x).dims[axis]  # type: ignore[index]
        return self.emit(DIM, x, axis) if isinstance(known, Dim) else known

    def lengths(self, x: Any) -> tuple[Any, ...]:
        return tuple([self.length(x, k) for k in range(self.rank(x))])

    def size(self) -> Any:
        """The length of the stacks."""
        return self.emit(DIM, self.some, 0)

    def spread(self, x: Any) -> Any:
        """A stack of one value over and over."""
        if self.is_stack(x):
            return x
        if type_of(x).kind not in ("array", "generic"):
            raise NotBatchedError(f"a constant {x}")
        return self.stack(PRIMS[np.broadcast_to], x, (self.size(), *self.lengths(x)))

    # --- operations -----------------------------------------------------------------------------------------------

    def add(self, op: Op) -> None:
        if op.prim is SHAPE_OF and type(op.args[0]) is Value:
            self.shapes[op.result] = op.args[0]
        if op.regions or op.prim.effects:
            raise NotBatchedError(op.prim.name)
        if not self.has_stack([self.new(v) for v in op.operands()]):
            out = self.emit(op.prim, *self.new(op.args), **self.new(op.kwargs))
            for old, made in zip(op.results, (out,) if op.prim.nout == 1 else out):
                made.type = old.type
                self.env[old] = made
            return
        found = op.prim.batch
        if found is None and op.prim.elementwise and op.prim.nout == 1:
            found = broadcast_stacks
        if found is None or op.prim.nout != 1:
            raise NotBatchedError(op.prim.name)
        made = found(self, op)
        if self.is_stack(made):
            made.type = self.stack_type(op.result.type)
        self.env[op.result] = made

    def bound(self, op: Op) -> dict[str, Any]:
        """The arguments by the names of the parameters."""
        names = op.prim.params
        if len(op.args) > len(names) or any(n.startswith("*") for n in names):
            raise NotBatchedError(op.prim.name)
        out = dict(zip(names, self.new(op.args)))
        out.update(self.new(op.kwargs))
        return out


def _copied(dims: Any) -> Any:
    return type(dims)(
        None, dict(dims.equal), set(dims.not_one_facts), list(dims.counter), dict(dims.memo), set(dims.arg_roots),
        list(dims.constraints), dict(dims.lengths), list(dims.assumed), list(dims.smaller),
    )  # fmt: skip


def batch(*prims: Any) -> Callable[[Rule], Rule]:
    """Declare how these operations are applied to stacks."""

    def register(made: Rule) -> Rule:
        for p in prims:
            (p if isinstance(p, Prim) else PRIMS[p]).batch = made
        return made

    return register


def no_rule(op: Op) -> NotBatchedError:
    return NotBatchedError(op.prim.name)


def stack_axes(axis: Any, rank: int, op: Op) -> Any:
    """Axes of the elements as axes of a stack of them."""
    if type(axis) is int:
        return axis + 1 if axis >= 0 else axis
    if isinstance(axis, (tuple, list)) and all(type(k) is int for k in axis):
        return tuple([k + 1 if k >= 0 else k for k in axis])
    if axis is None:
        return tuple(range(1, rank + 1))
    raise no_rule(op)


def along(**defaults: Any) -> Rule:
    """The rule of operations on their first operand along axes, which the stack moves by one.

    The keywords are the parameters that name axes, with what they are by default.
    """

    def rule(self: Batcher, op: Op) -> Any:
        x, *rest = self.new(op.args)
        keywords = self.new(op.kwargs)
        if self.has_stack((rest, *keywords.values())):
            raise no_rule(op)
        for name, default in defaults.items():
            place = op.prim.params.index(name) - 1
            if place < len(rest):
                rest[place] = stack_axes(rest[place], self.rank(x), op)
            else:
                keywords[name] = stack_axes(keywords.get(name, default), self.rank(x), op)
        return self.stack(op.prim, x, *rest, **keywords)

    return rule


def broadcast_stacks(self: Batcher, op: Op) -> Any:
    """The rule of elementwise operations."""
    if op.kwargs:
        raise no_rule(op)
    args = self.new(op.args)
    rank = max(self.rank(x) for x in args)
    return self.stack(op.prim, *[self.aligned(x, rank) for x in args])


def of_one_operand(self: Batcher, op: Op) -> Any:
    """The rule of operations on the elements of their first operand."""
    if self.has_stack(self.new(op.args[1:])):
        raise no_rule(op)
    if op.prim is ZEROS and op.args[0].type.is_scalar:
        return self.stack(PRIMS[np.zeros_like], self.new(op.args[0]))
    return self.stack(op.prim, *self.new(op.args), **self.new(op.kwargs))
