"""Reverse mode of control flow: branches, loops, ``try``, functions that call themselves, and stacks.

Takes an operation with regions and the cotangents of its results. Gives an operation with reversed regions: each runs
once for each run of the region that it reverses, in reverse order. `vjp` reverses the operations inside.

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

import operator
from typing import TYPE_CHECKING, Any

from ..analysis.activity import differentiable_operands
from ..ir import opset
from ..ir.core import CALL, DERIVED, LOOP, Op, Region, Value, new_func, type_of
from ..ir.opset import ADD, POP, PUSH
from ..ir.rewrite import called, enclosing, free_values, region_of
from ..ir.types import Ty
from ..records import record
from . import lost
from .checkpoint import backward_checkpoint, backward_reversal, reverses
from .cotangents import bar_of, cotangent_type, in_either_dtype, join_cotangents
from .paths import Kept, Mirror, Path, Undecided, path_through, runs_on_both

if TYPE_CHECKING:
    from .vjp import Bars, Reverse

NE = opset.PRIMS[operator.ne]


def nothing(r: Reverse, op: Op, env: Bars) -> None:
    """Reverse an operation that computes no values."""


def reversing(body: Region, sites: list[Region]) -> Region:
    """An empty region that will reverse `body`. See `Mirror` for `sites`."""
    region = Region(sites[0].dims if len(sites) == 1 else body.dims)
    region.tag = Mirror(body, sites)
    return region


def active_from_outside(r: Reverse, body: Region) -> list[Value]:
    """The values from outside that the region depends on differentiably. Stacks are reversed by themselves."""
    return [v for v in free_values(body, differentiable_operands) if v in r.active and v not in r.stacks]


# --- stacks -------------------------------------------------------------------------------------------------------


def backward_push(r: Reverse, op: Op, env: Bars) -> None:
    stack, v = op.args
    if stack not in r.active:
        return
    g = r.b.emit(POP, r.stacks[stack])
    if type(v) is Value and v in r.active:
        g.type = cotangent_type(v)
        r.add(env, v, g)


def backward_pop(r: Reverse, op: Op, env: Bars) -> None:
    g = env.pop(op.result, None)
    if op.args[0] in r.active:
        r.b.emit(PUSH, r.stacks[op.args[0]], r.or_zeros(g, op.result))


# --- functions that call themselves -------------------------------------------------------------------------------


@record
class Adjoint:
    """The adjoint of a function that calls itself.

    It takes the cotangents of the results numbered `results`. It returns those of the parameters numbered `params`, and
    then those of the values `free`, which the function reads from outside.
    """

    func: Value
    results: list[int]
    params: list[int]
    free: list[Value]


def adjoint_function(r: Reverse, func: Op) -> None:
    """Build the adjoint of a function."""
    (body,) = func.regions
    results = [k for k, v in enumerate(body.exit) if type(v) is Value and v in r.active]
    params = [k for k, v in enumerate(body.params) if v in r.active]
    free = active_from_outside(r, body)
    inner_values = (v for op in body.walk() for v in op.results)
    if not params and not free and not any(v in r.active for v in inner_values):
        return
    region = reversing(body, [body])
    made = new_func(region, f"{func.result.hint}_bar", func.loc)
    r.adjoints[func] = Adjoint(made.result, results, params, free)
    inner: Bars = {}
    with r.b.inside(region):
        for k in results:
            out = body.exit[k]
            r.add(inner, out, region.param(cotangent_type(out), f"{out.hint or 'out'}_bar"))
        r.backward(Path(list(body.ops), [body]), inner)
        region.exit = tuple([r.or_zeros(inner.get(v), v) for v in [*[body.params[k] for k in params], *free]])
    r.b.loc = func.loc
    r.b.append(made)


def backward_call(r: Reverse, op: Op, env: Bars) -> None:
    """Reverse a call, even if nothing needs its cotangents: the residuals that it has pushed have to be popped."""
    bars = [env.pop(v, None) for v in op.results]
    adjoint = r.adjoints.get(called(op))
    if adjoint is None:
        return
    seeds = [r.or_zeros(bars[k], op.results[k]) for k in adjoint.results]
    body = called(op).regions[0]
    targets = [*[op.args[1 + k] for k in adjoint.params], *adjoint.free]
    types = [_as_given(cotangent_type(body.params[k]), type_of(op.args[1 + k])) for k in adjoint.params]
    types += [cotangent_type(v) for v in adjoint.free]
    for v, g in zip(targets, r.b.call(adjoint.func, tuple(seeds), types, [bar_of(v) for v in targets])):
        r.add(env, v, g)


def _as_given(t: Ty, given: Ty) -> Ty:
    """The type of a parameter's cotangent, with the shape of the argument."""
    if t.is_scalar:
        return t
    if t.kind in ("array", "any") and given.dims is not None:
        return Ty(t.kind, t.dtype, given.dims)
    return Ty(t.kind, t.dtype, None) if t.dims is not None and t.kind != "list" else t


# --- branches -----------------------------------------------------------------------------------------------------


@record
class Side:
    """One of two backward regions.

    It reverses `path` through the forward region `source`, from the cotangents `bars` of some values on. Without a path
    it hands these on.
    """

    source: Region
    path: Path | None
    bars: list[tuple[Any, Any]]


def backward_if(r: Reverse, item: Op | Kept, env: Bars) -> None:
    if isinstance(item, Kept):
        op, paths = item.op, item.paths
    elif r.adjoint is not None and reverses(item):
        backward_checkpoint(r, item, env, r.adjoint)
        return
    else:
        op, paths = item, [Path(list(region.ops), [region]) for region in item.regions]
    bars = [env.pop(result, None) for result in op.results]
    sides = [Side(region, path, list(zip(region.exit, bars))) for region, path in zip(op.regions, paths)]
    branch(r, op.condition, sides, env)


def backward_try(r: Reverse, op: Op, env: Bars) -> None:
    """The region is reversed if it was completed; otherwise nothing of it is left."""
    (body,) = op.regions
    completed, error, *results = op.results
    bars = [(out, env.pop(v, None)) for v, out in zip(results, body.exit)]
    if error in env:
        raise lost.crossing(op)
    path = Path(list(body.ops), [body])
    if op.catch:
        branch(r, completed, [Side(body, path, bars), Side(body, None, [])], env)
        return
    for out, g in bars:
        r.add(env, out, g)
    r.backward(path, env)


def branch(r: Reverse, cond: Any, sides: list[Side], env: Bars, likes: dict[Value, Value] | None = None) -> None:
    """Run one of two backward regions. Each starts from the cotangents `env` and its own.

    likes: values of the same shapes, which are in scope in a side without a path.
    """
    regions: list[Region] = []
    envs: list[Bars] = []
    loc = r.b.loc
    for side in sides:
        inner = dict(env)
        if side.path is None:
            region = Region(r.b.region.dims.child())
            inner.update((v, g) for v, g in side.bars if g is not None and v in r.active)
        else:
            region = reversing(side.source, side.path.sites)
            with r.b.inside(region):
                for v, g in side.bars:
                    r.add(inner, v, g)
                r.backward(side.path, inner)
        regions.append(region)
        envs.append(inner)
    r.b.loc = loc
    touched: dict[Value, None] = {}
    for inner in envs:
        for v, g in inner.items():
            if (v not in env or env[v] is not g) and v not in touched and _outlives(v, sides):
                touched[v] = None
    exits: list[list[Any]] = [[], []]
    types = []
    for v in touched:
        for side, region, inner, yielded in zip(sides, regions, envs, exits):
            with r.b.inside(region):
                yielded.append(r.or_zeros(inner.get(v), likes[v] if likes and v in likes and side.path is None else v))
        types.append(join_cotangents(v, [e[-1] for e in exits]))
    for region, yielded in zip(regions, exits):
        region.exit = tuple(yielded)
    if not touched and not any(_has_effects(region) for region in regions):
        return
    for v, result in zip(touched, r.b.if_(cond, regions[0], regions[1], types, [bar_of(v) for v in touched])):
        result.op.tag = DERIVED  # type: ignore[union-attr]
        env[v] = result


def _outlives(v: Value, sides: list[Side]) -> bool:
    """`v` is defined outside of the regions of the branch."""
    here = region_of(v)
    for side in sides:
        source = side.source
        if side.path is not None and any(region is source for region in enclosing(here)):
            # A path through a loop's body ends at the body's own start: its parameters outlive the branch.
            if not (source.op is not None and source.op.prim is LOOP and v in source.params):
                return False
    return True


def _has_effects(region: Region) -> bool:
    return any(op.prim.effects or op.prim is CALL for op in region.walk())


# --- loops --------------------------------------------------------------------------------------------------------


def backward_loop(r: Reverse, op: Op, env: Bars) -> None:
    if r.adjoint is not None and "reversal" in op.kwargs:
        backward_reversal(r, op, env, r.adjoint)
        return
    (body,) = op.regions
    params, results, trips, code = body.params[1:], op.carried, op.trips, op.exit_code
    bars = [env.pop(v, None) for v in results]
    try:
        normal = path_through(body, exits=False)
        leaving = path_through(body, exits=True)
        told_apart = normal is None or leaving is None or not runs_on_both(normal, leaving)
    except Undecided:
        told_apart = False
    if not told_apart:
        # Regions that run on both paths save one value per run. So the iteration that left is reversed like the
        # others, and its branches are decided again.
        normal, leaving = Path(list(body.ops), [body]), None
        trips = r.b.emit(ADD, trips, r.b.emit(NE, code, 0))
    if leaving is not None:
        # The iteration that left the loop comes first in reverse. Without one, the carried cotangents pass on.
        sides = [Side(body, leaving, list(zip(body.exit[1:], bars))), Side(body, None, list(zip(params, bars)))]
        branch(r, r.b.emit(NE, code, 0), sides, env, dict(zip(params, results)))
        bars = [env.pop(v, None) for v in params]
    if normal is not None:
        ends_early = leaving is not None or not told_apart
        bars = reversed_iterations(r, op, normal, bars, trips, env, ends_early)
    for init, g in zip(op.inits, bars):
        r.add(env, init, g)


def reversed_iterations(
    r: Reverse, op: Op, path: Path, bars: list[Any], trips: Any, env: Bars, ends_early: bool
) -> list[Any]:
    """The loop over the completed iterations in reverse.

    Takes the carried cotangents after these iterations. Gives those before.
    """
    (body,) = op.regions
    params, results = body.params[1:], op.carried
    free = active_from_outside(r, body)
    slots = [k for k, v in enumerate(params) if bars[k] is not None or v in r.active]
    if not slots and not free and not any(_passes_on(r, inner_op) for inner_op in body.walk()):
        return bars
    range_ = _reversed_range(r, op, trips, ends_early)
    region = reversing(body, path.sites)
    region.param(body.params[0].type, body.params[0].hint)
    inits = [r.or_zeros(bars[k], results[k]) for k in slots] + [r.or_zeros(env.get(v), v) for v in free]
    carried = [region.param(in_either_dtype(body.exit[k + 1], results[k]), bar_of(params[k])) for k in slots]
    inner: Bars = {v: region.param(cotangent_type(v), bar_of(v)) for v in free}
    hints = [p.hint for p in (*carried, *inner.values())]
    with r.b.inside(region):
        for k, p in zip(slots, carried):
            r.add(inner, body.exit[k + 1], p)
        r.backward(path, inner)
        yielded = [r.or_zeros(inner.get(params[k]), params[k]) for k in slots] + [inner[v] for v in free]
    region.exit = (0, *yielded)
    r.b.loc = op.loc
    types = [in_either_dtype(op.inits[k], params[k]) for k in slots] + [cotangent_type(v) for v in free]
    new = r.b.loop(range_, tuple(inits), region, types, hints)
    new[0].op.tag = DERIVED  # type: ignore[union-attr]
    out = list(bars)
    for k, g in zip(slots, new):
        out[k] = g
    env.update(zip(free, new[len(slots) :]))
    return out


def _passes_on(r: Reverse, op: Op) -> bool:
    """An operation that is reversed whatever comes out of its region: a call, and what hands values to another loop."""
    return op.prim is CALL or (op.prim in (PUSH, POP) and op.args[0] in r.active)


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
