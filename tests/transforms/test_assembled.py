"""Zeros to which parts are added, and of which parts are read: when they are not made, and that the gradients stay."""

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.ir.types import Dims
from autodiff_compiler.transforms.places import common
from tests.differences import differences

X = np.random.default_rng(8).normal(size=7)
W = np.random.default_rng(9).normal(size=(5, 6))


def fluxes(x):
    for _ in range(3):
        flux = np.zeros(len(x) + 1)
        flux[1:-1] = x[1:] * x[:-1]
        flux[0] = np.sin(x[0])
        flux[-1] = x[-1] ** 2
        x = x - 0.2 * (flux[1:] - flux[:-1])
    return np.sum(x**2)


def one_end(x):
    flux = np.zeros(len(x) + 1)
    flux[1:] = np.sin(x)
    return np.sum((flux[1:] - flux[:-1]) ** 3)


def ghosts(x):
    """What is read meets what is added to in part."""
    padded = np.zeros(len(x) + 2)
    padded[1:-1] = np.sin(x)
    padded[0] = x[0] ** 2
    padded[-1] = x[-1] * x[0]
    return np.sum((padded[2:] - 2.0 * padded[1:-1] + padded[:-2]) ** 3)


def frames(x):
    padded = np.zeros((x.shape[0] + 2, x.shape[1] + 2))
    padded[1:-1, 1:-1] = np.sin(x)
    padded[0, 1:-1] = x[0] ** 2
    padded[1:-1, -1] = x[:, 0]
    inner = padded[1:-1, 1:-1]
    return np.sum((padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] - 3.0 * inner) ** 3)


def rows(x):
    flux = np.zeros((len(x) + 1, x.shape[1]))
    flux[1:-1] = x[1:] * x[:-1]
    flux[0] = np.sin(x[0])
    return np.sum((flux[1:] - flux[:-1]) ** 3)


def halves(x):
    y = np.zeros(len(x))
    y[:3] = np.sin(x[:3])
    y[3:] = x[3:] ** 2
    return np.sum(y[1:] * y[:-1] ** 2)


def all_of_it(x):
    flux = np.zeros(len(x) + 1)
    flux[:] = np.append(x, x[0])
    return np.sum((flux[1:] - flux[:-1]) ** 3)


def one_element(x):
    flux = np.zeros(len(x) + 1)
    for i in range(len(x)):
        flux[i] = x[i] ** 2
    return np.sum((flux[1:] - flux[:-1]) ** 3)


def stored_again(x):
    flux = np.zeros(len(x) + 1)
    flux[1:-1] = x[1:] * x[:-1]
    flux[2:4] = x[:2] ** 2
    flux[3] = np.sin(x[3])
    return np.sum((flux[1:] - flux[:-1]) ** 3)


def scaled(x):
    flux = np.zeros(len(x) + 1, dtype=np.float32)
    flux[1:-1] = x[1:] * x[:-1]
    return np.sum((flux[1:] - flux[:-1]).astype(np.float64) ** 3)


ALONG = [fluxes, one_end, ghosts, halves, all_of_it, one_element, stored_again]
PROGRAMS = [*[(f, X) for f in ALONG], (frames, W), (rows, W)]


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7 * (1.0 + np.abs(expected).max(initial=0.0)))


@pytest.mark.parametrize("f, x", PROGRAMS)
def test_derivatives(f, x):
    near(ad.grad(f)(x), differences(f, x))
    np.testing.assert_allclose(ad.grad(f)(x), ad.grad(f, optimize="-assembled")(x), rtol=1e-12, atol=1e-14)
    v = np.cos(np.arange(x.size)).reshape(x.shape)
    near(ad.hvp(f)(x, v), np.tensordot(v, differences(ad.grad(f), x), x.ndim))


@pytest.mark.parametrize("f", [fluxes, one_end, ghosts, all_of_it, one_element])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_few_elements(f, n):
    x = X[:n]
    near(ad.grad(f)(x), differences(f, x))
    gradient = ad.grad(f)
    gradient(X)  # code that was compiled for more of them
    near(gradient(x), differences(f, x))


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)])
@pytest.mark.parametrize("f", [frames, rows])
def test_small_matrices(f, shape):
    x = W[: shape[0], : shape[1]]
    gradient = ad.grad(f)
    gradient(W)
    near(gradient(x), differences(f, x))
    near(ad.grad(f)(x), differences(f, x))


@pytest.mark.parametrize("f, x", [(fluxes, X), (one_end, X), (ghosts, X), (rows, W)])
def test_the_zeros_are_not_made(f, x):
    text = ad.grad(f).source(x)
    assert "flux_bar = " not in text and "padded_bar = " not in text
    assert "flux_bar = " in (without := ad.grad(f, optimize="-assembled").source(x)) or "padded_bar = " in without


def test_another_dtype():
    near(ad.grad(scaled)(X), ad.grad(scaled, optimize=False)(X))


def test_nothing_is_read_in_a_loop_again_and_again():
    def f(x):
        y = np.zeros(len(x) + 1)
        y[1:] = np.sin(x)
        total = 0.0
        for k in range(3):
            total = total + np.sum(y[1:] * y[:-1] * k)
        return total

    near(ad.grad(f)(X), differences(f, X))


def part(*items):
    return (("index", items),)


@pytest.mark.parametrize("a", range(-6, 6))
@pytest.mark.parametrize("b", [None, *range(-6, 6)])
def test_what_parts_have_in_common(a, b):
    """As NumPy finds it, for all slices and places of an axis."""
    n = 5
    first = slice(a, b)
    others = [slice(c, d) for c in (None, *range(-6, 6)) for d in (None, *range(-6, 6))] + list(range(-n, n))
    for x, y in [(x, y) for y in others for x in [first, *([a] if -n <= a < n else [])]]:
        found = common(part(x), part(y), Dims(), (n,))
        at = np.arange(n)
        in_both = np.intersect1d(at[x], at[y])
        if found is False:
            assert not in_both.size
        elif found is not True:
            assert np.array_equal(np.atleast_1d(at[x][found.in_first]), in_both)
            assert np.array_equal(np.atleast_1d(at[y][found.in_second]), in_both)
            assert not found.is_all or np.array_equal(np.atleast_1d(at[x]), in_both)
            assert found.is_all or type(x) is slice


def test_what_is_known():
    assert common(part(slice(1, -1)), part(slice(2, None)), Dims(), (6,)) is not True
