"""The loop-nest form: loops over numbers, and buffers that they read and write.

`native.lowering` makes it of the SSA form. A printer such as `native.numba_text` gives it to a compiler of machine
code. The form knows neither NumPy nor Numba: a buffer is contiguous memory with a number of axes, and an operation on
numbers has a name such as ``mul``.

Expressions (`Const`, `Name`, `Load`, `Length`, `Call`) have a dtype and no effect. Statements are executed in order.
`Bail` leaves the function if its condition is true. The caller then computes the result in another way. Arguments are
never written to, so that this is always possible. A guard is a `Bail`.

>>> i, x = Name("i", INDEX), Array("x", F8, 1)
>>> square = Call("mul", (Load("x", (i,), F8), Load("x", (i,), F8)), F8)
>>> total = Program("total", (x,), [
...     Set("s", Const(0.0, F8)),
...     For("i", Const(0, INDEX), Length("x", 0), 1, [Sum("s", square)]),
...     Return((Name("s", F8),)),
... ])
>>> verify(total)
>>> print(show(total))
total(x: float64[1]) {
  s = 0.0
  for i from 0 to x.length(0) by 1 {
    s sums mul(x[i], x[i])
  }
  return s
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

F8 = np.dtype(np.float64)
INDEX = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)
C16 = np.dtype(np.complex128)


def part_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the parts of complex numbers."""
    return np.empty(0, dtype).real.dtype


class NestError(Exception):
    """A program is not well formed."""


# --- expressions: compared by value -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Const:
    value: Any
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Name:
    name: str
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Load:
    """An element of a buffer. The index is in range."""

    array: str
    index: tuple[Expr, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Length:
    """The length of an axis."""

    array: str
    axis: int

    @property
    def dtype(self) -> np.dtype[Any]:
        return INDEX


@dataclass(frozen=True, slots=True)
class Call:
    """An operation on numbers, by its name in `FUNCTIONS`."""

    fn: str
    args: tuple[Expr, ...]
    dtype: np.dtype[Any]


Expr = Const | Name | Load | Length | Call

# How many operands each operation has. Operands have one dtype, which is that of the result, if nothing else is said.
FUNCTIONS: dict[str, int] = {
    **dict.fromkeys(["add", "sub", "mul", "div", "floordiv", "mod", "pow", "minimum", "maximum"], 2),
    **dict.fromkeys(["arctan2", "hypot", "copysign", "logaddexp", "bitand", "bitor", "bitxor"], 2),
    **dict.fromkeys(["neg", "abs", "sign", "sqrt", "exp", "log", "log1p", "expm1", "log2", "log10", "exp2"], 1),
    **dict.fromkeys(["sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh"], 1),
    **dict.fromkeys(["arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc", "rint", "invert"], 1),
    # of any dtype, giving truth
    **dict.fromkeys(["lt", "le", "gt", "ge", "eq", "ne", "and", "or"], 2),
    **dict.fromkeys(["not", "isnan", "isinf", "isfinite"], 1),
    **dict.fromkeys(["real", "imag"], 1),  # the parts of a complex number
    "complex": 2,  # of two parts
    "convert": 1,  # to the dtype of the call, as C does
    "choose": 3,  # the second or the third operand, by the first; both are computed
    "pieces": 3,  # in how many parts a loop is run: of its trips, what a trip costs, and elements that a part needs
    "position": 1,  # an int that is known not to be negative
    "bound": 2,  # a bound of a slice, from 0 to the length: a negative one counts from the end
}


# --- statements -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Set:
    """Give a number a name, or a name another number of the same dtype."""

    name: str
    value: Expr


@dataclass(slots=True)
class Sum:
    """Add to a number. Sums may be taken in any order."""

    name: str
    value: Expr


@dataclass(slots=True)
class Alloc:
    """A new buffer; `fill` is what it holds, or None."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[Expr, ...]
    fill: Any = None


@dataclass(slots=True)
class Bind:
    """Another name for a buffer."""

    name: str
    source: str


@dataclass(slots=True)
class Row:
    """Another name for the part of a buffer at positions of its first axes."""

    name: str
    source: str
    index: tuple[Expr, ...]


@dataclass(slots=True)
class Piece:
    """Another name for elements of a buffer with one axis, which it has."""

    name: str
    source: str
    start: Expr
    length: Expr


@dataclass(slots=True)
class Grow:
    """Make a buffer with one axis at least so long. It keeps its elements."""

    array: str
    length: Expr


@dataclass(slots=True)
class Reshape:
    """Another name for a buffer, with other axes. It has as many elements, and at most one length is -1."""

    name: str
    source: str
    shape: tuple[Expr, ...]


@dataclass(slots=True)
class Store:
    array: str
    index: tuple[Expr, ...]
    value: Expr


@dataclass(slots=True)
class Increase:
    array: str
    index: tuple[Expr, ...]
    value: Expr


@dataclass(slots=True)
class For:
    """``index`` takes the values from `start` on, below `stop` (above it, if `step` is negative)."""

    index: str
    start: Expr
    stop: Expr
    step: int
    body: list[Stmt]


@dataclass(slots=True)
class Parallel:
    """A loop of independent iterations, in parts that may run at the same time.

    index:  takes the values from `low` on, below `high`, upwards or downwards within a part
    parts:  how many parts there are
    part:   which one it is; `first` and `last` bound its values of the index
    before: what each part does first
    after:  what it does last; it may read what iterations have bound, if there were any
    apart:  no two buffers that it reads share memory that it writes

    What a part binds is its own. A part of which no iteration is left may be run as well.
    """

    index: str
    low: Expr
    high: Expr
    downwards: bool
    parts: Expr
    part: str
    first: str
    last: str
    before: list[Stmt]
    body: list[Stmt]
    after: list[Stmt]
    apart: bool = True


@dataclass(slots=True)
class Forever:
    body: list[Stmt]


@dataclass(slots=True)
class Branch:
    condition: Expr
    then: list[Stmt]
    orelse: list[Stmt]


@dataclass(slots=True)
class Bail:
    condition: Expr


@dataclass(slots=True)
class Leave:
    """Leave the innermost loop that the program has, if the condition is true."""

    condition: Expr


@dataclass(slots=True)
class NewStack:
    """A stack of buffers with `axes` axes and one dtype."""

    name: str
    dtype: np.dtype[Any] | None = None
    axes: int = 0


@dataclass(slots=True)
class Push:
    """The stack holds a reference."""

    stack: str
    value: str


@dataclass(slots=True)
class Pop:
    name: str
    stack: str


@dataclass(slots=True)
class AddProduct:
    """Add the matrix product of two buffers, each of which may be transposed, to a third."""

    into: str
    left: str
    right: str
    transposed: tuple[bool, bool] = (False, False)


@dataclass(slots=True)
class Foreign:
    """A call of Python code. `results` are names, dtypes and numbers of axes, None for numbers.

    text:  the call
    reads: the names in it
    again: what it gives may share memory with its operands
    """

    results: tuple[tuple[str, np.dtype[Any], int | None], ...]
    text: str
    reads: tuple[str, ...] = ()
    again: bool = False


@dataclass(slots=True)
class Return:
    """Numbers, and the names of buffers."""

    values: tuple[Expr | str, ...]


Stmt = (
    Set | Sum | Alloc | Bind | Row | Piece | Grow | Reshape | Store | Increase | For | Parallel | Forever | Branch
    | Bail | Leave | NewStack | Push | Pop | AddProduct | Foreign | Return
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Array:
    """A parameter that is a buffer."""

    name: str
    dtype: np.dtype[Any]
    axes: int


@dataclass(frozen=True, slots=True)
class Stacked:
    """A parameter that is a stack of buffers, which the program takes from."""

    name: str
    dtype: np.dtype[Any]
    axes: int


@dataclass(slots=True)
class Program:
    """A function of numbers (`Name`), buffers (`Array`) and stacks (`Stacked`)."""

    name: str
    params: tuple[Name | Array | Stacked, ...]
    body: list[Stmt]


# --- text -------------------------------------------------------------------------------------------------------------


def show(program: Program) -> str:
    """The program as text, for reading."""
    params = ", ".join(
        [f"{p.name}: {p.dtype}" + ("" if isinstance(p, Name) else f"[{p.axes}]") for p in program.params]
    )
    lines = [f"{program.name}({params}) {{"]
    _show_block(program.body, 1, lines)
    return "\n".join([*lines, "}"])


def show_expr(e: Expr) -> str:
    """An expression as text."""
    if isinstance(e, Const):
        return repr(e.value)
    if isinstance(e, Name):
        return e.name
    if isinstance(e, Load):
        return f"{e.array}[{', '.join(map(show_expr, e.index))}]"
    if isinstance(e, Length):
        return f"{e.array}.length({e.axis})"
    fn = str(e.dtype) if e.fn == "convert" else e.fn
    return f"{fn}({', '.join(map(show_expr, e.args))})"


def _show_block(block: Sequence[Stmt], depth: int, lines: list[str]) -> None:
    for s in block:
        pad = "  " * depth
        if isinstance(s, For):
            head = f"for {s.index} from {show_expr(s.start)} to {show_expr(s.stop)} by {s.step}"
        elif isinstance(s, Parallel):
            _show_parallel(s, depth, lines)
            continue
        elif isinstance(s, Forever):
            head = "forever"
        elif isinstance(s, Branch):
            head = f"if {show_expr(s.condition)}"
        else:
            lines.append(pad + _show_line(s))
            continue
        lines.append(f"{pad}{head} {{")
        _show_block(s.then if isinstance(s, Branch) else s.body, depth + 1, lines)
        if isinstance(s, Branch) and s.orelse:
            lines.append(f"{pad}}} else {{")
            _show_block(s.orelse, depth + 1, lines)
        lines.append(f"{pad}}}")


def _show_parallel(s: Parallel, depth: int, lines: list[str]) -> None:
    pad, inside = "  " * depth, "  " * (depth + 1)
    span = f"{s.index} from {show_expr(s.low)} to {show_expr(s.high)}"
    lines.append(f"{pad}{s.part} of {show_expr(s.parts)} parts of {span} {{")
    _show_block(s.before, depth + 1, lines)
    lines.append(f"{inside}for {s.index} from {s.first} to {s.last}{' downwards' if s.downwards else ''} {{")
    _show_block(s.body, depth + 2, lines)
    lines.append(f"{inside}}}")
    _show_block(s.after, depth + 1, lines)
    lines.append(f"{pad}}}")


def _show_line(s: Any) -> str:
    def values(items: Any) -> str:
        return ", ".join([item if isinstance(item, str) else show_expr(item) for item in items])

    if isinstance(s, Set):
        return f"{s.name} = {show_expr(s.value)}"
    if isinstance(s, Sum):
        return f"{s.name} sums {show_expr(s.value)}"
    if isinstance(s, Alloc):
        return f"{s.name} = {s.dtype}[{values(s.shape)}]" + ("" if s.fill is None else f" filled with {s.fill!r}")
    if isinstance(s, Bind):
        return f"{s.name} = {s.source}"
    if isinstance(s, Row):
        return f"{s.name} = {s.source}[{values(s.index)}]"
    if isinstance(s, Piece):
        return f"{s.name} = {s.source}[{show_expr(s.start)}, {show_expr(s.length)} elements]"
    if isinstance(s, Grow):
        return f"grow {s.array} to {show_expr(s.length)}"
    if isinstance(s, Reshape):
        return f"{s.name} = {s.source} as [{values(s.shape)}]"
    if isinstance(s, (Store, Increase)):
        return f"{s.array}[{values(s.index)}] {'=' if isinstance(s, Store) else '+='} {show_expr(s.value)}"
    if isinstance(s, (Bail, Leave)):
        return f"{'bail' if isinstance(s, Bail) else 'leave'} if {show_expr(s.condition)}"
    if isinstance(s, NewStack):
        return f"{s.name} = stack of {s.dtype}[{s.axes}]"
    if isinstance(s, Push):
        return f"push {s.value} on {s.stack}"
    if isinstance(s, Pop):
        return f"{s.name} = pop {s.stack}"
    if isinstance(s, AddProduct):
        sides = [name + (".T" if t else "") for name, t in zip((s.left, s.right), s.transposed)]
        return f"{s.into} += {' @ '.join(sides)}"
    if isinstance(s, Foreign):
        return f"{', '.join([name for name, _, _ in s.results])} = python {s.text}"
    return f"return {values(s.values)}"


# --- the verifier -----------------------------------------------------------------------------------------------------

_TRUTH = {"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "isnan", "isinf", "isfinite"}
_ANY_OPERANDS = {"lt", "le", "gt", "ge", "eq", "ne", "isnan", "isinf", "isfinite", "convert"}


def verify(program: Program) -> None:
    """Check that names are bound before they are read, on every path; that buffers have as many axes as their indices;
    and that operands have the dtype of the operation. Raises NestError.
    """
    bindings(program.params, program.body)
    if not program.body or not isinstance(program.body[-1], Return):
        raise NestError("the program does not end with a return")


def bindings(params: Sequence[Name | Array | Stacked], block: Sequence[Stmt]) -> dict[str, Any]:
    """What is bound behind a block, which is checked: names with their dtypes and numbers of axes, None for numbers.
    In front of those of a stack stands "stack".
    """
    check = _Verifier()
    for p in params:
        if isinstance(p, Stacked):
            check.bind(p.name, ("stack", p.dtype, p.axes))
        else:
            check.bind(p.name, (p.dtype, p.axes if isinstance(p, Array) else None))
    check.block(block)
    return check.known


def kinds_of(program: Program) -> dict[str, Any]:
    """For each name of a program its dtype and its number of axes, which is None for a number."""
    check = _Verifier()
    for p in program.params:
        check.bind(p.name, (p.dtype, p.axes if isinstance(p, Array) else None))
    check.block(program.body)
    return check.every


class _Verifier:
    """Names in scope, each with a dtype and a number of axes, which is None for a number. `every`: also the others."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}
        self.every: dict[str, Any] = {}
        self.stacks: set[str] = set()

    def bind(self, name: str, what: Any) -> None:
        if self.known.setdefault(name, what) != what:
            raise NestError(f"{name} is {self.known[name]}, and is bound to {what}")
        self.every[name] = what

    def array(self, name: str) -> Any:
        found = self.known.get(name)
        if found is None or found[1] is None:
            raise NestError(f"{name} is read, and is no buffer here")
        return found

    def expr(self, e: Expr, dtype: Any = None) -> None:
        if dtype is not None and e.dtype != dtype:
            raise NestError(f"{show_expr(e)} has the dtype {e.dtype}, and {dtype} is wanted")
        if isinstance(e, Name) and self.known.get(e.name) != (e.dtype, None):
            raise NestError(f"{e.name} is read as {e.dtype}, and is {self.known.get(e.name)} here")
        if isinstance(e, Length) and not 0 <= e.axis < self.array(e.array)[1]:
            raise NestError(f"{e.array} has no axis {e.axis}")
        if isinstance(e, Load):
            self.element(e.array, e.index, e.dtype)
        if isinstance(e, Call):
            self.call(e)

    def call(self, e: Call) -> None:
        if FUNCTIONS.get(e.fn) != len(e.args):
            raise NestError(f"{e.fn} of {len(e.args)} operands")
        if e.fn in _TRUTH and e.dtype != BOOL:
            raise NestError(f"{e.fn} gives {e.dtype}")
        wanted = [None if e.fn in _ANY_OPERANDS else e.dtype] * len(e.args)
        if e.fn in ("real", "imag"):
            wanted = [np.result_type(e.dtype, np.complex64)]
        if e.fn == "complex":
            wanted = [part_dtype(e.dtype)] * 2
        if e.fn == "choose":
            wanted[0] = BOOL
        for arg, dtype in zip(e.args, wanted):
            self.expr(arg, dtype)
        if e.fn in _ANY_OPERANDS and len({arg.dtype for arg in e.args}) > 1:
            raise NestError(f"{show_expr(e)} has operands of several dtypes")

    def element(self, array: str, index: tuple[Expr, ...], dtype: Any) -> None:
        known, axes = self.array(array)
        if len(index) != axes or known != dtype:
            raise NestError(f"{array}, {known} with {axes} axes, has no element of {dtype} at {len(index)} indices")
        for i in index:
            self.expr(i, INDEX)

    def block(self, block: Sequence[Stmt]) -> None:
        for s in block:
            self.statement(s)

    def inner(self, *blocks: Sequence[Stmt]) -> None:
        """What all of the blocks bind is bound behind them."""
        before, ends = self.known, []
        for block in blocks:
            self.known = dict(before)
            self.block(block)
            ends.append(self.known)
        self.known = {name: what for name, what in ends[0].items() if all(end.get(name) == what for end in ends)}

    def parallel(self, s: Parallel) -> None:
        """What a part binds it reads only behind that, and nobody else reads it."""
        for e in (s.low, s.high, s.parts):
            self.expr(e, INDEX)
        before = self.known
        bound = set(_bound_in([*s.before, *s.body, *s.after]))
        self.known = {name: what for name, what in before.items() if name not in bound}
        for name in (s.part, s.first, s.last):
            self.bind(name, (INDEX, None))
        self.block(s.before)
        self.bind(s.index, (INDEX, None))
        self.block(s.body)
        self.block(s.after)
        self.known = before

    def statement(self, s: Any) -> None:
        if isinstance(s, (Set, Sum)):
            self.expr(s.value)
            self.bind(s.name, (s.value.dtype, None))
        elif isinstance(s, Alloc):
            for n in s.shape:
                self.expr(n, INDEX)
            self.bind(s.name, (s.dtype, len(s.shape)))
        elif isinstance(s, Bind):
            self.bind(s.name, self.array(s.source))
        elif isinstance(s, Row):
            dtype, axes = self.array(s.source)
            if not 0 < len(s.index) < axes:
                raise NestError(f"{s.source} has {axes} axes, and no part at {len(s.index)} indices")
            for i in s.index:
                self.expr(i, INDEX)
            self.bind(s.name, (dtype, axes - len(s.index)))
        elif isinstance(s, (Piece, Grow)):
            dtype, axes = self.array(s.source if isinstance(s, Piece) else s.array)
            if axes != 1:
                raise NestError(f"a piece of a buffer with {axes} axes, or one that grows")
            self.expr(s.length, INDEX)
            if isinstance(s, Piece):
                self.expr(s.start, INDEX)
                self.bind(s.name, (dtype, 1))
        elif isinstance(s, Reshape):
            self.bind(s.name, (self.array(s.source)[0], len(s.shape)))
        elif isinstance(s, (Store, Increase)):
            self.element(s.array, s.index, s.value.dtype)
            self.expr(s.value)
        elif isinstance(s, For):
            self.expr(s.start, INDEX)
            self.expr(s.stop, INDEX)
            before = dict(self.known)
            self.bind(s.index, (INDEX, None))
            self.block(s.body)
            self.known = before
        elif isinstance(s, Parallel):
            self.parallel(s)
        elif isinstance(s, Forever):
            self.block(s.body)
        elif isinstance(s, Branch):
            self.expr(s.condition, BOOL)
            self.inner(s.then, s.orelse)
        elif isinstance(s, (Bail, Leave)):
            self.expr(s.condition, BOOL)
        elif isinstance(s, NewStack):
            if s.dtype is None:
                raise NestError(f"nothing is pushed on {s.name}")
            self.bind(s.name, ("stack", s.dtype, s.axes))
        elif isinstance(s, Push):
            _, dtype, axes = self.known[s.stack]
            found = self.array(s.value)
            if found != (dtype, axes):
                raise NestError(f"{found} is pushed on {s.stack}, a stack of {dtype} with {axes} axes")
        elif isinstance(s, Pop):
            _, dtype, axes = self.known[s.stack]
            self.bind(s.name, (dtype, axes))
        elif isinstance(s, AddProduct):
            left, right = self.array(s.left), self.array(s.right)
            if not left[0] == right[0] == self.array(s.into)[0] or left[1] + right[1] - 2 != self.array(s.into)[1]:
                raise NestError(f"{s.left} @ {s.right} is added to {s.into}, which is {self.array(s.into)}")
        elif isinstance(s, Foreign):
            for name in s.reads:
                if name not in self.known:
                    raise NestError(f"{name} is read, and is not bound here")
            for name, dtype, axes in s.results:
                self.bind(name, (dtype, axes))
        elif isinstance(s, Return):
            for v in s.values:
                if isinstance(v, str):
                    self.array(v)
                else:
                    self.expr(v)


def _bound_in(block: Sequence[Any]) -> Iterator[str]:
    """The names to which statements give something."""
    for s in block:
        if isinstance(s, Foreign):
            yield from [name for name, _, _ in s.results]
        elif isinstance(s, (For, Parallel)):
            yield s.index
        elif isinstance(getattr(s, "name", None), str):
            yield s.name
        for slot in ("before", "body", "after", "then", "orelse"):
            yield from _bound_in(getattr(s, slot, ()))


def names_in(e: Expr) -> Iterator[str]:
    """The names that an expression reads."""
    if isinstance(e, Name):
        yield e.name
    elif isinstance(e, (Load, Length)):
        yield e.array
        if isinstance(e, Load):
            for i in e.index:
                yield from names_in(i)
    elif isinstance(e, Call):
        for arg in e.args:
            yield from names_in(arg)


def parts(e: Expr) -> Iterator[Expr]:
    """An expression, and those that it is made of."""
    yield e
    for inner in e.index if isinstance(e, Load) else e.args if isinstance(e, Call) else ():
        yield from parts(inner)


def contains(e: Expr, part: Expr) -> bool:
    """An expression is another one, or has it for an operand."""
    return e == part or (isinstance(e, Call) and any(contains(arg, part) for arg in e.args))


def replaced(e: Expr, part: Expr, new: Expr) -> Expr:
    """The expression with `new` for each operand that is `part`."""
    if e == part:
        return new
    return Call(e.fn, tuple([replaced(arg, part, new) for arg in e.args]), e.dtype) if isinstance(e, Call) else e


def all_reads(block: Sequence[Stmt]) -> Iterator[str]:
    """The names that statements read."""
    for s in block:
        for slot in s.__slots__:
            part = getattr(s, slot)
            if isinstance(part, (Const, Name, Load, Length, Call)):
                yield from names_in(part)
            elif isinstance(part, list):
                yield from all_reads(part)
            elif isinstance(part, tuple):
                for item in part:
                    if isinstance(item, (Const, Name, Load, Length, Call)):
                        yield from names_in(item)
                    elif isinstance(item, str):
                        yield item
        for slot in ("source", "array", "into", "left", "right", "value", "stack"):
            part = getattr(s, slot, None)
            if isinstance(part, str):
                yield part
