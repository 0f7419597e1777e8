"""Expressions as text, with no more parentheses than precedence asks for.

Takes an operation whose operands have names or are nested. Gives its text and how tightly it binds.

>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, a, b):
...     return -(x * ((a + b) * (a - b))) / ((a * b) * (x + 1.0))
>>> show_source(f, 1.0, 2.0, 3.0)
def f_grad(x, a, b):
    t = (a + b) * (a - b)
    a_b = a * b
    t2 = a_b * (x + 1.0)
    return -((-(x * t) / t2 * a_b + t) * (1.0 / t2))
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from typing import Any

import numpy as np

from ..ir import opset
from ..ir.core import COMPACT, DERIVED, LOOP, LOOSE, Loc, Op, Prim, Value, type_of
from ..ir.rewrite import enclosing, joined_from
from ..ir.spelling import identifier, literal, requoted
from ..ir.types import same_dtype
from ..late import Pattern
from ..operations.choices import OVER, QUOTIENT, RATIO
from ..operations.choices import PRODUCT as STRONG_PRODUCT
from .names import Naming, home_of_kernel, is_kernel, part_of_scipy
from .short_axes import FLOATS, is_broadcast_between, is_numpys, may_be_short, names_rows, over_rows, sums

# How tightly an expression binds, from loose to tight.
TERNARY, NOT, COMPARE, BITOR, BITXOR, BITAND, SHIFT, SUM, PRODUCT, UNARY, POWER, ATOM = range(1, 13)

# Python writes and reads no longer integers; the sum that a complex number is written as has no negative zeros.
_TOO_LONG = 1 << 4096

_BINARY = {
    "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "//": PRODUCT, "%": PRODUCT, "@": PRODUCT, "**": POWER, "<<": SHIFT,
    ">>": SHIFT, "&": BITAND, "^": BITXOR, "|": BITOR, "<": COMPARE, "<=": COMPARE, ">": COMPARE, ">=": COMPARE,
    "==": COMPARE, "!=": COMPARE, "is": COMPARE, "is not": COMPARE,
}  # fmt: skip
AUGMENTED = frozenset({opset.ADD, opset.SUB, opset.MUL, opset.DIV})
_HOMES = {"numpy": np, "numpy.linalg": np.linalg, "builtins": builtins}
_INVERSE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "==", "is": "is not", "is not": "is"}
_OPPOSITE = {"+": "-", "-": "+"}
_OF_BLAS = (np.float32, np.float64, np.complex64, np.complex128)


def _is_at_home(cls: type) -> bool:
    """Its module has it under its name. `builtins` has no `function`: that is only what the class calls itself."""
    return getattr(_HOMES.get(cls.__module__), cls.__name__, None) is cls


def power(base: str, exponent: str) -> str:
    """``x**2``, and ``f(x) ** 2``: black has no spaces around the sign between simple operands."""
    return f"{base}**{exponent}" if _SIMPLE.fullmatch(base) and _SIMPLE.fullmatch(exponent) else f"{base} ** {exponent}"


def slice_of(start: str, stop: str, step: str) -> str:
    """``i:j``, and ``i + 1 : j``: black has spaces around the colons beside operations."""
    if all(_ATOMIC.fullmatch(text) for text in (start, stop, step) if text):
        return f"{start}:{stop}{':' if step else ''}{step}"
    text = f"{start} :" if start else ":"
    text += f" {stop}" if stop else ""
    return f"{text}{' ' if stop else ''}: {step}" if step else text


_NUMBER = r"[\d.]+(?:e-?\d+)?"
_SIMPLE = Pattern(rf"-*(?:{_NUMBER}|[^\W\d][\w.]*)")
_ATOMIC = Pattern(rf"-*(?:{_NUMBER}|[^\W\d]\w*)")


class Printer:
    def __init__(self, naming: Naming, inlined: dict[Op, Any], maybe: set[Value] | None = None):
        self.naming = naming
        self.maybe = maybe or set()  # values that are undefined on some path
        self.inlined = inlined
        self.helpers: set[str] = set()
        self.imports_math = False
        self.imports: dict[str, set[str]] = {}  # what is imported from other modules, by module
        self.objects: dict[str, Any] = {}
        self.quick = False  # for small arrays: the callees that have the least to decide
        self.takes_dtype = True

    def show(self, arg: Any, least: int = 0) -> str:
        text, level = self.operand(arg)
        return f"({text})" if level < least else text

    def operand(self, arg: Any) -> tuple[str, int]:
        if type(arg) is Value:
            if arg.op is not None and arg.op in self.inlined:
                return self.expression(arg.op)
            return self.naming.of(arg), ATOM
        if type(arg) is tuple:
            if len(arg) == 1:
                return f"({self.show(arg[0])},)", ATOM
            return "(" + ", ".join(self.show(x) for x in arg) + ")", ATOM
        if type(arg) is list:
            return "[" + ", ".join(self.show(x) for x in arg) + "]", ATOM
        if type(arg) is dict:
            return "{" + ", ".join(f"{literal(k)}: {self.show(x)}" for k, x in arg.items()) + "}", ATOM
        if type(arg) is slice:
            return f"slice({self.show(arg.start)}, {self.show(arg.stop)}, {self.show(arg.step)})", ATOM
        return self.constant(arg)

    def names_in(self, arg: Any) -> set[str]:
        """The variables that an expression, or a tuple of them, reads."""
        if type(arg) is tuple:
            return set().union(*map(self.names_in, arg))
        if type(arg) is not Value:
            return set()
        if arg.op is None or arg.op not in self.inlined:
            return {self.naming.of(arg)}
        return set().union(*[self.names_in(v) for v in arg.op.operands()])

    def constant(self, x: Any) -> tuple[str, int]:
        if isinstance(x, np.dtype) and x.names is not None:
            return "np." + requoted(repr(x)), ATOM
        if isinstance(x, np.dtype):
            text = f"np.{x.name}" if x.kind in "iufc" else "bool" if x.kind == "b" else f"np.dtype({literal(x.str)})"
            return (text if self.takes_dtype or text.startswith("np.dtype") else f"np.dtype({text})"), ATOM
        if isinstance(x, np.generic) and x.dtype.kind in "biufc":
            return f"np.{x.dtype.name}({literal(x.item() if np.isfinite(x) else str(x))})", ATOM
        if type(x) is float and not math.isfinite(x):
            return ("np.nan", ATOM) if math.isnan(x) else ("np.inf", ATOM) if x > 0 else ("-np.inf", UNARY)
        if type(x) in (bool, str, bytes) or x is None or x is Ellipsis:
            return literal(x) if x is not Ellipsis else "...", ATOM
        if type(x) is float or (type(x) is int and abs(x) < _TOO_LONG):
            text = literal(x)
            return text, UNARY if text[0] == "-" else ATOM
        if type(x) is complex and all(math.isfinite(p) and repr(p) != "-0.0" for p in (x.real, x.imag)):
            return literal(x), SUM if x.real else ATOM
        if type(x) is complex:  # a literal would be a sum, which loses the sign of a zero
            return f"complex({self.show(x.real)}, {self.show(x.imag)})", ATOM
        if isinstance(x, type) and _is_at_home(x):
            return f"{x.__module__}.{x.__name__}".removeprefix("builtins.").replace("numpy", "np", 1), ATOM
        return self.bind(x), ATOM

    def bind(self, x: Any) -> str:
        """A name in the emitted module for an object that has no literal."""
        own = "constant" if isinstance(x, np.ndarray) else getattr(x, "__name__", type(x).__name__)
        stem = "place" if isinstance(x, Loc) else identifier(own, "constant")
        name, n = stem, 1
        while self.naming.is_taken(name) or (name in self.objects and self.objects[name] is not x):
            n += 1
            name = f"{stem}_{n}"
        self.objects[name] = x
        return name

    # --- operations -----------------------------------------------------------------------------------------------

    def product(self, op: Op) -> tuple[str, int]:
        """The product of two arrays as a method. A sign of the first one stands in front of it all, but for the
        products of the function: a sum that is zero would have the other sign."""
        a, b = op.args
        is_free = op.tag == DERIVED and not op.again
        sign = a.op if type(a) is Value and is_free and a.op in self.inlined else None
        sign = sign if sign is not None and sign.prim is opset.NEG else None
        text = f"{self.show(a if sign is None else sign.args[0], ATOM)}.dot({self.show(b)})"
        return (text, ATOM) if sign is None else (f"-{text}", UNARY)

    def is_called(self, a: Any, op: Op) -> bool:
        """A method of the array is called for a product: in a loop, or where the array needs no parentheses."""
        return _is_repeated(op) or self.operand(a)[1] >= ATOM

    def expression(self, op: Op) -> tuple[str, int]:
        # The class of the numbers does for a dtype where one is expected; elsewhere, as in str(...), it does not.
        before, self.takes_dtype = self.takes_dtype, op.prim.name.startswith("np.") or "dtype" in op.prim.params
        try:
            return self.operation(op)
        finally:
            self.takes_dtype = before

    def operation(self, op: Op) -> tuple[str, int]:
        prim, args = op.prim, op.args
        if prim.template is not None:
            return prim.template(self, op, args, op.kwargs)  # type: ignore[no-any-return]
        method = _PRINTERS.get(prim) or _BY_FN.get(prim.fn)
        if method is not None:
            return method(self, op)  # type: ignore[no-any-return]
        if prim.fn in (operator.matmul, np.matmul) and len(args) == 2:
            is_free = op.tag == COMPACT or (op.tag == DERIVED and not op.again)
            is_free = self.quick or (is_free and all(map(_has_whole_rows, args)) and self.is_called(args[0], op))
            forward = op.tag == DERIVED or all(map(_goes_forward, args))
            if (forward and all(map(_is_float_vector, args))) or (is_free and all(map(_is_float_matrix, args))):
                # Of two vectors, `dot` is the same and twice as fast; of matrices it has less to decide. What it gives
                # for a matrix with strides, or for a vector that is read backwards, may differ in the last digits, so
                # of the function's own products those that may have one stay.
                return self.product(op)
        if prim.fn in _AS_OPERATOR and len(args) == 2 and not op.kwargs:
            if any(type_of(a).kind in ("array", "generic") for a in args):
                return self.binary(_AS_OPERATOR[prim.fn], args[0], args[1])
        if prim is opset.MUL and (self.quick or (op.tag == DERIVED and not op.again)):
            outer = _column_and_row(op)
            if outer is not None:
                return f"{self.show(outer[0], ATOM)}.dot({self.show(outer[1])})", ATOM
        if prim in UFUNCS and is_broadcast_between(*map(type_of, args)) and may_be_short(args[0], op):
            self.helpers.add("by_columns")
            return f"by_columns(np.{UFUNCS[prim]}, {self.show(args[0])}, {self.show(args[1])})", ATOM
        if prim.name in _BINARY and len(args) == 2 and prim.fn in _OPERATOR_FNS:
            return self.binary(prim.name, *(args if self.leads(op) else args[::-1]))
        if prim.fn in _UNARY_FNS:
            text, level = self.operand(args[0])
            if prim is opset.NEG and op.tag == DERIVED and level == PRODUCT and self.takes_sign(args[0]):
                return f"-{text}", PRODUCT
            # black writes ``-(x**2)``
            return f"{_UNARY_FNS[prim.fn]}{f'({text})' if level < UNARY or level == POWER else text}", UNARY
        return self.call(op), ATOM

    def binary(self, sign: str, x: Any, y: Any) -> tuple[str, int]:
        level = _BINARY[sign]
        if sign == "**":
            return power(self.show(x, ATOM), self.show(y, UNARY)), level
        if sign in _OPPOSITE and type(y) in (int, float) and y < 0 and _is_signed(x):
            sign, y = _OPPOSITE[sign], -y
        left = level + 1 if level == COMPARE else level
        if sign in _OPPOSITE and _is_signed(x):
            sign, text, loose = self.signed(sign, y)
            return f"{self.show(x, left)} {sign} {f'({text})' if loose <= level else text}", level
        text = f"{self.show(x, left)} {sign} {self.show(y, level + 1)}"
        return text, level

    def signed(self, sign: str, y: Any, known: bool = True) -> tuple[str, str, int]:
        """What is added or subtracted, with its level: ``- 2.0 * u`` in the place of ``+ -2.0 * u``. Not `known`: it is
        a cotangent, and so no unsigned integer."""
        op = y.op if type(y) is Value and y.op in self.inlined else None
        if op is not None and op.prim is opset.NEG:
            dtype = y.type.dtype
            may = not known if dtype is None else dtype.kind in "ifc"
            return self.signed(_OPPOSITE[sign], op.args[0], known) if may else (sign, *self.operand(y))
        text, level = self.operand(y)
        if text[0] != "-" or level not in (PRODUCT, UNARY):
            return sign, text, level
        first = _first_factor(self, y)
        if first is None:
            return sign, text, level
        text, (inner, tight) = text[1:], self.operand(first)
        if tight == PRODUCT and text.startswith(f"({inner})") and not text.startswith(f"({inner})."):
            text = text.replace(f"({inner})", inner, 1)
        return _OPPOSITE[sign], text, PRODUCT if level == PRODUCT else tight

    def takes_sign(self, y: Any) -> bool:
        """The first factor of a product may have the product's sign: it is no integer, whose zero has none, and no
        product of matrices, whose sums would be rounded to the other zero."""
        if y.op.prim not in (opset.MUL, opset.DIV):
            return False
        while type(y) is Value and y.op in self.inlined and y.op.prim in (opset.MUL, opset.DIV):
            y = y.op.args[0 if self.leads(y.op) else 1]
        text, level = self.operand(y)
        is_float = type(y) is float or (type(y) is Value and y.type.is_float and y.type.is_real)
        return is_float and text[0] != "-" and level != PRODUCT

    def leads(self, op: Op) -> bool:
        """The first operand is written first: a number that a cotangent is multiplied by stands in front of it."""
        x, y = op.args
        if op.prim is not opset.MUL or op.tag != DERIVED or type(y) not in (int, float) or type(x) is not Value:
            return True
        made = x.op if x.op in self.inlined else None
        return made is not None and (
            made.prim.name in _BINARY or made.prim.fn in _UNARY_FNS or bool(made.prim.template)
        )

    def negated(self, cond: Any) -> str:
        op = cond.op if type(cond) is Value else None
        if op is not None and op in self.inlined:
            if op.prim.fn in _OPERATOR_FNS and op.prim.name in _INVERSE and self._ordered(op):
                return self.binary(_INVERSE[op.prim.name], *op.args)[0]
            if op.prim is opset.NOT:
                return self.show(op.args[0])
        return f"not {self.show(cond, NOT)}"

    def _ordered(self, op: Op) -> bool:
        """``not a < b`` is ``a >= b``: where neither can be NaN."""
        if op.prim.name in ("is", "is not"):
            return True
        if op.prim.name in ("==", "!="):
            return all(type_of(a).is_scalar for a in op.args)
        return all(type_of(a).is_scalar and (d := type_of(a).dtype) is not None and d.kind in "biu" for a in op.args)

    def call(self, op: Op) -> str:
        name = self.callee(op.prim)
        parts = [self.show(a) for a in op.args]
        parts += [f"{k}={self.show(v)}" for k, v in op.kwargs.items()]
        return f"{name}({', '.join(parts)})"

    def helper(self, name: str, *args: Any) -> str:
        """A call of a helper of the runtime's."""
        self.helpers.add(name)
        return f"{name}({', '.join(map(self.show, args))})"

    def callee(self, prim: Prim) -> str:
        if prim.name.startswith(("np.", "math.")):
            self.imports_math |= prim.name.startswith("math.")
            return prim.name
        part = part_of_scipy(prim)
        if part:
            module, name = prim.name.rsplit(".", 1)
            self.imports.setdefault(module.rpartition(".")[0], set()).add(part)
            return f"{part}.{name}"
        module = getattr(prim.fn, "__module__", "")
        if module == "builtins":
            return prim.name
        if module == "autodiff_compiler.errors":
            self.imports.setdefault(module, set()).add(prim.fn.__name__)  # type: ignore[union-attr]
            return prim.fn.__name__  # type: ignore[union-attr]
        if is_kernel(prim):
            self.imports.setdefault(home_of_kernel(prim), set()).add(prim.fn.__name__)  # type: ignore[union-attr]
            return prim.fn.__name__  # type: ignore[union-attr]
        if module == "autodiff_compiler.runtime":
            self.helpers.add(prim.fn.__name__)  # type: ignore[union-attr]
            return prim.fn.__name__  # type: ignore[union-attr]
        return self.bind(prim.fn)

    # --- subscripts -----------------------------------------------------------------------------------------------

    def part(self, base: str, path: tuple[Any, ...]) -> str:
        """The expression that reads the part of `base` at `path`."""
        for step in path:
            if step[0] == "index":
                base += f"[{self.subscript(step[1])}]"
            elif step[0] == "transpose":
                base += ".T" if step[1] is None else f".transpose({', '.join(map(str, step[1]))})"
            else:
                shape = step[1]
                inside = self.show(shape)
                if isinstance(shape, tuple) and len(shape) > 0:
                    inside = ", ".join(self.show(s) for s in shape)
                base += f".reshape({inside})"
        return base

    def place(self, base: str, path: tuple[Any, ...]) -> str:
        """The subscript that names the part of `base` at `path`. It can be assigned to."""
        if opset.is_whole(path) and all(step[1] for step in path):  # a[()] of a 0-d array is a number, a[...] is not
            return f"{base}[...]"
        text = self.part(base, path)
        return text if path[-1][0] == "index" else f"{text}[...]"

    def cell(self, table: Any, i: Any, j: Any) -> str:
        """An element of a table, perhaps by way of a row that is there."""
        row = self.show(i, ATOM) if type_of(i).kind == "list" else f"{self.show(table, ATOM)}[{self.show(i)}]"
        return f"{row}[{self.show(j)}]"

    def subscript(self, items: tuple[Any, ...], nested: bool = False) -> str:
        """What stands between the brackets; as an expression of its own if `nested`."""
        if nested:
            return self.show(items[0] if len(items) == 1 else tuple(items))
        parts = [self._item(i) for i in items]
        if not parts:
            return "()"
        return parts[0] if len(parts) == 1 else ", ".join(parts)

    def _item(self, item: Any) -> str:
        if type(item) is slice:
            return slice_of(*["" if x is None else self.show(x) for x in (item.start, item.stop, item.step)])
        return self.show(item)

    def range(self, range_: tuple[Any, ...]) -> str:
        start, stop, step, *flags = range_
        parts = [self.show(stop)]
        if not (type(start) is int and start == 0) or not (type(step) is int and step == 1):
            parts = [self.show(start), *parts]
        if not (type(step) is int and step == 1):
            parts.append(self.show(step))
        text = f"range({', '.join(parts)})"
        return f"reversed({text})" if flags and flags[0] else text


def _is_signed(x: Any) -> bool:
    """To subtract a number is to add its opposite: not where unsigned integers or the zeros of complex numbers are."""
    dtype = type_of(x).dtype
    return type(x) is Value and dtype is not None and dtype.kind in "if"


def _first_factor(p: Printer, y: Any) -> Any:
    """What stands behind the sign in front of the expression, if that belongs to the first of real factors."""
    while type(y) is Value and y.op is not None and y.op in p.inlined and y.type.is_float and y.type.is_real:
        if y.op.prim is opset.NEG:
            return y.op.args[0]
        if y.op.prim not in (opset.MUL, opset.DIV) and y.op.prim.fn not in (operator.matmul, np.matmul):
            return None
        y = y.op.args[0]
    return -y if type(y) in (int, float) else None


def _is_float_vector(x: Any) -> bool:
    t = type_of(x)
    return t.kind == "array" and t.ndim == 1 and t.is_float and t.duck is None


@functools.cache
def _backwards() -> set[Prim]:
    return {opset.SPREAD, *[opset.PRIMS[fn] for fn in (np.broadcast_to, np.flip, np.flipud, np.fliplr)]}


def _goes_forward(x: Any) -> bool:
    """The vector is not known to be read backwards, or to be one number many times: `dot` copies such a one."""
    waiting, seen = [x], set[Value]()
    while waiting:
        v = waiting.pop()
        if type(v) is not Value or v in seen:
            continue
        seen.add(v)
        if v.op is None or v.op.regions:
            if v.region is None or v.region.params[0] is not v:  # (what a loop runs over)
                waiting += joined_from(v, None)
        elif v.op.prim in _backwards():
            return False
        elif v.op.prim is opset.GET:
            cuts = [i for kind, items, *_ in v.op.args[1] if kind == "index" for i in items if type(i) is slice]
            if not all(i.step is None or (type(i.step) is int and i.step > 0) for i in cuts):
                return False
            waiting.append(v.op.args[0])
        elif v.op.prim.alias != "fresh":
            waiting += v.op.args[:1]
    return True


def _is_float_matrix(x: Any) -> bool:
    t = type_of(x)
    return t.kind == "array" and t.ndim in (1, 2) and t.is_float and t.duck is None


def _column_and_row(op: Op) -> tuple[Value, Value] | None:
    """The factors, if they are a column and a row. `dot` takes half as long, or less, as a product that broadcasts."""
    x, y = op.args
    if op.parent is None or type(x) is not Value or type(y) is not Value or x.type.dtype not in _OF_BLAS:
        return None
    if not _is_float_matrix(x) or not _is_float_matrix(y) or not same_dtype(x.type.dtype, y.type.dtype):
        return None
    dims = op.parent.dims
    one = [[dims.find(d) == 1 for d in shape] for shape in (x.type.dims or (), y.type.dims or ())]
    if one == [[False, True], [True, False]]:
        return x, y
    return (y, x) if one == [[True, False], [False, True]] else None


def _has_whole_rows(x: Any) -> bool:
    """A vector, or a matrix that is no part of the columns of another one: such a part `dot` copies."""
    v, parts = x, [False, False]  # whether it is a part along its first and second axis
    while type_of(x).ndim == 2 and type(v) is Value and v.op is not None and v.op.prim is opset.GET:
        for kind, items, *_ in reversed(v.op.args[1]):
            if kind == "transpose":
                parts.reverse()
            elif kind == "index":
                cut = [type(i) is not slice or i != slice(None) for i in items]
                parts = [parts[0] or any(cut[:1]), parts[1] or any(cut[1:])]
        v = v.op.args[0]
    return not parts[1]


def _is_repeated(op: Op) -> bool:
    """It is in a loop."""
    return any(region.op is not None and region.op.prim is LOOP for region in enclosing(op.parent))


def _get(p: Printer, op: Op) -> tuple[str, int]:
    base, path = op.args
    if names_rows(op):
        return p.helper("take_rows", base, path[0][1][0]), ATOM
    text = p.show(base, ATOM)
    return p.place(text, path) if path[-1][0] == "index" else p.part(text, path), ATOM


def _get_stored(p: Printer, op: Op) -> tuple[str, int]:
    base, path = op.args
    p.helpers.add("stored_part")
    text = p.show(base, ATOM)
    head = p.place(text, path[:-1]) if len(path) > 1 else text
    return f"stored_part({head}, {p.subscript(path[-1][1], nested=True)})", ATOM


def _copy(p: Printer, op: Op) -> tuple[str, int]:
    t = type_of(op.args[0])
    defined = type(op.args[0]) is not Value or op.args[0] not in p.maybe
    if t.kind == "list" and defined:
        return f"list({p.show(op.args[0])})", ATOM
    if t.kind == "table":
        return f"[list(row) for row in {p.show(op.args[0])}]", ATOM
    if t.duck is not None and t.dtype is not None and t.dtype.kind in "iufc" and defined:
        return f"np.positive({p.show(op.args[0])})", ATOM  # not all libraries have np.copy
    if t.kind in ("array", "generic") and defined and t.duck is None:
        return f"{p.show(op.args[0], ATOM)}.copy()", ATOM
    p.helpers.add("copy")
    return f"copy({p.show(op.args[0])})", ATOM


def _zeros(p: Printer, op: Op) -> tuple[str, int]:
    like = op.args[0]
    t = type_of(like)
    if t.is_scalar:
        return "0.0", ATOM
    defined = type(like) is not Value or like not in p.maybe
    if t.kind == "array" and t.is_float and defined:
        if _is_in_c_order(like, op):
            return _zeros_of_shape(p, like), ATOM
        return f"np.zeros_like({p.show(like)})", ATOM
    if t.kind == "list" and t.elem is not None and t.elem.is_scalar and defined:
        return f"[0.0] * len({p.show(op.args[0])})", PRODUCT
    p.helpers.add("zeros")
    return f"zeros({p.show(op.args[0])})", ATOM


def _zeros_of_shape(p: Printer, like: Any) -> str:
    """What ``np.zeros_like`` gives for an array in C order. That takes ten times as long to start."""
    dtype = "" if type_of(like).dtype == np.float64 else f", {p.show(like, ATOM)}.dtype"
    return f"np.zeros({p.show(like, ATOM)}.shape{dtype})"


def _is_in_c_order(x: Any, op: Op) -> bool:
    """Its axes are in C order in memory, for what the arguments at hand and its making show."""
    t = type_of(x)
    if t.ndim is None or t.duck is not None or type(x) is not Value:
        return False
    if t.ndim > 1 and (op.parent is None or op.parent.dims.top().turned):
        return False
    v: Value | None = x
    while v is not None and v.type.ndim != 1 and v.op is not None:
        if v.op.prim is opset.GET and any(kind != "index" for kind, *_ in v.op.args[1]):
            return False
        same_rank = [a for a in v.op.args if type(a) is Value and a.type.ndim == v.type.ndim]
        v = same_rank[0] if same_rank and (v.op.prim is opset.GET or v.op.prim.elementwise) else None
    return True


def _zeros_like(p: Printer, op: Op) -> tuple[str, int]:
    """The function's own zeros: of a vector, whose elements can be in one order only."""
    vector = len(op.args) == 1 and not op.kwargs and _is_float_vector(op.args[0]) and op.args[0] not in p.maybe
    return _zeros_of_shape(p, op.args[0]) if vector else p.call(op), ATOM


def _spread(p: Printer, op: Op) -> tuple[str, int]:
    g, x = op.args
    tg = type_of(g)
    if op.results[0].type.is_scalar:
        # A broadcast to no axes would be an array that cannot be written to. Here the type says: a number.
        if tg.is_scalar:
            return p.operand(g)
        p.helpers.add("spread")
        return f"spread({p.show(g)}, {p.show(x)})", ATOM
    # A Python float takes the dtype of the other operand, but broadcast alone it would be float64.
    weak = tg.kind == "py" or (tg.kind == "scalar" and tg.dtype != np.float64)
    keeps = tg.kind == "array" or (same_dtype(type_of(op.results[0]).dtype, tg.dtype) and not weak)
    if type_of(x).kind == "array" and keeps:
        return f"np.broadcast_to({p.show(g)}, {p.show(x, ATOM)}.shape)", ATOM
    p.helpers.add("spread")
    return f"spread({p.show(g)}, {p.show(x)})", ATOM


def _full_like(p: Printer, op: Op) -> tuple[str, int]:
    x, g = op.args
    tx = type_of(x)
    if tx.kind == "array" and same_dtype(tx.dtype, type_of(op.results[0]).dtype):
        return f"np.full_like({p.show(x)}, {p.show(g)})", ATOM
    p.helpers.add("full_like")
    return f"full_like({p.show(x)}, {p.show(g)})", ATOM


def _dim(p: Printer, op: Op) -> tuple[str, int]:
    x, axis = op.args
    if type_of(x).kind == "array":
        return f"{p.show(x, ATOM)}.shape[{p.show(axis)}]", ATOM
    p.helpers.add("dim")
    return f"dim({p.show(x)}, {p.show(axis)})", ATOM


def _attribute(name: str) -> Any:
    def method(p: Printer, op: Op) -> tuple[str, int]:
        x = op.args[0]
        if type_of(x).kind in ("array", "generic"):
            return f"{p.show(x, ATOM)}.{name}", ATOM
        p.helpers.add(name)
        return f"{name}({p.show(x)})", ATOM

    return method


def _cast(p: Printer, op: Op) -> tuple[str, int]:
    g, dtype = op.args
    t = type_of(g)
    if isinstance(dtype, np.dtype) and not (t.dtype is None or (t.dtype.kind == "c" and dtype.kind == "f")):
        if t.kind == "array":
            return f"{p.show(g, ATOM)}.astype({p.show(dtype)}, copy=False)", ATOM
        if t.is_scalar:
            return f"{p.show(dtype)}({p.show(g)})", ATOM
    p.helpers.add("cast")
    shown = f"np.dtype({p.show(dtype)})" if isinstance(dtype, np.dtype) else p.show(dtype)
    return f"cast({p.show(g)}, {shown})", ATOM


def _format(p: Printer, op: Op) -> tuple[str, int]:
    p.helpers.add("format_")
    return f"format_({', '.join(p.show(a) for a in op.args)})", ATOM


def _list_new(p: Printer, op: Op) -> tuple[str, int]:
    return "[" + ", ".join(p.show(x) for x in op.args[0]) + "]", ATOM


def _tuple(p: Printer, op: Op) -> tuple[str, int]:
    return p.operand(tuple(op.args))


def _build(p: Printer, op: Op) -> tuple[str, int]:
    cls, names, *items = op.args
    shown = [p.show(x) for x in items]
    if cls is list:
        return f"[{', '.join(shown)}]", ATOM
    if cls is dict:
        return "{" + ", ".join([f"{p.show(k)}: {x}" for k, x in zip(names, shown)]) + "}", ATOM
    return p.call(op), ATOM


def _index(p: Printer, op: Op) -> tuple[str, int]:
    return f"{p.show(op.args[0], ATOM)}[{p.show(op.args[1])}]", ATOM


def _slice(p: Printer, op: Op) -> tuple[str, int]:
    return f"{p.show(op.args[0], ATOM)}[{p.subscript((slice(*op.args[1:]),))}]", ATOM


def _pop(p: Printer, op: Op) -> tuple[str, int]:
    return f"{p.show(op.args[0])}.pop()", ATOM


def _not(p: Printer, op: Op) -> tuple[str, int]:
    return f"not {p.show(op.args[0], NOT)}", NOT


def _contains(p: Printer, op: Op) -> tuple[str, int]:
    return f"{p.show(op.args[1], COMPARE + 1)} in {p.show(op.args[0], COMPARE + 1)}", COMPARE


def _range_len(p: Printer, op: Op) -> tuple[str, int]:
    return f"len({p.range(op.args)})", ATOM


def _sum(p: Printer, op: Op) -> tuple[str, int]:
    short = sums(p, op)
    if short:
        return short, ATOM
    if is_numpys(op.args[0]) and len(op.args) == 1:
        parts = [f"{k}={p.show(v)}" for k, v in op.kwargs.items() if not (v is None and k == "axis" or v is False)]
        if p.quick and op.kwargs.keys() <= {"axis", "keepdims"} and type_of(op.args[0]).is_float:
            axis = p.show(op.kwargs.get("axis"))
            keep = "".join(part for part in [f", {q}" for q in parts] if "keepdims" in part)
            return f"np.add.reduce({p.show(op.args[0])}, axis={axis}{keep})", ATOM
        return f"{p.show(op.args[0], ATOM)}.sum({', '.join(parts)})", ATOM
    return p.call(op), ATOM


def _minimum(p: Printer, op: Op) -> tuple[str, int]:
    """Where the largest number is the other operand, and the result is only read."""
    user = p.inlined.get(op)
    if len(op.args) == 2 and not op.kwargs and isinstance(user, Op) and user.prim in UFUNCS:
        x, largest = op.args
        t = type_of(x)
        if is_numpys(x) and t.dtype in FLOATS and type(largest) is float and largest == float(np.finfo(t.dtype).max):
            return p.helper("finite", x), ATOM
    return p.call(op), ATOM


def _over_rows(name: str, *dtypes: Any) -> Any:
    return lambda p, op: (over_rows(p, op, name, dtypes) or p.call(op), ATOM)


def _einsum(p: Printer, op: Op) -> tuple[str, int]:
    of_rows = len(op.args) == 3 and op.args[0] == "ij,ij->i" and not op.kwargs
    if op.tag in (DERIVED, LOOSE) and of_rows and may_be_short(op.args[1], op):
        return p.helper("row_dots", *op.args[1:]), ATOM
    return p.call(op), ATOM


def _for_numbers(form: Any) -> Any:
    """The expression `form` where the result is a number, and a call of the kernel where it is an array."""
    return lambda p, op: form(p, op) if op.results[0].type.is_scalar else (p.call(op), ATOM)


@_for_numbers
def _ratio(p: Printer, op: Op) -> tuple[str, int]:
    g, d = op.args
    if "generic" in (type_of(g).kind, type_of(d).kind):
        if type(g) in (int, float) and g != 0:
            return f"{p.show(g, PRODUCT)} / {p.show(d, PRODUCT + 1)}", PRODUCT
        divisor = p.show(d, ATOM)
        return f"{p.show(g, PRODUCT)} / ({divisor} or {divisor} + ({p.show(g, ATOM)} == 0))", PRODUCT
    infinite = "np.inf" if type(g) is float and g > 0 else f"{p.show(g, NOT)} and {p.show(g, PRODUCT)} * np.inf"
    return f"{p.show(g, PRODUCT)} / {p.show(d, PRODUCT + 1)} if {p.show(d, NOT)} else {infinite}", TERNARY


@_for_numbers
def _quotient(p: Printer, op: Op) -> tuple[str, int]:
    g, d = op.args
    infinite = "np.inf" if type(g) is float and g > 0 else f"{p.show(g, PRODUCT)} * np.inf"
    return f"{p.show(g, PRODUCT)} / {p.show(d, PRODUCT + 1)} if {p.show(d, NOT)} else {infinite}", TERNARY


@_for_numbers
def _over(p: Printer, op: Op) -> tuple[str, int]:
    g, d = op.args
    return f"{p.show(g, PRODUCT)} / ({p.show(d, NOT)} or np.inf)", PRODUCT


@_for_numbers
def _product(p: Printer, op: Op) -> tuple[str, int]:
    g, other = op.args
    g = p.show(g, ATOM)
    return f"({g} and {g} * {p.show(other, PRODUCT + 1)})", ATOM


def increment(p: Printer, v: Any) -> tuple[str, str]:
    """``+= v``, or ``-= u`` where v is -u: the sign and the operand."""
    sign, text, _ = p.signed("+", v, known=False)
    return f"{sign}=", text


def _accum(p: Printer, op: Op) -> tuple[str, int]:
    """What is added to an expression; to a variable it is added by a statement."""
    sign, text, level = p.signed("+", op.args[1], known=False)
    return f"{p.show(op.args[0], SUM)} {sign} {f'({text})' if level <= SUM else text}", SUM


def _divided(p: Printer, op: Op) -> tuple[str, int]:
    g, d = op.args
    shown = p.show(d)
    divisor = f"({shown} or np.float64({shown}))" if type(d) is Value else f"np.float64({shown})"
    return f"{p.show(g, PRODUCT)} / {divisor}", PRODUCT


def _raised(p: Printer, op: Op) -> tuple[str, int]:
    x, n = op.args
    shown = p.show(x, ATOM)
    other = power(f"np.float64({shown})", str(n))
    return f"{power(shown, str(n))} if -1e30 < {shown} < 1e30 else {other}", TERNARY


def _list_item(p: Printer, op: Op) -> tuple[str, int]:
    items, i, more = op.args[:3]
    sign = f" {'+' if more > 0 else '-'} {abs(more)}" if more else ""
    return f"{p.show(items, ATOM)}[{p.show(i)}{sign}]", ATOM


def _numpys(p: Printer, op: Op) -> tuple[str, int]:
    v, trips = op.args
    return f"np.float64({p.show(v)}) if {p.show(trips)} else {p.show(v)}", TERNARY


_OPERATOR_FNS = set(opset.OPERATORS) | {operator.matmul, operator.is_, operator.is_not}
# Ufuncs that are written as operators where an operand is NumPy's, so that it is the same operation.
_AS_OPERATOR = {np.add: "+", np.subtract: "-", np.multiply: "*", np.true_divide: "/", np.matmul: "@"}
UFUNCS = {opset.ADD: "add", opset.SUB: "subtract", opset.MUL: "multiply", opset.DIV: "divide"}
_UNARY_FNS = {fn: name for fn, (name, _) in opset.UNARY_OPERATORS.items()}
_PRINTERS: dict[Prim, Any] = {
    opset.GET: _get, opset.GET_STORED: _get_stored, opset.COPY: _copy, opset.ZEROS: _zeros, opset.SPREAD: _spread,
    opset.FULL_LIKE: _full_like, opset.DIM: _dim,
    opset.SHAPE_OF: _attribute("shape"), opset.NDIM: _attribute("ndim"), opset.SIZE: _attribute("size"),
    opset.DTYPE: _attribute("dtype"), opset.CAST: _cast, opset.FORMAT: _format, opset.LIST_NEW: _list_new,
    opset.LIST_GET: _index, opset.LIST_SLICE: _slice,
    opset.POP: _pop, opset.NOT: _not, opset.CONTAINS: _contains, opset.RANGE_LEN: _range_len,
    opset.STACK_NEW: lambda p, op: ("[]", ATOM), opset.TUPLE: _tuple, opset.BUILD: _build,
    opset.UNPACK: lambda p, op: (p.show(op.args[0]), ATOM),
    opset.TOLIST: lambda p, op: (f"{p.show(op.args[0], ATOM)}.tolist()", ATOM),
    opset.TABLE_GET: lambda p, op: (p.cell(*op.args), ATOM),
    opset.LIST_ITEM: _list_item,
    opset.TABLE_ROW: lambda p, op: (f"{p.show(op.args[0], ATOM)}[{p.show(op.args[1])}]", ATOM),
    opset.ITEM: lambda p, op: (f"{p.show(op.args[0], ATOM)}.item({', '.join(map(p.show, op.args[1:]))})", ATOM),
    opset.FROM_LIST: lambda p, op: (f"np.array({p.show(op.args[0])})", ATOM),
    opset.REPEATED: lambda p, op: (f"[{p.show(op.args[0])}] * {p.show(op.args[1], PRODUCT + 1)}", PRODUCT),
    opset.ACCUM: _accum, opset.DIVIDED: _divided, opset.RAISED: _raised, opset.NUMPYS: _numpys,
    RATIO: _ratio, QUOTIENT: _quotient, OVER: _over, STRONG_PRODUCT: _product,
}  # fmt: skip


def _dot(p: Printer, op: Op) -> tuple[str, int]:
    if len(op.args) == 2 and not op.kwargs and is_numpys(op.args[0]):
        return f"{p.show(op.args[0], ATOM)}.dot({p.show(op.args[1])})", ATOM
    return p.call(op), ATOM


def _copy_in_order(p: Printer, op: Op) -> tuple[str, int]:
    if len(op.args) == 2 and not op.kwargs and is_numpys(op.args[0]) and op.args[1] in ("C", "F"):
        order = "" if op.args[1] == "C" else p.show(op.args[1])
        return f"{p.show(op.args[0], ATOM)}.copy({order})", ATOM
    return p.call(op), ATOM


def _flip(p: Printer, op: Op) -> tuple[str, int]:
    if len(op.args) == 1 and not op.kwargs and _is_float_vector(op.args[0]):
        return f"{p.show(op.args[0], ATOM)}[::-1]", ATOM
    return p.call(op), ATOM


def _roll(p: Printer, op: Op) -> tuple[str, int]:
    """An array that is rolled by one number, along one axis."""
    a, shift, axis = (*op.args, None)[:3] if len(op.args) > 1 else (None, None, None)
    axis = op.kwargs.get("axis", axis)
    t, rank = type_of(shift), type_of(a).ndim
    axis = 0 if axis is None and rank == 1 else axis
    known = type(axis) is int and rank is not None and -rank <= axis < rank and op.kwargs.keys() <= {"axis"}
    if not known or not is_numpys(a) or t.kind != "py" or t.dtype is None or t.dtype.kind != "i":
        return p.call(op), ATOM
    return p.helper("rolled", a, shift, axis), ATOM


def _part(name: str) -> Any:
    """The real or imaginary part, of an array as its attribute."""

    def printed(p: Printer, op: Op) -> tuple[str, int]:
        numpys = len(op.args) == 1 and not op.kwargs and is_numpys(op.args[0])
        return f"{p.show(op.args[0], ATOM)}.{name}" if numpys else p.call(op), ATOM

    return printed


# NumPy's own functions, whose primitives are made elsewhere
_BY_FN: dict[Any, Any] = {
    np.sum: _sum,
    np.zeros_like: _zeros_like,
    np.max: _over_rows("row_maxima", *FLOATS),
    np.min: _over_rows("row_minima", *FLOATS),
    np.all: _over_rows("row_all", np.bool_),
    np.any: _over_rows("row_any", np.bool_),
    np.einsum: _einsum,
    np.minimum: _minimum,
    np.dot: _dot,
    np.copy: _copy_in_order,
    np.flip: _flip,
    np.roll: _roll,
    np.real: _part("real"),
    np.imag: _part("imag"),
}
