"""Shapes of tensors, and tensors joined: what is no row of the table of operations."""

from __future__ import annotations

import contextlib
import functools
import operator
from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ...tape.operators import unary
from ...tape.tensor import Operand
from .dtypes import as_dtype
from .elementwise import identity
from .errors import invalid
from .operands import axes, checked, integer, integers, operand, run, same_dtypes
from .shapes import TensorShape
from .tensors import tensor


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The shape as a tensor, int32 by default."""
    return tensor(np.array(operand(input)._value.shape, as_dtype(out_type or "int32").np_dtype))


def size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The number of elements as a tensor, int32 by default."""
    return tensor(as_dtype(out_type or "int32").np_dtype.type(operand(input)._value.size))


def rank(input: Any, name: str | None = None) -> Any:
    """The number of axes as a tensor, int32."""
    return tensor(np.int32(operand(input)._value.ndim))


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """`x`, if its shape is compatible with this one. Raises InvalidArgumentError if not."""
    x, wanted = operand(x), TensorShape(shape)
    if not wanted.is_compatible_with(x._value.shape):
        found = list(x._value.shape)
        raise invalid("EnsureShape", f"Shape of tensor {found} is not compatible with expected shape {wanted}.")
    return identity(x)


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


def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Tensors joined along an axis."""
    parts = same_dtypes(values if isinstance(values, (list, tuple)) else [values], "ConcatV2")
    return checked("ConcatV2", run, np.concatenate, parts, integer(axis))


def stack(values: Any, axis: Any = 0, name: str = "stack") -> Any:
    """Tensors of one shape, side by side along a new axis."""
    parts = list(values)
    if not any(isinstance(x, Operand) for x in parts):
        with contextlib.suppress(ValueError):
            parts = list(operand(parts))  # in the dtype that they have together
    return checked("Pack", run, np.stack, same_dtypes(parts, "Pack"), integer(axis))


def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of tensors of one shape and dtype."""
    parts = [operand(x) for x in ([inputs] if isinstance(inputs, Operand) else inputs)]
    if len({x._value.shape for x in parts}) != 1:
        raise invalid("AddN", f"Inputs must have one shape, not {[x._value.shape for x in parts]}")
    return functools.reduce(operator.add, parts[1:], identity(parts[0]))
