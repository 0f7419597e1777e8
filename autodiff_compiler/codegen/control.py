"""Compound statements: ``if``, loops, ``try`` and ``with``.

Takes an operation with regions. Gives blocks. The exit code of an iteration becomes ``break``.

>>> from autodiff_compiler.api.stages import show_source
>>> def f(x):
...     for _ in range(9):
...         if x > 5.0:
...             break
...         x = x * x
...     return x
>>> show_source(f, 2.0)
def f_grad(x):
    x_saved = []
    for _ in range(9):
        if x > 5.0:
            break
        x_saved.append(x)
        x *= x
    x_bar = 1.0
    # adjoint of line 2: for _ in range(9):
    for x in reversed(x_saved):
        # adjoint of line 5: x = x * x
        x_bar = 2.0 * (x_bar * x)
    return x_bar
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..ir import opset
from ..ir.core import CALL, DERIVED, IF, LOOP, UNDEF, Exit, Op, Region, Value
from ..ir.opset import LIST_ITEM, POP, PUSH, STACK_NEW
from ..ir.rewrite import called, enclosing, handler_of
from ..ir.types import PY_BOOL, Dim
from . import layout
from .layout import BREAK, LONG, Assignment, Block, Line
from .wrapping import WIDTH

if TYPE_CHECKING:
    from .emit import Emitter

# Prints the end of a path through the body of a loop, on which the exit code is known or a value. It returns whether
# the path ends in a jump.
Finish = Callable[[Any], bool]


# --- branches -----------------------------------------------------------------------------------------------------


def emit_if(e: Emitter, op: Op, code: int = 0, finish: Finish | None = None) -> None:
    """An ``if``. With `finish`, it ends an iteration of a loop, and its result numbered `code` is the exit code."""
    count, commented = len(e.notes), e.commented
    e.comment(op)
    texts: list[list[Line]] = []
    jumps = []
    for side in op.regions:

        def end(known: Any, side: Region = side) -> bool:
            if not side.ops or side.ops[-1].prim is not opset.RAISE:
                e.assign(list(zip(op.results, side.exit)))
            return finish(known) if finish is not None else False

        with e.block() as lines:
            if finish is None:
                e.emit_ops(side.ops)
                jumps.append(end(None))
            else:
                jumps.append(_emit_path(e, side, side.exit[code], end))
        texts.append(lines)
    if op in e.tried:
        _emit_try(e, e.tried[op], texts[0], texts[1], jumps[1])
        return
    if not texts[0] and not texts[1]:
        if len(e.notes) > count:
            e.lines.remove(e.notes.pop())
        e.commented = commented
        e.unprinted |= e.printer.names_in(op.condition)
        return
    cond, otherwise = _condition(e, op.condition)
    if finish is None and not _is_elif(e, op) and (line := _as_expression(e, op, cond, texts)) is not None:
        e.lines.append(line)
        return
    asked = op.condition.op if type(op.condition) is Value else None
    if asked is not None and asked.prim is opset.TRUTH and asked in e.inlined:  # an ``if`` asks for it anyway
        cond, otherwise = e.printer.show(asked.args[0]), e.printer.negated(asked.args[0])
    if not texts[0] or (jumps[1] and not jumps[0]):
        cond, otherwise = otherwise, cond
        texts.reverse()
        jumps.reverse()
    e.lines += layout.branches(cond, otherwise, texts[0], texts[1], jumps[0])


def _condition(e: Emitter, v: Any) -> tuple[str, str]:
    """The condition of an ``if`` and its negation: that which the line before has found for it alone."""
    last = e.lines[-1] if e.lines else None
    if type(v) is Value and v.op is not None and v.op.prim is IF and e.use_count.get(v) == 1:
        if isinstance(last, Assignment) and last.sign == "=" and last.names == [e.naming.of(v)]:
            e.lines.pop()
            return last.value, f"not ({last.value})"
    return e.printer.show(v), e.printer.negated(v)


def _is_elif(e: Emitter, op: Op) -> bool:
    """An ``if`` that is all of a branch of another one."""
    around = op.parent.op if op.parent is not None else None
    return around is not None and around.prim is IF and all(x is op or x in e.inlined for x in op.parent.ops)  # type: ignore[union-attr]


def _as_expression(e: Emitter, op: Op, cond: str, texts: list[list[Line]]) -> Assignment | None:
    """An ``if`` that only chooses the value of one variable, on one line."""
    line = layout.chosen(cond, texts[0], texts[1], LONG)
    if line is None or len(op.results) != 1:
        return line
    if type(op.condition) is Value and op.condition.type == op.result.type == PY_BOOL:
        then, orelse = (text[0].value for text in texts)  # type: ignore[union-attr]
        line.value = layout.either(cond, then, orelse) or line.value
    return line


def _emit_path(e: Emitter, region: Region, code: Any, finish: Finish) -> bool:
    """The operations of a path through a loop's body. If an ``if`` at its end makes the exit code, each branch goes on
    to the end of the iteration by itself."""
    last = region.ops[-1] if region.ops else None
    if type(code) is not Value or last is None or last.prim is not IF or code.op is not last:
        e.emit_ops(region.ops)
        return finish(code)
    e.emit_ops(region.ops[:-1])
    e.use_count[code] = e.use_count.get(code, 0) - 1  # the jumps say the same
    emit_if(e, last, last.results.index(code), finish)
    e.use_count[code] += 1
    return False


# --- try and with -------------------------------------------------------------------------------------------------


def emit_try(e: Emitter, op: Op) -> None:
    """A ``try`` or a ``with``. If an ``if`` after it is printed as its handler, it is printed with that."""
    handler = handler_of(op, e.inlined) if op.catch else None
    if handler is not None:
        e.tried[handler] = op
    else:
        _emit_try(e, op, [], [], False)


def _emit_try(e: Emitter, op: Op, orelse: list[Line], handler: list[Line], jumps: bool) -> None:
    """`orelse`, `handler`: the text of the clauses. `jumps`: the handler ends in a jump."""
    completed, error, *results = op.results
    (body,) = op.regions
    with_handler = handler_of(op, e.inlined) if op.catch else None
    flag = e.naming.of(completed) if e.use_count.get(completed, 0) > (with_handler is not None) else ""
    stacks = [e.naming.of(s) for s in _pushed_before_raise(body)] if op.catch else []
    marks = {stack: e.unused(f"{stack}_length") for stack in stacks}
    for stack, mark in marks.items():
        e.store([mark], f"len({stack})")
    with e.block() as lines:
        e.emit_ops(body.ops)
        e.assign(list(zip(results, body.exit)))
        if flag:
            e.store([flag], "True")
    if not op.catch:
        e.lines.append(Block("with", e.printer.show(op.context), lines))
        return
    e.lines.append(Block("try", "", lines))
    classes = [e.printer.show(c) for c in op.catch]
    shown = classes[0] if len(classes) == 1 else f"({', '.join(classes)})"
    users = e.users.get(error, ())
    handed_out = any(isinstance(user, Region) for user in users)  # and then often under the same name
    only_in_handler = with_handler is not None and all(_within(user, with_handler.regions[1]) for user in users)
    outlives = e.used(error) and (handed_out or not only_in_handler)
    name = "exception" if outlives else e.naming.of(error) if e.used(error) else ""
    with e.block() as lines:
        if outlives:
            e.store([e.naming.of(error)], name)
        if flag:
            e.store([flag], "False")
        for stack, mark in marks.items():
            e.line(f"del {stack}[{mark}:]")
        e.assign([(r, UNDEF) for r in results])
        e.lines += handler
    e.lines.append(Block("except", f"{shown} as {name}" if name else shown, lines, binds=[name] if name else []))
    if jumps:
        e.lines += orelse
    elif orelse:
        e.lines.append(Block("else", "", orelse))


def _within(user: Op | Region, region: Region) -> bool:
    return any(r is region for r in enclosing(user if isinstance(user, Region) else user.parent))


def _pushed_before_raise(body: Region) -> list[Value]:
    """The stacks that something is put on before the last operation that may raise."""
    ops = list(body.ops)
    while ops and ops[-1].prim is PUSH:
        ops.pop()
    found: dict[Value, None] = {}
    funcs: set[Op] = set()

    def visit(op: Op) -> None:
        if op.prim is PUSH:
            found[op.args[0]] = None
        if op.prim is CALL and called(op) not in funcs:
            funcs.add(called(op))
            visit(called(op))
        for region in op.regions:
            for inner in region.ops:
                visit(inner)

    for op in ops:
        visit(op)
    inside = {r for op in body.walk() for r in op.results}
    return [stack for stack in found if stack not in inside]


# --- loops --------------------------------------------------------------------------------------------------------


def emit_loop(e: Emitter, op: Op) -> None:
    """A ``for`` or a ``while``. Its results are its carried variables."""
    (body,) = op.regions
    index, *carried = body.params
    e.assign(list(zip(carried, op.inits)))
    e.comment(op)
    counters = [e.naming.of(v) for v in (op.trips, *([index] if op.range is None else [])) if e.used(v)]
    code = e.naming.of(op.exit_code) if e.used(op.exit_code) else ""
    if e.used(op.trips):
        e.store([e.naming.of(op.trips)], "0")
    if code:
        e.store([code], "0")
    if op.range is None and e.used(index):
        e.store([e.naming.of(index)], "0")
    head = _head(e, op)

    def finish(known: Any) -> bool:
        e.assign(list(zip(carried, body.exit[1:])))
        decided = type(known) is not Value
        if code and not (decided and known == Exit.NORMAL):
            e.store([code], e.printer.show(known))
        if not decided:
            e.lines.append(Block("if", e.printer.show(known), [BREAK], e.printer.negated(known)))
        elif known != Exit.NORMAL:
            e.line(BREAK)
            return True
        for counter in counters:
            e.store([counter], "1", "+=")
        return False

    with e.block() as head.body:
        _emit_path(e, body, body.exit[0], finish)
    first = head.body[0] if head.body else None
    if op.range is None and isinstance(first, Block) and first.otherwise and first.body == [BREAK]:
        head.text = first.otherwise  # ``while True: if not c: break`` is ``while c``
        del head.body[0]
    e.lines.append(head)
    e.assign(list(zip(op.carried, carried)))


def _head(e: Emitter, op: Op) -> Block:
    """The loop without its body."""
    if op.range is None:
        return Block("while", "True", [])
    index = op.regions[0].params[0]
    pops, items = _over_saved(e, op), [x for x in op.regions[0].ops if x.prim is LIST_ITEM and x.args[1] is index]
    counted = len(items) < e.use_count.get(index, 0)
    if pops and (counted or items) and not _is_largest(e, op, [pop.results for pop in pops]):
        pops = []
    both = ([*items, *pops], pops if counted else items, items)
    for taken in both if items and pops else ([*items, *pops],):
        rows = [[index]] if counted else []
        rows += [x.results for x in taken]
        over = [e.printer.range(op.range)] if counted else []
        over += _over_items(e, op, [x for x in taken if x.prim is LIST_ITEM])
        over += [f"reversed({e.naming.of(pop.args[0])})" for pop in taken if pop.prim is POP]
        names, head = _targets(e, rows)
        shown = over[0] if len(over) == 1 else f"zip({', '.join(over)})"
        all_of_one = counted and len(taken) == len(items) == 1 and _is_all(op, items[0])
        if all_of_one:
            shown = f"enumerate({over[1]})"
        if taken and len(f"for {head} in {shown}:") + 4 * len(list(enclosing(op.parent))) <= WIDTH:
            e.taken.update(taken)
            if not counted or all_of_one:
                e.unprinted |= e.printer.names_in(op.range)
            return Block("for", f"{head} in {shown}", [], binds=names)
    names, head = _targets(e, [[index]])
    return Block("for", f"{head} in {e.printer.range(op.range)}", [], binds=names)


def _is_all(loop: Op, item: Op) -> bool:
    """The loop runs over all of the list, from its start."""
    return not (loop.range[3:] and loop.range[3]) and item.args[3:] == (0, None)  # type: ignore[index]


def _over_items(e: Emitter, loop: Op, items: list[Op]) -> list[str]:
    """The lists that a loop runs over, or the parts of them."""
    shown = []
    backwards = bool(loop.range and loop.range[3:] and loop.range[3])
    ends = backwards or all(item.args[4] is not None for item in items)  # ``zip`` ends with the shortest list
    for item in items:
        first, last = item.args[3:]
        text = e.printer.show(item.args[0])
        if first or (last is not None and ends):
            text += f"[{first or ''}:{'' if last is None or not ends else e.printer.show(last)}]"
        shown.append(f"reversed({text})" if backwards else text)
    return shown


def _targets(e: Emitter, rows: list[list[Value]]) -> tuple[list[str], str]:
    """The names that a loop binds to these values, and how they are written."""
    names = [[e.naming.of(v) if e.used(v) else "_" for v in row] for row in rows]
    shown = [f"({', '.join(row)})" if len(row) > 1 and len(rows) > 1 else ", ".join(row) for row in names]
    return [name for row in names for name in row], ", ".join(shown)


def _over_saved(e: Emitter, op: Op) -> list[Op]:
    """The pops of a loop that is printed as ``for x in reversed(x_saved)``.

    Each of its iterations begins with the values that one iteration of the forward sweep saved, and nothing else saved
    any.
    """
    body = op.regions[0]
    if op.tag != DERIVED:
        return []
    pops: list[Op] = []
    for inner in body.ops:
        if inner.prim is LIST_ITEM:
            continue
        if inner.prim is not POP:
            break
        pops.append(inner)
    if not 1 <= len(pops) <= 3:
        return []
    if len(pops) == 1 and pops[0].args[0].op.prim is POP:
        return pops  # a list that was saved for this loop alone
    makers = {_only_pushing_loop(e, pop, op.parent) for pop in pops}
    return pops if len(makers) == 1 and None not in makers else []


def _is_largest(e: Emitter, loop: Op, rows: list[list[Value]]) -> bool:
    """What is saved is as large in each iteration, and no array that the loop, or what follows it, makes has more axes.

    Values that are popped go one by one, so they leave room for what is larger.
    """
    region: Region | None = loop.parent
    assert region is not None
    if any(op.prim is STACK_NEW for op in loop.regions[0].walk()):
        return False  # each iteration saves values of its own
    dims = region.dims.top()
    saved = [v.type for row in rows for v in row]
    for d in [d for t in saved for d in t.dims or () if isinstance(d, Dim)]:
        if d.root in dims.varying or not (d.root in dims.arg_roots or d.root in dims.derived):
            return False
    if region not in e.axes_from:
        e.axes_from[region] = list(accumulate(map(_most_axes, reversed(region.ops)), max))
    most = e.axes_from[region][len(region.ops) - 1 - region.ops.index(loop)]
    return most <= max([1, *[t.ndim or 0 for t in saved]])


def _most_axes(op: Op) -> float:
    """How many axes an array may have that an operation, or one within it, makes."""
    made = [v.type for inner in _within_too(op) if inner.prim is not POP for v in inner.results]
    return max([math.inf if t.ndim is None else t.ndim for t in made if t.kind in ("array", "any")], default=0)


def _within_too(op: Op) -> Iterator[Op]:
    yield op
    for region in op.regions:
        yield from region.walk()


def _only_pushing_loop(e: Emitter, pop: Op, region: Region | None) -> Op | None:
    """The loop of the region that pushes once in each iteration what this operation pops. The stack is made there."""
    stack = pop.args[0]
    others = [user for user in e.users.get(stack, ()) if user is not pop]
    push = others[0] if len(others) == 1 else None
    if not isinstance(push, Op) or push.prim is not PUSH or stack.op is None or stack.op.parent is not region:
        return None
    site = push.parent
    while site is not None and site.op is not None and site.op.prim is IF:
        site = site.op.parent
    loop = site.op if site is not None else None
    return loop if loop is not None and loop.prim is LOOP and loop.parent is region else None
