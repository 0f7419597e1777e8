"""Products, norms, decompositions, systems of equations."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ..graph.array import value_of
from .elementwise import cast, real
from .errors import invalid
from .made import abs as abs_
from .made import log, maximum, reduce_max, reduce_sum, sqrt, square
from .operands import axes, computed, floating, integer, integers, operand, pair, run, same_dtypes
from .operators import shapes_error
from .shaping import matrix_transpose

LogDeterminant = collections.namedtuple("LogMatrixDeterminant", "sign log_abs_determinant")  # type: ignore[name-match]
QR = collections.namedtuple("Qr", "q r")  # type: ignore[name-match]


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, output_type: Any = None,
    grad_a: bool = False, grad_b: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The product of matrices, or of batches of them; each may be transposed first."""
    a, b = pair(a, b, "MatMul")
    if transpose_a or adjoint_a:
        a = matrix_transpose(a, conjugate=adjoint_a)
    if transpose_b or adjoint_b:
        b = matrix_transpose(b, conjugate=adjoint_b)
    out = a @ b
    return out if output_type is None else cast(out, output_type)


def matvec(
    a: Any, b: Any, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False,
    b_is_sparse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The product of a matrix and a vector, or of batches of them."""
    a, b = pair(a, b, "MatVec")
    out = matmul(a, run(np.expand_dims, b, -1), transpose_a, adjoint_a=adjoint_a)
    return run(np.squeeze, out, axis=-1)


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Products and sums over named axes, as ``np.einsum``."""
    for name in kwargs:
        if name not in ("name", "optimize"):
            raise TypeError(f"Invalid keyword arguments for einsum: {name}")
    parts = same_dtypes(inputs, "Einsum")
    try:
        return run(np.einsum, equation, *parts)
    except ValueError as error:
        raise invalid("Einsum", str(error)) from None


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """Sums of products over the last `axes` axes of `a` and the first of `b`, or over two lists of axes."""
    a, b = pair(a, b, "MatMul")
    v = axes._value if hasattr(axes, "_value") else axes
    over: Any = integer(v) if np.ndim(v) == 0 else tuple([integers(part) for part in v])
    try:
        return run(np.tensordot, a, b, over)
    except ValueError:
        raise shapes_error("MatMul", a._value.shape, b._value.shape) from None


def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Any:
    """The norm of vectors, along one axis or of all elements, or of matrices, along two."""
    x = operand(tensor)
    at = axes(axis)
    if isinstance(at, tuple) and len(at) == 1:
        (at,) = at
    keep = bool(keepdims)
    matrix = isinstance(at, tuple)
    if ord == "euclidean" or (not matrix and ord in (2, 2.0)) or (ord == "fro" and matrix):
        squares = square(x) if x._value.dtype.kind != "c" else real(x * run(np.conjugate, x))
        return sqrt(reduce_sum(squares, at, keep))
    if matrix or ord == "fro":
        raise ValueError(f"'ord' must be 'euclidean' or 'fro' for matrices, [1, 2, np.inf] for vectors, got {ord}")
    size = abs_(x)
    if ord == np.inf:
        return reduce_max(size, at, keep)
    if ord == 1:
        return reduce_sum(size, at, keep)
    if isinstance(ord, (int, float)) and ord > 0:
        return reduce_sum(size**ord, at, keep) ** (1.0 / ord)
    raise ValueError(f"'ord' must be a supported vector norm, got {ord}")


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None) -> Any:
    """``x / sqrt(max(sum(x ** 2), epsilon))``, along axes."""
    x = operand(x)
    total = reduce_sum(square(x), axes(axis if dim is None else dim), True)
    return x * (1.0 / sqrt(maximum(total, epsilon)))


# --- parts of matrices ------------------------------------------------------------------------------------------------


def trace(x: Any, name: str | None = None) -> Any:
    """The sum of the main diagonal of the last two axes."""
    return reduce_sum(diag_part(x), -1)


def diag_part(
    input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Any:
    """The `k`-th diagonal of the last two axes."""
    x = operand(input)
    if np.ndim(k):
        raise NotImplementedError("diag_part of a band of diagonals: take them one by one")
    return run(np.diagonal, x, integer(k), -2, -1)


def diag(
    diagonal: Any, name: str = "diag", k: Any = 0, num_rows: int = -1, num_cols: int = -1, padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:  # fmt: skip
    """Matrices whose `k`-th diagonal is the last axis, zeros elsewhere."""
    x = operand(diagonal)
    if np.ndim(k) or num_rows != -1 or num_cols != -1 or padding_value:
        raise NotImplementedError("diag of several diagonals, of a given size, or with padding")
    k = integer(k)
    if k:
        x = run(np.pad, x, (*((0, 0),) * (x._value.ndim - 1), (max(-k, 0), max(k, 0))))
    here = np.eye(x._value.shape[-1], k=k, dtype=bool)
    return run(np.where, here, run(np.expand_dims, x, -1), np.zeros((), x._value.dtype)[()])


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Any:
    """The matrices with zeros outside of a band around the main diagonal; -1 keeps a whole triangle."""
    x = operand(input)
    low, high = integer(num_lower), integer(num_upper)
    rows, columns = (np.arange(n) for n in x._value.shape[-2:])
    offset = rows[:, None] - columns
    keep = ((low < 0) | (offset <= low)) & ((high < 0) | (-offset <= high))
    return run(np.where, keep, x, np.zeros((), x._value.dtype)[()])


def adjoint(matrix: Any, name: str | None = None) -> Any:
    """The conjugate transpose."""
    return matrix_transpose(matrix, conjugate=True)


# --- equations and decompositions -------------------------------------------------------------------------------------


def _linalg(fn: Any, op: str, *args: Any, **kwargs: Any) -> Any:
    try:
        return run(fn, *args, **kwargs)
    except np.linalg.LinAlgError as error:
        text = str(error)
        if op == "MatrixInverse" or op == "MatrixSolve":
            text = "Input is not invertible." if op == "MatrixInverse" else "Input matrix is not invertible."
        if op == "Cholesky":
            text = "Cholesky decomposition was not successful. The input might not be valid."
        raise invalid(op, text) from None


def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The inverse of square matrices. Raises InvalidArgumentError if there is none."""
    x = operand(input)
    return _linalg(np.linalg.inv, "MatrixInverse", matrix_transpose(x, conjugate=True) if adjoint else x)


def det(input: Any, name: str | None = None) -> Any:
    """The determinant of square matrices."""
    return _linalg(np.linalg.det, "MatrixDeterminant", operand(input))


def slogdet(input: Any, name: str | None = None) -> Any:
    """The sign of the determinant, and the logarithm of its size."""
    return LogDeterminant(*run(np.linalg.slogdet, operand(input)))


def logdet(matrix: Any, name: str | None = None) -> Any:
    """The logarithm of the determinant of positive definite matrices."""
    factor = cholesky(matrix)
    return 2.0 * reduce_sum(log(real(diag_part(factor))), -1)


def cholesky(input: Any, name: str | None = None) -> Any:
    """The lower triangular factor of positive definite matrices. The gradient is symmetric."""
    x = operand(input)
    v = np.asarray(x._value)
    if v.ndim >= 2 and np.array_equal(v, np.conjugate(np.swapaxes(v, -1, -2))):
        x = (x + adjoint(x)) * 0.5
    return _linalg(np.linalg.cholesky, "Cholesky", x)


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """`x` with ``matrix @ x == rhs``. Raises InvalidArgumentError if the matrix is not invertible."""
    a, b = pair(matrix, rhs, "MatrixSolve")
    if a._value.ndim < 2 or b._value.ndim < 2:
        raise invalid("MatrixSolve", f"Input tensor {0 if a._value.ndim < 2 else 1} must have rank >= 2")
    return _linalg(np.linalg.solve, "MatrixSolve", matrix_transpose(a, conjugate=True) if adjoint else a, b)


def triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Any:
    """`x` with ``matrix @ x == rhs``, where one triangle of the matrix is taken for zeros."""
    a, b = pair(matrix, rhs, "MatrixTriangularSolve")
    a = band_part(a, -1, 0) if lower else band_part(a, 0, -1)
    return _linalg(np.linalg.solve, "MatrixTriangularSolve", matrix_transpose(a, conjugate=True) if adjoint else a, b)


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """`x` with ``chol @ adjoint(chol) @ x == rhs``."""
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """The pseudo-inverse of matrices: singular values up to `rcond` times the largest count as zero. By default that is
    ten times the larger length times the dtype's precision."""
    x = floating(a, "pinv", "f")
    if x._value.ndim < 2:
        raise ValueError(f"Input matrix must have at least 2 dimensions; found: {x._value.ndim}.")
    if rcond is None:
        return run(np.linalg.pinv, x, 10.0 * max(x._value.shape[-2:]) * float(np.finfo(x._value.dtype).eps))
    return computed(lambda m: _cut_inverse(m, float(rcond)), x)


def _cut_inverse(a: Any, share: float) -> Any:
    """The inverse without the singular values up to a share of the largest. What is cut off may be far from zero, and
    has its part in the derivative then."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    v = value_of(s)
    kept = v > share * np.max(v, axis=-1, keepdims=True)
    inverse = np.where(kept, 1.0 / np.where(kept, s, np.ones_like(v)), np.zeros_like(v))
    return np.matmul(np.swapaxes(vh, -1, -2) * np.expand_dims(inverse, -2), np.swapaxes(u, -1, -2))


def eigh(tensor: Any, name: str | None = None) -> tuple[Any, Any]:
    """Eigenvalues, in order, and eigenvectors of self-adjoint matrices, of which the lower triangle is read."""
    values, vectors = run(np.linalg.eigh, operand(tensor))
    return values, vectors


def eigvalsh(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues, in order, of self-adjoint matrices."""
    return eigh(tensor)[0]


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """Singular values `s`, and `u` and `v` with ``tensor == u @ diag(s) @ adjoint(v)``."""
    x = operand(tensor)
    if not compute_uv:
        return run(np.linalg.svdvals, x)
    u, s, vh = run(np.linalg.svd, x, full_matrices)
    return s, u, matrix_transpose(vh, conjugate=True)


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """`q` with orthonormal columns and upper triangular `r` with ``q @ r == input``."""
    return QR(*run(np.linalg.qr, operand(input), "complete" if full_matrices else "reduced"))
