"""Names of buffers that are other names of the same buffer go.

>>> from autodiff_compiler.native.nest import F8, INDEX, Alloc, Bind, Const, For, Name, Program, Return, Store, show
>>> n, i = Const(9, INDEX), Name("i", INDEX)
>>> program = Program("ones", (), [
...     Alloc("t", F8, (n,)), Bind("y", "t"),
...     For("i", Const(0, INDEX), n, 1, [Bind("z", "y"), Store("z", (i,), Const(1.0, F8)), Bind("y", "z")]),
...     Return(("y",)),
... ])
>>> resolve(program)
>>> print(show(program))
ones() {
  y = float64[9]
  for i from 0 to 9 by 1 {
    y[i] = 1.0
  }
  return y
}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from .nest import (
    Bind,
    Branch,
    Call,
    Expr,
    For,
    Foreign,
    Forever,
    Grow,
    Leave,
    Length,
    Load,
    Piece,
    Program,
    Push,
    Put,
    Reshape,
    Row,
    Set,
    Stmt,
    Sum,
)
from .rewriting import all_reads, blocks_of, bound_by, map_exprs, walk

# Which buffer a name stands for: an object for each, and the name that it had first.
Buffers = dict[str, "_Buffer"]


class _Buffer:
    def __init__(self, name: str):
        self.name = name


def resolve(program: Program) -> None:
    """Read each buffer by the name that it had first, where that is known. Leave out names that nothing reads.

    A buffer that was a temporary first has the name that the program gives it later.
    """
    known = {p.name: _Buffer(p.name) for p in program.params}
    resolving = _Resolving()
    resolving.block(program.body, known, True)
    while True:
        used = set(all_reads(program.body))
        if not _without(program.body, used):
            break
    every = list(walk(program.body))
    used |= {name for s in every for name in bound_by(s)} | {p.name for p in program.params}
    given = {name for s in every if isinstance(s, Foreign) for name in bound_by(s)}
    new: dict[str, str] = {}
    for name, other in resolving.later:
        if name in used - given and name not in new and is_temporary(name) and not is_temporary(other):
            if other not in used:
                new[name] = other
                used.add(other)
    if new:
        _rename(every, new)


def is_temporary(name: str) -> bool:
    return re.fullmatch(r"t(_?\d+)*", name) is not None


def _rename(every: Sequence[Any], new: dict[str, str]) -> None:
    def changed(e: Expr) -> Expr:
        if isinstance(e, Load) and e.array in new:
            return Load(new[e.array], e.index, e.dtype)
        return Length(new[e.array], e.axis) if isinstance(e, Length) and e.array in new else e

    for s in every:
        map_exprs(s, changed)
        for slot in s.__slots__:
            part = getattr(s, slot)
            if isinstance(part, str) and part in new:
                setattr(s, slot, new[part])
            elif isinstance(part, tuple):
                setattr(s, slot, tuple([new.get(x, x) if isinstance(x, str) else x for x in part]))


def _without(block: list[Stmt], read: set[str]) -> bool:
    kept = [s for s in block if not (isinstance(s, (Bind, Row, Piece, Reshape)) and s.name not in read)]
    dropped = len(kept) < len(block)
    block[:] = kept
    for s in block:
        for inner in blocks_of(s):
            dropped |= _without(inner, read)
    return dropped


def _buffers_bound(block: Sequence[Any]) -> Iterator[str]:
    for s in block:
        if not isinstance(s, (Set, Sum)):
            yield from bound_by(s)
        for inner in blocks_of(s):
            yield from _buffers_bound(inner)


class _Resolving:
    """
    leaves: for each loop around, which buffers the names stand for where it is left
    later:  the first names of buffers, with those that they got later
    """

    def __init__(self) -> None:
        self.leaves: list[list[Buffers]] = []
        self.later: list[tuple[str, str]] = []

    def block(self, block: list[Stmt], known: Buffers, changes: bool) -> None:
        for k, s in enumerate(block):
            if isinstance(s, (For, Forever)):
                self.loop(s, known, changes)
            elif isinstance(s, Branch):
                if changes:
                    s.condition = renamed(s.condition, known)
                ends = [dict(known), dict(known)]
                self.block(s.then, ends[0], changes)
                self.block(s.orelse, ends[1], changes)
                for name in set(ends[0]) | set(ends[1]):
                    a, b = ends[0].get(name), ends[1].get(name)
                    known[name] = a if a is not None and a is b else _Buffer(name)
            else:
                if changes:
                    block[k] = s = renamed_in(s, known)
                if isinstance(s, Leave):
                    self.leaves[-1].append(dict(known))
                if isinstance(s, Bind):
                    known[s.name] = known[s.source]
                    self.later.append((known[s.name].name, s.name))
                elif not isinstance(s, (Set, Sum)):
                    for name in bound_by(s):
                        known[name] = _Buffer(name)

    def loop(self, s: For | Forever, known: Buffers, changes: bool) -> None:
        """A name that stands for the same buffer at the top of each iteration stands for it behind the loop, too."""
        if isinstance(s, For) and changes:
            s.start, s.stop = renamed(s.start, known), renamed(s.stop, known)
        bound: set[str] = set(_buffers_bound(s.body))
        differ: set[str] = set()
        while True:
            start = {**known, **{name: _Buffer(name) for name in differ}}
            end = dict(start)
            self.leaves.append([])
            self.block(s.body, end, False)
            ends = [end, *self.leaves.pop()]
            more = {name for name in bound - differ if any(e.get(name) is not start.get(name) for e in ends)}
            if not more:
                break
            differ |= more
        if changes:
            self.leaves.append([])
            self.block(s.body, dict(start), True)
            self.leaves.pop()
        known.update({name: _Buffer(name) for name in differ})


def _name(name: str, known: Buffers) -> str:
    """The first name of a buffer, if that stands for it still."""
    buffer = known.get(name)
    return buffer.name if buffer is not None and known.get(buffer.name) is buffer else name


def renamed(e: Expr, known: Buffers) -> Expr:
    if isinstance(e, Load):
        return Load(_name(e.array, known), tuple([renamed(i, known) for i in e.index]), e.dtype)
    if isinstance(e, Length):
        return Length(_name(e.array, known), e.axis)
    if isinstance(e, Call):
        return Call(e.fn, tuple([renamed(arg, known) for arg in e.args]), e.dtype)
    return e


def renamed_in(s: Any, known: Buffers) -> Any:
    """The statement, which has no blocks, with other names for what it reads."""
    values = {}
    for slot in s.__slots__:
        part = getattr(s, slot)
        if isinstance(part, (Load, Length, Call)):
            part = renamed(part, known)
        elif isinstance(part, tuple):
            part = tuple([
                item if isinstance(item, bool) else _name(item, known) if isinstance(item, str)
                else renamed(item, known) if isinstance(item, (Load, Length, Call)) else item
                for item in part
            ])  # fmt: skip
        elif isinstance(part, str) and (
            slot in ("source", "into", "left", "right")
            or (slot == "array" and not isinstance(s, Grow))
            or (slot == "value" and isinstance(s, (Push, Put)))
        ):
            part = _name(part, known)
        values[slot] = part
    return type(s)(**values)


__all__ = ["renamed", "renamed_in", "resolve"]
