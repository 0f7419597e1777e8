"""Records of which only a Python function knows the pullback: custom gradients, compiled functions, foreign code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .recording import STATE
from .tensor import wrap


class Barrier:
    """One such record.

    back: ``back(*cotangents)`` takes a tensor for each result and gives a tensor or None for each operand.
    rows: for each result, the positions of the operands on which it depends; None: on all.
    """

    __slots__ = ("back", "rows")

    def __init__(self, back: Callable[..., Any], rows: tuple[tuple[int, ...], ...] | None = None):
        self.back = back
        self.rows = rows

    def depends(self) -> tuple[tuple[int, ...], ...] | None:
        return self.rows

    def pullback(self, given: list[Any], values: list[Any], cls: type[Any]) -> list[Any]:
        """The cotangents of the operands; results that nothing depends on get zeros."""
        cotangents = [wrap(cls, np.zeros_like(v)[()]) if g is None else g for g, v in zip(given, values)]
        return list(self.back(*cotangents))


def record_barrier(results: list[Any], inputs: list[Any], back: Callable[..., Any], rows: Any = None) -> list[Any]:
    """Tensors for `results` (tensors that no tape knows), recorded as one operation on `inputs` whose pullback is
    `back`: from a tensor for each result to a tensor or None for each input."""
    rec = STATE.rec
    if rec is None:
        return results
    slots = [rec.find(x) for x in inputs]
    if all(s < 0 for s in slots):
        return results
    first = rec.barrier(Barrier(back, rows), inputs, [r._value for r in results])
    for k, r in enumerate(results):
        r._token, r._slot = rec.token, first + k
    return results
