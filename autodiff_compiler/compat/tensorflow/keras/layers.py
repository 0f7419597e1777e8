"""Layers, by their Keras names: dense ones, convolutions of images, batch normalisation, dropout, activations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import tensorflow as tf
from ...module_tables import public
from ..random import generator
from . import activations, initializers
from .layer import Layer, Shape, shape_of


class Input:
    """The shape of a `Sequential` model's inputs, as its first item. The weights are then made at once.

    shape: the shape of one example, without the batch.
    """

    def __init__(self, shape: Any):
        self.shape: Shape = (None, *shape_of(shape))


class _Weighted(Layer):
    """The base class of layers with a kernel and a bias."""

    kernel: Any
    bias: Any

    def __init__(
        self, activation: Any = None, use_bias: bool = True, kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros", **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)

    def _make(self, kernel_shape: tuple[int, ...]) -> None:
        self.kernel = self.add_weight(kernel_shape, self.kernel_initializer, name="kernel")
        self.bias = self.add_weight(kernel_shape[-1:], self.bias_initializer, name="bias") if self.use_bias else None
        self._channels = kernel_shape[-2]

    def call(self, inputs: Any) -> Any:
        exact = inputs.dtype.is_floating or inputs.dtype.is_complex
        x = self._product(inputs if exact else tf.cast(inputs, self.kernel.dtype))
        return self.activation(x if self.bias is None else x + self.bias)

    def _product(self, x: Any) -> Any:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        hint = ": the layer is built at its first call" if name in ("kernel", "bias") else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")


class Dense(_Weighted):
    """``activation(inputs @ kernel + bias)``, on the last axis.

    units: the length of the result's last axis. activation: a name or a function. Inputs: ``(batch, ..., n)``.
    Weights: `kernel` ``(n, units)``, `bias` ``(units,)``. Initializers: names or objects.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> layer = tf.keras.layers.Dense(2, activation="relu", kernel_initializer="ones", name="top")
    >>> layer(tf.constant([[1.0, 2.0, 3.0]])).numpy()
    array([[6., 6.]], dtype=float32)
    >>> [(v.name, v.shape) for v in layer.trainable_variables]
    [('top/kernel:0', TensorShape([3, 2])), ('top/bias:0', TensorShape([2]))]
    """

    min_ndim = 2

    def __init__(self, units: int, activation: Any = None, use_bias: bool = True, **kwargs: Any):
        super().__init__(activation, use_bias, **kwargs)
        self.units = _positive("units", units)

    def build(self, input_shape: Any) -> None:
        self._make((input_shape[-1], self.units))

    def _product(self, x: Any) -> Any:
        return tf.matmul(x, self.kernel)


class Conv2D(_Weighted):
    """Convolution of images: inputs ``(batch, height, width, channels)``; `kernel` ``(h, w, channels, filters)``.

    padding: "valid" (only whole windows) or "same" (as many windows as strides need to cover the image).

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> tf.keras.layers.Conv2D(4, 3, padding="same", strides=2)(tf.ones((1, 5, 5, 2))).shape
    TensorShape([1, 3, 3, 4])
    """

    min_ndim = 4

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid", *, activation: Any = None,
        **kwargs: Any,
    ):  # fmt: skip
        super().__init__(activation, **kwargs)
        self.filters, self.padding = _positive("filters", filters), padding
        self.kernel_size, self.strides = _pair("kernel_size", kernel_size), _pair("strides", strides)

    def build(self, input_shape: Any) -> None:
        self._make((*self.kernel_size, input_shape[-1], self.filters))

    def _product(self, x: Any) -> Any:
        return tf.nn.conv2d(x, self.kernel, self.strides, self.padding)


class BatchNormalization(Layer):
    """Inputs less their mean and divided by their standard deviation, then scaled by `gamma` and moved by `beta`.

    In training these are the mean and the variance over all axes but the last, and the moving ones follow them:
    ``moving = momentum * moving + (1 - momentum) * batch``. Otherwise, and where `trainable` is False, they are the
    moving ones. `epsilon` is added to the variance.

    Weights: `gamma`, `beta`; not trainable: `moving_mean`, `moving_variance`; all of the length of the last axis.
    Reference: Ioffe and Szegedy, Batch normalization (2015), algorithms 1 and 2.
    """

    gamma: Any
    beta: Any
    moving_mean: Any
    moving_variance: Any

    def __init__(self, *, momentum: float = 0.99, epsilon: float = 1e-3, **kwargs: Any):
        super().__init__(**kwargs)
        self.momentum, self.epsilon = float(momentum), float(epsilon)

    def build(self, input_shape: Any) -> None:
        shape = input_shape[-1:]
        self.gamma = self.add_weight(shape, "ones", name="gamma")
        self.beta = self.add_weight(shape, "zeros", name="beta")
        self.moving_mean = self.add_weight(shape, "zeros", trainable=False, name="moving_mean")
        self.moving_variance = self.add_weight(shape, "ones", trainable=False, name="moving_variance")
        self._channels = shape[0]

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        mean, variance = self.moving_mean, self.moving_variance
        if training and self.trainable:
            mean, variance = tf.nn.moments(inputs, axes=list(range(len(inputs.shape) - 1)))
            for moving, batch in ((self.moving_mean, mean), (self.moving_variance, variance)):
                old, new = moving.numpy(), batch.numpy()
                moving.assign(old * old.dtype.type(self.momentum) + new * old.dtype.type(1.0 - self.momentum))
        return tf.nn.batch_normalization(inputs, mean, variance, self.beta, self.gamma, self.epsilon)


class Dropout(Layer):
    """In training, each element is zero with probability `rate`, and the others are divided by ``1 - rate``.

    Otherwise the inputs pass. `seed` makes a sequence of masks repeatable. Raises ValueError for a rate that is not in
    ``[0, 1]``.
    """

    def __init__(self, rate: float, *, seed: int | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        if not 0 <= rate <= 1:
            raise ValueError(
                f"Invalid value received for argument `rate`. Expected a float value between 0 and 1. Received: "
                f"rate={rate}"
            )
        self.rate, self._random = rate, None if seed is None else np.random.default_rng(seed)

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training or not self.rate:
            return inputs
        random = generator() if self._random is None else self._random
        kept = random.random(tuple(inputs.shape)) >= self.rate
        scale = 1.0 / (1.0 - self.rate) if self.rate < 1 else 0.0
        return tf.where(kept, inputs * scale, 0.0)


class Flatten(Layer):
    """All axes but the first become one; numbers become rows of one."""

    def call(self, inputs: Any) -> Any:
        return tf.reshape(inputs, [inputs.shape[0], math.prod(inputs.shape[1:])])


class Activation(Layer):
    """An activation, by its name or as a function."""

    def __init__(self, activation: Any, **kwargs: Any):
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        return self.activation(inputs)


class ReLU(Activation):
    """`tf.nn.relu` as a layer."""

    def __init__(self, **kwargs: Any):
        super().__init__("relu", **kwargs)


def _positive(name: str, value: Any) -> int:
    """The value. Raises ValueError if it is no positive integer."""
    if not isinstance(value, (int, np.integer)) or value <= 0:
        raise ValueError(
            f"Received an invalid value for `{name}`, expected a positive integer. Received: {name}={value}"
        )
    return int(value)


def _pair(name: str, value: Any) -> tuple[int, int]:
    """One number for each axis of an image."""
    rows, columns = (value, value) if isinstance(value, int) else value
    return _positive(name, rows), _positive(name, columns)


__all__ = [
    "Activation", "BatchNormalization", "Conv2D", "Dense", "Dropout", "Flatten", "Input", "Layer", "ReLU",
]  # fmt: skip
__getattr__, __dir__ = public("tf.keras.layers", __all__)
