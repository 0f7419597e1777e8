"""Programs with recurrences that the tests of several passes share."""

import math

import numpy as np


def recurrence(x, y):
    z = np.zeros(len(x))
    z[0] = x[0]
    for i in range(1, len(x)):
        z[i] = 0.5 * z[i - 1] * z[i - 1] + x[i] * y[i]
    return np.sum(z**2)


def into_the_next(x, y):
    z = np.zeros(len(x))
    z[0] = x[-1]
    for i in range(len(x) - 1):
        z[i + 1] = math.sin(z[i]) * y[i] + x[i]
    return np.sum(z**3)


def gram_schmidt(a):
    """A column is made of those in front of it."""
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j] - q[:, :j] @ (q[:, :j].T @ a[:, j])
        q[:, j] = v / np.sqrt(v @ v)
    return np.sum(q**3)
