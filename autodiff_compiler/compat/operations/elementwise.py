"""Operations on each element: functions, steps, tests, arithmetic, comparisons, logic."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ... import kernels
from ..graph.array import still, to, value_of
from .row import row


def stepped(f: Any) -> Any:
    """A step function: its derivative is zero, and its argument stays connected."""

    def step(a: Any) -> Any:
        value = f(value_of(a))
        return still(np.shape(value), value, a) if a is not value_of(a) else value

    return step


def _imag(a: Any) -> Any:
    if value_of(a).dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return np.imag(a)


def _finite(a: Any, nan: float, posinf: float | None, neginf: float | None) -> Any:
    v = value_of(a)
    if v.dtype.kind != "f":
        return np.positive(a)
    return np.where(np.isfinite(v), a, np.nan_to_num(v, nan=nan, posinf=posinf, neginf=neginf))


# --- one operand ------------------------------------------------------------------------------------------------------

row("function", np.exp, "Exp", "``e ** x``.", "exp math.exp", "exp exp_")
row("function", np.exp2, "Exp2", "``2 ** x``.", "", "exp2 exp2_ special.exp2")
row("function", np.expm1, "Expm1", "``e ** x - 1``.", "math.expm1", "expm1 expm1_ special.expm1")
row("function", np.log, "Log", "The natural logarithm.", "math.log", "log log_")
row("function", np.log2, "Log2", "The logarithm of base 2.", "", "log2 log2_")
row("function", np.log10, "Log10", "The logarithm of base 10.", "", "log10 log10_")
row("function", np.log1p, "Log1p", "``log(1 + x)``.", "math.log1p", "log1p log1p_ special.log1p")
row("root", np.sqrt, "Sqrt", "The square root.", "sqrt math.sqrt", "sqrt sqrt_")
row("root", kernels.rsqrt, "Rsqrt", "``1 / sqrt(x)``.", "math.rsqrt", "rsqrt rsqrt_", own={"torch": lambda a: a**-0.5})
row("function", np.sin, "Sin", "The sine.", "sin math.sin", "sin sin_")
row("function", np.cos, "Cos", "The cosine.", "cos math.cos", "cos cos_")
row("function", np.tan, "Tan", "The tangent.", "tan math.tan", "tan tan_")
row("function", np.arcsin, "Asin", "The inverse sine.", "asin math.asin", "asin asin_ arcsin arcsin_")
row("function", np.arccos, "Acos", "The inverse cosine.", "acos math.acos", "acos acos_ arccos arccos_")
row("function", np.arctan, "Atan", "The inverse tangent.", "atan math.atan", "atan atan_ arctan arctan_")
row("function", np.sinh, "Sinh", "The hyperbolic sine.", "sinh math.sinh", "sinh sinh_")
row("function", np.cosh, "Cosh", "The hyperbolic cosine.", "cosh math.cosh", "cosh cosh_")
row("function", np.tanh, "Tanh", "The hyperbolic tangent.", "tanh math.tanh nn.tanh", "tanh tanh_ nn.functional.tanh",
    "npx.tanh", module="Tanh")  # fmt: skip
row(
    "function", np.arcsinh, "Asinh", "The inverse hyperbolic sine.", "asinh math.asinh", "asinh asinh_ arcsinh arcsinh_"
)
row("function", np.arccosh, "Acosh", "The inverse hyperbolic cosine.", "acosh math.acosh",
    "acosh acosh_ arccosh arccosh_")  # fmt: skip
row("function", np.arctanh, "Atanh", "The inverse hyperbolic tangent.", "atanh math.atanh",
    "atanh atanh_ arctanh arctanh_")  # fmt: skip
row("function", kernels.sigmoid, "Sigmoid", "``1 / (1 + exp(-x))``.", "sigmoid math.sigmoid nn.sigmoid",
    "sigmoid sigmoid_ torch.expit special.expit nn.functional.sigmoid", "npx.sigmoid", module="Sigmoid")  # fmt: skip
row("function", kernels.erf, "Erf", "The error function.", "math.erf", "erf erf_ special.erf")
row("function", kernels.erfc, "Erfc", "One minus the error function.", "math.erfc", "erfc erfc_ special.erfc")
row("function", kernels.erfinv, "Erfinv", "The inverse of the error function.", "", "erfinv erfinv_ special.erfinv")
row("function", lambda a: np.sinc(a), "Sinc", "``sin(pi x) / (pi x)``.", "", "sinc sinc_ special.sinc")
row("function", kernels.lgamma, "Lgamma", "The logarithm of the gamma function's absolute value.", "math.lgamma",
    "lgamma lgamma_ special.gammaln")  # fmt: skip
row("function", lambda a: kernels.polygamma(0, a), "Digamma", "The derivative of `lgamma`.", "math.digamma",
    "digamma digamma_ special.digamma")  # fmt: skip
row("function", lambda a: np.log(a / (1 - a)), "Logit", "``log(x / (1 - x))``.", "", "logit logit_ special.logit")
row("function", lambda a: -a * np.log(a), "SpecialEntr", "``-x * log(x)``.", "", "torch.entr special.entr")
row("function", lambda a: 1 / a, "Reciprocal", "``1 / x``.", "", "reciprocal reciprocal_")
row("function", np.deg2rad, "Mul", "Degrees as radians.", "", "deg2rad deg2rad_")
row("function", np.rad2deg, "Mul", "Radians as degrees.", "", "rad2deg rad2deg_")
row("function", np.square, "Square", "``x * x``.", "square math.square", "")
row("function", lambda a: a * a, "Pow", "``x * x``.", "", "square square_", integers="keep")
row("plain", abs, "Abs", "The absolute value.", "abs math.abs", "abs abs_ absolute .absolute_ .__abs__",
    own={"torch": lambda a: np.abs(a)}, integers="keep")  # fmt: skip
row("plain", operator.neg, "Neg", "``-x``.", "negative math.negative", "neg neg_ negative .__neg__", integers="keep")
row("function", lambda a: a - np.trunc(value_of(a)), "Frac", "What follows the point.", "", "frac frac_",
    integers="keep")  # fmt: skip
row("function", operator.pos, "Positive", "The same numbers.", "", "torch.positive", integers="keep")
row("predicate", np.angle, "Angle", "The angle of complex numbers.", "math.angle (input, name=None)")
row("function", np.angle, "Angle", "The angle of complex numbers.", "", "angle angle_")
row("function", np.conjugate, "Conj", "The complex conjugate.", "math.conj", "conj", integers="keep")
row("function", np.real, "Real", "The real part.", "", "torch.real", integers="keep")
row("function", _imag, "Imag", "The imaginary part.", "", "torch.imag", integers="keep")
row("predicate", np.imag, "Imag", "The imaginary part.", "math.imag (input, name=None)")


def _complex(real: Any, imag: Any) -> Any:
    wide = np.dtype(np.complex128 if value_of(real).dtype.itemsize == 8 else np.complex64)
    return to(real, wide) + to(imag, wide) * wide.type(1j)


row("step", np.floor, "Floor", "The next whole number below.", "floor math.floor", "floor floor_", integers="keep")
row("step", np.ceil, "Ceil", "The next whole number above.", "math.ceil", "ceil ceil_", integers="keep")
row("step", np.rint, "Rint", "The nearest whole number.", "math.rint")
row("step", np.rint, "Round", "The nearest whole number; halves go to the even one. Its gradient is None.",
    "round math.round", integers="pass")  # fmt: skip
row("arrays", np.reciprocal, "Inv", "``1 / x``.", "math.reciprocal (x, name=None)")
row("arrays", lambda a: np.real(a) if value_of(a).dtype.kind == "c" else a, "Real", "The real part.",
    "math.real (input, name=None)")  # fmt: skip
row("pair", _complex, "Complex", "``real + 1j * imag``.", "complex (real, imag, name=None)")
row("step", np.trunc, "Trunc", "The whole number towards zero.", "", "trunc trunc_ fix fix_", integers="keep")
row("still", np.sign, "Sign", "-1, 0 or 1; of complex numbers ``x / abs(x)``. Its slope is zero.", "sign math.sign",
    "sign .sign_", integers="keep")  # fmt: skip
row("step", np.sign, "Sgn", "-1, 0 or 1.", "", "sgn .sgn_", integers="keep")

row("arrays", lambda a, decimals: stepped(lambda v: np.round(v, decimals))(a), "Round", "The nearest integer, or "
    "number with so many decimals; halves go to the even one.", "", "round round_ (input, *, decimals=0)")  # fmt: skip
row("arrays", _finite, "NanToNum", "NaN and the infinities replaced by numbers.", "",
    "nan_to_num nan_to_num_ (input, nan=0.0, posinf=None, neginf=None)")  # fmt: skip
row("arrays", lambda n, a: kernels.polygamma(n, a), "Polygamma", "The derivative of order `n` of `digamma`. It runs "
    "element by element, in Python.", "", "torch.polygamma (n, input)")  # fmt: skip

row("predicate", np.invert, "BitwiseNot", "``~x``.", "", "bitwise_not .__invert__")
row("predicate", np.logical_not, "LogicalNot", "Whether the elements are zero.", "", "logical_not .logical_not_")
row("predicate", np.isnan, "IsNan", "Whether each element is NaN.", "math.is_nan", "isnan")
row("predicate", np.isinf, "IsInf", "Whether each element is infinite.", "math.is_inf", "isinf")
row("predicate", np.isfinite, "IsFinite", "Whether each element is finite.", "math.is_finite", "isfinite")

# --- two operands -----------------------------------------------------------------------------------------------------


def _safe(y: Any, bad: Any) -> Any:
    """`y` with ones in the bad places, so that nothing infinite comes of them."""
    return np.where(bad, np.ones((), value_of(y).dtype)[()], y)


def _zero_where(bad: Any, like: Any, result: Any) -> Any:
    return np.where(bad, value_of(like).dtype.type(0), result)


def divide_no_nan(x: Any, y: Any) -> Any:
    """``x / y``, 0 where `y` is 0."""
    bad = np.asarray(value_of(y) == 0)
    return _zero_where(bad, y, x / _safe(y, bad))


def multiply_no_nan(x: Any, y: Any) -> Any:
    """``x * y``, 0 where `y` is 0, even if `x` is not finite."""
    bad = np.asarray((value_of(y) == 0) & ~np.isfinite(value_of(x)))
    return _zero_where(bad, y, x * y) if bad.any() else x * y


def _x_times(of: Any) -> Any:
    """An operation that is 0 where `x` is 0."""

    def computed(x: Any, y: Any) -> Any:
        bad = np.asarray(value_of(x) == 0)
        return _zero_where(bad, x, of(x, _safe(y, bad)))

    return computed


def _xlogy(a: Any, b: Any) -> Any:
    x, y = value_of(a), value_of(b)
    still_zero = (x == 0) & ((y <= 0) | np.isinf(y))
    return np.where(still_zero, 0.0 * a, a * np.log(np.where(still_zero, 1.0, b)))


def clipped(a: Any, low: Any = None, high: Any = None) -> Any:
    """Each element within bounds. At the bounds, and between, the gradient is that of `a`."""
    if high is not None:
        a = np.where(value_of(a) > value_of(high), high, a)
    return a if low is None else np.where(value_of(a) < value_of(low), low, a)


def _clamp(a: Any, low: Any, high: Any) -> Any:
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    kind = value_of(a).dtype.type
    return clipped(a, *[b if b is None or hasattr(b, "dtype") else kind(b) for b in (low, high)])


def first_of_equals(compare: Any) -> Any:
    """The larger or smaller of two elements. Of equal ones, the first gets the gradient."""

    def chosen(x: Any, y: Any) -> Any:
        v, w = value_of(x), value_of(y)
        return np.where(compare(v, w) | (v != v), x, y)

    return chosen


def _atan2(a: Any, b: Any) -> Any:
    x, y = value_of(a), value_of(b)
    zero = (x == 0) & (y == 0)
    if not np.any(zero):
        return np.arctan2(a, b)
    # At the origin both slopes are taken to be zero.
    one = np.ones_like(zero, dtype=np.result_type(x, y))
    return np.where(zero, np.arctan2(x, y), np.arctan2(np.where(zero, one, a), np.where(zero, one, b)))


def _floor_divide(a: Any, b: Any) -> Any:
    value = np.floor_divide(value_of(a), value_of(b))
    return _still_of_two(value, a, b)


def _still_of_two(value: Any, a: Any, b: Any) -> Any:
    for x in (a, b):
        if x is not value_of(x):
            value = still(np.shape(value_of(value)), value, x)
    return value


def truncated_quotient(a: Any, b: Any) -> Any:
    """``a / b``, rounded towards zero."""
    x, y = value_of(a), value_of(b)
    if np.asarray(x).dtype.kind == "f":
        return _still_of_two(np.trunc(x / y), a, b)
    return (np.abs(x) // np.abs(y) * np.sign(x) * np.sign(y)).astype(np.result_type(x, y))


def _remainder(a: Any, b: Any) -> Any:
    return a - _floor_divide(a, b) * b if np.asarray(value_of(a)).dtype.kind == "f" else a % b


def _fmod(a: Any, b: Any) -> Any:
    return a - np.trunc(a / b) * b if np.asarray(value_of(a)).dtype.kind == "f" else np.fmod(a, b)


row("operator", operator.add, "Add", "``x + y``.", "add math.add", "add add_ (input, other, *, alpha=1)")
row("operator", operator.mul, "Mul", "``scalar * x``.", "scalar_mul math.scalar_mul (scalar, x, name=None)")
row("operator", operator.sub, "Sub", "``x - y``.", "subtract math.subtract",
    "sub sub_ subtract subtract_ (input, other, *, alpha=1)")  # fmt: skip
row("operator", operator.mul, "Mul", "``x * y``.", "multiply math.multiply",
    "mul mul_ multiply multiply_")  # fmt: skip
row("operator", operator.truediv, "RealDiv", "``x / y``.", "divide math.divide truediv math.truediv realdiv")
row("operator", operator.floordiv, "Div", "``x // y``, rounded down.", "math.floordiv",
    "floor_divide .floor_divide_", own={"torch": _floor_divide}, integers="keep")  # fmt: skip
row("operator", operator.mod, "Remainder", "The remainder with the sign of the divisor.", "math.floormod math.mod",
    "remainder .remainder_", own={"torch": _remainder}, integers="keep")  # fmt: skip
row("operator", operator.pow, "Pow", "``x ** y``.", "pow math.pow")
row("pair", lambda a, b: b - a, "RsubBackward1", "``other - input``.", "", "rsub", integers="keep")
row("pair", _fmod, "Fmod", "The remainder with the sign of the dividend.", "", "fmod .fmod_", integers="keep")
row("pair", np.maximum, "Maximum", "The larger of two elements.", "maximum math.maximum", "maximum",
    own={"tensorflow": first_of_equals(np.greater_equal)}, integers="keep")  # fmt: skip
row("pair", np.minimum, "Minimum", "The smaller of two elements.", "minimum math.minimum", "minimum",
    own={"tensorflow": first_of_equals(np.less_equal)}, integers="keep")  # fmt: skip
row("pair", np.arctan2, "Atan2", "The angle of the point (x, y).", "atan2 math.atan2 (y, x, name=None)",
    "atan2 arctan2", own={"torch": _atan2})  # fmt: skip
row("pair", np.hypot, "Hypot", "The length of the vector (input, other).", "", "hypot")
row("pair", np.logaddexp, "Logaddexp", "``log(exp(input) + exp(other))``, without overflow.", "", "logaddexp")
row("pair", lambda x, y: np.square(x - y), "SquaredDifference", "``(x - y) ** 2``.", "math.squared_difference")
row("pair", divide_no_nan, "DivNoNan", "``x / y``, 0 where `y` is 0.", "math.divide_no_nan")
row("function", lambda x: divide_no_nan(np.ones((), value_of(x).dtype)[()], x), "ReciprocalNoNan",
    "``1 / x``, 0 where `x` is 0.", "math.reciprocal_no_nan")  # fmt: skip
row("pair", multiply_no_nan, "MulNoNan", "``x * y``, 0 where `y` is 0.", "math.multiply_no_nan")
row("pair", _x_times(lambda x, y: x * np.log(y)), "Xlogy", "``x * log(y)``, 0 where `x` is 0.", "math.xlogy",
    "xlogy special.xlogy", own={"torch": _xlogy})  # fmt: skip
row("pair", _x_times(lambda x, y: x * np.log1p(y)), "Xlog1py", "``x * log(1 + y)``, 0 where `x` is 0.", "math.xlog1py")
row("pair", _x_times(lambda x, y: x / y), "Xdivy", "``x / y``, 0 where `x` is 0.", "math.xdivy")

row("comparison", operator.eq, "Equal", "``x == y``.", "equal math.equal", "eq", own={"torch": np.equal})
row("comparison", operator.ne, "NotEqual", "``x != y``.", "not_equal math.not_equal", "ne", own={"torch": np.not_equal})
row("comparison", operator.lt, "Less", "``x < y``.", "less math.less", "lt less")
row("comparison", operator.le, "LessEqual", "``x <= y``.", "less_equal math.less_equal", "le")
row("comparison", operator.gt, "Greater", "``x > y``.", "greater math.greater", "gt greater")
row("comparison", operator.ge, "GreaterEqual", "``x >= y``.", "greater_equal math.greater_equal", "ge")
row("comparison", np.bitwise_and, "BitwiseAnd", "``x & y``.", "", "bitwise_and .bitwise_and_")
row("comparison", np.bitwise_or, "BitwiseOr", "``x | y``.", "", "bitwise_or .bitwise_or_")
row("comparison", np.bitwise_xor, "BitwiseXor", "``x ^ y``.", "", "bitwise_xor")
row("comparison", np.left_shift, "LeftShift", "``x << y``.", "", ".__lshift__")
row("comparison", np.right_shift, "RightShift", "``x >> y``.", "", ".__rshift__")
row("logical", np.logical_not, "LogicalNot", "``not x``, of booleans.", "logical_not math.logical_not (x, name=None)")
row("logical", np.logical_and, "LogicalAnd", "Whether both are true.", "logical_and math.logical_and", "logical_and")
row("logical", np.logical_or, "LogicalOr", "Whether one is true.", "logical_or math.logical_or", "logical_or")
row("logical", np.logical_xor, "LogicalXor", "Whether exactly one is true.", "math.logical_xor", "logical_xor")

row("arrays", clipped, "ClipByValue", "`t`, held between two values. At them, and between, the gradient passes.",
    "clip_by_value (t, clip_value_min, clip_value_max, name=None)", operands=3)  # fmt: skip

# --- several operands -------------------------------------------------------------------------------------------------

row("elements", _clamp, "Clamp", "Each element within bounds, which are numbers or tensors. The gradient passes at the "
    "bounds.", "", "clamp clamp_ clip clip_ (input, min=None, max=None)", operands=3)  # fmt: skip
row("elements", lambda a, low: _clamp(a, low, None), "Clamp", "Each element, but at least `min`.", "",
    "clamp_min clamp_min_ (input, min)", operands=2)  # fmt: skip
row("elements", lambda a, high: _clamp(a, None, high), "Clamp", "Each element, but at most `max`.", "",
    "clamp_max clamp_max_ (input, max)", operands=2)  # fmt: skip
row("elements", lambda a, b, w: a + w * (b - a), "Lerp", "``input + weight * (end - input)``.", "",
    "lerp .lerp_ (input, end, weight)", operands=3)  # fmt: skip
row("elements", lambda a, b, c, n: a + b * c * n, "Addcmul", "``input + value * tensor1 * tensor2``.", "",
    "addcmul .addcmul_ (input, tensor1, tensor2, *, value=1)", operands=3)  # fmt: skip
row("elements", lambda a, b, c, n: a + b / c * n, "Addcdiv", "``input + value * tensor1 / tensor2``.", "",
    "addcdiv .addcdiv_ (input, tensor1, tensor2, *, value=1)", operands=3)  # fmt: skip
