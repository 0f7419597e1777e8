"""The partial of an exponential is cut at the largest number, unless the exponent is not positive for sure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

X = np.array([[0.3, -0.9, 0.4], [1.2, 0.1, -0.5], [0.7, 0.8, -1.1]])
CUT = "1.7976931348623157e308"

# Exponents of a matrix, and whether they are at most zero whatever it holds.
EXPONENTS: list[tuple[Callable[[Any], Any], bool]] = [
    (lambda x: -(x**2), True),
    (lambda x: -4.0 * (x**2 + (x - 1.0) ** 2), True),
    (lambda x: (x - 1.0) ** 2 * -0.5, True),
    (lambda x: -0.5 * x**2 / (1.0 + x**4), True),
    (lambda x: -np.abs(x) - x**2, True),
    (lambda x: x**2 / -2.0, True),
    (lambda x: np.sum(-(x**2)), True),
    (lambda x: (-x[0]).dot(x[0]), True),
    (lambda x: x - np.max(x), True),
    (lambda x: x - np.max(x, axis=1, keepdims=True), True),
    (lambda x: x - np.max(x, axis=1)[:, None], True),
    (lambda x: x - np.max(x, axis=0)[None, :], True),
    (lambda x: x - np.max(x, axis=0), False),  # it would be, but not for axis=1
    (lambda x: x - np.max(x, axis=1), False),
    (lambda x: x - np.max(x, axis=1)[None, :], False),
    (lambda x: x - np.max(x[:2]), False),
    (lambda x: -x, False),
    (lambda x: -4.0 * (x**2 - 1.0), False),
    (lambda x: -0.5 * x**2 / x, False),
    (lambda x: (-x[0]).dot(x[1]), False),
    (lambda x: -(x**3), False),
    (lambda x: 1.0 - x**2, False),
]


@pytest.mark.parametrize("exponent, small", EXPONENTS)
def test_what_cannot_overflow_is_not_cut(exponent: Callable[[Any], Any], small: bool) -> None:
    def gates(x: Any) -> Any:
        return np.sum(1.0 / (1.0 + np.exp(exponent(x))))

    gradient = ad.grad(gates)
    assert (CUT in gradient.source(X)) != small
    for scale in (1.0, 1e3):
        with np.errstate(all="ignore"):
            assert np.all(np.isfinite(gradient(scale * X)))
    ad.check_grads(gates, (X,), order=1)
