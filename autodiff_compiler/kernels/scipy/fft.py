"""What the derivatives of `scipy.fft` need and SciPy has no function for."""

from __future__ import annotations

from typing import Any

import numpy as np


def scaled_ends(x: Any, axis: int, first: float, last: float) -> Any:
    """`x` with the first and the last element along an axis multiplied by these factors."""
    out = np.array(x)
    moved = np.moveaxis(out, axis, 0)
    moved[:1] *= first
    moved[-1:] *= last
    return out
