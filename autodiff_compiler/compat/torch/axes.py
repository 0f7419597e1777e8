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
    """The axes as NumPy takes them. None: all, or none where the tensor has none."""
    if dim is None or isinstance(dim, bool):  # `var` takes a bool in its place
        return dim
    if not isinstance(dim, (tuple, list)):
        axis = check_dim(t, dim)
        return axis if t._value.ndim else None
    axes = tuple([check_dim(t, d) for d in dim])
    if len(set(axes)) != len(axes):
        raise RuntimeError(f"dim {dim[0]} appears multiple times in the list of dims")
    return axes if t._value.ndim and axes else None
