"""Calls of `root` and `fixed_point` in functions that are compiled. `library.solvers` says what they mean."""

from __future__ import annotations

import ast
from typing import Any

from ..errors import ArgumentError
from .avals import Obj, Seq
from .handlers import Ctx, Val
from .library import solvers


def lower_solver(ctx: Ctx, name: str, steps: int, args: list[Val], kwargs: dict[str, Val]) -> Val:
    """The abstract result of a call."""
    loc = ctx.builder.loc
    assert loc is not None
    given = dict(kwargs)
    first = [args[k] if k < len(args) else given.pop(key, None) for k, key in enumerate(("f", "x0"))]
    tol, maxiter, solver = given.pop("tol", 1e-12), given.pop("maxiter", steps), given.pop("solver", None)
    if None in first or given:
        raise ArgumentError(f"{name}() takes f, x0, *args, tol, maxiter and solver", loc)
    node: Any = ast.Pass(lineno=loc.line, col_offset=loc.col, end_lineno=loc.line, end_col_offset=loc.end_col)
    definition = Obj(getattr(solvers, name), None)
    return ctx.inline_function(definition, [*first, Seq(tuple(args[2:])), tol, maxiter, solver], {}, node)


__all__ = ["lower_solver"]
