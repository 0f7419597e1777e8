"""Lists of which the length, or the place that is asked for, is known at run time only: one IR list for each number or
array among the parts of an item ("structure of arrays").

The form of an item says how it is put together. An item that is a container or an array stays the one object that it is
in Python: a cell that holds `ItemOf` is read from the list, and what is stored into it is stored into the list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import AliasError
from ..ir.core import Value
from ..ir.opset import LEN, LIST_APPEND, LIST_GET, LIST_NEW, LIST_SET
from .avals import (
    HOLE,
    Columns,
    Entries,
    Hole,
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
    is_constant,
    is_number,
    is_reference,
    parts_of,
    with_parts,
)
from .disturbed import Disturbances
from .forms import Fixed, ListForm, Record, Unfit, matches, places_in, united, width


class Rows(Disturbances):
    """Reading and changing items of lists of run-time length."""

    # --- forms ----------------------------------------------------------------------------------------------------

    def item_form(self, av: Any) -> Any:
        """The form of an item; raises `Unfit`."""
        av = av.av if type(av) is Maybe and av.flag is True else av
        if type(av) is Value or is_number(av) or type(av) is Ref:
            return HOLE
        if is_constant(av):
            return Fixed(av)
        if is_composite(av):
            parts = parts_of(av)
            return Record(av, None, tuple(map(self.item_form, parts))) if parts else Fixed(av)
        if is_reference(av) and not (type(av) is Instance and av.cls is OneShot):
            content = self.content(av.cell)
            if isinstance(content, Poison):
                raise Unfit(content.why)
            if type(content) is Columns:
                return ListForm(content.form)
            if type(content) is Items and all(map(is_plain_number, content.items)):
                return ListForm(HOLE)
            return Record(av, getattr(content, "keys", None), tuple(map(self.item_form, content.items)))
        if type(av) in (Maybe,):
            raise Unfit("has items that are not bound on all paths")
        return Fixed(av)

    def list_form(self, content: Any) -> Any:
        """The form of the items of a list."""
        if type(content) is Columns:
            return content.form
        form: Any = None
        for item in content.items:
            one = self.item_form(item)
            form = one if form is None else united(form, one)
        return HOLE if form is None else form

    def item_operands(self, form: Any, av: Any, node: Any) -> list[Any]:
        """What an item of this form adds to each of the IR lists."""
        if type(form) is Hole:
            return [self.operand(av, node)]
        if type(form) is Fixed:
            return []
        content = self.content(av.cell) if is_reference(av) else None
        return self.content_operands(form, content if content is not None else av, node)

    def content_operands(self, form: Any, content: Any, node: Any) -> list[Any]:
        """The same for what an item that is a container holds."""
        if type(form) is Hole:
            return [content]
        if type(form) is ListForm:
            return list(self.columns(content, node, form.item).leaves)
        parts = content.items if type(content) in (Items, Entries) else parts_of(content)
        return [x for sub, part in zip(form.parts, parts) for x in self.item_operands(sub, part, node)]

    def columns(self, content: Any, node: Any, form: Any = None) -> Columns:
        """What a list holds as columns; raises `Unfit`."""
        if type(content) is Columns:
            if form is not None and not matches(form, content.form):
                raise Unfit("has items of different kinds")
            return content
        if form is None:
            form = self.list_form(content)
        elif not matches(form, self.list_form(content)) and content.items:
            raise Unfit("has items of different kinds")
        rows = [self.item_operands(form, x, node) or [0] for x in content.items]
        leaves = [self.emit(node, LIST_NEW, tuple([row[k] for row in rows])) for k in range(max(width(form), 1))]
        return Columns(form, tuple(leaves), self.are_distinct(content.items))

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
        return self.item_part(base.cell, index, columns, 0, columns.form, node)

    def list_columns(self, base: ListRef, node: Any, cause: Any = None) -> Columns:
        try:
            return self.columns(self.checked(base.cell, node, "list"), node)
        except Unfit as error:
            self.fail(
                f"an item of a list that {error} is asked for by an index known at run time only",
                node,
                "index with a literal, or loop over the list itself",
                cause=cause,
            )

    def item_part(self, owner: int, index: Any, columns: Columns, place: int, form: Any, node: Any) -> Any:
        """A part of an item, that stays the one in the list."""
        if type(form) is Fixed:
            return form.av
        if type(form) is Record and is_composite(form.sample):
            parts = []
            for sub in form.parts:
                parts.append(self.item_part(owner, index, columns, place, sub, node))
                place += width(sub)
            return with_parts(form.sample, parts)
        if type(form) is Hole:
            value = self.emit(node, LIST_GET, columns.leaves[place], index)
            if type(value) is not Value or value.type.is_scalar or value.type.kind in ("shape", "object"):
                return value
        cell = self.cells.new()
        self.state.heap[cell] = ItemOf(owner, index, columns.form, place, form)
        self.state.link_view(cell, owner)
        for other in self.cells_in([ListRef(owner)])[1:]:
            self.state.link_view(cell, other)  # it is one of these
        self.cells.origins[cell] = self.cells.origins.get(owner, frozenset())
        return self.reference(form, cell)

    def reference(self, form: Any, cell: int) -> Any:
        if type(form) is Hole:
            return Ref(cell)
        if type(form) is ListForm:
            return ListRef(cell)
        return Instance(form.sample.cls, cell) if type(form.sample) is Instance else type(form.sample)(cell)

    def resolved(self, item: ItemOf) -> Any:
        """What a cell holds that is an item of a list."""
        content = self.content(item.cell)
        if isinstance(content, Poison):
            return content
        try:
            columns = self.columns(content, None)
        except Unfit as error:
            return Poison(None, f"is an item of a list that {error}")
        if not matches(columns.form, item.root):
            return Poison(None, "is an item of a list whose items have changed their kind")
        return self.part_content(item.cell, item.index, columns, item.place, item.form)

    def part_content(self, owner: int, index: Any, columns: Columns, place: int, form: Any) -> Any:
        if type(form) is Hole:
            return self.emit(None, LIST_GET, columns.leaves[place], index)
        if type(form) is ListForm:
            leaves = columns.leaves[place : place + width(form)]
            return Columns(
                form.item, tuple([self.emit(None, LIST_GET, leaf, index) for leaf in leaves]), columns.distinct
            )
        parts = []
        for sub in form.parts:
            parts.append(self.item_part(owner, index, columns, place, sub, None))
            place += width(sub)
        return Items(tuple(parts)) if form.keys is None else Entries(form.keys, tuple(parts))

    # --- changing -------------------------------------------------------------------------------------------------

    def write(self, cell: int, content: Any, node: Any, in_array: bool = False) -> None:
        """Let a cell hold something else; an item of a list changes in the list."""
        item = self.state.heap.get(cell)
        if type(item) is not ItemOf:
            self.state.heap[cell] = content
            return
        columns = self.made_columns(ListRef(item.cell), node)
        if not columns.distinct:
            self.fail(
                "unprovable alias: items of this list may be one and the same, so what else changes is not known",
                node,
                "make each item a new one, for instance with .copy()",
                AliasError,
                cause=item.index,
            )
        try:
            operands = self.content_operands(item.form, content, node)
            fits = matches(columns.form, item.root)
        except Unfit:
            fits = False
        if not fits or (type(item.form) is Record and getattr(content, "keys", None) != item.form.keys):
            self.fail(
                "an item of a list of run-time length changes its keys, or what kind of thing they lead to",
                node,
                "give all items all keys from the start",
                cause=item.index,
            )
        leaves = list(columns.leaves)
        if type(item.form) is Record:
            self.forget_replaced(cell, item, operands, leaves, node)
        for k, value in enumerate(operands, item.place):
            if value is not self.emit(node, LIST_GET, leaves[k], item.index):
                leaves[k] = self.emit(node, LIST_SET, leaves[k], item.index, value)
        inside = content.items if type(content) in (Items, Entries) else ()
        distinct: bool = columns.distinct
        for part in inside:
            distinct = self.taken(item.cell, part, item) and distinct
        in_array = in_array or type(item.form) is Hole
        self.write(item.cell, Columns(columns.form, tuple(leaves), distinct), node, in_array)
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
                self.state.link_view(owner, cell)
            origins = self.cells.origins.get(cell)
            if origins:
                self.cells.origins[owner] = self.cells.origins.get(owner, frozenset()) | origins
        return distinct

    def adopt(self, owner: int, av: Any, index: Any, root: Any, place: int, form: Any) -> None:
        """From now on these containers are the ones in the list."""
        if type(form) is Record and is_composite(form.sample):
            for sub, part in zip(form.parts, parts_of(av)):
                self.adopt(owner, part, index, root, place, sub)
                place += width(sub)
            return
        if type(form) is Fixed or not hasattr(av, "cell") or type(self.state.heap.get(av.cell)) is ItemOf:
            return
        if type(form) is Hole:
            alone = not av.path and av.cell in self.cells.numpy and av.cell not in self.cells.origins
            if not alone or self.state.links.get(av.cell, frozenset()) - {owner}:
                return
        elif type(form) is Record:
            inner, content = place, self.content(av.cell)
            if isinstance(content, Poison):
                return
            for sub, part in zip(form.parts, content.items):
                self.adopt(owner, part, index, root, inner, sub)
                inner += width(sub)
        self.state.heap[av.cell] = ItemOf(owner, index, root, place, form)

    def made_columns(self, base: ListRef, node: Any) -> Columns:
        """What a list holds, which from now on is columns."""
        content = self.checked(base.cell, node, "list")
        if type(content) is Columns:
            return content
        held = self.state.heap.get(base.cell)
        if type(held) is ItemOf:
            self.fail("a store by an index known at run time only into a list in a list", node, "use an array",
                      cause=held.index)  # fmt: skip
        columns = self.list_columns(base, node)
        self.state.heap[base.cell] = columns
        for item in content.items:
            self.taken(base.cell, item)
        self.adopt_all(base.cell, content.items, columns.form)
        return columns

    def adopt_all(self, owner: int, items: tuple[Any, ...], form: Any) -> None:
        for k, item in enumerate(items):
            self.adopt(owner, item, k, form, 0, form)

    def forget_items(self, cell: int, node: Any, which: Callable[[int, ItemOf], bool] = lambda c, held: True) -> None:
        """Before the items of a list move, or others take their places: what refers to one keeps what it is now."""
        heap = self.state.heap
        while items := [
            c for c, held in heap.items()
            if type(held) is ItemOf and held.cell == cell and c != cell and which(c, held)
        ]:  # fmt: skip
            for other in items:  # of one that is a container, the parts are such items again
                held = heap[other]
                why = Poison(self.loc_of(node), "is an item of a list that was changed")
                heap[other] = self.resolved(held) if held.sure else why
                self.cells.detached.add(other)

    def forget_replaced(self, cell: int, item: ItemOf, operands: list[Any], leaves: list[Any], node: Any) -> None:
        """Before a part of an item is replaced by another array or container: what refers to the old one keeps it."""
        kinds: set[tuple[int, type]] = set()
        place = item.place
        for sub in item.form.parts:
            end = place + width(sub)
            new = operands[place - item.place : end - item.place]
            if any(x is not self.emit(node, LIST_GET, leaf, item.index) for x, leaf in zip(new, leaves[place:end])):
                kinds.update(places_in(sub, place))
            place = end
        self.forget_items(item.cell, node, lambda c, held: c != cell and (held.place, type(held.form)) in kinds)

    def forget_parts(self, cell: int, content: Any, node: Any) -> None:
        """The same where it is known which container changes: it may be that of which a list's item has this part."""
        old = self.held(cell)
        if type(old) not in (Items, Entries) or not self.state.links.get(cell):
            return
        same_keys = type(content) is type(old) and _keys(content) == _keys(old) and len(content.items) == len(old.items)
        kept = content.items if same_keys else (None,) * len(old.items)
        if not self.cells_in([x for x, y in zip(old.items, kept) if x is not y]):
            return
        heap = self.state.heap
        while items := [
            c for c in self.state.links.get(cell, ())
            if type(heap.get(c)) is ItemOf and not self.may_be(heap[c].form, old)
        ]:  # fmt: skip
            for other in items:
                held = heap[other]
                why = Poison(self.loc_of(node), "may be a part of what was changed")
                heap[other] = self.resolved(held) if held.sure else why
                self.cells.detached.add(other)

    def may_be(self, form: Any, content: Any) -> bool:
        """An item of this form, or a part of one, may be the container that holds this, and not only a part of it."""
        if type(form) is ListForm:
            return type(content) is Items
        if type(form) is not Record or form.keys != _keys(content) or len(form.parts) != len(content.items):
            return False
        try:
            return all(matches(sub, self.item_form(part)) for sub, part in zip(form.parts, content.items))
        except Unfit:
            return False

    def list_append(self, ref: ListRef, item: Any, node: Any) -> None:
        content = self.checked(ref.cell, node, "list")
        if type(content) is Items:
            self.budget.spend(self.builder.loc)
            self.mutate(ref.cell, Items((*content.items, item)), node, keeps_items=True)
            return
        operands = self.fitting(ref, content, item, node)
        index = self.emit(node, LEN, content.leaves[0])
        leaves = [self.emit(node, LIST_APPEND, leaf, x) for leaf, x in zip(content.leaves, operands)]
        distinct = self.taken(ref.cell, item) and content.distinct
        self.mutate(ref.cell, Columns(content.form, tuple(leaves), distinct), node, keeps_items=True)
        self.adopt(ref.cell, item, index, content.form, 0, content.form)

    def fitting(self, base: ListRef, columns: Columns, item: Any, node: Any) -> list[Any]:
        """The operands for an item that goes into a list of run-time length."""
        try:
            if matches(columns.form, self.item_form(item)):
                return self.item_operands(columns.form, item, node) or [0]
            why = "items of one kind, with the same keys"
        except Unfit as error:
            why = f"items that fit; this one {error}"
        self.fail(
            f"{describe(item)} goes into a list whose length is known at run time only; such a list needs {why}",
            node,
            "use one list for each kind of thing",
            cause=base,
        )

    def set_item(self, base: ListRef, index: Any, item: Any, node: Any) -> None:
        """``base[index] = item`` where `static` lists cannot help."""
        columns = self.made_columns(base, node)
        operands = self.fitting(base, columns, item, node)
        self.forget_items(base.cell, node)
        leaves = [self.emit(node, LIST_SET, leaf, index, x) for leaf, x in zip(columns.leaves, operands)]
        distinct = self.taken(base.cell, item) and columns.distinct
        self.mutate(base.cell, Columns(columns.form, tuple(leaves), distinct), node, resized=False)
        self.adopt(base.cell, item, index, columns.form, 0, columns.form)

    def one_of(self, items: tuple[Any, ...], index: Any, node: Any) -> Any:
        """The item of a tuple at an index that is known at run time only."""
        try:
            columns = self.columns(Items(items), node)
        except Unfit as error:
            self.fail(
                f"a tuple is indexed by a number known at run time only, and it {error}",
                node,
                "use a list",
                cause=index,
            )
        sharing = self.cells_in(items)
        families = frozenset().union(*map(self.cells.family, sharing))
        return self.detached(columns, index, 0, columns.form, sharing, node, families)

    def detached(
        self,
        columns: Columns,
        index: Any,
        place: int,
        form: Any,
        sharing: list[int],
        node: Any,
        families: frozenset[int] = frozenset(),
    ) -> Any:
        """An item that is in the list no more; it may share memory with the cells `sharing`."""
        if type(form) is Fixed:
            return form.av
        content: Any
        if type(form) is Record:
            parts = []
            for sub in form.parts:
                parts.append(self.detached(columns, index, place, sub, sharing, node, families))
                place += width(sub)
            if is_composite(form.sample):
                return with_parts(form.sample, parts)
            content = Items(tuple(parts)) if form.keys is None else Entries(form.keys, tuple(parts))
        else:
            content = self.part_content(-1, index, columns, place, form)
            if type(content) is Value and (content.type.is_scalar or content.type.kind in ("shape", "object")):
                return content
        cell = self.cells.new()
        self.cells.detached.add(cell)
        if families:
            self.cells.families[cell] = families | {cell}
        self.state.heap[cell] = content
        for other in sharing:
            self.state.link_view(cell, other)
        origins = [self.cells.origins.get(other, frozenset()) for other in sharing]
        self.cells.origins[cell] = frozenset().union(*origins)
        return self.reference(form, cell)


def _keys(content: Any) -> Any:
    """The keys of what a container holds; those of a list are None."""
    return getattr(content, "keys", None)


def is_plain_number(av: Any) -> bool:
    return is_number(av) or (type(av) is Value and av.type.is_scalar)
