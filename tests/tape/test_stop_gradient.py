"""`ad.stop_gradient` in compiled functions: the value stays, and no derivative flows, at any order and in any nest."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

X = np.array([1.3, 2.4])
Pair = namedtuple("Pair", "a b")

# Each with the same function in which the constant is an argument.
PROGRAMS: dict[str, Any] = {
    "an array": lambda x, c: np.sum(c(x) * x),
    "a number": lambda x, c: c(x[0]) * x[0] + x[1],
    "a result": lambda x, c: np.sum(np.exp(x) * c(np.exp(x))),
    "a tuple": lambda x, c: c((x, x * 2))[1] @ x,
    "a named tuple": lambda x, c: c(Pair(x, x * 2)).b @ x,
    "a list in a dictionary": lambda x, c: c({"a": x, "b": [x[0], 3.0]})["b"][0] * x[0],
    "in a loop": lambda x, c: _looped(x, c),
    "in a branch": lambda x, c: c(x[0]) * x[1] if x[0] > 1 else x[0],
    "of a constant": lambda x, c: c(2.0) * x[0] * x[1],
}


def _looped(x: Any, c: Any) -> Any:
    s = 0.0
    for k in range(len(x)):
        s = s * x[k] + c(s) * x[k] + x[k]
    return s


def _constants_of(f: Any, x: Any) -> list[Any]:
    found: list[Any] = []
    f(x, lambda v: found.append(v) or v)
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gradient_takes_it_for_a_constant(name: str) -> None:
    f = PROGRAMS[name]
    constants = _constants_of(f, X)

    def fixed(x: Any) -> Any:
        left = iter(constants)
        return f(x, lambda v: next(left))

    def stopped(x: Any) -> Any:
        return f(x, ad.stop_gradient)

    want = [(fixed(X + h) - fixed(X - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    value, gradient = ad.value_and_grad(stopped)(X)
    assert value == pytest.approx(fixed(X))
    np.testing.assert_allclose(gradient, want, rtol=1e-6)
    np.testing.assert_allclose(ad.jvp(stopped, (X,), (np.ones(2),))[1], np.sum(want), rtol=1e-6)


def test_the_second_derivative() -> None:
    def slope(x: Any) -> Any:
        return np.sum(ad.grad(lambda v: np.sum(v**3 * ad.stop_gradient(v)))(x))

    np.testing.assert_allclose(ad.grad(slope)(X), 6 * X * X)  # as of 3 x**2 c, which stays a constant
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(ad.stop_gradient(np.sin(x))))(X), [0.0, 0.0])


def test_an_array_is_a_copy() -> None:
    def f(x: Any) -> Any:
        y = ad.stop_gradient(x)
        y[0] = 5.0
        return np.sum(x * x) + np.sum(y * x)

    assert f(X.copy()) == pytest.approx(np.sum(X * X) + 5 * X[0] + X[1] ** 2)
    np.testing.assert_allclose(ad.grad(f)(X), [2 * X[0] + 5.0, 2 * X[1] + X[1]])
