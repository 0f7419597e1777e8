"""What Python and NumPy values become in a tensor: the NumPy value, in the dtype that TensorFlow would choose."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...tape.tensor import Operand
from . import dtypes
from .dtypes import DType
from .errors import InvalidArgumentError

FLOAT32, INT32, BOOL = np.dtype(np.float32), np.dtype(np.int32), np.dtype(bool)
_CASTS = {float: "fc", int: "iufc", bool: "biufc", complex: "c", str: "S", bytes: "S"}


class HasTensors(TypeError):
    """A list holds tensors, so that it has to be packed by an operation."""


class WrongDtype(TypeError):
    """A Python value does not fit the dtype that is asked for."""

    def __init__(self, message: str, found: str):
        super().__init__(message)
        self.found = found  # what TensorFlow calls the dtype that the value has


# Programs print the names of errors.
WrongDtype.__name__ = WrongDtype.__qualname__ = "TypeError"


def as_value(value: Any, dtype: DType | None = None, hint: DType | None = None) -> Any:
    """A value of its own, an array or a NumPy number: of `dtype`, or of `hint` where that is possible, or of the dtype
    that goes with Python's type.

    Raises ValueError, TypeError as TensorFlow does; HasTensors for a list of tensors.
    """
    kind = type(value)
    if kind in _CASTS:
        return _python(value, kind, dtype, hint)
    if isinstance(value, (np.ndarray, np.generic)):
        return _numpy(value, dtype)
    if isinstance(value, (list, tuple, range)):
        return _sequence(value, dtype, hint)
    if hasattr(value, "__array__"):
        return _numpy(np.asarray(value), dtype)
    raise unsupported(value)


def unsupported(value: Any) -> ValueError:
    return ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)!r}) to a Tensor.")


def wrong(value: Any, dtype: DType, kind: type | None) -> WrongDtype:
    """The error for a Python value that does not fit."""
    found = {float: "float", int: "int32", bool: "bool", complex: "complex128"}.get(kind, "string")  # type: ignore[arg-type]
    name = "float" if dtype.name == "float32" else "double" if dtype.name == "float64" else dtype.name
    return WrongDtype(f"Cannot convert {value!r} to EagerTensor of dtype {name}", found)


def _inferred(kind: Any, value: Any) -> DType:
    if kind is float:
        return dtypes.float32
    if kind is int:
        if -0x80000000 <= value <= 0x7FFFFFFF:
            return dtypes.int32
        if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
            return dtypes.int64
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    if kind is bool:
        return dtypes.bool_
    return dtypes.complex128 if kind is complex else dtypes.string


def _python(value: Any, kind: type, dtype: DType | None, hint: DType | None) -> Any:
    if dtype is None:
        dtype = hint if hint is not None and fits(kind, hint) else _inferred(kind, value)
    elif not fits(kind, dtype):
        raise wrong(value, dtype, kind)
    if kind is str:
        return np.bytes_(value.encode())
    if kind is int and dtype.is_integer:
        return np.array(_wrapped(value)).astype(dtype.np_dtype)[()]
    with np.errstate(over="ignore"):
        out = dtype.np_dtype.type(value)
    if kind is float and dtype.is_floating and np.isinf(out) and abs(value) != float("inf"):
        raise ValueError("Can't convert Python sequence with a value out of range for a double-precision float.")
    return out


def _wrapped(value: int) -> int:
    """Into the range of int64."""
    return (value + 2**63) % 2**64 - 2**63


def fits(kind: Any, dtype: DType) -> bool:
    """Python values of this type may become elements of the dtype."""
    return dtype.np_dtype.kind in _CASTS[kind]


def _numpy(value: Any, dtype: DType | None) -> Any:
    if value.dtype.kind in "OUS":
        if dtype is not None and dtype.name != "string":
            raise WrongDtype(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.label}", "string")
        return _strings(value)
    if value.dtype not in dtypes.BY_NUMPY and value.dtype.newbyteorder("=") not in dtypes.BY_NUMPY:
        name = {"M": "NPY_DATETIME", "m": "NPY_TIMEDELTA"}.get(value.dtype.kind, str(value.dtype))
        raise ValueError(f"Failed to convert a NumPy array to a Tensor (Unsupported numpy type: {name}).")
    made = dtypes.of(value.dtype).np_dtype if dtype is None else dtype.np_dtype
    if made.kind == "S":
        raise WrongDtype(f"Cannot convert {value!r} to EagerTensor of dtype string", dtypes.of(value.dtype).label)
    if made.kind != "c" and value.dtype.kind == "c":
        value = value.real
    with np.errstate(all="ignore"):
        return np.array(value, made)[()]


def _strings(value: Any) -> Any:
    flat = [x.encode() if isinstance(x, str) else x for x in np.asarray(value).ravel().tolist()]
    for x in flat:
        if not isinstance(x, bytes):
            raise ValueError(
                f"Failed to convert a NumPy array to a Tensor (Unsupported object type {type(x).__name__})."
            )
    return np.array(flat, "S").reshape(np.shape(value))[()]


def _sequence(value: Any, dtype: DType | None, hint: DType | None) -> Any:
    if len(value) and isinstance(value[0], np.ndarray) or any(type(x) is np.ndarray for x in value):
        if len({(x.dtype, x.shape) if type(x) is np.ndarray else None for x in value}) == 1:
            joined = np.array(value)
            if joined.dtype.kind in "iu" and dtype is None:
                dtype = _widest([joined.min(), joined.max()]) if joined.size else dtypes.int32
            return _numpy(joined, dtype)
        value = [_listed(x) for x in value]
    kinds, leaf = _leaf_kinds(value)
    if any(issubclass(k, Operand) for k in kinds):
        raise HasTensors
    plain = all(k in _CASTS for k in kinds)
    if dtype is None:
        dtype = hint if hint is not None and plain and all(fits(k, hint) for k in kinds) else None
    if dtype is None:
        dtype = _common(value, kinds, leaf)
    else:
        for k in kinds:
            if k in _CASTS and not fits(k, dtype):
                raise wrong(value, dtype, k)
    try:
        if dtype.name == "string":
            return _strings(np.array(value, object))
        if dtype.is_integer and plain:
            return np.array(value, np.int64).astype(dtype.np_dtype)
        with np.errstate(all="ignore"):
            return np.array(value, dtype.np_dtype)
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    except ValueError as error:
        if "inhomogeneous" in str(error) or "sequence" in str(error):
            raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
        raise


def _leaf_kinds(value: Any) -> tuple[set[Any], Any]:
    """The types of the elements of a nested list, and one element."""
    level: Any = value
    while True:
        kinds = set(map(type, level))
        nested = [k for k in kinds if issubclass(k, (list, tuple, range))]
        if not nested:
            return kinds, next(iter(level), None)
        if len(nested) != len(kinds):
            raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
        level = list(itertools.chain.from_iterable(level))


def _listed(x: Any) -> Any:
    """An array as nested lists of NumPy numbers."""
    if isinstance(x, np.ndarray):
        return x[()] if x.ndim == 0 else [_listed(row) for row in x]
    return x


def _family(kind: type) -> str:
    """What a type of elements counts as: "b", "i", "f", "c", "s", or "" for none of them."""
    for family, members in _FAMILIES.items():
        if issubclass(kind, members):
            return family
    return ""


_FAMILIES: dict[str, tuple[type, ...]] = {
    "b": (bool, np.bool_), "i": (int, np.integer), "f": (float, np.floating), "c": (complex, np.complexfloating),
    "s": (str, bytes),
}  # fmt: skip
_MIXABLE = {"b": "b", "i": "bif", "f": "bif", "c": "bifc", "s": "s"}  # by the family of the first element


def _common(value: Any, kinds: set[Any], leaf: Any) -> DType:
    """The dtype of a list: its first element decides, and which others may stand beside it."""
    if not kinds:
        return dtypes.float32
    families = {_family(k) for k in kinds}
    if families == {""}:
        raise unsupported(leaf)
    first = _family(type(leaf))
    if not first or not all(f and f in _MIXABLE[first] for f in families):
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    if first == "i" and "f" in families:
        return dtypes.float32
    if first == "i":
        return _widest(value)
    if isinstance(leaf, (np.floating, np.complexfloating)):
        return dtypes.of(leaf.dtype)
    return _inferred({"b": bool, "f": float, "c": complex, "s": str}[first], leaf)


def _widest(value: Any) -> DType:
    while isinstance(next(iter(value)), (list, tuple, range)):
        value = list(itertools.chain.from_iterable(value))
    return max((_inferred(int, int(min(value))), _inferred(int, int(max(value)))), key=lambda d: d.size)


def mismatch(op: str, expected: Any, found: str, at: int = 1) -> InvalidArgumentError:
    """The error for an operand of another dtype than the first."""
    label = dtypes.of(expected).label
    return InvalidArgumentError(
        None, None,
        f"cannot compute {op} as input #{at}(zero-based) was expected to be a {label} tensor but is a {found} tensor "
        f"[Op:{op}] name: ",
    )  # fmt: skip
