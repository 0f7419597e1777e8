"""Systems that move: maps, ordinary differential equations, particles."""

from __future__ import annotations

import numpy as np

from .program import Program


def logistic_map(r, x0, steps):
    """The mean of an ensemble under x -> r x (1 - x)."""
    x = x0
    for _ in range(steps):
        x = r * x * (1.0 - x)
    return np.mean(x)


def logistic_map_by_hand(r, x0, steps):
    x = x0
    xs = []
    for _ in range(steps):
        xs.append(x)
        x = r * x * (1.0 - x)
    x_bar = np.full_like(x, 1.0 / x.size)
    r_bar = 0.0
    for y in reversed(xs):
        r_bar += np.sum(x_bar * y * (1.0 - y))
        x_bar = x_bar * (r * (1.0 - 2.0 * y))
    return np.mean(x), (r_bar, x_bar)


def logistic_map_inputs(rng, n, steps):
    return 3.2, rng.uniform(0.2, 0.8, n), steps


PROGRAMS = [
    Program(logistic_map, logistic_map_by_hand, logistic_map_inputs, (16, 10), (20_000, 60), (0, 1)),
]
