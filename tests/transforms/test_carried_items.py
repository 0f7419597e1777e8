"""Numbers of lists that iterations share: which are carried in variables, and that values and gradients stay."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences
from tests.transforms.recurrences import into_the_next, recurrence

X, Y = np.random.default_rng(21).normal(size=(2, 9))


def without_a_start(x, y):
    z = np.zeros(len(x))
    for i in range(1, len(x)):
        z[i] = 0.5 * z[i - 1] + x[i] * y[i]
    return np.sum(z * z)


def from_a_copy(x, y):
    z = x.copy()
    for i in range(1, len(x)):
        z[i] = z[i] * z[i - 1] + y[i]
    return np.sum(z)


def two_steps_back(x, y):
    z = np.ones(len(x))
    z[0], z[1] = x[0], y[1]
    for i in range(2, len(x)):
        z[i] = z[i - 1] * 0.3 + z[i - 2] * x[i]
    return np.sum(z**2)


def with_a_gap(x, y):
    z = np.ones(len(x))
    for i in range(2, len(x)):
        z[i] = z[i - 2] * x[i] + y[i]
    return np.sum(z**2)


def three_places(x, y):
    z = np.zeros(len(x) + 1)
    z[0], z[1] = x[0], y[1]
    for i in range(1, len(x)):
        z[i + 1] = z[i] * 0.3 + z[i - 1] * x[i]
    return np.sum(z**2)


def all_three_are_stored(x, y):
    z = np.zeros(len(x) + 1)
    z[0], z[1] = x[0], y[1]
    for i in range(1, len(x)):
        z[i] = z[i] * z[i - 1] + z[i + 1] * y[i] + x[i]
        z[i - 1] += z[i]
        z[i + 1] = z[i + 1] + x[i] - 0.5 * z[i - 1]
    return np.sum(z**2)


def ends_apart(x, y):
    z = np.zeros(len(x) + 1)
    z[0] = x[0]
    for i in range(1, len(x)):
        z[i + 1] = (z[i + 1] + x[i]) * y[i] + z[i - 1] * z[i - 1]
    return np.sum(z**2)


def too_far_back(x, y):
    z = np.ones(len(x))
    for i in range(4, len(x)):
        z[i] = z[i - 4] * x[i] + y[i]
    return np.sum(z**2)


def both_are_stored(x, y):
    z = x * 1.0
    for i in range(1, len(x)):
        z[i - 1] = z[i - 1] * y[i] + z[i]
        z[i] = z[i] * z[i - 1] + 0.1
    return np.sum(z**2)


def downwards(x, y):
    z = np.zeros(len(x))
    z[-1] = x[-1]
    for i in range(len(x) - 2, -1, -1):
        z[i] = 0.5 * z[i + 1] * x[i] - y[i]
    return np.sum(z**2)


def tridiagonal(x, y):
    n = len(x)
    c, d = np.zeros(n), np.zeros(n)
    c[0], d[0] = x[0] / 4.0, y[0] / 4.0
    for i in range(1, n):
        m = 4.0 - x[i] * c[i - 1]
        c[i] = x[i] / m
        d[i] = (y[i] - x[i] * d[i - 1]) / m
    for i in range(n - 2, -1, -1):
        d[i] = d[i] - c[i] * d[i + 1]
    return np.sum(d**2)


def read_in_the_same_iteration(x, y):
    z, w = np.zeros(len(x)), np.zeros(len(x))
    for i in range(len(x)):
        z[i] = x[i] * y[i]
        w[i] = z[i] * z[i] + z[i]
    return np.sum(z * w)


def stored_twice(x, y):
    z = np.zeros(len(x))
    for i in range(1, len(x)):
        z[i] = x[i]
        z[i] = z[i] * z[i - 1] + y[i]
        z[i] += z[i - 1]
    return np.sum(z**2)


def from_the_last(x, y):
    """The first iteration reads the last place, which no iteration before has stored."""
    z = x * 1.0
    for i in range(len(x)):
        z[i] = z[i - 1] * y[i]
    return np.sum(z**2)


def on_a_condition(x, y):
    z = x * 1.0
    for i in range(1, len(x)):
        if y[i] > 0.0:
            z[i] = z[i - 1] * y[i]
    return np.sum(z**2)


def left_early(x, y):
    z = np.zeros(len(x))
    for i in range(1, len(x)):
        z[i] = z[i - 1] + x[i] * y[i]
        if z[i] > 1.0:
            break
    return np.sum(z**2)


def only_the_last(x, y):
    z = np.zeros(len(x))
    for i in range(1, len(x)):
        z[i] = z[i - 1] * x[i] + y[i]
    return z[-1]


def quotients(x, y):
    z = np.ones(len(x))
    for i in range(1, len(x)):
        z[i] = x[i] / (1.0 + z[i - 1] ** 2) + z[i - 1] / y[i]
    return np.sum(z)


def sweeps(x, y):
    z = x * 1.0
    for _ in range(2):
        for i in range(1, len(x)):
            z[i] = 0.5 * z[i - 1] + z[i] * y[i]
    return np.sum(z**2)


CARRIED = [
    recurrence, without_a_start, from_a_copy, into_the_next, three_places, all_three_are_stored, ends_apart,
    both_are_stored, downwards,
    tridiagonal, read_in_the_same_iteration, stored_twice, only_the_last, quotients,
]  # fmt: skip
OTHERS = [two_steps_back, with_a_gap, too_far_back, from_the_last, on_a_condition, left_early, sweeps]


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=5e-5, atol=1e-6 * (1.0 + np.abs(expected).max()))


@pytest.mark.parametrize("f", CARRIED + OTHERS)
def test_derivatives(f):
    """Bit by bit, the value is that of the function, and the gradient that without the pass."""
    value, gradient = ad.value_and_grad(f, argnums=(0, 1))(X, Y)
    assert value == f(X, Y)
    plain = ad.value_and_grad(f, argnums=(0, 1), optimize="-carried items")(X, Y)
    assert value == plain[0]
    for found, want, by in zip(gradient, plain[1], (0, 1)):
        np.testing.assert_array_equal(found, want)
        near(found, differences(f, X, Y, argnum=by))


@pytest.mark.parametrize("f", CARRIED + OTHERS)
def test_pullbacks(f):
    _, pullback = ad.vjp(f, X, Y)
    gradient = ad.grad(f, argnums=(0, 1))(X, Y)
    for _ in range(2):  # a pullback may be called again
        for found, want in zip(pullback(1.0), gradient):
            np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("f", CARRIED)
def test_second_derivatives(f):
    v = np.cos(np.arange(X.size))
    near(ad.hvp(f)(X, Y, v), differences(lambda x: ad.grad(f)(x, Y), X) @ v)


@pytest.mark.parametrize(
    "f", [recurrence, from_a_copy, both_are_stored, downwards, tridiagonal, three_places, all_three_are_stored]
)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_elements(f, n):
    gradient = ad.grad(f)
    gradient(X, Y)  # code that was compiled for more of them
    near(gradient(X[:n], Y[:n]), differences(f, X[:n], Y[:n]))


@pytest.mark.parametrize("f", [without_a_start, from_a_copy, both_are_stored])
@pytest.mark.parametrize("n", [0, 1])
def test_no_iterations(f, n):
    np.testing.assert_array_equal(ad.grad(f)(X[:n], Y[:n]), ad.grad(f, optimize=False)(X[:n], Y[:n]))


@pytest.mark.parametrize("f", CARRIED)
def test_they_are_carried(f):
    text = [ad.value_and_grad(f, optimize=o).source(X, Y) for o in (True, "-carried items")]
    assert text[0] != text[1]


def test_one_read_is_not_worth_a_variable():
    def f(x):
        y = np.zeros(len(x))
        y[0] = x[0]
        for i in range(1, len(x)):
            y[i] = 0.5 * y[i - 1] + x[i] * x[i]
        return np.sum(y**2)

    text = ad.grad(f).source(X)
    assert "y.append(0.5 * y[-1] + x_i * x_i)" in text and "y_bar_i = y_bar[" in text


@pytest.mark.parametrize("f", [from_the_last, on_a_condition, left_early])
def test_the_list_of_the_function_is_read(f):
    forward = ad.value_and_grad(f).source(X, Y).split("# adjoint")[0]
    assert forward == ad.value_and_grad(f, optimize="-carried items").source(X, Y).split("# adjoint")[0]


def test_special_values():
    x = np.array([1.0, np.inf, 2.0, -0.0, np.nan, 1.0, 0.0, 1e308, 3.0])
    with np.errstate(all="ignore"):
        for f in (recurrence, both_are_stored, quotients):
            want = ad.value_and_grad(f, optimize="-carried items")(x, Y)
            np.testing.assert_array_equal(ad.value_and_grad(f)(x, Y)[0], want[0])
            np.testing.assert_array_equal(ad.value_and_grad(f)(x, Y)[1], want[1])
