"""Functions that solvers call: what they read becomes operands, and what cannot be followed is refused."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy", minversion="1.16")  # of older versions nothing is known
from scipy import integrate
from scipy.integrate import quad
from scipy.optimize import brentq

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([0.8, 0.7])
SCALE = 1.5


def squared(t, a):
    return a * t * t * SCALE


class Shape:
    def __init__(self, width):
        self.width = width

    def height(self, t):
        return np.exp(-t * self.width)


OUTSIDE = Shape(0.9)


def a_local_helper(x):
    def helper(t):
        return np.sin(t * x[1])

    return quad(lambda t: helper(t) * x[0], 0, 1)[0]


def a_default(x):
    k = x[0] * 2
    return quad(lambda t, k=k: np.cos(k * t) * x[1], 0, 1)[0]


def args(x):
    return quad(squared, 0, x[1], args=(x[0],))[0]


def a_partial(x):
    return quad(functools.partial(lambda a, t: np.exp(a * t), x[0]), 0, x[1])[0]


def containers(x):
    p = (x[0], [x[1], 2.0 * x])
    return quad(lambda t: p[0] * t + p[1][0] * t**2 + p[1][1][0] * t**3, 0, 1)[0]


def the_present_value(x):
    a = x * 2.0
    first = quad(lambda t: a[0] * t, 0, 1)[0]
    a[0] = x[1] ** 2
    return first + quad(lambda t: a[0] * t, 0, 1)[0]


def a_name_that_is_bound_later(x):
    f = lambda t: k * t
    k = x[0] ** 2
    return quad(f, 0, x[1])[0]


def in_a_loop(x):
    total = 0.0
    for n in range(3):
        total = total + quad(lambda t: np.exp(-n * t * x[0]) * x[1], 0, 1)[0] * (n + 1)
    return total


def in_a_branch(x):
    if x[0] > 0.5:
        y = brentq(lambda t: t**3 - x[0] * x[1], 0, 2)
    else:
        y = x[1]
    return y * y


def one_in_the_other(x):
    return quad(lambda t: brentq(lambda s: s**3 + s - t * x[0], 0, 3) * x[1], 0, 1)[0]


def a_method_of_an_object_outside(x):
    return quad(OUTSIDE.height, 0, x[0])[0] * x[1]


def a_view(x):
    y = x[::-1]
    return quad(lambda t: y[0] * t + y[1] ** 2, 0, 1)[0]


def a_branch_inside(x):
    def f(t):
        if t > 0.5:
            return x[0] * t
        return x[1] * t * t

    return quad(f, 0, 1, points=(0.5,))[0]


def comprehension(x):
    return sum([quad(lambda t: t ** (k + 1) * x[k], 0, 1)[0] ** 2 for k in range(2)])


def local_import(x):
    import math

    c = math.pi

    def f(t):
        return math.sin(t * c) * x[0] + np.log(1 + t) * x[1]

    return quad(f, 0, 0.5)[0]


def several_statements(x):
    def f(t):
        """An integrand."""
        total = 0.0
        for k in range(3):
            total += x[0] ** k * t**k
        return total * x[1]

    return quad(f, 0, 1)[0]


def a_name_that_means_two_things(x):
    t = x[0]

    def helper(u):
        return u * t

    return quad(lambda t: helper(t) + t * x[1], 0, 1)[0]


def a_parameter_with_a_name_of_ours(x):
    p = (x[0], x[1])
    return quad(lambda p_0: p[0] * p_0 + p[1], 0, 1)[0]


def helpers_of_helpers(x):
    a = lambda t: t * x[0]
    b = lambda t, k=2.0: a(t) ** 2 * k
    return quad(lambda t: b(t) + a(t), 0, x[1])[0]


def a_default_of_a_helper(x):
    def helper(u, k=x[1] ** 2):
        return u * k

    return quad(lambda x: helper(x) + helper(x, 2.0), 0, x[0])[0]


PROGRAMS = [
    a_local_helper, a_default, args, a_partial, containers, the_present_value, a_name_that_is_bound_later, in_a_loop,
    in_a_branch, one_in_the_other, a_method_of_an_object_outside, a_view, a_branch_inside, comprehension, local_import,
    several_statements, a_name_that_means_two_things, a_parameter_with_a_name_of_ours, helpers_of_helpers,
    a_default_of_a_helper,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f: Any) -> None:
    g = ad.grad(f)
    wanted = differences(f, X)
    np.testing.assert_allclose(g(X), wanted, rtol=1e-6, atol=1e-8)
    d = np.array([0.3, -1.1])
    value, tangent = ad.jvp(f, (X,), (d,))
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(tangent, wanted @ d, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [a_local_helper, containers, in_a_branch, the_present_value], ids=lambda f: f.__name__)
def test_second_derivatives(f: Any) -> None:
    def total(x):
        return np.sum(ad.grad(f)(x) * np.array([1.0, -2.0]))

    np.testing.assert_allclose(ad.grad(total)(X), differences(total, X), rtol=1e-5, atol=1e-7)


def test_a_global_that_changes() -> None:
    global SCALE
    g = ad.grad(args)
    try:
        SCALE = 1.5
        before = g(X)
        SCALE = 3.0
        np.testing.assert_allclose(g(X), 2 * before)
    finally:
        SCALE = 1.5


def counts(x):
    calls = [0]

    def f(t):
        calls[0] += 1
        return t * x[0]

    return quad(f, 0, 1)[0] + 0.0 * calls[0]


def appends(x):
    seen = []

    def f(t):
        seen.append(t)
        return t * x[0]

    return quad(f, 0, 1)[0]


def rebinds(x):
    count = 0

    def f(t):
        nonlocal count
        count += 1
        return t * x[0]

    return quad(f, 0, 1)[0]


def of_an_argument(x):
    shape = Shape(x[0])
    return quad(shape.height, 0, 1)[0]


def reads_an_object(x):
    shape = Shape(x[0])
    return quad(lambda t: shape.width * t, 0, 1)[0]


LEVEL = 1.0
LEVELS = np.ones(2)


def level(t):
    return t * LEVEL


def writes_a_global(x):
    global LEVEL
    LEVEL = x[0] * 2.0
    return quad(lambda t: t * LEVEL, 0, 1)[0]


def writes_a_global_of_a_helper(x):
    global LEVEL
    LEVEL = x[0] * 2.0
    return quad(level, 0, 1)[0]


def writes_an_array_outside(x):
    LEVELS[0] = x[0]
    return quad(lambda t: t * LEVELS[0], 0, 1)[0]


def writes_an_attribute_outside(x):
    OUTSIDE.width = x[0]
    return quad(OUTSIDE.height, 0, 1)[0]


def calls_itself(x):
    def f(t):
        return t if t < 0.1 else f(t - 0.1) * x[0]

    return quad(f, 0, 1)[0]


def has_a_weight(x):
    return quad(lambda t: t * x[0], 0, 1, weight="cos", wvar=2.0)[0]


@pytest.mark.parametrize(
    "f", [counts, appends, rebinds, of_an_argument, reads_an_object, calls_itself, has_a_weight, writes_a_global,
     writes_a_global_of_a_helper, writes_an_array_outside, writes_an_attribute_outside],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_refused(f: Any) -> None:
    with pytest.raises(ad.UnsupportedError) as error:
        ad.grad(f)(X)
    assert "quad(" in str(error.value) and "Instead:" in str(error.value)


def test_an_array_that_is_written_to() -> None:
    def f(x):
        last = np.zeros(1)

        def integrand(t):
            last[0] = t
            return t * x[0]

        return quad(integrand, 0, 1)[0] + last[0]

    with pytest.raises(NotImplementedError, match="writes into an array"):
        ad.grad(f)(X)


def test_an_argument_that_is_written_to() -> None:
    def by_steps(x):
        def rhs(t, y, a):
            a[0] += 1.0
            return [-a[0] * y[0]]

        return integrate.solve_ivp(rhs, (0, 1), [1.0], args=(x * 2.0,)).y[0, -1]

    def by_root(x):
        def residual(t, a):
            a[0] += 1.0
            return t - a[0]

        return brentq(residual, 0, 10, args=(x * 2.0,))

    for f in (by_steps, by_root):
        with pytest.raises(NotImplementedError, match="writes into an array"):
            ad.grad(f)(X)


def test_what_the_function_raises() -> None:
    def f(x):
        def integrand(t):
            if t > 0.5:
                raise KeyError("beyond")
            return t * x[0]

        return quad(integrand, 0, 1)[0]

    with pytest.raises(KeyError, match="beyond"):
        ad.grad(f)(X)
    with pytest.raises(ValueError, match="different signs"):
        ad.grad(lambda x: brentq(lambda t: t + x[0], 1, 2))(X)


def test_objects_that_are_arguments_are_refused() -> None:
    def f(shape):
        return integrate.quad(shape.height, 0, 1)[0]

    with pytest.raises(ad.AutodiffError):
        ad.grad(f)(Shape(0.5))
