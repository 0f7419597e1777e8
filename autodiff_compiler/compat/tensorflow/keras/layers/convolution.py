"""Convolutions, channels last."""

from __future__ import annotations

from typing import Any

from .... import tensorflow as tf
from .. import activations, initializers, regularizers
from ..layer import Layer
from .core import floating, positive_integer, unbuilt


def several(value: Any, count: int, name: str) -> tuple[int, ...]:
    """One number for each axis."""
    out = (value,) * count if isinstance(value, int) else tuple(value)
    if len(out) != count or not all(isinstance(n, int) and n > 0 for n in out):
        raise ValueError(
            f"The `{name}` argument must be a positive integer or a tuple of {count} of them. Received: {value}"
        )
    return out


def channels_last(data_format: Any) -> None:
    """Raise ValueError for another order of the axes."""
    if data_format not in (None, "channels_last"):
        raise ValueError(
            f"data_format={data_format!r} is not there: transpose to channels_last, (batch, ..., channels)"
        )


def same_or_valid(padding: Any) -> str:
    if not isinstance(padding, str) or padding.lower() not in ("same", "valid"):
        raise ValueError(
            f"The `padding` argument must be a list/tuple or one of {{'same', 'valid'}}. Received: {padding}"
        )
    return padding.lower()


class _Conv(Layer):
    """What convolutions share; `_rank` is the number of axes between batch and channels."""

    _rank: int

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid", data_format: Any = None,
        dilation_rate: Any = 1, groups: int = 1, activation: Any = None, use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros", kernel_regularizer: Any = None,
        bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
        bias_constraint: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        channels_last(data_format)
        self.groups = positive_integer("groups", groups)
        if filters % self.groups:
            raise ValueError(
                f"The number of filters must be evenly divisible by the number of groups. Received: groups={groups}, "
                f"filters={filters}."
            )
        self.min_ndim = self._rank + 2
        self.filters = positive_integer("filters", filters)
        self.kernel_size = several(kernel_size, self._rank, "kernel_size")
        self.strides = several(strides, self._rank, "strides")
        self.dilation_rate = several(dilation_rate, self._rank, "dilation_rate")
        self.padding = "causal" if self._rank == 1 and padding == "causal" else same_or_valid(padding)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint

    def build(self, input_shape: Any) -> None:
        channels = input_shape[-1]
        if channels % self.groups:
            raise ValueError(
                "The number of input channels must be evenly divisible by the number of groups. Received "
                f"groups={self.groups}, but the input has {channels} channels (full input shape is {input_shape})."
            )
        self.kernel = self.add_weight(
            self._kernel_shape(channels), self.kernel_initializer, regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint, name="kernel",
        )  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                (self.filters,), self.bias_initializer, regularizer=self.bias_regularizer,
                constraint=self.bias_constraint, name="bias",
            )  # fmt: skip
        self._axes = {-1: channels}

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, channels // self.groups, self.filters)

    def call(self, inputs: Any) -> Any:
        x = self._convolve(floating(inputs, self.kernel))
        if self.bias is not None:
            x = x + self.bias
        return self.activation(x)

    def _convolve(self, x: Any) -> Any:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        raise unbuilt(self, name, ("kernel", "bias"))


class Conv1D(_Conv):
    """Convolution along one axis: inputs ``(batch, length, channels)``; `kernel` ``(size, channels, filters)``.

    padding: "valid", "same", or "causal", where no step depends on later ones. groups: each so many-th part of the
    filters sees that part of the channels.
    """

    _rank = 1

    def _convolve(self, x: Any) -> Any:
        padding = self.padding.upper()
        if padding == "CAUSAL":  # no step sees later ones
            x = tf.pad(x, [[0, 0], [(self.kernel_size[0] - 1) * self.dilation_rate[0], 0], [0, 0]])
            padding = "VALID"
        return tf.nn.conv1d(x, self.kernel, self.strides[0], padding, dilations=self.dilation_rate[0])


class Conv2D(_Conv):
    """Convolution of images: inputs ``(batch, height, width, channels)``; `kernel` ``(h, w, channels, filters)``.

    padding: "valid" (only whole windows) or "same" (as many windows as strides need to cover the image).

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> tf.keras.layers.Conv2D(4, 3, padding="same", strides=2)(tf.ones((1, 5, 5, 2))).shape
    TensorShape([1, 3, 3, 4])
    """

    _rank = 2

    def _convolve(self, x: Any) -> Any:
        return tf.nn.conv2d(
            x, self.kernel, list(self.strides), self.padding.upper(), dilations=list(self.dilation_rate)
        )  # fmt: skip
