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


def pad_sequences(
    sequences: Any, maxlen: int | None = None, dtype: Any = "int32", padding: str = "pre", truncating: str = "pre",
    value: Any = 0.0,
) -> Any:  # fmt: skip
    """Sequences of several lengths as rows of one array, filled up with `value` in front ("pre") or behind ("post").

    maxlen: the length of the rows, that of the longest sequence by default; longer ones lose their start or end.
    Raises ValueError for other words than "pre" and "post".

    >>> pad_sequences([[1], [1, 2, 3]], maxlen=2)
    array([[0, 1],
           [2, 3]], dtype=int32)
    """
    for name, given in (("Truncating", truncating), ("Padding", padding)):
        if given not in ("pre", "post"):
            raise ValueError(f'{name} type "{given}" not understood')
    rows = [np.asarray(x) for x in sequences]
    length = max((len(r) for r in rows), default=0) if maxlen is None else maxlen
    tail = next((r.shape[1:] for r in rows if len(r)), ())
    out = np.full((len(rows), length, *tail), value, dtype)
    for k, row in enumerate(rows):
        cut = row[max(len(row) - length, 0) :] if truncating == "pre" else row[:length]
        if len(cut):
            start = length - len(cut) if padding == "pre" else 0
            out[k, start : start + len(cut)] = cut
    return out


__getattr__, __dir__ = public("tf.keras.utils", ["to_categorical", "normalize", "pad_sequences", "set_random_seed"])
