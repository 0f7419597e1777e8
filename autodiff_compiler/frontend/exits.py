"""The codes of `ir.core.Exit` as plain ints, which is what operations hold and lowering compares."""

from ..ir.core import Exit

NORMAL, BREAK, CONTINUE, RETURN, DONE, RAISED, DEAD = map(int, Exit)

__all__ = ["BREAK", "CONTINUE", "DEAD", "DONE", "NORMAL", "RAISED", "RETURN"]
