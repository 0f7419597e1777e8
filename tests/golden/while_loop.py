"""A loop whose number of trips depends on the data."""

import numpy as np

import autodiff_compiler as ad


def decay(x, rate):
    total = 0.0
    while x > 0.1:
        total += x * x
        x *= rate
    return total


derived = ad.grad(decay, argnums=(0, 1))
arguments = (2.0, 0.7)

# === emitted ===
def decay_grad(x, rate):
    x_saved = []
    while x > 0.1:
        x_saved.append(x)
        x *= rate
    x_bar = rate_bar = 0.0
    # adjoint of line 10: while x > 0.1:
    for x in reversed(x_saved):
        # adjoint of line 12: x *= rate
        rate_bar += x_bar * x
        # adjoint of line 11: total += x * x
        x_bar = x_bar * rate + 2.0 * x
    return x_bar, rate_bar
