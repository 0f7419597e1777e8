"""Names that are bound in one iteration of a loop and read in a later one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad


def at_the_first_trip(a, n):
    total = 0.0
    for i in range(n):
        if i == 0:
            z = 1 - a
        else:
            z = z * a
        total += z
    return total


def before_another_loop(a, n):
    found = np.zeros(n)
    for i in range(n):
        if i == 0:
            z, old = a * a, 1.0
        elif i == 1:
            z = z - old * a
        else:
            z = 3.0 * found[i - 1] - found[i - 2] + z
        for _ in range(2):
            old = z
            z = np.sin(old) + a
        found[i] = z
    return found.sum()


def in_a_while_loop(a, n):
    i, total = 0, 0.0
    while i < n:
        if i % 2 == 0:
            row = np.array([a, a * i])
        total = total + np.sum(row * row) * (i + 1)
        i += 1
    return total


def by_a_condition(a, n):
    total = 0.0
    for i in range(n):
        if a * i > 1.0:
            total += best * a  # noqa: F821
        best = a * i + total
    return total


@pytest.mark.parametrize("f", [at_the_first_trip, before_another_loop, in_a_while_loop, by_a_condition])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_value_and_slope(f: Any, n: int) -> None:
    a = 0.7
    value, slope = ad.value_and_grad(f)(a, n)
    assert value == pytest.approx(f(a, n))
    assert slope == pytest.approx((f(a + 1e-6, n) - f(a - 1e-6, n)) / 2e-6, rel=1e-6)


def test_what_is_not_bound_raises() -> None:
    def f(a, n):
        total = 0.0
        for i in range(n):
            if i > 0:
                total += z * a  # noqa: F821
            if i != 0:
                z = a
        return total

    assert ad.grad(f)(2.0, 1) == 0.0
    with pytest.raises(UnboundLocalError, match="'z'"):
        ad.grad(f)(2.0, 3)
