"""Stores through views, a view that is read later."""

import numpy as np

import autodiff_compiler as ad


def mix(a):
    m = a.copy()
    top = m[:2]
    column = m[:, 1]
    top[1] = column[:3] * 2.0
    column[0] = m[2, 2] ** 2
    m.T[0, 2:] = 1.0
    return np.sum(m * top[0])


derived = ad.grad(mix)
arguments = (np.linspace(0.5, 2.0, 9).reshape(3, 3))

# === emitted ===
