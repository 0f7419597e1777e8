"""`Tensor`: an immutable value; and what makes tensors: `constant`, `convert_to_tensor`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tape.apply import call
from ...tape.tensor import Operand, wrap
from ...tape.tensor import Tensor as _Tensor
from . import dtypes
from .dtypes import DType, as_dtype
from .errors import dims, invalid
from .operators import Arithmetic, accept_converter
from .shapes import TensorShape, as_shape
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
        return wrap(type(self), self._value)  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return convert_to_tensor, (self.numpy(),)

    def set_shape(self, shape: Any) -> None:
        """Check the shape. Raises ValueError if it is another one."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self._value.shape} is not compatible with supplied shape {as_shape(shape)}."
            )

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - _UNDEFINED - _NUMPY_ONLY)


class _Absent:
    """An attribute that tensors do not have, with an error that says why.

    `__getattr__` could give the error too, but an object that has it has slower attributes, and those of tensors are
    read at each operation.
    """

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    def __get__(self, x: Any, owner: type[Any]) -> Any:
        if self.name in _UNDEFINED:
            raise AttributeError(f"Tensor.{self.name} is undefined when eager execution is enabled.")
        raise AttributeError(
            f"{owner.__name__} object has no attribute {self.name!r}: it is NumPy's. Use the functions of tf, or "
            f"take the array: tensor.numpy().{self.name}"
        )


for _name in _UNDEFINED | _NUMPY_ONLY:
    setattr(Tensor, _name, _absent := _Absent())
    _absent.__set_name__(Tensor, _name)


def shown(x: Any) -> str:
    """The value of a tensor or a variable, as their `repr` has it."""
    v = x.numpy()
    if isinstance(v, np.ndarray):
        return lines(repr(v))
    return repr(v) if isinstance(v, bytes) else repr(v.item())


def lines(text: str) -> str:
    """What has several lines starts on a line of its own."""
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
    if isinstance(value, Operand):
        if wanted is not None and value._value.dtype != wanted.np_dtype:
            raise TypeError(
                f"Expected tensor {value._value} with dtype {wanted!r}, but got dtype "
                f"{dtypes.of(value._value.dtype)!r}."
            )
        out = convert_to_tensor(value)
        return out if shape is None else call(np.reshape, out, tuple(as_shape(shape).as_list()))  # type: ignore[no-any-return]
    try:
        v = as_value(value, wanted)
    except HasTensors:
        v = convert_to_tensor(value, wanted)._value
    if shape is None:
        return tensor(v)
    wanted_shape = tuple([int(n or 0) for n in as_shape(shape)])
    size = int(np.prod(wanted_shape))
    if np.size(v) == size:
        return tensor(np.reshape(v, wanted_shape)[()])
    if np.size(v) == 1 and not np.ndim(v):
        return tensor(np.full(wanted_shape, v)[()])
    raise TypeError(
        f"Eager execution of tf.constant with unsupported shape. Tensor {v} (converted from {value}) has {np.size(v)} "
        f"elements, but got `shape` {wanted_shape} with {size} elements)."
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
    if isinstance(value, TensorShape):
        value = np.array(value.as_list(), np.int32 if wanted is None else wanted.np_dtype)
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
    if isinstance(value, (list, tuple)):
        if dtype is None:
            first = _first_tensor(value)
            dtype = dtypes.of(first._value.dtype)
        parts = [_part(x, dtype) for x in value]
        for k, x in enumerate(parts):
            if x._value.dtype != parts[0]._value.dtype:
                raise mismatch("Pack", parts[0]._value.dtype, x.dtype.label, k)
        shapes = [x._value.shape for x in parts]
        for k, s in enumerate(shapes):
            if s != shapes[0]:
                raise invalid(
                    "Pack", f"Shapes of all inputs must match: values[0].shape = {dims(shapes[0])} != "
                    f"values[{k}].shape = {dims(s)}"
                )  # fmt: skip
        return call(np.stack, parts)
    return convert_to_tensor(value, dtype)


def _part(x: Any, dtype: DType) -> Any:
    return convert_to_tensor(x) if isinstance(x, Operand) else convert_to_tensor(x, dtype)


def _first_tensor(value: Any) -> Any:
    if isinstance(value, Operand):
        return value
    if isinstance(value, (list, tuple)):
        for x in value:
            found = _first_tensor(x)
            if found is not None:
                return found
    return None


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor or a variable."""
    return isinstance(x, Arithmetic)
