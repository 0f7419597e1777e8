"""The flow state of the abstract interpreter, and how the states of two paths are joined."""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar

from ..ir.core import IF, UNDEF, Builder, Loc, Op, Region, Value, structural_key, type_of
from ..ir.opset import PRIMS
from ..ir.types import UNDEF_TY
from ..ir.types import join as join_types
from ..records import mutable_record
from .avals import (
    MISSING,
    UNSET,
    Columns,
    Conflict,
    Instance,
    ItemOf,
    Items,
    Maybe,
    Origin,
    Poison,
    Ref,
    is_constant,
    is_plain,
    rebuilt,
    same,
)
from .exits import RETURN
from .joins import Joiner, join, join_contents
from .plan import SPLIT, Action, original
from .structures import LEAF, NoCommonStructure, is_same_part, joined

if TYPE_CHECKING:
    from .columns import ListColumns

T = TypeVar("T")


@mutable_record
class State:
    """Names to abstract values, per frame; cells to what they hold; which cells may share memory."""

    envs: dict[int, dict[str, Any]] = field(default_factory=dict)
    heap: dict[int, Any] = field(default_factory=dict)
    links: dict[int, frozenset[int]] = field(default_factory=dict)
    causes: dict[tuple[int, int], Any] = field(default_factory=dict)  # of links: the joins that made them

    def fork(self) -> State:
        return State({k: dict(v) for k, v in self.envs.items()}, dict(self.heap), dict(self.links), dict(self.causes))

    def rebuilt(self, change: Callable[[Any], Any]) -> State:
        """The same with ``change(leaf)`` in the place of each leaf of what names and cells hold."""
        out = State(links=dict(self.links), causes=dict(self.causes))
        for env, names in self.envs.items():
            out.envs[env] = {name: rebuilt(av, change) for name, av in names.items()}
        out.heap = {cell: rebuilt(content, change) for cell, content in self.heap.items()}
        return out

    def link(self, a: int, b: int, cause: Any = None) -> None:
        """`a` and `b` may share memory."""
        if a != b:
            self.links[a] = self.links.get(a, frozenset()) | {b}
            self.links[b] = self.links.get(b, frozenset()) | {a}
            if cause is not None:
                self.causes[min(a, b), max(a, b)] = cause

    def cause(self, a: int, b: int) -> Any:
        return self.causes.get((min(a, b), max(a, b)))

    def link_view(self, new: int, old: int, cause: Any = None) -> None:
        """`new` may share memory with `old`, and so with whatever that may share memory with."""
        for other in self.links.get(old, ()):
            self.link(new, other, cause or self.cause(old, other))
        self.link(new, old, cause)

    def poison(self, cell: int, loc: Loc | None, in_array: bool = True) -> None:
        """Something was stored to `cell`: the contents of its possible aliases are not known any more, but those of
        arrays if it was not stored into an array."""
        for other in self.links.get(cell, ()):
            found = self.heap.get(other)
            if found is None or isinstance(found, (Poison, ItemOf)):
                continue
            if in_array or type(found) is not Value or found.type.kind != "array":
                self.heap[other] = Poison(loc, "may share memory with the array stored to", self.cause(cell, other))


class Cells:
    """Numbers cells, and keeps what is true of a buffer wherever the program is."""

    def __init__(self) -> None:
        self.count = 0
        self.names: dict[int, str] = {}  # the first name that each was bound to
        self.contiguous: set[int] = set()  # proven to be laid out in C order
        self.detached: set[int] = set()  # of items taken from lists, which other lists may share
        self.counted: set[Value] = set()  # indices that are not negative
        self.from_end: set[int] = set()  # of lists of which some item may be known by its number from the end
        self.layouts: dict[int, frozenset[Any]] = {}  # those that are in C order if these inputs are
        self.read_only: set[int] = set()  # NumPy refuses to store into them
        self.ordered: set[int] = set()  # of dictionaries: those of the class OrderedDict
        self.fortran: set[int] = set()  # proven to be in Fortran order; not in C order, unless an axis is of length one
        self.undecided: dict[int, frozenset[Any]] = {}  # those whose order is known if that of these inputs is
        self.scattered: set[int] = set()  # inputs known to be in neither
        self.numpy: set[int] = set()  # proven to be an ndarray, or else a NumPy scalar: never a list
        self.families: dict[int, frozenset[int]] = {}  # of a merged container: the containers that it may be
        # The input arrays of which it may be the buffer, and what else it may be that nobody may store into.
        self.origins: dict[int, frozenset[int]] = {}
        self.joined: dict[int, Origin] = {}  # of a merged cell: what joined it
        self.made: dict[Op, Origin] = {}  # the syntax of an `if` or loop
        self.loops: dict[Region | None, Origin] = {}  # the same by the region of the body

    def new(self) -> int:
        self.count += 1
        return self.count

    def dict_classes(self, cell: int) -> set[bool]:
        """Whether a dictionary is an OrderedDict; both where it may be one."""
        return {c in self.ordered for c in self.family(cell)}

    def mark(self, cell: int, kind: int) -> None:
        """It may be `FOLDED`, `PROTECTED` or `LIVE`, and so may be what shares its memory."""
        self.origins[cell] = self.origins_of([cell]) | {kind}

    def origins_of(self, cells: Iterable[int]) -> frozenset[int]:
        """The origins of the buffers of all these cells."""
        return frozenset().union(*[self.origins[cell] for cell in cells if cell in self.origins])

    def derive(self, cell: int, sources: Iterable[int]) -> None:
        """The buffer of a cell may be that of one of these."""
        found = self.origins_of(sources)
        if found:
            self.origins[cell] = self.origins.get(cell, frozenset()) | found

    def family(self, cell: int) -> frozenset[int]:
        """The containers, as they were made, that this one may be."""
        return self.families.get(cell) or frozenset({cell})


def shared(links: dict[int, frozenset[int]], stands: dict[int, list[T]]) -> list[tuple[T, T, int, int]]:
    """Which two may share memory behind a join, and the cells for which they stand there; `stands`: what stands
    for each cell; maybe the cell itself."""
    found: list[tuple[T, T, int, int]] = []
    for x, group in stands.items():
        for k, p in enumerate(group):
            for q in group[:k]:
                found.append((q, p, x, x))
            for y in links.get(x, ()):
                if y > x:
                    for q in stands.get(y, ()):
                        found.append((p, q, x, y))
    return found


# Among origins: an array of which several elements are one in memory, and one that NumPy protects from stores.
FOLDED, PROTECTED, LIVE = -1, -2, -3
# With what a block is left: set on each path that leaves it so, and read on no other.
LEFT_WITH = ("$ret", "$raised")


def unless_returned(builder: Builder, code: Any, emit: Callable[[], Any]) -> Any:
    """What `emit` computes, but not where `code` says that the function has returned: values are missing there."""
    if code is None:
        return emit()
    regions = (builder.new_region(), builder.new_region())
    going_on = builder.emit(PRIMS[operator.ne], code, RETURN)
    with builder.inside(regions[0]):
        value = emit()
    if type(value) is not Value:
        return value
    regions[0].exit, regions[1].exit = (value,), (UNDEF,)
    return builder.if_(going_on, regions[0], regions[1], [value.type], [value.hint])[0]


def array_in(interp: ListColumns, state: State, ref: Ref, code: Any = None) -> Any:
    """The array that a reference is in a state; None or the `Poison` if it is not known. `code`: see above."""
    base = state.heap.get(ref.cell)
    if base is None or isinstance(base, Poison) or not (ref.path or type(base) is ItemOf):
        return base
    read = lambda: interp.read(ref) if ref.path else interp.content(ref.cell)
    return interp.in_state(state, lambda: unless_returned(interp.builder, code, read))


def columns_unless_returned(interp: ListColumns, content: Any, structure: Any, code: Any) -> Columns | None:
    """What a list holds as columns of the structure; None if some of it is not known."""
    if type(content) is Columns:
        return interp.columns(content, None, structure)
    if any(isinstance(interp.held(cell), Poison) for cell in interp.cells_in(content.items)):
        return None
    made: list[Columns] = []

    def leaf(k: int) -> Any:
        made.append(interp.columns(content, None, structure))
        return made[-1].leaves[k]

    first = unless_returned(interp.builder, code, lambda: leaf(0))
    rest = [unless_returned(interp.builder, code, lambda k=k: leaf(k)) for k in range(1, len(made[0].leaves))]  # type: ignore[misc]
    return Columns(made[0].structure, (first, *rest), made[0].distinct)


class BranchJoiner(Joiner):
    """Joins two states into one; the leaves where they differ become the results of an operation.

    `at`, in the methods of a `Joiner`, is the hint for a value that is made.
    """

    def __init__(self, interp: ListColumns, a: State, b: State, regions: tuple[Region, Region]):
        self.interp = interp
        self.builder = interp.builder
        self.cells = interp.cells
        self.states = (a, b)
        self.regions = regions
        self.dead = (False, False)
        # A path that returns: what it left in the names of this frame is not read any more.
        self.returned = (False, False)
        # The exit code of each path, where it may or may not have returned.
        self.codes: tuple[Any, Any] = (None, None)
        self.frame_env = -1
        self.apart: frozenset[str] = frozenset()  # names that both paths bind to arrays of as many axes, if possible
        self.start: State | None = None
        self.origin: Origin | None = None
        self.exits: tuple[list[Any], list[Any]] = ([], [])
        self.results: list[Value] = []
        self.known: dict[Any, Value] = {}
        self.pairs: dict[tuple[Any, Any], int] = {}
        self.out = State()
        # Merged cell, and which cell it is on each path.
        self.merged: list[tuple[int, int | None, int | None]] = []
        # List cell, path, and the cell of an array that became an item of the IR list on that path.
        self.elements: list[tuple[int, int, int]] = []

    def leaf(self, a: Any, b: Any, hint: str = "") -> Any:
        """The value that is `a` on the first path and `b` on the second."""
        if self.dead[0]:
            a = UNDEF
        if self.dead[1]:
            b = UNDEF
        if type(a) is type(b) and (a is b or (type(a) is not Value and structural_key(a) == structural_key(b))):
            return a
        key = (structural_key(a), structural_key(b))
        found = self.known.get(key)
        if found is None:
            types = [UNDEF_TY if x is UNDEF else type_of(x) for x in (a, b)]
            found = Value(join_types(types[0], types[1], self.builder.dims), "" if hint.startswith("$") else hint)
            if types[0].dims is not None and found.type.dims is None and self.origin is not None:
                self.keep_apart(hint)
            self.known[key] = found
            self.results.append(found)
            self.exits[0].append(a)
            self.exits[1].append(b)
        return found

    def keep_apart(self, hint: str) -> None:
        """The paths differ in the number of axes of what they give a name: they do not meet, where this matters."""
        plan = self.interp.plan
        if hint in self.apart:
            assert self.origin is not None
            plan.require([Action(SPLIT, original(self.origin.node))], None)
        if self.builder.loc in plan.apart:
            interp: Any = self.interp
            interp.part_ways(self.origin)

    def read(self, side: int, ref: Ref) -> Any:
        """The array that `ref` is on one path."""
        with self.builder.inside(self.regions[side]):
            return array_in(self.interp, self.states[side], ref, self.codes[side])

    def on_path(self, side: int, compute: Callable[[], Any]) -> Any:
        """What `compute` gives in the state at the end of one path."""
        with self.builder.inside(self.regions[side]):
            return self.interp.in_state(self.states[side], compute)

    def merge(self, a: Any, b: Any, hint: str = "") -> Any:
        """The abstract value that stands for `a` on the first path and `b` on the second."""
        if a is not MISSING and b is not MISSING and same(a, b):
            return a
        for x in (a, b):
            if type(x) is Conflict:
                return x
        if type(a) is Maybe or type(b) is Maybe or a is MISSING or b is MISSING:
            if Maybe not in (type(a), type(b)) and self.dead[0 if a is MISSING else 1]:
                return self.merge_parts(a, b, hint)
            flags = [x.flag if type(x) is Maybe else x is not MISSING for x in (a, b)]
            inner = [x.av if type(x) is Maybe else x for x in (a, b)]
            av = self.merge_parts(inner[0], inner[1], hint)
            if type(av) is Conflict:
                return av
            flag = self.leaf(flags[0], flags[1])
            return av if flag is True else Maybe(av, flag)
        return self.merge_parts(a, b, hint)

    def merge_parts(self, a: Any, b: Any, hint: str) -> Any:
        self.interp.budget.tick(self.builder.loc)
        if a is not MISSING and b is not MISSING and same(a, b):
            return a
        return join(a, b, self, hint)

    def part(self, a: Any, b: Any, at: str, k: int) -> Any:
        return self.merge_parts(a, b, "")

    def number(self, a: Any, b: Any, at: str) -> Any:
        return self.leaf(UNDEF if a is MISSING else a, UNDEF if b is MISSING else b, at)

    def array(self, a: Any, b: Any, at: str) -> Any:
        if not is_plain(a) and not is_plain(b):
            return self.merge_refs(a, b, at)
        side = 0 if type(a) is Ref else 1
        value = self.read(side, (a, b)[side])
        if value is None or isinstance(value, Poison):
            return Conflict("is an array on one path, and unknown after a store to a possible alias of it", self.origin)
        cell = self.cells.new()
        self.out.heap[cell] = self.leaf(value if side == 0 else a, value if side == 1 else b, at)
        self.pairs[(("mixed", cell), None)] = cell
        self.note(cell, a, b)
        return Ref(cell)

    def container(self, a: Any, b: Any, at: str) -> Any:
        return self.merge_refs(a, b, at)

    def clash(self, a: Any, b: Any, at: str) -> Any:
        if type(a) is type(b) is Instance:
            return Conflict("is an instance of different classes on different paths", self.origin)
        return Conflict("is bound to different kinds of things on different paths", self.origin)

    def note(self, cell: int, a: Any, b: Any) -> None:
        """Remember what `cell` is on each path, for the links."""
        if self.origin is not None:
            self.cells.joined[cell] = self.origin
        self.merged.append((cell, a.cell if hasattr(a, "cell") else None, b.cell if hasattr(b, "cell") else None))
        self.cells.derive(cell, [x.cell for x in (a, b) if hasattr(x, "cell")])

    def merge_refs(self, a: Any, b: Any, hint: str) -> Any:
        """A reference that is to one cell on each path: the same pair is the same merged cell."""
        there = [x for x in (a, b) if x is not MISSING]
        keys = [None if x is MISSING else (x.cell, structural_key(getattr(x, "path", ()))) for x in (a, b)]
        pair = (keys[0], keys[1])
        cell = self.pairs.get(pair)
        if cell is None:
            cell = self.cells.new()
            self.pairs[pair] = cell
            self.note(cell, a, b)
            if type(there[0]) is Ref:
                values = [UNDEF if x is MISSING else self.read(k, x) for k, x in enumerate((a, b))]
                unknown = [v for v in values if v is None or isinstance(v, Poison)]
                if unknown:
                    self.out.heap[cell] = unknown[0] or Poison(None, "is unknown here", self.origin)
                else:
                    self.out.heap[cell] = self.leaf(values[0], values[1], hint)
                if all(x.cell in self.cells.numpy for x in there):
                    self.cells.numpy.add(cell)
                if all(x.cell in self.cells.contiguous and not x.path for x in there):
                    self.cells.contiguous.add(cell)
            else:
                self.cells.families[cell] = frozenset().union(*[self.cells.family(x.cell) for x in there])
                sides = zip((a, b), self.states)
                contents = [MISSING if x is MISSING else state.heap.get(x.cell, MISSING) for x, state in sides]
                if any(not isinstance(c, ItemOf) and c is not MISSING for c in contents):
                    if any(isinstance(c, ItemOf) for c in contents):
                        self.cells.detached.add(cell)  # it may still be the one in the list
                    contents = [self.unlisted(k, c) for k, c in enumerate(contents)]
                self.out.heap[cell] = self.merge_content(contents[0], contents[1], cell, hint)
        return there[0].to(cell)

    def merge_content(self, a: Any, b: Any, cell: int, hint: str = "") -> Any:
        """What a cell holds that holds `a` on the first path and `b` on the second."""
        if a is b:
            return a
        poison = next((x for x in (a, b) if isinstance(x, Poison)), None)
        return join_contents(a, b, self, (cell, hint)) if poison is None else poison

    def buffer(self, a: Any, b: Any, at: Any) -> Any:
        return self.number(a, b, at[1])

    def held(self, a: Any, b: Any, at: Any, k: int) -> Any:
        if a is not MISSING and b is not MISSING:
            if (a is UNSET) != (b is UNSET):
                return Conflict(UNSET.why)
            conflict = next((v for v in (a, b) if type(v) is Conflict), None)
            if conflict is not None:
                return conflict
        return self.merge_parts(a, b, "")

    def unknown(self, conflict: Conflict, at: Any) -> Any:
        return Poison(None, conflict.why, conflict.origin)

    def other_keys(self, a: Any, b: Any, at: Any) -> Any:
        return Poison(None, "has different keys on different paths", self.origin)

    def unlisted(self, side: int, content: Any) -> Any:
        """What an item of a list holds on one path."""
        if type(content) is not ItemOf:
            return content
        resolved = lambda: self.interp.resolved(content)
        return self.on_path(side, lambda: unless_returned(self.builder, self.codes[side], resolved))

    def item(self, a: Any, b: Any, at: Any) -> Any:
        x = b if a is MISSING else a
        both = MISSING not in (a, b)
        if (not both or is_same_part(a, b)) and all(x.cell in state.heap for state in self.states):
            sides = [UNDEF if v is MISSING else v.index for v in (a, b)]
            return ItemOf(
                x.cell, self.leaf(sides[0], sides[1]), x.root, x.place, x.structure, both and a.sure and b.sure
            )
        return Poison(None, "is an item of a list on one path", self.origin)

    def run_time_list(self, a: Any, b: Any, at: Any) -> Any:
        cell, hint = at
        if a is MISSING or b is MISSING:
            x = b if a is MISSING else a
            pairs = [(v, MISSING) if x is a else (MISSING, v) for v in x.leaves]
            return x.with_parts([self.number(*pair, hint) for pair in pairs])
        interp = self.interp
        contents = list(enumerate((a, b)))
        try:
            structures = [
                self.on_path(side, lambda content=content: interp.items_structure(content))  # type: ignore[misc]
                for side, content in contents
                if type(content) is Columns or content.items
            ]
            structure = LEAF if not structures else joined(structures[0], structures[-1])
            sides = []
            for side, content in contents:
                made = lambda: columns_unless_returned(interp, content, structure, self.codes[side])  # noqa: B023
                sides.append(self.on_path(side, made))
                if type(content) is Items:
                    inside = interp.in_state(self.states[side], lambda: interp.cells_in(content.items))  # noqa: B023
                    self.elements += [(cell, side, element) for element in inside]
                    self.cells.detached.update(inside)
        except NoCommonStructure as error:
            return Poison(None, f"is a list of different lengths on different paths that {error}", self.origin)
        first, second = sides
        if first is None or second is None:
            return Poison(None, "is a list of different lengths on two paths, of items that are not known", self.origin)
        leaves = [self.leaf(x, y, hint) for x, y in zip(first.leaves, second.leaves)]
        return Columns(structure, tuple(leaves), first.distinct and second.distinct)

    def run(self) -> State:
        """The joined state; afterwards `exits` and `results` are complete."""
        a, b = self.states
        out = self.out
        for env in a.envs:
            if env not in b.envs:
                continue
            xs, ys = a.envs[env], b.envs[env]
            names = out.envs[env] = {}
            for name in [*xs, *[n for n in ys if n not in xs]]:
                x, y = xs.get(name, MISSING), ys.get(name, MISSING)
                if x is y:
                    names[name] = x
                elif env == self.frame_env and name != "$ret" and any(self.returned):
                    kept = self.merge_returned(env, name, x, y)
                    if kept is not MISSING:
                        names[name] = kept
                elif name in LEFT_WITH:
                    given = y if x is MISSING else x
                    alone = MISSING in (x, y) and is_constant(given)
                    names[name] = given if alone else self.merge_parts(x, y, "")
                else:
                    names[name] = self.merge(x, y, name)
        for env in [*a.envs, *b.envs]:
            if env not in out.envs and (env in a.envs) != (env in b.envs):
                # A frame of one path. Who reads it is on that path, and what it holds may have been computed there.
                side = 0 if env in a.envs else 1
                names = self.states[side].envs[env]
                out.envs[env] = {name: self.merge_alone(side, env, name, av) for name, av in names.items()}
        for cell in [c for c in a.heap if c in b.heap]:
            x, y = a.heap[cell], b.heap[cell]
            hint = self.cells.names.get(cell, "") or (x.hint if type(x) is Value else "")
            out.heap[cell] = x if x is y else self.merge_content(x, y, cell, hint)
        self.link_all()
        return out

    def merge_returned(self, env: int, name: str, x: Any, y: Any) -> Any:
        """A name of a frame that one of the paths has left."""
        if all(self.returned):
            return MISSING
        return self.merge_alone(1, env, name, y) if self.returned[0] else self.merge_alone(0, env, name, x)

    def merge_alone(self, side: int, env: int, name: str, live: Any) -> Any:
        """A name that is read only behind the path of this side."""
        before = self.start.envs.get(env, {}).get(name, MISSING) if self.start is not None else MISSING
        if live is MISSING or live is before or type(live) is Conflict:
            return live
        merge = self.merge if type(live) is Maybe else self.merge_parts
        return merge(live, MISSING, name) if side == 0 else merge(MISSING, live, name)

    def link_all(self) -> None:
        """Two cells may share memory after the join if they may on one of the paths."""
        for side, state in enumerate(self.states):
            stands = collections.defaultdict(list)
            for cell, *origins in self.merged:
                origin = origins[side]
                if origin is not None:
                    stands[origin].append(cell)
                if origin in self.cells.detached:
                    self.cells.detached.add(cell)
            holders: dict[int, list[int]] = {}
            for holder, on, element in self.elements:
                if on == side:
                    holders.setdefault(element, []).append(holder)
            for cell in [c for c in {*stands, *state.links, *holders} if c in self.out.heap]:
                stands[cell].append(cell)
            for element, lists in holders.items():
                for origin in {element, *state.links.get(element, ())}:
                    for pair in itertools.product(lists, [*lists, *stands.get(origin, ())]):
                        self.out.link(*pair, self.origin)
            for p, q, x, y in shared(state.links, stands):
                self.out.link(p, q, self.origin if x == y else state.cause(x, y))


def emit_if(builder: Builder, cond: Any, then: Region, orelse: Region, joiner: BranchJoiner) -> None:
    """Append the ``if`` whose results the joiner has made."""
    then.exit = tuple(joiner.exits[0])
    orelse.exit = tuple(joiner.exits[1])
    op = Op(IF, (cond,), {}, (then, orelse), builder.loc)
    op.results = joiner.results
    if joiner.origin is not None:
        joiner.cells.made[op] = joiner.origin
    for value in op.results:
        value.op = op
    builder.append(op)
