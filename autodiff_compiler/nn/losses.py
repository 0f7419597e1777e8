"""Losses for each element or each row. Differentiate their mean or their sum.

Dtypes are promoted as by NumPy: float32 labels and logits give a float32 loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels


def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None) -> Any:
    """The cross entropy of probabilities `labels` and ``sigmoid(logits)``, for each element, without overflow.

    Shapes: `labels`, `logits` and the result have one shape. A common dtype stays. Raises ValueError for two shapes.

    >>> sigmoid_cross_entropy_with_logits(labels=np.array([1.0, 0.0, 1.0]), logits=np.array([0.0, -1000.0, -1000.0]))
    array([6.93147181e-01, 0.00000000e+00, 1.00000000e+03])
    """
    return kernels.sigmoid_cross_entropy(labels, logits)


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: int = -1) -> Any:
    """The cross entropy of distributions `labels` and ``softmax(logits)`` along an axis, without overflow.

    Shapes: `labels` and `logits` are equal (or broadcast); the result lacks the axis. A common dtype stays.

    >>> softmax_cross_entropy_with_logits(np.array([[0.0, 1.0], [0.5, 0.5]]), np.array([[1000.0, 0.0], [1.0, 1.0]]))
    array([1.00000000e+03, 6.93147181e-01])
    """
    return -np.sum(labels * kernels.log_softmax(logits, axis), axis=axis)


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any) -> Any:
    """The cross entropy of ``softmax(logits)`` and classes, without overflow. `labels` are the numbers of the classes.

    Shapes: `logits` ``(..., classes)``, `labels` and the result ``(...)``, in the dtype of `logits`. Raises ValueError
    for shapes that do not fit and for a label that is none of ``0 ... classes - 1``.

    >>> sparse_softmax_cross_entropy_with_logits(np.array([1, 0]), np.array([[1000.0, 0.0], [1.0, 1.0]]))
    array([1.00000000e+03, 6.93147181e-01])
    """
    if np.shape(labels) != np.shape(logits)[:-1]:
        raise ValueError("labels must have the shape of logits without its last axis")
    if np.any(np.less(labels, 0)) or np.any(np.greater_equal(labels, np.shape(logits)[-1])):
        raise ValueError("a label is not one of the classes: they are 0 ... np.shape(logits)[-1] - 1")
    rows = kernels.log_softmax(logits, -1)
    return -np.take_along_axis(rows, np.expand_dims(labels, -1), -1)[..., 0]


def l2_loss(t: Any) -> Any:
    """``sum(t ** 2) / 2``, a number in the dtype of `t`. Any shape.

    >>> float(l2_loss(np.array([[1.0, 2.0], [3.0, 0.0]])))
    7.0
    """
    return np.sum(t * t) / 2.0


def mse(labels: Any, predictions: Any, axis: Any = -1) -> Any:
    """The mean of ``(labels - predictions) ** 2`` over an axis; ``axis=()`` leaves each element as it is.
    Equal shapes, or such that broadcast; a common dtype stays.

    >>> mse(np.array([[1.0, 2.0]]), np.array([[1.0, 5.0]]))
    array([4.5])
    """
    error = labels - predictions
    return np.mean(error * error, axis=axis)


def mae(labels: Any, predictions: Any, axis: Any = -1) -> Any:
    """The mean of ``abs(labels - predictions)`` over an axis; ``axis=()`` leaves each element as it is.
    Equal shapes, or such that broadcast; a common dtype stays.

    >>> mae(np.array([[1.0, 2.0]]), np.array([[1.0, 5.0]]))
    array([1.5])
    """
    return np.mean(np.abs(labels - predictions), axis=axis)


def huber(labels: Any, predictions: Any, delta: Any = 1.0, axis: Any = -1) -> Any:
    """The mean of the Huber loss over an axis: half the squared error up to `delta`, beyond that a straight line.

    ``axis=()`` leaves each element as it is. Equal shapes, or such that broadcast; a common dtype stays.

    >>> huber(np.array([0.0, 0.0]), np.array([0.5, 3.0]), axis=())
    array([0.125, 2.5  ])
    """
    error = np.abs(labels - predictions)
    return np.mean(np.where(error <= delta, 0.5 * error * error, delta * error - 0.5 * delta * delta), axis=axis)


def binary_crossentropy(labels: Any, predictions: Any, epsilon: float = 1e-7, axis: Any = -1) -> Any:
    """The mean cross entropy of two probabilities over an axis. `predictions` are cut to ``[epsilon, 1 - epsilon]``.

    ``axis=()`` leaves each element as it is. Equal shapes, or such that broadcast; a common dtype stays. If you have
    logits, use `sigmoid_cross_entropy_with_logits`, which loses no digits.

    >>> binary_crossentropy(np.array([1.0, 0.0]), np.array([0.5, 0.5]), axis=()).round(4)
    array([0.6931, 0.6931])
    """
    p = np.clip(predictions, epsilon, 1.0 - epsilon)
    return np.mean(-(labels * np.log(p) + (1.0 - labels) * np.log(1.0 - p)), axis=axis)


def categorical_crossentropy(labels: Any, predictions: Any, epsilon: float = 1e-7, axis: int = -1) -> Any:
    """The cross entropy of two distributions along an axis.

    `predictions` are scaled to have the sum 1, and then cut to ``[epsilon, 1 - epsilon]``. Equal shapes, or such that
    broadcast. The result lacks the axis; a common dtype stays. If you have logits, use
    `softmax_cross_entropy_with_logits`, which loses no digits.

    >>> categorical_crossentropy(np.array([[0.0, 1.0]]), np.array([[1.0, 1.0]])).round(4)
    array([0.6931])
    """
    p = predictions / np.sum(predictions, axis=axis, keepdims=True)
    return -np.sum(labels * np.log(np.clip(p, epsilon, 1.0 - epsilon)), axis=axis)
