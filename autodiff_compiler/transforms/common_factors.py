"""Common factors: what is a factor of two terms of a sum is multiplied once.

Takes an adjoint that nobody differentiates again. Two terms of a sum with one number as a factor are added first, and
so are two terms with one array, where each has at most one other array. Gives an adjoint that multiplies fewer arrays,
or in a sum of numbers fewer numbers. The rounding is another one.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> from autodiff_compiler.transforms.passes import leaving_out
>>> def f(x, r):
...     return np.sum(np.sin(r * x * (1.0 - x)))
>>> with leaving_out(["common factors"]):
...     show_source(f, np.ones(3), 2.0)
def f_grad(x, r):
    r_x = r * x
    one_minus_x = 1.0 - x
    # adjoint of line 2: return np.sum(np.sin(r * x * (1.0 - x)))
    t = np.cos(r_x * one_minus_x)
    return t * one_minus_x * r - t * r_x
>>> show_source(f, np.ones(3), 2.0)
def f_grad(x, r):
    r_x = r * x
    one_minus_x = 1.0 - x
    return (r * one_minus_x - r_x) * np.cos(r_x * one_minus_x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..ir.core import DERIVED, Builder, Function, Op, Value, type_of
from ..ir.opset import ACCUM, ADD, MUL, NEG, PRIMS, SUB
from ..ir.rewrite import Uses
from ..operations.choices import OVER, PRODUCT, RATIO, SELECT
from ..records import record
from .algebra import install, is_moderate

SUMS = (ADD, SUB, ACCUM)
MOST = 8  # terms of a sum
FLOAT = np.float64  # no dtype, which an unknown one, None, would be equal to
# What may be as large as a number can be, and is multiplied by zero there.
LARGE = (OVER, PRODUCT, RATIO, PRIMS[np.minimum])


def share_factors(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Multiply sums by what their terms have in common; `before_change` is called if there are some."""
    changed = False
    uses = Uses(fn.body)
    waiting = list(fn.body.walk())[::-1]
    while waiting:
        op = waiting.pop()
        if op.prim not in SUMS or op.tag != DERIVED or op.parent is None or not uses[op.result]:
            continue
        total = _Sum(op, uses)
        pair = total.pair()
        if pair is not None:
            if not changed and before_change is not None:
                before_change()
            changed = True
            waiting += total.share(*pair)[::-1]
    return changed


@record
class Term:
    """A term of a sum.

    negative: the value is subtracted
    turned:   it is the negative of the product of its factors
    products: the products that it consists of
    leaves:   their factors
    """

    value: Any
    negative: bool
    turned: bool
    products: tuple[Op, ...]
    leaves: tuple[Any, ...]


class _Sum:
    """A sum of arrays of float64, or of numbers, and its terms."""

    def __init__(self, op: Op, uses: Uses):
        self.op, self.uses = op, uses
        self.dims = op.result.type.dims
        assert op.parent is not None
        self.region = op.parent
        self.terms: list[Term] = []
        self.of_numbers = _is_number(op.result)
        if self.is_full(op.result) and (self.dims or self.of_numbers):
            self.collect(op)

    def is_full(self, x: Any) -> bool:
        """An array with the shape of the sum; in a sum of numbers, a number of the run."""
        if self.of_numbers:
            return type(x) is Value and _is_number(x)
        t = type_of(x)
        if t.kind != "array" or t.dtype != FLOAT or t.dims is None or t.duck or len(t.dims) != len(self.dims or ()):
            return False
        return all(map(self.region.dims.same, t.dims, self.dims or ()))

    def own(self, x: Any) -> Op | None:
        """What computes a value that only this sum reads."""
        op = x.op if type(x) is Value else None
        if op is None or op.parent is not self.region or op.tag != DERIVED or len(self.uses[x]) != 1:
            return None
        return op

    def collect(self, op: Op) -> None:
        """Find the terms, unless they are more than are looked at."""
        waiting: list[tuple[Any, bool, bool]] = [(op.result, False, True)]
        while waiting:
            if len(self.terms) + len(waiting) > MOST:
                self.terms = []
                return
            v, negative, is_sum = waiting.pop()
            inner = v.op if is_sum else self.own(v)
            while inner is not None and inner.prim is NEG:
                v, negative = inner.args[0], not negative
                inner = self.own(v)
            if inner is not None and inner.prim in SUMS and self.is_full(v) and self.is_full(inner.args[0]):
                x, y = inner.args
                waiting += [(y, negative != (inner.prim is SUB), False), (x, negative, False)]
            else:
                self.terms.append(self.term(v, negative))

    def term(self, v: Any, negative: bool) -> Term:
        turned = False
        products: list[Op] = []
        leaves: list[Any] = []
        waiting = [v]
        while waiting:
            x = waiting.pop()
            op = self.own(x)
            if op is not None and op.prim is MUL:
                products.append(op)
                waiting += op.args[::-1]
            elif op is not None and op.prim is NEG:
                turned = not turned
                waiting.append(op.args[0])
            else:
                leaves.append(x)
        return Term(v, negative, turned, tuple(products), tuple(leaves))

    def pair(self) -> tuple[int, int, Any] | None:
        """Two terms and a factor that is worth to be taken out of them."""
        if len(self.terms) < 2 or not self.is_full(self.terms[0].value):
            return None
        for j, y in enumerate(self.terms):
            for i, x in enumerate(self.terms[:j]):
                if not (self.is_full(x.value) and self.is_full(y.value)):
                    continue
                for factor in _common(x, y):
                    if self.saves(x, y, factor):
                        return i, j, factor
        return None

    def saves(self, x: Term, y: Term, factor: Any) -> bool:
        """Fewer products of arrays are computed, none of arrays that were no factors of one product before."""
        if any(map(_may_be_large, (*x.leaves, *y.leaves))):
            return False
        if not self.is_full(factor):
            return all(any(self.split(op, factor) for op in term.products) for term in (x, y))
        if self.of_numbers:
            return bool(x.products and y.products)  # one product less
        before = after = 1
        for term in (x, y):
            others = _without(term.leaves, factor)
            arrays = sum(map(self.is_full, others))
            if arrays > 1 or not all(self.is_full(leaf) or _is_number(leaf) for leaf in others):
                return False
            before += sum(map(self.is_full, [op.result for op in term.products]))
            after += arrays == 1 and len(others) > 1
        joined = any(self.is_full(leaf) for term in (x, y) for leaf in _without(term.leaves, factor))
        return after + joined < before

    def split(self, op: Op, factor: Any) -> tuple[Any, Any] | None:
        """The factor, or its negative, and the array that a product multiplies by it."""
        return next(
            (pair for pair in (op.args, op.args[::-1]) if _is_same(pair[0], factor) and self.is_full(pair[1])), None
        )

    def share(self, i: int, j: int, factor: Any) -> list[Op]:
        """Take a factor out of two terms; the operations that are new."""
        builder = install(Builder(self.region))
        builder.tag = DERIVED
        builder.loc = next((op.loc for k in (j, i) for op in self.terms[k].products), self.op.loc)
        out, new = self.uses.insert(builder, self.op, lambda: self.total(builder, i, j, factor))
        if out.op in new:
            out.hint = self.op.result.hint or out.hint
        self.uses.replace(self.op.result, out)
        return new

    def total(self, builder: Builder, i: int, j: int, factor: Any) -> Any:
        """The sum, in which one product stands for two terms."""
        (x, minus_x), (y, minus_y) = (self.rest(builder, self.terms[k], factor) for k in (i, j))
        if minus_x == minus_y:
            joined = builder.emit(MUL, 2.0, x) if x is y else builder.emit(ADD, x, y)
        else:
            joined = builder.emit(SUB, y, x) if minus_x else builder.emit(SUB, x, y)
        terms = [(term.value, term.negative) for term in self.terms]
        terms[i] = builder.emit(MUL, joined, factor), minus_x and minus_y
        del terms[j]
        values = [builder.emit(NEG, v) if negative else v for v, negative in terms]
        prim = ACCUM if self.op.prim is ACCUM else ADD
        out, *more = values
        for v in more:
            out = builder.emit(prim, out, v)
        return out

    def rest(self, builder: Builder, term: Term, factor: Any) -> tuple[Any, bool]:
        """What a factor of a term is multiplied by, and whether the product is subtracted."""
        negative = term.negative != term.turned
        if self.is_full(factor):
            others = sorted(_without(term.leaves, factor), key=self.is_full)
            negative = negative != (sum(type(x) is float and x < 0.0 for x in others) % 2 == 1)
            others = [abs(x) if type(x) is float else x for x in others]
            product: Any = 1.0
            for x in others:
                product = builder.emit(MUL, product, x)
            return product, negative
        target, (found, other) = next((op, pair) for op in term.products if (pair := self.split(op, factor)))
        negative = negative != (type(found) is float and found != factor)

        def without(v: Any) -> Any:
            op = self.own(v)
            if op is not None and op.prim is NEG:
                return without(op.args[0])  # the sign of the term has it
            if op not in term.products:
                return v
            return without(other) if op is target else builder.emit(MUL, *map(without, op.args))

        return without(term.value), negative


def _may_be_large(x: Any) -> bool:
    op = x.op if type(x) is Value else None
    if op is None or op.prim is not SELECT:
        return op is not None and op.prim in LARGE
    return any(type(y) is float and abs(y) > 1e30 for y in op.args[1:])  # it stands for infinity


def _common(x: Term, y: Term) -> Iterator[Any]:
    """The factors that two terms have in common."""
    for leaf in x.leaves:
        if (type(leaf) is Value or (type(leaf) is float and abs(leaf) != 1.0 and is_moderate(leaf))) and any(
            _is_same(other, leaf) for other in y.leaves
        ):
            yield leaf


def _is_same(x: Any, y: Any) -> bool:
    return x is y or (type(x) is type(y) is float and abs(x) == abs(y))


def _without(leaves: tuple[Any, ...], factor: Any) -> list[Any]:
    """The factors but for one of them."""
    k = next(k for k, leaf in enumerate(leaves) if _is_same(leaf, factor))
    return [*leaves[:k], *leaves[k + 1 :]]


def _is_number(x: Any) -> bool:
    """A float that is not part of an array."""
    return type(x) is float or (type(x) is Value and x.type.is_scalar and x.type.dtype == FLOAT)


__all__ = ["share_factors"]
