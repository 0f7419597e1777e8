"""Lowering of expressions."""

from __future__ import annotations

import ast
import operator
import types
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ir.core import Value, type_of
from ..ir.opset import (
    CONTAINS,
    FORMAT,
    IS,
    IS_NOT,
    LIST_NEW,
    NOT,
    OPERATORS,
    PRIMS,
)
from .access import Access
from .avals import (
    Bound,
    Closure,
    Columns,
    Conflict,
    DictRef,
    Entries,
    Instance,
    Items,
    ListRef,
    Maybe,
    Obj,
    OneShot,
    Ref,
    Seq,
    ViewOf,
    describe,
    is_collection,
    is_constant,
    is_number,
    is_static_int,
)
from .core import DEAD, Unreachable
from .inputs import class_lookup
from .objects import is_object
from .plan import prefer_known
from .pseudo import Computed

_BINARY: dict[type, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}  # fmt: skip
_UNARY: dict[type, Any] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_COMPARE: dict[type, Any] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
_DUNDER = {
    operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.truediv: "truediv",
    operator.floordiv: "floordiv", operator.mod: "mod", operator.pow: "pow", operator.matmul: "matmul",
    operator.and_: "and", operator.or_: "or", operator.xor: "xor", operator.lshift: "lshift",
    operator.rshift: "rshift",
}  # fmt: skip
_COMPARE_DUNDER = {
    operator.lt: "__lt__", operator.le: "__le__", operator.gt: "__gt__", operator.ge: "__ge__",
    operator.eq: "__eq__", operator.ne: "__ne__",
}  # fmt: skip
_REFLECTED = {
    operator.lt: operator.gt, operator.le: operator.ge, operator.gt: operator.lt, operator.ge: operator.le,
    operator.eq: operator.eq, operator.ne: operator.ne,
}  # fmt: skip


class Expressions(Access):
    """``ev(node)`` gives the abstract value of an expression and emits what computes it."""

    def ev(self, node: ast.expr) -> Any:
        method = getattr(self, "ev_" + type(node).__name__, None)
        if method is None:
            self.fail(
                f"the expression `{type(node).__name__}` is not supported", node, "write it in simpler expressions"
            )
        return method(node)

    def ev_Computed(self, node: Computed) -> Any:
        return node.compute()

    def ev_Yield(self, node: ast.Yield) -> Any:
        stand_in = self.frame.on_yield
        if stand_in is None:
            self.fail("`yield` is not supported", node, "return a list")
        if stand_in(None if node.value is None else self.ev(node.value)) is DEAD:
            raise Unreachable
        return None

    def ev_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def ev_Name(self, node: ast.Name) -> Any:
        return self.load(node.id, node)

    def ev_Tuple(self, node: ast.Tuple) -> Any:
        return Seq(tuple(self.ev_many(node.elts)))

    def ev_List(self, node: ast.List) -> Any:
        return self.new_list(self.ev_many(node.elts))

    def ev_Set(self, node: ast.Set) -> Any:
        return self.new_set({self.static_key(x, node, "a member of a set") for x in self.ev_many(node.elts)})

    def new_set(self, members: Any, cls: type = set) -> Instance:
        raise NotImplementedError

    def compare_containers(self, fn: Any, a: Any, b: Any, node: Any) -> Any:
        raise NotImplementedError

    def entries_of(self, av: Any, node: Any) -> dict[Any, Any]:
        raise NotImplementedError

    def ev_many(self, nodes: list[ast.expr]) -> list[Any]:
        out: list[Any] = []
        for item in nodes:
            if isinstance(item, ast.Starred):
                out += self.static_items(self.ev(item.value), item)
            else:
                out.append(self.ev(item))
        return out

    def ev_Dict(self, node: ast.Dict) -> Any:
        entries: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                entries.update(self.entries_of(self.ev(value), value))
            else:
                entries[self.static_key(self.ev(key), key)] = self.ev(value)
        return self.new_dict(entries)

    def new_dict(self, entries: dict[Any, Any]) -> DictRef:
        cell = self.cells.new()
        self.state.heap[cell] = Entries(tuple(entries), tuple(entries.values()))
        return DictRef(cell)

    def ev_Starred(self, node: ast.Starred) -> Any:
        self.fail("a starred expression is not supported here", node, "write the items out, or build a list with +")

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
            self.fail("this operator is not supported", node, "call the function of NumPy's that does it")
        for x, y in ((a, b), (b, a)):
            if type(x) in (Seq, ListRef) and fn in _DUNDER:
                self.operate_on_container(fn, x, y, node)
        x, y = (
            self.operand(self.as_array(v, node) if self.answers(other, node) else v, node)
            for v, other in ((a, b), (b, a))
        )
        value = self.emit(node, prim, x, y)
        return self.fresh(value, contiguous=fn is operator.matmul, like=(a, b) if prim.elementwise else None)

    def operate_on_container(self, fn: Any, container: Any, other: Any, node: Any) -> None:
        """An operator of a list or tuple that it does not have: NumPy answers it, or it is an error."""
        repeats = fn is operator.mul and type(other) is Value and other.type.is_scalar
        if self.answers(other, node) and not repeats:
            return
        remedy = "make an array of it: np.array(...)"
        kind = "tuple" if type(container) is Seq else "list"
        t = type_of(other) if type(other) is Value else None
        if type(other) is Ref or (t is not None and (t.kind not in ("py", "generic") or t.dtype is None)):
            self.fail(
                f"an operator of a {kind} and of what may or may not be NumPy's: it is not known what Python does",
                node,
                remedy,
            )
        if repeats and t is not None and t.dtype is not None and t.dtype.kind in "iub":
            self.fail(
                f"the length of this {kind} has to be known when the program is compiled", node, remedy, cause=other
            )
        message = f"unsupported operand type(s) for {OPERATORS[fn][0]}: {kind!r} and {describe(other)}"
        self.raises(TypeError, message, node, remedy=remedy)

    def answers(self, av: Any, node: Any) -> bool:
        """NumPy answers an operator with this on one side: it makes an array of a container on the other."""
        if type(av) is Ref:
            return av.cell in self.cells.numpy or self.read(av, node).type.kind == "array"
        return type(av) is Value and av.type.kind in ("generic", "array")

    def as_array(self, av: Any, node: Any) -> Any:
        raise NotImplementedError

    def emit_opaque(self, fn: Any, name: str, args: list[Any], node: Any) -> Any:
        from ..ir.opset import opaque

        return self.emit(node, opaque(fn, name), *args)

    def container_operator(self, fn: Any, a: Any, b: Any, node: Any) -> Any:
        """Operators of tuples, lists and user objects; NotImplemented for numbers and arrays."""
        if fn in _DUNDER and (is_object(a) or is_object(b)):
            made = self.object_operator(_DUNDER[fn], a, b, node)
            if made is not NotImplemented:
                return made
        if fn is operator.add and type(a) is Seq and type(b) is Seq:
            return Seq(a.items + b.items)
        if fn is operator.mul:
            for x, y in ((a, b), (b, a)):
                if type(x) is Seq and is_static_int(y):
                    return Seq(x.items * y)
                if type(x) is ListRef and (
                    is_static_int(y) or (type(y) is Value and y.type.dtype == np.dtype(np.int64) and y.type.is_scalar)
                ):
                    return self.repeat_list(x, y, node)
        return NotImplemented

    def object_operator(self, stem: str, a: Any, b: Any, node: Any) -> Any:
        """What the classes of the operands say of an operator: the right one's first if it is a subclass."""
        tries = [(a, f"__{stem}__", b), (b, f"__r{stem}__", a)]
        if is_object(a) and is_object(b):
            mine, other = self.cls_of(a), self.cls_of(b)
            if mine is other:
                tries = tries[:1]
            elif issubclass(other, mine) and class_lookup(other, tries[1][1]) is not class_lookup(mine, tries[1][1]):
                tries.reverse()
        for x, name, y in tries:
            if x is b and type(a) is Ref and self.type_attribute(b, name) is not None:
                cls = self.cls_of(b)
                if class_lookup(cls, "__array_priority__") is None and (
                    class_lookup(cls, "__array_ufunc__") is not None or not hasattr(cls, "__array_ufunc__")
                ):
                    self.fail(
                        f"an operator between an array and {describe(b)}: NumPy applies it to each element",
                        node,
                        "set __array_ufunc__ = None in the class, or write the object first",
                    )
            made = self.call_special(x, name, [y], node)
            if made is not NotImplemented:
                return made
        return NotImplemented

    def compare_objects(self, fn: Any, a: Any, b: Any, node: Any) -> Any:
        """A comparison as the classes of the operands define it; else NotImplemented."""
        name, reflected = _COMPARE_DUNDER[fn], _COMPARE_DUNDER[_REFLECTED[fn]]
        tries = [(a, name, b), (b, reflected, a)]
        if is_object(a) and is_object(b) and self.cls_of(a) is not self.cls_of(b):
            if issubclass(self.cls_of(b), self.cls_of(a)):
                tries.reverse()
        for x, method, y in tries:
            made = self.compare_dunder(method, x, y, node)
            if made is not NotImplemented:
                return made
        if fn in (operator.eq, operator.ne) and Instance in (type(a), type(b)):
            if type(a) is not type(b) or a.cls is not b.cls:
                return fn is operator.ne
            return self.identical(a, b, node) == (fn is operator.eq)
        return NotImplemented

    def compare_dunder(self, name: str, a: Any, b: Any, node: Any) -> Any:
        if not is_object(a):
            return NotImplemented
        raw = class_lookup(self.cls_of(a), name)
        if name == "__ne__" and not isinstance(raw, types.FunctionType):
            made = self.compare_dunder("__eq__", a, b, node)
            if made is NotImplemented:
                return made
            flag = self.truth(made, node)
            return (not flag) if isinstance(flag, bool) else self.emit(node, NOT, flag)
        if isinstance(raw, types.FunctionType) and raw.__code__.co_filename.startswith("<string>"):
            return self.compare_fields(name, a, b, node)
        return self.call_special(a, name, [b], node)

    def compare_fields(self, name: str, a: Any, b: Any, node: Any) -> Any:
        raise NotImplementedError

    def ordered(self, fn: Any, xs: list[Any], ys: list[Any], node: Any) -> Any:
        """The lexicographic order of two sequences."""
        if not xs or not ys:
            return bool(fn(len(xs), len(ys)))
        equal = self.truth(self.compare_with(operator.eq, xs[0], ys[0], node), node)
        return self.branch(
            equal,
            lambda: self.ordered(fn, xs[1:], ys[1:], node),
            lambda: self.truth(self.compare_with(fn, xs[0], ys[0], node), node),
            node,
        )

    def repeat_list(self, x: ListRef, times: Any, node: Any) -> Any:
        content = self.checked(x.cell, node, "list")
        if type(content) is Items and is_static_int(times) and len(content.items) * times <= 1000:
            return self.new_list(list(content.items) * times)
        if type(content) is not Items:
            self.fail(
                "repetition of a list whose length is known at run time only",
                node,
                "use an array, and np.tile",
                cause=x,
            )
        items = content.items
        if not all(type(i) is Value and i.type.is_scalar or is_number(i) for i in items):
            self.fail(
                "repetition of a list of arrays or containers a number of times known at run time only",
                node,
                "use an array, and np.tile, or append in a loop",
                cause=times,
            )
        empty = self.fresh(self.emit(node, LIST_NEW, ()))

        def body(i: Any) -> None:
            for item in items:
                self.list_append(empty, item, node)

        self.counted(times, body, node)
        return empty

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
        name = {operator.neg: "__neg__", operator.pos: "__pos__", operator.invert: "__invert__"}[fn]
        made = self.call_special(av, name, [], node)
        if made is not NotImplemented:
            return made
        return self.fresh(self.emit(node, PRIMS[fn], self.operand(av, node)), like=(av,))

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
            return self.branch(
                flag,
                lambda: self.bool_op(node, k + 1, as_condition),
                lambda: value if not as_condition else False,
                node,
            )
        return self.branch(
            flag, lambda: value if not as_condition else True, lambda: self.bool_op(node, k + 1, as_condition), node
        )

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
        return self.branch(
            self.truth(result, node), lambda: self.compare_chain(node, right, k + 1), lambda: result, node
        )

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
        if is_object(a) or is_object(b):
            made = self.compare_objects(fn, a, b, node)
            if made is not NotImplemented:
                return made
        found = self.compare_containers(fn, a, b, node)
        if found is not NotImplemented:
            return found
        if fn in (operator.eq, operator.ne):
            flip = fn is operator.ne
            for x in (a, b):
                if type(x) in (Obj, Closure, Bound) and not (
                    type(x) is Obj and self.type_attribute(x, "__eq__") is not None
                ):
                    y = b if x is a else a
                    if type(x) is Obj and type(y) is Value:
                        continue
                    if type(x) is Obj and type(y) is Obj:
                        return bool(self.pinned(x) == self.pinned(y)) != flip
                    if type(x) is Obj and is_constant(y):
                        return bool(self.pinned(x) == y) != flip
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
        if type(a) is Seq and type(b) is Seq:
            return self.ordered(fn, list(a.items), list(b.items), node)
        return self.fresh(self.emit(node, PRIMS[fn], self.operand(a, node), self.operand(b, node)), like=(a, b))

    def identical(self, a: Any, b: Any, node: Any) -> Any:
        """Whether ``a is b``: a bool, or the operands of a run-time test."""
        for x, y in ((a, b), (b, a)):
            if y is None or isinstance(y, bool) or y is Ellipsis:
                if x is None or isinstance(x, (bool, str)) or x is Ellipsis:
                    return x is y
                if type(x) is Value and not (
                    x.type.kind in ("any", "object") or (isinstance(y, bool) and x.type.dtype == np.dtype(bool))
                ):
                    return False
                if type(x) is Ref:
                    t = type_of(self.checked(x.cell, node))
                    if x.path or t.kind == "array":
                        return False
                    prefer_known(self, x)
                    return (self.read(x, node), y)
                if type(x) is not Value:
                    return False
                prefer_known(self, x)
                return (x, y)
        if type(a) is Obj and type(b) is Obj:
            return self.pinned(a) is self.pinned(b)
        for x, y in ((a, b), (b, a)):
            if type(x) is Value and x.type.kind in ("any", "object") and type(y) is Obj:
                return (x, self.pinned(y))
        for x in (a, b):
            if type(x) is Obj and x.obj is NotImplemented:
                return False
        if type(a) is Ref and type(b) is Ref and a.cell == b.cell and not a.path and not b.path:
            return True
        if type(a) is type(b) and type(a) in (ListRef, DictRef, Instance):
            if a.cell == b.cell:
                return True
            if not self.cells.family(a.cell) & self.cells.family(b.cell):
                return False
        if type(a) is not type(b) and Value not in (type(a), type(b)):
            return False
        self.fail(
            "whether these are one object is not known when the program is compiled",
            node,
            "compare with ==",
            cause=[a, b],
        )

    def contains(self, a: Any, b: Any, node: Any) -> Any:
        made = self.call_special(b, "__contains__", [a], node)
        if made is not NotImplemented:
            return self.truth(made, node)
        if is_collection(b) and b.cls is not OneShot:
            b = self.inner(b, node)
        if type(b) is DictRef:
            return self.static_key(a, node) in self.checked(b.cell, node, "dictionary").keys
        if type(b) is ViewOf or type(b) is Instance:
            items = self.iterated(self.iterable(b, node, True), node)
            if items is not None:
                b = Seq(tuple(items))
        if isinstance(a, str) and isinstance(b, str):
            return a in b
        if type(b) in (Seq, ListRef) and not (type(b) is ListRef and type(self.content(b.cell)) is Columns):
            result: Any = False
            for item in self.static_items(b, node):
                equal = self.truth(self.compare_with(operator.eq, a, item, node), node)
                if equal is True:
                    return True
                if equal is not False:
                    result = equal if result is False else self.emit(node, PRIMS[operator.or_], result, equal)
            return result
        return self.emit(node, CONTAINS, self.operand(b, node), self.operand(a, node))

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
        if type(av) is Instance:
            av = self.call(Obj(str if convert is None else convert, None), [av], {}, part)
            convert = None
        x = self.plain(av, part)
        if convert is not None:
            x = self.emit_opaque(convert, convert.__name__, [x], part)
        return self.emit_opaque(format, "format", [x, spec], part)
