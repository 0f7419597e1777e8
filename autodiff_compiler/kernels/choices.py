"""Places of elements that are chosen by their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dispatch import dispatched


@dispatched
def distinct(a: Any, equal_nan: Any) -> Any:
    """The places in the flat array of the first of each distinct value, in the order of the values, the inverse, and
    the counts; as `np.unique` gives them."""
    return np.unique(a, return_index=True, return_inverse=True, return_counts=True, equal_nan=equal_nan)[1:]
