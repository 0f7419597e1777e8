"""Sums, products and differences along an axis, and the kernels of their rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import runtime
from ..ir import opset
from ..ir.core import Builder, Op, type_of
from ..ir.ops_common import as_array, dtype_of, one_axis
from ..ir.types import ANY, Dim, DimLike, Ty, array, same_dtype
from ..pristine import np
from . import lib
from .batch_rules import along, batch, no_rule, stack_axes
from .lib import call
from .record import jvp, op, passes_on, vjp
from .reductions import sum_dtype

if TYPE_CHECKING:
    from .batching import Batcher

# --- scans ------------------------------------------------------------------------------------------------------------


def _scan_type(b: Builder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Ty:
    t = as_array(b, a)
    if out is not None or t.kind != "array":
        return ANY
    kind = dtype_of(dtype, sum_dtype(t.dtype))
    if axis is None:
        one = t.dims is not None and len(t.dims) == 1
        return array(kind, (b.dims.find(t.dims[0]),) if one and t.dims else (1,) if t.dims == () else (b.dims.fresh(),))
    if t.dims is None or one_axis(axis, len(t.dims)) is None:
        return Ty("any", kind, None)
    return array(kind, t.dims)


CUMSUM = op("np.cumsum", "a: array, axis, dtype, out", type=_scan_type, total="known")


@vjp(np.cumsum, "a", linear=True)
def _cumsum(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    if axis is None:
        return lib.reshape_as(np.flip(np.cumsum(np.flip(g))), a)
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


CUMPROD = op("np.cumprod", "a: array, axis, dtype, out", type=_scan_type, total="known")


@vjp(np.cumprod, "a")
def _cumprod(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    # d out[k] / d a[i] is the product before i times the product of a[i + 1 .. k]; no division, so zeros are as good
    # as others.
    if axis is None or lib.ndim(a) == 0:
        return lib.reshape_as(_cumprod(g, out, call(np.ravel, a), 0), a)
    before = call(runtime.shift, out, axis, 1)
    return call(runtime.flip_scan, g, a, axis) * before


@jvp(np.cumprod, "a")
def _cumprod_jvp(d: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    # Each product is the one before, times an element.
    if axis is None or lib.ndim(a) == 0:
        a, d, axis = call(np.ravel, a), call(np.ravel, d), 0
    return call(runtime.linear_scan, d * call(runtime.shift, out, axis, 1), a, axis)


@batch(np.cumsum, np.cumprod)
def _scan_batch(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, axis = args.pop("a"), args.get("axis")
    if args.keys() - {"axis"} or (axis is not None and type(axis) is not int):
        raise no_rule(op)
    if axis is None:
        return self.stack(op.prim, self.flat(x), axis=1)
    return self.stack(op.prim, x, axis=axis + 1 if axis >= 0 else axis)


def _recurrence_type(b: Builder, g: Any, x: Any, axis: Any) -> Ty:
    t = type_of(g)
    if t.kind != "array":
        return ANY
    return Ty("array", t.dtype if same_dtype(t.dtype, type_of(x).dtype) else None, t.dims)


# The kernels of the rules for products and scans.
op(runtime.linear_scan, "g: array, x: array, axis", type=_recurrence_type, traits=frozenset({"solves"}))


@vjp(runtime.linear_scan, "g", linear=True)
def _linear_scan_g(g: Any, out: Any, g_: Any, x: Any, axis: Any) -> Any:
    return call(runtime.flip_scan, g, x, axis)


@vjp(runtime.linear_scan, "x")
def _linear_scan_x(g: Any, out: Any, g_: Any, x: Any, axis: Any) -> Any:
    return call(runtime.flip_scan, g, x, axis) * call(runtime.shift, out, axis, 0)


op(runtime.flip_scan, "g: array, x: array, axis", type=_recurrence_type, traits=frozenset({"solves"}))


@vjp(runtime.flip_scan, "g", linear=True)
def _flip_scan_g(g: Any, out: Any, g_: Any, x: Any, axis: Any) -> Any:
    return call(runtime.linear_scan, g, x, axis)


@vjp(runtime.flip_scan, "x")
def _flip_scan_x(g: Any, out: Any, g_: Any, x: Any, axis: Any) -> Any:
    return call(runtime.shift, call(runtime.linear_scan, g, x, axis), axis, 0) * out


@batch(runtime.linear_scan, runtime.flip_scan)
def _recurrence_batch(self: Batcher, op: Op) -> Any:
    g, x, axis = self.new(op.args)
    return self.stack(op.prim, self.spread(g), self.spread(x), stack_axes(axis, 0, op))


def _shift_type(b: Builder, x: Any, *rest: Any) -> Ty:
    t = type_of(x)
    return t if t.kind == "array" else ANY


op(runtime.shift, "x: array, axis, fill, step", type=_shift_type)


@vjp(runtime.shift, "x")
def _shift(g: Any, out: Any, x: Any, axis: Any, fill: Any, step: Any = 1) -> Any:
    return call(runtime.shift, g, axis, 0, -step)


@jvp(runtime.shift, "x")
def _shift_jvp(d: Any, out: Any, x: Any, axis: Any, fill: Any, step: Any = 1) -> Any:
    return call(runtime.shift, d, axis, 0, step)


batch(runtime.shift)(along(axis=0))

# --- differences ------------------------------------------------------------------------------------------------------


def _diff_type(b: Builder, a: Any, n: Any = 1, axis: Any = -1) -> Ty:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None or not isinstance(n, int):
        return ANY
    place = one_axis(axis, len(t.dims))
    if place is None or n < 0:
        return ANY
    d = b.dims.find(t.dims[place])
    if isinstance(d, int):
        length: DimLike = max(d - n, 0)
    else:
        length = Dim(d.root, d.off + n) if d.off >= 0 else b.dims.named(("diff", d, n))
    return array(t.dtype, (*t.dims[:place], length, *t.dims[place + 1 :]))


op("np.diff", "a: array, n, axis", type=_diff_type, total="known")


@vjp(np.diff, "a", linear=True)
def _diff(g: Any, out: Any, a: Any, n: Any = 1, axis: Any = -1) -> Any:
    if not isinstance(n, int):
        raise lib.unsupported("the derivative of np.diff needs a constant for `n`")
    place = lib.axes(axis, a)[0]
    for order in reversed(range(n)):
        x = a if order == 0 else np.diff(a, n=order, axis=place)
        ahead, behind = (lib.vector_index(place, s) for s in (slice(1, None), slice(None, -1)))
        g = _minus_at(lib.scatter(g, x, ahead), behind, g)
    return g


def _minus_at(bar: Any, items: tuple[Any, ...], g: Any) -> Any:
    path = (("index", items),)
    return lib.emit(opset.ADDAT, bar, path, -g)


def _unwrap_type(b: Builder, p: Any, discont: Any = None, axis: Any = -1) -> Ty:
    t = as_array(b, p)
    return t if t.kind == "array" and t.is_float else ANY


op("np.unwrap", "p: array, discont, axis, period: array", type=_unwrap_type)


passes_on(np.unwrap, "p", symmetric=True)  # what is added is constant between the jumps
