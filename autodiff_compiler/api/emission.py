"""Makes the source of an adjoint from its SSA form, by the last passes and the code generator."""

from __future__ import annotations

from typing import Any

from ..codegen.emit import emit_function
from ..codegen.load import Emitted
from ..codegen.notes import Statement
from ..errors import InternalError
from ..frontend.source import statement_of
from ..ir.budget import doing
from ..ir.core import Function, Loc
from ..transforms.pipeline import restore_in_place
from .places import line_of, text_over_lines


def statement_at(loc: Loc) -> Statement:
    """The user's statement at a location."""
    node = statement_of(loc.file, loc.line, loc.col)
    if node is None:
        return Statement(loc.file, loc.line, loc.col, line_of(loc.file, loc.line))
    text = text_over_lines(node)
    return Statement(loc.file, node.lineno, node.col_offset, line_of(loc.file, node.lineno) if text is None else text)


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
