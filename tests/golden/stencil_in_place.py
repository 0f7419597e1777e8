"""A linear stencil that writes into its array: nothing has to be saved."""

import numpy as np

import autodiff_compiler as ad


def smooth(u, steps, rate):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += rate * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1])
    return np.sum(u * u)


derived = ad.grad(smooth)
arguments = (np.sin(np.arange(20.0)).reshape(4, 5), 3, 0.1)

# === emitted ===
def smooth_grad(u, steps, rate):
    u = u.copy()
    for _ in range(steps):
        u_inner = u[1:-1, 1:-1]
        t = 4.0 * u_inner
        t = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - t
        u_inner += rate * t
    # adjoint of line 12: return np.sum(u * u)
    u_bar = 2.0 * u
    # adjoint of line 10: for _ in range(steps):
    for _ in reversed(range(steps)):
        # adjoint of line 11: u[1:-1, 1:-1] += rate * (u[:-2, 1:-1] + u[2:, 1: ... * u[1:-1, 1:-1])
        u_bar_inner = u_bar[1:-1, 1:-1]
        u_bar_inner_rate = u_bar_inner * rate
        u_bar[1:-1, 1:-1] = (1.0 - 4.0 * rate) * u_bar_inner
        u_bar[1:-1, 2:] += u_bar_inner_rate
        u_bar[1:-1, :-2] += u_bar_inner_rate
        u_bar[2:, 1:-1] += u_bar_inner_rate
        u_bar[:-2, 1:-1] += u_bar_inner_rate
    return u_bar
