"""The second derivative of a loop over numbers."""

import numpy as np

import autodiff_compiler as ad


def iterate(x):
    for _ in range(4):
        x = x * x - 0.3 * x
    return x


derived = ad.grad(ad.grad(iterate))
arguments = (1.1,)

# === emitted ===
def iterate_grad_grad(x):
    x_saved, x_saved2 = [], []
    for _ in range(4):
        x_saved2.append(x)
        x_saved.append(x)
        x = x * x - 0.3 * x
    saved = []
    x_bar = 1.0
    for _ in reversed(range(4)):
        x = x_saved.pop()
        saved.append((x_bar, x))
        x_bar = 2.0 * (x_bar * x) - x_bar * 0.3
    x_saved_bar = []
    x_bar_bar = 1.0
    # adjoint of line 9: for _ in range(4):
    for x_bar, x in reversed(saved):
        # adjoint of line 10: x = x * x - 0.3 * x
        x_bar_x_bar = 2.0 * x_bar_bar
        x_bar_bar = x_bar_x_bar * x - 0.3 * x_bar_bar
        x_saved_bar.append(x_bar_x_bar * x_bar)
    x_bar = 0.0
    # adjoint of line 9: for _ in range(4):
    for x in reversed(x_saved2):
        t = x_saved_bar.pop()
        x_bar = (2.0 * x - 0.3) * x_bar + t
    return x_bar
