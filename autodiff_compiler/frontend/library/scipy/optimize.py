"""`scipy.optimize`: solutions of equations and minima, by the implicit function theorem.

SciPy solves the problem once, with the user's function as it is. The solution then depends on what the function reads:
`implicit` says on what equation it rests. For a minimum this is that the gradient is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from ....kernels.callbacks import attained, closed, implicit, number_of, vector_of
from ....kernels.scipy.optimize import (
    active_of,
    blocks_of,
    complementary,
    detail_of,
    edge_of,
    fitted,
    held_by_bounds,
    multipliers_of,
    optimum,
    part_of,
    sides,
)
from ....runtime import constant
from ...definitions import defines, derived, lifted, refuse
from .outcomes import Outcome


def _tuple(args: Any) -> Any:
    """The further arguments where SciPy takes what is no tuple for one argument."""
    return args if isinstance(args, tuple) else (args,)


def _handed(fun: Any, args: Any) -> Any:
    """A function that SciPy calls beside the one that is solved for: a derivative, say."""
    if fun is None or isinstance(fun, (bool, str)):
        return fun
    other, captured = lifted(fun, 1 + len(args))
    return closed(other, *captured)


def _pairs(options: Any) -> Any:
    return None if options is None else tuple([(name, options[name]) for name in options])


# --- one equation -----------------------------------------------------------------------------------------------------


class Root(Outcome):
    """What `root_scalar` gives, and what the others give with `full_output`."""

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


def _root_of(solver: Any, f: Any, start: Any, args: Any, full_output: Any, settings: Any) -> Any:
    """The root that a solver finds, alone or with what it says of it."""
    fun, captured = lifted(f, 1 + len(args), "number")
    if full_output:
        found = optimum(solver, (closed(fun, *captured), *start), (*settings, ("args", args), ("full_output", True)))
        root = implicit(fun, len(captured), None, number_of(found, 0), *captured, *args)
        return root, Root(root, part_of(found, 1))
    found = optimum(solver, (closed(fun, *captured), *start), (*settings, ("args", args)))
    return implicit(fun, len(captured), None, number_of(found, None), *captured, *args)


def _bracketed(solver: Any, name: Any) -> Any:
    def find(
        f: Any, a: Any, b: Any, args: Any = (), xtol: Any = None, rtol: Any = None, maxiter: Any = None,
        full_output: Any = False, disp: Any = True,
    ) -> Any:  # fmt: skip
        settings = (("xtol", xtol), ("rtol", rtol), ("maxiter", maxiter), ("disp", disp))
        return _root_of(solver, f, (a, b), _tuple(args), full_output, settings)

    return find


for _name in ("brentq", "brenth", "ridder", "bisect"):
    defines(getattr(optimize, _name))(_bracketed(getattr(optimize, _name), _name))


@defines(optimize.toms748)
def toms748(
    f: Any, a: Any, b: Any, args: Any = (), k: Any = 1, xtol: Any = None, rtol: Any = None, maxiter: Any = None,
    full_output: Any = False, disp: Any = True,
) -> Any:  # fmt: skip
    settings = (("k", k), ("xtol", xtol), ("rtol", rtol), ("maxiter", maxiter), ("disp", disp))
    return _root_of(optimize.toms748, f, (a, b), _tuple(args), full_output, settings)


@defines(optimize.newton)
def newton(
    func: Any, x0: Any, fprime: Any = None, args: Any = (), tol: Any = 1.48e-8, maxiter: Any = 50, fprime2: Any = None,
    x1: Any = None, rtol: Any = 0.0, full_output: Any = False, disp: Any = True,
) -> Any:  # fmt: skip
    args = tuple(args)  # SciPy unpacks any sequence here
    settings = (
        ("fprime", _handed(fprime, args)), ("tol", tol), ("maxiter", maxiter), ("fprime2", _handed(fprime2, args)),
        ("x1", x1), ("rtol", rtol), ("disp", disp),
    )  # fmt: skip
    if np.ndim(x0) == 0:
        return _root_of(optimize.newton, func, (x0,), args, full_output, settings)
    if full_output or np.ndim(x0) > 1:
        refuse("scipy.optimize.newton of an array with full_output, or of a matrix", "solve for an array of one axis")
    x0 = np.asarray(x0)
    fun, captured = lifted(func, 1 + len(args), 0)
    found = optimum(optimize.newton, (closed(fun, *captured), x0), (*settings, ("args", args)))
    return implicit(fun, len(captured), None, vector_of(found, None), *captured, *args)


@defines(optimize.fixed_point)
def fixed_point(func: Any, x0: Any, args: Any = (), xtol: Any = 1e-8, maxiter: Any = 500, method: Any = "del2") -> Any:
    args = tuple(args)  # SciPy unpacks any sequence here
    settings = (("args", args), ("xtol", xtol), ("maxiter", maxiter), ("method", method))
    away = lambda x, *more: func(x, *more) - x
    if np.ndim(x0) == 0:
        mapped, read = lifted(func, 1 + len(args), "number")
        fun, captured = lifted(away, 1 + len(args), "number")
        found = number_of(optimum(optimize.fixed_point, (closed(mapped, *read), x0), settings), None)
        return implicit(fun, len(captured), None, found, *captured, *args)
    if np.ndim(x0) > 1:
        refuse("scipy.optimize.fixed_point of a matrix", "solve for an array of one axis")
    mapped, read = lifted(func, 1 + len(args), 0)
    fun, captured = lifted(away, 1 + len(args), 0)
    point = vector_of(optimum(optimize.fixed_point, (closed(mapped, *read), np.asarray(x0)), settings), None)
    return implicit(fun, len(captured), None, point, *captured, *args)


@defines(optimize.root_scalar)
def root_scalar(
    f: Any, args: Any = (), method: Any = None, bracket: Any = None, fprime: Any = None, fprime2: Any = None,
    x0: Any = None, x1: Any = None, xtol: Any = None, rtol: Any = None, maxiter: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    args = _tuple(args)
    # With fprime=True the function gives its derivative, too.
    several = fprime is True or fprime2 is True
    given, read = lifted(f, 1 + len(args))
    settings = (
        ("args", args), ("method", method), ("bracket", None if bracket is None else tuple(bracket)),
        ("fprime", _handed(fprime, args)), ("fprime2", _handed(fprime2, args)), ("x0", x0), ("x1", x1), ("xtol", xtol),
        ("rtol", rtol), ("maxiter", maxiter), ("options", _pairs(options)),
    )  # fmt: skip
    outcome = optimum(optimize.root_scalar, (closed(given, *read),), settings)
    first = (lambda t, *more: f(t, *more)[0]) if several else f
    fun, captured = lifted(first, 1 + len(args), "number")
    root = implicit(fun, len(captured), None, number_of(outcome, "root"), *captured, *args)
    return Root(root, outcome)


# --- several equations ------------------------------------------------------------------------------------------------


class Optimum(Outcome):
    """What `root`, `minimize`, `least_squares` and the like give."""

    __autodiff_open__ = True  # it takes any attribute, as SciPy's does

    def __init__(self, x: Any, outcome: Any, value: Any) -> None:
        self.x = x
        self._outcome = outcome
        self.fun = value


def _number_at(fun: Any, x: Any, outcome: Any) -> Any:
    """The number that a function is at a solution, for what the function reads at the time of the solve."""
    alone, captured = lifted(fun, 1, "number")
    return attained(alone, number_of(outcome, "fun"), *captured, x)


def _vector_at(fun: Any, x: Any, outcome: Any) -> Any:
    """The same for a function whose result is a vector."""
    alone, captured = lifted(lambda w: np.ravel(np.asarray(fun(w))), 1)
    return attained(alone, vector_of(outcome, "fun"), *captured, x)


@defines(optimize.root)
def root(
    fun: Any, x0: Any, args: Any = (), method: Any = "hybr", jac: Any = None, tol: Any = None, callback: Any = None,
    options: Any = None,
) -> Any:  # fmt: skip
    if callback is not None:
        refuse("scipy.optimize.root with a callback", "leave it out")
    args = _tuple(args)
    x0 = np.asarray(x0)
    given, read = lifted(fun, 1 + len(args))
    settings = (
        ("args", args), ("method", method), ("jac", _handed(jac, args)), ("tol", tol), ("options", _pairs(options)),
    )  # fmt: skip
    outcome = optimum(optimize.root, (closed(given, *read), x0), settings)
    first = (lambda x, *more: fun(x, *more)[0]) if jac is True else fun
    residual, captured = lifted(first, 1 + len(args), 0)
    x = implicit(residual, len(captured), None, vector_of(outcome, "x"), *captured, *args)
    return Optimum(x, outcome, _vector_at(lambda x: first(x, *args), x, outcome))


@defines(optimize.fsolve)
def fsolve(
    func: Any, x0: Any, args: Any = (), fprime: Any = None, full_output: Any = 0, col_deriv: Any = 0,
    xtol: Any = 1.49012e-8, maxfev: Any = 0, band: Any = None, epsfcn: Any = None, factor: Any = 100, diag: Any = None,
) -> Any:  # fmt: skip
    args = _tuple(args)
    x0 = np.atleast_1d(x0)
    residual, captured = lifted(func, 1 + len(args), 0)
    settings = (
        ("args", args), ("fprime", _handed(fprime, args)), ("xtol", xtol), ("maxfev", maxfev), ("band", band),
        ("epsfcn", epsfcn), ("factor", factor), ("diag", diag), ("col_deriv", col_deriv),
        ("full_output", 1 if full_output else None),
    )  # fmt: skip
    outcome = optimum(optimize.fsolve, (closed(residual, *captured), x0), settings)
    found = vector_of(outcome, 0 if full_output else None)
    x = implicit(residual, len(captured), None, found, *captured, *args)
    if full_output:
        return x, detail_of(outcome, 1, x), int(number_of(outcome, 2)), part_of(outcome, 3)
    return x


def _held(x: Any, low: Any, high: Any) -> Any:
    """A solution within bounds, of which what lies on a bound moves with it; and which elements lie on none."""
    low, high = np.asarray(low) * 1.0, np.asarray(high) * 1.0
    side = sides(x, low, high)
    # The bounds themselves may be infinite, so only those that hold are looked at.
    first, last = np.where(side < 0, low, 0.0), np.where(side > 0, high, 0.0)
    return x + (first - constant(first)) + (last - constant(last)), side


def _limits(bounds: Any) -> Any:
    """Bounds as two arrays or numbers."""
    if hasattr(bounds, "lb"):
        return bounds.lb, bounds.ub
    low = [-np.inf if pair[0] is None else pair[0] for pair in bounds]
    return low, [np.inf if pair[1] is None else pair[1] for pair in bounds]


# --- minima -----------------------------------------------------------------------------------------------------------


class Limits:
    """`Bounds` that the function makes."""

    def __init__(self, lb: Any, ub: Any, keep_feasible: Any) -> None:
        self.lb = lb
        self.ub = ub
        self.keep_feasible = keep_feasible


class Linear:
    """A `LinearConstraint` that the function makes."""

    def __init__(self, A: Any, lb: Any, ub: Any, keep_feasible: Any) -> None:
        self.A = A
        self.lb = lb
        self.ub = ub
        self.keep_feasible = keep_feasible


class Nonlinear:
    """A `NonlinearConstraint` that the function makes."""

    def __init__(self, fun: Any, lb: Any, ub: Any, jac: Any, hess: Any, keep_feasible: Any) -> None:
        self.fun = fun
        self.lb = lb
        self.ub = ub
        self.jac = jac
        self.hess = hess
        self.keep_feasible = keep_feasible


@defines(optimize.Bounds)
def bounds(lb: Any = -np.inf, ub: Any = np.inf, keep_feasible: Any = False) -> Any:
    return Limits(lb, ub, keep_feasible)


@defines(optimize.LinearConstraint)
def linear_constraint(A: Any, lb: Any = -np.inf, ub: Any = np.inf, keep_feasible: Any = False) -> Any:
    return Linear(A, lb, ub, keep_feasible)


@defines(optimize.NonlinearConstraint)
def nonlinear_constraint(
    fun: Any, lb: Any, ub: Any, jac: Any = "2-point", hess: Any = None, keep_feasible: Any = False,
    finite_diff_rel_step: Any = None, finite_diff_jac_sparsity: Any = None,
) -> Any:  # fmt: skip
    return Nonlinear(fun, lb, ub, jac, hess, keep_feasible)


def _constraint(given: Any) -> Any:
    """A constraint: a function, its least and its largest value, and what the solver is given."""
    if isinstance(given, dict):
        args = _tuple(given["args"]) if "args" in given else ()
        fun, jac, kind = given["fun"], given.get("jac", None), given["type"]
        if kind != "eq" and kind != "ineq":
            raise ValueError(f"Unknown constraint type '{kind}'.")
        value = lambda w: fun(w, *args)
        slope = _handed(lambda w: jac(w, *args), ()) if callable(jac) else None
        return value, 0.0, 0.0 if kind == "eq" else np.inf, (kind, _handed(value, ()), None, None, slope, None)
    if hasattr(given, "A"):
        handed = ("linear", given.A, given.lb, given.ub, None, None)
        return (lambda w: np.dot(given.A, w)), given.lb, given.ub, handed
    jac, hess = given.jac, given.hess
    if callable(jac):
        jac = _handed(jac, ())
    if callable(hess):
        hess = _handed(hess, (0.0,))
    return given.fun, given.lb, given.ub, ("nonlinear", _handed(given.fun, ()), given.lb, given.ub, jac, hess)


def _values(constraints: Any, w: Any) -> Any:
    """The values of all constraints, one after the other."""
    return np.concatenate([np.ravel(np.asarray(constraint[0](w))) * 1.0 for constraint in constraints])


def _stationary(objective: Any, found: Any, limits: Any, constraints: Any) -> Any:
    """The minimum of a function within bounds and constraints, as a function of what these read.

    It solves the equations of Karush, Kuhn and Tucker for what holds at the solution `found`: the slope of the
    objective is a sum of slopes of the active constraints, times multipliers.
    (Fiacco, Introduction to Sensitivity and Stability Analysis in Nonlinear Programming (1983), section 3.2.)
    """
    side = None
    if limits is not None:
        found, side = _held(found, limits[0], limits[1])
    if len(constraints) == 0:
        fun, captured = lifted(objective, 1, "number")
        slope = derived(fun, "pullback", len(captured))
        free = None if side is None else side == 0
        if side is not None:
            found = complementary(found, closed(slope, 1.0, *captured), side)
        return implicit(slope, len(captured) + 1, free, found, 1.0, *captured)
    at_solution = constant(_values(constraints, found))
    lows = np.concatenate([np.zeros(np.size(c[0](found))) + c[1] for c in constraints])
    highs = np.concatenate([np.zeros(np.size(c[0](found))) + c[2] for c in constraints])
    active, which = active_of(at_solution, lows, highs)
    edges = np.where(which < 0, lows[active], highs[active])
    n = np.shape(found)[0]

    def lagrangian(z: Any) -> Any:
        return objective(z[:n]) - np.dot(z[n:], _values(constraints, z[:n])[active] - edges)

    fun, captured = lifted(lagrangian, 1, "number")
    slope = derived(fun, "pullback", len(captured))
    if side is not None:
        side = held_by_bounds(closed(slope, 1.0, *captured), found, side, which)
    multipliers = multipliers_of(closed(slope, 1.0, *captured), found, side, which)
    z = np.concatenate([found, multipliers])
    free = None if side is None else np.concatenate([side == 0, np.ones(np.shape(multipliers)[0], bool)])
    return implicit(slope, len(captured) + 1, free, z, 1.0, *captured)[:n]


@defines(optimize.minimize)
def minimize(
    fun: Any, x0: Any, args: Any = (), method: Any = None, jac: Any = None, hess: Any = None, hessp: Any = None,
    bounds: Any = None, constraints: Any = (), tol: Any = None, callback: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    if callback is not None:
        refuse("scipy.optimize.minimize with a callback", "leave it out")
    args = _tuple(args)
    x0 = np.atleast_1d(np.asarray(x0))
    several = isinstance(constraints, (list, tuple))
    held = tuple([_constraint(c) for c in (constraints if several else (constraints,))])
    given, read = lifted(fun, 1 + len(args))
    product = None
    if hessp is not None:
        along, read_along = lifted(hessp, 2 + len(args))
        product = closed(along, *read_along)
    limits = None if bounds is None else _limits(bounds)
    settings = (
        ("args", args), ("method", method), ("jac", _handed(jac, args)), ("hess", _handed(hess, args)),
        ("hessp", product), ("bounds", limits),
        ("constraints", tuple([c[3] for c in held]) if len(held) > 0 else None),
        ("tol", tol), ("options", _pairs(options)),
    )  # fmt: skip
    outcome = optimum(optimize.minimize, (closed(given, *read), x0), settings)
    objective = (lambda w: fun(w, *args)[0]) if jac is True else (lambda w: fun(w, *args))
    x = _stationary(objective, vector_of(outcome, "x"), limits, held)
    return Optimum(x, outcome, _number_at(objective, x, outcome))


@defines(optimize.linprog)
def linprog(
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None, bounds: Any = (0, None),
    method: Any = "highs", callback: Any = None, options: Any = None, x0: Any = None, integrality: Any = None,
) -> Any:  # fmt: skip
    if callback is not None or integrality is not None:
        refuse(
            "scipy.optimize.linprog with integrality or a callback",
            "leave them out: the solution in whole numbers does not move with the data, but jumps",
        )
    c = np.asarray(c) * 1.0
    held: Any = ()
    if A_ub is not None:
        held = (*held, (lambda w: b_ub - np.dot(A_ub, w), 0.0, np.inf))
    if A_eq is not None:
        held = (*held, (lambda w: np.dot(A_eq, w) - b_eq, 0.0, 0.0))
    if len(bounds) == 2 and not isinstance(bounds[0], (tuple, list, np.ndarray)):
        limits: Any = (-np.inf if bounds[0] is None else bounds[0], np.inf if bounds[1] is None else bounds[1])
    else:
        limits = _limits(bounds)
    settings = (
        ("A_ub", A_ub), ("b_ub", b_ub), ("A_eq", A_eq), ("b_eq", b_eq), ("bounds", limits), ("method", method),
        ("options", _pairs(options)), ("x0", x0),
    )  # fmt: skip
    outcome = optimum(optimize.linprog, (c,), settings)
    objective = lambda w: np.dot(c, w)
    x = _stationary(objective, vector_of(outcome, "x"), limits, held)
    return Optimum(x, outcome, _number_at(objective, x, outcome))


@defines(optimize.milp)
def milp(c: Any, integrality: Any = None, bounds: Any = None, constraints: Any = None, options: Any = None) -> Any:
    refuse("scipy.optimize.milp", "its solution in whole numbers does not move with the data, but jumps; use linprog")


def _global(solver: Any, func: Any, first: Any, bounds: Any, args: Any, options: Any) -> Any:
    """What a solver finds that looks everywhere. Its result is differentiated as a minimum near which it is."""
    for name in options:
        if name in ("constraints", "callback", "integrality", "vectorized", "take_step", "accept_test"):
            refuse(f"scipy.optimize.{solver.__name__} with {name}", "leave it out, or use scipy.optimize.minimize")
    kwargs = options.get("minimizer_kwargs", {})
    for name in kwargs:
        if name != "method" and name != "tol" and name != "options":
            refuse(
                f"scipy.optimize.{solver.__name__} with minimizer_kwargs that hold {name!r}",
                "put what the function needs into the function",
            )
    args = tuple(args)  # SciPy unpacks any sequence here
    objective, captured = lifted(func, 1 + len(args), "number")
    settings = [(name, options[name]) for name in options if name != "minimizer_kwargs"]
    if "minimizer_kwargs" in options:
        pairs = [(name, _pairs(kwargs[name]) if name == "options" else kwargs[name]) for name in kwargs]
        settings = [*settings, ("minimizer_kwargs", tuple(pairs))]
    limits = None if bounds is None else _limits(bounds)
    if bounds is not None:
        settings = [*settings, ("bounds", limits)]
    if len(args) > 0:
        settings = [*settings, ("args", args)]
    outcome = optimum(solver, (closed(objective, *captured), *first), tuple(settings))
    here = lambda w: func(w, *args)
    x = _stationary(here, vector_of(outcome, "x"), limits, ())
    return Optimum(x, outcome, _number_at(here, x, outcome))


def _everywhere(solver: Any) -> Any:
    def find(func: Any, bounds: Any, args: Any = (), **options: Any) -> Any:
        return _global(solver, func, (), bounds, args, options)

    return find


for _solver in (optimize.differential_evolution, optimize.dual_annealing, optimize.shgo):
    defines(_solver)(_everywhere(_solver))


@defines(optimize.basinhopping)
def basinhopping(func: Any, x0: Any, niter: Any = 100, T: Any = 1.0, stepsize: Any = 0.5, **options: Any) -> Any:
    more = {"niter": niter, "T": T, "stepsize": stepsize, **options}
    return _global(optimize.basinhopping, func, (np.atleast_1d(np.asarray(x0)),), None, (), more)


def _simple(solver: Any) -> Any:
    def find(func: Any, x0: Any, fprime: Any = None, args: Any = (), **options: Any) -> Any:
        for name in options:
            if name in ("full_output", "retall", "callback", "initial_simplex"):
                refuse(f"scipy.optimize.{solver.__name__} with {name}", "use scipy.optimize.minimize")
        args = _tuple(args)
        objective, captured = lifted(func, 1 + len(args), "number")
        settings = [("fprime", _handed(fprime, args)), ("args", args), *[(name, options[name]) for name in options]]
        x0 = np.atleast_1d(np.asarray(x0))
        found = vector_of(optimum(solver, (closed(objective, *captured), x0), tuple(settings)), None)
        return _stationary(lambda w: func(w, *args), found, None, ())

    return find


for _solver in (optimize.fmin_bfgs, optimize.fmin_cg):
    defines(_solver)(_simple(_solver))


@defines(optimize.fmin)
def fmin(func: Any, x0: Any, args: Any = (), **options: Any) -> Any:
    return _simple(optimize.fmin)(func, x0, None, args, **options)


class Isotonic(Outcome):
    """What `isotonic_regression` gives."""

    def __init__(self, x: Any, weights: Any, blocks: Any) -> None:
        self.x = x
        self.weights = weights
        self.blocks = blocks


@defines(optimize.isotonic_regression)
def isotonic_regression(y: Any, weights: Any = None, increasing: Any = True) -> Any:
    y = np.asarray(y) * 1.0
    first = blocks_of(y, weights, increasing)
    each = np.ones_like(y) if weights is None else np.asarray(weights) * 1.0
    sums = np.add.reduceat(each, first[:-1])
    means = np.add.reduceat(each * y, first[:-1]) / sums
    return Isotonic(np.repeat(means, np.diff(first)), sums, first)


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
    here = lambda x: fun(x, *args)
    alone, read = lifted(here, 1, "number")
    slope = derived(alone, "pullback", len(read))
    found = number_of(outcome, "x")
    if bounds is not None:
        low, high = bounds
        edge = edge_of(closed(slope, 1.0, *read), found, low, high)
        if edge != 0:
            bound = low if edge < 0 else high
            x = found + (bound - constant(bound))
            return Optimum(x, outcome, _number_at(here, x, outcome))
    x = implicit(slope, len(read) + 1, None, found, 1.0, *read)
    return Optimum(x, outcome, _number_at(here, x, outcome))


class LeastSquares(Optimum):
    """What `least_squares` gives."""

    def __init__(self, x: Any, outcome: Any, value: Any) -> None:
        self.x = x
        self._outcome = outcome
        self.fun = value
        self.cost = 0.5 * np.sum(value**2)


@defines(optimize.least_squares)
def least_squares(
    fun: Any, x0: Any, jac: Any = "2-point", bounds: Any = None, method: Any = "trf", ftol: Any = 1e-8,
    xtol: Any = 1e-8, gtol: Any = 1e-8, x_scale: Any = None, loss: Any = "linear", f_scale: Any = 1.0,
    diff_step: Any = None, tr_solver: Any = None, tr_options: Any = None, jac_sparsity: Any = None,
    max_nfev: Any = None, verbose: Any = 0, args: Any = (), kwargs: Any = None, callback: Any = None,
) -> Any:  # fmt: skip
    if loss != "linear" or kwargs or callback is not None:
        refuse("scipy.optimize.least_squares with loss, kwargs or a callback", "use scipy.optimize.minimize")
    args = tuple(args)  # SciPy unpacks any sequence here
    x0 = np.atleast_1d(np.asarray(x0))
    residuals, captured = lifted(fun, 1 + len(args))
    settings = (
        ("jac", _handed(jac, args)),
        ("bounds", _two(bounds)),
        ("method", method), ("ftol", ftol), ("xtol", xtol),
        ("gtol", gtol), ("x_scale", x_scale), ("diff_step", diff_step), ("max_nfev", max_nfev), ("args", args),
    )  # fmt: skip
    outcome = optimum(optimize.least_squares, (closed(residuals, *captured), x0), settings)
    here = lambda w: np.atleast_1d(fun(w, *args))
    x = _least(here, vector_of(outcome, "x"), _two(bounds))
    return LeastSquares(x, outcome, _vector_at(here, x, outcome))


def _two(bounds: Any) -> Any:
    """Bounds as a pair, as the solvers of least squares take them."""
    return bounds if bounds is None or not hasattr(bounds, "lb") else (bounds.lb, bounds.ub)


def _least(fun: Any, found: Any, limits: Any) -> Any:
    """The minimum of the sum of squares within limits."""
    residuals, captured = lifted(fun, 1)
    slope = derived(derived(residuals, "half_square"), "pullback", len(captured))
    free = None
    if limits is not None:
        found, side = _held(found, limits[0], limits[1])
        found = complementary(found, closed(slope, 1.0, *captured), side)
        free = side == 0
    return implicit(slope, len(captured) + 1, free, found, 1.0, *captured)


@defines(optimize.lsq_linear)
def lsq_linear(
    A: Any, b: Any, bounds: Any = None, method: Any = "trf", tol: Any = 1e-10, lsq_solver: Any = None,
    lsmr_tol: Any = None, max_iter: Any = None, verbose: Any = 0, lsmr_maxiter: Any = None,
) -> Any:  # fmt: skip
    away = lambda w: np.dot(A, w) - b
    settings = (
        ("bounds", _two(bounds)),
        ("method", method), ("tol", tol), ("lsq_solver", lsq_solver), ("lsmr_tol", lsmr_tol), ("max_iter", max_iter),
        ("lsmr_maxiter", lsmr_maxiter),
    )  # fmt: skip
    outcome = optimum(optimize.lsq_linear, (A, b), settings)
    x = _least(away, vector_of(outcome, "x"), _two(bounds))
    return LeastSquares(x, outcome, _vector_at(away, x, outcome))


@defines(optimize.nnls)
def nnls(A: Any, b: Any, maxiter: Any = None, atol: Any = None) -> Any:
    outcome = optimum(optimize.nnls, (A, b), (("maxiter", maxiter),))
    x = _least(lambda w: np.dot(A, w) - b, vector_of(outcome, 0), (0.0, np.inf))
    return x, np.sqrt(np.sum((np.dot(A, x) - b) ** 2))


@defines(optimize.leastsq)
def leastsq(
    func: Any, x0: Any, args: Any = (), Dfun: Any = None, full_output: Any = False, col_deriv: Any = False,
    ftol: Any = 1.49012e-8, xtol: Any = 1.49012e-8, gtol: Any = 0.0, maxfev: Any = 0, epsfcn: Any = None,
    factor: Any = 100, diag: Any = None,
) -> Any:  # fmt: skip
    args = _tuple(args)
    x0 = np.atleast_1d(np.asarray(x0))
    residuals, captured = lifted(func, 1 + len(args))
    settings = (
        ("args", args), ("Dfun", _handed(Dfun, args)), ("ftol", ftol), ("xtol", xtol), ("gtol", gtol),
        ("maxfev", maxfev), ("epsfcn", epsfcn), ("factor", factor), ("diag", diag), ("col_deriv", col_deriv),
        ("full_output", True if full_output else None),
    )  # fmt: skip
    outcome = optimum(optimize.leastsq, (closed(residuals, *captured), x0), settings)
    x = _least(lambda w: func(w, *args), vector_of(outcome, 0), None)
    if full_output:
        return x, detail_of(outcome, 1, x), detail_of(outcome, 2, x), part_of(outcome, 3), int(number_of(outcome, 4))
    return x, int(number_of(outcome, 1))


@defines(optimize.curve_fit)
def curve_fit(
    f: Any, xdata: Any, ydata: Any, p0: Any = None, sigma: Any = None, absolute_sigma: Any = False,
    check_finite: Any = None, bounds: Any = None, method: Any = None, jac: Any = None, *, full_output: Any = False,
    nan_policy: Any = None, **kwargs: Any,
) -> Any:  # fmt: skip
    if p0 is None:
        refuse("scipy.optimize.curve_fit without p0", "give the start, with a number for each parameter")
    if nan_policy is not None or callable(jac):
        refuse("scipy.optimize.curve_fit with nan_policy or a function for jac", "use scipy.optimize.least_squares")
    p0 = np.atleast_1d(np.asarray(p0))
    ydata = np.asarray(ydata)
    # SciPy is given the model and the data; what is minimised stands beside it.
    places = list(range(np.shape(p0)[0]))
    away: Any = lambda p: f(xdata, *[p[k] for k in places]) - ydata
    model, read = lifted(lambda p: f(xdata, *[p[k] for k in places]), 1)
    if sigma is None:
        scaled = away
    elif np.ndim(sigma) == 1:
        weights = 1.0 / np.asarray(sigma)
        scaled = lambda p: weights * away(p)
    else:
        factor = np.linalg.cholesky(np.asarray(sigma))
        scaled = lambda p: np.linalg.solve(factor, away(p))
    limits = _two(bounds)
    settings = (
        ("p0", p0), ("sigma", sigma), ("absolute_sigma", absolute_sigma), ("method", method), ("jac", jac),
        ("bounds", limits), ("full_output", True if full_output else None), *[(name, kwargs[name]) for name in kwargs],
    )  # fmt: skip
    outcome = fitted(closed(model, *read), np.shape(p0)[0], ydata, settings)
    found = vector_of(outcome, 0)
    if limits is not None:
        limits = (np.zeros_like(found) + limits[0], np.zeros_like(found) + limits[1])
    x = _least(scaled, found, limits)
    if full_output:
        return (x, detail_of(outcome, 1, x), detail_of(outcome, 2, x), part_of(outcome, 3), int(number_of(outcome, 4)))
    return x, detail_of(outcome, 1, x)
