"""A real function of a complex array."""

import numpy as np

import autodiff_compiler as ad


def power(z, w):
    s = np.abs(z * w) ** 2
    return np.sum(s) + np.real(z[0] * z[1])


derived = ad.grad(power)
arguments = (np.array([0.3 + 0.4j, -0.2 + 1.0j]), np.array([1.0 - 0.5j, 0.7 + 0.2j]))

# === emitted ===
import numpy as np


def power_grad(z, w):
    # adjoint of line 9: s = np.abs(z * w) ** 2
    z_bar = 2.0 * np.conj(z * w) * w
    # adjoint of line 10: return np.sum(s) + np.real(z[0] * z[1])
    z_bar[1] += z[0]
    z_bar[0] += z[1]
    return z_bar
