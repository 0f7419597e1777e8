"""The partial of an exponential is cut at the largest number, unless the exponent is not positive for sure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.runtime import finite

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
    assert (CUT in gradient.source(X) or "finite(" in gradient.source(X)) != small
    for scale in (1.0, 1e3):
        with np.errstate(all="ignore"):
            assert np.all(np.isfinite(gradient(scale * X)))
    ad.check_grads(gates, (X,), order=1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [3, 5000])
def test_infinities_are_the_largest_number(dtype: Any, n: int) -> None:
    largest = np.finfo(dtype).max
    for special in ([], [-np.inf], [np.nan], [np.inf], [np.inf, np.nan], [largest]):
        x = np.linspace(-1.0, 1.0, n, dtype=dtype)
        x[: len(special)] = special
        before = x.copy()
        with np.errstate(all="raise"):
            assert np.array_equal(finite(x), np.minimum(x, largest), equal_nan=True)
        assert finite(x).dtype == dtype and np.array_equal(x, before, equal_nan=True)


def test_a_gate_of_a_large_array() -> None:
    def gate(x: Any) -> Any:
        return np.sum(x / (1.0 + np.exp(-x)))

    def twice(x: Any) -> Any:
        e = np.exp(x)
        return np.sum(e), np.sum(e * e)

    x = np.linspace(-800.0, 800.0, 5000)
    for y in (x, x[2000:], np.abs(x)):
        both = ad.value_and_grad(gate)
        assert "finite(" in both.source(y)
        with np.errstate(over="ignore"):
            value, gradient = both(y)
            assert value == gate(y)
            np.testing.assert_array_equal(gradient, ad.grad(gate, optimize=False)(y))
            assert np.all(np.isfinite(gradient))
    small = x / 800.0
    _, pullback = ad.vjp(twice, small)
    for _ in range(2):  # what is returned by `finite` is an array of the forward sweep, to which nothing is added
        found = pullback((1.0, 1.0))[0]
        np.testing.assert_allclose(found, np.exp(small) + 2.0 * np.exp(2.0 * small), rtol=1e-12)
