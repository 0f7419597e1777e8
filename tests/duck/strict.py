"""A stand-in for arrays that live elsewhere, as CuPy's do on a GPU: it has NumPy's protocols, and nothing else.

It stores nothing, makes no array of NumPy's and no number, and does not mix with arrays of NumPy's that have axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class Strict(NDArrayOperatorsMixin):
    """An array that only the functions compute that NumPy hands to it."""

    def __init__(self, content: Any):
        self._content = np.array(content)

    shape = property(lambda self: self._content.shape)
    dtype = property(lambda self: self._content.dtype)
    ndim = property(lambda self: self._content.ndim)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or "out" in kwargs or "where" in kwargs:
            raise TypeError(f"np.{ufunc.__name__}: {method} with {sorted(kwargs)}")
        return _boxed(ufunc(*map(_content, inputs), **kwargs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(t, Strict) for t in types):
            raise TypeError(f"np.{function.__name__} of {types}")
        if "out" in kwargs or not hasattr(function, "_implementation"):
            raise TypeError(f"np.{function.__name__} is not for arrays that live elsewhere")
        return _boxed(function(*_content(args), **_content(kwargs)))

    def __getitem__(self, index: Any) -> Strict:
        return Strict(self._content[_content(index)])

    def __repr__(self) -> str:
        return f"Strict({self._content!r})"

    def _refused(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("this array lives elsewhere: it stores nothing, and is no array of NumPy's and no number")

    __array__ = __setitem__ = __float__ = __int__ = __bool__ = __complex__ = __index__ = __len__ = __iter__ = _refused
    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = _refused
    __hash__ = object.__hash__
    __reduce__ = __copy__ = __deepcopy__ = _refused


def bring(x: Strict) -> Any:
    """The array, brought here."""
    assert type(x) is Strict, type(x)
    return x._content


def _content(x: Any) -> Any:
    if isinstance(x, Strict):
        return x._content
    if isinstance(x, (tuple, list)):
        return type(x)(map(_content, x))
    if isinstance(x, dict):
        return {key: _content(value) for key, value in x.items()}
    if isinstance(x, np.ndarray) and x.ndim:
        raise TypeError("an array of NumPy's beside one that lives elsewhere")
    return x


def _boxed(x: Any) -> Any:
    if isinstance(x, (np.ndarray, np.generic)):
        return Strict(x)
    return type(x)(map(_boxed, x)) if isinstance(x, (tuple, list)) else x
