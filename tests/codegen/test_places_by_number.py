"""Additions to rows that a vector of ints names: `add_at` does what ``np.add.at`` does."""

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.runtime import add_at

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("count", [0, 1, 31, 32, 200])
@pytest.mark.parametrize("shape", [(5,), (5, 2), (5, 9), (1, 3), (300,), (5, 0), (4, 3, 2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_add_at(count, shape, dtype):
    index = RNG.integers(-shape[0], shape[0], count)
    v = RNG.normal(size=(count, *shape[1:])).astype(dtype)
    found, expected = np.ones(shape, dtype), np.ones(shape, dtype)
    add_at(found, index, v)
    np.add.at(expected, index, v)
    np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype is np.float64 else 1e-5)
    part = np.zeros((shape[0] * 2, *shape[1:]), dtype)[::2]  # not contiguous
    add_at(part, index.astype(np.int32), v)
    np.testing.assert_allclose(part + 1, expected, rtol=1e-12 if dtype is np.float64 else 1e-5)


@pytest.mark.parametrize("wrong", [7, -8])
@pytest.mark.parametrize("count", [3, 100])
def test_out_of_bounds(wrong, count):
    index = np.zeros(count, dtype=int)
    index[-1] = wrong
    for shape in ((7,), (7, 2)):
        a = np.zeros(shape)
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
            add_at(a, index, np.ones((count, *shape[1:])))


def test_broadcast():
    """One number for all places, and one row."""
    index = RNG.integers(0, 5, 100)
    for v in (np.float64(2.0), np.array([1.0]), np.array([[1.0, 2.0]])):
        shape = (5, 2) if v.ndim == 2 else (5,)
        found, expected = np.zeros(shape), np.zeros(shape)
        add_at(found, index, v)
        np.add.at(expected, index, v)
        np.testing.assert_array_equal(found, expected)


def test_infinities_stay_where_they_are():
    index = np.arange(100) % 4
    v = np.ones(100)
    v[1], v[2] = np.inf, np.nan
    found = np.zeros(4)
    add_at(found, index, v)
    np.testing.assert_array_equal(found, [25.0, np.inf, np.nan, 25.0])


def springs(x, left, right):
    d = x[right] - x[left]
    return np.sum(d**3)


def test_emitted():
    left, right = RNG.integers(-20, 20, 150), RNG.integers(0, 20, 150)
    for x in (RNG.normal(size=(20, 2)), RNG.normal(size=20)):
        g = ad.grad(springs)
        assert "add_at(x_bar, left" in g.source(x, left, right)
        expected = np.zeros_like(x)
        d = 3.0 * (x[right] - x[left]) ** 2
        np.add.at(expected, right, d)
        np.add.at(expected, left, -d)
        np.testing.assert_allclose(g(x, left, right), expected)
        v = RNG.normal(size=x.shape)
        step = 1e-6
        expected = (g(x + step * v, left, right) - g(x - step * v, left, right)) / (2 * step)
        found = ad.hvp(lambda x: springs(x, left, right))(x, v)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_other_index_arrays():
    """Matrices of ints, masks and two vectors keep np.add.at."""
    x, index = RNG.normal(size=(6, 5)), RNG.integers(0, 5, (40, 2))
    for f in (lambda x, k: np.sum(x[k] ** 2), lambda x, k: np.sum(x[k[:, 0], k[:, 1]] ** 2)):
        assert "np.add.at" in ad.grad(f).source(x, index)
