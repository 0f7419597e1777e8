"""Literals: ints that only meet floats are written as floats, with which Python and NumPy compute faster.

Python adds, multiplies and compares two floats in half of the time that it takes for a float and an int, and NumPy
saves a fourth of the time of a function of a small array. Takes any function. Gives the same function, with the same
numbers, bit by bit.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> from autodiff_compiler.transforms.passes import leaving_out
>>> def f(x):
...     return np.sum(x / (1 + x * x))
>>> with leaving_out(["literals"]):
...     show_source(f, np.ones(3))
def f_grad(x):
    one_plus_x_sq = 1 + x * x
    # adjoint of line 2: return np.sum(x / (1 + x * x))
    x_bar = 1.0 / one_plus_x_sq
    x_bar -= 2.0 * (x_bar * (x / one_plus_x_sq) * x)
    return x_bar
>>> show_source(f, np.ones(3))
def f_grad(x):
    one_plus_x_sq = 1.0 + x * x
    # adjoint of line 2: return np.sum(x / (1 + x * x))
    x_bar = 1.0 / one_plus_x_sq
    x_bar -= 2.0 * (x_bar * (x / one_plus_x_sq) * x)
    return x_bar
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import Function, Op, Prim, Value, type_of
from ..ir.opset import PRIMS, SET

EXACT = 2**53
_OPERATORS = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.le, operator.gt, operator.ge,
    operator.eq, operator.ne, np.add, np.subtract, np.multiply, np.true_divide, np.maximum, np.minimum,
)  # fmt: skip


@functools.cache
def _numbers() -> dict[Prim, tuple[int, ...]]:
    """Which operands of an operation are numbers that it computes with."""
    where = {PRIMS[f]: (0, 1) for f in _OPERATORS}
    return {**where, SET: (0, 2), PRIMS[np.where]: (1, 2), PRIMS[np.clip]: (0, 1, 2)}


def write_floats(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Write ints as floats where all else is a float; `before_change` is called if there are some."""
    changed = False
    for op in fn.body.walk():
        at = _ints(op)
        if not at:
            continue
        if not changed and before_change is not None:
            before_change()
        changed = True
        op.args = tuple([float(x) if k in at else x for k, x in enumerate(op.args)])
    return changed


def _ints(op: Op) -> list[int]:
    """The operands that are ints and may be floats."""
    at = _numbers().get(op.prim)
    if at is None or op.kwargs or len(op.args) <= at[-1]:
        return []
    ints = [k for k in at if type(op.args[k]) is int and abs(op.args[k]) <= EXACT]
    if not ints or not all(k in ints or _is_double(op.args[k]) for k in at):
        return []
    return ints if any(type(op.args[k]) is Value for k in at) else []


def _is_double(x: Any) -> bool:
    t = type_of(x)
    return t.dtype == np.float64 and t.kind in ("py", "generic", "scalar", "array")


__all__ = ["write_floats"]
