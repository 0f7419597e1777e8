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
  %sin_x_dot: float64 = * %x_dot, %v2   # line 2
  %v3: float64 = - %v1   # line 2
  %v4: float64 = * %x_dot, %v1   # line 2
  %cos_x_dot: float64 = - %v4   # line 2
  return %v1, %v2, %sin_x_dot, %cos_x_dot
}
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from ..ir.core import CALL, DERIVED, Function, Op, Region, Value, structural_key
from ..ir.opset import ACCUM, ADDAT, SET, STORES
from ..ir.rewrite import replace_values, substitute


def merge_equal(fn: Function, among: Container[Op] | None = None) -> None:
    """Take the first of several equal operations, where all but it are a derivative's.

    among: the operations that may be the first ones; by default all
    """
    mapping: dict[Value, Any] = {}
    _merge(fn.body, [{}], mapping, among)
    replace_values(fn.body, mapping)


def _merge(region: Region, scopes: list[dict[Any, Op]], mapping: dict[Value, Any], among: Container[Op] | None) -> None:
    kept = []
    for op in region.ops:
        for inner in op.regions:
            _merge(inner, [*scopes, {}], mapping, among)
        if op.regions or op.prim.effects or op.prim.unique or op.prim is CALL or not op.results:
            # (a function that calls itself may push and pop: each call of an adjoint is another one)
            kept.append(op)
            continue
        args, kwargs = substitute(op.args, mapping), substitute(op.kwargs, mapping)
        key = (op.prim, structural_key(args), structural_key(kwargs) if kwargs else None)
        first = next((scope[key] for scope in scopes if key in scope), None)
        if first is None or not _may_merge(first, op):
            if among is None or op in among:
                scopes[-1].setdefault(key, op)
            kept.append(op)
            continue
        first.checks = first.checks or op.checks
        first.droppable = first.droppable and op.droppable
        mapping.update(zip(op.results, first.results))
    region.ops = kept


def _may_merge(first: Op, op: Op) -> bool:
    if op.tag is None and first.tag is not None and not op.prim.elementwise:
        return False  # it is the function's: a derivative's sums and products may be rounded in another way
    derived = op.droppable or op.tag == DERIVED or first.droppable or first.tag == DERIVED
    return derived and all(a.type == b.type for a, b in zip(first.results, op.results))


def is_only_read(v: Value, uses: Mapping[Value, list[Op | Region]]) -> bool:
    """A number, or an array to whose memory nothing writes, and which nothing hands on."""
    if v.type.is_scalar or v.type.dims == ():
        return True
    if v.type.kind != "array":
        return False
    for user in uses.get(v, ()):
        if isinstance(user, Region) or user.regions or user.prim.effects:
            return False
        if user.prim in STORES and (user.prim not in _COPYING or user.args[0] is v):
            return False
        if user.prim.alias != "fresh" and not all(is_only_read(r, uses) for r in user.results):
            return False
    return True


_COPYING = {SET, ADDAT, ACCUM}  # what they store is copied


__all__ = ["is_only_read", "merge_equal"]
