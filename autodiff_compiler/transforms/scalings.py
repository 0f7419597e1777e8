"""Scalings: a number multiplies an array of an adjoint once, and not each product that is computed from it.

Takes an adjoint that nobody differentiates again. Where an array is multiplied by a number, and each way on from it,
through products, sums and stores into zeros, leads to a product with one other number, the array is multiplied by both.
Where several of the ways lead to such a product, and others do not, they start from an array that is multiplied once.
What is multiplied by one number and divided by another is multiplied by their quotient. Gives an adjoint that
multiplies and divides fewer arrays by numbers.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> from autodiff_compiler.transforms.passes import leaving_out
>>> def f(u, w):
...     flow = 0.1 * u
...     return np.sum(0.5 * flow * np.sin(w) + 0.5 * flow**2 * w)
>>> with leaving_out(["scalings"]):
...     show_source(f, np.ones(3), np.ones(3))
def f_grad(u, w):
    return (w * (0.2 * u) + np.sin(w)) * 0.5 * 0.1
>>> show_source(f, np.ones(3), np.ones(3))
def f_grad(u, w):
    return (w * (0.2 * u) + np.sin(w)) * 0.05
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir.core import DERIVED, Builder, Function, Op, Region, Value, type_of
from ..ir.opset import ACCUM, ADD, ADDAT, DIV, GET, MUL, NEG, PRIMS, SET, STORES, SUB, ZEROS
from ..ir.rewrite import Uses, derived, stands_before
from ..operations.choices import OVER, QUOTIENT, RATIO
from ..operations.linalg import DOT
from ..operations.reductions import SUM
from ..records import record
from .algebra import install, is_moderate

MOST = 24  # operations on the ways from one array
MANY = 8  # ways from it, of which some are looked for
FAR = 200  # operations
SUMS = (ADD, SUB, ACCUM)


def scale_once(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Multiply arrays by numbers, and not what is computed of them; `before_change` is called if there are some."""
    ops = list(fn.body.walk())
    quotients = [op for op in ops if op.prim is DIV and op.tag == DERIVED and _is_number(op.args[1])]
    few = sum([_literal_in(op) is not None for op in ops]) < 2
    if few and not quotients:
        return False
    uses = Uses(fn.body)
    changed = _divide_numbers(quotients, uses, before_change)
    if few:
        return changed
    products = _Products(ops, uses)
    for op in ops:
        found = products.whole(op) or products.part(op) if products.may_lead(op) else None
        if found is not None:
            if not changed and before_change is not None:
                before_change()
            changed = True
            _Scaling(products.uses).run(op, *found)
    return changed


def _divide_numbers(quotients: list[Op], uses: Uses, before_change: Callable[[], None] | None) -> bool:
    """What is multiplied by one number, and divided by another, is multiplied by their quotient."""
    changed = False
    for op in quotients:
        product = _divided_product(op, uses)
        if product is None:
            continue
        if not changed and before_change is not None:
            before_change()
        changed = True
        x, d = op.args
        number, array = product.args if type_of(product.args[0]).is_scalar else product.args[::-1]
        made = _emit(uses, product, QUOTIENT, number, d)
        uses.change(product, MUL, array, made)
        x.hint = op.result.hint or x.hint
        uses.replace(op.result, x)
    return changed


def _divided_product(op: Op, uses: Uses) -> Op | None:
    """The product with a number that an operation divides by another one; there may be quotients in between."""
    v, d = op.args
    if not _is_double(op.result) or not uses[op.result]:
        return None
    while type(v) is Value and v.type == op.result.type and len(uses[v]) == 1:
        inner = v.op
        if inner is None or inner.parent is not op.parent or inner.tag != DERIVED:
            return None
        if inner.prim is MUL:
            if not any(
                (type(x) is float or _is_number(x)) and type_of(y) == v.type for x, y in (inner.args, inner.args[::-1])
            ):
                return None
            return inner if d.op is None or stands_before(d.op, inner) else None
        if inner.prim not in (DIV, RATIO):
            return None
        v = inner.args[0]
    return None


def _is_number(x: Any) -> bool:
    """A float that only the run tells."""
    return type(x) is Value and x.type.is_scalar and x.type.dtype == np.float64


def _emit(uses: Uses, at: Op, prim: Any, *args: Any, behind: bool = False) -> Value:
    """The result of a new operation in front of another one, or behind it."""
    assert at.parent is not None
    builder = install(Builder(at.parent))
    builder.tag, builder.loc = DERIVED, at.loc
    made: Value = uses.insert(builder, at, lambda: builder.emit(prim, *args), behind)[0]
    return made


@record
class Way:
    """The ways on from an array, each to a product with the same number or its negative.

    number:  that number
    sources: the array, and products with numbers that what is computed of the array is added to
    sinks:   the products with the number at the ends
    sums:    what is added up, to a number that is multiplied instead
    """

    number: float
    sources: tuple[Op, ...]
    sinks: tuple[Op, ...]
    sums: tuple[Op, ...]


Found = tuple[Way, "list[Op] | None"]


class _Products:
    """The products with numbers of a function.

    at:      where its operations stand
    leading: the values that such products may be multiples of
    """

    def __init__(self, ops: list[Op], uses: Uses):
        self.uses = uses
        self.at = {op: k for k, op in enumerate(ops)}
        self.leading: set[Value] = set()
        ends = [op for op in ops if _literal_in(op) is not None]
        ends += [user for op in ends for user in uses[op.result] if isinstance(user, Op) and user.prim is MUL]
        while ends:
            for v in ends.pop().operands():
                if v not in self.leading and v.op is not None and v.op.tag == DERIVED and not v.op.regions:
                    self.leading.add(v)
                    ends.append(v.op)

    def may_lead(self, op: Op) -> bool:
        """The operation makes an array of which products with numbers may be multiples."""
        return len(op.results) == 1 and op.result in self.leading and _is_double(op.result)

    def whole(self, op: Op) -> Found | None:
        """All ways on from an array that is multiplied by a number."""
        if _literal_in(op) is None or not self.uses[op.result]:
            return None
        search = _Search(op, self)
        search.seen.add(op.result)
        way = search.follow(self.uses[op.result])
        if way is None or not all(is_moderate(way.number * (_literal_in(source) or 1.0)) for source in way.sources):
            return None
        return way, None

    def part(self, op: Op) -> Found | None:
        """Two or more ways on from an array."""
        users = self.uses[op.result]
        if not 2 <= len(users) <= MANY or len(set(users)) < len(users):
            return None
        found: dict[float, list[Op]] = {}
        for user in users:
            way = _Search(op, self).follow([user])
            if way is not None and isinstance(user, Op):
                found.setdefault(abs(way.number), []).append(user)
        for number, same in found.items():
            if len(same) > 1 and is_moderate(number * (_literal_in(op) or 1.0)):
                way = _Search(op, self).follow(same)
                if way is not None and way.sources == (op,) and len(way.sinks) > 1:
                    return way, same
        return None


class _Search:
    """Where the ways on from one array lead.

    seen:   what is a multiple of the array, or a sum of such arrays
    others: what is added to these
    beside: what they are multiplied by, and divided by
    """

    def __init__(self, op: Op, products: _Products):
        self.op, self.uses, self.products = op, products.uses, products
        self.number: float | None = None
        self.seen: set[Value] = set()
        self.others: list[Any] = []
        self.beside: list[Any] = []
        self.sources, self.sinks, self.sums = [op], list[Op](), list[Op]()
        self.signs = 0.0  # of the numbers; those in other factors, which no sum takes, count more
        self.steps = 0

    def follow(self, users: Sequence[Op | Region]) -> Way | None:
        waiting = [(self.op.result, user) for user in users]
        while waiting:
            v, user = waiting.pop()
            self.steps += 1
            if self.steps > MOST or not isinstance(user, Op) or user.tag != DERIVED:
                return None
            if _adds_up(user) and len([x for x in user.args if x is v]) == 1:
                self.sums.append(user)
                self.beside += [x for x in user.args if x is not v]
            elif not self._ends(v, user):
                if not self._goes_on(v, user):
                    return None
                if user.result not in self.seen:
                    waiting += self._from(user.result)
            if not waiting:
                waiting += self._from_others()
        if self.number is None or len({*self.sinks, *self.sources}) < len(self.sinks) + len(self.sources):
            return None
        if any(x in self.seen for x in self.beside if type(x) is Value):
            return None  # no multiple of the array, but of its square
        if any(x in self.seen for source in self.sources for x in source.operands()):
            return None  # it would have the number twice
        if not all(_is_zero(x) or x in self.seen for x in self.others):
            return None
        number = math.copysign(self.number, self.signs)
        return Way(number, tuple(self.sources), tuple(self.sinks), tuple(self.sums))

    def _from(self, v: Value) -> list[tuple[Value, Op | Region]]:
        self.seen.add(v)
        return [(v, user) for user in self.uses[v]]

    def _from_others(self) -> list[tuple[Value, Op | Region]]:
        """The ways on from other products with numbers, to which what is computed of the array is added."""
        found: list[tuple[Value, Op | Region]] = []
        for x in self.others:
            if type(x) is Value and x not in self.seen and x.op is not None and _literal_in(x.op) is not None:
                self.sources.append(x.op)
                found += self._from(x)
        return found

    def _ends(self, v: Value, user: Op) -> bool:
        """The operation is a product with the number, at its place or in its other factor."""
        if user.prim is not MUL:
            return False
        other = user.args[1] if user.args[0] is v else user.args[0]
        product = user if type(other) is float else other.op if type(other) is Value else None
        if product is None or (product is not user and len(self.uses[other]) != 1):
            return False
        number = _literal_in(product)
        if number is None or (self.number is not None and abs(number) != abs(self.number)):
            return False
        if not _is_double(product.result) or product.result.type.ndim != v.type.ndim:
            return False  # it has fewer elements
        self.number = number if self.number is None else self.number
        self.signs += math.copysign(1.0 if product is user else 8.0, number)
        self.sinks.append(product)
        if product is not user:
            self.beside += [other, *product.operands()]
        return True

    def _goes_on(self, v: Value, user: Op) -> bool:
        """The result of the operation is a multiple of the value."""
        if not self.products.may_lead(user) or len([x for x in user.operands() if x is v]) != 1:
            return False
        if user.prim in SUMS:
            return self._adds(user.args[1] if user.args[0] is v else user.args[0])
        if user.prim in (SET, ADDAT):
            base, _, stored = user.args
            return (base is v or stored is v) and self._adds(stored if base is v else base)
        self.beside += [x for x in user.operands() if x is not v]
        return user.prim in (MUL, NEG) or (user.prim in (DIV, OVER, GET) and user.args[0] is v)

    def _adds(self, x: Any) -> bool:
        """What is added to a multiple of the array may be one too, or become one."""
        self.others.append(x)
        if type(x) is not Value or x in self.seen or _is_zero(x):
            return True
        if x.op is None or x.op.tag != DERIVED:
            return False
        at = self.products.at
        return _literal_in(x.op) is not None or at.get(x.op, len(at)) > at[self.op]


def _adds_up(op: Op) -> bool:
    """The operation makes one number of all elements of an array."""
    return op.prim in (SUM, DOT, PRIMS[np.vdot]) and op.result.type.dims == () and op.result.type.dtype == np.float64


def _is_double(v: Value) -> bool:
    """An array of float64 with axes."""
    t = v.type
    return t.kind == "array" and t.dtype == np.float64 and bool(t.ndim) and not t.duck


def _literal_in(op: Op) -> float | None:
    """The number by which an operation of the adjoint multiplies an array."""
    if op.prim is not MUL or op.tag != DERIVED:
        return None
    for number, x in (op.args, op.args[::-1]):
        if type(number) is float and is_moderate(number) and type(x) is Value and x.type == op.result.type:
            return number
    return None


def _is_zero(x: Any) -> bool:
    if type(x) is not Value:
        return bool(x == 0.0)
    return x.op is not None and x.op.prim in (ZEROS, PRIMS[np.zeros], PRIMS[np.zeros_like])


class _Scaling:
    """The numbers of one array and its ways."""

    def __init__(self, uses: Uses):
        self.uses = uses

    def run(self, op: Op, way: Way, users: list[Op] | None) -> None:
        """Multiply what the ways start from by the number, and nothing at their ends.

        users: the first operations on these ways, if there are others
        """
        ends = [(sink, 1.0 if _literal_in(sink) == way.number else -1.0) for sink in way.sinks]
        if users is None:
            ends += [(source, (_literal_in(source) or 1.0) * way.number) for source in way.sources]
        else:
            number, x = 1.0, op.result
            if (literal := _literal_in(op)) is not None:
                number, (x,) = literal, op.operands()
            made = _emit(self.uses, op, MUL, x, number * way.number, behind=True)
            for user in users:
                self.uses.change(user, user.prim, *[made if y is op.result else y for y in user.args])
        for product, number in ends:
            self.put(product, number)
        for total in way.sums:
            self.multiply(total, 1.0 / way.number)

    def put(self, product: Op, number: float) -> None:
        """Put another number into a product."""
        (x,) = product.operands()
        if abs(number) != 1.0:
            product.args = tuple([y if type(y) is Value else number for y in product.args])
            return
        if len(self.uses[x]) == 1 and _may_wait(x, product):
            product.parent.ops.remove(x.op)  # type: ignore[union-attr, arg-type]
            product.parent.ops.insert(product.parent.ops.index(product), x.op)  # type: ignore[union-attr, arg-type]
            x.hint = product.result.hint or x.hint
            x.op.loc = product.loc  # type: ignore[union-attr]
        if number == 1.0:
            self.uses.replace(product.result, x)
            return
        self.uses.change(product, NEG, x)
        users = self.uses[product.result][:]
        if all(isinstance(user, Op) and user.prim in (NEG, *SUMS) for user in users):
            for user in users:  # each takes the sign for itself
                assert isinstance(user, Op)
                if user.prim is NEG:
                    self.uses.replace(user.result, x)
                else:
                    minus = _emit(self.uses, user, NEG, x)
                    self.uses.change(user, user.prim, *[minus if y is product.result else y for y in user.args])

    def multiply(self, total: Op, number: float) -> None:
        """Multiply what is added up."""
        assert total.parent is not None
        made = derived(total.parent, MUL, total.result, number, loc=total.loc)
        total.parent.ops.insert(total.parent.ops.index(total) + 1, made)
        self.uses.add([made])
        self.uses.replace(total.result, made.result, but=made)


def _may_wait(x: Value, user: Op) -> bool:
    """What computes a value may do so in front of its user: what it reads is not stored into before."""
    op, region = x.op, user.parent
    if op is None or op.parent is not region or region is None or op.tag != DERIVED or not op.prim.elementwise:
        return False
    between = region.ops[region.ops.index(op) + 1 : region.ops.index(user)]
    if len(between) > FAR or any(at.regions or x in at.operands() for at in between):
        return False  # what nothing needs may read it, too
    stored = {_memory(at.args[0]) for at in between if at.prim in STORES and type(at.args[0]) is Value}
    return stored.isdisjoint(map(_memory, op.operands()))


def _memory(v: Value) -> Value:
    """What a part, or a version, of an array was made of."""
    while v.op is not None and (v.op.prim in STORES or v.op.prim.alias != "fresh") and type(v.op.args[0]) is Value:
        v = v.op.args[0]
    return v


__all__ = ["scale_once"]
