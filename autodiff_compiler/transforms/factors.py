"""Factors: products of an adjoint have one number each, which goes where there is the least to multiply.

The derivative of a root brings 0.5 with it, that of a square 2.0. Takes an adjoint. Gives an adjoint in which numbers
are merged wherever one leads to the other (`transforms.scalings`), and in which a number of a product is multiplied by
what has fewer elements: a number of the run, or a vector that is broadcast.

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

from ..ir.core import DERIVED, Function, Op, Value, type_of
from ..ir.opset import DIV, GET, MUL, adds_axes_only
from ..ir.rewrite import Uses, derived
from ..late import late
from .algebra import is_moderate

merge_numbers = late(__package__, "scalings", "merge_numbers")


def merge_factors(fn: Function) -> None:
    """Merge the numbers in products, and move them to what has fewer elements."""
    ops = list(fn.body.walk())
    products = [op for op in ops if op.prim is MUL and op.tag == DERIVED]
    if not products:
        return
    uses = Uses(fn.body)
    if _may_merge(ops):
        merge_numbers(ops, uses)
    for op in products:
        _multiply_numbers(op, uses)


def _may_merge(ops: list[Op]) -> bool:
    """Two products or quotients of the adjoint have literals, or there is a quotient of an array by a number."""
    own = [op for op in ops if op.prim in (MUL, DIV) and op.tag == DERIVED]
    if sum([type(x) is not Value or type(y) is not Value for x, y in (op.args for op in own)]) > 1:
        return True
    return any(op.prim is DIV and type_of(op.args[1]).is_scalar and op.result.type.kind == "array" for op in own)


def _multiply_numbers(op: Op, uses: Uses) -> None:
    """``s * (2.0 * x)`` and ``2.0 * (s * x)`` as ``(2.0 * s) * x``, for a number `s` that only the run tells, or for an
    array with fewer axes that is broadcast."""
    for s, product in (op.args, op.args[::-1]) if op.prim is MUL else ():
        inner = product.op if type(product) is Value and uses[product] == [op] else None
        if inner is None or inner.prim is not MUL or inner.tag != DERIVED or inner.result.type != op.result.type:
            continue
        if type(s) is float:
            small = _column_in(inner) if is_moderate(s) else None
            if small is not None and _scale(small, s, inner, uses):
                product.hint = op.result.hint
                uses.replace(op.result, product)
                return
            continue
        number, x = inner.args
        if type(number) is not float or not is_moderate(number) or type(x) is not Value or type(s) is not Value:
            continue
        if x.type == product.type and x.type.kind == "array" and _may_take(s, x) and _scale(s, number, op, uses):
            uses.change(op, MUL, *[x if a is product else a for a in op.args])
            return


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
    if target is None or target.parent is None or (target is not user and len(uses[s]) != 1):
        return False
    small = s if target is user else target.args[0]
    scaled = derived(target.parent, MUL, number, small, loc=user.loc)
    target.parent.ops.insert(target.parent.ops.index(target), scaled)
    uses.add([scaled])
    uses.change(target, target.prim, *[scaled.result if a is small else a for a in target.args])
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


__all__ = ["merge_factors"]
