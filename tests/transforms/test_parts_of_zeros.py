"""Additions to parts of zeros that become stores: when they do, and that the gradients stay."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(6)


def halves(x, n):
    return np.sum(np.tanh(x[:n]) ** 2) * np.sum(np.sin(x[n:]) ** 2)


def gates(x, w):
    size = w.shape[0]
    z = x * x
    a, b, c = z[:, :size], z[:, size : 2 * size], z[:, 2 * size :]
    return np.sum(np.tanh(a * w) * b + np.sin(c) * a)


def overlapping(x, n):
    return np.sum(np.tanh(x[: n + 1]) ** 2) * np.sum(np.sin(x[n - 1 :]) ** 2)


def twice(x, n):
    return np.sum(np.tanh(x[:n]) ** 2) * np.sum(x[:n] ** 3) + np.sum(np.exp(x[n:]))


def not_all(x, n):
    return np.sum(np.tanh(x[1:n]) ** 2) * np.sum(np.sin(x[n:]) ** 2)


def corners(x, n):
    return np.sum(np.tanh(x[:n, :n]) ** 2) * np.sum(np.sin(x[n:, n:]) ** 2) + np.sum(x[n:, :n] ** 3)


def constants(x, n):
    return np.sum(np.tanh(x[:2]) ** 2) * np.sum(np.sin(x[2:-2]) ** 2) * np.sum(np.cos(x[-2:]))


def every_second(x, n):
    return np.sum(np.tanh(x[:n:2]) ** 2) * np.sum(np.sin(x[n:]) ** 2)


def in_a_loop(x, n):
    total = 0.0
    for k in range(3):
        y = x * (1.0 + k)
        total = total + np.sum(np.tanh(y[:n]) ** 2) * np.sum(np.sin(y[n:]) ** 2) * total + np.sum(y)
    return total


def to_none(x, n):
    end = None if n > 2 else n
    return np.sum(np.tanh(x[:end]) ** 2) * np.sum(np.sin(x[end:]) ** 2)


X, M = RNG.normal(size=6), RNG.normal(size=(4, 6))
VECTORS = [halves, overlapping, twice, not_all, constants, every_second, in_a_loop]


@pytest.mark.parametrize("fn", VECTORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [2, 3, 0, 6, 9, -1, -2, -8, 1])
def test_gradients_stay(fn, n):
    gradient = ad.grad(fn)(X, n)
    assert gradient == pytest.approx(differences(lambda x: fn(x, n), X), rel=1e-6, abs=1e-7)
    assert np.array_equal(gradient, ad.grad(fn, optimize="-first stores")(X, n))


@pytest.mark.parametrize("n", [2, 0, 4, 7, -1])
def test_corners(n):
    gradient = ad.grad(corners)(M, n)
    assert gradient == pytest.approx(differences(lambda x: corners(x, n), M), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("n", [2, 4])
def test_an_end_that_may_be_none(n):
    gradient = ad.grad(to_none)(X, n)
    assert gradient == pytest.approx(differences(lambda x: to_none(x, n), X), rel=1e-6, abs=1e-7)


def test_parts_of_a_matrix():
    w = np.array([0.3, -0.8])
    found = ad.grad(gates, argnums=(0, 1))(M, w)
    assert found[0] == pytest.approx(differences(lambda x: gates(x, w), M), rel=1e-6, abs=1e-7)
    assert found[1] == pytest.approx(differences(lambda w: gates(M, w), w), rel=1e-6, abs=1e-7)
    text = ad.grad(gates, argnums=(0, 1)).source(M, w)
    assert "np.empty_like" in text and "+= " not in text.split("w_bar")[0]


def test_when_zeros_are_not_made():
    for fn, made in ((halves, False), (not_all, True), (overlapping, True), (every_second, True)):
        text = ad.grad(fn).source(X, 3)
        assert ("np.zeros" in text) == made, text


def test_second_derivatives():
    hessian = ad.hessian(lambda x: halves(x, 2))(X)
    gradient = ad.grad(halves)
    step = RNG.normal(size=X.shape)
    moved = (gradient(X + 1e-6 * step, 2) - gradient(X - 1e-6 * step, 2)) / 2e-6
    assert hessian @ step == pytest.approx(moved, rel=1e-5, abs=1e-6)
