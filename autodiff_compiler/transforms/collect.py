"""Outer products that the iterations of a reversed loop add up become one matrix product behind the loop.

Takes an adjoint without dead code. A matrix that a reversed loop carries, and to which each iteration adds a column
times a row, and does nothing else with it, is the product of all these columns and rows. Gives an adjoint whose loop
stores them in two arrays, with one product behind it. Where the rows are those of an array, that array is the factor.

The columns and rows take as much memory as what the loop saves, so a loop that saves nothing keeps its sum. The order
of the sum is another one, so the last digits of the gradient may differ; the value does not.

>>> import numpy as np
>>> from autodiff_compiler import grad
>>> def f(w, x):
...     h = np.zeros(3)
...     for t in range(len(x)):
...         h = np.tanh(w @ h + x[t])
...     return np.sum(h)
>>> text = grad(f).source(np.ones((3, 3)), np.ones((5, 3)))
>>> print("    " + text[text.index("h_bar =") :].strip())
    h_bar = spread(1.0, h)
    columns, rows = np.empty((n, w.shape[0])), np.empty((n, w.shape[1]))
    # adjoint of line 3: for t in range(len(x)):
    for t in reversed(range(n)):
        h2 = h_saved.pop()
        # adjoint of line 4: h = np.tanh(w @ h + x[t])
        w_h_plus_x_t_bar = h_bar * (1.0 - h * h)
        h_bar = w_h_plus_x_t_bar.dot(w)
        columns[t], rows[t] = w_h_plus_x_t_bar, h2
        h = h2
    return columns.T.dot(rows)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.core import DERIVED, LOOP, Function, Loc, Op, Region, Value
from ..ir.opset import ACCUM, DIM, GET, MUL, NEG, POP, ZEROS
from ..ir.rewrite import collect_uses, derived, enclosing, region_of, replace_values
from ..ir.types import same_dtype
from ..operations.linalg import MATMUL
from ..records import record
from .kept_rows import in_front, keep, trips

ALL = slice(None)
COLUMN, ROW = (("index", (ALL, None)),), (("index", (None, ALL)),)

Uses = dict[Value, list[Op | Region]]


@record
class Added:
    """What an iteration adds to the matrix carried as number `slot`, ``column[:, None] * row``, or takes away."""

    slot: int
    op: Op
    negative: bool
    column: Value
    row: Value


def collect(fn: Function) -> None:
    """Move sums of outer products out of the reversed loops of an adjoint."""
    loops = [op for op in fn.body.walk() if op.prim is LOOP and op.tag == DERIVED and _may_add(op)]
    uses = collect_uses(fn.body) if loops else {}
    for op in loops:
        added = _added(op, uses)
        if added:
            _Collection(op).run(fn.body, added)
            uses = collect_uses(fn.body)


def _may_add(loop: Op) -> bool:
    """The loop carries a matrix."""
    return any(p.type.kind == "array" and p.type.ndim == 2 for p in loop.regions[0].params)


def _added(loop: Op, uses: Uses) -> list[Added]:
    """The outer products that each iteration of a loop adds, once each."""
    (body,) = loop.regions
    range_ = loop.range
    if range_ is None or type(range_[0]) is not int or range_[0] != 0 or type(range_[2]) is not int or range_[2] != 1:
        return []
    if type(body.exit[0]) is not int or body.exit[0] != 0:
        return []
    saves = any(op.prim is POP for op in body.ops)
    out: list[Added] = []
    for k, param in enumerate(body.params[1:]):
        t = param.type
        if t.kind != "array" or t.dims is None or len(t.dims) != 2 or t.dtype != np.float64:
            continue
        found: list[Added] = []
        version: Any = param
        while version is not body.exit[k + 1]:
            users = uses.get(version, [])
            step = users[0] if len(users) == 1 else None
            if not isinstance(step, Op) or step.prim is not ACCUM or step.args[0] is not version:
                break
            g, negative = _without_sign(step.args[1], uses)
            parts = _outer(g, uses, param, body) if step.parent is body else None
            if parts is not None and (saves or any(_source(x, loop) is not None for x in parts)):
                found.append(Added(k, step, negative, *parts))
            version = step.result
        else:
            if uses.get(version) == [body]:  # and the loop hands it on once
                out += found
    return out


def _without_sign(g: Any, uses: Uses) -> tuple[Any, bool]:
    """The operand of a negation that is used once, and whether it is one."""
    if type(g) is Value and g.op is not None and g.op.prim is NEG and len(uses.get(g, [])) == 1:
        return g.op.args[0], True
    return g, False


def _outer(g: Any, uses: Uses, like: Value, body: Region) -> tuple[Value, Value] | None:
    """The vectors of which this is the outer product, if it has the shape and the dtype of a matrix."""
    if type(g) is not Value or g.op is None or g.op.prim is not MUL or len(uses.get(g, [])) != 1:
        return None
    for a, b in (g.op.args, g.op.args[::-1]):
        column, row = _vector(a, COLUMN), _vector(b, ROW)
        row = b if row is None else row
        if column is None or type(row) is not Value:
            continue
        fits = all(
            x.type.kind == "array"
            and x.type.dims is not None
            and len(x.type.dims) == 1
            and same_dtype(x.type.dtype, like.type.dtype)
            and body.dims.same(x.type.dims[0], length)
            for x, length in zip((column, row), like.type.dims or ())
        )
        if fits:
            return column, row
    return None


def _vector(v: Any, path: Any) -> Any:
    """The vector of which `v` is a column or a row."""
    read = type(v) is Value and v.op is not None and v.op.prim is GET and v.op.args[1] == path
    return v.op.args[0] if read else None


def _source(x: Value, loop: Op) -> Value | None:
    """The array from outside of the loop of which the iterations read one row after the other."""
    (body,) = loop.regions
    op = x.op
    if op is None or op.prim is not GET or op.args[1] != (("index", (body.params[0],)),):
        return None
    array, stop = op.args[0], loop.range[1]  # type: ignore[index]
    if type(array) is not Value or array.type.dims is None or any(r is body for r in enclosing(region_of(array))):
        return None
    count = stop.type.length if type(stop) is Value else stop
    return array if count is not None and body.dims.same(array.type.dims[0], count) else None


class _Collection:
    """The arrays that take the columns and rows of one loop."""

    def __init__(self, loop: Op):
        self.loop = loop
        (self.body,) = loop.regions
        assert loop.parent is not None
        self.parent = loop.parent
        self.after: list[Op] = []
        self.kept: dict[Value, Value] = {}
        self.loc: Loc | None = None
        self.count: Any = None

    def run(self, top: Region, added: Sequence[Added]) -> None:
        sums: dict[Value, Value] = {}
        for one in added:
            result = self.loop.results[one.slot]
            init = self.loop.inits[one.slot]
            like = init.op.args[0] if type(init) is Value and init.op is not None and init.op.prim is ZEROS else init
            self.loc = one.op.loc
            columns, rows = self.rows_of(one.column, like, 0), self.rows_of(one.row, like, 1)
            flipped = self.emit(GET, columns, (("transpose", None),))
            product = self.emit(MATMUL, flipped, rows)
            if one.negative:
                product = self.emit(NEG, product)
            replace_values(self.body, {one.op.result: one.op.args[0]})
            self.body.ops.remove(one.op)
            known = sums.get(result)
            if known is None and self._is_only_zero(one.slot):
                sums[result] = product
            else:
                sums[result] = self.emit(ACCUM, result if known is None else known, product)
        replace_values(top, sums)
        at = self.parent.ops.index(self.loop)
        self.parent.ops[at + 1 : at + 1] = self.after

    def _is_only_zero(self, slot: int) -> bool:
        """Nothing else is added to the zeros that the loop begins with."""
        init = self.loop.inits[slot]
        return (
            self.body.exit[slot + 1] is self.body.params[slot + 1]
            and type(init) is Value
            and init.op is not None
            and init.op.prim is ZEROS
        )

    def rows_of(self, x: Value, like: Any, axis: int) -> Value:
        """An array whose rows are what `x` is in the iterations, as long as an axis of `like`."""
        source = _source(x, self.loop)
        if source is not None:
            return source
        if x not in self.kept:
            width = in_front(self.loop, DIM, like, axis)
            self.count = trips(self.loop) if self.count is None else self.count
            hint = "columns" if axis == 0 else "rows"
            self.kept[x] = keep(self.loop, x, (self.count, width), hint, self.loc)
        return self.kept[x]

    def emit(self, prim: Any, *args: Any) -> Value:
        """The result of a new operation behind the loop."""
        self.after.append(derived(self.parent, prim, *args, loc=self.loc))
        return self.after[-1].result


__all__ = ["collect"]
