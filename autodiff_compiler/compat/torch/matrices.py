"""Matrices: products, solutions, decompositions, norms. Also the module ``torch.linalg``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ..graph.array import to, value_of
from ..graph.direct import binary
from .axes import axes_of
from .core import TORCH, Base, make, run
from .elementwise import FUNCTIONS as _ELEMENTWISE
from .reductions import _evenly, norm, p_norm, pair, result
from .tensor import method


def _same_dtype(a: Any, b: Any) -> None:
    if a._value.dtype != b._value.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {_cpp(a)} != {_cpp(b)}")


def _cpp(t: Any) -> str:
    names: dict[str, str] = {
        "float32": "float",
        "float64": "double",
        "int64": "long long",
        "int32": "int",
        "bool": "bool",
    }
    return names.get(t._value.dtype.name, str(t._value.dtype.name))


def matmul(input: Any, other: Any) -> Any:
    """The product of matrices, of stacks of them, or of vectors."""
    a, b = input._value, other._value
    if a.ndim == 2 and b.ndim == 2:
        return _mm(input, other)
    return _matmul(input, other)


def _matmul(input: Any, other: Any) -> Any:
    a, b = input._value, other._value
    if a.ndim == 0 or b.ndim == 0:
        raise RuntimeError("both arguments to matmul need to be at least 1D, but they are 0D")
    _same_dtype(input, other)
    left, right = a.shape[-1], b.shape[-2] if b.ndim > 1 else b.shape[0]
    if left != right:
        rows = a.shape[-2] if a.ndim > 1 else 1
        if a.ndim == b.ndim == 1:
            raise RuntimeError(
                f"inconsistent tensor size, expected tensor [{left}] and src [{right}] to have the same number "
                f"of elements"
            )
        if b.ndim == 1:
            raise RuntimeError(f"size mismatch, got input ({rows}), mat ({rows}x{left}), vec ({right})")
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{left} and {right}x{b.shape[-1]})")
    label = {(2, 2): "Mm", (2, 1): "Mv", (1, 1): "Dot"}.get((a.ndim, b.ndim), "UnsafeView")
    return run(label, np.matmul, input, other)


# For two matrices, ndarray.dot has less to decide than np.matmul.
_mm = binary(TORCH, "Mm", PRIMS[np.matmul], np.ndarray.dot, _matmul)


def _product(name: str, dims: tuple[int, int], label: str) -> Callable[..., Any]:
    def product(input: Any, other: Any) -> Any:
        if (input._value.ndim, other._value.ndim) != dims:
            raise RuntimeError(
                f"{name}: expected tensors with {dims[0]} and {dims[1]} dimensions, got {input._value.ndim}D and "
                f"{other._value.ndim}D tensors"
            )
        if dims == (1, 1) or dims == (3, 3):
            _same_dtype(input, other)
            if dims == (1, 1) and input._value.shape != other._value.shape:
                raise RuntimeError(
                    f"inconsistent tensor size, expected tensor [{input._value.shape[0]}] and src "
                    f"[{other._value.shape[0]}] to have the same number of elements, but got "
                    f"{input._value.shape[0]} and "
                    f"{other._value.shape[0]} elements respectively"
                )
            return run(label, np.dot if dims == (1, 1) else np.matmul, input, other)
        return matmul(input, other)

    product.__name__ = product.__qualname__ = name
    product.__doc__ = f"The product of tensors with {dims[0]} and {dims[1]} axes."
    return product


mm, mv = _product("mm", (2, 2), "Mm"), _product("mv", (2, 1), "Mv")
bmm, dot = _product("bmm", (3, 3), "Bmm"), _product("dot", (1, 1), "Dot")
vdot = dot


def outer(input: Any, vec2: Any) -> Any:
    """The products of all pairs of elements."""
    return run("Mul", lambda a, b: np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1)), input, vec2)


def _with_product(name: str, label: str) -> Callable[..., Any]:
    def function(input: Any, first: Any, second: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        def computed(a: Any, b: Any, c: Any) -> Any:
            product = np.matmul(b, c)
            return (a if beta == 1 else a * beta) + (product if alpha == 1 else product * alpha)

        return run(label, computed, input, first, second)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "``beta * input + alpha * (first @ second)``."
    return function


addmm, addmv, baddbmm = [_with_product(n, n.capitalize()) for n in ("addmm", "addmv", "baddbmm")]


def einsum(equation: str, *operands: Any) -> Any:
    """A sum of products, as the equation says."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    text = equation.replace(" ", "")
    return run("Einsum", lambda *a: np.einsum(text, *a), *operands)


def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """The sum over axes of the product of two tensors."""
    axes: Any = dims if isinstance(dims, int) else tuple([tuple(d) for d in dims])
    return run("UnsafeView", lambda x, y: np.tensordot(x, y, axes), a, b)


def kron(input: Any, other: Any) -> Any:
    """The Kronecker product."""

    def computed(a: Any, b: Any) -> Any:
        m, n = value_of(a).shape, value_of(b).shape
        width = max(len(m), len(n))
        m, n = (1,) * (width - len(m)) + m, (1,) * (width - len(n)) + n
        x = np.reshape(a, [k for pair_ in zip(m, (1,) * width) for k in pair_])
        y = np.reshape(b, [k for pair_ in zip((1,) * width, n) for k in pair_])
        return np.reshape(x * y, [i * j for i, j in zip(m, n)])

    return run("Kron", computed, input, other)


def cross(input: Any, other: Any, dim: int = -1) -> Any:
    """The cross product of vectors along an axis."""

    def computed(a: Any, b: Any) -> Any:
        x, y = np.moveaxis(a, dim, 0), np.moveaxis(b, dim, 0)
        parts = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
        return np.moveaxis(np.stack(parts), 0, dim)

    return run("LinalgCross", computed, input, other)


def trace(input: Any) -> Any:
    """The sum of the diagonal."""
    return run("Trace", np.trace, input)


def cdist(x1: Any, x2: Any, p: float = 2.0) -> Any:
    """The distances of all pairs of rows."""

    def computed(a: Any, b: Any) -> Any:
        return p_norm(np.expand_dims(a, -2) - np.expand_dims(b, -3), p, (-1,), False)

    return run("Cdist", computed, x1, x2)


# --- torch.linalg -----------------------------------------------------------------------------------------------------


def det(A: Any) -> Any:
    """The determinant."""
    return run("LinalgDet", np.linalg.det, A)


def slogdet(A: Any) -> Any:
    """The sign and the logarithm of the absolute value of the determinant."""
    sign = make(np.asarray(np.linalg.slogdet(A._value)[0]))
    return pair(
        "linalg_slogdet", sign, run("LinalgSlogdet", lambda a: np.linalg.slogdet(a)[1], A), ("sign", "logabsdet")
    )


def logdet(input: Any) -> Any:
    """The logarithm of the determinant: NaN if it is negative."""
    sign, log = slogdet(input)
    return _ELEMENTWISE["where"](sign < 0, make(np.full_like(sign._value, np.nan)), log)


def inv(A: Any) -> Any:
    """The inverse. Raises ``torch.linalg.LinAlgError`` for a singular matrix."""
    return run("LinalgInvEx", np.linalg.inv, A)


def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """The X with ``A @ X = B``."""
    vector = B._value.ndim == 1 or (B._value.ndim < A._value.ndim)
    if not left:
        return solve(A.mT, B.mT).mT

    def computed(a: Any, b: Any) -> Any:
        return np.linalg.solve(a, np.expand_dims(b, -1))[..., 0] if vector else np.linalg.solve(a, b)

    return run("LinalgSolveEx", computed, A, B)


def solve_triangular(A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """The X with ``A @ X = B`` for a triangular A, of which the other part is not read."""
    if not left:
        return solve_triangular(A.mT, B.mT, upper=not upper, unitriangular=unitriangular).mT

    def computed(a: Any, b: Any) -> Any:
        part = np.triu(a) if upper else np.tril(a)
        if unitriangular:
            n = value_of(a).shape[-1]
            part = part * (1 - np.eye(n, dtype=value_of(a).dtype)) + np.eye(n, dtype=value_of(a).dtype)
        return np.linalg.solve(part, b)

    return run("LinalgSolveTriangular", computed, A, B)


def _symmetric(a: Any, part: str) -> Any:
    """The symmetric matrix of which `a` has the lower (or upper) part; both parts share the gradient."""
    v = value_of(a)
    if v.dtype.kind == "c":
        return a
    half = np.tril(v) if part == "L" else np.triu(v)
    whole = half + np.swapaxes(half, -1, -2) - half * np.eye(v.shape[-1], dtype=v.dtype)
    mean = (a + np.swapaxes(a, -1, -2)) * 0.5
    return mean + (whole - value_of(mean)) if np.any(whole != v) else mean


def cholesky(A: Any, *, upper: bool = False) -> Any:
    """The lower triangular L with ``L @ L.mH = A``."""
    made = run("LinalgCholeskyEx", lambda a: np.linalg.cholesky(_symmetric(a, "L")), A)
    return made.mT if upper else made


def qr(A: Any, mode: str = "reduced") -> Any:
    """The factors Q and R."""
    if mode != "reduced":
        raise NotImplementedError(f"torch.linalg.qr: mode={mode!r} is not there. Instead: mode='reduced'")
    q, r = run("LinalgQr", lambda a: tuple(np.linalg.qr(a)), A)
    return pair("linalg_qr", q, r, ("Q", "R"))


def svd(A: Any, full_matrices: bool = True) -> Any:
    """The factors U, S, Vh."""
    n, m = A._value.shape[-2:]
    u, s, v = run("LinalgSvd", lambda a: tuple(np.linalg.svd(a, full_matrices=full_matrices and n != m)), A)
    return result("linalg_svd", ("U", "S", "Vh"), (u, s, v))


def svdvals(A: Any) -> Any:
    """The singular values, largest first."""
    return run("LinalgSvd", lambda a: np.linalg.svd(a, full_matrices=False)[1], A)


def eigh(A: Any, UPLO: str = "L") -> Any:
    """The eigenvalues and eigenvectors of a symmetric matrix."""
    values, vectors = run("LinalgEigh", lambda a: tuple(np.linalg.eigh(_symmetric(a, UPLO))), A)
    return pair("linalg_eigh", values, vectors, ("eigenvalues", "eigenvectors"))


def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of a symmetric matrix."""
    return run("LinalgEigh", lambda a: np.linalg.eigh(_symmetric(a, UPLO))[0], A)


def matrix_power(A: Any, n: int) -> Any:
    """The n-th power of a matrix."""
    if n <= 0:
        start = make(np.broadcast_to(np.eye(A._value.shape[-1], dtype=A._value.dtype), A._value.shape).copy())
        return matrix_power(inv(A), -n) if n < 0 else start + 0 * A
    out = A
    for _ in range(n - 1):
        out = matmul(out, A)
    return out if n > 1 else A.clone()


def pinv(A: Any) -> Any:
    """The pseudoinverse."""
    return run("LinalgPinv", lambda a: np.linalg.pinv(a), A)


def lstsq(A: Any, B: Any) -> Any:
    """The least squares solution."""
    if A._value.shape[-2] == A._value.shape[-1]:
        solution = solve(A, B)
    else:
        solution = run("LinalgLstsq", lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], A, B)
    none = make(np.zeros(0, A._value.dtype))
    rank = make(np.asarray(np.linalg.matrix_rank(A._value)))
    return result("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"), (solution, none, rank, none))


def matrix_rank(A: Any) -> Any:
    """The rank."""
    return make(np.asarray(np.linalg.matrix_rank(A._value)))


def cond(A: Any, p: Any = None) -> Any:
    """The condition number."""
    if p is None or p == 2:
        return run("Div", lambda a: _ratio(np.linalg.svd(a, full_matrices=False)[1]), A)
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


def _ratio(s: Any) -> Any:
    return s[..., 0] / s[..., -1]


def matrix_exp(A: Any) -> Any:
    """The exponential of a matrix: scaling, a Taylor polynomial of degree 18, squaring."""
    largest = float(np.max(np.sum(np.abs(A._value), axis=-2), initial=0.0))
    squarings = max(0, int(np.ceil(np.log2(largest))) + 1) if largest > 0 else 0

    def computed(a: Any) -> Any:
        scaled = a / 2.0**squarings
        unit = np.eye(value_of(a).shape[-1], dtype=value_of(a).dtype)
        out: Any = unit + scaled / 18.0
        for k in range(17, 0, -1):
            out = unit + (scaled / float(k)) @ out
        for _ in range(squarings):
            out = out @ out
        return out

    return run("LinalgMatrixExp", computed, A)


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of all elements, or of vectors along axes."""
    axes = axes_of(x, dim)
    wanted = None if dtype is None else dtype.numpy
    return run("LinalgVectorNorm", lambda a: p_norm(a if wanted is None else to(a, wanted), ord, axes, keepdim), x)


def matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of matrices: "fro", "nuc", inf, -inf, 1, -1, 2 or -2."""
    rows, columns = [d % A._value.ndim for d in dim]
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim)

    def computed(a: Any) -> Any:
        m = np.moveaxis(a, (rows, columns), (-2, -1))
        if ord in (1, -1, np.inf, -np.inf):
            sums = np.sum(np.abs(m), axis=-2 if ord in (1, -1) else -1)
            out = _evenly(np.max if ord > 0 else np.min)(sums, axis=-1)
        else:
            s = np.linalg.svd(m, full_matrices=False)[1]
            out = np.sum(s, axis=-1) if ord == "nuc" else s[..., 0 if ord > 0 else -1]
        return np.expand_dims(out, tuple(sorted((rows, columns)))) if keepdim else out

    if ord not in ("nuc", 1, -1, 2, -2, np.inf, -np.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return run("LinalgMatrixNorm", computed, A)


def linalg_norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of vectors or, for two axes and a given order, of matrices."""
    axes = dim if dim is None or isinstance(dim, (tuple, list)) else (dim,)
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if (axes is None and A._value.ndim == 2) or (axes is not None and len(axes) == 2):
        return matrix_norm(A, ord, (-2, -1) if axes is None else axes, keepdim)
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


def multi_dot(tensors: Any) -> Any:
    """The product of several matrices."""
    out = tensors[0]
    for x in tensors[1:]:
        out = matmul(out, x)
    return out


# What the module ``torch.linalg`` has.
MODULE: dict[str, Any] = {
    f.__name__: f
    for f in (
        det, slogdet, inv, solve, solve_triangular, cholesky, qr, svd, svdvals, eigh, eigvalsh, matrix_power, pinv,
        lstsq,
        matrix_rank, cond, matrix_exp, vector_norm, matrix_norm, multi_dot, cross,
    )
}  # fmt: skip
MODULE.update(norm=linalg_norm, LinAlgError=np.linalg.LinAlgError, matmul=matmul)

FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        matmul, mm, mv, bmm, dot, outer, addmm, addmv, baddbmm, kron, cross, trace, det, slogdet, logdet, matrix_power,
        matrix_exp, pinv, svd, qr, cholesky,
    )
}  # fmt: skip
FUNCTIONS.update(inverse=inv, ger=outer, vdot=vdot)
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
FUNCTIONS.update(einsum=einsum, tensordot=tensordot, cdist=cdist, norm=norm)
method("__matmul__", lambda self, other: matmul(self, other) if isinstance(other, Base) else NotImplemented)
method("__rmatmul__", lambda self, other: matmul(other, self) if isinstance(other, Base) else NotImplemented)
