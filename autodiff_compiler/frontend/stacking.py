"""Arrays made of lists whose length is known at run time only."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.core import type_of
from ..ir.opset import PRIMS
from .avals import Columns, ListRef, Obj, Ref, Seq, SliceOf
from .border import Border
from .library.arrays import stack_rows
from .structures import Leaf


class Stacking(Border):
    def stacked(self, av: Any, node: Any) -> Any:
        """The array that NumPy makes of a list of run-time length, of arrays, lists or tuples of numbers; all else as
        it is."""
        if type(av) is not ListRef:
            return av
        content = self.checked(av.cell, node, "list")
        if type(content) is not Columns:
            return av
        if type(content.structure) is not Leaf:
            av = self.as_list(self.mapped(Obj(np.array, None), av, node=node), node)
            content = self.checked(av.cell, node, "list")
        item = self.item_type(content)
        if item is None or item.kind != "array" or item.dims is None:
            return av
        # np.array of no arrays at all would have one axis: np.stack raises there.
        return self.call_prim(PRIMS[np.stack], [av], {}, node)

    def item_type(self, content: Any) -> Any:
        return type_of(content.leaves[0]).elem if type(content) is Columns and type(content.structure) is Leaf else None

    def rank_of_items(self, av: Any, name: str, node: Any) -> int | None:
        """The number of axes of the items of a list of run-time length; None if it is no such list."""
        if type(av) is not ListRef:
            return None
        content = self.checked(av.cell, node, "list")
        if type(content) is not Columns:
            return None
        item = self.item_type(content)
        if item is None or item.dims is None:
            self.fail(
                f"np.{name} of a list of run-time length, whose items are not known to have one number of axes",
                node,
                "make them arrays with the same number of axes",
            )
        return len(item.dims)

    def vector(self, av: Any, node: Any) -> Any:
        raise NotImplementedError

    def stack_call(self, obj: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        """np.vstack, hstack and column_stack: of a list of run-time length by np.stack and np.concatenate."""
        name = obj.__name__
        if len(args) == 1 and not kwargs and type(args[0]) is Ref and type_of(self.read(args[0], node)).kind == "array":
            return self.inline_function(Obj(stack_rows, None), [name, *args], {}, node)
        args = [self.as_arrays(a, node) for a in args]
        if name == "column_stack" and len(args) == 1 and type(args[0]) in (Seq, ListRef):
            items = self.known_items(args[0], node)
            if items is not None:
                args = [Seq(tuple([self.vector(x, node) for x in items]))]
        rank = self.rank_of_items(args[0], name, node) if len(args) == 1 else None
        if rank is None or kwargs:
            return self.call_prim(PRIMS[obj], args, kwargs, node)
        if rank == 0 and name == "hstack":
            return self.call(Obj(np.array, None), args, {}, node)
        if rank == 0:
            column = self.subscript(
                self.call(Obj(np.array, None), args, {}, node), Seq((SliceOf(None, None, None), None)), node
            )
            return column if name == "vstack" else self.call(Obj(np.transpose, None), [column], {}, node)
        if rank == 1 and name != "hstack":
            return self.call_prim(PRIMS[np.stack], args, {"axis": 0 if name == "vstack" else 1}, node)
        axis = 0 if name == "vstack" or rank == 1 else 1
        return self.call_prim(PRIMS[np.concatenate], args, {"axis": axis}, node)


__all__ = ["Stacking"]
