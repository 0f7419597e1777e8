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
from .core import TORCH, Base, in_place, make, run
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


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """`input` where the condition holds, else `other`; with the condition alone, the indices of what is nonzero."""
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    input, other = as_operand(input), as_operand(other)
    wanted = result_type(input, other).numpy

    def computed(c: Any, *given: Any) -> Any:
        return np.where(value_of(c), *[to(x, wanted) if hasattr(x, "dtype") else wanted.type(x) for x in given])

    return run("Where", computed, condition.detach(), input, other, layout=True)


def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are equal but for rounding."""
    return bool(np.allclose(input._value, other._value, rtol, atol, equal_nan))


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape and elements."""
    return bool(np.array_equal(input._value, other._value))


TWO: dict[str, Callable[..., Any]] = {**MADE, "add": add, "sub": sub, "mul": mul, "div": div, "pow": pow}


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
method("__pos__", lambda self: self)


# --- in place ---------------------------------------------------------------------------------------------------------


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write the elements of `src`, broadcast and in this tensor's dtype, into the memory of this one."""
    shape, dtype = self._value.shape, self._value.dtype
    source = src if isinstance(src, Base) else make(np.asarray(src))
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
    "add": add, "sub": sub, "mul": mul, "div": div, "pow": pow, "subtract": sub, "multiply": mul, "divide": div,
    "true_divide": div,
}  # fmt: skip
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
    method(f"{_name}_", in_place_of(f"{_name}_", _f))
for _name, _f in (("copy_", copy_), ("fill_", fill_), ("zero_", zero_)):
    method(_name, _f)
for _name, _label, _fn, _ufunc, _back in _DIRECT:
    _written = f"{_OPERATORS[_name]}_"
    method(_written, direct_in_place(TORCH, _ufunc, getattr(Tensor, _written)))
    method(f"__i{_name}__", getattr(Tensor, _written))
for _name in ("floordiv", "mod", "pow", "and", "or"):
    method(f"__i{_name}__", _operator(getattr(Tensor, f"{_OPERATORS[_name]}_")))
FUNCTIONS.update(result_type=result_type, where=where, allclose=allclose, equal=equal)
for _name, _f in (("allclose", allclose), ("equal", equal), ("where", lambda self, c, other: where(c, self, other))):
    method(_name, _f)
for _name in ("real", "imag"):
    method(_name, property(MADE[_name]))  # type: ignore[arg-type]
