"""What is subtracted is printed so: no ``+ -a * b``, and the same numbers bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.codegen.test_golden import assert_close, differences

X, A = np.array([0.3, -0.9, 0.4]), np.array([[0.2, 0.5, 0.1], [0.4, 0.3, 0.2], [0.6, 0.1, 0.9]])


def negative_factor(x: Any, a: Any) -> Any:
    y = x.copy()
    y[1:] += -2.0 * x[:-1]
    return np.sum(y * y) - 3.0 * np.sum(x[1:] * x[:-1])


def negated_operand_of_a_product(x: Any, a: Any) -> Any:
    r = x
    for _ in range(3):
        r = np.sin(r) - a @ r
    return r @ x


def negated_quotient(x: Any, a: Any) -> Any:
    s = x[0] * 2.0
    for i in range(1, 3):
        s = s - x[i] / (1.5 + x[i - 1] * s)
    return s * s


def signs_in_a_row(x: Any, a: Any) -> Any:
    t = -(-x - 1.0) - -x * a[0]
    return np.sum(t * (t + -x / 2.0) + -(x * 3.0))


def whole_numbers(x: Any, a: Any) -> Any:
    n = np.arange(3, dtype=np.uint8)
    return np.sum(x * (1 + -(n // 2) * n)) + np.sum(x + -n)


def negated_factor_of_a_method(x: Any, a: Any) -> Any:
    """By `x` alone, the product of the sine is read once: ``x_bar -= (x_bar * np.cos(t)).dot(a)``."""
    for _ in range(3):
        x = x - np.sin(a @ x)
    return np.sum(x**2)


PROGRAMS = [
    negative_factor, negated_operand_of_a_product, negated_quotient, signs_in_a_row, whole_numbers,
    negated_factor_of_a_method,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_numbers_stay(f: Callable[..., Any]) -> None:
    value, gradient = ad.value_and_grad(f, argnums=(0, 1))(X, A)
    assert value == f(X, A)
    for number in (0, 1):
        assert_close(gradient[number], differences(f, (X, A), number))
        assert_close(ad.grad(f, argnums=number)(X, A), gradient[number])


@pytest.mark.parametrize("f", [*PROGRAMS[:4], PROGRAMS[-1]])
def test_nothing_is_added_that_is_subtracted(f: Callable[..., Any]) -> None:
    lines = ad.value_and_grad(f, argnums=(0, 1)).source(X, A).splitlines()
    code = [line for line in lines if not line.strip().startswith("#")]
    assert not [line for line in code if "+ -" in line or "- -" in line or "+= -" in line or "-= -" in line], code


def test_unsigned_numbers_keep_their_signs() -> None:
    assert "+ -" in ad.value_and_grad(whole_numbers).source(X, A)


def test_additions_to_a_transposed_part() -> None:
    def f(x: Any, a: Any) -> Any:
        total = 0.0
        for k in range(2):
            total += np.sum((x @ a[:, k : k + 2].T) ** 2)
        return total

    x = np.array([[0.3, -0.9], [1.2, 0.4]])
    source = ad.grad(f, 1).source(x, A)
    assert "a_bar[:, k : k + 2] += (" in source and ".T[...]" not in source, source
    assert_close(ad.grad(f, 1)(x, A), differences(f, (x, A), 1))
