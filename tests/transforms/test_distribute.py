"""What a reversed loop adds up row by row is added behind it, and only where each row is known there."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(8)
X, Y, W, M = (0.6 * RNG.normal(size=size) for size in ((5, 3), (5, 3), 3, (3, 3)))


def smoothed(w, x, y):
    out = np.empty_like(x)
    out[0] = x[0]
    for t in range(1, len(x)):
        out[t] = w * x[t] + (1.0 - w) * out[t - 1]
    return np.sum((out - y) ** 2)


def smoothed_from_the_end(w, x, y):
    out = np.empty_like(x)
    out[-1] = x[-1]
    for t in range(len(x) - 2, -1, -1):
        out[t] = w * x[t] + (1.0 - w) * out[t + 1]
    return np.sum((out - y) ** 2)


def numbers(w, x, y):
    out = np.zeros(len(x))
    for t in range(1, len(x)):
        out[t] = w[0] * x[t, 0] + w[1] * out[t - 1] + y[t, 2]
    return np.sum(out**3)


def states_that_are_saved(w, x, y):
    pushes, pulls = np.sin(x), np.cos(x)
    state = np.zeros_like(x[0])
    for t in range(len(x)):
        state = np.tanh(pushes[t] + pulls[t] * 0.5 + state)
    return np.sum(state * w) + np.sum(y)


def weights(w, x, y):
    total = 0.0
    for t in range(len(x)):
        total += (w * x[t]) @ np.sin(y[t])
    return total


def columns_of_rows(w, x, y):
    out = np.zeros_like(x)
    for t in range(1, len(x)):
        out[t, 1:] = w[1:] * x[t, :-1] + out[t - 1, 1:] * w[0] * y[t, 0]
    return np.sum(out**2)


# The program, and how many lines its reversed loop may have.
PROGRAMS = [
    (smoothed, 1), (smoothed_from_the_end, 1), (numbers, 3), (states_that_are_saved, 3), (columns_of_rows, 2),
]  # fmt: skip


def lines_of_last_loop(source):
    lines = source.splitlines()
    at = max(k for k, line in enumerate(lines) if line.lstrip().startswith("for "))
    inner = []
    for line in lines[at + 1 :]:
        if not line.startswith("        "):
            break
        inner += [] if line.lstrip().startswith("#") else [line]
    return inner


def check(f, *args):
    names = range(len(args))
    usual = ad.grad(f, argnums=tuple(names))(*args)
    plain = ad.grad(f, argnums=tuple(names), optimize="-distribute")(*args)
    for k in names:
        np.testing.assert_allclose(usual[k], plain[k], rtol=1e-12, atol=1e-14)
        moved = differences(lambda v: f(*(v if j == k else a for j, a in enumerate(args))), args[k])
        np.testing.assert_allclose(usual[k], moved, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f, most", PROGRAMS)
def test_what_is_left_in_the_loop(f, most):
    source = ad.grad(f, argnums=(0, 1, 2)).source(W, X, Y)
    assert len(lines_of_last_loop(source)) <= most, source
    plain = ad.grad(f, argnums=(0, 1, 2), optimize="-distribute").source(W, X, Y)
    assert len(lines_of_last_loop(plain)) > len(lines_of_last_loop(source))


@pytest.mark.parametrize("f", [f for f, _ in PROGRAMS] + [weights])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_derivatives(f, rows):
    check(f, W, X[:rows], Y[:rows])


@pytest.mark.parametrize("f", [weights, numbers, columns_of_rows])
def test_without_rows(f):
    args = W, X[:0], Y[:0]
    for usual, plain in zip(ad.grad(f, argnums=(0, 1, 2))(*args), ad.grad(f, argnums=(0, 1, 2), optimize=False)(*args)):
        np.testing.assert_array_equal(usual, plain)


@pytest.mark.parametrize("f", [f for f, _ in PROGRAMS])
def test_second_derivatives_and_float32(f):
    v = np.ones_like(W)
    usual, plain = ad.hvp(f)(W, X, Y, v), ad.hvp(f, optimize="-distribute")(W, X, Y, v)
    np.testing.assert_allclose(usual, plain, rtol=1e-11, atol=1e-12)
    single = ad.grad(f)(*(a.astype(np.float32) for a in (W, X, Y)))
    np.testing.assert_allclose(single, ad.grad(f)(W, X, Y), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("steps", [-1, 0, 1, 4])
def test_rows_that_are_kept_for_a_matrix_product(steps):
    def sweeps(matrix, b, n):
        x = b
        for _ in range(n):
            x = np.tanh(x - matrix @ x + b)
        return np.sum(x)

    g = ad.grad(sweeps, argnums=(0, 1))
    assert "column_sums(columns)" in g.source(M, W, steps)
    for a, b in zip(g(M, W, steps), ad.grad(sweeps, argnums=(0, 1), optimize=False)(M, W, steps)):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_what_fits_together_in_no_iteration_is_not_computed():
    """Arrays whose lengths differ are no error where the loop has no iteration."""

    def products(w, x, n):
        out, total = np.zeros_like(x), 0.0
        for t in range(n):
            out[t] = x[t] * w
            total += x[t] @ w
        return np.sum(out) + total + np.sum(w)

    for f, args in (
        (smoothed, (np.ones(5), X[:1], Y[:1])),
        (products, (np.ones(4), X, 0)),
        (products, (np.ones(4), X[:0], 0)),
        (products, (W, X, 5)),
    ):
        usual, plain = (ad.grad(f, argnums=(0, 1), optimize=o)(*args) for o in (True, False))
        for a, b in zip(usual, plain):
            np.testing.assert_allclose(a, b, rtol=1e-12)


# --- rows that are not known behind the loop --------------------------------------------------------------------------


def a_later_iteration_stores(w, x):
    """The cotangent of row t changes again after it was read."""
    y = x * 1.0
    for t in range(len(x) - 1):
        y[t] = w * y[t] * y[t + 1]
        y[t + 1] = np.sin(y[t]) + y[t + 1]
    return np.sum(y**2)


def stored_into_after_the_read(w, x):
    y = x * 1.0
    for t in range(1, len(x)):
        y[t] = w * y[t] + y[t - 1]
        y[t] *= y[t]
    return np.sum(np.cos(y))


def a_place_that_wraps(w, x):
    """``y[t - 1]`` is the last row at first."""
    y = x * 1.0
    for t in range(len(x)):
        y[t] = w * x[t - 1] + 0.5 * y[t - 1]
    return np.sum(y**2)


def steps_of_two(w, x):
    y = x * 1.0
    for t in range(0, len(x) - 1, 2):
        y[t] = w * x[t + 1] + y[t + 1]
    return np.sum(y**2)


def left_early(w, x):
    y = x * 1.0
    for t in range(1, len(x)):
        if x[t, 0] > 0.9:
            break
        y[t] = w * x[t] + y[t - 1]
    return np.sum(y**2)


def only_some_rows(w, x):
    y = x * 1.0
    for t in range(1, len(x)):
        if x[t, 0] > 0.0:
            y[t] = w * x[t] + y[t - 1]
    return np.sum(y**2)


def outer_products(w, x):
    """A row for each pair of elements would be larger than what it is computed of."""
    a = np.zeros((3, 3))
    for t in range(len(x)):
        a = a + np.tanh(w)[:, None] * x[t] * np.sum(a)
    return np.sum(a * a)


def the_cotangent_is_read(w, x):
    y = np.zeros(3)
    for t in range(len(x)):
        y = y + w * x[t] * np.sum(y)
    return np.sum(y * y)


def as_many_rows_as_another_array(w, x):
    y = np.zeros((len(x) + 2, 3))
    for t in range(len(x)):
        y[t + 2] = w * x[t] + y[t + 1] * y[t]
    return np.sum(y + y**2)


@pytest.mark.parametrize(
    "f",
    [
        a_later_iteration_stores, stored_into_after_the_read, a_place_that_wraps, steps_of_two, left_early,
        only_some_rows, outer_products, the_cotangent_is_read, as_many_rows_as_another_array,
    ],
)  # fmt: skip
@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_rows_that_change(f, rows):
    check(f, W, X[:rows])


def test_rows_beyond_the_end_raise():
    def f(w, x, y):
        out = np.zeros_like(x)
        for t in range(1, len(x)):
            out[t] = w * y[t] + out[t - 1]
        return np.sum(out**2)

    g = ad.grad(f)
    np.testing.assert_allclose(g(W, X, Y), ad.grad(f, optimize=False)(W, X, Y), rtol=1e-12)
    with pytest.raises(IndexError):
        g(W, X, Y[:3])
    np.testing.assert_allclose(g(W, X[:3], Y), ad.grad(f, optimize=False)(W, X[:3], Y), rtol=1e-12)


def test_the_negative_of_what_the_loop_carries():
    def f(x, n):
        s, t = x[0], 1.0
        for _ in range(n + 1):
            t = np.exp(-s * t)
            s = t - x[2]
        return s

    x = W * 1.0
    np.testing.assert_allclose(ad.grad(f)(x, 4), ad.grad(f, optimize=False)(x, 4), rtol=1e-12)
    np.testing.assert_allclose(ad.grad(f)(x, 4), differences(lambda z: f(z, 4), x), rtol=1e-6, atol=1e-9)


def one_number(x, m):
    s = 0.0
    for i in range(len(m)):
        s = s + x[3] * m[i, 0]
    return s


def one_column(x, m):
    s = 0.0
    for i in range(len(m)):
        s = s + x[0] * m[i, 3]
    return s + np.sum(m)


def two_rows_on(x, m):
    n = len(x)
    m = np.zeros((n, n))
    for i in range(2, n):
        m[i - 2, 1] -= x[0]
    return np.sum(m * m)


@pytest.mark.parametrize("f", [one_number, one_column, two_rows_on])
def test_places_that_no_iteration_names(f):
    """Nothing is added behind a loop to a place that is not there, if the loop has not asked for it."""
    for n in (0, 1, 2):
        np.testing.assert_array_equal(ad.grad(f)(np.ones(n), np.ones((0, 2))), np.zeros(n))
    x, m = RNG.normal(size=5), RNG.normal(size=(3, 5))
    np.testing.assert_allclose(ad.grad(f)(x, m), differences(f, x, m), rtol=1e-6, atol=1e-8)
    if f is not two_rows_on:
        with pytest.raises(IndexError):
            ad.grad(f)(np.ones(1), np.ones((2, 1)))
