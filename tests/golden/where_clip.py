"""Elementwise choices."""

import numpy as np

import autodiff_compiler as ad


def robust(x, lo):
    y = np.where(x > 0.0, x * x, -0.3 * x)
    return np.sum(np.clip(y, lo, 1.0) * np.maximum(x, 0.2))


derived = ad.grad(robust)
arguments = (np.array([0.5, -0.4, 2.0, 0.1]), 0.3)

# === emitted ===
import numpy as np


def robust_grad(x, lo):
    t = x > 0.0
    y = np.where(t, x * x, -0.3 * x)
    # adjoint of line 10: return np.sum(np.clip(y, lo, 1.0) * np.maximum(x, 0.2))
    x_bar = np.clip(y, lo, 1.0) * (0.5 * np.sign(x - 0.2) + 0.5)
    t2 = np.greater_equal(y, lo) & np.less_equal(y, 1.0)
    y_bar = np.maximum(x, 0.2) * t2
    # adjoint of line 9: y = np.where(x > 0.0, x * x, -0.3 * x)
    x_bar -= y_bar * np.logical_not(t) * 0.3
    x_bar += 2.0 * np.where(t2 & t, y_bar * t * x, 0.0)
    return x_bar
