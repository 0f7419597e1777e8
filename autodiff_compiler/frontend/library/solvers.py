"""Solutions of equations, by the implicit function theorem: `root` and `fixed_point`.

The solver finds the solution once. `implicit` says on what equation it rests, so it depends on what the equation reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.callbacks import closed, implicit
from ...kernels.solvers import iterated, newton, solved
from ..definitions import defines, derived, lifted


def _flat(x: Any) -> Any:
    """All numbers of a container, in one array."""
    if isinstance(x, dict):
        return np.concatenate([_flat(x[key]) for key in x])
    if isinstance(x, (tuple, list)):
        return np.concatenate([_flat(item) for item in x])
    return np.ravel(np.asarray(x)) * 1.0


def _like(x: Any, flat: Any, at: Any) -> Any:
    """A container like `x` of the numbers in an array from a place on, and the place behind them."""
    if isinstance(x, dict):
        made = {}
        for key in x:
            made[key], at = _like(x[key], flat, at)
        return made, at
    if isinstance(x, (tuple, list)):
        items: Any = []
        for item in x:
            new, at = _like(item, flat, at)
            items = [*items, new]
        if isinstance(x, list):
            return items, at
        return (type(x)(*items) if hasattr(x, "_fields") else tuple(items)), at
    if np.ndim(x) == 0:
        return flat[at], at + 1
    end = at + np.size(x)
    return np.reshape(flat[at:end], np.shape(x)), end


def _solution(equation: Any, step: Any, x0: Any, tol: Any, maxiter: Any, solver: Any) -> Any:
    """The solution of ``equation(x) == 0``, a number or an array of one axis; `step`: what is called, if it is not the
    equation."""
    kind = "number" if np.ndim(x0) == 0 else None
    fun, captured = lifted(equation, 1, kind)
    if step is None:
        called = closed(fun, *captured)
    else:
        other, read = lifted(step, 1, kind)
        called = closed(other, *read)
    if solver is not None:
        find, held = lifted(solver, 2)
        found = solved(closed(find, *held), called, x0)
    elif step is not None:
        found = iterated(called, x0, tol, maxiter)
    elif np.ndim(x0) == 0:
        slope = derived(fun, "pullback", len(captured))
        found = newton(called, closed(slope, 1.0, *captured), x0, tol, maxiter)
    else:
        slope = derived(fun, "jacobian", len(captured))
        found = newton(called, closed(slope, *captured), x0, tol, maxiter)
    return implicit(fun, len(captured), None, found, *captured)


@defines()
def root(f: Any, x0: Any, args: Any, tol: Any, maxiter: Any, solver: Any) -> Any:
    if isinstance(x0, (dict, tuple, list)):
        flat = lambda w: _flat(f(_like(x0, w, 0)[0], *args))
        return _like(x0, _solution(flat, None, _flat(x0), tol, maxiter, solver), 0)[0]
    if np.ndim(x0) > 1:
        shape = np.shape(x0)
        flat = lambda w: np.ravel(f(np.reshape(w, shape), *args))
        return np.reshape(_solution(flat, None, np.ravel(x0), tol, maxiter, solver), shape)
    return _solution(lambda x: f(x, *args), None, x0, tol, maxiter, solver)


@defines()
def fixed_point(f: Any, x0: Any, args: Any, tol: Any, maxiter: Any, solver: Any) -> Any:
    if isinstance(x0, (dict, tuple, list)):
        flat = lambda w: _flat(f(_like(x0, w, 0)[0], *args))
        away = lambda w: _flat(f(_like(x0, w, 0)[0], *args)) - w
        return _like(x0, _solution(away, flat, _flat(x0), tol, maxiter, solver), 0)[0]
    if np.ndim(x0) > 1:
        shape = np.shape(x0)
        flat = lambda w: np.ravel(f(np.reshape(w, shape), *args))
        away = lambda w: np.ravel(f(np.reshape(w, shape), *args)) - w
        return np.reshape(_solution(away, flat, np.ravel(x0), tol, maxiter, solver), shape)
    return _solution(lambda x: f(x, *args) - x, lambda x: f(x, *args), x0, tol, maxiter, solver)
