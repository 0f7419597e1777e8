"""Convolutions and pooling, of the kernels that `ad.nn` is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import kernels
from ..operations import windows
from .errors import invalid
from .operands import computed, integers, operand, pair, run


def _static(items: Any) -> Any:
    """Strides, windows or dilations: one number, or one for each axis."""
    given = (1,) if items is None else integers(items)
    return given[0] if len(given) == 1 else given


def _padding(padding: Any) -> Any:
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(f"Value for attr 'padding' of {padding!r} is not in the list of allowed values: "
                             '"SAME", "VALID"')  # fmt: skip
        return padding.upper()
    return tuple([integers(p) for p in padding])


def _channels_last(data_format: str | None) -> None:
    """Raise ValueError for another order of the axes."""
    if data_format is not None and data_format.startswith("NC"):
        raise ValueError(f"data_format={data_format!r} is not there: tf.transpose the channels to the last axis")


def _kernel(op: str, fn: Any, *args: Any) -> Any:
    try:
        return run(fn, *args)
    except ValueError as error:
        raise invalid(op, str(error)) from None


def _conv(
    op: str, rank: int, input: Any, filters: Any, strides: Any, padding: Any, data_format: str | None, dilations: Any
) -> Any:
    _channels_last(data_format)
    x, f = pair(input, filters, op)
    if x._value.ndim != rank + 2 or f._value.ndim != rank + 2:
        which, v = ("input", x) if x._value.ndim != rank + 2 else ("filter", f)
        raise invalid(op, f"{which} must be {rank + 2}-dimensional, got shape {list(v._value.shape)}")
    channels, needed = x._value.shape[-1], f._value.shape[-2]
    if not needed or channels % needed:
        raise invalid(op, f"input depth must be evenly divisible by filter depth: {channels} vs {needed}")
    return _kernel(
        op, kernels.conv, x, f, _static(strides), _padding(padding), _static(dilations), channels // needed
    )  # fmt: skip


def conv1d(
    input: Any, filters: Any, stride: Any, padding: Any, data_format: str | None = "NWC", dilations: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The products of `filters` (width, channels, outputs) with windows of `input` (batch, length, channels)."""
    return _conv("Conv1D", 1, input, filters, stride, padding, data_format, dilations)


def conv2d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: str | None = "NHWC", dilations: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The products of `filters` (rows, columns, channels, outputs) with windows of `input` (batch, height, width,
    channels); padding is 'SAME', 'VALID' or a pair for each axis."""
    return _conv("Conv2D", 2, input, filters, strides, padding, data_format, dilations)


def conv2d_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME", data_format: str | None = "NHWC",
    dilations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """The transpose of `conv2d`, with `filters` (rows, columns, outputs, channels): to `output_shape`."""
    op, shape = "Conv2DBackpropInput", integers(output_shape)
    _channels_last(data_format)
    x, f = pair(input, filters, op)
    if len(shape) == 4:
        if shape[0] != x._value.shape[0] or shape[-1] != f._value.shape[-2]:
            raise invalid(op, f"output_shape {list(shape)} does not match batch {x._value.shape[0]} and outputs "
                          f"{f._value.shape[-2]}")  # fmt: skip
        shape = shape[1:-1]
    args = (x, f, shape, _static(strides), _padding(padding), _static(dilations), 1)
    return _kernel(op, kernels.conv_input, *args)


def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, data_format: str | None = None, dilations: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """`conv2d` of each channel with filters (rows, columns, channels, multiplier) of its own."""
    op = "DepthwiseConv2dNative"
    _channels_last(data_format)
    x, f = pair(input, filter, op)
    rows, columns, channels, multiplier = f._value.shape
    if x._value.shape[-1] != channels:
        raise invalid(op, f"input and filter must have the same depth: {x._value.shape[-1]} vs {channels}")
    grouped = run(np.reshape, f, (rows, columns, 1, channels * multiplier))
    return _kernel(op, kernels.conv, x, grouped, _static(strides), _padding(padding), _static(dilations), channels)


# --- pooling ----------------------------------------------------------------------------------------------------------


def _pooling(op: str, compute: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def operation(
        input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = None, name: str | None = None
    ) -> Any:
        _channels_last(data_format)
        try:
            window, steps, pads = _static(ksize), _static(strides), _padding(padding)
            return computed(lambda a: compute(a, window, steps, pads), operand(input))
        except ValueError as error:
            raise invalid(op, str(error)) from None

    operation.__doc__ = doc
    return operation


_MAX = "The maximum of each window of each channel; of equal elements the first gets the gradient."
_MEAN = "The mean of the elements in each window of each channel; padding does not count."
max_pool = max_pool1d = max_pool2d = _pooling("MaxPool", windows.largest, _MAX)
avg_pool = avg_pool1d = avg_pool2d = _pooling("AvgPool", windows.average, _MEAN)
