"""Changes of lists of run-time length, as one would write them by hand.

`added_at` takes a cotangent's list, an index and a contribution. It gives the list with the contribution added, and
replaces a zero that was just put there. `forget_likes` takes an adjoint that nobody differentiates again. It drops the
templates that tell a reversed deletion what shape the zero has.

>>> from autodiff_compiler.api.stages import show_source
>>> def f(x):
...     items = [x, x * 2.0]
...     for i in range(2):
...         items.append(items[-1] * items[i])
...     return items[-1]
>>> show_source(f, 1.5)
def f_grad(x):
    t = [x, x * 2.0]
    saved = []
    for i in range(2):
        t2, t3 = t[-1], t[i]
        saved.append((t2, t3))
        t.append(t2 * t3)
    t[-1]
    t = [0.0] * len(t)
    # adjoint of line 5: return items[-1]
    t[-1] += 1.0
    # adjoint of line 3: for i in range(2):
    for i, (t2, t3) in zip(reversed(range(2)), reversed(saved)):
        # adjoint of line 4: items.append(items[-1] * items[i])
        t5 = t.pop()
        t[i] += t5 * t2
        t[-1] += t5 * t3
    return t[0] + 2.0 * t[1]
"""

from __future__ import annotations

from typing import Any

from ..ir.core import Builder, Function, Op, Value, structural_key
from ..ir.opset import (
    LIST_ADDAT,
    LIST_APPEND,
    LIST_CUT,
    LIST_DROP,
    LIST_GET,
    LIST_INSERT,
    LIST_SET,
    LIST_SLICE,
    SLICE_BOUND,
    SPREAD,
    ZEROS,
)
from ..ir.rewrite import collect_uses


def added_at(b: Builder, base: Any, index: Any, g: Any) -> Any:
    """Add `g`, of the shape and dtype of the item, to the item at an index. Replace a zero that was just put there."""
    op = _made_here(b, base)
    if op is not None and op.prim in (LIST_APPEND, LIST_INSERT, LIST_SET) and _is_zero(op.args[-1]):
        last = op.prim is LIST_APPEND
        same = type(index) is int and index == -1 if last else _same_place(op.args[1], index)
        spread = type(g) is Value and g.op is not None and g.op.prim is SPREAD  # not in a buffer of its own
        if same and not spread:
            return b.emit(op.prim, *op.args[:-1], g)
    # Of an item that is a list, a few items: added to the item itself.
    chain: list[Op] = []
    op = _made_here(b, g)
    while op is not None and op.prim is LIST_ADDAT and len(chain) < 8:
        chain.append(op)
        op = _made_here(b, op.args[0])
    if chain and op is not None and op.prim is ZEROS:
        item = b.emit(LIST_GET, base, index)
        for addition in reversed(chain):
            item = b.emit(LIST_ADDAT, item, *addition.args[1:])
        return b.emit(LIST_SET, base, index, item)
    return b.emit(LIST_ADDAT, base, index, g)


def _made_here(b: Builder, v: Any) -> Op | None:
    """The operation that made the value, in the region that is being built."""
    op = v.op if type(v) is Value else None
    return op if op is not None and op.parent is b.region else None


def _is_zero(v: Any) -> bool:
    if type(v) is Value:
        return v.op is not None and v.op.prim is ZEROS
    return type(v) is float and v == 0


def _same_place(at: Any, index: Any) -> bool:
    """An item inserted at `at` has this index afterwards."""
    if type(at) is Value and at.op is not None and at.op.prim is SLICE_BOUND and at.op.args[0] == 0:
        at = at.op.args[2]
    elif type(at) is int and at < 0:
        return False
    return type(at) is type(index) and structural_key(at) == structural_key(index)


def forget_likes(fn: Function) -> None:
    """Drop the items that deletions carry as templates: only their adjoints needed the shapes, and these are built."""
    drops = [op for op in fn.body.walk() if op.prim in (LIST_DROP, LIST_CUT) and type(op.args[-1]) is Value]
    if not drops:
        return
    uses = collect_uses(fn.body)
    for drop in drops:
        get = drop.args[-1].op
        if get is not None and get.prim in (LIST_GET, LIST_SLICE) and get.parent is drop.parent:
            same = all(x is y or x == y for x, y in zip(get.args, drop.args[:-1]))
            if same and all(user is drop for user in uses[get.result]):
                get.droppable = True  # where there is no such item, it cannot be taken out either
        drop.args = (*drop.args[:-1], None)


__all__ = ["added_at", "forget_likes"]
