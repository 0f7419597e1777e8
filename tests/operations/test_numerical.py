"""`ad.numerical`: difference quotients for functions of which only values are known, where the user asks for them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.ir.core import RULES_OF_USERS

X = np.array([0.8, -1.3, 2.1])
Y = np.array([[1.0], [2.0]])


@pytest.fixture(autouse=True)
def _rules_of_these_tests() -> Any:
    before = len(RULES_OF_USERS)
    yield
    del RULES_OF_USERS[before:]


def black(x, y):
    return np.sin(x) * y + math.pi


@pytest.mark.parametrize("method, tolerance", [("central", 1e-9), ("complex", 1e-14)])
def test_arrays(method: str, tolerance: float) -> None:
    measured = ad.numerical(black, method=method)

    def f(x, y):
        z = measured(x, y)
        return np.sum(z * z * x)

    def g(x, y):
        z = np.sin(x) * y + math.pi
        return np.sum(z * z * x)

    for k in (0, 1):
        np.testing.assert_allclose(ad.grad(f, k)(X, Y), ad.grad(g, k)(X, Y), rtol=tolerance, atol=tolerance)
    d = (X + 1, 0.5 * Y)
    np.testing.assert_allclose(ad.jvp(f, (X, Y), d), ad.jvp(g, (X, Y), d), rtol=tolerance)


def test_numbers_and_decorator() -> None:
    @ad.numerical
    def cube(x):
        """A cube."""
        return float(x) ** 3

    @ad.numerical(method="complex")
    def exponential(x, scale=1.0):
        return np.exp(x * scale)

    assert cube.__doc__ == "A cube." and cube(2.0) == 8.0
    assert math.isclose(ad.grad(lambda x: cube(x) * x)(1.5), 4 * 1.5**3, rel_tol=1e-9)
    assert math.isclose(ad.grad(lambda x: exponential(x, scale=2.0))(0.3), 2 * math.exp(0.6), rel_tol=1e-14)


def test_in_a_loop_and_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODIFF_COMPILER_CHECK", "0")  # which would run the function once more
    calls = []

    def count(x):
        calls.append(1)
        return float(x) ** 2

    measured = ad.numerical(count)

    def f(x):
        total = 0.0
        for _ in range(3):
            total = total + measured(x)
        return total

    assert math.isclose(ad.grad(f)(2.0), 12.0, rel_tol=1e-9)
    assert len(calls) == 3 * 5  # each value, and four for its derivative


def test_float32() -> None:
    g = ad.grad(lambda x: np.sum(ad_sin(x)))(X.astype(np.float32))
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, np.cos(X), rtol=1e-2)


ad_sin = ad.numerical(lambda x: np.sin(x), step=1e-2)  # a function of these tests


def test_other_functions_are_as_they_were() -> None:
    assert math.isclose(ad.grad(np.sin)(0.3), math.cos(0.3), rel_tol=1e-15)


def test_integers_are_no_operands() -> None:
    power = ad.numerical(lambda x, n: float(x) ** n)
    assert math.isclose(ad.grad(lambda x: power(x, 3))(2.0), 12.0, rel_tol=1e-9)


def test_refused() -> None:
    measured = ad.numerical(black)
    with pytest.raises(ad.RuleLookupError, match="second derivative through"):
        ad.grad(ad.grad(lambda x: measured(x, 2.0)))(0.3)
    with pytest.raises(ad.RuleLookupError, match="'y'"):
        ad.grad(lambda x: measured(1.0, y=x))(0.3)
    with pytest.raises(TypeError, match="'central' or 'complex'"):
        ad.numerical(black, method="forward")
