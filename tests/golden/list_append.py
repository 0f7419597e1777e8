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
import numpy as np
from autodiff_compiler.runtime import accum, sum_to, zeros


def spread_of_grad(x, n):
    t = []
    t_saved = []
    t_saved2 = []
    x2 = x
    for _ in range(n):
        t2 = 1.9 * x2
        t_saved2.append(t2)
        t3 = 1.0 - x2
        t_saved.append(t3)
        x2 = t2 * t3
        t.append(x2)
    t2 = len(t)
    t_saved3 = []
    t_saved4 = []
    t_saved5 = []
    t3 = 0
    for i in range(t2):
        t_saved4.append(t3)
        t4 = t[i]
        t_saved5.append(t4)
        t3 += t4
        t_saved3.append(t3)
    t4 = t[-1]
    t3 * t4
    # adjoint of line 13: return sum(path) * path[-1]
    t = zeros(t)
    t[-1] = accum(t[-1], sum_to(1.0 * t3, t4))
    # adjoint of line 13: return sum(path) * path[-1]
    for i in reversed(range(t2)):
        t2 = t_saved3.pop()
        t3 = t_saved4.pop()
        t5 = t_saved5.pop()
        t2 = sum_to(t4, t2)
        t4 = sum_to(t2, t3)
        t[i] = accum(t[i], sum_to(t2, t5))
    x_bar = 0.0
    # adjoint of line 10: for _ in range(n):
    for t2, t3 in zip(reversed(t_saved), reversed(t_saved2)):
        # adjoint of line 12: path.append(x)
        x_bar = x_bar + t[-1]
        del t[-1]
        # adjoint of line 11: x = 1.9 * x * (1.0 - x)
        x_bar = x_bar * t2 * 1.9 - x_bar * t3
    return x_bar
