"""Decompositions of `scipy.linalg`.

References: Giles, Collected matrix derivative results for forward and reverse mode AD (2008); Murray, Differentiation
of the Cholesky decomposition (2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ... import runtime
from ...ir.core import Builder, Value
from ...ir.ops_common import as_array, must_equal
from ...ir.types import ANY, DimLike, Ty, array, same_dtype
from ...kernels.scipy import linalg as kernels
from .. import decompositions, lib
from ..decompositions import inverse_gaps, real_dtype, smaller
from ..lib import call, conj, part, swap
from ..linalg import inexact_dtype, square_type
from ..record import op, vjp

_ROWS = (None, slice(None))
_COLUMNS = (slice(None), None)


def flag(value: Any, name: str) -> bool:
    """A flag that the rule has to know."""
    if isinstance(value, Value):
        raise lib.unsupported(f"the derivative rule needs a constant for {name}", "write it as a literal")
    return bool(value)


def folded(full: Any, lower: bool) -> Any:
    """The cotangent of a symmetric matrix of which one triangle is read, from that of the whole matrix."""
    both = full + swap(full)
    half = both - 0.5 * diagonal_part(both)
    return np.tril(half) if lower else np.triu(half)


def diagonal_part(x: Any) -> Any:
    """The diagonal of a matrix, as a matrix."""
    return np.tril(np.triu(x))


def matrix_type(b: Builder, a: Any) -> Ty:
    """A matrix, no stack of them, in the dtype of the results."""
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None or len(t.dims) != 2:
        return ANY
    return array(inexact_dtype([t]), t.dims)


def _square(b: Builder, a: Any) -> Ty:
    t = matrix_type(b, a)
    return ANY if t.dims is None else square_type(b, a)


# --- triangular factors -----------------------------------------------------------------------------------------------


def _first(b: Builder, a: Any, *rest: Any, **options: Any) -> Ty:
    return _square(b, a)


op("scipy.linalg.cholesky", "a: array, lower: known, overwrite_a, check_finite", type=_first)


def _cholesky_bar(g: Any, out: Any, lower: bool) -> Any:
    """``inv(L)^T Phi(L^T g) inv(L)``, Phi: the lower triangle with half the diagonal."""
    inner = np.tril(swap(out) @ np.tril(g)) if lower else np.tril(out @ swap(np.triu(g)))
    half = inner - 0.5 * diagonal_part(inner)
    once = call(linalg.solve_triangular, out, half, lower=lower, trans=1 if lower else 0)
    twice = call(linalg.solve_triangular, out, swap(once), lower=lower, trans=1 if lower else 0)
    return folded(twice, lower)


@vjp(linalg.cholesky, "a")
def _cholesky(g: Any, out: Any, a: Any, lower: Any = False, **options: Any) -> Any:
    lib.need_real("scipy.linalg.cholesky", a)
    return _cholesky_bar(g, out, flag(lower, "lower"))


def _cho_factor_type(b: Builder, a: Any, *rest: Any, **options: Any) -> Any:
    return _square(b, a), ANY


op("scipy.linalg.cho_factor", "a: array, lower: known, overwrite_a, check_finite", type=_cho_factor_type, nout=2)


@vjp(linalg.cho_factor, "a")
def _cho_factor(g: Any, out: Any, a: Any, lower: Any = False, **options: Any) -> Any:
    """The triangle that is not asked for holds what `a` holds there, or zeros."""
    lib.need_real("scipy.linalg.cho_factor", a)
    lower = flag(lower, "lower")
    factor = np.tril(out[0]) if lower else np.triu(out[0])
    bar = _cholesky_bar(g[0], factor, lower)
    if kernels.CLEARED:
        return bar
    return bar + (np.triu(g[0], 1) if lower else np.tril(g[0], -1))


def _lu_factor_type(b: Builder, a: Any, *rest: Any, **options: Any) -> Any:
    t = matrix_type(b, a)
    if t.dims is None:
        return ANY, ANY
    return t, array(np.int32, (smaller(b, *t.dims),))


op("scipy.linalg.lu_factor", "a: array, overwrite_a, check_finite", type=_lu_factor_type, nout=2)


@vjp(linalg.lu_factor, "a")
def _lu_factor(g: Any, out: Any, a: Any, **options: Any) -> Any:
    lu, piv = out
    bar = _if_square(
        g[0], a, "scipy.linalg.lu_factor has a derivative for square matrices only", "decompose the square part of it"
    )
    lower = np.tril(lu, -1)
    g_lower = np.tril(bar, -1)
    inner = np.tril(swap(lower) @ g_lower + g_lower, -1) + np.triu(np.triu(bar) @ swap(np.triu(lu)))
    once = call(linalg.solve_triangular, lu, inner, trans=1, lower=True, unit_diagonal=True)
    twice = swap(call(linalg.solve_triangular, lu, swap(once)))
    return part(twice, (call(kernels.inverse_permutation, call(kernels.permutation, piv)),))


def _pivots_type(b: Builder, piv: Any) -> Ty:
    t = as_array(b, piv)
    return ANY if t.kind != "array" or t.dims is None or len(t.dims) != 1 else array(np.int64, t.dims)


op(kernels.permutation, "piv: array", type=_pivots_type, nondiff=True)
op(kernels.inverse_permutation, "p: array", type=_pivots_type, nondiff=True)

# --- QR, singular values ----------------------------------------------------------------------------------------------


def _qr_type(b: Builder, a: Any, *rest: Any, mode: Any = "full", **options: Any) -> Any:
    t = matrix_type(b, a)
    if t.dims is None or rest or mode not in ("full", "economic"):
        return ANY, ANY
    m, n = t.dims
    k: DimLike = m if mode == "full" else smaller(b, m, n)
    return array(t.dtype, (m, k)), array(t.dtype, (k, n))


op("scipy.linalg.qr", "a: array, overwrite_a, lwork, mode, pivoting, check_finite", type=_qr_type, nout=2)


@vjp(linalg.qr, "a")
def _qr(g: Any, out: Any, a: Any, mode: Any = "full", **options: Any) -> Any:
    if mode == "full":
        what = "scipy.linalg.qr with mode='full' has a derivative for square matrices only: the other columns of q are "
        what += "not unique"
        g = tuple([None if part_of is None else _if_square(part_of, a, what, "use mode='economic'") for part_of in g])
    return decompositions.qr_pullback(g, out, a)


def _if_square(g: Any, a: Any, what: str, remedy: str) -> Any:
    rows, columns = lib.length(a, 0), lib.length(a, 1)
    if not lib.symbolic(rows, columns) and rows == columns:
        return g
    return call(runtime.if_square, g, rows, columns, lib.place(), what, remedy)


def _qr_pivots_type(b: Builder, a: Any, check_finite: Any = True) -> Ty:
    t = matrix_type(b, a)
    return ANY if t.dims is None else array(np.int32, (t.dims[1],))


op(kernels.qr_pivots, "a: array, check_finite", type=_qr_pivots_type, nondiff=True)


def _balance_type(dtype: Any) -> Any:
    def type(b: Builder, a: Any, permute: Any = True, scale: Any = True) -> Ty:
        t = matrix_type(b, a)
        return ANY if t.dims is None else array(dtype, (t.dims[0],))

    return type


# They are constant, but for where they jump.
op(kernels.balance_scale, "a: array, permute, scale", type=_balance_type(np.float64), nondiff=True)
op(kernels.balance_order, "a: array, permute, scale", type=_balance_type(np.int64), nondiff=True)


def _svd_type(b: Builder, a: Any, full_matrices: Any = True, **options: Any) -> Any:
    t = matrix_type(b, a)
    if t.dims is None or not isinstance(full_matrices, bool):
        return ANY, ANY, ANY
    m, n = t.dims
    k = smaller(b, m, n)
    p, q = (m, n) if full_matrices else (k, k)
    return array(t.dtype, (m, p)), array(real_dtype(t.dtype), (k,)), array(t.dtype, (q, n))


op(
    "scipy.linalg.svd", "a: array, full_matrices, compute_uv, overwrite_a, check_finite, lapack_driver",
    type=_svd_type, nout=3,
)  # fmt: skip


@vjp(linalg.svd, "a")
def _svd(g: Any, out: Any, a: Any, full_matrices: Any = True, **options: Any) -> Any:
    return decompositions.svd_pullback(g, out, a, full_matrices)


def _svdvals_type(b: Builder, a: Any, *rest: Any, **options: Any) -> Ty:
    t = matrix_type(b, a)
    return ANY if t.dims is None else array(real_dtype(t.dtype), (smaller(b, *t.dims),))


op("scipy.linalg.svdvals", "a: array, overwrite_a, check_finite", type=_svdvals_type)


@vjp(linalg.svdvals, "a")
def _svdvals(g: Any, out: Any, a: Any, **options: Any) -> Any:
    return decompositions.svdvals_pullback(g, out, a)


# --- eigenvalues ------------------------------------------------------------------------------------------------------


def _eigh_type(b: Builder, a: Any, b_: Any = None, **options: Any) -> Any:
    t = _square(b, a)
    other = t if b_ is None else _square(b, b_)
    if t.dims is None or other.dims is None:
        return ANY, ANY
    same = t.dtype if same_dtype(other.dtype, t.dtype) else None
    return array(real_dtype(same), t.dims[:1]), array(same, t.dims)


op(
    "scipy.linalg.eigh",
    "a: array, b: array, lower: known, eigvals_only, overwrite_a, overwrite_b, type, check_finite, driver",
    type=_eigh_type, nout=2,
)  # fmt: skip


def _eigh_inner(g: Any, out: Any, operands: Any) -> Any:
    """The cotangent of ``v.T @ a @ v``."""
    g_w, g_v = g
    w, v = out
    lib.need_real("scipy.linalg.eigh", *operands)
    inner = None if g_w is None else part(g_w, _ROWS) * call(np.eye, lib.length(w, 0))
    if g_v is not None:
        turned = inverse_gaps(w, v) * (swap(v) @ g_v)
        inner = turned if inner is None else inner + turned
    return inner


@vjp(linalg.eigh, "a")
def _eigh(g: Any, out: Any, a: Any, b: Any = None, lower: Any = True, **options: Any) -> Any:
    v = out[1]
    inner = _eigh_inner(g, out, (a,) if b is None else (a, b))
    return folded(v @ inner @ swap(v), flag(lower, "lower"))


@vjp(linalg.eigh, "b")
def _eigh_b(g: Any, out: Any, a: Any, b: Any = None, lower: Any = True, **options: Any) -> Any:
    """The eigenvectors have length one as the matrix `b` measures it."""
    w, v = out
    inner = _eigh_inner(g, out, (a, b)) * part(w, _ROWS)
    if g[1] is not None:
        inner = inner + 0.5 * diagonal_part(swap(v) @ g[1])
    return folded(-(v @ inner @ swap(v)), flag(lower, "lower"))


def _tridiagonal_type(b: Builder, d: Any, e: Any, *rest: Any, **options: Any) -> Any:
    t, s = as_array(b, d), as_array(b, e)
    if t.kind != "array" or t.dims is None or len(t.dims) != 1 or s.kind != "array":
        return ANY, ANY
    kind = inexact_dtype([t, s])
    kind = kind if kind == np.float64 else None
    return array(kind, t.dims), array(kind, (t.dims[0], t.dims[0]))


op("scipy.linalg.eigh_tridiagonal", "d: array, e: array, check_finite", type=_tridiagonal_type, nout=2)


@vjp(linalg.eigh_tridiagonal, "d")
def _tridiagonal_d(g: Any, out: Any, d: Any, e: Any, **options: Any) -> Any:
    v = out[1]
    return call(np.diagonal, v @ _eigh_inner(g, out, (d, e)) @ swap(v))


@vjp(linalg.eigh_tridiagonal, "e")
def _tridiagonal_e(g: Any, out: Any, d: Any, e: Any, **options: Any) -> Any:
    v = out[1]
    full = v @ _eigh_inner(g, out, (d, e)) @ swap(v)
    return lib.at_shape(call(np.diagonal, full, 1) + call(np.diagonal, full, -1), e)


def _eig_type(b: Builder, a: Any, *rest: Any, **options: Any) -> Any:
    t = _square(b, a)
    if t.dims is None:
        return ANY, ANY
    kind = None if t.dtype is None else np.result_type(t.dtype, np.complex64)
    # The vectors of a real matrix are real where all values are.
    return array(kind, t.dims[:1]), array(None, t.dims)


op(
    "scipy.linalg.eig",
    "a: array, b: array, left, right, overwrite_a, overwrite_b, check_finite",
    type=_eig_type,
    nout=2,
)
op(kernels.left_eigenvectors, "a: array, b: array, check_finite", type=_eig_type, nout=2)


@vjp(linalg.eig, "a")
def _eig(g: Any, out: Any, a: Any, b: Any = None, **options: Any) -> Any:
    if b is None:
        return decompositions.eig_pullback(g, out, a)
    vectors, scaled = _pencil(g, out, a, b)
    bar = conj(vectors) @ (scaled * swap(out[1]))
    return bar if lib.may_be_complex(a) else np.real(bar)


@vjp(linalg.eig, "b")
def _eig_b(g: Any, out: Any, a: Any, b: Any, **options: Any) -> Any:
    vectors, scaled = _pencil(g, out, a, b)
    w, v = out
    values = np.where(np.isfinite(w), w, 0.0)
    bar = -(conj(vectors) @ (scaled * part(values, _COLUMNS) * swap(v)))
    return bar if lib.may_be_complex(b) else np.real(bar)


def _pencil(g: Any, out: Any, a: Any, b: Any) -> Any:
    """The left eigenvectors of ``a - w * b``, and a column of the cotangents over the lengths of `b`'s vectors.

    An infinite eigenvalue, of a singular matrix `b`, has no derivative. It is left out if nothing depends on it.
    """
    g_w, g_v = g
    if g_v is not None:
        raise lib.unsupported(
            "the eigenvectors of scipy.linalg.eig with b have no derivative rule", "use eig of linalg.solve(b, a)"
        )
    w, v = out
    _, vectors = call(kernels.left_eigenvectors, a, b)
    lengths = np.sum(conj(vectors) * (b @ v), axis=0)
    finite = np.isfinite(w)
    scaled = np.where(finite, g_w / np.where(finite, lengths, 1.0), np.where(np.equal(g_w, 0.0), 0.0, np.nan))
    return vectors, part(scaled, _COLUMNS)


@vjp(kernels.left_eigenvectors, "a")
def _left(g: Any, out: Any, a: Any, b: Any = None, **options: Any) -> Any:
    """The conjugate values and the left vectors are those of the adjoint matrix."""
    if b is not None:
        raise lib.unsupported("a derivative of the left eigenvectors of two matrices", "use linalg.solve(b, a)")
    g_w, g_v = g
    w, v = out
    of_values = None if g_w is None else conj(g_w)
    return conj(swap(decompositions.eig_pullback((of_values, g_v), (conj(w), v), conj(swap(a)))))


# --- polar decomposition, pseudoinverse, least squares ----------------------------------------------------------------

op(kernels.polar_factor, "a: array", type=lambda b, a: matrix_type(b, a))


@vjp(kernels.polar_factor, "a")
def _polar_factor(g: Any, out: Any, a: Any) -> Any:
    """Of a matrix with at least as many rows as columns, and full rank."""
    lib.need_real("scipy.linalg.polar", a)
    stretch = swap(out) @ a
    turned = swap(out) @ g
    inner = call(linalg.solve_sylvester, stretch, stretch, turned - swap(turned))
    outside = swap(call(linalg.solve, stretch, swap(g - out @ turned)))
    return out @ inner + outside


def _pinv_type(b: Builder, a: Any, *rest: Any, **options: Any) -> Ty:
    t = matrix_type(b, a)
    return ANY if t.dims is None else array(t.dtype, t.dims[::-1])


op("scipy.linalg.pinv", "a: array, check_finite", type=_pinv_type)


@vjp(linalg.pinv, "a")
def _pinv(g: Any, out: Any, a: Any, **options: Any) -> Any:
    return decompositions.pinv_pullback(g, out, a)


def _lstsq_type(b: Builder, a: Any, b_: Any, *rest: Any, **options: Any) -> Any:
    t, q = matrix_type(b, a), as_array(b, b_)
    if t.dims is None or q.kind != "array" or q.dims is None or len(q.dims) not in (1, 2):
        return ANY, ANY, ANY, ANY
    must_equal(b, t.dims[0], q.dims[0])
    dtype = inexact_dtype([t, q])
    return array(dtype, (t.dims[1], *q.dims[1:])), ANY, ANY, array(real_dtype(dtype), (smaller(b, *t.dims),))


op("scipy.linalg.lstsq", "a: array, b: array, check_finite", type=_lstsq_type, nout=4)


def _without_residues(g: Any) -> Any:
    if g[1] is not None:
        raise lib.unsupported(
            "the residues of scipy.linalg.lstsq have no derivative rule", "compute np.sum((b - a @ x) ** 2, axis=0)"
        )
    return g


@vjp(linalg.lstsq, "a")
def _lstsq_a(g: Any, out: Any, a: Any, b: Any, **options: Any) -> Any:
    return decompositions.lstsq_pullback_a(_without_residues(g), out, a, b)


@vjp(linalg.lstsq, "b")
def _lstsq_b(g: Any, out: Any, a: Any, b: Any, **options: Any) -> Any:
    return decompositions.lstsq_pullback_b(_without_residues(g), out, a, b)


__all__ = ["diagonal_part", "flag", "folded", "matrix_type"]
