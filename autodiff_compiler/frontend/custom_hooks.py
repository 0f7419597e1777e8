"""`on_gradient`: the identity, with a rule that is a function of the user's.

Takes the abstract arguments of a call. The function is inlined into the rule, if it computes a result only. Otherwise
the rule calls it.
"""

from __future__ import annotations

import ast
from typing import Any

from ..errors import SourceUnavailableError, UnsupportedError
from .avals import Closure, Obj, Partial
from .callbacks import CHANGING
from .custom_local import Local
from .custom_rules import lower_custom
from .handlers import Ctx, Val
from .library import gradients
from .scopes import scope_of
from .source import source_of


def lower_on_gradient(ctx: Ctx, args: list[Val], kwargs: dict[str, Val]) -> Val:
    """The abstract result of ``on_gradient(x, fn)``: the identity, with a rule."""
    given = [*args, *[kwargs[name] for name in ("x", "fn") if name in kwargs]]
    x, fn = given[0], given[1]
    made = Local("vjp", Obj(gradients.same, None), (), "")
    made.__name__ = "on_gradient"
    made.fwd = Obj(gradients.forward, None)
    follow = not has_effects(fn)
    made.bwd = Partial(Obj(gradients.followed if follow else gradients.called, None), (fn,), (), ())
    try:
        return lower_custom(ctx, made, [x], {})
    except (SourceUnavailableError, UnsupportedError) as error:
        if not follow:
            raise _told(error) from None
    made.bwd = Partial(Obj(gradients.called, None), (fn,), (), ())
    try:
        return lower_custom(ctx, made, [x], {})
    except UnsupportedError as error:
        raise _told(error) from None


def _told(error: Any) -> UnsupportedError:
    """What `callbacks` says of functions that solvers call."""
    message = error.message.replace("a solver", "on_gradient")
    return UnsupportedError(message, error.loc, "pass a lambda: on_gradient(x, lambda g: seen.append(g))")


def has_effects(fn: Val) -> bool:
    """A function may do more than compute a result: it calls something whose result it does not use, or stores into
    what it has not made. The same of one whose source is not known."""
    try:
        tree = fn.node if type(fn) is Closure else source_of(fn.obj, None).node
    except (AttributeError, SourceUnavailableError):
        return True
    local = scope_of(tree).locals
    for n in ast.walk(tree):
        if isinstance(n, (ast.Global, ast.Nonlocal, ast.Yield, ast.Await)):
            return True
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call):
            return True
        if isinstance(n, (ast.Attribute, ast.Subscript)) and not isinstance(n.ctx, ast.Load):
            while isinstance(n, (ast.Attribute, ast.Subscript)):
                n = n.value
            if not (isinstance(n, ast.Name) and n.id in local):
                return True
    body: Any = tree.body
    return isinstance(tree, ast.Lambda) and isinstance(body, ast.Call) and _changes(body.func)


def _changes(fn: ast.expr) -> bool:
    """A lambda that only calls this calls it for its effect: ``lambda g: log.append(g)``."""
    return isinstance(fn, ast.Attribute) and fn.attr in CHANGING or isinstance(fn, ast.Name) and fn.id == "print"


__all__ = ["lower_on_gradient"]
