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

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..analysis.activity import activity
from ..ir import opset
from ..ir.core import CALL, COMPACT, DERIVED, FUNC, IF, LOOP, TRY, Builder, Function, Op, Prim, Value, leaves, type_of
from ..ir.custom import CUSTOMS, LINEAR, SEAM
from ..ir.opset import ACCUM, ADD, ADDAT, GET, MUL, POP, PUSH, SET, STACK_NEW, SUB, SUM_TO, ZEROS
from ..ir.rewrite import clone_function, collect_uses
from ..ir.telling import Telling, give
from ..ir.types import Ty
from ..late import late
from ..operations import record
from ..operations.indexing import put_back
from . import algebra, lost, vjp_control, vjp_loops
from .common import is_only_read
from .cotangents import (
    adds_axes,
    bar_of,
    computed_of,
    cotangent_type,
    fits,
    hint_of,
    holds_records,
    last_addend,
    minuend,
    named_arguments,
)
from .paths import Bind, Kept, Mirror, Path
from .simplify import decides_again
from .unfit import contribution_of
from .zeros import Cotangents

backward_linear, backward_seam = late(__package__, "custom", "backward_linear", "backward_seam")
settle, with_seams = late(__package__, "custom", "settle", "with_seams")
added_at = late(__package__, "lists", "added_at")

Bars = dict[Value, Any]  # the cotangents of values, as far as they are known


def differentiate(
    fn: Function, wrt: Sequence[int], *, seeds: Sequence[Any] | None = None, keep_results: bool = False,
    optimise: bool = True, use_up: bool = False, masks: bool | None = True, transposed: bool = False,
    adjoint: Any = None,
) -> Function:  # fmt: skip
    """The adjoint of `fn` with respect to the parameters numbered `wrt`.

    The result takes fn's parameters, then a cotangent for each result whose seed is None. A result whose seed is False
    is handed on, and not differentiated. The adjoint returns fn's results if
    `keep_results`, then one cotangent for each of `wrt`. ``meta["forward_ops"]`` counts the operations of the forward
    sweep. Without `optimise`, operations are what the rules say, and whatever is out of scope is saved. `use_up`: the
    result is built in `fn`, which nobody needs any more. `adjoint`: what makes the adjoints of checkpoints; without it,
    they are reversed as branches are. `masks`: zeros that are sure stay zero beside infinity;
    `transposed`: cotangents stand for tangents; see `transforms.zeros.Cotangents`.
    """
    forward = fn if use_up else clone_function(fn)[0]
    outputs = None if seeds is None else [v for v, seed in zip(forward.body.exit, seeds) if seed is not False]
    wanted = [forward.params[i] for i in wrt]
    reverse = Reverse(forward, wanted, optimise, masks, outputs, adjoint, transposed)
    return reverse.run(seeds, keep_results, fn)


class Reverse:
    def __init__(
        self, forward: Function, wrt: list[Value], optimise: bool, masks: bool | None = True,
        outputs: list[Any] | None = None, adjoint: Any = None, transposed: bool = False,
    ):  # fmt: skip
        self.fn = forward
        self.adjoint = adjoint
        self.optimise = optimise
        self.wrt = wrt
        for op in forward.body.walk():
            op.droppable = op.droppable or (op.tag == DERIVED and not decides_again(op))
            op.tag = op.tag if op.tag == COMPACT else None
        prims = {op.prim for op in forward.body.walk()}
        if not CUSTOMS.isdisjoint(prims):
            outputs = with_seams(forward, wrt, outputs)
        self.custom = not prims.isdisjoint((*CUSTOMS, SEAM, LINEAR))
        self.active, self.tainted = activity(forward.body, wrt, outputs)
        self.stacks: dict[Value, Value] = {}  # from a forward stack to the stack of its cotangents
        self.adjoints: dict[Op, vjp_control.Adjoint] = {}
        self.uses = collect_uses(forward.body) if optimise else {}
        self.b = Builder(forward.body)
        if optimise:
            algebra.install(self.b)
        self.b.tag = DERIVED
        self.b.cotangents = Cotangents(self.b, forward.body, wrt, masks, transposed)

    def run(self, seeds: Sequence[Any] | None, keep_results: bool, source: Function) -> Function:
        body = self.fn.body
        forward_results = body.exit
        count = len(body.ops)
        ops = list(body.ops)
        body.tag = Mirror(body, [body])
        env: Bars = {}
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
                    known = t.kind == "array" and t.dims is not None
                    t = cotangent_type(out) if known else Ty("any", None, t.dims, duck=t.duck)
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
                    vjp_control.adjoint_function(self, op)
            self.backward(Path(list(ops), [body]), env)
            grads = [self.b.emit(ZEROS, v) if env.get(v) is None else env[v] for v in self.wrt]
        body.exit = (tuple(forward_results) if keep_results else ()) + tuple(grads)
        if self.custom:
            settle(body)
        for op in body.walk():
            op.kwargs.pop("reversal", None)  # what the loop carries is not what it was from here on
        result = Function(source.name, body, dict(source.meta))
        result.meta["forward_ops"] = count
        result.meta["seed_params"] = len(new_params)
        return result

    # --- cotangents -----------------------------------------------------------------------------------------------

    def add(self, env: Bars, v: Any, g: Any) -> None:
        """Add a contribution to the cotangent of `v`."""
        if type(v) is not Value or v not in self.active or g is None:
            return
        g = opset.as_value(self.b, self.b.emit(SUM_TO, g, v))
        known = env.get(v)
        if known is None:
            env[v] = g
        elif known is g and type(g) is Value and g.type.is_float:
            env[v] = self.b.emit(MUL, 2.0, g)
        elif last_addend(known) is g and type(g) is Value and g.type.is_float:
            env[v] = self.b.emit(known.op.prim, known.op.args[0], self.b.emit(MUL, 2.0, g))
        elif minuend(known) is g and type(g) is Value and g.type.is_float:
            env[v] = self.b.emit(SUB, self.b.emit(MUL, 2.0, g), known.op.args[1])
        elif v.type.is_scalar:
            env[v] = self.b.emit(ADD, known, g)
        elif holds_records(v):
            env[v] = self.add_records(known, (), g, v.type.dtype)
        else:
            env[v] = self.b.emit(ACCUM, known, g)
        bar = env[v]
        if type(bar) is Value and (bar.op is None or bar.op.tag == DERIVED):
            hint = bar_of(v)
            # An element of a cotangent is called that, rather than what it is the cotangent of as well.
            if type(hint) is not Telling or bar.op is None or bar.op.prim is not GET:
                give(bar, hint)

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

    def or_zeros(self, g: Any, v: Value) -> Any:
        """The cotangent of `v`, which is zero if there was no contribution."""
        return self.zeros(v) if g is None else g

    # --- operations -----------------------------------------------------------------------------------------------

    def backward(self, path: Path, env: Bars) -> None:
        """Reverse the operations of a path, the last one first."""
        if self.optimise:
            self.know(path)
        for item in reversed(path.items):
            if isinstance(item, Bind):
                chosen = item.op.regions[item.chosen]
                for result, arg in zip(item.op.results, chosen.exit):
                    self.add(env, arg, env.pop(result, None))
                continue
            op = item.op if isinstance(item, Kept) else item
            self.b.loc = op.loc
            if op.prim in CONTROL:
                CONTROL[op.prim](self, item, env)
            elif any(r in env for r in op.results):
                self.backward_op(op, env)

    def know(self, path: Path) -> None:
        """Do not compute again what the operations of a path have computed, unless it costs so little that no array is
        to be kept for it."""
        for item in path.items:
            if type(item) is Op and all(is_only_read(r, self.uses) for r in item.results):
                if item.prim.work is None or all(r.type.is_scalar for r in item.results):
                    self.b.know(item)

    def backward_op(self, op: Op, env: Bars) -> None:
        """Reverse an operation with a cotangent for one of its results."""
        bars = [env.pop(r, None) for r in op.results]
        if op in self.tainted:
            raise lost.tainted(op, self.tainted[op])
        for r in op.results:
            if r.type.dtype is not None and r.type.dtype.kind in ("OSUT" if is_on_records(op.prim) else "OSUTV"):
                raise lost.without_numbers(op)
        if not is_on_records(op.prim) and any(map(holds_records, op.operands())):
            raise lost.without_numbers(op)
        backward_one = READS_AND_STORES.get(op.prim)
        if backward_one is not None:
            backward_one(self, op, bars[0], env)
        else:
            self.by_rules(op, bars, env)

    def by_rules(self, op: Op, bars: list[Any], env: Bars) -> None:
        """Reverse an operation by the rules of its arguments, see `operations`."""
        g = bars[0] if op.prim.nout == 1 else tuple(bars)
        out = op.results[0] if op.prim.nout == 1 else tuple(op.results)
        if opset.converts(op):
            g = self.b.emit(opset.THROUGH, g, out)
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

    def distribute(self, env: Bars, arg: Any, g: Any) -> None:
        if g is None:
            return
        if isinstance(arg, (tuple, list)):
            for item, part in zip(arg, g):
                self.distribute(env, item, part)
        else:
            self.add(env, arg, g)


# --- subscripts and stores ----------------------------------------------------------------------------------------


def _backward_set(r: Reverse, op: Op, g: Any, env: Bars) -> None:
    a, path, v = op.args
    if holds_records(g) and holds_records(r.b.emit(GET, g, path)) and not holds_records(v):
        raise lost.without_numbers(op)
    if opset.is_whole(path) or opset.is_whole_scalar(a, path):
        r.add(env, v, r.b.emit(opset.THROUGH, g, a) if opset.converts(op) else g)
        return
    g = r.array_like(g, a)
    if type(v) is Value and v in r.active:
        read = r.b.emit(GET if opset.is_plain_path(path) else opset.GET_STORED, g, path)
        r.add(env, v, r.b.emit(opset.THROUGH, read, a) if opset.converts(op) else read)
    if a in r.active:
        r.add(env, a, r.b.emit(SET, g, path, 0.0))


def _backward_get(r: Reverse, op: Op, g: Any, env: Bars) -> None:
    a, path = op.args
    if (a.type.is_scalar and adds_axes(path)) or opset.is_whole_scalar(a, path):
        r.add(env, a, r.match_part(op, g))
        return
    if a.type.is_scalar or ((a.type.dims == () or opset.is_whole(path)) and not holds_records(a)):
        # All of it is read, or its one element. The cotangent may be one of NumPy's numbers, which has no parts.
        r.add(env, a, r.b.emit(SUM_TO, r.match_part(op, g), a))
        return
    whole = put_back(a, path, r.match_part(op, g)) if not holds_records(a) else None
    if whole is not None:
        r.add(env, a, whole)
        return
    known = env.get(a)
    base = r.b.emit(ZEROS, a) if known is None else r.array_like(known, a)
    if holds_records(a) and not (holds_records(op.result) or op.result.type.is_float):
        raise lost.without_numbers(op)  # several fields at once
    if holds_records(op.result):
        env[a] = r.add_records(base, path, g, op.result.type.dtype)
        return
    env[a] = r.b.emit(ADDAT, base, path, r.match_part(op, g))
    give(env[a], bar_of(a))


def _backward_list_get(r: Reverse, op: Op, g: Any, env: Bars) -> None:
    a, index = op.args
    if a in r.active:
        env[a] = added_at(r.b, r.or_zeros(env.get(a), a), index, r.match_part(op, g))


def _backward_list_slice(r: Reverse, op: Op, g: Any, env: Bars) -> None:
    a, *bounds = op.args
    env[a] = r.b.emit(opset.LIST_ADDSLICE, r.or_zeros(env.get(a), a), *bounds, g)


# How to reverse operations that add to the cotangent of an array or list in place.
READS_AND_STORES: dict[Prim, Callable[[Reverse, Op, Any, Bars], None]] = {
    SET: _backward_set,
    GET: _backward_get,
    opset.LIST_GET: _backward_list_get,
    opset.LIST_SLICE: _backward_list_slice,
}
# How to reverse operations with regions and the stacks between them. They are reversed even without a cotangent.
CONTROL: dict[Prim, Callable[[Reverse, Any, Bars], None]] = {
    IF: vjp_control.backward_if,
    LOOP: vjp_loops.backward_loop,
    TRY: vjp_control.backward_try,
    CALL: vjp_control.backward_call,
    FUNC: vjp_control.nothing,
    PUSH: vjp_control.backward_push,
    POP: vjp_control.backward_pop,
    SEAM: backward_seam,
    LINEAR: backward_linear,
}
_ON_RECORDS = (GET, SET, opset.COPY)
_COPY = np.copy


def is_on_records(prim: Prim) -> bool:
    """The operation may hand on arrays of records."""
    return prim in _ON_RECORDS or prim.fn is _COPY


__all__ = ["Reverse", "differentiate", "is_on_records"]
