"""Second derivatives at a norm of zero.

There, the first derivative of a norm is taken to be zero, and this zero says nothing about the next order. A function
that is smooth there, as the square of the norm, has a second derivative: it is the right one, or it is nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

WAYS: dict[str, Callable[[Any], Any]] = {
    "hessian": ad.hessian,
    "reverse": lambda f: ad.jacrev(ad.grad(f)),
    "forward": lambda f: ad.jacfwd(ad.jacfwd(f)),
    "taylor": lambda f: lambda x: np.diag([2.0 * ad.taylor(f, x, e, 2)[2] for e in np.eye(len(x))]),
}
# Of each, the second derivative along an axis. That of the others, which have a kink, is nan or infinite.
SMOOTH = {
    "norm": (lambda v: np.linalg.norm(v) ** 2, 2.0),
    "cosh": (lambda v: np.cosh(np.linalg.norm(v)), 1.0),
    "cos": (lambda v: np.cos(np.linalg.norm(v)), -1.0),
    "hypot": (lambda v: np.hypot(v[0], v[1]) ** 2, 2.0),
    "math.hypot": (lambda v: math.hypot(v[0], v[1]) ** 2, 2.0),
    "dist": (lambda v: math.dist(v, [0.0, 0.0]) ** 2, 2.0),
    "reduce": (lambda v: np.hypot.reduce(v) ** 2, 2.0),
    "absolute": (lambda v: np.abs(v[0] + 1j * v[1]) ** 2, 2.0),
    "rows": (lambda v: np.sum(np.linalg.norm(v[:, None], axis=1) ** 2), 2.0),
    "std": (lambda v: np.std(v) ** 2, 0.5),
}
KINKS = {
    "norm": lambda v: np.linalg.norm(v),
    "hypot": lambda v: np.hypot(v[0], v[1]),
    "math.hypot": lambda v: math.hypot(v[0], v[1]),
    "reduce": lambda v: np.hypot.reduce(v),
    "absolute": lambda v: np.abs(v[0] + 1j * v[1]),
    "std": lambda v: np.std(v),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SMOOTH)
def test_smooth(name: str, way: str) -> None:
    f, want = SMOOTH[name]
    found = np.diag(WAYS[way](f)(np.zeros(2)))
    assert np.isnan(found).any() or np.allclose(found, want)
    np.testing.assert_array_equal(ad.grad(f)(np.zeros(2)), 0.0)


@pytest.mark.parametrize("name", ["norm", "hypot", "math.hypot", "dist", "reduce", "absolute", "rows"])
def test_the_square_has_one_in_reverse(name: str) -> None:
    f, _ = SMOOTH[name]
    np.testing.assert_allclose(ad.hessian(f)(np.zeros(2)), 2.0 * np.eye(2))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", KINKS)
def test_kinks(name: str, way: str) -> None:
    f = KINKS[name]
    assert not np.isfinite(WAYS[way](f)(np.zeros(2))).all()
    for derivative in (ad.grad(f), ad.jacfwd(f)):
        np.testing.assert_array_equal(derivative(np.zeros(2)), 0.0)


def drag(v, k):
    for _ in range(3):
        v = v - 0.1 * k * np.abs(v) * v
    return np.sum(v)


def drag_of_a_number(v, k):
    for _ in range(3):
        v = v - k * abs(v) * v
    return v


def friction(v, k):
    for _ in range(3):
        v = v / (1.0 + k * np.abs(v))
    return np.sum(v**2)


@pytest.mark.parametrize(
    ("f", "v"), [(drag, np.array([-1.0, 0.0, 2.0])), (friction, np.array([-1.0, 0.0, 2.0])), (drag_of_a_number, -0.7)]
)
def test_a_multiple_of_a_number_times_its_sign_is_one_of_its_size(f, v):
    derived = ad.grad(f, argnums=(0, 1))
    assert "sign" not in derived.source(v, 0.3)
    by_v, by_k = derived(v, 0.3)
    np.testing.assert_allclose(by_v, differences(lambda v: f(v, 0.3), v), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(by_k, differences(lambda k: f(v, k), 0.3), rtol=1e-5, atol=1e-6)
    second = ad.jvp(ad.grad(f), (v, 0.3), (np.zeros_like(v), 1.0))[1]
    np.testing.assert_allclose(second, differences(lambda k: ad.grad(f)(v, k), 0.3), rtol=1e-5, atol=1e-6)


def sizes_of_sizes(x):
    size = np.abs(x)
    return np.sum(1.0 / (2.0 + np.abs(size) ** 2)) + np.sum(size * size)


def test_a_multiple_by_a_number_and_by_an_array():
    """The number of the first one was added to in place."""
    x = np.array([-1.0, 0.3, 2.0])
    np.testing.assert_allclose(ad.grad(sizes_of_sizes)(x), differences(sizes_of_sizes, x), rtol=1e-6)


@pytest.mark.parametrize("s", [1e22, 1e-22])
def test_the_size_of_a_number_stays_beside_its_scale(s):
    """The square of the scale has no float32, nor is it needed: the scaled number is about one."""

    def f(y, s):
        return np.sum(np.exp(-((np.abs(y) * s) ** 2)))

    y = np.array([0.5, -1.0])
    (found,) = ad.grad(f, argnums=(0,))((y / s).astype(np.float32), s)
    np.testing.assert_allclose(found, -2.0 * y * np.exp(-y * y) * s, rtol=1e-5)
