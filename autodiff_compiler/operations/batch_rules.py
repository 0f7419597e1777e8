"""Rules for stacks: how an operation is built again on stacks of its operands.

A rule is ``rule(batcher, op)``, see `batching`, which only the transform imports that applies them. A rule that cannot
do its work raises `NotBatchedError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.core import Op, Prim, type_of
from ..ir.opset import PRIMS, ZEROS

if TYPE_CHECKING:
    from .batching import Batcher

Rule = Callable[["Batcher", Op], Any]


class NotBatchedError(Exception):
    """There is no stack of such values, or control flow depends on one.

    op: the operation at fault, if it is known
    """

    def __init__(self, what: str, op: Op | None = None):
        super().__init__(what)
        self.op = op


def batch(*prims: Any) -> Callable[[Rule], Rule]:
    """Declare how these operations are applied to stacks."""

    def register(made: Rule) -> Rule:
        for p in prims:
            (p if isinstance(p, Prim) else PRIMS[p]).batch = made
        return made

    return register


def no_rule(op: Op) -> NotBatchedError:
    return NotBatchedError(op.prim.name, op)


def stack_axes(axis: Any, rank: int, op: Op) -> Any:
    """Axes of the elements as axes of a stack of them."""
    if type(axis) is int:
        return axis + 1 if axis >= 0 else axis
    if isinstance(axis, (tuple, list)) and all(type(k) is int for k in axis):
        return tuple([k + 1 if k >= 0 else k for k in axis])
    if axis is None:
        return 1 if rank == 1 else tuple(range(1, rank + 1))
    raise no_rule(op)


def along(**defaults: Any) -> Rule:
    """The rule of operations on their first operand along axes, which the stack moves by one.

    The keywords are the parameters that name axes, with what they are by default.
    """

    def rule(self: Batcher, op: Op) -> Any:
        if not op.args:
            raise no_rule(op)
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
    args = list(self.new(op.args))
    args = self.strong(op.args, args, op.results[0].type)
    stacks = [x for x in args if self.is_stack(x)]
    if len(stacks) == 1 and all(type_of(x).dims == () for x in args if x is not stacks[0]):
        return self.stack(op.prim, *args)
    rank = max(self.rank(x) for x in args)
    return self.stack(op.prim, *[self.aligned(x, rank) for x in args])


def of_one_operand(self: Batcher, op: Op) -> Any:
    """The rule of operations on the elements of their first operand, or on its last axes."""
    if not op.args or self.has_stack((self.new(op.args[1:]), self.new(op.kwargs))):
        raise no_rule(op)
    if op.prim is ZEROS and op.args[0].type.is_scalar:
        return self.stack(PRIMS[np.zeros_like], self.new(op.args[0]))
    return self.stack(op.prim, *self.new(op.args), **self.new(op.kwargs))
