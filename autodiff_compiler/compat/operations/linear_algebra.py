"""Matrices: transposes, parts, solutions, decompositions. All take stacks of matrices, in the last two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.array import value_of
from .row import row


def adjoint(a: Any) -> Any:
    """The conjugate transpose."""
    turned = np.swapaxes(a, -1, -2)
    return np.conjugate(turned) if value_of(a).dtype.kind == "c" else turned


def transposed(a: Any, conjugate: bool) -> Any:
    """The transpose, or the conjugate one."""
    return adjoint(a) if conjugate else np.swapaxes(a, -1, -2)


def band(a: Any, lower: int, upper: int) -> Any:
    """Zeros outside of a band around the main diagonal; -1 keeps a whole triangle."""
    rows, columns = (np.arange(n) for n in value_of(a).shape[-2:])
    offset = rows[:, None] - columns
    keep = ((lower < 0) | (offset <= lower)) & ((upper < 0) | (-offset <= upper))
    return np.where(keep, a, value_of(a).dtype.type(0))


def diagonal_matrix(a: Any, k: int = 0) -> Any:
    """Matrices whose `k`-th diagonal is the last axis, zeros elsewhere."""
    if k:
        a = np.pad(a, (*((0, 0),) * (value_of(a).ndim - 1), (max(-k, 0), max(k, 0))))
    here = np.eye(value_of(a).shape[-1], k=k, dtype=bool)
    return np.where(here, np.expand_dims(a, -1), value_of(a).dtype.type(0))


def trace(a: Any) -> Any:
    """The sum of the main diagonal."""
    return np.trace(a, axis1=-2, axis2=-1)


def _symmetric(a: Any, part: str = "L") -> Any:
    """The symmetric matrix of which `a` has the lower (or upper) part; both parts share the gradient."""
    v = value_of(a)
    if v.dtype.kind == "c":
        return a
    half = np.tril(v) if part == "L" else np.triu(v)
    whole = half + np.swapaxes(half, -1, -2) - half * np.eye(v.shape[-1], dtype=v.dtype)
    mean = (a + np.swapaxes(a, -1, -2)) * 0.5
    return mean + (whole - value_of(mean)) if np.any(whole != v) else mean


def cholesky(a: Any) -> Any:
    """The lower triangular factor of positive definite matrices. The gradient is symmetric."""
    v = value_of(a)
    if v.ndim >= 2 and np.array_equal(v, np.conjugate(np.swapaxes(v, -1, -2))):
        a = (a + adjoint(a)) * 0.5
    return np.linalg.cholesky(a)


def _logdet(a: Any) -> Any:
    sign, log = np.linalg.slogdet(a)
    return np.where(value_of(sign) < 0, value_of(log).dtype.type(np.nan), log)


def _logdet_of_positive(a: Any) -> Any:
    factor = np.real(np.diagonal(cholesky(a), 0, -2, -1))
    return 2.0 * np.sum(np.log(factor), axis=-1)


def triangular_solve(a: Any, b: Any, lower: bool = True, conjugate: bool = False) -> Any:
    """`x` with ``a @ x == b``, where one triangle of `a` is taken for zeros."""
    a = band(a, -1, 0) if lower else band(a, 0, -1)
    return np.linalg.solve(adjoint(a) if conjugate else a, b)


def _solution(a: Any, b: Any, left: bool) -> Any:
    if not left:
        return np.swapaxes(_solution(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), True), -1, -2)
    if value_of(b).ndim == 1 or value_of(b).ndim < value_of(a).ndim:
        return np.linalg.solve(a, np.expand_dims(b, -1))[..., 0]
    return np.linalg.solve(a, b)


def _svd(a: Any, full_matrices: bool = True) -> Any:
    n, m = value_of(a).shape[-2:]
    return tuple(np.linalg.svd(a, full_matrices=full_matrices and n != m))


def _svd_s_first(a: Any, full_matrices: bool, compute_uv: bool) -> Any:
    if not compute_uv:
        return np.linalg.svdvals(a)
    u, s, vh = np.linalg.svd(a, full_matrices)
    return s, u, adjoint(vh)


def _l2_normalized(a: Any, axis: Any, epsilon: float) -> Any:
    total = np.sum(np.square(a), axis=axis, keepdims=True)
    small = value_of(total) < epsilon
    return a * (1.0 / np.sqrt(np.where(small, value_of(a).dtype.type(epsilon), total)))


def _cut_inverse(a: Any, share: float | None) -> Any:
    """The inverse without the singular values up to a share of the largest. What is cut off may be far from zero, and
    has its part in the derivative then."""
    dtype = value_of(a).dtype
    if share is None:
        return np.linalg.pinv(a, 10.0 * max(value_of(a).shape[-2:]) * float(np.finfo(dtype).eps))
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    v = value_of(s)
    kept = v > share * np.max(v, axis=-1, keepdims=True)
    inverse = np.where(kept, 1.0 / np.where(kept, s, np.ones_like(v)), np.zeros_like(v))
    return np.matmul(adjoint(vh) * np.expand_dims(inverse, -2), adjoint(u))


def _product_added(a: Any, b: Any, c: Any, beta: Any, alpha: Any) -> Any:
    product = np.matmul(b, c)
    return (a if beta == 1 else a * beta) + (product if alpha == 1 else product * alpha)


row("arrays", transposed, "Transpose", "The last two axes swapped.",
    "linalg.matrix_transpose (a, name='matrix_transpose', conjugate=False)")  # fmt: skip
row("arrays", adjoint, "Adjoint", "The conjugate transpose.", "linalg.adjoint (matrix, name=None)")
row("arrays", trace, "Trace", "The sum of the main diagonal.", "linalg.trace (x, name=None)", "trace")
row("arrays", lambda a, k: np.diagonal(a, k, -2, -1), "MatrixDiagPart", "The `k`-th diagonal of the last two axes.",
    "linalg.diag_part (input, name='diag_part', k=0)")  # fmt: skip
row("arrays", diagonal_matrix, "MatrixDiag", "Matrices whose `k`-th diagonal is the last axis, zeros elsewhere.",
    "linalg.diag (diagonal, name='diag', k=0)")  # fmt: skip
row("arrays", band, "MatrixBandPart", "Zeros outside of a band around the main diagonal; -1 keeps a whole triangle.",
    "linalg.band_part (input, num_lower, num_upper, name=None)")  # fmt: skip
row("arrays", np.tril, "Tril", "The part on and below a diagonal.", "", "tril .tril_ (input, diagonal=0)")
row("arrays", np.triu, "Triu", "The part on and above a diagonal.", "", "triu .triu_ (input, diagonal=0)")
row("arrays", lambda a, b: np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1)), "Mul", "The products of all pairs.", "",
    "outer (input, vec2)", operands=2)  # fmt: skip
for _name, _first, _second in (("addmm", "mat1", "mat2"), ("addmv", "mat", "vec"), ("baddbmm", "batch1", "batch2")):
    row("arrays", _product_added, _name.capitalize(), "``beta * input + alpha * (first @ second)``.", "",
        f"{_name} (input, {_first}, {_second}, beta=1, alpha=1)", operands=3)  # fmt: skip
row("arrays", lambda a, b, turn: np.matmul(transposed(a, True) if turn else a, np.expand_dims(b, -1))[..., 0], "MatVec",
    "The product of matrices and vectors.", "linalg.matvec (a, b, adjoint_a=False, name=None)", operands=2)  # fmt: skip
row("arrays", _l2_normalized, "L2Normalize", "``x / sqrt(max(sum(x ** 2), epsilon))``, along axes.",
    "linalg.l2_normalize math.l2_normalize nn.l2_normalize (x, axis=None, epsilon=1e-12, name=None)")  # fmt: skip

row("arrays", np.tensordot, "MatMul",
    "Sums of products over the last `axes` axes of `a` and the first of `b`, or over two lists of axes.",
    "tensordot linalg.tensordot (a, b, axes, name=None)", operands=2)  # fmt: skip
row("arrays", np.linalg.det, "LinalgDet", "The determinant.", "linalg.det (input, name=None)", "det linalg.det (A)")
row("arrays", lambda a, turn=False: np.linalg.inv(adjoint(a) if turn else a), "LinalgInvEx", "The inverse.",
    "linalg.inv (input, adjoint=False, name=None)", "inverse linalg.inv (A)",
    refused="Input is not invertible.")  # fmt: skip
row("arrays", lambda a: tuple(np.linalg.slogdet(a)), "LinalgSlogdet",
    "The sign of the determinant, and the logarithm of its absolute value.", "linalg.slogdet (input, name=None)",
    "slogdet linalg.slogdet (A)",
    results={"tensorflow": "LogMatrixDeterminant sign log_abs_determinant",
             "torch": "linalg_slogdet sign logabsdet"})  # fmt: skip
row("arrays", _logdet, "LinalgSlogdet", "The logarithm of the determinant.", "linalg.logdet (matrix, name=None)",
    "logdet (A)", own={"tensorflow": _logdet_of_positive})  # fmt: skip
row("arrays", cholesky, "Cholesky", "The lower triangular factor of positive definite matrices.",
    "linalg.cholesky (input, name=None)",
    refused="Cholesky decomposition was not successful. The input might not be valid.")  # fmt: skip
row("arrays", lambda a, upper: adjoint(np.linalg.cholesky(_symmetric(a))) if upper else np.linalg.cholesky(
    _symmetric(a)), "LinalgCholeskyEx", "The lower triangular L with ``L @ L.mH = A``.", "",
    "cholesky linalg.cholesky (A, *, upper=False)")  # fmt: skip
row("arrays", lambda a, b, turn: np.linalg.solve(adjoint(a) if turn else a, b), "MatrixSolve",
    "`x` with ``matrix @ x == rhs``.", "linalg.solve (matrix, rhs, adjoint=False, name=None)", operands=2,
    refused="Input matrix is not invertible.")  # fmt: skip
row("arrays", triangular_solve, "MatrixTriangularSolve", "`x` with ``matrix @ x == rhs``, for a triangle of a matrix.",
    "linalg.triangular_solve (matrix, rhs, lower=True, adjoint=False, name=None)", operands=2)  # fmt: skip
row("arrays", lambda c, b: triangular_solve(c, triangular_solve(c, b), True, True), "CholeskySolve",
    "`x` with ``chol @ adjoint(chol) @ x == rhs``.", "linalg.cholesky_solve (chol, rhs, name=None)",
    operands=2)  # fmt: skip
row("arrays", _cut_inverse, "pinv", "The pseudo-inverse of matrices: singular values up to `rcond` times the largest "
    "count as zero. By default that is ten times the larger length times the dtype's precision.",
    "linalg.pinv (a, rcond=None, validate_args=False, name=None)", integers="refuse")  # fmt: skip
row("arrays", lambda a: np.linalg.pinv(a), "LinalgPinv", "The pseudo-inverse.", "", "pinv linalg.pinv (A)")
row("arrays", lambda a, full: tuple(np.linalg.qr(a, "complete" if full else "reduced")), "LinalgQr",
    "`q` with orthonormal columns and upper triangular `r` with ``q @ r`` the matrix.",
    "linalg.qr (input, full_matrices=False, name=None)", results={"tensorflow": "Qr q r"})  # fmt: skip
row("arrays", lambda a: tuple(np.linalg.qr(a)), "LinalgQr", "The factors Q and R.", "", "qr linalg.qr (A)",
    results={"torch": "linalg_qr Q R"})  # fmt: skip
row("arrays", _svd_s_first, "Svd", "`s`, `u` and `v` with ``tensor == u @ diag(s) @ adjoint(v)``.",
    "linalg.svd (tensor, full_matrices=False, compute_uv=True, name=None)")  # fmt: skip
row("arrays", _svd, "LinalgSvd", "The factors U, S, Vh.", "", "svd linalg.svd (A, full_matrices=True)",
    results={"torch": "linalg_svd U S Vh"})  # fmt: skip
row("arrays", lambda a: _svd(a, False)[1], "LinalgSvd", "The singular values, largest first.", "", "linalg.svdvals (A)")
row("arrays", lambda a: tuple(np.linalg.eigh(a)), "SelfAdjointEigV2", "Eigenvalues, in order, and eigenvectors of "
    "self-adjoint matrices, of which the lower triangle is read.", "linalg.eigh (tensor, name=None)")  # fmt: skip
row("arrays", lambda a: np.linalg.eigh(a)[0], "SelfAdjointEigV2", "Eigenvalues, in order, of self-adjoint matrices.",
    "linalg.eigvalsh (tensor, name=None)")  # fmt: skip
row("arrays", lambda a, part: tuple(np.linalg.eigh(_symmetric(a, part))), "LinalgEigh",
    "The eigenvalues and eigenvectors of a symmetric matrix.", "", "linalg.eigh (A, UPLO='L')",
    results={"torch": "linalg_eigh eigenvalues eigenvectors"})  # fmt: skip
row("arrays", lambda a, part: np.linalg.eigh(_symmetric(a, part))[0], "LinalgEigh",
    "The eigenvalues of a symmetric matrix.", "", "linalg.eigvalsh (A, UPLO='L')")  # fmt: skip
row("arrays", lambda a, b, axes: np.tensordot(a, b, axes),
    "UnsafeView", "The sum over axes of the product of two tensors.", "", "torch.tensordot (a, b, dims=2)")  # fmt: skip
row("arrays", _solution, "LinalgSolveEx", "The X with ``A @ X = B``.", "", "linalg.solve (A, B, *, left=True)")
