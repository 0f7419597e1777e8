"""Logistic regression: the mean of an elementwise loss over a product."""

import numpy as np

import autodiff_compiler as ad


def loss(w, x, y):
    p = 1 / (1 + np.exp(-(x @ w)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


derived = ad.grad(loss)
arguments = (np.array([0.3, -0.2, 0.1]), np.linspace(-1.0, 1.2, 12).reshape(4, 3), np.array([1.0, 0.0, 1.0, 1.0]))

# === emitted ===
import numpy as np


def loss_grad(w, x, y):
    exp_minus_x_w = np.exp(-(x @ w))
    t = 1.0 + exp_minus_x_w
    p = 1.0 / t
    # adjoint of line 10: return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    t2 = -1.0 / x.shape[0]
    # adjoint of line 9: p = 1 / (1 + np.exp(-(x @ w)))
    t3 = np.minimum(exp_minus_x_w, 1.7976931348623157e308)
    x_w_bar = (t2 * y / p - t2 * (1.0 - y) / (1.0 - p)) / t * p * t3
    return x_w_bar.dot(x)
