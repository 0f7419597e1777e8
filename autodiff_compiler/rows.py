"""What NumPy computes slowly along short axes, such as that of the coordinates of points: column by column.

NumPy's loops run along the last axis of an array in C order. Where that has two or three elements, as the points of a
cloud or the classes of a model have, a sum over it takes twenty times as long as the sum of the columns. These
functions look at the shape, since the compiler does not know it. Each gives the same bits as the expression in its
docstring, in the same layout, but for `row_dots`, and `column_sums` if it need not be exact. Emitted code calls these
two in backward sweeps.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

SHORT = 8  # NumPy adds up fewer elements than these one after the other
MANY = 32  # rows for each column, from which on the columns are faster
WIDE = 1024  # columns, from which on a product takes as long as a sum; rows, from which on a vector of ones is not kept
LARGE = 4000  # rows, from which on arrays that are broadcast are computed faster by columns


def _has_short_rows(x: Any) -> bool:
    k = x.shape[-1]
    return bool(1 < k < SHORT and x.size > MANY * k * k)


def row_sums(x: Any) -> Any:
    """``x.sum(axis=-1)`` of an array of floats or booleans with two axes or more.

    >>> row_sums(np.arange(6.0).reshape(3, 2))
    array([1., 5., 9.])
    """
    if not _has_short_rows(x):
        return np.add.reduce(x, axis=-1)
    # NumPy begins with zero, which is seen where all are -0.0.
    out = x[..., 0] + 0.0 if x.dtype.kind == "f" else x[..., 0].astype(np.intp)
    for j in range(1, x.shape[-1]):
        out += x[..., j]
    return out


def row_maxima(x: Any) -> Any:
    """``x.max(axis=-1)`` of an array of floats with two axes or more.

    >>> row_maxima(np.arange(6.0).reshape(3, 2))
    array([1., 3., 5.])
    """
    return _folded(np.maximum, x)


def row_minima(x: Any) -> Any:
    """``x.min(axis=-1)`` of an array of floats with two axes or more.

    >>> row_minima(np.arange(6.0).reshape(3, 2))
    array([0., 2., 4.])
    """
    return _folded(np.minimum, x)


def row_all(x: Any) -> Any:
    """``x.all(axis=-1)`` of an array of booleans with two axes or more.

    >>> row_all(np.array([[True, False], [True, True]]))
    array([False,  True])
    """
    return _folded(np.logical_and, x)


def row_any(x: Any) -> Any:
    """``x.any(axis=-1)`` of an array of booleans with two axes or more.

    >>> row_any(np.array([[True, False], [False, False]]))
    array([ True, False])
    """
    return _folded(np.logical_or, x)


def _folded(ufunc: Any, x: Any) -> Any:
    if not _has_short_rows(x):
        return ufunc.reduce(x, axis=-1)
    out = ufunc(x[..., 0], x[..., 1])
    for j in range(2, x.shape[-1]):
        ufunc(out, x[..., j], out=out)
    return out


def row_dots(x: Any, y: Any) -> Any:
    """``np.einsum("ij,ij->i", x, y)``, the inner products of the rows of two matrices of one shape.

    >>> row_dots(np.arange(6.0).reshape(3, 2), np.ones((3, 2)))
    array([1., 5., 9.])
    """
    k = x.shape[1]
    if k > 4 or not _has_short_rows(x):
        return np.einsum("ij,ij->i", x, y)
    out = x[:, 0] * y[:, 0]
    term = np.empty_like(out)
    for j in range(1, k):
        np.multiply(x[:, j], y[:, j], out=term)
        out += term
    return out


def column_sums(x: Any, exact: bool = False) -> Any:
    """``x.sum(axis=-2)`` of an array of floats. If it need not be exact, it is a product with a vector of ones.

    >>> column_sums(np.arange(6.0).reshape(3, 2))
    array([6., 9.])
    """
    if not exact and x.ndim == 2 and x.shape[1] < WIDE:
        n = len(x)
        ones = _ones(n, x.dtype) if n < WIDE else _ones.__wrapped__(n, x.dtype)
        if ones is not None:
            return ones.dot(x)
    if x.ndim == 2 and x.flags.f_contiguous and len(x) < SHORT:
        return row_sums(x.T)  # these are its rows in memory
    if not _has_short_rows(x) or x.dtype.kind != "f" or (exact and not x.flags.c_contiguous):
        return np.add.reduce(x, axis=-2)
    return np.einsum("...ij->...j", x) if exact else np.ones(x.shape[-2], x.dtype) @ x


@functools.lru_cache(64)
def _ones(n: int, dtype: Any) -> Any:
    """A vector for products with matrices of this dtype, None if it is not one of BLAS."""
    if dtype not in (np.float64, np.float32):
        return None
    made = np.ones(n, dtype)
    made.flags.writeable = False
    return made


def by_columns(ufunc: Any, x: Any, y: Any) -> Any:
    """``ufunc(x, y)`` of two arrays of floats with three axes or more, one of which is broadcast along the middle.

    >>> points = np.arange(6.0).reshape(3, 2)
    >>> by_columns(np.subtract, points[:, None], points[None])[0]
    array([[ 0.,  0.],
           [-2., -2.],
           [-4., -4.]])
    """
    k = x.shape[-1]
    large = 1 < k == y.shape[-1] <= 4 and x.size * y.size > LARGE * k
    if not (large and x.dtype == y.dtype and x.flags.c_contiguous and y.flags.c_contiguous):
        return ufunc(x, y)
    shape = np.broadcast_shapes(x.shape, y.shape)
    if math.prod(shape) < LARGE * k:
        return ufunc(x, y)
    out = np.empty(shape, x.dtype)
    for j in range(k):
        ufunc(x[..., j], y[..., j], out=out[..., j])
    return out


def take_rows(x: Any, index: Any) -> Any:
    """``x[index]`` of an array with two axes or more, by an array of ints or a vector of booleans. `take` needs a tenth
    of the time, and `compress` a third.

    >>> take_rows(np.arange(6.0).reshape(3, 2), np.array([2, -3]))
    array([[4., 5.],
           [0., 1.]])
    """
    if index.dtype == bool:
        return x.compress(index, 0) if x.flags.c_contiguous and len(index) == len(x) else x[index]
    if x.flags.c_contiguous and x.size and (index.ndim == 1 or index.flags.c_contiguous):
        return x.take(index.astype(np.intp, copy=False), 0)
    return x[index]


def add_at(a: Any, index: Any, v: Any) -> None:
    """``np.add.at(a, index, v)`` for an array of ints. NumPy has a fast loop for vectors, and is slow for others.

    >>> a = np.zeros((3, 2))
    >>> add_at(a, np.array([0, 2, 0]), np.ones((3, 2)))
    >>> a
    array([[2., 2.],
           [0., 0.],
           [1., 1.]])
    """
    count, k = index.size, v.size // (index.size or 1)
    short = k < SHORT and a.ndim <= 2
    few = count < 24 * k if short else v.size < 320
    if few or v.shape != index.shape + a.shape[1:] or a.dtype != v.dtype or np.may_share_memory(a, v):
        np.add.at(a, index, v)
        return
    index = index.astype(np.intp, copy=False).ravel()
    if a.ndim == 1:
        np.add.at(a, index, v.ravel())
    elif short:
        v = v.reshape(count, k)
        for j in range(k):
            np.add.at(a[:, j], index, v[:, j])
    elif a.flags.c_contiguous and -len(a) <= index.min() and index.max() < len(a):
        np.add.at(a.reshape(-1), (index[:, None] * k + np.arange(k)).ravel(), v.ravel())
    else:
        np.add.at(a, index, v.reshape(count, *a.shape[1:]))


__all__ = [
    "add_at",
    "by_columns",
    "column_sums",
    "row_all",
    "row_any",
    "row_dots",
    "row_maxima",
    "row_minima",
    "row_sums",
    "take_rows",
]
