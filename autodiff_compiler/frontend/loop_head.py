"""What a loop is believed to carry, and the state at the top of its body under that belief."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from ..ir.core import UNDEF, Value, structural_key, type_of
from ..ir.types import ANY, PY_BOOL, UNDEF_TY, Dims, Ty, py_int, renewed
from ..ir.types import join as join_types
from ..records import fields_of, mutable_record
from .avals import (
    MISSING,
    UNSET,
    Columns,
    Composite,
    Conflict,
    ItemOf,
    Items,
    Maybe,
    Origin,
    Poison,
    Ref,
    Reference,
    is_constant,
)
from .joins import Joiner, join, join_contents
from .state import LEFT_WITH, State, array_in
from .structures import NoCommonStructure, is_same_part, width

if TYPE_CHECKING:
    from .loops import Loops


class Again(Exception):
    """The guess of what the loop carries was too narrow."""


@mutable_record
class Guess:
    """What is believed of a loop: grows until it holds."""

    # What the loop carries: names (frame, name), and cells whose content it carries.
    names: dict[tuple[int, str], None] = field(default_factory=dict)
    cells: dict[int, None] = field(default_factory=dict)
    # By slot: the value at the end of the last pass. By leaf: its type, and the axes whose length an iteration changes.
    ends: dict[Any, Any] = field(default_factory=dict)
    types: dict[Any, Ty] = field(default_factory=dict)
    varying: dict[Any, set[int]] = field(default_factory=dict)
    # Slots of lists that change their length; by slot of a list: the structure of its items, and whether they share
    # nothing; the columns made of what list cells hold before the loop.
    dynamic: set[Any] = field(default_factory=set)
    columns: dict[Any, tuple[Any, bool]] = field(default_factory=dict)
    lists: dict[int, Any] = field(default_factory=dict)
    poisoned: dict[int, Poison] = field(default_factory=dict)
    # By slot of a reference: what distinguishes its buffer at the end, the containers that it may be there, and the
    # inputs that its buffer may be there.
    partition: dict[Any, Any] = field(default_factory=dict)
    families: dict[Any, frozenset[int]] = field(default_factory=dict)
    origins: dict[Any, frozenset[int]] = field(default_factory=dict)
    links: set[tuple[Any, Any]] = field(default_factory=set)  # slots, or cells from before the loop: may share memory
    assumed: set[tuple[int, str]] = field(default_factory=set)  # names that the body assigns to
    # Slots found never to be rebound, to be rebound, to hold an item of a list, and what other lists may share.
    kept: set[Any] = field(default_factory=set)
    rebound: set[Any] = field(default_factory=set)
    items: set[Any] = field(default_factory=set)
    detached: set[Any] = field(default_factory=set)

    def is_rebound(self, slot: Any) -> bool:
        """Whether the name gets another buffer or container in the body."""
        if slot in self.rebound:
            return True
        return slot[0] == "n" and (slot[1], slot[2]) in self.assumed and slot not in self.kept

    def widened(self, key: Any, old: Ty, new: Ty, dims: Dims) -> tuple[Ty, bool]:
        """The type of a leaf that covers both, and whether another axis is found on which they differ."""
        for x, y in zip(old.dims or (), new.dims or ()):
            dims.assume_same(x, y)  # that the shape stays, if it does so for the arguments at hand
        joined = join_types(old, new, dims)
        if joined.dims is None or old.dims is None or new.dims is None:
            return joined, False
        varying = self.varying.setdefault(key, set())
        found = {k for k, (x, y) in enumerate(zip(old.dims, new.dims)) if not dims.same(x, y)} - varying
        varying |= found
        return replace(joined, dims=old.dims), bool(found)

    def rebinds(self, entry: State) -> bool:
        """Whether a name of an array or container is assumed to get another one in the body."""
        held = [entry.envs[env].get(name) for env, name in self.assumed if env in entry.envs]
        return any(isinstance(av, (Reference, Composite)) for av in held)

    def retract(self, kept: set[Any]) -> None:
        """These slots keep what they are bound to. What was found while they had buffers of their own does not hold."""
        fresh = Guess(names=self.names, assumed=self.assumed, kept=self.kept | kept, rebound=self.rebound)
        for name in fields_of(self):
            setattr(self, name, getattr(fresh, name))


class LoopHead(Joiner):
    """The top of the body: what values are before the loop, joined with what they are at the end of the last pass.

    The leaves are the loop's parameters. `at`, in the methods of a `Joiner`, is a slot and the hint for a parameter.
    """

    def __init__(self, interp: Loops, guess: Guess, entry: State, needed: frozenset[str], stmt: Any = None):
        self.interp = interp
        self.origin = Origin(stmt, interp.frame)
        self.guess = guess
        self.entry = entry
        self.needed = needed
        self.params: list[tuple[Any, Value, Any]] = []  # leaf key, parameter, init
        self.head_cells: dict[Any, int] = {}
        self.slot_cells: list[tuple[Any, int, int | None]] = []  # slot, head cell, entry cell
        self.returned: dict[tuple[int, str], Any] = {}  # by frame: the parameters for what is returned, or raised
        self.said: dict[str, Any] = {}  # how the loop is reversed, if not as others
        self.by_index = False  # the loop's variable is the index itself
        self.region = interp.builder.new_region()
        self.code: Any = None  # the exit code at the end of the body, if it may say that the function has returned

    # --- the state at the top of the body -------------------------------------------------------------------------

    def head_state(self) -> State:
        guess, entry = self.guess, self.entry
        state = entry.fork()
        self.head = state
        for env, name in guess.names:
            if env not in state.envs:
                continue
            slot = ("n", env, name)
            av = entry.envs[env].get(name, MISSING)
            end = guess.ends.get(slot, MISSING)
            if name in LEFT_WITH:
                # What is returned is never read in the loop, and every path that returns sets it.
                state.envs[env].pop(name, None)
                self.returned[env, name] = self.generalize(MISSING, end, slot, "")
                continue
            if av is MISSING or type(av) is Maybe or type(end) is Maybe:
                inner = av.av if type(av) is Maybe else av
                flag = av.flag if type(av) is Maybe else av is not MISSING
                end_inner = end.av if type(end) is Maybe else end
                made = self.generalize(inner, end_inner, slot, name)
                if type(made) is not Conflict:
                    made = Maybe(made, self.param((*slot, "bound"), flag, PY_BOOL, ""))
                state.envs[env][name] = made
            else:
                state.envs[env][name] = self.generalize(av, end, slot, name)
        items = [c for c in guess.cells if type(guess.ends.get(("c", c))) is ItemOf and c in state.heap]
        # What became an item of a list comes last: the list is columns from the start.
        for cell in [*[c for c in guess.cells if c in state.heap and c not in items], *items]:
            if cell not in items or type(state.heap[cell]) is not ItemOf or type(entry.heap[cell]) is ItemOf:
                at = ("c", cell)
                state.heap[cell] = self.general_content(entry.heap[cell], guess.ends.get(at, MISSING), at, cell)
        for cell in guess.cells:
            end = guess.ends.get(("c", cell))
            if isinstance(end, Poison) and cell in state.heap:
                state.heap[cell] = end  # also where it has just become an item of a list
        for cell, poison in guess.poisoned.items():
            state.heap[cell] = poison
        self.link_heads()
        return state

    def param(self, key: Any, init: Any, t: Ty, hint: str) -> Value:
        guess = self.guess
        known = guess.types.get(key)
        dims = self.interp.builder.dims
        if known is None:
            guess.types[key] = t
        elif t != known and t.kind != "undef":
            guess.types[key], _ = guess.widened(key, known, t, dims)
        actual = renewed(guess.types[key], guess.varying.get(key, ()), dims)
        value = self.region.param(actual, "" if hint.startswith("$") else hint)
        self.params.append((key, value, init))
        return value

    def generalize(self, av: Any, end: Any, slot: Any, hint: str) -> Any:
        """What a carried name is at the top of the body: its leaves are the loop's parameters."""
        end = self.guess.ends.get(slot, end)
        self.interp.budget.tick(self.interp.builder.loc)
        if type(end) is Maybe:
            end = end.av
        if av is UNSET and end is not MISSING and end is not UNSET:
            return Conflict(UNSET.why)
        if type(av) is Conflict or type(end) is Conflict:
            return av if type(av) is Conflict else end
        if av is MISSING and end is MISSING:
            return Conflict("is not bound before the loop")
        return join(av, end, self, (slot, hint))

    def part(self, a: Any, b: Any, at: Any, k: int) -> Any:
        return self.generalize(a, b, (*at[0], k), "")

    def number(self, a: Any, b: Any, at: Any) -> Any:
        slot, hint = at
        if a is MISSING:
            t = self.guess.types.get(slot) or (type_of(b) if type_of(b).is_scalar else UNDEF_TY)
            return self.param(slot, UNDEF, t, hint)
        if (a is None or type(a) is str) and (b is MISSING or (type(b) is type(a) and b == a)):
            return a  # it stays, until it is found at the end that it does not
        return self.param(slot, a, py_int() if type(a) is int else type_of(a), hint)

    def array(self, a: Any, b: Any, at: Any) -> Any:
        return self.carried(a, Ref(0), at, self.fill_array)

    def container(self, a: Any, b: Any, at: Any) -> Any:
        return self.carried(a, b if a is MISSING else a, at, self.fill_container)

    def clash(self, a: Any, b: Any, at: Any) -> Any:
        return Conflict("is bound to different kinds of things before and in the loop", self.origin)

    def carried(self, av: Any, sample: Any, at: Any, fill: Callable[[int, Any, Any, str], bool]) -> Any:
        """A new cell for the array or container that a name is bound to at the top of the body. ``fill`` says what it
        holds; False if that is not known."""
        slot, hint = at
        there = isinstance(av, Reference)
        if there and not self.guess.is_rebound(slot):
            return av
        before = (av.cell, structural_key(getattr(av, "path", ()))) if there else ("none", slot)
        key = (before, self.guess.partition.get(slot))
        cell = self.head_cells.get(key)
        if cell is None:
            cell = self.head_cells[key] = self.interp.cells.new()
            if not fill(cell, av, slot, hint):
                return sample.to(cell)
        self.slot_cells.append((slot, cell, av.cell if there else None))
        return sample.to(cell)

    def fill_array(self, cell: int, av: Any, slot: Any, hint: str) -> bool:
        cells, types, leaf = self.interp.cells, self.guess.types, ("r", *slot)
        init = UNDEF if av is MISSING else av
        if type(av) is Ref:
            init = array_in(self.interp, self.entry, av)
            if init is None or isinstance(init, Poison):
                self.head.heap[cell] = init or Poison(None, "is unknown here", self.origin)
                return False
            cells.derive(cell, [av.cell])
        elif av is not MISSING:
            # A sum of all elements of a duck array is an array without axes, which numbers are added to.
            types.setdefault(leaf, type_of(av) if self.interp.inputs.ducks else ANY)
        t = types.get(leaf, UNDEF_TY) if av is MISSING else type_of(init)
        self.head.heap[cell] = self.param(leaf, init, t, hint)
        if type(av) is not Ref or av.cell in cells.numpy:
            cells.numpy.add(cell)
        return True

    def fill_container(self, cell: int, av: Any, slot: Any, hint: str) -> bool:
        cells, guess = self.interp.cells, self.guess
        known: frozenset[int] = frozenset() if av is MISSING else cells.family(av.cell)
        cells.families[cell] = known | guess.families.get(slot, frozenset())
        if slot in guess.detached or (av is not MISSING and av.cell in cells.detached):
            cells.detached.add(cell)
        content = MISSING if av is MISSING else self.entry.heap.get(av.cell, MISSING)
        end = guess.ends.get(("content", slot), MISSING)
        self.head.heap[cell] = self.general_content(content, end, ("h", *slot), cell)
        return True

    def general_content(self, content: Any, end: Any, slot: Any, cell: int | None) -> Any:
        """What a carried cell holds at the top of the body."""
        for x in (content, end):
            if isinstance(x, Poison):
                return x
        sample = end if content is MISSING else content
        if sample is MISSING:
            return Poison(None, "is unknown here", self.origin)
        if type(content) is ItemOf and end is not MISSING and type(end) is not ItemOf:
            if slot not in self.guess.dynamic:
                return content  # it is found at the end that it does not stay an item
            content = self.interp.in_state(self.entry, lambda: self.interp.resolved(sample))
        if slot in self.guess.dynamic and ItemOf not in (type(content), type(end)):
            return self.run_time_list(content, end, (slot, cell))
        if is_constant(sample):
            return sample
        return join_contents(content, end, self, (slot, cell))

    def buffer(self, a: Any, b: Any, at: Any) -> Any:
        t = self.guess.types.get(at[0], UNDEF_TY) if a is MISSING else type_of(a)
        hint = self.interp.cells.names.get(at[1]) or (b if a is MISSING else a).hint
        return self.param(at[0], UNDEF if a is MISSING else a, t, hint)

    def held(self, a: Any, b: Any, at: Any, k: int) -> Any:
        return self.generalize(a, b, (*at[0], k), "")

    def unknown(self, conflict: Conflict, at: Any) -> Any:
        return Poison(None, conflict.why, conflict.origin or self.origin)

    def other_keys(self, a: Any, b: Any, at: Any) -> Any:
        if type(a) is Value:
            return self.buffer(a, b, at)
        return Poison(None, "has different keys before and in the loop", self.origin)

    def item(self, content: Any, end: Any, at: Any) -> Any:
        """The place in the list may differ from one iteration to the next."""
        slot = at[0]
        sample = end if content is MISSING else content
        if not all(x is MISSING or is_same_part(sample, x) for x in (content, end)):
            return Poison(None, "is an item of a list before the loop, or after a trip, only", self.origin)
        if sample.cell not in self.entry.heap:
            return Poison(None, "is an item of a list that each trip makes anew", self.origin)
        if end is MISSING or (content is not MISSING and structural_key(content.index) == structural_key(end.index)):
            return sample
        init = UNDEF if content is MISSING else content.index
        index = self.param((*slot, "index"), init, py_int(), "")
        sure = content is not MISSING and content.sure and end.sure
        return ItemOf(sample.cell, index, sample.root, sample.place, sample.structure, sure)

    def run_time_list(self, content: Any, end: Any, at: Any) -> Any:
        """Each of the IR lists of a list of run-time length is carried."""
        guess = self.guess
        slot, cell = at
        if type(end if content is MISSING else content) is not Columns:
            guess.dynamic.add(slot)
        known = guess.columns.get(slot)
        if known is None and type(end) is Columns:
            known = (end.structure, end.distinct)
        empty = content is MISSING or (type(content) is Items and not content.items)
        if known is None and slot in guess.dynamic and empty:
            guess.dynamic.discard(slot)  # what its items are is not known yet
            return self.general_content(content, end, slot, cell) if content is MISSING else content
        try:
            columns = self.entry_list(content, known[0] if known is not None else None, cell)
        except NoCommonStructure as error:
            return Poison(None, f"is a list that grows in a loop and {error}", self.origin)
        if columns is None:
            return Poison(None, "is a list that grows in a loop, of items that are not known", self.origin)
        if columns is not MISSING:
            structure, distinct, inits = columns.structure, columns.distinct, columns.leaves
        elif known is not None:
            structure, distinct, inits = known[0], True, (UNDEF,) * max(width(known[0]), 1)
        else:
            return Poison(None, "is unknown here", self.origin)
        if known is not None:
            distinct = distinct and known[1]
        guess.columns[slot] = (structure, distinct)
        params = []
        for k, init in enumerate(inits):
            key = (*slot, "list", k)
            t = guess.types.get(key, UNDEF_TY) if init is UNDEF else type_of(init)
            params.append(self.param(key, init, t, init.hint if type(init) is Value else ""))
        return Columns(structure, tuple(params), distinct)

    def entry_list(self, content: Any, structure: Any, cell: int | None) -> Any:
        """The columns that a list is when the loop starts; None if some of it is not known."""
        if content is MISSING:
            return MISSING
        interp = self.interp
        if type(content) is Items:
            cells = interp.cells_in(content.items)
            if any(isinstance(self.entry.heap.get(c), Poison) for c in cells):
                return None
        found = self.guess.lists.get(id(content))
        if found is None or (structure is not None and found[1].structure is not structure):
            made = self.interp.in_state(self.entry, lambda: interp.columns(content, None, structure))
            found = self.guess.lists[id(content)] = (content, made)
        columns = found[1]
        if type(content) is Items and cell is not None:
            for element in cells:
                self.head.link_view(cell, element)
            if cell in self.guess.cells:
                self.interp.in_state(self.head, lambda: interp.adopt_all(cell, content.items, columns.structure))
            else:  # another list on each trip
                interp.cells.detached.update(cells)
        return columns

    def link_heads(self) -> None:
        """Which of the new cells may share memory at the top of the body: those that do before it or after a trip."""
        origins = self.interp.cells.origins
        for slot, cell, origin in self.slot_cells:
            if slot in self.guess.origins:
                origins[cell] = origins.get(cell, frozenset()) | self.guess.origins[slot]
            if origin is not None:
                self.head.link_view(cell, origin, self.origin)
        for pair in self.guess.links:
            cells = [[x] if isinstance(x, int) else [c for s, c, _ in self.slot_cells if s == x] for x in pair]
            for x, y in itertools.product(*cells):
                self.head.link(x, y, self.origin)
