"""Reciprocals: what is divided by a number and multiplied by its reciprocal is multiplied by that twice.

So it is in the derivative of a reciprocal, such as ``1 / (1 + exp(-x))``. Takes an adjoint whose residuals have no
source yet. Gives one that reads the divisor no more, so that loops keep the reciprocal, and not both.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x):
...     gate = 1.0 / (1.0 + x * x)
...     return np.sum(gate * gate)
>>> show_source(f, np.ones(3))
def f_grad(x):
    gate = 1.0 / (1.0 + x * x)
    return -4.0 * gate * gate * gate * x
"""

from __future__ import annotations

from typing import Any

from ..ir.core import DERIVED, Function, Op, Value
from ..ir.opset import DIV, MUL, SPREAD
from ..ir.rewrite import collect_uses, derived


def share_reciprocals(fn: Function) -> None:
    """Let no product of an adjoint have a divisor beside its reciprocal."""
    uses = None
    for op in list(fn.body.walk()):
        if op.prim is MUL and op.tag == DERIVED:
            for quotient, reciprocal in (op.args, op.args[::-1]):
                if _is_reciprocal(reciprocal) and _has_divisor(quotient, op, reciprocal.op.args[1]):
                    uses = uses or collect_uses(fn.body)
                    if len(uses[quotient]) == 1:
                        _multiply(quotient.op, op, _of_one(reciprocal))
                        break


def _is_reciprocal(v: Any) -> bool:
    """One over a value, or another number over an array of the adjoint."""
    op = v.op if type(v) is Value else None
    if op is None or op.prim is not DIV or not v.type.is_float:
        return False
    one = op.args[0]
    if type(one) is Value and one.op is not None and one.op.prim is SPREAD:
        return type(one.op.args[0]) is float and one.op.args[0] == 1.0
    return type(one) is float and (one == 1.0 or (op.tag == DERIVED and v.type.kind == "array"))


def _of_one(reciprocal: Value) -> Value:
    """The reciprocal, of which another number over the value is a multiple."""
    op = reciprocal.op
    assert op is not None and op.parent is not None
    number, d = op.args
    if type(number) is not float or number == 1.0:
        return reciprocal
    one = derived(op.parent, DIV, 1.0, d, loc=op.loc)
    one.result.type = reciprocal.type
    op.parent.ops.insert(op.parent.ops.index(op), one)
    op.prim, op.args = MUL, (number, one.result)
    return one.result


def _has_divisor(v: Any, user: Op, d: Any) -> bool:
    """A cotangent over this value, computed where it is used."""
    op = v.op if type(v) is Value else None
    if op is None or op.prim is not DIV or op.tag != DERIVED or op.parent is not user.parent:
        return False
    return type(d) is Value and op.args[1] is d and type(op.args[0]) is Value and op.args[0] is not d


def _multiply(quotient: Op, user: Op, reciprocal: Value) -> None:
    """Multiply by the reciprocal instead, which is there where the product is computed."""
    quotient.prim, quotient.args = MUL, (quotient.args[0], reciprocal)
    region = user.parent
    assert region is not None
    region.ops.remove(quotient)
    region.ops.insert(region.ops.index(user), quotient)


__all__ = ["share_reciprocals"]
