"""Operations along axes: sums, means, extremes, running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import kernels
from ...ir.opset import PRIMS
from ...tape.operators import average, reduction
from . import dtypes
from .dtypes import as_dtype
from .errors import invalid
from .made import sqrt, square
from .operands import axes, floating, integer, operand, run
from .operators import NUMBERS, Arithmetic, not_allowed
from .tensors import convert_to_tensor, tensor

Operation = Callable[..., Any]


def named(operation: Operation, name: str, doc: str) -> Operation:
    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = doc
    return operation


def _sum(v: Any, axis: Any = None, keepdims: bool = False) -> Any:
    if v.dtype.kind == "b":
        raise not_allowed("Sum", v.dtype, NUMBERS)
    return _add(v, axis=axis, dtype=v.dtype, keepdims=keepdims)


_add: Any = np.add.reduce
_multiply: Any = np.multiply.reduce


def _mean(v: Any, axis: Any = None, keepdims: bool = False) -> Any:
    if v.dtype.kind in "fc":
        return average(v, axis, keepdims)
    if v.dtype.kind == "b":
        raise not_allowed("Mean", v.dtype, NUMBERS)
    total = v.sum(axis, v.dtype, None, keepdims)
    count = max(v.size // max(np.size(total), 1), 1)
    return (np.sign(total) * (np.abs(total) // count)).astype(v.dtype)


def _prod(v: Any, axis: Any = None, keepdims: bool = False) -> Any:
    if v.dtype.kind == "b":
        raise not_allowed("Prod", v.dtype, NUMBERS)
    return _multiply(v, axis=axis, dtype=v.dtype, keepdims=keepdims)


def _extreme(fn: Any, op: str, lowest: bool) -> Any:
    def compute(v: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if v.dtype.kind in "bc":
            raise not_allowed(op, v.dtype, NUMBERS)
        if v.size:
            return fn(v, axis=axis, keepdims=keepdims)
        kind = dtypes.of(v.dtype)
        bound = (-np.inf if lowest else np.inf) if kind.is_floating else (kind.min if lowest else kind.max)
        return fn(v, axis=axis, keepdims=keepdims, initial=bound)

    return compute


def _truth(fn: Any, op: str) -> Any:
    def compute(v: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if v.dtype.kind != "b":
            from .values import mismatch

            raise mismatch(op, np.dtype(bool), dtypes.of(v.dtype).label, 0)
        return fn(v, axis=axis, keepdims=keepdims)

    return compute


def _reduction(fn: Any, compute: Any, op: str) -> Operation:
    """A reduction by this NumPy function."""
    reduce = reduction(PRIMS[fn], compute)

    def operation(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
        x = input_tensor if isinstance(input_tensor, Arithmetic) else convert_to_tensor(input_tensor)
        if axis is not None and type(axis) is not int:
            axis = axes(axis)
            if axis == ():
                return run(np.positive, x) if x._value.dtype.kind != "b" else x
        try:
            return reduce(x, axis, bool(keepdims))
        except (np.exceptions.AxisError, ValueError) as error:
            raise _wrong_axis(op, axis, x._value.ndim, error) from None

    return named(operation, fn.__name__, f"``np.{fn.__name__}`` along axes, by default all; keeps the dtype.")


def _wrong_axis(op: str, axis: Any, ndim: int, error: Exception) -> Exception:
    for k in axis if isinstance(axis, tuple) else (axis,):
        if not -ndim <= k < ndim:
            return invalid(op, f"Invalid reduction dimension ({k} for input with {ndim} dimension(s)")
    return invalid(op, str(error))


reduce_sum = _reduction(np.sum, _sum, "Sum")
reduce_mean = _reduction(np.mean, _mean, "Mean")
reduce_prod = _reduction(np.prod, _prod, "Prod")
reduce_max = _reduction(np.max, _extreme(np.max, "Max", True), "Max")
reduce_min = _reduction(np.min, _extreme(np.min, "Min", False), "Min")
reduce_any = _reduction(np.any, _truth(np.any, "Any"), "Any")
reduce_all = _reduction(np.all, _truth(np.all, "All"), "All")


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """``log(sum(exp(x)))`` along axes, without overflow."""
    x = floating(input_tensor, "Exp")
    return run(kernels.logsumexp, x, axes(axis), bool(keepdims))


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The mean of the squared distances from the mean."""
    x = _real(input_tensor, "reduce_variance")
    axis = axes(axis)
    means = reduce_mean(x, axis, True)
    return reduce_mean(square(x - means), axis, keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of `reduce_variance`."""
    return sqrt(reduce_variance(input_tensor, axis, keepdims))


def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of the sum of squares."""
    return sqrt(reduce_sum(square(operand(input_tensor)), axis, keepdims))


def _real(x: Any, op: str) -> Any:
    x = operand(x)
    if x._value.dtype.kind != "f":
        raise TypeError(f"Input must be either real or complex. Received integer type {x.dtype}.")
    return x


def count_nonzero(
    input: Any, axis: Any = None, keepdims: bool | None = None, dtype: Any = dtypes.int64, name: str | None = None
) -> Any:
    """How many numbers are not zero."""
    v = operand(input)._value
    found = np.count_nonzero(v, axis=axes(axis), keepdims=bool(keepdims))
    return tensor(np.asarray(found, as_dtype(dtype).np_dtype)[()])


def _arg(fn: Any) -> Operation:
    def operation(input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None) -> Any:
        v = operand(input)._value
        found = fn(v, axis=0 if axis is None else integer(axis))
        return tensor(np.asarray(found, as_dtype(output_type).np_dtype)[()])

    return named(operation, fn.__name__, f"``np.{fn.__name__}`` along an axis, by default the first, as int64.")


argmax = _arg(np.argmax)
argmin = _arg(np.argmin)


# --- running sums -----------------------------------------------------------------------------------------------------


def _running(fn: Any, neutral: int) -> Operation:
    def operation(
        x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
    ) -> Any:
        x = operand(x)
        axis = integer(axis)
        if reverse:
            x = run(np.flip, x, axis=axis)
        out = run(fn, x, axis=axis, dtype=x._value.dtype.type) if x._value.dtype.kind in "iu" else run(fn, x, axis=axis)
        if exclusive:
            at = axis % x._value.ndim
            shape = list(x._value.shape)
            shape[at] = min(1, shape[at])
            first = tensor(np.full(shape, neutral, x._value.dtype))
            rest = out[(slice(None),) * at + (slice(None, -1),)]
            out = run(np.concatenate, [first, rest], axis=at)
        return run(np.flip, out, axis=axis) if reverse else out

    return named(operation, fn.__name__, f"``np.{fn.__name__}`` along an axis; exclusive: without the number itself.")


cumsum = _running(np.cumsum, 0)
cumprod = _running(np.cumprod, 1)


# --- segments ---------------------------------------------------------------------------------------------------------


def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sums of the rows with each id."""
    from .indexing import scatter_nd

    x, ids = operand(data), np.asarray(operand(segment_ids)._value)
    n = integer(num_segments)
    flat = run(np.reshape, x, (ids.size, *x._value.shape[ids.ndim :]))
    keep = np.nonzero(ids.ravel() >= 0)[0]
    if keep.size != ids.size:
        flat = run(np.take, flat, keep, axis=0)
    indices = ids.ravel()[keep].reshape(-1, 1)
    return scatter_nd(indices, flat, (n, *x._value.shape[ids.ndim :]))


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The sums of the rows with each id; the ids are sorted."""
    return unsorted_segment_sum(data, segment_ids, _segments(segment_ids))


def _segments(segment_ids: Any) -> int:
    ids = np.asarray(operand(segment_ids)._value)
    return int(ids[-1]) + 1 if ids.size else 0
