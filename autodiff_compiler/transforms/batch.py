"""Batching: a straight-line function for a stack of values at once, instead of once for each of them.

`batch` gives a function some of whose parameters have one more axis in front, as have all results. A value that depends
on one of these is stacked too: its first axis counts the calls that the function stands for. Each primitive has a rule
that says how it is applied to stacked operands; what follows an axis is counted from there is moved by one. Where there
is no rule, `NotBatchedError` is raised, and the caller has to call the function once for each value.

Reference: Bradbury et al., JAX (2018), whose vmap has rules of this kind.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import kernels
from ..ir import opset
from ..ir.core import Function, Op, Value, type_of
from ..ir.opset import (
    ACCUM,
    ADD,
    ADDAT,
    CAST,
    COPY,
    DIM,
    DTYPE,
    FINISH,
    GET,
    MUL,
    PRIMS,
    SET,
    SHAPE_OF,
    SPREAD,
    SUM_TO,
    ZEROS,
)  # fmt: skip
from .batcher import BROADCAST, Batcher, NotBatchedError, no_rule, rule, stack_axes

MATMUL = PRIMS[np.matmul]
RESHAPE = PRIMS[np.reshape]
SUM = PRIMS[np.sum]
TRANSPOSE = PRIMS[np.transpose]


def batch(fn: Function, stacked: set[int]) -> Function:
    """`fn` for a stack of values of the parameters with these numbers; all results are stacks.

    Raises NotBatchedError where an operation has no rule.
    """
    return Batcher(fn, stacked).function


# --- elementwise ------------------------------------------------------------------------------------------------------


@rule(CAST, COPY, ZEROS, np.zeros_like, np.ones_like, np.real, np.imag)
def _same(self: Batcher, op: Op) -> Any:
    if self.has_stack(self.new(op.args[1:])):
        raise no_rule(op)
    if op.prim is ZEROS and op.args[0].type.is_scalar:
        return self.stack(PRIMS[np.zeros_like], self.new(op.args[0]))
    return self.stack(op.prim, *self.new(op.args), **self.new(op.kwargs))


@rule(ACCUM)
def _accum(self: Batcher, op: Op) -> Any:
    a, v = self.new(op.args)
    rank = self.rank(a)
    if self.rank(v) > rank:
        raise no_rule(op)
    v = self.aligned(v, rank)
    if self.is_stack(a):
        return self.stack(ACCUM, a, v)
    kept, dtype = op.result.type.dtype, type_of(v).dtype
    if kept is None or dtype is None or np.result_type(kept, dtype) != kept:
        raise no_rule(op)
    return self.stack(ADD, a, v)


# --- shapes of cotangents ---------------------------------------------------------------------------------------------


@rule(SUM_TO, FINISH)
def _sum_to(self: Batcher, op: Op) -> Any:
    g, x = self.new(op.args)
    if not self.is_stack(g):
        raise no_rule(op)
    have, want = self.rank(g), self.rank(x)
    dims = type_of(x).dims[self.is_stack(x) :]  # type: ignore[index]
    if have < want:
        g = self.stack(BROADCAST, self.aligned(g, want), (self.size(), *self.lengths(x)))
    else:
        extra = have - want
        if extra:
            g = self.stack(SUM, g, axis=tuple(range(1, 1 + extra)))
        ones = tuple([k + 1 for k, n in enumerate(dims) if n == 1])
        if ones:
            g = self.stack(SUM, g, axis=ones, keepdims=True)
        if not all(self.b.dims.not_one(n) for n in dims if n != 1):
            g = self.stack(SUM_TO, g, self.spread(x))
    dtype = type_of(x).dtype
    if dtype is None or dtype.kind not in "fc":
        if type_of(x).kind == "py":
            return g
        raise no_rule(op)
    if type_of(g).dtype != dtype or type_of(g).dtype is None:
        g = self.stack(CAST, g, dtype)
    return g


@rule(SPREAD)
def _spread(self: Batcher, op: Op) -> Any:
    g, x = self.new(op.args)
    if type_of(g).kind == "py":
        raise no_rule(op)
    rank = self.rank(x)
    if not self.is_stack(g):
        return self.emit(BROADCAST, g, self.lengths(x))
    if self.rank(g) > rank:
        raise no_rule(op)
    return self.stack(BROADCAST, self.aligned(g, rank), (self.size(), *self.lengths(x)))


@rule(DIM)
def _dim(self: Batcher, op: Op) -> Any:
    x, axis = self.new(op.args)
    if type(axis) is not int:
        raise no_rule(op)
    return self.emit(DIM, x, axis + 1 if axis >= 0 else axis)


@rule(SHAPE_OF)
def _shape(self: Batcher, op: Op) -> Any:
    return self.lengths(self.new(op.args[0]))


@rule(DTYPE)
def _dtype(self: Batcher, op: Op) -> Any:
    return self.emit(DTYPE, self.new(op.args[0]))


# --- shapes -----------------------------------------------------------------------------------------------------------


@rule(np.reshape)
def _reshape(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    if args.keys() - {"a", "shape"} and args.get("order") not in (None, "C"):
        raise no_rule(op)
    old = op.args[1] if len(op.args) > 1 else op.kwargs["shape"]
    shape = args["shape"]
    if type(old) is Value and old in self.shapes:
        shape = self.lengths(self.env[self.shapes[old]])
    if type(shape) is int or (type(shape) is Value and shape.type.kind == "py"):
        shape = (shape,)
    if not isinstance(shape, (tuple, list)) or self.has_stack(shape):
        raise no_rule(op)
    return self.stack(RESHAPE, args["a"], (self.size(), *shape))


@rule(np.ravel)
def _ravel(self: Batcher, op: Op) -> Any:
    if len(op.args) > 1 or op.kwargs:
        raise no_rule(op)
    return self.stack(RESHAPE, self.new(op.args[0]), (self.size(), -1))


@rule(np.transpose)
def _transpose(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x = args["a"]
    axes, rank = args.get("axes"), self.rank(x)
    if axes is None:
        axes = tuple(range(rank))[::-1]
    if not all(type(k) is int for k in axes):
        raise no_rule(op)
    return self.stack(TRANSPOSE, x, (0, *[k % rank + 1 for k in axes]))


@rule(np.swapaxes, np.moveaxis)
def _swap(self: Batcher, op: Op) -> Any:
    x, first, second = self.new(op.args)
    rank = self.rank(x)
    return self.stack(op.prim, x, stack_axes(first, rank, op), stack_axes(second, rank, op))


@rule(np.broadcast_to)
def _broadcast(self: Batcher, op: Op) -> Any:
    x, shape = self.new(op.args)
    old = op.args[1]
    if type(old) is Value and old in self.shapes:
        shape = self.lengths(self.env[self.shapes[old]])
    if type(shape) is int or (type(shape) is Value and shape.type.kind == "py"):
        shape = (shape,)
    if op.kwargs or not isinstance(shape, (tuple, list)) or self.has_stack(shape):
        raise no_rule(op)
    return self.stack(BROADCAST, self.aligned(x, len(shape)), (self.size(), *shape))


@rule(np.diagonal)
def _diagonal(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    first, second = (stack_axes(args.get(name, k), 0, op) for k, name in enumerate(("axis1", "axis2")))
    return self.stack(op.prim, args["a"], offset=args.get("offset", 0), axis1=first, axis2=second)


@rule(np.roll)
def _roll(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    if args.get("axis") is None or self.has_stack(args["shift"]):
        raise no_rule(op)
    return self.stack(op.prim, args["a"], args["shift"], stack_axes(args["axis"], 0, op))


@rule(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft)
def _fourier(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, axis = args.pop("a"), args.pop("axis", -1)
    return self.stack(op.prim, x, axis=stack_axes(axis, 0, op), **args)


@rule(kernels.embed, kernels.shift)
def _along(self: Batcher, op: Op) -> Any:
    x, axis, *rest = self.new(op.args)
    if self.has_stack(rest):
        raise no_rule(op)
    return self.stack(op.prim, x, stack_axes(axis, 0, op), *rest, **self.new(op.kwargs))


@rule(kernels.linear_scan, kernels.flip_scan)
def _recurrence(self: Batcher, op: Op) -> Any:
    g, x, axis = self.new(op.args)
    return self.stack(op.prim, self.spread(g), self.spread(x), stack_axes(axis, 0, op))


@rule(np.expand_dims)
def _expand(self: Batcher, op: Op) -> Any:
    x, axis = self.new(op.args)
    return self.stack(op.prim, x, stack_axes(axis, 0, op))


@rule(np.flip)
def _flip(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x = args["m"]
    return self.stack(op.prim, x, stack_axes(args.get("axis"), self.rank(x), op))


@rule(np.tril, np.triu)
def _triangle(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    if self.rank(args["m"]) < 2 or self.has_stack(args.get("k", 0)):
        raise no_rule(op)
    return self.stack(op.prim, *self.new(op.args), **self.new(op.kwargs))


@rule(np.concatenate, np.stack)
def _concatenate(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    items = args["arrays"]
    axis = args.get("axis", 0)
    if args.keys() - {"arrays", "axis"} or not isinstance(items, (tuple, list)) or type(axis) is not int:
        raise no_rule(op)
    if any(type_of(x).kind != "array" for x in items):
        raise no_rule(op)
    return self.stack(op.prim, [self.spread(x) for x in items], axis=axis + 1 if axis >= 0 else axis)


# --- reductions -------------------------------------------------------------------------------------------------------


@rule(np.sum, np.prod, np.mean, np.max, np.min)
def _reduce(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x = args.pop("a")
    keepdims = args.get("keepdims", False)
    if args.keys() - {"axis", "keepdims"} or type(keepdims) is not bool:
        raise no_rule(op)
    return self.stack(op.prim, x, axis=stack_axes(args.get("axis"), self.rank(x), op), keepdims=keepdims)


@rule(np.cumsum, np.cumprod)
def _scan(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, axis = args.pop("a"), args.get("axis")
    if args.keys() - {"axis"} or (axis is not None and type(axis) is not int):
        raise no_rule(op)
    if axis is None:
        return self.stack(op.prim, self.stack(RESHAPE, x, (self.size(), -1)), axis=1)
    return self.stack(op.prim, x, axis=axis + 1 if axis >= 0 else axis)


# --- products ---------------------------------------------------------------------------------------------------------


@rule(np.matmul, operator.matmul)
def _matmul(self: Batcher, op: Op) -> Any:
    x, y = self.new(op.args)
    return _product(self, x, y)


@rule(np.dot)
def _dot(self: Batcher, op: Op) -> Any:
    x, y = self.new(op.args)
    m, n = self.rank(x), self.rank(y)
    if m == 0 or n == 0:
        return self.stack(MUL, self.aligned(x, max(m, n)), self.aligned(y, max(m, n)))
    if m > 2 or n > 2:
        raise no_rule(op)
    return _product(self, x, y)


def _product(self: Batcher, x: Any, y: Any) -> Any:
    """``x @ y``, where a vector on a side is made a matrix unless NumPy takes it for one at this side anyway."""
    m, n = self.rank(x), self.rank(y)
    row = m == 1 and self.is_stack(x) and (self.is_stack(y) or n > 2)
    column = n == 1 and self.is_stack(y)
    if column and m == 1 and not self.is_stack(x):
        return self.stack(MATMUL, y, x)
    if row:
        x = self.index(x, slice(None), None, slice(None))
        m = 2
    if column:
        y = self.index(y, slice(None), slice(None), None)
        n = 2
    if m > 1 and n > 1:
        rank = max(m, n)
        x, y = self.aligned(x, rank), self.aligned(y, rank)
    out = self.stack(MATMUL, x, y)
    if row or column:
        picked = ((Ellipsis, 0, slice(None)) if row else (Ellipsis, 0)) if not (row and column) else (Ellipsis, 0, 0)
        out = self.index(out, *picked)
    return out


@rule(np.einsum)
def _einsum(self: Batcher, op: Op) -> Any:
    subscripts, *operands = self.new(op.args)
    if op.kwargs or not isinstance(subscripts, str) or "->" not in subscripts or "." in subscripts:
        raise no_rule(op)
    inputs, output = subscripts.replace(" ", "").split("->")
    letter = next(c for c in "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in subscripts)
    parts = [letter + s if self.is_stack(x) else s for s, x in zip(inputs.split(","), operands, strict=True)]
    return self.stack(op.prim, f"{','.join(parts)}->{letter}{output}", *operands)


@rule(np.tensordot)
def _tensordot(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, y, axes = args["a"], args["b"], args.get("axes", 2)
    m, n = self.rank(x), self.rank(y)
    if type(axes) is int:
        axes = (tuple(range(m - axes, m)), tuple(range(axes)))
    if self.is_stack(x) == self.is_stack(y) or self.has_stack(axes):
        raise no_rule(op)
    first, second = [(k,) if type(k) is int else tuple(k) for k in axes]
    if not all(type(k) is int for k in (*first, *second)):
        raise no_rule(op)
    if self.is_stack(x):
        return self.stack(op.prim, x, y, axes=(tuple([k % m + 1 for k in first]), second))
    out = self.emit(op.prim, x, y, axes=(first, tuple([k % n + 1 for k in second])))
    return self.stack(PRIMS[np.moveaxis], out, m - len(first), 0)


# --- images -----------------------------------------------------------------------------------------------------------


@rule(kernels.conv, kernels.conv_input, kernels.pool_sum, kernels.pool_spread)
def _images(self: Batcher, op: Op) -> Any:
    """What works on each image of a batch works on the batches of all elements of the stack."""
    x, *rest = self.new(op.args)
    if not self.is_stack(x) or self.has_stack(rest) or op.kwargs:
        raise no_rule(op)
    count = self.length(x, 0)
    out = self.emit(op.prim, self.emit(RESHAPE, x, (-1, *self.lengths(x)[1:])), *rest)
    return self.stack(RESHAPE, out, (self.size(), count, *self.lengths(out)[1:]))


@rule(np.linalg.solve)
def _solve(self: Batcher, op: Op) -> Any:
    a, y = self.new(op.args)
    m, n = self.rank(a), self.rank(y)
    if n == 1:
        if m != 2:
            raise no_rule(op)
        y = self.spread(y)
        return self.index(self.stack(op.prim, a, self.index(y, slice(None), slice(None), None)), Ellipsis, 0)
    rank = max(m, n)
    return self.stack(op.prim, self.aligned(a, rank), self.aligned(y, rank))


@rule(np.linalg.inv)
def _inv(self: Batcher, op: Op) -> Any:
    return self.stack(op.prim, *self.new(op.args))


# --- parts ------------------------------------------------------------------------------------------------------------


def _path(self: Batcher, op: Op, path: Any) -> Any:
    """The path to the same part of each element of a stack."""
    out = []
    t = op.args[0].type
    for old, step in zip(path, self.new(path)):
        if self.has_stack(step[1]) or t.dims is None:
            raise no_rule(op)
        rank = len(t.dims)
        t, _ = opset.infer_step(self.b, t, old)
        if step[0] == "transpose":
            axes = tuple(range(rank))[::-1] if step[1] is None else step[1]
            out.append(("transpose", (0, *[k % rank + 1 for k in axes])))
            continue
        items = step[1]
        if step[0] == "reshape":
            if not isinstance(items, (tuple, list)):
                raise no_rule(op)
            out.append(("reshape", (self.size(), *items)))
            continue
        advanced = []
        for k, item in enumerate(items):
            if item is None or item is Ellipsis or isinstance(item, slice):
                continue
            t = type_of(item) if not isinstance(item, (list, tuple)) else None
            if t is not None and t.is_scalar and not (t.dtype is not None and t.dtype.kind in "iu"):
                raise no_rule(op)
            if t is not None and not t.is_scalar and (t.kind != "array" or t.dtype is None):
                raise no_rule(op)
            advanced.append((k, t is None or not t.is_scalar))
        # NumPy puts the axes of arrays that are not next to each other first, where the stack's axis has to be.
        if any(array for _, array in advanced) and advanced[-1][0] - advanced[0][0] >= len(advanced):
            raise no_rule(op)
        out.append(("index", (slice(None), *items)))
    return tuple(out)


@rule(GET)
def _get(self: Batcher, op: Op) -> Any:
    a = self.new(op.args[0])
    if not self.is_stack(a):
        raise no_rule(op)
    return self.stack(GET, a, _path(self, op, op.args[1]))


@rule(SET, ADDAT)
def _store(self: Batcher, op: Op) -> Any:
    a, _, v = self.new(op.args)
    t = op.args[0].type
    for step in op.args[1]:
        t, _ = opset.infer_step(self.b, t, step)
    if t.dims is None or self.rank(v) > len(t.dims):
        raise no_rule(op)
    return self.stack(op.prim, self.spread(a), _path(self, op, op.args[1]), self.aligned(v, len(t.dims)))


__all__ = ["NotBatchedError", "batch"]
