"""Products of rows: what a loop multiplies row by row, by a matrix that it does not change, is one product in front.

Takes a function that is to be differentiated. Gives one in which loops over all rows of a matrix read the rows of a
product that is computed in front of them, and so do their adjoints. A product of matrices is many times faster than one
product per row, and is rounded in another way: it is done if the user asks for it, with ``reassociate=True``.

>>> import numpy as np
>>> import autodiff_compiler as ad
>>> def last(W, inputs, h):
...     for t in range(len(inputs)):
...         h = 0.5 * h + W @ inputs[t]
...     return np.sum(h)
>>> args = np.ones((2, 3)), np.ones((4, 3)), np.zeros(2)
>>> print(ad.value_and_grad(last, (0, 1), reassociate=True).source(*args).strip())
import numpy as np
from autodiff_compiler.runtime import spread
<BLANKLINE>
<BLANKLINE>
def last_value_and_grad(W, inputs, h):
    n = inputs.shape[0]
    inputs_W_T = inputs @ W.T
    h2 = h
    for t in range(n):
        h2 = 0.5 * h2 + inputs_W_T[t]
    h_bar = spread(1.0, h)
    inputs_bar, inputs_W_T_bar = np.zeros(inputs.shape), np.empty_like(inputs_W_T)
    # adjoint of line 2: for t in range(len(inputs)):
    for t in reversed(range(n)):
        # adjoint of line 3: h = 0.5 * h + W @ inputs[t]
        inputs_W_T_bar[t] = h_bar
        h_bar = 0.5 * h_bar
    inputs_bar += inputs_W_T_bar.dot(W)
    return h2.sum(), (inputs_W_T_bar.T.dot(inputs), inputs_bar)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.core import LOOP, Function, Op, Region, Value, type_of
from ..ir.opset import GET
from ..ir.rewrite import clone_function, derived, enclosing, region_of, replace_values
from ..operations.linalg import DOT, MATMUL

TRANSPOSED = (("transpose", None),)


def has_products(fn: Function) -> bool:
    """Some loop multiplies rows by a matrix."""
    return any(op.prim is LOOP and _rows_times_matrix(op) for op in fn.body.walk())


def multiply_at_once(fn: Function) -> Function:
    """A copy in which such rows are read from one product in front of their loop."""
    copy = clone_function(fn)[0]
    for loop in [op for op in copy.body.walk() if op.prim is LOOP]:
        assert loop.parent is not None
        products: dict[tuple[Value, Value, bool], Value] = {}
        before: list[Op] = []
        rows: dict[Value, Value] = {}
        for op, matrix, table, flipped in _rows_times_matrix(loop):
            key = (matrix, table, flipped)
            if key not in products:
                factor = matrix
                if flipped:
                    before.append(_made(loop.parent, GET, matrix, TRANSPOSED, like=op))
                    factor = before[-1].result
                before.append(_made(loop.parent, MATMUL, table, factor, like=op))
                products[key] = before[-1].result
            row = _made(loop.regions[0], GET, products[key], (("index", (loop.regions[0].params[0],)),), like=op)
            row.result.hint = op.result.hint
            loop.regions[0].ops[loop.regions[0].ops.index(op)] = row
            rows[op.result] = row.result
        at = loop.parent.ops.index(loop)
        loop.parent.ops[at:at] = before
        replace_values(copy.body, rows)
    return copy


def _made(region: Region, prim: Any, *args: Any, like: Op) -> Op:
    op = derived(region, prim, *args, loc=like.loc)
    op.tag = None
    return op


def _rows_times_matrix(loop: Op) -> list[tuple[Op, Value, Value, bool]]:
    """The products of a row with a matrix in a loop over all rows of a table: with the matrix, the table, and whether
    the matrix stands in front."""
    (body,) = loop.regions
    if loop.range is None or type(body.exit[0]) is Value or loop.parent is None:
        return []
    start, stop, step, *flags = loop.range
    if start != 0 or step != 1 or any(flags):
        return []
    found = []
    for op in body.ops:
        if op.prim not in (MATMUL, DOT) or op.kwargs or len(op.args) != 2:
            continue
        for k in (0, 1):
            table = _table(op.args[k], stop, loop)
            matrix = op.args[1 - k]
            if table is None or not _is_matrix(matrix, loop) or op.result.type.kind != "array":
                continue
            inner = type_of(matrix).dims[1 if k else 0]  # type: ignore[index]
            if loop.parent.dims.same(table.type.dims[1], inner):  # type: ignore[index]
                found.append((op, matrix, table, k == 1))
                break
    return found


def _table(x: Any, stop: Any, loop: Op) -> Value | None:
    """The matrix from outside of the loop whose row at the loop's index `x` is, if the loop runs over all its rows."""
    op = x.op if type(x) is Value else None
    if op is None or op.prim is not GET or op.args[1] != (("index", (loop.regions[0].params[0],)),):
        return None
    table = op.args[0]
    if not _is_matrix(table, loop):
        return None
    rows = table.type.dims[0]
    length = stop if type(stop) is int else type_of(stop).length
    return table if length is not None and loop.parent.dims.same(length, rows) else None  # type: ignore[union-attr]


def _is_matrix(x: Any, loop: Op) -> bool:
    t = type_of(x)
    return (
        type(x) is Value
        and t.kind == "array"
        and t.duck is None
        and t.dtype == np.float64
        and t.dims is not None
        and len(t.dims) == 2
        and loop.regions[0] not in enclosing(region_of(x))
    )


__all__ = ["has_products", "multiply_at_once"]
