"""The functions of itertools."""

from __future__ import annotations

import itertools
import operator
from typing import Any

from ..ir.core import Value
from ..ir.opset import INDEX_TABLE
from .avals import (
    DeferredOf,
    Entries,
    IndexedOf,
    Instance,
    ListRef,
    OneShot,
    RangeOf,
    Ref,
    Seq,
    ZipOf,
    is_number,
    is_static_int,
)
from .iterators import endless
from .orders import Orders

UNROLLED_ROWS = 64  # more rows of product() and the like are looked up at run time


class Itertools(Orders):
    # --- itertools ------------------------------------------------------------------------------------------------

    def itertools_call(self, obj: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        name = obj.__name__
        handler = getattr(self, "i_" + name, None)
        if handler is None:
            self.fail(f"itertools.{name}() is not supported", node, "write the loop")
        return handler(args, kwargs, node)

    def rows(self, name: str, its: list[Any], r: int, node: Any) -> Any:
        """What product, combinations and permutations of some lists give."""
        its = [self.iterable(x, node) for x in its]
        lists = [self.iterated(x, node) for x in its]
        if all(x is not None for x in lists):
            extra = () if name == "product" else (r,)
            rows = list(itertools.islice(getattr(itertools, name)(*lists, *extra), UNROLLED_ROWS + 1))
            kinds = {type(x) in (Value, Ref) or is_number(x) for items in lists for x in items or ()}
            if len(rows) <= UNROLLED_ROWS or kinds != {True}:
                rows = rows if len(rows) <= UNROLLED_ROWS else list(getattr(itertools, name)(*lists, *extra))
                return self.one_shot(Seq(tuple([Seq(tuple(row)) for row in rows])))
        its = [x if type(x) in (RangeOf, Ref, ListRef, Seq) else self.as_list(x, node) for x in its]
        lengths = [self.operand(self.iter_length(x, node), node) for x in its]
        table = self.fresh(self.emit(node, INDEX_TABLE, name, r, *lengths))
        return self.one_shot(IndexedOf("table", (table, *(its if name == "product" else its * r))))

    def i_product(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        repeat = kwargs.get("repeat", 1)
        if not is_static_int(repeat) or set(kwargs) - {"repeat"}:
            self.fail("itertools.product() with repeat= known at run time only", node, "write nested loops")
        args = [a if type(a) is not Instance else self.as_list(a, node) for a in args] * repeat
        return self.rows("product", args, len(args), node)

    def chosen(self, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        r: Any = kwargs.get("r", args[1] if len(args) > 1 else None)
        if r is None and name == "permutations":
            r = self.length(args[0], node)
        if not is_static_int(r):
            self.fail(f"itertools.{name}() of a number of items known at run time only", node, "give the number")
        return self.rows(name, args[:1], r, node)

    def i_combinations(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.chosen("combinations", args, kwargs, node)

    def i_permutations(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.chosen("permutations", args, kwargs, node)

    def i_combinations_with_replacement(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.chosen("combinations_with_replacement", args, kwargs, node)

    def i_chain(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(DeferredOf("chain", tuple(args)))

    def i_from_iterable(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(DeferredOf("chained", tuple(args)))

    def computed_chain(self, *its: Any, node: Any) -> Any:
        return self.concatenated(list(its), node)

    def computed_chained(self, its: Any, node: Any) -> Any:
        out = self.new_list([])
        self.each(self.iterable(its, node), lambda item: self.extend(out, item, node), node)
        return out

    def i_accumulate(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        fn = kwargs.get("func", args[1] if len(args) > 1 else None)
        return self.one_shot(DeferredOf("accumulate", (args[0], fn, kwargs.get("initial"))))

    def computed_accumulate(self, it: Any, fn: Any, initial: Any, node: Any) -> Any:
        it = self.iterable(it, node, self.partly)
        if initial is None:
            if self.iterated(it, node) == []:
                return Seq(())
            it, initial = self.split_first(it, node, "accumulate() of an empty iterable")
        out = self.new_list([initial])
        step = self.added(node) if fn is None else lambda a, x: self.call(fn, [a, x], {}, node)

        def one(total: Any, item: Any) -> Any:
            new = step(total, item)
            self.list_append(out, new, node)
            return new

        self.carried("accumulate", initial, it, one, node)
        return out

    def i_pairwise(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(IndexedOf("pairwise", (self.iterable(args[0], node),)))

    def i_starmap(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(IndexedOf("starmap", tuple(args)))

    def i_repeat(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        times = [kwargs["times"]] if "times" in kwargs else args[1:]
        return self.one_shot(IndexedOf("repeat", (args[0], *times)))

    def i_count(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        start, step = (kwargs.get(n, args[k] if len(args) > k else k) for k, n in enumerate(("start", "step")))
        return self.one_shot(IndexedOf("count", (start, step)))

    def i_cycle(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(IndexedOf("cycle", (self.as_list(args[0], node),)))

    def i_islice(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        start, stop, step = (0, args[1], 1) if len(args) == 2 else [*args[1:], None][:3]
        start, step = start or 0, step or 1
        if not (is_static_int(start) and is_static_int(step)):
            self.fail("itertools.islice() with a start or step known at run time only", node, "use an array")
        return self.one_shot(DeferredOf("islice", (args[0], start, stop, step)))

    def computed_islice(self, it: Any, start: int, stop: Any, step: int, node: Any) -> Any:
        if type(it) is not Instance or it.cls is not OneShot:
            it = self.one_shot(it)
        source, place = (self.use(x, "the iterator", node) for x in self.checked(it.cell, node, "iterator").items)
        source = self.opened(source, node)
        start = self.binary(operator.add, place, start, node)
        end = None if stop is None else self.binary(operator.add, place, stop, node)
        self.mutate(it.cell, Entries(("source", "place"), (Seq(()), 0) if end is None else (source, end)), node)
        known = all(x is None or is_static_int(x) for x in (start, end))
        if endless(source) and known and end is not None and end - start <= UNROLLED_ROWS:
            return Seq(tuple([self.item_of(source, k, node) for k in range(start, end, step)]))
        items = None if endless(source) else self.iterated(source, node)
        if items is None or not known:
            return IndexedOf("islice", (source, start, end, step))
        if end is not None:
            self.mutate(it.cell, Entries(("source", "place"), (source, min(end, len(items)))), node)
        return Seq(tuple(items[start:end:step]))

    def i_zip_longest(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        lists = [self.static_items(self.iterable(a, node), node) for a in args]
        rows = itertools.zip_longest(*lists, fillvalue=kwargs.get("fillvalue"))
        return self.one_shot(Seq(tuple([Seq(row) for row in rows])))

    def i_filterfalse(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(DeferredOf("filter", (args[0], args[1], False)))

    def i_compress(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        pairs = ZipOf((self.iterable(args[0], node), self.iterable(args[1], node)))
        out = self.new_list([])

        def one(pair: Any) -> None:
            item, flag = pair.items
            self.branch(self.truth(flag, node), lambda: self.list_append(out, item, node), lambda: None, node)

        self.each(pairs, one, node)
        return self.one_shot(out)

    def while_true(self, args: list[Any], take: bool, node: Any) -> Any:
        """takewhile and dropwhile, by conditions that are known at compile time."""
        items = self.static_items(self.iterable(args[1], node, True), node)
        for k, item in enumerate(items):
            flag = self.truth(self.call(args[0], [item], {}, node), node)
            if not isinstance(flag, bool):
                self.fail(
                    f"itertools.{'take' if take else 'drop'}while() by a condition that is known at run time only",
                    node,
                    "write a loop with `break`",
                )
            if not flag:
                return self.one_shot(Seq(tuple(items[:k] if take else items[k:])))
        return self.one_shot(Seq(tuple(items if take else [])))

    def i_takewhile(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.while_true(args, True, node)

    def i_dropwhile(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.while_true(args, False, node)


def is_itertools(obj: Any) -> bool:
    return getattr(obj, "__module__", "") == "itertools" or getattr(obj, "__self__", None) is itertools.chain


__all__ = ["Itertools", "is_itertools"]
