"""Integrals of functions, and solutions of differential equations, with what their derivatives need."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate
from scipy.integrate._ivp import rk

from ..callbacks import SCALAR, around, protected


def integral(fun: Any, at: int, options: Any, a: Any, b: Any, *operands: Any) -> tuple[Any, float]:
    """The integral of ``fun(*operands[:at], t, *operands[at:])`` from `a` to `b`, and an estimate of its error.

    options: pairs of a name and a value, of `scipy.integrate.quad`, or of `quad_vec` if "vector" is among them. What is
    not a number is integrated by `quad_vec`, with the same tolerances.
    """
    integrand = around(fun, at, operands)
    full = [*operands[:at], None, *operands[at:]]
    chosen = dict(options)
    if chosen.pop("vector", False):
        value, error = integrate.quad_vec(integrand, a, b, **chosen)[:2]
        return (np.asarray(value) if np.ndim(value) else float(value)), float(error)
    if fun.like is None or fun.like == SCALAR or np.ndim(full[fun.like]) == 0:
        value, error = integrate.quad(integrand, a, b, **chosen)[:2]
        return float(value), float(error)
    names = {"epsabs", "epsrel", "limit", "points"}
    known = {name: value for name, value in chosen.items() if name in names and value is not None}
    value, error = integrate.quad_vec(integrand, a, b, norm="max", **known)[:2]
    return np.asarray(value), float(error)


def gauss_nodes(n: int) -> tuple[Any, Any]:
    """The nodes in [-1, 1] and the weights of Gauss and Legendre's quadrature, from the lowest node on."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return nodes, weights


_EXPLICIT = {"RK23": rk.RK23, "RK45": rk.RK45, "DOP853": rk.DOP853}


def runge_kutta(method: str) -> tuple[Any, Any, Any]:
    """The coefficients of an explicit Runge-Kutta method of `solve_ivp`: of stages, weights and times."""
    found = _EXPLICIT[method]
    return found.A.copy(), found.B.copy(), found.C.copy()


def dense_stages(method: str) -> tuple[Any, Any]:
    """The same for all stages that the solution between two steps needs: of stages, and times."""
    found = _EXPLICIT[method]
    if method != "DOP853":
        a = np.zeros((found.n_stages + 1, found.n_stages + 1))
        a[:-1, : found.A.shape[1]], a[-1, :-1] = found.A, found.B
        return a, np.append(found.C, 1.0)
    a = np.zeros((16, 16))
    a[:12, :12], a[12, :12], a[13:] = found.A, found.B, found.A_EXTRA
    return a, np.concatenate([found.C, [1.0], found.C_EXTRA])


def dense_polynomial(method: str) -> Any:
    """The coefficients of the solution between two steps, a column for each stage: of the powers of the part of the
    step that has gone by, from the first on.

    For DOP853, those of the nested form ``s (r0 + (1 - s) (r1 + s (r2 + (1 - s) (r3 + ...))))``, as SciPy has it.
    """
    found = _EXPLICIT[method]
    if method != "DOP853":
        return found.P.T.copy()
    first, last, whole = np.zeros(16), np.zeros(16), np.zeros(16)
    first[0], last[12] = 1.0, 1.0
    whole[:12] = found.B
    return np.array([whole, first - whole, 2 * whole - last - first, *found.D])


def reached(ts: Any, t_eval: Any) -> int:
    """How many of these times, in their order, lie in the interval that was integrated."""
    forward = ts[-1] >= ts[0]
    return int(np.count_nonzero(np.asarray(t_eval) <= ts[-1] if forward else np.asarray(t_eval) >= ts[-1]))


def steps_of(ts: Any, t_eval: Any) -> Any:
    """The number of the step in which each of these times lies."""
    if len(ts) > 1 and ts[-1] < ts[0]:
        ts, t_eval = -ts, -t_eval
    return np.clip(np.searchsorted(ts, t_eval, side="left") - 1, 0, max(len(ts) - 2, 0))


def ode_steps(
    fun: Any, t_span: Any, y0: Any, method: Any, args: Any, events: Any, dense: Any, t_eval: Any, options: Any
) -> Any:
    """What `scipy.integrate.solve_ivp` gives with one time for each step that it takes.

    events: for each, the function, and its attributes `terminal` and `direction`
    dense:  the result keeps the solution between the steps, as it does where there are events
    t_eval: times that have to lie in the interval, and in its order, or None
    """
    args = tuple(map(protected, args)) or None
    watched = [_event(*event) for event in events]
    if t_eval is not None:
        # SciPy is not given them, as it would then give no steps.
        between, later = np.sort(np.asarray(t_span, float)), np.diff(t_eval)
        if np.ndim(t_eval) != 1:
            raise ValueError("`t_eval` must be 1-dimensional.")
        if np.any(t_eval < between[0]) or np.any(t_eval > between[1]):
            raise ValueError("Values in `t_eval` are not within `t_span`.")
        if np.any(later <= 0 if t_span[1] > t_span[0] else later >= 0):
            raise ValueError("Values in `t_eval` are not properly sorted.")
    return integrate.solve_ivp(
        fun, t_span, y0, method=method, args=args, events=watched or None, dense_output=bool(dense or watched),
        **dict(options),
    )  # fmt: skip


def _event(fun: Any, terminal: Any, direction: Any) -> Any:
    """An event as `solve_ivp` takes it: the settings are attributes of a function."""

    def event(t: Any, y: Any, *args: Any) -> Any:
        return fun(t, y, *args)

    event.terminal, event.direction = terminal, direction  # type: ignore[attr-defined]
    return event


def steps_taken(outcome: Any) -> Any:
    """The times at the ends of the steps; the last is not cut off where a terminal event ended the integration."""
    if outcome.sol is None:
        return np.array(outcome.t, float)
    parts = outcome.sol.interpolants
    return np.array([*[part.t_old for part in parts], parts[-1].t], float)


def event_times(outcome: Any, k: int) -> Any:
    """The times of an event."""
    return np.array(outcome.t_events[k], float)


def ended_by(outcome: Any, t_span: Any) -> int:
    """The number of the time, among those of all events, at which the integration ended; -1: at the end of `t_span`."""
    if outcome.status != 1:
        return -1
    times = np.concatenate(outcome.t_events)
    return int(np.argmax(times if t_span[1] > t_span[0] else -times))


def trajectory(fun: Any, at: int, tfirst: bool, solver: Any, t: Any, y0: Any, *operands: Any) -> Any:
    """The solution at the times `t`, one row for each, of the equation of which `fun` is the right-hand side, where the
    state at ``t[0]`` is `y0`.

    at:     the position of time and state among the arguments of `fun`; the operands are the others
    tfirst: the time comes before the state
    solver: ("odeint", options), or (method of `solve_ivp`, options)
    """
    given = around(fun, at, operands)
    rhs = given if tfirst else lambda t, y: given(y, t)
    t = np.asarray(t, float)
    if solver[0] == "odeint":
        return integrate.odeint(rhs, y0, t, tfirst=True, **dict(solver[1]))
    if t[0] == t[-1]:
        return np.tile(y0, (t.size, 1))
    # The first time asked for may be that of the state given, which SciPy does not take twice.
    found = integrate.solve_ivp(rhs, (t[0], t[-1]), y0, method=solver[0], t_eval=t[1:], **dict(solver[1]))
    if not found.success:
        raise ArithmeticError(f"scipy.integrate.solve_ivp: {found.message}")
    return np.concatenate([np.asarray(y0)[None], found.y.T])


def trajectory_adjoint(
    g: Any, fun: Any, at: int, tfirst: bool, chosen: Any, solver: Any, t: Any, out: Any, *operands: Any
) -> Any:
    """The cotangents of `t`, of `y0` and of the operands in `chosen`, by the continuous adjoint.

    Between two times, the state, its cotangent and the cotangents of the operands are integrated backwards together;
    the state starts from the solution at the later time. The cotangent `g` of the solution is added at each time.
    (Pontryagin's adjoint equation, see Cao, Li, Petzold and Serban, SIAM J. Sci. Comput. 24 (2003), section 2.)
    """

    def full(time: Any, y: Any) -> list[Any]:
        return [*operands[:at], *((time, y) if tfirst else (y, time)), *operands[at:]]

    by_state = fun.pullback(at + tfirst)
    by_operand = [fun.pullback(k if k < at else k + 2) for k in chosen]
    n = out.shape[1]

    def backwards(time: float, z: Any) -> Any:
        y, bar = z[:n], z[n : 2 * n]
        given = full(time, y)
        rate = np.ravel(np.asarray(fun.fn(*given), float))
        parts = [-np.ravel(np.asarray(pull(bar, *given), float)) for pull in (by_state, *by_operand)]
        return np.concatenate([rate, *parts])

    t = np.asarray(t, float)
    g = np.asarray(g, float)
    sizes = [np.size(operands[k]) for k in chosen]
    bar, rest = g[-1].copy(), np.zeros(sum(sizes))
    options = dict(solver[1])
    tolerances = {k: options[k] for k in ("rtol", "atol") if options.get(k) is not None and np.ndim(options[k]) == 0}
    tolerances = {"rtol": 1e-9, "atol": 1e-11, **tolerances}
    method = "LSODA" if solver[0] == "odeint" else solver[0]
    times = np.zeros(len(t))
    for k in range(len(t) - 1, 0, -1):
        times[k] = g[k] @ np.ravel(np.asarray(fun.fn(*full(t[k], out[k])), float))
        start = np.concatenate([out[k], bar, rest])
        if t[k] != t[k - 1]:
            found = integrate.solve_ivp(backwards, (t[k], t[k - 1]), start, method=method, **tolerances)
            if not found.success:
                raise ArithmeticError(f"the adjoint equation could not be integrated: {found.message}")
            start = found.y[:, -1]
        bar, rest = start[n : 2 * n] + g[k - 1], start[2 * n :]
    times[0] = -(bar - g[0]) @ np.ravel(np.asarray(fun.fn(*full(t[0], out[0])), float))
    cotangents, first = [times, bar], 0
    for size, k in zip(sizes, chosen):
        cotangents.append(rest[first : first + size].reshape(np.shape(operands[k])))
        first += size
    return tuple(cotangents)


def boundary_values(fun: Any, bc: Any, x: Any, y: Any, p: Any, settings: Any) -> Any:
    """What `scipy.integrate.solve_bvp` gives."""
    known = {name: value for name, value in settings if value is not None}
    return integrate.solve_bvp(fun, bc, x, y, None if p is None else np.asarray(p, float), **known)


def unknowns_of(outcome: Any) -> Any:
    """The states at all nodes, row by row, and the parameters."""
    return np.concatenate([np.ravel(outcome.y), np.zeros(0) if outcome.p is None else outcome.p])


def cotangent_of(cotangents: Any, k: int, like: Any) -> Any:
    """One of the cotangents, in the shape of its primal."""
    found = cotangents[k]
    return float(found) if np.ndim(found) == 0 else np.reshape(found, np.shape(like))
