"""Gradients of a small network for each of 256 rows: `batch` of a gradient, by hand with outer products, and JAX."""

from __future__ import annotations

from typing import Any

import numpy as np

NAME = "per-example gradients"
ARGNUMS = (0, 1, 2, 3)
SIZES = {"256 x 16-32-10": (256, 16, 32, 10)}
SMALL = (5, 4, 3, 2)


def inputs(size: tuple[int, int, int, int]) -> tuple[Any, ...]:
    count, n_in, hidden, n_out = size
    rng = np.random.default_rng(2)
    w1 = rng.normal(size=(n_in, hidden)) / np.sqrt(n_in)
    w2 = rng.normal(size=(hidden, n_out)) / np.sqrt(hidden)
    x = rng.normal(size=(count, n_in))
    y = np.eye(n_out)[rng.integers(n_out, size=count)]
    return w1, np.zeros(hidden), w2, np.zeros(n_out), x, y


def loss(w1, b1, w2, b2, x, y):
    """Of one row."""
    h = np.tanh(x @ w1 + b1)
    z = h @ w2 + b2
    return -np.sum(y * (z - np.log(np.sum(np.exp(z)))))


def primal(w1, b1, w2, b2, x, y):
    """Of all rows, each as it is written for one."""
    h = np.tanh(x @ w1 + b1)
    z = h @ w2 + b2
    return -np.sum(y * (z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))), axis=1)


def by_hand(w1, b1, w2, b2, x, y):
    h = np.tanh(x @ w1 + b1)
    e = np.exp(h @ w2 + b2)
    z_bar = e / e.sum(axis=1, keepdims=True) - y
    a_bar = (z_bar @ w2.T) * (1 - h * h)
    return np.einsum("bi,bj->bij", x, a_bar), a_bar, np.einsum("bi,bj->bij", h, z_bar), z_bar


def derived():
    import autodiff_compiler as ad

    return ad.batch(ad.grad(loss, argnums=ARGNUMS), in_axes=(None, None, None, None, 0, 0))


def jax_version():
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def row(w1, b1, w2, b2, x, y):
        z = jnp.tanh(x @ w1 + b1) @ w2 + b2
        return -jnp.sum(y * (z - jnp.log(jnp.sum(jnp.exp(z)))))

    run = jax.jit(jax.vmap(jax.grad(row, argnums=ARGNUMS), in_axes=(None, None, None, None, 0, 0)))
    return lambda *args: jax.block_until_ready(run(*args))
