"""Random choices, drawn from a generator that the caller owns."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dispatch import dispatched


@dispatched
def draw_mask(random: Any, shape: Any, rate: Any) -> Any:
    """Booleans of this shape, false for a share `rate` of them, from an ``np.random.Generator``."""
    if not isinstance(random, np.random.Generator):
        raise TypeError(f"a mask is drawn from an np.random.Generator, not from {type(random).__name__}")
    return random.random(shape) >= rate
