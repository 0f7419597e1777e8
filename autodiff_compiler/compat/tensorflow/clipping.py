"""Clipping values, and tensors by their norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tape.tensor import Operand
from ..operations.elementwise import clipped
from .made import maximum, reduce_sum, sqrt, square
from .operands import axes, computed, given, operand, pair, run
from .tensors import tensor


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """`t`, held between both values. At them, and between, the gradient is that of `t`."""
    x = operand(t)
    low, high = pair(given_to(x, clip_value_min), given_to(x, clip_value_max), "ClipByValue")
    pair(x, low, "ClipByValue")
    return computed(clipped, x, low, high)


def given_to(x: Any, value: Any) -> Any:
    return value if isinstance(value, Operand) else given(value, x)


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """`t`, scaled down where its norm along the axes (all of them) is larger than `clip_norm`."""
    x = operand(t)
    limit = given_to(x, clip_norm)
    total = reduce_sum(square(x), _axes(axes), True)
    positive = np.asarray(total._value > 0)
    safe = run(np.where, positive, total, np.ones((), x._value.dtype)[()])
    length = run(np.where, positive, sqrt(safe), total)
    return x * limit / maximum(length, limit)


def _axes(axis: Any) -> Any:
    return axes(axis)


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The norm of all the tensors' elements together. None among them is left out."""
    parts = [reduce_sum(square(operand(t))) for t in t_list if t is not None]
    if not parts:
        return tensor(np.float32(0))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return sqrt(total)


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """The tensors, scaled down together if their global norm is larger than `clip_norm`; and that norm."""
    norm = global_norm(t_list) if use_norm is None else operand(use_norm)
    limit = given_to(norm, clip_norm)
    scale = limit / maximum(norm, limit)
    out: list[Any] = []
    for t in t_list:
        if t is None:
            out.append(None)
            continue
        x = operand(t)
        out.append(x * (scale if x._value.dtype == scale._value.dtype else tensor(scale._value.astype(x._value.dtype))))
    return out, norm
