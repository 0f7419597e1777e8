"""Lowering of expressions."""

from __future__ import annotations

import ast
import operator
import types
from typing import Any

import numpy as np

from ..ir.core import Value, type_of
from ..ir.opset import CONTAINS, DIM, EQ, FORMAT, GET, IS, IS_NOT, LEN, LIST_GET, LIST_NEW, LIST_SET, NOT, PRIMS, SHAPE_OF, infer_step
from ..ir.opset import SIZE as SIZE_OF
from ..ir.types import Ty
from ..errors import ArgumentError, MissingAttributeError, UnsupportedError
from .avals import (
    Bound,
    Closure,
    Conflict,
    DictRef,
    Entries,
    Instance,
    Items,
    ListRef,
    Maybe,
    Obj,
    RangeOf,
    Ref,
    Seq,
    SliceOf,
    Super,
    describe,
    is_constant,
    is_number,
    is_static_int,
)
from .core import Core
from .inputs import is_baked_module

_BINARY: dict[type, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}  # fmt: skip
_UNARY: dict[type, Any] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_COMPARE: dict[type, Any] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_DUNDER = {
    operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.truediv: "truediv", operator.floordiv: "floordiv",
    operator.mod: "mod", operator.pow: "pow", operator.matmul: "matmul", operator.and_: "and", operator.or_: "or", operator.xor: "xor",
}  # fmt: skip
_COMPARE_DUNDER = {
    operator.lt: "__lt__", operator.le: "__le__", operator.gt: "__gt__", operator.ge: "__ge__", operator.eq: "__eq__", operator.ne: "__ne__",
}  # fmt: skip


class Expressions(Core):
    """``ev(node)`` gives the abstract value of an expression and emits what computes it."""

    def ev(self, node: ast.expr) -> Any:
        method = getattr(self, "ev_" + type(node).__name__, None)
        if method is None:
            self.fail(f"the expression `{type(node).__name__}` is not supported", node)
        return method(node)

    def ev_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def ev_Name(self, node: ast.Name) -> Any:
        return self.load(node.id, node)

    def ev_Tuple(self, node: ast.Tuple) -> Any:
        return Seq(tuple(self.ev_many(node.elts)))

    def ev_List(self, node: ast.List) -> Any:
        return self.new_list(self.ev_many(node.elts))

    def ev_many(self, nodes: list[ast.expr]) -> list[Any]:
        out: list[Any] = []
        for item in nodes:
            if isinstance(item, ast.Starred):
                out += self.static_items(self.ev(item.value), item)
            else:
                out.append(self.ev(item))
        return out

    def new_list(self, items: list[Any]) -> ListRef:
        cell = self.cells.new()
        self.state.heap[cell] = Items(tuple(items))
        return ListRef(cell)

    def ev_Dict(self, node: ast.Dict) -> Any:
        entries: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                other = self.ev(value)
                if type(other) is not DictRef:
                    self.fail("** of something that is not a dictionary with known keys", value)
                content = self.checked(other.cell, value, "dictionary")
                entries.update(zip(content.keys, content.items))
            else:
                entries[self.static_key(self.ev(key), key)] = self.ev(value)
        return self.new_dict(entries)

    def new_dict(self, entries: dict[Any, Any]) -> DictRef:
        cell = self.cells.new()
        self.state.heap[cell] = Entries(tuple(entries), tuple(entries.values()))
        return DictRef(cell)

    def static_key(self, av: Any, node: Any) -> Any:
        if is_constant(av):
            return av
        if type(av) is Seq:
            return tuple([self.static_key(x, node) for x in av.items])
        if type(av) is Obj:
            return av.obj
        self.fail("a dictionary key has to be known when the program is compiled", node, "use a string or a literal number as key")

    def ev_Starred(self, node: ast.Starred) -> Any:
        self.fail("a starred expression is not supported here", node)

    def ev_NamedExpr(self, node: ast.NamedExpr) -> Any:
        av = self.ev(node.value)
        self.bind(node.target.id, av, node)
        return av

    def ev_Lambda(self, node: ast.Lambda) -> Any:
        return self.make_closure(node)

    def make_closure(self, node: ast.FunctionDef | ast.Lambda) -> Closure:
        frame = self.frame
        up: Any = frame
        while up is not None:
            up.captured = True
            up = up.parent
        return Closure(
            node,
            frame.env,
            frame.owner,
            tuple([self.ev(d) for d in node.args.defaults]),
            tuple([(a.arg, self.ev(d)) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults) if d is not None]),
            frame.file,
        )

    # --- operators ------------------------------------------------------------------------------------------------

    def ev_BinOp(self, node: ast.BinOp) -> Any:
        return self.binary(_BINARY[type(node.op)], self.ev(node.left), self.ev(node.right), node)

    def binary(self, fn: Any, a: Any, b: Any, node: Any) -> Any:
        """``a op b`` as Python's operator does it."""
        if is_number(a) and is_number(b) or (isinstance(a, str) and is_constant(b)):
            try:
                result = fn(a, b)
                if not (isinstance(result, int) and abs(result) > 1 << 62):
                    return result
            except (ZeroDivisionError, OverflowError, TypeError, ValueError):
                pass
        for x in (a, b):
            if type(x) is Maybe or type(x) is Conflict:
                self.operand(x, node)
        special = self.container_operator(fn, a, b, node)
        if special is not NotImplemented:
            return special
        if isinstance(a, str):
            return self.emit(node, FORMAT, self.emit_opaque(fn, "%", [a, self.plain(b, node)], node))
        prim = PRIMS.get(fn)
        if prim is None:
            self.fail("this operator is not supported", node)
        x, y = self.operand(a, node), self.operand(b, node)
        value = self.emit(node, prim, x, y)
        return self.fresh(value, contiguous=fn is operator.matmul)

    def emit_opaque(self, fn: Any, name: str, args: list[Any], node: Any) -> Any:
        from ..ir.opset import opaque

        return self.emit(node, opaque(fn, name), *args)

    def container_operator(self, fn: Any, a: Any, b: Any, node: Any) -> Any:
        """Operators of tuples, lists and user objects; NotImplemented for numbers and arrays."""
        stem = _DUNDER.get(fn)
        for left, x, y in ((True, a, b), (False, b, a)):
            if (type(x) is Instance or (type(x) is Obj and hasattr(type(x.obj), "__dict__") and not isinstance(x.obj, (type, np.dtype)))) and stem:
                method = self.type_attribute(x, f"__{stem}__" if left else f"__r{stem}__")
                if method is not None:
                    return self.call(method, [x, y], {}, node)
        if fn is operator.add and type(a) is Seq and type(b) is Seq:
            return Seq(a.items + b.items)
        if fn is operator.mul:
            for x, y in ((a, b), (b, a)):
                if type(x) is Seq and is_static_int(y):
                    return Seq(x.items * y)
                if type(x) is ListRef and (is_static_int(y) or (type(y) is Value and y.type.dtype == np.dtype(np.int64) and y.type.is_scalar)):
                    return self.repeat_list(x, y, node)
        if fn is operator.add and type(a) is ListRef and type(b) is ListRef:
            first, second = self.checked(a.cell, node, "list"), self.checked(b.cell, node, "list")
            if type(first) is Items and type(second) is Items:
                return self.new_list([*first.items, *second.items])
            self.fail("concatenation of lists whose lengths are known at run time only", node, "append in a loop")
        return NotImplemented

    def repeat_list(self, x: ListRef, times: Any, node: Any) -> Any:
        content = self.checked(x.cell, node, "list")
        if type(content) is Items and is_static_int(times) and len(content.items) * times <= 1000:
            return self.new_list(list(content.items) * times)
        if type(content) is not Items:
            self.fail("repetition of a list whose length is known at run time only", node)
        items = content.items
        if not all(type(i) is Value and i.type.is_scalar or is_number(i) for i in items):
            self.fail("repetition of a list of arrays or containers a number of times known at run time only", node)
        empty = self.fresh(self.emit(node, LIST_NEW, ()))

        def body(i: Any) -> None:
            for item in items:
                self.list_append(empty, item, node)

        self.counted(times, body, node)
        return empty

    def list_append(self, ref: ListRef, item: Any, node: Any) -> None:
        raise NotImplementedError

    def counted(self, times: Any, body: Any, node: Any) -> None:
        """Lower a loop of our own making: `body(i)` for i in range(times)."""
        raise NotImplementedError

    def ev_UnaryOp(self, node: ast.UnaryOp) -> Any:
        av = self.ev(node.operand)
        if isinstance(node.op, ast.Not):
            flag = self.truth(av, node)
            return (not flag) if isinstance(flag, bool) else self.emit(node, NOT, flag)
        fn = _UNARY[type(node.op)]
        if is_number(av):
            return fn(av)
        if type(av) is Instance or type(av) is Obj:
            name = {operator.neg: "__neg__", operator.pos: "__pos__", operator.invert: "__invert__"}[fn]
            method = self.type_attribute(av, name)
            if method is not None:
                return self.call(method, [av], {}, node)
        return self.fresh(self.emit(node, PRIMS[fn], self.operand(av, node)))

    def ev_BoolOp(self, node: ast.BoolOp) -> Any:
        return self.bool_op(node, 0, False)

    def bool_op(self, node: ast.BoolOp, k: int, as_condition: bool) -> Any:
        """``a and b`` or ``a or b``, evaluating no more than Python does."""
        item = node.values[k]
        last = k == len(node.values) - 1
        if as_condition:
            value: Any = self.condition(item)
            flag = value
        else:
            value = self.ev(item)
            if last:
                return value
            flag = self.truth(value, item)
        if last:
            return value
        if isinstance(node.op, ast.And):
            return self.branch(flag, lambda: self.bool_op(node, k + 1, as_condition), lambda: value if not as_condition else False, node)
        return self.branch(flag, lambda: value if not as_condition else True, lambda: self.bool_op(node, k + 1, as_condition), node)

    def condition(self, node: ast.expr) -> Any:
        """The truth of an expression: a Python bool, or a value that is one."""
        if isinstance(node, ast.BoolOp):
            return self.bool_op(node, 0, True)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            flag = self.condition(node.operand)
            return (not flag) if isinstance(flag, bool) else self.emit(node, NOT, flag)
        return self.truth(self.ev(node), node)

    def ev_IfExp(self, node: ast.IfExp) -> Any:
        return self.branch(self.condition(node.test), lambda: self.ev(node.body), lambda: self.ev(node.orelse), node)

    def ev_Compare(self, node: ast.Compare) -> Any:
        return self.compare_chain(node, self.ev(node.left), 0)

    def compare_chain(self, node: ast.Compare, left: Any, k: int) -> Any:
        right = self.ev(node.comparators[k])
        result = self.compare(node.ops[k], left, right, node)
        if k == len(node.ops) - 1:
            return result
        return self.branch(self.truth(result, node), lambda: self.compare_chain(node, right, k + 1), lambda: result, node)

    def compare(self, op: ast.cmpop, a: Any, b: Any, node: Any) -> Any:
        if isinstance(op, (ast.Is, ast.IsNot)):
            same = self.identical(a, b, node)
            if isinstance(same, bool):
                return same if isinstance(op, ast.Is) else not same
            return self.emit(node, IS if isinstance(op, ast.Is) else IS_NOT, *same)
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self.contains(a, b, node)
            if isinstance(op, ast.In):
                return found
            return (not found) if isinstance(found, bool) else self.emit(node, NOT, found)
        return self.compare_with(_COMPARE[type(op)], a, b, node)

    def compare_with(self, fn: Any, a: Any, b: Any, node: Any) -> Any:
        if is_constant(a) and is_constant(b):
            try:
                return bool(fn(a, b))
            except TypeError as error:
                self.fail(str(error), node, "", ArgumentError)
        if fn in (operator.eq, operator.ne):
            flip = fn is operator.ne
            for x in (a, b):
                if type(x) in (Obj, Closure, Bound) and not (type(x) is Obj and self.type_attribute(x, "__eq__") is not None):
                    y = b if x is a else a
                    if type(x) is Obj and type(y) is Value:
                        continue
                    if type(x) is Obj and type(y) is Obj:
                        return bool(x.obj == y.obj) != flip
                    if type(x) is Obj and is_constant(y):
                        return bool(x.obj == y) != flip
                    return flip
            if type(a) is Seq and type(b) is Seq or type(a) is ListRef and type(b) is ListRef:
                xs, ys = self.static_items(a, node), self.static_items(b, node)
                if len(xs) != len(ys):
                    return flip
                result: Any = True
                for x, y in zip(xs, ys):
                    equal = self.truth(self.compare_with(operator.eq, x, y, node), node)
                    if equal is False:
                        return flip
                    if equal is not True:
                        result = equal if result is True else self.emit(node, PRIMS[operator.and_], result, equal)
                if isinstance(result, bool):
                    return result != flip
                return self.emit(node, NOT, result) if flip else result
            mixed = (Seq, ListRef, DictRef, type(None), str)
            scalar = [type(x) is Value and x.type.kind in ("py", "generic", "scalar") or is_number(x) for x in (a, b)]
            if (scalar[0] and isinstance(b, mixed)) or (scalar[1] and isinstance(a, mixed)):
                if not any(type(x) in (Seq, ListRef) for x in (a, b)):
                    return flip
        for x, y, name in ((a, b, _COMPARE_DUNDER[fn]),):
            if type(x) is Instance or type(x) is Obj:
                method = self.type_attribute(x, name)
                if method is not None:
                    return self.call(method, [x, y], {}, node)
        return self.fresh(self.emit(node, PRIMS[fn], self.operand(a, node), self.operand(b, node)))

    def identical(self, a: Any, b: Any, node: Any) -> Any:
        """Whether ``a is b``: a bool, or the operands of a run-time test."""
        for x, y in ((a, b), (b, a)):
            if y is None or isinstance(y, bool) or y is Ellipsis:
                if x is None or isinstance(x, (bool, str)) or x is Ellipsis:
                    return x is y
                if type(x) is Value and not (x.type.kind in ("any", "object") or (isinstance(y, bool) and x.type.dtype == np.dtype(bool))):
                    return False
                if type(x) is Ref:
                    t = type_of(self.checked(x.cell, node))
                    if x.path or t.kind == "array":
                        return False
                    return (self.read(x, node), y)
                if type(x) is not Value:
                    return False
                return (x, y)
        if type(a) is Obj and type(b) is Obj:
            return a.obj is b.obj
        if type(a) is Ref and type(b) is Ref and a.cell == b.cell and not a.path and not b.path:
            return True
        if type(a) is type(b) and type(a) in (ListRef, DictRef, Instance) and a.cell == b.cell:
            return True
        if type(a) is not type(b) and Value not in (type(a), type(b)):
            return False
        self.fail("whether these are one object is not known when the program is compiled", node, "compare with ==")

    def contains(self, a: Any, b: Any, node: Any) -> Any:
        if type(b) is DictRef:
            return self.static_key(a, node) in self.checked(b.cell, node, "dictionary").keys
        if isinstance(a, str) and isinstance(b, str):
            return a in b
        if type(b) in (Seq, ListRef) and not (type(b) is ListRef and type(self.content(b.cell)) is Value):
            result: Any = False
            for item in self.static_items(b, node):
                equal = self.truth(self.compare_with(operator.eq, a, item, node), node)
                if equal is True:
                    return True
                if equal is not False:
                    result = equal if result is False else self.emit(node, PRIMS[operator.or_], result, equal)
            return result
        return self.emit(node, CONTAINS, self.operand(b, node), self.operand(a, node))

    # --- attributes -----------------------------------------------------------------------------------------------

    def ev_Attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.ev(node.value), node.attr, node)

    def attribute(self, av: Any, name: str, node: Any) -> Any:
        kind = type(av)
        if kind is Obj:
            return self.object_attribute(av, name, node)
        if kind is Instance:
            return self.instance_attribute(av, name, node)
        if kind is Seq and av.cls is not None and name in av.cls._fields:
            return av.items[av.cls._fields.index(name)]
        if kind is Super:
            return self.super_attribute(av, name, node)
        if kind is Ref or kind is Value or is_number(av):
            found = self.array_attribute(av, name, node)
            if found is not NotImplemented:
                return found
        if kind is SliceOf or kind is RangeOf:
            if name in ("start", "stop", "step"):
                return getattr(av, name)
        if kind is Closure and name in ("__name__", "__qualname__"):
            return getattr(av.node, "name", "<lambda>")
        return Bound(name, av)

    def object_attribute(self, av: Obj, name: str, node: Any) -> Any:
        obj = av.obj
        if isinstance(obj, types.ModuleType):
            try:
                value = getattr(obj, name)
            except AttributeError as error:
                self.fail(str(error), node, "", MissingAttributeError)
            if is_baked_module(obj) or av.path is None:
                if is_constant(value):
                    return value
                if isinstance(value, (np.ndarray, np.generic)):
                    return self.outside(value, (("object", obj), ("attr", name)), node)
                return Obj(value, None)
            return self.outside(value, (*av.path, ("attr", name)), node)
        path = av.path or (("object", obj),)
        if isinstance(obj, type):
            return self.class_attribute(av, name, node)
        if isinstance(obj, np.ufunc) and name in ("at", "reduce", "accumulate", "outer", "reduceat"):
            return Bound(name, av)
        if isinstance(obj, (types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
            try:
                value = getattr(obj, name)
            except AttributeError as error:
                self.fail(str(error), node, "", MissingAttributeError)
            if isinstance(obj, types.FunctionType):
                return self.outside(value, (*path, ("attr", name)), node)
            return Obj(value, None) if not is_constant(value) else value
        if isinstance(obj, np.dtype):
            value = getattr(obj, name)
            return value if is_constant(value) else Obj(value, None)
        cls = type(obj)
        if "__getattribute__" in {k for c in cls.__mro__[:-1] for k in c.__dict__}:
            self.fail(f"{cls.__name__} defines __getattribute__", node)
        raw = _class_lookup(cls, name)
        own = getattr(obj, "__dict__", {})
        if name in own and not isinstance(raw, property):
            return self.outside(own[name], (*path, ("attr", name)), node)
        if raw is None:
            if _class_lookup(cls, "__getattr__") is not None:
                self.fail(f"attribute {name!r} of {cls.__name__} is computed by __getattr__", node)
            self.fail(f"{cls.__name__!r} object has no attribute {name!r}", node, "", MissingAttributeError)
        if isinstance(raw, property):
            getter = self.outside(raw.fget, (*path, ("attr", "__class__"), ("attr", name), ("attr", "fget")), node)
            return self.call(getter, [av], {}, node)
        if isinstance(raw, types.FunctionType):
            return Bound(self.outside(raw, (*path, ("attr", "__class__"), ("attr", name)), node), av)
        if isinstance(raw, staticmethod):
            return self.outside(raw.__func__, (*path, ("attr", "__class__"), ("attr", name)), node)
        if isinstance(raw, classmethod):
            fn = self.outside(raw.__func__, (*path, ("attr", "__class__"), ("attr", name), ("attr", "__func__")), node)
            return Bound(fn, Obj(cls, (*path, ("attr", "__class__"))))
        if isinstance(raw, types.MemberDescriptorType):
            try:
                value = getattr(obj, name)
            except AttributeError as error:
                self.fail(str(error), node, "", MissingAttributeError)
            return self.outside(value, (*path, ("attr", name)), node)
        if cls.__module__.split(".")[0] in ("numpy", "builtins"):
            value = getattr(obj, name)
            return value if is_constant(value) else Obj(value, None)
        if hasattr(type(raw), "__get__"):
            self.fail(f"attribute {name!r} of {cls.__name__} is a descriptor of type {type(raw).__name__}", node)
        return self.outside(raw, (*path, ("attr", name)), node)

    def class_attribute(self, av: Obj, name: str, node: Any) -> Any:
        cls = av.obj
        if name == "__name__":
            return cls.__name__
        raw = _class_lookup(cls, name)
        if raw is None:
            self.fail(f"type object {cls.__name__!r} has no attribute {name!r}", node, "", MissingAttributeError)
        path = (*(av.path or (("object", cls),)), ("attr", name))
        if isinstance(raw, classmethod):
            return Bound(self.outside(raw.__func__, (*path, ("attr", "__func__")), node), av)
        if isinstance(raw, staticmethod):
            return self.outside(raw.__func__, path, node)
        if cls.__module__.split(".")[0] in ("numpy", "builtins"):
            return Obj(getattr(cls, name), None)
        return self.outside(getattr(cls, name), path, node)

    def type_attribute(self, av: Any, name: str) -> Any:
        """A method that the class of an object defines in Python, or None."""
        cls = av.cls if type(av) is Instance else type(av.obj)
        raw = _class_lookup(cls, name)
        if not isinstance(raw, types.FunctionType):
            return None
        path: Any = (("object", cls), ("attr", name))
        return self.outside(raw, path, self.frame.node)

    def instance_attribute(self, av: Instance, name: str, node: Any) -> Any:
        content = self.checked(av.cell, node, "object")
        if name in content.keys:
            return self.use(content.items[content.keys.index(name)], f"{av.cls.__name__}.{name}", node)
        raw = _class_lookup(av.cls, name)
        path: Any = (("object", av.cls), ("attr", name))
        if isinstance(raw, property):
            return self.call(self.outside(raw.fget, (*path, ("attr", "fget")), node), [av], {}, node)
        if isinstance(raw, types.FunctionType):
            return Bound(self.outside(raw, path, node), av)
        if raw is None:
            self.fail(f"{av.cls.__name__!r} object has no attribute {name!r}", node, "", MissingAttributeError)
        return self.class_attribute(Obj(av.cls, None), name, node)

    def super_attribute(self, av: Super, name: str, node: Any) -> Any:
        cls = av.self.cls if type(av.self) is Instance else type(av.self.obj)
        mro = cls.__mro__
        for base in mro[mro.index(av.cls) + 1 :]:
            raw = base.__dict__.get(name)
            if isinstance(raw, types.FunctionType):
                return Bound(self.outside(raw, (("object", base), ("attr", name)), node), av.self)
            if base is object and name == "__init__":
                return Bound("object.__init__", av.self)
        self.fail(f"'super' object has no method {name!r}", node, "", MissingAttributeError)

    def array_attribute(self, av: Any, name: str, node: Any) -> Any:
        """The attributes of arrays and numbers that are not methods."""
        if name == "T":
            return self.transpose(av, None, node)
        if name == "shape":
            return self.shape(av, node)
        if name == "ndim":
            t = type_of(self.operand(av, node))
            if t.dims is not None:
                return len(t.dims)
            from ..ir.opset import NDIM

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
                self.fail(f".{name} is not supported", node)
            if name == "real" and t.is_scalar and t.dtype is not None and t.dtype.kind != "c":
                return av
            return self.linked(self.emit(node, prim, x), [av])
        if name == "flat":
            self.fail(".flat is not supported", node, "use .ravel()")
        return NotImplemented

    def transpose(self, av: Any, axes: tuple[int, ...] | None, node: Any) -> Any:
        """A view with its axes permuted (reversed if `axes` is None)."""
        if type(av) is not Ref:
            return av
        t = type_of(self.read(av, node))
        if t.kind == "array" and t.ndim is not None and t.ndim <= 1 and axes is None:
            return av
        if axes is not None and t.ndim is None:
            self.fail("a transposition of an array whose number of axes is not known", node)
        view = Ref(av.cell, (*av.path, ("transpose", axes)))
        self.read(view, node)
        return view

    def shape(self, av: Any, node: Any) -> Any:
        x = self.operand(av, node)
        dims = type_of(x).dims
        if dims is None:
            return self.emit(node, SHAPE_OF, x)
        return Seq(tuple([self.axis_length(x, k, node) for k in range(len(dims))]))

    def axis_length(self, x: Any, axis: int, node: Any) -> Any:
        dims = type_of(x).dims
        if dims is not None and len(dims) > axis:
            known = self.builder.dims.find(dims[axis])
            if isinstance(known, int):
                return known
        return self.emit(node, DIM, x, axis)

    # --- subscripts -----------------------------------------------------------------------------------------------

    def ev_Slice(self, node: ast.Slice) -> Any:
        return SliceOf(*[None if p is None else self.ev(p) for p in (node.lower, node.upper, node.step)])

    def ev_Subscript(self, node: ast.Subscript) -> Any:
        return self.subscript(self.ev(node.value), self.ev(node.slice), node)

    def subscript(self, base: Any, index: Any, node: Any) -> Any:
        """``base[index]``."""
        kind = type(base)
        if kind is Maybe or kind is Conflict:
            base = self.use(base, "", node)
            kind = type(base)
        if kind is DictRef:
            return self.dict_item(base, index, node)
        if kind is Seq:
            return self.static_item(list(base.items), index, node, lambda items: Seq(tuple(items)), base)
        if kind is ListRef:
            content = self.checked(base.cell, node, "list")
            if type(content) is Items:
                return self.static_item(list(content.items), index, node, self.new_list, base)
            if type(index) is SliceOf:
                self.fail("a slice of a list whose length is known at run time only", node, "use an array")
            return self.linked(self.emit(node, LIST_GET, content, self.operand(index, node)), [base], numpy=False)
        if kind is RangeOf:
            return self.binary(operator.add, base.start, self.binary(operator.mul, index, base.step, node), node)
        if kind is Ref:
            return self.array_item(base, index, node)
        if isinstance(base, str) and (is_static_int(index) or type(index) is SliceOf):
            return base[self.operand(index, node)]
        if kind is Value:
            if base.type.kind == "shape":
                if is_static_int(index):
                    return self.emit(node, DIM, base.op.args[0], index) if base.op and base.op.prim is SHAPE_OF else self.plain_get(base, index, node)
                self.fail("this part of the shape of an array whose number of axes is not known", node)
            return self.plain_get(base, index, node)
        if kind is Instance or kind is Obj:
            method = self.type_attribute(base, "__getitem__")
            if method is not None:
                return self.call(method, [base, index], {}, node)
            if kind is Obj and isinstance(base.obj, type):
                return base  # list[float] and the like, in annotations
        self.fail(f"{describe(base)} cannot be subscripted here", node)

    def plain_get(self, base: Value, index: Any, node: Any) -> Any:
        return self.linked(self.emit(node, GET, base, (("index", self.index_items(index, node)),)), [])

    def dict_item(self, base: DictRef, index: Any, node: Any) -> Any:
        content = self.checked(base.cell, node, "dictionary")
        key = self.static_key(index, node)
        if key not in content.keys:
            self.fail(f"the dictionary has no key {key!r}", node, "", MissingAttributeError)
        return self.use(content.items[content.keys.index(key)], f"the entry {key!r}", node)

    def static_item(self, items: list[Any], index: Any, node: Any, make: Any, base: Any) -> Any:
        if is_static_int(index):
            if not -len(items) <= index < len(items):
                self.fail("index out of range", node, "", ArgumentError)
            return self.use(items[index], "the item", node)
        if type(index) is SliceOf:
            if not all(is_constant(p) for p in (index.start, index.stop, index.step)):
                self.fail("a slice of a tuple or list needs bounds that are known when the program is compiled", node, "use an array")
            return make(items[slice(index.start, index.stop, index.step)])
        operands = []
        for item in items:
            if not (type(item) in (Value, Ref) or is_number(item)):
                self.fail(
                    "a tuple or list of containers or objects is indexed by a number that is known at run time only",
                    node,
                    "index with a literal, or loop over it",
                )
            operands.append(self.operand(item, node))
        made = self.emit(node, LIST_NEW, tuple(operands))
        return self.linked(self.emit(node, LIST_GET, made, self.operand(index, node)), [base], numpy=False)

    def index_items(self, index: Any, node: Any) -> tuple[Any, ...]:
        """The subscripts as they stand in a path."""
        items = index.items if type(index) is Seq else (index,)
        return tuple([self.operand(i, node) for i in items])

    def array_item(self, base: Ref, index: Any, node: Any) -> Any:
        items = self.index_items(index, node)
        whole = self.read(base, node)
        if whole.type.kind == "list":
            return self.linked(self.emit(node, LIST_GET, whole, items[0]), [base], numpy=False)
        step = ("index", items)
        path = self.with_step(base, step)
        self.at(node)
        t, view = infer_step(self.builder, type_of(whole), step)
        if t.is_scalar or view is False:
            return self.fresh(self.emit(node, GET, self.checked(base.cell, node), path))
        value = self.emit(node, GET, self.checked(base.cell, node), path)
        if view and t.kind == "array":
            return Ref(base.cell, path)
        return self.linked(value, [base], numpy=base.cell in self.cells.numpy or type_of(whole).kind == "array")

    def with_step(self, base: Ref, step: tuple[Any, ...]) -> tuple[Any, ...]:
        """The path extended; ``a[i][j]`` becomes ``a[i, j]``."""
        if base.path and step[0] == "index" and base.path[-1][0] == "index":
            last = base.path[-1][1]
            if all(_is_int_operand(i) for i in last) and not any(_is_array_operand(i) for i in step[1]):
                return (*base.path[:-1], ("index", (*last, *step[1])))
        return (*base.path, step)

    # --- sequences ------------------------------------------------------------------------------------------------

    def static_items(self, av: Any, node: Any) -> list[Any]:
        """The items of something iterable of known length."""
        items = self.known_items(av, node)
        if items is None:
            self.fail(f"the number of items of {describe(av)} has to be known when the program is compiled", node)
        return items

    def known_items(self, av: Any, node: Any) -> list[Any] | None:
        kind = type(av)
        if kind is Seq:
            return list(av.items)
        if kind is ListRef:
            content = self.checked(av.cell, node, "list")
            return list(content.items) if type(content) is Items else None
        if kind is DictRef:
            return list(self.checked(av.cell, node, "dictionary").keys)
        if kind is RangeOf and all(is_static_int(x) for x in (av.start, av.stop, av.step)):
            return list(range(av.start, av.stop, av.step))
        if isinstance(av, str):
            return list(av)
        if kind is Ref:
            x = self.read(av, node)
            if x.type.dims:
                n = self.builder.dims.find(x.type.dims[0])
                if isinstance(n, int):
                    return [self.subscript(av, k, node) for k in range(n)]
        return None

    def length(self, av: Any, node: Any) -> Any:
        """``len(av)``."""
        kind = type(av)
        if kind is Seq:
            return len(av.items)
        if kind in (ListRef, DictRef):
            content = self.checked(av.cell, node, "list")
            return self.emit(node, LEN, content) if type(content) is Value else len(content.items)
        if isinstance(av, str):
            return len(av)
        if kind is RangeOf:
            items = self.known_items(av, node)
            if items is not None:
                return len(items)
            if av.start == 0 and av.step == 1 and type(av.start) is int:
                return self.call(Obj(max, None), [av.stop, 0], {}, node)
            self.fail("len() of this range is not supported", node)
        if kind is Ref:
            x = self.read(av, node)
            if x.type.kind == "array" and x.type.dims is not None and len(x.type.dims):
                return self.axis_length(x, 0, node)
            return self.emit(node, LEN, x)
        if kind is Instance or kind is Obj:
            method = self.type_attribute(av, "__len__")
            if method is not None:
                return self.call(method, [av], {}, node)
        if kind is Value and av.type.kind in ("any", "shape", "object"):
            return self.emit(node, LEN, av)
        self.fail(f"{describe(av)} has no len()", node, "", ArgumentError)

    def ev_JoinedStr(self, node: ast.JoinedStr) -> Any:
        parts: list[Any] = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(part.value)
            else:
                assert isinstance(part, ast.FormattedValue)
                parts.append(self.formatted(part))
        if all(isinstance(p, str) for p in parts):
            return "".join(parts)
        return self.emit(node, FORMAT, *parts)

    def formatted(self, part: ast.FormattedValue) -> Any:
        av = self.ev(part.value)
        spec = self.ev(part.format_spec) if part.format_spec is not None else ""
        convert = {-1: None, 115: str, 114: repr, 97: ascii}[part.conversion]
        if is_constant(av) and isinstance(spec, str):
            return format(av if convert is None else convert(av), spec)
        if type(av) is Obj:
            return format(av.obj if convert is None else convert(av.obj), spec)
        x = self.plain(av, part)
        if convert is not None:
            x = self.emit_opaque(convert, convert.__name__, [x], part)
        return self.emit_opaque(format, "format", [x, spec], part)


def _class_lookup(cls: type, name: str) -> Any:
    for klass in cls.__mro__:
        if name in klass.__dict__:
            return klass.__dict__[name]
    return None


def _is_int_operand(x: Any) -> bool:
    if isinstance(x, bool):
        return False
    if isinstance(x, int):
        return True
    return type(x) is Value and x.type.is_scalar and x.type.dtype is not None and x.type.dtype.kind in "iu"


def _is_array_operand(x: Any) -> bool:
    return isinstance(x, (list, tuple)) or (type(x) is Value and not x.type.is_scalar)


__all__ = ["Expressions", "LIST_SET", "Ty", "EQ", "UnsupportedError"]
