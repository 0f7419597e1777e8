"""Orders: the items of an iterable by their keys."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..errors import ArgumentError, is_interruption
from ..ir.core import Value
from ..kernels import sorted_places
from .avals import ListRef, Obj, Ref, Seq, describe, is_constant, is_number
from .handlers import Node, Val
from .iterators import Iterators


class Orders(Iterators):
    def keys_for(self, it: Val, key: Any, node: Node) -> Val:
        return it if key is None else self.as_list(self.mapped(key, it, node=node), node)

    def ordered(self, av: Val, key: Any, reverse: Any, node: Node) -> Val:
        """A new list of the items, sorted by their keys; items with equal keys stay in order."""
        it = self.listed_items(self.unordered(av, key, node), node)
        items = self.iterated(it, node)
        if not isinstance(reverse, (bool, int)):
            self.fail("sorted() with reverse= known at run time only", node, "use an `if`")
        if items is not None:
            it = Seq(tuple(items))
            if len(items) < 2 and key is None:
                return self.new_list(items)
        keys = self.keys_for(it, key, node)
        known = [self.static_sort_key(k) for k in self.iterated(keys, node) or ()]
        if items is not None and known and all(k is not NotImplemented for k in known):
            try:
                order = sorted(range(len(items)), key=lambda k: known[k], reverse=bool(reverse))
            except TypeError as error:
                if is_interruption(error):
                    raise
                self.fail(str(error), node, "", ArgumentError)
            return self.new_list([items[k] for k in order])
        if items is not None and len(items) < 2:
            return self.new_list(items)
        places = _order_of(self, keys, node)
        if reverse:
            last = self.binary(operator.sub, self.iter_length(it, node), 1, node)
            mirrored = _order_of(self, self.as_list(self.call(Obj(reversed, None), [keys], {}, node), node), node)
            mirrored = self.call(Obj(np.flip, None), [mirrored], {}, node)
            places = self.binary(operator.sub, last, mirrored, node)
        if items is None:
            source = it if type(it) in (ListRef, Ref) else self.as_list(it, node)
            return self.gathered(source, places, node)
        return self.new_list([self.subscript(it, self.subscript(places, k, node), node) for k in range(len(items))])

    def listed_items(self, av: Val, node: Node) -> Val:
        """All items of an iterable, in something that they can be taken from more than once."""
        it = self.iterable(av, node)
        return it if type(it) in (Seq, ListRef, Ref) else self.as_list(it, node)

    def static_sort_key(self, av: Val) -> Any:
        """A key as the Python value that it is, or NotImplemented if it is known at run time only."""
        if is_constant(av):
            return av
        if type(av) is Seq:
            parts = [self.static_sort_key(x) for x in av.items]
            return NotImplemented if any(p is NotImplemented for p in parts) else tuple(parts)
        return NotImplemented

    def key_array(self, keys: Any, node: Node) -> Any:
        """The keys as an array with one axis."""
        if type(keys) is not Ref:
            for k in self.iterated(keys, node) or ():
                if not (is_number(k) or type(k) in (Value, Ref)):
                    what = f"an order by {describe(k)} that is known at run time only"
                    self.fail(what, node, "sort by a number: key=...")
            if type(keys) not in (Seq, ListRef):
                keys = self.as_list(keys, node)
            keys = self.call(Obj(np.array, None), [keys], {}, node)
        if type(keys) is not Ref or self.read(keys, node).type.ndim != 1:
            self.fail("an order of what is not known to be numbers", node, "use np.sort or np.argsort")
        return keys


def _order_of(ctx: Orders, keys: Any, node: Node) -> Any:
    return ctx.call(Obj(sorted_places, None), [ctx.key_array(keys, node)], {}, node)
