"""Invariants of loops: what no iteration changes is computed once, in front of the loop.

Takes a function that nobody differentiates again. Gives one in which no loop computes elementwise results, views and
products of what it does not change, where to compute them cannot raise, and none saves them. What the loop stores into
stays in it, and so does what it hands on: each iteration needs an array of its own there.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, w, n):
...     for _ in range(n):
...         x = x + np.sin(x) * np.maximum(w, 0.0)
...     return np.sum(x)
>>> show_source(f, np.ones(3), np.ones(3), 4)
def f_grad(x, w, n):
    maximum_w = np.maximum(w, 0.0)
    x_saved = []
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
from collections import ChainMap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..ir.core import DERIVED, LOOP, Function, Op, Region, Value, type_of
from ..ir.definedness import maybe_undefined
from ..ir.opset import ADD, DIM, GET, POP, PRIMS, PUSH, STORES, SUB
from ..ir.rewrite import collect_uses, enclosing, region_of, replace_values
from ..ir.types import Dim
from ..operations.choices import SELECT
from .common import is_only_read
from .simplify import is_total_in

_KINDS = ("array", "py", "generic", "scalar")


@functools.cache
def _quiet() -> set[Any]:
    """What a user's statement computes in front of a loop that turns out to have no iterations must not warn, or raise
    under `np.errstate`: quotients and roots stay in a loop that may have none."""
    names = (
        operator.neg, operator.abs, operator.lt, operator.le, operator.gt,
        operator.ge, operator.eq, operator.ne, np.abs, np.sign, np.maximum, np.minimum, np.where,
    )  # fmt: skip
    return {PRIMS[f] for f in names if f in PRIMS}


def _is_quiet(op: Op) -> bool:
    """Nothing that it computes can overflow, or be undefined."""
    if op.prim in (ADD, SUB) and type_of(op.result).dtype in (np.float64, np.float32):
        return any(type(x) in (int, float) and abs(x) < 1e4 for x in op.args)
    return op.prim is GET or op.prim in _quiet()


def _runs(loop: Op, region: Region) -> bool:
    """There is at least one iteration: an axis of an argument has a name if it has two elements or more."""
    start, stop, step = (loop.range or (None, None, None))[:3]
    if type(start) is not int or type(step) is not int or step < 1:
        return False
    length = stop if type(stop) is int else stop.type.length if type(stop) is Value else None
    if length is None:
        return False
    length = region.dims.find(length)
    if isinstance(length, Dim):
        length = 2 - length.off if region.dims.is_argument(length) else 0
    return start < length


@functools.cache
def _of_numbers() -> set[Any]:
    """What is computed of numbers of Python's alone, and never raises."""
    return {PRIMS[f] for f in (operator.add, operator.sub, operator.mul, operator.neg)}


def hoist_invariants(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Compute what loops do not change in front of them; `before_change` is called if there is something."""
    return _Hoist(fn, before_change).run()


def hoist_numbers(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Compute numbers of Python's in front of loops that do not change them, if these compute nothing but numbers.

    Beside an array, a number costs next to nothing, and a line more.

    >>> from autodiff_compiler.api.stages import show_source
    >>> def f(k, n):
    ...     x = 1.0
    ...     for _ in range(n):
    ...         x = (1.0 - k) * x * x
    ...     return x
    >>> show_source(f, 0.5, 3)
    def f_grad(k, n):
        one_minus_k = 1.0 - k
        x_saved = []
        x = 1.0
        for _ in range(n):
            x_saved.append(x)
            x = one_minus_k * x * x
        x_bar, k_bar = 1.0, 0.0
        # adjoint of line 3: for _ in range(n):
        for x in reversed(x_saved):
            # adjoint of line 4: x = (1.0 - k) * x * x
            x_bar_x = x_bar * x
            x_bar = (x_bar_x + x_bar_x) * one_minus_k
            k_bar -= x_bar_x * x
        return k_bar
    """
    return _HoistNumbers(fn, before_change).run()


class _Hoist:
    def __init__(self, fn: Function, before_change: Callable[[], None] | None):
        self.fn = fn
        self.before_change = before_change
        self.uses = collect_uses(fn.body)
        self.maybe = maybe_undefined(fn.body)
        self.changed = False
        self.needless: list[Op] = []  # what saves invariants, and reads them back

    def run(self) -> bool:
        self.visit(self.fn.body)
        for op in self.needless:
            assert op.parent is not None
            op.parent.ops.remove(op)
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
        assert body.op is not None
        certain = _runs(body.op, before)  # what the first iteration does for sure
        for op in body.ops:
            certain = certain and not op.regions and (not op.prim.effects or op.prim in (PUSH, POP))
            if self.is_invariant(op, body, before, moved, certain):
                gone.append(op)
                moved.add(op)
        for op in reversed(gone):
            if self.is_cheap(op) and not any(user in moved for r in op.results for user in self.uses.get(r, ())):
                moved.discard(op)
        if not moved:
            return []
        if not self.changed and self.before_change is not None:
            self.before_change()
        self.changed = True
        body.ops = [op for op in body.ops if op not in moved]
        for op in moved:
            op.parent = before
        for v in [r for op in moved for r in op.results]:
            for push in self.uses.get(v, ())[:]:
                if isinstance(push, Op) and (pops := self.pops(push, before)):
                    self.read_instead(v, push, pops)
        return [op for op in gone if op in moved]

    def pops(self, push: Op | Region, region: Region) -> list[Op]:
        """What reads back what this operation alone saves on a stack, if all of it stands in the region."""
        if isinstance(push, Region) or push.prim is not PUSH:
            return []
        pops = [op for op in self.uses[push.args[0]] if isinstance(op, Op) and op is not push]
        if len(pops) + 1 != len(self.uses[push.args[0]]) or any(op.prim is not POP for op in pops):
            return []
        return pops if all(any(around is region for around in enclosing(op.parent)) for op in pops) else []

    def read_instead(self, v: Value, push: Op, pops: list[Op]) -> None:
        """Read an invariant where it is, and not from the stack on which each iteration saves it."""
        self.uses[v] = [user for user in self.uses[v] if user is not push]
        for op in pops:
            self.uses[v] += self.uses.pop(op.result, [])
        replace_values(self.fn.body, {op.result: v for op in pops})
        self.needless += [push.args[0].op, push, *pops]

    def is_only_read(self, v: Value, before: Region) -> bool:
        """The same number, or the same array, may serve all iterations, and what reads it back from a stack."""
        if v.type.is_scalar:
            return True
        users = self.uses.get(v, [])
        pops = [pop for user in users for pop in self.pops(user, before)]
        saved = {pop.args[0] for pop in pops}
        rest = [
            user for user in users if isinstance(user, Region) or user.prim is not PUSH or user.args[0] not in saved
        ]
        return is_only_read(v, ChainMap({v: rest}, self.uses)) and all(
            is_only_read(op.result, self.uses) for op in pops
        )

    def is_cheap(self, op: Op) -> bool:
        """It costs next to nothing, and leaves the loop for what needs it: a view, or a number of Python's."""
        return op.prim is GET or (op.prim is not SELECT and all(r.type.kind == "py" for r in op.results))

    def is_invariant(self, op: Op, body: Region, before: Region, moved: set[Op], certain: bool) -> bool:
        """No iteration changes it, and it may be computed in front of the loop, of which there may be no iteration
        unless it is `certain` that the operation is done."""
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
        if op.tag != DERIVED and not certain and not _is_quiet(op):
            return False
        return all(self.is_only_read(r, before) for r in op.results)


class _HoistNumbers(_Hoist):
    def leaving(self, body: Region, before: Region) -> list[Op]:
        if any(r.type.kind not in ("py", "scalar", "generic", "stack", "list", "table") for r in _made(body)):
            return []
        gone = super().leaving(body, before)
        for op in gone:
            op.droppable = True  # the same in two places is one
        return gone

    def is_cheap(self, op: Op) -> bool:
        return all(_is_length(r) for r in op.results) and not any(map(_is_length, op.operands()))

    def is_invariant(self, op: Op, body: Region, before: Region, moved: set[Op], certain: bool) -> bool:
        if op.prim is not DIM and (op.prim not in _of_numbers() or any(type_of(x).kind != "py" for x in op.args)):
            return False
        operands = op.operands()
        if not operands or op.kwargs:
            return False
        return not any(v in self.maybe or v.op not in moved and body in enclosing(region_of(v)) for v in operands)


def _made(body: Region) -> Iterator[Value]:
    return (r for op in body.walk() for r in op.results)


def _is_length(v: Value) -> bool:
    """The length of an array, which is an attribute."""
    return v.op is not None and v.op.prim is DIM


__all__ = ["hoist_invariants", "hoist_numbers"]
