"""The lowering of a function, with the operations of all modules."""

from __future__ import annotations

from ..analysis.sharing import Sharing
from ..ir.core import Function, Value
from . import basics, control, foreign, functions, stacks  # noqa: F401  (they enter what they lower)
from .hoisting import drop_unread
from .improvements import finish, improve
from .lowering import Lowered, Lowering
from .parallel import in_parallel
from .promotion import Promoted
from .verifier import verify


def lower(fn: Function, sharing: Sharing, name: str, parallel: bool = False) -> Lowered:
    """The program of a function. Raises NotNative. With `parallel`, threads run its loops where they may."""
    promoted: frozenset[Value] = frozenset()
    while True:
        try:
            lowering = Lowering(fn, sharing, foreign.call, stacks.room, promoted=promoted)
            found = lowering.run(name)
            break
        except Promoted as error:
            promoted |= {error.value}
    improve(found.program)
    if parallel:
        in_parallel(found.program, lowering.fresh)
        drop_unread(found.program)
    finish(found.program)
    verify(found.program)
    return found
