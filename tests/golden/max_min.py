"""Reductions by maximum and minimum, along an axis and of all."""

import numpy as np

import autodiff_compiler as ad


def margin(a):
    return a.max() - np.sum(a.min(axis=0)) * max(a[0, 0], 0.5)


derived = ad.grad(margin)
arguments = (np.array([[0.9, 2.0], [0.3, 4.0], [1.5, -1.0]]),)

# === emitted ===
import numpy as np


def margin_grad(a):
    min_a = np.min(a, axis=0)
    a_0_0 = a[0, 0]
    # adjoint of line 9: return a.max() - np.sum(a.min(axis=0)) * max(a[0, 0], 0.5)
    t = a == min_a
    a_bar = np.broadcast_to(-max(a_0_0, 0.5), min_a.shape) / t.sum(axis=0) * t
    a_bar[0, 0] += 0.0 if a_0_0 < 0.5 else -min_a.sum()
    t = a == np.max(a)
    a_bar += np.divide(1.0, np.count_nonzero(t)) * t
    return a_bar
