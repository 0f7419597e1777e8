"""Lists of which the length, or the place that is asked for, is known at run time only.

There is one IR list for each leaf of the structure of an item ("structure of arrays", see `structures`). An item that
is a container or an array stays one object, as in Python: a cell that holds `ItemOf` is read from the list, and what is
stored into it is stored into the list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import AliasError
from ..ir.core import Prim, Value
from ..ir.opset import LEN, LIST_APPEND, LIST_GET, LIST_NEW, LIST_SET, SLICE_BOUND
from ..records import replaced
from .avals import (
    Columns,
    Entries,
    Instance,
    ItemOf,
    Items,
    ListRef,
    Maybe,
    OneShot,
    Poison,
    Ref,
    describe,
    is_composite,
    is_number,
    is_reference,
    is_static_int,
    items_in,
    parts_of,
    same_keys,
)
from .causes import actions_for
from .disturbed import Disturbances
from .structures import (
    LEAF,
    Leaf,
    ListOf,
    NoCommonStructure,
    Node,
    Static,
    content_of,
    covers,
    joined,
    operands_of,
    placed,
    places_in,
    structure_of,
    width,
)

CHANGED = "is an item of a list that was changed"


class ListColumns(Disturbances):
    """Reading and changing items of lists of run-time length."""

    # --- structures --------------------------------------------------------------------------------------------------

    def item_structure(self, av: Any) -> Any:
        """The structure of an item; raises `NoCommonStructure`."""
        return structure_of(self, av, self.item_leaf)

    def item_leaf(self, av: Any) -> Any:
        """The structure of what is one IR list, a list of run-time length, or the same in all items; or else None."""
        if type(av) is Maybe:
            if av.flag is not True:
                raise NoCommonStructure("has items that are not bound on all paths")
            return self.item_structure(av.av)
        if type(av) is Value or is_number(av) or type(av) is Ref:
            return LEAF
        if not is_reference(av):
            return None
        if type(av) is Instance and av.cls is OneShot:
            return Static(av)
        content = self.content(av.cell)
        if isinstance(content, Poison):
            raise NoCommonStructure(content.why)
        if type(content) is Columns:
            return ListOf(content.structure)
        items = content.items if type(content) is Items else (None,)
        numbers = all(is_number(x) or (type(x) is Value and x.type.is_scalar) for x in items)
        return ListOf(LEAF) if numbers else None

    def items_structure(self, content: Any) -> Any:
        """The structure of the items of a list."""
        if type(content) is Columns:
            return content.structure
        structure: Any = None
        for item in content.items:
            one = self.item_structure(item)
            structure = one if structure is None else joined(structure, one)
        return LEAF if structure is None else structure

    def item_operands(self, structure: Any, av: Any, node: Any) -> list[Any]:
        """What an item of this structure adds to each of the IR lists."""

        def leaf(sub: Any, x: Any) -> list[Any]:
            if type(sub) is Leaf:
                return [self.operand(x, node)]
            return list(self.columns(self.content(x.cell), node, sub.item).leaves)

        return operands_of(self, structure, av, leaf)

    def content_operands(self, structure: Any, content: Any, node: Any) -> list[Any]:
        """The same for what an item that is a container or an array holds."""
        if type(structure) is Leaf:
            return [content]
        if type(structure) is ListOf:
            return list(self.columns(content, node, structure.item).leaves)
        if type(content) not in (Items, Entries) or len(content.items) != len(structure.parts):
            raise NoCommonStructure("changes its length")
        return [x for sub, part in zip(structure.parts, content.items) for x in self.item_operands(sub, part, node)]

    def columns(self, content: Any, node: Any, structure: Any = None) -> Columns:
        """What a list holds as columns; raises `NoCommonStructure`."""
        if type(content) is Columns:
            if structure is not None and not covers(structure, content.structure):
                raise NoCommonStructure("has items of different kinds")
            return content
        if structure is None:
            structure = self.items_structure(content)
        elif not covers(structure, self.items_structure(content)) and content.items:
            raise NoCommonStructure("has items of different kinds")
        rows = [self.item_operands(structure, x, node) or [0] for x in content.items]
        leaves = [self.emit(node, LIST_NEW, tuple([row[k] for row in rows])) for k in range(max(width(structure), 1))]
        return Columns(structure, tuple(leaves), self.are_distinct(content.items))

    def are_distinct(self, avs: Any) -> bool:
        """No two of these share something that may change in place."""
        seen: set[int] = set()
        for av in avs:
            mine = set(self.cells_in([av]))
            if mine & seen:
                return False
            seen |= mine | {other for cell in mine for other in self.state.links.get(cell, ())}
        return True

    # --- reading --------------------------------------------------------------------------------------------------

    def item_at(self, base: ListRef, index: Any, node: Any) -> Any:
        """``base[index]`` for an index that is known at run time only, or a list of run-time length."""
        columns = self.list_columns(base, node, index)
        self.emit(node, LIST_GET, columns.leaves[0], index)  # raises where there is no such item
        return self.item_part(base.cell, index, columns, columns.structure, 0, node)

    def list_columns(self, base: ListRef, node: Any, cause: Any = None) -> Columns:
        try:
            return self.columns(self.checked(base.cell, node, "list"), node)
        except NoCommonStructure as error:
            what = f"an item of a list that {error} is asked for by an index known at run time only"
            self.fail(what, node, "index with a literal, or loop over the list itself", cause=cause)

    def item_part(self, owner: int, index: Any, columns: Columns, structure: Any, place: int, node: Any) -> Any:
        """A part of an item, that stays the one in the list."""
        if type(structure) is Static:
            return structure.av
        if type(structure) is Node and is_composite(structure.sample):
            parts = [self.item_part(owner, index, columns, sub, at, node) for sub, at in placed(structure, place)]
            return structure.sample.with_parts(parts)
        if type(structure) is Leaf:
            value = self.emit(node, LIST_GET, columns.leaves[place], index)
            if type(value) is not Value or value.type.is_scalar or value.type.kind in ("shape", "object"):
                return value
        self.note_index(owner, index)
        cell = self.new_cell(ItemOf(owner, index, columns.structure, place, structure))
        self.share(cell, self.cells_in([ListRef(owner)]))  # it is one of those in the list
        return self.reference(structure, cell)

    def reference(self, structure: Any, cell: int) -> Any:
        if type(structure) is Leaf:
            return Ref(cell)
        return ListRef(cell) if type(structure) is ListOf else structure.sample.to(cell)

    def resolved(self, item: ItemOf) -> Any:
        """What a cell holds that is an item of a list."""
        content = self.content(item.cell)
        if isinstance(content, Poison):
            return content
        try:
            columns = self.columns(content, None)
        except NoCommonStructure as error:
            return Poison(None, f"is an item of a list that {error}")
        if not covers(columns.structure, item.root):
            return Poison(None, "is an item of a list whose items have changed their kind")
        part = lambda sub, at: self.item_part(item.cell, item.index, columns, sub, at, None)
        return self.part_content(columns, item.index, item.structure, item.place, part)

    def part_content(self, columns: Columns, index: Any, structure: Any, place: int, part: Callable[..., Any]) -> Any:
        """What a container or an array holds that is a part of an item; ``part(structure, place)`` gives its parts."""
        if type(structure) is Node:
            return content_of(structure.keys, [part(sub, at) for sub, at in placed(structure, place)])
        leaves = [self.emit(None, LIST_GET, x, index) for x in columns.leaves[place : place + width(structure)]]
        return leaves[0] if type(structure) is Leaf else Columns(structure.item, tuple(leaves), columns.distinct)

    # --- changing -------------------------------------------------------------------------------------------------

    def write(self, cell: int, content: Any, node: Any, in_array: bool = False) -> None:
        """Let a cell hold something else; an item of a list changes in the list."""
        item = self.state.heap.get(cell)
        if type(item) is not ItemOf:
            self.state.heap[cell] = content
            return
        columns = self.made_columns(ListRef(item.cell), node)
        if not columns.distinct:
            what = "unprovable alias: items of this list may be one and the same, so what else changes is not known"
            self.fail(what, node, "make each item a new one, for instance with .copy()", AliasError, item.index)
        try:
            operands = self.content_operands(item.structure, content, node)
            fits = covers(columns.structure, item.root)
        except NoCommonStructure:
            fits = False
        if not fits or (type(item.structure) is Node and not same_keys(content.keys, item.structure.keys)):
            what = "an item of a list of run-time length changes its length, its keys, or what kind they lead to"
            self.fail(what, node, "give all items all that they will hold from the start", cause=item.index)
        leaves = list(columns.leaves)
        if type(item.structure) is Node:
            self.forget_replaced(cell, item, operands, leaves, node)
        for k, value in enumerate(operands, item.place):
            if value is not self.emit(node, LIST_GET, leaves[k], item.index):
                leaves[k] = self.emit(node, LIST_SET, leaves[k], item.index, value)
        distinct: bool = columns.distinct
        for part in items_in(content):
            distinct = self.taken(item.cell, part, item) and distinct
        in_array = in_array or type(item.structure) is Leaf
        self.write(item.cell, Columns(columns.structure, tuple(leaves), distinct), node, in_array)
        self.state.poison(item.cell, self.loc_of(node), in_array)

    def taken(self, owner: int, av: Any, item: ItemOf | None = None) -> bool:
        """Something becomes part of an item of a list: note what it may share; False if that is with other items."""
        distinct = True
        for cell in self.cells_in([av]):
            held = self.state.heap.get(cell)
            if item is not None and type(held) is ItemOf and (held.cell, held.index) == (item.cell, item.index):
                continue  # what was there before
            if cell == owner or owner in self.state.links.get(cell, ()):
                distinct = False
            if cell != owner:
                self.share(owner, [cell])
        return distinct

    def adopt(self, owner: int, av: Any, index: Any, root: Any) -> None:
        """From now on the containers and arrays in `av` are the ones in the list."""
        self.note_index(owner, index)
        self.adopt_part(owner, av, index, root, root, 0)

    def adopt_part(self, owner: int, av: Any, index: Any, root: Any, structure: Any, place: int) -> None:
        if type(structure) is Node and is_composite(structure.sample):
            for (sub, at), part in zip(placed(structure, place), parts_of(av)):
                self.adopt_part(owner, part, index, root, sub, at)
            return
        if type(structure) is Static or not hasattr(av, "cell") or type(self.state.heap.get(av.cell)) is ItemOf:
            return
        if type(structure) is Leaf:
            alone = not av.path and av.cell in self.cells.numpy and av.cell not in self.cells.origins
            if not alone or self.state.links.get(av.cell, frozenset()) - {owner}:
                return
        elif type(structure) is Node:
            content = self.content(av.cell)
            if isinstance(content, Poison):
                return
            for (sub, at), part in zip(placed(structure, place), content.items):
                self.adopt_part(owner, part, index, root, sub, at)
        self.state.heap[av.cell] = ItemOf(owner, index, root, place, structure)

    def made_columns(self, base: ListRef, node: Any) -> Columns:
        """What a list holds, which from now on is columns."""
        content = self.checked(base.cell, node, "list")
        if type(content) is Columns:
            return content
        held = self.state.heap.get(base.cell)
        if type(held) is ItemOf:
            what = "a store by an index known at run time only into a list in a list"
            self.fail(what, node, "use an array", cause=held.index)
        columns = self.list_columns(base, node)
        self.state.heap[base.cell] = columns
        for journal in self.journals:
            journal.listed.setdefault(base.cell, content)
        for item in content.items:
            self.taken(base.cell, item)
        self.adopt_all(base.cell, content.items, columns.structure)
        return columns

    def adopt_all(self, owner: int, items: tuple[Any, ...], structure: Any) -> None:
        for k, item in enumerate(items):
            self.adopt(owner, item, k, structure)

    def forget_items(self, cell: int, node: Any, which: Callable[[int, ItemOf], bool] = lambda c, held: True) -> None:
        """Before the items of a list move, or others take their places: what refers to one keeps what it is now."""

        def found() -> list[int]:
            held = self.state.heap.items()
            return [c for c, x in held if type(x) is ItemOf and x.cell == cell and c != cell and which(c, x)]

        self.let_go(found, CHANGED, node)

    def note_index(self, owner: int, index: Any) -> None:
        """Something refers to the item of a list at this index."""
        if not self.counts_from_start(index):
            self.cells.from_end.add(owner)

    def counts_from_start(self, index: Any) -> bool:
        """An index is surely not negative."""
        if type(index) is not Value:
            return is_static_int(index) and index >= 0
        return index in self.cells.counted or (index.op is not None and index.op.prim is LEN)

    def count_from_start(self, cell: int, node: Any) -> None:
        """Before a list grows at its end, what refers to ``l[-1]`` gets the number that this item has now."""
        if cell not in self.cells.from_end:
            return
        for c, held in list(self.state.heap.items()):
            if type(held) is ItemOf and held.cell == cell and not self.counts_from_start(held.index):
                n = self.length(ListRef(cell), node)
                index = self.emit(node, SLICE_BOUND, 0, n, held.index, None, None)
                self.cells.counted.add(index)
                self.state.heap[c] = replaced(held, index=index)

    def let_go(self, found: Callable[[], list[int]], why: str, node: Any) -> dict[int, Any]:
        """Cells that are items of a list hold from now on, for themselves, what they hold now; what that is. Of one
        that is a container the parts are such items then, so ``found()`` is asked again."""
        kept: dict[int, Any] = {}
        while cells := found():
            for cell in cells:
                item = self.state.heap[cell]
                kept[cell] = self.resolved(item) if item.sure else Poison(self.loc_of(node), why)
                self.state.heap[cell] = kept[cell]
                self.cells.detached.add(cell)
        return kept

    def forget_replaced(self, cell: int, item: ItemOf, operands: list[Any], leaves: list[Any], node: Any) -> None:
        """Before a part of an item is replaced by another array or container: what refers to the old one keeps it."""
        kinds: set[tuple[int, type]] = set()
        for sub, at in placed(item.structure, item.place):
            new = operands[at - item.place :][: width(sub)]
            if any(x is not self.emit(node, LIST_GET, leaf, item.index) for x, leaf in zip(new, leaves[at:])):
                kinds.update(places_in(sub, at))
        self.forget_items(item.cell, node, lambda c, held: c != cell and (held.place, type(held.structure)) in kinds)

    def forget_parts(self, cell: int, content: Any, node: Any) -> None:
        """The same where it is known which container changes: it may be that of which a list's item has this part."""
        old = self.held(cell)
        if type(old) not in (Items, Entries) or not self.state.links.get(cell):
            return
        stays = type(content) is type(old) and same_keys(content.keys, old.keys)
        kept = content.items if stays and len(content.items) == len(old.items) else (None,) * len(old.items)
        if not self.cells_in([x for x, y in zip(old.items, kept) if x is not y]):
            return
        heap = self.state.heap

        def found() -> list[int]:
            linked = self.state.links.get(cell, ())
            return [c for c in linked if type(x := heap.get(c)) is ItemOf and not self.may_be(x.structure, old)]

        self.let_go(found, "may be a part of what was changed", node)

    def may_be(self, structure: Any, content: Any) -> bool:
        """An item of this structure, or a part of one, may be the container that holds this."""
        if type(structure) is ListOf:
            return type(content) is Items
        if type(structure) is not Node or len(structure.parts) != len(content.items):
            return False
        if not same_keys(structure.keys, content.keys):
            return False
        try:
            return all(covers(sub, self.item_structure(part)) for sub, part in zip(structure.parts, content.items))
        except NoCommonStructure:
            return False

    def append_to_list(self, ref: ListRef, item: Any, node: Any) -> None:
        content = self.checked(ref.cell, node, "list")
        if type(content) is Items:
            self.budget.spend(self.builder.loc)
            own = self.own_items(ref.cell, item, node)
            self.mutate(ref.cell, Items((*content.items, item)), node, keeps_items=True)
            self.state.heap.update(own)  # what they hold is not changed by that
            return
        operands = self.fitting(ref, content, item, node)
        index = self.emit(node, LEN, content.leaves[0])
        leaves = [self.emit(node, LIST_APPEND, leaf, x) for leaf, x in zip(content.leaves, operands)]
        self.mutate(ref.cell, content.changed(leaves, self.taken(ref.cell, item)), node, keeps_items=True)
        self.adopt(ref.cell, item, index, content.structure)

    def own_items(self, cell: int, av: Any, node: Any) -> dict[int, Any]:
        """What the cells of `av` that are items of this list hold: from now on for themselves, not as such items."""
        heap = self.state.heap

        def found() -> list[int]:
            return [c for c in self.cells_in([av]) if type(x := heap.get(c)) is ItemOf and x.cell == cell]

        return self.let_go(found, CHANGED, node)

    def fitting(self, base: ListRef, columns: Columns, item: Any, node: Any, index: Any = None) -> list[Any]:
        """The operands for an item that goes into a list of run-time length. index: what made it one, if it is not
        known: a store into ``[None] * 3``, in a loop that can be unrolled."""
        try:
            if covers(columns.structure, self.item_structure(item)):
                return self.item_operands(columns.structure, item, node) or [0]
            why = "items of one kind, with the same keys"
        except NoCommonStructure as error:
            why = f"items that fit; this one {error}"
        what = f"{describe(item)} goes into a list whose length is known at run time only; such a list needs {why}"
        cause = index if type(index) is Value and actions_for(self, index) else base
        self.fail(what, node, "use one list for each kind of thing", cause=cause)

    def set_item(self, base: ListRef, index: Any, item: Any, node: Any) -> None:
        """``base[index] = item`` where that, or the length, is known at run time only."""
        columns = self.put_item(LIST_SET, base, index, item, node)
        self.adopt(base.cell, item, index, columns.structure)

    def put_item(self, prim: Prim, base: ListRef, index: Any, item: Any, node: Any) -> Columns:
        """Put an item into a list, by this operation on each of its IR lists; what the list was before."""
        columns = self.made_columns(base, node)
        operands = self.fitting(base, columns, item, node, index)
        self.forget_items(base.cell, node)
        leaves = [self.emit(node, prim, leaf, index, x) for leaf, x in zip(columns.leaves, operands)]
        changed = columns.changed(leaves, self.taken(base.cell, item))
        self.mutate(base.cell, changed, node, resized=prim is not LIST_SET)
        return columns

    def one_of(self, items: tuple[Any, ...], index: Any, node: Any) -> Any:
        """The item of a tuple at an index that is known at run time only."""
        try:
            columns = self.columns(Items(items), node)
        except NoCommonStructure as error:
            what = f"a tuple is indexed by a number known at run time only, and it {error}"
            self.fail(what, node, "use a list", cause=index)
        sharing = self.cells_in(items)
        families = frozenset().union(*map(self.cells.family, sharing))
        return self.detached(columns, index, sharing, families)

    def detached(self, columns: Columns, index: Any, sharing: list[int], families: frozenset[int] = frozenset()) -> Any:
        """An item that is in the list no more; it may share memory with the cells `sharing`."""

        def part(structure: Any, place: int) -> Any:
            if type(structure) is Static:
                return structure.av
            if type(structure) is Node and is_composite(structure.sample):
                return structure.sample.with_parts([part(sub, at) for sub, at in placed(structure, place)])
            content = self.part_content(columns, index, structure, place, part)
            if type(content) is Value and (content.type.is_scalar or content.type.kind in ("shape", "object")):
                return content
            cell = self.new_cell(content)
            self.cells.detached.add(cell)
            if families:
                self.cells.families[cell] = families | {cell}
            self.share(cell, sharing)
            return self.reference(structure, cell)

        return part(columns.structure, 0)
