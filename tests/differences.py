"""Central differences. Tests compare gradients with them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np


def differences(f: Callable[..., Any], *args: Any, argnum: int = 0, step: float = 1e-6) -> Any:
    """The derivative of `f` with respect to one argument, a float or an array of floats.

    A function whose value is an array gives a stack: the axes of the argument come first. Each call of `f` gets deep
    copies of all arguments, so a function that writes into them does no harm.
    """
    x = args[argnum]

    def at(index: tuple[int, ...], change: float) -> Any:
        given = list(copy.deepcopy(args))
        if isinstance(x, np.ndarray):
            given[argnum][index] += change
        else:
            given[argnum] = x + change
        return np.asarray(f(*given))

    slopes = [(at(k, step) - at(k, -step)) / (2 * step) for k in np.ndindex(np.shape(x))]
    return np.reshape(slopes, np.shape(x) + np.shape(slopes[0])) if isinstance(x, np.ndarray) and slopes else slopes[0]
