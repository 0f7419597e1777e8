"""Cotangents of quotients whose divisor is computed from the numerator: shares of a sum, and saturation."""

import numpy as np
import pytest

import autodiff_compiler as ad

RNG = np.random.default_rng(3)
Z, W = RNG.normal(size=(3, 3)), RNG.uniform(1.0, 2.0, size=(3, 3))


def shares_of_rows(z, w):
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    return np.sum(w * (e / np.sum(e, axis=1, keepdims=True)))


def shares_of_rows_with_new_axis(z, w):
    e = np.exp(z)
    return np.sum(w * (e / e.sum(axis=-1)[:, None]))


def shares_of_columns(z, w):
    e = np.exp(z)
    return np.sum(w * (e / e.sum(axis=0)))


def shares_of_all(z, w):
    e = np.exp(z)
    return np.sum(w * (e / e.sum()))


def rows_by_sums_of_columns(z, w):
    """What is summed for a row is divided by different numbers."""
    e = np.exp(z)
    return np.sum(w * (e / e.sum(axis=1)))


def sums_of_rows_along_columns(z, w):
    e = np.exp(z)
    return np.sum(w * (e / e.sum(axis=1)[None, :]))


def weighted_sum(z, w):
    e = np.exp(z)
    return np.sum(w * (e / np.sum(w * e, axis=1, keepdims=True)))


def also_read_elsewhere(z, w):
    e = np.exp(z)
    s = e.sum(axis=1, keepdims=True)
    return np.sum(w * (e / s)) + np.sum(e * e) + np.sum(s)


def other_derivative(z, w):
    e = z * z
    return np.sum(w * (e / np.sum(e, axis=1, keepdims=True)))


def shares_in_a_loop(z, w):
    for _ in range(3):
        e = np.exp(z - np.max(z, axis=1, keepdims=True))
        z = z + w * (e / np.sum(e, axis=1, keepdims=True))
    return np.sum(z * w)


def one_more_than_itself(z, w):
    z = z * z
    return np.sum(w * (z / (1.0 + z)))


def one_less_than_itself(z, w):
    return np.sum(w * (z / (1.0 - z)))


def soft_sign(z, w):
    return np.sum(w * (z / (1 + 2.0 * np.abs(z))))


def twice_as_much(z, w):
    return np.sum(w * (2.0 * z / (1.0 + z * z + 1.0)) + z / (1.0 + 0.5 * z * z))


def two_more_than_itself(z, w):
    z = z * z
    return np.sum(w * (z / (2.0 + z)))


def of_a_square(z, w):
    return np.sum(w * (z / (1.0 + z * z)))


def saturated_in_a_loop(z, w):
    for _ in range(3):
        z = w * z / (1.0 + np.abs(z))
    return np.sum(z)


PROGRAMS = [value for value in list(globals().values()) if getattr(value, "__module__", "") == __name__]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_gradient_is_that_without_passes(program, dtype):
    args = Z.astype(dtype), W.astype(dtype)
    value, grads = ad.value_and_grad(program, (0, 1))(*args)
    _, expected = ad.value_and_grad(program, (0, 1), optimize=False)(*args)
    assert value == program(*args)
    for g, e in zip(grads, expected, strict=True):
        assert g.dtype == e.dtype == dtype
        np.testing.assert_allclose(g, e, rtol=1e-11 if dtype is np.float64 else 1e-3, atol=1e-5 * (dtype is np.float32))


@pytest.mark.parametrize("program", [shares_of_rows, soft_sign], ids=lambda f: f.__name__)
def test_second_derivatives(program):
    def total(z, w):
        return np.sum(W * ad.grad(program)(z, w) ** 2)

    ad.check_grads(total, (Z, W))


def test_only_the_shares_are_saved():
    source = ad.grad(shares_in_a_loop).source(Z, W)
    assert "for e_over_sum_e in reversed(e_over_sum_e_saved):" in source, source


@pytest.mark.parametrize("shape", [(4,), (0,), (1,)])
def test_shares_of_a_vector(shape):
    def shares(z, w):
        e = np.exp(z)
        return w @ (e / np.sum(e))

    z, w = np.linspace(-1.0, 1.0, *shape), np.linspace(1.0, 2.0, *shape)
    np.testing.assert_allclose(ad.grad(shares)(z, w), ad.grad(shares, optimize=False)(z, w), atol=1e-14)


def test_a_gradient_that_would_cancel_is_exact():
    x = np.array([1e3, 1e8, 1e20])

    def saturated(x):
        return np.sum(x / (1.0 + x))

    np.testing.assert_allclose(ad.grad(saturated)(x), (1.0 + x) ** -2.0, rtol=1e-15)


def test_a_sum_that_overflows_has_shares_of_zero():
    z = np.array([[709.0, 709.5], [0.0, 1.0]])
    with np.errstate(over="ignore"):
        grads = [ad.grad(shares_of_rows_with_new_axis, optimize=o)(z, W[:2, :2]) for o in (True, False)]
    np.testing.assert_allclose(*grads, rtol=1e-12)
    assert (grads[0][0] == 0.0).all()
