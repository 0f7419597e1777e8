"""Reverse mode of loops.

Takes a loop and the cotangents of its results. Gives a loop over the completed iterations in reverse order. Where an
iteration may leave the loop, all iterations run up to the test that decides it: that part is reversed in the same loop
for all of them. What only the last iteration did is reversed in front of the loop, what only the others did under a
condition in it. If next to nothing lies in front of the test, the last iteration is reversed in front of the loop as a
whole.

>>> from autodiff_compiler.api.stages import show
>>> def f(x):
...     for _ in range(3):
...         x = x * x
...     return x
>>> show(f, 0.5, after="differentiate")  # the iterations in reverse; residuals are not saved yet
func f(%x: float) {
  %x3: float, %trips: int, %code: int = loop %_: int in range(0, 3, 1) with (%x2: float = %x) {
    %x4: float = * %x2, %x2
    yield normal, %x4
  }
  %x_bar2: scalar float64, %trips2: int, %code2: int =
  loop %_2: int in range(0, 3, 1, True) with (%x_bar: scalar float64 = 1.0) {
    %x_bar3: scalar float64 = * %x_bar, %x2
    %x_bar4: scalar float64 = * 2.0, %x_bar3
    yield normal, %x_bar4
  }
  return %x_bar2
}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..analysis.activity import differentiable_operands
from ..analysis.exits import LT, NE, codes_of, one_of
from ..ir import opset
from ..ir.core import CALL, DERIVED, UNDEF, Op, Region, Value, leaves
from ..ir.opset import ADD, POP, PUSH
from ..ir.rewrite import region_of
from ..ir.types import same_dtype
from ..late import late
from ..records import record
from .cotangents import bar_of, cotangent_type, in_either_dtype
from .paths import Bind, Kept, Path, Undecided, on_path, path_through, runs_on_both
from .vjp_control import Side, active_from_outside, branch, reversing

if TYPE_CHECKING:
    from .snapshots import backward_reversal
    from .vjp import Bars, Reverse
else:
    backward_reversal = late(__package__, "snapshots", "backward_reversal")

FEW = 3  # operations on active values in front of the test; the code for fewer may stand twice


@record
class Left:
    """How the loop over all iterations starts where the last one left the loop.

    others: the path of the other iterations, from the test on
    homes:  the value in front of the test whose cotangent a carried cotangent is in the last iteration, by its number
    bars:   the cotangents of other values in front of the test, in the last iteration
    """

    others: Path
    homes: dict[int, Value]
    bars: list[tuple[Value, Any]]


def backward_loop(r: Reverse, op: Op, env: Bars) -> None:
    if r.adjoint is not None and "reversal" in op.kwargs:
        backward_reversal(r, op, env, r.adjoint)
        return
    (body,) = op.regions
    bars = [env.pop(v, None) for v in op.carried]
    try:
        normal, leaving = path_through(body, exits=False), path_through(body, exits=True)
    except Undecided:
        bars = decided_again(r, op, bars, env)
    else:
        if leaving is None:
            assert normal is not None
            bars = reversed_iterations(r, op, normal, bars, op.trips, env, False)
        elif normal is None:
            bars = last_iteration(r, op, leaving, bars, env)
        else:
            bars = with_an_end(r, op, normal, leaving, bars, env)
    for init, g in zip(op.inits, bars):
        r.add(env, init, g)


def with_an_end(r: Reverse, op: Op, normal: Path, leaving: Path, bars: list[Any], env: Bars) -> list[Any]:
    """Reverse a loop of which some iterations go on and one may leave it."""
    body = op.regions[0]
    front = body.ops[:-1]  # in front of the ``if`` that decides
    others, last = (Path(path.items[len(front) :], path.sites, path.codes, front) for path in (normal, leaving))
    if runs_on_both(others, last):
        return decided_again(r, op, bars, env)
    homes = homes_of(r, op, last, bars)
    twice = runs_on_both(normal, leaving)  # what saves a value in each iteration
    shared: Sequence[Op] = front
    if homes is not None and (alone := _for_last_alone(r, op, others, last, homes, bars)):
        ours = [inner for inner in front if inner not in alone]
        longer = Path([*(inner for inner in front if inner in alone), *last.items], last.sites, last.codes, ours)
        if homes_of(r, op, longer, bars) == homes:
            shared, last, others = ours, longer, Path(others.items, others.sites, others.codes, ours)
    if homes is not None and (twice or _pays(r, op, others, last, bars)):
        bars, rest = end_of_last(r, op, last, bars, homes, env)
        total = r.b.emit(ADD, op.trips, 1 if op.range is None else r.b.emit(NE, op.exit_code, 0))
        return reversed_iterations(r, op, Path(list(shared), [body]), bars, total, env, True, Left(others, homes, rest))
    if twice:
        return decided_again(r, op, bars, env)
    bars = last_iteration(r, op, leaving, bars, env)
    return reversed_iterations(r, op, normal, bars, op.trips, env, True)


def _pays(r: Reverse, op: Op, others: Path, last: Path, bars: list[Any]) -> bool:
    """The last iteration has something to reverse in front of the test. It is much, or nothing behind it makes a
    difference between the last one and the others."""
    body = op.regions[0]
    needed = _needed(r, op, last, bars)
    many = sum(_is_active(r, inner) for outer in needed for inner in _with_inner(outer))
    behind = any(_is_active(r, inner) for inner in _operations(others))
    carried = [out for k, out in enumerate(body.exit[1:]) if _is_slot(r, op, k, bars)]
    used = [on_path(out, site) for out in carried for site in others.sites]
    handed_on = any(type(v) is Value and v in r.active and v.op in others.before for v in used)
    return (many >= FEW and (behind or handed_on)) or (many > 0 and handed_on and not behind)


def _needed(r: Reverse, op: Op, path: Path, bars: list[Any], ends: Sequence[Value] = ()) -> set[Op]:
    """The operations in front of the test to whose results a path behind it hands cotangents.

    ends: further values that have one
    """
    body = op.regions[0]
    found: set[Op] = set()
    read: set[Any] = set(ends)
    read.update(v for inner in _operations(path) for v in _read(inner))
    read.update(
        on_path(body.exit[1 + k], site) for k in range(len(bars)) if _is_slot(r, op, k, bars) for site in path.sites
    )
    for inner in reversed(path.before):
        # What hands values on to somewhere else is reversed in each iteration.
        hands_on = any(each.prim.effects or _passes_on(r, each) for each in _with_inner(inner))
        if hands_on or any(v in read and v in r.active for v in inner.results):
            found.add(inner)
            read.update(v for each in _with_inner(inner) for v in _read(each))
    return found


def _for_last_alone(
    r: Reverse, op: Op, others: Path, last: Path, homes: dict[int, Value], bars: list[Any]
) -> set[Op]:  # fmt: skip
    """The operations in front of the test that are reversed for the last iteration alone, as if they stood behind it:
    in the others, nothing hands a cotangent to their results."""
    rest = _needed(r, op, others, bars, list(homes.values()))
    return {
        inner
        for inner in _needed(r, op, last, bars)
        if inner not in rest and not inner.regions and not inner.prim.effects and inner.prim not in (CALL, PUSH, POP)
    }


def _is_slot(r: Reverse, op: Op, k: int, bars: list[Any]) -> bool:
    """The carried value has a cotangent."""
    return bars[k] is not None or op.regions[0].params[1 + k] in r.active


def _is_active(r: Reverse, op: Op) -> bool:
    return any(v in r.active for v in op.results)


def _with_inner(op: Op) -> list[Op]:
    return [op, *(inner for region in op.regions for inner in region.walk())]


def _operations(path: Path) -> list[Op]:
    """All operations on a path that are not decided."""
    out: list[Op] = []
    for item in path.items:
        if isinstance(item, Kept):
            out += [op for inner in item.paths for op in _operations(inner)]
        elif isinstance(item, Op):
            out += _with_inner(item)
    return out


# --- the iteration that left the loop -----------------------------------------------------------------------------


def last_iteration(r: Reverse, op: Op, path: Path, bars: list[Any], env: Bars) -> list[Any]:
    """Reverse the iteration that left the loop, if one did. Without one, the carried cotangents pass on."""
    (body,) = op.regions
    params = body.params[1:]
    sides = [Side(body, path, list(zip(body.exit[1:], bars))), Side(body, None, list(zip(params, bars)))]
    _if_left(r, op, path, sides, env, dict(zip(params, op.carried)))
    return [env.pop(v, None) for v in params]


def end_of_last(
    r: Reverse, op: Op, path: Path, bars: list[Any], homes: dict[int, Value], env: Bars
) -> tuple[list[Any], list[tuple[Value, Any]]]:
    """Reverse what the last iteration did behind the test. The cotangents that the loop over all iterations starts
    with, and those of values in front of the test that it does not carry."""
    (body,) = op.regions
    passed = [(v, bars[k]) for k, v in homes.items()]
    sides = [Side(body, path, list(zip(body.exit[1:], bars))), Side(body, None, passed)]
    _if_left(r, op, path, sides, env, {v: op.carried[k] for k, v in homes.items()})
    first = [env.pop(homes[k], None) if k in homes else None if op.range is None else g for k, g in enumerate(bars)]
    inside = [v for v in env if region_of(v) is body]
    return first, [(v, env.pop(v)) for v in inside]


def _if_left(r: Reverse, op: Op, path: Path, sides: list[Side], env: Bars, likes: dict[Value, Value]) -> None:
    """One of two sides: an iteration left the loop, or its range ran out."""
    if op.range is None:
        branch(r, True, sides, env, likes)
        return
    assert op.parent is not None
    codes = path.codes if codes_of(op.exit_code, op.parent) is not None else None
    if codes:
        cond, holds = one_of(r.b, op.exit_code, codes, {0}, op.parent)
    else:
        cond, holds = r.b.emit(NE, op.exit_code, 0), True
    branch(r, cond, sides if holds else sides[::-1], env, likes)


def homes_of(r: Reverse, op: Op, last: Path, bars: list[Any]) -> dict[int, Value] | None:
    """For carried values, by number, the value in front of the test that becomes it in the iteration that leaves the
    loop. None: the cotangent of an array in front of the test would have no place if the range ran out."""
    (body,) = op.regions
    homes: dict[int, Value] = {}
    ends: list[Any] = []
    for k, (param, out) in enumerate(zip(body.params[1:], body.exit[1:])):
        if not _is_slot(r, op, k, bars):
            continue
        found = [on_path(out, site) for site in last.sites]
        if bars[k] is not None:
            ends += found
        same = found[0] if all(x is found[0] for x in found) else None
        for v in (same, param):
            if type(v) is Value and v in r.active and region_of(v) is body and v not in homes.values():
                if all(_alike(r, v, x) for x in (param, out, op.carried[k])):
                    homes[k] = v
                    break
    if op.range is None:
        return homes
    read = [v for inner in _operations(last) for v in _read(inner)]
    here = [v for v in (*ends, *read) if type(v) is Value and v in r.active and region_of(v) is body]
    return homes if all(v.type.is_scalar or v in homes.values() for v in here) else None


def _read(op: Op) -> list[Value]:
    """The values on which the results of an operation may depend differentiably, by itself and by its exits."""
    return [*differentiable_operands(op), *(v for region in op.regions for v in leaves(region.exit))]


def _alike(r: Reverse, v: Value, other: Any) -> bool:
    """The cotangents of two values are of one kind, dtype and shape."""
    t, u = cotangent_type(v), cotangent_type(other)
    if t.kind != u.kind or not same_dtype(t.dtype, u.dtype) or t.elem != u.elem:
        return False
    if t.dims is None or u.dims is None:
        return t.dims is u.dims and t.kind == "list"
    return len(t.dims) == len(u.dims) and all(map(r.b.dims.same, t.dims, u.dims))


# --- the iterations -----------------------------------------------------------------------------------------------


def decided_again(r: Reverse, op: Op, bars: list[Any], env: Bars) -> list[Any]:
    """Reverse all iterations in one way, the last one too: its branches are decided again, by values that are saved.

    So it is where a branch or loop runs in the last iteration and in others, and saves one value per run.
    """
    (body,) = op.regions
    total = r.b.emit(ADD, op.trips, r.b.emit(NE, op.exit_code, 0))
    return reversed_iterations(r, op, Path(list(body.ops), [body]), bars, total, env, True)


def reversed_iterations(
    r: Reverse, op: Op, path: Path, bars: list[Any], trips: Any, env: Bars, ends_early: bool, left: Left | None = None
) -> list[Any]:
    """The loop over the last `trips` iterations in reverse.

    Takes the carried cotangents after these iterations. Gives those before. With `left`, the path leads to the test,
    and the first cotangents are those in front of the test of the iteration that left the loop.
    """
    (body,) = op.regions
    params, results = body.params[1:], op.carried
    free = active_from_outside(r, body)
    slots = [k for k in range(len(params)) if _is_slot(r, op, k, bars) or (left is not None and k in left.homes)]
    if not slots and not free and not any(_passes_on(r, inner_op) for inner_op in body.walk()):
        return bars
    range_ = _reversed_range(r, op, trips, ends_early)
    region = reversing(body, path.sites)
    index = region.param(body.params[0].type, body.params[0].hint)
    inits = [r.or_zeros(bars[k], results[k]) for k in slots] + [r.or_zeros(env.get(v), v) for v in free]
    carried = [region.param(in_either_dtype(body.exit[k + 1], results[k]), bar_of(params[k])) for k in slots]
    inner: Bars = {v: region.param(cotangent_type(v), bar_of(v)) for v in free}
    hints = [p.hint for p in (*carried, *inner.values())]
    with r.b.inside(region):
        given = [(body.exit[k + 1], p) for k, p in zip(slots, carried)]
        if left is None:
            for v, g in given:
                r.add(inner, v, g)
        else:
            own = [(left.homes[k], p) for k, p in zip(slots, carried) if k in left.homes]
            sides = [Side(_side(left.others), left.others, given), Side(body, None, [*own, *left.bars])]
            branch(r, _goes_on(r, op, index), sides, inner)
        r.backward(path, inner)
        yielded = [r.or_zeros(inner.get(params[k]), params[k]) for k in slots] + [inner[v] for v in free]
    region.exit = (0, *yielded)
    r.b.loc = op.loc
    # What nothing is bound to at first has no cotangent in the end: it is a number as before.
    firsts = [params[k] if op.inits[k] is UNDEF else op.inits[k] for k in slots]
    types = [in_either_dtype(v, params[k]) for v, k in zip(firsts, slots)] + [cotangent_type(v) for v in free]
    new = r.b.loop(range_, tuple(inits), region, types, hints)
    new[0].op.tag = DERIVED  # type: ignore[union-attr]
    out = list(bars)
    for k, g in zip(slots, new):
        out[k] = g
    env.update(zip(free, new[len(slots) :]))
    return out


def _side(path: Path) -> Region | None:
    """The side of the test that a path behind it goes through; None if it may be both."""
    last = path.items[-1]
    return last.op.regions[last.chosen] if isinstance(last, Bind) else None


def _goes_on(r: Reverse, op: Op, index: Value) -> Any:
    """Whether the iteration that is reversed did not leave the loop."""
    left_at = _left_at(r, op)
    forwards = op.range is None or (type(op.range[2]) is int and op.range[2] > 0 and not any(op.range[3:]))
    return r.b.emit(LT if forwards else NE, index, left_at)


def _passes_on(r: Reverse, op: Op) -> bool:
    """An operation that is reversed whatever comes out of its region: a call, and what hands values to another loop."""
    return op.prim is CALL or (op.prim in (PUSH, POP) and op.args[0] in r.active)


def _left_at(r: Reverse, op: Op) -> Any:
    """The value of the loop's variable behind the completed iterations."""
    if op.range is None:
        return op.trips
    start, stop, step, *flags = op.range
    if not (flags and flags[0]):
        return start + op.trips * step
    return start + (r.b.emit(opset.RANGE_LEN, start, stop, step) - 1 - op.trips) * step


def _reversed_range(r: Reverse, op: Op, trips: Any, ends_early: bool) -> tuple[Any, ...]:
    """The completed iterations of a loop in reverse order. If it does not end early, these are all of its range."""
    if op.range is None:
        return (0, trips, 1, True)
    start, stop, step, *flags = op.range
    backwards = bool(flags and flags[0])
    if not ends_early:
        return (start, stop, step, not backwards)
    if not backwards:
        return (start, start + trips * step, step, True)
    # The loop ran backwards from the end of the range: its completed iterations are the last of the range.
    last = start + (r.b.emit(opset.RANGE_LEN, start, stop, step) - 1) * step
    return (last - (trips - 1) * step, last + step, step, False)
