"""`scipy.optimize`: solutions of equations and minima, by the implicit function theorem.

SciPy solves the problem once, with the user's function as it is. The solution then depends on what the function reads:
`implicit` says on what equation it rests. For a minimum this is that the gradient is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from ....kernels.callbacks import closed, implicit, number_of, vector_of
from ....kernels.scipy.optimize import covariance_of, fitted, optimum, sides
from ....runtime import constant
from ...definitions import defines, derived, lifted, refuse


def _tuple(args: Any) -> Any:
    return args if isinstance(args, tuple) else (args,)


def _handed(fun: Any, args: Any) -> Any:
    """A function that SciPy calls beside the one that is solved for: a derivative, say."""
    if fun is None or isinstance(fun, (bool, str)):
        return fun
    other, captured = lifted(fun, 1 + len(args))
    return closed(other, *captured)


# --- one equation -----------------------------------------------------------------------------------------------------


def _bracketed(solver: Any, name: Any) -> Any:
    def find(
        f: Any, a: Any, b: Any, args: Any = (), xtol: Any = None, rtol: Any = None, maxiter: Any = None,
        full_output: Any = False, disp: Any = True,
    ) -> Any:  # fmt: skip
        if full_output:
            refuse(f"scipy.optimize.{name} with full_output", "leave it out")
        args = _tuple(args)
        fun, captured = lifted(f, 1 + len(args), "number")
        settings = (("args", args), ("xtol", xtol), ("rtol", rtol), ("maxiter", maxiter), ("disp", disp))
        root = number_of(optimum(solver, (closed(fun, *captured), a, b), settings), None)
        return implicit(fun, len(captured), None, root, *captured, *args)

    return find


for _name in ("brentq", "brenth", "ridder", "bisect"):
    defines(getattr(optimize, _name))(_bracketed(getattr(optimize, _name), _name))


@defines(optimize.toms748)
def toms748(
    f: Any, a: Any, b: Any, args: Any = (), k: Any = 1, xtol: Any = None, rtol: Any = None, maxiter: Any = None,
    full_output: Any = False, disp: Any = True,
) -> Any:  # fmt: skip
    if full_output:
        refuse("scipy.optimize.toms748 with full_output", "leave it out")
    args = _tuple(args)
    fun, captured = lifted(f, 1 + len(args), "number")
    settings = (("args", args), ("k", k), ("xtol", xtol), ("rtol", rtol), ("maxiter", maxiter), ("disp", disp))
    root = number_of(optimum(optimize.toms748, (closed(fun, *captured), a, b), settings), None)
    return implicit(fun, len(captured), None, root, *captured, *args)


@defines(optimize.newton)
def newton(
    func: Any, x0: Any, fprime: Any = None, args: Any = (), tol: Any = 1.48e-8, maxiter: Any = 50, fprime2: Any = None,
    x1: Any = None, rtol: Any = 0.0, full_output: Any = False, disp: Any = True,
) -> Any:  # fmt: skip
    if full_output or np.ndim(x0) > 0:
        refuse("scipy.optimize.newton with full_output or several starts", "solve for one number")
    args = _tuple(args)
    fun, captured = lifted(func, 1 + len(args), "number")
    settings = (
        ("fprime", _handed(fprime, args)), ("args", args), ("tol", tol), ("maxiter", maxiter),
        ("fprime2", _handed(fprime2, args)), ("x1", x1), ("rtol", rtol), ("disp", disp),
    )  # fmt: skip
    root = number_of(optimum(optimize.newton, (closed(fun, *captured), x0), settings), None)
    return implicit(fun, len(captured), None, root, *captured, *args)


class Root:
    """What `root_scalar` gives."""

    def __init__(self, root: Any, outcome: Any) -> None:
        self.root = root
        self._outcome = outcome

    @property
    def converged(self) -> Any:
        return self._outcome.converged

    @property
    def iterations(self) -> Any:
        return self._outcome.iterations

    @property
    def function_calls(self) -> Any:
        return self._outcome.function_calls

    @property
    def flag(self) -> Any:
        return self._outcome.flag


@defines(optimize.root_scalar)
def root_scalar(
    f: Any, args: Any = (), method: Any = None, bracket: Any = None, fprime: Any = None, fprime2: Any = None,
    x0: Any = None, x1: Any = None, xtol: Any = None, rtol: Any = None, maxiter: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    args = _tuple(args)
    fun, captured = lifted(f, 1 + len(args), "number")
    settings = (
        ("args", args), ("method", method), ("bracket", None if bracket is None else tuple(bracket)),
        ("fprime", _handed(fprime, args)), ("fprime2", _handed(fprime2, args)), ("x0", x0), ("x1", x1), ("xtol", xtol),
        ("rtol", rtol), ("maxiter", maxiter), ("options", _pairs(options)),
    )  # fmt: skip
    outcome = optimum(optimize.root_scalar, (closed(fun, *captured),), settings)
    root = implicit(fun, len(captured), None, number_of(outcome, "root"), *captured, *args)
    return Root(root, outcome)


def _pairs(options: Any) -> Any:
    return None if options is None else tuple([(name, options[name]) for name in options])


# --- several equations ------------------------------------------------------------------------------------------------


class Optimum:
    """What `root`, `minimize`, `least_squares` and the like give."""

    def __init__(self, x: Any, outcome: Any, value: Any) -> None:
        self.x = x
        self._outcome = outcome
        self._value = value

    @property
    def fun(self) -> Any:
        return self._value(self.x)

    @property
    def success(self) -> Any:
        return self._outcome.success

    @property
    def status(self) -> Any:
        return self._outcome.status

    @property
    def message(self) -> Any:
        return self._outcome.message

    @property
    def nfev(self) -> Any:
        return self._outcome.nfev

    @property
    def nit(self) -> Any:
        return self._outcome.nit


@defines(optimize.root)
def root(
    fun: Any, x0: Any, args: Any = (), method: Any = "hybr", jac: Any = None, tol: Any = None, callback: Any = None,
    options: Any = None,
) -> Any:  # fmt: skip
    if callback is not None:
        refuse("scipy.optimize.root with a callback", "leave it out")
    args = _tuple(args)
    x0 = np.asarray(x0)
    if jac is True:
        refuse("scipy.optimize.root with jac=True", "let the function give the residual only, and pass jac as another")
    residual, captured = lifted(fun, 1 + len(args), 0)
    settings = (
        ("args", args),
        ("method", method),
        ("jac", _handed(jac, args)),
        ("tol", tol),
        ("options", _pairs(options)),
    )
    outcome = optimum(optimize.root, (closed(residual, *captured), x0), settings)
    x = implicit(residual, len(captured), None, vector_of(outcome, "x"), *captured, *args)
    return Optimum(x, outcome, lambda x: fun(x, *args))


@defines(optimize.fsolve)
def fsolve(
    func: Any, x0: Any, args: Any = (), fprime: Any = None, full_output: Any = 0, col_deriv: Any = 0,
    xtol: Any = 1.49012e-8, maxfev: Any = 0, band: Any = None, epsfcn: Any = None, factor: Any = 100, diag: Any = None,
) -> Any:  # fmt: skip
    if full_output or col_deriv:
        refuse("scipy.optimize.fsolve with full_output or col_deriv", "use scipy.optimize.root")
    args = _tuple(args)
    x0 = np.atleast_1d(x0)
    residual, captured = lifted(func, 1 + len(args), 0)
    settings = (
        ("args", args), ("fprime", _handed(fprime, args)), ("xtol", xtol), ("maxfev", maxfev), ("band", band),
        ("epsfcn", epsfcn), ("factor", factor), ("diag", diag),
    )  # fmt: skip
    found = vector_of(optimum(optimize.fsolve, (closed(residual, *captured), x0), settings), None)
    return implicit(residual, len(captured), None, found, *captured, *args)


def _held(x: Any, low: Any, high: Any) -> Any:
    """A solution within bounds, of which what lies on a bound moves with it; and which elements lie on none."""
    low, high = np.asarray(low) * 1.0, np.asarray(high) * 1.0
    side = sides(x, low, high)
    # The bounds themselves may be infinite, so only those that hold are looked at.
    first, last = np.where(side < 0, low, 0.0), np.where(side > 0, high, 0.0)
    return x + (first - constant(first)) + (last - constant(last)), side == 0


# --- minima -----------------------------------------------------------------------------------------------------------


@defines(optimize.minimize)
def minimize(
    fun: Any, x0: Any, args: Any = (), method: Any = None, jac: Any = None, hess: Any = None, hessp: Any = None,
    bounds: Any = None, constraints: Any = (), tol: Any = None, callback: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    if len(constraints) > 0:
        refuse(
            "scipy.optimize.minimize with constraints", "eliminate them, or solve the conditions of Lagrange by root"
        )
    if callback is not None or jac is True:
        refuse("scipy.optimize.minimize with callback or jac=True", "pass the gradient as a function of its own")
    args = _tuple(args)
    x0 = np.atleast_1d(np.asarray(x0))
    objective, captured = lifted(fun, 1 + len(args), "number")
    settings = (
        ("args", args), ("method", method), ("jac", _handed(jac, args)), ("hess", _handed(hess, args)),
        ("hessp", hessp), ("bounds", bounds), ("tol", tol), ("options", _pairs(options)),
    )  # fmt: skip
    outcome = optimum(optimize.minimize, (closed(objective, *captured), x0), settings)
    found, free = vector_of(outcome, "x"), None
    if bounds is not None:
        if isinstance(bounds, optimize.Bounds):
            low, high = bounds.lb, bounds.ub
        else:
            low = [-np.inf if pair[0] is None else pair[0] for pair in bounds]
            high = [np.inf if pair[1] is None else pair[1] for pair in bounds]
        found, free = _held(found, low, high)
    slope = derived(objective, "pullback", len(captured))
    x = implicit(slope, len(captured) + 1, free, found, 1.0, *captured, *args)
    return Optimum(x, outcome, lambda x: fun(x, *args))


@defines(optimize.minimize_scalar)
def minimize_scalar(
    fun: Any, bracket: Any = None, bounds: Any = None, args: Any = (), method: Any = None, tol: Any = None,
    options: Any = None,
) -> Any:  # fmt: skip
    args = _tuple(args)
    objective, captured = lifted(fun, 1 + len(args), "number")
    settings = (
        ("bracket", None if bracket is None else tuple(bracket)), ("bounds", None if bounds is None else tuple(bounds)),
        ("args", args), ("method", method), ("tol", tol), ("options", _pairs(options)),
    )  # fmt: skip
    outcome = optimum(optimize.minimize_scalar, (closed(objective, *captured),), settings)
    slope = derived(objective, "pullback", len(captured))
    x = implicit(slope, len(captured) + 1, None, number_of(outcome, "x"), 1.0, *captured, *args)
    return Optimum(x, outcome, lambda x: fun(x, *args))


@defines(optimize.least_squares)
def least_squares(
    fun: Any, x0: Any, jac: Any = "2-point", bounds: Any = None, method: Any = "trf", ftol: Any = 1e-8,
    xtol: Any = 1e-8, gtol: Any = 1e-8, x_scale: Any = None, loss: Any = "linear", f_scale: Any = 1.0,
    diff_step: Any = None, tr_solver: Any = None, tr_options: Any = None, jac_sparsity: Any = None,
    max_nfev: Any = None, verbose: Any = 0, args: Any = (), kwargs: Any = None, callback: Any = None,
) -> Any:  # fmt: skip
    if loss != "linear" or kwargs or callback is not None:
        refuse("scipy.optimize.least_squares with loss, kwargs or a callback", "use scipy.optimize.minimize")
    args = _tuple(args)
    x0 = np.atleast_1d(np.asarray(x0))
    residuals, captured = lifted(fun, 1 + len(args))
    settings = (
        ("jac", _handed(jac, args)), ("bounds", bounds), ("method", method), ("ftol", ftol), ("xtol", xtol),
        ("gtol", gtol), ("x_scale", x_scale), ("diff_step", diff_step), ("max_nfev", max_nfev), ("args", args),
    )  # fmt: skip
    outcome = optimum(optimize.least_squares, (closed(residuals, *captured), x0), settings)
    found, free = vector_of(outcome, "x"), None
    if bounds is not None:
        low, high = bounds
        found, free = _held(found, low, high)
    slope = derived(derived(residuals, "half_square"), "pullback", len(captured))
    x = implicit(slope, len(captured) + 1, free, found, 1.0, *captured, *args)
    return LeastSquares(x, outcome, lambda x: np.atleast_1d(fun(x, *args)))


class LeastSquares(Optimum):
    """What `least_squares` gives."""

    @property
    def cost(self) -> Any:
        return 0.5 * np.sum(self.fun**2)


@defines(optimize.leastsq)
def leastsq(
    func: Any, x0: Any, args: Any = (), Dfun: Any = None, full_output: Any = False, col_deriv: Any = False,
    ftol: Any = 1.49012e-8, xtol: Any = 1.49012e-8, gtol: Any = 0.0, maxfev: Any = 0, epsfcn: Any = None,
    factor: Any = 100, diag: Any = None,
) -> Any:  # fmt: skip
    if full_output or col_deriv:
        refuse("scipy.optimize.leastsq with full_output or col_deriv", "use scipy.optimize.least_squares")
    args = _tuple(args)
    x0 = np.atleast_1d(np.asarray(x0))
    residuals, captured = lifted(func, 1 + len(args))
    settings = (
        ("args", args), ("Dfun", _handed(Dfun, args)), ("ftol", ftol), ("xtol", xtol), ("gtol", gtol),
        ("maxfev", maxfev), ("epsfcn", epsfcn), ("factor", factor), ("diag", diag),
    )  # fmt: skip
    outcome = optimum(optimize.leastsq, (closed(residuals, *captured), x0), settings)
    slope = derived(derived(residuals, "half_square"), "pullback", len(captured))
    x = implicit(slope, len(captured) + 1, None, vector_of(outcome, 0), 1.0, *captured, *args)
    return x, int(number_of(outcome, 1))


@defines(optimize.curve_fit)
def curve_fit(
    f: Any, xdata: Any, ydata: Any, p0: Any = None, sigma: Any = None, absolute_sigma: Any = False,
    check_finite: Any = None, bounds: Any = None, method: Any = None, jac: Any = None, *, full_output: Any = False,
    nan_policy: Any = None, **kwargs: Any,
) -> Any:  # fmt: skip
    if p0 is None:
        refuse("scipy.optimize.curve_fit without p0", "give the start, with a number for each parameter")
    if full_output or bounds is not None or nan_policy is not None:
        refuse("scipy.optimize.curve_fit with full_output, bounds or nan_policy", "use scipy.optimize.least_squares")
    if sigma is not None and np.ndim(sigma) > 1:
        refuse("scipy.optimize.curve_fit with a matrix for sigma", "use scipy.optimize.least_squares")
    p0 = np.atleast_1d(np.asarray(p0))
    ydata = np.asarray(ydata)
    weights = None if sigma is None else 1.0 / np.asarray(sigma)
    # SciPy is given the model and the data; what is minimised stands beside it.
    places = list(range(np.shape(p0)[0]))
    model, read = lifted(lambda p: f(xdata, *[p[k] for k in places]), 1)
    if weights is None:
        residuals, captured = lifted(lambda p: f(xdata, *[p[k] for k in places]) - ydata, 1)
    else:
        residuals, captured = lifted(lambda p: weights * (f(xdata, *[p[k] for k in places]) - ydata), 1)
    settings = (
        ("p0", p0), ("sigma", sigma), ("absolute_sigma", absolute_sigma), ("method", method), ("jac", jac),
        *[(name, kwargs[name]) for name in kwargs],
    )  # fmt: skip
    outcome = fitted(closed(model, *read), np.shape(p0)[0], ydata, settings)
    slope = derived(derived(residuals, "half_square"), "pullback", len(captured))
    x = implicit(slope, len(captured) + 1, None, vector_of(outcome, 0), 1.0, *captured)
    return x, covariance_of(outcome, x)
