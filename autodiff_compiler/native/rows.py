"""Rows of one buffer that a loop reads and writes are looked at for each run of the loop.

LLVM computes several elements at once where it knows that what a loop writes is not what it reads. It asks the run,
once for all runs of the loop if it can. Then two rows of one buffer count as the same memory, since another run of the
loop has another row. A number that LLVM does not see through keeps it from asking too early. The same holds for rows of
a stack of residuals: what all runs of the loop save, or read, is most of the stack.

>>> from autodiff_compiler.native.nest import F8, Alloc, Return, show
>>> from autodiff_compiler.native.views import ONE, minus
>>> i, j, n = Name("i", INDEX), Name("j", INDEX), Const(9, INDEX)
>>> program = Program("rows", (), [
...     Alloc("y", F8, (n, n), 1.0),
...     For("j", ONE, n, 1, [For("i", ONE, n, 1, [Store("y", (j, i), Load("y", (minus(j, ONE), i), F8))])]),
...     Return(("y",)),
... ])
>>> look_at_rows(program)
>>> print(show(program))
rows() {
  y = float64[9, 9] filled with 1.0
  for j from 1 to 9 by 1 {
    k = opaque(sub(j, 1))
    k2 = opaque(j)
    for i from 1 to 9 by 1 {
      y[k2, i] = y[k, i]
    }
  }
  return y
}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .nest import INDEX, Call, Const, Expr, For, Increase, Load, Name, Parallel, Program, Set, Stmt, Store
from .rewriting import Fresh, blocks_of, bound_by, exprs_of, map_exprs, names_in, parts, walk

Index = tuple[Expr, ...]


def look_at_rows(program: Program) -> None:
    """Hide from the innermost loops which row of a buffer they read and write, where there are several of one.

    Rows that are counted are hidden, too.
    """
    _block(program.body, set(), set(), Fresh(program))


def _block(block: list[Stmt], around: set[str], counted: set[str], fresh: Callable[[str], str]) -> None:
    """`around`: the indices of the loops around the block; `counted`: the numbers that iterations set."""
    for s in list(block):
        inside, inner_counted = around, counted
        if isinstance(s, (For, Parallel)):
            inside = around | {s.index}
            inner_counted = counted | {inner.name for inner in s.body if isinstance(inner, Set)}
        if isinstance(s, For) and around and not any(isinstance(inner, For) for inner in walk(s.body)):
            at = next(k for k, other in enumerate(block) if other is s)
            block[at:at] = _hidden(s, around, counted, fresh)
        else:
            for inner in blocks_of(s):
                _block(inner, inside, inner_counted, fresh)


def _hidden(loop: For, around: set[str], counted: set[str], fresh: Callable[[str], str]) -> list[Stmt]:
    bound = {name for s in walk([loop]) for name in bound_by(s)}

    def fixed(index: Index) -> Index:
        """The positions that stay where they are while the loop runs."""
        return tuple([e for e in index if bound.isdisjoint(names_in(e))])

    rows: dict[str, set[Index]] = {}
    written: set[str] = set()
    for s in walk(loop.body):
        for array, index, writes in _places(s):
            if len(fixed(index)) == len(index) - 1:
                rows.setdefault(array, set()).add(fixed(index))
                if writes:
                    written.add(array)
    several = {array for array in written if len(rows[array]) > 1}
    named: dict[Expr, Name] = {}

    def hide(array: str, index: Index) -> Index:
        if len(fixed(index)) != len(index) - 1:
            return index
        out: list[Expr] = []
        for e in index:
            varies = array in several and not around.isdisjoint(names_in(e)) and _may_stand_in_front(e)
            if bound.isdisjoint(names_in(e)) and (varies or (isinstance(e, Name) and e.name in counted)):
                if e not in named:
                    named[e] = Name(fresh("k"), INDEX)
                e = named[e]
            out.append(e)
        return tuple(out)

    for s in walk(loop.body):
        map_exprs(s, lambda e: Load(e.array, hide(e.array, e.index), e.dtype) if isinstance(e, Load) else e)
        if isinstance(s, (Store, Increase)):
            s.index = hide(s.array, s.index)
    return [Set(name.name, Call("opaque", (e,), INDEX)) for e, name in named.items()]


def _may_stand_in_front(e: Expr) -> bool:
    """A position may be computed for a loop that has no trips."""
    return all(
        isinstance(x, (Name, Const)) or (isinstance(x, Call) and x.fn in ("add", "sub", "mul")) for x in parts(e)
    )


def _places(s: Any) -> list[tuple[str, Index, bool]]:
    found = [(part.array, part.index, False) for e in exprs_of(s) for part in parts(e) if isinstance(part, Load)]
    return [*found, (s.array, s.index, True)] if isinstance(s, (Store, Increase)) else found


__all__ = ["look_at_rows"]
