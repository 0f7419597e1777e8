"""`Variable`: a value that can be assigned anew, and that tapes watch when it is read."""

from __future__ import annotations

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
from .shapes import TensorShape, as_shape, known
from .tensors import EagerTensor, convert_to_tensor, other_dtype, shown
from .values import HasTensors, as_value, unsupported

_serial = itertools.count()
_read = unary(PRIMS[np.positive], lambda v: v)


class Variable(Arithmetic, _Variable):
    """A value with a shape and a dtype, which can be assigned anew. ``tf.Variable(...)`` makes a `ResourceVariable`.

    initial_value: what `convert_to_tensor` takes, or a function of no arguments that gives it. trainable: whether tapes
    watch it when it is read. shape: TensorShape(None) or one with unknown lengths allows values of other shapes.

    Raises ValueError if there is no value or the shape does not fit, TypeError if the dtype does not.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return object.__new__(ResourceVariable if cls is Variable else cls)

    def __init__(
        self, initial_value: Any = None, trainable: bool | None = None, validate_shape: bool = True,
        caching_device: Any = None, name: str | None = None, variable_def: Any = None, dtype: Any = None,
        import_scope: Any = None, constraint: Any = None, synchronization: Any = None, aggregation: Any = None,
        shape: Any = None, experimental_enable_variable_lifting: bool = True,
    ):  # fmt: skip
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a "
                "`variable_def`. You provided neither."
            )
        if callable(initial_value):
            initial_value = initial_value()
        self._value = self._converted(initial_value, None if dtype is None else as_dtype(dtype))
        self._shape = None
        if shape is not None:
            wanted = as_shape(shape)
            if not wanted.is_compatible_with(self._value.shape):
                raise ValueError(
                    f"In this `tf.Variable` creation, the initial value's shape ({self._value.shape}) is not "
                    f"compatible with the explicitly supplied `shape` argument ({shape})."
                )
            if not wanted.is_fully_defined():
                self._shape = wanted
        self._trainable = trainable is None or bool(trainable)
        self._token, self._slot = None, -1  # attributes of the object are read faster than those of its class
        self._name = scoped("Variable" if name is None else name)
        self._name_hint = "".join(c if c.isalnum() else "_" for c in self._name)
        self._serial = next(_serial)

    @staticmethod
    def _converted(value: Any, dtype: Any) -> Any:
        if isinstance(value, Operand):
            if dtype is not None and value._value.dtype != dtype.np_dtype:
                raise other_dtype(value, dtype)
            return value._value[()]  # another object: a recording knows constants by their values
        if hasattr(value, "_as_tensor"):
            return Variable._converted(value._as_tensor(), dtype)
        try:
            return as_value(value, dtype)
        except HasTensors:
            return convert_to_tensor(value, dtype)._value

    # --- what it is -----------------------------------------------------------------------------------------------

    @property
    def shape(self) -> TensorShape:
        """The lengths of the axes, as declared."""
        return known(self._value.shape) if self._shape is None else self._shape

    @property
    def name(self) -> str:
        """The name, followed by ``:0``."""
        return f"{self._name}:0"

    @property
    def trainable(self) -> bool:
        return self._trainable

    # --- reading --------------------------------------------------------------------------------------------------

    def value(self) -> EagerTensor:
        """The value now, as a tensor that depends on the variable."""
        return _read(self)  # type: ignore[no-any-return]

    def read_value(self) -> EagerTensor:
        """The value now, as a tensor that depends on the variable."""
        return _read(self)  # type: ignore[no-any-return]

    # --- assignment -----------------------------------------------------------------------------------------------

    def _operand(self, value: Any) -> Any:
        """The NumPy value to assign or add, in this dtype."""
        dtype = dtypes.of(self._value.dtype)
        if isinstance(value, Operand):
            if value._value.dtype is not self._value.dtype and value._value.dtype != self._value.dtype:
                raise other_dtype(value, dtype)
            return value._value[()]
        if value is None:
            raise unsupported(value)
        return self._converted(value, dtype)

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Give the variable another value of its shape and dtype. Recordings keep the values that were read.

        Returns the variable, or None if `read_value` is false. Raises ValueError for another shape or dtype.
        """
        v = self._operand(value)
        if v.shape != self._value.shape if self._shape is None else not self._shape.is_compatible_with(v.shape):
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape {self.shape}, and "
                f"the assigned value shape {v.shape} are incompatible."
            )
        self._rebind(v)
        return self if read_value else None

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Add `delta`, of the variable's shape and dtype. Raises as `assign` does."""
        self._rebind(self._value + self._delta(delta, "AssignAddVariableOp"))
        return self if read_value else None

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
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

    # --- parts ----------------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        part = subscript(self, index)
        out = wrap(_Part, part._value)
        out._token, out._slot = part._token, part._slot
        out._variable, out._index = self, index
        return out

    def __deepcopy__(self, memo: Any) -> Any:
        import copy

        out = object.__new__(type(self))
        memo[id(self)] = out
        for key, x in self.__dict__.items():
            out.__dict__[key] = x[()] if key == "_value" else copy.deepcopy(x, memo)
        out._serial = next(_serial)
        return out

    def __repr__(self) -> str:
        return f"<tf.Variable {self.name!r} shape={self.shape} dtype={self.dtype.name}, numpy={shown(self)}>"


def _in_place(op: str, var: str, assign: str, shown: str) -> Any:
    """A method for an operator that would change a variable."""

    def method(self: Any, other: Any) -> Any:
        raise RuntimeError(
            f"`{var} {op}= value` with `tf.Variable`s is not supported. Use `{assign}` to modify the variable, or "
            f"`out = {var} {shown} value` if you need to get a new output Tensor."
        )

    return method


for _name, _row in {
    "iadd": ("+", "variable", "variable.assign_add(value)", "+"),
    "isub": ("-", "variable", "variable.assign_sub(value)", "*"),
    "imul": ("*", "var", "var.assign(var * value)", "*"),
    "itruediv": ("/", "var", "var.assign(var / value)", "/"),
    "ipow": ("**", "var", "var.assign(var ** value)", "**"),
}.items():
    setattr(Variable, f"__{_name}__", _in_place(*_row))


class ResourceVariable(Variable):
    """The class of all variables."""


class _Part(EagerTensor):
    """A part of a variable, which can be assigned to."""

    __slots__ = ("_index", "_variable")
    _index: Any
    _variable: Variable

    def assign(self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Any:
        """Store a value in this part of the variable."""
        return self._store(lambda old, new: new, value)

    def assign_add(self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Any:
        """Add a value to this part of the variable."""
        return self._store(np.add, value)

    def assign_sub(self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Any:
        """Subtract a value from this part of the variable."""
        return self._store(np.subtract, value)

    def _store(self, combine: Any, value: Any) -> Variable:
        v = self._variable
        made = np.array(v._value)
        key = position(self._index)
        made[key] = combine(made[key], v._operand(value))
        v._rebind(made[()])
        return v


_Part.__name__ = _Part.__qualname__ = "EagerTensor"
