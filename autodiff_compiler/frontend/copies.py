"""Copies and conversions of arrays, and the orders in memory that they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.core import Value, type_of
from ..ir.opset import CAST, PRIMS
from ..ir.types import same_dtype
from .array_stores import ArrayStores
from .avals import Ref, Seq, describe, is_static_int
from .layout import ORDERS, Layout, axes_are_long, deciding, is_fortran, layout_of, mark_fortran, order_like, turned


class Copies(ArrayStores):
    def memory_order(self, order: Any, av: Any, node: Any) -> str:
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

    def in_c_order(self, order: Any, av: Any, what: str, node: Any) -> bool:
        """False where the elements are taken in Fortran order, as those of the transposed array are in C order."""
        found = self.memory_order(order, av, node)
        if found not in "CF" and (type(av) is not Ref or self.read(av, node).type.ndim not in (0, 1)):
            layout = deciding(self, av)
            cause = Layout(layout) if layout is not None else None
            message = f"{what} with order={order!r}, of an array whose order in memory is not known"
            self.fail(message, node, "pass order='C' or 'F'", cause=cause)
        return found != "F"

    def copy_of(self, av: Any, node: Any, order: str) -> Any:
        """A new array with the same contents: a new cell with the same value."""
        if type(av) is not Ref:
            return av
        whole = self.read(av, node)
        cell = self.cells.new()
        self.state.heap[cell] = whole
        self.cells.numpy.add(cell)
        order = self.memory_order(order, av, node)
        if whole.type.kind != "array":
            pass
        elif order == "C" or whole.type.ndim == 1:
            self.cells.contiguous.add(cell)
        elif order == "F":
            self.cells.fortran.add(cell)
        else:
            order_like(self, cell, (av,))
        return Ref(cell)

    def cast_copy(self, av: Any, dtype: Any, node: Any) -> Any:
        x = self.operand(av, node)
        t = type_of(x)
        if type(av) is Ref and t.kind == "array" and not isinstance(dtype, Value) and same_dtype(t.dtype, dtype):
            return self.copy_of(av, node, "K")
        prim = PRIMS.get(np.ndarray.astype, CAST)
        return mark_fortran(self, self.fresh(self.emit(node, prim, x, dtype), like=(av,)), (av,))

    def n_copy(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if 1 <= len(args) <= 2 and type(args[0]) is Ref and self.read(args[0], node).type.kind == "array":
            order = kwargs.get("order", args[1] if len(args) > 1 else "K")
            if set(kwargs) <= {"order"}:
                return self.copy_of(args[0], node, order)
        return self.call_prim(PRIMS[np.copy], args, kwargs, node)

    def n_array(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        args = [self.held_items(args[0], node), *args[1:]]
        dtype = self.dtype_of(kwargs.get("dtype", args[1] if len(args) > 1 else None), node)
        if getattr(dtype, "names", None) is not None and type(args[0]) is not Ref:
            self.fail("records made of tuples", node, "make them with np.zeros(n, dtype), and store each field")
        if kwargs.get("order", "K") not in ("K", None):
            order = kwargs["order"]
            made = self.n_array(args, {k: v for k, v in kwargs.items() if k != "order"}, node)
            if kwargs.get("copy", True) is True and type(made) is Ref:
                return self.copy_of(made, node, order)
            return self.put_in_order(made, made is not args[0], order, node)
        kwargs = {k: v for k, v in kwargs.items() if k != "order"}
        if kwargs.get("copy", True) is None and len(args) <= 2 and set(kwargs) <= {"copy", "dtype"}:
            return self.n_asarray(args, {k: v for k, v in kwargs.items() if k != "copy"}, node)
        plain = set(kwargs) <= {"dtype", "copy"} and kwargs.get("copy", True) is True and len(args) <= 2
        if plain and type(args[0]) is Ref and self.read(args[0], node).type.kind == "array":
            return self.copy_of(args[0], node, "K") if dtype is None else self.cast_copy(args[0], dtype, node)
        if "ndmin" in kwargs and is_static_int(kwargs["ndmin"]):
            least = kwargs["ndmin"]
            made = self.n_array(args, {k: v for k, v in kwargs.items() if k != "ndmin"}, node)
            rank = type_of(self.operand(made, node)).ndim
            if rank is None:
                self.fail("np.array with ndmin= of what has no known number of axes", node, "index it with None")
            new = Seq((*[None] * (least - rank), Ellipsis))
            return made if rank >= least else self.subscript(made, new, node)
        if kwargs.get("copy") is True:
            kwargs = {k: v for k, v in kwargs.items() if k != "copy"}
        made = self.stacked(args[0], node)
        if plain and made is not args[0]:
            return made if dtype is None else self.cast_copy(made, dtype, node)
        value = self.call_prim(PRIMS[np.array], [made, *args[1:]], kwargs, node)
        if plain and type(value) is Ref:
            self.state.links.pop(value.cell, None)
            self.cells.numpy.add(value.cell)
        return value

    def n_fromiter(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        source, dtype, count = self.given("iter dtype count", args, kwargs, node, "fromiter")
        if count not in (None, -1) or dtype is None:
            self.fail("np.fromiter with count=", node, "make a list of as many items, and an array of that")
        return self.n_array([self.as_list(source, node), dtype], {}, node)

    def n_asarray(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if "order" in kwargs or len(args) > 2:
            order = kwargs.get("order", args[2] if len(args) > 2 else None)
            made = self.n_asarray(args[:2], {k: v for k, v in kwargs.items() if k != "order"}, node)
            return made if order in ("K", None) else self.put_in_order(made, made is not args[0], order, node)
        if self.is_container(args[0]) and set(kwargs) <= {"dtype"}:
            return self.n_array(args[:2], kwargs, node)
        dtype = self.dtype_of(kwargs.get("dtype", args[1] if len(args) > 1 else None), node)
        if set(kwargs) <= {"dtype"} and len(args) <= 2 and type(args[0]) is Ref:
            t = self.read(args[0], node).type
            if t.kind == "array" and (dtype is None or same_dtype(dtype, t.dtype)):
                return args[0]
            if t.kind == "array" and isinstance(dtype, np.dtype) and t.dtype is not None:
                return self.cast_copy(args[0], dtype, node)
        fn = np.asarray if np.asarray in PRIMS else np.array
        return self.call_prim(PRIMS[fn], args, kwargs, node)

    def n_ascontiguousarray(self, args: list[Any], kwargs: dict[str, Any], node: Any, order: str = "C") -> Any:
        fn = np.ascontiguousarray if order == "C" else np.asfortranarray
        if len(args) > 2 or set(kwargs) - {"dtype"} or type_of(self.operand(args[0], node)).ndim in (0, None):
            return self.call_prim(PRIMS[fn], args, kwargs, node)
        return self.n_asarray(args, {**kwargs, "order": order}, node)

    def n_asfortranarray(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.n_ascontiguousarray(args, kwargs, node, "F")

    def put_in_order(self, av: Any, copied: bool, order: Any, node: Any) -> Any:
        """The array itself if it is in this order, else a copy; a copy already if `copied`."""
        if type(av) is not Ref or self.read(av, node).type.kind != "array":
            self.fail(f"an array with order={order!r} of what is not known to be one", node, "leave order= out")
        if copied:
            return self.copy_of(av, node, order)
        found = self.memory_order(order, av, node)
        flat = self.read(av, node).type.ndim == 1
        layout = layout_of(self, av if found == "C" or flat else turned(av))
        other = layout_of(self, turned(av) if found == "C" else av)
        if found == "K" or layout == frozenset():
            return av
        if other == frozenset() and axes_are_long(self, av):
            return self.copy_of(av, node, found)
        fn = np.asfortranarray if found == "F" else np.ascontiguousarray
        value = self.emit(node, PRIMS[fn], self.operand(av, node))
        inputs = deciding(self, av)
        made = self.linked(value, [av], cause=Layout(inputs) if inputs is not None else None)
        if inputs is not None and type(made) is Ref:
            self.cells.undecided[made.cell] = inputs
        return made


__all__ = ["Copies"]
