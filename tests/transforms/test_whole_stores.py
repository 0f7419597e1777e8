"""Updates of whole arrays whose content is kept: no copies are made, and the gradients stay."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X, Y = np.random.default_rng(4).normal(size=(2, 5))


def twice(x, y):
    u = x.copy()
    for _ in range(4):
        u -= 0.3 * np.sin(u) * y
        u /= 1.0 + u * u
    return np.sum(u**2)


def seen_under_two_names(x, y):
    u = x.copy()
    v = u
    for _ in range(3):
        u *= np.cos(v) * y
        v += u * u
    return np.sum(u * v)


def a_part_is_seen(x, y):
    u = x.copy()
    head = u[:2]
    for _ in range(3):
        u /= 2.0 + u * u * y
        u[1:] *= head[0]
    return np.sum(u) * head[1]


def an_item_of_a_list(x, y):
    states = [x.copy(), y.copy()]
    for k in range(4):
        states[k % 2] *= np.sin(states[(k + 1) % 2]) + 2.0
    return np.sum(states[0] * states[1])


def kept_by_the_program(x, y):
    u = x.copy()
    seen = []
    for _ in range(3):
        u *= np.sin(u) * y
        seen.append(u)
    return sum(np.sum(s**2) for s in seen)


def an_argument(x, y):
    for _ in range(3):
        x *= np.sin(x) * y + 2.0
    return np.sum(x)


def of_another_shape(x, y):
    u = np.ones((3, len(x)))
    for _ in range(3):
        u[...] = np.sin(x) * u[0] * y
    return np.sum(u**2)


def of_another_dtype(x, y):
    u = x.astype(np.float32)
    for _ in range(3):
        u *= np.sin(u)
        u[...] = np.cos(u) * y
    return np.sum(u.astype(np.float64) ** 2)


PROGRAMS = [
    twice, seen_under_two_names, a_part_is_seen, an_item_of_a_list, kept_by_the_program, an_argument, of_another_shape,
]  # fmt: skip


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7 * (1.0 + np.abs(expected).max()))


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    value, gradient = ad.value_and_grad(f, argnums=(0, 1))(X, Y)
    x = X.copy()
    assert value == f(x, Y)
    near(gradient[0], differences(lambda x: f(x.copy(), Y), X))
    near(gradient[1], differences(lambda y: f(X.copy(), y), Y))
    _, pullback = ad.vjp(f, X, Y)
    for _ in range(2):  # a pullback may be called again
        np.testing.assert_allclose(pullback(1.0)[1], gradient[1], rtol=1e-12)


def test_what_an_argument_holds_afterwards():
    x, gradient = X.copy(), ad.value_and_grad(an_argument)(X.copy(), Y)
    assert gradient[0] == an_argument(x, Y)


def test_another_dtype():
    found, plain = (ad.grad(of_another_dtype, argnums=1, optimize=o)(X, Y) for o in (True, "-whole stores"))
    np.testing.assert_array_equal(found, plain)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_elements(n):
    gradient = ad.grad(twice)
    gradient(X, Y)
    found = gradient(X[:n], Y[:n])
    assert found.shape == (n,)
    if n:
        near(found, differences(lambda x: twice(x, Y[:n]), X[:n]))


def test_no_copies():
    assert ".copy()" not in ad.grad(twice).source(X, Y)
    assert ".copy()" in ad.grad(twice, optimize="-whole stores").source(X, Y)


def test_the_order_in_memory_stays():
    """Of which the last digits of a sum depend."""

    def f(x, y):
        u = x * 1.0
        for _ in range(3):
            u /= 1.0 + u * u * y
        return np.sum(u)

    x, y = np.random.default_rng(3).normal(size=(2, 37, 41))
    x = np.asfortranarray(x)
    assert ad.value_and_grad(f)(x, y)[0] == f(x, y)
