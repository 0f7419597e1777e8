"""What the tables of NumPy's primitives share: binding of arguments, the types of array-likes, axes and dtypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .core import Builder, Value, type_of
from .opset import reshape_dims
from .types import ANY, DimLike, Ty, array, generic

DimTuple = tuple[DimLike, ...]
Dtype = np.dtype[Any] | None


def bound(infer: Callable[..., Any]) -> Callable[..., Any]:
    """Call `infer` with the arguments as the user wrote them; an unknown keyword means that nothing is known."""

    def run(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return infer(b, *args, **kwargs)
        except TypeError:
            return ANY

    return run


def bound_total(total: Callable[..., bool]) -> Callable[..., bool]:
    def run(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        try:
            return total(b, *args, **kwargs)
        except TypeError:
            return False

    return run


def is_number(dtype: np.dtype[Any] | None) -> bool:
    return dtype is not None and dtype.kind in "biufc"


def is_array(t: Ty) -> bool:
    """NumPy's functions see it as an ndarray of numbers: an array, or a scalar."""
    return t.kind in ("array", "py", "generic", "scalar")


def as_array(b: Builder, a: Any) -> Ty:
    """The type of ``np.asarray(a)``; ``ANY`` where it is not known to be an ndarray."""
    if isinstance(a, (list, tuple)):
        return _nested(b, a)
    t = type_of(a)
    if t.kind == "list":
        # An empty list gives an empty float64 vector whatever its elements were to be.
        if t.elem is None or not t.elem.is_scalar:
            return ANY
        return array(t.elem.dtype if t.elem.dtype == np.float64 else None, (b.dims.fresh(),))
    if t.kind == "shape":
        return array(np.int64, None)
    if not is_array(t):
        return ANY if t.kind != "any" else Ty("any", t.dtype, t.dims)
    return Ty("array", t.array_dtype if is_number(t.dtype) else None, t.dims)


def _nested(b: Builder, items: Sequence[Any]) -> Ty:
    if not items:
        return array(np.float64, (0,))
    found = [as_array(b, item) for item in items]
    if any(t.kind != "array" for t in found):
        return ANY
    dims = same_shape(b, [t.dims for t in found])
    return array(common_dtype(found), None if dims is None else (len(items), *dims))


def same_shape(b: Builder, shapes: Sequence[DimTuple | None]) -> DimTuple | None:
    """The one shape of operands that must have equal shapes."""
    first = shapes[0]
    if first is None or any(s is None or len(s) != len(first) for s in shapes):
        return None
    for shape in shapes[1:]:
        for x, y in zip(first, shape or ()):
            must_equal(b, x, y)
    return tuple([b.dims.find(d) for d in first])


def must_equal(b: Builder, x: DimLike, y: DimLike) -> DimLike:
    """The operation raises unless these lengths are equal."""
    if b.dims.unify(x, y):
        b.unified = True
    return b.dims.find(x)


def common_dtype(types: Sequence[Ty]) -> np.dtype[Any] | None:
    """The dtype of arrays joined into one; each operand counts with its full dtype."""
    dtypes = [t.dtype for t in types]
    if not all(is_number(d) for d in dtypes):
        return None
    return np.result_type(*[d for d in dtypes if d is not None])


def mixed_dtype(types: Sequence[Ty]) -> np.dtype[Any] | None:
    """The dtype of a product of operands, where it does not matter how NumPy ranks Python numbers."""
    dtypes = {t.array_dtype for t in types}
    if not all(is_number(d) for d in dtypes):
        return None
    if len(dtypes) > 1 and any(t.kind not in ("array", "generic") for t in types):
        return None
    return np.result_type(*[d for d in dtypes if d is not None])


def dtype_of(dtype: Any, default: np.dtype[Any] | None) -> np.dtype[Any] | None:
    """The dtype that a `dtype` argument asks for; None: not known."""
    if dtype is None:
        return default
    if isinstance(dtype, Value):
        return None
    found = np.dtype(dtype)
    return found if is_number(found) or found.kind in "OV" else None


def one_axis(axis: Any, ndim: int) -> int | None:
    """The axis counted from the front, or None if it is not a constant in range."""
    if isinstance(axis, (int, np.integer)) and not isinstance(axis, bool) and -ndim <= axis < ndim:
        return int(axis) % ndim
    return None


def axes_of(axis: Any, ndim: int) -> tuple[int, ...] | None:
    """The axes that an `axis` argument (None, an int, a tuple) names, or None if that is not known or not valid."""
    if axis is None:
        return tuple(range(ndim))
    axes = [one_axis(a, ndim) for a in (axis if isinstance(axis, tuple) else (axis,))]
    known = [a for a in axes if a is not None]
    if len(known) != len(axes) or len(set(known)) != len(known):
        return None
    return tuple(known)


def shape_dims(b: Builder, shape: Any) -> DimTuple | None:
    """The dims that a `shape` argument gives."""
    if isinstance(shape, Value) and shape.type.kind not in ("shape", "py"):
        return None
    if isinstance(shape, np.integer):
        shape = int(shape)
    if isinstance(shape, (tuple, list)) and not all(_is_length(s) for s in shape):
        return None
    return reshape_dims(b, None, shape)  # type: ignore[no-any-return]


def _is_length(item: Any) -> bool:
    if isinstance(item, Value):
        return item.type.is_scalar
    return isinstance(item, (int, np.integer))


def reduced(dims: DimTuple | None, axis: Any, keepdims: Any) -> DimTuple | None:
    """The dims after a reduction over `axis`."""
    if dims is None or not isinstance(keepdims, (bool, int, np.bool)):
        return None
    axes = axes_of(axis, len(dims))
    if axes is None:
        return None
    if keepdims:
        return tuple([1 if k in axes else d for k, d in enumerate(dims)])
    return tuple([d for k, d in enumerate(dims) if k not in axes])


def scalar_or_array(known: bool, dtype: np.dtype[Any] | None, dims: DimTuple | None) -> Ty:
    """The type of what ufuncs and reductions return, scalars in place of 0-d arrays. `known`: operands are arrays."""
    if not known:
        return Ty("any", dtype, dims)
    if dims == ():
        return generic(dtype)
    return Ty("any" if dims is None else "array", dtype, dims)


def at_least(t: Ty, ndim: int) -> Ty:
    """The type after leading axes of length 1 are added up to `ndim` axes."""
    if t.kind != "array":
        return ANY
    if t.dims is None or len(t.dims) >= ndim:
        return t
    return array(t.dtype, (*([1] * (ndim - len(t.dims))), *t.dims))
