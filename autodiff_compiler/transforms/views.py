"""Views: the transpose of a part of an array is that of the part, where the part itself is read, too.

Takes a function that nobody differentiates again. Where it reads a part, and also the transposed part, gives the
function that looks up the part once. The frontend, and the rules of products, put both steps into one path.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(y, x):
...     rows = x[:2]
...     return np.sum(np.sin(rows @ np.cos(rows.T @ y)))
>>> show_source(f, np.ones(2), np.ones((3, 4)))
def f_grad(y, x):
    rows = x[:2]
    rows_T = rows.T
    rows_T_y = rows_T @ y
    return -np.cos(rows @ np.cos(rows_T_y)).dot(rows) * np.sin(rows_T_y) @ rows_T
"""

from __future__ import annotations

from typing import Any

from ..ir.core import DERIVED, Function, Op, Region, Value, structural_key
from ..ir.opset import GET

T = ("transpose", None)


def share_views(fn: Function) -> None:
    """Transpose parts that have been looked up."""
    _share(fn.body, [])


def _share(region: Region, around: list[dict[Any, Op]]) -> None:
    found: dict[Any, Op] = {}
    waiting: dict[Any, list[Op]] = {}  # transposed parts in front of which the part has not been read
    for op in list(region.ops):
        for inner in op.regions:
            _share(inner, [*around, found])
        if op.prim is not GET or type(op.args[0]) is not Value or op.args[0].type.kind != "array":
            continue
        base, path = op.args
        key = structural_key((base, path[:1]))
        if len(path) == 1 and path[0] != T:
            first = found.setdefault(key, op)
            if first is op and op.tag == DERIVED and key in waiting:
                region.ops.remove(op)
                region.ops.insert(region.ops.index(waiting[key][0]), op)
                op.loc = waiting[key][0].loc
                for user in waiting.pop(key):
                    user.args = (op.result, (T,))
        elif len(path) == 2 and path[1] == T:
            known = next((scope[key] for scope in (found, *around) if key in scope), None)
            if known is not None:
                op.args = (known.result, (T,))
            else:
                waiting.setdefault(key, []).append(op)


__all__ = ["share_views"]
