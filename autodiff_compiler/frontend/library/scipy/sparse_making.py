"""Functions and classes that make sparse matrices: from entries, from diagonals, from blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ....kernels.scipy import sparse as kernels
from ...definitions import defines, refuse
from .sparse_matrices import FORMS, Sparse, from_diagonals, inside, is_integer, is_sparse

# --- from entries -----------------------------------------------------------------------------------------------------


def length_of(shape: Any) -> Any:
    if len(shape) != 2:
        refuse("a sparse array that has not two axes", "use a dense array")
    return shape


def typed(data: Any, dtype: Any) -> Any:
    data = np.asarray(data)
    return data if dtype is None else data.astype(dtype, copy=False)


def kept(first: Any, second: Any, is_array: Any) -> Any:
    """Two arrays of indices: those of the program's where SciPy takes them as they are, else copies."""
    first, second = np.asarray(first), np.asarray(second)
    wide = is_array and not (np.can_cast(first.dtype, np.int32) and np.can_cast(second.dtype, np.int32))
    dtype = np.int64 if wide else np.int32
    return first if first.dtype == dtype else first.copy(), second if second.dtype == dtype else second.copy()


def from_dense(x: Any, is_array: Any) -> Any:
    """All entries of a dense array, also those that are zero, because a derivative by them need not be."""
    x = np.asarray(x)
    if np.ndim(x) == 1 and not is_array:
        x = np.reshape(x, (1, -1))
    if np.ndim(x) != 2:
        refuse("a sparse array that has not two axes", "use a dense array")
    m, n = x.shape
    row, col = np.repeat(np.arange(m), n), np.tile(np.arange(n), m)
    return Sparse("coo", x.flatten(), row, col, (m, n), "coo", is_array, False, True)


def from_places(data: Any, places: Any, shape: Any, dtype: Any, is_array: Any) -> Any:
    row, col = kept(places[0], places[1], is_array)
    data = typed(data, dtype)
    if np.ndim(data) != 1:
        refuse("entries that are not a vector", "pass np.ravel of them")
    if len(row) != len(data) or len(col) != len(data):
        raise ValueError("all index and data arrays must have the same length")
    if shape is None:
        shape = (int(np.max(row)) + 1, int(np.max(col)) + 1)
    return Sparse("coo", data, row, col, length_of(shape), "coo", is_array)


def from_compressed(form: Any, arg: Any, shape: Any, dtype: Any, is_array: Any) -> Any:
    i, j = kept(arg[1], arg[2], is_array)
    data = typed(arg[0], dtype)
    if len(data) != len(i):
        raise ValueError("indices and data should have the same size")
    if shape is None:
        shape = (len(j) - 1, int(np.max(i)) + 1) if form == "csr" else (int(np.max(i)) + 1, len(j) - 1)
    return Sparse(form, data, i, j, length_of(shape), form, is_array)


def made(form: Any, arg: Any, shape: Any, dtype: Any, is_array: Any) -> Any:
    """What a class of SciPy's makes of its first argument."""
    if is_sparse(arg):
        x = inside(arg)
        x = x.tocoo() if form == "coo" else x.asformat(form)
        return x.sharing(typed(x.entries, dtype), is_array)
    if isinstance(arg, tuple) and len(arg) == 2 and is_integer(arg[0]) and is_integer(arg[1]):
        none = np.zeros(0, dtype=int)
        zeros = np.zeros(0, dtype=np.float64 if dtype is None else dtype)
        return Sparse("coo", zeros, none, none, arg, "coo", is_array).asformat(form)
    if isinstance(arg, tuple) and len(arg) == 2:
        return from_places(arg[0], arg[1], shape, dtype, is_array).asformat(form)
    if isinstance(arg, tuple) and len(arg) == 3 and form != "coo":
        return from_compressed(form, arg, shape, dtype, is_array)
    if isinstance(arg, tuple):
        refuse("this argument of a sparse matrix", "pass (data, (rows, columns))")
    x = from_dense(arg, is_array)
    x = x.asformat(form)
    return x if dtype is None else x.astype(dtype)


def _of_class(form: str, is_array: bool) -> Any:
    def make(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
        x = made(form, arg1, shape, dtype, is_array)
        return x.copy() if copy else x

    return make


for _form in FORMS:
    defines(getattr(sp, _form + "_matrix"))(_of_class(_form, False))
    defines(getattr(sp, _form + "_array"))(_of_class(_form, True))


# --- from diagonals ---------------------------------------------------------------------------------------------------


def _of_dia(is_array: bool) -> Any:
    def make(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
        if not isinstance(arg1, tuple) or is_integer(arg1[0]) or shape is None:
            refuse("this argument of a dia_matrix", "pass (data, offsets) and a shape, or use scipy.sparse.diags")
        data = typed(arg1[0], dtype)
        offsets = np.atleast_1d(np.asarray(arg1[1]))
        x = from_diagonals(np.atleast_2d(data), offsets, length_of(shape), is_array)
        return x.copy() if copy else x

    return make


defines(sp.dia_matrix)(_of_dia(False))
defines(sp.dia_array)(_of_dia(True))


@defines(sp.spdiags)
def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> Any:
    if m is None:
        refuse("spdiags without a shape", "pass m and n")
    shape = (m, n) if n is not None else m
    offsets = np.atleast_1d(np.asarray(diags))
    return from_diagonals(np.atleast_2d(np.asarray(data)), offsets, shape, False).asformat(format)


def of_diagonals(diagonals: Any, offsets: Any, shape: Any, format: Any, dtype: Any, is_array: Any) -> Any:
    if np.ndim(offsets) == 0:
        offsets = [offsets]
        if isinstance(diagonals, (list, tuple)):
            single = len(diagonals) == 0 or np.ndim(diagonals[0]) == 0
        else:
            single = np.ndim(diagonals) < 2
        if single:
            diagonals = [np.atleast_1d(diagonals)]
    if len(diagonals) != len(offsets):
        raise ValueError("Different number of diagonals and offsets.")
    parts = [np.asarray(d) for d in diagonals]
    starts = [int(k) for k in offsets]
    if shape is None:
        m = len(parts[0]) + abs(starts[0])
        shape = (m, m)
    m, n = length_of(shape)
    entries, rows, cols = [], [], []
    for d, k in zip(parts, starts):
        d = np.atleast_1d(d)
        length = min(m + k, n) if k < 0 else min(m, n - k) if k > 0 else min(m, n)
        if length < 0:
            raise ValueError("Offset out of bounds")
        if len(d) != length and len(d) != 1:
            raise ValueError("a diagonal does not agree with the shape of the matrix")
        entries.append(np.broadcast_to(d, (length,)))
        along = np.arange(length)
        rows.append(along - k if k < 0 else along)
        cols.append(along + k if k > 0 else along)
    data = np.concatenate(entries)
    if dtype is not None:
        data = data.astype(dtype)
    elif np.issubdtype(data.dtype, np.integer):
        data = data.astype(np.float64)
    row, col = np.concatenate(rows), np.concatenate(cols)
    return Sparse("coo", data, row, col, shape, "dia", is_array, False, True).asformat(format)


@defines(sp.diags)
def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None) -> Any:
    return of_diagonals(diagonals, offsets, shape, format, dtype, False)


if hasattr(sp, "diags_array"):

    @defines(sp.diags_array)
    def diags_array(
        diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
    ) -> Any:
        return of_diagonals(diagonals, offsets, shape, format, dtype, True)


def ones_on(m: Any, n: Any, k: Any, dtype: Any, format: Any, is_array: Any) -> Any:
    n = m if n is None else n
    length = max(min(m + min(k, 0), n - max(k, 0)), 0)
    row, col = np.arange(length) + max(0, -k), np.arange(length) + max(0, k)
    format = "dia" if format is None else format
    made = Sparse("coo", np.ones(length, dtype=dtype), row, col, (m, n), "coo", is_array, True, True)
    if format == "dia":
        return Sparse("coo", made.entries, row, col, (m, n), "dia", is_array, False, True)
    return made.asformat(format)


@defines(sp.eye)
def eye(m: Any, n: Any = None, k: Any = 0, dtype: Any = float, format: Any = None) -> Any:
    return ones_on(m, n, k, dtype, format, False)


@defines(sp.identity)
def identity(n: Any, dtype: Any = "d", format: Any = None) -> Any:
    return ones_on(n, n, 0, dtype, format, False)


if hasattr(sp, "eye_array"):

    @defines(sp.eye_array)
    def eye_array(m: Any, n: Any = None, *, k: Any = 0, dtype: Any = float, format: Any = None) -> Any:
        return ones_on(m, n, k, dtype, format, True)


# --- from other matrices ----------------------------------------------------------------------------------------------


def is_of_arrays(x: Any) -> Any:
    return x.is_array if isinstance(x, Sparse) else is_sparse(x) and inside(x).is_array


def any_array(items: Any) -> Any:
    """One of these is a sparse array, and not a sparse matrix."""
    return any(x is not None and is_of_arrays(x) for x in items)


def coo(x: Any, is_array: Any) -> Any:
    """A matrix, sparse or dense."""
    return inside(x) if is_sparse(x) else from_dense(np.atleast_2d(np.asarray(x)), is_array)


@defines(sp.kron)
def kron(A: Any, B: Any, format: Any = None) -> Any:
    is_array = any_array([A, B])
    a, b = coo(A, is_array), coo(B, is_array)
    entries = np.ravel(a.entries[:, None] * b.entries)
    row = np.ravel(a.rows()[:, None] * b.shape[0] + b.rows())
    col = np.ravel(a.columns()[:, None] * b.shape[1] + b.columns())
    shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    return Sparse("coo", entries, row, col, shape, "coo", is_array, False, False).asformat(format)


@defines(sp.kronsum)
def kronsum(A: Any, B: Any, format: Any = None) -> Any:
    is_array = any_array([A, B])
    a, b = coo(A, is_array), coo(B, is_array)
    if a.shape[0] != a.shape[1] or b.shape[0] != b.shape[1]:
        raise ValueError("A and B must be square")
    left = kron(ones_on(b.shape[0], None, 0, a.dtype, "coo", is_array), a)
    right = kron(b, ones_on(a.shape[0], None, 0, b.dtype, "coo", is_array))
    return (left + right).asformat(format)


def of_blocks(parts: Any, shape: Any, format: Any, dtype: Any, is_array: Any) -> Any:
    """The matrix of several, each with the row and column at which it begins."""
    data = np.concatenate([a.entries for a, _, _ in parts])
    row = np.concatenate([a.rows() + i for a, i, _ in parts])
    col = np.concatenate([a.columns() + j for a, _, j in parts])
    made = Sparse("coo", data, row, col, shape, "coo", is_array, False, False).asformat(format)
    return made if dtype is None else made.astype(dtype)


def stacked(blocks: Any, format: Any, dtype: Any, axis: Any) -> Any:
    blocks = list(blocks)
    is_array = any_array(blocks)
    items = [coo(x, is_array) for x in blocks]
    parts, start, other = [], 0, items[0].shape[1 - axis]
    for a in items:
        if a.shape[1 - axis] != other:
            raise ValueError("incompatible dimensions of blocks")
        parts.append((a, start, 0) if axis == 0 else (a, 0, start))
        start = start + a.shape[axis]
    shape = (start, other) if axis == 0 else (other, start)
    return of_blocks(parts, shape, format, dtype, is_array)


@defines(sp.vstack)
def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return stacked(blocks, format, dtype, 0)


@defines(sp.hstack)
def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return stacked(blocks, format, dtype, 1)


@defines(sp.block_diag)
def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> Any:
    mats = list(mats)
    is_array = any_array(mats)
    parts, m, n = [], 0, 0
    for x in mats:
        a = coo(x, is_array)
        parts.append((a, m, n))
        m, n = m + a.shape[0], n + a.shape[1]
    return of_blocks(parts, (m, n), format, dtype, is_array)


def in_grid(blocks: Any, format: Any, dtype: Any, is_array: Any) -> Any:
    rows: Any = [[None if x is None else coo(x, is_array) for x in row] for row in blocks]
    parts, m = [], 0
    widths = []
    for k in list(range(len(rows[0]))):
        given = [row[k] for row in rows if row[k] is not None]
        if not given:
            raise ValueError("a column of blocks is all None")
        widths.append(given[0].shape[1])
    for row in rows:
        given = [a for a in row if a is not None]
        if not given:
            raise ValueError("a row of blocks is all None")
        height, n = given[0].shape[0], 0
        for a, width in zip(row, widths):
            if a is not None:
                if a.shape[0] != height or a.shape[1] != width:
                    raise ValueError("incompatible dimensions of blocks")
                parts.append((a, m, n))
            n = n + width
        m = m + height
    return of_blocks(parts, (m, n), format, dtype, is_array)


def any_in_grid(blocks: Any) -> Any:
    return any(any_array(row) for row in blocks)


@defines(sp.bmat)
def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return in_grid(blocks, format, dtype, any_in_grid(blocks))


if hasattr(sp, "block_array"):

    @defines(sp.block_array)
    def block_array(blocks: Any, *, format: Any = None, dtype: Any = None) -> Any:
        return in_grid(blocks, format, dtype, True)


def part_of(A: Any, kind: Any, k: Any, format: Any) -> Any:
    a = coo(A, is_of_arrays(A))
    row, col = a.rows(), a.columns()
    held = kernels.chosen(row, col, kind, k)
    made = Sparse("coo", a.entries[held], row[held], col[held], a.shape, "coo", a.is_array, a.exact, a.single)
    return made.asformat(format)


@defines(sp.tril)
def tril(A: Any, k: Any = 0, format: Any = None) -> Any:
    return part_of(A, "tril", k, format)


@defines(sp.triu)
def triu(A: Any, k: Any = 0, format: Any = None) -> Any:
    return part_of(A, "triu", k, format)
