"""Additions to shifted parts of a buffer become one loop, which reads what is added, in a border of zeros.

The adjoint of a stencil adds one array to several parts of another one, each in a loop of its own. Each of these loops
reads and writes all of the buffer. It is less work to read the array at several places, and to write once. Outside of
the array there are zeros. The order of the additions is kept, so the results are the same, up to signs of zeros.

A buffer of zeros to which several arrays are added before anybody reads it is not made at all, if one loop reads it.

>>> from autodiff_compiler.native.nest import F8, INDEX, Alloc, Array, Const, For, Increase, Length, Load, Name, Program
>>> from autodiff_compiler.native.nest import Call, Return, Set, Store, show
>>> i, j, n, x = Name("i", INDEX), Name("j", INDEX), Length("x", 0), Load("x", (Name("i", INDEX),), F8)
>>> t = Load("t", (j,), F8)
>>> program = Program("shifts", (Array("x", F8, 1),), [
...     Alloc("y", F8, (plus(n, Const(2, INDEX)),), 0.0), Alloc("t", F8, (n,)),
...     For("i", Const(0, INDEX), n, 1, [Store("t", (i,), Call("mul", (x, x), F8))]),
...     For("j", Const(0, INDEX), n, 1, [Increase("y", (j,), t)]),
...     For("j", Const(0, INDEX), n, 1, [Increase("y", (plus(j, Const(2, INDEX)),), t)]),
...     Return(("y",)),
... ])
>>> with_halos(program)
>>> print(show(program))
shifts(x: float64[1]) {
  y = float64[add(x.length(0), 2)]
  t = float64[add(x.length(0), 4)] with a border of 0.0
  for i from 0 to x.length(0) by 1 {
    t[add(i, 2)] = mul(x[i], x[i])
  }
  for i2 from 0 to add(x.length(0), 2) by 1 {
    y[i2] = add(t[add(i2, 2)], t[i2])
  }
  return y
}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .fusion import nested
from .nest import (
    INDEX,
    Alloc,
    Bail,
    Bind,
    Branch,
    Call,
    Const,
    Expr,
    For,
    Foreign,
    Increase,
    Item,
    Leave,
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
    Stmt,
    Store,
    Sum,
)
from .rewriting import Fresh, all_reads, blocks_of, bound_by, exprs_of, map_exprs, names_in, parts, walk
from .views import ZERO, base_and_offset, plus

# A length or a position: a number that the program computes, or None, and one that is added to it.
Affine = tuple[Expr | None, int]


def with_halos(program: Program) -> None:
    """Collect additions to parts of buffers, where that is less work."""
    _Gathering(program).block(program.body)
    _without_empty(program.body)


def _without_empty(block: list[Stmt]) -> None:
    for s in block:
        for inner in blocks_of(s):
            _without_empty(inner)
    block[:] = [s for s in block if not (isinstance(s, For) and not s.body)]


@dataclass(slots=True)
class Grid:
    """Loops from 0 on, one in the other, around statements without loops.

    body: these statements
    """

    top: Stmt
    index: tuple[Expr, ...]
    lengths: tuple[Expr, ...]
    body: list[Stmt]

    def accesses(self) -> Iterator[tuple[str, Any, tuple[Expr, ...], Stmt]]:
        """The elements that the body touches, in order: of which buffer, how, where, and in which statement of it."""
        for s in self.body:
            for inner in walk([s]):
                for e in exprs_of(inner):
                    for part in parts(e):
                        if isinstance(part, Load):
                            yield part.array, Load, part.index, s
                if isinstance(inner, (Store, Increase)):
                    yield inner.array, type(inner) if inner is s else None, inner.index, s


def grid_of(s: Stmt) -> Grid | None:
    """The loops that a statement is, if there is nothing between them."""
    index: list[Expr] = []
    lengths: list[Expr] = []
    top, body = s, [s]
    while len(body) == 1 and isinstance(loop := body[0], For):
        if loop.step != 1 or loop.start != ZERO:
            return None
        index.append(Name(loop.index, INDEX))
        lengths.append(loop.stop)
        body = loop.body
    if not index or not all(isinstance(inner, (Set, Sum, Store, Increase, Branch, Bail)) for inner in walk(body)):
        return None
    return Grid(top, tuple(index), tuple(lengths), body)


@dataclass(slots=True)
class Add:
    """An addition to a part of a buffer, or a store into zeros, which is put off.

    offsets: along the axes of the loops, where the part starts
    lengths: of these axes
    axes:    of the buffer: at which loop's index it goes along, or the position at which the part stands still
    """

    grid: Grid
    statement: Any
    offsets: tuple[int, ...]
    lengths: tuple[Affine, ...]
    axes: tuple[int | Expr, ...]

    @property
    def array(self) -> str:
        return str(self.statement.array)

    def place(self, index: Sequence[Expr]) -> tuple[Expr, ...]:
        """Where in the buffer an element is, by its positions along the axes of the loops."""
        return tuple([index[k] if isinstance(k, int) else k for k in self.axes])


@dataclass(slots=True)
class Source:
    """What is added: the elements of a buffer, or their negatives. If the buffer is not there yet, it has no name."""

    array: str = ""
    negative: bool = False


@dataclass(slots=True)
class Box:
    """The part of a buffer to which something is added: where it starts, and its lengths."""

    low: tuple[int, ...]
    lengths: tuple[Affine, ...]


@dataclass(slots=True)
class Scope:
    """A block that is gone through.

    pending: additions, by the memory that they go to
    zeros:   buffers that hold zeros and have not been touched
    started: buffers that held zeros before what is pending, by their memory
    """

    block: list[Stmt]
    pending: dict[str, list[Add]] = field(default_factory=dict)
    zeros: dict[str, Alloc] = field(default_factory=dict)
    started: dict[str, Alloc] = field(default_factory=dict)

    def insert(self, before: Stmt | None, *new: Stmt) -> None:
        """Put statements in front of one, or at the end."""
        at = next((k for k, s in enumerate(self.block) if s is before), len(self.block))
        self.block[at:at] = new


class _Gathering:
    """
    memory:   for each name of a buffer, one name for all that may share memory with it
    simple:   buffers of which only elements are read and stored, and where they are made
    borders:  how many zeros stand in front of the elements of a buffer, along each axis
    stored:   where all elements of a simple buffer are stored: the loops
    mentions: how many times a buffer is named
    """

    def __init__(self, program: Program):
        self.program = program
        every = list(walk(program.body))
        self.times = Counter(name for s in every for name in bound_by(s))
        self.sets = {s.name: s.value for s in every if isinstance(s, Set) and self.times[s.name] == 1}
        self.fresh = Fresh(program)
        self.memory: dict[str, str] = {}
        self.mentions: Counter[str] = Counter(all_reads(program.body))
        elements: Counter[str] = Counter()
        stores: Counter[str] = Counter()
        for s in every:
            for a, b in _shared(s):
                a, b = self.of(a), self.of(b)
                self.memory[a] = b
            for e in exprs_of(s):
                elements.update(part.array for part in parts(e) if isinstance(part, Load))
            if isinstance(s, (Store, Increase)):
                elements[s.array] += 1
                stores[s.array] += 1 if isinstance(s, Store) else 2
        self.simple = {
            s.name: s for s in every
            if isinstance(s, Alloc) and self.times[s.name] == 1 and self.mentions[s.name] == elements[s.name]
            and stores[s.name] == 1 and s.fill is None
        }  # fmt: skip
        self.borders: dict[str, tuple[int, ...]] = {}
        self.stored: dict[str, Grid] = {}

    def of(self, name: str) -> str:
        while name in self.memory and self.memory[name] != name:
            name = self.memory[name]
        return name

    def affine(self, e: Expr) -> Affine:
        base, offset = base_and_offset(e)
        while isinstance(base, Name) and base.name in self.sets:
            inner, more = base_and_offset(self.sets[base.name])
            if not (inner is None or isinstance(inner, Name)):
                break
            base, offset = inner, offset + more
        return base, offset

    # --- the statements of a block ------------------------------------------------------------------------------------

    def block(self, block: list[Stmt]) -> None:
        scope = Scope(block)
        for s in list(block):
            touched = {self.of(name) for name in all_reads([s])} | {self.of(n) for x in walk([s]) for n in bound_by(x)}
            self.statement(scope, s, touched)
            for name in [name for name in scope.zeros if self.of(name) in touched]:
                del scope.zeros[name]
            if isinstance(s, Alloc) and s.fill == 0 and s.dtype.kind == "f" and self.times[s.name] == 1:
                scope.zeros[s.name] = s
        for memory in list(scope.pending):
            self.flush(scope, memory, None, None)

    def statement(self, scope: Scope, s: Stmt, touched: set[str]) -> None:
        """Put off what a statement adds, and do in front of it what it needs."""
        grid = grid_of(s)
        adds: dict[str, list[Add]] = {} if grid is None else self.adds_of(scope, grid)
        ends = isinstance(s, Return) or _leaves([s])
        for memory, pending in list(scope.pending.items()):
            if memory in touched or ends:
                new = adds.get(memory, [])
                if new and all(a.axes == pending[0].axes and a.array == pending[0].array for a in new):
                    continue
                if grid is not None:
                    self.take_first(pending, grid, memory)
                self.flush(scope, memory, s, grid)
        for memory, new in adds.items():
            array = new[0].array
            if memory not in scope.pending and array in scope.zeros:
                scope.started[memory] = scope.zeros[array]
            scope.pending.setdefault(memory, []).extend(new)
        if grid is not None:
            self.remember_stores(grid)
        else:
            for inner in blocks_of(s):
                self.block(inner)

    def remember_stores(self, grid: Grid) -> None:
        for s in grid.body:
            if isinstance(s, Store) and s.array in self.simple and s.index == self.placed(s.array, grid.index):
                made = self.simple[s.array]
                if list(map(self.affine, made.shape)) == list(map(self.affine, grid.lengths)):
                    self.stored[s.array] = grid

    def adds_of(self, scope: Scope, grid: Grid) -> dict[str, list[Add]]:
        """The additions of loops that may be put off, by memory: nothing else in the loops touches it."""
        found: dict[str, list[Add] | None] = {}
        for name, how, index, s in grid.accesses():
            memory = self.of(name)
            add = None
            if how is Increase or (how is Store and name in scope.zeros and memory not in found):
                add = self.add_of(grid, s, index)
            old = found.setdefault(memory, [])
            ok = add is not None and old is not None and not (old and isinstance(old[0].statement, Store))
            if not ok or (old and (old[0].axes, old[0].array) != (add.axes, name)):  # type: ignore[union-attr]
                found[memory] = None
            else:
                old.append(add)  # type: ignore[union-attr, arg-type]
        return {memory: adds for memory, adds in found.items() if adds}

    def add_of(self, grid: Grid, s: Any, index: tuple[Expr, ...]) -> Add | None:
        if s.value.dtype.kind != "f":
            return None
        inside = {n for e in grid.index for n in names_in(e)} | {n for inner in grid.body for n in bound_by(inner)}
        axes: list[int | Expr] = []
        offsets: list[int] = []
        for e in index:
            base, offset = base_and_offset(e)
            if base in grid.index:
                axes.append(grid.index.index(base))
                offsets.append(offset)
            elif inside.isdisjoint(names_in(e)) and self.stays(e):
                axes.append(e)
            else:
                return None
        if [k for k in axes if isinstance(k, int)] != list(range(len(grid.index))):
            return None
        if not all(map(self.stays, grid.lengths)):
            return None
        return Add(grid, s, tuple(offsets), tuple(map(self.affine, grid.lengths)), tuple(axes))

    def stays(self, e: Expr) -> bool:
        """A number is the same wherever its names are bound."""
        return all(self.times[n] < 2 for n in names_in(e)) and not any(isinstance(x, Load) for x in parts(e))

    def take_first(self, pending: list[Add], grid: Grid, memory: str) -> None:
        """What loops add first of all, to the only elements that they touch, is added in front of them."""
        touches = [(how, name, index, s) for name, how, index, s in grid.accesses() if self.of(name) == memory]
        how, name, index, s = touches[0] if touches else (None, "", (), None)
        if how is not Increase or any(other != index for _, _, other, _ in touches[1:]) or len(touches) == 1:
            return
        add = self.add_of(grid, s, index)
        if add is not None and add.axes == pending[0].axes and name == pending[0].array:
            source = self.source_of(add)
            if source.array and self.stored[source.array].top is not grid.top:
                pending.append(add)

    # --- what is added ------------------------------------------------------------------------------------------------

    def placed(self, array: str, index: Sequence[Expr]) -> tuple[Expr, ...]:
        """Where an element of a buffer is that may have a border."""
        border = self.borders.get(array, (0,) * len(index))
        return tuple([plus(i, Const(k, INDEX)) for i, k in zip(index, border)])

    def source_of(self, add: Add) -> Source:
        """The buffer that holds what is added, or its negative; the name of none if there is none."""
        value, negative, found = add.statement.value, False, Source()
        while True:
            if isinstance(value, Call) and value.fn == "neg":
                value, negative = value.args[0], not negative
                continue
            if isinstance(value, Load) and value.array in self.stored and value.dtype == add.statement.value.dtype:
                same = self.same_lengths(self.stored[value.array].lengths, add.grid.lengths)
                if same and value.index == self.placed(value.array, add.grid.index):
                    return Source(value.array, negative)
            if not isinstance(value, Name):
                return found
            for s in add.grid.body:
                if isinstance(s, Store) and s.value == value and self.stored.get(s.array) is add.grid:
                    if s.index == self.placed(s.array, add.grid.index):
                        found = Source(s.array, negative)
            inner = self.sets.get(value.name)
            if not (isinstance(inner, Call) and inner.fn == "neg"):
                return found
            value = inner  # one buffer for what is added here, and subtracted there

    def same_lengths(self, a: Sequence[Expr], b: Sequence[Expr]) -> bool:
        return list(map(self.affine, a)) == list(map(self.affine, b))

    def box_of(self, adds: list[Add]) -> Box | None:
        """The least box around what is added; None if the types of the lengths do not say how large it is."""
        low, lengths = [], []
        for k in range(len(adds[0].offsets)):
            bases = {a.lengths[k][0] for a in adds}
            if len(bases) > 1:
                return None
            start = min(a.offsets[k] for a in adds)
            end = max(a.offsets[k] + a.lengths[k][1] for a in adds)
            low.append(start)
            lengths.append((bases.pop(), end - start))
        return Box(tuple(low), tuple(lengths))

    def is_all_of(self, made: Alloc, box: Box) -> bool:
        return not any(box.low) and tuple(map(self.affine, made.shape)) == box.lengths

    # --- doing it -----------------------------------------------------------------------------------------------------

    def flush(self, scope: Scope, memory: str, before: Stmt | None, reader: Grid | None) -> None:
        """Do what was put off, in front of a statement of the block. If that has loops only, they are `reader`."""
        adds, zeros = scope.pending.pop(memory), scope.started.pop(memory, None)
        box = self.box_of(adds) if len(adds) > 1 else None
        if box is None:
            return
        sources = [self.source_of(add) for add in adds]
        last, is_whole = adds[-1], zeros is not None and self.is_all_of(zeros, box)
        in_last = in_reader = is_gone = False
        if reader is not None and all(a.grid.top is not reader.top for a in adds):
            in_reader = self.is_over(reader, memory, last.place, box)
            is_gone = in_reader and is_whole and self.is_all_that_reads(reader, adds)
        if not in_reader and all(a.grid.top is not last.grid.top for a in adds[:-1]):
            in_last = self.is_over(last.grid, memory, last.place, box)
        costs = sum((3 if len(a.grid.body) == 1 else 2) - isinstance(a.statement, Store) for a in adds)
        costs += zeros is not None
        own = sum(not x.array for x in sources) - (in_last and not sources[-1].array)
        if len(adds) - in_last + own + (0 if is_gone else 1 if zeros is not None or in_reader else 2) >= costs:
            return
        if in_last:
            adds, sources = adds[:-1], sources[:-1]
        arrays = [self.make(scope, a, x) if not x.array else x.array for a, x in zip(adds, sources)]
        self.make_borders(adds, arrays, box)
        for a, x in zip(adds, sources):
            if x.array:
                _remove(a.grid.body, a.statement)
        if zeros is not None and is_whole:
            zeros.fill = None
        grid = reader if in_reader and reader is not None else last.grid if in_last else None
        dtype = last.statement.value.dtype
        index: Sequence[Expr] = grid.index if grid is not None else [
            Name(self.fresh("ijklmn"[min(k, 5)]), INDEX) for k in range(len(box.low))
        ]  # fmt: skip
        place = last.place([plus(i, Const(k, INDEX)) for i, k in zip(index, box.low)])
        total: Expr | None = None if zeros is not None else Load(last.array, place, dtype)
        for a, x, array in zip(adds, sources, arrays):
            offsets = [low - k + room for low, k, room in zip(box.low, a.offsets, self.borders[array])]
            e = Load(array, tuple([plus(i, Const(k, INDEX)) for i, k in zip(index, offsets)]), dtype)
            if total is None:
                total = Call("neg", (e,), dtype) if x.negative else e
            else:
                total = Call("sub" if x.negative else "add", (total, e), dtype)
        assert total is not None
        if in_last:
            at = next(k for k, s in enumerate(last.grid.body) if s is last.statement)
            last.grid.body[at] = Store(last.array, place, Call("add", (total, last.statement.value), dtype))
        elif grid is None:
            lengths = [Const(k, INDEX) if base is None else plus(base, Const(k, INDEX)) for base, k in box.lengths]
            scope.insert(before, *nested(index, lengths, [Store(last.array, place, total)]))
        else:
            element, name = Load(last.array, place, dtype), self.fresh("t")
            for s in walk(grid.body) if is_gone else ():
                map_exprs(s, lambda e: Name(name, dtype) if e == element else e)
            first: list[Stmt] = [Set(name, total)]
            if is_gone:
                scope.block[:] = [s for s in scope.block if s is not zeros]
            else:
                first.append(Store(last.array, place, Name(name, dtype)))
            grid.body[:0] = first

    def is_over(self, grid: Grid, memory: str, place: Callable[[Sequence[Expr]], Any], box: Box) -> bool:
        """Loops go once over the box, and touch in each iteration its element only."""
        if tuple(map(self.affine, grid.lengths)) != box.lengths:
            return False
        at = place([plus(i, Const(k, INDEX)) for i, k in zip(grid.index, box.low)])
        return all(
            how is not None and index == at for name, how, index, _ in grid.accesses() if self.of(name) == memory
        )

    def is_all_that_reads(self, grid: Grid, adds: list[Add]) -> bool:
        """Beside the additions, only these loops name the buffer, and they only read it."""
        found = [how for name, how, _, _ in grid.accesses() if name == adds[0].array]
        return all(how is Load for how in found) and len(found) + len(adds) == self.mentions[adds[0].array]

    def make(self, scope: Scope, add: Add, source: Source) -> str:
        """A buffer for what is added."""
        name = self.fresh("t")
        s, grid = add.statement, add.grid
        made = self.simple[name] = Alloc(name, s.value.dtype, grid.lengths)
        scope.insert(grid.top, made)
        at = next(k for k, inner in enumerate(grid.body) if inner is s)
        grid.body[at] = Store(name, grid.index, s.value)
        self.stored[name] = grid
        return name

    def make_borders(self, adds: list[Add], arrays: list[str], box: Box) -> None:
        """Make room for zeros around what is added, as far as the box goes."""
        for array in dict.fromkeys(arrays):
            own = [a for a, other in zip(adds, arrays) if other == array]
            front, behind = [], []
            for k, (low, (_, length)) in enumerate(zip(box.low, box.lengths)):
                offsets = [a.offsets[k] for a in own]
                front.append(max(offsets) - low)
                behind.append(low + length - min(offsets) - own[0].lengths[k][1])
            self.make_border(array, front, behind)

    def make_border(self, array: str, front: Sequence[int], behind: Sequence[int]) -> None:
        """Make a border at least so wide."""
        made = self.simple[array]
        old = self.borders.get(array, (0,) * len(front))
        new = tuple(map(max, old, front))
        room = [base_and_offset(n)[1] - base_and_offset(m)[1] for n, m in zip(made.shape, self.stored[array].lengths)]
        ends = [max(have - a, want) for have, a, want in zip(room, old, behind)]
        made.shape = tuple([
            plus(n, Const(a + b, INDEX)) for n, a, b in zip(self.stored[array].lengths, new, ends)
        ])  # fmt: skip
        made.fill, made.border = made.dtype.type(0).item(), True
        self.borders[array] = new
        moved = [Const(b - a, INDEX) for a, b in zip(old, new)]
        if not any(k.value for k in moved):
            return

        def shifted(e: Expr) -> Expr:
            if isinstance(e, Load) and e.array == array:
                return Load(array, tuple(map(plus, e.index, moved)), e.dtype)
            return e

        for s in walk(self.program.body):
            map_exprs(s, shifted)
            if isinstance(s, Store) and s.array == array:
                s.index = tuple(map(plus, s.index, moved))


def _remove(block: list[Stmt], statement: Stmt) -> None:
    block[:] = [s for s in block if s is not statement]


def _shared(s: Any) -> list[tuple[str, str]]:
    """The names of which a statement makes one stand for memory that the other one stands for."""
    if isinstance(s, (Bind, Row, Piece, Reshape)):
        return [(s.name, s.source)]
    if isinstance(s, (Push, Put)):
        return [(s.value, s.stack)]
    if isinstance(s, (Pop, Item)):
        return [(s.name, s.stack)]
    if isinstance(s, Foreign):
        given = [x for x in s.args if isinstance(x, str)]
        return [(name, other) for name, _, axes in s.results if axes is not None for other in given]
    return []


def _leaves(block: Sequence[Any]) -> bool:
    """Statements leave the loop that they are in."""
    return any(
        isinstance(s, Leave) or (isinstance(s, Branch) and (_leaves(s.then) or _leaves(s.orelse))) for s in block
    )


__all__ = ["with_halos"]
