"""Appended: a list that a loop fills place by place begins empty, and each iteration appends to it.

Takes a function whose stores are safe in place, and its loops that carry a list, or a table of zeros, and store once
in each iteration, at the iteration's own place. Gives loops that append to a new list. What they read of the old one,
where nothing is stored yet, is read from it as before, or is the number that it repeats. A list that is filled from its
end is turned around behind the loop. The loop may have no other use of its variable then.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, k):
...     s = 0.0
...     for i in range(len(x)):
...         s = k * s * s + x[i] * x[i]
...     return s
>>> show_source(f, np.ones(3), 0.5)
def f_grad(x, k):
    x_list = x.tolist()
    s_saved = []
    s = 0.0
    for x_i in x_list:
        s_saved.append(s)
        s = k * s * s + x_i * x_i
    x_bar = []
    s_bar = 1.0
    # adjoint of line 3: for i in range(len(x)):
    for x_i, s in zip(reversed(x_list), reversed(s_saved)):
        # adjoint of line 4: s = k * s * s + x[i] * x[i]
        x_bar.append(2.0 * (s_bar * x_i))
        s_bar = 2.0 * s * k * s_bar
    return np.array(x_bar[::-1])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import opset
from ..ir.core import DERIVED, LOOP, Function, Op, Region, Value, type_of
from ..ir.opset import FROM_LIST, LIST_ADDAT, LIST_APPEND, LIST_GET, LIST_SET, REPEATED, SET, TABLE_ADDAT, TOLIST
from ..ir.rewrite import collect_uses, replace_values, stands_before
from ..ir.types import Dim, Dims, Ty
from ..records import record
from .carried_items import length_of_list
from .distribute import counts_rows, surely_runs
from .filling import affine, counted, rows_behind
from .first_stores import makes_zeros
from .items import is_only_read
from .listing import LISTED, NUMBER, insert

MOST = 2  # places at the ends that no iteration stores at
WIDEST = 8  # numbers in a row
Uses = dict[Value, list[Op | Region]]


def append_items(fn: Function, split: bool = False) -> bool:
    """Let loops append to lists; `split`: the backward sweep becomes a function, which may be called again."""
    changed = False
    uses: Uses | None = None
    for loop in [op for op in fn.body.walk() if op.prim is LOOP and op.range is not None and counts_rows(op)]:
        for k, param in enumerate(loop.regions[0].params[1:]):
            if param.type.kind not in ("list", "table"):
                continue
            uses = collect_uses(fn.body) if uses is None else uses
            filled = _filled(loop, k, uses)
            if filled is not None and not (split and filled.made.tag != loop.tag):
                (_append_rows if param.type.kind == "table" else _append)(filled, uses)
                uses, changed = None, True
    return changed


@record
class Filled:
    """A list that a loop fills.

    made:   the operation that makes the list
    first:  stores at known places between that and the loop
    stores: those of an iteration, one after the other
    reads:  what an iteration reads of the places at which nothing is stored yet
    back:   and of those at which the iterations before it have stored
    last:   stores at known places behind the loop
    readers: what makes arrays of the list when it is full, or reads its numbers
    front, behind: how many places there are in front of those of the iterations, and behind them
    """

    loop: Op
    slot: int
    made: Op
    first: list[Op]
    stores: list[Op]
    reads: list[Op]
    back: list[Op]
    last: list[Op]
    readers: list[Op]
    front: int
    behind: int

    @property
    def down(self) -> bool:
        order = counted(self.loop)
        return order is not None and order[1]


def _filled(loop: Op, k: int, uses: Uses) -> Filled | None:
    """How a loop fills a list that it carries, if it does."""
    (body,) = loop.regions
    is_table = body.params[k + 1].type.kind == "table"
    first, made = _stored_before(loop, k, uses)
    if made is None or made.parent is not loop.parent or (is_table and (first or not _is_of_zeros(made, uses))):
        return None
    if not is_table and made.prim not in (REPEATED, TOLIST):
        return None
    stores: list[Op] = []
    reads: list[Op] = []
    version = body.params[k + 1]
    while version is not body.exit[k + 1]:
        users = uses.get(version, [])
        following = [op for op in users if not isinstance(op, Op) or op.prim is not LIST_GET]
        step = following[0] if len(following) == 1 else None
        if not isinstance(step, Op) or step.parent is not body or step.prim not in STORES or (stores and not is_table):
            return None
        if step.args[0] is not version or sum(x is version for x in step.operands()) != 1:
            return None
        reads += [op for op in users if isinstance(op, Op) and op is not step]
        stores.append(step)
        version = step.result
    if not stores or len(uses[version]) != 1 or (is_table and reads):
        return None
    last, readers = _read_behind(loop, k, uses)
    lowest, down = counted(loop) or (0, False)
    places = {affine(op.args[1], loop) for op in stores}
    length = length_of_list(loop.inits[k], loop)
    place = places.pop()
    if places or place is None or length is None or not readers:
        return None
    front, behind = lowest + place, rows_behind(loop, length, place)
    if behind is None or not 0 <= front <= MOST - behind or (front + behind and not surely_runs(loop)):
        return None
    if down and not all(op.prim is FROM_LIST or _is_place(op.args[1]) for op in readers):
        return None
    if any(op.args[1] >= front for op in (*first, *last)) or (front and last and not down):
        return None
    if is_table and (front or behind or not _are_rows(stores, made)):
        return None
    back: list[Op] = []
    for op in reads:
        at = affine(op.args[1], loop)
        if at is None or lowest + at < 0 or rows_behind(loop, length, at) is None:
            return None
        if at > place if down else at < place:
            if abs(at - place) > (behind if down else front):
                return None
            back.append(op)
    reads = [op for op in reads if op not in back]
    if made.prim is TOLIST and first and (reads or {op.args[1] for op in first} != set(range(front)) or behind):
        return None
    return Filled(loop, k, made, first, stores, reads, back, last, readers, front, behind)


STORES = frozenset({LIST_SET, LIST_ADDAT, opset.TABLE_SET, TABLE_ADDAT})


def _stored_before(loop: Op, k: int, uses: Uses) -> tuple[list[Op], Op | None]:
    """The stores into a list in front of a loop, and what makes the list, if nothing else changes it."""
    stores: list[Op] = []
    v, user = loop.inits[k], loop
    while type(v) is Value and v.op is not None and v.op.parent is loop.parent:
        others = [x for x in uses[v] if x is not user]
        if sum(x is user for x in uses[v]) != 1 or not all(isinstance(x, Op) and x.prim is LIST_GET for x in others):
            break
        if v.op.prim is not LIST_SET:
            at = loop.parent.ops.index(loop)  # type: ignore[union-attr]
            is_read_before = all(x.parent is loop.parent and loop.parent.ops.index(x) < at for x in others)  # type: ignore[union-attr, arg-type]
            return stores, v.op if is_read_before else None
        if others or not _is_place(v.op.args[1]):
            break
        stores.append(v.op)
        user, v = v.op, v.op.args[0]
    return [], None


def _read_behind(loop: Op, k: int, uses: Uses) -> tuple[list[Op], list[Op]]:
    """The stores into a list behind a loop, and what reads it then, if nothing else is done with it."""
    stores: list[Op] = []
    v = loop.results[k]
    while True:
        users = uses.get(v, [])
        readers = [
            x for x in users if isinstance(x, Op) and (x.prim is FROM_LIST or (x.prim is LIST_GET and x.args[0] is v))
        ]
        if len(readers) == len(users):
            return stores, readers
        step = users[0] if len(users) == 1 else None
        if not isinstance(step, Op) or step.prim is not LIST_SET or step.parent is not loop.parent:
            return [], []
        if step.args[0] is not v or not _is_place(step.args[1]):
            return [], []
        stores.append(step)
        v = step.result


def _is_place(x: Any) -> bool:
    return type(x) is int and x >= 0


def _is_of_zeros(made: Op, uses: Uses) -> bool:
    array = made.args[0]
    return made.prim is TOLIST and type(array) is Value and array.op is not None and makes_zeros(array.op)


def _are_rows(stores: list[Op], made: Op) -> bool:
    """An iteration stores each number of a row once. (What is added to zero is stored.)"""
    columns = sorted([op.args[2] if type(op.args[2]) is int else -1 for op in stores])
    if columns != list(range(len(columns))) or len(columns) > WIDEST:
        return False
    if any(op.prim is TABLE_ADDAT and op.tag != DERIVED for op in stores):
        return False
    assert made.parent is not None
    dims = made.parent.dims
    width = dims.find((type_of(made.args[0]).dims or (0, 0))[1])
    return dims.same(width, len(columns)) or (isinstance(width, Dim) and dims.assume(width, len(columns), True))


def _append(filled: Filled, uses: Uses) -> None:
    """Let a loop append to a list of numbers."""
    loop, made, (store,) = filled.loop, filled.made, filled.stores
    (body,) = loop.regions
    param, known = body.params[filled.slot + 1], {op.args[1]: op.args[2] for op in reversed(filled.first)}
    items, zeros = _read_part(filled, uses) if made.prim is TOLIST else (made.result, 0)
    for read in filled.reads:
        if made.prim is TOLIST:
            read.args = (items, read.args[1])
        else:
            _read_number(read, made.args[0], uses)
    for read in filled.back:
        before = abs((affine(read.args[1], loop) or 0) - (affine(store.args[1], loop) or 0))
        read.args = (param, -before)
    if store.prim is LIST_ADDAT:
        number = made.args[0]
        if made.prim is TOLIST:
            number = insert(body, body.ops.index(store), LIST_GET, (items, store.args[1]), NUMBER, store.tag, "")
        if type(number) is not float or number != 0.0 or store.tag != DERIVED:
            at = body.ops.index(store)
            store.args = (*store.args[:2], insert(body, at, opset.ADD, (number, store.args[2]), NUMBER, store.tag, ""))
    home = loop.parent
    assert home is not None
    if _hands_on(filled):
        body.ops.remove(store)
        body.exit = tuple([param if x is store.result else x for x in body.exit])
        return
    store.prim, store.args = LIST_APPEND, (param, store.args[2])
    ops = home.ops
    reading = [op for op in uses[made.result] if isinstance(op, Op) and op.prim is LIST_GET and op.parent is home]

    def at_place(place: int) -> Any:
        if place in known:
            return known[place]
        if made.prim is REPEATED:
            return made.args[0]
        if -zeros <= place < 0:
            return 0.0
        for op in reading:
            if _is_at(op.args[1], place, filled):
                return op.result
        return insert(home, ops.index(loop), LIST_GET, (items, place), NUMBER, loop.tag, "")

    places = range(-1, -1 - filled.behind, -1) if filled.down else range(filled.front)
    _begin(filled, tuple(map(at_place, places)), LISTED)
    # What iterations that go on later would have stored.
    out = loop.results[filled.slot]
    for op in filled.first:
        ops.remove(op)
    known.update({op.args[1]: op.args[2] for op in filled.last})
    rest = range(filled.front - 1, -1, -1) if filled.down else range(-filled.behind, 0)
    values = list(map(at_place, rest))
    at = ops.index(filled.last[-1] if filled.last else loop) + 1
    for op in filled.last:
        at -= 1
        ops.remove(op)
    for v in values:
        out = insert(home, at, LIST_APPEND, (out, v), LISTED, loop.tag, out.hint)
        at += 1
    _turn(filled, out)


def _read_part(filled: Filled, uses: Uses) -> tuple[Value, int]:
    """The list that the iterations read, and how many zeros are behind what it has: if they read only a part that was
    stored into zeros, it is the list of that part."""
    loop, made = filled.loop, filled.made
    whole = made.result, 0
    store = made.args[0].op if len(uses[made.args[0]]) == 1 else None
    if store is None or store.prim is not SET or len(uses[store.args[0]]) != 1 or len(store.args[1]) != 1:
        return whole
    zeros, ((_, place),), part = store.args[0].op, store.args[1], store.args[2]
    if zeros is None or not makes_zeros(zeros) or len(place) != 1 or type(place[0]) is not slice:
        return whole
    start, stop, step = place[0].start, place[0].stop, place[0].step
    if start not in (None, 0) or step not in (None, 1) or type(stop) is not int or stop >= 0:
        return whole
    dims, length = loop.regions[0].dims, length_of_list(made.result, loop)
    shape = part.type.dims if type(part) is Value and part.type.dtype == np.float64 else None
    if not shape or _from_end(dims, length, shape[0]) != -stop:
        return whole
    for read in filled.reads:
        behind = rows_behind(loop, length, affine(read.args[1], loop) or 0)
        if behind is None or behind < -stop:
            return whole
    others = [x for x in uses[made.result] if isinstance(x, Op) and x.prim is LIST_GET]
    if filled.behind > -stop or not all(any(_is_at(x.args[1], p, filled) for p in range(stop, 0)) for x in others):
        return whole
    assert loop.parent is not None
    replace_values(loop.parent, {read.result: 0.0 for read in others})
    made.args = (part,)
    same = [x for x in uses[part] if isinstance(x, Op) and x.prim is TOLIST and x.parent is made.parent]
    ready = [x.result for x in same if stands_before(x, loop) and is_only_read(x.result, uses)]
    return ready[0] if ready else made.result, -stop


def _from_end(dims: Dims, length: Any, place: Any) -> int | None:
    """How far in front of the end of a list a place is, if that is known."""
    length, place = (None if x is None else dims.find(x) for x in (length, place))
    if isinstance(length, Dim) and isinstance(place, Dim) and length.root == place.root:
        return place.off - length.off
    return None


def _is_at(index: Any, place: int, filled: Filled) -> bool:
    """An index is that of a place, which is counted from the end if it is negative."""
    if type(index) is int:
        return index == place
    length = length_of_list(filled.made.result, filled.loop)
    return _from_end(filled.loop.regions[0].dims, length, index.type.length) == -place


def _hands_on(filled: Filled) -> bool:
    """Take the number that the last iteration hands on, if nothing else of the list is read."""
    loop, (store,) = filled.loop, filled.stores
    (body,) = loop.regions
    if not filled.down or filled.front or filled.last or filled.back or not surely_runs(loop):
        return False
    if any(op.prim is not LIST_GET or op.args[1] != 0 or op.parent is not loop.parent for op in filled.readers):
        return False
    carried = [v for v, x in zip(loop.results, body.exit[1:]) if x is store.args[2]]
    if carried and loop.parent is not None:
        replace_values(loop.parent, {op.result: carried[0] for op in filled.readers})
    return bool(carried)


def _append_rows(filled: Filled, uses: Uses) -> None:
    """Let a loop append to a list of rows."""
    loop = filled.loop
    (body,) = loop.regions
    row, last = Ty("list", elem=NUMBER), filled.stores[-1]
    t = Ty("list", elem=row)
    numbers = {op.args[2]: op.args[3] for op in filled.stores}
    items = tuple([numbers[j] for j in range(len(numbers))])
    new = insert(body, body.ops.index(last), opset.TUPLE, items, row, last.tag, "")
    for op in filled.stores[:-1]:
        body.ops.remove(op)
    last.prim, last.args = LIST_APPEND, (body.params[filled.slot + 1], new)
    for v in (body.params[filled.slot + 1], last.result, loop.results[filled.slot]):
        v.type = t
    _begin(filled, (), t)
    _turn(filled, loop.results[filled.slot])


def _begin(filled: Filled, items: tuple[Any, ...], t: Ty) -> None:
    """Begin with a list of a few items."""
    loop, k = filled.loop, filled.slot
    assert loop.parent is not None
    at = loop.parent.ops.index(loop)
    new = insert(loop.parent, at, opset.LIST_NEW, (items,), t, loop.tag, loop.results[k].hint)
    loop.args = (loop.args[0], tuple([new if j == k else x for j, x in enumerate(loop.inits)]))


def _turn(filled: Filled, items: Value) -> None:
    """Make the arrays of the list that was appended to."""
    for op in filled.readers:
        if op.prim is LIST_GET:
            op.args = (items, -1 - op.args[1] if filled.down else op.args[1])
            continue
        op.args = (items,)
        if filled.down:
            assert op.parent is not None
            backwards = (items, None, None, -1)
            op.args = (insert(op.parent, op.parent.ops.index(op), opset.LIST_SLICE, backwards, items.type, op.tag, ""),)


def _read_number(read: Op, number: float, uses: Uses) -> None:
    """Put a number in the place of a read. What the adjoint adds to zero is what it adds."""
    region = read.parent
    assert region is not None
    region.ops.remove(read)
    known: dict[Value, Any] = {read.result: number}
    for user in uses.get(read.result, ()):
        if isinstance(user, Op) and user.prim in (opset.ADD, opset.SUB) and user.tag == DERIVED and number == 0.0:
            x, y = user.args
            if y is read.result:
                known[user.result] = x
            elif user.prim is opset.ADD:
                known[user.result] = y
            elif type(y) is Value:
                user.prim, user.args = opset.NEG, (y,)
    replace_values(region, known)


__all__ = ["append_items"]
