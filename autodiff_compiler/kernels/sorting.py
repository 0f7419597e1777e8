"""The places of `sorted`, `max` and `min`. With nan all comparisons fail, so there NumPy gives other places."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dispatch import dispatched


def _has_nan(keys: Any) -> bool:
    return keys.dtype.kind in "fc" and bool(np.isnan(keys).any())


@dispatched
def sorted_places(keys: Any) -> Any:
    """The indices that sort the vector. Equal elements stay in order."""
    if not _has_nan(keys):
        return np.argsort(keys, kind="stable")
    return np.array(sorted(range(len(keys)), key=keys.tolist().__getitem__), np.intp)


@dispatched
def place_of_max(keys: Any) -> Any:
    """The index of the first largest element of the vector."""
    return max(range(len(keys)), key=keys.tolist().__getitem__) if _has_nan(keys) else int(np.argmax(keys))


@dispatched
def place_of_min(keys: Any) -> Any:
    """The index of the first smallest element of the vector."""
    return min(range(len(keys)), key=keys.tolist().__getitem__) if _has_nan(keys) else int(np.argmin(keys))
