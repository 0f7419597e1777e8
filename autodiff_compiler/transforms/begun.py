"""Rows that are begun in front of a loop: a term of what each iteration stores, known before, is there already.

Takes a function that nobody differentiates again. A loop that goes over the rows of an array, and stores at each the
sum of two terms, may know one of them for all rows: it is computed from rows of other arrays, by one operation of
arithmetic that gives the same bits for one row and for all. Gives a function that stores this term at all rows in front
of the loop, which adds the other one. No array is made for it, and no row is read that no iteration would have read.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(rates, x):
...     y = np.empty_like(x)
...     y[0] = x[0]
...     for t in range(1, len(x)):
...         y[t] = rates * x[t] + y[t - 1]
...     return np.sum(y * y)
>>> show_source(f, np.ones(2), np.ones((3, 2)))
def f_grad(rates, x):
    y = np.empty_like(x)
    y[0] = x[0]
    n = x.shape[0]
    np.multiply(rates, x[1:], out=y[1:])
    for t in range(1, n):
        y[t] += y[t - 1]
    # adjoint of line 6: return np.sum(y * y)
    y_bar = 2.0 * y
    # adjoint of line 4: for t in range(1, len(x)):
    for t in reversed(range(1, n)):
        # adjoint of line 5: y[t] = rates * x[t] + y[t - 1]
        y_bar[t - 1] += y_bar[t]
    return np.einsum("ij,ij->j", y_bar[1:], x[1:])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.core import LOOP, Builder, Function, Op, Region, Value, type_of
from ..ir.definedness import maybe_undefined
from ..ir.opset import ADD, DIV, GET, MUL, POP, PUSH, SET, SUB
from ..ir.rewrite import collect_uses
from ..ir.types import same_dtype
from ..records import record
from .algebra import install
from .distribute import Rows, counts_rows
from .filling import affine, counted

Uses = dict[Value, list[Op | Region]]


@record
class Begun:
    """A store at the row of each iteration, the sum that it stores, and the term of it that is known for all rows."""

    slot: int
    store: Op
    total: Op
    term: Op


def begin_rows(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Store what is known in front of loops; `before_change` is called if there is something."""
    loops = [op for op in fn.body.walk() if op.prim is LOOP and counts_rows(op) and not _may_stop(op)]
    uses = collect_uses(fn.body) if loops else {}
    maybe = maybe_undefined(fn.body) if loops else set()
    changed = False
    for loop in loops:
        for slot in range(len(loop.inits)):
            found = _found(loop, slot, uses)
            if found is None or loop.inits[slot] in maybe:
                continue
            assert loop.parent is not None
            builder = install(Builder(loop.parent))
            mark = len(loop.parent.ops)
            with builder.active():
                begun = _all_terms(Rows(loop, uses, maybe, builder), found)
            if begun is not None:
                if not changed and before_change is not None:
                    before_change()
                changed = True
                _add_rest(loop, found, begun)
            made = loop.parent.ops[mark:]
            del loop.parent.ops[mark:]
            if begun is not None:
                at = loop.parent.ops.index(loop)
                loop.parent.ops[at:at] = made
                uses = collect_uses(fn.body)
    return changed


def _may_stop(loop: Op) -> bool:
    """An iteration may be the last one, or be seen from outside: it may raise on purpose, or print."""
    return any(op.prim.effects and op.prim not in (PUSH, POP) for op in loop.regions[0].walk())


def _found(loop: Op, slot: int, uses: Uses) -> Begun | None:
    """A store of a sum at the row of each iteration that no iteration reads before, where one term is made for it."""
    (body,) = loop.regions
    param, last, init = body.params[slot + 1], body.exit[slot + 1], loop.inits[slot]
    store = last.op if type(last) is Value else None
    if store is None or store.prim is not SET or store.parent is not body or store.args[0] is not param:
        return None
    t = param.type
    if t.kind != "array" or t.duck is not None or not t.is_float or t.dtype is None or t.dims is None:
        return None
    if type(init) is not Value or uses.get(init) != [loop] or not _are_stored(loop, store, uses):
        return None
    total = store.args[2].op if type(store.args[2]) is Value else None
    if total is None or total.prim not in (ADD, SUB) or not _is_made_for(total, store, uses):
        return None
    for x in total.args if total.prim is ADD else total.args[:1]:
        term = x.op if type(x) is Value else None
        if term is None or term.prim not in (ADD, SUB, MUL, DIV) or not _is_made_for(term, total, uses):
            continue
        if all(_is_row(y, t, body) for y in (term.result, total.result)):
            return Begun(slot, store, total, term)
    return None


def _is_made_for(op: Op, user: Op, uses: Uses) -> bool:
    once = uses.get(op.result) == [user] and sum(x is op.result for x in user.args) == 1
    return once and op.parent is user.parent


def _is_row(v: Value, of: Any, body: Region) -> bool:
    t = v.type
    if t.kind != "array" or t.duck is not None or not t.dims or len(t.dims) + 1 != len(of.dims):
        return False
    return same_dtype(t.dtype, of.dtype) and all(map(body.dims.same, t.dims, of.dims[1:]))


def _are_stored(loop: Op, store: Op, uses: Uses) -> bool:
    """What an iteration reads of the array has been stored by then, or is never stored by the loop."""
    (body,) = loop.regions
    at = _row_of(store, loop)
    if at is None or len(store.args[1][0][1]) != 1 or sum(v is store.result for v in body.exit) != 1:
        return False
    _, down = counted(loop)  # type: ignore[misc]
    for version in (store.args[0], store.result):
        for user in uses.get(version, ()):
            if user is store or (user is body and version is store.result):
                continue
            row = _row_of(user, loop) if isinstance(user, Op) and user.prim is GET else None
            if row is None:
                return False
            before = row > at if down else row < at
            if not before and not (row == at and version is store.result):
                return False
    return True


def _row_of(op: Op, loop: Op) -> int | None:
    """How far from the variable of the loop the row is that a read or a store names, if it counts from the start."""
    path = op.args[1]
    if len(path) != 1 or path[0][0] != "index" or not path[0][1] or type(path[0][1][0]) is not Value:
        return None
    at = affine(path[0][1][0], loop)
    lowest, _ = counted(loop)  # type: ignore[misc]
    return at if at is not None and lowest + at >= 0 else None


def _all_terms(rows: Rows, found: Begun) -> Value | None:
    """The array with the terms of all iterations, stored in front of the loop."""
    base, path = found.store.args[:2]
    place = rows.place(base.type.dims, path)
    rank = found.term.result.type.ndim
    if place is None or rank is None or not rows.is_safe(found.term):
        return None
    operands, known = [], False
    for x in map(rows.taken_out, found.term.args):
        t = type_of(x)
        if t.kind == "array" and (t.duck is not None or not same_dtype(t.dtype, base.type.dtype)):
            return None
        if rows.is_outside(x):
            operands.append(x)
            continue
        read = x.op
        if read is None or read.prim is not GET or read.parent is not rows.body or not rows.is_outside(read.args[0]):
            return None
        row = rows.rows_at(read.args[0], read.args[1], t)
        if row is None or t.kind != "array" or t.ndim != row.rank:
            return None
        operands.append(rows.widened(row, rank))
        known = True
    if not known:
        return None
    builder = rows.builder
    builder.loc, builder.tag = found.term.loc, found.term.tag
    terms = builder.emit(found.term.prim, *operands)
    # A store that nobody has written: it may be computed there (`codegen.array_stores`).
    builder.loc, builder.tag = None, found.store.tag
    return builder.emit(SET, rows.loop.inits[found.slot], place, terms)  # type: ignore[no-any-return]


def _add_rest(loop: Op, found: Begun, begun: Value) -> None:
    """The loop begins with the terms, and each iteration adds the rest to the one of its row."""
    (body,) = loop.regions
    base, path = found.store.args[:2]
    loop.args = (loop.args[0], tuple([begun if k == found.slot else x for k, x in enumerate(loop.inits)]))
    x, y = found.total.args
    rest = y if x is found.term.result else x
    builder = Builder(body)
    mark = len(body.ops)
    builder.loc, builder.tag = found.total.loc, found.total.tag
    row = builder.emit(GET, base, path)
    total = builder.emit(found.total.prim, row, rest)
    made = body.ops[mark:]
    del body.ops[mark:]
    at = body.ops.index(found.total)
    body.ops[at : at + 1] = made
    body.ops.remove(found.term)
    found.store.args = (base, path, total)


__all__ = ["begin_rows"]
