"""Functions under decorators of Numba: the Python function says what they compute. A stand-in has its attribute."""

import sys
import types

import numpy as np
import pytest

import autodiff_compiler as ad


class Dispatcher:
    def __init__(self, py_func):
        self.py_func = py_func

    def __call__(self, *args):
        return self.py_func(*args)


@pytest.fixture(autouse=True)
def numba(monkeypatch):
    module = types.ModuleType("numba.core.dispatcher")
    module.Dispatcher = Dispatcher
    monkeypatch.setitem(sys.modules, "numba.core.dispatcher", module)


@Dispatcher
def energy(x):
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] ** 2
    return total


@Dispatcher
def scaled(x, factor):
    return factor * energy(x)


def loss(x):
    return scaled(x, 3.0) + energy(x)


def test_a_jitted_function_is_looked_into():
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(ad.grad(loss)(x), 8.0 * x)


def test_a_jitted_function_is_differentiated_itself():
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(ad.grad(scaled)(x, 3.0), 6.0 * x)


def test_a_rebound_function_is_seen(monkeypatch):
    gradient, x = ad.grad(loss), np.array([1.0, 2.0])
    gradient(x)
    monkeypatch.setattr(energy, "py_func", lambda x: np.sum(x))
    np.testing.assert_allclose(gradient(x), 4.0 * np.ones(2))
