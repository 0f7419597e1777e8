"""The kernels of neural networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import runtime
from ..ir.core import Builder, Op, Value, leaves
from ..ir.infer import infer_ufunc
from ..ir.ops_common import as_array, bound, reduced, scalar_or_array, shape_dims
from ..ir.opset import PRIMS, mark
from ..ir.types import ANY, DimLike, Ty, array
from ..kernels.windows import each, paddings, windows
from ..pristine import np
from . import lib
from .batch_rules import batch, no_rule
from .lib import STEP
from .record import elementwise, jvp, op, vjp

if TYPE_CHECKING:
    from .batching import Batcher

# --- activations ------------------------------------------------------------------------------------------------------


op(runtime.relu, "x: array", infer=infer_ufunc(np.positive), elementwise=True)
elementwise(runtime.relu, lambda out, x: np.greater(out, 0), singular=STEP)
elementwise(runtime.sigmoid, lambda out, x: out * (1 - out))
elementwise(runtime.softplus, lambda out, x: runtime.sigmoid(x))
elementwise(runtime.softsign, lambda out, x: np.square(1 / (1 + np.abs(x))))
elementwise(runtime.lgamma, lambda out, x: lib.call(runtime.polygamma, 0, x))
elementwise(runtime.rsqrt, lambda out, x: -0.5 * (out * out * out))
op(runtime.elu, "x: array, alpha", infer=infer_ufunc(np.arctan2), elementwise=True)
elementwise(
    runtime.elu,
    lambda out, x, alpha: lib.choose(np.less(x, 0), alpha * np.exp(-runtime.relu(-x)), 1.0),
    lambda out, x, alpha: np.expm1(-runtime.relu(-x)),
)


def _floating(t: Ty) -> bool:
    return t.kind == "array" and t.is_float and t.is_real


def _softmax_type(b: Builder, x: Any, axis: Any) -> Ty:
    t = as_array(b, x)
    return t if _floating(t) and t.dims != () else ANY


op(runtime.softmax, "x: array, axis", type=_softmax_type)


@vjp(runtime.softmax, "x", symmetric=True)
def _softmax(g: Any, out: Any, x: Any, axis: Any) -> Any:
    weighted = g * out
    return weighted - out * _sum(weighted, axis)


def _sum(x: Any, axis: Any) -> Any:
    return np.sum(x, axis=axis, keepdims=True)


op(runtime.log_softmax, "x: array, axis", type=_softmax_type)


@vjp(runtime.log_softmax, "x")
def _log_softmax(g: Any, out: Any, x: Any, axis: Any) -> Any:
    return g - np.exp(out) * _sum(g, axis)


@jvp(runtime.log_softmax, "x")
def _log_softmax_jvp(d: Any, out: Any, x: Any, axis: Any) -> Any:
    return d - np.sum(np.exp(out) * d, axis=axis, keepdims=True)


def _logsumexp_type(b: Builder, x: Any, axis: Any, keepdims: Any) -> Ty:
    t = as_array(b, x)
    return scalar_or_array(True, t.dtype, reduced(t.dims, axis, keepdims)) if _floating(t) else ANY


op(runtime.logsumexp, "x: array, axis, keepdims", type=_logsumexp_type)


@vjp(runtime.logsumexp, "x")
def _logsumexp(g: Any, out: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    wide = [lib.expand(v, axis, keepdims, x) for v in (g, out)]
    return wide[0] * np.exp(x - wide[1])


@jvp(runtime.logsumexp, "x")
def _logsumexp_jvp(d: Any, out: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    return np.sum(np.exp(x - lib.expand(out, axis, keepdims, x)) * d, axis=axis, keepdims=keepdims)


# --- losses -----------------------------------------------------------------------------------------------------------


elementwise(runtime.sigmoid_error, -1, lambda out, labels, logits: runtime.sigmoid(logits) * runtime.sigmoid(-logits))
elementwise(
    runtime.sigmoid_cross_entropy,
    lambda out, labels, logits: -logits,
    lambda out, labels, logits: runtime.sigmoid_error(labels, logits),
)

# --- random masks: a draw is neither dropped nor made twice, and advances the generator -------------------------------


def _drawn_type(b: Builder, random: Any, shape: Any, rate: Any) -> Ty:
    return array(np.dtype(bool), shape_dims(b, shape))


op(runtime.draw_mask, "random, shape, rate", type=_drawn_type, effects=True, nondiff=True)

# --- convolution: one form, linear in each of the array, the filters and the cotangent --------------------------------


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


def _conv_type(b: Builder, x: Any, filters: Any, strides: Any, padding: Any, dilations: Any, groups: Any) -> Ty:
    t, f = as_array(b, x), as_array(b, filters)
    dtype = _convolved([t, f])
    if dtype is None or t.dims is None or f.dims is None or len(t.dims) != len(f.dims):
        return ANY
    out = _out_dims(b, t.dims[1:-1], f.dims[:-2], strides, padding, dilations)
    return array(dtype, (t.dims[0], *out, f.dims[-1]))


def _unless_wrong(infer: Any) -> Any:
    """`infer`, which knows nothing of a call that will raise when it runs."""

    def run(b: Builder, *args: Any) -> Ty:
        try:
            return infer(b, *args)  # type: ignore[no-any-return]
        except ValueError:
            return ANY

    return bound(run)


op(runtime.conv, "x: array, filters: array, strides, padding, dilations, groups", infer=_unless_wrong(_conv_type))


def _sizes(x: Any) -> tuple[Any, ...]:
    return tuple([lib.length(x, k) for k in range(1, lib.ndim(x) - 1)])


def _kernel(filters: Any) -> tuple[Any, ...]:
    return tuple([lib.length(filters, k) for k in range(lib.ndim(filters) - 2)])


def _input_like(x: Any, g: Any, filters: Any, at: Any) -> Any:
    """The cotangent of the array."""
    return lib.at_shape(runtime.conv_input(g, filters, _sizes(x), *at), x)


def _filters_like(filters: Any, x: Any, g: Any, at: Any) -> Any:
    """The cotangent of the filters."""
    return lib.at_shape(runtime.conv_filters(x, g, _kernel(filters), *at), filters)


def _result_like(g: Any, x: Any, filters: Any, at: Any) -> Any:
    """The cotangent of what has the shape of a result."""
    return lib.at_shape(runtime.conv(x, filters, *at), g)


vjp(runtime.conv, "x", linear=True)(lambda g, out, x, filters, *at: _input_like(x, g, filters, at))
vjp(runtime.conv, "filters", linear=True)(lambda g, out, x, filters, *at: _filters_like(filters, x, g, at))


def _conv_input_type(b: Builder, g: Any, filters: Any, sizes: Any, *rest: Any) -> Ty:
    t, f = as_array(b, g), as_array(b, filters)
    dtype, lengths = _convolved([t, f]), shape_dims(b, sizes)
    if dtype is None or t.dims is None or f.dims is None or lengths is None:
        return ANY
    channels = b.dims.find(f.dims[-2])
    groups = rest[-1]
    if groups != 1 or isinstance(groups, Value):
        channels = channels * groups if isinstance(groups, int) and isinstance(channels, int) else b.dims.fresh()
    return array(dtype, (t.dims[0], *lengths, channels))


op(
    runtime.conv_input,
    "g: array, filters: array, sizes, strides, padding, dilations, groups",
    infer=_unless_wrong(_conv_input_type),
)


vjp(runtime.conv_input, "g", linear=True)(lambda h, out, g, filters, sizes, *at: _result_like(g, h, filters, at))
vjp(runtime.conv_input, "filters", linear=True)(lambda h, out, g, filters, sizes, *at: _filters_like(filters, h, g, at))


def _conv_filters_type(b: Builder, x: Any, g: Any, kernel: Any, *rest: Any) -> Ty:
    t, f = as_array(b, x), as_array(b, g)
    dtype, lengths = _convolved([t, f]), shape_dims(b, kernel)
    if dtype is None or t.dims is None or f.dims is None or lengths is None:
        return ANY
    channels = b.dims.find(t.dims[-1])
    groups = rest[-1]
    if groups != 1 or isinstance(groups, Value):
        channels = channels // groups if isinstance(groups, int) and isinstance(channels, int) else b.dims.fresh()
    return array(dtype, (*lengths, channels, f.dims[-1]))


op(
    runtime.conv_filters,
    "x: array, g: array, kernel, strides, padding, dilations, groups",
    infer=_unless_wrong(_conv_filters_type),
)


vjp(runtime.conv_filters, "x", linear=True)(lambda h, out, x, g, kernel, *at: _input_like(x, g, h, at))
vjp(runtime.conv_filters, "g", linear=True)(lambda h, out, x, g, kernel, *at: _result_like(g, x, h, at))


# --- pooling ----------------------------------------------------------------------------------------------------------


def _pooled_type(b: Builder, x: Any, kernel: Any, strides: Any, padding: Any) -> Ty:
    t = as_array(b, x)
    if not _floating(t) or t.dims is None or len(t.dims) < 3:
        return ANY
    rank = len(t.dims) - 2
    sizes = [b.dims.fresh()] * rank if any(True for _ in leaves(kernel)) else each("window", kernel, rank)
    return array(t.dtype, (t.dims[0], *_out_dims(b, t.dims[1:-1], sizes, strides, padding, 1), t.dims[-1]))


def _places_type(b: Builder, x: Any, kernel: Any, strides: Any, padding: Any) -> Ty:
    t = _pooled_type(b, x, kernel, strides, padding)
    return array(np.dtype(np.intp), t.dims) if t.kind == "array" else ANY


op(runtime.pool_places, "x: array, kernel, strides, padding", infer=_unless_wrong(_places_type), nondiff=True)


def _counted_type(b: Builder, x: Any, kernel: Any, strides: Any, padding: Any) -> Ty:
    t = _pooled_type(b, x, kernel, strides, padding)
    return array(t.dtype, (1, *t.dims[1:-1], 1)) if t.kind == "array" and t.dims is not None else ANY


op(runtime.pool_count, "x: array, kernel, strides, padding", infer=_unless_wrong(_counted_type), nondiff=True)
op(runtime.pool_sum, "x: array, kernel, strides, padding", infer=_unless_wrong(_pooled_type))


@vjp(runtime.pool_sum, "x", linear=True)
def _pool_sum(g: Any, out: Any, x: Any, *at: Any) -> Any:
    return lib.at_shape(runtime.pool_spread(g, _sizes(x), *at), x)


def _spread_type(b: Builder, g: Any, sizes: Any, kernel: Any, strides: Any, padding: Any) -> Ty:
    t, lengths = as_array(b, g), shape_dims(b, sizes)
    if not _floating(t) or t.dims is None or lengths is None:
        return ANY
    return array(t.dtype, (t.dims[0], *lengths, t.dims[-1]))


op(runtime.pool_spread, "g: array, sizes, kernel, strides, padding", infer=_unless_wrong(_spread_type))


@vjp(runtime.pool_spread, "g", linear=True)
def _pool_spread(h: Any, out: Any, g: Any, sizes: Any, *at: Any) -> Any:
    return lib.at_shape(runtime.pool_sum(h, *at), g)


@batch(runtime.sigmoid_cross_entropy)
def _of_one_shape_batch(self: Batcher, op: Op) -> Any:
    return self.stack(op.prim, *[self.spread(x) for x in self.strong(op.args, list(self.new(op.args)))])


@batch(runtime.pool_sum, runtime.pool_spread)
def _images_batch(self: Batcher, op: Op) -> Any:
    """What works on each image of a batch works on the batches of all elements of the stack."""
    x, *rest = self.new(op.args)
    if not self.is_stack(x) or self.has_stack(rest) or op.kwargs:
        raise no_rule(op)
    count = self.length(x, 0)
    out = self.emit(op.prim, self.emit(PRIMS[np.reshape], x, (-1, *self.lengths(x)[1:])), *rest)
    return self.stack(PRIMS[np.reshape], out, (self.size(), count, *self.lengths(out)[1:]))


# --- traits ---------------------------------------------------------------------------------------------------------

mark("exponential", runtime.sigmoid)
mark("logarithm", runtime.softplus, runtime.logsumexp, runtime.log_softmax)
