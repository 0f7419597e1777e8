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
    t = p - 1.0
    n = p.shape[0] - 1
    saved = []
    v = np.maximum(t, 0.0).tolist()
    for i in range(n, 0, -1):
        for j in range(i):
            t2 = v[j + 1]
            t3 = v[j]
            saved.append((t3, t2))
            v[j] = up * t2 + (1.0 - up) * t3
    v[0]
    t2 = 1.0 - up
    v_bar = [0.0] * p.shape[0]
    # adjoint of line 14: return v[0]
    v_bar[0] = 1.0
    up_bar = 0.0
    # adjoint of line 11: for i in range(n - 1, 0, -1):
    for i in reversed(range(n, 0, -1)):
        # adjoint of line 12: for j in range(i):
        for j in reversed(range(i)):
            t3, t4 = saved.pop()
            # adjoint of line 13: v[j] = up * v[j + 1] + (1.0 - up) * v[j]
            t5 = v_bar[j]
            v_bar[j] = t5 * t2
            up_bar = up_bar - t5 * t3 + t5 * t4
            v_bar[j + 1] += t5 * up
    return np.array(v_bar) * (0.5 * np.sign(t) + 0.5), up_bar
