"""The loop-nest form: loops over numbers, and buffers that they read and write.

`native.lowering` makes it of the SSA form. A printer such as `native.numba_text` gives it to a compiler of machine
code. The form knows neither NumPy nor Numba: a buffer is contiguous memory with a number of axes, and an operation on
numbers has a name such as ``mul``.

Expressions (`Const`, `Name`, `Load`, `Length`, `Call`) have a dtype and no effect. Statements are executed in order.
`Bail` leaves the function if its condition is true. The caller then computes the result in another way. Arguments are
never written to, so that this is always possible. A guard is a `Bail`.

>>> from autodiff_compiler.native.verifier import verify
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

from collections.abc import Sequence
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
    **dict.fromkeys(["many_exp", "many_log", "many_tanh"], 1),  # of which several are computed at once
    # of any dtype, giving truth
    **dict.fromkeys(["lt", "le", "gt", "ge", "eq", "ne", "and", "or"], 2),
    **dict.fromkeys(["not", "isnan", "isinf", "isfinite"], 1),
    **dict.fromkeys(["real", "imag"], 1),  # the parts of a complex number
    "complex": 2,  # of two parts
    "convert": 1,  # to the dtype of the call, as C does
    "choose": 3,  # the second or the third operand, by the first; both are computed
    "pieces": 3,  # in how many parts a loop is run: of its trips, what a trip costs, and elements that a part needs
    "position": 1,  # an int that is known not to be negative
    "opaque": 1,  # an int that LLVM does not see through
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
    """A new buffer; `fill` is what it holds, or None.

    border: the elements that are stored at all are stored each time, so it need not be filled again
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[Expr, ...]
    fill: Any = None
    border: bool = False


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
class Item:
    """Another name for the buffer at a position of a stack, which is in range."""

    name: str
    stack: str
    at: Expr


@dataclass(slots=True)
class Put:
    """The stack holds another reference at a position, which is in range."""

    stack: str
    at: Expr
    value: str


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

    done:  the name of what says whether it gave them; it did not if it raised
    text:  the call, in which `args`, which are numbers and buffers, are x0, x1 and so on
    again: what it gives may share memory with its operands
    """

    results: tuple[tuple[str, np.dtype[Any], int | None], ...]
    done: str
    text: str
    args: tuple[Expr | str, ...] = ()
    again: bool = False


@dataclass(slots=True)
class Return:
    """Numbers, and the names of buffers."""

    values: tuple[Expr | str, ...]


Stmt = (
    Set | Sum | Alloc | Bind | Row | Piece | Grow | Reshape | Store | Increase | For | Parallel | Forever | Branch
    | Bail | Leave | NewStack | Push | Pop | Item | Put | AddProduct | Foreign | Return
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
        how = "" if s.fill is None else f" with a border of {s.fill!r}" if s.border else f" filled with {s.fill!r}"
        return f"{s.name} = {s.dtype}[{values(s.shape)}]{how}"
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
    if isinstance(s, Item):
        return f"{s.name} = item {show_expr(s.at)} of {s.stack}"
    if isinstance(s, Put):
        return f"item {show_expr(s.at)} of {s.stack} = {s.value}"
    if isinstance(s, AddProduct):
        sides = [name + (".T" if t else "") for name, t in zip((s.left, s.right), s.transposed)]
        return f"{s.into} += {' @ '.join(sides)}"
    if isinstance(s, Foreign):
        return f"{', '.join([s.done, *[name for name, _, _ in s.results]])} = python {s.text} of {values(s.args)}"
    return f"return {values(s.values)}"
