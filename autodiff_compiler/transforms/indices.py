"""Indices next to others: computed where they are used, as a program writes them, if that is in two or three places.

Takes a function whose stores are safe in place, in which each of these sums is computed once. Gives the function with
``x[i + 1 :] += y[i + 1 :]`` in the place of three statements, and with ``n + 1`` in the loop that alone reads it. In
machine code or a list, the sum would be computed again for nothing; a part of an array takes ten times as long.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x):
...     for i in range(len(x) - 1):
...         x[i + 1 :] *= np.sin(x[i + 1 :])
...     return np.sum(x)
>>> show_source(f, np.ones(3))
def f_grad(x):
    n = x.shape[0]
    saved = []
    x2 = x.copy()
    for i in range(n - 1):
        x_from_next = x2[i + 1 :]
        sin_x_from_next = np.sin(x_from_next)
        saved.append((x_from_next.copy(), sin_x_from_next))
        x_from_next *= sin_x_from_next
    x_bar = np.full_like(x, 1.0)
    # adjoint of line 2: for i in range(len(x) - 1):
    for i in reversed(range(n - 1)):
        x_from_next, sin_x_from_next = saved.pop()
        # adjoint of line 3: x[i + 1 :] *= np.sin(x[i + 1 :])
        x_bar_from_next = x_bar[i + 1 :]
        x_bar[i + 1 :] = x_bar_from_next * sin_x_from_next + x_bar_from_next * x_from_next * np.cos(
            x_from_next
        )
    return x_bar
"""

from __future__ import annotations

from typing import Any

from ..ir.core import LOOP, Function, Op, Region, Value, map_leaves
from ..ir.opset import ADD, ADDAT, GET, LIST_ITEM, POP, SET, SUB
from ..ir.rewrite import collect_uses

MOST = 3  # places


def repeat_indices(fn: Function) -> None:
    """Compute an index where it is used."""
    found = [op for op in fn.body.walk() if _is_index(op)]
    if not found:
        return
    uses = collect_uses(fn.body)
    for op in found:
        users = uses.get(op.result, [])
        places = [user for user in dict.fromkeys(users) if isinstance(user, Op) and _reads_here(user, op)]
        if 1 < len(users) <= MOST and len(places) == len(set(users)):
            for user in places[1:]:
                _repeat(op, user)
        elif len(users) == 1 and isinstance(users[0], Op) and _is_in_loop_behind(users[0], op):
            x = op.args[0]
            if type(x) is Value and (x.op is None or len(uses[x]) > 1):  # or `x` gets a variable instead
                _move_into(users[0].parent, op)


def _is_index(op: Op) -> bool:
    """A sum or difference of two whole numbers of Python's."""
    return op.prim in (ADD, SUB) and op.parent is not None and all(map(_is_whole, (*op.args, op.result)))


def _is_in_loop_behind(user: Op, op: Op) -> bool:
    """The operation is in an iteration of a loop in the block of the other one, which adds a number: that is as short
    as a name. What counts as the range of a loop is not in its iterations."""
    around = user.parent.op if user.parent is not None else None
    if type(op.args[1]) is not int or user.prim is LOOP:
        return False
    return around is not None and around.prim is LOOP and around.parent is op.parent


def _move_into(region: Region | None, op: Op) -> None:
    """Let each iteration compute the index, behind what it takes from lists."""
    assert op.parent is not None and region is not None
    op.parent.ops.remove(op)
    op.parent = region
    at = next((k for k, x in enumerate(region.ops) if x.prim not in (POP, LIST_ITEM)), len(region.ops))
    region.ops.insert(at, op)


def _is_whole(x: Any) -> bool:
    if type(x) is not Value:
        return type(x) is int
    return x.type.kind == "py" and x.type.dtype is not None and x.type.dtype.kind == "i"


def _reads_here(user: Op, op: Op) -> bool:
    """The operation reads a part of an array, or counts, in the same block."""
    return user.parent is op.parent and user.prim in (GET, SET, ADDAT, LOOP)


def _repeat(op: Op, user: Op) -> None:
    """Give the operation an index of its own."""
    region = op.parent
    assert region is not None
    copy = Op(op.prim, op.args, op.kwargs, (), op.loc)
    copy.checks, copy.droppable, copy.tag, copy.again, copy.parent = op.checks, op.droppable, op.tag, op.again, region
    copy.results = [Value(op.result.type, op.result.hint, copy)]

    def other(v: Any) -> Any:
        return copy.result if v is op.result else v

    user.args, user.kwargs = map_leaves(other, (user.args, user.kwargs))
    region.ops.insert(region.ops.index(user), copy)


__all__ = ["repeat_indices"]
