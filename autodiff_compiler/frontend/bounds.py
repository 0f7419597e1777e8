"""What is known of the lengths of arrays where a program compares them with numbers, as in ``if a.size == 0``.

An axis of an argument has at least two elements where code is compiled for an axis whose length is no part of the
signature: see `Dims.not_zero`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from ..ir.core import Value, type_of
from ..ir.opset import ADD, DIM, LEN, MUL, SIZE
from ..ir.types import DimLike, Dims
from .handlers import Val

# By an operator: whether it holds of every number from `low` on and the constant `c`, or of none; else None.
_ANSWERS: dict[Any, Callable[[int, int], bool | None]] = {
    operator.eq: lambda low, c: False if low > c else None,
    operator.ne: lambda low, c: True if low > c else None,
    operator.gt: lambda low, c: True if low > c else None,
    operator.ge: lambda low, c: True if low >= c else None,
    operator.lt: lambda low, c: False if low >= c else None,
    operator.le: lambda low, c: False if low > c else None,
}
_TURNED = {
    operator.eq: operator.eq, operator.ne: operator.ne, operator.gt: operator.lt, operator.ge: operator.le,
    operator.lt: operator.gt, operator.le: operator.ge,
}  # fmt: skip


def bounded(fn: Any, a: Val, b: Val, dims: Dims) -> bool | None:
    """The answer to ``fn(a, b)`` of a length and a constant, where all arguments of the signature give the same."""
    if type(a) is int and type(b) is Value:
        fn, a, b = _TURNED.get(fn), b, a
    if type(a) is not Value or type(b) is not int or fn not in _ANSWERS:
        return None
    low = least(a, dims)
    return None if low is None else _ANSWERS[fn](low, b)


def least(x: Any, dims: Dims) -> int | None:
    """The least number that a length, or a sum or product of lengths, can be; None if it may be anything."""
    if type(x) is int:
        return x if x >= 0 else None
    op = x.op if type(x) is Value else None
    if op is None:
        return None
    if op.prim in (DIM, LEN, SIZE):
        lengths = type_of(op.args[0]).dims
        axis = op.args[1] if op.prim is DIM else 0
        if lengths is None or op.prim is LEN or not isinstance(axis, int):
            return 0
        return math.prod([_least_length(d, dims) for d in (lengths if op.prim is SIZE else [lengths[axis]])])
    if op.prim in (ADD, MUL):
        parts = [least(y, dims) for y in op.args]
        if len(parts) == 2 and parts[0] is not None and parts[1] is not None:
            return parts[0] + parts[1] if op.prim is ADD else parts[0] * parts[1]
    return None


def _least_length(d: DimLike, dims: Dims) -> int:
    d = dims.find(d)
    if isinstance(d, int):
        return d
    return max(2 - d.off, 0) if dims.is_argument(d) else 0
