"""The functions of itertools."""

from __future__ import annotations

import itertools
from typing import Any

from ..ir.core import Value
from ..ir.opset import INDEX_TABLE
from .avals import (
    DeferredOf,
    IndexedOf,
    Instance,
    ListRef,
    RangeOf,
    Ref,
    Seq,
    is_number,
    is_static_int,
)
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
        return self.one_shot(DeferredOf("chain", (None, *args)))

    def i_from_iterable(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(DeferredOf("chained", (self.iter_of(args[0], node), None)))

    def i_accumulate(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        fn = kwargs.get("func", args[1] if len(args) > 1 else None)
        initial = kwargs.get("initial")
        begin = Seq(() if initial is None else (initial,))
        return self.one_shot(DeferredOf("accumulate", (self.iter_of(args[0], node), fn, Seq(()), begin)))

    def i_pairwise(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(DeferredOf("pairwise", (self.iter_of(args[0], node), Seq(()))))

    def i_starmap(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(IndexedOf("starmap", (args[0], self.iter_of(args[1], node))))

    def i_repeat(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        times = [kwargs["times"]] if "times" in kwargs else args[1:]
        return self.one_shot(IndexedOf("repeat", (args[0], *times)))

    def i_count(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        start, step = (kwargs.get(n, args[k] if len(args) > k else k) for k, n in enumerate(("start", "step")))
        return self.one_shot(IndexedOf("count", (start, step)))

    def i_cycle(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        it = self.iter_of(args[0], node)
        if self.is_inert(it, node):  # its items now are those that it will give
            return self.one_shot(IndexedOf("cycle", (self.as_list(it, node),)))
        return self.one_shot(DeferredOf("cycle", (it, Seq(()), None)))

    def i_islice(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        start, stop, step = (0, args[1], 1) if len(args) == 2 else [*args[1:], None][:3]
        start, step = 0 if start is None else start, 1 if step is None else step
        if not (is_static_int(start) and is_static_int(step)):
            self.fail("itertools.islice() with a start or step known at run time only", node, "use an array")
        return self.one_shot(DeferredOf("islice", (self.iter_of(args[0], node), 0, start, stop, step)))

    def i_zip_longest(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        its = Seq(tuple([self.iter_of(a, node) for a in args]))
        return self.one_shot(DeferredOf("longest", (its, kwargs.get("fillvalue"))))

    def i_filterfalse(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(DeferredOf("filter", (self.iter_of(args[1], node), args[0], False)))

    def i_compress(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(DeferredOf("compress", tuple([self.iter_of(a, node) for a in args])))

    def i_takewhile(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(DeferredOf("takewhile", (self.iter_of(args[1], node), args[0], False)))

    def i_dropwhile(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.one_shot(DeferredOf("dropwhile", (self.iter_of(args[1], node), args[0], False)))

    def i_tee(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        n = kwargs.get("n", args[1] if len(args) > 1 else 2)
        if not is_static_int(n):
            self.fail("itertools.tee() of a number known at run time only", node, "give the number")
        it = self.iter_of(args[0], node)
        waiting = Seq(tuple([self.new_list([]) for _ in range(n)]))
        return Seq(tuple([self.one_shot(DeferredOf("tee", (it, w, waiting))) for w in waiting.items]))

    def i_groupby(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        fn = kwargs.get("key", args[1] if len(args) > 1 else None)
        return self.one_shot(DeferredOf("groupby", (self.iter_of(args[0], node), fn, self.new_list([]))))


def is_itertools(obj: Any) -> bool:
    return getattr(obj, "__module__", "") == "itertools" or getattr(obj, "__self__", None) is itertools.chain


__all__ = ["Itertools", "is_itertools"]
