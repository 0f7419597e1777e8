"""Random choices, drawn from the caller's generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dispatch import dispatched


@dispatched
def draw_mask(random: Any, shape: Any, rate: Any) -> Any:
    """Random booleans of this shape from an ``np.random.Generator``. Each is false with probability `rate`."""
    if not isinstance(random, np.random.Generator):
        raise TypeError(f"a mask is drawn from an np.random.Generator, not from {type(random).__name__}")
    return random.random(shape) >= rate
