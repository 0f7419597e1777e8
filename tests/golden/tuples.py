"""Tuples, unpacking, a swap and a loop over zip."""

import numpy as np

import autodiff_compiler as ad


def walk(a, b, steps):
    pair = (a * b, a + b)
    for s, k in zip(steps, range(3)):
        x, y = pair
        pair = (y * s, x - k * y)
    (x, y) = pair
    return x * y


derived = ad.grad(walk, argnums=(0, 1))
arguments = (0.7, 1.3, np.array([0.5, 1.5, -0.3]))

# === emitted ===
def walk_grad(a, b, steps):
    x = a * b
    y = a + b
    n = min(steps.shape[0], 3)
    steps_list = steps.tolist()
    for i in range(n):
        x, y = y * steps_list[i], x - i * y
    x_bar, y_bar = y, x
    # adjoint of line 10: for s, k in zip(steps, range(3)):
    for i in reversed(range(n)):
        # adjoint of line 12: pair = (y * s, x - k * y)
        y_bar2 = x_bar * steps_list[i] - y_bar * i
        x_bar, y_bar = y_bar, y_bar2
    return y_bar + x_bar * b, y_bar + x_bar * a
