"""A-normal form, where the plan needs it: conditional expressions and calls become statements of their own.

They are put before the statement that they stand in, in the order of evaluation:

y = g(x) + (a if c else b)      becomes      t1 = g(x)
                                             if c: t2 = a
                                             else: t2 = b
                                             y = t1 + t2
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from .plan import NoPlaceBefore
from .pseudo import choice

_HEADS = {ast.Assign: "value", ast.AugAssign: "value", ast.AnnAssign: "value", ast.Expr: "value", ast.Return: "value"}
_HEADS |= {ast.If: "test", ast.For: "iter"}
_CHILDREN: dict[type, tuple[str, ...]] = {
    ast.BinOp: ("left", "right"), ast.UnaryOp: ("operand",), ast.Call: ("func", "args", "keywords"),
    ast.Compare: ("left", "comparators"), ast.Subscript: ("value", "slice"), ast.Attribute: ("value",),
    ast.Tuple: ("elts",), ast.List: ("elts",), ast.Set: ("elts",), ast.Starred: ("value",),
    ast.keyword: ("value",), ast.Slice: ("lower", "upper", "step"), ast.JoinedStr: ("values",),
    ast.FormattedValue: ("value",), ast.NamedExpr: ("value",),
}  # fmt: skip


class Normalizer:
    def __init__(self, wanted: set[Any]):
        self.wanted = wanted
        self.count = 0

    def wants(self, node: Any) -> bool:
        todo = [node]
        while todo:
            n = todo.pop()
            if n in self.wanted:
                return True
            if not isinstance(n, ast.Lambda):  # its body is a function of its own
                todo += ast.iter_child_nodes(n)
        return False

    def temporary(self, node: Any) -> str:
        self.count += 1
        return f"${node.lineno}.{node.col_offset}.{self.count}"

    def named(self, name: str, node: Any, keep: bool = False) -> ast.Name:
        made = ast.copy_location(ast.Name(name, ast.Load()), node)
        made._keep = keep  # type: ignore[attr-defined]
        return made

    def bound(self, name: str, value: Any, node: Any) -> ast.stmt:
        return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), node)

    def statement(self, stmt: Any) -> list[Any] | None:
        """The statements that stand for this one, or None if nothing in it is to become one."""
        field = _HEADS.get(type(stmt))
        if field is None:
            part = getattr(stmt, "test", None) if isinstance(stmt, ast.While) else stmt
            if isinstance(stmt, (ast.While, ast.Assert, ast.Raise, ast.Delete)) and self.wants(part):
                raise NoPlaceBefore(next(n for n in ast.walk(stmt) if n in self.wanted))
            return None
        head = getattr(stmt, field)
        if head is None or not self.wants(head):
            return None
        if isinstance(stmt, ast.AugAssign):
            return self.augmented(stmt)
        before, left = self.normalized(head)
        if not before:
            return None
        made = _changed(stmt, {field: left})
        if isinstance(stmt, (ast.For, ast.If)):
            made._original = getattr(stmt, "_original", (stmt,))
        return [*before, made]

    def augmented(self, stmt: ast.AugAssign) -> list[Any] | None:
        """The target is read before the value is evaluated."""
        if not isinstance(stmt.target, ast.Name):
            target: Any = stmt.target
            before = []
            changes: dict[str, Any] = {}
            for field in ("value", "slice") if isinstance(target, ast.Subscript) else ("value",):
                more, changes[field] = self.kept(getattr(target, field))
                before += more
            target = _changed(target, changes)
        else:
            target, before = stmt.target, []
        read = _changed(target, {"ctx": ast.Load()})
        name = self.temporary(target)
        before.append(self.bound(name, read, target))
        more, value = self.normalized(stmt.value)
        return [
            *before,
            *more,
            _changed(stmt, {"target": target, "value": value, "_current": self.named(name, target)}),
        ]

    def kept(self, node: Any) -> tuple[list[Any], Any]:
        """A part of a target, evaluated once, for reading and for storing."""
        if node is None or isinstance(node, ast.Constant):
            return [], node
        if isinstance(node, (ast.Slice, ast.Tuple)):
            return _each_part(node, self.kept)
        name = self.temporary(node)
        return [self.bound(name, node, node)], self.named(name, node, keep=True)

    def normalized(self, node: Any) -> tuple[list[Any], Any]:
        """What is to be run before, and the expression that is left."""
        if not self.wants(node):
            return [], node
        if isinstance(node, ast.IfExp):
            before, test = self.normalized(node.test)
            if not (node in self.wanted or self.wants(node.body) or self.wants(node.orelse)):
                return before, _changed(node, {"test": test})
            name = self.temporary(node)
            sides = []
            for part in (node.body, node.orelse):
                more, value = self.normalized(part)
                sides.append([*more, self.bound(name, value, part)])
            return [*before, choice(test, sides[0], sides[1], node)], self.named(name, node)
        if isinstance(node, ast.BoolOp):
            if node not in self.wanted and not any(map(self.wants, node.values[1:])):
                before, first = self.normalized(node.values[0])
                return before, _changed(node, {"values": [first, *node.values[1:]]})
            name = self.temporary(node)
            return self.short_circuit(node, 0, name), self.named(name, node)
        if isinstance(node, (ast.Call, ast.Attribute)) and node in self.wanted:  # a call, or that of a property
            before, made = self.parts(node)
            name = self.temporary(node)
            made._original = (node,)
            made._continued = True
            return [*before, self.bound(name, made, node)], self.named(name, node)
        if type(node) not in _CHILDREN or (isinstance(node, ast.Compare) and len(node.ops) > 1):
            raise NoPlaceBefore(next(n for n in ast.walk(node) if n in self.wanted))
        return self.parts(node)

    def short_circuit(self, node: ast.BoolOp, k: int, name: str) -> list[Any]:
        before, value = self.normalized(node.values[k])
        out = [*before, self.bound(name, value, node.values[k])]
        if k < len(node.values) - 1:
            rest = self.short_circuit(node, k + 1, name)
            test = self.named(name, node.values[k], keep=True)
            sides = (rest, []) if isinstance(node.op, ast.And) else ([], rest)
            out.append(choice(test, sides[0], sides[1], node))
        return out

    def parts(self, node: Any) -> tuple[list[Any], Any]:
        """The operands up to the last one that becomes a statement are evaluated before it."""
        slots: list[tuple[str, int | None, Any]] = []
        for field in _CHILDREN[type(node)]:
            value = getattr(node, field)
            if isinstance(value, list):
                slots += [(field, k, item) for k, item in enumerate(value)]
            elif value is not None:
                slots.append((field, None, value))
        last = max((k for k, (_, _, item) in enumerate(slots) if self.wants(item)), default=-1)
        before: list[Any] = []
        changes: dict[str, Any] = {}
        for k, (field, place, item) in enumerate(slots):
            new = item
            if k <= last:
                more, new = self.normalized(item) if self.wants(item) else ([], item)
                before += more
                if k < last:
                    more, new = self.settled(new, field == "func")
                    before += more
            if place is None:
                changes[field] = new
            else:
                changes.setdefault(field, []).append(new)
        return before, _changed(node, changes)

    def settled(self, node: Any, called: bool) -> tuple[list[Any], Any]:
        """An operand, evaluated before what comes next."""
        if (
            node is None
            or isinstance(node, (ast.Constant, ast.Lambda))
            or (isinstance(node, ast.Name) and node.id.startswith("$"))
        ):
            return [], node
        if called and (isinstance(node, ast.Name) or _is_dotted(node)):
            return [], node
        if isinstance(node, (ast.Starred, ast.keyword, ast.FormattedValue, ast.Slice, ast.Tuple)):
            return _each_part(node, lambda part: self.settled(part, False))
        name = self.temporary(node)
        return [self.bound(name, node, node)], self.named(name, node)


def _each_part(node: Any, settle: Callable[[Any], tuple[list[Any], Any]]) -> tuple[list[Any], Any]:
    """What `settle` gives for the operands of a node: what is to be run before, and the node with what is left."""
    before: list[Any] = []
    changes: dict[str, Any] = {}
    for field in _CHILDREN[type(node)]:
        part = getattr(node, field)
        found = [settle(x) for x in (part if isinstance(part, list) else [part])]
        before += [stmt for more, _ in found for stmt in more]
        changes[field] = [left for _, left in found] if isinstance(part, list) else found[0][1]
    return before, _changed(node, changes)


def _changed(node: Any, changes: dict[str, Any]) -> Any:
    made = copy.copy(node)
    for name, value in changes.items():
        setattr(made, name, value)
    if isinstance(node, ast.expr):  # so that a later plan finds it
        made._original = getattr(node, "_original", (node,))
    return made


def _is_dotted(node: Any) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
