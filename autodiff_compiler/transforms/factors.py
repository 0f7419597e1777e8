"""Factors: two numbers that an array of the adjoint is multiplied by become one, and go where there is one.

The derivative of a root brings 0.5 with it, that of a square 2.0. Takes an adjoint. Gives an adjoint in which a product
of two arrays, each of them a number times something that nobody else reads, has one number in it, at the array with
fewer axes. So have several products with one array, if all of them have the same number. What is multiplied
by a number, and divided by it wherever it is read, as behind ``t * g(x / t)``, is neither. A product of numbers has one
literal.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> from autodiff_compiler.transforms.passes import leaving_out
>>> def f(d):
...     return np.sum(np.sqrt(np.sum(d**2, axis=1)))
>>> with leaving_out(["factors"]):
...     show_source(f, np.ones((3, 2)))
def f_grad(d):
    sqrt_sum_d_sq = np.sqrt(row_sums(d**2))
    return over(spread(0.5, sqrt_sum_d_sq), sqrt_sum_d_sq)[:, None] * (2.0 * d)
>>> show_source(f, np.ones((3, 2)))
def f_grad(d):
    sqrt_sum_d_sq = np.sqrt(row_sums(d**2))
    return over(spread(1.0, sqrt_sum_d_sq), sqrt_sum_d_sq)[:, None] * d
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.core import DERIVED, Function, Op, Region, Value, map_leaves
from ..ir.opset import DIV, GET, MUL, NEG, SPREAD, adds_axes_only
from ..ir.rewrite import collect_uses, derived, live_uses, replace_values
from ..operations.choices import OVER
from ..records import record
from .algebra import is_moderate

MOST = 8  # quotients by one number
Uses = dict[Value, list[Op | Region]]


@record
class Factor:
    """A number that is multiplied by.

    op:    the operation that has the number among its operands
    users: the operations that read its result
    """

    op: Op
    number: float
    users: tuple[Op, ...]


def merge_factors(fn: Function) -> None:
    """Let the products of an adjoint have one number each."""
    _cancel(fn)
    products = {op for op in fn.body.walk() if op.prim is MUL and op.tag == DERIVED and _is_of_arrays(op)}
    if products:
        _Merging(products, collect_uses(fn.body)).run()
    _multiply_numbers(fn)
    _merge_literals(fn)


def _cancel(fn: Function) -> None:
    """Leave out multiplications by numbers of the run that all that is computed of the products is divided by again."""
    ops = [op for op in fn.body.walk() if op.tag == DERIVED and op.prim in (MUL, DIV)]
    divisors = {op.args[1] for op in ops if op.prim is DIV and type(op.args[1]) is Value}
    for op in ops:
        position = _number_in(op)
        number = None if position is None else op.args[position]
        if number is None or number not in divisors:
            continue
        uses = live_uses(fn.body)
        quotients: list[Op] = []
        if not _is_divided(op.result, number, uses, quotients):
            continue
        for q in quotients:
            if len(uses[q.args[0]]) == 1:
                q.args[0].hint = q.result.hint
        same: dict[Value, Any] = {q.result: q.args[0] for q in quotients}
        if op.prim is DIV:
            op.args = (1.0, op.args[1])
        else:
            product = op.args[1 - position]  # type: ignore[operator]
            same = {**{v: product if w is op.result else w for v, w in same.items()}, op.result: product}
        replace_values(fn.body, same)


def _number_in(op: Op) -> int | None:
    """At which place a product, or a numerator, with an array has a number that only the run tells."""
    for k, t in enumerate(op.args[:2] if op.prim is MUL else op.args[:1]):
        x = op.args[1 - k]
        if type(x) is Value and type(t) is Value and t.type.is_scalar and t.type.is_float and t.type.is_real:
            if x.type.kind == "array" and x.type.is_float and x.type == op.result.type:
                return k
    return None


def _is_divided(v: Value, number: Value, uses: Uses, quotients: list[Op]) -> bool:
    """Each way on from `v`, through products, quotients and signs, leads to a quotient by the number."""
    users = uses.get(v, ())
    for user in users:
        if not isinstance(user, Op) or user.tag != DERIVED or sum(x is v for x in user.args) != 1:
            return False
        is_factor = user.prim in (MUL, NEG) or (user.prim in (DIV, OVER) and user.args[0] is v)
        is_factor = is_factor or (user.prim is GET and adds_axes_only(user.args[1]))
        if user.prim is DIV and is_factor and user.args[1] is number:
            quotients.append(user)
        elif not is_factor or len(quotients) > MOST or not _is_divided(user.result, number, uses, quotients):
            return False
    return bool(users)


def _merge_literals(fn: Function) -> None:
    """``x * 0.5 * y / 30.0`` as ``x / 60.0 * y``, for numbers, of which Python computes one at a time."""
    uses = live_uses(fn.body)
    for op in list(fn.body.walk()):
        at = _literal_at(op)
        if at is None or (op.prim is DIV and at == 0) or not uses.get(op.result):
            continue
        x, number = op.args[1 - at], float(op.args[at])
        inner = _with_literal(x, op, uses) if x.type == op.result.type else None
        if inner is not None and _scale_literal(inner, number, op.prim is DIV):
            x.hint = op.result.hint
            _replace(op.result, x, uses)
            _drop_one(inner, uses)
    for op in list(fn.body.walk()):
        if len(op.results) == 1 and _is_double(op) and len(uses.get(op.result, ())) > 1:
            _multiply_once(op, uses)


def _multiply_once(op: Op, uses: Uses) -> None:
    """``2.0 * (s * x)`` and ``2.0 * (s * y)`` as products with ``2.0 * s``, if `s` is used for nothing else."""
    tops: dict[Op, None] = {}
    for user in uses[op.result]:
        top = _multiplied_behind(op.result, user, uses)
        if top is None or top in tops:
            return  # the second one of a square
        tops[top] = None
    numbers = {top.args[_literal_at(top) or 0] for top in tops}
    if len(numbers) != 1:
        return
    number = float(numbers.pop())
    for top in tops:
        x = top.args[1 - (_literal_at(top) or 0)]
        if x is not op.result:
            x.hint = top.result.hint
        _replace(top.result, x, uses)
    inner = op if _literal_at(op) is not None else _among_factors(op, uses)
    if inner is not None and _scale_literal(inner, number, False):
        _drop_one(inner, uses)
        return
    assert op.parent is not None
    scaled = derived(op.parent, MUL, number, op.result, loc=op.loc)
    scaled.result.type, scaled.result.hint = op.result.type, op.result.hint
    op.parent.ops.insert(op.parent.ops.index(op) + 1, scaled)
    uses[scaled.result] = []
    _replace(op.result, scaled.result, uses)
    scaled.args, uses[op.result] = (number, op.result), [scaled]


def _multiplied_behind(v: Value, user: Op | Region, uses: Uses, depth: int = 4) -> Op | None:
    """The product with a literal that all that is computed of `v` by this use goes into, as a factor."""
    if isinstance(user, Region) or not _is_double(user) or not depth:
        return None
    if user.prim is MUL and _literal_at(user) is not None:
        return user
    is_factor = user.prim in (MUL, NEG) or (user.prim in (DIV, OVER) and user.args[0] is v and user.args[1] is not v)
    users = uses.get(user.result, ())
    return _multiplied_behind(user.result, users[0], uses, depth - 1) if is_factor and len(users) == 1 else None


def _is_double(op: Op) -> bool:
    """A real number of the adjoint, of which there is one at a time."""
    if op.tag != DERIVED or op.again or len(op.results) != 1:
        return False
    t = op.results[0].type
    return t.is_scalar and t.is_real and t.dtype == np.float64


def _literal_at(op: Op) -> int | None:
    """Which operand of a product or quotient of numbers of the adjoint is a literal."""
    if op.prim not in (MUL, DIV) or not _is_double(op):
        return None
    for k, x in enumerate(op.args):
        if type(x) in (int, float) and is_moderate(x) and type(op.args[1 - k]) is Value:
            return k
    return None


def _with_literal(v: Any, user: Op, uses: Uses, depth: int = 6) -> Op | None:
    """An operation with a literal, among those that compute a product of numbers for `user` alone."""
    op = v.op if type(v) is Value and uses.get(v) == [user] else None
    if op is None or not _is_double(op) or not depth:
        return None
    return op if _literal_at(op) is not None else _among_factors(op, uses, depth - 1)


def _among_factors(op: Op, uses: Uses, depth: int = 6) -> Op | None:
    if op.prim not in (MUL, NEG, DIV, OVER):
        return None
    factors = op.args if op.prim is MUL else op.args[:1]
    return next((found for x in factors if (found := _with_literal(x, op, uses, depth))), None)


def _scale_literal(op: Op, number: float, divides: bool) -> bool:
    """Multiply the literal of an operation by a number, or divide it by that."""
    k = _literal_at(op)
    assert k is not None
    literal, other = float(op.args[k]), op.args[1 - k]
    over = op.prim is DIV and k == 1
    top = (1.0 if over else literal) * (1.0 if divides else number)
    by = (literal if over else 1.0) * (number if divides else 1.0)
    if not is_moderate(top / by):
        return False
    if op.prim is DIV and k == 0:
        op.args = (top / by, other)
    elif len(repr(by / top)) < len(repr(top / by)):
        op.prim, op.args = DIV, (other, by / top)
    else:
        op.args = (top / by, other) if op.prim is MUL and k == 0 else (other, top / by)
        op.prim = MUL
    return True


def _drop_one(op: Op, uses: Uses) -> None:
    """Leave out the multiplication by one that scaling a literal has made."""
    at = _literal_at(op) if op.prim is MUL else None
    if at is None or abs(op.args[at]) != 1.0:
        return
    other = op.args[1 - at]
    if other.type == op.result.type and op.args[at] < 0.0:
        op.prim, op.args = NEG, (other,)
    elif other.type == op.result.type:
        _replace(op.result, other, uses)


def _replace(v: Value, by: Value, uses: Uses) -> None:
    for user in uses[v]:
        if isinstance(user, Region):
            user.exit = map_leaves(lambda x: by if x is v else x, user.exit)
        else:
            user.args = map_leaves(lambda x: by if x is v else x, user.args)
    uses[by] = [user for user in uses[by] if user is not v.op] + uses[v]
    uses[v] = []


def _multiply_numbers(fn: Function) -> None:
    """``s * (2.0 * x)`` and ``2.0 * (s * x)`` as ``(2.0 * s) * x``, for a number `s` that only the run tells, or for an
    array with fewer axes that is broadcast."""
    uses = live_uses(fn.body)
    for op in list(fn.body.walk()):
        if op.prim is not MUL or op.tag != DERIVED or op.parent is None:
            continue
        for s, product in (op.args, op.args[::-1]):
            # (What nothing needs any more is still there, and reads what others read.)
            inner = product.op if type(product) is Value and uses.get(product) == [op] else None
            if inner is None or inner.prim is not MUL or inner.tag != DERIVED or inner.result.type != op.result.type:
                continue
            if type(s) is float and is_moderate(s):
                small = _column_in(inner)
                if small is not None and _scale(small, s, inner, uses):
                    product.hint = op.result.hint
                    _replace(op.result, product, uses)
                    break
                continue
            number, x = inner.args
            if type(number) is not float or not is_moderate(number) or type(x) is not Value or type(s) is not Value:
                continue
            if x.type == product.type and x.type.kind == "array" and _may_take(s, x) and _scale(s, number, op, uses):
                op.args = tuple([x if a is product else a for a in op.args])
                uses[x] = [user for user in uses[x] if user is not inner] + [op]
                uses[product] = []
                break


def _column_in(product: Op) -> Value | None:
    """A vector with new axes among two factors."""
    for s, x in (product.args, product.args[::-1]):
        if type(s) is Value and type(x) is Value and not s.type.is_scalar and _may_take(s, x):
            if x.type == product.result.type:
                return s
    return None


def _scale(s: Value, number: float, user: Op, uses: Uses) -> bool:
    """Multiply a factor of `user` by a number: a number, or the vector of which it is a column."""
    target = user if s.type.is_scalar else s.op
    if target is None or target.parent is None or (target is not user and len(uses.get(s, ())) != 1):
        return False
    small = s if target is user else target.args[0]
    scaled = derived(target.parent, MUL, number, small, loc=user.loc)
    target.parent.ops.insert(target.parent.ops.index(target), scaled)
    target.args = tuple([scaled.result if a is small else a for a in target.args])
    return True


def _may_take(s: Value, x: Value) -> bool:
    """A number of the dtype of an array, or a vector with new axes: a product with it has fewer elements."""
    if s.type.is_scalar:
        return s.type.is_real and (s.type.dtype == x.type.dtype or (s.type.kind == "py" and s.type.is_float))
    op = s.op
    if op is None or op.prim is not GET or op.tag != DERIVED or not adds_axes_only(op.args[1]):
        return False
    base = op.args[0]
    return type(base) is Value and base.type.kind == "array" and base.type.dtype == x.type.dtype and base.type.is_float


def _is_of_arrays(op: Op) -> bool:
    return all(type(x) is Value and x.type.kind == "array" and x.type.is_float for x in op.args)


class _Merging:
    def __init__(self, products: set[Op], uses: Uses):
        self.products, self.uses = products, uses

    def run(self) -> None:
        seen: set[Value] = set()
        for op in sorted(self.products, key=lambda op: op.result.type.ndim or 0):
            for k in (0, 1):
                v = op.args[k]
                if v not in seen:
                    seen.add(v)
                    self.merge_around(v)

    def merge_around(self, v: Value) -> None:
        """One number for a value and what it is multiplied by, wherever it is read."""
        users = [user for user in self.uses.get(v, ()) if user in self.products]
        if not users or len(users) != len(self.uses[v]) or any(user.args[0] is user.args[1] for user in users):
            return
        inner = self.factor(v, tuple(users))
        if inner is None:
            return
        others = [self.only_read(user.args[1] if user.args[0] is v else user.args[0], user) for user in users]
        if any(other is None or other.number != others[0].number for other in others):  # type: ignore[union-attr]
            return
        found = [other for other in others if other is not None]
        if len({other.op for other in found}) < len(found):
            return  # the second one of a square, which has the first one in its other factor
        number = inner.number * found[0].number
        if not is_moderate(number):
            return
        if len(found) == 1 and _axes(inner.op) > _axes(found[0].op):
            inner, found = found[0], [inner]  # where there are fewer elements
        if all(other.op.prim is MUL for other in found):
            for other in found:
                self.put(other, 1.0)
            self.put(inner, number)

    def only_read(self, v: Value, user: Op) -> Factor | None:
        return self.factor(v, (user,)) if len(self.uses.get(v, ())) == 1 else None

    def factor(self, v: Value, users: tuple[Op, ...]) -> Factor | None:
        """The number in a value, perhaps in front of products, quotients and a new axis that nobody else reads."""
        op = v.op
        if op is None or op.tag != DERIVED or v.type.kind != "array":
            return None
        if op.prim is MUL:
            for a, other in (op.args, op.args[::-1]):
                if type(a) is float and is_moderate(a) and type(other) is Value and other.type == v.type:
                    return Factor(op, a, users)
        if op.prim in (SPREAD, DIV) and type(op.args[0]) is float and is_moderate(op.args[0]):
            return Factor(op, op.args[0], users)
        if op.prim in (OVER, DIV) or (op.prim is GET and adds_axes_only(op.args[1])):
            return self.only_read(op.args[0], op) if type(op.args[0]) is Value else None
        if op in self.products:
            return self.only_read(op.args[0], op) or self.only_read(op.args[1], op)
        if op.prim is MUL:
            for a, other in (op.args, op.args[::-1]):
                if type(a) is Value and a.type.is_scalar and _is_like(other, v):
                    return self.only_read(other, op)
        return None

    def put(self, factor: Factor, number: float) -> None:
        op = factor.op
        if op.prim is not MUL or abs(number) != 1.0:
            op.args = tuple([number if type(x) is float else x for x in op.args])
            return
        (other,) = [x for x in op.args if type(x) is Value]
        if number < 0.0:
            op.prim, op.args = NEG, (other,)
            return
        for user in factor.users:
            user.args = tuple([other if x is op.result else x for x in user.args])
        self.uses[op.result] = []
        self.uses[other] = [user for user in self.uses[other] if user is not op] + list(factor.users)


def _is_like(x: Any, v: Value) -> bool:
    """The array that was multiplied by a number."""
    return type(x) is Value and x.type.kind == "array" and x.type.ndim == v.type.ndim and x.type.dtype == v.type.dtype


def _axes(op: Op) -> int:
    return op.result.type.ndim or 0


__all__ = ["merge_factors"]
