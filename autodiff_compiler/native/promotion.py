"""Numbers that are real at first and complex later, as cotangents are that start as 0.0.

The program has one dtype for a name. A real number may be held as a complex one where nobody can tell: where all that
is computed of it gives the same value for ``x`` and for ``x + 0j``, such as sums and products. The root of a negative
number is an example of what does not.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import runtime
from ..ir import opset
from ..ir.core import IF, LOOP, Op, Region, Value, leaves
from ..ir.opset import lookup
from ..kernels import ratios

_SAME = frozenset([
    opset.SUM_TO, opset.FINISH, opset.CAST, opset.SPREAD, opset.FULL_LIKE, opset.ACCUM, opset.ADDAT, opset.SET,
    opset.COPY, *[
        prim for fn in (
            operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.eq,
            operator.ne, np.add, np.subtract, np.multiply, np.true_divide, np.negative, np.positive, np.conjugate,
            np.real, np.imag, np.abs, abs, np.sum, np.where, runtime.select, runtime.divided, ratios.over,
            ratios.ratio, ratios.quotient, ratios.product,
        ) if (prim := lookup(fn)) is not None
    ],
])  # fmt: skip


class Promoted(Exception):
    """A name that a loop carries has to be complex from the start."""

    def __init__(self, value: Value):
        super().__init__()
        self.value = value


def may_be_complex(v: Value, uses: dict[Value, list[Any]]) -> bool:
    """A real number may be held as a complex one in the place of `v`: nothing that is computed of it differs."""
    seen: set[Value] = set()
    todo = [v]
    while todo:
        x = todo.pop()
        if x in seen or (x.type.dtype is not None and x.type.dtype.kind != "c"):
            continue  # it is known to be real, and is so in any case
        seen.add(x)
        for user in uses.get(x, ()):
            after = _after(user, x)
            if after is None:
                return False
            todo += after
    return True


def _after(user: Op | Region, x: Value) -> list[Value] | None:
    """What depends on a value by a use of it; None if it may differ."""
    if isinstance(user, Region):
        owner = user.op
        if owner is None or owner.prim not in (IF, LOOP):
            return None  # a result, of which the caller sees the type
        first = 0 if owner.prim is IF else 1
        at = [k for k, y in enumerate(user.exit) if y is x]
        if any(k < first for k in at) or any(x in leaves(y) for y in user.exit if type(y) is not Value):
            return None
        found = [owner.results[k - first] for k in at]
        return found + ([user.params[k] for k in at] if owner.prim is LOOP else [])
    if user.prim is LOOP:
        if x in leaves(user.range):
            return None
        at = [k for k, y in enumerate(user.inits) if y is x]
        return [w for k in at for w in (user.regions[0].params[k + 1], user.results[k])]
    return list(user.results) if user.prim in _SAME else None


__all__ = ["Promoted", "may_be_complex"]
