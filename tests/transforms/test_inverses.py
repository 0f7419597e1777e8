"""A matrix whose inverse the adjoint has is not factored again."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(4)
A = RNG.normal(size=(4, 4)) + 4.0 * np.eye(4)
Y, B = RNG.normal(size=4), RNG.normal(size=(4, 3))


def likelihood(a, y):
    return y @ np.linalg.solve(a, y) + np.linalg.slogdet(a)[1]


def the_inverse_comes_later(a, y):
    """In the backward sweep, the system is solved first."""
    total = np.log(np.linalg.det(a @ a.T)) + np.linalg.slogdet(a)[1]
    return total + np.sum(np.sin(np.linalg.solve(a, y)))


def columns(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2) + np.sum(np.linalg.inv(a) ** 3)


def transposed(a, y):
    return np.sum(np.linalg.solve(a.T, y) ** 2) + np.linalg.slogdet(a)[1]


def in_a_loop(a, y):
    total = 0.0
    for k in range(3):
        y = np.linalg.solve(a + k * np.eye(4), y)
        total += np.linalg.slogdet(a + k * np.eye(4))[1]
    return total + y @ y


PROGRAMS = [
    (likelihood, (A, Y)), (the_inverse_comes_later, (A, Y)), (columns, (A, B)), (transposed, (A, Y)),
    (in_a_loop, (A, Y)),
]  # fmt: skip


@pytest.mark.parametrize("f, args", PROGRAMS)
def test_one_factorisation_less(f, args):
    usual, plain = ad.grad(f, argnums=(0, 1)), ad.grad(f, argnums=(0, 1), optimize="-inverses")
    assert usual.source(*args).count("linalg.solve(") == plain.source(*args).count("linalg.solve(") - 1
    for k, (a, b) in enumerate(zip(usual(*args), plain(*args))):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
        moved = differences(lambda x: f(*(x if j == k else v for j, v in enumerate(args))), args[k])
        np.testing.assert_allclose(a, moved, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f, args", PROGRAMS)
def test_second_derivatives(f, args):
    v = np.ones_like(args[0])
    plain = ad.hvp(f, optimize="-inverses")(*args, v)
    np.testing.assert_allclose(ad.hvp(f)(*args, v), plain, rtol=1e-9, atol=1e-11)


def test_stacks_and_other_matrices_stay_systems():
    def stacks(a, y):
        return np.sum(np.linalg.solve(a, y) ** 2) + np.sum(np.linalg.slogdet(a)[1])

    def another(a, y):
        return np.sum(np.linalg.solve(a + 1.0, y) ** 2) + np.linalg.slogdet(a)[1]

    for f, args in ((stacks, (np.stack([A, A.T]), np.stack([B, B]))), (another, (A, Y))):
        usual, plain = ad.grad(f), ad.grad(f, optimize="-inverses")
        assert usual.source(*args) == plain.source(*args)
        np.testing.assert_allclose(usual(*args), differences(lambda a: f(a, args[1]), args[0]), rtol=1e-5, atol=1e-7)


def test_a_matrix_without_inverse():
    """The function raises; its determinant alone does not, and has cotangents that are not numbers."""
    singular = np.ones((2, 2))
    with pytest.raises(np.linalg.LinAlgError):
        ad.grad(likelihood)(singular, np.ones(2))
