"""Masks of cotangents that change nothing: of masks that are true everywhere, and of one mask inside of another.

A strong zero is kept by a mask, ``np.where(mask, g, 0.0)``, as long as something infinite may meet it. Rules build such
masks one at a time. Takes an adjoint. Gives an adjoint in which a mask is applied to the last result only, where the
same mask was applied to the operands too, and in which a mask that was put together of slices that make up the axis is
none. The sum of what a mask leaves and of what its opposite leaves is one choice.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, k):
...     r = np.sqrt(x * x)
...     return np.sum(np.where(r < 2.5, k * (r * r - 2.0 * r), 0.0))
>>> show_source(f, np.ones(3), 0.5)
def f_grad(x, k):
    r = np.sqrt(x * x)
    t = r < 2.5
    # adjoint of line 3: return np.sum(np.where(r < 2.5, k * (r * r - 2.0 * r), 0.0))
    t2 = spread(1.0, x) * t * k
    return 2.0 * np.where(t, over(-t2 + t2 * r, r) * x, 0.0)
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..ir.core import DERIVED, Function, Op, Region, Value, leaves, type_of
from ..ir.opset import ACCUM, ADD, DIV, MUL, NEG, PRIMS, SET, SPREAD, SUB
from ..ir.rewrite import derived, live_uses, replace_values, substitute
from ..ir.types import Dims, same_dtype
from ..operations.choices import OVER, PRODUCT, QUOTIENT, RATIO, WHERE
from .places import make_up_all

AND, OR = {PRIMS[operator.and_], PRIMS[np.logical_and]}, {PRIMS[operator.or_], PRIMS[np.logical_or]}
_ELEMENTWISE = {ACCUM, ADD, SUB, MUL, DIV, NEG, OVER, RATIO, QUOTIENT, PRODUCT}
DEEP = 8  # operations between one mask and the other


def simplify_masks(fn: Function, strong: bool = True) -> None:
    """Leave out masks of cotangents that change nothing.

    strong: what a choice makes zero stays zero beside an infinite partial. Otherwise, zero times infinity is nan, and a
    sum of two choices is no choice.
    """
    if not any(op.prim in (WHERE, PRIMS[np.logical_not]) and op.tag == DERIVED for op in fn.body.walk()):
        return
    _Masks(fn, strong).run()


class _Masks:
    def __init__(self, fn: Function, strong: bool):
        self.fn, self.strong = fn, strong
        self.same: dict[Value, Any] = {}  # what stands for a value
        self.full: set[Value] = set()  # masks that are true everywhere

    def run(self) -> None:
        self._visit(self.fn.body)
        self.uses = live_uses(self.fn.body)
        for op in list(self.fn.body.walk()):
            if op.prim is WHERE and op.tag == DERIVED and _is_zero(op.args[2]) and op.parent is not None:
                op.args = (op.args[0], self._without(op.args[1], op.args[0], op.parent, DEEP), op.args[2])
        ones: dict[Value, Any] = {}
        for op in list(self.fn.body.walk()):
            if self.strong and op.prim in (ADD, ACCUM, SUB) and op.tag == DERIVED and op.parent is not None:
                chosen = _choice(op, op.parent, self.uses)
                if chosen is not None:
                    ones[op.result] = chosen
            if op.prim is MUL and op.tag == DERIVED and op.parent is not None:
                for a, b in (op.args, op.args[::-1]):
                    if _number(a) == 1.0 and _alike(op.result, b, op.parent.dims):
                        ones[op.result] = b
        replace_values(self.fn.body, ones)

    def _visit(self, region: Region) -> None:
        """Put what is the same in the place of values, from the first operation to the last."""
        for op in region.ops:
            if any(v in self.same for v in op.operands()):
                op.args, op.kwargs = substitute(op.args, self.same), substitute(op.kwargs, self.same)
            for inner in op.regions:
                self._visit(inner)
            if op.tag == DERIVED and len(op.results) == 1:
                found = self._simpler(op, region.dims)
                if found is not None:
                    self.same[op.result] = found
        if any(v in self.same for v in leaves(region.exit)):
            region.exit = substitute(region.exit, self.same)

    def _simpler(self, op: Op, dims: Dims) -> Any:
        """What an operation on masks, or with one, is."""
        if op.prim in AND | OR:
            a, b = op.args[:2]
            if not _alike(op.result, a, dims) or not _alike(op.result, b, dims) or op.kwargs:
                return None
            if op.prim in OR and (_is_opposite(a, b) or _is_opposite(b, a)):
                self.full.add(op.result)
            if a is b:
                return a
            # ``a | (a & b)`` and ``a & (a | b)`` are a.
            for one, other in ((a, b), (b, a)):
                if other.op is not None and other.op.prim in (AND if op.prim in OR else OR) and one in other.op.args:
                    return one
                if one in self.full:
                    return other if op.prim in AND else one
        elif op.prim is SET and op.args[2] is True and same_dtype(op.result.type.dtype, np.dtype(bool)):
            if _covers(op):
                self.full.add(op.result)
        elif op.prim is WHERE and op.args[0] in self.full and _alike(op.result, op.args[1], dims):
            return op.args[1]
        return None

    def _without(self, x: Any, mask: Value, region: Region, depth: int) -> Any:
        """The operand of a mask, computed from what was not masked by the same one before."""
        if type(x) is not Value or x.op is None or depth == 0 or x.op.tag != DERIVED:
            return x
        op = x.op
        if op.prim is WHERE and op.args[0] is mask and _is_zero(op.args[2]) and _alike(x, op.args[1], region.dims):
            return self._without(op.args[1], mask, region, depth - 1)
        if op.prim in _ELEMENTWISE and op.parent is region and self._only_through(x, mask, DEEP):
            args = [self._without(a, mask, region, depth - 1) for a in op.args]
            op.args = tuple(args)
        return x

    def _only_through(self, x: Value, mask: Value, depth: int) -> bool:
        """All that reads a value reads it through the mask, or computes with it what is read so."""
        return depth > 0 and all(
            isinstance(user, Op)
            and user.tag == DERIVED
            and (
                (user.prim is WHERE and user.args[0] is mask and _is_zero(user.args[2]))
                or (
                    user.prim in _ELEMENTWISE
                    and user.parent is not None
                    and _alike(user.result, x, user.parent.dims)
                    and self._only_through(user.result, mask, depth - 1)
                )
            )
            for user in self.uses.get(x, ())
        )


def _is_opposite(a: Any, b: Any) -> bool:
    """The second mask is true where the first one is not."""
    op = b.op if type(b) is Value else None
    return op is not None and op.prim is PRIMS[np.logical_not] and op.args[0] is a and not op.kwargs


def _choice(op: Op, region: Region, uses: dict[Value, list[Op | Region]]) -> Value | None:
    """One choice for the sum of what a mask leaves and of what its opposite leaves, if nothing else reads these."""
    parts = [_masked(x, op.result, region.dims, uses, DEEP) for x in op.args[:2]]
    first, second = parts
    if first is None or second is None or len(op.args) != 2:
        return None
    if op.prim is SUB:
        second = (second[0], [-1.0, *second[1]])
    if _is_opposite(second[0], first[0]):
        first, second = second, first
    if not _is_opposite(first[0], second[0]):
        return None
    made: list[Op] = []
    products = []
    for _, factors in (first, second):
        product: Any = 1.0
        for x in factors:
            if type(product) is float and (type(x) is float or product == 1.0):
                product = x if product == 1.0 else product * x
            elif type(product) is float and product == -1.0:
                made.append(derived(region, NEG, x, loc=op.loc))
                product = made[-1].result
            else:
                made.append(derived(region, MUL, product, x, loc=op.loc))
                product = made[-1].result
        products.append(product)
    made.append(derived(region, WHERE, first[0], *products, loc=op.loc))
    if not _alike(op.result, made[-1].result, region.dims):
        return None
    at = region.ops.index(op)
    region.ops[at:at] = made
    return made[-1].result


def _masked(
    x: Any, like: Value, dims: Dims, uses: dict[Value, list[Op | Region]], depth: int
) -> tuple[Value, list[Any]] | None:
    """A mask and the factors of what it leaves, each an array or a number. What is one number everywhere is a number,
    as the mask has the shape."""
    op = x.op if type(x) is Value and depth else None
    if op is None or op.tag != DERIVED or op.kwargs or len(uses.get(x, ())) != 1 or not _alike(like, x, dims):
        return None
    if op.prim is WHERE and _is_zero(op.args[2]) and _has_shape(op.args[0], like, dims):
        return op.args[0], [_plain(op.args[1], like)]
    if op.prim is NEG:
        inner = _masked(op.args[0], like, dims, uses, depth - 1)
        return None if inner is None else (inner[0], [-1.0, *inner[1]])
    if op.prim is not MUL:
        return None
    for a, b in (op.args, op.args[::-1]):
        if type(b) is Value and b.type.dtype == np.dtype(bool) and _has_shape(b, like, dims):
            return b, [_plain(a, like)]
        inner = _masked(a, like, dims, uses, depth - 1)
        if inner is not None:
            return inner[0], [*inner[1], _plain(b, like)]
    return None


def _plain(x: Any, like: Value) -> Any:
    """The number that an array of this dtype is made of."""
    op = x.op if type(x) is Value else None
    if op is not None and op.prim is SPREAD and like.type.dtype == np.float64:
        t = type_of(op.args[0])
        if t.is_scalar and t.dtype == np.float64:
            return op.args[0]
    return x


def _has_shape(mask: Any, like: Value, dims: Dims) -> bool:
    have, want = type_of(mask).dims, like.type.dims
    return have is not None and want is not None and len(have) == len(want) and all(map(dims.same, have, want))


def _number(x: Any) -> float | None:
    """The number that is the same everywhere in an array."""
    spread = type(x) is Value and x.op is not None and x.op.prim is SPREAD and type(x.op.args[0]) is float
    return x.op.args[0] if spread else None


def _is_zero(x: Any) -> bool:
    return type(x) is float and x == 0.0


def _alike(a: Value, b: Any, dims: Dims) -> bool:
    """They are arrays of one shape and dtype."""
    if type(b) is not Value or a.type.kind != "array" or b.type.kind != "array" or not a.type.dims or not b.type.dims:
        return False
    same = len(a.type.dims) == len(b.type.dims) and all(map(dims.same, a.type.dims, b.type.dims))
    return same and same_dtype(a.type.dtype, b.type.dtype)


def _covers(store: Op) -> bool:
    """With the stores before it, it has put the same into all of an array."""
    paths: list[Any] = []
    op: Op | None = store
    while op is not None and op.prim is SET and op.args[2] is True:
        paths.append(op.args[1])
        base = op.args[0]
        op = base.op if type(base) is Value else None
    return make_up_all(paths)


__all__ = ["simplify_masks"]
