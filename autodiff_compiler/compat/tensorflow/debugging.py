"""``tf.debugging``: assertions, which raise when they do not hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import as_dtype
from .errors import InvalidArgumentError
from .namespace import lazy
from .operands import integer, integers, operand, pair
from .tensors import is_tensor


def _fail(message: str | None, detail: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, f"{message}\n{detail}" if message else detail)


def _compared(fn: Any, symbol: str, op: str) -> Callable[..., None]:
    def check(x: Any, y: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> None:
        a, b = pair(x, y, op)
        try:
            holds = fn(a._value, b._value)
        except ValueError:
            holds = np.False_
        if not np.all(holds):
            raise _fail(message, f"Condition x {symbol} y did not hold.\nx = {a._value}\ny = {b._value}")

    check.__name__ = op
    check.__doc__ = f"Raises InvalidArgumentError unless ``x {symbol} y`` for all elements."
    return check


assert_equal = _compared(np.equal, "==", "assert_equal")
assert_greater = _compared(np.greater, ">", "assert_greater")
assert_greater_equal = _compared(np.greater_equal, ">=", "assert_greater_equal")
assert_less = _compared(np.less, "<", "assert_less")
assert_less_equal = _compared(np.less_equal, "<=", "assert_less_equal")


def assert_none_equal(
    x: Any, y: Any, summarize: Any = None, message: str | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError unless ``x != y`` for all elements."""
    a, b = pair(x, y, "assert_none_equal")
    if not np.all(np.not_equal(a._value, b._value)):
        raise _fail(message, f"Condition x != y did not hold for every single element:\nx = {a._value}\ny = {b._value}")


def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None, summarize: Any = None,
    name: str | None = None,
) -> None:  # fmt: skip
    """Raises InvalidArgumentError unless ``abs(x - y) <= atol + rtol * abs(y)`` for all elements; both bounds are 10
    times the precision of the dtype by default."""
    a, b = pair(x, y, "assert_near")
    eps = 10 * np.finfo(a._value.dtype).eps
    bound = (eps if atol is None else atol) + (eps if rtol is None else rtol) * np.abs(b._value)
    if not np.all(np.abs(a._value - b._value) <= bound):
        raise _fail(
            message, f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}\nx = {a._value}\ny = {b._value}"
        )


def _signed(fn: Any, symbol: str, op: str) -> Callable[..., None]:
    def check(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> None:
        v = operand(x)._value
        if not np.all(fn(v, 0)):
            raise _fail(message, f"Condition x {symbol} 0 did not hold element-wise:\nx = {v}")

    check.__name__ = op
    check.__doc__ = f"Raises InvalidArgumentError unless ``x {symbol} 0`` for all elements."
    return check


assert_positive = _signed(np.greater, ">", "assert_positive")
assert_negative = _signed(np.less, "<", "assert_negative")
assert_non_negative = _signed(np.greater_equal, ">=", "assert_non_negative")
assert_non_positive = _signed(np.less_equal, "<=", "assert_non_positive")


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """The tensor. Raises InvalidArgumentError if a number in it is infinite or no number."""
    x = operand(tensor)
    v = x._value
    if v.dtype.kind in "fc" and not np.all(np.isfinite(v)):
        found = " and ".join([n for n, bad in (("Inf", np.isinf(v)), ("NaN", np.isnan(v))) if np.any(bad)])
        raise InvalidArgumentError(None, None, f"{message} : Tensor had {found} values [Op:CheckNumericsV2] name: ")
    return x


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """`check_numerics`."""
    return check_numerics(x, message)


def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises ValueError unless `x` has so many axes."""
    v = operand(x)._value
    if v.ndim != integer(rank):
        raise ValueError(
            f"{message or ''}Tensor must have rank {integer(rank)}. Received rank {v.ndim}, shape {v.shape}"
        )


def assert_rank_at_least(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises ValueError unless `x` has at least so many axes."""
    v = operand(x)._value
    if v.ndim < integer(rank):
        raise ValueError(
            f"{message or ''}Tensor must have rank at least {integer(rank)}. Received rank {v.ndim}, shape {v.shape}"
        )


def assert_rank_in(x: Any, ranks: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises ValueError unless the number of axes of `x` is among these."""
    v = operand(x)._value
    if v.ndim not in integers(ranks):
        raise ValueError(f"{message or ''}Tensor must have rank in {ranks}. Received rank {v.ndim}, shape {v.shape}")


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> Any:
    """The tensor. Raises ValueError unless it has no axes."""
    x = operand(tensor)
    if x._value.ndim:
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {x._value.shape}.")
    return x


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises TypeError unless the tensor has this dtype."""
    found = dtypes.of(operand(tensor)._value.dtype)
    if found is not as_dtype(tf_type):
        raise TypeError(f"{message or ''}tensor must be of type {as_dtype(tf_type)!r}; got {found!r}")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises TypeError unless the dtype is of integers."""
    found = dtypes.of(operand(x)._value.dtype)
    if not found.is_integer:
        raise TypeError(f"{message or ''}Expected integer type, got {found!r}")


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> dtypes.DType:
    """The floating dtype that all the tensors have. Raises ValueError if there is none."""
    found = {operand(t).dtype for t in tensors or ()}
    if dtype is not None:
        found.add(as_dtype(dtype))
    if len(found) > 1 or any(not d.is_floating for d in found):
        raise ValueError(f"Expected one floating dtype, got {sorted(d.name for d in found)}")
    return next(iter(found), dtypes.float32)


def assert_shapes(
    shapes: Any, data: Any = None, summarize: Any = None, message: str | None = None, name: str | None = None
) -> None:
    """Raises ValueError unless the tensors have these shapes, in which a name stands for one length throughout."""
    sizes: dict[Any, int] = {}
    for x, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        v = operand(x.deref() if hasattr(x, "deref") else x)._value
        symbols = (wanted,) if isinstance(wanted, (str, int)) else tuple(wanted)
        if len(symbols) != v.ndim:
            raise ValueError(f"{message or ''}Tensor with shape {v.shape} must have rank {len(symbols)}")
        for symbol, n in zip(symbols, v.shape):
            size = (
                symbol if isinstance(symbol, int) else sizes.setdefault(symbol, n) if symbol not in (None, ".") else n
            )
            if size != n:
                raise ValueError(
                    f"{message or ''}Specified by {symbol!r}, a length should be {size}, not {n}: {v.shape}"
                )


def Assert(condition: Any, data: Any, summarize: Any = None, name: str | None = None) -> None:
    """Raises InvalidArgumentError with `data` unless the condition holds."""
    if not np.all(operand(condition)._value):
        shown = [x.numpy() if is_tensor(x) else x for x in data]
        raise InvalidArgumentError(
            None, None, f"Expected '{operand(condition)}' to be true. Summarized data: " + "\n".join(map(str, shown))
        )


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether it is a tensor of numbers."""
    return is_tensor(tensor) and tensor._value.dtype.kind in "iufc"


def assert_proper_iterable(values: Any) -> None:
    """Raises TypeError for a tensor, an array, a string, or what is no iterable at all."""
    if is_tensor(values) or isinstance(values, (np.ndarray, str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"Expected argument 'values' to be a 'proper' iterable.  Found: {type(values)}")


__getattr__, __dir__ = lazy(__name__, {})
