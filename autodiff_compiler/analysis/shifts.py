"""Shifts: what is subtracted in front of an exponential and put back behind the logarithm, and changes no result.

``m = np.max(x); m + np.log(np.sum(np.exp(x - m)))`` takes `m` away so that nothing overflows. Whatever `m` is, the
result is the same, so that the derivative by it is zero: nothing has to be differentiated through the maximum. The
analysis takes the body of a function. Gives the operations, maxima and minima, whose result is such a shift.

What becomes of a value if `m` grows by d? Two answers are followed from operation to operation: it grows by ``k * d``,
or it is multiplied by ``exp(k * d)``, where `k` is a number times scalars that do not depend on `m`. If `m` has axes,
`d` has them too, and it is known which axis of the value is which axis of `d`. Where all that is left in the end does
not change, `m` is a shift.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> def f(x):
...     m = np.max(x)
...     shares = np.exp(x - m)
...     gap = np.min(x)
...     return shares[0] / np.sum(shares), np.sum(np.abs(x - gap))
>>> [op.result.hint for op in shifts(lower(f, (np.ones(3),)).function.body)]
['m']
"""

from __future__ import annotations

import functools
import heapq
import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..ir.core import IF, LOOP, Op, Region, Value, leaves, type_of
from ..ir.opset import GET, PRIMS, SET, counts, is_row
from ..ir.types import same_dtype

Scale = tuple[float, frozenset[tuple[Value, int]]]  # a number times powers of scalars
Axes = tuple[int | None, ...]  # for each axis of a value, the axis of the shift along which it varies
ONE: Scale = (1.0, frozenset())
MOST = 200  # operations that are followed for one candidate


class Change(NamedTuple):
    """What becomes of a value if the shift grows by d.

    grows: by ``scale * d``; otherwise it is multiplied by ``exp(scale * d)``
    """

    grows: bool
    scale: Scale
    axes: Axes


class _Unknown(Exception):
    """It is not known what becomes of a value."""


def _prims(*fns: Any) -> set[Any]:
    return {PRIMS[f] for f in fns if f in PRIMS}


@functools.cache
def _extremes() -> set[Any]:
    return _prims(np.max, np.min, np.amax, np.amin, np.maximum, np.minimum, max, min)


@functools.cache
def _exponentials() -> set[Any]:
    return _prims(np.exp, math.exp)


def shifts(body: Region) -> list[Op]:
    """The maxima and minima on whose values no result of the function depends."""
    order = {op: k for k, op in enumerate(body.walk())}
    if not any(op.prim in _exponentials() for op in order):
        return []
    candidates = [op for op in order if op.prim in _extremes() and _is_shift_like(op.results)]
    if not candidates:
        return []
    uses: dict[Value, list[Op | None]] = {}
    for op in order:
        for v in op.operands():
            uses.setdefault(v, []).append(op)
    for v in leaves(body.exit):
        uses.setdefault(v, []).append(None)
    _add_ends(order, uses)
    return [op for op in candidates if _Following(op.result, uses, order).ends()]


def _add_ends(order: dict[Op, int], uses: dict[Value, list[Op | None]]) -> None:
    """Add the ends of regions to the uses, where somebody reads what they hand on: a name that is bound in a loop is
    there behind the loop."""
    ends = []
    for op in order:
        for region in op.regions:
            for k, x in enumerate(region.exit):
                if op.prim is LOOP:
                    readers = [] if k == 0 else [region.params[k], op.results[k - 1]]
                else:
                    readers = [op.results[k]] if op.prim is IF else []
                ends += [(v, readers) for v in leaves(x)]
    changed = True
    while changed:
        changed = False
        for end in list(ends):
            v, readers = end
            if not readers or any(r in uses for r in readers):
                uses.setdefault(v, []).append(None)
                ends.remove(end)
                changed = True


def _is_shift_like(results: list[Value]) -> bool:
    t = results[0].type
    return len(results) == 1 and t.dims is not None and t.dtype is not None and t.dtype.kind == "f"


class _Following:
    """One candidate, and what is known of the values that depend on it."""

    def __init__(self, shift: Value, uses: dict[Value, list[Op | None]], order: dict[Op, int]):
        self.uses, self.order = uses, order
        dims = shift.type.dims or ()
        self.changes = {shift: Change(True, ONE, tuple([None if d == 1 else k for k, d in enumerate(dims)]))}
        self.todo: list[int] = []
        self.ops: dict[int, Op] = {}

    def ends(self) -> bool:
        """Everything that depends on the shift leads to what does not."""
        (shift,) = self.changes
        try:
            self.follow(shift)
            steps = 0
            while self.todo:
                op = self.ops.pop(heapq.heappop(self.todo))
                steps += 1
                if steps > MOST:
                    return False
                found = self.of(op)
                if found is not None:
                    if len(op.results) != 1 or not _is_shift_like(op.results):
                        return False
                    self.changes[op.result] = found
                    self.follow(op.result)
        except _Unknown:
            return False
        return True

    def follow(self, v: Value) -> None:
        for user in self.uses.get(v, ()):
            if user is None or user.regions or user.prim.effects:
                raise _Unknown
            k = self.order[user]
            if k not in self.ops:
                self.ops[k] = user
                heapq.heappush(self.todo, k)

    def at(self, x: Any) -> Change | None:
        """None for what does not depend on the shift."""
        return self.changes.get(x) if type(x) is Value else None

    def of(self, op: Op) -> Change | None:
        """What becomes of the result of an operation; None if it stays as it is."""
        prim, args = op.prim, op.args
        if all(k in prim.shape_only for k, a in enumerate(args) for v in leaves(a) if v in self.changes):
            if any(v in self.changes for v in leaves(tuple(op.kwargs.values()))):
                raise _Unknown
            return None
        if any(v in self.changes for v in leaves(tuple(op.kwargs.values()))):
            raise _Unknown
        rule = _rules().get(prim)
        if rule is None:
            raise _Unknown
        try:
            return rule(self, op, *args, **op.kwargs)
        except TypeError as error:  # a call with arguments that the rule does not know
            raise _Unknown from error

    # --- rules ----------------------------------------------------------------------------------------------------

    def sum_of(self, op: Op, x: Any, y: Any, sign: float = 1.0) -> Change | None:
        a, b = self.at(x), self.at(y)
        if (a or b).grows is False:  # type: ignore[union-attr]
            if a is None or b is None or a.grows or a.scale != b.scale:
                raise _Unknown
            return Change(False, a.scale, self.joined(op, (x, a), (y, b)))
        if any(c is not None and not c.grows for c in (a, b)):
            raise _Unknown
        scale = _plus(a.scale if a else None, b.scale if b else None, sign)
        axes = self.joined(op, (x, a), (y, b))
        return None if scale is None else Change(True, scale, axes)

    def difference(self, op: Op, x: Any, y: Any) -> Change | None:
        return self.sum_of(op, x, y, -1.0)

    def negative(self, op: Op, x: Any) -> Change | None:
        a = self.at(x)
        assert a is not None
        return Change(True, _times(a.scale, -1.0), a.axes) if a.grows else a

    def product(self, op: Op, x: Any, y: Any) -> Change | None:
        a, b = self.at(x), self.at(y)
        if a is not None and b is not None:
            return self.of_scales(op, (x, a), (y, b), 1.0)
        (v, c), factor = ((x, a), y) if a is not None else ((y, b), x)
        assert c is not None
        axes = self.joined(op, (v, c))
        return Change(True, _times(c.scale, factor), axes) if c.grows else Change(False, c.scale, axes)

    def quotient(self, op: Op, x: Any, y: Any) -> Change | None:
        a, b = self.at(x), self.at(y)
        if a is not None and b is not None:
            return self.of_scales(op, (x, a), (y, b), -1.0)
        if a is None:
            assert b is not None
            if b.grows:
                raise _Unknown
            return Change(False, _times(b.scale, -1.0), self.joined(op, (y, b)))
        axes = self.joined(op, (x, a))
        return Change(True, _times(a.scale, y, -1), axes) if a.grows else Change(False, a.scale, axes)

    def of_scales(self, op: Op, x: tuple[Any, Change], y: tuple[Any, Change], sign: float) -> Change | None:
        if x[1].grows or y[1].grows:
            raise _Unknown
        scale, axes = _plus(x[1].scale, y[1].scale, sign), self.joined(op, x, y)
        return None if scale is None else Change(False, scale, axes)

    def power(self, op: Op, x: Any, y: Any) -> Change | None:
        a = self.at(x)
        if a is None or a.grows or type(y) not in (int, float):
            raise _Unknown
        return Change(False, _times(a.scale, float(y)), a.axes) if y else None

    def root(self, op: Op, x: Any) -> Change | None:
        return self.power(op, x, 0.5)

    def absolute(self, op: Op, x: Any) -> Change | None:
        a = self.at(x)
        if a is None or a.grows:
            raise _Unknown
        return a

    def exponential(self, op: Op, x: Any) -> Change | None:
        a = self.at(x)
        if a is None or not a.grows:
            raise _Unknown
        return Change(False, a.scale, a.axes)

    def logarithm(self, op: Op, x: Any) -> Change | None:
        a = self.at(x)
        if a is None or a.grows:
            raise _Unknown
        return Change(True, a.scale, a.axes)

    def compared(self, op: Op, x: Any, y: Any) -> Change | None:
        """What changes in the same way compares as before."""
        a, b = self.at(x), self.at(y)
        self.joined(op, (x, a), (y, b))
        if a is None or b is None or a.grows != b.grows or a.scale != b.scale:
            raise _Unknown
        return None

    def larger(self, op: Op, x: Any, y: Any) -> Change | None:
        self.compared(op, x, y)
        a = self.at(x)
        assert a is not None
        return Change(a.grows, a.scale, self.joined(op, (x, a), (y, self.at(y))))

    def chosen(self, op: Op, mask: Any, x: Any, y: Any) -> Change | None:
        if self.at(mask) is not None:
            raise _Unknown
        known = [(v, self.at(v)) for v in (x, y)]
        changes = [c for _, c in known if c is not None]
        first = changes[0]
        for v, c in known:
            if c is None and (first.grows or type(v) is not float or v != 0.0):
                raise _Unknown
            if c is not None and (c.grows != first.grows or c.scale != first.scale):
                raise _Unknown
        return Change(first.grows, first.scale, self.joined(op, *[(v, c) for v, c in known if c is not None]))

    def total(self, op: Op, a: Any, axis: Any = None, *rest: Any, keepdims: Any = False) -> Change | None:
        c = self.at(a)
        if c is None or c.grows:
            raise _Unknown
        return self.reduced(op, a, axis, *rest, keepdims=keepdims)

    def reduced(self, op: Op, a: Any, axis: Any = None, *rest: Any, keepdims: Any = False) -> Change | None:
        c = self.at(a)
        if c is None or rest or type(keepdims) is not bool or not _is_axis(axis):
            raise _Unknown
        rank = len(c.axes)
        gone = range(rank) if axis is None else [k % rank for k in (axis if type(axis) is tuple else (axis,)) if rank]
        if any(c.axes[k] is not None for k in gone):
            raise _Unknown  # the shift varies among what is put together
        axes = [None if k in gone else m for k, m in enumerate(c.axes) if keepdims or k not in gone]
        return Change(c.grows, c.scale, self.checked(op, tuple(axes)))

    def multiplied(self, op: Op, x: Any, y: Any) -> Change | None:
        """A product of matrices is a sum over one axis."""
        a, b = self.at(x), self.at(y)
        n, m = len(type_of(x).dims or ()), len(type_of(y).dims or ())
        if (a is not None and b is not None) or not 0 < n <= 2 or not 0 < m <= 2:
            raise _Unknown
        c = a or b
        assert c is not None
        if c.grows or c.axes[(n - 1) if a is not None else max(m - 2, 0)] is not None:
            raise _Unknown
        if a is not None:
            return Change(False, c.scale, self.checked(op, (*c.axes[:-1], *[None] * (m - 1))))
        return Change(False, c.scale, self.checked(op, (*[None] * (n - 1), *c.axes[max(m - 1, 1) :])))

    def part(self, op: Op, a: Any, path: Any) -> Change | None:
        c = self.at(a)
        if c is None or any(v in self.changes for v in leaves(path)) or len(path) != 1:
            raise _Unknown
        kind, items = path[0]
        if kind == "transpose" and items is None:
            return Change(c.grows, c.scale, self.checked(op, c.axes[::-1]))
        if kind != "index":
            raise _Unknown
        items = list(items)
        used = sum(item is not None and item is not Ellipsis for item in items)
        fill: list[Any] = [slice(None)] * (len(c.axes) - used)
        where = next((k for k, item in enumerate(items) if item is Ellipsis), None)
        items = [*items, *fill] if where is None else [*items[:where], *fill, *items[where + 1 :]]
        axes: list[int | None] = []
        at = 0
        arrays = [k for k, item in enumerate(items) if type(item) is Value and not item.type.is_scalar]
        if arrays:
            return Change(c.grows, c.scale, self.checked(op, self.picked(op, a, c.axes, items, arrays)))
        for item in items:
            if item is None:
                axes.append(None)
                continue
            if type(item) is slice and (item.start, item.stop, item.step) in ((None, None, None), (None, None, 1)):
                axes.append(c.axes[at])
            elif at >= len(c.axes) or c.axes[at] is not None:
                raise _Unknown
            elif type(item) is slice:
                axes.append(None)
            elif type(item) is not int and not (type(item) is Value and item.type.is_scalar and _is_int(item)):
                raise _Unknown
            at += 1
        return Change(c.grows, c.scale, self.checked(op, tuple(axes)))

    def picked(self, op: Op, a: Value, axes: Axes, items: list[Any], arrays: list[int]) -> Axes:
        """The axes of ``a[np.arange(n), k]``, which has one item of each of the n rows: the shift may vary among the
        rows. All arrays of subscripts have one axis, which takes the place of those of `a` that they go along."""
        first, last = arrays[0], arrays[-1] + 1
        whole = [*items[:first], *items[last:]]
        if arrays != list(range(first, last)) or not all(type(x) is slice and x == slice(None) for x in whole):
            raise _Unknown
        along: int | None = None
        for k in arrays:
            if not is_row(items[k]):
                raise _Unknown
            if axes[k] is None:
                continue
            dims, length = op.parent.dims if op.parent is not None else None, a.type.dims[k] if a.type.dims else None
            if along is not None or dims is None or length is None or not counts(items[k]):
                raise _Unknown
            if not dims.same(items[k].type.dims[0], length):
                raise _Unknown
            along = axes[k]
        return (*axes[:first], along, *axes[last:])

    def stored(self, op: Op, a: Any, path: Any, v: Any) -> Change | None:
        """Only what overwrites all of an array is followed: ``x -= m``."""
        c = self.at(v)
        whole = len(path) == 1 and path[0][0] == "index" and path[0][1] == (Ellipsis,)
        t, base = type_of(v), type_of(a)
        if not whole:
            raise _Unknown
        if c is None:
            return None
        if not same_dtype(base.dtype, t.dtype) or len(t.dims or ()) != len(base.dims or ()):
            raise _Unknown
        return Change(c.grows, c.scale, self.checked(op, c.axes))

    # --- axes -----------------------------------------------------------------------------------------------------

    def checked(self, op: Op, axes: Axes) -> Axes:
        if len(axes) != len(op.result.type.dims or ()):
            raise _Unknown
        return axes

    def joined(self, op: Op, *operands: tuple[Any, Change | None]) -> Axes:
        """The axes of what is computed element by element."""
        dims = op.result.type.dims
        if dims is None:
            raise _Unknown
        found: set[Axes] = set()
        for _, c in operands:
            if c is not None:
                if len(c.axes) > len(dims):
                    raise _Unknown
                found.add((*[None] * (len(dims) - len(c.axes)), *c.axes))
        if len(found) != 1:
            raise _Unknown  # they vary along other axes: ``m - m[:, None]``
        return found.pop()


def _plus(a: Scale | None, b: Scale | None, sign: float) -> Scale | None:
    """``a + sign * b``; None if that is zero."""
    if a is None or b is None:
        return a if a is not None else None if b is None else (sign * b[0], b[1])
    if a[1] != b[1]:
        raise _Unknown
    total = a[0] + sign * b[0]
    return (total, a[1]) if total else None


def _times(scale: Scale, factor: Any, power: int = 1) -> Scale:
    """The scale times a number, or a power of a scalar that does not depend on the shift."""
    if type(factor) in (int, float):
        if not factor or not math.isfinite(factor):
            raise _Unknown
        return (scale[0] * float(factor) ** power, scale[1])
    if type(factor) is not Value or not (factor.type.is_scalar or factor.type.dims == ()):
        raise _Unknown
    powers = dict(scale[1])
    powers[factor] = powers.get(factor, 0) + power
    return (scale[0], frozenset([(v, n) for v, n in powers.items() if n]))


def _is_axis(axis: Any) -> bool:
    return axis is None or type(axis) is int or (type(axis) is tuple and all(type(k) is int for k in axis))


def _is_int(v: Value) -> bool:
    return v.type.dtype is not None and v.type.dtype.kind in "iu"


@functools.cache
def _rules() -> dict[Any, Callable[..., Change | None]]:
    """The rule of each operation. They are not all defined yet when this module is imported."""
    table: list[tuple[Callable[..., Change | None], set[Any]]] = [
        (_Following.sum_of, _prims(operator.add, np.add)),
        (_Following.difference, _prims(operator.sub, np.subtract)),
        (_Following.negative, _prims(operator.neg, np.negative)),
        (_Following.product, _prims(operator.mul, np.multiply)),
        (_Following.quotient, _prims(operator.truediv, np.divide, np.true_divide)),
        (_Following.power, _prims(operator.pow, np.power)),
        (_Following.exponential, _exponentials()),
        (_Following.logarithm, _prims(np.log, math.log)),
        (_Following.root, _prims(np.sqrt, math.sqrt)),
        (_Following.absolute, _prims(abs, np.abs, np.absolute)),
        (
            _Following.compared,
            _prims(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
            | _prims(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
        ),
        (_Following.larger, _prims(np.maximum, np.minimum)),
        (_Following.chosen, _prims(np.where)),
        (_Following.total, _prims(np.sum)),
        # These keep what is added, and what multiplies.
        (_Following.reduced, _prims(np.max, np.min, np.amax, np.amin, np.mean)),
        (_Following.multiplied, _prims(operator.matmul, np.matmul)),
        (_Following.part, {GET}),
        (_Following.stored, {SET}),
    ]
    return {prim: rule for rule, prims in table for prim in prims}


__all__ = ["shifts"]
