"""Numbers that begin as ints: they are floats where nobody can tell, and ints where somebody can."""

import math

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([0.4, -0.7, 1.3])


def begun(f, *args):
    """What the lowered function says of its types."""
    return ad.grad(f).passes(*args)[0][1]


def same(got, want):
    assert type(got) is type(want), (got, want)
    np.testing.assert_array_equal(got, want)
    assert math.copysign(1.0, got) == math.copysign(1.0, want)


def test_a_sum_begins_with_a_float():
    def f(x):
        s = 0
        for i in range(len(x)):
            s += x[i] * x[i]
        return s

    value, x_bar = ad.value_and_grad(f)(X)
    same(value, f(X))
    np.testing.assert_allclose(x_bar, 2.0 * X)
    assert "scalar ?" not in begun(f, X)


def test_the_code_is_that_of_a_float():
    def ints(x, k):
        s, h = 0, 0
        for i in range(len(x)):
            h = k * h + x[i] * 2
            s += (h - 1) ** 2 / (1 + h * h)
        return s

    def floats(x, k):
        s, h = 0.0, 0.0
        for i in range(len(x)):
            h = k * h + x[i] * 2
            s += (h - 1) ** 2 / (1 + h * h)
        return s

    texts = [ad.value_and_grad(f, argnums=(0, 1)).source(X, 0.5).split("\n", 4)[4] for f in (ints, floats)]
    assert [line for line in texts[0].splitlines() if "adjoint" not in line] == [
        line for line in texts[1].splitlines() if "adjoint" not in line
    ]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_without_iterations_an_int_is_returned(n):
    def f(x):
        s = 3
        for _ in range(n):
            s = 0.5 * s + x
        return s

    value, x_bar = ad.value_and_grad(f)(0.7)
    same(value, f(0.7))
    np.testing.assert_allclose(x_bar, differences(f, 0.7), rtol=1e-6)


@pytest.mark.parametrize("x", [0.2, 0.9])
def test_a_condition_may_be_false_at_once(x):
    def f(x):
        s = 0
        while s + x < 0.5:
            s += x
        return s

    value, x_bar = ad.value_and_grad(f)(x)
    same(value, f(x))
    assert x_bar == {0.2: 2.0, 0.9: 0.0}[x]


def test_what_only_some_iterations_change_stays_an_int():
    def f(x, limit):
        s = 0
        for v in x:
            if v > limit:
                s += v
        return s

    for limit in (0.0, 2.0):
        same(ad.value_and_grad(f)(X, limit)[0], f(X, limit))


def test_what_only_some_iterations_change_is_divided():
    def f(x, limit):
        s = 0
        for v in x:
            if v > limit:
                s += v * v
        return s / len(x)

    for limit in (0.0, 2.0):
        same(ad.value_and_grad(f)(X, limit)[0], f(X, limit))
    assert "scalar ?" not in begun(f, X, 0.0)


def test_a_branch_that_is_an_int_on_one_side():
    """The result of the loop is the int only where the branch was taken."""

    def f(x, n):
        a = 1 if x > 0.3 else x
        for _ in range(n):
            a = 0.5 * a + x
        return a

    for x in (0.2, 0.8):
        for n in (0, 2):
            same(ad.value_and_grad(f)(x, n)[0], f(x, n))


def test_the_sign_of_zero():
    """The negative of an int has no sign if it is zero."""

    def f(x, n):
        a = b = 0
        for _ in range(n):
            b = -a + x
            a = a + x
        return 1.0 / b

    value = ad.value_and_grad(f)
    for x in (-0.0, 0.0):
        for g in (f, value):
            with pytest.raises(ZeroDivisionError):
                g(x, 1)
    same(value(0.5, 3)[0], f(0.5, 3))

    def g(x, n):
        a = b = 0
        for _ in range(n):
            b = -a + x
            a = a + x
        return b * 1.0

    same(ad.value_and_grad(g)(-0.0, 1)[0], g(-0.0, 1))


def test_ints_that_are_computed_with_ints():
    def f(x, n):
        y = 2
        for _ in range(n):
            y = y - (y**3 - x) / (3 * y**2 + 1)
        return y

    for n in (0, 1, 4):
        value, x_bar = ad.value_and_grad(f)(0.7, n)
        same(value, f(0.7, n))
        np.testing.assert_allclose(x_bar, differences(lambda x: float(f(x, n)), 0.7), rtol=1e-5)


def test_what_is_counted_stays_an_int():
    def f(x, n):
        s, k = 0, 0
        for _ in range(n):
            s += x * k
            k += 1
        return s * k

    same(ad.value_and_grad(f)(0.7, 3)[0], f(0.7, 3))
    assert "int = 0" in begun(f, 0.7, 3)


def test_a_sum_in_a_loop_in_a_loop():
    def f(a, x):
        y = np.zeros(3)
        for i in range(3):
            t = 0
            for j in range(len(x)):
                t += a[i, j] * x[j]
            y[i] = t
        return np.sum(y**2)

    a = np.arange(9.0).reshape(3, 3)
    np.testing.assert_allclose(ad.grad(f, argnums=1)(a, X), 2.0 * a.T @ (a @ X))
    assert "scalar ?" not in begun(f, a, X)


def test_the_largest_begins_with_an_int():
    def f(x):
        best = 0
        for v in x:
            best = max(best, v)
        return 0.5 * best

    for x in (X, -np.abs(X)):
        same(ad.value_and_grad(f)(x)[0], f(x))
    assert "int = 0" not in begun(f, X)
