"""Partial derivatives of elementwise operations: Python's operators, NumPy's ufuncs, the functions of `math`.

At kinks the choices are: ``abs`` has derivative 0 at 0; ``maximum`` and ``minimum`` split equally between equal
operands; ``clip`` passes the cotangent at its bounds. Complex derivatives follow the convention of docs/semantics.md:
a holomorphic function multiplies by its derivative.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.numpy_ops import CASTS, SELECT
from ..ir.opset import ABS
from . import lib, roots
from .lib import (
    CHOICES,
    STEP,
    SUBSCRIPTS,
    WEIGHTS,
    call,
    choose,
    conj,
    equal,
    guarded,
    is_constant,
    is_scalar,
    masked,
)
from .record import Over, Overflowing, constant_in, elementwise, nondiff, vjp

LOG2, LOG10 = math.log(2.0), math.log(10.0)

# --- arithmetic -------------------------------------------------------------------------------------------------------

elementwise((operator.add, np.add), 1, 1)
elementwise((operator.sub, np.subtract), 1, -1)
elementwise((operator.mul, np.multiply), lambda out, x, y: y, lambda out, x, y: x, singular=CHOICES)
elementwise((operator.neg, np.negative), -1)
elementwise((operator.pos, np.positive), 1)
elementwise((operator.truediv, np.true_divide), Over(lambda out, x, y: y), ..., singular=SUBSCRIPTS)


@vjp((operator.truediv, np.true_divide), "x2")
def _divide_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    if roots.decays(g, out):
        return -(roots.over(g, y) * roots.over(x, y))
    return guarded(g, lambda out, y: -((g / y) * out), (out, y))  # g / y is the cotangent of x, too


# Python's and NumPy's ``x - floor(x / y) * y``, and fmod with trunc.
elementwise((operator.mod, np.remainder), 1, lambda out, x, y: -np.floor_divide(x, y))
elementwise(np.fmod, 1, lambda out, x, y: -np.trunc(x / y))
nondiff((operator.floordiv, np.floor_divide))


def _power_x(out: Any, x: Any, n: Any) -> Any:
    if is_constant(n):
        if n == 2:
            return 2 * x
        if n == 1:
            return 1.0
        if n == 0:
            return 0.0
        if n == 0.5:
            return 0.5 / out
        if n == -1:
            return -(out * out)
        return n * x ** (n - 1)
    # A zero exponent has derivative 0, also where x is 0 and the power of -1 infinite. Elsewhere the power stays: it is
    # what depends on n in the second order.
    return n * x ** choose(equal(n, 0) & equal(x, 0), 1, _one_less(n))


def _one_less(n: Any) -> Any:
    kind = lib.dtype(n)
    narrow = kind is not None and (kind.kind in "bu" or kind.kind == "i" and kind.itemsize < 8)
    return lib.floats(n) - 1 if narrow else n - 1


def _power_n(out: Any, x: Any, n: Any) -> Any:
    # The derivative of 0 ** n is 0 for the exponents at which it exists.
    if is_constant(x):
        return math.log(x) * out if x > 0 else np.log(choose(equal(out, 0), 1.0, x * 1.0)) * out
    return np.log(choose(equal(x, 0), 1.0, x)) * out


_POWERS = (operator.pow, np.power, np.float_power, builtins.pow)
elementwise(_POWERS, ..., _power_n, singular=WEIGHTS)


def _power_rule(g: Any, out: Any, x: Any, n: Any) -> Any:
    if not is_constant(n):
        kind = lib.dtype(n)
        if kind is not None and kind.kind == "f":
            return roots.product(g, (x, n), (out, x, n), _power_x)
        return guarded(g, lambda out, x, n: g * _power_x(out, x, n), (out, x, n), WEIGHTS)
    if n < 0 and roots.decays(g, out):
        return roots.over(g * n, x ** (1 - n))
    if n >= 1 or n <= 0:
        level = CHOICES if n >= 0 else WEIGHTS
        return guarded(g, lambda out, x: g * _power_x(out, x, n), (out, x), level)
    if n == 0.5:
        return roots.quotient(g, x, (out,), lambda out: g * (0.5 / out), 0.5, lambda out: out, root=out)
    return roots.quotient(g, x, (x,), lambda x: g * (n * x ** (n - 1)), n, lambda x: x ** (1 - n))


vjp((operator.pow, np.power, np.float_power), "x1")(_power_rule)
vjp(builtins.pow, "base")(_power_rule)

elementwise((np.square,), lambda out, x: 2 * x, singular=CHOICES)


elementwise((np.sqrt, math.sqrt), ..., singular=WEIGHTS)


@vjp((np.sqrt, math.sqrt), "x")
def _sqrt(g: Any, out: Any, x: Any) -> Any:
    return roots.quotient(g, x, (out,), lambda out: g * (0.5 / out), 0.5, lambda out: out, root=out)


_CUBE_ROOTS = [np.cbrt, *([math.cbrt] if hasattr(math, "cbrt") else [])]  # Python 3.11
elementwise(_CUBE_ROOTS, Over(lambda out, x: 3 * (out * out)), singular=WEIGHTS)
elementwise(np.reciprocal, ..., singular=SUBSCRIPTS)


@vjp(np.reciprocal, "x")
def _reciprocal(g: Any, out: Any, x: Any) -> Any:
    if roots.decays(g, out):
        return roots.over(-g, x * x)
    return guarded(g, lambda out: g * -(out * out), (out,))


# --- exponentials, logarithms, trigonometry ---------------------------------------------------------------------------

Fn = Callable[..., Any]


def _in(module: Any, name: str) -> Fn:
    """A function of NumPy or of `math` that also takes IR values."""
    fn = getattr(module, name)
    return fn if module is np else lambda x: call(fn, x)


def _enter_smooth(module: Any) -> None:
    """The functions that NumPy and `math` share. Partials call the same module: `math` is faster on Python floats."""
    exp, sin, cos, sinh, cosh, sqrt = (_in(module, name) for name in ("exp", "sin", "cos", "sinh", "cosh", "sqrt"))
    arc = "arc" if module is np else "a"

    def fn(name: str) -> Any:
        return getattr(module, name)

    def exponential(fn: Any, partial: Fn) -> None:
        elementwise(fn, Overflowing(partial) if module is np else partial)  # those of `math` raise OverflowError

    exponential(fn("exp"), lambda out, x: out)
    exponential(fn("expm1"), lambda out, x: exp(x))
    elementwise(fn("sin"), lambda out, x: cos(x))
    elementwise(fn("cos"), lambda out, x: -sin(x))
    elementwise(fn("tan"), lambda out, x: 1 + out * out)
    exponential(fn("sinh"), lambda out, x: cosh(x))
    elementwise(fn("cosh"), lambda out, x: sinh(x), singular=CHOICES)
    elementwise(fn("tanh"), lambda out, x: 1 - out * out)
    elementwise(fn("log1p"), Over(lambda out, x: 1 + x, steep=True), singular=SUBSCRIPTS)
    elementwise(fn("log2"), Over(lambda out, x: LOG2 * x, steep=True), singular=SUBSCRIPTS)
    elementwise(fn("log10"), Over(lambda out, x: LOG10 * x, steep=True), singular=SUBSCRIPTS)
    elementwise(fn(arc + "sin"), Over(lambda out, x: sqrt((1 - x) * (1 + x))), singular=WEIGHTS)
    elementwise(fn(arc + "cos"), Over(lambda out, x: sqrt((1 - x) * (1 + x)), negative=True), singular=WEIGHTS)
    elementwise(fn(arc + "tan"), Over(lambda out, x: 1 + x * x))
    elementwise(fn(arc + "sinh"), Over(lambda out, x: sqrt(x * x + 1)))
    # Two roots, not the root of x * x - 1, which is on the wrong branch for complex x.
    elementwise(fn(arc + "cosh"), Over(lambda out, x: sqrt(x - 1) * sqrt(x + 1), safe=1.5), singular=WEIGHTS)
    elementwise(fn(arc + "tanh"), Over(lambda out, x: (1 - x) * (1 + x)), singular=SUBSCRIPTS)
    if module is np or hasattr(module, "exp2"):
        exponential(fn("exp2"), lambda out, x: LOG2 * out)


_enter_smooth(np)
_enter_smooth(math)

elementwise(np.log, Over(lambda out, x: x, steep=True), singular=SUBSCRIPTS)
elementwise((np.deg2rad, np.radians, math.radians), lambda out, x: math.pi / 180)
elementwise((np.rad2deg, np.degrees, math.degrees), lambda out, x: 180 / math.pi)


# --- absolute values, extremes, angles --------------------------------------------------------------------------------


def _sign(x: Any) -> Any:
    """The sign of a real number; for complex ones the conjugate of ``x / abs(x)``."""
    if lib.symbolic(x) and is_scalar(x) and not lib.may_be_complex(x):
        return (x > 0) * 1.0 - (x < 0) * 1.0
    return np.conjugate(np.sign(x)) if lib.may_be_complex(x) else np.sign(x)


elementwise((ABS, np.absolute, math.fabs, np.fabs), ...)


@vjp((ABS, np.absolute, math.fabs, np.fabs), "x")
def _absolute(g: Any, out: Any, x: Any) -> Any:
    rest = roots.without(g, out)
    return g * _sign(x) if rest is None else rest * conj(x)


def _ahead(x: Any, y: Any) -> Any:
    """1 where x > y, 0 where x < y, a half where they are equal; in the dtype of the operands."""
    if is_scalar(x, y) or lib.may_be_complex(x, y):  # complex numbers are compared by their real parts first
        return (x > y) + 0.5 * equal(x, y)
    difference = x if is_constant(y) and y == 0 else y if is_constant(x) and x == 0 else x - y
    half = -0.5 if is_constant(x) and x == 0 and not is_constant(y) else 0.5
    return half * np.sign(difference) + 0.5


elementwise(np.maximum, lambda out, x, y: _ahead(x, y), lambda out, x, y: _ahead(y, x), singular=STEP)
elementwise(np.minimum, lambda out, x, y: _ahead(y, x), lambda out, x, y: _ahead(x, y), singular=STEP)


def _present(x: Any, y: Any, share: Any) -> Any:
    """The part of `x` in an extreme of two that leaves out nan."""
    return choose(np.isnan(y), 1.0, choose(np.isnan(x), 0.0, share))


elementwise(
    np.fmax,
    lambda out, x, y: _present(x, y, _ahead(x, y)),
    lambda out, x, y: _present(y, x, _ahead(y, x)),
    singular=STEP,
)
elementwise(
    np.fmin,
    lambda out, x, y: _present(x, y, _ahead(y, x)),
    lambda out, x, y: _present(y, x, _ahead(x, y)),
    singular=STEP,
)


elementwise(np.hypot, ..., ...)


@vjp(np.hypot, "x1")
def _hypot_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    # At the origin, where hypot has a kink, the derivative is 0.
    rest = roots.without(g, out)
    return g * (x / lib.nonzero(out)) if rest is None else rest * x


@vjp(np.hypot, "x2")
def _hypot_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return _hypot_x(g, out, y, x)


def _arctan2_x(out: Any, x: Any, y: Any) -> Any:
    x, y = lib.floats(x), lib.floats(y)
    return y / (x * x + y * y)


def _arctan2_y(out: Any, x: Any, y: Any) -> Any:
    x, y = lib.floats(x), lib.floats(y)
    return -x / (x * x + y * y)


elementwise((np.arctan2, math.atan2), _arctan2_x, _arctan2_y, singular=WEIGHTS)
elementwise(np.logaddexp, lambda out, x, y: np.exp(x - out), lambda out, x, y: np.exp(y - out))
elementwise(np.logaddexp2, lambda out, x, y: np.exp2(x - out), lambda out, x, y: np.exp2(y - out))
elementwise(np.copysign, lambda out, x, y: np.sign(x) * np.copysign(1.0, y), None)
elementwise(math.copysign, lambda out, x, y: _sign(x) * call(math.copysign, 1.0, y), None)
elementwise(np.heaviside, None, lambda out, x, y: equal(x, 0))
elementwise(np.ldexp, lambda out, x, n: np.exp2(n * 1.0), None)

# --- complex numbers --------------------------------------------------------------------------------------------------


@vjp(np.conjugate, "x")
def _conjugate(g: Any, out: Any, x: Any) -> Any:
    return conj(g) if lib.may_be_complex(x) else g


@vjp(np.real, "val")
def _real(g: Any, out: Any, val: Any) -> Any:
    return g


@vjp(np.imag, "val")
def _imag(g: Any, out: Any, val: Any) -> Any:
    return -1j * g if lib.may_be_complex(val) else None


@vjp(np.angle, "z")
def _angle(g: Any, out: Any, z: Any, deg: Any = False) -> Any:
    if not lib.may_be_complex(z):
        return None
    if not isinstance(deg, bool):
        raise lib.unsupported("the derivative of np.angle needs a constant for `deg`")
    return guarded(g, lambda z: (g * (180 / math.pi) if deg else g) * -1j / z, (z,), WEIGHTS)


@vjp(np.sign, "x")
def _sign_rule(g: Any, out: Any, x: Any) -> Any:
    if not lib.may_be_complex(x):
        return None
    # out = x / |x| is not holomorphic: the cotangent splits into a part along x and one along its conjugate.
    size = lib.nonzero(np.absolute(x))
    tangent = g - conj(g) * conj(out) * conj(out)
    return choose(equal(x, 0), 0.0, 0.5 * tangent / size)


@vjp(complex, "real")
def _complex_real(g: Any, out: Any, real: Any = 0, imag: Any = 0) -> Any:
    return g


@vjp(complex, "imag")
def _complex_imag(g: Any, out: Any, real: Any = 0, imag: Any = 0) -> Any:
    return 1j * g


# --- math -------------------------------------------------------------------------------------------------------------

elementwise(math.pow, _power_x, lambda out, x, n: call(math.log, choose(equal(x, 0), 1.0, x)) * out, singular=WEIGHTS)
elementwise(math.fmod, 1, lambda out, x, y: -np.trunc(x / y))
elementwise(math.remainder, 1, lambda out, x, y: -np.rint(x / y))


@vjp(math.log, "x")
def _math_log(g: Any, out: Any, x: Any, base: Any = None) -> Any:
    if base is None:
        return guarded(g, lambda x: lib.steep(g / x), (x,))
    return guarded(g, lambda x, base: lib.steep(g / (x * call(math.log, base))), (x, base))


@vjp(math.log, "base")
def _math_log_base(g: Any, out: Any, x: Any, base: Any) -> Any:
    return -(g * out / (base * call(math.log, base)))


@vjp(math.hypot, "*coordinates")
def _math_hypot(g: Any, out: Any, *coordinates: Any) -> Any:
    rest = roots.without(g, out)
    scaled = g / lib.nonzero(out) if rest is None else rest
    return tuple([scaled * x for x in coordinates])


@vjp(math.fsum, "seq")
def _math_fsum(g: Any, out: Any, seq: Any) -> Any:
    return lib.spread(g, seq)


# --- choices ----------------------------------------------------------------------------------------------------------


@vjp(np.where, "x")
def _where_x(g: Any, out: Any, condition: Any, x: Any, y: Any) -> Any:
    return masked(g, lib.truth(condition))


@vjp(np.where, "y")
def _where_y(g: Any, out: Any, condition: Any, x: Any, y: Any) -> Any:
    return masked(g, lib.invert(lib.truth(condition)))


@vjp(SELECT, "x")
def _select_x(g: Any, out: Any, cond: Any, x: Any, y: Any) -> Any:
    return choose(cond, g, 0.0)


@vjp(SELECT, "y")
def _select_y(g: Any, out: Any, cond: Any, x: Any, y: Any) -> Any:
    return choose(cond, 0.0, g)


constant_in(np.where, "condition")
constant_in(SELECT, "cond")


def _bounds(a_min: Any, a_max: Any, keywords: dict[str, Any]) -> tuple[Any, Any]:
    low, high = keywords.pop("min", a_min), keywords.pop("max", a_max)
    if keywords:
        raise lib.unsupported(
            f"the derivative rule of np.clip does not know the keyword {next(iter(keywords))!r}", "use np.where"
        )
    return low, high


@vjp(np.clip, "a")
def _clip(g: Any, out: Any, a: Any, a_min: Any = None, a_max: Any = None, **keywords: Any) -> Any:
    low, high = _bounds(a_min, a_max, keywords)
    inside = None
    if low is not None:
        inside = np.greater_equal(a, low)
    if high is not None:
        below = np.less_equal(a, high)
        inside = below if inside is None else inside & below
    return g if inside is None else masked(g, inside)


def _clip_low(g: Any, out: Any, a: Any, a_min: Any = None, a_max: Any = None, **keywords: Any) -> Any:
    low, high = _bounds(a_min, a_max, keywords)
    below = np.less(a, low)
    return masked(g, below if high is None else below & np.less_equal(low, high))


def _clip_high(g: Any, out: Any, a: Any, a_min: Any = None, a_max: Any = None, **keywords: Any) -> Any:
    low, high = _bounds(a_min, a_max, keywords)
    above = np.greater(a, high)
    return masked(g, above if low is None else above | np.greater(low, high))


for _arg in ("a_min", "min"):
    vjp(np.clip, _arg)(_clip_low)
for _arg in ("a_max", "max"):
    vjp(np.clip, _arg)(_clip_high)


def _chosen(args: tuple[Any, ...], larger: bool) -> list[Any]:
    """For every operand but the first, whether Python's max (min) prefers it to those before it."""
    best, better = args[0], []
    for x in args[1:]:
        wins = x > best if larger else x < best
        better.append(wins)
        best = choose(wins, x, best)
    return better


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


vjp(builtins.max, "*args")(_extreme(True))
vjp(builtins.min, "*args")(_extreme(False))

# --- casts ------------------------------------------------------------------------------------------------------------


def _identity(g: Any, out: Any, x: Any) -> Any:
    return g


vjp(float, "x")(_identity)
for _type, _prim in CASTS.items():
    if np.dtype(_type).kind in "fc":
        vjp(_prim, "x")(_identity)
    else:
        nondiff(_prim)

# --- no derivative ----------------------------------------------------------------------------------------------------

nondiff((operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne))
nondiff((np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal))
nondiff((operator.and_, operator.or_, operator.xor, operator.invert, operator.lshift, operator.rshift))
nondiff((np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift))
nondiff((np.logical_not, np.logical_and, np.logical_or, np.logical_xor, np.gcd, np.lcm))
nondiff((np.floor, np.ceil, np.trunc, np.rint, np.round, np.fix, builtins.round, int))
nondiff((np.isnan, np.isinf, np.isfinite, np.signbit, np.spacing, np.isclose, np.allclose, np.array_equal))
nondiff(
    (
        np.iscomplexobj,
        np.isscalar,
        math.floor,
        math.ceil,
        math.trunc,
        math.isnan,
        math.isinf,
        math.isfinite,
        math.isclose,
    )
)
nondiff((bool, operator.not_, operator.is_, operator.is_not, operator.contains))


@vjp(np.modf, "x")
def _modf(g: Any, out: Any, x: Any) -> Any:
    return g[0]


@vjp(np.frexp, "x")
def _frexp(g: Any, out: Any, x: Any) -> Any:
    return None if g[0] is None else np.ldexp(g[0], -out[1])  # the mantissa is x / 2**exponent


@vjp(np.divmod, "x1")
def _divmod_x(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return g[1]


@vjp(np.divmod, "x2")
def _divmod_y(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return None if g[1] is None else -(g[1] * out[0])
