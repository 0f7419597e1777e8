"""Stores into whole arrays whose content is kept: what is stored takes the place of the array.

Takes a function that nobody differentiates again. Where the function updates an array in place, as ``u /= d`` does, and
keeps for the backward sweep what is in the array before or after that, it would keep a copy. Gives a function in which
the quotient, a new array, is `u` from there on.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(u):
...     u = u * 1.0
...     for _ in range(5):
...         u /= 1.0 + u * u
...     return np.sum(u)
>>> show_source(f, np.ones(3))
def f_grad(u):
    u2 = u * 1.0
    u_saved = []
    for _ in range(5):
        u_saved.append(u2)
        u2 = u2 / (1.0 + u2 * u2)
    u_bar = spread(1.0, u)
    # adjoint of line 3: for _ in range(5):
    for u in reversed(u_saved):
        # adjoint of line 4: u /= 1.0 + u * u
        one_plus_u_sq = 1.0 + u * u
        u_bar = u_bar / one_plus_u_sq
        u_bar -= 2.0 * (u_bar * (u / one_plus_u_sq) * u)
    return u_bar.copy()
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.core import Function, Op, Region, Value
from ..ir.opset import PUSH, SET
from ..ir.rewrite import collect_uses, replace_values
from ..ir.types import same_dtype


def store_anew(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Let new arrays take the places of those that are kept; `before_change` is called if there are some."""
    stores = [op for op in fn.body.walk() if op.prim is SET and _is_whole(op)]
    uses = collect_uses(fn.body) if stores else {}
    found = [op for op in stores if _is_kept(op, uses)]
    if not found:
        return False
    if before_change is not None:
        before_change()
    for op in found:
        op.args[2].hint = op.args[2].hint or op.result.hint
        assert op.parent is not None
        op.parent.ops.remove(op)
    replace_values(fn.body, {op.result: op.args[2] for op in found})
    return True


def _is_whole(store: Op) -> bool:
    """A new vector is stored into all of a vector of its kind."""
    base, path, v = store.args
    if len(path) != 1 or path[0][0] != "index" or len(path[0][1]) != 1 or path[0][1][0] is not Ellipsis:
        return False
    if type(base) is not Value or type(v) is not Value or v.op is None:
        return False
    if v.op.prim.alias != "fresh" or v.op.parent is not store.parent or store.parent is None:
        return False
    a, b = base.type, v.type
    if a.kind != "array" or b.kind != "array" or a.duck is not None or b.duck is not None:
        return False
    # The new array may lie in memory in another order, which decides how sums are rounded: not with one axis.
    if a.dims is None or b.dims is None or not len(a.dims) == len(b.dims) == 1 or not same_dtype(a.dtype, b.dtype):
        return False
    return all(map(store.parent.dims.same, a.dims, b.dims))


def _is_kept(store: Op, uses: dict[Value, list[Op | Region]]) -> bool:
    """What is stored is read nowhere else, and the content before or after the store is kept on a stack."""
    base, _, v = store.args

    def is_push(user: Any, x: Value) -> bool:
        return isinstance(user, Op) and user.prim is PUSH and user.parent is store.parent and user.args[1] is x

    kept = any(is_push(user, x) for x in (base, store.result) for user in uses.get(x, ()))
    return kept and len(uses.get(v, ())) == 1


__all__ = ["store_anew"]
