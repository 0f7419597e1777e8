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


class DUFunc:
    """What ``numba.vectorize`` gives; `types` are those of the loops that were compiled so far."""

    def __init__(self, py_func):
        self._dispatcher = Dispatcher(py_func)
        self.types = []

    def __call__(self, *args):
        otypes = [float] if self.types == ["d->d"] else None
        return np.vectorize(self._dispatcher.py_func, otypes)(*args)[()]


@pytest.fixture(autouse=True)
def numba(monkeypatch):
    for name, cls in {"numba.core.dispatcher": Dispatcher, "numba.np.ufunc.dufunc": DUFunc}.items():
        module = types.ModuleType(name)
        setattr(module, cls.__name__, cls)
        monkeypatch.setitem(sys.modules, name, module)


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


@DUFunc
def bent(x, y):
    return x * y + 1.0 if x > 0 else y * y


def test_functions_of_elements():
    x = np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(bent(x, 2.0 * x)))(x), [4.0, -16.0, 12.0])
    np.testing.assert_allclose(ad.grad(lambda x: bent(x[0], 3.0))(x), [3.0, 0.0, 0.0])
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(bent(x[:, None], x)))(x), [8.0, 0.0, 12.0])
    with pytest.raises(ad.UnsupportedError, match="numbers other than float64 and int64"):
        ad.grad(lambda x: np.sum(bent(x, x)))(x.astype(np.float32))


def test_the_loops_say_of_which_dtype_the_results_are(monkeypatch):
    whole = DUFunc(lambda x: int(x) if x < 0 else x * 1.5)
    monkeypatch.setattr(whole, "types", ["d->d"])
    f = lambda x: np.sum(x * whole(x)) if whole(x).dtype == np.float64 else 0.0 * x[0]
    x = np.array([-2.0, -3.0])
    assert ad.value_and_grad(f)(x)[0] == 13.0
