"""Buffers that the innermost loops go through along another axis than the last one have that axis last.

Elements that a loop reads one after the other then lie one after the other, so that a processor computes several at
once. A result gets its own order at the end.

>>> from autodiff_compiler.native.nest import F8, Array, show
>>> from autodiff_compiler.native.views import ZERO
>>> i, j, n, m = Name("i", INDEX), Name("j", INDEX), Length("x", 0), Length("x", 1)
>>> program = Program("columns", (Array("x", F8, 2),), [
...     Alloc("y", F8, (n, m), 0.0),
...     For("k", ZERO, n, 1, [For("j", ZERO, m, 1, [For("i", ZERO, n, 1, [
...         Increase("y", (i, j), Load("x", (i, j), F8))])])]),
...     Return(("y",)),
... ])
>>> with_layouts(program)
>>> print(show(program))
columns(x: float64[2]) {
  y = float64[x.length(1), x.length(0)] filled with 0.0
  for k from 0 to x.length(0) by 1 {
    for j from 0 to x.length(1) by 1 {
      for i from 0 to x.length(0) by 1 {
        y[j, i] += x[i, j]
      }
    }
  }
  y2 = float64[x.length(0), x.length(1)]
  for i2 from 0 to x.length(0) by 1 {
    for j2 from 0 to x.length(1) by 1 {
      y2[i2, j2] = y[j2, i2]
    }
  }
  return y2
}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from .fusion import nested
from .nest import INDEX, Alloc, Expr, For, Increase, Length, Load, Name, Parallel, Program, Return, Stmt, Store
from .rewriting import Fresh, all_reads, blocks_of, bound_by, exprs_of, map_exprs, parts, walk
from .views import base_and_offset

TRIPS = 16  # how many trips a loop is taken to have
CLEARLY = 2  # how many times as often a buffer is read along another axis than along the last one


def with_layouts(program: Program) -> None:
    """Change the order of axes of buffers, where that is clearly better."""
    every = list(walk(program.body))
    times = Counter(name for s in every for name in bound_by(s))
    mentions = Counter(all_reads(program.body))
    known: Counter[str] = Counter()  # how many times a buffer is named as it may be
    returned: set[str] = set()
    for s in every:
        for e in exprs_of(s):
            known.update(part.array for part in parts(e) if isinstance(part, (Load, Length)))
        if isinstance(s, (Store, Increase)):
            known[s.array] += 1
        if isinstance(s, Return):
            names = [v for v in s.values if isinstance(v, str)]
            known.update(names)
            returned.update(names)
    found = {
        s.name: s for s in every
        if isinstance(s, Alloc) and len(s.shape) > 1 and times[s.name] == 1 and mentions[s.name] == known[s.name]
    }  # fmt: skip
    votes: dict[str, Counter[int]] = {name: Counter() for name in found}
    _count(program.body, None, 0, votes)
    orders: dict[str, tuple[int, ...]] = {}
    for name, made in found.items():
        last = len(made.shape) - 1
        axis = max(range(last, -1, -1), key=lambda k: votes[name][k])
        gain = votes[name][axis] - CLEARLY * votes[name][last]
        if axis != last and gain > (2 * TRIPS ** len(made.shape) if name in returned else 0):
            orders[name] = (*[k for k in range(last + 1) if k != axis], axis)
    if orders:
        _reorder(every, orders)
        _give_back(program.body, found, orders, Fresh(program))


def _count(block: Sequence[Any], index: str | None, weight: int, votes: dict[str, Counter[int]]) -> None:
    """How often buffers are read and written along each axis by innermost loops."""
    for s in block:
        for inner in blocks_of(s):
            if isinstance(s, (For, Parallel)):
                _count(inner, s.index, TRIPS * max(weight, 1), votes)
            else:
                _count(inner, index, weight, votes)
        places = [(part.array, part.index) for e in exprs_of(s) for part in parts(e) if isinstance(part, Load)]
        if isinstance(s, (Store, Increase)):
            places.append((s.array, s.index))
        for array, at in places:
            axes = [k for k, e in enumerate(at) if base_and_offset(e)[0] == Name(index or "", INDEX)]
            if array in votes and len(axes) == 1:
                votes[array][axes[0]] += weight


def _reorder(every: Sequence[Any], orders: dict[str, tuple[int, ...]]) -> None:
    def moved(array: str, items: Sequence[Expr]) -> tuple[Expr, ...]:
        return tuple([items[k] for k in orders[array]])

    def changed(e: Expr) -> Expr:
        if isinstance(e, Load) and e.array in orders:
            return Load(e.array, moved(e.array, e.index), e.dtype)
        if isinstance(e, Length) and e.array in orders:
            return Length(e.array, orders[e.array].index(e.axis))
        return e

    for s in every:
        map_exprs(s, changed)
        if isinstance(s, (Store, Increase)) and s.array in orders:
            s.index = moved(s.array, s.index)
        if isinstance(s, Alloc) and s.name in orders:
            s.shape = moved(s.name, s.shape)


def _give_back(
    block: list[Stmt], made: dict[str, Alloc], orders: dict[str, tuple[int, ...]], fresh: Fresh
) -> None:  # fmt: skip
    """Return buffers with the axes in their own order."""
    for k in range(len(block) - 1, -1, -1):
        s = block[k]
        for inner in blocks_of(s):
            _give_back(inner, made, orders, fresh)
        if not isinstance(s, Return):
            continue
        new: list[Stmt] = []
        for name in dict.fromkeys(v for v in s.values if isinstance(v, str) and v in orders):
            order, alloc, out = orders[name], made[name], fresh(name)
            index = tuple([Name(fresh("ijklmn"[min(n, 5)]), INDEX) for n in range(len(order))])
            shape = tuple([alloc.shape[order.index(n)] for n in range(len(order))])
            element = Load(name, tuple([index[n] for n in order]), alloc.dtype)
            new += [Alloc(out, alloc.dtype, shape), *nested(index, shape, [Store(out, index, element)])]
            s.values = tuple([out if v == name else v for v in s.values])
        block[k:k] = new


__all__ = ["with_layouts"]
