"""`scipy.optimize`: the calls of its solvers. Their derivatives are those of `operations.callbacks.implicit`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.core import Builder, type_of
from ...ir.opset import mark
from ...ir.types import ANY, OBJECT, array, py_int
from ...kernels.scipy.optimize import (
    active_of,
    blocks_of,
    complementary,
    detail_of,
    edge_of,
    fitted,
    held_by_bounds,
    multipliers_of,
    optimum,
    part_of,
    sides,
)
from ..record import op, vjp

op(optimum, "solver, args, settings", type=lambda b, *args: OBJECT, nondiff=True, effects=True)

op(fitted, "model, count, ydata, settings", type=lambda b, *args: OBJECT, nondiff=True, effects=True)


op(sides, "x, low, high", type=lambda b, x, low, high: array(int, type_of(x).dims), nondiff=True)
op(edge_of, "gradient, x, low, high", type=lambda b, *args: py_int(), nondiff=True)
op(blocks_of, "y, weights, increasing", type=lambda b, *args: array(np.intp, (b.dims.fresh(),)), nondiff=True)
op(part_of, "outcome, k", type=lambda b, *args: OBJECT, nondiff=True)
op(detail_of, "outcome, k, x", type=lambda b, *args: ANY)


def _active_type(b: Builder, *args: Any) -> Any:
    numbers = array(np.intp, (b.dims.fresh(),))
    return (numbers, numbers)


op(active_of, "values, low, high", type=_active_type, nout=2, nondiff=True)
op(
    multipliers_of, "gradient, x, side, which",
    type=lambda b, gradient, x, side, which: array(float, type_of(which).dims), nondiff=True,
)  # fmt: skip
op(
    held_by_bounds, "gradient, x, side, which",
    type=lambda b, gradient, x, side, which: array(int, type_of(side).dims), nondiff=True,
)  # fmt: skip
op(complementary, "x, gradient, side", type=lambda b, x, gradient, side: type_of(x))


@vjp(complementary, "x")
def _complementary(g: Any, out: Any, x: Any, gradient: Any, side: Any) -> Any:
    return g


def _assignment_type(b: Builder, cost_matrix: Any, maximize: Any = False) -> Any:
    indices = array(np.intp, (b.dims.fresh(),))
    return (indices, indices)


op("scipy.optimize.linear_sum_assignment", "cost_matrix: array, maximize", type=_assignment_type, nout=2, nondiff=True)

mark("again", optimum, fitted)
