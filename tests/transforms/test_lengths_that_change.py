"""Loops that carry arrays whose lengths change: what the last iteration has is not taken for what another one has."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences


def cut(x):
    while len(x) > 2:
        x = np.sin(x[2:])
    return np.sum(x * x)


def shorter_by_one(x):
    while len(x) > 1:
        x = np.sin(x[1:]) * x[:-1]
    return np.sum(x * x)


def three_times(x):
    for _ in range(3):
        x = np.sin(x[1:]) * x[:-1]
    return np.sum(x * x)


def left_early(x):
    for _ in range(5):
        if len(x) < 3:
            break
        x = np.sin(x[1:]) * x[:-1]
    return np.sum(x * x)


def returned(x):
    while True:
        y = x[1:]
        if len(y) < 2:
            return np.sum(y**3)
        x = np.sin(y) * x[:-1]


@pytest.mark.parametrize("f", [cut, shorter_by_one, three_times, left_early, returned])
def test_derivatives(f):
    for n in (4, 5, 6):
        x, v = np.random.default_rng(n).normal(size=n), np.cos(np.arange(n))
        first = differences(f, x)
        second = np.tensordot(v, differences(ad.grad(f), x), 1)
        tolerance = {"rtol": 1e-4, "atol": 1e-6}
        np.testing.assert_allclose(ad.grad(f)(x), first, **tolerance)
        np.testing.assert_allclose(ad.vjp(f, x)[1](1.0)[0], first, **tolerance)
        np.testing.assert_allclose(ad.jvp(f, (x,), (v,))[1], first @ v, **tolerance)
        np.testing.assert_allclose(ad.linearize(f, x)[1](v), first @ v, **tolerance)
        np.testing.assert_allclose(ad.hvp(f)(x, v), second, **tolerance)
        np.testing.assert_allclose(ad.grad(lambda x: np.sum(ad.grad(f)(x) * v))(x), second, **tolerance)
        np.testing.assert_allclose(ad.hessian(f)(x) @ v, second, **tolerance)
