"""Lowering of functions that call themselves: one ``func`` with a parameter for each number and array among the
arguments.

Which arguments stay as they are, the types of the others and what the function returns are found by repeating the
lowering of its body until they are stable. At first no call of itself returns, so that the paths that end the recursion
say what it returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..ir.core import Loc, Region, Value, new_func, type_of
from ..ir.rewrite import free_values, hoist
from ..ir.spelling import identifier
from ..ir.types import ANY, Dim, Dims, Ty, join, py_int, same_dtype
from .avals import (
    HOLE,
    Bound,
    Closure,
    Columns,
    DictRef,
    Entries,
    Hole,
    Instance,
    Items,
    ListRef,
    Maybe,
    Obj,
    Partial,
    Poison,
    Ref,
    Seq,
    Super,
    alike,
    describe,
    is_composite,
    is_number,
    parts_of,
    same,
    with_parts,
)
from .core import Frame, Unreachable
from .loops import Loops
from .plan import CallsItself, FoundWanting, RecursionTooDeep, SelfCalls, TooDeep

MAX_PASSES = 40


class Mismatch(Exception):
    """Two values have no common form."""


@dataclass(eq=False)
class Slot:
    """A number, array or list that is known at run time only."""

    kind: str  # "value", "ref" or "list"
    type: Ty
    hint: str
    numpy: bool = False
    varying: frozenset[int] = frozenset()  # the axes of which the length is not the same in all activations

    def actual(self, dims: Dims) -> Ty:
        """Its type, with new unknown lengths for the axes that vary."""
        t = self.type
        if not self.varying or t.dims is None:
            return t
        return Ty(
            t.kind,
            t.dtype,
            tuple(dims.fresh() if k in self.varying else d for k, d in enumerate(t.dims)),
            t.elem,
            real=t.real,
        )


@dataclass(eq=False)
class Fixed:
    """The same in all activations."""

    av: Any


@dataclass(eq=False)
class Node:
    """A tuple or the like, or what a list, dictionary or object holds."""

    sample: Any
    content: Any  # of a container: its Items or Entries
    parts: list[Any]


@dataclass(eq=False)
class Recursion:
    """A function that calls itself, while it is being lowered."""

    tree: Any
    parent: Frame | None
    names: list[str]
    forms: list[Any]
    value: Value
    region: Region
    result: Any = None  # the form of what it returns; None: no path is known to return yet
    again: bool = False
    where: Loc | None = None  # of a call of itself


class Forms(Loops):
    """Forms: what is common to the values that something has in all activations."""

    def form_of(self, av: Any, widen: bool, hint: str = "") -> Any:
        """The form of one value; with `widen`, a number is not taken to be a constant."""
        av = self.use(av, "the value", None) if type(av) is Maybe else av
        kind = type(av)
        if kind is Value or (widen and is_number(av)):
            t = py_int() if type(av) is int else type_of(av)
            if t.kind in ("stack", "shape", "undef", "object"):
                raise Mismatch(f"{describe(av)} is passed on in a recursion")
            return Slot("value", t, hint or getattr(av, "hint", ""))
        if kind is Ref:
            value = self.read(av)
            return Slot(
                "ref", value.type, hint or value.hint, av.cell in self.cells.numpy or value.type.kind == "array"
            )
        if kind in (ListRef, DictRef, Instance):
            content = self.checked(av.cell, None)
            if type(content) is Columns:
                if type(content.form) is not Hole:
                    raise Mismatch("a list of tuples, dictionaries or objects")
                return Slot("list", content.leaves[0].type, hint or content.leaves[0].hint)
            return Node(av, content, [self.form_of(x, widen) for x in content.items])
        if kind in (Closure, Bound, Partial, Super):
            if widen:
                raise Mismatch("a function is returned from a recursion")
            return Fixed(av)
        if is_composite(av) and parts_of(av):
            return Node(av, None, [self.form_of(x, widen) for x in parts_of(av)])
        return Fixed(av)

    def joined(self, a: Any, b: Any, limit: int, dims: Dims) -> Any:
        """The form that covers both; `a` itself if it does. Lengths named after `limit` belong to one activation."""
        if a is b:
            return a
        if type(a) is Fixed and type(b) is Fixed and same(a.av, b.av):
            return a
        if type(a) is Fixed and is_number(a.av):
            a = self.form_of(a.av, True)
        if type(b) is Fixed and is_number(b.av):
            b = self.form_of(b.av, True)
        if type(a) is Slot and type(b) is Slot:
            return self.joined_slots(a, b, limit, dims)
        if type(a) is Node and type(b) is Node and type(a.sample) is type(b.sample) and len(a.parts) == len(b.parts):
            if a.content is None:
                if not alike(a.sample, b.sample):
                    raise Mismatch("things of different kinds")
            elif type(a.sample) is Instance and a.sample.cls is not b.sample.cls:
                raise Mismatch("objects of different classes")
            elif getattr(a.content, "keys", None) != getattr(b.content, "keys", None):
                raise Mismatch("dictionaries with different keys")
            parts = [self.joined(x, y, limit, dims) for x, y in zip(a.parts, b.parts)]
            return a if all(x is y for x, y in zip(parts, a.parts)) else Node(a.sample, a.content, parts)
        raise Mismatch("things of different kinds")

    def joined_slots(self, a: Slot, b: Slot, limit: int, dims: Dims) -> Slot:
        if "list" in (a.kind, b.kind) and a.kind != b.kind:
            raise Mismatch("a list and something else")
        kind = "ref" if "ref" in (a.kind, b.kind) else a.kind
        numpy = a.numpy and b.numpy
        t = a.type if a.type == b.type else join(a.type, b.type, dims)
        if t.length is not None and _later(t.length, limit):
            t = Ty(t.kind, t.dtype, t.dims, t.elem, None, t.real)
        if t.kind == "object":
            t = ANY
        varying = set(a.varying) | set(b.varying)
        if t.kind == "list":
            if t.elem is not None and t.elem.dims:
                t = Ty("list", elem=Ty(t.elem.kind, t.elem.dtype, None))
        elif t.dims is not None and a.type.dims is not None and b.type.dims is not None:
            lengths = []
            for k, (x, y) in enumerate(zip(a.type.dims, b.type.dims)):
                one = next((d for d in (x, dims.find(x), dims.find(y)) if not _later(d, limit)), x)
                if _later(one, limit) or not dims.same(x, y):
                    varying.add(k)
                lengths.append(a.type.dims[k] if k in varying else one)
            t = Ty(t.kind, t.dtype, tuple(lengths), t.elem, t.length, t.real)
        else:
            varying = set()
        if (kind, t, numpy, frozenset(varying)) == (a.kind, a.type, a.numpy, a.varying):
            return a
        return Slot(kind, t, a.hint or b.hint, numpy, frozenset(varying))

    def settled(self, form: Any, limit: int, dims: Dims) -> Any:
        """A form without lengths that one activation has named."""
        if type(form) is Slot:
            return self.joined_slots(form, Slot(form.kind, form.type, form.hint, form.numpy), limit, dims)
        if type(form) is Node:
            return Node(form.sample, form.content, [self.settled(p, limit, dims) for p in form.parts])
        return form

    def operands_of(self, form: Any, av: Any, node: Any) -> Iterator[Any]:
        """What is passed for the slots of a form."""
        av = self.use(av, "the value", None) if type(av) is Maybe else av
        if type(form) is Slot:
            yield self.content(av.cell).leaves[0] if form.kind == "list" else self.operand(av, node)
        elif type(form) is Node:
            parts = parts_of(av) if form.content is None else self.checked(av.cell, node).items
            for part, x in zip(form.parts, parts):
                yield from self.operands_of(part, x, node)

    def built(self, form: Any, values: Iterator[Value]) -> Any:
        """The abstract value of a form, from the values of its slots."""
        if type(form) is Slot:
            value = next(values)
            if form.kind == "value":
                return value
            cell = self.cells.new()
            self.state.heap[cell] = value
            if form.kind == "list":
                self.state.heap[cell] = Columns(HOLE, (value,), False)
                return ListRef(cell)
            if form.numpy:
                self.cells.numpy.add(cell)
            return Ref(cell)
        if type(form) is Fixed:
            return form.av
        parts = [self.built(p, values) for p in form.parts]
        if form.content is None:
            return with_parts(form.sample, parts)
        cell = self.cells.new()
        content = form.content
        self.state.heap[cell] = Items(tuple(parts)) if type(content) is Items else Entries(content.keys, tuple(parts))
        return Instance(form.sample.cls, cell) if type(form.sample) is Instance else type(form.sample)(cell)


class Recursions(Forms):
    """Calls of functions that call themselves."""

    def alike(self, old: Any, new: Any) -> bool:
        """The forms of two activations are the same, types of numbers and arrays included."""
        if type(old) is Slot and type(new) is Slot:
            if self.plan.self_calls is SelfCalls.FUNCTION_OF_ANY:
                return True
            s, t = old.type, new.type
            plain = (old.kind, s.kind, s.dtype is None, s.ndim) == (new.kind, t.kind, t.dtype is None, t.ndim)
            if not plain or (s.dtype is not None and not same_dtype(s.dtype, t.dtype)):
                return False
            return s.dims is None or all(map(self.builder.dims.same, s.dims, t.dims or ()))
        if type(old) is Node and type(new) is Node:
            if len(old.parts) != len(new.parts) or type(old.sample) is not type(new.sample):
                return False
            return all(map(self.alike, old.parts, new.parts))
        if type(old) is Fixed and type(new) is Fixed:
            return same(old.av, new.av) or (
                self.plan.self_calls is SelfCalls.FUNCTION_OF_ANY and is_number(old.av) and is_number(new.av)
            )
        return self.plan.self_calls is SelfCalls.FUNCTION_OF_ANY and {type(old), type(new)} == {Slot, Fixed}

    def watch(self, tree: Any, parent: Frame | None, bound: dict[str, Any]) -> Any:
        """Start the lowering again if this is a recursion that goes on as it began; else the form of the arguments."""
        way = self.plan.self_calls
        if way.for_values:
            return None
        if tree not in self.plan.nested:
            if any(other is tree for other, _, _ in self.activations):
                raise FoundWanting(CallsItself(tree, False))
            return None
        try:
            forms = [self.form_of(av, False) for av in bound.values()]
        except Mismatch:
            return None
        for other, other_parent, old in self.activations:
            if other is tree and other_parent is parent and old is not None and len(old) == len(forms):
                if all(map(self.alike, old, forms)):
                    raise FoundWanting(TooDeep(way) if way is SelfCalls.INLINED else CallsItself(tree, True))
        return forms

    def call_recursive(
        self, tree: Any, parent: Frame | None, bound: dict[str, Any], lower: Any, name: str, node: Any
    ) -> Any:
        """Call a function that calls itself: one that is being lowered, or a new one."""
        for k, known in enumerate(reversed(self.recursions)):
            if known.tree is tree and known.parent is parent:
                if k:
                    self.refuse(f"{name!r} is called from another recursion that it has started", node)
                return self.call_itself(known, bound, name, node)
        try:
            return self.define(tree, parent, bound, lower, name, node)
        except Mismatch as error:
            self.refuse(
                f"the recursion of {name!r} takes or returns different things on different paths: {error}", node
            )

    def refuse(self, message: str, node: Any, loc: Loc | None = None) -> Any:
        if loc is not None:
            raise RecursionTooDeep(message, loc, "write it as a loop")
        self.fail(message, node, "write it as a loop", RecursionTooDeep)

    def call_itself(self, known: Recursion, bound: dict[str, Any], name: str, node: Any) -> Any:
        forms = [self.form_of(bound[n], False) for n in known.names]
        dims = self.builder.dims
        known.where = self.loc_of(node) if hasattr(node, "lineno") else self.builder.loc
        wider = [self.joined(a, b, self.limits[-1], dims) for a, b in zip(known.forms, forms)]
        if any(x is not y for x, y in zip(wider, known.forms)):
            known.forms, known.again = wider, True
        if known.result is None or known.again:
            raise Unreachable
        operands = [x for f, n in zip(known.forms, known.names) for x in self.operands_of(f, bound[n], node)]
        return self.emit_call(known, operands, [bound[n] for n in known.names], [], node)

    def emit_call(self, known: Recursion, operands: list[Any], avs: list[Any], read: list[int], node: Any) -> Any:
        """Append the call; what it returns may share memory with its arguments, and with the cells `read`."""
        self.at(node)
        slots = list(_slots(known.result))
        values = self.builder.call(
            known.value, tuple(operands), [s.actual(self.builder.dims) for s in slots], [s.hint for s in slots]
        )
        before = self.cells.count
        out = self.built(known.result, iter(values))
        made = [c for c in self.cells_in([out]) if c > before]
        sources = [*self.cells_in(avs), *read]
        for k, cell in enumerate(made):
            for other in [*sources, *made[:k]]:
                self.state.link_view(cell, other)
            for other in sources:
                found = self.cells.origins.get(other)
                if found:
                    self.cells.origins[cell] = self.cells.origins.get(cell, frozenset()) | found
        return out

    def define(self, tree: Any, parent: Frame | None, bound: dict[str, Any], lower: Any, name: str, node: Any) -> Any:
        builder = self.builder
        start = self.state
        forms = [self.form_of(av, False, n) for n, av in bound.items()]
        top = self.func_top
        limit = builder.dims.counter[0]
        known = Recursion(tree, parent, list(bound), forms, None, None)  # type: ignore[arg-type]
        saved = (builder.region, builder._scopes, builder.loc, self.activations, self.stack)
        hint = identifier(name, "recursion")
        for _ in range(MAX_PASSES):
            known.again = False
            known.region = region = Region(top.dims.child())
            func = new_func(region, hint, self.loc_of(node) if hasattr(node, "lineno") else builder.loc)
            known.value = func.result
            self.state = start.fork()
            self.recursions.append(known)
            self.limits.append(limit)
            self.activations, self.stack = [], [*self.stack]
            # What deeper regions have computed is not there when the function runs.
            builder._scopes = [*saved[1][: self.func_scope]]
            try:
                with builder.inside(region):
                    values = iter([region.param(s.actual(region.dims), s.hint) for f in known.forms for s in _slots(f)])
                    inner = {n: self.built(f, values) for n, f in zip(known.names, known.forms)}
                    began = self.state.fork()
                    try:
                        result = lower(inner)
                        returns = True
                    except Unreachable:
                        returns = False
                    if returns:
                        self.check_untouched(began, name, node)
                        self.check_containers(result, began, set(), name, node)
                        form = self.form_of(result, True)
                        old = known.result
                        form = self.settled(form, limit, region.dims)
                        known.result = form if old is None else self.joined(old, form, limit, region.dims)
                        if known.result is not old:
                            known.again = True
                        else:
                            region.exit = tuple(self.operands_of(known.result, result, node))
            finally:
                self.recursions.pop()
                self.limits.pop()
                builder.region, builder._scopes, builder.loc, self.activations, self.stack = saved
                self.state = start
            if not known.again:
                break
        else:
            self.refuse(f"what the recursion of {name!r} takes and returns does not settle", node, known.where)
        if known.result is None:
            self.refuse(f"no path through the recursion of {name!r} ends it", node, known.where)
        operands = [x for f, n in zip(known.forms, known.names) for x in self.operands_of(f, bound[n], node)]
        read = self.cells_of(free_values(region))
        operands += hoist(func, top)
        return self.emit_call(known, operands, list(bound.values()), read, node)

    def cells_of(self, values: list[Value]) -> list[int]:
        found = set(values)
        heap = {**self.inputs.initial, **self.state.heap}
        return [
            cell
            for cell, content in heap.items()
            if (type(content) is Value and content in found)
            or (type(content) is Columns and not found.isdisjoint(content.leaves))
        ]

    def check_untouched(self, began: Any, name: str, node: Any) -> None:
        """The body has stored to nothing that was there before it."""
        for cell, content in {**self.inputs.initial, **began.heap}.items():
            now = self.state.heap.get(cell, content)
            if now is not content:
                where = (
                    now.store
                    if isinstance(now, Poison)
                    else now.op.loc
                    if type(now) is Value and now.op is not None
                    else None
                )
                line = f" (line {where.line})" if where is not None else ""
                self.refuse(
                    f"a store{line} into an argument, or an outer variable, of the recursive function {name!r}", node
                )
        for env, names in began.envs.items():
            now_names = self.state.envs.get(env, {})
            for n in {**names, **now_names}:
                if n.startswith("$"):
                    continue
                old, now = names.get(n), now_names.get(n)
                if old is not now and not (type(old) is Maybe and (old.av is now or type(now) is Maybe)):
                    if old is not None and now is not None and same(old, now):
                        continue
                    self.refuse(f"an assignment to the outer variable {n!r} in the recursive function {name!r}", node)

    def check_containers(self, av: Any, began: Any, seen: set[int], name: str, node: Any) -> None:
        """The lists, dictionaries and objects returned are new ones, so that what is done to them later is done to
        nothing else."""
        kind = type(av)
        if kind is Maybe:
            self.check_containers(av.av, began, seen, name, node)
        elif kind in (ListRef, DictRef, Instance):
            family = self.cells.family(av.cell) | {av.cell}
            if family & seen or any(c in began.heap or c in self.inputs.initial for c in family):
                self.refuse(f"the recursive function {name!r} returns {describe(av)} that it was given, or twice", node)
            seen |= family
            content = self.checked(av.cell, node)
            for item in content.items if type(content) in (Items, Entries) else ():
                self.check_containers(item, began, seen, name, node)
        elif is_composite(av):
            for part in parts_of(av):
                self.check_containers(part, began, seen, name, node)


def _later(d: Any, limit: int) -> bool:
    return isinstance(d, Dim) and d.root > limit


def _slots(form: Any) -> Iterator[Slot]:
    if type(form) is Slot:
        yield form
    elif type(form) is Node:
        for part in form.parts:
            yield from _slots(part)


__all__ = ["Mismatch", "Obj", "Recursions", "Seq"]
