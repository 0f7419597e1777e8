"""What functions of NumPy's do with rarer forms of their arguments, and functions that call a function of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import distinct
from ..definitions import defines, known, refuse

# --- functions of elements --------------------------------------------------------------------------------------------


def mapped_elements(pyfunc: Any, otypes: Any, arrays: Any, kwargs: Any) -> Any:
    """What ``np.vectorize(pyfunc)`` computes. The dtype is that of the first value, which is computed twice."""
    arrays = [np.asarray(a) for a in arrays]
    if len(arrays) == 0:
        refuse("a function of np.vectorize without positional arguments", "pass the arrays by position")
    if len(arrays) > 1:
        arrays = list(np.broadcast_arrays(*arrays))
    shape = arrays[0].shape
    flat = [a.reshape(-1) for a in arrays]
    count = flat[0].shape[0]
    if otypes is None:
        if count == 0:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        first = pyfunc(*[a[0] for a in flat], **kwargs)
        if isinstance(first, tuple):
            refuse("a function of np.vectorize that returns a tuple", "return one number, or loop over the elements")
        dtype = np.asarray(first).dtype
    else:
        dtype = otypes
    found = [pyfunc(*[a[k].item() for a in flat], **kwargs) for k in range(count)]
    return np.array(found).astype(dtype).reshape(shape)


def mapped_numbers(pyfunc: Any, otype: Any, arrays: Any) -> Any:
    """What a ufunc of ``numba.vectorize`` computes; `otype`: the dtype of its results, if that is known."""
    arrays = [np.asarray(a) for a in arrays]
    for a in arrays:
        if a.dtype != np.float64 and a.dtype != np.int64:
            refuse("a ufunc of numba.vectorize of numbers other than float64 and int64", "convert: x.astype(float)")
    if len(arrays) > 1:
        arrays = list(np.broadcast_arrays(*arrays))
    shape = arrays[0].shape
    flat = [a.reshape(-1) for a in arrays]
    if len(shape) == 0:
        return np.array([pyfunc(*[a[0].item() for a in flat])], dtype=otype)[0]
    found = [pyfunc(*[a[k].item() for a in flat]) for k in range(flat[0].shape[0])]
    return np.array(found, dtype=otype).reshape(shape)


@defines(np.vectorize)
def vectorize(
    pyfunc: Any, otypes: Any = None, doc: Any = None, excluded: Any = None, cache: Any = False, signature: Any = None
) -> Any:
    if excluded or cache or signature is not None:
        refuse("np.vectorize with excluded, cache or signature", "loop over the elements")
    kind = otypes if otypes is None or isinstance(otypes, str) else otypes[0]
    if otypes is not None and len(otypes) != 1:
        refuse("np.vectorize of a function with several results", "return one number, or loop over the elements")

    def mapped(*args: Any, **kwargs: Any) -> Any:
        return mapped_elements(pyfunc, kind, args, kwargs)

    return mapped


class Objects:
    """The array of objects that a function of ``np.frompyfunc`` gives. found: what the function gave, in a list."""

    __autodiff_noun__ = "an array of objects of np.frompyfunc"
    __autodiff_remedy__ = "make an array of numbers of it: .astype(float)"

    def __init__(self, found: Any, shape: Any) -> None:
        self.found = found
        self.shape = shape

    @property
    def ndim(self) -> Any:
        return len(self.shape)

    def astype(self, dtype: Any, *options: Any, **named: Any) -> Any:
        if np.dtype(dtype).kind not in "biufc":
            refuse("an array of objects of another one", self.__autodiff_remedy__)
        return np.array(self.found, dtype=dtype).reshape(self.shape)

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of an array of objects of np.frompyfunc", self.__autodiff_remedy__)


@defines(np.frompyfunc)
def frompyfunc(func: Any, /, nin: Any, nout: Any, *, identity: Any = None) -> Any:
    def mapped(*args: Any) -> Any:
        if len(args) != nin:
            raise TypeError("wrong number of arguments")
        arrays = [np.asarray(a) for a in args]
        if len(arrays) > 1:
            arrays = list(np.broadcast_arrays(*arrays))
        shape = arrays[0].shape
        flat = [a.reshape(-1) for a in arrays]
        if len(shape) == 0:
            return func(*[a[0].item() for a in flat])
        found = [func(*[a[k].item() for a in flat]) for k in range(flat[0].shape[0])]
        if nout == 1:
            return Objects(found, shape)
        return tuple([Objects([given[k] for given in found], shape) for k in range(nout)])

    return mapped


# --- one array in the place of a list of arrays -----------------------------------------------------------------------


def stacked_array(a: Any, axis: Any = 0) -> Any:
    """``np.stack(a, axis)`` of an array."""
    if np.ndim(a) == 0:
        raise TypeError("iteration over a 0-d array")
    if known(a.shape[0]) and a.shape[0] == 0:
        raise ValueError("need at least one array to stack")
    return np.moveaxis(a, 0, axis).copy()


def joined_array(a: Any, axis: Any = 0) -> Any:
    """``np.concatenate(a, axis)`` of an array."""
    if np.ndim(a) == 0:
        raise TypeError("iteration over a 0-d array")
    if np.ndim(a) == 1:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    if known(a.shape[0]) and a.shape[0] == 0:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        return a.flatten()
    rank = np.ndim(a) - 1
    if axis < -rank or axis >= rank:
        raise np.exceptions.AxisError(f"axis {axis} is out of bounds for array of dimension {rank}")
    axis = axis % rank
    moved = np.moveaxis(a, 0, axis).copy()
    shape = moved.shape
    return moved.reshape(shape[:axis] + (shape[axis] * shape[axis + 1],) + shape[axis + 2 :])


def row_stack(tup: Any) -> Any:
    return np.vstack(tup)


if hasattr(np, "row_stack"):  # of which newer versions of NumPy warn
    defines(getattr(np, "row_stack"))(row_stack)  # noqa: B009


# --- values that are chosen -------------------------------------------------------------------------------------------


@defines(np.unique)
def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
    sorted: Any = True,
) -> Any:
    """The distinct values are elements of the array: those of which each is the first."""
    array = np.asarray(ar)
    if axis is not None or not sorted:
        refuse("np.unique with axis= or sorted=False", "compute the places outside of the differentiated function")
    places, inverse, counts = distinct(array, equal_nan)
    values = array.reshape(-1)[places]
    if not (return_index or return_inverse or return_counts):
        return values
    found: Any = (values,)
    if return_index:
        found = found + (places,)
    if return_inverse:
        found = found + (inverse,)
    if return_counts:
        found = found + (counts,)
    return found


@defines(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    return np.unique(np.concatenate((np.ravel(ar1), np.ravel(ar2))))


@defines(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    values = np.ravel(ar1) if assume_unique else np.unique(ar1)
    return values[np.isin(values, ar2, assume_unique=True, invert=True)]


@defines(np.trim_zeros)
def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> Any:
    values = np.asarray(filt)
    if axis is not None or np.ndim(values) != 1 or not isinstance(filt, np.ndarray):
        refuse("np.trim_zeros of what is no vector", "slice it")
    used = np.flatnonzero(values)
    if len(used) == 0:
        return values[:0]
    start = used[0] if "f" in trim.lower() else 0
    return values[start : used[-1] + 1] if "b" in trim.lower() else values[start:]


@defines(np.asarray_chkfinite)
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    a = np.asarray(a, dtype=dtype, order=order)
    if np.issubdtype(a.dtype, np.inexact) and not np.all(np.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    return a


@defines(np.real_if_close)
def real_if_close(a: Any, tol: Any = 100) -> Any:
    a = np.asarray(a)
    if not np.iscomplexobj(a):
        return a
    limit = tol * np.finfo(a.dtype).eps if tol > 1 else tol
    if np.all(np.absolute(a.imag) < limit):
        return a.real
    return a


@defines(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return np.histogram(a, bins, range, density)
    a, weights = np.asarray(a), np.asarray(weights)
    if np.shape(a) != np.shape(weights):
        raise ValueError("weights should have the same shape as a.")
    edges = np.histogram(a, bins, range)[1]
    count = np.shape(edges)[0] - 1
    a, weights = a.reshape(-1), weights.reshape(-1)
    inside = (a >= edges[0]) & (a <= edges[-1])
    last = a[inside] == edges[-1]
    places = np.searchsorted(edges, a[inside], "right") - 1 - last
    summed = np.bincount(places, weights[inside], count).astype(weights.dtype)
    if density:
        return summed / np.diff(edges) / np.sum(summed), edges
    return summed, edges


def interpolated(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """``np.interp`` with values beside the points, or of a periodic function."""
    x, xp, fp = np.asarray(x), np.asarray(xp), np.asarray(fp)
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        if xp.ndim != 1 or fp.ndim != 1:
            raise ValueError("Data points must be 1-D sequences")
        if xp.shape[0] != fp.shape[0]:
            raise ValueError("fp and xp are not of the same length")
        period = abs(period)
        x, xp = x.astype(np.float64) % period, xp.astype(np.float64) % period
        order = np.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = np.concatenate((xp[-1:] - period, xp, xp[0:1] + period))
        fp = np.concatenate((fp[-1:], fp, fp[0:1]))
        return np.interp(x, xp, fp)
    found = np.interp(x, xp, fp)
    if left is not None:
        found = np.where(x < xp[0], left, found)
    if right is not None:  # it has the last word where the points do not increase
        found = np.where(x > xp[-1], right, found)
    return found if np.ndim(found) > 0 else found[()]


def points_and_step(start: Any, stop: Any, num: Any, endpoint: Any, dtype: Any, axis: Any) -> Any:
    """``np.linspace`` with `retstep`."""
    if axis != 0:
        refuse("np.linspace with axis= and retstep=True", "leave axis out, and use np.moveaxis")
    if dtype is None:
        points = np.linspace(start, stop, num, endpoint=endpoint)
    else:
        points = np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype)
    count = num - 1 if endpoint else num
    if count <= 0:
        return points, np.nan
    return points, (np.asarray(stop) * 1.0 - np.asarray(start) * 1.0) / count
