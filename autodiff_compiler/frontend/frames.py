"""Functions that are being lowered, each where it is called."""

from __future__ import annotations

from typing import Any

from ..ir.core import Loc
from ..records import mutable_record
from .scopes import FunctionNode, Scope


@mutable_record
class Frame:
    """One activation of a function that is being lowered."""

    env: int
    node: FunctionNode
    scope: Scope
    owner: Any  # the function whose globals, closure cells and source file it uses
    file: str
    name: str
    parent: Frame | None  # the frame in which a nested function was defined
    call: Any  # the syntax node of the call, and the caller: the inlining path
    captured: bool = False
    comprehension: bool = False  # the scope of one; what it binds by := belongs to the function around it
    caller: Frame | None = None
    called_at: Loc | None = None  # the place of the call
    resume: Any = None  # a function that lowers what follows the call, once for each path that returns
    cls: type | None = None  # the class in whose method this is, for super()
    self_av: Any = None
    on_yield: Any = None  # a function: what a `yield` stands for
    consumer: Frame | None = None  # the frame whose statements run where this one yields
    cleanups: int = 0  # clauses that run after the function has returned, and may read its names
    site: Loc | None = None  # in a definition of this package's: the call that it stands for


__all__ = ["Frame"]
