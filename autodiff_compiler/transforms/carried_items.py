"""Carried items: a number of a list that the next iteration reads again is in a variable.

Takes a function whose loops read and store numbers of lists one by one, by their index: a recurrence, such as
``y[i] = k * y[i - 1] + x[i]``, or its adjoint, which adds to ``y_bar[i - 1]`` what ``y_bar[i]`` gives. Gives one in
which what an iteration has read or stored goes on to the next one in a variable, and which stores each number once,
when it is complete.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(k, x):
...     y = np.zeros(len(x))
...     y[0] = x[0]
...     for i in range(1, len(x)):
...         y[i] = k * y[i - 1] * y[i - 1] + x[i]
...     return np.sum(y**2)
>>> show_source(f, 0.5, np.ones(3))
def f_grad(k, x):
    n = x.shape[0]
    x_list = x.tolist()
    y = [float(x[0])]
    for x_i in x_list[1:]:
        y_last = y[-1]
        y.append(k * y_last * y_last + x_i)
    y2 = np.array(y)
    y_bar = (2.0 * y2).tolist()
    # adjoint of line 4: for i in range(1, len(x)):
    y_bar_i = y_bar[n - 1]
    y_bar2 = [y_bar_i]
    for i in reversed(range(1, n)):
        # adjoint of line 5: y[i] = k * y[i - 1] * y[i - 1] + x[i]
        i_minus_1 = i - 1
        y_bar_i = y_bar[i_minus_1] + 2.0 * y[i_minus_1] * k * y_bar_i
        y_bar2.append(y_bar_i)
    y_head = y2[:-1]
    return (np.array(y_bar2[::-1])[1:] * y_head).dot(y_head)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import LOOP, TRY, Function, Op, Region, Value, type_of
from ..ir.opset import ADD, DIM, LIST_ADDAT, LIST_GET, LIST_SET, NEG, REPEATED, SUB, TOLIST
from ..ir.rewrite import collect_uses, derived, replace_values, substitute_in
from ..ir.telling import Telling, name_of
from ..ir.types import Ty
from ..records import record
from .distribute import counts_rows, surely_runs
from .filling import affine, counted, rows_behind

LONGEST = 3  # places of a list that an iteration and those beside it share
WORTH = 2  # reads and stores of a loop: for one, it is not worth a variable
COST = {LIST_ADDAT: 3}  # of a read and a store whose place Python looks up twice
NUMBER = Ty("scalar", np.dtype(np.float64), ())
Uses = dict[Value, list[Op | Region]]


@record
class Window:
    """The places of a list, relative to the variable of a loop, at which each iteration reads or stores.

    accesses: the reads and stores, in order
    places:   from that which no iteration before has come to, to that to which no later one comes
    saved:    how many reads and stores are not needed if an iteration hands on what it has
    """

    loop: Op
    slot: int
    accesses: list[Op]
    places: list[int]
    saved: int


def carry_items(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Carry numbers of lists in variables; `before_change` is called if there are some."""
    loops = [op for op in fn.body.walk() if op.prim is LOOP and counts_rows(op) and surely_runs(op)]
    if not loops or any(op.prim is TRY for op in fn.body.walk()):
        return False
    behind = collect_uses(fn.body)
    changed = False
    for loop in loops:
        slots = [k for k, param in enumerate(loop.regions[0].params[1:]) if param.type.kind == "list"]
        uses = collect_uses(loop.regions[0]) if slots else {}
        windows = {k: window for k in slots if (window := _window(loop, k, uses)) is not None}
        if sum(window.saved for window in windows.values()) < WORTH:
            continue
        if not changed and before_change is not None:
            before_change()
        changed = True
        for k in windows:
            window = _window(loop, k, collect_uses(loop.regions[0]))
            if window is not None:
                _Carried(window, behind.get(loop.results[k], [])).run()
    return changed


def _window(loop: Op, k: int, uses: Uses) -> Window | None:
    """The window of a list that a loop carries, if its iterations do nothing else with it, and it pays."""
    (body,) = loop.regions
    param = body.params[k + 1]
    elem = param.type.elem if param.type.kind == "list" else None
    length = length_of_list(loop.inits[k], loop)
    if elem is None or not elem.is_scalar or elem.dtype != np.float64 or length is None:
        return None
    lowest, down = counted(loop) or (0, False)
    accesses: list[Op] = []
    version, rest = param, True
    while rest:
        rest = False
        for user in uses.get(version, ()):
            if isinstance(user, Region) or user.parent is not body or user.prim not in (LIST_GET, LIST_SET, LIST_ADDAT):
                if user is body and body.exit[k + 1] is version and sum(x is version for x in body.exit) == 1:
                    continue
                return None
            if user.args[0] is not version or version in user.operands()[1:]:
                return None
            accesses.append(user)
            if user.prim is not LIST_GET:
                if rest:
                    return None
                rest, following = True, user.result
        version = following if rest else version
    if version is not body.exit[k + 1] or version is param:
        return None
    accesses.sort(key=body.ops.index)
    found: list[int] = []
    for op in accesses:
        place = affine(op.args[1], loop)
        if place is None or lowest + place < 0 or rows_behind(loop, length, place) is None:
            return None
        found.append(place)
    places = list(range(min(found), max(found) + 1))
    first = found.index(places[0] if down else places[-1])
    saved = sum(COST.get(op.prim, 1) for op in accesses) - 1 - (accesses[first].prim is not LIST_SET)
    if len(places) > LONGEST or saved <= 0:
        return None
    if len(places) == 1:
        saved += 1  # no variable goes on to the next iteration
    return Window(loop, k, accesses, places if down else places[::-1], saved)


def length_of_list(items: Any, loop: Op) -> Any:
    """The length of a list, from the array that it was made of, or from how often it repeats a number."""
    while type(items) is Value and items.op is not None:
        op = items.op
        if op.prim in (LIST_SET, LIST_ADDAT):
            items = op.args[0]
        elif op.prim is LOOP:
            k = op.results.index(items)
            if k >= len(op.inits):
                return None
            items = op.inits[k]
        elif op.prim is TOLIST:
            dims = type_of(op.args[0]).dims
            return dims[0] if dims else None
        elif op.prim is REPEATED:
            count = op.args[1]
            if type(count) is Value and count.op is not None and count.op.prim is DIM:
                dims = type_of(count.op.args[0]).dims
                return dims[count.op.args[1]] if dims else None
            return count if type(count) is int else count.type.length
        else:
            return None
    return None


class _Carried:
    """The rewriting of one loop and one list."""

    def __init__(self, window: Window, readers: list[Op | Region]):
        self.window, self.readers = window, readers  # readers: of the list, behind the loop
        self.loop, self.slot = window.loop, window.slot
        (self.body,) = self.loop.regions
        assert self.loop.parent is not None
        self.parent = self.loop.parent
        lowest, self.down = counted(self.loop) or (0, False)
        start, stop, step = self.loop.range[:3]  # type: ignore[index]
        top = (start, 0) if step < 0 else (stop, -1)
        self.ends = ((lowest, 0), top) if not self.down else (top, (lowest, 0))
        self.step = -1 if self.down else 1

    def run(self) -> None:
        window, body = self.window, self.body
        entry, *others = window.places
        stored_at = {self.place_of(op) for op in window.accesses if op.prim is not LIST_GET}
        self.final = max(stored_at, key=window.places.index)
        is_read = bool(self.readers)
        hints = {self.place_of(op): name_of(op.result) for op in window.accesses if op.prim is LIST_GET}
        params = {}
        for place in others:
            params[place] = body.param(NUMBER, Telling(hints.get(place, "")))
        inits = [self.first(place) for place in others]
        for place, init in zip(others, inits):
            if type(init) is Value and type(init.hint) is Telling:
                init.hint = params[place].hint  # they are one variable
        content: dict[int, Any] = {entry: None, **params}
        known = self.follow(content, is_read)
        body.exit = (*body.exit, *[content[place + self.step] for place in others])
        self.loop.args = (self.loop.args[0], (*self.loop.inits, *inits))
        results = [Value(NUMBER, params[place].hint, self.loop) for place in others]
        at = len(self.loop.results) - 2
        self.loop.results[at:at] = results
        if is_read:
            self.complete(dict(zip(others, results)), stored_at)
        replace_values(body, known)

    def place_of(self, op: Op) -> int:
        place = affine(op.args[1], self.loop)
        assert place is not None
        return place

    def index(self, ops: list[Op], end: tuple[Any, int], place: int) -> Any:
        """The index of a place, from the value that the variable has in the first iteration, or the last one."""
        base, more = end
        more += place
        if type(base) is int:
            return base + more
        return self.emit(ops, self.loop, ADD if more > 0 else SUB, base, abs(more)) if more else base

    def emit(self, ops: list[Op], like: Op, prim: Any, *args: Any, t: Ty | None = None) -> Value:
        """A new operation, which belongs to the region and the sweep of another one."""
        assert like.parent is not None
        new = derived(like.parent, prim, *args, loc=like.loc)
        new.tag = like.tag
        new.result.type = new.result.type if t is None else t
        ops.append(new)
        return new.result

    def put(self, before: Op, prim: Any, *args: Any, t: Ty) -> Value:
        """A new operation in front of another one of the body."""
        ops: list[Op] = []
        out = self.emit(ops, before, prim, *args, t=t)
        at = self.body.ops.index(before)
        self.body.ops[at:at] = ops
        return out

    def first(self, place: int) -> Any:
        """What is at a place in front of the first iteration."""
        new: list[Op] = []
        items, index = self.loop.inits[self.slot], self.index(new, self.ends[0], place)
        while type(items) is Value and items.op is not None and items.op.parent is self.parent:
            op = items.op
            if op.prim is REPEATED and type(op.args[0]) is float:
                return op.args[0]
            if op.prim is not LIST_SET or type(op.args[1]) is not int or type(index) is not int:
                break
            if op.args[1] == index:
                return op.args[2]
            if op.args[1] < 0:
                break
            items = op.args[0]
        out = self.emit(new, self.loop, LIST_GET, self.loop.inits[self.slot], index, t=NUMBER)
        at = self.parent.ops.index(self.loop)
        self.parent.ops[at:at] = new
        return out

    def follow(self, content: dict[int, Any], is_read: bool) -> dict[Value, Any]:
        """Let the operations of an iteration read what is known; what takes the place of the values that they read."""
        body, known = self.body, {}
        version: Value = body.params[self.slot + 1]
        stores = [op for op in self.window.accesses if op.prim is not LIST_GET]
        last = [op for op in stores if self.place_of(op) == self.final][-1]

        for op in self.window.accesses:
            index = op.args[1]
            place = self.place_of(op)
            if op.prim is LIST_GET and content[place] is None:
                op.args = (version, index)
                content[place] = op.result
                continue
            if op.prim is LIST_GET:
                known[op.result] = content[place]
            elif op.prim is LIST_SET:
                content[place] = op.args[2]
            else:
                if content[place] is None:
                    content[place] = self.put(op, LIST_GET, version, index, t=NUMBER)
                v = op.args[2]
                sign = v.op if type(v) is Value and v.op is not None and v.op.prim is NEG else None
                more = (ADD, v) if sign is None else (SUB, sign.args[0])
                content[place] = self.put(op, more[0], content[place], more[1], t=NUMBER)
            if op is last and is_read:
                version = self.put(op, LIST_SET, version, index, content[place], t=version.type)
            body.ops.remove(op)
        body.exit = tuple(version if k == self.slot + 1 else x for k, x in enumerate(body.exit))
        return known

    def complete(self, results: dict[int, Value], stored_at: set[int]) -> None:
        """Store behind the loop what later iterations would have completed."""
        version = out = self.loop.results[self.slot]
        new: list[Op] = []
        order = self.window.places
        for k, place in enumerate(order[: order.index(self.final)]):
            if not stored_at.isdisjoint(order[: k + 1]):
                index = self.index(new, self.ends[1], place)
                out = self.emit(new, self.loop, LIST_SET, out, index, results[place - self.step], t=version.type)
        for op in new:
            op.loc = self.window.accesses[-1].loc
        at = self.parent.ops.index(self.loop) + 1
        self.parent.ops[at:at] = new
        for user in self.readers if out is not version else ():
            substitute_in(user, {version: out})


__all__ = ["carry_items", "length_of_list"]
