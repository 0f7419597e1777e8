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


def loss_grad(logits, labels):
    t = np.max(logits, axis=1, keepdims=True)
    z = logits - t
    t2 = np.exp(z)
    t3 = t2.sum(axis=1, keepdims=True)
    logp = z - np.log(t3)
    t4 = np.arange(labels.shape[0])
    logp[t4, labels]
    logp_bar = np.zeros_like(logits)
    # adjoint of line 11: return -logp[np.arange(len(labels)), labels].mean()
    logp_bar[t4, labels] = -1.0 / labels.shape[0]
    # adjoint of line 10: logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    logp_bar -= logp_bar.sum(axis=1, keepdims=True) / t3 * t2
    # adjoint of line 9: z = logits - logits.max(axis=1, keepdims=True)
    t = logits == t
    logp_bar -= logp_bar.sum(axis=1, keepdims=True) / t.sum(axis=1, keepdims=True) * t
    return logp_bar
