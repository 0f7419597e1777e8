"""Products of arrays and linear algebra.

Products are bilinear and pull back without conjugation, as docs/semantics.md says for complex numbers. Reference for
Cholesky: Giles, Collected matrix derivative results for forward and reverse mode AD (2008).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import runtime
from ..ir.core import Builder, Value, current, type_of
from ..ir.infer import broadcast_dims, join_lengths, promote
from ..ir.ops_common import Dtype, as_array, axes_of, is_array, mixed_dtype, must_equal, scalar_or_array
from ..ir.opset import DIV, mark, reshape_dims
from ..ir.types import ANY, DimLike, Ty, array
from . import lib
from .lib import call, conj, ndim, part, spread, swap
from .record import jvp, op, vjp

# --- products ---------------------------------------------------------------------------------------------------------


def _pair(b: Builder, x: Any, y: Any) -> tuple[Ty, Ty] | None:
    """The operands' types as arrays, or None if they are not known to be arrays of known rank."""
    a, c = [t if is_array(t := type_of(v)) else as_array(b, v) for v in (x, y)]
    return (a, c) if is_array(a) and is_array(c) else None


Dims = tuple[DimLike, ...]


def _product_type(dims: Callable[[Builder, Dims, Dims], Dims | None], ufunc: Any = None) -> Callable[..., Ty]:
    """The type of a product.

    dims:  ``dims(builder, p, q)``: the lengths of the result from those of the operands; None: there is no result
    ufunc: whose dtype it has
    """

    def infer(b: Builder, x: Any, y: Any, /) -> Ty:
        pair = _pair(b, x, y)
        if pair is None:
            return ANY
        found = promote(ufunc, list(pair)) if ufunc is not None else [mixed_dtype(pair)]
        dtype = found[0] if found else None
        p, q = pair[0].dims, pair[1].dims
        out = None if p is None or q is None else dims(b, p, q)
        return Ty("any", dtype, None) if out is None else scalar_or_array(True, dtype, out)

    return infer


def _matmul_dims(b: Builder, p: Dims, q: Dims) -> Dims | None:
    if not p or not q:
        return None
    must_equal(b, p[-1], q[-2] if len(q) > 1 else q[-1])
    stacks = broadcast_dims(b, [p[:-2], q[:-2]]) or ()
    return (*stacks, *p[:-1][-1:], *(q[-1:] if len(q) > 1 else ()))


_matmul_type = _product_type(_matmul_dims, np.matmul)


def _total_matmul(b: Builder, x1: Any, x2: Any) -> bool:
    # A mismatch of lengths is seen by inference, which then marks the operation as a check.
    types = [type_of(x1), type_of(x2)]
    return all(t.kind == "array" and t.dims and t.dtype is not None for t in types)


op("np.matmul", "x1: array, x2: array", type=_matmul_type, total=_total_matmul)
MATMUL = op(operator.matmul, "x1, x2", name="@", type=_matmul_type, total=_total_matmul)


@vjp((np.matmul, operator.matmul), "x1", linear=True)
def _matmul_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    p, q = ndim(x), ndim(y)
    if p == 1 and q == 1:
        return g * y
    if q == 1:
        return _column(g) * y  # a column times a row
    if p == 1:
        return swap_product(g, y)
    return g * swap(y) if lib.is_one(y, -1) else g @ swap(y)  # NumPy multiplies a column and a row faster by itself


def _column(x: Any) -> Any:
    return part(x, (slice(None), None) if ndim(x) == 1 else _COLUMN)


_COLUMN = (Ellipsis, slice(None), None)


def swap_product(g: Any, y: Any) -> Any:
    """The cotangent of the vector in ``vector @ y``, with the batch axes of `y` in front."""
    if ndim(y) == 2:
        return y @ g
    return part(y @ _column(g), (Ellipsis, 0))


@vjp((np.matmul, operator.matmul), "x2", linear=True)
def _matmul_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    p, q = ndim(x), ndim(y)
    if p == 1 and q == 1:
        return g * x
    if p == 1:
        return _column(x) * _row(g)
    if q == 1:
        return g @ x if p == 2 else part(_row(g) @ x, (Ellipsis, 0, slice(None)))
    return swap(x) * g if lib.is_one(x, -2) else swap(x) @ g


def _row(x: Any) -> Any:
    return part(x, (None, slice(None)) if ndim(x) == 1 else _ROW)


_ROW = (Ellipsis, None, slice(None))


def _dot_dims(b: Builder, p: Dims, q: Dims) -> Dims:
    if not p or not q:
        return p or q
    must_equal(b, p[-1], q[-2] if len(q) > 1 else q[-1])
    return (*p[:-1], *q[:-2], *(q[-1:] if len(q) > 1 else ()))


DOT = op("np.dot", "a: array, b: array", type=_product_type(_dot_dims), total=_total_matmul)


@vjp(np.dot, "a", linear=True)
def _dot_a(g: Any, out: Any, a: Any, b: Any) -> Any:
    p, q = ndim(a), ndim(b)
    if p == 0 or q == 0:
        return g * b
    if q == 1:
        return _outer_last(g, b)
    if p == 1 and q == 2:
        return np.dot(b, g)
    if p == 2 and q == 2:
        return g * swap(b) if lib.is_one(b, -1) else np.dot(g, swap(b))
    return _contract(g, a, b, _dot_axes(p, q), True)


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


def _outer_last(g: Any, b: Any) -> Any:
    """`g` times the vector `b` along a new last axis."""
    return g * b if ndim(g) == 0 else part(g, (Ellipsis, None)) * b


@vjp(np.dot, "b", linear=True)
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
        return swap(a) * g if lib.is_one(a, -2) else np.dot(swap(a), g)
    return _contract(g, a, b, _dot_axes(p, q), False)


@jvp((np.matmul, operator.matmul), "x1", "x2")
def _matmul_jvp(d: Any, out: Any, x: Any, y: Any) -> Any:
    return _gram_jvp(d[0], d[1], x, y)


@jvp(np.dot, "a", "b")
def _dot_jvp(d: Any, out: Any, a: Any, b: Any) -> Any:
    return _gram_jvp(d[0], d[1], a, b)


def _gram_jvp(dx: Any, dy: Any, x: Any, y: Any) -> Any:
    """The tangent of a product of something and its own transpose: of the two parts, one is the other's transpose."""
    if not (lib.is_transpose(x, y) and lib.is_transpose(dx, dy)):
        return NotImplemented
    half = dx @ y
    return half + (half if ndim(x) == 1 else half.T)


def _inner_dims(b: Builder, p: Dims, q: Dims) -> Dims:
    if not p or not q:
        return p or q
    must_equal(b, p[-1], q[-1])
    return (*p[:-1], *q[:-1])


op("np.inner", "a: array, b: array", type=_product_type(_inner_dims), total="known")


def _inner(first: bool, g: Any, out: Any, a: Any, b: Any) -> Any:
    p, q = ndim(a), ndim(b)
    if p == 0 or q == 0 or p == q == 1:
        return g * (b if first else a)
    return _contract(g, a, b, ((p - 1,), (q - 1,)), first)


vjp(np.inner, "a", linear=True)(partial(_inner, True))
vjp(np.inner, "b", linear=True)(partial(_inner, False))


def _outer_type(b: Builder, a: Any, b_: Any) -> Ty:
    pair = _pair(b, a, b_)
    if pair is None:
        return ANY
    dims = [None if t.dims is None else reshape_dims(b, t.dims, -1) for t in pair]
    return array(mixed_dtype(pair), tuple([b.dims.fresh() if d is None else d[0] for d in dims]))


op("np.outer", "a: array, b: array", type=_outer_type, total="known")


@vjp(np.outer, "a", linear=True)
def _outer_a(g: Any, out: Any, a: Any, b: Any) -> Any:
    bar = np.dot(g, b if ndim(b) == 1 else call(np.ravel, b))
    return bar if ndim(a) == 1 else lib.reshape_as(bar, a)


@vjp(np.outer, "b", linear=True)
def _outer_b(g: Any, out: Any, a: Any, b: Any) -> Any:
    bar = np.dot(a if ndim(a) == 1 else call(np.ravel, a), g)
    return bar if ndim(b) == 1 else lib.reshape_as(bar, b)


def _vdot_type(b: Builder, a: Any, b_: Any, /) -> Ty:
    pair = _pair(b, a, b_)
    return ANY if pair is None else scalar_or_array(True, mixed_dtype(pair), ())


op("np.vdot", "a: array, b: array", type=_vdot_type)


@vjp(np.vdot, "a", linear=True)
def _vdot_a(g: Any, out: Any, a: Any, b: Any) -> Any:
    return lib.reshape_as(conj(g * b) if lib.may_be_complex(a) else g * b, a)


@vjp(np.vdot, "b", linear=True)
def _vdot_b(g: Any, out: Any, a: Any, b: Any) -> Any:
    return lib.reshape_as(g * conj(a), b)


def tensordot_axes(axes: Any, p: int, q: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The contracted axes of both operands of ``tensordot``, or None if they are not known."""
    if isinstance(axes, (int, np.integer)):
        n = int(axes)
        return (tuple(range(p - n, p)), tuple(range(n))) if 0 <= n <= min(p, q) else None
    if not isinstance(axes, (tuple, list)) or len(axes) != 2:
        return None
    left, right = (tuple(e) if isinstance(e, (tuple, list)) else (e,) for e in axes)
    found = axes_of(left, p), axes_of(right, q)
    if found[0] is None or found[1] is None or len(found[0]) != len(found[1]):
        return None
    return found[0], found[1]


def _tensordot_type(b: Builder, a: Any, b_: Any, axes: Any = 2) -> Ty:
    pair = as_array(b, a), as_array(b, b_)
    if any(t.kind != "array" for t in pair):
        return ANY
    dtype = mixed_dtype(pair)
    p, q = pair[0].dims, pair[1].dims
    contracted = None if p is None or q is None else tensordot_axes(axes, len(p), len(q))
    if p is None or q is None or contracted is None:
        return Ty("array", dtype, None)
    for i, j in zip(*contracted):
        must_equal(b, p[i], q[j])
    dims = [d for k, d in enumerate(p) if k not in contracted[0]]
    dims += [d for k, d in enumerate(q) if k not in contracted[1]]
    return array(dtype, tuple(dims))


op("np.tensordot", "a: array, b: array, axes", type=_tensordot_type, total="known")


def _tensordot(first: bool, g: Any, out: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    contracted = None if lib.symbolic(axes) else tensordot_axes(axes, ndim(a), ndim(b))
    if contracted is None:
        raise lib.unsupported("the derivative of np.tensordot needs constant axes")
    return _contract(g, a, b, contracted, first)


vjp(np.tensordot, "a", linear=True)(partial(_tensordot, True))
vjp(np.tensordot, "b", linear=True)(partial(_tensordot, False))


def parse_einsum(subscripts: str, ndims: list[int]) -> tuple[list[list[str]], list[str]] | None:
    """The labels of every operand and of the result; an ellipsis becomes labels ``"0"``, ``"1"`` ... from its end."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        return None
    inputs: list[list[str]] = []
    hidden = 0
    for term, rank in zip(terms, ndims):
        head, dots, tail = term.partition("...")
        extra = rank - len(head) - len(tail) if dots else 0
        if extra < 0 or (not dots and rank != len(term)):
            return None
        hidden = max(hidden, extra)
        inputs.append([*head, *[str(k) for k in reversed(range(extra))], *tail])
    broadcast = [str(k) for k in reversed(range(hidden))]
    if arrow:
        head, dots, tail = right.partition("...")
        output = [*head, *(broadcast if dots else []), *tail]
        if not dots and hidden:
            return None
    else:
        counts: dict[str, int] = {}
        for letter in left.replace(",", "").replace(".", ""):
            counts[letter] = counts.get(letter, 0) + 1
        output = broadcast + sorted(k for k, n in counts.items() if n == 1)
    return inputs, output


def _einsum_type(b: Builder, subscripts: Any, *operands: Any, optimize: Any = False) -> Ty:
    types = [as_array(b, o) for o in operands]
    if any(t.kind != "array" for t in types) or not isinstance(subscripts, str):
        return ANY
    dtype = mixed_dtype(types)
    if any(t.dims is None for t in types):
        return Ty("any", dtype, None)
    parsed = parse_einsum(subscripts, [t.ndim or 0 for t in types])
    if parsed is None:
        return ANY
    lengths: dict[str, list[DimLike]] = {}
    for labels, t in zip(parsed[0], types):
        for label, d in zip(labels, t.dims or ()):
            lengths.setdefault(label, []).append(b.dims.find(d))
    joined = {label: join_lengths(b, found) for label, found in lengths.items()}
    if not all(label in joined for label in parsed[1]):
        return ANY
    dims = tuple([joined[label] for label in parsed[1]])
    if not dims and optimize is not False:
        return Ty("any", dtype, dims)  # a 0-d array where it is done by tensordot, else a scalar
    return scalar_or_array(True, dtype, dims)


EINSUM = op("np.einsum", "subscripts, *operands: arrays", type=_einsum_type, alias="maybe", total="known")


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


@jvp(np.einsum, "*operands")
def _einsum_jvp(d: Any, out: Any, subscripts: Any, *operands: Any, optimize: Any = False) -> Any:
    if not isinstance(subscripts, str):
        return NotImplemented
    kwargs = {"optimize": optimize} if optimize is not False else {}
    t = None
    for k, one in enumerate(d):
        if one is not None:
            term = call(np.einsum, subscripts, *operands[:k], one, *operands[k + 1 :], **kwargs)
            t = term if t is None else t + term
    return t


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


# --- square matrices --------------------------------------------------------------------------------------------------


def inexact_dtype(types: list[Ty]) -> Dtype:
    found = mixed_dtype(types)
    if found is None or found.kind in "biu":
        return None if found is None else np.dtype(np.float64)
    return found if found in (np.float32, np.float64, np.complex64, np.complex128) else None


def square_type(b: Builder, a: Any) -> Ty:
    """A stack of square matrices in, the same out."""
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None or len(t.dims) < 2:
        return ANY
    must_equal(b, t.dims[-2], t.dims[-1])
    return array(inexact_dtype([t]), (*t.dims[:-1], t.dims[-2]))


op("np.linalg.inv", "a: array", type=square_type)
op(runtime.inverse, "a: array", type=square_type)
op(runtime.inverse_or_nan, "a: array", type=square_type)


@vjp((np.linalg.inv, runtime.inverse, runtime.inverse_or_nan), "a")
def _inv(g: Any, out: Any, a: Any) -> Any:
    transposed = swap(out)
    return -(transposed @ g @ transposed)


@jvp((np.linalg.inv, runtime.inverse, runtime.inverse_or_nan), "a")
def _inv_jvp(d: Any, out: Any, a: Any) -> Any:
    return -(out @ d @ out)


def _solve_type(b: Builder, a: Any, b_: Any) -> Ty:
    p, q = as_array(b, a), as_array(b, b_)
    if p.kind != "array" or q.kind != "array" or p.dims is None or q.dims is None or len(p.dims) < 2 or not q.dims:
        return ANY
    must_equal(b, p.dims[-2], p.dims[-1])
    dtype = inexact_dtype([p, q])
    if len(q.dims) == 1:
        must_equal(b, p.dims[-1], q.dims[-1])
        return array(dtype, (*p.dims[:-2], p.dims[-1]))
    must_equal(b, p.dims[-1], q.dims[-2])
    batch = broadcast_dims(b, [p.dims[:-2], q.dims[:-2]]) or ()
    return array(dtype, (*batch, p.dims[-1], q.dims[-1]))


op("np.linalg.solve", "a: array, b: array", type=_solve_type, traits=frozenset({"solves"}))


@vjp(np.linalg.solve, "b", linear=True)
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


@jvp(np.linalg.solve, "a")
def _solve_jvp(d: Any, out: Any, a: Any, b: Any) -> Any:
    if ndim(b) == 1 and ndim(a) > 2:
        return NotImplemented
    return -np.linalg.solve(a, d @ out)


def _det_type(b: Builder, a: Any) -> Ty:
    t = square_type(b, a)
    return ANY if t.dims is None else scalar_or_array(True, t.dtype, t.dims[:-2])


op("np.linalg.det", "a: array", type=_det_type)


@vjp(np.linalg.det, "a")
def _det(g: Any, out: Any, a: Any) -> Any:
    quotient = g.op if type(g) is Value else None
    if quotient is not None and quotient.prim is DIV and quotient.args[1] is out:
        return _matrix(quotient.args[0]) * swap(call(runtime.inverse, a))  # that of a logarithm
    return _matrix(g) * call(runtime.cofactors, a)


@jvp(np.linalg.det, "a")
def _det_jvp(d: Any, out: Any, a: Any) -> Any:
    return np.sum(call(runtime.cofactors, a) * d, axis=(-2, -1))


def _matrix(g: Any) -> Any:
    """`g`, one number per matrix, so that it broadcasts against the matrices."""
    return g if ndim(g) == 0 else part(g, (Ellipsis, None, None))


op(runtime.cofactors, "a: array", type=square_type)


@vjp(runtime.cofactors, "a")
def _cofactors(g: Any, out: Any, a: Any) -> Any:
    m = swap(call(runtime.inverse, a))
    return np.sum(g * out, axis=(-2, -1), keepdims=True) * m - out @ swap(g) @ m


def _slogdet_type(b: Builder, a: Any) -> Any:
    t = _det_type(b, a)
    if t is ANY:
        return ANY
    real = t.dtype
    if real is not None and real.kind == "c":
        real = np.empty(0, real).real.dtype
    return t, scalar_or_array(True, real, t.dims)


SLOGDET = op("np.linalg.slogdet", "a: array", type=_slogdet_type, nout=2)


@vjp(np.linalg.slogdet, "a")
def _slogdet(g: Any, out: Any, a: Any) -> Any:
    g_sign, g_log = g
    if lib.may_be_complex(a):
        if g_sign is not None:
            raise lib.unsupported("the sign of np.linalg.slogdet of a complex matrix has no derivative rule")
    if g_log is None:
        return None
    return _matrix(g_log) * swap(call(runtime.inverse, a))


@jvp(np.linalg.slogdet, "a")
def _slogdet_jvp(d: Any, out: Any, a: Any) -> Any:
    if lib.may_be_complex(a):
        return NotImplemented
    return None, np.sum(swap(call(runtime.inverse, a)) * d, axis=(-2, -1))


op("np.linalg.cholesky", "a: array", type=square_type)


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


def mirrored(d: Any, lower: bool) -> Any:
    """The symmetric (Hermitian) matrix of which one triangle is read."""
    half = np.tril(d, -1) if lower else np.triu(d, 1)
    diagonal = d * call(np.eye, lib.length(d, ndim(d) - 1))
    return half + conj(swap(half)) + lib.real(diagonal)


@jvp(np.linalg.cholesky, "a")
def _cholesky_jvp(d: Any, out: Any, a: Any) -> Any:
    """``L Phi(inv(L) dA inv(L)^T)``, Phi: the lower triangle with half the diagonal."""
    lib.need_real("np.linalg.cholesky", a)
    inverse = np.linalg.inv(out)
    inner = inverse @ mirrored(d, True) @ swap(inverse)
    return out @ (np.tril(inner) - 0.5 * (inner * call(np.eye, lib.length(a, ndim(a) - 1))))


# --- traits ---------------------------------------------------------------------------------------------------------

mark("real", np.dot, np.inner, np.outer, np.vdot, np.matmul, operator.matmul, np.tensordot, EINSUM)
mark("of_several", EINSUM)
