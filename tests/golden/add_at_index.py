"""Gather, scatter with repeated subscripts, and accumulation into elements."""

import numpy as np

import autodiff_compiler as ad


def histogram(w, index, x):
    out = np.zeros(4)
    np.add.at(out, index, w * x)
    for k in range(2):
        out[k] += w[k] * w[k]
    picked = out[index]
    return np.sum(picked * picked)


derived = ad.grad(histogram)
arguments = (np.linspace(0.3, 1.5, 5), np.array([0, 2, 2, 1, 0]), np.linspace(1.0, 2.0, 5))

# === emitted ===
import numpy as np


def histogram_grad(w, index, x):
    out = np.zeros(4)
    np.add.at(out, index, w * x)
    for k in range(2):
        w_k = w[k]
        out[k] += w_k * w_k
    out_bar = np.zeros(out.shape)
    # adjoint of line 13: picked = out[index]
    np.add.at(out_bar, index, 2.0 * out[index])
    # adjoint of line 10: np.add.at(out, index, w * x)
    w_bar = out_bar[index] * x
    # adjoint of line 12: out[k] += w[k] * w[k]
    w_bar[:2] += 2.0 * (out_bar[:2] * w[:2])
    return w_bar
