"""Derivative rules of products of arrays and of linear algebra.

Products are bilinear and pull back without conjugation, as docs/semantics.md says for complex numbers. Reference for
the decompositions: Giles, Collected matrix derivative results for forward and reverse mode AD (2008).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import runtime
from ..ir.core import current, type_of
from ..ir.ops_linalg import parse_einsum, tensordot_axes
from . import lib
from .lib import call, conj, ndim, part, spread, swap
from .record import vjp

_COLUMN = (Ellipsis, slice(None), None)
_ROW = (Ellipsis, None, slice(None))


def _column(x: Any) -> Any:
    return part(x, (slice(None), None) if ndim(x) == 1 else _COLUMN)


def _row(x: Any) -> Any:
    return part(x, (None, slice(None)) if ndim(x) == 1 else _ROW)


@vjp((np.matmul, operator.matmul), "x1")
def _matmul_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    p, q = ndim(x), ndim(y)
    if p == 1 and q == 1:
        return g * y
    if q == 1:
        return _column(g) * y  # a column times a row
    if p == 1:
        return swap_product(g, y)
    return g @ swap(y)


def swap_product(g: Any, y: Any) -> Any:
    """The cotangent of the vector in ``vector @ y``, with the batch axes of `y` in front."""
    if ndim(y) == 2:
        return y @ g
    return part(y @ _column(g), (Ellipsis, 0))


@vjp((np.matmul, operator.matmul), "x2")
def _matmul_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    p, q = ndim(x), ndim(y)
    if p == 1 and q == 1:
        return g * x
    if p == 1:
        return _column(x) * _row(g)
    if q == 1:
        return g @ x if p == 2 else part(_row(g) @ x, (Ellipsis, 0, slice(None)))
    return swap(x) @ g


# --- products over other axes -----------------------------------------------------------------------------------------


def _contract(g: Any, x: Any, y: Any, contracted: tuple[tuple[int, ...], tuple[int, ...]], first: bool) -> Any:
    """The cotangent of one operand of ``tensordot(x, y, contracted)``."""
    mine, other = contracted if first else contracted[::-1]
    a, b = (x, y) if first else (y, x)
    free_a = [k for k in range(ndim(a)) if k not in mine]
    free_b = [k for k in range(ndim(b)) if k not in other]
    # g has the free axes of x, then those of y.
    axes_g = tuple(range(len(free_a), len(free_a) + len(free_b))) if first else tuple(range(len(free_b)))
    bar = call(np.tensordot, g, b, (axes_g, tuple(free_b)))
    # The result has a's free axes, then b's contracted axes in b's own order.
    by_b = [mine[other.index(k)] for k in sorted(other)]
    order = free_a + by_b
    return lib.transpose(bar, tuple(np.argsort(order).tolist()) if order else ())


def _dot_axes(p: int, q: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return (p - 1,), (max(q - 2, 0),)


@vjp(np.dot, "a")
def _dot_a(g: Any, out: Any, a: Any, b: Any) -> Any:
    p, q = ndim(a), ndim(b)
    if p == 0 or q == 0:
        return g * b
    if q == 1:
        return _outer_last(g, b)
    if p == 1 and q == 2:
        return np.dot(b, g)
    if p == 2 and q == 2:
        return np.dot(g, swap(b))
    return _contract(g, a, b, _dot_axes(p, q), True)


@vjp(np.dot, "b")
def _dot_b(g: Any, out: Any, a: Any, b: Any) -> Any:
    p, q = ndim(a), ndim(b)
    if p == 0 or q == 0:
        return g * a
    if p == 1 and q == 1:
        return g * a
    if p == 2 and q == 1:
        return np.dot(g, a)
    if p == 1 and q == 2:
        return _column(a) * _row(g)
    if p == 2 and q == 2:
        return np.dot(swap(a), g)
    return _contract(g, a, b, _dot_axes(p, q), False)


def _outer_last(g: Any, b: Any) -> Any:
    """`g` times the vector `b` along a new last axis."""
    return g * b if ndim(g) == 0 else part(g, (Ellipsis, None)) * b


@vjp(np.inner, "a")
def _inner_a(g: Any, out: Any, a: Any, b: Any) -> Any:
    p, q = ndim(a), ndim(b)
    if p == 0 or q == 0 or p == q == 1:
        return g * b
    return _contract(g, a, b, ((p - 1,), (q - 1,)), True)


@vjp(np.inner, "b")
def _inner_b(g: Any, out: Any, a: Any, b: Any) -> Any:
    p, q = ndim(a), ndim(b)
    if p == 0 or q == 0 or p == q == 1:
        return g * a
    return _contract(g, a, b, ((p - 1,), (q - 1,)), False)


@vjp(np.outer, "a")
def _outer_a(g: Any, out: Any, a: Any, b: Any) -> Any:
    return lib.reshape_as(np.dot(g, b if ndim(b) == 1 else call(np.ravel, b)), a)


@vjp(np.outer, "b")
def _outer_b(g: Any, out: Any, a: Any, b: Any) -> Any:
    return lib.reshape_as(np.dot(a if ndim(a) == 1 else call(np.ravel, a), g), b)


@vjp(np.vdot, "a")
def _vdot_a(g: Any, out: Any, a: Any, b: Any) -> Any:
    return lib.reshape_as(conj(g * b) if lib.may_be_complex(a) else g * b, a)


@vjp(np.vdot, "b")
def _vdot_b(g: Any, out: Any, a: Any, b: Any) -> Any:
    return lib.reshape_as(g * conj(a), b)


def _tensordot(g: Any, a: Any, b: Any, axes: Any, first: bool) -> Any:
    contracted = None if lib.symbolic(axes) else tensordot_axes(axes, ndim(a), ndim(b))
    if contracted is None:
        raise lib.unsupported("the derivative of np.tensordot needs constant axes")
    return _contract(g, a, b, contracted, first)


@vjp(np.tensordot, "a")
def _tensordot_a(g: Any, out: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    return _tensordot(g, a, b, axes, True)


@vjp(np.tensordot, "b")
def _tensordot_b(g: Any, out: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    return _tensordot(g, a, b, axes, False)


@vjp(np.einsum, "*operands")
def _einsum(g: Any, out: Any, subscripts: Any, *operands: Any, optimize: Any = False) -> Any:
    if not isinstance(subscripts, str):
        raise lib.unsupported(
            "np.einsum has a derivative rule for subscripts that are a string", "write them as a string"
        )
    parsed = parse_einsum(subscripts, [ndim(o) for o in operands])
    if parsed is None:
        raise lib.unsupported(f"np.einsum has no derivative rule for the subscripts {subscripts!r} with these operands")
    inputs, output = parsed
    letters = _letters(inputs)
    kwargs = {"optimize": optimize} if optimize is not False else {}
    bars = []
    for k, (labels, operand) in enumerate(zip(inputs, operands)):
        # A label that neither the result nor another operand has was summed alone: its cotangent is the same along
        # that axis.
        others = [(inputs[j], operands[j]) for j in range(len(operands)) if j != k]
        axes, labels = labels, list(dict.fromkeys(labels))
        known = set(output).union(*(set(ls) for ls, _ in others))
        kept = [label for label in labels if label in known]
        terms = [output, *(ls for ls, _ in others)]
        text = ",".join("".join(letters[x] for x in ls) for ls in terms) + "->" + "".join(letters[x] for x in kept)
        bar = call(np.einsum, text, g, *(o for _, o in others), **kwargs) if others or kept != output else g
        if not kept:
            bar = spread(bar, operand) if len(labels) == len(axes) else bar
        elif len(kept) != len(labels):
            bar = part(bar, tuple([slice(None) if label in known else None for label in labels]))
        if len(labels) != len(axes):
            bars.append(_on_diagonals(bar, operand, axes, labels))
        else:
            bars.append(_at_least_as_large(bar, operand))
    return tuple(bars)


def _on_diagonals(bar: Any, x: Any, axes: list[str], labels: list[str]) -> Any:
    """Zeros like `x` with `bar`, which has one axis for each label, where axes of the same label agree."""
    places = {}
    for k, label in enumerate(labels):
        n = lib.length(x, axes.index(label))
        places[label] = lib.reshape(call(np.arange, n), (1,) * k + (-1,) + (1,) * (len(labels) - 1 - k))
    shape = tuple([lib.length(x, axes.index(label)) for label in labels])
    bar = call(np.broadcast_to, bar, shape)  # a label that was summed alone
    return lib.scatter(bar, x, tuple([places[label] for label in axes]))


def _letters(inputs: list[list[str]]) -> dict[str, str]:
    """A letter for every label; axes under an ellipsis, labelled by numbers, take letters that are free."""
    used = {label for labels in inputs for label in labels}
    free = (c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in used)
    return {label: next(free) if label.isdigit() else label for label in sorted(used)}


def _at_least_as_large(bar: Any, x: Any) -> Any:
    """`bar` broadcast so that it covers the shape of `x`: einsum lets an axis of length 1 meet a longer one."""
    if not lib.symbolic(bar, x):
        return np.broadcast_to(bar, np.broadcast_shapes(np.shape(bar), np.shape(x)))
    have, want = (t.dims if (t := type_of(v)).dims is not None else None for v in (bar, x))
    dims = current().dims
    if have is not None and want is not None:
        pairs = list(zip(have, want))
        if all(dims.same(a, b) or dims.find(b) == 1 for a, b in pairs):
            return bar
        if all(dims.same(a, b) or dims.find(a) == 1 for a, b in pairs):
            return spread(bar, x)
    return bar + lib.zeros(x)  # NumPy finds out


# --- linear algebra ---------------------------------------------------------------------------------------------------


@vjp(np.linalg.inv, "a")
def _inv(g: Any, out: Any, a: Any) -> Any:
    transposed = swap(out)
    return -(transposed @ g @ transposed)


@vjp(np.linalg.solve, "b")
def _solve_b(g: Any, out: Any, a: Any, b: Any) -> Any:
    return (
        np.linalg.solve(swap(a), g)
        if ndim(b) > 1 or ndim(a) == 2
        else part(np.linalg.solve(swap(a), _column(g)), (Ellipsis, 0))
    )


@vjp(np.linalg.solve, "a")
def _solve_a(g: Any, out: Any, a: Any, b: Any) -> Any:
    bar = _solve_b(g, out, a, b)
    if ndim(b) == 1:
        return -(_column(bar) * _row(out))
    return -(bar @ swap(out))


@vjp(runtime.inverse, "a")
def _inverse(g: Any, out: Any, a: Any) -> Any:
    return _inv(g, out, a)


@vjp(np.linalg.det, "a")
def _det(g: Any, out: Any, a: Any) -> Any:
    return _matrix(g) * call(runtime.cofactors, a)


@vjp(runtime.cofactors, "a")
def _cofactors(g: Any, out: Any, a: Any) -> Any:
    m = swap(call(runtime.inverse, a))
    return np.sum(g * out, axis=(-2, -1), keepdims=True) * m - out @ swap(g) @ m


def _matrix(g: Any) -> Any:
    """`g`, one number per matrix, so that it broadcasts against the matrices."""
    return g if ndim(g) == 0 else part(g, (Ellipsis, None, None))


@vjp(np.linalg.slogdet, "a")
def _slogdet(g: Any, out: Any, a: Any) -> Any:
    g_sign, g_log = g
    if lib.may_be_complex(a):
        if g_sign is not None:
            raise lib.unsupported("the sign of np.linalg.slogdet of a complex matrix has no derivative rule")
    if g_log is None:
        return None
    return _matrix(g_log) * swap(call(runtime.inverse, a))


@vjp(np.linalg.cholesky, "a")
def _cholesky(g: Any, out: Any, a: Any) -> Any:
    """NumPy reads the lower triangle only, so the cotangent lies there."""
    lib.need_real("np.linalg.cholesky", a)
    # inv(L)^T Phi(L^T g) inv(L), Phi: the lower triangle with half the diagonal.
    inner = np.tril(swap(out) @ g)
    half = inner - 0.5 * (inner * call(np.eye, lib.length(a, ndim(a) - 1)))
    inverse = np.linalg.inv(out)
    both = swap(inverse) @ half @ inverse
    total = both + swap(both)
    return np.tril(total) - 0.5 * (total * call(np.eye, lib.length(a, ndim(a) - 1)))
