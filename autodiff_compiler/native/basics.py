"""The lowering of the operations of the SSA form itself: parts, stores, cotangents and shapes."""

from __future__ import annotations

import numpy as np

from ..ir import opset
from ..ir.core import Op, type_of
from . import gather, lists
from .fusion import cotangent_as, element_as
from .lowering import Lowering, handles
from .nest import BOOL, F8, INDEX, Call, Const, Expr, part_dtype
from .numbers import RULES, WHOLE, NotNative, Number, as_cotangent, cast, constant, index_of, truth
from .views import ONE, ZERO, at_least_zero, minus, plus, product, times

# --- parts and stores -------------------------------------------------------------------------------------------------


@handles(opset.GET)
def _get(self: Lowering, op: Op) -> None:
    base, path = op.args
    if base in self.group.values:
        self.flush()
    view = self.view(base)
    if gather.has_arrays(self, path):
        gather.get(self, op, base, path)
        return
    part = self.subscripts.part(view, path)
    if part.shape:
        self.values[op.result] = part
        return
    if any(self.may_share(base, write.base) for write in self.group.writes) or base in self.group.results:
        self.flush()
    self.give(op, Number(part.element([]), part.dtype))


@handles(opset.SET, opset.ADDAT)
def _set(self: Lowering, op: Op) -> None:
    base, path, source = op.args
    if base in self.group.values:
        self.flush()
    if gather.has_arrays(self, path):
        gather.store(self, op, base, path, source, op.prim is opset.ADDAT)
        return
    part = self.subscripts.part(self.view(base), path)
    self.store(op, base, part, source, op.prim is opset.ADDAT)


@handles(opset.ACCUM)
def _accum(self: Lowering, op: Op) -> None:
    base, v = op.args
    if v in self.added:
        self.values[op.result] = self.values[base]
        return
    if not self.is_array(base):
        self.elementwise(op, op.args, RULES[opset.ADD])
        return
    waits = base in self.group.values
    if waits and self.needed.get(base, 0) == self.group.consumed.get(base, 0) + 1:
        self.elementwise(op, op.args, RULES[opset.ADD])
        return
    self.store(op, base, self.view(base), v, True)


# --- cotangents -------------------------------------------------------------------------------------------------------


@handles(opset.SUM_TO, opset.FINISH)
def _sum_to(self: Lowering, op: Op) -> None:
    g, x = op.args
    want, have = self.shape(x), self.shape(g)
    t = type_of(x)
    dtype = t.dtype if t.dtype is not None and t.dtype.kind in "fc" else self.dtype(g)
    if t.kind == "py":
        dtype = self.dtype(g)
    if dtype.kind == "c":
        found = t.dtype or self.dtype(x)
        dtype = part_dtype(dtype) if found.kind == "f" else dtype
    if not have and not want:
        number = self.number(g)
        if t.kind == "generic" or number.dtype != dtype:
            number = Number(as_cotangent(number, dtype).expr, dtype, "np" if t.kind == "generic" else number.kind)
        self.give(op, number)
        return
    if len(have) == len(want) and all(a == ONE or b != ONE for a, b in zip(have, want)):
        for a, b in zip(have, want):
            if a != ONE:
                self.want_equal(a, b)
        same = self.dtype(g) == dtype and have == want
        if same and not self.is_waiting(g):
            self.values[op.result] = self.view(g)
            return
        self.add_element(op, want, [g], cotangent_as(g, dtype), dtype)
        return
    if len(have) < len(want):
        if have:
            raise NotNative("a cotangent with fewer axes than its argument", op)
        self.add_element(op, want, [g], cotangent_as(g, dtype), dtype)
        return
    extra = len(have) - len(want)
    axes = [*range(extra), *[extra + k for k, n in enumerate(want) if n == ONE and have[extra + k] != ONE]]
    for a, b in zip(have[extra:], want):
        if b != ONE:
            self.want_equal(a, b)
    make = cotangent_as(g, dtype)
    if not want:
        self.reduce(op, [g], make, dtype, "sum", None)
        return
    self.reduce(op, [g], make, dtype, "sum", axes, len(axes) == len(have))
    made = self.values[op.result]
    if len(made.shape) > len(want):  # all axes are of length 1 now
        self.values[op.result] = self.subscripts.subscripted(made, [0] * extra)
    elif len(made.shape) < len(want):
        ones = [n == ONE for n in want]
        self.values[op.result] = self.subscripts.subscripted(made, [None if one else slice(None) for one in ones])


@handles(opset.AS_SCALAR)
def _as_scalar(self: Lowering, op: Op) -> None:
    number = self.number(op.args[0])
    if number.dtype.kind != "f":
        raise NotNative("a result that is no float", op)
    self.give(op, number)


@handles(opset.SPREAD, opset.FULL_LIKE)
def _spread(self: Lowering, op: Op) -> None:
    g, x = op.args if op.prim is opset.SPREAD else op.args[::-1]
    shape = self.shape(x)
    if not shape:
        self.give(op, self.number(g))
        return
    have = self.shape(g)
    for a, b in zip(reversed(have), reversed(shape)):
        if a != ONE:
            self.want_equal(a, b)
    dtype = self.dtype(g)
    if type_of(g).kind in ("py", "scalar") and self.dtype(x).kind in "fc":
        dtype = np.result_type(self.dtype(x), np.complex64) if dtype.kind == "c" else self.dtype(x)
    self.add_element(op, shape, [g], element_as(g, dtype), dtype)


@handles(opset.ZEROS)
def _zeros_like(self: Lowering, op: Op) -> None:
    (x,) = op.args
    if lists.is_list(self, x):
        lists.zeros(self, op, x)
        return
    shape = self.shape(x)
    if not shape:
        t = type_of(x)
        is_own = t.kind == "generic" and t.dtype is not None and t.dtype.kind in "fc"
        dtype = t.dtype if is_own and t.dtype is not None else np.dtype(F8)
        self.give(op, Number(Const(dtype.type(0).item(), dtype), dtype, "np" if is_own else "py"))
        return
    dtype = self.dtype(x) if self.dtype(x).kind in "fc" else np.dtype(F8)
    self.new(op, shape, dtype, 0.0)


@handles(opset.CAST)
def _cast(self: Lowering, op: Op) -> None:
    g, dtype = op.args
    if not isinstance(dtype, np.dtype):
        raise NotNative("a dtype that only the run tells", op)
    self.elementwise(op, [g], lambda guard, n: cast(n, dtype))


@handles(opset.COPY, opset.CONSTANT, opset.OWN)
def _copy(self: Lowering, op: Op) -> None:
    (x,) = op.args
    if op in self.lent:
        self.values[op.result] = self.values[x]
        return
    if lists.is_list(self, x):
        lists.copy(self, op, x)
        return
    if not self.is_array(x):
        self.give(op, self.number(x))
        return
    dtype = self.dtype(x)
    self.add_element(op, self.shape(x), [x], element_as(x, dtype), dtype)


# --- shapes -----------------------------------------------------------------------------------------------------------


@handles(opset.DIM, opset.LEN)
def _dim(self: Lowering, op: Op) -> None:
    if lists.is_list(self, op.args[0]):
        self.values[op.result] = lists.length(self, op.args[0])
        return
    axis = op.args[1] if op.prim is opset.DIM else 0
    if type(axis) is not int:
        raise NotNative("an axis that only the run tells", op)
    self.values[op.result] = index_of(self.shape(op.args[0])[axis])


@handles(opset.SHAPE_OF)
def _shape_of(self: Lowering, op: Op) -> None:
    self.values[op.result] = self.shape(op.args[0])


@handles(opset.NDIM)
def _ndim(self: Lowering, op: Op) -> None:
    self.values[op.result] = constant(len(self.shape(op.args[0])))


@handles(opset.SIZE)
def _size(self: Lowering, op: Op) -> None:
    self.values[op.result] = index_of(self.named(product(self.shape(op.args[0])), "size"))


@handles(opset.RANGE_LEN)
def _range_len(self: Lowering, op: Op) -> None:
    start, stop, step = op.args
    if type(step) is not int or step == 0:
        raise NotNative("a range with a step that is not written as a number", op)
    low, high = self.whole_number(start), self.whole_number(stop)
    gap = minus(high.expr, low.expr) if step > 0 else minus(low.expr, high.expr)
    if abs(step) != 1:
        gap = Call("floordiv", (plus(gap, Const(abs(step) - 1, INDEX)), Const(abs(step), INDEX)), INDEX)
    self.give(op, index_of(at_least_zero(gap), min(max(low.bits, high.bits) + 1, WHOLE)))


@handles(opset.KEPT_BYTES)
def _kept_bytes(self: Lowering, op: Op) -> None:
    total: Expr = ZERO
    for v in op.args:
        if lists.is_list(self, v):
            total = plus(total, lists.kept_bytes(self, self.values[v]))
        elif self.is_array(v):
            size = times(product(self.shape(v)), self.dtype(v).itemsize)
            total = plus(total, plus(size, Const(128, INDEX)))
        else:
            self.number(v)
            total = plus(total, Const(32, INDEX))
    self.give(op, index_of(total))


# --- exceptions -------------------------------------------------------------------------------------------------------


@handles(opset.RAISE)
def _raise(self: Lowering, op: Op) -> None:
    self.bail(Const(True, BOOL))


@handles(opset.ASSERT)
def _assert(self: Lowering, op: Op) -> None:
    self.bail(Call("not", (truth(self.number(op.args[0])),), BOOL))
