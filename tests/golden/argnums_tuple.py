"""Only what the chosen arguments need is computed."""

import numpy as np

import autodiff_compiler as ad


def weighted(a, b, c):
    return np.sum(np.exp(a) * b / c)


derived = ad.grad(weighted, argnums=(0, 2))
arguments = (np.linspace(0, 1, 3), np.linspace(1, 2, 3), np.linspace(2, 3, 3))

# === emitted ===
import numpy as np
from autodiff_compiler.runtime import finite


def weighted_grad(a, b, c):
    exp_a = np.exp(a)
    # adjoint of line 9: return np.sum(np.exp(a) * b / c)
    b_exp_a_bar = 1.0 / c
    return b_exp_a_bar * b * finite(exp_a), -b_exp_a_bar * (exp_a * b / c)
