"""The cross entropy of a row-wise softmax, labels as integers."""

import numpy as np

import autodiff_compiler as ad


def loss(logits, labels):
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return -logp[np.arange(len(labels)), labels].mean()


derived = ad.grad(loss)
arguments = (np.linspace(-1, 2, 12).reshape(4, 3) ** 2, np.array([0, 2, 1, 1]))

# === emitted ===
import numpy as np
from autodiff_compiler.runtime import row_maxima, row_sums


def loss_grad(logits, labels):
    z = logits - row_maxima(logits)[:, None]
    exp_z = np.exp(z)
    logp_bar = np.zeros(logits.shape)
    # adjoint of line 11: return -logp[np.arange(len(labels)), labels].mean()
    logp_bar[np.arange(labels.shape[0]), labels] = -1.0 / labels.shape[0]
    # adjoint of line 10: logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    logp_bar -= row_sums(logp_bar)[:, None] / row_sums(exp_z)[:, None] * exp_z
    return logp_bar
