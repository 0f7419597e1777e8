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
    t = x[:-1]
    t2 = x[1:] - t ** 2
    t3 = 1.0 - t
    # adjoint of line 9: return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
    t4 = 200.0 * t2
    x_bar = np.zeros_like(x)
    x_bar[:-1] = -(t4 * (2.0 * t)) - 2.0 * t3
    x_bar[1:] += t4
    return (100.0 * t2 ** 2 + t3 ** 2).sum(), x_bar
