"""Derivatives of recorded results in one pass for all directions: what ``torch.func`` and ``torch.autograd.functional``
are made of."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...tape.jacobians import MAX_ELEMENTS, basis
from ...tape.nest import flatten, map_nested
from ...tape.pullback import NotBatchedError
from ..graph.engine import behind, gradients
from ..graph.engine import tangents as engine_tangents
from ..graph.record import Var
from . import autograd
from .core import Base, make
from .modes import MODE, enable_grad
from .shaping import cat, stack


def leaf(t: Any, connected: bool) -> Any:
    """A fresh tensor to differentiate by; `connected`: it depends on the one given."""
    return t.view_as(t) if connected and t._var is not None else t.detach().clone().requires_grad_()


def zeros(t: Any, lead: tuple[int, ...] = ()) -> Any:
    return make(np.zeros(lead + t._value.shape, t._value.dtype))


# Leaves of derivatives that are done: nobody differentiates by them any more.
_DONE: weakref.WeakSet[Var] = weakref.WeakSet()


def done(leaves: list[Any]) -> None:
    _DONE.update([t._var for t in leaves if t._var is not None and t._var.record is None])


def is_connected(tensors: list[Any]) -> bool:
    """Whether what is made of the tensors is to be recorded: they depend on tensors that require a gradient, other than
    the leaves that are done."""
    if not MODE.grad:
        return False
    ends = [t._var for t in tensors if t._var is not None]
    used = [*ends, *[var for record in behind(ends) for var in record.operands]]
    return any(var is not None and var.record is None and var not in _DONE for var in used)


def released(x: Any) -> Any:
    """The nest, whose tensors require gradients only where that is of use."""
    return map_nested(lambda t: t.detach() if isinstance(t, Base) and not is_connected([t]) else t, x)


def tensors_of(x: Any) -> list[Any]:
    """The tensors in a nest."""
    return [t for t in flatten(x) if isinstance(t, Base)]


def rebuilt(x: Any, tensors: Iterator[Any]) -> Any:
    """The nest with other tensors, in order."""
    return map_nested(lambda t: next(tensors) if isinstance(t, Base) else t, x)


def pulled(outs: list[Any], leaves: list[Any], seeds: list[Any], **options: Any) -> list[Any]:
    """The gradients of the outputs, which may be constant."""
    live = [(t, g) for t, g in zip(outs, seeds, strict=True) if t._var is not None]
    if not live:
        return [zeros(t) for t in leaves]
    heads, given = zip(*live)
    return list(autograd.grad(heads, leaves, given, materialize_grads=True, **options))


def pushed(outs: list[Any], leaves: list[Any], dots: list[Any], create_graph: bool) -> list[Any]:
    """The tangents of the outputs, in the direction `dots` of the leaves; None for those that are constant."""
    live = [t for t in outs if t._var is not None]
    if not live:
        return [None] * len(outs)
    with enable_grad():
        try:
            found = engine_tangents([t._var for t in live], [t._var for t in leaves], dots, create_graph)
        except NotBatchedError:  # by the gradient, with respect to u, of the product of u with the Jacobian
            u = [zeros(t).requires_grad_() for t in live]
            bars = pulled(live, leaves, u, create_graph=True, retain_graph=True)
            found = pulled(bars, u, dots, create_graph=create_graph, retain_graph=True)
            done(u)
    rest = iter(found)
    return [None if t._var is None else next(rest) for t in outs]


def _parts(count: int, largest: int, chunk: int | None) -> Iterator[tuple[int, int]]:
    """The directions in parts, of which no value is too large."""
    step = chunk or max(1, MAX_ELEMENTS // max(largest, 1))
    for start in range(0, count, step):
        yield start, min(start + step, count)


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else cat(parts, 0)


def rows(out: Any, leaves: list[Any], create_graph: bool, chunk: int | None = None) -> list[Any]:
    """For each leaf, the derivatives of each element of `out`, in out's shape and then the leaf's, by cotangents. None
    for a leaf that it does not depend on."""
    v = out._value
    if out._var is None or not v.size:
        return [None] * len(leaves)
    sources = [t._var for t in leaves]
    made: list[list[Any]] | None = None
    with enable_grad():
        if v.size > 1:
            try:
                made = [
                    [g for _, g in gradients([out._var], [make(basis(v, *part))], sources, True, create_graph, True)]
                    for part in _parts(v.size, max(v.size, *[t._value.size for t in leaves]), chunk)
                ]
            except NotBatchedError:
                made = None
        if made is None:
            options: Any = {"retain_graph": True, "create_graph": create_graph, "allow_unused": True}
            single = [autograd.grad(out, leaves, make(e[0].copy()), **options) for e in _units(v)]
            made = [[None if column[0] is None else stack(column) for column in zip(*single)]]
        joined = [None if column[0] is None else _joined(list(column)) for column in zip(*made)]
        return [None if g is None else g.reshape(v.shape + t._value.shape) for g, t in zip(joined, leaves)]


def _units(v: Any) -> Iterator[Any]:
    return (basis(v, k, k + 1) for k in range(v.size))


def columns(outs: list[Any], leaves: list[Any], create_graph: bool, chunk: int | None = None) -> list[list[Any]]:
    """For each output and each leaf, the derivatives in the output's shape and then the leaf's, by tangents. None for
    an output that is constant."""
    live = [t for t in outs if t._var is not None]
    sizes = [t._value.size for t in leaves]
    count = sum(sizes)
    if not live or not count:
        return [[None] * len(leaves) for _ in outs]
    with enable_grad():
        made = [
            _along(live, leaves, _directions(leaves, *part), create_graph)
            for part in _parts(count, max(t._value.size for t in [*live, *leaves]), chunk)
        ]
        blocks = []
        for t, *parts in zip(live, *made):
            whole = None if parts[0] is None else _joined(parts).movedim(0, -1)
            ends = np.cumsum([0, *sizes])
            blocks.append(
                [
                    None if whole is None else whole[..., a:b].reshape(t._value.shape + x._value.shape)
                    for x, a, b in zip(leaves, ends.tolist(), ends[1:].tolist())
                ]
            )
    rest = iter(blocks)
    return [[None] * len(leaves) if t._var is None else next(rest) for t in outs]


def _directions(leaves: list[Any], start: int, stop: int) -> list[Any]:
    """For each leaf its part of the unit directions of all leaves together, from `start` to `stop`, as stacks."""
    found, first = [], 0
    for t in leaves:
        v = t._value
        made = np.zeros((stop - start, v.size), v.dtype)
        own = range(max(start, first), min(stop, first + v.size))
        made[[k - start for k in own], [k - first for k in own]] = 1
        found.append(make(made.reshape(stop - start, *v.shape)))
        first += v.size
    return found


def _along(outs: list[Any], leaves: list[Any], dots: list[Any], create_graph: bool) -> list[Any]:
    """The tangents of the outputs along stacks of directions."""
    try:
        sources = [t._var for t in leaves]
        return engine_tangents([t._var for t in outs], sources, dots, create_graph, True)
    except NotBatchedError:
        many = [pushed(outs, leaves, [d[k] for d in dots], create_graph) for k in range(len(dots[0]._value))]
        return [None if column[0] is None else stack(list(column)) for column in zip(*many)]


def run(func: Callable[..., Any], args: tuple[Any, ...], numbers: list[int], kwargs: Any = None) -> Any:
    """The fresh tensors in the arguments of these numbers, and the result with them."""
    with enable_grad():
        leaves: list[Any] = []
        full = list(args)
        for k in numbers:
            found = [leaf(t, True) for t in tensors_of(args[k])]
            leaves += found
            full[k] = rebuilt(args[k], iter(found))
        return leaves, func(*full, **(kwargs or {}))
