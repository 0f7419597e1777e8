"""Reverse mode: from the SSA form of a function to the SSA form of its adjoint.

Takes a function and the parameters to differentiate by. Gives one function with the forward sweep, then the backward
sweep. The backward sweep is built first. It reads forward values by name, wherever they are defined. `residuals` then
decides where each of them comes from. So what is saved is exactly what is read.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show
>>> def f(x):
...     y = x
...     if x > 0.0:
...         h = np.sin(x)
...         y = h * h
...     return y
>>> show(f, 0.5, after="differentiate")  # the backward sweep reads `h` of the forward branch
func f(%x: float) {
  %v1: bool = > %x, 0.0
  %y: scalar float64, %h: float64, %v2: bool = if %v1 {
    %h2: float64 = np.sin %x
    %y2: float64 = * %h2, %h2
    yield %y2, %h2, True
  } else {
    yield %x, undef, False
  }
  %x_bar: scalar float64 = if %v1 {
    %h_bar: float64 = * 2.0, %h2
    %v3: float64 = np.cos %x
    %x_bar2: float64 = * %h_bar, %v3
    yield %x_bar2
  } else {
    yield 1.0
  }
  return %x_bar
}

Reference: Griewank and Walther, Evaluating Derivatives (2008), chapters 3 and 12.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis.activity import activity, differentiable_operands
from ..ir import opset
from ..ir.core import (
    CALL,
    DERIVED,
    FUNC,
    IF,
    LOOP,
    TRY,
    Builder,
    Function,
    Op,
    Region,
    Value,
    leaves,
    new_func,
    type_of,
)
from ..ir.opset import ACCUM, ADD, ADDAT, GET, MUL, POP, PUSH, SET, STACK_NEW, SUM_TO, ZEROS
from ..ir.rewrite import called, clone_function, enclosing, free_values, region_of
from ..ir.types import Ty
from ..operations import record
from . import algebra, lost
from .cotangents import (
    adds_axes,
    computed_of,
    cotangent_type,
    fits,
    hint_of,
    holds_records,
    in_either_dtype,
    join_cotangents,
    last_addend,
    named_arguments,
)
from .lists import added_at
from .paths import Bind, Kept, Mirror, Path, Undecided, path_through, runs_on_both
from .unfit import contribution_of
from .zeros import Cotangents

NE = opset.PRIMS[operator.ne]


@dataclass
class Adjoint:
    """The adjoint of a function that calls itself.

    It takes the cotangents of the results numbered `results`. It returns those of the parameters numbered `params`, and
    then those of the values `free`, which the function reads from outside.
    """

    func: Value
    results: list[int]
    params: list[int]
    free: list[Value]


def differentiate(
    fn: Function, wrt: Sequence[int], *, seeds: Sequence[Any] | None = None, keep_results: bool = False,
    optimise: bool = True, use_up: bool = False, masks: bool | None = True,
) -> Function:  # fmt: skip
    """The adjoint of `fn` with respect to the parameters numbered `wrt`.

    The result takes fn's parameters, then a cotangent for each result whose seed is None. It returns fn's results if
    `keep_results`, then one cotangent for each of `wrt`. ``meta["forward_ops"]`` counts the operations of the forward
    sweep. Without `optimise`, operations are what the rules say, and whatever is out of scope is saved. `use_up`: the
    result is built in `fn`, which nobody needs any more. `masks`: zeros that are sure stay zero beside infinity;
    see `transforms.zeros.Cotangents`.
    """
    forward = fn if use_up else clone_function(fn)[0]
    reverse = Reverse(forward, [forward.params[i] for i in wrt], optimise, masks)
    return reverse.run(seeds, keep_results, fn)


class Reverse:
    def __init__(self, forward: Function, wrt: list[Value], optimise: bool, masks: bool | None = True):
        self.fn = forward
        self.optimise = optimise
        self.wrt = wrt
        for op in forward.body.walk():
            op.droppable, op.tag = op.droppable or op.tag == DERIVED, None
        self.active, self.tainted = activity(forward.body, wrt)
        self.stacks: dict[Value, Value] = {}  # from a forward stack to the stack of its cotangents
        self.adjoints: dict[Op, Adjoint] = {}
        self.b = Builder(forward.body)
        if optimise:
            algebra.install(self.b)
        self.b.tag = DERIVED
        self.b.cotangents = Cotangents(self.b, forward.body, wrt, masks)

    def run(self, seeds: Sequence[Any] | None, keep_results: bool, source: Function) -> Function:
        body = self.fn.body
        forward_results = body.exit
        count = len(body.ops)
        ops = list(body.ops)
        body.tag = Mirror(body, [body])
        env: dict[Value, Any] = {}
        new_params: list[Value] = []
        with self.b.active():
            for k, out in enumerate(forward_results):
                seed = seeds[k] if seeds is not None else None
                if seed is False:
                    continue  # a result that is handed on, not differentiated
                if seed is None:
                    t = type_of(out)
                    if not t.may_be_float:
                        continue
                    # The caller has given it the result's shape and dtype.
                    t = cotangent_type(out) if t.kind == "array" and t.dims is not None else Ty("any", None, t.dims)
                    seed = body.param(t, f"{hint_of(out) or 'out'}_bar")
                    new_params.append(seed)
                if type(out) is Value and out in self.active:
                    self.add(env, out, seed)
            # Also for stacks of a branch or an iteration: it leaves them empty, and so does its reversal.
            for op in [op for top in ops for op in (top, *(x for r in top.regions for x in r.walk()))]:
                if op.prim is STACK_NEW and op.result in self.active:
                    self.stacks[op.result] = self.b.emit(STACK_NEW)
                    self.stacks[op.result].hint = f"{op.result.hint}_bar"
            for op in ops:
                if op.prim is FUNC:
                    self.adjoint_function(op)
            self.backward(Path(list(ops), [body]), env)
            grads = []
            for v in self.wrt:
                g = env.get(v)
                if g is None:
                    g = self.b.emit(ZEROS, v)
                grads.append(g)
        body.exit = (tuple(forward_results) if keep_results else ()) + tuple(grads)
        result = Function(source.name, body, dict(source.meta))
        result.meta["forward_ops"] = count
        result.meta["seed_params"] = len(new_params)
        return result

    # --- cotangents -----------------------------------------------------------------------------------------------

    def add(self, env: dict[Value, Any], v: Any, g: Any) -> None:
        """Add a contribution to the cotangent of `v`."""
        if type(v) is not Value or v not in self.active or g is None:
            return
        g = self.b.emit(SUM_TO, g, v)
        known = env.get(v)
        if known is None:
            env[v] = g
        elif known is g and type(g) is Value and g.type.is_float:
            env[v] = self.b.emit(MUL, 2.0, g)
        elif last_addend(known) is g and type(g) is Value and g.type.is_float:
            env[v] = self.b.emit(known.op.prim, known.op.args[0], self.b.emit(MUL, 2.0, g))
        elif v.type.is_scalar:
            env[v] = self.b.emit(ADD, known, g)
        elif holds_records(v):
            env[v] = self.add_records(known, (), g, v.type.dtype)
        else:
            env[v] = self.b.emit(ACCUM, known, g)
        bar = env[v]
        if type(bar) is Value and not bar.hint and v.hint:
            bar.hint = f"{v.hint}_bar"

    def add_records(self, base: Any, path: tuple[Any, ...], g: Any, dtype: Any) -> Any:
        """Cotangents of records added at a path, field by field: of the array of all of it, as subscripts may copy."""
        for name in dtype.names:
            field = (("index", (name,)),)
            if dtype[name].names is not None or (dtype[name].shape and path):
                raise lost.without_numbers_at(self.b.loc)
            if dtype[name].base.kind in "fc":
                base = self.b.emit(ADDAT, base, (*field, *path), self.b.emit(GET, g, field))
        return base

    def zeros(self, v: Value) -> Any:
        return 0.0 if v.type.is_scalar else self.b.emit(ZEROS, v)

    # --- operations -----------------------------------------------------------------------------------------------

    def backward(self, path: Path, env: dict[Value, Any]) -> None:
        for item in reversed(path.items):
            if isinstance(item, Bind):
                chosen = item.op.regions[item.chosen]
                for result, arg in zip(item.op.results, chosen.exit):
                    self.add(env, arg, env.pop(result, None))
                continue
            op = item.op if isinstance(item, Kept) else item
            self.b.loc = op.loc
            if op.prim is IF:
                paths = item.paths if isinstance(item, Kept) else [Path(list(r.ops), [r]) for r in op.regions]
                self.backward_if(op, paths, env)
            elif op.prim is LOOP:
                self.backward_loop(op, env)
            elif op.prim is TRY:
                self.backward_try(op, env)
            elif op.prim is PUSH:
                stack, v = op.args
                if stack in self.active:
                    g = self.b.emit(POP, self.stacks[stack])
                    if type(v) is Value and v in self.active:
                        g.type = cotangent_type(v)
                        self.add(env, v, g)
            elif op.prim is POP:
                g = env.pop(op.result, None)
                if op.args[0] in self.active:
                    self.b.emit(PUSH, self.stacks[op.args[0]], self.zeros(op.result) if g is None else g)
            elif op.prim is CALL:
                self.backward_call(op, env)
            elif op.prim is not FUNC and any(r in env for r in op.results):
                self.backward_op(op, env)

    def backward_op(self, op: Op, env: dict[Value, Any]) -> None:
        bars = [env.pop(r, None) for r in op.results]
        if op in self.tainted:
            raise lost.tainted(op, self.tainted[op])
        for r in op.results:
            if r.type.dtype is not None and r.type.dtype.kind in ("OSUT" if op.prim in ON_RECORDS else "OSUTV"):
                raise lost.without_numbers(op)
        if op.prim not in ON_RECORDS and any(map(holds_records, op.operands())):
            raise lost.without_numbers(op)
        if op.prim is SET:
            a, path, v = op.args
            g = bars[0]
            if holds_records(g) and holds_records(self.b.emit(GET, g, path)) and not holds_records(v):
                raise lost.without_numbers(op)
            if opset.is_whole(path) or opset.is_whole_scalar(a, path):
                self.add(env, v, g)
                return
            g = self.array_like(g, a)
            if type(v) is Value and v in self.active:
                part = self.b.emit(GET if opset.is_plain_path(path) else opset.GET_STORED, g, path)
                self.add(env, v, part)
            if a in self.active:
                self.add(env, a, self.b.emit(SET, g, path, 0.0))
            return
        if op.prim is opset.GET_STORED:
            a, path = op.args
            part = self.match_part(op, bars[0])
            self.add(env, a, self.b.emit(SET, self.b.emit(ZEROS, a), path, part))
            return
        if op.prim is GET:
            a, path = op.args
            if (a.type.is_scalar and adds_axes(path)) or opset.is_whole_scalar(a, path):
                self.add(env, a, self.match_part(op, bars[0]))
                return
            if a.type.is_scalar:
                from ..errors import RuleLookupError

                raise RuleLookupError("a subscript of a number", op.loc, "make it an array with np.asarray")
            if a.type.dims == () and not holds_records(a):
                # All that is read is the one element. The cotangent may be one of NumPy's numbers, which has no parts.
                self.add(env, a, self.b.emit(SUM_TO, self.match_part(op, bars[0]), a))
                return
            known = env.get(a)
            base = self.b.emit(ZEROS, a) if known is None else self.array_like(known, a)
            if holds_records(a) and not (holds_records(op.result) or op.result.type.is_float):
                raise lost.without_numbers(op)  # several fields at once
            if holds_records(op.result):
                env[a] = self.add_records(base, path, bars[0], op.result.type.dtype)
                return
            env[a] = self.b.emit(ADDAT, base, path, self.match_part(op, bars[0]))
            if not env[a].hint and a.hint:
                env[a].hint = f"{a.hint}_bar"
            return
        if op.prim is opset.LIST_GET:
            a, index = op.args
            known = env.get(a)
            if a in self.active:
                base = self.b.emit(ZEROS, a) if known is None else known
                env[a] = added_at(self.b, base, index, self.match_part(op, bars[0]))
            return
        if op.prim is opset.LIST_SLICE:
            a, *bounds = op.args
            base = self.b.emit(ZEROS, a) if env.get(a) is None else env[a]
            env[a] = self.b.emit(opset.LIST_ADDSLICE, base, *bounds, bars[0])
            return
        g = bars[0] if op.prim.nout == 1 else tuple(bars)
        out = op.results[0] if op.prim.nout == 1 else tuple(op.results)
        named = list(named_arguments(op))
        if op.prim in (opset.LIST_APPEND, opset.LIST_SET, opset.LIST_INSERT, opset.LIST_SPLICE):
            named.reverse()  # the item's cotangent is read before it leaves the list: no copy of the list
        for name, arg in named:
            if arg not in self.active if type(arg) is Value else self.active.isdisjoint(leaves(arg)):
                continue
            rule = record.pullback(op.prim, name)
            if rule is None:
                if op.prim.nondiff:
                    continue
                raise lost.missing_rule(op, name)
            contribution = contribution_of(op, rule, g, out)
            if not fits(arg, contribution):
                raise lost.container_given(op, name)
            self.distribute(env, arg, self.over_result(op, contribution, g))

    def over_result(self, op: Op, contribution: Any, g: Any) -> Any:
        """Broadcast the contribution of an elementwise operation to its result. `add` then sums over the axes that the
        operand lacks, so it has to see all of them. A rule that cancels a factor of the cotangent `g` loses axes."""
        if op.prim.elementwise and contribution is not None and len(op.results) == 1:
            have, want = type_of(contribution).dims, op.result.type.dims
            if have is not None and want is not None and not computed_of(contribution, g):
                if len(have) != len(want) or not all(map(self.b.dims.same, have, want)):
                    return self.b.emit(opset.SPREAD, contribution, op.result)
        return contribution

    def match_part(self, op: Op, g: Any) -> Any:
        """The cotangent of an element or a slice: of its shape."""
        return self.b.emit(SUM_TO, g, op.result)

    def array_like(self, g: Any, a: Value) -> Any:
        """A cotangent that a part is stored into: NumPy makes numbers of arrays without axes."""
        if a.type.dims != () or type_of(g).kind == "array":
            return g
        return self.b.emit(SET, self.b.emit(ZEROS, a), (("index", (Ellipsis,)),), g)

    def distribute(self, env: dict[Value, Any], arg: Any, g: Any) -> None:
        if g is None:
            return
        if isinstance(arg, (tuple, list)):
            for item, part in zip(arg, g):
                self.distribute(env, item, part)
        else:
            self.add(env, arg, g)

    # --- functions that call themselves ---------------------------------------------------------------------------

    def adjoint_function(self, func: Op) -> None:
        """Build the adjoint of a function; its region runs once for each run of the function's, in reverse order."""
        (body,) = func.regions
        results = [k for k, v in enumerate(body.exit) if type(v) is Value and v in self.active]
        params = [k for k, v in enumerate(body.params) if v in self.active]
        free = [v for v in free_values(body, differentiable_operands) if v in self.active and v not in self.stacks]
        inside = (v for op in body.walk() for v in op.results)
        if not params and not free and not any(v in self.active for v in inside):
            return
        region = Region(body.dims)
        region.tag = Mirror(body, [body])
        made = new_func(region, f"{func.result.hint}_bar", func.loc)
        self.adjoints[func] = Adjoint(made.result, results, params, free)
        inner: dict[Value, Any] = {}
        with self.b.inside(region):
            for k in results:
                out = body.exit[k]
                self.add(inner, out, region.param(cotangent_type(out), f"{out.hint or 'out'}_bar"))
            self.backward(Path(list(body.ops), [body]), inner)
            out = []
            for v in [*[body.params[k] for k in params], *free]:
                g = inner.get(v)
                out.append(self.zeros(v) if g is None else g)
        region.exit = tuple(out)
        self.b.loc = func.loc
        self.b.append(made)

    def backward_call(self, op: Op, env: dict[Value, Any]) -> None:
        """Reverse a call, even if nothing needs its cotangents: the residuals that it has pushed have to be popped."""
        bars = [env.pop(r, None) for r in op.results]
        adjoint = self.adjoints.get(called(op))
        if adjoint is None:
            return
        seeds = [self.zeros(op.results[k]) if bars[k] is None else bars[k] for k in adjoint.results]
        types, hints, targets = [], [], []
        region = called(op).regions[0]
        for k in adjoint.params:
            arg = op.args[1 + k]
            t = cotangent_type(region.params[k])
            given = type_of(arg)
            if t.kind in ("array", "any") and given.dims is not None and not t.is_scalar:
                t = Ty(t.kind, t.dtype, given.dims)
            elif t.dims is not None and t.kind != "list" and not t.is_scalar:
                t = Ty(t.kind, t.dtype, None)
            types.append(t)
            targets.append(arg)
        for v in adjoint.free:
            types.append(cotangent_type(v))
            targets.append(v)
        hints = [f"{v.hint}_bar" if type(v) is Value and v.hint else "" for v in targets]
        for v, g in zip(targets, self.b.call(adjoint.func, tuple(seeds), types, hints)):
            self.add(env, v, g)

    # --- control flow ---------------------------------------------------------------------------------------------

    def backward_if(self, op: Op, paths: list[Path], env: dict[Value, Any]) -> None:
        bars = [(result, env.pop(result, None)) for result in op.results]
        self.branch(
            op.args[0],
            [(op.regions[k], paths[k], [(op.regions[k].exit[n], g) for n, (_, g) in enumerate(bars)]) for k in (0, 1)],
            env,
        )

    def backward_try(self, op: Op, env: dict[Value, Any]) -> None:
        """The region is reversed if it was completed; otherwise nothing of it is left."""
        (body,) = op.regions
        completed, error, *results = op.results
        bars = [(out, env.pop(r, None)) for r, out in zip(results, body.exit)]
        if error in env:
            raise lost.crossing(op)
        path = Path(list(body.ops), [body])
        if op.args[0]:
            self.branch(completed, [(body, path, bars), (body, None, [])], env)
            return
        for out, g in bars:
            self.add(env, out, g)
        self.backward(path, env)

    def branch(
        self, cond: Any, sides: list[tuple[Region, Path | None, list[tuple[Any, Any]]]], env: dict[Value, Any],
        likes: dict[Value, Value] | None = None,
    ) -> None:  # fmt: skip
        """Run one of two backward regions; each starts from `env` plus the cotangents given for some values.

        A side without path passes its cotangents on; `likes` names values of the same shapes that are in scope there.
        """
        regions: list[Region] = []
        envs: list[dict[Value, Any]] = []
        loc = self.b.loc
        for source, path, bars in sides:
            sites = path.sites if path is not None else [source]
            region = Region(sites[0].dims if len(sites) == 1 else source.dims)
            region.tag = Mirror(source, sites) if path is not None else None
            if path is None:
                region.dims = self.b.region.dims.child()
            inner = dict(env)
            with self.b.inside(region):
                if path is None:
                    inner.update((v, g) for v, g in bars if g is not None and v in self.active)
                else:
                    for v, g in bars:
                        self.add(inner, v, g)
                    self.backward(path, inner)
            regions.append(region)
            envs.append(inner)
        self.b.loc = loc
        touched: list[Value] = []
        for inner in envs:
            for v, g in inner.items():
                if (v not in env or env[v] is not g) and v not in touched and self.outlives(v, sides):
                    touched.append(v)
        exits: list[list[Any]] = [[], []]
        types, hints = [], []
        for v in touched:
            for k in (0, 1):
                g = envs[k].get(v)
                if g is None:
                    with self.b.inside(regions[k]):
                        g = self.zeros(likes[v] if likes and v in likes and sides[k][1] is None else v)
                exits[k].append(g)
            types.append(join_cotangents(v, [e[-1] for e in exits]))
            hints.append(f"{v.hint}_bar" if v.hint else "")
        for region, out in zip(regions, exits):
            region.exit = tuple(out)
        if not touched and not any(has_effects(r) for r in regions):
            return
        for v, result in zip(touched, self.b.if_(cond, regions[0], regions[1], types, hints)):
            result.op.tag = DERIVED  # type: ignore[union-attr]
            env[v] = result

    def outlives(self, v: Value, sides: list[tuple[Region, Path | None, list[tuple[Any, Any]]]]) -> bool:
        """`v` is defined outside of the regions of the branch."""
        here = region_of(v)
        for source, path, _ in sides:
            if path is not None and inside(here, source):
                # A path through a loop's body ends at the body's own start: its parameters outlive the branch.
                if source.op is not None and source.op.prim is LOOP and v in source.params:
                    continue
                return False
        return True

    def backward_loop(self, op: Op, env: dict[Value, Any]) -> None:
        (body,) = op.regions
        inits = op.args[1]
        *results, trips, code = op.results
        slots = [
            k for k, r in enumerate(results) if body.params[k + 1] in self.active or r in self.active
        ]  # fmt: skip
        bars = {k: env.pop(results[k], None) for k in range(len(results))}
        params = [body.params[k + 1] for k in range(len(results))]
        try:
            normal = path_through(body, exits=False)
            leaving = path_through(body, exits=True)
            told_apart = normal is None or leaving is None or not runs_on_both(normal, leaving)
        except Undecided:
            normal = leaving = None
            told_apart = False
        if not told_apart:
            # Regions that run on both paths save one value per run. So the iteration that left is reversed like the
            # others, and its branches are decided again.
            normal, leaving = Path(list(body.ops), [body]), None
            trips = self.b.emit(ADD, trips, self.b.emit(NE, code, 0))
            self.reversed_iterations(op, body, normal, slots, bars, params, trips, env, True)
            for k in range(len(results)):
                if k in slots:
                    self.add(env, inits[k], bars[k])
            return
        if leaving is not None:
            # The iteration that left the loop comes first in reverse. Without one, the carried cotangents pass on.
            self.branch(
                self.b.emit(NE, code, 0),
                [
                    (body, leaving, [(body.exit[k + 1], bars[k]) for k in range(len(results))]),
                    (body, None, [(params[k], bars[k]) for k in range(len(results))]),
                ],
                env,
                dict(zip(params, results)),
            )
            bars = {k: env.pop(params[k], None) for k in range(len(results))}
        if normal is not None:
            self.reversed_iterations(op, body, normal, slots, bars, params, trips, env, leaving is not None)
            for k in range(len(results)):
                if k in slots:
                    self.add(env, inits[k], bars[k])
        else:
            for k in range(len(results)):
                self.add(env, inits[k], bars[k])

    def reversed_iterations(
        self, op: Op, body: Region, path: Path, slots: list[int], bars: dict[int, Any], params: list[Value], trips: Any,
        env: dict[Value, Any], partial: bool,
    ) -> None:  # fmt: skip
        """The loop over the completed iterations in reverse; `bars` holds the carried cotangents, before and after."""
        results = op.results[:-2]
        free = [v for v in free_values(body, differentiable_operands) if v in self.active and v not in self.stacks]
        slots = [k for k in slots if bars[k] is not None or params[k] in self.active]
        if not slots and not any(bars.values()):
            if not free and not any(inner_op.prim is CALL for inner_op in body.walk()):
                return
        range_ = op.args[0]
        if range_ is None:
            reverse: tuple[Any, ...] = (0, trips, 1, True)
        elif not partial:
            reverse = (range_[0], range_[1], range_[2], not (len(range_) > 3 and range_[3]))
        else:
            start, stop, step = range_[:3]
            if len(range_) > 3 and range_[3]:
                # The loop ran backwards from the end of the range: its completed iterations are the last of the range.
                last = start + (self.b.emit(opset.RANGE_LEN, start, stop, step) - 1) * step
                reverse = (last - (trips - 1) * step, last + step, step, False)
            else:
                reverse = (start, start + trips * step, step, True)
        region = Region(path.sites[0].dims if len(path.sites) == 1 else body.dims)
        region.tag = Mirror(body, path.sites)
        region.param(body.params[0].type, body.params[0].hint)
        inits = []
        carried: list[Value] = []
        inner: dict[Value, Any] = {}
        for k in slots:
            init = bars[k]
            inits.append(self.zeros(results[k]) if init is None else init)
            carried.append(
                region.param(
                    in_either_dtype(body.exit[k + 1], results[k]), f"{params[k].hint}_bar" if params[k].hint else ""
                )
            )
        for v in free:
            known = env.get(v)
            inits.append(self.zeros(v) if known is None else known)
            carried.append(region.param(cotangent_type(v), f"{v.hint}_bar" if v.hint else ""))
        for v, p in zip(free, carried[len(slots) :]):
            inner[v] = p
        out: list[Any] = []
        with self.b.inside(region):
            for k, p in zip(slots, carried):
                self.add(inner, body.exit[k + 1], p)
            self.backward(path, inner)
            for k in slots:
                g = inner.get(params[k])
                out.append(self.zeros(params[k]) if g is None else g)
            out += [inner[v] for v in free]
        region.exit = (0, *out)
        self.b.loc = op.loc
        types = [in_either_dtype(op.args[1][k], params[k]) for k in slots] + [cotangent_type(v) for v in free]
        new = self.b.loop(reverse, tuple(inits), region, types, [p.hint for p in carried])
        new[0].op.tag = DERIVED  # type: ignore[union-attr]
        for k, r in zip(slots, new):
            bars[k] = r
        for v, r in zip(free, new[len(slots) :]):
            env[v] = r


def inside(region: Region, ancestor: Region) -> bool:
    return any(r is ancestor for r in enclosing(region))


def has_effects(region: Region) -> bool:
    return any(op.prim.effects or op.prim is CALL for op in region.walk())


ON_RECORDS = frozenset({GET, SET, opset.COPY, opset.PRIMS[np.copy]})


__all__ = ["ON_RECORDS", "Reverse", "cotangent_type", "differentiate", "holds_records", "named_arguments"]
