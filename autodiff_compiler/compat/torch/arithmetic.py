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
from .core import TORCH, Base, assign, in_place, make, named, run
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
    return _step(np.floor_divide(value_of(a), value_of(b)), a, b)


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
        return TWO["floor_divide"](input, other)

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


def _remainder(a: Any, b: Any) -> Any:
    return a - _floor_divide(a, b) * b if np.asarray(value_of(a)).dtype.kind == "f" else a % b


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


def neg(input: Any) -> Any:
    """``-input``."""
    if input._value.dtype.kind == "b":
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported.")
    return unary("Neg", "Neg", operator.neg, input)


def _atan2(a: Any, b: Any) -> Any:
    x, y = value_of(a), value_of(b)
    zero = (x == 0) & (y == 0)
    if not np.any(zero):
        return np.arctan2(a, b)
    # At the origin both slopes are taken to be zero.
    one = np.ones_like(zero, dtype=np.result_type(x, y))
    return np.where(zero, np.arctan2(x, y), np.arctan2(np.where(zero, one, a), np.where(zero, one, b)))


def _xlogy(a: Any, b: Any) -> Any:
    x, y = value_of(a), value_of(b)
    still_zero = (x == 0) & ((y <= 0) | np.isinf(y))
    return np.where(still_zero, 0.0 * a, a * np.log(np.where(still_zero, 1.0, b)))


def lerp(input: Any, end: Any, weight: Any) -> Any:
    """``input + weight * (end - input)``."""
    return elementwise("Lerp", lambda a, b, w: a + w * (b - a), input, end, weight)


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``input + value * tensor1 * tensor2``."""
    return elementwise("Addcmul", lambda a, b, c: a + b * c * value, input, tensor1, tensor2)


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``input + value * tensor1 / tensor2``."""
    return elementwise("Addcdiv", lambda a, b, c: a + b / c * value, input, tensor1, tensor2)


# --- tables -----------------------------------------------------------------------------------------------------------

# Of functions of two operands: how they are computed, their name in the graph, whether integers are taken as floats,
# and what they are.
_TWO: dict[str, tuple[Callable[..., Any], str, bool, str]] = {
    "rsub": (lambda a, b: b - a, "RsubBackward1", False, "``other - input``."),
    "floor_divide": (_floor_divide, "Div", False, "``input // other``, rounded down."),
    "fmod": (_fmod, "Fmod", False, "The remainder with the sign of the dividend."),
    "remainder": (_remainder, "Remainder", False, "The remainder with the sign of the divisor, as ``%`` gives it."),
    "maximum": (np.maximum, "Maximum", False, "The larger of two elements; at a tie each gets half of the gradient."),
    "minimum": (np.minimum, "Minimum", False, "The smaller of two elements; at a tie each gets half of the gradient."),
    "atan2": (_atan2, "Atan2", True, "The angle of the point (other, input)."),
    "hypot": (np.hypot, "Hypot", True, "The length of the vector (input, other)."),
    "logaddexp": (np.logaddexp, "Logaddexp", True, "``log(exp(input) + exp(other))``, without overflow."),
    "xlogy": (_xlogy, "Xlogy", True, "``input * log(other)``, zero where `input` is."),
}
# Those without a gradient.
_STEPS: dict[str, tuple[Callable[..., Any], str]] = {
    "eq": (np.equal, "``input == other``"), "ne": (np.not_equal, "``input != other``"),
    "lt": (np.less, "``input < other``"), "le": (np.less_equal, "``input <= other``"),
    "gt": (np.greater, "``input > other``"), "ge": (np.greater_equal, "``input >= other``"),
    "bitwise_and": (np.bitwise_and, "``input & other``"), "bitwise_or": (np.bitwise_or, "``input | other``"),
    "bitwise_xor": (np.bitwise_xor, "``input ^ other``"), "bitwise_left_shift": (np.left_shift, "``input << other``"),
    "bitwise_right_shift": (np.right_shift, "``input >> other``"),
    "logical_and": (np.logical_and, "whether both are nonzero"),
    "logical_or": (np.logical_or, "whether one is nonzero"),
    "logical_xor": (np.logical_xor, "whether exactly one is nonzero"),
}  # fmt: skip


def _two(name: str, f: Callable[..., Any], label: str, floats: bool, doc: str) -> Callable[..., Any]:
    return named(name, lambda input, other: elementwise(label, f, input, other, floats=floats), doc)


def _without_gradient(name: str, f: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def operation(input: Any, other: Any) -> Any:
        check_shapes((input, other))
        dtype = result_type(input, other).numpy
        return make(np.asarray(f(*[to(x._value, dtype) if isinstance(x, Base) else x for x in (input, other)])))

    return named(name, operation, f"Element by element: {doc}.")


TWO: dict[str, Callable[..., Any]] = {name: _two(name, *row) for name, row in _TWO.items()}
TWO.update({name: _without_gradient(name, *row) for name, row in _STEPS.items()})
TWO.update(add=add, sub=sub, mul=mul, div=div, pow=pow)


def bitwise_not(input: Any) -> Any:
    """``~input``."""
    if input._value.dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return make(np.invert(input._value))


def logical_not(input: Any) -> Any:
    """Whether the elements are zero."""
    return make(np.logical_not(input._value))


# --- operators --------------------------------------------------------------------------------------------------------


def _operator(f: Callable[..., Any], reflected: bool = False, absent: Any = NotImplemented) -> Callable[..., Any]:
    def dunder(self: Any, other: Any) -> Any:
        other = as_operand(other)
        if other is NotImplemented:
            return absent
        return f(other, self) if reflected else f(self, other)

    return dunder


_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}  # fmt: skip
for _name, _other in _OPERATORS.items():
    method(f"__{_name}__", _operator(TWO[_other]))
    method(f"__r{_name}__", _operator(TWO[_other], reflected=True))
method("__rsub__", _operator(TWO["rsub"]))
_DIRECT: tuple[tuple[str, str, Callable[..., Any], Callable[..., Any], str], ...] = (
    ("add", "Add", operator.add, np.add, "Add"), ("sub", "Sub", operator.sub, np.subtract, "RsubBackward1"),
    ("mul", "Mul", operator.mul, np.multiply, "Mul"), ("truediv", "Div", operator.truediv, np.true_divide, "Div"),
)  # fmt: skip
for _name, _label, _fn, _ufunc, _back in _DIRECT:
    for _dunder, _call, _turned in ((f"__{_name}__", _label, False), (f"__r{_name}__", _back, True)):
        method(_dunder, binary(TORCH, _call, PRIMS[_fn], _ufunc, getattr(Tensor, _dunder), _turned))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _absent: Any = {"eq": False, "ne": True}.get(_name, NotImplemented)
    method(f"__{_name}__", _operator(TWO[_name], absent=_absent))
method("__neg__", neg)
method("__pos__", lambda self: self)
method("__invert__", bitwise_not)


# --- in place ---------------------------------------------------------------------------------------------------------


def in_place_of(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """The method that writes the result of an operation into its first operand."""

    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        return assign(self, lambda before: f(before, *[before if a is self else a for a in args], **kwargs))

    return named(name, write, f"`{name[:-1]}`, written into the memory of the tensor.")


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


_ALIASES = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "greater": "gt", "less": "lt",
    "negative": "neg", "arctan2": "atan2",
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: f for name, f in TWO.items() if "shift" not in name},
    "lerp": lerp, "addcmul": addcmul, "addcdiv": addcdiv, "neg": neg, "bitwise_not": bitwise_not,
    "logical_not": logical_not,
}  # fmt: skip
FUNCTIONS.update({name: FUNCTIONS[other] for name, other in _ALIASES.items()})
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
for _name in (
    "add", "sub", "mul", "multiply", "div", "divide", "pow", "fmod", "remainder", "floor_divide", "neg", "lerp",
    "addcmul", "addcdiv", "logical_not", "bitwise_and", "bitwise_or",
):  # fmt: skip
    method(f"{_name}_", in_place_of(f"{_name}_", FUNCTIONS[_name]))
for _name, _f in (("copy_", copy_), ("fill_", fill_), ("zero_", zero_)):
    method(_name, _f)
for _name, _label, _fn, _ufunc, _back in _DIRECT:
    _written = f"{_OPERATORS[_name]}_"
    method(_written, direct_in_place(TORCH, _ufunc, getattr(Tensor, _written)))
    method(f"__i{_name}__", getattr(Tensor, _written))
for _name in ("floordiv", "mod", "pow", "and", "or"):
    method(f"__i{_name}__", _operator(getattr(Tensor, f"{_OPERATORS[_name]}_")))
FUNCTIONS["result_type"] = result_type
