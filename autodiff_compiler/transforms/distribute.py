"""Loop distribution: what a reversed loop adds up row by row is added behind it, for all rows at once.

Takes an adjoint that nobody differentiates again. A cotangent to which each iteration only adds, of values that can be
read behind the loop as well, leaves the loop: these are rows of arrays that no later iteration changes, what the loop
does not change, and what is computed of them element by element or by a product with a matrix. Gives an adjoint whose
loops do what depends on the iteration before, and nothing else. The order of a sum may be another one.

Source: Kennedy and McKinley, Loop distribution with arbitrary control flow (1990), section 2; the rows are the vector
statements of Allen and Kennedy, Automatic translation of FORTRAN programs to vector form (1987).

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(rates, x):
...     y = np.empty_like(x)
...     y[0] = x[0]
...     for t in range(1, len(x)):
...         y[t] = rates * x[t] + y[t - 1]
...     return np.sum(y**2)
>>> show_source(f, np.ones(2), np.ones((3, 2)))
def f_grad(rates, x):
    y = np.empty_like(x)
    y[0] = x[0]
    n = x.shape[0]
    np.multiply(rates, x[1:], out=y[1:])
    for t in range(1, n):
        y[t] += y[t - 1]
    # adjoint of line 6: return np.sum(y**2)
    y_bar = 2.0 * y
    # adjoint of line 4: for t in range(1, len(x)):
    for t in reversed(range(1, n)):
        # adjoint of line 5: y[t] = rates * x[t] + y[t - 1]
        y_bar[t - 1] += y_bar[t]
    return np.einsum("ij,ij->j", y_bar[1:], x[1:])
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.core import DERIVED, LOOP, Builder, Function, Op, Region, Value, type_of
from ..ir.definedness import maybe_undefined
from ..ir.opset import ACCUM, ADD, ADDAT, DIV, GET, MUL, NEG, PRIMS, RANGE_LEN, SET, SUB, ZEROS, adds_axes_only
from ..ir.rewrite import collect_uses, enclosing, region_of, replace_values
from ..ir.types import Dim, Dims
from ..late import late
from ..operations.linalg import DOT, EINSUM, MATMUL
from ..records import record
from .algebra import install
from .filling import affine, counted, rows_behind
from .simplify import in_bounds, is_in_range, is_total_in

if TYPE_CHECKING:
    from .kept_rows import keep_rows, product_of_rows, sum_of_rows, unsigned
else:
    keep_rows, product_of_rows, sum_of_rows, unsigned = late(
        __package__, "kept_rows", "keep_rows", "product_of_rows", "sum_of_rows", "unsigned"
    )

ALL = slice(None)
_TRANSPOSED = (("transpose", None),)
FLOAT = np.float64  # no dtype, which an unknown one, None, would be equal to
Uses = dict[Value, list[Op | Region]]


@functools.cache
def _elementwise() -> set[Any]:
    """Operations that give the same numbers for one row and for all of them."""
    return {ADD, SUB, MUL, NEG, *(PRIMS[f] for f in (np.abs, np.sign, np.exp, np.tanh, np.sin, np.cos, np.cosh))}


def distribute(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Move what reversed loops only add up behind them; `before_change` is called if there is something."""
    loops = [op for op in fn.body.walk() if op.prim is LOOP and op.tag == DERIVED and counts_rows(op)]
    changed = False

    def announce() -> None:
        nonlocal changed
        if not changed and before_change is not None:
            before_change()
        changed = True

    maybe = maybe_undefined(fn.body) if loops else set()
    for loop in loops:
        uses = collect_uses(loop.regions[0])
        sinks = sinks_of(loop, uses)
        if not sinks:
            continue
        assert loop.parent is not None
        builder = install(Builder(loop.parent))
        builder.tag = DERIVED
        mark, place = len(loop.parent.ops), loop.parent.ops.index(loop)
        with builder.active():
            rows = Rows(loop, uses, maybe, builder)
            rows.find_sources(sinks)
            if keep_rows(loop, sinks, rows, announce):
                mark += loop.parent.ops.index(loop) - place
                rows = Rows(loop, collect_uses(loop.regions[0]), maybe, builder)
                rows.find_sources(sinks)
            moved = [(sink, row) for sink in sinks if (row := rows.added(sink)) is not None]
            if moved:
                announce()
            results = _moved(loop, moved, builder)
        new = loop.parent.ops[mark:]
        del loop.parent.ops[mark:]
        if moved:
            replace_values(fn.body, results)
            at = loop.parent.ops.index(loop) + 1
            loop.parent.ops[at:at] = _needed(new, results)
    return changed


def _needed(ops: list[Op], results: dict[Value, Value]) -> list[Op]:
    """The operations without those that were tried, or that a rewrite has made unnecessary."""
    wanted = set(results.values())
    out: list[Op] = []
    for op in reversed(ops):
        if any(v in wanted for v in op.results):
            wanted.update(op.operands())
            out.append(op)
    return out[::-1]


def counts_rows(loop: Op) -> bool:
    """One step at a time, up from a place that is known or down to it, and never left early."""
    code = loop.regions[0].exit[0]
    return counted(loop) is not None and type(code) is int and code == 0


def surely_runs(loop: Op) -> bool:
    """There is at least one iteration: an axis of an argument that has a name has two elements or more."""
    start, stop, step = loop.range[:3]  # type: ignore[index]
    low, high = (start, stop) if step > 0 else (stop, start)
    if type(low) is int and type(high) is int:
        return len(range(start, stop, step)) > 0
    least = _least_of(high, loop.regions[0].dims)
    return type(low) is int and least is not None and abs(step) == 1 and least > low


def _least_of(x: Any, dims: Dims) -> int | None:
    """What a length of an argument, plus a constant, is not less than."""
    more = 0
    while type(x) is Value and x.type.length is None and x.op is not None:
        if x.op.prim not in (ADD, SUB) or type(x.op.args[1]) is not int:
            return None
        more += x.op.args[1] if x.op.prim is ADD else -x.op.args[1]
        x = x.op.args[0]
    length = x if type(x) is int or x.type.length is None else dims.find(x.type.length)
    if isinstance(length, Dim):
        return 2 - length.off + more if dims.is_argument(length) else None
    return length + more if type(length) is int else None


@record
class Sink:
    """What each iteration adds to what the loop carries as number `slot`, or takes away."""

    slot: int
    op: Op
    value: Any
    negative: bool = False


def sinks_of(loop: Op, uses: Uses) -> list[Sink]:
    """The additions of the loops to what it carries and does not read."""
    (body,) = loop.regions
    out: list[Sink] = []
    for k, param in enumerate(body.params[1:]):
        if param.type.kind == "py" or param.type.dtype != FLOAT or param.type.dims is None:
            continue
        found: list[Sink] = []
        version: Any = param
        while version is not body.exit[k + 1]:
            users = uses.get(version, [])
            op = users[0] if len(users) == 1 else None
            sink = _addition(k, op, version) if isinstance(op, Op) and op.parent is body else None
            if sink is None:
                break
            found.append(sink)
            version = sink.op.result
        else:
            if uses.get(version) == [body]:  # and the loop hands it on once
                out += found
    return out


def _addition(k: int, op: Op, version: Value) -> Sink | None:
    args = op.args
    if op.tag != DERIVED or args[0] is not version or any(x is version for x in args[1:]):
        return None
    if op.prim is ADDAT:
        return Sink(k, op, args[2])
    if op.prim is ACCUM or (op.prim in (ADD, SUB) and version.type.is_scalar):
        return Sink(k, op, args[1], op.prim is SUB)
    return None


@record
class Row:
    """A value of an iteration: what it is for all of them, one after the other along a new first axis.

    rank: how many axes the value has in one iteration
    """

    all: Value
    rank: int


class Rows:
    """The values of the iterations of a loop as arrays of rows behind it."""

    def __init__(self, loop: Op, uses: Uses, maybe: set[Value], builder: Builder):
        self.loop, self.uses, self.maybe, self.builder = loop, uses, maybe, builder
        (self.body,) = loop.regions
        order = counted(loop)
        assert order is not None and loop.range is not None
        self.first, self.down = order
        start, stop, step = loop.range[:3]
        self.above = (stop, 0) if step > 0 else (start, 1)  # the first number beyond all that the variable has
        assert loop.parent is not None
        self.parent = loop.parent
        self.known: dict[Value, Row | None] = {}
        self.runs = surely_runs(loop)
        self.sources: dict[Value, Op] = {}  # what is added to rows of zeros, and nothing else is

    def find_sources(self, sinks: Sequence[Sink]) -> None:
        """A row of zeros to which one value is added is this value: the others that need it read it there."""
        for sink in sinks:
            if sink.op.prim is not ADDAT or self.of(sink.value) is not None or type(sink.value) is not Value:
                continue
            init, exit_ = self.loop.inits[sink.slot], self.body.exit[sink.slot + 1]
            is_zero = type(init) is Value and init.op is not None and init.op.prim is ZEROS
            if is_zero and exit_ is sink.op.result and sink.op.args[0] is self.body.params[sink.slot + 1]:
                self.sources[sink.value] = sink.op
                self.known = {v: row for v, row in self.known.items() if row is not None}

    # --- what is added ------------------------------------------------------------------------------------------------

    def added(self, sink: Sink) -> Any:
        """What all iterations add, or None; for a part of an array: the path and the rows."""
        if self.sources.get(sink.value) is sink.op or not self.fits_in(sink):
            return None
        if sink.op.prim is ADDAT and not self.is_fixed(sink.op.args[1]):
            return self.added_to_rows(sink)
        if sink.op.prim is ADDAT and not self.are_on_axes(sink.op.args[1][0][1], sink.op.args[0].type.dims):
            return None
        value, negative = unsigned(sink.value)
        product, total = product_of_rows(sink.value), sum_of_rows(value)
        op = sink.value.op if type(sink.value) is Value else None
        if type(value) is not Value or value.op is None or not self.is_safe(value.op):  # what the loop carries, say
            out = None
        elif product:
            a, b, negative = product
            out = self.contracted(a, b)
        else:
            out = self.summed(*total) if total else None
        if out is not None:
            return self.builder.emit(NEG, out) if negative else out
        if op is not None and op.prim in (DOT, MATMUL) and op.parent is self.body and self.is_safe(op):
            pair = [self.of(x) for x in op.args]
            if len(pair) == 2 and all(row is not None and row.rank == 1 for row in pair):
                return self.builder.emit(PRIMS[np.vdot], *(row.all for row in pair if row is not None))
        row = self.of(sink.value)
        if row is None or (sink.op.prim is not ADDAT and row.rank > (sink.op.result.type.ndim or 0)):
            return None
        kwargs = {"axis": 0} if row.rank else {}
        return self.builder.emit(PRIMS[np.sum], row.all, **kwargs)

    def fits_in(self, sink: Sink) -> bool:
        """What is added has the shape of what it is added to, or less, also if there is no iteration."""
        base, v = sink.op.args[0].type, type_of(sink.value)
        if self.runs or v.is_scalar or v.dims == ():
            return True
        if sink.op.prim is ADDAT:
            base = GET.infer(Builder(self.parent), sink.op.args[:2], {})  # type: ignore[misc]
        if base.dims is None or v.dims is None or len(v.dims) > len(base.dims):
            return False
        dims = self.parent.dims
        return all(dims.find(d) == 1 or dims.same(d, e) for d, e in zip(v.dims[::-1], base.dims[::-1]))

    def is_safe(self, op: Op) -> bool:
        """To do the operation behind the loop does not raise where no iteration would have done it."""
        return self.runs or is_total_in(self.parent, op)

    def contracted(self, *pair: Value) -> Any:
        """The sum over the iterations of the products ``a.T @ b`` of two matrices."""
        a, b = map(self.of, pair)
        if a is None or b is None or a.rank != 2 or b.rank != 2:
            return None
        return self.builder.emit(PRIMS[np.tensordot], a.all, b.all, ((0, 1), (0, 1)))

    def summed(self, matrix: Value, axis: int) -> Any:
        row = self.of(matrix)
        if row is None or row.rank != 2:
            return None
        return self.builder.emit(PRIMS[np.sum], row.all, axis=(0, axis + 1))

    def is_fixed(self, path: Any) -> bool:
        """The path is the same in each iteration."""
        return len(path) == 1 and path[0][0] == "index" and all(map(self.is_item, path[0][1]))

    def is_item(self, item: Any) -> bool:
        parts = (item.start, item.stop, item.step) if type(item) is slice else (item,)
        return type(item) in (slice, int, Value) and all(map(self.is_place, parts))

    def are_on_axes(self, items: Any, dims: Any) -> bool:
        """The subscripts name places of the array, also if no iteration has asked."""
        if self.runs:
            return True
        return len(items) <= len(dims or ()) and all(
            type(item) is slice
            or (is_in_range(None, item, d, self.parent) if type(item) is int else is_in_range(item, 0, d, self.parent))
            for item, d in zip(items, dims)
        )

    def added_to_rows(self, sink: Sink) -> tuple[Any, Value] | None:
        base, path = sink.op.args[:2]
        place = self.place(base.type.dims, path)
        row = self.of(sink.value)
        if place is None or row is None:
            return None
        whole = len(base.type.dims) - 1 - sum(1 for item in path[0][1][1:] if type(item) is not slice)
        if row.rank > whole:
            return None
        return place, self.widened(row, whole)

    # --- rows ---------------------------------------------------------------------------------------------------------

    def is_outside(self, v: Any) -> bool:
        """Behind the loop, it can be read, also where the loop has no iteration that reads it."""
        if type(v) is not Value:
            return True
        return v not in self.maybe and all(r is not self.body for r in enclosing(region_of(v)))

    def of(self, v: Any) -> Row | None:
        """What a value of the iterations is for all of them, if that is known behind the loop."""
        if type(v) is not Value or v.type.dtype != FLOAT or v.type.dims is None:
            return None
        if v not in self.known:
            self.known[v] = None  # a value of the loop's own variable, say
            self.known[v] = self.find(v)
        return self.known[v]

    def find(self, v: Value) -> Row | None:
        op, stored = v.op, self.stored(v)
        if stored is not None:
            return stored
        if op is None or op.parent is not self.body or v.type.kind not in ("array", "generic", "scalar"):
            return None
        if op.prim is GET:
            return self.read(op)
        if not self.is_safe(op):
            return None
        if op.prim in _elementwise() or (op.prim is DIV and v.type.kind != "scalar"):
            return self.computed(op)
        if op.prim is ACCUM:
            return self.computed(op, ADD)
        if op.prim in (DOT, MATMUL) and len(op.args) == 2:
            return self.multiplied(op)
        return None

    def read(self, op: Op) -> Row | None:
        base, path = op.args
        if type(base) is not Value:
            return None
        if adds_axes_only(path):
            row = self.of(base)
            items = path[0][1]
            if row is None or Ellipsis in items:
                return None
            return Row(self.builder.emit(GET, row.all, (("index", (ALL, *items)),)), op.result.type.ndim or 0)
        array = base if self.is_outside(base) else self.final(op)
        if array is None:
            return None
        return self.rows_at(array, path, op.result.type)

    def rows_at(self, array: Value, path: Any, t: Any) -> Row | None:
        place = self.place(array.type.dims, path)
        if place is None:
            return None
        whole = all(item == ALL for item in place[0][1])
        return Row(array if whole else self.builder.emit(GET, array, place), t.ndim or 0)

    def place(self, dims: Any, path: Any) -> Any:
        """The path to the rows of all iterations, where `path` is that to the row of one."""
        if dims is None or len(path) != 1 or path[0][0] != "index":
            return None
        index, *rest = path[0][1]
        offset = affine(index, self.loop) if type(index) is Value else None
        if offset is None or self.first + offset < 0 or len(rest) >= len(dims):
            return None
        if not all(map(self.is_item, rest)) or not self.are_on_axes(rest, dims[1:]):
            return None
        start = self.first + offset
        behind = rows_behind(self.loop, dims[0], offset)
        if behind is not None:
            length = self.body.dims.find(dims[0])
            end = -behind if isinstance(length, Dim) else length - behind
            items = [slice(start or None, end if behind else None), *rest]
        elif offset == 0 and self.has_been_there(dims[0]):
            items = [slice(start or None, self.loop.range[1]), *rest]  # type: ignore[index]
        else:
            return None
        while len(items) > 1 and items[-1] == ALL:
            items.pop()
        return (("index", tuple(items)),)

    def is_place(self, x: Any) -> bool:
        """A bound, or a subscript, that is one number for all iterations."""
        if type(x) is not Value:
            return x is None or type(x) is int
        return self.is_outside(x) and x.type.is_scalar and x.type.dtype is not None and x.type.dtype.kind in "iu"

    def has_been_there(self, length: Any) -> bool:
        """A loop over the same range, mostly that of the forward sweep, has named all these places of such an axis."""
        range_, parent = self.loop.range, self.loop.parent
        assert range_ is not None and parent is not None
        if range_[2] != 1 or not _is_length(range_[1]):
            return False
        for loop in parent.ops[: parent.ops.index(self.loop)]:
            if loop.prim is not LOOP or loop.range is None or loop.range[:3] != range_[:3]:
                continue
            body, code = loop.regions[0], loop.regions[0].exit[0]
            for op in body.ops if type(code) is int and code == 0 else ():
                if op.prim in (GET, SET) and op.args[1] and op.args[1][0][0] == "index":
                    dims, items = type_of(op.args[0]).dims, op.args[1][0][1]
                    if items and affine(items[0], loop) == 0 and dims and body.dims.same(dims[0], length):
                        return True
        return False

    # --- rows of what the loop carries --------------------------------------------------------------------------------

    def final(self, op: Op) -> Value | None:
        """What the loop hands on, if the row that is read there is the one that is read here."""
        base, path = op.args
        found = self.versions_of(base)
        index = path[0][1][0] if path and path[0][0] == "index" and path[0][1] else None
        here = affine(index, self.loop) if type(index) is Value else None
        if found is None or here is None:
            return None
        slot, stores = found
        is_later = True  # from the last store back to what is read here
        for store in stores:
            is_later = is_later and store.result is not base
            at = affine(store.args[1][0][1][0], self.loop)
            if at is None or self.first + at < 0 or (at == here and is_later):
                return None
            if at > here if self.down else at < here:
                return None  # a later iteration stores there
        return self.defined(self.loop.results[slot])

    def defined(self, v: Value) -> Value | None:
        return None if v in self.maybe else v

    def stored(self, v: Value) -> Row | None:
        """The rows of an array into which each iteration stores the value."""
        source = self.sources.get(v)
        for user in self.uses.get(v, ()):
            if isinstance(user, Region) or user.parent is not self.body:
                continue
            if user is not source and (user.prim is not SET or user.args[2] is not v):
                continue
            base, path = user.args[:2]
            found = self.versions_of(base)
            dims = base.type.dims if type(base) is Value else None
            if found is None or found[1] != [user] or dims is None or len(path[0][1]) != 1:
                continue
            if base.type.dtype == FLOAT and v.type.dims is not None and len(dims) == len(v.type.dims) + 1:
                array = self.defined(self.loop.results[found[0]])
                if array is None or not all(map(self.body.dims.same, dims[1:], v.type.dims)):
                    continue
                if self.has_a_row_each(self.loop.inits[found[0]]) and affine(path[0][1][0], self.loop) == 0:
                    return Row(array, v.type.ndim or 0)
                return self.rows_at(array, path, v.type)
        return None

    def has_a_row_each(self, init: Any) -> bool:
        """A new array with as many rows as the loop has iterations, which count from 0."""
        made = init.op if type(init) is Value else None
        shape = made.args[0] if made is not None and made.prim is PRIMS[np.empty] else None
        count = shape[0].op if isinstance(shape, tuple) and type(shape[0]) is Value else None
        range_ = self.loop.range
        assert range_ is not None
        return range_[0] == 0 and count is not None and count.prim is RANGE_LEN and count.args[:3] == range_[:3]

    def versions_of(self, version: Value) -> tuple[int, list[Op]] | None:
        """The slot of which this is a version, and all stores into it, if each is at a row of the iteration."""
        while version.op is not None and version.op.parent is self.body and version.op.prim in (SET, ADDAT):
            version = version.op.args[0]
        if version not in self.body.params[1:]:
            return None
        slot = self.body.params.index(version) - 1
        stores: list[Op] = []
        at: Any = self.body.exit[slot + 1]
        while at is not version:
            op = at.op if type(at) is Value else None
            if op is None or op.parent is not self.body or op.prim not in (SET, ADDAT):
                return None
            path = op.args[1]
            if not path or path[0][0] != "index" or not path[0][1] or type(path[0][1][0]) is not Value:
                return None
            stores.append(op)
            at = op.args[0]
        return slot, stores

    # --- what is computed of rows -------------------------------------------------------------------------------------

    def computed(self, op: Op, prim: Any = None) -> Row | None:
        """The operation of all rows at once."""
        rank = op.result.type.ndim or 0
        operands: list[Any] = []
        largest = 0
        for x in map(self.taken_out, op.args):
            if self.is_outside(x):
                t = type_of(x)
                if not (type(x) in (int, float) or (t.dtype == FLOAT and t.dims is not None)):
                    return None
                operands.append(x)
                continue
            row = self.of(x)
            if row is None:
                return None
            largest = max(largest, _axes_of_source(row))
            operands.append(self.widened(row, rank))
        if rank > largest or op.kwargs:
            return None  # the rows would be larger than all that they are computed of
        out = self.builder.emit(prim or op.prim, *operands)
        return self.checked(out, rank)

    def multiplied(self, op: Op) -> Row | None:
        """Products of rows with a matrix or a vector of the loop's outside."""
        a, b = map(self.taken_out, op.args)
        if self.is_outside(b):
            row, other, rows_first = self.of(a), b, True
        elif self.is_outside(a):
            row, other, rows_first = self.of(b), a, False
        else:
            pair = [self.of(x) for x in (a, b)]
            if any(row is None or row.rank != 1 for row in pair):
                return None
            return self.checked(self.builder.emit(EINSUM, "ij,ij->i", *(row.all for row in pair if row)), 0)
        t = type_of(other)
        if row is None or row.rank != 1 or t.kind != "array" or t.dtype != FLOAT or t.ndim not in (1, 2):
            return None
        if t.ndim == 2 and not rows_first:
            other = self.builder.emit(GET, other, _TRANSPOSED)
        return self.checked(self.builder.emit(MATMUL, row.all, other), t.ndim - 1)

    def taken_out(self, x: Any) -> Any:
        """Behind the loop, what the loop reads of an array that it does not change, at one place."""
        op = x.op if type(x) is Value else None
        if op is None or op.parent is not self.body or op.prim is not GET or not self.is_outside(op.args[0]):
            return x
        fixed = adds_axes_only(op.args[1]) or op.args[1] == _TRANSPOSED or (self.is_fixed(op.args[1]) and in_bounds(op))
        return self.builder.emit(GET, *op.args) if fixed else x

    def checked(self, out: Any, rank: int) -> Row | None:
        t = type_of(out)
        return Row(out, rank) if t.kind == "array" and t.dtype == FLOAT and t.ndim == rank + 1 else None

    def widened(self, row: Row, rank: int) -> Value:
        """The rows with axes of length one, as NumPy adds them in front of what has fewer."""
        if row.rank == rank:
            return row.all
        items = (ALL, *[None] * (rank - row.rank))
        return self.builder.emit(GET, row.all, (("index", items),))  # type: ignore[no-any-return]


def _axes_of_source(row: Row) -> int:
    """How many axes of a row are longer than one."""
    dims = row.all.type.dims or ()
    return row.rank - sum(1 for d in dims[1:] if d == 1)


def _is_length(x: Any) -> bool:
    """A number that is not negative: the end of a slice."""
    return x >= 0 if type(x) is int else type(x) is Value and x.type.length is not None


_WHOLE = (("index", (ALL,)),)


def _moved(loop: Op, moved: list[tuple[Sink, Any]], builder: Builder) -> dict[Value, Value]:
    """Take the additions out of the loop, and add behind it; what takes the place of the loop's results."""
    (body,) = loop.regions
    results: dict[Value, Value] = {}
    for sink, _ in moved:
        replace_values(body, {sink.op.result: sink.op.args[0]})
        body.ops.remove(sink.op)
    for sink, added in moved:
        result = loop.results[sink.slot]
        unchanged = body.exit[sink.slot + 1] is body.params[sink.slot + 1]
        builder.loc = sink.op.loc
        base = results.get(result, loop.inits[sink.slot] if unchanged else result)
        if type(added) is tuple and added[0] == _WHOLE:
            results[result] = builder.emit(ACCUM, base, added[1])
        elif type(added) is tuple:
            results[result] = builder.emit(ADDAT, base, *added)
        elif sink.op.prim is ADDAT:
            results[result] = builder.emit(ADDAT, base, sink.op.args[1], added)
        else:
            results[result] = builder.emit(ACCUM, base, builder.emit(NEG, added) if sink.negative else added)
        results[result].hint = results[result].hint or result.hint
    return results


__all__ = ["Sink", "counts_rows", "distribute", "sinks_of", "surely_runs"]
