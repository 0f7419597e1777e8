"""Checkpoints: parts of a program of which the backward sweep keeps only what goes in, and computes the rest again.

A part is the region of an ``if`` on `opset.CHECKPOINT`, which is always true. So all passes know it: tangents and
stacks go through it as through any branch. `backward_checkpoint` takes a part and the cotangents of what it yields. It
gives the adjoint of the part, with a forward sweep of its own, for the backward sweep of the whole. That adjoint is a
checkpoint too, for derivatives of higher order.

`segmented` makes checkpoints of the loops that ask for them: a loop over segments, of which each is a checkpoint with
the loop over its trips inside. Only what a segment starts with is kept.

>>> import autodiff_compiler as ad
>>> import numpy as np
>>> def f(x, n):
...     for i in ad.checkpointed(range(n), segments=10):
...         x = np.sin(x)
...     return x
>>> print(ad.grad(f).source(0.5, 1000))
import numpy as np
from autodiff_compiler.runtime import segment
<BLANKLINE>
<BLANKLINE>
def f_grad(x, n):
    n2 = segment(len(range(n)), 10)
    x_saved = []
    for first in range(0, n, n2):
        x_saved.append(x)
        for _ in range(first, min(first + n2, n)):
            x = np.sin(x)
    x_bar = 1.0
    # adjoint of line 2: for i in ad.checkpointed(range(n), segments=10):
    for first in reversed(range(0, n, n2)):
        x = x_saved.pop()
        n3 = min(first + n2, n)
        x_saved2 = []
        for _ in range(first, n3):
            x_saved2.append(x)
            x = np.sin(x)
        for x in reversed(x_saved2):
            # adjoint of line 3: x = np.sin(x)
            x_bar *= np.cos(x)
    return x_bar

`opened` removes the marks, when nobody differentiates any more.

Reference: Griewank and Walther, Evaluating Derivatives (2008), chapter 12.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..analysis.activity import differentiable_operands
from ..errors import UnsupportedError
from ..ir import opset
from ..ir.core import LOOP, UNDEF, Builder, Function, Op, Region, Value, type_of
from ..ir.custom import LINEAR, SEAM
from ..ir.opset import ADD, CHECKPOINT, MUL, POP, PUSH, RANGE_LEN, SEGMENT, SEGMENTS, may_repeat
from ..ir.rewrite import clone_function, clone_op, free_values, replace_values, substitute
from ..ir.types import STACK, Ty, py_int
from ..late import late
from .cotangents import bar_of, cotangent_type
from .custom import spliced
from .simplify import fold_control

if TYPE_CHECKING:
    from .snapshots import keep_all, refusal, runs_again, with_snapshots
    from .vjp import Bars, Reverse
else:
    keep_all, refusal, runs_again, with_snapshots = late(
        __package__, "snapshots", "keep_all", "refusal", "runs_again", "with_snapshots"
    )

Adjoint = Callable[..., Function]


def keep_apart(b: Builder, region: Region, types: Sequence[Ty], hints: Sequence[str]) -> list[Value]:
    """Append a region as a checkpoint. What it yields."""
    never = Region(b.region.dims.child())
    never.exit = (UNDEF,) * len(region.exit)
    return b.if_(b.emit(CHECKPOINT), region, never, list(types), list(hints))


# --- the reverse of a checkpoint --------------------------------------------------------------------------------------


def reverses(op: Op) -> bool:
    """The checkpoint is reversed as one. Not so if rules of the user's, or stacks from outside, are in it."""
    region = op.regions[0]
    return all(inner.prim not in (SEAM, LINEAR) for inner in region.walk()) and all(
        v.type != STACK for v in free_values(region)
    )


def backward_checkpoint(r: Reverse, op: Op, env: Bars, adjoint: Adjoint) -> None:
    """Reverse a checkpoint. `adjoint` makes the adjoint of a function, as `pipeline.adjoint`."""
    bars = [env.pop(result, None) for result in op.results]
    region = op.regions[0]
    moving = [v for v in free_values(region, differentiable_operands) if v in r.active]
    known = [(k, g) for k, g in enumerate(bars) if g is not None and type_of(op.results[k]).may_be_float]
    if not moving or not known:
        return
    fn, free = as_function(op)
    keep_all(region)
    seeds = [False] * len(bars)
    for k, _ in known:
        seeds[k] = None  # type: ignore[call-overload]
    made = adjoint(fn, [free.index(v) for v in moving], seeds=seeds, optimise=r.optimise, use_up=True)
    runs_again(made)
    back = Region(region.dims.child())
    with r.b.inside(back, alone=True):
        back.exit = spliced(r.b, made, [*free, *[g for _, g in known]])
    found = keep_apart(r.b, back, [cotangent_type(v) for v in moving], [bar_of(v) for v in moving])
    for v, g in zip(moving, found):
        r.add(env, v, g)


def as_function(op: Op) -> tuple[Function, list[Value]]:
    """A copy of the region of a checkpoint as a function of what it reads from outside; and these values."""
    region = op.regions[0]
    free = free_values(region)
    body = Region(region.dims)
    mapping: dict[Value, Value] = {v: body.param(v.type, v.hint) for v in free}
    for inner in region.ops:
        clone_op(inner, mapping, body)
    body.exit = substitute(region.exit, mapping)
    return Function("checkpoint", body), free


# --- loops in segments ------------------------------------------------------------------------------------------------


def segmented(fn: Function) -> Function:
    """The function with the loops that ask for it in segments, or with snapshots.

    Raises `UnsupportedError` for such a loop with an effect. One that cannot be run again for another reason is left as
    it is.
    """
    fn = clone_function(fn)[0]

    def visit(region: Region) -> None:
        for op in list(region.ops):
            for inner in op.regions:
                visit(inner)
            if op.prim is not LOOP or SEGMENTS.isdisjoint(op.kwargs):
                continue
            if op.kwargs.pop("actions", False):
                if _may_run_again(op):
                    in_segments(op, region)
                continue
            _check_effects(op)
            if "segments" in op.kwargs:
                in_segments(op, region)
            elif refusal(op) is None:
                with_snapshots(op, region, op.kwargs.pop("snapshots"), disk=op.kwargs.pop("disk", None))

    visit(fn.body)
    return fn


def _may_run_again(loop: Op) -> bool:
    """All that a derived loop does beside what it yields is on stacks of its own."""
    return not any(v.type == STACK for v in free_values(loop.regions[0])) and all(
        may_repeat(op) or op.prim in (PUSH, POP) for op in loop.regions[0].walk()
    )


def _check_effects(loop: Op) -> None:
    for op in loop.regions[0].walk():
        if not may_repeat(op):
            raise UnsupportedError(
                f"checkpointed, over a loop that has effects ({op.prim.name}): they would happen twice",
                op.loc or loop.loc,
                "leave checkpointed out, or do it outside of the loop",
            )


def has_segments(loop: Op) -> bool:
    """The iterations of a loop are known before, so that they can be cut into segments."""
    return loop.range is not None and len(loop.range) == 3 and type(loop.range[2]) is int and loop.range[2] != 0


def in_segments(loop: Op, region: Region, length: Any = None) -> None:
    """Put a loop over segments in the place of a loop, which is inside of it from now on.

    length: how many iterations are in a segment; otherwise the loop says how many segments there are.
    """
    (body,) = loop.regions
    segments = loop.kwargs.pop("segments", None)
    if loop.range is None or not has_segments(loop):
        return
    start, stop, step = loop.range
    inits, given = loop.inits, list(loop.results)
    leaves_early = not (type(body.exit[0]) is int and body.exit[0] == 0)
    at = region.ops.index(loop)
    behind = region.ops[at + 1 :]
    del region.ops[at:]
    b = Builder(region)
    b.loc = loop.loc
    if length is None:
        length = b.emit(SEGMENT, b.emit(RANGE_LEN, start, stop, step), segments)
    outer = b.new_region()
    k = outer.param(py_int(), "first")
    carried = [outer.param(p.type, p.hint) for p in body.params[1:]]
    done = outer.param(py_int(), "trips")
    with b.inside(outer):
        inner = b.new_region()
        size = length if step == 1 else b.emit(MUL, length, step)
        last = b.emit(opset.PRIMS[min if step > 0 else max], b.emit(ADD, k, size), stop)
        with b.inside(inner):
            loop.args = ((k, last, step), tuple(carried))
            loop.results = [Value(v.type, v.hint, loop) for v in given]
            b.append(loop)
            inner.exit = (*loop.carried, loop.trips, *([loop.exit_code] if leaves_early else []))
        made = keep_apart(b, inner, [v.type for v in inner.exit], [v.hint for v in inner.exit])
        outer.exit = (made[-1] if leaves_early else 0, *made[: len(carried)], b.emit(ADD, done, made[len(carried)]))
    stride = length if step == 1 else b.emit(MUL, length, step)
    new = Op(LOOP, ((start, stop, stride), (*inits, 0)), {}, (outer,), loop.loc)
    new.results = [*given[:-2], given[-2], Value(py_int(), "segments", new), given[-1]]
    for v in given:
        v.op = new
    b.append(new)
    region.ops += behind


# --- the end ----------------------------------------------------------------------------------------------------------


def opened(fn: Function) -> None:
    """Put what is in the checkpoints in their places."""
    marks = [op for op in fn.body.walk() if op.prim is CHECKPOINT]
    replace_values(fn.body, {op.result: True for op in marks})
    for op in marks:
        assert op.parent is not None
        op.parent.ops.remove(op)
    replace_values(fn.body, fold_control(fn.body))


__all__ = [
    "backward_checkpoint", "has_segments", "in_segments", "keep_apart", "opened", "reverses",
    "segmented",
]  # fmt: skip
