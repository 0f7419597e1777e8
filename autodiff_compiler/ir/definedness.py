"""Which values are undefined on some path: names that no assignment on it has bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .core import IF, LOOP, TRY, UNDEF, Region, Value, leaves
from .opset import COPY, POP, PUSH, SNAPSHOT
from .rewrite import enclosing


def maybe_undefined(body: Region) -> set[Value]:
    """Values that are undefined on some path."""
    maybe: set[Value] = set()
    found = [op for op in body.walk() if op.prim in _TELLING]
    before = -1
    while before != len(maybe):
        before = len(maybe)
        for op in found:
            if op.prim is IF:
                for k, r in enumerate(op.results):
                    if any(_is_maybe(s.exit[k], maybe) for s in op.regions):
                        maybe.add(r)
            elif op.prim is LOOP:
                inner = op.regions[0]
                for k, init in enumerate(op.inits):
                    out = inner.exit[k + 1]
                    if _is_maybe(init, maybe) or (type(out) is Value and out in maybe):
                        maybe.add(inner.params[k + 1])
                        if op.range is not None or _left_undefined(inner, out, maybe):
                            maybe.add(op.results[k])
            elif op.prim is TRY:  # a `with` alone catches nothing
                maybe.update([v for v, x in zip(op.results[2:], op.regions[0].exit) if op.catch or _is_maybe(x, maybe)])
            elif op.prim is PUSH and (op.args[1] is UNDEF or any(v in maybe for v in leaves(op.args[1]))):
                maybe.add(op.args[0])
            elif op.prim in (POP, COPY, SNAPSHOT) and op.args[0] in maybe:
                maybe.update(op.results)
    return maybe


_TELLING = frozenset({IF, LOOP, TRY, PUSH, POP, COPY, SNAPSHOT})


def _left_undefined(body: Region, out: Any, maybe: set[Value]) -> bool:
    """What an iteration yields may be undefined if it leaves the loop."""
    return any((type(code) is Value or code != 0) and _is_maybe(x, maybe) for code, x in ends(body, out))


def ends(body: Region, out: Any) -> Iterator[tuple[Any, Any]]:
    """The ends of an iteration: its exit code, and what it yields as `out`."""
    todo = [(body, body.exit[0], out)]
    while todo:
        region, code, x = todo.pop()
        branch = code.op if type(code) is Value else None
        if branch is not None and branch.prim is IF and branch.parent is region:
            k = branch.results.index(code)
            j = branch.results.index(x) if type(x) is Value and x.op is branch else None
            todo += [(side, side.exit[k], x if j is None else side.exit[j]) for side in branch.regions]
        else:
            yield code, x


def where_left(place: Region | None, v: Value, maybe: set[Value]) -> bool:
    """The result of a loop is defined in a region that runs only if the loop was left in a certain way."""
    loop = v.op
    if loop is None or loop.prim is not LOOP or v not in loop.carried:
        return False
    for region in enclosing(place):
        branch = region.op
        if branch is None or branch.prim is not IF or not _is_value(branch.condition):
            continue
        asked = branch.condition.op
        if asked is None or asked.prim.name not in ("==", "!=", ">=", "<") or asked.args[0] is not loop.exit_code:
            continue
        number, holds = asked.args[1], branch.regions[0] is region
        if type(number) is not int or bool(asked.prim.fn(0, number)) == holds:
            continue  # the range may have run out
        left = ends(loop.regions[0], loop.regions[0].exit[1 + loop.carried.index(v)])
        if not any(_is_maybe(x, maybe) for c, x in left if _is_value(c) or bool(asked.prim.fn(c, number)) == holds):
            return True
    return False


def _is_value(x: Any) -> bool:
    return type(x) is Value


def _is_maybe(x: Any, maybe: set[Value]) -> bool:
    return x is UNDEF or (type(x) is Value and x in maybe)


__all__ = ["ends", "maybe_undefined", "where_left"]
