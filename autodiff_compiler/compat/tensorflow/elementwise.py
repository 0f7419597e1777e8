"""Copies of tensors, in their own or in another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ...tape.apply import apply
from ...tape.operators import unary
from .dtypes import as_dtype
from .operands import operand, run
from .tensors import convert_to_tensor, tensor


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
