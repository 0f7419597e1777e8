"""The lowering of stacks, which hold residuals.

A number lies in a buffer, in the place that a counter names. The buffer has as many places as the loops around the push
have trips, or grows. Arrays of one shape lie in a buffer with one more axis, and arrays with one axis one after the
other, in a buffer that grows. An array that is computed where it is pushed is computed in its place. All that is pushed
on such a stack is pushed before anything is taken from it, so a place is never used twice. Other arrays lie on a list.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ir import opset
from ..ir.core import Op, Value
from ..ir.rewrite import enclosing
from .emitting import Frame
from .fusion import nested
from .lowering import Lowering, handles
from .nest import (
    INDEX,
    Alloc,
    Call,
    Const,
    Expr,
    Grow,
    Length,
    Load,
    Name,
    NewStack,
    Pop,
    Push,
    Set,
    Store,
)
from .numbers import NotNative, Number
from .views import ONE, ZERO, Along, View, at_least_zero, minus, parameter, plus, product, whole

SHORT = 16  # how many places a buffer that grows has at first


@dataclass(slots=True)
class Stack:
    """A stack, and what is known of all that is pushed on it.

    depth:  the frame that it is made in
    once:   there is one push, and what is taken is taken behind it
    form:   "numbers", "rows" of a buffer, "pieces" of one, or a "list"; None as long as nothing has been pushed
    shape:  of the arrays, or None
    extent: of the buffer
    top:    the counter
    starts: of pieces, the buffer that says where each starts, and its counter
    counted: the loops say how many times something is pushed at most
    placed: the arrays that have been computed in their places
    """

    name: str
    depth: int
    once: bool
    made: NewStack
    form: str | None = None
    dtype: np.dtype[Any] | None = None
    kind: str | None = None
    bits: int = 0
    shape: tuple[Expr, ...] | None = None
    extent: tuple[Expr, ...] = ()
    top: str = ""
    starts: tuple[str, str] = ("", "")
    counted: bool = False
    placed: dict[Value, View] = field(default_factory=dict)


@handles(opset.STACK_NEW)
def _stack_new(self: Lowering, op: Op) -> None:
    made = NewStack(self.fresh(op.result.hint or "saved"))
    self.emit(made)
    self.values[op.result] = Stack(made.name, len(self.frames) - 1, _taken_behind(self, op), made)


def _taken_behind(self: Lowering, op: Op) -> bool:
    """There is one push on a stack, and all that is taken from it is taken after the last time that it runs."""
    users = self.uses.get(op.result, [])
    pushes = [user for user in users if isinstance(user, Op) and user.prim is opset.PUSH]
    pops = [user for user in users if isinstance(user, Op) and user.prim is opset.POP]
    if len(pushes) != 1 or len(pushes) + len(pops) != len(users) or pushes[0].args[1] is op.result:
        return False
    assert op.parent is not None

    def place(user: Op) -> int:
        inside = user
        for region in enclosing(user.parent):
            if region is op.parent:
                break
            assert region.op is not None
            inside = region.op
        return op.parent.ops.index(inside)  # type: ignore[union-attr]

    return all(place(pushes[0]) < place(pop) for pop in pops)


# --- places -----------------------------------------------------------------------------------------------------------


def _count(self: Lowering, stack: Stack) -> Expr | None:
    """How many times a push runs at most, while a stack is there. None if no loop says so, or if it may be far less."""
    found: list[Expr] = []
    for depth in range(stack.depth + 1, len(self.frames)):
        frame = self.frames[depth]
        trips = frame.trips if frame.is_loop else None
        if trips is None:
            return None
        if self.depth_of(trips) > stack.depth:
            trips = _of_triangle(self, frame, stack.depth)
            if trips is None:
                return None
        found.append(trips)
    return product(found)


def _of_triangle(self: Lowering, frame: Frame, depth: int) -> Expr | None:
    """How many trips a loop has at most whose range starts or ends at the index of a loop around it."""
    low, high = frame.low, frame.high
    if self.depth_of(low) > depth and self.depth_of(high) > depth:
        return None  # the difference may be far less than that of the bounds
    for outer in self.frames[depth + 1 :]:
        if outer.index is not None:
            low = _with(low, outer.index, outer.low)
            high = _with(high, outer.index, plus(outer.high, Const(-1, INDEX)))
    trips = at_least_zero(minus(high, low))
    return trips if self.depth_of(trips) <= depth else None


def _with(e: Expr, index: str, bound: Expr) -> Expr:
    """A bound of a range in which the index of another loop is replaced by a bound of its own."""
    if e == Name(index, INDEX):
        return bound
    if isinstance(e, Call) and e.fn in ("add", "sub") and e.args[0] == Name(index, INDEX):
        return plus(bound, e.args[1]) if e.fn == "add" else minus(bound, e.args[1])
    return e


def _is_known(self: Lowering, stack: Stack, shape: tuple[Expr, ...]) -> bool:
    """The lengths are what they are where the stack is made."""
    return all(self.depth_of(n) <= stack.depth for n in shape)


def _make(self: Lowering, stack: Stack, form: str, dtype: np.dtype[Any], shape: tuple[Expr, ...] = ()) -> None:
    """Make the buffer of a stack, in front of the loops that push on it."""
    stack.form, stack.dtype, stack.shape = form, dtype, shape
    block = self.frames[stack.depth].block
    (at,) = [k for k, s in enumerate(block) if s is stack.made]
    del block[at]
    if form == "list":
        stack.made.dtype, stack.made.axes = dtype, len(shape)
        block.insert(at, stack.made)
        return
    count = _count(self, stack) if stack.once else None
    stack.counted = count is not None
    stack.top = self.fresh(f"{stack.name}_top")
    stack.extent = (Const(SHORT, INDEX) if count is None or form == "pieces" else count,)
    if form == "rows":
        stack.extent += shape
    block += [Alloc(stack.name, dtype, stack.extent), Set(stack.top, ZERO)]
    if form == "pieces":
        starts = self.fresh(f"{stack.name}_starts")
        stack.starts = starts, self.fresh(f"{starts}_top")
        block += [Alloc(starts, INDEX, (Const(SHORT, INDEX) if count is None else count,)), Set(stack.starts[1], ZERO)]


def _form(self: Lowering, stack: Stack, shape: tuple[Expr, ...]) -> str:
    """How a stack holds arrays of a shape."""
    if stack.once and _is_known(self, stack, shape) and _count(self, stack) is not None:
        return "rows"
    return "pieces" if stack.once and len(shape) == 1 else "list"


def _place(self: Lowering, stack: Stack, shape: tuple[Expr, ...]) -> View:
    """The place for the next array on a stack."""
    assert stack.dtype is not None
    if stack.form == "rows":
        row = self.fresh(f"{stack.name}_row")
        self.emit(Set(row, Name(stack.top, INDEX)))
        self.emit(Set(stack.top, plus(Name(row, INDEX), ONE)))
        return _row(stack, row)
    (n,) = shape
    start = self.fresh(f"{stack.name}_start")
    end = plus(Name(start, INDEX), n)
    starts, count = stack.starts
    self.emit(Set(start, Name(stack.top, INDEX)))
    self.emit(Grow(stack.name, end))
    if not stack.counted:
        self.emit(Grow(starts, plus(Name(count, INDEX), ONE)))
    self.emit(Store(starts, (Name(count, INDEX),), Name(start, INDEX)))
    self.emit(Set(count, plus(Name(count, INDEX), ONE)))
    self.emit(Set(stack.top, end))
    return _piece(stack, start, n)


def _row(stack: Stack, row: str) -> View:
    assert stack.dtype is not None and stack.shape is not None
    axes = tuple([Along(k) for k in range(len(stack.shape))])
    return View(stack.name, stack.dtype, (Name(row, INDEX), *axes), stack.shape, stack.extent)


def _piece(stack: Stack, start: str, n: Expr) -> View:
    assert stack.dtype is not None
    return View(stack.name, stack.dtype, (Along(0, Name(start, INDEX)),), (n,), (Length(stack.name, 0),))


def _stack_with_room(self: Lowering, v: Value, shape: tuple[Expr, ...]) -> Stack | None:
    """The stack that has a place for an array which is computed in the block that pushes it."""
    for user in self.uses.get(v, ()):
        if not isinstance(user, Op) or user.prim is not opset.PUSH or user.args[1] is not v:
            continue
        stack: Stack = self.values[user.args[0]]
        if v.op is not None and user.parent is v.op.parent and stack.once:
            if (stack.form or _form(self, stack, shape)) != "list":
                return stack
    return None


def room(self: Lowering, v: Value, dtype: np.dtype[Any], shape: tuple[Expr, ...]) -> View | None:
    """The place on a stack for an array that is about to be computed, if there is one."""
    stack = _stack_with_room(self, v, shape)
    if stack is None:
        return None
    if stack.form is None:
        _make(self, stack, _form(self, stack, shape), dtype, shape)
    view = stack.placed[v] = _place(self, stack, shape)
    return view


# --- pushes and pops --------------------------------------------------------------------------------------------------


@handles(opset.PUSH)
def _push(self: Lowering, op: Op) -> None:
    where, v = op.args
    stack = self.values[where]
    if not self.is_array(v):
        _push_number(self, stack, self.number(v))
        return
    if v in self.group.values and _stack_with_room(self, v, self.group.shape) is stack:
        return  # it will be computed in its place
    view = self.view(v)
    if v in stack.placed:
        return
    self.finish_stores(v)
    if stack.form is None:
        _make(self, stack, _form(self, stack, view.shape), view.dtype, view.shape)
    if stack.form == "numbers" or stack.dtype != view.dtype:
        raise NotNative("values of several types that are saved together", op)
    if stack.form == "list":
        if stack.made.axes != len(view.shape):
            raise NotNative("values of several types that are saved together", op)
        if stack.shape != view.shape or not _is_known(self, stack, view.shape):
            stack.shape = None
        self.emit(Push(stack.name, self.dense(v)))
        return
    place = _place(self, stack, view.shape)
    index: list[Expr] = [Name(self.fresh("ijklmn"[min(k, 5)]), INDEX) for k in range(len(view.shape))]
    store = Store(place.buffer, place.index(index), view.element(index))
    self.frame.block += nested(index, view.shape, [store])


def _push_number(self: Lowering, stack: Stack, number: Number) -> None:
    if stack.form is None:
        _make(self, stack, "numbers", number.dtype)
        stack.kind = number.kind
    elif (stack.form, stack.dtype) != ("numbers", number.dtype):
        raise NotNative("values of several types that are saved together")
    elif stack.kind != number.kind:
        stack.kind = "?"
    stack.bits = max(stack.bits, number.bits)
    top = Name(stack.top, INDEX)
    if not stack.counted:
        self.emit(Grow(stack.name, plus(top, ONE)))
    self.emit(Store(stack.name, (top,), number.expr))
    self.emit(Set(stack.top, plus(top, ONE)))


@handles(opset.POP)
def _pop(self: Lowering, op: Op) -> None:
    stack = self.values[op.args[0]]
    if stack.form is None:
        raise NotNative("a value that is taken before one was saved", op)
    self.flush()
    name = self.fresh(op.result.hint)
    top = Name(stack.top, INDEX)
    if stack.form == "list":
        _pop_from_list(self, op, stack, name)
    elif stack.form == "numbers":
        self.emit(Set(stack.top, minus(top, ONE)))
        self.emit(Set(name, Load(stack.name, (top,), stack.dtype)))
        self.values[op.result] = Number(Name(name, stack.dtype), stack.dtype, stack.kind, max(stack.bits, 1))
    elif stack.form == "rows":
        row = self.fresh(f"{stack.name}_row")
        self.emit(Set(stack.top, minus(top, ONE)))
        self.emit(Set(row, top))
        self.values[op.result] = _row(stack, row)
    else:
        starts, count = stack.starts
        start, n = self.fresh(f"{stack.name}_start"), self.fresh("n")
        self.emit(Set(count, minus(Name(count, INDEX), ONE)))
        self.emit(Set(start, Load(starts, (Name(count, INDEX),), INDEX)))
        self.emit(Set(n, minus(top, Name(start, INDEX))))
        self.emit(Set(stack.top, Name(start, INDEX)))
        self.leasts[Name(n, INDEX)] = 0
        is_one = stack.shape is not None and stack.shape[0] == ONE
        self.values[op.result] = _piece(stack, start, ONE if is_one else Name(n, INDEX))


def _pop_from_list(self: Lowering, op: Op, stack: Stack, name: str) -> None:
    assert stack.dtype is not None
    self.emit(Pop(name, stack.name))
    if stack.shape is not None:
        self.values[op.result] = whole(name, stack.dtype, stack.shape)
        return
    t = op.result.type
    ones = [t.dims is not None and t.dims[k] == 1 for k in range(stack.made.axes)]
    self.values[op.result] = parameter(name, stack.dtype, stack.made.axes, ones)


__all__ = ["Stack", "room"]
