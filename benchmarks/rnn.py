"""A recurrent network of 20 steps: a loop whose residual is one array for each step."""

from __future__ import annotations

from typing import Any

import numpy as np

NAME = "RNN"
ARGNUMS = (0, 1, 2, 3)
SIZES = {"20 steps": (20, 32, 16, 64)}
SMALL = (4, 3, 2, 5)


def inputs(size: tuple[int, int, int, int]) -> tuple[Any, ...]:
    steps, batch, n_in, hidden = size
    rng = np.random.default_rng(3)
    wx = rng.normal(size=(n_in, hidden)) / np.sqrt(n_in)
    wh = rng.normal(size=(hidden, hidden)) / np.sqrt(hidden)
    wo = rng.normal(size=(hidden, 1)) / np.sqrt(hidden)
    return wx, wh, np.zeros(hidden), wo, rng.normal(size=(steps, batch, n_in)), rng.normal(size=(batch, 1))


def primal(wx, wh, b, wo, x, y):
    h = np.zeros((x.shape[1], wh.shape[0]))
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ wx + h @ wh + b)
    r = h @ wo - y
    return np.sum(r * r) / x.shape[1]


def by_hand(wx, wh, b, wo, x, y):
    h = np.zeros((x.shape[1], wh.shape[0]))
    hs = [h]
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ wx + h @ wh + b)
        hs.append(h)
    r_bar = (h @ wo - y) * (2.0 / x.shape[1])
    wo_bar = h.T @ r_bar
    h_bar = r_bar @ wo.T
    wx_bar, wh_bar, b_bar = np.zeros_like(wx), np.zeros_like(wh), np.zeros_like(b)
    for t in range(x.shape[0] - 1, -1, -1):
        h = hs.pop()
        a_bar = h_bar * (1.0 - h * h)
        b_bar += a_bar.sum(axis=0)
        wx_bar += x[t].T @ a_bar
        wh_bar += hs[-1].T @ a_bar
        h_bar = a_bar @ wh.T
    return wx_bar, wh_bar, b_bar, wo_bar


def autograd_version():
    import autograd
    import autograd.numpy as anp

    def loss(wx, wh, b, wo, x, y):
        h = anp.zeros((x.shape[1], wh.shape[0]))
        for t in range(x.shape[0]):
            h = anp.tanh(anp.dot(x[t], wx) + anp.dot(h, wh) + b)
        r = anp.dot(h, wo) - y
        return anp.sum(r * r) / x.shape[1]

    return autograd.grad(loss, argnum=(0, 1, 2, 3))
