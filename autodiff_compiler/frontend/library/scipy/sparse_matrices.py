"""A sparse matrix that is made in the differentiated function, or that takes part in an operation there.

Its entries may be active. Their places are constant. What SciPy keeps in the formats "csr", "csc" and "coo" is kept as
SciPy does; other formats are kept by row, column and entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ....kernels.scipy import sparse as kernels
from ...definitions import defines, refuse
from .changed import require_same

OUTSIDE = type(sp.csr_matrix((1, 1))).__mro__[-2] if not hasattr(sp._base, "_spbase") else sp._base._spbase
CSR = (sp.csr_matrix, sp.csr_array)
CSC = (sp.csc_matrix, sp.csc_array)
COO = (sp.coo_matrix, sp.coo_array)
DIA = (sp.dia_matrix, sp.dia_array)
MATRICES = sp.spmatrix
COORDS = hasattr(sp.coo_matrix((1, 1)), "coords")
FORMS = ("csr", "csc", "coo")
# Whether `tocoo` copies, and the format of the product by elements, which are not the same in all versions.
_ONE, _LINE = sp.csr_array(np.eye(2)), np.ones((2, 2))


class NAMES:
    """The formats. A look-up asks for a format that is known when the program is compiled."""

    csr = "csr"
    csc = "csc"
    coo = "coo"


COPIED = tuple([not np.shares_memory(m.data, m.tocoo().data) for m in (_ONE.tocsr(), _ONE.tocsc(), _ONE.tocoo())])
MULTIPLIED = tuple([getattr(_ONE, "to" + form)().multiply(_LINE).format for form in FORMS])


class Sparse:
    """A sparse matrix.

    form:   how it is kept: "csr", "csc" or "coo"
    format: what SciPy calls its format
    exact:  its entries are those that SciPy has, in the same order
    single: no two entries are at one place
    """

    __array_priority__ = 10.1
    ndim = 2

    def __init__(
        self, form: Any, entries: Any, i: Any, j: Any, shape: Any, format: Any, is_array: Any,
        exact: Any = True, single: Any = False,
    ) -> None:  # fmt: skip
        self.form = form
        self.entries = entries
        self.i = i
        self.j = j
        self.shape = shape
        self.format = format
        self.is_array = is_array
        self.exact = exact
        self.single = single
        self.twin = False  # another object stands for the same matrix of SciPy's, with entries of its own

    @property
    def known_form(self) -> Any:
        return getattr(NAMES, self.form)

    # --- what it is made of ---------------------------------------------------------------------------------------

    @property
    def data(self) -> Any:
        self.shown("data")
        return self.entries

    @data.setter
    def data(self, value: Any) -> None:
        self.shown("data")
        value = np.asarray(value)
        if value.shape != self.entries.shape:
            raise ValueError("the entries of a sparse matrix keep their number here")
        self.entries = value

    @property
    def indices(self) -> Any:
        self.shown("indices")
        return self.i

    @property
    def indptr(self) -> Any:
        self.shown("indptr")
        return self.j

    @property
    def row(self) -> Any:
        self.shown("row")
        return self.i

    @property
    def col(self) -> Any:
        self.shown("col")
        return self.j

    @property
    def nnz(self) -> Any:
        self.shown("nnz")
        return len(self.entries)

    @property
    def dtype(self) -> Any:
        return self.entries.dtype

    @property
    def size(self) -> Any:
        return self.nnz

    @property
    def T(self) -> Any:
        return self.transpose()

    def getnnz(self, axis: Any = None) -> Any:
        if axis is not None:
            refuse("getnnz along an axis", "count the places with np.bincount")
        return self.nnz

    def shown(self, name: Any) -> Any:
        compressed = self.format == "csr" or self.format == "csc"
        if name in ("indices", "indptr") and not compressed or name in ("row", "col") and self.format != "coo":
            raise AttributeError("a sparse matrix of this format has no such attribute")
        if not self.exact or self.form != self.format:
            refuse(
                "the stored entries of a sparse matrix that an operation has made", "convert it first, with .tocsr()"
            )

    def rows(self) -> Any:
        return self.i if self.form == "coo" else kernels.unpacked(self.j) if self.form == "csr" else self.i

    def columns(self) -> Any:
        return self.j if self.form == "coo" else kernels.unpacked(self.j) if self.form == "csc" else self.i

    def sharing(self, entries: Any, is_array: Any) -> Any:
        """A matrix with these entries, which shares its indices with this one."""
        return Sparse(self.form, entries, self.i, self.j, self.shape, self.format, is_array, self.exact, self.single)

    def like(self, entries: Any) -> Any:
        """The same places with other entries."""
        i, j = self.i.copy(), self.j.copy()
        return Sparse(self.form, entries, i, j, self.shape, self.format, self.is_array, self.exact, self.single)

    def placed(self, entries: Any, row: Any, col: Any, shape: Any, format: Any, single: Any = False) -> Any:
        return Sparse("coo", entries, row, col, shape, format, self.is_array, False, single)

    # --- other formats --------------------------------------------------------------------------------------------

    def compressed(self, form: Any) -> Any:
        if self.form == form and self.exact:
            return self
        i, j, slots = kernels.compressed(form, self.rows(), self.columns(), self.shape)
        entries = kernels.summed(self.entries, slots, len(i))
        exact = self.exact
        return Sparse(form, entries, i, j, self.shape, form, self.is_array, exact, True)

    def converted(self, form: Any, copy: Any) -> Any:
        made = self.compressed(form)
        if made is self:
            return self.copy() if copy else self
        if form == self.format and not copy:  # SciPy has one object here
            made.twin = True
            self.twin = True
        return made

    def tocsr(self, copy: Any = False) -> Any:
        return self.converted("csr", copy)

    def tocsc(self, copy: Any = False) -> Any:
        return self.converted("csc", copy)

    def tocoo(self, copy: Any = None) -> Any:
        if self.format == "coo":
            return self.copy() if copy else self
        if copy is None:
            copy = COPIED[FORMS.index(self.format)] if self.format in FORMS else True
        shape, is_array = self.shape, self.is_array
        made = Sparse("coo", self.entries, self.rows(), self.columns(), shape, "coo", is_array, self.exact, self.single)
        return made.copy() if copy or self.format == "dia" else made

    def asformat(self, format: Any, copy: Any = False) -> Any:
        if format is None or format == self.format:
            return self.copy() if copy else self
        if format not in FORMS:
            refuse("a conversion to this format", 'convert to "csr", "csc" or "coo"')
        return self.tocoo(copy) if format == "coo" else self.converted(format, copy)

    def copy(self) -> Any:
        return self.like(self.entries.copy())

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: Any = True) -> Any:
        if not copy and self.entries.dtype == dtype:
            return self
        return self.like(self.entries.astype(dtype))

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        if out is not None:
            refuse("toarray with out", "use what toarray() returns")
        return kernels.dense(self.known_form, self.entries, self.i, self.j, self.shape)

    def todense(self, order: Any = None, out: Any = None) -> Any:
        if not self.is_array:
            refuse("todense of a sparse matrix, which is an np.matrix", "use toarray()")
        return self.toarray(order, out)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        if axes is not None and axes != (1, 0) and axes != (-1, -2):
            refuse("transpose with axes", "leave them out")
        shape, form = (self.shape[1], self.shape[0]), turned(self.form)
        i, j = (self.j, self.i) if form == "coo" else (self.i, self.j)
        made = Sparse(form, self.entries, i, j, shape, turned(self.format), self.is_array, self.exact, self.single)
        made.twin = self.twin
        return made.copy() if copy or self.format == "dia" else made

    def conjugate(self, copy: Any = True) -> Any:
        if copy:
            return self.like(np.conjugate(self.entries))
        is_complex = np.issubdtype(self.dtype, np.complexfloating)
        return self.sharing(np.conjugate(self.entries), self.is_array) if is_complex else self

    def conj(self, copy: Any = True) -> Any:
        return self.conjugate(copy)

    # --- operators ------------------------------------------------------------------------------------------------

    def __matmul__(self, other: Any) -> Any:
        if is_scalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        if is_sparse(other):
            return matrix_product(self, inside(other))
        other = np.asarray(other)
        if np.ndim(other) == 0:
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        if np.ndim(other) > 2:
            refuse("the product of a sparse matrix and an array of more than two axes", "reshape it to two axes")
        if other.shape[0] != self.shape[1]:
            raise ValueError("matmul: dimension mismatch in the product of a sparse matrix")
        return kernels.product(self.known_form, self.entries, self.i, self.j, self.shape, other)

    def __rmatmul__(self, other: Any) -> Any:
        if is_scalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        if is_sparse(other):
            return matrix_product(inside(other), self)
        return np.transpose(self.transpose() @ np.transpose(np.asarray(other)))

    def dot(self, other: Any) -> Any:
        if is_scalar(other):
            return self.scaled(other)
        return self @ other

    def scaled(self, other: Any) -> Any:
        return self.like(self.entries * other)

    def __mul__(self, other: Any) -> Any:
        return self.multiply(other) if self.is_array else self.dot(other)

    def __rmul__(self, other: Any) -> Any:
        if is_scalar(other):
            return self.scaled(other)
        return self.multiply(other) if self.is_array else self.__rmatmul__(other)

    def __truediv__(self, other: Any) -> Any:
        if not is_scalar(other):
            refuse("a sparse matrix divided by something else than a number", "use A.multiply(1.0 / other)")
        entries = self.entries
        if entries.dtype == np.float32 or np.issubdtype(entries.dtype, np.integer):
            entries = entries.astype(np.float64)
        return self.like(entries * (1.0 / other))

    def __imul__(self, other: Any) -> Any:
        if not is_scalar(other):
            return self * other
        self.scale(other)
        return self

    def __itruediv__(self, other: Any) -> Any:
        if not is_scalar(other):
            return self / other
        self.scale(1.0 / other)
        return self

    def scale(self, factor: Any) -> None:
        if self.twin:
            refuse(
                "a change of a sparse matrix that SciPy takes for the same as another, which was converted to the "
                "format that it had",
                "write A = A * 2.0, or convert with copy=True",
            )
        self.entries *= factor

    def __neg__(self) -> Any:
        return self.like(-self.entries)

    def __add__(self, other: Any) -> Any:
        if is_scalar(other):
            if other == 0:
                return self.copy()
            raise NotImplementedError("adding a nonzero scalar to a sparse array is not supported")
        if is_sparse(other):
            return added(self, inside(other))
        if not self.is_array:
            refuse("a sparse matrix plus a dense array, which is an np.matrix", "use A.toarray() + b")
        return self.toarray() + np.asarray(other)

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        if is_scalar(other):
            if other == 0:
                return self.copy()
            raise NotImplementedError("subtracting a nonzero scalar from a sparse array is not supported")
        if is_sparse(other):
            return added(self, -inside(other))
        if not self.is_array:
            refuse("a sparse matrix minus a dense array, which is an np.matrix", "use A.toarray() - b")
        return self.toarray() - np.asarray(other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __pow__(self, n: Any) -> Any:
        if not self.is_array:
            refuse("a power of a sparse matrix", "write the product A @ A")
        return self.power(n)

    def power(self, n: Any, dtype: Any = None) -> Any:
        if not is_scalar(n):
            raise NotImplementedError("input is not scalar")
        single = self if self.single else self.compressed("csr")
        if not n:
            raise NotImplementedError("zero power is not supported as it would densify the matrix.")
        return single.like(single.entries**n if dtype is None else single.entries.astype(dtype) ** n)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            key = (key, slice(None))
        if len(key) != 2:
            raise IndexError("invalid number of indices")
        first, second = key
        if is_integer(first) and is_integer(second):
            if self.format in ("coo", "dia"):
                raise TypeError("a sparse matrix of this format has no items")
            found = kernels.at(self.rows(), self.columns(), first, second, self.shape)
            return np.sum(self.entries[found])
        if not isinstance(first, slice) and not isinstance(second, slice) and not is_integer(first):
            refuse("an item of a sparse matrix by two arrays", "use A[rows][:, columns]")
        if self.is_array and (is_integer(first) or is_integer(second)):
            refuse("one row or column of a sparse array", "use A[[k]], which has two axes, or A.toarray()[k]")
        if self.format in ("coo", "dia"):
            raise TypeError("a sparse matrix of this format has no items")
        return self.part(first, second, self.format)

    def part(self, first: Any, second: Any, format: Any) -> Any:
        """Some of the rows and columns."""
        made = self.copy()
        if not is_everything(first):
            made = matrix_product(selection(numbers(first, self.shape[0]), self.shape[0], self), made)
        if not is_everything(second):
            chosen = selection(numbers(second, self.shape[1]), self.shape[1], self)
            made = matrix_product(made, chosen.transpose())
        return Sparse(made.form, made.entries, made.i, made.j, made.shape, format, self.is_array, False, made.single)

    # --- by elements ----------------------------------------------------------------------------------------------

    def multiply(self, other: Any) -> Any:
        if is_scalar(other):
            return self.scaled(other)
        if is_sparse(other):
            other = inside(other)
            mine, its = self.uniquely(), other.uniquely()
            if self.shape != other.shape:
                raise ValueError("inconsistent shapes, and sparse matrices are not broadcast here")
            row, col = mine.rows(), mine.columns()
            left, right = kernels.common(row, col, its.rows(), its.columns(), self.shape)
            return self.placed(mine.entries[left] * its.entries[right], row[left], col[left], self.shape, "csr", True)
        other = np.asarray(other)
        if np.ndim(other) == 0:
            return self.scaled(other)
        if np.ndim(other) > 2:
            raise ValueError("inconsistent shapes")
        row, col = self.rows(), self.columns()
        entries = self.entries * np.broadcast_to(other, self.shape)[row, col]
        format = MULTIPLIED[FORMS.index(self.format)] if self.format in FORMS else "csr"
        exact = self.exact and format == "coo"
        return Sparse("coo", entries, row, col, self.shape, format, self.is_array, exact, self.single)

    def uniquely(self) -> Any:
        return self if self.single else self.compressed("csr")

    def __abs__(self) -> Any:
        own = self.uniquely()
        return own.like(np.abs(own.entries))

    def mapped(self, fn: Any) -> Any:
        own = self.uniquely()
        return own.like(fn(own.entries))

    def sqrt(self) -> Any:
        return self.mapped(np.sqrt)

    def sin(self) -> Any:
        return self.mapped(np.sin)

    def tanh(self) -> Any:
        return self.mapped(np.tanh)

    def expm1(self) -> Any:
        return self.mapped(np.expm1)

    def log1p(self) -> Any:
        return self.mapped(np.log1p)

    # --- sums -----------------------------------------------------------------------------------------------------

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if dtype is not None or out is not None:
            refuse("the sum of a sparse matrix with dtype or out", "convert it with astype first")
        if axis is None:
            return np.sum(self.entries)
        if not self.is_array:
            refuse("the sum of a sparse matrix along an axis, which is an np.matrix", "use A @ np.ones(A.shape[1])")
        if axis not in (0, 1, -1, -2):
            raise ValueError("axis out of range")
        dtype = np.int64 if np.issubdtype(self.dtype, np.integer) else self.dtype
        if axis in (0, -2):
            return self.transpose() @ np.ones(self.shape[0], dtype=dtype)
        return self @ np.ones(self.shape[1], dtype=dtype)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if axis is None:
            return self.sum(None, dtype, out) / (self.shape[0] * self.shape[1])
        return self.sum(axis, dtype, out) / self.shape[0 if axis in (0, -2) else 1]

    def trace(self, offset: Any = 0) -> Any:
        return np.sum(self.diagonal(offset))

    def diagonal(self, k: Any = 0) -> Any:
        row, col = self.rows(), self.columns()
        found = kernels.chosen(row, col, "on", k)
        length = max(min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0)), 0)
        return kernels.summed(self.entries[found], row[found] + min(k, 0), length)

    # --- changes --------------------------------------------------------------------------------------------------

    def getrow(self, i: Any) -> Any:
        if self.is_array:
            raise AttributeError("a sparse array has no attribute 'getrow'")
        return self.part([i], slice(None), "csr")

    def getcol(self, j: Any) -> Any:
        if self.is_array:
            raise AttributeError("a sparse array has no attribute 'getcol'")
        return self.part(slice(None), [j], "csc" if self.format == "csc" else "csr")

    def setdiag(self, values: Any, k: Any = 0) -> None:
        refuse("a change of a sparse matrix", "add a matrix to it: A + scipy.sparse.diags(...)")

    def __setitem__(self, key: Any, value: Any) -> None:
        refuse("a store into a sparse matrix", "make it from its entries: csr_matrix((data, (rows, columns)))")

    def __bool__(self) -> Any:
        raise ValueError("The truth value of an array with more than one element is ambiguous.")

    def __len__(self) -> Any:
        raise TypeError("sparse array length is ambiguous; use getnnz()")

    def __iter__(self) -> Any:
        refuse("the rows of a sparse matrix, one by one", "use A[k] with a counter, or toarray()")

    def __eq__(self, other: Any) -> Any:
        refuse("a comparison of sparse matrices", "compare what toarray() gives")

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of a sparse matrix", "use its entries, or toarray()")


class Diagonals(Sparse):
    """A sparse matrix of the format "dia", whose diagonals SciPy shares with the program.

    diagonals: the array of the diagonals
    line:      for each entry the number of its diagonal
    """

    def __init__(self, diagonals: Any, offsets: Any, shape: Any, is_array: Any) -> None:
        self.form = "coo"
        self.diagonals = diagonals
        self.line, self.i, self.j = kernels.diagonals(offsets, diagonals.shape[1], shape)
        self.shape = shape
        self.format = "dia"
        self.is_array = is_array
        self.exact = False
        self.single = True
        self.twin = False
        self.offsets = self.then = None
        if offsets.dtype == np.int32:  # SciPy copies others
            self.offsets, self.then = offsets, offsets.copy()

    @property
    def entries(self) -> Any:
        if self.offsets is not None:
            require_same(self.offsets, self.then, OFFSETS_CHANGED)
        return self.diagonals[self.line, self.j]

    def scale(self, factor: Any) -> None:
        self.diagonals *= factor


OFFSETS_CHANGED = "the offsets of a sparse matrix have changed since it was made: make the matrix anew"

# --- helpers ----------------------------------------------------------------------------------------------------------


class Building:
    """A sparse matrix whose entries are being stored: a lil_matrix or a dok_matrix.

    dense:  its entries, and zeros
    stored: whether there is an entry
    """

    __array_priority__ = 10.1
    ndim = 2

    def __init__(self, dense: Any, stored: Any, format: Any, is_array: Any) -> None:
        self.dense = dense
        self.stored = stored
        self.format = format
        self.is_array = is_array

    @property
    def shape(self) -> Any:
        return self.dense.shape

    @property
    def dtype(self) -> Any:
        return self.dense.dtype

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_sparse(value):
            refuse("a store of a sparse matrix into another", "store value.toarray()")
        self.dense[key] = value
        self.stored[key] = True

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple) or len(key) != 2 or not is_integer(key[0]) or not is_integer(key[1]):
            refuse("a part of a sparse matrix of this format", "convert it first, with .tocsr()")
        return self.dense[key]

    def setdiag(self, values: Any, k: Any = 0) -> None:
        m, n = self.dense.shape
        values = np.asarray(values)
        length = min(m + min(k, 0), n - max(k, 0))
        if length <= 0:
            raise ValueError("k exceeds array dimensions")
        if np.ndim(values) > 1:
            refuse("setdiag with several axes", "pass np.ravel of the values")
        if np.ndim(values) == 1:
            length = min(length, len(values))
            values = values[:length]
        places = np.arange(length)
        self[places - min(k, 0), places + max(k, 0)] = values

    def tocoo(self, copy: Any = False) -> Any:
        row, col = np.nonzero(self.stored)
        return Sparse("coo", self.dense[row, col], row, col, self.dense.shape, "coo", self.is_array, False, True)

    def tocsr(self, copy: Any = False) -> Any:
        return self.tocoo().tocsr()

    def tocsc(self, copy: Any = False) -> Any:
        return self.tocoo().tocsc()

    def asformat(self, format: Any, copy: Any = False) -> Any:
        if format is None or format == self.format:
            return self.copy() if copy else self
        return self.tocoo().asformat(format)

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        if out is not None:
            refuse("toarray with out", "use what toarray() returns")
        return self.dense.copy()

    def copy(self) -> Any:
        return Building(self.dense.copy(), self.stored.copy(), self.format, self.is_array)

    def __matmul__(self, other: Any) -> Any:
        return self.tocsr() @ other

    def dot(self, other: Any) -> Any:
        return self.tocsr().dot(other)

    def __getattr__(self, name: Any) -> Any:
        refuse("this of a sparse matrix that is being built", "convert it first, with .tocsr()")


def is_scalar(x: Any) -> Any:
    """What SciPy takes for a number."""
    return isinstance(x, (int, float, complex, np.generic))


def turned(form: Any) -> Any:
    """The format of the transposed matrix."""
    return "csc" if form == "csr" else "csr" if form == "csc" else form


def is_integer(x: Any) -> Any:
    return isinstance(x, (int, np.integer))


def is_sparse(x: Any) -> Any:
    return isinstance(x, (Sparse, Building, OUTSIDE))


def is_everything(key: Any) -> Any:
    return isinstance(key, slice) and key.start is None and key.stop is None and key.step is None


def numbers(key: Any, length: Any) -> Any:
    """The rows that a subscript chooses."""
    if is_integer(key):
        return np.arange(length)[[key]]
    if not isinstance(key, slice) and np.ndim(key) != 1:
        refuse("this subscript of a sparse matrix", "use a slice or an array of numbers")
    return np.arange(length)[key]


def selection(chosen: Any, length: Any, like: Any) -> Any:
    """The matrix whose product with another has these of its rows."""
    count = len(chosen)
    ones = np.ones(count, dtype=like.dtype)
    return Sparse("coo", ones, np.arange(count), chosen, (count, length), "coo", like.is_array, False, True)


def inside(x: Any) -> Any:
    """A matrix that was made elsewhere, by its entries and their places."""
    if isinstance(x, Sparse):
        return x
    if isinstance(x, Building):
        return x.tocoo()
    is_array = not isinstance(x, MATRICES)
    if len(x._shape) != 2:
        refuse("a sparse array that has not two axes", "use a dense array")
    if type(x) in CSR:
        return Sparse("csr", x.data, x.indices, x.indptr, x._shape, "csr", is_array)
    if type(x) in CSC:
        return Sparse("csc", x.data, x.indices, x.indptr, x._shape, "csc", is_array)
    if type(x) in COO:
        if COORDS:
            return Sparse("coo", x.data, x.coords[0], x.coords[1], x._shape, "coo", is_array)
        return Sparse("coo", x.data, x.row, x.col, x._shape, "coo", is_array)
    if type(x) in DIA:
        return from_diagonals(x.data, x.offsets, x._shape, is_array)
    refuse("a sparse matrix of this format", "convert it first, with .tocsr()")


def from_diagonals(data: Any, offsets: Any, shape: Any, is_array: Any) -> Any:
    return Diagonals(data, np.atleast_1d(np.asarray(offsets)), shape, is_array)


def added(a: Any, b: Any) -> Any:
    if a.shape != b.shape:
        raise ValueError("inconsistent shapes")
    entries = np.concatenate((a.entries, b.entries))
    row, col = np.concatenate((a.rows(), b.rows())), np.concatenate((a.columns(), b.columns()))
    return a.placed(entries, row, col, a.shape, "dia" if a.format == b.format == "dia" else "csr")


def matrix_product(a: Any, b: Any) -> Any:
    if a.shape[1] != b.shape[0]:
        raise ValueError("matmul: dimension mismatch in the product of sparse matrices")
    row, col = a.rows(), b.columns()
    left, right = kernels.pairs(a.columns(), b.rows(), a.shape[1])
    entries = a.entries[left] * b.entries[right]
    return a.placed(entries, row[left], col[right], (a.shape[0], b.shape[1]), "csc" if a.format == "csc" else "csr")


# --- matrices from outside --------------------------------------------------------------------------------------------

_METHODS = (
    "copy", "tocsr", "tocsc", "tocoo", "asformat", "astype", "toarray", "todense", "transpose", "conjugate", "conj",
    "dot", "power", "multiply", "sum", "mean", "trace", "diagonal", "__matmul__", "__rmatmul__",
    "__mul__", "__rmul__", "__truediv__", "__neg__", "__add__", "__radd__", "__sub__", "__rsub__", "__pow__",
    "__getitem__", "__abs__", "sqrt", "sin", "tanh", "expm1", "log1p", "getrow", "getcol",
)  # fmt: skip


def _of_outside(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(inside(self), name)(*args, **kwargs)

    return method


def _raw(name: str) -> list[Any]:
    """What SciPy's classes have under the name."""
    classes = {base for cls in (*CSR, *CSC, *COO, *DIA) for base in cls.__mro__ if base is not object}
    found = [vars(base)[name] for base in sorted(classes, key=lambda c: c.__name__) if name in vars(base)]
    return [raw for raw in found if hasattr(raw, "__code__")]


for _name in _METHODS:
    if _raw(_name):
        defines(*_raw(_name))(_of_outside(_name))


def _getters(name: str) -> list[Any]:
    """The functions behind a property of SciPy's classes."""
    classes = {base for cls in (*CSR, *CSC, *COO, *DIA) for base in cls.__mro__ if base is not object}
    found = [vars(base).get(name) for base in sorted(classes, key=lambda c: c.__name__)]
    return [raw.fget for raw in found if isinstance(raw, property)]


@defines(*_getters("T"))
def transposed(self: Any) -> Any:
    return inside(self).transpose()


@defines(*_getters("nnz"), *_raw("getnnz"))
def nnz(self: Any, axis: Any = None) -> Any:
    if type(self) in DIA:
        refuse("nnz of a sparse matrix of diagonals", "convert it first, with .tocsr()")
    return inside(self).getnnz(axis)


@defines(*_getters("shape"), *_raw("get_shape"))
def shape_of(self: Any) -> Any:
    return self._shape


@defines(*_getters("ndim"))
def ndim_of(self: Any) -> Any:
    return len(self._shape)


@defines(*_getters("dtype"))
def dtype_of(self: Any) -> Any:
    return self.data.dtype


@defines(sp.issparse)
def issparse(x: Any) -> Any:
    return is_sparse(x)
