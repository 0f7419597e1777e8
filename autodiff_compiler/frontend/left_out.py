"""Paths that cannot be compiled, and that may never be taken: a branch, or the handler of an exception.

The program is compiled without them. Where it gets to such a path, it raises the error that the compiler would have
raised. That is done only if nothing else helps, and only where no handler of the program catches all there is. What
follows a branch is no such path, although it may be lowered inside of one.
"""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING, Any

from ..errors import AutodiffError, InternalError, NotCompiled
from ..ir.opset import RAISE, exception
from .exits import DEAD
from .plan import RecursionTooDeep, original
from .pseudo import Expanded, Run

if TYPE_CHECKING:
    from .core import Core


def left_out(ctx: Core, error: AutodiffError, stmt: Any) -> int:
    """End the path at a statement that cannot be compiled. If that is not planned, raise the error, which may be the
    reason to plan it."""
    if ctx.builder.region not in ctx.arms or id(stmt) in ctx.moved or ctx.is_observing():
        raise error
    if isinstance(error, (InternalError, RecursionTooDeep)) or catches_all(ctx):
        raise error
    node = original(stmt)
    if isinstance(node, (Run, Expanded)):
        raise error  # there is another one at each attempt
    if node not in ctx.plan.left_out:
        if ctx.plan.candidate is None or ctx.plan.candidate[0] is not error:
            ctx.plan.candidate = (error, node)
        raise error
    return ended(ctx, error, stmt)


def catches_all(ctx: Core) -> bool:
    """A function that is being lowered may end the error that a path which was left out raises."""
    return any(map(_may_catch_all, ctx.stack)) or not ctx.plan.catch_all.isdisjoint(ctx.stack)


def ended(ctx: Core, error: AutodiffError, stmt: Any) -> int:
    """End the path with the error."""
    loc = error.loc
    place = () if loc is None else (loc.file, loc.line, loc.col, loc.end_col, loc.function)
    made = ctx.emit(stmt, exception(NotCompiled), type(error).__name__, error.message, error.remedy, *place)
    ctx.emit(stmt, RAISE, made)
    return DEAD


@functools.lru_cache(1024)
def _may_catch_all(tree: ast.AST) -> bool:
    """A function may end any exception: by a handler of all, by leaving a ``finally``, or by a manager of its own."""
    for n in ast.walk(tree):
        if isinstance(n, ast.ExceptHandler):
            names = [] if n.type is None else n.type.elts if isinstance(n.type, ast.Tuple) else [n.type]
            if n.type is None or any(getattr(x, "id", getattr(x, "attr", "")) in _ALL for x in names):
                return True
        if isinstance(n, ast.Try) and any(isinstance(x, _LEAVING) for s in n.finalbody for x in ast.walk(s)):
            return True
        if isinstance(n, ast.With) and not all(_is_known(item.context_expr) for item in n.items):
            return True
    return False


_ALL = ("BaseException", "BaseExceptionGroup")
_LEAVING = (ast.Return, ast.Break, ast.Continue)
_MANAGERS = ("errstate", "printoptions", "catch_warnings", "open", "nullcontext", "closing", "localcontext")


def _is_known(n: ast.expr) -> bool:
    """A manager of a library that hands on what is raised."""
    fn = n.func if isinstance(n, ast.Call) else n
    return getattr(fn, "attr", getattr(fn, "id", "")) in _MANAGERS
