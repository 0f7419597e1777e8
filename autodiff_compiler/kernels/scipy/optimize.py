"""Calls of SciPy's solvers, and what is read of their results."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from ..callbacks import protected


def optimum(solver: Any, args: Any, settings: Any) -> Any:
    """What a solver of `scipy.optimize` gives. `settings`: pairs of a name and a value; "options" has pairs, too."""
    known = {name: value for name, value in settings if value is not None}
    if "args" in known:
        known["args"] = tuple(map(protected, known["args"]))
    if "options" in known:
        known["options"] = dict(known["options"])
    if "minimizer_kwargs" in known:
        inner = dict(known["minimizer_kwargs"])
        known["minimizer_kwargs"] = {**inner, "options": dict(inner["options"])} if "options" in inner else inner
    if "constraints" in known:
        known["constraints"] = [_constraint(*constraint) for constraint in known["constraints"]]
    if "bounds" in known and solver not in _WITH_TWO:
        low, high = known["bounds"]
        low, high = np.broadcast_arrays(np.atleast_1d(np.asarray(low, float)), np.asarray(high, float))
        known["bounds"] = list(zip(low, high))
    return solver(*args, **known)


# These take two bounds; the others take one pair for each unknown.
_WITH_TWO = (optimize.minimize_scalar, optimize.least_squares, optimize.lsq_linear)


def _constraint(kind: str, fun: Any, low: Any, high: Any, jac: Any, hess: Any) -> Any:
    """A constraint as `scipy.optimize.minimize` takes it."""
    if kind == "linear":
        return optimize.LinearConstraint(fun, low, high)
    if kind == "nonlinear":
        return optimize.NonlinearConstraint(fun, low, high, jac, **({} if hess is None else {"hess": hess}))
    return {"type": kind, "fun": fun, **({} if jac is None else {"jac": jac})}


def fitted(model: Any, count: int, ydata: Any, settings: Any) -> Any:
    """What `scipy.optimize.curve_fit` gives for a model of its parameters, of which there are `count`, alone."""
    known = {name: value for name, value in settings if value is not None}
    return optimize.curve_fit(lambda _, *p: model(np.array(p)), np.zeros(len(ydata)), ydata, **known)


def sides(x: Any, low: Any, high: Any) -> Any:
    """On which bound each element of a solution lies: -1, 1, or 0 for none."""
    near = 1e-8 * (1 + np.abs(x))
    return np.where(x - low <= near, -1, np.where(high - x <= near, 1, 0))


def complementary(x: Any, gradient: Any, side: Any) -> Any:
    """`x`, where strict complementarity holds: what lies on a bound would leave the interval, if it could.

    Raises ArithmeticError elsewhere: the derivative to the one side is not that to the other.
    """
    _check_signs(-side * np.asarray(gradient(x), float), side != 0, "bound")
    return x.copy()


def edge_of(gradient: Any, x: float, low: float, high: float) -> int:
    """On which side of its interval a minimum of a function of one number lies: -1, 1, or 0 for neither.

    Solvers stop a little before a bound. It is the minimum if the slope there points out of the interval.
    """
    near = 1e-4 * (1 + abs(x))
    for side, bound in ((-1, low), (1, high)):
        if abs(x - bound) <= near:
            push = -side * float(gradient(float(bound)))
            if push == 0:
                _check_signs(np.zeros(1), np.ones(1, bool), "bound")
            if push > 0:
                return side
    return 0


def _check_signs(pushes: Any, held: Any, what: str) -> None:
    """pushes: the multipliers, positive where the constraint holds the solution back."""
    if (pushes[held] <= 1e-7 * (1 + np.abs(pushes).max(initial=0.0))).any():
        raise ArithmeticError(
            f"the solution lies on a {what} that does not hold it back, so it has no derivative there (strict "
            "complementarity)"
        )


def active_of(values: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Which constraints hold with equality: their numbers, and for each -1 (lower), 1 (upper) or 0 (an equation)."""
    near = 1e-5 * (1 + np.abs(values))
    sides = np.where(low == high, 0, np.where(values - low <= near, -1, np.where(high - values <= near, 1, 2)))
    active = np.flatnonzero(sides != 2)
    return active, sides[active]


def held_by_bounds(gradient: Any, x: Any, side: Any, which: Any) -> Any:
    """On which bound each element of `x` lies, but 0 for those that the equations among the constraints determine: such
    an element moves with its equation, whether it lies on a bound or beside it. The arguments are as in
    `multipliers_of`."""
    slopes = _slopes(gradient, x, len(which))[1][which == 0]
    if not len(slopes) or not side.any():
        return side
    # The element is determined if the slopes of the equations span its axis.
    _, size, axes = np.linalg.svd(slopes)
    span = axes[: np.count_nonzero(size > 1e-9 * size.max(initial=0.0))]
    return np.where(np.abs((span * span).sum(axis=0) - 1.0) < 1e-9, 0, side)


def _slopes(gradient: Any, x: Any, count: int) -> tuple[Any, Any]:
    """The slopes of the objective, and those of each constraint."""
    at: Any = lambda multipliers: np.asarray(gradient(np.concatenate([x, multipliers])), float)[: len(x)]
    alone = at(np.zeros(count))
    return alone, np.array([alone - at(row) for row in np.eye(count)]).reshape(count, len(x))


def multipliers_of(gradient: Any, x: Any, side: Any, which: Any) -> Any:
    """The multipliers of Lagrange of the active constraints at a minimum `x`.

    gradient: that of the Lagrangian by the solution and the multipliers, which is linear in these
    side:     on which bound each element of `x` lies, or None
    which:    as `active_of` gives it

    Raises ArithmeticError if the slopes of the active constraints are not independent, or if a constraint or a bound
    does not hold the solution back (strict complementarity).
    """
    n, count = len(x), len(which)
    alone, slopes = _slopes(gradient, x, count)
    free = np.ones(n, bool) if side is None else side == 0
    if count and np.linalg.matrix_rank(slopes[:, free], tol=1e-9 * (1 + np.abs(slopes).max())) < count:
        raise ArithmeticError(
            "the slopes of the constraints that hold at the solution are not independent, so it has no derivative "
            "(linear independence constraint qualification)"
        )
    found = np.linalg.lstsq(slopes[:, free].T, alone[free], rcond=None)[0] if count else np.zeros(0)
    _check_signs(np.where(which == 0, 1.0, -which * found), which != 0, "constraint")
    if side is not None:
        _check_signs(-side * (alone - found @ slopes), side != 0, "bound")
    return found


def blocks_of(y: Any, weights: Any, increasing: bool) -> Any:
    """Where the blocks of equal values begin that `isotonic_regression` makes, and the number of all values."""
    return np.array(optimize.isotonic_regression(y, weights=weights, increasing=bool(increasing)).blocks, np.intp)


def part_of(outcome: Any, k: int) -> Any:
    """A part of what a solver gave, which says something of the run."""
    return outcome[k]


def detail_of(outcome: Any, k: int, x: Any) -> Any:
    """A part of what a solver gave, such as a covariance. It moves with the solution, but has no derivative."""
    return outcome[k]
