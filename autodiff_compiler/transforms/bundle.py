"""One list of tuples in place of several lists that are filled together and emptied together.

Takes a function whose stores are safe in place. What is on a stack is not written to any more, so it may be pushed
later than it is made. Gives the same function with one push in each region that saves, and one pop in each that
restores. A tuple has its items in the order in which they are made.

>>> import numpy as np
>>> from autodiff_compiler import grad
>>> def f(x, y):
...     for i in range(3):
...         x, y = np.sin(x) * y, np.cos(y) + x
...     return x + y
>>> print(grad(f, argnums=(0, 1)).source(0.5, 0.7).strip())
import numpy as np
<BLANKLINE>
<BLANKLINE>
def f_grad(x, y):
    saved = []
    for _ in range(3):
        sin_x = np.sin(x)
        saved.append((x, y, sin_x))
        x, y = sin_x * y, np.cos(y) + x
    x_bar = y_bar = 1.0
    # adjoint of line 2: for i in range(3):
    for x, y, sin_x in reversed(saved):
        # adjoint of line 3: x, y = np.sin(x) * y, np.cos(y) + x
        y_bar2 = x_bar * sin_x - y_bar * np.sin(y)
        x_bar = y_bar + x_bar * y * np.cos(x)
        y_bar = y_bar2
    return x_bar, y_bar
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..ir.core import FUNC, TRY, Function, Op, Region, Value
from ..ir.opset import POP, PUSH, STACK_NEW
from ..ir.rewrite import collect_uses, enclosing
from ..ir.telling import name_of

WIDTH = 100  # characters of a line of emitted code
AROUND = len("saved2.append(())")
UNNAMED = 3  # characters of a name such as ``t12``


def bundle(fn: Function) -> None:
    """Merge the stacks that the same regions push on and pop from."""
    stacks = [op for op in fn.body.walk() if op.prim is STACK_NEW]
    if len(stacks) < 2:
        return
    uses = collect_uses(fn.body)
    groups: dict[object, list[Op]] = {}
    for op in stacks:
        places = _places(op, uses.get(op.result, ()))
        if places is not None:
            groups.setdefault(places, []).append(op)
    made = {v: k for k, v in enumerate(_in_order(fn.body))}
    for group in groups.values():
        group.sort(key=lambda op: made[_pushed_on(op, uses)])
        for part in _lines(group, uses):
            if len(part) > 1:
                _merge(part, uses)


def _in_order(region: Region) -> Iterator[Value]:
    """All values, as they are made."""
    yield from region.params
    for op in region.ops:
        for inner in op.regions:
            yield from _in_order(inner)
        yield from op.results


def _pushed_on(stack: Op, uses: dict[Value, list[Op | Region]]) -> Value:
    """What the first push puts on a stack."""
    first = next(op for op in uses[stack.result] if isinstance(op, Op) and op.prim is PUSH)
    value: Value = first.args[1]
    return value


def _lines(stacks: list[Op], uses: dict[Value, list[Op | Region]]) -> list[list[Op]]:
    """Stacks that go into one tuple: as many as there is room for on a line that pushes or pops them."""
    parts: list[list[Op]] = []
    room = 0
    for stack in stacks:
        users = [op for op in uses[stack.result] if isinstance(op, Op)]
        names = [len(name_of(op.args[1] if op.prim is PUSH else op.result)) or UNNAMED for op in users]
        width = max(names) + len(", ")
        if width > room:
            parts.append([])
            deepest = max([len(list(enclosing(op.parent))) for op in users])
            room = WIDTH - AROUND - 4 * deepest
        parts[-1].append(stack)
        room -= width
    return parts


def _places(stack: Op, users: Sequence[Op | Region]) -> object:
    """The regions that push on a stack and those that pop from it, once each; None if it has to stay as it is."""
    pushed: list[Region] = []
    popped: list[Region] = []
    for user in users:
        if isinstance(user, Region) or user.prim not in (PUSH, POP) or user.parent is None:
            return None
        if user.prim is PUSH and type(user.args[1]) is not Value:
            return None
        (pushed if user.prim is PUSH else popped).append(user.parent)
    regions = {*pushed, *popped}
    if not pushed or not popped or len(regions) < len(pushed) + len(popped):
        return None
    # A handler takes off what its body had pushed, and a call of itself pushes between: where a push stands matters.
    if any(r.op is not None and r.op.prim in (FUNC, TRY) for region in regions for r in enclosing(region)):
        return None
    return stack.parent, frozenset(pushed), frozenset(popped)


def _merge(stacks: list[Op], uses: dict[Value, list[Op | Region]]) -> None:
    """Push at the place of the last push and pop at that of the first pop."""
    order = {op.result: k for k, op in enumerate(stacks)}
    first = stacks[0].result
    first.hint = "saved"
    by_region: dict[Region, list[Op]] = {}
    for stack in order:
        for user in uses[stack]:
            assert isinstance(user, Op) and user.parent is not None
            by_region.setdefault(user.parent, []).append(user)
    for region, ops in by_region.items():
        at = {op: k for k, op in enumerate(region.ops) if op in set(ops)}
        ops.sort(key=lambda op: order[op.args[0]])
        if ops[0].prim is PUSH:
            kept = max(ops, key=lambda op: at[op])
            kept.args = (first, tuple([op.args[1] for op in ops]))
        else:
            kept = min(ops, key=lambda op: at[op])
            kept.args, kept.results = (first,), [op.result for op in ops]
            for result in kept.results:
                result.op = kept
        gone = set(ops) - {kept}
        region.ops[:] = [op for op in region.ops if op not in gone]
    for op in stacks[1:]:
        assert op.parent is not None
        op.parent.ops.remove(op)
