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
arguments = (np.linspace(0.5, 2.0, 9).reshape(3, 3),)

# === emitted ===
import numpy as np
from autodiff_compiler.runtime import column_sums, sum_to


def mix_grad(a):
    t = a[:, 1][:3] * 2.0
    m = a.copy()
    m[:2][1] = t
    m_2_2 = m[2, 2]
    m[:, 1][0] = m_2_2**2
    m.T[0, 2:] = 1.0
    m_bar = np.full_like(a, m[:2][0])
    # adjoint of line 15: return np.sum(m * top[0])
    m_bar[:2][0] += column_sums(m)
    # adjoint of line 14: m.T[0, 2:] = 1.0
    m_bar.T[0, 2:] = 0.0
    # adjoint of line 13: column[0] = m[2, 2] ** 2
    t2 = m_bar[:, 1][0]
    m_bar[:, 1][0] = 0.0
    m_bar[2, 2] += t2 * (2.0 * m_2_2)
    t = sum_to(m_bar[:2][1], t).copy()
    # adjoint of line 12: top[1] = column[:3] * 2.0
    m_bar[:2][1] = 0.0
    m_bar[:, 1][:3] += 2.0 * t
    return m_bar
