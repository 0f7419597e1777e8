"""``tf.debugging``: assertions, which raise when they do not hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import InvalidArgumentError
from .namespace import lazy
from .operands import pair


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


__getattr__, __dir__ = lazy(__name__, {})
