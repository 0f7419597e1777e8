"""Powers whose exponent a loop counts: it is asked whether it is zero only where it may be."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences


def from_one(b, n):
    total = 0.0
    for t in range(1, n):
        total += b**t
    return total


def one_ahead(b, n):
    total = 0.0
    for t in range(n):
        total += b ** (t + 1)
    return total


def downwards(b, n):
    total = 0.0
    for t in range(n, 0, -1):
        total += t * b**t
    return total


def reverse(b, n):
    total = 0.0
    for t in reversed(range(1, n)):
        total += b**t
    return total


def from_zero(b, n):
    total = 0.0
    for t in range(n):
        total += b**t
    return total


def down_to_zero(b, n):
    total = 0.0
    for t in range(n, -1, -1):
        total += b**t
    return total


def from_below(b, n):
    total = 0.0
    for t in range(-2, n):
        total += (b + 1.0) ** t
    return total


ALL = [from_one, one_ahead, downwards, reverse, from_zero, down_to_zero, from_below]


@pytest.mark.parametrize("f", ALL)
@pytest.mark.parametrize("b", [0.0, 0.5, np.float64(0.0), np.float64(-1.5), np.array([0.0, 0.3, -2.0])])
def test_derivatives(f, b):
    g = lambda b, n: np.sum(f(b, n))
    b = np.asarray(b) * 1.0 if isinstance(b, np.ndarray) else b
    for n in (0, 1, 2, 4):
        by = differences(g, b, n)
        np.testing.assert_allclose(ad.grad(g)(b, n), by, rtol=1e-6, atol=1e-8)
        along = ad.jvp(lambda b, n=n: g(b, n), (b,), (np.ones_like(b),))[1]
        np.testing.assert_allclose(along, np.sum(by), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", ALL)
def test_questions(f):
    asks = "== 0" in ad.grad(f).source(0.5, 3)
    assert asks == (f in (from_zero, down_to_zero, from_below))


def test_a_count_less_one_is_what_was_counted():
    text = ad.grad(one_ahead).source(0.5, 3)
    assert "- 1" not in text, text
