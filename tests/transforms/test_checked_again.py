"""Reads of which only the error is needed: they go where the adjoint reads or stores with the same subscripts."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

Z = np.linspace(-1.0, 2.0, 12).reshape(4, 3) ** 2


def cross_entropy(z, labels):
    z = z - np.max(z, axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return -logp[np.arange(len(labels)), labels].mean()


def picked(z, labels):
    return np.sum(z[np.arange(len(z)), labels])


def elements(z, labels):
    return z[1, labels[0]] + z[labels[1], 2] * 2.0


def rows(z, labels):
    return np.sum(z[labels])


@pytest.mark.parametrize("function", [cross_entropy, picked, elements, rows])
def test_the_gradient_and_the_errors_stay(function):
    labels = np.array([0, 2, 1, 1])
    gradient = ad.grad(function)
    np.testing.assert_allclose(gradient(Z, labels), differences(lambda z: function(z, labels), Z), rtol=1e-6, atol=1e-8)
    for wrong in (np.array([0, 4, 1, 1]), np.array([0, -5, 1, 1]), np.array([7, 0, 1, 1])):
        with pytest.raises(IndexError):
            function(Z, wrong)
        with pytest.raises(IndexError):
            gradient(Z, wrong)


def test_no_read_on_a_line_of_its_own():
    lines = ad.grad(cross_entropy).source(Z, np.array([0, 2, 1, 1])).splitlines()
    assert sum("labels]" in line for line in lines if "#" not in line) == 1


def test_a_read_stays_where_something_else_raises_before():
    """The first error is the function's."""

    def f(z, labels, w):
        chosen = np.sum(z[np.arange(len(z)), labels])
        return chosen + np.sum(np.linalg.inv(w)) * 0.5

    with pytest.raises(IndexError):
        ad.grad(f)(Z, np.array([0, 4, 1, 1]), np.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError):
        ad.grad(f, argnums=(0, 2))(Z, np.array([0, 2, 1, 1]), np.zeros((2, 2)))
