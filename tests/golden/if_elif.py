"""Branches on the value."""

import numpy as np

import autodiff_compiler as ad


def huber(x, delta):
    r = x - 1.0
    if r > delta:
        out = delta * (r - 0.5 * delta)
    elif r < -delta:
        out = -delta * (r + 0.5 * delta)
    else:
        out = 0.5 * r * r
    return out


derived = ad.grad(huber, argnums=(0, 1))
arguments = (3.0, 0.7)

# === emitted ===
def huber_grad(x, delta):
    r = x - 1.0
    # adjoint of line 10: if r > delta:
    if r > delta:
        # adjoint of line 11: out = delta * (r - 0.5 * delta)
        delta_bar = r - delta
        r_bar = delta
    else:
        # adjoint of line 12: elif r < -delta:
        r_bar = -delta
        if r < r_bar:
            # adjoint of line 13: out = -delta * (r + 0.5 * delta)
            delta_bar = -0.5 * delta
            minus_delta_bar = r + 0.5 * delta
        else:
            minus_delta_bar, r_bar, delta_bar = 0.0, r, 0.0
        # adjoint of line 12: elif r < -delta:
        delta_bar -= minus_delta_bar
    return r_bar, delta_bar
