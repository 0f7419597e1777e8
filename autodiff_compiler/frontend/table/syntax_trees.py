"""Syntax trees of texts that are known while a program is compiled, so that interpreters of expressions are, too."""

from __future__ import annotations

import ast

from ..avals import Obj, is_constant
from ..handlers import Ctx, Val, lowers


@lowers("ast.parse")
def _parse(ctx: Ctx, source: Val, *args: Val, **kwargs: Val) -> Val:
    given = [*args, *kwargs.values()]
    if not isinstance(source, (str, bytes)) or not all(map(is_constant, given)):
        return ctx.call_unknown(ast.parse, [source, *args], kwargs, ctx.node)
    return Obj(ctx.folded(ast.parse, [source, *args], kwargs, ctx.node), None)


@lowers("ast.fix_missing_locations")
def _fix_missing_locations(ctx: Ctx, node: Val) -> Val:
    """A tree that was parsed has all its locations."""
    if type(node) is Obj and isinstance(node.obj, ast.AST):
        first = node.path[0] if node.path is not None else ("object", node.obj)
        if first[0] == "object" and isinstance(first[1], ast.AST):
            return node
    return ctx.call_unknown(ast.fix_missing_locations, [node], {}, ctx.node)
