"""Convolutions. Arrays have the axes ``(batch, *spatial, channels)``; filters are not flipped.

Strides and dilations are an int, one int for each spatial axis, or one for each axis, as in TensorFlow. Padding "VALID"
adds nothing. "SAME" adds so many zeros that the size stays, if the stride is 1. Or it is a pair ``(before, after)`` for
each spatial axis, or for each axis. The result has the dtype of a product of the two arrays. The functions raise
ValueError for shapes, strides or padding that do not fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels


def conv1d(input: Any, filters: Any, stride: Any = 1, padding: Any = "VALID", dilations: Any = 1) -> Any:
    """The products of filters with windows of sequences.

    Shapes: `input` ``(batch, length, channels)``, `filters` ``(width, channels, outputs)``, the result
    ``(batch, windows, outputs)``.

    >>> conv1d(np.arange(5.0).reshape(1, 5, 1), np.array([1.0, 10.0]).reshape(2, 1, 1)).ravel()
    array([10., 21., 32., 43.])
    """
    return kernels.conv(input, filters, stride, padding, dilations, 1)


def conv2d(
    input: Any, filters: Any, strides: Any = 1, padding: Any = "VALID", data_format: str = "NHWC", dilations: Any = 1
) -> Any:
    """The products of filters with windows of images.

    Shapes: `input` ``(batch, height, width, channels)``, `filters` ``(rows, columns, channels, outputs)``, the result
    ``(batch, *windows, outputs)``. With ``data_format="NCHW"``, the channels are the second axis of `input` and result.
    Filters of shape ``(rows, columns, channels // groups, outputs)`` make a convolution in groups.

    >>> conv2d(np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1)), padding="SAME")[0, ..., 0]
    array([[4., 4., 2.],
           [4., 4., 2.],
           [2., 2., 1.]])
    """
    if data_format == "NCHW":
        x = np.moveaxis(input, 1, -1)
        out = kernels.conv(
            x, filters, channels_last(strides), channels_last(padding), channels_last(dilations), groups_of(x, filters)
        )
        return np.moveaxis(out, -1, 1)
    if data_format != "NHWC":
        raise ValueError("data_format must be 'NHWC' or 'NCHW'")
    return kernels.conv(input, filters, strides, padding, dilations, groups_of(input, filters))


def conv2d_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any = 1, padding: Any = "SAME", data_format: str = "NHWC",
    dilations: Any = 1,
) -> Any:  # fmt: skip
    """The transpose of the `conv2d` that turns an array of `output_shape` into one of the shape of `input`.

    Shapes: `input` ``(batch, height, width, channels)``, `filters` ``(rows, columns, outputs, channels)``, the result
    `output_shape`, which is ``(batch, height, width, outputs)``.

    >>> conv2d_transpose(np.array([[[[1.0], [2.0]]]]), np.ones((1, 3, 1, 1)), (1, 1, 4, 1), strides=(1, 2)).ravel()
    array([1., 1., 3., 2.])
    """
    if data_format != "NHWC":
        raise ValueError("data_format must be 'NHWC'; move the axis of the channels to the end with np.moveaxis")
    if output_shape[0] != np.shape(input)[0] or output_shape[3] != np.shape(filters)[2]:
        raise ValueError("output_shape must have the batch of input and the outputs of filters")
    return kernels.conv_input(input, filters, (output_shape[1], output_shape[2]), strides, padding, dilations, 1)


def depthwise_conv2d(
    input: Any, filter: Any, strides: Any = 1, padding: Any = "VALID", data_format: str = "NHWC", dilations: Any = 1
) -> Any:
    """`conv2d` of each channel with its own filters.

    Shapes: `input` ``(batch, height, width, channels)``, `filter` ``(rows, columns, channels, multiplier)``, the result
    ``(batch, *windows, channels * multiplier)``. The outputs of one channel are adjacent.

    >>> depthwise_conv2d(np.array([[[[1.0, 2.0]]]]), np.array([[[[1.0, 10.0], [1.0, 5.0]]]])).ravel()
    array([ 1., 10.,  2., 10.])
    """
    if data_format != "NHWC":
        raise ValueError("data_format must be 'NHWC'; move the axis of the channels to the end with np.moveaxis")
    rows, columns, channels, multiplier = np.shape(filter)
    filters = np.reshape(filter, (rows, columns, 1, channels * multiplier))
    return kernels.conv(input, filters, strides, padding, dilations, channels)


def groups_of(x: Any, filters: Any) -> Any:
    """The number of groups of channels that the filters are made for."""
    return np.shape(x)[-1] // np.shape(filters)[-2]


def channels_last(items: Any) -> Any:
    """Strides, dilations or padding for ``NCHW`` in the order of ``NHWC``. Without an entry for each axis: as given."""
    if isinstance(items, (int, str)) or len(items) != 4:
        return items
    return (items[0], items[2], items[3], items[1])
