"""Matrices: products, solutions, decompositions, norms. Also the module ``torch.linalg``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ..graph.direct import binary
from .core import TORCH, Base, named, run
from .made import SPACES
from .reductions import norm
from .tensor import method


def _same_dtype(a: Any, b: Any) -> None:
    if a._value.dtype != b._value.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {_cpp(a)} != {_cpp(b)}")


def _cpp(t: Any) -> str:
    names: dict[str, str] = {
        "float32": "float", "float64": "double", "int64": "long long", "int32": "int", "bool": "bool",
    }  # fmt: skip
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
                    f"[{other._value.shape[0]}] to have the same number of elements, but got {input._value.shape[0]} "
                    f"and {other._value.shape[0]} elements respectively"
                )
            return run(label, np.dot if dims == (1, 1) else np.matmul, input, other)
        return matmul(input, other)

    return named(name, product, f"The product of tensors with {dims[0]} and {dims[1]} axes.")


mm, mv = _product("mm", (2, 2), "Mm"), _product("mv", (2, 1), "Mv")
bmm, dot = _product("bmm", (3, 3), "Bmm"), _product("dot", (1, 1), "Dot")


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


# --- torch.linalg -----------------------------------------------------------------------------------------------------


def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """The X with ``A @ X = B``."""
    vector = B._value.ndim == 1 or (B._value.ndim < A._value.ndim)
    if not left:
        return solve(A.mT, B.mT).mT

    def computed(a: Any, b: Any) -> Any:
        return np.linalg.solve(a, np.expand_dims(b, -1))[..., 0] if vector else np.linalg.solve(a, b)

    return run("LinalgSolveEx", computed, A, B)


def linalg_norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
    """The p-norm of all elements or of vectors along an axis; of a matrix the Frobenius norm."""
    if ord not in (None, "fro") and (len(dim) == 2 if isinstance(dim, (tuple, list)) else A.dim() == 2 and dim is None):
        raise NotImplementedError(
            f"torch.linalg.norm: the matrix norm {ord!r} is not there. Instead: svdvals, abs, sum"
        )
    return norm(A, 2 if ord is None else ord, dim, keepdim)


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    """The p-norm of all elements, or of vectors along axes."""
    return norm(x, ord, dim, keepdim)


# What the module ``torch.linalg`` has, and what the module ``torch`` and tensors have.
MODULE: dict[str, Any] = {
    **SPACES["linalg"], "solve": solve, "matmul": matmul, "norm": linalg_norm, "vector_norm": vector_norm,
    "LinAlgError": np.linalg.LinAlgError,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (matmul, mm, mv, bmm, dot)}
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
FUNCTIONS.update(einsum=einsum, tensordot=tensordot, norm=norm)
method("__matmul__", lambda self, other: matmul(self, other) if isinstance(other, Base) else NotImplemented)
method("__rmatmul__", lambda self, other: matmul(other, self) if isinstance(other, Base) else NotImplemented)
