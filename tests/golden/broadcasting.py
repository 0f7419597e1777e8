"""Operands of different shapes; the gradient is summed to each."""

import numpy as np

import autodiff_compiler as ad


def standardise(x, scale, shift):
    mu = x.mean(axis=0)
    sigma = x.std(axis=0)
    return np.sum(((x - mu) / sigma * scale + shift) ** 3)


derived = ad.grad(standardise, argnums=(0, 1, 2))
arguments = (np.cos(np.arange(12.0)).reshape(4, 3), np.array([1.0, 2.0, 0.5]), 0.3)

# === emitted ===
import numpy as np
from autodiff_compiler.runtime import column_sums, over


def standardise_grad(x, scale, shift):
    n = x.shape[0]
    mu = column_sums(x, exact=True) / n
    t = x - column_sums(x, exact=True)[None, :] / n
    sigma = np.sqrt(column_sums(t * t, exact=True) / n)
    t2 = (x - mu) / sigma
    # adjoint of line 11: return np.sum(((x - mu) / sigma * scale + shift) ** 3)
    t3 = 3.0 * (t2 * scale + shift) ** 2
    x_bar = t3 * scale / sigma
    sum_x_bar = column_sums(x_bar)
    # adjoint of line 10: sigma = x.std(axis=0)
    x_bar -= over(np.einsum("ij,ij->j", x_bar, t2), sigma * n) * t
    # adjoint of line 9: mu = x.mean(axis=0)
    x_bar -= sum_x_bar / n
    return x_bar, np.einsum("ij,ij->j", t3, t2), t3.sum()
