"""Ranges: their items, parts and methods."""

from __future__ import annotations

import operator
from typing import Any

from ..errors import ArgumentError
from ..ir.core import type_of
from ..ir.opset import SLICE_BOUND
from .avals import Obj, RangeOf, SliceOf, is_constant, is_static_int
from .folds import proved
from .handlers import Node, Val


def known(av: RangeOf) -> range | None:
    """The range, if it is known at compile time."""
    return range(*av.parts()) if all(map(is_static_int, av.parts())) else None


def range_length(interp: Any, av: RangeOf, node: Node) -> Val:
    """``len(av)``."""
    real = known(av)
    if real is not None:
        return proved("length", len(real))
    if not is_static_int(av.step):
        interp.fail("len() of this range is not supported", node, "use the numbers that the range is made of")
    # The distance, divided by the step and rounded up.
    first, last = (av.start, av.stop) if av.step > 0 else (av.stop, av.start)
    n = last if is_static_int(first) and first == 0 else interp.binary(operator.sub, last, first, node)
    step = abs(av.step)
    if step > 1:
        n = interp.binary(operator.floordiv, interp.binary(operator.add, n, step - 1, node), step, node)
    return interp.call(Obj(max, None), [n, 0], {}, node)


def range_item(interp: Any, av: RangeOf, index: Val, node: Node) -> Val:
    """``av[index]``."""
    if type(index) is SliceOf:
        return part(interp, av, index, node)
    real = known(av)
    place = interp.operand(index, node)
    if real is not None and is_constant(place):
        return interp.folded(operator.getitem, [real, place], {}, node)
    t = type_of(place)
    if t.dtype is None or t.dtype.kind not in "iub" or not t.is_scalar:
        interp.fail("a range with an index that is not known to be an int", node, "use int(...)", ArgumentError)
    n = interp.length(av, node)
    if not is_static_int(place):
        negative = interp.truth(interp.compare_with(operator.lt, place, 0, node), node)
        from_end = place
        place = interp.branch(negative, lambda: interp.binary(operator.add, n, from_end, node), lambda: from_end, node)
    elif place < 0:
        place = interp.binary(operator.add, n, place, node)
    inside = [interp.compare_with(operator.ge, place, 0, node), interp.compare_with(operator.lt, place, n, node)]
    flags = [interp.truth(x, node) for x in inside]
    both = interp.branch(flags[0], lambda: flags[1], lambda: flags[0], node)
    interp.raise_unless(both, IndexError, "range object index out of range", node)
    return interp.binary(operator.add, av.start, interp.binary(operator.mul, place, av.step, node), node)


def part(interp: Any, av: RangeOf, index: SliceOf, node: Node) -> RangeOf:
    """A part of a range is a range."""
    real = known(av)
    bounds = [interp.operand(b, node) for b in index.parts()]
    if real is not None and all(b is None or is_static_int(b) for b in bounds):
        made = interp.folded(operator.getitem, [real, slice(*bounds)], {}, node)
        return RangeOf(made.start, made.stop, made.step)
    step = 1 if bounds[2] is None else bounds[2]
    if not is_static_int(step) or step == 0:
        interp.fail("a part of a range with a step known at run time only", node, "write the range itself")
    n = interp.length(av, node)
    first, last = (interp.emit(node, SLICE_BOUND, k, n, *bounds) for k in range(2))
    steps = [interp.binary(operator.mul, k, av.step, node) for k in (first, last, step)]
    at = [interp.binary(operator.add, av.start, k, node) for k in steps[:2]]
    return RangeOf(at[0], at[1], steps[2])
