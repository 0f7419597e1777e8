"""TensorFlow's dtypes: names for NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np


class DType:
    """The type of a tensor's elements: ``tf.float32`` and the like. There is one object for each type.

    It is equal to what names the same type: its name, or NumPy's type.
    """

    def __init__(self, name: str, label: str = ""):
        self.name = name
        self.np_dtype = np.dtype("S" if name == "string" else name)  # of the array that holds the value
        self.as_numpy_dtype: Any = np.object_ if name == "string" else self.np_dtype.type
        self.label = label or name  # what TensorFlow's error messages call it
        self.size = self.np_dtype.itemsize or 1  # bytes of an element
        kind = self.np_dtype.kind
        self.is_floating, self.is_complex, self.is_bool = kind == "f", kind == "c", kind == "b"
        self.is_integer = kind in "iu"

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def _limits(self) -> Any:
        return np.finfo(self.np_dtype) if self.is_floating else np.iinfo(self.np_dtype)

    @property
    def min(self) -> Any:
        """The smallest number."""
        return self._limits.min

    @property
    def max(self) -> Any:
        """The largest number."""
        return self._limits.max

    def __eq__(self, other: Any) -> bool:
        try:
            return other is not None and as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"


float16, float32, float64 = DType("float16", "half"), DType("float32", "float"), DType("float64", "double")
int8, int16, int32, int64 = DType("int8"), DType("int16"), DType("int32"), DType("int64")
uint8, uint16, uint32, uint64 = DType("uint8"), DType("uint16"), DType("uint32"), DType("uint64")
complex64, complex128 = DType("complex64"), DType("complex128")
bool_, string = DType("bool"), DType("string")

ALL = (
    float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool_, string, complex64,
    complex128,
)  # fmt: skip
NAMES: dict[str, DType] = {d.name: d for d in ALL} | {"half": float16, "double": float64}
BY_NUMPY: dict[np.dtype[Any], DType] = {d.np_dtype: d for d in ALL}
_known: dict[Any, DType] = {
    **NAMES, **{d.np_dtype.type: d for d in ALL},
    float: float32, bool: bool_, object: string, np.object_: string, np.str_: string, "float": float32,
}  # fmt: skip


def as_dtype(type_value: Any) -> DType:
    """The dtype that a name, a NumPy type, or a dtype stands for.

    Raises TypeError for anything else.

    >>> as_dtype("float32")
    tf.float32
    """
    if type(type_value) is DType:
        return type_value
    try:
        found = _known.get(type_value)
    except TypeError:
        found = None
    if found is None and isinstance(type_value, np.dtype):
        found = of(type_value)
    if found is None:
        raise TypeError(f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType.")
    return found


def of(dtype: np.dtype[Any]) -> DType:
    """The dtype of an array with this NumPy dtype."""
    found = BY_NUMPY.get(dtype)
    if found is None:
        found = string if dtype.kind in "SUO" else BY_NUMPY.get(dtype.newbyteorder("="))
    if found is None:
        raise TypeError(f"there is no TensorFlow dtype for NumPy's {dtype}")
    return found
