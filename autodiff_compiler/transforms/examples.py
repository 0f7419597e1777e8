"""A function that runs once for each example: what batching is where no operation on stacks does the work.

Takes a function and the parameters that become stacks. Gives a function with a loop over the examples, which puts the
results together. Effects come in the order of a loop in Python.

>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.printer import print_function
>>> def size(x):
...     return x if x > 0.0 else -x
>>> print(print_function(each_alone(lower(size, (2.0,)).function, [0])), end="")
func size(%x: float64[d1]) {
  %v1: int = dim %x, 0
  %v2: float64[d1] = np.empty (%v1,), dtype(float64)
  %v4: float64[d1], %trips: int, %code: int = loop %k: int in range(0, %v1, 1) with (%v3: float64[d1] = %v2) {
    %v5: float64 = get %x, (('index', (%k,)),)
    %x2: float = float %v5
    %v6: bool = > %x2, 0.0   # line 2
    %v7: float = if %v6 {   # line 2
      yield %x2
    } else {
      %v8: float = - %x2   # line 2
      yield %v8
    }
    %v9: float64[d1] = set %v3, (('index', (%k,)),), %v7
    yield normal, %v9
  }
  return %v4
}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import runtime
from ..ir.core import CALL, FUNC, UNDEF, Function, Value, type_of
from ..ir.opset import LIST_APPEND, LIST_NEW, PRIMS, SET, STACK_NEW
from ..ir.rewrite import clone_op, hoist, substitute
from ..ir.types import Ty, py_int
from ..operations.batch_rules import NotBatchedError
from .batch import Batching


def each_alone(fn: Function, stacked: Iterable[int] | dict[int, Any], spread: Sequence[bool] = ()) -> Function:
    """`fn` for a stack of values of these parameters, one after the other. See `transforms.batch.batch`."""
    return _Each(fn, stacked, spread).function


class _Each(Batching):
    def __init__(self, fn: Function, stacked: Any, spread: Sequence[bool]):
        super().__init__(fn, stacked, fn.body.dims)  # those of the regions, which are copied, belong to them
        old, top = fn.body, self.b.region
        size = self.size()
        inner = self.b.new_region()
        k = inner.param(py_int(), "k")
        kept = [self.is_kept(x, spread[k] if spread else True) for k, x in enumerate(old.exit)]
        starts = [None if keep else self.start(x) for x, keep in zip(old.exit, kept)]
        places = {n: inner.param(start.type, "") for n, start in enumerate(starts) if start is not None}
        mapping: dict[Value, Any] = {}
        with self.b.inside(inner):
            for p in fn.params:
                x = self.env[p]
                mapping[p] = made = self.example(x, k, p.type)
                if made is not x:
                    made.hint = p.hint
            made_ops = [clone_op(op, mapping, inner) for op in old.ops]
            exits = substitute(old.exit, mapping)
            grown = []
            for n, place in places.items():
                if place.type.kind == "list":
                    grown.append(self.emit(LIST_APPEND, place, exits[n]))
                else:
                    grown.append(self.emit(SET, place, (("index", (k,)),), exits[n]))
                grown[-1].type = place.type
        inner.exit = (0, *grown)
        inits = tuple([start for start in starts if start is not None])
        recursive = [op for op in made_ops if op.prim is FUNC]
        for stack in [op for op in made_ops if op.prim is STACK_NEW and recursive]:
            # What an example pushes it pops, so one stack serves all. A function reads it from the top level.
            inner.ops.remove(stack)
            stack.parent = top
            top.ops.append(stack)
        for func in recursive:
            inner.ops.remove(func)
            passed = hoist(func, top)
            for call in [op for op in inner.walk() if op.prim is CALL and op.func is func.result]:
                call.args = (*call.args, *passed)
        made = self.b.loop((0, size, 1), inits, inner, [x.type for x in inits], ["" for _ in inits])
        out = iter(made[: len(places)])
        self.finish([x if keep else self.joined_up(next(out), x) for x, keep in zip(map(self.outside, old.exit), kept)])

    def outside(self, x: Any) -> Any:
        return self.env.get(x, x) if type(x) is Value else x

    def is_kept(self, x: Any, spread: bool) -> bool:
        """It is the same for all examples, and no number, or not wanted as a stack."""
        if type(x) is not Value:
            return type_of(x).kind == "object" or x is UNDEF or not spread
        return x in self.env and (type_of(x).kind == "object" or not (spread or self.is_stack(self.env[x])))

    def start(self, x: Any) -> Any:
        """Where the results are put: an array, or a list if their shape is not known."""
        t = type_of(x)
        if t.kind not in ("array", "generic", "scalar", "py", "any") or t.elem is not None:
            raise NotBatchedError(f"a value of type {t}")
        lengths = None if t.dims is None or t.dtype is None else [self.known_length(d, None) for d in t.dims]
        if lengths is None or None in [n if n is None else 0 for n in lengths]:
            out = self.emit(LIST_NEW, ())
            out.type = Ty("list", elem=t)
        else:
            out = self.emit(PRIMS[np.empty], (self.size(), *lengths), t.dtype)
            out.type = self.stack_type(t)
        return out

    def joined_up(self, made: Any, x: Any) -> Any:
        if made.type.kind != "list":
            self.stacks.add(made)
            return made
        t = made.type.elem
        known = [self.known_length(d, None) for d in t.dims or ()]
        lengths = tuple([0 if n is None else n for n in known])
        out = self.emit(PRIMS[runtime.joined_examples], made, lengths, t.array_dtype)
        self.stacks.add(out)
        return self.fitted(out, t)


__all__ = ["each_alone"]
