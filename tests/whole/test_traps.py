"""Traps: programs for which some tool for automatic differentiation gives a wrong gradient without saying so.

Each is named after its trap, and checked at first and second order against differences of the plain function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

V = np.array([0.7, 1.3, 2.1])
M = np.array([[0.3, -1.2, 0.8], [1.7, 0.4, -0.6]])
W = np.array([0.9, -0.4, 1.6])


def check(f: Callable[[Any], Any], x: np.ndarray = V, second: bool = True) -> np.ndarray:
    """The gradient of f at x, compared with differences, and so the derivative of the gradient."""
    before = x.copy()
    gradient = ad.grad(f)
    found = gradient(x)
    np.testing.assert_array_equal(x, before)
    assert found.dtype == x.dtype and found.shape == x.shape
    np.testing.assert_allclose(found, differences(f, x), rtol=1e-5, atol=1e-7)
    if second:
        w = np.cos(np.arange(x.size) + 1.0).reshape(x.shape)

        def slope(v: Any) -> Any:
            return np.sum(gradient(v) * w)

        def compiled(v: Any) -> Any:
            return np.sum(ad.grad(f)(v) * w)

        np.testing.assert_allclose(ad.grad(compiled)(x), differences(slope, x), rtol=1e-4, atol=1e-6)
    return found


# --- a value that is used twice ---------------------------------------------------------------------------------------


def softmax(v):
    e = np.exp(v)
    return np.sum(W * (e / np.sum(e)))


def softmax_rows(m):
    e = np.exp(m - np.max(m, axis=1, keepdims=True))
    return np.sum(W * (e / np.sum(e, axis=1, keepdims=True)))


def unit_vector(v):
    return np.sum(W * (v / np.linalg.norm(v)))


def standardised(v):
    return np.sum(W * (v - v.mean()) / v.std())


def matrix_by_vector(v):
    return np.sum(np.arange(6.0).reshape(2, 3) / v)


def matrix_over_its_row(m):
    return np.sum(W * (m / m[1]))


def array_to_the_power_of_a_number(v):
    s = v[0] * v[1]
    return np.sum(v**s)


def vector_to_the_power_of_its_first(v):
    return np.sum(v ** v[0])


def constant_to_the_power_of_an_array(v):
    return np.sum(2.0**v)


# --- names that the rules use themselves ------------------------------------------------------------------------------


def names_of_the_rules(v):
    n = v[0]
    mask = v * v
    max_val = np.max(mask)
    g = out = n * max_val
    axis = np.sum(mask) * out
    return g * np.mean(mask) + axis + n


# --- stores -----------------------------------------------------------------------------------------------------------


def store_of_zero(v):
    a = v * v
    a[0] = 0.0
    return a.sum()


def store_under_a_mask(v):
    a = v * v
    a[a < 1] = 0
    return np.sum(a * v)


def repeated_subscripts_read(v):
    return np.sum(W * v[[0, 0, 2]] ** 2)


def repeated_subscripts_stored(v):
    a = np.zeros(2)
    a[[0, 0, 1]] = v * v
    return np.sum(a * np.array([2.0, 5.0]))


def store_through_a_slice(v):
    y = v * 1.0
    z = y[1:]
    z[0] = y[0] * 5
    return y.sum()


def store_through_a_second_name(v):
    a = v * v
    b = a
    a += v
    return np.sum(a * b)


def overlapping_stencil(v):
    a = np.concatenate((v, v * v))
    for _ in range(3):
        a[1:-1] = a[1:-1] * a[1:-1] + 0.1 * a[:-2]
    return np.sum(a)


# --- lists, truth, with -----------------------------------------------------------------------------------------------


def lists_added(v):
    parts = [v[0], v[1] * v[0]] + [v[2]] * 2
    return parts[0] * parts[1] * parts[2] * parts[3]


def list_times_number(v):
    items = [v[0]] * 3
    items[1] = v[1] * v[2]
    return items[0] * items[1] + items[2] ** 2


def value_of_and(v):
    return (v[0] > 0 and v[0] * v[0]) + (v[1] > 9 and v[1])


def value_of_or(v):
    zero = v[0] * 0.0
    return (v[0] or 1.0) * v[1] + (zero or v[2] ** 2)


def inside_with(v):
    with np.errstate(all="ignore"):
        y = v * v
    with np.errstate(divide="raise"):
        y = y * v
    return np.sum(y)


# --- functions of arrays ----------------------------------------------------------------------------------------------


def product_over_an_axis(m):
    return np.sum(np.prod(m, axis=1) * np.array([1.0, 2.0]))


def clip_between_arrays(v):
    m = np.array([[0.3, -2.2, 2.8], [1.7, 0.4, -9.6]])
    return np.sum(np.clip(m, -v, v) ** 2)


def dot_of_three_axes(m):
    a = np.reshape(np.arange(12.0), (2, 2, 3)) * m[0]
    b = np.stack([m.T, m.T * 2.0 + 1.0])
    return np.sum(np.dot(a, b) ** 2)


def where_that_broadcasts(v):
    return np.sum(np.where(M > 0, v, v[0] * v[1]) ** 2)


def full_like_of_an_element(v):
    return np.sum(np.full_like(v, v[0]) * v * v)


def norm_of_infinite_order(v):
    return np.linalg.norm(v * W, np.inf) ** 2


def norm_of_order_one(v):
    return np.linalg.norm(v * W, 1) ** 2


VECTORS = [
    softmax, unit_vector, standardised, matrix_by_vector, array_to_the_power_of_a_number,
    vector_to_the_power_of_its_first, constant_to_the_power_of_an_array, names_of_the_rules, store_of_zero,
    store_under_a_mask, repeated_subscripts_read, repeated_subscripts_stored, store_through_a_slice,
    store_through_a_second_name, overlapping_stencil, lists_added, list_times_number, value_of_and, value_of_or,
    inside_with, clip_between_arrays, where_that_broadcasts, full_like_of_an_element, norm_of_infinite_order,
    norm_of_order_one,
]  # fmt: skip
MATRICES = [softmax_rows, matrix_over_its_row, product_over_an_axis, dot_of_three_axes]


@pytest.mark.parametrize("f", VECTORS, ids=lambda f: f.__name__)
def test_vector(f):
    check(f, V)


@pytest.mark.parametrize("f", MATRICES, ids=lambda f: f.__name__)
def test_matrix(f):
    check(f, M)


def in_a_loop(f, v):
    total = 0.0
    for k in range(3):
        total = total + f(v * (1.0 + 0.1 * k)) * (k + 1)
    return total


def in_a_branch(f, v):
    if v[0] > 0.5:
        y = f(v) * v[1]
    else:
        y = v[2]
    return y * v[0]


@pytest.mark.parametrize("around", [in_a_loop, in_a_branch], ids=lambda f: f.__name__)
@pytest.mark.parametrize("f", VECTORS, ids=lambda f: f.__name__)
def test_vector_inside(f, around):
    check(functools.partial(around, f), V, second=False)


# --- known values -----------------------------------------------------------------------------------------------------


def test_truths():
    assert ad.grad(lambda v: store_through_a_slice(v))(np.ones(3)).tolist() == [6.0, 0.0, 1.0]
    assert ad.grad(store_of_zero)(V).tolist() == [0.0, *(2 * V[1:])]
    assert ad.grad(lambda v: np.linalg.norm(v, np.inf))(np.array([1.0, -3.0, 2.0])).tolist() == [0.0, -1.0, 0.0]


def test_argument_and_its_alias():
    def f(a):
        b = a
        a += a * a
        return np.sum(b)

    x = V.copy()
    np.testing.assert_allclose(ad.grad(f)(x), 1 + 2 * V)
    np.testing.assert_array_equal(x, V)


@pytest.mark.parametrize("f", [softmax, unit_vector, standardised, matrix_by_vector, inside_with, value_of_or])
def test_float32_stays_float32(f):
    x = V.astype(np.float32)
    found = ad.grad(f)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(f)(V), rtol=2e-5)


def test_float32_inside(monkeypatch):
    monkeypatch.setenv("AUTODIFF_COMPILER_CHECK", "0")  # the calls are counted
    seen = []

    @ad.primitive
    def spy(v):
        seen.append(v.dtype)
        return v * 1.0

    @ad.vjp_rule(spy, "v")
    def _spy(g, out, v):
        return note(g)

    @ad.primitive
    def note(g):
        seen.append(g.dtype)
        return g * 1.0

    def f(v):
        y = spy(np.exp(v) / np.sum(np.exp(v)))
        z = spy(np.where(v > 1, y, 2.0) ** 2 * np.float32(3))
        return spy(np.cumsum(z) * np.arange(3, dtype=np.float32)).mean()

    assert ad.grad(f)(V.astype(np.float32)).dtype == np.float32
    assert len(seen) == 6 and {np.dtype(d) for d in seen} == {np.dtype(np.float32)}


# --- what is outside of the function ----------------------------------------------------------------------------------


def test_decorators_are_not_dropped():
    def twice(fn):
        @functools.wraps(fn)
        def wrapped(v):
            return 2.0 * fn(v) + v[0]

        return wrapped

    @twice
    def helper(v):
        return np.sum(v * v)

    @twice
    def f(v):
        return helper(v) * v[1]

    check(f)


def test_decorated_when_differentiated():
    @ad.grad
    def f(v):
        return np.sum(v**3)

    np.testing.assert_allclose(f(V), 3 * V**2)


rate = 2.0


def helper(v):
    return v * v


def uses_outside(v, power=2):
    return np.sum(helper(v) ** power) * rate


def test_stale_global(monkeypatch):
    gradient = ad.grad(uses_outside)
    np.testing.assert_allclose(gradient(V), 8 * V**3)
    monkeypatch.setitem(globals(), "rate", 3.0)
    np.testing.assert_allclose(gradient(V), 12 * V**3)
    monkeypatch.setitem(globals(), "rate", np.array(4.0))
    np.testing.assert_allclose(gradient(V), 16 * V**3)


def test_stale_helper(monkeypatch):
    gradient = ad.grad(uses_outside)
    gradient(V)
    monkeypatch.setitem(globals(), "helper", lambda v: v * v * v)
    np.testing.assert_allclose(gradient(V), 12 * V**5)


def test_stale_default(monkeypatch):
    gradient = ad.grad(uses_outside)
    gradient(V)
    monkeypatch.setattr(uses_outside, "__defaults__", (1,))
    np.testing.assert_allclose(gradient(V), 4 * V)


def test_stale_closure():
    scale, shape = 2.0, np.array([1.0, 2.0, 3.0])

    def f(v):
        return np.sum(v * v * shape) * scale

    gradient = ad.grad(f)
    np.testing.assert_allclose(gradient(V), 4 * V * shape)
    scale = 5.0
    shape[0] = 7.0
    np.testing.assert_allclose(gradient(V), 10 * V * shape)
    shape = 1.0
    np.testing.assert_allclose(gradient(V), 10 * V)
