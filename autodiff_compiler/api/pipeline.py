"""The order of the passes, from a lowered function to the source of its adjoint."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import Any

from ..codegen.emit import Emitted, emit_function
from ..ir.core import Builder, Function, Loc, Value, type_of
from ..ir.opset import FINISH
from ..transforms.inplace import restore_inplace
from ..transforms.simplify import simplify
from ..transforms.vjp import DERIVED, differentiate


def source_line(loc: Loc) -> str:
    return linecache.getline(loc.file, loc.line)


def adjoint(fn: Function, wrt: Sequence[int], *, keep_results: bool = False, seeds: Sequence[Any] | None = None) -> Function:
    """The simplified adjoint of a function; see `transforms.vjp.differentiate`."""
    out = differentiate(fn, wrt, seeds=seeds, keep_results=keep_results)
    simplify(out)
    return out


def finish(fn: Function, count: int) -> None:
    """Give the last `count` results the kind, shape and dtype of the parameters that they are cotangents of.

    ``meta["wrt"]`` names these parameters.
    """
    builder = Builder(fn.body)
    builder.tag = DERIVED
    exits = list(fn.body.exit)
    first = len(exits) - count
    for k, number in enumerate(fn.meta["wrt"]):
        x = fn.body.params[number]
        g = exits[first + k]
        if not already_like(g, x):
            exits[first + k] = builder.emit(FINISH, g, x)
    fn.body.exit = tuple(exits)


def already_like(g: Any, x: Value) -> bool:
    tg, tx = type_of(g), x.type
    if tx.kind == "py":
        return tg.is_scalar and tg.dtype is not None and tx.dtype is not None and tg.dtype.kind == tx.dtype.kind
    if tx.kind == "generic":
        return tg.kind == "generic" and tg.dtype == tx.dtype and tx.dtype is not None
    return tg.kind == tx.kind == "array" and tg.dtype == tx.dtype and tx.dtype is not None and tx.dims is not None and bool(tx.dims)


def emit_adjoint(
    fn: Function, name: str, *, split: int | None = None, params: list[str] | None = None, prelude: list[str] | None = None,
    result: Any = None,
) -> Emitted:  # fmt: skip
    """The source of an adjoint. The IR is used up: its stores are in place afterwards."""
    analysis = restore_inplace(fn, split=split is not None)
    simplify(fn)
    analysis = restore_inplace(fn, split=split is not None)
    return emit_function(fn, analysis, name, line_of=source_line, split=split, params=params, prelude=prelude, result=result)
