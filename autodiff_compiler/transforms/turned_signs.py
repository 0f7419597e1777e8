"""Turned signs: a product with a negative number is subtracted, not added, and the other way round.

Takes an adjoint that nobody differentiates again. Gives the same adjoint, as one writes it: no number changes.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> from autodiff_compiler.transforms.passes import leaving_out
>>> def f(x, k):
...     return x * x * k - 0.3 * x
>>> with leaving_out(["turned signs"]):
...     show_source(f, 0.5, 0.1)
def f_grad(x, k):
    return -0.3 + 2.0 * (k * x)
>>> show_source(f, 0.5, 0.1)
def f_grad(x, k):
    return 2.0 * (k * x) - 0.3
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.core import DERIVED, Function, Op, Value
from ..ir.opset import ACCUM, ADD, ADDAT, MUL, NEG, SUB
from ..ir.rewrite import derived, live_uses

_ADDED = {ADD: (1, 0), SUB: (1,), ACCUM: (1,), ADDAT: (2,)}  # which operands are added, or subtracted


def turn_signs(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Subtract products with negative numbers that are added; `before_change` is called if there are some."""
    found = [op for op in fn.body.walk() if op.prim in _ADDED and op.tag == DERIVED and any(map(_is_negative, op.args))]
    uses = live_uses(fn.body) if found else {}
    changed = False
    for op in found:
        for k in _ADDED[op.prim]:
            term = op.args[k]
            if not _is_negative(term) or (type(term) is Value and uses.get(term) != [op]):
                continue
            if op.prim in (ADD, SUB) and type(op.args[1 - k]) is not Value:
                continue
            if op.prim in (ACCUM, ADDAT) and (type(term) is not Value or _is_of_helper(term)):
                continue
            if not changed and before_change is not None:
                before_change()
            changed = True
            _turn(op, k)
            break
    return changed


def _turn(op: Op, k: int) -> None:
    """Give the opposite of an operand to the opposite of an operation."""
    term, region = op.args[k], op.parent
    if type(term) is Value:
        assert term.op is not None
        term.op.args = tuple([x if type(x) is Value else -x for x in term.op.args])
    if op.prim in (ADD, SUB):
        op.args = (op.args[1 - k], term if type(term) is Value else -term)
        op.prim = ADD if op.prim is SUB else SUB
        return
    assert region is not None
    minus = derived(region, NEG, term, loc=op.loc)
    region.ops.insert(region.ops.index(op), minus)
    op.args = tuple([minus.result if x is term else x for x in op.args])


def _is_of_helper(term: Value) -> bool:
    """The product may go to a function of its own, whose results have their signs (`transforms.helpers`)."""
    return term.op is not None and term.op.loc is not None and term.op.loc.caller is not None


def _is_negative(x: object) -> bool:
    """A negative literal, or the product of a value of the adjoint with one."""
    if type(x) is float:
        return x < 0.0
    op = x.op if type(x) is Value else None
    return (
        op is not None and op.prim is MUL and op.tag == DERIVED and any(type(y) is float and y < 0.0 for y in op.args)
    )


__all__ = ["turn_signs"]
