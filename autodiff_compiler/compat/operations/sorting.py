"""Orders of elements."""

from __future__ import annotations

from typing import Any

import numpy as np


def order(v: Any, axis: int, descending: bool = False) -> Any:
    """The places that put elements in order along an axis. Equal ones keep their order, also in descending order.

    >>> order(np.array([2, 3, 2]), 0, descending=True)
    array([1, 0, 2])
    """
    if not descending:
        return np.argsort(v, axis=axis, kind="stable")
    return v.shape[axis] - 1 - np.flip(np.argsort(np.flip(v, axis), axis=axis, kind="stable"), axis)
