"""Which loops have iterations that do not depend on each other.

`Iteration` walks through the body of a loop once, as an iteration runs it. It follows the ints that the body computes,
as polynomials of the loop's variable, and notes each element that is read or written. A loop is independent if

- each number that an iteration takes from the one before is a sum, an extreme or a flag, or moves on by the same step,
  and
- of two elements, one of which is written, there is an axis along which they differ in any two iterations; or all that
  is done with a buffer is to add to it.

What is not proved here is not so: the loop stays as it is.

>>> from autodiff_compiler.native.nest import F8, Const, Length, Load, Store
>>> n, i = Length("x", 0), Name("i", INDEX)
>>> def loop(at, of):
...     return For("i", Const(0, INDEX), n, 1, [Store("y", (at,), Load("y", (of,), F8))])
>>> def is_independent(at, of):
...     program = Program("f", (), [loop(at, of)])
...     return Loops(program).found(program.body[0]) is not None
>>> one = Const(1, INDEX)
>>> is_independent(i, i), is_independent(i, Call("sub", (i, one), INDEX))
(True, False)
>>> is_independent(i, Call("sub", (Call("sub", (n, one), INDEX), i), INDEX))
False
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .affine import Poly, variable
from .nest import (
    BOOL,
    INDEX,
    AddProduct,
    Alloc,
    Array,
    Bail,
    Bind,
    Branch,
    Call,
    Const,
    Expr,
    For,
    Foreign,
    Forever,
    Grow,
    Increase,
    Item,
    Leave,
    Load,
    Name,
    NewStack,
    Parallel,
    Piece,
    Pop,
    Program,
    Push,
    Put,
    Reshape,
    Return,
    Row,
    Set,
    Store,
    Sum,
)
from .rewriting import all_reads, bound_by, names_in, parts, walk
from .views import ONE, ZERO, plus

# The position of an element: a number for each axis, or None where it may be any. Further axes may be any, too.
Place = tuple[Poly | None, ...]


@dataclass(frozen=True, slots=True)
class Access:
    """An element that an iteration reads, stores into or adds to ("read", "store", "add")."""

    name: str
    place: Place
    how: str


@dataclass(slots=True)
class Part:
    """A buffer as a part of another one: `start` are positions along the first axes; `exact`: the other axes follow."""

    root: str
    start: Place = ()
    exact: bool = True
    moved: Poly | None = None  # of a piece, where it starts


@dataclass(slots=True)
class Found:
    """What is known of a loop whose iterations are independent.

    sums:   the numbers that iterations add to, take extremes of, or make true: what is done, and in which dtype
    steps:  the ints that move on by a number that is the same in all iterations
    last:   the numbers that are those of the last iteration, with their dtypes
    added:  the buffers that iterations only add to
    stacks: the buffers that grow, of which an iteration reads only what it has stored
    apart:  no two buffers from outside of the loop share memory that it writes
    """

    sums: dict[str, tuple[str, np.dtype[Any]]] = field(default_factory=dict)
    steps: dict[str, Poly] = field(default_factory=dict)
    last: dict[str, np.dtype[Any]] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    stacks: list[str] = field(default_factory=list)
    apart: bool = True


class NotIndependent(Exception):
    """An iteration may need another one."""


def bounds_of(loop: For) -> tuple[Expr, Expr]:
    """Between which values the variable of a loop lies, the second excluded. Its step is 1 or -1."""
    if loop.step == 1:
        return loop.start, loop.stop
    return plus(loop.stop, ONE), plus(loop.start, ONE)


class Memory:
    """Which buffers may lie in the same memory: those that were made of each other, or were on one stack."""

    def __init__(self, program: Program):
        self.parent: dict[str, str] = {}
        self.whole: dict[str, str] = {}  # likewise, where buffers are the same or apart, and no parts of each other
        for s in walk(program.body):
            if isinstance(s, (Bind, Row, Piece, Reshape)):
                _join(self.parent, s.name, s.source)
                if isinstance(s, Bind):
                    _join(self.whole, s.name, s.source)
            elif isinstance(s, (Push, Put)):
                _join(self.parent, s.value, s.stack)
            elif isinstance(s, (Pop, Item)):
                _join(self.parent, s.name, s.stack)
        self.given = {_top(self.parent, p.name) for p in program.params if isinstance(p, Array)}

    def of(self, name: str) -> str:
        return _top(self.parent, name)

    def same(self, names: Iterable[str]) -> bool:
        """An index means the same element of each."""
        return len({_top(self.whole, name) for name in names}) == 1


def _top(parent: dict[str, str], name: str) -> str:
    while name in parent:
        name = parent[name]
    return name


def _join(parent: dict[str, str], a: str, b: str) -> None:
    a, b = _top(parent, a), _top(parent, b)
    if a != b:
        parent[a] = b


_ALONE = (Push, Pop, Item, Put, NewStack, Foreign, Return, Parallel)  # what only one thread does, and in order


class Loops:
    """The loops of a program."""

    def __init__(self, program: Program):
        self.memory = Memory(program)
        self.reads = _counted(program.body)
        self.meanings = _meanings(program)

    def found(self, loop: For) -> Found | None:
        """What is known of a loop of the program, if its iterations are independent."""
        try:
            return self.of(loop)
        except NotIndependent:
            return None

    def of(self, loop: For) -> Found:
        if abs(loop.step) != 1 or any(isinstance(s, _ALONE) for s in walk(loop.body)) or _is_left(loop.body):
            raise NotIndependent
        found = Found()
        numbers = {s.name: s.value.dtype for s in walk(loop.body) if isinstance(s, (Set, Sum))}
        bound = {name for s in walk(loop.body) for name in bound_by(s)}
        carried = set(_read_first(loop.body, set(), bound))
        inside = _counted(loop.body)
        grown = {s.array for s in walk(loop.body) if isinstance(s, Grow)}
        for name in bound - numbers.keys() - grown:
            if name in carried or self.reads[name] > inside[name]:
                raise NotIndependent  # a buffer that one iteration makes, and something else reads
        for name in grown:
            others = {x for x in self.reads if self.memory.of(x) == self.memory.of(name)} - {name}
            if not others <= bound - grown:
                raise NotIndependent
        iteration = Iteration(loop, self.memory, bound | {loop.index}, self.meanings, grown)
        iteration.run(carried & {name for name, dtype in numbers.items() if dtype == INDEX})
        found.steps = iteration.steps
        members: set[str] = set()
        for name in sorted(carried - found.steps.keys() - grown):
            through = _members(loop.body, name)
            how = _done_with(loop.body, through) if through & carried == {name} else None
            if how is None:
                raise NotIndependent
            members |= through
            found.sums[name] = how, numbers[name]
        for name in sorted(numbers.keys() - carried):
            if self.reads[name] > inside[name]:
                if name in members or not _is_set_always(loop.body, name):
                    raise NotIndependent
                found.last[name] = numbers[name]
        found.added = iteration.shared()
        found.stacks = sorted(grown)
        read = {name for name in inside if name not in bound}
        shared = Counter(self.memory.of(name) for name in read)
        found.apart = all(shared[memory] < 2 for memory in iteration.written)
        return found


def _meanings(program: Program) -> dict[str, Expr]:
    """What ints are computed of. All names in it are bound once: wherever the int is known, they are what they were."""
    times = Counter([name for s in walk(program.body) for name in bound_by(s)] + [p.name for p in program.params])
    return {
        s.name: s.value for s in walk(program.body)
        if isinstance(s, Set) and s.value.dtype == INDEX and not any(isinstance(e, Load) for e in parts(s.value))
        and all(times[name] == 1 for name in (s.name, *names_in(s.value)))
    }  # fmt: skip


def _counted(block: Sequence[Any]) -> Counter[str]:
    """How many times each name is read."""
    return Counter(name for s in walk(block) for name in _reads_of(s))


def _is_left(block: Sequence[Any]) -> bool:
    """The loop around this may be left before its end."""
    return any(
        isinstance(s, Leave) or (isinstance(s, Branch) and (_is_left(s.then) or _is_left(s.orelse))) for s in block
    )


# --- numbers ----------------------------------------------------------------------------------------------------------


def _reads_of(s: Any) -> Iterator[str]:
    """The names that a statement reads itself, in front of its blocks."""
    if isinstance(s, For):
        yield from names_in(s.start)
        yield from names_in(s.stop)
    elif isinstance(s, Branch):
        yield from names_in(s.condition)
    elif not isinstance(s, Forever):
        yield from all_reads([s])
        if isinstance(s, Sum):
            yield s.name


def _read_first(block: Sequence[Any], done: set[str], bound: set[str]) -> Iterator[str]:
    """Those of the names in `bound` that may be read before the block has bound them. It adds to `done` what it has."""
    for s in block:
        for name in _reads_of(s):
            if name in bound and name not in done:
                yield name
        if isinstance(s, (For, Forever)):
            yield from _read_first(s.body, done | set(bound_by(s)), bound)  # it may have no trips
        elif isinstance(s, Branch):
            ends = [set(done), set(done)]
            yield from _read_first(s.then, ends[0], bound)
            yield from _read_first(s.orelse, ends[1], bound)
            done |= ends[0] & ends[1]
        else:
            done.update(bound_by(s))


def _is_set_always(block: Sequence[Any], name: str) -> bool:
    """Each iteration gives the name a number."""
    done: set[str] = set()
    for _ in _read_first(block, done, set()):
        pass
    return name in done


def _taken(e: Expr, members: set[str]) -> tuple[str, Expr | None] | None:
    """How a number goes on with one of `members`: what is done, nothing for a copy, and the other operand."""
    if isinstance(e, Name):
        return ("", None) if e.name in members else None
    if isinstance(e, Call) and e.fn in ("add", "sub", "minimum", "maximum", "or"):
        for a, b in (e.args, e.args[::-1]) if e.fn in ("add", "or") else (e.args,):
            if isinstance(a, Name) and a.name in members:
                return ("sum" if e.fn in ("add", "sub") else e.fn), b
    return None


def _members(block: Sequence[Any], name: str) -> set[str]:
    """The names that hold a sum or an extreme while it is computed: what goes on with one of them is given to another.

    If nothing else reads them, and only one of them comes from the iteration before, each of them is at each place what
    the iteration started with and what it has added.
    """
    members = {name}
    while True:
        more = {s.name for s in walk(block) if isinstance(s, Set) and _taken(s.value, members) is not None} - members
        if not more:
            return members
        members |= more


def _done_with(block: Sequence[Any], members: set[str]) -> str | None:
    """What is done with numbers, if it is always the same: "sum", "minimum", "maximum" or "or"."""
    found: set[str] = set()
    for s in walk(block):
        if isinstance(s, Sum) and s.name in members:
            if members & set(names_in(s.value)):
                return None
            found.add("sum")
        elif isinstance(s, Set) and s.name in members and s.value == Const(True, BOOL):
            found.add("or")
        elif isinstance(s, Set) and s.name in members:
            taken = _taken(s.value, members)
            if taken is None or (taken[1] is not None and members & set(names_in(taken[1]))):
                return None
            found.add(taken[0])
        elif any(name in members for name in _reads_of(s)):
            return None
    found.discard("")
    return found.pop() if len(found) == 1 else None


# --- elements ---------------------------------------------------------------------------------------------------------


class Iteration:
    """An iteration of a loop, run with what is known in front of the loop.

    numbers:  the ints as polynomials, None where nothing is known
    parts:    the buffers that are parts of others
    accesses: the elements that are read and written
    """

    def __init__(self, loop: For, memory: Memory, bound: set[str], meanings: dict[str, Expr], grown: set[str]):
        self.loop = loop
        self.grown = grown
        self.meanings = meanings
        self.memory = memory
        self.bound = bound
        self.index: Expr = Name(loop.index, INDEX)
        self.low, self.high = bounds_of(loop)
        self.numbers: dict[str, Poly | None] = {}
        self.parts: dict[str, Part] = {}
        self.accesses: list[Access] = []
        self.steps: dict[str, Poly] = {}
        self.before: set[Expr] = set()  # what carried ints are in front of the loop
        self.counts: dict[Expr, Poly] = {}  # the variables of inner loops, from 0 on, and how many trips there are
        self.made: set[str] = set()  # the buffers that the iteration makes
        self.written = {
            memory.of(s.into if isinstance(s, AddProduct) else s.array)
            for s in walk(loop.body)
            if isinstance(s, (Store, Increase, AddProduct))
        }

    def run(self, carried: set[str]) -> None:
        """Find the steps of carried ints, and the elements."""
        starts = {name: variable(f"start {name}") for name in carried}
        begin: dict[str, Poly | None] = {name: Poly.of(a) for name, a in starts.items()}
        self.numbers = {**begin, self.loop.index: Poly.of(self.index)}
        self.block(self.loop.body)
        kept: dict[str, Poly | None] = {}
        if not starts:
            trip = Poly.number(0)
        elif self.loop.step == 1:
            trip = Poly.of(self.index) - self.poly(self.low)
        else:
            trip = self.poly(self.high) - Poly.number(1) - Poly.of(self.index)
        for name, a in starts.items():
            end = self.numbers.get(name)
            step = None if end is None else end - Poly.of(a)
            if step is None or any(not self.is_known(atom) for atom in step.atoms):
                kept[name] = None
                continue
            self.steps[name] = step
            before = variable(f"before {name}")
            self.before.add(before)
            kept[name] = Poly.of(before) + step * trip
        self.accesses, self.parts, self.made, self.counts = [], {}, set(), {}
        self.numbers = {**kept, self.loop.index: Poly.of(self.index)}
        self.block(self.loop.body)

    def is_known(self, atom: Expr) -> bool:
        """An atom is computed in front of the loop, and stays what it is."""
        if atom in self.before:
            return True
        if any(isinstance(part, Load) for part in parts(atom)):
            return False
        return all(name not in self.bound and not name.startswith("?") for name in names_in(atom))

    def poly(self, e: Expr) -> Poly:
        """An int that does not change in the loop."""
        found = self.of(e)
        if found is None or not all(map(self.is_known, found.atoms)):
            raise NotIndependent
        return found

    def of(self, e: Expr) -> Poly | None:
        """An int as a polynomial."""
        if isinstance(e, Const):
            return Poly.number(e.value) if e.dtype == INDEX else None
        if isinstance(e, Name) and e.name in self.numbers:
            return self.numbers[e.name]
        if isinstance(e, Name) and e.dtype != INDEX:
            return None
        if isinstance(e, Name) and e.name in self.meanings and e.name not in self.bound:
            return self.of(self.meanings[e.name])
        if isinstance(e, Call) and e.dtype == INDEX:
            if e.fn in ("add", "sub", "mul"):
                a, b = map(self.of, e.args)
                if a is None or b is None:
                    return None
                return a + b if e.fn == "add" else a - b if e.fn == "sub" else a * b
            if e.fn == "neg":
                a = self.of(e.args[0])
                return None if a is None else -a
            if e.fn == "choose":
                return self.chosen(e)
        return Poly.of(e) if e.dtype == INDEX and self.is_known(e) else None

    def chosen(self, e: Call) -> Poly | None:
        """A subscript that counts from the end if it is negative: what is known not to be is what it is."""
        condition, _, other = e.args
        if isinstance(condition, Call) and condition.fn == "lt" and condition.args[1] == ZERO:
            found = self.of(condition.args[0])
            if found is not None and self.is_not_negative(found):
                return self.of(other)
        return Poly.of(e) if self.is_known(e) else None

    def is_not_negative(self, p: Poly) -> bool:
        """The number is not negative in any iteration."""
        low, high = self.of(self.low), self.of(self.high)
        ends: dict[Expr, tuple[Poly, Poly] | None] = {
            self.index: None if low is None or high is None else (low, high - Poly.number(1))
        }
        ends.update({atom: (Poly.number(0), count - Poly.number(1)) for atom, count in self.counts.items()})
        for atom, between in ends.items():
            by = p.by(atom)
            if by is None:
                return False
            factor, rest = by
            if not factor.terms:
                continue
            if between is None:
                return False
            if factor.is_not_negative():
                p = rest + factor * between[0]
            elif (-factor).is_not_negative():
                p = rest + factor * between[1]
            else:
                return False
        return p.is_not_negative()

    # --- statements ---------------------------------------------------------------------------------------------------

    def block(self, block: Sequence[Any]) -> None:
        for s in block:
            self.statement(s)

    def read(self, e: Expr) -> None:
        for part in parts(e):
            if isinstance(part, Load):
                self.touch(part.array, part.index, "read")

    def touch(self, name: str, index: Sequence[Expr] | None, how: str) -> None:
        """An element, or with `index` None all of a buffer, is read or written."""
        part = self.parts.get(name, Part(name))
        place = part.start
        if index is not None and part.exact:
            own = [self.of(i) for i in index]
            if part.moved is not None:
                own = [None if own[0] is None else own[0] + part.moved]
            place = (*place, *own)
        self.accesses.append(Access(part.root, place, how))

    def statement(self, s: Any) -> None:
        if isinstance(s, Set):
            self.read(s.value)
            self.numbers[s.name] = self.of(s.value) if s.value.dtype == INDEX else None
        elif isinstance(s, Sum):
            self.read(s.value)
            self.numbers[s.name] = None
        elif isinstance(s, Alloc):
            for n in s.shape:
                self.read(n)
            self.made.add(s.name)
            self.parts[s.name] = Part(s.name)
        elif isinstance(s, (Bind, Row, Piece, Reshape)):
            self.bind(s)
        elif isinstance(s, (Store, Increase)):
            for i in s.index:
                self.read(i)
            self.read(s.value)
            self.touch(s.array, s.index, "store" if isinstance(s, Store) else "add")
        elif isinstance(s, AddProduct):
            self.touch(s.left, None, "read")
            self.touch(s.right, None, "read")
            self.touch(s.into, None, "add")
        elif isinstance(s, (Bail, Leave)):
            self.read(s.condition)
        elif isinstance(s, Grow):
            self.read(s.length)
        elif isinstance(s, Branch):
            self.read(s.condition)
            self.branch(s)
        elif isinstance(s, For):
            self.read(s.start)
            self.read(s.stop)
            self.inner(s)
        elif isinstance(s, Forever):
            self.has_own_buffers(s.body)
            self.unknown(s.body)
            self.block(s.body)
            self.unknown(s.body)
        else:
            raise NotIndependent

    def bind(self, s: Bind | Row | Piece | Reshape) -> None:
        part = self.parts.get(s.source, Part(s.source))
        exact, moved, start = part.exact, part.moved, part.start
        if isinstance(s, Row):
            for i in s.index:
                self.read(i)
            if exact and moved is None:
                start = (*start, *[self.of(i) for i in s.index])
            else:
                exact = False
        elif isinstance(s, Piece):
            self.read(s.start)
            self.read(s.length)
            by = self.of(s.start)
            if moved is not None and by is not None:
                by += moved
            exact, moved = exact and by is not None, by
        elif isinstance(s, Reshape):
            for n in s.shape:
                self.read(n)
            exact = False
        new = Part(part.root, start, exact, moved if exact else None)
        old = self.parts.get(s.name)
        if old is not None and old != new:  # it is bound in several places
            if old.root != new.root:
                raise NotIndependent
            new = Part(new.root, (), False)
        self.parts[s.name] = new

    def branch(self, s: Branch) -> None:
        before, numbers = dict(self.parts), dict(self.numbers)
        self.block(s.then)
        ends, parts = self.numbers, self.parts
        self.numbers, self.parts = numbers, before
        self.block(s.orelse)
        for name in set(ends) | set(self.numbers):
            if ends.get(name) != self.numbers.get(name) or (name in ends) != (name in self.numbers):
                self.numbers[name] = None
        for name in set(parts) | set(self.parts):
            a, b = parts.get(name), self.parts.get(name)
            if a is None or b is None:
                self.parts[name] = a or b  # type: ignore[assignment]
            elif a != b:
                if a.root != b.root:
                    raise NotIndependent
                self.parts[name] = Part(a.root, (), False)

    def unknown(self, block: Sequence[Any]) -> None:
        """Nothing is known of the numbers and parts that a block may bind."""
        for s in walk(block):
            for name in bound_by(s):
                if isinstance(s, (Set, Sum, For)):
                    self.numbers[name] = None
                elif name in self.parts and not isinstance(s, Alloc):
                    self.parts[name] = Part(self.parts[name].root, (), False)

    def has_own_buffers(self, body: Sequence[Any]) -> None:
        """No iteration of an inner loop reads a buffer by a name that the one before has given to it."""
        buffers = {name for s in walk(body) if not isinstance(s, (Set, Sum, For)) for name in bound_by(s)} - self.grown
        if any(True for _ in _read_first(body, set(), buffers)):
            raise NotIndependent

    def inner(self, s: For) -> None:
        """A loop in the iteration: its ints move on, too."""
        self.has_own_buffers(s.body)
        count = None if _is_left(s.body) or abs(s.step) != 1 else self.count(s)
        start, before = self.of(s.start), dict(self.numbers)
        changed = {name for inside in walk(s.body) if isinstance(inside, (Set, Sum)) for name in [inside.name]}
        atom = variable(f"trip {len(self.counts)}")
        if count is None:
            self.unknown([s])
            self.block(s.body)
            self.unknown([s])
            return
        self.counts[atom] = count
        index = None if start is None else start + Poly.of(atom) * Poly.number(s.step)
        begins = {name: variable(f"begin {name} {len(self.counts)}") for name in changed}
        noted, parts = list(self.accesses), dict(self.parts)
        self.numbers = {**before, **{name: Poly.of(a) for name, a in begins.items()}, s.index: index}
        self.block(s.body)
        steps: dict[str, Poly | None] = {}
        for name, a in begins.items():
            end = self.numbers.get(name)
            step = None if end is None else end - Poly.of(a)
            fixed = step is not None and not any(b == atom or b in begins.values() for b in step.atoms)
            steps[name] = step if fixed else None
        self.accesses, self.parts = noted, parts
        self.numbers = {**before, s.index: index}
        ends: dict[str, Poly | None] = {}
        for name, step in steps.items():
            first = before.get(name)
            known = step is not None and first is not None
            self.numbers[name] = first + step * Poly.of(atom) if known else None  # type: ignore[operator]
            ends[name] = first + step * count if known else None  # type: ignore[operator]
        self.block(s.body)
        self.numbers.update(ends)

    def count(self, s: For) -> Poly | None:
        """How many trips a loop has, if all iterations around it have as many."""
        a, b = (s.start, s.stop) if s.step == 1 else (s.stop, s.start)
        low, high = self.of(a), self.of(b)
        if low is None or high is None:
            return None
        gap = high - low
        if gap.constant is not None:
            return Poly.number(max(0, gap.constant))
        if not all(map(self.is_known, gap.atoms)):
            return None
        return Poly.of(Call("maximum", (ZERO, gap.expr()), INDEX))

    # --- memory -------------------------------------------------------------------------------------------------------

    def shared(self) -> list[str]:
        """The buffers that iterations share and only add to. Raises NotIndependent if one needs another's element."""
        by_memory: dict[str, list[Access]] = {}
        for access in dict.fromkeys(self.accesses):
            by_memory.setdefault(self.memory.of(access.name), []).append(access)
        added = []
        for memory, accesses in sorted(by_memory.items()):
            if memory not in self.written:
                continue
            if self.grown & {access.name for access in accesses}:
                self.is_own_stack(accesses)
                continue
            if memory in self.memory.given:
                raise NotIndependent
            names = {access.name for access in accesses}
            outside = names - self.made
            if not outside:
                continue  # each iteration has its own
            if outside != names or not self.memory.same(outside):
                raise NotIndependent
            if self.are_apart(accesses):
                continue
            if any(access.how != "add" for access in accesses) or len(outside) > 1 or outside & self.bound:
                raise NotIndependent
            added += sorted(outside)
        return added

    def is_own_stack(self, accesses: list[Access]) -> None:
        """Of a stack, an iteration takes nothing that was there before, and leaves nothing there.

        A buffer that grows is that of a stack. Its counter is where it was when an iteration ends. So what lies above
        has been stored by the iteration before it is read.
        """
        tops: set[Expr] = set()
        for access in accesses:
            place = access.place[0] if access.place else None
            own = set() if place is None else place.atoms & self.before
            tops |= own
            found = place.by(next(iter(own))) if place is not None and len(own) == 1 else None
            if found is None or found[0] != Poly.number(1) or not self.is_not_negative(found[1]):
                raise NotIndependent
        if len(tops) != 1 or any(step.terms for name, step in self.steps.items() if variable(f"before {name}") in tops):
            raise NotIndependent

    def are_apart(self, accesses: list[Access]) -> bool:
        """No iteration reads or writes an element that another one writes."""
        return all(
            self.differ(a, b)
            for k, a in enumerate(accesses)
            for b in accesses[k:]
            if a.how != "read" or b.how != "read"
        )

    def differ(self, a: Access, b: Access) -> bool:
        """Along one axis, the elements are at other positions in any two iterations."""
        return any(p is not None and q is not None and self.positions_differ(p, q) for p, q in zip(a.place, b.place))

    def positions_differ(self, p: Poly, q: Poly) -> bool:
        """``factor * i + base`` and a span, which is shorter than the factor."""
        first, second = self.span(p), self.span(q)
        if first is None or second is None:
            return False
        (factor, base, low, high), (other, its_base, its_low, its_high) = first, second
        if factor != other or base != its_base or not factor.terms:
            return False
        if not factor.is_not_negative():
            factor = -factor
            if not factor.is_not_negative():
                return False
        one = Poly.number(1)
        return (factor - (high - its_low) - one).is_not_negative() and (
            factor - (its_high - low) - one
        ).is_not_negative()

    def span(self, p: Poly) -> tuple[Poly, Poly, Poly, Poly] | None:
        """The factor of the loop's variable, what all iterations have, and the least and the greatest of the rest."""
        found = p.by(self.index)
        if found is None:
            return None
        factor, rest = found
        low = high = Poly.number(0)
        for atom, count in self.counts.items():
            by = rest.by(atom)
            if by is None or atom in factor.atoms:
                return None
            step, rest = by
            if not step.terms:
                continue
            reach = step * (count - Poly.number(1))
            if step.is_not_negative():
                high += reach
            elif (-step).is_not_negative():
                low += reach
            else:
                return None
        constant = Poly.number(rest.terms.get((), 0))
        base = rest - constant
        if not all(map(self.is_known, [*base.atoms, *factor.atoms, *low.atoms, *high.atoms])):
            return None
        return factor, base, low + constant, high + constant


__all__ = ["Found", "Loops", "bounds_of"]
