"""Masks as subscripts, with both backends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from . import both_halves
from .both import agree, bailed, why_not

X = np.array([0.5, -1.5, 2.0, 0.25, -0.75, 3.0])


def picked(x: Any) -> Any:
    y = x[x > 0.3]
    return np.sum(y**2) * len(y) + np.sum(np.outer(x, x)[np.outer(x, x) < 0])


def put(x: Any) -> Any:
    y = x * 2.0
    y[y > 0] = y[y > 0] ** 1.5
    y[x < 0] += np.sin(x[x < 0])
    return np.sum(y * x)


def of_a_part(x: Any) -> Any:
    A = np.outer(x, x)
    A[1][x > 0] = x[x > 0] * 3.0
    A[:, 2][x < 0] *= 2.0
    return np.sum(A**2)


def in_a_loop(x: Any) -> Any:
    s = 0.0
    for k in range(len(x)):
        near = np.abs(x - x[k]) < 1.0
        s = s + np.sum(x[near]) * x[k]
        x[near] = np.cos(x[near])
    return s + np.sum(x)


def swapped(x: Any) -> Any:
    m = x > 0
    y = x.copy()
    y[m] = y[m][::-1]
    y[~m] = -x[~m]
    return np.sum(y * np.arange(6))


@pytest.mark.parametrize("f", [picked, put, of_a_part, in_a_loop, swapped])
def test_masks(f: Any) -> None:
    native = agree(f, X)
    assert why_not(native) is None and not bailed(native)
    for x in (-X, np.abs(X), -np.abs(X), X.astype(np.float32)):
        agree(f, x, rtol=1e-5)
    for kind in both_halves.KINDS:
        both_halves.agree(f, X.copy(), kind=kind)


@pytest.mark.parametrize("n", [1, 3, 4, 5])
def test_arrays_that_do_not_fit_raise(n: int) -> None:
    def f(x: Any, y: Any) -> Any:
        z = x * 1.0
        z[x > 0.0] = y * x[0]
        return np.sum(z**2)

    native = agree(f, X, np.ones(n), argnums=(0, 1))
    assert bailed(native) == (n not in (1, 4))


@pytest.mark.parametrize("n", [3, 2, 6])
def test_slices_of_one_element_broadcast(n: int) -> None:
    def f(x: Any) -> Any:
        A = np.outer(x, x)
        return np.sum((A[:, 0:1] - A[:, 2:3].T) ** 2) + np.sum(A[-1:] * A) + np.sum(A[:, :1] * A)

    native = agree(f, X[:n])
    assert why_not(native) is None and bailed(native) == (n < 3)
