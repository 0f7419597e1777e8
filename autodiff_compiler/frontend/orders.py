"""Sums and products of iterables, and orders: sorted, min and max with keys."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ir.core import Value
from ..ir.opset import PRIMS
from ..kernels import place_of_max, place_of_min, sorted_places
from .avals import ListRef, Obj, Ref, Seq, describe, is_constant, is_number, is_static_int
from .iterators import Iterators
from .plan import prefer_known
from .remains import is_iterator


class Orders(Iterators):
    # --- numbers --------------------------------------------------------------------------------------------------

    def b_fsum(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "fsum")
        it = self.iterable(args[0], node)
        if type(it) is not Ref:
            it = self.call(Obj(np.array, None), [self.as_list(it, node), Obj(float)], {}, node)
        return self.call_prim(PRIMS[math.fsum], [it], {}, node)

    def b_prod(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        start = kwargs.pop("start", 1)
        self.only(args, 1, 1, kwargs, node, "prod")
        multiply = lambda a, x: self.binary(operator.mul, a, x, node)
        return self.carried("prod", start, args[0], multiply, node)

    def b_sumprod(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "sumprod")
        return self.b_sum([self.mapped(Obj(operator.mul, None), *args, node=node)], {}, node)

    def b_dist(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "dist")
        points = [self.iterable(a, node) for a in args]
        lists = [self.iterated(p, node) for p in points]
        known = [len(x) for x in lists if x is not None]
        if not known:
            arrays = [p if type(p) is Ref else self.call(Obj(np.array, None), [p], {}, node) for p in points]
            return self.call(
                Obj(np.linalg.norm, None), [self.binary(operator.sub, arrays[0], arrays[1], node)], {}, node
            )
        rows = [self.unpacked(p, known[0], node) for p in points]
        apart = [self.binary(operator.sub, a, b, node) for a, b in zip(*rows)]
        return self.call(Obj(math.hypot, None), apart, {}, node)

    def b_mean(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "mean")
        items = self.as_list(args[0], node)
        return self.binary(operator.truediv, self.b_sum([items], {}, node), self.length(items, node), node)

    # --- orders ---------------------------------------------------------------------------------------------------

    def b_sorted(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        options = {"key": None, "reverse": False, **kwargs}
        if len(args) != 1 or len(options) > 2:
            self.fail("sorted() is called with arguments that are not supported", node, "", ArgumentError)
        return self.ordered(args[0], options["key"], options["reverse"], node)

    def keys_for(self, it: Any, key: Any, node: Any) -> Any:
        return it if key is None else self.as_list(self.mapped(key, it, node=node), node)

    def ordered(self, av: Any, key: Any, reverse: Any, node: Any) -> Any:
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
                self.fail(str(error), node, "", ArgumentError)
            return self.new_list([items[k] for k in order])
        if items is not None and len(items) < 2:
            return self.new_list(items)
        places = self.order_of(keys, node)
        if reverse:
            last = self.binary(operator.sub, self.iter_length(it, node), 1, node)
            mirrored = self.order_of(self.as_list(self.b_reversed([keys], {}, node), node), node)
            mirrored = self.call(Obj(np.flip, None), [mirrored], {}, node)
            places = self.binary(operator.sub, last, mirrored, node)
        if items is None:
            source = it if type(it) in (ListRef, Ref) else self.as_list(it, node)
            return self.gathered(source, places, node)
        return self.new_list([self.subscript(it, self.subscript(places, k, node), node) for k in range(len(items))])

    def listed_items(self, av: Any, node: Any) -> Any:
        """All items of an iterable, in something that they can be taken from more than once."""
        it = self.iterable(av, node)
        return it if type(it) in (Seq, ListRef, Ref) else self.as_list(it, node)

    def static_sort_key(self, av: Any) -> Any:
        """A key as the Python value that it is, or NotImplemented if it is known at run time only."""
        if is_constant(av):
            return av
        if type(av) is Seq:
            parts = [self.static_sort_key(x) for x in av.items]
            return NotImplemented if any(p is NotImplemented for p in parts) else tuple(parts)
        return NotImplemented

    def key_array(self, keys: Any, node: Any) -> Any:
        """The keys as an array with one axis."""
        if type(keys) is not Ref:
            for k in self.iterated(keys, node) or ():
                if not (is_number(k) or type(k) in (Value, Ref)):
                    self.fail(
                        f"an order by {describe(k)} that is known at run time only", node, "sort by a number: key=..."
                    )
            if type(keys) not in (Seq, ListRef):
                keys = self.as_list(keys, node)
            keys = self.call(Obj(np.array, None), [keys], {}, node)
        if type(keys) is not Ref or self.read(keys, node).type.ndim != 1:
            self.fail("an order of what is not known to be numbers", node, "use np.sort or np.argsort")
        return keys

    def order_of(self, keys: Any, node: Any) -> Any:
        return self.call(Obj(sorted_places, None), [self.key_array(keys, node)], {}, node)

    def extreme(self, fn: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        name = fn.__name__
        if set(kwargs) - {"key", "default"} or not args:
            self.fail(f"{name}() is called with arguments that are not supported", node, "", ArgumentError)
        key = kwargs.get("key")
        keys: Any = None
        if len(args) == 1:
            it, keys = self.with_keys(self.unordered(args[0], key, node), key, node)
            items = self.iterated(it, node)
            if items is None:
                return self.extreme_item(fn, it, keys, kwargs, node)
            if not items:
                if "default" in kwargs:
                    return kwargs["default"]
                self.raises(ValueError, f"{name}() arg is an empty sequence", node)
            args = items
        elif "default" in kwargs:
            self.fail(f"{name}() with a default and several arguments", node, "", ArgumentError)
        else:
            keys = self.with_keys(Seq(tuple(args)), key, node)[1]
        known = [self.static_sort_key(k) for k in self.iterated(keys, node) or ()]
        if all(k is not NotImplemented for k in known):
            try:
                return args[known.index(fn(known))] if len(args) > 1 else args[0]
            except TypeError as error:
                self.raises(TypeError, str(error), node)
        if len(args) == 1:
            return args[0]
        if key is not None:
            return self.extreme_item(fn, Seq(tuple(args)), keys, {}, node)
        for a in args:
            if type(a) is Value and a.type.kind == "any":
                prefer_known(self, a, unroll=True)
            if type(a) is Ref and self.read(a, node).type.ndim != 0:
                self.fail(
                    f"{name}() of arrays, whose truth is ambiguous", node, f"use np.{name}imum", ArgumentError, cause=a
                )
        return self.call_prim(PRIMS[fn], args, {}, node)

    def with_keys(self, av: Any, key: Any, node: Any) -> tuple[Any, Any]:
        """All items of an iterable, and their keys; `key` is called when there is the item."""
        if key is None or not is_iterator(av):
            it = self.listed_items(av, node)
            return it, self.keys_for(it, key, node)
        items, keys = self.new_list([]), self.new_list([])

        def one(item: Any) -> None:
            self.list_append(items, item, node)
            self.list_append(keys, self.call(key, [item], {}, node), node)

        self.push(av, one, node)
        return items, keys

    def extreme_item(self, fn: Any, it: Any, keys: Any, kwargs: dict[str, Any], node: Any) -> Any:
        """The first item with the largest or smallest key."""

        def pick() -> Any:
            array = self.key_array(keys, node)
            place = self.call(Obj(place_of_max if fn is max else place_of_min, None), [array], {}, node)
            return self.subscript(it, place, node)

        n = self.iter_length(it, node)
        if is_static_int(n):
            return pick()
        some = self.truth(self.compare_with(operator.gt, n, 0, node), node)
        if "default" in kwargs:
            return self.branch(some, pick, lambda: kwargs["default"], node)
        self.raise_unless(some, ValueError, f"{fn.__name__}() arg is an empty sequence", node)
        return pick()

    def b_min(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.extreme(min, args, kwargs, node)

    def b_max(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.extreme(max, args, kwargs, node)
