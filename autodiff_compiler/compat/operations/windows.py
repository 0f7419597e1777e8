"""Convolution and pooling of arrays, channels last or first. Windows, steps and padding are as in `kernels`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import kernels
from ..graph.array import value_of
from .row import row


def last(a: Any) -> Any:
    """Channels moved from the second axis to the last."""
    return np.moveaxis(a, 1, -1)


def first(a: Any) -> Any:
    """Channels moved from the last axis to the second, in memory in the order of the axes: `view` often comes next."""
    return np.copy(np.moveaxis(a, -1, 1), order="C")


def convolution(a: Any, filters: Any, bias: Any, steps: Any, padding: Any, holes: Any, groups: int) -> Any:
    """The products of filters (outputs, channels, *window) with windows of `a`, channels first."""
    out = kernels.conv(last(a), np.transpose(filters, (2, 3, 1, 0)), steps, padding, holes, groups)
    return first(out if bias is None else out + bias)


def largest(a: Any, window: Any, steps: Any, padding: Any) -> Any:
    """The maximum of each window, channels last. Of equal elements the first gets the gradient."""
    return np.take(np.reshape(a, (-1,)), kernels.pool_places(value_of(a), window, steps, padding))


def average(a: Any, window: Any, steps: Any, padding: Any, divisor: float | None = None) -> Any:
    """The sum of each window divided by `divisor`, or by the number of elements without padding; channels last."""
    sums, v = kernels.pool_sum(a, window, steps, padding), value_of(a)
    if divisor is not None:
        return sums / divisor
    return sums / kernels.pool_count(v, window, steps, padding).astype(v.dtype)


# --- TensorFlow's, channels last --------------------------------------------------------------------------------------


def _check_channels(first: bool, *arrays: Any) -> None:
    if first:
        raise ValueError("the channels come last here: tf.transpose them to the last axis")
    ranks = [value_of(a).ndim for a in arrays]
    if len(set(ranks)) > 1:
        raise ValueError(f"input and filter must have equally many dimensions, not {ranks}")


def _convolved(a: Any, filters: Any, steps: Any, padding: Any, first: bool, holes: Any) -> Any:
    _check_channels(first, a, filters)
    channels, needed = value_of(a).shape[-1], value_of(filters).shape[-2]
    if not needed or channels % needed:
        raise ValueError(f"input depth must be evenly divisible by filter depth: {channels} vs {needed}")
    return kernels.conv(a, filters, steps, padding, holes, channels // needed)


def _transposed(
    a: Any, filters: Any, shape: Any, steps: Any, padding: Any, first: bool, holes: Any
) -> Any:  # fmt: skip
    _check_channels(first, a, filters)
    v, outputs = value_of(a), value_of(filters).shape[-2]
    if len(shape) == v.ndim:
        if (shape[0], shape[-1]) != (v.shape[0], outputs):
            raise ValueError(f"output_shape {list(shape)} does not match batch {v.shape[0]} and outputs {outputs}")
        shape = shape[1:-1]
    return kernels.conv_input(a, filters, shape, steps, padding, holes, 1)


def _by_channel(a: Any, filters: Any, steps: Any, padding: Any, first: bool, holes: Any) -> Any:
    _check_channels(first, a, filters)
    *window, channels, multiplier = value_of(filters).shape
    if value_of(a).shape[-1] != channels:
        raise ValueError(f"input and filter must have the same depth: {value_of(a).shape[-1]} vs {channels}")
    filters = np.reshape(filters, (*window, 1, channels * multiplier))
    return kernels.conv(a, filters, steps, padding, holes, channels)


def _pooled(compute: Any) -> Any:
    def pooled(a: Any, window: Any, steps: Any, padding: Any, first: bool) -> Any:
        _check_channels(first)
        return compute(a, window, steps, padding)

    return pooled


_POOL = "(input, ksize, strides, padding, data_format=None, name=None)"
row("arrays", _convolved, "Conv1D",
    "The products of `filters` (width, channels, outputs) with windows of `input` (batch, length, channels).",
    "nn.conv1d (input, filters, stride, padding, data_format='NWC', dilations=None, name=None)",
    operands=2)  # fmt: skip
row("arrays", _convolved, "Conv2D", "The products of `filters` (rows, columns, channels, outputs) with windows of "
    "`input` (batch, height, width, channels); padding is 'SAME', 'VALID' or a pair for each axis.",
    "nn.conv2d (input, filters, strides, padding, data_format='NHWC', dilations=None, name=None)",
    operands=2)  # fmt: skip
row("arrays", _transposed, "Conv2DBackpropInput",
    "The transpose of `conv2d`, with `filters` (rows, columns, outputs, channels): to `output_shape`.",
    "nn.conv2d_transpose (input, filters, output_shape, strides, padding='SAME', data_format='NHWC', dilations=None, "
    "name=None)", operands=2)  # fmt: skip
row("arrays", _by_channel, "DepthwiseConv2dNative",
    "`conv2d` of each channel with filters (rows, columns, channels, multiplier) of its own.",
    "nn.depthwise_conv2d (input, filter, strides, padding, data_format=None, dilations=None, name=None)",
    operands=2)  # fmt: skip
row("arrays", _pooled(largest), "MaxPool",
    "The maximum of each window of each channel; of equal elements the first gets the gradient.",
    f"nn.max_pool nn.max_pool1d nn.max_pool2d {_POOL}")  # fmt: skip
row("arrays", _pooled(average), "AvgPool",
    "The mean of the elements in each window of each channel; padding does not count.",
    f"nn.avg_pool nn.avg_pool1d nn.avg_pool2d {_POOL}")  # fmt: skip
