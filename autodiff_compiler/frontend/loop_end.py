"""The end of a loop's body: does it fit what its top assumed? Where it does not, the guess is widened."""

from __future__ import annotations

import ast
import collections
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..ir.core import UNDEF, Value, structural_key, type_of
from ..ir.types import ANY_LENGTH, Dim, Ty
from .avals import (
    MISSING,
    Columns,
    Conflict,
    Container,
    DictRef,
    ItemOf,
    Items,
    Maybe,
    Poison,
    Ref,
    Reference,
    items_in,
    parts_of,
    same,
)
from .handlers import Val
from .joins import Joiner, join, join_contents
from .plan import PEEL, PEEL_TWO, Action, original
from .state import LEFT_WITH, State, array_in, columns_unless_returned, shared
from .structures import NoCommonStructure, is_same_part, joined

if TYPE_CHECKING:
    from .loop_pass import LoopPass


class LoopEnd(Joiner):
    """What values are at the top of the body, joined with what they are at its end.

    `at`, in the methods of a `Joiner`, is the slot that holds the values. The results do not matter.
    """

    def __init__(self, top: LoopPass, state: State):
        self.top = top
        self.state = state
        self.interp, self.guess, self.origin, self.slot_cells = top.interp, top.guess, top.origin, top.slot_cells
        self.keys = {key: value for key, value, _ in top.params}
        self.inits = {key: init for key, _, init in top.params}
        self.exits: dict[Any, Any] = {}  # by leaf: what the parameter is at the end
        self.again = False  # the guess was too narrow
        self.kept: set[Any] = set()  # slots that were assumed to be rebound, and are not

    def here(self, compute: Callable[[], Any]) -> Any:
        """What `compute` gives in the state at the end of the body."""
        return self.interp.in_state(self.state, compute)

    def believe(self, beliefs: dict[Any, Any], key: Any, value: Any) -> None:
        """The guess was too narrow: from now on this is believed."""
        beliefs[key] = value
        self.again = True

    def believe_also(self, beliefs: dict[Any, frozenset[int]], slot: Any, more: frozenset[int]) -> None:
        """The guess was too narrow: these are possible as well."""
        self.believe(beliefs, slot, beliefs.get(slot, frozenset()) | more)

    def poisoned(self, key: Any, why: str) -> None:
        """What a cell holds at the end has no common form with what it holds at the top."""
        self.believe(self.guess.ends, key, Poison(None, why, self.origin))

    def compare(self, before: Any, heap_before: Any) -> None:
        """Widen the guess wherever the end of the body does not fit it; else note what each parameter is there."""
        guess, end = self.guess, self.state
        own = {frame.env for frame in self.interp.own_frames()}
        others = self.interp.suspended | self.interp.consumers()
        for env, names in before.items():
            if env not in end.envs:
                continue
            now = end.envs[env]
            for name in [*names, *[n for n in now if n not in names]]:
                x, y = names.get(name, MISSING), now.get(name, MISSING)
                slot = ("n", env, name)
                if (env, name) in self.top.returned:
                    x = self.top.returned[env, name]
                    if y is MISSING:
                        continue
                if (env, name) not in guess.names:
                    if x is y or (x is not MISSING and y is not MISSING and same(x, y)):
                        continue
                    # Read after the loop, or in a later iteration before it is bound there.
                    exposed = (env, name) in self.interp.exposed
                    needed = exposed or name in self.top.needed or name in LEFT_WITH
                    own_name = env in own or (env == 0 and name in LEFT_WITH)
                    if x is MISSING and not (env in others or (needed and own_name)):
                        continue
                    self.believe(guess.names, (env, name), None)
                    if type(guess.ends.get(slot)) is not Conflict:
                        guess.ends[slot] = y
                else:
                    self.match(slot, x, y)
        for cell, content in heap_before.items():
            now = end.heap.get(cell, MISSING)
            if now is content or now is MISSING:
                continue
            if cell not in self.top.entry.heap:
                continue
            if self.interp.frozen:
                self.interp.check_changed_in_loop(cell)
            if isinstance(now, Poison):
                if cell not in guess.poisoned:
                    self.believe(guess.poisoned, cell, now)
                continue
            if cell not in guess.cells:
                guess.cells[cell] = None
                self.believe(guess.ends, ("c", cell), now)
            else:
                self.match_content(("c", cell), content, now, cell)
        self.compare_links()

    def match(self, slot: Any, head: Any, end: Any) -> None:
        """Does the end value of a slot fit what the top of the body assumed?"""
        guess = self.guess
        self.interp.budget.tick(self.interp.builder.loc)
        if type(head) is Conflict or head is MISSING:
            if type(head) is Conflict and slot not in guess.ends and end is not MISSING and type(end) is not Conflict:
                self.clash(head, end, slot)
            return
        if type(end) is Conflict:
            self.clash(head, end, slot)
            return
        if type(head) is Maybe or type(end) is Maybe or end is MISSING:
            if type(head) is not Maybe:
                self.clash(head, end if type(end) is Maybe else Maybe(head, False), slot)
                return
            self.exits[(*slot, "bound")] = end.flag if type(end) is Maybe else end is not MISSING
            if end is not MISSING:
                self.match(slot, head.av, end.av if type(end) is Maybe else end)
            return
        origins = [origin for s, _, origin in self.slot_cells if s == slot]
        if same(head, end) and not parts_of(head):
            if not origins:
                return
            if origins[0] is not None and slot not in guess.rebound and slot not in guess.kept:
                self.kept.add(slot)
                self.again = True
                return
            # It keeps the buffer that it has at the top of the body, but what is in there may change.
        if isinstance(head, Reference) and not guess.is_rebound(slot) and not origins:
            guess.rebound.add(slot)
            if not (head.kin(end) if isinstance(head, Container) else type(end) is Ref):
                guess.ends[slot] = end
            self.again = True
            return
        join(head, end, self, slot)

    def part(self, a: Val, b: Val, at: Any, k: int) -> Any:
        self.match((*at, k), a, b)
        return a

    def clash(self, a: Val, b: Val, at: Any) -> Any:
        self.believe(self.guess.ends, at, b)
        return a

    def number(self, a: Val, b: Val, at: Any) -> Any:
        if type(a) is Value:
            self.fits(at, a, b)
            return a
        return self.clash(a, b, at)

    def array(self, a: Val, b: Val, at: Any) -> Any:
        if type(a) is not Ref:
            return self.clash(a, b, at)
        value = array_in(self.interp, self.state, b, self.top.code) if type(b) is Ref else b
        if isinstance(value, Poison) or value is None:
            why = "is unknown after a store to a possible alias of it"
            return self.clash(a, Conflict(why, self.origin), at)
        leaf = ("r", *at)
        if leaf in self.keys:
            self.fits(leaf, self.keys[leaf], value)
        return a

    def container(self, a: Val, b: Val, at: Any) -> Any:
        cells = self.interp.cells
        if type(a) is DictRef and not cells.dict_classes(b.cell) <= cells.dict_classes(a.cell):
            self.believe_also(self.guess.families, at, frozenset({b.cell}))
        content = self.top.head_snapshot.heap.get(a.cell)
        now = self.listed(at, self.state.heap.get(b.cell, MISSING), content)
        if ("content", at) not in self.guess.ends and content is not now:
            self.guess.ends["content", at] = now
        self.match_content(("h", *at), content, now, b.cell, ("content", at))
        return a

    def match_content(self, slot: Any, head: Any, now: Any, cell: int, noted: Any = None) -> None:
        """Does what a cell holds at the end fit what the top of the body assumed? `noted`: its key among the ends."""
        guess = self.guess
        noted = noted or slot
        if isinstance(head, Poison) or head is now:
            return
        if now is MISSING:
            self.poisoned(noted, "is unknown here")
            return
        if isinstance(now, Poison):
            self.believe(guess.ends, noted, now)
            return
        join_contents(head, now, self, (slot, cell, noted, now))

    def buffer(self, a: Any, b: Any, at: Any) -> Any:
        if type(a) is not Value:
            self.other_keys(a, b, at)
        elif type(b) is Value:
            self.fits(at[0], a, b)

    def held(self, a: Any, b: Any, at: Any, k: int) -> Any:
        self.match((*at[0], k), a, b)
        if self.again:
            self.guess.ends[at[2]] = at[3]

    def other_keys(self, a: Any, b: Any, at: Any) -> Any:
        if type(a) is not Value:
            self.poisoned(at[2], "gets other keys in a loop")

    def listed(self, slot: Any, now: Any, head: Any) -> Any:
        """What a name leads to at the end: if it is an item of a list, as one where that is possible."""
        if type(now) is not ItemOf or type(head) is ItemOf:
            return now
        origin = next((o for s, _, o in self.slot_cells if s == slot), None)
        before = MISSING if origin is None else self.top.entry.heap.get(origin)
        fits = before is MISSING or (type(before) is ItemOf and (before.cell, before.place) == (now.cell, now.place))
        if fits and now.cell in self.top.entry.heap and slot not in self.guess.items:
            self.guess.items.add(slot)
            self.believe(self.guess.ends, ("content", slot), now)
        return self.here(lambda: self.interp.resolved(now))

    def item(self, head: Any, now: Any, at: Any) -> Any:
        guess = self.guess
        slot, _, noted, _ = at
        if is_same_part(head, now):
            if (*slot, "index") in self.keys:
                self.exits[(*slot, "index")] = now.index
                return
            if structural_key(head.index) == structural_key(now.index):
                return
        if type(now) is ItemOf and noted not in guess.ends:
            self.believe(guess.ends, noted, now)
        else:
            self.poisoned(noted, "is an item of a list, not always the same")

    def run_time_list(self, head: Any, now: Any, at: Any) -> Any:
        try:
            self.match_lists(head, now, *at[:3])
        except NoCommonStructure as error:
            self.poisoned(at[2], f"is a list that grows in a loop and {error}")

    def match_lists(self, head: Any, now: Any, slot: Any, cell: int, noted: Any) -> None:
        """Does a list at the end fit the one at the top? At least one of them is of run-time length."""
        guess = self.guess
        if type(head) is Items:
            guess.dynamic.add(slot)
            self.believe(guess.ends, noted, now)
            structure = self.here(lambda: self.interp.items_structure(now))
            if type(now) is Columns or now.items:
                guess.columns[slot] = (structure, type(now) is Items or now.distinct)
            else:
                guess.columns.pop(slot, None)
            return
        if slot not in guess.columns:
            return  # it shares its cell with another slot, which is looked at
        known, distinct = guess.columns[slot]
        empty = type(now) is Items and not now.items
        wider = joined(known, known if empty else self.here(lambda: self.interp.items_structure(now)))
        columns = self.end_columns(now, known) if wider is known else None
        if columns is None:
            self.poisoned(noted, "is a list that grows in a loop, of items that are not known")
            return
        if type(now) is Items:
            for element in self.interp.cells_in(now.items):
                self.state.link_view(cell, element)
        if distinct and not columns.distinct:
            self.believe(guess.columns, slot, (known, False))
        for k, (x, y) in enumerate(zip(head.leaves, columns.leaves)):
            self.fits((*slot, "list", k), x, y)

    def end_columns(self, content: Any, structure: Any) -> Columns | None:
        """The columns that a list is at the end of the body."""
        if type(content) not in (Items, Columns):
            return None
        return self.here(lambda: columns_unless_returned(self.interp, content, structure, self.top.code))  # type: ignore[no-any-return]

    def fits(self, key: Any, head: Value, end: Any) -> None:
        """Note what a parameter is at the end, and widen its type to cover that."""
        guess = self.guess
        if key in self.keys:
            self.exits[key] = end
        dims = self.interp.builder.dims
        if key not in guess.types:
            return  # it shares its cell with another slot, which is looked at
        old, new = guess.types[key], type_of(end)
        if key in self.inits and head is not end and head.type.dims is None and end is not None:
            self.differs_later(head, self.inits[key])
        if head is end or new == old:
            return
        joined, varies = guess.widened(key, old, new, dims)
        if joined.dims is None and old.dims is not None and new.kind != "undef":
            self.differs_later(head, head)
        self.again = self.again or varies
        if joined.kind == "list" and joined.elem is not None and joined.elem.dims is not None:
            joined = Ty("list", elem=self.settled_element(old.elem, new.elem, joined.elem))
        if joined != old:
            self.believe(guess.types, key, joined)

    def differs_later(self, head: Value, before: Any) -> None:
        """It has another number of axes after a trip than `before` the first, or was None there. The first trip is
        lowered apart, if the body reads it. Arithmetic does not mind if a number becomes an array."""
        loop = original(self.origin.node)
        if before is UNDEF or (before is not None and type_of(before).dims is None):
            return
        readers = [op.prim for op in self.top.region.walk() if any(v is head for v in op.operands())]
        apart = self.interp.loc_of(self.origin.node) in self.interp.plan.apart
        if before is not None and type_of(before).is_scalar and not apart:
            readers = [prim for prim in readers if not prim.elementwise]
        if readers and self.interp.plan.peels and isinstance(loop, (ast.For, ast.While)):
            again = self.interp.plan.has(PEEL, loop)  # None, then one state, then a stack of them
            self.interp.plan.require([Action(PEEL_TWO if again else PEEL, loop)], None)

    def settled_element(self, old: Ty | None, new: Ty | None, joined: Ty) -> Ty:
        """The type of a list's elements without lengths that hold of one trip only."""
        dims = self.interp.builder.dims
        known = [t.dims for t in (old, new) if t is not None]
        assert joined.dims is not None
        if any(d is None or len(d) != len(joined.dims) for d in known):
            return replace(joined, dims=None)
        shape: list[Any] = []
        for k in range(len(joined.dims)):
            lengths = [d[k] for d in known if d is not None]
            local = any(
                isinstance(n, Dim) and n.root > self.top.root_limit and not dims.is_argument(n) for n in lengths
            )
            shape.append(ANY_LENGTH if local or not all(dims.same(lengths[0], n) for n in lengths) else lengths[0])
        return replace(joined, dims=tuple(shape))

    def compare_links(self) -> None:
        """Names that got the same buffer, or linked ones, at the end have to be linked at the top."""
        guess, end = self.guess, self.state
        ends = []
        unknown = set()
        for slot, cell, _ in self.slot_cells:
            av = self.end_of(slot)
            if av is not None:
                ends.append((slot, cell, av))
            else:
                unknown.add(cell)
                self.link_part_of_item(slot, cell)
        for slot, cell, _ in ends:
            # One that shares its cell with one of which the end is not known must not follow that.
            if cell in unknown and guess.partition.get(slot) != slot:
                self.believe(guess.partition, slot, slot)
        for slot, cell, av in ends:
            origins = self.interp.cells.origins
            found = origins.get(av.cell, frozenset()) - origins.get(cell, frozenset())
            if found:
                self.believe_also(guess.origins, slot, found)
            if av.cell in self.interp.cells.detached and slot not in guess.detached and type(av) is not Ref:
                guess.detached.add(slot)
                self.again = True
            if type(av) is not Ref:
                known = frozenset(c for c in self.interp.cells.family(av.cell) if c <= self.top.cell_limit)
                if not known <= self.interp.cells.family(cell):
                    self.believe_also(guess.families, slot, known - self.interp.cells.family(cell))
            # Names whose head cell is one must have one buffer at the end as well.
            mark: Any = (av.cell, structural_key(getattr(av, "path", ())))
            peers = [(s, a) for s, c, a in ends if c == cell and s != slot]
            if any((a.cell, structural_key(getattr(a, "path", ()))) != mark for _, a in peers):
                if guess.partition.get(slot) != slot:
                    self.believe(guess.partition, slot, slot)
        entry, links = self.top.entry.heap, self.top.head_snapshot.links
        stands = collections.defaultdict(list)
        for slot, cell, av in ends:
            stands[av.cell].append((slot, cell))
        for cell in [c for c in {*stands, *end.links} if c in entry]:
            stands[cell].append((cell, cell))
        for (a, x), (b, y), *_ in shared(end.links, stands):
            if x != y and y not in links.get(x, ()) and not guess.links & {(a, b), (b, a)}:
                guess.links.add((a, b))
                self.again = True

    def link_part_of_item(self, slot: Any, cell: int) -> None:
        """A part of what is an item of a list at the end, and a container of its own at the top: a store into it may be
        one into what the list holds."""
        end, steps = self.state, slot
        while steps[0] == "h":
            steps = steps[1:]
        if steps[0] != "n":
            return
        for n in range(3, len(steps)):
            outer = self.end_of(steps[:n])
            item = None if outer is None else end.heap.get(outer.cell)
            if type(item) is not ItemOf:
                continue
            for other in {item.cell, *end.links.get(item.cell, ()), *end.links.get(outer.cell, ())}:
                if other in self.top.entry.heap and other != cell and (slot, other) not in self.guess.links:
                    self.guess.links.add((slot, other))
                    self.again = True

    def end_of(self, slot: Any) -> Any:
        """The reference that a slot holds at the end of the body: a name, or a part of what a name leads to."""
        end = self.state
        while slot[0] == "h":
            slot = slot[1:]
        if slot[0] == "n":
            av = end.envs.get(slot[1], {}).get(slot[2])
            rest = slot[3:]
        else:
            items = items_in(end.heap.get(slot[1]))
            av = items[slot[2]] if isinstance(slot[2], int) and slot[2] < len(items) else None
            rest = slot[3:]
        for k in rest:
            av = av.av if type(av) is Maybe else av
            parts = items_in(end.heap.get(av.cell)) if isinstance(av, Container) else parts_of(av)
            av = parts[k] if isinstance(k, int) and k < len(parts) else None
        av = av.av if type(av) is Maybe else av
        return av if isinstance(av, Reference) else None
