"""``tf.debugging``: assertions, which raise when they do not hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import InvalidArgumentError
from .namespace import lazy
from .operands import operand, pair


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


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """The tensor. Raises InvalidArgumentError if a number in it is infinite or no number."""
    x = operand(tensor)
    v = x._value
    if v.dtype.kind in "fc" and not np.all(np.isfinite(v)):
        found = " and ".join([n for n, bad in (("Inf", np.isinf(v)), ("NaN", np.isnan(v))) if np.any(bad)])
        raise InvalidArgumentError(None, None, f"{message} : Tensor had {found} values [Op:CheckNumericsV2] name: ")
    return x


__getattr__, __dir__ = lazy(__name__, {})
