"""Inverses of large symmetric matrices, which derivatives compute by their Cholesky factor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.kernels.matrices import LARGE, inverse


def bent(n: int) -> tuple[Any, Any]:
    """The matrix of second differences, and its inverse by a formula."""
    i = np.arange(1.0, n + 1.0)
    return (
        2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1),
        np.minimum(i[:, None], i) * (n + 1 - np.maximum(i[:, None], i)) / (n + 1),
    )


@pytest.mark.parametrize("n", [LARGE, LARGE + 1, 2 * LARGE + 3])
def test_it_is_as_near_as_that_of_numpy(n: int) -> None:
    matrix, exact = bent(n)
    for a, want in ((matrix, exact), (matrix @ matrix, exact @ exact)):
        for x in (a, np.asfortranarray(a)):
            before, found = x.copy(), inverse(x)
            scale = np.abs(want).max() * np.linalg.cond(a) * np.finfo(float).eps
            assert np.abs(found - want).max() <= scale
            np.testing.assert_array_equal(found, found.T)
            np.testing.assert_array_equal(x, before)
    assert inverse(matrix.astype(np.float32)).dtype == np.float32


def test_other_matrices_are_numpys() -> None:
    a = np.random.default_rng(1).normal(size=(LARGE, LARGE))
    stack = np.stack([bent(LARGE)[0]] * 2)
    for x in (a, a + a.T, -bent(LARGE)[0], stack, bent(LARGE)[0] + 0j):  # no symmetry, indefinite, negative
        np.testing.assert_array_equal(inverse(x), np.linalg.inv(x))
    for x in (np.zeros_like(a), np.full_like(a, np.nan)):
        assert np.isnan(inverse(x)).all()


def density(x: Any, y: Any, noise: Any) -> Any:
    squares = np.sum(x**2, axis=1)
    covariance = np.exp(x @ x.T - 0.5 * (squares[:, None] + squares)) + noise * np.eye(len(y))
    return y @ np.linalg.solve(covariance, y) + np.linalg.slogdet(covariance)[1]


def test_the_gradient_of_a_density() -> None:
    rng = np.random.default_rng(2)
    args = rng.normal(size=(LARGE + 10, 3)), rng.normal(size=LARGE + 10), 0.1
    grads = ad.grad(density, argnums=(0, 1, 2))(*args)
    tangents = [rng.normal(size=np.shape(a)) for a in args]
    _, change = ad.jvp(density, args, (tangents[0], tangents[1], float(tangents[2])))
    np.testing.assert_allclose(sum([np.sum(g * t) for g, t in zip(grads, tangents)]), change, rtol=1e-9)


@pytest.mark.parametrize("p", [1, np.inf, "fro", -1])
def test_a_condition_number_is_numpys(p: Any) -> None:
    """It is a value of the function."""
    b = np.random.default_rng(3).normal(size=(LARGE, LARGE))
    a = b @ b.T + np.eye(LARGE)

    def f(a: Any) -> Any:
        return np.linalg.cond(a, p)

    value, grad = ad.value_and_grad(f)(a)
    assert value == f(a) and np.isfinite(grad).all()
