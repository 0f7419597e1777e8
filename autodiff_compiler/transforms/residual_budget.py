"""Loops whose residuals keep within a budget of bytes.

Takes a function, and a number of bytes. `share` gives each loop that carries a derivative two forms: all that its
iterations save is kept, or few snapshots are (`snapshots`). Which of them runs is decided in front of the loop, when
the number of iterations and the sizes of the arrays are known. `runtime.keep_within` does so, and says what is left for
the loops that follow and for those inside. After the adjoint has been made, `count` finds out what an iteration of the
first form saves. A number counts as 32 bytes, an array as 128 bytes beside those of its elements. What an iteration
saves is counted from the shapes of arrays that are in scope in front of the loop. Where that does not tell, or where
the number of iterations is not known, there are snapshots.

With "auto" in the place of the number, there is no budget: a loop is cut into segments (`checkpoint`) if all would be
much, and stays as it is where that is not known.

>>> import autodiff_compiler as ad
>>> import numpy as np
>>> def f(x, n):
...     for _ in range(n):
...         x = np.sin(x)
...     return np.sum(x)
>>> print(ad.grad(f, max_residual_bytes=10**6).source(np.ones(100), 1000))
import numpy as np
from autodiff_compiler.runtime import (
    copy,
    keep_within,
    kept_bytes,
    reversal,
    snapshot_steps,
    spread,
)
<BLANKLINE>
<BLANKLINE>
def f_grad(x, n):
    whole, together, snapshots, _ = keep_within(
        1000000, 1, len(range(n)), kept_bytes(x), kept_bytes(x), False
    )
    x_saved = []
    if whole:
        x2 = x
        for _ in range(n):
            x_saved.append(x2)
            x2 = np.sin(x2)
        x_snapshots = None
    else:
        steps = snapshot_steps(len(range(n)), snapshots, together)
        n2 = len(steps) - 1
        taken = steps[:n2]
        x_snapshots = []
        x2 = x
        for k in range(n2):
            x_snapshots.append(x2.copy())
            for _ in range(steps[k], steps[k + 1]):
                x2 = np.sin(x2)
    x_bar = spread(1.0, x)
    # adjoint of line 2: for _ in range(n):
    if whole:
        for _ in reversed(range(n)):
            x = x_saved.pop()
            # adjoint of line 3: x = np.sin(x)
            x_bar = x_bar * np.cos(x)
    else:
        # adjoint of line 2: for _ in range(n):
        actions, firsts, lasts = reversal(taken, len(range(n)), snapshots, together)
        for k in range(len(actions)):
            action, first, last = actions[k], firsts[k], lasts[k]
            if action == 4:
                x_saved = []
                for _ in range(first, last):
                    x_saved.append(x)
                    x = np.sin(x)
                for x in reversed(x_saved):
                    # adjoint of line 3: x = np.sin(x)
                    x_bar = x_bar * np.cos(x)
                x = None
            # adjoint of line 2: for _ in range(n):
            elif action == 2:
                x = x_snapshots[-1].copy()
            elif action == 0:
                for _ in range(first, last):
                    x = np.sin(x)
            elif action == 1:
                x_snapshots.append(copy(x))
            else:
                del x_snapshots[-1]
    return x_bar.copy()
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ..analysis.activity import activity
from ..errors import UnsupportedError
from ..ir.core import DERIVED, FUNC, IF, LOOP, TRY, UNDEF, Builder, Function, Op, Region, Value, type_of
from ..ir.opset import (
    ADD,
    DIM,
    KEEP_WITHIN,
    KEPT_BYTES,
    MUL,
    PRIMS,
    PUSH,
    RANGE_LEN,
    REVERSAL,
    SIZE,
    SUB,
    is_checkpoint,
)
from ..ir.rewrite import clone_function, clone_op, enclosing, region_of, replace_values
from ..ir.types import Dim, DimLike, Dims, py_int, same_dtype
from .checkpoint import has_segments, in_segments
from .shapes import own_params
from .snapshots import ends_early, slots_of, with_snapshots
from .snapshots import refusal as why_not

FLOOR_DIV = PRIMS[operator.floordiv]
NUMBER = 32  # bytes of a number that is kept
HEADER = 128  # and of an array beside those of its elements


# --- the two forms of a loop ------------------------------------------------------------------------------------------


def share(
    fn: Function, wrt: Sequence[int], seeds: Sequence[Any] | None, budget: int | str, moving: int | None = 0
) -> Function:  # fmt: skip
    """The function, with a second form of each loop that carries a derivative.

    budget: a number of bytes. With "auto", the second form has segments, and it runs where the first would keep much.
    moving: how many tangents will be kept beside each value; None: one for each element of `wrt`.
    """
    fn = clone_function(fn)[0]
    outputs = None if seeds is None else [v for v, seed in zip(fn.body.exit, seeds) if seed is not False]
    active, _ = activity(fn.body, [fn.params[k] for k in wrt], outputs)
    found = {op for op in fn.body.walk() if op.prim is LOOP and _carries(op, active) and not _is_told(op)}
    _share(fn.body, None if budget == "auto" else _left(fn, wrt, budget, moving) if found else 0, 0, found)
    return fn


def _left(fn: Function, wrt: Sequence[int], budget: Any, moving: int | None) -> Any:
    """The part of the budget that is for values, and not for their tangents."""
    if moving is not None:
        return budget // (1 + moving)
    behind, fn.body.ops = fn.body.ops, []
    b = Builder(fn.body)
    count: Any = 1
    for k in wrt:
        count = b.emit(ADD, count, b.emit(SIZE, fn.params[k]))
    left = b.emit(FLOOR_DIV, budget, count)
    fn.body.ops += behind
    return left


def _carries(loop: Op, active: set[Value]) -> bool:
    body = loop.regions[0]
    return any(v in active for v in (*loop.results, *body.params, *[r for op in body.walk() for r in op.results]))


def _is_told(loop: Op) -> bool:
    """The user has said how it is reversed, or a loop around it."""
    around = [loop, *[r.op for r in enclosing(loop.parent) if r.op is not None]]
    return any(op.prim is LOOP and not {"segments", "snapshots"}.isdisjoint(op.kwargs) for op in around)


def _share(region: Region, left: Any, others: int, loops: set[Op]) -> Any:
    """Share what is left of the budget between the loops of a region, and `others` behind it. What is left then."""
    units = [op for op in region.ops if op in loops or any(inner in loops for r in op.regions for inner in r.walk())]
    for k, op in enumerate(units):
        more = len(units) - k - 1 + others
        if op in loops:
            reason = why_not(op)
            if left is None and (reason is not None or not (_is_counted(op) and has_segments(op))):
                _share(op.regions[0], None, 0, loops)
            elif reason is None:
                left = _in_two_forms(op, left, more + 1, loops)
            else:
                op.kwargs["whole"] = reason
        elif is_checkpoint(op):  # of which nothing is kept
            _share(op.regions[0], left, more, loops)
        elif op.prim is IF and left is None:
            for side in op.regions:
                _share(side, None, 0, loops)
        elif op.prim is IF:
            sides = [_share(side, left, more, loops) for side in op.regions]
            for side, rest in zip(op.regions, sides):
                side.exit = (*side.exit, rest)
            left = Value(py_int(), "left", op)
            op.results.append(left)
        elif left is not None:
            for inner in op.regions:
                _refuse(inner, loops, op)
    return left


def _is_counted(loop: Op) -> bool:
    """How often it runs is known before."""
    return loop.range is not None and not ends_early(loop.regions[0])


def _refuse(region: Region, loops: set[Op], owner: Op) -> None:
    what = {LOOP: "a loop that is kept whole", TRY: "a `try` statement", FUNC: "a recursive function"}
    for op in region.walk():
        if op in loops:
            op.kwargs["whole"] = f"it stands in {what.get(owner.prim, owner.prim.name)}"


def _bytes_of(b: Builder, values: Sequence[Any]) -> Any:
    """The bytes of what a loop starts with."""
    large = [v for v in values if type(v) is Value and not v.type.is_scalar]
    numbers = NUMBER * (len([v for v in values if v is not UNDEF]) - len(large))
    if not large:
        return numbers
    found = b.emit(KEPT_BYTES, *large)
    return b.emit(ADD, found, numbers) if numbers else found


def _in_two_forms(loop: Op, left: Any, loops_left: int, loops: set[Op]) -> Any:
    """Put a choice in the place of a loop: the loop as it is, or one with snapshots. What is left of the budget."""
    region = loop.parent
    assert region is not None
    (body,) = loop.regions
    given = list(loop.results)
    at = region.ops.index(loop)
    behind = region.ops[at + 1 :]
    del region.ops[at:]
    b = Builder(region)
    b.loc = loop.loc
    trips = b.emit(RANGE_LEN, *(loop.range or ())) if _is_counted(loop) else None
    state = _bytes_of(b, [loop.inits[k] for k in slots_of(loop)])
    nested = left is not None and any(op in loops for op in body.walk())
    whole, together, snapshots, rest = b.emit(KEEP_WITHIN, left, loops_left, trips, state, None, nested)
    for made, hint in ((whole, "whole"), (together, "together"), (snapshots, "snapshots"), (rest, "left")):
        made.hint = hint
    then, orelse = b.new_region(), b.new_region()
    then.exit = tuple(clone_op(loop, {}, then).results)
    orelse.ops.append(loop)
    loop.parent = orelse
    loop.results = [Value(v.type, v.hint, loop) for v in given]
    orelse.exit = tuple(loop.results)
    _share(body, None if left is None else rest, 0, loops)
    if left is None:
        in_segments(loop, orelse, together)
    else:
        with_snapshots(loop, orelse, snapshots, 1 if nested else together)
    choice = Op(IF, (whole,), {}, (then, orelse), loop.loc)
    choice.results = given
    for v in given:
        v.op = choice
    b.append(choice)
    region.ops += behind
    return None if left is None else rest


def check_first(fn: Function) -> None:
    """Refuse to reverse what has been reversed within a budget: all of its schedule would be kept."""
    asked = next((op for op in fn.body.walk() if op.prim is KEEP_WITHIN and op.args[0] is not None), None)
    if asked is not None and any(op.prim is REVERSAL for op in fn.body.walk()):
        raise UnsupportedError(
            "the gradient of a gradient with max_residual_bytes",
            asked.loc,
            "use ad.jvp or ad.jacfwd of it, or loop over ad.checkpointed(range(n)) without max_residual_bytes",
        )


# --- what an iteration keeps ------------------------------------------------------------------------------------------


def count(fn: Function) -> None:
    """Count the bytes that an iteration saves, where all of them are kept."""
    for op in list(fn.body.walk()):
        if op.prim is KEEP_WITHIN and op.args[4] is None:
            _count(op, fn)
        elif "whole" in op.kwargs and op.tag != DERIVED:
            reason = op.kwargs.pop("whole")
            if any(inner.prim is PUSH for inner in op.regions[0].walk()):
                raise UnsupportedError(
                    f"max_residual_bytes, and a loop of which all is kept: {reason}",
                    op.loc,
                    "leave max_residual_bytes out, and say for the other loops how they are reversed: ad.checkpointed",
                )


def _count(op: Op, fn: Function) -> None:
    region = op.parent
    assert region is not None
    choice = next((x for x in region.ops if x.prim is IF and x.condition is op.results[0]), None)
    if choice is None:
        return
    loop = next((x for x in choice.regions[0].ops if x.prim is LOOP), None)
    if loop is None:  # nothing of it is needed
        replace_values(region, {op.results[0]: True})
        return
    at = region.ops.index(op)
    behind = region.ops[at:]
    del region.ops[at:]
    b = Builder(region)
    b.loc, b.tag = op.loc, op.tag
    bytes_ = Counter(b, region, fn).of(loop.regions[0])
    region.ops += behind
    if bytes_ is None and op.args[0] is None:
        bytes_ = 0  # all is kept
    if bytes_ is not None:
        op.args = (*op.args[:4], bytes_, *op.args[5:])
    if type(bytes_) is int and bytes_ == 0:
        replace_values(region, {op.results[0]: True})
    elif op.args[2] is None:  # without the number of iterations, it is never known that all can be kept
        replace_values(region, {op.results[0]: False})


class Counter:
    """Counts bytes in front of a loop, by what is in scope there."""

    def __init__(self, b: Builder, region: Region, fn: Function):
        self.b, self.region = b, region
        self.arrays: list[Value] = []
        inner: Op | None = None
        for around in enclosing(region):
            params = own_params(fn) if around is fn.body else around.params
            self.arrays += [p for p in params if p.type.kind == "array" and p.type.dims is not None]
            for op in around.ops:
                if op is inner:
                    break
                if not op.regions and op.tag != DERIVED:
                    self.arrays += [v for v in op.results if v.type.kind == "array" and v.type.dims is not None]
            inner = around.op

    def of(self, body: Region) -> Any:
        """The bytes that a run of the region pushes on stacks; None if that is not known before it runs."""
        fixed, others = 0, list[Any]()
        sizes: dict[Value, int] = {}
        for op in body.ops:
            if op.prim is PUSH:
                v = op.args[1]
                t = type_of(v)
                if type(v) is not Value or t.is_scalar or t.kind in ("undef", "shape", "object"):
                    fixed += NUMBER
                    continue
                if t.kind != "array" or t.dims is None or t.dtype is None:
                    return None
                dims = region_of(v).dims
                like = self.like(v, dims)
                if like is not None:
                    sizes[like] = sizes.get(like, 0) + 1
                    continue
                size = self.product([t.dtype.itemsize, *[self.length(d, dims) for d in t.dims]])
                if size is None:
                    return None
                fixed += HEADER
                others.append(size)
                continue
            inside = [self.of(r) for r in op.regions]
            if None in inside:
                return None
            times = self.trips(op) if op.prim is LOOP else 1
            for size in inside:
                if type(size) is int and size == 0:
                    continue
                size = self.product([times, size])
                if size is None:
                    return None
                others.append(size)
        others += [self.product([n, self.b.emit(KEPT_BYTES, v)]) for v, n in sizes.items()]
        return self.total([fixed, *others])

    def like(self, v: Value, dims: Dims) -> Value | None:
        """An array in scope of the same shape and dtype."""
        want = tuple(map(dims.find, v.type.dims or ()))
        for a in self.arrays:
            if same_dtype(a.type.dtype, v.type.dtype) and tuple(map(dims.find, a.type.dims or ())) == want:
                return a
        return None

    def length(self, d: DimLike, dims: Dims) -> Any:
        """A length; at most a few elements too large."""
        d = dims.find(d)
        if not isinstance(d, Dim):
            return d
        best = None
        for a in self.arrays:
            for axis, e in enumerate(map(dims.find, a.type.dims or ())):
                if isinstance(e, Dim) and e.root == d.root and (best is None or abs(e.off - d.off) < abs(best[2])):
                    best = a, axis, e.off - d.off
        if best is None:
            return None
        a, axis, more = best
        length = self.b.emit(DIM, a, axis)
        return self.b.emit(ADD, length, more) if more > 0 else length

    def trips(self, loop: Op) -> Any:
        """How often a loop runs at most; None if that is not known before it."""
        if loop.range is None:
            return None
        bounds = [self.number(x, region_of(loop.results[-1]).dims) for x in loop.range[:3]]
        if None in bounds:
            return None
        trips = self.b.emit(RANGE_LEN, *bounds)
        return trips

    def number(self, x: Any, dims: Dims) -> Any:
        if type(x) is not Value:
            return x if type(x) is int else None
        home = region_of(x)
        if any(home is around for around in enclosing(self.region)):
            return x
        return None if x.type.length is None else self.exact(x.type.length, dims)

    def exact(self, d: DimLike, dims: Dims) -> Any:
        d = dims.find(d)
        if not isinstance(d, Dim):
            return d
        for a in self.arrays:
            for axis, e in enumerate(map(dims.find, a.type.dims or ())):
                if isinstance(e, Dim) and e.root == d.root and e.off <= d.off:
                    length = self.b.emit(DIM, a, axis)
                    return length if e.off == d.off else self.b.emit(SUB, length, d.off - e.off)
        return None

    def product(self, factors: list[Any]) -> Any:
        fixed, rest = 1, []
        for f in factors:
            if f is None:
                return None
            if type(f) is int:
                fixed *= f
            else:
                rest.append(f)
        made: Any = fixed if fixed != 1 or not rest else None
        for f in rest:
            made = f if made is None else self.b.emit(MUL, made, f)
        return made

    def total(self, terms: list[Any]) -> Any:
        fixed = sum(t for t in terms if type(t) is int)
        made: Any = None
        for t in terms:
            if type(t) is not int:
                made = t if made is None else self.b.emit(ADD, made, t)
        return fixed if made is None else made if fixed == 0 else self.b.emit(ADD, made, fixed)


__all__ = ["check_first", "count", "share"]
