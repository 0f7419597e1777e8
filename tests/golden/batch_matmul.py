"""A product of stacks of matrices against one matrix."""

import numpy as np

import autodiff_compiler as ad


def attention(q, k):
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    return np.sum(np.tanh(s))


derived = ad.grad(attention, argnums=(0, 1))
arguments = (np.linspace(-1, 1, 12).reshape(2, 3, 2), np.linspace(0, 1, 8).reshape(2, 2, 2))

# === emitted ===
import numpy as np


def attention_grad(q, k):
    k_T = k.transpose(0, 2, 1)
    t = np.sqrt(q.shape[2])
    s = q @ k_T / t
    tanh_s = np.tanh(s)
    # adjoint of line 9: s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    q_k_T_bar = (1.0 - tanh_s * tanh_s) / t
    k_bar = (np.swapaxes(q, -1, -2) @ q_k_T_bar).transpose(0, 2, 1)
    return q_k_T_bar @ np.swapaxes(k_T, -1, -2), k_bar
