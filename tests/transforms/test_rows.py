"""Rows of tables that are looked up once: when that is done, and that results and errors stay."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(8)


def relaxed(x, sweeps):
    u = x.copy()
    for _ in range(sweeps):
        for i in range(1, len(x) - 1):
            for j in range(1, x.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] * u[i, j - 1] + u[i, j + 1] * x[i, j])
    return np.sum(u * u)


def two_tables(x, y):
    """Rows of the second are read by the variable of a loop along the first."""
    u = np.zeros(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            u[i, j] = x[i, j] * y[i, j] + y[i, 0] * x[0, j]
    return np.sum(u * u)


def in_a_branch(x, n):
    u = np.zeros(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            if x[i, j] > 0.0:
                u[i, j] += x[i, j] * x[i, j]
                u[i, 0] += u[i, j] * x[i, j]
                u[i, 1] -= x[i, 0] * u[i, 0]
    return np.sum(u)


def gathered(x, places):
    u = np.zeros(x.shape)
    for k in range(len(places)):
        a, b, c = x[places[k]]
        u[places[k], 0] += a * b
        u[places[k], 1] += b * c * u[places[k], 0]
        u[places[k], 2] += c * a + u[places[k], 1]
    return np.sum(u * u)


def made_anew(x, n):
    """The table is another one in each iteration."""
    u = x.copy()
    for _ in range(n):
        v = np.zeros(x.shape)
        for i in range(len(x)):
            for j in range(1, x.shape[1]):
                v[i, j] = v[i, j - 1] + u[i, j] * u[i, 0]
        u = v
    return np.sum(u * u)


def swapped(x, n):
    u, v = x.copy(), np.zeros(x.shape)
    for _ in range(n):
        for i in range(len(x)):
            for j in range(1, x.shape[1]):
                v[i, j] = v[i, j - 1] + u[i, j] * u[i, j - 1]
        u, v = v, u
    return np.sum(u * u) + np.sum(v)


def kept(x, n):
    """What the table was before the stores is read after them."""
    u = x.copy()
    w = u
    for i in range(len(x)):
        w = u.copy()
        for j in range(1, x.shape[1]):
            u[i, j] = u[i, j - 1] * x[i, j] + w[i, j]
    return np.sum(u * w)


def triangle(x, n):
    u = np.zeros(x.shape)
    for i in range(1, len(x)):
        for j in range(i):
            u[i, j] = x[i, j] * x[i - 1, j] + u[i - 1, j]
    return np.sum(u * u)


def from_the_end(x, n):
    u = x.copy()
    for i in range(len(x)):
        for j in range(1, x.shape[1]):
            u[i, j] += u[i - 1, j] * u[i, j - 1]
    return np.sum(u * u)


X, Y = 0.4 * RNG.normal(size=(5, 4)), RNG.normal(size=(6, 4))
POINTS = RNG.normal(size=(4, 3))
PROGRAMS = {
    relaxed: (X, 3),
    two_tables: (X, Y),
    in_a_branch: (X, 0),
    gathered: (POINTS, np.array([1, 3, 1, 0, -1, 2])),
    made_anew: (X, 2),
    swapped: (X, 3),
    kept: (X, 0),
    triangle: (X, 0),
    from_the_end: (X, 0),
}


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives_are_right(fn):
    args = PROGRAMS[fn]
    value, gradient = ad.value_and_grad(fn)(*args)
    assert value == fn(*args)
    assert gradient == pytest.approx(differences(lambda x: fn(x, *args[1:]), args[0]), rel=1e-5, abs=1e-6)
    assert np.array_equal(gradient, ad.grad(fn, optimize="-rows")(*args))
    value, pullback = ad.vjp(lambda x: fn(x, *args[1:]), args[0])
    for _ in range(2):
        assert np.array_equal(pullback(1.0)[0], gradient)


def source(fn, *args):
    return ad.value_and_grad(fn).source(*args)


def test_a_row_is_looked_up_once():
    text = source(relaxed, *PROGRAMS[relaxed])
    assert "u_prev, u_next, u_i = u[i - 1], u[i + 1], u[i]" in text
    assert "][j" not in text.replace("]]", "")
    text = source(gathered, *PROGRAMS[gathered])
    assert text.count("u_bar[") == 1
    assert "x_list" in text
    assert "x_list" not in source(gathered, np.ones((400, 3)), np.array([1, 3, 1]))


def test_rows_of_another_array_that_is_long_enough():
    gradient = ad.grad(two_tables)
    assert "y_i" in gradient.source(X, Y)
    gradient(X, Y)
    short = Y[:3]
    with pytest.raises(IndexError):
        two_tables(X, short)
    with pytest.raises(IndexError):
        gradient(X, short)
    assert np.array_equal(gradient(X[:3], short), gradient(X[:3], Y[:3]))


def never_read(x, n):
    """The inner loop has no iterations where the row is outside of the table."""
    total = 0.0
    u = x.copy()
    for i in range(2 * len(x)):
        for j in range(n - 4 * i):
            total += x[i, j] * u[i, j]
            u[i, j] = total
    return total


def test_a_row_that_is_not_there_is_not_looked_up():
    args = X, 4
    value, gradient = ad.value_and_grad(never_read)(*args)
    assert value == never_read(*args)
    assert gradient == pytest.approx(differences(lambda x: never_read(x, 4), X), rel=1e-6, abs=1e-8)


def chosen_at_random(x, n):
    u, v = x.copy(), 2.0 * x
    for i in range(len(x)):
        for j in range(1, x.shape[1]):
            u[i, j] += v[i, j - 1] * u[i, j - 1]
            if u[i, j] > 0.0:
                v[i, j] = u[i, j] * v[i, 0]
                v[i, 1] += u[i, 0]
    return np.sum(u * v)


def test_second_derivatives():
    for fn in (chosen_at_random, relaxed):
        hessian = ad.hessian(fn)(X, 2)
        gradient = ad.grad(fn)
        step = RNG.normal(size=X.shape)
        moved = (gradient(X + 1e-6 * step, 2) - gradient(X - 1e-6 * step, 2)) / 2e-6
        assert np.tensordot(hessian, step, 2) == pytest.approx(moved, rel=1e-5, abs=1e-6)


def left_early(x, n):
    """The number is NumPy's if an iteration was completed, and Python's otherwise."""
    total = 0.0
    i = 0
    while True:
        if i == n:
            break
        total = total + x[i] * x[i] * 0.5
        i += 1
    return total


@pytest.mark.parametrize("n", [0, 1, 4])
def test_the_number_of_a_loop_that_is_left(n):
    x = RNG.normal(size=5)
    value, gradient = ad.value_and_grad(left_early)(x, n)
    assert value == left_early(x, n)
    assert type(value) is type(left_early(x, n))
    assert np.array_equal(gradient, np.where(np.arange(5) < n, x, 0.0))
    assert "total = np.float64(total)" not in ad.grad(left_early).source(x, n)


def bound_in_a_loop(x):
    while True:
        y = x * x
        if y > 9.0:
            break
        x = x + y
    return y


def test_a_loop_that_only_an_iteration_leaves_binds_its_names():
    assert "UnboundLocalError" not in ad.grad(bound_in_a_loop).source(1.5)
    value, gradient = ad.value_and_grad(bound_in_a_loop)(1.5)
    assert value == bound_in_a_loop(1.5)
    assert gradient == pytest.approx(differences(bound_in_a_loop, 1.5), rel=1e-6)


def a_row_and_its_element(x, n):
    total = 0.0
    for i in range(len(x)):
        total += x[i, 1] * x[i, 2]
        for j in range(x.shape[1]):
            for k in range(n):
                total += x[i, 0] * x[i, j] * total + x[0, 0] * x[i, 1] * k
    return total


def elements_of_a_list(x, n):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            for k in range(n):
                total += (x[i] - x[j]) * x[i] * total + x[0] * x[k]
    return total


def test_a_row_that_is_moved_with_its_elements():
    for fn, x in ((a_row_and_its_element, X), (elements_of_a_list, X[:, 0].copy())):
        for n in (0, 2, 3):
            value, gradient = ad.value_and_grad(fn)(x, n)
            assert value == fn(x, n)
            assert gradient == pytest.approx(differences(lambda x, fn=fn, n=n: fn(x, n), x), rel=1e-5, abs=1e-6)


def rows_of_a_list(a, x, at):
    """Where a list says which row it is, the read of the list leaves the inner loop, too."""
    n = len(x)
    y = np.zeros((n, n))
    for i in range(2, n):
        for _ in range(2, n):
            y[at[i - 1], 1] = a * x[i]
            y[at[i - 1], -1] = 2.0 * a
    return np.sum(y * y)


def test_a_row_whose_place_is_moved():
    at = np.array([1, 0, 2, 1, 0])
    for n in (1, 2, 3, 5):
        x = np.linspace(0.2, 1.4, n)
        value, gradient = ad.value_and_grad(rows_of_a_list)(0.5, x, at[:n])
        assert value == rows_of_a_list(0.5, x, at[:n])
        assert gradient == pytest.approx(differences(rows_of_a_list, 0.5, x, at[:n]), rel=1e-6, abs=1e-8)
