"""Products of matrices, norms, and tensors scaled down by them.

A root has the gradient 0 where the upstream gradient is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .made import abs as abs_
from .made import matrix_transpose, maximum, reduce_max, reduce_sum, reduce_variance, sqrt, square
from .operands import axes as axes_of
from .operands import checked, given, operand, run, same_dtypes
from .shaping import cast
from .tensors import tensor


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, *, name: str | None = None,
) -> Any:  # fmt: skip
    """The product of matrices, or of batches of them; each may be transposed first."""
    a, b = same_dtypes((a, b), "MatMul")
    if transpose_a or adjoint_a:
        a = matrix_transpose(a, conjugate=adjoint_a)
    if transpose_b or adjoint_b:
        b = matrix_transpose(b, conjugate=adjoint_b)
    return a @ b


def einsum(equation: str, *inputs: Any, name: str | None = None) -> Any:
    """Products and sums over named axes, as ``np.einsum``."""
    return checked("Einsum", run, np.einsum, equation, *same_dtypes(inputs, "Einsum"))


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of `reduce_variance`."""
    return sqrt(reduce_variance(input_tensor, axis, keepdims))


def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of the sum of squares."""
    return sqrt(reduce_sum(square(input_tensor), axis, keepdims))


def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Any:
    """The norm of vectors, along one axis or of all elements, or of matrices, along two."""
    x, at, keep = operand(tensor), axes_of(axis), bool(keepdims)
    matrix = isinstance(at, tuple) and len(at) > 1
    if ord == "euclidean" or ord == ("fro" if matrix else 2):
        size = abs_(x) if x._value.dtype.kind == "c" else x
        return reduce_euclidean_norm(size, at, keep)
    if not matrix and ord in (1, np.inf):
        return (reduce_sum if ord == 1 else reduce_max)(abs_(x), at, keep)
    if not matrix and isinstance(ord, (int, float)) and ord > 0:
        return reduce_sum(abs_(x) ** ord, at, keep) ** (1.0 / ord)
    raise ValueError(f"'ord' must be 'euclidean' or 'fro' for matrices, a positive number for vectors, got {ord}")


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """`t`, scaled down where its norm along the axes (all of them) is larger than `clip_norm`."""
    x = operand(t)
    limit = given(clip_norm, x)
    total = reduce_sum(square(x), axes_of(axes), True)
    positive = np.asarray(total._value > 0)
    length = run(np.where, positive, sqrt(run(np.where, positive, total, np.ones((), x._value.dtype)[()])), total)
    return x * limit / maximum(length, limit)


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The norm of all the tensors' elements together. None among them is left out."""
    parts = [reduce_sum(square(t)) for t in t_list if t is not None]
    return sqrt(sum(parts[1:], parts[0])) if parts else tensor(np.float32(0))


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """The tensors, scaled down together if their global norm is larger than `clip_norm`; and that norm."""
    norm = global_norm(t_list) if use_norm is None else operand(use_norm)
    limit = given(clip_norm, norm)
    scale = limit / maximum(norm, limit)
    return [None if t is None else operand(t) * cast(scale, operand(t).dtype) for t in t_list], norm
