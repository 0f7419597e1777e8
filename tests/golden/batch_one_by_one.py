"""A number of iterations that differs between the examples: the function runs once for each of them."""

import numpy as np

import autodiff_compiler as ad


def halvings(x, scale):
    n = 0
    while np.sum(x) > scale:
        x = x / 2.0
        n += 1
    return x * n


derived = ad.batch(halvings, in_axes=(0, None))
arguments = (np.array([[1.0, 2.0], [8.0, 9.0], [0.1, 0.2]]), 1.5)

# === emitted ===
import numpy as np


def halvings_batch(x, scale):
    n2 = x.shape[0]
    value = np.empty((n2, x.shape[1]), np.float64)
    for k in range(n2):
        x2 = x[k]
        n = 0
        while x2.sum() > scale:
            x2 = x2 / 2.0
            n += 1
        value[k] = x2 * n
    return value
