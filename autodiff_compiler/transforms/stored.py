"""Reads of what was just stored.

Takes a function. Gives a function in which a number that was stored is not read back, and of which a store is gone that
the next one overwrites unread. A part that a loop reads again and again is read once, right behind its store.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.printer import print_function
>>> def f(a, i):
...     a[i] -= a[0]
...     a[i] /= 2.0
...     return a
>>> fn = lower(f, (np.ones(3), 2), {}).function
>>> read_once(fn)
>>> print(print_function(fn), end="")
func f(%a: float64[d1], %i: int) {
  %v1: float64 = get %a, (('index', (%i,)),)   # line 2
  %v2: float64 = get %a, (('index', (0,)),)   # line 2
  %v3: float64 = - %v1, %v2   # line 2
  %v4: float64 = / %v3, 2.0   # line 3
  %a2: float64[d1] = set %a, (('index', (%i,)),), %v4   # line 3
  return %a2
}
"""

from __future__ import annotations

from typing import Any

from ..ir.core import DERIVED, LOOP, Builder, Function, Op, Region, Value, structural_key
from ..ir.opset import ADDAT, GET, SET, is_plain_path
from ..ir.rewrite import collect_uses, enclosing, replace_values
from ..ir.types import same_dtype
from .simplify import in_bounds


def read_once(fn: Function) -> None:
    """Read back nothing that is at hand."""
    uses = collect_uses(fn.body)
    mapping: dict[Value, Any] = {}
    gone: set[Op] = set()
    stores = [op for op in fn.body.walk() if op.prim is SET and is_plain_path(op.args[1])]
    for store in stores:
        _forward(store, uses, mapping, gone)
    if not mapping:
        return
    _remove(fn.body, gone)
    replace_values(fn.body, mapping)
    _overwrite(fn, stores)


def _forward(store: Op, uses: dict[Value, list[Op | Region]], mapping: dict[Value, Any], gone: set[Op]) -> None:
    """Find for what the store puts into the array what reads it there."""
    base, path, v = store.args
    key = structural_key(path)
    reads = [
        op for op in uses.get(store.result, ())
        if isinstance(op, Op) and op.prim is GET and structural_key(op.args[1]) == key
    ]  # fmt: skip
    for op in reads:
        if type(v) is Value and _is_what_is_read(v, op.result, base) and all(map(_computes, uses.get(op.result, ()))):
            mapping[op.result] = v
            gone.add(op)
    again = [op for op in reads if op not in gone and _in_loop_behind(op, store)]
    if again:
        region = store.parent
        assert region is not None
        builder = Builder(Region(region.dims))
        part = builder.emit(GET, store.result, path)
        part.op.loc, part.op.tag, part.op.droppable = again[0].loc, again[0].tag, again[0].droppable
        part.op.parent, part.hint = region, again[0].result.hint
        region.ops.insert(region.ops.index(store) + 1, part.op)
        mapping.update((op.result, part) for op in again)
        gone.update(again)


def _is_what_is_read(v: Value, read: Value, base: Any) -> bool:
    """The array holds the number as it is: a number of NumPy's, of the dtype of the array."""
    dtype = base.type.dtype if type(base) is Value else None
    return (
        v.type.kind == read.type.kind == "generic" and dtype is not None and dtype.kind in "fc"
        and same_dtype(v.type.dtype, dtype) and same_dtype(read.type.dtype, dtype)
    )  # fmt: skip


def _computes(user: Op | Region) -> bool:
    """The user does not ask whether two numbers are one object, and does not hand them to who might."""
    if isinstance(user, Region):
        return False
    return user.tag == DERIVED or user.droppable or user.prim.elementwise or user.prim in (SET, ADDAT)


def _in_loop_behind(read: Op, store: Op) -> bool:
    """The part is read in a loop around which the store stands."""
    for region in enclosing(read.parent):
        if region is store.parent:
            return False
        if region.op is not None and region.op.prim is LOOP:
            return True
    return False


def _remove(region: Region, gone: set[Op]) -> None:
    region.ops[:] = [op for op in region.ops if op not in gone]
    for op in region.ops:
        for inner in op.regions:
            _remove(inner, gone)


def _overwrite(fn: Function, stores: list[Op]) -> None:
    """Drop stores of numbers that the next store overwrites, where the place is known to exist.

    What is read between, at other places, is read from the array before.
    """
    uses = collect_uses(fn.body)
    for first in stores:
        base, path, v = first.args
        *between, last = uses.get(first.result, [None])
        if not isinstance(last, Op) or last.prim is not SET or last.args[0] is not first.result:
            continue
        same_place = structural_key(last.args[1]) == structural_key(path) and last.parent is first.parent
        if not same_place or type(v) is not Value or not v.type.is_scalar:
            continue
        elsewhere = all(isinstance(u, Op) and u.prim is GET and _differ(u.args[1], path) for u in between)
        if elsewhere and (in_bounds(first) or _is_read_before(first, uses)):
            assert first.parent is not None
            first.parent.ops.remove(first)
            for user in (*between, last):
                assert isinstance(user, Op)
                user.args = (base, *user.args[1:])
                uses.setdefault(base, []).append(user)


def _differ(p: Any, q: Any) -> bool:
    """The paths name two elements, which are not the same."""
    if [len(p), len(q)] != [1, 1] or p[0][0] != "index" or q[0][0] != "index" or len(p[0][1]) != len(q[0][1]):
        return False
    pairs = list(zip(p[0][1], q[0][1]))
    return all(_is_number(i) for pair in pairs for i in pair) and any(_below(i, j) or _below(j, i) for i, j in pairs)


def _is_number(i: Any) -> bool:
    dtype = i.type.dtype if type(i) is Value and i.type.is_scalar else None
    return type(i) is int or (dtype is not None and dtype.kind in "iu")


def _below(i: Any, j: Any) -> bool:
    """``0 <= i < j``, because `i` runs up to `j`."""
    if type(i) is int and type(j) is int:
        return 0 <= i < j
    loop = i.region.op if type(i) is Value and i.op is None and i.region is not None else None
    if loop is None or loop.prim is not LOOP or i is not loop.regions[0].params[0] or loop.args[0] is None:
        return False
    start, stop, step = loop.args[0][:3]
    return type(start) is int and start >= 0 and type(step) is int and step > 0 and type(stop) is Value and stop is j


def _is_read_before(store: Op, uses: dict[Value, list[Op | Region]]) -> bool:
    """The same part of the same array was read, so the place exists."""
    key = structural_key(store.args[1])
    region = store.parent
    assert region is not None
    before = region.ops[: region.ops.index(store)]
    return any(
        isinstance(op, Op) and op.prim is GET and op.parent is region and structural_key(op.args[1]) == key
        and op in before
        for op in uses.get(store.args[0], ())
    )  # fmt: skip


__all__ = ["read_once"]
