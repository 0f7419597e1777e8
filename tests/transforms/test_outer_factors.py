"""Factors that a reversed loop does not change leave its sums: which ones, and that the gradients stay."""

import math

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(12)
X, K = RNG.normal(size=5), RNG.normal(size=5)
W = RNG.normal(size=(5, 5))


def by_an_array(k, x, steps):
    for _ in range(steps):
        x = x + 0.3 * np.sin(x) * k**2
    return np.sum(x**2)


def by_a_number(k, x, steps):
    total = 0.0
    for _ in range(steps):
        x = np.sin(x) * k[0]
        total += k[1] * np.sum(x)
    return total


def by_a_constant(k, x, steps):
    for _ in range(steps):
        x = x - 0.1 * (k - 2.0 * x * k)
    return np.sum(x**2)


def of_elements(k, x, steps):
    for _ in range(steps):
        y = np.zeros(len(x) + 1)
        y[1:] = np.maximum(k[1:3], 0.0)[0] * x
        y[0] = np.sin(k[0]) * x[0] + np.cos(k[-1]) * x[1]
        x = x - 0.5 * (y[1:] - y[:-1])
    return np.sum(x**2)


def of_parts(k, x, steps):
    for _ in range(steps):
        x = x + np.append(np.exp(k[1:] * 0.1) * x[:-1] - np.sin(k[:-1]) * x[1:], k[0] * x[0])
    return np.sum(np.sin(x))


def of_rows(k, x, steps):
    """What is added up is a sum over the rows, or the columns, of an iteration."""
    y = np.outer(x, x)
    for _ in range(steps):
        y = np.tanh(y * k**2 + (k * k)[:, None])
    return np.sum(y**2)


def on_a_condition(k, x, steps):
    for _ in range(steps):
        if x[0] > 0.1:
            x = x - 0.2 * k**2 * x
        else:
            x = x + 0.1 * np.cos(k) * x**2
    return np.sum(x**2)


def until_small(k, x, steps):
    n = 0
    while np.sum(x**2) > 0.01 and n < steps:
        x = x * 0.5 * np.cos(k) ** 2
        n += 1
    return np.sum(x**3) + n


def left_early(k, x, steps):
    for i in range(steps):
        x = x * 0.9 * np.cos(k) ** 2
        if x[0] > 10.0:
            break
    return np.sum(x**2)


def numbers(k, x, steps):
    a, b = k[0], k[1]
    s = total = 0.0
    for i in range(len(x)):
        s = s * 0.5 + a * b * x[i] * x[i]
        total += a * s
    return total * s


def nested(k, x, steps):
    for _ in range(steps):
        for j in range(3):
            x = x + 0.1 * np.sin(x) * k**2 * j
    return np.sum(x**2)


PROGRAMS = [
    by_an_array, by_a_number, by_a_constant, of_elements, of_parts, of_rows, on_a_condition, until_small, left_early,
    numbers, nested,
]  # fmt: skip


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7 * (1.0 + np.abs(expected).max(initial=0.0)))


@pytest.mark.parametrize("steps", [0, 1, 6])
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f, steps):
    gradient = ad.grad(f, argnums=(0, 1))(K, X, steps)
    plain = ad.grad(f, argnums=(0, 1), optimize="-outer factors")(K, X, steps)
    for found, want, by in zip(gradient, plain, (lambda k: f(k, X, steps), lambda x: f(K, x, steps))):
        np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-13)
        near(found, differences(by, K if by.__code__.co_varnames[0] == "k" else X))


@pytest.mark.parametrize("f", [by_an_array, of_elements, of_parts, on_a_condition, numbers])
def test_second_derivatives(f):
    v = np.cos(np.arange(K.size))
    by = differences(lambda k: ad.grad(f)(k, X, 4), K)
    near(ad.hvp(f)(K, X, 4, v), by @ v)


@pytest.mark.parametrize("f", [by_an_array, of_elements, of_parts, of_rows, left_early, numbers])
def test_factors_leave(f):
    assert "summed" in ad.grad(f).source(K, X, 6)
    assert "summed" not in ad.grad(f, optimize="-outer factors").source(K, X, 6)


@pytest.mark.parametrize("f", [until_small, nested])
def test_factors_stay(f):
    assert "summed" not in ad.grad(f).source(K, X, 6)


def test_few_iterations():
    def f(k, x):
        for _ in range(3):
            x = x + 0.3 * np.sin(x) * k**2
        return np.sum(x**2)

    assert "summed" not in ad.grad(f).source(K, X)
    near(ad.grad(f)(K, X), differences(lambda k: f(k, X), K))


def test_what_two_sums_share_is_added_up_once():
    def f(a, b, x):
        s = total = 0.0
        for t in x:
            s = 0.5 * s + t * t
            total += np.exp(a * b * s)
        return total

    source = ad.grad(f, argnums=(0, 1)).source(0.3, 0.7, X)
    assert source.count("summed +=") == 1
    near(
        ad.grad(f, argnums=(0, 1))(0.3, 0.7, X), [differences(f, 0.3, 0.7, X), differences(lambda b: f(0.3, b, X), 0.7)]
    )


def test_a_factor_that_may_be_undefined():
    """Without iterations, it is not read behind the loop."""

    def f(a, x, n):
        if n > 0:
            k = np.sin(a)
        y = x
        for _ in range(n):
            y = y + 0.1 * k * k * np.sin(y) * a**2
        return np.sum(y * a)

    for n in (0, 5):
        near(ad.grad(f)(K, X, n), differences(lambda a: f(a, X, n), K))


def test_an_element_that_may_not_be_there():
    """Without iterations, nothing is added to it."""

    def f(k, x, n, place):
        s = 0.0
        c = np.cos(x[0])
        for _ in range(n):
            s = np.sin(s) + k[place] * c
        return s + np.sum(k)

    for n, place in ((4, 2), (0, 9)):
        near(ad.grad(f)(K, X, n, place), differences(lambda k: f(k, X, n, place), K))


def test_single_precision():
    k, x = K.astype(np.float32), X.astype(np.float32)
    found = ad.grad(by_an_array)(k, x, 5)
    assert found.dtype == np.float32
    near(found, ad.grad(by_an_array)(K, X, 5).astype(np.float32))


def squares_of_numbers(a, x):
    s = total = 0.0
    for t in x:
        s = math.sin(a * s) + t
        total += (s - t * a) ** 2
    return total / len(x)


def squares_of_arrays(a, x):
    y = x
    total = 0.0
    for _ in range(6):
        y = y + a * (1.0 - y) * np.sin(y) * 0.5
        total += np.sum(y**2)
    return total * a


def a_number_that_is_read_elsewhere(a, x):
    s = total = 0.0
    for t in x:
        s = a * s + t
        total += s * s * s
    return total / len(x) + s / len(x)


@pytest.mark.parametrize("f", [squares_of_numbers, squares_of_arrays, a_number_that_is_read_elsewhere])
def test_numbers_are_multiplied_in_front(f):
    for by in (0, 1):
        gradient = ad.grad(f, argnums=by)(0.7, X)
        plain = ad.grad(f, argnums=by, optimize="-outer factors")(0.7, X)
        np.testing.assert_allclose(gradient, plain, rtol=1e-12, atol=1e-14)
        near(gradient, differences(f, 0.7, X, argnum=by))
    for x in (X[:0], X[:1]):
        if f is not squares_of_arrays and len(x):
            near(ad.grad(f)(0.7, x), differences(f, 0.7, x))


def test_the_number_has_a_name():
    source = ad.grad(squares_of_numbers).source(0.7, X)
    assert "scale = 2.0 / n" in source and "1.0 / n" not in source


def test_a_number_of_numpys_stays():
    """To multiply it in front would make it NumPy's in the loop as well."""

    def f(k, x):
        a = k[0]
        s = 0.0
        for t in x:
            s = s * 0.5 + a * (0.5 * t * t)
        return s * s

    near(ad.grad(f, argnums=1)(K, X), differences(f, K, X, argnum=1))


def one_sum_for_two_arrays(k, x, steps):
    a, b = 1.0 * x, np.sin(x)
    for _ in range(steps):
        a = a + b
        b = a * k
    return np.sum(a**2) + np.sum(b)


def one_sum_for_two_numbers(k, x, steps):
    a, b = x[0], x[1]
    for _ in range(steps):
        a = a + b
        b = a * k[0]
    return a * a + b


@pytest.mark.parametrize("f", [one_sum_for_two_arrays, one_sum_for_two_numbers])
@pytest.mark.parametrize("steps", [0, 1, 6])
def test_what_the_loop_hands_on_twice_stays(f, steps):
    """The cotangents of `a` and `b` are one sum, and the next iteration reads it as that of `b`."""
    for by in (0, 1):
        near(ad.grad(f, argnums=by)(K, X, steps), differences(f, K, X, steps, argnum=by))
