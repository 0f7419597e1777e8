"""Dask arrays: gradients are lazy, in pieces, and equal to those of NumPy's arrays."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import errors
from tests.duck.programs import CASES, METHODS, vector

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def nothing_computes():
    """Dask computes only where a test says so, and never because it lacks a function."""

    def refuse(*args, **kwargs):
        raise AssertionError("computed before it was asked for")

    with dask.config.set(scheduler=refuse), warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        yield


def lift(x):
    return da.from_array(x, chunks=tuple(min(n, 4) for n in x.shape))


def computed(x):
    assert isinstance(x, da.Array), type(x)
    return x.compute(scheduler="synchronous")


ALL = [*CASES, *[(f, vector) for f in METHODS]]


@pytest.mark.parametrize(("f", "make"), ALL, ids=[f.__name__ for f, _ in ALL])
def test_same_derivatives_as_of_numpys_arrays(f, make):
    x = make()
    got, want = ad.grad(f)(lift(x)), ad.grad(f)(x)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_allclose(computed(got), want, rtol=1e-10, atol=1e-12)
    value, pullback = ad.vjp(f, lift(x))
    np.testing.assert_allclose(computed(value), f(x), rtol=1e-10)
    np.testing.assert_allclose(computed(pullback(1.0)[0]), want, rtol=1e-10, atol=1e-12)
    _, tangent = ad.jvp(f, (lift(x),), (lift(x),))
    np.testing.assert_allclose(computed(tangent), np.sum(want * x), rtol=1e-9, atol=1e-11)


def logistic(w, x, y):
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z) + 0.05 * np.sum(w**2)


def data(rows=60, columns=4):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(rows, columns))
    return rng.normal(size=columns), x, (x @ np.ones(columns) > 0).astype(float)


def test_logistic_regression():
    w, x, y = data()
    pieces = da.from_array(x, chunks=(13, 4)), da.from_array(y, chunks=13)
    want = ad.grad(logistic)(w, x, y)
    np.testing.assert_allclose(computed(ad.grad(logistic)(w, *pieces)), want)
    np.testing.assert_allclose(computed(ad.grad(logistic)(da.from_array(w), *pieces)), want)
    by_data = ad.grad(logistic, argnums=1)(w, *pieces)
    assert by_data.chunks == pieces[0].chunks
    np.testing.assert_allclose(computed(by_data), ad.grad(logistic, argnums=1)(w, x, y))


def test_emitted_code_is_plain():
    w, x, y = data()
    source = ad.grad(logistic).source(w, da.from_array(x, chunks=(13, 4)), da.from_array(y, chunks=13))
    assert "autodiff_compiler" not in source
    assert "+=" not in source and "out=" not in source


def test_larger_than_memory():
    """A gradient of 80 GB of data is built of pieces, and nothing of that size is made."""
    n = 10**8
    x = da.ones((n, 100), chunks=(10**6, 100))
    y = da.zeros(n, chunks=10**6)
    got = ad.grad(logistic)(np.zeros(100), x, y)
    assert got.shape == (100,)
    by_data = ad.grad(logistic, argnums=1)(np.zeros(100), x, y)
    assert by_data.chunks == x.chunks
    part = computed(by_data[n // 2 : n // 2 + 3])
    np.testing.assert_allclose(part, np.zeros((3, 100)))
    # Of random data that are made as they are read: one gradient of 1,000 pieces, each forgotten when it was used.
    rng = da.random.default_rng(0)
    x = rng.normal(size=(10**5, 5), chunks=(100, 5))
    got = computed(ad.grad(logistic)(np.zeros(5), x, (x[:, 0] > 0).astype(float)))
    np.testing.assert_allclose(got[0], -np.sqrt(0.5 / np.pi), rtol=0.05)
    np.testing.assert_allclose(got[1:], np.zeros(4), atol=0.01)


def decided(x):
    if np.sum(x) > 0:
        return np.sum(x)
    return np.sum(x * x)


def test_a_decision_computes():
    x = np.arange(1.0, 5.0)
    with dask.config.set(scheduler="synchronous"):
        got = ad.grad(decided)(lift(x))
        assert isinstance(got, da.Array)
        np.testing.assert_array_equal(got.compute(), np.ones(4))
        np.testing.assert_array_equal(ad.grad(decided)(lift(-x)).compute(), -2 * x)


def asked_for(x):
    return float(np.sum(x**2))


def test_a_number_is_asked_for():
    x = np.arange(4.0)
    with dask.config.set(scheduler="synchronous"):
        np.testing.assert_array_equal(ad.grad(asked_for)(lift(x)).compute(), 2 * x)


def squares(x):
    return np.sum(x * x)


def test_unknown_lengths_are_refused():
    x = lift(np.arange(6.0))
    g = ad.grad(squares)
    g(x)
    with pytest.raises(errors.ArgumentError, match="compute_chunk_sizes"):
        g(x[x > 2])


def determinant(x):
    return np.linalg.det(x)


def in_order(x):
    return np.sum(np.sort(x)[:2])


@pytest.mark.parametrize(("f", "name", "x"), [
    (determinant, "np.linalg.det", np.eye(3)), (in_order, "np.sort", np.arange(4.0)),
])  # fmt: skip
def test_what_dask_lacks_is_refused_and_not_computed(f, name, x):
    with pytest.raises(errors.UnsupportedError, match=f"the function calls {name}, which dask does not have"):
        ad.grad(f)(lift(x))


def accumulated(x):
    total = 0.0
    for k in range(3):
        total += np.sum(x**k)
    y = x * 1.0
    y *= 2.0
    return total * np.sum(y)


def test_augmented_assignments_make_new_arrays():
    x = np.arange(1.0, 5.0)
    np.testing.assert_allclose(computed(ad.grad(accumulated)(lift(x))), ad.grad(accumulated)(x))
