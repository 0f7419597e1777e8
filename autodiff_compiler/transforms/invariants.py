"""Invariants of loops: what no iteration changes is computed once, in front of the loop.

Takes a function that nobody differentiates again. Gives one in which no loop computes elementwise results, views and
products of what it does not change, where to compute them cannot raise. What the loop stores into stays in it, and so
does what it hands on or keeps: each iteration needs an array of its own there.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, w, n):
...     for _ in range(n):
...         x = x + np.sin(x) * np.maximum(w, 0.0)
...     return np.sum(x)
>>> show_source(f, np.ones(3), np.ones(3), 4)
def f_grad(x, w, n):
    x_saved = []
    maximum_w = np.maximum(w, 0.0)
    x2 = x
    for _ in range(n):
        x_saved.append(x2)
        x2 = x2 + np.sin(x2) * maximum_w
    x_bar = np.full_like(x, 1.0)
    # adjoint of line 2: for _ in range(n):
    for x in reversed(x_saved):
        # adjoint of line 3: x = x + np.sin(x) * np.maximum(w, 0.0)
        x_bar += x_bar * maximum_w * np.cos(x)
    return x_bar
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import DERIVED, LOOP, Function, Op, Region
from ..ir.definedness import maybe_undefined
from ..ir.opset import GET, PRIMS, STORES
from ..ir.rewrite import collect_uses, enclosing, region_of
from .common import is_only_read
from .simplify import is_total_in

_KINDS = ("array", "py", "generic", "scalar")


@functools.cache
def _quiet() -> set[Any]:
    """What a user's statement computes in front of a loop that turns out to have no iterations must not warn, or raise
    under `np.errstate`: quotients and roots stay in the loop."""
    names = (
        operator.neg, operator.abs, operator.lt, operator.le, operator.gt,
        operator.ge, operator.eq, operator.ne, np.abs, np.sign, np.maximum, np.minimum, np.where,
    )  # fmt: skip
    return {PRIMS[f] for f in names if f in PRIMS}


def hoist_invariants(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Compute what loops do not change in front of them; `before_change` is called if there is something."""
    return _Hoist(fn, before_change).run()


class _Hoist:
    def __init__(self, fn: Function, before_change: Callable[[], None] | None):
        self.fn = fn
        self.before_change = before_change
        self.uses = collect_uses(fn.body)
        self.maybe = maybe_undefined(fn.body)
        self.changed = False

    def run(self) -> bool:
        self.visit(self.fn.body)
        return self.changed

    def visit(self, region: Region) -> None:
        """Inner loops first: what leaves one may leave the loop around it, too."""
        out: list[Op] = []
        for op in region.ops:
            for inner in op.regions:
                self.visit(inner)
            if op.prim is LOOP:
                out += self.leaving(op.regions[0], region)
            out.append(op)
        region.ops = out

    def leaving(self, body: Region, before: Region) -> list[Op]:
        """Take the invariants out of a loop's body."""
        gone: list[Op] = []
        moved: set[Op] = set()
        for op in body.ops:
            if self.is_invariant(op, body, before, moved):
                gone.append(op)
                moved.add(op)
        # A view, and what is computed of Python's numbers, costs next to nothing: it leaves the loop for what needs it.
        for op in reversed(gone):
            cheap = op.prim is GET or all(r.type.kind == "py" for r in op.results)
            if cheap and not any(user in moved for r in op.results for user in self.uses.get(r, ())):
                moved.discard(op)
        if not moved:
            return []
        if not self.changed and self.before_change is not None:
            self.before_change()
        self.changed = True
        body.ops = [op for op in body.ops if op not in moved]
        for op in moved:
            op.parent = before
        return [op for op in gone if op in moved]

    def is_invariant(self, op: Op, body: Region, before: Region, moved: set[Op]) -> bool:
        """No iteration changes it, and it may be computed in front of the loop, of which there may be no iteration."""
        prim = op.prim
        if op.regions or prim.effects or prim.unique or prim.foreign or prim in STORES or not op.results:
            return False
        operands = op.operands()
        if any(v.type.kind not in _KINDS for v in (*operands, *op.results)):
            return False
        if any(v in self.maybe or v.op not in moved and body in enclosing(region_of(v)) for v in operands):
            return False
        if not is_total_in(before, op):
            return False
        if op.tag != DERIVED and prim is not GET and prim not in _quiet():
            return False
        return all(is_only_read(r, self.uses) for r in op.results)


__all__ = ["hoist_invariants"]
