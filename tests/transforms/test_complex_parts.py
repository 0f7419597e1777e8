"""The cotangents of both parts of complex numbers: one product where they come from squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X, W = np.random.default_rng(3).normal(size=6), np.random.default_rng(4).normal(size=6)


def power(x: Any, w: Any) -> Any:
    z = np.fft.fft(x * w)
    return np.sum(np.log(z.real**2 + z.imag**2 + 0.1) * w)


def half_of_the_power(x: Any, w: Any) -> Any:
    z = np.fft.rfft(x)
    return np.sum((0.5 * (w[:4] * (z.real * z.real + z.imag * z.imag))) ** 2)


def other_weights(x: Any, w: Any) -> Any:
    z = np.fft.fft(x)
    return np.sum(w * z.real**2 - 2.0 * w * z.imag**2)


def mixed(x: Any, w: Any) -> Any:
    z = np.fft.fft(x)
    return np.sum(w * z.real * z.imag) + np.sum(z.real * w) - np.sum(z.imag**3)


def of_two(x: Any, w: Any) -> Any:
    z, y = np.fft.fft(x), np.fft.fft(w)
    return np.sum(w * (z.real**2 + y.imag**2)) + np.sum(z.imag * y.real)


ALL = [power, half_of_the_power, other_weights, mixed, of_two]


@pytest.mark.parametrize("f", ALL)
def test_derivatives(f: Any) -> None:
    for k in range(2):
        expected = differences(f, X, W, argnum=k)
        np.testing.assert_allclose(ad.grad(f, argnums=k)(X, W), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ad.jacfwd(f, argnums=k)(X, W), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ad.grad(f, argnums=k, optimize=False)(X, W), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ad.hessian(f)(X, W), differences(ad.grad(f), X, W), rtol=1e-4, atol=1e-5)


def test_one_product() -> None:
    for f in (power, half_of_the_power):
        code = ad.grad(f).source(X, W)
        assert "1.0j" not in code and "complex(" not in code and "astype" not in code


def test_a_complex_argument() -> None:
    def f(z: Any) -> Any:
        return np.sum((z.real**2 + z.imag**2) * np.arange(3.0))

    z = np.array([1.0 + 2.0j, -0.5 + 1.0j, 3.0 - 1.0j])
    for dtype in (np.complex128, np.complex64):
        found = ad.grad(f)(z.astype(dtype))
        assert found.dtype == dtype
        np.testing.assert_allclose(found, ad.grad(f, optimize=False)(z.astype(dtype)), rtol=1e-6)
        np.testing.assert_allclose(found, 2.0 * np.arange(3.0) * np.conj(z), rtol=1e-6)


def test_what_is_conjugated_is_not_changed() -> None:
    def f(x: Any) -> Any:
        z = np.fft.rfft(x)
        y = z.copy()
        y[0] = 0.0
        return np.sum(z.real**2 + z.imag**2) * np.sum(np.abs(y) ** 2) + np.sum(z.real)

    np.testing.assert_allclose(ad.grad(f)(X), differences(f, X), rtol=1e-5, atol=1e-6)
