"""The operations that only the compiler makes: shapes and dtypes of cotangents, casts and copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import runtime
from ..ir import opset
from ..ir.core import CALL, FUNC, Op, type_of
from ..ir.opset import CAST, DIM, DTYPE, FINISH, GET, PRIMS, SHAPE_OF, SPREAD, SUM_TO, mark, repeatable
from ..ir.types import same_dtype
from . import lib
from .batch_rules import batch, no_rule, of_one_operand
from .record import constant_in, nondiff, passes_on, vjp

if TYPE_CHECKING:
    from .batching import Batcher


@vjp((opset.SUM_TO, opset.FINISH), "g", linear=True)
def _sum_to(g: Any, out: Any, g_: Any, x: Any) -> Any:
    return lib.spread(g, g_)


passes_on((opset.SPREAD, opset.FULL_LIKE), "g", linear=True)


@batch(SPREAD)
def _spread_batch(self: Batcher, op: Op) -> Any:
    g, x = self.new(op.args)
    rank = self.rank(x)
    if not self.is_stack(g):
        if _is_python_number(op.args[0]):
            return self.stack(SPREAD, g, x)
        return self.emit(PRIMS[np.broadcast_to], g, self.lengths(x))
    if self.rank(g) > rank:
        raise no_rule(op)
    dtype = type_of(x).dtype
    if _is_python_number(op.args[0]) and dtype is not None and dtype.kind in "fc":
        dtype = runtime.weak_dtype(type_of(g).dtype == np.complex128, dtype)
        g = g if same_dtype(type_of(g).dtype, dtype) else self.stack(CAST, g, dtype)
    if rank == 0:
        return g
    return self.stack(PRIMS[np.broadcast_to], self.aligned(g, rank), (self.size(), *self.lengths(x)))


def _is_python_number(x: Any) -> bool:
    return type_of(x).kind in ("py", "scalar")


@vjp(opset.THROUGH, "g", linear=True)
def _through(g: Any, out: Any, given: Any, x: Any) -> Any:
    return lib.emit(opset.THROUGH, g, x)


constant_in((opset.THROUGH, opset.SUM_TO, opset.SPREAD, opset.FULL_LIKE, opset.FINISH), "x")


@batch(SUM_TO, FINISH)
def _sum_to_batch(self: Batcher, op: Op) -> Any:
    g, x = self.new(op.args)
    if type_of(op.args[1]).kind == "list":
        return self.spread(g)
    g = self.spread(g)
    have, want = self.rank(g), self.rank(x)
    dims = type_of(x).dims[self.is_stack(x) :]  # type: ignore[index]
    if have < want:
        g = self.stack(PRIMS[np.broadcast_to], self.aligned(g, want), (self.size(), *self.lengths(x)))
    else:
        extra = have - want
        if extra:
            g = self.stack(PRIMS[np.sum], g, axis=tuple(range(1, 1 + extra)))
        ones = tuple([k + 1 for k, n in enumerate(dims) if n == 1])
        if ones:
            g = self.stack(PRIMS[np.sum], g, axis=ones, keepdims=True)
        if not all(self.b.dims.not_one(n) for n in dims if n != 1):
            g = self.stack(SUM_TO, g, self.spread(x))
    dtype = type_of(x).dtype
    if dtype is None and not type_of(x).is_scalar:
        return self.stack(CAST, g, self.emit(DTYPE, x))
    if dtype is None or dtype.kind not in "fc":
        return g
    if type_of(g).dtype != dtype or type_of(g).dtype is None:
        g = self.stack(CAST, g, dtype)
    return g


passes_on(opset.CAST, "g", linear=True)
passes_on((opset.COPY, opset.SNAPSHOT, opset.AS_SCALAR), "a", linear=True)


@batch(DIM)
def _dim_batch(self: Batcher, op: Op) -> Any:
    x, axis = self.new(op.args)
    if type(axis) is not int:
        raise no_rule(op)
    return self.emit(DIM, x, axis + 1 if axis >= 0 else axis)


@batch(SHAPE_OF)
def _shape_batch(self: Batcher, op: Op) -> Any:
    return self.lengths(self.new(op.args[0]))


@batch(DTYPE)
def _dtype_batch(self: Batcher, op: Op) -> Any:
    return self.emit(DTYPE, self.new(op.args[0]))


batch(opset.CAST, opset.COPY, opset.SNAPSHOT, opset.CONSTANT, opset.ZEROS)(of_one_operand)
nondiff(opset.CONSTANT)
nondiff((opset.ZEROS, opset.DIM, opset.SHAPE_OF, opset.NDIM, opset.SIZE, opset.DTYPE, opset.LEN, opset.RANGE_LEN))
nondiff((opset.SLICE_BOUND, opset.INDEX_TABLE))
nondiff((opset.TRUTH, opset.NOT, opset.IS, opset.IS_NOT, opset.CONTAINS))

# --- what may be computed again -------------------------------------------------------------------------------------

repeatable(0.0, GET)  # `rematerialise` says which reads
repeatable(0.2, SPREAD)

# --- traits ---------------------------------------------------------------------------------------------------------

mark("same_zeros", opset.CAST)
mark("steady", opset.CAST, opset.SPREAD)
mark("chooses", opset.ZEROS)
mark("carries", opset.POP, CALL, FUNC)
