"""Kept rows: values of a reversed loop that are stored for each iteration, so that sums of them can leave the loop.

Takes a reversed loop of an adjoint and what it only adds up. Where the matrix products or the sums of all iterations
become one behind the loop, once a value is kept, gives the loop with an array that takes this value in each iteration.
A loop that saves nothing keeps its sums: the array takes as much memory as what a loop saves.

>>> import numpy as np
>>> from autodiff_compiler import grad
>>> def f(w, b, x):
...     h = np.zeros((x.shape[1], len(b)))
...     for t in range(len(x)):
...         h = np.tanh(x[t] @ w + h + b)
...     return np.sum(h)
>>> text = grad(f, argnums=(0, 1)).source(np.ones((3, 4)), np.ones(4), np.ones((5, 2, 3)))
>>> print(text[text.index("    h_bar =") :], end="")
    h_bar = spread(1.0, h)
    h_bars = np.empty((n, x.shape[1], w.shape[1]))
    # adjoint of line 3: for t in range(len(x)):
    for t in reversed(range(n)):
        h = h_saved.pop()
        # adjoint of line 4: h = np.tanh(x[t] @ w + h + b)
        h_bar = h_bar * (1.0 - h * h)
        h_bars[t] = h_bar
    return np.tensordot(x, h_bars, ((0, 1), (0, 1))), h_bars.sum(axis=(0, 1))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.core import Loc, Op, Region, Value
from ..ir.opset import ADDAT, DIM, GET, NEG, POP, PRIMS, RANGE_LEN, SET
from ..ir.rewrite import derived, enclosing, region_of
from ..operations.linalg import MATMUL
from ..operations.reductions import SUM

if TYPE_CHECKING:
    from .distribute import Rows, Sink

TRANSPOSED = (("transpose", None),)
FLOAT = np.float64  # no dtype, which an unknown one, None, would be equal to


def product_of_rows(v: Any) -> tuple[Value, Value, bool] | None:
    """(a, b, whether it is taken away) where `v` is the matrix ``a.T @ b``."""
    v, minus = unsigned(v)
    op = v.op if type(v) is Value else None
    if op is None or op.prim is not MATMUL or any(type(x) is not Value or x.type.ndim != 2 for x in op.args):
        return None
    (left, minus_left), (b, minus_b) = map(unsigned, op.args)
    flip = left.op
    if flip is None or flip.prim is not GET or flip.args[1] != TRANSPOSED:
        return None
    a, minus_a = unsigned(flip.args[0])
    return (a, b, minus ^ minus_left ^ minus_a ^ minus_b) if type(a) is type(b) is Value else None


def sum_of_rows(v: Any) -> tuple[Value, int] | None:
    """(a, axis) where `v` is the sum of the matrix `a` along an axis."""
    op = v.op if type(v) is Value else None
    if op is None or op.prim is not SUM or len(op.args) != 1 or op.kwargs.keys() != {"axis"}:
        return None
    (a,), axis = op.args, op.kwargs["axis"]
    return (a, axis) if type(a) is Value and a.type.ndim == 2 and axis in (0, 1) else None


def unsigned(v: Any) -> tuple[Any, bool]:
    """The operand of a negation, and whether it is one."""
    is_negated = type(v) is Value and v.op is not None and v.op.prim is NEG
    return (v.op.args[0], True) if is_negated else (v, False)


def keep_rows(loop: Op, sinks: list[Sink], rows: Rows, before_change: Callable[[], None]) -> bool:
    """Keep values of the iterations; whether there are some. `before_change` is called in front of that."""
    (body,) = loop.regions
    range_ = loop.range
    if range_ is None or range_[0] != 0 or range_[2] != 1 or not any(op.prim is POP for op in body.ops):
        return False
    wanted: list[tuple[list[Value], bool]] = []
    for sink in sinks:
        if sink.op.prim is ADDAT or rows.added(sink) is not None:
            continue
        v, _ = unsigned(sink.value)
        if not rows.fits_in(sink) or type(v) is not Value or v.op is None or not rows.is_safe(v.op):
            continue
        product, total = product_of_rows(v), sum_of_rows(v)
        parts = list(product[:2]) if product else [total[0]] if total else [v]
        missing = [x for x in dict.fromkeys(parts) if rows.of(x) is None]
        wanted.append((missing, product is not None))
    kept: list[Value] = []
    while True:
        open_ = [(left, heavy) for missing, heavy in wanted if (left := [x for x in missing if x not in kept])]
        gains = {x: _gain(x, open_) for missing, _ in open_ for x in missing}
        best = max(gains, key=lambda x: gains[x], default=None)
        if best is None or gains[best] < 2:
            break
        kept.append(best)
    places = {v: shape for v in kept if (shape := _shape(v, loop)) is not None}
    if places:
        before_change()
    count = trips(loop) if places else None
    for v, shape in places.items():
        lengths = [x if isinstance(x, int) else in_front(loop, DIM, *x) for x in shape]
        keep(loop, v, (count, *lengths), f"{v.hint}s" if v.hint else "rows", v.op.loc)  # type: ignore[union-attr]
    return bool(places)


def _gain(x: Value, open_: list[tuple[list[Value], bool]]) -> int:
    """How many operations leave the loop if this value is kept, too: a product of matrices counts as two."""
    return sum(1 + heavy for missing, heavy in open_ if missing == [x])


def _shape(v: Value, loop: Op) -> list[Any] | None:
    """The lengths of a matrix or a vector, from what is there in front of the loop."""
    if type(v) is not Value or v.type.kind != "array" or v.type.dtype != FLOAT or v.type.ndim not in (1, 2):
        return None
    (body,) = loop.regions
    if v.op is None or v.op.parent is not body:
        return None
    out: list[Any] = []
    for d in v.type.dims or ():
        length = body.dims.find(d)
        found = length if isinstance(length, int) else _source_of(length, loop)
        if found is None:
            return None
        out.append(found)
    return out


def _source_of(length: Any, loop: Op) -> tuple[Value, int] | None:
    """An array from outside of the loop, and an axis that is so long."""
    (body,) = loop.regions
    top: Region | None = loop.parent
    regions = list(enclosing(top))
    arrays = [p for p in regions[-1].params if p.type.kind == "array"]
    arrays += [init for init in loop.inits if type(init) is Value and init.type.kind == "array"]
    for array in arrays:
        for axis, d in enumerate(array.type.dims or ()):
            if body.dims.find(d) == length and body not in enclosing(region_of(array)):
                return array, axis
    return None


def keep(loop: Op, v: Value, shape: tuple[Any, ...], hint: str, loc: Loc | None, *place: Any) -> Value:
    """An array that a loop carries from now on, in which each iteration stores a value at its index, and at `place` on
    the other axes: what it is behind the loop."""
    (body,) = loop.regions
    init = in_front(loop, PRIMS[np.empty], shape)
    param = body.param(init.type, hint)
    stored = derived(body, SET, param, (("index", (body.params[0], *place)),), v, loc=loc)
    body.ops.append(stored)
    body.exit = (*body.exit, stored.result)
    loop.args = (loop.args[0], (*loop.inits, init))
    loop.results.insert(len(loop.results) - 2, Value(init.type, hint, loop))
    return loop.results[-3]


def trips(loop: Op) -> Any:
    """How many iterations a loop has that counts from 0: the end of its range may be negative."""
    start, stop, step = loop.range[:3]  # type: ignore[index]
    is_count = stop.type.length is not None if type(stop) is Value else stop >= 0
    return stop if is_count else in_front(loop, RANGE_LEN, start, stop, step)


def in_front(loop: Op, prim: Any, *args: Any) -> Value:
    """The result of a new operation in front of a loop."""
    assert loop.parent is not None
    op = derived(loop.parent, prim, *args)
    loop.parent.ops.insert(loop.parent.ops.index(loop), op)
    return op.result


__all__ = ["in_front", "keep", "keep_rows", "product_of_rows", "sum_of_rows", "trips", "unsigned"]
