"""Code that finds out by TypeError whether something can be looped over, as Python code does."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])


def rows_of(x, which):
    try:
        rows = list(which)
    except TypeError:
        rows = [which]
    return sum(np.sum(x[row] ** 3) for row in rows)


def iterated(x, which):
    try:
        rows = iter(which)
    except TypeError:
        rows = (which,)
    total = 0.0
    for row in rows:
        total += np.sum(x[row] ** 3)
    return total


def looped(x, which):
    total = 0.0
    for item in (which, 2.0, x[0, 1], None, x[1]):
        try:
            for number in item:
                total = total + number**2
        except TypeError:
            total = total + (7.0 if item is None else item)
    return total


def axes(x, which):
    def as_tuple(axis):
        try:
            return tuple(axis)
        except TypeError:
            return (axis,)

    return np.sum(np.sum(x, axis=as_tuple(0)) ** 2) + np.sum(x, axis=as_tuple((0, 1))) ** 2


def flattened(x, which):
    def flat(tree):
        try:
            return [leaf for item in tree for leaf in flat(item)]
        except TypeError:
            return [tree]

    return sum(flat([x[0, 0] ** 2, [x[0, 1] * 3.0, (x[1, 1], [4.0])]]))


@pytest.mark.parametrize("which", [1, (1, 0), [0, 1]])
@pytest.mark.parametrize("function", [rows_of, iterated, looped, axes, flattened])
def test_what_cannot_be_looped_over(function, which):
    value, gradient = ad.value_and_grad(function)(X, which)
    assert value == pytest.approx(function(X, which), rel=1e-15)
    np.testing.assert_allclose(gradient, differences(lambda x: function(x, which), X), rtol=1e-6, atol=1e-7)


def test_with_literal_numbers():
    def f(x):
        return rows_of(x, 0) + iterated(x, 1)

    np.testing.assert_allclose(ad.grad(f)(X), 3.0 * X**2)


@pytest.mark.parametrize("what", [None, 3, 2.5, np.float64(1.0)])
def test_without_a_handler(what):
    def f(x):
        total = x[0, 0]
        for item in what:
            total = total + item
        return total

    with pytest.raises(TypeError, match="object is not iterable"):
        f(X)
    with pytest.raises(TypeError, match="object is not iterable"):
        ad.grad(f)(X)
