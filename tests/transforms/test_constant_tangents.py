"""Tangents that are known when a program is compiled: each call has its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad


def scaled_in_a_loop(x: Any) -> Any:
    a = np.array([x, 2 * x])
    for i in range(2):
        a[i] *= x
    return a.sum()


def curved(x: Any) -> Any:
    a = np.array([x, x * x])
    for i in range(2):
        a[i] = a[i] * x
    return a.sum()


def mixed(x: Any) -> Any:
    a = np.array([3 * x, 2 * x])
    for i in range(2):
        a[i] = a[i] * a[1 - i]
    return a


def in_place(x: Any) -> Any:
    a = np.array([x, 2 * x])
    a *= x
    return a.sum()


def item_by_item(x: Any) -> Any:
    a = np.array([x, x * x])
    a[0] = a[0] * a[1]
    a[1] = a[1] * a[0]
    return a.sum()


def around(x: Any) -> Any:
    a = np.array([x, 1.0, x * x])
    for i in (0, 1, 2):
        a[i] = a[i] * a[(i + 1) % 3]
    return a.sum()


def long(x: Any) -> Any:
    a = np.array([x, 2 * x, 3 * x, 4 * x] * 10)
    for i in range(3):
        a[i] = a[i] * a[i + 1]
    a[5:] *= x
    return a.sum()


FUNCTIONS = [long, scaled_in_a_loop, curved, mixed, in_place, item_by_item, around]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_calls_do_not_change_each_other(f: Any) -> None:
    x, h = 0.7, 1e-5
    first = (f(x + h) - f(x - h)) / (2 * h)
    second = (ad.derivative(f)(x + h) - ad.derivative(f)(x - h)) / (2 * h)
    for derivative, want in (
        (ad.derivative(f), first),
        (ad.jacfwd(f), first),
        (ad.derivative(ad.derivative(f)), second),
    ):
        for _ in range(3):
            np.testing.assert_allclose(derivative(x), want, rtol=1e-6)
    if f is not mixed:
        third = ad.grad(ad.grad(ad.grad(f)))
        want = (ad.grad(ad.grad(f))(x + h) - ad.grad(ad.grad(f))(x - h)) / (2 * h)
        for _ in range(3):
            np.testing.assert_allclose(third(x), want, rtol=1e-6)


def test_results_are_the_caller_s() -> None:
    for f, want in ((lambda x: np.array([x, 2 * x]), [1.0, 2.0]), (lambda x: np.array([x * x, 2 * x * x]), [2.0, 4.0])):
        derivative = ad.derivative(f) if want[0] == 1.0 else ad.derivative(ad.derivative(f))
        found = derivative(0.5)
        found[0] = 99.0
        np.testing.assert_array_equal(derivative(0.5), want)
