"""The derivatives of a function that a solver calls, see `kernels.callbacks`.

They are ordinary functions with gradients inside, so they are compiled when they are first called, and may be
differentiated again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .fingerprint import NotPortable, digest, fingerprint
from .transforms import grad


def pullback_of(fun: Callable[..., Any], k: int) -> Callable[..., Any]:
    """``pullback(g, *operands)``: the cotangent of operand `k`, where `g` is that of the result."""

    def weighted(g: Any, *operands: Any) -> Any:
        return np.sum(g * np.asarray(fun(*operands)))

    return grad(_named(weighted, fun), argnums=k + 1)


def jacobian_of(fun: Callable[..., Any], k: int) -> Callable[..., Any]:
    """``jacobian(*operands)``: the matrix of the derivatives of a vector by operand `k`, a vector of that length."""
    pullback = pullback_of(fun, k)

    def jacobian(*operands: Any) -> Any:
        n = len(operands[k])
        basis = np.eye(n)
        rows = np.zeros((n, n))
        for i in range(n):
            rows[i] = pullback(basis[i], *operands)
        return rows

    return jacobian


def half_square_of(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Half the sum of the squares of what `fun` gives."""

    def half_square(*operands: Any) -> Any:
        return 0.5 * np.sum(np.asarray(fun(*operands)) ** 2)

    return _named(half_square, fun)


def _named(made: Callable[..., Any], fun: Any) -> Callable[..., Any]:
    """The function `made`, of which the name tells it from that of another `fun`, for the disk cache."""
    with contextlib.suppress(NotPortable):
        made.__qualname__ += f" of {digest(fingerprint(fun))}"
    return made


__all__ = ["half_square_of", "jacobian_of", "pullback_of"]
