"""What the syntax of a function says of its names: which are local, and which a loop binds and others read."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ..records import record

FunctionNode = ast.FunctionDef | ast.Lambda


@record
class Scope:
    """The names of one function body: which are local, which are declared to live elsewhere."""

    locals: frozenset[str]
    globals: frozenset[str]
    nonlocals: frozenset[str]
    generator: bool = False


def _parameters(args: ast.arguments) -> tuple[str, ...]:
    out = [a.arg for a in args.posonlyargs + args.args + args.kwonlyargs]
    out += [a.arg for a in (args.vararg, args.kwarg) if a is not None]
    return tuple(out)


class _Names:
    """The names that statements bind, those of nested functions left out."""

    def __init__(self, statements: Iterable[ast.AST]) -> None:
        self.bound: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.generator = False
        todo = list(statements)
        for node in todo:  # which grows on the way
            if isinstance(node, ast.Name):
                if not isinstance(node.ctx, ast.Load):
                    self.bound.add(node.id)
                continue
            todo += _own_parts(node)
            if isinstance(node, (ast.Yield, ast.YieldFrom)):
                self.generator = True
            elif isinstance(node, ast.Global):
                self.globals.update(node.names)
            elif isinstance(node, ast.Nonlocal):
                self.nonlocals.update(node.names)
            elif isinstance(node, ast.alias):
                self.bound.add(node.asname or node.name.split(".")[0])
            else:  # of a function, class, exception handler or pattern
                self.bound.update(
                    name for f in ("name", "rest") if f in node._fields and (name := getattr(node, f, None))
                )


def _own_parts(node: Any) -> Iterable[ast.AST]:
    """The nodes right below one that may bind names in its scope."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        defaults = [*node.args.defaults, *[d for d in node.args.kw_defaults if d]]
        return [*getattr(node, "decorator_list", ()), *defaults]
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    if isinstance(node, _COMPREHENSIONS):  # its targets are its own; assignment expressions in it bind here
        return [n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
    return _children(node)


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def bound_names(nodes: list[Any]) -> set[str]:
    """The names that these statements bind in their own scope."""
    return _Names(nodes).bound


def count_loads(node: Any) -> dict[str, int]:
    """How often each name is read in the node, nested functions included."""
    counts: dict[str, int] = {}
    for n in nodes_of(node):
        if type(n) is ast.Name:
            if type(n.ctx) is ast.Load:
                counts[n.id] = counts.get(n.id, 0) + 1
        elif type(n) is ast.AugAssign and type(n.target) is ast.Name:
            counts[n.target.id] = counts.get(n.target.id, 0) + 1
    return counts


def nodes_of(node: ast.AST) -> list[ast.AST]:
    """The node and all below it. (`ast.walk` is several times slower.)"""
    out = [node]
    for current in out:
        out += _children(current)
    return out


def _children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, but for contexts and operators of arithmetic."""
    out: list[ast.AST] = []
    for field in _PARTS.get(type(node)) or _parts_of(type(node)):
        value = getattr(node, field, None)
        if type(value) is list:
            out += [x for x in value if isinstance(x, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, (ast.expr_context, ast.operator)):
            out.append(value)
    return out


# By the class of a node: the fields that may hold nodes.
_PARTS: dict[type, tuple[str, ...]] = {}
_TEXT = frozenset({"arg", "asname", "attr", "conversion", "ctx", "id", "kind", "level", "module", "n", "s"})


def _parts_of(cls: type[ast.AST]) -> tuple[str, ...]:
    found = _PARTS[cls] = tuple([f for f in cls._fields if f not in _TEXT])
    return found


def statements_in(node: ast.AST) -> list[ast.AST]:
    """The node, and the statements in its blocks."""
    out = [node]
    for current in out:
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            block = getattr(current, field, None)
            if type(block) is list:
                out += block
    return out


@record
class LoopFacts:
    """What the syntax says of a loop.

    assigned: the names that it binds
    plainly:  those that it binds other than by an augmented assignment, which may change an array in place
    needed:   those that are read outside of it, or captured by a nested function
    """

    assigned: frozenset[str]
    plainly: frozenset[str]
    needed: frozenset[str]


def loop_facts(stmt: Any, function: FunctionNode) -> LoopFacts:
    """The facts of a loop statement, found once."""
    found = getattr(stmt, "_facts", None)
    if found is not None:
        return found  # type: ignore[no-any-return]
    total = getattr(function, "_loads", None)
    if total is None:
        total = count_loads(function)
        function._loads = total  # type: ignore[union-attr]
    inside = count_loads(stmt)
    parts = [
        *getattr(stmt, "body", ()),
        *[x for x in (getattr(stmt, "target", None), getattr(stmt, "test", None)) if x is not None],
    ]
    if isinstance(stmt, (ast.For, ast.While)):
        assigned = bound_names(parts)
    else:
        # A comprehension binds by := only what outlives it.
        assigned = {n.target.id for n in nodes_of(stmt) if isinstance(n, ast.NamedExpr)}
    plainly: set[str] = set()
    captured: set[str] = set()
    for part in parts:
        nodes = nodes_of(part)
        augmented = {id(n.target) for n in nodes if type(n) is ast.AugAssign}
        for n in nodes:
            if type(n) is ast.Name and type(n.ctx) is not ast.Load and id(n) not in augmented:
                plainly.add(n.id)
            elif isinstance(n, (ast.FunctionDef, ast.Lambda)):
                captured |= set(count_loads(n))
    orelse = (
        {name for sub in getattr(stmt, "orelse", ()) for name in count_loads(sub)}
        if isinstance(stmt, (ast.For, ast.While))
        else set()
    )
    needed = {n for n in assigned if total.get(n, 0) > inside.get(n, 0)} | (assigned & captured) | (assigned & orelse)
    facts = LoopFacts(frozenset(assigned), frozenset(plainly), frozenset(needed))
    stmt._facts = facts
    return facts


def scope_of(node: FunctionNode) -> Scope:
    """The scope of a function or lambda, found once."""
    found = getattr(node, "_scope", None)
    if found is not None:
        return found  # type: ignore[no-any-return]
    names = _Names([node.body] if isinstance(node, ast.Lambda) else node.body)
    bound = (names.bound | set(_parameters(node.args))) - names.globals - names.nonlocals
    scope = Scope(frozenset(bound), frozenset(names.globals), frozenset(names.nonlocals), names.generator)
    node._scope = scope  # type: ignore[union-attr]
    return scope
