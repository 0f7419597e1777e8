"""Lists of run-time length get longer and shorter: one operation on each of the IR lists that they are."""

from __future__ import annotations

from typing import Any

from ..ir.core import Value
from ..ir.opset import (
    LEN,
    LIST_CUT,
    LIST_DROP,
    LIST_GET,
    LIST_INSERT,
    LIST_SLICE,
    LIST_SPLICE,
    SLICE_BOUND,
)
from .avals import Columns, ListRef, is_composite, is_static_int
from .columns import ListColumns
from .structures import Leaf, NoCommonStructure, Node, Static, placed


class Splices(ListColumns):
    """Inserting, deleting and slicing."""

    # --- one item -------------------------------------------------------------------------------------------------

    def insert_item(self, av: ListRef, index: Any, item: Any, node: Any) -> None:
        """``av.insert(index, item)`` where that, or the length, is known at run time only."""
        columns = self.put_item(LIST_INSERT, av, index, item, node)
        if is_static_int(index) and index == 0:
            self.adopt(av.cell, item, 0, columns.structure)

    def pop_item(self, av: ListRef, index: Any, node: Any) -> Any:
        """``av.pop(index)`` where that, or the length, is known at run time only."""
        columns = self.made_columns(av, node)
        likes = [self.emit(node, LIST_GET, leaf, index) for leaf in columns.leaves]
        sharing = [] if columns.distinct else [av.cell]
        item = self.detached(columns, index, [*sharing, *self.state.links.get(av.cell, ())])
        self.forget_items(av.cell, node)
        leaves = [self.emit(node, LIST_DROP, leaf, index, x) for leaf, x in zip(columns.leaves, likes)]
        self.mutate(av.cell, columns.changed(leaves), node)
        return item

    # --- slices ---------------------------------------------------------------------------------------------------

    def sliced(self, av: ListRef, bounds: list[Any], node: Any) -> ListRef:
        """``av[start:stop:step]`` where one of these, or the length, is known at run time only."""
        columns = self.list_columns(av, node, next((b for b in bounds if type(b) is Value), None))
        leaves = [self.emit(node, LIST_SLICE, leaf, *bounds) for leaf in columns.leaves]
        out = ListRef(self.new_cell(columns.changed(leaves)))
        self.share_items(out.cell, av, columns)
        return out

    def share_items(self, cell: int, source: ListRef, columns: Columns) -> None:
        """A list holds items of another, which are these columns."""
        if not holds_numbers(columns, columns.structure):
            self.share(cell, self.cells_in([source]))

    def splice(self, av: ListRef, at: Any, source: ListRef, node: Any) -> None:
        """``av[at:at] = source``, at the end where `at` is None. The source is another list, of run-time length."""
        columns = self.made_columns(av, node)
        try:
            new = self.columns(self.checked(source.cell, node, "list"), node, columns.structure)
        except NoCommonStructure:
            what = "items go into a list whose length is known at run time only; such a list needs items of one kind"
            self.fail(f"{what}, with the same keys", node, "use one list for each kind of thing", cause=[source, av])
        shares = not all(holds_numbers(x, x.structure) for x in (columns, new))
        known = self.state.links.get(av.cell, frozenset()) | {av.cell}
        apart = not shares or (new.distinct and known.isdisjoint(self.cells_in([source])))
        if at is not None:
            self.forget_items(av.cell, node)
        leaves = [self.emit(node, LIST_SPLICE, leaf, at, x) for leaf, x in zip(columns.leaves, new.leaves)]
        if shares:
            self.share_items(av.cell, source, new)
        self.mutate(av.cell, columns.changed(leaves, apart), node, keeps_items=at is None)

    def cut(self, av: ListRef, start: Any, stop: Any, node: Any) -> None:
        """``del av[start:stop]``."""
        columns = self.made_columns(av, node)
        self.forget_items(av.cell, node)
        parts = [self.emit(node, LIST_SLICE, leaf, start, stop, None) for leaf in columns.leaves]
        leaves = [self.emit(node, LIST_CUT, leaf, start, stop, part) for leaf, part in zip(columns.leaves, parts)]
        self.mutate(av.cell, columns.changed(leaves), node)

    def replace_slice(self, av: ListRef, start: Any, stop: Any, source: ListRef | None, node: Any) -> None:
        """``av[start:stop] = source``."""
        at = start
        if start is None:
            at = 0
        elif not is_static_int(start) or start < 0:
            n = self.emit(node, LEN, self.made_columns(av, node).leaves[0])
            at = self.emit(node, SLICE_BOUND, 0, n, start, None, None)
        self.cut(av, at, stop, node)
        if source is not None:
            self.splice(av, at, source, node)

    def reverse_items(self, av: ListRef, node: Any) -> None:
        columns = self.made_columns(av, node)
        self.forget_items(av.cell, node)
        leaves = [self.emit(node, LIST_SLICE, leaf, None, None, -1) for leaf in columns.leaves]
        self.mutate(av.cell, columns.changed(leaves), node, resized=False)


def holds_numbers(columns: Columns, structure: Any, place: int = 0) -> bool:
    """Items are numbers, and tuples of such, in this part of them: nothing that may change in place."""
    if type(structure) is Leaf:
        elem = columns.leaves[place].type.elem
        return elem is None or bool(elem.is_scalar)
    if type(structure) is Node:
        parts = placed(structure, place)
        return is_composite(structure.sample) and all(holds_numbers(columns, sub, at) for sub, at in parts)
    return type(structure) is Static
