"""Loops that fill an array in order, so that what an iteration read can be read again from the finished array.

Takes a loop and the number of an array that it carries. Gives the offset of its stores from the loop's own index, if
all stores of an iteration have the same. `settled` takes a subscript of a read. It tells whether the read names only
places that no later iteration writes.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> def f(x):
...     for i in range(1, 3):
...         x[i] = np.sum(x[:i])
...     return x[2]
>>> loop = next(op for op in lower(f, (np.ones(3),)).function.body.ops if op.prim is LOOP)
>>> order = Filling.of(loop, 0)
>>> order.offset, order.step, order.lowest
(0, 1, 1)
>>> index = loop.regions[0].params[0]
>>> settled(slice(None, index), loop, order), settled(index, loop, order)
(True, False)
"""

from __future__ import annotations

from typing import Any

from ..ir import opset
from ..ir.core import IF, LOOP, Op, Value
from ..ir.opset import ADDAT, SET
from ..records import record


@record
class Filling:
    """A loop's carried array. Each iteration stores only at (the loop's variable + offset) along one axis."""

    versions: list[Value]
    stores: list[Op]
    offset: int
    step: int
    lowest: int  # the least value of the loop's variable
    axis: int = 0

    @staticmethod
    def of(loop: Op, k: int, axis: int = 0) -> Filling | None:
        range_ = loop.args[0]
        if range_ is None or len(range_) != 3 or type(range_[2]) is not int or range_[2] == 0:
            return None
        start, stop, step = range_
        if step > 0:
            if type(start) is not int:
                return None
            lowest = start
        else:
            if type(stop) is not int:
                return None
            lowest = stop + 1
        body = loop.regions[0]
        param = body.params[k + 1]
        versions: list[Value] = [param, loop.results[k]]
        stores: list[Op] = []
        if not _stores_between(body.exit[k + 1], param, versions, stores, set()) or not stores:
            return None
        offset = None
        for store in stores:
            path = store.args[1] if store.prim in (SET, ADDAT) else ()
            at = affine(subscript_of(path, axis), loop)
            if at is None or (offset is not None and at != offset) or lowest + at < 0:
                return None
            offset = at
        versions.remove(loop.results[k])
        assert offset is not None
        return Filling(versions, stores, offset, step, lowest, axis)


def _stores_between(v: Any, param: Value, versions: list[Value], stores: list[Op], seen: set[Value]) -> bool:
    """Collect the stores and versions from a slot's parameter to `v`; False if something else lies between."""
    while v is not param:
        if type(v) is not Value or v.op is None or v in seen:
            return type(v) is Value and v in seen
        seen.add(v)
        versions.append(v)
        op = v.op
        if op.prim in (SET, ADDAT):
            stores.append(op)
            v = op.args[0]
        elif op.prim is IF:
            j = op.results.index(v)
            return all(_stores_between(r.exit[j], param, versions, stores, seen) for r in op.regions)
        elif op.prim is LOOP:
            j = op.results.index(v)
            if j >= len(op.args[1]):
                return False
            inner = op.regions[0].params[j + 1]
            versions.append(inner)
            if not _stores_between(op.regions[0].exit[j + 1], inner, versions, stores, seen):
                return False
            v = op.args[1][j]
        else:
            return False
    return True


def subscript_of(path: Any, axis: int) -> Any:
    """What the first step of a path picks along an axis; None if that is not plain to see."""
    if not path or path[0][0] != "index" or len(path[0][1]) <= axis:
        return None
    *others, item = path[0][1][: axis + 1]
    plain = all(isinstance(x, slice) or (type(x) is not bool and is_subscript(x)) for x in others)
    return item if plain else None


def is_subscript(x: Any) -> bool:
    """An int, or a value that is one."""
    if type(x) is not Value:
        return type(x) is int
    return x.type.is_scalar and x.type.dtype is not None and x.type.dtype.kind in "iu"


def settled(first: Any, loop: Op, order: Filling) -> bool:
    """The subscript of a read, along the axis, names only places that earlier iterations have stored."""
    sign = 1 if order.step > 0 else -1
    if type(first) is slice:
        if first.step not in (None, 1):
            return False
        if sign > 0:
            low = first.start is None or (type(first.start) is int and first.start >= 0)
            at = affine(first.stop, loop)
            return low and at is not None and at <= order.offset and order.lowest + at >= 0
        at = affine(first.start, loop)
        return first.stop is None and at is not None and at > order.offset and order.lowest + at >= 0
    at = affine(first, loop)
    if at is not None:
        return sign * at < sign * order.offset and order.lowest + at >= 0
    if type(first) is Value and first.op is None and first.region is not None and first.region.op is not None:
        inner = first.region.op
        if (
            inner.prim is LOOP
            and first is first.region.params[0]
            and inner.args[0] is not None
            and len(inner.args[0]) == 3
        ):
            start, stop, step = inner.args[0]
            if type(step) is int and step > 0 and sign > 0 and type(start) is int and start >= 0:
                at = affine(stop, loop)
                return at is not None and at <= order.offset
            if type(step) is int and step > 0 and sign < 0:
                at = affine(start, loop)
                return at is not None and at > order.offset and order.lowest + at >= 0
    return False


def affine(x: Any, loop: Op) -> int | None:
    """The constant c if `x` is the loop's variable plus c."""
    variable = loop.regions[0].params[0]
    offset = 0
    while type(x) is Value and x is not variable:
        op = x.op
        if op is None or op.prim not in (opset.ADD, opset.SUB) or type(op.args[1]) is not int:
            return None
        offset += op.args[1] if op.prim is opset.ADD else -op.args[1]
        x = op.args[0]
    return offset if x is variable else None


__all__ = ["Filling", "affine", "settled", "subscript_of"]
