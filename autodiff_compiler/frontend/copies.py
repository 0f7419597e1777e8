"""Copies and conversions of arrays, and the orders in memory that they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.core import Value, type_of
from ..ir.opset import CAST, PRIMS
from ..ir.types import same_dtype
from .array_stores import ArrayStores
from .avals import Ref, describe
from .handlers import Node, Val
from .layout import ORDERS, Layout, deciding, is_fortran, layout_of, mark_fortran, order_like, turned


class Copies(ArrayStores):
    def memory_order(self, order: Any, av: Val, node: Node) -> str:
        """The argument `order` of a function, "C" or "F" where that is known, else "K"."""
        if order is None:
            order = "K"
        if not isinstance(order, str) or order.upper() not in ORDERS:
            self.fail(f"order={describe(order)}", node, "pass 'C' or 'F'")
        order = order.upper()
        if order in "AK" and type(av) is Ref:
            # "A" is C order unless the array is in Fortran order, and "K" is what it is.
            order = "C" if layout_of(self, av) == frozenset() else "F" if is_fortran(self, av) else order
        return str(order)

    def in_c_order(self, order: Any, av: Val, what: str, node: Node) -> bool:
        """False where the elements are taken in Fortran order, as those of the transposed array are in C order."""
        found = self.memory_order(order, av, node)
        if found not in "CF" and (type(av) is not Ref or self.read(av, node).type.ndim not in (0, 1)):
            layout = deciding(self, av)
            cause = Layout(layout) if layout is not None else None
            message = f"{what} with order={order!r}, of an array whose order in memory is not known"
            self.fail(message, node, "pass order='C' or 'F'", cause=cause)
        return found != "F"

    def copy_of(self, av: Val, node: Node, order: str) -> Val:
        """A new array with the same contents: a new cell with the same value."""
        if type(av) is not Ref:
            return av
        whole = self.read(av, node)
        order = self.memory_order(order, av, node)
        if order in "CF" and whole.type.kind == "array" and whole.type.ndim not in (0, 1) and not whole.type.duck:
            if (layout_of(self, av) if order == "C" else layout_of(self, turned(av))) is None:
                # The same elements in another order in memory, in which sums add them, too.
                whole = self.emit(node, PRIMS[np.copy], whole, order)
        cell = self.new_cell(whole)
        self.cells.numpy.add(cell)
        if whole.type.kind != "array":
            pass
        elif order == "C" or whole.type.ndim == 1:
            self.cells.contiguous.add(cell)
        elif order == "F":
            self.cells.fortran.add(cell)
        else:
            order_like(self, cell, (av,))
        return Ref(cell)

    def cast_copy(self, av: Val, dtype: Any, node: Node) -> Val:
        x = self.operand(av, node)
        t = type_of(x)
        if type(av) is Ref and t.kind == "array" and not isinstance(dtype, Value) and same_dtype(t.dtype, dtype):
            return self.copy_of(av, node, "K")
        prim = PRIMS.get(np.ndarray.astype, CAST)
        return mark_fortran(self, self.fresh(self.emit(node, prim, x, dtype), like=(av,)), (av,))
