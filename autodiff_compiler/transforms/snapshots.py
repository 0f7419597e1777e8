"""Loops that are reversed with few snapshots of their state.

Takes a loop. Gives one that carries lists, to which it appends the state in front of some iterations. The backward
sweep is a loop over the actions of a schedule (`kernels.reversals`): go back to the last snapshot, advance, take a
snapshot, drop one, and reverse some iterations, of which all is kept for that time.

>>> import autodiff_compiler as ad
>>> import numpy as np
>>> def f(x, n):
...     for i in ad.checkpointed(range(n), snapshots=10):
...         x = np.sin(x)
...     return x
>>> print(ad.grad(f).source(0.5, 1000))
import numpy as np
from autodiff_compiler.runtime import reversal, snapshot_steps
<BLANKLINE>
<BLANKLINE>
def f_grad(x, n):
    n2 = len(range(n))
    steps = snapshot_steps(n2, 10, 1)
    n3 = len(steps) - 1
    x_snapshots = []
    x2 = x
    for k in range(n3):
        x_snapshots.append(x2)
        for _ in range(steps[k], steps[k + 1]):
            x2 = np.sin(x2)
    # adjoint of line 2: for i in ad.checkpointed(range(n), snapshots=10):
    actions, firsts, lasts = reversal(steps[:n3], n2, 10, 1)
    x_bar = 1.0
    for k in range(len(actions)):
        action, first, last = actions[k], firsts[k], lasts[k]
        if action == 4:
            # adjoint of line 3: x = np.sin(x)
            x_bar *= np.cos(x)
        # adjoint of line 2: for i in ad.checkpointed(range(n), snapshots=10):
        elif action == 2:
            x = x_snapshots[-1]
        elif action == 0:
            for _ in range(first, last):
                x = np.sin(x)
        elif action == 1:
            x_snapshots.append(x)
        else:
            del x_snapshots[-1]
    return x_bar

Where the number of iterations is not known before (a ``while``, or a loop with ``break`` or ``return``), the forward
sweep takes a snapshot after every so many iterations. When there are too many, it drops every second one, and doubles
the distance. The iteration that leaves the loop is reversed as the others are: it computes anew that it left.

References: Griewank and Walther, Algorithm 799: Revolve (ACM TOMS 26, 2000), section 3. For loops of unknown length:
Wang, Moin and Iaccarino, Minimal repetition dynamic checkpointing (SIAM J. Sci. Comput. 31, 2009), section 2, where
snapshots are moved one by one; here, their distance is doubled.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..analysis.activity import differentiable_operands
from ..ir import opset
from ..ir.core import CALL, DERIVED, FUNC, IF, LOOP, TRY, UNDEF, Builder, Function, Op, Region, Value, leaves, type_of
from ..ir.custom import CUSTOMS, LINEAR, SEAM
from ..ir.opset import (
    ADD,
    EQ,
    KEEP_WITHIN,
    LEN,
    LIST_APPEND,
    LIST_DROP,
    LIST_GET,
    LIST_NEW,
    LIST_SLICE,
    MUL,
    RANGE_LEN,
    REVERSAL,
    SNAPSHOT,
    SNAPSHOT_FILE,
    SNAPSHOTS,
    SUB,
    may_repeat,
)
from ..ir.rewrite import clone_op, clone_region, free_values, replace_values, substitute
from ..ir.types import STACK, Ty, py_int
from .cotangents import bar_of, cotangent_type, in_either_dtype
from .custom import spliced
from .simplify import fold_control

if TYPE_CHECKING:
    from .vjp import Bars, Reverse

Adjoint = Callable[..., Function]
NE, FLOOR_DIV, OR, GT, MIN = [
    opset.PRIMS[fn] for fn in (operator.ne, operator.floordiv, operator.or_, operator.gt, min)
]


def refusal(loop: Op) -> str | None:
    """Why the loop cannot be run again from a snapshot of what it carries, if it cannot."""
    (body,) = loop.regions
    for op in body.walk():
        if not may_repeat(op):
            return f"it has an effect ({op.prim.name}), which would happen twice"
        if op.prim in CUSTOMS or op.prim in (SEAM, LINEAR):
            return "it calls a function with rules of its own"
        if op.prim in (CALL, FUNC):
            return "it calls a recursive function"
    if any(v.type == STACK for v in free_values(body)):
        return "it is part of a derivative that is taken inside"
    if loop.range is not None and len(loop.range) > 3:
        return "it runs backwards"
    slots = _read(body)
    for k, (p, init) in enumerate(zip(body.params[1:], loop.inits)):
        if k in slots and p.type.kind in ("array", "any") and _may_be_unbound(init):
            return f"{p.hint or 'what it carries'} may have no value before it"
    return None


def _may_be_unbound(v: Any) -> bool:
    if type(v) is not Value:
        return v is UNDEF
    if v.op is None or v.op.prim not in (IF, LOOP, TRY):
        return False
    k = v.op.results.index(v)
    if v.op.prim is TRY:
        return True
    if v.op.prim is LOOP:
        return k < len(v.op.inits) and any(_may_be_unbound(x) for x in (v.op.inits[k], v.op.regions[0].exit[1 + k]))
    sides = v.op.regions[:1] if opset.is_checkpoint(v.op) else v.op.regions
    return any(_may_be_unbound(side.exit[k]) for side in sides)


def ends_early(body: Region) -> bool:
    """Some iteration may leave the loop."""
    return not (type(body.exit[0]) is int and body.exit[0] == 0)


def with_snapshots(loop: Op, region: Region, snapshots: Any, together: Any = 1, disk: Any = None) -> None:
    """Put a loop over the stretches between snapshots in the place of a loop. It carries the snapshots, too.

    together: how many iterations are reversed at a time, a number or a value; 1 if it is known to be one.
    disk: how many more snapshots there are on disk, and in which directory.
    """
    (body,) = loop.regions
    at = region.ops.index(loop)
    behind = region.ops[at + 1 :]
    del region.ops[at:]
    b = Builder(region)
    b.loc = loop.loc
    file = None
    if disk is not None:
        number, directory = disk
        arrays = len([k for k in slots_of(loop) if body.params[1 + k].type.kind in ("array", "any")])
        file = b.emit(SNAPSHOT_FILE, number, _times(b, snapshots, arrays), directory)
        file.hint = "file"
        snapshots = snapshots + number if type(snapshots) is type(number) is int else b.emit(ADD, snapshots, number)
    known = loop.range is not None and not ends_early(body)
    if known:
        trips, total = loop.trips, _of_known_length(b, loop, snapshots, together, file)
        region.ops += behind
        replace_values(region, {trips: total})  # all of them were made
    else:
        _of_unknown_length(b, loop, snapshots, together, file)
        region.ops += behind


def _of_known_length(b: Builder, loop: Op, snapshots: Any, together: Any, file: Any) -> Any:
    """The number of iterations."""
    (body,) = loop.regions
    assert loop.range is not None
    start, stop, step = loop.range
    inits, given, slots = loop.inits, list(loop.results), slots_of(loop)
    total = b.emit(RANGE_LEN, start, stop, step)
    steps = b.emit(SNAPSHOTS, total, snapshots, together)
    steps.hint = "steps"
    empty = _empty_lists(b, body, slots)
    outer = b.new_region()
    k = outer.param(py_int(), "k")
    carried = [outer.param(p.type, p.hint) for p in body.params[1:]]
    taken = [outer.param(e.type, e.hint) for e in empty]
    with b.inside(outer):
        first, last = b.emit(LIST_GET, steps, k), b.emit(LIST_GET, steps, b.emit(ADD, k, 1))
        held = [_and_one_of(b, l, carried[j], file) for l, j in zip(taken, slots)]
        loop.args = ((_from(b, start, step, first), _from(b, start, step, last), step), tuple(carried))
        loop.results = [Value(v.type, v.hint, loop) for v in given]
        b.append(loop)
        outer.exit = (0, *loop.carried, *held)
    count = b.emit(SUB, b.emit(LEN, steps), 1)
    marks = b.emit(LIST_SLICE, steps, None, count, None)
    marks.hint = "taken"
    reversal = (start, step, total, snapshots, together, marks, tuple(slots), file)
    new = Op(LOOP, ((0, count, 1), (*inits, *empty)), {"reversal": reversal}, (outer,), loop.loc)
    new.results = [*given[:-2], *[Value(e.type, e.hint, new) for e in empty]]
    new.results += [Value(py_int(), "stretches", new), given[-1]]
    for v in new.results:
        v.op = new
    b.append(new)
    return total


def _of_unknown_length(b: Builder, loop: Op, snapshots: Any, together: Any, file: Any) -> None:
    (body,) = loop.regions
    start, stop, step = (0, None, 1) if loop.range is None else loop.range
    inits, given, slots = loop.inits, list(loop.results), slots_of(loop)
    total = None if loop.range is None else b.emit(RANGE_LEN, start, stop, step)
    empty = _empty_lists(b, body, slots)
    nowhere = b.emit(LIST_NEW, ())
    nowhere.type, nowhere.hint = Ty("list", elem=py_int()), "taken"
    outer = b.new_region()
    outer.param(py_int(), "stretch")
    carried = [outer.param(p.type, p.hint) for p in body.params[1:]]
    taken = [outer.param(e.type, e.hint) for e in (*empty, nowhere)]
    distance, done, _ = [outer.param(py_int(), hint) for hint in ("distance", "done", "code")]
    with b.inside(outer):
        held = [_and_one_of(b, l, carried[j], file) for l, j in zip(taken, slots)]
        held.append(_typed(b.emit(LIST_APPEND, taken[-1], done), taken[-1]))
        sides = [b.new_region(), b.new_region()]
        with b.inside(sides[0]):
            thinned = [_typed(b.emit(LIST_SLICE, l, None, None, 2), l) for l in held]
            sides[0].exit = (*thinned, b.emit(MUL, 2, distance))
        sides[1].exit = (*held, distance)
        many = b.emit(GT, b.emit(LEN, held[-1]), snapshots)
        *held, wide = b.if_(
            many, sides[0], sides[1], [v.type for v in (*held, distance)], [v.hint for v in (*held, distance)]
        )
        last = b.emit(MUL, b.emit(ADD, b.emit(FLOOR_DIV, done, wide), 1), wide)
        if total is not None:
            last = b.emit(MIN, last, total)
        loop.args = ((_from(b, start, step, done), _from(b, start, step, last), step), tuple(carried))
        loop.results = [Value(v.type, v.hint, loop) for v in given]
        b.append(loop)
        now = b.emit(ADD, done, loop.trips)
        ends: Any = b.emit(NE, loop.exit_code, 0)
        if total is not None:
            ends = b.emit(OR, ends, b.emit(EQ, now, total))
        outer.exit = (ends, *loop.carried, *held, wide, now, loop.exit_code)
    new = Op(LOOP, (None, (*inits, *empty, nowhere, together, 0, 0)), {}, (outer,), loop.loc)
    lists = [Value(e.type, e.hint, new) for e in (*empty, nowhere)]
    new.results = [*given[:-2], *lists, Value(py_int(), "distance", new), given[-2], given[-1]]
    new.results += [Value(py_int(), "stretches", new), Value(py_int(), "stop", new)]
    for v in new.results:
        v.op = new
    b.append(new)
    new.kwargs["reversal"] = (start, step, None, snapshots, together, None, tuple(slots), file)


def slots_of(loop: Op) -> list[int]:
    """Which of the values that a loop carries belong to a snapshot: those that an iteration reads, and those whose
    shape its reversal may ask for."""
    read = _read(loop.regions[0])
    return [
        j for j, v in enumerate(loop.inits)
        if j in read or (not loop.results[j].type.is_scalar and not _may_be_unbound(v))
    ]  # fmt: skip


def _read(body: Region) -> list[int]:
    """Which of the values that a loop carries an iteration reads."""
    read = {v for op in body.walk() for v in op.operands()} | set(leaves(body.exit))
    read.update(v for op in body.walk() for r in op.regions for v in leaves(r.exit))
    return [j for j, p in enumerate(body.params[1:]) if p in read]


def _empty_lists(b: Builder, body: Region, slots: list[int]) -> list[Value]:
    empty = []
    for j in slots:
        p = body.params[1 + j]
        empty.append(b.emit(LIST_NEW, ()))
        empty[-1].type = Ty("list", elem=p.type)
        empty[-1].hint = f"{p.hint}_snapshots"
    return empty


def _from(b: Builder, start: Any, step: Any, trip: Any) -> Any:
    """The index of a trip."""
    offset = trip if type(step) is int and step == 1 else b.emit(MUL, trip, step)
    return offset if type(start) is int and start == 0 else b.emit(ADD, start, offset)


def _own(b: Builder, v: Value) -> Value:
    """An array of its own: the trips may store into the state."""
    return _typed(b.emit(opset.COPY, v), v) if v.type.kind in ("array", "any") else v


def _and_one_of(b: Builder, taken: Value, v: Value, file: Any) -> Value:
    """A list of snapshots with another one."""
    if file is None or v.type.kind not in ("array", "any"):
        one = _own(b, v)
    else:
        one = b.emit(SNAPSHOT, v, file, b.emit(LEN, taken))
        one.type = v.type
    return _typed(b.emit(LIST_APPEND, taken, one), taken)


def _times(b: Builder, number: Any, count: int) -> Any:
    return number * count if type(number) is int else number if count == 1 else b.emit(MUL, number, count)


def _typed(made: Value, like: Value) -> Value:
    made.type, made.hint = like.type, like.hint
    return made


def backward_reversal(r: Reverse, op: Op, env: Bars, adjoint: Adjoint) -> None:
    """Reverse a loop with the snapshots that it has taken: a loop over the actions of a schedule."""
    loop = next(inner for inner in op.regions[0].ops if inner.prim is LOOP)
    body = loop.regions[0]
    count = len(loop.inits)
    start, step, total, number, together, marks, kept, file = op.kwargs["reversal"]
    results, snapshots = op.carried[:count], op.carried[count : count + len(kept)]
    bars = [env.pop(v, None) for v in op.results][:count]
    free = [v for v in free_values(body, differentiable_operands) if v in r.active and v not in r.stacks]
    slots = [k for k in range(count) if bars[k] is not None or body.params[1 + k] in r.active]
    if not slots and not free:
        return
    b = r.b
    if total is None:  # the iteration that left the loop counts
        marks, done, code = op.carried[count + len(kept)], *op.carried[-2:]
        total = b.emit(ADD, done, b.emit(NE, code, 0))
    kinds, firsts, lasts = b.emit(REVERSAL, marks, total, number, together)
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
        return b.if_(b.emit(EQ, kind, code), sides[0], sides[1], types, hints)

    def advance() -> Sequence[Any]:
        again = clone_region(body, {})
        keep_all(again)
        again.exit = (0, *again.exit[1:])
        for inner in again.walk():
            inner.tag, inner.again = b.tag, True
        ends = (_from(b, start, step, first), _from(b, start, step, last), step)
        made = b.loop(ends, tuple(state), again, [v.type for v in loop.carried], [v.hint for v in loop.carried])
        return (*made[:count], *held, *own, *outer)

    def take() -> Sequence[Any]:
        now = [_and_one_of(b, l, state[j], file) for l, j in zip(held, kept)]
        return (*state, *now, *own, *outer)

    def go_back() -> Sequence[Any]:
        now = list(state)
        for l, j in zip(held, kept):
            now[j] = _own(b, _typed(b.emit(LIST_GET, l, -1), state[j]))
        return (*now, *held, *own, *outer)

    def drop() -> Sequence[Any]:
        return (*state, *[_typed(b.emit(LIST_DROP, l, -1, b.emit(LIST_GET, l, -1)), l) for l in held], *own, *outer)

    def reverse() -> Sequence[Any]:
        fn, reads = _as_step(body)
        ends = [_from(b, start, step, first)]
        if type(together) is Value:
            fn = _as_stretch(fn, step, loop.loc)
            ends.append(_from(b, start, step, last))
        wrt = [len(ends) + k for k in slots] + [len(ends) + count + reads.index(v) for v in free]
        seeds: list[Any] = [None if k in slots and type_of(v).may_be_float else False for k, v in enumerate(fn.results)]
        made = adjoint(fn, wrt, seeds=seeds, optimise=r.optimise, use_up=True)
        runs_again(made)
        seeded = [g for k, g in zip(slots, own) if seeds[k] is None]
        found = spliced(b, made, [*ends, *state, *reads, *seeded])
        sums = [b.emit(ADD if v.type.is_scalar else opset.ACCUM, g, more)
                for v, g, more in zip(free, outer, found[len(slots) :])]  # fmt: skip
        # What comes next goes back to a snapshot. So the trips may store into the state.
        back = list(found[: len(slots)])
        for at, k in enumerate(slots):
            if k not in kept and not own[at].type.is_scalar:
                back[at] = b.emit(opset.ZEROS, own[at])  # nothing reads it, and its shape is not known there
        return (*[UNDEF] * count, *held, *back, *sums)

    with b.inside(region, alone=True):
        kind, first, last = [b.emit(LIST_GET, l, at) for l in (kinds, firsts, lasts)]
        kind.hint, first.hint, last.hint = "action", "first", "last"
        done_so = choose(
            4, reverse, lambda: choose(2, go_back, lambda: choose(0, advance, lambda: choose(1, take, drop)))
        )
        region.exit = (0, *done_so)
    inits = [
        *op.inits[:count], *snapshots, *[r.or_zeros(bars[k], results[k]) for k in slots],
        *[r.or_zeros(env.get(v), v) for v in free],
    ]  # fmt: skip
    made = b.loop((0, b.emit(LEN, kinds), 1), tuple(inits), region, types, hints)
    made[0].op.kwargs["actions"] = True  # type: ignore[union-attr]
    keep_all(body)
    first_bar = count + len(kept)
    env.update(zip(free, made[first_bar + len(slots) :]))
    for k, g in zip(slots, made[first_bar:]):
        r.add(env, op.inits[k], g)


def runs_again(made: Function) -> None:
    """Mark the forward sweep of an adjoint that becomes part of a backward sweep."""
    for top in made.body.ops:
        for inner in (top, *[x for each in top.regions for x in each.walk()]) if top.tag != DERIVED else ():
            inner.again = True


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


def _as_stretch(step_: Function, step: Any, loc: Any) -> Function:
    """Trips from one number to another, as a function of these, and of what `step_` takes."""
    count, params = len(step_.results), step_.params
    made = Region(step_.body.dims)
    first, last = made.param(py_int(), "first"), made.param(py_int(), "last")
    state = [made.param(p.type, p.hint) for p in params[1 : 1 + count]]
    mapping = {p: made.param(p.type, p.hint) for p in params[1 + count :]}
    body = Region(made.dims.child())
    mapping.update((p, body.param(p.type, p.hint)) for p in params[: 1 + count])
    for inner in step_.body.ops:
        clone_op(inner, mapping, body)
    body.exit = (0, *substitute(step_.results, mapping))
    b = Builder(made)
    b.loc = loc
    types = [type_of(v) for v in step_.results]
    made.exit = tuple(b.loop((first, last, step), tuple(state), body, types, [p.hint for p in state])[:count])
    return Function("stretch", made)


def keep_all(region: Region) -> None:
    """Decide for the loops of a region that run, and are not reversed, as if the budget were large: they take no
    snapshots."""
    asked = [op for op in region.walk() if op.prim is KEEP_WITHIN]
    if asked:
        replace_values(region, {op.results[0]: True for op in asked})
        replace_values(region, fold_control(region))


__all__ = ["backward_reversal", "ends_early", "keep_all", "refusal", "runs_again", "slots_of", "with_snapshots"]
