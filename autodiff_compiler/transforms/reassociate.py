"""Reassociation: a function whose value, too, may be rounded in another way.

Takes a function that nobody differentiates again. Gives one in which sums are `LOOSE`, as those of derivatives
are, and in which squares and cubes of NumPy's numbers are products. So the passes behind compute a sum of squares as a
product of vectors, for the value as for the derivative. It runs if the user asks for it, with
``reassociate=True``.

>>> import numpy as np
>>> import autodiff_compiler as ad
>>> def distances(points):
...     return np.sqrt(np.sum(points**2, axis=1)).sum()
>>> print(ad.value_and_grad(distances, reassociate=True).source(np.ones((4, 2))).strip())
import numpy as np
from autodiff_compiler.runtime import over, row_dots, spread
<BLANKLINE>
<BLANKLINE>
def distances_value_and_grad(points):
    t = np.sqrt(row_dots(points, points))
    return t.sum(), over(spread(1.0, t), t)[:, None] * points
"""

from __future__ import annotations

import operator

import numpy as np

from ..ir.core import DERIVED, LOOSE, Function, Op, Region, Value, type_of
from ..ir.opset import GET, MUL, NEG, PRIMS
from ..ir.rewrite import derived, replace_values
from ..operations.reductions import SUM

POWERS = (PRIMS[operator.pow], PRIMS[np.power], PRIMS[np.square])
MOST = 3  # a power of more factors is rounded by each of its products


def reassociate(fn: Function) -> None:
    """Mark the operations of the function whose rounding may change, and write powers as products."""
    products: dict[Value, Value] = {}
    for region in _regions(fn.body):
        ops: list[Op] = []
        for op in region.ops:
            made = _product(region, op)
            ops += made or [op]
            if made:
                products[op.result] = made[-1].result
                made[-1].result.hint = op.result.hint
            elif op.prim in (SUM, MUL, NEG, GET) and op.tag is None and _is_float64(op.result):
                op.tag = LOOSE
        region.ops = ops
    replace_values(fn.body, products)


def _regions(region: Region) -> list[Region]:
    return [region, *(inner for op in region.ops for part in op.regions for inner in _regions(part))]


def _is_float64(v: Value) -> bool:
    return v.type.dtype == np.float64 and v.type.kind in ("array", "generic")


def _product(region: Region, op: Op) -> list[Op]:
    """A power with a small exponent as products. Python's own numbers raise OverflowError where a product does not."""
    if op.prim not in POWERS or op.kwargs or op.tag == DERIVED or type(op.args[0]) is not Value:
        return []
    x, n = op.args[0], op.args[1] if len(op.args) > 1 else 2
    if type(n) not in (int, float) or n not in range(2, MOST + 1) or not _is_float64(x) or not _is_float64(op.result):
        return []
    made: list[Op] = []
    out = x
    for _ in range(int(n) - 1):
        made.append(derived(region, MUL, out, x, loc=op.loc))
        made[-1].tag = LOOSE
        out = made[-1].result
    return made if type_of(out) == op.result.type else []


__all__ = ["reassociate"]
