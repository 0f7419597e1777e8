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

    __slots__ = ("name", "numpy", "kind", "itemsize", "is_floating_point", "is_complex", "is_signed", "rank")

    def __init__(self, name: str, numpy: Any, rank: int):
        self.name = name
        self.numpy = np.dtype(numpy)
        self.kind = self.numpy.kind
        self.itemsize = self.numpy.itemsize
        self.is_floating_point = self.kind == "f"
        self.is_complex = self.kind == "c"
        self.is_signed = self.kind in "ifc"
        self.rank = rank

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return (of_name, (self.name,))


bool_ = dtype("bool", np.bool_, 0)
uint8 = dtype("uint8", np.uint8, 1)
int8 = dtype("int8", np.int8, 1)
int16 = dtype("int16", np.int16, 2)
int32 = dtype("int32", np.int32, 3)
int64 = dtype("int64", np.int64, 4)
float16 = dtype("float16", np.float16, 5)
float32 = dtype("float32", np.float32, 6)
float64 = dtype("float64", np.float64, 7)
complex64 = dtype("complex64", np.complex64, 8)
complex128 = dtype("complex128", np.complex128, 9)

ALL = (bool_, uint8, int8, int16, int32, int64, float16, float32, float64, complex64, complex128)
_BY_NUMPY = {d.numpy: d for d in ALL}
_BY_NAME = {d.name: d for d in ALL}
# Names as which each is known in the module, and its tensor type.
ALIASES = {
    "half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
    "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
TYPE_NAMES = {
    bool_: "Bool", uint8: "Byte", int8: "Char", int16: "Short", int32: "Int", int64: "Long", float16: "Half",
    float32: "Float", float64: "Double", complex64: "ComplexFloat", complex128: "ComplexDouble",
}  # fmt: skip


def of_name(name: str) -> dtype:
    return _BY_NAME[name]


def of_numpy(numpy: Any) -> dtype:
    """The dtype for NumPy's; raises TypeError where PyTorch has none."""
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
    low, high = sorted((a, b), key=lambda d: d.rank)
    if high.is_complex:
        return complex128 if low is float64 else high
    if high.is_floating_point:
        return high
    if {low, high} == {uint8, int8}:
        return int16
    return high


def _over(high: dtype | None, low: dtype | None) -> dtype | None:
    """The dtype of operands with axes, `high`, joined with that of operands without, `low`."""
    if high is None or low is None:
        return high or low
    if high.is_complex:
        return high
    if high.is_floating_point:
        return _as_complex(high) if low.is_complex else high
    if high is bool_ or low.is_floating_point or low.is_complex:
        return promote_types(high, low)
    return high


def _as_complex(d: dtype) -> dtype:
    return complex128 if d is float64 else complex64


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


def can_cast(a: dtype, b: dtype) -> bool:
    """Whether a result of dtype `a` may be stored into a tensor of dtype `b`."""
    order = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
    return order[a.kind] <= order[b.kind]
