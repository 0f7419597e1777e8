"""Sums of products in adjoints are products of vectors and matrices, where shapes and dtypes allow it."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(5)
ROWS, COLUMNS, X, Y = RNG.normal(size=4), RNG.normal(size=3), RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))


def all_elements(s, x, y):
    return np.sum(np.exp(s * x) * y)


def along_rows(rows, x, y):
    return np.sum(np.exp(rows[:, None] * x) * y)


def along_columns(columns, x, y):
    return np.sum(np.exp(columns * x) * y)


def vector_along_rows(columns, rows, x):
    """The cotangent of the columns is ``rows @ ...``."""
    return np.sum(rows[:, None] * np.sin(x + columns) * 3.0)


def vector_along_columns(rows, columns, x):
    return np.sum(columns * np.sin(x + rows[:, None]))


def kept_axis(x, y):
    """The cotangent of the norm keeps its axis."""
    return np.sum(y * (x / np.sqrt(np.sum(x**2, axis=1, keepdims=True) + 1.0)))


def a_view(s, x):
    return np.sum(np.exp(s * x[1:, ::-1]) * x.T[:, 1:].T)


def vector_in_front(columns, rows, x):
    """The columns are the same along the axis that is summed over."""
    return np.sum(np.exp(columns) * (rows[:, None] * x))


def number_of_all(s, rows, columns, x):
    return np.sum(np.exp(s * rows)[:, None] * x * columns)


# The program, its arguments, and what its gradient has or has not.
PROGRAMS = [
    (all_elements, (0.3, X, Y), "np.vdot(", ".sum()"),
    (along_rows, (ROWS, X, Y), "row_dots(", "axis=1"),
    (along_columns, (COLUMNS, X, Y), 'np.einsum("ij,ij->j"', "axis=0"),
    (vector_along_rows, (COLUMNS, ROWS, X), "rows.dot(np.cos(", "axis=0"),
    (vector_along_columns, (ROWS, COLUMNS, X), "np.cos(x + rows[:, None]).dot(columns)", "axis=1"),
    (kept_axis, (X, Y), "row_dots(", "keepdims=True) *"),
    (a_view, (0.3, X), "np.vdot(", "t.sum()"),
    (vector_in_front, (COLUMNS, ROWS, X), "rows.dot(x) * np.exp(", "axis=0"),
    (number_of_all, (0.3, ROWS, COLUMNS, X), "x.dot(columns)", "axis=1"),
]  # fmt: skip


@pytest.mark.parametrize("f, args, has, has_not", PROGRAMS)
def test_products(f, args, has, has_not):
    source = ad.grad(f).source(*args)
    backward = source[source.index("return") :] if "adjoint" not in source else source
    assert has in source and has_not not in backward
    usual, plain = ad.grad(f)(*args), ad.grad(f, optimize="-contractions")(*args)
    np.testing.assert_allclose(usual, plain, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(usual, differences(lambda x: f(x, *args[1:]), args[0]), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f, args, has, has_not", PROGRAMS)
def test_second_derivatives(f, args, has, has_not):
    v = np.ones_like(args[0])
    tangent = ad.hvp(f)(*args, v)
    plain = ad.hvp(f, optimize="-contractions")(*args, v)
    np.testing.assert_allclose(tangent, plain, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("f, args, has, has_not", PROGRAMS)
def test_other_dtypes_stay_sums(f, args, has, has_not):
    args = tuple(np.asarray(a, np.float32) if np.ndim(a) else np.float32(a) for a in args)
    source = ad.grad(f).source(*args)
    assert has not in source
    assert ad.grad(f)(*args).dtype == np.float32


def test_lengths_that_may_differ_stay_sums():
    """`x` and `y` may broadcast, so that no element of the product need be one of both."""

    def f(s, x, y):
        return np.sum(np.sqrt(2.0 + s * x) * y)

    wide, narrow = np.ones((4, 3)), np.arange(3.0).reshape(1, 3)
    for x, y in ((wide, narrow), (narrow, wide), (wide, wide)):
        assert ad.grad(f)(1.0, x, y) == pytest.approx(differences(lambda s: f(s, x, y), 1.0), rel=1e-6)


def test_small_numbers_stay_where_they_are():
    """In front of the sum, 1e-200 would leave no product of the others that float64 holds."""

    def f(s, x, y):
        return np.sum(1e200 * (1e-200 * np.exp(s * x) * y) * 1e-100) * 1e100

    x, y = np.full((2, 2), 1e-150), np.full((2, 2), 1e-150)
    plain = ad.grad(f, optimize="-contractions")(1.0, x, y)
    assert ad.grad(f)(1.0, x, y) == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("size", [1e-170, 1e-300, 1e150])
def test_small_and_large_units(size):
    """The scales and the data are far from one, their product is not: no two scales meet without the data between."""

    def f(means, scales, x):
        z = (x - means) * scales
        return np.sum(np.exp(-0.5 * np.sum(z * z, axis=1)))

    args = size * COLUMNS, np.ones(3) / size, size * (X + COLUMNS)
    for argnums in (0, 1, (0, 1)):
        usual, plain = (ad.grad(f, argnums=argnums, optimize=o)(*args) for o in (True, "-contractions"))
        np.testing.assert_allclose(usual, plain, rtol=1e-12, atol=0.0)


def test_a_vector_times_a_matrix_also_where_the_product_is_read_twice():
    def f(means, scales, x):
        z = (x - means) * scales
        return np.sum(np.exp(-np.sum(z * z, axis=1)))

    g = ad.grad(f, argnums=(0, 1))
    source = g.source(COLUMNS, COLUMNS, X)
    assert source.count("t.dot(") == 1 and "column_sums" not in source, source
    for k, part in enumerate(g(COLUMNS, 0.5 * COLUMNS, X)):
        args = (COLUMNS, 0.5 * COLUMNS)
        moved = differences(lambda v: f(*(v if j == k else a for j, a in enumerate(args)), X), args[k])
        np.testing.assert_allclose(part, moved, rtol=1e-5, atol=1e-8)


def test_a_product_that_is_read_twice_is_not_computed_again():
    def f(s, rows, x):
        return np.sum(np.sin(s + rows[:, None]) * x)

    g = ad.grad(f, argnums=(0, 1))
    assert g.source(0.3, ROWS, X).count("np.cos(") == 1 and "np.vdot" not in g.source(0.3, ROWS, X)
    for k, part in enumerate(g(0.3, ROWS, X)):
        moved = differences(lambda v: f(*(v if j == k else a for j, a in enumerate((0.3, ROWS, X)))), (0.3, ROWS)[k])
        np.testing.assert_allclose(part, moved, rtol=1e-6)


def smoothed(rates, x, y):
    """Both sums of the rates' cotangent have one factor."""
    out = np.zeros_like(x)
    for t in range(1, len(x)):
        out[t] = rates * x[t] + (1.0 - rates) * out[t - 1]
    return np.sum((out - y) ** 3)


def test_one_product_for_two_with_a_factor():
    source = ad.grad(smoothed).source(COLUMNS, X, Y)
    assert source.count("np.einsum") == 1
    np.testing.assert_allclose(
        ad.grad(smoothed)(COLUMNS, X, Y), differences(smoothed, COLUMNS, X, Y, argnum=0), rtol=1e-5, atol=1e-7
    )


def test_products_with_one_factor():
    def f(a, b):
        c = np.sin(a)
        return np.sum(c @ b * np.cos(a @ b)) + np.sum((a @ b) ** 2)

    args = X, Y.T + 0.0
    for k in (0, 1):
        plain = ad.grad(f, argnums=k, optimize="-contractions")(*args)
        np.testing.assert_allclose(ad.grad(f, argnums=k)(*args), plain, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(plain, differences(f, *args, argnum=k), rtol=1e-5, atol=1e-7)
