"""Convolution and pooling of arrays, channels last or first. Windows, steps and padding are as in `kernels`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import kernels
from ..graph.array import value_of


def last(a: Any) -> Any:
    """Channels moved from the second axis to the last."""
    return np.moveaxis(a, 1, -1)


def first(a: Any) -> Any:
    """Channels moved from the last axis to the second, in memory in the order of the axes: `view` often comes next."""
    return np.copy(np.moveaxis(a, -1, 1), order="C")


def convolution(a: Any, filters: Any, bias: Any, steps: Any, padding: Any, holes: Any, groups: int) -> Any:
    """The products of filters (outputs, channels, *window) with windows of `a`, channels first."""
    out = kernels.conv(last(a), np.transpose(filters, (2, 3, 1, 0)), steps, padding, holes, groups)
    return first(out if bias is None else out + bias)


def largest(a: Any, window: Any, steps: Any, padding: Any) -> Any:
    """The maximum of each window, channels last. Of equal elements the first gets the gradient."""
    return np.take(np.reshape(a, (-1,)), kernels.pool_places(value_of(a), window, steps, padding))


def average(a: Any, window: Any, steps: Any, padding: Any, divisor: float | None = None) -> Any:
    """The sum of each window divided by `divisor`, or by the number of elements without padding; channels last."""
    sums, v = kernels.pool_sum(a, window, steps, padding), value_of(a)
    if divisor is not None:
        return sums / divisor
    return sums / kernels.pool_count(v, window, steps, padding).astype(v.dtype)
