"""Barriers: records whose pullback is a Python function. Custom gradients and compiled functions are recorded so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .recording import STATE
from .tensor import Operand, wrap


class Barrier:
    """The pullback of one record.

    back: ``back(*cotangents)`` takes a tensor for each result. It gives a tensor or None for each operand.
    rows: for each result, the positions of the operands on which it depends. None: each depends on all.
    like: for each result, the slot of the value that it has the tangent of, -1 if that has none. None: the pullback
        gives the tangents, too.
    """

    __slots__ = ("back", "rows", "like")

    def __init__(
        self, back: Callable[..., Any], rows: tuple[tuple[int, ...], ...] | None = None,
        like: list[int] | None = None,
    ):  # fmt: skip
        self.back = back
        self.rows = rows
        self.like = like

    def depends(self) -> tuple[tuple[int, ...], ...] | None:
        return self.rows

    def pullback(self, given: list[Any], values: list[Any], cls: type[Any]) -> list[Any]:
        """The cotangents of the operands, as tensors of class `cls` or None.

        given: for each result, its cotangent, or None where the target does not depend on it. values: the results.
        """
        cotangents = [wrap(cls, np.zeros_like(v)[()]) if g is None else g for g, v in zip(given, values)]
        return list(self.back(*cotangents))


def record_barrier(
    results: list[Any], inputs: list[Any], back: Callable[..., Any], rows: Any = None, like: list[Any] | None = None
) -> list[Any]:
    """Record `results` as one operation on `inputs`, with the pullback `back` (see `Barrier`), and return them.

    `results` are tensors that are on no recording yet. Where no tape watches an input, nothing is recorded. `like`: the
    tensors that have the tangents of the results, on the recording.
    """
    rec = STATE.rec
    if rec is None:
        return results
    slots = [rec.find(x) for x in inputs]
    if all(s < 0 for s in slots):
        return results
    same = None if like is None else [rec.find(x) if isinstance(x, Operand) else -1 for x in like]
    first = rec.barrier(Barrier(back, rows, same), inputs, [r._value for r in results])
    for k, r in enumerate(results):
        r._token, r._slot = rec.token, first + k
    return results
