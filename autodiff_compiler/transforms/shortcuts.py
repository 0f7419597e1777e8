"""Functions of NumPy's that take long to start: what they compute, by operations that do not.

Takes a function that nobody differentiates again. Gives the function in which ``np.concatenate((x[1:], x[:1]))`` stands
in the place of ``np.roll(x, -1)``, and a sum over the number of elements in that of ``np.mean(x)``. A small array takes
a fifth, and a third, of the time so. Norms of rows are roots of sums, which are fast where rows are short (`rows`), and
variances are sums of squares, whose terms the derivative needs as well.
These are the same numbers, in the same order in memory.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x):
...     return np.mean((np.roll(x, -1) - x) ** 2) ** 2
>>> show_source(f, np.ones(3))
def f_grad(x):
    t = np.concatenate((x[1:], x[:1])) - x
    # adjoint of line 2: return np.mean((np.roll(x, -1) - x) ** 2) ** 2
    roll_x_bar = 4.0 * ((t**2).sum() / x.size) / x.shape[0] * t
    return np.concatenate((roll_x_bar[-1:], roll_x_bar[:-1])) - roll_x_bar
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..ir.core import DERIVED, Builder, Function, Op, Prim, Value
from ..ir.opset import DIM, DIV, GET, MUL, PRIMS, SIZE, SUB
from ..ir.rewrite import collect_uses, replace_values
from ..ir.telling import give, telling
from .shapes import own_params

ONLY = {"axis", "keepdims", "ddof"}


def take_shortcuts(fn: Function, before_change: Callable[[], None] | None = None) -> set[Op] | None:
    """Put other operations in the place of slow ones; `before_change` is called if there is something.

    Returns operations that derivatives of what was slow may compute, too; None if nothing is slow.
    """
    table = _table()
    found = [op for op in fn.body.walk() if op.prim in table and _is_numpys(op)]
    uses = collect_uses(fn.body) if found else {}
    found = [op for op in found if table[op.prim] is not _copy_sign or _signed_power(op, uses) is not None]
    if not found:
        return None
    if before_change is not None:
        before_change()
    deviates = any(table[op.prim] is _sum_of_squares for op in found)
    made = {v for op in found for v in table[op.prim](op, fn, uses) or ()}
    if not deviates:
        return set()  # to share a mean, or a number of elements, would only take a name
    differences = [op for op in fn.body.walk() if op.prim is SUB and op.args[1] in made]
    return {op for op in (*[v.op for v in made], *differences) if op is not None}


@cache
def _table() -> dict[Prim, Callable[[Op, Function, Any], tuple[Value, ...] | None]]:
    return {
        PRIMS[np.roll]: _join, PRIMS[np.mean]: _divide, PRIMS[np.linalg.norm]: _root_of_squares,
        PRIMS[np.var]: _sum_of_squares, PRIMS[np.std]: _sum_of_squares,
        PRIMS[np.sign]: _copy_sign,
    }  # fmt: skip


def _is_numpys(op: Op) -> bool:
    """The operand is an array of NumPy's, and the keywords say no more than along which axis, and if that is kept."""
    a = op.args[0] if op.args else None
    if type(a) is not Value or a.type.kind != "array" or a.type.duck is not None or not op.kwargs.keys() <= ONLY:
        return False
    return a.type.ndim is not None and a.type.dtype is not None and a.type.dtype.isnative


def _put_before(op: Op, prim: Any, *args: Any, **kwargs: Any) -> Value:
    """The result of a new operation in front of another one."""
    region = op.parent
    assert region is not None
    new = Op(prim, args, kwargs, (), op.loc)
    new.tag, new.droppable, new.parent = op.tag, True, region
    new.results = [Value(prim.infer(Builder(region), args, kwargs), "", new)]
    region.ops.insert(region.ops.index(op), new)
    return new.result


def _join(op: Op, fn: Function, uses: Any) -> None:
    """``np.roll`` by one place: two parts, joined, however long the axis is."""
    a, shift, *rest = op.args
    axis, n = rest[0] if rest else op.kwargs.get("axis"), a.type.ndim
    if axis is None and n == 1:
        axis = 0
    if type(shift) is not int or abs(shift) != 1 or type(axis) is not int or not -n <= axis < n:
        return
    parts = [
        _put_before(op, GET, a, (("index", (*[slice(None)] * (axis % n), ends)),))
        for ends in ((slice(-1, None), slice(None, -1)) if shift > 0 else (slice(1, None), slice(None, 1)))
    ]
    op.prim, op.kwargs = PRIMS[np.concatenate], {}
    op.args = (tuple(parts), *([axis % n] if axis % n else []))


def _signed_power(sign: Op, uses: Any) -> tuple[Op, Op, Op] | None:
    """A product with a sign, the power of the size that is one of the other factors, and the product that has it."""
    user = _only_user(sign, uses)
    if sign.tag != DERIVED or user is None or user.prim is not MUL or user.tag != DERIVED:
        return None
    product, (x, y) = user, user.args
    others = [y if x is sign.result else x]
    while others:
        v = others.pop()
        op = v.op if type(v) is Value and v.type.kind == "array" else None
        if op is None or op.tag != DERIVED or op.parent is not sign.parent or _only_user(op, uses) is None:
            continue
        if op.prim is PRIMS[operator.pow] and type(op.args[1]) in (int, float) and op.args[1] > 0:
            size = op.args[0].op if type(op.args[0]) is Value else None
            same = op.result.type.dtype == sign.result.type.dtype and v.type.dims == sign.result.type.dims
            if same and size is not None and size.prim in _sizes() and size.args[0] is sign.args[0]:
                return user, op, product
        if op.prim is MUL and product is user:
            product = op
            others += op.args
    return None


def _only_user(op: Op, uses: Any) -> Op | None:
    users = uses.get(op.result, [])
    return users[0] if len(users) == 1 and isinstance(users[0], Op) and users[0].parent is op.parent else None


@cache
def _sizes() -> set[Prim]:
    return {PRIMS[f] for f in (np.abs, abs) if f in PRIMS}


def _copy_sign(op: Op, fn: Function, uses: Any) -> None:
    """``c * abs(x) ** p * np.sign(x)``: the power takes the sign, in one pass over the array less."""
    found = _signed_power(op, uses)
    if found is None or op.parent is None:
        return  # another sign has taken its place
    user, power, product = found
    op.prim, op.args = PRIMS[np.copysign], (power.result, op.args[0])
    op.parent.ops.remove(op)
    op.parent.ops.insert(op.parent.ops.index(product), op)
    signed = op.result
    if product is not user:
        product.args = tuple([signed if x is power.result else x for x in product.args])
        signed = product.result
    signed.hint = user.result.hint or signed.hint
    replace_values(fn.body, {user.result: signed})
    op.parent.ops.remove(user)
    uses.clear()
    uses.update(collect_uses(fn.body))


def _given(op: Op) -> tuple[int | None, dict[str, Any], int] | None:
    """The axis that is reduced, what a sum along it is given, and `ddof`; None if there is more, or unknown.

    There is an element, and with ``ddof=1`` a second one: otherwise, NumPy warns in its own words.
    """
    a, given = op.args[0], {**dict(zip(("axis",), op.args[1:])), **op.kwargs}
    axis, ddof, keepdims = given.get("axis"), given.get("ddof", 0), given.get("keepdims", False)
    if a.type.dtype != np.float64 or not a.type.dims or len(op.args) > 2 or type(keepdims) is not bool:
        return None
    if (axis is not None and type(axis) is not int) or type(ddof) is not int or ddof not in (0, 1):
        return None
    assert op.parent is not None
    if not all(map(op.parent.dims.not_zero, a.type.dims)):
        return None
    if axis is None:
        return None if keepdims or (ddof and all(d == 1 for d in a.type.dims)) else (None, {}, ddof)
    if not -a.type.ndim <= axis < a.type.ndim or (ddof and a.type.dims[axis] == 1):
        return None
    return axis % a.type.ndim, {"axis": axis, **({"keepdims": True} if keepdims else {})}, ddof


def _count(op: Op, axis: int | None, fn: Function, uses: Any) -> Value | None:
    """How many elements there are, in all or along an axis, by the shape of an array that has a name."""
    a, region = op.args[0], op.parent
    assert region is not None
    same = region.dims.same
    beside = [] if a.op is None else [v for v in a.op.operands() if v.op is None or len(uses.get(v, ())) > 1]
    for x in [*own_params(fn), *([a] if a.op is None or len(uses.get(a, ())) > 1 else []), *beside]:
        if x.type.kind != "array" or x.type.duck is not None or x.type.dims is None:
            continue
        if axis is None and x.type.ndim == a.type.ndim and all(map(same, x.type.dims, a.type.dims)):
            return _put_before(op, SIZE, x)
        at = [k for k, d in enumerate(x.type.dims) if axis is not None and same(d, a.type.dims[axis])]
        if at:
            return _put_before(op, DIM, x, at[0])
    return None


def _divide(op: Op, fn: Function, uses: Any) -> tuple[Value, ...]:
    """``np.mean`` of all elements, or along one of the last two axes, where rows may be short: NumPy divides a sum by
    the number of elements, too."""
    found = None if "ddof" in op.kwargs else _given(op)
    if found is None or (found[0] is not None and found[0] < max(1, op.args[0].type.ndim - 1) - 1):
        return ()
    count = _count(op, found[0], fn, uses)
    if count is None:
        return ()
    give(op.result, telling(op.result))
    total = _put_before(op, PRIMS[np.sum], op.args[0], **found[1])
    op.prim, op.args, op.kwargs = DIV, (total, count), {}
    return count, total, op.result


def _root_of_squares(op: Op, fn: Function, uses: Any) -> None:
    """``np.linalg.norm`` of rows: NumPy computes the root of the sum of squares, too."""
    a, axis = op.args[0], op.kwargs.get("axis")
    if len(op.args) > 1 or "ddof" in op.kwargs or type(axis) is not int or axis not in (-1, a.type.ndim - 1):
        return
    if a.type.ndim < 2:
        return  # it takes a product of vectors
    if a.type.dtype not in (np.float64, np.float32):
        return
    give(op.result, telling(op.result))
    total = _put_before(op, PRIMS[np.sum], _put_before(op, MUL, a, a), **op.kwargs)
    op.prim, op.args, op.kwargs = PRIMS[np.sqrt], (total,), {}


def _sum_of_squares(op: Op, fn: Function, uses: Any) -> tuple[Value, ...]:
    """``np.var`` and ``np.std`` by what NumPy computes, too: squares of differences from a mean, and their mean."""
    a, found = op.args[0], _given(op)
    if found is None:
        return ()
    axis, along, ddof = found
    give(op.result, telling(op.result))
    whole = axis is None and a.type.ndim > 1
    count = _put_before(op, SIZE, a) if whole else _put_before(op, DIM, a, axis or 0)
    total = _put_before(op, PRIMS[np.sum], a, axis=along.get("axis"), keepdims=True)
    mean = _put_before(op, DIV, total, count)
    apart = _put_before(op, SUB, a, mean)
    square = _put_before(op, MUL, apart, apart)
    shared = (count, total, mean, apart, square)
    total = _put_before(op, PRIMS[np.sum], square, **along)
    if ddof:
        count = _put_before(op, SUB, count, ddof)
    if op.prim is PRIMS[np.std]:
        op.prim, op.args, op.kwargs = PRIMS[np.sqrt], (_put_before(op, DIV, total, count),), {}
    else:
        op.prim, op.args, op.kwargs = DIV, (total, count), {}
    return (*shared, total)


__all__ = ["take_shortcuts"]
