"""exp, log and tanh of several elements at once: in which loops, and what the program says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

from .both import agree, bailed, why_not
from .test_improvements import checked, numbers


def test_loops_over_elements() -> None:
    def f(x, y):
        h = np.tanh(x[:, None] * y)
        return np.sum(np.log(1.0 + np.exp(-h) * h))

    text = checked(f, numbers(4), numbers(3), argnums=(0, 1))
    assert "many_tanh(" in text and "many_exp(" in text and "many_log(" in text
    assert "np.exp(" not in text and "np.log(" not in text and "np.tanh(" not in text


def test_sums_and_parts() -> None:
    def f(x):
        return np.log(np.sum(np.exp(x[::-1] - np.max(x)))) + np.sum(np.tanh(x[1:]) * np.exp(x[:-1]))

    for n in (1, 2, 9):
        assert "many_exp(" in checked(f, numbers(n))


@pytest.mark.parametrize(
    "step",
    [
        lambda t, x, i: np.exp(-t) * x[i],  # waits for the iteration before
        lambda t, x, i: t + np.exp(t) * 0.1,
    ],
)
def test_a_number_that_iterations_hand_on(step: Any) -> None:
    def f(x):
        t = np.float64(0.5)
        for i in range(len(x)):
            t = step(t, x, i)
        return t * t

    text = checked(f, numbers(5))
    assert "np.exp(" in text and "many_exp(" not in text


def test_an_array_that_hands_on_its_elements() -> None:
    def f(x):
        y = x.copy()
        for i in range(1, len(x)):
            y[i] = np.exp(-y[i - 1]) + x[i]
        return np.sum(y * y)

    forward = checked(f, numbers(6)).split("+= ")[0]
    assert "np.exp(" in forward and "many_exp(" not in forward


def test_loops_of_the_program_over_elements() -> None:
    def f(x):
        y = np.empty(len(x))
        for i in range(len(x)):
            y[i] = np.tanh(x[i]) * x[i]
        return np.sum(y)

    text = checked(f, numbers(6))
    assert "np.tanh(" not in text


def test_loops_that_are_left_early_keep_theirs() -> None:
    def f(x):
        s = np.float64(0.0)
        for i in range(len(x)):
            if x[i] > 1.2:
                break
            s = s + np.exp(x[i])
        return s * s

    native = agree(f, numbers(6))
    assert why_not(native) is None and "many_exp(" not in str(native.source())


def test_buffers_that_are_one() -> None:
    def f(x, n):
        y = x.copy()
        z = y[1:]
        for _ in range(n):
            z[:] = np.exp(-y[:-1]) + z
        return np.sum(y * y * x)

    for n in (0, 1, 3):
        checked(f, numbers(7), n)


def test_values_beyond_the_range() -> None:
    def f(x):
        return np.sum(np.minimum(np.exp(x), 1e300)) + np.sum(np.maximum(np.log(x * x), -1e3)) + np.sum(np.tanh(x))

    native = ad.value_and_grad(f, backend="native")
    with np.errstate(all="ignore"):
        agree(f, np.array([0.0, -0.0, 710.0, -746.0, -745.0, 1e-320, np.inf, -np.inf, np.nan, 1e308, 25.0]))
        native(numbers(3))
    assert not bailed(native)


def test_complex_numbers_and_ints_keep_theirs() -> None:
    def f(x):
        z = np.exp(1j * x) * x
        return np.sum(z.real) + np.sum(np.exp(np.arange(3)))

    assert why_not(agree(f, numbers(5))) is None


def test_float32() -> None:
    def f(x):
        return np.sum(np.tanh(x) * np.exp(-x) * np.log(x))

    native = agree(f, numbers(9).astype(np.float32), rtol=1e-5)
    assert "many_tanh(" in str(native.source())
