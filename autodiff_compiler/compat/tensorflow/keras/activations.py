"""Activations by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import tensorflow as tf
from ...module_tables import public
from .names import find


def linear(x: Any) -> Any:
    """`x` itself."""
    return x


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    return tf.nn.leaky_relu(x, alpha=negative_slope)


def elu(x: Any, alpha: float = 1.0) -> Any:
    if alpha == 1.0:
        return tf.nn.elu(x)
    x = tf.convert_to_tensor(x)
    return tf.where(x > 0, x, alpha * tf.math.expm1(tf.minimum(x, 0.0)))


def gelu(x: Any, approximate: bool = False) -> Any:
    return tf.nn.gelu(x, approximate=approximate)


def softmax(x: Any, axis: int = -1) -> Any:
    return tf.nn.softmax(x, axis=axis)


def log_softmax(x: Any, axis: int = -1) -> Any:
    return tf.nn.log_softmax(x, axis=axis)


# TensorFlow's own functions, which take nothing but the tensor.
relu, selu, relu6, silu, softsign = tf.nn.relu, tf.nn.selu, tf.nn.relu6, tf.nn.silu, tf.nn.softsign
softplus, tanh, sigmoid, exponential = tf.math.softplus, tf.tanh, tf.sigmoid, tf.exp
swish = silu

_TABLE: dict[str, Callable[..., Any]] = {
    "linear": linear, "relu": relu, "leaky_relu": leaky_relu, "elu": elu, "gelu": gelu, "softmax": softmax,
    "log_softmax": log_softmax, "selu": selu, "relu6": relu6, "silu": silu, "swish": silu, "softsign": softsign,
    "softplus": softplus, "tanh": tanh, "sigmoid": sigmoid, "exponential": exponential,
}  # fmt: skip


def get(identifier: Any) -> Callable[..., Any]:
    """The activation of this name, or the object itself; `linear` for None.

    Raises ValueError for a name that there is not.
    """
    if identifier is None:
        return linear
    found: Callable[..., Any] = find(_TABLE, identifier, "activation function")
    return found


__getattr__, __dir__ = public("tf.keras.activations", [*_TABLE, "get"])
