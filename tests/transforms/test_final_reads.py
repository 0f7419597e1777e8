"""What an iteration reads is read from the finished array, if no later store changes it; else it is saved."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

A = np.random.default_rng(3).normal(size=(5, 5)) + 5.0 * np.eye(5)


def rows_of_lu(A):
    A = A.copy()
    for i in range(5):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, 5):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(A * A)


def columns_of_this_iteration(A):
    Q, s = np.zeros((5, 5)), 0.0
    for k in range(5):
        Q[:, k] = np.sin(A[:, k])
        for j in range(k + 1, 5):
            s = s + np.sum(Q[:, k] * Q[:, k] * A[:, j])
    return s


def stored_again_below(A):
    A = A.copy()
    for i in range(1, 5):
        for j in range(i):
            A[i, j] *= np.sum(A[i, :j] ** 2) + 1.0
        for j in range(1, i):
            A[i, j] *= A[i, j - 1]
    return np.sum(A * A)


def read_up_to_the_index(A):
    A = A.copy()
    for i in range(5):
        for j in range(i, 5):
            A[i, j] *= np.sum(A[i, : j + 1])
    return np.sum(A * A)


def stored_behind_the_loop(A):
    A = A.copy()
    for i in range(1, 5):
        for j in range(i, 5):
            A[i, j] *= np.sum(A[i, :i] ** 2)
        A[i, 0] = A[i, 4] * A[i, 0]
    return np.sum(A * A)


def other_rows_of_a_column(A):
    A = A.copy()
    for i in range(5):
        for j in range(i + 1):
            A[i, j] *= np.sum(A[:j, j] ** 2) + np.sum(A[: j + 1, j] ** 2)
    return np.sum(A)


def downwards(A):
    A = A.copy()
    for i in range(4, -1, -1):
        for j in range(i, 5):
            A[i, j] *= np.sum(A[i, :i] ** 2) + np.sum(A[i + 1 :, j] ** 2) + 1.0
    return np.sum(A)


@pytest.mark.parametrize("f, saved", [
    (rows_of_lu, 1), (columns_of_this_iteration, None), (stored_again_below, 2), (read_up_to_the_index, None),
    (stored_behind_the_loop, None), (other_rows_of_a_column, None), (downwards, None),
], ids=lambda x: getattr(x, "__name__", None))  # fmt: skip
def test_gradients(f, saved):
    gradient = ad.grad(f)
    small = A / 5.0 if f is not rows_of_lu else A
    want = differences(f, small)
    np.testing.assert_allclose(gradient(small), want, rtol=1e-6, atol=1e-7 * np.max(np.abs(want)))
    if saved is not None:
        assert gradient.source().count("append") == saved


def blocks(A, size):
    A, total = A.copy(), 0.0
    n = len(A)
    for start in range(0, n, size):
        stop = min(start + size, n)
        corner = A[start:stop, start:stop]
        total += np.linalg.slogdet(corner)[1]
        A[stop:, stop:] -= A[stop:, start:stop] @ np.linalg.solve(corner, A[start:stop, stop:])
    return total


def blocks_without_an_end(A, size):
    A = A.copy()
    for start in range(0, len(A), size):
        A[start + size :] += 0.1 * np.sum(np.cos(A[start : start + size]))
    return np.sum(A)


def rows_from_the_index(A, size):
    A = A.copy()
    for i in range(1, len(A)):
        A[i:] += 0.1 * np.sum(np.cos(A[:i]))
    return np.sum(A)


def a_bound_that_goes_back(A, size):
    A = A.copy()
    for start in range(0, len(A), size):
        stop = min(start + size, len(A) - start)
        A[stop:] += 0.1 * np.sum(np.cos(A[start:stop]))
    return np.sum(A)


def a_bound_that_may_be_negative(A, size):
    A = A.copy()
    for start in range(2, size, -1):
        A[start - 1 :] += 0.1 * np.sum(np.cos(A[: start - 1]))
    return np.sum(A)


def up_to_what_may_be_negative(A, size):
    A = A.copy()
    for start in range(0, -size, -1):
        A[start - 1 :] += 0.1 * np.sum(np.cos(A[: start - 1]))
    return np.sum(A)


def two_bounds(A, size):
    A = A.copy()
    for start in range(0, len(A), size):
        A[start + size :] += 0.1 * np.sum(np.cos(A[start : start + size]))
        A[start:] += 0.1 * np.sum(np.cos(A[start : start + size]))
    return np.sum(A)


def left_early(A, size):
    A = A.copy()
    for start in range(0, len(A), size):
        stop = min(start + size, len(A))
        A[stop:] += 0.1 * np.sum(np.cos(A[start:stop]))
        if A[start, start] > 5.5:
            break
    return np.sum(A)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("f, copied", [
    (blocks, False), (blocks_without_an_end, False), (rows_from_the_index, False), (a_bound_that_goes_back, True),
    (a_bound_that_may_be_negative, True), (up_to_what_may_be_negative, True), (two_bounds, True), (left_early, None),
], ids=lambda x: getattr(x, "__name__", None))  # fmt: skip
def test_parts_in_front_of_all_later_stores(f, copied, size):
    g = ad.grad(f)
    M = 0.4 * A
    np.testing.assert_allclose(g(M, size), differences(lambda M: f(M, size), M), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(g(M, size), ad.grad(f, optimize=False)(M, size), rtol=1e-9, atol=1e-9)
    if copied is not None:
        behind = g.source(M, size).split("# adjoint")[0].split(" in range(")[-1]
        assert (".copy()" in behind) == copied
