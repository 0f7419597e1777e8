"""Tensors from data, and tensors in other dtypes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...tape.nest import map_nested
from ..graph.array import to
from ..operations.shaping import counts
from . import dtypes
from .core import Base, make, run
from .tensor import check_device, method


def _array_of(data: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """A new array of nested data, with PyTorch's defaults for Python's numbers."""
    if isinstance(data, Base):
        value = data._value
    elif isinstance(data, (np.ndarray, np.generic)):
        value = np.asarray(data)
    else:
        value = _of_lists(data, dtype is None)
    if dtype is not None:
        value = np.array(to(value, dtype.numpy))
    dtypes.of_numpy(value.dtype)
    return np.array(value)


def _of_lists(data: Any, defaults: bool) -> np.ndarray[Any, Any]:
    first = data
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    try:
        value = np.array(map_nested(lambda x: x._value if isinstance(x, Base) else x, data))
    except ValueError:
        raise ValueError("expected sequences of equal lengths: a tensor has no ragged axes") from None
    if value.dtype.kind not in "biufc":
        raise TypeError(f"new(): invalid data type {type(data).__name__!r}: a tensor holds numbers")
    if not value.size:
        return value.astype(dtypes.get_default_dtype().numpy)
    return value if not defaults or isinstance(first, (np.ndarray, np.generic, Base)) else as_default(value)


def as_default(value: Any) -> Any:
    """An array of Python's numbers, in the dtype that these give."""
    number = {"f": 1.0, "c": 1j, "i": 1}.get(value.dtype.kind)
    return value if number is None else value.astype(dtypes.of_number(number).numpy)


def new(f: Any, given: tuple[Any, ...], dtype: Any, **options: Any) -> Any:
    """A new tensor of what a function of NumPy arrays and numbers gives."""
    value = np.asarray(f(*[x._value[()] if isinstance(x, Base) else x for x in given]))
    return finished(as_default(value) if dtype is None else value.astype(dtype.numpy), **options)


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """A new tensor of a number, nested lists, or an array, which is copied.

    Python floats give the default dtype (float32), ints int64; arrays keep theirs.

    >>> from autodiff_compiler.compat import torch
    >>> torch.tensor([[1, 2], [3, 4]]).dtype
    torch.int64
    """
    check_device(device)
    if isinstance(data, Base):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    return finished(_array_of(data, dtype), requires_grad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of the data, which shares the memory of an array or tensor if it has the dtype."""
    check_device(device)
    if isinstance(data, Base):
        return data if dtype is None else cast(data, dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtypes.of_numpy(data.dtype) is dtype):
        return from_numpy(data)
    return make(_array_of(data, dtype))


def from_numpy(ndarray: Any) -> Any:
    """A tensor that shares the memory of an array."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    dtypes.of_numpy(ndarray.dtype)  # raises for what is none of ours
    return make(ndarray)


def finished(value: Any, requires_grad: bool = False, device: Any = None, **absent: Any) -> Any:
    """A tensor of an array, with the options that all functions of creation have."""
    check_device(device)
    for name in absent:
        raise TypeError(f"got an unexpected keyword argument {name!r}. Instead: dtype, device, requires_grad")
    made = make(np.asarray(value))
    if requires_grad and made._value.dtype.kind not in "fc":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return made.requires_grad_() if requires_grad else made


def shape_of(args: tuple[Any, ...], options: dict[str, Any]) -> tuple[int, ...]:
    """The shape that is given as several numbers, as one sequence, or as `size`."""
    return counts((options.pop("size"),)) if "size" in options else counts(args)


def cast(t: Any, dtype: dtypes.dtype) -> Any:
    """The tensor in a dtype: itself if it has it."""
    wanted = dtype.numpy
    if t._value.dtype == wanted:
        return t
    if wanted.kind not in "fc":
        value = t._value
        return make(value != 0 if wanted.kind == "b" else value.astype(wanted))
    return run("ToCopy", lambda a: to(a, wanted), t)


def wanted_dtype(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The dtype that the arguments of `to` name, or None. Raises RuntimeError for a device other than the CPU."""
    dtype = kwargs.get("dtype")
    check_device(kwargs.get("device"))
    for a in args:
        if isinstance(a, (dtypes.dtype, Base)):
            dtype = a.dtype if isinstance(a, Base) else a
        elif not isinstance(a, bool):
            check_device(a)
    return dtype


def _to(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The tensor in another dtype, or on a device (the CPU): ``to(dtype)``, ``to(device)``, ``to(device, dtype)``,
    ``to(other)``."""
    dtype = wanted_dtype(args, kwargs)
    out = self if dtype is None else cast(self, dtype)
    return out.clone() if kwargs.get("copy") and out is self else out


method("to", _to)
method("type_as", lambda self, other: cast(self, other.dtype))
_DTYPES = {**dtypes.ALIASES, "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_}
for _name, _dtype in _DTYPES.items():
    method(_name, lambda self, _dtype=_dtype: cast(self, _dtype))


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """NumPy's dtype for one of ours, or for None, the default."""
    wanted: np.dtype[Any] = (dtypes.get_default_dtype() if dtype is None else dtype).numpy
    return wanted


FUNCTIONS = {"tensor": tensor, "as_tensor": as_tensor, "asarray": as_tensor, "from_numpy": from_numpy}
