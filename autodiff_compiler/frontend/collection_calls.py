"""Sets, deques, and the dictionaries with a default."""

from __future__ import annotations

import collections
import operator
from typing import Any

from ..errors import MissingAttributeError
from ..ir.core import structural_key
from .avals import (
    DictRef,
    Entries,
    Instance,
    ListRef,
    Obj,
    Seq,
    SliceOf,
    ViewOf,
    describe,
    is_collection,
    is_constant,
    is_static_int,
    key_av,
)
from .containers import SET_OPERATORS, Containers
from .inputs import OrderOf
from .sets import History, is_set, set_parts

SET_TESTS = {"issubset": operator.le, "issuperset": operator.ge}


class Collections(Containers):
    # --- sets, deques, dictionaries with a default ----------------------------------------------------------------

    def new_collection(self, cls: type, **parts: Any) -> Instance:
        cell = self.cells.new()
        self.state.heap[cell] = Entries(tuple(parts), tuple(parts.values()))
        return Instance(cls, cell)

    def new_set(self, history: History, cls: type = set) -> Instance:
        return self.new_collection(cls, **set_parts(history))

    def built_set(self, fn: Any, *parts: Any, cls: type = set) -> Instance:
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

    def history(self, av: Instance, node: Any) -> History:
        found = self.checked(av.cell, node, av.cls.__name__).items[1]
        if type(found) is Obj:
            return found.obj  # type: ignore[no-any-return]
        lost = History(av.cls, (list(self.set_of(av, node)),))
        lost.sure = lost.steady = False
        return lost

    def operand_of_set(self, av: Any, node: Any) -> Any:
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

    def members(self, av: Instance, node: Any) -> Seq:
        """The members of a set, in an order that says nothing."""
        return self.use(self.inner(av, node), "the set", node)  # type: ignore[no-any-return]

    def set_of(self, av: Any, node: Any) -> set[Any]:
        """The members of a set or of another iterable, all known at compile time."""
        if is_set(av):
            items = list(self.members(av, node).items)
        else:
            items = self.static_items(self.iterable(av, node), node)
        return {self.static_key(x, node, "a member of a set") for x in items}

    def in_order(self, av: Instance, node: Any) -> Seq:
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

    def unordered(self, av: Any, key: Any, node: Any) -> Any:
        """An iterable, of which only the order by `key` matters: a set of plain members in any order."""
        if key is None and is_set(av):
            members = self.members(av, node)
            if len({type(x) for x in members.items}) == 1 and type(members.items[0]) in (str, int, bytes, bool):
                return members
        return av

    def replace_set(self, av: Instance, fn: Any, *parts: Any, node: Any) -> Any:
        """Change a set by ``fn(set, *parts)``; what that returns."""
        history, result = self.step(self.history(av, node), fn, parts)
        made = set_parts(history)
        self.mutate(av.cell, Entries(tuple(made), tuple(made.values())), node)
        return result

    def set_method(self, av: Instance, name: str, args: list[Any], node: Any) -> Any:
        members = self.set_of(av, node)
        if name in SET_TESTS:
            return SET_TESTS[name](members, self.set_of(args[0], node))
        if name == "isdisjoint":
            return members.isdisjoint(self.set_of(args[0], node))
        if name == "copy":
            if av.cls is frozenset:
                return av
            return self.built_set(set.copy, self.history(av, node))
        if name in SET_OPERATORS:
            parts = [self.operand_of_set(other, node) for other in args]
            return self.built_set(getattr(av.cls, name), self.history(av, node), *parts, cls=av.cls)
        if av.cls is frozenset:
            self.no_method(frozenset, name, node)
        if name == "update" or name.removesuffix("_update") in SET_OPERATORS:
            parts = [self.operand_of_set(other, node) for other in args]
            return self.replace_set(av, getattr(set, name), *parts, node=node)
        if name == "clear":
            return self.replace_set(av, set.clear, node=node)
        if name == "pop":
            if not members:
                self.raises(KeyError, "pop from an empty set", node)
            self.in_order(av, node)  # which is first depends on it
            return key_av(self.replace_set(av, set.pop, node=node))
        if name not in ("add", "discard", "remove"):
            self.no_method(set, name, node)
        self.arguments(args, 1, 1, name, node)
        key = self.static_key(args[0], node, "a member of a set")
        if name == "remove" and key not in members:
            self.raises(KeyError, key, node, f"the set has no member {key!r}")
        if (key in members) != (name == "add"):
            self.replace_set(av, getattr(set, name), key, node=node)
        return None

    def set_operator(self, fn: Any, a: Any, b: Any, node: Any) -> Any:
        """``a | b`` and the like of sets and key views; NotImplemented if these are none."""
        sides = [is_set(x) or type(x) is ViewOf and x.kind != "values" for x in (a, b)]
        if type(a) is ViewOf and sides[0] and type(b) in (Seq, ListRef):
            sides[1] = True  # a view takes any iterable
        if not all(sides) or fn not in SET_OPERATORS.values():
            return NotImplemented
        parts = [self.operand_of_set(x, node) for x in (a, b)]
        return self.built_set(fn, *parts, cls=a.cls if type(a) is Instance else set)

    def collection_method(self, av: Instance, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        cls = av.cls
        if cls in (set, frozenset):
            return self.set_method(av, name, args, node)
        if cls is collections.deque:
            return self.deque_method(av, name, args, kwargs, node)
        inner = self.inner(av, node)
        if cls in (collections.defaultdict, collections.Counter) and type(inner) is DictRef:
            if name == "__missing__":
                return self.default_item(av, args[0], node)
            if name == "copy":
                new = self.new_dict(self.entries_of(inner, node))
                return self.new_collection(cls, entries=new, default=self.checked(av.cell, node).items[1])
            if cls is collections.Counter and name not in (
                "keys",
                "values",
                "items",
                "get",
                "pop",
                "clear",
                "setdefault",
            ):
                return self.counter_method(inner, name, args, node)
            return self.dict_method(inner, name, args, kwargs, node)
        self.fail(f"{describe(av)} has no attribute {name!r} that is supported", node, "", MissingAttributeError)

    def counter_method(self, inner: DictRef, name: str, args: list[Any], node: Any) -> Any:
        entries = self.entries_of(inner, node)
        if name == "update":
            new = self.count_items(args[0], entries, node)
            self.mutate(inner.cell, Entries(tuple(new), tuple(new.values())), node)
            return None
        if name == "total":
            return self.call(Obj(sum, None), [Seq(tuple(entries.values()))], {}, node)
        if name in ("elements", "most_common") and all(is_constant(v) for v in entries.values()):
            counter = collections.Counter(entries)
            if name == "elements":
                return Seq(tuple([key_av(k) for k in counter.elements()]))
            pairs = counter.most_common(*args)
            return self.new_list([Seq((key_av(k), v)) for k, v in pairs])
        self.fail(f"Counter.{name}() is not supported here", node, "use a dictionary")

    def count_items(self, av: Any, entries: dict[Any, Any], node: Any) -> dict[Any, Any]:
        """The entries of a Counter with what is in an iterable counted as well."""
        if type(av) is DictRef or (is_collection(av) and av.cls is collections.Counter):
            for key, n in self.entries_of(av, node).items():
                entries[key] = self.binary(operator.add, n, entries.get(key, 0), node)
            return entries
        for item in self.static_items(self.iterable(av, node), node):
            key = self.static_key(item, node)
            entries[key] = self.binary(operator.add, entries.get(key, 0), 1, node)
        return entries

    def default_item(self, av: Instance, index: Any, node: Any) -> Any:
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

    def deque_method(self, av: Instance, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        inner, most = self.checked(av.cell, node).items
        if name == "maxlen":
            return most
        if name in ("append", "appendleft", "extend", "extendleft"):
            self.arguments(args, 1, 1, name, node)
            new = args if name.startswith("append") else self.static_items(self.iterable(args[0], node), node)
            for item in new:
                self.list_method(inner, "insert", [0, item], {}, node) if name.endswith("left") else self.list_append(
                    inner, item, node
                )
                self.trim(inner, most, not name.endswith("left"), node)
            return None
        if name == "popleft":
            return self.list_pop(inner, 0, node)
        if name == "rotate":
            steps = args[0] if args else 1
            n = self.length(inner, node)
            if not (is_static_int(steps) and is_static_int(n)):
                self.fail(
                    "deque.rotate() by a number, or of a deque, known at run time only", node, "use popleft and append"
                )
            if n:
                cut = -steps % n
                parts = [SliceOf(cut, None, None), SliceOf(None, cut, None)]
                self.replace_list(
                    inner, self.concatenated([self.list_slice(inner, p, node) for p in parts], node), node
                )
            return None
        if name == "copy":
            return self.new_collection(collections.deque, items=self.as_list(inner, node), maxlen=most)
        if name in ("pop", "clear", "reverse", "index", "count", "remove", "insert"):
            return self.list_method(inner, name, args, kwargs, node)
        self.no_method(collections.deque, name, node)

    def trim(self, inner: ListRef, most: Any, left: bool, node: Any) -> None:
        """Drop what a deque has no room for."""
        if most is None:
            return
        n = self.length(inner, node)
        if is_static_int(n) and is_static_int(most):
            if n > most:
                self.list_pop(inner, 0 if left else -1, node)
            return
        full = self.truth(self.compare_with(operator.gt, n, most, node), node)

        def drop() -> None:
            self.list_pop(inner, 0 if left else -1, node)

        self.branch(full, drop, lambda: None, node)

    # --- construction ---------------------------------------------------------------------------------------------

    def construct_collection(self, cls: type, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if cls in (set, frozenset):
            self.arguments(args, 0, 1, cls.__name__, node)
            if cls is frozenset and args and is_set(args[0]) and args[0].cls is frozenset:
                return args[0]
            return self.built_set(cls, *[self.operand_of_set(x, node) for x in args], cls=cls)
        if cls is collections.deque:
            most = kwargs.get("maxlen", args[1] if len(args) > 1 else None)
            made = self.new_collection(cls, items=self.new_list([]), maxlen=most)
            if args:
                inner = self.checked(made.cell, node).items[0]
                if most is None:
                    self.extend(inner, args[0], node)
                else:
                    self.deque_method(made, "extend", [args[0]], {}, node)
            return made
        if cls is collections.Counter:
            counts = self.count_items(args[0], {}, node) if args else {}
            for key, n in kwargs.items():
                counts[key] = self.binary(operator.add, n, counts.get(key, 0), node)
            return self.new_collection(cls, entries=self.new_dict(counts), default=None)
        entries = self.entries_of(args[1], node) if len(args) > 1 else {}
        entries.update(kwargs)
        return self.new_collection(cls, entries=self.new_dict(entries), default=args[0] if args else None)


__all__ = ["Collections"]
