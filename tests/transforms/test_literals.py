"""Ints are written as floats where all else is a float, and nowhere else: the numbers stay, bit by bit."""

import numpy as np
import pytest

import autodiff_compiler as ad

X = np.array([0.4, -0.7, 1.3, 0.0])


def test_ints_beside_floats():
    def f(x, k):
        s = 0.0
        for v in x:
            if v > 0:
                s += 2 * v / (1 + k * k) - 3
        y = np.where(x > 1, np.maximum(x, 0) * 2, np.clip(x, -1, 2))
        y[0] = 1
        return s * np.sum(y / 3 - 1)

    value_and_grad = ad.value_and_grad(f, argnums=(0, 1))
    text = value_and_grad.source(X, 0.3)
    for part in ("> 0.0", "2.0 * ", "1.0 + k", "- 3.0", "np.maximum(x, 0.0) * 2.0", "(x, -1.0, 2.0)", "] = 1.0"):
        assert part in text, (part, text)
    value, bars = value_and_grad(X, 0.3)
    assert value == f(X, 0.3) and type(value) is type(f(X, 0.3))
    for got, want in zip(bars, ad.grad(f, argnums=(0, 1), optimize="-literals")(X, 0.3)):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("x", [X.astype(np.float32), X.astype(complex)])
def test_other_dtypes_keep_their_ints(x):
    def f(x):
        return np.sum(np.abs(2 * x * x - 1))

    assert "2 * " in ad.value_and_grad(f).source(x)


def test_ints_that_are_no_operands_stay():
    def f(x, n):
        k = n + 1
        m = np.arange(3) * 2
        y = x**2 // 1 + np.ldexp(x, 2) + x[1] * k
        return np.sum(y) + np.sum(m) * n

    value, _ = ad.value_and_grad(f)(X, 3)
    assert value == f(X, 3)
    text = ad.value_and_grad(f).source(X, 3)
    assert "n + 1" in text and "np.ldexp(x, 2)" in text and "** 2.0" not in text, text


def test_large_ints_stay():
    def f(x):
        return np.sum(x * (2**60 + 1)) + np.sum(x * 2)

    assert str(2**60 + 1) in ad.value_and_grad(f).source(X)


@pytest.mark.parametrize("d", [0.0, -0.0, 2.0, np.inf, np.nan])
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_divisions_in_loops_are_those_of_numpy(d):
    """``(a + b) / (d or np.float64(d))``, where `d` may be zero."""

    def f(x, d):
        s = 0.0
        for i in range(len(x)):
            s = s * 0.5 + (x[i] + 1) / d[i]
        return s

    divisors = np.array([1.5, d, 2.0, d])
    value_and_grad = ad.value_and_grad(f, argnums=(0, 1))
    value, bars = value_and_grad(X, divisors)
    assert "or np.float64(" in value_and_grad.source(X, divisors)
    np.testing.assert_array_equal(value, f(X, divisors))
    for got, want in zip(bars, ad.grad(f, argnums=(0, 1), optimize=False)(X, divisors)):
        np.testing.assert_allclose(got, want, rtol=1e-12)
