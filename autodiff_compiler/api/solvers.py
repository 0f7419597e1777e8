"""`root` and `fixed_point`: solutions of equations, with derivatives by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels.solvers import iterated, newton, solved
from ..lowered import lowers_by
from ..tree import flatten, unflatten


def root(
    f: Callable[..., Any], x0: Any, *args: Any, tol: float = 1e-12, maxiter: int = 100,
    solver: Callable[[Callable[[Any], Any], Any], Any] | None = None,
) -> Any:  # fmt: skip
    """The solution of ``f(x, *args) == 0`` near `x0`, as a function of `args` and of all that `f` reads around it.

    f:   gives a value of the structure and the shapes of `x`
    x0:  the start: a number, an array of any shape, or a tuple, list or dictionary of these. The solution has its
         structure and shapes, in double precision. It does not depend on the start.
    tol: the length of the last step, relative to elements larger than 1; maxiter: the number of steps
    solver: ``solver(fun, x0)``, in place of Newton's method. It gets `fun` of `x` alone, and numbers or arrays of one
         axis.

    The derivative solves a linear system at the solution, whatever steps the solver took. There are derivatives of any
    order, forward and reverse, also by values that `f` reads around it. Raises ArithmeticError if the solver does not
    converge, and where it is differentiated if the derivative of `f` by `x` is singular at the solution, or what the
    solver gave is none. Raises ValueError if `f` returns another shape.

    >>> import autodiff_compiler as ad
    >>> def cube_root(a):
    ...     return ad.root(lambda x: x**3 - a, 1.0)
    >>> round(cube_root(8.0), 10), round(float(ad.grad(cube_root)(8.0)), 10)
    (2.0, 0.0833333333)
    """
    if isinstance(x0, (tuple, list, dict)) or np.ndim(x0) > 1:
        return _of_one_axis(root, f, x0, args, tol, maxiter, solver)
    if solver is not None:
        return solved(solver, lambda x: f(x, *args), _start(x0))
    return newton(lambda x: f(x, *args), lambda x: _slope(f, x, args), _start(x0), tol, maxiter)


def fixed_point(
    f: Callable[..., Any], x0: Any, *args: Any, tol: float = 1e-12, maxiter: int = 1000,
    solver: Callable[[Callable[[Any], Any], Any], Any] | None = None,
) -> Any:  # fmt: skip
    """The solution of ``f(x, *args) == x`` that the iteration from `x0` reaches, as a function of `args` and of all
    that `f` reads around it.

    `solver` is called in place of the iteration, with `f` of `x` alone. For all else, see `root`.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> def newton_sqrt(a):
    ...     return ad.fixed_point(lambda x: 0.5 * (x + a / x), a)
    >>> round(newton_sqrt(2.0), 10), round(float(ad.grad(newton_sqrt)(2.0)), 10)
    (1.4142135624, 0.3535533906)
    """
    if isinstance(x0, (tuple, list, dict)) or np.ndim(x0) > 1:
        return _of_one_axis(fixed_point, f, x0, args, tol, maxiter, solver)
    if solver is not None:
        return solved(solver, lambda x: f(x, *args), _start(x0))
    return iterated(lambda x: f(x, *args), _start(x0), tol, maxiter)


def _start(x0: Any) -> Any:
    return np.array(x0, float) if np.ndim(x0) else float(x0)


def _of_one_axis(find: Any, f: Any, x0: Any, args: tuple[Any, ...], tol: float, maxiter: int, solver: Any) -> Any:
    """The same for a container of numbers and arrays, or an array of several axes."""
    leaves, tree = flatten(x0)
    shapes = [np.shape(x) for x in leaves]
    ends = np.cumsum([np.size(x) for x in leaves])

    def packed(x: Any) -> Any:
        return np.concatenate([np.ravel(np.asarray(part, float)) for part in flatten(x)[0]])

    def unpacked(flat: Any) -> Any:
        parts = [np.reshape(part, shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes)]
        return unflatten(tree, [float(p) if p.ndim == 0 else p for p in parts])

    found = find(lambda w: packed(f(unpacked(w), *args)), packed(x0), tol=tol, maxiter=maxiter, solver=solver)
    return unpacked(found)


def _slope(f: Any, x: Any, args: tuple[Any, ...]) -> Any:
    """The derivative of `f` by `x`, from central differences: Newton's method corrects what these are wrong by."""
    if np.ndim(x) == 0:
        step = 6e-6 * max(1.0, abs(x))
        return (np.asarray(f(x + step, *args)) - f(x - step, *args)) / (2 * step)
    columns = []
    for k in range(x.size):
        d = np.zeros_like(x)
        d[k] = 6e-6 * max(1.0, abs(x[k]))
        columns.append((np.asarray(f(x + d, *args)) - f(x - d, *args)) / (2 * d[k]))
    return np.stack(columns, axis=-1) if columns else np.zeros((0, 0))


def _lowering(name: str, steps: int) -> Any:
    def lower(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from .compiler import lower_solver

        return lower_solver(interp, name, steps, args, kwargs)

    return lower


lowers_by(_lowering("root", 100))(root)
lowers_by(_lowering("fixed_point", 1000))(fixed_point)

__all__ = ["fixed_point", "root"]
