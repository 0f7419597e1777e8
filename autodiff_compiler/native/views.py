"""Arrays as parts of buffers: which element of a buffer an element of an array is.

A subscript, a slice, a transpose and a broadcast compute nothing: they make another view.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .nest import BOOL, INDEX, Call, Const, Expr, Length, Load
from .numbers import NotNative

ZERO, ONE = Const(0, INDEX), Const(1, INDEX)


def plus(a: Expr, b: Expr) -> Expr:
    """The sum of two positions."""
    if isinstance(a, Const):
        a, b = b, a
    if isinstance(b, Const):
        if b.value == 0:
            return a
        if isinstance(a, Const):
            return Const(a.value + b.value, INDEX)
        if isinstance(a, Call) and a.fn in ("add", "sub") and isinstance(a.args[1], Const):
            value = a.args[1].value if a.fn == "add" else -a.args[1].value
            return plus(a.args[0], Const(value + b.value, INDEX))
        if b.value < 0:
            return Call("sub", (a, Const(-b.value, INDEX)), INDEX)
    return Call("add", (a, b), INDEX)


def minus(a: Expr, b: Expr) -> Expr:
    """The difference of two positions."""
    if a == b:
        return ZERO
    if isinstance(b, Const):
        return plus(a, Const(-b.value, INDEX))
    return Call("sub", (a, b), INDEX)


def base_and_offset(e: Expr) -> tuple[Expr | None, int]:
    """A position as a number that the program computes, or none, and one that is added to it."""
    if isinstance(e, Const):
        return None, e.value
    if isinstance(e, Call) and e.fn in ("add", "sub") and isinstance(e.args[1], Const):
        base, offset = base_and_offset(e.args[0])
        return base, offset + (e.args[1].value if e.fn == "add" else -e.args[1].value)
    return e, 0


def times(a: Expr, n: int) -> Expr:
    """A position times a number."""
    if isinstance(a, Const):
        return Const(a.value * n, INDEX)
    return a if n == 1 else Call("neg", (a,), INDEX) if n == -1 else Call("mul", (a, Const(n, INDEX)), INDEX)


def product(lengths: Sequence[Expr]) -> Expr:
    """How many elements a shape has."""
    out: Expr = ONE
    for n in lengths:
        if isinstance(n, Const):
            out = times(out, n.value)
        else:
            out = n if out == ONE else Call("mul", (out, n), INDEX)
    return out


def at_least_zero(n: Expr) -> Expr:
    """A length, zero if the number is negative."""
    return Const(max(0, n.value), INDEX) if isinstance(n, Const) else Call("maximum", (ZERO, n), INDEX)


@dataclass(frozen=True, slots=True)
class Along:
    """An axis of a buffer that goes with an axis of the view."""

    axis: int
    offset: Expr = ZERO
    step: int = 1


@dataclass(frozen=True, slots=True)
class View:
    """An array.

    axes:   for each axis of the buffer, its `Along`, or the position at which it stands still
    shape:  of the array
    extent: of the buffer
    """

    buffer: str
    dtype: np.dtype[Any]
    axes: tuple[Along | Expr, ...]
    shape: tuple[Expr, ...]
    extent: tuple[Expr, ...]

    @property
    def is_whole(self) -> bool:
        """The array is the buffer."""
        return self.shape == self.extent and all(
            isinstance(a, Along) and (a.axis, a.offset, a.step) == (k, ZERO, 1) for k, a in enumerate(self.axes)
        )

    @property
    def stands(self) -> int:
        """On how many of the buffer's first axes the array stands still, if it is all of the others; 0 if it is not."""
        count = 0
        while count < len(self.axes) and not isinstance(self.axes[count], Along):
            count += 1
        rest = View(self.buffer, self.dtype, self.axes[count:], self.shape, self.extent[count:])
        return count if self.shape and rest.is_whole else 0

    @property
    def is_piece(self) -> bool:
        """The array is a run of elements of a buffer with one axis."""
        return len(self.axes) == 1 and isinstance(self.axes[0], Along) and self.axes[0].step == 1

    @property
    def is_dense(self) -> bool:
        """The elements of the array lie one after the other."""
        return self.is_whole or bool(self.stands) or (self.is_piece and len(self.shape) == 1)

    @property
    def reads_all_axes(self) -> bool:
        """No element of the buffer is several elements of the array."""
        along = {a.axis for a in self.axes if isinstance(a, Along)}
        return all(k in along or n == ONE for k, n in enumerate(self.shape))

    def index(self, idx: Sequence[Expr]) -> tuple[Expr, ...]:
        """Where the element at `idx` is, whose leading axes the array may lack. Axes of length 1 are broadcast."""
        own = idx[len(idx) - len(self.shape) :]
        out: list[Expr] = []
        for a in self.axes:
            if not isinstance(a, Along):
                out.append(a)
            elif self.shape[a.axis] == ONE:
                out.append(a.offset)
            else:
                out.append(plus(times(own[a.axis], a.step), a.offset))
        return tuple(out)

    def element(self, idx: Sequence[Expr]) -> Load:
        return Load(self.buffer, self.index(idx), self.dtype)

    def same_place(self, other: View, rank: int) -> bool:
        """In a loop over `rank` axes, both name the same element of one buffer at the same time."""
        return (
            self.buffer == other.buffer
            and len(self.shape) == len(other.shape) == rank
            and self.axes == other.axes
            and all((a == ONE) == (b == ONE) for a, b in zip(self.shape, other.shape))  # neither is broadcast
            and self.reads_all_axes
        )

    def is_apart(self, other: View, at_most: Callable[[Expr, Expr], bool]) -> bool:
        """No element of the buffer is in both: along one axis, one ends in front of the other.

        at_most: whether a number is known not to be more than another one
        """
        if self.buffer != other.buffer:
            return False
        for axis in range(len(self.axes)):
            (low, high), (start, end) = self.along(axis), other.along(axis)
            if high is not None and start is not None and at_most(high, start):
                return True
            if end is not None and low is not None and at_most(end, low):
                return True
        return False

    def along(self, axis: int) -> tuple[Expr | None, Expr | None]:
        """The first place of the array along an axis of the buffer, and that behind its last one, if they are known."""
        a = self.axes[axis]
        if not isinstance(a, Along):
            return a, plus(a, ONE)
        if a.step < 0:
            return None, plus(a.offset, ONE)  # it goes down from there
        return a.offset, plus(a.offset, self.shape[a.axis]) if a.step == 1 else None

    def transposed(self, order: Sequence[int] | None) -> View:
        rank = len(self.shape)
        order = tuple(range(rank))[::-1] if order is None else tuple([k % rank for k in order])
        where = {old: new for new, old in enumerate(order)}
        axes = tuple([replace(a, axis=where[a.axis]) if isinstance(a, Along) else a for a in self.axes])
        return replace(self, axes=axes, shape=tuple([self.shape[k] for k in order]))


def whole(buffer: str, dtype: np.dtype[Any], shape: Sequence[Expr]) -> View:
    """All of a buffer."""
    return View(buffer, dtype, tuple([Along(k) for k in range(len(shape))]), tuple(shape), tuple(shape))


def parameter(buffer: str, dtype: np.dtype[Any], rank: int, ones: Sequence[bool]) -> View:
    """A buffer of which the program knows which lengths are 1."""
    return whole(buffer, dtype, [ONE if ones[k] else Length(buffer, k) for k in range(rank)])


class Subscripts:
    """Applies subscripts to views.

    number:   the position that a subscript names
    name:     a short name for a number that is used more than once
    within:   makes sure that a position is in range, and gives it counted from the front
    reshaped: the view with another shape
    clipped:  a bound of a slice, as a position
    """

    def __init__(
        self, number: Callable[[Any], Expr], name: Callable[[Expr, str], Expr], within: Callable[[Any, Expr], Expr],
        reshaped: Callable[[View, Any], View], clipped: Callable[[Any, Expr], Expr],
    ):  # fmt: skip
        self.number = number
        self.name = name
        self.within = within
        self.reshaped = reshaped
        self.clipped = clipped

    def part(self, view: View, path: Sequence[tuple[Any, ...]]) -> View:
        """The part of an array that a path names."""
        for step in path:
            if step[0] == "transpose":
                view = view.transposed(step[1])
            elif step[0] == "index":
                view = self.subscripted(view, step[1])
            else:
                view = self.reshaped(view, step[1])
        return view

    def subscripted(self, view: View, items: Sequence[Any]) -> View:
        own = [k for k, item in enumerate(items) if item is not None and item is not Ellipsis]
        if len(own) > len(view.shape):
            raise NotNative("more subscripts than an array has axes")
        rest = [slice(None)] * (len(view.shape) - len(own))
        if any(item is Ellipsis for item in items):
            at = [item is Ellipsis for item in items].index(True)
            items = [*items[:at], *rest, *items[at + 1 :]]
        else:
            items = [*items, *rest]
        shape: list[Expr] = []
        found: dict[int, Along | Expr] = {}  # by the axis of the view
        axis = 0
        for item in items:
            if item is None:
                shape.append(ONE)
                continue
            n = view.shape[axis]
            if isinstance(item, slice):
                offset, length, step = self.range(item, n)
                found[axis] = Along(len(shape), offset, step)
                shape.append(length)
            else:
                found[axis] = self.within(item, n)
            axis += 1
        axes: list[Along | Expr] = []
        for a in view.axes:
            if isinstance(a, Along):
                inner = found[a.axis]
                if isinstance(inner, Along):
                    offset = plus(times(inner.offset, a.step), a.offset)
                    axes.append(Along(inner.axis, self.short(offset), a.step * inner.step))
                else:
                    axes.append(self.short(plus(times(inner, a.step), a.offset)))
            else:
                axes.append(a)
        return replace(view, axes=tuple(axes), shape=tuple(shape))

    def short(self, e: Expr) -> Expr:
        """A name for an offset that is no sum of a name and a number."""
        simple = not isinstance(e, Call) or (e.fn in ("add", "sub") and isinstance(e.args[1], Const))
        return e if simple and not (isinstance(e, Call) and isinstance(e.args[0], Call)) else self.name(e, "at")

    def range(self, s: slice, n: Expr) -> tuple[Expr, Expr, int]:
        """The first position, the length and the step of a slice of an axis."""
        step = 1 if s.step is None else s.step
        if type(step) is not int or step == 0:
            raise NotNative("a slice with a step that is not written as a number")
        if step < 0:
            return self.backwards(s, n, step)
        if step == 1 and is_one(s) and not isinstance(n, Const):
            # Shapes with axes of length 1 broadcast. Of a shorter axis the slice is empty, which is left to NumPy.
            return self.within(s.start or 0, n), ONE, 1
        low = self.bound(s.start, n, ZERO)
        high = self.bound(s.stop, n, n)
        if low == ZERO and high == n:
            length = n
        else:
            length = at_least_zero(minus(high, low))
        if step != 1:
            if isinstance(length, Const):
                length = Const(-(-length.value // step), INDEX)
            else:
                length = Call("floordiv", (plus(length, Const(step - 1, INDEX)), Const(step, INDEX)), INDEX)
        return low, self.name(length, "n"), step

    def backwards(self, s: slice, n: Expr, step: int) -> tuple[Expr, Expr, int]:
        """Likewise of a slice that goes backwards, with bounds that are written as numbers."""
        last, before = plus(n, Const(-1, INDEX)), Const(-1, INDEX)
        bounds = []
        for b, missing in ((s.start, last), (s.stop, before)):
            if b is not None and type(b) is not int:
                raise NotNative("a slice that goes backwards, with a bound that only the run tells")
            if b is None:
                bounds.append(missing)
            elif b < 0:
                bounds.append(Call("maximum", (before, plus(n, Const(b, INDEX))), INDEX))
            else:
                bounds.append(Call("minimum", (last, Const(b, INDEX)), INDEX))
        if s.start is None and s.stop is None:
            length = n
        else:
            length = at_least_zero(minus(bounds[0], bounds[1]))
        if step != -1:
            length = Call("floordiv", (plus(length, Const(-step - 1, INDEX)), Const(-step, INDEX)), INDEX)
        return self.name(bounds[0], "at"), self.name(length, "n"), step

    def bound(self, b: Any, n: Expr, missing: Expr) -> Expr:
        """A bound of a slice, as a position from 0 to `n`. Where the slice is empty, a position may be out of range."""
        if b is None:
            return missing
        e = self.number(b)
        if isinstance(e, Const):
            if isinstance(n, Const):
                return Const(slice(e.value, None).indices(n.value)[0], INDEX)
            if e.value < 0:
                # Of an axis that is shorter, the position is negative, and the slice is empty or starts at 0.
                return self.name(at_least_zero(plus(n, e)), "at")
            if e.value == 0:
                return ZERO
            return self.name(Call("minimum", (e, n), INDEX), "at")
        if e == n:
            return n
        return self.clipped(b, n)


def is_one(s: slice) -> bool:
    """The slice is of one element, or of none."""
    start = 0 if s.start is None else s.start
    if type(start) is not int or (s.stop is not None and type(s.stop) is not int):
        return False
    return start == -1 if s.stop is None else bool(s.stop == start + 1 != 0)


def differs(a: Expr, b: Expr) -> Expr:
    return Call("ne", (a, b), BOOL)
