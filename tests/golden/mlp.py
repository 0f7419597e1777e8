"""Three layers, the parameters as separate arguments."""

import numpy as np

import autodiff_compiler as ad


def loss(w1, b1, w2, b2, x, y):
    h = np.tanh(x @ w1 + b1)
    out = h @ w2 + b2
    return np.sum((out - y) ** 2)


derived = ad.grad(loss, argnums=(0, 1, 2, 3))
arguments = (np.linspace(-1, 1, 6).reshape(2, 3), np.full(3, 0.1), np.linspace(-0.5, 0.7, 6).reshape(3, 2), np.zeros(2), np.linspace(0, 1, 8).reshape(4, 2), np.ones((4, 2)))

# === emitted ===
import numpy as np
from autodiff_compiler.runtime import column_sums


def loss_grad(w1, b1, w2, b2, x, y):
    h = np.tanh(x @ w1 + b1)
    out = h @ w2 + b2
    # adjoint of line 11: return np.sum((out - y) ** 2)
    out_bar = 2.0 * (out - y)
    # adjoint of line 9: h = np.tanh(x @ w1 + b1)
    x_w1_plus_b1_bar = out_bar.dot(w2.T) * (1.0 - h * h)
    b1_bar = column_sums(x_w1_plus_b1_bar)
    return x.T.dot(x_w1_plus_b1_bar), b1_bar, h.T.dot(out_bar), column_sums(out_bar)
