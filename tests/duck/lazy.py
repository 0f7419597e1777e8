"""A stand-in for lazy arrays, as Dask's are: nothing is computed before it is asked for, and nothing is copied."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class Lazy(NDArrayOperatorsMixin):
    """A call that is still to be made, of arguments that may change until then."""

    def __init__(self, make: Any, like: Any):
        self._make = make
        self.shape, self.dtype, self.ndim = like.shape, like.dtype, like.ndim

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or "out" in kwargs:
            return NotImplemented
        return later(ufunc, *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return later(function, *args, **kwargs)

    def __getitem__(self, index: Any) -> Lazy:
        return later(lambda x: x[index], self)

    def compute(self) -> Any:
        return self._make()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("computed before it was asked for")

    __bool__ = __float__ = __int__ = __array__


def later(fn: Any, *args: Any, **kwargs: Any) -> Lazy:
    def make() -> Any:
        return fn(*_computed(args), **_computed(kwargs))

    # Its shape and dtype are those of the result for the arguments as they are now.
    return Lazy(make, np.asarray(make()))


def lazy(x: np.ndarray) -> Lazy:
    return Lazy(lambda: x, x)


def _computed(x: Any) -> Any:
    if isinstance(x, Lazy):
        return x.compute()
    if isinstance(x, (tuple, list)):
        return type(x)(map(_computed, x))
    return {k: _computed(v) for k, v in x.items()} if isinstance(x, dict) else x
