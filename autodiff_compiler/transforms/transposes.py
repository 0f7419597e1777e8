"""Transposes: a product of matrices that is transposed is that of the transposed matrices, the other way round.

Takes an adjoint that nobody differentiates again. Where it transposes a product that nothing else reads, or stores one
into a transposed part, gives the product that needs no transpose: what is added to an array is laid out as the array.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(k, q):
...     return np.sum((q[:, :2] @ k[:, :2].T) ** 3)
>>> show_source(f, np.ones((2, 3)), np.ones((2, 3)))
def f_grad(k, q):
    q_cols_to_2 = q[:, :2]
    k_bar = np.zeros(k.shape)
    # adjoint of line 2: return np.sum((q[:, :2] @ k[:, :2].T) ** 3)
    k_bar[:, :2] = (3.0 * (q_cols_to_2 @ k[:, :2].T) ** 2).T @ q_cols_to_2
    return k_bar
"""

from __future__ import annotations

from typing import Any

from ..ir.core import DERIVED, Function, Op, Region, Value, type_of
from ..ir.opset import ADDAT, GET, SET
from ..ir.rewrite import collect_uses, derived, replace_values
from ..operations.linalg import MATMUL

T = ("transpose", None)
Uses = dict[Value, list[Op | Region]]


def turn_products(fn: Function) -> None:
    """Leave out transposes that products of matrices can do without."""
    if not any(_ends_transposed(op) for op in fn.body.walk()):
        return
    uses = collect_uses(fn.body)
    same: dict[Value, Any] = {}
    for op in list(fn.body.walk()):
        if op.tag != DERIVED or op.parent is None:
            continue
        if op.prim is GET and op.args[1][0] == T and type_of(op.args[0]).ndim == 2:
            turned = _turned_view(op.args[0], op.args[1][1:], op)
            if turned is None and len(op.args[1]) == 1:
                turned = _turned_product(op.args[0], op, uses)
            if turned is not None:
                same[op.result] = turned
        elif op.prim in (SET, ADDAT) and len(op.args[1]) > 1 and op.args[1][-1] == T:
            turned = _turned_product(op.args[2], op, uses)
            if turned is not None:
                op.args = (op.args[0], op.args[1][:-1], turned)
    replace_values(fn.body, same)


def _ends_transposed(op: Op) -> bool:
    return op.tag == DERIVED and op.prim in (GET, SET, ADDAT) and bool(op.args[1]) and op.args[1][-1] == T


def _turned_view(x: Value, rest: tuple[Any, ...], op: Op) -> Value | None:
    """What a view was made of by transposing it, at the rest of a path."""
    view = x.op
    if view is None or view.prim is not GET or view.args[1][-1] != T:
        return None
    path = (*view.args[1][:-1], *rest)
    return _placed(op, GET, view.args[0], path) if path else view.args[0]


def _turned_product(x: Any, op: Op, uses: Uses) -> Value | None:
    """A product of matrices that nothing else reads, transposed."""
    product = x.op if type(x) is Value and len(uses.get(x, ())) == 1 else None
    if product is None or product.prim is not MATMUL or product.tag != DERIVED:
        return None
    if product.parent is not op.parent or any(type(a) is not Value or a.type.ndim != 2 for a in product.args):
        return None
    turned = []
    for a in product.args[::-1]:
        view = _turned_view(a, (), op)
        turned.append(_placed(op, GET, a, (T,)) if view is None else view)
    return _placed(op, MATMUL, *turned)


def _placed(at: Op, prim: Any, *args: Any) -> Value:
    """The result of an operation that stands in front of another one."""
    assert at.parent is not None
    op = derived(at.parent, prim, *args, loc=at.loc)
    at.parent.ops.insert(at.parent.ops.index(at), op)
    return op.result


__all__ = ["turn_products"]
