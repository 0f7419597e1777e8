"""A condition that differs between the examples becomes a choice; a loop stays a loop."""

import numpy as np

import autodiff_compiler as ad


def cost(path, limit):
    total = 0.0
    for k in range(1, len(path)):
        step = path[k] - path[k - 1]
        if step > 0.0:
            total += step**2
        elif step < -limit:
            total += np.sqrt(-step)
    return total


derived = ad.batch(cost, in_axes=(0, None))
arguments = (np.array([[1.0, 2.0, 1.5, -3.0], [0.0, -2.0, 4.0, 4.0]]), 0.7)

# === emitted ===
import numpy as np


def cost_batch(path, limit):
    total = np.zeros(path.shape[0])
    for k in range(1, path.shape[1]):
        step = path[:, k] - path[:, k - 1]
        total2 = total + step**2
        total3 = total + np.sqrt(-step)
        total = np.where(step < -limit, total3, total)
        total = np.where(step > 0.0, total2, total)
    return total
