"""Loops over the elements of arrays, and what is fused into one.

A `Group` collects operations over one set of indices. Each element of a value is a number in the loop. A value gets a
buffer only if something outside of the group reads it. An operation is refused where an element that it reads may
have been written at another index of the same loop, or the other way round; it then starts a new loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..ir.core import Op, Value
from .nest import C16, F8, INDEX, Bail, Branch, Call, Const, Expr, For, Increase, Load, Name, Set, Stmt, Store, Sum
from .numbers import NotNative, Number, as_cotangent, to
from .views import ZERO, View

# Computes the element of a value at the indices of the loop.
Make = Callable[["Nest"], Number]


@dataclass(slots=True)
class Element:
    """A value of which each element is computed."""

    value: Value
    make: Make
    dtype: np.dtype[Any]


@dataclass(slots=True)
class Write:
    """A store into a view, or an addition to it.

    at:   gives the place if subscripts say where it is
    only: gives whether the element is stored
    """

    base: Value
    view: View
    make: Make
    adds: bool
    at: Callable[[Nest], tuple[Expr, ...]] | None = None
    only: Callable[[Nest], Expr] | None = None


@dataclass(slots=True)
class Reduction:
    """A sum or an extreme over axes; the others are `kept`. Over all of them it gives a number.

    how: "sum", "minimum" or "maximum"
    """

    value: Value
    make: Make
    how: str
    dtype: np.dtype[Any]
    name: str
    kept: tuple[int, ...] = ()
    into: str | None = None  # the buffer of the result


@dataclass(slots=True)
class Read:
    """A part of a buffer that an operation of the group reads; `loose`: at places that only the run tells."""

    base: Value | None
    view: View
    loose: bool = False


Entry = Element | Write | Reduction


class Known(Protocol):
    """What is known of values and of numbers."""

    def may_share(self, a: Value, b: Value) -> bool:
        """Two arrays may lie in the same memory."""

    def at_most(self, e: Expr, n: Expr) -> bool:
        """A number is known not to be more than another one."""


@dataclass(slots=True)
class Group:
    """Operations over one set of indices. `behind`: arithmetic of its sums, by its results, which is done behind it."""

    shape: tuple[Expr, ...] = ()
    dims: Any = None
    entries: list[Entry] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    values: dict[Value, Element] = field(default_factory=dict)
    results: set[Value] = field(default_factory=set)  # of reductions
    behind: dict[Value, Op] = field(default_factory=dict)
    consumed: dict[Value, int] = field(default_factory=dict)  # how many operations of the group read a value

    def conflicts(self, reads: list[Read], write: Write | None, known: Known) -> bool:
        """An operation that reads and writes these must not be in the loop."""
        for old in self.writes:
            if any(self.collide(read, old, known) for read in reads):
                return True
            if write is not None and self.collide(Read(write.base, write.view, write.at is not None), old, known):
                return True
        return write is not None and any(self.collide(read, write, known) for read in self.reads)

    def collide(self, read: Read, write: Write, known: Known) -> bool:
        """An element of one may be an element of the other at another index of the loop."""
        if read.base is None or not known.may_share(write.base, read.base):
            return False
        if read.loose or write.at is not None:
            return True
        if read.view.is_apart(write.view, known.at_most):
            return False
        return not read.view.same_place(write.view, len(self.shape))


class Nest:
    """Makes the loops of a group.

    fresh: makes a name
    view:  finds the array of a value that is in memory
    """

    def __init__(self, group: Group, fresh: Callable[[str], str], element: Callable[[Any, list[Expr]], Number]):
        self.group = group
        self.fresh = fresh
        self.outside = element
        rank = len(group.shape)
        self.index: list[Expr] = [Name(fresh("ijklmn"[k] if k < 6 else "i"), INDEX) for k in range(rank)]
        self.local: dict[Value, Number] = {}
        self.before: list[list[Stmt]] = [[] for _ in range(rank + 1)]  # at each depth, before the loop inside
        self.after: list[list[Stmt]] = [[] for _ in range(rank + 1)]
        self.body: list[Stmt] = []

    def get(self, arg: Any) -> Number:
        if type(arg) is Value and arg in self.local:
            return self.local[arg]
        return self.outside(arg, self.index)

    def guard(self, condition: Expr) -> None:
        self.body.append(Bail(condition))

    def make(self, buffers: dict[Value, View]) -> list[Stmt]:
        """The statements. Values in `buffers` are stored there."""
        rank = len(self.group.shape)
        for entry in self.group.entries:
            if isinstance(entry, Element):
                self.element(entry, buffers.get(entry.value))
            elif isinstance(entry, Write):
                e = to(entry.make(self), entry.view.dtype)
                at = entry.view.index(self.index) if entry.at is None else entry.at(self)
                store = (Increase if entry.adds else Store)(entry.view.buffer, at, e)
                self.body.append(store if entry.only is None else Branch(entry.only(self), [store], []))
            else:
                self.reduce(entry, rank)
        block = self.body
        for depth in reversed(range(rank)):
            name = self.index[depth]
            assert isinstance(name, Name)
            inner = [*self.before[depth + 1], *block, *self.after[depth + 1]]
            block = [For(name.name, ZERO, self.group.shape[depth], 1, inner)]
        return [*self.before[0], *block, *self.after[0]]

    def element(self, entry: Element, view: View | None) -> None:
        number = entry.make(self)
        e = to(number, entry.dtype)
        if not isinstance(e, (Const, Name)):
            name = self.fresh(entry.value.hint or "e")
            self.body.append(Set(name, e))
            e = Name(name, entry.dtype)
        self.local[entry.value] = Number(e, entry.dtype)
        if view is not None:
            self.body.append(Store(view.buffer, view.index(self.index), e))

    def reduce(self, entry: Reduction, rank: int) -> None:
        number = entry.make(self)
        kept = entry.kept
        trailing = kept == tuple(range(len(kept)))
        held = held_in(entry.how, entry.dtype)
        e = to(number, held)
        start = Const(first_of(entry.how, held), held)
        if trailing:
            depth = len(kept)
            self.before[depth].append(Set(entry.name, start))
            if entry.how == "sum":
                self.body.append(Sum(entry.name, e))
            else:
                self.body.append(Set(entry.name, Call(entry.how, (Name(entry.name, held), e), held)))
            if entry.into is not None:
                done = to(Number(Name(entry.name, held), held), entry.dtype)
                self.after[depth].append(Store(entry.into, tuple(self.index[:depth]), done))
            return
        assert entry.into is not None
        at = tuple([self.index[k] for k in kept])
        e = to(number, entry.dtype)
        if entry.how == "sum":
            self.body.append(Increase(entry.into, at, e))
        else:
            self.body.append(
                Store(entry.into, at, Call(entry.how, (Load(entry.into, at, entry.dtype), e), entry.dtype))
            )


def element_as(x: Any, dtype: np.dtype[Any]) -> Make:
    """The element of an operand in a dtype."""

    def make(nest: Nest) -> Number:
        return Number(to(nest.get(x), dtype), dtype)

    return make


def cotangent_as(x: Any, dtype: np.dtype[Any]) -> Make:
    """The element of a cotangent, for something of this dtype: the real part for a real one."""
    return lambda nest: as_cotangent(nest.get(x), dtype)


def held_in(how: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which a reduction is computed: sums of small floats with more digits than they have."""
    if how != "sum" or dtype.kind not in "fc":
        return dtype
    return C16 if dtype.kind == "c" else np.dtype(F8)


def nested(index: Sequence[Expr], lengths: Sequence[Expr], body: list[Stmt]) -> list[Stmt]:
    """Loops around statements, one for each index."""
    for i, n in zip(reversed(index), reversed(lengths)):
        assert isinstance(i, Name)
        body = [For(i.name, ZERO, n, 1, body)]
    return body


def first_of(how: str, dtype: np.dtype[Any]) -> Any:
    """What a reduction of no elements gives."""
    if how == "sum":
        return dtype.type(0).item()
    if dtype.kind == "i":
        limits = np.iinfo(dtype)
        return int(limits.max if how == "minimum" else limits.min)
    if dtype.kind != "f":
        raise NotNative(f"an extreme of {dtype}")
    return np.inf if how == "minimum" else -np.inf
