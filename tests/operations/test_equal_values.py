"""Vectors of decompositions where other singular values or eigenvalues, whose vectors are not used, are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

WIDE = np.zeros((3, 5))
WIDE[0, 1] = 2.0
FULL_RANK = np.diag([3.0, 1.0, 1.0])
ONE_BY_ONE = np.outer([1.0, 2.0, -0.5], [0.3, -1.0, 2.0])
SHEAR = FULL_RANK.copy()
SHEAR[0, 1] = 0.5


def first_pair(a):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return s[0] * u[0, 0] * vt[0, 1] + np.sum(u[:, 0] * np.arange(1, len(u) + 1)) * vt[0, 2]


def first_pair_of_a_square(a):
    u, s, vt = np.linalg.svd(a)
    return s[0] * u[0, 0] * vt[0, 1] + np.sum(u[:, 0]) * vt[0, 2]


def best_of_rank_one(a):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum(np.cos((u[:, :1] * s[:1]) @ vt[:1]))


def last_eigenvector(a):
    w, v = np.linalg.eigh(a + a.T)
    return w[-1] * v[0, -1] ** 2 + (v[:, -1] @ np.array([1.0, 2.0, 3.0])) * v[1, -1]


def first_eigenvector(a):
    w, v = np.linalg.eig(a)
    return (v[0, 0] * (v[1, 0] + 2.0 * v[2, 0]) * w[0]).real


def read_in_a_branch(a):
    w, v = np.linalg.eigh(a + a.T)
    u, s, vt = np.linalg.svd(a)
    if a[0, 0] < 1.0:
        return w[0] * v[0, 0] + u[0, 0] * vt[1, 1]
    return w[-1] * s[0]


CASES: list[tuple[Callable[..., Any], np.ndarray]] = [
    (first_pair, WIDE), (first_pair, WIDE.T.copy()), (first_pair, FULL_RANK),
    (first_pair_of_a_square, FULL_RANK), (first_pair_of_a_square, ONE_BY_ONE), (first_pair_of_a_square, WIDE[:, :3]),
    (best_of_rank_one, WIDE), (best_of_rank_one, ONE_BY_ONE), (best_of_rank_one, FULL_RANK),
    (last_eigenvector, FULL_RANK), (read_in_a_branch, FULL_RANK), (first_eigenvector, SHEAR),
]  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("f, a", CASES)
def test_what_is_not_used_may_be_equal(f: Callable[..., Any], a: np.ndarray) -> None:
    gradient = ad.grad(f)(a)
    for seed in (1, 2):
        d, h = np.random.default_rng(seed).normal(size=a.shape), 1e-6
        expected = (f(a + h * d) - f(a - h * d)) / (2 * h)
        assert np.sum(gradient * d) == pytest.approx(expected, rel=1e-6, abs=1e-8)


@pytest.mark.filterwarnings("ignore")
def test_what_is_used_may_not() -> None:
    def f(a: Any) -> Any:
        return np.linalg.eigh(a)[1][0, 0] ** 2

    assert not np.isfinite(ad.grad(f)(FULL_RANK)).all()
