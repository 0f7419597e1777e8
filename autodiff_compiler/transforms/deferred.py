"""Deferred updates: what a reversed loop adds to the columns ahead of it is added when a column is read.

A loop that makes one column of a matrix from those before it, as the orthogonalisation of Gram and Schmidt does, has an
adjoint whose iterations add an outer product to all columns that they have not reached yet, and read one column. Takes
an adjoint that nobody differentiates again. Gives one that keeps both factors of the products, and adds to a column,
when it is read, the product of a matrix and a vector: each element of the matrix is written once.

Source: the left-looking form of a factorisation (Golub and Van Loan, Matrix Computations, 4th edition, section 3.2.9).

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(a):
...     q = np.zeros_like(a)
...     for j in range(a.shape[1]):
...         q[:, j] = a[:, j] - q[:, :j] @ np.sin(a[:3, j][:j])
...     return np.sum(q**3)
>>> show_source(f, np.ones((4, 3)))
def f_grad(a):
    n = a.shape[1]
    q = np.zeros_like(a)
    t_saved = []
    for j in range(n):
        t = np.sin(a[:3, j][:j])
        t_saved.append(t)
        q[:, j] = a[:, j] - q[:, :j] @ t
    # adjoint of line 5: return np.sum(q**3)
    q_bar = 3.0 * q**2
    a_bar = np.zeros(a.shape)
    heads = np.empty((n, n))
    columns = np.empty((n, q_bar.shape[0]))
    # adjoint of line 3: for j in range(a.shape[1]):
    for j in reversed(range(n)):
        t = t_saved.pop()
        # adjoint of line 4: q[:, j] = a[:, j] - q[:, :j] @ np.sin(a[:3, j][:j])
        t2 = q_bar[:, j] - heads[j + 1 :, j].dot(columns[j + 1 :])
        a_bar[:3, j][:j] = -t2 @ q[:, :j] * np.cos(a[:3, j][:j])
        a_bar[:, j] += t2
        heads[j, :j] = t
        columns[j] = t2
    return a_bar
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import DERIVED, LOOP, Function, Op, Region, Value, type_of
from ..ir.opset import ACCUM, ADD, ADDAT, DIM, GET, MUL, NEG, SUB
from ..ir.rewrite import collect_uses, derived, enclosing, region_of, replace_values
from ..operations.linalg import MATMUL
from ..records import record
from .dead_stores import accesses_of
from .filling import counted, rows_behind
from .kept_rows import in_front, keep

ALL = slice(None)
_COLUMN, _ROW = (("index", (ALL, None)),), (("index", (None, ALL)),)
_TRANSPOSED = ("transpose", None)
FLOAT = np.float64  # no dtype, which an unknown one, None, would be equal to
Uses = dict[Value, list[Op | Region]]


@record
class Update:
    """An addition of the outer product of `full`, along the other axis, and `head`, to all columns ahead."""

    op: Op
    full: Value
    head: Value
    negative: bool


def defer(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Add outer products to columns when they are read; `before_change` is called if there are some."""
    changed = False
    loops = [op for op in fn.body.walk() if op.prim is LOOP and op.tag == DERIVED and _goes_down(op)]
    uses = collect_uses(fn.body) if loops else {}
    for loop in loops:
        for k in range(len(loop.inits)):
            found = _updates(loop, k, uses)
            if found is None:
                continue
            if not changed and before_change is not None:
                before_change()
            changed = True
            _Deferred(loop, k, *found).run()
            uses = collect_uses(fn.body)
            break  # the adjoint of one matrix is what such a loop has
    return changed


def _goes_down(loop: Op) -> bool:
    order, code = counted(loop), loop.regions[0].exit[0]
    return order == (0, True) and loop.range[2] == 1 and type(code) is int and code == 0  # type: ignore[index]


def _updates(loop: Op, k: int, uses: Uses) -> tuple[int, list[Op], list[Update]] | None:
    """The axis of the columns, the reads of a column, and the updates, if the loop does nothing else with a matrix."""
    (body,) = loop.regions
    param, init = body.params[k + 1], loop.inits[k]
    t = param.type
    if t.kind != "array" or t.dtype != FLOAT or t.dims is None or len(t.dims) != 2 or uses.get(loop.results[k]):
        return None
    accesses = accesses_of(loop, k, uses)
    if not accesses or type(init) is not Value or any(op.parent is not body for op in accesses):
        return None
    for axis in (1, 0):
        reads = [op for op in accesses if op.prim is GET and op.args[1] == (("index", _along(axis, body.params[0])),)]
        updates = [_parts(op, axis, loop, uses) for op in accesses if op.prim is ADDAT]
        found = [update for parts in updates for update in parts or ()]
        if not reads or not found or None in updates or len(reads) + len(updates) != len(accesses):
            continue
        if rows_behind(loop, t.dims[axis], 0) == 0:
            return axis, reads, found
    return None


def _along(axis: int, item: Any) -> tuple[Any, ...]:
    """The subscript of one column, or of several, along an axis."""
    return (item,) if axis == 0 else (ALL, item)


def _parts(op: Op, axis: int, loop: Op, uses: Uses) -> list[Update] | None:
    """The outer products that an addition to all columns ahead adds."""
    (body,) = loop.regions
    path = op.args[1]
    flipped = path[1:] == (_TRANSPOSED,)
    if path[:1] != (("index", _along(axis, slice(None, body.params[0]))),) or not (flipped or len(path) == 1):
        return None
    out: list[Update] = []
    waiting: list[tuple[Any, bool]] = [(op.args[2], False)]
    while waiting:
        g, negative = waiting.pop(0)
        made = g.op if type(g) is Value else None
        if made is None or made.parent is not body or len(uses.get(g, ())) != 1:
            return None
        if made.prim is NEG:
            waiting.insert(0, (made.args[0], not negative))
        elif made.prim in (ADD, ACCUM, SUB):
            waiting[:0] = [(made.args[0], negative), (made.args[1], negative != (made.prim is SUB))]
        else:
            pair = _vectors(made)
            if pair is None:
                return None
            # Both are stored as `op` adds them: what is shorter is broadcast.
            full, head = pair if flipped == (axis == 0) else pair[::-1]
            out.append(Update(op, full, head, negative))
    return out


def _vectors(op: Op) -> tuple[Value, Value] | None:
    """The vectors of which this is the outer product, along its columns and along its rows."""
    for a, b in (op.args, op.args[::-1]) if op.prim is MUL else ():
        if type(a) is Value and a.op is not None and a.op.prim is GET and a.op.args[1] == _COLUMN:
            row = b
            if type(b) is Value and b.op is not None and b.op.prim is GET and b.op.args[1] == _ROW:
                row = b.op.args[0]
            if _is_vector(a.op.args[0]) and _is_vector(row):
                return a.op.args[0], row
    return None


def _is_vector(x: Any) -> bool:
    t = type_of(x)
    return type(x) is Value and t.kind == "array" and t.dtype == FLOAT and t.ndim == 1


class _Deferred:
    """The rewriting of one loop and the matrix that it carries as number `k`."""

    def __init__(self, loop: Op, k: int, axis: int, reads: list[Op], updates: list[Update]):
        self.loop, self.k, self.axis, self.reads, self.updates = loop, k, axis, reads, updates
        (self.body,) = loop.regions
        self.index = self.body.params[0]

    def run(self) -> None:
        count = self.loop.range[1]  # type: ignore[index]
        matrix = self.loop.inits[self.k]
        width = in_front(self.loop, DIM, matrix, 1 - self.axis)
        kept = [(update, self.factors(update, count, width)) for update in self.updates]
        for read in self.reads:
            self.add_when_read(read, matrix, kept)
        for op in dict.fromkeys([update.op for update in self.updates]):
            replace_values(self.body, {op.result: op.args[0]})
            self.body.ops.remove(op)

    def factors(self, update: Update, count: Any, width: Any) -> tuple[Value, Value]:
        """The arrays of both factors, a row for each iteration: as the loop has them where it reads a column."""
        heads = self.carried("heads", (count, count), update.head, slice(None, self.index))
        source = self.source(update.full)
        return heads, self.carried("columns", (count, width), update.full) if source is None else source

    def source(self, full: Value) -> Value | None:
        """The rows of an array of the outside that are the factor: one of which the iterations read all columns."""
        op = full.op
        if op is None or op.prim is not GET or op.parent is not self.body or type(op.args[0]) is not Value:
            return None
        array, path = op.args
        is_outside = all(region is not self.body for region in enclosing(region_of(array)))
        for axis in (0, 1):
            if is_outside and array.type.ndim == 2 and path == (("index", _along(axis, self.index)),):
                if rows_behind(self.loop, array.type.dims[axis], 0) == 0:
                    return array if axis == 0 else in_front(self.loop, GET, array, (_TRANSPOSED,))
        return None

    def carried(self, hint: str, shape: tuple[Any, Any], x: Value, *place: Any) -> Value:
        """A new array that the loop carries, in which each iteration stores `x`."""
        keep(self.loop, x, shape, hint, self.updates[0].op.loc, *place)
        return self.body.params[-1]

    def add_when_read(self, read: Op, matrix: Value, kept: list[tuple[Update, tuple[Value, Value]]]) -> None:
        new: list[Op] = []
        out = self.emit(new, GET, matrix, read.args[1])
        following = slice(self.emit(new, ADD, self.index, 1), None)
        for update, (heads, rows) in kept:
            later = self.emit(new, GET, heads, (("index", (following, self.index)),))
            product = self.emit(new, MATMUL, later, self.emit(new, GET, rows, (("index", (following,)),)))
            out = self.emit(new, SUB if update.negative else ADD, out, product)
        at = self.body.ops.index(read)
        self.body.ops[at : at + 1] = new
        out.hint = read.result.hint
        replace_values(self.body, {read.result: out})

    def emit(self, ops: list[Op], prim: Any, *args: Any) -> Value:
        ops.append(derived(self.body, prim, *args, loc=self.updates[0].op.loc))
        return ops[-1].result


__all__ = ["defer"]
