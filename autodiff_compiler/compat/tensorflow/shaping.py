"""Tensors in another shape or dtype: what is no row of the table of operations."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ...tape.apply import apply
from ...tape.operators import unary
from .dtypes import as_dtype
from .errors import invalid
from .operands import axes, checked, integers, operand, run
from .tensors import convert_to_tensor, tensor


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in another shape; one length may be -1."""
    x, wanted = operand(tensor), integers(shape)
    try:
        return _reshape_to(wanted)(x)
    except ValueError:
        known = int(np.prod([n for n in wanted if n >= 0]))
        asked = f"requires a multiple of {known}" if -1 in wanted else f"has {known}"
        given = f"Input to reshape is a tensor with {x._value.size} values"
        raise invalid("Reshape", f"{given}, but the requested shape {asked}") from None


@functools.lru_cache(4096)
def _reshape_to(shape: tuple[int, ...]) -> Any:
    return unary(PRIMS[np.reshape], lambda v: v.reshape(shape)[()], arguments=(shape,))


@functools.lru_cache(4096)
def _transpose_by(order: tuple[int, ...] | None) -> Any:
    return unary(PRIMS[np.transpose], lambda v: v.transpose(order), arguments=() if order is None else (order,))


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Any:
    """The axes in another order, by default the reverse one."""
    x = operand(a)
    if conjugate and x._value.dtype.kind == "c":
        x = run(np.conjugate, x)
    return checked("Transpose", _transpose_by(axes(perm)), x)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """`x` in another dtype. The gradient is None where one of both is not floating or complex."""
    wanted = as_dtype(dtype)
    x = operand(x)
    source = x._value.dtype
    if source == wanted.np_dtype:
        return convert_to_tensor(x)
    if source.kind == "c" and wanted.np_dtype.kind != "c":
        return cast(run(np.real, x), wanted)
    if source.kind in "fc" and wanted.np_dtype.kind in "fc":
        return apply(PRIMS[np.ndarray.astype], _astype, (x, wanted.np_dtype.type), {})
    with np.errstate(all="ignore"):
        return tensor(x._value.astype(wanted.np_dtype))


def _astype(v: Any, dtype: Any) -> Any:
    return v.astype(dtype)


def identity(input: Any, name: str | None = None) -> Any:
    """The same value, as a tensor of its own."""
    return _identity(operand(input))


_identity = unary(PRIMS[np.positive], lambda v: v)
