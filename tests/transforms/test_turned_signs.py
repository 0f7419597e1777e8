"""Products with negative numbers: they are subtracted, and no number changes by that."""

import numpy as np

import autodiff_compiler as ad
from tests.differences import differences

X = np.random.default_rng(3).normal(size=(5, 2)) + 0.1


def test_a_negative_number_is_subtracted():
    """Its product with what is added is the same number, so the two differ in nothing but how they read."""

    def slopes(x):
        g = np.zeros_like(x)
        g[:-1] = -400.0 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2.0 * (1.0 - x[:-1])
        return np.sum(g**3)

    x = X[:, 0]
    text = ad.grad(slopes).source(x)
    assert "- g_bar_head * t2 * 400.0" in text and "* -400" not in text.split("adjoint")[1].split("\n", 1)[1], text
    np.testing.assert_allclose(ad.grad(slopes)(x), ad.grad(slopes, optimize="-turned signs")(x), rtol=0)
    np.testing.assert_allclose(ad.grad(slopes)(x), differences(slopes, x), rtol=1e-5)


def test_a_product_that_is_read_twice_keeps_its_sign():
    def f(x):
        y = np.sin(x) * -2.0
        return np.sum((x[:, 0] + y[:, 0]) ** 2 * y[:, 1])

    np.testing.assert_allclose(ad.grad(f)(X), differences(f, X), rtol=1e-6)
