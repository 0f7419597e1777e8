"""Forward substitution with scalar stores."""

import numpy as np

import autodiff_compiler as ad


def solve(a, b):
    n = b.shape[0]
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(x * x)


derived = ad.grad(solve, argnums=(0, 1))
arguments = (np.eye(4) * 2.0 + np.linspace(0.1, 0.9, 16).reshape(4, 4), np.linspace(1, 2, 4))

# === emitted ===
import numpy as np


def solve_grad(a, b):
    n = b.shape[0]
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - a[i, :i].dot(x[:i])) / a[i, i]
    # adjoint of line 13: return np.sum(x * x)
    x_bar = 2.0 * x
    b_bar, a_bar = np.empty_like(b), np.zeros(a.shape)
    # adjoint of line 11: for i in range(n):
    for i in reversed(range(n)):
        # adjoint of line 12: x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
        b_i_bar = x_bar[i] / a[i, i]
        a_bar[i, i] = -b_i_bar * x[i]
        x_bar[:i] -= b_i_bar * a[i, :i]
        a_bar[i, :i] = -b_i_bar * x[:i]
        b_bar[i] = b_i_bar
    return a_bar, b_bar
