"""Loops whose iterations are independent become loops in parts, which threads run at the same time.

How many parts there are, and which iterations are in which, depends on the trips and the work, and never on the number
of threads. A part has sums of its own, which are added up in order when all parts are done. So any number of threads
gives the same bits.

>>> from autodiff_compiler.native.nest import F8, Array, Load, Return, Sum, show
>>> n, i = Length("x", 0), Name("i", INDEX)
>>> x = Load("x", (i,), F8)
>>> program = Program("squares", (Array("x", F8, 1),), [
...     Alloc("y", F8, (n,)), Set("s", Const(0.0, F8)),
...     For("i", Const(0, INDEX), n, 1, [Store("y", (i,), Call("mul", (x, x), F8)), Sum("s", x)]),
...     Return((Name("s", F8), "y")),
... ])
>>> in_parallel(program, str)
>>> print(show(program))
squares(x: float64[1]) {
  y = float64[x.length(0)]
  s = 0.0
  parts = pieces(x.length(0), 6, 0)
  s_parts = float64[parts] filled with 0.0
  part of parts parts of i from 0 to x.length(0) {
    s = s_parts[part]
    for i from first to last {
      y[i] = mul(x[i], x[i])
      s sums x[i]
    }
    s_parts[part] = s
  }
  for p from 0 to parts by 1 {
    s = add(s, s_parts[p])
  }
  return s, y
}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .affine import Poly
from .fusion import first_of, nested
from .independence import Found, Loops, bounds_of
from .nest import (
    BOOL,
    INDEX,
    AddProduct,
    Alloc,
    Branch,
    Call,
    Const,
    Expr,
    For,
    Forever,
    Increase,
    Length,
    Load,
    Name,
    Parallel,
    Program,
    Reshape,
    Row,
    Set,
    Stmt,
    Store,
)
from .rewriting import bound_by, names_in, parts, walk
from .verifier import kinds_of
from .views import ONE, ZERO, at_least_zero, minus, plus, product

FEW = 8  # a loop with fewer trips, as the program says it, leaves the threads to the loops inside
SHORT = 16  # places of a stack at first
SOME = 8  # how many trips a loop is taken to have if nobody knows
# What operations cost, next to an addition.
COSTS = {"div": 4, "sqrt": 6, "floordiv": 10, "mod": 10, "convert": 1, "pow": 40}
COSTLY = frozenset({
    "exp", "log", "log1p", "expm1", "log2", "log10", "exp2", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh",
    "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "arctan2", "hypot", "logaddexp",
})  # fmt: skip


def in_parallel(program: Program, fresh: Callable[[str], str]) -> None:
    """Make parts of the outermost loops that are independent. `fresh` makes a name."""
    _Splitting(program, fresh).block(program.body, False)


class _Splitting:
    def __init__(self, program: Program, fresh: Callable[[str], str]):
        self.loops = Loops(program)
        self.kinds = kinds_of(program)
        self.fresh = fresh
        self.bound = set().union(*[bound_by(s) for s in walk(program.body)]) if program.body else set()

    def block(self, block: list[Stmt], in_loop: bool) -> None:
        out: list[Stmt] = []
        for s in block:
            if isinstance(s, For):
                found = None if _is_short(s) else self.loops.found(s)
                if found is not None:
                    out += self.split(s, found, in_loop)
                    continue
                self.block(s.body, True)
            elif isinstance(s, Forever):
                self.block(s.body, True)
            elif isinstance(s, Branch):
                self.block(s.then, in_loop)
                self.block(s.orelse, in_loop)
            out.append(s)
        block[:] = out

    def split(self, loop: For, found: Found, in_loop: bool) -> list[Stmt]:
        """The loop in parts, and what stands in front of it and behind it.

        A loop that runs often, with little work each time, also stands there as it is, for one part.
        """
        low, high = bounds_of(loop)
        trips = at_least_zero(minus(high, low))
        part, first, last = self.fresh("part"), self.fresh("first"), self.fresh("last")
        in_front: list[Stmt] = []
        behind: list[Stmt] = []
        before: list[Stmt] = []
        after: list[Stmt] = []
        count = Name(self.fresh("parts"), INDEX)
        mine = Name(part, INDEX)
        alone = Call("eq", (count, ONE), BOOL)
        room: Expr = ZERO
        for name, (how, dtype) in found.sums.items():
            store = self.fresh(f"{name}_parts")
            fill = False if how == "or" else first_of(how, dtype)
            in_front.append(Alloc(store, dtype, (count,), fill))
            before.append(Set(name, Load(store, (mine,), dtype)))
            after.append(Store(store, (mine,), Name(name, dtype)))
            p = Name(self.fresh("p"), INDEX)
            fn = "add" if how == "sum" else how
            more = Set(name, Call(fn, (Name(name, dtype), Load(store, (p,), dtype)), dtype))
            behind.append(For(p.name, ZERO, count, 1, [more]))
        for name in found.added:
            dtype, axes = self.kinds[name]
            shape = tuple([Length(name, k) for k in range(axes)])
            store = self.fresh(f"{name}_parts")
            # One part alone adds to the buffer itself.
            own = Alloc(store, dtype, (count, *shape), dtype.type(0).item())
            in_front.append(Branch(alone, [Reshape(store, name, (ONE, *shape))], [own]))
            before.append(Row(name, store, (mine,)))
            index = [Name(self.fresh("ijklmn"[min(k, 5)]), INDEX) for k in range(axes)]
            p = Name(self.fresh("p"), INDEX)
            add = Increase(name, tuple(index), Load(store, (p, *index), dtype))
            behind.append(Branch(alone, [], [For(p.name, ZERO, count, 1, nested(index, shape, [add]))]))
            room = plus(room, product(shape))
        for name in found.stacks:
            before.append(Alloc(name, self.kinds[name][0], (Const(SHORT, INDEX),)))
        here = minus(Name(first, INDEX), low) if loop.step == 1 else minus(high, Name(last, INDEX))
        for name, step in found.steps.items():
            begin = self.fresh(f"{name}_before")
            in_front.append(Set(begin, Name(name, INDEX)))
            before.append(Set(name, _moved(begin, step, here)))
            behind.append(Set(name, _moved(begin, step, trips)))
        at_end = Call("eq", (Name(last, INDEX), high) if loop.step == 1 else (Name(first, INDEX), low), BOOL)
        ends = Call("and", (Call("lt", (Name(first, INDEX), Name(last, INDEX)), BOOL), at_end), BOOL)
        for name, dtype in found.last.items():
            given = {s.value for s in walk(loop.body) if isinstance(s, Set) and s.name == name}
            value = given.pop()
            if given or not isinstance(value, Const):
                store = self.fresh(f"{name}_last")
                in_front.append(Alloc(store, dtype, (ONE,)))
                after.append(Branch(ends, [Store(store, (ZERO,), Name(name, dtype))], []))
                value = Load(store, (ZERO,), dtype)
            behind.append(Branch(Call("lt", (low, high), BOOL), [Set(name, value)], []))
        cost = self.cost_of(loop.body, {loop.index, *[name for s in walk(loop.body) for name in bound_by(s)]})
        pieces = Set(count.name, Call("pieces", (minus(high, low), cost, room), INDEX))
        downwards = loop.step == -1 and bool(found.steps or found.last)  # else the order is of no matter
        loop_in_parts = Parallel(
            loop.index, low, high, downwards, count, part, first, last, before, loop.body, after, found.apart
        )
        in_parts = [*in_front, loop_in_parts, *behind]
        if not in_loop:
            return [pieces, *in_parts]
        outer = {*found.sums, *found.steps, *found.last, *found.stacks}
        names = {name: self.fresh(name) for name in sorted({x for s in walk([loop]) for x in bound_by(s)} - outer)}
        return [pieces, Branch(alone, [copied(loop, names)], in_parts)]

    # --- work ---------------------------------------------------------------------------------------------------------

    def cost_of(self, body: Sequence[Any], bound: set[str]) -> Expr:
        """What an iteration costs, next to an addition. `bound`: what is not known in front of the loop."""
        fixed = 0
        out: Expr = ZERO
        for s in body:
            inner: Expr = ZERO
            if isinstance(s, (For, Forever)):
                inside = self.cost_of(s.body, bound)
                trips: Expr = Const(SOME, INDEX)
                if isinstance(s, For) and abs(s.step) == 1:
                    low, high = bounds_of(s)
                    found = at_least_zero(minus(high, low))
                    if self.is_known(found, bound):
                        trips = found
                inner = _times(inside, trips)
            elif isinstance(s, Branch):
                fixed += _cost(s.condition) + 1
                inner = plus(self.cost_of(s.then, bound), self.cost_of(s.orelse, bound))
            elif isinstance(s, AddProduct):
                inner = _times(_times(self.lengths(s.left, bound), self.lengths(s.right, bound)), ONE)
            elif isinstance(s, Alloc):
                inner = product([n if self.is_known(n, bound) else Const(SOME, INDEX) for n in s.shape])
            else:
                fixed += sum(_cost(e) for e in _expressions(s)) + (2 if isinstance(s, (Store, Increase)) else 0)
            if isinstance(inner, Const):
                fixed += inner.value
            else:
                out = inner if out == ZERO else plus(out, inner)
        return plus(out, Const(fixed, INDEX))

    def lengths(self, name: str, bound: set[str]) -> Expr:
        """How long the first axis of a factor is, as far as it is known in front of the loop."""
        return Length(name, 0) if name not in bound else Const(SOME, INDEX)

    def is_known(self, e: Expr, bound: set[str]) -> bool:
        return not any(isinstance(part, Load) for part in parts(e)) and not bound & set(names_in(e))


def copied(s: Any, names: dict[str, str]) -> Any:
    """The statement with other names."""

    def part(x: Any) -> Any:
        if isinstance(x, str):
            return names.get(x, x)
        if isinstance(x, list):
            return [copied(inner, names) for inner in x]
        if isinstance(x, tuple):
            return tuple([part(inner) for inner in x])
        if isinstance(x, Name):
            return Name(part(x.name), x.dtype)
        if isinstance(x, Load):
            return Load(part(x.array), part(x.index), x.dtype)
        if isinstance(x, Length):
            return Length(part(x.array), x.axis)
        return Call(x.fn, part(x.args), x.dtype) if isinstance(x, Call) else x

    return type(s)(**{slot: part(getattr(s, slot)) for slot in s.__slots__})


def _is_short(loop: For) -> bool:
    low, high = bounds_of(loop)
    trips = minus(high, low)
    return isinstance(trips, Const) and trips.value < FEW


def _moved(begin: str, step: Poly, trips: Expr) -> Expr:
    """An int that moves on by a step in each of some trips."""
    by = step.expr()
    if by == ZERO:
        return Name(begin, INDEX)
    moved = trips if by == ONE else Call("mul", (trips, by), INDEX)
    return Call("add", (Name(begin, INDEX), moved), INDEX)


def _times(a: Expr, b: Expr) -> Expr:
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value * b.value, INDEX)
    if ONE in (a, b):
        return a if b == ONE else b
    return ZERO if ZERO in (a, b) else Call("mul", (a, b), INDEX)


def _expressions(s: Any) -> list[Expr]:
    found = []
    for slot in s.__slots__:
        part = getattr(s, slot)
        for e in part if isinstance(part, tuple) else (part,):
            if isinstance(e, (Const, Name, Load, Length, Call)):
                found.append(e)
    return found


def _cost(e: Expr) -> int:
    total = 0
    for part in parts(e):
        if isinstance(part, Load):
            total += 1
        elif isinstance(part, Call):
            total += 20 if part.fn in COSTLY else COSTS.get(part.fn, 1)
    return total


__all__ = ["in_parallel"]
