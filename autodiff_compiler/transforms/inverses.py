"""Systems with a matrix whose inverse an adjoint has anyway are solved by a product with it.

The adjoint of `np.linalg.slogdet` and of `np.linalg.inv` has the inverse of the matrix, and that of `np.linalg.solve`
solves a system with the transposed one. Takes an adjoint. Gives one that factors such a matrix once. A product with the
inverse is as near to the solution as a gradient that has the inverse in it can be: both errors are bounded by the
condition of the matrix (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, section 14.1).

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(a, y):
...     return y @ np.linalg.solve(a, y) + np.linalg.slogdet(a)[1]
>>> show_source(f, np.eye(2), np.ones(2))
def f_grad(a, y):
    np.linalg.slogdet(a)
    # adjoint of line 2: return y @ np.linalg.solve(a, y) + np.linalg.slogdet(a)[1]
    t = inverse(a)
    a_bar = t.T
    a_bar -= t.T.dot(y)[:, None].dot(np.linalg.solve(a, y)[None, :])
    return a_bar
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import DERIVED, Function, Op, Region, Value, type_of
from ..ir.opset import GET, PRIMS
from ..ir.rewrite import derived
from ..kernels import matrices
from ..operations.linalg import MATMUL

_TRANSPOSED = (("transpose", None),)


def use_inverses(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Let products with inverses take the place of systems; `before_change` is called if there are some."""
    solve = PRIMS[np.linalg.solve]
    systems = [op for op in fn.body.walk() if op.prim is solve and op.tag == DERIVED and _is_plain(op)]
    found = [(op, known) for op in systems if (known := _inverse_for(op)) is not None]
    if found and before_change is not None:
        before_change()
    for op, known in found:
        assert op.parent is not None
        _multiply(op, known, op.parent)
    return bool(found)


def _is_plain(op: Op) -> bool:
    """One system with one matrix: solved for a vector or for the columns of a matrix."""
    ranks = [type_of(x).ndim for x in op.args]
    return not op.kwargs and len(ranks) == 2 and ranks[0] == 2 and ranks[1] in (1, 2)


def _inverse_for(op: Op) -> Op | None:
    """The inverse of the matrix of a system, which is there, or that of an adjoint, which may come first."""
    assert op.parent is not None
    matrix, before = _untransposed(op.args[0]), True
    for known in op.parent.ops:
        before = before and known is not op
        ours = known.prim is PRIMS[matrices.inverse] and known.tag == DERIVED
        if (ours or (before and known.prim is PRIMS[np.linalg.inv])) and known.args[0] is matrix:
            return known
    return None


def _untransposed(a: Any) -> Any:
    is_transposed = type(a) is Value and a.op is not None and a.op.prim is GET and a.op.args[1] == _TRANSPOSED
    return a.op.args[0] if is_transposed else a


def _multiply(op: Op, known: Op, region: Region) -> None:
    """The inverse, in front of the system if it is behind it, and the product in the place of the system."""
    matrix, b = op.args
    at = region.ops.index(op)
    new: list[Op] = []
    if region.ops.index(known) > at:
        region.ops.remove(known)
        new.append(known)
    factor = known.result
    if _untransposed(matrix) is not matrix:
        new.append(derived(region, GET, factor, _TRANSPOSED, loc=op.loc))
        factor = new[-1].result
    op.prim, op.args = MATMUL, (factor, b)
    region.ops[at:at] = new


__all__ = ["use_inverses"]
