"""Operations that make tensors: zeros, ranges, grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tape.tensor import Operand
from . import dtypes
from .dtypes import as_dtype
from .elementwise import cast
from .errors import invalid
from .operands import array, integer, integers, operand, run, same_dtypes
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
    if limit is None:
        start, limit = 0, start
    given = [start, limit, delta]
    if dtype is not None:
        wanted = as_dtype(dtype)
    else:
        found = [dtypes.of(_value(x).dtype) for x in given]
        order = (dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64)
        wanted = max((d for d in found if d in order), key=order.index)
    a, b, step = (np.asarray(_value(x)).astype(wanted.np_dtype)[()] for x in given)
    if step == 0:
        raise invalid("Range", "Requires delta != 0: 0")
    if wanted.is_integer:
        return tensor(np.arange(int(a), int(b), int(step)).astype(wanted.np_dtype))
    count = max(int(np.ceil((float(b) - float(a)) / float(step))), 0)
    return tensor(a + np.arange(count, dtype=wanted.np_dtype) * step)


def _value(x: Any) -> Any:
    return x._value if isinstance(x, Operand) else as_value(x)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: Any = 0) -> Any:
    """`num` numbers from `start` to `stop`, along a new axis. Integers give float64."""
    a = start if isinstance(start, Arithmetic) else None
    b = stop if isinstance(stop, Arithmetic) else None
    like = a if a is not None else b
    a = convert_to_tensor(start, None if like is None else like.dtype)
    b = convert_to_tensor(stop, a.dtype if like is not None or a.dtype.is_floating else None)
    if a.dtype.is_integer:
        a, b = cast(a, dtypes.float64), cast(b, dtypes.float64)
    count = integer(num)
    if count < 1:
        raise ValueError(f"Requires num > 0: {count}")
    shape = np.broadcast_shapes(a._value.shape, b._value.shape)
    at = integer(axis) % (len(shape) + 1)
    first, last = (run(np.expand_dims, run(np.broadcast_to, x, shape), at) for x in (a, b))
    if count == 1:
        return first
    step = (last - first) / (count - 1)
    inner = np.arange(1, count - 1, dtype=a._value.dtype)
    between = first + step * inner.reshape((1,) * at + (-1,) + (1,) * (len(shape) - at))
    return run(np.concatenate, [first, between, last], axis=at)


def meshgrid(*args: Any, **kwargs: Any) -> list[Any]:
    """Grids of coordinates. indexing: 'xy' or 'ij'."""
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"{next(iter(kwargs))!r} is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    parts = same_dtypes([convert_to_tensor(x) if not isinstance(x, Arithmetic) else x for x in args], "Pack")
    parts = [run(np.reshape, x, (-1,)) for x in parts]
    sizes = [x._value.shape[0] for x in parts]
    order = list(range(len(parts)))
    if indexing == "xy" and len(parts) > 1:
        order[0], order[1] = 1, 0
    shape = tuple([sizes[k] for k in order])
    columns = [[-1 if j == order.index(k) else 1 for j in range(len(parts))] for k in range(len(parts))]
    return [run(np.broadcast_to, run(np.reshape, x, tuple(c)), shape) for x, c in zip(parts, columns)]


def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """`on_value` (1) at the index, `off_value` (0) elsewhere, along a new axis, by default the last; float32."""
    given = [v for v in (on_value, off_value) if v is not None]
    kind = as_dtype(dtype or (_value(given[0]).dtype if given else "float32"))
    on, off = (fallback if v is None else _value(v) for v, fallback in ((on_value, True), (off_value, False)))
    hit = array(indices)[..., None] == np.arange(integer(depth))
    out = np.where(hit, np.asarray(on, kind.np_dtype), np.asarray(off, kind.np_dtype))
    return tensor(np.moveaxis(out, -1, -1 if axis is None else integer(axis)))
