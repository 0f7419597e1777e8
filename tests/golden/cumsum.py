"""Running sums and products of returns."""

import numpy as np

import autodiff_compiler as ad


def drawdown(r):
    wealth = np.cumsum(r)
    return np.sum(wealth * wealth) + np.prod(1.0 + r)


derived = ad.grad(drawdown)
arguments = (np.array([0.1, -0.2, 0.3, 0.05]),)

# === emitted ===
import numpy as np
from autodiff_compiler.runtime import shift


def drawdown_grad(r):
    # adjoint of line 10: return np.sum(wealth * wealth) + np.prod(1.0 + r)
    t = np.ravel(1.0 + r)
    t2 = np.flip(np.cumprod(np.flip(shift(t, 0, 1, -1), 0), 0), 0)
    r_bar = np.reshape(np.cumprod(shift(t, 0, 1), 0) * t2, -1)
    # adjoint of line 9: wealth = np.cumsum(r)
    r_bar += np.reshape(np.cumsum((2.0 * np.cumsum(r))[::-1])[::-1], -1)
    return r_bar
