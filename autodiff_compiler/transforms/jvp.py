"""Forward mode: from the SSA form of a function to that of the same function with tangents.

Takes a function and the parameters that get tangents. Gives a function with a tangent beside each active value.
Primal and tangent are computed in one sweep. An active value that a loop carries, a branch yields or a function takes
gets its tangent as one more carried value, result or parameter. So control flow stays what it is.

>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.printer import print_function
>>> def power(x):
...     y = x
...     for _ in range(3):
...         y = y * x
...     return y
>>> print(print_function(push_forward(lower(power, (2.0,), {}).function, [0])))
func power(%x: float, %x_dot: float) {
  %y2: float, %y_dot2: scalar float64, %trips: int, %code: int = loop %_: int in range(0, 3, 1) with (%y: float = %x, \
%y_dot: scalar float64 = %x_dot) {   # line 3
    %y3: float = * %y, %x   # line 4
    %v1: scalar float64 = * %y_dot, %x   # line 4
    %v2: float = * %x_dot, %y   # line 4
    %y_dot3: scalar float64 = + %v1, %v2   # line 4
    yield normal, %y3, %y_dot3
  }
  return %y2, %y_dot2
}
<BLANKLINE>
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.activity import activity, differentiable_operands, varied_values
from ..errors import UnsupportedError
from ..ir import opset
from ..ir.core import (
    CALL,
    COMPACT,
    DERIVED,
    FUNC,
    IF,
    LOOP,
    TRY,
    UNDEF,
    Builder,
    Function,
    Op,
    Prim,
    Region,
    Value,
    leaves,
    map_leaves,
    type_of,
)
from ..ir.custom import CUSTOM, CUSTOM_EFFECTS
from ..ir.opset import POP, PUSH, STACK_NEW, SUM_TO, ZEROS
from ..ir.rewrite import called, clone_function, replace_values
from ..ir.telling import give, with_suffix
from ..ir.types import Ty
from ..operations import lib, record, tangents
from ..operations.choices import PRODUCT
from ..operations.lib import WEIGHTS
from ..operations.signs import POWERS, positive
from . import algebra, lost
from .cotangents import cotangent_type, holds_records, named_arguments
from .custom_jvp import push_custom
from .unfit import covering
from .vjp import Reverse, is_on_records
from .zeros import holds_below, is_choice

Adjoint = Callable[[Function, list[int]], Function]


def push_forward(
    fn: Function, wrt: Sequence[int], handed_on: Container[int] = (), seeds: Sequence[Any] | None = None,
    adjoint: Adjoint | None = None,
) -> Function:  # fmt: skip
    """The function of fn's parameters, and of a tangent for each of the parameters numbered `wrt`, that returns fn's
    results and then their tangents. The tangent of a result that cannot carry one is None, and that of the results
    numbered `handed_on`, which are not differentiated. With `seeds`, these are the tangents of the parameters, and the
    function takes none.

    Tangents have the shapes and dtypes of the values that they belong to. `adjoint`: differentiates a function, to
    transpose what users have written for reverse mode only.
    """
    forward = clone_function(fn)[0]
    return Pushforward(forward, [forward.params[k] for k in wrt], handed_on, adjoint).run(fn, seeds)


class Tangents:
    """What rules ask of a tangent, see `transforms.zeros.Cotangents`: where it is zero for sure.

    bent: the values that do not follow the inputs piecewise along straight lines. Where the tangent of any other value
    is zero, the value does not move.
    """

    masks = True
    shared = False  # a tangent usually has one use

    def __init__(self, body: Region, bent: Container[Value]):
        self.body = body
        self.bent = bent
        self.steep: set[Value] = set()
        self.infinite = False  # the tangents of the operands at hand may be infinite
        self._chosen: dict[Value, bool] = {}

    def mask(self, g: Any, args: Any, level: int) -> bool:
        return True

    def may_be_infinite(self, g: Any) -> bool:
        return self.infinite

    def may_be_flat(self, g: Any, p: Any) -> bool:
        return False

    def decays(self, g: Any, out: Any) -> bool:
        return False

    def chosen(self, x: Value) -> bool:
        return holds_below(x, self._chosen, lambda v: is_choice(v, self.body))

    def may_be_dropped(self, g: Any) -> bool:
        return False  # a tangent is computed where the value is, which NumPy has divided

    def vanishes(self, g: Any, x: Any) -> bool:
        """Where the tangent of `x`, or of a part of it, is zero, that does not move, so a root of it does not either.

        Zero tangents are looked for where the program chooses: `max(x, 0.0)`.
        """
        parts = [v for v in leaves(x) if type(v) is Value]
        return not any(v in self.bent for v in parts) and any(map(self.chosen, parts))


class Pushforward:
    """Builds the tangents beside the operations of a function.

    dots:   the tangents so far. An active value without one has the tangent zero.
    orders: all that stands beside active values: the tangents alone. In `transforms.taylor` the coefficients of each
            order, of which the tangents are the first. Control flow treats all in the same way.
    """

    def __init__(
        self, fn: Function, wrt: list[Value], handed_on: Container[int] = (), adjoint: Adjoint | None = None,
        orders: int = 1,
    ):  # fmt: skip
        self.fn = fn
        self.adjoint = adjoint
        self.wrt = wrt
        self.handed_on = handed_on
        outputs = [v for k, v in enumerate(fn.body.exit) if k not in handed_on]
        for op in fn.body.walk():
            op.droppable = op.droppable or op.tag == DERIVED
            op.tag = op.tag if op.tag == COMPACT else None
        self.active, self.tainted = activity(fn.body, wrt, outputs)
        roots = [op.result for op in fn.body.walk() if has_infinite_slope(op) and op.result in self.active]
        self.steep: Container[Value] = varied_values(fn.body, roots) if roots else ()  # the tangent may be infinite
        curves = [r for op in fn.body.walk() if bends(op, self.active) for r in op.results] if roots else []
        self.tangents = Tangents(fn.body, varied_values(fn.body, curves) if curves else ())
        self.orders: list[dict[Value, Any]] = [{} for _ in range(orders)]
        self.dots = self.orders[0]
        self.replaced: dict[Value, Any] = {}  # results of calls with rules of their own, by what the rules give
        self.lost: dict[Value, Op] = {}  # text, tuples and the like that were made of active values
        self.caught = self.strict = 0  # how many blocks around catch exceptions, and how many make errors of warnings
        self.b = Builder(fn.body)
        algebra.install(self.b)
        self.b.tag = DERIVED
        self.b.cotangents = self.tangents

    def run(self, source: Function, seeds: Sequence[Any] | None = None) -> Function:
        body = self.fn.body
        for k, v in enumerate(self.wrt):
            self.dots[v] = body.param(v.type, self.hint(v, 0)) if seeds is None else seeds[k]
        with self.b.active():
            self.region(body)
            self.b.loc = None
            moving = [type_of(v).may_be_float and k not in self.handed_on for k, v in enumerate(body.exit)]
            out = [
                self.dot(v, dots) if moves else None for dots in self.orders for v, moves in zip(body.exit, moving)
            ]  # fmt: skip
        body.exit = (*body.exit, *out)
        replace_values(body, self.replaced)
        result = Function(source.name, body, dict(source.meta))
        return result

    # --- tangents -------------------------------------------------------------------------------------------------

    def dot(self, v: Any, dots: Mapping[Value, Any] | None = None) -> Any:
        """The tangent of a value, or what `dots` has beside it; zeros if there is none."""
        if v is UNDEF:
            return UNDEF
        found = (self.dots if dots is None else dots).get(v) if type(v) is Value else None
        if found is not None:
            return found
        return 0.0 if type_of(v).is_scalar else self.b.emit(ZEROS, v)

    def name(self, v: Value, t: Any) -> None:
        t = self.dots[v] = opset.as_value(self.b, t)
        give(t, dot_of(v))

    def has_tangent(self, v: Any) -> bool:
        """The value is active, and carries numbers that can have a tangent."""
        return type(v) is Value and v in self.active and carries(v)

    def hint(self, v: Value, order: int) -> str:
        """The hint for the name of what stands beside `v`."""
        return dot_of(v)

    def beside(self, op: Op, k: int, order: int) -> Value:
        """A result for the tangent of result number `k` of an operation with regions."""
        r = op.results[k]
        made = Value(tangent_type(r), self.hint(r, order), op)
        self.orders[order][r] = made
        return made

    def parameters(self, region: Region, params: Sequence[Value]) -> None:
        """Give a region parameters for what stands beside these of its own."""
        for order, dots in enumerate(self.orders):
            for p in params:
                dots[p] = region.param(tangent_type(p), self.hint(p, order))

    # --- operations -----------------------------------------------------------------------------------------------

    def region(self, region: Region) -> None:
        ops, region.ops = region.ops, []
        for op in ops:
            self.b.loc = op.loc
            if not op.regions:
                region.ops.append(op)
            PUSHED.get(op.prim, Pushforward.operation)(self, op)

    def operation(self, op: Op) -> None:
        results = [r for r in op.results if r in self.active]
        if not results or op.prim.nondiff:
            return
        if op in self.tainted:
            raise lost.tainted(op, self.tainted[op])
        operands = differentiable_operands(op)
        carry = any(map(carries, results))
        for v in operands:
            if v in self.lost and carry:
                maker = self.lost[v]
                raise lost.missing_rule(maker, self.argument_of(maker))
        if not any(v in self.dots for v in operands):
            self.lost.update((r, self.lost[v]) for r in results for v in operands if v in self.lost)
            return
        if not carry:
            self.lost.update((r, op) for r in results)
            return
        for v in (*op.operands(), *op.results):
            kind = v.type.dtype.kind if v.type.dtype is not None else ""
            if kind in ("O", "S", "U", "T") or (holds_records(v) and not is_on_records(op.prim)):
                raise lost.without_numbers(op)
        self.check_caught(op)
        self.b.loc = op.loc
        self.tangents.infinite = any(x in self.steep for x in op.operands())
        self.derive(op)

    def derive(self, op: Op) -> None:
        """Build the tangents of the results of one operation."""
        weighted = self.weighted(op, self.dots)
        if weighted is not None:
            self.name(op.result, weighted)
            return
        for r, t in zip(op.results, tangent(self.b, op, self.dots, self.active)):
            if t is not None:
                self.name(r, t)

    def weighted(self, op: Op, dots: Mapping[Value, Any]) -> Any:
        """The tangent of a product with a constant weight, where the other tangent may be infinite; otherwise None.

        Where the weight is zero, the tangent is zero, as in reverse mode. See `operations.lib.guarded`.
        """
        if op.prim not in PRODUCTS or not any(x in self.steep for x in op.operands()):
            return None
        for x, weight in (op.args, op.args[::-1]):
            if type(weight) is Value and weight not in self.dots and x in dots:
                if weight.type.dtype == lib.BOOL:
                    return tangents.fitted(lib.choose(weight, dots[x], 0.0), op.result)
                return tangents.fitted(self.b.emit(PRODUCT, weight, dots[x]), op.result)
        return None

    def argument_of(self, op: Op) -> str:
        return next((name for name, arg in named_arguments(op) if any(v in self.dots for v in leaves(arg))), "")

    def check_caught(self, op: Op) -> None:
        """A tangent must not raise where the function does not: a handler around would take another way."""
        by_python = not any(type_of(a).kind in ("array", "generic") for a in op.args)
        risky = self.strict or (by_python and has_infinite_slope(op))
        if self.caught and risky:
            raise UnsupportedError(
                f"the tangent of {op.prim.name} may raise an exception that the try statement around would catch",
                op.loc,
                "compute it before the try statement, or use arrays and no np.errstate",
            )

    def custom(self, op: Op) -> None:
        push_custom(self, op)

    def stack(self, op: Op) -> None:
        stack = op.result if op.prim is STACK_NEW else op.args[0]
        if stack not in self.active:
            return
        for order, dots in enumerate(self.orders):
            if op.prim is STACK_NEW:
                dots[stack] = self.b.emit(STACK_NEW)
                dots[stack].hint = self.hint(stack, order)
            elif op.prim is PUSH:
                self.b.emit(PUSH, dots[stack], self.dot(op.args[1], dots))
            else:
                t = dots[op.result] = self.b.emit(POP, dots[stack])
                t.type, t.hint = tangent_type(op.result), self.hint(op.result, order)

    # --- control flow ---------------------------------------------------------------------------------------------

    def append(self, op: Op) -> None:
        self.b.region.ops.append(op)

    def branch(self, op: Op) -> None:
        for inner in op.regions:
            with self.b.inside(inner):
                self.region(inner)
        for k in range(len(op.results)):
            outs = [inner.exit[k] for inner in op.regions]
            if not self.has_tangent(op.results[k]):
                continue
            for order, dots in enumerate(self.orders):
                if not any(type(out) is Value and out in dots for out in outs):
                    continue
                for inner, out in zip(op.regions, outs):
                    with self.b.inside(inner):
                        inner.exit = (*inner.exit, self.dot(out, dots))
                op.results.append(self.beside(op, k, order))
        self.append(op)

    def loop(self, op: Op) -> None:
        (body,) = op.regions
        range_, inits = op.args
        count = len(inits)
        slots = [
            k for k in range(count) if self.has_tangent(op.results[k]) or self.has_tangent(body.params[k + 1])
        ]  # fmt: skip
        starts = [self.dot(inits[k], dots) for dots in self.orders for k in slots]
        self.parameters(body, [body.params[k + 1] for k in slots])
        with self.b.inside(body):
            self.region(body)
            body.exit = (*body.exit, *[self.dot(body.exit[k + 1], dots) for dots in self.orders for k in slots])
        op.args = (range_, (*inits, *starts))
        op.results[count:count] = [self.beside(op, k, order) for order in range(len(self.orders)) for k in slots]
        self.append(op)

    def attempt(self, op: Op) -> None:
        (body,) = op.regions
        catches, context = op.args
        self.caught += bool(catches)
        self.strict += context is not None
        with self.b.inside(body):
            self.region(body)
        self.caught -= bool(catches)
        self.strict -= context is not None
        if op.results[1] in self.active:
            self.lost[op.results[1]] = op
        for k, out in enumerate(tuple(body.exit)):
            for order, dots in enumerate(self.orders):
                if self.has_tangent(op.results[2 + k]) and out in dots:
                    body.exit = (*body.exit, dots[out])
                    op.results.append(self.beside(op, 2 + k, order))
        self.append(op)

    # --- functions that call themselves ---------------------------------------------------------------------------

    def function(self, func: Op) -> None:
        (body,) = func.regions
        params, results = self.interface(func)
        self.parameters(body, params)
        self.append(func)  # it may call itself
        with self.b.inside(body, alone=True):
            self.region(body)
            body.exit = (*body.exit, *[self.dot(v, dots) for dots in self.orders for v in results])

    def interface(self, func: Op) -> tuple[list[Value], list[Value]]:
        """The parameters and the results of a function that have a tangent beside them."""
        (body,) = func.regions
        return [p for p in body.params if self.has_tangent(p)], [v for v in body.exit if self.has_tangent(v)]

    def call(self, op: Op) -> None:
        func = called(op)
        (body,) = func.regions
        given = len(op.args) - 1
        numbers = [k for k, p in enumerate(body.params[:given]) if self.has_tangent(p)]
        exits = body.exit[: len(op.results)]
        outs = [k for k, v in enumerate(exits) if self.has_tangent(v)]
        del self.b.region.ops[-1]
        given_dots = [self.dot(op.args[1 + k], dots) for dots in self.orders for k in numbers]
        self.append(op)
        op.args = (*op.args, *given_dots)
        op.results += [self.beside(op, k, order) for order in range(len(self.orders)) for k in outs]


# How to push tangents through operations that are more than a function of their operands.
PUSHED: dict[Prim, Callable[[Pushforward, Op], None]] = {
    IF: Pushforward.branch,
    LOOP: Pushforward.loop,
    TRY: Pushforward.attempt,
    FUNC: Pushforward.function,
    CALL: Pushforward.call,
    **dict.fromkeys((CUSTOM, CUSTOM_EFFECTS), lambda p, op: p.custom(op)),
    **dict.fromkeys((STACK_NEW, PUSH, POP), Pushforward.stack),
}


def dot_of(v: Value) -> str:
    """The hint for the name of the tangent of `v`."""
    return with_suffix(v, "_dot")


def has_infinite_slope(op: Op) -> bool:
    """The derivative may be infinite where the function is finite."""
    if op.prim.singular != WEIGHTS:
        return False
    if op.prim.fn in POWERS and type(op.args[1]) in (int, float):
        return bool(op.args[1] < 1 and op.args[1] != 0)
    return not positive(op.args[0])


PRODUCTS = (opset.MUL, opset.PRIMS[np.multiply])
# Piecewise linear, though no record says so.
_STRAIGHT = (opset.ABS, *[opset.PRIMS[fn] for fn in (max, min, np.absolute, np.fabs, math.fabs, np.clip)])


def bends(op: Op, active: Container[Value]) -> bool:
    """The results are not piecewise linear in the active operands, or that is not known."""
    moving = [name for name, arg in named_arguments(op) if any(v in active for v in leaves(arg))]
    prim = op.prim
    if op.regions or prim in (CALL, STACK_NEW, PUSH, POP) or not moving or prim.nondiff:
        return False  # what regions yield is looked at itself
    if prim in _STRAIGHT or prim.singular == lib.STEP or any(set(moving) <= set(group) for group in prim.linear):
        return False
    if "product" in prim.traits or "quotient" in prim.traits:
        return len(moving) > 1 or ("quotient" in prim.traits and moving != [prim.params[0]])
    partials = dict(zip(prim.params, prim.partials or ()))
    return not all(type(partials.get(name)) is int for name in moving)


def carries(v: Any) -> bool:
    """The value holds numbers that may have a tangent."""
    return type_of(v).may_be_float or holds_records(v)


def tangent_type(v: Any) -> Ty:
    """The facts that hold of any tangent of `v`: its shape, and its dtype where that is certain.

    They are those of a cotangent.
    """
    return type_of(v) if holds_records(v) else cotangent_type(v)


# --- one operation ----------------------------------------------------------------------------------------------------


def tangent(b: Builder, op: Op, dots: Mapping[Value, Any], useful: Any = None) -> tuple[Any, ...]:
    """The tangents of the results of one operation, from those of its operands. None stands for zero.

    useful: of several results, those whose tangents are needed.

    Raises an error with the location for an operation without a rule.
    """
    given: dict[str, Any] = {}
    dots = {v: dots[v] for v in differentiable_operands(op) if v in dots}
    for name, arg in named_arguments(op):
        d = in_structure(arg, dots)
        if d is None:
            continue
        given[name] = d
        if not tangents.column(op.prim, name):
            raise lost.missing_rule(op, name)
    args, kwargs = op.args, op.kwargs
    outs = tuple(op.results)
    out = outs[0] if op.prim.nout == 1 else outs
    with covering(op):
        found, rest = tangents.contributions(op.prim, out, args, kwargs, given)
        if rest:
            found.append(transposed(b, op, dots, rest, useful))
        t = tangents.total(op.prim, [f for f in found if f is not None], out, given)
        if t is not None and opset.converts(op):
            t = b.emit(opset.THROUGH, t, out)
    return (t,) if op.prim.nout == 1 else t


def in_structure(arg: Any, dots: Mapping[Value, Any]) -> Any:
    """The tangents of an argument, in its structure; None if it has none."""
    if isinstance(arg, (tuple, list)):
        items = [in_structure(x, dots) for x in arg]
        return None if all(d is None for d in items) else tuple(items)
    return dots.get(arg) if type(arg) is Value else None


def transposed(b: Builder, op: Op, dots: Mapping[Value, Any], names: list[str], useful: Any = None) -> Any:
    """The tangent by these arguments, from the transpose of the pullback.

    The pullback is linear in the cotangent. So the pullback of the pullback does not depend on the cotangent. For
    several results, the tangent is a tuple, with None for zero.
    """
    body = Region(b.dims.child())
    inner: dict[Value, Value] = {v: body.param(v.type, v.hint) for v in dict.fromkeys([*op.operands(), *op.results])}
    seeded = [r for r in op.results if r.type.may_be_float and (useful is None or r in useful)]
    first = len(body.params)
    bars = [body.param(cotangent_type(r), "g") if r in seeded else None for r in op.results]
    args, kwargs = map_leaves(inner.__getitem__, op.args), map_leaves(inner.__getitem__, op.kwargs)
    outs = tuple([inner[r] for r in op.results])
    one = op.prim.nout == 1
    pairs: list[tuple[Value, Any]] = []
    builder = Builder(body)
    builder.loc = op.loc
    algebra.install(builder)
    with builder.active():
        for name, arg in named_arguments(op):
            if name in names:
                rule = record.pullback(op.prim, name)
                assert rule is not None
                g = rule(bars[0] if one else tuple(bars), outs[0] if one else outs, *args, **kwargs)
                _pair(arg, g, pairs)
        pairs = [(v, builder.emit(SUM_TO, g, inner[v])) for v, g in pairs if v in dots]
    if not pairs:
        return None if one else (None,) * op.prim.nout
    body.exit = tuple([g for _, g in pairs])
    pullback = Function("pullback", body)
    pulled = Reverse(pullback, body.params[first:], True).run(None, False, pullback)
    env: dict[Value, Any] = dict(zip(pulled.params, [*inner, *seeded]))
    seeds = iter([dots[v] for v, g in pairs if type_of(g).may_be_float])
    env.update(zip(pulled.params[len(inner) + len(seeded) :], seeds))
    for made in pulled.body.ops:
        if made.regions:
            raise UnsupportedError(f"the tangent of {op.prim.name} is not known", op.loc, "give it a rule")
        new = b.emit(made.prim, *map_leaves(env.__getitem__, made.args), **map_leaves(env.__getitem__, made.kwargs))
        env.update(zip(made.results, (new,) if made.prim.nout == 1 else new))
    found = dict(zip(seeded, [map_leaves(env.__getitem__, x) for x in pulled.results]))
    return found.get(op.results[0]) if one else tuple([found.get(r) for r in op.results])


def _pair(arg: Any, g: Any, pairs: list[tuple[Value, Any]]) -> None:
    if g is None:
        return
    if isinstance(arg, (tuple, list)):
        for x, part in zip(arg, g):
            _pair(x, part, pairs)
    elif type(arg) is Value:
        pairs.append((arg, g))


__all__ = ["Pushforward", "in_structure", "push_forward", "tangent", "tangent_type", "transposed"]
