"""Programs of loops as text that Numba compiles.

>>> from autodiff_compiler.native.nest import F8, Array, Bail, BOOL, Call, Const, INDEX, Length, Load, Program, Return
>>> first = Program("first", (Array("x", F8, 1),), [
...     Bail(Call("eq", (Length("x", 0), Const(0, INDEX)), BOOL)), Return((Load("x", (Const(0, INDEX),), F8),)),
... ])
>>> print("\\n".join(text_of(first)))
@njit
def first_bail():
    return False, 0.0
<BLANKLINE>
<BLANKLINE>
@Native
def first(x):
    if x.shape[0] == 0:
        return first_bail()
    return True, x[0]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .nest import (
    BOOL,
    C16,
    F8,
    INDEX,
    AddProduct,
    Alloc,
    Bail,
    Bind,
    Branch,
    Call,
    Const,
    Expr,
    For,
    Foreign,
    Forever,
    Grow,
    Increase,
    Item,
    Leave,
    Length,
    Load,
    Name,
    NewStack,
    Parallel,
    Piece,
    Pop,
    Program,
    Push,
    Put,
    Reshape,
    Return,
    Row,
    Set,
    Stmt,
    Store,
    Sum,
)
from .rewriting import all_reads, bound_by, walk
from .views import ONE, plus

# Precedences of Python's operators, as far as they are used.
OR, AND, NOT, COMPARE, ADD, MUL, UNARY, ATOM = range(1, 9)

_INFIX = {
    "add": ("+", ADD), "sub": ("-", ADD), "mul": ("*", MUL), "div": ("/", MUL), "floordiv": ("//", MUL),
    "mod": ("%", MUL), "lt": ("<", COMPARE), "le": ("<=", COMPARE), "gt": (">", COMPARE), "ge": (">=", COMPARE),
    "eq": ("==", COMPARE), "ne": ("!=", COMPARE), "and": ("and", AND), "or": ("or", OR),
}  # fmt: skip
_HELPERS = {"minimum", "maximum", "bound", "pieces", "position", "opaque", "choose", "bitand", "bitor"}
_HELPERS |= {"many_exp", "many_log", "many_tanh"}


class Printer:
    """Prints one program.

    helpers:   the functions of `native.support` that it calls
    functions: the lines of the functions for its loops in parts and for its calls of Python code
    calls:     the names of the latter
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.helpers: set[str] = set()
        self.functions: list[str] = []
        self.calls: dict[tuple[str, ...], str] = {}
        self.stem = ""  # with which their names start
        self.loops = 0
        self.bail = "bail()"
        self.read: set[str] = set()

    def block(self, block: Sequence[Stmt], depth: int) -> None:
        if not block:
            self.line(depth, "pass")
        for s in _with_joined_bails(block):
            self.statement(s, depth)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def statement(self, s: Any, depth: int) -> None:
        show = self.show
        if isinstance(s, Set):
            self.line(depth, f"{s.name} = {show(s.value)}")
        elif isinstance(s, Sum):
            if s.value.dtype.kind == "f":
                self.line(depth, f"{s.name} = {self.helper('plus')}({s.name}, {show(s.value)})")
            else:
                self.line(depth, f"{s.name} += {show(s.value)}")
        elif isinstance(s, Alloc):
            self.line(depth, f"{s.name} = {self.made(s)}")
        elif isinstance(s, Bind):
            self.line(depth, f"{s.name} = {s.source}")
        elif isinstance(s, Row):
            self.line(depth, f"{s.name} = {s.source}[{', '.join(map(show, s.index))}]")
        elif isinstance(s, Piece):
            self.line(depth, f"{s.name} = {s.source}[{show(s.start)} : {show(plus(s.start, s.length))}]")
        elif isinstance(s, Grow):
            self.line(depth, f"if {s.array}.shape[0] < {show(s.length)}:")
            self.line(depth + 1, f"{s.array} = {self.helper('longer')}({s.array}, {show(s.length)})")
        elif isinstance(s, Reshape):
            self.line(depth, f"{s.name} = {s.source}.reshape({self.shape(s.shape)})")
        elif isinstance(s, (Store, Increase)):
            sign = "=" if isinstance(s, Store) else "+="
            self.line(depth, f"{s.array}[{', '.join(map(show, s.index))}] {sign} {show(s.value)}")
        elif isinstance(s, For):
            steps = "" if s.step == 1 else f", {s.step}"
            start = "" if s.start == Const(0, INDEX) and not steps else f"{show(s.start)}, "
            self.line(depth, f"for {s.index} in range({start}{show(s.stop)}{steps}):")
            self.block(s.body, depth + 1)
        elif isinstance(s, Parallel):
            self.parallel(s, depth)
        elif isinstance(s, Forever):
            self.line(depth, "while True:")
            self.block(s.body, depth + 1)
        elif isinstance(s, Branch):
            condition, then, orelse = s.condition, s.then, s.orelse
            if not then and orelse:
                condition, then, orelse = Call("not", (condition,), BOOL), orelse, then
            self.line(depth, f"if {show(condition)}:")
            self.block(then, depth + 1)
            if orelse:
                self.line(depth, "else:")
                self.block(orelse, depth + 1)
        elif isinstance(s, Bail):
            if isinstance(s.condition, Const):
                self.line(depth, f"return {self.bail}")
            else:
                self.line(depth, f"if {show(s.condition)}:")
                self.line(depth + 1, f"return {self.bail}")
        elif isinstance(s, Leave):
            self.line(depth, f"if {show(s.condition)}:")
            self.line(depth + 1, "break")
        elif isinstance(s, NewStack):
            # The first element says what the list holds. It is never taken.
            assert s.dtype is not None
            self.line(depth, f"{s.name} = [{self.made(Alloc(s.name, s.dtype, (Const(0, INDEX),) * s.axes))}]")
        elif isinstance(s, Push):
            self.line(depth, f"{s.stack}.append({s.value})")
        elif isinstance(s, Pop):
            self.line(depth, f"{s.name} = {s.stack}.pop()")
        elif isinstance(s, Item):
            self.line(depth, f"{s.name} = {s.stack}[{show(plus(s.at, ONE))}]")
        elif isinstance(s, Put):
            self.line(depth, f"{s.stack}[{show(plus(s.at, ONE))}] = {s.value}")
        elif isinstance(s, AddProduct):
            sides = [name + (".T" if t else "") for name, t in zip((s.left, s.right), s.transposed)]
            self.line(depth, f"{self.helper('add_product')}({s.into}, {', '.join(sides)})")
        elif isinstance(s, Foreign):
            names = [s.done, *[name for name, _, _ in s.results if name in self.read]]
            self.line(depth, f"{', '.join(names)}{',' * (len(names) == 1)} = {self.function_of(s)}")
        elif isinstance(s, Return):
            self.line(depth, "return " + ", ".join(["True", *[v if isinstance(v, str) else show(v) for v in s.values]]))
        else:
            raise TypeError(s)

    def parallel(self, s: Parallel, depth: int) -> None:
        """The loop is a function of its own, of all that it reads."""
        self.loops += 1
        name = f"{self.stem}loop{self.loops}"
        inside: list[Stmt] = [*s.before, For(s.index, s.low, s.high, 1, s.body), *s.after]
        bound = {s.part, s.first, s.last, *[x for inner in walk(inside) for x in bound_by(inner)]}
        args = [x for x in dict.fromkeys(all_reads(inside)) if x not in bound]
        outer, self.lines, bail, self.bail = self.lines, [], self.bail, "True"
        for inner in s.before:
            self.statement(inner, 1)
        low: Expr = Name(s.first, INDEX)
        high: Expr = Name(s.last, INDEX)
        if isinstance(s.low, Const) and s.low.value >= 0:
            low, high = Call("position", (low,), INDEX), Call("position", (high,), INDEX)
        if s.downwards:
            self.statement(For(s.index, plus(high, Const(-1, INDEX)), plus(low, Const(-1, INDEX)), -1, s.body), 1)
        else:
            self.statement(For(s.index, low, high, 1, s.body), 1)
        for inner in s.after:
            self.statement(inner, 1)
        params = ", ".join([s.part, s.first, s.last, *args])
        made = self.helper("apart") if s.apart else "njit"
        self.functions += [f"@{made}", f"def {name}({params}):", *self.lines, "    return False", "", ""]
        self.lines, self.bail = outer, bail
        given = f"({', '.join(args)}{',' if len(args) == 1 else ''})"
        bounds = f"{self.show(s.parts)}, {self.show(s.low)}, {self.show(s.high)}"
        self.line(depth, f"if {self.helper('in_parts')}(threads, {name}, {bounds}, {given}):")
        self.line(depth + 1, f"return {self.bail}")

    def function_of(self, s: Foreign) -> str:
        """The call of a function that calls Python code. Calls that are alike have one."""
        kinds, shown = [], []
        for k, (name, dtype, axes) in enumerate(s.results):
            if name in self.read:
                kind = "boolean" if dtype == BOOL else dtype.name
                kinds.append(kind if axes is None else f"{kind}[{', '.join([*[':'] * (axes - 1), '::1'])}]")
                found = s.text if len(s.results) == 1 else f"found[{k}]"
                how = 'np.array({}, order="C")' if s.again else "np.ascontiguousarray({})"
                shown.append(found if axes is None else how.format(found))
        params = ", ".join([f"x{k}" for k in range(len(s.args))])
        lines = [f"    found = {s.text}"] if len(s.results) > 1 or not shown else []
        lines.append(f"    return {', '.join(shown)}" if shown else "    return ()")
        head = f"@{self.helper('in_python')}({', '.join([repr(kind).replace(chr(39), chr(34)) for kind in kinds])})"
        key = (head, params, *lines)
        if key not in self.calls:
            name = self.calls[key] = f"{self.stem}call{len(self.calls) + 1}"
            self.functions += [head, f"def {name}({params}):", *lines, "", ""]
        return f"{self.calls[key]}({', '.join([x if isinstance(x, str) else self.show(x) for x in s.args])})"

    def made(self, s: Alloc) -> str:
        shape, dtype = self.shape(s.shape), "" if s.dtype == F8 else f", {_dtype(s.dtype)}"
        if s.fill is None:
            return f"{self.helper('buffer')}({shape}{dtype})"
        if s.fill == 0:
            return f"{self.helper('zeroed')}({shape}{dtype})"
        return f"{self.helper('filled')}({shape}, {_number(s.fill, s.dtype)})"

    def shape(self, items: Sequence[Expr]) -> str:
        texts = [self.show(e) for e in items]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def helper(self, name: str) -> str:
        self.helpers.add(name)
        return name

    # --- expressions --------------------------------------------------------------------------------------------------

    def show(self, e: Expr, least: int = OR) -> str:
        """An expression, in parentheses if it binds less than `least`."""
        text, binds = self.expr(e)
        return text if binds >= least else f"({text})"

    def expr(self, e: Expr) -> tuple[str, int]:
        if isinstance(e, Const):
            text = _number(e.value, e.dtype)
            return text, UNARY if text.startswith("-") else ATOM
        if isinstance(e, Name):
            return e.name, ATOM
        if isinstance(e, Length):
            return f"{e.array}.shape[{e.axis}]", ATOM
        if isinstance(e, Load):
            return f"{e.array}[{', '.join(map(self.show, e.index))}]", ATOM
        return self.call(e)

    def call(self, e: Call) -> tuple[str, int]:
        fn, args = e.fn, e.args
        if fn == "div" and e.dtype.kind == "c":
            text = f"{self.helper('quotient')}({', '.join(map(self.show, args))})"
            return text if e.dtype == C16 else f"{_dtype(e.dtype)}({text})", ATOM
        if fn in ("real", "imag"):
            return f"{self.show(args[0], ATOM)}.{fn}", ATOM
        if fn == "complex":
            text = f"complex({', '.join(map(self.show, args))})"
            return text if e.dtype == C16 else f"{_dtype(e.dtype)}({text})", ATOM
        if fn in _INFIX:
            sign, binds = _INFIX[fn]
            left = self.show(args[0], binds + (binds == COMPARE))
            return f"{left} {sign} {self.show(args[1], binds + 1)}", binds
        if fn == "pow":
            return f"{self.show(args[0], ATOM)} ** {self.show(args[1], ATOM)}", UNARY
        if fn == "neg":
            return f"-{self.show(args[0], UNARY)}", UNARY
        if fn == "not":
            return f"not {self.show(args[0], COMPARE)}", NOT
        texts = ", ".join(map(self.show, args))
        if fn == "convert":
            return f"{_dtype(e.dtype)}({texts})", ATOM
        if fn == "abs":
            return f"abs({texts})", ATOM
        if fn in _HELPERS:
            return f"{self.helper(fn)}({texts})", ATOM
        return f"np.{fn}({texts})", ATOM


def _dtype(dtype: Any) -> str:
    return "np.bool_" if dtype == BOOL else f"np.{dtype.name}"


def _number(value: Any, dtype: np.dtype[Any]) -> str:
    if dtype == BOOL:
        return repr(bool(value))
    if dtype.kind == "c":
        text = f"complex({_number(value.real, F8)}, {_number(value.imag, F8)})"
        return text if dtype == C16 else f"{_dtype(dtype)}({text})"
    if dtype.kind == "f":
        text = (
            "np.nan"
            if math.isnan(value)
            else "np.inf"
            if value == math.inf
            else "-np.inf"
            if value == -math.inf
            else ""
        )
        text = text or repr(float(value))
        return text if dtype == F8 else f"{_dtype(dtype)}({text})"
    return repr(int(value)) if dtype == INDEX else f"{_dtype(dtype)}({value})"


def _with_joined_bails(block: Sequence[Stmt]) -> list[Stmt]:
    """Several conditions on which a program leaves are one: each place where it leaves takes time to compile."""
    out: list[Stmt] = []
    for s in block:
        last = out[-1] if out else None
        if isinstance(s, Bail) and isinstance(last, Bail) and not isinstance(last.condition, Const):
            out[-1] = Bail(Call("or", (last.condition, s.condition), BOOL))
        else:
            out.append(s)
    return out


def text_of(program: Program, results: Sequence[tuple[Any, ...]] | None = None, printer: Any = None) -> list[str]:
    """The lines of two functions: the program, and what it returns where it bails.

    The program returns whether it came to its end, and its results. `results` gives their dtypes and numbers of axes,
    None for numbers; and True if it is a stack of such arrays. By default, all are numbers.
    """
    printer = printer or Printer()
    last = program.body[-1]
    assert isinstance(last, Return)
    if results is None:
        results = [(v.dtype, None) for v in last.values if not isinstance(v, str)]
    nothing = ["False"]
    for dtype, axes, *is_stack in results:
        if axes is None:
            nothing.append(_number(dtype.type(0).item(), dtype))
        else:
            empty = printer.made(Alloc("", dtype, (Const(0, INDEX),) * axes))
            nothing.append(f"[{empty}]" if any(is_stack) else empty)
    printer.bail = f"{program.name}_bail()"
    printer.read = set(all_reads(program.body))
    names = {*printer.read, *[name for s in walk(program.body) for name in bound_by(s)]}
    printer.functions = []
    printer.stem = f"{program.name}_"
    while any(name.startswith(printer.stem) for name in names):
        printer.stem = f"_{printer.stem}"
    printer.block(program.body, 1)
    params = ", ".join([*(["threads"] if printer.loops else []), *[p.name for p in program.params]])
    return [
        "@njit", f"def {program.name}_bail():", f"    return {', '.join(nothing)}", "", "", *printer.functions,
        "@Native", f"def {program.name}({params}):", *printer.lines,
    ]  # fmt: skip
