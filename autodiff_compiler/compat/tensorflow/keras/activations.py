"""Activations by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import tensorflow as tf
from .names import find, public


def linear(x: Any) -> Any:
    """`x` itself."""
    return x


def relu(x: Any, negative_slope: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Any:
    """`x` where it is above `threshold`, at most `max_value`; below it, ``negative_slope * (x - threshold)``."""
    if not negative_slope and max_value is None and not threshold:
        return tf.nn.relu(x)
    if max_value is None and not threshold:
        return tf.nn.leaky_relu(x, alpha=negative_slope)
    x = tf.convert_to_tensor(x)
    if threshold:
        positive = x * tf.cast(x > threshold, x.dtype)
    else:
        positive = tf.nn.relu6(x) if max_value == 6 else tf.nn.relu(x)
    if max_value is not None and (threshold or max_value != 6):
        positive = tf.clip_by_value(positive, 0.0, max_value)
    return positive - negative_slope * tf.nn.relu(threshold - x) if negative_slope else positive


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    return tf.nn.leaky_relu(x, alpha=negative_slope)


def elu(x: Any, alpha: float = 1.0) -> Any:
    if alpha == 1.0:
        return tf.nn.elu(x)
    x = tf.convert_to_tensor(x)
    return tf.where(x > 0, x, alpha * tf.math.expm1(tf.minimum(x, 0.0)))


def celu(x: Any, alpha: float = 1.0) -> Any:
    x = tf.convert_to_tensor(x)
    return tf.nn.relu(x) + alpha * tf.math.expm1(tf.minimum(x, 0.0) / alpha)


def selu(x: Any) -> Any:
    return tf.nn.selu(x)


def gelu(x: Any, approximate: bool = False) -> Any:
    return tf.nn.gelu(x, approximate=approximate)


def softmax(x: Any, axis: int = -1) -> Any:
    return tf.nn.softmax(x, axis=axis)


def log_softmax(x: Any, axis: int = -1) -> Any:
    return tf.nn.log_softmax(x, axis=axis)


def softplus(x: Any) -> Any:
    return tf.math.softplus(x)


def softsign(x: Any) -> Any:
    return tf.nn.softsign(x)


def silu(x: Any) -> Any:
    return tf.nn.silu(x)


def relu6(x: Any) -> Any:
    return tf.nn.relu6(x)


def tanh(x: Any) -> Any:
    return tf.tanh(x)


def sigmoid(x: Any) -> Any:
    return tf.sigmoid(x)


def exponential(x: Any) -> Any:
    return tf.exp(x)


def hard_sigmoid(x: Any) -> Any:
    """``relu6(x + 3) / 6``."""
    return tf.nn.relu6(tf.convert_to_tensor(x) + 3.0) / 6.0


def hard_silu(x: Any) -> Any:
    return x * hard_sigmoid(x)


def mish(x: Any) -> Any:
    """``x * tanh(softplus(x))``."""
    return x * tf.tanh(tf.math.softplus(x))


swish, hard_swish = silu, hard_silu

_TABLE: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        linear, relu, leaky_relu, elu, celu, selu, gelu, softmax, log_softmax, softplus, softsign, silu, relu6, tanh,
        sigmoid, exponential, hard_sigmoid, hard_silu, mish,
    )
} | {"swish": silu, "hard_swish": hard_silu}  # fmt: skip


def get(identifier: Any) -> Callable[..., Any]:
    """The activation of this name, or the object itself; `linear` for None.

    Raises ValueError for a name that there is not.
    """
    if identifier is None:
        return linear
    found: Callable[..., Any] = find(_TABLE, identifier, "activation function")
    return found


__getattr__, __dir__ = public("tf.keras.activations", [*_TABLE, "get"])
