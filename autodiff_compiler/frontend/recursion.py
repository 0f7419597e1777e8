"""Lowering of functions that call themselves: one ``func`` with a parameter for each number and array among the
arguments.

Which arguments stay as they are, the types of the others and what the function returns are found by repeating the
lowering of its body until they are stable. At first no call of itself returns, so that the paths that end the recursion
say what it returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ir.core import Loc, Region, Value, new_func, type_of
from ..ir.rewrite import free_values, hoist
from ..ir.spelling import identifier
from ..ir.types import ANY, Dim, Dims, Ty, join, py_int, renewed, same_dtype
from ..records import mutable_record
from .avals import (
    Bound,
    Closure,
    Columns,
    ListRef,
    Maybe,
    Partial,
    Poison,
    Ref,
    Super,
    describe,
    is_number,
    is_reference,
    items_in,
    leaves_of,
    same,
    values_in,
)
from .core import Unreachable
from .frames import Frame
from .loops import Loops
from .plan import CallsItself, FoundWanting, RecursionTooDeep, SelfCalls, TooDeep
from .structures import (
    LEAF,
    Leaf,
    NoCommonStructure,
    Node,
    Static,
    built,
    joined,
    leaves_in,
    operands_of,
    structure_of,
    with_leaves,
)

MAX_PASSES = 40


@mutable_record
class TypedLeaf:
    """A number, array or list that is known at run time only."""

    kind: str  # "value", "ref" or "list"
    type: Ty
    hint: str
    numpy: bool = False
    varying: frozenset[int] = frozenset()  # the axes of which the length is not the same in all activations

    def actual(self, dims: Dims) -> Ty:
        """Its type, with new unknown lengths for the axes that vary."""
        return renewed(self.type, self.varying, dims)


@mutable_record
class Recursion:
    """A function that calls itself, while it is being lowered."""

    tree: Any
    parent: Frame | None
    names: list[str]
    structures: list[Any]
    value: Value
    region: Region
    result: Any = None  # the structure of what it returns; None: no path is known to return yet
    again: bool = False
    where: Loc | None = None  # of a call of itself


class TypedStructures(Loops):
    """Structures whose leaves have types: what is common to the values that something has in all activations."""

    def typed_structure(self, av: Any, widen: bool, hint: str = "") -> Any:
        """The structure of one value; with `widen`, a number is not taken to be a constant."""
        return structure_of(self, av, lambda x: self.typed_leaf(x, widen, hint if x is av else ""))

    def typed_leaf(self, av: Any, widen: bool, hint: str) -> Any:
        """The structure of what is passed as it is, or is the same in all activations; or else None."""
        if type(av) is Maybe:
            return self.typed_structure(self.use(av, "the value", None), widen, hint)
        kind = type(av)
        if kind is Value or (widen and is_number(av)):
            t = py_int() if type(av) is int else type_of(av)
            if t.kind in ("stack", "shape", "undef", "object"):
                raise NoCommonStructure(f"{describe(av)} is passed on in a recursion")
            return TypedLeaf("value", t, hint or getattr(av, "hint", ""))
        if kind is Ref:
            value = self.read(av)
            numpy = av.cell in self.cells.numpy or value.type.kind == "array"
            return TypedLeaf("ref", value.type, hint or value.hint, numpy)
        if is_reference(av):
            content = self.checked(av.cell, None)
            if type(content) is not Columns:
                return None
            if type(content.structure) is not Leaf:
                raise NoCommonStructure("a list of tuples, dictionaries or objects")
            return TypedLeaf("list", content.leaves[0].type, hint or content.leaves[0].hint)
        if kind in (Closure, Bound, Partial, Super):
            if widen:
                raise NoCommonStructure("a function is returned from a recursion")
            return Static(av)
        return None

    def joined_types(self, a: Any, b: Any, limit: int) -> Any:
        """The structure that covers both; `a` if it does. Lengths named after `limit` belong to one activation."""

        def leaf(x: Any, y: Any) -> Any:
            x, y = [self.typed_leaf(z.av, True, "") if type(z) is Static and is_number(z.av) else z for z in (x, y)]
            if type(x) is TypedLeaf and type(y) is TypedLeaf:
                return self.joined_leaves(x, y, limit)
            raise NoCommonStructure("things of different kinds, or with different keys")

        return joined(a, b, leaf)

    def joined_leaves(self, a: TypedLeaf, b: TypedLeaf, limit: int) -> TypedLeaf:
        dims = self.builder.dims
        if "list" in (a.kind, b.kind) and a.kind != b.kind:
            raise NoCommonStructure("a list and something else")
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
        return TypedLeaf(kind, t, a.hint or b.hint, numpy, frozenset(varying))

    def settled(self, structure: Any, limit: int) -> Any:
        """A structure without lengths that one activation has named."""

        def leaf(known: TypedLeaf) -> TypedLeaf:
            return self.joined_leaves(known, TypedLeaf(known.kind, known.type, known.hint, known.numpy), limit)

        return with_leaves(structure, leaf)

    def passed(self, structure: Any, av: Any, node: Any) -> list[Any]:
        """What is passed for the leaves of a structure."""

        def leaf(known: TypedLeaf, x: Any) -> list[Any]:
            return [self.content(x.cell).leaves[0] if known.kind == "list" else self.operand(x, node)]

        return operands_of(self, structure, av, leaf)

    def received(self, structure: Any, values: Iterator[Value]) -> Any:
        """The abstract value of a structure, from the values of its leaves."""
        return built(self, structure, values, self.received_leaf)

    def received_leaf(self, leaf: TypedLeaf, value: Value) -> Any:
        if leaf.kind == "value":
            return value
        if leaf.kind == "list":
            return ListRef(self.new_cell(Columns(LEAF, (value,), False)))
        cell = self.new_cell(value)
        if leaf.numpy:
            self.cells.numpy.add(cell)
        return Ref(cell)


class Recursions(TypedStructures):
    """Calls of functions that call themselves."""

    def alike(self, old: Any, new: Any) -> bool:
        """The structures of two activations are the same, types of numbers and arrays included."""
        if type(old) is TypedLeaf and type(new) is TypedLeaf:
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
        if type(old) is Static and type(new) is Static:
            return same(old.av, new.av) or (
                self.plan.self_calls is SelfCalls.FUNCTION_OF_ANY and is_number(old.av) and is_number(new.av)
            )
        return self.plan.self_calls is SelfCalls.FUNCTION_OF_ANY and {type(old), type(new)} == {TypedLeaf, Static}

    def watch(self, tree: Any, parent: Frame | None, bound: dict[str, Any]) -> Any:
        """The structures of the arguments. A recursion that goes on as it began is a reason to start again."""
        way = self.plan.self_calls
        try:
            structures = [self.typed_structure(av, False) for av in bound.values()]
        except NoCommonStructure:
            return None
        for other, other_parent, old in self.activations:
            if other is tree and other_parent is parent and old is not None and len(old) == len(structures):
                if all(map(self.alike, old, structures)):
                    raise FoundWanting(TooDeep(way) if way is SelfCalls.INLINED else CallsItself(tree, True))
        return structures

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
        except NoCommonStructure as error:
            what = f"the recursion of {name!r} takes or returns different things on different paths: {error}"
            self.refuse(what, node)

    def refuse(self, message: str, node: Any, loc: Loc | None = None) -> Any:
        if loc is not None:
            raise RecursionTooDeep(message, loc, "write it as a loop")
        self.fail(message, node, "write it as a loop", RecursionTooDeep)

    def call_itself(self, known: Recursion, bound: dict[str, Any], name: str, node: Any) -> Any:
        structures = [self.typed_structure(bound[n], False) for n in known.names]
        known.where = self.loc_of(node) if hasattr(node, "lineno") else self.builder.loc
        wider = [self.joined_types(a, b, self.limits[-1]) for a, b in zip(known.structures, structures)]
        if any(x is not y for x, y in zip(wider, known.structures)):
            known.structures, known.again = wider, True
        if known.result is None or known.again:
            raise Unreachable
        operands = [x for f, n in zip(known.structures, known.names) for x in self.passed(f, bound[n], node)]
        return self.emit_call(known, operands, [bound[n] for n in known.names], [], node)

    def emit_call(self, known: Recursion, operands: list[Any], avs: list[Any], read: list[int], node: Any) -> Any:
        """Append the call; what it returns may share memory with its arguments, and with the cells `read`."""
        self.at(node)
        leaves = list(leaves_in(known.result))
        types = [s.actual(self.builder.dims) for s in leaves]
        values = self.builder.call(known.value, tuple(operands), types, [s.hint for s in leaves])
        before = self.cells.count
        out = self.received(known.result, iter(values))
        made = [c for c in self.cells_in([out]) if c > before]
        sources = [*self.cells_in(avs), *read]
        for k, cell in enumerate(made):
            self.share(cell, [*sources, *made[:k]])
        return out

    def define(self, tree: Any, parent: Frame | None, bound: dict[str, Any], lower: Any, name: str, node: Any) -> Any:
        builder = self.builder
        start = self.state
        structures = [self.typed_structure(av, False, n) for n, av in bound.items()]
        top = self.func_top
        limit = builder.dims.counter[0]
        known = Recursion(tree, parent, list(bound), structures, None, None)  # type: ignore[arg-type]
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
                    leaves = [s for f in known.structures for s in leaves_in(f)]
                    values = iter([region.param(s.actual(region.dims), s.hint) for s in leaves])
                    inner = {n: self.received(f, values) for n, f in zip(known.names, known.structures)}
                    began = self.state.fork()
                    try:
                        result = lower(inner)
                        returns = True
                    except Unreachable:
                        returns = False
                    if returns:
                        self.check_untouched(began, name, node)
                        self.check_containers(result, began, set(), name, node)
                        found = self.settled(self.typed_structure(result, True), limit)
                        old = known.result
                        known.result = found if old is None else self.joined_types(old, found, limit)
                        if known.result is not old:
                            known.again = True
                        else:
                            region.exit = tuple(self.passed(known.result, result, node))
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
        operands = [x for f, n in zip(known.structures, known.names) for x in self.passed(f, bound[n], node)]
        read = self.cells_of(free_values(region))
        operands += hoist(func, top)
        return self.emit_call(known, operands, list(bound.values()), read, node)

    def cells_of(self, values: list[Value]) -> list[int]:
        found = set(values)
        heap = {**self.inputs.initial, **self.state.heap}
        buffers = {cell: content for cell, content in heap.items() if type(content) in (Value, Columns)}
        return [cell for cell, content in buffers.items() if not found.isdisjoint(values_in(content))]

    def check_untouched(self, began: Any, name: str, node: Any) -> None:
        """The body has stored to nothing that was there before it."""
        for cell, content in {**self.inputs.initial, **began.heap}.items():
            now = self.state.heap.get(cell, content)
            if now is not content:
                made_by = now.op if type(now) is Value else None
                where = now.store if isinstance(now, Poison) else None if made_by is None else made_by.loc
                line = f" (line {where.line})" if where is not None else ""
                what = f"a store{line} into an argument, or an outer variable, of the recursive function {name!r}"
                self.refuse(what, node)
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
        for leaf in leaves_of(av):
            if not is_reference(leaf):
                continue
            family = self.cells.family(leaf.cell) | {leaf.cell}
            if family & seen or any(c in began.heap or c in self.inputs.initial for c in family):
                what = f"the recursive function {name!r} returns {describe(leaf)} that it was given, or twice"
                self.refuse(what, node)
            seen |= family
            for item in items_in(self.checked(leaf.cell, node)):
                self.check_containers(item, began, seen, name, node)


def _later(d: Any, limit: int) -> bool:
    return isinstance(d, Dim) and d.root > limit
