"""Concatenation, stacking, reshaping, reversal."""

import numpy as np

import autodiff_compiler as ad


def fold(a, b):
    c = np.concatenate([a, b[::-1]])
    m = np.stack([c, c * c]).reshape(2, 2, -1)
    return np.sum(m[0] * m[1]) + np.sum(np.diff(c) ** 2)


derived = ad.grad(fold, argnums=(0, 1))
arguments = (np.array([0.1, 0.7, -0.3]), np.array([1.0, 0.4, 0.9]))

# === emitted ===
import numpy as np


def fold_grad(a, b):
    c = np.concatenate([a, b[::-1]])
    t = np.stack([c, c * c])
    m = np.reshape(t, (2, 2, -1))
    # adjoint of line 11: return np.sum(m[0] * m[1]) + np.sum(np.diff(c) ** 2)
    diff_c_bar = 2.0 * np.diff(c)
    c_bar = np.zeros(c.shape)
    c_bar[1:] = diff_c_bar
    c_bar[:-1] -= diff_c_bar
    m_bar = np.zeros(m.shape)
    m_bar[1] = m[0]
    m_bar[0] = m[1]
    # adjoint of line 10: m = np.stack([c, c * c]).reshape(2, 2, -1)
    t, t2 = np.reshape(m_bar, t.shape)
    c_bar += t
    c_bar += 2.0 * (t2 * c)
    # adjoint of line 9: c = np.concatenate([a, b[::-1]])
    n = a.shape[0]
    b_bar = np.zeros(b.shape)
    b_bar[::-1] = c_bar[n:]
    return c_bar[:n], b_bar
