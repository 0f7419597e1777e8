"""Operators, comparisons, and the functions of two operands, with PyTorch's promotion of dtypes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ..graph.array import still, to, value_of
from ..graph.direct import binary, unary
from ..graph.direct import in_place as direct_in_place
from . import dtypes
from .core import TORCH, Base, assign, in_place, make, run
from .tensor import Tensor, method

NUMBERS = (int, float, complex, bool)


def as_operand(x: Any) -> Any:
    """A tensor or Python number; NotImplemented for anything else."""
    if isinstance(x, (Base, bool, int, float, complex)) and not isinstance(x, np.generic):
        return x
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, np.ndarray):
        return make(np.array(x))
    return NotImplemented


def level(x: Any) -> tuple[int, dtypes.dtype]:
    if isinstance(x, Base):
        return (2 if x._value.ndim else 1), dtypes.of_numpy(x._value.dtype)
    return 0, dtypes.of_number(x)


def result_type(*operands: Any) -> dtypes.dtype:
    """The dtype that arithmetic on these operands gives.

    >>> from autodiff_compiler.compat import torch
    >>> torch.result_type(torch.tensor([1]), 1.5)
    torch.float32
    """
    return dtypes.join([level(x) for x in operands])


def number_in(x: Any, dtype: np.dtype[Any]) -> Any:
    """A Python number as it stands in an operation of this dtype."""
    if isinstance(x, NUMBERS) and dtype.kind in "fc" and isinstance(x, int):
        return float(x)
    return x


def check_shapes(operands: tuple[Any, ...]) -> None:
    """Raise the error that users know where shapes do not broadcast."""
    shapes = [x._value.shape for x in operands if isinstance(x, Base)]
    if len(shapes) < 2 or all(s == shapes[0] for s in shapes):
        return
    known = shapes[0]
    for shape in shapes[1:]:
        width = max(len(known), len(shape))
        a, b = (1,) * (width - len(known)) + known, (1,) * (width - len(shape)) + shape
        for axis in range(width - 1, -1, -1):
            if a[axis] != b[axis] and a[axis] != 1 and b[axis] != 1:
                raise RuntimeError(
                    f"The size of tensor a ({a[axis]}) must match the size of tensor b ({b[axis]}) at non-singleton "
                    f"dimension {axis}"
                )
        known = np.broadcast_shapes(known, shape)


def elementwise(name: str, f: Callable[..., Any], *operands: Any, floats: bool = False) -> Any:
    """An operation element by element, in the dtype that the operands promote to; `floats`: a floating one."""
    dtype = result_type(*operands)
    if floats and not (dtype.is_floating_point or dtype.is_complex):
        dtype = dtypes.get_default_dtype()
    check_shapes(operands)
    wanted = dtype.numpy
    numbers = all(not isinstance(x, Base) for x in operands)

    def computed(*args: Any) -> Any:
        args = tuple([to(a, wanted) if hasattr(a, "dtype") else number_in(a, wanted) for a in args])
        if numbers:
            args = (wanted.type(args[0]), *args[1:])
        return f(*args)

    return run(name, computed, *operands, layout=True)


def _fmod(a: Any, b: Any) -> Any:
    return a - np.trunc(a / b) * b if np.asarray(value_of(a)).dtype.kind == "f" else np.fmod(a, b)


def _floor_divide(a: Any, b: Any) -> Any:
    return np.floor_divide(value_of(a), value_of(b))


def _direct(name: str, f: Callable[..., Any], ufunc: Callable[..., Any], floats: bool = False) -> Callable[..., Any]:
    """An operation of two operands, of which one at least is a tensor."""

    def general(a: Any, b: Any) -> Any:
        return elementwise(name, f, a, b, floats=floats)

    direct = binary(TORCH, name, PRIMS[f], ufunc, general)

    def operation(a: Any, b: Any) -> Any:
        return direct(a, b) if isinstance(a, Base) else general(a, b)

    return operation


_add, _sub = _direct("Add", operator.add, np.add), _direct("Sub", operator.sub, np.subtract)
_mul = _direct("Mul", operator.mul, np.multiply)
_div = _direct("Div", operator.truediv, np.true_divide, floats=True)


def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input + alpha * other``."""
    if alpha != 1:
        return elementwise("Add", lambda a, b: a + b * alpha, input, other)
    return _add(input, other)


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input - alpha * other``."""
    if alpha != 1:
        return elementwise("Sub", lambda a, b: a - b * alpha, input, other)
    return _sub(input, other)


def rsub(input: Any, other: Any) -> Any:
    """``other - input``."""
    return elementwise("RsubBackward1", lambda a, b: b - a, input, other)


def mul(input: Any, other: Any) -> Any:
    """``input * other``."""
    return _mul(input, other)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """``input / other``; rounded down for ``rounding_mode="floor"``, towards zero for ``"trunc"``."""
    if rounding_mode is None:
        return _div(input, other)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    if rounding_mode == "floor":
        return floor_divide(input, other)

    def truncated(a: Any, b: Any) -> Any:
        x, y = value_of(a), value_of(b)
        if np.asarray(x).dtype.kind == "f":
            return _step(np.trunc(x / y), a, b)
        return (np.abs(x) // np.abs(y) * np.sign(x) * np.sign(y)).astype(np.result_type(x, y))

    return elementwise("Div", truncated, input, other)


def _step(value: Any, a: Any, b: Any) -> Any:
    """A step function of two operands."""
    for x in (a, b):
        if x is not value_of(x):
            value = still(np.shape(value_of(value)), value, x)
    return value


def floor_divide(input: Any, other: Any) -> Any:
    """``input // other``, rounded down."""

    def computed(a: Any, b: Any) -> Any:
        return _step(_floor_divide(a, b), a, b)

    return elementwise("Div", computed, input, other)


def fmod(input: Any, other: Any) -> Any:
    """The remainder with the sign of the dividend."""
    return elementwise("Fmod", _fmod, input, other)


def remainder_(a: Any, b: Any) -> Any:
    return a - _step(_floor_divide(a, b), a, b) * b if np.asarray(value_of(a)).dtype.kind == "f" else a % b


def remainder_of(input: Any, other: Any) -> Any:
    """The remainder with the sign of the divisor, as ``%`` gives it."""
    return elementwise("Remainder", remainder_, input, other)


def pow(input: Any, exponent: Any) -> Any:
    """``input ** exponent``."""
    if isinstance(exponent, Base) or not isinstance(input, Base):
        name = "PowBackward1" if isinstance(input, Base) else "PowBackward2"
        return elementwise(name, _tensor_power, input, exponent)
    wanted = result_type(input, exponent).numpy
    if wanted.kind in "iu" and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")

    def computed(a: Any) -> Any:
        a = to(a, wanted)
        if exponent == 0:
            return still(np.shape(value_of(a)), np.ones_like(value_of(a)), a)
        if exponent == 1:
            return a * 1 if wanted.kind in "fc" else a + 0
        return a**exponent

    return unary(("Pow", exponent, exponent.__class__), "Pow", computed, input)


def _tensor_power(a: Any, b: Any) -> Any:
    x, y = np.asarray(value_of(a)), np.asarray(value_of(b))
    if x.dtype.kind in "iu" and y.dtype.kind == "i" and (y < 0).any():
        # Integers to negative powers are rounded towards zero.
        inverse = np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (y % 2), 0))
        return np.where(y < 0, inverse, np.power(x, np.maximum(y, 0))).astype(np.result_type(x, y))
    return np.power(a, b)


def _comparison(name: str, f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def compare(input: Any, other: Any) -> Any:
        check_shapes((input, other))
        dtype = result_type(input, other).numpy
        a, b = [to(x._value, dtype) if isinstance(x, Base) else x for x in (input, other)]
        return make(np.asarray(f(a, b)))

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = f"Element by element, whether ``input {_SIGNS[name]} other``: a tensor of bool."
    return compare


_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
eq, ne, lt, le, gt, ge = [_comparison(n, getattr(np, f)) for n, f in (
    ("eq", "equal"), ("ne", "not_equal"), ("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge",
    "greater_equal")
)]  # fmt: skip


def _logic(name: str, f: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def logic(input: Any, other: Any) -> Any:
        check_shapes((input, other))
        dtype = result_type(input, other).numpy
        return make(f(*[to(x._value, dtype) if isinstance(x, Base) else x for x in (input, other)]))

    logic.__name__ = logic.__qualname__ = name
    logic.__doc__ = doc
    return logic


bitwise_and = _logic("bitwise_and", np.bitwise_and, "``input & other``.")
bitwise_or = _logic("bitwise_or", np.bitwise_or, "``input | other``.")
bitwise_xor = _logic("bitwise_xor", np.bitwise_xor, "``input ^ other``.")
bitwise_left_shift = _logic("bitwise_left_shift", np.left_shift, "``input << other``.")
bitwise_right_shift = _logic("bitwise_right_shift", np.right_shift, "``input >> other``.")
logical_and = _logic("logical_and", np.logical_and, "Whether both elements are nonzero.")
logical_or = _logic("logical_or", np.logical_or, "Whether one of the elements is nonzero.")
logical_xor = _logic("logical_xor", np.logical_xor, "Whether exactly one of the elements is nonzero.")


def bitwise_not(input: Any) -> Any:
    """``~input``."""
    if input._value.dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return make(np.invert(input._value))


def logical_not(input: Any) -> Any:
    """Whether the elements are zero."""
    return make(np.logical_not(input._value))


def neg(input: Any) -> Any:
    """``-input``."""
    if input._value.dtype.kind == "b":
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported.")
    return unary("Neg", "Neg", operator.neg, input)


def maximum(input: Any, other: Any) -> Any:
    """The larger of two elements; at a tie each gets half of the gradient."""
    return elementwise("Maximum", np.maximum, input, other)


def minimum(input: Any, other: Any) -> Any:
    """The smaller of two elements; at a tie each gets half of the gradient."""
    return elementwise("Minimum", np.minimum, input, other)


def _fmax(a: Any, b: Any) -> Any:
    # At a tie the gradient is the first operand's.
    x, y = value_of(a), value_of(b)
    return np.where((x >= y) | np.isnan(y), a, b)


def fmax(input: Any, other: Any) -> Any:
    """The larger of two elements, a NaN counting as absent."""
    return elementwise("Fmax", _fmax, input, other)


def fmin(input: Any, other: Any) -> Any:
    """The smaller of two elements, a NaN counting as absent."""

    def computed(a: Any, b: Any) -> Any:
        x, y = value_of(a), value_of(b)
        return np.where((x <= y) | np.isnan(y), a, b)

    return elementwise("Fmin", computed, input, other)


def _atan2(a: Any, b: Any) -> Any:
    x, y = value_of(a), value_of(b)
    zero = (x == 0) & (y == 0)
    if not np.any(zero):
        return np.arctan2(a, b)
    # At the origin both slopes are taken to be zero.
    one = np.ones_like(zero, dtype=np.result_type(x, y))
    return np.where(zero, np.arctan2(x, y), np.arctan2(np.where(zero, one, a), np.where(zero, one, b)))


def atan2(input: Any, other: Any) -> Any:
    """The angle of the point (other, input)."""
    return elementwise("Atan2", _atan2, input, other, floats=True)


def hypot(input: Any, other: Any) -> Any:
    """The length of the vector (input, other)."""
    return elementwise("Hypot", np.hypot, input, other, floats=True)


def logaddexp(input: Any, other: Any) -> Any:
    """``log(exp(input) + exp(other))``, without overflow."""
    return elementwise("Logaddexp", np.logaddexp, input, other, floats=True)


def _xlogy(a: Any, b: Any) -> Any:
    x, y = value_of(a), value_of(b)
    still_zero = (x == 0) & ((y <= 0) | np.isinf(y))
    return np.where(still_zero, 0.0 * a, a * np.log(np.where(still_zero, 1.0, b)))


def xlogy(input: Any, other: Any) -> Any:
    """``input * log(other)``, zero where `input` is."""
    return elementwise("Xlogy", _xlogy, input, other, floats=True)


def lerp(input: Any, end: Any, weight: Any) -> Any:
    """``input + weight * (end - input)``."""
    return elementwise("Lerp", lambda a, b, w: a + w * (b - a), input, end, weight)


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``input + value * tensor1 * tensor2``."""
    return elementwise("Addcmul", lambda a, b, c: a + b * c * value, input, tensor1, tensor2)


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``input + value * tensor1 / tensor2``."""
    return elementwise("Addcdiv", lambda a, b, c: a + b / c * value, input, tensor1, tensor2)


def float_power(input: Any, exponent: Any) -> Any:
    """``input ** exponent`` in float64."""
    from .conversion import cast

    def wide(x: Any) -> Any:
        return cast(x, dtypes.float64) if isinstance(x, Base) else float(x)

    return pow(wide(input), wide(exponent))


def _operator(f: Callable[..., Any], reflected: bool = False) -> Callable[[Any, Any], Any]:
    def dunder(self: Any, other: Any) -> Any:
        other = as_operand(other)
        if other is NotImplemented:
            return NotImplemented
        return f(other, self) if reflected else f(self, other)

    return dunder


def _equality(f: Callable[..., Any], absent: bool) -> Callable[[Any, Any], Any]:
    def dunder(self: Any, other: Any) -> Any:
        other = as_operand(other)
        if other is NotImplemented:
            return absent
        return f(self, other)

    return dunder


_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": add, "sub": sub, "mul": mul, "truediv": div, "floordiv": floor_divide, "mod": remainder_of, "pow": pow,
    "and": bitwise_and, "or": bitwise_or, "xor": bitwise_xor, "lshift": bitwise_left_shift,
    "rshift": bitwise_right_shift,
}  # fmt: skip
for _name, _f in _OPERATORS.items():
    method(f"__{_name}__", _operator(_f))
    method(f"__r{_name}__", _operator(_f, reflected=True))
method("__rsub__", _operator(rsub))
for _name, _label, _fn, _ufunc, _back in (
    ("add", "Add", operator.add, np.add, "Add"), ("sub", "Sub", operator.sub, np.subtract, "RsubBackward1"),
    ("mul", "Mul", operator.mul, np.multiply, "Mul"), ("truediv", "Div", operator.truediv, np.true_divide, "Div"),
):  # fmt: skip
    for _dunder, _call, _turned in ((f"__{_name}__", _label, False), (f"__r{_name}__", _back, True)):
        method(_dunder, binary(TORCH, _call, PRIMS[_fn], _ufunc, getattr(Tensor, _dunder), _turned))
for _name in ("lt", "le", "gt", "ge"):
    method(f"__{_name}__", _operator(globals()[_name]))
method("__eq__", _equality(eq, False))
method("__ne__", _equality(ne, True))
method("__neg__", neg)
method("__pos__", lambda self: self)
method("__invert__", bitwise_not)


# --- in place ---------------------------------------------------------------------------------------------------------


def in_place_of(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """The method that writes the result of an operation into its first operand."""

    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        return assign(self, lambda before: f(before, *[before if a is self else a for a in args], **kwargs))

    write.__name__ = write.__qualname__ = name
    write.__doc__ = f"`{name[:-1]}`, written into the memory of the tensor."
    return write


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write the elements of `src`, broadcast and in this tensor's dtype, into the memory of this one."""
    shape, dtype = self._value.shape, self._value.dtype
    source = src if isinstance(src, Base) else make(np.asarray(src))
    if np.broadcast_shapes(shape, source._value.shape) != shape:
        raise RuntimeError(
            f"output with shape {list(shape)} doesn't match the broadcast shape "
            f"{list(np.broadcast_shapes(shape, source._value.shape))}"
        )
    return in_place("CopyBackwards", self, lambda a, b: _replaced(a, to(b, dtype), shape), source)


def _replaced(a: Any, b: Any, shape: tuple[int, ...]) -> Any:
    """`b` in the place of `a`, on which it depends no more."""
    b = np.broadcast_to(b, shape)
    return still(shape, b, a) if a is not value_of(a) else b


def fill_(self: Any, value: Any) -> Any:
    """Write a number, or a tensor without axes, into all elements."""
    if isinstance(value, Base):
        return copy_(self, value)
    shape, dtype = self._value.shape, self._value.dtype
    return in_place("Fill", self, lambda a: _replaced(a, np.asarray(value).astype(dtype), shape))


def zero_(self: Any) -> Any:
    """Write zeros into all elements."""
    return fill_(self, 0)


for _name, _f in (
    ("copy_", copy_), ("fill_", fill_), ("zero_", zero_), ("add", add), ("sub", sub), ("subtract", sub), ("mul", mul),
    ("multiply", mul), ("div", div), ("divide", div), ("true_divide", div), ("rsub", rsub), ("pow", pow), ("fmod",
    fmod),
    ("remainder", remainder_of), ("floor_divide", floor_divide), ("eq", eq), ("ne", ne), ("lt", lt), ("le", le),
    ("gt", gt), ("ge", ge), ("greater", gt), ("less", lt), ("neg", neg), ("negative", neg), ("maximum", maximum),
    ("minimum", minimum), ("fmax", fmax), ("fmin", fmin), ("atan2", atan2), ("arctan2", atan2), ("hypot", hypot),
    ("logaddexp", logaddexp), ("xlogy", xlogy), ("lerp", lerp), ("addcmul", addcmul), ("addcdiv", addcdiv),
    ("float_power", float_power), ("bitwise_and", bitwise_and), ("bitwise_or", bitwise_or),
    ("bitwise_xor", bitwise_xor), ("bitwise_not", bitwise_not), ("logical_and", logical_and),
    ("logical_or", logical_or), ("logical_xor", logical_xor), ("logical_not", logical_not),
):  # fmt: skip
    method(_name, _f)

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": add, "sub": sub, "subtract": sub, "mul": mul, "multiply": mul, "div": div, "divide": div, "true_divide": div,
    "rsub": rsub, "pow": pow, "fmod": fmod, "remainder": remainder_of, "floor_divide": floor_divide, "eq": eq, "ne": ne,
    "lt": lt, "le": le, "gt": gt, "ge": ge, "greater": gt, "less": lt, "neg": neg, "negative": neg,
    "maximum": maximum, "minimum": minimum, "fmax": fmax, "fmin": fmin, "atan2": atan2, "arctan2": atan2,
    "hypot": hypot, "logaddexp": logaddexp, "xlogy": xlogy, "lerp": lerp, "addcmul": addcmul, "addcdiv": addcdiv,
    "float_power": float_power, "bitwise_and": bitwise_and, "bitwise_or": bitwise_or, "bitwise_xor": bitwise_xor,
    "bitwise_not": bitwise_not, "logical_and": logical_and, "logical_or": logical_or, "logical_xor": logical_xor,
    "logical_not": logical_not, "result_type": result_type,
}  # fmt: skip

IN_PLACE: dict[str, Callable[..., Any]] = {
    "add": add, "sub": sub, "mul": mul, "multiply": mul, "div": div, "divide": div, "pow": pow, "fmod": fmod,
    "remainder": remainder_of, "floor_divide": floor_divide, "neg": neg, "lerp": lerp, "addcmul": addcmul,
    "addcdiv": addcdiv, "logical_not": logical_not, "bitwise_and": bitwise_and, "bitwise_or": bitwise_or,
}  # fmt: skip
for _name, _f in IN_PLACE.items():
    method(f"{_name}_", in_place_of(f"{_name}_", _f))
for _name, _ufunc in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.true_divide)):
    method(f"{_name}_", direct_in_place(TORCH, _ufunc, getattr(Tensor, f"{_name}_")))
for _name, _other in (
    ("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"), ("floordiv", "floor_divide"),
    ("mod", "remainder"), ("pow", "pow"), ("and", "bitwise_and"), ("or", "bitwise_or"),
):  # fmt: skip
    _f = getattr(Tensor, f"{_other}_")
    method(f"__i{_name}__", _f if _name in ("add", "sub", "mul", "truediv") else _operator(_f))
