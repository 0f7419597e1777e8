"""The lengths of vectors, for distances and for trees. A length of zero has the derivative zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...definitions import known


def root(x: Any) -> Any:
    """The square root, with derivative zero at zero."""
    zero = x == 0
    return np.where(zero, 0.0, np.sqrt(np.where(zero, 1.0, x)))


def lengths(difference: Any, p: Any, w: Any = None) -> Any:
    """The norms of order `p` along the last axis, of elements that count `w` times."""
    if p == 1:
        difference = np.abs(difference)
        return np.sum(difference if w is None else w * difference, axis=-1)
    if p == 2:
        return np.linalg.norm(difference if w is None else np.sqrt(w) * difference, axis=-1)
    if p == np.inf:
        difference = np.abs(difference)
        return np.max(difference if w is None else np.where(w > 0, difference, 0.0), axis=-1)
    if w is not None:
        difference = np.power(w, 1 / p) * difference
    if known(p):
        return np.linalg.norm(difference, p, axis=-1)
    powers = np.sum(np.abs(difference) ** p, axis=-1)
    zero = powers == 0
    return np.where(zero, 0.0, np.where(zero, 1.0, powers) ** (1 / p))
