"""Logistic regression: one matrix-vector product each way and a few elementwise operations between them."""

from __future__ import annotations

from typing import Any

import numpy as np

NAME = "logistic regression"
ARGNUMS = 0
SIZES = {"10000x100": (10000, 100)}
SMALL = (20, 4)


def inputs(size: tuple[int, int]) -> tuple[Any, ...]:
    n, d = size
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, d))
    y = (x @ rng.normal(size=d) + rng.normal(size=n) > 0).astype(float)
    return rng.normal(size=d) * 0.1, x, y


def primal(w, x, y):
    p = 1 / (1 + np.exp(-(x @ w)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def by_hand(w, x, y):
    """The chain rule, statement by statement. The value of the loss is not computed."""
    p = 1 / (1 + np.exp(-(x @ w)))
    q = 1 - p
    p_bar = ((1 - y) / q - y / p) / y.shape[0]
    return (p_bar * p * q) @ x


def by_algebra(w, x, y):
    """The gradient after the logarithms are cancelled by hand, which no chain rule does. For comparison only."""
    p = 1 / (1 + np.exp(-(x @ w)))
    return ((p - y) / y.shape[0]) @ x


def autograd_version():
    import autograd
    import autograd.numpy as anp

    def loss(w, x, y):
        p = 1 / (1 + anp.exp(-anp.dot(x, w)))
        return -anp.mean(y * anp.log(p) + (1 - y) * anp.log(1 - p))

    return autograd.grad(loss)
