"""The kernels of neural networks as primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from ..kernels.windows import each, paddings, windows
from .core import Builder, Prim, Value, leaves, type_of
from .infer import infer_ufunc
from .ops_common import as_array, bound, reduced, scalar_or_array, shape_dims
from .opset import PRIMS
from .types import ANY, PY_FLOAT, DimLike, Ty, array


def _enter(fn: Any, params: str, infer: Any, elementwise: bool = False) -> Prim:
    prim = PRIMS[fn] = Prim(fn.__name__, fn, infer, tuple(params.split()), elementwise=elementwise)
    return prim


def _floating(t: Ty) -> bool:
    return t.kind == "array" and t.is_float and t.is_real


def _softmax(b: Builder, x: Any, axis: Any) -> Ty:
    t = as_array(b, x)
    return t if _floating(t) and t.dims != () else ANY


def _logsumexp(b: Builder, x: Any, axis: Any, keepdims: Any) -> Ty:
    t = as_array(b, x)
    return scalar_or_array(True, t.dtype, reduced(t.dims, axis, keepdims)) if _floating(t) else ANY


# --- elementwise: the types of a ufunc that makes floating numbers of integers as well --------------------------------

_UNARY, _BINARY = infer_ufunc(np.exp), infer_ufunc(np.arctan2)


def _gaussian(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A number of Python's stays one."""
    t = type_of(args[0])
    if t.kind == "py" and t.dtype == np.float64:
        return PY_FLOAT
    return Ty("scalar", t.dtype, ()) if t.kind == "scalar" and t.is_float else _UNARY(b, args[:1], kwargs)


_enter(runtime.relu, "x", infer_ufunc(np.positive), True)
_enter(runtime.sigmoid, "x", _UNARY, True)
_enter(runtime.softplus, "x", _UNARY, True)
_enter(runtime.erf, "x", _UNARY, True)
_enter(runtime.erfc, "x", _UNARY, True)
_enter(runtime.erfinv, "x", _UNARY, True)
_enter(runtime.ndtr, "x", _UNARY, True)
_enter(runtime.gaussian, "x rate", _gaussian, True)
_enter(runtime.sinc_slope, "x", _UNARY, True)
_enter(runtime.softsign, "x", _UNARY, True)
_enter(runtime.lgamma, "x", _UNARY, True)
_enter(runtime.rsqrt, "x", _UNARY, True)
_enter(runtime.elu, "x alpha", _BINARY, True)
_enter(runtime.sigmoid_cross_entropy, "labels logits", _BINARY, True)
_enter(runtime.sigmoid_error, "labels logits", _BINARY, True)

# --- drawn at random: a draw is neither left out nor made twice, and moves the generator on ---------------------------


def _drawn(b: Builder, random: Any, shape: Any, rate: Any) -> Ty:
    return array(np.dtype(bool), shape_dims(b, shape))


_enter(runtime.draw_mask, "random shape rate", bound(_drawn)).effects = True

# --- along axes -------------------------------------------------------------------------------------------------------

_enter(runtime.softmax, "x axis", bound(_softmax))
_enter(runtime.log_softmax, "x axis", bound(_softmax))
_enter(runtime.logsumexp, "x axis keepdims", bound(_logsumexp))

# --- convolution and pooling ------------------------------------------------------------------------------------------


def _convolved(types: list[Ty]) -> np.dtype[Any] | None:
    """The dtype of a convolution of these operands, if all that is to be known of them is."""
    if any(not _floating(t) or t.dims is None or len(t.dims) < 3 for t in types):
        return None
    return np.result_type(*[t.dtype for t in types if t.dtype is not None])


def _out_dims(b: Builder, sizes: Any, kernel: Any, strides: Any, padding: Any, dilations: Any) -> list[DimLike]:
    """The numbers of windows over axes of these lengths."""
    rank = len(sizes)
    if any(True for _ in leaves((strides, padding, dilations))):
        return [b.dims.fresh() for _ in range(rank)]
    found: list[DimLike] = []
    steps, gaps = each("stride", strides, rank), each("dilation", dilations, rank)
    for n, k, s, p, d in zip(sizes, kernel, steps, paddings(padding, rank), gaps):
        n, k = b.dims.find(n), b.dims.find(k)
        if p == "SAME" and s == 1:
            found.append(n)
        elif isinstance(n, int) and (isinstance(k, int) or p == "SAME"):
            found.append(windows([n], k if isinstance(k, int) else 1, s, p if p == "SAME" else [p], d).out[0])
        elif p == "SAME":
            found.append(b.dims.named(("windows", n, s)))
        else:
            found.append(b.dims.named(("windows", n, k, s, p, d)))
    return found


def _conv(b: Builder, x: Any, filters: Any, strides: Any, padding: Any, dilations: Any, groups: Any) -> Ty:
    t, f = as_array(b, x), as_array(b, filters)
    dtype = _convolved([t, f])
    if dtype is None or t.dims is None or f.dims is None or len(t.dims) != len(f.dims):
        return ANY
    out = _out_dims(b, t.dims[1:-1], f.dims[:-2], strides, padding, dilations)
    return array(dtype, (t.dims[0], *out, f.dims[-1]))


def _conv_input(b: Builder, g: Any, filters: Any, sizes: Any, *rest: Any) -> Ty:
    t, f = as_array(b, g), as_array(b, filters)
    dtype, lengths = _convolved([t, f]), shape_dims(b, sizes)
    if dtype is None or t.dims is None or f.dims is None or lengths is None:
        return ANY
    channels = b.dims.find(f.dims[-2])
    groups = rest[-1]
    if groups != 1 or isinstance(groups, Value):
        channels = channels * groups if isinstance(groups, int) and isinstance(channels, int) else b.dims.fresh()
    return array(dtype, (t.dims[0], *lengths, channels))


def _conv_filters(b: Builder, x: Any, g: Any, kernel: Any, *rest: Any) -> Ty:
    t, f = as_array(b, x), as_array(b, g)
    dtype, lengths = _convolved([t, f]), shape_dims(b, kernel)
    if dtype is None or t.dims is None or f.dims is None or lengths is None:
        return ANY
    channels = b.dims.find(t.dims[-1])
    groups = rest[-1]
    if groups != 1 or isinstance(groups, Value):
        channels = channels // groups if isinstance(groups, int) and isinstance(channels, int) else b.dims.fresh()
    return array(dtype, (*lengths, channels, f.dims[-1]))


def _pooled(b: Builder, x: Any, kernel: Any, strides: Any, padding: Any) -> Ty:
    t = as_array(b, x)
    if not _floating(t) or t.dims is None or len(t.dims) < 3:
        return ANY
    rank = len(t.dims) - 2
    sizes = [b.dims.fresh()] * rank if any(True for _ in leaves(kernel)) else each("window", kernel, rank)
    return array(t.dtype, (t.dims[0], *_out_dims(b, t.dims[1:-1], sizes, strides, padding, 1), t.dims[-1]))


def _places(b: Builder, x: Any, kernel: Any, strides: Any, padding: Any) -> Ty:
    t = _pooled(b, x, kernel, strides, padding)
    return array(np.dtype(np.intp), t.dims) if t.kind == "array" else ANY


def _counted(b: Builder, x: Any, kernel: Any, strides: Any, padding: Any) -> Ty:
    t = _pooled(b, x, kernel, strides, padding)
    return array(t.dtype, (1, *t.dims[1:-1], 1)) if t.kind == "array" and t.dims is not None else ANY


def _spread(b: Builder, g: Any, sizes: Any, kernel: Any, strides: Any, padding: Any) -> Ty:
    t, lengths = as_array(b, g), shape_dims(b, sizes)
    if not _floating(t) or t.dims is None or lengths is None:
        return ANY
    return array(t.dtype, (t.dims[0], *lengths, t.dims[-1]))


def _unless_wrong(infer: Any) -> Any:
    """`infer`, which knows nothing of a call that will raise when it runs."""

    def run(b: Builder, *args: Any) -> Ty:
        try:
            return infer(b, *args)  # type: ignore[no-any-return]
        except ValueError:
            return ANY

    return bound(run)


_GEOMETRY = "strides padding dilations groups"
_enter(runtime.conv, f"x filters {_GEOMETRY}", _unless_wrong(_conv))
_enter(runtime.conv_input, f"g filters sizes {_GEOMETRY}", _unless_wrong(_conv_input))
_enter(runtime.conv_filters, f"x g kernel {_GEOMETRY}", _unless_wrong(_conv_filters))
_enter(runtime.pool_places, "x kernel strides padding", _unless_wrong(_places))
_enter(runtime.pool_sum, "x kernel strides padding", _unless_wrong(_pooled))
_enter(runtime.pool_count, "x kernel strides padding", _unless_wrong(_counted))
_enter(runtime.pool_spread, "g sizes kernel strides padding", _unless_wrong(_spread))
