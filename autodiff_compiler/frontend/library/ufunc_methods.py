"""Methods of ufuncs in terms of other functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..definitions import defines_method

# The parameter after `axis` of these methods is `dtype`, which is not supported.


def _reduction(function: Any) -> Any:
    def reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
        return function(array, axis=axis, keepdims=keepdims)

    return reduce


for _ufunc, _function in (
    (np.add, np.sum), (np.multiply, np.prod), (np.maximum, np.max), (np.minimum, np.min), (np.logical_and, np.all),
    (np.logical_or, np.any),
):  # fmt: skip
    defines_method((_ufunc, "reduce"))(_reduction(_function))


def _accumulation(function: Any) -> Any:
    def accumulate(array: Any, axis: Any = 0) -> Any:
        if np.ndim(array) == 0:
            raise TypeError("cannot accumulate on a scalar")
        if axis is None and np.ndim(array) > 1:
            raise ValueError("accumulate does not allow multiple axes")
        return function(array, axis=axis)

    return accumulate


for _ufunc, _running in ((np.add, np.cumsum), (np.multiply, np.cumprod)):
    defines_method((_ufunc, "accumulate"))(_accumulation(_running))


@defines_method("outer")
def outer(ufunc: Any, A: Any, B: Any) -> Any:
    A, B = np.asarray(A), np.asarray(B)
    return ufunc(A[(Ellipsis,) + (None,) * np.ndim(B)], B)
