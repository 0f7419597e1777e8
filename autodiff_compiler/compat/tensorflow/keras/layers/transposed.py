"""Transposed convolutions, and convolutions of each channel by itself; channels last."""

from __future__ import annotations

from typing import Any

from .... import tensorflow as tf
from .. import activations, initializers, regularizers
from ..layer import Layer
from .convolution import _Conv, channels_last, same_or_valid, several
from .core import floating, positive_integer, unbuilt


class _Transposed(_Conv):
    """What transposed convolutions share: `kernel` ``(..., filters, channels)``."""

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid", output_padding: Any = None,
        data_format: Any = None, dilation_rate: Any = 1, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, **kwargs)
        self.output_padding = None if output_padding is None else tuple(
            [output_padding] * self._rank if isinstance(output_padding, int) else output_padding
        )  # fmt: skip

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, self.filters, channels)

    def _output_lengths(self, x: Any) -> list[int]:
        """How long the result's axes between batch and channels are."""
        out = []
        for k in range(self._rank):
            n, step = int(x.shape[k + 1]), self.strides[k]
            width = (self.kernel_size[k] - 1) * self.dilation_rate[k] + 1
            if self.output_padding is None:
                out.append(n * step + (0 if self.padding == "same" else max(width - step, 0)))
            else:
                cut = 2 * (width // 2) if self.padding == "same" else 0
                out.append((n - 1) * step + width - cut + self.output_padding[k])
        return out


class Conv1DTranspose(_Transposed):
    """The transpose of `Conv1D`: inputs ``(batch, length, channels)``, `kernel` ``(size, filters, channels)``."""

    _rank = 1

    def _convolve(self, x: Any) -> Any:
        shape = [int(x.shape[0]), *self._output_lengths(x), self.filters]
        return tf.nn.conv1d_transpose(
            x, self.kernel, shape, self.strides[0], self.padding.upper(), dilations=self.dilation_rate[0]
        )


class Conv2DTranspose(_Transposed):
    """The transpose of `Conv2D`, which makes images larger: inputs ``(batch, height, width, channels)``, `kernel`
    ``(h, w, filters, channels)``.

    output_padding: how much longer than least the result's axes are.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> tf.keras.layers.Conv2DTranspose(4, 3, padding="same", strides=2)(tf.ones((1, 5, 5, 2))).shape
    TensorShape([1, 10, 10, 4])
    """

    _rank = 2

    def _convolve(self, x: Any) -> Any:
        shape = [int(x.shape[0]), *self._output_lengths(x), self.filters]
        return tf.nn.conv2d_transpose(
            x, self.kernel, shape, list(self.strides), self.padding.upper(), dilations=list(self.dilation_rate)
        )


class DepthwiseConv2D(Layer):
    """Convolution of each channel with `depth_multiplier` filters of its own: `kernel` ``(h, w, channels,
    depth_multiplier)``; the result has ``channels * depth_multiplier`` channels."""

    min_ndim = 4

    def __init__(
        self, kernel_size: Any, strides: Any = 1, padding: str = "valid", depth_multiplier: int = 1,
        data_format: Any = None, dilation_rate: Any = 1, activation: Any = None, use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
        depthwise_constraint: Any = None, bias_constraint: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        channels_last(data_format)
        self.kernel_size = several(kernel_size, 2, "kernel_size")
        self.strides, self.dilation_rate = several(strides, 2, "strides"), several(dilation_rate, 2, "dilation_rate")
        self.padding, self.depth_multiplier = same_or_valid(padding), positive_integer("depth", depth_multiplier)
        self.activation, self.use_bias = activations.get(activation), use_bias
        self.depthwise_initializer = initializers.get(depthwise_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.depthwise_regularizer = regularizers.get(depthwise_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.depthwise_constraint, self.bias_constraint = depthwise_constraint, bias_constraint

    def build(self, input_shape: Any) -> None:
        channels = input_shape[-1]
        self.kernel = self.add_weight(
            (*self.kernel_size, channels, self.depth_multiplier), self.depthwise_initializer,
            regularizer=self.depthwise_regularizer, constraint=self.depthwise_constraint, name="kernel",
        )  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                (channels * self.depth_multiplier,), self.bias_initializer, regularizer=self.bias_regularizer,
                constraint=self.bias_constraint, name="bias",
            )  # fmt: skip
        self._axes = {-1: channels}

    def call(self, inputs: Any) -> Any:
        x = tf.nn.depthwise_conv2d(
            floating(inputs, self.kernel), self.kernel, [1, *self.strides, 1], self.padding.upper(),
            dilations=list(self.dilation_rate),
        )  # fmt: skip
        return self.activation(x if self.bias is None else x + self.bias)

    def __getattr__(self, name: str) -> Any:
        raise unbuilt(self, name, ("kernel", "bias"))


class SeparableConv2D(Layer):
    """`DepthwiseConv2D`, then a mix of the channels in each pixel.

    Weights: `depthwise_kernel` ``(h, w, channels, depth_multiplier)``, `pointwise_kernel`
    ``(1, 1, channels * depth_multiplier, filters)``, `bias`.
    """

    min_ndim = 4

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid", data_format: Any = None,
        dilation_rate: Any = 1, depth_multiplier: int = 1, activation: Any = None, use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform", pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros", depthwise_regularizer: Any = None, pointwise_regularizer: Any = None,
        bias_regularizer: Any = None, activity_regularizer: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        channels_last(data_format)
        self.filters, self.kernel_size = positive_integer("filters", filters), several(kernel_size, 2, "kernel_size")
        self.strides, self.dilation_rate = several(strides, 2, "strides"), several(dilation_rate, 2, "dilation_rate")
        self.padding, self.depth_multiplier = same_or_valid(padding), positive_integer("depth", depth_multiplier)
        self.activation, self.use_bias = activations.get(activation), use_bias
        self.depthwise_initializer = initializers.get(depthwise_initializer)
        self.pointwise_initializer = initializers.get(pointwise_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.depthwise_regularizer = regularizers.get(depthwise_regularizer)
        self.pointwise_regularizer = regularizers.get(pointwise_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)

    def build(self, input_shape: Any) -> None:
        channels = input_shape[-1]
        self.depthwise_kernel = self.add_weight(
            (*self.kernel_size, channels, self.depth_multiplier), self.depthwise_initializer,
            regularizer=self.depthwise_regularizer, name="depthwise_kernel",
        )  # fmt: skip
        self.pointwise_kernel = self.add_weight(
            (1, 1, channels * self.depth_multiplier, self.filters), self.pointwise_initializer,
            regularizer=self.pointwise_regularizer, name="pointwise_kernel",
        )  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                (self.filters,), self.bias_initializer, regularizer=self.bias_regularizer, name="bias"
            )  # fmt: skip
        self._axes = {-1: channels}

    def call(self, inputs: Any) -> Any:
        x = tf.nn.separable_conv2d(
            floating(inputs, self.depthwise_kernel), self.depthwise_kernel, self.pointwise_kernel,
            [1, *self.strides, 1], self.padding.upper(), dilations=list(self.dilation_rate),
        )  # fmt: skip
        return self.activation(x if self.bias is None else x + self.bias)
