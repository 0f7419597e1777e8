"""Activations: elementwise functions, and softmax of rows.

They take real numbers. A floating dtype stays; integers become float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import kernels


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``, without overflow. Any shape; a floating dtype stays.

    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    return kernels.sigmoid(x)


def relu(features: Any) -> Any:
    """``max(features, 0)``, with derivative 0 at 0. Any shape; a floating dtype stays.

    >>> relu(np.array([-1.5, 0.0, 2.0]))
    array([0., 0., 2.])
    """
    return kernels.relu(features)


def relu6(features: Any) -> Any:
    """``min(max(features, 0), 6)``, with derivative 0 at 0 and at 6. Any shape; a floating dtype stays.

    >>> relu6(np.array([-1.5, 2.0, 7.0]))
    array([0., 2., 6.])
    """
    return np.where(features >= 6, 6.0, kernels.relu(features))


def leaky_relu(features: Any, alpha: Any = 0.2) -> Any:
    """`features` where they are positive, else ``alpha * features``. Any shape; a floating dtype stays.

    >>> leaky_relu(np.array([-1.0, 2.0]))
    array([-0.2,  2. ])
    """
    return np.where(features > 0, features, alpha * features)


def elu(features: Any, alpha: Any = 1.0) -> Any:
    """`features` where they are not negative, else ``alpha * (exp(features) - 1)``. Any shape; a floating dtype stays.

    >>> elu(np.array([-1000.0, 2.0]))
    array([-1.,  2.])
    """
    return kernels.elu(features, alpha)


def selu(features: Any) -> Any:
    """`elu`, scaled to keep mean 0 and variance 1. Any shape; a floating dtype stays.

    Reference: Klambauer et al., Self-normalizing neural networks (2017).

    >>> selu(np.array([-1000.0, 1.0])).round(4)
    array([-1.7581,  1.0507])
    """
    return 1.0507009873554805 * kernels.elu(features, 1.6732632423543772)


def gelu(features: Any, approximate: bool = False) -> Any:
    """``features * P(X <= features)`` for a standard normal X. With `approximate`, a tanh stands for the probability.

    Any shape; a floating dtype stays. Reference: Hendrycks and Gimpel, Gaussian error linear units (2016).

    >>> gelu(np.array([-1.0, 0.0, 1.0])).round(4)
    array([-0.1587,  0.    ,  0.8413])
    >>> gelu(np.array([-1.0, 0.0, 1.0]), approximate=True).round(4)
    array([-0.1588,  0.    ,  0.8412])
    """
    if approximate:
        # (1 + tanh(u)) / 2 is sigmoid(2 u), which loses no digits. Beyond a square of 1,000 it is 0 or 1.
        cube = 1.0 + 0.044715 * np.minimum(features * features, 1000.0)
        return features * kernels.sigmoid(2.0 * _ROOT_2_PI * features * cube)
    return features * kernels.ndtr(features)


_ROOT_2_PI = math.sqrt(2 / math.pi)


def erf(x: Any) -> Any:
    """The error function. Any shape; a floating dtype stays.

    >>> erf(np.array([-0.5, 0.0, 10.0])).round(4)
    array([-0.5205,  0.    ,  1.    ])
    """
    return kernels.erf(x)


def softplus(features: Any) -> Any:
    """``log(1 + exp(features))``, without overflow. Any shape; a floating dtype stays.

    >>> softplus(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.6931471805599453, 1000.0]
    """
    return kernels.softplus(features)


def log_sigmoid(x: Any) -> Any:
    """``log(sigmoid(x))``, without underflow. Any shape; a floating dtype stays.

    >>> log_sigmoid(np.array([-1000.0, 0.0])).tolist()
    [-1000.0, -0.6931471805599453]
    """
    return -kernels.softplus(-1.0 * x)


def softsign(features: Any) -> Any:
    """``features / (1 + abs(features))``. Any shape; a floating dtype stays.

    >>> softsign(np.array([-1.0, 3.0]))
    array([-0.5 ,  0.75])
    """
    return kernels.softsign(features)


def silu(features: Any, beta: Any = 1.0) -> Any:
    """``features * sigmoid(beta * features)``. Any shape; a floating dtype stays.

    >>> silu(np.array([-1000.0, 0.0, 1.0])).round(4)
    array([-0.    ,  0.    ,  0.7311])
    """
    return features * kernels.sigmoid(beta * features)


swish = silu


def hard_sigmoid(x: Any) -> Any:
    """``relu6(x + 3) / 6``: `sigmoid` as a straight line, cut off at 0 and 1. Any shape; a floating dtype stays.

    >>> hard_sigmoid(np.array([-4.0, 0.0, 1.5]))
    array([0.  , 0.5 , 0.75])
    """
    return relu6(x + 3.0) / 6.0


def tanh(x: Any) -> Any:
    """``np.tanh``, by the name that it has in ``tf.nn``. Any shape; a floating dtype stays.

    >>> tanh(np.array([0.0, 1000.0]))
    array([0., 1.])
    """
    return np.tanh(x)


def softmax(logits: Any, axis: Any = -1) -> Any:
    """``exp(logits) / sum(exp(logits))`` along an axis, without overflow.

    Any shape with at least one axis; a floating dtype stays.

    >>> softmax(np.array([[1000.0, 1000.0], [0.0, np.log(3.0)]]))
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    return kernels.softmax(logits, axis)


def log_softmax(logits: Any, axis: Any = -1) -> Any:
    """``log(softmax(logits))`` along an axis, without underflow.

    Any shape with at least one axis; a floating dtype stays.

    >>> log_softmax(np.array([0.0, -1000.0]))
    array([    0., -1000.])
    """
    return kernels.log_softmax(logits, axis)


def logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """``log(sum(exp(input_tensor)))`` over all axes, or over the given ones, without overflow.

    The result has the shape of ``np.sum(input_tensor, axis, keepdims=keepdims)``. A floating dtype stays.

    >>> logsumexp(np.array([[1000.0, 1000.0], [-np.inf, 0.0]]), axis=1).round(4)
    array([1000.6931,    0.    ])
    """
    return kernels.logsumexp(input_tensor, axis, keepdims)
