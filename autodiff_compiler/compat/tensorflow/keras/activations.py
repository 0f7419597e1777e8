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
    """`x` where it is positive, else `x` times a slope."""
    return tf.nn.leaky_relu(x, alpha=negative_slope)


_TABLE: dict[str, Callable[..., Any]] = {
    "linear": linear, "relu": tf.nn.relu, "leaky_relu": leaky_relu, "elu": tf.nn.elu, "gelu": tf.nn.gelu,
    "softmax": tf.nn.softmax, "log_softmax": tf.nn.log_softmax, "selu": tf.nn.selu, "relu6": tf.nn.relu6,
    "silu": tf.nn.silu, "swish": tf.nn.silu, "softsign": tf.nn.softsign, "softplus": tf.nn.softplus, "tanh": tf.tanh,
    "sigmoid": tf.sigmoid, "exponential": tf.exp,
}  # fmt: skip
globals().update(_TABLE)


def get(identifier: Any) -> Callable[..., Any]:
    """The activation of this name, or the object itself; `linear` for None.

    Raises ValueError for a name that there is not.
    """
    return find(_TABLE, "linear" if identifier is None else identifier, "activation function")


__getattr__, __dir__ = public("tf.keras.activations", [*_TABLE, "get"])
