"""A forward sweep and a pullback as two programs.

Takes a function whose last results are computed by a function of its own: the pullback of `vjp`, the pushforward of
`linearize`. It is lowered as one program, with a `Return` in the middle. What stands in front of it becomes a program,
and what stands behind it another one. The *residuals* are the names that the first one binds and the second one reads:
numbers, buffers and stacks. So residuals are what they are in a gradient, which is one program.

The second program may run any number of times, and at any time later. So it writes to no residual. The caller gets no
buffer that is one: where a result may be one, it is copied. The entry hands over arrays that are its own (see
`native.halves`), so no argument has to be copied again, unless the program writes to it.

>>> from autodiff_compiler.native.nest import F8, INDEX, Alloc, Array, Const, For, Length, Load, Name, Program, Return
>>> from autodiff_compiler.native.nest import Call, Set, Store, show
>>> n, i = Length("x", 0), Name("i", INDEX)
>>> whole = Program("tripled", (Array("x", F8, 1),), [
...     Set("first", Load("x", (Const(0, INDEX),), F8)),
...     Return((Name("first", F8),)),
...     Alloc("x_bar", F8, (n,), 0.0),
...     Store("x_bar", (Const(0, INDEX),), Call("mul", (Name("first", F8), Name("seed", F8)), F8)),
...     Return(("x_bar",)),
... ])
>>> forward, backward = cut(whole, (Name("seed", F8),), "tripled_pullback").programs
>>> print(show(forward))
tripled(x: float64[1]) {
  first = x[0]
  x_len0 = x.length(0)
  return first, x_len0, first
}
>>> print(show(backward))
tripled_pullback(x_len0: int64, first: float64, seed: float64) {
  x_bar = float64[x_len0] filled with 0.0
  x_bar[0] = mul(first, seed)
  return x_bar
}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..analysis.sharing import Sharing
from ..ir.core import DERIVED, Function, Op, Value
from ..ir.opset import COPY
from . import foreign, stacks
from .fusion import nested
from .improvements import finish, improve
from .lowering import Lowering, Result
from .nest import (
    INDEX,
    AddProduct,
    Alloc,
    Array,
    Bind,
    Call,
    Const,
    Expr,
    Foreign,
    Grow,
    Increase,
    Item,
    Length,
    Load,
    Name,
    Piece,
    Pop,
    Program,
    Push,
    Put,
    Reshape,
    Return,
    Row,
    Set,
    Stacked,
    Stmt,
    Store,
)
from .numbers import NotNative, Number
from .promotion import Promoted
from .rewriting import Fresh, all_reads, bound_by, walk
from .verifier import bindings, verify
from .views import differs, whole


@dataclass(frozen=True, slots=True)
class Seed:
    """A parameter of the second program that the caller gives: a cotangent or a tangent.

    kind: "array", "np" for a number of NumPy's, "py" for one of Python's, "?" for either
    """

    kind: str
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Halves:
    """Two programs.

    taken:   which of the function's parameters the first takes
    results: of the first and of the second
    saved:   the kinds of the residuals, which the first returns behind its results, and the second takes first
    seeds:   of the second; None for one that it does not read
    """

    programs: tuple[Program, Program]
    taken: tuple[int, ...]
    results: tuple[tuple[Result, ...], tuple[Result, ...]]
    saved: tuple[Array | Name | Stacked, ...]
    seeds: tuple[Seed | None, ...]
    foreign: list[Any]


def lower_halves(fn: Function, sharing: Sharing, split: int, names: tuple[str, str]) -> Halves:
    """The two programs of a function whose first `split` results are those of the first. Raises NotNative."""
    written: frozenset[int] = frozenset()
    promoted: frozenset[Value] = frozenset()
    while True:
        lent = _copies_of_parameters(fn, written)
        lowering = Lowering(fn, sharing, foreign.call, stacks.room, split, lent, promoted)
        try:
            return _lower(lowering, names)
        except _Written as error:
            written |= error.numbers
        except Promoted as error:
            promoted |= {error.value}


class _Written(Exception):
    """The program writes to buffers of these parameters, which were lent to it."""

    def __init__(self, numbers: frozenset[int]):
        super().__init__()
        self.numbers = numbers


def _copies_of_parameters(fn: Function, written: frozenset[int]) -> frozenset[Op]:
    """The copies of parameters to which nothing is written. The caller's arrays are not among these: see `halves`."""
    own = fn.params[: len(fn.params) - fn.meta["seed_params"]]
    lent = {p for k, p in enumerate(own) if p.type.kind == "array" and k not in written}
    return frozenset([op for op in fn.body.ops if op.prim is COPY and op.args[0] in lent])


def _lower(self: Lowering, names: tuple[str, str]) -> Halves:
    body, split = self.fn.body, self.split
    assert split is not None
    count = len(body.params) - self.fn.meta["seed_params"]
    taken = self.take(body.params[:count])
    own = tuple(self.params)
    for op in body.ops:
        if op.tag != DERIVED:
            self.op(op)
    self.flush()
    first = self.give_back([(x, False) for x in body.exit[:split]])
    seeded = self.fn.meta.get("seeded")
    given: list[Name | Array] = []
    seeds: list[Seed | None] = []
    for k, p in enumerate(body.params[count:]):
        if not self.uses.get(p):
            seeds.append(None)
            continue
        param, seed = _seed(self, p, first, None if seeded is None else seeded[k])
        given.append(param)
        seeds.append(seed)
    for op in body.ops:
        if op.tag == DERIVED:
            self.op(op)
    self.flush()
    second = self.give_back([(x, True) for x in body.exit[split:]])
    made = cut(Program(names[0], own, self.frame.block), given, names[1])
    if made.written:
        raise _Written(frozenset([k for p, k in zip(own, taken) if p.name in made.written]))
    return Halves(made.programs, taken, (first, second), made.saved, tuple(seeds), self.foreign)


def _seed(self: Lowering, p: Value, results: Sequence[Result], number: int | None) -> tuple[Name | Array, Seed]:
    """A parameter for a cotangent or a tangent. Its shape is checked: the types take it for that of the result.

    number: of the result whose cotangent it is
    """
    t = p.type
    name = self.fresh(p.hint or "seed")
    if number is not None and results[number].kind == "array":
        result = self.fn.body.exit[number]
        wanted: Any = self.shape(result)
        dtype = self.dtype(result)
    elif number is not None:
        found = results[number]
        if found.dtype.kind not in "fc":
            raise NotNative(f"a cotangent of {found.dtype}")
        kind = "np" if found.kind == "np" else "?"
        self.values[p] = Number(Name(name, found.dtype), found.dtype, kind)
        return Name(name, found.dtype), Seed(kind, found.dtype)
    elif t.kind == "array" and t.dims and t.dtype is not None:
        dtype, wanted = t.dtype, [d if isinstance(d, int) else None for d in t.dims]
    elif t.kind in ("py", "generic") and t.dtype is not None and t.dtype.kind in "fc":
        kind = "py" if t.kind == "py" else "np"
        self.values[p] = Number(Name(name, t.dtype), t.dtype, kind)
        return Name(name, t.dtype), Seed(kind, t.dtype)
    else:
        raise NotNative(f"a tangent of type {t}")
    if dtype.kind not in "fc":
        raise NotNative(f"a cotangent of {dtype}")
    shape: list[Expr] = []
    for k, n in enumerate(wanted):
        have = Length(name, k)
        if n is not None:
            e = Const(n, INDEX) if isinstance(n, int) else n
            self.check_once(differs(have, e))
        else:
            e = self.set_where_known(self.fresh(f"{name}_len{k}"), have)
        shape.append(e)
    self.values[p] = whole(name, dtype, shape)
    return Array(name, dtype, len(shape)), Seed("array", dtype)


# --- the cut ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cut:
    """The halves of a program.

    saved:   the residuals
    written: the parameters whose buffers the program writes to
    """

    programs: tuple[Program, Program]
    saved: tuple[Array | Name | Stacked, ...]
    written: frozenset[str]


def cut(program: Program, given: Sequence[Name | Array], name: str) -> Cut:
    """Cut a program behind its first `Return`. The second half, called `name`, takes the residuals, and `given`.

    Raises NotNative if the second half writes to a residual.
    """
    improve(Program(name, (*program.params, *given), program.body))
    (at, *_) = [k for k, s in enumerate(program.body) if isinstance(s, Return)]
    forward, end, backward = program.body[:at], program.body[at], program.body[at + 1 :]
    assert isinstance(end, Return)
    known = bindings(program.params, forward)
    fresh = Fresh(program)
    _hand_lengths(forward, backward, known, fresh)
    known = bindings(program.params, forward)
    # What the second half takes off a stack, or counts down, it binds again.
    touched = [*all_reads(backward), *[b for s in walk(backward) for b in bound_by(s)]]
    saved: list[Array | Name | Stacked] = []
    for x in dict.fromkeys(touched):
        if x in known:
            what = known[x]
            if what[0] == "stack":
                saved.append(Stacked(x, what[1], what[2]))
            else:
                saved.append(Name(x, what[0]) if what[1] is None else Array(x, *what))
    saved.sort(key=lambda p: isinstance(p, Stacked))
    lent = {p.name for p in program.params if isinstance(p, Array)}
    buffers = _Buffers([*lent, *[p.name for p in given if isinstance(p, Array)]], [*forward, *backward])
    kept = buffers.of([p.name for p in saved]) | lent
    if not buffers.written(backward).isdisjoint(kept | {p.name for p in given}):
        raise NotNative("a pullback that writes to what the forward sweep saved")
    written = buffers.written(forward) & lent
    values = [_own(v, forward, known, buffers, kept, fresh) for v in end.values]
    residuals = [Name(p.name, p.dtype) if isinstance(p, Name) else p.name for p in saved]
    first = Program(program.name, program.params, [*forward, Return((*values, *residuals))])
    last = backward.pop()
    assert isinstance(last, Return)
    inner = bindings((*saved, *given), backward)
    backward.append(Return(tuple([_own(v, backward, inner, buffers, kept, fresh) for v in last.values])))
    second = Program(name, (*saved, *given), backward)
    for half in (first, second):
        finish(half)
        verify(half)
    return Cut((first, second), tuple(saved), frozenset(written))


def _own(
    v: Expr | str, block: list[Stmt], known: dict[str, Any], buffers: _Buffers, others: set[str], fresh: Fresh
) -> Expr | str:
    """A result, which is copied if its buffer may be one of `others`."""
    if not isinstance(v, str) or buffers.of([v]).isdisjoint(others):
        return v
    dtype, axes = known[v]
    out = fresh(v)
    index = [Name(fresh(letter), INDEX) for letter in "ijklmn"[:axes]]
    shape = [Length(v, k) for k in range(axes)]
    block.append(Alloc(out, dtype, tuple(shape)))
    block += nested(index, shape, [Store(out, tuple(index), Load(v, tuple(index), dtype))])
    return out


class _Buffers:
    """Which buffers a name may be of, whatever the order of the statements. A buffer goes by the name that it is made
    under, or by that of a parameter."""

    def __init__(self, params: Iterable[str], block: Sequence[Stmt]):
        self.found: dict[str, set[str]] = {p: {p} for p in params}
        edges: list[tuple[str, str]] = []
        for s in walk(block):
            if isinstance(s, (Bind, Row, Piece, Reshape)):
                edges.append((s.name, s.source))
            elif isinstance(s, (Push, Put)):
                edges.append((s.stack, s.value))
            elif isinstance(s, (Pop, Item)):
                edges.append((s.name, s.stack))
            elif isinstance(s, (Alloc, Grow, Foreign)):
                for name in bound_by(s):
                    self.found.setdefault(name, set()).add(name)
        changed = True
        while changed:
            changed = False
            for name, source in edges:
                own, more = self.found.setdefault(name, set()), self.found.get(source, set())
                if not more <= own:
                    own |= more
                    changed = True

    def of(self, names: Iterable[str]) -> set[str]:
        return set().union(*[self.found.get(name, set()) for name in names])

    def written(self, block: Sequence[Stmt]) -> set[str]:
        """The buffers that statements write to."""
        names = [s.array for s in walk(block) if isinstance(s, (Store, Increase))]
        return self.of([*names, *[s.into for s in walk(block) if isinstance(s, AddProduct)]])


# --- lengths ----------------------------------------------------------------------------------------------------------


def _hand_lengths(forward: list[Stmt], backward: list[Stmt], known: dict[str, Any], fresh: Fresh) -> None:
    """Where the second half reads only the lengths of a buffer, these are handed over, and not the buffer."""
    read = {*_contents(backward), *[b for s in walk(backward) for b in bound_by(s)]}
    names: dict[Length, Name] = {}

    def handed(e: Expr) -> Expr:
        if isinstance(e, Length) and e.array in known and e.array not in read:
            if e not in names:
                names[e] = Name(fresh(f"{e.array}_len{e.axis}"), INDEX)
                forward.append(Set(names[e].name, e))
            return names[e]
        return e

    _replace(backward, handed)


def _contents(block: Sequence[Stmt]) -> Iterator[str]:
    """The names that statements read otherwise than by asking for a length."""

    def without(e: Expr) -> Expr:
        return Const(0, INDEX) if isinstance(e, Length) else e

    copied = _copied(block)
    _replace(copied, without)
    yield from all_reads(copied)


def _copied(block: Sequence[Stmt]) -> list[Stmt]:
    out = []
    for s in block:
        inner = {slot: _copied(getattr(s, slot)) for slot in s.__slots__ if isinstance(getattr(s, slot), list)}
        out.append(replace(s, **inner))  # type: ignore[arg-type]
    return out


_EXPRS = (Const, Name, Load, Length, Call)


def _replace(block: Sequence[Stmt], new: Callable[[Expr], Expr]) -> None:
    """Replace expressions in statements, from the inside out."""

    def made(e: Any) -> Any:
        if isinstance(e, Call):
            e = Call(e.fn, tuple([made(arg) for arg in e.args]), e.dtype)
        elif isinstance(e, Load):
            e = Load(e.array, tuple([made(i) for i in e.index]), e.dtype)
        return new(e) if isinstance(e, _EXPRS) else e

    for s in block:
        for slot in s.__slots__:
            part = getattr(s, slot)
            if isinstance(part, list):
                _replace(part, new)
            elif isinstance(part, _EXPRS):
                setattr(s, slot, made(part))
            elif isinstance(part, tuple):
                setattr(s, slot, tuple([made(item) for item in part]))


__all__ = ["Cut", "Halves", "Seed", "cut", "lower_halves"]
