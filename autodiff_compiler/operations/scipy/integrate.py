"""`scipy.integrate`: integrals of functions, and differential equations by the continuous adjoint."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import runtime
from ...ir.core import Builder, type_of
from ...ir.opset import mark
from ...ir.types import ANY, OBJECT, PY_FLOAT, Ty, array, py_int
from ...kernels.scipy.integrate import (
    boundary_values,
    cotangent_of,
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
    trajectory_adjoint,
    unknowns_of,
)
from .. import lib
from ..callbacks import NUMBER, active, type_like
from ..lib import call
from ..record import constant_in, op, vjp


def _integral_type(b: Builder, fun: Any, at: int, options: Any, a: Any, b_: Any, *operands: Any) -> Any:
    found = type_like(fun, [*operands[:at], 0.0, *operands[at:]])
    return (PY_FLOAT if found is NUMBER else found, PY_FLOAT)


op(integral, "fun, at, options, a, b, *operands", type=_integral_type, nout=2)


@vjp(integral, "a")
def _by_start(g: Any, out: Any, fun: Any, at: int, options: Any, a: Any, b: Any, *operands: Any) -> Any:
    if g[0] is None:
        return None
    return -np.sum(g[0] * call(runtime.applied, fun, *operands[:at], a, *operands[at:]))


@vjp(integral, "b")
def _by_end(g: Any, out: Any, fun: Any, at: int, options: Any, a: Any, b: Any, *operands: Any) -> Any:
    if g[0] is None:
        return None
    return np.sum(g[0] * call(runtime.applied, fun, *operands[:at], b, *operands[at:]))


@vjp(integral, "operands")
def _integrals(g: Any, out: Any, fun: Any, at: int, options: Any, a: Any, b: Any, *operands: Any) -> Any:
    if g[0] is None:
        return None
    out = []
    for k, on in enumerate(active(operands)):
        pullback = fun.pullback(k + (k >= at))
        out.append(call(integral, pullback, at + 1, options, a, b, g[0], *operands)[0] if on else None)
    return tuple(out)


def _nodes_type(b: Builder, n: Any) -> Any:
    nodes = array(float, (n if isinstance(n, int) else b.dims.fresh(),))
    return (nodes, nodes)


op(gauss_nodes, "n", type=_nodes_type, nout=2, nondiff=True)


def _coefficients_type(b: Builder, method: str) -> Any:
    return tuple([array(float, table.shape) for table in runge_kutta(method)])


op(runge_kutta, "method", type=_coefficients_type, nout=3, nondiff=True)
op(
    ode_steps, "fun, t_span, y0, method, args, events, dense, t_eval, options",
    type=lambda b, *args: OBJECT, nondiff=True, effects=True,
)  # fmt: skip
op(steps_taken, "outcome", type=lambda b, *args: array(float, (b.dims.fresh(),)), nondiff=True)
op(event_times, "outcome, k", type=lambda b, *args: array(float, (b.dims.fresh(),)), nondiff=True)
op(ended_by, "outcome, t_span", type=lambda b, *args: py_int(), nondiff=True)


def _stages_type(b: Builder, method: str) -> Any:
    return tuple([array(float, table.shape) for table in dense_stages(method)])


op(dense_stages, "method", type=_stages_type, nout=2, nondiff=True)
op(
    dense_polynomial, "method", type=lambda b, method: array(float, dense_polynomial(method).shape), nondiff=True
)  # fmt: skip
op(reached, "ts, t_eval", type=lambda b, ts, t_eval: py_int(), nondiff=True)
op(steps_of, "ts, t_eval", type=lambda b, ts, t_eval: array(np.intp, type_of(t_eval).dims), nondiff=True)


op(boundary_values, "fun, bc, x, y, p, settings", type=lambda b, *args: OBJECT, nondiff=True, effects=True)
op(unknowns_of, "outcome", type=lambda b, *args: array(float, (b.dims.fresh(),)), nondiff=True)


def _trajectory_type(b: Builder, fun: Any, at: int, tfirst: bool, solver: Any, t: Any, y0: Any, *operands: Any) -> Ty:
    times, state = type_of(t), type_of(y0)
    if times.ndim != 1 or state.ndim != 1:
        return ANY
    return array(float, (times.dims[0], state.dims[0]))  # type: ignore[index]


op(trajectory, "fun, at, tfirst, solver, t, y0, *operands", type=_trajectory_type)
op(
    trajectory_adjoint, "g, fun, at, tfirst, chosen, solver, t, out, *operands", type=lambda b, *args: OBJECT
)  # fmt: skip


def _cotangent_type(b: Builder, cotangents: Any, k: Any, like: Any) -> Ty:
    t = type_of(like)
    return ANY if t.dims is None else array(float, t.dims) if t.dims else NUMBER


op(cotangent_of, "cotangents, k, like", type=_cotangent_type)
constant_in(cotangent_of, "like")


@vjp(cotangent_of, "cotangents")
def _no_second(g: Any, out: Any, *args: Any) -> Any:
    raise lib.unsupported(
        "second derivatives and tangents of scipy.integrate.odeint, and of solve_ivp by Radau, BDF and LSODA",
        "use solve_ivp by RK45, RK23 or DOP853",
    )


def _cotangents(
    g: Any, out: Any, fun: Any, at: int, tfirst: bool, solver: Any, t: Any, operands: Any
) -> tuple[Any, list[int]]:
    chosen = [k for k, on in enumerate(active(operands)) if on and not lib.is_constant(operands[k])]
    return call(trajectory_adjoint, g, fun, at, tfirst, tuple(chosen), solver, t, out, *operands), chosen


@vjp(trajectory, "t")
def _by_times(g: Any, out: Any, fun: Any, at: int, tfirst: bool, solver: Any, t: Any, y0: Any, *operands: Any) -> Any:
    return call(cotangent_of, _cotangents(g, out, fun, at, tfirst, solver, t, operands)[0], 0, t)


@vjp(trajectory, "y0")
def _by_state(g: Any, out: Any, fun: Any, at: int, tfirst: bool, solver: Any, t: Any, y0: Any, *operands: Any) -> Any:
    return call(cotangent_of, _cotangents(g, out, fun, at, tfirst, solver, t, operands)[0], 1, y0)


@vjp(trajectory, "operands")
def _by_operands(
    g: Any, out: Any, fun: Any, at: int, tfirst: bool, solver: Any, t: Any, y0: Any, *operands: Any
) -> Any:
    found, chosen = _cotangents(g, out, fun, at, tfirst, solver, t, operands)
    return tuple(
        [call(cotangent_of, found, 2 + chosen.index(k), x) if k in chosen else None for k, x in enumerate(operands)]
    )


mark("again", ode_steps, boundary_values)
