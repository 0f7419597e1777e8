"""Records of which only a Python function knows the pullback: custom gradients, compiled functions, foreign code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

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
