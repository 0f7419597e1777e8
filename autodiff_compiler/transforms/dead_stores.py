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
    x_bar = np.zeros_like(x)
    # adjoint of line 4: for i in range(1, len(x)):
    for i in reversed(range(1, n)):
        # adjoint of line 5: y[i] = 0.5 * y[i - 1] + x[i]
        t = y_bar[i]
        x_bar[i] += t
        y_bar[i - 1] += t * 0.5
    # adjoint of line 3: y[0] = x[0]
    x_bar[0] += y_bar[0]
    return x_bar
"""

from __future__ import annotations

from typing import Any

from ..ir.core import DERIVED, IF, LOOP, Function, Op, Region, Value
from ..ir.opset import ADDAT, GET, SET
from ..ir.rewrite import collect_uses, replace_values
from .filling import affine, is_subscript, subscript_of

Uses = dict[Value, list[Op | Region]]


def drop_dead_stores(fn: Function, before_change: Any = None) -> bool:
    """Leave out stores that nothing reads; `before_change` is called if there is one."""
    uses = collect_uses(fn.body)
    at = {op: k for k, op in enumerate(fn.body.walk())}
    dead: list[Op] = []
    for loop in [op for op in at if op.prim is LOOP]:
        for k in range(len(loop.inits)):
            if loop.regions[0].params[k + 1].type.kind == "array":
                dead += _dead_in(loop, k, uses, at)
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
    range_ = loop.range
    if range_ is None or type(range_[0]) is not int or range_[2] != 1:
        return []
    down = len(range_) == 4 and bool(range_[3])
    accesses = _accesses(loop, k, uses)
    if accesses is None:
        return []
    places: dict[Op, int] = {}  # relative to the loop's variable
    for op in accesses:
        place = affine(subscript_of(op.args[1], 0), loop)
        if place is None or range_[0] + place < 0:
            return []
        places[op] = place
    out = []
    for store in accesses:
        if store.prim is not SET or store.tag != DERIVED or not _whole_row(store):  # a user's store may raise
            continue
        here = places[store]
        others = [op for op in accesses if op is not store]
        ahead = [op for op in others if (places[op] > here if down else places[op] < here)]
        again = [op for op in others if places[op] == here and at[op] > at[store]]
        if not ahead and not again and _unread_after(loop, k, range_[0] + here, uses):
            out.append(store)
    return out[:1]


def _whole_row(store: Op) -> bool:
    """All that is at one index of the first axis."""
    path = store.args[1]
    return len(path) == 1 and len(path[0][1]) == 1


def _accesses(loop: Op, k: int, uses: Uses) -> list[Op] | None:
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
                if not user.args[1] or user.args[1][0][0] != "index" or not is_subscript(user.args[1][0][1][0]):
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


def _unread_after(loop: Op, k: int, lowest: int, uses: Uses) -> bool:
    """Nothing reads, behind the loop, what it has stored at the places from `lowest` on."""
    todo = [loop.results[k]]
    while todo:
        v = todo.pop()
        for user in uses.get(v, ()):
            if isinstance(user, Region) or user.prim not in (GET, SET, ADDAT) or user.args[0] is not v:
                return False
            item = subscript_of(user.args[1], 0)
            if type(item) is not int or not 0 <= item < lowest:
                return False
            if user.prim is not GET:
                todo.append(user.result)
    return True


__all__ = ["drop_dead_stores"]
