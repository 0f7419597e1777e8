"""How products and linear algebra are applied to stacks, see `batching`.

NumPy's own functions work on stacks of matrices. Where the axis of the stack has no place in a product, `np.einsum` has
one for it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import runtime
from ..ir.core import Op, type_of
from ..ir.opset import GET, MUL, PRIMS
from .batch_rules import NotBatchedError, batch, no_rule, of_one_operand
from .batching import Batcher
from .linalg import parse_einsum

EINSUM = PRIMS[np.einsum]
LETTERS = "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"

# --- products ---------------------------------------------------------------------------------------------------------


@batch(np.matmul, operator.matmul)
def _matmul(self: Batcher, op: Op) -> Any:
    x, y = self.new(op.args)
    return _product(self, x, y)


def _product(self: Batcher, x: Any, y: Any) -> Any:
    """``x @ y``, where a vector on a side is made a matrix unless NumPy takes it for one at this side anyway."""
    m, n = self.rank(x), self.rank(y)
    row = m == 1 and self.is_stack(x) and (self.is_stack(y) or n > 2)
    column = n == 1 and self.is_stack(y)
    if m == n == 1 and self.is_stack(x) and self.is_stack(y):
        dtypes = (type_of(x).dtype, type_of(y).dtype)
        if all(t is not None and t.kind in "fc" for t in dtypes):  # a sum of small integers has another dtype
            return self.stack(PRIMS[np.sum], self.stack(MUL, x, y), axis=1)
    if column and m == 1 and not self.is_stack(x):
        return self.stack(PRIMS[np.matmul], y, x)
    if column and m == 2 and not self.is_stack(x):
        return self.stack(PRIMS[np.matmul], y, self.emit(GET, x, (("transpose", None),)))
    if row:
        x = self.index(x, slice(None), None, slice(None))
        m = 2
    if column:
        y = self.index(y, slice(None), slice(None), None)
        n = 2
    if m > 1 and n > 1:
        rank = max(m, n)
        x, y = self.aligned(x, rank), self.aligned(y, rank)
    out = self.stack(PRIMS[np.matmul], x, y)
    if row or column:
        picked = ((Ellipsis, 0, slice(None)) if row else (Ellipsis, 0)) if not (row and column) else (Ellipsis, 0, 0)
        out = self.index(out, *picked)
    return out


@batch(np.dot)
def _dot(self: Batcher, op: Op) -> Any:
    x, y = self.new(op.args)
    m, n = self.rank(x), self.rank(y)
    if m == 0 or n == 0:
        return _scaled(self, op, x, y)
    if m <= 2 and n <= 2:
        return _product(self, x, y)
    first, second = range(m), range(m, m + n)
    return _einsum(self, x, y, first, _with(second, n - 2 if n > 1 else 0, m - 1))


def _scaled(self: Batcher, op: Op, x: Any, y: Any) -> Any:
    x, y = self.strong(op.args, [x, y], op.result.type)
    rank = max(self.rank(x), self.rank(y))
    return self.stack(MUL, self.aligned(x, rank), self.aligned(y, rank))


def _with(numbers: Any, place: int, number: int) -> list[int]:
    out = list(numbers)
    out[place] = number
    return out


def _einsum(self: Batcher, x: Any, y: Any, first: Any, second: Any) -> Any:
    """The product whose factors have the axes of these numbers. Those that both have are summed over."""
    if max(*first, *second, 0) >= len(LETTERS) - 1:
        raise NotBatchedError("so many axes")
    both = set(first) & set(second)
    out = [k for k in (*first, *second) if k not in both]
    left, right = [(LETTERS[0] if self.is_stack(v) else "") + _named(axes) for v, axes in ((x, first), (y, second))]
    return self.stack(EINSUM, f"{left},{right}->{LETTERS[0]}{_named(out)}", x, y)


def _named(axes: Iterable[int]) -> str:
    return "".join([LETTERS[1 + k] for k in axes])


@batch(np.inner)
def _inner(self: Batcher, op: Op) -> Any:
    x, y = self.new(op.args)
    m, n = self.rank(x), self.rank(y)
    if m == 0 or n == 0:
        return _scaled(self, op, x, y)
    return _einsum(self, x, y, range(m), _with(range(m, m + n), n - 1, m - 1))


@batch(np.outer)
def _outer(self: Batcher, op: Op) -> Any:
    x, y = [_flat(self, v) for v in self.bound(op).values()]
    if self.is_stack(x):
        x = self.index(x, slice(None), slice(None), None)
    else:
        x = self.emit(PRIMS[np.expand_dims], x, 1)
    y = self.index(y, slice(None), None, slice(None)) if self.is_stack(y) else y
    return self.stack(MUL, x, y)


def _flat(self: Batcher, x: Any) -> Any:
    if self.rank(x) == 1:
        return x
    return self.flat(x) if self.is_stack(x) else self.emit(PRIMS[np.ravel], x)


@batch(np.vdot)
def _vdot(self: Batcher, op: Op) -> Any:
    x, y = [_flat(self, v) for v in self.new(op.args)]
    dtype = type_of(x).dtype
    if dtype is None or dtype.kind == "c":
        conjugate = PRIMS[np.conjugate]
        x = self.stack(conjugate, x) if self.is_stack(x) else self.emit(conjugate, x)
    return _einsum(self, x, y, [0], [0])


@batch(np.tensordot)
def _tensordot(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, y, axes = args["a"], args["b"], args.get("axes", 2)
    m, n = self.rank(x), self.rank(y)
    if type(axes) is int:
        axes = (tuple(range(m - axes, m)), tuple(range(axes)))
    if self.has_stack(axes):
        raise no_rule(op)
    first, second = [(k,) if type(k) is int else tuple(k) for k in axes]
    if not all(type(k) is int for k in (*first, *second)):
        raise no_rule(op)
    if self.is_stack(x) and self.is_stack(y):
        inner = list(range(m, m + n))
        for j, k in zip(first, second):
            inner[k % n] = j % m
        return _einsum(self, x, y, range(m), inner)
    if self.is_stack(x):
        return self.stack(op.prim, x, y, axes=(tuple([k % m + 1 for k in first]), second))
    out = self.emit(op.prim, x, y, axes=(first, tuple([k % n + 1 for k in second])))
    return self.stack(PRIMS[np.moveaxis], out, m - len(first), 0)


@batch(np.einsum)
def _einsum_batch(self: Batcher, op: Op) -> Any:
    subscripts, *operands = self.new(op.args)
    if op.kwargs or not isinstance(subscripts, str):
        raise no_rule(op)
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    if not arrow:  # NumPy puts the axis of the stack where its letter comes in the alphabet
        parsed = parse_einsum(text, [self.rank(x) for x in operands])
        if parsed is None:
            raise no_rule(op)
        output = ("..." if "..." in inputs else "") + "".join([k for k in parsed[1] if not k.isdigit()])
    letter = next(c for c in LETTERS if c not in text)
    parts = [letter + s if self.is_stack(x) else s for s, x in zip(inputs.split(","), operands, strict=True)]
    return self.stack(op.prim, f"{','.join(parts)}->{letter}{output}", *operands)


# --- matrices ---------------------------------------------------------------------------------------------------------

batch(
    np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky, np.linalg.eigh, np.linalg.eig,
    np.linalg.eigvals, np.linalg.svd, np.linalg.svdvals, np.linalg.qr, np.linalg.pinv, runtime.inverse,
    runtime.inverse_or_nan, runtime.cofactors,
)(of_one_operand)  # fmt: skip


@batch(np.linalg.solve)
def _solve(self: Batcher, op: Op) -> Any:
    a, y = self.new(op.args)
    m, n = self.rank(a), self.rank(y)
    if n == 1:
        y = self.index(self.spread(y), slice(None), *[None] * (m - 2), slice(None), None)
        return self.index(self.stack(op.prim, a, y), Ellipsis, 0)
    rank = max(m, n)
    return self.stack(op.prim, self.aligned(a, rank), self.aligned(y, rank))


@batch(np.linalg.norm)
def _norm(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x, order, axis = args.pop("x"), args.get("ord"), args.pop("axis", None)
    rank = self.rank(x)
    if axis is None and args.get("keepdims", False) is False and order is None and rank != 2:
        return self.stack(op.prim, self.flat(x) if rank != 1 else x, axis=1, **args)
    if axis is None:
        axis = tuple(range(rank))
    axes = [axis] if type(axis) is int else list(axis)
    if len(axes) not in (1, 2) or not all(type(k) is int for k in axes) or self.has_stack(list(args.values())):
        raise no_rule(op)
    moved = [k % rank + 1 for k in axes]
    return self.stack(op.prim, x, axis=moved[0] if len(moved) == 1 else tuple(moved), **args)


__all__: list[str] = []
