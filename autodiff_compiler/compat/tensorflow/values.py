"""Python and NumPy values as values of tensors, in the dtype that TensorFlow chooses."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...tape.tensor import Operand
from . import dtypes
from .dtypes import DType
from .errors import InvalidArgumentError

BOOL = np.dtype(bool)
_CASTS: dict[Any, str] = {float: "fc", int: "iufc", bool: "biufc", complex: "c", str: "S", bytes: "S"}


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
    """A new array or NumPy number. Its dtype is `dtype`, or `hint` where the value fits, or follows from Python's type.

    Raises ValueError, TypeError as TensorFlow does; HasTensors for a list of tensors.
    """
    if type(value) is np.ndarray:
        return _numpy(value, dtype)
    if type(value) is int and dtype is None and hint is None and -0x80000000 <= value <= 0x7FFFFFFF:
        return np.int32(value)
    wanted = dtype or hint or dtypes.float32
    if wanted.is_floating and (type(value) is float or type(value) is int and dtype is not None):
        with np.errstate(over="ignore"):
            made = wanted.np_dtype.type(value)
        if np.isinf(made) and abs(value) != float("inf"):
            raise ValueError("Can't convert Python sequence with a value out of range for a double-precision float.")
        return made
    nested = isinstance(value, (list, tuple, range))
    if not nested and type(value) not in _CASTS:
        if not hasattr(value, "__array__"):
            raise unsupported(value)
        return _numpy(value if isinstance(value, (np.ndarray, np.generic)) else np.asarray(value), dtype)
    if nested and any(type(x) is np.ndarray for x in value):
        if len({(x.dtype, x.shape) if type(x) is np.ndarray else None for x in value}) == 1:
            joined = np.array(value)
            if joined.dtype.kind in "iu" and dtype is None:
                dtype = _narrowest([joined.min(), joined.max()]) if joined.size else dtypes.int32
            return _numpy(joined, dtype)
        value = [_listed(x) for x in value]
    leaves = _leaves(value) if nested else [value]
    kinds = set(map(type, leaves))
    plain = kinds <= _CASTS.keys()
    if not plain and any(issubclass(k, Operand) for k in kinds):
        raise HasTensors
    if dtype is None:
        hinted = hint is not None and plain and all(_fits(k, hint) for k in kinds)
        dtype = hint if hinted else _common(leaves, kinds)
        assert dtype is not None
    else:
        for k in kinds:
            if k in _CASTS and not _fits(k, dtype):
                raise wrong(value, dtype, k)
    made = _array(value, dtype, plain)
    return made if nested else made[()]


def _array(value: Any, dtype: DType, plain: bool) -> Any:
    try:
        if dtype.name == "string":
            return _strings(np.array(value, object))
        with np.errstate(all="ignore"):
            return (
                np.array(value).astype(dtype.np_dtype)
                if dtype.is_integer and plain
                else np.array(value, dtype.np_dtype)
            )
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    except ValueError as error:
        if "inhomogeneous" in str(error) or "sequence" in str(error):
            raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
        raise


def unsupported(value: Any) -> ValueError:
    return ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)!r}) to a Tensor.")


def wrong(value: Any, dtype: DType, kind: type | None) -> WrongDtype:
    """The error for a Python value that does not fit."""
    found = {float: "float", int: "int32", bool: "bool", complex: "complex128"}.get(kind, "string")  # type: ignore[arg-type]
    name = "float" if dtype.name == "float32" else "double" if dtype.name == "float64" else dtype.name
    return WrongDtype(f"Cannot convert {value!r} to EagerTensor of dtype {name}", found)


def _fits(kind: Any, dtype: DType) -> bool:
    """Python values of this type may become elements of the dtype."""
    return dtype.np_dtype.kind in _CASTS[kind]


def _numpy(value: Any, dtype: DType | None) -> Any:
    if value.dtype.kind in "OUS":
        if dtype is not None and dtype.name != "string":
            raise WrongDtype(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.label}", "string")
        return _strings(value)[()]
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
    return np.array(flat, "S").reshape(np.shape(value))


def _leaves(value: Any) -> list[Any]:
    """The elements of a nested list."""
    level: Any = value
    while nested := [k for k in set(map(type, level)) if issubclass(k, (list, tuple, range))]:
        if len(nested) != len(set(map(type, level))):
            raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
        level = list(itertools.chain.from_iterable(level))
    return list(level)


def _listed(x: Any) -> Any:
    """An array as nested lists of NumPy numbers."""
    if isinstance(x, np.ndarray):
        return x[()] if x.ndim == 0 else [_listed(row) for row in x]
    return x


def _family(kind: type) -> str:
    """The family of an element's type: "b", "i", "f", "c", "s", or "" for none of them."""
    return next((family for family, members in _FAMILIES.items() if issubclass(kind, members)), "")


_FAMILIES: dict[str, tuple[type, ...]] = {
    "b": (bool, np.bool_), "i": (int, np.integer), "f": (float, np.floating), "c": (complex, np.complexfloating),
    "s": (str, bytes),
}  # fmt: skip
_MIXABLE = {"b": "b", "i": "bif", "f": "bif", "c": "bifc", "s": "s"}  # by the family of the first element


def _common(leaves: list[Any], kinds: set[Any]) -> DType:
    """The dtype of elements. The first one decides, also which others are allowed."""
    if not leaves:
        return dtypes.float32
    families, first = {_family(k) for k in kinds}, _family(type(leaves[0]))
    if families == {""}:
        raise unsupported(leaves[0])
    if not first or not families <= {*_MIXABLE[first]}:
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    if first == "i":
        return dtypes.float32 if "f" in families else _narrowest(leaves)
    if isinstance(leaves[0], (np.floating, np.complexfloating)):
        return dtypes.of(leaves[0].dtype)
    return {"b": dtypes.bool_, "f": dtypes.float32, "c": dtypes.complex128, "s": dtypes.string}[first]


def _narrowest(numbers: Any) -> DType:
    low, high = min(numbers), max(numbers)
    if low >= -0x80000000 and high <= 0x7FFFFFFF:
        return dtypes.int32
    if low >= -0x8000000000000000 and high <= 0x7FFFFFFFFFFFFFFF:
        return dtypes.int64
    raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")


def mismatch(op: str, expected: Any, found: str, at: int = 1) -> InvalidArgumentError:
    """The error for an operand of another dtype than the first."""
    label = dtypes.of(expected).label
    return InvalidArgumentError(
        None, None,
        f"cannot compute {op} as input #{at}(zero-based) was expected to be a {label} tensor but is a {found} tensor "
        f"[Op:{op}] name: ",
    )  # fmt: skip
