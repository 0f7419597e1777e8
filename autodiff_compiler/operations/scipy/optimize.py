"""`scipy.optimize`: the calls of its solvers. Their derivatives are those of `operations.callbacks.implicit`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.core import Builder, type_of
from ...ir.types import ANY, OBJECT, array
from ...kernels.scipy.optimize import covariance_of, fitted, optimum, sides
from ..record import op

op(optimum, "solver, args, settings", type=lambda b, *args: OBJECT, nondiff=True, effects=True)

op(fitted, "model, count, ydata, settings", type=lambda b, *args: OBJECT, nondiff=True, effects=True)


op(sides, "x, low, high", type=lambda b, x, low, high: array(int, type_of(x).dims), nondiff=True)
op(covariance_of, "outcome, x", type=lambda b, *args: ANY)


def _assignment_type(b: Builder, cost_matrix: Any, maximize: Any = False) -> Any:
    indices = array(np.intp, (b.dims.fresh(),))
    return (indices, indices)


op("scipy.optimize.linear_sum_assignment", "cost_matrix: array, maximize", type=_assignment_type, nout=2, nondiff=True)
