"""Reductions that are made of others."""

from __future__ import annotations

from typing import Any

from .made import reduce_sum, reduce_variance, sqrt, square
from .operands import operand


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of `reduce_variance`."""
    return sqrt(reduce_variance(input_tensor, axis, keepdims))


def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of the sum of squares."""
    return sqrt(reduce_sum(square(operand(input_tensor)), axis, keepdims))
