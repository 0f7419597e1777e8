"""Common subexpressions: what a derivative computes again takes the value that is there.

Takes a function. Gives a function in which no operation of a derivative computes what an operation before it, in the
same region or in one around, has computed. What the user wrote twice stays: Python makes two objects of it.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.printer import print_function
>>> from autodiff_compiler.transforms.jvp import push_forward
>>> def f(x):
...     return np.sin(x), np.cos(x)
>>> fn = push_forward(lower(f, (0.5,), {}).function, [0])
>>> merge_equal(fn)
>>> print(print_function(fn), end="")
func f(%x: float, %x_dot: float) {
  %v1: float64 = np.sin %x   # line 2
  %v2: float64 = np.cos %x   # line 2
  %v3: float64 = * %x_dot, %v2   # line 2
  %v4: float64 = - %v1   # line 2
  %v5: float64 = * %x_dot, %v1   # line 2
  %v6: float64 = - %v5   # line 2
  return %v1, %v2, %v3, %v6
}
"""

from __future__ import annotations

from typing import Any

from ..ir.core import CALL, DERIVED, Function, Op, Region, Value, structural_key
from ..ir.rewrite import replace_values, substitute


def merge_equal(fn: Function) -> None:
    """Take the first of several equal operations, where all but it are a derivative's."""
    mapping: dict[Value, Any] = {}
    _merge(fn.body, [{}], mapping)
    replace_values(fn.body, mapping)


def _merge(region: Region, scopes: list[dict[Any, Op]], mapping: dict[Value, Any]) -> None:
    kept = []
    for op in region.ops:
        for inner in op.regions:
            _merge(inner, [*scopes, {}], mapping)
        if op.regions or op.prim.effects or op.prim.unique or op.prim is CALL or not op.results:
            # (a function that calls itself may push and pop: each call of an adjoint is another one)
            kept.append(op)
            continue
        args, kwargs = substitute(op.args, mapping), substitute(op.kwargs, mapping)
        key = (op.prim, structural_key(args), structural_key(kwargs) if kwargs else None)
        first = next((scope[key] for scope in scopes if key in scope), None)
        if first is None or not _may_merge(first, op):
            scopes[-1].setdefault(key, op)
            kept.append(op)
            continue
        first.checks = first.checks or op.checks
        first.droppable = first.droppable and op.droppable
        mapping.update(zip(op.results, first.results))
    region.ops = kept


def _may_merge(first: Op, op: Op) -> bool:
    derived = op.droppable or op.tag == DERIVED or first.droppable or first.tag == DERIVED
    return derived and all(a.type == b.type for a, b in zip(first.results, op.results))


__all__ = ["merge_equal"]
