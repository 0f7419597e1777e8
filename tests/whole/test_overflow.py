"""Gradients at arguments where exponentials overflow and the value is finite; ties, empty arrays, dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([-1000.0, 0.3, 1000.0])


def softplus_where(x):
    return np.sum(np.where(x > 30, x, np.log1p(np.exp(x))))


def exp_where(x):
    return np.sum(np.where(x > 30, 0.0, np.exp(x) * x))


def square_nan(x):
    y = np.where(x > 2, np.nan, x)
    return np.nansum(y**2) + np.nansum(np.square(y)) + np.nansum(y * y)


def cosh_where(x):
    return np.sum(np.where(abs(x) > 30, abs(x), np.log(np.cosh(x))))


def logaddexp(x):
    return np.sum(np.logaddexp(0.0, x)) + np.sum(np.logaddexp(x, x)) + np.logaddexp.reduce(x)


def sigmoid_naive(x):
    return np.sum(1 / (1 + np.exp(-x)))


def softmax_shifted(x):
    e = np.exp(x - np.max(x))
    return np.sum(e / np.sum(e) * np.array([1.0, 2.0, 3.0]))


def tanh(x):
    return np.sum(np.tanh(x)) + np.sum(np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0))


def sigmoid_scalar(x):
    s = 0.0
    for i in range(3):
        s += 1 / (1 + np.exp(-x[i]))
    return s


def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def stable_sigmoid(x):
    return np.sum(np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x))))


def log_sigmoid(x):
    return np.sum(np.log(1 / (1 + np.exp(-x))))


def swish(x):
    return np.sum(x / (1 + np.exp(-x)))


FUNCTIONS = [
    softplus_where,
    exp_where,
    square_nan,
    cosh_where,
    logaddexp,
    sigmoid_naive,
    softmax_shifted,
    tanh,
    sigmoid_scalar,
    logsumexp,
    stable_sigmoid,
    swish,
]


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient(f):
    np.testing.assert_allclose(ad.grad(f)(X), differences(f, X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_in_a_loop_and_a_branch(f):
    def g(x):
        s = 0.0
        for k in range(3):
            if k != 1:
                s = s + f(x)
        return s

    np.testing.assert_allclose(ad.grad(g)(X), 2 * ad.grad(f)(X), rtol=1e-12)


@pytest.mark.parametrize("f", [sigmoid_naive, softplus_where, softmax_shifted, tanh, swish], ids=lambda f: f.__name__)
def test_float32(f):
    x = np.array([-200.0, 0.3, 200.0], np.float32)
    found = ad.grad(f)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(f)(x.astype(float)), rtol=1e-5, atol=1e-6)


def test_log_of_a_sigmoid():
    found = ad.grad(log_sigmoid)(np.array([-700.0, 0.3, 1000.0]))
    np.testing.assert_allclose(found, [1.0, 1 - 1 / (1 + np.exp(-0.3)), 0.0])


def test_empty():
    for f in (
        sigmoid_naive,
        softplus_where,
        tanh,
        lambda x: np.sum(np.sqrt(np.maximum(x, 0))),
        lambda x: x.sum() + x @ x,
    ):
        assert ad.grad(f)(np.empty(0)).shape == (0,)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128])
def test_each_gradient_has_the_dtype_of_its_argument(dtype):
    def f(a, b, n, flags):
        y = np.where(flags, a * n + 2, a / 3) * b
        return np.sum(np.abs(y * y)) + np.sum(np.abs(np.cumsum(y)[::2])) * True

    a, b = np.array([0.5, 1.5, -2.0]).astype(dtype), np.array([1.0, 2.0, 0.5], np.float32)
    n, flags = np.array([1, 2, 3], np.int16), np.array([True, False, True])
    by_a, by_b = ad.grad(f, argnums=(0, 1))(a, b, n, flags)
    assert by_a.dtype == dtype and by_b.dtype == np.float32
    wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
    want_a, want_b = ad.grad(f, argnums=(0, 1))(a.astype(wide), b.astype(float), n, flags)
    tolerance = {np.float16: 2e-2, np.float32: 1e-5, np.complex64: 1e-5}.get(dtype, 1e-6)
    np.testing.assert_allclose(by_a, want_a, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(by_b, want_b, rtol=max(tolerance, 1e-5), atol=max(tolerance, 1e-5))


def test_a_million_trips():
    def f(x):
        s = 0.0
        for _ in range(1_000_000):
            s = s * 0.5 + x
        return s

    assert ad.grad(f)(1.5) == pytest.approx(2.0)


def test_power_of_a_positive_constant_is_real():
    def f(a, k):
        return np.sum(np.linalg.cholesky(a @ a.T + 10.0**k * np.eye(2)))

    a = np.array([[1.0, 0.5], [0.2, 2.0]])
    found = ad.grad(f)(a, 1)
    for place in np.ndindex(2, 2):
        h = np.zeros((2, 2))
        h[place] = 1e-6
        assert found[place] == pytest.approx((f(a + h, 1) - f(a - h, 1)) / 2e-6, rel=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda v: np.sum(np.log(1 + np.exp(v))),
        lambda v: np.sum(np.log1p(np.exp(v))),
        lambda v: np.sum(np.log2(1 + np.exp(v))),
        lambda v: np.sum(np.log10(np.exp(v) + 2.0)),
        lambda v: np.sum(np.log(np.exp(v)) ** 2),
    ],
)
def test_where_the_value_overflows_the_gradient_is_no_number(f):
    with np.errstate(all="ignore"):
        g = ad.grad(f)(np.array([1000.0, 1.0]))
        assert np.isinf(f(np.array([1000.0, 1.0])))
    assert np.isnan(g[0]) and np.isfinite(g[1])
