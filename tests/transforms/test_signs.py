"""No part of a cotangent is copied for its sign where it enters a product: the product has the sign."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(5)
A, B, C = RNG.normal(size=(5, 5)), RNG.normal(size=(3, 2)), RNG.normal(size=(2, 3))


def subtracted_from_a_part(a, b, c):
    a = np.sin(a)
    a[2:, 2:] -= b @ c
    return np.sum(a**3)


def subtracted_as_a_transpose(a, b, c):
    a = np.sin(a)
    a[2:, 2:] -= (b @ c).T
    return np.sum(a**3)


def twice(a, b, c):
    a = np.sin(a)
    a[2:, 2:] -= b @ c
    a[1:4, 1:4] -= b @ c
    return np.sum(a**3)


def solved(a, b, c):
    a = np.sin(a)
    a[2:, 2:] -= b @ np.linalg.solve(c @ b + 9.0 * np.eye(2), c)
    return np.sum(a**3)


PROGRAMS = [subtracted_from_a_part, subtracted_as_a_transpose, twice, solved]


@pytest.mark.parametrize("f", PROGRAMS)
def test_signs_of_parts(f):
    g = ad.grad(f, argnums=(0, 1, 2))
    assert f is twice or "= -a_bar[" not in g.source(A, B, C)
    for k, (x, y) in enumerate(zip(g(A, B, C), ad.grad(f, argnums=(0, 1, 2), optimize=False)(A, B, C))):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13)
        args = (A, B, C)
        moved = differences(lambda x: f(*(x if j == k else v for j, v in enumerate(args))), args[k])
        np.testing.assert_allclose(x, moved, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f):
    v = np.ones_like(A)
    plain = ad.hvp(f, optimize=False)(A, B, C, v)
    np.testing.assert_allclose(ad.hvp(f)(A, B, C, v), plain, rtol=1e-9, atol=1e-11)
