"""From the text of a program to LLVM's instructions.

Numba compiles Python: it finds out what the bytecode does and which types values have, and it writes code for all that
a value may be used for. That took half of the time of a first call. A program binds each name to one type, so one walk
over its text does: a number is a value of LLVM's, and an array is its data and its lengths. What numbers and functions
of NumPy's become is Numba's own code, so the results are, too.

What the walk does not know raises `Unknown`, and Numba compiles the program in its own way.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.np import numpy_support as _numpy_support

from . import blas, memory
from .scopes import Scope, scopes_of
from .values import WORD, Buffer, Items, Known, NoProgram, Number, Stack, Unknown, Writer, is_same, types

numpy_support: Any = _numpy_support

MANY = 16  # loops, with which a program is long

_OPERATORS: dict[type, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip


@dataclass(slots=True)
class Variable:
    """A name of the text.

    value:  what it is, if it is one value; otherwise its type and, in `slots`, the places in memory of its parts
    holder: the place of the reference that it owns, if it does
    is_free: nothing that follows in the text reads it, and it owns nothing there
    """

    scope: Scope
    value: Any = None
    slots: tuple[Any, ...] = ()
    holder: Any = None
    is_free: bool = False


def tree_of(function: Any) -> ast.FunctionDef:
    """The syntax tree of a function of a module, from the lines of its file. Raises `NoProgram`."""
    lines = linecache.getlines(function.__code__.co_filename)
    start = function.__code__.co_firstlineno - 1
    end = start + 1
    while end < len(lines) and (lines[end - 1].startswith("@") or not lines[end].strip() or lines[end][0] == " "):
        end += 1
    try:
        (tree,) = ast.parse("".join(lines[start:end])).body
    except (SyntaxError, ValueError):
        raise NoProgram(f"the text of {function.__name__}") from None
    if not isinstance(tree, ast.FunctionDef) or tree.name != function.__name__:
        raise NoProgram(f"the text of {function.__name__}")
    return tree


def result_type(function: Any, tree: ast.FunctionDef) -> Any:
    """The type that a program gives, which is that of what it gives where it bails; or a function for parts of a loop.

    Raises `NoProgram` for other functions.
    """
    bail = function.__globals__.get(f"{function.__name__}_bail")
    if bail is not None:
        last = tree_of(getattr(bail, "py_func", bail)).body[-1]
        assert isinstance(last, ast.Return) and last.value is not None
        return _type_of(last.value)
    results = [s.value for s in ast.walk(tree) if isinstance(s, ast.Return)]
    if all(isinstance(x, ast.Constant) and type(x.value) is bool for x in results):
        return types.boolean
    raise NoProgram(f"{function.__name__} is no program")


def _type_of(e: ast.expr) -> Any:
    if isinstance(e, ast.Tuple):
        return types.Tuple(tuple(map(_type_of, e.elts)))
    if isinstance(e, ast.List):
        return types.List(_type_of(e.elts[0]))
    if isinstance(e, ast.Constant):
        return {bool: types.boolean, int: types.intp, float: types.float64}[type(e.value)]
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute):
        return numpy_support.from_dtype(np.dtype(getattr(np, e.func.attr)))
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Name):
        if e.func.id == "complex":
            return types.complex128
        if e.func.id == "buffer":
            shape, *rest = e.args
            dtype = np.dtype(getattr(np, rest[0].attr) if rest else np.float64)  # type: ignore[attr-defined]
            axes = len(shape.elts) if isinstance(shape, ast.Tuple) else 1
            return types.Array(numpy_support.from_dtype(dtype), axes, "C")
    raise Unknown(f"a result {ast.unparse(e)}")


class Translation(Writer):
    """Writes one function. `tree` is its syntax tree."""

    tree: ast.FunctionDef

    # --- the function -------------------------------------------------------------------------------------------------

    def lower_normal_function(self, fndesc: Any) -> None:
        self.setup_function(fndesc)
        self.extract_function_arguments()
        self.pre_lower()
        function = self.func_ir.func_id.func
        self.names = {**vars(builtins), **function.__globals__}
        self.variables: dict[str, Variable] = {}
        self.known: dict[Any, Any] = {}
        self.leave: list[Any] = []  # where `break` goes to
        self.blocks_to: dict[str, Any] = {}
        self.released: dict[tuple[int, int], list[Variable]] = {}
        self.bail_name = f"{function.__name__}_bail"
        self.scopes = scopes_of(self.tree)
        nodes = list(ast.walk(self.tree))
        self.is_long = sum(isinstance(x, (ast.For, ast.While)) for x in nodes) > MANY
        self.has_breaks = any(isinstance(x, ast.Break) for x in nodes)
        tail = self.builder.block  # a flag among the arguments is read by a branch, so this need not be `entry_block`
        start = self.builder.append_basic_block("start")
        self.builder.position_at_end(start)
        for arg, kind, value in zip(self.tree.args.args, fndesc.argtypes, self.fnargs):
            self.bind(arg.arg, self.given(kind, value))
        self.block(self.tree.body)
        if not self.builder.block.is_terminated:
            raise Unknown("a function without a result")
        if "bail" in self.blocks_to:
            self.builder.position_at_end(self.blocks_to["bail"])
            self.finish(self.nothing(self.fndesc.restype), True)
        self.builder.position_at_end(tail)
        self.builder.branch(start)
        self.post_lower()

    def finish(self, found: Any, everywhere: bool = False) -> None:
        """Return what an expression gives, and let go what names own."""
        kind = self.fndesc.restype
        if isinstance(kind, types.BaseTuple):
            if not isinstance(found, Items) or len(found.values) != len(kind.types):
                raise Unknown("a result of another length")
            parts = [self.passed(x, t) for x, t in zip(found.values, kind.types)]
            value = self.context.make_tuple(self.builder, kind, parts)
        else:
            value = self.passed(found, kind)
        for variable in self.variables.values():
            if variable.holder is not None and (everywhere or self.has_breaks or not variable.is_free):
                self.decref(self.builder.load(variable.holder))
        self.call_conv.return_value(self.builder, self.context.get_return_value(self.builder, kind, value))

    def nothing(self, kind: Any) -> Any:
        """What a program gives where it bails."""
        if isinstance(kind, types.BaseTuple):
            return Items([self.nothing(t) for t in kind.types])
        if isinstance(kind, types.Array):
            return self.new(kind, [ir.Constant(WORD, 0)] * kind.ndim)
        if isinstance(kind, types.List):
            return self.stack_of(self.nothing(kind.dtype))
        return Number(kind, self.context.get_constant_null(kind))

    # --- names --------------------------------------------------------------------------------------------------------

    def bind(self, name: str, x: Any) -> None:
        variable = self.variables.get(name)
        scope = self.scopes[name]
        if variable is None:
            variable = self.variables[name] = Variable(scope)
        if not isinstance(x, (Number, Buffer, Stack)):
            raise Unknown(f"what {name} is bound to")
        if scope.is_value:
            is_param = scope.stores[0][1][-1][1] == -1
            if not isinstance(x, Number) and (x.is_ours or not (is_param or self.is_safe(scope))):
                self.own(variable, x)
            if not isinstance(x, Number):
                x.is_ours = False
            variable.value = x
            return
        if variable.value is None:
            variable.value = x
            variable.slots = tuple([self.slot(part.type) for part in self.parts(x)])
        elif variable.value.kind != x.kind:
            if not is_same(variable.value.kind, x.kind):
                raise Unknown(f"{name} is a {variable.value.kind} and a {x.kind}")
        if not isinstance(x, Number):
            self.own(variable, x)
        for part, slot in zip(self.parts(x), variable.slots, strict=True):
            self.builder.store(part, slot)

    def is_safe(self, scope: Scope) -> bool:
        """It is a part of what has a reference at least as long."""
        return scope.of is not None and isinstance(self.variables[scope.of].value, Buffer)

    def parts(self, x: Any) -> list[Any]:
        return [x.data, x.holder, *x.lengths] if isinstance(x, Buffer) else [x.value]

    def name(self, name: str) -> Any:
        variable = self.variables.get(name)
        if variable is None:
            if name not in self.names:
                raise Unknown(f"the name {name}")
            return Known(self.names[name])
        x = variable.value
        if not variable.slots:
            return x
        parts = [self.builder.load(slot) for slot in variable.slots]
        if isinstance(x, Buffer):
            return Buffer(x.kind, parts[0], parts[2:], parts[1])
        return type(x)(x.kind, parts[0])

    def own(self, variable: Variable, x: Any) -> None:
        """The name owns a reference to this, and to nothing else any more."""
        self.owned(x)
        holder = self.holder_of(x)
        again = variable.holder is not None or self.has_breaks or not variable.scope.is_value
        if variable.holder is None:
            variable.holder = self.slot(holder.type, True)
            where = self.released.setdefault((variable.scope.block, variable.scope.last), [])
            where.append(variable)
        if again:
            old = self.builder.load(variable.holder)
            self.builder.store(holder, variable.holder)
            self.decref(old)
        else:
            self.builder.store(holder, variable.holder)

    def release(self, block: int, k: int) -> None:
        """Let go what nothing behind this statement reads."""
        for variable in self.released.get((block, k), ()):
            holder = self.builder.load(variable.holder)
            self.builder.store(ir.Constant(holder.type, None), variable.holder)
            self.decref(holder)
            variable.is_free = True

    # --- statements ---------------------------------------------------------------------------------------------------

    def block(self, block: Sequence[ast.stmt]) -> None:
        self.release(id(block), -1)
        for k, s in enumerate(block):
            self.statement(s)
            if self.builder.block.is_terminated:
                return
            self.release(id(block), k)

    def statement(self, s: Any) -> None:
        if isinstance(s, ast.Assign):
            value = self.value(s.value)
            for target in s.targets:  # of several, the value is a number
                self.assign(target, value)
        elif isinstance(s, ast.AugAssign):
            self.increase(s)
        elif isinstance(s, ast.For):
            self.loop(s)
        elif isinstance(s, ast.If):
            self.branch(s)
        elif isinstance(s, ast.While):
            self.forever(s)
        elif isinstance(s, ast.Return):
            if self.is_bail(s):
                self.builder.branch(self.bail_block())
            else:
                self.finish(self.value(s.value))
        elif isinstance(s, ast.Break):
            self.builder.branch(self.leave[-1])
        elif isinstance(s, ast.Expr):
            self.value(s.value)
        elif not isinstance(s, ast.Pass):
            raise Unknown(ast.unparse(s))

    def is_bail(self, s: ast.stmt) -> bool:
        found = s.value.func if isinstance(s, ast.Return) and isinstance(s.value, ast.Call) else None
        return isinstance(found, ast.Name) and found.id == self.bail_name

    def bail_block(self) -> Any:
        if "bail" not in self.blocks_to:
            self.blocks_to["bail"] = self.builder.append_basic_block("bail")
        return self.blocks_to["bail"]

    def assign(self, target: Any, x: Any) -> None:
        if isinstance(target, ast.Name):
            self.bind(target.id, x)
        elif isinstance(target, ast.Tuple):
            if not isinstance(x, Items) or len(x.values) != len(target.elts):
                raise Unknown("names for something else than items")
            for item, value in zip(target.elts, x.values):
                assert isinstance(item, ast.Name)
                self.bind(item.id, value)
        else:
            base, index = self.value(target.value), self.index(target.slice)
            if isinstance(base, Stack):
                self.list_function(operator.setitem, types.none, base, *index, x)
            else:
                self.store(self.place(base, index), base.kind, x)

    def increase(self, s: ast.AugAssign) -> None:
        target = s.target
        if isinstance(target, ast.Name):
            self.bind(target.id, self.operate(_OPERATORS[type(s.op)], self.name(target.id), self.value(s.value)))
            return
        assert isinstance(target, ast.Subscript)
        base = self.value(target.value)
        place = self.place(base, self.index(target.slice))
        old = self.load(base, place)
        self.store(place, base.kind, self.operate(_OPERATORS[type(s.op)], old, self.value(s.value)))

    def branch(self, s: ast.If) -> None:
        if self.is_bail(s.body[0]) and not s.orelse:
            on = self.builder.append_basic_block("on")
            self.jump(s.test, self.bail_block(), on)
            self.builder.position_at_end(on)
            return
        then, end = self.builder.append_basic_block("then"), self.builder.append_basic_block("end")
        orelse = self.builder.append_basic_block("else") if s.orelse else end
        self.jump(s.test, then, orelse)
        for block, at in ((s.body, then), (s.orelse, orelse)):
            if block:
                self.builder.position_at_end(at)
                self.block(block)
                if not self.builder.block.is_terminated:
                    self.builder.branch(end)
        self.builder.position_at_end(end)

    def loop(self, s: ast.For) -> None:
        call, b = s.iter, self.builder
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            raise Unknown("a loop over something else than a range")
        zero, one = Number(types.intp, ir.Constant(WORD, 0)), Number(types.intp, ir.Constant(WORD, 1), 1)
        given = [self.value(x) for x in call.args]
        start, stop, step = [zero, *given, one] if len(given) == 1 else [*given, one][:3]
        if step.literal is None or any(x.kind != types.intp for x in (start, stop)):
            raise Unknown("a range of numbers of another type")
        order = "<" if step.literal > 0 else ">"
        body, end = b.append_basic_block("body"), b.append_basic_block("end")
        before = b.block
        b.cbranch(b.icmp_signed(order, start.value, stop.value), body, end)
        b.position_at_end(body)
        index = b.phi(WORD)
        index.add_incoming(start.value, before)
        assert isinstance(s.target, ast.Name)
        self.bind(s.target.id, Number(types.intp, index))
        self.leave.append(end)
        self.block(s.body)
        self.leave.pop()
        if not b.block.is_terminated:
            following = b.add(index, step.value, flags=("nsw",))
            index.add_incoming(following, b.block)
            self.mark(b.cbranch(b.icmp_signed(order, following, stop.value), body, end))
        b.position_at_end(end)

    def forever(self, s: ast.While) -> None:
        if not isinstance(s.test, ast.Constant) or s.test.value is not True:
            raise Unknown("a loop with a condition")
        body, end = self.builder.append_basic_block("body"), self.builder.append_basic_block("end")
        self.builder.branch(body)
        self.builder.position_at_end(body)
        self.leave.append(end)
        self.block(s.body)
        self.leave.pop()
        if not self.builder.block.is_terminated:
            self.mark(self.builder.branch(body))
        self.builder.position_at_end(end)

    def mark(self, back: Any) -> None:
        if self.is_long:
            _as_it_is(self.module, back)

    # --- conditions ---------------------------------------------------------------------------------------------------

    def jump(self, test: ast.expr, then: Any, orelse: Any, is_value: bool = False) -> None:
        """Go to one of two blocks. What stands behind `and` and `or` is computed only if it is asked for.

        is_value: somebody reads the condition, so it has to be true or false
        """
        if isinstance(test, ast.BoolOp):
            for x in test.values[:-1]:
                other = self.builder.append_basic_block("next")
                if isinstance(test.op, ast.And):
                    self.jump(x, other, orelse, is_value)
                else:
                    self.jump(x, then, other, is_value)
                self.builder.position_at_end(other)
            self.jump(test.values[-1], then, orelse, is_value)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.jump(test.operand, orelse, then)
        else:
            found = self.value(test)
            if is_value and found.kind != types.boolean:
                raise Unknown("a condition that is neither true nor false")
            self.builder.cbranch(self.truth(found), then, orelse)

    def truth(self, x: Any) -> Any:
        return self.context.cast(self.builder, x.value, x.kind, types.boolean)

    def both(self, e: ast.BoolOp) -> Any:
        """``a and b`` of conditions."""
        then, orelse, end = [self.builder.append_basic_block(name) for name in ("yes", "no", "end")]
        self.jump(e, then, orelse, True)
        for block in (then, orelse):
            self.builder.position_at_end(block)
            self.builder.branch(end)
        self.builder.position_at_end(end)
        found = self.builder.phi(ir.IntType(1))
        found.add_incoming(ir.Constant(ir.IntType(1), 1), then)
        found.add_incoming(ir.Constant(ir.IntType(1), 0), orelse)
        return Number(types.boolean, found)

    # --- expressions --------------------------------------------------------------------------------------------------

    def value(self, e: Any) -> Any:
        if isinstance(e, ast.Name):
            return self.name(e.id)
        if isinstance(e, ast.Constant):
            return self.constant(e.value)
        if isinstance(e, ast.BinOp):
            return self.operate(_OPERATORS[type(e.op)], self.value(e.left), self.value(e.right))
        if isinstance(e, ast.Subscript):
            return self.subscript(e)
        if isinstance(e, ast.Call):
            return self.call(e)
        if isinstance(e, ast.Attribute):
            return self.attribute(e)
        if isinstance(e, ast.UnaryOp):
            x = self.value(e.operand)
            if isinstance(e.op, ast.USub):
                return self.constant(-x.literal) if x.literal is not None else self.operate(operator.neg, x)
            if isinstance(e.op, ast.Not):
                return Number(types.boolean, self.builder.not_(self.truth(x)))
            if isinstance(e.op, ast.Invert):
                return self.operate(operator.invert, x)
        if isinstance(e, ast.Compare) and len(e.ops) == 1:
            return self.operate(_OPERATORS[type(e.ops[0])], self.value(e.left), self.value(e.comparators[0]))
        if isinstance(e, ast.BoolOp):
            return self.both(e)
        if isinstance(e, ast.Tuple):
            return Items([self.value(x) for x in e.elts])
        if isinstance(e, ast.List) and len(e.elts) == 1:
            return self.stack_of(self.value(e.elts[0]))
        raise Unknown(ast.unparse(e))

    def attribute(self, e: ast.Attribute) -> Any:
        x = self.value(e.value)
        if isinstance(x, Known) and isinstance(x.value, ModuleType):
            found = getattr(x.value, e.attr)
            return self.constant(found) if isinstance(found, float) else Known(found)
        if isinstance(x, Buffer) and e.attr == "shape":
            return Items([Number(types.intp, n) for n in x.lengths])
        if isinstance(x, Buffer) and e.attr == "T":
            return self.transposed(x)
        if isinstance(x, Number) and isinstance(x.kind, types.Complex) and e.attr in ("real", "imag"):
            return Number(x.kind.underlying_float, self.builder.extract_value(x.value, int(e.attr == "imag")))
        raise Unknown(ast.unparse(e))

    def index(self, e: ast.expr) -> list[Any]:
        return [self.value(x) for x in (e.elts if isinstance(e, ast.Tuple) else [e])]

    def subscript(self, e: ast.Subscript) -> Any:
        base = self.value(e.value)
        if isinstance(base, Items):
            assert isinstance(e.slice, ast.Constant) and isinstance(e.slice.value, int)
            return base.values[e.slice.value]
        if isinstance(e.slice, ast.Slice):
            if e.slice.step is not None or e.slice.lower is None:
                raise Unknown("a slice")
            return self.piece(base, self.value(e.slice.lower), self.value(e.slice.upper))
        index = self.index(e.slice)
        if isinstance(base, Stack):
            return self.list_function(operator.getitem, base.kind.dtype, base, *index)
        return (
            self.load(base, self.place(base, index))
            if isinstance(base, Buffer) and len(index) == base.kind.ndim
            else self.row(base, index)
        )

    def call(self, e: ast.Call) -> Any:
        if e.keywords:
            raise Unknown(ast.unparse(e))
        if isinstance(e.func, ast.Attribute) and not isinstance(target := self.value(e.func.value), Known):
            return self.method(target, e.func.attr, e.args)
        fn = self.value(e.func)
        if not isinstance(fn, Known):
            raise Unknown(ast.unparse(e))
        args = list(map(self.value, e.args))
        for wanted, make in _WRITTEN:
            if fn.value is wanted:
                return make(self, *args)
        return self.apply(fn.value, args)

    def method(self, x: Any, name: str, args: Sequence[ast.expr]) -> Any:
        given = [self.value(arg) for arg in args]
        if isinstance(x, Stack) and name == "append":
            return self.list_function("list.append", types.none, x, *given)
        if isinstance(x, Stack) and name == "pop" and not given:
            return self.list_function("list.pop", x.kind.dtype, x)
        if isinstance(x, Buffer) and name == "reshape":
            return self.reshaped(x, *given)
        raise Unknown(f"the method {name}")


# Functions that need no records of arrays.
_WRITTEN: list[tuple[Any, Callable[..., Any]]] = [
    (memory.buffer, Translation.buffer),
    (memory.zeroed, Translation.zeroed),
    (memory.filled, Translation.filled),
    (memory.longer, Translation.longer),
    (blas.add_product, Translation.add_product),
]


def _as_it_is(module: Any, back: Any) -> None:
    """Where only the run tells the trips of a loop, LLVM does not unroll it. `back` is the branch to its head.

    Several trips in a row made programs take a fifth more time to compile. Few took less to run, up to a tenth.
    """
    rule = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.runtime.disable")])
    loop = ir.MDValue(module, [rule], name=str(len(module.metadata)))
    loop.operands = (loop, rule)  # it names itself, so no other loop is the same
    back.set_metadata("llvm.loop", loop)


__all__ = ["Translation", "result_type", "tree_of"]
