"""Decompositions, pseudoinverses and least squares.

Reference: Giles, Collected matrix derivative results for forward and reverse mode AD (2008); Townsend, Differentiating
the singular value decomposition (2016); Golub and Pereyra, The differentiation of pseudo-inverses (1973).
"""

from __future__ import annotations

from typing import Any

from .. import runtime
from ..ir.core import Builder, Value, type_of
from ..ir.ops_common import Dtype, as_array, must_equal
from ..ir.opset import apply
from ..ir.types import ANY, DimLike, Ty, array
from ..pristine import np
from . import lib
from .lib import call, conj, ndim, part, swap
from .linalg import inexact_dtype, mirrored, square_type
from .record import jvp, op, passes_on, vjp

# --- symmetric matrices -----------------------------------------------------------------------------------------------


def real_dtype(dtype: Dtype) -> Dtype:
    return None if dtype is None else np.empty(0, dtype).real.dtype


def _eigh_type(b: Builder, a: Any, UPLO: Any = "L") -> Any:
    t = square_type(b, a)
    return (ANY, ANY) if t.dims is None else (array(real_dtype(t.dtype), t.dims[:-1]), t)


op("np.linalg.eigh", "a: array, UPLO", type=_eigh_type, nout=2)


@vjp(np.linalg.eigh, "a")
def _eigh(g: Any, out: Any, a: Any, UPLO: Any = "L") -> Any:
    """NumPy reads one triangle only, so the cotangent lies there."""
    g_w, g_v = g
    w, v = out
    if isinstance(UPLO, Value) or UPLO not in ("L", "U"):
        raise lib.unsupported("the derivative of np.linalg.eigh needs UPLO='L' or 'U'")
    inner = None if g_w is None else part(g_w, _ROWS) * _identity(w, -1)
    if g_v is not None:
        lib.need_real("the eigenvectors of np.linalg.eigh", a)
        turned = inverse_gaps(w, v, _used(g_v, -2)) * (swap(v) @ g_v)
        inner = turned if inner is None else inner + turned
    full = conj(v) @ inner @ swap(v)
    both = full + conj(swap(full))
    half = both - 0.5 * _diagonal(both, w)
    return np.tril(half) if UPLO == "L" else np.triu(half)


@jvp(np.linalg.eigh, "a")
def _eigh_jvp(d: Any, out: Any, a: Any, UPLO: Any = "L") -> Any:
    if isinstance(UPLO, Value) or UPLO not in ("L", "U") or lib.may_be_complex(a):
        return NotImplemented
    w, v = out
    turned = swap(v) @ mirrored(d, UPLO == "L") @ v
    return call(np.diagonal, turned, 0, -2, -1), v @ (inverse_gaps(w, v) * turned)


# --- square matrices --------------------------------------------------------------------------------------------------


def _eig_type(b: Builder, a: Any) -> Any:
    """Whether the results are complex depends on the values."""
    t = square_type(b, a)
    if t.dims is None:
        return ANY, ANY
    dtype = t.dtype if t.dtype is not None and t.dtype.kind == "c" else None
    return array(dtype, t.dims[:-1]), array(dtype, t.dims)


op("np.linalg.eig", "a: array", type=_eig_type, nout=2)
op("np.linalg.eigvals", "a: array", type=lambda b, a: _eig_type(b, a)[0])


def _turned_back(inner: Any, v: Any, a: Any) -> Any:
    """The cotangent of a matrix, from that of the matrix in the basis of its eigenvectors."""
    if lib.dtype(a) is None:
        raise lib.unsupported("np.linalg.eig of a matrix that may be real or complex", "convert it with astype")
    full = call(np.linalg.solve, swap(v), inner @ swap(v))
    return full if lib.may_be_complex(a) else np.real(full)


@vjp(np.linalg.eigvals, "a")
def _eigvals(g: Any, out: Any, a: Any) -> Any:
    _, v = call(np.linalg.eig, a)
    return _turned_back(part(g, _ROWS) * _identity(a, -1), v, a)


@jvp(np.linalg.eigvals, "a")
def _eigvals_jvp(d: Any, out: Any, a: Any) -> Any:
    _, v = call(np.linalg.eig, a)
    return call(np.diagonal, call(np.linalg.solve, v, d @ v), 0, -2, -1)


def _roots_type(b: Builder, p: Any) -> Any:
    """How many roots there are depends on the values, since NumPy drops zeros, and so does whether they are complex."""
    t = as_array(b, p)
    dtype = inexact_dtype([t])
    return array(dtype if dtype is not None and dtype.kind == "c" else None, (b.dims.fresh(),))


op("np.roots", "p: array", type=_roots_type)


def _powers(z: Any, n: Any) -> Any:
    """For each number, its powers from n - 1 down to 0. Complex, since a power of what may be either is not known."""
    exponents = n - 1 - call(np.arange, n)
    return part(z + 0j, _COLUMNS) ** exponents


def _slopes(p: Any, powers: Any, n: Any) -> Any:
    """The derivative of the polynomial where these are the powers."""
    return part(powers, (slice(None), slice(1, None))) @ (
        part(p, (slice(None, -1),)) * (n - 1 - call(np.arange, n - 1))
    )


@vjp(np.roots, "p")
def _roots(g: Any, out: Any, p: Any) -> Any:
    """By the implicit function theorem, a simple root z moves by -z**k / p'(z) with the coefficient of z**k."""
    n = lib.length(p, 0)
    powers = _powers(out, n)
    turned = -((g / _slopes(p, powers, n)) @ powers)
    return turned if lib.may_be_complex(p) else np.real(turned)


@jvp(np.roots, "p")
def _roots_jvp(d: Any, out: Any, p: Any) -> Any:
    n = lib.length(p, 0)
    powers = _powers(out, n)
    return -(powers @ d) / _slopes(p, powers, n)


def _at_largest(matrix: Any, v: Any) -> Any:
    """The rows of a matrix, in the place of row j that in which the eigenvector of number j is largest."""
    largest = np.argmax(np.absolute(v), axis=-2)
    return call(np.take_along_axis, matrix, part(largest, _COLUMNS), -2)


def _real_part(x: Any) -> Any:
    """The real part in the dtype of `x`, of which it is not known whether it is complex."""
    return 0.5 * (x + conj(x))


@vjp(np.linalg.eig, "a")
def eig_pullback(g: Any, out: Any, a: Any) -> Any:
    """An eigenvector has norm 1, and its largest element is real."""
    g_w, g_v = g
    w, v = out
    inner = None if g_w is None else part(g_w, _ROWS) * _identity(a, -1)
    if g_v is not None:
        turned = swap(v) @ g_v
        along = part(np.sum(v * g_v, axis=-2), _ROWS)
        row = _at_largest(v, v)
        phase = swap(row / part(call(np.diagonal, row, 0, -2, -1), _COLUMNS))
        rest = turned - _real_part(along) * swap(conj(swap(v)) @ v) - (along - _real_part(along)) * phase
        turned = inverse_gaps(w, a, _used(g_v, -2)) * rest
        inner = turned if inner is None else inner + turned
    return _turned_back(inner, v, a)


@jvp(np.linalg.eig, "a")
def _eig_jvp(d: Any, out: Any, a: Any) -> Any:
    w, v = out
    turned = call(np.linalg.solve, v, d @ v)
    moved = v @ (inverse_gaps(w, a) * turned)
    phase = call(np.diagonal, _at_largest(moved, v) / _at_largest(v, v), 0, -2, -1)
    along = _real_part(np.sum(conj(v) * moved, axis=-2)) + phase - _real_part(phase)
    return call(np.diagonal, turned, 0, -2, -1), moved - v * part(along, _ROWS)


_ROWS = (Ellipsis, None, slice(None))  # a vector for each matrix, to scale its columns


def _identity(a: Any, axis: int) -> Any:
    """The identity matrix of the length of an axis, in the dtype of `a`."""
    n = lib.length(a, ndim(a) + axis)
    kind = lib.dtype(a)
    return call(np.eye, n) if kind is None or kind == np.float64 else call(np.eye, n, dtype=kind)


def _diagonal(matrix: Any, like: Any) -> Any:
    """The diagonal part of square matrices."""
    return matrix * _identity(like, -1)


def inverse_gaps(values: Any, like: Any, used: Any = True) -> Any:
    """``1 / (values[j] - values[i])`` off the diagonal, zero on it and in the columns `j` that are not used.

    A vector has a derivative if its value differs from all others. What is not used may have equal values.
    """
    eye = _identity(like, -1)
    gaps = part(values, _ROWS) - part(values, _COLUMNS) + eye
    if used is True:
        return (1.0 - eye) / gaps
    used = part(used, _ROWS)
    return apply(np.where, used, 1.0 - eye, 0.0) / apply(np.where, used, gaps, 1.0)


def _used(g: Any, axis: int) -> Any:
    """Which vectors the program uses. `g`: their cotangents; axis: that along which a vector lies."""
    mask = lib.sure_zeros(g)
    return True if isinstance(mask, bool) else apply(np.any, mask, axis=axis)


_COLUMNS = (Ellipsis, slice(None), None)

# --- singular values --------------------------------------------------------------------------------------------------


def smaller(b: Builder, m: DimLike, n: DimLike) -> DimLike:
    m, n = b.dims.find(m), b.dims.find(n)
    if m == n:
        return m
    return min(m, n) if isinstance(m, int) and isinstance(n, int) else b.dims.named(("smaller", m, n))


def _matrices(b: Builder, a: Any) -> tuple[Ty, DimLike] | None:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None or len(t.dims) < 2:
        return None
    return array(inexact_dtype([t]), t.dims), smaller(b, t.dims[-2], t.dims[-1])


def _svdvals_type(b: Builder, x: Any, /) -> Ty:
    found = _matrices(b, x)
    return (
        ANY
        if found is None or not found[0].dims
        else array(real_dtype(found[0].dtype), (*found[0].dims[:-2], found[1]))
    )


op("np.linalg.svdvals", "x: array", type=_svdvals_type)


@vjp(np.linalg.svdvals, "x")
def svdvals_pullback(g: Any, out: Any, x: Any) -> Any:
    u, _, vh = call(np.linalg.svd, x, full_matrices=False)
    return conj(u * part(g, _ROWS)) @ conj(vh)


def _svd_type(b: Builder, a: Any, full_matrices: Any = True) -> Any:
    found = _matrices(b, a)
    if found is None or not isinstance(full_matrices, bool):
        return ANY, ANY, ANY
    t, k = found
    assert t.dims is not None
    *batch, m, n = t.dims
    p, q = (m, n) if full_matrices else (k, k)
    return array(t.dtype, (*batch, m, p)), array(real_dtype(t.dtype), (*batch, k)), array(t.dtype, (*batch, q, n))


op("np.linalg.svd", "a: array, full_matrices, compute_uv, hermitian", type=_svd_type, nout=3)


@vjp(np.linalg.svd, "a")
def svd_pullback(g: Any, out: Any, a: Any, full_matrices: Any = True) -> Any:
    g_u, g_s, g_vh = g
    u, s, vh = out
    used_u, used_v = _used(g_u, -2), _used(g_vh, -1)
    rows, columns = lib.length(a, ndim(a) - 2), lib.length(a, ndim(a) - 1)
    square = not isinstance(rows, Value) and not isinstance(columns, Value) and rows == columns
    if full_matrices is not False and not square:
        if g_u is None and g_vh is None:
            return svdvals_pullback(g_s, s, a)
        # The other vectors are not determined; of a square matrix there are none.
        g_u = None if g_u is None else call(runtime.if_square, g_u, rows, columns, lib.place())
        g_vh = None if g_vh is None else call(runtime.if_square, g_vh, rows, columns, lib.place())
        # So it is the error of the two lines above that is raised, not one of these masks.
        used_u, used_v = (m if m is True else part(m, (Ellipsis, slice(lib.length(s, -1)))) for m in (used_u, used_v))
        square = True
    inner = None if g_s is None else part(g_s, _ROWS) * _identity(s, -1)
    if g_u is not None or g_vh is not None:
        lib.need_real("the singular vectors of np.linalg.svd", a)
    if g_u is not None:
        turned = inverse_gaps(s * s, s, used_u) * (swap(u) @ g_u)
        turned = (turned + swap(turned)) * part(s, _ROWS)
        inner = turned if inner is None else inner + turned
    if g_vh is not None:
        turned = inverse_gaps(s * s, s, used_v) * (vh @ swap(g_vh))
        turned = part(s, _COLUMNS) * (turned + swap(turned))
        inner = turned if inner is None else inner + turned
    bar = conj(u) @ inner @ conj(vh)
    # Outside of the spaces that the vectors span; a square matrix has no outside.
    if g_u is not None and not square:
        bar = bar + _outside(g_u, u) * part(_inverse(s, rows, columns, used_u), _ROWS) @ vh
    if g_vh is not None and not square:
        across = swap(_outside(swap(g_vh), swap(vh)))
        bar = bar + (u * part(_inverse(s, columns, rows, used_v), _ROWS)) @ across
    return bar


def _outside(g: Any, u: Any) -> Any:
    return g - u @ (swap(u) @ g)


def _inverse(s: Any, longer: Any, shorter: Any, used: Any) -> Any:
    """``1 / s`` if the matrix is longer in this direction, else zero. One of what is not used does not matter."""
    s = s if used is True else apply(np.where, used, s, 1.0)
    outside = longer > shorter
    if not lib.symbolic(outside):
        return 1.0 / s if outside else 0.0 * s
    return lib.choose(outside, 1.0, 0.0) / lib.choose(outside, s, 1.0)


def _if_square_type(b: Builder, g: Any, *rest: Any) -> Ty:
    t = type_of(g)
    return t if t.kind == "array" else ANY


op(runtime.if_square, "g: array, rows, columns, place, what, remedy", type=_if_square_type, alias="view")
passes_on(runtime.if_square, "g", linear=True)
op("np.linalg.matrix_rank", "A: array, tol, hermitian", nondiff=True)

# --- QR ---------------------------------------------------------------------------------------------------------------


def _qr_type(b: Builder, a: Any, mode: Any = "reduced") -> Any:
    found = _matrices(b, a)
    if found is None or mode != "reduced":
        return ANY, ANY
    t, k = found
    assert t.dims is not None
    *batch, m, n = t.dims
    return array(t.dtype, (*batch, m, k)), array(t.dtype, (*batch, k, n))


op("np.linalg.qr", "a: array, mode", type=_qr_type, nout=2)


@vjp(np.linalg.qr, "a")
def qr_pullback(g: Any, out: Any, a: Any, mode: Any = "reduced") -> Any:
    g_q, g_r = g
    q, r = out
    lib.need_real("np.linalg.qr", a)
    if mode != "reduced":
        raise lib.unsupported(f"np.linalg.qr has no derivative rule for mode={mode!r}", "use mode='reduced'")
    # A wide matrix is a square one, which is decomposed, and the rest, which is turned.
    n = lib.length(r, ndim(r) - 2)
    left, rest = (Ellipsis, slice(None, n)), (Ellipsis, slice(n, None))
    bar_rest = None
    if g_r is not None:
        g_rest = part(g_r, rest)
        bar_rest = q @ g_rest
        turned = part(a, rest) @ swap(g_rest)
        g_q = turned if g_q is None else g_q + turned
    triangle = part(r, left)
    m = None if g_r is None else triangle @ swap(part(g_r, left))
    m_q = swap(g_q) @ q
    m = -m_q if m is None else m - m_q
    lower = np.tril(m, -1)
    inner = g_q + q @ (lower + swap(lower) + _diagonal(m, triangle))
    # nan where there is no inverse
    regular = triangle + part(0.0 / call(np.diagonal, triangle, 0, -2, -1), _COLUMNS)
    bar = swap(np.linalg.solve(regular, swap(inner)))
    if bar_rest is None:
        bar_rest = 0.0 * part(a, rest)
    return lib.at_shape(call(np.concatenate, (bar, bar_rest), axis=ndim(a) - 1), a)


# --- pseudoinverse, least squares -------------------------------------------------------------------------------------


def _pinv_type(b: Builder, a: Any, rcond: Any = None, hermitian: Any = False) -> Ty:
    found = _matrices(b, a)
    if found is None:
        return ANY
    t = found[0]
    assert t.dims is not None
    return array(t.dtype, (*t.dims[:-2], t.dims[-1], t.dims[-2]))


op("np.linalg.pinv", "a: array, rcond, hermitian", type=_pinv_type)


@vjp(np.linalg.pinv, "a")
def pinv_pullback(g: Any, out: Any, a: Any, rcond: Any = None, hermitian: Any = False) -> Any:
    """Where the rank does not change."""
    lib.need_real("np.linalg.pinv", a)
    if hermitian is not False:
        raise lib.unsupported("np.linalg.pinv has a derivative rule for hermitian=False", "leave it out")
    if rcond is not None:
        return _truncated_pinv(g, a, rcond)
    p, q, gt = out, swap(out), swap(g)
    bar = -(q @ g @ q)
    span = gt @ p @ q  # zero terms for a square matrix of full rank
    bar = bar + (span - a @ (p @ span))
    span = q @ p @ gt
    return bar + (span - (span @ p) @ a)


def _truncated_pinv(g: Any, a: Any, rcond: Any) -> Any:
    """Where `rcond` cuts off singular values that need not be zero.

    The pseudoinverse is a function of the singular values then, ``1 / s`` or zero; a kept and a cut one are turned into
    each other by their divided differences (Noferini, A formula for the Frechet derivative of a generalized matrix
    function, 2017).
    """
    u, s, vh = call(np.linalg.svd, a, full_matrices=False)
    v, gt = swap(vh), swap(g)
    limit = rcond if ndim(rcond) == 0 else part(rcond, (Ellipsis, None))
    cond = s > limit * call(np.max, s, axis=-1, keepdims=True)
    kept = call(np.where, cond, call(np.ones_like, s), 0.0)
    inverse = call(np.where, cond, 1.0 / call(np.where, cond, s, 1.0), 0.0)
    squares = s * s
    mixed = part(kept, _COLUMNS) * (1.0 - part(kept, _ROWS))
    apart = mixed / ((part(squares, _COLUMNS) - part(squares, _ROWS)) * mixed + (1.0 - mixed))
    turned = part(inverse, _COLUMNS) * part(s, _ROWS) * apart
    inner = swap(u) @ gt @ v
    straight = (apart + swap(apart)) * inner
    crossed = (turned + swap(turned) - part(inverse, _COLUMNS) * part(inverse, _ROWS)) * swap(inner)
    weights = part(inverse * inverse, _ROWS)
    bar = u @ (straight + crossed) @ vh
    bar = bar + _outside(gt @ v * weights, u) @ vh
    return bar + (u * weights) @ swap(_outside(g @ u, v))


def _lstsq_type(b: Builder, a: Any, b_: Any, rcond: Any = None) -> Any:
    p, q = as_array(b, a), as_array(b, b_)
    if p.kind != "array" or q.kind != "array" or p.dims is None or q.dims is None or len(p.dims) != 2 or not q.dims:
        return ANY, ANY, ANY, ANY
    must_equal(b, p.dims[0], q.dims[0])
    dtype = inexact_dtype([p, q])
    x = array(dtype, (p.dims[1], *q.dims[1:]))
    # The residuals are missing where the rank is not full.
    return x, array(real_dtype(dtype), (b.dims.fresh(),)), ANY, array(real_dtype(dtype), (smaller(b, *p.dims),))


op("np.linalg.lstsq", "a: array, b: array, rcond", type=_lstsq_type, nout=4)


@vjp(np.linalg.lstsq, "a")
def lstsq_pullback_a(g: Any, out: Any, a: Any, b: Any, rcond: Any = None) -> Any:
    x, p, bar_b, residual = _least_squares(g, out, a, b, rcond)
    _, g_residual, _, g_s = g
    bar = None
    if bar_b is not None and rcond is not None:
        bar = _truncated_pinv(_matrix(g[0], b) @ swap(_matrix(b, b)), a, rcond)
    elif bar_b is not None:
        y = p @ bar_b  # (A^T A)^+ of the cotangent of x
        bar = residual @ swap(y) - bar_b @ swap(x)
        g_x = _matrix(g[0], b)
        outside = g_x - p @ (a @ g_x)
        bar = bar + (swap(p) @ x) @ swap(outside)
    if g_residual is not None:
        part_of = -2.0 * ((residual * _squares(g_residual, x)) @ swap(x))
        bar = part_of if bar is None else bar + part_of
    if g_s is not None:
        values = svdvals_pullback(g_s, None, a)
        bar = values if bar is None else bar + values
    return bar


def _matrix(x: Any, b: Any) -> Any:
    return part(x, (slice(None), None)) if ndim(b) == 1 else x


def _squares(g: Any, x: Any) -> Any:
    """The cotangent of the sums of squares, which NumPy leaves out where the rank is not full or nothing remains."""
    return call(runtime.embed, g, 0, 0, lib.length(x, 1))


def _least_squares(g: Any, out: Any, a: Any, b: Any, rcond: Any) -> tuple[Any, Any, Any, Any]:
    """The solution and the residual as matrices, the pseudoinverse, and the cotangent of `b` for that of the
    solution."""
    lib.need_real("np.linalg.lstsq", a, b)
    x = _matrix(out[0], b)
    p = call(np.linalg.pinv, a) if rcond is None else call(np.linalg.pinv, a, rcond)
    bar = None if g[0] is None else swap(p) @ _matrix(g[0], b)
    return x, p, bar, _matrix(b, b) - a @ x


@vjp(np.linalg.lstsq, "b")
def lstsq_pullback_b(g: Any, out: Any, a: Any, b: Any, rcond: Any = None) -> Any:
    x, _, bar, residual = _least_squares(g, out, a, b, rcond)
    if g[1] is not None:
        part_of = 2.0 * (residual * _squares(g[1], x))
        bar = part_of if bar is None else bar + part_of
    if bar is None:
        return None
    return part(bar, (slice(None), 0)) if ndim(b) == 1 else bar
