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


def _batches(x, y, batch):
    total = 0.0
    for start in range(0, len(x), batch):
        stop = min(start + batch, len(x))
        z = x[start:stop] * y[start:stop]
        total = total + np.sum(np.sin(z)) * np.mean(z) + np.sum(z * np.arange(stop - start)) * (1.0 + total)
    return total


def test_blocks_have_their_lengths():
    """The last one may be shorter, and of one element; the second array may be longer, or shorter."""
    x, y = np.linspace(0.4, 1.3, 7), np.linspace(-0.4, 0.3, 7)
    g = ad.value_and_grad(_batches, argnums=(0, 1))
    assert "sum_to" not in g.source(x, y, 3)
    for n, m, batch in (
        (7, 7, 3),
        (7, 7, 6),
        (7, 7, 1),
        (6, 6, 3),
        (7, 9, 3),
        (7, 7, 70),
        (2, 2, 3),
        (1, 1, 2),
        (7, 7, -2),
    ):
        u, v = np.linspace(0.4, 1.3, n), np.linspace(-0.4, 0.3, m)
        value, found = g(u, v, batch)
        assert value == _batches(u, v, batch)
        for k in range(2):
            np.testing.assert_allclose(found[k], differences(_batches, u, v, batch, argnum=k), rtol=1e-5, atol=1e-7)
    with pytest.raises(ValueError, match="broadcast"):
        g(x, y[:5], 3)
    # A part of one element is broadcast.
    u, v = x[:5], y[:4]
    value, found = g(u, v, 3)
    assert value == _batches(u, v, 3)
    np.testing.assert_allclose(found[1], differences(_batches, u, v, 3, argnum=1), rtol=1e-5, atol=1e-7)
