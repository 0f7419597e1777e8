"""Rows of tables and lists: looked up once for a loop that reads and stores their elements.

Takes a function whose stores are safe in place. Gives the function in which a row of a list of lists, and an element of
a list that does not change, is read in front of the loops that do not change which one it is. A row to which several
statements of a block store is read once, too: nothing replaces a row, so it stays what it is.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, n):
...     u = np.zeros(x.shape)
...     for i in range(len(x)):
...         for j in range(1, n):
...             u[i, j] = 0.5 * u[i, j - 1] + x[i, j] * x[i, j]
...     return np.sum(u)
>>> show_source(f, np.ones((3, 4)), 4)
def f_grad(x, n):
    n2 = x.shape[0]
    u = np.zeros((n2, x.shape[1])).tolist()
    x_list = x.tolist()
    for i, x_i in enumerate(x_list):
        u_i = u[i]
        for j in range(1, n):
            x_i_j = x_i[j]
            u_i[j] = 0.5 * u_i[j - 1] + x_i_j * x_i_j
    u_bar = spread(1.0, x).tolist()
    x_bar = np.zeros(x.shape).tolist()
    # adjoint of line 3: for i in range(len(x)):
    for i in reversed(range(n2)):
        u_bar_i, x_i, x_bar_i = u_bar[i], x_list[i], x_bar[i]
        # adjoint of line 4: for j in range(1, n):
        for j in reversed(range(1, n)):
            # adjoint of line 5: u[i, j] = 0.5 * u[i, j - 1] + x[i, j] * x[i, j]
            t = u_bar_i[j]
            u_bar_i[j] = 0.0
            x_bar_i[j] += 2.0 * (t * x_i[j])
            u_bar_i[j - 1] += 0.5 * t
    return np.array(x_bar)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ir.core import IF, LOOP, Function, Op, Region, Value
from ..ir.opset import (
    ADD,
    LIST_GET,
    SUB,
    TABLE_ADDAT,
    TABLE_GET,
    TABLE_ROW,
    TABLE_SET,
)  # fmt: skip
from ..ir.rewrite import collect_uses, enclosing, region_of, replace_values
from ..ir.telling import telling
from ..ir.types import Ty, py_int
from .items import is_constant, list_length
from .listing import NUMBER
from .simplify import is_in_range

SEVERAL = 3  # statements of one block for which it pays to look up a row
IN_TABLE = frozenset([TABLE_GET, TABLE_SET, TABLE_ADDAT])
ROW = Ty("list", elem=NUMBER)


def share_rows(fn: Function) -> None:
    """Look up rows once."""
    while any(op.prim in IN_TABLE or op.prim is LIST_GET for op in fn.body.walk()) and _Rows(fn).run():
        pass  # an element of a row that has left a loop may leave it as well


class Access:
    """An operation that looks up a row, or an element of a list.

    home:  the block in which that may be done
    base:  the table or list, as the block knows it
    index: what the place is counted from, if anything, and the number that is added
    """

    def __init__(self, op: Op, home: Region, base: Value, index: tuple[Value | None, int]) -> None:
        self.op, self.home, self.base, self.index = op, home, base, index

    def statement(self) -> Op:
        """The operation of the block that it is, or lies in."""
        at = self.op
        while at.parent is not self.home:
            assert at.parent is not None and at.parent.op is not None
            at = at.parent.op
        return at


class _Rows:
    def __init__(self, fn: Function) -> None:
        self.body = fn.body
        self.uses = collect_uses(fn.body)
        self.same: dict[Value, Value] = {}  # from a version of a table to another one in the same memory

    def run(self) -> bool:
        groups: dict[Any, list[Access]] = {}
        for op in self.body.walk():
            found = self.access(op)
            if found is not None:
                key = (found.home, found.statement().tag, self.memory(found.base), found.index)
                groups.setdefault(key, []).append(found)
        changed = False
        for group in groups.values():
            if any(x.home is not x.op.parent for x in group) or len(group) >= SEVERAL:
                if group[0].op.prim in IN_TABLE:
                    self.look_up(group)
                    changed = True
                elif any(x.home is not x.op.parent for x in group):
                    self.move(group)
                    changed = True
        if changed:
            self.drop_indices()
        return changed

    # --- what may be looked up, and where ---------------------------------------------------------------------------

    def access(self, op: Op) -> Access | None:
        """An operation that looks something up, and the outermost block in which it may do so."""
        if op.prim not in IN_TABLE and not (op.prim is LIST_GET and is_constant(op.args[0], self.uses)):
            return None
        base, index = op.args[0], _split(op.args[1])
        if index is None or op.parent is None or _is_row(op.args[1]):
            return None
        length = self.length(base)
        home = op.parent
        while home.op is not None and home.op.prim is LOOP:
            outside = home.op.parent
            assert outside is not None
            before = self.before(base, home.op)
            if before is None or _is_within(index[0], home) or not is_in_range(*index, length, outside, True):
                break
            home, base = outside, before
        return Access(op, home, base, index)

    def length(self, base: Value) -> Any:
        """How many rows or items there are, as far as that is known."""
        if base.type.kind == "table":
            return (base.type.dims or (None,))[0]
        return list_length(base)

    def before(self, base: Value, loop: Op) -> Value | None:
        """What is in the same memory in front of a loop."""
        if not _is_within(base, loop.regions[0]):
            return base
        if base.type.kind != "table":
            return None
        memory = self.memory(base)
        return next(
            (v for v in loop.inits if type(v) is Value and v.type.kind == "table" and self.memory(v) is memory), None
        )

    def memory(self, v: Value) -> Value:
        """One value for all versions of a table that are surely in the same memory."""
        if v.type.kind != "table":
            return v
        if v not in self.same:
            self.same[v] = v
            self.same[v] = self.version(v)
        while self.same[v] is not v:
            v = self.same[v]
        return v

    def version(self, v: Value) -> Value:
        """An earlier version of a table that is in the same memory, or the table itself."""
        op = v.op
        if op is None:
            loop = v.region.op if v.region is not None else None
            if loop is None or loop.prim is not LOOP:
                return v
            k = v.region.params.index(v)  # type: ignore[union-attr]
            last, init = v.region.exit[k], loop.inits[k - 1]  # type: ignore[union-attr]
            stays = type(last) is Value and type(init) is Value and self.memory(last) is v
            return self.memory(init) if stays else v
        if op.prim in (TABLE_SET, TABLE_ADDAT):
            return self.memory(op.args[0])
        if op.prim is IF:
            ends = [r.exit[op.results.index(v)] for r in op.regions]
            found = {self.memory(x) if type(x) is Value else x for x in ends}
            return found.pop() if len(found) == 1 and type(ends[0]) is Value else v
        if op.prim is LOOP and v in op.carried:
            param = op.regions[0].params[op.carried.index(v) + 1]
            memory = self.memory(param)
            return memory if memory is not param else v
        return v

    # --- changes ----------------------------------------------------------------------------------------------------

    def look_up(self, group: list[Access]) -> None:
        """Look up a row of a table once."""
        row = self.read(TABLE_ROW, group, ROW)
        row.hint = "" if telling(row) else "row"
        for x in group:
            x.op.args = (x.op.args[0], row, *x.op.args[2:])

    def move(self, group: list[Access]) -> None:
        """Look up a row, or an element, of a list that does not change once."""
        first = group[0].op.result
        group[0].base = group[0].op.args[0]  # which may be a row that has just been moved
        new = self.read(LIST_GET, group, first.type)
        new.hint = first.hint
        replace_values(self.body, {x.op.result: new for x in group})
        for x in group:
            assert x.op.parent is not None
            x.op.parent.ops.remove(x.op)

    def read(self, prim: Any, group: list[Access], kind: Ty) -> Value:
        """The result of a new operation in front of all of these."""
        first = group[0]
        region, at = first.home, first.home.ops.index(first.statement())
        root, more = _split(first.op.args[1]) or first.index  # it may have just been moved
        made = []
        index: Any = more if root is None else root
        if root is not None and more:
            made.append(_operation(ADD if more > 0 else SUB, (root, abs(more)), py_int(), first))
            index = made[0].result
        made.append(_operation(prim, (first.base, index), kind, first))
        region.ops[at:at] = made
        return made[-1].result

    def drop_indices(self) -> None:
        """Drop the indices that nothing reads any more."""
        used = collect_uses(self.body)
        for region in _regions(self.body):
            region.ops[:] = [
                op for op in region.ops
                if op.prim not in (ADD, SUB) or used.get(op.result) or not _is_whole(op.result)
                or not all(map(_is_whole, op.args))
            ]  # fmt: skip


def _operation(prim: Any, args: tuple[Any, ...], kind: Ty, instead: Access) -> Op:
    here = instead.home is instead.op.parent
    op = Op(prim, args, {}, (), instead.op.loc if here else None)  # in front of a loop, it needs no comment
    op.tag, op.again, op.parent = instead.statement().tag, instead.op.again, instead.home
    op.results = [Value(kind, "", op)]
    return op


def _regions(region: Region) -> Iterator[Region]:
    yield region
    for op in region.walk():
        yield from op.regions


def _is_within(v: Any, body: Region) -> bool:
    return type(v) is Value and body in enclosing(region_of(v))


def _is_row(x: Any) -> bool:
    return type(x) is Value and x.type.kind == "list"


def _is_whole(x: Any) -> bool:
    if type(x) is not Value:
        return type(x) is int
    return x.type.kind == "py" and x.type.dtype is not None and x.type.dtype.kind == "i"


def _split(index: Any) -> tuple[Value | None, int] | None:
    """An index as a value, or none, and a number that is added."""
    more = 0
    while type(index) is Value and index.op is not None and index.op.prim in (ADD, SUB):
        a, b = index.op.args
        if not _is_whole(index) or type(a) is not Value or type(b) is not int or not _is_whole(a):
            break
        index, more = a, more + (b if index.op.prim is ADD else -b)
    if type(index) is Value:
        return index, more
    return (None, index) if type(index) is int else None


__all__ = ["share_rows"]
