"""Python's operators on tensors, functions of two tensors, and writes into one."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ..graph.array import still, to, value_of
from ..graph.direct import binary, in_place, unary
from ..operations.elementwise import truncated_quotient
from ..operations.reductions import evenly
from ..operations.sorting import one
from .core import (
    TORCH,
    Base,
    as_operand,
    assign,
    axes_of,
    elementwise,
    in_place_of,
    make,
    named,
    numpy_names,
    result_type,
    run,
)
from .made import FUNCTIONS as MADE
from .made import pair
from .tensor import Tensor, method

Binary = Callable[[Any, Any], Any]


def _operator(f: Binary, reflected: bool = False, absent: Any = NotImplemented) -> Binary:
    """The method of an operator, for operands that are tensors, numbers or arrays."""

    def dunder(self: Any, other: Any) -> Any:
        other = as_operand(other)
        if other is NotImplemented:
            return absent
        return f(other, self) if reflected else f(self, other)

    return dunder


def _add_operator(dunder: str, f: Binary, name: str, fast: Binary | None = None, turned: str = "") -> None:
    """Give tensors an operator, also reflected and in place. fast: NumPy's function for it, which is then recorded
    directly. name, turned: what graphs call it, also reflected."""

    def general(a: Any, b: Any) -> Any:
        return f(a, b) if fast is None else elementwise(name, f, a, b, floats=dunder == "truediv")

    plain, reflected = _operator(general), _operator(general, reflected=True)
    write = _operator(in_place_of(f"{name.lower()}_", general))
    if fast is not None:
        plain = binary(TORCH, name, PRIMS[f], fast, plain)
        reflected = binary(TORCH, turned or name, PRIMS[f], fast, reflected, True)
        write = in_place(TORCH, fast, write)
    for prefix, made in (("", plain), ("r", reflected), ("i", write)):
        method(f"__{prefix}{dunder}__", made)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """``input / other``; rounded down for ``rounding_mode="floor"``, towards zero for ``"trunc"``."""
    if rounding_mode is None:
        return input / other
    if rounding_mode == "floor":
        return input // other
    if rounding_mode == "trunc":
        return elementwise("Div", truncated_quotient, input, other)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")


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


for _dunder, _f, _name, _fast, _turned in (
    ("add", operator.add, "Add", np.add, ""), ("sub", operator.sub, "Sub", np.subtract, "RsubBackward1"),
    ("mul", operator.mul, "Mul", np.multiply, ""), ("truediv", operator.truediv, "Div", np.true_divide, ""),
):  # fmt: skip
    _add_operator(_dunder, _f, _name, _fast, _turned)
for _dunder, _name in (
    ("floordiv", "floor_divide"), ("mod", "remainder"), ("and", "bitwise_and"), ("or", "bitwise_or"),
    ("xor", "bitwise_xor"),
):  # fmt: skip
    _add_operator(_dunder, MADE[_name], _name)
_add_operator("pow", pow, "pow")
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    method(f"__{_name}__", _operator(MADE[_name], absent={"eq": False, "ne": True}.get(_name, NotImplemented)))
method("__pos__", lambda self: self)


def _extreme(name: str, find: Callable[..., Any], whole: Callable[..., Any], two: str) -> Callable[..., Any]:
    label = name.capitalize()

    def extreme(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        other = dim if isinstance(dim, Base) else other
        if other is not None:
            return MADE[two](input, other)
        if dim is not None:
            axis = axes_of(input, dim)
            found = run(f"{label}Backward0", lambda a: one(a, find(value_of(a), axis=axis), axis, keepdim), input)
            return pair(name, *found)
        if input._value.size == 0:
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                "with the 'dim' argument."
            )
        return run(f"{label}Backward1", whole, input)

    doc = (
        f"The {name} of all elements; along `dim`, (values, indices); of two tensors, element by element. Ties over "
        "all elements share the gradient; along an axis it goes to the element that is named."
    )
    return numpy_names(named(name, extreme, doc))


# --- in place ---------------------------------------------------------------------------------------------------------


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write the elements of `src`, broadcast and in this tensor's dtype, into the memory of this one."""
    shape, dtype = self._value.shape, self._value.dtype
    source = src if isinstance(src, Base) else make(np.asarray(src))
    return assign(self, lambda a: run("CopyBackwards", lambda a, b: _replaced(a, to(b, dtype), shape), a, source))


def _replaced(a: Any, b: Any, shape: tuple[int, ...]) -> Any:
    """`b` in the place of `a`, on which it depends no more."""
    b = np.broadcast_to(b, shape)
    return still(shape, b, a) if a is not value_of(a) else b


def fill_(self: Any, value: Any) -> Any:
    """Write a number, or a tensor without axes, into all elements."""
    if isinstance(value, Base):
        return copy_(self, value)
    shape, dtype = self._value.shape, self._value.dtype
    return assign(self, lambda a: run("Fill", lambda a: _replaced(a, np.asarray(value).astype(dtype), shape), a))


def zero_(self: Any) -> Any:
    """Write zeros into all elements."""
    return fill_(self, 0)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "div": div, "divide": div, "true_divide": div, "pow": pow,
}  # fmt: skip
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
    method(f"{_name}_", in_place_of(f"{_name}_", _f))
for _name, _fast in (("add_", np.add), ("sub_", np.subtract), ("mul_", np.multiply), ("div_", np.true_divide)):
    method(_name, in_place(TORCH, _fast, getattr(Tensor, _name)))
for _name, _find, _whole, _two in (
    ("max", np.argmax, evenly(np.max), "maximum"), ("min", np.argmin, evenly(np.min), "minimum"),
):  # fmt: skip
    FUNCTIONS[_name] = _extreme(_name, _find, _whole, _two)
    method(_name, FUNCTIONS[_name])
FUNCTIONS.update(result_type=result_type, where=where, allclose=allclose, equal=equal)
_METHODS: dict[str, Any] = {
    "copy_": copy_, "fill_": fill_, "zero_": zero_, "allclose": allclose, "equal": equal,
    "where": lambda self, condition, other: where(condition, self, other), "real": property(MADE["real"]),
    "imag": property(MADE["imag"]),
}  # fmt: skip
for _name, _f in _METHODS.items():
    method(_name, _f)
