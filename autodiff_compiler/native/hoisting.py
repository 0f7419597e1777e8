"""What no result needs is left out. Buffers that iterations use one after the other are made once, before the loop.

>>> from autodiff_compiler.native.nest import F8, INDEX, Alloc, Array, Const, For, Length, Load, Name, Program, Return
>>> from autodiff_compiler.native.nest import Set, Store, Sum, show
>>> n, k, i = Length("x", 0), Name("k", INDEX), Name("i", INDEX)
>>> program = Program("sums", (Array("x", F8, 1),), [
...     Set("s", Const(0.0, F8)),
...     For("k", Const(0, INDEX), n, 1, [
...         Alloc("t", F8, (n,)),
...         For("i", Const(0, INDEX), n, 1, [Store("t", (i,), Load("x", (i,), F8))]),
...         Sum("s", Load("t", (k,), F8)),
...     ]),
...     Return((Name("s", F8),)),
... ])
>>> hoist(program)
>>> print(show(program))
sums(x: float64[1]) {
  s = 0.0
  t = float64[x.length(0)]
  for k from 0 to x.length(0) by 1 {
    for i from 0 to x.length(0) by 1 {
      t[i] = x[i]
    }
    s sums t[k]
  }
  return s
}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from .fusion import nested
from .nest import (
    INDEX,
    Alloc,
    Bind,
    Branch,
    Const,
    Expr,
    For,
    Forever,
    Increase,
    Name,
    Parallel,
    Piece,
    Program,
    Push,
    Put,
    Reshape,
    Return,
    Row,
    Set,
    Stmt,
    Store,
    Sum,
)
from .rewriting import Fresh, all_reads, blocks_of, bound_by, names_in, walk


def hoist(program: Program) -> None:
    """Move what makes buffers out of loops, where no iteration leaves its buffer to another one."""
    _Hoisting(program).block(program.body)


def drop_unread(program: Program) -> None:
    """Leave out numbers and elements that nothing reads."""
    while True:
        read: set[str] = set()
        for s in walk(program.body):
            read.update(_read_by(s))
        stored = {s.name for s in walk(program.body) if isinstance(s, Alloc)} - read
        if not _without(program.body, read, stored):
            return


def _read_by(s: Any) -> Iterator[str]:
    """The names that a statement alone reads. To store into a buffer, or to add to it, is not to read it."""
    if isinstance(s, (Store, Increase)):
        for e in (*s.index, s.value):
            yield from names_in(e)
    elif isinstance(s, For):
        yield from names_in(s.start)
        yield from names_in(s.stop)
    elif isinstance(s, Parallel):
        for e in (s.low, s.high, s.parts):
            yield from names_in(e)
    elif isinstance(s, Branch):
        yield from names_in(s.condition)
    elif not isinstance(s, Forever):
        yield from all_reads([s])
    if isinstance(s, Sum):
        yield s.name


def _without(block: list[Stmt], read: set[str], stored: set[str]) -> bool:
    """Drop what makes numbers that are not read, and buffers that are only stored into. Whether there were any."""
    kept = [
        s
        for s in block
        if not (isinstance(s, Set) and s.name not in read)
        and not (isinstance(s, Alloc) and s.name in stored)
        and not (isinstance(s, (Store, Increase)) and s.array in stored)
    ]
    dropped = len(kept) < len(block)
    block[:] = kept
    for s in block:
        for inner in blocks_of(s):
            dropped |= _without(inner, read, stored)
    return dropped


class _Hoisting:
    """times: how many statements bind each name; reads: how many read it"""

    def __init__(self, program: Program):
        self.times = Counter(name for s in walk(program.body) for name in bound_by(s))
        self.reads = Counter(all_reads(program.body))
        self.fresh = Fresh(program)

    def block(self, block: list[Stmt]) -> None:
        """Inner loops first, so that a buffer goes as far out as it may."""
        out: list[Stmt] = []
        for s in block:
            for inner in blocks_of(s):
                self.block(inner)
            if isinstance(s, Parallel):
                s.before += self.taken_from(s)  # each part has buffers of its own
            elif isinstance(s, (For, Forever)):
                out += self.taken_from(s)
            out.append(s)
        block[:] = out

    def taken_from(self, loop: For | Forever | Parallel) -> list[Alloc]:
        """Take the buffers out of a loop that may be made in front of it."""
        changed = {name for s in walk([loop]) for name in bound_by(s)}
        inside = Counter(all_reads(loop.body))
        found: list[Alloc] = []
        self.take(loop.body, loop.body, changed, inside, found)
        return found

    def take(
        self, block: list[Stmt], body: list[Stmt], changed: set[str], inside: Counter[str], found: list[Alloc]
    ) -> None:
        out: list[Stmt] = []
        for s in block:
            if isinstance(s, Branch):
                for inner in blocks_of(s):
                    self.take(inner, body, changed, inside, found)
            if isinstance(s, Alloc) and self.is_own(s, body, changed, inside):
                found.append(s if s.border else Alloc(s.name, s.dtype, s.shape))
                if s.fill is not None and not s.border:
                    out += self.filling(s)
            else:
                out.append(s)
        block[:] = out

    def is_own(self, made: Alloc, body: list[Stmt], changed: set[str], inside: Counter[str]) -> bool:
        """Each iteration makes a buffer of the same shape, and nothing else knows of it."""
        if any(name in changed for n in made.shape for name in names_in(n)):
            return False
        names = [made.name]
        for name in names:
            if self.times[name] > 1 or self.reads[name] != inside[name]:
                return False
            for s in walk(body):
                if isinstance(s, (Bind, Row, Piece, Reshape)) and s.source == name:
                    names.append(s.name)
                elif isinstance(s, (Push, Put)) and s.value == name or isinstance(s, Return) and name in s.values:
                    return False
        return True

    def filling(self, made: Alloc) -> list[Stmt]:
        index: list[Expr] = [Name(self.fresh(letter), INDEX) for letter in "ijklmn"[: len(made.shape)]]
        return nested(index, made.shape, [Store(made.name, tuple(index), Const(made.fill, made.dtype))])
