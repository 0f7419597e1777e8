"""A gradient of a gradient."""

import numpy as np

import autodiff_compiler as ad


def f(x):
    return np.sum(np.sin(x) * x)


def squared_slope(x):
    s = ad.grad(f)(x)
    return np.sum(s * s)


derived = ad.grad(squared_slope)
arguments = (np.array([0.3, 1.2, -0.4]),)

# === emitted ===
import numpy as np


def squared_slope_grad(x):
    cos_x = np.cos(x)
    # adjoint of line 14: return np.sum(s * s)
    x_bar_bar = 2.0 * (np.sin(x) + x * cos_x)
    # adjoint of line 9: return np.sum(np.sin(x) * x)
    x_bar = x_bar_bar * cos_x
    return x_bar - x_bar_bar * x * np.sin(x) + x_bar
