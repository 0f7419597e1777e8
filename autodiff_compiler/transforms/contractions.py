"""Contractions: what an adjoint multiplies and then sums up becomes one product, without an array for what is summed.

Takes an adjoint that nobody differentiates again. Gives one in which the sum of a product is `np.vdot`, that of a
matrix times a vector along the axis of the vector is ``v @ M``, and that of two matrices along one axis an `np.einsum`.
Numbers, and vectors along the other axis, go in front of the sum. For float64 alone: NumPy's sums of others are rounded
less than these products. Sums of the function itself stay as they are, unless they are `LOOSE`.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(rates, x, w):
...     return np.sum(np.exp(rates[:, None] * x) * w)
>>> show_source(f, np.ones(2), np.ones((2, 3)), np.ones((2, 3)))
def f_grad(rates, x, w):
    return row_dots(w * np.exp(rates[:, None] * x), x)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import DERIVED, LOOSE, Function, Op, Region, Value, type_of
from ..ir.opset import ADD, GET, MUL, PRIMS, SUB
from ..ir.rewrite import derived, live_uses, replace_values
from ..operations.linalg import DOT, EINSUM, MATMUL
from ..operations.reductions import SUM
from .algebra import is_moderate

ALL = slice(None)
FREE = (DERIVED, LOOSE)  # the tags of what may be rounded in another way


def contract(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Let sums of products be products; `before_change` is called if there are some."""
    changed = False
    while _contract_once(fn, None if changed else before_change):  # a factor may have one reader now
        changed = True
    return _join(fn, None if changed else before_change) or changed


def _join(fn: Function, before_change: Callable[[], None] | None) -> bool:
    """``A @ B - A @ C`` as ``A @ (B - C)``: one product less, and nothing is lost where they are nearly the same."""
    uses: dict[Value, list[Op | Region]] = {}
    for op in list(fn.body.walk()):
        k = _shared_factor(op)
        if k is None:
            continue
        if not uses:
            if before_change is not None:
                before_change()
            uses = live_uses(fn.body)
        x, y = op.args
        if len(uses.get(x, ())) == len(uses.get(y, ())) == 1:
            region, others = op.parent, [v.op.args[k] for v in (x, y)]
            assert region is not None
            joined = derived(region, op.prim, *others, loc=op.loc)
            region.ops.insert(region.ops.index(op), joined)
            op.prim, op.args = x.op.prim, tuple([joined.result if j == k else v for j, v in enumerate(x.op.args)])
    return bool(uses)


def _shared_factor(op: Op) -> int | None:
    """Where two products differ whose sum or difference this is, if all of their other factors are the same."""
    if op.prim not in (ADD, SUB) or op.tag != DERIVED:
        return None
    x, y = (v.op if type(v) is Value else None for v in op.args)
    if x is None or y is None or x.prim is not y.prim or x.prim not in (MATMUL, EINSUM) or len(x.args) != len(y.args):
        return None
    if x.kwargs or y.kwargs or not (x.parent is y.parent is op.parent and x.tag == y.tag == DERIVED):
        return None
    pairs = list(zip(x.args, y.args))
    different = [k for k, (a, b) in enumerate(pairs) if not (a is b or (type(a) is type(b) is str and a == b))]
    return different[0] if len(different) == 1 and _are_alike(*pairs[different[0]], op.parent) else None


def _are_alike(a: Any, b: Any, region: Any) -> bool:
    """Two matrices of float64, of one shape."""
    s, t = type_of(a), type_of(b)
    if not s.kind == t.kind == "array" or s.dtype != np.float64 or t.dtype != np.float64 or s.duck or t.duck:
        return False
    if s.dims is None or t.dims is None or len(s.dims) != 2 or len(t.dims) != 2:
        return False
    return all(map(region.dims.same, s.dims, t.dims))


def _contract_once(fn: Function, before_change: Callable[[], None] | None) -> bool:
    sums = [op for op in fn.body.walk() if op.prim is SUM and op.tag in FREE and _is_plain_sum(op)]
    uses = live_uses(fn.body) if sums else {}
    tried = {op: _Contraction(op, uses) for op in sums}
    found = {op: new for op, one in tried.items() if (new := one.run())}
    # Afterwards, some factors of the others may have one reader.
    first = {op: new for op, new in found.items() if tried[op].again}
    found = first or found
    if not found:
        return False
    if before_change is not None:
        before_change()
    for op, (ops, _) in found.items():
        assert op.parent is not None
        at = op.parent.ops.index(op)
        op.parent.ops[at : at + 1] = ops
    replace_values(fn.body, {op.result: result for op, (_, result) in found.items()})
    return True


def _is_plain_sum(op: Op) -> bool:
    """The sum of an array of float64 over all elements, or along one axis of a matrix."""
    (x, *others), kwargs = op.args, op.kwargs
    if others or not kwargs.keys() <= {"axis", "keepdims"} or type(x) is not Value:
        return False
    if x.type.kind != "array" or x.type.dtype != np.float64:
        return False
    axis, keepdims = kwargs.get("axis"), kwargs.get("keepdims", False)
    return (axis is None and keepdims is False) or (
        type(axis) is int and -2 <= axis < 2 and x.type.ndim == 2 and type(keepdims) is bool
    )


class _Contraction:
    """The operations that take the place of one sum."""

    def __init__(self, op: Op, uses: dict[Value, list[Op | Region]]):
        self.op, self.uses = op, uses
        assert op.parent is not None
        self.region = op.parent
        self.axis: int | None = None if op.kwargs.get("axis") is None else op.kwargs["axis"] % 2
        self.ops: list[Op] = []
        self.again = self.opened = False
        # The factors of the product: numbers that stand in the code, as one; arrays; and vectors along each axis.
        self.number = 1.0
        self.whole: list[Value] = []
        self.along: tuple[list[Value], list[Value]] = ([], [])

    def run(self) -> tuple[list[Op], Value] | None:
        x = self.op.args[0]
        product = x.op if x.op is not None and x.op.prim is MUL and x.op.parent is self.region else None
        if product is None or not self.sort_all(product):
            return None
        out = self.over_all() if self.axis is None else self.over_one(self.axis)
        if out is None:
            return None
        return self.ops, out if self.number == 1.0 else self.emit(MUL, self.number, out)

    def sort_all(self, product: Op) -> bool:
        """Find the factors.

        A matrix times a vector is as fast as the sum of a matrix, so it is taken also where the product, or a factor,
        is there for something else. Products are opened up to one matrix and one vector to sum along: no two matrices,
        and no two of these vectors, are multiplied that the adjoint does not multiply. Their product may overflow or
        vanish where that of all factors does not.
        """
        for again, opened in ((True, True), (False, True), (False, False)):
            self.number, self.whole, self.along, self.again, self.opened = 1.0, [], ([], []), again, opened
            if not all(map(self.sort, product.args)):
                continue
            summed = self.along if self.axis is None else self.along[self.axis : self.axis + 1]
            if opened and (len(self.whole) > 1 or any(len(vectors) > 1 for vectors in summed)):
                continue
            if again and not (self.axis is not None and self.whole and self.along[self.axis]):
                continue
            if again or self.only_product(product.result) is not None:
                return True
        return False

    def only_product(self, x: Any) -> Op | None:
        """The product that `x` is, if nothing else reads it, or if it may be computed again."""
        op = x.op if type(x) is Value else None
        if op is None or op.prim is not MUL or op.parent is not self.region:
            return None
        return op if self.again or len(self.uses.get(x, ())) == 1 else None

    def sort(self, x: Any) -> bool:
        """Enter a factor, or the factors that it is the product of; whether it is of a kind that is known."""
        inner = self.only_product(x)
        if type(x) is float and is_moderate(x * self.number):
            self.number *= x
        elif (vector := self.vector(x)) is not None:
            self.along[vector[0]].append(vector[1])
        elif (
            self.opened and inner is not None and not any(type_of(v).is_scalar and type(v) is Value for v in inner.args)
        ):
            return all(map(self.sort, inner.args))
        elif self.is_whole(x):
            self.whole.append(x)
        else:
            return False
        return True

    # --- products of the factors --------------------------------------------------------------------------------------

    def over_all(self) -> Value | None:
        columns, rows = self.along
        if len(self.whole) == 2:
            return self.emit(DOT if self.op.args[0].type.ndim == 1 else PRIMS[np.vdot], *self.whole)
        if not self.whole:
            return self.emit(MUL, self.emit(SUM, *columns), self.emit(SUM, *rows)) if columns and rows else None
        if columns:
            out = self.emit(MATMUL, *columns, *self.whole)
            return self.emit(DOT, out, *rows) if rows else self.emit(SUM, out)
        return self.emit(SUM, self.emit(MATMUL, *self.whole, *rows)) if rows else None

    def over_one(self, axis: int) -> Value | None:
        """The sum along one axis: what does not change along this axis goes in front of it, one after the other."""
        summed, outer = self.along[axis], self.along[1 - axis]
        if len(self.whole) == 2:
            out = self.emit(EINSUM, "ij,ij->j" if axis == 0 else "ij,ij->i", *self.whole)
        elif self.whole and summed:
            out = self.emit(MATMUL, *((*summed, *self.whole) if axis == 0 else (*self.whole, *summed)))
        elif outer and (self.whole or summed):
            out = self.emit(SUM, *self.whole, axis=axis) if self.whole else self.emit(SUM, *summed)
        else:
            return None
        for vector in outer:
            out = self.emit(MUL, out, vector)
        if not self.op.kwargs.get("keepdims", False):
            return out
        return self.emit(GET, out, (("index", (None, ALL) if axis == 0 else (ALL, None)),))

    # --- kinds of factors ---------------------------------------------------------------------------------------------

    def is_whole(self, x: Any) -> bool:
        """A float64 array with the shape of the product."""
        t, dims = type_of(x), self.op.args[0].type.dims
        if t.kind != "array" or t.dtype != np.float64 or t.dims is None or dims is None or len(t.dims) != len(dims):
            return False
        return all(map(self.region.dims.same, t.dims, dims))

    def vector(self, x: Any) -> tuple[int, Value] | None:
        """The axis along which `x` changes, and the vector that it is along it, if it is the same along the other."""
        dims, axis = self.op.args[0].type.dims, 1
        op = x.op if type(x) is Value else None
        if op is not None and op.prim is GET and op.args[1] == (("index", (ALL, None)),):
            x, axis = op.args[0], 0
        t = type_of(x)
        if dims is None or len(dims) != 2 or t.kind != "array" or t.dtype != np.float64:
            return None
        if t.dims is None or len(t.dims) != 1 or not self.region.dims.same(t.dims[0], dims[axis]):
            return None
        return axis, x

    def emit(self, prim: Any, *args: Any, **kwargs: Any) -> Value:
        self.ops.append(derived(self.region, prim, *args, loc=self.op.loc, **kwargs))
        self.ops[-1].tag = self.op.tag
        return self.ops[-1].result


__all__ = ["contract"]
