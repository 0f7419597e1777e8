"""Operations on each number: arithmetic, functions, comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import kernels
from ...ir.opset import PRIMS
from ...tape.operators import unary
from ...tape.tensor import Operand
from . import dtypes
from .dtypes import as_dtype
from .errors import dims, invalid
from .operands import astype, bools, cut, floating, operand, pair, run
from .tensors import convert_to_tensor, tensor


def round(x: Any, name: str | None = None) -> Any:
    """The nearest whole number of each; halves go to the even one. Its gradient is None."""
    x = operand(x)
    return run(np.positive, x) if x._value.dtype.kind in "iu" else cut(tensor(np.rint(floating(x, "Round")._value)), x)


def reciprocal(x: Any, name: str | None = None) -> Any:
    """``1 / x``."""
    return 1.0 / floating(x, "Inv") if operand(x)._value.dtype.kind in "fc" else run(np.reciprocal, operand(x))


def polygamma(a: Any, x: Any, name: str | None = None) -> Any:
    """The derivative of order `a` of `digamma`; `a` is one whole number."""
    order = np.asarray(operand(a)._value)
    if order.size != 1 or order.ravel()[0] < 0 or order.ravel()[0] % 1:
        raise NotImplementedError("polygamma of one order, which is a whole number")
    return run(kernels.polygamma, int(order.ravel()[0]), floating(x, "Polygamma"))


def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of tensors of one shape and dtype."""
    if isinstance(inputs, Operand):
        return identity(inputs)
    if not len(inputs):
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
        )
    parts = [operand(x) for x in inputs]
    total = identity(parts[0])
    for x in parts[1:]:
        if x._value.shape != total._value.shape:
            raise invalid(
                "AddN", f"Inputs to operation AddN must have the same size and shape.  Input 0: "
                f"{dims(total._value.shape)} != input 1: {dims(x._value.shape)}"
            )  # fmt: skip
        total = total + x
    return total


# --- logic ------------------------------------------------------------------------------------------------------------


def logical_not(x: Any, name: str | None = None) -> Any:
    """``not x``, of booleans."""
    return run(np.logical_not, bools(x, "LogicalNot"))


# --- dtypes and complex numbers ---------------------------------------------------------------------------------------


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """`x` in another dtype. The gradient is None where one of both is not floating or complex."""
    wanted = as_dtype(dtype)
    x = operand(x)
    source = x._value.dtype
    if source == wanted.np_dtype:
        return x if not hasattr(x, "_serial") else convert_to_tensor(x)
    if source.kind == "c" and wanted.np_dtype.kind != "c":
        x = real(x)
    if x._value.dtype.kind in "fc" and wanted.np_dtype.kind in "fc":
        return astype(x, wanted)
    return tensor(_converted(x._value, wanted.np_dtype))


def _converted(v: Any, dtype: np.dtype[Any]) -> Any:
    with np.errstate(all="ignore"):
        return v.astype(dtype)


def complex_(real: Any, imag: Any, name: str | None = None) -> Any:
    """``real + 1j * imag``."""
    a, b = pair(real, imag, "Complex")
    wide = dtypes.complex128 if a._value.dtype.itemsize == 8 else dtypes.complex64
    return astype(a, wide) + astype(b, wide) * wide.np_dtype.type(1j)


def real(input: Any, name: str | None = None) -> Any:
    """The real part."""
    x = operand(input)
    return run(np.real, x) if x._value.dtype.kind == "c" else x


def identity(input: Any, name: str | None = None) -> Any:
    """The same value, as a tensor of its own."""
    return _identity(operand(input))


_identity = unary(PRIMS[np.positive], lambda v: v)


def identity_n(input: Any, name: str | None = None) -> list[Any]:
    """The same values, as tensors of their own."""
    return [identity(x) for x in input]
