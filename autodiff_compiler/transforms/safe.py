"""Whether an operation may run though the program does not come to it: it cannot raise, and nobody sees that it ran.

Takes an operation. Gives the answer. Beyond the operations that never raise, there are reads and stores of elements at
subscripts that are in bounds for sure.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.core import Builder
>>> def f(x, k):
...     return x[0] + x[k]
>>> fn = lower(f, (np.ones(3), 1)).function
>>> [(op.prim.name, is_safe(Builder(fn.body), op)) for op in fn.body.ops]
[('get', True), ('get', False), ('+', True)]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import opset
from ..ir.core import LOOP, Builder, Op, Value, type_of
from ..ir.opset import ADDAT, GET, SET
from ..ir.types import Dim, DimLike, Ty


def is_safe(b: Builder, op: Op) -> bool:
    """The operation cannot raise, and has no effect."""
    if op.prim.effects or op.checks or op.regions:
        return False
    if op.prim.total is not None and op.prim.total(b, op.args, op.kwargs):
        return True
    if op.prim in (GET, SET, ADDAT):
        return _is_in_bounds(b, op)
    if op.prim.fn in (np.zeros, np.ones, np.empty):
        shape = op.args[0] if op.args else None
        return all(map(_is_length, shape if isinstance(shape, (tuple, list)) else (shape,)))
    return False


def _is_length(n: Any) -> bool:
    return (type(n) is int and n >= 0) or (type(n) is Value and n.type.length is not None)


def _is_in_bounds(b: Builder, op: Op) -> bool:
    """The path leads to elements that are there, and what is stored is one number."""
    t: Ty = type_of(op.args[0])
    if op.prim is SET and (type_of(op.args[2]).dims != () or type_of(op.args[2]).dtype is None):
        return False
    for step in op.args[1]:
        if t.dims is None or step[0] != "index" or t.dtype is None or t.dtype.names is not None:
            return False
        axis = 0
        for item in step[1]:
            if item is None:
                continue
            if not isinstance(item, slice) and (axis >= len(t.dims) or not _reaches(b, item, t.dims[axis])):
                return False
            axis += 1
        if axis > len(t.dims):
            return False
        t, _ = opset.infer_step(b, t, step)
    return True


def _reaches(b: Builder, item: Any, length: DimLike) -> bool:
    """The subscript is one of an axis of this length."""
    length = b.dims.find(length)
    if type(item) is int:
        if isinstance(length, int):
            return -length <= item < length
        # The axis of an argument has a name if it has at least two elements.
        least = 2 - length.off if b.dims.is_argument(length) else 0
        return -least <= item < least
    loop = item.region.op if type(item) is Value and item.op is None and item.region is not None else None
    if loop is None or loop.prim is not LOOP or item is not loop.regions[0].params[0] or loop.range is None:
        return False
    start, stop, step, *_ = loop.range
    if not (type(start) is int and start >= 0 and type(step) is int and step > 0):
        return False
    if isinstance(length, int):
        return type(stop) is int and stop <= length
    known = type_of(stop).length
    return isinstance(known, Dim) and b.dims.same(known, length)


__all__ = ["is_safe"]
