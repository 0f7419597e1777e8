"""Methods of ufuncs in terms of other functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..definitions import defines_method

# The parameter after `axis` of these methods is `dtype`, which is not supported.


@defines_method((np.add, "reduce"))
def add_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    return np.sum(array, axis=axis, keepdims=keepdims)


@defines_method((np.multiply, "reduce"))
def multiply_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    return np.prod(array, axis=axis, keepdims=keepdims)


@defines_method((np.maximum, "reduce"))
def maximum_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    return np.max(array, axis=axis, keepdims=keepdims)


@defines_method((np.minimum, "reduce"))
def minimum_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    return np.min(array, axis=axis, keepdims=keepdims)


@defines_method((np.logical_and, "reduce"))
def logical_and_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    return np.all(array, axis=axis, keepdims=keepdims)


@defines_method((np.logical_or, "reduce"))
def logical_or_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    return np.any(array, axis=axis, keepdims=keepdims)


def _running(array: Any, axis: Any) -> None:
    if np.ndim(array) == 0:
        raise TypeError("cannot accumulate on a scalar")
    if axis is None and np.ndim(array) > 1:
        raise ValueError("accumulate does not allow multiple axes")


@defines_method((np.add, "accumulate"))
def add_accumulate(array: Any, axis: Any = 0) -> Any:
    _running(array, axis)
    return np.cumsum(array, axis=axis)


@defines_method((np.multiply, "accumulate"))
def multiply_accumulate(array: Any, axis: Any = 0) -> Any:
    _running(array, axis)
    return np.cumprod(array, axis=axis)


@defines_method("outer")
def outer(ufunc: Any, A: Any, B: Any) -> Any:
    A, B = np.asarray(A), np.asarray(B)
    return ufunc(A[(Ellipsis,) + (None,) * np.ndim(B)], B)
