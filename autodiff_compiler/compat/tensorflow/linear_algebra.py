"""Products, norms, decompositions, systems of equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.array import value_of
from .elementwise import cast, real
from .errors import invalid
from .made import abs as abs_
from .made import matrix_transpose, reduce_max, reduce_sum, sqrt, square
from .operands import axes, computed, floating, integer, integers, operand, pair, run, same_dtypes
from .operators import shapes_error


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
