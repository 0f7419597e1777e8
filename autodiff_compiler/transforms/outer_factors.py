"""Outer factors: what a reversed loop adds up is multiplied behind it by what the loop does not change.

Takes an adjoint that nobody differentiates again. Where each iteration adds products to a cotangent that the loop does
not read otherwise, and a factor of a product is the same in each iteration, the loop adds up what is left of the
product, and the factor follows behind it. Numbers that are factors of one product, and that the loop does not change,
are multiplied in front of it. Gives an adjoint whose loops multiply less. The rounding is another one.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(k, x, steps):
...     for _ in range(steps):
...         x = x + np.sin(x) * k**2
...     return np.sum(x)
>>> show_source(f, np.ones(3), np.ones(3), 2)
def f_grad(k, x, steps):
    saved = []
    for _ in range(steps):
        sin_x = np.sin(x)
        saved.append((x, sin_x))
        x = x + sin_x * k**2
    k_sq = k**2
    summed = np.zeros(k.shape)
    x_bar = np.full_like(k, 1.0)
    # adjoint of line 2: for _ in range(steps):
    for x, sin_x in reversed(saved):
        # adjoint of line 3: x = x + np.sin(x) * k**2
        summed += x_bar * sin_x
        x_bar += x_bar * k_sq * np.cos(x)
    return summed * (2.0 * k)
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import DERIVED, LOOP, Builder, Function, Op, Region, Value, type_of
from ..ir.definedness import maybe_undefined
from ..ir.opset import ACCUM, ADD, ADDAT, GET, MUL, NEG, SUB, ZEROS
from ..ir.rewrite import collect_uses, derived, enclosing, region_of, replace_values, substitute_in
from ..ir.telling import Telling, give, name_of
from ..ir.types import Ty
from ..records import record
from .algebra import install
from .distribute import Sink, sinks_of
from .simplify import in_bounds

FEW = 4  # iterations: of fewer, it costs more to begin with zeros than the products take
FLOAT = np.float64  # no dtype, which an unknown one, None, would be equal to
NUMBER = Ty("scalar", np.dtype(FLOAT), ())
Uses = dict[Value, list[Op | Region]]


@record
class Term:
    """A term of what an iteration adds: the product of what changes, and the factors that the loop does not change.

    saved: how many products an iteration does not compute if it adds up what changes
    """

    value: Any
    changing: tuple[Any, ...]
    outer: tuple[Any, ...]
    negative: bool
    saved: int


Leaving = tuple[Sink, list[Term], list[Term]]  # the terms that leave the loop, and those that stay


def pull_out(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Multiply sums behind loops; `before_change` is called if there are some."""
    changed = False

    def announce() -> None:
        nonlocal changed
        if not changed and before_change is not None:
            before_change()
        changed = True

    loops = [op for op in fn.body.walk() if op.prim is LOOP]
    maybe = maybe_undefined(fn.body) if loops else set()
    uses = collect_uses(fn.body) if loops else {}
    for loop in loops:
        finder = _Finder(loop, maybe)
        if _runs_on(loop):
            found = _worthwhile([(sink, finder.terms_of(sink)) for sink in sinks_of(loop, finder.uses)])
            if found:
                announce()
                _Sums(loop).run(uses, found)
                finder = _Finder(loop, maybe)
        _join_numbers(loop, finder, uses, announce)
    return changed


def _join_numbers(loop: Op, finder: _Finder, uses: Uses, announce: Callable[[], None]) -> None:
    """Multiply the numbers among the factors of a product that the loop does not change in front of it."""
    (body,) = loop.regions
    assert loop.parent is not None
    found: dict[tuple[Any, ...], list[tuple[Op, list[Any], bool]]] = {}
    for op in [op for op in body.ops if op.prim is MUL and op.tag == DERIVED]:
        users = finder.uses.get(op.result, ())
        if len(users) == 1 and isinstance(users[0], Op) and users[0].prim is MUL and finder.own(op.result) is op:
            continue  # it is a factor of another product
        changing, outer = finder.factors(*op.args)
        numbers = [x for x in outer if _is_python(x)]
        others = [*changing, *[x for x in outer if not _is_python(x)]]
        if len(numbers) < 2 or not changing or not any(type(x) is Value for x in numbers):
            continue
        if all(type(x) is Value and x.type.dtype == FLOAT and x.type.dims is not None for x in others):
            arrays = sum(x.type.dims != () for x in others)
            found.setdefault(tuple(numbers), []).append((op, others, arrays > 0 and arrays < finder.passes(op)))
    for key, products in found.items():
        # A number that is needed otherwise, too, would be one more: only a pass over an array is worth that.
        alone = all(len(uses.get(x, ())) == len(products) for x in key if type(x) is Value)
        if not alone and not any(saves for _, _, saves in products):
            continue
        announce()
        builder = install(Builder(loop.parent))
        builder.tag, builder.loc = DERIVED, products[0][0].loc
        mark = len(loop.parent.ops)
        with builder.active():
            number = functools.reduce(lambda a, b: builder.emit(MUL, a, b), key)
        if not name_of(number):
            give(number, Telling("scale"))
        new = loop.parent.ops[mark:]
        del loop.parent.ops[mark:]
        at = loop.parent.ops.index(loop)
        loop.parent.ops[at:at] = new
        for op, others, saves in products:
            if alone or saves:
                out, *rest = sorted([number, *others], key=lambda x: type_of(x).dims != ())
                at = body.ops.index(op)
                for x in rest[:-1]:
                    made = derived(body, MUL, out, x, loc=op.loc)
                    body.ops.insert(at, made)
                    at, out = at + 1, made.result
                op.args = (out, rest[-1])


def _is_python(x: Any) -> bool:
    """A float of Python's."""
    return type(x) is float or (type(x) is Value and x.type.kind == "py" and x.type.dtype == FLOAT)


def _worthwhile(found: list[tuple[Sink, list[Term]]]) -> list[Leaving]:
    """The terms that leave the loop, and those that stay. A number leaves it if that saves a statement: it is all of a
    sum, or a factor of two sums, or is added to an element of an array."""
    often = Counter(term.changing for _, terms in found for term in terms if term.saved)
    out: list[Leaving] = []
    for sink, terms in found:
        is_free = sink.op.prim is ADDAT or len(terms) == 1
        moved = [
            term for term in terms
            if term.saved and (is_free or type_of(term.value).dims != () or often[term.changing] > 1)
        ]  # fmt: skip
        if moved:
            out.append((sink, moved, [term for term in terms if term not in moved]))
    return out


def _runs_on(loop: Op) -> bool:
    """It is not left early, is in no other loop, and may have more than a few iterations."""
    code, range_ = loop.regions[0].exit[0], loop.range
    if type(code) is not int or code != 0 or any(_is_loop(region) for region in enclosing(loop.parent)):
        return False
    ends = () if range_ is None else range_[:3]
    return not ends or not all(type(x) is int for x in ends) or len(range(*ends)) >= FEW


def _is_loop(region: Region) -> bool:
    return region.op is not None and region.op.prim is LOOP


class _Finder:
    """The terms of what a loop adds up.

    maybe: the values that are undefined on some path: where the loop has no iterations, they may not be read behind it
    """

    def __init__(self, loop: Op, maybe: set[Value]):
        (self.body,) = loop.regions
        assert loop.parent is not None
        self.parent, self.maybe = loop.parent, maybe
        self.uses = collect_uses(self.body)

    def terms_of(self, sink: Sink) -> list[Term]:
        """The terms of what an iteration adds; none if they cannot leave the loop."""
        op = sink.op
        place = op.result.type
        if op.prim is ADDAT:
            if not all(map(self.is_outside, op.operands()[1:-1])) or not in_bounds(op, self.parent):
                return []
            place = GET.infer(Builder(self.parent), op.args[:2], {})  # type: ignore[misc]
        if type(sink.value) is not Value or not _is_double(sink.value, place.dims, self.parent):
            return []
        terms: list[Term] = []
        waiting = [(sink.value, sink.negative)]
        while waiting:
            v, negative = waiting.pop()
            made = self.own(v)
            if made is not None and made.prim is NEG:
                waiting.append((made.args[0], not negative))
            elif made is not None and made.prim in (ADD, ACCUM, SUB) and all(map(self.like(place.dims), made.args)):
                waiting += [(made.args[1], negative != (made.prim is SUB)), (made.args[0], negative)]
            else:
                terms.append(self.term(v, negative, place.dims))
        return terms

    def is_outside(self, x: Any) -> bool:
        """It can be read behind the loop, and is the same in each iteration."""
        if type(x) is not Value:
            return True
        return x not in self.maybe and all(region is not self.body for region in enclosing(region_of(x)))

    def own(self, v: Any) -> Op | None:
        """The operation of the adjoint that computes a value in this iteration, if it is read once."""
        op = v.op if type(v) is Value else None
        is_own = op is not None and op.parent is self.body and op.tag == DERIVED and len(self.uses.get(v, ())) == 1
        return op if is_own else None

    def like(self, dims: Any) -> Callable[[Any], bool]:
        return lambda x: type(x) is Value and _is_double(x, dims, self.body)

    def factors(self, *product: Any) -> tuple[list[Any], list[Any]]:
        """The factors of a product: what changes from one iteration to the next, and the others."""
        changing: list[Any] = []
        outer: list[Any] = []
        waiting = [*product[::-1]]
        while waiting:
            x = waiting.pop()
            if self.is_outside(x):
                outer.append(x)
            elif (op := self.own(x)) is not None and op.prim is MUL:
                waiting += op.args[::-1]
            else:
                changing.append(x)
        return changing, outer

    def passes(self, op: Op) -> int:
        """How many products of arrays a product consists of."""
        inner = [made for x in op.args if (made := self.own(x)) is not None and made.prim is MUL]
        return (op.result.type.dims != ()) + sum(map(self.passes, inner))

    def term(self, v: Any, negative: bool, dims: Any) -> Term:
        """A term with its factors."""
        changing, outer = self.factors(v)
        fits = all(_is_factor(x, dims, self.body) for x in changing)
        if not changing or not fits or not all(_is_factor(x, dims, self.parent) for x in outer):
            changing, outer = [v], []
        return Term(v, tuple(changing), tuple(outer), negative, _saved(changing, outer))


def _is_factor(x: Any, dims: Any, region: Region) -> bool:
    """A number, or an array of the shape of the sum, of double precision."""
    return type(x) is float or (type(x) is Value and (_is_double(x, (), region) or _is_double(x, dims, region)))


def _is_double(x: Value, dims: Any, region: Region) -> bool:
    """It has double precision and, by what is known in a region, this shape."""
    own = x.type.dims
    if x.type.dtype != FLOAT or own is None or dims is None or len(own) != len(dims):
        return False
    return all(map(region.dims.same, own, dims))


def _saved(changing: list[Any], outer: list[Any]) -> int:
    """How many products of arrays an iteration does not compute, or of numbers, where all are."""

    def products(factors: list[Any]) -> int:
        arrays = sum(type_of(x).dims != () for x in factors)
        return arrays - 1 + (arrays < len(factors)) if arrays else 0

    if all(type_of(x).dims == () for x in (*changing, *outer)):
        return len(outer)
    return products(changing + outer) - products(changing)


class _Sums:
    """The sums of one loop."""

    def __init__(self, loop: Op):
        self.loop = loop
        (self.body,) = loop.regions
        assert loop.parent is not None
        self.parent = loop.parent
        self.before: list[Op] = []
        self.after: list[Op] = []
        self.sums: dict[tuple[Any, ...], Value] = {}

    def run(self, uses: Uses, found: list[Leaving]) -> None:
        """Add up what changes, and multiply behind the loop."""
        added = [
            (sink, self.total([(self.product(sink, term), term.negative) for term in moved], sink, self.parent))
            for sink, moved, _ in found
        ]
        for sink, _, others in found:
            self.keep(sink, others)
        results: dict[Value, Value] = {}
        for sink, value in added:
            result = self.loop.results[sink.slot]
            results[result] = self.added(sink, results.get(result, self.base_of(sink)), value)
            results[result].hint = result.hint
        for result, out in results.items():
            for user in uses.get(result, ()):
                substitute_in(user, {result: out})
        at = self.parent.ops.index(self.loop)
        self.parent.ops[at + 1 : at + 1] = self.after
        self.parent.ops[at:at] = self.before

    def base_of(self, sink: Sink) -> Any:
        """What the loop gives without what has left it."""
        k = sink.slot
        return self.loop.inits[k] if self.body.exit[k + 1] is self.body.params[k + 1] else self.loop.results[k]

    def added(self, sink: Sink, base: Any, value: Value) -> Value:
        if sink.op.prim is ADDAT:
            return self.emit(self.parent, sink, ADDAT, base, sink.op.args[1], value)
        zeros = type(base) is Value and base.op is not None and base.op.prim is ZEROS
        if (base == 0.0 if type(base) is float else zeros) and value.type.dims == type_of(base).dims:
            return value
        return self.emit(self.parent, sink, ADD if value.type.dims == () else ACCUM, base, value)

    def emit(self, region: Region, sink: Sink, prim: Any, *args: Any) -> Value:
        """An operation behind the loop, or in front of what an iteration adds."""
        op = derived(region, prim, *args, loc=sink.op.loc)
        ops = self.after if region is self.parent else region.ops
        ops.insert(len(ops) if region is self.parent else ops.index(sink.op), op)
        return op.result

    def product(self, sink: Sink, term: Term) -> Value:
        """The sum of what changes in a term, times the other factors."""
        if term.changing not in self.sums:
            self.sums[term.changing] = self.summed(sink, term.changing)
        out: Value = self.multiplied((self.sums[term.changing], *term.outer), sink, self.parent)
        return out

    def multiplied(self, factors: tuple[Any, ...], sink: Sink, region: Region) -> Any:
        """The product of factors, numbers first."""
        out, *others = sorted(factors, key=lambda x: type_of(x).dims != ())
        for x in others:
            out = self.emit(region, sink, MUL, out, x)
        return out

    def total(self, terms: list[tuple[Any, bool]], sink: Sink, region: Region) -> Any:
        """The sum of terms, each with whether it is taken away."""
        (out, negative), *others = sorted(terms, key=lambda term: term[1])
        out = self.emit(region, sink, NEG, out) if negative else out
        for x, negative in others:
            out = self.emit(region, sink, SUB if negative else ADD, out, x)
        return out

    def summed(self, sink: Sink, factors: tuple[Any, ...]) -> Value:
        """What the loop adds up in a number, or an array, of its own."""
        value = self.multiplied(factors, sink, self.body)
        init: Any = 0.0 if type_of(value).dims == () else self.zeros_for(sink)
        t = NUMBER if type(init) is float else init.type
        param = self.body.param(t, "summed")
        stored = self.emit(self.body, sink, ADD if t is NUMBER else ACCUM, param, value)
        self.body.exit = (*self.body.exit, stored)
        self.loop.args = (self.loop.args[0], (*self.loop.inits, init))
        self.loop.results.insert(len(self.loop.results) - 2, Value(t, "summed", self.loop))
        return self.loop.results[-3]

    def zeros_for(self, sink: Sink) -> Value:
        """Zeros of the shape of what is added."""
        like: Value = self.loop.inits[sink.slot]
        if like.op is not None and like.op.prim is ZEROS:
            like = like.op.args[0]
        path = sink.op.args[1:2] if sink.op.prim is ADDAT else ()
        for prim, args in (*[(GET, path)] * len(path), (ZEROS, ())):
            self.before.append(derived(self.parent, prim, like, *args, loc=sink.op.loc))
            like = self.before[-1].result
        return like

    def keep(self, sink: Sink, terms: list[Term]) -> None:
        """Let the loop add these terms only."""
        op = sink.op
        if terms:
            rest = self.total([(term.value, term.negative != sink.negative) for term in terms], sink, self.body)
            op.args = (*op.args[:-1], rest)
        else:
            replace_values(self.body, {op.result: op.args[0]})
            self.body.ops.remove(op)


__all__ = ["pull_out"]
