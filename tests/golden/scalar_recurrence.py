"""Numbers only, with a branch in the loop."""

import numpy as np

import autodiff_compiler as ad


def recur(x, a, n):
    for i in range(n):
        if x > 0.5:
            x = a * x * (1.0 - x)
        else:
            x = x + 0.1 * a
    return x


derived = ad.grad(recur, argnums=(0, 1))
arguments = (0.3, 3.1, 6)

# === emitted ===
def recur_grad(x, a, n):
    x_saved = []
    for _ in range(n):
        x_saved.append(x)
        if x > 0.5:
            x = a * x * (1.0 - x)
        else:
            x += 0.1 * a
    x_bar, a_bar = 1.0, 0.0
    # adjoint of line 9: for i in range(n):
    for x in reversed(x_saved):
        # adjoint of line 10: if x > 0.5:
        if x > 0.5:
            # adjoint of line 11: x = a * x * (1.0 - x)
            a_x_bar = x_bar * (1.0 - x)
            a_bar += a_x_bar * x
            x_bar = (a_x_bar - x_bar * x) * a
        else:
            # adjoint of line 13: x = x + 0.1 * a
            a_bar += 0.1 * x_bar
    return x_bar, a_bar
