"""Functions of `bottleneck`, which are NumPy's that skip nan, and the same over moving windows.

What has no axis left is a number of Python's. Arrays of other dtypes than these go to NumPy's functions.
"""

from __future__ import annotations

from typing import Any

import bottleneck as bn
import numpy as np

from ...definitions import defines, refuse

_FAST = (np.float64, np.float32, np.int64, np.int32)


def _as_given(a: Any, found: Any) -> Any:
    """The result as `bottleneck` hands it out."""
    if np.ndim(found) or a.dtype not in _FAST:
        return found
    if np.issubdtype(found.dtype, np.inexact):
        return float(found)
    return bool(found) if found.dtype == np.bool_ else int(found)


def _reduction(function: Any) -> Any:
    def reduce(a: Any, axis: Any = None) -> Any:
        a = np.asarray(a)
        return _as_given(a, function(a, axis=axis))

    return reduce


def _spread(function: Any) -> Any:
    def reduce(a: Any, axis: Any = None, ddof: Any = 0) -> Any:
        a = np.asarray(a)
        return _as_given(a, function(a, axis=axis, ddof=ddof))

    return reduce


def _squares(a: Any, axis: Any = None) -> Any:
    return np.sum(a * a, axis=axis)


def _any_nan(a: Any, axis: Any = None) -> Any:
    return np.any(np.isnan(a), axis=axis)


def _all_nan(a: Any, axis: Any = None) -> Any:
    return np.all(np.isnan(a), axis=axis)


for _name in ("nansum", "nanmean", "nanmin", "nanmax", "median", "nanmedian", "nanargmin", "nanargmax"):
    defines(getattr(bn, _name))(_reduction(getattr(np, _name)))
for _name in ("nanstd", "nanvar"):
    defines(getattr(bn, _name))(_spread(getattr(np, _name)))
for _found, _function in ((bn.ss, _squares), (bn.anynan, _any_nan), (bn.allnan, _all_nan)):
    defines(_found)(_reduction(_function))


# --- moving windows ---------------------------------------------------------------------------------------------------


def _windows(a: Any, window: Any, min_count: Any, axis: Any) -> Any:
    """The windows as the last axis, which begin with nan where the array does, and how many numbers are wanted."""
    a = np.asarray(a)
    if a.dtype not in _FAST:
        refuse("a moving window over an array of this dtype", "convert the array to float")
    if not 1 <= window <= a.shape[axis]:
        raise ValueError(f"Moving window (={window}) must between 1 and {a.shape[axis]}, inclusive")
    if min_count is not None and min_count > window:
        raise ValueError(f"min_count ({min_count}) cannot be greater than window ({window})")
    if min_count is not None and min_count <= 0:
        raise ValueError("`min_count` must be greater than zero.")
    s = np.moveaxis(a if np.issubdtype(a.dtype, np.inexact) else a * 1.0, axis, -1)
    before = np.full(s.shape[:-1] + (window - 1,), np.nan, s.dtype)
    found = np.lib.stride_tricks.sliding_window_view(np.concatenate((before, s), axis=-1), window, axis=-1)
    return found, window if min_count is None else min_count


def _filled(found: Any, values: Any, wanted: Any, axis: Any) -> Any:
    """The values of the windows that hold as many numbers as wanted, and nan for the others."""
    enough = np.sum(~np.isnan(found), axis=-1) >= wanted
    return np.moveaxis(np.where(enough, values, np.nan), -1, axis)


def _moving(function: Any) -> Any:
    def move(a: Any, window: Any, min_count: Any = None, axis: Any = -1) -> Any:
        found, wanted = _windows(a, window, min_count, axis)
        return _filled(found, function(found, axis=-1), wanted, axis)

    return move


def _moving_spread(function: Any) -> Any:
    def move(a: Any, window: Any, min_count: Any = None, axis: Any = -1, ddof: Any = 0) -> Any:
        found, wanted = _windows(a, window, min_count, axis)
        return _filled(found, function(found, axis=-1, ddof=ddof), wanted, axis)

    return move


for _name in ("sum", "mean", "min", "max", "median"):
    defines(getattr(bn, f"move_{_name}"))(_moving(getattr(np, f"nan{_name}")))
for _name in ("std", "var"):
    defines(getattr(bn, f"move_{_name}"))(_moving_spread(getattr(np, f"nan{_name}")))


@defines(bn.push)
def push(a: Any, n: Any = None, axis: Any = -1) -> Any:
    a = np.asarray(a)
    if a.dtype not in (np.float64, np.float32):
        return a.copy()
    s = np.moveaxis(a, axis, -1)
    places = np.arange(s.shape[-1])
    last = np.maximum.accumulate(np.where(np.isnan(s), 0, places), axis=-1)
    filled = np.take_along_axis(s, last, axis=-1)
    if n is not None:
        filled = np.where(places - last <= n, filled, np.nan)
    return np.moveaxis(filled, -1, axis)
