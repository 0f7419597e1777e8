"""Newton's iteration, left by break when it has converged."""

import numpy as np

import autodiff_compiler as ad


def root(a):
    x = a
    for _ in range(50):
        step = (x * x - a) / (2.0 * x)
        x = x - step
        if abs(step) < 1e-10:
            break
    return x


derived = ad.grad(root)
arguments = (2.0,)

# === emitted ===
def root_grad(a):
    saved = []
    x = a
    for _ in range(50):
        step = (x * x - a) / (2.0 * x)
        saved.append((x, step))
        x -= step
        if abs(step) < 1e-10:
            break
    x_bar, a_bar = 1.0, 0.0
    # adjoint of line 10: for _ in range(50):
    for x, step in reversed(saved):
        # adjoint of line 11: step = (x * x - a) / (2.0 * x)
        t = x_bar / (2.0 * x)
        a_bar += t
        t2 = t * x
        x_bar = x_bar + t * step * 2.0 - t2 - t2
    return a_bar + x_bar
