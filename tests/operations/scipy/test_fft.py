"""`scipy.fft`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import fft

import autodiff_compiler as ad
from autodiff_compiler.kernels.scipy import fft as kernels
from autodiff_compiler.operations.check import check_rule
from tests.differences import differences
from tests.operations.scipy.harness import check_case, load, without_case

load("fft")
RNG = np.random.default_rng(7)
X = RNG.normal(size=5)
M = RNG.normal(size=(4, 6))
Z = RNG.normal(size=(4, 3)) + 1j * RNG.normal(size=(4, 3))

RULES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (fft.fft, (Z,), {}),
    (fft.fft, (X,), {"n": 7}),
    (fft.ifft, (Z,), {"axis": 0, "norm": "ortho"}),
    (fft.rfft, (M,), {}),
    (fft.rfft, (X,), {"n": 3, "norm": "forward"}),
    (fft.irfft, (Z,), {}),
    (fft.irfft, (Z,), {"n": 6, "axis": 0}),
    (kernels.scaled_ends, (M, 1, 2.0, 3.0), {}),
]
for _fn in (fft.dct, fft.idct, fft.dst, fft.idst):
    for _type in (1, 2, 3, 4):
        RULES.append((_fn, (M,), {"type": _type}))
        RULES.append((_fn, (M,), {"type": _type, "axis": 0, "norm": "ortho"}))
        RULES.append((_fn, (X,), {"type": _type, "norm": "forward", "orthogonalize": True}))
        RULES.append((_fn, (X,), {"type": _type, "norm": "ortho", "orthogonalize": False, "n": 7}))
        RULES.append((_fn, (X,), {"type": _type, "norm": "backward", "n": 3}))


@pytest.mark.parametrize("fn, args, kwargs", RULES, ids=lambda x: getattr(x, "__name__", ""))
def test_rules(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    constant = ("first", "last") if fn is kernels.scaled_ends else ()
    check_rule(fn, *args, kwargs=kwargs, constant=constant)


# Those of real results, for which the harness of definitions is made.
CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (fft.irfft, (X,), {}),
    (fft.irfftn, (M,), {}),
    (fft.irfft2, (M,), {"s": (3, 4), "norm": "ortho"}),
    (fft.hfft, (X,), {"norm": "forward"}),
    (fft.hfftn, (M,), {}),
    (fft.hfft2, (M,), {"norm": "ortho"}),
    (fft.dct, (X,), {"overwrite_x": True}),
    (fft.dct, (M,), {"type": 3, "axis": 0, "n": 3}),
    (fft.idct, (X,), {"type": 1}),
    (fft.dst, (X,), {"type": 2, "orthogonalize": True}),
    (fft.idst, (X,), {"type": 3}),
    (fft.dctn, (M,), {"norm": "ortho"}),
    (fft.idctn, (M,), {"axes": (0,), "type": 1}),
    (fft.dstn, (M,), {"s": (5, 3)}),
    (fft.idstn, (M,), {"type": 4}),
    (fft.fftshift, (X,), {}),
    (fft.ifftshift, (M,), {"axes": 1}),
]
COMPLEX: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (fft.fft, (X,), {"workers": 1}),
    (fft.fft, (M,), {"n": 3, "axis": 0}),
    (fft.ifft, (X,), {"overwrite_x": True}),
    (fft.rfft, (M,), {"norm": "forward"}),
    (fft.ihfft, (X,), {}),
    (fft.ihfft, (X,), {"norm": "ortho"}),
    (fft.fft2, (M,), {}),
    (fft.ifft2, (M,), {"norm": "ortho"}),
    (fft.fftn, (M,), {"s": (3, 7)}),
    (fft.ifftn, (M,), {"axes": (1,)}),
    (fft.rfft2, (M,), {}),
    (fft.rfftn, (M,), {"norm": "forward"}),
    (fft.ihfftn, (M,), {}),
    (fft.ihfft2, (M,), {"norm": "forward"}),
]


@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_derivatives(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_case(fn, args, kwargs)


@pytest.mark.parametrize("fn, args, kwargs", COMPLEX, ids=lambda x: getattr(x, "__name__", ""))
def test_complex_results(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    shape = np.shape(fn(*args, **kwargs))
    weights = RNG.normal(size=shape) + 1j * RNG.normal(size=shape)

    def f(x):
        y = fn(x, **kwargs)
        return np.sum(np.real(y * weights)) + np.sum(np.abs(y) ** 2)

    (x,) = args
    value, found = ad.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(found, differences(f, x), rtol=1e-5, atol=1e-5)


def test_every_function_has_a_case() -> None:
    names = [name for name in without_case("fft", CASES + RULES + COMPLEX) if name not in ("fftfreq", "rfftfreq")]
    assert names == []


@pytest.mark.parametrize("fn", [fft.fft, fft.rfft, fft.dct, fft.dstn, fft.hfft])
def test_float32(fn: Any) -> None:
    x = M.astype(np.float32)

    def f(x):
        return np.sum(np.abs(fn(x)) ** 2)

    value, g = ad.value_and_grad(f)(x)
    assert value.dtype == f(x).dtype
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, ad.grad(f)(x.astype(float)), rtol=1e-4, atol=1e-4)


def test_lengths_and_frequencies() -> None:
    def f(x):
        n = fft.next_fast_len(x.shape[0] + 2)
        y = fft.rfft(x, n)
        return np.sum(np.abs(y) ** 2 * fft.rfftfreq(n)) + np.sum(np.real(fft.fft(x)) * fft.fftfreq(5, 0.1))

    np.testing.assert_allclose(ad.grad(f)(X), differences(f, X), rtol=1e-5, atol=1e-6)


def test_second_derivatives() -> None:
    def f(x):
        return np.sum(fft.dct(x) ** 3) + np.sum(np.abs(fft.fft(x)) ** 4)

    def g(x):
        return np.sum(ad.grad(f)(x) * X[::-1])

    np.testing.assert_allclose(ad.grad(g)(X), differences(g, X), rtol=1e-4, atol=1e-4)
