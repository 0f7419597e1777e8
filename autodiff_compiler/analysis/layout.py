"""Which products of matrices ``a.dot(b)`` computes bit by bit as ``a @ b`` does: those of arrays that lie in one piece.

Takes a function, and which of its parameters are arrays in C order. Tags the products in loops for which that shows
that both operands are in C order, or are the transpose of a matrix that is. Gives the parameters that have to be so.

Of operands that lie in one piece, NumPy hands both forms to one function of the BLAS with the same arguments, and
`dot` starts in a third of the time. Of others, `dot` makes a copy first, and the last digits may differ. An axis of
length one is another case in each of them.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> def f(w, x):
...     for _ in range(9):
...         x = np.tanh(w @ x)
...     return x.sum()
>>> fn = lower(f, (np.ones((3, 3)), np.ones(3)), {}).function
>>> sorted(tag_products(fn, [0, 1])), sorted(tag_products(fn, [0]))
([0, 1], [])
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..ir.core import COMPACT, IF, LOOP, Function, Op, Region, Value, type_of
from ..ir.opset import COPY, GET, STORES
from ..ir.rewrite import enclosing
from ..ir.roles import IN_C_ORDER, KEEP_C_ORDER

# What they give for matrices is in C order.
_OF_MATRICES = frozenset({"@", "np.matmul", "np.linalg.solve", "np.linalg.inv", "np.linalg.cholesky"})
TURN = ("transpose", None)
Known = dict[Value, frozenset[int]]  # the arrays in C order, each with the parameters that have to be so


def tag_products(fn: Function, ordered: Iterable[int]) -> frozenset[int]:
    """Tag products in loops as `COMPACT`. Gives the parameters, by number, of which that takes C order for granted."""
    products = [op for op in fn.body.walk() if _may_be_tagged(op)]
    if not products:
        return frozenset()
    known: Known = {fn.params[k]: frozenset((k,)) for k in ordered}
    _Walk(known).region(fn.body)
    needed: frozenset[int] = frozenset()
    for op in products:
        found = [_whole(x, known) for x in op.args]
        if None not in found:
            op.tag = COMPACT
            needed = needed.union(*filter(None, found))
    return needed


def _may_be_tagged(op: Op) -> bool:
    if op.prim.fn not in (operator.matmul, np.matmul) or op.tag is not None or len(op.args) != 2 or op.kwargs:
        return False
    if op.checks:  # whether the lengths agree: the errors differ
        return False
    x, y = map(type_of, op.args)
    return (
        op.parent is not None
        and x.dtype == y.dtype
        and x.dtype in (np.float64, np.float32)
        and all(_is_long(t, op.parent) for t in (x, y))
        and any(region.op is not None and region.op.prim is LOOP for region in enclosing(op.parent))
    )


def _is_long(t: Any, region: Region) -> bool:
    """A vector or a matrix, none of whose axes has length zero or one."""
    if t.kind != "array" or t.duck is not None or not t.dims or len(t.dims) > 2:
        return False
    lengths = [region.dims.find(d) for d in t.dims]
    return all(n > 1 if isinstance(n, int) else region.dims.not_one(n) for n in lengths)


def _whole(x: Value, known: Known) -> frozenset[int] | None:
    if x in known or x.op is None or x.op.prim is not GET:
        return known.get(x)
    base, path = x.op.args
    turned = path[-1] == TURN and x.type.ndim == 2 and _keeps_order(path[:-1])
    return known.get(base) if turned else None


class _Walk:
    def __init__(self, known: Known):
        self.known = known

    def region(self, region: Region) -> None:
        for op in region.ops:
            if op.prim is LOOP:
                self.loop(op)
            elif op.prim is IF:
                for arm in op.regions:
                    self.region(arm)
                for r, *values in zip(op.results, *[arm.exit for arm in op.regions]):
                    self.note(r, self.all(values))
            else:
                for inner in op.regions:
                    self.region(inner)
                if len(op.results) == 1 and op.result.type.kind == "array" and not op.regions:
                    self.note(op.result, self.made(op))

    def loop(self, op: Op) -> None:
        """What a loop carries is in C order if its first value is, and what each iteration makes of such values."""
        (body,) = op.regions
        carried = body.params[1:]
        for p, init in zip(carried, op.inits):
            self.note(p, self.all([init]))
        while True:
            self.region(body)
            joined = [self.all([p, out]) for p, out in zip(carried, body.exit[1:])]
            if joined == [self.known.get(p) for p in carried]:
                break
            for p, fact in zip(carried, joined):
                self.note(p, fact)
        for r, p in zip(op.carried, carried):
            self.note(r, self.known.get(p))

    def note(self, v: Value, fact: frozenset[int] | None) -> None:
        if fact is None:
            self.known.pop(v, None)
        else:
            self.known[v] = fact

    def all(self, values: Iterable[Any]) -> frozenset[int] | None:
        """All of these arrays are in C order; constants, and values of other kinds, are not."""
        out: frozenset[int] = frozenset()
        for v in values:
            fact = self.known.get(v) if type(v) is Value else None
            if fact is None:
                return None
            out |= fact
        return out

    def made(self, op: Op) -> frozenset[int] | None:
        prim, t = op.prim, op.result.type
        if prim is GET:
            return self.all(op.args[:1]) if _keeps_order(op.args[1]) else None
        if prim in STORES:
            return self.all(op.args[:1])
        asks = any(type(a) is str and a in ("F", "A", "K") for a in (*op.args, *op.kwargs.values()))
        if prim.alias != "fresh" or prim.effects or asks or t.duck is not None:
            return None
        arrays = [v for v in op.operands() if not v.type.is_scalar]
        of_matrices = prim.name in _OF_MATRICES and all((v.type.ndim or 9) <= 2 for v in arrays)
        if t.ndim == 1 or of_matrices or prim is COPY or prim.name in IN_C_ORDER:
            return frozenset()
        return self.all(map(_cut_from, arrays)) if prim.elementwise or prim.name in KEEP_C_ORDER else None


def _cut_from(v: Value) -> Value:
    """The array from which this one is cut out, with the axes in the order that they had."""
    while v.op is not None and v.op.prim is GET:
        for kind, items, *_ in v.op.args[1]:
            if kind != "index" or not all(_is_int(i) or (type(i) is slice and _goes_forward(i)) for i in items):
                return v
        v = v.op.args[0]
    return v


def _goes_forward(part: slice) -> bool:
    return part.step is None or (type(part.step) is int and part.step > 0)


def _keeps_order(path: tuple[Any, ...]) -> bool:
    """The part lies in one piece if the whole does: leading numbers, then one slice, then all."""
    for kind, items, *_ in path:
        if kind != "index":
            return False
        cut = False
        for item in items:
            if type(item) is slice:
                whole = item.start is None and item.stop is None and item.step is None
                if not whole and (cut or not (item.step is None or (type(item.step) is int and item.step == 1))):
                    return False
                cut = True
            elif cut or not _is_int(item):
                return False
    return True


def _is_int(item: Any) -> bool:
    t = type_of(item)
    return type(item) is not bool and t.is_scalar and t.dtype is not None and t.dtype.kind in "iu"
