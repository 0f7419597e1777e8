"""`scipy.linalg`: matrices of given entries and systems of such, subspaces, and discrete Riccati equations."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ....kernels.scipy.linalg import balance_order, balance_scale, finite, polar_factor
from ...definitions import defines, refuse


def flat(name: Any, *operands: Any) -> Any:
    """Vectors, since each version of SciPy does something else with more axes."""
    for a in operands:
        if np.ndim(a) > 1:
            refuse(f"scipy.linalg.{name} of an array of several axes", "call it for one vector after the other")


def real_matrices(name: Any, *operands: Any) -> Any:
    for a in operands:
        if np.ndim(a) != 2:
            refuse(f"scipy.linalg.{name} of stacks of matrices", "call it in a loop")
        if np.issubdtype(a.dtype, np.complexfloating):
            refuse(f"scipy.linalg.{name} of complex matrices", "use scipy.linalg.svd")


@defines(linalg.matrix_balance)
def matrix_balance(
    A: Any, permute: Any = True, scale: Any = True, separate: Any = False, overwrite_a: Any = False
) -> Any:
    A = np.atleast_2d(A)
    if np.ndim(A) != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("The data matrix for balancing should be square.")
    if A.shape[0] == 0:
        refuse("scipy.linalg.matrix_balance of an empty matrix", "treat it apart")
    by, order = balance_scale(A, permute, scale), balance_order(A, permute, scale)
    balanced = A[order][:, order] * by.astype(A.dtype) / by[:, None].astype(A.dtype)
    if separate:
        return balanced, (by, order)
    return balanced, np.diag(by)[np.argsort(order), :]


# --- matrices of given entries ----------------------------------------------------------------------------------------


@defines(linalg.companion)
def companion(a: Any) -> Any:
    a = np.atleast_1d(a)
    flat("companion", a)
    n = a.shape[0]
    if n < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    if a[0] == 0:
        raise ValueError("The first coefficient in `a` must not be zero.")
    first = -a[1:] / (1.0 * a[0])
    return np.concatenate((first[None], np.eye(n - 2, n - 1, dtype=first.dtype)))


@defines(linalg.convolution_matrix)
def convolution_matrix(a: Any, n: Any, mode: Any = "full") -> Any:
    if n <= 0:
        raise ValueError("n must be a positive integer.")
    a = np.asarray(a)
    flat("convolution_matrix", a)
    m = len(a)
    if m == 0:
        raise ValueError("len(a) must be at least 1.")
    if mode not in ("full", "valid", "same"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    k = np.arange(m + n - 1)[:, None] - np.arange(n)
    made = np.where((k >= 0) & (k < m), a[np.clip(k, 0, m - 1)], np.zeros_like(a[:1]))
    if mode == "full":
        return made
    trim = min(n, m) - 1
    first = trim // 2 if mode == "same" else trim
    return made[first : m + n - 1 - (trim - first if mode == "same" else trim)]


@defines(linalg.leslie)
def leslie(f: Any, s: Any) -> Any:
    f, s = np.atleast_1d(f), np.atleast_1d(s)
    flat("leslie", f, s)
    if f.shape[0] != s.shape[0] + 1:
        raise ValueError("Incorrect lengths for f and s. The length of s must be one less than the length of f.")
    if s.shape[0] == 0:
        raise ValueError("The length of s must be at least 1.")
    n = f.shape[0]
    dtype = (f[0] + s[0]).dtype
    below = np.eye(n - 1, n, dtype=dtype) * s.astype(dtype)[:, None]
    return np.concatenate((f.astype(dtype)[None], below))


@defines(linalg.fiedler)
def fiedler(a: Any) -> Any:
    a = np.atleast_1d(a)
    flat("fiedler", a)
    return np.abs(a[:, None] - a)


@defines(linalg.diagsvd)
def diagsvd(s: Any, M: Any, N: Any) -> Any:
    part = np.diag(s)
    if len(s) == M:
        return np.concatenate((part, np.zeros((M, N - M), dtype=part.dtype)), axis=1)
    if len(s) == N:
        return np.concatenate((part, np.zeros((M - N, N), dtype=part.dtype)))
    raise ValueError("Length of s must be M or N.")


# --- products and systems ---------------------------------------------------------------------------------------------


@defines(linalg.matmul_toeplitz)
def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: Any = False, workers: Any = None) -> Any:
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, np.conj(c_or_cr))
    c, r, x = np.asarray(c), np.asarray(r), np.asarray(x)
    flat("matmul_toeplitz", c, r)
    if check_finite:
        c, r, x = finite(c), finite(r), finite(x)
    m, n = len(c), len(r)
    if x.shape[0] != n:
        raise ValueError("Incompatible dimensions.")
    around = np.concatenate((c, r[:0:-1]))
    column = around if np.ndim(x) == 1 else around[:, None]
    p = m + n - 1
    made = np.fft.ifft(np.fft.fft(column, axis=0) * np.fft.fft(x, p, axis=0), axis=0)[:m]
    is_complex = np.issubdtype(around.dtype, np.complexfloating) or np.issubdtype(x.dtype, np.complexfloating)
    return made if is_complex else np.real(made)


@defines(linalg.solve_circulant)
def solve_circulant(
    c: Any, b: Any, singular: Any = "raise", tol: Any = None, caxis: Any = -1, baxis: Any = 0, outaxis: Any = 0
) -> Any:
    c, b = np.atleast_1d(c), np.atleast_1d(b)
    flat("solve_circulant", c, b)
    if singular != "raise":
        refuse("scipy.linalg.solve_circulant with singular='lstsq'", "use scipy.linalg.lstsq")
    if c.shape != b.shape:
        raise ValueError("Shapes of c and b are incompatible")
    fc = np.fft.fft(c)
    sizes = np.abs(fc)
    if np.any(sizes <= (np.max(sizes) * len(c) * np.finfo(np.float64).eps if tol is None else tol)):
        raise np.linalg.LinAlgError("near singular circulant matrix.")
    x = np.fft.ifft(np.fft.fft(b) / fc)
    is_complex = np.issubdtype(c.dtype, np.complexfloating) or np.issubdtype(b.dtype, np.complexfloating)
    return x if is_complex else np.real(x)


@defines(linalg.pinvh)
def pinvh(
    a: Any, atol: Any = None, rtol: Any = None, lower: Any = True, return_rank: Any = False, check_finite: Any = True
) -> Any:
    a = np.asarray(a)
    real_matrices("pinvh", a)
    if atol is not None or rtol is not None or return_rank:
        refuse("scipy.linalg.pinvh with atol, rtol or return_rank", "leave them out")
    return linalg.pinvh(finite(a) if check_finite else a, lower=bool(lower))


@defines(linalg.solve_discrete_are)
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: Any = True) -> Any:
    a, b, q, r = np.atleast_2d(a), np.atleast_2d(b), np.atleast_2d(q), np.atleast_2d(r)
    real_matrices("solve_discrete_are", a, b, q, r)
    if e is None and s is None:
        return linalg.solve_discrete_are(a, b, q, r)
    e, s = riccati_factors(a, b, e, s)
    real_matrices("solve_discrete_are", e, s)
    return linalg.solve_discrete_are(a, b, q, r, e, s)


def riccati_factors(a: Any, b: Any, e: Any, s: Any) -> Any:
    """The factors `e` and `s` of the general equation, of which one may be missing."""
    e = np.eye(len(np.atleast_2d(a))) if e is None else np.atleast_2d(e)
    return e, np.zeros(np.shape(np.atleast_2d(b))) if s is None else np.atleast_2d(s)


@defines(linalg.fractional_matrix_power)
def fractional_matrix_power(A: Any, t: Any) -> Any:
    A = np.asarray(A)
    if np.ndim(A) != 2:
        refuse("scipy.linalg.fractional_matrix_power of stacks of matrices", "call it in a loop")
    return linalg.fractional_matrix_power(A, t)


# --- subspaces --------------------------------------------------------------------------------------------------------


@defines(linalg.subspace_angles)
def subspace_angles(A: Any, B: Any) -> Any:
    """Of any bases of the two spaces. SciPy has those of the singular vectors."""
    A, B = finite(A), finite(B)
    real_matrices("subspace_angles", A, B)
    if A.shape[0] != B.shape[0]:
        raise ValueError("A and B must have the same number of rows")
    if np.linalg.matrix_rank(A) < A.shape[1] or np.linalg.matrix_rank(B) < B.shape[1]:
        raise NotImplementedError("the derivative of the angles of dependent columns")
    p, _ = np.linalg.qr(A)
    q, _ = np.linalg.qr(B)
    both = p.T @ q
    cosines = linalg.svdvals(both)
    rest = q - p @ both if A.shape[1] >= B.shape[1] else p - q @ both.T
    small = cosines**2 >= 0.5
    sines = np.clip(linalg.svdvals(rest), -1.0, 1.0)
    # Of each angle, that function is used which is not flat there.
    by_sine = np.arcsin(np.where(small, sines, 0.0))
    by_cosine = np.arccos(np.where(small, 0.0, np.clip(cosines[::-1], -1.0, 1.0)))
    return np.where(small, by_sine, by_cosine)


@defines(linalg.orthogonal_procrustes)
def orthogonal_procrustes(A: Any, B: Any, check_finite: Any = True) -> Any:
    A, B = np.asarray(A), np.asarray(B)
    real_matrices("orthogonal_procrustes", A, B)
    if check_finite:
        A, B = finite(A), finite(B)
    if A.shape != B.shape:
        raise ValueError("the shapes of A and B differ")
    product = A.T @ B
    return polar_factor(product), np.sum(linalg.svdvals(product))


@defines(linalg.schur)
def schur(
    a: Any,
    output: Any = "real",
    lwork: Any = None,
    overwrite_a: Any = False,
    sort: Any = None,
    check_finite: Any = True,
) -> Any:
    if sort is not None:
        refuse("scipy.linalg.schur with sort", "leave it out, or compute the form outside of the function")
    t, z = linalg.schur(a, output=output, check_finite=check_finite)
    return t, z
