"""Grids of coordinates, indices to loop over, and subscripts as objects."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ..definitions import defines, refuse


@defines(type(np.mgrid).__getitem__)
def grid(self: Any, key: Any) -> Any:
    if not isinstance(key, tuple):
        return _points(key, _is_exact(key))
    exact = True
    for item in key:
        exact = exact and _is_exact(item)
    rank = len(key)
    axes = [_points(item, exact) for item in key]
    grids = [x.reshape((1,) * k + (-1,) + (1,) * (rank - 1 - k)) for k, x in enumerate(axes)]
    if self is np.ogrid:
        return tuple(grids)
    shape = tuple([x.shape[0] for x in axes])
    return np.stack([np.broadcast_to(g, shape) for g in grids])


def _is_exact(item: Any) -> Any:
    if not isinstance(item, slice):
        refuse("np.mgrid and np.ogrid of what is not a slice", "write slices, such as 0:n")
    inexact = (float, np.floating)
    ends = isinstance(item.start, inexact) or isinstance(item.stop, inexact)
    return not (ends or isinstance(item.step, (*inexact, complex)))


def _points(item: Any, exact: Any) -> Any:
    """The points that a slice of a grid stands for; an imaginary step is their number."""
    start = 0 if item.start is None else item.start
    step = 1 if item.step is None else item.step
    if item.stop is None:
        refuse("np.mgrid and np.ogrid of a slice without an end", "write the end")
    if isinstance(step, complex):
        count = int(abs(step))
        step = (item.stop - start) / (count - 1) if count > 1 else 1.0
        return np.arange(count) * step + start
    points = np.arange(math.ceil((item.stop - start) / step)) * step + start
    return points if exact else points * 1.0


@defines(type(np.s_).__getitem__)
def subscript(self: Any, item: Any) -> Any:
    return (item,) if self is np.index_exp and not isinstance(item, tuple) else item


@defines()
def strided(x: Any, shape: Any, strides: Any, itemsize: Any) -> Any:
    """The elements that ``as_strided(x, shape, strides)`` shows of an array whose elements lie one behind the other."""
    rank = len(shape)
    if len(strides) != rank:
        raise ValueError("mismatch in length of strides and shape")
    places = np.zeros(shape, dtype=int)
    for k in list(range(rank)):
        if strides[k] % itemsize != 0:
            raise NotImplementedError("as_strided with strides that lead between two elements")
        along = np.arange(shape[k]) * (strides[k] // itemsize)
        places = places + along.reshape((1,) * k + (-1,) + (1,) * (rank - 1 - k))
    if places.size > 0 and (np.min(places) < 0 or np.max(places) >= x.size):
        raise NotImplementedError("as_strided reaches beyond the elements of the array")
    return x.reshape(-1)[places]


@defines(np.ndindex)
def ndindex(*shape: Any) -> Any:
    if len(shape) == 1 and isinstance(shape[0], tuple):
        shape = shape[0]
    return itertools.product(*[range(n) for n in shape])


@defines(np.ndenumerate)
def ndenumerate(arr: Any) -> Any:
    arr = np.asarray(arr)
    return zip(itertools.product(*[range(n) for n in np.shape(arr)]), arr.reshape(-1))


@defines(np.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    if like is not None:
        refuse("np.fromfunction with like=", "leave it out")
    rank = len(shape)
    axes = [np.arange(n, dtype=dtype).reshape((1,) * k + (-1,) + (1,) * (rank - 1 - k)) for k, n in enumerate(shape)]
    return function(*[np.broadcast_to(x, shape).copy() for x in axes], **kwargs)
