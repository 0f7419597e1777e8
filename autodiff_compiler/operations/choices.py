"""Functions that choose among operands, and quotients and products with a chosen zero.

A chosen zero stands for a finite number that is not known, see `roots`. The derivative by it is nan; the zero itself
stays one. `honest` is nan where the zero was chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from ..ir.core import Builder, type_of
from ..ir.infer import broadcast_dims, infer_ufunc, promote
from ..ir.ops_common import as_array, scalar_or_array
from ..ir.opset import mark, repeatable
from ..ir.types import ANY, Ty, join
from . import lib
from .batch_rules import batch, broadcast_stacks
from .lib import call, choose, masked
from .record import constant_in, op, vjp

# --- choices ----------------------------------------------------------------------------------------------------------


def _where_type(b: Builder, condition: Any, x: Any, y: Any) -> Ty:
    types = [t if (t := type_of(a)).kind != "object" else as_array(b, a) for a in (condition, x, y)]
    dims = broadcast_dims(b, [t.dims for t in types])
    found = promote(np.add, types[1:])
    kind = "array" if all(t.kind in ("array", "py", "generic", "scalar") for t in types) else "any"
    return Ty(kind, found[0] if found else None, dims)


WHERE = op("np.where", "condition: array, x: array, y: array", type=_where_type, total="known")


@vjp(np.where, "x", linear="x, y")
def _where_x(g: Any, out: Any, condition: Any, x: Any, y: Any) -> Any:
    return masked(g, lib.truth(condition))


@vjp(np.where, "y")
def _where_y(g: Any, out: Any, condition: Any, x: Any, y: Any) -> Any:
    return masked(g, lib.invert(lib.truth(condition)))


constant_in(np.where, "condition")
batch(np.where)(broadcast_stacks)


def _select_type(b: Builder, cond: Any, x: Any, y: Any) -> Ty:
    return join(type_of(x), type_of(y), b.dims)


def _total_select(b: Builder, cond: Any, x: Any, y: Any) -> bool:
    return type_of(cond).is_scalar


_TERNARY = 1  # a level of precedence, as codegen counts them


def _print_select(printer: Any, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
    cond, x, y = args
    text = f"{printer.show(x, _TERNARY + 1)} if {printer.show(cond, _TERNARY + 1)} else {printer.show(y, _TERNARY)}"
    return text, _TERNARY


# ``select(cond, x, y)``: Python's conditional expression on values that are both there already.
SELECT = op(runtime.select, "cond, x, y", type=_select_type, total=_total_select, alias="maybe", template=_print_select)


@vjp(SELECT, "x", linear="x, y")
def _select_x(g: Any, out: Any, cond: Any, x: Any, y: Any) -> Any:
    return choose(cond, g, 0.0)


@vjp(SELECT, "y")
def _select_y(g: Any, out: Any, cond: Any, x: Any, y: Any) -> Any:
    return choose(cond, 0.0, g)


constant_in(SELECT, "cond")


def _clip_type(b: Builder, a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Ty:
    given = [type_of(x) for x in (a, a_min, a_max, min, max) if x is not None]
    if not all(t.kind in ("array", "py", "generic", "scalar") for t in given):
        return ANY
    dims = broadcast_dims(b, [t.dims for t in given])
    first, *rest = given
    for t in rest:
        found = promote(np.maximum, [first, t])
        if not found:
            return scalar_or_array(dims is not None, None, dims)
        first = Ty("py" if first.kind == t.kind == "py" else "array", found[0], ())
    if not rest or any(t.kind == "scalar" for t in given):
        return ANY if not rest else scalar_or_array(dims is not None, None, dims)
    return scalar_or_array(dims is not None, first.dtype, dims)


CLIP = op(
    "np.clip", "a: array, a_min: array, a_max: array, out, min: array, max: array", type=_clip_type, total="known"
)


@vjp(np.clip, "a", symmetric=True)
def _clip(g: Any, out: Any, a: Any, a_min: Any = None, a_max: Any = None, **keywords: Any) -> Any:
    low, high = _bounds(a_min, a_max, keywords)
    inside = None
    if low is not None:
        inside = np.greater_equal(a, low)
    if high is not None:
        below = np.less_equal(a, high)
        inside = below if inside is None else inside & below
    return g if inside is None else masked(g, inside)


def _bounds(a_min: Any, a_max: Any, keywords: dict[str, Any]) -> tuple[Any, Any]:
    low, high = keywords.pop("min", a_min), keywords.pop("max", a_max)
    if keywords:
        raise lib.unsupported(
            f"the derivative rule of np.clip does not know the keyword {next(iter(keywords))!r}", "use np.where"
        )
    return low, high


def _clip_low(g: Any, out: Any, a: Any, a_min: Any = None, a_max: Any = None, **keywords: Any) -> Any:
    low, high = _bounds(a_min, a_max, keywords)
    below = np.less(a, low)
    return masked(g, below if high is None else below & np.less_equal(low, high))


for _arg in ("a_min", "min"):
    vjp(np.clip, _arg, symmetric=True)(_clip_low)


def _clip_high(g: Any, out: Any, a: Any, a_min: Any = None, a_max: Any = None, **keywords: Any) -> Any:
    low, high = _bounds(a_min, a_max, keywords)
    above = np.greater(a, high)
    return masked(g, above if low is None else above | np.greater(low, high))


for _arg in ("a_max", "max"):
    vjp(np.clip, _arg, symmetric=True)(_clip_high)

# --- chosen zeros -----------------------------------------------------------------------------------------------------


# ``ratio(g, d)``: the quotient, zero where both are zero.
RATIO = op(runtime.ratio, "g: array, d: array", infer=infer_ufunc(np.true_divide, operator=True), elementwise=True)


# ``quotient(g, d)``: the quotient as NumPy divides, where Python's numbers would raise.
QUOTIENT = op(runtime.quotient, "g, d", infer=infer_ufunc(np.true_divide, operator=True), elementwise=True)


@vjp(QUOTIENT, "g")
def _quotient_g(g: Any, out: Any, numerator: Any, d: Any) -> Any:
    return call(runtime.quotient, g, d)


@vjp(QUOTIENT, "d")
def _quotient_d(g: Any, out: Any, numerator: Any, d: Any) -> Any:
    return -call(runtime.quotient, g * out, d)


# ``over(g, d)``: the quotient, zero where `d` is.
OVER = op(runtime.over, "g: array, d: array", infer=infer_ufunc(np.true_divide, operator=True), elementwise=True)


@vjp((RATIO, OVER), "g")
def _ratio_g(g: Any, out: Any, numerator: Any, d: Any) -> Any:
    honest = _divided(numerator, d)
    return _divided(g, d + 0 * honest)


@vjp((RATIO, OVER), "d")
def _ratio_d(g: Any, out: Any, numerator: Any, d: Any) -> Any:
    return _divided(-(g * _divided(numerator, d)), d)


def _divided(g: Any, d: Any) -> Any:
    """``g / d``, as NumPy divides."""
    return call(runtime.quotient, g, d) if lib.may_raise(g, d) else g / d


# ``product(g, p)``: the product, zero where `g` is.
PRODUCT = op(runtime.product, "g: array, p: array", infer=infer_ufunc(np.multiply, operator=True), elementwise=True)


@vjp(PRODUCT, "g")
def _product_g(g: Any, out: Any, factor: Any, p: Any) -> Any:
    honest = factor * p
    return g * (p + 0 * honest)


@vjp(PRODUCT, "p")
def _product_p(g: Any, out: Any, factor: Any, p: Any) -> Any:
    honest = factor * p
    return g * (factor + 0 * honest)


# --- questions --------------------------------------------------------------------------------------------------------


op("np.isclose", "a: array, b: array, rtol, atol, equal_nan", nondiff=True)
op("np.allclose", "a: array, b: array, rtol, atol, equal_nan", nondiff=True)
op("np.array_equal", "a1: array, a2: array, equal_nan", nondiff=True)

# --- what may be computed again -------------------------------------------------------------------------------------

repeatable(0.4, WHERE)

# --- traits ---------------------------------------------------------------------------------------------------------

mark("chooses", WHERE, SELECT)
mark("real", WHERE, SELECT)
mark("product", PRODUCT)
mark("quotient", QUOTIENT, RATIO, OVER)
