"""Which values are undefined on some path: names that no assignment on it has bound."""

from __future__ import annotations

from typing import Any

from .core import IF, LOOP, TRY, UNDEF, Region, Value, leaves
from .opset import COPY, POP, PUSH


def maybe_undefined(body: Region) -> set[Value]:
    """Values that are undefined on some path."""
    maybe: set[Value] = set()
    before = -1
    while before != len(maybe):
        before = len(maybe)
        for op in body.walk():
            if op.prim is IF:
                for k, r in enumerate(op.results):
                    if any(_is_maybe(s.exit[k], maybe) for s in op.regions):
                        maybe.add(r)
            elif op.prim is LOOP:
                inner = op.regions[0]
                for k, init in enumerate(op.inits):
                    out = inner.exit[k + 1]
                    if _is_maybe(init, maybe) or (type(out) is Value and out in maybe):
                        maybe.update((inner.params[k + 1], op.results[k]))
            elif op.prim is TRY and op.catch:
                maybe.update(op.results[2:])
            elif op.prim is PUSH and (op.args[1] is UNDEF or any(v in maybe for v in leaves(op.args[1]))):
                maybe.add(op.args[0])
            elif op.prim in (POP, COPY) and op.args[0] in maybe:
                maybe.update(op.results)
    return maybe


def _is_maybe(x: Any, maybe: set[Value]) -> bool:
    return x is UNDEF or (type(x) is Value and x in maybe)


__all__ = ["maybe_undefined"]
