"""Each construct of the language in each of the places where it may stand, against central differences."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests import corpus

Program = Callable[[Any], Any]
X = np.array([0.7, 1.3, 2.1])
V = np.array([0.6, -0.8, 0.5])

MODULES = [importlib.import_module(f"{corpus.__name__}.{m.name}") for m in pkgutil.iter_modules(corpus.__path__)]
CASES = {name: f for module in MODULES for name, f in vars(module).items() if name.startswith("case_")}
assert len(CASES) == sum(name.startswith("case_") for module in MODULES for name in vars(module))


def plain(f: Program) -> Program:
    return f


def in_loop(f: Program) -> Program:
    def looped(x):
        s = 0.0
        for k in range(2):
            s = s * 0.5 + f(x * (1.0 + 0.01 * k))
        return s

    return looped


def in_branch(f: Program) -> Program:
    def branched(x):
        if x[0] + x[1] > 1.0:
            y = f(x)
        else:
            y = f(2.0 * x) * x[0]
        return y * y

    return branched


def stored(f: Program) -> Program:
    def stores(x):
        out = np.zeros(3)
        for k in range(2):
            out[k + 1] = out[k] * 0.1 + f(x)
        return np.sum(out * out)

    return stores


def of_own_buffer(f: Program) -> Program:
    def mutated(x):
        buffer = np.zeros(5)
        buffer[1:4] = x
        y = f(buffer[1:4])
        return y + np.sum(buffer**2)

    return mutated


PLACES = [plain, in_loop, in_branch, stored, of_own_buffer]


def difference(f: Program, x: Any, v: Any, h: float = 1e-6) -> Any:
    return (f(x + h * v) - f(x - h * v)) / (2 * h)


@pytest.mark.parametrize("place", PLACES, ids=lambda p: p.__name__)
@pytest.mark.parametrize("name", CASES)
def test_gradient(name: str, place: Callable[[Program], Program]) -> None:
    f = place(CASES[name])
    x = X.copy()
    with np.errstate(all="ignore"):
        gradient = ad.grad(f)(x)
        expected = [difference(f, X, v) for v in (V, V[::-1] * [1, 1, -1])]
    assert np.array_equal(x, X)
    assert type(gradient) is np.ndarray and gradient.dtype == X.dtype
    found = [gradient @ V, gradient @ (V[::-1] * [1, 1, -1])]
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("name", CASES)
def test_second_order(name: str) -> None:
    f = CASES[name]
    g = ad.grad(f)
    with np.errstate(all="ignore"):
        second = ad.grad(lambda x: np.sum(g(x) * V))(X.copy())
        expected = difference(g, X, V)
    np.testing.assert_allclose(second, expected, rtol=2e-5, atol=2e-5)


def taken_by_numpy(f: Program, dtype: Any) -> bool:
    try:
        with np.errstate(all="ignore"):
            f(X.astype(dtype))
    except (TypeError, ValueError):
        return False
    return True


DTYPES = [(n, t) for n, f in CASES.items() for t in (np.float16, np.float32, np.longdouble) if taken_by_numpy(f, t)]


@pytest.mark.parametrize(("name", "dtype"), DTYPES, ids=lambda x: getattr(x, "__name__", x))
def test_dtype(name: str, dtype: Any) -> None:
    """The gradient has the argument's dtype, and the value that float64 gives, as far as the dtype holds it."""
    f = CASES[name]
    x = X.astype(dtype)
    with np.errstate(all="ignore"):
        gradient = ad.grad(f)(x)
        expected = ad.grad(f)(X.copy())
    bound = {np.float16: 0.05, np.float32: 2e-3, np.longdouble: 1e-8}[dtype]
    assert gradient.dtype == x.dtype
    np.testing.assert_allclose(gradient.astype(float), expected, rtol=bound, atol=bound * max(1, abs(expected).max()))
