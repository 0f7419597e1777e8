"""Operands of few bits: NumPy computes the function in floats, so rules must not compute in the integers."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_compiler as ad

U = np.array([20, 200], np.uint8)
I = np.array([-120, 100], np.int8)
J = np.array([50_000, -70_000], np.int32)
B = np.array([True, False])

CASES = {
    "arctan2 by y": lambda x: np.sum(np.arctan2(x, U) + np.arctan2(x, I) + np.arctan2(x, J) + np.arctan2(x, B)),
    "arctan2 by x": lambda x: np.sum(np.arctan2(U, x) + np.arctan2(I, x) + np.arctan2(B, x)),
    "arctan2 of large": lambda x: np.sum(np.arctan2(x * 1e9, np.int64(4 * 10**9))),
    "power": lambda x: np.sum(x ** np.array([0, 3], np.uint8) + x ** np.array([-3, -128], np.int8)),
    "interp": lambda x: np.sum(np.interp(x, np.array([0, 200], np.uint8), np.array([200, 100], np.uint8))),
    "interp of bools": lambda x: np.sum(np.interp(x, [0, 4], [True, False])),
    "interp by fp": lambda f: np.sum(np.interp([-100, 110], np.array([-120, 120], np.int8), f)),
    "interp by xp": lambda p: np.sum(np.interp([2.2, 3.0], p, np.array([200, 100], np.uint8))),
    "gradient": lambda x: np.sum(np.gradient(np.stack([x[0], x[1], x[0]]), np.array([-100, 100, 120], np.int8)) ** 2),
    "gradient by the step": lambda x: np.sum(np.gradient(np.array([200, 100, 250], np.uint8), x[0], edge_order=2) ** 2),
    "take of a number": lambda x: np.sum(np.take(x[0], [0, 0])) * x[1],
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_by_differences(name):
    f = CASES[name]
    x = np.array([2.0, 3.5])
    want = np.array([(f(x + e) - f(x - e)) / 2e-6 for e in np.eye(2) * 1e-6])
    np.testing.assert_allclose(ad.grad(f)(x), want, rtol=1e-4, atol=1e-7)
    v = ad.Variable(x)
    with ad.GradientTape() as tape:
        y = f(v)
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), want, rtol=1e-4, atol=1e-7)


def test_a_zero_exponent_of_a_large_float32():
    x = np.array([3.0, 5.0], np.float32)
    found = ad.grad(lambda x: np.sum(x ** np.array([0, 2], np.uint8)))(x)
    np.testing.assert_array_equal(found, np.array([0.0, 10.0], np.float32))


def test_padding_a_number():
    v = ad.Variable(0.5)
    with ad.GradientTape() as tape:
        y = np.pad(v, 1) * 3.0
    assert tape.gradient(y, v).item() == 3.0
