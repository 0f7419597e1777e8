"""A recurrent network: the state is carried through a loop over time."""

import numpy as np

import autodiff_compiler as ad


def loss(w, u, xs, target):
    h = np.zeros(3)
    for t in range(xs.shape[0]):
        h = np.tanh(w @ h + u @ xs[t])
    return np.sum((h - target) ** 2)


derived = ad.grad(loss, argnums=(0, 1))
arguments = (np.linspace(-0.4, 0.5, 9).reshape(3, 3), np.linspace(0.1, 0.6, 6).reshape(3, 2), np.linspace(-1, 1, 8).reshape(4, 2), np.zeros(3))

# === emitted ===
import numpy as np


def loss_grad(w, u, xs, target):
    h = np.zeros(3)
    n = xs.shape[0]
    h_saved = []
    for t in range(n):
        h_saved.append(h)
        h = np.tanh(w.dot(h) + u.dot(xs[t]))
    # adjoint of line 12: return np.sum((h - target) ** 2)
    h_bar = 2.0 * (h - target)
    columns, rows = np.empty((n, w.shape[0])), np.empty((n, w.shape[1]))
    # adjoint of line 10: for t in range(xs.shape[0]):
    for t in reversed(range(n)):
        h2 = h_saved.pop()
        # adjoint of line 11: h = np.tanh(w @ h + u @ xs[t])
        w_h_bar = h_bar * (1.0 - h * h)
        h_bar = w_h_bar.dot(w)
        columns[t], rows[t] = w_h_bar, h2
        h = h2
    return columns.T.dot(rows), columns.T.dot(xs)
