"""Kernels called with other things than arrays: NumPy's protocol for its own functions, here for ours."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

# What has no say in how a kernel is computed.
_PLAIN = frozenset([np.ndarray, int, float, bool, str, tuple, list, type(None), np.float64, np.float32])


def dispatched(fn: F) -> F:
    """The kernel, which hands itself to the ``__array_function__`` of an argument that is no ndarray and has one."""

    @functools.wraps(fn)
    def kernel(*args: Any) -> Any:
        for arg in args:
            if type(arg) not in _PLAIN:
                handler = getattr(type(arg), "__array_function__", None)
                if handler is not None and handler is not np.ndarray.__array_function__:
                    return handler(arg, kernel, (type(arg),), args, {})
        return fn(*args)

    return kernel  # type: ignore[return-value]
