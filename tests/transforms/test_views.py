"""A part of an array that is read, and read transposed, is looked up once."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(8)
X, Y, W = RNG.normal(size=(7, 3)), RNG.normal(size=7), RNG.normal(size=3)


def batches(w, x, y):
    for _ in range(2):
        for start in range(0, len(x), 3):
            rows = x[start : start + 3]
            w = w - 0.1 * rows.T @ (np.tanh(rows @ w) - y[start : start + 3])
    return w @ w


def stored_between(w, x, y):
    """The rows are views: what is stored into them is seen by both."""
    x = x.copy()
    rows = x[:3]
    a = rows @ w
    x[1] = 2.0 * y[:3]
    return np.sum(a) + np.sum(np.sin(rows.T @ a)) + np.sum(np.sin(rows @ w))


def by_a_list(w, x, y):
    a = x[[0, 2, 0]] @ w
    return np.sum(np.sin(x[[0, 2, 0]].T @ a))


def in_a_branch(w, x, y):
    a = x[:3].T @ y[:3]
    if y[0] > 0.0:
        a = a + x[:3].T @ (x[:3] @ w)
    return np.sum(np.sin(a))


@pytest.mark.parametrize("f", [batches, stored_between, by_a_list, in_a_branch])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_derivatives(f, sign):
    args = (W, X, sign * np.abs(Y))
    np.testing.assert_array_equal(ad.value_and_grad(f)(*args)[0], f(*args))
    for k, g in enumerate(ad.grad(f, argnums=(0, 1, 2))(*args)):
        moved = differences(lambda x: f(*(x if j == k else v for j, v in enumerate(args))), args[k])
        np.testing.assert_allclose(g, moved, rtol=1e-5, atol=1e-7)


def test_it_is_looked_up_once_in_each_sweep():
    assert ad.grad(batches).source(W, X, Y).count("x[start : start + 3]") == 2
