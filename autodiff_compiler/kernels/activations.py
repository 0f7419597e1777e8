"""Activations of neural networks, and functions for their derivatives. No intermediate result overflows.

They take real numbers. A floating dtype stays; integers become float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dispatch import dispatched
from .special import floating


@dispatched
def relu(x: Any) -> Any:
    """``max(x, 0)``; nan stays nan."""
    return np.maximum(x, 0)


@dispatched
def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``."""
    x = floating(x)
    with np.errstate(over="ignore"):  # 1 / (1 + inf) is 0, which is right
        return 1 / (1 + np.exp(-x))


@dispatched
def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``."""
    x = floating(x)
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


@dispatched
def softsign(x: Any) -> Any:
    """``x / (1 + abs(x))``."""
    x = floating(x)
    return x / (1 + np.abs(x))


@dispatched
def elu(x: Any, alpha: Any) -> Any:
    """`x` where it is not negative, else ``alpha * (exp(x) - 1)``."""
    x = floating(x)
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)[()]


@dispatched
def softmax(x: Any, axis: Any) -> Any:
    """``exp(x) / sum(exp(x))`` along an axis, or over several."""
    x = floating(x)
    out = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf))
    return out / np.add.reduce(out, axis=axis, keepdims=True)


@dispatched
def log_softmax(x: Any, axis: Any) -> Any:
    """``x - log(sum(exp(x)))`` along an axis, or over several."""
    x = floating(x)
    z = x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    return z - np.log(np.add.reduce(np.exp(z), axis=axis, keepdims=True))


@dispatched
def logsumexp(x: Any, axis: Any, keepdims: Any) -> Any:
    """``log(sum(exp(x)))`` along an axis, over several, or over all of them."""
    x = floating(x)
    top = np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)  # inf - inf would be nan
    with np.errstate(over="ignore", divide="ignore"):
        out = np.log(np.add.reduce(np.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else np.squeeze(out, axis=axis)[()]


@dispatched
def sigmoid_cross_entropy(labels: Any, logits: Any) -> Any:
    """``-labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits))``, of arrays of one shape.

    Reference: TensorFlow's documentation of the function, ``max(x, 0) - x * z + log(1 + exp(-abs(x)))``.
    """
    _one_shape(labels, logits)
    x = floating(logits)
    return (np.maximum(x, 0) - x * labels) + np.log1p(np.exp(-np.abs(x)))


@dispatched
def sigmoid_error(labels: Any, logits: Any) -> Any:
    """``sigmoid(logits) - labels``, without loss of digits where the two are almost equal."""
    x = floating(logits)
    e = np.exp(-np.abs(x))
    return (np.where(x < 0, e, 1) * (1 - labels) - np.where(x < 0, 1, e) * labels) / (1 + e)


def _one_shape(labels: Any, logits: Any) -> None:
    if np.shape(labels) != np.shape(logits):
        raise ValueError(f"labels and logits must have one shape, not {np.shape(labels)} and {np.shape(logits)}")
