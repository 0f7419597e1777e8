"""Attributes, subscripts, and the items of sequences."""

from __future__ import annotations

import ast
import sys
from typing import Any

import numpy as np

from ..duck import name_of
from ..errors import ArgumentError
from ..ir.core import Value, type_of
from ..ir.opset import DIM, GET, LEN, LIST_GET, NDIM, PRIMS, SHAPE_OF, infer_step, opaque
from ..ir.opset import SIZE as SIZE_OF
from ..ir.sites import GET_ITEM
from ..ir.types import ANY
from ..late import late
from ..tree import class_lookup
from .avals import (
    MISSING,
    PYTHON,
    Bound,
    CheckpointedOf,
    Closure,
    Columns,
    DictRef,
    FlagsOf,
    Instance,
    Items,
    ListRef,
    Obj,
    Partial,
    RangeOf,
    Ref,
    Seq,
    SliceOf,
    Super,
    ViewOf,
    describe,
    is_collection,
    is_constant,
    is_iterator,
    is_number,
    is_static_int,
    key_av,
    remedy_of,
)
from .folds import proved
from .handlers import Ctx, Node, Val, lowers
from .memory import FLAG_KEYS, FLAGS, Memory
from .ranges import known, range_item, range_length
from .sets import is_set

actions_for = late(__package__, "causes", "actions_for")

AXES_REMEDY = "make it an array with a known number of axes, with .reshape(...)"


class Access(Memory):
    """Reading parts of things."""

    def part_ways(self, origin: Any) -> None:
        """Start again with a larger plan, if the paths then do not meet there."""
        self.plan.require(actions_for(self, origin), None)

    def new_list(self, items: list[Any]) -> ListRef:
        return ListRef(self.new_cell(Items(tuple(items))))

    def inner(self, av: Instance, node: Node) -> Any:
        """What a set, a deque, or a dictionary with a default holds: a tuple, list or dictionary."""
        return self.checked(av.cell, node, av.cls.__name__).items[0]

    def holder(self, av: Val, node: Node) -> Any:
        """What holds the items that a view, set, deque or dictionary with a default has; all else as it is."""
        if type(av) is ViewOf:
            return self.holder(av.of, node)
        if type(av) is CheckpointedOf:
            return self.holder(av.it, node)
        return self.inner(av, node) if is_collection(av) and not is_iterator(av) else av

    def static_key(self, av: Val, node: Node, what: str = "a dictionary key") -> Val:
        if is_constant(av):
            return av
        if is_collection(av) and av.cls is frozenset:
            return self.history(av, node).look()
        if type(av) is Seq:
            return tuple([self.static_key(x, node) for x in av.items])
        if type(av) is Obj:
            return self.object_key(av, node)
        dtype = av.type.dtype if type(av) is Value and av.type.kind == "generic" else None
        if dtype is not None and dtype.kind in "iub":
            for param, item in zip(self.top.params, self.inputs.inputs):
                if param is av:  # NumPy's integer from outside: the code is for this one
                    known = self.inputs.met[item.path]
                    self.inputs.guard(item.path, "eq", known)
                    return known
        remedy = "use a literal key, or loop over a literal tuple of keys or numbers such as (0, 1)"
        self.fail(f"{what} has to be known when the program is compiled", node, remedy, cause=av)

    # --- attributes -----------------------------------------------------------------------------------------------

    def attribute(self, av: Val, name: str, node: Node) -> Val:
        kind = type(av)
        if is_collection(av):
            return self.checked(av.cell, node).items[1] if name == "maxlen" else Bound(name, av)
        if kind is Obj or kind is Instance or (kind is Seq and av.cls is not None):
            found = self.find_attribute(av, name, node)
            return self.no_attribute(av, name, node) if found is MISSING else found
        if kind is Super:
            return self.super_attribute(av, name, node)
        if kind is Partial and name in ("func", "args", "keywords"):
            if name == "keywords":
                return self.new_dict(dict(zip(av.names, av.values)))
            return av.fn if name == "func" else Seq(av.args)
        if kind is Value and av.type.kind == "object":
            if name in ("__context__", "__traceback__"):
                what = "before" if name == "__context__" else "where"
                remedy = "name the exception in its handler, and keep what is asked for in a variable"
                self.fail(f"{name}: what was raised {what} is not kept in compiled code", node, remedy)
            made = self.emit(node, opaque(getattr, "getattr"), av, name)
            return self.fresh(made) if self.plan.watch is None else self.given(made, [], True)
        if kind is Ref or kind is Value or is_number(av):
            _require_attribute(self, av, name, node)
            if kind is Ref:
                _require_of_duck(self, av, name, node)
            found = self.array_attribute(av, name, node)
            if found is not NotImplemented:
                return found
        if kind is SliceOf or kind is RangeOf:
            if name in ("start", "stop", "step"):
                return getattr(av, name)
        if kind is Closure and av.attributes is not None:
            held = self.checked(av.attributes.cell, node, "function").get(name)
            if held is not MISSING:
                return self.use(held, name, node)
        if kind is Closure and name in ("__name__", "__qualname__"):
            return getattr(av.node, "name", "<lambda>")
        if kind is FlagsOf:
            return self.flag(av, FLAGS.get(name), node)
        return self.method_of(av, name, node)

    def method_of(self, av: Val, name: str, node: Node) -> Val:
        """A method of a value of one of the built-in classes, or what else the class says that it has."""
        if name == "__class__":
            return self.known_class(av, node)
        if type(av) is Bound and not isinstance(av.fn, str):
            return av.self if name == "__self__" else av.fn if name == "__func__" else self.attribute(av.fn, name, node)
        cls = self.class_of(av, node)
        inside = type(av) is Ref and self.frame.site is not None and self.read(av, node).type.duck is not None
        if (cls is None or inside) and getattr(node, "_called", False):
            return Bound(name, av)  # what is called is a method, whatever the class
        if type(av) is Closure or (cls is None and not callable(class_lookup(np.ndarray, name))):
            self.fail(f"the attribute {name!r} of {describe(av)}", node, "keep it in a variable")
        raw = class_lookup(cls or np.ndarray, name)
        if raw is None:
            self.lacks(cls or np.ndarray, AttributeError, f"{cls.__name__!r} object has no attribute {name!r}", node)
        if callable(raw) or isinstance(raw, (classmethod, staticmethod)) or hasattr(raw, "__func__"):
            return Bound(name, av)
        if is_constant(av) and is_constant(getattr(av, name)):
            return proved("constants", getattr(av, name))
        self.fail(f"the attribute {name!r} of {describe(av)}", node, "use a function of NumPy's, or ask outside")

    def array_attribute(self, av: Val, name: str, node: Node) -> Val:
        """The attributes of arrays and numbers that are not methods."""
        if name == "T":
            return self.transpose(av, None, node)
        if name == "shape":
            return self.shape(av, node)
        if name == "ndim":
            t = type_of(self.operand(av, node))
            if t.dims is not None:
                return proved("length", len(t.dims))
            return self.emit(node, NDIM, self.operand(av, node))
        if name == "size":
            x = self.operand(av, node)
            dims = type_of(x).dims
            if dims is not None and all(self.builder.dims.find(d) == 1 for d in dims):
                return 1
            if dims is not None and len(dims) == 1:
                return self.emit(node, DIM, x, 0)
            return self.emit(node, SIZE_OF, x)
        if name == "dtype":
            return self.static_dtype(av, node)
        if name in ("real", "imag"):
            x = self.operand(av, node)
            t = type_of(x)
            prim = PRIMS.get(getattr(np, name))
            if is_constant(av):
                return getattr(av, name)
            if prim is None:
                self.fail(f".{name} is not supported", node, "use the function of NumPy's with this name")
            if name == "real" and (t.is_scalar or t.kind == "array") and t.dtype is not None and t.dtype.kind != "c":
                return av
            made = self.linked(self.emit(node, prim, x), [av])
            return self.guarded_imaginary(made, t) if name == "imag" else made
        if name == "flat":
            return self.flat(av, node)
        return self.memory_attribute(av, name, node)

    def transpose(self, av: Val, axes: tuple[int, ...] | None, node: Node) -> Val:
        """A view with its axes permuted (reversed if `axes` is None)."""
        if type(av) is not Ref:
            return av
        t = type_of(self.read(av, node))
        n = t.ndim if t.kind == "array" else None
        if n is not None and (axes or tuple(reversed(range(n)))) == tuple(range(n)):
            return Ref(av.cell, av.path)  # an object of its own, of the same memory
        if axes is not None and t.ndim is None:
            self.fail("a transposition of an array whose number of axes is not known", node, AXES_REMEDY)
        if axes == tuple(reversed(range(t.ndim or 0))):
            axes = None
        view = Ref(av.cell, (*av.path, ("transpose", axes)))
        self.read(view, node)
        return view

    def shape(self, av: Val, node: Node) -> Val:
        x = self.operand(av, node)
        dims = type_of(x).dims
        if dims is None:
            return self.emit(node, SHAPE_OF, x)
        return Seq(tuple([self.axis_length(x, k, node) for k in range(len(dims))]))

    def axis_length(self, x: Any, axis: int, node: Node) -> Any:
        dims = type_of(x).dims
        if dims is not None and len(dims) > axis:
            known = self.builder.dims.find(dims[axis])
            if isinstance(known, int):
                return known
            if type(x) is Value and x.region is not self.top:
                # The length of an argument, so that nothing else is kept for its shape.
                for param, item in zip(self.top.params, self.inputs.inputs):
                    for k, d in enumerate(item.type.dims or ()):
                        if self.builder.dims.find(d) == known:
                            return self.emit(node, DIM, param, k)
        return self.emit(node, DIM, x, axis)

    # --- subscripts -----------------------------------------------------------------------------------------------

    def subscript(self, base: Val, index: Val, node: Node) -> Val:
        """``base[index]``."""
        base = self.use(base, "", node)
        kind = type(base)
        if kind is DictRef:
            return self.dict_item(base, index, node)
        if is_collection(base):
            if is_set(base) or is_iterator(base):
                self.fail(f"{describe(base)} cannot be subscripted", node, "", ArgumentError)
            inner = self.inner(base, node)
            get = self.subscript if type(inner) is ListRef else self.default_item
            return get(inner if type(inner) is ListRef else base, index, node)
        if kind is Seq:
            if type(index) is SliceOf:
                if not all(map(is_constant, index.parts())):
                    what = "a slice of a tuple needs bounds that are known when the program is compiled"
                    self.fail(what, node, "use a list or an array", cause=index)
                return Seq(base.items[slice(*index.parts())])
            if is_static_int(index):
                return _static_item(self, list(base.items), index, node, base)
            return self.one_of(base.items, self.operand(index, node), node)
        if kind is ListRef:
            content = self.checked(base.cell, node, "list")
            if type(index) is SliceOf:
                return self.list_slice(base, index, node)
            if type(content) is Items and is_static_int(index):
                return _static_item(self, list(content.items), index, node, base)
            return self.item_at(base, self.operand(index, node), node)
        if kind is RangeOf:
            return range_item(self, base, index, node)
        if kind is Ref:
            return _array_item(self, base, index, node)
        if kind is FlagsOf:
            return self.flag(base, FLAG_KEYS.get(index) if isinstance(index, str) else None, node)
        if isinstance(base, str) and (is_static_int(index) or type(index) is SliceOf):
            return base[self.operand(index, node)]
        if kind is Value:
            if base.type.kind == "shape":
                if not is_static_int(index):
                    self.fail("this part of the shape of an array whose number of axes is not known", node, AXES_REMEDY)
                if base.op is not None and base.op.prim is SHAPE_OF:
                    return self.emit(node, DIM, base.op.args[0], index)
            return _plain_get(self, base, index, node)
        if kind is Obj and base.obj is sys.modules:
            if not self.contains(index, base, node):
                self.raises(KeyError, index, node)
            return self.module_entry(sys.modules.get, index, node)
        if kind is Instance or kind is Obj:
            found = self.call_special(base, "__getitem__", [index], node)
            if found is not NotImplemented:
                return found
            if kind is Obj and isinstance(base.obj, type):
                return self.class_item(base, index, node)
        if base is None or type(base) in (bool, int, float, complex):
            self.raises(TypeError, f"{type(base).__name__!r} object is not subscriptable", node)
        remedy = remedy_of(base, "make it an array, tuple, list or dictionary first")
        self.fail(f"{describe(base)} cannot be subscripted here", node, remedy)

    def dict_item(self, base: DictRef, index: Val, node: Node) -> Val:
        content = self.checked(base.cell, node, "dictionary")
        key = self.static_key(index, node)
        if key not in content.keys:
            self.raises(KeyError, key, node, f"the dictionary has no key {key!r}")
        return self.use(content.get(key), f"the entry {key!r}", node)

    def index_items(self, index: Val, node: Node) -> tuple[Any, ...]:
        """The subscripts as they stand in a path."""
        items = index.items if type(index) is Seq else (index,)
        if sum(i is Ellipsis for i in items) > 1:
            self.raises(IndexError, "an index can only have a single ellipsis ('...')", node)
        return tuple([self.operand(i, node) for i in items])

    def array_index(self, index: Val, node: Node) -> tuple[Any, ...]:
        """The subscripts of an array. A list of ints, of run-time length, is an array, so that it surely has one
        axis."""
        return tuple(
            [
                self.emit(node, PRIMS[np.array], i, dtype=np.dtype(np.int64)) if _is_list_of_ints(i) else i
                for i in self.index_items(index, node)
            ]
        )

    # --- sequences ------------------------------------------------------------------------------------------------

    def known_items(self, av: Val, node: Node) -> list[Val] | None:
        kind = type(av)
        if kind is Seq:
            return list(av.items)
        if kind is ListRef:
            content = self.checked(av.cell, node, "list")
            return list(content.items) if type(content) is Items else None
        if kind is DictRef:
            return _view_items(self, ViewOf(av, "keys"), node)
        if kind is ViewOf:
            return _view_items(self, av, node)
        if is_set(av):
            return list(self.in_order(av, node).items)
        if is_collection(av) and not is_iterator(av):
            return self.known_items(self.inner(av, node), node)
        if kind is RangeOf:
            real = known(av)
            return None if real is None else list(real)
        if isinstance(av, str):
            return list(av)
        if kind is Ref:
            x = self.read(av, node)
            if x.type.dims:
                n = self.builder.dims.find(x.type.dims[0])
                if isinstance(n, int):
                    return [self.subscript(av, k, node) for k in range(n)]
        return None

    def length(self, av: Val, node: Any) -> Any:
        """``len(av)``."""
        av = self.holder(av, node)
        kind = type(av)
        if kind is Seq:
            return proved("length", len(av.items))
        if kind in (ListRef, DictRef):
            content = self.checked(av.cell, node, "list")
            if type(content) is Columns:
                return self.emit(node, LEN, content.leaves[0])
            return proved("length", len(content.items))
        if isinstance(av, (str, bytes)):
            return proved("length", len(av))
        if kind is RangeOf:
            return range_length(self, av, node)
        if kind is Ref:
            x = self.read(av, node)
            if x.type.kind == "array" and x.type.dims is not None and len(x.type.dims):
                return self.axis_length(x, 0, node)
            if x.type == ANY and av.cell not in self.cells.numpy:
                made = x.op.prim.name if x.op is not None else "an unknown call"
                remedy = "register it with autodiff_compiler.primitive (docs/rules.md), or compute it outside"
                message = f"{made} has no rule, so it is not known what it returns, nor how long that is"
                self.fail(message, node, remedy, cause=x)
            return self.emit(node, LEN, x)
        if kind is Instance or kind is Obj:
            held = self.underlying(av, node, "__len__")
            if held is not av:
                return self.length(held, node)
            found = self.object_length(av, node)
            if found is not MISSING:
                return found
            cls = self.cls_of(av)
            self.lacks(cls, TypeError, f"object of type {cls.__name__!r} has no len()", node)
        if kind is Value and av.type.kind in ("any", "shape", "object"):
            return self.emit(node, LEN, av)
        found = self.class_of(av, node)
        if found is None or hasattr(found, "__len__"):
            self.fail(f"{describe(av)} has no len()", node, "", ArgumentError)
        self.raises(TypeError, f"object of type {found.__name__!r} has no len()", node)


def _view_items(ctx: Access, av: ViewOf, node: Node) -> list[Any]:
    content = ctx.checked(av.of.cell, node, "dictionary")
    keys = [key_av(k) for k in content.keys]
    if av.kind == "keys":
        return keys
    values = [ctx.use(x, f"the entry {k!r}", node) for k, x in zip(content.keys, content.items)]
    return values if av.kind == "values" else [Seq(pair) for pair in zip(keys, values)]


def _require_attribute(ctx: Access, av: Val, name: str, node: Node) -> None:
    """Python's numbers do not have what NumPy's have."""
    t = type_of(av) if type(av) is not Ref else None
    if t is not None and t.kind == "py" and t.dtype is not None:
        cls = PYTHON[t.dtype.kind]
        if not hasattr(cls, name):
            ctx.raises(AttributeError, f"{cls.__name__!r} object has no attribute {name!r}", node)


def _require_of_duck(ctx: Access, av: Ref, name: str, node: Node) -> None:
    """An array of another library has what NumPy's have, if its class says so; what else it has is not known."""
    cls = ctx.read(av, node).type.duck
    if cls is None or name in ("shape", "dtype", "ndim"):
        return
    inside = ctx.frame.site is not None  # a definition of ours asks, and means the function of that name
    has = inside or cls is object or class_lookup(cls, name, class_lookup(cls, "__getattr__")) is not None
    if not has or class_lookup(np.ndarray, name) is None or name in _OF_MEMORY:
        what = f"the attribute {name!r} of a {name_of(cls)}"
        ctx.fail(what, node, "use a function of NumPy's, or ask for it outside of the function")


# What an array says of its memory, or does to it.
_OF_MEMORY = frozenset([
    "base", "byteswap", "ctypes", "data", "device", "dump", "dumps", "fill", "flags", "flat", "getfield", "item",
    "itemset", "nbytes", "newbyteorder", "partition", "put", "resize", "setfield", "setflags", "sort", "strides",
    "tobytes", "tofile", "tolist", "tostring", "view",
])  # fmt: skip


def _plain_get(ctx: Access, base: Value, index: Val, node: Node) -> Val:
    if base.type.kind == "object" and ctx.plan.watch is not None:
        return ctx.given(ctx.emit(node, GET_ITEM, base, ctx.operand(index, node)), [], True)
    return ctx.linked(ctx.emit(node, GET, base, (("index", ctx.index_items(index, node)),)), [])


def _static_item(ctx: Access, items: list[Any], index: int, node: Node, base: Val) -> Val:
    if not -len(items) <= index < len(items):
        ctx.raises(IndexError, f"{'list' if type(base) is ListRef else 'tuple'} index out of range", node)
    return ctx.use(items[index], "the item", node)


def _array_item(ctx: Access, base: Ref, index: Val, node: Node) -> Val:
    items = ctx.array_index(index, node)
    whole = ctx.read(base, node)
    if whole.type.kind == "list":
        return ctx.linked(ctx.emit(node, LIST_GET, whole, items[0]), [base], numpy=False)
    step = ("index", items)
    path = _with_step(ctx, base, step)
    ctx.at(node)
    t, view = infer_step(ctx.builder, type_of(whole), step)
    if t.is_scalar or view is False:
        return ctx.fresh(ctx.emit(node, GET, ctx.checked(base.cell, node), path))
    value = ctx.emit(node, GET, ctx.checked(base.cell, node), path)
    if view and t.kind == "array":
        return Ref(base.cell, path)
    return ctx.linked(value, [base], numpy=base.cell in ctx.cells.numpy or type_of(whole).kind == "array")


def _with_step(ctx: Access, base: Ref, step: tuple[Any, ...]) -> tuple[Any, ...]:
    """The path extended; ``a[i][j]`` becomes ``a[i, j]``."""
    if base.path and step[0] == "index" and base.path[-1][0] == "index":
        last = base.path[-1][1]
        if all(map(_is_int_operand, last)) and not any(_is_array_operand(i) or isinstance(i, str) for i in step[1]):
            return (*base.path[:-1], ("index", (*last, *step[1])))
    return (*base.path, step)


@lowers(ast.Attribute)
def _attribute(ctx: Ctx, node: ast.Attribute) -> Val:
    return ctx.attribute(ctx.ev(node.value), node.attr, node)


@lowers(ast.Slice)
def _slice(ctx: Ctx, node: ast.Slice) -> Val:
    return SliceOf(*[None if p is None else ctx.ev(p) for p in (node.lower, node.upper, node.step)])


@lowers(ast.Subscript)
def _subscript(ctx: Ctx, node: ast.Subscript) -> Val:
    base = ctx.ev(node.value)
    part = ctx.subscript(base, ctx.ev(node.slice), node)
    if type(part) is Ref and id(base) in ctx.flats:
        return ctx.copy_of(part, node, "C")  # what is read of .flat is no view
    return part


def _is_int_operand(x: Any) -> bool:
    if isinstance(x, bool):
        return False
    if isinstance(x, int):
        return True
    return type(x) is Value and x.type.is_scalar and x.type.dtype is not None and x.type.dtype.kind in "iu"


def _is_list_of_ints(x: Any) -> bool:
    elem = x.type.elem if type(x) is Value and x.type.kind == "list" else None
    return elem is not None and elem.kind == "py" and elem.dtype == np.dtype(np.int64)


def _is_array_operand(x: Any) -> bool:
    return isinstance(x, (list, tuple)) or (type(x) is Value and not x.type.is_scalar)
