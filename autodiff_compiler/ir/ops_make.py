"""NumPy's functions that make arrays, as primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import Builder, type_of
from .infer import broadcast_dims, promote
from .ops_common import as_array, at_least, dtype_of, enter, shape_dims
from .opset import NDIM, PRIMS, SHAPE_OF, SIZE
from .types import ANY, Ty, array

# --- making arrays ----------------------------------------------------------------------------------------------------


def _filled(b: Builder, shape: Any, dtype: Any = None, order: Any = "C") -> Ty:
    return array(dtype_of(dtype, np.dtype(np.float64)), shape_dims(b, shape))


def _full(b: Builder, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Ty:
    fill = as_array(b, fill_value)
    return array(dtype_of(dtype, fill.dtype if fill.kind == "array" else None), shape_dims(b, shape))


def _like(b: Builder, a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None) -> Ty:
    t = as_array(b, a)
    if t.kind != "array":
        return ANY
    return array(dtype_of(dtype, t.dtype), t.dims if shape is None else shape_dims(b, shape))


def _full_like(
    b: Builder, a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None
) -> Ty:
    return _like(b, a, dtype, order, subok, shape)


def _total_like(b: Builder, a: Any, *rest: Any, **kwargs: Any) -> bool:
    return as_array(b, a).kind == "array" and not rest and not kwargs


def _array(b: Builder, object: Any, dtype: Any = None, *, copy: Any = True) -> Ty:
    t = as_array(b, object)
    if t.kind != "array":
        return ANY
    return array(dtype_of(dtype, t.dtype), t.dims)


def _copy(b: Builder, a: Any) -> Ty:
    t = as_array(b, a)
    return t if t.kind == "array" else ANY


def _astype(b: Builder, x: Any, dtype: Any, /) -> Ty:
    t = type_of(x)
    if t.kind not in ("array", "generic", "any"):
        return ANY
    return Ty(t.kind, dtype_of(dtype, None), t.dims)


def astype(x: Any, dtype: Any) -> Any:
    """``x.astype(dtype)``."""
    return x.astype(dtype)


def _arange(b: Builder, start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Ty:
    given = [a for a in (start, stop, step) if a is not None]
    types = [type_of(a) for a in given]
    if not all(t.is_scalar for t in types):
        return ANY
    kinds = {t.dtype.kind if t.dtype is not None else "?" for t in types}
    default: np.dtype[Any] | None = None
    if kinds == {"i"} and all(t.kind == "py" for t in types):
        default = np.dtype(np.int64)
    elif kinds <= {"i", "f"} and "f" in kinds and all(t.kind == "py" for t in types):
        default = np.dtype(np.float64)
    if all(isinstance(a, int) for a in given):
        return array(dtype_of(dtype, default), (len(np.arange(*given)),))
    if stop is None and step is None and types[0].kind == "py" and kinds == {"i"}:
        return array(dtype_of(dtype, default), shape_dims(b, (start,)))
    return array(dtype_of(dtype, default), (b.dims.fresh(),))


def _linspace(b: Builder, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, *, dtype: Any = None) -> Ty:
    types = [type_of(start), type_of(stop)]
    if not all(t.kind in ("py", "generic", "array", "scalar") for t in types):
        return ANY
    found = promote(np.true_divide, types)
    ends = broadcast_dims(b, [t.dims for t in types])
    length = shape_dims(b, (num,))
    if ends is None or length is None:
        return array(dtype_of(dtype, found and found[0]), None)
    return array(dtype_of(dtype, found and found[0]), (*length, *ends))


def _eye(b: Builder, N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Ty:
    return array(dtype_of(dtype, None), shape_dims(b, (N, N if M is None else M)))


def _identity(b: Builder, n: Any, dtype: Any = None) -> Ty:
    return array(dtype_of(dtype, np.dtype(np.float64)), shape_dims(b, (n, n)))


for _name in ("zeros", "ones", "empty"):
    enter(f"np.{_name}", "shape, dtype, order", _filled, unique=True)
enter("np.full", "shape, fill_value, dtype, order", _full, unique=True)
for _name in ("zeros", "ones", "empty"):
    enter(f"np.{_name}_like", "a, dtype, order, subok, shape", _like, unique=True, total=_total_like)
enter("np.full_like", "a, fill_value, dtype, order, subok, shape", _full_like, unique=True)
ARRAY = enter("np.array", "object, dtype, copy, order, subok, ndmin", _array, total="known")
enter("np.asarray", "a, dtype, order", _array, alias="maybe", total="known")
enter("np.asanyarray", "a, dtype, order", _array, alias="maybe", total="known")
enter("np.ascontiguousarray", "a, dtype", lambda b, a, dtype=None: at_least(_array(b, a, dtype), 1), alias="maybe")
enter("np.asfortranarray", "a, dtype", lambda b, a, dtype=None: at_least(_array(b, a, dtype), 1), alias="maybe")
enter("np.copy", "a, order, subok", _copy, total="known")


def _print_astype(printer: Any, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
    atom = 13  # the highest level of precedence, as codegen counts them
    return f"{printer.show(args[0], atom)}.astype({printer.show(args[1])})", atom


ASTYPE = enter("astype", "x, dtype", _astype, fn=astype)
ASTYPE.template = _print_astype
PRIMS[np.ndarray.astype] = ASTYPE
enter("np.arange", "start, stop, step, dtype", _arange)
LINSPACE = enter("np.linspace", "start, stop, num, endpoint, retstep, dtype, axis", _linspace)
EYE = enter("np.eye", "N, M, k, dtype, order", _eye)
enter("np.identity", "n, dtype", _identity)
PRIMS[np.shape], PRIMS[np.ndim], PRIMS[np.size] = SHAPE_OF, NDIM, SIZE
