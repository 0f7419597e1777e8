"""Masks of cotangents: those that change nothing go, and zeros stay where something infinite is masked."""

import warnings

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([[0.5, -1.5, 2.0], [1.0, 3.0, -0.7]])


def within_a_distance(x):
    r = np.sqrt(np.sum(x**2, axis=1))
    e = np.exp(-1.3 * (r - 0.5))
    return np.sum(np.where(r < 2.5, 0.7 * (e * e - 2.0 * e), 0.0))


def twice_the_same(x):
    mask = x > 0.0
    y = np.where(mask, np.sqrt(np.abs(x)), 0.0)
    return np.sum(np.where(mask, y * y * x, 0.0) * y)


def two_masks(x):
    low, high = x > -1.0, x < 1.8
    y = np.where(low, np.sqrt(x + 1.0001), 0.0)
    return np.sum(np.where(high, y * x, x) * np.where(low & high, y, 1.0))


def opposite_masks(x):
    mask = x > 0.0
    return np.sum(np.where(mask, np.sqrt(np.abs(x)), 0.0) + np.where(~mask, x * x, 0.0))


def gates(x):
    n = x.shape[1] // 3
    g = 1.0 / (1.0 + np.exp(-x))
    cell = g[:, n : 2 * n] * 0.3 + g[:, :n] * np.tanh(g[:, 2 * n :])
    return np.sum(cell**2)


def gates_with_a_gap(x):
    g = 1.0 / (1.0 + np.exp(-x))
    return np.sum(g[:, :1] * g[:, 2:])


def overlapping_slices(x):
    g = 1.0 / (1.0 + np.exp(-x))
    return np.sum(g[:, :2] * g[:, 1:])


PROGRAMS = [
    within_a_distance, twice_the_same, two_masks, opposite_masks, gates, gates_with_a_gap, overlapping_slices,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(ad.grad(f)(X), differences(f, X), rtol=1e-6, atol=1e-8)
        hessian = ad.hessian(f)(X)
        np.testing.assert_allclose(hessian, differences(ad.grad(f), X), rtol=1e-5, atol=1e-6)


def test_zeros_stay():
    """The root is infinitely steep where the mask is false."""

    def f(x):
        r = np.sqrt(x)
        return np.sum(np.where(x > 0.0, r * r * x - 2.0 * r, 0.0))

    found = ad.grad(f)(np.array([0.0, 4.0]))
    assert found[0] == 0.0
    np.testing.assert_allclose(found[1], 2.0 * 4.0 - 0.5)


def test_overflow_stays_flat():
    assert np.all(ad.grad(gates)(np.full((2, 3), -800.0)) == 0.0)


def test_fewer_masks():
    assert ad.grad(within_a_distance).source(X).count("np.where") <= 2
    assert "np.where" not in ad.grad(gates).source(X) and " = True" not in ad.grad(gates).source(X)


def test_a_gap_is_masked():
    text = ad.grad(gates_with_a_gap).source(X)
    assert " = True" in text


def test_a_mask_and_its_opposite_are_one_choice():
    def f(x, w):
        return np.sum(np.where(x > 0.3, 2.0 * np.sin(x), np.sin(x)) * w)

    def of_numbers(x):
        y = np.sin(x)
        return np.sum(np.where(x > 0.3, 3.0 * y, -y))

    def of_all(x):
        y = x * x
        return np.sum(np.where(x > 0.3, y, np.log(y)) / y)

    for g, args in ((f, (X, X + 0.1)), (of_numbers, (X,)), (of_all, (X,))):
        np.testing.assert_allclose(ad.grad(g)(*args), differences(g, *args), rtol=1e-6, atol=1e-8)
    assert ad.grad(f).source(X, X).count("np.where") == 1
    assert "logical_not" not in ad.grad(of_numbers).source(X)
    found = ad.grad(of_numbers)(X.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(of_numbers)(X), rtol=1e-5)


def test_a_choice_stays_a_strong_zero():
    def f(x, w):
        y = x * w
        return np.sum(np.where(x > 0.0, np.sqrt(y), 2.0 * y))

    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ad.grad(f, argnums=1)(np.array([0.0, 4.0]), np.ones(2)), [0.0, 1.0])


@pytest.mark.parametrize("n", [6, 699, 702, 4002])
def test_overflow_stays_flat_at_each_size(n):
    """Below some size, infinity is replaced at once; above it is looked for first."""
    x = np.linspace(-3.0, 3.0, n)
    x[1] = -800.0
    grad = ad.grad(gates)(np.stack([x, x]))
    assert grad[0, 1] == 0.0 and np.isfinite(grad).all()
    mild = np.where(x == -800.0, -40.0, x)
    np.testing.assert_allclose(grad, ad.grad(gates)(np.stack([mild, mild])), rtol=1e-9, atol=1e-12)
