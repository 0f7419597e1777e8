"""Assembled arrays: zeros to which parts are added, and of which only parts are read, are never made.

Takes a function that nobody differentiates again. Where an adjoint stores parts into an array of zeros, and reads other
parts of it, gives one that computes what is read of what was stored: ``bar[:-1] = a`` and ``bar[1:] += b`` make
``a[1:] + b[:-1]`` of ``bar[1:-1]``, and ``b[-1]`` of ``bar[-1]``. The adjoint of a difference of neighbours whose ends
are stored apart, as fluxes through the faces of cells are, is such an array.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, k):
...     flux = np.zeros(len(x) + 1)
...     flux[1:-1] = k * x[1:]
...     flux[0] = x[0]
...     return np.sum((flux[1:] - flux[:-1]) ** 3)
>>> show_source(f, np.ones(4), np.ones(3))
def f_grad(x, k):
    flux = np.zeros(x.shape[0] + 1)
    flux[1:-1] = k * x[1:]
    flux[0] = x[0]
    # adjoint of line 5: return np.sum((flux[1:] - flux[:-1]) ** 3)
    flux_tail_bar = 3.0 * (flux[1:] - flux[:-1]) ** 2
    x_bar = np.empty_like(x)
    # adjoint of line 4: flux[0] = x[0]
    x_bar[0] = -flux_tail_bar[0]
    # adjoint of line 3: flux[1:-1] = k * x[1:]
    x_bar[1:] = (flux_tail_bar[:-1] - flux_tail_bar[1:]) * k
    return x_bar
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.core import DERIVED, Builder, Function, Op, Region, Value, type_of
from ..ir.opset import ADD, ADDAT, GET, NEG, SET, SUB
from ..ir.rewrite import collect_uses, derived, replace_values
from ..ir.telling import Telling, give, name_of
from ..ir.types import same_dtype
from ..records import record
from .first_stores import makes_zeros
from .places import common

Uses = dict[Value, list[Op | Region]]


@record
class Term:
    """What a store adds to a part that is read.

    path:  where it is in what is stored
    place: where it belongs in what is read; None: it is all of that
    """

    value: Value
    negative: bool
    path: tuple[Any, ...]
    place: tuple[Any, ...] | None


def take_apart(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Read parts of what was stored, and not of zeros with these parts; `before_change` is called if there are some."""
    made = [op for op in fn.body.walk() if op.tag == DERIVED and makes_zeros(op)]
    uses = collect_uses(fn.body) if made else {}
    found = [one for op in made if (one := _assembled(op, uses)) is not None]
    if found and before_change is not None:
        before_change()
    for stores, reads in found:
        replace_values(fn.body, {read.result: _sum(read, terms) for read, terms in reads})
        for op in (*stores, *[read for read, _ in reads]):
            assert op.parent is not None
            op.parent.ops.remove(op)
    return bool(found)


def _assembled(made: Op, uses: Uses) -> tuple[list[Op], list[tuple[Op, list[Term]]]] | None:
    """The operations that assemble an array, and its reads, with what each of them is the sum of."""
    region, at = made.parent, made.result
    steps: list[Op] = []
    reads: list[tuple[Op, int]] = []
    while True:
        store = None
        for user in uses.get(at, ()):
            if not isinstance(user, Op) or user.tag != DERIVED or user.parent is not region:
                return None
            if user.args[0] is not at or at in user.operands()[1:]:
                return None
            if user.prim is GET:
                reads.append((user, len(steps)))
            elif user.prim in (SET, ADDAT) and store is None and (_is_cleared(user) or _fits(user)):
                store = user
            else:
                return None
        if store is None:
            break
        steps.append(store)
        at = store.result
    out = [(read, _terms(read, steps[:count])) for read, count in reads]
    if not steps or any(not terms for _, terms in out):
        return None
    # Each term is a pass over an array, as the zeros were, and each store.
    passes = sum(len(terms) - 1 for read, terms in out if terms and read.result.type.dims != ())
    if passes >= 1 + sum(1 for step in steps if type_of(step.args[2]).dims != ()):
        return None
    return [*steps[::-1], made], out  # type: ignore[return-value]


def _is_cleared(store: Op) -> bool:
    """The store puts a zero back, as the adjoint of a store does."""
    return store.prim is SET and type(store.args[2]) is float and store.args[2] == 0.0


def _fits(store: Op) -> bool:
    """What is stored has the shape and the dtype of its place."""
    base, path, v = store.args
    if type(v) is not Value or v.type.kind not in ("array", "generic") or store.parent is None:
        return False
    if len(path) != 1 or path[0][0] != "index" or not same_dtype(v.type.dtype, base.type.dtype):
        return False
    place, dims = GET.infer(Builder(store.parent), (base, path), {}), store.parent.dims  # type: ignore[misc]
    if place.kind != v.type.kind or place.dims is None or v.type.dims is None or len(place.dims) != len(v.type.dims):
        return False
    return all(map(dims.same, place.dims, v.type.dims))


def _terms(read: Op, stores: list[Op]) -> list[Term] | None:
    """What a read is the sum of, those that are all of it first; None if that is not known."""
    terms: list[Term] = []
    region = read.parent
    assert region is not None
    for store in stores:
        shared = common(read.args[1], store.args[1], region.dims, store.result.type.dims or ())
        if shared is False:
            continue
        if shared is True:
            return None
        if store.prim is SET and terms:
            if not shared.is_all:
                return None
            terms = []
        v = store.args[2]
        if type(v) is not Value:
            continue
        sign = v.op if v.op is not None and v.op.prim is NEG and v.op.tag == DERIVED and v.op.parent is region else None
        place = None if shared.is_all else shared.in_first
        terms.append(Term(v if sign is None else sign.args[0], sign is not None, shared.in_second, place))
    terms.sort(key=lambda term: (term.place is not None, term.negative))
    return terms if terms and terms[0].place is None else None


def _sum(read: Op, terms: list[Term]) -> Value:
    """The sum of the terms, in the place of a read."""
    region = read.parent
    assert region is not None

    def emit(prim: Any, *args: Any) -> Value:
        op = derived(region, prim, *args, loc=read.loc)
        region.ops.insert(region.ops.index(read), op)
        return op.result

    out: Value | None = None
    for term in terms:
        part = term.value
        if any(item != slice(None) for item in term.path):
            part = emit(GET, part, (("index", term.path),))
        if term.place is not None:
            out = emit(ADDAT, out, (("index", term.place),), emit(NEG, part) if term.negative else part)
        elif out is None:
            out = emit(NEG, part) if term.negative else part
        else:
            out = emit(SUB if term.negative else ADD, out, part)
    assert out is not None
    give(out, Telling(name_of(read.result)))
    return out


__all__ = ["take_apart"]
