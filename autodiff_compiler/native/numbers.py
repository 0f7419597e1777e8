"""How operations on numbers, and on the elements of arrays, are computed.

Each rule takes numbers and gives a number, by the names in `nest.FUNCTIONS`. It says with `guard` where Python raises,
or computes with more digits than a machine's integer has. Then the program bails: the emitted NumPy code computes the
result, or raises. NumPy's numbers and elements of arrays never raise, so they have no guards.
"""

from __future__ import annotations

import builtins
import math
import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import (
    operations,  # noqa: F401  (enters the records that the rules below are for)
    runtime,
)
from ..ir import opset
from ..ir.core import Prim
from ..ir.opset import lookup
from ..kernels import ratios
from .nest import BOOL, C16, F8, INDEX, Call, Const, Expr, Name, part_dtype

DTYPES = frozenset([BOOL, INDEX, F8, np.dtype(np.float32), C16, np.dtype(np.complex64)])  # in which is computed
LOADED = DTYPES | {np.dtype(t) for t in ("int8", "int16", "int32", "uint8", "uint16", "uint32")}  # and is read
WHOLE = 62  # bits of Python's ints: what has more is left to Python
EXACT = 53  # bits of an int that a float holds exactly


class NotNative(Exception):
    """The program is left to NumPy; `why` says so to the user."""

    def __init__(self, why: str, op: Any = None):
        super().__init__(why)
        self.why = why
        self.op = op


@dataclass(frozen=True, slots=True)
class Number:
    """A number while the program runs.

    kind: "py" if it is Python's, "np" if it is NumPy's or an element of an array, "?" if only the run knows
    bits: of an int, how many it has at most, besides the sign
    form: of an int, the index of a loop and the number that is added to it
    numpy: if the kind is "?", whether it is NumPy's; None where nobody asks
    """

    expr: Expr
    dtype: np.dtype[Any]
    kind: str = "np"
    bits: int = 64
    form: tuple[str, int] | None = None
    numpy: Expr | None = None

    @property
    def is_python(self) -> bool:
        """It may be Python's, whose arithmetic raises."""
        return self.kind != "np"


MIXED = Name("an int or a float", BOOL)  # the number may be either, so that nobody may see its type


def constant(value: Any) -> Number:
    """A number that is written in the program."""
    if isinstance(value, (bool, np.bool_)):
        return Number(Const(bool(value), BOOL), BOOL, "np" if isinstance(value, np.bool_) else "py", 1)
    if isinstance(value, np.generic) and not isinstance(value, (float, complex)):
        if value.dtype not in LOADED:
            raise NotNative(f"a constant of {value.dtype}")
        return Number(Const(value.item(), value.dtype), value.dtype)
    if isinstance(value, int):
        if value.bit_length() > WHOLE:
            raise NotNative("an int with more than 62 bits")
        return Number(Const(int(value), INDEX), INDEX, "py", value.bit_length())
    if isinstance(value, float):
        return Number(Const(float(value), F8), F8, "np" if isinstance(value, np.generic) else "py")
    if isinstance(value, complex):
        return Number(Const(complex(value), C16), C16, "np" if isinstance(value, np.generic) else "py")
    raise NotNative(f"a constant of type {type(value).__name__}")


def index_of(e: Expr, bits: int = 48, form: tuple[str, int] | None = None) -> Number:
    """A length, or a position in an array."""
    return Number(e, INDEX, "py", bits, form)


Guard = Callable[[Expr], None]
Rule = Callable[..., Number]

RULES: dict[Prim, Rule] = {}


def computes(*fns: Any) -> Callable[[Rule], Rule]:
    """Enter a rule ``rule(guard, *numbers, **kwargs)`` for these operations."""

    def enter(rule: Rule) -> Rule:
        for fn in fns:
            prim = fn if isinstance(fn, Prim) else lookup(fn)
            assert prim is not None, fn
            RULES[prim] = rule
        return rule

    return enter


# --- dtypes -----------------------------------------------------------------------------------------------------------


def common(numbers: Sequence[Number]) -> np.dtype[Any]:
    """The dtype in which NumPy computes with these: Python's numbers take that of the others."""
    strong = [n for n in numbers if n.kind == "np"]
    if any(n.kind == "?" for n in numbers) and any(n.dtype not in (BOOL, INDEX, F8, C16) for n in strong):
        raise NotNative("a number that may be Python's or NumPy's, beside another dtype")
    weak: list[Any] = [n.dtype if n.kind == "np" or n.kind == "?" else n.dtype.type(0).item() for n in numbers]
    found = np.result_type(*weak)
    if found not in DTYPES:
        raise NotNative(f"arithmetic of {found}")
    if found.kind == "c" and MIXED_ARITHMETIC and any(n.is_python and n.dtype.kind != "c" for n in numbers):
        raise NotNative(
            "a real number of Python's beside a complex one, which computes with its parts from Python 3.14 on"
        )
    return found


# Python 3.14 computes with the parts of the complex number, which differs where they are not finite.
MIXED_ARITHMETIC = sys.version_info >= (3, 14)


def to(n: Number, dtype: np.dtype[Any]) -> Expr:
    """The number in a dtype."""
    if n.dtype == dtype:
        return n.expr
    if n.dtype.kind == "c" and dtype.kind != "c":
        raise NotNative(f"a complex number as {dtype}")
    if isinstance(n.expr, Const):
        return Const(dtype.type(n.expr.value).item(), dtype)
    if dtype.kind == "c" and n.dtype.kind != "c":
        part = part_dtype(dtype)
        return Call("complex", (to(n, part), Const(0.0, part)), dtype)
    return Call("convert", (n.expr,), dtype)


def real_part(n: Number) -> Number:
    """The real part of a number."""
    if n.dtype.kind != "c":
        return n
    dtype = part_dtype(n.dtype)
    return replace(n, expr=Call("real", (n.expr,), dtype), dtype=dtype)


def as_cotangent(n: Number, dtype: np.dtype[Any]) -> Number:
    """The number as the cotangent of something of this dtype: the real part for a real one."""
    if dtype.kind != "c":
        n = real_part(n)
    return replace(n, expr=to(n, dtype), dtype=dtype)


def exactly(guard: Guard, n: Number, dtype: np.dtype[Any]) -> Expr:
    """The number in a dtype. Python never rounds an int where it compares it or divides it."""
    if n.is_python and n.dtype == INDEX and dtype.kind in "fc" and n.bits > EXACT:
        guard(beyond(n.expr, EXACT))
    return to(n, dtype)


def beyond(e: Expr, bits: int) -> Expr:
    """An int has more bits."""
    return Call("or", (
        Call("gt", (e, Const(1 << bits, INDEX)), BOOL), Call("lt", (e, Const(-(1 << bits), INDEX)), BOOL),
    ), BOOL)  # fmt: skip


def _kind(numbers: Sequence[Number]) -> str:
    kinds = {n.kind for n in numbers}
    return "np" if "np" in kinds else "py" if kinds == {"py"} else "?"


def _zero(dtype: np.dtype[Any]) -> Const:
    return Const(dtype.type(0).item(), dtype)


def _not_finite(e: Expr) -> Expr:
    if e.dtype.kind == "c":
        real, imag = (_not_finite(Call(part, (e,), part_dtype(e.dtype))) for part in ("real", "imag"))
        return Call("or", (real, imag), BOOL)
    return Call("not", (Call("isfinite", (e,), BOOL),), BOOL)


# --- arithmetic -------------------------------------------------------------------------------------------------------


def _arithmetic(name: str) -> Rule:
    def rule(guard: Guard, *numbers: Number) -> Number:
        kind, dtype = _kind(numbers), common(numbers)
        if dtype == BOOL:
            if kind != "py":
                raise NotNative("arithmetic of NumPy's truth values")
            dtype = INDEX
        args = tuple([to(n, dtype) for n in numbers])
        result = Number(Call(name, args, dtype), dtype, kind)
        return result if kind == "np" or dtype != INDEX else _whole(guard, name, numbers, args, kind)

    return rule


def _whole(guard: Guard, name: str, numbers: Sequence[Number], args: tuple[Expr, ...], kind: str) -> Number:
    """An int of Python's, which has as many digits as it needs."""
    _guard_operands(guard, numbers)
    bits = [min(n.bits, WHOLE) for n in numbers]
    need = sum(bits) if name == "mul" else max(bits) + (name != "neg")
    e = Call(name, args, INDEX)
    if name == "mul" and need > WHOLE:
        guard(
            Call(
                "gt", (Call("abs", (Call("mul", tuple([to(n, F8) for n in numbers]), F8),), F8), Const(4e18, F8)), BOOL
            )
        )
    elif need > WHOLE:
        guard(beyond(e, WHOLE))
    form = None
    if name in ("add", "sub") and isinstance(numbers[1].expr, Const) and numbers[0].form:
        var, offset = numbers[0].form
        form = (var, offset + numbers[1].expr.value * (1 if name == "add" else -1))
    elif name == "add" and isinstance(numbers[0].expr, Const) and numbers[1].form:
        form = (numbers[1].form[0], numbers[1].form[1] + numbers[0].expr.value)
    return Number(e, INDEX, kind, min(need, WHOLE), form)


def _guard_operands(guard: Guard, numbers: Sequence[Number]) -> None:
    """Operands that are ints have no more bits than results may have."""
    for n in numbers:
        if n.dtype == INDEX and n.bits > WHOLE:
            guard(beyond(n.expr, WHOLE))


for _names, _fn in (((operator.add, np.add), "add"), ((operator.sub, np.subtract), "sub"),
                    ((operator.mul, np.multiply), "mul"), ((operator.neg, np.negative), "neg")):  # fmt: skip
    computes(*_names)(_arithmetic(_fn))


@computes(operator.pos, np.positive)
def _pos(guard: Guard, x: Number) -> Number:
    return replace(x, dtype=INDEX, expr=to(x, INDEX)) if x.dtype == BOOL else x


@computes(operator.truediv, np.true_divide)
def _div(guard: Guard, x: Number, y: Number) -> Number:
    kind, dtype = _kind((x, y)), common((x, y))
    dtype = dtype if dtype.kind in "fc" else F8
    by = exactly(guard, y, dtype)
    if kind != "np":
        _nonzero(guard, by)
    return Number(Call("div", (exactly(guard, x, dtype), by), dtype), dtype, kind)


def _nonzero(guard: Guard, by: Expr) -> None:
    if not isinstance(by, Const) or not by.value:
        guard(Call("eq", (by, _zero(by.dtype)), BOOL))


@computes(operator.floordiv, np.floor_divide)
def _floordiv(guard: Guard, x: Number, y: Number) -> Number:
    return _floored(guard, "floordiv", x, y)


@computes(operator.mod, np.remainder)
def _mod(guard: Guard, x: Number, y: Number) -> Number:
    return _floored(guard, "mod", x, y)


def _floored(guard: Guard, name: str, x: Number, y: Number) -> Number:
    kind, dtype = _kind((x, y)), common((x, y))
    if dtype == BOOL or dtype.kind == "c" or (kind == "np" and dtype != INDEX):
        raise NotNative("// and % of NumPy's numbers")
    args = (exactly(guard, x, dtype), exactly(guard, y, dtype))
    _nonzero(guard, args[1])
    if kind != "np":
        _guard_operands(guard, (x, y))
    if dtype != INDEX:
        guard(_not_finite(args[0]))
        guard(_not_finite(args[1]))
    elif kind != "py":  # the least int divided by -1 is no int of a machine
        guard(Call("eq", (args[1], Const(-1, INDEX)), BOOL))
    bits = min(x.bits, WHOLE) if name == "floordiv" else min(y.bits, WHOLE)
    return Number(Call(name, args, dtype), dtype, kind, bits)


@computes(operator.pow, np.power)
def _pow(guard: Guard, x: Number, n: Number) -> Number:
    kind, dtype = _kind((x, n)), common((x, n))
    known = n.expr.value if isinstance(n.expr, Const) else None
    if dtype.kind == "c":
        return _complex_power(guard, x, known, dtype, kind)
    if dtype.kind != "f":
        if known not in (1, 2, 3) or dtype == BOOL:
            raise NotNative("a power of integers")
        out = x
        for _ in range(known - 1):
            out = RULES[opset.MUL](guard, out, x)
        return out
    base = exactly(guard, x, dtype)
    e: Expr
    if known is not None and known in (1, 2, 3, 4):
        square = Call("mul", (base, base), dtype)
        e = {1: base, 2: square, 3: Call("mul", (square, base), dtype), 4: Call("mul", (square, square), dtype)}[
            int(known)
        ]
    elif known == -1:
        e = Call("div", (Const(1.0, dtype), base), dtype)
    elif known == 0.5 and kind == "np":
        e = Call("sqrt", (base,), dtype)
    else:
        e = Call("pow", (base, to(n, dtype)), dtype)
    if kind != "np":
        guard(_not_finite(e))
    return Number(e, dtype, kind)


def _complex_power(guard: Guard, x: Number, n: Any, dtype: np.dtype[Any], kind: str) -> Number:
    """Small powers are products, as in NumPy and Python. Others are left to these, which have rules for each case."""
    if n not in (1, 2, 3):
        raise NotNative("a power of complex numbers")
    base = to(x, dtype)
    e = base
    for _ in range(int(n.real) - 1):
        e = Call("mul", (e, base), dtype)
    if kind != "np":
        guard(_not_finite(e))
    return Number(e, dtype, kind)


@computes(runtime.raised)
def _raised(guard: Guard, x: Number, n: Number) -> Number:
    return replace(_pow(guard, replace(x, kind="np"), n), kind="?")


@computes(abs, np.abs)
def _abs(guard: Guard, x: Number) -> Number:
    if x.dtype == BOOL:
        raise NotNative("abs of a truth value")
    if x.dtype.kind == "c":
        part = part_dtype(x.dtype)
        e = Call("hypot", (Call("real", (x.expr,), part), Call("imag", (x.expr,), part)), part)
        if x.is_python:  # where it overflows, Python raises
            guard(_not_finite(e))
        return Number(e, part, x.kind)
    if x.kind == "np" and x.dtype.kind != "f":
        raise NotNative("abs of NumPy's integers")
    return replace(x, expr=Call("abs", (x.expr,), x.dtype), form=None)


# --- functions of NumPy and of the module math ------------------------------------------------------------------------


def _real(name: str) -> Rule:
    def rule(guard: Guard, *numbers: Number) -> Number:
        dtype = common(numbers)
        if dtype.kind == "c":
            if name not in COMPLEX:
                raise NotNative(f"np.{name} of complex numbers")
            made: Number = COMPLEX[name](guard, to(numbers[0], dtype), dtype)
            return made
        dtype = dtype if dtype.kind == "f" else F8
        return Number(Call(name, tuple([to(n, dtype) for n in numbers]), dtype), dtype)

    return rule


_REAL = (
    "sqrt exp log log1p expm1 log2 log10 exp2 sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
    "floor ceil trunc rint arctan2 hypot copysign logaddexp"
)
for _name in _REAL.split():
    computes(getattr(np, _name))(_real(_name))


def _mathematical(name: str) -> Rule:
    compute = _real(name)

    def rule(guard: Guard, *numbers: Number) -> Number:
        e = compute(guard, *[replace(n, dtype=F8, expr=exactly(guard, n, F8)) for n in numbers]).expr
        guard(_not_finite(e))  # where it raises, and where it does not
        return Number(e, F8, "py")

    return rule


_MATH = (
    "sqrt exp log log1p expm1 log2 log10 sin cos tan asin:arcsin acos:arccos atan:arctan sinh cosh tanh asinh:arcsinh "
    "acosh:arccosh atanh:arctanh atan2:arctan2 hypot copysign fabs:abs pow"
)
for _pair in _MATH.split():
    _theirs, _, _ours = _pair.partition(":")
    if lookup(getattr(math, _theirs)) is not None:
        computes(getattr(math, _theirs))(_mathematical(_ours or _theirs))


@computes(np.square)
def _square(guard: Guard, x: Number) -> Number:
    return RULES[opset.MUL](guard, x, x)


@computes(np.reciprocal)
def _reciprocal(guard: Guard, x: Number) -> Number:
    if x.dtype.kind != "f":
        raise NotNative("the reciprocal of an integer")
    return Number(Call("div", (Const(1.0, x.dtype), x.expr), x.dtype), x.dtype)


@computes(np.sign)
def _sign(guard: Guard, x: Number) -> Number:
    if x.dtype.kind != "f":
        raise NotNative("the sign of an integer")
    return Number(Call("sign", (x.expr,), x.dtype), x.dtype)


def _extreme(name: str) -> Rule:
    def rule(guard: Guard, x: Number, y: Number) -> Number:
        dtype = common((x, y))
        if dtype == BOOL or dtype.kind == "c":
            raise NotNative("the larger of two truth values, or of two complex numbers")
        return Number(Call(name, (to(x, dtype), to(y, dtype)), dtype), dtype)

    return rule


computes(np.minimum)(_extreme("minimum"))
computes(np.maximum)(_extreme("maximum"))


def _first_by(name: str) -> Rule:
    """``min`` and ``max`` of Python: the first operand, unless a later one is less, or greater."""

    def rule(guard: Guard, *numbers: Number) -> Number:
        if len(numbers) < 2 or len({(n.dtype, n.kind) for n in numbers}) > 1:
            raise NotNative("min or max of numbers of several types")
        if numbers[0].dtype.kind == "c":
            raise NotNative("an order of complex numbers")
        best, *others = numbers
        for n in others:
            e = Call("choose", (Call(name, (n.expr, best.expr), BOOL), n.expr, best.expr), n.dtype)
            best = Number(e, n.dtype, n.kind, max(n.bits, best.bits))
        return best

    return rule


for _builtin, _name in ((min, "lt"), (max, "gt")):
    if lookup(_builtin) is not None:
        computes(_builtin)(_first_by(_name))


# --- comparisons and choices ------------------------------------------------------------------------------------------


def _comparison(name: str) -> Rule:
    def rule(guard: Guard, x: Number, y: Number) -> Number:
        kind, dtype = _kind((x, y)), common((x, y))
        if dtype.kind == "c" and name not in ("eq", "ne"):
            raise NotNative("an order of complex numbers")
        args = (exactly(guard, x, dtype), exactly(guard, y, dtype))
        return Number(Call(name, args, BOOL), BOOL, kind, 1)

    return rule


for _name, _fns in {
    "lt": (operator.lt, np.less), "le": (operator.le, np.less_equal), "gt": (operator.gt, np.greater),
    "ge": (operator.ge, np.greater_equal), "eq": (operator.eq, np.equal), "ne": (operator.ne, np.not_equal),
}.items():  # fmt: skip
    computes(*_fns)(_comparison(_name))


def truth(n: Number) -> Expr:
    """Whether a number counts as true."""
    return n.expr if n.dtype == BOOL else Call("ne", (n.expr, _zero(n.dtype)), BOOL)


@computes(opset.TRUTH)
def _truth(guard: Guard, x: Number) -> Number:
    return Number(truth(x), BOOL, "py", 1)


@computes(opset.NOT)
def _not(guard: Guard, x: Number) -> Number:
    return Number(Call("not", (truth(x),), BOOL), BOOL, "py", 1)


@computes(np.logical_not)
def _logical_not(guard: Guard, x: Number) -> Number:
    return Number(Call("not", (truth(x),), BOOL), BOOL, "np", 1)


def asked(name: str, x: Number) -> Expr:
    """Whether a number is nan, infinite or finite."""
    if x.dtype.kind != "c":
        return Call(name, (to(x, F8),), BOOL)
    parts = tuple([Call(name, (Call(part, (x.expr,), part_dtype(x.dtype)),), BOOL) for part in ("real", "imag")])
    return Call("and" if name == "isfinite" else "or", parts, BOOL)


for _np, _name in ((np.logical_and, "and"), (np.logical_or, "or")):
    computes(_np)(lambda guard, x, y, name=_name: Number(Call(name, (truth(x), truth(y)), BOOL), BOOL, "np", 1))
for _test, _name in ((np.isnan, "isnan"), (np.isinf, "isinf"), (np.isfinite, "isfinite")):
    computes(_test)(lambda guard, x, name=_name: Number(asked(name, x), BOOL, "np", 1))


def _bitwise(name: str, of_truth: str) -> Rule:
    def rule(guard: Guard, x: Number, y: Number) -> Number:
        kind, dtype = _kind((x, y)), common((x, y))
        if dtype.kind in "fc":
            raise NotNative("& or | of floats")
        fn = of_truth if dtype == BOOL else name
        return Number(Call(fn, (to(x, dtype), to(y, dtype)), dtype), dtype, kind, max(x.bits, y.bits))

    return rule


computes(operator.and_, np.bitwise_and)(_bitwise("bitand", "and"))
computes(operator.or_, np.bitwise_or)(_bitwise("bitor", "or"))


@computes(operator.xor, np.bitwise_xor)
def _xor(guard: Guard, x: Number, y: Number) -> Number:
    if common((x, y)) != BOOL:
        raise NotNative("^ of integers")
    return Number(Call("ne", (x.expr, y.expr), BOOL), BOOL, _kind((x, y)), 1)


@computes(operator.invert, np.invert)
def _invert(guard: Guard, x: Number) -> Number:
    if x.dtype != BOOL or x.kind != "np":
        raise NotNative("~ of integers")
    return Number(Call("not", (x.expr,), BOOL), BOOL, "np", 1)


@computes(np.where)
def _where(guard: Guard, cond: Number, x: Number, y: Number) -> Number:
    dtype = common((x, y))
    return Number(Call("choose", (truth(cond), to(x, dtype), to(y, dtype)), dtype), dtype)


@computes(runtime.select)
def _select(guard: Guard, cond: Number, x: Number, y: Number) -> Number:
    if {x.dtype, y.dtype} == {INDEX, F8}:  # an int or a float, which differ only if somebody looks at the type
        x, y = (replace(n, expr=exactly(guard, n, F8), dtype=F8, kind="?", numpy=MIXED) for n in (x, y))
    if x.dtype != y.dtype:
        raise NotNative("a choice between numbers of two dtypes")
    kind = x.kind if x.kind == y.kind else "?"
    mixed = MIXED if MIXED in (x.numpy, y.numpy) else None
    e = Call("choose", (truth(cond), x.expr, y.expr), x.dtype)
    return Number(e, x.dtype, kind, max(x.bits, y.bits), None, mixed)


# --- quotients and products of cotangents -----------------------------------------------------------------------------


def _quotient_parts(g: Number, d: Number) -> tuple[Any, Expr, Expr, str]:
    dtype = common((g, d))
    dtype = dtype if dtype.kind in "fc" else F8
    return dtype, to(g, dtype), to(d, dtype), _kind((g, d))


@computes(ratios.over)
def _over(guard: Guard, g: Number, d: Number) -> Number:
    dtype, top, by, kind = _quotient_parts(g, d)
    by = Call("choose", (Call("eq", (by, _zero(dtype)), BOOL), Const(math.inf, dtype), by), dtype)
    return Number(Call("div", (top, by), dtype), dtype, kind)


@computes(ratios.ratio)
def _ratio(guard: Guard, g: Number, d: Number) -> Number:
    dtype, top, by, kind = _quotient_parts(g, d)
    zero = _zero(dtype)
    if kind != "np":
        _nonzero(guard, by)
    lost = Call("and", (Call("eq", (by, zero), BOOL), Call("eq", (top, zero), BOOL)), BOOL)
    return Number(Call("choose", (lost, zero, Call("div", (top, by), dtype)), dtype), dtype, kind)


@computes(ratios.quotient, runtime.divided)
def _quotient(guard: Guard, g: Number, d: Number) -> Number:
    dtype, top, by, kind = _quotient_parts(g, d)
    if kind != "np":
        _nonzero(guard, by)
    return Number(Call("div", (top, by), dtype), dtype, kind)


@computes(ratios.product)
def _product(guard: Guard, g: Number, p: Number) -> Number:
    dtype, x, y, _ = _quotient_parts(g, p)
    out = Call("mul", (x, y), dtype)
    lost = Call("and", (asked("isnan", Number(out, dtype)), Call("eq", (x, _zero(dtype)), BOOL)), BOOL)
    return Number(Call("choose", (lost, x, out), dtype), dtype)


# --- conversions ------------------------------------------------------------------------------------------------------


def _convert(python: str, dtype: np.dtype[Any]) -> Rule:
    def rule(guard: Guard, x: Number) -> Number:
        return Number(exactly(guard, replace(x, kind="py"), dtype), dtype, python)

    return rule


if lookup(float) is not None:
    computes(float)(_convert("py", F8))
computes(np.float64)(_convert("np", F8))


def _int(guard: Guard, x: Number) -> Number:
    if x.dtype.kind != "f":
        _guard_operands(guard, (x,))
        return replace(x, expr=to(x, INDEX), dtype=INDEX, kind="py", bits=min(x.bits, WHOLE))
    guard(Call("not", (Call("lt", (Call("abs", (x.expr,), x.dtype), Const(4e18, x.dtype)), BOOL),), BOOL))
    return Number(Call("convert", (x.expr,), INDEX), INDEX, "py", WHOLE)


if lookup(builtins.int) is not None:
    computes(builtins.int)(_int)
for _rounding, _ours in ((math.floor, "floor"), (math.ceil, "ceil")):
    if lookup(_rounding) is not None:
        computes(_rounding)(
            lambda guard, x, name=_ours: _int(
                guard, x if x.dtype.kind != "f" else Number(Call(name, (x.expr,), x.dtype), x.dtype, "py")
            )
        )


def stored(guard: Guard, n: Number, dtype: np.dtype[Any]) -> Expr:
    """The number as an element of an array. NumPy raises for an int that has no place there, and for nan as an int."""
    if dtype.kind not in "iu" or n.dtype in (BOOL, dtype):
        return to(n, dtype)
    if n.dtype.kind == "f":
        if dtype != INDEX:
            raise NotNative(f"a float that is stored as {dtype}")
        return _int(guard, n).expr
    wide, limits = to(n, INDEX), np.iinfo(dtype)
    if dtype != INDEX:
        guard(Call("lt", (wide, Const(int(limits.min), INDEX)), BOOL))
        guard(Call("gt", (wide, Const(int(limits.max), INDEX)), BOOL))
    return Call("convert", (wide,), dtype) if dtype != INDEX else wide


def cast(n: Number, dtype: Any) -> Number:
    """The number in a floating dtype that is not Python's to choose, as `runtime.cast` does it."""
    if dtype is None or dtype.kind not in "fc":
        return n
    if dtype not in DTYPES:
        raise NotNative(f"arithmetic of {dtype}")
    return Number(as_cotangent(n, dtype).expr, dtype, "np")


# --- complex numbers --------------------------------------------------------------------------------------------------


def _parts(e: Expr) -> tuple[Expr, Expr, np.dtype[Any]]:
    part = part_dtype(e.dtype)
    return Call("real", (e,), part), Call("imag", (e,), part), part


def _made(guard: Guard, dtype: np.dtype[Any], real: Expr, imag: Expr) -> Number:
    """A complex number. One that is not finite is left to NumPy, which has rules for each case."""
    guard(_not_finite(real))
    guard(_not_finite(imag))
    return Number(Call("complex", (real, imag), dtype), dtype)


def _exp(guard: Guard, z: Expr, dtype: np.dtype[Any]) -> Number:
    x, y, part = _parts(z)
    size = Call("exp", (x,), part)
    return _made(guard, dtype, *[Call("mul", (size, Call(fn, (y,), part)), part) for fn in ("cos", "sin")])


def _turned(first: tuple[str, str], second: tuple[str, str], turns: bool) -> Any:
    """A function of ``x + iy`` that is ``f(x)g(y) + i h(x)k(y)``; `turns` for the other sign of the imaginary part."""

    def rule(guard: Guard, z: Expr, dtype: np.dtype[Any]) -> Number:
        x, y, part = _parts(z)
        real, imag = (Call("mul", (Call(f, (x,), part), Call(g, (y,), part)), part) for f, g in (first, second))
        return _made(guard, dtype, real, Call("neg", (imag,), part) if turns else imag)

    return rule


COMPLEX: dict[str, Any] = {
    "exp": _exp,
    "sin": _turned(("sin", "cosh"), ("cos", "sinh"), False),
    "cos": _turned(("cos", "cosh"), ("sin", "sinh"), True),
    "sinh": _turned(("sinh", "cos"), ("cosh", "sin"), False),
    "cosh": _turned(("cosh", "cos"), ("sinh", "sin"), False),
}


@computes(np.real)
def _real_part(guard: Guard, x: Number) -> Number:
    if x.dtype == BOOL and x.is_python:
        raise NotNative("the real part of a truth value of Python's, which is an int")
    return real_part(x)


@computes(np.imag)
def _imaginary_part(guard: Guard, x: Number) -> Number:
    if x.dtype.kind == "c":
        part = part_dtype(x.dtype)
        return replace(x, expr=Call("imag", (x.expr,), part), dtype=part)
    if x.dtype.kind != "f":
        raise NotNative("the imaginary part of an integer")
    return replace(x, expr=_zero(x.dtype))


@computes(np.conjugate)
def _conjugate(guard: Guard, x: Number) -> Number:
    if x.dtype.kind != "c":
        if x.dtype.kind != "f":
            raise NotNative("the conjugate of an integer")
        return replace(x, kind="np")
    real, imag, part = _parts(x.expr)
    return Number(Call("complex", (real, Call("neg", (imag,), part)), x.dtype), x.dtype)


@computes(np.angle)
def _angle(guard: Guard, x: Number) -> Number:
    if x.dtype.kind != "c":
        raise NotNative("the angle of a real number")
    real, imag, part = _parts(x.expr)
    return Number(Call("arctan2", (imag, real), part), part)


@computes(complex)
def _complex(guard: Guard, real: Number, imag: Number | None = None) -> Number:
    if imag is None:
        return Number(exactly(guard, replace(real, kind="py"), C16), C16, "py")
    if "c" in (real.dtype.kind, imag.dtype.kind):
        raise NotNative("complex() of complex numbers")
    parts = tuple([exactly(guard, replace(n, kind="py"), F8) for n in (real, imag)])
    return Number(Call("complex", parts, C16), C16, "py")


computes(np.complex128)(_convert("np", C16))
