"""`scipy.sparse`: what is computed of the entries of sparse matrices. The places of the entries are constant.

A cotangent of the entries has an item for each of them, so that it is as sparse as the matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.core import Builder, type_of
from ...ir.ops_common import as_array, mixed_dtype, shape_dims
from ...ir.types import ANY, OBJECT, Ty, array
from ...kernels.scipy import sparse as kernels
from ..lib import call, ndim, part, symbolic, unsupported
from ..record import op, vjp

MATRIX = "form, data: array, i, j, shape"
TRANSPOSED = {"csr": "csc", "csc": "csr", "coo": "coo"}


def _known(form: Any) -> None:
    if symbolic(form):
        raise unsupported(
            "this sparse matrix has another format on another path, or in another iteration of a loop",
            "convert it on each path, and before the loop and at the end of its body, with .tocsr()",
        )


def _transposed(form: str, i: Any, j: Any, shape: Any) -> tuple[Any, ...]:
    """The format, indices and shape of the transposed matrix."""
    _known(form)
    return TRANSPOSED[form], *((j, i) if form == "coo" else (i, j)), (shape[1], shape[0])


def places(form: str, i: Any, j: Any) -> tuple[Any, Any]:
    """The row and the column of each entry."""
    _known(form)
    if form == "coo":
        return i, j
    others = call(kernels.unpacked, j)
    return (others, i) if form == "csr" else (i, others)


def _outer(form: str, i: Any, j: Any, left: Any, right: Any) -> Any:
    """The entries of ``left @ right.T`` at the places of a matrix."""
    row, col = places(form, i, j)
    if ndim(left) == 1:
        return part(left, (row,)) * part(right, (col,))
    return call(np.sum, part(left, (row,)) * part(right, (col,)), axis=1)


# --- products ---------------------------------------------------------------------------------------------------------


def _dtype(b: Builder, *arrays: Any) -> np.dtype[Any] | None:
    types = [as_array(b, x) for x in arrays]
    return mixed_dtype(types) if all(t.kind == "array" for t in types) else None


def _product_type(b: Builder, form: Any, data: Any, i: Any, j: Any, shape: Any, x: Any) -> Ty:
    dims, t = shape_dims(b, shape), as_array(b, x)
    dtype = _dtype(b, data, x)
    if dims is None or t.kind != "array" or not t.dims or dtype is None:
        return ANY
    return array(dtype, (dims[0], *t.dims[1:]))


op(kernels.product, f"{MATRIX}, x: array", type=_product_type)


@vjp(kernels.product, "data", linear=True)
def _product_data(g: Any, out: Any, form: Any, data: Any, i: Any, j: Any, shape: Any, x: Any) -> Any:
    return _outer(form, i, j, g, x)


@vjp(kernels.product, "x", linear=True)
def _product_x(g: Any, out: Any, form: Any, data: Any, i: Any, j: Any, shape: Any, x: Any) -> Any:
    form, i, j, shape = _transposed(form, i, j, shape)
    return call(kernels.product, form, data, i, j, shape, g)


def _dense_type(b: Builder, form: Any, data: Any, i: Any, j: Any, shape: Any) -> Ty:
    dims, dtype = shape_dims(b, shape), _dtype(b, data)
    return ANY if dims is None or dtype is None else array(dtype, dims)


op(kernels.dense, MATRIX, type=_dense_type, unique=True)


@vjp(kernels.dense, "data", linear=True)
def _dense_data(g: Any, out: Any, form: Any, data: Any, i: Any, j: Any, shape: Any) -> Any:
    return part(g, places(form, i, j))


def _summed_type(b: Builder, data: Any, slots: Any, count: Any) -> Ty:
    dims, dtype = shape_dims(b, (count,)), _dtype(b, data)
    return ANY if dims is None or dtype is None else array(dtype, dims)


op(kernels.summed, "data: array, slots, count", type=_summed_type, unique=True)


@vjp(kernels.summed, "data", linear=True)
def _summed_data(g: Any, out: Any, data: Any, slots: Any, count: Any) -> Any:
    return part(g, (slots,))


# --- places -----------------------------------------------------------------------------------------------------------


def _indices(b: Builder) -> Ty:
    return array(np.dtype(np.int64), (b.dims.fresh(),))


def _two(b: Builder, *args: Any, **kwargs: Any) -> Any:
    t = _indices(b)
    return t, t


def _three(b: Builder, *args: Any, **kwargs: Any) -> Any:
    t = _indices(b)
    return t, t, t


def _compressed_type(b: Builder, form: Any, row: Any, col: Any, shape: Any) -> Any:
    dims = type_of(row).dims
    slots = array(np.dtype(np.int64), dims) if dims is not None and len(dims) == 1 else _indices(b)
    return _indices(b), _indices(b), slots


op(kernels.unpacked, "indptr", type=lambda b, *args: _indices(b), nondiff=True)
op(kernels.compressed, "form, row, col, shape", type=_compressed_type, nout=3, nondiff=True)
op(kernels.pairs, "col, row, count", type=_two, nout=2, nondiff=True)
op(kernels.common, "row, col, other_row, other_col, shape", type=_two, nout=2, nondiff=True)
op(kernels.chosen, "row, col, kind, k", type=lambda b, *args: _indices(b), nondiff=True)
op(kernels.at, "row, col, i, j, shape", type=lambda b, *args: _indices(b), nondiff=True)
op(kernels.diagonals, "offsets, width, shape", type=_three, nout=3, nondiff=True)


# --- solves -----------------------------------------------------------------------------------------------------------


def _solved_type(b: Builder, form: Any, data: Any, i: Any, j: Any, shape: Any, rhs: Any, *args: Any) -> Ty:
    t, dtype = as_array(b, rhs), _dtype(b, data, rhs)
    if t.kind != "array" or t.dims is None or dtype is None:
        return ANY
    return array(np.result_type(dtype, np.float32), t.dims)


op(kernels.factors, f"{MATRIX}, singular", type=lambda b, *args: OBJECT, nondiff=True)
op(kernels.solved, f"{MATRIX}, b: array, lu, trans", type=_solved_type)


def _turned(form: Any, i: Any, j: Any, left: Any, right: Any, trans: str) -> Any:
    return _outer(form, i, j, left, right) if trans == "N" else _outer(form, i, j, right, left)


def _solve(form: Any, data: Any, i: Any, j: Any, shape: Any, b: Any, lu: Any, trans: str) -> Any:
    return call(kernels.solved, form, data, i, j, shape, b, lu, trans)


@vjp(kernels.solved, "data")
def _solved_data(
    g: Any, out: Any, form: Any, data: Any, i: Any, j: Any, shape: Any, b: Any, lu: Any, trans: Any = "N"
) -> Any:
    other = "T" if trans == "N" else "N"
    w = _solve(form, data, i, j, shape, g, lu, other)
    return -_turned(form, i, j, w, out, trans)


@vjp(kernels.solved, "b", linear=True)
def _solved_b(
    g: Any, out: Any, form: Any, data: Any, i: Any, j: Any, shape: Any, b: Any, lu: Any, trans: Any = "N"
) -> Any:
    return _solve(form, data, i, j, shape, g, lu, "T" if trans == "N" else "N")


def _iterated_type(b: Builder, form: Any, data: Any, i: Any, j: Any, shape: Any, rhs: Any, *args: Any) -> tuple[Ty, Ty]:
    t, dtype = as_array(b, rhs), _dtype(b, data, rhs)
    known = t.kind == "array" and t.dims is not None and dtype is not None
    info = Ty("py", np.dtype(np.int64), ())
    return (array(np.result_type(dtype, np.float32), t.dims) if known and t.dims is not None else ANY), info


op(kernels.iterated, f"{MATRIX}, b: array, start, method, options", type=_iterated_type, nout=2)


def _adjoint(g: Any, form: Any, data: Any, i: Any, j: Any, shape: Any, method: Any, options: Any) -> Any:
    form, i, j, shape = _transposed(form, i, j, shape)
    return call(kernels.iterated, form, data, i, j, shape, g, None, method, options)[0]


@vjp(kernels.iterated, "data")
def _iterated_data(
    g: Any, out: Any, form: Any, data: Any, i: Any, j: Any, shape: Any, b: Any, start: Any, method: Any, options: Any
) -> Any:
    if g[0] is None:
        return None
    return -_outer(form, i, j, _adjoint(g[0], form, data, i, j, shape, method, options), out[0])


@vjp(kernels.iterated, "b")
def _iterated_b(
    g: Any, out: Any, form: Any, data: Any, i: Any, j: Any, shape: Any, b: Any, start: Any, method: Any, options: Any
) -> Any:
    return None if g[0] is None else _adjoint(g[0], form, data, i, j, shape, method, options)


@vjp(kernels.iterated, "start")
def _iterated_start(g: Any, out: Any, *args: Any) -> Any:
    return None  # the solution does not depend on it


# --- functions of a matrix --------------------------------------------------------------------------------------------


def _eigenpairs_type(b: Builder, form: Any, data: Any, i: Any, j: Any, shape: Any, k: Any, options: Any) -> Any:
    dims, dtype = shape_dims(b, shape), _dtype(b, data)
    if dims is None or dtype is None or dtype.kind != "f" or not isinstance(k, int):
        return ANY, ANY
    return array(dtype, (k,)), array(dtype, (dims[0], k))


op(kernels.eigenpairs, f"{MATRIX}, k, options", type=_eigenpairs_type, nout=2)
op(kernels.deflated, f"{MATRIX}, w: array, v: array, g: array", type=lambda b, *args: as_array(b, args[-1]))


@vjp(kernels.eigenpairs, "data")
def _eigenpairs_data(g: Any, out: Any, form: Any, data: Any, i: Any, j: Any, shape: Any, k: Any, options: Any) -> Any:
    """An eigenvector moves by the other vectors, so it is differentiated where its eigenvalue is a single one."""
    left = None if g[0] is None else out[1] * g[0]
    if g[1] is not None:
        moved = call(kernels.deflated, form, data, i, j, shape, out[0], out[1], g[1])
        left = -moved if left is None else left - moved
    return None if left is None else _outer(form, i, j, left, out[1])


@vjp(kernels.deflated, "g", linear=True)
def _deflated_g(h: Any, out: Any, form: Any, data: Any, i: Any, j: Any, shape: Any, w: Any, v: Any, g: Any) -> Any:
    return call(kernels.deflated, form, data, i, j, shape, w, v, h)  # the matrix is symmetric


def _propagated_type(b: Builder, form: Any, data: Any, i: Any, j: Any, shape: Any, x: Any) -> Ty:
    t, dtype = as_array(b, x), _dtype(b, data, x)
    if t.kind != "array" or t.dims is None or dtype is None or dtype.kind not in "fc":
        return ANY
    return array(dtype, t.dims)


op(kernels.propagated, f"{MATRIX}, x: array", type=_propagated_type)


@vjp(kernels.propagated, "x", linear=True)
def _propagated_x(g: Any, out: Any, form: Any, data: Any, i: Any, j: Any, shape: Any, x: Any) -> Any:
    form, i, j, shape = _transposed(form, i, j, shape)
    return call(kernels.propagated, form, data, i, j, shape, g)
