"""Functions of np.linalg in terms of products, inverses and decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import inverse_or_nan
from ..definitions import defines, known, refuse
from .arrays import axes_of
from .statistics import is_empty


@defines(np.linalg.multi_dot)
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    if out is not None:
        refuse("np.linalg.multi_dot with out=", "assign the result")
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(arrays) > 2:
        for k in list(range(len(arrays))):
            least = 1 if k == 0 or k == len(arrays) - 1 else 2
            if np.ndim(arrays[k]) < least or np.ndim(arrays[k]) > 2:
                raise np.linalg.LinAlgError(
                    f"{np.ndim(arrays[k])}-dimensional array given. Array must be two-dimensional"
                )
    product = arrays[0]
    for a in arrays[1:]:
        product = np.dot(product, a)
    return product


@defines(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Any:
    a = np.asarray(a)
    if np.ndim(a) < 2:
        raise np.linalg.LinAlgError(f"{np.ndim(a)}-dimensional array given. Array must be at least two-dimensional")
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if isinstance(n, float):
        raise TypeError("exponent must be an integer")
    if n == 0:
        return np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape).copy()
    if n < 0:
        a = np.linalg.inv(a)
        n = -n
    out = a
    for _ in range(n - 1):
        out = out @ a
    return out


@defines(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: Any = "L") -> Any:
    return np.linalg.eigh(a, UPLO)[0]


@defines(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    x = np.asarray(x)
    if 0 in [n for n in x.shape[-2:] if known(n)]:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if np.ndim(x) < 2:
        raise np.linalg.LinAlgError(f"{np.ndim(x)}-dimensional array given. Array must be at least two-dimensional")
    if p is not None and p not in (2, -2) and x.shape[-1] != x.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if p is None or p == 2 or p == -2:
        s = np.linalg.svdvals(x)
        r = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
        return np.where(np.isnan(r) & ~np.any(np.isnan(x), axis=(-2, -1)), np.inf, r)[()]
    r = np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(inverse_or_nan(x), p, (-2, -1))
    return np.where(np.isnan(r) & ~np.any(np.isnan(x), axis=(-2, -1)), np.inf, r)[()]


@defines(np.linalg.tensorinv)
def tensorinv(a: Any, ind: Any = 2) -> Any:
    a = np.asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    if np.ndim(a) == 0:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    shape = a.shape
    rows, columns = 1, 1
    for n in shape[ind:]:
        rows = rows * n
    for n in shape[:ind]:
        columns = columns * n
    if rows != columns:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return np.linalg.inv(a.reshape(rows, columns)).reshape(shape[ind:] + shape[:ind])


@defines(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    if axes is not None:
        refuse("np.linalg.tensorsolve with axes=", "move the axes with np.moveaxis first")
    a, b = np.asarray(a), np.asarray(b)
    shape = a.shape[np.ndim(b) - np.ndim(a) :]
    rows = 1
    for n in shape:
        rows = rows * n
    if a.size != rows * rows:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return np.linalg.solve(a.reshape(rows, rows), b.reshape(-1)).reshape(shape)


def _vecdot(x1: Any, x2: Any, axis: Any = -1) -> Any:
    x1, x2 = np.moveaxis(np.asarray(x1), axis, -1), np.moveaxis(np.asarray(x2), axis, -1)
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError("vecdot of vectors of different lengths")
    return np.sum(np.conj(x1) * x2, axis=-1)


if hasattr(np, "vecdot"):
    defines(np.vecdot)(_vecdot)


@defines(np.linalg.vecdot)
def linalg_vecdot(x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    return _vecdot(x1, x2, axis)


@defines(np.linalg.cross)
def cross(x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    if axis is None:
        refuse("np.linalg.cross with axis=None", "leave it out")  # NumPy's versions differ
    return np.cross(x1, x2, axis=axis)


@defines(np.linalg.outer)
def outer(x1: Any, x2: Any, /) -> Any:
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={np.ndim(x1)} and x2.ndim={np.ndim(x2)}."
        )
    return np.outer(x1, x2)


@defines(np.linalg.matmul)
def matmul(x1: Any, x2: Any, /) -> Any:
    return np.matmul(x1, x2)


@defines(np.linalg.tensordot)
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    return np.tensordot(x1, x2, axes)


@defines(np.linalg.diagonal)
def diagonal(x: Any, /, *, offset: Any = 0) -> Any:
    return np.diagonal(x, offset, -2, -1)


@defines(np.linalg.trace)
def trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    if dtype is not None:
        refuse("np.linalg.trace with dtype=", "convert the result")
    return np.trace(x, offset, -2, -1)


@defines(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    return np.swapaxes(np.asarray(x), -1, -2)


@defines(np.permute_dims)
def permute_dims(a: Any, axes: Any = None) -> Any:
    return np.transpose(a, axes)


@defines(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    x = np.asarray(x)
    if axis is None:
        norm = np.linalg.norm(x.reshape(-1), ord)
        return np.reshape(norm, (1,) * np.ndim(x)) if keepdims else norm
    if isinstance(axis, tuple):
        axis = axes_of(axis, np.ndim(x))
        kept = tuple([k for k in range(np.ndim(x)) if k not in axis])
        last = np.transpose(x, kept + axis)
        norm = np.linalg.norm(last.reshape(last.shape[: len(kept)] + (-1,)), ord, -1)
        if keepdims:
            refuse("np.linalg.vector_norm over several axes with keepdims", "reshape the result")
        return norm
    return np.linalg.norm(x, ord, axis, keepdims)


@defines(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    return np.linalg.norm(x, ord, (-2, -1), keepdims)


# --- decompositions: one primitive for each number of results ---------------------------------------------------------

_EigResult = type(np.linalg.eig(np.eye(1)))
_EighResult = type(np.linalg.eigh(np.eye(1)))
_SVDResult = type(np.linalg.svd(np.eye(1)))
_QRResult = type(np.linalg.qr(np.eye(1)))
_SlogdetResult = type(np.linalg.slogdet(np.eye(1)))


@defines(np.linalg.eigh)
def eigh(a: Any, UPLO: Any = "L") -> Any:
    w, v = np.linalg.eigh(a, UPLO.upper())
    return _EighResult(w, v)


@defines(np.linalg.eig)
def eig(a: Any) -> Any:
    w, v = np.linalg.eig(a)
    return _EigResult(w, v)


@defines(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    sign, logabsdet = np.linalg.slogdet(a)
    return _SlogdetResult(sign, logabsdet)


@defines(np.linalg.svd)
def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False) -> Any:
    if hermitian:
        refuse("np.linalg.svd with hermitian=True", "use np.linalg.eigh")
    if not compute_uv:
        return np.linalg.svdvals(a)
    u, s, vh = np.linalg.svd(a, full_matrices=full_matrices)
    return _SVDResult(u, s, vh)


@defines(np.linalg.qr)
def qr(a: Any, mode: Any = "reduced") -> Any:
    if mode not in ("reduced", "r"):
        refuse(f"np.linalg.qr with mode={mode!r}", "use mode='reduced'")
    q, r = np.linalg.qr(a)
    return r if mode == "r" else _QRResult(q, r)


@defines(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    rank = np.ndim(x)
    matrix = np.ndim(axis) == 1 and len(axis) == 2 if axis is not None else rank == 2
    if not matrix or ord is None or ord == "fro":
        options: Any = {}
        if ord is not None:
            options["ord"] = ord
        if axis is not None:
            options["axis"] = axis
        if keepdims is not False:
            options["keepdims"] = keepdims
        return np.linalg.norm(x, **options)
    rows, columns = (0, 1) if axis is None else axis
    for k in (rows, columns):
        if k < -rank or k >= rank:
            raise np.exceptions.AxisError(f"axis {k} is out of bounds for array of dimension {rank}")
    rows, columns = rows % rank, columns % rank
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    if is_empty(x):
        refuse("a matrix norm of an empty matrix", "treat it apart")
    if ord in (1, -1, np.inf, -np.inf):
        summed, other = (rows, columns) if ord in (1, -1) else (columns, rows)
        sums = np.sum(np.abs(x), axis=summed, keepdims=True)
        found = np.max(sums, axis=other, keepdims=True) if ord > 0 else np.min(sums, axis=other, keepdims=True)
        return found if keepdims else np.squeeze(found, axis=(rows, columns))[()]
    if ord not in (2, -2, "nuc"):
        raise ValueError("Invalid norm order for matrices.")
    s = np.linalg.svdvals(np.moveaxis(np.asarray(x), (rows, columns), (-2, -1)))
    out = np.sum(s, axis=-1) if ord == "nuc" else s[..., 0] if ord == 2 else s[..., -1]
    return np.expand_dims(out, (min(rows, columns), max(rows, columns))) if keepdims else out[()]


@defines(np.polyfit)
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False) -> Any:
    if full or cov or rcond is not None:
        refuse("np.polyfit with rcond, full or cov", "use np.linalg.lstsq with np.vander")
    y = np.asarray(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if np.ndim(x) != 1:
        raise TypeError("expected 1D vector for x")
    if np.shape(x)[0] == 0:
        raise TypeError("expected non-empty vector for x")
    if np.ndim(y) < 1 or np.ndim(y) > 2:
        raise TypeError("expected 1D or 2D array for y")
    if np.shape(x)[0] != np.shape(y)[0]:
        raise TypeError("expected x and y to have same length")
    if w is not None and np.ndim(w) != 1:
        raise TypeError("expected a 1-d array for weights")
    if w is not None and np.shape(w)[0] != np.shape(y)[0]:
        raise TypeError("expected w and y to have the same length")
    lhs = np.vander(np.asarray(x) + 0.0, deg + 1)  # powers of integers would wrap around
    if w is not None:
        w = np.asarray(w)
        lhs = lhs * w[:, None]
        y = y * (w[:, None] if np.ndim(y) == 2 else w)
    scale = np.sqrt(np.sum(lhs * lhs, axis=0))
    c = np.linalg.lstsq(lhs / scale, y, rcond=None)[0]
    return c / (scale[:, None] if np.ndim(y) == 2 else scale)


if hasattr(np, "matvec"):  # from NumPy 2.2 on

    @defines(np.matvec)
    def matvec(x1: Any, x2: Any) -> Any:
        if np.ndim(x1) < 2 or np.ndim(x2) < 1:
            raise ValueError("matvec of operands with too few dimensions")
        return np.matmul(x1, np.asarray(x2)[..., None])[..., 0]

    @defines(np.vecmat)
    def vecmat(x1: Any, x2: Any) -> Any:
        if np.ndim(x1) < 1 or np.ndim(x2) < 2:
            raise ValueError("vecmat of operands with too few dimensions")
        return np.matmul(np.conj(np.asarray(x1))[..., None, :], x2)[..., 0, :]
