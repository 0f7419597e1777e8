"""The value and the gradient share the forward sweep."""

import numpy as np

import autodiff_compiler as ad


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


derived = ad.value_and_grad(rosenbrock)
arguments = (np.array([0.5, 0.8, 1.2, 0.9]),)

# === emitted ===
import numpy as np


def rosenbrock_value_and_grad(x):
    x_head = x[:-1]
    t = x[1:] - x_head**2
    one_minus_x_head = 1.0 - x_head
    # adjoint of line 9: return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
    x_tail_bar = 200.0 * t
    x_bar = np.zeros(x.shape)
    x_bar[:-1] = -(x_tail_bar * x_head + one_minus_x_head) * 2.0
    x_bar[1:] += x_tail_bar
    return (100.0 * t**2 + one_minus_x_head**2).sum(), x_bar
