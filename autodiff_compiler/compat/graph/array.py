"""Functions of arrays that operations are written with, for NumPy arrays and for the core's tensors alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import runtime
from ...ir.opset import ADDAT, CAST, SET
from ...operations.choices import SELECT
from ...runtime import select
from ...tape.apply import apply
from ...tape.native import Tensor as Traced


def value_of(a: Any) -> Any:
    """The array or number itself."""
    return a._value if isinstance(a, Traced) else a


def to(a: Any, dtype: np.dtype[Any]) -> Any:
    """`a` in a dtype. Python numbers stay: they take the dtype of what they meet."""
    if isinstance(a, Traced):
        if a._value.dtype == dtype:
            return a
        if dtype.kind not in "fc":
            return np.asarray(a._value).astype(dtype)
        return apply(CAST, runtime.cast, (a, dtype), {})
    if isinstance(a, (np.ndarray, np.generic)):
        if a.dtype == dtype:
            return a
        if a.dtype.kind == "c" and dtype.kind != "c":
            a = a.real
        return a.astype(dtype)
    return a


def put(a: Any, items: tuple[Any, ...], v: Any) -> Any:
    """`a` with ``a[items]`` replaced by `v`; `a` stays as it is."""
    path = (("index", items),)
    if isinstance(a, Traced) or isinstance(v, Traced) or any(isinstance(i, Traced) for i in items):
        return apply(SET, runtime.set, (a if isinstance(a, Traced) else np.array(a), path, v), {})
    return runtime.set(a, path, v)


def add_at(a: Any, items: tuple[Any, ...], v: Any) -> Any:
    """`a` with `v` added at ``a[items]``, where repeated items add up."""
    path = (("index", items),)
    if isinstance(a, Traced) or isinstance(v, Traced):
        return apply(ADDAT, runtime.addat, (a if isinstance(a, Traced) else np.array(a), path, v), {})
    return runtime.addat(np.array(a), path, v)


def still(shape: tuple[int, ...], value: Any, a: Any) -> Any:
    """`value`, which is a step function of `a`: it depends on `a` with derivative zero, whatever the cotangent is."""
    value = np.broadcast_to(value, shape)
    if not isinstance(a, Traced):
        return value
    # The condition is a number, which stays where the arrays of a graph are let go of.
    return apply(SELECT, select, (np.True_, value, a), {})
