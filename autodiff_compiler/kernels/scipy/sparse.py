"""Products, sums and solves of sparse matrices that are given by plain arrays.

A matrix is its format, its entries and two arrays of indices. For "csr" and "csc" these are `indices` and `indptr`,
for "coo" the rows and the columns. Entries at one place add up.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

_CLASSES = {"csr": sp.csr_array, "csc": sp.csc_array}


def matrix(form: str, data: Any, i: Any, j: Any, shape: Any) -> Any:
    """The sparse array of SciPy's."""
    if form == "coo":
        return sp.coo_array((data, (i, j)), shape=shape)
    return _CLASSES[form]((data, i, j), shape=shape)


def product(form: str, data: Any, i: Any, j: Any, shape: Any, x: Any) -> Any:
    """``A @ x`` for a vector or a matrix `x`."""
    # SciPy 1.17 makes a number of the product of a `coo_array` with one row.
    return np.reshape(matrix(form, data, i, j, shape) @ x, (shape[0], *np.shape(x)[1:]))


def dense(form: str, data: Any, i: Any, j: Any, shape: Any) -> Any:
    """``A.toarray()``."""
    return matrix(form, data, i, j, shape).toarray()


def summed(data: Any, slots: Any, count: Any) -> Any:
    """An array of `count` numbers: `data[k]` is added at `slots[k]`."""
    out = np.zeros(count, dtype=np.asarray(data).dtype)
    np.add.at(out, slots, data)
    return out


# --- places -----------------------------------------------------------------------------------------------------------


def unpacked(indptr: Any) -> Any:
    """For each entry of a compressed matrix its row ("csr") or its column ("csc")."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def compressed(form: str, row: Any, col: Any, shape: Any) -> tuple[Any, Any, Any]:
    """The indices of the "csr" or "csc" matrix with these places, and for each place the number of its entry."""
    major, minor = (row, col) if form == "csr" else (col, row)
    order = np.lexsort((minor, major))
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(major[order]) != 0) | (np.diff(minor[order]) != 0)
    slots = np.empty(len(order), dtype=np.int64)
    slots[order] = np.cumsum(first) - 1
    held = order[first]
    counts = np.bincount(major[held], minlength=shape[0] if form == "csr" else shape[1])
    return np.asarray(minor[held], dtype=np.int64), np.concatenate(([0], np.cumsum(counts))), slots


def pairs(col: Any, row: Any, count: Any) -> tuple[Any, Any]:
    """For ``A @ B``: the pairs of an entry of A and one of B that are multiplied, from A's columns and B's rows."""
    order = np.argsort(row, kind="stable")
    starts = np.searchsorted(row[order], np.arange(count + 1))
    lengths = np.diff(starts)[col]
    left = np.repeat(np.arange(len(col)), lengths)
    within = np.arange(len(left)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return left, order[starts[col[left]] + within]


def common(row: Any, col: Any, other_row: Any, other_col: Any, shape: Any) -> tuple[Any, Any]:
    """The pairs of entries that two matrices have at the same places. No place may be there twice."""
    mine = np.asarray(row, dtype=np.int64) * shape[1] + col
    its = np.asarray(other_row, dtype=np.int64) * shape[1] + other_col
    _, left, right = np.intersect1d(mine, its, assume_unique=True, return_indices=True)
    return left, right


def chosen(row: Any, col: Any, kind: str, k: Any) -> Any:
    """Which entries are on, below ("tril") or above ("triu") a diagonal."""
    offset = np.asarray(col, dtype=np.int64) - row
    return np.flatnonzero(offset == k if kind == "on" else offset <= k if kind == "tril" else offset >= k)


def at(row: Any, col: Any, i: Any, j: Any, shape: Any) -> Any:
    """The entries at one place."""
    i, j = range(shape[0])[i], range(shape[1])[j]
    return np.flatnonzero((row == i) & (col == j))


def diagonals(offsets: Any, width: Any, shape: Any) -> tuple[Any, Any, Any]:
    """Of a matrix in the format "dia" with diagonals of this length: of each entry the diagonal, the row and column."""
    offsets = np.asarray(offsets)
    col = np.arange(width)[None, :] + np.zeros(len(offsets), dtype=int)[:, None]
    row = col - offsets[:, None]
    inside = (row >= 0) & (row < shape[0]) & (col < shape[1])
    return np.nonzero(inside)[0], row[inside], col[inside]


# --- solves -----------------------------------------------------------------------------------------------------------


class _Singular:
    """Stands for the factors of a singular matrix."""

    def solve(self, b: Any, trans: str = "N") -> Any:
        return np.full_like(b, np.nan)


def factors(form: str, data: Any, i: Any, j: Any, shape: Any, singular: Any = True) -> Any:
    """The factors of a square matrix, as `scipy.sparse.linalg.splu` makes them. singular: such a matrix gives nan."""
    a = matrix(form, data, i, j, shape).tocsc()
    if a.dtype.char not in "fdFD":
        a = a.astype(np.float64)
    try:
        return sla.splu(a)
    except RuntimeError:
        if not singular:
            raise
        warnings.warn("Matrix is exactly singular", sla.MatrixRankWarning, stacklevel=2)
        return _Singular()


def solved(form: str, data: Any, i: Any, j: Any, shape: Any, b: Any, lu: Any, trans: str = "N") -> Any:
    """The solution of ``A @ x = b``, from the factors of A; "T": of ``A.T @ x = b``."""
    b = np.asarray(b)
    dtype = np.result_type(data, b, np.float32)
    if dtype.kind == "c" and np.asarray(data).dtype.kind != "c":
        return solved(form, data, i, j, shape, b.real, lu, trans) + 1j * solved(
            form, data, i, j, shape, b.imag, lu, trans
        )
    own = np.result_type(data, np.float32)
    return lu.solve(np.asarray(b, dtype=own if own.char in "fdFD" else float), trans).astype(dtype, copy=False)


def iterated(
    form: str, data: Any, i: Any, j: Any, shape: Any, b: Any, start: Any, method: Any, options: Any
) -> tuple[Any, Any]:
    """The solution of ``A @ x = b`` by an iteration of `scipy.sparse.linalg`, and what that says of itself."""
    x, info = getattr(sla, method)(matrix(form, data, i, j, shape), b, x0=start, **dict(options))
    return x, int(info)


# --- functions of a matrix --------------------------------------------------------------------------------------------


def eigenpairs(form: str, data: Any, i: Any, j: Any, shape: Any, k: Any, options: Any) -> tuple[Any, Any]:
    """Some eigenvalues of a symmetric matrix, and their vectors."""
    w, v = sla.eigsh(matrix(form, data, i, j, shape), k, **dict(options))
    return w, v


def deflated(form: str, data: Any, i: Any, j: Any, shape: Any, w: Any, v: Any, g: Any) -> Any:
    """For each eigenpair the solution of ``(A - w I) u = g`` that is orthogonal to the vector, as `g` is made to be."""
    a = matrix(form, data, i, j, shape)
    out = np.empty_like(g)
    for m in range(len(w)):
        vector = sp.csc_array(v[:, m : m + 1])
        bordered = sp.block_array if hasattr(sp, "block_array") else sp.bmat
        system = bordered([[a - w[m] * sp.identity(shape[0]), vector], [vector.T, None]], format="csc")
        out[:, m] = sla.splu(sp.csc_matrix(system)).solve(np.append(g[:, m], 0.0).astype(system.dtype))[:-1]
    return out


def propagated(form: str, data: Any, i: Any, j: Any, shape: Any, x: Any) -> Any:
    """``expm(A) @ x``."""
    a = matrix(form, data, i, j, shape)
    return sla.expm_multiply(a, np.asarray(x), traceA=a.trace())
