"""Nodes that the lowering adds to a syntax tree, so that a statement may be put in terms of simpler ones."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any


class Computed(ast.expr):
    """An expression whose abstract value `compute` gives, and emits what computes it."""

    compute: Callable[[], Any]


class Run(ast.stmt):
    """A statement that is lowered by `run`, which gives its exit code; `exits` if that is surely not 0; `simple` if it
    is one step, as an assignment is."""

    run: Callable[[], Any]
    exits: bool
    simple: bool


class Expanded(ast.stmt):
    """The statements that `expand` gives, when it comes to them; `exits` if they surely leave."""

    expand: Callable[[], list[Any]]
    exits: bool


def _placed(node: Any, at: Any, **fields: Any) -> Any:
    for name, value in fields.items():
        setattr(node, name, value)
    return ast.copy_location(node, at)


def computed(compute: Callable[[], Any], at: Any) -> Computed:
    return _placed(Computed(), at, compute=compute)  # type: ignore[no-any-return]


def run(action: Callable[[], Any], at: Any, exits: bool = False, simple: bool = False) -> Run:
    return _placed(Run(), at, run=action, exits=exits, simple=simple)  # type: ignore[no-any-return]


def expanded(expand: Callable[[], list[Any]], at: Any, exits: bool = False) -> Expanded:
    return _placed(Expanded(), at, expand=expand, exits=exits)  # type: ignore[no-any-return]


def choice(test: ast.expr, body: list[Any], orelse: list[Any], at: Any) -> ast.If:
    return _placed(ast.If(test, body, orelse), at, _original=(at,))  # type: ignore[no-any-return]


_EXITS = (ast.Return, ast.Break, ast.Continue)


def surely_exits(stmts: list[Any]) -> bool:
    """Ends in return, break or continue, whatever happens (raise is another matter)."""
    if not stmts:
        return False
    last = stmts[-1]
    if isinstance(last, _EXITS):
        return True
    if isinstance(last, ast.If):
        return surely_exits(last.body) and surely_exits(last.orelse)
    if isinstance(last, ast.Match):
        return all(surely_exits(case.body) for case in last.cases) and irrefutable(last.cases[-1])
    if isinstance(last, ast.Try):
        ways = [last.orelse if last.orelse and not surely_exits(last.body) else last.body]
        return surely_exits(last.finalbody) or all(map(surely_exits, [*ways, *(h.body for h in last.handlers)]))
    return isinstance(last, (Run, Expanded)) and last.exits


def irrefutable(case: ast.match_case) -> bool:
    pattern: Any = case.pattern
    if isinstance(pattern, ast.MatchOr):
        pattern = pattern.patterns[-1]
    return case.guard is None and isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def plain(node: ast.expr) -> bool:
    """Names, constants and their comparison: nothing that is likely to raise."""
    return all(isinstance(n, _PLAIN) for n in ast.walk(node))


_PLAIN = (Computed, ast.Name, ast.Constant, ast.Compare, ast.cmpop, ast.expr_context, ast.BoolOp, ast.boolop, ast.Not)


def iterated_name(stmt: ast.For) -> str:
    return f"$for{stmt.lineno}.{stmt.col_offset}"
