"""One list of tuples in place of several lists that are filled together and emptied together.

Takes a function whose stores are safe in place. What is on a stack is not written to any more, so it may be pushed
later than it is made. Gives the same function with one push in each region that saves, and one pop in each that
restores.

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
        t = np.sin(x)
        saved.append((y, t, x))
        x2 = t * y
        y = np.cos(y) + x
        x = x2
    x_bar, y_bar = 1.0, 1.0
    # adjoint of line 2: for i in range(3):
    for y, t, x in reversed(saved):
        # adjoint of line 3: x, y = np.sin(x) * y, np.cos(y) + x
        y_bar2 = x_bar * t - y_bar * np.sin(y)
        x_bar = y_bar + x_bar * y * np.cos(x)
        y_bar = y_bar2
    return x_bar, y_bar
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.core import FUNC, TRY, Function, Op, Region, Value
from ..ir.opset import POP, PUSH, STACK_NEW
from ..ir.rewrite import collect_uses, enclosing

MOST = 6  # values in a tuple: more do not fit on a line


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
    for group in groups.values():
        for k in range(0, len(group), MOST):
            if len(group[k : k + MOST]) > 1:
                _merge(group[k : k + MOST], uses)


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
