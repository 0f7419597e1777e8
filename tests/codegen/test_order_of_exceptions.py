"""The function's own exception comes before the derivative, which may not be defined where the function raises."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

X = np.array([0.3, -0.7, 1.1])
PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "values of another length": (lambda s: np.interp(s, [0.0, 1.0, 9.0], [0.0, s]), 1.7),
    "points of another length": (lambda s: np.interp(s, [0.0, 1.0, s], [0.0, 1.0]), 1.7),
    "of an array": (lambda x: np.sum(np.interp(x, [0.0, 1.0, 9.0], x[:2])), X),
    "in a product": (lambda s: 2.0 * np.interp(s, [0.0, 1.0, 9.0], [0.0, s]), 1.7),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_functions_own_exception(name: str) -> None:
    f, x = PROGRAMS[name]
    along = np.ones_like(x) if isinstance(x, np.ndarray) else 1.0
    for run in (f, ad.grad(f), ad.value_and_grad(f), lambda x: ad.vjp(f, x), lambda x: ad.jvp(f, (x,), (along,))):
        with pytest.raises(ValueError, match="fp and xp are not of the same length"):
            run(x)


def test_what_cannot_raise_stays_an_expression() -> None:
    source = ad.value_and_grad(lambda x: np.sum(np.sin(x))).source(X)
    assert "return np.sin(x).sum(), np.cos(x)" in source


def nested(x, matrices):
    s = x
    out = 0.0
    for i in range(3):
        try:
            y = s
            for k in range(2):
                y = np.sin(y + x) * y
                try:
                    w = np.sin(y) * y
                    w = np.linalg.inv(matrices[i - k] * w)[0, 0] * w
                except Exception:
                    w = s
                y = y * w * np.linalg.inv(matrices[i])[0, 0]
        except Exception:
            y = s * s
        s = y
        out += s
    return out


def test_nested_handlers_cut_stacks_to_lengths_of_their_own() -> None:
    matrices = np.array([np.diag([2.0, 3.0]), np.zeros((2, 2)), np.diag([1.5, 1.0])])
    lines = ad.grad(nested).source(0.7, matrices).splitlines()
    marks = [line.split(" = ")[0].strip() for line in lines if " = len(t_saved" in line]
    assert len(marks) > 2 and len(marks) == len(set(marks))
    for x in (0.3, -0.7, 1.1):
        difference = (nested(x + 1e-6, matrices) - nested(x - 1e-6, matrices)) / 2e-6
        assert ad.grad(nested)(x, matrices) == pytest.approx(difference, rel=1e-6)


def logarithm_first(v, w, n):
    total = 0.0
    for _ in range(n):
        total += math.log(v) + math.exp(w / v)
        v = 0.5 * v * w
    return total


def caught(x, k):
    y = x
    try:
        y = x[k] * np.sum(np.linalg.inv(x[:k] * np.ones((k, k))))
    except IndexError:
        y = x[0] * 2.0
    except np.linalg.LinAlgError:
        y = x[0] * 3.0
    return y


@pytest.mark.parametrize("transform", [ad.grad, ad.value_and_grad])
def test_the_first_of_two_exceptions(transform: Any) -> None:
    """One is saved for the backward sweep in front of the statement that the other one is a part of."""
    for v in (0.0, -1.0):
        with pytest.raises(ValueError, match="math domain error"):
            logarithm_first(v, 1.0, 3)
        with pytest.raises(ValueError, match="math domain error"):
            transform(logarithm_first)(v, 1.0, 3)


@pytest.mark.parametrize("k", [2, 3])
def test_the_first_of_two_exceptions_is_caught(k: int) -> None:
    x = np.ones(3)
    value, gradient = ad.value_and_grad(caught)(x, k)
    assert value == caught(x, k)
    assert gradient[0] == (2.0 if k == 3 else 3.0)
