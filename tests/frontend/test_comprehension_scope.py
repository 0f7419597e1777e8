"""A comprehension is a scope of its own: what it binds, what lambdas in it capture, what := binds around it."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_compiler as ad

X = np.array([0.7, 1.3, 2.1])


def outer_name_of_the_same_spelling(x):
    j = 5
    fs = [lambda v: v * j for j in range(3)]
    return fs[0](x[0]) + j * x[1]


def captured_in_a_branch(x):
    if x[0] > 0.4:
        fs = [lambda v: v * (j + 1) * 0.9 for j in range(3)]
        t = sum(g(x[-2]) for g in fs)
    else:
        t = 1.0
    return np.sum(x) * t


def bound_as_a_default(x):
    fs = [lambda v, j=j: v * (j + 1) for j in range(3)]
    return fs[0](x[0]) * fs[1](x[1])


def walrus_over_an_array(x):
    s = sum([(last := v * v) for v in x])
    return s * last


def walrus_in_a_filter(x):
    s = [w for v in x if (w := v * 2) > 2]
    return sum(s) * w


def cell_that_changes(x):
    k = x[0]
    g = (k * v for v in x)
    k = x[1]
    return sum(g) * k


def the_same_name_in_two(x):
    i = 1
    m = [[x[i] * k for i in range(3)] for k in (x[i], i)]
    return sum(map(sum, m)) * i


def functions_in_a_dict(x):
    d = {k: (lambda v: v * c) for k, c in (("a", 2), ("b", 3))}
    return d["a"](x[0]) + d["b"](x[1]) ** 2


def in_a_helper(x):
    def squares(a):
        return sum([t * t for t in a])

    return sum([squares(x * k) for k in range(3)]) * squares(x)


PROGRAMS = [
    outer_name_of_the_same_spelling, captured_in_a_branch, bound_as_a_default, walrus_over_an_array, walrus_in_a_filter,
    cell_that_changes, the_same_name_in_two, functions_in_a_dict, in_a_helper,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f):
    got = ad.grad(f)(X.copy())
    expected = [(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_in_a_loop(f):
    def looped(x):
        s = 0.0
        for k in range(2):
            s = s * 0.5 + f(x * (1 + 0.1 * k))
        return s

    got = ad.grad(looped)(X.copy())
    expected = [(looped(X + e) - looped(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)
