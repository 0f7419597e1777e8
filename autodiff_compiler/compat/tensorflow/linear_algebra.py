"""Products of matrices and of named axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementwise import cast
from .made import matrix_transpose
from .operands import checked, run, same_dtypes


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, output_type: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The product of matrices, or of batches of them; each may be transposed first."""
    a, b = same_dtypes((a, b), "MatMul")
    if transpose_a or adjoint_a:
        a = matrix_transpose(a, conjugate=adjoint_a)
    if transpose_b or adjoint_b:
        b = matrix_transpose(b, conjugate=adjoint_b)
    return a @ b if output_type is None else cast(a @ b, output_type)


def einsum(equation: str, *inputs: Any, optimize: Any = None, name: str | None = None) -> Any:
    """Products and sums over named axes, as ``np.einsum``."""
    return checked("Einsum", run, np.einsum, equation, *same_dtypes(inputs, "Einsum"))
