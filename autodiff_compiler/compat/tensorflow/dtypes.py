"""TensorFlow's dtypes: names for NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np


class DType:
    """The type of a tensor's elements: ``tf.float32`` and the like. There is one object for each type.

    It is equal to what names the same type: its name, or NumPy's type.
    """

    __slots__ = ("name", "np_dtype", "as_numpy_dtype", "as_datatype_enum", "label")

    def __init__(self, name: str, np_dtype: np.dtype[Any], number: int, label: str):
        self.name = name
        self.np_dtype = np_dtype  # of the array that holds the value
        self.as_numpy_dtype: Any = np.object_ if name == "string" else np_dtype.type
        self.as_datatype_enum = number
        self.label = label  # what TensorFlow's error messages call it

    @property
    def is_floating(self) -> bool:
        return self.np_dtype.kind == "f"

    @property
    def is_complex(self) -> bool:
        return self.np_dtype.kind == "c"

    @property
    def is_integer(self) -> bool:
        return self.np_dtype.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        return self.np_dtype.kind == "u"

    @property
    def is_bool(self) -> bool:
        return self.np_dtype.kind == "b"

    @property
    def base_dtype(self) -> DType:
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return 1 if self.name == "string" else self.np_dtype.itemsize

    def _limit(self, which: str) -> Any:
        if self.is_integer:
            return np.iinfo(self.np_dtype).max if which == "max" else np.iinfo(self.np_dtype).min
        if self.is_floating:
            return getattr(np.finfo(self.np_dtype), which)
        if self.is_bool:
            return which == "max"
        raise TypeError(f"Cannot find {'maximum' if which == 'max' else 'minimum'} value of {self}.")

    @property
    def min(self) -> Any:
        """The smallest number."""
        return self._limit("min")

    @property
    def max(self) -> Any:
        """The largest number."""
        return self._limit("max")

    def is_compatible_with(self, other: Any) -> bool:
        return as_dtype(other) is self

    def __eq__(self, other: Any) -> bool:
        if other is None:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"


def _make(name: str, number: int, label: str = "") -> DType:
    return DType(name, np.dtype(name), number, label or name)


float32 = _make("float32", 1, "float")
float64 = _make("float64", 2, "double")
int32 = _make("int32", 3)
uint8 = _make("uint8", 4)
int16 = _make("int16", 5)
int8 = _make("int8", 6)
string = DType("string", np.dtype("S"), 7, "string")
complex64 = _make("complex64", 8)
int64 = _make("int64", 9)
bool_ = DType("bool", np.dtype(bool), 10, "bool")
uint16 = _make("uint16", 17)
complex128 = _make("complex128", 18)
float16 = _make("float16", 19, "half")
uint32 = _make("uint32", 22)
uint64 = _make("uint64", 23)

ALL = (
    float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool_, string, complex64,
    complex128,
)  # fmt: skip
NAMES: dict[str, DType] = {d.name: d for d in ALL} | {"half": float16, "double": float64}
BY_NUMPY: dict[np.dtype[Any], DType] = {d.np_dtype: d for d in ALL}
_known: dict[Any, DType] = {
    **NAMES, **{d.as_datatype_enum: d for d in ALL}, **{d.np_dtype.type: d for d in ALL},
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
