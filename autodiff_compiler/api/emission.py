"""From the SSA form of an adjoint to its source: where the passes, the code generator and the user's source meet."""

from __future__ import annotations

import linecache
from typing import Any

from ..codegen.emit import Emitted, emit_function
from ..codegen.statements import on_one_line
from ..errors import InternalError
from ..frontend.source import statement_over_lines
from ..ir.budget import doing
from ..ir.core import Function, Loc
from ..transforms.pipeline import restore_in_place


def statement_at(loc: Loc) -> tuple[int, str]:
    """The statement that a place belongs to: its first line's number, and its text on one line."""
    node = statement_over_lines(loc.file, loc.line)
    if node is None:
        return loc.line, linecache.getline(loc.file, loc.line).strip()
    return node.lineno, on_one_line(node)


def emit_adjoint(
    fn: Function, name: str, *, split: int | None = None, result: Any = None, reserved: set[str] | None = None,
) -> Emitted:  # fmt: skip
    """The source of an adjoint. The IR is used up: its stores are in place afterwards."""
    analysis = restore_in_place(fn, split=split)
    doing("writing the code")
    with InternalError.during("the code generator", fn.name):
        return emit_function(
            fn, analysis, name, statement_at=statement_at, split=split, result=result, reserved=reserved,
        )  # fmt: skip


__all__ = ["emit_adjoint", "statement_at"]
