"""Matrices: products, solutions, decompositions, norms. Also the module ``torch.linalg``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ..graph.direct import binary
from .core import TORCH, Base, named, run
from .made import SPACES
from .tensor import method


def matmul(input: Any, other: Any) -> Any:
    """The product of matrices, of stacks of them, or of vectors."""
    a, b = input._value, other._value
    if a.ndim == 2 and b.ndim == 2:
        return _mm(input, other)
    return _matmul(input, other)


def _matmul(input: Any, other: Any) -> Any:
    a, b = input._value, other._value
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {input.dtype} != {other.dtype}")
    if a.ndim and b.ndim > 1 and a.shape[-1] != b.shape[-2]:
        rows = a.shape[-2] if a.ndim > 1 else 1
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{a.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})"
        )
    label = {(2, 2): "Mm", (2, 1): "Mv", (1, 1): "Dot", (3, 3): "Bmm"}.get((a.ndim, b.ndim), "UnsafeView")
    return run(label, np.matmul, input, other)


# For two matrices, ndarray.dot has less to decide than np.matmul.
_mm = binary(TORCH, "Mm", PRIMS[np.matmul], np.ndarray.dot, _matmul)


def _product(name: str, *dims: int) -> Callable[..., Any]:
    def product(input: Any, mat2: Any) -> Any:
        found = (input._value.ndim, mat2._value.ndim)
        if found != dims:
            raise RuntimeError(
                f"{name}: expected tensors with {dims[0]} and {dims[1]} dimensions, got {found[0]}D and {found[1]}D "
                "tensors"
            )
        return matmul(input, mat2)

    return named(name, product, f"The product of tensors with {dims[0]} and {dims[1]} axes.")


mm, mv, bmm, dot = _product("mm", 2, 2), _product("mv", 2, 1), _product("bmm", 3, 3), _product("dot", 1, 1)


def einsum(equation: str, *operands: Any) -> Any:
    """A sum of products, as the equation says."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    text = equation.replace(" ", "")
    return run("Einsum", lambda *a: np.einsum(text, *a), *operands)


# What the module ``torch.linalg`` has, and what the module ``torch`` and tensors have.
MODULE: dict[str, Any] = {
    **SPACES["linalg"], "matmul": matmul, "LinAlgError": np.linalg.LinAlgError,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (matmul, mm, mv, bmm, dot)}
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
FUNCTIONS.update(einsum=einsum)
method("__matmul__", lambda self, other: matmul(self, other) if isinstance(other, Base) else NotImplemented)
method("__rmatmul__", lambda self, other: matmul(other, self) if isinstance(other, Base) else NotImplemented)
