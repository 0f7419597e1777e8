"""Barriers: records whose pullback is a Python function. Custom gradients and compiled functions are recorded so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from .apply import call, getitem
from .recording import STATE
from .tensor import Operand, wrap


class Barrier:
    """The pullback of one record.

    back: ``back(*cotangents)`` takes a tensor for each result. It gives a tensor or None for each operand.
    rows: for each result, the positions of the operands on which it depends. None: each depends on all.
    like: for each result, the slot of the value that it has the tangent of, -1 if that has none. None: the pullback
        gives the tangents, too.
    stacks: ``stacks(*cotangents)`` is `back` for stacks of them, None if there is none. It may raise UnsupportedError.
    """

    __slots__ = ("back", "rows", "like", "stacks")

    def __init__(
        self, back: Callable[..., Any], rows: tuple[tuple[int, ...], ...] | None = None,
        like: list[int] | None = None, stacks: Callable[..., Any] | None = None,
    ):  # fmt: skip
        self.stacks = stacks
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

    def stacked(self, given: list[Any], values: list[Any], cls: type[Any]) -> list[Any]:
        """As `pullback`, for stacks of cotangents. The function runs once for each of them, unless it has a form for
        stacks."""
        count = next(len(g._value) for g in given if g is not None)
        if self.stacks is not None:
            shapes = [(count, *np.shape(v)) for v in values]
            full = [
                wrap(cls, np.zeros(n, np.asarray(v).dtype)) if g is None else g
                for g, n, v in zip(given, shapes, values)
            ]
            try:
                return list(self.stacks(*full))
            except UnsupportedError:
                pass
        rows = [
            self.pullback([None if g is None else self.part(g, k) for g in given], values, cls) for k in range(count)
        ]
        return [self.joined(list(column)) for column in zip(*rows)]

    def part(self, g: Any, k: int) -> Any:
        return getitem(g, k)

    def joined(self, parts: list[Any]) -> Any:
        """A stack of the cotangents of one operand."""
        known = [g for g in parts if g is not None]
        if not known:
            return None
        return call(np.stack, [self.zeros_like(known[0]) if g is None else g for g in parts])

    def zeros_like(self, g: Any) -> Any:
        return wrap(type(g), np.zeros_like(g._value)[()])


def record_barrier(
    results: list[Any], inputs: list[Any], back: Callable[..., Any], rows: Any = None, like: list[Any] | None = None,
    stacks: Callable[..., Any] | None = None,
) -> list[Any]:  # fmt: skip
    """Record `results` as one operation on `inputs`, with the pullback `back` (see `Barrier`), and return them.

    `results` are tensors that are on no recording yet. Where no tape watches an input, nothing is recorded. `like`: the
    tensors that have the tangents of the results, on the recording. `stacks`: see `Barrier`.
    """
    rec = STATE.rec
    if rec is None:
        return results
    slots = [rec.find(x) for x in inputs]
    if all(s < 0 for s in slots):
        return results
    same = None if like is None else [rec.find(x) if isinstance(x, Operand) else -1 for x in like]
    first = rec.barrier(Barrier(back, rows, same, stacks), inputs, [r._value for r in results])
    for k, r in enumerate(results):
        r._token, r._slot = rec.token, first + k
    return results
