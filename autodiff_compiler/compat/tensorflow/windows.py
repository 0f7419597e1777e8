"""Convolutions and pooling, of the kernels that `ad.nn` is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import kernels
from .errors import InvalidArgumentError, invalid
from .operands import integers, operand, pair, run
from .tensors import tensor


def static(items: Any, first: bool) -> Any:
    """Strides, windows or dilations, in the order of channels last."""
    if items is None:
        return 1
    if isinstance(items, int):
        return items
    given = integers(items)
    if len(given) == 1:
        return given[0]
    return (given[0], *given[2:], given[1]) if first and len(given) > 3 else given


def _padding(padding: Any, first: bool) -> Any:
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(f"Value for attr 'padding' of {padding!r} is not in the list of allowed values: "
                             '"SAME", "VALID"')  # fmt: skip
        return padding.upper()
    pairs = tuple([integers(p) for p in padding])
    return (pairs[0], *pairs[2:], pairs[1]) if first else pairs


def _channels_first(data_format: str | None) -> bool:
    return data_format is not None and data_format.startswith("NC")


def _last(x: Any, first: bool) -> Any:
    return run(np.moveaxis, x, 1, -1) if first else x


def _back(x: Any, first: bool) -> Any:
    return run(np.moveaxis, x, -1, 1) if first else x


def _kernel(op: str, fn: Any, *args: Any) -> Any:
    try:
        return run(fn, *args)
    except ValueError as error:
        raise invalid(op, str(error)) from None


def _conv(
    op: str, rank: int, input: Any, filters: Any, strides: Any, padding: Any, data_format: str | None, dilations: Any
) -> Any:
    x, f = pair(input, filters, op)
    if x._value.ndim != rank + 2 or f._value.ndim != rank + 2:
        which, v = ("input", x) if x._value.ndim != rank + 2 else ("filter", f)
        raise invalid(op, f"{which} must be {rank + 2}-dimensional, got shape {list(v._value.shape)}")
    first = _channels_first(data_format)
    x = _last(x, first)
    channels, needed = x._value.shape[-1], f._value.shape[-2]
    if not needed or channels % needed:
        raise invalid(op, f"input depth must be evenly divisible by filter depth: {channels} vs {needed}")
    out = _kernel(
        op, kernels.conv, x, f, static(strides, first), _padding(padding, first), static(dilations, first),
        channels // needed,
    )  # fmt: skip
    return _back(out, first)


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
    op = "Conv2DBackpropInput"
    x, f = pair(input, filters, op)
    first = _channels_first(data_format)
    x = _last(x, first)
    shape = integers(output_shape)
    if first:
        shape = (shape[0], *shape[2:], shape[1])
    if len(shape) == 4:
        if shape[0] != x._value.shape[0] or shape[-1] != f._value.shape[-2]:
            raise invalid(op, f"output_shape {list(shape)} does not match batch {x._value.shape[0]} and outputs "
                          f"{f._value.shape[-2]}")  # fmt: skip
        shape = shape[1:-1]
    out = _kernel(
        op, kernels.conv_input, x, f, shape, static(strides, first), _padding(padding, first),
        static(dilations, first), 1,
    )  # fmt: skip
    return _back(out, first)


def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, data_format: str | None = None, dilations: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """`conv2d` of each channel with filters (rows, columns, channels, multiplier) of its own."""
    x, f = pair(input, filter, "DepthwiseConv2dNative")
    first = _channels_first(data_format)
    x = _last(x, first)
    rows, columns, channels, multiplier = f._value.shape
    if x._value.shape[-1] != channels:
        raise invalid("DepthwiseConv2dNative", f"input and filter must have the same depth: {x._value.shape[-1]} vs "
                      f"{channels}")  # fmt: skip
    grouped = run(np.reshape, f, (rows, columns, 1, channels * multiplier))
    out = _kernel(
        "DepthwiseConv2dNative", kernels.conv, x, grouped, static(strides, first), _padding(padding, first),
        static(dilations, first), channels,
    )  # fmt: skip
    return _back(out, first)


# --- pooling ----------------------------------------------------------------------------------------------------------


def _max(x: Any, ksize: Any, strides: Any, padding: Any) -> Any:
    places = kernels.pool_places(x._value, ksize, strides, padding)
    return run(np.take, run(np.reshape, x, (-1,)), places)


def _avg(x: Any, ksize: Any, strides: Any, padding: Any) -> Any:
    count = kernels.pool_count(x._value, ksize, strides, padding)
    return run(kernels.pool_sum, x, ksize, strides, padding) / tensor(count)


def _pooling(op: str, compute: Callable[..., Any], data_format: str, doc: str) -> Callable[..., Any]:
    def operation(
        input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = data_format,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        x = operand(input)
        first = _channels_first(data_format)
        x = _last(x, first)
        try:
            out = compute(x, static(ksize, first), static(strides, first), _padding(padding, first))
        except InvalidArgumentError:
            raise
        except ValueError as error:
            raise invalid(op, str(error)) from None
        return _back(out, first)

    operation.__doc__ = doc
    return operation


_MAX = "The maximum of each window of each channel; of equal elements the first gets the gradient."
_MEAN = "The mean of the elements in each window of each channel; padding does not count."
max_pool = _pooling("MaxPool", _max, "NHWC", _MAX)
max_pool1d = _pooling("MaxPool", _max, "NWC", _MAX)
max_pool2d = _pooling("MaxPool", _max, "NHWC", _MAX)


avg_pool = _pooling("AvgPool", _avg, "NHWC", _MEAN)
avg_pool1d = _pooling("AvgPool", _avg, "NWC", _MEAN)
avg_pool2d = _pooling("AvgPool", _avg, "NHWC", _MEAN)
