"""Functions of `scipy.linalg`: how their calls are written for the records, and those that are made of others.

No flag that lets SciPy write into an argument is passed on. Stacks of matrices are refused, where SciPy's versions
differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ....kernels.scipy.linalg import (
    banded_solution,
    finite,
    inverse_permutation,
    left_eigenvectors,
    permutation,
    polar_factor,
    qr_pivots,
    toeplitz_solution,
)
from ...definitions import defines, refuse
from . import linalg_structured as linalg_structured

LAPACK = (np.dtype("f"), np.dtype("d"), np.dtype("F"), np.dtype("D"))


def one_matrix(name: Any, *operands: Any) -> None:
    for a in operands:
        if np.ndim(a) > 2:
            refuse(f"scipy.linalg.{name} of a stack of matrices", "use the function of np.linalg, or a loop")


def is_complex(a: Any) -> Any:
    return np.issubdtype(a.dtype, np.complexfloating)


def options_of(check_finite: Any = True, **given: Any) -> Any:
    """The keywords of a call that are not as they are by default."""
    options: Any = {}
    for name in given:
        if given[name] is not None and given[name] is not False:
            options[name] = given[name]
    if not check_finite:
        options["check_finite"] = False
    return options


# --- systems of equations ---------------------------------------------------------------------------------------------


@defines(linalg.solve)
def solve(
    a: Any, b: Any, lower: Any = False, overwrite_a: Any = False, overwrite_b: Any = False, check_finite: Any = True,
    assume_a: Any = None, transposed: Any = False,
) -> Any:  # fmt: skip
    one_matrix("solve", a, b)
    if assume_a == "banded":
        refuse("scipy.linalg.solve with assume_a='banded'", "use scipy.linalg.solve_banded")
    options = options_of(check_finite, assume_a=assume_a, transposed=transposed)
    if lower and assume_a not in (None, "gen", "general"):
        options["lower"] = True
    return linalg.solve(a, b, **options)


@defines(linalg.inv)
def inv(a: Any, overwrite_a: Any = False, check_finite: Any = True, *, assume_a: Any = None, lower: Any = False) -> Any:
    if assume_a not in (None, "gen", "general"):
        refuse(f"scipy.linalg.inv with assume_a={assume_a!r}", "use scipy.linalg.solve")
    return linalg.inv(a, **options_of(check_finite))


@defines(linalg.det)
def det(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    return linalg.det(a, **options_of(check_finite))


@defines(linalg.solve_triangular)
def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False, overwrite_b: Any = False,
    check_finite: Any = True,
) -> Any:  # fmt: skip
    one_matrix("solve_triangular", a, b)
    options = options_of(check_finite, lower=lower, unit_diagonal=unit_diagonal)
    if trans not in (0, "N"):
        options["trans"] = trans
    return linalg.solve_triangular(a, b, **options)


@defines(linalg.solve_banded)
def solve_banded(
    l_and_u: Any, ab: Any, b: Any, overwrite_ab: Any = False, overwrite_b: Any = False, check_finite: Any = True
) -> Any:
    one_matrix("solve_banded", ab, b)
    lower, upper = l_and_u
    return linalg.solve_banded((lower, upper), ab, b, **options_of(check_finite))


@defines(linalg.solveh_banded)
def solveh_banded(
    ab: Any, b: Any, overwrite_ab: Any = False, overwrite_b: Any = False, lower: Any = False, check_finite: Any = True
) -> Any:
    one_matrix("solveh_banded", ab, b)
    ab = np.asarray(ab)
    return banded_solution(ab, b, ab.shape[0], lower, check_finite)


@defines(linalg.solve_toeplitz)
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: Any = True) -> Any:
    if isinstance(c_or_cr, tuple):
        c, r = c_or_cr
    else:
        c = np.asarray(c_or_cr)
        r = np.conj(c) if is_complex(c) else c
    if np.ndim(c) != 1 or np.ndim(r) != 1 or np.ndim(b) != 1:
        refuse("scipy.linalg.solve_toeplitz of several right sides", "solve for one vector after the other")
    if check_finite:
        return toeplitz_solution(c, r, b)
    return toeplitz_solution(c, r, b, False)


@defines(linalg.solve_continuous_lyapunov, linalg.solve_lyapunov)
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    one_matrix("solve_continuous_lyapunov", a, q)
    a = np.asarray(a)
    return linalg.solve_sylvester(a, np.conj(a).T if is_complex(a) else a.T, q)


@defines(linalg.solve_continuous_are)
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: Any = True) -> Any:
    one_matrix("solve_continuous_are", a, b, q, r)
    if e is None and s is None:
        return linalg.solve_continuous_are(a, b, q, r)
    e, s = linalg_structured.riccati_factors(a, b, e, s)
    return linalg.solve_continuous_are(a, b, q, r, e, s)


# --- factors ----------------------------------------------------------------------------------------------------------


@defines(linalg.cholesky)
def cholesky(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    one_matrix("cholesky", a)
    return linalg.cholesky(a, **options_of(check_finite, lower=lower))


@defines(linalg.cho_factor)
def cho_factor(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    one_matrix("cho_factor", a)
    c, _ = linalg.cho_factor(a, **options_of(check_finite, lower=lower))
    return c, lower


@defines(linalg.cho_solve)
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: Any = False, check_finite: Any = True) -> Any:
    c, lower = c_and_lower
    one_matrix("cho_solve", c, b)
    turned = 2 if is_complex(np.asarray(c)) else 1
    first = options_of(check_finite, trans=None if lower else turned, lower=lower)
    then = options_of(check_finite, trans=turned if lower else None, lower=lower)
    return linalg.solve_triangular(c, linalg.solve_triangular(c, b, **first), **then)


@defines(linalg.lu_factor)
def lu_factor(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    one_matrix("lu_factor", a)
    lu, piv = linalg.lu_factor(a, **options_of(check_finite))
    return lu, piv


@defines(linalg.lu_solve)
def lu_solve(lu_and_piv: Any, b: Any, trans: Any = 0, overwrite_b: Any = False, check_finite: Any = True) -> Any:
    lu, piv = lu_and_piv
    one_matrix("lu_solve", lu, b)
    lower = options_of(check_finite, lower=True, unit_diagonal=True)
    upper = options_of(check_finite)
    order = permutation(piv)
    if trans == 0:
        half = linalg.solve_triangular(lu, np.asarray(b)[order], **lower)
        return linalg.solve_triangular(lu, half, **upper)
    half = linalg.solve_triangular(lu, b, trans=trans, **upper)
    return linalg.solve_triangular(lu, half, trans=trans, **lower)[inverse_permutation(order)]


@defines(linalg.lu)
def lu(
    a: Any, permute_l: Any = False, overwrite_a: Any = False, check_finite: Any = True, p_indices: Any = False
) -> Any:
    one_matrix("lu", a)
    a = np.asarray(a)
    both, piv = linalg.lu_factor(a, **options_of(check_finite))
    k = min(a.shape[0], a.shape[1])
    lower = np.tril(both[:, :k], -1) + np.eye(a.shape[0], k, dtype=both.dtype)
    upper = np.triu(both[:k])
    order = inverse_permutation(permutation(piv))
    if permute_l:
        return lower[order], upper
    if p_indices:
        return order, lower, upper
    return np.eye(a.shape[0], dtype=both.dtype)[order], lower, upper


@defines(linalg.qr)
def qr(
    a: Any, overwrite_a: Any = False, lwork: Any = None, mode: Any = "full", pivoting: Any = False,
    check_finite: Any = True,
) -> Any:  # fmt: skip
    one_matrix("qr", a)
    if mode not in ("full", "economic", "r"):
        refuse(f"scipy.linalg.qr with mode={mode!r}", "use mode='economic'")
    options = options_of(check_finite)
    order = None
    if pivoting:
        order = qr_pivots(a, check_finite)
        a = np.asarray(a)[:, order]
    if mode == "r":
        a = np.asarray(a)
        _, r = linalg.qr(a, mode="economic", **options)
        r = np.concatenate((r, np.zeros((a.shape[0] - r.shape[0], a.shape[1]), r.dtype)))
        return (r,) if order is None else (r, order)
    if mode == "economic":
        options["mode"] = mode
    q, r = linalg.qr(a, **options)
    return (q, r) if order is None else (q, r, order)


@defines(linalg.svd)
def svd(
    a: Any, full_matrices: Any = True, compute_uv: Any = True, overwrite_a: Any = False, check_finite: Any = True,
    lapack_driver: Any = "gesdd",
) -> Any:  # fmt: skip
    one_matrix("svd", a)
    if not compute_uv:
        return linalg.svdvals(a, **options_of(check_finite))
    options = options_of(check_finite, lapack_driver=None if lapack_driver == "gesdd" else lapack_driver)
    if not full_matrices:
        options["full_matrices"] = False
    u, s, vh = linalg.svd(a, **options)
    return u, s, vh


@defines(linalg.svdvals)
def svdvals(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    one_matrix("svdvals", a)
    return linalg.svdvals(a, **options_of(check_finite))


@defines(linalg.eigh)
def eigh(
    a: Any, b: Any = None, *, lower: Any = True, eigvals_only: Any = False, overwrite_a: Any = False,
    overwrite_b: Any = False, type: Any = 1, check_finite: Any = True, subset_by_index: Any = None,
    subset_by_value: Any = None, driver: Any = None,
) -> Any:  # fmt: skip
    one_matrix("eigh", a)
    if subset_by_index is not None or subset_by_value is not None:
        refuse("scipy.linalg.eigh with a subset", "leave it out, and take a part of the results")
    if b is not None and type != 1:
        refuse("scipy.linalg.eigh with another type than 1", "bring the problem into the form a @ v = w * b @ v")
    options = options_of(check_finite, driver=driver)
    if not lower:
        options["lower"] = False
    w, v = linalg.eigh(a, **options) if b is None else linalg.eigh(a, b, **options)
    return w if eigvals_only else (w, v)


@defines(linalg.eigvalsh)
def eigvalsh(
    a: Any, b: Any = None, *, lower: Any = True, overwrite_a: Any = False, overwrite_b: Any = False, type: Any = 1,
    check_finite: Any = True, subset_by_index: Any = None, subset_by_value: Any = None, driver: Any = None,
) -> Any:  # fmt: skip
    return eigh(
        a, b, lower=lower, eigvals_only=True, type=type, check_finite=check_finite, subset_by_index=subset_by_index,
        subset_by_value=subset_by_value, driver=driver,
    )  # fmt: skip


@defines(linalg.eigh_tridiagonal)
def eigh_tridiagonal(
    d: Any, e: Any, eigvals_only: Any = False, select: Any = "a", select_range: Any = None, check_finite: Any = True,
    tol: Any = 0.0, lapack_driver: Any = "auto",
) -> Any:  # fmt: skip
    if select not in ("a", "all", 0):
        refuse("scipy.linalg.eigh_tridiagonal with select", "leave it out, and take a part of the results")
    w, v = linalg.eigh_tridiagonal(d, e, **options_of(check_finite))
    return w if eigvals_only else (w, v)


@defines(linalg.eigvalsh_tridiagonal)
def eigvalsh_tridiagonal(
    d: Any, e: Any, select: Any = "a", select_range: Any = None, check_finite: Any = True, tol: Any = 0.0,
    lapack_driver: Any = "auto",
) -> Any:  # fmt: skip
    return eigh_tridiagonal(d, e, True, select, select_range, check_finite)


@defines(linalg.eig)
def eig(
    a: Any, b: Any = None, left: Any = False, right: Any = True, overwrite_a: Any = False, overwrite_b: Any = False,
    check_finite: Any = True, homogeneous_eigvals: Any = False,
) -> Any:  # fmt: skip
    one_matrix("eig", a)
    if homogeneous_eigvals:
        refuse("scipy.linalg.eig with homogeneous_eigvals", "leave it out")
    if b is not None and left:
        refuse("scipy.linalg.eig with b and left", "use eig of the matrix linalg.solve(b, a)")
    options = options_of(check_finite)
    w, v = linalg.eig(a, **options) if b is None else linalg.eig(a, b, **options)
    if not left:
        return (w, v) if right else w
    vl = left_eigenvectors(a, **options)[1]
    return (w, vl, v) if right else (w, vl)


@defines(linalg.eigvals)
def eigvals(
    a: Any, b: Any = None, overwrite_a: Any = False, check_finite: Any = True, homogeneous_eigvals: Any = False
) -> Any:
    return eig(a, b, False, False, check_finite=check_finite, homogeneous_eigvals=homogeneous_eigvals)


@defines(linalg.polar)
def polar(a: Any, side: Any = "right") -> Any:
    one_matrix("polar", a)
    a = np.asarray(a)
    if side not in ("left", "right"):
        raise ValueError("`side` must be either 'right' or 'left'")
    if is_complex(a):
        refuse("scipy.linalg.polar of a complex matrix", "use scipy.linalg.svd")
    u = polar_factor(a)
    p = u.T @ a if side == "right" else a @ u.T
    return u, 0.5 * (p + p.T)


# --- pseudoinverse, least squares -------------------------------------------------------------------------------------


@defines(linalg.pinv)
def pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: Any = False, check_finite: Any = True) -> Any:
    one_matrix("pinv", a)
    if atol is not None or rtol is not None or return_rank:
        refuse("scipy.linalg.pinv with atol, rtol or return_rank", "leave them out")
    return linalg.pinv(a, **options_of(check_finite))


@defines(linalg.lstsq)
def lstsq(
    a: Any, b: Any, cond: Any = None, overwrite_a: Any = False, overwrite_b: Any = False, check_finite: Any = True,
    lapack_driver: Any = None,
) -> Any:  # fmt: skip
    one_matrix("lstsq", a, b)
    if cond is not None or lapack_driver == "gelsy":
        refuse("scipy.linalg.lstsq with cond, or with the driver 'gelsy'", "leave them out")
    x, residues, rank, s = linalg.lstsq(a, b, **options_of(check_finite))
    return x, residues, rank, s


@defines(linalg.norm)
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, check_finite: Any = True) -> Any:
    a = np.asarray(a)
    found = np.linalg.norm(finite(a) if check_finite else a, ord, axis, keepdims)
    if axis is None and not keepdims and a.dtype in LAPACK:
        if (np.ndim(a) == 1 and ord in (None, 2)) or (np.ndim(a) == 2 and ord in (1, np.inf)):
            return float(found)  # as BLAS and LAPACK return it
    return found


# --- functions of matrices --------------------------------------------------------------------------------------------


@defines(linalg.expm_frechet)
def expm_frechet(
    A: Any, E: Any, method: Any = None, compute_expm: Any = True, check_finite: Any = True
) -> Any:  # fmt: skip
    derivative = linalg.expm_frechet(A, E, compute_expm=False, **options_of(check_finite, method=method))
    return (linalg.expm(A), derivative) if compute_expm else derivative


def need_matrix(name: Any, a: Any) -> Any:
    one_matrix(name, a)
    a = np.asarray(a)
    if np.ndim(a) != 2 or a.shape[0] != a.shape[1]:
        raise ValueError("expected square array_like input")
    return a


@defines(linalg.logm)
def logm(A: Any, disp: Any = True) -> Any:
    if not disp:
        refuse("scipy.linalg.logm with disp=False", "leave it out")
    one_matrix("logm", A)
    return linalg.logm(A)


@defines(linalg.sqrtm)
def sqrtm(A: Any, disp: Any = True, blocksize: Any = 64) -> Any:
    if not disp:
        refuse("scipy.linalg.sqrtm with disp=False", "leave it out")
    one_matrix("sqrtm", A)
    return linalg.sqrtm(A)


@defines(linalg.cosm)
def cosm(A: Any) -> Any:
    a = need_matrix("cosm", A)
    if is_complex(a):
        return 0.5 * (linalg.expm(1j * a) + linalg.expm(-1j * a))
    return np.real(linalg.expm(1j * a))


@defines(linalg.sinm)
def sinm(A: Any) -> Any:
    a = need_matrix("sinm", A)
    if is_complex(a):
        return -0.5j * (linalg.expm(1j * a) - linalg.expm(-1j * a))
    return np.imag(linalg.expm(1j * a))


@defines(linalg.tanm)
def tanm(A: Any) -> Any:
    return linalg.solve(cosm(A), sinm(A))


@defines(linalg.coshm)
def coshm(A: Any) -> Any:
    a = need_matrix("coshm", A)
    return 0.5 * (linalg.expm(a) + linalg.expm(-a))


@defines(linalg.sinhm)
def sinhm(A: Any) -> Any:
    a = need_matrix("sinhm", A)
    return 0.5 * (linalg.expm(a) - linalg.expm(-a))


@defines(linalg.tanhm)
def tanhm(A: Any) -> Any:
    return linalg.solve(coshm(A), sinhm(A))


# --- matrices of given entries ----------------------------------------------------------------------------------------


@defines(linalg.block_diag)
def block_diag(*arrs: Any) -> Any:
    if len(arrs) == 0:
        return np.empty((1, 0))
    blocks = [np.atleast_2d(a) for a in arrs]
    for a in blocks:
        if np.ndim(a) > 2:
            refuse("scipy.linalg.block_diag of stacks of matrices", "join the matrices one after the other")
    columns = blocks[0].shape[1]
    for a in blocks[1:]:
        columns = columns + a.shape[1]
    rows = []
    start = 0
    for a in blocks:
        stop = start + a.shape[1]
        left = np.zeros((a.shape[0], start), a.dtype)
        rows.append(np.concatenate((left, a, np.zeros((a.shape[0], columns - stop), a.dtype)), axis=1))
        start = stop
    return np.concatenate(rows)


def one_vector(name: Any, c: Any) -> Any:
    c = np.asarray(c)
    if np.ndim(c) != 1:
        refuse(f"scipy.linalg.{name} of an array that is no vector", "pass a vector")
    return c


@defines(linalg.toeplitz)
def toeplitz(c: Any, r: Any = None) -> Any:
    c = one_vector("toeplitz", c)
    r = (np.conj(c) if is_complex(c) else c) if r is None else one_vector("toeplitz", r)
    entries = np.concatenate((c[::-1], r[1:]))
    return entries[np.arange(c.shape[0] - 1, -1, -1)[:, None] + np.arange(r.shape[0])]


@defines(linalg.circulant)
def circulant(c: Any) -> Any:
    c = one_vector("circulant", c)
    n = c.shape[0]
    return c[(np.arange(n)[:, None] - np.arange(n)) % n]


@defines(linalg.hankel)
def hankel(c: Any, r: Any = None) -> Any:
    c = one_vector("hankel", c)
    r = np.zeros_like(c) if r is None else one_vector("hankel", r)
    entries = np.concatenate((c, r[1:]))
    return entries[np.arange(c.shape[0])[:, None] + np.arange(r.shape[0])]


@defines(linalg.khatri_rao)
def khatri_rao(a: Any, b: Any) -> Any:
    a, b = np.asarray(a), np.asarray(b)
    if np.ndim(a) != 2 or np.ndim(b) != 2:
        refuse("scipy.linalg.khatri_rao of other arrays than matrices", "pass matrices")
    if a.shape[1] != b.shape[1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    return (a[:, None, :] * b[None, :, :]).reshape(a.shape[0] * b.shape[0], a.shape[1])


if hasattr(linalg, "kron"):  # until SciPy 1.16

    @defines(linalg.kron)
    def kron(a: Any, b: Any) -> Any:
        return np.kron(a, b)
