"""Duck arrays: arrays of other libraries that implement NumPy's protocols, such as those of Dask and CuPy.

A call of NumPy's public functions on them is theirs to compute, by ``__array_ufunc__`` and ``__array_function__``.
Nothing else is known of them: whether they can be written to, whether two of them share memory, or when they compute.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

import numpy as np

from .errors import is_interruption

# Libraries whose arrays are computed by functions of a module that has the names of NumPy's.
_NAMESPACES = {"dask": "dask.array", "cupy": "cupy"}


def is_duck(x: Any) -> bool:
    """It is an array of another library: its class has both protocols, and it says what its shape and dtype are.

    >>> is_duck(np.ones(3)), is_duck(1.0), is_duck([1.0])
    (False, False, False)
    """
    cls = type(x)
    if not has_protocols(cls):
        return False
    return isinstance(getattr(x, "dtype", None), np.dtype) and isinstance(getattr(x, "shape", None), tuple)


def has_protocols(cls: type) -> bool:
    """The class is none of NumPy's nor of this package's, and its arrays compute NumPy's functions by themselves."""
    known = _WITH_PROTOCOLS.get(cls)
    if known is None:
        known = _WITH_PROTOCOLS[cls] = _has_protocols(cls)
    return known


_WITH_PROTOCOLS: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


def _has_protocols(cls: type) -> bool:
    if issubclass(cls, (np.ndarray, np.generic)) or library_of(cls) == __name__.split(".")[0]:
        return False
    return all(_has(cls, name) for name in ("__array_function__", "__array_ufunc__"))


def is_other_array(x: Any) -> bool:
    """It is an array, as its class has an ``__array_namespace__``, and not one that NumPy's functions hand calls to."""
    cls = type(x)
    if has_protocols(cls) or issubclass(cls, (np.ndarray, np.generic)) or not _has(cls, "__array_namespace__"):
        return False
    return isinstance(getattr(x, "dtype", None), np.dtype) and isinstance(getattr(x, "shape", None), tuple)


def _has(cls: type, name: str) -> bool:
    return next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), None) is not None


def library_of(cls: type) -> str:
    return str(cls.__module__).split(".")[0]


def name_of(cls: type) -> str:
    """How messages call the class.

    >>> name_of(np.ndarray)
    'numpy.ndarray'
    """
    return "duck array" if cls is object else f"{cls.__module__}.{cls.__qualname__}"


class Probe:
    """Stands for a duck array in a call, to see whether NumPy hands the call to it."""

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Probe:
        return self

    def __array_function__(self, *args: Any, **kwargs: Any) -> Probe:
        return self


def is_handed_on(fn: Any, args: Any, kwargs: Any) -> bool:
    """NumPy hands a call of the function to the duck arrays among the arguments, in the place of which are probes.

    >>> is_handed_on(np.take, (Probe(), 1), {}), is_handed_on(np.take, (1, Probe()), {})
    (True, False)
    """
    owner = fn if isinstance(fn, np.ufunc) else getattr(fn, "__self__", None)
    if not isinstance(owner, np.ufunc) and not hasattr(fn, "_implementation"):
        return False
    try:
        return type(fn(*args, **kwargs)) is Probe
    except Exception as error:  # NumPy's own function was called, and could do nothing with a probe
        if is_interruption(error):
            raise
        return False


def is_missing_in(cls: type, fn: Any) -> bool:
    """The library of the class is known not to have this function of NumPy's.

    Dask would not raise: it would compute the whole array, and call NumPy.
    """
    namespace = _NAMESPACES.get(library_of(cls))
    module: Any = sys.modules.get(namespace) if namespace else None
    if module is None:
        return False
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, np.ufunc):
        return namespace == "dask.array" and fn.__name__ != "outer"
    if isinstance(fn, np.ufunc):
        return namespace != "dask.array" and not hasattr(module, fn.__name__)
    for part in str(fn.__module__).split(".")[1:]:
        module = getattr(module, part, None)
    return getattr(module, fn.__name__, fn) is fn


__all__ = [
    "Probe",
    "has_protocols",
    "is_duck",
    "is_handed_on",
    "is_missing_in",
    "is_other_array",
    "library_of",
    "name_of",
]
