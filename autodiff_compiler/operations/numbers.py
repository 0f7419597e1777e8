"""Functions of Python's numbers: `math`, built-in functions, casts."""

from __future__ import annotations

import builtins
import cmath
from collections.abc import Callable
from typing import Any

from .. import runtime
from ..ir.core import Builder, type_of
from ..ir.opset import gives, mark
from ..ir.types import ANY, PY_BOOL, PY_COMPLEX, PY_FLOAT, Ty, generic, join, py_int
from ..pristine import math, np
from . import lib, roots
from .lib import NEVER, WEIGHTS, call, choose, guarded, is_scalar
from .record import are_floats, elementwise, op, passes_on, vjp

# --- math -------------------------------------------------------------------------------------------------------------


op(math.log, "x, base", name="math.log", infer=gives(PY_FLOAT))


@vjp(math.log, "x", symmetric=True)
def _math_log(g: Any, out: Any, x: Any, base: Any = None) -> Any:
    if base is None:
        return guarded(g, lambda x: lib.steep(g / x), (x,))
    return guarded(g, lambda x, base: lib.steep(g / (x * call(math.log, base))), (x, base))


@vjp(math.log, "base", symmetric=True)
def _math_log_base(g: Any, out: Any, x: Any, base: Any) -> Any:
    return -(g * out / (base * call(math.log, base)))


op(math.hypot, "*coordinates", name="math.hypot", infer=gives(PY_FLOAT))


@vjp(math.hypot, "*coordinates")
def _math_hypot(g: Any, out: Any, *coordinates: Any) -> Any:
    rest = roots.without(g, out)
    return tuple([g * roots.over(x, out) if rest is None else rest * x for x in coordinates])


op(math.fsum, "seq", name="math.fsum", infer=gives(PY_FLOAT))


@vjp(math.fsum, "seq", linear=True)
def _math_fsum(g: Any, out: Any, seq: Any) -> Any:
    return lib.spread(g, seq)


def _sum_type(b: Builder, start: Any, *numbers: Any) -> Ty:
    types = [type_of(x) for x in (start, *numbers)]
    if all(t.kind == "py" for t in types):
        return PY_FLOAT if any(t.is_float for t in types) else ANY
    found = {t.dtype for t in types if t.is_float}
    return Ty("scalar", found.pop() if len(found) == 1 else None, (), real=not found)


op(runtime.sum_numbers, "start, *numbers", type=_sum_type)
op(runtime.mean_of_numbers, "*numbers", type=lambda b, *numbers: _sum_type(b, *numbers))
op(runtime.sum_floats, "start, floats: array", infer=gives(PY_FLOAT))


@vjp(runtime.sum_numbers, "start")
@vjp(runtime.sum_floats, "start")
def _sum_start(g: Any, out: Any, *args: Any) -> Any:
    return g


@vjp(runtime.sum_numbers, "*numbers")
def _sum_numbers(g: Any, out: Any, start: Any, *numbers: Any) -> Any:
    return (g,) * len(numbers)


@vjp(runtime.mean_of_numbers, "*numbers")
def _mean_of_numbers(g: Any, out: Any, *numbers: Any) -> Any:
    return (g / len(numbers),) * len(numbers)


def _product_of_numbers(g: Any, out: Any, *numbers: Any) -> Any:
    count = len(numbers) // 2
    return tuple([g * x for x in (*numbers[count:], *numbers[:count])])


if hasattr(math, "sumprod"):  # Python 3.12
    op(runtime.product_of_numbers, "*numbers", type=lambda b, *numbers: _sum_type(b, *numbers))
    vjp(runtime.product_of_numbers, "*numbers")(_product_of_numbers)


@vjp(runtime.sum_floats, "floats")
def _sum_floats(g: Any, out: Any, start: Any, floats: Any) -> Any:
    return lib.spread(g, floats)


for _fn in (math.floor, math.ceil, math.trunc):
    op(_fn, "x", name=f"math.{_fn.__name__}", infer=gives(py_int()), nondiff=True)

_WHOLE: list[tuple[Any, str]] = [
    (math.factorial, "x"), (math.comb, "n, k"), (math.perm, "n, k"), (math.isqrt, "n"), (math.gcd, "*integers"),
    (math.lcm, "*integers"),
]  # fmt: skip
for _whole, _params in _WHOLE:
    op(_whole, _params, name=f"math.{_whole.__name__}", infer=gives(py_int()), nondiff=True)


for _test in (math.isnan, math.isinf, math.isfinite):
    op(_test, "x", name=f"math.{_test.__name__}", infer=gives(PY_BOOL), nondiff=True)
op(math.isclose, "a, b", name="math.isclose", infer=gives(PY_BOOL), nondiff=True)

# --- cmath ----------------------------------------------------------------------------------------------------------

# Partials by the result lie on the branch that the function has chosen, also on a cut and for a real argument.
_COMPLEX: list[tuple[Any, Any, Any]] = [
    (cmath.exp, lambda out, z: out, NEVER),
    (cmath.sqrt, lambda out, z: 0.5 / out, WEIGHTS),
    (cmath.log10, lambda out, z: 1 / (math.log(10.0) * z), NEVER),
    (cmath.sin, lambda out, z: call(cmath.cos, z), NEVER),
    (cmath.cos, lambda out, z: -call(cmath.sin, z), NEVER),
    (cmath.tan, lambda out, z: 1 + out * out, NEVER),
    (cmath.asin, lambda out, z: 1 / call(cmath.cos, out), WEIGHTS),
    (cmath.acos, lambda out, z: -1 / call(cmath.sin, out), WEIGHTS),
    (cmath.atan, lambda out, z: 1 / (1 + z * z), NEVER),
    (cmath.sinh, lambda out, z: call(cmath.cosh, z), NEVER),
    (cmath.cosh, lambda out, z: call(cmath.sinh, z), NEVER),
    (cmath.tanh, lambda out, z: 1 - out * out, NEVER),
    (cmath.asinh, lambda out, z: 1 / call(cmath.cosh, out), WEIGHTS),
    (cmath.acosh, lambda out, z: 1 / call(cmath.sinh, out), WEIGHTS),
    (cmath.atanh, lambda out, z: 1 / (1 - z * z), NEVER),
]
for _fn, _partial, _singular in _COMPLEX:
    op(_fn, "z", name=f"cmath.{_fn.__name__}", infer=gives(PY_COMPLEX))
    elementwise(_fn, _partial, singular=_singular)

op(cmath.log, "z, base", name="cmath.log", infer=gives(PY_COMPLEX))
elementwise(
    cmath.log,
    lambda out, z, base=None: 1 / z if base is None else 1 / (z * call(cmath.log, base)),
    lambda out, z, base: -out / (base * call(cmath.log, base)),
)

op(cmath.phase, "z", name="cmath.phase", infer=gives(PY_FLOAT))


@vjp(cmath.phase, "z")
def _phase(g: Any, out: Any, z: Any) -> Any:
    return guarded(g, lambda z: g * -1j / z, (z,), WEIGHTS) if lib.may_be_complex(z) else None


for _test in (cmath.isnan, cmath.isinf, cmath.isfinite):
    op(_test, "z", name=f"cmath.{_test.__name__}", infer=gives(PY_BOOL), nondiff=True)
op(cmath.isclose, "a, b", name="cmath.isclose", infer=gives(PY_BOOL), nondiff=True)

# --- casts ------------------------------------------------------------------------------------------------------------


def _cast_type(dtype: Any) -> Any:
    def infer(b: Builder, x: Any) -> Ty:
        t = type_of(x)
        if t.is_scalar:
            return generic(dtype)
        if t.kind == "array" and t.dims == ():
            return generic(dtype)
        if t.kind == "array" and t.dims is not None and any(map(b.dims.not_one, t.dims)):
            return Ty("array", np.dtype(dtype), t.dims)
        # Before NumPy 2.4, a scalar is made of an array of one element, whatever its shape.
        return Ty("any", np.dtype(dtype), None)

    return infer


FLOATING_CASTS = (np.float64, np.float32, np.float16, np.complex128, np.complex64)
for _type in FLOATING_CASTS:
    _cast = op(_type, "x", name=f"np.{np.dtype(_type).name}", type=_cast_type(_type), total=are_floats, alias="maybe")
    passes_on(_cast, "x", linear=True)


INTEGER_CASTS = (
    np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint16, np.uint8, np.bool_,
)  # fmt: skip
for _kind in INTEGER_CASTS:
    op(_kind, "x", name=f"np.{np.dtype(_kind).name}", type=_cast_type(_kind), alias="maybe", nondiff=True)
op(int, "x", infer=gives(py_int()), nondiff=True)
passes_on(op(float, "x", infer=gives(PY_FLOAT), total=are_floats), "x", linear=True)
op(complex, "real, imag", infer=gives(PY_COMPLEX))
passes_on(complex, "real", linear="real, imag")


mark("plain", int, float, complex, *FLOATING_CASTS, *INTEGER_CASTS)


@vjp(complex, "imag")
def _complex_imag(g: Any, out: Any, real: Any = 0, imag: Any = 0) -> Any:
    return 1j * g


# --- built-in functions -----------------------------------------------------------------------------------------------


def _extreme_type(b: Builder, *args: Any) -> Ty:
    types = [type_of(a) for a in args]
    if len(args) < 2 or not all(t.is_scalar for t in types):
        return ANY
    found = types[0]
    for t in types[1:]:
        found = join(found, t, b.dims)
    return Ty(found.kind, found.dtype, ())


def _total_extreme(b: Builder, *args: Any) -> bool:
    types = [type_of(a) for a in args]
    return len(args) > 1 and all(t.is_scalar and t.dtype is not None and t.dtype.kind in "bif" for t in types)


for _choice in (builtins.max, builtins.min):
    op(_choice, "*args", type=_extreme_type, total=_total_extreme, alias="maybe")


def _extreme(larger: bool) -> Fn:
    def rule(g: Any, out: Any, *args: Any) -> Any:
        if len(args) < 2 or not is_scalar(*args):
            raise lib.unsupported(
                "min and max have a derivative rule for two or more numbers", "use np.min or np.max for arrays"
            )
        bars: list[Any] = []
        for wins in reversed(_chosen(args, larger)):
            bars.append(choose(wins, g, 0.0))
            g = choose(wins, 0.0, g)
        return (g, *reversed(bars))

    return rule


Fn = Callable[..., Any]


def _chosen(args: tuple[Any, ...], larger: bool) -> list[Any]:
    """For every operand but the first, whether Python's max (min) prefers it to those before it."""
    best, better = args[0], []
    for x in args[1:]:
        wins = x > best if larger else x < best
        better.append(wins)
        best = choose(wins, x, best)
    return better


vjp(builtins.max, "*args")(_extreme(True))
vjp(builtins.min, "*args")(_extreme(False))


def _round_type(b: Builder, number: Any, ndigits: Any = None, /) -> Ty:
    t = type_of(number)
    if t.kind != "py" or t.dtype is None or t.dtype.kind not in "bif":
        return ANY
    if ndigits is None:
        return py_int()
    return Ty("py", t.dtype if t.dtype.kind == "f" else np.dtype(np.int64), ())


op(builtins.round, "number, ndigits", type=_round_type, nondiff=True)

# --- traits ---------------------------------------------------------------------------------------------------------

mark("steady", math.log, float)
mark("logarithm", math.log)
