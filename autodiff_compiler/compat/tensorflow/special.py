"""``tf.math``'s rarer functions: of the gamma function, polynomials, histograms, extremes of segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import kernels
from ...tape.apply import getitem
from . import dtypes
from .dtypes import as_dtype
from .operands import elementwise, integer, operand, run
from .operators import not_allowed
from .reductions import reduce_max, reduce_min, reduce_prod
from .shaping import stack
from .tensors import tensor

REALS = "bfloat16, half, float, double"
_erfc = elementwise(kernels.erfc, "Erfc", REALS)
_lgamma = elementwise(kernels.lgamma, "Lgamma", REALS)


def erfc(x: Any, name: str | None = None) -> Any:
    """``1 - erf(x)``, exact where it is small."""
    return _erfc(operand(x))


def lgamma(x: Any, name: str | None = None) -> Any:
    """The logarithm of the size of the gamma function."""
    return _lgamma(operand(x))


def digamma(x: Any, name: str | None = None) -> Any:
    """The derivative of `lgamma`."""
    x = operand(x)
    if x._value.dtype.kind != "f":
        raise not_allowed("Digamma", x._value.dtype, REALS)
    return run(kernels.polygamma, 0, x)


def polygamma(a: Any, x: Any, name: str | None = None) -> Any:
    """The derivative of order `a` of `digamma`; `a` is one whole number."""
    order = np.asarray(operand(a)._value)
    if order.size != 1 or order.ravel()[0] < 0 or order.ravel()[0] % 1:
        raise NotImplementedError("polygamma of one order, which is a whole number")
    return run(kernels.polygamma, int(order.ravel()[0]), operand(x))


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Any:
    """The polynomial with these coefficients, that of the highest power first, at `x`."""
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = operand(x)
    if not coeffs:
        return x * 0
    out = operand(coeffs[0])
    for c in coeffs[1:]:
        out = x * out + c
    return out


def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: str | None = None
) -> Any:
    """How many values there are in each of `nbins` equal parts of a range; those outside count at its ends."""
    v = np.asarray(operand(values)._value).ravel().astype(np.float64)
    low, high = (float(x) for x in np.asarray(operand(value_range)._value))
    n = integer(nbins)
    places = np.clip(np.floor((v - low) / (high - low) * n).astype(np.int64), 0, n - 1)
    return tensor(np.bincount(places, minlength=n).astype(as_dtype(dtype).np_dtype))


# --- segments: each is reduced by itself ------------------------------------------------------------------------------


def _segments(reduce: Callable[..., Any], empty: Callable[[dtypes.DType], Any]) -> Callable[..., Any]:
    def operation(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        x, ids = operand(data), np.asarray(operand(segment_ids)._value)
        flat = run(np.reshape, x, (ids.size, *x._value.shape[ids.ndim :]))
        parts = []
        for k in range(integer(num_segments)):
            rows = np.flatnonzero(ids.ravel() == k)
            if rows.size:
                parts.append(reduce(getitem(flat, (rows,)), 0))
            else:
                parts.append(tensor(np.full(flat._value.shape[1:], empty(x.dtype), x._value.dtype)[()]))
        return stack(parts)

    return operation


unsorted_segment_max = _segments(reduce_max, lambda d: d.min)
unsorted_segment_min = _segments(reduce_min, lambda d: d.max)
unsorted_segment_prod = _segments(reduce_prod, lambda d: 1)


def _sorted(unsorted: Callable[..., Any]) -> Callable[..., Any]:
    def operation(data: Any, segment_ids: Any, name: str | None = None) -> Any:
        ids = np.asarray(operand(segment_ids)._value)
        return unsorted(data, ids, int(ids[-1]) + 1 if ids.size else 0)

    return operation


# TensorFlow gives 0 for an id that does not occur here.
segment_max = _sorted(_segments(reduce_max, lambda d: 0))
segment_min = _sorted(_segments(reduce_min, lambda d: 0))
segment_prod = _sorted(_segments(reduce_prod, lambda d: 1))
