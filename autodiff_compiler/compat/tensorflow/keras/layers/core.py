"""Dense layers, dropout, embeddings, and functions as layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import tensorflow as tf
from .. import activations, initializers, regularizers
from ..layer import Layer


class Dense(Layer):
    """``activation(inputs @ kernel + bias)``, on the last axis.

    units: the length of the result's last axis. activation: a name or a function. Inputs: ``(batch, ..., n)``.
    Weights: `kernel` ``(n, units)``, `bias` ``(units,)``. Initializers and regularizers: names or objects.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> layer = tf.keras.layers.Dense(2, activation="relu", kernel_initializer="ones", name="top")
    >>> layer(tf.constant([[1.0, 2.0, 3.0]])).numpy()
    array([[6., 6.]], dtype=float32)
    >>> [(v.name, v.shape) for v in layer.trainable_variables]
    [('top/kernel:0', TensorShape([3, 2])), ('top/bias:0', TensorShape([2]))]
    """

    supports_masking = True
    min_ndim = 2

    def __init__(
        self, units: int, activation: Any = None, use_bias: bool = True, kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros", kernel_regularizer: Any = None, bias_regularizer: Any = None,
        activity_regularizer: Any = None, kernel_constraint: Any = None, bias_constraint: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.units = positive_integer("units", units)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint

    def build(self, input_shape: Any) -> None:
        length = input_shape[-1]
        self.kernel = self.add_weight(
            (length, self.units), self.kernel_initializer, regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint, name="kernel",
        )  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                (self.units,), self.bias_initializer, regularizer=self.bias_regularizer,
                constraint=self.bias_constraint, name="bias",
            )  # fmt: skip
        self._axes = {-1: length}

    def call(self, inputs: Any) -> Any:
        x = tf.matmul(floating(inputs, self.kernel), self.kernel)
        if self.bias is not None:
            x = x + self.bias
        return self.activation(x)

    def __getattr__(self, name: str) -> Any:
        raise unbuilt(self, name, ("kernel", "bias"))


class EinsumDense(Layer):
    """``einsum(equation, inputs, kernel)``, plus a bias along the axes `bias_axes` of the result, and an activation.

    output_shape: the lengths of the result's axes after the batch, None where they are those of the inputs.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> tf.keras.layers.EinsumDense("abc,cd->abd", output_shape=(None, 4), bias_axes="d")(tf.ones((2, 5, 3))).shape
    TensorShape([2, 5, 4])
    """

    def __init__(
        self, equation: str, output_shape: Any, activation: Any = None, bias_axes: str | None = None,
        kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros", kernel_regularizer: Any = None,
        bias_regularizer: Any = None, kernel_constraint: Any = None, bias_constraint: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.equation, self.bias_axes = equation, bias_axes
        self.partial_output_shape = (output_shape,) if isinstance(output_shape, int) else tuple(output_shape)
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint

    def build(self, input_shape: Any) -> None:
        given, out = self.equation.replace(" ", "").split("->")
        inputs, kernel = given.split(",")
        lead = "..." in inputs
        inputs, out_names = inputs.replace("...", ""), out.replace("...", "")
        tail = input_shape[len(input_shape) - len(inputs) :] if lead else input_shape
        lengths = dict(zip(inputs, tail))
        wanted = out_names if lead else out_names[1:]
        for name, n in zip(wanted[::-1], self.partial_output_shape[::-1]):
            if n is not None:
                lengths[name] = n
        self.kernel = self.add_weight(
            tuple([lengths[name] for name in kernel]), self.kernel_initializer, regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint, name="kernel",
        )  # fmt: skip
        self.bias = None
        if self.bias_axes is not None:
            first = min(out_names.index(name) for name in self.bias_axes)
            shape = tuple([lengths[name] if name in self.bias_axes else 1 for name in out_names[first:]])
            self.bias = self.add_weight(
                shape, self.bias_initializer, regularizer=self.bias_regularizer, constraint=self.bias_constraint,
                name="bias",
            )  # fmt: skip

    def call(self, inputs: Any) -> Any:
        x = tf.einsum(self.equation, floating(inputs, self.kernel), self.kernel)
        return self.activation(x if self.bias is None else x + self.bias)

    def __getattr__(self, name: str) -> Any:
        raise unbuilt(self, name, ("kernel", "bias"))


class Dropout(Layer):
    """In training, each element is zero with probability `rate`, and the others are divided by ``1 - rate``.

    Otherwise the inputs pass. `noise_shape`: where it has length 1, elements are kept or dropped together. `seed` makes
    a sequence of masks repeatable. Raises ValueError for a rate that is not in ``[0, 1]``.
    """

    supports_masking = True

    def __init__(self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        if not 0 <= rate <= 1:
            raise ValueError(
                f"Invalid value received for argument `rate`. Expected a float value between 0 and 1. Received: "
                f"rate={rate}"
            )
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self._random = None if seed is None else np.random.default_rng(seed)

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training or not self.rate:
            return inputs
        random = self._random if self._random is not None else initializers.generator(None)
        shape = tuple(inputs.shape)
        if self.noise_shape is not None:
            shape = tuple([n if k is None else int(k) for n, k in zip(shape, self.noise_shape)])
        kept = random.random(shape) >= self.rate
        scale = 1.0 / (1.0 - self.rate) if self.rate < 1 else 0.0
        return inputs * tf.constant(np.broadcast_to(kept * scale, tuple(inputs.shape)), inputs.dtype)


class GaussianNoise(Layer):
    """In training, normal noise of this deviation is added."""

    supports_masking = True

    def __init__(self, stddev: float, seed: int | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.stddev, self.seed = stddev, seed
        self._random = None if seed is None else np.random.default_rng(seed)

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training or not self.stddev:
            return inputs
        random = self._random if self._random is not None else initializers.generator(None)
        return inputs + tf.constant(random.normal(0.0, self.stddev, tuple(inputs.shape)), inputs.dtype)


class SpatialDropout1D(Dropout):
    """`Dropout` of whole channels of sequences ``(batch, length, channels)``."""

    ndim = 3

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any):
        super().__init__(rate, (None, 1, None), seed, **kwargs)


class SpatialDropout2D(Dropout):
    """`Dropout` of whole channels of images ``(batch, height, width, channels)``."""

    ndim = 4

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any):
        super().__init__(rate, (None, 1, 1, None), seed, **kwargs)


class ActivityRegularization(Layer):
    """The inputs, whose absolute values and squares, times `l1` and `l2`, are added to the losses."""

    supports_masking = True

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any):
        super().__init__(activity_regularizer=regularizers.L1L2(l1, l2), **kwargs)
        self.l1, self.l2 = l1, l2

    def call(self, inputs: Any) -> Any:
        return inputs


class Embedding(Layer):
    """Rows of a table, by their numbers: inputs of integers, shape ``(...)``, give ``(..., output_dim)``.

    Weight: `embeddings` ``(input_dim, output_dim)``. mask_zero: places where the number is 0 do not count.
    """

    _casts_inputs = False

    def __init__(
        self, input_dim: int, output_dim: int, embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None, embeddings_constraint: Any = None, mask_zero: bool = False, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.input_dim, self.output_dim, self.mask_zero = input_dim, output_dim, mask_zero
        self.supports_masking = mask_zero
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = embeddings_constraint

    def build(self, input_shape: Any = None) -> None:
        self.embeddings = self.add_weight(
            (self.input_dim, self.output_dim), self.embeddings_initializer, regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint, name="embeddings",
        )  # fmt: skip

    def call(self, inputs: Any) -> Any:
        return tf.gather(self.embeddings, tf.cast(inputs, tf.int32) if inputs.dtype.is_floating else inputs)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return tf.not_equal(inputs, 0) if self.mask_zero else None


class Masking(Layer):
    """Steps in which all features are `mask_value` do not count; they become zeros."""

    supports_masking = True

    def __init__(self, mask_value: float = 0.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.mask_value = mask_value

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return tf.reduce_any(tf.not_equal(inputs, tf.cast(self.mask_value, inputs.dtype)), axis=-1)

    def call(self, inputs: Any) -> Any:
        counts = tf.expand_dims(self.compute_mask(inputs), -1)
        return inputs * tf.cast(counts, inputs.dtype)


class Lambda(Layer):
    """A function as a layer."""

    supports_masking = True

    def __init__(
        self, function: Callable[..., Any], output_shape: Any = None, arguments: Any = None, **kwargs: Any
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.function, self.arguments = function, dict(arguments or {})

    def call(self, inputs: Any) -> Any:
        return self.function(inputs, **self.arguments)


def positive_integer(name: str, value: Any) -> int:
    """The value. Raises ValueError if it is none."""
    if not isinstance(value, (int, np.integer)) or value <= 0:
        raise ValueError(
            f"Received an invalid value for `{name}`, expected a positive integer. Received: {name}={value}"
        )
    return int(value)


def floating(x: Any, weight: Any) -> Any:
    """Integers in the dtype of a weight."""
    return x if x.dtype.is_floating or x.dtype.is_complex else tf.cast(x, weight.dtype)


def unbuilt(layer: Layer, name: str, weights: tuple[str, ...]) -> AttributeError:
    """What to raise for an attribute that a layer has not, or does not have yet."""
    if name in weights:
        return AttributeError(f"You must build the layer before accessing `{name}`.")
    if name in ("input", "output"):
        return AttributeError(f"The layer {layer.name} has never been called and thus has no defined {name}.")
    return AttributeError(f"{type(layer).__name__!r} object has no attribute {name!r}")
