"""A norm of a difference, and a normalised vector."""

import numpy as np

import autodiff_compiler as ad


def angle(a, b):
    u = a / np.linalg.norm(a)
    return np.linalg.norm(u - b)


derived = ad.grad(angle, argnums=(0, 1))
arguments = (np.array([3.0, 4.0, 1.0]), np.array([0.1, 0.2, -0.3]))

# === emitted ===
import numpy as np


def angle_grad(a, b):
    norm_a = np.linalg.norm(a)
    u = a / norm_a
    t = u - b
    # adjoint of line 10: return np.linalg.norm(u - b)
    u_bar = 1.0 / (np.linalg.norm(t) or np.inf) * t
    # adjoint of line 9: u = a / np.linalg.norm(a)
    a_bar = u_bar / norm_a
    a_bar -= a_bar.dot(u) / (norm_a or np.inf) * a
    return a_bar, -u_bar
