"""`Tensor`, an immutable value, and the functions that make tensors: `constant`, `convert_to_tensor`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...tape.apply import call
from ...tape.nest import flatten
from ...tape.tensor import Operand, wrap
from ...tape.tensor import Tensor as _Tensor
from . import dtypes
from .dtypes import DType, as_dtype
from .errors import invalid
from .operators import Arithmetic, accept_converter
from .shapes import TensorShape
from .values import HasTensors, as_value, mismatch

_NUMPY_ONLY = frozenset(("T", "astype", "ravel", "transpose", "reshape", "clip", "size", "tolist", "data"))
_UNDEFINED = frozenset(("name", "op", "graph"))


class Tensor(Arithmetic, _Tensor):
    """An immutable array or number, whose operations are recorded while a tape is interested in it.

    `constant` and `convert_to_tensor` make tensors.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self._value.shape}, dtype={self.dtype.name}, numpy={shown(self)}>"

    def __str__(self) -> str:
        v = self._value
        text = str(self.numpy()) if v.dtype.kind != "S" or v.ndim else repr(bytes(v))
        return f"tf.Tensor({lines(text)}, shape={v.shape}, dtype={self.dtype.name})"

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec)

    def __len__(self) -> int:
        if not self._value.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._value)

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return wrap(type(self), self._value[()])  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return convert_to_tensor, (self.numpy(),)

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - _UNDEFINED - _NUMPY_ONLY)


def _absent(name: str) -> property:
    """An attribute that tensors do not have, with an error that says why.

    `__getattr__` could give the error too, but an object that has it has slower attributes, and those of tensors are
    read at each operation.
    """
    message = f"Tensor.{name} is undefined when eager execution is enabled."
    if name in _NUMPY_ONLY:
        message = f"EagerTensor object has no attribute {name!r}: it is NumPy's. Use the functions of tf, or take the "
        message += f"array: tensor.numpy().{name}"

    def get(self: Any) -> Any:
        raise AttributeError(message)

    return property(get)


for _name in _UNDEFINED | _NUMPY_ONLY:
    setattr(Tensor, _name, _absent(_name))


def shown(x: Any) -> str:
    """The value of a tensor or a variable, as their `repr` has it."""
    v = x.numpy()
    if isinstance(v, np.ndarray):
        return lines(repr(v))
    return repr(v) if isinstance(v, bytes) else repr(v.item())


def lines(text: str) -> str:
    """A text of several lines starts on a line of its own."""
    return f"\n{text}" if "\n" in text else text


class EagerTensor(Tensor):
    """The class of all tensors."""

    __slots__ = ()


Arithmetic._tensor_class = EagerTensor


def tensor(value: Any) -> EagerTensor:
    """A tensor of a NumPy value of its own."""
    return wrap(EagerTensor, value)  # type: ignore[no-any-return]


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> EagerTensor:
    """A tensor of a Python or NumPy value, which is copied.

    value: a number, an array, a nested list, or a tensor. dtype: Python floats give float32 by default, integers int32
    (int64 if they are large), arrays keep theirs. shape: fills a shape with one number, or reshapes.

    Raises TypeError and ValueError for values that do not fit.

    >>> constant([1, 2])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Operand) and wanted is not None and value._value.dtype != wanted.np_dtype:
        found = dtypes.of(value._value.dtype)
        raise TypeError(f"Expected tensor {value._value} with dtype {wanted!r}, but got dtype {found!r}.")
    out = convert_to_tensor(value, wanted)
    if not isinstance(value, Operand):
        out = tensor(out._value)  # a constant, also where a list holds tensors
    if shape is None:
        return out  # type: ignore[no-any-return]
    lengths: Any = tuple(TensorShape(shape))
    size = math.prod(lengths)
    if out._value.size == size:
        return call(np.reshape, out, lengths)  # type: ignore[no-any-return]
    if not out._value.ndim:
        return tensor(np.full(lengths, out._value)[()])
    raise TypeError(
        f"Eager execution of tf.constant with unsupported shape. Tensor {out._value} (converted from {value}) has "
        f"{out._value.size} elements, but got `shape` {lengths} with {size} elements)."
    )


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """The value as a tensor. Tensors stay what they are, variables are read, lists may hold tensors.

    dtype: required; dtype_hint: preferred. Raises ValueError for a tensor of another dtype than the required one.
    """
    kind = type(value)
    if kind is EagerTensor:
        if dtype is not None and value._value.dtype != as_dtype(dtype).np_dtype:
            raise other_dtype(value, dtype)
        return value
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Operand):
        if wanted is not None and value._value.dtype != wanted.np_dtype:
            raise other_dtype(value, dtype)
        return value if isinstance(value, EagerTensor) else value.value()  # type: ignore[attr-defined]
    if hasattr(value, "_as_tensor"):
        return convert_to_tensor(value._as_tensor(), wanted)
    try:
        return tensor(as_value(value, wanted, None if dtype_hint is None else as_dtype(dtype_hint)))
    except HasTensors:
        return _packed(value, wanted)


accept_converter(convert_to_tensor)


def other_dtype(value: Any, dtype: Any) -> ValueError:
    name = dtypes.of(value._value.dtype).name
    if hasattr(value, "_serial"):
        return ValueError(
            f"Incompatible type conversion requested to type {as_dtype(dtype).name} for `tf.Variable of type {name}. "
            f"(Variable: {value!r})"
        )
    return ValueError(
        f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with dtype {name}: {value!r}"
    )


def _packed(value: Any, dtype: DType | None) -> Any:
    """A nested list that holds tensors, stacked."""
    if dtype is None:
        dtype = dtypes.of(next(x for x in flatten(value) if isinstance(x, Operand))._value.dtype)
    parts = [convert_to_tensor(x, None if isinstance(x, Operand) else dtype) for x in value]
    for k, x in enumerate(parts):
        if x._value.dtype != parts[0]._value.dtype:
            raise mismatch("Pack", parts[0]._value.dtype, x.dtype.label, k)
    try:
        return call(np.stack, parts)
    except ValueError as error:
        raise invalid("Pack", str(error)) from None


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor or a variable."""
    return isinstance(x, Arithmetic)
