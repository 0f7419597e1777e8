"""The order of Python's `sorted`, `max` and `min`: as NumPy's, but where there is nan, which no comparison moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dispatch import dispatched


def _has_nan(keys: Any) -> bool:
    return keys.dtype.kind in "fc" and bool(np.isnan(keys).any())


@dispatched
def sorted_places(keys: Any) -> Any:
    """Where the elements of the sorted vector are; equal ones stay in their order."""
    if not _has_nan(keys):
        return np.argsort(keys, kind="stable")
    return np.array(sorted(range(len(keys)), key=keys.tolist().__getitem__), np.intp)


@dispatched
def place_of_max(keys: Any) -> Any:
    """Where the first of the largest elements of the vector is."""
    return max(range(len(keys)), key=keys.tolist().__getitem__) if _has_nan(keys) else int(np.argmax(keys))


@dispatched
def place_of_min(keys: Any) -> Any:
    """Where the first of the smallest elements of the vector is."""
    return min(range(len(keys)), key=keys.tolist().__getitem__) if _has_nan(keys) else int(np.argmin(keys))
