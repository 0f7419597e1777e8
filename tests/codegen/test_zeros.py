"""How zeros of the shape of an array are made: `np.zeros` is ten times as fast as `np.zeros_like` for a small one."""

import numpy as np
import pytest

from autodiff_compiler import grad

from ..differences import differences


def rows(x, k):
    total = 0.0
    for i in range(k):
        total += x[i].dot(x[i + 1])
    return total


def test_zeros_like_an_array_in_c_order_are_made_by_its_shape():
    assert "np.zeros(x.shape)" in grad(rows).source(np.ones((4, 3)), 2)


def test_zeros_like_an_array_in_another_order_keep_that_order():
    x = np.asfortranarray(np.random.default_rng(0).normal(size=(4, 3)))
    g = grad(rows)
    assert "np.zeros_like(x)" in g.source(x, 2)
    assert g(x, 2).flags.f_contiguous
    np.testing.assert_allclose(g(x, 2), differences(lambda x: rows(x, 2), x), atol=1e-6)


def test_code_for_one_order_is_right_for_another():
    g = grad(rows)
    x = np.random.default_rng(0).normal(size=(4, 3))
    expected = g(x, 2)
    for other in (np.asfortranarray(x), np.ascontiguousarray(x[::-1])[::-1], np.repeat(x, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(g(other, 2), expected)


def turned(x, k):
    y = np.exp(x.T)
    total = 0.0
    for i in range(k):
        total += y[i].dot(y[i + 1])
    return total


def test_zeros_like_a_transpose_keep_its_order():
    assert "np.zeros_like(y)" in grad(turned).source(np.ones((4, 3)), 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_keep_the_dtype(dtype):
    x = np.ones((4, 3), dtype)
    assert grad(rows)(x, 2).dtype == dtype
    assert ("np.zeros(x.shape, x.dtype)" in grad(rows).source(x, 2)) == (dtype == np.float32)


def own(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y += x[i] * x
    return np.sum(y**2)


def test_zeros_of_the_function_like_a_vector_are_made_by_its_shape():
    assert "np.zeros(x.shape)" in grad(own).source(np.ones(3))


def test_zeros_of_the_function_like_a_matrix_stay():
    # Another order in memory would be another order of the sum.
    assert "np.zeros_like(x)" in grad(own).source(np.ones((3, 3)))
