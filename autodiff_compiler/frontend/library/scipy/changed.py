"""Arrays that an object of SciPy's shares with the program, and of which it has also computed something."""

from __future__ import annotations

from typing import Any

import numpy as np


def require_same(now: Any, then: Any, message: str) -> None:
    """SciPy may use what it computed before a store or what the array holds now. There is an error instead."""
    if not np.array_equal(now, then, equal_nan=True):
        raise NotImplementedError(message)
