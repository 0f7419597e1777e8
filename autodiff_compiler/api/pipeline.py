"""The order of the passes, from a lowered function to the source of its adjoint."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import Any

from ..codegen.emit import Emitted, emit_function
from ..codegen.statements import on_one_line
from ..frontend.source import statement_over_lines
from ..ir.budget import doing
from ..ir.core import Builder, Function, Loc, Op, Region, Value, leaves, type_of
from ..ir.opset import COPY, FINISH, STORES
from ..ir.rewrite import collect_uses, content_operands, replace_values
from ..ir.types import OBJECT, same_dtype
from ..transforms.inplace import restore_inplace
from ..transforms.lists import forget_likes
from ..transforms.simplify import fuse_branches, simplify
from ..transforms.vjp import DERIVED, differentiate


def statement_at(loc: Loc) -> tuple[int, str]:
    """The statement that a place belongs to: its first line's number, and its text on one line."""
    node = statement_over_lines(loc.file, loc.line)
    if node is None:
        return loc.line, linecache.getline(loc.file, loc.line).strip()
    return node.lineno, on_one_line(node)


def adjoint(
    fn: Function, wrt: Sequence[int], *, keep_results: bool = False, seeds: Sequence[Any] | None = None,
    optimise: bool = True, use_up: bool = False, masks: bool | None = True,
) -> Function:  # fmt: skip
    """The simplified adjoint of a function; see `transforms.vjp.differentiate`.

    Without `optimise`, no peephole, no recomputation, no folding: what tests compare the usual one with.
    """
    doing("differentiating it")
    out = differentiate(fn, wrt, seeds=seeds, keep_results=keep_results, optimise=optimise, use_up=use_up, masks=masks)
    if optimise and any(op.regions for op in out.body.ops):  # else there is nothing to fold, and nothing dead is left
        doing("simplifying the adjoint")
        fuse_branches(out)
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
        return tg.kind == "generic" and same_dtype(tg.dtype, tx.dtype)
    return tg.kind == tx.kind == "array" and same_dtype(tg.dtype, tx.dtype) and tx.dims is not None and bool(tx.dims)


def own_what_the_pullback_reads(fn: Function, results: int) -> None:
    """Between the forward sweep and the pullback, the caller may write into the arguments and into the results.

    So the pullback reads copies of the arguments, and results that it reads are copied when they are handed out.
    """
    body = fn.body
    backward = [op for op in body.ops if op.tag == DERIVED]
    read: set[Value] = set()
    for op in backward:
        read.update(content_operands(op))
        for region in op.regions:
            for inner in region.walk():
                read.update(content_operands(inner))
            read.update(free_exits(region))
    read.update(leaves(body.exit[results:]))
    copies: list[Op] = []
    seeds = fn.meta["seed_params"]
    uses = collect_uses(body)
    for param in body.params[: len(body.params) - seeds]:
        if not param.type.is_scalar and param.type != OBJECT and (param in read or _lives_on(uses.get(param, []))):
            copy = Op(COPY, (param,))
            copy.results = [Value(param.type, param.hint, copy)]
            copy.parent = body
            copies.append(copy)
    replace_values(body, {copy.args[0]: copy.results[0] for copy in copies})
    body.ops[:0] = copies
    exits = list(body.exit)
    last = max((k for k, op in enumerate(body.ops) if op.tag != DERIVED), default=-1) + 1
    for k in range(results):
        out = exits[k]
        if type(out) is Value and not out.type.is_scalar and out.type.kind != "object":
            copy = Op(COPY, (out,))
            copy.results = [Value(out.type, out.hint, copy)]
            copy.parent = body
            if _shared_with(out, read):
                body.ops.insert(last, copy)
                last += 1
                exits[k] = copy.results[0]
    body.exit = tuple(exits)


def _lives_on(users: list[Op | Region]) -> bool:
    """The argument itself may be what is saved: it is carried, handed on, viewed or put somewhere."""
    return any(
        isinstance(user, Region) or user.regions or user.prim.effects or user.prim.alias != "fresh" for user in users
    )


def free_exits(region: Region) -> set[Value]:
    found = set(leaves(region.exit))
    for op in region.ops:
        for inner in op.regions:
            found |= free_exits(inner)
    return found


def _shared_with(out: Value, read: set[Value]) -> bool:
    """`out` may share memory with something that the pullback reads; stores and views are followed back, all else is
    fresh."""
    seen: set[Value] = set()
    todo = [out]
    while todo:
        v = todo.pop()
        if v in seen:
            continue
        seen.add(v)
        if v in read:
            return True
        if v.op is None:
            return True  # an argument, or carried by a loop
        if v.op.prim.alias != "fresh" or v.op.prim in STORES or v.op.regions:
            return True
    return False


def emit_adjoint(
    fn: Function, name: str, *, split: int | None = None, result: Any = None, reserved: set[str] | None = None,
) -> Emitted:  # fmt: skip
    """The source of an adjoint. The IR is used up: its stores are in place afterwards."""
    if split is not None:
        own_what_the_pullback_reads(fn, split)
    forget_likes(fn)
    doing("finding out which stores may be done in place")
    analysis = restore_inplace(fn, split=split is not None)
    doing("writing the code")
    return emit_function(
        fn, analysis, name, statement_at=statement_at, split=split, result=result, reserved=reserved,
    )  # fmt: skip
