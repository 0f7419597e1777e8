"""Each run of an inner loop fills a list of its own, where that is what its reverse takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences


def whiles(x: Any, y: Any) -> Any:
    for i in range(len(x)):
        y = y * x[i]
        while y > 1.0:
            y = np.exp(-0.3 * y) * y
    return y


def roots(x: Any, y: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        z = y
        while True:
            step = (z * z - x[i]) / (2.0 * z)
            z = z - step
            if abs(step) < 1e-9:
                break
        total = total + z * z * z
    return total * y


def left_before_it_saves(x: Any, y: Any) -> Any:
    for i in range(len(x)):
        for j in range(5):
            if y > 3.0:
                break
            y = y * np.exp(0.3 * x[i]) + 0.1 * j
        y = y * 0.4
    return y


def saves_in_a_branch(x: Any, y: Any) -> Any:
    for i in range(len(x)):
        while y < 4.0:
            if y < 2.0:
                y = y * y + x[i]
            else:
                y = y * 1.5
        y = np.sqrt(y) * 0.5
    return y


def nested(x: Any, y: Any) -> Any:
    for i in range(len(x)):
        while y > 1.0:
            while y > 2.0:
                y = np.sqrt(y) * (0.4 + 0.1 * x[i])
            y = np.sin(y) * 0.9
        y = y * (1.5 + x[i])
    return y


def summed(x: Any, y: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        z = x[i] * y
        for _ in range(3):
            z = np.sin(z) * z
        total = total + z
    return total


PROGRAMS = [whiles, roots, left_before_it_saves, saves_in_a_branch, nested, summed]
ARGS = np.array([1.3, 0.7, 2.1, 0.9]), 1.4


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_are_right(f: Callable[..., Any]) -> None:
    value, gradient = ad.value_and_grad(f, argnums=(0, 1))(*ARGS)
    assert value == f(*ARGS)
    plain = ad.grad(f, argnums=(0, 1), optimize="-bundle")(*ARGS)
    for k in (0, 1):
        np.testing.assert_array_equal(gradient[k], plain[k])
        np.testing.assert_allclose(gradient[k], differences(f, *ARGS, argnum=k), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(ad.jvp(f, ARGS, (np.ones(4), 0.0))[1], np.sum(gradient[0]), rtol=1e-9)


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_pullback_may_be_called_again(f: Callable[..., Any]) -> None:
    pullback = ad.vjp(f, *ARGS)[1]
    first, second = pullback(1.0), pullback(1.0)
    for a, b in zip(first, second):
        np.testing.assert_array_equal(a, b)


def test_a_list_in_place_of_a_count() -> None:
    text = ad.grad(whiles, argnums=(0, 1)).source(*ARGS)
    assert "in reversed(iterations):" in text and "trips" not in text, text


@pytest.mark.parametrize("f", [roots, summed])
def test_a_list_where_both_loops_run(f: Callable[..., Any]) -> None:
    text = ad.value_and_grad(f, argnums=(0, 1)).source(*ARGS)
    assert ".pop()" not in text and "trips" not in text, text


@pytest.mark.parametrize("f", [whiles, saves_in_a_branch])
def test_second_derivatives(f: Callable[..., Any]) -> None:
    def slope(x: Any, y: Any) -> Any:
        return ad.grad(f, argnums=1)(x, y)

    np.testing.assert_allclose(ad.grad(slope, argnums=1)(*ARGS), differences(slope, *ARGS, argnum=1), rtol=1e-4)


def places_of_a_list(x, k):
    y = [0.0] * len(x)
    for i in range(len(x)):
        y[i] = np.sin(x[i]) / k
    return y[0] * y[-1] + sum(y)


def test_a_list_is_not_saved_for_the_zero_of_a_place() -> None:
    """A copy for each iteration would take the square of its length."""
    gradient = ad.grad(places_of_a_list, argnums=(0, 1))
    x = np.array([0.3, -0.5, 0.7, 1.1])
    assert "list(" not in gradient.source(x, 2.0)
    ad.check_grads(places_of_a_list, (x, 2.0))
    every = ad.batch(gradient, in_axes=(0, None))(np.stack([x, 2.0 * x]), 2.0)
    np.testing.assert_allclose(every[0][1], gradient(2.0 * x, 2.0)[0])
