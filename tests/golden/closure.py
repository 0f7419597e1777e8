"""A number and an array from the enclosing scope, and a nested function."""

import numpy as np

import autodiff_compiler as ad


def make(scale, offset):
    def model(x):
        def inner(z):
            return np.sin(scale * z)

        return np.sum(inner(x) * offset)

    return model


model = make(1.5, np.array([1.0, 2.0, 3.0]))


derived = ad.grad(model)
arguments = (np.array([0.2, 0.4, 0.9]),)

# === emitted ===
import numpy as np


def model_grad(x, scale, offset):
    return offset * np.cos(scale * x) * scale
