"""Small arrays of ints that a program computes from constants, where they have to be known: a permutation of axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import is_interruption
from ..ir.core import Op, Value
from .avals import is_constant

_MOST = 32  # operations, and elements


def settled(x: Any) -> Any:
    """Ints, or a tuple of them, for an operand that functions of NumPy's make of constants alone; else the operand.

    >>> from autodiff_compiler.ir.core import Builder, Region
    >>> from autodiff_compiler.ir.opset import PRIMS
    >>> builder = Builder(Region())
    >>> settled(builder.emit(PRIMS[np.roll], builder.emit(PRIMS[np.arange], 3), 1))
    (2, 0, 1)
    """
    try:
        made = _computed(x, [_MOST])
    except Exception as error:
        if is_interruption(error):
            raise
        return x  # the program raises it
    if isinstance(made, np.ndarray) and made.ndim < 2 and made.dtype.kind in "iu" and made.size <= _MOST:
        return tuple(made.tolist()) if made.ndim else int(made)
    return made if isinstance(made, int) else x


def _computed(x: Any, budget: list[int]) -> Any:
    """The value of an operand."""
    if isinstance(x, (list, tuple)):
        return type(x)([_computed(item, budget) for item in x])
    if type(x) is Value and x.op is not None and _is_plain(x.op) and budget[0] > 0:
        budget[0] -= 1
        op = x.op
        named = {k: _computed(a, budget) for k, a in op.kwargs.items()}
        assert op.prim.fn is not None
        return op.prim.fn(*[_computed(a, budget) for a in op.args], **named)
    if is_constant(x) or isinstance(x, (np.dtype, type)):
        return x
    raise ValueError("known when the program runs")


def _is_plain(op: Op) -> bool:
    """An operation of NumPy's that gives the same each time."""
    name = op.prim.name
    if op.prim.fn is None or op.prim.effects or op.prim.nout != 1:
        return False
    return name.startswith("np.") and not name.startswith(("np.empty", "np.random"))
