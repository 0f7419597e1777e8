"""Two loops that store elements computed from earlier ones."""

import numpy as np

import autodiff_compiler as ad


def lattice(p, up):
    n = p.shape[0]
    v = np.maximum(p - 1.0, 0.0)
    for i in range(n - 1, 0, -1):
        for j in range(i):
            v[j] = up * v[j + 1] + (1.0 - up) * v[j]
    return v[0]


derived = ad.grad(lattice, argnums=(0, 1))
arguments = (np.linspace(0.7, 1.9, 5), 0.55)

# === emitted ===
import numpy as np


def lattice_grad(p, up):
    n = p.shape[0]
    p_minus_1 = p - 1.0
    saved = []
    v = np.maximum(p_minus_1, 0.0).tolist()
    one_minus_up = 1.0 - up
    for i in range(n - 1, 0, -1):
        for j in range(i):
            v_next, v_j = v[j + 1], v[j]
            saved.append((v_next, v_j))
            v[j] = up * v_next + one_minus_up * v_j
    v_bar = [0.0] * n
    # adjoint of line 14: return v[0]
    v_bar[0] = 1.0
    up_bar = 0.0
    # adjoint of line 11: for i in range(n - 1, 0, -1):
    for i in reversed(range(n - 1, 0, -1)):
        # adjoint of line 12: for j in range(i):
        for j in reversed(range(i)):
            v_next, v_j = saved.pop()
            # adjoint of line 13: v[j] = up * v[j + 1] + (1.0 - up) * v[j]
            v_bar_j = v_bar[j]
            v_bar[j] = v_bar_j * one_minus_up
            up_bar += (v_next - v_j) * v_bar_j
            v_bar[j + 1] += v_bar_j * up
    return np.array(v_bar) * (0.5 * np.sign(p_minus_1) + 0.5), up_bar
