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
from .structures import Leaf, NoCommonStructure, Node, Static, width


class Splices(ListColumns):
    """Inserting, deleting and slicing."""

    # --- one item -------------------------------------------------------------------------------------------------

    def insert_item(self, av: ListRef, index: Any, item: Any, node: Any) -> None:
        """``av.insert(index, item)`` where that, or the length, is known at run time only."""
        columns = self.made_columns(av, node)
        operands = self.fitting(av, columns, item, node)
        self.forget_items(av.cell, node)
        leaves = [self.emit(node, LIST_INSERT, leaf, index, x) for leaf, x in zip(columns.leaves, operands)]
        distinct = self.taken(av.cell, item) and columns.distinct
        self.mutate(av.cell, Columns(columns.structure, tuple(leaves), distinct), node)
        if is_static_int(index) and index == 0:
            self.adopt(av.cell, item, 0, columns.structure, 0, columns.structure)

    def pop_item(self, av: ListRef, index: Any, node: Any) -> Any:
        """``av.pop(index)`` where that, or the length, is known at run time only."""
        columns = self.made_columns(av, node)
        likes = [self.emit(node, LIST_GET, leaf, index) for leaf in columns.leaves]
        item = self.taken_out(av, columns, index, node)
        leaves = [self.emit(node, LIST_DROP, leaf, index, x) for leaf, x in zip(columns.leaves, likes)]
        self.mutate(av.cell, Columns(columns.structure, tuple(leaves), columns.distinct), node)
        return item

    def taken_out(self, av: ListRef, columns: Columns, index: Any, node: Any) -> Any:
        """An item that is about to leave its list."""
        sharing = [] if columns.distinct else [av.cell]
        item = self.detached(columns, index, 0, columns.structure, [*sharing, *self.state.links.get(av.cell, ())], node)
        self.forget_items(av.cell, node)
        return item

    # --- slices ---------------------------------------------------------------------------------------------------

    def sliced(self, av: ListRef, bounds: tuple[Any, Any, Any], node: Any) -> ListRef:
        """``av[start:stop:step]`` where one of these, or the length, is known at run time only."""
        columns = self.list_columns(av, node, next((b for b in bounds if type(b) is Value), None))
        leaves = [self.emit(node, LIST_SLICE, leaf, *bounds) for leaf in columns.leaves]
        return self.new_columns(Columns(columns.structure, tuple(leaves), columns.distinct), av)

    def new_columns(self, columns: Columns, source: ListRef) -> ListRef:
        """A new list that holds items of another."""
        out = ListRef(self.cells.new())
        self.state.heap[out.cell] = columns
        self.share_items(out.cell, source, columns)
        return out

    def share_items(self, cell: int, source: ListRef, columns: Columns) -> None:
        if holds_numbers(columns.structure, columns.leaves):
            return
        for other in self.cells_in([source]):
            self.state.link_view(cell, other)
            origins = self.cells.origins.get(other)
            if origins:
                self.cells.origins[cell] = self.cells.origins.get(cell, frozenset()) | origins

    def splice(self, av: ListRef, at: Any, source: ListRef, node: Any) -> None:
        """``av[at:at] = source``, at the end where `at` is None. The source is another list, of run-time length."""
        columns = self.made_columns(av, node)
        try:
            new = self.columns(self.checked(source.cell, node, "list"), node, columns.structure)
        except NoCommonStructure:
            new = None
        if new is None:
            self.fail(
                "items go into a list whose length is known at run time only; such a list needs items of one kind, "
                "with the same keys",
                node,
                "use one list for each kind of thing",
                cause=av,
            )
        shares = not holds_numbers(columns.structure, columns.leaves) or not holds_numbers(new.structure, new.leaves)
        known = self.state.links.get(av.cell, frozenset()) | {av.cell}
        apart = not shares or (new.distinct and known.isdisjoint(self.cells_in([source])))
        if at is not None:
            self.forget_items(av.cell, node)
        leaves = [self.emit(node, LIST_SPLICE, leaf, at, x) for leaf, x in zip(columns.leaves, new.leaves)]
        if shares:
            self.share_items(av.cell, source, new)
        content = Columns(columns.structure, tuple(leaves), columns.distinct and apart)
        self.mutate(av.cell, content, node, keeps_items=at is None)

    def cut(self, av: ListRef, start: Any, stop: Any, node: Any) -> None:
        """``del av[start:stop]``."""
        columns = self.made_columns(av, node)
        self.forget_items(av.cell, node)
        leaves = [
            self.emit(node, LIST_CUT, leaf, start, stop, self.emit(node, LIST_SLICE, leaf, start, stop, None))
            for leaf in columns.leaves
        ]
        self.mutate(av.cell, Columns(columns.structure, tuple(leaves), columns.distinct), node)

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
        self.mutate(av.cell, Columns(columns.structure, tuple(leaves), columns.distinct), node, resized=False)


def holds_numbers(structure: Any, leaves: tuple[Any, ...]) -> bool:
    """Items of this structure are numbers, and tuples of such: nothing that may change in place."""
    if type(structure) is Static:
        return True
    if type(structure) is Leaf:
        return all(leaf.type.elem is None or leaf.type.elem.is_scalar for leaf in leaves)
    if type(structure) is not Node or not is_composite(structure.sample):
        return False
    place = 0
    for sub in structure.parts:
        if not holds_numbers(sub, leaves[place : place + width(sub)]):
            return False
        place += width(sub)
    return True


__all__ = ["Splices"]
