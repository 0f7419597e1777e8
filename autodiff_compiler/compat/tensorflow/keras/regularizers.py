"""Penalties on weights, which a layer's `losses` give."""

from __future__ import annotations

from typing import Any

from ... import tensorflow as tf
from .names import both_spellings, find, public


class Regularizer:
    """Base class: calling a regularizer with a weight gives its penalty, a number."""

    def __call__(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say what its penalty is")


class L1L2(Regularizer):
    """``l1 * sum(abs(x)) + l2 * sum(x ** 2)``."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0):
        self.l1, self.l2 = float(l1 or 0.0), float(l2 or 0.0)

    def __call__(self, x: Any) -> Any:
        total = tf.constant(0.0, x.dtype)
        if self.l1:
            total = total + self.l1 * tf.reduce_sum(tf.abs(x))
        if self.l2:
            total = total + self.l2 * tf.reduce_sum(tf.square(x))
        return total


class L1(Regularizer):
    """``l1 * sum(abs(x))``."""

    def __init__(self, l1: float = 0.01):
        self.l1 = float(0.01 if l1 is None else l1)

    def __call__(self, x: Any) -> Any:
        return self.l1 * tf.reduce_sum(tf.abs(x))


class L2(Regularizer):
    """``l2 * sum(x ** 2)``."""

    def __init__(self, l2: float = 0.01):
        self.l2 = float(0.01 if l2 is None else l2)

    def __call__(self, x: Any) -> Any:
        return self.l2 * tf.reduce_sum(tf.square(x))


class OrthogonalRegularizer(Regularizer):
    """``factor`` times the mean size of the cosines between the rows of a matrix, or its columns by `mode`."""

    def __init__(self, factor: float = 0.01, mode: str = "rows"):
        if mode not in ("rows", "columns"):
            raise ValueError(
                f"Invalid value for argument `mode`. Expected one of {{'rows', 'columns'}}. Received: mode={mode}"
            )
        self.factor, self.mode = float(factor), mode

    def __call__(self, x: Any) -> Any:
        if len(x.shape) != 2:
            raise ValueError(
                f"Inputs to OrthogonalRegularizer must have rank 2. Received: inputs.shape={tuple(x.shape)}"
            )
        rows = x if self.mode == "rows" else tf.transpose(x)
        rows = tf.nn.l2_normalize(rows, axis=1)
        size = int(rows.shape[0])
        others = tf.matmul(rows, rows, transpose_b=True) * (1.0 - tf.eye(size, dtype=rows.dtype))
        return self.factor * 0.5 * tf.reduce_sum(tf.abs(others)) / (size * (size - 1.0) / 2.0)


l1, l2, l1_l2 = L1, L2, L1L2
orthogonal_regularizer = OrthogonalRegularizer

_TABLE = both_spellings(L1, L2) | {
    "L1L2": L1L2, "l1_l2": L1L2, "OrthogonalRegularizer": OrthogonalRegularizer,
    "orthogonal_regularizer": OrthogonalRegularizer,
}  # fmt: skip


def get(identifier: Any) -> Any:
    """The regularizer of this name, the object itself, or None for None.

    Raises ValueError for a name that there is not.
    """
    return None if identifier is None else find(_TABLE, identifier, "regularizer")


__getattr__, __dir__ = public("tf.keras.regularizers", [*_TABLE, "Regularizer", "get"])
