"""Taint: where a derivative may come back from code that keeps no record of it.

Takes the operations of a function in program order. Gives those that read from what was tainted. A value that enters a
foreign callable, or is put into a live object, *taints* everything outside of the program: what is read from there
afterwards may hold the value. A callable can reach any live object, so there is one outside, not one for each object.

What reads from the outside and is useful has an unknown derivative. The reverse transform refuses it. A value that is
only kept, printed or logged harms nobody.

>>> import autodiff_compiler as ad
>>> from contextvars import ContextVar
>>> kept = ContextVar("kept")
>>> def f(x):
...     kept.set(x * x)
...     return kept.get() * x
>>> def g(x):
...     kept.set(x * x)
...     return x * x
>>> try:
...     ad.grad(f)(3.0)
... except ad.AutodiffError as error:
...     print(error.message[:77])
what ContextVar.get gives may hold a differentiated value, whose derivative i
>>> ad.grad(g)(3.0)
6.0
"""

from __future__ import annotations

from collections.abc import Container

from ..ir import opset
from ..ir.core import CALL, IF, LOOP, TRY, UNDEF, Op, Region, Value
from ..ir.foreign import is_opaque_function
from ..ir.rewrite import called, content_operands

# Operations that put a value into a live object.
_KEEPING = frozenset(
    {opset.SET_ATTRIBUTE, opset.SET_ENTRY, opset.APPEND_TO, opset.FILL_LIST, opset.STORE_INTO}
)  # fmt: skip


def is_foreign(op: Op) -> bool:
    """The operation runs foreign code: nothing is known of its effects."""
    if op.prim.foreign:
        return True
    if op.prim is opset.PRINT:
        return op.kwargs.get("file") is not None
    if not op.prim.effects:
        return False
    return any(callable(a) and is_opaque_function(a) for a in (*op.args, *op.kwargs.values()) if type(a) is not Value)


def keeps(op: Op) -> bool:
    """What enters the operation may be found outside of the program afterwards."""
    return op.prim in _KEEPING or is_foreign(op)


class Outside:
    """Which operations read from outside of the program, found when they are asked for."""

    def __init__(self, body: Region):
        self.body = body
        self.known: dict[Value, bool] = {}
        self.pushed: dict[Value, list[object]] | None = None

    def is_read_by(self, op: Op, varied: Container[Value]) -> bool:
        """The operation may read from the outside: it runs foreign code, or works on a foreign object.

        It is not said of operations on varied values. They have a rule, or it is known that they have none.
        """
        if not op.results:
            return False
        if is_foreign(op):
            return not any(v in varied for v in op.operands())
        return any(v not in varied and self.is_foreign_object(v) for v in content_operands(op))

    def is_foreign_object(self, value: object) -> bool:
        """May be an object that foreign code made, or a live one, or a part of it."""
        if type(value) is not Value or value.type.is_scalar or value.type.kind in ("shape", "stack"):
            return False
        found = self.known.get(value)
        if found is None:
            self.known[value] = False  # what depends on itself only is none
            found = self.known[value] = self._found(value)
            if not found:
                self.known.pop(value)  # it may have been asked for while one around it was open
        return found

    def _found(self, value: Value) -> bool:
        op = value.op
        if op is None:
            return self._parameter(value)
        k = op.results.index(value)
        if op.prim.foreign:
            return True
        if op.prim is IF:
            return any(self.is_foreign_object(r.exit[k]) for r in op.regions)
        if op.prim is LOOP:
            (body,) = op.regions
            if k >= len(body.exit) - 1:
                return False
            return self.is_foreign_object(op.inits[k]) or self.is_foreign_object(body.exit[k + 1])
        if op.prim is TRY:
            return k == 1 or (k > 1 and self.is_foreign_object(op.regions[0].exit[k - 2]))
        if op.prim is CALL:
            return self.is_foreign_object(called(op).regions[0].exit[k])
        if op.prim is opset.POP:
            return any(map(self.is_foreign_object, self._stacked(op.args[0])))
        return op.prim.alias != "fresh" and any(map(self.is_foreign_object, content_operands(op)))

    def _parameter(self, value: Value) -> bool:
        region = value.region
        if region is None or region.op is None:
            return value.type.kind == "object"
        owner = region.op
        if owner.prim is LOOP:
            k = region.params.index(value) - 1
            return k >= 0 and (self.is_foreign_object(owner.inits[k]) or self.is_foreign_object(region.exit[k + 1]))
        return value.type.kind in ("any", "object")

    def _stacked(self, stack: object) -> list[object]:
        if self.pushed is None:
            self.pushed = {}
            for op in self.body.walk():
                if op.prim is opset.PUSH:
                    self.pushed.setdefault(op.args[0], []).append(op.args[1])
        return self.pushed.get(stack, [UNDEF]) if type(stack) is Value else []


__all__ = ["Outside", "is_foreign", "keeps"]
