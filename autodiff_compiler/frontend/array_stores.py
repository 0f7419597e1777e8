"""NumPy's functions and methods that write into an array, in terms of stores and reads."""

from __future__ import annotations

import ast
import operator
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from ..errors import AliasError, ArgumentError, MissingAttributeError
from ..ir.core import Prim, Value, type_of
from ..ir.opset import ADDAT, infer_step
from .avals import Entries, Items, Obj, Ref, Seq, rebuilt, same
from .causes import parents_of
from .layout import Layout, layout_of
from .outputs import Outputs

_WHOLE = ("index", (Ellipsis,))
_FLAT = ("reshape", (-1,))


class ArrayStores(Outputs):
    def target(self, av: Any, name: str, node: Any) -> Ref:
        if type(av) is not Ref:
            self.fail(f"{name} of something that is not an array", node, "", ArgumentError)
        return av

    def store_whole(self, av: Ref, value: Any, node: Any) -> None:
        x = self.operand(self.as_array(value, node), node)
        self.check_cast(self.read(av, node), x, node)
        self.store(av, None if av.path else _WHOLE, x, node)

    def given(self, names: str, args: list[Any], kwargs: dict[str, Any], node: Any, fn: str) -> list[Any]:
        """The arguments by the names of the parameters; None for what is left out."""
        params = names.split()
        out = dict(zip(params, args))
        for name, value in kwargs.items():
            if name not in params or name in out:
                self.fail(f"np.{fn} with {name}=", node, "store with a subscript, a[i] = v")
            out[name] = value
        if len(args) > len(params):
            self.fail(f"np.{fn} with {len(args)} arguments", node, "", ArgumentError)
        self.at_node = node
        return [out.get(name) for name in params]

    # --- functions ------------------------------------------------------------------------------------------------

    def n_copyto(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        dst, src, casting, where = self.given("dst src casting where", args, kwargs, node, "copyto")
        dst = self.target(dst, "np.copyto", node)
        if casting not in (None, "same_kind"):
            self.fail("np.copyto with casting=", node, "cast with .astype before")
        if where is not None and where is not True:
            src = self.numpy(np.where, where, src, dst)
        self.store_whole(dst, src, node)

    def n_put(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        a, ind, v = self.given("a ind v", args, kwargs, node, "put")
        base = self.target(a, "np.put", node)
        places = self.numpy(np.ravel, self.numpy(np.asarray, ind))
        value = self.cycled(v, self.array_attribute(places, "size", node), node)
        if value is None and not self.is_empty(base, node):
            return
        self.store_flat(base, self.operand(places, node), self.operand(value, node), node)

    def store_flat(self, base: Ref, places: Any, value: Any, node: Any) -> None:
        whole = self.read(base, node)
        path = base.path if whole.type.ndim == 1 else (*base.path, _FLAT)
        self.store(Ref(base.cell, path), ("index", (places,)), value, node)

    def n_place(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        arr, mask, vals = self.given("arr mask vals", args, kwargs, node, "place")
        base = self.target(arr, "np.place", node)
        flags = self.numpy(np.ravel, self.numpy(np.asarray, mask, Obj(bool, None)))
        if self.shares(self.operand(vals, node), base):
            self.refuse_overlap("np.place", node)
        value = self.cycled(vals, self.numpy(np.count_nonzero, flags), node)
        if value is None:
            self.raises(ValueError, "Cannot insert from an empty array!", node)
        self.store_flat(base, self.operand(flags, node), self.operand(value, node), node)

    def n_putmask(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        a, mask, values = self.given("a mask values", args, kwargs, node, "putmask")
        base = self.target(a, "np.putmask", node)
        mask = self.numpy(np.asarray, mask, Obj(bool, None))
        size = self.array_attribute(base, "size", node)
        message = "putmask: mask and data must be the same size"
        self.require_equal(self.array_attribute(mask, "size", node), size, message, node)
        mask = self.numpy(np.reshape, mask, self.shape(base, node))
        if not self.is_scalar(values):
            values = self.cycled(values, size, node)
            if values is None:
                return
            values = self.numpy(np.reshape, values, self.shape(base, node))
        self.store_whole(base, self.numpy(np.where, mask, values, base), node)

    def n_fill_diagonal(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        a, val, wrap = self.given("a val wrap", args, kwargs, node, "fill_diagonal")
        base = self.target(a, "np.fill_diagonal", node)
        if wrap not in (None, False) or self.read(base, node).type.ndim != 2:
            self.fail("np.fill_diagonal with wrap=, or of other than two axes", node, "index the diagonal")
        rows, columns = (self.axis_length(self.read(base, node), k, node) for k in (0, 1))
        count = self.call(Obj(min, None), [rows, columns], {}, node)
        value = self.cycled(val, count, node)
        places = self.operand(self.numpy(np.arange, count), node)
        self.store(base, ("index", (places, places)), self.operand(value, node), node)

    def n_put_along_axis(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        arr, indices, values, axis = self.given("arr indices values axis", args, kwargs, node, "put_along_axis")
        base = self.target(arr, "np.put_along_axis", node)
        value = self.operand(values, node)
        ndim, given = self.read(base, node).type.ndim, type_of(self.operand(indices, node)).ndim
        if axis is None and given is not None and given != 1:
            self.raises(ValueError, "when axis=None, `indices` must have a single dimension.", node)
        if isinstance(axis, int) and ndim is not None and not -ndim <= axis < ndim:
            self.raises(AxisError, f"axis {axis} is out of bounds for array of dimension {ndim}", node)
        if axis is not None and None not in (ndim, given) and ndim != given:
            self.raises(ValueError, "`indices` and `arr` must have the same number of dimensions", node)
        if axis is None or ndim == 1:
            self.store_flat(base, self.operand(indices, node), value, node)
            return
        if not isinstance(axis, int) or ndim is None or not -ndim <= axis < ndim:
            self.fail("np.put_along_axis along an axis that is not known", node, "give the axis", cause=axis)
        items: list[Any] = []
        for k in range(ndim):
            if k == axis % ndim:
                items.append(self.operand(indices, node))
                continue
            places = self.numpy(np.arange, self.axis_length(self.read(base, node), k, node))
            shape = Seq(tuple([-1 if j == k else 1 for j in range(ndim)]))
            items.append(self.operand(self.numpy(np.reshape, places, shape), node))
        self.store(base, ("index", tuple(items)), value, node)

    def ufunc_at(self, ufunc: Any, args: list[Any], node: Any) -> Any:
        """``ufunc.at``: without buffering, so that a repeated index counts each time."""
        name = f"np.{ufunc.__name__}.at"
        if len(args) != ufunc.nin + 1:
            self.fail(f"{name} takes {ufunc.nin + 1} arguments", node, "", ArgumentError)
        self.at_node = node
        base = self.target(args[0], name, node)
        items = self.index_items(args[1], node)
        if ufunc in (np.add, np.subtract):
            value = args[2] if ufunc is np.add else self.numpy(np.negative, args[2])
            self.store(base, ("index", items), self.operand(value, node), node, ADDAT)
            return
        if not any(isinstance(i, (list, tuple)) or _may_repeat(i) for i in items):
            part = self.subscript(base, args[1], node)
            result = self.numpy(ufunc, part, *args[2:])
            self.store(base, ("index", items), self.operand(result, node), node)
            return
        places = self.numpy(np.asarray, args[1]) if len(items) == 1 else None
        whole = None if places is None else self.read(places, node)
        if places is None or whole is None or whole.type.ndim != 1 or self.read(base, node).type.ndim != 1:
            self.fail(f"{name} of other than one axis", node, "write a loop")
        count = self.axis_length(whole, 0, node)
        values = args[2:]
        if values and not self.is_scalar(values[0]):
            values = [self.numpy(np.broadcast_to, values[0], Seq((count,)))]

        def one(i: Any) -> None:
            place = self.subscript(places, i, node)
            given = [v if self.is_scalar(v) else self.subscript(v, i, node) for v in values]
            new = self.numpy(ufunc, self.subscript(base, place, node), *given)
            self.store(base, ("index", self.index_items(place, node)), self.operand(new, node), node)

        self.counted(count, one, node)

    def where_stored(self, prim: Prim, args: list[Any], kwargs: dict[str, Any], out: Any, node: Any) -> Any:
        """A ufunc with ``where=``: computed, and stored to `out`, where that is true only."""
        if type(out) is Seq and len(out.items) == 1:
            out = out.items[0]
        if type(out) is not Ref:
            self.fail(
                "a ufunc with where= and without out= leaves the rest uninitialised", node, "give out=, or use np.where"
            )
        self.at_node = node
        shape = self.shape(out, node)
        mask = self.numpy(np.broadcast_to, kwargs.pop("where"), shape)
        parts = [
            a if self.is_scalar(a) else self.subscript(self.numpy(np.broadcast_to, a, shape), mask, node) for a in args
        ]
        result = self.operand(self.call_prim(prim, parts, kwargs, node), node)
        self.check_cast(self.read(out, node), result, node)
        self.store(out, ("index", (self.operand(mask, node),)), result, node)
        return out

    # --- methods and attributes -----------------------------------------------------------------------------------

    def m_fill(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        (value,) = self.given("value", args, kwargs, node, "ndarray.fill")
        base = self.target(av, ".fill()", node)
        if type_of(self.operand(value, node)).ndim not in (0, None):
            self.raises(ValueError, "setting an array element with a sequence", node)
        self.store(base, None if base.path else _WHOLE, self.operand(value, node), node)

    def m_put(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        names = {"indices": "ind", "values": "v"}
        self.n_put([av, *args], {names.get(k, k): v for k, v in kwargs.items()}, node)

    def m_sort(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if (args and args[0] is None) or kwargs.get("axis", -1) is None:
            self.raises(TypeError, "'NoneType' object cannot be interpreted as an integer", node)
        result = self.call(Obj(np.sort, None), [av, *args], kwargs, node)
        self.store_whole(self.target(av, ".sort()", node), result, node)

    def m_partition(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        kth, axis = self.given("kth axis", args, kwargs, node, "ndarray.partition")
        base = self.target(av, ".partition()", node)
        along = -1 if axis is None else axis
        order = self.call(Obj(np.argpartition, None), [base, kth], {"axis": along}, node)
        self.store_whole(base, self.call(Obj(np.take_along_axis, None), [base, order, along], {}, node), node)

    def m_resize(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.fail("the method .resize() changes how much memory an array has", node, "use np.resize")

    def m_itemset(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.fail("NumPy 2 has no ndarray.itemset", node, "store with a subscript, a[i] = v", MissingAttributeError)

    def flat(self, av: Any, node: Any) -> Any:
        """``a.flat``: the elements in C order, wherever they are in memory. It is no array: it may only be indexed,
        assigned to, and looped over."""
        base = self.target(av, ".flat", node)
        up = parents_of(self.frame.node).get(node)
        used = isinstance(up, ast.Subscript) and up.value is node
        used = used or (isinstance(up, (ast.For, ast.comprehension)) and up.iter is node)
        used = used or (isinstance(up, ast.Assign) and node in up.targets)
        if isinstance(up, ast.Call) and node in up.args and isinstance(up.func, ast.Name):
            used = up.func.id in ("enumerate", "zip", "len", "list", "sum", "min", "max")
        if not used:
            self.fail(".flat is not supported as a value of its own", node, "use .ravel()")
        path = base.path if self.read(base, node).type.ndim == 1 else (*base.path, _FLAT)
        flat = Ref(base.cell, path)
        self.flats[id(flat)] = flat
        return flat

    def store_array_attribute(self, av: Ref, name: str, value: Any, node: Any) -> bool:
        """``a.shape = ...``, ``a.flat = ...``, ``a.real = ...``; False if it is another attribute."""
        self.at_node = node
        if name == "flat":
            flat = self.flat(av, node)
            self.store_in_flat(flat, Ellipsis, value, node)
            return True
        if name == "shape":
            self.set_shape(av, value, node)
            return True
        whole = self.read(av, node).type
        if name == "real" and whole.is_float and whole.dtype is not None and whole.dtype.kind == "f":
            self.store_whole(av, value, node)
            return True
        if name in ("real", "imag"):
            value = self.as_array(value, node)
            other = self.array_attribute(av, "imag" if name == "real" else "real", node)
            unit = self.binary(operator.mul, other if name == "real" else value, 1j, node)
            self.store_whole(av, self.binary(operator.add, value if name == "real" else other, unit, node), node)
            return True
        return False

    def set_shape(self, av: Ref, shape: Any, node: Any) -> None:
        """The array itself gets another shape: whatever refers to it sees that."""
        whole = self.read(av, node)
        if whole.type.ndim not in (0, 1):
            layout = layout_of(self, av)
            if layout is None or layout:
                self.fail(
                    "it is not known whether this array can get another shape in place",
                    node,
                    "write a = a.reshape(...)",
                    AliasError,
                    Layout(layout) if layout is not None else None,
                )
        target = self.operand(shape, node)
        new = Ref(av.cell, (*av.path, ("reshape", tuple(target) if isinstance(target, (tuple, list)) else (target,))))
        self.at(node)
        infer_step(self.builder, whole.type, new.path[-1])

        def renewed(leaf: Any) -> Any:
            return new if type(leaf) is Ref and same(leaf, av) else leaf

        for names in self.state.envs.values():
            for k, x in names.items():
                names[k] = rebuilt(x, renewed)
        for cell in self.inputs.initial:
            self.content(cell)
        for cell, content in self.state.heap.items():
            if type(content) in (Items, Entries):
                self.state.heap[cell] = rebuilt(content, renewed)


def _may_repeat(item: Any) -> bool:
    """An index that may name an element twice: an array of integers, or of what is not known."""
    if type(item) is not Value or item.type.is_scalar:
        return False
    return item.type.dtype is None or item.type.dtype.kind != "b"
