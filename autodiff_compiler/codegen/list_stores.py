"""Statements that change a list of run-time length in place.

Takes a store into a list. Gives the statement: ``append``, ``insert``, ``del``, or a store at a subscript.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x):
...     items = [x[0]]
...     for i in range(len(x)):
...         items.insert(0, x[i] * items[-1])
...     return items[0]
>>> show_source(f, np.ones(3))
def f_grad(x):
    n = x.shape[0]
    t = [x[0]]
    t_saved = []
    for i in range(n):
        t2 = t[-1]
        t_saved.append(t2)
        t.insert(0, x[i] * t2)
    t[0]
    t = [0.0] * len(t)
    # adjoint of line 5: return items[0]
    t[0] += 1.0
    x_bar = np.empty_like(x)
    # adjoint of line 3: for i in range(len(x)):
    for i, t2 in zip(reversed(range(n)), reversed(t_saved)):
        # adjoint of line 4: items.insert(0, x[i] * items[-1])
        t4 = t.pop(0)
        t[-1] += t4 * x[i]
        x_bar[i] = t4 * t2
    # adjoint of line 2: items = [x[0]]
    x_bar[0] += t[0]
    return x_bar
"""

from __future__ import annotations

from typing import Any

from ..ir import opset
from ..ir.core import Op, Value, structural_key, type_of
from .expressions import AUGMENTED, Printer, increment
from .layout import Assignment


def changed_list(p: Printer, op: Op) -> str | Assignment:
    """The statement for a store into a list."""
    items, *rest = op.args
    base, prim = p.show(items), op.prim
    if prim is opset.LIST_APPEND:
        return f"{base}.append({p.show(rest[0])})"
    if prim is opset.LIST_INSERT:
        return f"{base}.insert({p.show(rest[0])}, {p.show(rest[1])})"
    if prim is opset.LIST_SET:
        return f"{base}[{p.show(rest[0])}] {_stored(p, op)}"
    if prim in (opset.TABLE_SET, opset.TABLE_ADDAT):
        place = p.cell(items, *rest[:2])
        return f"{place} {_stored(p, op) if prim is opset.TABLE_SET else ' '.join(increment(p, rest[2]))}"
    if prim is opset.LIST_DROP:
        return f"del {base}[{p.show(rest[0])}]"
    if prim is opset.LIST_CUT:
        return f"del {base}[{_slice(p, *rest[:2])}]"
    if prim is opset.LIST_SPLICE:
        at, new = rest
        if at is None:
            return f"{base}.extend({p.show(new)})"
        start = None if type(at) is int and at == 0 else at
        return f"{base}[{_slice(p, start, at)}] = {p.show(new)}"
    if prim is opset.LIST_ADDAT:
        at, g = rest
        place = f"{base}[{p.show(at)}]"
        if _is_number(type_of(items).elem) and _is_number(type_of(g)):
            return f"{place} {' '.join(increment(p, g))}"
        p.helpers.add("accum")
        return f"{place} = accum({place}, {p.show(g)})"
    if prim is opset.LIST_ADDSLICE:
        *bounds, g = rest
        place = f"{base}[{_slice(p, *bounds)}]"
        if _adds_numbers(items, g):
            return f"{place} = [a + b for a, b in zip({place}, {p.show(g)})]"
        p.helpers.add("accum")
        return f"{place} = map(accum, {place}, {p.show(g)})"
    assert prim is opset.ACCUM
    if _adds_numbers(items, rest[0]):
        return Assignment([base], "=", f"[a + b for a, b in zip({base}, {p.show(rest[0])})]")
    p.helpers.add("accum")
    return Assignment([base], "=", f"accum({base}, {p.show(rest[0])})")


def _stored(p: Printer, op: Op) -> str:
    """``= v``, or ``+= u`` where v is the number that is there and u."""
    *place, v = op.args
    inner = v.op if type(v) is Value else None
    if inner is not None and inner in p.inlined and inner.prim in AUGMENTED:
        first = inner.args[0].op if type(inner.args[0]) is Value else None
        if first is not None and first in p.inlined and first.prim in (opset.LIST_GET, opset.TABLE_GET):
            if structural_key(first.args) == structural_key(tuple(place)) and type_of(v).is_scalar:
                return f"{inner.prim.name}= {p.show(inner.args[1])}"
    return f"= {p.show(v)}"


def _slice(p: Printer, *bounds: Any) -> str:
    return p.subscript((slice(*bounds),))


def _adds_numbers(items: Any, g: Any) -> bool:
    return _is_number(type_of(items).elem) and _is_number(type_of(g).elem)


def _is_number(t: Any) -> bool:
    return t is not None and bool(t.is_scalar)


__all__ = ["changed_list"]
