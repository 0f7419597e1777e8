"""Operations that make tensors: zeros, ranges, grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tape.tensor import Operand
from ..graph.array import to
from . import dtypes
from .dtypes import as_dtype
from .elementwise import cast
from .errors import invalid
from .operands import array, computed, integer, integers, operand, run, same_dtypes
from .operators import Arithmetic
from .tensors import convert_to_tensor, tensor
from .values import as_value


def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """A tensor filled with one number, which may be a tensor."""
    x = operand(value)
    if x._value.ndim:
        raise invalid("Fill", f"value must be a scalar, got shape {list(x._value.shape)}")
    return run(np.broadcast_to, x, integers(dims))


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


def linspace(start: Any, stop: Any, num: Any, name: str | None = None) -> Any:
    """`num` numbers from `start` to `stop`, along a new first axis. Integers give float64."""
    like = next((x.dtype for x in (start, stop) if isinstance(x, Arithmetic)), None)
    a = convert_to_tensor(start, like)
    b = convert_to_tensor(stop, a.dtype if like is not None or a.dtype.is_floating else None)
    if a.dtype.is_integer:
        a, b = cast(a, dtypes.float64), cast(b, dtypes.float64)
    count = integer(num)
    if count < 1:
        raise ValueError(f"Requires num > 0: {count}")
    return computed(lambda first, last: to(np.linspace(first, last, count), a._value.dtype), a, b)


def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Any]:
    """Grids of coordinates. indexing: 'xy' or 'ij'."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    parts = same_dtypes(args, "Pack")
    return list(computed(lambda *x: tuple(np.meshgrid(*x, indexing=indexing)), *parts))


def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """`on_value` (1) at the index, `off_value` (0) elsewhere, along a new axis, by default the last; float32."""
    given = [v for v in (on_value, off_value) if v is not None]
    kind = as_dtype(dtype or (_value(given[0]).dtype if given else "float32"))
    on, off = (
        as_value(v._value if isinstance(v, Operand) else v, kind)
        for v in (True if on_value is None else on_value, False if off_value is None else off_value)
    )
    out = np.where(array(indices)[..., None] == np.arange(integer(depth)), on, off).astype(kind.np_dtype)
    return tensor(np.moveaxis(out, -1, -1 if axis is None else integer(axis)))
