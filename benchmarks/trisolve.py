"""Forward substitution. It stores one scalar at a time, and reads the stored values."""

from __future__ import annotations

from typing import Any

import numpy as np

NAME = "triangular solve"
ARGNUMS = (0, 1)
SIZES = {"n=200": 200}
SMALL = 5


def inputs(size: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(5)
    a = np.tril(rng.normal(size=(size, size)) / size)
    a[np.arange(size), np.arange(size)] = 1.0 + rng.random(size)
    return a, rng.normal(size=size)


def primal(a, b):
    x = np.zeros(b.shape[0])
    for i in range(b.shape[0]):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(x * x)


def by_hand(a, b):
    x = np.zeros(b.shape[0])
    for i in range(b.shape[0]):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    x_bar = 2.0 * x
    a_bar = np.zeros_like(a)
    b_bar = np.zeros_like(b)
    for i in range(b.shape[0] - 1, -1, -1):
        g = x_bar[i] / a[i, i]
        b_bar[i] = g
        a_bar[i, i] = -g * x[i]
        a_bar[i, :i] = -g * x[:i]
        x_bar[:i] -= g * a[i, :i]
    return a_bar, b_bar


def autograd_version():
    """Autograd has no stores, so the entries are collected in a list."""
    import autograd
    import autograd.numpy as anp

    def solve(a, b):
        x = []
        for i in range(b.shape[0]):
            done = anp.dot(a[i, :i], anp.array(x)) if x else 0.0
            x.append((b[i] - done) / a[i, i])
        return anp.sum(anp.array(x) ** 2)

    return autograd.grad(solve, argnum=(0, 1))
