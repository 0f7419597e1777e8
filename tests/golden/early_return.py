"""A return inside a loop and one before it."""

import numpy as np

import autodiff_compiler as ad


def first_passage(x, drift):
    if drift == 0.0:
        return 0.0 * x
    for k in range(20):
        x = x * x * 0.4 + drift
        if x > 2.0:
            return x * k
    return x


derived = ad.grad(first_passage, argnums=(0, 1))
arguments = (1.1, 0.9)

# === emitted ===
def first_passage_grad(x, drift):
    cond = drift == 0.0
    x_saved = []
    if not cond:
        trips = code = 0
        for _ in range(20):
            x_saved.append(x)
            x = x * x * 0.4 + drift
            if x > 2.0:
                code = 3
                break
            trips += 1
    # adjoint of line 9: if drift == 0.0:
    if cond:
        drift_bar = x_bar = 0.0
    else:
        # adjoint of line 15: return x
        if code == 3:
            # adjoint of line 14: return x * k
            x_bar = 1.0 * trips
        else:
            x_bar = 1.0
        drift_bar = 0.0
        # adjoint of line 11: for k in range(20):
        for _ in reversed(range(trips + (code != 0))):
            x = x_saved.pop()
            # adjoint of line 12: x = x * x * 0.4 + drift
            drift_bar += x_bar
            x_bar = 0.8 * x_bar * x
    return x_bar, drift_bar
