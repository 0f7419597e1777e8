"""Derivative rules of functions whose results are elements of their arguments, and of ufunc methods.

The function applied to the numbers of the elements says where each of the result came from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import opset
from . import lib
from .lib import call
from .record import nondiff, vjp


def _numbers(a: Any, first: Any = 0) -> Any:
    """The elements of `a`, numbered."""
    n = lib.count(a)
    flat = call(np.arange, n) if type(first) is int and first == 0 else call(np.arange, first, first + n)
    return flat if lib.ndim(a) == 1 else lib.reshape_as(flat, a)


def _returned(g: Any, a: Any, source: Any) -> Any:
    """The cotangent of `a`, of which the elements numbered `source` were picked."""
    path: tuple[Any, ...] = (("index", (source,)),)
    if lib.ndim(a) != 1:
        path = (("reshape", (-1,)), *path)
    return lib.emit(opset.ADDAT, lib.zeros_for(g, a), path, g)


def picked(fn: Any, g: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    """The cotangent of `a` for ``fn(a, *args)``, whose elements are elements of `a`."""
    return _returned(g, a, call(fn, _numbers(a), *args, **kwargs))


def _picks(fn: Any, argument: str) -> None:
    @vjp(fn, argument)
    def rule(g: Any, out: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
        if lib.is_empty(a):
            return None
        return picked(fn, g, a, *args, **kwargs)


_picks(np.resize, "a")
_picks(np.delete, "arr")
_picks(np.lib.stride_tricks.sliding_window_view, "x")


@vjp((np.extract,), "arr")
def _extract(g: Any, out: Any, condition: Any, arr: Any) -> Any:
    return _returned(g, arr, call(np.extract, condition, _numbers(arr)))


@vjp((np.compress,), "a")
def _compress(g: Any, out: Any, condition: Any, a: Any, axis: Any = None) -> Any:
    return _returned(g, a, call(np.compress, condition, _numbers(a), axis))


@vjp(np.insert, "arr")
def _insert_arr(g: Any, out: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    # The numbers of inserted elements are those after the last of `arr`, and add up where they are dropped.
    n = lib.count(arr)
    source = call(np.insert, _numbers(arr), obj, call(np.zeros_like, _numbers(values)) + n, axis)
    flat = lib.added(lib.zeros_of(n + 1, g), (source,), g)
    return lib.reshape_as(lib.part(flat, (slice(None, -1),)), arr)


@vjp(np.insert, "values")
def _insert_values(g: Any, out: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    m = lib.count(values)
    source = call(np.insert, call(np.zeros_like, _numbers(arr)) - 1, obj, _numbers(values), axis)
    flat = lib.added(lib.zeros_of(m + 1, g), (source,), g)  # -1 is the last
    return lib.reshape_as(lib.part(flat, (slice(None, -1),)), values)


@vjp(np.choose, "choices")
def _choose(g: Any, out: Any, a: Any, choices: Any, *, mode: Any = "raise") -> Any:
    if mode != "raise" or not isinstance(choices, (list, tuple)):
        raise lib.unsupported("np.choose has a derivative rule for mode='raise' and a list of choices")
    return tuple([lib.masked(g, lib.equal(a, k)) for k in range(len(choices))])


@vjp(np.bincount, "weights")
def _bincount(g: Any, out: Any, x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    return None if weights is None else lib.part(g, (x,))


nondiff((np.digitize, np.argpartition, np.lexsort))

# --- ufunc methods ----------------------------------------------------------------------------------------------------


@vjp(np.logaddexp.reduce, "array")
def _logaddexp(g: Any, out: Any, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    wide = [lib.expand(v, axis, keepdims, array) for v in (g, out)]
    return wide[0] * np.exp(array - wide[1])


@vjp(np.logaddexp2.reduce, "array")
def _logaddexp2(g: Any, out: Any, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    wide = [lib.expand(v, axis, keepdims, array) for v in (g, out)]
    return wide[0] * np.exp2(array - wide[1])


@vjp(np.hypot.reduce, "array")
def _hypot(g: Any, out: Any, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    return lib.expand(g / lib.nonzero(out), axis, keepdims, array) * array


def _accumulated(better: Any) -> Any:
    """The cotangent of ``np.maximum.accumulate``: each result is the first element of that value so far."""

    def rule(g: Any, out: Any, array: Any, axis: Any = 0) -> Any:
        place = lib.axes(axis, array)[0]
        n, rank = lib.length(array, place), lib.ndim(array)
        later, earlier = (lib.vector_index(place, s) for s in (slice(1, None), slice(None, -1)))
        is_new = better(lib.part(array, later), lib.part(out, earlier))
        steps = call(np.arange, 1, n)
        if rank > 1:
            steps = lib.reshape(steps, (1,) * place + (-1,) + (1,) * (rank - 1 - place))
        first = lib.part(out, lib.vector_index(place, slice(None, 1)))
        start = call(np.zeros_like, first, dtype=np.dtype(np.int64))
        last = call(np.maximum.accumulate, call(np.concatenate, (start, is_new * steps), axis=place), place)
        if rank == 1:
            return lib.scatter(g, array, (last,))
        indices = []
        for k in range(rank):
            shape = (1,) * k + (-1,) + (1,) * (rank - 1 - k)
            indices.append(last if k == place else lib.reshape(call(np.arange, lib.length(array, k)), shape))
        return lib.scatter(g, array, tuple(indices))

    return rule


vjp(np.maximum.accumulate, "array")(_accumulated(lambda x, best: lib.invert(np.less_equal(x, best))))
vjp(np.minimum.accumulate, "array")(_accumulated(lambda x, best: lib.invert(np.greater_equal(x, best))))


@vjp(np.add.reduceat, "array")
def _reduceat(g: Any, out: Any, array: Any, indices: Any, axis: Any = 0) -> Any:
    # What is added where a sum begins and taken off where it ends is, summed up, the cotangent of each element.
    place = lib.axes(axis, array)[0]
    n, rank = lib.length(array, place), lib.ndim(array)
    g = np.moveaxis(g, place, 0)
    following = call(np.concatenate, (lib.part(indices, (slice(1, None),)), call(np.full, (1,), n)))
    last = call(np.arange, lib.length(indices, 0)) >= lib.length(indices, 0) - 1
    ends = call(np.where, np.greater(following, indices) | last, following, indices + 1)
    shape = (n + 1, *[lib.length(array, k) for k in range(rank) if k != place])
    steps = lib.added(lib.zeros_of(shape, g), (indices,), g)
    steps = lib.added(steps, (ends,), -g)
    return np.moveaxis(lib.part(np.cumsum(steps, 0), (slice(None, -1),)), 0, place)


@vjp(np.nextafter, "x1")
def _nextafter(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return g


@vjp(np.unwrap, "p")
def _unwrap(g: Any, out: Any, p: Any, discont: Any = None, axis: Any = -1, *, period: Any = None) -> Any:
    return g  # what is added is constant between the jumps


@vjp(np.histogram, "a")
def _histogram(g: Any, out: Any, a: Any, bins: Any = 10, range: Any = None, density: Any = None) -> Any:
    if g[1] is not None and lib.is_scalar(bins) and range is None:
        raise lib.unsupported("the edges of np.histogram have no derivative rule", "pass the edges, or range=")
    return None  # counts
