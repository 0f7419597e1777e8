"""Which values may be duck arrays, whatever their types say.

Takes the body of a function. Gives the values that a duck array among its parameters may reach.

The type of a value says so where its operation has such an operand. What loops carry, branches yield and stacks hold
has the type that it was made with, before all that flows there was known. So the flow of values has the last word.

>>> import numpy as np
>>> from autodiff_compiler.ir.core import Builder, Region
>>> from autodiff_compiler.ir.types import PY_FLOAT, Ty
>>> b = Builder(Region())
>>> x = b.region.param(Ty("array", np.dtype(float), (), duck=object), "x")
>>> y = b.region.param(PY_FLOAT, "y")
>>> with b.active():
...     b.region.exit = (x * y, y * y)
>>> [v in duck_values(b.region) for v in b.region.exit]
[True, False]
"""

from __future__ import annotations

from typing import Any

from ..ir.core import CALL, FUNC, IF, LOOP, TRY, Op, Region, Value, leaves
from ..ir.opset import POP, PUSH
from ..ir.types import duck_in

_NONE = frozenset(["shape", "object", "undef"])


def duck_values(body: Region) -> set[Value]:
    """The values of a function that may be duck arrays, or hold them."""
    found = {p for p in body.params if duck_in(p.type) is not None}
    if not found:
        return found
    flow = _Flow(found)
    before = -1
    while len(found) + flow.on_stacks > before:
        before = len(found) + flow.on_stacks
        flow.region(body)
    return found


class _Flow:
    def __init__(self, found: set[Value]):
        self.found = found
        self.on_stacks = False
        self.functions: dict[Value, Region] = {}

    def holds(self, arg: Any) -> bool:
        return any(v in self.found for v in leaves(arg))

    def pairs(self, sources: Any, targets: list[Value]) -> None:
        self.found.update([target for source, target in zip(sources, targets) if self.holds(source)])

    def region(self, region: Region) -> None:
        for op in region.ops:
            self.op(op)

    def op(self, op: Op) -> None:
        prim = op.prim
        if prim is FUNC:
            self.functions[op.result] = op.regions[0]
            self.region(op.regions[0])
        elif prim is CALL:
            called = self.functions.get(op.func)
            if called is not None:
                self.pairs(op.args[1:], called.params)
                self.pairs(called.exit, op.results)
        elif prim is LOOP:
            (body,) = op.regions
            self.pairs(op.inits, body.params[1:])
            self.region(body)
            self.pairs(body.exit[1:], body.params[1:])
            self.pairs(op.inits, op.carried)
            self.pairs(body.exit[1:], op.carried)
        elif prim is IF or prim is TRY:
            for region in op.regions:
                self.region(region)
                self.pairs(region.exit, op.results if prim is IF else op.results[2:])
        elif prim is PUSH:
            self.on_stacks = self.on_stacks or self.holds(op.args[1])
        elif self.on_stacks if prim is POP else "plain" not in prim.traits and self.holds((op.args, op.kwargs)):
            self.found.update([r for r in op.results if r.type.kind not in _NONE])


__all__ = ["duck_values"]
