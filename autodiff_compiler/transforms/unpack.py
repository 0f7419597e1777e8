"""Arrays of a known length whose items are numbers of the program: taken apart, and put together, by one statement.

Takes a function whose stores are safe in place. Where the program unpacks an array, the items are read one by one,
after a check of the length. Gives the function with an unpacking in their place, which makes the same check, and with
one call of ``np.array`` in the place of zeros into which a number is stored at each index.

>>> from autodiff_compiler.api.stages import show_source
>>> import numpy as np
>>> def f(w, n):
...     rate, level = w
...     for _ in range(n):
...         level = level - rate * level
...     return level * level
>>> show_source(f, np.ones(2), 3)
def f_grad(w, n):
    rate, level = w
    level_saved = []
    for _ in range(n):
        level_saved.append(level)
        level -= rate * level
    # adjoint of line 5: return level * level
    level_bar = 2.0 * level
    rate_bar = 0.0
    # adjoint of line 3: for _ in range(n):
    for level in reversed(level_saved):
        # adjoint of line 4: level = level - rate * level
        rate_bar -= level_bar * level
        level_bar -= level_bar * rate
    return np.array([rate_bar, level_bar])

The backward sweep of a loop reads the same lists as its forward sweep. It runs only after that, so it knows their
lengths as well: what was pushed behind a check is popped where the check holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.core import IF, LOOP, Function, Op, Prim, Region, Value, type_of
from ..ir.opset import (
    ADD,
    ADDAT,
    DIM,
    EQ,
    GET,
    LIST_ADDAT,
    LIST_GET,
    LIST_SET,
    MUL,
    POP,
    PRIMS,
    PUSH,
    RAISE,
    SET,
    STORES,
    SUB,
    TOLIST,
    UNPACK,
    ZEROS,
)
from ..ir.rewrite import collect_uses, enclosing, stands_before
from ..ir.telling import give, telling
from ..ir.types import Dim, Ty, py_int
from .items import is_constant, list_length

MOST = 12  # numbers on a line
FLOAT = PRIMS[float]
ARRAY = PRIMS[np.array]
FLOAT64 = np.float64  # no dtype, which an unknown one, None, would be equal to
# The types of what `tolist` gives.
PYTHON: dict[Any, Ty] = {np.dtype(float): type_of(1.0), np.dtype(np.int64): py_int()}


def unpack(fn: Function) -> None:
    """Unpack what is read item by item, and make at once what is filled item by item."""
    guards = [guard for op in fn.body.walk() if (guard := _guard(op)) is not None]
    known = [op for op in fn.body.walk() if op.prim is ZEROS and _is_numbers(op.result)]
    if guards or known:
        _Unpack(fn, guards).run(known)


class Guard:
    """A check that an axis has a length.

    op: raises otherwise: the check, or the unpacking in its place
    """

    def __init__(self, op: Op, dim: Dim, length: int) -> None:
        self.op, self.dim, self.length = op, dim, length


def _guard(op: Op) -> Guard | None:
    """The operation raises a ValueError unless the length of an axis is a number."""
    if op.prim is not IF or op.results or op.regions[0].ops or type(op.args[0]) is not Value:
        return None
    test, ops = op.args[0].op, op.regions[1].ops
    if [x.prim.name for x in ops] != ["ValueError", "raise"] or ops[-1].prim is not RAISE or test is None:
        return None
    if test.prim is not EQ or type(test.args[0]) is not Value or type(test.args[1]) is not int:
        return None
    asked = test.args[0].op
    if asked is None or asked.prim is not DIM or type(asked.args[1]) is not int:
        return None
    dims = type_of(asked.args[0]).dims
    dim = dims[asked.args[1]] if dims is not None else None
    return Guard(op, dim, test.args[1]) if isinstance(dim, Dim) else None


class _Unpack:
    def __init__(self, fn: Function, guards: list[Guard]) -> None:
        self.body = fn.body
        self.guards = guards
        self.uses = collect_uses(fn.body)

    def run(self, zeros: list[Op]) -> None:
        for op in zeros:
            self.fill(op)
        groups: dict[tuple[Region, Value, tuple[Any, ...]], list[Op]] = {}
        for op in self.body.walk():
            if op.prim in (GET, LIST_GET) and op.parent is not None and (place := _place(op)) is not None:
                groups.setdefault((op.parent, op.args[0], place[0]), []).append(op)
        for (region, base, row), gets in groups.items():
            self.take_apart(region, base, row, gets)

    # --- what is known of lengths ---------------------------------------------------------------------------------

    def length(self, dim: Any, op: Op) -> int | None:
        """The length of an axis, as far as it is known where an operation runs."""
        if type(dim) is int:
            return dim
        return next((g.length for g in self.guards if g.dim is dim and self._has_run(g.op, op)), None)

    def _has_run(self, first: Op, op: Op) -> bool:
        """`first` has run, without raising, before `op` runs."""
        if stands_before(first, op):
            return True
        pushes: list[Op | Region] = []
        for region in enclosing(op.parent):
            for earlier in region.ops:
                if earlier is op or any(r in earlier.regions for r in enclosing(op.parent)):
                    break
                if earlier.prim is POP:
                    pushes = [user for user in self.uses[earlier.args[0]] if getattr(user, "prim", None) is PUSH]
                    if pushes and all(isinstance(push, Op) and stands_before(first, push) for push in pushes):
                        return True
        return False

    # --- reads ----------------------------------------------------------------------------------------------------

    def take_apart(self, region: Region, base: Value, row: tuple[Any, ...], gets: list[Op]) -> None:
        """Read the items of an array, of a row of it, or of a list, by one operation, if at least half are read.

        row: the subscripts of the row
        """
        axis = self._axis(base, len(row))
        n = self.length(axis, gets[0])
        if type(axis) is int and (gets[0].loc is None or any(op.loc != gets[0].loc for op in gets)):
            return  # no statement of the program unpacks it
        places = [k for op in gets for _, k in [_place(op) or ((), 0)]]
        if n is None or not 1 < n <= MOST or max(places) >= n or len({*places}) < max(2, n / 2, len(places)):
            return
        read = [op.result for op in gets]
        if not any(self.uses.get(v) for v in read):
            return
        casts: dict[Value, Op] = {}  # where Python's numbers are made of the items
        if base.type.kind == "array":
            users = [user for v in read for user in self.uses.get(v, ())]
            for user in users:
                if isinstance(user, Op) and user.prim is FLOAT and user.parent is region:
                    casts[user.args[0]] = user
            if casts and not (len(casts) == len(users) == len(read) and all(v.type.dtype == FLOAT64 for v in read)):
                return
            if not _is_quiet(region, gets[0], gets[-1]):
                return
        items = [casts[v].result if casts else v for v in read]
        listed = bool(casts) or (
            base.type.kind == "array" and _is_in_loop(region) and self.are_only_computed_with(read)
        )
        for v in items:
            give(v, telling(v))
            if listed:
                v.type = PYTHON[v.type.dtype]
        first, kind = gets[0], items[0].type
        made: list[Op] = []
        source = base
        if row:
            t = base.type
            assert t.dims is not None
            source = _result(made, GET, (base, (("index", row),)), Ty("array", t.dtype, t.dims[len(row) :]), first)
        if listed:
            source = _result(made, TOLIST, (source,), Ty("list", elem=kind), first)
        _result(made, UNPACK, (source,), kind, first)
        taken = made[-1]
        by_place = dict(zip(places, items))
        taken.results = [by_place[k] if k in by_place else Value(kind, "", taken) for k in range(n)]
        for v in taken.results:
            v.op = taken
        for op in made:
            op.parent = region
            for v in op.operands():
                self.uses.setdefault(v, []).append(op)
        at = region.ops.index(first)
        region.ops[at:at] = made
        gone = {*gets, *casts.values()}
        region.ops[:] = [op for op in region.ops if op not in gone]
        self._drop_check(region, axis, n, taken)

    def are_only_computed_with(self, read: list[Value]) -> bool:
        """Nobody can tell NumPy's numbers from Python's, which a list takes a third of the time to give: ints are
        subscripts, and floats are stored, or operands of sums and products with others of NumPy's."""
        return all(self._is_only_computed_with(v, user, read) for v in read for user in self.uses.get(v, ()))

    def _is_only_computed_with(self, v: Value, user: Op | Region, read: list[Value]) -> bool:
        if isinstance(user, Region) or v.type.kind != "generic" or v.type.dtype not in PYTHON:
            return False
        if user.prim in (LIST_GET, LIST_SET, LIST_ADDAT):
            return user.args[1] is v and not any(x is v for x in (user.args[0], *user.args[2:]))
        if user.prim in (GET, SET, ADDAT) and type(user.args[0]) is Value and user.args[0].type.kind == "array":
            if v.type.dtype != FLOAT64:
                return user.args[0] is not v and (user.prim is GET or user.args[2] is not v)
            return user.prim is not GET and user.args[0].type.dtype == FLOAT64
        others = [x for x in user.args if x is not v]
        return (
            v.type.dtype == FLOAT64
            and user.prim in (ADD, SUB, MUL)
            and len(others) == 1
            and type(others[0]) is Value
            and others[0] not in read
            and others[0].type.kind in ("array", "generic")
            and others[0].type.dtype == FLOAT64
        )

    def _axis(self, base: Value, depth: int) -> Any:
        """The length of what is read from, as its type has it. Of lists, only of those that nothing changes."""
        if base.type.kind == "array":
            return base.type.dims[depth] if base.type.dims and len(base.type.dims) > depth else None
        return list_length(base) if is_constant(base, self.uses) else None

    def _drop_check(self, region: Region, axis: Any, n: int, taken: Op) -> None:
        """The unpacking raises where a check in front of it would."""
        for guard in self.guards:
            if guard.dim is not axis or guard.length != n or guard.op.parent is not region or guard.op.prim is not IF:
                continue
            if not stands_before(guard.op, taken) or not _is_quiet(region, guard.op, taken):
                continue
            self._drop(guard.op)
            test = guard.op.args[0].op
            guard.op = taken
            for op in (test, test.args[0].op):
                if op.parent is not None and not any(map(self._is_there, self.uses[op.result])):
                    self._drop(op)
            self._drop_read_of_row(region, taken)

    def _drop_read_of_row(self, region: Region, taken: Op) -> None:
        """The row that is taken apart is read from a list. Nobody reads it from the array."""
        row = taken.args[0].op
        if row is not None and row.prim is TOLIST and type(row.args[0]) is Value:
            row = row.args[0].op
        if row is None or row.prim not in (GET, LIST_GET):
            return
        array, path = row.args
        if row.prim is LIST_GET:
            if array.op is None or array.op.prim is not TOLIST:
                return
            array, path = array.op.args[0], (("index", (path,)),)
        for op in list(region.ops):
            if op is not row and op.prim is GET and op.args == (array, path) and not self.uses.get(op.result):
                if stands_before(op, row) and _is_quiet(region, op, row):
                    self._drop(op)

    def _is_there(self, user: Op | Region) -> bool:
        return isinstance(user, Region) or user.parent is not None

    def _drop(self, op: Op) -> None:
        assert op.parent is not None
        op.parent.ops.remove(op)
        op.parent = None

    # --- stores ---------------------------------------------------------------------------------------------------

    def fill(self, zeros: Op) -> None:
        """Make an array of numbers at once, if they are all that is ever stored into these zeros."""
        region = zeros.parent
        assert region is not None
        values: dict[int, Any] = {}
        chain: list[Op] = []
        last = zeros.result
        while len(users := self.uses.get(last, [])) == 1:
            op = users[0]
            if not isinstance(op, Op) or op.prim not in (SET, ADDAT) or op.parent is not region:
                break
            if (place := _place(op)) is None or op.args[0] is not last or not _is_number(op.args[2]):
                break
            row, k = place
            if row or k in values:
                break
            values[k] = op.args[2]
            chain.append(op)
            last = op.result
        if not chain:
            return
        n = self.length(zeros.result.type.dims[0], chain[-1])  # type: ignore[index]
        if n is None or not 0 < n <= MOST or 2 * len(values) < n or max(values) >= n:
            return
        op = chain.pop()
        op.prim, op.args, op.kwargs = ARRAY, ([values.get(k, 0.0) for k in range(n)],), {}
        for gone in (zeros, *chain):
            self._drop(gone)
        for v in op.operands():
            self.uses.setdefault(v, []).append(op)


def _place(op: Op) -> tuple[tuple[Any, ...], int] | None:
    """The row, and the index in it, which counts from the front, of the item that an operation reads or stores to."""
    row: tuple[Any, ...] = ()
    if op.prim is LIST_GET:
        k = op.args[1]
    else:
        path = op.args[1]
        if len(path) != 1 or path[0][0] != "index" or not path[0][1]:
            return None
        row, k = path[0][1][:-1], path[0][1][-1]
        if not all(type(i) is int or (type(i) is Value and i.type.is_scalar) for i in row):
            return None
    return (row, k) if type(k) is int and k >= 0 else None


def _result(made: list[Op], prim: Prim, args: tuple[Any, ...], kind: Ty, instead: Op) -> Value:
    """The result of a new operation in the place of another one."""
    op = Op(prim, args, {}, (), instead.loc)
    op.tag, op.again = instead.tag, instead.again
    op.results = [Value(kind, "", op)]
    made.append(op)
    return op.results[0]


def _is_numbers(v: Value) -> bool:
    t = v.type
    return t.kind == "array" and t.dtype == FLOAT64 and t.dims is not None and len(t.dims) == 1


def _is_number(x: Any) -> bool:
    t = type_of(x)
    return (t.is_scalar or t.dims == ()) and t.kind != "array" and t.dtype == FLOAT64


def _is_in_loop(region: Region) -> bool:
    return any(each.op is not None and each.op.prim is LOOP for each in enclosing(region))


def _is_quiet(region: Region, first: Op, last: Op) -> bool:
    """Between two operations, nothing is stored, raised or decided, except that lengths are checked."""
    between = region.ops[region.ops.index(first) + 1 : region.ops.index(last)]
    return not any(op.regions or op.prim in STORES or op.prim.effects for op in between)


__all__ = ["unpack"]
