"""Functions that split, join, make and choose from arrays.

Parameters have NumPy's names. A definition sees abstract values: axes, modes and ranks are constants in it. Loops over
lists are unrolled, loops over ranges are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ..definitions import defines, folded, known, place, refuse

# --- splitting --------------------------------------------------------------------------------------------------------


def axes_of(axis: Any, ndim: Any) -> Any:
    """The axes named by an `axis` argument, counted from the front."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    for k in axes:
        if not isinstance(k, int):
            refuse("an axis that is not known when the program is compiled", "write it as a constant")
        if k < -ndim or k >= ndim:
            raise np.exceptions.AxisError(f"axis {k} is out of bounds for array of dimension {ndim}")
    axes = tuple([k % ndim for k in axes])
    if len(set(axes)) != len(axes):
        raise ValueError("repeated axis")
    return axes


def along(axis: Any, ndim: Any, item: Any) -> Any:
    """The subscript that applies `item` to one axis."""
    if not isinstance(axis, int):
        refuse("an axis that is not known when the program is compiled", "write it as a constant")
    if axis < -ndim or axis >= ndim:
        raise np.exceptions.AxisError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return (slice(None),) * (axis % ndim) + (item,)


@defines(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    array = np.asarray(ary)
    parts = []
    length = array.shape[axis]
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, extra = length // count, length % count
        start = 0
        for k in list(range(count)):
            stop = start + each + (1 if k < extra else 0)
            parts.append(array[along(axis, np.ndim(array), slice(start, stop))])
            start = stop
        return parts
    start = 0
    for stop in indices_or_sections:
        parts.append(array[along(axis, np.ndim(array), slice(start, stop))])
        start = stop
    parts.append(array[along(axis, np.ndim(array), slice(start, None))])
    return parts


@defines(np.split)
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    array = np.asarray(ary)
    if isinstance(indices_or_sections, int):
        if isinstance(ary, (list, tuple)):
            raise AttributeError("a list or tuple has no attribute 'shape'")
        if array.shape[axis] % indices_or_sections != 0:
            raise ValueError("array split does not result in an equal division")
        if indices_or_sections < 0:
            raise ValueError("number sections must be larger than 0.")
        parts = []
        each = array.shape[axis] // indices_or_sections
        for k in list(range(indices_or_sections)):
            parts.append(array[along(axis, np.ndim(array), slice(k * each, (k + 1) * each))])
        return parts
    return array_split(array, indices_or_sections, axis)


@defines(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    if np.ndim(ary) == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    if isinstance(ary, (list, tuple)):
        raise AttributeError("a list or tuple has no attribute 'ndim'")
    return split(ary, indices_or_sections, 0 if np.ndim(ary) == 1 else 1)


@defines(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    if np.ndim(ary) < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@defines(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    if np.ndim(ary) < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


if hasattr(np, "unstack"):

    @defines(np.unstack)
    def unstack(x: Any, *, axis: Any = 0) -> Any:
        if np.ndim(x) == 0:
            raise ValueError("Input array must be at least 1-d.")
        moved = np.moveaxis(x, axis, 0)
        return tuple([moved[k] for k in list(range(moved.shape[0]))])


# --- joining ----------------------------------------------------------------------------------------------------------


@defines(np.dstack)
def dstack(tup: Any) -> Any:
    return np.concatenate([np.atleast_3d(a) for a in tup], axis=2)


def stack_rows(name: Any, x: Any) -> Any:
    """np.vstack, np.hstack or np.column_stack of the rows of one array."""
    rank = np.ndim(x)
    if rank == 0:
        raise TypeError("iteration over a 0-d array")
    rows = x.shape[0]
    if known(rows) and rows == 0:
        raise ValueError("need at least one array to concatenate")
    if rank == 1:
        return x.copy() if name == "hstack" else (x[:, None] if name == "vstack" else x[None]).copy()
    if rank == 2:
        return x.copy() if name == "vstack" else x.flatten() if name == "hstack" else x.T.copy()
    if name == "vstack":
        return x.copy().reshape((rows * x.shape[1],) + x.shape[2:])
    moved = np.moveaxis(x, 0, 1).copy()
    return moved.reshape((x.shape[1], rows * x.shape[2]) + x.shape[3:])


@defines(np.atleast_3d)
def atleast_3d(*arys: Any) -> Any:
    if len(arys) != 1:
        return tuple([atleast_3d(a) for a in arys])
    array = np.asarray(arys[0])
    if np.ndim(array) == 0:
        return array.reshape(1, 1, 1)
    if np.ndim(array) == 1:
        return array[None, :, None]
    if np.ndim(array) == 2:
        return array[:, :, None]
    return array


@defines(np.block)
def block(arrays: Any) -> Any:
    depth = _depth(arrays)
    made = _block(arrays, depth, max(_rank(arrays), depth))
    return made.copy() if depth == 0 else made


def _depth(arrays: Any) -> Any:
    if isinstance(arrays, tuple):
        raise TypeError("Only lists can be used to arrange blocks, and np.block does not allow tuples.")
    if not isinstance(arrays, list):
        return 0
    if len(arrays) == 0:
        raise ValueError("Lists cannot be empty")
    depths = [_depth(a) for a in arrays]
    if min(depths) != max(depths):
        raise ValueError("List depths are mismatched.")
    return 1 + depths[0]


def _rank(arrays: Any) -> Any:
    return max([_rank(a) for a in arrays] + [0]) if isinstance(arrays, list) else np.ndim(arrays)


def _block(arrays: Any, depth: Any, rank: Any) -> Any:
    if isinstance(arrays, list):
        return np.concatenate([_block(a, depth - 1, rank) for a in arrays], axis=-depth)
    array = np.asarray(arrays)
    return array[(None,) * (rank - np.ndim(array)) + (Ellipsis,)]


# --- making -----------------------------------------------------------------------------------------------------------


@defines(np.meshgrid)
def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy") -> Any:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    flat = [np.asarray(x).reshape(-1) for x in xi]
    axes = [1 - k if indexing == "xy" and k < 2 and rank > 1 else k for k in range(rank)]
    grids = [x.reshape((1,) * k + (-1,) + (1,) * (rank - 1 - k)) for x, k in zip(flat, axes)]
    if not sparse:
        shape = [1] * rank
        for x, k in zip(flat, axes):
            shape[k] = x.shape[0]
        grids = [folded(np.broadcast_to(g, tuple(shape))) for g in grids]
    return tuple([g.copy() if copy else g for g in grids])


@defines(np.vander)
def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    x = np.asarray(x)
    if np.ndim(x) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    if N is not None and N < 0:
        raise ValueError("negative dimensions are not allowed")
    powers = np.arange(x.shape[0] if N is None else N)
    return x[:, None] ** (powers if increasing else powers[::-1])


@defines(np.logspace)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> Any:
    if axis != 0 or dtype is not None:
        refuse("np.logspace with these arguments", "use base ** np.linspace(...)")
    return np.power(base, np.linspace(start, stop, num, endpoint=endpoint))


@defines(np.geomspace)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0) -> Any:
    if axis != 0 or dtype is not None:
        refuse("np.geomspace with these arguments", "use start * (stop / start) ** np.linspace(0, 1, num)")
    if np.any(np.asarray(start) == 0) or np.any(np.asarray(stop) == 0):
        raise ValueError("Geometric sequence cannot include zero")
    # NumPy sets the ends to what was given.
    way = np.linspace(0.0, 1.0, num, endpoint=endpoint)
    rank = max(np.ndim(start), np.ndim(stop))
    return start * (stop / start) ** (np.reshape(way, (-1,) + (1,) * rank) if rank else way)


# --- choosing ---------------------------------------------------------------------------------------------------------


@defines(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    for k in list(range(len(condlist))):
        if not np.issubdtype(np.asarray(condlist[k]).dtype, np.bool_):
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    out = default
    for k in list(range(len(condlist))):
        j = len(condlist) - 1 - k
        out = np.where(condlist[j], choicelist[j], out)
    return out


@defines(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    x = np.asarray(x)
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    if np.ndim(x) > 0:
        if not isinstance(condlist, (list, tuple)) and np.ndim(condlist) != 1:
            refuse("np.piecewise with a matrix of conditions", "pass a list of conditions")
        for c in conditions:
            if np.ndim(c) == 0:
                refuse("np.piecewise with a condition that is not an array", "pass a list of arrays")
    if len(funclist) == len(conditions) + 1:
        rest = np.logical_not(conditions[0])
        for c in conditions[1:]:
            rest = rest & np.logical_not(c)
        conditions = conditions + [rest]
    if len(funclist) != len(conditions):
        raise ValueError(f"with {len(conditions)} condition(s), as many functions or one more are expected")
    out = np.zeros_like(x)
    for c, f in zip(conditions, funclist):
        if callable(f):
            out[c] = f(x[c], *args, **kw)
        else:
            out[c] = f
    return out


@defines(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    array = np.moveaxis(np.asarray(arr), axis, -1)
    lead = array.shape[:-1]
    rank = np.ndim(array) - 1
    count: Any = 1
    for n in lead:
        count = count * n
    if known(count) and count == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    rows = array.reshape(count, array.shape[-1])
    results = [func1d(row, *args, **kwargs) for row in rows]
    out = np.stack(results)
    inner = np.ndim(out) - 1
    out = out.reshape(lead + out.shape[1:])
    # The axes of a result stand where the axis was.
    for k in list(range(inner)):
        out = np.moveaxis(out, rank + k, axis % (rank + 1) + k)
    return out


@defines(np.cross)
def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a = np.moveaxis(np.asarray(a), axisa, -1)
    b = np.moveaxis(np.asarray(b), axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise UnsupportedError(
            "the derivative of np.cross is that of vectors of length 3",
            place(),
            "write out a[0] * b[1] - a[1] * b[0]",
        )
    i = (slice(None),) * (np.ndim(a) - 1) or (Ellipsis,)
    j = (slice(None),) * (np.ndim(b) - 1) or (Ellipsis,)
    parts = [
        a[i + (1,)] * b[j + (2,)] - a[i + (2,)] * b[j + (1,)],
        a[i + (2,)] * b[j + (0,)] - a[i + (0,)] * b[j + (2,)],
        a[i + (0,)] * b[j + (1,)] - a[i + (1,)] * b[j + (0,)],
    ]
    return np.moveaxis(np.stack(parts, axis=-1), -1, axisc)


@defines(np.kron)
def kron(a: Any, b: Any) -> Any:
    a, b = np.asarray(a), np.asarray(b)
    rank = max(np.ndim(a), np.ndim(b))
    if rank == 0:
        return a * b
    a = a[(None,) * (rank - np.ndim(a)) + (Ellipsis,)]
    b = b[(None,) * (rank - np.ndim(b)) + (Ellipsis,)]
    left: Any = ()
    right: Any = ()
    for _ in list(range(rank)):
        left = left + (slice(None), None)
        right = right + (None, slice(None))
    shape = tuple([n * m for n, m in zip(a.shape, b.shape)])
    return (a[left] * b[right]).reshape(shape)


@defines(np.diff)
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Any:
    if axis is None:
        raise TypeError("'NoneType' object cannot be interpreted as an integer")
    if n is None:
        raise TypeError("'<' not supported between instances of 'NoneType' and 'int'")
    if n == 0:
        return a  # without what is put before or behind
    if prepend is not None or append is not None:
        place = axis
        a = np.asarray(a)
        parts = [a]
        if prepend is not None:
            parts = [_end(prepend, a, place), a]
        if append is not None:
            parts = parts + [_end(append, a, place)]
        a = np.concatenate(parts, place)
    once = known(n) and n == 1
    if axis == -1:
        return np.diff(a) if once else np.diff(a, n)
    return np.diff(a, axis=axis) if once else np.diff(a, n, axis)


def _end(x: Any, a: Any, axis: Any) -> Any:
    """What is put before or behind an array along an axis: a number is put there once."""
    if np.ndim(x):
        return x
    rank = np.ndim(a)
    place = axis % rank
    return np.broadcast_to(x, np.shape(a)[:place] + (1,) + np.shape(a)[place + 1 :])


@defines(np.require)
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    if requirements is not None or like is not None:
        refuse("np.require with requirements", "leave them out")
    return np.asarray(a, dtype)


@defines(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: Any = False) -> Any:
    shape = np.broadcast_shapes(*[np.shape(x) for x in args])
    return tuple([folded(np.broadcast_to(x, shape)) for x in args])


@defines(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    flat = np.asarray(ary).reshape(-1)
    out = flat[1:] - flat[:-1]
    if to_begin is not None:
        out = np.concatenate((_fitting(to_begin, "to_begin", flat), out))
    if to_end is not None:
        out = np.concatenate((out, _fitting(to_end, "to_end", flat)))
    return out


def _fitting(end: Any, name: Any, flat: Any) -> Any:
    """What is put before or behind the differences, in their dtype."""
    end = np.asarray(end).reshape(-1)
    if not np.can_cast(end.dtype, flat.dtype, "same_kind"):
        raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
    return end.astype(flat.dtype)


@defines(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    x, p = np.asarray(x), np.asarray(p)
    y = np.zeros_like(x)
    if not np.issubdtype(p.dtype, np.integer) and not np.issubdtype(p.dtype, np.bool_):
        y = y * 1.0
    for c in p:
        y = y * x + c
    return y


@defines(np.nonzero)
def nonzero(a: Any) -> Any:
    a = np.asarray(a)
    if np.ndim(a) == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    rest = np.flatnonzero(a)
    places: Any = []
    for k in list(range(np.ndim(a)))[::-1][:-1]:
        places.append(rest % a.shape[k])
        rest = rest // a.shape[k]
    places.append(rest)
    return tuple(places[::-1])


@defines(np.argwhere)
def argwhere(a: Any) -> Any:
    if np.ndim(a) == 0:
        return np.stack(np.nonzero(np.atleast_1d(a)), axis=-1)[:, :0]
    return np.stack(np.nonzero(a), axis=-1)


@defines(np.tril_indices)
def tril_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    return np.nonzero(np.arange(n)[:, None] + k >= np.arange(n if m is None else m))


@defines(np.triu_indices)
def triu_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    return np.nonzero(np.arange(n)[:, None] + k <= np.arange(n if m is None else m))


def _matrix(arr: Any) -> None:
    if np.ndim(arr) != 2:
        raise ValueError("input array must be 2-d")


@defines(np.tril_indices_from)
def tril_indices_from(arr: Any, k: Any = 0) -> Any:
    _matrix(arr)
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


@defines(np.triu_indices_from)
def triu_indices_from(arr: Any, k: Any = 0) -> Any:
    _matrix(arr)
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


@defines(np.diag_indices)
def diag_indices(n: Any, ndim: Any = 2) -> Any:
    return (np.arange(n),) * ndim


@defines(np.diag_indices_from)
def diag_indices_from(arr: Any) -> Any:
    if np.ndim(arr) < 2:
        raise ValueError("input array must be at least 2-d")
    for n in arr.shape[1:]:
        if n != arr.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    return (np.arange(arr.shape[0]),) * np.ndim(arr)


@defines(np.indices)
def indices(dimensions: Any, dtype: Any = int, sparse: Any = False) -> Any:
    rank = len(dimensions)
    if rank == 0:
        return () if sparse else np.zeros((0,), dtype=dtype)
    grids = [
        np.arange(dimensions[k], dtype=dtype).reshape((1,) * k + (-1,) + (1,) * (rank - 1 - k))
        for k in list(range(rank))
    ]
    return tuple(grids) if sparse else np.stack([np.broadcast_to(g, dimensions) for g in grids])


@defines(np.ix_)
def ix_(*args: Any) -> Any:
    out = []
    for k in list(range(len(args))):
        index = np.asarray(args[k])
        if np.ndim(index) != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if np.issubdtype(index.dtype, np.bool_):
            index = np.flatnonzero(index)
        out.append(index.reshape((1,) * k + (-1,) + (1,) * (len(args) - 1 - k)))
    return tuple(out)


@defines(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1) -> Any:
    return np.take_along_axis(np.asarray(a), np.argpartition(a, kth, axis), axis)


@defines(np.diagflat)
def diagflat(v: Any, k: Any = 0) -> Any:
    return np.diag(np.asarray(v).reshape(-1), k)


@defines(np.rollaxis)
def rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    rank = np.ndim(a)
    (axis,) = axes_of(axis, rank)
    start = start + rank if start < 0 else start
    if start < 0 or start > rank:
        raise np.exceptions.AxisError(f"'start' arg requires {-rank} <= start < {rank + 1}")
    return np.moveaxis(a, axis, start - 1 if axis < start else start)


@defines(type(np.r_).__getitem__)
def concatenated(self: Any, key: Any) -> Any:
    parts = [_joinable(item) for item in (key if isinstance(key, tuple) else (key,))]
    if self is np.c_:
        return np.concatenate([p[:, None] if np.ndim(p) == 1 else p for p in parts], axis=-1)
    return np.concatenate(parts, axis=0)


def _joinable(item: Any) -> Any:
    is_slice = isinstance(item, slice)
    if not known(is_slice):
        refuse(
            "np.r_ and np.c_ of what is an array at some times only",
            "begin with an empty array, such as np.zeros(0), or use np.concatenate",
        )
    if is_slice:
        return np.ogrid[item]
    if isinstance(item, str):
        refuse("np.r_ and np.c_ with a text", "write np.concatenate")
    return np.atleast_1d(item)
