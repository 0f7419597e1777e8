"""Rows that arrays of ints name: `add_at` does what ``np.add.at`` does, and `take_rows` what an index does."""

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
    np.testing.assert_array_equal(found, expected)
    part, expected = (np.zeros((shape[0] * 2, *shape[1:]), dtype)[::2] for _ in range(2))  # not contiguous
    add_at(part, index.astype(np.int32), v)
    np.add.at(expected, index, v)
    np.testing.assert_array_equal(part, expected)


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
        assert ("np.add.at(x_bar, left" if x.ndim == 1 else "    add_at(x_bar, left") in g.source(x, left, right)
        assert ("x[right]" if x.ndim == 1 else "take_rows(x, right)") in g.source(x, left, right)
        assert "    add_at(x_bar, left" in g.source(x, left.astype(np.int32), right)
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


def test_the_value_adds_in_the_order_of_the_function():
    def collected(v, index):
        out = np.zeros((7, 3))
        np.add.at(out, index, v)
        np.add.at(out, index[::-1], 0.1 * v)
        return np.sum(out**2), out

    v, index = RNG.normal(size=(500, 3)) * 10.0 ** RNG.integers(-8, 8, (500, 3)), RNG.integers(-7, 7, 500)
    f = ad.value_and_grad(collected, has_aux=True)
    assert "    add_at(out, index, v)" in f.source(v, index)
    (value, out), _ = f(v, index)
    assert value == collected(v, index)[0] and np.array_equal(out, collected(v, index)[1])


def corners(x, k):
    return np.sum(x[k] ** 2)


def columns(x, left, right):
    return np.sum(np.sqrt(np.sum((x[:, left] - x[:, right] + 2.0) ** 2, axis=0)))


def test_other_index_arrays():
    """For a matrix of ints there is `add_at`, for masks and two vectors np.add.at."""
    x, index = RNG.normal(size=(6, 5)), RNG.integers(0, 5, (40, 2))
    for array in (x, x[:, 0], np.stack([x, x], axis=2)):
        g = ad.grad(corners)
        assert "    add_at(" in g.source(array, index)
        expected = np.zeros_like(array)
        np.add.at(expected, index, 2.0 * array[index])
        np.testing.assert_array_equal(g(array, index), expected)
    left, right = RNG.integers(-20, 20, 150), RNG.integers(0, 20, 150)
    for array in (RNG.normal(size=(3, 20)), RNG.normal(size=(20, 3)).T):
        value, gradient = ad.value_and_grad(columns)(array, left, right)
        assert value == columns(array, left, right)
        expected = ad.value_and_grad(columns, optimize=False)(array, left, right)[1]
        np.testing.assert_allclose(gradient, expected, rtol=1e-12)
    assert "add_at(x_bar.T, left, " in ad.grad(columns).source(array, left, right)
    assert "np.add.at" in ad.grad(lambda x, k: np.sum(x[k[:, 0], k[:, 1]] ** 2)).source(x, index)
