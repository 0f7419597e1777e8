"""Which values of a function are stacks if some of its parameters are: those that depend on them.

Takes the region of a function and some of its values. Gives the values that are stacks if these are.

A shape does not depend on the content. A list is a stack if one of its items is, and so is a residual stack. The answer
holds at the joins of control flow: what a branch yields, a loop carries or a function takes is a stack if it is one on
one of the ways.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> def f(x, w):
...     y = 0.0
...     for k in range(2):
...         y = y * x + w[k]
...     return y, len(w)
>>> fn = lower(f, (1.0, np.ones(2)), {}).function
>>> found = stacked_values(fn.body, fn.params[:1])
>>> [v in found for v in fn.results[:2]]
[True, False]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ir import opset
from ..ir.core import CALL, FUNC, IF, LOOP, TRY, Op, Region, Value, leaves
from ..ir.rewrite import called

SHAPES = frozenset({opset.DIM, opset.SHAPE_OF, opset.NDIM, opset.SIZE, opset.DTYPE, opset.LEN})


def stacked_values(body: Region, start: Iterable[Value]) -> set[Value]:
    """The values that are stacks if those of `start` are."""
    found = set(start)
    ops = list(body.walk())
    before = -1
    while before != len(found):
        before = len(found)
        for op in ops:
            _follow(op, found)
    return found


def _follow(op: Op, found: set[Value]) -> None:
    if op.prim is IF:
        for r, a, b in zip(op.results, op.regions[0].exit, op.regions[1].exit):
            _join(found, r, (a, b, op.condition))
    elif op.prim is LOOP:
        (body,) = op.regions
        around = (op.range, body.exit[0])
        for r, p, init, out in zip(op.carried, body.params[1:], op.inits, body.exit[1:]):
            _join(found, p, (init, out, around))
            _join(found, r, (p,))
        if _any(found, around):
            found.update((op.trips, op.exit_code))
    elif op.prim is TRY:
        for r, out in zip(op.results[2:], op.regions[0].exit):
            _join(found, r, (out,))
    elif op.prim is CALL:
        (body,) = called(op).regions
        for p, arg in zip(body.params, op.args[1:]):
            _join(found, p, (arg,))
        for r, out in zip(op.results, body.exit):
            _join(found, r, (out,))
    elif op.prim is opset.PUSH:
        _join(found, op.args[0], (op.args[1],))
    elif op.prim is not FUNC and op.prim not in SHAPES and any(v in found for v in op.operands()):
        found.update(op.results)


def _any(found: set[Value], arg: Any) -> bool:
    return any(v in found for v in leaves(arg))


def _join(found: set[Value], to: Value, sources: tuple[Any, ...]) -> None:
    if to in found or _any(found, sources):
        found.add(to)
        if to.type.kind == "stack":  # what is pushed later is on the stack from its beginning on
            found.update(v for v in leaves(sources) if v.type.kind == "stack")


__all__ = ["stacked_values"]
