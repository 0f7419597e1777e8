"""What emitted code checks of the rules that users write."""

from __future__ import annotations

from typing import Any

import numpy as np


def matching(g: Any, x: Any, what: str) -> Any:
    """`g`, which has the shape of `x`. Raises ValueError otherwise."""
    if np.shape(g) != np.shape(x):
        raise ValueError(f"{what} has shape {np.shape(g)}, expected {np.shape(x)}")
    return g
