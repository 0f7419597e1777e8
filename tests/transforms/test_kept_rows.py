"""Values that are kept so that matrix products and sums of all iterations are one, and when they are not."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(12)
X, W, U, B = (
    0.5 * RNG.normal(size=(4, 2, 3)), 0.5 * RNG.normal(size=(3, 3)), 0.5 * RNG.normal(size=(3, 3)), RNG.normal(size=3)
)  # fmt: skip


def recurrent(x, w, u, b):
    h = np.zeros((x.shape[1], len(b)))
    for t in range(len(x)):
        h = np.tanh(x[t] @ w + h @ u + b)
    return np.sum(h**2)


def gated(x, w, u, b):
    h = np.zeros((x.shape[1], len(b)))
    for t in range(len(x)):
        z = 1.0 / (1.0 + np.exp(-(x[t] @ w + b)))
        h = z * h + (1.0 - z) * np.tanh(h @ u)
    return np.sum(h**2)


def taken_away(x, w, u, b):
    h = np.ones((x.shape[1], len(b)))
    for t in range(len(x)):
        h = np.tanh(h @ u - x[t] @ w - b)
    return np.sum(h**2)


def one_sum(x, w, u, b):
    """A value that one sum needs is not kept: the sum is no slower than the store."""
    h = np.ones((x.shape[1], len(b)))
    for t in range(len(x)):
        h = np.tanh(h * x[t, 0, 0] + b)
    return np.sum(h**2) + np.sum(w) + np.sum(u)


def nothing_saved(x, w, u, b):
    h = np.ones((x.shape[1], len(b)))
    for t in range(len(x)):
        h = 0.5 * h + x[t] @ w + b
    return np.sum(h * 0.1) + np.sum(u)


def counts_from_one(x, w, u, b):
    h = np.zeros((x.shape[1], len(b)))
    for t in range(1, len(x)):
        h = np.tanh(x[t] @ w + h @ u + b)
    return np.sum(h**2)


@pytest.mark.parametrize("f", [recurrent, gated, taken_away, one_sum, nothing_saved, counts_from_one])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_derivatives(f, steps):
    args = X[:steps], W, U, B
    usual, plain = (ad.grad(f, argnums=(0, 1, 2, 3), optimize=o)(*args) for o in (True, False))
    for a, b in zip(usual, plain):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)
    if steps > 1:
        moved = differences(lambda w: f(args[0], w, U, B), W)
        np.testing.assert_allclose(usual[1], moved, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("f, products", [(recurrent, 2), (gated, 1), (taken_away, 2)])
def test_matrix_products_are_one(f, products):
    source = ad.grad(f, argnums=(1, 2, 3)).source(X, W, U, B)
    assert source.count("np.tensordot(") == products, source
    # To keep two values for one product would gain nothing.
    assert "w_bar +=" not in source and ("u_bar +=" in source) == (products == 1)


@pytest.mark.parametrize("f", [one_sum, nothing_saved, counts_from_one])
def test_sums_stay(f):
    assert "np.tensordot(" not in ad.grad(f, argnums=(1, 2, 3)).source(X, W, U, B)


@pytest.mark.parametrize("f", [recurrent, gated])
def test_second_derivatives_and_float32(f):
    v = np.ones_like(X)
    plain = ad.hvp(f, optimize="-distribute")(X, W, U, B, v)
    np.testing.assert_allclose(ad.hvp(f)(X, W, U, B, v), plain, rtol=1e-9, atol=1e-11)
    single = ad.grad(f, argnums=1)(*(a.astype(np.float32) for a in (X, W, U, B)))
    np.testing.assert_allclose(single, ad.grad(f, argnums=1)(X, W, U, B), rtol=1e-4, atol=1e-5)
