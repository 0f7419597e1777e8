"""`scipy.integrate`."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize

import autodiff_compiler as ad
from tests.differences import differences
from tests.operations.scipy.harness import check_case, load, untested

load("integrate")
RNG = np.random.default_rng(7)
X = np.array([0.8, 0.7])
Y = RNG.normal(size=(3, 5))
T = np.sort(RNG.uniform(size=5))
TIGHT = {"rtol": 1e-9, "atol": 1e-11}

SAMPLES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (integrate.trapezoid, (Y,), {"dx": 0.3}),
    (integrate.trapezoid, (Y, T), {}),
    (integrate.trapezoid, (Y, RNG.uniform(size=(3, 5))), {"axis": 0}),
    (integrate.trapezoid, (Y[0],), {}),
    (integrate.cumulative_trapezoid, (Y, T), {"initial": 0}),
    (integrate.cumulative_trapezoid, (Y,), {"axis": 0, "dx": 2.0}),
    (integrate.simpson, (Y, T), {}),
    (integrate.simpson, (Y[:, :4],), {"dx": 0.5}),
    (integrate.simpson, (Y,), {"axis": 0}),
    (integrate.simpson, (Y[:, :4], T[:4]), {}),
    (integrate.simpson, (Y[:, :2], T[:2]), {}),
]


@pytest.mark.parametrize("fn, args, kwargs", SAMPLES, ids=lambda x: getattr(x, "__name__", ""))
def test_samples(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_case(fn, args, kwargs)
    f = lambda y: fn(y, *args[1:], **kwargs)
    value, _ = ad.jvp(f, (args[0],), (args[0],))
    np.testing.assert_allclose(value, f(args[0]), rtol=1e-14, atol=1e-15)


# --- integrals of functions -------------------------------------------------------------------------------------------


def quad_of_a_parameter(x):
    return integrate.quad(lambda t: np.sin(t * x[0]) * x[1], 0, 2)[0]


def quad_to_infinity(x):
    value, _ = integrate.quad(lambda t, a: np.exp(-a * t * t) * x[1], -np.inf, np.inf, args=(x[0],))
    return value**2


def quad_of_limits(x):
    return integrate.quad(lambda t: np.exp(-t), x[0], x[1] * 3, epsabs=1e-12)[0]


def quad_with_points(x):
    return integrate.quad(lambda t: np.abs(t - 0.5) * x[0], 0, x[1], points=[0.5], limit=80)[0]


def integrated(f, a, b, args=(), epsabs=1e-11, limit=80):
    return integrate.quad(f, a, b, args, epsabs=epsabs, limit=limit)


def quad_with_defaults_of_a_helper(x):
    return integrated(lambda t, a: np.exp(-t * a), x[0], x[1] * 3, args=(x[0],))[0]


def dblquad(x):
    return integrate.dblquad(lambda y, t: np.exp(-x[0] * y * t) * x[1], 0, 1, lambda t: 0.0, lambda t: 1 + t * x[0])[0]


def dblquad_of_numbers(x):
    return integrate.dblquad(lambda y, t, a: np.cos(a * y * t), 0, x[0], 0.0, x[1], args=(x[0],))[0]


def fixed_quad(x):
    return integrate.fixed_quad(lambda t: np.exp(t * x[0]), 0, x[1], n=4)[0]


# --- differential equations -------------------------------------------------------------------------------------------


def rhs(t, y, a):
    return [-a * y[0] + y[1] * np.sin(t), -y[1] * y[1]]


def last_state(x):
    sol = integrate.solve_ivp(lambda t, y: rhs(t, y, x[0]), (0.0, 2.0), [1.0, x[1]], **TIGHT)
    return np.sum(sol.y[:, -1] ** 2)


def rk23(x):
    sol = integrate.solve_ivp(rhs, (0.0, 1.0), [1.0, x[1]], "RK23", args=(x[0],), rtol=1e-7, atol=1e-9)
    return sol.y[0, -1] + x[0] * sol.t[-1]


def the_end_of_the_interval(x):
    sol = integrate.solve_ivp(rhs, (0.2 * x[1], 2.0 * x[1]), [1.0, 0.5], method="DOP853", args=(x[0],), **TIGHT)
    return np.sum(sol.y[:, -1])


def times(x):
    sol = integrate.solve_ivp(rhs, (0.0, 2.0), [1.0, x[1]], args=(x[0],), t_eval=[0.0, 0.1, 1.3, 2.0], **TIGHT)
    return np.sum(sol.y**2 * np.arange(1.0, 5.0))


def times_of_dop853(x):
    t = np.array([0.3, 0.9, 2.0]) * x[1]
    sol = integrate.solve_ivp(rhs, (0, 2), [1.0, x[1]], method="DOP853", args=(x[0],), t_eval=t, **TIGHT)
    return np.sum(sol.y**2)


def backwards_in_time(x):
    sol = integrate.solve_ivp(rhs, (2.0, 1.2), x, args=(x[0],), t_eval=[1.5, 1.2], method="RK23", rtol=1e-8, atol=1e-10)
    return np.sum(sol.y**2)


def an_array_of_parameters(x):
    a = np.array([[-1.0, 0.3], [0.2, -0.5]])
    sol = integrate.solve_ivp(lambda t, y: a @ y * x, (0, 1), x, max_step=0.3, **TIGHT)
    return np.sum(sol.y[:, -1])


def a_complex_integrand(x):
    value, _ = integrate.quad(lambda t, a: np.exp(1j * a * t) * x[1], 0, x[1], args=(x[0],), complex_func=True)
    return np.abs(value) + value.real


def parameters_in_infinite_limits(x):
    a = integrate.quad(lambda t: np.exp(-((t / x[0]) ** 2)) * t**2, -np.inf, np.inf)[0]
    return a + integrate.quad(lambda t: np.exp(-x[0] * t), x[1], np.inf)[0]


def tplquad(x):
    return integrate.tplquad(
        lambda z, y, u, a: a * z * y + u, 0, x[1], lambda u: 0.0, lambda u: 1 - u * x[0], 0.0, lambda u, y: u + y,
        args=(x[0],),
    )[0]  # fmt: skip


def nquad(x):
    a = integrate.nquad(lambda u, v, k: k * u * v**2, [lambda v, k: (0, 1 - v * k), (0, x[1])], args=(x[0],))[0]
    return a + integrate.nquad(lambda u, v: u * v * x[0], [(0, x[0]), (0.0, 1.0)])[0]


def quad_vec(x):
    a, _ = integrate.quad_vec(lambda t: np.exp(-t * x) * t, 0, x[1])
    return np.sum(a * [1.0, 2.0]) + integrate.quad_vec(lambda t, k: np.sin(k * t), 0.0, 1.0, args=(x[0],))[0]


def boundary_values(x):
    f = lambda t, y: np.vstack((y[1], -x[0] * np.sin(y[0])))
    bc = lambda a, b: np.array([a[0] - 0.1 * x[1], b[0] - 1])
    sol = integrate.solve_bvp(f, bc, np.linspace(0, 1.5, 9), np.zeros((2, 9)), tol=1e-6)
    return sol.sol(0.5)[0] + 2 * sol.y[1, 0] + np.sum(sol.sol(np.array([0.2, 1.3 * x[1]]), 1)) * sol.success


def an_eigenvalue(x):
    f = lambda t, y, p: np.vstack((y[1], -(p[0] ** 2) * (1 + x[0] * t) * y[0]))
    bc = lambda a, b, p: np.array([a[0], b[0], a[1] - p[0]])
    t = np.linspace(0, 1 + x[1], 8)
    y = np.zeros((2, 8))
    y[0, 2], y[0, 5] = 1.0, -1.0
    return integrate.solve_bvp(f, bc, t, y, p=[3.0], tol=1e-7).p[0]


def flight(t, y, k):
    return [y[2], y[3], -k * y[2], -9.81 - k * y[3]]


def ground(t, y, k):
    return y[1]


ground.terminal = True
ground.direction = -1


def top(t, y, k):
    return y[3]


def range_of_a_shot(x):
    start = [0.0, 1.0 + x[0], 3.0, 8.0 * x[1]]
    sol = integrate.solve_ivp(flight, (0, 10), start, events=[ground, top], args=(x[0],), **TIGHT)
    return sol.t_events[0][0] + sol.y_events[0][0][0] * 2 + sol.t_events[1][0] * sol.y_events[1][0, 1] + sol.y[0, -1]


def fall(x):
    def hit(t, y):
        return y[0] - 0.1 * x[1]

    hit.terminal = True
    hit.direction = -1
    sol = integrate.solve_ivp(lambda t, y: [y[1], -9.81 - x[0] * y[1]], (0, 10), [2.0, x[1]], events=hit, **TIGHT)
    return sol.t[-1] + len(sol.t_events[0]) * sol.y[1, -1] * 0.1 if sol.status == 1 else 0.0


def crossings(x):
    level = lambda t, y: y[0] - 0.2 * x[1] * t
    sol = integrate.solve_ivp(lambda t, y: [y[1], -x[0] * y[0]], (0, 9), [1.0, x[1]], "DOP853", events=level, **TIGHT)
    return np.sum(sol.t_events[0] * np.arange(1.0, len(sol.t_events[0]) + 1)) + np.sum(sol.y_events[0] ** 2)


def the_second_crossing_backwards(x):
    level = lambda t, y: y[0] - 0.1
    level.terminal = 2
    sol = integrate.solve_ivp(
        lambda t, y: [y[1], -x[0] * y[0]], (9.0, 0.0), [1.0, x[1]], events=level, t_eval=np.linspace(9, 0, 19),
        dense_output=True, **TIGHT,
    )  # fmt: skip
    return np.sum(sol.y**2) + 3 * sol.t_events[0][1] + sol.sol(7.3)[1] * len(sol.t)


def dense_output(x):
    sol = integrate.solve_ivp(rhs, (0, 2 * x[1]), [1.0, x[1]], args=(x[0],), dense_output=True, **TIGHT)
    t = np.linspace(0.0, 1.0, 5)
    return np.sum(sol.sol(t)[0] * t) + sol.sol(0.3 * x[0])[1] + sol.sol(np.float64(0.9)) @ np.array([1.0, 2.0])


def what_reads_the_dense_output(x):
    curve = integrate.solve_ivp(rhs, (0, 2), [1.0, x[1]], args=(x[0],), dense_output=True, **TIGHT).sol
    inner = integrate.quad(lambda t: curve(t)[0] * x[0], 0, 1)[0]
    return inner + optimize.brentq(lambda t: curve(t)[0] - 0.9 * x[1], 0, 2)


class Pendulum:
    def __init__(self, k):
        self.k = k

    def rhs(self, t, y):
        return [y[1], -self.k * np.sin(y[0])]

    def lowest(self, t, y):
        return y[0]

    lowest.terminal = True

    def quarter(self, start):
        return integrate.solve_ivp(self.rhs, (0, 9), [start, 0.0], events=(self.lowest,), **TIGHT).t_events[0][0]


def methods(x):
    return Pendulum(x[0]).quarter(x[1])


def no_event(x):
    sol = integrate.solve_ivp(rhs, (0, 1), [1.0, x[1]], args=(x[0],), events=lambda t, y, a: y[0] + 9.0, **TIGHT)
    return sol.y[0, -1] + np.sum(sol.t_events[0]) + len(sol.y_events[0])


def vectorized(x):
    f = lambda t, y, a: np.vstack([y[1], -a * y[0]]) * np.ones((1, np.shape(y)[1]))
    return integrate.solve_ivp(f, (0, 1), [1.0, x[1]], args=(x[0],), vectorized=True, **TIGHT).y[0, -1]


EXPLICIT = [
    range_of_a_shot, fall, crossings, the_second_crossing_backwards, dense_output, what_reads_the_dense_output, methods,
    no_event, vectorized,
    last_state, rk23, the_end_of_the_interval, times, times_of_dop853, backwards_in_time, an_array_of_parameters,
]  # fmt: skip
INTEGRALS = [
    a_complex_integrand, parameters_in_infinite_limits, tplquad, nquad, quad_vec, boundary_values, an_eigenvalue,
    quad_of_a_parameter, quad_to_infinity, quad_of_limits, quad_with_points, quad_with_defaults_of_a_helper,
    dblquad, dblquad_of_numbers, fixed_quad
]  # fmt: skip


@pytest.mark.parametrize("f", [*INTEGRALS, *EXPLICIT], ids=lambda f: f.__name__)
def test_functions(f: Any) -> None:
    wanted = differences(f, X, step=1e-5)
    np.testing.assert_allclose(ad.grad(f)(X), wanted, rtol=3e-5, atol=1e-7)
    d = np.array([0.4, -1.3])
    value, tangent = ad.jvp(f, (X,), (d,))
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(tangent, wanted @ d, rtol=3e-5, atol=1e-7)


@pytest.mark.parametrize(
    "f",
    [quad_of_a_parameter, quad_of_limits, boundary_values, dblquad, last_state, times, fall, crossings],
    ids=lambda f: f.__name__,
)
def test_second_derivatives(f: Any) -> None:
    def total(x):
        return np.sum(ad.grad(f)(x) * np.array([1.0, -2.0]))

    np.testing.assert_allclose(ad.grad(total)(X), differences(total, X, step=1e-5), rtol=1e-4, atol=1e-6)


def by_odeint(x):
    y = integrate.odeint(lambda y, t, a: rhs(t, y, a), [1.0, x[1]], np.array([0.0, 1.0, 2.0]), args=(x[0],), **TIGHT)
    return np.sum(y**2 * np.array([[1.0], [2.0], [3.0]]))


def by_odeint_over_times(x):
    return np.sum(
        integrate.odeint(rhs, x, np.array([0.1, 0.4, 0.4, 1.0]) * x[1], (x[0],), tfirst=True, **TIGHT)[1:] ** 2
    )


def by_method(method):
    def f(x):
        sol = integrate.solve_ivp(rhs, (0, 2), [1.0, x[1]], method, [1.0, 2.0], args=(x[0],), **TIGHT)
        return sol.y[0, 1] ** 2 + 2.0 * sol.y[1, 0] ** 2

    f.__name__ = method
    return f


def with_a_jacobian(x):
    jac = lambda t, y, a: np.array([[0.0, 1.0], [-a, -0.1]]) * x[1]
    f = lambda t, y, a: np.array([y[1], -a * y[0] - 0.1 * y[1]]) * x[1]
    return integrate.solve_ivp(f, (0, 1), [1.0, x[1]], "Radau", [1.0], args=(x[0],), jac=jac, **TIGHT).y[0, 0]


def the_steps_of_the_solver(x):
    sol = integrate.solve_ivp(rhs, (0.0, x[1]), [1.0, x[1]], "BDF", args=(x[0],), **TIGHT)
    return sol.y[0, -1] + sol.y[1, 0] + sol.t[-1]


CONTINUOUS = [
    by_odeint,
    by_odeint_over_times,
    with_a_jacobian,
    the_steps_of_the_solver,
    *[by_method(name) for name in ("Radau", "BDF", "LSODA")],
]


@pytest.mark.parametrize("f", CONTINUOUS, ids=lambda f: f.__name__)
def test_the_continuous_adjoint(f: Any) -> None:
    np.testing.assert_allclose(ad.grad(f)(X), differences(f, X, step=1e-5), rtol=1e-4, atol=1e-6)


def test_the_two_adjoints_agree() -> None:
    gradients = [ad.grad(by_method(name))(X) for name in ("RK45", "DOP853", "LSODA", "Radau")]
    for g in gradients[1:]:
        np.testing.assert_allclose(g, gradients[0], rtol=1e-6)


def test_second_derivatives_of_the_continuous_adjoint_are_refused() -> None:
    with pytest.raises(ad.RuleLookupError, match="solve_ivp by RK45"):
        ad.grad(lambda x: np.sum(ad.grad(by_odeint)(x)))(X)


def with_events(x):
    return integrate.solve_ivp(rhs, (0, 2), x, "LSODA", args=(x[0],), events=lambda t, y, a: y[0]).y[0, -1]


def with_dense_output(x):
    return integrate.solve_ivp(rhs, (0, 2), x, "Radau", args=(x[0],), dense_output=True).sol(1.0)[0]


@pytest.mark.parametrize("f", [with_events, with_dense_output], ids=lambda f: f.__name__)
def test_refused(f: Any) -> None:
    with pytest.raises(ad.UnsupportedError, match="solve_ivp"):
        ad.grad(f)(X)


def test_an_event_that_has_no_slope() -> None:
    def f(x):
        flat = lambda t, y: y[0] - x[0] if abs(y[0] - x[0]) > 1e-6 else 0.0
        return integrate.solve_ivp(lambda t, y: [1.0], (0, 2), [0.0], events=flat, max_step=0.1).t_events[0][0]

    with pytest.raises(ArithmeticError):
        ad.grad(f)(X)


def test_times_that_scipy_refuses() -> None:
    for times in ([0.1, 3.0], [0.5, 0.2]):
        with pytest.raises(ValueError, match="t_eval"):
            ad.grad(lambda x: np.sum(integrate.solve_ivp(rhs, (0, 2), x, t_eval=times, args=(1.0,)).y))(X)


def test_the_solution_is_that_of_scipy() -> None:
    a = 0.8
    for method in ("RK45", "RK23", "DOP853"):
        run = lambda y: integrate.solve_ivp(rhs, (0, 3), y, method, [0.0, 0.7, 3.0], args=(a,)).y
        steps = lambda y: integrate.solve_ivp(rhs, (0, 3), y, method, args=(a,)).y
        for f in (run, steps):
            np.testing.assert_allclose(ad.jvp(f, (X,), (X,))[0], f(X), rtol=1e-14, atol=1e-15)


def test_an_integration_that_fails() -> None:
    def f(x):
        sol = integrate.solve_ivp(lambda t, y: y * y * x[0], (0, 9), [1.0], t_eval=[0.1, 0.5, 8.0])
        return np.sum(sol.y) if not sol.success else 0.0

    x = np.array([1.0])
    np.testing.assert_allclose(ad.grad(f)(x), differences(f, x), rtol=1e-2)


def test_every_function_is_tested() -> None:
    names = untested("integrate", [], sys.modules[__name__])
    assert [name for name in names if " by " not in name] == []  # the rules are those of the solvers' kernels


@pytest.mark.parametrize("method", ["LSODA", "BDF", "Radau"])
@pytest.mark.parametrize("times", [[0.0, 1.0], [0.0, 0.25, 1.0], [0.0]], ids=len)
def test_the_first_time_may_be_that_of_the_state(method, times):
    def f(k):
        sol = integrate.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [2.0 + k], method=method, t_eval=times, **TIGHT)
        return np.sum(sol.y)

    t = np.array(times)
    value, gradient = ad.value_and_grad(f)(0.7)
    assert value == pytest.approx(np.sum(2.7 * np.exp(-0.7 * t)), rel=1e-6)
    assert gradient == pytest.approx(np.sum(np.exp(-0.7 * t) * (1 - 2.7 * t)), rel=1e-6)
