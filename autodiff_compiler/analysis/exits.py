"""Exit codes: which of them an iteration of a loop may end with, and how one asks for some of them.

Takes a value that is an exit code, or the result of a loop that says how it was left. Gives the codes that it may be,
and a condition that holds for some of these. One and the same question is always the same condition, whoever asks it.

>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.core import Builder
>>> def f(x):
...     while True:
...         x = x * 2.0
...         if x > 9.0:
...             return x
...         if x < 0.0:
...             break
...     return -x
>>> body = lower(f, (1.0,)).function.body
>>> code = next(op for op in body.ops if op.prim is LOOP).exit_code
>>> sorted(codes_of(code, body))
[1, 3]
>>> b = Builder(body)
>>> test, holds = one_of(b, code, {1}, {3})
>>> test.op.prim.name, test.op.args[1], holds
('==', 3, False)
>>> one_of(b, code, {3}, {1}) == (test, True)
True
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from ..ir.core import IF, LOOP, Builder, Exit, Prim, Region, Value
from ..ir.opset import EQ, PRIMS, is_checkpoint
from ..ir.rewrite import enclosing

NE, LT, GE = PRIMS[operator.ne], PRIMS[operator.lt], PRIMS[operator.ge]
TESTS = (EQ, NE, LT, GE)


def codes_of(code: Any, region: Region) -> frozenset[int] | None:
    """The exit codes that a value may be in a region; None if that is not known."""
    if type(code) is not Value:
        return frozenset({int(code)}) if isinstance(code, int) else None
    found = _made(code)
    for inner in enclosing(region):
        owner = inner.op
        if owner is None or owner.prim is not IF:
            continue
        known = asked(owner.condition)
        if known is not None and known[0] is code:
            holds = owner.regions[0] is inner
            if found is not None:
                found = frozenset([c for c in found if known[1].fn(c, known[2]) == holds])
            elif known[1] in (EQ, NE) and (known[1] is EQ) == holds:  # all that is known is what a guard says
                found = frozenset({known[2]})
    return found


def _made(code: Value) -> frozenset[int] | None:
    """The codes that the operation may give which makes a value."""
    op = code.op
    if op is None:
        return None
    if op.prim is IF:
        k = op.results.index(code)
        parts = [codes_of(r.exit[k], r) for r in (op.regions[:1] if is_checkpoint(op) else op.regions)]
        return None if None in parts else frozenset().union(*parts)  # type: ignore[arg-type]
    if op.prim is LOOP and code is op.exit_code:
        body = op.regions[0]
        codes = codes_of(body.exit[0], body)
        if codes is None:
            return None
        return codes - {Exit.NORMAL} if op.range is None else codes | {0}
    return None


def asked(cond: Any) -> tuple[Value, Any, int] | None:
    """The code, the comparison and the number of a condition that asks for an exit code."""
    op = cond.op if type(cond) is Value else None
    if op is None or op.prim not in TESTS:
        return None
    code, number = op.args
    return (code, op.prim, number) if type(code) is Value and type(number) is int else None


def one_of(
    b: Builder, code: Value, some: Iterable[int], others: Iterable[int], known: Region | None = None
) -> tuple[Any, bool]:
    """A condition, and whether it holds or does not hold where the code is one of `some` rather than of `others`.

    The condition is the same if `some` and `others` change places. `known`: a region, perhaps with comparisons that
    the builder may name.
    """

    def compared(prim: Prim, number: int) -> Value:
        for op in known.ops if known is not None else ():
            if op.prim is prim and op.args[0] is code and op.args[1] == number:
                return op.result
        return b.emit(prim, code, number)  # type: ignore[no-any-return]

    sides = sorted(map(sorted, (some, others)))
    first = sides[0] == sorted(some)  # the side with the least code
    low, high = sides
    if len(high) == 1:
        return compared(EQ, high[0]), not first
    if len(low) == 1:
        return compared(EQ, low[0]), first
    if low[-1] < high[0]:
        return compared(GE, high[0]), not first
    cond: Any = compared(EQ, low[0])
    for c in low[1:]:
        cond = b.emit(PRIMS[operator.or_], cond, compared(EQ, c))
    return cond, first


__all__ = ["GE", "LT", "NE", "asked", "codes_of", "one_of"]
