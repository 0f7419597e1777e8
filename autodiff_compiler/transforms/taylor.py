"""Taylor mode: from the SSA form of a function to that of the same function with Taylor coefficients.

Takes a function, the parameters that move along a direction, and an order k. Gives a function with k values beside each
active value: the coefficients of t, t**2, ..., t**k of what it is when the parameters are ``x + t * direction``. The
value itself is the coefficient of order 0. Control flow stays what it is, as in `transforms.jvp`.

One mechanism serves all operations that have a tangent: ``y' = T(x, x', y)`` as a function of t. The rules of the
record build T, and the coefficients of what T computes are found in lockstep with those of `y`: coefficient j of `y`
is coefficient j - 1 of T, divided by j. That needs coefficients of `y` below j only, so ``sin`` may ask for ``cos``,
and ``cos`` for ``sin``. This stands on recurrences of three kinds: of operations that are linear, of products, and of
quotients and solutions of linear equations, see Griewank and Walther, "Evaluating Derivatives", 2nd ed. (2008), chapter
13, table 13.1. Their table 13.2, of ``exp``, ``log``, powers, ``sin`` and ``cos``, is what the mechanism finds from the
partial derivatives. `jax.experimental.jet` has rules for each operation, and derivatives in the place of coefficients.

>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.printer import print_function
>>> def f(x):
...     return x * x * x
>>> print(print_function(push_series(lower(f, (2.0,), {}).function, [0], 2)))
func f(%x: float, %x_1: float) {
  %v1: float = * %x, %x   # line 2
  %v2: float = * %x, %x_1   # line 2
  %v3: float = * %v2, 2   # line 2
  %v4: float = * %x_1, %x_1   # line 2
  %v5: float = * %v1, %x   # line 2
  %v6: float = * %v1, %x_1   # line 2
  %v7: float = * %v3, %x   # line 2
  %v8: float = + %v6, %v7   # line 2
  %v9: float = * %v3, %x_1   # line 2
  %v10: float = * %v4, %x   # line 2
  %v11: float = + %v9, %v10   # line 2
  return %v5, %v8, %v11
}
<BLANKLINE>
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import numpy as np

from .. import runtime
from ..analysis.activity import differentiable_operands
from ..errors import UnsupportedError
from ..ir import opset
from ..ir.core import DERIVED, Builder, Function, Op, Region, Value, leaves, map_leaves, structural_key, type_of
from ..ir.opset import ZEROS
from ..ir.rewrite import clone_function
from ..operations import lib, tangents
from ..operations.choices import OVER, PRODUCT, RATIO
from ..operations.linalg import EINSUM
from ..operations.signs import POWERS
from . import algebra, lost
from .cotangents import named_arguments
from .jvp import Adjoint, Pushforward, in_structure, tangent, tangent_type, transposed
from .unfit import covering

MOST_RULES = 400  # for the coefficients of one operation


def push_series(
    fn: Function, wrt: Sequence[int], orders: int, handed_on: Container[int] = (), seeds: Sequence[Any] | None = None,
    adjoint: Adjoint | None = None,
) -> Function:  # fmt: skip
    """The function of fn's parameters, and of a direction for each of the parameters numbered `wrt`, that returns fn's
    results, then their Taylor coefficients of order 1, and so on to `orders`.

    The coefficients of a result that cannot have any, and those of the results numbered `handed_on`, are None. Those of
    others have the shapes and dtypes of the results. With `seeds`, these are the directions, and the function has no
    parameters for them.
    """
    forward = clone_function(fn)[0]
    return TaylorSweep(forward, [forward.params[k] for k in wrt], handed_on, adjoint, orders).run(fn, seeds)


class TaylorSweep(Pushforward):
    """Builds the coefficients beside the operations of a function.

    A coefficient that is not in `orders` is zero. One of order 1 is there whenever one of a higher order is.
    """

    def hint(self, v: Value, order: int) -> str:
        return f"{v.hint}_{order + 1}" if v.hint else ""

    def derive(self, op: Op) -> None:
        series = Lockstep(self, op)
        for order, dots in enumerate(self.orders):
            for r in op.results:
                c = self.weighted(op, dots)
                if c is None:
                    c = series.at(r, order + 1)
                if c is None:
                    continue
                c = dots[r] = opset.as_value(self.b, c)
                if type(c) is Value and not c.hint:
                    c.hint = self.hint(r, order)
                for lower in self.orders[:order]:
                    lower.setdefault(r, self.dot(r, lower))

    def custom(self, op: Op) -> None:
        if not any(v in self.dots for v in leaves(op.args[1:3])) or self.active.isdisjoint(op.results):
            return
        raise UnsupportedError(
            f"taylor does not go through {op.args[0].name!r}, which has a derivative rule of its own",
            op.loc,
            "repeat derivative, or jvp, for higher orders",
        )


class Rule:
    """The tangents of the results of an operation, as operations that nobody runs, of which the coefficients are
    taken.

    flat: they are a linear function of the tangents of the operands that does not change along the direction.
    """

    def __init__(self, results: tuple[Any, ...], flat: bool):
        self.results = results
        self.flat = flat


class Lockstep:
    """The coefficients of the results of an operation, and of all that its rules compute for them."""

    def __init__(self, sweep: TaylorSweep, op: Op):
        self.sweep = sweep
        self.op = op
        self.owner: dict[Value, Op] = dict.fromkeys(op.results, op)  # of values whose coefficients are found here
        self.moved: dict[Value, tuple[Value, bool]] = {}  # tangents: of which value, and whether times the order
        self.same: dict[Value, Value] = {}  # values that have been computed before
        self.known: dict[Any, list[Value]] = {}
        self.coefficients: dict[tuple[Op, int], tuple[Any, ...]] = {}
        self.rules: dict[Op, Rule] = {}
        self.plans: dict[Op, tuple[bool, Callable[[Op, int], Any] | None]] = {}
        self.moving: dict[Value, bool] = {}
        self.remember(op)

    @property
    def b(self) -> Builder:
        return self.sweep.b

    def remember(self, op: Op) -> None:
        if op.prim.effects or op.prim.unique:
            return
        key = op.prim, structural_key(op.args), structural_key(op.kwargs) if op.kwargs else None
        found = self.known.setdefault(key, op.results)
        self.same.update(zip(op.results, found))

    # --- values ---------------------------------------------------------------------------------------------------

    def at(self, v: Any, j: int) -> Any:
        """Coefficient j; None for zero."""
        if type(v) is not Value:
            return v if j == 0 else None
        v = self.same.get(v, v)
        if v in self.moved:
            x, scaled = self.moved[v]
            c = self.at(x, j + 1)
            return c if c is None or not scaled or j == 0 else times(j + 1, c)
        op = self.owner.get(v)
        if op is None or (op is self.op and j == 0):
            return v if j == 0 else self.sweep.orders[j - 1].get(v)
        found = self.coefficients.get((op, j))
        if found is None:
            found = self.coefficients[op, j] = self.initial(op) if j == 0 else self.coefficient(op, j)
        return found[op.results.index(v)]

    def value(self, v: Any) -> Any:
        """Coefficient 0, also where it is zero."""
        c = self.at(v, 0)
        if c is not None:
            return c
        v = self.same.get(v, v)
        if v in self.moved:
            x = self.value(self.moved[v][0])
            return 0.0 if type_of(x).is_scalar else self.b.emit(ZEROS, x)
        return self.emitted(self.owner[v])[self.owner[v].results.index(v)]

    def moves(self, v: Any) -> bool:
        """Some coefficient but the first may be other than zero."""
        if type(v) is not Value:
            return False
        v = self.same.get(v, v)
        if v in self.moved or v in self.op.results:
            return True
        op = self.owner.get(v)
        if op is None:
            return v in self.sweep.dots
        if v not in self.moving:
            self.moving[v] = v.type.may_be_float and bool(self.movers(op))
        return self.moving[v]

    def movers(self, op: Op) -> list[str]:
        """The arguments of an operation that move."""
        if op.prim.nondiff:
            return []
        may = set(differentiable_operands(op))
        return [
            name for name, arg in named_arguments(op)
            if tangents.column(op.prim, name) != "zero" and any(v in may and self.moves(v) for v in leaves(arg))
        ]  # fmt: skip

    # --- operations -----------------------------------------------------------------------------------------------

    def initial(self, op: Op) -> tuple[Any, ...]:
        """The results of an operation of a rule."""
        operands = {v: self.at(v, 0) for v in differentiable_operands(op)}
        zero = [name for name, arg in named_arguments(op) if leaves(arg) and not any(
            operands.get(v, v) is not None for v in leaves(arg)
        )]  # fmt: skip
        together = set(zero)
        if zero and any(set(group) <= together for group in groups(op)):
            return (None,) * len(op.results)
        return self.emitted(op)

    def emitted(self, op: Op) -> tuple[Any, ...]:
        made = self.b.emit(op.prim, *map_leaves(self.value, op.args), **map_leaves(self.value, op.kwargs))
        return (made,) if op.prim.nout == 1 else tuple(made)

    def coefficient(self, op: Op, j: int) -> tuple[Any, ...]:
        if op not in self.plans:
            names = self.movers(op)
            for name in names:
                if not tangents.column(op.prim, name):
                    raise lost.missing_rule(op, name)
            self.plans[op] = bool(names), self.recurrence(op, names)
        moves, recurrence = self.plans[op]
        if not moves:
            return (None,) * len(op.results)
        if recurrence is not None:
            with covering(op):
                return (self.like(recurrence(op, j), op),)
        rule = self.rules.get(op)
        if rule is None:
            rule = self.rules[op] = self.rule(op)
        found = [self.at(t, j - 1) if t is not None else None for t in rule.results]
        return tuple([c if c is None or rule.flat or j == 1 else over(c, j) for c in found])

    def like(self, c: Any, op: Op) -> Any:
        """A coefficient in the shape and dtype of the result."""
        if c is None:
            return None
        out = self.value(op.result)
        c = tangents.fitted(c, out, True)
        return self.b.emit(opset.THROUGH, c, out) if opset.converts(op) else c

    def recurrence(self, op: Op, names: list[str]) -> Callable[[Op, int], Any] | None:
        prim = op.prim
        if prim.nout != 1:
            return None
        found = groups(op)
        used = [group for group in found if any(name in group for name in names)]
        if all(any(name in group for group in used) for name in names):
            return self.linear if len(used) == 1 else self.product
        if prim is EINSUM and isinstance(op.args[0], str):
            return self.contraction
        if is_square(op) and not op.kwargs:
            return self.square
        if "quotient" in prim.traits and not op.kwargs:
            return self.quotient
        return self.solution if "solves" in prim.traits else None

    def linear(self, op: Op, j: int) -> Any:
        """The operation, applied to the coefficients."""
        (group,) = [g for g in groups(op) if any(name in g for name in self.movers(op))]
        given = {}
        for name, arg in named_arguments(op):
            d = in_structure(arg, self.all_at(arg, j)) if name in group else None
            if d is not None:
                given[name] = d
        if not given:
            return None
        args, kwargs = map_leaves(self.value, op.args), map_leaves(self.value, op.kwargs)
        out = self.value(op.result)
        found, rest = tangents.contributions(op.prim, out, args, kwargs, given)
        assert not rest
        return tangents.total(op.prim, [f for f in found if f is not None], out, given)

    def all_at(self, arg: Any, j: int) -> dict[Value, Any]:
        found = {v: self.at(v, j) for v in leaves(arg)}
        return {v: c for v, c in found.items() if c is not None}

    def product(self, op: Op, j: int) -> Any:
        """Cauchy's product: of an operation that is linear in each of several groups of arguments."""
        if len(op.args) == 2 and not op.kwargs and op.args[0] is op.args[1] and is_commutative(op):
            return self.square(op, j)
        if op.prim is PRODUCT:
            return self.guarded(op, j)
        moving = self.movers(op)
        named = dict(named_arguments(op))
        used = [g for g in groups(op) if any(name in g for name in moving)]
        args, kwargs = map_leaves(self.value, op.args), map_leaves(self.value, op.kwargs)
        terms = []
        for orders in compositions(j, len(used)):
            given: dict[str, Any] = {}
            for group, i in zip(used, orders):
                parts = {
                    name: in_structure(named[name], self.all_at(named[name], i)) for name in group if name in named
                }
                if all(d is None for d in parts.values()):
                    break
                given.update(parts)
            else:
                if "product" in op.prim.traits:
                    terms.append(self.b.emit(op.prim, *[given.get(n, a) for n, a in zip(op.prim.params, args)]))
                else:
                    terms.append(lib.at_shape(tangents.applied(op.prim, args, kwargs, given), self.value(op.result)))
        return added(terms)

    def guarded(self, op: Op, j: int) -> Any:
        """Of a product that is zero where its first operand is, whatever the second: where that has made a difference,
        nothing is known of higher orders, as in `quotient`."""
        g, p = op.args
        pairs = [(self.at(g, i), self.at(p, j - i)) for i in range(j + 1)]
        terms = [x * y for x, y in pairs if x is not None and y is not None]
        return added([*terms, 0 * (self.value(g) * self.value(p))]) if terms else None

    def square(self, op: Op, j: int) -> Any:
        """The product of a value with itself: each pair of coefficients once."""
        x = op.args[0]
        prim = op.prim if len(op.args) == 2 and op.prim.fn not in POWERS else opset.MUL
        pairs = [(self.at(x, i), self.at(x, j - i)) for i in range((j + 1) // 2)]
        terms = [self.b.emit(prim, p, q) for p, q in pairs if p is not None and q is not None]
        found = added(terms)
        found = None if found is None else times(2, found)
        middle = self.at(x, j // 2) if j % 2 == 0 else None
        return added(
            [c for c in (found, middle if middle is None else self.b.emit(prim, middle, middle)) if c is not None]
        )

    def quotient(self, op: Op, j: int) -> Any:
        """``y = x / d``: of ``y * d == x``, with what is known of `y`."""
        x, d = op.args
        pairs = [(self.at(d, i), self.at(op.result, j - i)) for i in range(1, j + 1)]
        known = added([p * q for p, q in pairs if p is not None and q is not None])
        c = self.at(x, j)
        rest = c if known is None else -known if c is None else c - known
        if rest is None:
            return None
        if op.prim not in (OVER, RATIO):
            return self.b.emit(op.prim, rest, self.value(d))
        # Where it is zero because `d` is, nothing is known of higher orders: as in nested derivatives, they are nan.
        divisor = self.value(d)
        return divided(rest, divisor + 0 * divided(self.value(x), divisor))

    def solution(self, op: Op, j: int) -> Any:
        """``y`` of ``M(a) @ y == b``, in the same way. The tangent by `a` says how to solve for ``-M(d) @ y``."""
        linear = {name for group in groups(op) for name in group}
        args, kwargs = map_leaves(self.value, op.args), map_leaves(self.value, op.kwargs)
        moving = [(name, arg) for name, arg in named_arguments(op) if name in self.movers(op)]
        found: list[Any] = []
        for i in range(j + 1):
            y = self.at(op.result, j - i) if i else self.value(op.result)
            given = {
                name: in_structure(arg, self.all_at(arg, i or j))
                for name, arg in moving
                if (name in linear) == (i == 0)
            }
            given = {name: d for name, d in given.items() if d is not None}
            if y is None or not given:
                continue
            more, rest = tangents.contributions(op.prim, y, args, kwargs, given)
            found += more
            if rest:
                step = Op(op.prim, args, kwargs, (), self.op.loc)
                step.results, step.parent = [y], op.parent
                dots = {self.value(v): c for _, arg in moving for v, c in self.all_at(arg, i).items()}
                found.append(transposed(self.b, step, dots, rest))
        return added([t for t in found if t is not None])

    def contraction(self, op: Op, j: int) -> Any:
        """Cauchy's product of any number of operands."""
        places = [k for k, x in enumerate(op.args) if self.moves(x)]
        terms = []
        for orders in compositions(j, len(places)):
            parts = [self.at(op.args[k], i) for k, i in zip(places, orders)]
            if not any(c is None for c in parts):
                args = [self.value(x) if type(x) is Value else x for x in op.args]
                for k, c in zip(places, parts):
                    args[k] = c
                terms.append(self.b.emit(op.prim, *args, **op.kwargs))
        return added(terms)

    # --- rules ----------------------------------------------------------------------------------------------------

    def rule(self, op: Op) -> Rule:
        """Build the tangents of an operation, in a region of their own."""
        if len(self.rules) >= MOST_RULES:
            raise UnsupportedError(
                f"the Taylor coefficients of {self.op.prim.name} to this order need too many operations",
                self.op.loc,
                "ask for a lower order, or repeat derivative",
            )
        body = Region(self.b.dims.child())
        builder = Builder(body)
        algebra.install(builder)
        builder.loc, builder.tag, builder.cotangents = self.op.loc, DERIVED, self.sweep.tangents
        same = Op(op.prim, map_leaves(self.first, op.args), map_leaves(self.first, op.kwargs), (), self.op.loc)
        same.results, same.parent = op.results, op.parent
        moving = [v for v in dict.fromkeys(differentiable_operands(same)) if self.moves(v)]
        dots = {v: body.param(tangent_type(v)) for v in moving}
        with builder.active():
            results = tangent(builder, same, dots)
        results = results if isinstance(results, tuple) else (None,) * len(op.results)
        for made in body.ops:
            if made.regions:
                raise UnsupportedError(
                    f"the Taylor coefficients of {op.prim.name} are not known",
                    self.op.loc,
                    "write it with other functions, or nest derivative or jvp for the order that you need",
                )
            made.args = map_leaves(self.first, made.args)
            made.kwargs = map_leaves(self.first, made.kwargs)
            self.owner.update(dict.fromkeys(made.results, made))
            self.remember(made)
        flat = self.is_flat(body.ops, set(dots.values()))
        self.moved.update({d: (v, not flat) for v, d in dots.items()})
        return Rule(tuple(results), flat)

    def first(self, v: Value) -> Value:
        return self.same.get(v, v)

    def is_flat(self, ops: list[Op], dots: set[Value]) -> bool:
        """The operations are linear in the tangents, and nothing else in them moves."""
        linear = set(dots)
        for op in ops:
            if not any(v in linear for v in op.operands()):
                continue
            if op.prim.nondiff:
                return False
            if any(v not in linear and self.moves(v) for v in differentiable_operands(op)):
                return False
            linear.update(op.results)
        return True


def groups(op: Op) -> list[tuple[str, ...]]:
    """The arguments in which an operation is linear, together."""
    prim = op.prim
    constant = tuple([n for n, p in zip(prim.params, prim.partials or ()) if type(p) is int])
    found = [*prim.linear, *([constant] if constant else [])]
    if "product" in prim.traits and not op.kwargs:
        found += [(name,) for name in prim.params]
    return found


_SYMMETRIC = (operator.mul, np.multiply)


def is_commutative(op: Op) -> bool:
    return op.prim.fn in _SYMMETRIC


def is_square(op: Op) -> bool:
    if op.prim.fn is np.square:
        return True
    return op.prim.fn in POWERS and type(op.args[1]) in (int, float) and op.args[1] == 2


def compositions(j: int, parts: int) -> Iterator[tuple[int, ...]]:
    """The ways to write j as a sum of so many numbers, zeros among them.

    >>> list(compositions(2, 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    if parts == 1:
        yield (j,)
        return
    for i in range(j + 1):
        for rest in compositions(j - i, parts - 1):
            yield (i, *rest)


def added(terms: list[Any]) -> Any:
    total = None
    for term in terms:
        total = term if total is None else total + term
    return total


def divided(x: Any, d: Any) -> Any:
    """``x / d``, as NumPy divides."""
    return lib.call(runtime.quotient, x, d) if lib.may_raise(x, d) else x / d


def times(n: int, c: Any) -> Any:
    return c * n


def over(c: Any, n: int) -> Any:
    return c / n


__all__ = ["TaylorSweep", "push_series"]
