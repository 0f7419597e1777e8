"""Where paths meet that are to be compiled apart, since a derivative needs the number of axes of what they bind.

Only a transformation finds out that a number of axes is missing. It says where the paths meet, and the function is
lowered again: the frontend compiles what follows that place once for each path.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

from ..errors import AutodiffError, UnknownAxesError
from .core import Loc, Op, Value

T = TypeVar("T")

APART: ContextVar[frozenset[Loc]] = ContextVar("apart", default=frozenset())


def with_known_axes(attempt: Callable[[], T]) -> T:
    """``attempt()``, again and again while it is for a number of axes that it fails, and a place of which this is new.

    The first error stands if that does not help.
    """
    first: AutodiffError | None = None
    token = APART.set(APART.get())
    try:
        while True:
            try:
                return attempt()
            except UnknownAxesError as error:
                first = first or error
                if error.joined is None or error.joined in APART.get():
                    raise first from None
                APART.set(APART.get() | {error.joined})
            except AutodiffError:
                if first is None:
                    raise
                raise first from None
    finally:
        APART.reset(token)


def joined_at(value: Value) -> Op | None:
    """The operation at which the number of axes of a value became unknown."""
    seen: set[Value] = set()
    while value not in seen:
        seen.add(value)
        op = value.op
        if op is None or op.regions:
            return op
        vague = [v for v in op.operands() if v.type.dims is None and v.type.kind in ("any", "array")]
        if not vague:
            return op
        value = vague[0]
    return None
