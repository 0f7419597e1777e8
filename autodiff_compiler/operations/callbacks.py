"""What is made of a function that a solver calls: its values, and the implicit function theorem at a solution.

The operand `fun` is a `kernels.callbacks.Callback`. It is a constant: all that it depends on is among the operands. Its
derivatives are callbacks, too, so these records have derivatives of any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from ..ir.core import Builder, type_of
from ..ir.opset import mark
from ..ir.types import ANY, OBJECT, PY_FLOAT, Ty, array
from ..kernels.callbacks import SCALAR, Callback
from .lib import call
from .record import constant_in, op, vjp

_FLOAT = np.dtype(float)
NUMBER = Ty("any", _FLOAT, ())


def type_like(fun: Callback, operands: Any) -> Ty:
    """The type of a result that is like one of these operands."""
    if fun.like is None:
        return ANY
    if fun.like == SCALAR:
        return NUMBER
    t = type_of(operands[fun.like])
    if t.dims is None:
        return ANY
    return array(t.dtype if t.is_float else None, t.dims) if t.dims else NUMBER


def active(operands: Any) -> list[bool]:
    """Which operands may carry a derivative."""
    return [type_of(x).may_be_float for x in operands]


op(runtime.as_given, "outcome, *parts", type=lambda b, *args: OBJECT)


def _always(b: Builder, *args: Any) -> bool:
    return True


op(runtime.applied, "fun, *operands", type=lambda b, fun, *operands: type_like(fun, operands))


@vjp(runtime.applied, "operands")
def _applied(g: Any, out: Any, fun: Any, *operands: Any) -> Any:
    return tuple(
        [call(runtime.applied, fun.pullback(k), g, *operands) if on else None for k, on in enumerate(active(operands))]
    )


# Nobody may ask for what a solver has attained: then it costs nothing.
op(runtime.attained, "fun, value, *operands", type=lambda b, fun, value, *operands: type_of(value), total=_always)
constant_in(runtime.attained, "value")


@vjp(runtime.attained, "operands")
def _attained(g: Any, out: Any, fun: Any, value: Any, *operands: Any) -> Any:
    return _applied(g, out, fun, *operands)


op(runtime.closed, "fun, *captured", type=lambda b, *args: OBJECT, nondiff=True, unique=True)
op(runtime.number_of, "outcome, name", type=lambda b, *args: NUMBER, nondiff=True, total=_always)
op(
    runtime.vector_of, "outcome, name",
    type=lambda b, *args: array(_FLOAT, (b.dims.fresh(),)), nondiff=True, total=_always,
)  # fmt: skip


def _of_start(b: Builder, start: Any) -> Ty:
    """The type of a solution: a number, or an array of floats with the shape of the start."""
    dims = type_of(start).dims
    return PY_FLOAT if dims == () else array(_FLOAT, dims)


# They call functions of the program's. Each call is one solution, which is not to be computed twice.
op(
    runtime.iterated,
    "step, x0, tol, maxiter",
    type=lambda b, step, x0, *rest: _of_start(b, x0),
    nondiff=True,
    effects=True,
)
op(
    runtime.newton, "fun, slope, x0, tol, maxiter",
    type=lambda b, fun, slope, x0, *rest: _of_start(b, x0), nondiff=True, effects=True,
)  # fmt: skip
op(runtime.solved, "solver, fun, x0", type=lambda b, solver, fun, x0: _of_start(b, x0), nondiff=True, effects=True)


def _implicit_type(b: Builder, fun: Any, at: Any, free: Any, x: Any, *operands: Any) -> Ty:
    return type_of(x)


op(runtime.implicit, "fun, at, free, x, *operands", type=_implicit_type)


@vjp(runtime.implicit, "x")
def _implicit_by_start(g: Any, out: Any, fun: Any, at: int, free: Any, x: Any, *operands: Any) -> Any:
    """What is not free is what it is, and the rest follows it."""
    if free is None:
        return None
    at_solution = [*operands[:at], out, *operands[at:]]
    moved = call(runtime.applied, fun.pullback(at), _multiplier(g, fun, at, free, at_solution), *at_solution)
    return call(np.where, free, 0.0, g + moved)


def _multiplier(g: Any, fun: Any, at: int, free: Any, at_solution: list[Any]) -> Any:
    """The cotangent of the equation."""
    out = at_solution[at]
    residual = call(runtime.applied, fun, *at_solution)
    if type_of(out).dims == ():
        slope = call(runtime.applied, fun.pullback(at), 1.0, *at_solution)
    else:
        slope = call(runtime.applied, fun.jacobian(at), *at_solution)
    return call(runtime.implicit_adjoint, g, slope, residual, free, out)


@vjp(runtime.implicit, "operands")
def _implicit(g: Any, out: Any, fun: Any, at: int, free: Any, x: Any, *operands: Any) -> Any:
    at_solution = [*operands[:at], out, *operands[at:]]
    bar = _multiplier(g, fun, at, free, at_solution)
    cotangents = [
        call(runtime.applied, fun.pullback(k + (k >= at)), bar, *at_solution) if on else None
        for k, on in enumerate(active(operands))
    ]
    return tuple(cotangents)


op(
    runtime.implicit_adjoint, "g, slope, residual, free, x",
    type=lambda b, g, slope, residual, free, x: type_of(x),
)  # fmt: skip
constant_in(runtime.implicit_adjoint, "x", "residual")


@vjp(runtime.implicit_adjoint, "g", linear=True)
def _adjoint_by_g(h: Any, out: Any, g: Any, slope: Any, residual: Any, free: Any, x: Any) -> Any:
    return call(runtime.implicit_adjoint, h, _transposed(slope, x), residual, free, x)


@vjp(runtime.implicit_adjoint, "slope")
def _adjoint_by_slope(h: Any, out: Any, g: Any, slope: Any, residual: Any, free: Any, x: Any) -> Any:
    # slope.T @ out == -g: a step of the matrix changes `out` by -slope.T^-1 (step.T @ out).
    back = call(runtime.implicit_adjoint, h, _transposed(slope, x), residual, free, x)
    if type_of(x).dims == ():
        return back * out
    return np.reshape(out, (-1, 1)) * np.reshape(back, (1, -1))


def _transposed(slope: Any, x: Any) -> Any:
    return slope if type_of(x).dims == () else slope.T


mark("again", runtime.iterated, runtime.newton)
