"""`scipy.optimize`: solutions as functions of what the equation or the objective reads."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import autodiff_compiler as ad
from tests.differences import differences
from tests.operations.scipy.harness import load, untested

load("optimize")
X = np.array([0.8, 0.7])
T = np.linspace(0.0, 1.0, 6)
CUBE = lambda t, a, b: a * t**3 + t - b
TIGHT = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}


def bracketed(x):
    a = optimize.brentq(lambda t: t**3 * x[0] - x[1], 0, 10)
    b = optimize.brenth(CUBE, 0, 10, args=(x[0], x[1]), xtol=1e-13)
    return a**2 + 3 * b


def other_brackets(x):
    a = optimize.ridder(CUBE, 0, 2 + x[0], (x[0], x[1]), xtol=1e-13)
    b = optimize.bisect(CUBE, 0, 10, args=(1.0, x[1]), xtol=1e-13)
    return a * b + optimize.toms748(CUBE, 0, 10, args=(x[1], x[0]), k=2)


def newton(x):
    a = optimize.newton(lambda t: np.cos(t) - t * x[0] * x[1], 0.5, tol=1e-13)
    return a + optimize.newton(CUBE, 0.5, lambda t, a, b: 3 * a * t * t + 1, args=(x[0], x[1]))


def root_scalar(x):
    r = optimize.root_scalar(CUBE, args=(x[0], x[1]), bracket=[0, 3], method="brentq", xtol=1e-14)
    return r.root if r.converged else 0.0


def root_scalar_by_newton(x):
    return optimize.root_scalar(CUBE, (x[0], x[1]), x0=1.0, fprime=lambda t, a, b: 3 * a * t * t + 1).root


def system(z, a, b):
    return [z[0] ** 2 * a + z[1] - 2, z[1] * z[0] - b]


def fsolve(x):
    z = optimize.fsolve(system, [1.0, 1.0], args=(x[0], x[1]), xtol=1e-13)
    return z[0] * 3 + z[1]


def root(x):
    sol = optimize.root(lambda z: np.array([z[0] + x[0] * z[1] ** 2 - 1, z[1] - x[1] * z[0]]), np.ones(2), tol=1e-13)
    return np.sum(sol.x**2) + np.sum(sol.fun)


def root_with_a_jacobian(x):
    jac = lambda z, a, b: np.array([[2 * a * z[0], 1.0], [z[1], z[0]]])
    return optimize.root(system, [1.0, 1.0], args=(x[0], x[1]), jac=jac, tol=1e-13, method="hybr").x[0]


def rosenbrock(w, a, b):
    return (a - w[0]) ** 2 + b * (w[1] - w[0] ** 2) ** 2 + 0.1 * w[1] ** 4


def minimize(x):
    r = optimize.minimize(rosenbrock, np.zeros(2), args=(x[0], 1 + x[1]), options={"gtol": 1e-9})
    return r.x[0] * 2 + r.x[1] + r.fun


def minimize_by_newton(x):
    def loss(w):
        return np.sum((w - x) ** 2 + 0.1 * w**4) + w[0] * w[1]

    def slope(w):
        return 2 * (w - x) + 0.4 * w**3 + w[::-1]

    r = optimize.minimize(loss, [0.1, 0.1], method="Newton-CG", jac=slope, hess=None, tol=1e-12)
    return r.x @ np.array([1.0, 2.0])


def minimize_with_bounds(x):
    loss = lambda w: (w[0] - x[0]) ** 2 + (w[1] - x[1]) ** 2 * (1 + w[0] ** 2) + (w[2] - x[0] * x[1]) ** 2 * w[0]
    r = optimize.minimize(loss, [0.2, 0.2, 0.2], bounds=[(0, 0.5), (None, None), (0, 1)], tol=1e-12)
    return r.x[0] + 3 * r.x[1] + r.x[2]


def moving_bounds(x):
    loss = lambda w, a: (w[0] - 2.0) ** 2 + (w[1] - w[0] * x[1]) ** 2 + a * w[1] ** 4
    w = optimize.minimize(loss, [0.1, 0.1], bounds=[(0.0, x[0] ** 2), (None, 5.0)], args=(x[1],), tol=1e-13).x
    return w[0] + 3 * w[1] ** 2


def ridge(x):
    a = np.vander(T, 3)
    y = np.sin(2 * T)
    fit = lambda w: np.sum((a @ w - y) ** 2) + x[0] * np.sum(w * w) + x[1] * np.sum(w**4)
    w = optimize.minimize(fit, np.zeros(3), method="BFGS", options={"gtol": 1e-9}).x
    return np.sum((a @ w - np.cos(T)) ** 2)


def minimize_scalar(x):
    a = optimize.minimize_scalar(lambda t: (t - x[0]) ** 2 + x[1] * t**4, tol=1e-10)
    b = optimize.minimize_scalar(lambda t, k: np.exp(t) - k * t, bounds=(-2, 2), method="bounded", args=(x[1],))
    return a.x + b.x * 2


def residuals(p, x):
    return p[0] * np.exp(-p[1] * T) - x[0] * np.exp(-T * x[1]) - 0.1 * T


def least_squares(x):
    r = optimize.least_squares(residuals, [1.0, 1.0], args=(x,), **TIGHT)
    return np.sum(r.x) + r.cost


def least_squares_with_bounds(x):
    r = optimize.least_squares(lambda p: residuals(p, x), [0.4, 0.5], bounds=([0.0, 0.0], [0.6, 9.0]), **TIGHT)
    return r.x[1]


def leastsq(x):
    p, _ = optimize.leastsq(residuals, [1.0, 1.0], args=(x,), xtol=1e-14, ftol=1e-14)
    return p[0] - p[1]


def curve_fit(x):
    data = x[0] * np.exp(-T * x[1]) + 0.1 * T
    p, _ = optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), T, data, p0=[1.0, 1.0], xtol=1e-14, ftol=1e-14)
    return p[0] + 2 * p[1]


PROGRAMS = [
    bracketed, other_brackets, newton, root_scalar, root_scalar_by_newton, fsolve, root, root_with_a_jacobian, minimize,
    minimize_by_newton, minimize_with_bounds, moving_bounds, ridge, minimize_scalar, least_squares,
    least_squares_with_bounds, leastsq, curve_fit,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f: Any) -> None:
    wanted = differences(f, X, step=1e-4)
    found = ad.grad(f)(X)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-5)
    d = np.array([0.4, -1.3])
    value, tangent = ad.jvp(f, (X,), (d,))
    np.testing.assert_allclose(value, f(X), rtol=1e-8)  # a solver magnifies the last digit
    np.testing.assert_allclose(tangent, found @ d, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "f", [bracketed, fsolve, minimize, ridge, minimize_scalar, least_squares], ids=lambda f: f.__name__
)
def test_second_derivatives(f: Any) -> None:
    def total(x):
        return np.sum(ad.grad(f)(x) * np.array([1.0, -2.0]))

    np.testing.assert_allclose(ad.grad(total)(X), differences(total, X, step=1e-4), rtol=2e-3, atol=1e-4)


def test_the_assignment_is_constant() -> None:
    def f(x):
        cost = np.array([[4.0, 1.0], [2.0, 3.0]]) * x[0]
        rows, columns = optimize.linear_sum_assignment(cost)
        return np.sum(cost[rows, columns])

    np.testing.assert_allclose(ad.grad(f)(X), [3.0, 0.0])


def a_double_root(x):
    return optimize.newton(lambda t: (t - x[0]) ** 2, x[0], tol=1e-3)


def a_flat_minimum(x):
    return optimize.minimize(lambda w: (w[0] - x[0]) ** 4, [0.8]).x[0]


def a_solver_that_stops_early(x):
    return optimize.minimize(rosenbrock, [-3.0, 5.0], args=(x[0], 100.0), options={"maxiter": 2}).x[0]


@pytest.mark.parametrize("f", [a_double_root, a_flat_minimum, a_solver_that_stops_early], ids=lambda f: f.__name__)
def test_where_the_theorem_does_not_hold(f: Any) -> None:
    with pytest.raises(ArithmeticError, match=r"implicit function theorem|did not reach a solution"):
        ad.grad(f)(X)


def constrained(x):
    cons = {"type": "eq", "fun": lambda w: w[0] + w[1] - x[0]}
    return optimize.minimize(lambda w: np.sum(w * w), [0.1, 0.2], constraints=cons).x[0]


def full_output(x):
    return optimize.brentq(lambda t: t - x[0], 0, 1, full_output=True)[0]


def the_covariance(x):
    data = x[0] * np.exp(-T * x[1]) + 0.1 * T
    return np.sum(optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), T, data, p0=[1.0, 1.0])[1])


@pytest.mark.parametrize("f", [constrained, full_output, the_covariance], ids=lambda f: f.__name__)
def test_refused(f: Any) -> None:
    with pytest.raises((ad.UnsupportedError, ad.RuleLookupError), match="Instead"):
        ad.grad(f)(X)


def test_every_function_is_tested() -> None:
    names = untested("optimize", [], sys.modules[__name__])
    assert [name for name in names if " by " not in name] == []  # the rules are those of the solvers' kernels


def test_np_isscalar_of_a_number_of_unknown_class():
    def f(x):
        root = optimize.brentq(lambda s: s**3 - x, 0.0, 5.0)
        return root * 2.0 if np.isscalar(root) else root

    def of_a_list(x, angles):
        return x if np.isscalar(angles) else x * angles[1]

    assert ad.grad(f)(8.0) == pytest.approx(2.0 / 12.0)
    assert ad.grad(of_a_list)(2.0, [1.0, 3.0]) == 3.0


def test_elements_of_functions_that_solve():
    """The class of a root is known at run time only, and that it is no tuple is known before."""
    x = np.array([1.0, 8.0])

    def f(x):
        root = np.vectorize(lambda a, b: optimize.brentq(lambda s: s**3 - a * b, 0.0, 9.0))
        return np.sum(root(x, 2.0))

    got = ad.grad(f)(x)
    np.testing.assert_allclose(got, 2.0 ** (1 / 3) / (3.0 * x ** (2 / 3)))
