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
    return solver(*args, **known)


def fitted(model: Any, count: int, ydata: Any, settings: Any) -> Any:
    """What `scipy.optimize.curve_fit` gives for a model of its parameters, of which there are `count`, alone."""
    known = {name: value for name, value in settings if value is not None}
    return optimize.curve_fit(lambda _, *p: model(np.array(p)), np.zeros(len(ydata)), ydata, **known)


def sides(x: Any, low: Any, high: Any) -> Any:
    """On which bound each element of a solution lies: -1, 1, or 0 for none."""
    near = 1e-8 * (1 + np.abs(x))
    return np.where(x - low <= near, -1, np.where(high - x <= near, 1, 0))


def covariance_of(outcome: Any, x: Any) -> Any:
    """The covariance that `curve_fit` estimates. It has no derivative."""
    return outcome[1]
