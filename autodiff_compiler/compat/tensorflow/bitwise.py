"""``tf.bitwise``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .namespace import lazy
from .operands import operand, pair, run


def _bits(fn: Any, op: str) -> Callable[..., Any]:
    def operation(x: Any, y: Any, name: str | None = None) -> Any:
        x, y = pair(x, y, op)
        return run(fn, x, y)

    operation.__name__ = fn.__name__
    operation.__doc__ = f"``np.{fn.__name__}`` of integers."
    return operation


bitwise_and = _bits(np.bitwise_and, "BitwiseAnd")
bitwise_or = _bits(np.bitwise_or, "BitwiseOr")
bitwise_xor = _bits(np.bitwise_xor, "BitwiseXor")
left_shift = _bits(np.left_shift, "LeftShift")
right_shift = _bits(np.right_shift, "RightShift")


def invert(x: Any, name: str | None = None) -> Any:
    """All bits the other way."""
    return run(np.invert, operand(x))


__getattr__, __dir__ = lazy(__name__, {})
