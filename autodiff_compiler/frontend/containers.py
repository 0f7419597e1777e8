"""Lists, dictionaries, sets and deques: which method a name means, their parts and their operators."""

from __future__ import annotations

import collections
import functools
import operator
import types
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import ArgumentError, is_interruption
from ..ir.core import Value
from ..ir.opset import SLICE_BOUND
from .avals import (
    BUILTIN,
    Columns,
    DictRef,
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
    is_iterator,
    is_number,
    is_set_like,
    is_static_int,
)
from .calls import Calls
from .dunders import call_dunder, is_builtin_thing
from .folds import proved
from .handlers import Node, Val, method_of, run
from .objects import is_object
from .sets import is_set

SET_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "union": operator.or_, "intersection": operator.and_, "difference": operator.sub,
    "symmetric_difference": operator.xor,
}  # fmt: skip


class Containers(Calls):
    def call_method(self, av: Val, name: str, args: list[Val], kwargs: dict[str, Val], node: Node) -> Val:
        if name.startswith("object."):
            return self.object_method(av, name, args, kwargs, node)
        kind = type(av)
        if kind in (Instance, Obj) and self.derived_from(av) is not None:
            return self.derived_method(av, name, args, kwargs, node)
        if name[:2] == "__" and not kwargs and is_builtin_thing(av):
            made = call_dunder(self, av, name, args, node)
            if made is not NotImplemented:
                return made
        if kind is Seq and name.startswith("@") and len(args) == 1:
            return _got(self, av.items, name, args[0], node)
        cls = _container_class(self, av)
        if cls is not None:
            method = method_of(cls, name)
            if method is None:
                _no_method(self, cls, name, node)
            if method is method_of(dict, name) and kind is Instance:
                av = self.inner(av, node)  # the dictionary in one that has a default as well
            of_class = isinstance(method.obj, types.ClassMethodDescriptorType)
            return run(self, method, args if of_class else [av, *args], kwargs, node)
        if is_number(av):
            return self.folded(getattr(av, name), args, {}, node)
        return self.array_method(av, name, args, kwargs, node)

    def not_reading(self, cells: set[int], av: Val, compute: Callable[[], Any], node: Node) -> Any:
        """What ``compute()`` gives, of the items of `av`, that is to be put into a container, which Python does one by
        one: they must not read it. `cells`: those of the container."""
        made, found = self.reading(compute)
        if is_iterator(av) and not cells.isdisjoint(found):
            what = "an iterator that reads the container which its items go into"
            self.fail(what, node, "make a list of it: list(...)")
        return made

    # --- lists ----------------------------------------------------------------------------------------------------

    def gathered(self, av: Val, places: Any, node: Node) -> ListRef:
        """The items of a list at the places that an iterable gives."""
        out = self.new_list([])
        range_, place_at = self.iteration(places, node)
        self.run_loop(node, range_, lambda i: self.list_append(out, self.subscript(av, place_at(i), node), node))
        before = self.content(av.cell) if type(av) is ListRef else None
        made = self.content(out.cell)
        if type(before) is type(made) is Columns:  # different places: items that share nothing still do not
            self.state.heap[out.cell] = Columns(made.structure, made.leaves, before.distinct)
        return out

    def slice_range(self, n: Any, index: SliceOf, node: Node) -> RangeOf:
        """The places that a slice picks of `n` items."""
        bounds = [self.operand(b, node) for b in index.parts()]
        if is_static_int(n) and all(b is None or is_static_int(b) for b in bounds):
            return RangeOf(*self.folded(slice.indices, [slice(*bounds), n], {}, node))
        start, stop = (self.emit(node, SLICE_BOUND, k, n, *bounds) for k in range(2))
        return RangeOf(start, stop, bounds[2] or 1)

    def list_slice(self, av: ListRef, index: SliceOf, node: Node) -> ListRef:
        content = self.checked(av.cell, node, "list")
        bounds = index.parts()
        if type(content) is Items and all(map(is_constant, bounds)):
            return self.new_list(list(content.items[slice(*bounds)]))
        if type(content) is Items and not content.items:
            return self.new_list([])
        if bounds[:2] == [None, None] and (bounds[2] is None or is_static_int(bounds[2]) and bounds[2] == 1):
            whole: ListRef = self.as_list(av, node)
            return whole
        return self.sliced(av, [self.operand(b, node) for b in bounds], node)

    def replace_list(self, av: ListRef, new: ListRef, node: Node, rearranged: bool = False) -> None:
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

    def concatenated(self, parts: list[Any], node: Node) -> ListRef:
        """A new list of the items of several iterables."""
        out = self.new_list([])
        for part in parts:
            self.extend(out, part, node)
        return out

    def extend(self, av: ListRef, other: Val, node: Node) -> None:
        if is_iterator(other) and not self.is_inert(other, node):  # its items may see the list grow
            self.push(other, lambda item: self.list_append(av, item, node), node)
            return
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
        self.run_loop(node, range_, lambda i: self.list_append(av, item_at(i), node))

    def list_pop(self, av: ListRef, k: Any, node: Node) -> Any:
        content = self.checked(av.cell, node, "list")
        if type(content) is Items and is_static_int(k):
            items = list(content.items)
            if not -len(items) <= k < len(items):
                self.raises(IndexError, "pop index out of range" if content.items else "pop from empty list", node)
            item = items.pop(k)
            self.mutate(av.cell, Items(tuple(items)), node)
            return self.use(item, "the item", node)
        return self.pop_item(av, self.operand(k, node), node)

    def delete_item(self, base: Val, index: Val, node: Node) -> None:
        """``del base[index]``."""
        if type(base) in (Instance, Obj):
            if self.call_special(base, "__delitem__", [index], node) is not NotImplemented:
                return
        if is_collection(base) and base.cls is not set:
            base = self.inner(base, node)
        if type(base) is DictRef:
            self.call_method(base, "pop", [index], {}, node)
            return
        if type(base) is not ListRef:
            self.fail(f"{describe(base)} does not support the deletion of items", node, "", ArgumentError)
        content = self.checked(base.cell, node, "list")
        if type(content) is Items and is_static_int(index):
            self.list_pop(base, index, node)
        elif type(index) is not SliceOf:
            self.pop_item(base, self.operand(index, node), node)
        elif type(content) is Items and all(map(is_constant, index.parts())):
            items = list(content.items)
            del items[slice(*index.parts())]
            self.mutate(base.cell, Items(tuple(items)), node)
        else:
            self.store_slice(base, index, Seq(()), node)

    def store_slice(self, base: ListRef, index: SliceOf, av: Val, node: Node) -> None:
        """``base[start:stop:step] = av`` for a list."""
        content = self.checked(base.cell, node, "list")
        new = self.iterable(av, node)
        new_items = self.iterated(new, node)
        if new_items is not None:
            new = Seq(tuple(new_items))
        elif type(new) is ListRef and new.cell == base.cell:
            new = self.as_list(new, node)
        bounds = index.parts()
        if type(content) is Items and all(map(is_constant, bounds)) and new_items is not None:
            items = list(content.items)
            try:
                items[slice(*bounds)] = new_items
            except ValueError as error:
                if is_interruption(error):
                    raise
                self.fail(str(error), node, "", ArgumentError)
            self.mutate(base.cell, Items(tuple(items)), node)
            return
        if index.step is not None and not (is_static_int(index.step) and index.step == 1):
            what = "assignment to a slice with a step of a list whose length is known at run time only"
            self.fail(what, node, "assign the items in a loop")
        if type(content) is Items and not content.items:
            self.extend(base, new, node)
            return
        start, stop = (self.operand(b, node) for b in bounds[:2])
        source = new if type(new) is ListRef else self.as_list(new, node)
        empty = type(new) is Seq and not new.items
        self.replace_slice(base, start, stop, None if empty else source, node)

    # --- dictionaries ---------------------------------------------------------------------------------------------

    def entries_of(self, av: Val, node: Node) -> dict[Any, Any]:
        """The entries of a dictionary, or of an iterable of pairs."""
        if type(av) in (Instance, Obj) and issubclass(self.derived_from(av) or object, dict):
            names = ("__iter__", "keys", "__getitem__")
            if not self.is_native(av, *names if self.derived_from(av) is collections.OrderedDict else names[:1]):
                self.fail(f"the entries of {describe(av)}, whose class says what they are", node, "loop over it")
            av = self.data_of(av, node)
        if is_collection(av) and av.cls in (collections.defaultdict, collections.Counter):
            av = self.inner(av, node)
        if type(av) is DictRef:
            return self.checked(av.cell, node, "dictionary").table  # type: ignore[no-any-return]
        entries: dict[Any, Any] = {}
        for item in self.static_items(self.iterable(av, node), node):
            key, value = self.unpacked(item, 2, node)
            entries[self.static_key(key, node)] = value
        return entries

    # --- operators ------------------------------------------------------------------------------------------------

    def container_operator(self, fn: Any, a: Val, b: Val, node: Node) -> Val:
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

    def augmented_container(self, fn: Any, current: Val, value: Val, node: Node) -> bool:
        """``current op= value`` for what is changed in place; whether it was."""
        if _has_the_say(self, fn, value, node):
            return False
        if type(current) is ListRef and fn is operator.add:
            self.extend(current, value, node)
            return True
        if type(current) is ListRef and fn is operator.mul:
            self.replace_list(current, self.binary(fn, current, value, node), node)
            return True
        if type(current) is DictRef and fn is operator.or_:
            self.call_method(current, "update", [value], {}, node)
            return True
        cls = current.cls if is_collection(current) else None
        if cls is set and self.set_operator(fn, current, value, node) is not NotImplemented:
            if is_set(value) or type(value) is ViewOf:
                change = getattr(operator, f"i{fn.__name__.rstrip('_')}")
                self.replace_set(current, change, self.operand_of_set(value, node), node=node)
                return True
        if cls is collections.deque and fn is operator.add:
            self.call_method(current, "extend", [value], {}, node)
            return True
        return False

    def compare_containers(self, fn: Any, a: Val, b: Val, node: Node) -> Val:
        """Comparisons of sets, dictionaries and views; NotImplemented for what is none."""
        if is_set_like(a) and is_set_like(b):
            return proved("members", fn(self.set_of(a, node), self.set_of(b, node)))
        if type(a) is type(b) and type(a) in (Seq, ListRef):
            if fn is operator.eq or fn is operator.ne:
                equal = self.same_items(self.static_items(a, node), self.static_items(b, node), node)
                return equal if fn is operator.eq else self.negated(equal, node)
            return _compare_sequences(self, fn, a, b, node)
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


def _container_class(ctx: Containers, av: Val) -> type | None:
    """The class of a container, range or string; None for all else."""
    if type(av) is DictRef:
        return collections.OrderedDict if av.cell in ctx.cells.ordered else dict
    if type(av) is Instance:
        return av.cls if is_collection(av) and not is_iterator(av) else None
    return type(av) if isinstance(av, (str, bytes)) else BUILTIN.get(type(av))


def _got(ctx: Containers, parts: tuple[Any, ...], name: str, av: Val, node: Node) -> Val:
    """What ``operator.itemgetter(*parts)`` and the like give of a value."""
    if name == "@methodcaller":
        return ctx.call(ctx.attribute(av, parts[0], node), list(parts[1:]), {}, node)
    if name == "@itemgetter":
        found = [ctx.subscript(av, k, node) for k in parts]
    else:
        found = [functools.reduce(lambda x, n: ctx.attribute(x, n, node), p.split("."), av) for p in parts]
    return found[0] if len(found) == 1 else Seq(tuple(found))


def _no_method(ctx: Containers, cls: type, name: str, node: Node) -> NoReturn:
    if hasattr(cls, name):
        ctx.fail(f"{cls.__name__}.{name}() is not supported", node, "use the operators, or a loop")
    ctx.raises(AttributeError, f"{cls.__name__!r} object has no attribute {name!r}", node)


def _has_the_say(ctx: Containers, fn: Any, value: Val, node: Node) -> bool:
    """What is on the right of ``l += value`` adds, before the list takes its items: an array or a number of
    NumPy's, or an object with a method for that."""
    if is_object(value) and type(value) is not Seq:
        return ctx.type_attribute(value, f"__r{fn.__name__.strip('_')}__") is not None
    if type(value) is Ref:
        return bool(ctx.read(value, node).type.kind != "list")
    return type(value) is Value and fn is operator.add and value.type.kind not in ("list", "shape")


def _compare_sequences(ctx: Containers, fn: Any, a: Val, b: Val, node: Node) -> Val:
    """``a < b`` and the like for tuples and lists: by the first items that differ."""
    xs, ys = ctx.static_items(a, node), ctx.static_items(b, node)

    def rest(k: int) -> Any:
        if k == min(len(xs), len(ys)):
            return proved("length", bool(fn(len(xs), len(ys))))
        equal = ctx.same_item(xs[k], ys[k], node)
        return ctx.branch(equal, lambda: rest(k + 1), lambda: ctx.compare_with(fn, xs[k], ys[k], node), node)

    return rest(0)
