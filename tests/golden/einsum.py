"""A bilinear form and a contraction."""

import numpy as np

import autodiff_compiler as ad


def form(a, m, b):
    return np.einsum("i,ij,j->", a, m, b) + np.einsum("ij,ij->i", m, m).sum()


derived = ad.grad(form, argnums=(0, 1))
arguments = (np.linspace(0, 1, 2), np.linspace(-1, 1, 6).reshape(2, 3), np.linspace(1, 2, 3))

# === emitted ===
import numpy as np
from autodiff_compiler.runtime import spread


def form_grad(a, m, b):
    m_bar = 2.0 * np.einsum("i,ij->ij", spread(1.0, a), m) + np.einsum(",i,j->ij", 1.0, a, b)
    return np.einsum(",ij,j->i", 1.0, m, b), m_bar
