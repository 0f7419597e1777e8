"""A small network, batch of 32. The cost is NumPy's call overhead, so each needless operation shows."""

from __future__ import annotations

from typing import Any

import numpy as np

NAME = "MLP"
ARGNUMS = (0, 1, 2, 3)
SIZES = {"32 x 64-64-10": (32, 64, 64, 10)}
SMALL = (5, 4, 3, 2)


def inputs(size: tuple[int, int, int, int]) -> tuple[Any, ...]:
    batch, n_in, hidden, n_out = size
    rng = np.random.default_rng(1)
    w1 = rng.normal(size=(n_in, hidden)) / np.sqrt(n_in)
    w2 = rng.normal(size=(hidden, n_out)) / np.sqrt(hidden)
    x = rng.normal(size=(batch, n_in))
    y = np.eye(n_out)[rng.integers(n_out, size=batch)]
    return w1, np.zeros(hidden), w2, np.zeros(n_out), x, y


def primal(w1, b1, w2, b2, x, y):
    h = np.tanh(x @ w1 + b1)
    z = h @ w2 + b2
    log_norm = np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.sum(y * (z - log_norm)) / x.shape[0]


def by_hand(w1, b1, w2, b2, x, y):
    h = np.tanh(x @ w1 + b1)
    e = np.exp(h @ w2 + b2)
    norm = e.sum(axis=1, keepdims=True)
    g = y * (-1 / x.shape[0])
    z_bar = g - e * (g.sum(axis=1, keepdims=True) / norm)
    h_bar = z_bar @ w2.T
    a_bar = h_bar * (1 - h * h)
    return x.T @ a_bar, a_bar.sum(axis=0), h.T @ z_bar, z_bar.sum(axis=0)


def autograd_version():
    import autograd
    import autograd.numpy as anp

    def loss(w1, b1, w2, b2, x, y):
        h = anp.tanh(anp.dot(x, w1) + b1)
        z = anp.dot(h, w2) + b2
        log_norm = anp.log(anp.sum(anp.exp(z), axis=1, keepdims=True))
        return -anp.sum(y * (z - log_norm)) / x.shape[0]

    return autograd.grad(loss, argnum=(0, 1, 2, 3))
