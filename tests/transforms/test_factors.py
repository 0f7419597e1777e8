"""Numbers in products of the adjoint: they are merged, and none is lost."""

import math

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.random.default_rng(3).normal(size=(5, 2)) + 0.1


def norms(x):
    return np.sum(np.sqrt(np.sum(x**2, axis=1)))


def norm_of_two(x):
    a, b = x[:, 0] * 1.0, x[:, 1] * 1.0
    return np.sum(np.sqrt(a**2 + b**2 + 1e-2))


def three_numbers(x):
    """3 from the cube, 0.75 from the program, and 2 from the square of it."""
    return np.sum(0.75 * (0.5 * x**3 + x) ** 2)


def one_is_read_twice(x):
    y = 2.0 * np.sin(x)
    return np.sum(3.0 * y**2 * x + 0.5 * y)


def the_same_twice(x):
    y = np.cos(x)
    return np.sum((y * y) ** 2 * 0.25)


def negative(x):
    return np.sum(np.exp(-0.5 * np.sum((x - 0.3) ** 2, axis=1)))


def behind_a_quotient(x):
    d = x[:, None] - x[None, :] + 0.7
    r = np.sqrt(np.sum(d**2, axis=-1))
    return np.sum(np.where(r < 2.0, 1.0 - 1.5 * r**2 + 0.75 * r**3, 0.25 * (2.0 - r) ** 3))


def small_and_large(x):
    return np.sum((1e-200 * x) ** 2 * 1e200) + np.sum(1e-300 * x**2 * 1e290)


PROGRAMS = [
    norms, norm_of_two, three_numbers, one_is_read_twice, the_same_twice, negative, behind_a_quotient, small_and_large,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_derivatives(f, dtype):
    expected = differences(f, X)
    rtol = 1e-5 if dtype is np.float64 else 1e-3
    if f is small_and_large and dtype is np.float32:
        return
    found = ad.grad(f)(X.astype(dtype))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * np.abs(expected).max())
    if dtype is np.float64:
        np.testing.assert_allclose(ad.grad(f, optimize="-factors")(X), found, rtol=1e-13)
        v = np.cos(np.arange(X.size)).reshape(X.shape)
        second = np.tensordot(v, differences(ad.grad(f), X), 2)
        np.testing.assert_allclose(ad.hvp(f)(X, v), second, rtol=1e-5, atol=1e-6 * np.abs(second).max())


def test_numbers_that_cancel():
    for f in (norms, norm_of_two):
        text = ad.grad(f).source(X).split("return")[-1]
        assert "0.5" not in text and "2.0 *" not in text
    assert "* -1.0" not in ad.grad(negative).source(X)


@pytest.mark.parametrize(("number", "x"), [(1e25, 1e-24), (1e-22, 1e14)])
def test_numbers_whose_product_float32_does_not_hold(number, x):
    """The gradient was infinite."""

    def literal(x):
        return np.sum(1e25 * (1e25 * x * x)) if x[0] < 1.0 else np.sum(1e-22 * (1e-22 * x * x * x))

    def given(x, k):
        return np.sum(k * (k * x * x)) if x[0] < 1.0 else np.sum(k * (k * x * x * x))

    x = np.full(3, x, np.float32)
    d = float(x[0])
    expected = 2e50 * d if d < 1.0 else 3e-44 * d * d
    np.testing.assert_allclose(ad.grad(literal)(x), np.full(3, expected), rtol=1e-5)
    np.testing.assert_allclose(ad.grad(given)(x, number), np.full(3, expected), rtol=1e-5)


def soft_minimum(x, t):
    return -t * np.sum(np.log(np.sum(np.exp(-x / t), axis=1)))


def of_three(x, t):
    low = np.minimum(np.minimum(x[0], x[1]), x[2])
    total = np.exp((low - x[0]) / t) + np.exp((low - x[1]) / t) + np.exp((low - x[2]) / t)
    return np.sum((low - t * np.log(total)) ** 2)


def divided_once(x, t):
    y = np.tanh(x / t)
    return np.sum(t * y * x) + np.sum(y)


def divided_by_another(x, t):
    s = t + 1.0
    return np.sum(t * np.tanh(x / s))


def divided_on_two_ways(x, t):
    s = t + 1.0
    return np.sum(t * np.tanh(np.sin(x[0] / s) * np.cos(x[1] / s)))


def divided_in_a_branch(x, t):
    for k in range(3):
        y = t * np.tanh(x)
        if k > 0:
            s = t + float(k)
            y = t * np.tanh(y / s) + y / s
        x = y
    return np.sum(x)


def in_a_loop(x, t):
    for _ in range(3):
        x = t * np.tanh(x / t)
        t = t + 0.1
    return np.sum(x)


@pytest.mark.parametrize(
    "f",
    [
        soft_minimum, of_three, divided_once, divided_by_another, divided_on_two_ways, divided_in_a_branch, in_a_loop,
    ],
)  # fmt: skip
def test_what_is_multiplied_and_divided(f):
    x, t = np.linspace(-1.0, 2.0, 12).reshape(4, 3), 0.7
    for k in range(2):
        expected = differences(f, x, t, argnum=k)
        np.testing.assert_allclose(ad.grad(f, argnums=k)(x, t), expected, rtol=1e-6, atol=1e-8)
        plain = ad.grad(f, argnums=k, optimize="-factors")(x, t)
        np.testing.assert_allclose(ad.grad(f, argnums=k)(x, t), plain, rtol=1e-12, atol=1e-14)
    found = ad.hvp(f)(x, t, np.cos(x))
    h = 1e-6
    moved = (ad.grad(f)(x + h * np.cos(x), t) - ad.grad(f)(x - h * np.cos(x), t)) / (2 * h)
    np.testing.assert_allclose(found, moved, rtol=1e-5, atol=1e-7)


def test_a_number_is_cancelled():
    x = np.linspace(-1.0, 2.0, 12).reshape(4, 3)
    assert "/ t\n" not in ad.grad(soft_minimum).source(x, 0.7)


def test_a_product_is_divided_and_not_what_is_computed_of_it():
    x = np.linspace(-1.0, 2.0, 12).reshape(4, 3)
    text = ad.grad(divided_on_two_ways).source(x, 0.7)
    assert text.count("/ s\n") == 2 and "(t / s if s else t * np.inf)" in text


def kinetic_energy(v, mass):
    """One number is 0.5 of the program, the other the 2 of the square: behind a new axis, and in a matrix."""
    return 0.5 * np.sum(mass[:, None] * v**2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_of_different_shapes_that_cancel(dtype):
    v, mass = X.astype(dtype), np.arange(1.0, 6.0).astype(dtype)
    derived = ad.grad(kinetic_energy)
    assert "0.5" not in derived.source(v, mass) and "2.0" not in derived.source(v, mass)
    np.testing.assert_allclose(derived(v, mass), mass[:, None] * v, rtol=1e-6)
    assert derived(v, mass).dtype == dtype


def test_numbers_that_nothing_needs_any_more():
    """A product whose number has gone into another one still reads what that one reads, and takes nothing from it."""

    def f(x):
        a = np.sqrt(1.0 + (x * x[0]) ** 2)
        return np.sum(a * a)

    rows = np.random.default_rng(0).normal(size=(3, 4))
    together = ad.vjp(ad.batch(f), rows)[1](np.ones(3))[0]
    np.testing.assert_allclose(together, [ad.grad(f)(row) for row in rows])
    np.testing.assert_allclose(together[1], differences(f, rows[1]), rtol=1e-6, atol=1e-8)


def steps(x, k):
    """Numbers of which Python computes one at a time: each product has one literal."""
    v = 0.1
    for i in range(len(x)):
        v = v + 0.2 * (x[i] - v * 0.5 * math.tanh((v - 2.0) / 30.0)) / 20.0 + 0.04 * math.cosh(v / 60.0) * k / 3.0
    return v


def cancelled(x, k):
    v = 1.0
    for i in range(len(x)):
        v = 0.5 * math.sin(2.0 * v * x[i]) + k * 4.0 * math.sin(v / -4.0) + 3 * math.sin(v / 3)
    return v


def read_twice(x, k):
    v = 1.0
    for i in range(len(x)):
        t = math.sin(v * 0.25)
        v = (0.5 * t * t + k) * x[i] / 8.0 - t / 3.0
    return v


def far_apart(x, k):
    v = 1.0
    for i in range(len(x)):
        v = 1e200 * math.sin(1e-200 * v * x[i] * k) + 1e-3 * math.sin(v * x[i] * 1e-3 * 1e5)
    return v


@pytest.mark.parametrize("f", [steps, cancelled, read_twice, far_apart])
def test_numbers(f):
    x = X.ravel() + 1.0
    compiled = ad.value_and_grad(f, argnums=(0, 1))
    value, grads = compiled(x, 0.7)
    plain_value, plain = ad.value_and_grad(f, argnums=(0, 1), optimize="-factors")(x, 0.7)
    assert value == plain_value == f(x, 0.7)
    for grad, other in zip(grads, plain):
        np.testing.assert_allclose(grad, other, rtol=1e-12)
    if f is not far_apart:
        for grad, other in zip(grads, compiled(x.astype(np.float32), np.float32(0.7))[1]):
            np.testing.assert_allclose(grad, other, rtol=1e-3)


def test_a_product_of_numbers_has_one_literal():
    assert "/ 60.0" in ad.grad(limit).source(0.3)


def limit(v):
    return 0.5 * math.tanh((v - 2.0) / 30.0)


def cubes_by_a_total(x, levels):
    y = x * x * (2 + levels.sum())
    return np.sum(y * y)


def shares_of_a_total(x, levels):
    y = levels.sum() * (x * x * 0.5)
    return np.sum(y * y * 0.25 * x)


@pytest.mark.parametrize("f", [cubes_by_a_total, shares_of_a_total])
def test_a_number_goes_into_one_product_of_a_chain(f):
    """What has gone into one factor of a product was taken once more by the product behind it."""
    rows, levels = np.random.default_rng(8).uniform(0.5, 1.5, size=(3, 4)), np.array([0.3, -0.2, 0.9])
    many = ad.batch(f, in_axes=(0, None))
    (found,) = ad.vjp(lambda x: many(x, levels), rows)[1](np.array([1.0, 2.0, -1.0]))
    for g, row, k in zip(found, rows, (1.0, 2.0, -1.0)):
        np.testing.assert_allclose(g, k * differences(f, row, levels), rtol=1e-5)


def blends(x, y):
    for _ in range(2):
        y = 0.3 * (1.0 / (2.0 + x**2)) + 0.2 * y
    return np.sum(y * x)


def test_a_reciprocal_that_is_multiplied_by_twice_takes_a_number_once():
    """The second of the two products found the number of the first one, behind it, and the square took both."""
    x, y = np.array([0.3, 0.4, 1.2]), np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(ad.grad(blends)(x, y), differences(lambda x: blends(x, y), x), rtol=1e-6)


def test_what_only_a_branch_defines_is_not_multiplied_in_front_of_it():
    """The backward sweep gets None for what the inner loop makes only where it is left."""

    def f(x, low):
        b = x * 1.0
        for _ in range(2):
            v = x
            for _ in range(3):
                v = np.sin(v * b)
                if np.sum(b) < low:
                    b = 0.5 * np.cos(np.arctan(b) * (v * (v * 2))) + b
                    v = np.sin(b) * x
                    break
                b = np.tanh(x + v)
                v = 0.5 * np.cos(v + b)
            b = b * 0.5 + v
        return np.sum(b)

    x = np.array([0.3, -0.2, 0.7])
    for low in (-9.0, 0.9, 9.0):
        np.testing.assert_allclose(ad.grad(f)(x, low), ad.grad(f, optimize=False)(x, low), rtol=1e-12)
