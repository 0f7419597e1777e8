"""Elementwise functions of two operands of which one has fewer axes, or axes of length 1, than the result.

The result's cotangent is a multiple of the result, so that rules that cancel a factor do so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

FUNCTIONS = (
    np.add, np.subtract, np.multiply, np.true_divide, np.power, np.hypot, np.arctan2, np.maximum, np.minimum, np.fmax,
    np.fmin, np.logaddexp, np.logaddexp2, np.copysign, np.remainder, np.fmod, np.float_power,
)  # fmt: skip
M = np.array([[0.7, 1.3, 2.1], [1.9, 0.6, 2.6]])
PARTS: dict[str, Any] = {
    "a number": lambda x: x[0, 1],
    "a row": lambda x: x[1],
    "a row of one": lambda x: x[1:],
    "a column": lambda x: x[:, 2:],
    "an element": lambda x: x[:1, :1],
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_both_sides(fn: Any, part: str) -> None:
    smaller = PARTS[part]

    def first(x: Any, y: Any) -> Any:
        out = fn(smaller(y), x)
        return np.sum(out * out)

    def second(x: Any, y: Any) -> Any:
        out = fn(x, smaller(y))
        return np.sum(out * out)

    y = M[::-1] * 0.83 + 0.05
    for f in (first, second):
        ad.check_grads(f, (M, y), order=1)
