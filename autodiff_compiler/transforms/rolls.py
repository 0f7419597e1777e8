"""Arrays rolled by one place: two parts, joined. `np.roll` takes five times as long for a small array.

Takes a function that nobody differentiates again. Gives the function in which ``np.concatenate((x[1:], x[:1]))`` stands
in the place of ``np.roll(x, -1)``. It is the same array, in the same order in memory, however long the axis is.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x):
...     return np.sum((np.roll(x, -1) - x) ** 2 * x)
>>> show_source(f, np.ones(3))
def f_grad(x):
    t = np.concatenate((x[1:], x[:1])) - x
    # adjoint of line 2: return np.sum((np.roll(x, -1) - x) ** 2 * x)
    roll_x_bar = x * (2.0 * t)
    x_bar = t**2 - roll_x_bar + np.concatenate((roll_x_bar[-1:], roll_x_bar[:-1]))
    return x_bar
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import Builder, Function, Op, Region, Value
from ..ir.opset import GET, PRIMS


def join_rolled(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Join the parts of what is rolled by one place; `before_change` is called if there is something."""
    found = [op for op in fn.body.walk() if op.prim is PRIMS[np.roll] and _axis(op) is not None]
    if found and before_change is not None:
        before_change()
    for op in found:
        assert op.parent is not None
        _join(op, op.parent)
    return bool(found)


def _axis(op: Op) -> int | None:
    """The axis along which an array of floats is rolled by one place."""
    a, shift, *rest = op.args
    axis = rest[0] if rest else op.kwargs.get("axis")
    if type(a) is not Value or a.type.kind != "array" or a.type.duck is not None or not op.kwargs.keys() <= {"axis"}:
        return None
    t, n = a.type, a.type.ndim
    if type(shift) is not int or abs(shift) != 1 or n is None or t.dtype is None or not t.dtype.isnative:
        return None
    if axis is None and n == 1:
        return 0
    return axis % n if type(axis) is int and -n <= axis < n else None


def _join(op: Op, region: Region) -> None:
    axis = _axis(op)
    assert axis is not None
    array, forward = op.args[0], op.args[1] > 0
    at = region.ops.index(op)
    parts: list[Any] = []
    for ends in (slice(-1, None), slice(None, -1)) if forward else (slice(1, None), slice(None, 1)):
        path = (("index", (*[slice(None)] * axis, ends)),)
        part = Op(GET, (array, path), {}, (), op.loc)
        part.tag, part.droppable, part.parent = op.tag, True, region
        part.results = [Value(GET.infer(Builder(region), part.args, {}), "", part)]  # type: ignore[misc]
        parts.append(part)
    region.ops[at:at] = parts
    op.prim, op.kwargs = PRIMS[np.concatenate], {}
    op.args = (tuple([part.result for part in parts]), *([axis] if axis else []))


__all__ = ["join_rolled"]
