"""A linear stencil that updates its array in place. The backward sweep needs no residuals."""

from __future__ import annotations

from typing import Any

import numpy as np

NAME = "in-place stencil"
ARGNUMS = 0
SIZES = {"128x128, 100 sweeps": (128, 100)}
SMALL = (6, 4)


def inputs(size: tuple[int, int]) -> tuple[Any, ...]:
    n, sweeps = size
    return np.random.default_rng(4).normal(size=(n, n)), sweeps


def primal(u0, sweeps):
    u = u0.copy()
    for _ in range(sweeps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return np.sum(u * u)


def by_hand(u0, sweeps):
    u = u0.copy()
    for _ in range(sweeps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    u_bar = 2.0 * u
    for _ in range(sweeps):
        g = 0.25 * u_bar[1:-1, 1:-1]
        u_bar[1:-1, 1:-1] = 0.0
        u_bar[:-2, 1:-1] += g
        u_bar[2:, 1:-1] += g
        u_bar[1:-1, :-2] += g
        u_bar[1:-1, 2:] += g
    return u_bar


def autograd_version():
    """Autograd has no stores, so a padded difference is added."""
    import autograd
    import autograd.numpy as anp

    def energy(u, sweeps):
        for _ in range(sweeps):
            inner = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
            u = u + anp.pad(inner - u[1:-1, 1:-1], 1, "constant")
        return anp.sum(u * u)

    return autograd.grad(energy)
