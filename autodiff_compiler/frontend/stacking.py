"""Arrays made of lists whose length is known at run time only."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.core import type_of
from ..ir.opset import PRIMS
from .avals import Columns, ListRef, Obj
from .border import Border
from .handlers import Node, Val
from .structures import Leaf


class Stacking(Border):
    def stacked(self, av: Val, node: Node) -> Val:
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
        item = _item_type(self, content)
        if item is None or item.kind != "array" or item.dims is None:
            return av
        # np.array of no arrays at all would have one axis: np.stack raises there.
        return self.call_prim(PRIMS[np.stack], [av], {}, node)


def _item_type(ctx: Stacking, content: Any) -> Any:
    return type_of(content.leaves[0]).elem if type(content) is Columns and type(content.structure) is Leaf else None


__all__ = ["Stacking"]
