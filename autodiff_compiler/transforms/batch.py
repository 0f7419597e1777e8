"""Batching: a straight-line function for a stack of values at once, instead of once for each of them.

`batch` gives a function some of whose parameters have one more axis in front, as have all results. A value that depends
on one of these is stacked too: its first axis counts the calls that the function stands for. Each primitive has a rule
that says how it is applied to stacked operands; what follows an axis is counted from there is moved by one. Where there
is no rule, `NotBatchedError` is raised, and the caller has to call the function once for each value.

Reference: Bradbury et al., JAX (2018), whose vmap has rules of this kind.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import kernels
from ..ir import opset
from ..ir.core import Builder, Function, Op, Prim, Region, Value, leaves, map_leaves, type_of
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
from ..ir.types import Dim, Ty

BROADCAST = PRIMS[np.broadcast_to]
MATMUL = PRIMS[np.matmul]
RESHAPE = PRIMS[np.reshape]
SUM = PRIMS[np.sum]
TRANSPOSE = PRIMS[np.transpose]

Rule = Callable[["_Batcher", Op], Any]
_RULES: dict[Prim, Rule] = {}


class NotBatchedError(Exception):
    """There is no rule for an operation, or its operands' shapes are not known well enough."""


def batch(fn: Function, stacked: set[int]) -> Function:
    """`fn` for a stack of values of the parameters with these numbers; all results are stacks.

    Raises NotBatchedError where an operation has no rule.
    """
    return _Batcher(fn, stacked).function


class _Batcher:
    def __init__(self, fn: Function, stacked: set[int]):
        body = Region(_copied(fn.body.dims))
        self.b = Builder(body)
        self.axis = body.dims.fresh()  # the length of the stacks
        self.env: dict[Value, Any] = {}
        self.stacks: set[Value] = set()  # values of the new function that have the axis
        self.shapes: dict[Value, Value] = {}  # of the old function: what a shape is the shape of
        for k, p in enumerate(fn.body.params):
            t = p.type
            if k in stacked:
                t = self.stack_type(t)
            self.env[p] = made = body.param(t, p.hint)
            if k in stacked:
                self.stacks.add(made)
                self.some = made
        for op in fn.body.ops:
            self.add(op)
        exits = []
        for x in fn.body.exit:
            x = self.new(x)
            exits.append(x if self.is_stack(x) else self.spread(x))
        body.exit = tuple(exits)
        self.function = Function(fn.name, body, dict(fn.meta))

    # --- values ---------------------------------------------------------------------------------------------------

    def new(self, arg: Any) -> Any:
        return map_leaves(lambda v: self.env[v], arg)

    def is_stack(self, x: Any) -> bool:
        return type(x) is Value and x in self.stacks

    def has_stack(self, arg: Any) -> bool:
        return any(v in self.stacks for v in leaves(arg))

    def stack_type(self, t: Ty) -> Ty:
        """The type of a stack of values of a type."""
        if t.dims is None or t.kind not in ("array", "generic", "scalar", "py"):
            raise NotBatchedError(f"a value of type {t}")
        return Ty("array", t.dtype, (self.axis, *t.dims))

    def rank(self, x: Any) -> int:
        """How many axes a value has, without the one in front of stacks."""
        t = type_of(x)
        if t.dims is None:
            raise NotBatchedError(f"a value of type {t}")
        return len(t.dims) - self.is_stack(x)

    def emit(self, prim: Prim, *args: Any, **kwargs: Any) -> Any:
        return self.b.emit(prim, *args, **kwargs)

    def stack(self, prim: Prim, *args: Any, **kwargs: Any) -> Any:
        """An operation whose result is a stack."""
        out = self.emit(prim, *args, **kwargs)
        self.stacks.add(out)
        return out

    def index(self, x: Any, *items: Any) -> Any:
        return self.stack(GET, x, (("index", items),))

    def aligned(self, x: Any, rank: int) -> Any:
        """A stack with axes of length 1 after the first one, so that it broadcasts as its elements would to `rank`
        axes; anything else as it is."""
        if not self.is_stack(x):
            return x
        missing = rank - self.rank(x)
        return x if missing <= 0 else self.index(x, slice(None), *[None] * missing, Ellipsis)

    def length(self, x: Any, axis: int) -> Any:
        """The length of an axis of a value, not counting the first axis of stacks."""
        axis += self.is_stack(x)
        known = type_of(x).dims[axis]  # type: ignore[index]
        return self.emit(DIM, x, axis) if isinstance(known, Dim) else known

    def lengths(self, x: Any) -> tuple[Any, ...]:
        return tuple([self.length(x, k) for k in range(self.rank(x))])

    def size(self) -> Any:
        """The length of the stacks."""
        return self.emit(DIM, self.some, 0)

    def spread(self, x: Any) -> Any:
        """A stack of one value over and over."""
        if self.is_stack(x):
            return x
        if type_of(x).kind not in ("array", "generic"):
            raise NotBatchedError(f"a constant {x}")
        return self.stack(BROADCAST, x, (self.size(), *self.lengths(x)))

    # --- operations -----------------------------------------------------------------------------------------------

    def add(self, op: Op) -> None:
        if op.prim is SHAPE_OF and type(op.args[0]) is Value:
            self.shapes[op.result] = op.args[0]
        if op.regions or op.prim.effects:
            raise NotBatchedError(op.prim.name)
        if not self.has_stack([self.new(v) for v in op.operands()]):
            out = self.emit(op.prim, *self.new(op.args), **self.new(op.kwargs))
            for old, made in zip(op.results, (out,) if op.prim.nout == 1 else out):
                made.type = old.type
                self.env[old] = made
            return
        rule = _RULES.get(op.prim)
        if rule is None and op.prim.elementwise and op.prim.nout == 1:
            rule = _elementwise
        if rule is None or op.prim.nout != 1:
            raise NotBatchedError(op.prim.name)
        made = rule(self, op)
        if self.is_stack(made):
            made.type = self.stack_type(op.result.type)
        self.env[op.result] = made

    def bound(self, op: Op) -> dict[str, Any]:
        """The arguments by the names of the parameters."""
        names = op.prim.params
        if len(op.args) > len(names) or any(n.startswith("*") for n in names):
            raise NotBatchedError(op.prim.name)
        out = dict(zip(names, self.new(op.args)))
        out.update(self.new(op.kwargs))
        return out


def _copied(dims: Any) -> Any:
    return type(dims)(
        None, dict(dims.equal), set(dims.not_one_facts), list(dims.counter), dict(dims.memo), set(dims.arg_roots),
        list(dims.constraints), dict(dims.lengths), list(dims.assumed),
    )  # fmt: skip


def _rule(*prims: Any) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        for p in prims:
            _RULES[p if isinstance(p, Prim) else PRIMS[p]] = rule
        return rule

    return register


def _no_rule(op: Op) -> NotBatchedError:
    return NotBatchedError(op.prim.name)


def _axes(axis: Any, rank: int, op: Op) -> Any:
    """Axes of the elements as axes of a stack of them."""
    if type(axis) is int:
        return axis + 1 if axis >= 0 else axis
    if isinstance(axis, (tuple, list)) and all(type(k) is int for k in axis):
        return tuple([k + 1 if k >= 0 else k for k in axis])
    if axis is None:
        return tuple(range(1, rank + 1))
    raise _no_rule(op)


# --- elementwise ------------------------------------------------------------------------------------------------------


@_rule(np.where)
def _elementwise(self: _Batcher, op: Op) -> Any:
    if op.kwargs:
        raise _no_rule(op)
    args = self.new(op.args)
    rank = max(self.rank(x) for x in args)
    return self.stack(op.prim, *[self.aligned(x, rank) for x in args])


@_rule(CAST, COPY, ZEROS, np.zeros_like, np.ones_like, np.real, np.imag)
def _same(self: _Batcher, op: Op) -> Any:
    if self.has_stack(self.new(op.args[1:])):
        raise _no_rule(op)
    if op.prim is ZEROS and op.args[0].type.is_scalar:
        return self.stack(PRIMS[np.zeros_like], self.new(op.args[0]))
    return self.stack(op.prim, *self.new(op.args), **self.new(op.kwargs))


@_rule(ACCUM)
def _accum(self: _Batcher, op: Op) -> Any:
    a, v = self.new(op.args)
    rank = self.rank(a)
    if self.rank(v) > rank:
        raise _no_rule(op)
    v = self.aligned(v, rank)
    if self.is_stack(a):
        return self.stack(ACCUM, a, v)
    kept, dtype = op.result.type.dtype, type_of(v).dtype
    if kept is None or dtype is None or np.result_type(kept, dtype) != kept:
        raise _no_rule(op)
    return self.stack(ADD, a, v)


# --- shapes of cotangents ---------------------------------------------------------------------------------------------


@_rule(SUM_TO, FINISH)
def _sum_to(self: _Batcher, op: Op) -> Any:
    g, x = self.new(op.args)
    if not self.is_stack(g):
        raise _no_rule(op)
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
        raise _no_rule(op)
    if type_of(g).dtype != dtype or type_of(g).dtype is None:
        g = self.stack(CAST, g, dtype)
    return g


@_rule(SPREAD)
def _spread(self: _Batcher, op: Op) -> Any:
    g, x = self.new(op.args)
    if type_of(g).kind == "py":
        raise _no_rule(op)
    rank = self.rank(x)
    if not self.is_stack(g):
        return self.emit(BROADCAST, g, self.lengths(x))
    if self.rank(g) > rank:
        raise _no_rule(op)
    return self.stack(BROADCAST, self.aligned(g, rank), (self.size(), *self.lengths(x)))


@_rule(DIM)
def _dim(self: _Batcher, op: Op) -> Any:
    x, axis = self.new(op.args)
    if type(axis) is not int:
        raise _no_rule(op)
    return self.emit(DIM, x, axis + 1 if axis >= 0 else axis)


@_rule(SHAPE_OF)
def _shape(self: _Batcher, op: Op) -> Any:
    return self.lengths(self.new(op.args[0]))


@_rule(DTYPE)
def _dtype(self: _Batcher, op: Op) -> Any:
    return self.emit(DTYPE, self.new(op.args[0]))


# --- shapes -----------------------------------------------------------------------------------------------------------


@_rule(np.reshape)
def _reshape(self: _Batcher, op: Op) -> Any:
    args = self.bound(op)
    if args.keys() - {"a", "shape"} and args.get("order") not in (None, "C"):
        raise _no_rule(op)
    old = op.args[1] if len(op.args) > 1 else op.kwargs["shape"]
    shape = args["shape"]
    if type(old) is Value and old in self.shapes:
        shape = self.lengths(self.env[self.shapes[old]])
    if type(shape) is int or (type(shape) is Value and shape.type.kind == "py"):
        shape = (shape,)
    if not isinstance(shape, (tuple, list)) or self.has_stack(shape):
        raise _no_rule(op)
    return self.stack(RESHAPE, args["a"], (self.size(), *shape))


@_rule(np.ravel)
def _ravel(self: _Batcher, op: Op) -> Any:
    if len(op.args) > 1 or op.kwargs:
        raise _no_rule(op)
    return self.stack(RESHAPE, self.new(op.args[0]), (self.size(), -1))


@_rule(np.transpose)
def _transpose(self: _Batcher, op: Op) -> Any:
    args = self.bound(op)
    x = args["a"]
    axes, rank = args.get("axes"), self.rank(x)
    if axes is None:
        axes = tuple(range(rank))[::-1]
    if not all(type(k) is int for k in axes):
        raise _no_rule(op)
    return self.stack(TRANSPOSE, x, (0, *[k % rank + 1 for k in axes]))


@_rule(np.swapaxes, np.moveaxis)
def _swap(self: _Batcher, op: Op) -> Any:
    x, first, second = self.new(op.args)
    rank = self.rank(x)
    return self.stack(op.prim, x, _axes(first, rank, op), _axes(second, rank, op))


@_rule(np.broadcast_to)
def _broadcast(self: _Batcher, op: Op) -> Any:
    x, shape = self.new(op.args)
    old = op.args[1]
    if type(old) is Value and old in self.shapes:
        shape = self.lengths(self.env[self.shapes[old]])
    if type(shape) is int or (type(shape) is Value and shape.type.kind == "py"):
        shape = (shape,)
    if op.kwargs or not isinstance(shape, (tuple, list)) or self.has_stack(shape):
        raise _no_rule(op)
    return self.stack(BROADCAST, self.aligned(x, len(shape)), (self.size(), *shape))


@_rule(np.diagonal)
def _diagonal(self: _Batcher, op: Op) -> Any:
    args = self.bound(op)
    first, second = (_axes(args.get(name, k), 0, op) for k, name in enumerate(("axis1", "axis2")))
    return self.stack(op.prim, args["a"], offset=args.get("offset", 0), axis1=first, axis2=second)


@_rule(np.roll)
def _roll(self: _Batcher, op: Op) -> Any:
    args = self.bound(op)
    if args.get("axis") is None or self.has_stack(args["shift"]):
        raise _no_rule(op)
    return self.stack(op.prim, args["a"], args["shift"], _axes(args["axis"], 0, op))


@_rule(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft)
def _fourier(self: _Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, axis = args.pop("a"), args.pop("axis", -1)
    return self.stack(op.prim, x, axis=_axes(axis, 0, op), **args)


@_rule(kernels.embed, kernels.shift)
def _along(self: _Batcher, op: Op) -> Any:
    x, axis, *rest = self.new(op.args)
    if self.has_stack(rest):
        raise _no_rule(op)
    return self.stack(op.prim, x, _axes(axis, 0, op), *rest, **self.new(op.kwargs))


@_rule(kernels.linear_scan, kernels.flip_scan)
def _recurrence(self: _Batcher, op: Op) -> Any:
    g, x, axis = self.new(op.args)
    return self.stack(op.prim, self.spread(g), self.spread(x), _axes(axis, 0, op))


@_rule(np.expand_dims)
def _expand(self: _Batcher, op: Op) -> Any:
    x, axis = self.new(op.args)
    return self.stack(op.prim, x, _axes(axis, 0, op))


@_rule(np.flip)
def _flip(self: _Batcher, op: Op) -> Any:
    args = self.bound(op)
    x = args["m"]
    return self.stack(op.prim, x, _axes(args.get("axis"), self.rank(x), op))


@_rule(np.tril, np.triu)
def _triangle(self: _Batcher, op: Op) -> Any:
    args = self.bound(op)
    if self.rank(args["m"]) < 2 or self.has_stack(args.get("k", 0)):
        raise _no_rule(op)
    return self.stack(op.prim, *self.new(op.args), **self.new(op.kwargs))


@_rule(np.concatenate, np.stack)
def _concatenate(self: _Batcher, op: Op) -> Any:
    args = self.bound(op)
    items = args["arrays"]
    axis = args.get("axis", 0)
    if args.keys() - {"arrays", "axis"} or not isinstance(items, (tuple, list)) or type(axis) is not int:
        raise _no_rule(op)
    if any(type_of(x).kind != "array" for x in items):
        raise _no_rule(op)
    return self.stack(op.prim, [self.spread(x) for x in items], axis=axis + 1 if axis >= 0 else axis)


# --- reductions -------------------------------------------------------------------------------------------------------


@_rule(np.sum, np.prod, np.mean, np.max, np.min)
def _reduce(self: _Batcher, op: Op) -> Any:
    args = self.bound(op)
    x = args.pop("a")
    keepdims = args.get("keepdims", False)
    if args.keys() - {"axis", "keepdims"} or type(keepdims) is not bool:
        raise _no_rule(op)
    return self.stack(op.prim, x, axis=_axes(args.get("axis"), self.rank(x), op), keepdims=keepdims)


@_rule(np.cumsum, np.cumprod)
def _scan(self: _Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, axis = args.pop("a"), args.get("axis")
    if args.keys() - {"axis"} or (axis is not None and type(axis) is not int):
        raise _no_rule(op)
    if axis is None:
        return self.stack(op.prim, self.stack(RESHAPE, x, (self.size(), -1)), axis=1)
    return self.stack(op.prim, x, axis=axis + 1 if axis >= 0 else axis)


# --- products ---------------------------------------------------------------------------------------------------------


@_rule(np.matmul, operator.matmul)
def _matmul(self: _Batcher, op: Op) -> Any:
    x, y = self.new(op.args)
    return _product(self, x, y)


@_rule(np.dot)
def _dot(self: _Batcher, op: Op) -> Any:
    x, y = self.new(op.args)
    m, n = self.rank(x), self.rank(y)
    if m == 0 or n == 0:
        return self.stack(MUL, self.aligned(x, max(m, n)), self.aligned(y, max(m, n)))
    if m > 2 or n > 2:
        raise _no_rule(op)
    return _product(self, x, y)


def _product(self: _Batcher, x: Any, y: Any) -> Any:
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


@_rule(np.einsum)
def _einsum(self: _Batcher, op: Op) -> Any:
    subscripts, *operands = self.new(op.args)
    if op.kwargs or not isinstance(subscripts, str) or "->" not in subscripts or "." in subscripts:
        raise _no_rule(op)
    inputs, output = subscripts.replace(" ", "").split("->")
    letter = next(c for c in "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in subscripts)
    parts = [letter + s if self.is_stack(x) else s for s, x in zip(inputs.split(","), operands, strict=True)]
    return self.stack(op.prim, f"{','.join(parts)}->{letter}{output}", *operands)


@_rule(np.tensordot)
def _tensordot(self: _Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, y, axes = args["a"], args["b"], args.get("axes", 2)
    m, n = self.rank(x), self.rank(y)
    if type(axes) is int:
        axes = (tuple(range(m - axes, m)), tuple(range(axes)))
    if self.is_stack(x) == self.is_stack(y) or self.has_stack(axes):
        raise _no_rule(op)
    first, second = [(k,) if type(k) is int else tuple(k) for k in axes]
    if not all(type(k) is int for k in (*first, *second)):
        raise _no_rule(op)
    if self.is_stack(x):
        return self.stack(op.prim, x, y, axes=(tuple([k % m + 1 for k in first]), second))
    out = self.emit(op.prim, x, y, axes=(first, tuple([k % n + 1 for k in second])))
    return self.stack(PRIMS[np.moveaxis], out, m - len(first), 0)


# --- images -----------------------------------------------------------------------------------------------------------


@_rule(kernels.conv, kernels.conv_input, kernels.pool_sum, kernels.pool_spread)
def _images(self: _Batcher, op: Op) -> Any:
    """What works on each image of a batch works on the batches of all elements of the stack."""
    x, *rest = self.new(op.args)
    if not self.is_stack(x) or self.has_stack(rest) or op.kwargs:
        raise _no_rule(op)
    count = self.length(x, 0)
    out = self.emit(op.prim, self.emit(RESHAPE, x, (-1, *self.lengths(x)[1:])), *rest)
    return self.stack(RESHAPE, out, (self.size(), count, *self.lengths(out)[1:]))


@_rule(np.linalg.solve)
def _solve(self: _Batcher, op: Op) -> Any:
    a, y = self.new(op.args)
    m, n = self.rank(a), self.rank(y)
    if n == 1:
        if m != 2:
            raise _no_rule(op)
        y = self.spread(y)
        return self.index(self.stack(op.prim, a, self.index(y, slice(None), slice(None), None)), Ellipsis, 0)
    rank = max(m, n)
    return self.stack(op.prim, self.aligned(a, rank), self.aligned(y, rank))


@_rule(np.linalg.inv)
def _inv(self: _Batcher, op: Op) -> Any:
    return self.stack(op.prim, *self.new(op.args))


# --- parts ------------------------------------------------------------------------------------------------------------


def _path(self: _Batcher, op: Op, path: Any) -> Any:
    """The path to the same part of each element of a stack."""
    out = []
    t = op.args[0].type
    for old, step in zip(path, self.new(path)):
        if self.has_stack(step[1]) or t.dims is None:
            raise _no_rule(op)
        rank = len(t.dims)
        t, _ = opset.infer_step(self.b, t, old)
        if step[0] == "transpose":
            axes = tuple(range(rank))[::-1] if step[1] is None else step[1]
            out.append(("transpose", (0, *[k % rank + 1 for k in axes])))
            continue
        items = step[1]
        if step[0] == "reshape":
            if not isinstance(items, (tuple, list)):
                raise _no_rule(op)
            out.append(("reshape", (self.size(), *items)))
            continue
        advanced = []
        for k, item in enumerate(items):
            if item is None or item is Ellipsis or isinstance(item, slice):
                continue
            t = type_of(item) if not isinstance(item, (list, tuple)) else None
            if t is not None and t.is_scalar and not (t.dtype is not None and t.dtype.kind in "iu"):
                raise _no_rule(op)
            if t is not None and not t.is_scalar and (t.kind != "array" or t.dtype is None):
                raise _no_rule(op)
            advanced.append((k, t is None or not t.is_scalar))
        # NumPy puts the axes of arrays that are not next to each other first, where the stack's axis has to be.
        if any(array for _, array in advanced) and advanced[-1][0] - advanced[0][0] >= len(advanced):
            raise _no_rule(op)
        out.append(("index", (slice(None), *items)))
    return tuple(out)


@_rule(GET)
def _get(self: _Batcher, op: Op) -> Any:
    a = self.new(op.args[0])
    if not self.is_stack(a):
        raise _no_rule(op)
    return self.stack(GET, a, _path(self, op, op.args[1]))


@_rule(SET, ADDAT)
def _store(self: _Batcher, op: Op) -> Any:
    a, _, v = self.new(op.args)
    t = op.args[0].type
    for step in op.args[1]:
        t, _ = opset.infer_step(self.b, t, step)
    if t.dims is None or self.rank(v) > len(t.dims):
        raise _no_rule(op)
    return self.stack(op.prim, self.spread(a), _path(self, op, op.args[1]), self.aligned(v, len(t.dims)))
