"""`scipy.optimize`: solutions as functions of what the equation or the objective reads."""

from __future__ import annotations

import logging
import sys
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
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


def minimize_scalar_at_its_bounds(x):
    a = optimize.minimize_scalar(lambda t: (t - 2.0) ** 2 * x[1], bounds=(0.0, x[0] ** 2), method="bounded")
    b = optimize.minimize_scalar(lambda t, k: np.exp(k * t), bounds=(x[1], 3.0), args=(x[0],))
    return a.x * 2 + b.x + a.fun + b.fun


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


def with_full_output(x):
    a, r = optimize.brentq(CUBE, 0, 10, args=(x[0], x[1]), full_output=True)
    b, s = optimize.newton(lambda t: np.cos(t) - t * x[0], 0.5, full_output=True, tol=1e-13)
    c, _ = optimize.toms748(CUBE, 0, 10, args=(x[1], x[0]), full_output=True)
    z, _info, flag, _message = optimize.fsolve(system, [1.0, 1.0], args=(x[0], x[1]), xtol=1e-13, full_output=True)
    p = optimize.leastsq(residuals, [1.0, 1.0], args=(x,), xtol=1e-14, ftol=1e-14, full_output=True)
    return a * r.root + b + c * r.converged + z[0] * flag + s.iterations * 0.0 + p[0][0] * (p[4] < 5)


def newton_of_an_array(x):
    z = optimize.newton(lambda t, a: t**3 + t - a, np.ones(3), lambda t, a: 3 * t * t + 1, (x[0] * np.arange(1.0, 4),))
    return z @ np.array([1.0, 2.0, x[1]])


def fixed_point(x):
    a = optimize.fixed_point(lambda t, k: np.cos(k * t), 0.5, args=(x[0],), xtol=1e-13)
    return a + np.sum(optimize.fixed_point(lambda t: 0.5 * np.cos(t * x), np.ones(2), xtol=1e-13) * [1.0, 2.0])


def further_arguments_in_a_list(x):
    def balance(t, *p):
        return first(t, *p) - x[1]

    def first(t, a, b):
        return a * t**3 + b * t

    slope = lambda t, *p: 3 * p[0] * t * t + p[1]
    a = optimize.newton(lambda t, *p: balance(t, *p), 0.5, slope, args=[x[0], x[1]])
    b = optimize.fixed_point(lambda t, k, m: m * np.cos(k * t), 0.5, args=[x[0], 0.7], xtol=1e-13)
    w = optimize.least_squares(lambda w, a, b: w - np.array([a * b, a]), [0.5, 0.1], args=[x[0], x[1]], xtol=1e-14).x
    return a * b + w[0] * w[1]


def root_of_a_function_with_its_derivative(x):
    both = lambda t, a, b: (CUBE(t, a, b), 3 * a * t * t + 1)
    a = optimize.root_scalar(both, (x[0], x[1]), x0=1.0, fprime=True, method="newton", xtol=1e-13).root
    jac = lambda z: np.array([[2 * x[0] * z[0], 1.0], [z[1], z[0]]])
    return a + optimize.root(lambda z: (np.array(system(z, x[0], x[1])), jac(z)), [1.0, 1.0], jac=True, tol=1e-13).x[0]


def other_methods_of_root(x):
    total = 0.0
    for method in ("lm", "broyden1", "krylov"):
        total = total + optimize.root(system, [1.0, 0.6], args=(x[0], x[1]), method=method, tol=1e-12).x[1]
    for method in ("ridder", "bisect", "brenth", "toms748"):
        total = total + optimize.root_scalar(CUBE, (x[0], x[1]), method, bracket=(0, 3), xtol=1e-13).root
    for method in ("secant", "halley"):
        slope, bend = lambda t, a, b: 3 * a * t * t + 1, lambda t, a, b: 6 * a * t
        total = (
            total + optimize.root_scalar(CUBE, (x[0], x[1]), method, x0=0.4, x1=0.6, fprime=slope, fprime2=bend).root
        )
    return total


def minimize_with_the_gradient(x):
    both = lambda w, a: (np.sum((w - a) ** 2 + 0.1 * w**4), 2 * (w - a) + 0.4 * w**3)
    hess = lambda w, a: np.diag(2 + 1.2 * w**2)
    a = optimize.minimize(both, [0.1, 0.1], args=(x,), jac=True, method="BFGS", options={"gtol": 1e-10})
    b = optimize.minimize(
        both, [0.1, 0.1], args=(x,), jac=True, hess=hess, method="trust-exact", options={"gtol": 1e-10}
    )
    product = lambda w, p, a: (2 + 1.2 * w**2) * p
    c = optimize.minimize(
        both, [0.1, 0.1], args=(x,), jac=True, hessp=product, method="Newton-CG", options={"xtol": 1e-12}
    )
    return a.x @ b.x + c.x[0] + a.fun


def an_equation(x):
    cons = {"type": "eq", "fun": lambda w: w[0] ** 2 + w[1] - x[0]}
    r = optimize.minimize(lambda w: np.sum(w * w * x[1]) + w[0], [0.1, 0.2], constraints=cons, tol=1e-14)
    return r.x[0] + 2 * r.x[1] + r.fun


def inequalities(x):
    cons = [
        {"type": "ineq", "fun": lambda w, a: [a - w[0] - w[1], 9.0 - w[0]], "args": (x[0],)},
        {"type": "ineq", "fun": lambda w: w[0] * w[1] + 5.0, "jac": lambda w: np.array([w[1], w[0], 0.0])},
        {"type": "eq", "fun": lambda w: w[2] - x[1] * w[0]},
    ]
    loss = lambda w: (w[0] - 2) ** 2 + (w[1] - x[1]) ** 2 + w[2] ** 2 * x[0]
    return optimize.minimize(loss, [0.1, 0.2, 0.3], constraints=cons, tol=1e-13).x @ np.array([1.0, 2.0, 3.0])


def constraints_and_bounds(x):
    loss = lambda w: (w[0] - 2) ** 2 + (w[1] - 2) ** 2 * x[1] + (w[2] - 1) ** 2 + w[0] * w[2]
    line = optimize.LinearConstraint(np.array([[1.0, x[1], 1.0]]), -np.inf, 2 * x[0])
    r = optimize.minimize(
        loss, [0.1, 0.2, 0.3], bounds=[(0, 0.5 * x[0]), (None, None), (0, 3)], constraints=line, tol=1e-13
    )
    return r.x @ np.array([1.0, 2.0, 3.0])


def by_trust_constr(x):
    circle = optimize.NonlinearConstraint(
        lambda w: w[0] ** 2 + w[1] ** 2, -np.inf, x[1], jac=lambda w: np.array([[2 * w[0], 2 * w[1]]])
    )
    loss = lambda w: (w[0] - 2 * x[0]) ** 2 + (w[1] - 1) ** 2
    box = optimize.Bounds([-5.0, -5.0], [5.0, 5.0])
    settings = {"gtol": 1e-10, "xtol": 1e-12, "barrier_tol": 1e-10}
    r = optimize.minimize(loss, [0.1, 0.2], method="trust-constr", constraints=[circle], bounds=box, options=settings)
    return r.x @ np.array([1.0, 2.0])


def linprog(x):
    r = optimize.linprog(
        [-1.0 - x[0], -2.0, 0.3], A_ub=[[1.0, 1.0 + x[1], 0.0], [3.0, x[0], 1.0]], b_ub=np.array([4.0 + x[0], 6.0]),
        A_eq=np.array([[0.0, 1.0, -x[1]]]), b_eq=[0.1],
    )  # fmt: skip
    s = optimize.linprog(-x, [[1.0, 2.0]], [1.0 + x[0]], bounds=[(None, x[1]), (0, 9)])
    return r.x @ np.array([1.0, 2.0, 3.0]) + r.fun + s.fun * s.x[0] + 2 * s.x[1]


def linear_least_squares(x):
    a = np.vander(T, 3) * (1 + x[0] * T[:, None])
    b = np.sin(3 * T * x[1])
    free = optimize.lsq_linear(a, b)
    boxed = optimize.lsq_linear(a, b, bounds=([-np.inf, -0.1, -0.05 * x[0]], 9.0), tol=1e-14, method="bvls")
    w, rest = optimize.nnls(a, b)
    return free.x[0] + free.cost + boxed.x @ np.array([1.0, 2.0, 3.0]) + np.sum(w**2) + rest


def fits(x):
    data = x[0] * np.exp(-T * x[1]) + 0.1 * T
    model = lambda t, a, b: a * np.exp(-b * t)
    tight = {"xtol": 1e-14, "ftol": 1e-14}
    p, _ = optimize.curve_fit(model, T, data, p0=[1.0, 1.0], sigma=1 + T * x[0], **tight)
    q, _ = optimize.curve_fit(model, T, data, [0.3, 0.5], bounds=([0, 0], [0.6 * x[1], 9]), gtol=1e-14, **tight)
    matrix = np.eye(6) + 0.1 * np.ones((6, 6)) * x[1]
    r, _, _info, _message, flag = optimize.curve_fit(model, T, data, [1.0, 1.0], matrix, full_output=True, **tight)
    return p[0] + 2 * p[1] + 3 * q[0] + q[1] + r[0] * r[1] * (flag < 5)


def older_names(x):
    loss = lambda w, a: np.sum((w - a) ** 2 + 0.1 * w**4) + w[0] * w[1]
    slope = lambda w, a: 2 * (w - a) + 0.4 * w**3 + w[::-1]
    a = optimize.fmin(loss, np.zeros(2), args=(x,), xtol=1e-10, ftol=1e-15, disp=False)
    b = optimize.fmin_bfgs(loss, np.zeros(2), slope, args=(x,), gtol=1e-10, disp=False)
    return a[0] + b @ np.array([1.0, 2.0]) + optimize.fmin_cg(loss, np.zeros(2), slope, (x,), gtol=1e-10, disp=0)[1]


def isotonic(x):
    y = np.array([x[0], 0.2, 0.9 * x[1], 0.3, 1.4, x[0] * x[1], 2.0])
    a = optimize.isotonic_regression(y)
    b = optimize.isotonic_regression(y, weights=np.arange(1.0, 8.0) * x[0], increasing=False)
    return np.sum(a.x**2 * np.arange(7.0)) + np.sum(b.x**2) + b.weights[0] * len(a.blocks)


# After the solve, stores into what the function reads and into the result.


def shifted(w, target):
    return np.sum((w - target) ** 2 * (1 + w[::-1] ** 2)) + 0.3 * w[0]


def value_of_a_minimum(x):
    target = x * 1.0
    r = optimize.minimize(shifted, np.zeros(2), args=(target,), options={"gtol": 1e-9})
    target[0] = 5 * x[1]
    return r.fun + r.x[0] + target[0]


def value_of_a_constrained_minimum(x):
    target = x * 1.0
    held = {"type": "eq", "fun": lambda w: w[0] + w[1] - target[0]}
    r = optimize.minimize(lambda w: shifted(w, target), np.ones(2), constraints=held, options={"ftol": 1e-14})
    target *= 2
    return r.fun**2 + r.x[1] + target[1]


def value_of_a_minimum_of_a_number(x):
    target = x * 1.0
    r = optimize.minimize_scalar(lambda t: (t - target[0]) ** 2 + target[1] * t, options={"xtol": 1e-13})
    s = optimize.minimize_scalar(lambda t: (t - target[0]) ** 2, bounds=(2 * target[1], 4), options={"xatol": 1e-9})
    target[:] = 3 * x[::-1]
    return r.fun + 2 * s.fun + r.x * s.x + target[0]


def residuals_of_least_squares(x):
    data = np.exp(T * x[0]) + x[1] * T**2
    r = optimize.least_squares(lambda p: p[0] + p[1] * T - data, [0.5, 0.5], **TIGHT)
    data[2] = x[0]
    s = r.fun[1] + r.cost
    r.fun[1] = 7 * x[1]
    return s + np.sum(r.fun**3) + 2 * r.cost + data[2]


def residuals_of_linear_least_squares(x):
    rows, data = np.stack([np.ones(6), T + x[0]], axis=1), np.sin(5 * T * x[1])
    r = optimize.lsq_linear(rows, data, tol=1e-14)
    rows[1], data[0] = 0.0, 2 * x[0]
    return np.sum(r.fun**3) + r.cost + np.sum(rows) + data[0]


def residuals_of_a_root(x):
    target = x * 1.0
    sol = optimize.root(lambda z: z**3 + z - target, np.ones(2), tol=1e-13)
    target[0] = 4 * x[0]
    sol.fun[1] = x[0]
    return np.sum(sol.fun) + sol.x[0] + target[0]


def value_that_is_assigned(x):
    best = None
    for k in range(2):
        r = optimize.minimize(shifted, np.zeros(2), args=(x + k,), options={"gtol": 1e-9})
        r.fun = r.fun + x[0] * k
        if best is None or r.fun < best.fun:
            best = r
    return best.fun * 2 + best.x[1]


PROGRAMS = [
    minimize_scalar_at_its_bounds,
    with_full_output, newton_of_an_array, fixed_point, root_of_a_function_with_its_derivative, other_methods_of_root,
    minimize_with_the_gradient, an_equation, inequalities, constraints_and_bounds, by_trust_constr, linprog,
    linear_least_squares, fits, older_names, isotonic,
    bracketed, other_brackets, newton, root_scalar, root_scalar_by_newton, fsolve, root, root_with_a_jacobian, minimize,
    minimize_by_newton, minimize_with_bounds, moving_bounds, ridge, minimize_scalar, least_squares,
    least_squares_with_bounds, leastsq, curve_fit, further_arguments_in_a_list,
    value_of_a_minimum, value_of_a_constrained_minimum, value_of_a_minimum_of_a_number, residuals_of_least_squares,
    residuals_of_linear_least_squares, residuals_of_a_root, value_that_is_assigned,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f: Any) -> None:
    # The steps of trust-constr end some 1e-7 before the minimum.
    wanted = differences(f, X, step=1e-3 if f is by_trust_constr else 1e-4)
    found = ad.grad(f)(X)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-5)
    d = np.array([0.4, -1.3])
    value, tangent = ad.jvp(f, (X,), (d,))
    np.testing.assert_allclose(value, f(X), rtol=1e-8)  # a solver magnifies the last digit
    np.testing.assert_allclose(tangent, found @ d, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "f",
    [bracketed, fsolve, minimize, ridge, minimize_scalar, least_squares, an_equation, linprog],
    ids=lambda f: f.__name__,
)
def test_second_derivatives(f: Any) -> None:
    def total(x):
        return np.sum(ad.grad(f)(x) * np.array([1.0, -2.0]))

    np.testing.assert_allclose(ad.grad(total)(X), differences(total, X, step=1e-4), rtol=2e-3, atol=1e-4)


def waves(w, a):
    return np.sum((w - a) ** 2) + 0.1 * np.sum(np.cos(3 * w))


BOX = [(-3, 3), (-3, 3)]
EVERYWHERE = {
    "differential_evolution": lambda x: optimize.differential_evolution(waves, BOX, args=(x,), seed=1, tol=1e-8),
    "dual_annealing": lambda x: optimize.dual_annealing(lambda w: waves(w, x), BOX, seed=2, maxiter=20),
    "shgo": lambda x: optimize.shgo(
        waves, [(-3, 0.2 * x[0]), (-3, 3)], args=(x,), minimizer_kwargs={"method": "L-BFGS-B", "tol": 1e-13}
    ),
    "basinhopping": lambda x: optimize.basinhopping(
        lambda w: waves(w, x), [0.5, 0.5], 3, seed=3, minimizer_kwargs={"method": "BFGS", "options": {"gtol": 1e-9}}
    ),
}


@pytest.mark.parametrize("name", EVERYWHERE)
def test_solvers_that_look_everywhere(name: str) -> None:
    """They are not exact enough for differences, so they are compared with a solver that starts at the minimum."""
    find = EVERYWHERE[name]
    start = find(X).x

    def by_minimize(x):
        limits = [(-3, 0.2 * x[0]), (-3, 3)] if name == "shgo" else BOX
        r = optimize.minimize(waves, start, args=(x,), bounds=limits, tol=1e-14)
        return r.x @ np.array([1.0, 2.0]) + r.fun

    def everywhere(x):
        r = find(x)
        return r.x @ np.array([1.0, 2.0]) + r.fun

    np.testing.assert_allclose(ad.grad(everywhere)(X), ad.grad(by_minimize)(X), rtol=1e-4)
    np.testing.assert_allclose(ad.grad(by_minimize)(X), differences(by_minimize, X, step=1e-4), rtol=1e-4)


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


def a_bound_that_does_not_hold(x):
    return optimize.minimize(lambda w: np.sum((w - x) ** 2), [0.1, 0.1], bounds=[(0.8, 9), (-9, 9)], tol=1e-14).x[0]


def a_constraint_that_does_not_hold(x):
    cons = {"type": "ineq", "fun": lambda w: w[0] - 0.8}
    return optimize.minimize(lambda w: np.sum((w - x) ** 2), [0.9, 0.1], constraints=cons, tol=1e-14).x[0]


def constraints_that_say_the_same(x):
    cons = [{"type": "eq", "fun": lambda w: w[0] - x[0]}, {"type": "eq", "fun": lambda w: 2 * w[0] - 2 * x[0]}]
    loss = lambda w: (w[0] - 1) ** 2 + (w[1] - w[0]) ** 2
    return optimize.minimize(loss, [0.9, 0.1], method="trust-constr", constraints=cons, tol=1e-10).x[1]


def a_corner_of_three_lines(x):
    a = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    return optimize.linprog([-1.0, -1.0], a, np.array([x[0], x[1], 1.5])).x[0]


KKT = [
    a_bound_that_does_not_hold, a_constraint_that_does_not_hold, constraints_that_say_the_same, a_corner_of_three_lines,
]  # fmt: skip


@pytest.mark.parametrize("f", KKT, ids=lambda f: f.__name__)
def test_where_the_conditions_of_kkt_fail(f: Any) -> None:
    with pytest.raises(ArithmeticError, match=r"strict complementarity|independent"):
        ad.grad(f)(X)


@pytest.mark.parametrize("f", [a_double_root, a_flat_minimum, a_solver_that_stops_early], ids=lambda f: f.__name__)
def test_where_the_theorem_does_not_hold(f: Any) -> None:
    with pytest.raises(ArithmeticError, match=r"implicit function theorem|did not reach a solution"):
        ad.grad(f)(X)


def a_callback(x):
    return optimize.minimize(lambda w: np.sum((w - x) ** 2), [0.1, 0.2], callback=print).x[0]


def whole_numbers(x):
    return optimize.milp(x, integrality=np.ones(2)).x[0]


def details(x):
    return optimize.fsolve(system, [1.0, 1.0], args=(x[0], x[1]), full_output=True)[1]["fjac"][0, 0]


def the_covariance(x):
    data = x[0] * np.exp(-T * x[1]) + 0.1 * T
    return np.sum(optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), T, data, p0=[1.0, 1.0])[1])


@pytest.mark.parametrize("f", [a_callback, whole_numbers, details, the_covariance], ids=lambda f: f.__name__)
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


@pytest.mark.parametrize(
    "ask, error",
    [
        (lambda r: len(r.items()), AttributeError), (lambda r: "x" in r, TypeError), (lambda r: len(r), TypeError),
        (lambda r: r.hess_inv[0, 0], AttributeError), (lambda r: r.get("x")[0], AttributeError),
    ],
)  # fmt: skip
def test_what_a_result_lacks_here_is_no_error_of_the_program(ask, error):
    def f(c):
        found = optimize.minimize(lambda q: (q[0] - c) ** 2, [0.0])
        try:
            n = ask(found)
        except error:
            n = 0
        return c * n

    with pytest.raises(AutodiffError, match="the compiler knows only a part of what SciPy's has"):
        ad.grad(f)(1.5)


def test_a_value_that_nobody_asks_for_is_not_computed():
    f = lambda x: optimize.minimize(lambda w: np.sum((w - x) ** 2), np.zeros(2)).x[0]
    assert "attained" not in ad.grad(f).source(X)
    f = lambda x: optimize.least_squares(lambda w: w * w - x, np.ones(2)).x[0]
    assert "attained" not in ad.grad(f).source(X)


def test_a_linear_program_without_a_solution():
    f = lambda x: optimize.linprog(x, A_ub=[[1.0, 1.0]], b_ub=[-1.0]).x[0]
    with pytest.raises(ArithmeticError, match="the solver found no solution, so its result has no derivative"):
        ad.grad(f)(X)


def solved(x, **options):
    return optimize.minimize(
        lambda v: np.sum((v - x) ** 2) + (v[0] * v[1] - 1) ** 2, x, method="BFGS", tol=1e-6, **options
    )


def changed_result(x):
    r = solved(x)
    before, r.fun = r.fun, r.fun * 2.0
    r.extra = r.x * 2.0
    r.x = r.x * 3.0
    missing = getattr(r, "nothing", None)
    return r.fun + before + r.extra.sum() + getattr(r, "x", None).sum() + (0.0 if missing is None else missing.sum())


def test_a_result_that_the_program_changes():
    np.testing.assert_allclose(ad.grad(changed_result)(X), differences(changed_result, X), rtol=1e-3)


class Failed(Exception):
    def __init__(self, result):
        super().__init__(getattr(result, "message", ""))
        self.result = result


def test_a_result_in_an_exception_and_in_a_log(caplog):
    def f(x, options):
        r = solved(x, options=options)
        try:
            assert r.success
        except AssertionError:
            logging.getLogger(__name__).error(r)
            raise Failed(r) from None
        return r.x.sum()

    def caught(x, options):
        r = solved(x, options=options)
        try:
            if not r.success:
                raise Failed(r)
        except Failed as error:
            return error.result.x.sum()
        return r.x.sum()

    np.testing.assert_allclose(ad.grad(f)(X, {}), differences(lambda x: f(x, {}), X), rtol=1e-3)
    caplog.clear()
    with pytest.raises(Failed) as failed:
        ad.grad(f)(X, {"maxiter": 0})
    assert isinstance(failed.value.result, optimize.OptimizeResult) and "success: False" in caplog.text
    with pytest.raises(AutodiffError):  # what the exception holds has no derivative
        ad.grad(caught)(X, {"maxiter": 0})


def test_what_ours_lacks_is_asked_for():
    with pytest.raises(NotImplementedError, match="hess_inv"):
        ad.grad(lambda x: getattr(solved(x), "hess_inv", x).sum())(X)


def test_an_equation_at_a_bound():
    def f(x, low):
        held = {"type": "eq", "fun": lambda v: v[0] - x[1]}
        bounds = [(low, 10), (-5, 10)]
        r = optimize.minimize(
            lambda v: np.sum((v - x) ** 2) + v[0] * v[1],
            [1, 1],
            method="SLSQP",
            bounds=bounds,
            constraints=held,
            tol=1e-12,
        )
        return r.x[0] + 3.0 * r.x[1]

    # The bound of the first element is that which the equation gives it, and it moves with the equation.
    at = np.array([1.5, 0.2])
    np.testing.assert_allclose(ad.grad(f)(at, 0.2), [0.0, 2.5], atol=1e-6)  # of x[1] + 3 x[1] / 2
