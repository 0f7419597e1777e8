"""The lowering of lists of arrays of one dtype and one number of axes: a stack of references, and how many there are.

The shapes may differ. As for lists of numbers (`native.lists`), stores are in place, each version of a list has a name
of its own for its length, and an empty list gets its stack when its items have a type.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..ir.core import Op, Value
from ..ir.types import Ty
from .fusion import nested
from .lowering import Lowering
from .nest import F8, INDEX, Alloc, Bind, Call, Const, Expr, For, Item, Name, NewStack, Pop, Push, Put, Set, Stmt, Store
from .numbers import LOADED, NotNative
from .views import ONE, ZERO, View, differs, minus, parameter, plus, product, times, whole


@dataclass(frozen=True, slots=True)
class Arrays:
    """A list of arrays. `ones`: the axes that have one element in each."""

    buffer: str
    length: Expr
    dtype: np.dtype[Any]
    ones: tuple[bool, ...]

    @property
    def axes(self) -> int:
        return len(self.ones)


def kind_of(t: Ty | None) -> tuple[np.dtype[Any], tuple[bool, ...]] | None:
    """The dtype of the items of a type, and which of their axes have one element; None if these are no arrays."""
    if t is None or t.kind != "array" or not t.dims or t.dtype is None or t.dtype not in LOADED:
        return None
    return t.dtype, tuple([d == 1 for d in t.dims])


def new(self: Lowering, hint: str, t: Ty | None, items: tuple[Any, ...] = ()) -> Arrays:
    """A list of some arrays, of a type."""
    kind = kind_of(t)
    if kind is None:
        raise NotNative(f"a list of {t}")
    made = Arrays(self.fresh(hint or "items"), ZERO, *kind)
    self.emit(NewStack(made.buffer, made.dtype, made.axes))
    for x in items:
        made = append(self, made, x)
    return made


def _held(self: Lowering, found: Arrays, v: Any) -> str:
    """The buffer of an array that becomes an item. The list holds the array itself, as Python's does."""
    if not self.is_array(v):
        raise NotNative("a list of arrays and of what is no array")
    if self.dtype(v) != found.dtype or len(self.shape(v)) != found.axes:
        raise NotNative("a list of arrays of several types")
    name = self.dense(v)
    for is_one, n in zip(found.ones, self.shape(v)):
        if is_one:
            self.want_equal(n, ONE)
    return name


def append(self: Lowering, found: Arrays, v: Any) -> Arrays:
    self.emit(Push(found.buffer, _held(self, found, v)))
    return replace(found, length=_after(self, found, plus(found.length, ONE)))


def _after(self: Lowering, found: Arrays, length: Expr) -> Expr:
    name = self.fresh(f"{found.buffer}_len")
    self.emit(Set(name, length))
    return Name(name, INDEX)


def extend(self: Lowering, found: Arrays, more: Arrays, n: Expr) -> Arrays:
    """The same list with `n` more items, those of another one."""
    if (found.dtype, found.ones) != (more.dtype, more.ones):
        raise NotNative("a list of arrays of several types")
    self.flush()
    k, one = Name(self.fresh("k"), INDEX), self.fresh("item")
    self.emit(For(k.name, ZERO, n, 1, [Item(one, more.buffer, k), Push(found.buffer, one)]))
    return replace(found, length=_after(self, found, plus(found.length, n)))


def get(self: Lowering, op: Op, found: Arrays, at: Expr) -> None:
    self.values[op.result] = item(self, found, at)


def put(self: Lowering, found: Arrays, at: Expr, v: Any) -> Arrays:
    self.emit(Put(found.buffer, at, _held(self, found, v)))
    return found


def drop(self: Lowering, found: Arrays) -> Arrays:
    """Without the last item."""
    self.flush()
    self.emit(Pop(self.fresh("dropped"), found.buffer))
    return replace(found, length=_after(self, found, minus(found.length, ONE)))


def picked(self: Lowering, hint: str, found: Arrays, start: Expr, count: Expr, step: int) -> Arrays:
    """A list of the same arrays, from one on."""
    self.flush()
    out = replace(found, buffer=self.fresh(hint or "items"), length=count)
    k, item = Name(self.fresh("k"), INDEX), self.fresh("item")
    self.emit(NewStack(out.buffer, out.dtype, out.axes))
    at = plus(k if step == 1 else Call("mul", (k, Const(step, INDEX)), INDEX), start)
    self.emit(For(k.name, ZERO, count, 1, [Item(item, found.buffer, at), Push(out.buffer, item)]))
    return out


def zeros(self: Lowering, hint: str, found: Arrays) -> Arrays:
    """A list of zero cotangents of the same shapes."""
    dtype = found.dtype if found.dtype.kind in "fc" else np.dtype(F8)
    self.flush()
    out = replace(found, buffer=self.fresh(hint or "items"), dtype=dtype)
    k, item, made = Name(self.fresh("k"), INDEX), self.fresh("item"), self.fresh("made")
    source = parameter(item, found.dtype, found.axes, list(found.ones))
    target = whole(made, dtype, source.shape)
    index: list[Expr] = [Name(self.fresh("ijklmn"[min(n, 5)]), INDEX) for n in range(found.axes)]
    self.emit(NewStack(out.buffer, dtype, out.axes))
    store = Store(made, tuple(index), Const(dtype.type(0).item(), dtype))
    body: list[Stmt] = [
        Item(item, found.buffer, k), Alloc(made, dtype, target.shape), *nested(index, target.shape, [store]),
        Push(out.buffer, made),
    ]  # fmt: skip
    self.emit(For(k.name, ZERO, found.length, 1, body))
    return out


def item(self: Lowering, found: Arrays, at: Expr) -> View:
    """The item at a position, which is in range."""
    self.flush()
    made = parameter(self.fresh("item"), found.dtype, found.axes, list(found.ones))
    self.emit(Item(made.buffer, found.buffer, at))
    return made


def addat(self: Lowering, found: Arrays, at: Expr, v: Any) -> Arrays:
    if not self.is_array(v):
        raise NotNative("a list of arrays to which a number is added")
    self.finish_stores(v)
    add(self, found, at, self.view(v))
    return found


def add(self: Lowering, found: Arrays, at: Expr, more: View) -> None:
    """Add to an item. The sum is a new array: something else may hold the item."""
    if more.dtype != found.dtype or len(more.shape) != found.axes:
        raise NotNative("a list of arrays of several types")
    old = item(self, found, at)
    for a, b in zip(old.shape, more.shape):
        self.bail(differs(a, b))
    total = whole(self.fresh("total"), found.dtype, old.shape)
    self.filled(total, lambda index: Call("add", (old.element(index), more.element(index)), found.dtype))
    self.emit(Put(found.buffer, at, total.buffer))


def kept_bytes(self: Lowering, found: Arrays) -> Expr:
    self.flush()
    total, k = Name(self.fresh("bytes"), INDEX), Name(self.fresh("k"), INDEX)
    item = parameter(self.fresh("item"), found.dtype, found.axes, list(found.ones))
    size = plus(times(product(item.shape), found.dtype.itemsize), Const(128, INDEX))
    self.emit(Set(total.name, ZERO))
    body: list[Stmt] = [Item(item.buffer, found.buffer, k), Set(total.name, plus(total, size))]
    self.emit(For(k.name, ZERO, found.length, 1, body))
    return total


# --- loops and branches -----------------------------------------------------------------------------------------------


def carried(self: Lowering, p: Value, found: Arrays) -> list[str]:
    """The names of a list that a loop carries, which take their first values."""
    kind = kind_of(p.type.elem)
    if kind is None or kind[0] != found.dtype or len(kind[1]) != found.axes or found.ones != kind[1]:
        raise NotNative("a list whose type changes in a loop")
    name = self.fresh(p.hint or "items")
    count = self.fresh(f"{name}_len")
    self.emit(Bind(name, found.buffer))
    self.emit(Set(count, found.length))
    self.values[p] = Arrays(name, Name(count, INDEX), found.dtype, found.ones)
    return [name, count]


def next_values(self: Lowering, found: Arrays, end: Any) -> list[tuple[str, Expr | str]]:
    """The names of a list that a loop carries, and what they are in the next iteration. `end`: an empty one is None."""
    if end is None:
        end = replace(found, buffer=self.fresh("items"), length=ZERO)
        self.emit(NewStack(end.buffer, end.dtype, end.axes))
    if not isinstance(end, Arrays) or (end.dtype, end.ones) != (found.dtype, found.ones):
        raise NotNative("a list whose type changes in a loop")
    assert isinstance(found.length, Name)
    return [(found.buffer, end.buffer), (found.length.name, end.length)]


def joined(self: Lowering, r: Value, both: list[Any], blocks: list[list[Stmt]]) -> Arrays:
    """The list that a branch gives. It is empty on a side that gives None."""
    there = [x for x in both if x is not None]
    if len({(x.dtype, x.ones) for x in there}) > 1:
        raise NotNative("lists of two types that a branch gives")
    same = len(there) == len(both) and len({x.buffer for x in there}) == 1
    name = there[0].buffer if same else self.fresh(r.hint or "items")
    count = self.fresh(f"{name}_len")
    for block, x in zip(blocks, both):
        if same:
            block.append(Set(count, x.length))
        elif x is None:
            block += [NewStack(name, there[0].dtype, there[0].axes), Set(count, ZERO)]
        else:
            block += [Bind(name, x.buffer), Set(count, x.length)]
    return Arrays(name, Name(count, INDEX), there[0].dtype, there[0].ones)


__all__ = [
    "Arrays", "add", "addat", "append", "carried", "drop", "extend", "get", "item", "joined", "kept_bytes", "kind_of",
    "new", "next_values", "picked", "put", "zeros",
]  # fmt: skip
