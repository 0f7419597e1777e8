"""The lowering of NumPy's functions that are not computed element by element."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..ir import opset
from ..ir.core import Op, Value
from . import lists
from .fusion import Nest, element_as
from .lowering import Absent, Lowering, handles
from .nest import BOOL, F8, INDEX, AddProduct, Alloc, Call, Const, Load, Store
from .numbers import DTYPES, RULES, NotNative, Number, stored, to
from .views import ONE, ZERO, View, at_least_zero, minus, plus, product, whole


def arguments(op: Op, *names: str) -> list[Any]:
    """The operands of an operation by these names; None for what is not given. Others are refused."""
    given = dict(zip(names, op.args))
    extra = [k for k in op.kwargs if k not in names and op.kwargs[k] is not None]
    if len(op.args) > len(names) or extra:
        raise NotNative(f"{op.prim.name} with {', '.join(extra) or 'more operands'}", op)
    given.update(op.kwargs)
    return [given.get(name) for name in names]


def axes_of(axis: Any, op: Op) -> tuple[int, ...] | None:
    if axis is None:
        return None
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not all(type(k) is int for k in axes):
        raise NotNative(f"{op.prim.name} over an axis that only the run tells", op)
    return axes


# --- reductions -------------------------------------------------------------------------------------------------------


def _summed(self: Lowering, op: Op) -> Any:
    x, axis, keepdims = arguments(op, "a", "axis", "keepdims")
    if not self.is_array(x):
        raise NotNative(f"{op.prim.name} of a number", op)
    dtype = self.dtype(x)
    if dtype.kind in "bi":
        dtype = INDEX
    if dtype not in DTYPES:
        raise NotNative(f"{op.prim.name} of {dtype}", op)
    return x, axes_of(axis, op), bool(keepdims), dtype


@handles(np.sum)
def _sum(self: Lowering, op: Op) -> None:
    x, axes, keepdims, dtype = _summed(self, op)
    self.reduce(op, [x], element_as(x, dtype), dtype, "sum", axes, keepdims)


@handles(np.mean)
def _mean(self: Lowering, op: Op) -> None:
    x, axes, keepdims, dtype = _summed(self, op)
    if dtype.kind not in "fc":
        dtype = F8
    shape = self.shape(x)
    over = range(len(shape)) if axes is None else [k % len(shape) for k in axes]
    size = Number(self.named(product([shape[k] for k in over]), "size"), INDEX)
    count = to(size, dtype)

    def divided(n: Number) -> Number:
        return Number(Call("div", (n.expr, count), dtype), dtype)

    self.reduce(op, [x], element_as(x, dtype), dtype, "sum", axes, keepdims, divided)
    if len(set(over)) < len(shape):  # else the number is divided
        self.flush()
        view = self.values[op.result]
        done = whole(self.fresh(op.result.hint or "mean"), dtype, view.shape)
        self.filled(done, lambda index: Call("div", (view.element(index), count), dtype))
        self.values[op.result] = done


def _extreme(how: str) -> Any:
    def handler(self: Lowering, op: Op) -> None:
        x, axis, keepdims = arguments(op, "a", "axis", "keepdims")
        if not self.is_array(x):
            raise NotNative(f"{op.prim.name} of a number", op)
        dtype = self.dtype(x)
        self.reduce(op, [x], element_as(x, dtype), dtype, how, axes_of(axis, op), bool(keepdims))

    return handler


handles(np.max)(_extreme("maximum"))
handles(np.min)(_extreme("minimum"))


# --- products ---------------------------------------------------------------------------------------------------------


@handles(operator.matmul, np.dot, np.matmul)
def _product(self: Lowering, op: Op) -> None:
    if op.kwargs or len(op.args) != 2:
        raise NotNative(f"{op.prim.name} with more operands", op)
    x, y = op.args
    if not (self.is_array(x) and self.is_array(y)):
        if op.prim.name == "np.dot":
            self.elementwise(op, op.args, RULES[_MUL])
            return
        raise NotNative("a product of numbers", op)
    shapes = [self.shape(x), self.shape(y)]
    dtypes = {self.dtype(x), self.dtype(y)}
    ranks = [len(s) for s in shapes]
    if len(dtypes) > 1 or not all(d.kind in ("fc" if ranks == [1, 1] else "f") for d in dtypes):
        raise NotNative("a product of arrays of other dtypes than one of floats", op)
    (dtype,) = dtypes
    if ranks == [1, 1]:
        self.want_equal(shapes[0][0], shapes[1][0])
        self.reduce(op, [x, y], lambda nest: RULES[_MUL](nest.guard, nest.get(x), nest.get(y)), dtype, "sum", None)
        return
    if max(ranks) > 2:
        raise NotNative("a product of stacks of matrices", op)
    self.flush()
    inner = shapes[1][0]
    self.want_equal(shapes[0][-1], inner)
    sides, flipped = [], []
    for arg in (x, y):
        view = self.view(arg)
        turned = len(view.shape) == 2 and not view.is_dense and view.transposed(None).is_dense
        sides.append(self.buffer_of(view.transposed(None)) if turned else self.dense(arg))
        flipped.append(turned)
    lengths = (*shapes[0][:-1], *shapes[1][1:])
    into = _added_to(self, op, lengths)
    if into is None:
        lengths = tuple([self.named(n, "n") for n in lengths])
        into = whole(self.fresh(op.result.hint), dtype, lengths)
        self.emit(Alloc(into.buffer, dtype, lengths, 0.0))
        self.values[op.result] = into
    else:
        self.values[op.result] = Absent(dtype, lengths)
        self.added.add(op.result)
    self.emit(AddProduct(into.buffer, sides[0], sides[1], (flipped[0], flipped[1])))


def _added_to(self: Lowering, op: Op, lengths: tuple[Any, ...]) -> View | None:
    """The buffer that a product is added to by the next operation, if it is for nothing else."""
    assert op.parent is not None
    ops, users = op.parent.ops, self.uses.get(op.result, [])
    if len(users) != 1 or users[0] not in ops[ops.index(op) + 1 :][:1]:
        return None
    (user,) = users
    if not isinstance(user, Op) or user.prim is not opset.ACCUM or user.args[1] is not op.result:
        return None
    base = user.args[0]
    found = self.values.get(base)
    if self.is_waiting(base) or not isinstance(found, View) or not found.is_whole:
        return None
    if found.dtype != self.dtype(op.args[0]):
        return None
    if any(type(arg) is Value and self.may_share(base, arg) for arg in op.args) or len(found.shape) != len(lengths):
        return None
    if not all(map(self.equal, found.shape, lengths)):
        return None
    return found


_MUL = next(prim for prim in RULES if prim.name == "*")


@handles(np.outer)
def _outer(self: Lowering, op: Op) -> None:
    x, y = arguments(op, "a", "b")
    if not (self.is_array(x) and self.is_array(y)) or len(self.shape(x)) != 1 or len(self.shape(y)) != 1:
        raise NotNative("np.outer of other than two vectors", op)
    column = self.subscripts.subscripted(self.view(x), [slice(None), None])
    row = self.view(y)
    shape = (column.shape[0], row.shape[0])
    dtype = np.result_type(column.dtype, row.dtype)

    def make(nest: Nest) -> Number:
        a, b = (Number(v.element(nest.index), v.dtype) for v in (column, row))
        return RULES[_MUL](nest.guard, a, b)

    self.add_element(op, shape, [x, y], make, dtype)


# --- making arrays ----------------------------------------------------------------------------------------------------


def _filled(fill: Any) -> Any:
    def handler(self: Lowering, op: Op) -> None:
        shape, dtype = arguments(op, "shape", "dtype")
        self.new(op, self.lengths(shape), _dtype_of(op, dtype), fill)

    return handler


def _dtype_of(op: Op, dtype: Any, default: np.dtype[Any] = F8) -> np.dtype[Any]:
    if dtype is None:
        return default
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        raise NotNative("a dtype that only the run tells", op) from None
    if found not in DTYPES:
        raise NotNative(f"an array of {found}", op)
    return found


handles(np.zeros)(_filled(0.0))
handles(np.ones)(_filled(1.0))
handles(np.empty)(_filled(None))


def _filled_like(fill: Any) -> Any:
    def handler(self: Lowering, op: Op) -> None:
        x, dtype = arguments(op, "a", "dtype")
        if not self.is_array(x):
            raise NotNative(f"{op.prim.name} of a number", op)
        found = _dtype_of(op, dtype, self.dtype(x))
        self.new(op, self.shape(x), found, fill if fill is None else found.type(fill).item())

    return handler


handles(np.zeros_like)(_filled_like(0))
handles(np.ones_like)(_filled_like(1))
handles(np.empty_like)(_filled_like(None))


@handles(np.full)
def _full(self: Lowering, op: Op) -> None:
    shape, value, dtype = arguments(op, "shape", "fill_value", "dtype")
    if self.is_array(value):
        raise NotNative("np.full of an array", op)
    number = self.number(value)
    found = _dtype_of(op, dtype, number.dtype)
    lengths = tuple([self.named(n, "n") for n in self.lengths(shape)])
    if not lengths:
        raise NotNative("an array without axes", op)
    e = self.named(stored(self.check_once, number, found), "t")
    self.filled(out := whole(self.fresh(op.result.hint), found, lengths), lambda index: e)
    self.values[op.result] = out


@handles(np.arange)
def _arange(self: Lowering, op: Op) -> None:
    if op.kwargs or not op.args or len(op.args) > 2:
        raise NotNative("np.arange with a step or a dtype", op)
    start, stop = op.args if len(op.args) == 2 else (0, op.args[0])
    low, high = self.whole_number(start), self.whole_number(stop)

    n = self.named(at_least_zero(minus(high.expr, low.expr)), "n")
    out = whole(self.fresh(op.result.hint), INDEX, [n])
    self.filled(out, lambda index: plus(index[0], low.expr))
    self.values[op.result] = out


@handles(np.eye)
def _eye(self: Lowering, op: Op) -> None:
    if len(op.args) != 1 or op.kwargs:
        raise NotNative("np.eye with more than a length", op)
    (n,) = self.lengths(op.args[0])
    out = whole(self.fresh(op.result.hint), F8, [n, n])
    self.filled(out, lambda index: Call("convert", (Call("eq", (index[0], index[1]), BOOL),), F8))
    self.values[op.result] = out


# --- shapes -----------------------------------------------------------------------------------------------------------


@handles(np.copy)
def _copy_in_order(self: Lowering, op: Op) -> None:
    """Which axis is the last one in memory is for `native.layout` to decide."""
    x = op.args[0]
    if not self.is_array(x) or op.kwargs:
        raise NotNative("a copy of this", op)
    self.add_element(op, self.shape(x), [x], element_as(x, self.dtype(x)), self.dtype(x))


@handles(np.reshape)
def _reshape(self: Lowering, op: Op) -> None:
    x, shape = arguments(op, "a", "shape")
    if not self.is_array(x):
        raise NotNative("np.reshape of a number", op)
    view = self.view(x)
    self.values[op.result] = self.reshaped(view if view.is_whole else self.copied(view, x), shape)


@handles(np.transpose)
def _transpose(self: Lowering, op: Op) -> None:
    x, axes = arguments(op, "a", "axes")
    if axes is not None and not (isinstance(axes, (tuple, list)) and all(type(k) is int for k in axes)):
        raise NotNative("np.transpose with axes that only the run tells", op)
    self.values[op.result] = self.view(x).transposed(axes)


@handles(np.roll)
def _roll(self: Lowering, op: Op) -> None:
    x, shift, axis = arguments(op, "a", "shift", "axis")
    if not self.is_array(x) or (axis is not None and type(axis) is not int) or isinstance(shift, tuple):
        raise NotNative("np.roll along several axes", op)
    if axis is None and len(self.shape(x)) > 1:
        raise NotNative("np.roll of an array with several axes as one", op)
    self.settle(x)
    view = self.view(x)
    k = (axis or 0) % len(view.shape)
    n = view.shape[k]
    by = self.whole_number(shift).expr
    # from 0 to n - 1; of an axis without elements nothing is read
    rest = Call(
        "choose", (Call("eq", (n, ZERO), BOOL), ZERO, Call("mod", (by, Call("maximum", (n, ONE), INDEX)), INDEX)), INDEX
    )
    start = self.named(rest, "by")

    def make(nest: Nest) -> Number:
        at = list(nest.index)
        i = at[k]
        at[k] = Call("choose", (Call("lt", (i, start), BOOL), plus(minus(i, start), n), minus(i, start)), INDEX)
        return Number(Load(view.buffer, view.index(at), view.dtype), view.dtype)

    self.add_element(op, view.shape, [x], make, view.dtype, loose=True)


@handles(np.stack)
def _stack(self: Lowering, op: Op) -> None:
    items, axis = arguments(op, "arrays", "axis")
    if axis not in (None, 0) or not isinstance(items, (list, tuple)) or not all(self.is_array(x) for x in items):
        raise NotNative("np.stack along another axis than the first, or of numbers", op)
    dtype, first = self.dtype(items[0]), self.shape(items[0])
    if any(self.dtype(x) != dtype or len(self.shape(x)) != len(first) for x in items):
        raise NotNative("np.stack of several dtypes, or of arrays of other shapes", op)
    lengths = tuple([self.named(n, "n") for n in first])
    for x in items[1:]:
        for a, b in zip(lengths, self.shape(x)):
            self.want_equal(a, b)
    out = whole(self.fresh(op.result.hint), dtype, [Const(len(items), INDEX), *lengths])
    self.emit(Alloc(out.buffer, dtype, out.shape))
    for k, x in enumerate(items):
        row = self.subscripts.subscripted(out, [k])
        self.write(op, op.result, row, [x], lambda nest, x=x: nest.get(x))  # type: ignore[misc]
    self.values[op.result] = out


@handles(np.array)
def _array(self: Lowering, op: Op) -> None:
    items, dtype = arguments(op, "object", "dtype")
    if lists.is_list(self, items):
        self.values[op.result] = lists.as_array(self, op, items, None if dtype is None else _dtype_of(op, dtype))
        return
    if self.is_array(items):
        found = _dtype_of(op, dtype, self.dtype(items))
        self.add_element(op, self.shape(items), [items], element_as(items, found), found)
        return
    if not isinstance(items, (list, tuple)) or not items or any(isinstance(x, (list, tuple)) for x in items):
        raise NotNative("np.array of nested lists", op)

    if any(self.is_array(x) for x in items):
        raise NotNative("np.array of a list of arrays", op)
    numbers = [self.number(x) for x in items]
    found = _dtype_of(op, dtype, np.result_type(*[n.dtype for n in numbers]))  # none is weak
    out = whole(self.fresh(op.result.hint), found, [Const(len(numbers), INDEX)])
    self.emit(Alloc(out.buffer, found, out.shape))
    for k, n in enumerate(numbers):
        self.emit(Store(out.buffer, (Const(k, INDEX),), stored(self.check_once, n, found)))
    self.values[op.result] = out
