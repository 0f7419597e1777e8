"""A recurrence on Python floats with a branch. There is no array, so the cost is the Python interpreter's."""

from __future__ import annotations

from typing import Any

NAME = "float recurrence"
ARGNUMS = (0, 1, 2)
SIZES = {"1000 steps": 1000}
SMALL = 30


def inputs(size: int) -> tuple[Any, ...]:
    return 0.3, 0.9, 0.8, size


def primal(x, a, b, steps):
    for _ in range(steps):
        if x > 0.5:
            x = x - b * x * x
        else:
            x = a * x + 0.1
    return x


def by_hand(x, a, b, steps):
    xs = []
    for _ in range(steps):
        xs.append(x)
        if x > 0.5:
            x = x - b * x * x
        else:
            x = a * x + 0.1
    x_bar, a_bar, b_bar = 1.0, 0.0, 0.0
    for x in reversed(xs):
        if x > 0.5:
            b_bar -= x_bar * x * x
            x_bar -= 2.0 * x_bar * b * x
        else:
            a_bar += x_bar * x
            x_bar *= a
    return x_bar, a_bar, b_bar


def autograd_version():
    import autograd

    return autograd.grad(primal, argnum=(0, 1, 2))
