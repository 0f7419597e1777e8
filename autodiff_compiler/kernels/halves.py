"""Complex numbers as pairs of real numbers that lie one behind the other, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dispatch import dispatched


@dispatched
def as_reals(z: Any, view: Any = False) -> Any:
    """The real and imaginary parts of an array along its last axis, which is twice as long.

    view: as a view, or a ValueError where the numbers do not lie one behind the other; else it may be a copy

    >>> as_reals(np.array([1 + 2j, 3 - 4j]))
    array([ 1.,  2.,  3., -4.])
    """
    return (z if view else np.ascontiguousarray(z)).view(z.real.dtype)


@dispatched
def as_complexes(x: Any, view: Any = False) -> Any:
    """The pairs of numbers along the last axis as real and imaginary parts.

    view: as for `as_reals`

    >>> as_complexes(np.array([1.0, 2.0, 3.0, -4.0]))
    array([1.+2.j, 3.-4.j])
    """
    return (x if view else np.ascontiguousarray(x)).view(np.result_type(x.dtype, np.complex64))
