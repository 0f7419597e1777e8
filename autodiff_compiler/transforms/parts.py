"""Parts of arrays that a helper is called with: it takes the arrays themselves.

Takes what calls of a helper read from around them. Gives the arrays of which it is parts, if nothing stores into them.
The function reads the parts, as the program's helper does.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def rates(y, k):
...     grown = np.exp(-k[0] * y)
...     return np.tanh(k[1] * grown + np.sin(y) * grown) - np.cos(k[0] * y)
>>> def f(y, k):
...     return np.sum(rates(rates(rates(y, k), k), k))
>>> show_source(f, np.ones(3), np.ones(2))
def rates_pullback(k, t, t2, t3, grown, t4, t5):
    # adjoint of line 3: return np.tanh(k[1] * grown + np.sin(y) * grown) - np.cos(k[0] * y)
    k_1_grown_bar = t3 * (1.0 - t2 * t2)
    # adjoint of line 2: grown = np.exp(-k[0] * y)
    t = (t3 * np.sin(t) - (t5 + k[1]) * k_1_grown_bar * grown) * k[0]
    t += k_1_grown_bar * grown * np.cos(t4)
    return t
<BLANKLINE>
<BLANKLINE>
def f_grad(y, k):
    k_0 = k[0]
    minus_k_0 = -k_0
    grown = np.exp(minus_k_0 * y)
    k_1 = k[1]
    sin_y = np.sin(y)
    t = np.tanh(k_1 * grown + sin_y * grown)
    k_0_y = k_0 * y
    t2 = t - np.cos(k_0_y)
    grown2 = np.exp(minus_k_0 * t2)
    t3 = np.sin(t2)
    t4 = np.tanh(k_1 * grown2 + t3 * grown2)
    t5 = k_0 * t2
    t6 = t4 - np.cos(t5)
    grown3 = np.exp(minus_k_0 * t6)
    t7 = np.sin(t6)
    t8 = np.tanh(k_1 * grown3 + t7 * grown3)
    # adjoint of line 3: return np.tanh(k[1] * grown + np.sin(y) * grown) - np.cos(k[0] * y)
    k_1_grown_bar = 1.0 - t8 * t8
    # adjoint of line 2: grown = np.exp(-k[0] * y)
    t7 = (np.sin(k_0 * t6) - (t7 + k_1) * k_1_grown_bar * grown3) * k_0
    t7 += k_1_grown_bar * grown3 * np.cos(t6)
    # adjoint of line 2: return np.sum(rates(rates(rates(y, k), k), k))
    t2 = rates_pullback(k, t5, t4, t7, grown2, t2, t3)
    return rates_pullback(k, k_0_y, t, t2, grown, y, sin_y)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ir.core import DERIVED, Builder, Op, Region, Value, leaves
from ..ir.opset import GET, POP, PUSH, UNPACK
from ..ir.rewrite import collect_uses

if TYPE_CHECKING:
    from .helpers import Part, _Family

Values = tuple[Value, ...]  # one for each call


def parts_of_arrays(family: _Family, groups: list[Part], given: dict[Values, None]) -> dict[Values, Values]:
    """From values that calls read to the arrays of which they are parts: where that makes fewer arguments."""
    found: dict[Values, list[Values]] = {}
    for values in given:
        whole = _whole(family, groups, values)
        if whole is not None:
            found.setdefault(whole, []).append(values)
    return {values: whole for whole, those in found.items() if len(those) > 1 or whole in given for values in those}


def _whole(family: _Family, groups: list[Part], values: Values) -> Values | None:
    places = [_place(v) for v in values]
    if None in places or any(place != places[0] for place in places):
        return None
    wholes = tuple([v.op.args[0] for v in values])  # type: ignore[union-attr]
    same = all(family.facts(whole) == family.facts(wholes[0]) for whole in wholes)
    if not same or not all(map(family.is_constant, wholes)):
        return None
    seen: set[Op] = set()
    for v, group in zip(values, groups):
        assert v.op is not None
        if v.op not in seen and not _may_wait(v.op, group):
            return None
        seen.add(v.op)
    return wholes


def _place(v: Value) -> Any:
    """Which part of an array it is: one at a place that is known."""
    op = v.op
    if op is None or type(op.args[0]) is not Value or op.args[0].type.kind != "array":
        return None
    if op.prim is UNPACK:
        return UNPACK, len(op.results), op.results.index(v)
    if op.prim is GET and not any(True for _ in leaves(op.args[1])):
        return GET, repr(op.args[1])
    return None


def _may_wait(op: Op, group: Part) -> bool:
    """The operation may as well run where the group is called: no other exception comes first then."""
    if not may_raise(op):
        return True
    if op.parent is not group.region:
        return False
    ops = op.parent.ops
    last = max(map(ops.index, group.ops))
    return not any(may_raise(other) for other in ops[ops.index(op) + 1 : last] if other.prim not in (GET, UNPACK))


def read_parts(region: Region, parts: dict[Values, Values], params: dict[Values, Value]) -> list[Op]:
    """Let the function read the parts; `params` gets them. Returns the operations that read them outside."""
    made: dict[Op, Op] = {}
    taken: dict[Op, None] = {}
    for values, whole in parts.items():
        first = values[0].op
        assert first is not None
        taken.update(dict.fromkeys([v.op for v in values if v.op is not None]))
        if first not in made:
            copy = Op(first.prim, (params[whole], *first.args[1:]), first.kwargs, (), first.loc)
            copy.checks, copy.droppable, copy.tag, copy.parent = first.checks, first.droppable, first.tag, region
            copy.again = True
            copy.results = [Value(r.type, r.hint, copy) for r in first.results]
            made[first] = copy
            region.ops.append(copy)
        params[values] = made[first].results[first.results.index(values[0])]
    return list(taken)


def drop_unread(taken: list[Op]) -> None:
    """Drop the operations that nothing reads any more."""
    if not taken:
        return
    top = taken[0].parent
    while top is not None and top.op is not None and top.op.parent is not None:
        top = top.op.parent
    assert top is not None
    uses = collect_uses(top)
    for op in taken:
        if op.parent is not None and not any(uses.get(r) for r in op.results):
            op.parent.ops.remove(op)
            op.parent = None


def may_raise(op: Op) -> bool:
    """The user's operation may raise an exception."""
    if op.tag == DERIVED or op.droppable or op.prim in (PUSH, POP) or op.parent is None:
        return False
    return op.prim.total is None or not op.prim.total(Builder(op.parent), op.args, op.kwargs)


__all__ = ["drop_unread", "may_raise", "parts_of_arrays", "read_parts"]
