"""Conversions to a dtype that only the run knows: through integers no derivative passes."""

import collections

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([1.4, 2.3, 3.2])


def astype(x, d):
    return x.astype(d)


def array(x, d):
    return np.array(x * 1.0, dtype=d)


def asarray(x, d):
    return np.asarray(x, dtype=d)


def whole_store(x, d):
    a = np.zeros(3, dtype=d)
    a[:] = x
    return a


def stores(x, d):
    a = np.zeros_like(x, dtype=d)
    for i in range(3):
        a[i] = x[i] * 2.0
    return a


def overwritten(x, d):
    a = np.zeros(3, dtype=d)
    a[1:] = x[0]
    a[0] = 2.0
    a[np.array([0, 0, 1])] = x * 3.0
    return a


def full(x, d):
    return np.full(3, x[1], dtype=d)


def cumulated(x, d):
    return np.cumsum(x, dtype=d)


def total(x, d):
    return np.sum(x, dtype=d)


WAYS = [astype, array, asarray, whole_store, stores, overwritten, full, cumulated, total]


@pytest.mark.parametrize("y", [1, 1.0], ids=["integers", "floats"])
@pytest.mark.parametrize("convert", WAYS, ids=lambda f: f.__name__)
def test_derivative_passes_through_floats_alone(convert, y):
    def f(x):
        d = np.asarray(y if x[0] < 5.0 else 1.0).dtype
        return np.sum(convert(x, d) * x)

    want = differences(f, X)
    np.testing.assert_allclose(ad.grad(f)(X), want, rtol=1e-6, atol=1e-6)
    for e in np.eye(3):
        np.testing.assert_allclose(ad.jvp(f, (X,), (e,))[1], want @ e, rtol=1e-6, atol=1e-6)
    norm = lambda x: np.sum(ad.grad(f)(x) ** 2)
    np.testing.assert_allclose(ad.grad(norm)(X), differences(norm, X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("made", [lambda x: np.isclose(x, 2.3), lambda x: np.lexsort((x,))])
def test_a_store_into_numbers_that_no_derivative_passes(made):
    def f(x):
        a = made(x)
        a[0] = 2.0 * x[1]
        return np.sum(a * x)

    want = differences(f, X)
    np.testing.assert_allclose(ad.grad(f)(X), want, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ad.jvp(f, (X,), (np.ones(3),))[1], np.sum(want), rtol=1e-6)


def test_the_sum_of_a_list_saves_no_items() -> None:
    """It is an int where the list is empty, and a float elsewhere."""

    def f(v):
        window, total, x = collections.deque(maxlen=3), 0.0, v[0]
        for _ in range(6):
            x = x * v[1]
            window.append(x)
            total += sum(window)
        return total

    x = np.array([0.5, 1.25])
    text = ad.grad(f).source(x)
    assert "sum_to" not in text and "t_saved3" not in text, text
    value, gradient = ad.value_and_grad(f)(x)
    assert value == f(x) and type(gradient) is np.ndarray
    assert np.allclose(gradient, differences(f, x), rtol=1e-5, atol=1e-6)
    narrow = ad.grad(f)(x.astype(np.float32))
    assert narrow.dtype == np.float32 and np.allclose(narrow, gradient, rtol=1e-5)


def times_an_item(x, w):
    y = x * 1.0
    for k in range(len(w)):
        _, _, c = w[k]
        y = y * c
    return np.sum(y * y)


def plus_an_item(x, w):
    y = x * 1.0
    s = x[0]
    for k in range(len(w)):
        _, b, c = w[k]
        s = s - c
        y = b + y * s
    return np.sum(y * y) * s


def times_a_row(x, w):
    y = x[:3] * 1.0
    for k in range(len(w)):
        y = np.sin(y) * w[k] + x
    return np.sum(y * y)


def products_with_a_matrix(x, w):
    m = np.outer(x, x)
    y = x * 1.0
    for k in range(len(w)):
        y = np.tanh(m @ y) * w[k]
    return np.sum(y * y)


def sums_of_products(x, w):
    y = x * 1.0
    s = x[0]
    for k in range(len(w)):
        s = s + np.sum(y * np.sin(y))
        y = y * w[k]
    return s


@pytest.mark.parametrize(
    "f", [times_an_item, plus_an_item, times_a_row, products_with_a_matrix, sums_of_products], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_an_unknown_dtype_is_not_that_of_float64(f, dtype):
    """The first iteration makes float64 of what the loop starts with. ``None == np.dtype(float)`` is True in NumPy."""
    x, w = X.astype(dtype) / 4, np.random.default_rng(1).normal(size=(4, 3))
    value, g = ad.value_and_grad(f)(x, w)
    assert type(value) is type(f(x, w)) and value == f(x, w)
    assert g.dtype == dtype
    plain = ad.grad(f, optimize=False)(x, w)
    np.testing.assert_allclose(g, plain, rtol={np.float16: 1e-2, np.float32: 1e-5, np.float64: 1e-12}[dtype])
