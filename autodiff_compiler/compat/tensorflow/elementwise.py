"""Operations on each number: arithmetic, functions, comparisons."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import kernels
from ...ir.opset import ABS, PRIMS
from ...tape.custom import record_barrier
from ...tape.operators import unary
from ...tape.recording import STATE
from ...tape.tensor import Operand
from . import dtypes
from .dtypes import as_dtype
from .errors import dims, invalid
from .operands import FLOATS, astype, elementwise, operand, pair, quiet, run
from .operators import Arithmetic, negated, not_allowed
from .tapes import GradientTape
from .tensors import convert_to_tensor, tensor

Operation = Callable[..., Any]
REALS = "bfloat16, half, float, double"


def _function(fn: Any, op: str, allowed: str = "") -> Operation:
    """An operation on one argument, of this NumPy function."""
    fast = elementwise(fn, op, allowed) if allowed else elementwise(fn, op)

    def operation(x: Any, name: str | None = None) -> Any:
        return fast(x if isinstance(x, Arithmetic) else convert_to_tensor(x))

    return named(operation, fn.__name__, f"``np.{fn.__name__}`` of each number of `x`; keeps the dtype.")


def named(operation: Operation, name: str, doc: str) -> Operation:
    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = doc
    return operation


exp = _function(np.exp, "Exp")
expm1 = _function(np.expm1, "Expm1")
log = _function(np.log, "Log")
log1p = _function(np.log1p, "Log1p")
sin = _function(np.sin, "Sin")
cos = _function(np.cos, "Cos")
tan = _function(np.tan, "Tan")
asin = _function(np.arcsin, "Asin")
acos = _function(np.arccos, "Acos")
atan = _function(np.arctan, "Atan")
sinh = _function(np.sinh, "Sinh")
cosh = _function(np.cosh, "Cosh")
tanh = _function(np.tanh, "Tanh")
asinh = _function(np.arcsinh, "Asinh")
acosh = _function(np.arccosh, "Acosh")
atanh = _function(np.arctanh, "Atanh")
square = _function(np.square, "Square")
conj = _function(np.conjugate, "Conj")
sigmoid = _function(kernels.sigmoid, "Sigmoid")
erf = _function(kernels.erf, "Erf")
erfc = _function(kernels.erfc, "Erfc", REALS)
lgamma = _function(kernels.lgamma, "Lgamma", REALS)

_sqrt = elementwise(np.sqrt, "Sqrt")
_negative = unary(PRIMS[operator.neg], negated)
_abs = unary(ABS, abs)


def _root(fn: Any, plain: Operation, doc: str) -> Operation:
    """An operation whose derivative at 0 is infinite, but 0 where the upstream gradient is 0, as TensorFlow's."""

    def operation(x: Any, name: str | None = None) -> Any:
        x = floating(x, fn.__name__.capitalize())
        v = x._value
        if STATE.rec is None or v.dtype.kind != "f" or np.all(v):
            return plain(x)

        def back(upstream: Any) -> list[Any]:
            silent = np.asarray(upstream._value == 0)
            with GradientTape() as tape:
                tape.watch(x)
                root = plain(run(np.where, silent, np.ones((), v.dtype)[()], x))
            return [tape.gradient(root, x, upstream)]

        return record_barrier([tensor(quiet(fn)(v))], [x], back)[0]

    return named(operation, fn.__name__, doc)


def _rsqrt(x: Any) -> Any:
    return run(kernels.rsqrt, x) if x._value.dtype.kind == "f" else 1.0 / _sqrt(x)


sqrt = _root(np.sqrt, _sqrt, "The square root. Where the upstream gradient is 0 its gradient is 0, at 0 too.")
rsqrt = _root(kernels.rsqrt, _rsqrt, "``1 / sqrt(x)``. Where the upstream gradient is 0 its gradient is 0, at 0 too.")


def _whole(fn: Any, op: str) -> Operation:
    """A step function. Its result may be a source; by its argument the gradient is None."""

    def operation(x: Any, name: str | None = None) -> Any:
        x = operand(x)
        if x._value.dtype.kind not in "fc":
            raise not_allowed(op, x._value.dtype, REALS)
        return cut(tensor(fn(x._value)), x)

    return named(operation, fn.__name__, f"``np.{fn.__name__}`` of each number of `x`. Its gradient is None.")


def cut(result: Any, x: Any) -> Any:
    """The result of an operation on `x` whose gradient is None."""
    return record_barrier([result], [x], lambda upstream: [None])[0] if STATE.rec is not None else result


floor = _whole(np.floor, "Floor")
ceil = _whole(np.ceil, "Ceil")
rint = _whole(np.rint, "Rint")


def round(x: Any, name: str | None = None) -> Any:
    """The nearest whole number of each; halves go to the even one. Its gradient is None."""
    x = operand(x)
    return run(np.positive, x) if x._value.dtype.kind in "iu" else rint(x)


def negative(x: Any, name: str | None = None) -> Any:
    """``-x``."""
    return _negative(operand(x))


def abs_(x: Any, name: str | None = None) -> Any:
    """The absolute value; of complex numbers a real one."""
    return _abs(operand(x))


def sign(x: Any, name: str | None = None) -> Any:
    """-1, 0 or 1; ``x / abs(x)`` of complex numbers. Its gradient is zeros."""
    x = operand(x)
    out = tensor(np.sign(x._value))
    if x._value.dtype.kind not in "fc":
        return out
    zeros = np.zeros_like(x._value)[()]
    return record_barrier([out], [x], lambda upstream: [tensor(zeros)])[0]


def reciprocal(x: Any, name: str | None = None) -> Any:
    """``1 / x``."""
    return 1.0 / floating(x, "Inv") if operand(x)._value.dtype.kind in "fc" else run(np.reciprocal, operand(x))


def floating(x: Any, op: str) -> Any:
    x = operand(x)
    if x._value.dtype.kind not in "fc":
        raise not_allowed(op, x._value.dtype, FLOATS)
    return x


def polygamma(a: Any, x: Any, name: str | None = None) -> Any:
    """The derivative of order `a` of `digamma`; `a` is one whole number."""
    order = np.asarray(operand(a)._value)
    if order.size != 1 or order.ravel()[0] < 0 or order.ravel()[0] % 1:
        raise NotImplementedError("polygamma of one order, which is a whole number")
    return run(kernels.polygamma, int(order.ravel()[0]), floating(x, "Polygamma"))


def digamma(x: Any, name: str | None = None) -> Any:
    """The derivative of `lgamma`."""
    return run(kernels.polygamma, 0, floating(x, "Digamma"))


def _predicate(fn: Any) -> Operation:
    def operation(x: Any, name: str | None = None) -> Any:
        return run(fn, operand(x))

    return named(operation, fn.__name__, f"``np.{fn.__name__}`` of each number of `x`.")


is_nan = _predicate(np.isnan)
is_inf = _predicate(np.isinf)
is_finite = _predicate(np.isfinite)


# --- two arguments ----------------------------------------------------------------------------------------------------


def _operator(forward: Callable[[Any, Any], Any], doc: str) -> Operation:
    """An operation that Python has an operator for."""

    def operation(x: Any, y: Any, name: str | None = None) -> Any:
        if isinstance(x, Arithmetic) or isinstance(y, Arithmetic) and not isinstance(x, (list, tuple, np.ndarray)):
            return forward(x, y)
        if isinstance(y, Arithmetic):
            return forward(convert_to_tensor(x, dtypes.of(y._value.dtype)), y)
        return forward(convert_to_tensor(x), y)

    return named(operation, forward.__name__, doc)


add = _operator(operator.add, "``x + y``, broadcast.")
subtract = _operator(operator.sub, "``x - y``, broadcast.")
multiply = _operator(operator.mul, "``x * y``, broadcast.")
divide = _operator(operator.truediv, "``x / y``, broadcast; integers give float64.")
truediv = divide
realdiv = divide
floordiv = _operator(operator.floordiv, "``floor(x / y)``, broadcast.")
floormod = _operator(operator.mod, "``x - y * floor(x / y)``, broadcast.")
mod = floormod
pow = _operator(operator.pow, "``x ** y``, broadcast.")
less = _operator(operator.lt, "``x < y``, broadcast.")
less_equal = _operator(operator.le, "``x <= y``, broadcast.")
greater = _operator(operator.gt, "``x > y``, broadcast.")
greater_equal = _operator(operator.ge, "``x >= y``, broadcast.")
equal = _operator(operator.eq, "``x == y``, broadcast.")
not_equal = _operator(operator.ne, "``x != y``, broadcast.")


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """``scalar * x``."""
    return multiply(scalar, x)


def _extreme(name: str, compare: Any, doc: str) -> Operation:
    def operation(x: Any, y: Any, name: str | None = None) -> Any:
        x, y = pair(x, y, op)
        with np.errstate(invalid="ignore"):
            first = compare(x._value, y._value) | (x._value != x._value)
        return run(np.where, first, x, y)

    op = name.capitalize()
    return named(operation, name, f"The {doc} of both, broadcast. Where they are equal, `x` gets the gradient.")


maximum = _extreme("maximum", np.greater_equal, "larger")
minimum = _extreme("minimum", np.less_equal, "smaller")


def squared_difference(x: Any, y: Any, name: str | None = None) -> Any:
    """``(x - y) ** 2``, broadcast."""
    x, y = pair(x, y, "SquaredDifference")
    return square(x - y)


def atan2(y: Any, x: Any, name: str | None = None) -> Any:
    """The angle of the point (x, y)."""
    y, x = pair(y, x, "Atan2")
    return run(np.arctan2, y, x)


def _safe(y: Any, bad: Any) -> Any:
    """`y`, with ones in these places, so that nothing infinite comes of it."""
    return run(np.where, bad, np.ones((), y._value.dtype)[()], y)


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """``x / y``, 0 where `y` is 0."""
    x, y = pair(x, y, "DivNoNan")
    bad = np.asarray(y._value == 0)
    return run(np.where, bad, np.zeros((), y._value.dtype)[()], x / _safe(y, bad))


def reciprocal_no_nan(x: Any, name: str | None = None) -> Any:
    """``1 / x``, 0 where `x` is 0."""
    x = operand(x)
    return divide_no_nan(np.ones((), x._value.dtype)[()], x)


def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """``x * y``, 0 where `y` is 0, even if `x` is not finite."""
    x, y = pair(x, y, "MulNoNan")
    bad = np.asarray((y._value == 0) & ~np.isfinite(x._value))
    return x * y if not bad.any() else run(np.where, bad, np.zeros((), y._value.dtype)[()], x * y)


def _x_times(name: str, of: Callable[[Any, Any], Any], doc: str) -> Operation:
    """An operation that is 0 where `x` is 0."""

    def operation(x: Any, y: Any, name: str | None = None) -> Any:
        x, y = pair(x, y, op)
        bad = np.asarray(x._value == 0)
        return run(np.where, bad, np.zeros((), x._value.dtype)[()], of(x, _safe(y, bad)))

    op = name.capitalize()
    return named(operation, name, f"{doc}, 0 where `x` is 0.")


xlogy = _x_times("xlogy", lambda x, y: x * log(y), "``x * log(y)``")
xlog1py = _x_times("xlog1py", lambda x, y: x * log1p(y), "``x * log(1 + y)``")
xdivy = _x_times("xdivy", lambda x, y: x / y, "``x / y``")


def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of tensors of one shape and dtype."""
    if isinstance(inputs, Operand):
        return identity(inputs)
    if not len(inputs):
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
        )
    parts = [operand(x) for x in inputs]
    total = identity(parts[0])
    for x in parts[1:]:
        if x._value.shape != total._value.shape:
            raise invalid(
                "AddN", f"Inputs to operation AddN must have the same size and shape.  Input 0: "
                f"{dims(total._value.shape)} != input 1: {dims(x._value.shape)}"
            )  # fmt: skip
        total = total + x
    return total


# --- logic ------------------------------------------------------------------------------------------------------------


def _logical(fn: Any, op: str) -> Operation:
    def operation(x: Any, y: Any, name: str | None = None) -> Any:
        x, y = _bools(x, op), _bools(y, op)
        return run(fn, x, y)

    return named(operation, fn.__name__, f"``np.{fn.__name__}``, of booleans.")


def _bools(x: Any, op: str) -> Any:
    x = operand(x) if isinstance(x, Operand) else convert_to_tensor(x, dtypes.bool_)
    if x._value.dtype.kind != "b":
        from .values import mismatch

        raise mismatch(op, np.dtype(bool), dtypes.of(x._value.dtype).label, 0)
    return x


logical_and = _logical(np.logical_and, "LogicalAnd")
logical_or = _logical(np.logical_or, "LogicalOr")
logical_xor = _logical(np.logical_xor, "LogicalXor")


def logical_not(x: Any, name: str | None = None) -> Any:
    """``not x``, of booleans."""
    return run(np.logical_not, _bools(x, "LogicalNot"))


# --- dtypes and complex numbers ---------------------------------------------------------------------------------------


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """`x` in another dtype. The gradient is None where one of both is not floating or complex."""
    wanted = as_dtype(dtype)
    x = operand(x)
    source = x._value.dtype
    if source == wanted.np_dtype:
        return x if not hasattr(x, "_serial") else convert_to_tensor(x)
    if source.kind == "c" and wanted.np_dtype.kind != "c":
        x = real(x)
    if x._value.dtype.kind in "fc" and wanted.np_dtype.kind in "fc":
        return astype(x, wanted)
    return tensor(_converted(x._value, wanted.np_dtype))


def _converted(v: Any, dtype: np.dtype[Any]) -> Any:
    with np.errstate(all="ignore"):
        return v.astype(dtype)


def complex_(real: Any, imag: Any, name: str | None = None) -> Any:
    """``real + 1j * imag``."""
    a, b = pair(real, imag, "Complex")
    wide = dtypes.complex128 if a._value.dtype.itemsize == 8 else dtypes.complex64
    return astype(a, wide) + astype(b, wide) * wide.np_dtype.type(1j)


def real(input: Any, name: str | None = None) -> Any:
    """The real part."""
    x = operand(input)
    return run(np.real, x) if x._value.dtype.kind == "c" else x


def _imaginary(fn: Any, doc: str) -> Operation:
    def operation(input: Any, name: str | None = None) -> Any:
        return run(fn, operand(input))

    return named(operation, fn.__name__, doc)


imag = _imaginary(np.imag, "The imaginary part.")
angle = _imaginary(np.angle, "The angle of complex numbers.")


def identity(input: Any, name: str | None = None) -> Any:
    """The same value, as a tensor of its own."""
    return _identity(operand(input))


_identity = unary(PRIMS[np.positive], lambda v: v)


def identity_n(input: Any, name: str | None = None) -> list[Any]:
    """The same values, as tensors of their own."""
    return [identity(x) for x in input]
