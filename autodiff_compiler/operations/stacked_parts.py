"""How functions that move, join, pad and pick elements are applied to stacks, see `batch_rules`.

Their axes move by one. A function that takes its operand for a vector is given a stack of vectors.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from .. import runtime
from ..ir import opset
from ..ir.core import Op, type_of
from ..ir.opset import PRIMS
from .batch_rules import Rule, along, batch, no_rule, of_one_operand, stack_axes
from .batching import Batcher
from .choices import SELECT
from .making import ARRAY, ASTYPE

# --- along an axis ----------------------------------------------------------------------------------------------------

batch(np.diff, np.unwrap, runtime.softmax, runtime.log_softmax)(along(axis=-1))
batch(np.trace)(along(axis1=0, axis2=1))
batch(
    np.add.reduceat, *[u.accumulate for u in (np.maximum, np.minimum, np.fmax, np.fmin)],
    *[u.reduce for u in (np.logaddexp, np.logaddexp2, np.hypot)],
)(along(axis=0))  # fmt: skip


def along_or_flat(default: Any) -> Rule:
    """The rule of operations along one axis, or on all elements in a row where the axis is None."""

    def rule(self: Batcher, op: Op) -> Any:
        names = op.prim.params
        args = self.bound(op)
        x = args.pop(names[0])
        axis = args.pop("axis", default)
        if not self.is_stack(x) or self.has_stack(list(args.values())):
            raise no_rule(op)
        x, axis = (self.flat(x), 1) if axis is None else (x, stack_axes(axis, 0, op))
        required = [args.pop(n) for n in names[1 : names.index("axis")] if n in args]
        return self.stack(op.prim, x, *required, axis=axis, **args)

    return rule


batch(np.sort, np.argsort)(along_or_flat(-1))
batch(np.repeat, np.delete, np.take)(along_or_flat(None))


@batch(runtime.logsumexp)
def _logsumexp(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x = args.pop("x")
    return self.stack(op.prim, x, stack_axes(args.pop("axis", None), self.rank(x), op), *args.values())


@batch(np.take_along_axis)
def _take_along_axis(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, places, axis = args["arr"], args["indices"], args.get("axis", -1)
    if axis is None:
        x, places, axis = self.flat(self.spread(x)), self.spread(places), 0
    return self.stack(op.prim, self.spread(x), self.spread(places), stack_axes(axis, 0, op))


@batch(np.rot90)
def _rot90(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    return self.stack(op.prim, args["m"], args.get("k", 1), stack_axes(args.get("axes", (0, 1)), 0, op))


@batch(np.flipud, np.fliplr)
def _flipped(self: Batcher, op: Op) -> Any:
    return self.stack(PRIMS[np.flip], self.new(op.args[0]), 1 if op.prim.fn is np.flipud else 2)


@batch(np.roll)
def _roll(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, axis = args["a"], args.get("axis")
    if self.has_stack(args["shift"]):
        raise no_rule(op)
    if axis is None:
        rolled = self.stack(op.prim, self.flat(x), args["shift"], 1)
        return self.stack(PRIMS[np.reshape], rolled, (self.size(), *self.lengths(x)))
    return self.stack(op.prim, x, args["shift"], stack_axes(axis, 0, op))


@batch(np.squeeze)
def _squeeze(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, axis = args["a"], args.get("axis")
    if axis is None:
        lengths = [self.b.dims.find(d) for d in (op.args[0].type.dims or ())]
        if not all(d == 1 or self.b.dims.not_one(d) for d in lengths):
            raise no_rule(op)
        axis = tuple([k for k, d in enumerate(lengths) if d == 1])
    return self.stack(op.prim, x, stack_axes(axis, 0, op))


# --- more axes, and joining -------------------------------------------------------------------------------------------


@batch(np.atleast_1d, np.atleast_2d)
def _at_least(self: Batcher, op: Op) -> Any:
    (x,) = self.new(op.args)
    return _widened(self, x, 1 if op.prim.fn is np.atleast_1d else 2)


def _widened(self: Batcher, x: Any, rank: int) -> Any:
    """A stack of what has at least so many axes, as `np.atleast_2d` gives them."""
    return self.aligned(self.spread(x), rank)


@batch(np.hstack, np.vstack, np.column_stack)
def _stacked(self: Batcher, op: Op) -> Any:
    (items,) = self.new(op.args)
    if op.kwargs or not isinstance(items, (list, tuple)) or not items:
        raise no_rule(op)
    fn = op.prim.fn
    if fn is np.column_stack:
        wide = [self.spread(x) for x in items]
        wide = [self.index(x, Ellipsis, *[None] * (2 - self.rank(x))) if self.rank(x) < 2 else x for x in wide]
    else:
        wide = [_widened(self, x, 1 if fn is np.hstack else 2) for x in items]
    axis = 1 if fn is np.vstack or (fn is np.hstack and self.rank(wide[0]) == 1) else 2
    return self.stack(PRIMS[np.concatenate], wide, axis=axis)


@batch(np.append)
def _append(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, y = self.spread(args["arr"]), self.spread(args["values"])
    if args.get("axis") is None:
        return self.stack(PRIMS[np.concatenate], [self.flat(x), self.flat(y)], axis=1)
    return self.stack(PRIMS[np.concatenate], [x, y], axis=stack_axes(args["axis"], 0, op))


@batch(np.tile)
def _tile(self: Batcher, op: Op) -> Any:
    x, reps = self.bound(op).values()
    reps = tuple(reps) if isinstance(reps, (list, tuple)) else (reps,)
    if self.has_stack(reps) or not all(type_of(n).kind == "py" for n in reps):
        raise no_rule(op)
    x = self.aligned(x, len(reps))
    return self.stack(op.prim, x, (*[1] * (1 + self.rank(x) - len(reps)), *reps))


@batch(np.pad)
def _pad(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, width, mode = args.pop("array"), args.pop("pad_width"), args.pop("mode", "constant")
    rank = self.rank(x)
    if self.has_stack((width, list(args.values()))) or any(type_of(v).dims != () for v in args.values()):
        raise no_rule(op)
    if not isinstance(width, (list, tuple)):
        width = ((width, width),) * rank
    elif not isinstance(width[0], (list, tuple)):
        width = (((width[0], width[0]) if len(width) == 1 else tuple(width)),) * rank
    elif len(width) == 1:
        width = tuple(width) * rank
    if not all(type(n) is int or type_of(n).kind == "py" for pair in width for n in pair):
        raise no_rule(op)
    pairs = [tuple(pair) if len(pair) == 2 else tuple(pair) * 2 for pair in width]
    return self.stack(op.prim, x, ((0, 0), *pairs), mode, **args)


@batch(np.diag)
def _diag(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    if self.rank(args["v"]) != 2:
        raise no_rule(op)
    return self.stack(PRIMS[np.diagonal], args["v"], args.get("k", 0), 1, 2)


# --- made of elements -------------------------------------------------------------------------------------------------

batch(np.empty_like)(of_one_operand)
batch(np.nan_to_num, np.round, np.fix, np.i0, opset.OWN)(of_one_operand)


@batch(ASTYPE)
def _astype(self: Batcher, op: Op) -> Any:
    x, dtype = self.new(op.args)
    return self.stack(ARRAY, x, dtype)


@batch(builtins.float)
def _float(self: Batcher, op: Op) -> Any:
    (x,) = self.new(op.args)
    dtype = type_of(x).dtype
    if dtype is None or dtype.kind not in "biuf":
        raise no_rule(op)
    return x if dtype == np.float64 else self.astype(x, np.float64)


for _fn, _ufunc in {
    math.fabs: np.fabs, math.atan: np.arctan, math.tanh: np.tanh, math.asinh: np.arcsinh, math.degrees: np.degrees,
    math.radians: np.radians,
}.items():  # fmt: skip

    @batch(_fn)
    def _math(self: Batcher, op: Op, ufunc: Any = _ufunc) -> Any:
        """A function that raises for no number."""
        return self.stack(PRIMS[ufunc], self.new(op.args[0]))


@batch(np.full)
def _full(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    shape = self.shape_of_operand(op.args[0] if op.args else op.kwargs["shape"], args.pop("shape"))
    if shape is None:
        raise no_rule(op)
    fill = self.aligned(args.pop("fill_value"), len(shape))
    return self.stack(op.prim, (self.size(), *shape), fill, **args)


@batch(np.full_like)
def _full_like(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    a, fill = args.pop("a"), args.pop("fill_value")
    if args.get("shape") is not None:
        raise no_rule(op)
    return self.stack(op.prim, self.spread(a), self.aligned(fill, self.rank(a)), **args)


@batch(np.linspace)
def _linspace(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    start, stop = args.pop("start"), args.pop("stop")
    if args.keys() - {"num", "endpoint", "dtype"} or self.has_stack(list(args.values())):
        raise no_rule(op)
    start, stop = self.strong((op.args + tuple(op.kwargs.values()))[:2], [start, stop])
    rank = max(self.rank(start), self.rank(stop))
    out = self.stack(op.prim, self.aligned(start, rank), self.aligned(stop, rank), **args)
    return self.stack(PRIMS[np.swapaxes], out, 0, 1)


@batch(np.interp)
def _interp(self: Batcher, op: Op) -> Any:
    return of_one_operand(self, op)


# --- numbers ----------------------------------------------------------------------------------------------------------


_BOUNDS = (("a_min", "min"), ("a_max", "max"))


@batch(np.clip)
def _clip(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    given = {**dict(zip(op.prim.params, op.args)), **op.kwargs}
    names = [op.prim.params[0], *[next((n for n in pair if n in args), "") for pair in _BOUNDS]]
    if args.keys() - set(names):
        raise no_rule(op)
    olds = tuple([given.get(n) for n in names])
    news = self.strong(olds, [args.get(n) for n in names], op.result.type)
    rank = max(self.rank(x) for x in news if x is not None)
    return self.stack(op.prim, *[None if x is None else self.aligned(x, rank) for x in news])


@batch(builtins.max, builtins.min)
def _extreme(self: Batcher, op: Op) -> Any:
    if op.kwargs or len(op.args) != 2 or not all(type_of(x).is_scalar for x in op.args):
        raise no_rule(op)
    x, y = self.strong(op.args, list(self.new(op.args)), op.result.type)
    chosen = PRIMS[np.greater if op.prim.fn is builtins.max else np.less]
    return self.stack(PRIMS[np.where], self.stack(chosen, y, x), y, x)


@batch(SELECT)
def _select(self: Batcher, op: Op) -> Any:
    cond, x, y = self.new(op.args)
    if not self.is_stack(cond):
        return self.stack(SELECT, cond, self.spread(x), self.spread(y))
    x, y = self.strong(op.args[1:], [x, y], op.result.type)
    rank = max(self.rank(cond), self.rank(x), self.rank(y))
    if self.rank(x) != rank or self.rank(y) != rank:
        raise no_rule(op)
    return self.stack(PRIMS[np.where], self.aligned(cond, rank), x, y)


@batch(opset.TRUTH, opset.NOT)
def _truth(self: Batcher, op: Op) -> Any:
    (x,) = self.new(op.args)
    if self.rank(x) != 0:
        raise no_rule(op)
    if op.prim is opset.NOT:
        return self.stack(PRIMS[np.logical_not], x)
    return x if type_of(x).dtype == np.dtype(bool) else self.stack(PRIMS[np.not_equal], x, 0)


# --- the compiler's own -----------------------------------------------------------------------------------------------


@batch(opset.FULL_LIKE)
def _own_full_like(self: Batcher, op: Op) -> Any:
    x, g = self.new(op.args)
    return self.stack(opset.FULL_LIKE, self.spread(x), self.aligned(g, self.rank(x)))


@batch(opset.THROUGH)
def _through(self: Batcher, op: Op) -> Any:
    g, x = self.new(op.args)
    return self.stack(opset.THROUGH, self.spread(g), x)


@batch(opset.NDIM)
def _ndim(self: Batcher, op: Op) -> Any:
    return self.rank(self.new(op.args[0]))


@batch(opset.SIZE)
def _size(self: Batcher, op: Op) -> Any:
    return self.product(self.lengths(self.new(op.args[0])))


@batch(opset.AS_SCALAR)
def _as_scalar(self: Batcher, op: Op) -> Any:
    x = self.new(op.args[0])
    t = type_of(op.args[0])
    if t.dims != () or t.dtype is None or t.dtype.kind != "f":
        raise no_rule(op)
    return x


__all__: list[str] = []
