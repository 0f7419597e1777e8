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
from ..ir.rewrite import clone_function, has_ducks
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
    recorded: bool = False,
) -> Emitted:  # fmt: skip
    """The source of an adjoint. The IR is used up: its stores are in place afterwards.

    recorded: by a tape, so no statement of the user's belongs to its operations, and its arrays may be small
    """
    analysis = restore_in_place(fn, split=split)
    doing("writing the code")
    with InternalError.during("the code generator", fn.name):
        return emit_function(
            fn, analysis, name, statement_at=None if recorded else statement_at, split=split, result=result,
            reserved=reserved, quick=recorded,
        )  # fmt: skip


def emit_native(
    fn: Function, name: str, *, split: int | None = None, result: Any = None, reserved: set[str] | None = None,
    recorded: bool = False, parallel: bool = False,
) -> Emitted:  # fmt: skip
    """The source of an adjoint that runs as machine code, if it may. Otherwise a comment in it says why not. See
    `emit_adjoint`."""
    import logging

    from ..native.halves import module_in_halves
    from ..native.handover import lower_halves
    from ..native.lower import lower
    from ..native.module import native_module, with_reason
    from ..native.numbers import NotNative

    loops, _ = clone_function(fn)
    sharing = restore_in_place(loops, split=split, loops=True)
    try:
        if has_ducks(fn):
            raise NotNative("an argument is an array of another library")
        with InternalError.during("the native code generator", fn.name):
            if split is None:
                program = lower(loops, sharing, f"{name}_native", parallel)
            else:
                inner = fn.meta.get("inner", "pullback")
                halves = lower_halves(loops, sharing, split, (f"{name}_native", f"{name}_{inner}_native"))
    except NotNative as found:
        if not recorded:
            logging.getLogger("autodiff_compiler").warning("%s is NumPy code: %s", name, found.why)
        numpy = emit_adjoint(fn, name, split=split, result=result, reserved=reserved, recorded=recorded)
        return with_reason(numpy, found)
    numpy = emit_adjoint(fn, f"{name}_numpy", split=split, result=result, reserved=reserved, recorded=recorded)
    if split is not None:
        return module_in_halves(loops, halves, numpy, name, result or ", ".join)
    return native_module(loops, program, numpy, name, result or ", ".join)


__all__ = ["emit_adjoint", "emit_native", "statement_at"]
