"""Jacobians: the pullback, once for each element of the target."""

from __future__ import annotations

from typing import Any

import numpy as np

from .nest import flatten, is_nested, pack_like
from .tensor import Operand, call, wrap

NOT_PERSISTENT = (
    "GradientTape must be created with persistent=True to compute the jacobian with experimental_use_pfor set to False."
)


def jacobian(tape: Any, target: Any, sources: Any, unconnected: Any, use_pfor: bool) -> Any:
    from .gradient_tape import SECOND_USE, UnconnectedGradients, _check_sources

    rec = tape._rec
    if rec is None:
        raise RuntimeError(SECOND_USE)
    if is_nested(target) or not isinstance(target, Operand):
        raise AttributeError(f"{type(target).__name__!r} object has no attribute 'shape': the target is one tensor")
    flat = flatten(sources)
    _check_sources(flat)
    if not use_pfor and not tape._persistent:
        raise RuntimeError(NOT_PERSISTENT)
    if tape._recording and not tape._persistent:
        tape._pop()
    try:
        shape = np.shape(target._value)
        columns = rows(tape, rec, target, flat, basis(target))
        out = []
        for x, found in zip(flat, columns):
            if found is None:
                if unconnected is UnconnectedGradients.ZERO:
                    zeros = np.zeros((*shape, *np.shape(x._value)), np.asarray(x._value).dtype)[()]
                    found = wrap(x._tensor_class, zeros)
                out.append(found)
                continue
            out.append(call(np.reshape, found, (*shape, *np.shape(x._value))) if shape != found.shape[:1] else found)
    finally:
        if not tape._persistent:
            tape._release()
    return pack_like(sources, out) if is_nested(sources) else out[0]


def basis(target: Any) -> list[Any]:
    """A cotangent for each element of the target."""
    v = np.asarray(target._value)
    out = []
    for k in range(v.size):
        e = np.zeros(v.size, v.dtype)
        e[k] = 1
        out.append(wrap(target._tensor_class, e.reshape(v.shape)[()]))
    return out


def rows(tape: Any, rec: Any, target: Any, flat: list[Any], seeds: list[Any]) -> list[Any]:
    """For each source, its gradients for each of the seeds, stacked; None if it is not connected."""
    if not seeds:
        return [wrap(x._tensor_class, np.zeros((0, *np.shape(x._value)), np.asarray(x._value).dtype)) for x in flat]
    made = [tape._gradient(rec, [target], flat, [seed]) for seed in seeds]
    return [None if made[0][k] is None else call(np.stack, [row[k] for row in made]) for k in range(len(flat))]


def batch_jacobian(tape: Any, target: Any, source: Any, unconnected: Any, use_pfor: bool) -> Any:
    from .gradient_tape import SECOND_USE

    rec = tape._rec
    if rec is None:
        raise RuntimeError(SECOND_USE)
    m, n = np.shape(target._value), np.shape(source._value)
    if len(m) < 2 or len(n) < 2:
        raise ValueError(f"Shape {m if len(m) < 2 else n} must have rank at least 2")
    if m[0] != n[0]:
        raise ValueError(f"Need first dimension of target shape {m} and source shape {n} to match.")
    if not use_pfor and not tape._persistent:
        raise RuntimeError(NOT_PERSISTENT)
    if tape._recording and not tape._persistent:
        tape._pop()
    try:
        seeds = []
        v = np.asarray(target._value)
        for k in range(int(np.prod(m[1:]))):
            e = np.zeros((m[0], int(np.prod(m[1:]))), v.dtype)
            e[:, k] = 1
            seeds.append(wrap(target._tensor_class, e.reshape(m)))
        (found,) = rows(tape, rec, target, [source], seeds)
    finally:
        if not tape._persistent:
            tape._release()
    if found is None:
        return wrap(source._tensor_class, np.zeros((*m, *n[1:]), np.asarray(source._value).dtype))
    # From (m..., b, n...) to (b, m..., n...).
    moved = call(np.transpose, found, (1, 0, *range(2, 1 + len(n))))
    return call(np.reshape, moved, (*m, *n[1:]))
