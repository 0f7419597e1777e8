"""Python's operators on tensors, and the functions that they call."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ..graph.array import still, to, value_of
from ..graph.direct import binary, unary
from ..graph.direct import in_place as direct_in_place
from .arithmetic import as_operand, elementwise, in_place_of, result_type
from .core import TORCH, Base, in_place, make
from .made import FUNCTIONS as MADE
from .tensor import Tensor, method


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
            return _still(np.trunc(x / y), a, b)
        return (np.abs(x) // np.abs(y) * np.sign(x) * np.sign(y)).astype(np.result_type(x, y))

    return elementwise("Div", truncated, input, other)


def _still(value: Any, a: Any, b: Any) -> Any:
    """A step function of two operands."""
    for x in (a, b):
        if x is not value_of(x):
            value = still(np.shape(value_of(value)), value, x)
    return value


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


def lerp(input: Any, end: Any, weight: Any) -> Any:
    """``input + weight * (end - input)``."""
    return elementwise("Lerp", lambda a, b, w: a + w * (b - a), input, end, weight)


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``input + value * tensor1 * tensor2``."""
    return elementwise("Addcmul", lambda a, b, c: a + b * c * value, input, tensor1, tensor2)


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``input + value * tensor1 / tensor2``."""
    return elementwise("Addcdiv", lambda a, b, c: a + b / c * value, input, tensor1, tensor2)


TWO: dict[str, Callable[..., Any]] = {**MADE, "add": add, "sub": sub, "mul": mul, "div": div, "pow": pow}


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
    "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
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


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": add, "sub": sub, "mul": mul, "div": div, "pow": pow, "lerp": lerp, "addcmul": addcmul, "addcdiv": addcdiv,
    "neg": neg, "bitwise_not": bitwise_not, "logical_not": logical_not,
}  # fmt: skip
_ALIASES = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "negative": "neg",
}  # fmt: skip
FUNCTIONS.update({name: FUNCTIONS[other] for name, other in _ALIASES.items()})
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
for _name in (
    "add", "sub", "mul", "multiply", "div", "divide", "pow", "neg", "lerp", "addcmul", "addcdiv", "logical_not",
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
