"""NumPy's ufuncs, the functions of `math`, and Python's builtins on numbers as primitives.

Importing this module enters every table.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from .. import runtime
from . import ops_fourier, ops_linalg, ops_make, ops_nn, ops_picking, ops_reduce, ops_shape
from .core import Builder, Prim, type_of
from .infer import cannot_raise, infer_ufunc
from .opset import PRIMS, dim_of
from .types import ANY, PY_BOOL, PY_COMPLEX, PY_FLOAT, Ty, array, generic, join, py_int, same_dtype

# --- ufuncs -----------------------------------------------------------------------------------------------------------

UNARY = [
    "negative",
    "positive",
    "absolute",
    "fabs",
    "sign",
    "sqrt",
    "square",
    "cbrt",
    "reciprocal",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "deg2rad",
    "rad2deg",
    "degrees",
    "radians",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "logical_not",
    "invert",
    "conjugate",
    "spacing",
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "true_divide",
    "floor_divide",
    "power",
    "float_power",
    "remainder",
    "fmod",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "arctan2",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "copysign",
    "nextafter",
    "heaviside",
    "ldexp",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "equal",
    "not_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
    "gcd",
    "lcm",
]
_PRINTED = {"true_divide": "divide", "conjugate": "conj", "absolute": "abs"}


def _total_ufunc(ufunc: Any) -> Any:
    def total(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        return not kwargs and cannot_raise(ufunc, [type_of(a) for a in args])

    return total


def ufunc_prim(name: str, params: str) -> Prim:
    ufunc = getattr(np, name)
    prim = Prim(
        "np." + _PRINTED.get(name, name), ufunc, infer_ufunc(ufunc), tuple(params.split()), elementwise=True,
        total=_total_ufunc(ufunc), nout=ufunc.nout,
    )  # fmt: skip
    PRIMS[ufunc] = prim
    return prim


for _name in UNARY:
    ufunc_prim(_name, "x")
for _name in BINARY:
    ufunc_prim(_name, "x1 x2")
for _name in ("divmod", "modf", "frexp"):
    ufunc_prim(_name, "x1 x2" if _name == "divmod" else "x")


def _infer_angle(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    t = type_of(args[0])
    plain = len(args) == 1 or (len(args) == 2 and isinstance(args[1], bool))
    if not plain or kwargs or not t.is_float or t.kind not in ("array", "generic"):
        return ANY
    dtype = np.empty(0, t.dtype).real.dtype
    return generic(dtype) if t.dims == () else Ty("array" if t.dims else "any", dtype, t.dims)


def _infer_sinc(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    t = type_of(args[0])
    if t.dtype not in (np.float32, np.float64) or t.kind != "array":
        return ANY
    return Ty("any" if not t.dims else "array", t.dtype, t.dims)


PRIMS[np.angle] = Prim("np.angle", np.angle, _infer_angle, ("z", "deg"), elementwise=True)
PRIMS[np.sinc] = Prim("np.sinc", np.sinc, _infer_sinc, ("x",), elementwise=True)

# --- math -------------------------------------------------------------------------------------------------------------

MATH_UNARY = [
    "sqrt",
    "exp",
    "expm1",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "fabs",
    "degrees",
    "radians",
    "erf",
    "erfc",
    "gamma",
    "lgamma",
]
MATH_NEWER = ("cbrt", "exp2")  # Python 3.11
MATH_BINARY = ["atan2", "pow", "fmod", "copysign", "remainder"]
_MATH_TOTAL = {"atan", "tanh", "asinh", "fabs", "degrees", "radians", "erf", "erfc"}


def _infer_float(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    return PY_FLOAT


def _infer_int(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    return py_int()


def _infer_bool(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    return PY_BOOL


def _is_float(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    types = [type_of(a) for a in args]
    return all(t.is_scalar and t.dtype is not None and t.dtype.kind == "f" for t in types)


def math_prim(name: str, params: str, infer: Any = _infer_float) -> Prim:
    fn = getattr(math, name)
    prim = Prim(
        "math." + name, fn, infer, tuple(params.split()), total=_is_float if name in _MATH_TOTAL else None
    )  # fmt: skip
    PRIMS[fn] = prim
    return prim


for _name in MATH_UNARY:
    math_prim(_name, "x")
for _name in MATH_NEWER:
    if hasattr(math, _name):
        math_prim(_name, "x")
for _name in MATH_BINARY:
    math_prim(_name, "x y")
math_prim("log", "x base")
math_prim("hypot", "*coordinates")
math_prim("fsum", "seq")
for _name in ("floor", "ceil", "trunc"):
    math_prim(_name, "x", _infer_int)
for _name in ("isnan", "isinf", "isfinite"):
    math_prim(_name, "x", _infer_bool)
math_prim("isclose", "a b", _infer_bool)

# --- casts and builtins on numbers ------------------------------------------------------------------------------------


def _infer_numpy_cast(dtype: Any) -> Any:
    def infer(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
        if len(args) != 1 or kwargs:
            return ANY
        t = type_of(args[0])
        if t.is_scalar:
            return generic(dtype)
        if t.kind == "array" and t.dims == ():
            return generic(dtype)
        if t.kind == "array" and t.dims is not None and any(map(b.dims.not_one, t.dims)):
            return Ty("array", np.dtype(dtype), t.dims)
        # Before NumPy 2.4, a scalar is made of an array of one element, whatever its shape.
        return Ty("any", np.dtype(dtype), None)

    return infer


CASTS: dict[Any, Prim] = {}
for _type in (
    np.float64, np.float32, np.float16, np.complex128, np.complex64, np.int64, np.int32, np.int16, np.int8,
    np.uint64, np.uint32, np.uint16, np.uint8, np.bool_,
):  # fmt: skip
    PRIMS[_type] = CASTS[_type] = Prim(
        "np." + np.dtype(_type).name, _type, _infer_numpy_cast(_type), ("x",), alias="maybe"
    )

FLOAT = PRIMS[float] = Prim("float", float, _infer_float, ("x",), total=_is_float)
INT = PRIMS[int] = Prim("int", int, _infer_int, ("x",))
COMPLEX = PRIMS[complex] = Prim("complex", complex, lambda b, a, k: PY_COMPLEX, ("real", "imag"))


def _infer_extreme(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    types = [type_of(a) for a in args]
    if len(args) < 2 or kwargs or not all(t.is_scalar for t in types):
        return ANY
    found = types[0]
    for t in types[1:]:
        found = join(found, t, b.dims)
    return Ty(found.kind, found.dtype, ())


def _total_extreme(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    types = [type_of(a) for a in args]
    return (
        len(args) > 1
        and not kwargs
        and all(t.is_scalar and t.dtype is not None and t.dtype.kind in "bif" for t in types)
    )


PY_MAX = PRIMS[builtins.max] = Prim(
    "max", builtins.max, _infer_extreme, ("*args",), alias="maybe", total=_total_extreme
)
PY_MIN = PRIMS[builtins.min] = Prim(
    "min", builtins.min, _infer_extreme, ("*args",), alias="maybe", total=_total_extreme
)


def _infer_round(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    t = type_of(args[0])
    if kwargs or t.kind != "py" or t.dtype is None or t.dtype.kind not in "bif":
        return ANY
    if len(args) == 1 or args[1] is None:
        return py_int()
    return Ty("py", t.dtype if t.dtype.kind == "f" else np.dtype(np.int64), ())


PRIMS[builtins.round] = Prim("round", builtins.round, _infer_round, ("number", "ndigits"))


def _infer_pow(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return infer_ufunc(np.power, operator=True)(b, args, kwargs) if len(args) == 2 and not kwargs else ANY


PRIMS[builtins.pow] = Prim("pow", builtins.pow, _infer_pow, ("base", "exp"), elementwise=True)
PRIMS[builtins.sum] = Prim("sum", builtins.sum, None, ("iterable", "start"))


# --- operations that only rules make ----------------------------------------------------------------------------------


def select(cond: Any, x: Any, y: Any) -> Any:
    """``x if cond else y``, both computed; for scalars, where np.where would make a 0-d array."""
    return x if cond else y


def _infer_select(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    return join(type_of(args[1]), type_of(args[2]), b.dims)


_TERNARY, _ATOM = 1, 13  # levels of precedence, as codegen counts them


def _print_select(printer: Any, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
    cond, x, y = args
    text = f"{printer.show(x, _TERNARY + 1)} if {printer.show(cond, _TERNARY + 1)} else {printer.show(y, _TERNARY)}"
    return text, _TERNARY


def _total_select(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return type_of(args[0]).is_scalar


# ``select(cond, x, y)``: Python's conditional expression on values that are both there already.
SELECT = PRIMS[select] = Prim(
    "select",
    select,
    _infer_select,
    ("cond", "x", "y"),
    alias="maybe",
    total=_total_select,
    template=_print_select,
)  # fmt: skip


def unstack(a: Any) -> list[Any]:
    """The items along the first axis as a list."""
    return list(a)


def _infer_unstack(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    t = type_of(args[0])
    if t.kind != "array" or not t.dims:
        return Ty("list", elem=ANY)
    return Ty("list", elem=generic(t.dtype) if len(t.dims) == 1 else Ty("array", t.dtype, t.dims[1:]))


def _print_unstack(printer: Any, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
    return f"list({printer.show(args[0])})", _ATOM


UNSTACK = PRIMS[unstack] = Prim("list", unstack, _infer_unstack, ("a",), alias="maybe", template=_print_unstack)


def _infer_scan(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    g, x = type_of(args[0]), type_of(args[1])
    if g.kind != "array":
        return ANY
    return Ty("array", g.dtype if same_dtype(g.dtype, x.dtype) else None, g.dims)


def _infer_shift(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    t = type_of(args[0])
    return t if t.kind == "array" else ANY


# The kernels of the rules for products and scans.
LINEAR_SCAN = PRIMS[runtime.linear_scan] = Prim("linear_scan", runtime.linear_scan, _infer_scan, ("g", "x", "axis"))
FLIP_SCAN = PRIMS[runtime.flip_scan] = Prim("flip_scan", runtime.flip_scan, _infer_scan, ("g", "x", "axis"))
SHIFT = PRIMS[runtime.shift] = Prim("shift", runtime.shift, _infer_shift, ("x", "axis", "fill", "step"))


# ``ratio(g, d)``: the quotient, zero where both are zero.
RATIO = PRIMS[runtime.ratio] = Prim(
    "ratio", runtime.ratio, infer_ufunc(np.true_divide, operator=True), ("g", "d"), elementwise=True
)
# ``over(g, d)``: the quotient, zero where `d` is.
OVER = PRIMS[runtime.over] = Prim(
    "over", runtime.over, infer_ufunc(np.true_divide, operator=True), ("g", "d"), elementwise=True
)
# ``product(g, p)``: the product, zero where `g` is.
PRODUCT = PRIMS[runtime.product] = Prim(
    "product", runtime.product, infer_ufunc(np.multiply, operator=True), ("g", "p"), elementwise=True
)


def _infer_embed(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    x, axis, _, length = args
    t = type_of(x)
    if t.kind != "array" or t.dims is None:
        return ANY
    return Ty("array", t.dtype, (*t.dims[:axis], dim_of(b, length), *t.dims[axis + 1 :]))


def _infer_overlap(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    g, other, _, length = args
    p, q = type_of(g), type_of(other)
    return Ty("array", p.dtype if same_dtype(p.dtype, q.dtype) else None, (dim_of(b, length),))


def _infer_bessel(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    t = type_of(args[1])
    if t.kind not in ("array", "generic") or not t.is_float or t.dims is None:
        return ANY
    return t if t.dims else generic(t.dtype)


def _infer_polygamma(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    return PY_FLOAT if type_of(args[1]).kind == "py" else _infer_bessel(b, args, kwargs)


def _infer_places(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    t = type_of(args[0])
    return array(np.dtype(np.intp), t.dims) if t.kind == "array" else ANY


for _kernel, _params, _infer in (
    (runtime.sorted_places, "keys", _infer_places),
    (runtime.place_of_max, "keys", lambda b, args, kwargs: py_int()),
    (runtime.place_of_min, "keys", lambda b, args, kwargs: py_int()),
    (runtime.embed, "x axis start length", _infer_embed),
    (runtime.overlap, "g other start length", _infer_overlap),
    (runtime.if_square, "g rows columns place", _infer_shift),
    (runtime.bessel_i, "n x", _infer_bessel),
    (runtime.polygamma, "n x", _infer_polygamma),
    (runtime.split_like, "g arrays axis", lambda b, args, kwargs: type_of(args[1])),
):
    PRIMS[_kernel] = Prim(_kernel.__name__, _kernel, _infer, tuple(_params.split()))

__all__ = ["ops_fourier", "ops_linalg", "ops_make", "ops_nn", "ops_picking", "ops_reduce", "ops_shape"]
