"""The lowering of lists of numbers of one type: a buffer that grows, and how many items it has.

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
from ..ir.core import Op, Value
from ..ir.types import Ty
from .fusion import nested
from .lowering import Lowering, handles
from .nest import BOOL, F8, INDEX, Alloc, Bind, Call, Const, Expr, Grow, Increase, Load, Name, Set, Stmt, Store
from .numbers import LOADED, WHOLE, NotNative, Number, beyond, index_of, to
from .views import ONE, ZERO, View, plus, whole

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
    return type(x) is Value and isinstance(self.values.get(x), Items)


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


def _of(self: Lowering, x: Any, op: Op) -> Items:
    found = self.values.get(x) if type(x) is Value else None
    if not isinstance(found, Items):
        raise NotNative(f"{op.prim.name} of what is no list of numbers", op)
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
        self.values[op.result] = _copied(self, op.result.hint, _of(self, items, op))
        return
    if not items:
        self.values[op.result] = EMPTY
        return
    if any(self.is_array(x) for x in items):
        raise NotNative("a list of arrays", op)
    count = Const(len(items), INDEX)
    made = _made(self, op.result.hint, op.result.type.elem, Const(max(len(items), SHORT), INDEX), count)
    for k, x in enumerate(items):
        self.emit(Store(made.buffer, (Const(k, INDEX),), _stored(self, made, x, op)))
    self.values[op.result] = made


def _copied(self: Lowering, hint: str, found: Items, fill: Expr | None = None) -> Items:
    """A list of its own: the same items, or all `fill`."""
    if found.dtype is None:
        return found
    out = self.fresh(hint or "items")
    dtype = found.dtype if fill is None else fill.dtype
    self.emit(Alloc(out, dtype, (plus(found.length, ONE),)))
    i = Name(self.fresh("i"), INDEX)
    store = Store(out, (i,), Load(found.buffer, (i,), found.dtype) if fill is None else fill)
    self.frame.block += nested([i], [found.length], [store])
    return replace(found, buffer=out, dtype=dtype)


@handles(opset.LIST_APPEND)
def _append(self: Lowering, op: Op) -> None:
    l, v = op.args
    found = _of(self, l, op)
    if found.dtype is None:
        found = _made(self, op.result.hint, op.result.type.elem, Const(SHORT, INDEX), ZERO)
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
    n = found.item(at)
    self.give(op, n)


@handles(opset.LIST_SET, opset.LIST_ADDAT)
def _set(self: Lowering, op: Op) -> None:
    l, i, v = op.args
    found = _of(self, l, op)
    adds = op.prim is opset.LIST_ADDAT
    if found.dtype is None:
        raise NotNative("an item of an empty list", op)
    at = self.within(i, found.length)
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
    after = self.fresh(f"{found.buffer or 'items'}_len")
    self.emit(Set(after, at))
    self.values[op.result] = replace(found, length=Name(after, INDEX))


def length(self: Lowering, x: Any) -> Number:
    """How many items a list has."""
    return index_of(self.values[x].length)


def zeros(self: Lowering, op: Op, x: Any) -> None:
    """Zero cotangents for the items of a list."""
    found: Items = self.values[x]
    dtype = found.dtype if found.kind == "np" and found.dtype is not None and found.dtype.kind in "fc" else np.dtype(F8)
    fill = Const(dtype.type(0).item(), dtype)
    made = _copied(self, op.result.hint, found, fill)
    self.values[op.result] = replace(made, kind="np" if found.kind == "np" and found.dtype == dtype else "?")


def copy(self: Lowering, op: Op, x: Any) -> None:
    self.values[op.result] = _copied(self, op.result.hint, self.values[x])


def as_array(self: Lowering, op: Op, x: Any, dtype: np.dtype[Any] | None) -> View:
    """An array of the items of a list."""
    found: Items = self.values[x]
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
    found: Items = self.values[init]
    if p.type.kind != "list":
        raise NotNative(f"a list that a loop carries as {p.type}")
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
    found: Items = self.values[p]
    end = self.values.get(x) if type(x) is Value else None
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


def joined(self: Lowering, r: Value, both: list[Any], blocks: list[list[Stmt]]) -> Items:
    """The list that a branch gives."""
    kinds = {(x.dtype, x.kind) for x in both if isinstance(x, Items)}
    if len(kinds) != 1 or not all(isinstance(x, Items) for x in both):
        raise NotNative("lists of two types that a branch gives")
    ((dtype, kind),) = kinds
    if dtype is None:
        return EMPTY
    name = self.fresh(r.hint or "items")
    count = self.fresh(f"{name}_len")
    for block, x in zip(blocks, both):
        block += [Bind(name, x.buffer), Set(count, x.length)]
    return Items(name, Name(count, INDEX), dtype, kind)


__all__ = ["Items", "as_array", "carried", "copy", "is_list", "joined", "length", "next_values", "zeros"]
