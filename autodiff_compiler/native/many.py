"""exp, log and tanh of the elements of an array are computed several at once.

The functions of the C library take one number at a time, and LLVM does not see into them. Those of `native.elementary`
stand in the loop as instructions. They pay where LLVM runs iterations side by side, and take longer where one waits for
another. So they are for innermost loops of which each iteration computes numbers of its own.

>>> from autodiff_compiler.native.nest import F8, INDEX, Alloc, Array, Call, Const, For, Length, Load, Name, Program
>>> from autodiff_compiler.native.nest import Return, Store, show
>>> n, i = Length("x", 0), Name("i", INDEX)
>>> program = Program("exps", (Array("x", F8, 1),), [
...     Alloc("y", F8, (n,)),
...     For("i", Const(0, INDEX), n, 1, [Store("y", (i,), Call("exp", (Load("x", (i,), F8),), F8))]),
...     Return(("y",)),
... ])
>>> compute_several(program)
>>> print(show(program))
exps(x: float64[1]) {
  y = float64[x.length(0)]
  for i from 0 to x.length(0) by 1 {
    y[i] = many_exp(x[i])
  }
  return y
}
"""

from __future__ import annotations

from .nest import INDEX, Call, Expr, For, Increase, Load, Parallel, Program, Set, Store, Sum
from .rewriting import exprs_of, map_exprs, names_in, parts, walk

SEVERAL = ("exp", "log", "tanh")


def compute_several(program: Program) -> None:
    """Let loops over elements call the functions that LLVM sees into."""
    for s in walk(program.body):
        if isinstance(s, (For, Parallel)) and _is_apart(s):
            for inner in s.body:
                map_exprs(inner, _several)


def _counts(s: Set | Sum) -> bool:
    return s.value.dtype == INDEX and not any(isinstance(part, Load) for part in parts(s.value))


def _several(e: Expr) -> Expr:
    if isinstance(e, Call) and e.fn in SEVERAL and e.dtype.kind == "f":
        return Call(f"many_{e.fn}", e.args, e.dtype)
    return e


def _is_apart(loop: For | Parallel) -> bool:
    """No iteration reads a number that another one computes, but for sums and counters."""
    if not all(isinstance(s, (Set, Sum, Store, Increase)) for s in loop.body):
        return False
    later = {s.name for s in loop.body if isinstance(s, (Set, Sum)) and not _counts(s)}
    stored: dict[str, set[tuple[Expr, ...]]] = {}
    for s in loop.body:
        if isinstance(s, (Store, Increase)):
            stored.setdefault(s.array, set()).add(s.index)
    bound: set[str] = set()
    for s in loop.body:
        for e in exprs_of(s):
            if not later.isdisjoint(set(names_in(e)) - bound):
                return False
            for part in parts(e):
                if isinstance(part, Load) and stored.get(part.array, {part.index}) != {part.index}:
                    return False
        if isinstance(s, Set):
            bound.add(s.name)
    return True


__all__ = ["SEVERAL", "compute_several"]
