"""Derivatives of functions of which only values are known, by difference quotients."""

from __future__ import annotations

from typing import Any

import numpy as np


class Black:
    """A function that is differentiated by difference quotients.

    method: "central": four values for each element, of fourth order; "complex": one value at a complex argument
    step:   the length of a step, relative to the element where that is larger than 1; None: what fits the method
    """

    def __init__(self, fun: Any, method: str, step: float | None):
        self.fun = fun
        self.method = method
        self.step = step
        self.__name__ = f"{getattr(fun, '__name__', 'function')}_numerical"

    def along(self, args: Any, kwargs: Any, k: int, direction: Any, scale: float) -> Any:
        """The derivative along a direction of argument `k`. `scale`: the size of what is changed."""
        x = args[k]

        def at(change: Any) -> Any:
            given = x + change * direction
            return np.asarray(self.fun(*args[:k], given, *args[k + 1 :], **kwargs))

        if self.method == "complex":
            h = 1e-30 if self.step is None else self.step
            return np.imag(at(1j * h)) / h
        h = (7.4e-4 if self.step is None else self.step) * max(1.0, scale)  # the fifth root of the precision
        return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def difference_pullback(black: Any, k: int, kwargs: Any, g: Any, *args: Any) -> Any:
    """The cotangent of argument `k`, where `g` is that of the result. One derivative for each element."""
    x = np.asarray(args[k])
    plain = dict(kwargs)
    if x.ndim == 0:
        return x.dtype.type(np.sum(g * black.along(args, plain, k, 1.0, abs(float(x)))))
    out = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        direction = np.zeros_like(x)
        direction[place] = 1.0
        out[place] = np.sum(g * black.along(args, plain, k, direction, abs(float(x[place]))))
    return out


def difference_pushforward(black: Any, k: int, kwargs: Any, d: Any, *args: Any) -> Any:
    """The tangent of the result, where `d` is that of argument `k`."""
    size = float(np.max(np.abs(d), initial=0.0))
    if size == 0:
        return 0.0
    return size * black.along(args, dict(kwargs), k, d / size, float(np.max(np.abs(args[k]), initial=0.0)))
