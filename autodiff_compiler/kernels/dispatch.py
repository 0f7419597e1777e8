"""Lets kernels be called on objects other than arrays, by NumPy's protocol ``__array_function__``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

# Classes without a handler of their own.
_PLAIN = frozenset([np.ndarray, int, float, bool, str, tuple, list, type(None), np.float64, np.float32])


def dispatched(fn: F) -> F:
    """Decorator: if an argument that is no ndarray has ``__array_function__``, the kernel calls that instead."""

    @functools.wraps(fn)
    def kernel(*args: Any) -> Any:
        for arg in args:
            if type(arg) not in _PLAIN:
                handler = getattr(type(arg), "__array_function__", None)
                if handler is not None and handler is not np.ndarray.__array_function__:
                    return handler(arg, kernel, (type(arg),), args, {})
        return fn(*args)

    return kernel  # type: ignore[return-value]
