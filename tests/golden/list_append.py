"""A trajectory collected in a list."""

import numpy as np

import autodiff_compiler as ad


def spread_of(x, n):
    path = []
    for _ in range(n):
        x = 1.9 * x * (1.0 - x)
        path.append(x)
    return sum(path) * path[-1]


derived = ad.grad(spread_of)
arguments = (0.3, 4)

# === emitted ===
def spread_of_grad(x, n):
    t, x_saved = [], []
    for _ in range(n):
        x_saved.append(x)
        x = 1.9 * x * (1.0 - x)
        t.append(x)
    n2 = len(t)
    t2 = 0.0
    for i in range(n2):
        t2 += t[i]
    t3 = t[-1]
    t = [0.0] * len(t)
    # adjoint of line 13: return sum(path) * path[-1]
    t[-1] += t2
    for i in reversed(range(n2)):
        t[i] += t3
    x_bar = 0.0
    # adjoint of line 10: for _ in range(n):
    for x in reversed(x_saved):
        # adjoint of line 12: path.append(x)
        t4 = (x_bar + t[-1]) * 1.9
        del t[-1]
        # adjoint of line 11: x = 1.9 * x * (1.0 - x)
        x_bar = (1.0 - x - x) * t4
    return x_bar
