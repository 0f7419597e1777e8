"""`Variable`: a value that can be assigned anew, and that tapes watch when it is read."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ...tape.operators import unary
from ...tape.tensor import Operand, wrap
from ...tape.tensor import Variable as _Variable
from . import dtypes
from .dtypes import as_dtype
from .errors import dims, invalid
from .naming import scoped
from .operators import Arithmetic, position, subscript
from .tensors import EagerTensor, convert_to_tensor, other_dtype, shown
from .values import HasTensors, as_value, unsupported

_serial = itertools.count()


class Variable(Arithmetic, _Variable):
    """A value with a shape and a dtype, which can be assigned anew. ``tf.Variable(...)`` makes a `ResourceVariable`.

    initial_value: what `convert_to_tensor` takes, or a function of no arguments that gives it. trainable: whether tapes
    watch it when it is read.

    Raises ValueError if there is no value, TypeError if the dtype does not fit.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return object.__new__(ResourceVariable if cls is Variable else cls)

    def __init__(
        self, initial_value: Any = None, trainable: bool | None = None, *, name: str | None = None, dtype: Any = None
    ):  # fmt: skip
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified.")
        if callable(initial_value):
            initial_value = initial_value()
        self._value = self._converted(initial_value, None if dtype is None else as_dtype(dtype))
        self._trainable = trainable is None or bool(trainable)
        self._token, self._slot = None, -1  # attributes of the object are read faster than those of its class
        self._name = scoped("Variable" if name is None else name)
        self._name_hint = "".join(c if c.isalnum() else "_" for c in self._name)
        self._serial = next(_serial)

    @staticmethod
    def _converted(value: Any, dtype: Any) -> Any:
        if isinstance(value, Operand):
            if dtype is not None and value._value.dtype is not dtype.np_dtype and value._value.dtype != dtype.np_dtype:
                raise other_dtype(value, dtype)
            return value._value[()]  # another object: a recording knows constants by their values
        if hasattr(value, "_as_tensor"):
            return Variable._converted(value._as_tensor(), dtype)
        try:
            return as_value(value, dtype)
        except HasTensors:
            return convert_to_tensor(value, dtype)._value

    @property
    def name(self) -> str:
        """The name, followed by ``:0``."""
        return f"{self._name}:0"

    @property
    def trainable(self) -> bool:
        return self._trainable

    # The value now, as a tensor that depends on the variable.
    value = read_value = unary(PRIMS[np.positive], lambda v: v)

    # --- assignment -----------------------------------------------------------------------------------------------

    def _operand(self, value: Any) -> Any:
        """The NumPy value to assign or add, in this dtype."""
        if value is None:
            raise unsupported(value)
        return self._converted(value, dtypes.of(self._value.dtype))

    def assign(self, value: Any, *, read_value: bool = True) -> Any:
        """Give the variable another value of its shape and dtype. Recordings keep the values that were read.

        Returns the variable, or None if `read_value` is false. Raises ValueError for another shape or dtype.
        """
        v = self._operand(value)
        if v.shape != self._value.shape:
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape {self.shape}, and "
                f"the assigned value shape {v.shape} are incompatible."
            )
        self._rebind(v)
        return self if read_value else None

    def assign_add(self, delta: Any, *, read_value: bool = True) -> Any:
        """Add `delta`, of the variable's shape and dtype. Raises as `assign` does."""
        self._rebind(self._value + self._delta(delta, "AssignAddVariableOp"))
        return self if read_value else None

    def assign_sub(self, delta: Any, *, read_value: bool = True) -> Any:
        """Subtract `delta`, of the variable's shape and dtype. Raises as `assign` does."""
        self._rebind(self._value - self._delta(delta, "AssignSubVariableOp"))
        return self if read_value else None

    def _delta(self, delta: Any, op: str) -> Any:
        v = self._operand(delta)
        if v.shape != self._value.shape:
            raise invalid(
                op, f"Cannot update variable with shape {dims(self._value.shape)} using a Tensor with shape "
                f"{dims(v.shape)}, shapes must be equal."
            )  # fmt: skip
        return v

    def __getitem__(self, index: Any) -> Any:
        part = subscript(self, index)
        out = wrap(_Part, part._value)
        out._token, out._slot = part._token, part._slot
        out._variable, out._index = self, index
        return out

    def __deepcopy__(self, memo: Any) -> Any:
        out = memo[id(self)] = object.__new__(type(self))
        for key, x in self.__dict__.items():
            out.__dict__[key] = x[()] if key == "_value" else copy.deepcopy(x, memo)
        out._serial = next(_serial)
        return out

    def __repr__(self) -> str:
        return f"<tf.Variable {self.name!r} shape={self.shape} dtype={self.dtype.name}, numpy={shown(self)}>"


def _in_place(name: str, symbol: str) -> Any:
    """A method for an operator that would change a variable."""
    advice = f"assign_{name}(value)" if name in ("add", "sub") else f"assign(variable {symbol} value)"

    def method(self: Any, other: Any) -> Any:
        raise RuntimeError(
            f"`variable {symbol}= value` with `tf.Variable`s is not supported. Use `variable.{advice}` to modify the "
            f"variable, or `out = variable {symbol} value` if you need to get a new output Tensor."
        )

    return method


for _name, _symbol in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**"}.items():
    setattr(Variable, f"__i{_name}__", _in_place(_name, _symbol))


class ResourceVariable(Variable):
    """The class of all variables."""


class _Part(EagerTensor):
    """A part of a variable, which can be assigned to."""

    __slots__ = ("_index", "_variable")
    _index: Any
    _variable: Variable

    def assign(self, value: Any) -> Variable:
        """Store a value in this part of the variable."""
        v = self._variable
        made = np.array(v._value)
        made[position(self._index)] = v._operand(value)
        v._rebind(made[()])
        return v

    def assign_add(self, value: Any) -> Variable:
        """Add a value to this part of the variable."""
        return self.assign(self._variable[self._index] + value)

    def assign_sub(self, value: Any) -> Variable:
        """Subtract a value from this part of the variable."""
        return self.assign(self._variable[self._index] - value)


_Part.__name__ = _Part.__qualname__ = "EagerTensor"
