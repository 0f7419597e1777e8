"""Ranges and grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tape.tensor import Operand
from . import dtypes
from .dtypes import as_dtype
from .errors import invalid
from .operands import computed, same_dtypes
from .tensors import tensor
from .values import as_value


def range_(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Any:
    """Numbers from `start` up to `limit`, which is not among them. Integers give int32."""
    given = [_value(x) for x in ((0, start, delta) if limit is None else (start, limit, delta))]
    wanted = as_dtype(dtype or max({dtypes.of(v.dtype).name for v in given} & {*_RANGES}, key=_RANGES.index))
    a, b, step = (np.asarray(v).astype(wanted.np_dtype)[()] for v in given)
    if step == 0:
        raise invalid("Range", "Requires delta != 0: 0")
    if wanted.is_integer:
        return tensor(np.arange(int(a), int(b), int(step)).astype(wanted.np_dtype))
    count = max(int(np.ceil((float(b) - float(a)) / float(step))), 0)
    return tensor(a + np.arange(count, dtype=wanted.np_dtype) * step)


_RANGES = ("int32", "int64", "float16", "float32", "float64")


def _value(x: Any) -> Any:
    return x._value if isinstance(x, Operand) else as_value(x)


def meshgrid(*args: Any, indexing: Any = "xy", name: str | None = None) -> list[Any]:
    """Grids of coordinates. indexing: 'xy' or 'ij'."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    parts = same_dtypes(args, "Pack")
    return list(computed(lambda *x: tuple(np.meshgrid(*x, indexing=indexing)), *parts))
