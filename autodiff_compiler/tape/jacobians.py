"""Jacobians of the tape: one cotangent for each element of the target.

The pullback runs once, on the stack of these cotangents. Where one of its operations has no batching rule, it runs once
for each cotangent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..transforms.batch import NotBatchedError
from .apply import call
from .connect import UnconnectedGradients
from .nest import flatten, is_nested, pack_like
from .tensor import Operand, wrap

NOT_PERSISTENT = (
    "GradientTape must be created with persistent=True to compute the jacobian with experimental_use_pfor set to False."
)


def jacobian(tape: Any, target: Any, sources: Any, unconnected: Any, use_pfor: bool) -> Any:
    """See `GradientTape.jacobian`."""
    rec = tape._rec
    if rec is None:
        raise RuntimeError(tape._used_up)
    if is_nested(target) or not isinstance(target, Operand):
        raise AttributeError(
            f"{type(target).__name__!r} object has no attribute 'shape': the target of a jacobian has to be one tensor"
        )
    flat = flatten(sources)
    tape._check_sources(flat)
    _begin(tape, use_pfor)
    try:
        v = np.asarray(target._value)
        shape = v.shape
        columns = rows(tape, rec, target, flat, v.size, lambda start, stop: basis(v, start, stop))
        out = []
        for x, found in zip(flat, columns):
            whole = (*shape, *np.shape(x._value))
            if found is not None and shape != found.shape[:1]:
                found = call(np.reshape, found, whole)
            elif found is None and unconnected is UnconnectedGradients.ZERO:
                found = wrap(x._tensor_class, np.zeros(whole, np.asarray(x._value).dtype)[()])
            out.append(found)
    finally:
        if not tape._persistent:
            tape._release()
    return pack_like(sources, out) if is_nested(sources) else out[0]


def _begin(tape: Any, use_pfor: bool) -> None:
    """Stop the recording of a tape that is used once."""
    if tape._persistent:
        return
    if not use_pfor:
        raise RuntimeError(NOT_PERSISTENT)
    if tape._recording:
        tape._pop()


# Stacks are cut so that no value of the backward sweep has more elements than this.
MAX_ELEMENTS = 1 << 22


def basis(v: Any, start: int, stop: int) -> Any:
    """Unit cotangents of the array `v` for its elements from `start` to `stop`, as a stack.

    >>> basis(np.zeros(3), 1, 3)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    made = np.zeros((stop - start, v.size), v.dtype)
    made[np.arange(stop - start), np.arange(start, stop)] = 1
    return made.reshape(stop - start, *v.shape)


def rows(tape: Any, rec: Any, target: Any, flat: list[Any], count: int, seeds: Callable[[int, int], Any]) -> list[Any]:
    """For each source, the stack of its gradients, one for each seed. None for a source that is not connected.

    ``seeds(start, stop)`` gives these of the `count` seeds, as a stack.
    """
    cls = target._tensor_class
    if not count:
        return [wrap(x._tensor_class, np.zeros((0, *np.shape(x._value)), np.asarray(x._value).dtype)) for x in flat]
    largest = max([np.size(v) for v in rec.values], default=1)
    step = max(1, MAX_ELEMENTS // max(largest, 1))
    made: list[list[Any]] = []
    if count > 1 and step > 1:
        try:
            for start in range(0, count, step):
                stack = wrap(cls, seeds(start, min(start + step, count)))
                made.append(tape._gradient(rec, [target], flat, [stack], stacked=True))
            return [_joined([part[k] for part in made], np.concatenate) for k in range(len(flat))]
        except NotBatchedError:
            pass
    made = [tape._gradient(rec, [target], flat, [wrap(cls, seeds(k, k + 1)[0][()])]) for k in range(count)]
    return [_joined([part[k] for part in made], np.stack) for k in range(len(flat))]


def _joined(parts: list[Any], join: Any) -> Any:
    if parts[0] is None:
        return None
    return parts[0] if len(parts) == 1 and join is np.concatenate else call(join, parts)


def batch_jacobian(tape: Any, target: Any, source: Any, unconnected: Any, use_pfor: bool) -> Any:
    """See `GradientTape.batch_jacobian`."""
    rec = tape._rec
    if rec is None:
        raise RuntimeError(tape._used_up)
    m, n = np.shape(target._value), np.shape(source._value)
    if len(m) < 2 or len(n) < 2:
        raise ValueError(f"Shape {m if len(m) < 2 else n} must have rank at least 2")
    if m[0] != n[0]:
        raise ValueError(f"Need first dimension of target shape {m} and source shape {n} to match.")
    _begin(tape, use_pfor)
    try:
        v = np.asarray(target._value)
        row = np.empty(m[1:], v.dtype)

        def seeds(start: int, stop: int) -> Any:  # the same element of all samples at once
            return np.repeat(basis(row, start, stop)[:, None], m[0], axis=1)

        (found,) = rows(tape, rec, target, [source], row.size, seeds)
    finally:
        if not tape._persistent:
            tape._release()
    if found is None:
        return wrap(source._tensor_class, np.zeros((*m, *n[1:]), np.asarray(source._value).dtype))
    # From (m..., b, n...) to (b, m..., n...).
    moved = call(np.transpose, found, (1, 0, *range(2, 1 + len(n))))
    return call(np.reshape, moved, (*m, *n[1:]))
