"""A derivative may not get lost on a way that the compiler does not know."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad


def product_of_list(x):
    return math.prod([x, x])


def sum_of_tuple(x):
    return math.fsum((x, 2.0 * x))


def distance_of_lists(x):
    return math.dist([x, 1.0], [2.0, x])


def coefficients(x):
    return np.polyval([1.0, 2.0, x], 2.0)


def nested_lists(x):
    return np.block([[x, 2.0], [3.0, x]]).sum()


def list_in_a_branch(x):
    pair = [x, x] if x > 1.0 else [1.0, 2.0]
    return math.prod(pair)


def through_a_text(x):
    return float(f"{x}") * x


def through_an_array_of_texts(x):
    return np.array([f"{x}"]).astype(float)[0] * x


def values_of_a_window(x):
    return np.kaiser(4, x).sum()


@pytest.mark.parametrize("f", [through_a_text, through_an_array_of_texts, values_of_a_window], ids=lambda f: f.__name__)
def test_derivative_does_not_get_lost(f: Callable[..., Any]) -> None:
    with pytest.raises((ad.RuleLookupError, ad.UnsupportedError)) as caught:
        ad.grad(f)(1.3)
    assert "test_activity.py" in str(caught.value)


@pytest.mark.parametrize(
    "f",
    [product_of_list, sum_of_tuple, distance_of_lists, coefficients, nested_lists, list_in_a_branch],
    ids=lambda f: f.__name__,
)
def test_derivative_passes_through_lists(f: Callable[..., Any]) -> None:
    assert ad.grad(f)(1.3) == pytest.approx((f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rel=1e-6)


def test_texts_for_people_are_no_error() -> None:
    def f(x):
        print(f"x = {x}")
        assert x > 0, f"negative: {x}"
        if x > 10:
            raise ValueError(f"too large: {x}")
        return x * x

    assert ad.grad(f)(2.0) == 4.0


def test_list_of_constants_is_no_error() -> None:
    def f(x):
        return x * math.prod([2.0, 3.0])

    assert ad.grad(f)(1.3) == 6.0
