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
<BLANKLINE>

`opened` removes the marks, when nobody differentiates any more.

Reference: Griewank and Walther, Evaluating Derivatives (2008), chapter 12.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..analysis.activity import differentiable_operands
from ..ir import opset
from ..ir.core import DERIVED, IF, LOOP, UNDEF, Builder, Function, Op, Region, Value, type_of
from ..ir.custom import LINEAR, SEAM
from ..ir.opset import (
    ADD,
    CHECKPOINT,
    LEN,
    LIST_APPEND,
    LIST_DROP,
    LIST_GET,
    LIST_NEW,
    MUL,
    RANGE_LEN,
    REVERSAL,
    SEGMENT,
    SNAPSHOTS,
    SUB,
)
from ..ir.rewrite import clone_function, clone_op, clone_region, free_values, replace_values, substitute
from ..ir.types import STACK, Ty, py_int
from .cotangents import bar_of, cotangent_type, in_either_dtype
from .custom import spliced
from .simplify import fold_control

if TYPE_CHECKING:
    from .vjp import Bars, Reverse

Adjoint = Callable[..., Function]


def is_checkpoint(op: Op) -> bool:
    """The operation is an ``if`` that stands for a checkpoint."""
    return op.prim is IF and type(op.condition) is Value and made_by(op.condition) is CHECKPOINT


def made_by(v: Value) -> Any:
    return None if v.op is None else v.op.prim


def keep_apart(b: Builder, region: Region, types: Sequence[Ty], hints: Sequence[str]) -> list[Value]:
    """Append a region as a checkpoint. What it yields."""
    never = Region(b.region.dims.child())
    never.exit = (UNDEF,) * len(region.exit)
    return b.if_(b.emit(CHECKPOINT), region, never, list(types), list(hints))


# --- the reverse of a checkpoint --------------------------------------------------------------------------------------


def reverses(op: Op) -> bool:
    """The checkpoint is reversed as one. Not so if rules of the user's, or stacks from outside, are in it."""
    if not is_checkpoint(op):
        return False
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
    seeds = [False] * len(bars)
    for k, _ in known:
        seeds[k] = None  # type: ignore[call-overload]
    made = adjoint(fn, [free.index(v) for v in moving], seeds=seeds, optimise=r.optimise, use_up=True)
    for top in made.body.ops:
        for inner in (top, *[x for each in top.regions for x in each.walk()]) if top.tag != DERIVED else ():
            inner.again = True
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


def asks_for_segments(fn: Function) -> bool:
    """Some loop of the function is to be reversed segment by segment."""
    return any(op.prim is LOOP and not {"segments", "snapshots"}.isdisjoint(op.kwargs) for op in fn.body.walk())


def segmented(fn: Function) -> Function:
    """The function with the loops that ask for it in segments."""
    fn = clone_function(fn)[0]

    def visit(region: Region) -> None:
        for op in list(region.ops):
            for inner in op.regions:
                visit(inner)
            if op.prim is LOOP and "segments" in op.kwargs:
                _in_segments(op, region)
            elif op.prim is LOOP and "snapshots" in op.kwargs:
                _with_snapshots(op, region)

    visit(fn.body)
    return fn


def _in_segments(loop: Op, region: Region) -> None:
    """Put a loop over segments in the place of a loop, which is inside of it from now on."""
    (body,) = loop.regions
    segments = loop.kwargs.pop("segments")
    if loop.range is None or len(loop.range) > 3 or type(loop.range[2]) is not int or not loop.range[2]:
        return
    start, stop, step = loop.range
    inits, given = loop.inits, list(loop.results)
    leaves_early = not (type(body.exit[0]) is int and body.exit[0] == 0)
    at = region.ops.index(loop)
    behind = region.ops[at + 1 :]
    del region.ops[at:]
    b = Builder(region)
    b.loc = loop.loc
    total = b.emit(RANGE_LEN, start, stop, step)
    length = b.emit(SEGMENT, total, segments)
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


# --- loops with few snapshots -----------------------------------------------------------------------------------------


def _with_snapshots(loop: Op, region: Region) -> None:
    """Put a loop over the stretches between snapshots in the place of a loop. It carries the snapshots, too."""
    (body,) = loop.regions
    snapshots = loop.kwargs.pop("snapshots")
    left = not (type(body.exit[0]) is int and body.exit[0] == 0)
    if loop.range is None or len(loop.range) > 3 or left or loop.range[2] != 1:
        return
    start, stop, step = loop.range
    inits, given = loop.inits, list(loop.results)
    at = region.ops.index(loop)
    behind = region.ops[at + 1 :]
    del region.ops[at:]
    b = Builder(region)
    b.loc = loop.loc
    total = b.emit(RANGE_LEN, start, stop, step)
    steps = b.emit(SNAPSHOTS, total, snapshots)
    steps.hint = "steps"
    empty = []
    for p in body.params[1:]:
        empty.append(b.emit(LIST_NEW, ()))
        empty[-1].type = Ty("list", elem=p.type)
        empty[-1].hint = f"{p.hint}_snapshots"
    outer = b.new_region()
    k = outer.param(py_int(), "k")
    carried = [outer.param(p.type, p.hint) for p in body.params[1:]]
    taken = [outer.param(e.type, e.hint) for e in empty]
    with b.inside(outer):
        first, last = b.emit(LIST_GET, steps, k), b.emit(LIST_GET, steps, b.emit(ADD, k, 1))
        held = [_typed(b.emit(LIST_APPEND, l, _own(b, v)), l) for l, v in zip(taken, carried)]
        loop.args = ((_from(b, start, first), _from(b, start, last), step), tuple(carried))
        loop.results = [Value(v.type, v.hint, loop) for v in given]
        b.append(loop)
        outer.exit = (0, *loop.carried, *held)
    count = b.emit(SUB, b.emit(LEN, steps), 1)
    new = Op(LOOP, ((0, count, 1), (*inits, *empty)), {"reversal": (start, total, snapshots)}, (outer,), loop.loc)
    new.results = [*given[:-2], *[Value(e.type, e.hint, new) for e in empty]]
    new.results += [Value(py_int(), "stretches", new), given[-1]]
    for v in new.results:
        v.op = new
    b.append(new)
    region.ops += behind
    replace_values(region, {given[-2]: total})  # all trips were made


def _from(b: Builder, start: Any, trip: Any) -> Any:
    """The index of a trip."""
    return trip if type(start) is int and start == 0 else b.emit(ADD, start, trip)


def _own(b: Builder, v: Value) -> Value:
    """An array of its own: the trips may store into the state."""
    return _typed(b.emit(opset.COPY, v), v) if v.type.kind == "array" else v


def _typed(made: Value, like: Value) -> Value:
    made.type, made.hint = like.type, like.hint
    return made


def backward_reversal(r: Reverse, op: Op, env: Bars, adjoint: Adjoint) -> None:
    """Reverse a loop with the snapshots that it has taken: a loop over the actions of a schedule."""
    loop = next(inner for inner in op.regions[0].ops if inner.prim is LOOP)
    body = loop.regions[0]
    count = len(loop.inits)
    results, snapshots = op.carried[:count], op.carried[count:]
    bars = [env.pop(v, None) for v in op.results][:count]
    free = [v for v in free_values(body, differentiable_operands) if v in r.active and v not in r.stacks]
    slots = [k for k in range(count) if bars[k] is not None or body.params[1 + k] in r.active]
    if not slots and not free:
        return
    start, total, number = op.kwargs["reversal"]
    b = r.b
    kinds, firsts, lasts = b.emit(REVERSAL, total, number)
    for made, hint in ((kinds, "actions"), (firsts, "firsts"), (lasts, "lasts")):
        made.hint = hint
    region = Region(b.region.dims.child())
    at = region.param(py_int(), "k")
    state = [region.param(p.type, p.hint) for p in body.params[1:]]
    held = [region.param(v.type, v.hint) for v in snapshots]
    own = [region.param(in_either_dtype(body.exit[1 + k], results[k]), bar_of(body.params[1 + k])) for k in slots]
    outer = [region.param(cotangent_type(v), bar_of(v)) for v in free]
    types = [p.type for p in region.params[1:]]
    hints = [p.hint for p in region.params[1:]]

    def choose(code: int, then: Callable[[], Sequence[Any]], orelse: Callable[[], Sequence[Any]]) -> Sequence[Any]:
        sides = []
        for build in (then, orelse):
            side = b.new_region()
            with b.inside(side):
                side.exit = tuple(build())
            sides.append(side)
        return b.if_(b.emit(opset.EQ, kind, code), sides[0], sides[1], types, hints)

    def advance() -> Sequence[Any]:
        again = clone_region(body, {})
        for inner in again.walk():
            inner.tag, inner.again = b.tag, True
        ends = (_from(b, start, first), _from(b, start, last), 1)
        made = b.loop(ends, tuple(state), again, [v.type for v in loop.carried], [v.hint for v in loop.carried])
        return (*made[:count], *held, *own, *outer)

    def take() -> Sequence[Any]:
        return (*state, *[_typed(b.emit(LIST_APPEND, l, _own(b, v)), l) for l, v in zip(held, state)], *own, *outer)

    def go_back() -> Sequence[Any]:
        last_ones = [_typed(b.emit(LIST_GET, l, -1), v) for l, v in zip(held, state)]
        return (*[_own(b, v) for v in last_ones], *held, *own, *outer)

    def drop() -> Sequence[Any]:
        return (*state, *[_typed(b.emit(LIST_DROP, l, -1, None), l) for l in held], *own, *outer)

    def reverse() -> Sequence[Any]:
        fn, reads = _as_step(body)
        wrt = [1 + k for k in slots] + [1 + count + reads.index(v) for v in free]
        seeds: list[Any] = [None if k in slots and type_of(v).may_be_float else False for k, v in enumerate(fn.results)]
        made = adjoint(fn, wrt, seeds=seeds, optimise=r.optimise, use_up=True)
        seeded = [g for k, g in zip(slots, own) if seeds[k] is None]
        found = spliced(b, made, [_from(b, start, first), *state, *reads, *seeded])
        sums = [b.emit(ADD if v.type.is_scalar else opset.ACCUM, g, more)
                for v, g, more in zip(free, outer, found[len(slots) :])]  # fmt: skip
        return (*state, *held, *found[: len(slots)], *sums)

    with b.inside(region, alone=True):
        kind, first, last = [b.emit(LIST_GET, l, at) for l in (kinds, firsts, lasts)]
        kind.hint, first.hint, last.hint = "action", "first", "last"
        done = choose(4, reverse, lambda: choose(2, go_back, lambda: choose(0, advance, lambda: choose(1, take, drop))))
        region.exit = (0, *done)
    inits = [
        *op.inits[:count], *snapshots, *[r.or_zeros(bars[k], results[k]) for k in slots],
        *[r.or_zeros(env.get(v), v) for v in free],
    ]  # fmt: skip
    made = b.loop((0, b.emit(LEN, kinds), 1), tuple(inits), region, types, hints)
    env.update(zip(free, made[2 * count + len(slots) :]))
    for k, g in zip(slots, made[2 * count :]):
        r.add(env, op.inits[k], g)


def _as_step(body: Region) -> tuple[Function, list[Value]]:
    """A trip as a function of its number, what it carries, and what it reads from outside; and these values."""
    reads = free_values(body)
    made = Region(body.dims)
    mapping: dict[Value, Value] = {p: made.param(p.type, p.hint) for p in body.params}
    mapping.update((v, made.param(v.type, v.hint)) for v in reads)
    for inner in body.ops:
        clone_op(inner, mapping, made)
    made.exit = substitute(body.exit[1:], mapping)
    return Function("step", made), reads


# --- the end ----------------------------------------------------------------------------------------------------------


def opened(fn: Function) -> None:
    """Put what is in the checkpoints in their places."""
    marks = [op for op in fn.body.walk() if op.prim is CHECKPOINT]
    replace_values(fn.body, {op.result: True for op in marks})
    for op in marks:
        assert op.parent is not None
        op.parent.ops.remove(op)
    replace_values(fn.body, fold_control(fn.body))


__all__ = ["asks_for_segments", "backward_checkpoint", "is_checkpoint", "keep_apart", "opened", "reverses", "segmented"]
