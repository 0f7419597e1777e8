"""`scipy.sparse.linalg`: linear systems with a sparse matrix, and norms."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.sparse.linalg as sla

from ....kernels.scipy import sparse as kernels
from ...definitions import defines, known, refuse
from .changed import require_same
from .sparse_making import from_dense
from .sparse_matrices import inside, is_sparse


def system(A: Any, b: Any) -> Any:
    """The matrix of a linear system, with entries of the dtype in which it is solved."""
    if not is_sparse(A):
        if isinstance(A, LinearOperator):
            refuse("a linear system with a LinearOperator", "pass the matrix")
        A = from_dense(A, True)
    a = inside(A)
    if a.shape[0] != a.shape[1]:
        raise ValueError("matrix must be square")
    if is_sparse(b):
        refuse("a linear system with a sparse right-hand side", "use b.toarray()")
    if b.shape[0] != a.shape[0]:
        raise ValueError("matrix - rhs dimension mismatch")
    return a


def promoted(entries: Any, dtype: Any) -> Any:
    entries = np.asarray(entries)
    return entries if entries.dtype == dtype else entries.astype(dtype)


@defines(sla.spsolve)
def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: Any = True) -> Any:
    if not is_sparse(b):
        b = np.asarray(b)
    a = system(A, b)
    dtype = np.result_type(a.dtype, b.dtype, np.float32)
    entries, b = promoted(a.entries, dtype), promoted(b, dtype)
    if np.ndim(b) > 2:
        raise ValueError("the right-hand side has too many axes")
    lu = kernels.factors(a.known_form, entries, a.i, a.j, a.shape, True)
    if np.ndim(b) == 2 and known(b.shape[1]):
        if b.shape[1] == 1:
            b = np.ravel(b)
    elif np.ndim(b) == 2 and b.shape[1] == 1:
        raise ValueError("the right-hand side has one column here and several in other calls: pass a vector")
    return kernels.solved(a.known_form, entries, a.i, a.j, a.shape, b, lu, "N")


class Factors:
    """What `scipy.sparse.linalg.splu` returns."""

    def __init__(self, a: Any, entries: Any, lu: Any) -> None:
        self.matrix = a
        self.entries = entries
        self.lu = lu
        self.shape = a.shape

    def solve(self, rhs: Any, trans: Any = "N") -> Any:
        rhs = np.asarray(rhs)
        if trans not in ("N", "T"):
            refuse("solve with this trans", 'use "N" or "T", or the conjugate of b and of the result')
        if np.ndim(rhs) not in (1, 2):
            raise ValueError("rhs must be 1-d or 2-d")
        if rhs.shape[0] != self.shape[0]:
            raise ValueError("rhs is of incompatible size")
        a = self.matrix
        if rhs.dtype != self.entries.dtype and not np.issubdtype(rhs.dtype, np.integer):
            refuse("a right-hand side of another dtype than the matrix", "convert it with astype")
        rhs = promoted(rhs, self.entries.dtype)
        return kernels.solved(a.known_form, self.entries, a.i, a.j, a.shape, rhs, self.lu, trans)

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of the factors of a sparse matrix", "use solve")


def factors_of(A: Any) -> Any:
    if not is_sparse(A):
        A = from_dense(A, True)
    a = inside(A)
    if a.shape[0] != a.shape[1]:
        raise ValueError("can only factor square matrices")
    a = a.copy()  # what is stored into the matrix afterwards does not count
    entries = promoted(a.entries, np.result_type(a.dtype, np.float32))
    return Factors(a, entries, kernels.factors(a.known_form, entries, a.i, a.j, a.shape, False))


@defines(sla.splu)
def splu(
    A: Any, permc_spec: Any = None, diag_pivot_thresh: Any = None, relax: Any = None, panel_size: Any = None,
    options: Any = None,
) -> Any:  # fmt: skip
    return factors_of(A)


@defines(sla.factorized)
def factorized(A: Any) -> Any:
    return factors_of(A).solve


# --- iterations -------------------------------------------------------------------------------------------------------

_HAS_RTOL = "rtol" in inspect.signature(sla.cg).parameters
RELATIVE = "rtol" if _HAS_RTOL else "tol"


def _by_iteration(method: str) -> Any:
    def solve(
        A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None,
        callback: Any = None, restart: Any = None, callback_type: Any = None,
    ) -> Any:  # fmt: skip
        if M is not None or callback is not None:
            refuse("an iteration with a preconditioner or a callback", "leave it out, or use spsolve")
        b = np.asarray(b)
        a = system(A, b)
        if np.ndim(b) != 1:
            refuse("an iteration whose right-hand side is not a vector", "pass np.ravel(b)")
        options: Any = ((RELATIVE, rtol), ("atol", atol), ("maxiter", maxiter))
        if method == "gmres" and restart is not None:
            options = (*options, ("restart", restart))
        return kernels.iterated(a.known_form, a.entries, a.i, a.j, a.shape, b, x0, method, options)

    return solve


for _method in ("cg", "bicg", "bicgstab", "cgs", "gmres", "minres"):
    if _method != "minres":
        defines(getattr(sla, _method))(_by_iteration(_method))


# --- norms and operators ----------------------------------------------------------------------------------------------


@defines(sla.norm)
def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    if axis is not None:
        refuse("the norm of a sparse matrix along an axis", "use np.sqrt of the sum of the squares")
    a = inside(x).uniquely()
    if ord is None or ord in ("fro", "f"):
        return np.linalg.norm(a.entries)
    if ord not in (1, -1, np.inf, -np.inf):
        refuse("this norm of a sparse matrix", "use the Frobenius norm, or a dense array")
    k = 1 if ord in (1, -1) else 0
    sums = kernels.summed(np.abs(a.entries), a.columns() if k == 1 else a.rows(), a.shape[k])
    return np.max(sums) if ord > 0 else np.min(sums)


@defines(sla.eigsh)
def eigsh(
    A: Any, k: Any = 6, M: Any = None, sigma: Any = None, which: Any = "LM", v0: Any = None, ncv: Any = None,
    maxiter: Any = None, tol: Any = 0, return_eigenvectors: Any = True, Minv: Any = None, OPinv: Any = None,
    mode: Any = "normal",
) -> Any:  # fmt: skip
    if M is not None or Minv is not None or OPinv is not None:
        refuse("eigsh with M, Minv or OPinv", "leave them out")
    if return_eigenvectors is not True:
        refuse("eigsh without eigenvectors", "take the first item of what it returns with them")
    if not is_sparse(A):
        refuse("eigsh of a matrix that is not sparse", "use np.linalg.eigh")
    a = inside(A)
    if a.shape[0] != a.shape[1]:
        raise ValueError("expected square matrix")
    if np.issubdtype(a.dtype, np.complexfloating):
        refuse("eigsh of a complex matrix", "use np.linalg.eigh")
    options = (("sigma", sigma), ("which", which), ("v0", v0), ("ncv", ncv), ("maxiter", maxiter), ("tol", tol))
    entries = promoted(a.entries, np.result_type(a.dtype, np.float32))
    return kernels.eigenpairs(a.known_form, entries, a.i, a.j, a.shape, k, (*options, ("mode", mode)))


@defines(sla.expm_multiply)
def expm_multiply(
    A: Any, B: Any, start: Any = None, stop: Any = None, num: Any = None, endpoint: Any = None, traceA: Any = None
) -> Any:
    if start is not None or stop is not None or num is not None or endpoint is not None:
        refuse("expm_multiply at several times", "call it for each: expm_multiply(t * A, B)")
    if not is_sparse(A):
        refuse("expm_multiply with a matrix that is not sparse", "use scipy.linalg.expm(A) @ B")
    a, b = inside(A), np.asarray(B)
    if a.shape[0] != a.shape[1]:
        raise ValueError("expected A to be like a square matrix")
    if b.shape[0] != a.shape[1]:
        raise ValueError("shapes of matrices A and B are incompatible")
    entries = promoted(a.entries, np.result_type(a.dtype, np.float32))
    return kernels.propagated(a.known_form, entries, a.i, a.j, a.shape, b)


class LinearOperator:
    """An operator that is given by the user's functions, or by a matrix."""

    __array_ufunc__ = None
    ndim = 2

    def __init__(self, shape: Any, product: Any, adjoint: Any) -> None:
        self.shape = shape
        self.product = product
        self.adjoint = adjoint

    def matvec(self, x: Any) -> Any:
        x = np.asarray(x)
        if x.shape != (self.shape[1],):
            if np.ndim(x) == 2:
                refuse("matvec of a matrix with one column", "pass np.ravel of it")
            raise ValueError("dimension mismatch")
        return np.reshape(self.product(x), (self.shape[0],))

    def rmatvec(self, x: Any) -> Any:
        if self.adjoint is None:
            raise NotImplementedError("rmatvec is not defined")
        return np.reshape(self.adjoint(np.asarray(x)), (self.shape[1],))

    def __matmul__(self, x: Any) -> Any:
        if np.ndim(x) != 1:
            refuse("the product of a LinearOperator and something else than a vector", "apply it to each column")
        return self.matvec(x)

    def dot(self, x: Any) -> Any:
        return self @ x

    def __mul__(self, x: Any) -> Any:
        return self @ x

    def __call__(self, x: Any) -> Any:
        return self @ x


@defines(sla.LinearOperator)
def linear_operator(
    shape: Any, matvec: Any, rmatvec: Any = None, matmat: Any = None, dtype: Any = None, rmatmat: Any = None
) -> Any:
    return LinearOperator(shape, matvec, rmatvec)


MATRIX_CHANGED = "the matrix of a LinearOperator has changed since it was made: make the operator anew"


@defines(sla.aslinearoperator)
def aslinearoperator(A: Any) -> Any:
    # SciPy copies the matrix when it is first asked for the adjoint.
    if is_sparse(A):
        a = inside(A)
        entries = a.entries.copy()

        def adjoint(x: Any) -> Any:
            require_same(a.entries, entries, MATRIX_CHANGED)
            return a.transpose().conj().dot(x)

        return LinearOperator(a.shape, a.dot, adjoint)
    dense = np.asarray(A)
    if np.ndim(dense) != 2:
        refuse("a LinearOperator of an array that is no matrix", "pass a matrix")
    was = dense.copy()

    def adjoint_of_dense(x: Any) -> Any:
        require_same(dense, was, MATRIX_CHANGED)
        return np.dot(np.conj(np.transpose(dense)), x)

    return LinearOperator(dense.shape, lambda x: np.dot(dense, x), adjoint_of_dense)
