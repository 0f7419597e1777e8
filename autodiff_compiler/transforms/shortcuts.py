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
    roll_x_bar = 2.0 * (2.0 * ((t**2).sum() / x.size) / x.shape[0]) * t
    return np.concatenate((roll_x_bar[-1:], roll_x_bar[:-1])) - roll_x_bar
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..ir.core import Builder, Function, Op, Prim, Value
from ..ir.opset import DIM, DIV, GET, MUL, PRIMS, SIZE, SUB
from ..ir.rewrite import collect_uses
from ..ir.telling import give, telling

ONLY = {"axis", "keepdims", "ddof"}


def take_shortcuts(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Put other operations in the place of slow ones; `before_change` is called if there is something."""
    table = _table()
    found = [op for op in fn.body.walk() if op.prim in table and _is_numpys(op)]
    if not found:
        return False
    if before_change is not None:
        before_change()
    uses = collect_uses(fn.body)
    for op in found:
        table[op.prim](op, fn, uses)
    return True


@cache
def _table() -> dict[Prim, Callable[[Op, Function, Any], None]]:
    return {
        PRIMS[np.roll]: _join, PRIMS[np.mean]: _divide, PRIMS[np.linalg.norm]: _root_of_squares,
        PRIMS[np.var]: _sum_of_squares, PRIMS[np.std]: _sum_of_squares,
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


def _divide(op: Op, fn: Function, uses: Any) -> None:
    """``np.mean`` of some elements: NumPy divides their sum by their number, too."""
    a = op.args[0]
    given = {**dict(zip(("axis",), op.args[1:])), **op.kwargs}
    axis = given.get("axis")
    if (
        "ddof" in given
        or len(op.args) > 2
        or a.type.dtype != np.float64
        or not a.type.dims
        or (axis is None and "keepdims" in given)
    ):
        return
    assert op.parent is not None
    dims = op.parent.dims
    if not all(map(dims.not_zero, a.type.dims)):
        return  # of no elements, it warns in its own words
    if axis is not None:
        _divide_along(op, given, uses)
        return
    alike = [p for p in fn.params if p.type.kind == "array" and p.type.duck is None and p.type.ndim == a.type.ndim]
    if a.op is not None and len(uses.get(a, ())) < 2:  # it would need a name, which what it is made of may have
        named = [x for x in a.op.operands() if x.op is not None and len(uses.get(x, ())) > 1 and x.op.prim is not GET]
        alike += [x for x in named if x.type.kind == "array" and x.type.duck is None and x.type.ndim == a.type.ndim]
    alike = [p for p in alike if all(map(dims.same, p.type.dims or (), a.type.dims))]
    if not alike and len(uses.get(a, ())) < 2 and a.op is not None:
        return
    give(op.result, telling(op.result))
    total = _put_before(op, PRIMS[np.sum], a)
    count = _put_before(op, SIZE, alike[0] if alike else a)
    op.prim, op.args, op.kwargs = DIV, (total, count), {}


def _divide_along(op: Op, given: dict[str, Any], uses: Any) -> None:
    """``np.mean`` along the last axis, or the one before, which may be that of many short rows."""
    a, axis, rank = op.args[0], given["axis"], op.args[0].type.ndim
    if type(axis) is not int or rank < 2 or axis % rank < rank - 2 or not -rank <= axis < rank:
        return
    if len(uses.get(a, ())) < 2 and a.op is not None:
        return  # it would need a name
    give(op.result, telling(op.result))
    total, count = _put_before(op, PRIMS[np.sum], a, **given), _put_before(op, DIM, a, axis % rank)
    op.prim, op.args, op.kwargs = DIV, (total, count), {}


def _root_of_squares(op: Op, fn: Function, uses: Any) -> None:
    """``np.linalg.norm`` of rows: NumPy computes the root of the sum of squares, too."""
    a, axis = op.args[0], op.kwargs.get("axis")
    if len(op.args) > 1 or type(axis) is not int or not -a.type.ndim <= axis < a.type.ndim or a.type.ndim < 2:
        return
    if axis % a.type.ndim < a.type.ndim - 1 or a.type.dtype not in (np.float64, np.float32):
        return
    give(op.result, telling(op.result))
    total = _put_before(op, PRIMS[np.sum], _put_before(op, MUL, a, a), **op.kwargs)
    op.prim, op.args, op.kwargs = PRIMS[np.sqrt], (total,), {}


def _sum_of_squares(op: Op, fn: Function, uses: Any) -> None:
    """``np.var`` and ``np.std`` by what NumPy computes, too: squares of differences from a mean, and their mean."""
    a = op.args[0]
    given = {**dict(zip(("axis",), op.args[1:])), **op.kwargs}
    axis, ddof = given.pop("axis", None), given.pop("ddof", 0)
    assert op.parent is not None
    dims, lengths = op.parent.dims, a.type.dims
    if len(op.args) > 2 or a.type.dtype != np.float64 or not lengths or type(ddof) is not int or ddof not in (0, 1):
        return
    if axis is not None:
        if type(axis) is not int or not -len(lengths) <= axis < len(lengths):
            return
        lengths, given["axis"] = (lengths[axis],), axis
    # There is more than one element: of none, and of one with ddof=1, NumPy warns in its own words.
    if not all(map(dims.not_zero, a.type.dims)) or (ddof and all(d == 1 for d in lengths)):
        return
    if type(given.get("keepdims", False)) is not bool or (axis is None and given.get("keepdims")):
        return
    give(op.result, telling(op.result))
    count = _put_before(op, SIZE, a) if axis is None else _put_before(op, DIM, a, axis % a.type.ndim)
    total = _put_before(op, PRIMS[np.sum], a, **({} if axis is None else {"axis": axis}), keepdims=True)
    apart = _put_before(op, SUB, a, _put_before(op, DIV, total, count))
    total = _put_before(op, PRIMS[np.sum], _put_before(op, MUL, apart, apart), **given)
    if ddof:
        count = _put_before(op, SUB, count, ddof)
    if op.prim is PRIMS[np.var]:
        op.prim, op.args, op.kwargs = DIV, (total, count), {}
    else:
        op.prim, op.args, op.kwargs = PRIMS[np.sqrt], (_put_before(op, DIV, total, count),), {}


__all__ = ["take_shortcuts"]
