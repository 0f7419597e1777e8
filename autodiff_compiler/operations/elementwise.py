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

from .. import runtime
from ..ir.core import Builder, type_of
from ..ir.infer import infer_ufunc
from ..ir.ops_common import is_number, scalar_or_array
from ..ir.opset import ABS, PRIMS, mark, repeatable
from ..ir.types import ANY, PY_FLOAT, Ty, generic
from . import lib, roots, signs
from .batch_rules import batch, of_one_operand
from .lib import CHOICES, STEP, SUBSCRIPTS, WEIGHTS, call, choose, conj, equal, guarded, is_constant, is_scalar
from .record import Over, Overflowing, elementwise, jvp, nondiff, op, passes_on, vjp

LOG2, LOG10 = math.log(2.0), math.log(10.0)

# --- arithmetic -------------------------------------------------------------------------------------------------------

elementwise((operator.add, np.add), 1, 1)
elementwise((operator.sub, np.subtract), 1, -1)
elementwise((operator.mul, np.multiply), lambda out, x, y: y, lambda out, x, y: x, singular=CHOICES)
elementwise((operator.neg, np.negative), -1)
elementwise((operator.pos, np.positive), 1)
elementwise((operator.truediv, np.true_divide), ..., ..., singular=SUBSCRIPTS)


@vjp((operator.truediv, np.true_divide), "x1")
def _divide_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return guarded(g, lambda y: _divided(g, x, y, out), (y,))


@vjp((operator.truediv, np.true_divide), "x2")
def _divide_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    if roots.decays(g, out):
        return -(roots.over(g, y) * roots.over(x, y))
    return guarded(g, lambda out, y: -(_divided(g, x, y, out) * out), (out, y))  # g / y is the cotangent of x, too


@jvp((operator.truediv, np.true_divide), "x1", "x2")
def _divide_jvp(d: Any, out: Any, x: Any, y: Any) -> Any:
    return _divided(d[0] - d[1] * out, x, y, out)


def _divided(g: Any, x: Any, y: Any, out: Any) -> Any:
    """``g / y``: where NumPy has made the quotient `out` of `x` and `y`, Python must not raise here."""
    if lib.may_raise(g, y) and not (lib.may_be_python(out) and lib.may_be_python(x)):
        if lib.may_have_no_elements(y) or lib.chosen(y) or (lib.symbolic(y) and lib.may_be_dropped(g)):
            return call(runtime.quotient, g, y)
    return lib.quotient(g, y)


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
    less = _one_less(n) if signs.positive(n) else choose(equal(n, 0) & equal(x, 0), 1, _one_less(n))
    return n * (call(runtime.power, x, less) if lib.may_raise(x, n) and lib.chosen(x) else x**less)


def _one_less(n: Any) -> Any:
    kind = lib.dtype(n)
    narrow = kind is not None and (kind.kind in "bu" or kind.kind == "i" and kind.itemsize < 8)
    return lib.floats(n) - 1 if narrow else n - 1


def _power_n(out: Any, x: Any, n: Any) -> Any:
    # The derivative of 0 ** n is 0 for the exponents at which it exists.
    if lib.is_scalar(out, x, n) and lib.symbolic(out, x, n) and lib.may_be_complex(out) and not signs.not_negative(x):
        if lib.may_be_python(out) and lib.may_be_python(x) and not lib.may_be_complex(x):
            return call(runtime.base_log, x, out) * out
    if is_constant(x):
        return math.log(x) * out if x > 0 else np.log(choose(equal(out, 0), 1.0, x * 1.0)) * out
    return np.log(choose(equal(x, 0), 1.0, x)) * out


def _pow_type(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return infer_ufunc(np.power, operator=True)(b, args, kwargs) if len(args) == 2 and not kwargs else ANY


op(builtins.pow, "base, exp", infer=_pow_type, elementwise=True)
# ``power(x, n)``: the power, infinite where Python's numbers would raise.
op(runtime.power, "x1, x2", infer=infer_ufunc(np.power, operator=True), elementwise=True)
# ``base_log(x, out)``: the logarithm of the base, complex for a negative number that Python raises to a power.
op(runtime.base_log, "x, out", type=lambda b, x, out: Ty("scalar", None, ()) if is_scalar(x, out) else ANY)
elementwise(runtime.base_log, lambda out, x, power: 1 / lib.nonzero(x), None)
_POWERS = (operator.pow, np.power, np.float_power, builtins.pow, runtime.power)
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


vjp((operator.pow, np.power, np.float_power, runtime.power), "x1")(_power_rule)
vjp(builtins.pow, "base")(_power_rule)
elementwise(math.pow, ..., lambda out, x, n: np.log(choose(equal(x, 0), 1.0, x)) * out, singular=WEIGHTS)
vjp(math.pow, "x")(_power_rule)
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

    def by_result(of_result: Fn, of_operand: Fn) -> Callable[..., Any]:
        """A divisor. The result lies on the branch that the function has chosen, also on a cut; a root may not."""
        return lambda out, x: of_result(out) if lib.may_be_complex(x) else of_operand(x)

    cosine, sine = by_result(cos, lambda x: sqrt((1 - x) * (1 + x))), by_result(sin, lambda x: sqrt((1 - x) * (1 + x)))
    elementwise(fn(arc + "sin"), Over(cosine), singular=WEIGHTS)
    elementwise(fn(arc + "cos"), Over(sine, negative=True), singular=WEIGHTS)
    elementwise(fn(arc + "tan"), Over(lambda out, x: 1 + x * x))
    elementwise(fn(arc + "sinh"), Over(by_result(cosh, lambda x: sqrt(x * x + 1))))
    elementwise(
        fn(arc + "cosh"), Over(by_result(sinh, lambda x: sqrt(x - 1) * sqrt(x + 1)), safe=1.5), singular=WEIGHTS
    )
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
    if not lib.may_be_complex(x):
        # (Each factor stays where it is: the others may be too large, or too small, for a product without it.)
        for multiple, other in ((out, x), (x, out)):
            product = roots.unsigned(g, multiple, other)
            if product is not None:
                return product
    rest = roots.without(g, out)
    if rest is not None:
        return rest * conj(x)
    # That of a complex number is a norm, with a kink at 0. The sign of a real one is a step.
    return g * (conj(roots.over(x, out)) if lib.may_be_complex(x) else np.sign(x))


def _ahead(x: Any, y: Any) -> Any:
    """1 where x > y, 0 where x < y, a half where they are equal; in the dtype of the operands."""
    if is_scalar(x, y):
        return choose(x > y, 1.0, choose(equal(x, y), 0.5, 0.0))
    if lib.may_be_complex(x, y):  # complex numbers are compared by their real parts first
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
    return g * roots.over(x, out) if rest is None else rest * x


@vjp(np.hypot, "x2")
def _hypot_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return _hypot_x(g, out, y, x)


def _arctan2_x(out: Any, x: Any, y: Any) -> Any:
    x, y = lib.floats(x), lib.floats(y)
    return lib.divided(y, x * x + y * y)


def _arctan2_y(out: Any, x: Any, y: Any) -> Any:
    x, y = lib.floats(x), lib.floats(y)
    return lib.divided(-x, x * x + y * y)


elementwise((np.arctan2, math.atan2), _arctan2_x, _arctan2_y, singular=WEIGHTS)
elementwise(np.logaddexp, lambda out, x, y: np.exp(x - out), lambda out, x, y: np.exp(y - out))
elementwise(np.logaddexp2, lambda out, x, y: np.exp2(x - out), lambda out, x, y: np.exp2(y - out))
elementwise(np.copysign, lambda out, x, y: np.sign(x) * np.copysign(1.0, y), None)
elementwise(math.copysign, lambda out, x, y: _sign(x) * call(math.copysign, 1.0, y), None)
elementwise(np.heaviside, None, lambda out, x, y: equal(x, 0))
elementwise(np.ldexp, lambda out, x, n: np.exp2(n * 1.0), None)
passes_on(np.nextafter, "x1", linear=True)
# --- complex numbers --------------------------------------------------------------------------------------------------


@vjp(np.conjugate, "x", linear=True)
def _conjugate(g: Any, out: Any, x: Any) -> Any:
    return conj(g) if lib.may_be_complex(x) else g


@vjp(np.sign, "x")
def _sign_rule(g: Any, out: Any, x: Any) -> Any:
    if not lib.may_be_complex(x):
        return None
    # out = x / |x| is not holomorphic: the cotangent splits into a part along x and one along its conjugate.
    size = lib.nonzero(np.absolute(x))
    tangent = g - conj(g) * conj(out) * conj(out)
    return choose(equal(x, 0), 0.0, 0.5 * tangent / size)


@jvp(np.sign, "x")
def _sign_jvp(d: Any, out: Any, x: Any) -> Any:
    if not lib.may_be_complex(x):
        return None
    along = np.real(conj(out) * d)
    return lib.choose(lib.equal(x, 0), 0.0, (d - out * along) / lib.nonzero(np.absolute(x)))


def _real_type(b: Builder, val: Any) -> Ty:
    t = type_of(val)
    if t.kind == "py" and t.dtype is not None:
        return PY_FLOAT if t.dtype.kind in "fc" else ANY
    if t.kind == "array" and t.dtype is None:
        return Ty("array", None, t.dims)
    if t.kind in ("scalar", "generic") and t.dtype is None:
        return Ty(t.kind, None, (), real=True)
    if t.kind not in ("array", "generic") or not is_number(t.dtype):
        return ANY
    dtype = t.dtype
    assert dtype is not None
    return Ty(t.kind, np.empty(0, dtype).real.dtype, t.dims)


op("np.real", "val: array", type=_real_type, alias="maybe", total="known")
passes_on(np.real, "val", linear=True)
op("np.imag", "val: array", type=_real_type, alias="maybe", total="known")


@vjp(np.imag, "val", linear=True)
def _imag(g: Any, out: Any, val: Any) -> Any:
    return -1j * g if lib.may_be_complex(val) else None


def _angle_type(b: Builder, z: Any, deg: Any = False) -> Ty:
    t = type_of(z)
    if not isinstance(deg, bool) or not t.is_float or t.kind not in ("array", "generic"):
        return ANY
    dtype = np.empty(0, t.dtype).real.dtype
    return generic(dtype) if t.dims == () else Ty("array" if t.dims else "any", dtype, t.dims)


op("np.angle", "z: array, deg", type=_angle_type, elementwise=True)


@vjp(np.angle, "z")
def _angle(g: Any, out: Any, z: Any, deg: Any = False) -> Any:
    if not lib.may_be_complex(z):
        return None
    if not isinstance(deg, bool):
        raise lib.unsupported("the derivative of np.angle needs a constant for `deg`")
    return guarded(g, lambda z: (g * (180 / math.pi) if deg else g) * -1j / z, (z,), WEIGHTS)


batch(np.real, np.imag)(of_one_operand)

# --- math -------------------------------------------------------------------------------------------------------------

elementwise(math.fmod, 1, lambda out, x, y: -np.trunc(x / y))
elementwise(math.remainder, 1, lambda out, x, y: -np.rint(x / y))

# --- rounding and parts of numbers ------------------------------------------------------------------------------------


def _same_number_type(b: Builder, x: Any, decimals: Any = 0) -> Ty:
    """Element by element, the dtype kept where it is inexact."""
    t = type_of(x)
    if not t.is_float or t.kind not in ("array", "py", "generic", "scalar"):
        return ANY
    return scalar_or_array(True, t.dtype, t.dims)


op("np.nan_to_num", "x: array, copy, nan: array, posinf: array, neginf: array", type=_same_number_type)


@vjp(np.nan_to_num, "x")
def _nan_to_num(g: Any, out: Any, x: Any) -> Any:
    return lib.masked(g, np.isfinite(x))


@jvp(np.nan_to_num, "x")
def _nan_to_num_jvp(d: Any, out: Any, x: Any) -> Any:
    return lib.choose(np.isfinite(x), d, 0.0)  # no product: the tangent may be nan where `x` is


op("np.round", "a: array, decimals", type=_same_number_type, nondiff=True)
op("np.fix", "x: array", type=_same_number_type, nondiff=True)
PRIMS[np.around] = PRIMS[np.round]
nondiff((np.floor, np.ceil, np.trunc, np.rint))


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


# --- no derivative ----------------------------------------------------------------------------------------------------

nondiff((operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne))
nondiff((np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal))
nondiff((operator.and_, operator.or_, operator.xor, operator.invert, operator.lshift, operator.rshift))
nondiff((np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift))
nondiff((np.logical_not, np.logical_and, np.logical_or, np.logical_xor, np.gcd, np.lcm))
nondiff((np.isnan, np.isinf, np.isfinite, np.signbit, np.spacing))

# --- what may be computed again -------------------------------------------------------------------------------------

repeatable(0.2, operator.add, operator.sub, operator.mul, operator.neg, np.add, np.subtract, np.multiply, np.negative)
repeatable(0.35, operator.truediv, np.true_divide)
repeatable(0.12, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
repeatable(0.12, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
repeatable(0.1, np.logical_not, np.logical_and, np.logical_or)
repeatable(0.2, builtins.abs, np.absolute, np.square)
repeatable(0.5, np.sign, np.maximum, np.minimum)
repeatable(0.85, np.sqrt)

# --- traits ---------------------------------------------------------------------------------------------------------

mark("sum", operator.add, np.add, operator.sub, np.subtract)
mark("product", operator.mul, np.multiply)
mark("quotient", operator.truediv, np.true_divide)
mark("power", operator.pow, builtins.pow, np.power, np.float_power, runtime.power, np.reciprocal)
mark("same_zeros", operator.neg, np.negative, np.conjugate, np.real)
mark("steady", operator.neg, np.negative, np.positive, np.sqrt, np.cbrt, math.sqrt, np.exp, math.exp, np.expm1, np.exp2)
mark("steady", np.log, np.log1p, np.log2, np.log10, np.tan, np.arctan, np.sinh, np.tanh, np.arcsinh, np.arctanh)
mark("exponential", np.exp, np.exp2, np.expm1, np.tanh, np.cosh, np.sinh, math.exp, math.tanh)
mark("logarithm", np.log, np.log2, np.log10, np.log1p, np.logaddexp, np.logaddexp2, np.arcsinh, np.arccosh, np.arctanh)
mark("logarithm", math.log2, math.log10, math.log1p)
mark("bounded", np.sin, np.cos, np.tanh, np.arctan, np.sign)
