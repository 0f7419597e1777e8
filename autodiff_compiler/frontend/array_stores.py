"""Stores into arrays: whole arrays, ``where=``, ``a.flat`` and the attributes that may be assigned to."""

from __future__ import annotations

import ast
import operator
from typing import Any

import numpy as np

from ..errors import AliasError, ArgumentError, UnsupportedError
from ..ir.core import Prim
from ..ir.opset import infer_step
from .avals import Ref, Seq, rebuilt, same
from .causes import parents_of
from .handlers import Node, Val
from .layout import Layout, layout_of
from .outputs import Outputs

_WHOLE = ("index", (Ellipsis,))
_FLAT = ("reshape", (-1,))


class ArrayStores(Outputs):
    def target(self, av: Val, name: str, node: Node) -> Ref:
        if type(av) is not Ref:
            self.fail(f"{name} of something that is not an array", node, "", ArgumentError)
        return av

    def store_whole(self, av: Ref, value: Val, node: Node) -> None:
        x = self.operand(self.as_array(value, node), node)
        self.check_cast(self.read(av, node), x, node)
        self.store(av, None if av.path else _WHOLE, x, node)

    def where_stored(self, prim: Prim, args: list[Val], kwargs: dict[str, Val], out: Any, node: Node) -> Any:
        """A ufunc with ``where=``: computed, and stored to `out`, where that is true only."""
        if type(out) is Seq and len(out.items) == 1:
            out = out.items[0]
        if type(out) is not Ref:
            self.fail(
                "a ufunc with where= and without out= leaves the rest uninitialised", node, "give out=, or use np.where"
            )
        shape = self.shape(out, node)
        mask = self.numpy_at(node, np.broadcast_to, kwargs.pop("where"), shape)
        parts = [
            a if self.is_scalar(a) else self.subscript(self.numpy_at(node, np.broadcast_to, a, shape), mask, node)
            for a in args
        ]
        result = self.operand(self.call_prim(prim, parts, kwargs, node), node)
        self.check_cast(self.read(out, node), result, node)
        self.store(out, ("index", (self.operand(mask, node),)), result, node)
        return out

    # --- methods and attributes -----------------------------------------------------------------------------------

    def flat(self, av: Val, node: Node) -> Val:
        """``a.flat``: the elements in C order, wherever they are in memory. It is no array: it may only be indexed,
        assigned to, unpacked, and looped over."""
        base = self.target(av, ".flat", node)
        up = parents_of(self.frame.node).get(node)
        used = isinstance(up, ast.Subscript) and up.value is node
        used = used or (isinstance(up, (ast.For, ast.comprehension)) and up.iter is node)
        if isinstance(up, ast.Assign):
            used = node in up.targets or all(isinstance(target, (ast.Tuple, ast.List)) for target in up.targets)
        if isinstance(up, ast.Call) and node in up.args and isinstance(up.func, ast.Name):
            used = up.func.id in ("enumerate", "zip", "len", "list", "sum", "min", "max")
        if not used:
            self.fail(".flat is not supported as a value of its own", node, "use .ravel()")
        path = base.path if self.read(base, node).type.ndim == 1 else (*base.path, _FLAT)
        flat = Ref(base.cell, path)
        self.flats[id(flat)] = flat
        return flat

    def store_array_attribute(self, av: Ref, name: str, value: Val, node: Node) -> bool:
        """``a.shape = ...``, ``a.flat = ...``, ``a.real = ...``; False if it is another attribute."""
        if name == "flat":
            flat = self.flat(av, node)
            self.store_in_flat(flat, Ellipsis, value, node)
            return True
        if name == "shape":
            _set_shape(self, av, value, node)
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


def _set_shape(ctx: ArrayStores, av: Ref, shape: Any, node: Node) -> None:
    """The array itself gets another shape: whatever refers to it sees that."""
    whole = ctx.read(av, node)
    lengths = None if whole.type.dims is None else [ctx.builder.dims.find(d) for d in whole.type.dims]
    if lengths is None or (0 not in lengths and len(lengths) - lengths.count(1) > 1):
        layout = layout_of(ctx, av)
        if layout is None or layout:
            message = "it is not known whether this array can get another shape in place"
            if layout or ctx.builder.region is ctx.top:
                cause = Layout(layout) if layout is not None else None
                ctx.fail(message, node, "write a = a.reshape(...)", AliasError, cause)
            # In a branch, it is mostly an array without elements, for which it is known.
            empty = ctx.compare_with(operator.eq, ctx.array_attribute(av, "size", node), 0, node)
            ctx.raise_unless(empty, UnsupportedError, message + ": write a = a.reshape(...)", node)
    target = ctx.operand(shape, node)
    new = Ref(av.cell, (*av.path, ("reshape", tuple(target) if isinstance(target, (tuple, list)) else (target,))))
    ctx.at(node)
    infer_step(ctx.builder, whole.type, new.path[-1])

    def renewed(leaf: Any) -> Any:
        return new if type(leaf) is Ref and same(leaf, av) else leaf

    for names in ctx.state.envs.values():
        for k, x in names.items():
            names[k] = rebuilt(x, renewed)
    for cell in ctx.inputs.initial:
        ctx.content(cell)
    for cell, content in ctx.state.heap.items():
        ctx.state.heap[cell] = rebuilt(content, renewed)
