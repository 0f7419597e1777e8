"""`scipy.integrate`: sums over samples, integrals of functions, and differential equations.

`solve_ivp` by an explicit Runge-Kutta method is differentiated through the steps that SciPy takes (the discrete
adjoint): SciPy solves the equation once, and the definition repeats its accepted steps. The lengths of the steps are
constants, but for those of the first and the last one, which end where the interval does. Other methods, and `odeint`,
have the continuous adjoint (`operations.scipy.integrate`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from ....kernels.callbacks import closed, implicit, vector_of
from ....kernels.scipy.integrate import (
    boundary_values,
    dense_polynomial,
    dense_stages,
    ended_by,
    event_times,
    gauss_nodes,
    integral,
    ode_steps,
    reached,
    runge_kutta,
    steps_of,
    steps_taken,
    trajectory,
    unknowns_of,
)
from ....runtime import constant
from ...definitions import defines, known, lifted, refuse
from .outcomes import Outcome


@defines(integrate.quad)
def quad(
    func: Any, a: Any, b: Any, args: Any = (), full_output: Any = 0, epsabs: Any = 1.49e-8, epsrel: Any = 1.49e-8,
    limit: Any = 50, points: Any = None, weight: Any = None, wvar: Any = None, wopts: Any = None, maxp1: Any = 50,
    limlst: Any = 50, complex_func: Any = False,
) -> Any:  # fmt: skip
    if full_output or weight is not None:
        refuse("scipy.integrate.quad with full_output or weight", "leave these out; write the weight into the function")
    if not isinstance(args, tuple):
        args = (args,)
    given = (("epsabs", epsabs, 1.49e-8), ("epsrel", epsrel, 1.49e-8), ("limit", limit, 50), ("points", points, None))
    options = tuple([(name, value) for name, value, default in given if not known(value) or value != default])
    if complex_func:
        real, error = _integral(lambda t, *p: np.real(func(t, *p)), a, b, args, options)
        imaginary, other = _integral(lambda t, *p: np.imag(func(t, *p)), a, b, args, options)
        return real + 1j * imaginary, error + 1j * other
    return _integral(func, a, b, args, options)


def _integral(func: Any, a: Any, b: Any, args: Any, options: Any) -> Any:
    fun, captured = lifted(func, 1 + len(args), "number")
    return integral(fun, len(captured), options, a, b, *captured, *args)


@defines(integrate.dblquad)
def dblquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (), epsabs: Any = 1.49e-8, epsrel: Any = 1.49e-8
) -> Any:
    low = gfun if callable(gfun) else lambda x: gfun
    high = hfun if callable(hfun) else lambda x: hfun

    # SciPy calls this one, so it names functions of SciPy's.
    def over_y(x: Any) -> Any:
        along = lambda y: func(y, x, *args)
        return integrate.quad(along, low(x), high(x), epsabs=epsabs, epsrel=epsrel)[0]

    return integrate.quad(over_y, a, b, epsabs=epsabs, epsrel=epsrel)


@defines(integrate.tplquad)
def tplquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, qfun: Any, rfun: Any, args: Any = (), epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
) -> Any:  # fmt: skip
    low = qfun if callable(qfun) else lambda x, y: qfun
    high = rfun if callable(rfun) else lambda x, y: rfun

    def over_z(y: Any, x: Any) -> Any:
        along = lambda z: func(z, y, x, *args)
        return integrate.quad(along, low(x, y), high(x, y), epsabs=epsabs, epsrel=epsrel)[0]

    return integrate.dblquad(over_z, a, b, gfun, hfun, epsabs=epsabs, epsrel=epsrel)


@defines(integrate.nquad)
def nquad(func: Any, ranges: Any, args: Any = None, opts: Any = None, full_output: Any = False) -> Any:
    if opts is not None or full_output or len(ranges) > 3:
        refuse(
            "scipy.integrate.nquad with opts, full_output or more than three ranges",
            "nest calls of scipy.integrate.quad",
        )
    args = () if args is None else tuple(args)
    # The first range is the innermost one. It may be a function of the variables of the others.
    for k in range(len(ranges) - 1):
        func = _over(func, ranges[k])
    a, b = _range(ranges[-1], args)
    return integrate.quad(func, a, b, args)


def _over(func: Any, limits: Any) -> Any:
    """The integral over the first argument, as a function of the others."""

    def over_first(*others: Any) -> Any:
        a, b = limits(*others) if callable(limits) else limits
        return integrate.quad(lambda x: func(x, *others), a, b)[0]

    return over_first


def _range(limits: Any, args: Any) -> Any:
    return limits(*args) if callable(limits) else limits


@defines(integrate.quad_vec)
def quad_vec(
    f: Any, a: Any, b: Any, epsabs: Any = 1e-200, epsrel: Any = 1e-8, norm: Any = "2", cache_size: Any = 100e6,
    limit: Any = 10000, workers: Any = 1, points: Any = None, quadrature: Any = None, full_output: Any = False, *,
    args: Any = (),
) -> Any:  # fmt: skip
    if full_output or workers != 1:
        refuse("scipy.integrate.quad_vec with full_output or workers", "leave these out")
    args = args if isinstance(args, tuple) else (args,)
    fun, captured = lifted(f, 1 + len(args))
    given = (
        ("epsabs", epsabs, None), ("epsrel", epsrel, None), ("norm", norm, None), ("limit", limit, None),
        ("points", points, None), ("quadrature", quadrature, None),
    )  # fmt: skip
    options = (("vector", True), *[(name, value) for name, value, default in given if value != default])
    value, error = integral(fun, len(captured), options, a, b, *captured, *args)
    # The shape is that of the function at some point of the interval.
    shape = np.shape(f(a if np.isfinite(a) else b if np.isfinite(b) else 0.0, *args))
    return np.reshape(value, shape), error


@defines(integrate.fixed_quad)
def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: Any = 5) -> Any:
    nodes, weights = gauss_nodes(n)
    y = (b - a) * (nodes + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(y, *args), axis=-1), None


@defines(integrate.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    y = np.asarray(y)
    y = np.moveaxis(y, axis, -1)
    if x is None:
        return np.sum(dx * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    x = np.asarray(x)
    steps = np.diff(x) if np.ndim(x) == 1 else np.moveaxis(np.diff(x, axis=axis), axis, -1)
    return np.sum(steps * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)


@defines(integrate.cumulative_trapezoid)
def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None) -> Any:
    y = np.moveaxis(np.asarray(y), axis, -1)
    steps = dx
    if x is not None:
        x = np.asarray(x)
        steps = np.diff(x) if np.ndim(x) == 1 else np.moveaxis(np.diff(x, axis=axis), axis, -1)
    sums = np.cumsum(steps * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        if initial != 0:
            raise ValueError("`initial` must be `None` or `0`.")
        sums = np.concatenate([np.zeros_like(sums[..., :1]), sums], axis=-1)
    return np.moveaxis(sums, -1, axis)


@defines(integrate.simpson)
def simpson(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    y = np.moveaxis(np.asarray(y), axis, -1)
    n = y.shape[-1]
    if x is not None:
        x = np.asarray(x)
        x = x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1)
    if n % 2 == 1:
        return _parabolas(y, x, dx)
    if n == 2:
        h = dx if x is None else x[..., 1] - x[..., 0]
        return 0.5 * h * (y[..., 1] + y[..., 0])
    # With an even number of points, a parabola through the last three serves for the last interval: Cartwright,
    # "Simpson's rule cumulative integration with MS Excel and irregularly-spaced data" (2017), equation 9.
    whole = _parabolas(y[..., :-1], None if x is None else x[..., :-1], dx)
    a = dx if x is None else x[..., -2] - x[..., -3]
    b = dx if x is None else x[..., -1] - x[..., -2]
    last = (2 * b**2 + 3 * a * b) / (6 * (b + a)) * y[..., -1]
    middle = (b**2 + 3 * a * b) / (6 * a) * y[..., -2]
    return whole + (last + middle - b**3 / (6 * a * (a + b)) * y[..., -3])


def _parabolas(y: Any, x: Any, dx: Any) -> Any:
    """Simpson's rule for an odd number of points."""
    y0, y1, y2 = y[..., :-2:2], y[..., 1:-1:2], y[..., 2::2]
    if x is None:
        return np.sum(y0 + 4.0 * y1 + y2, axis=-1) * (dx / 3.0)
    h = np.diff(x, axis=-1)
    h0, h1 = h[..., 0::2], h[..., 1::2]
    total, ratio = h0 + h1, h0 / h1
    return np.sum(
        total / 6.0 * (y0 * (2.0 - 1.0 / ratio) + y1 * (total * total / (h0 * h1)) + y2 * (2.0 - ratio)), axis=-1
    )


# --- differential equations -------------------------------------------------------------------------------------------


class Solution(Outcome):
    """What `solve_ivp` gives."""

    def __init__(self, t: Any, y: Any, outcome: Any, sol: Any = None, t_events: Any = None, y_events: Any = None):
        self.t = t
        self.y = y
        self.sol = sol
        self.t_events = t_events
        self.y_events = y_events
        self._outcome = outcome


class Curve:
    """The solution between the steps of an explicit Runge-Kutta method, as `dense_output` gives it.

    ends: the ends of the steps; ys: the states there; stages: the slopes of each step
    """

    def __init__(self, ends: Any, ys: Any, stages: Any, method: Any) -> None:
        self.ends = ends
        self.ys = ys
        self.stages = stages
        self.method = method

    def __call__(self, t: Any) -> Any:
        t = np.asarray(t)
        if np.ndim(t) == 0:
            return self.at(np.reshape(t, (1,)))[0]
        return self.at(t).T

    def at(self, times: Any) -> Any:
        step = steps_of(self.ends, times)
        h = self.ends[step + 1] - self.ends[step]
        return self.ys[step] + in_step(self.method, (times - self.ends[step]) / h, h, self.stages[step])


@defines(integrate.solve_ivp)
def solve_ivp(
    fun: Any, t_span: Any, y0: Any, method: Any = "RK45", t_eval: Any = None, dense_output: Any = False,
    events: Any = None, vectorized: Any = False, args: Any = None, **options: Any,
) -> Any:  # fmt: skip
    y0 = np.asarray(y0) * 1.0
    if np.ndim(y0) != 1:
        raise ValueError("`y0` must be 1-dimensional.")
    given = () if args is None else tuple(args)
    rhs = fun
    if vectorized:
        rhs = lambda t, y, *more: np.ravel(fun(t, y[:, None], *more))
    callback, captured = lifted(rhs, 2 + len(given), 1)
    t0, t1 = t_span
    settings = tuple([(name, options[name]) for name in options if name != "jac"])
    if t_eval is not None:
        t_eval = np.asarray(t_eval)
    explicit = method == "RK45" or method == "RK23" or method == "DOP853"
    if explicit:
        watched = () if events is None else (events,) if callable(events) else tuple(events)
        chosen = tuple([_event(event, given) for event in watched])
        outcome = ode_steps(
            closed(callback, *captured), (t0, t1), y0, method, given, chosen, dense_output, t_eval, settings
        )
        taken = steps_taken(outcome)
        ends = np.where(taken == t1, t1, np.where(taken == t0, t0, taken))  # the ends may be differentiated
        if t_eval is None and events is None and not dense_output:
            return Solution(ends, steps_again(rhs, ends, y0, method, given).T, outcome)
        ys, stages = stages_again(rhs, ends, y0, method, given)
        curve = Curve(ends, ys, stages, method)
        sol = curve if dense_output else None
        if events is None:
            if t_eval is None:
                return Solution(ends, ys.T, outcome, sol)
            t_eval = t_eval[: reached(ends, t_eval)]
            return Solution(t_eval, curve.at(t_eval).T, outcome, sol)
        t_events = [times_of(event, event_times(outcome, k), curve, given) for k, event in enumerate(watched)]
        y_events = [curve.at(times) for times in t_events]
        last = ended_by(outcome, (t0, t1))
        if last >= 0:
            ends = ends.copy()
            ends[-1] = np.concatenate(t_events)[last]
        if t_eval is not None:
            t_eval = t_eval[: reached(ends, t_eval)]
            return Solution(t_eval, curve.at(t_eval).T, outcome, sol, t_events, y_events)
        if last >= 0:
            ys = ys.copy()
            ys[-1] = curve.at(ends[-1:])[0]
        return Solution(ends, ys.T, outcome, sol, t_events, y_events)
    if method != "Radau" and method != "BDF" and method != "LSODA":
        refuse("scipy.integrate.solve_ivp with a method that is a class", "give the name of one of SciPy's methods")
    if events is not None or dense_output:
        refuse(
            f"scipy.integrate.solve_ivp by {method} with events or dense_output",
            "choose RK45, RK23 or DOP853; or give t_eval, and find the time of the event with scipy.optimize.brentq",
        )
    if "jac" in options:
        settings = (*settings, ("jac", _matrix(options["jac"], given)))
    if t_eval is None:
        outcome = ode_steps(closed(callback, *captured), (t0, t1), y0, method, given, (), False, None, settings)
        taken = steps_taken(outcome)
        times = np.where(taken == t1, t1, np.where(taken == t0, t0, taken))
        ys = trajectory(callback, len(captured), True, (method, settings), times, y0, *captured, *given)
        return Solution(times, ys.T, outcome)
    times = t_eval
    start = np.reshape(t0, (1,))
    ys = trajectory(
        callback, len(captured), True, (method, settings), np.concatenate([start, times]), y0, *captured, *given
    )
    return Solution(times, ys[1:].T, Whole())


def _event(event: Any, args: Any) -> Any:
    fun, captured = lifted(event, 2 + len(args), "number")
    return closed(fun, *captured), getattr(event, "terminal", False), getattr(event, "direction", 0.0)


def _matrix(jac: Any, args: Any) -> Any:
    """The matrix of derivatives that an implicit method is given, which says nothing of the solution."""
    if jac is None or not callable(jac):
        return jac
    along, captured = lifted(lambda t, y: jac(t, y, *args), 2)
    return closed(along, *captured)


def times_of(event: Any, times: Any, curve: Any, args: Any) -> Any:
    """The times of an event, at each of which its function of the solution is zero."""
    out = np.zeros(times.shape[0])
    steps = steps_of(curve.ends, times)
    for k in range(times.shape[0]):
        i = steps[k]
        begin, h = curve.ends[i], curve.ends[i + 1] - curve.ends[i]
        out[k] = time_of(event, times[k], begin, h, curve.ys[i], curve.stages[i], curve.method, args)
    return out


def time_of(event: Any, time: Any, begin: Any, h: Any, y: Any, slopes: Any, method: Any, args: Any) -> Any:
    """One of these times, in the step of length `h` that begins at `begin`, where the state is `y`."""

    def distance(t: Any) -> Any:
        part = np.reshape((t - begin) / h, (1,))
        return event(t, y + in_step(method, part, np.reshape(h, (1,)), slopes[None])[0], *args)

    fun, captured = lifted(distance, 1, "number")
    return implicit(fun, len(captured), None, time, *captured)


class Whole:
    """The outcome of an integration that would have raised otherwise."""

    success = True
    status = 0
    message = "The solver successfully reached the end of the integration interval."


def steps_again(fun: Any, ts: Any, y0: Any, method: Any, args: Any) -> Any:
    """The states after each step of an explicit Runge-Kutta method: Dormand and Prince 1980, Hairer et al. II.5."""
    a, b, c = runge_kutta(method)
    ys = np.zeros((ts.shape[0], y0.shape[0]))
    ys[0] = y0
    for k in range(ts.shape[0] - 1):
        h = ts[k + 1] - ts[k]
        slopes = np.zeros((b.shape[0], y0.shape[0]))
        for s in range(b.shape[0]):
            slopes[s] = fun(ts[k] + c[s] * h, ys[k] + np.dot(a[s, :s], slopes[:s]) * h, *args)
        ys[k + 1] = ys[k] + h * np.dot(b, slopes)
    return ys


def stages_again(fun: Any, ts: Any, y0: Any, method: Any, args: Any) -> Any:
    """The same, and the slopes of which the solution within each step is made."""
    b = runge_kutta(method)[1]
    a, c = dense_stages(method)
    count = b.shape[0]
    ys = np.zeros((ts.shape[0], y0.shape[0]))
    ys[0] = y0
    stages = np.zeros((ts.shape[0], c.shape[0], y0.shape[0]))
    for k in range(ts.shape[0] - 1):
        h = ts[k + 1] - ts[k]
        slopes = np.zeros((c.shape[0], y0.shape[0]))
        for s in range(c.shape[0]):
            slopes[s] = fun(ts[k] + c[s] * h, ys[k] + np.dot(a[s, :s], slopes[:s]) * h, *args)
        ys[k + 1] = ys[k] + h * np.dot(b, slopes[:count])
        stages[k] = slopes
    return ys, stages


def in_step(method: Any, part: Any, h: Any, stages: Any) -> Any:
    """How far the solution has moved within steps of lengths `h`, of which these parts have gone by."""
    polynomial = dense_polynomial(method)
    if method == "DOP853":
        weights = np.zeros((part.shape[0], stages.shape[1]))
        for i in list(range(7)):
            weights = (weights + polynomial[6 - i]) * (part if i % 2 == 0 else 1 - part)[:, None]
    else:
        weights = np.dot(part[:, None] ** np.arange(1.0, polynomial.shape[0] + 1.0), polynomial)
    return h[:, None] * np.einsum("ms,msn->mn", weights, stages)


@defines(integrate.odeint)
def odeint(
    func: Any, y0: Any, t: Any, args: Any = (), Dfun: Any = None, col_deriv: Any = 0, full_output: Any = 0,
    ml: Any = None, mu: Any = None, rtol: Any = None, atol: Any = None, tcrit: Any = None, h0: Any = 0.0,
    hmax: Any = 0.0, hmin: Any = 0.0, ixpr: Any = 0, mxstep: Any = 0, mxhnil: Any = 0, mxordn: Any = 12,
    mxords: Any = 5, printmessg: Any = 0, tfirst: Any = False,
) -> Any:  # fmt: skip
    if full_output or Dfun is not None:
        refuse("scipy.integrate.odeint with full_output or Dfun", "leave it out")
    args = args if isinstance(args, tuple) else (args,)
    callback, captured = lifted(func, 2 + len(args), 1 if tfirst else 0)
    given = (
        ("rtol", rtol, None), ("atol", atol, None), ("h0", h0, 0.0), ("hmax", hmax, 0.0), ("hmin", hmin, 0.0),
        ("mxstep", mxstep, 0), ("mxordn", mxordn, 12), ("mxords", mxords, 5),
    )  # fmt: skip
    options = tuple([(name, value) for name, value, default in given if value != default])
    y0 = np.atleast_1d(y0) * 1.0
    return trajectory(callback, len(captured), bool(tfirst), ("odeint", options), np.asarray(t), y0, *captured, *args)


class Boundary(Outcome):
    """What `solve_bvp` gives."""

    def __init__(self, x: Any, y: Any, slopes: Any, p: Any, outcome: Any) -> None:
        self.x = x
        self.y = y
        self.yp = slopes
        self.p = p
        self.sol = Hermite(x, y, slopes)
        self._outcome = outcome

    @property
    def niter(self) -> Any:
        return self._outcome.niter

    @property
    def rms_residuals(self) -> Any:
        return constant(np.asarray(self._outcome.rms_residuals))


class Hermite:
    """The cubic spline with these values and slopes, one row for each component."""

    def __init__(self, x: Any, y: Any, slopes: Any) -> None:
        self.x = x
        self.y = y
        self.slopes = slopes

    def __call__(self, t: Any, nu: Any = 0) -> Any:
        t = np.asarray(t)
        if np.ndim(t) == 0:
            return self.at(np.reshape(t, (1,)), nu)[:, 0]
        return self.at(t, nu)

    def at(self, t: Any, nu: Any) -> Any:
        if nu != 0 and nu != 1:
            refuse("scipy.integrate.solve_bvp: higher derivatives of the solution", "differentiate its equation")
        k = np.clip(np.searchsorted(self.x, t, side="right") - 1, 0, np.shape(self.x)[0] - 2)
        h = self.x[k + 1] - self.x[k]
        s = (t - self.x[k]) / h
        first, last = self.y[:, k], self.y[:, k + 1]
        start, end = self.slopes[:, k], self.slopes[:, k + 1]
        if nu == 1:
            return 6 * s * (1 - s) / h * (last - first) + (1 - s) * (1 - 3 * s) * start + s * (3 * s - 2) * end
        bend = s * (1 - s) * h * ((1 - s) * start - s * end)
        return first + s * s * (3 - 2 * s) * (last - first) + bend


@defines(integrate.solve_bvp)
def solve_bvp(
    fun: Any, bc: Any, x: Any, y: Any, p: Any = None, S: Any = None, fun_jac: Any = None, bc_jac: Any = None,
    tol: Any = 0.001, max_nodes: Any = 1000, verbose: Any = 0, bc_tol: Any = None,
) -> Any:  # fmt: skip
    if S is not None:
        refuse("scipy.integrate.solve_bvp with S", "begin the interval beside the singularity, and set values there")
    x, y = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    extra = 0 if p is None else 1
    rhs, read = lifted(fun, 2 + extra)
    ends, read_ends = lifted(bc, 2 + extra)
    settings = (
        ("fun_jac", _given(fun_jac, 2 + extra)), ("bc_jac", _given(bc_jac, 2 + extra)), ("tol", tol),
        ("max_nodes", max_nodes), ("verbose", verbose), ("bc_tol", bc_tol),
    )  # fmt: skip
    outcome = boundary_values(closed(rhs, *read), closed(ends, *read_ends), x, y, p, settings)
    mesh = vector_of(outcome, "x")
    mesh = np.where(mesh == x[0], x[0], np.where(mesh == x[-1], x[-1], mesh))  # the ends may be differentiated
    n, m = np.shape(y)[0], np.shape(mesh)[0]
    # The solution and the parameters solve the equations of collocation: Kierzenka and Shampine, ACM Trans. Math.
    # Softw. 27 (2001), section 2. The mesh is kept.

    def equations(z: Any) -> Any:
        states, more = np.reshape(z[: n * m], (n, m)), () if p is None else (z[n * m :],)
        h = mesh[1:] - mesh[:-1]
        f = np.asarray(fun(mesh, states, *more))
        middle = 0.5 * (states[:, 1:] + states[:, :-1]) - 0.125 * h * (f[:, 1:] - f[:, :-1])
        inside = np.asarray(fun(mesh[:-1] + 0.5 * h, middle, *more))
        rest = states[:, 1:] - states[:, :-1] - h / 6 * (f[:, :-1] + f[:, 1:] + 4 * inside)
        return np.concatenate([np.ravel(rest), np.asarray(bc(states[:, 0], states[:, -1], *more))])

    residual, captured = lifted(equations, 1, 0)
    z = implicit(residual, len(captured), None, unknowns_of(outcome), *captured)
    states = np.reshape(z[: n * m], (n, m))
    found = None if p is None else z[n * m :]
    slopes = np.asarray(fun(mesh, states) if p is None else fun(mesh, states, found))
    return Boundary(mesh, states, slopes, found, outcome)


def _given(fun: Any, count: Any) -> Any:
    if fun is None:
        return None
    other, captured = lifted(fun, count)
    return closed(other, *captured)
