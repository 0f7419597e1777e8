"""Contractions: what an adjoint multiplies and then sums up becomes one product, without an array for what is summed.

Takes an adjoint that nobody differentiates again. Gives one in which the sum of a product is `np.vdot`, that of a
matrix times a vector along the axis of the vector is ``v @ M``, and that of two matrices along one axis an `np.einsum`.
Numbers go in front of the sum. For float64 alone: NumPy's sums of the others are rounded less than these products.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(rates, x, w):
...     return np.sum(np.exp(rates[:, None] * x) * w)
>>> show_source(f, np.ones(2), np.ones((2, 3)), np.ones((2, 3)))
def f_grad(rates, x, w):
    return np.einsum("ij,ij->i", w * np.exp(rates[:, None] * x), x)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import DERIVED, Builder, Function, Op, Region, Value, type_of
from ..ir.opset import GET, MUL, PRIMS
from ..ir.rewrite import collect_uses, replace_values
from ..operations.linalg import EINSUM, MATMUL
from ..operations.reductions import SUM
from .algebra import is_moderate

ALL = slice(None)


def contract(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Let sums of products be products; `before_change` is called if there are some."""
    sums = [op for op in fn.body.walk() if op.prim is SUM and op.tag == DERIVED and _is_plain_sum(op)]
    uses = collect_uses(fn.body) if sums else {}
    found = {op: new for op in sums if (new := _Contraction(op, uses).run())}
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
        self.ops: list[Op] = []

    def run(self) -> tuple[list[Op], Value] | None:
        product = self.only_product(self.op.args[0])
        if product is None:
            return None
        number, (a, b) = self.without_number(product)
        axis = self.op.kwargs.get("axis")
        out = self.over_all(a, b) if axis is None else self.along(axis % 2, a, b)
        if out is None:
            return None
        return self.ops, out if number == 1.0 else self.emit(MUL, number, out)

    def only_product(self, x: Any) -> Op | None:
        """The product of two arrays that `x` is, if nothing else reads it."""
        op = x.op if type(x) is Value else None
        if op is None or op.prim is not MUL or op.tag != DERIVED or op.parent is not self.region:
            return None
        return op if len(self.uses.get(x, ())) == 1 else None

    def without_number(self, product: Op) -> tuple[float, tuple[Any, Any]]:
        """``c * a`` times `b` as c, a and b, for a number c of moderate size that stands in the code."""
        a, b = product.args
        for one, other in ((a, b), (b, a)):
            inner = self.only_product(one)
            for c, rest in (inner.args, inner.args[::-1]) if inner is not None else ():
                if type(c) is float and is_moderate(c) and type(rest) is Value and rest.type == one.type:
                    return c, (rest, other)
        return 1.0, (a, b)

    def over_all(self, a: Any, b: Any) -> Value | None:
        return self.emit(PRIMS[np.vdot], a, b) if self.has_all(a) and self.has_all(b) else None

    def along(self, axis: int, a: Any, b: Any) -> Value | None:
        """The sum along one axis: ``v @ M`` and ``M @ v`` where one factor changes along this axis alone."""
        keepdims = self.op.kwargs.get("keepdims", False)
        out: Value | None = None
        for one, other in ((a, b), (b, a)):
            vector = self.vector_along(axis, one)
            if vector is not None and self.has_all(other):
                out = self.emit(MATMUL, *((vector, other) if axis == 0 else (other, vector)))
        if out is None and self.has_all(a) and self.has_all(b):
            out = self.emit(EINSUM, "ij,ij->j" if axis == 0 else "ij,ij->i", a, b)
        if out is None or not keepdims:
            return out
        return self.emit(GET, out, (("index", (None, ALL) if axis == 0 else (ALL, None)),))

    def has_all(self, x: Any) -> bool:
        """A float64 array with the shape of the product."""
        t, dims = type_of(x), self.op.args[0].type.dims
        if t.kind != "array" or t.dtype != np.float64 or t.dims is None or dims is None or len(t.dims) != len(dims):
            return False
        return all(map(self.region.dims.same, t.dims, dims))

    def vector_along(self, axis: int, x: Any) -> Value | None:
        """The vector that `x` is along an axis, if it is the same along the other one."""
        if axis == 0:
            op = x.op if type(x) is Value else None
            if op is None or op.prim is not GET or op.args[1] != (("index", (ALL, None)),):
                return None
            x = op.args[0]
        t, dims = type_of(x), self.op.args[0].type.dims
        if t.kind != "array" or t.dtype != np.float64 or t.dims is None or len(t.dims) != 1 or dims is None:
            return None
        return x if self.region.dims.same(t.dims[0], dims[axis]) else None

    def emit(self, prim: Any, *args: Any) -> Value:
        op = Op(prim, args, {}, (), self.op.loc)
        op.results = [Value(prim.infer(Builder(self.region), args, {}), "", op)]
        op.tag, op.parent = DERIVED, self.region
        self.ops.append(op)
        return op.result


__all__ = ["contract"]
