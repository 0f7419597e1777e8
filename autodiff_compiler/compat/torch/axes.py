"""The axes that arguments name."""

from __future__ import annotations

from typing import Any


def check_dim(t: Any, dim: int) -> int:
    """The axis as a number from 0 on. Raises IndexError for one that is not there."""
    n: int = max(t._value.ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


def axes_of(t: Any, dim: Any) -> Any:
    """The axes to reduce, as NumPy takes them."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return None
    if isinstance(dim, (tuple, list)):
        found = tuple([check_dim(t, d) for d in dim])
        if len(set(found)) != len(found):
            raise RuntimeError(f"dim {dim[0]} appears multiple times in the list of dims")
    else:
        found = (check_dim(t, dim),)
    return found if t._value.ndim else None
