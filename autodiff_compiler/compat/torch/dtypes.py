"""PyTorch's dtypes over NumPy's, and its rules of promotion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


class dtype:
    """One of PyTorch's dtypes.

    >>> from autodiff_compiler.compat import torch
    >>> torch.float32, torch.float32.is_floating_point, torch.float32.itemsize
    (torch.float32, True, 4)
    """

    __slots__ = ("name", "numpy", "type_name", "category")

    def __init__(self, name: str, type_name: str):
        self.name = name
        self.numpy = np.dtype(name)
        self.type_name = type_name  # as in ``torch.FloatTensor``
        self.category = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}[self.numpy.kind]

    @property
    def itemsize(self) -> int:
        return self.numpy.itemsize

    @property
    def is_floating_point(self) -> bool:
        return self.category == 2

    @property
    def is_complex(self) -> bool:
        return self.category == 3

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return (of_numpy, (self.numpy,))


bool_ = dtype("bool", "Bool")
uint8, int8 = dtype("uint8", "Byte"), dtype("int8", "Char")
int16, int32, int64 = dtype("int16", "Short"), dtype("int32", "Int"), dtype("int64", "Long")
float16, float32, float64 = dtype("float16", "Half"), dtype("float32", "Float"), dtype("float64", "Double")
complex64, complex128 = dtype("complex64", "ComplexFloat"), dtype("complex128", "ComplexDouble")

ALL = (bool_, uint8, int8, int16, int32, int64, float16, float32, float64, complex64, complex128)
ALIASES = {
    "half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
    "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
_BY_NUMPY = {d.numpy: d for d in ALL}


def of_numpy(numpy: Any) -> dtype:
    """The dtype for NumPy's. Raises TypeError where PyTorch has none."""
    found = _BY_NUMPY.get(np.dtype(numpy))
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type {np.dtype(numpy)}. The only supported types are: float64, float32, "
            "float16, complex64, complex128, int64, int32, int16, int8, uint8, and bool."
        )
    return found


_default = float32


def get_default_dtype() -> dtype:
    """The dtype that Python floats give."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Make Python floats give this floating dtype from now on, in all threads."""
    global _default
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = d


def of_number(x: Any) -> dtype:
    """The dtype that a Python number gives."""
    if isinstance(x, bool):
        return bool_
    if isinstance(x, int):
        return int64
    if isinstance(x, float):
        return _default
    return complex128 if _default is float64 else complex64


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest dtype that both can be converted to.

    >>> from autodiff_compiler.compat import torch
    >>> torch.promote_types(torch.int64, torch.float32)
    torch.float32
    """
    if a is b:
        return a
    low, high = sorted((a, b), key=lambda d: d.category)
    if low.category == high.category:
        return of_numpy(np.promote_types(a.numpy, b.numpy))
    return complex128 if high.is_complex and low is float64 else high


def can_cast(a: dtype, b: dtype) -> bool:
    """Whether a result of dtype `a` may be stored into a tensor of dtype `b`."""
    return a.category <= b.category


def _over(high: dtype | None, low: dtype | None) -> dtype | None:
    """The dtype of operands with axes, `high`, joined with that of operands without, `low`."""
    if high is None or low is None:
        return high or low
    if can_cast(low, high):
        return high
    if high.is_floating_point:
        return complex128 if high is float64 else complex64
    return promote_types(high, low)


def join(kinds: Iterable[tuple[int, dtype]]) -> dtype:
    """The dtype of a result from those of the operands. Each comes with how much it counts: 2 for a tensor with axes, 1
    for a tensor without, 0 for a Python number."""
    found: list[dtype | None] = [None, None, None]
    for level, d in kinds:
        known = found[level]
        found[level] = d if known is None else promote_types(known, d)
    out = _over(found[2], _over(found[1], found[0]))
    assert out is not None
    return out
