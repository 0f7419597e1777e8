"""Lowering of expressions."""

from __future__ import annotations
import __future__

import ast
import enum
import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.core import Value, type_of
from ..ir.opset import LIST_NEW, OPERATORS, PRIMS, opaque
from ..ir.types import NONE, OBJECT
from ..lowered import ObjectStep
from ..tree import class_lookup
from .avals import (
    MISSING,
    Closure,
    Conflict,
    DictRef,
    Entries,
    Instance,
    Items,
    ListRef,
    Maybe,
    Obj,
    Ref,
    Seq,
    describe,
    is_constant,
    is_number,
    is_static_int,
)
from .core import Unreachable
from .exits import DEAD, NORMAL, RAISED
from .folds import proved
from .handlers import Ctx, Node, Val, handler_of_node, lowers
from .inputs import is_lasting
from .objects import is_object
from .pseudo import Computed
from .scopes import FunctionNode
from .sets import History, literal_constant
from .texts import is_text, joined_texts, text_by

if TYPE_CHECKING:
    from .classes import Classes as Before
else:  # the parts between are imported when they are first needed, see `parts`
    from .questions import Questions as Before

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


@functools.lru_cache(maxsize=1024)
def _with_attributes(node: FunctionNode) -> frozenset[ast.AST]:
    """The functions defined in this one to attributes of which something is assigned."""
    stored = {
        n.value.id
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name)
    }
    found: set[ast.AST] = set()
    for n in ast.walk(node) if stored else ():
        if isinstance(n, ast.FunctionDef) and n.name in stored:
            found.add(n)
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda):
            if any(isinstance(target, ast.Name) and target.id in stored for target in n.targets):
                found.add(n.value)
    return frozenset(found)


class Expressions(Before):
    """``ev(node)`` gives the abstract value of an expression and emits what computes it."""

    def ev(self, node: ast.expr) -> Any:
        lower = handler_of_node(node)
        if lower is None:
            self.fail(
                f"the expression `{type(node).__name__}` is not supported", node, "write it in simpler expressions"
            )
        return lower(self, node)

    def ev_iter(self, node: ast.expr) -> Any:
        """What a loop goes through: of a set of constants, the constant itself."""
        return _literal_set(self, node, True) if isinstance(node, ast.Set) else self.ev(node)

    def ev_many(self, nodes: list[ast.expr]) -> list[Any]:
        out: list[Any] = []
        for item in nodes:
            if isinstance(item, ast.Starred):
                out += self.static_items(self.ev(item.value), item)
            else:
                out.append(self.ev(item))
        return out

    def new_dict(self, entries: dict[Any, Any]) -> DictRef:
        return DictRef(self.new_cell(Entries.of(entries)))

    def make_closure(self, node: ast.FunctionDef | ast.Lambda) -> Closure:
        frame = self.frame
        up: Any = frame
        while up is not None:
            up.captured = True
            up = up.parent
        defaults = tuple([self.ev(d) for d in node.args.defaults])
        pairs = zip(node.args.kwonlyargs, node.args.kw_defaults)
        keywords = {a.arg: self.ev(d) for a, d in pairs if d is not None}
        _ev_annotations(self, node)
        held = self.new_dict({}) if node in _with_attributes(frame.node) else None
        values = tuple(keywords.values())
        return Closure(node, frame.env, frame.owner, defaults, tuple(keywords), values, frame.file, held)

    # --- operators ------------------------------------------------------------------------------------------------

    def binary(self, fn: Any, a: Val, b: Val, node: Node) -> Val:
        """``a op b`` as Python's operator does it."""
        texts = isinstance(a, str) and type(b) is Seq and b.cls is None and all(map(is_constant, b.items))
        if is_number(a) and is_number(b) or (isinstance(a, str) and is_constant(b)) or texts:
            try:
                result = fn(a, b.items if texts else b)
                if not (isinstance(result, int) and abs(result) > 1 << 62):
                    return result
            except (ZeroDivisionError, OverflowError, TypeError, ValueError) as error:
                if is_number(a) and is_number(b):
                    self.raises(type(error), error.args[0] if error.args else None, node)
        for x in (a, b):
            if type(x) is Maybe or type(x) is Conflict:
                self.operand(x, node)
        if isinstance(a, str) and is_object(b):
            self.refuse_missing(b, node)
        special = self.container_operator(fn, a, b, node)
        if special is not NotImplemented:
            return special
        if fn is operator.add and is_text(self, a) and is_text(self, b):
            return joined_texts(self, [a, b], node)
        if isinstance(a, str):
            return joined_texts(self, [_emit_opaque(self, fn, "%", [a, self.plain(b, node)], node)], node)
        prim = PRIMS.get(fn)
        if prim is None:
            self.fail("this operator is not supported", node, "call the function of NumPy's that does it")
        for x, y in ((a, b), (b, a)):
            if type(x) in (Seq, ListRef) and fn in _DUNDER:
                _operate_on_container(self, fn, x, y, node)
        samples = [_sample(v) for v in (a, b)]
        if None in samples and MISSING not in samples:
            _operate_on_none(self, fn, samples, node)
        avs = [self.as_array(v, node) if _answers(self, other, node) else v for v, other in ((a, b), (b, a))]
        x, y = (self.operand(v, node) for v in avs)
        x, y = _narrowed(x, y), _narrowed(y, x)
        value = self.emit(node, prim, x, y)
        return self.result_of(prim, value, avs)

    def refuse_missing(self, av: Val, node: Node) -> None:
        """A text is filled from a mapping that makes what it lacks."""
        cls = self.cls_of(av)
        if class_lookup(cls, "__missing__") is not None:
            self.fail(f"`%` with {cls.__name__}, which makes entries that are missing", node, "pass the entries: {...}")

    def container_operator(self, fn: Any, a: Val, b: Val, node: Node) -> Val:
        """Operators of tuples, lists and user objects; NotImplemented for numbers and arrays."""
        if fn in _DUNDER and (is_object(a) or is_object(b)):
            flags = _of_flags(self, _DUNDER[fn], [a, b], node)
            if flags is not NotImplemented:
                return flags
            made = object_operator(self, _DUNDER[fn], a, b, node)
            if made is not NotImplemented:
                return made
            held = [self.underlying(x, node) for x in (a, b)]
            if held[0] is not a or held[1] is not b:
                return self.binary(fn, held[0], held[1], node)
        if fn is operator.add and type(a) is Seq and type(b) is Seq:
            self.budget.spend(self.builder.loc, len(a.items) + len(b.items))
            return Seq(a.items + b.items)
        if fn is operator.mul:
            for x, y in ((a, b), (b, a)):
                if type(x) is Seq and is_static_int(y):
                    self.budget.spend(self.builder.loc, len(x.items) * max(y, 0))
                    return Seq(x.items * y)
                if type(x) is ListRef and (
                    is_static_int(y) or (type(y) is Value and y.type.dtype == np.dtype(np.int64) and y.type.is_scalar)
                ):
                    return _repeat_list(self, x, y, node)
        return NotImplemented

    def condition(self, node: ast.expr) -> Any:
        """The truth of an expression: a Python bool, or a value that is one."""
        if isinstance(node, ast.BoolOp):
            return _bool_op(self, node, 0, True)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.negated(self.condition(node.operand), node)
        return self.truth(self.ev(node), node)

    def compare(self, op: ast.cmpop, a: Val, b: Val, node: Node) -> Val:
        if isinstance(op, (ast.Is, ast.IsNot)):
            same = self.identical(a, b, node)
            return same if isinstance(op, ast.Is) else self.negated(same, node)
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self.contains(a, b, node)
            if isinstance(op, ast.In):
                return found
            return self.negated(found, node)
        return self.compare_with(_COMPARE[type(op)], a, b, node)


def _literal_set(ctx: Expressions, node: ast.Set, itself: bool) -> Instance:
    """A display of a set. Python makes one of more than two constants from a constant set; others grow."""
    made = ctx.built_set(set)
    if all(map(_is_folded, node.elts)):
        items = [ctx.static_key(x, node, "a member of a set") for x in ctx.ev_many(node.elts)]
        constant, only = literal_constant(ctx.frame.owner.__code__, set(items))
        if constant is not None and (itself or len(items) > 2):
            known = History(frozenset, (constant,))
            known.sure, known.steady = known.sure and only, known.steady and only
            if itself:
                return ctx.new_set(known, frozenset)
            ctx.replace_set(made, set.update, known, node=node)
            return made
    for item in node.elts:
        if isinstance(item, ast.Starred):
            more = ctx.operand_of_set(ctx.ev(item.value), item)
            ctx.replace_set(made, set.update, more, node=item)
        else:
            key = ctx.static_key(ctx.ev(item), node, "a member of a set")
            ctx.replace_set(made, set.add, key, node=node)
    return made


def _ev_annotations(ctx: Expressions, node: ast.FunctionDef | ast.Lambda) -> None:
    """Annotations that call something are evaluated, after the defaults."""
    if isinstance(node, ast.Lambda) or ctx.frame.owner.__code__.co_flags & __future__.annotations.compiler_flag:
        return
    spec = node.args
    given = [a.annotation for a in [*spec.args, *spec.posonlyargs, spec.vararg, *spec.kwonlyargs, spec.kwarg] if a]
    for x in [*given, node.returns]:
        if x is not None and any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in ast.walk(x)):
            ctx.ev(x)


def _operate_on_container(ctx: Expressions, fn: Any, container: Val, other: Val, node: Node) -> None:
    """An operator of a list or tuple that it does not have: NumPy answers it, or it is an error."""
    repeats = fn is operator.mul and type(other) is Value and other.type.is_scalar
    if _answers(ctx, other, node) and not repeats:
        return
    remedy = "make an array of it: np.array(...)"
    kind = "tuple" if type(container) is Seq else "list"
    t = type_of(other) if type(other) is Value else None
    if type(other) is Ref or (t is not None and (t.kind not in ("py", "generic") or t.dtype is None)):
        ctx.fail(
            f"an operator of a {kind} and of what may or may not be NumPy's: it is not known what Python does",
            node,
            remedy,
        )
    if repeats and t is not None and t.dtype is not None and t.dtype.kind in "iub":
        ctx.fail(f"the length of this {kind} has to be known when the program is compiled", node, remedy, cause=other)
    message = f"unsupported operand type(s) for {OPERATORS[fn][0]}: {kind!r} and {describe(other)}"
    ctx.raises(TypeError, message, node, remedy=remedy)


def _operate_on_none(ctx: Expressions, fn: Any, samples: list[Any], node: Node) -> None:
    """An operator of None and a number raises. So the path ends here, and needs no type for what it would give."""
    try:
        fn(*samples)
    except TypeError as error:
        ctx.raises(TypeError, str(error), node)


def _sample(av: Val) -> Any:
    """None, or a number of the same type."""
    if av is None or is_number(av):
        return av
    t = av.type if type(av) is Value else OBJECT
    if t == NONE:
        return None
    if t.kind not in ("py", "generic") or t.dtype is None or t.dtype.kind not in "biufc":
        return MISSING
    number = t.dtype.type(1)
    return number.item() if t.kind == "py" else number


def _answers(ctx: Expressions, av: Val, node: Node) -> bool:
    """NumPy answers an operator with this on one side: it makes an array of a container on the other."""
    if type(av) is Ref:
        return av.cell in ctx.cells.numpy or ctx.read(av, node).type.kind == "array"
    return type(av) is Value and av.type.kind in ("generic", "array")


def _emit_opaque(ctx: Expressions, fn: Any, name: str, args: list[Val], node: Node) -> Any:
    return ctx.emit(node, opaque(fn, name), *args)


def _of_flags(ctx: Expressions, stem: str, avs: list[Any], node: Node) -> Any:
    """``a | b`` and the like of members of an `enum.Flag`, which are one object each; NotImplemented for others."""
    name = f"__{stem}__"
    flags = [av for av in avs if type(av) is Obj and isinstance(av.obj, enum.Flag)]
    if not flags or not all(is_constant(av) or av in flags for av in avs):
        return NotImplemented
    plain = [class_lookup(cls, name) for cls in (enum.Flag, enum.IntFlag)]
    if any(class_lookup(type(av.obj), name) not in plain for av in flags):
        return NotImplemented
    made = ctx.folded(getattr(operator, name), [ctx.pinned(av) if av in flags else av for av in avs], {}, node)
    return Obj(made, (ObjectStep(("object", made)),)) if isinstance(made, enum.Enum) else made


def object_operator(ctx: Expressions, stem: str, a: Val, b: Val, node: Node) -> Val:
    """What the classes of the operands say of an operator: the right one's first if it is a subclass."""
    tries = [(a, f"__{stem}__", b), (b, f"__r{stem}__", a)]
    if is_object(a) and is_object(b):
        mine, other = ctx.cls_of(a), ctx.cls_of(b)
        if mine is other:
            tries = tries[:1]
        elif issubclass(other, mine) and class_lookup(other, tries[1][1]) is not class_lookup(mine, tries[1][1]):
            tries.reverse()
    for x, name, y in tries:
        if x is b and type(a) is Ref and ctx.type_attribute(b, name) is not None:
            cls = ctx.cls_of(b)
            if class_lookup(cls, "__array_priority__") is None and (
                class_lookup(cls, "__array_ufunc__") is not None or not hasattr(cls, "__array_ufunc__")
            ):
                ctx.fail(
                    f"an operator between an array and {describe(b)}: NumPy applies it to each element",
                    node,
                    "set __array_ufunc__ = None in the class, or write the object first",
                )
        made = ctx.call_special(x, name, [y], node)
        if made is not NotImplemented:
            return made
    return NotImplemented


def _repeat_list(ctx: Expressions, x: ListRef, times: Any, node: Node) -> Any:
    content = ctx.checked(x.cell, node, "list")
    if type(content) is Items and is_static_int(times) and len(content.items) * times <= 1000:
        return ctx.new_list(list(content.items) * times)
    if type(content) is not Items:
        ctx.fail(
            "repetition of a list whose length is known at run time only", node, "use an array, and np.tile", cause=x
        )
    items = content.items
    if not all(type(i) is Value and i.type.is_scalar or is_number(i) for i in items):
        ctx.fail(
            "repetition of a list of arrays or containers a number of times known at run time only",
            node,
            "use an array, and np.tile, or append in a loop",
            cause=times,
        )
    empty = ctx.fresh(ctx.emit(node, LIST_NEW, ()))

    def body(i: Any) -> None:
        for item in items:
            ctx.list_append(empty, item, node)

    ctx.counted(times, body, node)
    return empty


def _bool_op(ctx: Expressions, node: ast.BoolOp, k: int, as_condition: bool) -> Any:
    """``a and b`` or ``a or b``, evaluating no more than Python does."""
    item = node.values[k]
    value = ctx.condition(item) if as_condition else ctx.ev(item)
    if k == len(node.values) - 1:
        return value
    flag = value if as_condition else ctx.truth(value, item)
    stop = isinstance(node.op, ast.Or)
    later = lambda: _bool_op(ctx, node, k + 1, as_condition)
    settled = lambda: proved("evaluated", stop) if as_condition else value
    return ctx.branch(flag, settled if stop else later, later if stop else settled, node)


def _compare_chain(ctx: Expressions, node: ast.Compare, left: Val, k: int) -> Any:
    right = ctx.ev(node.comparators[k])
    result = ctx.compare(node.ops[k], left, right, node)
    if k == len(node.ops) - 1:
        return result
    return ctx.branch(ctx.truth(result, node), lambda: _compare_chain(ctx, node, right, k + 1), lambda: result, node)


def _formatted(ctx: Expressions, part: ast.FormattedValue) -> Any:
    av = ctx.ev(part.value)
    spec = ctx.ev(part.format_spec) if part.format_spec is not None else ""
    convert = {-1: None, 115: str, 114: repr, 97: ascii}[part.conversion]
    if is_constant(av) and isinstance(spec, str):
        return format(av if convert is None else convert(av), spec)
    if type(av) is Obj and is_lasting(av.obj) and isinstance(spec, str):
        obj = ctx.pinned(av)
        return format(obj if convert is None else convert(obj), spec)
    if convert is not None and is_object(av):
        av, convert = ctx.call(Obj(convert, None), [av], {}, part), None
    if convert is not None:
        x = ctx.live_operand(av, part) if type(av) is Obj else ctx.plain(av, part)
        av = text_by(ctx, convert, convert.__name__, [x], {}, part)
    return ctx.call(Obj(format, None), [av, spec], {}, part)


@lowers(Computed)
def _computed(ctx: Ctx, node: Computed) -> Val:
    return node.compute()


@lowers(ast.Yield)
def _yield(ctx: Ctx, node: ast.Yield) -> Val:
    stand_in = ctx.frame.on_yield
    if stand_in is None:
        ctx.fail("`yield` is not supported", node, "return a list")
    code = stand_in(None if node.value is None else ctx.ev(node.value))
    if code is DEAD:
        raise Unreachable
    if not ctx.possible(code) <= {NORMAL, RAISED}:
        ctx.fail("a loop that leaves a generator at a `yield` inside of an expression", node, "yield in a statement")
    ctx.raise_on(code, node)
    return None


@lowers(ast.YieldFrom)
def _yield_from(ctx: Ctx, node: ast.YieldFrom) -> Val:
    ctx.fail("the value of `yield from`", node, "write a loop with `yield`, and keep the value in a list")


@lowers(ast.Constant)
def _constant(ctx: Ctx, node: ast.Constant) -> Val:
    return node.value


@lowers(ast.Name)
def _name(ctx: Ctx, node: ast.Name) -> Val:
    return ctx.load(node.id, node)


@lowers(ast.Tuple)
def _tuple(ctx: Ctx, node: ast.Tuple) -> Val:
    return Seq(tuple(ctx.ev_many(node.elts)))


@lowers(ast.List)
def _list(ctx: Ctx, node: ast.List) -> Val:
    return ctx.new_list(ctx.ev_many(node.elts))


@lowers(ast.Set)
def _set(ctx: Ctx, node: ast.Set) -> Val:
    return _literal_set(ctx, node, False)


@lowers(ast.Dict)
def _dict(ctx: Ctx, node: ast.Dict) -> Val:
    entries: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values):
        if key is None:
            entries.update(ctx.entries_of(ctx.ev(value), value))
        else:
            name = ctx.ev(key)
            item = ctx.ev(value)
            entries[ctx.static_key(name, key)] = item
    return ctx.new_dict(entries)


@lowers(ast.Starred)
def _starred(ctx: Ctx, node: ast.Starred) -> Val:
    ctx.fail("a starred expression is not supported here", node, "write the items out, or build a list with +")


@lowers(ast.NamedExpr)
def _named_expr(ctx: Ctx, node: ast.NamedExpr) -> Val:
    av = ctx.ev(node.value)
    ctx.bind(node.target.id, av, node)
    return av


@lowers(ast.Lambda)
def _lambda(ctx: Ctx, node: ast.Lambda) -> Val:
    return ctx.make_closure(node)


@lowers(ast.BinOp)
def _bin_op(ctx: Ctx, node: ast.BinOp) -> Val:
    return ctx.binary(_BINARY[type(node.op)], ctx.ev(node.left), ctx.ev(node.right), node)


@lowers(ast.UnaryOp)
def _unary_op(ctx: Ctx, node: ast.UnaryOp) -> Val:
    av = ctx.ev(node.operand)
    if isinstance(node.op, ast.Not):
        return ctx.negated(ctx.truth(av, node), node)
    fn = _UNARY[type(node.op)]
    if is_number(av):
        return fn(av)
    name = {operator.neg: "__neg__", operator.pos: "__pos__", operator.invert: "__invert__"}[fn]
    flags = _of_flags(ctx, name.strip("_"), [av], node)
    if flags is not NotImplemented:
        return flags
    made = ctx.call_special(av, name, [], node)
    if made is not NotImplemented:
        return made
    return ctx.fresh(ctx.emit(node, PRIMS[fn], ctx.operand(av, node)), like=(av,))


@lowers(ast.BoolOp)
def _and_or(ctx: Ctx, node: ast.BoolOp) -> Val:
    return _bool_op(ctx, node, 0, False)


@lowers(ast.IfExp)
def _if_exp(ctx: Ctx, node: ast.IfExp) -> Val:
    return ctx.branch(ctx.condition(node.test), lambda: ctx.ev(node.body), lambda: ctx.ev(node.orelse), node)


@lowers(ast.Compare)
def _compare(ctx: Ctx, node: ast.Compare) -> Val:
    return _compare_chain(ctx, node, ctx.ev(node.left), 0)


@lowers(ast.JoinedStr)
def _joined_str(ctx: Ctx, node: ast.JoinedStr) -> Val:
    parts: list[Any] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(part.value)
        else:
            assert isinstance(part, ast.FormattedValue)
            parts.append(_formatted(ctx, part))
    if all(isinstance(p, str) for p in parts):
        return "".join(parts)
    return joined_texts(ctx, parts, node)


def _is_folded(node: ast.expr) -> bool:
    """Python makes a constant of it when it compiles."""
    kinds = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(n, kinds) for n in ast.walk(node))


def _narrowed(x: Any, other: Val) -> Any:
    """An integer that no dtype holds, as the float that NumPy makes of it beside floats."""
    t = type_of(other)
    if t.dtype is None or t.dtype.kind not in "fc" or t.kind == "py":
        return x
    made = x
    if type(x) is Value and x.op is not None and x.op.args and all(type(a) is int for a in x.op.args):
        fn = x.op.prim.fn
        if fn is not None and fn in _BINARY.values() and not x.op.kwargs:
            made = fn(*x.op.args)  # large, so that it was left to be computed when the program runs
    try:
        return float(made) if type(made) is int and abs(made) >= 1 << 63 else x
    except OverflowError:
        return x
