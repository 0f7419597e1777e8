"""What emitted code checks of the rules that users write."""

from __future__ import annotations

from typing import Any

import numpy as np


def matching(g: Any, x: Any, what: str) -> Any:
    """`g`, which has the shape of `x`. Raises ValueError otherwise."""
    if np.shape(g) != np.shape(x):
        raise ValueError(f"{what} has shape {np.shape(g)}, expected {np.shape(x)}")
    return g


def hooked(fn: Any, g: Any) -> Any:
    """What `fn` makes of a cotangent, or the cotangent where it returns None: an array of its own.

    Raises ValueError if that has another shape, or is no floating number.
    """
    found = fn(g)
    if found is None:
        return g.copy() if isinstance(g, np.ndarray) else g
    if np.shape(found) != np.shape(g):
        raise ValueError(
            f"on_gradient: the function returned the shape {np.shape(found)} for a cotangent of {np.shape(g)}"
        )
    kind = np.asarray(found).dtype.kind
    if kind not in "fc" or (kind == "c" and not np.iscomplexobj(g)):
        raise ValueError(f"on_gradient: the function returned {np.asarray(found).dtype} for {np.asarray(g).dtype}")
    return found.copy() if isinstance(found, np.ndarray) else found
