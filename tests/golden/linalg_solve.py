"""A linear system and a log determinant."""

import numpy as np

import autodiff_compiler as ad


def gaussian(k, y):
    alpha = np.linalg.solve(k, y)
    sign, logdet = np.linalg.slogdet(k)
    return 0.5 * y @ alpha + 0.5 * logdet


derived = ad.grad(gaussian, argnums=(0, 1))
arguments = (np.array([[2.0, 0.3], [0.4, 1.5]]), np.array([1.0, -0.5]))

# === emitted ===
import numpy as np
from autodiff_compiler.runtime import inverse


def gaussian_grad(k, y):
    alpha = np.linalg.solve(k, y)
    np.linalg.slogdet(k)
    # adjoint of line 10: sign, logdet = np.linalg.slogdet(k)
    t = inverse(k)
    # adjoint of line 9: alpha = np.linalg.solve(k, y)
    t2 = t.T.dot(0.5 * y)
    return 0.5 * t.T - t2[:, None].dot(alpha[None, :]), 0.5 * alpha + t2
