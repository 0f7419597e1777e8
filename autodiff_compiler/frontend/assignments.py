"""Lowering of assignments: to names, items and attributes, plain, augmented and by unpacking; and of `del`."""

from __future__ import annotations

import ast
import types
from typing import Any

import numpy as np

from ..duck import name_of
from ..errors import AliasError, ArgumentError
from ..ir.core import Value, type_of
from ..ir.opset import EQ, OPERATORS, infer_step, opaque
from ..tree import class_lookup
from .avals import (
    MISSING,
    DictRef,
    Entries,
    Instance,
    Items,
    ListRef,
    OneShot,
    RangeOf,
    Ref,
    Seq,
    SliceOf,
    describe,
    is_collection,
    is_static_int,
)
from .exits import NORMAL
from .expressions import _BINARY
from .handlers import Ctx, Node, Val, lowers
from .objects import is_object
from .splitting import Splitting
from .yields import yielded


class Assignments(Splitting):
    def assign(self, target: ast.expr, av: Val, node: Node) -> None:
        if isinstance(target, ast.Name):
            self.bind(target.id, av, target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            _unpack(self, target, av, node)
        elif isinstance(target, ast.Subscript):
            self.store_item(self.ev(target.value), self.ev(target.slice), av, target)
        elif isinstance(target, ast.Attribute):
            self.store_attribute(self.ev(target.value), target.attr, av, target)
        else:
            self.fail("this assignment target is not supported", target, "assign to names, items and attributes")

    def unpacked(self, av: Val, n: int | None, node: Node) -> list[Val]:
        if n is not None and type(av) is Value and av.type.kind == "object":
            # It may have no items by number, and they may be of different kinds.
            av = self.given(self.emit(node, opaque(tuple, "tuple"), av), [av])
        av = self.iterable(av, node)
        items = self.iterated(av, node)
        if items is not None or n is None:
            return items if items is not None else self.static_items(av, node)
        length = self.iter_length(av, node)
        if is_static_int(length):
            n = length  # if it is not what is asked for, that is the caller's error
        elif type(length) is Value:
            flag = self.emit(node, EQ, length, n)
            self.raise_unless(flag, ValueError, f"the number of values to unpack is not {n}", node)
        return [self.item_of(av, k, node) for k in range(n)]

    def store_item(self, base: Val, index: Val, av: Val, node: Node) -> None:
        """``base[index] = av``."""
        if is_collection(base) and base.cls not in (set, frozenset, OneShot):
            base = self.inner(base, node)
        kind = type(base)
        if kind is Ref and id(base) in self.flats:
            self.store_in_flat(base, index, av, node)
        elif kind is Ref:
            items = self.array_index(index, node)
            if type(av) is Seq and _store_record(self, Ref(base.cell, (*base.path, ("index", items))), av, node):
                return
            if type(av) in (Seq, ListRef, RangeOf) and _is_element(self, base, items, node):
                self.raises(ValueError, "setting an array element with a sequence.", node)
            if type(av) in (Seq, ListRef, RangeOf):
                av = _as_stored(self, base, items, av, node)
            self.store(base, ("index", items), av, node)
        elif kind is ListRef:
            content = self.checked(base.cell, node, "list")
            if type(content) is Items and is_static_int(index):
                kept = list(content.items)
                if not -len(kept) <= index < len(kept):
                    self.raises(IndexError, "list assignment index out of range", node)
                kept[index] = av
                self.mutate(base.cell, Items(tuple(kept)), node)
            elif type(index) is SliceOf:
                self.store_slice(base, index, av, node)
            else:
                self.set_item(base, self.operand(index, node), av, node)
        elif kind is DictRef:
            key = self.static_key(index, node)
            content = self.checked(base.cell, node, "dictionary")
            entries = content.table
            entries[key] = av
            self.mutate(base.cell, Entries.of(entries), node)
        else:
            if self.call_special(base, "__setitem__", [index, av], node) is not NotImplemented:
                return
            cls = self.class_of(base, node)
            if cls is not None and class_lookup(cls, "__setitem__") is None:
                self.lacks(cls, TypeError, f"{cls.__name__!r} object does not support item assignment", node)
            self.fail(f"assignment to an item of {describe(base)}", node, "make it a list, dictionary or array first")

    def augmented(self, fn: Any, current: Val, value: Val, node: Node) -> tuple[bool, Any]:
        """``current op= value``: True if it was done in place, else the new value to bind."""
        if type(current) is Ref:
            whole = self.read(current, node)
            if whole.type.duck is not None:
                return False, self.duck_augmented(fn, current, value, node)
            if whole.type.kind != "array":
                self.fail(
                    "unprovable alias: it is not known whether this is an array, which is changed in place, "
                    "or a number, which is not",
                    node,
                    "write `a = a + v`, which makes a new value of either, or `a[...] = a + v` to change an array",
                    AliasError,
                    current,
                )
            self.half_done(current.cell, True)
            result = self.binary(fn, current, value, node)
            x = self.operand(result, node)
            self.check_cast(whole, x, node)
            if type(x) is Value and x.type.is_scalar:
                # A 0-d array: NumPy writes into it.
                self.store(current, ("index", (Ellipsis,)), x, node)
                return True, None
            _check_rank(self, whole, x, node)
            self.store(current, None if current.path else ("index", (Ellipsis,)), x, node)
            return True, None
        if self.augmented_container(fn, current, value, node):
            return True, None
        name = f"__i{fn.__name__.strip('_')}__"
        made = self.call_special(current, name, [value], node)
        if made is not NotImplemented:
            return False, made
        if is_object(current) and not isinstance(class_lookup(self.cls_of(current), name), types.FunctionType | None):
            self.fail(
                f"{describe(current)} is changed in place, in a way that is not known", node, "use a list or array"
            )
        return False, self.binary(fn, current, value, node)

    def duck_augmented(self, fn: Any, current: Ref, value: Val, node: Node) -> Val:
        """``current op= value`` for a duck array: a new one, if its class has no operator that changes it."""
        cls = self.read(current, node).type.duck
        in_place = MISSING if cls is None else class_lookup(cls, f"__i{fn.__name__.strip('_')}__", MISSING)
        if cls is object or in_place is not MISSING:
            name, sign = current.hint or "x", OPERATORS[fn][0] if fn in OPERATORS else "@"
            self.fail(
                f"{name!r} may be a {name_of(cls or object)}, which is changed in place by {sign}=",
                node,
                f"write `{name} = {name} {sign} ...`, which makes a new array",
            )
        return self.binary(fn, current, value, node)

    def check_cast(self, whole: Any, result: Any, node: Node) -> None:
        """NumPy refuses to write a float into an integer array in place."""
        have, want = type_of(result).dtype, type_of(whole).dtype
        if have is not None and want is not None and not np.can_cast(have, want, "same_kind"):
            self.fail(
                f"Cannot cast ufunc output from {have} to {want} with casting rule 'same_kind'",
                node,
                "make the array a float array first",
                ArgumentError,
            )


def _unpack(ctx: Assignments, target: ast.Tuple | ast.List, av: Val, node: Node) -> None:
    n = len(target.elts)
    star = next((k for k, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
    items = ctx.unpacked(av, n if star is None else None, node)
    if star is None:
        if len(items) != n:
            few = f"not enough values to unpack (expected {n}, got {len(items)})"
            many = f"too many values to unpack (expected {n})"
            ctx.raises(ValueError, few if len(items) < n else many, node)
        for t, item in zip(target.elts, items):
            ctx.assign(t, ctx.use(item, "the item", node), node)
        return
    after = n - star - 1
    if len(items) < n - 1:
        ctx.raises(ValueError, f"not enough values to unpack (expected at least {n - 1}, got {len(items)})", node)
    for t, item in zip(target.elts[:star], items[:star]):
        ctx.assign(t, item, node)
    starred = target.elts[star]
    assert isinstance(starred, ast.Starred)
    ctx.assign(starred.value, ctx.new_list(items[star : len(items) - after]), node)
    for t, item in zip(target.elts[star + 1 :], items[len(items) - after :]):
        ctx.assign(t, item, node)


def _store_record(ctx: Assignments, part: Ref, values: Seq, node: Node) -> bool:
    """``part[...] = values`` for a tuple of the fields of records; False if it is no such part."""
    dtype = type_of(ctx.checked(part.cell, node)).dtype
    if dtype is None or dtype.names is None:
        return False
    dtype = type_of(ctx.read(part, node)).dtype
    if dtype is None or dtype.names is None:
        return False
    if len(dtype.names) != len(values.items):
        ctx.fail(f"a record of {len(dtype.names)} fields is given {len(values.items)}", node, "", ArgumentError)
    for name, av in zip(dtype.names, values.items):
        ctx.store_item(part, name, av, node)
    return True


def _as_stored(ctx: Assignments, base: Ref, items: tuple[Any, ...], av: Val, node: Node) -> Val:
    """A container that is stored into a view as an array: it may not be nested deeper than the view has axes, where
    an array of more axes would do if they have length one."""
    whole = ctx.read(base, node)
    if whole.type.kind != "array":
        return av
    part, view = infer_step(ctx.builder, type_of(whole), ("index", items))
    made = ctx.as_array(av, node)
    have = type_of(ctx.operand(made, node)).ndim
    if view and have is not None and part.ndim is not None and have > part.ndim:
        ctx.raises(ValueError, "setting an array element with a sequence.", node)
    return made


def _is_element(ctx: Assignments, base: Ref, items: tuple[Any, ...], node: Node) -> bool:
    """The subscripts are integers that name one number of an array."""
    t = ctx.read(base, node).type
    numbers = all(i is not None and type(i) is not bool and type_of(i).is_scalar for i in items)
    plain = t.kind == "array" and t.dtype is not None and t.dtype.names is None
    return plain and numbers and len(items) == t.ndim


def _holds_itself(ctx: Assignments, base: Val, index: Val, item: bool) -> bool:
    """A list, dictionary or object that gives what was stored into it, so that storing it again does nothing."""
    if item:  # a slice of a list is a list of its own
        return type(base) is DictRef or (type(base) is ListRef and (is_static_int(index) or type(index) is Value))
    return is_object(base) and type(base) is not Seq and ctx.is_own_attribute(base, index)


def _check_rank(ctx: Assignments, whole: Any, result: Any, node: Node) -> None:
    """A result that is written in place may not have more axes, not even of length one."""
    have, want = type_of(result).ndim, type_of(whole).ndim
    if have is not None and want is not None and have > want:
        message = f"non-broadcastable output operand of {want} axes, for a result of {have}"
        ctx.raises(ValueError, message, node)


@lowers(ast.Assign)
def _assign(ctx: Ctx, stmt: ast.Assign) -> Any:
    if isinstance(stmt.value, ast.Yield) and ctx.frame.on_yield is not None:
        return yielded(ctx, stmt)
    av = ctx.ev(stmt.value)
    for target in stmt.targets:
        ctx.assign(target, av, stmt)
    return NORMAL


@lowers(ast.AnnAssign)
def _ann_assign(ctx: Ctx, stmt: ast.AnnAssign) -> int:
    if stmt.value is not None:
        ctx.assign(stmt.target, ctx.ev(stmt.value), stmt)
    return NORMAL


@lowers(ast.Delete)
def _delete(ctx: Ctx, stmt: ast.Delete) -> int:
    for target in stmt.targets:
        if isinstance(target, ast.Name):
            ctx.load(target.id, target)
            frame = ctx.home(target.id)
            if frame is None:
                ctx.fail("del of a name outside of the function", stmt, "leave it, or set it to None")
            ctx.state.envs[frame.env].pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            ctx.delete_item(ctx.ev(target.value), ctx.ev(target.slice), target)
        elif isinstance(target, ast.Attribute):
            ctx.delete_attribute(ctx.ev(target.value), target.attr, stmt)
        else:
            ctx.fail("del of this is not supported", stmt, "delete names, items and attributes one by one")
    return NORMAL


@lowers(ast.AugAssign)
def _aug_assign(ctx: Ctx, stmt: ast.AugAssign) -> int:
    """The target is read, then the value evaluated, then the result stored: also what was changed in place, as a
    setter may do anything with it."""
    fn = _BINARY[type(stmt.op)]
    target = stmt.target
    read = getattr(stmt, "_current", None)  # the name under which it was read before
    if isinstance(target, ast.Name):
        current = ctx.load(target.id, target) if read is None else ctx.ev(read)
        done, av = ctx.augmented(fn, current, ctx.ev(stmt.value), stmt)
        ctx.bind(target.id, current if done else av, target)
        return NORMAL
    base = ctx.ev(target.value)
    index: Any = ctx.ev(target.slice) if isinstance(target, ast.Subscript) else target.attr
    if read is not None:
        current = ctx.ev(read)
    elif isinstance(target, ast.Subscript):
        current = ctx.subscript(base, index, target)
    else:
        current = ctx.attribute(base, index, target)
    held = ctx.content(base.cell) if type(base) in (ListRef, DictRef, Instance) else None
    value = ctx.ev(stmt.value)
    if isinstance(target, ast.Subscript) and type(base) is Ref:
        av = ctx.binary(fn, current, value, stmt)
        if type(current) is Ref and type(av) is Ref:
            ctx.check_cast(ctx.read(current, stmt), ctx.read(av, stmt), stmt)
            _check_rank(ctx, ctx.operand(current, stmt), ctx.read(av, stmt), stmt)
        ctx.store_item(base, index, av, target)
        return NORMAL
    done, av = ctx.augmented(fn, current, value, stmt)
    if done and read is None and _holds_itself(ctx, base, index, isinstance(target, ast.Subscript)):
        if held is None or ctx.content(base.cell) is held:
            return NORMAL  # what was changed in place is stored there already
    if isinstance(target, ast.Subscript):
        ctx.store_item(base, index, current if done else av, target)
    else:
        ctx.store_attribute(base, index, current if done else av, target)
    return NORMAL
