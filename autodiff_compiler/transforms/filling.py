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
from ..ir.opset import ADDAT, PRIMS, SET
from ..ir.rewrite import enclosing, region_of
from ..ir.types import Dim, DimLike
from ..records import record

AXES = 2  # along which arrays are filled


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
        lowest = least(start if step > 0 else stop)
        if lowest is None:
            return None
        lowest += step < 0
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


@record
class Front:
    """A loop's carried array. Each iteration stores only at or behind a bound along one axis, which never decreases."""

    versions: list[Value]
    bound: Value
    axis: int

    @staticmethod
    def of(loop: Op, k: int, axis: int = 0) -> Front | None:
        if loop.args[0] is None or len(loop.args[0]) != 3:
            return None
        body, stores = loop.regions[0], list[Op]()
        param = body.params[k + 1]
        versions: list[Value] = [param]
        if not _stores_between(body.exit[k + 1], param, versions, stores, set()):
            return None
        places = [subscript_of(s.args[1] if s.prim in (SET, ADDAT) else (), axis) for s in stores]
        bounds = {x.start if type(x) is slice and x.stop is None and x.step in (None, 1) else None for x in places}
        bound = bounds.pop() if len(bounds) == 1 else None
        if type(bound) is not Value or not _never_decreases(bound, loop):
            return None
        return Front(versions, bound, axis)

    def passes(self, path: Any) -> bool:
        """The places that a path picks in an iteration are in front of the bound: no iteration from there on stores at
        one of them."""
        place = subscript_of(path, self.axis)
        return type(place) is slice and place.stop is self.bound and place.step in (None, 1)


def _never_decreases(x: Any, loop: Op) -> bool:
    """An int is not less in an iteration than in those before, and not negative: the variable of the loop, or the next
    value of it, or one of them up to a length."""
    start, stop, step = loop.args[0]
    if type(start) is not int or start < 0:
        return False
    steps_up = step > 0 if type(step) is int else start == 0 and _is_length(stop, loop)  # else there are no iterations
    if not steps_up:
        return False
    at = affine(x, loop)
    if at is not None:
        return start + at >= 0
    op = x.op if type(x) is Value else None
    if op is None or op.kwargs:
        return False
    if op.prim is opset.ADD:
        return type(step) is Value and any(
            a is loop.regions[0].params[0] and b is step for a, b in (op.args, op.args[::-1])
        )
    return op.prim is PRIMS[min] and all(_is_length(a, loop) or _never_decreases(a, loop) for a in op.args)


def _is_length(x: Any, loop: Op) -> bool:
    """The length of an axis, found before the loop."""
    if type(x) is not Value or x.op is None or x.op.prim is not opset.DIM:
        return False
    return loop.regions[0] not in enclosing(region_of(x))


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
            if at is None and type(first.stop) is Value and (lowest := least(first.stop)) is not None and lowest >= 0:
                # The variable of a loop inside is less than the end of that loop's range.
                end = affine(first.stop.region.op.args[0][1], loop)  # type: ignore[union-attr]
                return low and end is not None and end - 1 <= order.offset
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


def least(x: Any) -> int | None:
    """What an int is not less than: it is written as a number, or is the variable of a loop that counts up."""
    while type(x) is Value:
        loop = None if x.op is not None or x.region is None else x.region.op
        if loop is None or loop.prim is not LOOP or x is not loop.regions[0].params[0]:
            return None
        range_ = loop.args[0]
        if range_ is None or len(range_) != 3 or type(range_[2]) is not int or range_[2] <= 0:
            return None
        x = range_[0]
    return x if type(x) is int else None


def stays(a: Value, path: Any, loop: Op, k: int, order: Filling) -> bool:
    """What is read from version `a` at a path is in the array until the loop ends.

    Either earlier iterations have stored it, or this one has, and what it stores later is elsewhere.
    """
    place = subscript_of(path, order.axis)
    if place is None:
        return False
    if settled(place, loop, order):
        return True
    at = None if type(place) is slice else affine(place, loop)
    if at != order.offset or order.lowest + at < 0:
        return False
    v = loop.regions[0].exit[k + 1]
    while v is not a:
        if type(v) is not Value or v.op is None or v.op.prim is not LOOP:
            return False
        inner = v.op
        j = inner.results.index(v)
        if j >= len(inner.args[1]) or not _missed(path, inner, j, order.axis):
            return False
        if a is inner.regions[0].params[j + 1]:
            return True
        v = inner.args[1][j]
    return True


def _missed(path: Any, loop: Op, k: int, known: int) -> bool:
    """The iterations of a loop that come after a read, or have it in front of their stores, store elsewhere."""
    for axis in range(AXES):
        order = None if axis == known else Filling.of(loop, k, axis)
        place = None if order is None else subscript_of(path, axis)
        if order is None or place is None:
            continue
        if settled(place, loop, order):
            return True
        if type(place) is slice and order.step > 0 and order.offset >= 0 and place.step in (None, 1):
            from_start = place.start is None or (type(place.start) is int and place.start >= 0)
            if from_start and _ends_by(place.stop, loop.args[0][0]):
                return True
    return False


def _ends_by(stop: Any, start: Any) -> bool:
    """A bound of a slice, which does not count from the end, is not more than the start of a range."""
    if type(stop) is not Value or type(start) is not Value:
        return type(stop) is int and stop >= 0 and (low := least(start)) is not None and stop <= low
    low = least(stop)
    if low is None or low < 0:
        return False
    if stop is start:
        return True
    assert stop.region is not None and stop.region.op is not None
    return stop.region.op.args[0][1] is start


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


def counted(loop: Op) -> tuple[int, bool] | None:
    """For a loop that goes one step at a time: the least value that its variable may have, and whether it goes down."""
    range_ = loop.range
    if range_ is None or type(range_[2]) is not int or abs(range_[2]) != 1:
        return None
    start, stop, step = range_[:3]
    lowest = start if step > 0 else stop
    if type(lowest) is not int or lowest + (step < 0) < 0:
        return None
    return lowest + (step < 0), (step > 0) == (len(range_) == 4 and bool(range_[3]))


def rows_behind(loop: Op, length: DimLike, offset: int) -> int | None:
    """How many places of an axis are behind all that `loop`, one of `counted`, names by its variable plus `offset`.

    None where it is not known that they are all on the axis.
    """
    dims = loop.regions[0].dims
    start, stop, step = loop.range[:3]  # type: ignore[index]
    bound, more = (stop, 0) if step > 0 else (start, 1)  # the first number beyond all that the variable has
    while type(bound) is Value and bound.type.length is None and bound.op is not None:
        if bound.op.prim not in (opset.ADD, opset.SUB) or type(bound.op.args[1]) is not int:
            break
        more += bound.op.args[1] if bound.op.prim is opset.ADD else -bound.op.args[1]
        bound = bound.op.args[0]
    bound = bound.type.length if type(bound) is Value else bound
    if bound is None:
        return None
    bound, length = dims.find(bound), dims.find(length)
    if isinstance(bound, Dim) and isinstance(length, Dim):
        behind = bound.off - length.off - more - offset if bound.root == length.root else -1
    else:
        behind = length - bound - more - offset if isinstance(bound, int) and isinstance(length, int) else -1
    return behind if behind >= 0 else None


__all__ = ["AXES", "Filling", "Front", "affine", "counted", "rows_behind", "settled", "stays", "subscript_of"]
