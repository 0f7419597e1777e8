"""`root` and `fixed_point`: derivatives by the implicit function theorem, in both modes and of second order."""

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

A = np.array([[3.0, 1.0], [0.5, 2.0]])
B = np.array([1.0, 2.0])


def coupled(params):
    def step(z, p):
        return {"u": 0.3 * np.cos(z["u"]) * p["a"], "v": (0.5 * np.sum(z["u"]) + 0.1 * p["b"] * z["v"][0],)}

    found = ad.fixed_point(step, {"u": np.zeros((2, 2)), "v": (0.0,)}, params)
    return np.sum(found["u"]) * found["v"][0]


def in_a_loop(a, b):
    total = 0.0
    for k in range(2):
        y = ad.root(lambda x: a @ x + 0.1 * x**3 - b * (k + 1.0), np.zeros(2))
        if np.sum(y) > 0.0:
            total = total + np.sum(y**2)
    return total


def bisection(fun, x0):
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if fun(middle) > 0.0:
            high = middle
        else:
            low = middle
    return low


class Spring:
    def __init__(self, k: Any) -> None:
        self.k = k

    def force(self, x: Any) -> Any:
        return x**3 + x - self.k


@pytest.mark.parametrize(
    "f, args",
    [
        (lambda a: ad.root(lambda x: x**3 - a, 1.0), (8.0,)),
        (lambda a, b: ad.root(lambda x, a, b: x - np.cos(a * x) * b, 0.5, a, b), (0.7, 0.9)),
        (lambda a: ad.fixed_point(lambda x: 0.5 * (x + a / x), a), (2.0,)),
        (lambda a: ad.root(lambda x: x**3 - a, 1.0, solver=bisection), (2.0,)),
        (lambda b: np.sum(ad.root(lambda x: A @ x + 0.1 * x**3 - b, np.zeros(2)) ** 2), (B,)),
        (in_a_loop, (A, B)),
        (lambda m: np.sum(ad.root(lambda x: x @ x - m, np.eye(2)) ** 3), (np.array([[2.0, 0.3], [0.1, 1.5]]),)),
        (coupled, ({"a": np.array([[0.5, 1.0], [0.2, 0.7]]), "b": 0.4},)),
    ],
)
def test_derivatives(f: Any, args: Any) -> None:
    assert f(*args) == pytest.approx(ad.value_and_grad(f)(*args)[0], rel=1e-9)
    ad.check_grads(f, args, order=2)


def test_methods() -> None:
    assert ad.grad(lambda s: ad.root(s.force, 0.5))(Spring(2.0)).k == pytest.approx(0.25)


def test_the_start_has_no_derivative() -> None:
    assert ad.grad(lambda x0: ad.root(lambda x: x**2 - 2.0, x0))(1.0) == 0.0


@pytest.mark.parametrize(
    "run, said",
    [
        (lambda: ad.fixed_point(lambda x: 1.0 - x, 3.0), "not converged in 1000 steps"),
        (lambda: ad.grad(lambda a: ad.fixed_point(lambda x: a * x + 1.0, 3.0))(-1.0), "not converged"),
        (lambda: ad.root(lambda x: x**2 + 1.0, 3.0), "no step makes the residual smaller"),
        (lambda: ad.root(lambda x: 0.0 * x + 1.0, 3.0), "singular on the way"),
        (lambda: ad.grad(lambda a: ad.root(lambda x: x**3 - a, 0.3, solver=lambda f, x: x))(1.0), "did not reach"),
        (lambda: ad.grad(lambda a: ad.root(lambda x: (x - a) ** 3, 0.3, solver=lambda f, x: 1.0))(1.0), "singular at"),
    ],
)
def test_arithmetic_errors(run: Any, said: str) -> None:
    with pytest.raises(ArithmeticError, match=said):
        run()


def test_other_errors() -> None:
    with pytest.raises(ValueError, match=r"the shape \(\) for \(3,\)"):
        ad.grad(lambda a: np.sum(ad.root(lambda x: np.sum(x) - a, np.zeros(3))))(1.0)
    with pytest.raises(ValueError, match="the solver returned the shape"):
        ad.root(lambda x: x, 1.0, solver=lambda f, x: np.zeros(2))
    with pytest.raises(ad.AutodiffError, match="takes f, x0"):
        ad.grad(lambda a: ad.root(lambda x: x - a, 0.0, other=1))(1.0)
