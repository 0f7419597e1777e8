"""What the derivatives of `scipy.linalg` need and SciPy has no function for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

# From SciPy 1.18 on, the triangle that `cho_factor` does not use is zero. Before, it is that of the argument.
CLEARED = bool(linalg.cho_factor(np.array([[2.0, 1.0], [1.0, 2.0]]))[0][1, 0] == 0)


def toeplitz_solution(c: Any, r: Any, b: Any, check_finite: bool = True) -> Any:
    """``scipy.linalg.solve_toeplitz((c, r), b)``: each operand is an argument of its own."""
    return linalg.solve_toeplitz((c, r), b, check_finite=check_finite)


def banded_solution(ab: Any, b: Any, diagonals: int, lower: bool, check_finite: bool) -> Any:
    """``scipy.linalg.solveh_banded(ab, b)`` for this number of diagonals."""
    return linalg.solveh_banded(ab, b, lower=lower, check_finite=check_finite)


def permutation(piv: Any) -> Any:
    """The rows in the order in which LAPACK's exchanges ``i <-> piv[i]`` put them."""
    order = np.arange(len(piv))
    for i, k in enumerate(piv):
        order[[i, k]] = order[[k, i]]
    return order


def inverse_permutation(p: Any) -> Any:
    """The permutation that undoes `p`."""
    return np.argsort(p)


def left_eigenvectors(a: Any, b: Any = None, check_finite: bool = True) -> Any:
    """The eigenvalues `w` and, in columns, left eigenvectors: ``conj(v.T) @ a == w[:, None] * conj(v.T) @ b``."""
    return linalg.eig(a, b, left=True, right=False, check_finite=check_finite)


def qr_pivots(a: Any, check_finite: bool = True) -> Any:
    """The order in which the QR decomposition with pivoting takes the columns."""
    return linalg.qr(a, mode="r", pivoting=True, check_finite=check_finite)[1]


def balance_scale(a: Any, permute: bool = True, scale: bool = True) -> Any:
    """The powers of two by which `scipy.linalg.matrix_balance` scales."""
    return linalg.matrix_balance(a, permute=permute, scale=scale, separate=True)[1][0]


def balance_order(a: Any, permute: bool = True, scale: bool = True) -> Any:
    """The order in which `scipy.linalg.matrix_balance` takes rows and columns."""
    return linalg.matrix_balance(a, permute=permute, scale=scale, separate=True)[1][1]


def polar_factor(a: Any) -> Any:
    """The unitary factor of the polar decomposition."""
    u, _, vh = linalg.svd(a, full_matrices=False)
    return u @ vh


def finite(a: Any) -> Any:
    """The array itself. Raises ValueError if an element is infinite or nan."""
    return np.asarray_chkfinite(a)
