"""Sets, deques, and the dictionaries with a default."""

from __future__ import annotations

import collections
from typing import Any

from ..ir.core import structural_key
from .avals import (
    DictRef,
    Entries,
    Instance,
    ListRef,
    Obj,
    Seq,
    ViewOf,
    key_av,
)
from .containers import SET_OPERATORS, Containers
from .handlers import Node, Val
from .inputs import OrderOf
from .sets import History, is_set, set_parts


class Collections(Containers):
    # --- sets, deques, dictionaries with a default ----------------------------------------------------------------

    def new_collection(self, cls: type, **parts: Val) -> Instance:
        return Instance(cls, self.new_cell(Entries.of(parts)))

    def new_set(self, history: History, cls: type = set) -> Instance:
        return self.new_collection(cls, **set_parts(history))

    def built_set(self, fn: Any, *parts: Val, cls: type = set) -> Instance:
        """The set that ``fn(*parts)`` gives, of histories and plain objects."""
        return self.new_set(self.step(None, fn, parts)[0], cls)

    def step(self, before: History | None, fn: Any, parts: tuple[Any, ...]) -> tuple[History, Any]:
        """A step of a set's history, which is one object where the same is done on two paths; and what it returns."""
        marks = [p if isinstance(p, History) else structural_key(list(p) if isinstance(p, dict) else p) for p in parts]
        key = (before, structural_key(fn), *marks)
        found = self.histories.get(key)
        if found is None:
            found = (History(fn, parts), None) if before is None else before.changed(fn, *parts)
            self.histories[key] = found
        return found

    def history(self, av: Instance, node: Node) -> History:
        found = self.checked(av.cell, node, av.cls.__name__).items[1]
        if type(found) is Obj:
            return found.obj  # type: ignore[no-any-return]
        lost = History(av.cls, (list(self.set_of(av, node)),))
        lost.sure = lost.steady = False
        return lost

    def operand_of_set(self, av: Val, node: Node) -> Val:
        """What a set method is given, as Python sees it: another set, a dictionary or a view of one, or a list."""
        if is_set(av):
            return self.history(av, node)
        if type(av) is DictRef:
            keys = self.checked(av.cell, node, "dictionary").keys
            # An ordered dictionary is no dictionary to a set: its members come one by one.
            return list(keys) if av.cell in self.cells.ordered else dict.fromkeys(keys)
        if type(av) is ViewOf and av.kind == "keys":
            return dict.fromkeys(self.checked(av.of.cell, node, "dictionary").keys).keys()
        items = self.static_items(self.iterable(av, node), node)
        keys = [self.static_key(x, node, "a member of a set") for x in items]
        return dict(keys).items() if type(av) is ViewOf and av.kind == "items" else keys

    def members(self, av: Instance, node: Node) -> Seq:
        """The members of a set, in an order that says nothing."""
        return self.use(self.inner(av, node), "the set", node)  # type: ignore[no-any-return]

    def set_of(self, av: Val, node: Node) -> set[Any]:
        """The members of a set or of another iterable, all known at compile time."""
        if is_set(av):
            items = list(self.members(av, node).items)
        else:
            items = self.static_items(self.iterable(av, node), node)
        return {self.static_key(x, node, "a member of a set") for x in items}

    def in_order(self, av: Instance, node: Node) -> Seq:
        """The members of a set in the order in which Python goes through it."""
        members = self.members(av, node)
        if len(members.items) < 2:
            return members
        self.use(self.checked(av.cell, node, av.cls.__name__).items[1], "the order of the set", node)
        history = self.history(av, node)
        if not history.sure:
            self.fail(
                "the order in which Python goes through this set is not known when the program is compiled",
                node,
                "go through sorted(...) of it",
            )
        order = history.order
        if history.path is not None:
            self.inputs.guard(history.path, "keys", order)
        elif history.leaves:
            self.inputs.guard(history.leaves[0].path or (), "order", OrderOf(history, order))
        elif not history.steady:
            self.inputs.guard((), "process", "the order of a set")
        return Seq(tuple(map(key_av, order)))

    def unordered(self, av: Val, key: Any, node: Node) -> Val:
        """An iterable, of which only the order by `key` matters: a set of plain members in any order."""
        if key is None and is_set(av):
            members = self.members(av, node)
            if len({type(x) for x in members.items}) == 1 and type(members.items[0]) in (str, int, bytes, bool):
                return members
        return av

    def replace_set(self, av: Instance, fn: Any, *parts: Val, node: Node) -> Val:
        """Change a set by ``fn(set, *parts)``; what that returns."""
        history, result = self.step(self.history(av, node), fn, parts)
        self.mutate(av.cell, Entries.of(set_parts(history)), node)
        return result

    def set_operator(self, fn: Any, a: Val, b: Val, node: Node) -> Val:
        """``a | b`` and the like of sets and key views; NotImplemented if these are none."""
        sides = [is_set(x) or type(x) is ViewOf and x.kind != "values" for x in (a, b)]
        if type(a) is ViewOf and sides[0] and type(b) in (Seq, ListRef):
            sides[1] = True  # a view takes any iterable
        if not all(sides) or fn not in SET_OPERATORS.values():
            return NotImplemented
        parts = [self.operand_of_set(x, node) for x in (a, b)]
        return self.built_set(fn, *parts, cls=a.cls if type(a) is Instance else set)

    def default_item(self, av: Instance, index: Val, node: Node) -> Val:
        """``av[index]`` of a dictionary with a default."""
        inner, default = self.checked(av.cell, node).items
        content = self.checked(inner.cell, node, "dictionary")
        key = self.static_key(index, node)
        if key in content.keys:
            return self.dict_item(inner, index, node)
        if av.cls is collections.Counter:
            return 0
        if default is None:
            self.raises(KeyError, key, node, f"the dictionary has no key {key!r}")
        value = self.call(default, [], {}, node)
        self.store_item(inner, index, value, node)
        return value


__all__ = ["Collections"]
