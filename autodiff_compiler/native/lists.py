"""The lowering of lists. One of numbers of one type is a buffer that grows, and how many items it has; for those of
arrays, see `native.array_lists`.

Stores are in place, as the pass of that name allows. Each version of a list has a name of its own for its length, as a
number has; the buffer goes by one name, unless a loop or a branch carries it. An empty list gets its buffer when its
items have a type: where something is appended, or where a loop takes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import runtime
from ..ir import opset
from ..ir.core import UNDEF, Op, Value
from ..ir.types import Ty
from . import array_lists
from .array_lists import Arrays
from .fusion import nested
from .lowering import Lowering, handles
from .nest import BOOL, F8, INDEX, Alloc, Bind, Call, Const, Expr, For, Grow, Increase, Load, Name, Set, Stmt, Store
from .numbers import LOADED, WHOLE, NotNative, Number, beyond, index_of, to
from .views import ONE, ZERO, View, at_least_zero, minus, plus, times, whole

SHORT = 16  # how many places a buffer has at first


@dataclass(frozen=True, slots=True)
class Items:
    """A list. An empty one whose items have no type yet has no buffer.

    kind: of the items, see `numbers.Number`
    """

    buffer: str
    length: Expr
    dtype: np.dtype[Any] | None = None
    kind: str = "?"

    def item(self, at: Expr) -> Number:
        assert self.dtype is not None
        bits = WHOLE if self.kind == "py" and self.dtype == INDEX else 64
        return Number(Load(self.buffer, (at,), self.dtype), self.dtype, self.kind, bits)


EMPTY = Items("", ZERO)


def is_list(self: Lowering, x: Any) -> bool:
    return type(x) is Value and isinstance(self.values.get(x), (Items, Arrays))


def _typed(t: Ty | None) -> tuple[np.dtype[Any], str]:
    """The dtype and the kind of items of a type."""
    if (
        t is None
        or t.dtype is None
        or t.dims != ()
        or t.kind not in ("py", "generic", "scalar")
        or t.dtype not in LOADED
    ):
        raise NotNative(f"a list of {'items of no type' if t is None else t}")
    assert t.dtype is not None
    return t.dtype, {"py": "py", "generic": "np"}.get(t.kind, "?")


def _made(self: Lowering, hint: str, t: Ty | None, room: Expr, length: Expr) -> Items:
    dtype, kind = _typed(t)
    name = self.fresh(hint or "items")
    self.emit(Alloc(name, dtype, (room,)))
    return Items(name, length, dtype, kind)


def _of(self: Lowering, x: Any, op: Op) -> Items | Arrays:
    found = self.values.get(x) if type(x) is Value else None
    if not isinstance(found, (Items, Arrays)):
        raise NotNative(f"{op.prim.name} of what is no list of numbers or arrays", op)
    return found


def _stored(self: Lowering, found: Items, v: Any, op: Op) -> Expr:
    """A number as an item."""
    if self.is_array(v):
        raise NotNative("a list of arrays", op)
    n = self.number(v)
    if n.dtype != found.dtype or (n.kind != found.kind and found.kind != "?"):
        raise NotNative("a list of numbers of several types", op)
    if n.is_python and n.dtype == INDEX and n.bits > WHOLE:
        self.check_once(beyond(n.expr, WHOLE))
    return n.expr


@handles(opset.LIST_NEW, runtime.unstack)
def _new(self: Lowering, op: Op) -> None:
    (items,) = op.args
    if type(items) is Value:
        if self.is_array(items):
            view = self.view(items)
            if len(view.shape) != 1:
                raise NotNative("a list of arrays", op)
            copy = self.copied(view, items)
            self.values[op.result] = Items(copy.buffer, copy.shape[0], copy.dtype, "np")
            return
        self.values[op.result] = _picked(self, op.result.hint, _of(self, items, op))
        return
    if not items:
        self.values[op.result] = EMPTY
        return
    if any(self.is_array(x) for x in items):
        self.values[op.result] = array_lists.new(self, op.result.hint, op.result.type.elem, tuple(items))
        return
    count = Const(len(items), INDEX)
    made = _made(self, op.result.hint, op.result.type.elem, Const(max(len(items), SHORT), INDEX), count)
    for k, x in enumerate(items):
        self.emit(Store(made.buffer, (Const(k, INDEX),), _stored(self, made, x, op)))
    self.values[op.result] = made


def _picked(
    self: Lowering, hint: str, found: Items | Arrays, start: Expr = ZERO, count: Expr | None = None, step: int = 1
) -> Items | Arrays:
    """A list of its own, of `count` items, all by default."""
    if found.dtype is None:
        return found
    count = found.length if count is None else self.named(count, "n")
    if isinstance(found, Arrays):
        return array_lists.picked(self, hint, found, start, count, step)
    out = self.fresh(hint or "items")
    self.emit(Alloc(out, found.dtype, (plus(count, ONE),)))
    i = Name(self.fresh("i"), INDEX)
    at: Expr = i if step == 1 else Call("mul", (i, Const(step, INDEX)), INDEX)
    at = at if start == ZERO else Call("add", (at, start), INDEX)
    self.frame.block += nested([i], [count], [Store(out, (i,), Load(found.buffer, (at,), found.dtype))])
    return replace(found, buffer=out, length=count)


@handles(opset.LIST_APPEND)
def _append(self: Lowering, op: Op) -> None:
    l, v = op.args
    found = _of(self, l, op)
    if found.dtype is None and self.is_array(v):
        found = array_lists.new(self, op.result.hint, op.result.type.elem)
    elif found.dtype is None:
        found = _made(self, op.result.hint, op.result.type.elem, Const(SHORT, INDEX), ZERO)
    if isinstance(found, Arrays):
        self.values[op.result] = array_lists.append(self, found, v)
        return
    e = _stored(self, found, v, op)
    after = self.fresh(f"{found.buffer}_len")
    self.emit(Grow(found.buffer, plus(found.length, ONE)))
    self.emit(Store(found.buffer, (found.length,), e))
    self.emit(Set(after, plus(found.length, ONE)))
    self.values[op.result] = replace(found, length=Name(after, INDEX))


@handles(opset.LIST_GET)
def _get(self: Lowering, op: Op) -> None:
    l, i = op.args
    found = _of(self, l, op)
    at = self.within(i, found.length)
    if found.dtype is None:
        raise NotNative("an item of an empty list", op)
    if isinstance(found, Arrays):
        array_lists.get(self, op, found, at)
        return
    self.give(op, found.item(at))


@handles(opset.LIST_SET, opset.LIST_ADDAT)
def _set(self: Lowering, op: Op) -> None:
    l, i, v = op.args
    found = _of(self, l, op)
    adds = op.prim is opset.LIST_ADDAT
    if found.dtype is None:
        raise NotNative("an item of an empty list", op)
    at = self.within(i, found.length)
    if isinstance(found, Arrays):
        self.values[op.result] = (array_lists.addat if adds else array_lists.put)(self, found, at, v)
        return
    if adds:
        n = self.number(v)
        if n.dtype.kind == "c" != found.dtype.kind:
            raise NotNative("a list of numbers of several types", op)
        self.emit(Increase(found.buffer, (at,), to(n, found.dtype)))
        self.values[op.result] = replace(found, kind=found.kind if n.kind == found.kind else "?")
        return
    self.emit(Store(found.buffer, (at,), _stored(self, found, v, op)))
    self.values[op.result] = found


@handles(opset.LIST_DROP)
def _drop(self: Lowering, op: Op) -> None:
    found = _of(self, op.args[0], op)
    if type(op.args[1]) is not int or op.args[1] != -1:
        raise NotNative("del of an item that is not the last", op)
    at = self.within(-1, found.length)
    if isinstance(found, Arrays):
        self.values[op.result] = array_lists.drop(self, found)
        return
    after = self.fresh(f"{found.buffer or 'items'}_len")
    self.emit(Set(after, at))
    self.values[op.result] = replace(found, length=Name(after, INDEX))


@handles(opset.LIST_SPLICE)
def _extend(self: Lowering, op: Op) -> None:
    l, i, new = op.args
    found, more = _of(self, l, op), _of(self, new, op)
    if i is not None:
        raise NotNative("items that are put in front of others", op)
    if found.dtype is None or more.dtype is None:
        self.values[op.result] = found if more.dtype is None else _picked(self, op.result.hint, more)
        return
    n, k = self.named(more.length, "n"), Name(self.fresh("k"), INDEX)
    if isinstance(found, Arrays) and isinstance(more, Arrays):
        self.values[op.result] = array_lists.extend(self, found, more, n)
        return
    if isinstance(found, Arrays) or isinstance(more, Arrays) or (found.dtype, found.kind) != (more.dtype, more.kind):
        raise NotNative("a list of several types", op)
    after = self.fresh(f"{found.buffer}_len")
    self.emit(Grow(found.buffer, plus(found.length, n)))
    at = Call("add", (found.length, k), INDEX)
    self.emit(For(k.name, ZERO, n, 1, [Store(found.buffer, (at,), more.item(k).expr)]))
    self.emit(Set(after, plus(found.length, n)))
    self.values[op.result] = replace(found, length=Name(after, INDEX))


@handles(opset.LIST_SLICE)
def _slice(self: Lowering, op: Op) -> None:
    l, start, stop, step = op.args
    found = _of(self, l, op)
    self.values[op.result] = _picked(self, op.result.hint, found, *_range_of(self, op, found.length, start, stop, step))


def _range_of(self: Lowering, op: Op, n: Expr, start: Any, stop: Any, step: Any) -> tuple[Expr, Expr, int]:
    """The first position of a slice of a list of `n` items, how many there are, and the step."""
    by = 1 if step is None else step
    if type(by) is not int or by < 1:
        raise NotNative("a slice of a list with a step that is not written as a positive number", op)
    low = ZERO if start is None else self.clipped(start, n)
    high = n if stop is None else self.clipped(stop, n)
    count = at_least_zero(minus(high, low))
    if by > 1:
        count = Call("floordiv", (plus(count, Const(by - 1, INDEX)), Const(by, INDEX)), INDEX)
    return low, self.named(count, "n"), by


@handles(opset.LIST_ADDSLICE)
def _add_slice(self: Lowering, op: Op) -> None:
    l, start, stop, step, g = op.args
    found, more = _of(self, l, op), _of(self, g, op)
    low, count, by = _range_of(self, op, found.length, start, stop, step)
    if found.dtype is None or found.dtype != more.dtype or type(found) is not type(more):
        raise NotNative("a list of several types", op)
    self.want_equal(count, more.length)
    k = Name(self.fresh("k"), INDEX)
    at = plus(k if by == 1 else Call("mul", (k, Const(by, INDEX)), INDEX), low)
    with self.block(is_loop=True, carried=frozenset((k.name,))) as frame:
        if isinstance(found, Arrays) and isinstance(more, Arrays):
            array_lists.add(self, found, at, array_lists.item(self, more, k))
        else:
            assert isinstance(found, Items) and isinstance(more, Items)
            self.emit(Increase(found.buffer, (at,), more.item(k).expr))
            if more.kind != found.kind:
                found = replace(found, kind="?")
    self.emit(For(k.name, ZERO, count, 1, frame.block))
    self.values[op.result] = found


def length(self: Lowering, x: Any) -> Number:
    """How many items a list has."""
    return index_of(self.values[x].length)


def kept_bytes(self: Lowering, found: Items | Arrays) -> Expr:
    """The bytes that the items take, see `runtime.kept_bytes`."""
    if isinstance(found, Arrays):
        return array_lists.kept_bytes(self, found)
    return times(found.length, 32)


def zeros(self: Lowering, op: Op, x: Any) -> None:
    """Zero cotangents for the items of a list."""
    found: Items | Arrays = self.values[x]
    if isinstance(found, Arrays):
        self.values[op.result] = array_lists.zeros(self, op.result.hint, found)
        return
    dtype = found.dtype if found.kind == "np" and found.dtype is not None and found.dtype.kind in "fc" else np.dtype(F8)
    if found.dtype is None:
        self.values[op.result] = found
        return
    out = whole(self.fresh(op.result.hint or "items"), dtype, (plus(found.length, ONE),))
    self.filled(out, lambda index: Const(dtype.type(0).item(), dtype))
    kind = "np" if found.kind == "np" and found.dtype == dtype else "?"
    self.values[op.result] = Items(out.buffer, found.length, dtype, kind)


def copy(self: Lowering, op: Op, x: Any) -> None:
    self.values[op.result] = _picked(self, op.result.hint, self.values[x])


def as_array(self: Lowering, op: Op, x: Any, dtype: np.dtype[Any] | None) -> View:
    """An array of the items of a list."""
    found: Items | Arrays = self.values[x]
    if isinstance(found, Arrays):
        raise NotNative("an array of a list of arrays", op)
    if found.dtype is None:
        raise NotNative("an array of an empty list", op)
    wanted = found.dtype if dtype is None else dtype
    if wanted != found.dtype and wanted.kind != "f":
        raise NotNative(f"a list as an array of {wanted}", op)
    if found.kind == "?" and found.dtype not in (INDEX, F8) and found.dtype.kind != "b":
        raise NotNative("a list of numbers that may be Python's or NumPy's", op)
    if found.kind == "py" or dtype is None or wanted != found.dtype:
        # Of no items, NumPy makes an array of floats.
        self.check_once(_is_empty(found.length))
    out = whole(self.fresh(op.result.hint or "items"), wanted, [self.named(found.length, "n")])
    return self.filled(out, lambda index: to(found.item(index[0]), wanted))


def _is_empty(n: Expr) -> Expr:
    return Call("eq", (n, ZERO), BOOL)


# --- loops and branches -----------------------------------------------------------------------------------------------


def carried(self: Lowering, p: Value, init: Value) -> list[str]:
    """The names of a list that a loop carries, which take their first values."""
    found: Items | Arrays = self.values[init]
    if p.type.kind != "list":
        raise NotNative(f"a list that a loop carries as {p.type}")
    if found.dtype is None and array_lists.kind_of(p.type.elem) is not None:
        found = array_lists.new(self, p.hint, p.type.elem)
    if isinstance(found, Arrays):
        return array_lists.carried(self, p, found)
    dtype, kind = _typed(p.type.elem)
    if found.dtype is None:
        found = _made(self, p.hint, p.type.elem, Const(SHORT, INDEX), ZERO)
    if found.dtype != dtype or (found.kind != kind and kind != "?"):
        raise NotNative("a list whose type changes in a loop")
    name = self.fresh(p.hint or "items")
    count = self.fresh(f"{name}_len")
    self.emit(Bind(name, found.buffer))
    self.emit(Set(count, found.length))
    self.values[p] = Items(name, Name(count, INDEX), dtype, kind)
    return [name, count]


def next_values(self: Lowering, p: Value, x: Any) -> list[tuple[str, Expr | str]]:
    """The names of a list that a loop carries, and what they are in the next iteration."""
    found: Items | Arrays = self.values[p]
    end = self.values.get(x) if type(x) is Value else None
    if isinstance(found, Arrays):
        return array_lists.next_values(self, found, None if end == EMPTY else end)
    if not isinstance(end, Items) or (end.kind != found.kind and found.kind != "?"):
        raise NotNative("a list whose type changes in a loop")
    if end.dtype is None:
        assert found.dtype is not None
        new = self.fresh("items")
        self.emit(Alloc(new, found.dtype, (Const(SHORT, INDEX),)))
        end = replace(end, buffer=new, dtype=found.dtype)
    if end.dtype != found.dtype or not isinstance(found.length, Name):
        raise NotNative("a list whose type changes in a loop")
    return [(found.buffer, end.buffer), (found.length.name, end.length)]


def joined(self: Lowering, r: Value, both: list[Any], blocks: list[list[Stmt]]) -> Items | Arrays:
    """The list that a branch gives. It is empty on a side that gives nothing, since nothing reads it there."""
    both = [None if x is UNDEF or x == EMPTY else x for x in both]
    there = [x for x in both if x is not None]
    if not there:
        return EMPTY
    if all(isinstance(x, Arrays) for x in there):
        return array_lists.joined(self, r, both, blocks)
    kinds = {(x.dtype, x.kind) for x in there if isinstance(x, Items)}
    if len(kinds) != 1 or not all(isinstance(x, Items) for x in there):
        raise NotNative("lists of two types that a branch gives")
    ((dtype, kind),) = kinds
    assert dtype is not None
    name = self.fresh(r.hint or "items")
    count = self.fresh(f"{name}_len")
    for block, x in zip(blocks, both):
        if x is None:
            block += [Alloc(name, dtype, (Const(SHORT, INDEX),)), Set(count, ZERO)]
        else:
            block += [Bind(name, x.buffer), Set(count, x.length)]
    return Items(name, Name(count, INDEX), dtype, kind)


__all__ = ["Arrays", "Items", "as_array", "carried", "copy", "is_list", "joined", "length", "next_values", "zeros"]
