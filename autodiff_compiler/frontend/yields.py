"""The syntax of generators: where they yield, and what a `yield` as a statement does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .exits import DEAD, NORMAL
from .pseudo import run
from .scopes import FunctionNode

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Waiting(ast.stmt):
    """Stands behind what is left of an iteration for the loop that goes on after it."""

    def __init__(self, loop: Any) -> None:
        super().__init__()
        ast.copy_location(self, loop)
        self.loop = loop


def own_nodes(tree: FunctionNode) -> Iterator[Any]:
    """The nodes of a function, without those of functions defined in it."""
    todo: list[Any] = list(tree.body) if isinstance(tree.body, list) else [tree.body]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _SCOPES):
            todo += ast.iter_child_nodes(node)


def waiting(loop: Any) -> Waiting:
    """The one for this loop."""
    found: Waiting | None = getattr(loop, "_waiting", None)
    if found is None:
        found = loop._waiting = Waiting(loop)
    return found


def yields(stmt: Any) -> bool:
    found = getattr(stmt, "_yields", None)
    if found is None:
        found = any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in below(stmt))
        stmt._yields = found
    return bool(found)


def below(node: Any) -> Iterator[Any]:
    yield node
    if not isinstance(node, _SCOPES):
        for child in ast.iter_child_nodes(node):
            yield from below(child)


def sent(ctx: Any, step: Any) -> list[Any]:
    """What a `yield` gives when the generator goes on: None."""
    if not isinstance(step, ast.Assign):
        return []

    def bind() -> int:
        for target in step.targets:
            ctx.assign(target, None, step)
        return NORMAL

    return [run(bind, step, simple=True)]


def delegated(stmt: Any) -> ast.For:
    """``yield from it``: a loop that yields each item."""
    found = getattr(stmt, "_delegated", None)
    if found is None:
        name = f"$from{stmt.lineno}.{stmt.col_offset}"
        item = ast.Name(name, ast.Load())
        given = ast.Yield(item)
        step = ast.Expr(given)
        found = ast.For(ast.Name(name, ast.Store()), stmt.value.value, [step], [])
        for node in (item, given, step, found, found.target):
            ast.copy_location(node, stmt)
        stmt._delegated = found
    return found


def yielded(ctx: Any, stmt: Any) -> Any:
    """A statement that is a `yield`: the exit code of what stands for it."""
    value = stmt.value
    if isinstance(value, ast.YieldFrom):
        return ctx.lower_block([delegated(stmt)], False)
    assert ctx.frame.on_yield is not None
    code = ctx.frame.on_yield(None if value.value is None else ctx.ev(value.value))
    if code is not DEAD:
        for target in getattr(stmt, "targets", ()):
            ctx.assign(target, None, stmt)
    return code
