"""Functions of stacks of matrices. Some matrices may be singular."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dispatch import dispatched

LARGE = 150  # rows from which on the factor pays
BLOCK = 40  # rows of the matrices that LAPACK inverts then


@dispatched
def inverse_or_nan(a: Any) -> Any:
    """``np.linalg.inv(a)``, nan for matrices without an inverse."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        if np.ndim(a) == 2:
            return np.full_like(np.linalg.det(a), np.nan, shape=np.shape(a))
        return np.stack([inverse_or_nan(x) for x in a])


@dispatched
def inverse(a: Any) -> Any:
    """The same for derivatives, which may differ in the last digits.

    That of a large matrix that is symmetric and positive definite is computed in two thirds of the time, by its factor.
    """
    if type(a) is np.ndarray and a.ndim == 2 and len(a) >= LARGE and a.dtype in (np.float64, np.float32):
        if np.array_equal(a[0], a[:, 0]) and np.array_equal(a, a.T):
            return _inverse_by_factor(a)
    return inverse_or_nan(a)


def _inverse_by_factor(a: Any) -> Any:
    try:
        factor = np.linalg.cholesky(a)
        _invert_lower(factor)
    except np.linalg.LinAlgError:
        return inverse_or_nan(a)
    out = np.empty_like(factor)
    _square_lower(factor, out)
    return out


def _invert_lower(x: Any) -> None:
    """Put the inverse of a lower triangular matrix in its place, by blocks (Du Croz and Higham, "Stability of methods
    for matrix inversion", IMA Journal of Numerical Analysis 12, 1992)."""
    if len(x) <= BLOCK:
        x[...] = np.tril(np.linalg.inv(x))
        return
    k = len(x) // 2
    first, below, last = x[:k, :k], x[k:, :k], x[k:, k:]
    _invert_lower(first)
    _invert_lower(last)
    np.matmul(last, -(below @ first), out=below)


def _square_lower(x: Any, out: Any) -> None:
    """Put ``x.T @ x`` for a lower triangular matrix in the place of `out`, without the products with its zeros."""
    if len(x) <= 2 * BLOCK:
        np.matmul(x.T, x, out=out)
        return
    k = len(x) // 2
    first, below, last = x[:k, :k], x[k:, :k], x[k:, k:]
    _square_lower(first, out[:k, :k])
    _square_lower(last, out[k:, k:])
    out[:k, :k] += below.T @ below
    np.matmul(below.T, last, out=out[:k, k:])
    out[k:, :k] = out[:k, k:].T


@dispatched
def cofactors(a: Any) -> Any:
    """The derivative of ``np.linalg.det``, also at a singular matrix."""
    try:
        return np.linalg.det(a)[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2)
    except np.linalg.LinAlgError:
        u, s, vh = np.linalg.svd(a)
        others = np.prod(np.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]), axis=-1)
        sign = np.linalg.det(u) * np.linalg.det(vh)
        return sign[..., None, None] * ((u.conj() * others[..., None, :]) @ vh.conj())
