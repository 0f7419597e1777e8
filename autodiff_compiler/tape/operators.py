"""Python's operators on operands, and fast reductions.

Each step of a user's program goes through them. So the code is written out for each operation, with only the tests that
this operation needs.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..codegen.load import load
from ..ir.core import Prim
from ..ir.opset import ABS, PRIMS
from .apply import encode, structural
from .recording import CALL, CONSTANT, FULL, STATE
from .tensor import Operand

ndarray = np.ndarray


# An operator of two operands. It is written out for each operator, class and order of operands. Variables are read at
# other places than tensors, since the interpreter adapts each place to one class.
_BINARY = """
def operation(self, other):
    x = self._value
    kind = type(other)
    if kind is {own}:
        y = other._value
        to = other._token
    elif kind is not float and isinstance(other, Operand):
        y = other._value
        to = other._token
    else:
        y = {coerced}
        if y is NotImplemented:
            return NotImplemented
        t = {cls}()
        t._value = out = {plain_expression}
        rec = STATE.rec
        if rec is not None:
            token = rec.token
            i = self._slot if self._token is token else rec.find(self)
            if i >= 0:
                rec.values.append(y)
                rec.node = node = rec.node.go((prim, {constant}), 2)
                rec.values.append(out)
                t._token = token
                t._slot = node.last
                return t
        t._token = CONSTANT
        t._slot = -1
        return t
    {check}
    t = {cls}()
    t._value = out = {expression}
    rec = STATE.rec
    if rec is not None:
        token = rec.token
        at = self._token
        if at is token:
            i = self._slot
            if to is token:
                j = other._slot
                node = rec.node
                hot = node.hot
                if hot.head is prim and hot.left == {first} and hot.right == {second}:
                    rec.node = node = hot
                else:
                    rec.node = node = node.go((prim, {first}, {second}), 1)
                rec.values.append(out)
                t._token = token
                t._slot = node.last
                return t
        else:
            i = -1 if at is CONSTANT else rec.find(self)
        j = other._slot if to is token else -1 if to is CONSTANT else rec.find(other)
        if i >= 0 or j >= 0:
            values = rec.values
            if {first} < 0:
                values.append({first_value})
            if {second} < 0:
                values.append({second_value})
            node = rec.node
            hot = node.hot
            if hot.head is prim and hot.left == {first} and hot.right == {second}:
                rec.node = node = hot
            else:
                rec.node = node = node.go((prim, {first}, {second}), 1 + (i < 0) + (j < 0))
            values.append(out)
            t._token = token
            t._slot = node.last
            return t
    t._token = CONSTANT
    t._slot = -1
    return t
"""
_EXPRESSIONS: dict[Any, str] = {
    np.sum: "reduce(x, None)",
    # The short way is right for elements in full precision, and if there are any.
    np.mean: "reduce(x, None) / n if type(x) is ndarray and x.dtype in full and (n := x.size) else compute(x)",
    operator.add: "{0} + {1}",
    operator.sub: "{0} - {1}",
    operator.mul: "{0} * {1}",
    operator.truediv: "{0} / {1}",
    # For two matrices ndarray.dot gives what np.matmul does, and it is called faster.
    np.matmul: "{0}.dot({1}) if {0}.ndim == 2 == {1}.ndim else compute({0}, {1})",
}


def binary(
    prim: Prim, compute: Callable[[Any, Any], Any], name: str, reflected: bool = False,
    cls: type[Any] | None = None, strict: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """A method for an operator of two operands: ``__add__``, or ``__radd__`` if `reflected`.

    cls: the class of results; None: `_tensor_class` of the operand. strict: both operands must have one dtype.
    """
    check = "if x.dtype is not y.dtype: self._mismatch(other, name)"
    if not strict:
        check = "pass" if cls is not None else check.replace("if ", "if self._strict and ", 1)
    operands = ("y", "x") if reflected else ("x", "y")
    method = f"__{'r' if reflected else ''}{name}__"
    expression = _EXPRESSIONS.get(compute, "compute({0}, {1})")
    plain_expression = "compute({0}, {1})" if compute is np.matmul else expression  # a plain number has no `ndim`
    text = _BINARY.format(
        check=check,
        cls="cls" if cls is not None else "self._tensor_class",
        own="cls" if cls is not None else "type(self)",
        expression=expression.format(*operands),
        plain_expression=plain_expression.format(*operands),
        first="j" if reflected else "i",
        second="i" if reflected else "j",
        first_value=operands[0],
        second_value=operands[1],
        constant="-1, i" if reflected else "i, -1",
        # With `cls`, NumPy decides the dtype of a plain number. Without it, the class decides in `_coerce`.
        coerced="other if kind is float or kind is int else self._coerce(other)"
        if cls is not None
        else "self._coerce(other)",
    )
    scope = {
        "Operand": Operand, "STATE": STATE, "CONSTANT": CONSTANT, "cls": cls, "prim": prim, "compute": compute,
        "name": name,
    }  # fmt: skip
    made = types.FunctionType(_code(text).replace(), scope, method)  # a copy: the interpreter adapts it to its use
    made.__qualname__ = f"Operand.{method}"
    return made


@functools.cache
def _code(text: str) -> types.CodeType:
    """The code of the function that a text defines. Most operators have the same text."""
    return load(text, "operation", {}).__code__


# An operation of one operand.
_UNARY = """
def operation(self):
    x = self._value
    out = {expression}
    if out is x:
        out = out[()]  # each tensor has a value of its own: a recording identifies constants by their values
    t = {cls}()
    t._value = out
    rec = STATE.rec
    if rec is not None:
        i = self._slot if self._token is rec.token else rec.find(self)
        if i >= 0:
            node = rec.node
            hot = node.hot
            if hot.head is prim and hot.left == i and hot.right is right:
                rec.node = node = hot
            else:
                rec.node = node = node.go((prim, i, *static), 1)
            rec.values.append(out)
            t._token = rec.token
            t._slot = node.last
            return t
    t._token = CONSTANT
    t._slot = -1
    return t
"""


def unary(
    prim: Prim, compute: Callable[[Any], Any], cls: type[Any] | None = None, arguments: tuple[Any, ...] = ()
) -> Callable[..., Any]:
    """An operation of one operand. `arguments`: plain arguments after it, which are part of the structure."""
    static = tuple([(type(a), a) for a in arguments])
    text = _UNARY.format(
        expression=_EXPRESSIONS.get(compute, "compute(x)"), cls="cls" if cls is not None else "self._tensor_class"
    )
    scope = {
        "STATE": STATE, "CONSTANT": CONSTANT, "cls": cls, "prim": prim, "compute": compute, "static": static,
        "right": static[0] if static else None, "reduce": np.add.reduce, "ndarray": ndarray, "full": FULL,
    }  # fmt: skip
    return types.FunctionType(_code(text).replace(), scope, prim.name)


def reduction(prim: Prim, compute: Callable[[Any, Any, bool], Any], cls: type[Any] | None = None) -> Callable[..., Any]:
    """A reduction ``method(x, axis=None, keepdims=False)``; ``compute(value, axis, keepdims)`` gives its value."""
    tails: dict[Any, Any] = {}

    def method(self: Any, axis: Any = None, keepdims: bool = False) -> Any:
        out = compute(self._value, axis, keepdims)
        t = cls() if cls is not None else self._tensor_class()
        t._value = out
        rec = STATE.rec
        if rec is not None:
            i = self._slot if self._token is rec.token else rec.find(self)
            if i >= 0:
                node = rec.node
                if axis is None and not keepdims:
                    hot = node.hot
                    if hot.head is prim and hot.left == i and hot.right is None:
                        rec.node = node = hot
                    else:
                        rec.node = node = node.go((prim, i), 1)
                else:
                    try:
                        tail = tails[axis, keepdims, axis.__class__]
                    except KeyError:
                        tail = tails[axis, keepdims, axis.__class__] = (
                            ("axis", encode(structural(axis), rec, [], False)),
                            ("keepdims", (bool, bool(keepdims))),
                        )
                    rec.node = node = node.go((prim, (CALL, i), tail), 1)
                rec.values.append(out)
                t._token = rec.token
                t._slot = node.last
                return t
        t._token = CONSTANT
        t._slot = -1
        return t

    return method


_reduce: Any = np.add.reduce


def add_up(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """``np.sum`` without its overhead."""
    return _reduce(x, axis, None, None, keepdims)


def average(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """``np.mean``, without its overhead where there are elements, in full precision."""
    if not keepdims and x.__class__ is ndarray and x.dtype in FULL:
        size = x.size
        if not size:
            pass
        elif axis is None:
            return _reduce(x, None) / size
        elif axis.__class__ is int and x.ndim:
            return _reduce(x, axis) / x.shape[axis]
    return np.mean(x, axis=axis, keepdims=keepdims)


# Operators of two operands that also have a reflected method, and comparisons, which Python reflects itself.
_REFLECTED: dict[str, Any] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "matmul": np.matmul,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor,
}  # fmt: skip
_COMPARISONS: dict[str, Any] = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}


def install_operators(owner: type[Any], cls: type[Any] | None = None, strict: bool = False) -> None:
    """Give the class `owner` Python's operators. See `binary` for `cls` and `strict`."""
    for name, fn in {**_REFLECTED, **_COMPARISONS}.items():
        setattr(owner, f"__{name}__", binary(PRIMS[fn], fn, name, False, cls, strict))
    for name, fn in _REFLECTED.items():
        setattr(owner, f"__r{name}__", binary(PRIMS[fn], fn, name, True, cls, strict))
    for name, fn in (("neg", operator.neg), ("pos", operator.pos), ("invert", operator.invert)):
        setattr(owner, f"__{name}__", unary(PRIMS[fn], fn, cls))
    setattr(owner, "__abs__", unary(ABS, abs, cls))


install_operators(Operand)
POW = PRIMS[operator.pow]
_power = binary(POW, operator.pow, "pow")


_plain_powers: dict[Any, Callable[[Any], Any]] = {}


def power_of(self: Any, other: Any) -> Any:
    """The method ``__pow__``."""
    # A plain exponent is part of the structure, since each exponent has a derivative of its own.
    if type(other) is int or type(other) is float:
        exponent = self._exponent(other)
        key = (exponent.__class__, exponent)
        power = _plain_powers.get(key)
        if power is None:
            if len(_plain_powers) > 1024:
                _plain_powers.clear()
            power = _plain_powers[key] = unary(POW, lambda v: v**exponent, arguments=(exponent,))
        return power(self)
    return _power(self, other)


setattr(Operand, "__pow__", power_of)
setattr(Operand, "__rpow__", binary(POW, operator.pow, "pow", reflected=True))
