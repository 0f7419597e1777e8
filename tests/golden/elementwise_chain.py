"""A chain of elementwise operations, each of which needs something different."""

import numpy as np

import autodiff_compiler as ad


def chain(x):
    a = np.sin(x)
    b = np.exp(a)
    c = b * x
    d = np.sqrt(c * c + 1.0)
    e = np.log(d)
    return np.sum(e / (1.0 + x * x))


derived = ad.grad(chain)
arguments = (np.linspace(-1.0, 2.0, 5),)

# === emitted ===
import numpy as np


def chain_grad(x):
    b = np.exp(np.sin(x))
    c = b * x
    d = np.sqrt(c * c + 1.0)
    one_plus_x_sq = 1.0 + x * x
    # adjoint of line 14: return np.sum(e / (1.0 + x * x))
    e_bar = 1.0 / one_plus_x_sq
    # adjoint of line 12: d = np.sqrt(c * c + 1.0)
    t = 1.0 / d
    c_bar = e_bar * t * t * c
    # adjoint of line 11: c = b * x
    x_bar = -2.0 * (e_bar * (np.log(d) / one_plus_x_sq) * x) + c_bar * b
    # adjoint of line 9: a = np.sin(x)
    x_bar += c_bar * x * b * np.cos(x)
    return x_bar
