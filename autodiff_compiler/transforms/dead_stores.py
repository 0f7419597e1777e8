"""Stores into arrays that nobody reads any more: most are the zeros that a reversed store leaves behind.

Takes a function that nobody differentiates again. Where a loop stores at its own index, and what it reads afterwards,
in this iteration or a later one, are other places, the store may go. Gives the function without such stores: the part
that was read in front of the store need not be copied then, either.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x):
...     y = np.empty_like(x)
...     y[0] = x[0]
...     for i in range(1, len(x)):
...         y[i] = 0.5 * y[i - 1] + x[i]
...     return np.sum(y**2)
>>> show_source(f, np.ones((3, 2)))
def f_grad(x):
    y = np.empty_like(x)
    y[0] = x[0]
    n = x.shape[0]
    for i in range(1, n):
        y[i] = 0.5 * y[i - 1] + x[i]
    # adjoint of line 6: return np.sum(y**2)
    y_bar = 2.0 * y
    x_bar = np.empty_like(x)
    # adjoint of line 4: for i in range(1, len(x)):
    for i in reversed(range(1, n)):
        # adjoint of line 5: y[i] = 0.5 * y[i - 1] + x[i]
        y_bar[i - 1] += 0.5 * y_bar[i]
    x_bar[1:] = y_bar[1:]
    # adjoint of line 3: y[0] = x[0]
    x_bar[0] = y_bar[0]
    return x_bar
"""

from __future__ import annotations

import math
from typing import Any

from ..ir.core import DERIVED, IF, LOOP, Function, Op, Region, Value
from ..ir.opset import ADDAT, GET, SET
from ..ir.rewrite import collect_uses, region_of, replace_values
from ..records import record
from .filling import affine, counted, rows_behind
from .places import are_apart, block_of, item_along

Uses = dict[Value, list[Op | Region]]


@record
class Span:
    """The places along an axis that an iteration reads or stores to.

    low, high: the first and the last one, relative to the loop's variable
    block:     instead, the iteration has a block of its own: it is ``[j * block, (j + 1) * block)``
    """

    low: float = -math.inf
    high: float = math.inf
    block: Any = None

    def meets(self, other: Span) -> bool:
        """They may have a place in common in one iteration."""
        if self.block is not None:
            return True
        return self.low <= other.high and other.low <= self.high

    def comes_to(self, other: Span, down: bool) -> bool:
        """The places of a later iteration may be among those that `other` is now."""
        if self.block is not None:
            return False
        return self.high > other.low if down else self.low < other.high


def drop_dead_stores(fn: Function, before_change: Any = None) -> bool:
    """Leave out stores that nothing reads; `before_change` is called if there is one."""
    uses = collect_uses(fn.body)
    at = {op: k for k, op in enumerate(fn.body.walk())}
    dead: list[Op] = []
    for loop in [op for op in at if op.prim is LOOP]:
        for k in range(len(loop.inits)):
            if loop.regions[0].params[k + 1].type.kind == "array":
                dead += _dead_in(loop, k, uses, at)
    for op in reversed(at):
        if op not in dead and _is_read_beside(op, uses, dead):
            dead.append(op)
    if not dead:
        return False
    if before_change is not None:
        before_change()
    replace_values(fn.body, {op.result: op.args[0] for op in dead})
    for op in dead:
        assert op.parent is not None
        op.parent.ops.remove(op)
    return True


def _dead_in(loop: Op, k: int, uses: Uses, at: dict[Op, int]) -> list[Op]:
    """The stores into what a loop carries that nothing reads."""
    order = counted(loop)
    if order is None:
        return []
    lowest, down = order
    accesses = accesses_of(loop, k, uses)
    if accesses is None or not any(op.prim is SET and op.tag == DERIVED for op in accesses):
        return []
    for axis in range(loop.regions[0].params[k + 1].type.ndim or 0):
        spans = {op: _span(item_along(op.args[1], axis), loop, lowest) for op in accesses}
        if len({span and span.block for span in spans.values()}) != 1 or None in spans.values():
            continue
        for store in accesses:
            if store.prim is not SET or store.tag != DERIVED:  # a user's store may raise
                continue
            here = spans[store]
            assert here is not None
            reads = [(op, span) for op, span in spans.items() if op.prim is not SET and span is not None]
            ahead = any(span.comes_to(here, down) for _, span in reads)
            again = any(at[op] > at[store] and span.meets(here) for op, span in reads)
            if not ahead and not again and _unread_after(loop, k, axis, lowest + here.low, here.high, uses):
                return [store]
    return []


def _span(item: Any, loop: Op, first: int) -> Span | None:
    """The places that a subscript of an iteration names; None if they are not known. `first`: the least of the loop."""
    if type(item) is not slice:
        place = affine(item, loop)
        return None if place is None or first + place < 0 else Span(place, place)
    if item.step not in (None, 1):
        return None
    size = block_of(item, loop)
    if size is not None:
        return Span(block=size)
    low, high = -math.inf, math.inf
    for bound, is_stop in ((item.start, False), (item.stop, True)):
        place = affine(bound, loop)
        if place is None:
            if bound is not None and type(bound) is not int:
                return None
        elif first + place < 0:
            return None
        elif is_stop:
            high = place - 1
        else:
            low = place
    return Span(low, high)


def _is_read_beside(store: Op, uses: Uses, dead: list[Op]) -> bool:
    """All that reads the result of a store, also by way of dead stores, reads other places than it has stored to."""
    if store.prim not in (SET, ADDAT) or store.tag != DERIVED or type(store.args[0]) is not Value:
        return False
    readers = _readers(store.result, uses, dead)
    return bool(readers) and all(
        not isinstance(user, Region)
        and user.prim is GET
        and v not in user.operands()[1:]
        and are_apart(store.args[1], user.args[1], region_of(store.result).dims, store.result.type.dims)
        for v, user in readers
    )


def _readers(v: Value, uses: Uses, dead: list[Op]) -> list[tuple[Value, Op | Region]]:
    """What reads an array, and the version that it reads, if the dead stores were gone."""
    out: list[tuple[Value, Op | Region]] = []
    for user in uses.get(v, ()):
        if user in dead and isinstance(user, Op) and v not in user.operands()[1:]:
            out += _readers(user.result, uses, dead)
        else:
            out.append((v, user))
    return out


def accesses_of(loop: Op, k: int, uses: Uses) -> list[Op] | None:
    """All reads and stores of what the loop carries, if there is nothing else."""
    body = loop.regions[0]
    versions, todo, out = {body.params[k + 1]}, [body.params[k + 1]], []
    while todo:
        v = todo.pop()
        for user in uses.get(v, ()):
            new: list[Value] = []
            if isinstance(user, Region):
                if user is body:
                    if any(x is v for j, x in enumerate(body.exit) if j != k + 1):
                        return None
                elif user.op is not None and user.op.prim is IF:
                    new = [user.op.results[j] for j, x in enumerate(user.exit) if x is v]
                else:
                    return None
            elif user.prim in (GET, SET, ADDAT) and user.args[0] is v and v not in user.operands()[1:]:
                if not user.args[1] or user.args[1][0][0] != "index":
                    return None
                out.append(user)
                new = [] if user.prim is GET else [user.result]
            else:
                return None
            todo += [x for x in new if x not in versions]
            versions.update(new)
    for v in versions:
        if v.op is not None and v.op.prim is IF:
            j = v.op.results.index(v)
            if any(type(r.exit[j]) is not Value or r.exit[j] not in versions for r in v.op.regions):
                return None
    last = body.exit[k + 1]
    return out if type(last) is Value and last in versions else None


def _unread_after(loop: Op, k: int, axis: int, lowest: float, high: float, uses: Uses) -> bool:
    """Nothing reads, behind the loop, what it has stored: from `lowest` on, and up to its variable plus `high`."""
    dims = loop.results[k].type.dims
    behind = rows_behind(loop, dims[axis], int(high)) if dims is not None and math.isfinite(high) else None
    todo = [loop.results[k]]
    while todo:
        v = todo.pop()
        for user in uses.get(v, ()):
            if isinstance(user, Region) or user.prim not in (GET, SET, ADDAT) or user.args[0] is not v:
                return False
            item = item_along(user.args[1], axis) if user.args[1] and user.args[1][0][0] == "index" else None
            if type(item) is not int or not (0 <= item < lowest or -(behind or 0) <= item < 0):
                return False
            if user.prim is not GET:
                todo.append(user.result)
    return True


__all__ = ["accesses_of", "drop_dead_stores"]
