"""`functools.wraps` gives a function the name, the module and the attributes of another. It stays what it is."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import UnsupportedError
from tests.differences import differences

FACTOR = 2.0


@functools.wraps(ad.grad)
def by_second(f):
    return ad.grad(f, argnums=1)


@functools.wraps(ad.nn.softplus)
def scaled_square(x):
    return x * x * FACTOR


@functools.wraps(np.linalg.norm)
def total(x):
    return np.sum(x)


@functools.wraps(np.sin)
def cosine(x):
    return np.cos(x)


@functools.wraps(ad.stop_gradient)
def cube(x):
    return x**3


@functools.wraps(functools.reduce)
def product(a, b):
    return a * b


def of_gradient(x):
    return by_second(lambda a, b: a * a * b)(x, 2.0)


def of_module(x):
    return scaled_square(x)


def of_numpy(x):
    return total(np.array([x, x * x])) + cosine(x)


def of_tape(x):
    return cube(x) + product(x, x)


@pytest.mark.parametrize("f", [of_gradient, of_module, of_numpy, of_tape])
def test_a_wrapper_is_not_what_it_wraps(f):
    value, gradient = ad.value_and_grad(f)(1.3)
    assert value == pytest.approx(f(1.3))
    assert gradient == pytest.approx(differences(f, 1.3), rel=1e-6)


def test_globals_of_a_wrapper_are_guarded(monkeypatch):
    gradient = ad.grad(of_module)
    assert gradient(3.0) == 12.0
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert gradient(3.0) == 30.0


@ad.custom_gradient
def halved(x):
    return x * 1.0, lambda upstream: upstream * 0.5


@ad.recompute_grad
def again(x):
    return x * x


@pytest.mark.parametrize(
    "f, remedy",
    [
        (lambda x: halved(x), "`primitive`"),
        (lambda x: again(x), "call the function itself"),
        (lambda x: ad.grad_pass_through(np.round)(x), "stop_gradient"),
    ],
)
def test_gradients_of_the_tape_are_refused_where_they_are_called(f, remedy):
    with pytest.raises(UnsupportedError, match=remedy) as caught:
        ad.grad(f)(3.0)
    assert caught.value.loc.file == __file__
