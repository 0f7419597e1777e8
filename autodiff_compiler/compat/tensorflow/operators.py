"""Python's operators on tensors and variables, with TensorFlow's dtypes and errors."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...ir.opset import ABS, PRIMS
from ...tape.apply import apply, getitem
from ...tape.operators import binary, power_of, unary
from ...tape.recording import STATE
from ...tape.tensor import Operand, wrap
from . import dtypes
from .errors import InvalidArgumentError, dims, invalid
from .shapes import TensorShape, known
from .values import BOOL, HasTensors, WrongDtype, as_value, mismatch

_OP_NAMES = {
    "add": "AddV2", "sub": "Sub", "mul": "Mul", "truediv": "RealDiv", "floordiv": "FloorDiv", "mod": "FloorMod",
    "pow": "Pow", "matmul": "MatMul", "lt": "Less", "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual",
    "eq": "Equal", "ne": "NotEqual", "and": "LogicalAnd", "or": "LogicalOr", "xor": "LogicalXor",
}  # fmt: skip
NUMBERS = (
    "bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64, complex64, complex128"
)


def not_allowed(op: str, dtype: Any, allowed: str = NUMBERS) -> InvalidArgumentError:
    """The error of an operation that does not take this dtype."""
    return invalid(
        op, f"Value for attr 'T' of {dtypes.of(dtype).label} is not in the list of allowed values: {allowed}"
    )


# --- computations of the operators ------------------------------------------------------------------------------------


def add(x: Any, y: Any) -> Any:
    out = x + y
    if out.__class__ is bytes:
        return np.bytes_(out)
    if out.dtype is BOOL:
        raise not_allowed("AddV2", BOOL)
    return out


def mul(x: Any, y: Any) -> Any:
    out = x * y
    if out.dtype is BOOL:
        raise not_allowed("Mul", BOOL)
    return out


def truediv(x: Any, y: Any) -> Any:
    out = x / y
    if out.dtype.kind == "f" and getattr(x, "dtype", out.dtype).kind in "biu":
        return np.true_divide(x, y, dtype=np.float32 if np.result_type(x, y).itemsize < 4 else np.float64)
    return out


def _whole(x: Any, y: Any) -> bool:
    return (x if hasattr(x, "dtype") else y).dtype.kind in "iu"


def floordiv(x: Any, y: Any) -> Any:
    if not _whole(x, y):
        return np.floor(x / y)
    if np.any(np.equal(y, 0)):
        raise invalid("FloorDiv", "Integer division by zero")
    return x // y


def mod(x: Any, y: Any) -> Any:
    if _whole(x, y) and np.any(np.equal(y, 0)):
        raise invalid("FloorMod", "Integer division by zero")
    return x % y


def matmul(x: Any, y: Any) -> Any:
    if x.ndim == 2 and y.ndim == 2:
        return x.dot(y)
    for k, v in enumerate((x, y)):
        if v.ndim < 2:
            raise invalid("MatMul", f"In[{k}] ndims must be >= 2")
    return np.matmul(x, y)


def power(x: Any, y: Any) -> Any:
    if _whole(x, y) and np.any(np.less(y, 0)):
        raise invalid("Pow", "Integers to negative integer powers are not allowed")
    return x**y


def _compared(compare: Any, otherwise: Any) -> Callable[..., Any]:
    """A comparison, in which shapes that do not go together are not equal."""

    def compute(x: Any, y: Any) -> Any:
        try:
            return compare(x, y)
        except ValueError:
            return otherwise

    return compute


# --- the methods ------------------------------------------------------------------------------------------------------


def guarded(fast: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The operator with TensorFlow's errors, and with lists of tensors for an operand."""

    def method(self: Any, other: Any) -> Any:
        try:
            return fast(self, other)
        except (ValueError, TypeError) as error:
            return _again(fast, name, self, other, error)

    method.__name__ = fast.__name__
    method.__qualname__ = f"Tensor.{fast.__name__}"
    return method


_converters: list[Callable[..., Any]] = []


def accept_converter(convert: Callable[..., Any]) -> None:
    """Make operands tensors by ``convert(value, dtype)``: the module `tensors` needs this one."""
    _converters.append(convert)


def _again(fast: Callable[..., Any], name: str, self: Any, other: Any, error: Exception) -> Any:
    op = _OP_NAMES[name]
    if type(error) is HasTensors:
        return fast(self, _converters[-1](other, dtypes.of(self._value.dtype)))
    if type(error) is WrongDtype and fast.__name__ == "__add__":
        raise mismatch(op, self._value.dtype, error.found) from None
    if isinstance(error, ValueError) and any(word in str(error) for word in ("broadcast", "aligned", "core dimension")):
        y = other._value if isinstance(other, Operand) else self._coerce(other)
        one, two = (dims(np.shape(v)) for v in ((y, self._value) if "__r" in fast.__name__ else (self._value, y)))
        if name == "matmul":
            raise invalid(op, f"Matrix size-incompatible: In[0]: {one}, In[1]: {two}") from None
        raise invalid(op, f"Incompatible shapes: {one} vs. {two}") from None
    raise error


def _where(condition: Any, x: Any, y: Any) -> Any:
    return np.where(condition, x, y)[()]


def _power_at(positive: Any, x: Any, y: Any) -> Any:
    """``x ** y``. Where `x` is not positive its derivative by the exponent is 0, as in TensorFlow."""
    one = np.ones((), x._value.dtype)[()]
    try:
        usual = _power(apply(PRIMS[np.where], _where, (positive, x, one), {}), y)
        return apply(PRIMS[np.where], _where, (positive, usual, _power(x, wrap(y._tensor_class, y._value[()]))), {})
    except ValueError:
        return _power(x, y)


class Arithmetic(Operand):
    """The base class of tensors and variables."""

    __slots__ = ()
    _strict = True
    _gathers: Any = None  # of a variable: a recording's token, and what `gather` read of it there
    _conjugate = True

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype: ``tf.float32`` and the like."""
        return dtypes.of(self._value.dtype)

    @property
    def shape(self) -> TensorShape:
        """The lengths of the axes."""
        return known(self._value.shape)

    @property
    def ndim(self) -> int:
        return int(self._value.ndim)

    def get_shape(self) -> TensorShape:
        return self.shape

    def numpy(self) -> Any:
        """A copy of the value: an array, or a NumPy number."""
        v = self._value
        return _objects(v) if v.dtype.kind == "S" else v.copy()

    def _coerce(self, other: Any) -> Any:
        kind = type(other)
        dtype = self._value.dtype
        if kind is float:
            if dtype.kind in "fc":
                return other
        elif kind is int:
            if dtype.kind in "fc" or (
                dtype.kind == "i" and -128 <= other < 128 or dtype.kind == "u" and 0 <= other < 256
            ):
                return other
        return as_value(other, dtypes.of(dtype))

    def _mismatch(self, other: Any, name: str) -> None:
        x, y = self._value.dtype, other._value.dtype
        if x == y:
            return
        if name == "truediv":
            names = f"tf.{dtypes.of(x).name} != tf.{dtypes.of(y).name}"
            raise TypeError(f"`x` and `y` must have the same dtype, got {names}.")
        raise mismatch(_OP_NAMES[name], x, dtypes.of(y).label)

    def __pow__(self, other: Any) -> Any:
        kind = self._value.dtype.kind
        if (
            type(other) is int
            and (kind in "fc" or other >= 0 and kind in "iu")
            or type(other) is float
            and kind in "fc"
        ):
            return power_of(self, other)
        if STATE.rec is not None and isinstance(other, Operand) and kind == "f":
            positive = np.asarray(self._value > 0)
            if not positive.all() and self._value.dtype == other._value.dtype:
                return _power_at(positive, self, other)
        return _power(self, other)

    def __rpow__(self, other: Any) -> Any:
        if type(other) in (int, float) and other > 0 or self._value.dtype.kind != "f":
            return _reflected_power(self, other)
        return _converters[-1](other, dtypes.of(self._value.dtype)) ** self

    def __eq__(self, other: Any) -> Any:
        return False if other is None else _equal(self, other)

    def __ne__(self, other: Any) -> Any:
        return True if other is None else _not_equal(self, other)

    def __hash__(self) -> int:
        if hasattr(self, "_serial"):
            raise TypeError(f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self!r})")
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __getitem__(self, index: Any) -> Any:
        return subscript(self, index)

    def __iter__(self) -> Iterator[Any]:
        if not self._value.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return iter([getitem(self, k) for k in range(len(self._value))])

    def __pos__(self) -> Any:
        raise TypeError(f"bad operand type for unary +: {type(self).__name__!r}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        v = self._value
        out: np.ndarray[Any, Any] = np.array(_objects(v) if v.dtype.kind == "S" else v, dtype)
        return out

    def __bool__(self) -> bool:
        return bool(self._value)

    def __float__(self) -> float:
        return float(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        return int(self._scalar().__index__())

    def _scalar(self) -> Any:
        if self._value.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return self._value

    def ref(self) -> Reference:
        """A hashable reference to this very object."""
        return Reference(self)


def _operator(fn: Any, compute: Any, name: str, reflected: bool = False, strict: bool = False) -> Callable[..., Any]:
    return guarded(binary(PRIMS[fn], compute, name, reflected, strict=strict), name)


_power = _operator(operator.pow, power, "pow")
_reflected_power = _operator(operator.pow, power, "pow", reflected=True)
_equal = _operator(operator.eq, _compared(np.equal, np.False_), "eq")
_not_equal = _operator(operator.ne, _compared(np.not_equal, np.True_), "ne")
for _name, _fn, _compute in (
    ("add", operator.add, add), ("sub", operator.sub, operator.sub), ("mul", operator.mul, mul),
    ("truediv", operator.truediv, truediv), ("floordiv", operator.floordiv, floordiv), ("mod", operator.mod, mod),
    ("matmul", np.matmul, matmul), ("and", operator.and_, operator.and_), ("or", operator.or_, operator.or_),
    ("xor", operator.xor, operator.xor),
):  # fmt: skip
    _strict = _name not in ("and", "or", "xor")
    setattr(Arithmetic, f"__{_name}__", _operator(_fn, _compute, _name, strict=_strict))
    setattr(Arithmetic, f"__r{_name}__", _operator(_fn, _compute, _name, reflected=True, strict=_strict))
for _fn in (operator.lt, operator.le, operator.gt, operator.ge):
    setattr(Arithmetic, f"__{_fn.__name__}__", _operator(_fn, _fn, _fn.__name__))
setattr(Arithmetic, "__abs__", unary(ABS, abs))


def negated(v: Any) -> Any:
    if v.dtype is BOOL:
        raise not_allowed("Neg", BOOL)
    return -v


setattr(Arithmetic, "__neg__", unary(PRIMS[operator.neg], negated))


def _objects(v: Any) -> Any:
    return bytes(v) if not np.ndim(v) else v.astype(object)


class Reference:
    """A reference that may be a key of a dict, as a tensor may not."""

    __slots__ = ("_referenced",)

    def __init__(self, referenced: Any):
        self._referenced = referenced

    def deref(self) -> Any:
        """What it refers to."""
        return self._referenced

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Reference) and self._referenced is other._referenced

    def __hash__(self) -> int:
        return id(self._referenced)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._referenced!r}>"


# --- subscripts -------------------------------------------------------------------------------------------------------


def subscript(x: Any, index: Any) -> Any:
    """``x[index]``: integers, slices, ..., None, scalar integer tensors; or a mask of booleans."""
    place = (index,) if type(index) is int else position(index)
    if type(place) is not tuple:
        return masked(x, place)
    try:
        return getitem(x, place)
    except IndexError as error:
        found = re.search(r"index (-?\d+) is out of bounds for axis (\d+)", str(error))
        message = f"slice index {found[1]} of dimension {found[2]} out of bounds." if found else str(error)
        raise invalid("StridedSlice", message) from None


def position(index: Any) -> Any:
    """The NumPy subscript that an index stands for: a tuple, or a mask."""
    if type(index) is not tuple:
        value = index._value if isinstance(index, Operand) else index
        if isinstance(value, (np.ndarray, np.bool_, bool)) and np.asarray(value).dtype.kind == "b":
            return np.asarray(value)
        index = tuple(index) if type(index) is list else (index,)
    return tuple([_item(i) for i in index])


def _item(i: Any) -> Any:
    kind = type(i)
    if kind is int or i is None or i is Ellipsis:
        return i
    if kind is slice:
        return slice(*[n if n is None else _item(n) for n in (i.start, i.stop, i.step)])
    value = i._value if isinstance(i, Operand) else i
    if isinstance(value, (np.integer, np.ndarray)) and value.dtype.kind in "iu" and value.ndim == 0:
        return int(value)
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
        f"valid indices, got {i!r}"
    )


def masked(x: Any, mask: Any, axis: int = 0) -> Any:
    """The elements of `x` where the mask is true."""
    if mask.ndim == 0:
        raise ValueError("mask cannot be scalar.")
    shape = x._value.shape[axis : axis + mask.ndim]
    if shape != mask.shape:
        raise ValueError(f"Shapes {shape} and {mask.shape} are incompatible")
    return getitem(x, (slice(None),) * axis + tuple([k.copy() for k in np.nonzero(mask)]))
