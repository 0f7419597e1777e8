"""A list of its own for each run of an inner loop, in place of one list for all runs.

Takes a function whose stores are safe in place, in which values that are saved together are on one stack (`bundle`).
Gives the same function with more lists. Where an inner loop and its reverse run in the same iteration of an outer loop,
the list of what the one saves for the other is made there. Where an outer loop saves how often an inner loop has run,
and its reverse takes that many values, the outer loop saves the list instead of the count. `codegen.control` prints
``for y in reversed(y_saved)`` then.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x):
...     y = 1.0
...     for i in range(len(x)):
...         y = y * x[i]
...         while y > 1.0:
...             y = np.exp(-y) * y
...     return y
>>> show_source(f, np.ones(3))
def f_grad(x):
    x_list = x.tolist()
    saved = []
    y = 1.0
    for x_i in x_list:
        y2 = float(y * x_i)
        iterations = []
        while y2 > 1.0:
            exp_minus_y = np.exp(-y2)
            iterations.append((y2, exp_minus_y))
            y2 = exp_minus_y * y2
        saved.append((y, iterations))
        y = y2
    x_bar = []
    y_bar = 1.0
    # adjoint of line 3: for i in range(len(x)):
    for x_i, (y, iterations) in zip(reversed(x_list), reversed(saved)):
        y_bar2 = float(y_bar)
        # adjoint of line 5: while y > 1.0:
        for y2, exp_minus_y in reversed(iterations):
            # adjoint of line 6: y = np.exp(-y) * y
            t = 1.7976931348623157e308 if exp_minus_y > 1.7976931348623157e308 else exp_minus_y
            y_bar2 = y_bar2 * exp_minus_y - y_bar2 * y2 * t
        # adjoint of line 4: y = y * x[i]
        y_bar = y_bar2 * x_i
        x_bar.append(y_bar2 * y)
    return np.array(x_bar[::-1])
"""

from __future__ import annotations

from ..ir.core import DERIVED, FUNC, LOOP, TRY, Function, Op, Region, Value
from ..ir.opset import ADD, LEN, POP, PUSH, STACK_NEW
from ..ir.rewrite import collect_uses, enclosing
from ..ir.types import STACK, py_int

Uses = dict[Value, list[Op | Region]]


def own_lists(fn: Function) -> None:
    """Let each run of an inner loop fill a list of its own."""
    reversed_loops = [op for op in fn.body.walk() if op.prim is LOOP and op.tag == DERIVED and op.range is not None]
    reversed_loops = [op for op in reversed_loops if op.parent is not fn.body]
    uses = collect_uses(fn.body) if reversed_loops else {}
    for loop in reversed_loops:
        if not _make_where_both_run(loop, uses):
            _save_instead_of_count(loop, uses)


def _make_where_both_run(reverse: Op, uses: Uses) -> bool:
    """Make the lists of a loop that runs in front of its reverse, in the same block, in that."""
    moved = False
    for pop in [op for op in reverse.regions[0].ops if op.prim is POP]:
        push = _push_of(pop, uses)
        if push is not None and not _is_guarded(push) and not _is_guarded(pop):
            owners = (r.op for r in enclosing(push.parent))
            loop = next((op for op in owners if op is not None and op.parent is reverse.parent), None)
            if loop is not None and loop.prim is LOOP and _reverses(reverse, loop) and _is_in_iterations(push, loop):
                _move(push.args[0], loop)
                moved = True
    return moved


def _reverses(reverse: Op, loop: Op) -> bool:
    """It has as many iterations: the same range, or those that the other loop has counted."""
    assert reverse.range is not None
    start, count, step, *flags = reverse.range
    if flags != [True]:
        return False
    if loop.range is not None and all(a is b or a == b for a, b in zip((start, count, step), loop.range[:3])):
        return True
    made = count.op if type(count) is Value else None
    counted = made.args[0] if made is not None and made.prim is ADD and made.args[1] == 1 else count
    return (start, step) == (0, 1) and counted is loop.trips


def _move(stack: Value, loop: Op) -> None:
    """Make the stack in front of the loop."""
    made = stack.op
    assert made is not None and made.parent is not None and loop.parent is not None
    made.parent.ops.remove(made)
    made.parent = loop.parent
    loop.parent.ops.insert(loop.parent.ops.index(loop), made)


def _save_instead_of_count(reverse: Op, uses: Uses) -> None:
    """Save the list of the loop that this one reverses, if it is counted."""
    assert reverse.range is not None and reverse.parent is not None
    start, count, step, *flags = reverse.range
    body = reverse.regions[0]
    if (start, step, flags) != (0, 1, [True]) or type(count) is not Value or uses.get(body.params[0]):
        return
    more = count.op if count.op is not None and count.op.prim is ADD and count.op.args[1] == 1 else None
    trips = count if more is None else more.args[0]
    taken = trips.op if type(trips) is Value else None
    if taken is None or taken.prim is not POP or taken.parent is not reverse.parent or not _is_used_once(trips, uses):
        return
    if more is not None and not _is_used_once(count, uses):
        return
    kept = _push_of(taken, uses)
    place = taken.results.index(trips)
    if kept is None:
        return
    values = kept.args[1] if type(kept.args[1]) is tuple else (kept.args[1],)
    loop = values[place].op if len(values) > place and type(values[place]) is Value else None
    if loop is None or loop.prim is not LOOP or values[place] is not loop.trips or loop.parent is not kept.parent:
        return
    if not _is_used_once(loop.trips, uses):
        return
    pops = [op for op in body.ops if op.prim is POP]
    push = _push_of(pops[0], uses) if len(pops) == 1 else None
    if push is None or not _is_in_iterations(push, loop) or any(_is_guarded(op) for op in (push, pops[0], kept)):
        return
    stack = push.args[0]
    _move(stack, loop)
    if stack.hint == "saved":
        stack.hint = "iterations"
    kept.args = (kept.args[0], (*values[:place], stack, *values[place + 1 :]) if len(values) > 1 else stack)
    found = taken.results[place] = Value(STACK, stack.hint, taken)
    pops[0].args = (found,)
    length = Op(LEN, (found,))
    length.tag, length.parent, length.results = DERIVED, reverse.parent, [Value(py_int(), "", length)]
    ops = reverse.parent.ops
    if more is not None:
        ops.remove(more)
    ops.insert(ops.index(reverse), length)
    reverse.args = ((0, length.result, 1, True), *reverse.args[1:])


def _is_used_once(v: Value, uses: Uses) -> bool:
    return len(uses.get(v, ())) == 1


def _push_of(pop: Op, uses: Uses) -> Op | None:
    """What puts on a stack what this operation takes, if nothing else uses the stack."""
    users = [user for user in uses.get(pop.args[0], ()) if user is not pop]
    made = pop.args[0].op
    if len(users) != 1 or not isinstance(users[0], Op) or users[0].prim is not PUSH or made is None:
        return None
    return users[0] if made.prim is STACK_NEW else None


def _is_in_iterations(push: Op, loop: Op) -> bool:
    """The operation runs at most once in an iteration of the loop."""
    region = push.parent
    while region is not None and region is not loop.regions[0]:
        if region.op is None or region.op.prim is LOOP:
            return False
        region = region.op.parent
    return region is not None


def _is_guarded(op: Op) -> bool:
    """A handler takes off what was saved before an exception, and a call saves on the stack of its caller."""
    return any(r.op is not None and r.op.prim in (FUNC, TRY) for r in enclosing(op.parent))


__all__ = ["own_lists"]
