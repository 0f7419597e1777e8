"""Small helpers: classes as rows of zeros and a one, and seeds."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ... import tensorflow as tf
from .names import public


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """Integers as rows that are 1 at that place and 0 elsewhere.

    x: integers, shape ``(...)`` or ``(..., 1)``; the result has shape ``(..., num_classes)`` and dtype float64. By
    default there are as many classes as the largest one says. Raises IndexError for a class that is too large.

    >>> to_categorical([0, 2])
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    classes = np.array(x, np.int64)
    if classes.ndim > 1 and classes.shape[-1] == 1:
        classes = classes[..., 0]
    return np.eye(num_classes or int(classes.max()) + 1)[classes]


def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """An array divided by its norms along an axis."""
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    return x / np.expand_dims(norms, axis)


def set_random_seed(seed: int) -> None:
    """Seed Python's, NumPy's and TensorFlow's random numbers."""
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)


__getattr__, __dir__ = public("tf.keras.utils", ["to_categorical", "normalize", "set_random_seed"])
