"""Zeros that reversed stores leave behind: which of them go, and that the derivatives are right."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences
from tests.transforms.recurrences import gram_schmidt

X = np.random.default_rng(3).normal(size=(6, 3))


def smoothed(x):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] * y[i - 1] + x[i]
    return np.sum(y**2)


def two_steps_back(x):
    y = np.zeros_like(x)
    y[0], y[1] = x[0], x[1]
    for i in range(2, len(x)):
        y[i] = np.sin(y[i - 1]) * y[i - 2] + x[i]
    return np.sum(y**3)


def forward_difference(x):
    y = x.copy()
    for i in range(len(x) - 1):
        y[i] = y[i + 1] * y[i] - x[i]
    return np.sum(y**2)


def backwards(x):
    y = np.zeros_like(x)
    y[-1] = x[-1]
    for i in range(len(x) - 2, -1, -1):
        y[i] = 0.5 * y[i + 1] * x[i]
    return np.sum(y**2)


def around(x):
    """The first iteration reads the last place."""
    y = x * 2.0
    for i in range(len(x)):
        y[i] = y[i - 1] * x[i]
    return np.sum(y**2)


def stored_twice(x):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = x[i] * 2.0
        y[i] = y[i] * y[i - 1] + x[i]
    return np.sum(y**2)


def only_on_a_condition(x):
    y = x.copy()
    for i in range(1, len(x)):
        if x[i, 0] > 0.0:
            y[i] = y[i - 1] * x[i]
    return np.sum(y**2)


def sweeps(x):
    """The next sweep reads what this one has stored."""
    y = x.copy()
    for _ in range(3):
        for i in range(1, len(x)):
            y[i] = 0.5 * y[i - 1] + 0.1 * y[i] * y[i]
    return np.sum(y**2)


def in_an_argument(x):
    for i in range(1, len(x)):
        x[i] = x[i - 1] * x[i]
    return np.sum(x**2)


def in_columns(x):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i, 0] = x[i, 1] * y[i - 1, 2]
        y[i, 2] = x[i, 0] * x[i, 0] + y[i - 1, 0]
    return np.sum(y**2)


def reads_all(x):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = x[i] * np.sum(y, axis=0) + x[i]
    return np.sum(y**2)


def whole_columns(x):
    y = np.zeros_like(x)
    y[:, 0] = x[:, 0]
    for j in range(1, x.shape[1]):
        y[:, j] = x[:, j] * y[:, j - 1] + np.sin(x[:, j])
    return np.sum(y**2)


def columns_with_the_own(x):
    """The store is read again in the same iteration of the reversed loop."""
    y = x.copy()
    for j in range(1, x.shape[1]):
        y[:, j] = y[:, j] * np.sum(y[:, : j + 1], axis=1)
    return np.sum(y**2)


def columns_behind(x):
    y = x.copy()
    for j in range(x.shape[1] - 1):
        y[:, j] = np.sum(y[:, j + 1 :], axis=1) * x[:, j] * y[:, j]
    return np.sum(y**2)


def blocks(x):
    y = np.empty_like(x)
    size = len(x) // 3
    for h in range(3):
        y[h * size : (h + 1) * size] = np.sin(x[h * size : (h + 1) * size]) * x[:size]
    return np.sum(y**3)


def blocks_that_overlap(x):
    y = x * 1.0
    size = len(x) // 3
    for h in range(3):
        y[h * size : (h + 1) * size + 1] = np.sin(y[h * size : (h + 1) * size + 1]) * x[0]
    return np.sum(y**3)


def blocks_that_are_read_again(x):
    y = x * 1.0
    size = len(x) // 3
    for h in range(3):
        part = y[h * size : (h + 1) * size] * 2.0
        y[h * size : (h + 1) * size] = part * x[:size]
        y[h * size : (h + 1) * size] *= y[h * size : (h + 1) * size]
    return np.sum(y**3)


def elimination(x):
    """What is stored and what is read beside it."""
    a = x @ x.T + 6.0 * np.eye(len(x))
    for j in range(len(a) - 1):
        column = a[j + 1 :, j] / a[j, j]
        a[j + 1 :, j + 1 :] -= np.outer(column, a[j + 1 :, j])
        a[j + 1 :, j] = column
    return np.sum(np.log(np.diag(a))) + np.sum(a[-1])


def from_the_end(x):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[-i] = x[-i] * y[-i + 1] + x[i]
    return np.sum(y**2)


PROGRAMS = [
    whole_columns, gram_schmidt, columns_with_the_own, columns_behind, blocks, blocks_that_overlap,
    blocks_that_are_read_again, elimination, from_the_end, smoothed, two_steps_back, forward_difference, backwards,
    around, stored_twice, only_on_a_condition, sweeps, in_an_argument, in_columns, reads_all,
]  # fmt: skip


def assert_near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    assert_near(ad.grad(f)(X), differences(f, X))
    _, pullback = ad.vjp(f, X)
    for _ in range(2):  # a pullback may be called again
        assert_near(pullback(1.0)[0], differences(f, X))


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f):
    v = np.cos(np.arange(X.size)).reshape(X.shape)
    assert_near(ad.hvp(f)(X, v), np.tensordot(v, differences(ad.grad(f), X), 2))


@pytest.mark.parametrize("f", [smoothed, two_steps_back])
def test_no_zero_is_stored(f):
    assert "[i] = 0.0" not in ad.grad(f).source(X) and "[i].copy()" not in ad.grad(f).source(X)


@pytest.mark.parametrize("f", [whole_columns, gram_schmidt, blocks])
def test_no_column_and_no_block_of_zeros(f):
    text = ad.grad(f).source(X)
    assert "] = 0.0" not in text and ".copy()" not in text


def test_no_matrix_is_copied_for_a_part_that_is_beside():
    assert "a_bar.copy()" not in ad.grad(elimination).source(X)


@pytest.mark.parametrize("size", [-2, 0, 1, 2])
def test_blocks_of_any_size(size):
    def f(x, size):
        y = x * 1.0
        for h in range(3):
            y[h * size : (h + 1) * size] = np.sin(y[h * size : (h + 1) * size]) * x[0]
        return np.sum(y**3)

    assert_near(ad.grad(f)(X, size), differences(f, X, size))


def test_zeros_that_are_read():
    assert "] = 0.0" in ad.grad(around).source(X)


def test_zeros_of_a_known_shape():
    """An array that only gives its shape is not saved."""

    def f(u, k):
        for _ in range(4):
            flux = np.zeros(len(u) + 1)
            flux[1:-1] = k * (u[1:] - u[:-1])
            u = u - 0.1 * (flux[1:] - flux[:-1]) * u
        return np.sum(u**2)

    u = np.linspace(0.5, 1.5, 7)
    text = ad.grad(f, argnums=(0, 1)).source(u, 0.3)
    assert "zeros_like(flux" not in text and "zeros(flux" not in text and "saved.append((flux" not in text
    for n in (7, 2, 3, 1):
        u = np.linspace(0.5, 1.5, n)
        np.testing.assert_allclose(ad.grad(f)(u, 0.3), differences(f, u, 0.3), rtol=1e-6, atol=1e-8)


def test_zeros_beside_each_other():
    """A store that only dead stores read is read by what reads them."""

    def f(x, k):
        for _ in range(2):
            flux = np.zeros(len(x) + 1)
            flux[1:-1] = k * x[1:] * x[:-1]
            flux[0] = x[0] * k
            flux[-1] = x[-1] ** 2
            x = x - flux[1:] + 0.5 * flux[:-1]
        return np.sum(x**2)

    x = np.linspace(0.2, 0.7, 5)
    assert "] = 0.0" not in ad.grad(f).source(x, 0.3)
    assert_near(ad.grad(f)(x, 0.3), differences(f, x, 0.3))
