"""The results of a derivative, as the caller expects them.

Takes an adjoint. `finish_results` gives the cotangents the kind, shape and dtype of their arguments. `own_what_is_read`
lets a pullback read only arrays of its own, because the caller may write into the arguments before the pullback runs.
`own_tangents` lets a pushforward take the caller's tangents as they are.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show
>>> def f(x):
...     return x * 3.0
>>> show(f, np.array(2.0), after="residuals")  # the cotangent may be one of NumPy's numbers
func f(%x: float64[]) {
  %x_bar: float64[] = sum_to 3.0, %x
  return %x_bar
}
>>> show(f, np.array(2.0), after="finish")  # the argument is an array without axes
func f(%x: float64[]) {
  %x_bar: float64[] = sum_to 3.0, %x
  %v1: float64[] = finish %x_bar, %x
  return %v1
}
"""

from __future__ import annotations

from typing import Any

from ..ir.core import COMPACT, DERIVED, IF, LOOP, Builder, Function, Op, Region, Value, leaves, type_of
from ..ir.opset import ACCUM, ADDAT, COPY, FINISH, LIST_NEW, OWN, POP, PUSH, SET, STORES, TUPLE
from ..ir.rewrite import collect_uses, content_operands, replace_values
from ..ir.types import OBJECT, same_dtype


def finish_results(fn: Function, count: int) -> None:
    """Give the last `count` results the kind, shape and dtype of the parameters that ``meta["wrt"]`` numbers."""
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


def finish_tangents(fn: Function, orders: int = 1, marked: bool = False) -> None:
    """Give tangents the kind, shape and dtype of their results. The second half of the results are the tangents of the
    first half. In Taylor mode, as many parts as there are orders follow the results.

    From here on, operations on tangents are like all others, unless they stay `marked`.
    """
    builder = Builder(fn.body)
    builder.tag = DERIVED if marked else None
    exits = list(fn.body.exit)
    count = len(exits) // (1 + orders)
    for k in range(count, len(exits)):
        v, d = exits[k % count], exits[k]
        if type(v) is Value and d is not None and not already_like(d, v):
            exits[k] = builder.emit(FINISH, d, v)
    fn.body.exit = tuple(exits)
    for op in () if marked else fn.body.walk():
        op.droppable = op.droppable or op.tag == DERIVED
        op.tag = op.tag if op.tag == COMPACT else None


def already_like(g: Any, x: Value) -> bool:
    """Types prove that the cotangent `g` has the kind, shape and dtype of `x`."""
    tg, tx = type_of(g), x.type
    if tx.kind == "py":
        return tg.is_scalar and tg.dtype is not None and tx.dtype is not None and tg.dtype.kind == tx.dtype.kind
    if tx.kind == "generic":
        return tg.kind == "generic" and same_dtype(tg.dtype, tx.dtype)
    if tx.duck is not None:
        return False  # what is known of `g` is that it may be one
    return tg.kind == tx.kind == "array" and same_dtype(tg.dtype, tx.dtype) and tx.dims is not None and bool(tx.dims)


def own_what_is_read(fn: Function, results: int) -> None:
    """Let a pullback read only arrays of its own.

    Between the forward sweep and the pullback, the caller may write into the arguments and into the first `results`
    results. So the pullback reads copies of the arguments, and the caller gets copies of the results that it reads.
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
            copies.append(_copy_of(param, body))
    replace_values(body, {copy.args[0]: copy.results[0] for copy in copies})
    read.update([copy.results[0] for copy in copies])  # an argument that is a result, too
    body.ops[:0] = copies
    exits = list(body.exit)
    last = max((k for k, op in enumerate(body.ops) if op.tag != DERIVED), default=-1) + 1
    for k in range(results):
        out = exits[k]
        if type(out) is Value and not out.type.is_scalar and out.type.kind != "object":
            if _shared_with(out, read) or _is_kept(out, read, uses):
                copy = _copy_of(out, body)
                body.ops.insert(last, copy)
                last += 1
                exits[k] = copy.result
    body.exit = tuple(exits)


def own_tangents(fn: Function, primals: int, results: int) -> None:
    """Let a pushforward neither hand on the arrays that it gets as tangents, nor read them when they may have changed.

    The tangents are the parameters behind the first `primals`, and the results behind the first `results`. An operation
    with an effect may write into any array that is not an argument.
    """
    body = fn.body
    tangents = [p for p in body.params[primals:] if not p.type.is_scalar]
    exits = list(body.exit)
    handed_on = [
        k for k in range(results, len(exits))
        if type(exits[k]) is Value and not exits[k].type.is_scalar and _hands_on(exits[k], set(tangents))
    ]  # fmt: skip
    if any(op.prim.effects and op.prim not in (PUSH, POP) for op in body.walk()) or any(
        exits[k].type.kind != "array" for k in handed_on
    ):
        copies = [_copy_of(p, body) for p in tangents]
        replace_values(body, {copy.args[0]: copy.result for copy in copies})
        body.ops[:0] = copies
        return
    for k in handed_on:
        copy = _copy_of(exits[k], body)
        body.ops.append(copy)
        exits[k] = copy.result
    body.exit = tuple(exits)


def _hands_on(v: Value, params: set[Value]) -> bool:
    """The value may share memory with one of these parameters. What was stored into is no parameter: those are copied
    before."""
    while v.op is not None and v.op.prim.alias == "view" and type(v.op.args[0]) is Value:
        v = v.op.args[0]
    if v.op is None:
        return v in params
    return v.op.prim not in (SET, ADDAT, ACCUM) and (v.op.prim.alias != "fresh" or bool(v.op.regions))


def _copy_of(v: Value, body: Region) -> Op:
    copy = Op(OWN if v.type.kind == "list" else COPY, (v,))
    copy.results = [Value(v.type, v.hint, copy)]
    copy.parent = body
    return copy


def _lives_on(users: list[Op | Region]) -> bool:
    """The argument itself may be saved: a user carries it, yields it, views it or stores it."""
    return any(
        isinstance(user, Region) or user.regions or user.prim.effects or user.prim.alias != "fresh" for user in users
    )


def free_exits(region: Region) -> set[Value]:
    """The values that a region and the regions in it yield."""
    found = set(leaves(region.exit))
    for op in region.ops:
        for inner in op.regions:
            found |= free_exits(inner)
    return found


def _is_kept(out: Value, read: set[Value], uses: dict[Value, list[Op | Region]]) -> bool:
    """The pullback may read a part of a result, or a value that a loop, a branch or a list has from it."""
    seen: set[Value] = set()
    todo = [out]
    while todo:
        v = todo.pop()
        if v in seen or v.type.is_scalar:
            continue
        seen.add(v)
        if v in read:
            return True
        for user in uses.get(v, ()):
            op = user.op if isinstance(user, Region) else user
            if op is None:
                continue  # the function yields it
            if op.prim is LOOP:
                (body,) = op.regions
                places = body.exit[1:] if isinstance(user, Region) else op.inits
                slots = [k for k, x in enumerate(places) if x is v]
                todo += [x for k in slots for x in (body.params[k + 1], op.results[k])]
            elif op.prim is IF:
                todo += [r for k, r in enumerate(op.results) if isinstance(user, Region) and user.exit[k] is v]
            elif op.regions or (op.prim.effects and op.prim is not POP):
                return True
            elif v not in content_operands(op):
                continue  # it asks for the shape
            elif op.args[0] is v or op.prim not in (SET, ADDAT, ACCUM):
                if op.prim.alias != "fresh" or op.prim in STORES or op.prim in (LIST_NEW, TUPLE):
                    todo += op.results
    return False


def _shared_with(out: Value, read: set[Value]) -> bool:
    """`out` may share memory with a value that the pullback reads. Stores and views are followed back; other operations
    make new memory."""
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
