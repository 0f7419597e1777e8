"""Gradients of functions with loops, taken inside branches, loops and handlers of functions that are differentiated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

X = np.array([0.5, -0.6, 0.2])


def energy(v, k):
    out = 0.0
    for e in v:
        out = np.sin(out + e * k)
    return out


def walk(v, k):
    while k < 3.0:
        v = v * np.cos(v) + 0.1
        k = k + np.sum(v * v) + 0.5
    return np.sum(v) * k


force = ad.grad(energy)
both = ad.grad(energy, argnums=(0, 1))
value_and_force = ad.value_and_grad(energy)
push = ad.grad(walk)


def in_a_branch(x, s):
    if s > 0:
        a = force(x, s)
    else:
        a = x * x
    return np.sum(a)


def two_in_a_branch(x, s):
    if s > 0:
        a, b = both(x, s)
    else:
        a, b = x * x, s
    return np.sum(a) * b


def in_a_loop(x, s):
    for i in range(3):
        x = x + force(x, s) * i
    return np.sum(x * x)


def in_a_branch_of_a_loop(x, s):
    for i in range(3):
        if x[i] > 0:
            v, g = value_and_force(x, s)
            x = x + g * v
    return np.sum(x * x)


def of_a_while_loop_in_a_loop(x, s):
    for _ in range(2):
        x = x - 0.1 * push(x, s)
    return np.sum(x * x)


def in_a_handler(x, s):
    t = 0.0
    for i in range(3):
        try:
            t += 1.0 / [1, 0, 2][i]
        except ZeroDivisionError:
            t += np.sum(force(x, s))
    return t * t


def left_early(x, s):
    for i in range(4):
        x = x + 0.5 * force(x, s)
        if x[0] > 1.0 and i > 0:
            break
    return np.sum(x * x)


PROGRAMS = [
    in_a_branch, two_in_a_branch, in_a_loop, in_a_branch_of_a_loop, of_a_while_loop_in_a_loop, in_a_handler, left_early,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("s", [0.7, -0.4])
def test_gradient(f, s):
    by_x, by_s = ad.grad(f, argnums=(0, 1))(X.copy(), s)
    h = 1e-6
    np.testing.assert_allclose(by_x, [(f(X + h * e, s) - f(X - h * e, s)) / (2 * h) for e in np.eye(3)], 1e-6, 1e-7)
    np.testing.assert_allclose(by_s, (f(X, s + h) - f(X, s - h)) / (2 * h), 1e-6, 1e-7)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_order(f):
    v = np.array([0.3, -0.5, 0.8])
    g = ad.grad(f)
    second = ad.grad(lambda x: np.sum(g(x, 0.7) * v))(X.copy())
    h = 1e-6
    np.testing.assert_allclose(second, (g(X + h * v, 0.7) - g(X - h * v, 0.7)) / (2 * h), 1e-5, 1e-6)


def protected_views(x):
    a = np.outer(x, x)
    wide = np.broadcast_to(x * 2, (3, 3))
    return np.sum(np.diagonal(a) * x) + np.trace(a * a) + np.sum(wide * a)


def test_cotangents_that_are_read_only_views_are_copied_before_they_are_added_to():
    h = 1e-6
    expected = [(protected_views(X + h * e) - protected_views(X - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(ad.grad(protected_views)(X.copy()), expected, 1e-6, 1e-7)


def weakens(y, s):
    """A Python float that a trip makes a float64 of NumPy's widens the float32 that it is multiplied with."""
    t = np.vdot(y, np.cos(y))
    for _ in range(3):
        t, s = t * s, s * np.cos(-0.3)
    return t


def flat_and_reciprocal(x):
    a = np.reciprocal(1.5 + x)
    b = a - np.maximum(a, x)
    return np.sum(b**2)


def test_float32_stays_through_a_loop_that_widens_what_it_carries():
    y = np.array([0.3, 0.4], np.float32)
    g = ad.grad(weakens)(y, 0.5)
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, ad.grad(weakens)(y.astype(float), 0.5), rtol=1e-6)


def test_reciprocal_beside_a_mask():
    h, x = 1e-6, np.array([0.9, -0.6, 0.2])
    f = flat_and_reciprocal
    expected = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(ad.grad(f)(x), expected, 1e-6, 1e-7)


def loop_of_which_one_trip_counts(y: Any, s: Any) -> Any:
    a = np.full(2, s)
    t = 0.0
    for _ in range(2):
        t = np.cos(np.dot(a, y))
        t += np.tanh(s)
    return t


def loop_with_a_branch(y: Any, s: Any) -> Any:
    t = s
    for k in range(3):
        t = np.sin(s * y[0]) if k % 2 else t * np.cos(s)
        t += y[1] * s * s
    return t


@pytest.mark.parametrize("f", [loop_of_which_one_trip_counts, loop_with_a_branch])
def test_loops_that_only_hand_on_residuals(f: Any) -> None:
    """In the gradient of a gradient, a loop may do no more than move what another one saved. It is reversed, too."""
    y, s, repeated = np.array([0.3, 0.5]), 0.7, f
    coefficients = ad.taylor(lambda s: f(y, s), s, 1.0, 4)
    for order in range(1, 5):
        repeated = ad.grad((lambda g: lambda y, s: g(y, s))(repeated), 1)
        assert repeated(y, s) == pytest.approx(math.factorial(order) * coefficients[order], rel=1e-9)
