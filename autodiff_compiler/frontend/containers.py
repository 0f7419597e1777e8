"""Lists, dictionaries, sets and deques: their methods and operators."""

from __future__ import annotations

import collections
import functools
import operator
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import ArgumentError
from ..ir.core import Value
from ..ir.opset import SLICE_BOUND, opaque
from .avals import (
    Columns,
    DictRef,
    Entries,
    Instance,
    Items,
    ListRef,
    Obj,
    RangeOf,
    Ref,
    Seq,
    SliceOf,
    ViewOf,
    describe,
    is_collection,
    is_constant,
    is_number,
    is_static_int,
    key_av,
)
from .calls import Calls
from .dunders import call_dunder, is_builtin_thing
from .folds import proved
from .objects import is_object
from .ranges import range_method
from .sets import is_set

SET_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "union": operator.or_,
    "intersection": operator.and_,
    "difference": operator.sub,
    "symmetric_difference": operator.xor,
}


class Containers(Calls):
    def call_method(self, av: Any, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if name.startswith("object."):
            return self.object_method(av, name, args, kwargs, node)
        kind = type(av)
        if kind in (Instance, Obj) and self.derived_from(av) is not None:
            return self.derived_method(av, name, args, kwargs, node)
        if name[:2] == "__" and not kwargs and is_builtin_thing(av):
            made = call_dunder(self, av, name, args, node)
            if made is not NotImplemented:
                return made
        if kind is ListRef:
            return self.list_method(av, name, args, kwargs, node)
        if kind is DictRef:
            return self.dict_method(av, name, args, kwargs, node)
        if is_collection(av):
            return self.collection_method(av, name, args, kwargs, node)
        if isinstance(av, (str, bytes)):
            return self.string_method(av, name, args, kwargs, node)
        if kind is Seq and av.cls is not None and name == "_replace":
            values = dict(zip(av.cls._fields, av.items))
            values.update(kwargs)
            return Seq(tuple([values[n] for n in av.cls._fields]), av.cls)
        if kind is Seq and name == "_asdict" and av.cls is not None:
            return self.new_dict(dict(zip(av.cls._fields, av.items)))
        if kind is Seq and name in ("index", "count"):
            return self.search(list(av.items), name, args, node)
        if kind is SliceOf and name == "indices" and len(args) == 1 and not kwargs:
            places = self.slice_range(args[0], av, node)
            return Seq((places.start, places.stop, places.step))
        if kind is RangeOf and name in ("index", "count") and not kwargs:
            return range_method(self, av, name, args, node)
        if is_number(av):
            return self.folded(getattr(av, name), args, {}, node)
        if kind is Seq and name.startswith("@") and len(args) == 1:
            return self.got(av.items, name, args[0], node)
        return self.array_method(av, name, args, kwargs, node)

    def collection_method(self, av: Instance, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        raise NotImplementedError

    def deque_method(self, av: Instance, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        raise NotImplementedError

    def set_operator(self, fn: Any, a: Any, b: Any, node: Any) -> Any:
        raise NotImplementedError

    def operand_of_set(self, av: Any, node: Any) -> Any:
        raise NotImplementedError

    def replace_set(self, av: Instance, fn: Any, *parts: Any, node: Any) -> Any:
        raise NotImplementedError

    def array_method(self, av: Any, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        raise NotImplementedError

    def as_list(self, av: Any, node: Any) -> Any:
        raise NotImplementedError

    def ordered(self, av: Any, key: Any, reverse: Any, node: Any) -> Any:
        raise NotImplementedError

    def got(self, parts: tuple[Any, ...], name: str, av: Any, node: Any) -> Any:
        """What ``operator.itemgetter(*parts)`` and the like give of a value."""
        if name == "@methodcaller":
            return self.call(self.attribute(av, parts[0], node), list(parts[1:]), {}, node)
        if name == "@itemgetter":
            found = [self.subscript(av, k, node) for k in parts]
        else:
            found = [functools.reduce(lambda x, n: self.attribute(x, n, node), p.split("."), av) for p in parts]
        return found[0] if len(found) == 1 else Seq(tuple(found))

    def string_method(self, av: Any, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if name == "join" and len(args) == 1:
            items = self.static_items(args[0], node)
            if all(isinstance(i, str) for i in items):
                return av.join(items)
        if all(is_constant(a) for a in [*args, *kwargs.values()]):
            result = self.folded(getattr(av, name), args, kwargs, node)
            return (
                self.new_list(result)
                if isinstance(result, list)
                else Seq(result)
                if isinstance(result, tuple)
                else result
            )
        if name == "format":
            return self.emit(
                node,
                opaque(str.format, "str.format"),
                av,
                *[self.plain(a, node) for a in args],
                **{k: self.plain(v, node) for k, v in kwargs.items()},
            )
        self.fail(
            f"str.{name} of values known at run time only",
            node,
            "do it before the gradient, with values that are known then",
        )

    # --- lists ----------------------------------------------------------------------------------------------------

    def search(self, items: list[Any], name: str, args: list[Any], node: Any) -> Any:
        """``index``, ``count``, or the place of what ``remove`` removes."""
        self.arguments(args, 1, 3 if name == "index" else 1, name, node)
        total: Any = 0
        start, stop = 0, len(items)
        if len(args) > 1:
            if not all(is_static_int(a) for a in args[1:]):
                self.fail(
                    ".index() with bounds that are known at run time only", node, "use bounds that are known, or a loop"
                )
            start, stop, _ = slice(args[1], args[2] if len(args) > 2 else None).indices(len(items))
        for k, item in enumerate(items):
            if name != "count" and not start <= k < stop:
                continue
            equal = self.same_item(item, args[0], node)
            if name == "count":
                total = self.binary(operator.add, total, int(equal) if isinstance(equal, bool) else equal, node)
            elif not isinstance(equal, bool):
                self.fail(
                    f".{name}() of values known at run time only",
                    node,
                    "compare with `if`, or use np.argmax or np.where",
                )
            elif equal:
                return k
        if name == "count":
            return total
        self.raises(ValueError, f"list.{name}(x): x not in list", node)

    def no_method(self, cls: type, name: str, node: Any) -> NoReturn:
        if hasattr(cls, name):
            self.fail(f"{cls.__name__}.{name}() is not supported", node, "use the operators, or a loop")
        self.raises(AttributeError, f"{cls.__name__!r} object has no attribute {name!r}", node)

    def arguments(self, args: list[Any], low: int, high: int, name: str, node: Any) -> None:
        if not low <= len(args) <= high:
            self.fail(f"{name}() takes {low} to {high} arguments, not {len(args)}", node, "", ArgumentError)

    def gathered(self, av: Any, places: Any, node: Any) -> ListRef:
        """The items of a list at the places that an iterable gives."""
        out = self.new_list([])
        range_, place_at = self.iteration(places, node)
        self.run_loop(
            node,
            range_,
            lambda i: self.list_append(out, self.subscript(av, place_at(i), node), node),
            None,
            [],
            [],
            None,
        )
        before = self.content(av.cell) if type(av) is ListRef else None
        made = self.content(out.cell)
        if type(before) is type(made) is Columns:  # different places: items that share nothing still do not
            self.state.heap[out.cell] = Columns(made.structure, made.leaves, before.distinct)
        return out

    def slice_range(self, n: Any, index: SliceOf, node: Any) -> RangeOf:
        """The places that a slice picks of `n` items."""
        bounds = [None if b is None else self.operand(b, node) for b in (index.start, index.stop, index.step)]
        if is_static_int(n) and all(b is None or is_static_int(b) for b in bounds):
            return RangeOf(*self.folded(slice.indices, [slice(*bounds), n], {}, node))
        start, stop = (self.emit(node, SLICE_BOUND, k, n, *bounds) for k in range(2))
        return RangeOf(start, stop, bounds[2] or 1)

    def list_slice(self, av: ListRef, index: SliceOf, node: Any) -> ListRef:
        content = self.checked(av.cell, node, "list")
        bounds = (index.start, index.stop, index.step)
        if type(content) is Items and all(is_constant(b) for b in bounds):
            return self.new_list(list(content.items[slice(*bounds)]))
        if type(content) is Items and not content.items:
            return self.new_list([])
        if bounds[:2] == (None, None) and (bounds[2] is None or is_static_int(bounds[2]) and bounds[2] == 1):
            whole: ListRef = self.as_list(av, node)
            return whole
        start, stop, step = [None if b is None else self.operand(b, node) for b in bounds]
        return self.sliced(av, (start, stop, step), node)

    def replace_list(self, av: ListRef, new: ListRef, node: Any, rearranged: bool = False) -> None:
        """Give a list the items of another, which nothing else refers to; `rearranged`: they are its own."""
        before, content = self.checked(av.cell, node, "list"), self.checked(new.cell, node, "list")
        if rearranged and type(before) is type(content) is Columns:
            content = Columns(content.structure, content.leaves, before.distinct)
        self.mutate(av.cell, content, node)
        for cell in self.cells_in([new]):
            if cell != new.cell:
                self.state.link_view(av.cell, cell)
        for cell in self.state.links.get(new.cell, frozenset()):
            self.state.link_view(av.cell, cell)

    def concatenated(self, parts: list[Any], node: Any) -> ListRef:
        """A new list of the items of several iterables."""
        out = self.new_list([])
        for part in parts:
            self.extend(out, part, node)
        return out

    def extend(self, av: ListRef, other: Any, node: Any) -> None:
        other = self.looped(self.iterable(other, node), node)
        items = self.iterated(other, node)
        if items is not None:
            for item in items:
                self.list_append(av, item, node)
            return
        if type(other) is ListRef and other.cell == av.cell:
            other = self.as_list(other, node)
        if type(other) is ListRef and self.live(av.cell, node) is None:
            content = self.checked(av.cell, node, "list")
            if type(content) is Items and not content.items:
                self.mutate(av.cell, self.checked(other.cell, node, "list"), node)
                self.share_items(av.cell, other, self.checked(other.cell, node, "list"))
            else:
                self.splice(av, None, other, node)
            return
        range_, item_at = self.iteration(other, node)
        self.run_loop(node, range_, lambda i: self.list_append(av, item_at(i), node), None, [], [], None)

    def list_method(self, av: ListRef, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if name == "append" and len(args) == 1 and not kwargs:
            self.list_append(av, args[0], node)
            return None
        content = self.checked(av.cell, node, "list")
        static = type(content) is Items
        items = list(content.items) if static else []
        if kwargs and name != "sort":
            self.fail(f"list.{name}() takes no keyword arguments", node, "", ArgumentError)
        if name == "append":
            self.arguments(args, 1, 1, name, node)
            self.list_append(av, args[0], node)
            return None
        if name == "extend":
            self.arguments(args, 1, 1, name, node)
            self.extend(av, args[0], node)
            return None
        if name == "pop":
            self.arguments(args, 0, 1, name, node)
            return self.list_pop(av, args[0] if args else -1, node)
        if name == "copy":
            return self.as_list(av, node)
        if name == "clear":
            self.mutate(av.cell, Items(()), node)
            return None
        if name == "insert":
            self.arguments(args, 2, 2, name, node)
            if static and (is_static_int(args[0]) or not items):
                items.insert(args[0] if items else 0, args[1])
                self.mutate(av.cell, Items(tuple(items)), node)
            else:
                self.insert_item(av, self.operand(args[0], node), args[1], node)
            return None
        if name == "reverse":
            if static:
                self.mutate(av.cell, Items(tuple(items[::-1])), node)
            else:
                self.reverse_items(av, node)
            return None
        if name == "sort":
            options = {"key": None, "reverse": False, **kwargs}
            if args or len(options) > 2:
                self.fail("list.sort() takes the keywords key and reverse only", node, "", ArgumentError)
            self.replace_list(av, self.ordered(av, options["key"], options["reverse"], node), node, rearranged=True)
            return None
        if name in ("index", "count", "remove"):
            if not static:
                self.fail(
                    f"list.{name}() of a list whose length is known at run time only",
                    node,
                    "loop over it" if name == "count" else "keep the index in a variable",
                )
            found = self.search(items, name, args, node)
            if name != "remove":
                return found
            del items[found]
            self.mutate(av.cell, Items(tuple(items)), node)
            return None
        self.no_method(list, name, node)

    def list_pop(self, av: ListRef, k: Any, node: Any) -> Any:
        content = self.checked(av.cell, node, "list")
        if type(content) is Items and is_static_int(k):
            items = list(content.items)
            if not -len(items) <= k < len(items):
                self.raises(IndexError, "pop index out of range" if content.items else "pop from empty list", node)
            item = items.pop(k)
            self.mutate(av.cell, Items(tuple(items)), node)
            return self.use(item, "the item", node)
        return self.pop_item(av, self.operand(k, node), node)

    def delete_item(self, base: Any, index: Any, node: Any) -> None:
        """``del base[index]``."""
        if (
            type(base) in (Instance, Obj)
            and self.call_special(base, "__delitem__", [index], node) is not NotImplemented
        ):
            return
        if is_collection(base) and base.cls is not set:
            base = self.inner(base, node)
        if type(base) is DictRef:
            self.dict_method(base, "pop", [index], {}, node)
            return
        if type(base) is not ListRef:
            self.fail(f"{describe(base)} does not support the deletion of items", node, "", ArgumentError)
        content = self.checked(base.cell, node, "list")
        if type(content) is Items and is_static_int(index):
            self.list_pop(base, index, node)
        elif type(index) is not SliceOf:
            self.pop_item(base, self.operand(index, node), node)
        elif type(content) is Items and all(is_constant(b) for b in (index.start, index.stop, index.step)):
            items = list(content.items)
            del items[slice(index.start, index.stop, index.step)]
            self.mutate(base.cell, Items(tuple(items)), node)
        else:
            self.store_slice(base, index, Seq(()), node)

    def store_slice(self, base: ListRef, index: SliceOf, av: Any, node: Any) -> None:
        """``base[start:stop:step] = av`` for a list."""
        content = self.checked(base.cell, node, "list")
        new = self.iterable(av, node)
        new_items = self.iterated(new, node)
        if new_items is not None:
            new = Seq(tuple(new_items))
        elif type(new) is ListRef and new.cell == base.cell:
            new = self.as_list(new, node)
        bounds = (index.start, index.stop, index.step)
        if type(content) is Items and all(is_constant(b) for b in bounds) and new_items is not None:
            items = list(content.items)
            try:
                items[slice(*bounds)] = new_items
            except ValueError as error:
                self.fail(str(error), node, "", ArgumentError)
            self.mutate(base.cell, Items(tuple(items)), node)
            return
        if index.step is not None and not (is_static_int(index.step) and index.step == 1):
            self.fail(
                "assignment to a slice with a step of a list whose length is known at run time only",
                node,
                "assign the items in a loop",
            )
        if type(content) is Items and not content.items:
            self.extend(base, new, node)
            return
        start, stop = (None if b is None else self.operand(b, node) for b in bounds[:2])
        source = new if type(new) is ListRef else self.as_list(new, node)
        empty = type(new) is Seq and not new.items
        self.replace_slice(base, start, stop, None if empty else source, node)

    # --- dictionaries ---------------------------------------------------------------------------------------------

    def dict_method(self, av: DictRef, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        ordered = av.cell in self.cells.ordered
        if kwargs and name != "update" and not (ordered and name in ("popitem", "move_to_end")):
            self.fail(f"dict.{name}() takes no keyword arguments", node, "", ArgumentError)
        content = self.checked(av.cell, node, "dictionary")
        entries = dict(zip(content.keys, content.items))
        if name in ("keys", "values", "items"):
            self.arguments(args, 0, 0, name, node)
            return ViewOf(av, name)
        if name == "copy":
            made = self.new_dict(entries)
            if ordered:
                self.cells.ordered.add(made.cell)
            return made
        if name in ("get", "setdefault", "pop", "__contains__", "__getitem__"):
            self.arguments(args, 1, 2, name, node)
            key = self.static_key(args[0], node)
            if name == "__contains__":
                return proved("members", key in entries)
            if name == "__getitem__":
                return self.dict_item(av, args[0], node)
            found = self.use(entries[key], f"the entry {key!r}", node) if key in entries else None
            if key not in entries:
                if name == "pop" and len(args) < 2:
                    self.raises(KeyError, key, node, f"the dictionary has no key {key!r}")
                found = args[1] if len(args) > 1 else None
            if name == "setdefault" and key not in entries:
                entries[key] = found
            elif name == "pop" and key in entries:
                del entries[key]
            else:
                return found
            self.mutate(av.cell, Entries(tuple(entries), tuple(entries.values())), node)
            return found
        if name == "popitem":
            if not entries:
                self.raises(KeyError, "popitem(): dictionary is empty", node)
            first = self.first_or_last(av, args, kwargs, node)
            key = next(iter(entries)) if first else next(reversed(entries))
            value = entries.pop(key)
            self.mutate(av.cell, Entries(tuple(entries), tuple(entries.values())), node)
            return Seq((key_av(key), self.use(value, f"the entry {key!r}", node)))
        if name == "move_to_end" and ordered:
            self.arguments(args, 1, 2, name, node)
            key = self.static_key(args[0], node)
            if key not in entries:
                self.raises(KeyError, key, node, f"the dictionary has no key {key!r}")
            moved = {key: entries.pop(key)}
            entries = {**moved, **entries} if self.first_or_last(av, args[1:], kwargs, node) else {**entries, **moved}
            self.mutate(av.cell, Entries(tuple(entries), tuple(entries.values())), node)
            return None
        if name == "clear":
            self.mutate(av.cell, Entries((), ()), node)
            return None
        if name == "update":
            self.arguments(args, 0, 1, name, node)
            if args:
                entries.update(self.entries_of(args[0], node))
            entries.update(kwargs)
            self.mutate(av.cell, Entries(tuple(entries), tuple(entries.values())), node)
            return None
        if name == "fromkeys":
            return self.from_keys(args, node)
        self.no_method(dict, name, node)

    def first_or_last(self, av: DictRef, args: list[Any], kwargs: dict[str, Any], node: Any) -> bool:
        """The argument `last` of the methods of an OrderedDict: whether it is false."""
        self.arguments(args, 0, 1 if av.cell in self.cells.ordered else 0, "popitem", node)
        last = kwargs.get("last", args[0] if args else True)
        if not is_constant(last) or set(kwargs) - {"last"}:
            self.fail("last= that is known at run time only", node, "write True or False")
        return not last

    def from_keys(self, args: list[Any], node: Any) -> DictRef:
        self.arguments(args, 1, 2, "fromkeys", node)
        keys = self.static_items(self.iterable(args[0], node), node)
        value = args[1] if len(args) > 1 else None
        return self.new_dict({self.static_key(k, node): value for k in keys})

    def entries_of(self, av: Any, node: Any) -> dict[Any, Any]:
        """The entries of a dictionary, or of an iterable of pairs."""
        if type(av) in (Instance, Obj) and issubclass(self.derived_from(av) or object, dict):
            names = ("__iter__", "keys", "__getitem__")
            if not self.is_native(av, *names if self.derived_from(av) is collections.OrderedDict else names[:1]):
                self.fail(f"the entries of {describe(av)}, whose class says what they are", node, "loop over it")
            av = self.data_of(av, node)
        if is_collection(av) and av.cls in (collections.defaultdict, collections.Counter):
            av = self.inner(av, node)
        if type(av) is DictRef:
            content = self.checked(av.cell, node, "dictionary")
            return dict(zip(content.keys, content.items))
        entries: dict[Any, Any] = {}
        for item in self.static_items(self.iterable(av, node), node):
            key, value = self.unpacked(item, 2, node)
            entries[self.static_key(key, node)] = value
        return entries

    # --- operators ------------------------------------------------------------------------------------------------

    def container_operator(self, fn: Any, a: Any, b: Any, node: Any) -> Any:
        found = self.set_operator(fn, a, b, node)
        if found is not NotImplemented:
            return found
        if fn is operator.or_ and type(a) is DictRef and type(b) is DictRef:
            return self.new_dict({**self.entries_of(a, node), **self.entries_of(b, node)})
        if fn is operator.add and type(a) is ListRef and type(b) is ListRef:
            return self.concatenated([a, b], node)
        if fn is operator.mul:
            for x, y in ((a, b), (b, a)):
                if isinstance(x, str) and is_static_int(y):
                    return x * y
        return super().container_operator(fn, a, b, node)

    def augmented_container(self, fn: Any, current: Any, value: Any, node: Any) -> bool:
        """``current op= value`` for what is changed in place; whether it was."""
        if self.has_the_say(fn, value, node):
            return False
        if type(current) is ListRef and fn is operator.add:
            self.extend(current, value, node)
            return True
        if type(current) is ListRef and fn is operator.mul:
            self.replace_list(current, self.binary(fn, current, value, node), node)
            return True
        if type(current) is DictRef and fn is operator.or_:
            self.dict_method(current, "update", [value], {}, node)
            return True
        if (
            is_collection(current)
            and current.cls is set
            and self.set_operator(fn, current, value, node) is not NotImplemented
        ):
            if is_set(value) or type(value) is ViewOf:
                change = getattr(operator, f"i{fn.__name__.rstrip('_')}")
                self.replace_set(current, change, self.operand_of_set(value, node), node=node)
                return True
        if is_collection(current) and current.cls is collections.deque and fn is operator.add:
            self.deque_method(current, "extend", [value], {}, node)
            return True
        return False

    def has_the_say(self, fn: Any, value: Any, node: Any) -> bool:
        """What is on the right of ``l += value`` adds, before the list takes its items: an array or a number of
        NumPy's, or an object with a method for that."""
        if is_object(value) and type(value) is not Seq:
            return self.type_attribute(value, f"__r{fn.__name__.strip('_')}__") is not None
        if type(value) is Ref:
            return bool(self.read(value, node).type.kind != "list")
        return type(value) is Value and fn is operator.add and value.type.kind not in ("list", "shape")

    def compare_containers(self, fn: Any, a: Any, b: Any, node: Any) -> Any:
        """Comparisons of sets, dictionaries and views; NotImplemented for what is none."""
        sets = [
            is_collection(x) and x.cls in (set, frozenset) or type(x) is ViewOf and x.kind != "values" for x in (a, b)
        ]
        if all(sets):
            return proved("members", fn(self.set_of(a, node), self.set_of(b, node)))
        if type(a) is type(b) and type(a) in (Seq, ListRef):
            if fn is operator.eq or fn is operator.ne:
                equal = self.same_items(self.static_items(a, node), self.static_items(b, node), node)
                return equal if fn is operator.eq else self.negated(equal, node)
            return self.compare_sequences(fn, a, b, node)
        if fn in (operator.eq, operator.ne):
            a, b = (self.inner(x, node) if is_collection(x) and x.cls not in (set, frozenset) else x for x in (a, b))
            if type(a) is DictRef and type(b) is DictRef:
                xs, ys = self.entries_of(a, node), self.entries_of(b, node)
                classes = [self.class_of(x, node) for x in (a, b)]
                if set(xs) != set(ys) or (list(xs) != list(ys) and classes == [collections.OrderedDict] * 2):
                    return proved("members", fn is operator.ne)
                equal = self.same_items(list(xs.values()), [ys[k] for k in xs], node)
                return equal if fn is operator.eq else self.negated(equal, node)
        return NotImplemented

    def compare_sequences(self, fn: Any, a: Any, b: Any, node: Any) -> Any:
        """``a < b`` and the like for tuples and lists: by the first items that differ."""
        xs, ys = self.static_items(a, node), self.static_items(b, node)

        def rest(k: int) -> Any:
            if k == min(len(xs), len(ys)):
                return proved("length", bool(fn(len(xs), len(ys))))
            equal = self.same_item(xs[k], ys[k], node)
            return self.branch(equal, lambda: rest(k + 1), lambda: self.compare_with(fn, xs[k], ys[k], node), node)

        return rest(0)


__all__ = ["SET_OPERATORS", "Containers"]
