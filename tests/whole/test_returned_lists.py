"""Functions that return lists whose length only the run knows: the items may be the arguments, or in the list twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad


def trajectory(x):
    states = []
    for _ in range(3):
        states.append(x)
        x = x * x
    return states


def grown(x):
    states = [x]
    while np.sum(states[-1]) < 20.0:
        states.append(states[-1] * 2.0 + x)
    return states


def twice(x):
    states = []
    y = np.sin(x)
    for k in range(4):
        states.append(y)
        if k % 2:
            y = y * x
    return states


def of_lists(x):
    rows = []
    for k in range(2):
        row = []
        for _ in range(k + 1):
            row.append(x)
            x = 0.5 * x
        rows.append(row)
    return rows


FUNCTIONS = [trajectory, grown, twice, of_lists]
X, T = np.array([0.5, 1.5, 2.0]), np.array([1.0, -0.5, 0.25])


def flat(tree: Any) -> np.ndarray:
    return np.concatenate([flat(item) for item in tree]) if isinstance(tree, list) else np.asarray(tree)


def slope(function, step=1e-6):
    return (flat(function(X + step * T)) - flat(function(X - step * T))) / (2 * step)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_tangents(function):
    value, tangent = ad.jvp(function, (X,), (T,))
    np.testing.assert_array_equal(flat(value), flat(function(X)))
    np.testing.assert_allclose(flat(tangent), slope(function), rtol=1e-7)
    value, linear = ad.linearize(function, X)
    np.testing.assert_array_equal(flat(value), flat(function(X)))
    np.testing.assert_allclose(flat(linear(T)), slope(function), rtol=1e-7)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_beside_a_gradient(function):
    def loss(x):
        states = function(x)
        return np.sum(x**3), states

    gradient, states = ad.grad(loss, has_aux=True)(X)
    np.testing.assert_allclose(gradient, 3.0 * X**2)
    np.testing.assert_array_equal(flat(states), flat(function(X)))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_returned_is_not_an_argument(function):
    """Who writes into what comes back does not change what went in, nor a pullback."""
    x = X.copy()
    states, pullback = ad.vjp(function, x)
    before = pullback(function(X))
    first = states[0]
    while isinstance(first, list):
        first = first[0]
    first *= 0.0
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(pullback(function(X)), before)
    for value, _ in (ad.jvp(function, (x,), (T,)), ad.linearize(function, x)):
        first = value[0]
        while isinstance(first, list):
            first = first[0]
        first *= 0.0
        np.testing.assert_array_equal(x, X)
