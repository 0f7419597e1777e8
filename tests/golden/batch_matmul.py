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
    t = k.transpose(0, 2, 1)
    t2 = np.sqrt(q.shape[2])
    s = q @ t / t2
    t3 = np.tanh(s)
    # adjoint of line 9: s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    t2 = (1.0 - t3 * t3) / t2
    return t2 @ np.swapaxes(t, -1, -2), (np.swapaxes(q, -1, -2) @ t2).transpose(0, 2, 1)
