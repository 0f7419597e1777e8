"""Reverse mode of control flow: branches, ``try``, functions that call themselves, and stacks.

Takes an operation with regions and the cotangents of its results. Gives an operation with reversed regions: each runs
once for each run of the region that it reverses. `vjp` reverses the operations inside, and `vjp_loops` the loops.

>>> from autodiff_compiler.api.stages import show
>>> def f(x, y):
...     if x < y:
...         x = x * x
...     return x
>>> show(f, 0.5, 2.0, after="differentiate")  # residuals are not placed yet
func f(%x: float, %y: float) {
  %v1: bool = < %x, %y
  %x2: float = if %v1 {
    %x3: float = * %x, %x
    yield %x3
  } else {
    yield %x
  }
  %x_bar: float = if %v1 {
    %x_bar2: float = * 2.0, %x
    yield %x_bar2
  } else {
    yield 1.0
  }
  return %x_bar
}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analysis.activity import differentiable_operands
from ..analysis.exits import one_of
from ..ir.core import CALL, DERIVED, LOOP, UNDEF, Op, Region, Value, new_func, type_of
from ..ir.opset import POP, PUSH, is_checkpoint
from ..ir.rewrite import called, enclosing, free_values, region_of
from ..ir.types import Ty
from ..late import late
from ..records import record
from . import lost
from .cotangents import bar_of, cotangent_type, join_cotangents
from .paths import Kept, Mirror, Path

backward_checkpoint, reverses = late(__package__, "checkpoint", "backward_checkpoint", "reverses")

if TYPE_CHECKING:
    from .vjp import Bars, Reverse


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
    it hands these on. `source` is None if the path consists of a branch, which has regions of its own.
    """

    source: Region | None
    path: Path | None
    bars: list[tuple[Any, Any]]


def backward_if(r: Reverse, item: Op | Kept, env: Bars) -> None:
    cond, swapped = None, False
    if isinstance(item, Kept):
        op, paths = item.op, item.paths
        codes = item.codes()
        if codes is not None:
            owners = (region.op for region in enclosing(op.parent))
            loop = next(owner for owner in owners if owner is not None and owner.prim is LOOP)
            cond, holds = one_of(r.b, loop.exit_code, codes[0], codes[1], loop.parent)
            swapped = not holds
    elif r.adjoint is not None and is_checkpoint(item) and reverses(item):
        backward_checkpoint(r, item, env, r.adjoint)
        return
    else:
        op, paths = item, [Path(list(region.ops), [region]) for region in item.regions]
    bars = [env.pop(result, None) for result in op.results]
    sides = [Side(region, path, list(zip(region.exit, bars))) for region, path in zip(op.regions, paths)]
    branch(r, op.condition if cond is None else cond, sides[::-1] if swapped else sides, env)


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
    """Run one of two backward regions. Each starts from the cotangents `env` and its own. Where `cond` is True, the
    second one is none.

    likes: values of the same shapes, which are in scope in a side without a path.
    """
    regions: list[Region] = []
    envs: list[Bars] = []
    loc = r.b.loc
    if cond is True:
        del sides[1:]
    for side in sides:
        inner, region = dict(env), Region(r.b.region.dims.child())
        if side.path is None:
            inner.update((v, g) for v, g in side.bars if g is not None and v in r.active)
        else:
            if side.source is not None:
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
    exits: list[list[Any]] = [[] for _ in sides]
    types = []
    for v in touched:
        for side, region, inner, yielded in zip(sides, regions, envs, exits):
            with r.b.inside(region):
                yielded.append(r.or_zeros(inner.get(v), likes[v] if likes and v in likes and side.path is None else v))
        bars = [e[-1] for e in exits]
        types.append(join_cotangents(v, bars) if len(bars) > 1 else type_of(bars[0]))
    for region, yielded in zip(regions, exits):
        region.exit = tuple(yielded)
    if not touched and not any(_has_effects(region) for region in regions):
        return
    if cond is True:
        never = Region(r.b.region.dims.child())
        never.exit = (UNDEF,) * len(touched)
        regions.append(never)
    for v, result in zip(touched, r.b.if_(cond, regions[0], regions[1], types, [bar_of(v) for v in touched])):
        result.op.tag = DERIVED  # type: ignore[union-attr]
        env[v] = result


def _outlives(v: Value, sides: list[Side]) -> bool:
    """`v` is defined outside of the regions of the branch."""
    here = region_of(v)
    for side in sides:
        source = side.source
        if side.path is not None and source is not None and any(region is source for region in enclosing(here)):
            # A path through a loop's body ends where it starts: what was there before it outlives the branch.
            before = source.params if source.op is not None and source.op.prim is LOOP else ()
            if v not in before and (not before or v.op not in side.path.before):
                return False
    return True


def _has_effects(region: Region) -> bool:
    return any(op.prim.effects or op.prim is CALL for op in region.walk())
