"""A function of stacks: by operations on stacks where that is sound, else by a loop over the examples.

Takes a function and the parameters that become stacks. Gives the function of stacks, whose results are arrays of its
own, and why it runs example by example, if it does.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> def f(x):
...     print(x)
...     return 2.0 * x
>>> made, why = function_of_stacks(lower(f, (1.0,)).function, {0: Axis()}, [True])
>>> str(why), why.op.loc.line
('print, which has an effect for each example', 2)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import UnsupportedError
from ..ir.core import IF, LOOP, Builder, Function, Value, type_of
from ..ir.opset import ASSERT, COPY, OWN, POP, PRIMS, PUSH, RAISE, STORES
from .batch import Axis, NotBatchedError, batch
from .examples import each_alone

_SAME_FOR_ALL = (PUSH, POP, RAISE, ASSERT)  # if they do not read a stack


def function_of_stacks(
    fn: Function, axes: dict[int, Axis], spread: Sequence[bool]
) -> tuple[Function, NotBatchedError | None]:
    """`fn` for a stack of values of these parameters; and why it runs example by example, if it does.

    spread: for each result, whether it becomes a stack if it does not depend on one
    """
    try:
        for op in fn.body.walk():
            if op.prim.effects and op.prim not in _SAME_FOR_ALL:
                raise NotBatchedError(f"{op.prim.name}, which has an effect for each example", op)
        made = batch(fn, axes, spread=spread)
        why: NotBatchedError | None = None
    except NotBatchedError as error:
        why = error
        try:
            made = each_alone(fn, axes, spread)
        except NotBatchedError as refused:
            raise UnsupportedError(
                f"batch: {refused} is no result that can be stacked. It would run once for each example: {why}",
                refused.op.loc if refused.op is not None else why.op.loc if why.op is not None else None,
                "return numbers and arrays of one shape for all examples, or tuples and dictionaries of these",
            ) from None
    _own(made)
    return made, why


def move_result(fn: Function, k: int, axis: int) -> None:
    """Put the axis of the stack of a result there."""
    if axis:
        exits = list(fn.body.exit)
        exits[k] = Builder(fn.body).emit(PRIMS[np.moveaxis], exits[k], 0, axis)
        fn.body.exit = tuple(exits)


def _own(fn: Function) -> None:
    """Each result is an array of its own."""
    builder = Builder(fn.body)
    exits = list(fn.body.exit)
    seen: set[Value] = set()
    for k, x in enumerate(exits):
        if type(x) is Value and not type_of(x).is_scalar and type_of(x).kind not in ("object", "shape"):
            if x in seen or not _is_fresh(x, set()):
                exits[k] = builder.emit(OWN if type_of(x).kind == "list" else COPY, x)
            seen.add(x)
    fn.body.exit = tuple(exits)


def _is_fresh(x: Value, seen: set[Value]) -> bool:
    """The value is new memory."""
    if x in seen:
        return True
    seen.add(x)
    op = x.op
    if op is None:
        return x.region is not None and x.region.op is not None and x.region.op.prim is LOOP
    if op.prim is IF:
        return all(_all_fresh(region.exit[op.results.index(x)], seen) for region in op.regions)
    if op.prim is LOOP:
        k = op.results.index(x)
        return _all_fresh(op.inits[k], seen) and _all_fresh(op.regions[0].exit[1 + k], seen)
    if op.regions:
        return False
    return op.prim in STORES or op.prim.alias == "fresh"  # what is stored into is made ours


def _all_fresh(x: object, seen: set[Value]) -> bool:
    return type(x) is not Value or _is_fresh(x, seen)


__all__ = ["Axis", "function_of_stacks", "move_result"]
