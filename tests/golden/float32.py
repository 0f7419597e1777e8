"""float32 stays float32."""

import numpy as np

import autodiff_compiler as ad


def loss(w, x):
    z = 2 * w * x + 1
    return np.sum(np.sqrt(z) / 3)


derived = ad.grad(loss)
arguments = (np.array([0.5, 1.5], np.float32), np.array([1.0, 2.0], np.float32))

# === emitted ===
import numpy as np


def loss_grad(w, x):
    z = 2 * w * x + 1
    return 0.3333333333333333 / np.sqrt(z) * x
