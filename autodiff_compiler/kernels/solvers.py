"""Solvers of equations, in NumPy only: iteration of a fixed point, and Newton's method."""

from __future__ import annotations

from typing import Any

import numpy as np

from .callbacks import protected


def iterated(step: Any, x0: Any, tol: float, maxiter: int) -> Any:
    """The fixed point ``step(x) == x`` that the iteration from `x0` reaches, a number or an array of one axis.

    Raises ArithmeticError if it is not reached: in `maxiter` steps no step is shorter than `tol`, relative to elements
    larger than 1.
    """
    x = _as_float(x0)
    for _ in range(maxiter):
        new = _as_float(step(protected(x)))
        if np.shape(new) != np.shape(x):
            raise ValueError(f"fixed_point: the function returned the shape {np.shape(new)} for {np.shape(x)}")
        if not np.isfinite(new).all():
            raise ArithmeticError("fixed_point: the iteration has left the finite numbers; start closer to it")
        moved = np.abs(new - x)
        x = new
        if (moved <= tol * np.maximum(1.0, np.abs(x))).all():
            return x
    raise ArithmeticError(
        f"fixed_point: not converged in {maxiter} steps (the last was {np.max(moved, initial=0.0):.1e} long); raise "
        "maxiter or tol, or give a solver"
    )


def newton(fun: Any, slope: Any, x0: Any, tol: float, maxiter: int) -> Any:
    """The root of `fun` that Newton's method reaches from `x0`, with steps halved until the residual gets smaller.

    slope: gives the derivative of `fun`, a number or a matrix. Raises ArithmeticError if the root is not reached, or
    the derivative is singular on the way.
    """
    x = _as_float(x0)
    value = np.asarray(fun(protected(x)), float)
    if value.shape != np.shape(x):
        raise ValueError(f"root: the function returned the shape {value.shape} for {np.shape(x)}")
    for _ in range(maxiter):
        matrix = np.reshape(np.asarray(slope(protected(x)), float), (np.size(x), np.size(x)))
        try:
            step = np.reshape(-np.linalg.solve(matrix, np.reshape(value, -1)), np.shape(x))
        except np.linalg.LinAlgError:
            raise ArithmeticError(
                "root: the derivative of the function is singular on the way; start elsewhere, or give a solver"
            ) from None
        if not np.isfinite(step).all():
            raise ArithmeticError("root: the iteration has left the finite numbers; start closer to the solution")
        if (np.abs(step) <= tol * np.maximum(1.0, np.abs(x))).all():
            return _as_float(x + step)
        size, part = np.sum(value * value), 1.0
        while True:
            new = _as_float(x + part * step)
            there = np.asarray(fun(protected(new)), float)
            if np.isfinite(there).all() and np.sum(there * there) < size:
                break
            part *= 0.5
            if part < 1e-10:
                if (np.abs(value) <= 1e-8).all():
                    return x  # as close as rounding allows
                raise ArithmeticError("root: no step makes the residual smaller; start elsewhere, or give a solver")
        x, value = new, there
    raise ArithmeticError(
        f"root: not converged in {maxiter} steps (the residual is {np.max(np.abs(value), initial=0.0):.1e}); raise "
        "maxiter or tol, or give a solver"
    )


def solved(solver: Any, fun: Any, x0: Any) -> Any:
    """What a solver of the user's finds: ``solver(fun, x0)``."""
    found = _as_float(solver(fun, protected(x0)))
    if np.shape(found) != np.shape(x0):
        raise ValueError(f"the solver returned the shape {np.shape(found)} for a start of {np.shape(x0)}")
    return found


def _as_float(x: Any) -> Any:
    return np.array(x, float) if np.ndim(x) else float(np.asarray(x).item())
